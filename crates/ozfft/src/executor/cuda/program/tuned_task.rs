//! Parameters of the kernels that know their length, and what the copy engine must know of their arrays.

use crate::executor::cuda::program::task::{Address, Arrays, FloatLines, KernelArgs};
use bytemuck::{Pod, Zeroable};
use ozfft_kernels::{Product, TUNED_BOX_LINES, TunedShape, TunedSource};

/// What the kernels' sums are put together with: `Factors` of `tuned_block.cuh`. The second one of int8 is a
/// mask of 20 bits, of kernels for f32.
pub(crate) fn factors(product: Product) -> (i32, i32) {
    match product {
        Product::Int8 => (1 << 17, (1 << 20) - 1),
        Product::Fp8 => (1 << 13, 1 << 25),
    }
}

/// The same of the template: those of int8, and what fp8 needs besides.
pub(crate) fn template_factors() -> (i32, i32) {
    let (factor, _) = factors(Product::Int8);
    (factor, 1 << 25)
}

/// The bit that is flipped in imaginary parts.
pub(crate) fn sign(conjugate: i32) -> u32 {
    if conjugate != 0 { 1 << 31 } else { 0 }
}

/// Bytes of a complex number.
pub(crate) fn number_bytes(shape: &TunedShape) -> i64 {
    if shape.single { 8 } else { 16 }
}

/// What a launch is told: `TunedArguments` of `tuned_block.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct TunedTask {
    pub(crate) input: Address,
    pub(crate) output: Address,
    pub(crate) from: Places,
    pub(crate) to: Places,
    pub(crate) lines: i64,
    pub(crate) fast_count: i64,
    pub(crate) panels: u32,
    pub(crate) panels_a_group: u32,
    pub(crate) largest: Address,
    pub(crate) bias_threshold: u64,
    pub(crate) tables: Address,
    pub(crate) left_count: Address,
    pub(crate) left: Address,
    pub(crate) exponent_offset: i32,
    pub(crate) bias: i32,
    pub(crate) factor: i32,
    pub(crate) conjugate_input: u32,
    pub(crate) conjugate_output: u32,
    pub(crate) second_factor: i32,
}

/// Where lines lie, in elements of the array: from element to element, from line to line, from group to group of lines.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Places {
    pub(crate) element: i64,
    pub(crate) fast: i64,
    pub(crate) slow: i64,
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

// Addresses are resolved by `TunedTask::if_aligned`, which may refuse them.
impl KernelArgs for TunedTask {}

impl KernelArgs for StridedTask {}

impl TunedTask {
    /// Of a pass of a long transform: what the kernel is not told by its [`Task`](crate::executor::cuda::program::task::Task).
    pub(crate) fn of_pass(
        [input, output]: [Option<&FloatLines>; 2],
        [panels, panels_a_group]: [u32; 2],
        side_by_side: u64,
        tables: Address,
        (left_count, left): (Address, Address),
    ) -> TunedTask {
        let (factor, second_factor) = template_factors();
        let numbers =
            |lines: Option<&FloatLines>| lines.map_or(Address::NONE, |lines| lines.numbers);
        let conjugate = |lines: Option<&FloatLines>| lines.map_or(0, |lines| sign(lines.conjugate));
        TunedTask {
            input: numbers(input),
            output: numbers(output),
            fast_count: side_by_side as i64,
            panels,
            panels_a_group,
            tables,
            left_count,
            left,
            factor,
            second_factor,
            conjugate_input: conjugate(input),
            conjugate_output: conjugate(output),
            ..TunedTask::zeroed()
        }
    }

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
    pub(crate) fn if_aligned(mut self, arrays: &Arrays) -> Option<TunedTask> {
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
