//! Passes of long transforms on the kernel template (`crates/ozfft-kernels/cuda/passes/bailey_long.cuh`): which it takes, and what a launch is
//! told. Words between passes lie as the portable kernels have them, so that either takes any pass.

use crate::executor::cuda::device::launch::{Launch, TemplateKernel};
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::program::task::*;
use crate::executor::cuda::program::tuned_task::TunedTask;
use crate::executor::cuda::select::tuned::{self, NoLaunch};
use crate::recipe::{Digits, Recipe};
use crate::transform::bailey::Block;
use crate::transform::passes::Passes;
use ozfft_kernels::template::{
    Ends, KernelSpec, LongPass, MANY_TRANSFORMS, Number, Pass, TwoPasses,
};

/// What a launch is told: `PassArguments` of `bailey_long.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct PassTask {
    pub(crate) task: Task,
    pub(crate) tuned: TunedTask,
}

// The kernels' source asserts the same size.
const _: () = assert!(size_of::<PassTask>() == 656);

// As for `TunedTask`.
impl KernelArgs for PassTask {}

impl PassTask {
    /// With the arrays of a call; none where an array of numbers does not begin at a multiple of 16 bytes.
    pub(crate) fn if_aligned(self, arrays: &Arrays) -> Option<PassTask> {
        Some(PassTask {
            task: self.task.resolved(arrays),
            tuned: self.tuned.if_aligned(arrays)?,
        })
    }
}

/// A launch of a pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassLaunch {
    pub(crate) task: PassTask,
    pub(crate) kernel: TemplateKernel,
    pub(crate) blocks: u64,
    pub(crate) shared_bytes: usize,
    /// Whether digits are multiplied as was asked for by name: not in int8.
    pub(crate) is_special: bool,
    /// Whether some of its lines may be left to a portable kernel.
    pub(crate) leaves_lines: bool,
    /// Whether the count of those has to be cleared before.
    pub(crate) clears_list: bool,
}

impl PassLaunch {
    /// With its parameters, complete.
    pub(crate) fn with(&self, task: PassTask) -> Launch {
        let grid = (self.blocks, self.kernel.threads);
        Launch::new(self.kernel.name, grid, self.shared_bytes, task)
    }
}

/// What the template's numbers are for a block of a recipe for lines of f32 or of f64, where those of f64 in eight digits are `double`; none where
/// it has not got its words. Blocks of three steps are multiplied in int8.
fn number_of(single: bool, recipe: &Recipe, block: &Block, double: Number) -> Option<Number> {
    let double = match tuned::three_steps_of(recipe, block) {
        Some(_) => Number::Double,
        None => double,
    };
    tuned::number_of(single, recipe.digits, double)
}

/// The first pass of transforms of such numbers.
fn opening(input: &FloatLines, number: Number) -> Option<Pass> {
    match input.elements {
        _ if (number == Number::Single) != (input.single == 1) => None,
        ELEMENTS_COMPLEX => Some(Pass::Opening),
        ELEMENTS_REAL => Some(Pass::OpeningReal),
        ELEMENTS_HALF => Some(Pass::OpeningHalf),
        _ => None,
    }
}

/// The last pass of transforms to such numbers.
fn closing(output: &FloatLines, number: Number) -> Option<Pass> {
    match output.elements {
        _ if (number == Number::Single) != (output.single == 1) => None,
        ELEMENTS_COMPLEX => Some(Pass::Closing),
        ELEMENTS_REAL => Some(Pass::ClosingReal),
        _ => None,
    }
}

/// Which pass a portable kernel is told of; none where it is one that the template has not got.
fn pass_of(task: &Task, number: Number) -> Option<Pass> {
    let pass = match (task.source, task.sink) {
        (SOURCE_FLOATS, SINK_NEXT_PASS) => opening(&task.input, number)?,
        (SOURCE_GROUP_WORDS, SINK_NEXT_PASS) => Pass::Middle,
        (SOURCE_GROUP_WORDS, SINK_FLOATS) => closing(&task.output, number)?,
        (SOURCE_CHIRPED_FLOATS, SINK_NEXT_PASS) => Pass::ChirpedOpening,
        (SOURCE_CHIRPED_FLOATS, SINK_KERNEL_PRODUCT) => Pass::ChirpedProduct,
        (SOURCE_GROUP_WORDS, SINK_KERNEL_PRODUCT) => Pass::Product,
        (SOURCE_LINE_WORDS, SINK_NEXT_PASS) => Pass::ProductOpening,
        (SOURCE_LINE_WORDS, SINK_UNCHIRPED_FLOATS) => Pass::ProductClosing,
        (SOURCE_GROUP_WORDS, SINK_UNCHIRPED_FLOATS) => Pass::UnchirpedClosing,
        _ => return None,
    };
    // Words of a transform are counted in 32 bits, and so are the lines that lie side by side.
    let recorded = pass == Pass::Middle || task.properties != Address::NONE;
    (recorded && task.transform_length < 1 << 31).then_some(pass)
}

/// Whether the template has a kernel for both passes of contiguous transforms that is faster than two kernels: where several groups of
/// warps have transforms of their own, so that some work while others wait (docs/gpu-template.md has the comparison).
fn has_one_launch(passes: &Passes, (number, ends): (Number, Ends), machine: &dyn Machine) -> bool {
    let [first, second] = passes.blocks() else {
        return false;
    };
    let steps = [first, second].map(tuned::steps_of);
    let family = TwoPasses { steps, ends };
    let spec = KernelSpec::new(family, number, false, machine.shared_memory());
    spec.is_some_and(|spec| spec.groups >= 2)
}

/// The template's kernels for the passes of contiguous lines one by one; or why there are none. `one_launch`: what such transforms
/// begin and end with, where they may go through both passes in one launch.
pub(crate) fn kernels(
    machine: &dyn Machine,
    [input, output]: [&FloatLines; 2],
    one_launch: Option<(Number, Ends)>,
    (passes, recipe): (&Passes, &Recipe),
    (double, conversions): (Number, bool),
) -> Result<[TemplateKernel; 2], NoLaunch> {
    let [first, second] = passes.blocks() else {
        return Err(NoLaunch::Layout);
    };
    let single = output.single == 1;
    let number = |block: &Block| number_of(single, recipe, block, double).ok_or(NoLaunch::Layout);
    let (Some(opening), Some(closing)) = (
        opening(input, number(first)?),
        closing(output, number(second)?),
    ) else {
        return Err(NoLaunch::Layout);
    };
    let together = one_launch.is_some_and(|ends| has_one_launch(passes, ends, machine));
    let contiguous = input.stride == 1 && output.stride == 1;
    if !contiguous || together {
        return Err(NoLaunch::Layout);
    }
    let kernel = |block: &Block, other: &Block, pass: Pass| {
        let side_by_side = other.len() as u64;
        let [first, last] = tuned::steps_of(block);
        let pass = LongPass::new([first, 1, last], side_by_side, pass);
        let spec = KernelSpec::new(pass, number(block)?, false, machine.shared_memory());
        let spec = spec.ok_or(NoLaunch::Layout)?;
        // Whether there are few lines, and what is tried then, is up to `launch`.
        let spec = machine.tuning().known(spec, false);
        let kernel = machine.template_kernel(&spec, conversions);
        kernel.map_err(NoLaunch::Kernel)
    };
    Ok([
        kernel(first, second, opening)?,
        kernel(second, first, closing)?,
    ])
}

/// How a pass is launched that a portable kernel has been told of, with the template's tables and a list for lines that are left; or
/// why it is not.
pub(crate) fn launch(
    machine: &dyn Machine,
    (block, recipe): (&Block, &Recipe),
    task: &Task,
    tables: Address,
    list: (Address, Address),
    (double, conversions): (Number, bool),
) -> Result<PassLaunch, NoLaunch> {
    let single = task.output.single == 1;
    let number = number_of(single, recipe, block, double).ok_or(NoLaunch::Layout)?;
    let pass = pass_of(task, number).ok_or(NoLaunch::Layout)?;
    // Convolutions read and write numbers as portable kernels do, f64 or f32: of five digits one kernel is for both.
    let number = match pass.is_of_convolution() && recipe.digits == Digits::SINGLE {
        true => Number::Single,
        false => number,
    };
    // Lines that lie side by side: of a group, or the outputs of a last pass; of one block, all transforms.
    let side_by_side = match pass.is_last() {
        true if task.groups == 1 => task.line_count,
        true => task.groups,
        false => task.inner,
    };
    let steps = tuned::three_steps_of(recipe, block).unwrap_or_else(|| {
        let [first, last] = tuned::steps_of(block);
        [first, 1, last]
    });
    // One kernel for any number of transforms.
    let usual = match pass.is_last() && task.groups == 1 {
        true => MANY_TRANSFORMS,
        false => side_by_side,
    };
    let family = LongPass::new(steps, usual, pass);
    let for_many = KernelSpec::new(family, number, false, machine.shared_memory());
    let for_many = for_many.ok_or(NoLaunch::Layout)?;
    let panels_of = |spec: &KernelSpec| {
        let panels_a_group = side_by_side.div_ceil(spec.lines as u64);
        (
            panels_a_group,
            panels_a_group * (task.line_count / side_by_side),
        )
    };
    let few = panels_of(&for_many).1 < machine.few_panels();
    let for_few = few.then(|| for_many.for_few()).flatten();
    let spec = machine.tuning().preferred(for_few.unwrap_or(for_many), few);
    let (panels_a_group, panels) = panels_of(&spec);
    if panels >= 1 << 30 || side_by_side >= 1 << 31 {
        return Err(NoLaunch::Layout);
    }
    let convolution = pass.is_of_convolution();
    let kernel = machine.template_kernel(&spec, conversions && !convolution);
    let kernel = kernel.map_err(NoLaunch::Kernel)?;
    // Convolutions read and write numbers as portable kernels do, wherever they begin.
    let tuned = TunedTask::of_pass(
        [&task.input, &task.output].map(|numbers| (!convolution).then_some(numbers)),
        [panels as u32, panels_a_group as u32],
        side_by_side,
        tables,
        list,
    );
    Ok(PassLaunch {
        task: PassTask { task: *task, tuned },
        kernel,
        blocks: panels.min((machine.multiprocessors() * kernel.blocks_each) as u64),
        shared_bytes: spec.shared_bytes(),
        is_special: !number.is_usual(),
        leaves_lines: pass != Pass::Middle && !convolution,
        clears_list: true,
    })
}

/// Points of the longest convolutions that go through one launch. Words of longer ones leave shared memory for one group of warps or none.
const LONGEST_CONVOLUTION: usize = 4096;

/// The template's kernel for convolutions of two passes there and back in one launch, where there is one.
pub(crate) fn convolution_kernel(
    machine: &dyn Machine,
    passes: &Passes,
    recipe: &Recipe,
    double: Number,
) -> Option<KernelSpec> {
    let [first, second] = passes.blocks() else {
        return None;
    };
    // Those of five digits are for numbers of f32 and of f64; others multiply pass by pass.
    let number = match recipe.digits {
        Digits::SINGLE => Number::Single,
        Digits::DOUBLE if double == Number::Double => double,
        _ => return None,
    };
    let takes = |block| tuned::is_for_template(recipe, block);
    if passes.len() > LONGEST_CONVOLUTION || !takes(first) || !takes(second) {
        return None;
    }
    let steps = [first, second].map(tuned::steps_of);
    let ends = Ends::Convolution;
    let family = TwoPasses { steps, ends };
    let spec = KernelSpec::new(family, number, false, machine.shared_memory())?;
    // Few warps would wait for memory and for each other.
    (spec.threads() >= LEAST_THREADS).then_some(spec)
}

/// Of a block that has a multiprocessor to itself.
const LEAST_THREADS: u32 = 256;

/// How a convolution of two passes is launched that goes through both transforms at once; or why it is not.
pub(crate) fn convolution(
    machine: &dyn Machine,
    (passes, recipe): (&Passes, &Recipe),
    task: &Task,
    tables: Address,
    (double, conversions): (Number, bool),
) -> Result<PassLaunch, NoLaunch> {
    let spec = convolution_kernel(machine, passes, recipe, double).ok_or(NoLaunch::Layout)?;
    let spec = machine.tuning().preferred(spec, false);
    let panels = task.line_count.div_ceil(spec.lines as u64);
    if panels >= 1 << 30 {
        return Err(NoLaunch::Layout);
    }
    let kernel = machine.template_kernel(&spec, conversions);
    let kernel = kernel.map_err(NoLaunch::Kernel)?;
    let tuned = TunedTask::of_pass(
        [None, None],
        [panels as u32, panels as u32],
        task.line_count,
        tables,
        (Address::NONE, Address::NONE),
    );
    Ok(PassLaunch {
        task: PassTask { task: *task, tuned },
        kernel,
        blocks: panels.min((machine.multiprocessors() * kernel.blocks_each) as u64),
        shared_bytes: spec.shared_bytes(),
        is_special: false,
        leaves_lines: false,
        clears_list: false,
    })
}
