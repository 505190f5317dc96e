//! Makes the list of launches of a plan: axis by axis, which lines, from where and to where. Their passes are in `pass_launches.rs`, kernels
//! that know their length in `tuned_launches.rs`.

use crate::error::FftError;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::program::data::{
    Action, Axis, Listed, NO_WORDS, PassIo, PassesTables, ProgramBuilder, TunedTables, WordArray,
};
use crate::executor::cuda::program::dimensions::{BumpAllocator, Flattened};
use crate::executor::cuda::program::task::*;
use crate::executor::cuda::tables::Piece;
use crate::executor::lines::{LineSet, Place};
use crate::executor::schedule::{AxisPass, Schedule};
use crate::kind::Kind;
use crate::sample::Real;
use crate::transform::bluestein::Bluestein;
use crate::transform::passes::Passes;

impl ProgramBuilder<'_> {
    pub(crate) fn axis<T: Real>(
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

    pub(crate) fn launch(&mut self, launch: Launch) {
        self.search_first();
        self.actions.push(Action::Launch(Box::new(launch)));
    }

    /// Where the transforms' largest numbers are, if there are scales between axes.
    pub(crate) fn largest(&self) -> Address {
        self.scaling.map_or(Address::NONE, |scaling| scaling.found)
    }

    pub(crate) fn array_task(&self, axis: &Axis) -> ArrayTask {
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
    pub(crate) fn search_everywhere(
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
    pub(crate) fn search_first(&mut self) {
        if let Some((task, blocks)) = self.search.take() {
            self.launch(Launch::general("find_largest", blocks, task));
        }
    }

    pub(crate) fn copy(&mut self, axis: &Axis) {
        let threads = u64::from(ozfft_kernels::GENERAL_THREADS);
        let blocks = axis.lines.div_ceil(threads);
        self.launch(Launch::general(
            "copy_points",
            blocks,
            self.array_task(axis),
        ));
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
    fn between(
        &self,
        allocator: &mut BumpAllocator,
        passes: &Passes,
        count: u64,
    ) -> (Address, [Address; 2]) {
        if passes.is_one_block() {
            return (Address::NONE, [Address::NONE; 2]);
        }
        let most = passes.most_exponents() as u64;
        (
            allocator.take(16 * count * passes.len() as u64),
            [
                allocator.take(4 * count * most),
                allocator.take(4 * count * most),
            ],
        )
    }

    pub(crate) fn passes(
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
        self.in_turns(axis.lines, bytes_each, |program, first, count| {
            let mut allocator = BumpAllocator(program.lasting);
            let properties = if long {
                program.properties(&mut allocator, count)
            } else {
                Address::NONE
            };
            let (between, exponents) = if long {
                program.between(&mut allocator, passes, count)
            } else {
                (Address::NONE, [Address::NONE; 2])
            };
            let left = match long && tables.template.iter().any(Option::is_some) {
                true => {
                    let shortest = passes.blocks().iter().map(|block| block.len()).min();
                    let lines = passes.len() / shortest.unwrap_or(1);
                    (allocator.take(4), allocator.take(8 * count * lines as u64))
                }
                false => (Address::NONE, Address::NONE),
            };
            program.most_workspace = program.most_workspace.max(allocator.0);
            let io = PassIo {
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
            program.line_passes(axis, &io, first, count)
        })
    }

    fn properties(&mut self, allocator: &mut BumpAllocator, count: u64) -> Address {
        if let Some(properties) = self.zeros.take(4 * count) {
            return properties;
        }
        let properties = allocator.take(4 * count);
        self.actions.push(Action::Clear {
            address: properties,
            bytes: 4 * count as usize,
        });
        properties
    }

    pub(crate) fn bluestein(
        &mut self,
        axis: &Axis,
        bluestein: &Bluestein,
        tables: &PassesTables,
        (chirp, kernel): (Address, Address),
    ) -> Result<(), FftError> {
        if self.whole_convolution(axis, bluestein, tables.convolution, (chirp, kernel)) {
            return Ok(());
        }
        let passes = bluestein.passes();
        let length = passes.len() as u64;
        let arrays = if passes.is_one_block() { 1 } else { 2 };
        self.in_turns(axis.lines, 16 * arrays * length, |program, first, count| {
            let period = passes.output_step() as u64;
            let mut allocator = BumpAllocator(program.lasting);
            let properties = program.properties(&mut allocator, count);
            let product = WordArray {
                words: allocator.take(16 * count * length),
                exponents: allocator.take(4 * count * period),
                distance: length,
                exponents_distance: period,
            };
            let (between, exponents) = program.between(&mut allocator, passes, count);
            program.most_workspace = program.most_workspace.max(allocator.0);
            let there = PassIo {
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
            program.line_passes(axis, &there, first, count)?;
            let back = PassIo {
                source: SOURCE_LINE_WORDS,
                from: product,
                source_table: Address::NONE,
                sink: SINK_UNCHIRPED_FLOATS,
                to: NO_WORDS,
                sink_table: chirp,
                sink_exponent: 0,
                ..there
            };
            program.line_passes(axis, &back, first, count)
        })
    }
}
