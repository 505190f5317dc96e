//! Real convolutions against exact sums of their mantissas, and the route of integers through floating point.
//! The crate `exact-convolution` has the tests of integers.

use ozfft::convolution::{
    ConvolutionError, ConvolutionRoute, ExactConvolution, Multiplier, RealConvolutionError,
    RouteError, Which, convolve, convolve_by_digits, fftconvolve, multiply_decimal, multiply_limbs,
};
use ozfft::{Device, FftError};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::{Requirement, available};

const SEED: u64 = 20261117;

/// Integers of 53 bits at most, by kind: random, all large, few, a spike among small ones.
fn mantissas(generator: &mut Generator, count: usize, kind: usize) -> Vec<i64> {
    let mut one = |k: usize| {
        let random = (generator.next_u64() as i64) >> 11;
        match kind {
            0 => random,
            1 => (1 << 53) - 1,
            2 if k.is_multiple_of(13) => random,
            2 => 0,
            _ if k == count / 2 => 1 << 52,
            _ => random >> 40,
        }
    };
    (0..count).map(&mut one).collect()
}

/// The distance of a number from an exact one, in f64 but for its last bits.
fn distance(value: f64, exact: i128, scale: f64) -> f64 {
    let high = exact as f64;
    let low = (exact - high as i128) as f64;
    ((value / scale - high) - low).abs() * scale
}

#[test]
fn errors_of_real_convolutions_stay_below_the_returned_bound() {
    let mut generator = Generator::new(SEED);
    let lengths = [
        (1, 1),
        (2, 1),
        (7, 5),
        (100, 100),
        (1000, 3),
        (3, 1000),
        (4096, 33),
        (3000, 2999),
    ];
    for (first, second) in lengths {
        for kind in 0..16 {
            let a = mantissas(&mut generator, first, kind % 4);
            let b = mantissas(&mut generator, second, kind / 4);
            let mut exact = vec![0i128; first + second - 1];
            for (i, &x) in a.iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    exact[i + j] += i128::from(x) * i128::from(y);
                }
            }
            // Powers of two change nothing but the scale, also close to the ends of the range.
            for exponent in [0, -400, 400] {
                let unit = 2f64.powi(exponent);
                let scaled = |numbers: &[i64]| -> Vec<f64> {
                    numbers.iter().map(|&x| x as f64 * unit).collect()
                };
                let result = fftconvolve(&scaled(&a), &scaled(&b)).unwrap();
                let what = format!("seed {SEED}, {first} by {second}, kind {kind}, 2^{exponent}");
                assert_eq!(result.values.len(), exact.len());
                let scale = unit * unit;
                for (&value, &exact) in result.values.iter().zip(&exact) {
                    let error = distance(value, exact, scale);
                    assert!(
                        error <= result.bound,
                        "{what}: {error:e} > {:e}",
                        result.bound
                    );
                }
                // A bound that says something: relative to the product of the norms.
                let norm = |numbers: &[i64]| -> f64 {
                    let square = |&x: &i64| x as f64 * x as f64;
                    numbers.iter().map(square).sum::<f64>().sqrt()
                };
                let relative = result.bound / (norm(&a) * norm(&b) * scale);
                let most = 2e-14 * ((first + second) as f64).sqrt();
                assert!(relative < most, "{what}: {relative:e} >= {most:e}");
            }
        }
    }
}

#[test]
fn zeros_and_tiny_numbers_have_a_bound_too() {
    let zeros = fftconvolve(&[0.0; 50], &[1.0; 9]).unwrap();
    assert!(zeros.values.iter().all(|&value| value == 0.0));
    assert!(zeros.bound < 1e-300);
    // Products vanish below the smallest numbers: the exact ones are smaller than the bound.
    let tiny = fftconvolve(&[1e-300; 50], &[1e-300; 9]).unwrap();
    assert!(tiny.values.iter().all(|value| value.abs() <= tiny.bound) && tiny.bound > 0.0);
    let huge = fftconvolve(&[1e200; 50], &[1e200; 9]).unwrap();
    assert_eq!(huge.bound, f64::INFINITY);
}

#[test]
fn integers_by_digits_are_those_of_exact_convolutions_or_not_proven() {
    let mut generator = Generator::new(SEED);
    for (first, second) in [(1, 1), (50, 20), (1000, 1000), (5000, 40)] {
        for bits in [1, 4, 8, 12, 16] {
            let mut draw = |count: usize| -> Vec<i64> {
                let shift = 64 - bits;
                (0..count)
                    .map(|_| (generator.next_u64() as i64) >> shift)
                    .collect()
            };
            let (a, b) = (draw(first), draw(second));
            let expected: Vec<i64> = convolve(&a, &b).unwrap();
            match convolve_by_digits(&a, &b) {
                Ok((sums, bound)) => assert!(sums == expected && bound < 0.5),
                Err(RealConvolutionError::NotProven { bound }) => {
                    assert!(
                        bound >= 0.5 && bits > 12,
                        "{first} by {second}, {bits} bits: {bound}"
                    );
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    let error = convolve_by_digits(&[1 << 50; 100], &[1 << 50; 100]).unwrap_err();
    assert!(error.to_string().contains("use convolve"), "{error}");
    let error = convolve_by_digits(&[1], &[i64::MIN]).unwrap_err();
    assert!(matches!(
        error,
        RealConvolutionError::TooLarge {
            which: Which::Second,
            index: 0,
            ..
        }
    ));
}

#[test]
fn operands_without_a_convolution_are_rejected() {
    assert!(matches!(
        fftconvolve(&[], &[1.0]),
        Err(RealConvolutionError::Empty {
            which: Which::First
        })
    ));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = fftconvolve(&[1.0], &[1.0, bad]).unwrap_err();
        assert!(matches!(
            error,
            RealConvolutionError::NotFinite {
                which: Which::Second,
                index: 1,
                ..
            }
        ));
        assert!(error.to_string().contains("clean the data"));
    }
}

#[test]
fn multipliers_say_where_they_multiply_and_why() {
    let ones = vec![u64::MAX; 200];
    let on_processor = Multiplier::new(Device::Cpu).expect("a processor");
    let product = on_processor
        .multiply_limbs(&ones, &ones)
        .expect("a product");
    assert_eq!(product.device, Device::Cpu);
    assert_eq!(product.why, "on the processor, as asked for");
    assert_eq!(product.digits, multiply_limbs(&ones, &ones));
    let automatic = Multiplier::new(Device::Auto).expect("a processor at least");
    let product = automatic
        .multiply_decimal(&[7; 100], &[9; 50])
        .expect("a product");
    assert_eq!(product.digits, multiply_decimal(&[7; 100], &[9; 50]));
    match Multiplier::new(Device::Cuda(0)) {
        Ok(on_gpu) => {
            // What is too short for a GPU is not sent there, and says so.
            let product = on_gpu.multiply_limbs(&[3], &[5]).expect("a product");
            assert_eq!(
                (product.device, &product.digits[..]),
                (Device::Cpu, &[15, 0][..])
            );
            assert!(product.why.contains("has 1 limbs"), "{}", product.why);
        }
        Err(error) => {
            assert!(
                matches!(
                    error,
                    FftError::NoDriver { .. }
                        | FftError::NoSuchDevice { .. }
                        | FftError::DeviceTooOld { .. }
                ),
                "{error}"
            );
            let reason = format!("on the processor: {error}");
            assert_eq!((product.device, product.why), (Device::Cpu, reason));
        }
    }
    assert!(Multiplier::new(Device::Cuda(1000)).is_err());
}

/// Limbs of a kind: random, all ones, a power of two, sparse, ones, one at both ends, zero.
fn limbs(generator: &mut Generator, count: usize, kind: usize) -> Vec<u64> {
    let bit = 1 << generator.below(64);
    let mut one = |k: usize| match kind {
        0 => generator.next_u64(),
        1 => u64::MAX,
        2 if k + 1 == count => bit,
        3 if generator.below(8) == 0 => generator.next_u64(),
        4 => 1,
        5 => u64::from(k == 0 || k + 1 == count),
        _ => 0,
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn products_on_a_gpu_have_the_digits_of_the_processor() {
    let Some(multiplier) = available(Requirement::Gpu, Multiplier::new(Device::Cuda(0))) else {
        return;
    };
    let mut generator = Generator::new(SEED);
    // Both sides of a power of two, of changes between one, two and three passes, and operands of very different lengths.
    let lengths = [
        (121, 121),
        (1024, 1024),
        (1024, 1025),
        (1025, 1025),
        (70_000, 130),
        (1 << 18, 1 << 18),
        ((1 << 18) + 1, 1 << 18),
        ((1 << 19) + 1, (1 << 19) - 1),
        (900_000, 700_000),
    ];
    for (first, second) in lengths {
        for (kind, other) in [(0, 0), (1, 1), (1, 5), (2, 1), (3, 4), (0, 6)] {
            let what = format!("seed {SEED}: {first} and {second} limbs, {kind} and {other}");
            let a = limbs(&mut generator, first, kind);
            // A square where lengths and kinds agree.
            let b = match (first, kind) == (second, other) {
                true => a.clone(),
                false => limbs(&mut generator, second, other),
            };
            let product = multiplier.multiply_limbs(&a, &b).expect("a product");
            assert_eq!(product.device, Device::Cuda(0), "{what}: {}", product.why);
            assert!(product.digits == multiply_limbs(&a, &b), "{what}");
            let decimal = |limbs: &[u64]| -> Vec<u32> {
                let digit = |&limb: &u64| match limb {
                    u64::MAX => 999_999_999,
                    limb => (limb % 1_000_000_000) as u32,
                };
                limbs.iter().map(digit).collect()
            };
            let (a, b) = (decimal(&a), decimal(&b));
            let product = multiplier.multiply_decimal(&a, &b).expect("a product");
            assert!(
                product.digits == multiply_decimal(&a, &b),
                "{what}, decimal"
            );
        }
    }
}

/// By the definition, of every member of a batch.
fn sums(
    (a, first): (&[i64], usize),
    (b, second): (&[i64], usize),
    cyclic: bool,
    batch: usize,
) -> Vec<i128> {
    let results = if cyclic { first } else { first + second - 1 };
    let mut sums = vec![0i128; batch * results];
    for member in 0..batch {
        let b = if b.len() == second {
            b
        } else {
            &b[member * second..]
        };
        for (i, &x) in a[member * first..][..first].iter().enumerate() {
            for (j, &y) in b[..second].iter().enumerate() {
                sums[member * results + (i + j) % results] += i128::from(x) * i128::from(y);
            }
        }
    }
    sums
}

#[test]
fn every_route_that_is_proven_has_the_sums_of_the_definition() {
    println!("seed {SEED}");
    let mut generator = Generator::new(SEED);
    let mut run = [0; 4];
    // Whole, in pieces of either operand, cyclic by a transform of the length or not, batches that fill several calls.
    let problems = [
        (1, 1, false, 1),
        (2, 2, true, 3),
        (100, 90, false, 5),
        (120, 120, true, 200),
        (101, 101, true, 3),
        (3000, 20, false, 2),
        (20, 3000, false, 2),
        (7, 5000, false, 1),
    ];
    for (first, second, cyclic, batch) in problems {
        for bits in [1, 7, 20, 36, 52] {
            for shared in [false, true] {
                let largest = (1i64 << bits) - i64::from(generator.below(2) == 0);
                let kind = generator.below(3);
                let mut draw = |count: usize| -> Vec<i64> {
                    let mut one = |k: usize| match kind {
                        0 => largest,
                        1 if k.is_multiple_of(2) => largest,
                        1 => -largest,
                        _ => generator.next_u64() as i64 % (largest + 1),
                    };
                    (0..count).map(&mut one).collect()
                };
                let a = draw(batch * first);
                let b = draw(second * if shared { 1 } else { batch });
                let expected = sums((&a, first), (&b, second), cyclic, batch);
                let problem = match cyclic {
                    true => ExactConvolution::cyclic(first),
                    false => ExactConvolution::linear(first, second),
                };
                let problem = problem
                    .magnitudes(largest as u128, largest as u128)
                    .batch(batch);
                for (route, run) in ConvolutionRoute::ALL.into_iter().zip(&mut run) {
                    let what =
                        format!("{route}, {first} with {second}, {cyclic}, {batch}, {bits} bits");
                    match problem.clone().route(route).plan() {
                        Ok(plan) => {
                            let found: Vec<i128> = plan.process(&a, &b).unwrap();
                            assert!(found == expected, "{what}");
                            *run += 1;
                        }
                        Err(RouteError::NotProven { .. }) => assert!(
                            matches!(route, ConvolutionRoute::Digits if bits > 7)
                                || matches!(route, ConvolutionRoute::Pairs if bits > 36),
                            "{what}"
                        ),
                        Err(error) => panic!("{what}: {error}"),
                    }
                }
            }
        }
    }
    println!("direct, ntt, digits, pairs: {run:?}");
    assert!(run.iter().all(|&count| count >= 16), "{run:?}");
}

/// By the definition, index by index, of one array and another; `to` says along an axis where the product of two elements belongs.
fn sums_of_arrays(
    (a, first): (&[i128], &[usize]),
    (b, second): (&[i128], &[usize]),
    shape: &[usize],
    to: impl Fn(usize, usize, usize) -> usize,
) -> Vec<i128> {
    let index = |mut place: usize, shape: &[usize]| {
        let mut index = vec![0; shape.len()];
        for (one, &length) in index.iter_mut().zip(shape).rev() {
            *one = place % length;
            place /= length;
        }
        index
    };
    let mut sums = vec![0i128; shape.iter().product()];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let (p, q) = (index(i, first), index(j, second));
            let place = (0..shape.len()).fold(0, |place, axis| {
                place * shape[axis] + to(axis, p[axis], q[axis])
            });
            let product = x.checked_mul(y).expect("a product fits");
            sums[place] = sums[place].checked_add(product).expect("a sum fits");
        }
    }
    sums
}

#[test]
fn every_route_has_the_sums_of_arrays_and_of_operands_of_128_bits() {
    const SEED: u64 = 20261119;
    println!("seed {SEED}");
    let mut generator = Generator::new(SEED);
    let mut run = [0; 4];
    let shapes: [(&[usize], &[usize]); 6] = [
        (&[1], &[1]),
        (&[30], &[9]),
        (&[6, 7], &[3, 4]),
        (&[16, 8], &[16, 8]),
        (&[3, 4, 5], &[2, 1, 5]),
        (&[20, 12], &[3, 3]),
    ];
    // Bits of both operands: all routes, without digits, beyond 64 bits, up to the most that 128 bits hold with these shapes.
    let bits = [[5, 5], [30, 31], [70, 12], [3, 90], [100, 16]];
    for ((first, second), [bits_a, bits_b]) in shapes
        .into_iter()
        .flat_map(|shapes| bits.map(|bits| (shapes, bits)))
    {
        for kind in 0..8 {
            let (is_cyclic, is_correlation, shared) = (kind & 1 != 0, kind & 2 != 0, kind & 4 != 0);
            let second = if is_cyclic { first } else { second };
            let mut draw = |count: usize, bits: u32| -> Vec<i128> {
                let most = (1i128 << bits) - 1;
                let kind = generator.below(3);
                let one = |k: usize| match kind {
                    0 => most,
                    1 if k.is_multiple_of(2) => -most,
                    1 => most,
                    _ => {
                        let both = [generator.next_u64(), generator.next_u64()].map(i128::from);
                        (both[0] << 64 | both[1]) >> (127 - bits)
                    }
                };
                (0..count).map(one).collect()
            };
            let batch = 3;
            let count: [usize; 2] = [first, second].map(|shape| shape.iter().product());
            let a = draw(batch * count[0], bits_a);
            let b = draw(if shared { 1 } else { batch } * count[1], bits_b);
            let shape: Vec<usize> = match is_cyclic {
                true => first.to_vec(),
                false => first.iter().zip(second).map(|(m, n)| m + n - 1).collect(),
            };
            let to = |axis: usize, p: usize, q: usize| match (is_cyclic, is_correlation) {
                (false, false) => p + q,
                (false, true) => p + second[axis] - 1 - q,
                (true, false) => (p + q) % shape[axis],
                (true, true) => (p + shape[axis] - q) % shape[axis],
            };
            let members = (0..batch).flat_map(|member| {
                let place = if shared { 0 } else { member * count[1] };
                let (a, b) = (&a[member * count[0]..][..count[0]], &b[place..][..count[1]]);
                sums_of_arrays((a, first), (b, second), &shape, to)
            });
            let expected: Vec<i128> = members.collect();
            let problem = match is_cyclic {
                true => ExactConvolution::cyclic_shaped(first),
                false => ExactConvolution::linear_shaped(first, second),
            };
            let problem = match is_correlation {
                true => problem.correlation(),
                false => problem,
            };
            let problem = problem.magnitudes(1 << bits_a, 1 << bits_b).batch(batch);
            for (route, run) in ConvolutionRoute::ALL.into_iter().zip(&mut run) {
                let what = format!(
                    "{route}, {first:?} with {second:?}, {bits_a} and {bits_b} bits, kind {kind}"
                );
                match problem.clone().route(route).plan() {
                    Ok(plan) => {
                        assert_eq!(plan.result_shape(), shape, "{what}");
                        let found: Vec<i128> = plan.process(&a, &b).unwrap();
                        assert!(found == expected, "{what}, seed {SEED}");
                        *run += 1;
                    }
                    Err(RouteError::NotProven { .. }) => assert!(
                        matches!(route, ConvolutionRoute::Digits if bits_a + bits_b > 10)
                            || matches!(route, ConvolutionRoute::Pairs if bits_a + bits_b > 70),
                        "{what}"
                    ),
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
    println!("direct, ntt, digits, pairs: {run:?}");
    assert!(run.iter().all(|&count| count >= 40), "{run:?}");
}

#[test]
fn plans_weigh_all_routes_and_take_the_fastest_that_is_proven() {
    let plan = |length: usize, magnitude: u128| {
        let problem = ExactConvolution::linear(length, length).magnitudes(magnitude, magnitude);
        problem.plan().unwrap()
    };
    for (length, magnitude) in [(4, 100), (5000, 3), (5000, 1 << 20), (3000, 1 << 45)] {
        let plan = plan(length, magnitude);
        let proven = plan.candidates().iter().filter(|one| one.is_proven);
        let least = proven.map(|one| one.predicted_seconds.unwrap_or(f64::MAX));
        let least = least.fold(f64::MAX, f64::min);
        assert_eq!(plan.chosen().predicted_seconds, Some(least), "{plan}");
        let text = plan.to_string();
        for candidate in plan.candidates() {
            assert!(text.contains(&candidate.why), "{text}");
        }
    }
    let verdicts = |length, magnitude| -> Vec<bool> {
        let plan = plan(length, magnitude);
        plan.candidates().iter().map(|one| one.is_proven).collect()
    };
    assert_eq!(verdicts(5000, 3), [true, true, true, true]);
    assert_eq!(verdicts(5000, 1 << 20), [true, true, false, true]);
    assert_eq!(verdicts(3000, 1 << 45), [true, true, false, false]);
    assert_eq!(plan(4, 100).route(), ConvolutionRoute::Direct);
    assert_ne!(plan(100_000, 3).route(), ConvolutionRoute::Direct);
}

#[test]
fn routes_that_are_not_proven_are_refused_with_a_remedy() {
    let problem = ExactConvolution::linear(1000, 1000).magnitudes(1 << 40, 1 << 40);
    let error = problem.clone().route(ConvolutionRoute::Digits).plan();
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("digits is not proven") && text.contains("take the route ntt"),
        "{text}"
    );
    // What no type holds is refused whatever the route; nothing is written.
    let problem = ExactConvolution::linear(3, 3).types::<i64, i64>();
    let plan = problem.plan();
    assert!(
        matches!(&plan, Ok(plan) if plan.process::<_, _, i128>(&[i64::MIN; 3], &[i64::MIN; 3]).is_err())
            || matches!(
                plan,
                Err(RouteError::Convolution(
                    ConvolutionError::ResultMayNotFit { .. }
                ))
            )
    );
    let plan = ExactConvolution::linear(50, 50).magnitudes(10, 10);
    let plan = plan.route(ConvolutionRoute::Digits).plan().unwrap();
    let mut results = [7i32; 99];
    let error = plan.process_into(&[11i8; 50], &[1i8; 50], &mut results);
    assert!(matches!(
        error,
        Err(RouteError::Convolution(ConvolutionError::OperandTooLarge {
            declared: 10,
            ..
        }))
    ));
    assert_eq!(results, [7; 99]);
    let error = "abacus"
        .parse::<ConvolutionRoute>()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("abacus") && error.contains("pairs"),
        "{error}"
    );
    for route in ConvolutionRoute::ALL {
        assert_eq!(route.name().parse::<ConvolutionRoute>().ok(), Some(route));
    }
}
