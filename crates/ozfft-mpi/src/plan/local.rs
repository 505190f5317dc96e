//! What a rank plans by itself: its steps, where arrays lie between them, and how large they are.

use super::ExchangeSummary;
use super::line::LongLine;
use super::run::{Place, Running, words_of};
use crate::division::Division;
use crate::error::DistributedError;
use crate::exchange::Exchange;
use crate::index_box::IndexBox;
use crate::problem::DistributedProblem;
use crate::route::{Route, Step};
use mpi::Count;
use ozfft::{Kind, LineParts, Plan, Planner, Real};
use std::sync::Arc;

/// What a rank plans by itself.
pub(super) struct Local<T: Real> {
    pub(super) whole: Arc<Plan<T>>,
    pub(super) grid: Vec<usize>,
    pub(super) input: IndexBox,
    pub(super) output: IndexBox,
    pub(super) divisions: (Division, Division),
    pub(super) steps: Vec<Running<T>>,
    /// In the place of steps, where one line is divided.
    pub(super) line: Option<Box<LongLine<T>>>,
    pub(super) exchanges: Vec<ExchangeSummary>,
    /// All transforms that have a power of two between their axes.
    pub(super) transforms: usize,
    pub(super) lengths: [usize; 3],
    /// Coordinates of the grid that some exchange moves, and this rank's group in it.
    pub(super) colors: Vec<(usize, usize)>,
}

impl<T: Real> Local<T> {
    pub(super) fn new(
        problem: &DistributedProblem,
        (rank, ranks): (usize, usize),
        (input, output): (Option<Vec<IndexBox>>, Option<Vec<IndexBox>>),
        planner: &Planner<T>,
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
        let batch = problem.batch;
        let numbering = Numbering::new(problem.whole.shape(), &order, batch);
        let mut local = Local {
            grid: route.grid.clone(),
            input: route.input.box_of(rank),
            output: route.output.box_of(rank),
            divisions: (route.input.clone(), route.output.clone()),
            steps: Vec::new(),
            line: None,
            exchanges: Vec::new(),
            lengths: [0; 3],
            colors: Vec::new(),
            transforms: numbering.all,
            whole: seen,
        };
        if one_line
            && ranks > 1
            && problem.whole.shape()[0] == 1
            && let Some(parts) = planner.line_parts(&local.whole)
        {
            return local.of_long_line(parts, &route, (rank, ranks), problem.memory_limit);
        }
        let mut at = Place::Input;
        for (number, step) in route.steps.iter().enumerate() {
            let rest = &route.steps[number + 1..];
            let to_output = |complex_now: bool| {
                // What is left are complex axes, done in place there.
                rest.iter().all(|step| matches!(step, Step::Axis { .. }))
                    && (rest.is_empty()
                        || complex_now && problem.whole.kind() != Kind::ComplexToReal)
            };
            match step {
                Step::Axis {
                    number,
                    axis,
                    before,
                    after,
                } => {
                    let (before, after) = (before.box_of(rank), after.box_of(rank));
                    let mut shape = before.shape();
                    shape[*axis] = problem.whole.shape()[*axis];
                    let last = order.len() - 1;
                    let to_reals = problem.whole.kind() == Kind::ComplexToReal && *number == last;
                    let from_reals = problem.whole.kind() == Kind::RealToComplex && *number == 0;
                    let plan = match before.is_empty() {
                        true => None,
                        false => Some(Box::new(planner.plan_axis(&whole, *number, &shape)?)),
                    };
                    let to = match (to_output(true), at) {
                        (true, _) => Place::Output,
                        // Real to complex and back have another array to write.
                        (false, Place::Work(work)) if from_reals || to_reals => {
                            Place::Work(1 - work)
                        }
                        (false, Place::Work(work)) => Place::Work(work),
                        (false, _) => Place::Work(0),
                    };
                    let from = (at, batch * before.len());
                    let to = (to, batch * after.len());
                    let scratch = plan.as_ref().map_or(0, |plan| plan.workspace_len());
                    local.lengths[0] = local.lengths[0].max(scratch);
                    local.reserve(from.0, from.1 * words_of::<T>(!from_reals));
                    local.reserve(to.0, to.1 * words_of::<T>(!to_reals));
                    local.steps.push(Running::Axis {
                        transforms: plan.as_ref().map_or(Vec::new(), |_| numbering.of(&before)),
                        plan,
                        from,
                        to,
                        first: *number == 0,
                    });
                    at = to.0;
                }
                Step::Exchange { from, to, complex } => {
                    let words = words_of::<T>(*complex);
                    let exchange = Exchange::new(from, to, (rank, ranks), (batch, words));
                    let elements = exchange.send.len().max(exchange.receive.len());
                    if elements > Count::MAX as usize {
                        return Err(DistributedError::TooManyElements { elements });
                    }
                    // The output is free until the last exchange, and may be large enough to pack for others.
                    let output_words = batch
                        * local.output.len()
                        * words_of::<T>(problem.whole.kind() != Kind::ComplexToReal);
                    let fits_output = exchange.elements_sent() * words <= output_words;
                    let last = to_output(*complex);
                    let (packed, received, place, own_apart) = match at {
                        Place::Work(work) => {
                            let other = Place::Work(1 - work);
                            match (last, fits_output) {
                                (true, _) => (other, at, Place::Output, true),
                                (false, true) => (Place::Output, at, other, true),
                                (false, false) => (other, at, other, false),
                            }
                        }
                        _ if last => (Place::Work(0), Place::Work(1), Place::Output, false),
                        _ => (Place::Work(0), Place::Work(1), Place::Work(0), false),
                    };
                    let (send, receive) = match own_apart {
                        true => (exchange.elements_sent(), exchange.elements_received()),
                        false => (exchange.send.len(), exchange.receive.len()),
                    };
                    local.reserve(packed, send * words);
                    local.reserve(received, receive * words);
                    local.reserve(place, exchange.receive.len() * words);
                    local.exchanges.push(ExchangeSummary {
                        from: from.to_string(),
                        to: to.to_string(),
                        group: exchange.group.len(),
                        bytes_sent: exchange.bytes_sent(),
                        bytes_of_all: 0,
                    });
                    let group = match from.moved_coordinate(to) {
                        Some(moved) if exchange.group.len() < ranks => {
                            let known = local.colors.iter().position(|color| color.0 == moved);
                            Some(known.unwrap_or_else(|| {
                                local.colors.push((moved, from.group(to, rank)));
                                local.colors.len() - 1
                            }))
                        }
                        _ => None,
                    };
                    local.steps.push(Running::Exchange {
                        exchange,
                        group,
                        from: at,
                        packed,
                        received,
                        to: place,
                        own_apart,
                    });
                    at = place;
                }
            }
        }
        if one_line {
            (local.input, local.output) =
                (local.input.without_first(), local.output.without_first());
        }
        local.within(problem.memory_limit, one_line)
    }

    /// The steps of one long line, between the ends of a route.
    fn of_long_line(
        mut self,
        parts: LineParts<T>,
        route: &Route,
        (rank, ranks): (usize, usize),
        limit: Option<u64>,
    ) -> Result<Self, DistributedError> {
        let boxes = |division: &Division| -> Vec<IndexBox> {
            let box_of = |rank| division.box_of(rank).without_first();
            (0..ranks).map(box_of).collect()
        };
        let ends = (boxes(&route.input), boxes(&route.output));
        let line = LongLine::new(parts, (&ends.0, &ends.1), rank);
        let elements = line.most_elements();
        if elements > Count::MAX as usize {
            return Err(DistributedError::TooManyElements { elements });
        }
        (self.input, self.output) = (self.input.without_first(), self.output.without_first());
        self.lengths = line.lengths();
        self.exchanges = line.summaries();
        self.line = Some(Box::new(line));
        self.within(limit, false)
    }

    /// This plan, if its workspace is within the limit.
    fn within(self, limit: Option<u64>, gathered: bool) -> Result<Self, DistributedError> {
        let bytes = 8 * self.lengths.iter().map(|&len| len as u64).sum::<u64>();
        match limit {
            Some(limit) if bytes > limit => Err(DistributedError::Memory {
                bytes,
                limit,
                gathered,
            }),
            _ => Ok(self),
        }
    }

    /// Makes a work array large enough for so many 32-bit words.
    fn reserve(&mut self, place: Place, words: usize) {
        if let Place::Work(number) = place {
            let len = &mut self.lengths[1 + number];
            *len = (*len).max(words.div_ceil(2));
        }
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
