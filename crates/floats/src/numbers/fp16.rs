//! f16, the half precision of IEEE 754: 11 significant bits, and a small range.

/// The bits of the nearest f16, ties to even. NaN stays NaN, and numbers of 65520 and more become infinite.
pub(crate) fn round(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16 & 0x8000) as u16;
    let magnitude = value.abs();
    if value.is_nan() {
        return 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Adding and taking off a number whose last place is the format's spacing leaves no other bits.
    let exponent = (magnitude.to_bits() >> 23) as i32 - 127;
    let spacing = (exponent - 10).max(-24);
    let shift = f32::from_bits(((spacing + 23 + 127) as u32) << 23);
    let multiple = ((magnitude + shift).to_bits() & 0x7f_ffff) as u16;
    // A multiple of 2048 is the next power of two: the carry reaches the exponent.
    sign | ((((spacing + 24) as u16) << 10) + multiple)
}

/// The number.
pub(crate) fn to_f32(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f32 * f32::from_bits((127 - 24) << 23),
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        _ => f32::from_bits(((exponent - 15 + 127) as u32) << 23 | fraction << 13),
    };
    if bits & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_round_trips_and_midpoints_round_to_even() {
        for bits in 0..0x7c00u16 {
            let value = to_f32(bits);
            assert_eq!(round(value), bits);
            assert_eq!(round(-value), bits | 0x8000);
            let next = if bits == 0x7bff {
                65536.0
            } else {
                to_f32(bits + 1)
            };
            assert!(next > value);
            // Exact in f32: both have 11 bits.
            let middle = (value + next) / 2.0;
            let even = bits + (bits & 1);
            assert_eq!(round(middle), even, "{bits:x}");
            assert_eq!(
                round(f32::from_bits(middle.to_bits() - 1)),
                bits,
                "{bits:x}"
            );
            assert_eq!(
                round(f32::from_bits(middle.to_bits() + 1)),
                bits + 1,
                "{bits:x}"
            );
        }
    }

    #[test]
    fn conversions_match_hand_computed_values() {
        assert_eq!(round(1.0), 0x3c00);
        assert_eq!(round(-2.0), 0xc000);
        assert_eq!(round(65504.0), 0x7bff);
        assert_eq!(round(65519.9), 0x7bff);
        assert_eq!(round(65520.0), 0x7c00);
        assert_eq!(round((-24f32).exp2()), 1);
        assert_eq!(round((-25f32).exp2()), 0);
        assert_eq!(round((-14f32).exp2()), 0x0400);
        assert_eq!(round(f32::from_bits(1)), 0);
        assert!(to_f32(round(f32::NAN)).is_nan());
        assert_eq!(to_f32(0x3555), 0.333_251_95);
    }
}
