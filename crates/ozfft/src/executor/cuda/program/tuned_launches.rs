//! Launches of kernels that know their length, in place of portable ones: where they may run, what else has to be done then, and what a
//! plan says of them.

use crate::executor::cuda::device::launch::{Compilation, TemplateKernel};
use crate::executor::cuda::program::data::{
    Action, Axis, FallbackLaunch, PassIo, ProgramBuilder, Search,
};
use crate::executor::cuda::program::dimensions::{BumpAllocator, Scaling};
use crate::executor::cuda::program::task::*;
use crate::executor::cuda::select::long_passes;
use crate::executor::cuda::select::tuned::{self, Kernels, LaunchedKernel, NoLaunch};
use crate::executor::cuda::tables::Piece;
use crate::kind::Kind;
use crate::portable::power_of_two;
use crate::transform::bluestein::Bluestein;
use crate::transform::passes::Passes;
use bytemuck::Zeroable;
use ozfft_kernels::template::{Ends, Number};

impl ProgramBuilder<'_> {
    /// The first kernels that know the length and take the lines, if there are some.
    pub(crate) fn any_tuned(&mut self, axis: &Axis, fallback: &FallbackLaunch) -> bool {
        for (kernels, tables) in &axis.tuned {
            if let Some(action) = self.tuned(axis, kernels, *tables, fallback) {
                self.actions.push(action);
                return true;
            }
        }
        false
    }

    /// Whether transforms that would fit one launch go through the template's kernels for single passes.
    pub(crate) fn goes_pass_by_pass(&mut self, axis: &Axis, passes: &Passes) -> bool {
        let numbers = [&axis.input, &axis.output];
        match long_passes::kernels(
            &**self.machine,
            numbers,
            self.ends_of_one_launch(axis),
            (passes, self.recipe),
            (self.template, self.conversions),
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

    /// What transforms of two passes begin and end with that may go through both in one launch.
    fn ends_of_one_launch(&self, axis: &Axis) -> Option<(Number, Ends)> {
        let single = axis.output.single != 0;
        let kind = match (axis.input.elements, axis.output.elements) {
            (ELEMENTS_REAL, _) => Kind::RealToComplex,
            (_, ELEMENTS_REAL) => Kind::ComplexToReal,
            _ => Kind::ComplexToComplex,
        };
        let number = tuned::number_of(single, self.recipe.digits, self.template)?;
        let ends = tuned::ends_of(kind, number)?;
        let lies_well = kind == Kind::ComplexToComplex || tuned::lie_in_turn(&axis.tuned_lines());
        (lies_well && tuned::scales_both_passes_exactly(single, axis.bias))
            .then_some((number, ends))
    }

    /// Whether kernels that know their length leave all lines of transforms that are scaled between axes: where they cannot round what
    /// is scaled back.
    pub(crate) fn leaves_what_is_scaled(&self, axis: &Axis, single: bool) -> bool {
        self.scaling.is_none_or(|Scaling { scale, .. }| {
            let leaves = || tuned::leave_what_is_scaled_up(single, &scale, axis.points_before);
            scale.growth() < tuned::most_bias(single) && (axis.bias == 0 || leaves())
        })
    }

    /// A pass of long transforms, or of a convolution, on the template, where that takes it.
    pub(crate) fn template_pass(
        &mut self,
        axis: &Axis,
        io: &PassIo<'_>,
        number: usize,
        fallback: &FallbackLaunch,
    ) -> bool {
        let Some(tables) = io.tables.template[number] else {
            return false;
        };
        // Convolutions take any line, whatever it is scaled by.
        let single = axis.output.single != 0;
        if !io.is_of_convolution() && !self.leaves_what_is_scaled(axis, single) {
            return false;
        }
        let block = &io.passes.blocks()[number];
        let [task, _] = &fallback.tasks.0;
        let launch = long_passes::launch(
            &**self.machine,
            (block, self.recipe),
            task,
            tables.at(&self.tables),
            io.left,
            (self.template, self.conversions),
        );
        match launch {
            Ok(mut launch) => {
                let cleared = launch.leaves_lines.then(|| self.zeros.take(4)).flatten();
                launch.clears_list = launch.leaves_lines && cleared.is_none();
                launch.task.tuned.left_count = match launch.leaves_lines {
                    true => cleared.unwrap_or(launch.task.tuned.left_count),
                    false => Address::NONE,
                };
                debug_assert!(!(io.is_of_convolution() && launch.leaves_lines));
                self.tuned_passes.0 += usize::from(launch.is_special);
                self.remark_compilation(block.len() as u64, &launch.kernel);
                self.search_first();
                self.actions.push(Action::Pass {
                    launch: Box::new(launch),
                    fallback: Some(Box::new(*fallback)),
                });
                true
            }
            Err(reason) => {
                self.remark_portable(io.passes.len() as u64, reason);
                false
            }
        }
    }

    /// A convolution of two passes there and back in one launch, where the template has a kernel for that.
    pub(crate) fn whole_convolution(
        &mut self,
        axis: &Axis,
        bluestein: &Bluestein,
        tables: Option<Piece>,
        (chirp, kernel): (Address, Address),
    ) -> bool {
        let Some(tables) = tables else {
            return false;
        };
        let passes = bluestein.passes();
        let exponent_offset = {
            let blocks = passes.blocks().iter().map(|block| block.exponent_offset());
            2 * (blocks.sum::<i32>() + passes.exponent_offset()) + bluestein.kernel_exponent()
        };
        let task = Task {
            input: axis.input,
            output: axis.output,
            source: SOURCE_CHIRPED_FLOATS,
            sink: SINK_UNCHIRPED_FLOATS,
            source_table: chirp,
            sink_table: kernel,
            // A whole transform is a line.
            transform_length: passes.len() as u64,
            length: passes.len() as u64,
            lines_per_transform: 1,
            inner: 1,
            groups: 1,
            line_count: axis.lines,
            visible_length: axis.n,
            largest: self.largest(),
            transforms: axis.transforms.0,
            transform_dimension_count: axis.transforms.1,
            bias: axis.bias,
            nature_use: NATURE_OWN,
            word_bits: self.recipe.digits.word_bits() as i32,
            exponent_offset,
            ..Task::zeroed()
        };
        let launch = long_passes::convolution(
            &**self.machine,
            (passes, self.recipe),
            &task,
            tables.at(&self.tables),
            (self.template, self.conversions),
        );
        match launch {
            Ok(launch) => {
                self.tuned_passes.1 += 1;
                self.remark_compilation(passes.len() as u64, &launch.kernel);
                self.search_first();
                self.actions.push(Action::Pass {
                    launch: Box::new(launch),
                    fallback: None,
                });
                true
            }
            Err(reason) => {
                self.remark_portable(passes.len() as u64, reason);
                false
            }
        }
    }

    /// Why there is no kernel that knows its length, and how to get it.
    pub(crate) fn remark_portable(&mut self, n: u64, reason: NoLaunch) {
        if let NoLaunch::Kernel(reason) = reason {
            self.remark(format!("the portable kernel for {n} points: {reason}"));
        }
    }

    /// That a kernel had to be compiled, and how long it took.
    pub(crate) fn remark_compilation(&mut self, n: u64, kernel: &TemplateKernel) {
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

    pub(crate) fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// A count of lines that are left, cleared before all launches; a single block clears it itself.
    fn zeros_for_list(&mut self, blocks: u64) -> Option<Address> {
        match blocks {
            1 => None,
            _ => self.zeros.take(4),
        }
    }

    /// A tuned kernel for lines from floats to floats, if they lie as it wants them.
    pub(crate) fn tuned(
        &mut self,
        axis: &Axis,
        kernels: &Kernels,
        tables: Piece,
        fallback: &FallbackLaunch,
    ) -> Option<Action> {
        let task = fallback.tasks.last();
        let count = axis.lines;
        if task.line_count != count * task.lines_per_transform {
            return None;
        }
        // Numbers that ask for a scale are among those that tuned kernels leave.
        if !self.leaves_what_is_scaled(axis, kernels.single) {
            return None;
        }
        let exact = tuned::scales_both_passes_exactly(kernels.are_for_single_passes(), axis.bias);
        if !exact {
            return None;
        }
        let lines = axis.tuned_lines();
        let n = axis.n;
        let mut launch = match tuned::launch(&**self.machine, kernels, &lines) {
            Ok(launch) => launch,
            Err(NoLaunch::Kernel(reason)) if kernels.few_alone => {
                self.remark(format!("a kernel for many lines of {n} points: {reason}"));
                return None;
            }
            Err(NoLaunch::Kernel(reason)) if kernels.are_by_warpgroups() => {
                self.remark(format!("the kernel on mma.sync for {n} points: {reason}"));
                return None;
            }
            Err(reason) => {
                self.remark_portable(n, reason);
                return None;
            }
        };
        if let LaunchedKernel::Template(kernel) = launch.kernel {
            self.remark_compilation(n, &kernel);
        }
        let mut allocator = BumpAllocator(self.lasting);
        let cleared = self.zeros_for_list(launch.blocks);
        launch.clears_list = launch.blocks > 1 && cleared.is_none();
        let left_count = cleared.unwrap_or_else(|| allocator.take(4));
        let list = allocator.take(8 * count);
        // Of a single transform the kernel looks up the scale itself.
        let single_transform = self.scaling.filter(|scaling| scaling.transforms == 1);
        launch.task.largest = single_transform.map_or(Address::NONE, |scaling| scaling.found);
        let marks = self.scaling.map(|scaling| scaling.first_marks);
        let search = self.search.take().map(|everywhere| {
            // Lines are stored as if no number asked for a scale.
            launch.task.largest = Address::NONE;
            let mut left = self.array_task(axis);
            (left.list, left.list_count) = (list, left_count);
            left.marks = marks.unwrap_or(Address::NONE);
            Box::new(Search { everywhere, left })
        });
        self.most_workspace = self.most_workspace.max(allocator.0);
        launch.task.bias_threshold = self
            .scaling
            .map_or(0, |scaling| power_of_two(scaling.scale.most()).to_bits());
        launch.task.bias = task.bias;
        launch.task.exponent_offset = fallback.tasks.exponent_offset();
        launch.task.tables = tables.at(&self.tables);
        (launch.task.left_count, launch.task.left) = (left_count, list);
        let mut tasks = fallback.tasks;
        tasks.set_list(list, left_count);
        // Of several, what it has not left is scaled back afterwards.
        let several = self.scaling.filter(|scaling| scaling.transforms > 1);
        let scaled_back = several.filter(|_| axis.bias > 0).map(|scaling| {
            let mut task = self.array_task(axis);
            task.marks = scaling.last_marks();
            tasks.last_mut().marks = task.marks;
            Box::new(task)
        });
        self.tuned_passes.0 += usize::from(kernels.are_special());
        Some(Action::Tuned {
            launch: Box::new(launch),
            fallback: Box::new(FallbackLaunch { tasks, ..*fallback }),
            search,
            scaled_back,
        })
    }
}
