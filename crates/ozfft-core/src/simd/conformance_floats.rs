//! Both ends of the integers: floating-point numbers rounded to words, wide integers rounded to floating-point numbers.

use super::*;
use crate::sample::Real;
use crate::stages::quantise::{is_moderate, power_bits};
use ozfft_testkit::oracle::inputs::Generator;

/// Magnitude of a finite number as `significand · 2^exponent`.
fn parts(number: f64) -> (u64, i32) {
    let bits = number.to_bits() & !(1 << 63);
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if field == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, field - 1075)
    }
}

/// `⌊2·|number|·2^-unit⌋`, and whether something was cut off; the result fits by the caller's choice of numbers.
fn doubled_floor(number: f64, unit: i32) -> u128 {
    let (significand, exponent) = parts(number);
    let shift = exponent - unit + 1;
    if shift >= 0 {
        u128::from(significand) << shift
    } else if shift > -128 {
        u128::from(significand) >> -shift
    } else {
        0
    }
}

/// A number whose magnitude in the unit is below 2^`bits`: often just beside an integer or a half, sometimes tiny.
fn number_near(generator: &mut Generator, unit: i32, bits: u32) -> f64 {
    let sign = if generator.below(2) == 0 { 1.0 } else { -1.0 };
    let power = |exponent: i32| f64::from_bits(power_bits(exponent) as u64);
    let magnitude = match generator.below(8) {
        0 => [0.0, f64::from_bits(1), f64::MIN_POSITIVE, power(unit - 60)][generator.below(4)],
        1 => generator.uniform().abs() * power(unit - 1),
        2 => generator.uniform().abs() * power(unit + 1),
        3..=5 => {
            // Halves and integers, and their neighbours: the last bit of the number decides.
            let length = 1 + generator.below(bits as usize - 1);
            let halves = generator.next_u64() >> (64 - length);
            let number = halves as f64 * power(unit - 1);
            match generator.below(3) {
                0 => number,
                1 => number.next_up(),
                _ => number.next_down().max(0.0),
            }
        }
        _ => generator.uniform().abs() * power(unit + generator.below(bits as usize) as i32),
    };
    // Rounded up to the next power of two it would be out of the range that is promised.
    sign * magnitude.min(power(unit + bits as i32).next_down())
}

fn random_unit(generator: &mut Generator) -> i32 {
    match generator.below(4) {
        0 => [-900, -899, -1, 0, 1, 899][generator.below(6)],
        _ => generator.below(1800) as i32 - 900,
    }
}

#[inline(always)]
fn to_words<const L: usize, V: Vectors<L>>(generator: &mut Generator, rows: usize) {
    for _ in 0..rows {
        let units: [i32; L] = std::array::from_fn(|_| random_unit(generator));
        let scale: Row<L> = units.map(|unit| power_bits(-unit));
        let unit: Row<L> = units.map(i64::from);
        let bits = |numbers: &[f64; L]| numbers.map(|number| number.to_bits() as i64);

        let numbers: [f64; L] = std::array::from_fn(|lane| number_near(generator, units[lane], 31));
        let found = V::floor_magnitude(V::load(&bits(&numbers)), V::load(&scale));
        let found = lanes_of::<L, V>(found).map(|word| word.wrapping_sub(V::FLOOR_BIAS));
        let right: Row<L> =
            std::array::from_fn(|lane| (doubled_floor(numbers[lane], units[lane]) >> 1) as i64);
        assert_eq!(found, right, "floor of {numbers:?} in units {units:?}");

        let numbers: [f64; L] = std::array::from_fn(|lane| number_near(generator, units[lane], 62));
        let found = V::round_scaled(V::load(&bits(&numbers)), V::load(&scale), V::load(&unit));
        let right: Row<L> = std::array::from_fn(|lane| {
            let magnitude = doubled_floor(numbers[lane], units[lane]).div_ceil(2) as i64;
            if numbers[lane] < 0.0 {
                -magnitude
            } else {
                magnitude
            }
        });
        assert_eq!(
            lanes_of::<L, V>(found),
            right,
            "{numbers:?} in units {units:?}"
        );
    }
}

/// A wide integer that is hard to round to `precision` bits: at a tie, or off it by one unit, or a random one.
fn hard_value(generator: &mut Generator, precision: u32) -> i128 {
    let magnitude = match generator.below(8) {
        0 => [0, 1, 2, (1 << 25) - 1, 1 << 25, (1 << 74) - 1][generator.below(6)],
        1 => i128::from(generator.next_u64() >> generator.below(64)),
        2 => i128::from(generator.next_u64()) << generator.below(10) | 1,
        3 => {
            // All ones: rounding carries to the next power of two.
            let length = precision + 1 + generator.below(74 - precision as usize - 1) as u32;
            (1 << length) - 1 - i128::from(generator.below(2) as u32)
        }
        _ => {
            let dropped = 1 + generator.below(74 - precision as usize);
            let kept = i128::from(generator.next_u64() >> (64 - precision) | 1 << (precision - 1));
            let tie = (kept << dropped) | 1 << (dropped - 1);
            tie + [-1, 0, 0, 1][generator.below(4)]
        }
    };
    if generator.below(2) == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// High and low parts of a value; the low part may be out of its own range, even negative, as long as it stays below 2^50.
fn wide_parts(generator: &mut Generator, value: i128) -> (i64, i64) {
    let high = (value >> LOW_BITS) as i64;
    let most = match generator.below(4) {
        0 => 1,
        1 => 4,
        2 => 1 << 10,
        _ => (1 << 24) - 1,
    };
    let moved = generator.below(2 * most + 1) as i64 - most as i64;
    let largest = (1i64 << 50) - 1;
    let high = (high + moved).clamp(-largest, largest);
    let low = value - (i128::from(high) << LOW_BITS);
    // At the very end of the range moving is not possible.
    if low.unsigned_abs() >= 1 << 50 {
        return (
            (value >> LOW_BITS) as i64,
            (value & ((1 << LOW_BITS) - 1)) as i64,
        );
    }
    (high, low as i64)
}

#[inline(always)]
fn to_floats<const L: usize, V: Vectors<L>>(generator: &mut Generator, rows: usize) {
    for round in 0..rows {
        let single = round % 2 == 1;
        let precision = if single { 24 } else { 53 };
        let values: [i128; L] = std::array::from_fn(|_| hard_value(generator, precision));
        let exponents: [i32; L] = std::array::from_fn(|lane| {
            let length = 128 - values[lane].unsigned_abs().leading_zeros() as i32;
            match generator.below(4) {
                // Around the largest number, and in and below the subnormal numbers, of single precision.
                0 if single => 128 - length + generator.below(5) as i32 - 2,
                1 if single => -126 - length - generator.below(30) as i32 + 2,
                2 if single => generator.below(400) as i32 - 200,
                _ => random_unit(generator),
            }
        });
        assert!(exponents.iter().all(|&exponent| is_moderate(exponent)));
        let pairs: [(i64, i64); L] = values.map(|value| wide_parts(generator, value));
        let (high, low) = (pairs.map(|(high, _)| high), pairs.map(|(_, low)| low));
        let high_scale = exponents.map(|exponent| power_bits(exponent + LOW_BITS as i32));
        let low_scale = exponents.map(power_bits);
        let (found_high, found_low) = (V::load(&high), V::load(&low));
        let (high_scale, low_scale) = (V::load(&high_scale), V::load(&low_scale));
        let found = if single {
            V::to_single(found_high, found_low, high_scale, low_scale)
        } else {
            V::to_double(found_high, found_low, high_scale, low_scale)
        };
        let found = lanes_of::<L, V>(found);
        for lane in 0..L {
            let (value, exponent) = (values[lane], exponents[lane]);
            let right = if single {
                f64::from(f32::from_fixed(value, exponent))
            } else {
                f64::from_fixed(value, exponent)
            };
            let (high, low) = (high[lane], low[lane]);
            assert_eq!(
                found[lane] as u64,
                right.to_bits(),
                "{high}·2^25 + {low} = {value:#x} times 2^{exponent}, single {single}: {:e} for {right:e}",
                f64::from_bits(found[lane] as u64)
            );
        }
    }
}

/// Words of all lengths, often at a tie or beside one, as double-precision numbers.
#[inline(always)]
fn words_to_floats<const L: usize, V: Vectors<L>>(generator: &mut Generator, rows: usize) {
    for _ in 0..rows {
        let words: Row<L> = std::array::from_fn(|_| match generator.below(8) {
            0 => [0, 1, -1, i64::MAX, i64::MIN, i64::MIN + 1][generator.below(6)],
            1 => {
                // Where a half ends.
                let upper = (generator.next_u64() as i64) << 32;
                upper + [-1, 0, 1, i64::from(i32::MAX)][generator.below(4)]
            }
            _ => (hard_value(generator, 53) >> generator.below(12)) as i64,
        });
        let exponents: [i32; L] = std::array::from_fn(|_| random_unit(generator));
        let scales = exponents.map(power_bits);
        let found = lanes_of::<L, V>(V::words_to_double(V::load(&words), V::load(&scales)));
        for lane in 0..L {
            let (word, exponent) = (words[lane], exponents[lane]);
            let right = f64::from_fixed(i128::from(word), exponent);
            assert_eq!(
                found[lane] as u64,
                right.to_bits(),
                "{word:#x} times 2^{exponent}: {:e} for {right:e}",
                f64::from_bits(found[lane] as u64)
            );
        }
    }
}

#[inline(always)]
pub(super) fn suite<const L: usize, V: Vectors<L>>(generator: &mut Generator, rows: usize) {
    to_words::<L, V>(generator, rows);
    to_floats::<L, V>(generator, 2 * rows);
    words_to_floats::<L, V>(generator, rows);
}
