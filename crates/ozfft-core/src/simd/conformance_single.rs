//! Words of 32 bits and single-precision numbers, two a lane, against wider integers and floating-point numbers.

use super::*;
use crate::sample::Real;
use crate::stages::quantise::single_power_bits;
use ozfft_testkit::oracle::inputs::Generator;

#[inline(always)]
fn stored<const L: usize, V: Vectors<L>>(halves: V::Halves) -> HalfRow<L> {
    let mut row = [[0; 2]; L];
    V::store_halves(halves, &mut row);
    row
}

fn random_halves<const L: usize>(mut number: impl FnMut() -> i32) -> HalfRow<L> {
    std::array::from_fn(|_| [number(), number()])
}

/// An integer below 2^`bits` in magnitude: of any length, often beside a power of two.
fn integer(generator: &mut Generator, bits: u32) -> i32 {
    let length = generator.below(bits as usize + 1) as u32;
    let magnitude = match generator.below(3) {
        0 => (1i64 << length) - 1,
        1 => (1i64 << length) >> 1,
        _ => (generator.next_u64() >> 1) as i64 & ((1 << length) - 1),
    };
    if generator.below(2) == 0 {
        magnitude as i32
    } else {
        -magnitude as i32
    }
}

#[inline(always)]
fn integers<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    let a: HalfRow<L> = random_halves(|| generator.next_u64() as i32);
    let b: HalfRow<L> = random_halves(|| generator.next_u64() as i32 >> generator.below(32));
    let (x, y) = (V::load_halves(&a), V::load_halves(&b));
    let both = |f: fn(i32, i32) -> i32| -> HalfRow<L> {
        std::array::from_fn(|lane| [0, 1].map(|part| f(a[lane][part], b[lane][part])))
    };
    assert_eq!(stored::<L, V>(V::and_halves(x, y)), both(|a, b| a & b));
    assert_eq!(stored::<L, V>(V::xor_halves(x, y)), both(|a, b| a ^ b));
    assert_eq!(
        stored::<L, V>(V::maximum_halves(x, y)),
        both(|a, b| if a > b { a } else { b })
    );
    let mixed: HalfRow<L> = std::array::from_fn(|lane| [a[lane][0], b[lane][1]]);
    assert_eq!(stored::<L, V>(V::mix_halves(x, y)), mixed);
    let (re, im) = V::widen_halves(x);
    assert_eq!(lanes_of::<L, V>(re), a.map(|[re, _]| i64::from(re)));
    assert_eq!(lanes_of::<L, V>(im), a.map(|[_, im]| i64::from(im)));
    let words = V::words_of_halves(x);
    let right = a.map(|[re, im]| (i64::from(im) << 32) + i64::from(re as u32));
    assert_eq!(lanes_of::<L, V>(words), right);
    assert_eq!(stored::<L, V>(V::halves_of_words(words)), a);
}

/// Rotations of words of four digits by entries of modulus up to 1.05.
#[inline(always)]
fn rotations<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    let y: HalfRow<L> = random_halves(|| integer(generator, 29));
    let limit = (0.74 * f64::from(1 << 30)) as i32;
    let [real, imaginary] = [0, 1].map(|_| integer(generator, 30).clamp(-limit, limit));
    let found = stored::<L, V>(V::rotate_halves(V::load_halves(&y), real, imaginary));
    let (real, imaginary) = (i128::from(real), i128::from(imaginary));
    for lane in 0..L {
        let [re, im] = y[lane].map(i128::from);
        let rounded = |x: i128| (x + (1 << 29)).div_euclid(1 << 30);
        let right = [
            rounded(re * real - im * imaginary),
            rounded(re * imaginary + im * real),
        ];
        assert_eq!(
            found[lane].map(i128::from),
            right,
            "{:?} by {real}, {imaginary}",
            y[lane]
        );
    }
}

fn power(exponent: i32) -> f32 {
    match single_power_bits(exponent) {
        Some(bits) => f32::from_bits(bits as u32),
        None => panic!("2^{exponent} is no normal number"),
    }
}

/// A number of at most `2^bits` units: beside halves and integers, tiny, or any.
fn number_near(generator: &mut Generator, unit: i32, bits: u32) -> f32 {
    let unit_value = f64::from(power(unit));
    let number = match generator.below(6) {
        0 => f64::from(f32::from_bits(generator.below(1 << 24) as u32)),
        1 => generator.uniform() * unit_value,
        2..=4 => f64::from(integer(generator, bits.min(24))) * unit_value / 2.0,
        _ => generator.uniform() * unit_value * f64::from(1u32 << generator.below(bits as usize)),
    };
    // The largest subnormal numbers may be above what the unit allows.
    let number = if number.abs() < unit_value * f64::from(1u32 << bits) {
        number as f32
    } else {
        0.0
    };
    match generator.below(3) {
        0 => number,
        1 => number.next_up(),
        _ => number.next_down(),
    }
}

/// `|number| / 2^unit`, cut off, doubled first: exact in double precision, which has room for it.
fn doubled_floor(number: f32, unit: i32) -> i64 {
    (f64::from(number).abs() * 2.0 * f64::from(-unit).exp2()).floor() as i64
}

#[inline(always)]
fn to_words<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    let units: [i32; L] = std::array::from_fn(|_| match generator.below(3) {
        0 => [-126, -1, 0, 1, 90][generator.below(5)],
        _ => generator.below(216) as i32 - 126,
    });
    let scales: HalfRow<L> = units.map(|unit| [power(-unit).to_bits() as i32; 2]);
    let scale = V::load_halves(&scales);
    let numbers = |generator: &mut Generator, bits: u32| -> [[f32; 2]; L] {
        units.map(|unit| [0, 1].map(|_| number_near(generator, unit, bits)))
    };
    let bits = |numbers: &[[f32; 2]; L]| numbers.map(|pair| pair.map(|x| x.to_bits() as i32));

    let given = numbers(generator, 21);
    let found = V::floor_magnitude_single(V::load_halves(&bits(&given)), scale);
    let found = stored::<L, V>(found);
    for lane in 0..L {
        for part in 0..2 {
            let floor = found[lane][part].wrapping_sub(V::FLOOR_SINGLE_BIAS);
            let right = doubled_floor(given[lane][part], units[lane]) >> 1;
            assert_eq!(
                i64::from(floor),
                right,
                "floor of {:e} in units of 2^{}",
                given[lane][part],
                units[lane]
            );
        }
    }

    let given = numbers(generator, 29);
    let found = V::round_scaled_single(V::load_halves(&bits(&given)), scale);
    let found = stored::<L, V>(found);
    for lane in 0..L {
        for part in 0..2 {
            let number = given[lane][part];
            let magnitude = (doubled_floor(number, units[lane]) + 1) >> 1;
            let right = if number < 0.0 { -magnitude } else { magnitude };
            assert_eq!(
                i64::from(found[lane][part]),
                right,
                "{number:e} in units of 2^{}",
                units[lane]
            );
        }
    }
}

#[inline(always)]
fn to_floats<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    let words: HalfRow<L> = random_halves(|| integer(generator, 31));
    // Up to results beyond the largest number.
    let exponents: [i32; L] = std::array::from_fn(|_| generator.below(254) as i32 - 126);
    let scales: HalfRow<L> = exponents.map(|exponent| [power(exponent).to_bits() as i32; 2]);
    let found = V::integers_to_single(V::load_halves(&words), V::load_halves(&scales));
    let found = stored::<L, V>(found);
    for lane in 0..L {
        for part in 0..2 {
            let right = f32::from_fixed(i128::from(words[lane][part]), exponents[lane]);
            assert_eq!(found[lane][part] as u32, right.to_bits());
        }
    }

    let exponents: [i32; L] = std::array::from_fn(|_| generator.below(1800) as i32 - 900);
    let long: Row<L> = std::array::from_fn(|_| {
        let magnitude = (generator.next_u64() >> (14 + generator.below(50))) as i64;
        if generator.below(2) == 0 {
            magnitude
        } else {
            -magnitude
        }
    });
    let scales: Row<L> = exponents.map(crate::stages::quantise::power_bits);
    let found = lanes_of::<L, V>(V::integers_to_double(V::load(&long), V::load(&scales)));
    for lane in 0..L {
        let right = f64::from_fixed(i128::from(long[lane]), exponents[lane]);
        assert_eq!(found[lane] as u64, right.to_bits(), "{}", long[lane]);
    }
}

/// Numbers of one precision as numbers of the other.
#[inline(always)]
fn precisions<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    let singles: HalfRow<L> = random_halves(|| {
        let bits = generator.next_u64() as u32;
        // Quiet NaNs stay NaN, which is all that is asked; finite numbers and infinities are compared.
        let number = f32::from_bits(bits);
        if number.is_nan() {
            f32::INFINITY.to_bits() as i32
        } else {
            bits as i32
        }
    });
    let (re, im) = V::widen_single(V::load_halves(&singles));
    let (re, im) = (lanes_of::<L, V>(re), lanes_of::<L, V>(im));
    for lane in 0..L {
        let right = singles[lane].map(|bits| f64::from(f32::from_bits(bits as u32)).to_bits());
        assert_eq!([re[lane] as u64, im[lane] as u64], right);
    }
    assert_eq!(
        stored::<L, V>(V::narrow_to_single(V::load(&re), V::load(&im))),
        singles
    );
    // Beside the middle between two numbers, in the subnormal range too, and beyond the largest.
    let mut double = || {
        let exponent = generator.below(320) as i32 - 160;
        let value = f64::from(integer(generator, 26)) * f64::from(exponent).exp2();
        match generator.below(3) {
            0 => value,
            1 => value.next_up(),
            _ => value.next_down(),
        }
    };
    let doubles: [[f64; 2]; L] = std::array::from_fn(|_| [double(), double()]);
    let part = |part: usize| doubles.map(|pair| pair[part].to_bits() as i64);
    let found = V::narrow_to_single(V::load(&part(0)), V::load(&part(1)));
    let right = doubles.map(|pair| pair.map(|x| (x as f32).to_bits() as i32));
    assert_eq!(stored::<L, V>(found), right, "{doubles:?}");
}

#[inline(always)]
pub(super) fn suite<const L: usize, V: Vectors<L>>(generator: &mut Generator, rows: usize) {
    for _ in 0..rows {
        integers::<L, V>(generator);
        rotations::<L, V>(generator);
        to_words::<L, V>(generator);
        to_floats::<L, V>(generator);
        precisions::<L, V>(generator);
    }
}
