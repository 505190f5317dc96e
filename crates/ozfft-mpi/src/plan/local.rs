//! What a rank plans by itself: its stages, where arrays lie between them, and how large they are.
//!
//! A stage transforms lines along some axes and exchanges what they leave. Before an exchange a stage's array is cut along a dimension that it does not
//! transform, so that every piece has whole lines; while one piece is transformed and packed, the piece before it is on its way.

use super::ExchangeSummary;
use super::line::LongLine;
use super::lines::Lines;
use super::run::{Piece, Place, Scan, Span, Stage, Step, words_of};
use super::shared::BUFFERS;
use crate::device::Gpu;
use crate::division::Division;
use crate::error::DistributedError;
use crate::exchange::{Encoding, Exchange, Reads, group_of};
use crate::index_box::IndexBox;
use crate::pieces::{Cut, Pieces, pieces_for};
use crate::problem::DistributedProblem;
use crate::quantised::QuantisedWords;
use crate::route::{self, Route};
use crate::short_numbers::ShortNumbers;
use mpi::Count;
use ozfft::{Kind, LineParts, LineRecipe, Plan, Planner, Real};
use std::collections::HashMap;
use std::sync::Arc;

/// Workspace of a plan, in words of 64 bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Lengths {
    /// Of the transforms along one axis.
    pub(super) scratch: usize,
    /// Two arrays, and two pieces of arrays.
    pub(super) arrays: [usize; 4],
    /// What a transfer sends and receives; so many of them at a time.
    pub(super) slot: [usize; 2],
    pub(super) slots: usize,
    /// A piece in memory that ranks share, in the place of the first of both and of transfers.
    pub(super) shared: usize,
}

impl Lengths {
    pub(super) fn all(&self) -> usize {
        let slots = self.slots * self.slot.iter().sum::<usize>();
        self.scratch + self.arrays.iter().sum::<usize>() + slots
    }

    /// Makes an array of the workspace large enough for so many 32-bit words.
    fn reserve(&mut self, place: Place, words: usize) {
        if let Place::Work(number) = place {
            let len = &mut self.arrays[number];
            *len = (*len).max(words.div_ceil(2));
        }
    }
}

/// What a rank plans by itself.
pub(super) struct Local<T: Real> {
    pub(super) whole: Arc<Plan<T>>,
    pub(super) grid: Vec<usize>,
    pub(super) input: IndexBox,
    pub(super) output: IndexBox,
    pub(super) divisions: (Division, Division),
    pub(super) stages: Vec<Stage<T>>,
    /// In the place of stages, where one line is divided.
    pub(super) line: Option<Box<LongLine<T>>>,
    pub(super) exchanges: Vec<ExchangeSummary>,
    /// All transforms that have a power of two between their axes.
    pub(super) transforms: usize,
    pub(super) lengths: Lengths,
    /// Coordinates of the grid that some exchange moves, and this rank's group in it.
    pub(super) colors: Vec<(usize, usize)>,
}

impl<T: Real> Local<T> {
    pub(super) fn new(
        problem: &DistributedProblem,
        (rank, ranks): (usize, usize),
        (input, output): (Option<Vec<IndexBox>>, Option<Vec<IndexBox>>),
        planner: &Planner<T>,
        (gpu, shared): (Option<&dyn Gpu<T>>, bool),
    ) -> Result<Self, DistributedError> {
        problem.validate(ranks)?;
        problem.check_boxes(input.as_deref(), output.as_deref())?;
        let one_line = problem.is_one_line();
        let seen = planner.plan(&problem.whole())?;
        let problem = &problem.of_rows();
        let whole = match one_line {
            true => planner.plan(&problem.whole())?,
            false => Arc::clone(&seen),
        };
        let rows = |boxes: Option<Vec<IndexBox>>| match one_line {
            true => boxes.map(|boxes| {
                let first = problem.whole.shape()[0];
                boxes.iter().map(|part| part.with_first(first)).collect()
            }),
            false => boxes,
        };
        let order = whole.axis_order();
        let route = problem.route(&order, ranks, (rows(input), rows(output)));
        let numbering = Numbering::new(problem.whole.shape(), &order, problem.batch);
        let mut local = Local {
            grid: route.grid.clone(),
            input: route.input.box_of(rank),
            output: route.output.box_of(rank),
            divisions: (route.input.clone(), route.output.clone()),
            stages: Vec::new(),
            line: None,
            exchanges: Vec::new(),
            lengths: Lengths::default(),
            colors: Vec::new(),
            transforms: numbering.all,
            whole: seen,
        };
        // On GPUs a line is gathered.
        if one_line
            && gpu.is_none()
            && ranks > 1
            && problem.whole.shape()[0] == 1
            && let Some(parts) = planner.line_parts(&local.whole)
        {
            return local.of_long_line(parts, &route, (rank, ranks), problem);
        }
        let segments = segments::<T>(&route, problem, ranks, gpu.is_some());
        let mut stages = Stages {
            problem,
            planner,
            gpu,
            shared,
            whole: &whole,
            numbering,
            order: &order,
            rank,
            ranks,
            plans: HashMap::new(),
            at: Place::Input,
        };
        for number in 0..segments.len() {
            stages.add(&segments[number..], number == 0, &mut local)?;
        }
        if one_line {
            (local.input, local.output) =
                (local.input.without_first(), local.output.without_first());
        }
        if shared {
            let lengths = &mut local.lengths;
            lengths.shared = std::mem::take(&mut lengths.arrays[2]);
            (lengths.slot, lengths.slots) = ([0; 2], 0);
        }
        local.within(problem.memory_limit, one_line)
    }

    /// The steps of one long line, between the ends of a route.
    fn of_long_line(
        mut self,
        parts: LineParts<T>,
        route: &Route,
        (rank, ranks): (usize, usize),
        problem: &DistributedProblem,
    ) -> Result<Self, DistributedError> {
        let boxes = |division: &Division| -> Vec<IndexBox> {
            let box_of = |rank| division.box_of(rank).without_first();
            (0..ranks).map(box_of).collect()
        };
        let ends = (boxes(&route.input), boxes(&route.output));
        // Words have 16 bytes: theirs is the largest exchange.
        let bytes = (16 * parts.transform_len() / ranks) as u64;
        let pieces = problem.pieces.unwrap_or_else(|| pieces_for(bytes, ranks));
        let line = LongLine::new(parts, (&ends.0, &ends.1), rank, pieces);
        let elements = line.most_elements();
        if elements > Count::MAX as usize {
            return Err(DistributedError::TooManyElements { elements });
        }
        (self.input, self.output) = (self.input.without_first(), self.output.without_first());
        (self.lengths.scratch, self.lengths.arrays, self.lengths.slot) = line.lengths();
        self.lengths.slots = LongLine::<T>::SLOTS;
        self.exchanges = line.summaries();
        self.line = Some(Box::new(line));
        self.within(problem.memory_limit, false)
    }

    /// This plan, if its workspace is within the limit.
    fn within(self, limit: Option<u64>, gathered: bool) -> Result<Self, DistributedError> {
        let bytes = 8 * (self.lengths.all() + BUFFERS * self.lengths.shared) as u64;
        match limit {
            Some(limit) if bytes > limit => Err(DistributedError::Memory {
                bytes,
                limit,
                gathered,
            }),
            _ => Ok(self),
        }
    }
}

/// Lines along an axis.
struct Axis {
    number: usize,
    axis: usize,
    before: Division,
    after: Division,
}

/// Axes between two exchanges, and the second of them.
struct Segment {
    axes: Vec<Axis>,
    exchange: Option<Redistribution>,
}

/// From one division to another, in pieces of the first one.
struct Redistribution {
    from: Division,
    to: Division,
    complex: bool,
    cut: Cut,
}

impl Segment {
    /// How a rank's part lies in memory before the axes: cut, each piece in C order, where pieces are transformed and the plan decides where they lie.
    fn layout(&self, part: &IndexBox, batch: usize) -> Pieces {
        match &self.exchange {
            Some(exchange) if !self.axes.is_empty() => {
                let pieces = exchange.cut.all(part);
                let pieces = pieces.iter().map(|piece| piece.with_first(batch));
                Pieces::of_boxes(&pieces.collect::<Vec<_>>())
            }
            _ => Pieces::of_box(&part.with_first(batch)),
        }
    }
}

/// The segments of a route; the last one has no exchange.
fn segments<T: Real>(
    route: &Route,
    problem: &DistributedProblem,
    ranks: usize,
    on_gpus: bool,
) -> Vec<Segment> {
    let dimensions = problem.whole.shape().len();
    let mut segments = Vec::new();
    let mut axes: Vec<Axis> = Vec::new();
    for step in &route.steps {
        match step {
            route::Step::Axis {
                number,
                axis,
                before,
                after,
            } => axes.push(Axis {
                number: *number,
                axis: *axis,
                before: before.clone(),
                after: after.clone(),
            }),
            route::Step::Exchange { from, to, complex } => {
                let elements: usize = (0..ranks).map(|rank| from.box_of(rank).len()).sum();
                let bytes = 4 * problem.batch * elements * words_of::<T>(*complex);
                // Of rank 0, so that all ranks find the same number.
                let group = group_of(from, to, 0, ranks).len();
                let pieces = problem
                    .pieces
                    .unwrap_or_else(|| pieces_for((bytes / ranks) as u64, group));
                // Kernels take arrays at multiples of 8 bytes, where a piece of single precision need not begin.
                let pieces = match on_gpus && size_of::<T>() == 4 {
                    true => 1,
                    false => pieces,
                };
                let free = (0..dimensions).filter(|d| axes.iter().all(|done| done.axis != *d));
                let cut = Cut::new(free, from, ranks, pieces);
                if cut.is_none() {
                    // All dimensions are transformed, which no piece can be alone: first that, then the exchange.
                    segments.push(Segment {
                        axes: std::mem::take(&mut axes),
                        exchange: None,
                    });
                }
                let cut = cut.or_else(|| Cut::new(0..dimensions, from, ranks, pieces));
                let cut = cut.unwrap_or_else(|| unreachable!("an array has a dimension"));
                segments.push(Segment {
                    axes: std::mem::take(&mut axes),
                    exchange: Some(Redistribution {
                        from: from.clone(),
                        to: to.clone(),
                        complex: *complex,
                        cut,
                    }),
                });
            }
        }
    }
    segments.push(Segment {
        axes,
        exchange: None,
    });
    segments
}

/// Makes stages of segments, one after the other.
struct Stages<'a, T: Real> {
    problem: &'a DistributedProblem,
    planner: &'a Planner<T>,
    gpu: Option<&'a dyn Gpu<T>>,
    /// Pieces are exchanged in memory that ranks share.
    shared: bool,
    whole: &'a Plan<T>,
    numbering: Numbering,
    order: &'a [usize],
    rank: usize,
    ranks: usize,
    /// By the number of the axis and the shape of a part: pieces of the same shape share a plan.
    plans: HashMap<(usize, Vec<usize>), Arc<Lines<T>>>,
    /// Where the array lies.
    at: Place,
}

impl<T: Real> Stages<'_, T> {
    fn kind(&self) -> Kind {
        self.problem.whole.kind()
    }

    /// Words of an element before and after an axis.
    fn words(&self, number: usize) -> (usize, usize) {
        let from_reals = self.kind() == Kind::RealToComplex && number == 0;
        let to_reals = self.kind() == Kind::ComplexToReal && number == self.order.len() - 1;
        (words_of::<T>(!from_reals), words_of::<T>(!to_reals))
    }

    /// The plan for a part; none where it is empty.
    fn plan(
        &mut self,
        axis: &Axis,
        part: &IndexBox,
        scratch: &mut usize,
    ) -> Result<Option<Arc<Lines<T>>>, DistributedError> {
        if part.is_empty() {
            return Ok(None);
        }
        let mut shape = part.shape();
        shape[axis.axis] = self.problem.whole.shape()[axis.axis];
        let key = (axis.number, shape);
        let plan = match self.plans.get(&key) {
            Some(plan) => Arc::clone(plan),
            None => {
                let (planner, whole) = (self.planner, self.whole);
                let plan = Arc::new(match self.gpu {
                    None => Lines::Processor(Box::new(planner.plan_axis(whole, key.0, &key.1)?)),
                    Some(gpu) => {
                        let substrate = self.problem.device_substrate();
                        Lines::Gpu(gpu.plan_axis(planner, whole, (key.0, &key.1), substrate)?)
                    }
                });
                self.plans.insert(key, Arc::clone(&plan));
                plan
            }
        };
        *scratch = (*scratch).max(plan.workspace_len());
        Ok(Some(plan))
    }

    /// Adds the stage of the first of these segments.
    fn add(
        &mut self,
        segments: &[Segment],
        first: bool,
        local: &mut Local<T>,
    ) -> Result<(), DistributedError> {
        let (segment, rest) = (&segments[0], &segments[1..]);
        let mut stage = Stage {
            scans: self.scans(segment, first, local)?,
            pieces: Vec::new(),
            group: None,
            members: Vec::new(),
            to: Place::Output,
        };
        match (&segment.exchange, rest.first()) {
            (Some(exchange), Some(next)) => {
                self.exchanged(
                    segment,
                    exchange,
                    (next, rest.len() == 1),
                    first,
                    &mut stage,
                    local,
                )?;
            }
            _ => {
                let last = rest.is_empty();
                let steps = self.undivided(segment, last, local)?;
                stage.pieces.push(Piece {
                    steps,
                    exchange: None,
                    reads: None,
                });
            }
        }
        local.stages.push(stage);
        Ok(())
    }

    /// What looks for the largest numbers, where the first axis is in this segment.
    fn scans(
        &mut self,
        segment: &Segment,
        first: bool,
        local: &mut Local<T>,
    ) -> Result<Option<Vec<Scan<T>>>, DistributedError> {
        let Some(axis) = segment.axes.first().filter(|axis| axis.number == 0) else {
            return Ok(None);
        };
        let (batch, words) = (self.problem.batch, self.words(0).0);
        let whole = axis.before.box_of(self.rank);
        let parts = match &segment.exchange {
            Some(exchange) if !first => exchange.cut.all(&whole),
            _ => vec![whole],
        };
        let (mut scans, mut start) = (Vec::new(), 0);
        for part in parts {
            let len = batch * part.len();
            if let Some(plan) = self.plan(axis, &part, &mut local.lengths.scratch)? {
                scans.push(Scan {
                    plan,
                    transforms: self.numbering.of(&part),
                    array: Span {
                        place: self.at,
                        start,
                        len,
                    },
                });
            }
            start += len * words;
        }
        Ok(Some(scans))
    }

    /// Axes of an array that is not cut, to the output, or within the workspace.
    fn undivided(
        &mut self,
        segment: &Segment,
        last: bool,
        local: &mut Local<T>,
    ) -> Result<Vec<Step<T>>, DistributedError> {
        let batch = self.problem.batch;
        let mut steps = Vec::new();
        for (done, axis) in segment.axes.iter().enumerate() {
            let (before, after) = (axis.before.box_of(self.rank), axis.after.box_of(self.rank));
            let (words, words_after) = self.words(axis.number);
            let changes = words != words_after;
            // Reals are the output's last; what comes before them is done elsewhere.
            let output =
                last && (self.kind() != Kind::ComplexToReal || done + 1 == segment.axes.len());
            let to = match self.at {
                _ if output => Place::Output,
                Place::Input => Place::Work(0),
                Place::Output if changes => Place::Work(0),
                Place::Work(work) if changes => Place::Work(1 - work),
                at => at,
            };
            let span = |place, part: &IndexBox| Span {
                place,
                start: 0,
                len: batch * part.len(),
            };
            let (from, to) = (span(self.at, &before), span(to, &after));
            local.lengths.reserve(from.place, from.len * words);
            local.lengths.reserve(to.place, to.len * words_after);
            if let Some(plan) = self.plan(axis, &before, &mut local.lengths.scratch)? {
                steps.push(Step::Axis {
                    plan,
                    transforms: self.numbering.of(&before),
                    from,
                    to,
                });
            }
            self.at = to.place;
        }
        if last && self.at != Place::Output {
            let words =
                batch * local.output.len() * words_of::<T>(self.kind() != Kind::ComplexToReal);
            steps.push(Step::Copy {
                from: self.at,
                words,
            });
            self.at = Place::Output;
        }
        Ok(steps)
    }

    /// Pieces that are transformed and exchanged.
    fn exchanged(
        &mut self,
        segment: &Segment,
        exchange: &Redistribution,
        (next, next_is_last): (&Segment, bool),
        first: bool,
        stage: &mut Stage<T>,
        local: &mut Local<T>,
    ) -> Result<(), DistributedError> {
        let Redistribution {
            from,
            to,
            complex,
            cut,
        } = exchange;
        let (batch, words) = (self.problem.batch, words_of::<T>(*complex));
        let group = group_of(from, to, self.rank, self.ranks);
        let own_place = group.iter().position(|&other| other == self.rank);
        let own_place =
            own_place.unwrap_or_else(|| unreachable!("a rank is in the group of its own number"));
        let wanted: Vec<Pieces> = group
            .iter()
            .map(|&other| next.layout(&to.box_of(other), batch))
            .collect();
        stage.to = self.place_after(wanted[own_place].len * words, next, next_is_last, local);
        local
            .lengths
            .reserve(stage.to, wanted[own_place].len * words);
        stage.group = match from.moved_coordinate(to) {
            Some(moved) if group.len() < self.ranks => {
                let known = local.colors.iter().position(|color| color.0 == moved);
                Some(known.unwrap_or_else(|| {
                    local.colors.push((moved, from.group(to, self.rank)));
                    local.colors.len() - 1
                }))
            }
            _ => None,
        };
        let encoding = self.encoding(next, *complex);
        stage.members.clone_from(&group);
        let mut start = 0;
        let mut bytes_sent = 0;
        for number in 0..cut.pieces {
            let (steps, place, place_start) =
                self.piece_steps(segment, (cut, number), first, &mut start, local)?;
            let held = |rank: usize| {
                let whole = from.box_of(rank);
                let piece = cut.piece(&whole, number).with_first(batch);
                match segment.axes.is_empty() && !self.shared {
                    true => Pieces::of_part(&piece, &whole.with_first(batch)),
                    false => Pieces::of_box(&piece),
                }
            };
            let held: Vec<Pieces> = group.iter().map(|&other| held(other)).collect();
            let exchange = Exchange::new(&held, &wanted, own_place, words).with_encoding(encoding);
            let (sent, received) = (exchange.elements_sent(), exchange.elements_received());
            let elements = sent.max(received);
            if elements > Count::MAX as usize {
                return Err(DistributedError::TooManyElements { elements });
            }
            bytes_sent += exchange.bytes_sent();
            for (slot, elements) in local.lengths.slot.iter_mut().zip([sent, received]) {
                *slot = (*slot).max((elements * exchange.bytes()).div_ceil(8));
            }
            let reads = self.shared.then(|| Reads::new(&held, &wanted, &exchange));
            stage.pieces.push(Piece {
                steps,
                exchange: Some((exchange, place, place_start)),
                reads,
            });
        }
        local.lengths.slots = local.lengths.slots.max(cut.pieces.min(2));
        local.exchanges.push(ExchangeSummary {
            from: from.to_string(),
            to: to.to_string(),
            group: group.len(),
            pieces: cut.pieces,
            bytes_of_a_real: encoding.bytes_of_a_real(size_of::<T>()),
            bytes_sent,
            bytes_of_all: 0,
        });
        self.at = stage.to;
        Ok(())
    }

    /// The axes of a piece, and where they leave it: the array and the 32-bit word there. `start` is the word where the piece begins before them,
    /// and is moved to that of the next one.
    fn piece_steps(
        &mut self,
        segment: &Segment,
        (cut, number): (&Cut, usize),
        first: bool,
        start: &mut usize,
        local: &mut Local<T>,
    ) -> Result<(Vec<Step<T>>, Place, usize), DistributedError> {
        let batch = self.problem.batch;
        let mut steps = Vec::new();
        let mut at = (self.at, *start);
        for (done, axis) in segment.axes.iter().enumerate() {
            let whole = axis.before.box_of(self.rank);
            let before = cut.piece(&whole, number);
            let after = cut.piece(&axis.after.box_of(self.rank), number);
            let (words, words_after) = self.words(axis.number);
            let (len, len_after) = (batch * before.len(), batch * after.len());
            if done == 0 {
                *start += len * words;
                // An array of the caller's lies in C order, of which a piece may have gaps.
                let outer = &whole.with_first(batch).shape()[..=cut.dimension];
                if first && cut.pieces > 1 && outer.iter().any(|&n| n > 1) {
                    let place = Place::Work(3);
                    local.lengths.reserve(place, len * words);
                    steps.push(Step::Gather {
                        part: before.with_first(batch),
                        around: whole.with_first(batch),
                        words,
                        from: at.0,
                        to: place,
                    });
                    at = (place, 0);
                }
            }
            let changes = words != words_after;
            let last = done + 1 == segment.axes.len();
            let to = match at.0 {
                // Others read the piece where it is in the end.
                _ if self.shared => shared_place(at, changes, last),
                // Of what the caller keeps a piece is written elsewhere, and so are numbers of another size.
                Place::Work(2) if changes => (Place::Work(3), 0),
                Place::Input => (Place::Work(2), 0),
                _ if changes => (Place::Work(2), 0),
                _ => at,
            };
            if matches!(to.0, Place::Work(2 | 3)) {
                local.lengths.reserve(to.0, len_after * words_after);
            }
            if let Some(plan) = self.plan(axis, &before, &mut local.lengths.scratch)? {
                let span = |(place, start), len| Span { place, start, len };
                steps.push(Step::Axis {
                    plan,
                    transforms: self.numbering.of(&before),
                    from: span(at, len),
                    to: span(to, len_after),
                });
            }
            at = to;
        }
        match (segment.axes.is_empty(), self.shared) {
            // A piece of an array that is not transformed lies within the whole.
            (true, false) => Ok((steps, self.at, 0)),
            (true, true) => {
                let Some(Redistribution { from, complex, .. }) = &segment.exchange else {
                    unreachable!("pieces are exchanged");
                };
                let whole = from.box_of(self.rank);
                let (part, words) = (cut.piece(&whole, number), words_of::<T>(*complex));
                let place = Place::Work(2);
                local.lengths.reserve(place, batch * part.len() * words);
                steps.push(Step::Gather {
                    part: part.with_first(batch),
                    around: whole.with_first(batch),
                    words,
                    from: self.at,
                    to: place,
                });
                Ok((steps, place, 0))
            }
            (false, _) => Ok((steps, at.0, at.1)),
        }
    }

    /// Where an exchange leaves the array, of so many words. The caller's input may be the output, which is therefore free after the first exchange.
    fn place_after(
        &self,
        words: usize,
        next: &Segment,
        next_is_last: bool,
        local: &Local<T>,
    ) -> Place {
        let output_words = self.problem.batch
            * local.output.len()
            * words_of::<T>(self.kind() != Kind::ComplexToReal);
        let ends_there =
            next_is_last && (next.axes.is_empty() || self.kind() != Kind::ComplexToReal);
        match self.at {
            Place::Work(_) if ends_there => Place::Output,
            Place::Work(_) if !next_is_last && words <= output_words => Place::Output,
            Place::Work(work) => Place::Work(1 - work),
            Place::Input | Place::Output => Place::Work(0),
        }
    }

    /// How numbers are sent to the next segment's first axis, which rounds them to words.
    fn encoding(&self, next: &Segment, complex: bool) -> Encoding {
        let Some(axis) = next.axes.first() else {
            return Encoding::AsTheyAre;
        };
        // One point is no transform: numbers go through it as they are.
        let rounds = self.problem.whole.shape()[axis.axis] > 1 && size_of::<T>() == 8;
        // No kernel of GPUs packs words, and shared memory has numbers where they are.
        let packed = rounds && self.gpu.is_none() && !self.shared;
        let recipe = self.whole.recipe();
        let Some(recipe) = recipe.filter(|_| packed) else {
            return Encoding::AsTheyAre;
        };
        let bits = recipe.digits.word_bits();
        let mut lines = recipe.axes.iter();
        let line = lines.find(|recipe| recipe.axis == axis.axis);
        // A line of several passes has an exponent for every column, and half-spectra to reals ignore some numbers.
        let one_exponent = line.is_some_and(
            |recipe| matches!(&recipe.line, LineRecipe::Passes(passes) if passes.len() == 1),
        );
        let to_reals = self.kind() == Kind::ComplexToReal && axis.number == self.order.len() - 1;
        match QuantisedWords::for_words_of(bits) {
            // The first dimension of blocks is that of the batch.
            Some(words) if one_exponent && complex && !to_reals => {
                Encoding::Words(words, axis.axis + 1)
            }
            _ => ShortNumbers::for_words_of(bits).map_or(Encoding::AsTheyAre, Encoding::Short),
        }
    }
}

/// Where an axis leaves a piece that others read: the last one in the buffer that is shared, others there or beside it.
fn shared_place(at: (Place, usize), changes: bool, last: bool) -> (Place, usize) {
    match at.0 {
        Place::Work(2 | 3) if !changes && (!last || at.0 == Place::Work(2)) => at,
        // Reals are the first axis's input or the last one's output, never both.
        _ if last || at.0 == Place::Work(3) => (Place::Work(2), 0),
        _ => (Place::Work(3), 0),
    }
}

/// Numbers of transforms: every array of the batch is one, and every index of the dimensions that are not transformed.
struct Numbering {
    batch: usize,
    /// Dimensions that are not transformed, with their lengths.
    others: Vec<(usize, usize)>,
    /// How many there are; 0 where they have one axis, and no power of two in between.
    all: usize,
}

impl Numbering {
    fn new(shape: &[usize], order: &[usize], batch: usize) -> Numbering {
        let others = shape.iter().copied().enumerate();
        let others = others.filter(|(dimension, _)| !order.contains(dimension));
        let others: Vec<(usize, usize)> = others.collect();
        let all = batch * others.iter().map(|(_, n)| n).product::<usize>();
        Numbering {
            batch,
            others,
            all: if order.len() > 1 { all } else { 0 },
        }
    }

    /// The numbers of those transforms that a box has some of, in its order.
    fn of(&self, part: &IndexBox) -> Vec<usize> {
        if self.all == 0 {
            return Vec::new();
        }
        let mut numbers: Vec<usize> = (0..self.batch).collect();
        for &(dimension, n) in &self.others {
            let indices = part.low()[dimension]..part.high()[dimension];
            let inner = |&outer: &usize| indices.clone().map(move |index| outer * n + index);
            numbers = numbers.iter().flat_map(inner).collect();
        }
        numbers
    }
}
