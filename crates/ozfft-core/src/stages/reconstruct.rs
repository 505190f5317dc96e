//! From diagonals to one integer: the end of a fixed-point (Kulisch) accumulation, and the rounding of a product.
//!
//! Every diagonal is deposited at its bit position. Two neighbouring ones fit 32 bits without a carry,
//! `256·2^21.9 + 2^21.9 < 2^30`, and a sum of two such pairs still fits 31; so carries are resolved here, 16 bits at
//! a time, from the last pair upwards.

use crate::simd::{LOW_BITS, Pair, Vectors, Wide, inlined};

/// Bits of a data word's unit above the beginning of its pair: digits are scaled by 127/128.
pub(crate) const UNIT_BITS: u32 = 7;

/// A rounded sum whose 16-bit places have been carried, as far as both of its uses need.
pub(crate) struct Rounded<H> {
    /// The part above the lower one.
    top: Top<H>,
    /// `32 - shift` bits, not negative.
    low: H,
    shift: u32,
}

/// The places above the lowest two, by the number of pairs.
enum Top<H> {
    /// At most two pairs: whatever the second one has in excess of 16 bits.
    Excess(H),
    /// Three pairs.
    One(H),
    /// Four pairs: the upper one and the lower one.
    Two(H, H),
}

/// The first pair that is kept, with what rounds it and the carry of those below.
#[inline(always)]
fn first_pair<const L: usize, V: Vectors<L>>(
    pair: &impl Fn(usize) -> V::Halves,
    dropped: usize,
    shift: u32,
) -> V::Halves {
    let mut first = V::add_halves(pair(dropped), V::splat_halves(1 << (shift - 1)));
    if dropped > 0 {
        let mut below = pair(0);
        for q in 1..dropped {
            below = V::add_halves(pair(q), V::shift_halves_right(below, 16));
        }
        first = V::add_halves(first, V::shift_halves_right(below, 16));
    }
    first
}

/// [`round_pairs`] where the result is known to fit 32 bits, so that intermediate overflow does not matter; at most
/// two pairs are kept.
#[inline(always)]
pub(crate) fn round_short<const L: usize, V: Vectors<L>, const P: usize>(
    pair: impl Fn(usize) -> V::Halves,
    dropped: usize,
    shift: u32,
) -> V::Halves {
    let whole = V::shift_halves_right(first_pair::<L, V>(&pair, dropped, shift), shift);
    if P == 1 {
        return whole;
    }
    V::add_halves(whole, V::shift_halves_left(pair(dropped + 1), 16 - shift))
}

/// `Σ_q pair(q)·2^(16q)` divided by `2^(16·dropped + shift)` and rounded to nearest, halves upwards; `7 <= shift < 16`.
/// `P` pairs are left after `dropped` ones have given their carry.
#[inline(always)]
pub(crate) fn round_pairs<const L: usize, V: Vectors<L>, const P: usize>(
    pair: impl Fn(usize) -> V::Halves,
    dropped: usize,
    shift: u32,
) -> Rounded<V::Halves> {
    let carry = inlined(
        #[inline(always)]
        |x| V::shift_halves_right(x, 16),
    );
    let first = first_pair::<L, V>(&pair, dropped, shift);
    if P == 1 {
        let whole = V::shift_halves_right(first, shift);
        return Rounded {
            top: Top::Excess(V::shift_halves_right(whole, 31)),
            low: V::shift_halves_right_zero(V::shift_halves_left(whole, shift), shift),
            shift,
        };
    }
    let second = V::add_halves(pair(dropped + 1), carry(first));
    // The fraction is truncated.
    let low = V::shift_halves_right_zero(V::join_places(second, first), shift);
    let excess = carry(second);
    let top = match P {
        2 => Top::Excess(excess),
        3 => Top::One(V::add_halves(pair(dropped + 2), excess)),
        _ => Top::Two(pair(dropped + 3), V::add_halves(pair(dropped + 2), excess)),
    };
    Rounded { top, low, shift }
}

impl<H: Copy> Rounded<H> {
    /// Real and imaginary numbers as words, where they are known to fit.
    #[inline(always)]
    pub(crate) fn words<const L: usize, V: Vectors<L, Halves = H>>(self) -> Pair<V::Words> {
        let shift = self.shift;
        let lower = match self.top {
            Top::Excess(h) | Top::One(h) | Top::Two(_, h) => h,
        };
        let low = V::or_halves(V::shift_halves_left(lower, 32 - shift), self.low);
        let mut high = V::shift_halves_right(lower, shift);
        if let Top::Two(upper, _) = self.top {
            high = V::add_halves(high, V::shift_halves_left(upper, 16 - shift));
        }
        V::join(low, high)
    }

    /// Real and imaginary numbers as wide integers; the shift is that of a last step.
    #[inline(always)]
    pub(crate) fn wide<const L: usize, V: Vectors<L, Halves = H>>(self) -> Pair<Wide<V::Words>> {
        debug_assert_eq!(32 - self.shift, LOW_BITS);
        let (low, high) = match self.top {
            Top::Excess(h) | Top::One(h) => (h, V::shift_halves_right(h, 31)),
            Top::Two(upper, lower) => {
                let upper = V::add_halves(upper, V::shift_halves_right(lower, 16));
                let place = V::shift_halves_right_zero(V::shift_halves_left(lower, 16), 16);
                (
                    V::or_halves(V::shift_halves_left(upper, 16), place),
                    V::shift_halves_right(upper, 16),
                )
            }
        };
        let (high_re, high_im) = V::join(low, high);
        let (low_re, low_im) = V::join(self.low, V::splat_halves(0));
        (
            Wide {
                high: high_re,
                low: low_re,
            },
            Wide {
                high: high_im,
                low: low_im,
            },
        )
    }
}

/// A rounded sum in words of 64 bits, for vectors that add and shift those as fast as halves: nothing is carried.
struct RoundedWords<W> {
    /// The pairs above the first, in units of 2^16.
    above: Pair<W>,
    /// The first pair with what rounds it.
    first: Pair<W>,
}

#[inline(always)]
fn rounded_words<const L: usize, V: Vectors<L>, const P: usize>(
    pair: &impl Fn(usize) -> V::Halves,
    dropped: usize,
    shift: u32,
) -> RoundedWords<V::Words> {
    let mut above = (V::splat(0), V::splat(0));
    // The last of four is below 2^31, and counts 2^32.
    for q in (1..P).rev() {
        let (re, im) = V::widen_halves(pair(dropped + q));
        above = (
            V::add(V::shift_left(above.0, 16), re),
            V::add(V::shift_left(above.1, 16), im),
        );
    }
    let first = V::widen_halves(first_pair::<L, V>(pair, dropped, shift));
    RoundedWords { above, first }
}

/// [`round_pairs`] as words, where the results are known to fit.
#[inline(always)]
pub(crate) fn round_to_words<const L: usize, V: Vectors<L>, const P: usize>(
    pair: impl Fn(usize) -> V::Halves,
    dropped: usize,
    shift: u32,
) -> Pair<V::Words> {
    if !V::ROUNDS_IN_WORDS {
        return round_pairs::<L, V, P>(pair, dropped, shift).words::<L, V>();
    }
    let RoundedWords { above, first } = rounded_words::<L, V, P>(&pair, dropped, shift);
    let word = inlined(
        #[inline(always)]
        |above, first| {
            V::add(
                V::shift_left(above, 16 - shift),
                V::shift_right(first, shift),
            )
        },
    );
    (word(above.0, first.0), word(above.1, first.1))
}

/// [`round_pairs`] as wide integers; the shift is that of a last step.
#[inline(always)]
pub(crate) fn round_to_wide<const L: usize, V: Vectors<L>, const P: usize>(
    pair: impl Fn(usize) -> V::Halves,
    dropped: usize,
    shift: u32,
) -> Pair<Wide<V::Words>> {
    if !V::ROUNDS_IN_WORDS {
        return round_pairs::<L, V, P>(pair, dropped, shift).wide::<L, V>();
    }
    debug_assert_eq!(32 - shift, LOW_BITS);
    let RoundedWords { above, first } = rounded_words::<L, V, P>(&pair, dropped, shift);
    let wide = inlined(
        #[inline(always)]
        |above, first| {
            let below = V::shift_left(V::and(above, V::splat(0xffff)), 16 - shift);
            Wide {
                high: V::shift_right(above, 16),
                low: V::add(below, V::shift_right(first, shift)),
            }
        },
    );
    (wide(above.0, first.0), wide(above.1, first.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{HalfRow, Portable};

    fn checked<const P: usize>(pairs: &[HalfRow<1>], shift: u32) {
        let dropped = pairs.len() - P;
        let rounded = || round_pairs::<1, Portable, P>(|q| pairs[q], dropped, shift);
        let exact = |part: usize| {
            let sum = pairs
                .iter()
                .rev()
                .fold(0i128, |sum, pair| (sum << 16) + i128::from(pair[0][part]));
            let shift = shift + 16 * dropped as u32;
            (sum + (1 << (shift - 1))) >> shift
        };
        let in_words = round_to_words::<1, Portable, P>(|q| pairs[q], dropped, shift);
        for (re, im) in [rounded().words::<1, Portable>(), in_words] {
            for (part, word) in [re, im].into_iter().enumerate() {
                if i64::try_from(exact(part)).is_ok() {
                    assert_eq!(i128::from(word[0]), exact(part), "{pairs:?} {shift}");
                }
            }
        }
        if P <= 2 {
            let short = round_short::<1, Portable, P>(|q| pairs[q], dropped, shift);
            for part in 0..2 {
                if let Ok(right) = i32::try_from(exact(part)) {
                    assert_eq!(short[0][part], right, "{pairs:?} {shift}");
                }
            }
        }
        if shift == UNIT_BITS {
            let in_words = round_to_wide::<1, Portable, P>(|q| pairs[q], dropped, shift);
            for (re, im) in [rounded().wide::<1, Portable>(), in_words] {
                for (part, wide) in [re, im].into_iter().enumerate() {
                    let got = (i128::from(wide.high[0]) << LOW_BITS) + i128::from(wide.low[0]);
                    assert_eq!(got, exact(part), "{pairs:?}");
                }
            }
        }
    }

    #[test]
    fn pairs_round_like_one_integer() {
        let mut state = 3u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            // A sum of two pairs at most.
            ((state >> 33) as i32) - (1 << 30)
        };
        for round in 0..20_000 {
            for dropped in 0..3 {
                let mut pairs = |count: usize| -> Vec<HalfRow<1>> {
                    let thin = round % 24;
                    (0..count + dropped)
                        .map(|_| [[next() >> thin, -next() >> thin]])
                        .collect()
                };
                for shift in [7, 8, 12, 13] {
                    checked::<1>(&pairs(1), shift);
                    checked::<2>(&pairs(2), shift);
                    checked::<3>(&pairs(3), shift);
                    checked::<4>(&pairs(4), shift);
                }
            }
        }
    }

    // Places are 16 bits wide and hand on what they have in excess: with every pair next to where a carry, a sign or the
    // rounding changes, or as large as two sums of a recipe can be, in all combinations, every pattern of carries occurs.
    #[test]
    fn every_pattern_of_carries_rounds_like_one_integer() {
        // Seven pairs of digits, 33 slots, 2^14 each, 257 times; two sums.
        const LARGEST: i32 = 2 * 257 * 7 * 33 * (1 << 14);
        let values = |shift: u32| {
            let half = 1 << (shift - 1);
            [
                -LARGEST,
                LARGEST,
                0,
                -1,
                1 << 15,
                -(1 << 15) - 1,
                0xffff,
                -0x1_0000,
                half,
                -half,
                half - 1,
                -half - 1,
            ]
        };
        for shift in 7..14 {
            let values = values(shift);
            for pattern in 0..values.len().pow(4) {
                let at = |place: u32| values[pattern / values.len().pow(place) % values.len()];
                let pairs: [HalfRow<1>; 4] =
                    std::array::from_fn(|q| [[at(q as u32), at(3 - q as u32)]]);
                checked::<4>(&pairs, shift);
                // The same behind pairs that only give their carry.
                checked::<3>(&pairs, shift);
                checked::<2>(&pairs, shift);
                checked::<1>(&pairs, shift);
            }
        }
    }

    #[test]
    fn halves_round_upwards() {
        let word = |x: i32| {
            round_pairs::<1, Portable, 2>(|q| [[if q == 0 { x } else { 0 }; 2]], 0, 7)
                .words::<1, Portable>()
                .0[0]
        };
        assert_eq!(word(64), 1);
        assert_eq!(word(-64), 0);
        assert_eq!(word(-65), -1);
        assert_eq!(word(63), 0);
    }
}
