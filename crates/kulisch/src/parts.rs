//! The parts of a double.

/// Bits of the fraction that are stored.
pub(crate) const FRACTION_BITS: u32 = 52;
/// The bits of the fraction.
pub(crate) const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;
/// The bits of the exponent; all set for NaN and infinities.
pub(crate) const EXPONENT_MASK: u64 = 0x7ff << FRACTION_BITS;
/// Exponent of the smallest double above zero.
pub(crate) const SMALLEST: i32 = -1074;

/// The integer and the exponent that a finite number is the product of; `(0, SMALLEST)` for zeros.
#[inline]
pub(crate) fn signed_parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let field = ((bits & EXPONENT_MASK) >> FRACTION_BITS) as i32;
    let normal = i32::from(field != 0);
    let fraction = ((bits & FRACTION_MASK) | ((normal as u64) << FRACTION_BITS)) as i64;
    let sign = (bits as i64) >> 63;
    ((fraction ^ sign) - sign, field - normal + SMALLEST)
}

/// A power of two among the normal numbers.
#[inline]
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << FRACTION_BITS)
}
