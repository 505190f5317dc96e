//! Convolutions and products against sums by the definition, and against another crate's big integers.
//!
//! Ten thousand random and hostile cases; `OZFFT_EVERYTHING=1` (`./run-tests --everything`) takes a million.

use exact_convolution::{
    Convolution, ConvolutionError, GaussianConvolution, LongInteger, Operand, Output, Route, Unit,
    Which, Wrap, convolve, convolve_cyclic, convolve_shaped, correlate, correlate_cyclic, decimal,
    limbs_proof, multiply_decimal, multiply_limbs, multiply_limbs_on, multiply_polynomials,
};
use num_bigint::{BigInt, BigUint};
use ozfft_testkit::everything;
use ozfft_testkit::oracle::inputs::Generator;

const SEED: u64 = 20261117;

fn cases() -> usize {
    match everything() {
        true => 1_000_000,
        false => 10_000,
    }
}

/// Lengths at and around what some route or transform changes at, most of them short.
fn length(generator: &mut Generator) -> usize {
    let around = [1, 8, 16, 24, 32, 40, 48, 64, 96, 128, 160, 224, 256];
    match generator.below(100) {
        0 => [512, 640, 768, 1024, 1500][generator.below(5)] + generator.below(3),
        1..=20 => 1 + generator.below(300),
        _ => (around[generator.below(around.len())] + generator.below(3))
            .saturating_sub(1)
            .max(1),
    }
}

/// Numbers of a type: random, extreme, alternating, sparse, ones, or of few bits.
fn numbers<A: Operand + TryFrom<i128>>(generator: &mut Generator, count: usize) -> Vec<A> {
    let largest = A::LARGEST as i128;
    let (low, high) = match A::SIGNED {
        true => (-largest, largest - 1),
        false => (0, largest),
    };
    let kind = generator.below(7);
    let bits = generator.below(64) as u32;
    let mut one = |k: usize| {
        let random =
            low + ((u128::from(generator.next_u64()) * (high - low + 1) as u128) >> 64) as i128;
        match kind {
            0 => random,
            1 => high,
            2 => low,
            3 if k.is_multiple_of(2) => high,
            3 => low,
            4 if random % 8 == 0 => random,
            4 => 0,
            5 => 1,
            _ => random >> bits.min(127),
        }
    };
    let fits = |value: i128| A::try_from(value).unwrap_or_else(|_| panic!("{value} fits"));
    (0..count).map(|k| fits(one(k))).collect()
}

/// By the definition, modulo 2^128.
fn expected<A: Operand, B: Operand>(a: &[A], b: &[B], cyclic: Option<usize>) -> Vec<i128> {
    let length = cyclic.unwrap_or(a.len() + b.len() - 1);
    let mut sums = vec![0i128; length];
    let b: Vec<i128> = b.iter().map(|y| value(*y)).collect();
    for (i, x) in a.iter().enumerate() {
        let x = value(*x);
        for (j, y) in b.iter().enumerate() {
            let place = (i + j) % length;
            sums[place] = sums[place].wrapping_add(x.wrapping_mul(*y));
        }
    }
    sums
}

/// Without the crate's own conversions.
fn value<A: Operand>(number: A) -> i128 {
    let any: &dyn std::any::Any = &number;
    macro_rules! first {
        ($($type:ty)*) => {$(if let Some(number) = any.downcast_ref::<$type>() { return (*number).into(); })*};
    }
    first!(i8 i16 i32 i64 u8 u16 u32 u64);
    unreachable!("these are all operands")
}

fn compare<A: Operand + TryFrom<i128>, B: Operand + TryFrom<i128>>(
    generator: &mut Generator,
    name: &str,
) -> usize {
    let (first, second) = (length(generator), length(generator));
    let cyclic = generator.below(3) == 0;
    let second = if cyclic { first } else { second };
    let a = numbers::<A>(generator, first);
    let b = numbers::<B>(generator, second);
    let problem = match cyclic {
        true => Convolution::cyclic(first),
        false => Convolution::linear(first, second),
    };
    let units = Unit::available();
    let problem = problem
        .types::<A, B>()
        .unit(units[generator.below(units.len())]);
    let problem = match generator.below(3) {
        0 => problem.route(Route::Direct),
        // Only where so many primes prove it.
        1 => problem.route(Route::Ntt {
            primes: 1 + generator.below(6),
        }),
        _ => problem,
    };
    let plan = match problem.plan() {
        Ok(plan) => plan,
        Err(ConvolutionError::Route(_) | ConvolutionError::ResultMayNotFit { .. }) => return 0,
        Err(error) => panic!("{error}"),
    };
    let expected = expected(&a, &b, cyclic.then_some(first));
    let wrong = |what: &str| format!("seed {SEED}, {name}, {what}: {plan}");
    match plan.process::<A, B, i128>(&a, &b) {
        Ok(results) => assert!(results == expected, "{}", wrong("i128")),
        Err(ConvolutionError::ResultMayNotFit { .. }) => return 0,
        Err(error) => panic!("{error}"),
    }
    if plan.fits::<i64>().is_ok() {
        let results: Vec<i64> = plan.process(&a, &b).unwrap();
        let results: Vec<i128> = results.into_iter().map(i128::from).collect();
        assert!(results == expected, "{}", wrong("i64"));
    }
    1
}

#[test]
fn convolutions_of_all_types_are_exact_in_ten_thousand_cases() {
    let mut generator = Generator::new(SEED);
    println!("seed {SEED}");
    let (mut compared, mut asked) = (0, 0);
    while compared < cases() {
        asked += 1;
        compared += match asked % 10 {
            0 => compare::<i8, i8>(&mut generator, "i8 i8"),
            1 => compare::<u8, i8>(&mut generator, "u8 i8"),
            2 => compare::<i16, i16>(&mut generator, "i16 i16"),
            3 => compare::<u16, u32>(&mut generator, "u16 u32"),
            4 => compare::<i32, i32>(&mut generator, "i32 i32"),
            5 => compare::<u32, u32>(&mut generator, "u32 u32"),
            6 => compare::<i64, i32>(&mut generator, "i64 i32"),
            7 => compare::<i16, u64>(&mut generator, "i16 u64"),
            8 => compare::<i64, i64>(&mut generator, "i64 i64"),
            _ => compare::<u64, i8>(&mut generator, "u64 i8"),
        };
        assert!(asked < 20 * cases(), "most cases are rejected");
    }
}

fn big(limbs: &[u64]) -> BigUint {
    let halves = limbs
        .iter()
        .flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
    BigUint::new(halves.collect())
}

/// Random limbs, all ones, runs of ones and zeros (carries), a single bit.
fn limbs(generator: &mut Generator, count: usize) -> Vec<u64> {
    let kind = generator.below(5);
    let mut one = |k: usize| match kind {
        0 => generator.next_u64(),
        1 => u64::MAX,
        2 if generator.below(8) < 4 => u64::MAX,
        2 => 0,
        3 => u64::MAX << generator.below(64),
        _ => u64::from(k + 1 == count) << 63,
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn products_of_long_integers_are_those_of_another_crate() {
    let mut generator = Generator::new(SEED);
    println!("seed {SEED}");
    let units = Unit::available();
    for case in 0..cases() / 20 {
        let mut count = || match generator.below(20) {
            0 => generator.below(4),
            1 => 1000 + generator.below(1000),
            _ => 100 + generator.below(150),
        };
        let (first, second) = (count(), count());
        let a = limbs(&mut generator, first);
        let b = match generator.below(8) {
            0 => a.clone(),
            _ => limbs(&mut generator, second),
        };
        let unit = units[case % units.len()];
        let product = multiply_limbs_on(unit, &a, &b);
        assert_eq!(product.len(), a.len() + b.len());
        assert!(
            big(&product) == big(&a) * big(&b),
            "seed {SEED}, case {case}, {unit}: {first} by {second} limbs"
        );
    }
    // One much longer than the other, and lengths on both sides of every number of eighths of a transform.
    for (first, second) in [(20_000, 60), (60, 20_000), (9_000, 500)] {
        let (a, b) = (limbs(&mut generator, first), limbs(&mut generator, second));
        assert!(
            big(&multiply_limbs(&a, &b)) == big(&a) * big(&b),
            "{first} by {second}"
        );
    }
    for eighths in 4..=8 {
        for unit in &units {
            for extra in [0, 1] {
                let half = eighths * 128 + extra;
                let a = vec![u64::MAX; half];
                let b = limbs(&mut generator, half);
                let product = multiply_limbs_on(*unit, &a, &b);
                assert!(big(&product) == big(&a) * big(&b), "{half} limbs on {unit}");
            }
        }
    }
}

#[test]
fn all_units_agree_on_a_product_of_a_million_digits() {
    let mut generator = Generator::new(SEED);
    let (a, b) = (limbs(&mut generator, 52_000), vec![u64::MAX; 51_000]);
    let products: Vec<_> = Unit::available()
        .iter()
        .map(|&unit| multiply_limbs_on(unit, &a, &b))
        .collect();
    assert!(products.windows(2).all(|pair| pair[0] == pair[1]));
    // a·(2^m - 1) = a·2^m - a, which needs no product.
    let shifted = (big(&a) << (64 * b.len())) - big(&a);
    assert!(big(&products[0]) == shifted);
}

#[test]
fn decimal_products_and_conversions_are_those_of_another_crate() {
    let mut generator = Generator::new(SEED);
    for count in [0, 1, 2, 63, 64, 65, 129, 300, 1025] {
        let a = limbs(&mut generator, count);
        let digits = decimal::from_limbs(&a);
        assert_eq!(decimal::text(&digits), big(&a).to_string(), "{count} limbs");
        let (parsed, negative) = decimal::parse(&format!("-{}", big(&a))).unwrap();
        assert!(parsed == digits && negative);
        let (parsed, _) = decimal::parse(&format!("0x{:x}", big(&a))).unwrap();
        assert!(parsed == digits);
        let nines = vec![999_999_999; count];
        let product = multiply_decimal(&nines, &digits);
        let expected = (BigUint::from(10u32).pow(9 * count as u32) - 1u32) * big(&a);
        assert_eq!(
            decimal::text(&product),
            expected.to_string(),
            "{count} limbs"
        );
    }
}

#[test]
fn polynomials_modulo_a_number_are_exact() {
    let mut generator = Generator::new(SEED);
    let moduli = [
        1,
        2,
        3,
        998_244_353,
        1 << 32,
        (1 << 61) - 1,
        1 << 63,
        u64::MAX,
    ];
    for case in 0..400 {
        let modulus = match case % 10 {
            k @ 0..8 => moduli[k],
            _ => generator.next_u64() >> generator.below(63) | 1,
        };
        let (first, second) = (1 + generator.below(150), 1 + generator.below(150));
        let mut draw = |count: usize| -> Vec<u64> {
            let largest = generator.below(2) == 0;
            let mut one = || {
                if largest {
                    u64::MAX - 1
                } else {
                    generator.next_u64()
                }
            };
            (0..count).map(|_| one()).collect()
        };
        let (a, b) = (draw(first), draw(second));
        let mut expected = vec![0u128; first + second - 1];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let product = u128::from(x) * u128::from(y) % u128::from(modulus);
                expected[i + j] = (expected[i + j] + product) % u128::from(modulus);
            }
        }
        let product = multiply_polynomials(&a, &b, modulus).unwrap();
        let product: Vec<u128> = product.into_iter().map(u128::from).collect();
        assert!(
            product == expected,
            "seed {SEED}, case {case}: {first} by {second} modulo {modulus}"
        );
    }
}

#[test]
fn long_and_unequal_convolutions_take_pieces_and_stay_exact() {
    let mut generator = Generator::new(SEED);
    for (first, second) in [(30_000, 200), (200, 30_000), (5_000, 4_999), (70_000, 1)] {
        let a = numbers::<i32>(&mut generator, first);
        let b = numbers::<i16>(&mut generator, second);
        let results: Vec<i64> = convolve(&a, &b).unwrap();
        let results: Vec<i128> = results.into_iter().map(i128::from).collect();
        assert!(results == expected(&a, &b, None), "{first} by {second}");
        if first == 5_000 {
            // Cyclic lengths that are no power of two wrap around afterwards.
            let b = numbers::<i16>(&mut generator, first);
            let results: Vec<i128> = convolve_cyclic(&a, &b).unwrap();
            assert!(results == expected(&a, &b, Some(first)));
        }
    }
}

#[test]
fn correlations_are_convolutions_with_the_reversed_operand() {
    let mut generator = Generator::new(SEED);
    for (first, second) in [(1, 1), (5, 3), (300, 300)] {
        let a = numbers::<i16>(&mut generator, first);
        let b = numbers::<i16>(&mut generator, second);
        let results: Vec<i64> = correlate(&a, &b).unwrap();
        for (k, &result) in results.iter().enumerate() {
            let term = |i: usize| {
                let place = (i + k).checked_sub(second - 1)?;
                Some(i64::from(*a.get(place)?) * i64::from(b[i]))
            };
            let expected: i64 = (0..second).filter_map(term).sum();
            assert_eq!(result, expected);
        }
        let b = numbers::<i16>(&mut generator, first);
        let results: Vec<i64> = correlate_cyclic(&a, &b).unwrap();
        for (k, &result) in results.iter().enumerate() {
            let term = |i: usize| i64::from(a[(i + k) % first]) * i64::from(b[i]);
            assert_eq!(result, (0..first).map(term).sum::<i64>());
        }
    }
}

#[test]
fn arrays_of_several_dimensions_are_exact() {
    let mut generator = Generator::new(SEED);
    let shapes: [(&[usize], &[usize]); 5] = [
        (&[7], &[3]),
        (&[5, 6], &[4, 3]),
        (&[20, 30], &[15, 30]),
        (&[3, 4, 5], &[2, 1, 5]),
        (&[2, 3, 2, 9], &[3, 2, 2, 8]),
    ];
    for (first, second) in shapes {
        let a = numbers::<i32>(&mut generator, first.iter().product());
        let b = numbers::<u8>(&mut generator, second.iter().product());
        let results: Vec<i64> = convolve_shaped((&a, first), (&b, second)).unwrap();
        let whole: Vec<usize> = first.iter().zip(second).map(|(m, n)| m + n - 1).collect();
        let mut expected = vec![0i64; whole.iter().product()];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let (mut place, mut stride, mut i, mut j) = (0, 1, i, j);
                for axis in (0..whole.len()).rev() {
                    place += (i % first[axis] + j % second[axis]) * stride;
                    i /= first[axis];
                    j /= second[axis];
                    stride *= whole[axis];
                }
                expected[place] += i64::from(*x) * i64::from(*y);
            }
        }
        assert!(results == expected, "{first:?} by {second:?}");
    }
}

#[test]
fn batches_are_single_convolutions_side_by_side() {
    let mut generator = Generator::new(SEED);
    let (count, first, second) = (5, 90, 80);
    let a = numbers::<i16>(&mut generator, count * first);
    let b = numbers::<i16>(&mut generator, count * second);
    let problem = Convolution::linear(first, second).types::<i16, i16>();
    let batch = problem.clone().batch(count).plan().unwrap();
    let one = problem.plan().unwrap();
    let all: Vec<i64> = batch.process(&a, &b).unwrap();
    let shared: Vec<i64> = batch.process(&a, &b[..second]).unwrap();
    for k in 0..count {
        let a = &a[k * first..][..first];
        let place = k * one.output_len()..(k + 1) * one.output_len();
        let expected: Vec<i64> = one.process(a, &b[k * second..][..second]).unwrap();
        assert!(all[place.clone()] == expected);
        let expected: Vec<i64> = one.process(a, &b[..second]).unwrap();
        assert!(shared[place] == expected);
    }
}

#[test]
fn plans_prove_what_they_promise() {
    for length in [1, 10, 100, 1_000, 100_000, 10_000_000] {
        for (first, second) in [
            (127, 127),
            (1 << 15, 1),
            (u128::from(u64::MAX >> 20), 1 << 31),
        ] {
            let plan = Convolution::linear(length, length)
                .magnitudes(first, second)
                .plan();
            let plan = plan.unwrap();
            let proof = plan.proof();
            let bound = first * second * length as u128;
            assert_eq!(proof.bound(), Some(bound));
            match plan.route() {
                Route::Ntt { .. } => {
                    let modulus = proof.modulus_bits().unwrap();
                    // 2^modulus > 4·bound, without a number of more than 128 bits.
                    assert!(modulus >= 2 + u128::BITS - bound.leading_zeros());
                    assert!(plan.to_string().contains(&format!("above 2^{modulus}")));
                }
                _ => assert!(length <= 256, "{plan}"),
            }
            assert!(plan.to_string().contains(&bound.to_string()));
        }
    }
    let (route, proof) = limbs_proof(1 << 20, 1 << 22);
    assert_eq!(route, Route::Ntt { primes: 3 });
    assert!(proof.bits() <= proof.modulus_bits().unwrap());
}

#[test]
fn what_cannot_be_proven_is_rejected_and_nothing_is_written() {
    let large = [i64::MAX; 3];
    let error = convolve::<_, _, i64>(&large, &large).unwrap_err();
    assert!(error.to_string().contains("i64") && error.to_string().contains("wider type"));
    assert!(convolve::<_, _, i128>(&large, &large).is_err());
    assert!(convolve::<_, _, i128>(&large[..1], &large).is_ok());
    let plan = Convolution::linear(3, 2).magnitudes(10, 10).plan().unwrap();
    let mut results = [7i32; 4];
    let error = plan.process_into(&[1i8, 11, 3], &[1i8, 1], &mut results);
    let expected = ConvolutionError::OperandTooLarge {
        which: Which::First,
        index: 1,
        magnitude: 11,
        declared: 10,
    };
    assert_eq!(error, Err(expected));
    assert_eq!(results, [7; 4]);
    let error = plan.process_into(&[1i8, 1, 1], &[1i8, -1], &mut [0u32; 4]);
    assert!(matches!(
        error,
        Err(ConvolutionError::MayBeNegative { index: 1, .. })
    ));
    assert!(matches!(
        plan.process::<i8, i8, i32>(&[1], &[1, 1]),
        Err(ConvolutionError::Length { expected: 3, .. })
    ));
    assert_eq!(
        plan.process::<i8, i8, i16>(&[1, 2, 3], &[1, 1]),
        Ok(vec![1, 3, 5, 3])
    );
    assert!(plan.fits::<i8>().is_err() && plan.fits::<u8>().is_ok());
    assert!(matches!(
        Convolution::linear(0, 2).plan(),
        Err(ConvolutionError::Empty {
            which: Which::First
        })
    ));
    assert!(matches!(
        convolve_cyclic::<_, _, i64>(&[1i8, 2], &[1i8]),
        Err(ConvolutionError::Length { .. })
    ));
    for (length, batch) in [(usize::MAX, 1), (1 << 20, usize::MAX / 4)] {
        let problem = Convolution::linear(length, length)
            .magnitudes(1, 1)
            .batch(batch);
        assert!(matches!(problem.plan(), Err(ConvolutionError::Shape(_))));
    }
    assert!(multiply_polynomials(&[1], &[1], 0).is_err());
    assert!(multiply_polynomials(&[], &[1], 5).is_err());
    let few = Convolution::linear(1 << 20, 1 << 20).magnitudes(1 << 30, 1 << 30);
    let error = few
        .clone()
        .route(Route::Ntt { primes: 2 })
        .plan()
        .unwrap_err();
    assert!(error.to_string().contains("take 3 to 6"), "{error}");
    let shapes: (&[usize], &[usize]) = (&[2, 2], &[4]);
    assert!(convolve_shaped::<i8, i8, i64>((&[0; 4], shapes.0), (&[0; 4], shapes.1)).is_err());
    assert!(convolve_shaped::<i8, i8, i64>((&[0; 4], &[3]), (&[0; 4], &[4])).is_err());
}

/// Types of results besides those of the other tests.
#[test]
fn results_of_every_type_are_exact() {
    fn check<R: Output>(expected: [R; 3]) {
        let results: Vec<R> = convolve(&[2u8, 3], &[4u8, 5]).unwrap();
        assert_eq!(results, expected);
    }
    check([8i8, 22, 15]);
    check([8u8, 22, 15]);
    check([8i16, 22, 15]);
    check([8u16, 22, 15]);
    check([8i32, 22, 15]);
    check([8u32, 22, 15]);
    check([8i64, 22, 15]);
    check([8u64, 22, 15]);
    check([8i128, 22, 15]);
    check([8u128, 22, 15]);
    let long = vec![u64::MAX; 1];
    let results: Vec<u128> = convolve(&long, &vec![u64::MAX; 200]).unwrap();
    assert!(results.iter().all(|&x| x == u128::from(u64::MAX).pow(2)));
    // Above 2^63 and 2^127, without sign.
    let results: Vec<u64> = convolve(&[1u32 << 31; 2], &vec![1u32 << 31; 300]).unwrap();
    assert_eq!(results[5], 1 << 63);
}

fn long(number: LongInteger) -> BigInt {
    let limbs = [number.low, number.middle].into_iter().rev();
    limbs.fold(BigInt::from(number.high), |sum, limb| (sum << 64) + limb)
}

/// Random Gaussian integers of up to so many bits; all as large as can be, or few that are not zero, in some cases.
fn gaussian(generator: &mut Generator, length: usize, bits: u32) -> Vec<(i128, i128)> {
    let kind = generator.below(4);
    let mut part = || {
        let random =
            (u128::from(generator.next_u64()) << 64 | u128::from(generator.next_u64())) as i128;
        let largest = 1i128 << bits;
        match kind {
            0 if random & 1 == 0 => largest,
            0 => -largest,
            1 if random & 7 != 0 => 0,
            _ => random % (largest + 1),
        }
    };
    (0..length).map(|_| (part(), part())).collect()
}

/// By the definition, in another crate's integers.
fn wrapped_sum(a: &[(i128, i128)], b: &[(i128, i128)], wrap: Wrap, place: usize) -> [BigInt; 2] {
    let length = a.len();
    let mut sums = [BigInt::from(0), BigInt::from(0)];
    for (j, &(re, im)) in a.iter().enumerate() {
        let (x, y) = b[(place + length - j) % length];
        let negative = wrap == Wrap::Negacyclic && j > place;
        let sign = if negative { -1 } else { 1 };
        let [re, im, x, y] = [re, im, sign * x, sign * y].map(BigInt::from);
        sums[0] += &re * &x - &im * &y;
        sums[1] += re * y + im * x;
    }
    sums
}

#[test]
fn gaussian_convolutions_are_sums_by_the_definition() {
    let mut generator = Generator::new(SEED + 9);
    let units = Unit::available();
    for case in 0..cases() / 50 {
        let length = match case {
            0..20 => case + 1,
            _ => length(&mut generator).min(700),
        };
        let primes = 1 + generator.below(6);
        let wrap = [Wrap::Cyclic, Wrap::Negacyclic][generator.below(2)];
        let result_bits = GaussianConvolution::result_bits(primes).unwrap();
        let fixed_bits = generator.below(result_bits.min(90) as usize) as u32;
        let fixed = gaussian(&mut generator, length, fixed_bits);
        let unit = units[generator.below(units.len())];
        let convolution = GaussianConvolution::new(unit, primes, wrap, &fixed).unwrap();
        let mut workspace = convolution.workspace();
        // Twice with the same memory; the second time as large as is proven.
        for room in [7, 1] {
            let parts = 2 * length.next_power_of_two();
            let Some(bits) = convolution
                .most_sum_bits()
                .checked_sub(parts.ilog2() + room - 1)
            else {
                continue;
            };
            let operand = gaussian(&mut generator, length, bits);
            let threads = 1 + generator.below(3);
            convolution
                .process(&mut workspace, threads, |place| operand[place])
                .unwrap();
            for _ in 0..40.min(length) {
                let place = generator.below(length);
                assert_eq!(
                    workspace.results().get(place).map(long),
                    wrapped_sum(&operand, &fixed, wrap, place),
                    "case {case}, seed {SEED}: {primes} primes, {wrap:?}, {length} points, place {place}, {unit}"
                );
            }
        }
    }
}

#[test]
fn gaussian_operands_that_are_not_proven_are_rejected() {
    let unit = Unit::Portable;
    let new = |primes, fixed: &[(i128, i128)]| {
        GaussianConvolution::new(unit, primes, Wrap::Cyclic, fixed).map(|made| made.length())
    };
    assert!(matches!(new(2, &[]), Err(ConvolutionError::Empty { .. })));
    assert!(matches!(new(0, &[(1, 0)]), Err(ConvolutionError::Route(_))));
    assert!(matches!(new(7, &[(1, 0)]), Err(ConvolutionError::Route(_))));
    let error = new(6, &[(1 << 95, 0)]).unwrap_err();
    assert!(matches!(error, ConvolutionError::TooManyBits { .. }));
    let fixed = [(1 << 20, 0), (0, 5)];
    let convolution = GaussianConvolution::new(unit, 2, Wrap::Cyclic, &fixed).unwrap();
    let most = 1i128 << convolution.most_sum_bits();
    let mut workspace = convolution.workspace();
    let run = |workspace: &mut _, sum: i128| {
        convolution.process(workspace, 1, |place| [(sum, 0), (0, 0)][place])
    };
    assert_eq!(run(&mut workspace, most), Ok(()));
    assert_eq!(
        workspace.results().get(0).map(long),
        [BigInt::from(most << 20), BigInt::from(0)]
    );
    let error = run(&mut workspace, -most - 1).unwrap_err();
    assert!(error.to_string().contains("more primes"), "{error}");
    let other = GaussianConvolution::new(unit, 3, Wrap::Cyclic, &fixed).unwrap();
    let error = run(&mut other.workspace(), 1).unwrap_err();
    assert!(matches!(error, ConvolutionError::Length { .. }), "{error}");
}
