//! Kernels that know their length: for a few on Hopper's tensor instruction (`crates/ozfft-kernels/cuda/tuned_*.cu`), for all others by
//! a template (`bailey_block.cuh`). Which blocks they take, and what a launch is told. Their tables are in `tuned_tables.rs`
//! and `bailey_tables.rs`.
//!
//! They handle lines whose largest number is far from the ends of the range, and leave all others to a portable kernel,
//! by a list that stays on the device.

use crate::error::FftError;
use crate::executor::cuda::device::launch::{Launch, TemplateKernel};
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::program::task::{Dimension, FloatLines};
use crate::executor::cuda::program::tuned_task::{
    Places, StridedTask, TunedTask, factors, sign, template_factors,
};
use crate::kind::Kind;
use crate::problem::Products;
use crate::recipe::{Digits, Fold, Recipe};
use crate::stages::scale::ScaleBetweenAxes;
use crate::transform::bailey::Block;
use crate::transform::step::Step;
use bytemuck::Zeroable;
use ozfft_kernels::template::{
    Block as TemplateBlock, Ends, Family, KernelSpec, Number, Real, ThreeSteps, TwoPasses,
};
use ozfft_kernels::{Elements, Product, TunedShape};

/// Scales between axes are below 2 to this power: numbers that ask for one, and results that it would round, are among
/// those that the kernels leave.
pub(crate) fn most_bias(single: bool) -> i32 {
    if single { 64 } else { 100 }
}

/// Lines with numbers, all of which are below 2 to this power, are among those that the kernels leave: `LEAST_FIELD` of
/// `tuned_block.cuh`, `LEAST_EXPONENT` of `tuned_single.cu`. (`tuned_passes.cu` leaves more.)
pub(crate) fn least_exponent(single: bool) -> i32 {
    if single { -60 } else { -895 }
}

/// Whether kernels may run the first or the last axis of transforms of several, after axes of so many points in all: they
/// store lines of transforms that are scaled up as if they were not, so they must leave all of them. Between axes such
/// transforms have numbers below 2^(L+1)·√2 times the points.
pub(crate) fn leave_what_is_scaled_up(
    single: bool,
    scale: &ScaleBetweenAxes,
    points_before: usize,
) -> bool {
    let growth = points_before.next_power_of_two().trailing_zeros() as i32;
    scale.least() + 2 + growth <= least_exponent(single)
}

/// Whether results of both passes in one launch stay exact where they are scaled afterwards by 2^`bias`, which is negative for the first
/// of several axes. Those of f32 are multiples of 2^-120 (`takes_column` of `bailey_single.cuh`), and f32 ends at 2^-149; those of f64 are
/// far from the end of the range.
pub(crate) fn scales_both_passes_exactly(single: bool, bias: i32) -> bool {
    !single || bias >= -29
}

/// A launch of a tuned kernel, but for its tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TunedLaunch {
    pub(crate) task: TunedTask,
    pub(crate) kernel: LaunchedKernel,
    pub(crate) blocks: u64,
    pub(crate) shared_bytes: usize,
    /// Whether the count of lines that are left has to be cleared before.
    pub(crate) clears_list: bool,
}

impl TunedLaunch {
    /// With its parameters, complete.
    pub(crate) fn with(&self, machine: &dyn Machine, task: TunedTask) -> Result<Launch, FftError> {
        let (name, grid) = (self.kernel.name(), (self.blocks, self.kernel.threads()));
        let LaunchedKernel::Strided(_, shape) = self.kernel else {
            return Ok(Launch::new(name, grid, self.shared_bytes, task));
        };
        let task = StridedTask {
            from_map: machine.tensor_map(&task.mapped_input(shape))?,
            to_map: machine.tensor_map(&task.mapped_output(shape))?,
            common: task,
            unused: [0; 5],
        };
        Ok(Launch::new(name, grid, self.shared_bytes, task))
    }
}

/// The kernel of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LaunchedKernel {
    Contiguous(&'static str),
    /// For strided lines, with what the copy engine must know of it.
    Strided(&'static str, &'static TunedShape),
    Template(TemplateKernel),
}

impl LaunchedKernel {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            LaunchedKernel::Contiguous(name) | LaunchedKernel::Strided(name, _) => name,
            LaunchedKernel::Template(kernel) => kernel.name,
        }
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        match self {
            LaunchedKernel::Template(kernel) => kernel.threads,
            _ => ozfft_kernels::TUNED_THREADS,
        }
    }
}

/// Where tuned kernels may run, how they multiply, and whether numbers are f32.
#[derive(Clone, Copy)]
pub(crate) struct TunedOn<'a> {
    pub(crate) machine: &'a dyn Machine,
    pub(crate) product: Product,
    pub(crate) single: bool,
}

impl TunedOn<'_> {
    /// Whether four warps of the template may multiply together: in int8, on Hopper.
    pub(crate) fn takes_warpgroups(&self) -> bool {
        self.product == Product::Int8 && self.machine.capability() == (9, 0)
    }
}

fn elements_of(kind: Kind) -> Elements {
    match kind {
        Kind::ComplexToComplex => Elements::Complex,
        Kind::RealToComplex => Elements::RealToComplex,
        Kind::ComplexToReal => Elements::ComplexToReal,
    }
}

/// The tuned kernels that take a block, if there are some: all on this machine that give its recipe's bits.
pub(crate) fn shape_of(
    tuned_on: &TunedOn<'_>,
    kind: Kind,
    recipe: &Recipe,
    block: &Block,
) -> Option<&'static TunedShape> {
    let elements = elements_of(kind);
    let [first, last] = block.steps() else {
        return None;
    };
    let digits = recipe.digits;
    let usual = tuned_on.machine.has_tuned_kernels()
        && (digits.matrix, digits.diagonals) == (digits.data - 1, digits.data)
        && recipe.products == Products::Truncated
        && first.recipe.fold == Fold::TimeShifted
        && matches!(last.recipe.fold, Fold::FrequencyShifted | Fold::Plain);
    let shapes = ozfft_kernels::TUNED.iter();
    let steps = (first.recipe.n, last.recipe.n);
    let mut fitting = shapes.filter(|shape| {
        shape.elements == elements
            && shape.product == tuned_on.product
            && (shape.digits, shape.single) == (digits.data, tuned_on.single)
            && (shape.first, shape.last) == steps
    });
    fitting.next().filter(|_| usual)
}

/// Bytes of an element of the input, and of the output.
pub(crate) fn element_bytes(elements: Elements, single: bool) -> [i64; 2] {
    let complex = if single { 8 } else { 16 };
    match elements {
        Elements::Complex => [complex, complex],
        Elements::RealToComplex => [complex / 2, complex],
        Elements::ComplexToReal => [complex, complex / 2],
    }
}

/// Points of a block's first and second step; 1 where there is no second one.
pub(crate) fn steps_of(block: &Block) -> [usize; 2] {
    let steps = block.steps();
    [0, 1].map(|number| steps.get(number).map_or(1, |step| step.recipe.n))
}

/// Whether a kernel of the template gives the bits of a block's recipe, where it has its words (`number_of`).
pub(crate) fn is_for_template(recipe: &Recipe, block: &Block) -> bool {
    let steps = block.steps().iter().map(|step| step.recipe);
    let steps: Vec<_> = steps.map(|step| (step.n, step.fold, step.shift)).collect();
    let opens =
        |n, fold, shift| n <= 64 && matches!(fold, Fold::TimeShifted | Fold::Plain) && shift == 0;
    let closes = |n, fold, shift| {
        let matrix = matches!(fold, Fold::FrequencyShifted | Fold::Plain) && n <= 64;
        (matrix || (n, fold) == (4, Fold::Trivial)) && shift == 0
    };
    let fits = match steps[..] {
        [(n, fold, shift)] => opens(n, fold, shift),
        [(n, fold, shift), (m, last, last_shift)] => {
            opens(n, fold, shift) && closes(m, last, last_shift)
        }
        _ => false,
    };
    recipe.products == Products::Truncated && fits
}

/// The steps of a block of three products whose bits a kernel of the template gives, for complex lines of f64.
pub(crate) fn three_steps_of(recipe: &Recipe, block: &Block) -> Option<[usize; 3]> {
    let [first, middle, last] = block.steps() else {
        return None;
    };
    let plain = |step: &Step| step.recipe.fold == Fold::Plain;
    let opens = matches!(first.recipe.fold, Fold::TimeShifted | Fold::Plain);
    let usual = recipe.digits == Digits::DOUBLE && recipe.products == Products::Truncated;
    // As the kernel has them: `ThreeShape::SHIFT`.
    let growth = middle.recipe.n.next_power_of_two().trailing_zeros();
    let shifts = [first, middle, last].map(|step| step.recipe.shift) == [0, growth, 0];
    let fits = usual && opens && plain(middle) && plain(last) && shifts;
    fits.then(|| [first, middle, last].map(|step| step.recipe.n))
}

/// Lines of two arrays as a tuned kernel can run through them.
pub(crate) struct TunedLines<'a> {
    pub(crate) input: &'a FloatLines,
    pub(crate) output: &'a FloatLines,
    pub(crate) read: &'a [Dimension],
    pub(crate) write: &'a [Dimension],
    pub(crate) count: u64,
}

/// Kernels that lines can be launched with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernels {
    /// What tuned ones multiply with. (To the template its numbers say so.)
    pub(crate) product: Product,
    pub(crate) elements: Elements,
    /// Whether numbers are f32; else f64.
    pub(crate) single: bool,
    /// Lines side by side are left to others.
    pub(crate) contiguous_alone: bool,
    /// Only so few lines are taken that multiprocessors are left without work: by the template, warps with as little to do as can be.
    pub(crate) few_alone: bool,
    pub(crate) source: KernelSource,
}

/// Where the kernels are from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KernelSource {
    /// Machine code for one GPU.
    Tuned {
        /// Lines of a thread block at a time.
        lines: usize,
        shared_bytes: usize,
        contiguous: &'static str,
        strided: Option<(&'static str, &'static TunedShape)>,
    },
    /// The template, for such numbers and steps of so many points of one pass or of two.
    Template {
        number: Number,
        first: [usize; 2],
        second: Option<[usize; 2]>,
        conversions: bool,
    },
    /// The template, for a block of three steps.
    TemplateOfThree {
        steps: [usize; 3],
        conversions: bool,
    },
}

impl Kernels {
    pub(crate) fn of(shape: &'static TunedShape, conversions: bool) -> Self {
        let first = usize::from(conversions);
        Kernels {
            product: shape.product,
            elements: shape.elements,
            single: shape.single,
            contiguous_alone: false,
            few_alone: false,
            source: KernelSource::Tuned {
                lines: shape.lines,
                shared_bytes: shape.shared_bytes,
                contiguous: shape.kernels[first],
                strided: shape.kernels.get(first + 2).map(|&name| (name, shape)),
            },
        }
    }

    /// For such numbers; only complex lines of f64 are multiplied otherwise than in int8.
    pub(crate) fn of_template(
        (number, kind): (Number, Kind),
        blocks: &[Block],
        conversions: bool,
    ) -> Self {
        debug_assert!(number.is_usual() || kind == Kind::ComplexToComplex);
        Kernels {
            product: Product::Int8,
            elements: elements_of(kind),
            single: number == Number::Single,
            contiguous_alone: false,
            few_alone: false,
            source: KernelSource::Template {
                number,
                first: steps_of(&blocks[0]),
                second: blocks.get(1).map(steps_of),
                conversions,
            },
        }
    }

    pub(crate) fn of_three_steps(steps: [usize; 3], conversions: bool) -> Self {
        Kernels {
            product: Product::Int8,
            elements: Elements::Complex,
            single: false,
            contiguous_alone: false,
            few_alone: false,
            source: KernelSource::TemplateOfThree { steps, conversions },
        }
    }

    /// Whether they take both passes of f32 in one launch.
    pub(crate) fn are_for_single_passes(&self) -> bool {
        let both = matches!(self.source, KernelSource::Template { second, .. } if second.is_some());
        self.single && both
    }

    /// Whether they are the template's whose warps multiply together.
    pub(crate) fn are_by_warpgroups(&self) -> bool {
        matches!(
            self.source,
            KernelSource::Template {
                number: Number::DoubleWgmma,
                ..
            }
        )
    }

    /// Whether they are made for Hopper's tensor instruction alone.
    pub(crate) fn are_tuned(&self) -> bool {
        matches!(self.source, KernelSource::Tuned { .. })
    }

    /// Whether they run on another instruction than those of every plan: on Hopper's, or on one that was asked for by name.
    pub(crate) fn are_special(&self) -> bool {
        match self.source {
            KernelSource::Tuned { .. } => true,
            KernelSource::Template { number, .. } => !number.is_usual(),
            KernelSource::TemplateOfThree { .. } => false,
        }
    }
}

/// How lines lie: as kernels for contiguous ones take them, or as those for strided ones do, groups of so many; none where they
/// have more dimensions.
fn places_of(floats: &FloatLines, dimensions: &[Dimension]) -> Option<(u64, Places)> {
    let element = floats.stride;
    match *dimensions {
        // One line: all distances are the same.
        [] => Some((
            1,
            Places {
                element,
                fast: 1,
                slow: 0,
            },
        )),
        [all] if element == 1 => Some((
            1,
            Places {
                element,
                fast: 0,
                slow: all.stride,
            },
        )),
        [fast] => Some((
            fast.length,
            Places {
                element,
                fast: fast.stride,
                slow: 0,
            },
        )),
        [slow, fast] => Some((
            fast.length,
            Places {
                element,
                fast: fast.stride,
                slow: slow.stride,
            },
        )),
        _ => None,
    }
}

/// The lines of input and output, run through alike: how many there are in a group, and whether they are strided.
struct Placed {
    from: Places,
    to: Places,
    group: u64,
    strided: bool,
}

fn placed(lines: &TunedLines<'_>) -> Option<Placed> {
    let (group, from) = places_of(lines.input, lines.read)?;
    let (write_group, to) = places_of(lines.output, lines.write)?;
    let contiguous = |places: &Places| places.element == 1 && places.fast == 0;
    let single = lines.count == 1 && from.element == 1 && to.element == 1;
    if single || (contiguous(&from) && contiguous(&to)) {
        return Some(Placed {
            from,
            to,
            group: 1,
            strided: false,
        });
    }
    // Contiguous lines beside strided ones are a group with larger distances.
    let grouped = |places: Places, group: u64| match contiguous(&places) {
        true => (
            lines.count,
            Places {
                fast: places.slow,
                slow: 0,
                ..places
            },
        ),
        false => (group, places),
    };
    let (group, from) = grouped(from, group);
    let (write_group, to) = grouped(to, write_group);
    (group == write_group).then_some(Placed {
        from,
        to,
        group,
        strided: true,
    })
}

/// How the lines are launched, or why they are not: they may lie in another way than the kernels know, or a kernel is not to be had.
pub(crate) fn launch(
    machine: &dyn Machine,
    kernels: &Kernels,
    lines: &TunedLines<'_>,
) -> Result<TunedLaunch, NoLaunch> {
    let (input, output) = (lines.input, lines.output);
    let single = i32::from(kernels.single);
    if input.single != single || output.single != single {
        return Err(NoLaunch::Layout);
    }
    let placed = placed(lines).filter(|placed| !(placed.strided && kernels.contiguous_alone));
    let placed = placed.ok_or(NoLaunch::Layout)?;
    let (kernel, shared_bytes, per_panel) = match kernels.source {
        KernelSource::Tuned {
            lines: per_panel,
            shared_bytes,
            contiguous,
            strided,
        } => {
            if !placed.is_for_copies(kernels, lines) {
                return Err(NoLaunch::Layout);
            }
            let kernel = match (placed.strided, strided) {
                (false, _) => LaunchedKernel::Contiguous(contiguous),
                (true, Some((name, shape))) => LaunchedKernel::Strided(name, shape),
                (true, None) => return Err(NoLaunch::Layout),
            };
            (kernel, shared_bytes, per_panel)
        }
        KernelSource::Template { conversions, .. }
        | KernelSource::TemplateOfThree { conversions, .. } => {
            let spec = template_kernel(kernels, placed.strided, machine.shared_memory());
            // Lines of a group are counted in 32 bits.
            let spec = spec.filter(|_| placed.group < 1 << 31);
            let spec = spec.ok_or(NoLaunch::Layout)?;
            let panels = lines.count.div_ceil(spec.lines as u64);
            let few = panels < machine.few_panels();
            let for_few =
                match few && (kernels.few_alone || !spec.is_compiled_in_advance(conversions)) {
                    true => spec.for_few(),
                    false => None,
                };
            if kernels.few_alone && for_few.is_none() {
                return Err(NoLaunch::Layout);
            }
            let spec = machine.tuning().preferred(for_few.unwrap_or(spec), few);
            let kernel = machine.template_kernel(&spec, conversions);
            let kernel = kernel.map_err(NoLaunch::Kernel)?;
            let kernel = LaunchedKernel::Template(kernel);
            (kernel, spec.shared_bytes(), spec.lines)
        }
    };
    let (panels_a_group, groups) = match placed.strided {
        true => (
            placed.group.div_ceil(per_panel as u64),
            lines.count / placed.group,
        ),
        false => (1, lines.count.div_ceil(per_panel as u64)),
    };
    let panels = u32::try_from(panels_a_group * groups).ok();
    let panels = panels.filter(|&panels| panels < 1 << 30);
    let panels = panels.ok_or(NoLaunch::Layout)?;
    let (factor, second_factor) = match kernels.are_tuned() {
        true => factors(kernels.product),
        false => template_factors(),
    };
    let [in_bytes, out_bytes] = element_bytes(kernels.elements, kernels.single);
    let task = TunedTask {
        input: input.numbers.later(in_bytes * input.offset),
        output: output.numbers.later(out_bytes * output.offset),
        from: placed.from,
        to: placed.to,
        lines: lines.count as i64,
        fast_count: placed.group as i64,
        panels,
        panels_a_group: panels_a_group as u32,
        factor,
        second_factor,
        conjugate_input: sign(input.conjugate),
        conjugate_output: sign(output.conjugate),
        ..TunedTask::zeroed()
    };
    let blocks_each = match kernel {
        LaunchedKernel::Template(kernel) => kernel.blocks_each,
        _ => 1,
    };
    Ok(TunedLaunch {
        task,
        kernel,
        blocks: u64::from(panels).min((machine.multiprocessors() * blocks_each) as u64),
        shared_bytes,
        clears_list: true,
    })
}

/// Whether lines lie one after the other, each contiguous.
pub(crate) fn lie_in_turn(lines: &TunedLines<'_>) -> bool {
    placed(lines).is_some_and(|placed| !placed.strided)
}

/// Digits of a word for which the template has kernels where eight are not needed.
const FEWER_DIGITS: std::ops::RangeInclusive<u32> = 3..=7;

/// What the template's numbers are for lines of f32 or of f64 in such words, where those of f64 in eight digits are `double`; none where it has
/// not got the words. Digits that a matrix has not got are zeros in the tables; with more than two missing, outputs might leave the bits
/// that kernels have for them.
pub(crate) fn number_of(single: bool, digits: Digits, double: Number) -> Option<Number> {
    let Digits {
        data,
        matrix,
        diagonals,
    } = digits;
    let fits = matrix + 2 >= data;
    match (single, data) {
        (true, _) => (digits == Digits::SINGLE).then_some(Number::Single),
        _ if digits == Digits::DOUBLE => Some(double),
        (_, 8) => (fits && diagonals == 8).then_some(Number::Double),
        _ => {
            let fewer = FEWER_DIGITS.contains(&data) && fits && diagonals <= data + 1;
            fewer.then_some(Number::DoubleFewer {
                digits: data,
                diagonals,
            })
        }
    }
}

/// What both passes of transforms in one launch begin and end with; none where there are no such kernels.
pub(crate) fn ends_of(kind: Kind, number: Number) -> Option<Ends> {
    match (kind, number) {
        // Warps of passes do not multiply together.
        (_, Number::DoubleWgmma) => None,
        (Kind::ComplexToComplex, _) => Some(Ends::Complex),
        // Real lines in fp8 and in f16 go pass by pass.
        (_, Number::DoubleFp8 | Number::DoubleF16) => None,
        (Kind::RealToComplex, _) => Some(Ends::RealToHalf),
        (Kind::ComplexToReal, _) => Some(Ends::HalfToReal),
    }
}

/// The template's kernel for steps of one pass or of two; none for other kernels.
fn template_kernel(kernels: &Kernels, strided: bool, shared_memory: usize) -> Option<KernelSpec> {
    let (number, first, second) = match kernels.source {
        KernelSource::Tuned { .. } => return None,
        KernelSource::TemplateOfThree { steps, .. } => {
            let family = ThreeSteps { steps };
            return KernelSpec::new(family, Number::Double, strided, shared_memory);
        }
        KernelSource::Template {
            number,
            first,
            second,
            ..
        } => (number, first, second),
    };
    let kind = match kernels.elements {
        Elements::Complex => Kind::ComplexToComplex,
        Elements::RealToComplex => Kind::RealToComplex,
        Elements::ComplexToReal => Kind::ComplexToReal,
    };
    let family: Family = match (second, kernels.elements) {
        (Some(second), _) => {
            let ends = ends_of(kind, number)?;
            let steps = [first, second];
            TwoPasses { steps, ends }.into()
        }
        (None, Elements::Complex) => TemplateBlock { steps: first }.into(),
        // There are none where real lines have no kernels: in int8 alone, and without warps that multiply together.
        (None, _) => {
            let ends = ends_of(kind, number)?;
            Real { steps: first, ends }.into()
        }
    };
    KernelSpec::new(family, number, strided, shared_memory)
}

/// Why lines are left to a portable kernel.
#[derive(Debug)]
pub(crate) enum NoLaunch {
    /// They lie in another way than the kernels know.
    Layout,
    /// There is no such kernel here; this is why, and how to get it.
    Kernel(String),
}

impl Placed {
    /// Whether Hopper's copy engine takes the lines: it counts in 32 bits, and backwards never; its distances, of up to 1024 elements,
    /// stay below 2^40 bytes. What is copied 16 bytes at a time begins at multiples of 16 bytes; and the copy engine ends there, too,
    /// whatever the array's size.
    fn is_for_copies(&self, kernels: &Kernels, lines: &TunedLines<'_>) -> bool {
        let [in_bytes, out_bytes] = element_bytes(kernels.elements, kernels.single);
        let aligned = |places: &Places, offset: i64, bytes: i64| {
            let [element, lines] = match self.strided {
                true => [places.element, self.group as i64],
                false => [0; 2],
            };
            let all = [offset, places.slow, element, lines];
            all.iter().all(|numbers| numbers * bytes % 16 == 0)
        };
        let reads = aligned(&self.from, lines.input.offset, in_bytes);
        if !self.strided {
            return reads;
        }
        let mappable = |places: &Places| {
            places.fast == 1
                && places.element != 1
                && (1..1 << 26).contains(&places.element)
                && (0..1 << 36).contains(&places.slow)
        };
        mappable(&self.from)
            && mappable(&self.to)
            && self.group < 1 << 30
            && reads
            && aligned(&self.to, lines.output.offset, out_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::device::emulated::Emulator;
    use crate::layout::Layout;
    use crate::plan::planner::Planner;
    use crate::problem::{Accuracy, Engine, Problem};
    use crate::stages::scale::Numbers;
    use crate::substrate::GpuUnit;
    use std::sync::Arc;

    #[test]
    fn all_lines_of_transforms_that_are_scaled_up_are_left() {
        let leaves = |single: bool, shape: &[usize]| {
            let numbers = match single {
                true => Numbers::of::<f32>(),
                false => Numbers::of::<f64>(),
            };
            let scale = ScaleBetweenAxes::new(numbers, shape.iter().copied());
            let before = shape[1..].iter().product();
            [1, before].map(|points| leave_what_is_scaled_up(single, &scale, points))
        };
        for shape in [
            &[512, 512, 512][..],
            &[1024, 1024, 1024],
            &[1024, 4096, 4096],
        ] {
            assert_eq!(leaves(false, shape), [true; 2], "{shape:?}");
        }
        for shape in [&[256, 256][..], &[512, 512, 512], &[1024, 1024, 1024]] {
            assert_eq!(leaves(true, shape), [true; 2], "{shape:?}");
        }
        // 2^(-149 + 30 + 39 + 2 + 28) is 2^-50: the last axis may not be theirs.
        assert_eq!(leaves(true, &[1024, 1 << 14, 1 << 14]), [true, false]);
    }

    #[test]
    fn plans_take_tuned_kernels_where_they_fit_and_only_there() {
        let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
        let planner = Planner::<f64>::new();
        let runs_on = |problem: Problem| {
            let plan = planner.plan_on(&problem, &machine).unwrap();
            plan.substrate()
        };
        let complex = Problem::complex;
        for problem in [
            complex(&[256]),
            complex(&[1024]).batch(7),
            complex(&[512, 1024]),
            complex(&[1000, 3]).axes(&[0]),
            complex(&[5, 1000]).axes(&[1]),
            complex(&[256, 512, 16]).axes(&[1]),
            complex(&[4096]).batch(3),
            complex(&[1024, 3, 256])
                .axes(&[0, 2])
                .accuracy(Accuracy::Single),
            complex(&[1024]).batch(3).accuracy(Accuracy::Target(1e-10)),
            complex(&[3, 1024])
                .axes(&[1])
                .output_layout(Layout::strided(&[1030, 1], 0)),
        ] {
            assert_eq!(runs_on(problem.clone()), "int8-wgmma", "{problem:?}");
        }
        for problem in [
            complex(&[1001]),
            complex(&[1000]).accuracy(Accuracy::Single),
            // The template's: eight digits with a shorter matrix, and six with seven diagonals.
            complex(&[1024]).accuracy(Accuracy::Target(1e-13)),
            complex(&[512, 1024]).accuracy(Accuracy::Target(1e-10)),
            complex(&[1024]).substrate(GpuUnit::Int8MmaSync),
            // Two passes of lines that are not contiguous, or of other steps.
            complex(&[4096, 3]).axes(&[0]),
            complex(&[2048]),
            Problem::real_to_complex(&[4096]),
            // Neither contiguous nor side by side.
            complex(&[1024])
                .batch(3)
                .input_layout(Layout::strided(&[2], 2048)),
        ] {
            assert_eq!(runs_on(problem.clone()), "int8-mma-sync", "{problem:?}");
        }
        assert_eq!(
            runs_on(complex(&[1001, 1024])),
            "int8-wgmma and int8-mma-sync"
        );
    }

    /// The template's kernels for few lines come first; where there are none, plans say so, and take those for many.
    #[test]
    fn few_lines_have_kernels_of_their_own_or_a_remark() {
        let plan = |few_panels, problem: Problem| {
            let mut emulator = Emulator::with_tuned_kernels();
            emulator.few_panels = few_panels;
            let machine: Arc<dyn Machine> = Arc::new(emulator);
            let plan = Planner::<f64>::new().plan_on(&problem, &machine).unwrap();
            (plan.substrate(), plan.to_string())
        };
        // The emulator has a kernel for few lines of 1024 points, and none for few of 512.
        let remark = "a kernel for many lines of 512 points";
        let (substrate, text) = plan(100, Problem::complex(&[512]));
        assert!(text.contains(remark), "{text}");
        assert_eq!(substrate, "int8-wgmma");
        for (few, problem) in [
            (100, Problem::complex(&[1024])),
            (100, Problem::complex(&[512]).batch(4000)),
            (0, Problem::complex(&[512])),
        ] {
            let (_, text) = plan(few, problem);
            assert!(!text.contains("a kernel for many lines"), "{text}");
        }
        // Another unit that was asked for stays the one.
        let asked = Problem::complex(&[1024]).substrate(GpuUnit::Fp8Wgmma);
        let (substrate, text) = plan(100, asked);
        assert_eq!(substrate, "fp8-wgmma", "{text}");
    }

    #[test]
    fn plans_for_f32_take_tuned_kernels_where_they_fit_and_only_there() {
        let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
        let planner = Planner::<f32>::new();
        let runs_on = |problem: Problem| {
            let plan = planner.plan_on(&problem, &machine).unwrap();
            plan.substrate()
        };
        let single = |shape: &[usize]| Problem::complex(shape).accuracy(Accuracy::Single);
        for problem in [
            single(&[256]),
            single(&[1024]).batch(7),
            single(&[512, 4, 256]).axes(&[0, 2]),
            single(&[256, 512, 16]).axes(&[1]).integers_only(true),
        ] {
            assert_eq!(runs_on(problem.clone()), "int8-wgmma", "{problem:?}");
        }
        for problem in [
            single(&[1000]),
            single(&[1024])
                .accuracy(Accuracy::Target(1e-3))
                .engine(Engine::Digits),
            // At odd distances, and an odd number of lines.
            single(&[1024, 3]).axes(&[0]),
            single(&[1024, 3])
                .axes(&[0])
                .input_layout(Layout::strided(&[4, 1], 0))
                .output_layout(Layout::strided(&[4, 1], 0)),
        ] {
            assert_eq!(runs_on(problem.clone()), "int8-mma-sync", "{problem:?}");
        }
    }
}
