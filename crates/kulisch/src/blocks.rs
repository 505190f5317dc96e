//! Blocks of numbers with a limited range of exponents, in fixed point, by vector instructions.
//!
//! A number is added to `1.5 · 2^top`, far above it: what the sum's 52 bits keep of it is an integer multiple of
//! `2^(top-52)`, and the sum's own bits, taken as an integer, are that multiple plus a constant. So bits are added as
//! integers, and what did not fit, which subtracting gives exactly, goes to the next level 52 bits below likewise.
//! Two levels hold numbers whose exponents are within 50 of the largest, without any decision in the loop. Whether
//! all was in range, and whether something was left over, is recorded in the loop and checked afterwards: a block that
//! does not fit is repeated with another variant, and nothing of it has been added.

use crate::lanes::{Lanes, MOST_LANES};
use crate::parts::{FRACTION_MASK, power_of_two};

/// Most numbers in a block. A level adds less than 2^51 for each, or twice that for products (`PRODUCTS_BLOCK`).
pub(crate) const BLOCK: usize = 2048;
/// Most products in a block.
pub(crate) const PRODUCTS_BLOCK: usize = 1024;
/// Bits between two levels.
pub(crate) const LEVEL_BITS: i32 = 52;
/// The lower part of a product is exact unless the product is below this (2^-968, of 106 bits), or beyond the range.
pub(crate) const SMALLEST_PRODUCT: f64 = f64::from_bits((1023 - 968) << 52);

/// Exponent of the highest level that is possible.
pub(crate) const HIGHEST_TOP: i32 = 1023;

/// Exponent of the lowest `top` with so many levels: the last one ends where doubles end.
pub(crate) const fn lowest_top(levels: usize) -> i32 {
    -1022 + LEVEL_BITS * (levels as i32 - 1)
}

/// A block's sum: integers that weigh `2^(top - 52)`, `2^(top - 104)`, …
pub(crate) type Levels<const LEVELS: usize> = [i64; LEVELS];

/// A block of products.
pub(crate) struct Products<const LEVELS: usize> {
    pub levels: Levels<LEVELS>,
    /// Some product is so small that it may have lost bits, or is zero. The sum counts only if it is zero because a factor is.
    pub tiny: bool,
}

/// Lanes of sums in progress.
struct Columns<V: Lanes, const LEVELS: usize> {
    grids: [V; LEVELS],
    sums: [V::Bits; LEVELS],
    out_of_range: V::Bits,
    left_over: V::Bits,
    smallest: V,
}

impl<V: Lanes, const LEVELS: usize> Columns<V, LEVELS> {
    #[inline(always)]
    fn new(top: i32) -> Self {
        Columns {
            grids: grids(top).map(V::splat),
            sums: [V::no_bits(); LEVELS],
            out_of_range: V::no_bits(),
            left_over: V::no_bits(),
            smallest: V::splat(f64::INFINITY),
        }
    }

    /// Adds what one level takes of the numbers, and returns the rest.
    #[inline(always)]
    fn add_level(&mut self, level: usize, values: V) -> V {
        let grid = self.grids[level];
        let shifted = values.add(grid);
        self.sums[level] = V::add_bits(self.sums[level], shifted.bits());
        if level == 0 {
            // Another exponent than the grid's, NaN and infinity included. Rests are always in range of their levels.
            self.out_of_range =
                V::or_difference(self.out_of_range, shifted.bits(), self.grids[0].bits());
        }
        values.subtract(shifted.subtract(grid))
    }

    #[inline(always)]
    fn add(&mut self, values: V) {
        let mut rest = values;
        for level in 0..LEVELS {
            rest = self.add_level(level, rest);
        }
        self.left_over = V::or_bits(self.left_over, rest.bits());
    }

    #[inline(always)]
    fn add_product(&mut self, left: V, right: V) {
        let high = left.multiply(right);
        let low = left.product_rest(right, high);
        self.smallest = high.magnitude().smaller(self.smallest);
        let mut rest = self.add_level(0, high);
        let mut low_rest = low;
        for level in 1..LEVELS {
            rest = self.add_level(level, rest);
            low_rest = self.add_level(level, low_rest);
        }
        self.left_over = V::or_bits(self.left_over, rest.bits());
        self.left_over = V::or_bits(self.left_over, low_rest.bits());
    }

    /// Whether everything was in range and nothing is left over, in all lanes.
    #[inline(always)]
    fn fits(&self) -> bool {
        let any = |bits: V::Bits| {
            V::bits_to_array(bits)
                .iter()
                .fold(0, |all, &lane| all | lane)
        };
        any(self.out_of_range) & !FRACTION_MASK == 0 && any(self.left_over) << 1 == 0
    }

    /// Whether a product was tiny or zero, in any lane.
    #[inline(always)]
    fn tiny(&self) -> bool {
        let smallest = V::bits_to_array(self.smallest.bits());
        let mut lanes = smallest[..V::COUNT].iter();
        lanes.any(|&bits| f64::from_bits(bits) < SMALLEST_PRODUCT)
    }

    /// The sum over all lanes, of so many numbers in all, or so many products.
    #[inline(always)]
    fn total(&self, top: i32, count: usize, products: bool) -> Levels<LEVELS> {
        let bias = grids::<LEVELS>(top);
        core::array::from_fn(|level| {
            let lanes = V::bits_to_array(self.sums[level]);
            let sum = lanes[..V::COUNT]
                .iter()
                .fold(0u64, |sum, &lane| sum.wrapping_add(lane));
            let added = (count as u64) << u32::from(products && level > 0);
            sum.wrapping_sub(bias[level].to_bits().wrapping_mul(added)) as i64
        })
    }
}

/// What numbers are added to, level by level.
#[inline(always)]
fn grids<const LEVELS: usize>(top: i32) -> [f64; LEVELS] {
    core::array::from_fn(|level| 1.5 * power_of_two(top - LEVEL_BITS * level as i32))
}

/// The sum of at most [`BLOCK`] numbers, or of their magnitudes, if they fit under `top`.
#[inline(always)]
pub(crate) fn sum<V: Lanes, const LEVELS: usize, const MAGNITUDES: bool>(
    values: &[f64],
    top: i32,
) -> Option<Levels<LEVELS>> {
    debug_assert!(values.len() <= BLOCK);
    let mut columns = Columns::<V, LEVELS>::new(top);
    let take = |values: V| {
        if MAGNITUDES {
            values.magnitude()
        } else {
            values
        }
    };
    let mut chunks = values.chunks_exact(V::COUNT);
    for chunk in &mut chunks {
        V::prefetch(chunk);
        columns.add(take(V::load(chunk)));
    }
    let mut count = values.len() / V::COUNT;
    if !chunks.remainder().is_empty() {
        columns.add(take(V::load(&padded(chunks.remainder()))));
        count += 1;
    }
    let fits = columns.fits();
    fits.then(|| columns.total(top, count * V::COUNT, false))
}

/// The sum of at most [`PRODUCTS_BLOCK`] products, if they fit under `top`.
#[inline(always)]
pub(crate) fn dot<V: Lanes, const LEVELS: usize>(
    left: &[f64],
    right: &[f64],
    top: i32,
) -> Option<Products<LEVELS>> {
    debug_assert!(left.len() == right.len() && left.len() <= PRODUCTS_BLOCK);
    let mut columns = Columns::<V, LEVELS>::new(top);
    let mut lefts = left.chunks_exact(V::COUNT);
    let mut rights = right.chunks_exact(V::COUNT);
    for (a, b) in (&mut lefts).zip(&mut rights) {
        V::prefetch(a);
        V::prefetch(b);
        columns.add_product(V::load(a), V::load(b));
    }
    let mut count = left.len() / V::COUNT;
    let mut tiny = columns.tiny();
    if !lefts.remainder().is_empty() {
        let (a, b) = (lefts.remainder(), rights.remainder());
        columns.add_product(V::load(&padded(a)), V::load(&padded(b)));
        // Here the lanes that are left empty would count.
        tiny |= a
            .iter()
            .zip(b)
            .any(|(a, b)| (a * b).abs() < SMALLEST_PRODUCT);
        count += 1;
    }
    let fits = columns.fits();
    fits.then(|| Products {
        levels: columns.total(top, count * V::COUNT, true),
        tiny,
    })
}

#[inline(always)]
fn padded(values: &[f64]) -> [f64; MOST_LANES] {
    let mut padded = [0.0; MOST_LANES];
    padded[..values.len()].copy_from_slice(values);
    padded
}

/// The largest magnitude, infinities included; some other number where there are NaN.
#[inline(always)]
pub(crate) fn largest<V: Lanes>(values: &[f64]) -> f64 {
    let zero = V::splat(0.0);
    let (mut even, mut odd) = (zero, zero);
    let mut chunks = values.chunks_exact(2 * V::COUNT);
    for chunk in &mut chunks {
        even = V::load(chunk).magnitude().larger(even);
        odd = V::load(&chunk[V::COUNT..]).magnitude().larger(odd);
    }
    for chunk in chunks.remainder().chunks(V::COUNT) {
        even = V::load(&padded(chunk)).magnitude().larger(even);
    }
    let lanes = V::bits_to_array(even.larger(odd).bits());
    f64::from_bits(lanes.into_iter().fold(0, u64::max))
}

/// The bits of the largest magnitude, and those of the smallest above zero less one: NaN and infinities are the largest.
#[inline(always)]
pub(crate) fn extremes(values: &[f64]) -> (u64, u64) {
    let mut largest = 0;
    let mut smallest = u64::MAX;
    for value in values {
        let magnitude = value.to_bits() << 1 >> 1;
        largest = magnitude.max(largest);
        smallest = magnitude.wrapping_sub(1).min(smallest);
    }
    (largest, smallest)
}

/// Whether a product of numbers above zero is so small that its lower part may be wrong.
#[inline(always)]
pub(crate) fn any_tiny_product(left: &[f64], right: &[f64]) -> bool {
    let pairs = left.iter().zip(right);
    let tiny = |a: f64, b: f64| ((a * b).abs() < SMALLEST_PRODUCT) & (a != 0.0) & (b != 0.0);
    pairs.fold(false, |any, (&a, &b)| any | tiny(a, b))
}

/// Products as unevaluated sums of a rounded product and what was rounded away.
#[inline(always)]
pub(crate) fn split_products<V: Lanes>(
    left: &[f64],
    right: &[f64],
    high: &mut [f64],
    low: &mut [f64],
) {
    let store = |values: V, to: &mut [f64]| {
        let bits = V::bits_to_array(values.bits());
        to.iter_mut()
            .zip(bits)
            .for_each(|(to, bits)| *to = f64::from_bits(bits));
    };
    let outputs = high.chunks_mut(V::COUNT).zip(low.chunks_mut(V::COUNT));
    let inputs = left.chunks(V::COUNT).zip(right.chunks(V::COUNT));
    for ((a, b), (high, low)) in inputs.zip(outputs) {
        let (a, b) = if a.len() == V::COUNT {
            (V::load(a), V::load(b))
        } else {
            (V::load(&padded(a)), V::load(&padded(b)))
        };
        let product = a.multiply(b);
        store(product, high);
        store(a.product_rest(b, product), low);
    }
}

/// Levels of [`columns`].
pub(crate) const COLUMN_LEVELS: usize = 3;

/// Sums of [`columns`], one in each lane.
pub(crate) struct ColumnSums {
    pub levels: [[i64; MOST_LANES]; COLUMN_LEVELS],
    /// As in [`Products`].
    pub tiny: bool,
}

/// Several sums of products side by side: term k of lane j is `coefficients[k] · values[starts[k] + offset + j]`.
#[inline(always)]
pub(crate) fn columns<V: Lanes>(
    coefficients: &[f64],
    values: &[f64],
    (starts, offset): (&[usize], usize),
    top: i32,
) -> Option<ColumnSums> {
    debug_assert!(coefficients.len() <= PRODUCTS_BLOCK);
    let mut columns = Columns::<V, COLUMN_LEVELS>::new(top);
    for (&coefficient, start) in coefficients.iter().zip(starts) {
        columns.add_product(V::splat(coefficient), V::load(&values[start + offset..]));
    }
    if !columns.fits() {
        return None;
    }
    let bias = grids::<COLUMN_LEVELS>(top);
    Some(ColumnSums {
        levels: core::array::from_fn(|level| {
            let added = (coefficients.len() as u64) << u32::from(level > 0);
            let bias = bias[level].to_bits().wrapping_mul(added);
            V::bits_to_array(columns.sums[level]).map(|lane| lane.wrapping_sub(bias) as i64)
        }),
        tiny: columns.tiny(),
    })
}
