//! Kernels for a few lengths on Hopper's tensor instruction (`crates/ozfft-kernels/cuda/tuned_block.cu`): which blocks
//! they take, their tables (those for products in fp8 are in `fp8.rs`), and what a launch is told.
//!
//! They handle lines whose largest number is far from the ends of the range, and leave all others to a portable kernel,
//! by a list that stays on the device.

use super::few;
use super::fp8;
use super::machine::Machine;
use super::mixed;
use super::task::{Address, Arrays, Dimension, FloatLines};
use crate::bailey::Block;
use crate::digits::DigitMatrix;
use crate::error::FftError;
use crate::matrix_unit::meeting;
use crate::problem::{Family, Kind};
use crate::recipe::{Digits, Fold, Recipe};
use crate::step::Step;
use bytemuck::{Pod, Zeroable};
use ozfft_kernels::{Elements, Product, TUNED_BOX_LINES, TunedShape, TunedSource};

/// What the topmost diagonals that are kept apart are raised by, so that those of numbers that fit 64 bits are not negative.
const TOP_RAISED: i64 = 8192;
/// The weight of the topmost diagonal, in units of the rounded sum: 2^49.
const TOP_WEIGHT: u32 = 49;

/// What the kernels' sums are put together with: `Factors` of `tuned_block.cuh`. The second one of int8 is a
/// mask of 20 bits, of kernels for f32.
fn factors(product: Product) -> (i32, i32) {
    match product {
        Product::Int8 => (1 << 17, (1 << 20) - 1),
        Product::Fp8 => (1 << 13, 1 << 25),
    }
}

/// Bytes of a complex number.
fn number_bytes(shape: &TunedShape) -> i64 {
    if shape.single { 8 } else { 16 }
}

/// Scales between axes are below 2 to this power: numbers that ask for one, and results that it would round, are among
/// those that the kernels leave.
pub(super) fn most_bias(kernels: &Kernels) -> i32 {
    if kernels.single { 64 } else { 100 }
}

/// What a launch is told: `TunedArguments` of `tuned_block.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct TunedTask {
    input: Address,
    output: Address,
    from: Places,
    to: Places,
    lines: i64,
    fast_count: i64,
    panels: u32,
    panels_a_group: u32,
    pub(crate) largest: Address,
    pub(crate) bias_threshold: u64,
    pub(crate) tables: Address,
    pub(crate) left_count: Address,
    pub(crate) left: Address,
    pub(crate) exponent_offset: i32,
    pub(crate) bias: i32,
    factor: i32,
    conjugate_input: u32,
    conjugate_output: u32,
    second_factor: i32,
}

/// Where lines lie, in elements of the array: from element to element, from line to line, from group to group of lines.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Places {
    element: i64,
    fast: i64,
    slow: i64,
}

/// The same for strided lines: `StridedArguments`. The copy engine is told of both arrays by maps that the driver makes.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct StridedTask {
    pub(crate) from_map: TensorMap,
    pub(crate) to_map: TensorMap,
    pub(crate) common: TunedTask,
    pub(crate) unused: [u64; 5],
}

/// An array as the copy engine knows it.
pub(crate) type TensorMap = [u64; 16];

/// What a map is made of: an array of f64, its dimensions from the contiguous one on, the distances of all others in
/// bytes, the box that is copied at once, and whether the rows of the box have 64 or 128 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedArray {
    pub(crate) address: u64,
    pub(crate) dimensions: Vec<u64>,
    pub(crate) distances: Vec<u64>,
    pub(crate) box_dimensions: Vec<u32>,
}

// The kernels' source asserts the same sizes.
const _: () = assert!(size_of::<TunedTask>() == 152 && size_of::<StridedTask>() == 448);

/// A launch of a tuned kernel, but for its tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TunedLaunch {
    pub(crate) task: TunedTask,
    /// For strided lines: what the copy engine must know of the kernel.
    pub(crate) strided: Option<&'static TunedShape>,
    pub(crate) kernel: &'static str,
    pub(crate) blocks: u64,
    pub(crate) shared_bytes: usize,
}

impl TunedTask {
    /// The input of a strided launch: lines, the two lowest bits of the first step's row, its column, the rest of the row,
    /// groups of lines.
    pub(crate) fn mapped_input(&self, shape: &TunedShape) -> MappedArray {
        let (rows, columns) = (shape.first as u64, shape.last as u64);
        let number_bytes = number_bytes(shape) as u64;
        let element = number_bytes * self.from.element as u64;
        if let Some(pitch) = shape.pitch {
            let distances = [element, columns * element];
            return self.mapped_rows(shape, pitch, self.input, self.from, distances);
        }
        MappedArray {
            address: self.input.value(),
            dimensions: vec![
                number_bytes / 8 * self.fast_count as u64,
                4,
                columns,
                rows / 4,
                self.groups(),
            ],
            distances: vec![
                columns * element,
                element,
                4 * columns * element,
                distance_of_groups(shape, self.from),
            ],
            box_dimensions: vec![
                number_bytes as u32 / 8 * shape.lines as u32,
                4,
                columns as u32,
                rows as u32 / 4,
                1,
            ],
        }
    }

    /// The output: lines, the last step's output, its column, groups of lines. Of few digits: lines, the column's lowest bit,
    /// the output, the rest of the column, groups of lines.
    pub(crate) fn mapped_output(&self, shape: &TunedShape) -> MappedArray {
        let (rows, columns) = (shape.last as u64, shape.first as u64);
        let element = number_bytes(shape) as u64 * self.to.element as u64;
        if let Some(pitch) = shape.pitch {
            let distances = [columns * element, element];
            return self.mapped_rows(shape, pitch, self.output, self.to, distances);
        }
        if shape.source != TunedSource::Block {
            let per_number = number_bytes(shape) as u64 / 8;
            return MappedArray {
                address: self.output.value(),
                dimensions: vec![
                    per_number * self.fast_count as u64,
                    2,
                    rows,
                    columns / 2,
                    self.groups(),
                ],
                distances: vec![
                    element,
                    columns * element,
                    2 * element,
                    distance_of_groups(shape, self.to),
                ],
                box_dimensions: vec![
                    per_number as u32 * shape.lines as u32,
                    2,
                    rows as u32,
                    columns as u32 / 2,
                    1,
                ],
            };
        }
        MappedArray {
            address: self.output.value(),
            dimensions: vec![2 * self.fast_count as u64, rows, columns, self.groups()],
            distances: vec![
                columns * element,
                element,
                distance_of_groups(shape, self.to),
            ],
            box_dimensions: vec![2 * shape.lines as u32, rows as u32, columns as u32, 1],
        }
    }

    /// Either array for kernels that pad rows: lines, the columns of a row, rows, groups of lines. A box is as wide as a
    /// padded row, of which there is no more in the array than the row.
    fn mapped_rows(
        &self,
        shape: &TunedShape,
        pitch: usize,
        array: Address,
        places: Places,
        [column, row]: [u64; 2],
    ) -> MappedArray {
        MappedArray {
            address: array.value(),
            dimensions: vec![
                2 * self.fast_count as u64,
                shape.last as u64,
                shape.first as u64,
                self.groups(),
            ],
            distances: vec![column, row, distance_of_groups(shape, places)],
            box_dimensions: vec![
                2 * shape.lines.min(TUNED_BOX_LINES) as u32,
                pitch as u32,
                shape.first as u32,
                1,
            ],
        }
    }

    fn groups(&self) -> u64 {
        (self.lines / self.fast_count) as u64
    }

    /// With the arrays of a call; none where they do not begin at a multiple of 16 bytes, as the kernels' copies want.
    pub(crate) fn resolved(mut self, arrays: &Arrays) -> Option<TunedTask> {
        for address in [
            &mut self.input,
            &mut self.output,
            &mut self.largest,
            &mut self.left_count,
            &mut self.left,
        ] {
            *address = address.resolve(arrays);
        }
        let aligned = |address: Address| address.value().is_multiple_of(16);
        (aligned(self.input) && aligned(self.output)).then_some(self)
    }
}

/// A single group has no distance, but the driver wants one.
fn distance_of_groups(shape: &TunedShape, places: Places) -> u64 {
    (number_bytes(shape) * places.slow).max(16) as u64
}

/// Where tuned kernels may run, how they multiply, and whether numbers are f32.
#[derive(Clone, Copy)]
pub(crate) struct TunedOn<'a> {
    pub(crate) machine: &'a dyn Machine,
    pub(crate) product: Product,
    pub(crate) single: bool,
}

/// The tuned kernels that take a block, if there are some: all on this machine that give its recipe's bits.
pub(crate) fn shape_of(
    tuned_on: &TunedOn<'_>,
    kind: Kind,
    recipe: &Recipe,
    block: &Block,
) -> Option<&'static TunedShape> {
    let elements = match kind {
        Kind::ComplexToComplex => Elements::Complex,
        Kind::RealToComplex => Elements::RealToComplex,
        Kind::ComplexToReal => Elements::ComplexToReal,
    };
    let [first, last] = block.steps() else {
        return None;
    };
    let digits = recipe.digits;
    let usual = tuned_on.machine.has_tuned_kernels()
        && (digits.matrix, digits.diagonals) == (digits.data - 1, digits.data)
        && recipe.family == Family::Truncated
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
pub(super) fn element_bytes(elements: Elements, single: bool) -> [i64; 2] {
    let complex = if single { 8 } else { 16 };
    match elements {
        Elements::Complex => [complex, complex],
        Elements::RealToComplex => [complex / 2, complex],
        Elements::ComplexToReal => [complex, complex / 2],
    }
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
    pub(crate) product: Product,
    pub(crate) elements: Elements,
    /// Whether numbers are f32; else f64.
    pub(crate) single: bool,
    /// Lines of a thread block at a time.
    pub(crate) lines: usize,
    pub(crate) shared_bytes: usize,
    pub(crate) contiguous: &'static str,
    pub(crate) strided: Option<(&'static str, &'static TunedShape)>,
}

impl Kernels {
    pub(crate) fn of(shape: &'static TunedShape, conversions: bool) -> Self {
        let first = usize::from(conversions);
        Kernels {
            product: shape.product,
            elements: shape.elements,
            single: shape.single,
            lines: shape.lines,
            shared_bytes: shape.shared_bytes,
            contiguous: shape.kernels[first],
            strided: shape.kernels.get(first + 2).map(|&name| (name, shape)),
        }
    }
}

/// How the lines are launched; none where they lie in another way than the kernels know.
pub(crate) fn launch(
    machine: &dyn Machine,
    kernels: &Kernels,
    lines: &TunedLines<'_>,
) -> Option<TunedLaunch> {
    let (input, output) = (lines.input, lines.output);
    let single = i32::from(kernels.single);
    if input.single != single || output.single != single {
        return None;
    }
    let [in_bytes, out_bytes] = element_bytes(kernels.elements, kernels.single);
    let places = |floats: &FloatLines, dimensions: &[Dimension]| match *dimensions {
        // One line: all distances are the same.
        [] => Some((
            1,
            Places {
                element: floats.stride,
                fast: 1,
                slow: 0,
            },
        )),
        [all] if floats.stride == 1 => Some((
            1,
            Places {
                element: 1,
                fast: 0,
                slow: all.stride,
            },
        )),
        [fast] if fast.stride == 1 => Some((
            fast.length,
            Places {
                element: floats.stride,
                fast: 1,
                slow: 0,
            },
        )),
        [slow, fast] if fast.stride == 1 => Some((
            fast.length,
            Places {
                element: floats.stride,
                fast: 1,
                slow: slow.stride,
            },
        )),
        _ => None,
    };
    let (read_fast, from) = places(input, lines.read)?;
    let (write_fast, to) = places(output, lines.write)?;
    let strided = from.element != 1;
    if read_fast != write_fast || strided != (to.element != 1) {
        return None;
    }
    // The copy engine counts in 32 bits, and backwards never; its distances, of up to 1024 elements, stay below 2^40 bytes.
    let mappable = |places: &Places| {
        (1..1 << 26).contains(&places.element) && (0..1 << 36).contains(&places.slow)
    };
    if strided && !(mappable(&from) && mappable(&to) && read_fast < 1 << 30) {
        return None;
    }
    let (kernel, shape) = match (strided, kernels.strided) {
        (false, _) => (kernels.contiguous, None),
        (true, Some((kernel, shape))) => (kernel, Some(shape)),
        (true, None) => return None,
    };
    // What is copied 16 bytes at a time, or by the copy engine, begins at multiples of 16 bytes; and the copy engine ends there,
    // too, whatever the array's size.
    let aligned = |places: &Places, offset: i64, bytes: i64| {
        let [element, lines] = if strided {
            [places.element, read_fast as i64]
        } else {
            [0; 2]
        };
        let all = [offset, places.slow, element, lines];
        all.iter().all(|numbers| numbers * bytes % 16 == 0)
    };
    if !aligned(&from, input.offset, in_bytes)
        || (strided && !aligned(&to, output.offset, out_bytes))
    {
        return None;
    }
    let per_panel = kernels.lines as u64;
    let (panels_a_group, groups) = if strided {
        (read_fast.div_ceil(per_panel), lines.count / read_fast)
    } else {
        (1, lines.count.div_ceil(per_panel))
    };
    let panels = u32::try_from(panels_a_group * groups)
        .ok()
        .filter(|&p| p < 1 << 30)?;
    let sign = |conjugate: i32| if conjugate != 0 { 1 << 31 } else { 0 };
    let (factor, second_factor) = factors(kernels.product);
    let task = TunedTask {
        input: input.numbers.later(in_bytes * input.offset),
        output: output.numbers.later(out_bytes * output.offset),
        from,
        to,
        lines: lines.count as i64,
        fast_count: read_fast as i64,
        panels,
        panels_a_group: panels_a_group as u32,
        factor,
        second_factor,
        conjugate_input: sign(input.conjugate),
        conjugate_output: sign(output.conjugate),
        ..TunedTask::zeroed()
    };
    Some(TunedLaunch {
        task,
        strided: shape,
        kernel,
        blocks: u64::from(panels).min(machine.multiprocessors() as u64),
        shared_bytes: kernels.shared_bytes,
    })
}

/// The tables of a block, as the kernel keeps them in shared memory.
pub(crate) fn tables(shape: &TunedShape, block: &Block) -> Result<Vec<u8>, FftError> {
    let [first, last] = block.steps() else {
        unreachable!("tuned blocks have two steps");
    };
    match shape.source {
        TunedSource::Block | TunedSource::RealToComplex | TunedSource::ComplexToReal => {}
        TunedSource::Mixed => return Ok(mixed::tables(first, last)),
        TunedSource::Single | TunedSource::Few => return Ok(few::tables(shape, first, last)),
    }
    let product = shape.product;
    let mut image = Vec::new();
    for step in [first, last] {
        for matrix in matrices(step) {
            match product {
                Product::Int8 => operand(matrix, &mut image),
                Product::Fp8 => fp8::operand(matrix, &mut image)?,
            }
        }
    }
    match shape.elements {
        Elements::Complex | Elements::ComplexToReal => {
            constants(product, first, true, &mut image);
        }
        Elements::RealToComplex => real_constants(first, &mut image),
    }
    constants(product, last, false, &mut image);
    rotations(first, &mut image);
    Ok(image)
}

pub(super) fn rotations(first: &Step, image: &mut Vec<u8>) {
    for rotation in &first.rotations {
        let (re, im) = (rotation.real, rotation.imaginary);
        image.extend_from_slice(bytemuck::cast_slice(&[re.0, re.1, im.0, im.1]));
    }
}

pub(super) fn matrices(step: &Step) -> [&DigitMatrix; 2] {
    let Some(matrices) = &step.matrices else {
        unreachable!("tuned steps are products");
    };
    [matrices.cosine.digits(), matrices.sine.digits()]
}

/// The digits of a matrix that the four lower (`half` 0) or upper digits of a data word meet on a diagonal.
pub(super) fn met(
    matrix: &DigitMatrix,
    half: u32,
    place: (usize, usize),
    diagonal: u32,
) -> [u8; 4] {
    meeting(matrix, Digits::DOUBLE, 4 * half, place, diagonal)
}

/// A matrix as the tensor instruction's second operand: for every eight of outputs three parts (diagonals 0 to 3, then 4
/// to 7, both with the upper digits; 4 to 7 with the lower ones), each for every eight of slots a piece of 4 diagonals ×
/// 8 outputs, K-major.
pub(super) fn operand(matrix: &DigitMatrix, image: &mut Vec<u8>) {
    let eights = matrix.rows / 8;
    for tile in 0..eights {
        for (first_diagonal, half) in [(0, 1), (4, 1), (4, 0)] {
            for eight in 0..eights {
                for diagonal in first_diagonal..first_diagonal + 4 {
                    for piece in 0..2 {
                        for output in 0..8 {
                            for slot in 0..4 {
                                let place = (8 * tile + output, 8 * eight + 4 * piece + slot);
                                image.extend(met(matrix, half, place, diagonal));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What the sums of an output are raised by, because data digits are, and by the kernel's ways to put them together.
pub(super) struct Raised {
    /// The rounded sum, modulo 2^64; without what is kept apart.
    pub(super) sum: i64,
    /// What is kept apart.
    pub(super) top: i64,
}

impl Raised {
    /// Of sums of nothing.
    pub(super) const NOTHING: Raised = Raised { sum: 0, top: 0 };
}

/// Data digits are raised by 128, so that a diagonal is raised by 128 times the sum of the row's digits: the last one by whole
/// units, which rounding leaves as they are. `whole`: the topmost diagonal is part of the sum.
pub(super) fn raised(matrix: &DigitMatrix, row: usize, whole: bool) -> Raised {
    let d: [i64; 8] = std::array::from_fn(|diagonal| {
        let digits = (0..matrix.slots)
            .flat_map(|slot| [0, 1].map(|half| met(matrix, half, (row, slot), diagonal as u32)));
        128 * digits
            .flatten()
            .map(|digit| i64::from(digit as i8))
            .sum::<i64>()
    });
    let low = d[7] / 128 + 2 * d[6] + 512 * d[5];
    let middle = d[4] + 256 * d[3];
    let high = d[2] + 256 * d[1] + if whole { 65536 * d[0] } else { 0 };
    Raised {
        sum: low
            .wrapping_add(middle << 17)
            .wrapping_add(high.wrapping_shl(33)),
        top: d[0],
    }
}

pub(super) fn constants(product: Product, step: &Step, whole: bool, image: &mut Vec<u8>) {
    let [cosines, sines] = matrices(step);
    let of_row = |matrix, row| match product {
        Product::Int8 => raised(matrix, row, whole),
        Product::Fp8 => fp8::raised(matrix, row, whole),
    };
    let rows: Vec<_> = (0..cosines.rows)
        .map(|row| (of_row(cosines, row), of_row(sines, row)))
        .collect();
    lay_out_constants(&rows, whole, image);
    if whole {
        // Outputs 0, 2, 4 and 6 are the first ones of their threads.
        lay_out_first(rows.iter().step_by(2).take(4), image);
    }
}

/// The same for the first step of real lines, whose sums are not combined.
fn real_constants(step: &Step, image: &mut Vec<u8>) {
    let [cosines, sines] = matrices(step);
    let rows: Vec<_> = (0..cosines.rows)
        .map(|row| [cosines, sines].map(|matrix| raised(matrix, row, true)))
        .collect();
    for row in &rows {
        let sums = row.each_ref().map(|raised| raised.sum);
        image.extend_from_slice(bytemuck::cast_slice(&sums));
    }
}

/// Sum and difference of what the cosine and the sine sums of every output are raised by; then, where the topmost diagonal is
/// kept apart, the same for that one, at half the distance.
pub(super) fn lay_out_constants(rows: &[(Raised, Raised)], whole: bool, image: &mut Vec<u8>) {
    let offset = if whole { 0 } else { TOP_RAISED };
    for (cosine, sine) in rows {
        let both = [
            cosine.sum.wrapping_add(sine.sum),
            cosine.sum.wrapping_sub(sine.sum),
        ];
        let both = both.map(|x| x.wrapping_add(offset << TOP_WEIGHT));
        image.extend_from_slice(bytemuck::cast_slice(&both));
    }
    if !whole {
        for (cosine, sine) in rows {
            let both = [cosine.top + sine.top, cosine.top - sine.top];
            let both = both.map(|x| (x - offset) as i32);
            image.extend_from_slice(bytemuck::cast_slice(&both));
        }
    }
}

/// The four constants of the first output of every thread, and of its partner; of the very first pair one has cosines only,
/// the other sines only.
pub(super) fn lay_out_first<'a>(
    rows: impl Iterator<Item = &'a (Raised, Raised)>,
    image: &mut Vec<u8>,
) {
    for (t, (cosine, sine)) in rows.enumerate() {
        let (cosine, sine) = (cosine.sum, sine.sum);
        let (sum, difference) = (cosine.wrapping_add(sine), cosine.wrapping_sub(sine));
        let four = match t {
            0 => [cosine, cosine, sine, sine],
            _ => [sum, difference, difference, sum],
        };
        image.extend_from_slice(bytemuck::cast_slice(&four));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::emulated::Emulator;
    use super::*;
    use crate::bailey::Setting;
    use crate::factor;
    use crate::layout::Layout;
    use crate::matrix_unit::Unit;
    use crate::passes::Passes;
    use crate::planner::Planner;
    use crate::problem::{Accuracy, Problem, Substrate};
    use crate::recipe::LineRecipe;
    use crate::roots::Fixed;
    use crate::tables::Tables;
    use std::sync::Arc;

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
            complex(&[1024]).accuracy(Accuracy::Target(1e-13)),
            // Seven diagonals.
            complex(&[512, 1024]).accuracy(Accuracy::Target(1e-10)),
            complex(&[1024]).substrate(Substrate::Int8MmaSync),
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
            single(&[1024]).accuracy(Accuracy::Target(1e-3)),
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

    pub(in super::super) fn block(n: usize, tables: &Tables) -> Block {
        let LineRecipe::Passes(recipes) = factor::line(n) else {
            panic!("{n} is smooth");
        };
        let setting = Setting {
            digits: Digits::DOUBLE,
            family: Family::Truncated,
            unit: Unit::Scalar,
            tables,
        };
        Block::new(&recipes[0], &Fixed::one(), setting)
    }

    pub(in super::super) fn passes(n: usize, tables: &Tables) -> Passes {
        let LineRecipe::Passes(recipes) = factor::line(n) else {
            panic!("{n} is smooth");
        };
        let setting = Setting {
            digits: Digits::DOUBLE,
            family: Family::Truncated,
            unit: Unit::Scalar,
            tables,
        };
        Passes::new(&recipes, &Fixed::one(), 0, setting)
    }

    pub(in super::super) fn shape(product: Product, block: &Block) -> &'static TunedShape {
        let steps = block.steps();
        let fits = |shape: &&TunedShape| {
            shape.elements == Elements::Complex
                && shape.digits == 8
                && shape.product == product
                && [shape.first, shape.last] == [0, 1].map(|i| steps[i].recipe.n)
        };
        ozfft_kernels::TUNED.iter().find(fits).expect("a shape")
    }

    /// Data words of many lengths.
    pub(in super::super) fn random_words(state: &mut u64, count: usize) -> Vec<i64> {
        let mut next = || {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (*state as i64) >> (2 + *state % 7)
        };
        (0..count).map(|_| next()).collect()
    }

    /// A rounded sum of raised diagonals, as the int8 kernels put it together, and its topmost diagonal.
    pub(in super::super) fn put_together(d: &[i64; 8], whole: bool) -> (i64, i32) {
        let top = if whole { d[0].wrapping_shl(49) } else { 0 };
        let sum = (((d[7] + 64) >> 7) + 2 * d[6] + 512 * d[5])
            .wrapping_add((d[4] + 256 * d[3]) << 17)
            .wrapping_add((d[2] + 256 * d[1]).wrapping_shl(33))
            .wrapping_add(top);
        (sum, d[0] as i32)
    }

    /// The sum of diagonals, rounded.
    pub(in super::super) fn rounded(diagonals: [i64; 8]) -> i128 {
        let sum = diagonals.iter().fold(0, |s, &d| s * 256 + i128::from(d));
        (sum + 64) >> 7
    }

    /// The constants of a step's outputs in an image: where they are, and where those of the topmost diagonals, if these are
    /// kept apart.
    pub(in super::super) struct Constants<'a> {
        pub(in super::super) image: &'a [u8],
        pub(in super::super) sums: usize,
        pub(in super::super) tops: Option<usize>,
    }

    impl Constants<'_> {
        /// Whether the raised sums of an output's cosines and sines, less the constants, are the exact ones.
        pub(in super::super) fn check(
            &self,
            output: usize,
            found: [(i64, i32); 2],
            exact: [i128; 2],
        ) {
            let long = |at: usize| i64::from_le_bytes(self.image[at..at + 8].try_into().unwrap());
            let int = |at: usize| i32::from_le_bytes(self.image[at..at + 4].try_into().unwrap());
            let [(cosine, cosine_top), (sine, sine_top)] = found;
            let both = self.sums + 16 * output;
            let sum = cosine.wrapping_add(sine).wrapping_sub(long(both));
            let difference = cosine.wrapping_sub(sine).wrapping_sub(long(both + 8));
            let exact = [exact[0] + exact[1], exact[0] - exact[1]];
            if let Some(tops) = self.tops {
                let apart = |top: i32| i128::from(top) << 49;
                let tops = tops + 8 * output;
                let top_sum = cosine_top.wrapping_add(sine_top).wrapping_sub(int(tops));
                let top_difference = cosine_top
                    .wrapping_sub(sine_top)
                    .wrapping_sub(int(tops + 4));
                assert_eq!(
                    i128::from(sum) + apart(top_sum),
                    exact[0],
                    "output {output}"
                );
                assert_eq!(
                    i128::from(difference) + apart(top_difference),
                    exact[1],
                    "output {output}"
                );
                // Where the kernels look whether a number fits 64 bits.
                for (top, exact) in [(top_sum, exact[0]), (top_difference, exact[1])] {
                    let fits = (0..16384).contains(&top);
                    assert!(!fits || i64::try_from(exact).is_ok(), "output {output}");
                    assert!(fits || exact.unsigned_abs() > 1 << 61, "output {output}");
                }
            } else {
                assert_eq!(
                    [sum, difference],
                    exact.map(|x| x as i64),
                    "output {output}"
                );
            }
        }
    }

    /// The kept diagonals of a row's product with words, from their signed digits.
    pub(in super::super) fn diagonals(matrix: &DigitMatrix, row: usize, words: &[i64]) -> [i64; 8] {
        let planes = matrix.row(row, Digits::DOUBLE);
        let mut sums = [0; 8];
        for (slot, &word) in words.iter().enumerate() {
            let biased = (word as u64).wrapping_add(crate::digits::bias(8));
            for t in 0..8 {
                let digit = i64::from(crate::digits::digit(biased, 8, t as u32));
                for i in 0..7 {
                    if t + i < 8 {
                        sums[t + i] += digit * i64::from(planes[(6 - i) * matrix.slots + slot]);
                    }
                }
            }
        }
        sums
    }

    /// The same from the image, as the tensor instruction multiplies it: raised digits, pieces by pieces.
    pub(in super::super) fn raised_diagonals(
        image: &[u8],
        slots: usize,
        row: usize,
        words: &[i64],
    ) -> [i64; 8] {
        let eights = slots / 8;
        let mut sums = [0; 8];
        for (part, first) in [0, 4, 4].into_iter().enumerate() {
            for (slot, &word) in words.iter().enumerate() {
                let bytes = (word as u64)
                    .wrapping_add(crate::digits::bias(8))
                    .to_le_bytes();
                for diagonal in 0..4 {
                    for byte in 0..4 {
                        let piece = ((row / 8 * 3 + part) * eights + slot / 8) * 1024;
                        let core = (2 * diagonal + slot % 8 / 4) * 128 + row % 8 * 16;
                        let entry = image[piece + core + slot % 4 * 4 + byte] as i8;
                        let digit = bytes[byte + if part < 2 { 4 } else { 0 }];
                        sums[first + diagonal] += i64::from(entry) * i64::from(digit);
                    }
                }
            }
        }
        sums
    }

    #[test]
    fn tables_give_the_rounded_sums_of_signed_digits() {
        let tables_of_plans = Tables::default();
        let mut state = 77u64;
        for n in [256, 512, 1024] {
            let block = block(n, &tables_of_plans);
            let image = tables(shape(Product::Int8, &block), &block).unwrap();
            let [first, last] = block.steps() else {
                panic!("two steps")
            };
            let eights = |step: &Step| step.recipe.n / 16;
            let matrix_len = |step: &Step| 3072 * eights(step) * eights(step);
            let first_constants = 2 * (matrix_len(first) + matrix_len(last));
            let last_constants = first_constants + 8 * first.recipe.n + 128;
            let last_tops = last_constants + 8 * last.recipe.n;
            for (step, matrix, sums, tops) in [
                (first, 0, first_constants, None),
                (last, 2 * matrix_len(first), last_constants, Some(last_tops)),
            ] {
                let slots = step.recipe.n / 2;
                let words = random_words(&mut state, slots);
                let constants = Constants {
                    image: &image,
                    sums,
                    tops,
                };
                for row in 0..slots {
                    let found = [0, 1].map(|part| {
                        let operand = &image[matrix + part * matrix_len(step)..];
                        let d = raised_diagonals(operand, slots, row, &words);
                        put_together(&d, tops.is_none())
                    });
                    let exact = matrices(step).map(|m| rounded(diagonals(m, row, &words)));
                    constants.check(row, found, exact);
                }
            }
        }
    }
}
