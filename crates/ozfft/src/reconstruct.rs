//! From diagonals to one wide integer: a fixed-point (Kulisch) accumulation, exact.
//!
//! Every diagonal is deposited at its bit position. Four diagonals fit one 64-bit limb without a carry
//! (`2^24 · 256^3 < 2^63`), so carries are resolved once per limb, not once per diagonal.

/// `Σ_d diagonals[d] · 256^(count-1-d)`.
#[inline]
pub(crate) fn deposit(diagonals: &[i32]) -> i128 {
    let limb = |part: &[i32]| part.iter().fold(0i64, |sum, &d| (sum << 8) + i64::from(d));
    let head = diagonals.len() % 4;
    diagonals[head..]
        .chunks_exact(4)
        .fold(i128::from(limb(&diagonals[..head])), |sum, part| {
            (sum << 32) + i128::from(limb(part))
        })
}

/// `x / 2^bits`, rounded to nearest, halves upwards: one addition and one shift on every machine.
#[inline]
pub(crate) fn round_shift(x: i128, bits: u32) -> i128 {
    if bits == 0 {
        x
    } else {
        (x + (1 << (bits - 1))) >> bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deposit_is_the_positional_sum() {
        let diagonals: Vec<i32> = (0..14).map(|d| (d - 7) * 123_456 + d * d).collect();
        for count in 1..=14 {
            let direct = diagonals[..count]
                .iter()
                .fold(0i128, |sum, &d| sum * 256 + i128::from(d));
            assert_eq!(deposit(&diagonals[..count]), direct);
        }
    }

    #[test]
    fn halves_round_upwards() {
        assert_eq!(round_shift(3, 1), 2);
        assert_eq!(round_shift(-3, 1), -1);
        assert_eq!(round_shift(-5, 2), -1);
        assert_eq!(round_shift(6, 2), 2);
        assert_eq!(round_shift(7, 0), 7);
    }
}
