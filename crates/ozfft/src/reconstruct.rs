//! From limbs to one wide integer: the end of a fixed-point (Kulisch) accumulation.
//!
//! Every diagonal has been deposited at its bit position; four diagonals fit a 64-bit limb without a carry
//! (`2^24 · 256^3 < 2^63`), so carries are resolved here, once per limb.

use crate::lanes::{LOW_BITS, Row, WideRow};

/// `x / 2^bits`, rounded to nearest, halves upwards: one addition and one shift on every machine.
#[inline(always)]
pub(crate) fn round_shift(x: i128, bits: u32) -> i128 {
    if bits == 0 {
        x
    } else {
        (x + (1 << (bits - 1))) >> bits
    }
}

/// `Σ_g limbs[g] · 2^(32g)` divided by `2^shift` (`shift >= 1`) and rounded as [`round_shift`] does.
#[inline(always)]
pub(crate) fn round_limbs<const L: usize>(limbs: &[Row<L>], shift: u32) -> WideRow<L> {
    // Half a unit of the result goes in first; what is below the result's unit leaves only its carry.
    let half = shift - 1;
    let mut carry = [0i64; L];
    let first = (shift / 32) as usize;
    for (g, limb) in limbs.iter().enumerate().take(first) {
        let rounding = if (half / 32) as usize == g {
            1i64 << (half % 32)
        } else {
            0
        };
        for lane in 0..L {
            carry[lane] = (limb[lane] + carry[lane] + rounding) >> 32;
        }
    }
    let bits = shift % 32;
    let rounding = if (half / 32) as usize == first {
        1i64 << (half % 32)
    } else {
        0
    };
    let mut sum = WideRow::ZERO;
    for lane in 0..L {
        sum.low[lane] = (limbs[first][lane] + carry[lane] + rounding) >> bits;
    }
    for (g, limb) in limbs.iter().enumerate().skip(first + 1) {
        let weight = 32 * (g - first) as u32 - bits;
        for lane in 0..L {
            if weight >= LOW_BITS {
                sum.high[lane] += limb[lane] << (weight - LOW_BITS);
            } else {
                let split = LOW_BITS - weight;
                sum.high[lane] += limb[lane] >> split;
                sum.low[lane] += (limb[lane] & ((1 << split) - 1)) << weight;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limbs_round_like_one_integer() {
        let mut state = 3u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            (state as i64) >> 17
        };
        for _ in 0..20_000 {
            for count in 1..=4usize {
                // The top limb of a real product is small: four full ones would not fit 128 bits.
                let mut limbs: Vec<Row<1>> = (0..count).map(|_| [next()]).collect();
                limbs[count - 1][0] >>= 8 * count - 8;
                let whole = limbs
                    .iter()
                    .rev()
                    .fold(0i128, |sum, limb| (sum << 32) + i128::from(limb[0]));
                for shift in [7, 8, 12, 31, 32, 33, 39, 55, 60] {
                    if shift as usize / 32 < count {
                        let expected = round_shift(whole, shift);
                        if expected.unsigned_abs() < 1 << 86 {
                            assert_eq!(round_limbs(&limbs, shift).get(0), expected);
                        }
                    }
                }
            }
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
