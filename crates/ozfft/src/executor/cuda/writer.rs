//! The passes of every axis as launches: which kernel, which lines, from where and to where.

use super::dimensions::{Cutter, Flattened, Scaling};
use super::long_passes;
use super::machine::{Compilation, DeviceMemory, Machine, Parameters, TemplateKernel};
use super::program::{Action, PassesTables, Search, TunedTables};
use super::tables::{BlockTables, Piece};
use super::task::*;
use super::tuned::{self, Kernels, LaunchedKernel, NoLaunch, TunedLines};
use crate::error::FftError;
use crate::executor::lines::{LineSet, Place};
use crate::executor::schedule::{AxisPass, Schedule};
use crate::kind::Kind;
use crate::problem::Products;
use crate::recipe::Recipe;
use crate::sample::Real;
use crate::transform::bluestein::Bluestein;
use crate::transform::passes::Passes;
use bytemuck::Zeroable;
use std::sync::Arc;

/// Lines of a thread block: one for every thread at most.
const MOST_LINES: u64 = ozfft_kernels::GENERAL_THREADS as u64;

/// Shared memory of a block: what its lines have in common, their headers, their points.
fn shared_bytes(lines: usize, points: usize, point_bytes: usize) -> usize {
    COMMON_BYTES + (lines * LINE_HEADER_BYTES).next_multiple_of(128) + points * point_bytes
}

/// The same for both passes of a transform.
pub(super) fn two_pass_bytes(lines: usize, points: usize) -> usize {
    shared_bytes(lines, points, POINT_BYTES + EXTRA_BYTES)
}

/// What all launches of a plan have in common.
pub(super) struct Writer<'a> {
    pub(super) machine: &'a Arc<dyn Machine>,
    pub(super) recipe: &'a Recipe,
    pub(super) tables: DeviceMemory,
    pub(super) actions: Vec<Action>,
    pub(super) spare: Address,
    /// Where there are several axes.
    pub(super) scaling: Option<Scaling>,
    /// Workspace behind what lasts for the whole call.
    pub(super) lasting: u64,
    pub(super) most_workspace: u64,
    pub(super) tuned_passes: (usize, usize),
    /// What is worth knowing of the kernels.
    pub(super) remarks: Vec<String>,
    /// The search for the largest number, as long as it has not been put among the actions.
    pub(super) search: Option<(ArrayTask, u64)>,
    /// The kernel that takes blocks with tables of residues.
    pub(super) residues: Option<&'static str>,
    /// How many of their lines a block takes, where that is measured.
    pub(super) residue_lines: Option<u64>,
    /// Conversions between integers and floating point by the instructions for that.
    pub(super) conversions: bool,
}

/// One axis: every line along it.
pub(super) struct Axis {
    pub(super) input: FloatLines,
    pub(super) output: FloatLines,
    /// How many lines there are.
    pub(super) lines: u64,
    pub(super) bias: i32,
    pub(super) n: u64,
    /// Neighbouring lines lie closer together than the elements of a line.
    pub(super) read_across: bool,
    pub(super) write_across: bool,
    /// The dimensions that number the lines.
    pub(super) read: Vec<Dimension>,
    pub(super) write: Vec<Dimension>,
    /// The same with strides in the transforms' numbers, on the device, and how many there are.
    transforms: (Address, i32),
    /// Points of the axes before, all together.
    points_before: usize,
    /// Kernels that may take its lines, if they lie well.
    tuned: TunedTables,
}

impl Axis {
    /// Whether kernels of Hopper's tensor instruction may take its lines.
    fn is_for_tuned(&self) -> bool {
        self.tuned.iter().any(|(kernels, _)| kernels.are_tuned())
    }
}

/// Where the words of a transform come from, or go.
#[derive(Clone, Copy)]
struct WordArray {
    words: Address,
    exponents: Address,
    distance: u64,
    exponents_distance: u64,
}

const NO_WORDS: WordArray = WordArray {
    words: Address::NONE,
    exponents: Address::NONE,
    distance: 0,
    exponents_distance: 0,
};

/// One transform of the passes: from where, to where.
struct Course<'a> {
    passes: &'a Passes,
    tables: &'a PassesTables,
    /// Those of the passes, and whether both go through one kernel.
    blocks: &'a [BlockTables],
    together: bool,
    source: i32,
    from: WordArray,
    source_table: Address,
    sink: i32,
    to: WordArray,
    sink_table: Address,
    sink_exponent: i32,
    /// What the first pass finds out of the numbers, and the last one uses.
    properties: Address,
    /// Words between passes, and their two sets of exponents.
    between: Address,
    exponents: [Address; 2],
    /// Where the template counts and lists lines that it leaves to a portable kernel.
    left: (Address, Address),
}

/// The launch of a portable kernel that a tuned one leaves lines to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest {
    pub(super) tasks: Tasks,
    pub(super) kernel: &'static str,
    pub(super) blocks: u64,
    pub(super) shared_bytes: usize,
}

/// Dimensions, on the device and here.
pub(super) type Listed = (Piece, Vec<Dimension>);

impl Writer<'_> {
    pub(super) fn axis<T: Real>(
        &self,
        schedule: &Schedule,
        number: usize,
        pass: &AxisPass,
        (read, write, transforms): &(Listed, Listed, Listed),
        tuned: TunedTables,
    ) -> Axis {
        let n = pass.n;
        let floats = |place: Place, set: &LineSet, list: &Listed, elements, count| FloatLines {
            numbers: match place {
                Place::Input => Address::of_input(),
                Place::Output => Address::of_output(),
                Place::Spare => self.spare,
            },
            dimensions: list.0.at(&self.tables),
            offset: set.offset as i64,
            stride: set.stride as i64,
            count: count as u64,
            dimension_count: list.1.len() as i32,
            single: i32::from(!T::IS_DOUBLE),
            elements,
            conjugate: i32::from(schedule.conjugate),
            aligned: 0,
            unused: 0,
        };
        let across = |set: &LineSet, list: &[Dimension]| {
            list.last()
                .is_some_and(|d| d.stride.unsigned_abs() < set.stride.unsigned_abs() as u64)
        };
        let half = n / 2 + 1;
        let (elements, in_count, out_elements, out_count) = match pass.kind {
            Kind::ComplexToComplex => (ELEMENTS_COMPLEX, n, ELEMENTS_COMPLEX, n),
            Kind::RealToComplex => (ELEMENTS_REAL, n, ELEMENTS_COMPLEX, half),
            Kind::ComplexToReal => (ELEMENTS_HALF, half, ELEMENTS_REAL, n),
        };
        let last = schedule.passes.len() - 1;
        let growth = self.scaling.map_or(0, |scaling| scaling.scale.growth());
        let before = schedule.passes[..number].iter().map(|pass| pass.n);
        Axis {
            input: floats(pass.from, &pass.read, read, elements, in_count),
            output: floats(pass.to, &pass.write, write, out_elements, out_count),
            lines: pass.read.count() as u64,
            bias: growth * (i32::from(number == last) - i32::from(number == 0)),
            n: n as u64,
            read_across: across(&pass.read, &read.1),
            write_across: across(&pass.write, &write.1),
            read: read.1.clone(),
            write: write.1.clone(),
            transforms: (transforms.0.at(&self.tables), transforms.1.len() as i32),
            points_before: before.product(),
            tuned,
        }
    }

    fn launch(&mut self, parameters: Parameters, blocks: u64, shared_bytes: usize) {
        self.search_first();
        self.actions.push(Action::Launch {
            parameters: Box::new(parameters),
            blocks,
            shared_bytes,
        });
    }

    /// Where the transforms' largest numbers are, if there are scales between axes.
    fn largest(&self) -> Address {
        self.scaling.map_or(Address::NONE, |scaling| scaling.found)
    }

    fn array_task(&self, axis: &Axis) -> ArrayTask {
        ArrayTask {
            input: axis.input,
            output: axis.output,
            largest: self.largest(),
            transforms: axis.transforms.0,
            scaled_down: self
                .scaling
                .map_or(Address::NONE, |scaling| scaling.scaled_down()),
            line_count: axis.lines,
            transform_stride: 0,
            list: Address::NONE,
            list_count: Address::NONE,
            marks: Address::NONE,
            bias: axis.bias,
            transform_dimension_count: axis.transforms.1,
        }
    }

    /// Looks through the whole input, as the CPU does: the largest number of every transform decides its scale between axes.
    pub(super) fn search_everywhere(
        &self,
        axis: &Axis,
        flat: &Flattened,
        dimensions: Piece,
        transforms: Piece,
    ) -> (ArrayTask, u64) {
        let (line, outer) = (flat.line, &flat.outer);
        let mut task = self.array_task(axis);
        task.input.dimensions = dimensions.at(&self.tables);
        task.input.dimension_count = outer.len() as i32;
        task.input.stride = line.stride;
        task.input.count = line.length;
        task.transforms = transforms.at(&self.tables);
        task.transform_dimension_count = flat.transforms.len() as i32;
        task.transform_stride = flat.transform_stride;
        task.line_count = outer.iter().map(|d| d.length).product();
        let threads = u64::from(ozfft_kernels::GENERAL_THREADS);
        let enough = (task.line_count * line.length).div_ceil(4 * threads);
        let blocks = enough.min(8 * self.machine.multiprocessors() as u64);
        (task, blocks)
    }

    /// Does so before anything else, unless the first axis has found a cheaper way.
    fn search_first(&mut self) {
        if let Some((task, blocks)) = self.search.take() {
            if let Some(scaling) = self.scaling {
                self.actions.push(Action::Clear {
                    address: scaling.found,
                    bytes: scaling.bytes,
                });
            }
            self.launch(Parameters::Largest(task), blocks, 0);
        }
    }

    pub(super) fn copy(&mut self, axis: &Axis) {
        let threads = u64::from(ozfft_kernels::GENERAL_THREADS);
        let blocks = axis.lines.div_ceil(threads);
        self.launch(Parameters::Copy(self.array_task(axis)), blocks, 0);
    }

    /// Calls `write` with the numbers of the first transform and of how many there are, as many as the workspace is
    /// meant for at a time.
    fn in_turns(
        &mut self,
        transforms: u64,
        bytes_each: u64,
        mut write: impl FnMut(&mut Self, u64, u64) -> Result<(), FftError>,
    ) -> Result<(), FftError> {
        let most = (self.machine.most_word_bytes() / bytes_each.max(1)).max(1);
        let mut first = 0;
        while first < transforms {
            let count = most.min(transforms - first);
            write(self, first, count)?;
            first += count;
        }
        Ok(())
    }

    /// Words and exponents between the passes of `count` transforms.
    fn between(&self, cutter: &mut Cutter, passes: &Passes, count: u64) -> (Address, [Address; 2]) {
        if passes.is_one_block() {
            return (Address::NONE, [Address::NONE; 2]);
        }
        let most = passes.most_exponents() as u64;
        (
            cutter.take(16 * count * passes.len() as u64),
            [cutter.take(4 * count * most), cutter.take(4 * count * most)],
        )
    }

    pub(super) fn passes(
        &mut self,
        axis: &Axis,
        passes: &Passes,
        tables: &PassesTables,
    ) -> Result<(), FftError> {
        let one_by_one = !tables.one_by_one.is_empty() && !axis.is_for_tuned();
        let (together, blocks) = match one_by_one && self.goes_pass_by_pass(axis, passes) {
            true => (false, &tables.one_by_one),
            false => (tables.together, &tables.blocks),
        };
        // Words between passes that go through memory.
        let long = !passes.is_one_block() && !together;
        let bytes_each = if long { 16 * passes.len() as u64 } else { 0 };
        self.in_turns(axis.lines, bytes_each, |writer, first, count| {
            let mut cutter = Cutter(writer.lasting);
            let properties = if long {
                writer.properties(&mut cutter, count)
            } else {
                Address::NONE
            };
            let (between, exponents) = if long {
                writer.between(&mut cutter, passes, count)
            } else {
                (Address::NONE, [Address::NONE; 2])
            };
            let left = match long && tables.template.iter().any(Option::is_some) {
                true => {
                    let shortest = passes.blocks().iter().map(|block| block.len()).min();
                    let lines = passes.len() / shortest.unwrap_or(1);
                    (cutter.take(4), cutter.take(8 * count * lines as u64))
                }
                false => (Address::NONE, Address::NONE),
            };
            writer.most_workspace = writer.most_workspace.max(cutter.0);
            let course = Course {
                passes,
                tables,
                blocks,
                together,
                source: SOURCE_FLOATS,
                from: NO_WORDS,
                source_table: Address::NONE,
                sink: SINK_FLOATS,
                to: NO_WORDS,
                sink_table: Address::NONE,
                sink_exponent: 0,
                properties,
                between,
                exponents,
                left,
            };
            writer.course(axis, &course, first, count)
        })
    }

    fn properties(&mut self, cutter: &mut Cutter, count: u64) -> Address {
        let properties = cutter.take(4 * count);
        self.actions.push(Action::Clear {
            address: properties,
            bytes: 4 * count as usize,
        });
        properties
    }

    pub(super) fn bluestein(
        &mut self,
        axis: &Axis,
        bluestein: &Bluestein,
        tables: &PassesTables,
        (chirp, kernel): (Address, Address),
    ) -> Result<(), FftError> {
        let passes = bluestein.passes();
        let length = passes.len() as u64;
        let arrays = if passes.is_one_block() { 1 } else { 2 };
        self.in_turns(axis.lines, 16 * arrays * length, |writer, first, count| {
            let period = passes.output_step() as u64;
            let mut cutter = Cutter(writer.lasting);
            let properties = writer.properties(&mut cutter, count);
            let product = WordArray {
                words: cutter.take(16 * count * length),
                exponents: cutter.take(4 * count * period),
                distance: length,
                exponents_distance: period,
            };
            let (between, exponents) = writer.between(&mut cutter, passes, count);
            writer.most_workspace = writer.most_workspace.max(cutter.0);
            let there = Course {
                passes,
                tables,
                blocks: &tables.blocks,
                together: false,
                source: SOURCE_CHIRPED_FLOATS,
                from: NO_WORDS,
                source_table: chirp,
                sink: SINK_KERNEL_PRODUCT,
                to: product,
                sink_table: kernel,
                sink_exponent: bluestein.kernel_exponent(),
                properties,
                between,
                exponents,
                left: (Address::NONE, Address::NONE),
            };
            writer.course(axis, &there, first, count)?;
            let back = Course {
                source: SOURCE_LINE_WORDS,
                from: product,
                source_table: Address::NONE,
                sink: SINK_UNCHIRPED_FLOATS,
                to: NO_WORDS,
                sink_table: chirp,
                sink_exponent: 0,
                ..there
            };
            writer.course(axis, &back, first, count)
        })
    }

    /// The passes of `count` transforms, one launch each.
    fn course(
        &mut self,
        axis: &Axis,
        course: &Course<'_>,
        first: u64,
        count: u64,
    ) -> Result<(), FftError> {
        let passes = course.passes;
        let blocks = passes.blocks();
        let digits = self.recipe.digits;
        let most_earlier = Task::zeroed().earlier_lengths.len();
        if blocks.len() > most_earlier + 1 {
            return Err(FftError::Unsupported(format!(
                "a line of {} passes is more than the GPU's kernels take; plan it on the CPU",
                blocks.len()
            )));
        }
        let (mut groups, mut length) = (1u64, passes.len() as u64);
        if course.together {
            let opening = self.pass_task(axis, course, (first, count), (0, groups, length));
            let block = blocks[0].len() as u64;
            let closing = self.pass_task(axis, course, (first, count), (1, block, length / block));
            self.both_passes(axis, course, opening, closing);
            return Ok(());
        }
        for (number, block) in blocks.iter().enumerate() {
            let mut task = self.pass_task(axis, course, (first, count), (number, groups, length));
            let tables = course.blocks[number];
            // Exponents of words, or what outputs of eight digits have beyond 64 bits.
            let extra = !tables.truncated || digits.data == 8 || task.source != SOURCE_FLOATS;
            let point_bytes = POINT_BYTES + if extra { EXTRA_BYTES } else { 0 };
            let residues = self.residues.filter(|_| tables.residues);
            let fp8 = residues.is_some_and(ozfft_kernels::is_residue_fp8_kernel);
            let scratch = match residues {
                Some(_) if fp8 => ozfft_kernels::RESIDUE_FP8_SCRATCH_BYTES,
                Some(_) => ozfft_kernels::RESIDUE_SCRATCH_BYTES,
                None => 0,
            };
            task.lines_per_block = match self.residue_lines.filter(|_| residues.is_some()) {
                Some(lines) => self.asked_lines(&task, point_bytes, scratch, lines)?,
                None if fp8 => ozfft_kernels::RESIDUE_FP8_LINES as u64,
                None => self.lines_per_block(&task, point_bytes, scratch),
            } as i32;
            let lines = task.lines_per_block as usize;
            let points = lines * task.line_pitch as usize;
            let shared = shared_bytes(lines, points, point_bytes) + scratch;
            let mut blocks = task.line_count.div_ceil(lines as u64);
            if fp8 {
                // No two fit a multiprocessor, and each takes all lines that it comes to.
                blocks = blocks.min(self.machine.multiprocessors() as u64);
            }
            self.tuned_passes.1 += 1;
            let truncated = tables
                .truncated
                .then(|| ozfft_kernels::truncated(digits.data, tables.tiles))
                .flatten();
            if let Some(kernel) = truncated {
                let rest = Rest {
                    tasks: Tasks::one(task),
                    kernel,
                    blocks,
                    shared_bytes: shared,
                };
                if passes.is_one_block() && self.any_tuned(axis, &rest) {
                    continue;
                }
                if self.template_pass(axis, course, number, &rest) {
                    groups *= block.len() as u64;
                    length /= block.len() as u64;
                    continue;
                }
            }
            let parameters = match residues.or(truncated) {
                Some(kernel) => Parameters::Truncated(Tasks::one(task), kernel),
                None => Parameters::block(task, tables.tiles),
            };
            self.launch(parameters, blocks, shared);
            groups *= block.len() as u64;
            length /= block.len() as u64;
        }
        Ok(())
    }

    /// What a launch of pass `number` is told, but for how its lines are shared out.
    fn pass_task(
        &self,
        axis: &Axis,
        course: &Course<'_>,
        (first, count): (u64, u64),
        (number, groups, length): (usize, u64, u64),
    ) -> Task {
        let passes = course.passes;
        let blocks = passes.blocks();
        let block = &blocks[number];
        let tables = course.blocks[number];
        let digits = self.recipe.digits;
        let most_exponents = passes.most_exponents() as u64;
        let inner = length / block.len() as u64;
        let (is_first, is_last) = (number == 0, number + 1 == blocks.len());
        let mut task = Task::zeroed();
        task.input = axis.input;
        task.output = axis.output;
        task.steps = tables.steps.at(&self.tables);
        task.places = tables.places.at(&self.tables);
        task.step_count = block.steps().len() as i32;
        task.block_length = block.len() as i32;
        task.line_pitch = tables.line_pitch as i32;
        task.row_pitch = tables.row_pitch as i32;
        task.column_pitch = 1;
        task.data_digits = digits.data as i32;
        task.matrix_digits = digits.matrix as i32;
        task.diagonals = digits.diagonals as i32;
        task.exact = i32::from(self.recipe.products == Products::Exact);
        task.word_bits = digits.word_bits() as i32;
        task.exponent_offset = block.exponent_offset();
        task.transform_length = passes.len() as u64;
        task.lines_per_transform = groups * inner;
        (task.inner, task.length, task.groups) = (inner, length, groups);
        task.line_count = count * groups * inner;
        task.first_transform = first;
        task.visible_length = axis.n;
        task.properties = course.properties;
        // The source.
        if is_first {
            task.source = course.source;
            task.source_table = course.source_table;
            task.words_in = course.from.words;
            task.exponents_in = course.from.exponents;
            task.words_distance = course.from.distance;
            task.exponents_in_distance = course.from.exponents_distance;
            task.previous = course.from.exponents_distance;
            task.load_across = i32::from(match course.source {
                _ if inner > 1 => true,
                SOURCE_LINE_WORDS => false,
                _ => axis.read_across,
            });
        } else {
            task.source = SOURCE_GROUP_WORDS;
            task.words_in = course.between;
            task.exponents_in = course.exponents[(number + 1) % 2];
            task.words_distance = passes.len() as u64;
            task.exponents_in_distance = most_exponents;
            task.previous = blocks[number - 1].len() as u64;
            task.load_across = i32::from(inner > 1);
        }
        task.symmetry = match (task.source, axis.input.elements) {
            (SOURCE_FLOATS, ELEMENTS_REAL) => SYMMETRY_REAL,
            // One block holds the whole line; of a longer one it holds every so many elements.
            (SOURCE_FLOATS, ELEMENTS_HALF) if is_last => SYMMETRY_HERMITIAN,
            _ => SYMMETRY_NONE,
        };
        // The sink.
        if is_last {
            task.sink = course.sink;
            task.sink_table = course.sink_table;
            task.words_out = course.to.words;
            task.exponents_out = course.to.exponents;
            task.exponents_out_distance = course.to.exponents_distance;
            task.exponent_offset += passes.exponent_offset() + course.sink_exponent;
            if course.sink == SINK_KERNEL_PRODUCT {
                debug_assert_eq!(course.to.distance, passes.len() as u64);
                task.words_distance = course.to.distance;
            }
            task.largest = self.largest();
            (task.transforms, task.transform_dimension_count) = axis.transforms;
            task.bias = axis.bias;
            for (place, earlier) in task.earlier_lengths.iter_mut().zip(&blocks[..number]) {
                *place = earlier.len() as u64;
            }
            task.earlier_count = number as i32;
            task.store_across = i32::from(match course.sink {
                _ if groups > 1 => true,
                SINK_KERNEL_PRODUCT => false,
                _ => axis.write_across,
            });
        } else {
            task.sink = SINK_NEXT_PASS;
            task.words_out = course.between;
            task.exponents_out = course.exponents[number % 2];
            task.words_distance = passes.len() as u64;
            task.exponents_out_distance = most_exponents;
            let (low, high) = course.tables.roots[number];
            (task.roots_low, task.roots_high) = (low.at(&self.tables), high.at(&self.tables));
            task.root_low_bits = passes.roots()[number].low_bits() as i32;
            task.store_across = 1;
        }
        let recorded = course.properties != Address::NONE;
        task.nature_use = match (course.source, course.sink) {
            (SOURCE_FLOATS | SOURCE_CHIRPED_FLOATS, _) if is_first && recorded => NATURE_RECORD,
            (_, SINK_FLOATS | SINK_UNCHIRPED_FLOATS) if is_last && recorded => NATURE_RECALL,
            (SOURCE_FLOATS, SINK_FLOATS) if !recorded => NATURE_OWN,
            _ => NATURE_NONE,
        };
        task
    }

    /// Both passes of transforms that fit shared memory, in one launch.
    fn both_passes(&mut self, axis: &Axis, course: &Course<'_>, mut first: Task, mut second: Task) {
        let [opening, closing] = [0, 1].map(|number| course.blocks[number]);
        let lines = [first, second].map(|task| task.lines_per_transform);
        // Threads share the lines of either pass; there is one set of headers.
        let most = lines[0].max(lines[1]);
        (first.lines_per_block, second.lines_per_block) = (most as i32, most as i32);
        // The second pass finds its elements where the first one has left them.
        second.column_pitch = first.line_pitch;
        second.row_pitch = closing.row_pitch as i32 * first.line_pitch;
        first.roots_low = course.tables.short_roots.at(&self.tables);
        // What is known of real lines spares outputs that the second pass would look for.
        first.symmetry = SYMMETRY_NONE;
        (first.nature_use, second.nature_use) = (NATURE_OWN, NATURE_OWN);
        (first.load_across, second.store_across) = (1, 1);
        let shared = two_pass_bytes(most as usize, lines[0] as usize * opening.line_pitch);
        let blocks = first.line_count / lines[0];
        self.tuned_passes.1 += 1;
        let tiles = opening.tiles.max(closing.tiles);
        let Some(kernel) = ozfft_kernels::two_passes(self.recipe.digits.data, tiles) else {
            unreachable!("tables are together only where there are kernels");
        };
        let tasks = Tasks([first, second]);
        let rest = Rest {
            tasks,
            kernel,
            blocks,
            shared_bytes: shared,
        };
        if self.any_tuned(axis, &rest) {
            return;
        }
        self.launch(Parameters::Truncated(tasks, kernel), blocks, shared);
    }

    /// The first kernels that know the length and take the lines, if there are some.
    fn any_tuned(&mut self, axis: &Axis, rest: &Rest) -> bool {
        for (kernels, tables) in &axis.tuned {
            if let Some(action) = self.tuned(axis, kernels, *tables, rest) {
                self.actions.push(action);
                return true;
            }
        }
        false
    }

    /// Whether transforms that would fit one launch go through the template's kernels for single passes.
    fn goes_pass_by_pass(&mut self, axis: &Axis, passes: &Passes) -> bool {
        let ends = [&axis.input, &axis.output];
        match long_passes::kernels(
            &**self.machine,
            ends,
            (passes, self.recipe),
            self.conversions,
        ) {
            Ok(kernels) => {
                for (block, kernel) in passes.blocks().iter().zip(kernels) {
                    self.remark_compilation(block.len() as u64, &kernel);
                }
                true
            }
            Err(reason) => {
                self.remark_portable(axis.n, reason);
                false
            }
        }
    }

    /// Whether kernels that know their length leave all lines of transforms that are scaled between axes: where they cannot round what
    /// is scaled back.
    fn leaves_what_is_scaled(&self, axis: &Axis, single: bool) -> bool {
        self.scaling.is_none_or(|Scaling { scale, .. }| {
            let leaves = || tuned::leave_what_is_scaled_up(single, &scale, axis.points_before);
            scale.growth() < tuned::most_bias(single) && (axis.bias == 0 || leaves())
        })
    }

    /// A pass of long transforms on the template, where that takes it.
    fn template_pass(
        &mut self,
        axis: &Axis,
        course: &Course<'_>,
        number: usize,
        rest: &Rest,
    ) -> bool {
        let Some(tables) = course.tables.template[number] else {
            return false;
        };
        let single = axis.output.single != 0;
        if !self.leaves_what_is_scaled(axis, single) {
            return false;
        }
        let block = &course.passes.blocks()[number];
        let [task, _] = &rest.tasks.0;
        let launch = long_passes::launch(
            &**self.machine,
            (block, self.recipe),
            task,
            tables.at(&self.tables),
            course.left,
            self.conversions,
        );
        match launch {
            Ok(launch) => {
                self.remark_compilation(block.len() as u64, &launch.kernel);
                self.search_first();
                self.actions.push(Action::Pass {
                    launch: Box::new(launch),
                    rest: Box::new(*rest),
                });
                true
            }
            Err(reason) => {
                self.remark_portable(course.passes.len() as u64, reason);
                false
            }
        }
    }

    /// Why there is no kernel that knows its length, and how to get it.
    fn remark_portable(&mut self, n: u64, reason: NoLaunch) {
        if let NoLaunch::Kernel(reason) = reason {
            self.remark(format!("the portable kernel for {n} points: {reason}"));
        }
    }

    /// That a kernel had to be compiled, and how long it took.
    fn remark_compilation(&mut self, n: u64, kernel: &TemplateKernel) {
        if let Some(Compilation { seconds, kept }) = kernel.compilation {
            let lost = match kept {
                true => "",
                false => " and could not be kept on disk (OZFFT_CACHE names another folder)",
            };
            self.remark(format!(
                "a kernel for {n} points was compiled in {seconds:.1} s{lost}"
            ));
        }
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// A tuned kernel for lines from floats to floats, if they lie as it wants them.
    fn tuned(
        &mut self,
        axis: &Axis,
        kernels: &Kernels,
        tables: Piece,
        rest: &Rest,
    ) -> Option<Action> {
        let task = rest.tasks.last();
        let count = axis.lines;
        if task.line_count != count * task.lines_per_transform {
            return None;
        }
        // Numbers that ask for a scale are among those that tuned kernels leave.
        if !self.leaves_what_is_scaled(axis, kernels.single) {
            return None;
        }
        let lines = TunedLines {
            input: &axis.input,
            output: &axis.output,
            read: &axis.read,
            write: &axis.write,
            count,
        };
        let n = axis.n;
        let mut launch = match tuned::launch(&**self.machine, kernels, &lines) {
            Ok(launch) => launch,
            Err(reason) => {
                self.remark_portable(n, reason);
                return None;
            }
        };
        if let LaunchedKernel::Template(kernel) = launch.kernel {
            self.remark_compilation(n, &kernel);
        }
        let mut cutter = Cutter(self.lasting);
        let (left_count, list) = (cutter.take(4), cutter.take(8 * count));
        // Of a single transform the kernel looks up the scale itself.
        let single_transform = self.scaling.filter(|scaling| scaling.transforms == 1);
        launch.task.largest = single_transform.map_or(Address::NONE, |scaling| scaling.found);
        let search = self.search.take().map(|everywhere| {
            let bytes = 4 * count.div_ceil(32);
            let marks = cutter.take(bytes);
            // Lines are stored as if no number asked for a scale.
            launch.task.largest = Address::NONE;
            let mut left = self.array_task(axis);
            (left.list, left.list_count, left.marks) = (list, left_count, marks);
            Box::new(Search {
                everywhere,
                left,
                marks: (marks, bytes as usize),
                found: self
                    .scaling
                    .map_or((Address::NONE, 0), |scaling| (scaling.found, scaling.bytes)),
            })
        });
        self.most_workspace = self.most_workspace.max(cutter.0);
        launch.task.bias_threshold = self.scaling.map_or(0, |scaling| {
            f64::from(scaling.scale.most()).exp2().to_bits()
        });
        launch.task.bias = task.bias;
        launch.task.exponent_offset = rest.tasks.exponent_offset();
        launch.task.tables = tables.at(&self.tables);
        (launch.task.left_count, launch.task.left) = (left_count, list);
        let mut tasks = rest.tasks;
        tasks.set_list(list, left_count);
        // Of several, what it has not left is scaled back afterwards.
        let several = self.scaling.filter(|scaling| scaling.transforms > 1);
        let scaled_back = several.filter(|_| axis.bias > 0).map(|scaling| {
            let mut task = self.array_task(axis);
            task.marks = scaling.last_marks();
            tasks.last_mut().marks = task.marks;
            Box::new(task)
        });
        self.tuned_passes.0 += usize::from(kernels.are_tuned());
        Some(Action::Tuned {
            launch: Box::new(launch),
            rest: Box::new(tasks),
            rest_kernel: rest.kernel,
            rest_blocks: rest.blocks,
            rest_shared_bytes: rest.shared_bytes,
            search,
            scaled_back,
        })
    }

    /// Lines that a thread block takes: enough to keep its warps busy and, where neighbouring lines lie side by side,
    /// to use whole segments of 128 bytes; but no more than leave every multiprocessor some.
    fn lines_per_block(&self, task: &Task, point_bytes: usize, scratch: usize) -> u64 {
        const POINTS: u64 = 4096;
        // Two numbers of f64 to a sector of 32 bytes: four sectors, or two where lines are long.
        const SEGMENT: u64 = 8;
        const LONG: u64 = 512;
        let pitch = task.line_pitch as u64;
        let across = task.load_across + task.store_across > 0;
        let least = match across {
            true if pitch > LONG + 32 => SEGMENT / 2,
            true => SEGMENT,
            false => 1,
        };
        let fair = task
            .line_count
            .div_ceil(2 * self.machine.multiprocessors() as u64);
        let wanted = (POINTS / pitch).min(fair).clamp(least, MOST_LINES);
        // Head and padding to whole 128 bytes, then the points.
        let taken = scratch + 128 + COMMON_BYTES;
        let room = (self.machine.shared_memory() - taken) as u64;
        let fitting = room / (LINE_HEADER_BYTES as u64 + pitch * point_bytes as u64);
        // Powers of two: the kernels share lines among their threads so.
        1 << wanted.min(fitting.max(1)).ilog2()
    }

    /// As many lines in a block as is asked for, where they fit.
    fn asked_lines(
        &self,
        task: &Task,
        point_bytes: usize,
        scratch: usize,
        lines: u64,
    ) -> Result<u64, FftError> {
        if self
            .residues
            .is_some_and(ozfft_kernels::is_residue_fp8_kernel)
        {
            return Err(FftError::Unsupported(format!(
                "blocks of the residue kernels in fp8 have {} lines, not {lines}; take the substrate auto",
                ozfft_kernels::RESIDUE_FP8_LINES
            )));
        }
        if !lines.is_power_of_two() || lines > MOST_LINES {
            return Err(FftError::Unsupported(format!(
                "{lines} lines cannot share a block; take a power of two up to {MOST_LINES}"
            )));
        }
        let points = lines as usize * task.line_pitch as usize;
        let needed = shared_bytes(lines as usize, points, point_bytes) + scratch;
        let available = self.machine.shared_memory();
        if needed > available {
            return Err(FftError::Unsupported(format!(
                "{lines} lines of a block need {needed} bytes of shared memory, and the device has {available}; take fewer"
            )));
        }
        Ok(lines)
    }
}
