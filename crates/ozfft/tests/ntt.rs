//! The engine ntt: errors within the bound, the same bits everywhere, and what it rejects.

use crate::common_arrays::{
    Sample, bits, count, execute_any, random_problem, random_values, widths,
};
use crate::support::{Violations, errors, everything, half, oracle_direction, plan, transform};
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Direction, Engine, FftError, Kind, Norm, Plan, Planner, Problem, Products,
    Substrate,
};
use ozfft_testkit::oracle::inputs::{
    Generator, complex_from_real, gaussian_complex, uniform_complex, uniform_real,
};
use ozfft_testkit::oracle::{HardInput, Scale, compare, compare_f32, dft, dft_nd, floor};
use ozfft_testkit::same_bits;

const SEED: u64 = 0x0117_2026;

fn ntt(problem: Problem) -> Problem {
    problem.engine(Engine::Ntt).threads(1)
}

/// Rounding alone, and what the rest may add to it.
fn assert_double(plan: &Plan<f64>) {
    let axes = plan.problem().shape().len() as f64;
    let roundoff = f64::EPSILON / 2.0;
    assert!(plan.bound_is_proven(), "{plan}");
    assert!(plan.bound() <= 1.75 * axes * roundoff, "{plan}");
}

#[test]
fn hard_inputs_of_any_length_stay_within_the_bound() {
    let violations = Violations::default();
    let planner = Planner::new();
    let mut lengths: Vec<usize> = (1..=40).collect();
    lengths.extend([
        63, 64, 67, 100, 127, 128, 131, 243, 255, 256, 257, 500, 509, 512, 1009, 1024,
    ]);
    if everything() {
        lengths.extend(258..=700);
    }
    for n in lengths {
        let plan = plan(&planner, &ntt(Problem::complex(&[n])));
        assert_double(&plan);
        let random = [
            ("uniform", uniform_complex(n, SEED)),
            ("gaussian", gaussian_complex(n, SEED)),
        ];
        let hard = HardInput::ALL.iter();
        let hard = hard.map(|input| (input.name(), input.generate(n, SEED + n as u64)));
        for (name, line) in hard.chain(random) {
            let exact = dft(&line, oracle_direction(Direction::Forward));
            // Subnormal results are rounded to multiples of the smallest.
            if floor(&exact).l2 > f64::EPSILON / 2.0 {
                continue;
            }
            let l2 = compare(&transform(&plan, &line), &exact).l2;
            violations.check(l2 <= plan.bound(), || {
                format!("{n} {name}, seed {SEED}: {l2:e} above {:e}", plan.bound())
            });
        }
    }
    violations.report();
}

#[test]
fn random_input_is_as_exact_as_one_rounding() {
    let planner = Planner::new();
    for n in [1024, 1009, 1000, 4096, 6007] {
        let plan = plan(&planner, &ntt(Problem::complex(&[n])));
        let line = uniform_complex(n, SEED + 1);
        let exact = dft(&line, oracle_direction(Direction::Forward));
        let (l2, best) = (
            compare(&transform(&plan, &line), &exact).l2,
            floor(&exact).l2,
        );
        println!(
            "{n}: {l2:e}, rounded once {best:e}, expected {:e}",
            plan.expected()
        );
        assert!(l2 <= 1.001 * best, "{n}: {l2:e} beside {best:e}");
        assert!((0.7..1.5).contains(&(l2 / plan.expected())), "{plan}");
    }
}

#[test]
fn directions_norms_and_axes_are_those_of_the_definition() {
    let planner = Planner::new();
    for shape in [&[15][..], &[16], &[6, 7], &[4, 1, 9], &[3, 5, 8]] {
        for direction in [Direction::Forward, Direction::Inverse] {
            for norm in [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled] {
                let problem = ntt(Problem::complex(shape)).direction(direction).norm(norm);
                let plan = plan(&planner, &problem);
                assert_double(&plan);
                let line = uniform_complex(count(shape), SEED + 2);
                let l2 = errors(&plan, &line, norm, direction).l2;
                assert!(l2 <= plan.bound(), "{l2:e}: {plan}");
            }
        }
    }
}

#[test]
fn real_transforms_stay_within_the_bound() {
    let planner = Planner::new();
    for shape in [&[1][..], &[2], &[9], &[64], &[101], &[6, 10], &[5, 9]] {
        let points = count(shape);
        let input = uniform_real(points, SEED + 3);
        let forward = plan(&planner, &ntt(Problem::real_to_complex(shape)));
        let exact = dft_nd(
            &complex_from_real(&input),
            shape,
            oracle_direction(Direction::Forward),
        );
        let mut spectrum = vec![Complex::new(f64::NAN, f64::NAN); forward.problem().output_len()];
        forward
            .process_real_to_complex(&input, &mut spectrum)
            .unwrap();
        let l2 = compare(&spectrum, &half(&exact, shape)).l2;
        assert!(l2 <= forward.bound(), "{shape:?}: {l2:e}, {forward}");
        assert_eq!(
            spectrum[0].im.to_bits(),
            0,
            "the sum of real numbers is real"
        );
        let back = plan(&planner, &ntt(Problem::complex_to_real(shape)));
        let mut again = vec![f64::NAN; points];
        back.process_complex_to_real(&spectrum, &mut again).unwrap();
        let norm =
            |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
        let off = norm(&mut again.iter().zip(&input).map(|(a, b)| a - b));
        let size = norm(&mut input.iter().copied());
        assert!(
            off <= 1.5 * (forward.bound() + back.bound()) * size,
            "{shape:?}: {off:e}"
        );
    }
}

#[test]
fn single_precision_data_are_rounded_once() {
    let planner = Planner::<f32>::new();
    for n in [12, 101, 256] {
        let plan = planner.plan(&ntt(Problem::complex(&[n]))).unwrap();
        let line = uniform_complex(n, SEED + 4);
        let single = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
        let mut output: Vec<Complex<f32>> = line.iter().map(single).collect();
        let double = |z: &Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
        let given: Vec<Complex<f64>> = output.iter().map(double).collect();
        plan.process(&mut output).unwrap();
        let exact = dft(&given, oracle_direction(Direction::Forward));
        let l2 = compare_f32(&output, &exact, Scale::One).l2;
        assert!(
            l2 <= plan.bound() && plan.bound() < 6.1e-8,
            "{n}: {l2:e}, {plan}"
        );
    }
}

#[test]
fn accuracies_take_as_many_primes_as_they_need() {
    let planner = Planner::new();
    let mut least = 0;
    for accuracy in [
        Accuracy::Target(1e-2),
        Accuracy::Single,
        Accuracy::Target(1e-10),
        Accuracy::Target(2e-14),
        Accuracy::Double,
        Accuracy::Target(1.1212e-16),
    ] {
        for n in [97, 1024] {
            let plan = plan(&planner, &ntt(Problem::complex(&[n])).accuracy(accuracy));
            let hard = HardInput::SpikeOverFloor.generate(n, SEED + 5);
            for line in [hard, uniform_complex(n, SEED + 6)] {
                let exact = dft(&line, oracle_direction(Direction::Forward));
                let l2 = compare(&transform(&plan, &line), &exact).l2;
                assert!(l2 <= plan.bound(), "{l2:e}: {plan}");
            }
            if let Some(target) = accuracy.target() {
                assert!(
                    plan.bound() <= target && plan.accuracy_is_proven(),
                    "{plan}"
                );
            }
        }
        let plan = plan(&planner, &ntt(Problem::complex(&[1024])).accuracy(accuracy));
        let primes = (2..=6).find(|count| plan.why().contains(&format!("accuracy, {count}:")));
        let primes = primes.unwrap_or_else(|| panic!("{plan}"));
        assert!(primes >= least, "{plan}");
        least = primes;
    }
    assert_eq!(least, 6, "close to one rounding all primes are needed");
    let beyond = ntt(Problem::complex(&[1024])).accuracy(Accuracy::Target(1.1e-16));
    assert!(matches!(
        planner.plan(&beyond),
        Err(FftError::AccuracyUnreachable { .. })
    ));
}

/// Section 10 of docs/numerics.md, counted once more.
#[test]
fn bounds_are_those_of_the_text() {
    let planner = Planner::new();
    for (n, sum_bits, chirp_bits) in [(1024, 76, 70), (1009, 76, 70), (4096, 77, 69)] {
        let plan = plan(&planner, &ntt(Problem::complex(&[n])));
        for words in [format!("2^{sum_bits}"), format!("{chirp_bits} bits")] {
            assert!(plan.why().contains(&words), "{plan}");
        }
        let two = |power: i32| f64::from(power).exp2();
        let points = n as f64;
        let terms = [
            two(-60) / 2f64.sqrt(),
            two(-62) / 2f64.sqrt(),
            2.0 * points * two(-sum_bits),
            (points / 2.0).sqrt() * two(-chirp_bits),
            two(-62) * 2f64.sqrt(),
            two(-53),
        ];
        let all = terms
            .iter()
            .fold(1.0, |product, term| product * (1.0 + term))
            - 1.0;
        let sum: f64 = terms.iter().sum();
        assert!(all <= sum * (1.0 + 1e-6) || all < sum + f64::EPSILON);
        assert!(
            plan.bound() >= sum && plan.bound() <= sum * (1.0 + 1e-8),
            "{plan}"
        );
    }
}

/// A random problem on all units and on several threads. Returns what differed.
fn differing<T: Sample>(planner: &Planner<T>, generator: &mut Generator) -> Result<(), String> {
    let problem = random_problem::<T>(generator)
        .products(Products::Truncated)
        .accuracy([Accuracy::Double, Accuracy::Single, Accuracy::Target(1e-6)][generator.below(3)]);
    let problem = ntt(problem);
    let say = |what: &str| format!("seed {SEED}, {what}: {problem:?}");
    let (input_width, output_width) = widths(problem.kind());
    let values: Vec<T> = random_values(generator, count(&problem.input_shape()) * input_width);
    let length = count(&problem.output_shape()) * output_width;
    let run = |problem: &Problem, copies: usize| -> Result<Vec<T>, FftError> {
        let plan = planner.plan(&problem.clone().batch(copies))?;
        let mut output = vec![T::from_double(0.0); copies * length];
        execute_any(&plan, &values.repeat(copies), &mut output)?;
        Ok(output)
    };
    let expected = run(&problem, 1).map_err(|error| say(&error.to_string()))?;
    for unit in [CpuUnit::Scalar, CpuUnit::Avx2, CpuUnit::Avx512Vnni] {
        match run(&problem.clone().substrate(unit), 1) {
            Ok(found) => same_bits(&expected, &found, SEED)
                .map_err(|difference| say(&format!("{unit} {difference}")))?,
            Err(FftError::Unsupported(_)) if unit != CpuUnit::Scalar => {}
            Err(error) => return Err(say(&error.to_string())),
        }
    }
    let copies = 1 + generator.below(4);
    let found =
        run(&problem.clone().threads(3), copies).map_err(|error| say(&error.to_string()))?;
    for copy in found.chunks(length) {
        same_bits(&expected, copy, SEED)
            .map_err(|difference| say(&format!("3 threads {difference}")))?;
    }
    Ok(())
}

#[test]
fn units_threads_and_batches_have_the_same_bits() {
    let mut generator = Generator::new(SEED);
    let (doubles, singles) = (Planner::<f64>::new(), Planner::<f32>::new());
    let cases = if everything() { 2_000 } else { 150 };
    for number in 0..cases {
        let outcome = match number % 4 {
            0 => differing(&singles, &mut generator),
            _ => differing(&doubles, &mut generator),
        };
        outcome.unwrap_or_else(|what| panic!("case {number}: {what}"));
        if number % 16 == 15 {
            doubles.clear();
            singles.clear();
        }
    }
}

#[test]
fn a_long_line_has_the_same_bits_on_several_threads() {
    // Divided among threads, of even length with parts beyond a power of two, and of odd length.
    let n = 33_001;
    let line = uniform_complex(n, SEED + 7);
    let planner = Planner::new();
    let expected = transform(&plan(&planner, &ntt(Problem::complex(&[n]))), &line);
    for threads in [2, 4] {
        let problem = ntt(Problem::complex(&[n])).threads(threads);
        let found = transform(&plan(&planner, &problem), &line);
        assert_eq!(bits(&expected), bits(&found), "{threads} threads");
    }
}

#[test]
fn zeros_and_wisdom_are_kept() {
    let problem = ntt(Problem::complex(&[35]));
    let (first, second) = (Planner::<f64>::new(), Planner::<f64>::new());
    let decided = first.plan(&problem).unwrap();
    let zeros = vec![Complex::new(-0.0, 0.0); 35];
    let output = transform(&decided, &zeros);
    assert!(
        output
            .iter()
            .all(|z| z.re.to_bits() == 0 && z.im.to_bits() == 0)
    );
    assert_eq!(second.load_wisdom(&first.save_wisdom()), Ok(1));
    let recalled = second.plan(&problem).unwrap();
    assert!(recalled.why().contains("wisdom"), "{recalled}");
    assert_eq!(recalled.engine(), Engine::Ntt);
    assert!(recalled.to_string().contains("engine ntt on"), "{recalled}");
    let line = uniform_complex(35, SEED);
    assert_eq!(
        bits(&transform(&recalled, &line)),
        bits(&transform(&decided, &line))
    );
}

#[test]
fn what_the_engine_does_not_do_is_rejected_with_a_remedy() {
    let rejected = |problem: Problem| match Planner::<f64>::new().plan(&problem) {
        Ok(plan) => panic!("planned: {plan}"),
        Err(error) => error.to_string(),
    };
    let problem = ntt(Problem::complex(&[64]));
    for (problem, remedy) in [
        (
            problem.clone().products(Products::Exact),
            "take the recipe truncated",
        ),
        (
            problem.clone().substrate(Substrate::Fp8),
            "take auto, scalar",
        ),
        (problem.clone().substrate(CpuUnit::Amx), "take auto, scalar"),
        (
            ntt(Problem::complex(&[(1 << 24) + 2])),
            "take the engine digits",
        ),
    ] {
        let error = rejected(problem);
        assert!(error.contains(remedy), "{error}");
    }
    assert_eq!("ntt".parse(), Ok(Engine::Ntt));
    assert_eq!(problem.kind(), Kind::ComplexToComplex);
}

/// They were rounded under an exponent that is not theirs.
#[test]
fn zeros_beside_tiny_and_huge_numbers_stay_zero() {
    let planner = Planner::new();
    for n in [5, 16] {
        let plan = plan(&planner, &ntt(Problem::complex(&[n])));
        for value in [1e-300, 1e300, f64::MIN_POSITIVE / 8.0] {
            let mut line = vec![Complex::new(0.0, 0.0); n];
            line[0].re = value;
            for found in transform(&plan, &line) {
                assert_eq!(found.re, value, "{n} points");
                assert!(found.im.abs() <= 1e-17 * value, "{n} points: {found:e}");
            }
        }
    }
}
