//! One small DFT over the columns of a panel: fold, digits, products of bytes, sums of diagonals, one rounding, rotation.
//!
//! Words and matrix entries have sixteen balanced digits; of their product the diagonals `t + i < 16` are formed. Diagonal
//! `d` meets the data digits `0..=d`, so four neighbouring diagonals are one matrix of bytes whose depth is as many limbs of
//! the data, the most significant first: four matrices, each as deep as it must be, and one piece of data for all of them.
//!
//! A sum of diagonals is below 2^23 (16 digits, 32 slots, 2^14), two neighbouring ones fit 32 bits, and four of them are
//! a limb in 64 bits. Cosine and sine sums are combined limb by limb and carried once.

use super::hardware::Hardware;
use super::rotate::{Root, rotate_point};
use super::words::{COLUMNS, LANES, LIMBS, Limbs, Point, carried, digits_of_sum, spread, to_limbs};
use crate::matrix_unit::Task;
use crate::recipe::{Fold, StepRecipe};
use crate::roots::{Fixed, cosine_sine};
use crate::simd::inlined;
use crate::stages::step_matrices::{angles, slots};
use residues::bytes::{ByteMatrix, ByteProducts, Group, Sums};
use std::sync::Arc;

/// Bits behind the binary point of a matrix entry: 1 is the leading digit 64.
const MATRIX_BITS: u32 = 126;
/// The shift of the sum of the kept diagonals, besides the growth of the step.
const PRODUCT_SHIFT: u32 = 6;
const DIGITS: usize = 16;

/// A square matrix in digits, four diagonals at a time.
#[derive(Debug)]
pub(super) struct DigitMatrix {
    slots: usize,
    classes: [ByteMatrix; LIMBS],
}

impl DigitMatrix {
    fn new(slots: usize, entries: &[i128]) -> DigitMatrix {
        let digits: Vec<[i8; DIGITS]> = entries
            .iter()
            .map(|&entry| {
                let limbs = digits_of_sum::<false>(to_limbs(entry), [0; LIMBS]);
                // The leading digit first.
                let byte = |i: usize| (limbs[3 - i / 4] >> (8 * (3 - i % 4))) as i8;
                std::array::from_fn(byte)
            })
            .collect();
        let class = |class: usize| {
            let depth = 4 * slots * (class + 1);
            let mut bytes = vec![0i8; 4 * slots * depth];
            for (place, byte) in bytes.iter_mut().enumerate() {
                let (row, k) = (place / depth, place % depth);
                let (diagonal, row) = (4 * class + row / slots, row % slots);
                let (limb, slot) = (k / 4 / slots, k / 4 % slots);
                // Bytes of a limb lie the least significant first.
                let data_digit = 4 * limb + 3 - k % 4;
                if let Some(digit) = diagonal.checked_sub(data_digit) {
                    *byte = digits[row * slots + slot][digit];
                }
            }
            ByteMatrix::new(4 * slots, depth, &bytes)
                .unwrap_or_else(|error| unreachable!("steps are short: {error}"))
        };
        DigitMatrix {
            slots,
            classes: std::array::from_fn(class),
        }
    }

    /// The products with several columns: data and sums of each.
    fn multiply<'a>(
        &self,
        unit: &dyn ByteProducts,
        columns: impl Iterator<Item = (&'a [Point], &'a mut [Point])>,
    ) {
        if self.slots == 0 {
            return;
        }
        let rows = 4 * self.slots;
        let mut columns: Vec<(&[Group], &mut [Sums])> = columns
            .map(|(data, sums)| (bytemuck::cast_slice(data), bytemuck::cast_slice_mut(sums)))
            .collect();
        for (class, matrix) in self.classes.iter().enumerate() {
            for (data, sums) in &mut columns {
                unit.multiply(matrix, data, &mut sums[class * rows..][..rows]);
            }
        }
    }
}

/// Cosine and sine matrix of a step.
#[derive(Debug)]
pub(super) struct StepMatrices {
    cosine: DigitMatrix,
    sine: DigitMatrix,
}

impl StepMatrices {
    pub(super) fn new(step: &StepRecipe) -> StepMatrices {
        let period = 2 * step.n as u64;
        let (cosine_angles, sine_angles) = angles(step);
        let entries = |angles: &[u64], part: fn((Fixed, Fixed)) -> Fixed| -> Vec<i128> {
            let entry = |&p: &u64| {
                let (negative, magnitude) =
                    part(cosine_sine(p % period, period)).nearest(MATRIX_BITS);
                let magnitude = magnitude as i128;
                if negative { -magnitude } else { magnitude }
            };
            angles.iter().map(entry).collect()
        };
        let (cosine_slots, sine_slots) = slots(step);
        StepMatrices {
            cosine: DigitMatrix::new(cosine_slots, &entries(&cosine_angles, |(c, _)| c)),
            sine: DigitMatrix::new(sine_slots, &entries(&sine_angles, |(_, s)| s)),
        }
    }
}

/// One step with its tables.
#[derive(Debug)]
pub(super) struct Step {
    recipe: StepRecipe,
    /// Length of what follows: the elements of a column lie so far apart.
    inner: usize,
    /// None for unit steps.
    matrices: Option<Arc<StepMatrices>>,
    /// After the step, a row for every output; empty where there is no rotation.
    rotations: Vec<Root>,
    /// Bits that the step grows by, shifted away.
    growth: u32,
}

/// Columns that are multiplied one after the other, matrix by matrix: each matrix is read from near memory but once.
pub(super) const TOGETHER: usize = 4;

/// Memory for the digits and sums of some columns.
#[derive(Debug)]
pub(super) struct Scratch {
    columns: [ColumnScratch; TOGETHER],
    outputs: Vec<Point>,
}

/// Memory of one column. It is allocated as points so that rows begin at cache lines.
#[derive(Debug)]
struct ColumnScratch {
    cosine: Vec<Point>,
    sine: Vec<Point>,
    cosine_sums: Vec<Point>,
    sine_sums: Vec<Point>,
}

impl Scratch {
    /// For steps of at most this many points.
    pub(super) fn new(largest: usize) -> Scratch {
        let slots = largest / 2 + 1;
        // A point has as many rows as a word has limbs.
        let digits = || vec![Point::ZERO; slots];
        let sums = || vec![Point::ZERO; DIGITS / LIMBS * slots];
        Scratch {
            columns: std::array::from_fn(|_| ColumnScratch {
                cosine: digits(),
                sine: digits(),
                cosine_sums: sums(),
                sine_sums: sums(),
            }),
            outputs: vec![Point::ZERO; largest],
        }
    }
}

/// The rows of points as bytes, and as sums.
fn groups_of(points: &mut [Point]) -> &mut [Group] {
    bytemuck::cast_slice_mut(points)
}

fn sums_of(points: &[Point]) -> &[Sums] {
    bytemuck::cast_slice(points)
}

/// Puts the digits of a slot where the unit finds them: a row for every limb, the most significant first.
#[inline(always)]
fn put_digits(data: &mut [Group], slots: usize, slot: usize, digits: &[[u32; COLUMNS]; LIMBS]) {
    for limb in 0..LIMBS {
        // A byte's place within its limb does not depend on the machine.
        let row = digits[limb].map(u32::to_le);
        data[(LIMBS - 1 - limb) * slots + slot] = bytemuck::cast(row);
    }
}

#[inline(always)]
fn fold<const SUBTRACT: bool>(a: &Point, b: &Point) -> [[u32; COLUMNS]; LIMBS] {
    let mut digits = [[0; COLUMNS]; LIMBS];
    for column in 0..COLUMNS {
        let word = digits_of_sum::<SUBTRACT>(a.get(column), b.get(column));
        for limb in 0..LIMBS {
            digits[limb][column] = word[limb];
        }
    }
    digits
}

/// The sum of all diagonals of a row, in limbs; zeros for a row that there is not.
#[inline(always)]
fn limbs_of(sums: &[Sums], slots: usize, row: Option<usize>) -> [[i64; COLUMNS]; LIMBS] {
    let mut limbs = [[0; COLUMNS]; LIMBS];
    let Some(row) = row else {
        return limbs;
    };
    for (limb, sums_of_limb) in limbs.iter_mut().rev().zip(sums.chunks_exact(4 * slots)) {
        let [d0, d1, d2, d3] = std::array::from_fn(|d| &sums_of_limb[d * slots + row]);
        for column in 0..COLUMNS {
            let high = (d0[column] << 8).wrapping_add(d1[column]);
            let low = (d2[column] << 8).wrapping_add(d3[column]);
            limb[column] = (i64::from(high) << 16) + i64::from(low);
        }
    }
    limbs
}

#[inline(always)]
fn plus(a: [i64; LIMBS], b: [i64; LIMBS]) -> [i64; LIMBS] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

#[inline(always)]
fn minus(a: [i64; LIMBS], b: [i64; LIMBS]) -> [i64; LIMBS] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
}

/// Cosine minus i times sine, carried.
#[inline(always)]
fn output_of(
    cosine: &[[i64; COLUMNS]; LIMBS],
    sine: &[[i64; COLUMNS]; LIMBS],
    shift: u32,
    output: &mut Point,
) {
    for lane in 0..LANES {
        let (re, im) = (lane, LANES + lane);
        let real = plus(column_of(cosine, re), column_of(sine, im));
        let imaginary = minus(column_of(cosine, im), column_of(sine, re));
        output.set(re, carried(real, shift));
        output.set(im, carried(imaginary, shift));
    }
}

/// The output that shares its sums: cosine plus i times sine, negated after a time shift.
#[inline(always)]
fn partner_of(
    cosine: &[[i64; COLUMNS]; LIMBS],
    sine: &[[i64; COLUMNS]; LIMBS],
    shift: u32,
    negate: bool,
    output: &mut Point,
) {
    let sign = -i64::from(negate);
    let signed = inlined(
        #[inline(always)]
        |sums: [i64; LIMBS]| sums.map(|sum| (sum ^ sign) - sign),
    );
    for lane in 0..LANES {
        let (re, im) = (lane, LANES + lane);
        let real = minus(column_of(cosine, re), column_of(sine, im));
        let imaginary = plus(column_of(cosine, im), column_of(sine, re));
        output.set(re, carried(signed(real), shift));
        output.set(im, carried(signed(imaginary), shift));
    }
}

#[inline(always)]
fn column_of(limbs: &[[i64; COLUMNS]; LIMBS], column: usize) -> [i64; LIMBS] {
    let [l0, l1, l2, l3] = limbs;
    [l0[column], l1[column], l2[column], l3[column]]
}

impl Step {
    /// A step followed by `inner` points and by the step `next`; the first of a block carries the block's scale.
    pub(super) fn new(
        recipe: StepRecipe,
        inner: usize,
        first: bool,
        next: Option<&StepRecipe>,
        scale: &Fixed,
        matrices: Option<Arc<StepMatrices>>,
    ) -> Step {
        let n = recipe.n;
        // Numerators over 2·n·inner: the index product, less this step's input shift, less the next step's output shift.
        let length = (n * inner) as u64;
        let input_shift = u64::from(recipe.fold == Fold::TimeShifted);
        let output_shift = u64::from(next.is_some_and(|s| s.fold == Fold::FrequencyShifted));
        let one = Fixed::one();
        let scale = if first { scale } else { &one };
        let is_rotated = next.is_some() || input_shift == 1 || !scale.is_one();
        let rotation = |k: u64, j: u64| {
            let numerator = i128::from(2 * j * k)
                - i128::from(input_shift * inner as u64 * k)
                - i128::from(output_shift * n as u64 * j);
            let p = numerator.rem_euclid(i128::from(2 * length)) as u64;
            Root::new(p, 2 * length, scale)
        };
        let rotations = if is_rotated {
            (0..n as u64)
                .flat_map(|k| (0..inner as u64).map(move |j| (k, j)))
                .map(|(k, j)| rotation(k, j))
                .collect()
        } else {
            Vec::new()
        };
        Step {
            recipe,
            inner,
            matrices,
            rotations,
            growth: n.next_power_of_two().trailing_zeros(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.recipe.n
    }

    pub(super) fn inner(&self) -> usize {
        self.inner
    }

    pub(super) fn growth(&self) -> u32 {
        self.growth
    }

    /// Folds the column of elements `first, first + step, …` into digits.
    #[inline(always)]
    fn prepare(&self, panel: &[Point], first: usize, step: usize, scratch: &mut ColumnScratch) {
        let n = self.recipe.n;
        let (cosine_slots, sine_slots) = slots(&self.recipe);
        let get = |i: usize| &panel[first + i * step];
        let (cosine, sine) = (groups_of(&mut scratch.cosine), groups_of(&mut scratch.sine));
        let alone = |data: &mut [Group], slots: usize, i: usize| {
            put_digits(data, slots, 0, &fold::<false>(get(i), &Point::ZERO));
        };
        let pair = |i: usize| match self.recipe.fold {
            Fold::TimeShifted => (i, n - 1 - i),
            _ => (i + 1, n - 1 - i),
        };
        // Slots of the first pair in the cosine and the sine data.
        let (skip_cosine, skip_sine) = match self.recipe.fold {
            Fold::TimeShifted => (0, 0),
            Fold::FrequencyShifted => {
                alone(cosine, cosine_slots, 0);
                alone(sine, sine_slots, n / 2);
                (1, 1)
            }
            Fold::Trivial | Fold::Plain => {
                alone(cosine, cosine_slots, 0);
                (1, 0)
            }
        };
        let crossed = self.recipe.fold == Fold::FrequencyShifted;
        for i in 0..cosine_slots - skip_cosine {
            let (a, b) = pair(i);
            let (a, b) = (get(a), get(b));
            let (sum, difference) = (fold::<false>(a, b), fold::<true>(a, b));
            let (cosine_slot, sine_slot) = (skip_cosine + i, skip_sine + i);
            if crossed {
                put_digits(cosine, cosine_slots, cosine_slot, &difference);
                put_digits(sine, sine_slots, sine_slot, &sum);
            } else {
                put_digits(cosine, cosine_slots, cosine_slot, &sum);
                put_digits(sine, sine_slots, sine_slot, &difference);
            }
        }
    }

    /// The outputs of a column, out of its sums.
    #[inline(always)]
    fn collect(&self, scratch: &ColumnScratch, outputs: &mut [Point]) {
        let n = self.recipe.n;
        let (cosine_slots, sine_slots) = slots(&self.recipe);
        let shift = PRODUCT_SHIFT + self.growth;
        let fold = self.recipe.fold;
        let last = match fold {
            Fold::FrequencyShifted => n / 2 - 1,
            _ => n / 2,
        };
        let outputs = &mut outputs[..n];
        let (cosine_sums, sine_sums) = (sums_of(&scratch.cosine_sums), sums_of(&scratch.sine_sums));
        for k in 0..=last {
            let (cosine, sine) = match fold {
                Fold::Trivial | Fold::Plain => (Some(k), k.checked_sub(1)),
                // The sine of k = n/2 sits in the row that k = 0 leaves free.
                Fold::TimeShifted if 2 * k == n => (None, Some(0)),
                Fold::TimeShifted => (Some(k), (k > 0).then_some(k)),
                Fold::FrequencyShifted => (Some(k), Some(k)),
            };
            let partner = match fold {
                Fold::FrequencyShifted => Some(n - 1 - k),
                _ => (k > 0 && 2 * k < n).then(|| n - k),
            };
            let cosine = limbs_of(cosine_sums, cosine_slots, cosine);
            let sine = limbs_of(sine_sums, sine_slots, sine);
            output_of(&cosine, &sine, shift, &mut outputs[k]);
            if let Some(place) = partner {
                let negate = fold == Fold::TimeShifted;
                partner_of(&cosine, &sine, shift, negate, &mut outputs[place]);
            }
        }
    }

    /// The outputs of a step of 2 or 4 points: additions alone.
    #[inline(always)]
    fn add_up(&self, panel: &[Point], first: usize, step: usize, outputs: &mut [Point]) {
        let element = |i: usize| &panel[first + i * step];
        for lane in 0..LANES {
            let re = |i: usize| spread(element(i).get(lane));
            let im = |i: usize| spread(element(i).get(LANES + lane));
            let round = |sums: [i64; LIMBS]| -> Limbs { carried(sums, self.growth) };
            let mut put = |k: usize, re: [i64; LIMBS], im: [i64; LIMBS]| {
                outputs[k].set(lane, round(re));
                outputs[k].set(LANES + lane, round(im));
            };
            if self.recipe.n == 2 {
                put(0, plus(re(0), re(1)), plus(im(0), im(1)));
                put(1, minus(re(0), re(1)), minus(im(0), im(1)));
                continue;
            }
            let (even_re, even_im) = (plus(re(0), re(2)), plus(im(0), im(2)));
            let (odd_re, odd_im) = (minus(re(0), re(2)), minus(im(0), im(2)));
            let (sum_re, sum_im) = (plus(re(1), re(3)), plus(im(1), im(3)));
            let (rest_re, rest_im) = (minus(re(1), re(3)), minus(im(1), im(3)));
            put(0, plus(even_re, sum_re), plus(even_im, sum_im));
            put(2, minus(even_re, sum_re), minus(even_im, sum_im));
            // -i(a + ib) = b - ia.
            put(1, plus(odd_re, rest_im), minus(odd_im, rest_re));
            put(3, minus(odd_re, rest_im), plus(odd_im, rest_re));
        }
    }
}

/// Some neighbouring columns of a panel, the elements of each `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// The first element of the first one.
    pub(super) first: usize,
    pub(super) stride: usize,
    /// Which column this is of those that follow each other.
    pub(super) number: usize,
    pub(super) count: usize,
}

/// Before the product: digits.
struct Prepare<'a> {
    step: &'a Step,
    panel: &'a [Point],
    columns: Columns,
    scratch: &'a mut Scratch,
}

impl Task for Prepare<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Columns {
            first,
            stride,
            count,
            ..
        } = self.columns;
        for (i, scratch) in self.scratch.columns[..count].iter_mut().enumerate() {
            self.step.prepare(self.panel, first + i, stride, scratch);
        }
    }
}

/// After it: outputs are rotated and stored.
struct Finish<'a> {
    step: &'a Step,
    panel: &'a mut [Point],
    columns: Columns,
    scratch: &'a mut Scratch,
}

impl Task for Finish<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Finish {
            step,
            panel,
            columns,
            scratch,
        } = self;
        let n = step.recipe.n;
        for i in 0..columns.count {
            let (first, number) = (columns.first + i, columns.number + i);
            if step.matrices.is_some() {
                step.collect(&scratch.columns[i], &mut scratch.outputs);
            } else {
                step.add_up(panel, first, columns.stride, &mut scratch.outputs);
            }
            for k in 0..n {
                let place = &mut panel[first + k * columns.stride];
                match step.rotations.get(k * step.inner + number) {
                    Some(root) => *place = rotate_point(&scratch.outputs[k], root),
                    None => *place = scratch.outputs[k],
                }
            }
        }
    }
}

impl Step {
    /// Transforms at most [`TOGETHER`] columns in place.
    pub(super) fn run(
        &self,
        hardware: &Hardware,
        panel: &mut [Point],
        columns: Columns,
        scratch: &mut Scratch,
    ) {
        if let Some(matrices) = &self.matrices {
            let (step, panel) = (self, &*panel);
            hardware.run(Prepare {
                step,
                panel,
                columns,
                scratch,
            });
            let products = &*hardware.products;
            let some = &mut scratch.columns[..columns.count];
            matrices.cosine.multiply(
                products,
                some.iter_mut()
                    .map(|c| (&c.cosine[..], &mut c.cosine_sums[..])),
            );
            matrices.sine.multiply(
                products,
                some.iter_mut().map(|c| (&c.sine[..], &mut c.sine_sums[..])),
            );
        }
        hardware.run(Finish {
            step: self,
            panel,
            columns,
            scratch,
        });
    }
}
