//! Plans of several dimensions, of batches and of integers of up to 128 bits, against sums by the definition in another crate's big integers.

use exact_convolution::{
    Convolution, ConvolutionError, ConvolutionPlan, Operand, Output, Route, Unit, convolve,
    convolve_cyclic, correlate, correlate_cyclic, largest,
};
use num_bigint::BigInt;
use ozfft_testkit::everything;
use ozfft_testkit::oracle::inputs::Generator;

const SEED: u64 = 20261119;

/// What the tests know of a type without the crate.
trait Integer: Operand + TryFrom<BigInt> + Into<BigInt> {
    const BITS: u32;
    const NEGATIVE: bool;
}

macro_rules! integers {
    ($($type:ident $negative:literal)*) => {$(
        impl Integer for $type {
            const BITS: u32 = $type::BITS;
            const NEGATIVE: bool = $negative;
        }
    )*};
}
integers! { i8 true i32 true i64 true i128 true u16 false u64 false u128 false }

/// Of so many bits, sign included: random, all at an end of the range, alternating ends, sparse, ones, zeros.
fn numbers<A: Integer>(generator: &mut Generator, count: usize, bits: u32) -> Vec<A> {
    let one = BigInt::from(1);
    let (low, high): (BigInt, BigInt) = match A::NEGATIVE {
        true => (-(&one << (bits - 1)), (&one << (bits - 1)) - 1),
        false => (BigInt::from(0), (&one << bits) - 1),
    };
    let kind = generator.below(8);
    let number = |k: usize, generator: &mut Generator| -> BigInt {
        let mut random = || BigInt::from(generator.next_u64());
        let any = &low + ((random() << 64u32) + random()) % (&high - &low + 1);
        match kind {
            0 | 1 => any,
            2 => low.clone(),
            3 => high.clone(),
            4 if k.is_multiple_of(2) => high.clone(),
            4 => low.clone(),
            5 if !k.is_multiple_of(7) => BigInt::from(0),
            5 => any,
            6 => one.clone().min(high.clone()),
            _ => BigInt::from(0),
        }
    };
    (0..count)
        .map(|k| A::try_from(number(k, generator)).unwrap_or_else(|_| panic!("it fits")))
        .collect()
}

fn indices(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices = vec![0; shape.len()];
    for (index, &length) in indices.iter_mut().zip(shape).rev() {
        *index = place % length;
        place /= length;
    }
    indices
}

#[derive(Debug, Clone)]
struct Asked {
    first: Vec<usize>,
    second: Vec<usize>,
    cyclic: bool,
    correlation: bool,
    batch: usize,
    shared: bool,
}

impl Asked {
    fn random(generator: &mut Generator) -> Asked {
        let rank = 1 + generator.below(3);
        let most = [40, 9, 5][rank - 1];
        let mut shape = || -> Vec<usize> { (0..rank).map(|_| 1 + generator.below(most)).collect() };
        let (first, second) = (shape(), shape());
        let cyclic = generator.below(2) == 0;
        let second = if cyclic { first.clone() } else { second };
        Asked {
            first,
            second,
            cyclic,
            correlation: generator.below(2) == 0,
            batch: 1 + generator.below(4),
            shared: generator.below(2) == 0,
        }
    }

    fn problem(&self) -> Convolution {
        let problem = match self.cyclic {
            true => Convolution::cyclic_shaped(&self.first),
            false => Convolution::linear_shaped(&self.first, &self.second),
        };
        let problem = match self.correlation {
            true => problem.correlation(),
            false => problem,
        };
        problem.batch(self.batch)
    }

    fn lengths(&self) -> [usize; 2] {
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        let second_members = if self.shared { 1 } else { self.batch };
        [
            self.batch * count(&self.first),
            second_members * count(&self.second),
        ]
    }

    fn result_shape(&self) -> Vec<usize> {
        let both = self.first.iter().zip(&self.second);
        both.map(|(m, n)| if self.cyclic { *m } else { m + n - 1 })
            .collect()
    }

    /// By the definition: where the product of two elements belongs, index by index.
    fn expected<A: Integer, B: Integer>(&self, a: &[A], b: &[B]) -> Vec<BigInt> {
        let shape = self.result_shape();
        let count: usize = shape.iter().product();
        let (first, second) = (
            self.first.iter().product::<usize>(),
            self.second.iter().product::<usize>(),
        );
        let mut sums = vec![BigInt::from(0); self.batch * count];
        for member in 0..self.batch {
            let other = if self.shared { 0 } else { member };
            for i in 0..first {
                for j in 0..second {
                    let (p, q) = (indices(i, &self.first), indices(j, &self.second));
                    let place = (0..shape.len()).fold(0, |place, axis| {
                        let (n, m) = (shape[axis], self.second[axis]);
                        let index = match (self.cyclic, self.correlation) {
                            (false, false) => p[axis] + q[axis],
                            (false, true) => p[axis] + m - 1 - q[axis],
                            (true, false) => (p[axis] + q[axis]) % n,
                            (true, true) => (p[axis] + n - q[axis]) % n,
                        };
                        place * n + index
                    });
                    let (x, y): (BigInt, BigInt) =
                        (a[member * first + i].into(), b[other * second + j].into());
                    sums[member * count + place] += x * y;
                }
            }
        }
        sums
    }

    /// Products in a result, at most.
    fn terms(&self) -> BigInt {
        let both = self.first.iter().zip(&self.second);
        BigInt::from(both.map(|(m, n)| *m.min(n)).product::<usize>())
    }
}

/// Whether results of a type came, which then are right; they must, where the bound fits the type and no sign is missing.
fn has_results<A: Integer, B: Integer, R: Output + Into<BigInt>>(
    plan: &ConvolutionPlan,
    (a, b): (&[A], &[B]),
    expected: &[BigInt],
    bound: &BigInt,
    what: &str,
) -> bool {
    let is_negative = |x: BigInt| x < BigInt::from(0);
    let signs =
        a.iter().any(|&x| is_negative(x.into())) || b.iter().any(|&y| is_negative(y.into()));
    let fits = *bound <= BigInt::from(R::LARGEST);
    let mut results = vec![R::lowest(77); expected.len()];
    match plan.process_into(a, b, &mut results) {
        Ok(()) => {
            let results: Vec<BigInt> = results.into_iter().map(Into::into).collect();
            assert!(results == expected, "{what}, {}: {plan}", R::NAME);
            assert!(fits && (R::SIGNED || !signs), "{what}, {}", R::NAME);
            true
        }
        Err(ConvolutionError::ResultMayNotFit { result, .. }) => {
            assert!(!fits && result == R::NAME, "{what}, {}", R::NAME);
            assert!(results.iter().all(|&x| x == R::lowest(77)), "{what}");
            false
        }
        Err(ConvolutionError::MayBeNegative { .. }) => {
            assert!(signs && !R::SIGNED, "{what}, {}", R::NAME);
            false
        }
        Err(error) => panic!("{what}, {}: {error}", R::NAME),
    }
}

fn compare<A: Integer, B: Integer>(generator: &mut Generator, case: usize) -> usize {
    let asked = Asked::random(generator);
    let mut bits = |most: u32| 2 + generator.below(most as usize - 1) as u32;
    let bits_a = bits(A::BITS);
    // Half of the cases have as many bits as results of 128 leave.
    let rest = 120u32.saturating_sub(bits_a).clamp(2, B::BITS);
    let bits_b = if case.is_multiple_of(2) {
        rest
    } else {
        bits(B::BITS)
    };
    let [first, second] = asked.lengths();
    let a = numbers::<A>(generator, first, bits_a);
    let b = numbers::<B>(generator, second, bits_b);
    let units = Unit::available();
    let problem = asked.problem().unit(units[generator.below(units.len())]);
    let declared = [largest(&a), largest(&b)];
    let problem = problem.magnitudes(declared[0], declared[1]);
    let problem = match generator.below(4) {
        0 => problem.route(Route::Direct),
        1 => problem.route(Route::Ntt {
            primes: 1 + generator.below(6),
        }),
        _ => problem,
    };
    let what = format!(
        "seed {SEED}, case {case}, {asked:?}, {bits_a} and {bits_b} bits, {declared:?} of {} and {}",
        std::any::type_name::<A>(),
        std::any::type_name::<B>()
    );
    let bound = asked.terms() * BigInt::from(declared[0]) * BigInt::from(declared[1]);
    let plan = match problem.plan() {
        Ok(plan) => plan,
        // Fewer primes than the results need.
        Err(ConvolutionError::Route(_)) => return 0,
        Err(
            error @ (ConvolutionError::ResultMayNotFit { .. }
            | ConvolutionError::TooManyBits { .. }),
        ) => {
            assert!(bound > BigInt::from(u128::MAX), "{what}: {error}");
            return 0;
        }
        Err(error) => panic!("{what}: {error}"),
    };
    assert_eq!(plan.result_shape(), asked.result_shape(), "{what}");
    assert_eq!(
        plan.proof().bound().map(BigInt::from),
        Some(bound.clone()).filter(|b| *b <= u128::MAX.into()),
        "{what}"
    );
    let expected = asked.expected(&a, &b);
    let all = [
        has_results::<A, B, i128>(&plan, (&a, &b), &expected, &bound, &what),
        has_results::<A, B, u128>(&plan, (&a, &b), &expected, &bound, &what),
        has_results::<A, B, i64>(&plan, (&a, &b), &expected, &bound, &what),
    ];
    usize::from(all.contains(&true))
}

#[test]
fn plans_of_all_shapes_and_types_have_the_sums_of_the_definition() {
    println!("seed {SEED}");
    let mut generator = Generator::new(SEED);
    let cases = if everything() { 200_000 } else { 2_000 };
    let mut compared = 0;
    for case in 0..cases {
        let generator = &mut generator;
        compared += match case % 10 {
            0 => compare::<i128, i128>(generator, case),
            1 => compare::<u128, u128>(generator, case),
            2 => compare::<i128, i8>(generator, case),
            3 => compare::<i64, i128>(generator, case),
            4 => compare::<u128, i32>(generator, case),
            5 => compare::<u16, u128>(generator, case),
            6 => compare::<u128, i128>(generator, case),
            7 => compare::<i8, i32>(generator, case),
            8 => compare::<u64, i128>(generator, case),
            _ => compare::<i64, u64>(generator, case),
        };
    }
    assert!(compared > cases / 2, "{compared} of {cases}, seed {SEED}");
}

/// The longer operand in pieces, several passes, and the ends of what 128 bits hold.
#[test]
fn long_operands_of_128_bits_have_the_sums_of_the_definition() {
    let mut generator = Generator::new(SEED + 1);
    for (first, second, bits) in [
        (3_000, 200, [99, 20]),
        (700, 900, [20, 97]),
        (20_000, 30, [121, 1]),
    ] {
        let random = |generator: &mut Generator, count: usize, bits: u32| -> Vec<i128> {
            let one = |k: usize| {
                let random =
                    i128::from(generator.next_u64()) << 64 | i128::from(generator.next_u64());
                // Most of them at the ends of the range, of both signs.
                let most = (1 << bits) - 1;
                match k % 3 {
                    0 => random >> (127 - bits),
                    1 => most,
                    _ => -most,
                }
            };
            (0..count).map(one).collect()
        };
        let a = random(&mut generator, first, bits[0]);
        let b = random(&mut generator, second, bits[1]);
        let asked = Asked {
            first: vec![first],
            second: vec![second],
            cyclic: false,
            correlation: false,
            batch: 1,
            shared: false,
        };
        let expected = asked.expected(&a, &b);
        let problem = asked.problem().magnitudes(1 << bits[0], 1 << bits[1]);
        for unit in Unit::available() {
            let plan = problem.clone().unit(unit).plan().unwrap();
            let results: Vec<i128> = plan.process(&a, &b).unwrap();
            let results: Vec<BigInt> = results.into_iter().map(BigInt::from).collect();
            assert!(results == expected, "seed {}: {plan}", SEED + 1);
        }
    }
}

#[test]
fn the_ends_of_128_bits_are_exact_or_refused_with_the_remedy() {
    // 2^127 is one more than i128 holds, with a sign that the plan does not know.
    let least = [i128::MIN; 3];
    let error = convolve::<_, _, i128>(&least, &[1i8]).unwrap_err();
    let ConvolutionError::ResultMayNotFit { bound, result } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (bound.as_str(), *result),
        ((1u128 << 127).to_string().as_str(), "i128")
    );
    assert!(
        error.to_string().contains("multiply long integers"),
        "{error}"
    );
    assert!(matches!(
        convolve::<_, _, u128>(&least, &[1u8]),
        Err(ConvolutionError::MayBeNegative { index: 0, .. })
    ));
    assert_eq!(convolve(&least, &[0i128]), Ok(vec![0i128; 3]));
    assert_eq!(
        convolve(&[i128::MIN + 1; 3], &[-1i8]),
        Ok(vec![i128::MAX; 3])
    );
    assert_eq!(convolve(&[u128::MAX], &[1u8]), Ok(vec![u128::MAX]));
    assert_eq!(
        convolve(&[u128::MAX / 3; 3], &[1u128; 3]).map(|c: Vec<u128>| c[2]),
        Ok(u128::MAX)
    );
    // By primes, too: five of them are above 2^130.
    let plan = Convolution::linear(3, 3)
        .magnitudes(u128::MAX / 3, 1)
        .route(Route::Ntt { primes: 5 });
    let plan = plan.plan().unwrap();
    assert_eq!(
        plan.process::<_, _, u128>(&[u128::MAX / 3; 3], &[1u128; 3])
            .unwrap()[2],
        u128::MAX
    );
    assert!(plan.to_string().contains("below 2^128"), "{plan}");
    // What types alone allow is refused when it is planned, what was not declared when it is processed.
    let types = Convolution::linear(3, 3).types::<i128, i128>();
    let error = types.plan().unwrap_err();
    assert!(
        matches!(error, ConvolutionError::ResultMayNotFit { .. }),
        "{error}"
    );
    let error = types.route(Route::Ntt { primes: 6 }).plan().unwrap_err();
    assert!(
        matches!(error, ConvolutionError::TooManyBits { bits: 258, .. }),
        "{error}"
    );
    let plan = Convolution::linear(2, 2)
        .magnitudes(1 << 100, 1 << 20)
        .plan()
        .unwrap();
    let error = plan
        .process::<_, _, i128>(&[0i128, -(1 << 101)], &[1i64; 2])
        .unwrap_err();
    let ConvolutionError::OperandTooLarge {
        index,
        magnitude,
        declared,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((index, magnitude, declared), (1, 1 << 101, 1 << 100));
    assert!(matches!(
        convolve::<i128, i128, i128>(&[], &[1]),
        Err(ConvolutionError::Empty { .. })
    ));
    assert!(convolve_cyclic::<i128, i128, i128>(&[1, 2], &[1]).is_err());
    // One element is a product; correlations of two.
    assert_eq!(
        correlate(&[1i128 << 100, -1], &[3i128, 5]),
        Ok(vec![5i128 << 100, (3 << 100) - 5, -3])
    );
    assert_eq!(
        correlate_cyclic(&[1i128 << 100, -1], &[3i128, 5]),
        Ok(vec![(3i128 << 100) - 5, (5 << 100) - 3])
    );
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let refused = |first: &[usize], second: &[usize]| {
        let problem = Convolution::linear_shaped(first, second).magnitudes(1, 1);
        problem.plan().unwrap_err()
    };
    let error = refused(&[2, 3], &[6]);
    assert!(error.to_string().contains("axes of length 1"), "{error}");
    assert!(matches!(
        refused(&[2, 0], &[6, 1]),
        ConvolutionError::Empty { .. }
    ));
    let error = refused(&[1 << 30, 1 << 30], &[2, 2]);
    assert!(error.to_string().contains("convolve parts"), "{error}");
    assert!(matches!(
        refused(&[usize::MAX, 2], &[usize::MAX, 2]),
        ConvolutionError::Shape(_)
    ));
    let plan = Convolution::cyclic_shaped(&[2, 3])
        .types::<i8, i8>()
        .batch(2)
        .plan()
        .unwrap();
    assert!(matches!(
        plan.process::<i8, i8, i32>(&[1; 6], &[1; 6]),
        Err(ConvolutionError::Length {
            given: 6,
            expected: 12,
            ..
        })
    ));
    assert!(
        plan.to_string()
            .starts_with("cyclic convolution of 2×3, 2 of them"),
        "{plan}"
    );
    // No axes: one number.
    let plan = Convolution::linear_shaped(&[], &[])
        .magnitudes(5, 5)
        .plan()
        .unwrap();
    assert_eq!(plan.process::<i8, i8, i8>(&[5], &[-5]), Ok(vec![-25]));
}
