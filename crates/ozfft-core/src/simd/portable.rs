//! Rows as arrays: the reference for every instruction set, and what runs where there is none of its own.

use super::{HalfRow, Pair, Row, Vectors};

/// Plain arrays of `L` lanes.
#[derive(Clone, Copy)]
pub struct Portable;

#[inline(always)]
fn each<const L: usize>(f: impl Fn(usize) -> i64) -> Row<L> {
    std::array::from_fn(f)
}

#[inline(always)]
fn each_half<const L: usize>(f: impl Fn(usize, usize) -> i32) -> HalfRow<L> {
    std::array::from_fn(|lane| [f(lane, 0), f(lane, 1)])
}

#[inline(always)]
fn single(bits: i32) -> f32 {
    f32::from_bits(bits as u32)
}

/// Rounds one double-precision number to a multiple of `2^unit`: to nearest, halves away from zero.
#[inline(always)]
pub fn round_to_unit(bits: i64, unit: i32) -> i64 {
    let field = ((bits >> 52) & 0x7ff) as i32;
    let hidden = u64::from(field != 0) << 52;
    let magnitude = (bits as u64 & ((1 << 52) - 1)) | hidden;
    let shift = field.max(1) - 1075 - unit;
    let word = if shift >= 0 {
        magnitude << shift.min(63)
    } else if shift <= -64 {
        0
    } else {
        (magnitude + (1 << (-shift - 1))) >> -shift
    } as i64;
    if bits < 0 { -word } else { word }
}

impl<const L: usize> Vectors<L> for Portable {
    type Words = Row<L>;
    type Halves = HalfRow<L>;

    // One lane is a register of the processor.
    const ROUNDS_IN_WORDS: bool = L == 1;

    #[inline(always)]
    fn load(row: &Row<L>) -> Row<L> {
        *row
    }
    #[inline(always)]
    fn store(words: Row<L>, row: &mut Row<L>) {
        *row = words;
    }
    #[inline(always)]
    fn splat(value: i64) -> Row<L> {
        [value; L]
    }
    #[inline(always)]
    fn splat_low(value: i32) -> Row<L> {
        [i64::from(value); L]
    }
    #[inline(always)]
    fn add(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| a[l].wrapping_add(b[l]))
    }
    #[inline(always)]
    fn subtract(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| a[l].wrapping_sub(b[l]))
    }
    #[inline(always)]
    fn and(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| a[l] & b[l])
    }
    #[inline(always)]
    fn or(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| a[l] | b[l])
    }
    #[inline(always)]
    fn xor(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| a[l] ^ b[l])
    }
    #[inline(always)]
    fn maximum(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| a[l].max(b[l]))
    }
    #[inline(always)]
    fn leading_maximum(a: Row<L>, b: Row<L>) -> Row<L> {
        Self::maximum(a, b)
    }
    #[inline(always)]
    fn all_negative(a: Row<L>) -> bool {
        a.iter().all(|&x| x < 0)
    }
    #[inline(always)]
    fn shift_left(a: Row<L>, bits: u32) -> Row<L> {
        each(|l| a[l] << bits)
    }
    #[inline(always)]
    fn shift_right(a: Row<L>, bits: u32) -> Row<L> {
        each(|l| a[l] >> bits)
    }
    #[inline(always)]
    fn shift_left_each(a: Row<L>, bits: Row<L>) -> Row<L> {
        each(|l| match bits[l] {
            0..64 => a[l] << bits[l],
            _ => 0,
        })
    }
    #[inline(always)]
    fn shift_right_each(a: Row<L>, bits: Row<L>) -> Row<L> {
        each(|l| match bits[l] {
            0..64 => (a[l] as u64 >> bits[l]) as i64,
            _ => 0,
        })
    }
    #[inline(always)]
    fn leading_zeros(a: Row<L>) -> Row<L> {
        each(|l| i64::from(a[l].leading_zeros()))
    }
    #[inline(always)]
    fn multiply_low(a: Row<L>, b: Row<L>) -> Row<L> {
        each(|l| i64::from(a[l] as i32) * i64::from(b[l] as i32))
    }

    #[inline(always)]
    unsafe fn gather(table: &[i64], places: Row<L>) -> Row<L> {
        each(|l| table[places[l] as usize])
    }

    #[inline(always)]
    fn load_halves(row: &HalfRow<L>) -> HalfRow<L> {
        *row
    }
    #[inline(always)]
    fn store_halves(halves: HalfRow<L>, row: &mut HalfRow<L>) {
        *row = halves;
    }
    #[inline(always)]
    fn splat_halves(value: i32) -> HalfRow<L> {
        [[value; 2]; L]
    }
    #[inline(always)]
    fn add_halves(a: HalfRow<L>, b: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| a[l][part].wrapping_add(b[l][part]))
    }
    #[inline(always)]
    fn subtract_halves(a: HalfRow<L>, b: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| a[l][part].wrapping_sub(b[l][part]))
    }
    #[inline(always)]
    fn or_halves(a: HalfRow<L>, b: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| a[l][part] | b[l][part])
    }
    #[inline(always)]
    fn shift_halves_left(a: HalfRow<L>, bits: u32) -> HalfRow<L> {
        each_half(|l, part| a[l][part].checked_shl(bits).unwrap_or(0))
    }
    #[inline(always)]
    fn shift_halves_right(a: HalfRow<L>, bits: u32) -> HalfRow<L> {
        each_half(|l, part| a[l][part] >> bits)
    }
    #[inline(always)]
    fn shift_halves_right_zero(a: HalfRow<L>, bits: u32) -> HalfRow<L> {
        each_half(|l, part| (a[l][part] as u32).checked_shr(bits).unwrap_or(0) as i32)
    }
    #[inline(always)]
    fn swap_halves(a: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| a[l][1 - part])
    }
    #[inline(always)]
    fn join(low: HalfRow<L>, high: HalfRow<L>) -> Pair<Row<L>> {
        let part =
            |part: usize| each(|l| i64::from(high[l][part]) << 32 | i64::from(low[l][part] as u32));
        (part(0), part(1))
    }
    #[inline(always)]
    fn split(re: Row<L>, im: Row<L>) -> (HalfRow<L>, HalfRow<L>) {
        let low = |x: i64| x as i32;
        let high = |x: i64| (x >> 32) as i32;
        (
            std::array::from_fn(|l| [low(re[l]), low(im[l])]),
            std::array::from_fn(|l| [high(re[l]), high(im[l])]),
        )
    }

    #[inline(always)]
    fn and_halves(a: HalfRow<L>, b: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| a[l][part] & b[l][part])
    }
    #[inline(always)]
    fn xor_halves(a: HalfRow<L>, b: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| a[l][part] ^ b[l][part])
    }
    #[inline(always)]
    fn maximum_halves(a: HalfRow<L>, b: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| a[l][part].max(b[l][part]))
    }
    #[inline(always)]
    fn mix_halves(re: HalfRow<L>, im: HalfRow<L>) -> HalfRow<L> {
        std::array::from_fn(|l| [re[l][0], im[l][1]])
    }
    #[inline(always)]
    fn rotate_halves(y: HalfRow<L>, real: i32, imaginary: i32) -> HalfRow<L> {
        let (real, imaginary) = (i64::from(real), i64::from(imaginary));
        let rounded = |product: i64| ((product + (1 << 29)) >> 30) as i32;
        std::array::from_fn(|l| {
            let [re, im] = y[l].map(i64::from);
            [
                rounded(re * real - im * imaginary),
                rounded(re * imaginary + im * real),
            ]
        })
    }
    #[inline(always)]
    fn widen_halves(a: HalfRow<L>) -> Pair<Row<L>> {
        (each(|l| i64::from(a[l][0])), each(|l| i64::from(a[l][1])))
    }
    #[inline(always)]
    fn halves_of_words(a: Row<L>) -> HalfRow<L> {
        std::array::from_fn(|l| [a[l] as i32, (a[l] >> 32) as i32])
    }
    #[inline(always)]
    fn words_of_halves(a: HalfRow<L>) -> Row<L> {
        each(|l| i64::from(a[l][1]) << 32 | i64::from(a[l][0] as u32))
    }

    const FLOOR_SINGLE_BIAS: i32 = 0;
    #[inline(always)]
    fn floor_magnitude_single(bits: HalfRow<L>, scale: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| (single(bits[l][part]).abs() * single(scale[l][part])) as i32)
    }
    #[inline(always)]
    fn round_scaled_single(bits: HalfRow<L>, scale: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| (single(bits[l][part]) * single(scale[l][part])).round() as i32)
    }
    #[inline(always)]
    fn integers_to_single(x: HalfRow<L>, scale: HalfRow<L>) -> HalfRow<L> {
        each_half(|l, part| (x[l][part] as f32 * single(scale[l][part])).to_bits() as i32)
    }
    #[inline(always)]
    fn integers_to_double(x: Row<L>, scale: Row<L>) -> Row<L> {
        each(|l| (x[l] as f64 * f64::from_bits(scale[l] as u64)).to_bits() as i64)
    }
    #[inline(always)]
    fn words_to_double(x: Row<L>, scale: Row<L>) -> Row<L> {
        // The conversion rounds to nearest, ties to even; a power of two does not round.
        Self::integers_to_double(x, scale)
    }
    #[inline(always)]
    fn widen_single(bits: HalfRow<L>) -> Pair<Row<L>> {
        let wide = |bits: i32| f64::from(single(bits)).to_bits() as i64;
        (each(|l| wide(bits[l][0])), each(|l| wide(bits[l][1])))
    }
    #[inline(always)]
    fn narrow_to_single(re: Row<L>, im: Row<L>) -> HalfRow<L> {
        let narrow = |bits: i64| (f64::from_bits(bits as u64) as f32).to_bits() as i32;
        std::array::from_fn(|l| [narrow(re[l]), narrow(im[l])])
    }

    const FLOOR_BIAS: i64 = 0;
    #[inline(always)]
    fn floor_magnitude(bits: Row<L>, scale: Row<L>) -> Row<L> {
        let float = |x: i64| f64::from_bits(x as u64);
        each(|l| (float(bits[l]).abs() * float(scale[l])) as i64)
    }
    #[inline(always)]
    fn round_scaled(bits: Row<L>, _: Row<L>, unit: Row<L>) -> Row<L> {
        each(|l| round_to_unit(bits[l], unit[l] as i32))
    }
    #[inline(always)]
    fn to_double(high: Row<L>, low: Row<L>, high_scale: Row<L>, low_scale: Row<L>) -> Row<L> {
        let float = |x: i64| f64::from_bits(x as u64);
        // Both products are exact, so that the sum is what rounds; a fused operation would be a call where there is no
        // instruction for it.
        each(|l| {
            let high = high[l] as f64 * float(high_scale[l]);
            let low = low[l] as f64 * float(low_scale[l]);
            (high + low).to_bits() as i64
        })
    }
    #[inline(always)]
    fn to_single(high: Row<L>, low: Row<L>, _: Row<L>, low_scale: Row<L>) -> Row<L> {
        use crate::sample::Real;
        each(|l| {
            let value = (i128::from(high[l]) << super::LOW_BITS) + i128::from(low[l]);
            let exponent = ((low_scale[l] >> 52) - 1023) as i32;
            f64::from(f32::from_fixed(value, exponent)).to_bits() as i64
        })
    }

    #[inline(always)]
    unsafe fn load_neighbours(start: *const f64) -> Pair<Row<L>> {
        // SAFETY: the caller's promise.
        let number = |i: usize| unsafe { start.add(i).read().to_bits() as i64 };
        (each(|l| number(2 * l)), each(|l| number(2 * l + 1)))
    }
    #[inline(always)]
    unsafe fn store_neighbours(start: *mut f64, re: Row<L>, im: Row<L>) {
        for l in 0..L {
            // SAFETY: the caller's promise.
            unsafe {
                start.add(2 * l).write(f64::from_bits(re[l] as u64));
                start.add(2 * l + 1).write(f64::from_bits(im[l] as u64));
            }
        }
    }
    #[inline(always)]
    unsafe fn load_lines(starts: &[*const f64; L], mut element: impl FnMut(usize, Row<L>)) {
        for i in 0..L {
            // SAFETY: the caller's promise.
            element(
                i,
                each(|l| unsafe { starts[l].add(i).read().to_bits() as i64 }),
            );
        }
    }
    #[inline(always)]
    unsafe fn store_lines(starts: &[*mut f64; L], mut element: impl FnMut(usize) -> Row<L>) {
        for i in 0..L {
            let row = element(i);
            for l in 0..L {
                // SAFETY: the caller's promise.
                unsafe { starts[l].add(i).write(f64::from_bits(row[l] as u64)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The mantissa is shifted as one integer, so that what matters is how many bits go, what they are next to a half, and
    // whether the number left is the largest, the smallest or in between; shifts up to 2^62 and down to nothing.
    #[test]
    fn every_shift_rounds_to_nearest_with_halves_away_from_zero() {
        for shift in -80i32..=9 {
            let unit = 1i128 << (-shift).clamp(0, 80);
            let half = unit / 2;
            for whole in [0i128, 1, 2, 3, 1 << 20, (1 << 52) / unit, (1 << 53) / unit] {
                for rest in [-half, 1 - half, -1, 0, 1, half - 1, half, half + 1] {
                    let magnitude = whole * unit + rest;
                    if !(0..1i128 << 53).contains(&magnitude) {
                        continue;
                    }
                    // An integer: its unit is 2^-shift.
                    let number = magnitude as f64;
                    let right = if shift >= 0 {
                        magnitude << shift
                    } else {
                        (2 * magnitude + unit) / (2 * unit)
                    };
                    for (number, right) in [(number, right), (-number, -right)] {
                        let got = round_to_unit(number.to_bits() as i64, -shift);
                        assert_eq!(i128::from(got), right, "{number:e}, shift {shift}");
                    }
                }
            }
        }
        // Subnormal numbers have no leading bit of their own.
        for magnitude in [1u64, 2, 3, (1 << 52) - 1] {
            let bits = magnitude as i64;
            assert_eq!(round_to_unit(bits, -1074), bits);
            assert_eq!(round_to_unit(bits, -1073), (bits + 1) >> 1);
        }
    }
}
