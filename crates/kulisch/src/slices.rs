//! Adds slices of numbers to accumulators, block by block with the fastest variant that holds them.

use crate::accumulator::Accumulator;
use crate::blocks::{BLOCK, HIGHEST_TOP, LEVEL_BITS, Levels, PRODUCTS_BLOCK, lowest_top};
use crate::parts::SMALLEST;
use crate::rounding::{Head, Rounding};
use crate::scatter::Scatter;
use crate::units::{self, Unit};
use crate::{Error, Instructions};

/// Levels for numbers that are close to each other, and for those that are less so; the rest is scattered.
const NARROW: usize = 2;
const MEDIUM: usize = 4;
/// The same for products, which are twice as long.
pub(crate) const NARROW_PRODUCTS: usize = 3;
const MEDIUM_PRODUCTS: usize = 5;
/// Bits above the largest number of a block that are left free, where there is room: the next may have a larger one.
const SLACK: i32 = 4;

/// How the last block was added, and the next will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Unknown,
    Narrow(i32),
    Medium(i32),
    /// Scattered, and so will be so many blocks more before they are looked at.
    Wide(u32),
}

/// Blocks that are scattered after one that had to be.
const WIDE_BLOCKS: u32 = 7;

/// Exponent of the highest level for numbers, or products, below `2^(highest + 1)`: a first attempt, without a look at the
/// smallest of them.
#[inline]
fn first_top(highest: i32, levels: usize) -> Option<i32> {
    let top = (highest + 2 + SLACK).max(lowest_top(levels));
    (top <= HIGHEST_TOP).then_some(top)
}

/// Exponent of the largest number; nothing where all are zero.
#[inline]
fn highest(unit: Unit, values: &[f64]) -> Option<i32> {
    let largest = units::largest(unit, values).to_bits();
    (largest != 0).then(|| ((largest >> 52) as i32).max(1) - 1023)
}

impl Variant {
    /// The variant for a block of such a span.
    fn of(span: Option<Span>, narrow: usize, medium: usize) -> Variant {
        let Some(span) = span else {
            // Only zeros: any level will do.
            return Variant::Narrow(0);
        };
        match (span.top(narrow), span.top(medium)) {
            (Some(top), _) => Variant::Narrow(top),
            (None, Some(top)) => Variant::Medium(top),
            (None, None) => Variant::Wide(WIDE_BLOCKS),
        }
    }
}

/// Exponents of the extremes of a block: all numbers are below `2^(highest + 1)`, and multiples of `2^lowest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub highest: i32,
    pub lowest: i32,
}

impl Span {
    /// The span of a block; nothing where all numbers are zero. NaN and infinities have the highest exponent, 1024.
    #[inline]
    pub fn of(unit: Unit, values: &[f64]) -> Option<Span> {
        let (largest, smallest) = units::extremes(unit, values);
        let exponent = |bits: u64| ((bits >> 52) as i32).max(1) - 1023;
        (largest != 0).then(|| Span {
            highest: exponent(largest),
            lowest: exponent(smallest.wrapping_add(1)) - 52,
        })
    }

    /// The span of all products.
    #[inline]
    pub fn times(self, other: Span) -> Span {
        let not_finite = self.highest > HIGHEST_TOP || other.highest > HIGHEST_TOP;
        Span {
            highest: if not_finite {
                2 * HIGHEST_TOP
            } else {
                self.highest + other.highest + 1
            },
            lowest: self.lowest + other.lowest,
        }
    }

    /// Exponent of the highest level that holds the span with so many levels.
    #[inline]
    pub fn top(self, levels: usize) -> Option<i32> {
        // The lowest multiple of the last level; doubles have no bits below theirs.
        let end = |top: i32| top - LEVEL_BITS * levels as i32;
        let least = (self.highest + 2).max(lowest_top(levels));
        if least > HIGHEST_TOP || end(least) > self.lowest.max(SMALLEST) {
            return None;
        }
        let most = (self.lowest.max(SMALLEST) + LEVEL_BITS * levels as i32).min(HIGHEST_TOP);
        Some((least + SLACK).min(most))
    }
}

impl Accumulator {
    /// Adds all numbers of a slice.
    pub fn add_slice(&mut self, values: &[f64]) {
        add_numbers::<false>(self, Unit::best(), values);
    }

    /// Adds the magnitudes of all numbers of a slice.
    pub fn add_magnitudes(&mut self, values: &[f64]) {
        add_numbers::<true>(self, Unit::best(), values);
    }

    /// Adds the exact products of two slices' numbers, pair by pair.
    pub fn add_products(&mut self, left: &[f64], right: &[f64]) -> Result<(), Error> {
        Error::check_equal(left.len(), right.len())?;
        add_pairs(self, Unit::best(), left, right);
        Ok(())
    }

    /// As [`Accumulator::add_slice`], with instructions of the caller's choice: for measurements and tests.
    pub fn add_slice_with(
        &mut self,
        instructions: Instructions,
        values: &[f64],
    ) -> Result<(), Error> {
        let unit = Unit::of(instructions).ok_or(Error::NotAvailable(instructions))?;
        add_numbers::<false>(self, unit, values);
        Ok(())
    }

    /// As [`Accumulator::add_products`], with instructions of the caller's choice: for measurements and tests.
    pub fn add_products_with(
        &mut self,
        instructions: Instructions,
        left: &[f64],
        right: &[f64],
    ) -> Result<(), Error> {
        Error::check_equal(left.len(), right.len())?;
        let unit = Unit::of(instructions).ok_or(Error::NotAvailable(instructions))?;
        add_pairs(self, unit, left, right);
        Ok(())
    }

    /// Adds the sum of a block.
    fn deposit_levels<const LEVELS: usize>(&mut self, levels: Levels<LEVELS>, top: i32) -> bool {
        for (level, &value) in levels.iter().enumerate() {
            if value != 0 {
                self.deposit(value, top - LEVEL_BITS * (level as i32 + 1));
            }
        }
        levels.iter().any(|&value| value != 0)
    }
}

fn add_numbers<const MAGNITUDES: bool>(accumulator: &mut Accumulator, unit: Unit, values: &[f64]) {
    let mut variant = Variant::Unknown;
    let mut scatter = Scatter::new(values.len());
    for block in values.chunks(BLOCK) {
        let mut done = add_block::<MAGNITUDES>(accumulator, unit, block, variant);
        if !done && !matches!(variant, Variant::Wide(_)) {
            let top = highest(unit, block).map_or(Some(0), |highest| first_top(highest, NARROW));
            variant = top.map_or(Variant::Unknown, Variant::Narrow);
            done = add_block::<MAGNITUDES>(accumulator, unit, block, variant);
        }
        if !done {
            variant = match variant {
                Variant::Wide(blocks @ 1..) => Variant::Wide(blocks - 1),
                _ => Variant::of(Span::of(unit, block), NARROW, MEDIUM),
            };
            done = add_block::<MAGNITUDES>(accumulator, unit, block, variant);
        }
        if !done && MAGNITUDES {
            scatter.add(accumulator, block.iter().map(|value| value.abs()));
        } else if !done {
            scatter.add(accumulator, block.iter().copied());
        }
    }
    scatter.finish(accumulator);
}

/// Adds a block with one of the fast variants, or nothing of it.
#[inline]
fn add_block<const MAGNITUDES: bool>(
    accumulator: &mut Accumulator,
    unit: Unit,
    block: &[f64],
    variant: Variant,
) -> bool {
    let some = match variant {
        Variant::Narrow(top) => units::sum::<NARROW, MAGNITUDES>(unit, block, top)
            .map(|levels| accumulator.deposit_levels(levels, top)),
        Variant::Medium(top) => units::sum::<MEDIUM, MAGNITUDES>(unit, block, top)
            .map(|levels| accumulator.deposit_levels(levels, top)),
        Variant::Unknown | Variant::Wide(_) => None,
    };
    match some {
        // A sum that is not zero has other terms than zeros; one of zero may not.
        Some(not_zero) => {
            let found = accumulator.found_mut();
            found.any = true;
            if !found.any_but_negative_zero {
                found.any_but_negative_zero = not_zero || MAGNITUDES || !only_negative_zeros(block);
            }
            true
        }
        None => false,
    }
}

fn only_negative_zeros(values: &[f64]) -> bool {
    values.iter().all(|value| value.to_bits() == 1 << 63)
}

pub(crate) fn add_pairs(accumulator: &mut Accumulator, unit: Unit, left: &[f64], right: &[f64]) {
    let mut variant = Variant::Unknown;
    let mut scatter = Scatter::new(2 * left.len());
    for (left, right) in left
        .chunks(PRODUCTS_BLOCK)
        .zip(right.chunks(PRODUCTS_BLOCK))
    {
        if add_products_block(accumulator, unit, (left, right), variant) {
            continue;
        }
        if let Variant::Wide(blocks @ 1..) = variant {
            variant = Variant::Wide(blocks - 1);
            add_wide_products(accumulator, &mut scatter, unit, (left, right));
            continue;
        }
        if let (Some(a), Some(b)) = (highest(unit, left), highest(unit, right))
            && let Some(top) = first_top(a + b + 1, NARROW_PRODUCTS)
        {
            variant = Variant::Narrow(top);
            if add_products_block(accumulator, unit, (left, right), variant) {
                continue;
            }
        }
        let span = match (Span::of(unit, left), Span::of(unit, right)) {
            (Some(a), Some(b)) => Some(a.times(b)),
            // Only zeros on one side, which is no reason to take infinities on the other for numbers.
            (a, b) => a.or(b).map(|other| other.times(other)),
        };
        variant = Variant::of(span, NARROW_PRODUCTS, MEDIUM_PRODUCTS);
        if !add_products_block(accumulator, unit, (left, right), variant) {
            add_wide_products(accumulator, &mut scatter, unit, (left, right));
        }
    }
    scatter.finish(accumulator);
}

/// Adds a block of products with one of the fast variants, or nothing of it.
#[inline]
fn add_products_block(
    accumulator: &mut Accumulator,
    unit: Unit,
    (left, right): (&[f64], &[f64]),
    variant: Variant,
) -> bool {
    let exact = |tiny: bool| !tiny || !units::any_tiny_product(unit, left, right);
    let some = match variant {
        Variant::Narrow(top) => units::dot::<NARROW_PRODUCTS>(unit, left, right, top)
            .filter(|products| exact(products.tiny))
            .map(|products| accumulator.deposit_levels(products.levels, top)),
        Variant::Medium(top) => units::dot::<MEDIUM_PRODUCTS>(unit, left, right, top)
            .filter(|products| exact(products.tiny))
            .map(|products| accumulator.deposit_levels(products.levels, top)),
        Variant::Unknown | Variant::Wide(_) => None,
    };
    match some {
        Some(not_zero) => {
            let found = accumulator.found_mut();
            found.any = true;
            if !found.any_but_negative_zero {
                found.any_but_negative_zero = not_zero || !only_negative_zero_products(left, right);
            }
            true
        }
        None => false,
    }
}

fn only_negative_zero_products(left: &[f64], right: &[f64]) -> bool {
    // Products here are in range: a zero has a factor of zero.
    let mut pairs = left.iter().zip(right);
    pairs.all(|(a, b)| (a * b).to_bits() == 1 << 63)
}

/// Adds a block of products that are far apart.
fn add_wide_products(
    accumulator: &mut Accumulator,
    scatter: &mut Scatter,
    unit: Unit,
    (left, right): (&[f64], &[f64]),
) {
    let one_by_one = |accumulator: &mut Accumulator| {
        let pairs = left.iter().zip(right);
        pairs.for_each(|(&a, &b)| accumulator.add_product(a, b));
    };
    if !scatter.is_used() || units::any_tiny_product(unit, left, right) {
        return one_by_one(accumulator);
    }
    let (mut high, mut low) = ([0.0; PRODUCTS_BLOCK], [0.0; PRODUCTS_BLOCK]);
    let (high, low) = (&mut high[..left.len()], &mut low[..left.len()]);
    units::split_products(unit, left, right, high, low);
    // Products beyond the range, or, without a fused instruction, of a factor near its end, have no lower part.
    if !low.iter().fold(true, |all, value| all & value.is_finite()) {
        return one_by_one(accumulator);
    }
    scatter.add(accumulator, high.iter().copied());
    // A lower part of zero is no term: it must not make a sum of -0 one of +0.
    scatter.add(
        accumulator,
        low.iter().copied().filter(|&value| value != 0.0),
    );
}

/// The rounded value of a block's sum, without an accumulator; nothing for zero.
#[inline]
pub(crate) fn round_levels(levels: [i64; 3], top: i32) -> Option<f64> {
    let mask = (1i64 << LEVEL_BITS) - 1;
    let last = (levels[2] & mask) as u64;
    let value = (i128::from(levels[0]) << LEVEL_BITS)
        + i128::from(levels[1])
        + i128::from(levels[2] >> LEVEL_BITS);
    let negative = value < 0;
    let (value, last) = match (negative, last) {
        (false, _) => (value as u128, last),
        (true, 0) => (value.unsigned_abs(), 0),
        (true, _) => ((!value) as u128, (1 << LEVEL_BITS) - last),
    };
    let end = top - 3 * LEVEL_BITS;
    let head = if value >> (127 - LEVEL_BITS) == 0 {
        Head::of_u128(value << LEVEL_BITS | u128::from(last), end, false)
    } else {
        Head::of_u128(value, end + LEVEL_BITS, last != 0)
    };
    head.map(|head| head.to_f64(negative, Rounding::NearestEven))
}

/// The rounded sum of one block with the fastest variant, where that holds it and the sum is not zero.
#[inline]
pub(crate) fn sum_of_one_block(unit: Unit, values: &[f64]) -> Option<f64> {
    if values.len() > BLOCK {
        return None;
    }
    let top = first_top(highest(unit, values)?, NARROW)?;
    let levels = units::sum::<NARROW, false>(unit, values, top)?;
    round_levels([levels[0], levels[1], 0], top)
}

/// The rounded sum of one block of products with the fastest variant, where that holds it and the sum is not zero. `top` is what
/// held the last block, or nothing; it is changed where it does not hold this one.
#[inline]
pub(crate) fn dot_of_one_block(
    unit: Unit,
    left: &[f64],
    right: &[f64],
    top: &mut Option<i32>,
) -> Option<f64> {
    if left.len() > PRODUCTS_BLOCK {
        return None;
    }
    let attempt = |top: i32| units::dot::<NARROW_PRODUCTS>(unit, left, right, top);
    let (products, used) = match top.and_then(|top| attempt(top).map(|products| (products, top))) {
        Some(done) => done,
        None => {
            let highest = highest(unit, left)? + highest(unit, right)? + 1;
            let fitting = first_top(highest, NARROW_PRODUCTS)?;
            *top = Some(fitting);
            (attempt(fitting)?, fitting)
        }
    };
    if products.tiny && units::any_tiny_product(unit, left, right) {
        return None;
    }
    round_levels(products.levels, used)
}
