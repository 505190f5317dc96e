//! Rows of f64 as integers under one exponent.

/// The field of numbers that are not finite.
pub const NOT_FINITE: u32 = 2047;

/// `field - FIELD_BIAS` is an exponent whose power of two is above all numbers with such an exponent field.
pub(crate) const FIELD_BIAS: i32 = 1022;

/// The largest exponent field of some numbers, at least 1: they are below `2^(field - 1022)`.
pub fn field_of(values: &[f64]) -> u32 {
    let fields = values
        .iter()
        .map(|value| (value.to_bits() >> 52) as u32 & 2047);
    fields.fold(1, u32::max)
}

/// `value · 2^(bits - (field - 1022))`, rounded to the nearest integer, halves away from zero; of magnitude at most `2^bits`.
pub fn word_of(value: f64, field: u32, bits: u32) -> i64 {
    let own = ((value.to_bits() >> 52) as u32 & 2047).max(1);
    let hidden = u64::from(value.to_bits() >> 52 & 2047 != 0) << 52;
    let fraction = value.to_bits() & ((1 << 52) - 1) | hidden;
    // The fraction is an integer below 2^53.
    let shift = bits as i32 - 53 - (field as i32 - own as i32);
    let magnitude = match shift {
        0.. => fraction << shift,
        -54..0 => ((fraction >> (-shift - 1)) + 1) >> 1,
        _ => 0,
    };
    if value.is_sign_negative() {
        -(magnitude as i64)
    } else {
        magnitude as i64
    }
}

/// Exponent of the unit of a sum of products of two rows with these fields.
pub(crate) fn sum_exponent(fields: [u32; 2], bits: u32) -> i32 {
    fields[0] as i32 + fields[1] as i32 - 2 * FIELD_BIAS - 2 * bits as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_next_to_the_scaled_numbers() {
        for bits in [1u32, 20, 52, 53, 54, 62] {
            for value in [1.0, -1.0, 0.75, 1.999_999_9, -3e-9, 5e-324, 0.0, -0.0, 0.1] {
                let word = word_of(value, field_of(&[1.5]), bits);
                // 1.5 is below 2.
                let scaled = value * 2f64.powi(bits as i32 - 1);
                assert!(word.unsigned_abs() <= 1 << bits);
                assert!((scaled - word as f64).abs() <= 0.5 + 1e-3 * scaled.abs() * f64::EPSILON);
            }
        }
        assert_eq!(word_of(0.5, field_of(&[1.0]), 1), 1);
        assert_eq!(word_of(-0.5, field_of(&[1.0]), 1), -1);
        assert_eq!(word_of(0.499, field_of(&[1.0]), 1), 0);
        // The largest number below 2 becomes 2^bits.
        assert_eq!(word_of(2f64.next_down(), field_of(&[1.0]), 20), 1 << 20);
        assert_eq!(field_of(&[0.0, 1e-310]), 1);
        assert_eq!(word_of(f64::from_bits(1), 1, 62), 1 << 9);
        assert_eq!(field_of(&[1.0, f64::INFINITY]), NOT_FINITE);
    }
}
