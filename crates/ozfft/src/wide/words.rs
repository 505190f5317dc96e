//! Words of 128 bits, sixteen side by side: real and imaginary parts of eight lines.
//!
//! A word is four limbs of 32 bits in two's complement. The four bytes of a limb are four neighbouring digits, and a limb of
//! sixteen columns is a row of 64 bytes, which is what matrix units take.
//!
//! Functions work on one column, on plain integers; loops over columns around them are what the compiler makes vector
//! instructions of.

use bytemuck::{Pod, Zeroable};

/// Lines side by side.
pub(super) const LANES: usize = 8;
/// Real parts, then imaginary parts, of all lines.
pub(super) const COLUMNS: usize = 2 * LANES;
/// Limbs of a word, the least significant first.
pub(super) const LIMBS: usize = 4;
/// Components of a line are below 2 to this power in units of the last place: see the head-room in `budget.rs`.
pub(super) const WORD_BITS: i32 = 125;

/// One point of eight lines: `limbs[limb][column]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Point(pub(super) [[u32; COLUMNS]; LIMBS]);

/// A word.
pub(super) type Limbs = [u32; LIMBS];

impl Point {
    pub(super) const ZERO: Point = Point([[0; COLUMNS]; LIMBS]);

    #[inline(always)]
    pub(super) fn get(&self, column: usize) -> Limbs {
        let [l0, l1, l2, l3] = &self.0;
        [l0[column], l1[column], l2[column], l3[column]]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, column: usize, word: Limbs) {
        for limb in 0..LIMBS {
            self.0[limb][column] = word[limb];
        }
    }
}

/// A complex word, as lines that are longer than a block are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ComplexWord {
    pub(super) re: Limbs,
    pub(super) im: Limbs,
}

pub(super) fn to_integer(word: Limbs) -> i128 {
    let limb = |i: usize| u128::from(word[i]) << (32 * i);
    (limb(0) | limb(1) | limb(2) | limb(3)) as i128
}

pub(super) fn to_limbs(integer: i128) -> Limbs {
    std::array::from_fn(|i| (integer >> (32 * i)) as u32)
}

/// `Σ sums[i]·2^(32i) / 2^shift`, rounded to nearest, halves upwards. `0 < shift < 32`, and the result fits.
#[inline(always)]
pub(super) fn carried(sums: [i64; LIMBS], shift: u32) -> Limbs {
    let low = |x: i64| x & 0xffff_ffff;
    let s0 = sums[0].wrapping_add(1 << (shift - 1));
    let s1 = sums[1].wrapping_add(s0 >> 32);
    let s2 = sums[2].wrapping_add(s1 >> 32);
    let s3 = sums[3].wrapping_add(s2 >> 32);
    let pair = |below: i64, above: i64| ((low(below) | (above << 32)) as u64 >> shift) as u32;
    [
        pair(s0, s1),
        pair(s1, s2),
        pair(s2, s3),
        (s3 >> shift) as u32,
    ]
}

/// The limbs as sums that [`carried`] takes.
#[inline(always)]
pub(super) fn spread(word: Limbs) -> [i64; LIMBS] {
    let [l0, l1, l2, l3] = word;
    [
        i64::from(l0),
        i64::from(l1),
        i64::from(l2),
        i64::from(l3 as i32),
    ]
}

/// The negative, for words above the least one.
#[inline(always)]
pub(super) fn negated(word: Limbs) -> Limbs {
    let mut carry = 1u64;
    word.map(|limb| {
        let sum = u64::from(!limb) + carry;
        carry = sum >> 32;
        sum as u32
    })
}

/// The bias that makes balanced digits non-negative, in every limb.
const BIAS: u32 = 0x8080_8080;

/// Digits of a word, a byte each; the word is `a + b`, or `a - b`.
#[inline(always)]
pub(super) fn digits_of_sum<const SUBTRACT: bool>(a: Limbs, b: Limbs) -> Limbs {
    let mut carry = u64::from(SUBTRACT);
    let mut digits = [0; LIMBS];
    for i in 0..LIMBS {
        let b = if SUBTRACT { !b[i] } else { b[i] };
        let sum = u64::from(a[i]) + u64::from(b) + u64::from(BIAS) + carry;
        carry = sum >> 32;
        digits[i] = sum as u32 ^ BIAS;
    }
    digits
}

/// `word · 2^shift`, rounded to nearest, halves upwards, where bits are dropped. What is pushed out above must be sign.
pub(super) fn shifted(word: i128, shift: i32) -> i128 {
    match shift {
        0.. => word << shift.min(127),
        -126..=-1 => (word + (1 << (-shift - 1))) >> -shift,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> impl Iterator<Item = i128> {
        let mut state = 7u128;
        let random = std::iter::repeat_with(move || {
            state = state
                .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
                .wrapping_add(1);
            (state as i128) >> 2
        });
        [
            0,
            1,
            -1,
            1 << 125,
            -(1 << 125),
            0xffff_ffff,
            -0x1_0000_0000,
            0x80,
            -0x81,
        ]
        .into_iter()
        .chain(random.take(500))
    }

    #[test]
    fn digits_add_up_to_sums_and_differences() {
        for (a, b) in numbers().zip(numbers().skip(3)) {
            let (x, y) = (to_limbs(a), to_limbs(b));
            for (digits, number) in [
                (digits_of_sum::<false>(x, y), a + b),
                (digits_of_sum::<true>(x, y), a - b),
            ] {
                let sum = digits
                    .iter()
                    .rev()
                    .flat_map(|limb| limb.to_le_bytes().into_iter().rev());
                let sum = sum.fold(0i128, |sum, byte| {
                    sum.wrapping_mul(256).wrapping_add(i128::from(byte as i8))
                });
                assert_eq!(sum, number);
            }
        }
    }

    #[test]
    fn carrying_rounds_to_nearest() {
        for number in numbers() {
            let word = to_limbs(number);
            assert_eq!(to_integer(word), number);
            assert_eq!(to_integer(negated(word)), -number);
            for shift in [1, 2, 6, 12, 31] {
                let rounded = (number + (1 << (shift - 1))) >> shift;
                assert_eq!(to_integer(carried(spread(word), shift)), rounded);
                assert_eq!(shifted(number, -(shift as i32)), rounded);
            }
        }
    }
}
