//! Sums and dot products of slices.

use crate::accumulator::Accumulator;
use crate::blocks::BLOCK;
use crate::error::Error;
use crate::parts::signed_parts;
use crate::rounding::{Head, Rounding};
use crate::slices::{Span, add_pairs, dot_of_one_block, sum_of_one_block};
use crate::units::Unit;

/// The sum, rounded once.
///
/// ```
/// assert_eq!(kulisch::sum(&[1e16, 1.0, -1e16]), 1.0);
/// ```
pub fn sum(values: &[f64]) -> f64 {
    let unit = Unit::best();
    if let Some(sum) = sum_of_one_block(unit, values) {
        return sum;
    }
    let mut accumulator = Accumulator::new();
    accumulator.add_slice(values);
    accumulator.round()
}

/// The sum of floats, rounded once.
pub fn sum_f32(values: &[f32]) -> f32 {
    let mut accumulator = Accumulator::new();
    let mut wide = [0.0; BLOCK];
    for block in values.chunks(BLOCK) {
        widen(block, &mut wide);
        accumulator.add_slice(&wide[..block.len()]);
    }
    accumulator.round_f32()
}

/// The sum of magnitudes (`asum`), rounded once.
pub fn magnitude_sum(values: &[f64]) -> f64 {
    let mut accumulator = Accumulator::new();
    accumulator.add_magnitudes(values);
    accumulator.round()
}

/// The sum of products, rounded once.
///
/// ```
/// let x = [1e200, 1.0, -1e200];
/// assert_eq!(kulisch::dot(&x, &[1e200, 3.0, 1e200])?, 3.0);
/// # Ok::<(), kulisch::Error>(())
/// ```
pub fn dot(left: &[f64], right: &[f64]) -> Result<f64, Error> {
    Error::check_equal(left.len(), right.len())?;
    Ok(dot_with(Unit::best(), left, right, &mut None))
}

/// The sum of products of slices of one length. `top` is what [`dot_of_one_block`] makes of it.
#[inline]
pub(crate) fn dot_with(unit: Unit, left: &[f64], right: &[f64], top: &mut Option<i32>) -> f64 {
    match dot_of_one_block(unit, left, right, top) {
        Some(dot) => dot,
        None => {
            let mut accumulator = Accumulator::new();
            add_pairs(&mut accumulator, unit, left, right);
            accumulator.round()
        }
    }
}

/// The sum of products of floats, rounded once.
pub fn dot_f32(left: &[f32], right: &[f32]) -> Result<f32, Error> {
    Error::check_equal(left.len(), right.len())?;
    let mut accumulator = Accumulator::new();
    let (mut a, mut b) = ([0.0; BLOCK], [0.0; BLOCK]);
    for (left, right) in left.chunks(BLOCK).zip(right.chunks(BLOCK)) {
        widen(left, &mut a);
        widen(right, &mut b);
        // Products of floats are doubles without any rounding.
        a.iter_mut().zip(&b).for_each(|(a, b)| *a *= b);
        accumulator.add_slice(&a[..left.len()]);
    }
    Ok(accumulator.round_f32())
}

fn widen(from: &[f32], to: &mut [f64]) {
    let pairs = to.iter_mut().zip(from);
    pairs.for_each(|(to, &from)| *to = from.into());
}

/// The Euclidean norm: the correctly rounded square root of the exact sum of squares. Squares neither overflow nor vanish.
///
/// ```
/// let huge = 2f64.powi(1000);
/// assert_eq!(kulisch::norm(&[3.0 * huge, 4.0 * huge]), 5.0 * huge);
/// assert_eq!(kulisch::norm(&[3e-320, 4e-320]), 5e-320);
/// ```
pub fn norm(values: &[f64]) -> f64 {
    let mut accumulator = Accumulator::new();
    add_pairs(&mut accumulator, Unit::best(), values, values);
    accumulator.square_root()
}

/// `Σ left · right` of complex numbers, each `[real, imaginary]`, both parts rounded once.
pub fn complex_dot(left: &[[f64; 2]], right: &[[f64; 2]]) -> Result<[f64; 2], Error> {
    Ok(complex_accumulators(left, right, false)?.map(|part| part.round()))
}

/// `Σ conj(left) · right` of complex numbers, each `[real, imaginary]`, both parts rounded once.
pub fn conjugate_dot(left: &[[f64; 2]], right: &[[f64; 2]]) -> Result<[f64; 2], Error> {
    Ok(complex_accumulators(left, right, true)?.map(|part| part.round()))
}

pub(crate) fn complex_accumulators(
    left: &[[f64; 2]],
    right: &[[f64; 2]],
    conjugate: bool,
) -> Result<[Accumulator; 2], Error> {
    const PAIRS: usize = 512;
    Error::check_equal(left.len(), right.len())?;
    let unit = Unit::best();
    let mut parts = [Accumulator::new(), Accumulator::new()];
    let sign = if conjugate { 1.0 } else { -1.0 };
    let mut others = [[0.0; 2 * PAIRS]; 2];
    for (left, right) in left.chunks(PAIRS).zip(right.chunks(PAIRS)) {
        // Real part: re · re ∓ im · im. Imaginary part: re · im ± im · re.
        for (k, &[real, imaginary]) in right.iter().enumerate() {
            others[0][2 * k..2 * k + 2].copy_from_slice(&[real, sign * imaginary]);
            others[1][2 * k..2 * k + 2].copy_from_slice(&[imaginary, -sign * real]);
        }
        let left = left.as_flattened();
        for (part, other) in parts.iter_mut().zip(&others) {
            add_pairs(part, unit, left, &other[..left.len()]);
        }
    }
    Ok(parts)
}

/// `Σ|x| / |Σx|`: by how much a sum may lose relative accuracy when intermediate sums are rounded. Infinite for a sum of zero and for no
/// other one of finite numbers: a quotient that does not fit is `f64::MAX`. NaN for a sum of nothing or of zeros, and where a number is
/// not finite. Both sums are exact; the quotient of the rounded ones is returned.
///
/// ```
/// assert_eq!(kulisch::condition_number(&[f64::MAX, f64::MAX]), 1.0);
/// assert_eq!(kulisch::condition_number(&[3.0, -1.0]), 2.0);
/// assert_eq!(kulisch::condition_number(&[3.0, -3.0]), f64::INFINITY);
/// ```
pub fn condition_number(values: &[f64]) -> f64 {
    let quotient = magnitude_sum(values) / sum(values).abs();
    if quotient.is_finite() {
        return quotient;
    }
    // A sum or the quotient does not fit, or something is zero or not finite: sign and magnitude tell.
    let (mut magnitudes, mut total) = (Accumulator::new(), Accumulator::new());
    magnitudes.add_magnitudes(values);
    total.add_slice(values);
    if !total.is_finite() {
        return f64::NAN;
    }
    let (Some(above), Some(below)) = (magnitudes.head(), total.head()) else {
        return quotient;
    };
    // Both are rounded as ever, but between 1 and 2: their quotient is between 1/2 and 2.
    let near = |head: Head| {
        Head {
            exponent: 0,
            ..head
        }
        .to_f64(false, Rounding::NearestEven)
    };
    let (shift, near) = (above.exponent - below.exponent, near(above) / near(below));
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    let quotient = match shift {
        ..=1023 => near * power(shift),
        1024 => 2.0 * near * power(1023),
        _ => f64::MAX,
    };
    quotient.min(f64::MAX)
}

/// All sums of the first 1, 2, 3, … numbers, each rounded once from the exact sum.
///
/// ```
/// let mut sums = [0.0; 4];
/// kulisch::prefix_sums(&[1e16, 1.0, 1.0, -1e16], &mut sums)?;
/// assert_eq!(sums, [1e16, 1e16, 1e16 + 2.0, 2.0]);
/// # Ok::<(), kulisch::Error>(())
/// ```
pub fn prefix_sums(values: &[f64], sums: &mut [f64]) -> Result<(), Error> {
    Error::check_equal(values.len(), sums.len())?;
    let unit = Unit::best();
    let mut running = Running {
        value: 0,
        lowest: 0,
        only_negative_zeros: true,
    };
    let mut blocks = values.chunks(BLOCK).zip(sums.chunks_mut(BLOCK));
    let mut far_apart = None;
    for (values, sums) in &mut blocks {
        if !running.make_room(Span::of(unit, values)) {
            far_apart = Some((values, sums));
            break;
        }
        for (&value, sum) in values.iter().zip(sums) {
            *sum = running.add(value);
        }
    }
    // From the first block on that does not fit, in full range.
    let Some(first) = far_apart else {
        return Ok(());
    };
    let mut accumulator = running.into_accumulator(first.0.len() < values.len());
    for (values, sums) in core::iter::once(first).chain(blocks) {
        for (&value, sum) in values.iter().zip(sums) {
            accumulator.add(value);
            *sum = accumulator.round();
        }
    }
    Ok(())
}

/// A sum in 128 bits, as long as it fits.
struct Running {
    value: i128,
    /// Exponent of its lowest bit.
    lowest: i32,
    only_negative_zeros: bool,
}

impl Running {
    /// Moves the sum so that a block of such a span can be added; whether that was possible.
    fn make_room(&mut self, span: Option<Span>) -> bool {
        let Some(span) = span else {
            return true;
        };
        let lowest = if self.value == 0 {
            span.lowest
        } else {
            self.lowest.min(span.lowest)
        };
        // A block of 2^11 numbers below 2^(highest + 1), a bit for the sum so far, and one for the sign.
        let block = span.highest + 1 + 11 - lowest;
        let moved = 128 - self.value.unsigned_abs().leading_zeros() as i32 + (self.lowest - lowest);
        if span.highest > 1023 || block > 125 || (self.value != 0 && moved > 125) {
            return false;
        }
        if self.value != 0 {
            self.value <<= self.lowest - lowest;
        }
        self.lowest = lowest;
        true
    }

    #[inline]
    fn add(&mut self, value: f64) -> f64 {
        let (fraction, exponent) = signed_parts(value);
        if fraction != 0 {
            self.value += i128::from(fraction) << (exponent - self.lowest);
        }
        self.only_negative_zeros &= value.to_bits() == 1 << 63;
        match Head::of_u128(self.value.unsigned_abs(), self.lowest, false) {
            Some(head) => head.to_f64(self.value < 0, Rounding::NearestEven),
            None if self.only_negative_zeros => -0.0,
            None => 0.0,
        }
    }

    fn into_accumulator(self, any: bool) -> Accumulator {
        let mut accumulator = Accumulator::new();
        if self.value != 0 {
            accumulator.deposit_wide(self.value, self.lowest);
        }
        let found = accumulator.found_mut();
        found.any = any;
        found.any_but_negative_zero = !self.only_negative_zeros;
        accumulator
    }
}
