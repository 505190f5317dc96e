//! bf16: the upper half of an f32, with 8 significant bits; numbers as sums of several.

/// The bits of the nearest bf16, ties to even. NaN stays NaN, and numbers beyond the largest become infinite.
#[inline(always)]
pub(crate) fn round(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16;
    // Rounding up must not turn a NaN into an infinity.
    if value.is_nan() { 0x7fc0 } else { rounded }
}

/// As [`round`], for finite numbers below the largest bf16: lines are checked before.
#[inline(always)]
pub(crate) fn round_finite(value: f32) -> u32 {
    let bits = value.to_bits();
    bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16
}

/// The number.
#[inline(always)]
pub(crate) fn to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// A pair as matrix units take it, the first in the lower half.
#[inline(always)]
pub(crate) fn pair(first: u16, second: u16) -> u32 {
    u32::from(first) | u32::from(second) << 16
}

/// The two of a pair.
#[inline(always)]
pub(crate) fn unpair(pair: u32) -> (u16, u16) {
    (pair as u16, (pair >> 16) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::numbers::roots::Real;

    #[test]
    fn rounding_is_to_nearest_even() {
        // 1 + 2^-7 is the next number after 1; halfway cases go to the even one.
        let half = f32::from_bits(0x3f80_8000);
        assert_eq!(to_f32(round(half)), 1.0);
        assert_eq!(to_f32(round(f32::from_bits(0x3f80_8001))), 1.0078125);
        assert_eq!(to_f32(round(f32::from_bits(0x3f81_8000))), 1.015625);
        assert_eq!(to_f32(round(-half)), -1.0);
        assert_eq!(to_f32(round(f32::MAX)), f32::INFINITY);
        assert!(to_f32(round(f32::NAN)).is_nan());
        assert!(to_f32(round(f32::from_bits(0x7f80_0001))).is_nan());
        assert_eq!(round(0.0), 0);
        assert_eq!(round(-0.0), 0x8000);
        assert_eq!(round(f32::from_bits(1)), 0);
    }

    #[test]
    fn three_slices_hold_an_f32() {
        let mut generator = ozfft_testkit::oracle::inputs::Generator::new(11);
        for _ in 0..100_000 {
            let value = generator.uniform() as f32;
            let real = Real {
                high: f64::from(value),
                low: 0.0,
            };
            let sum: f64 = Format::Bf16
                .slices(real, 3)
                .into_iter()
                .map(|s| f64::from(to_f32(s)))
                .sum();
            assert_eq!(sum, f64::from(value), "seed 11");
        }
    }
}
