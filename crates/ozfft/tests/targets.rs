//! Accuracies other than `Double`: what is asked for is delivered, and the figures a plan gives hold.

use crate::support::{
    PRODUCTS, Violations, Worst, complex, decades, digits, half, in_parallel, plan, transform,
    transform_real,
};
use num_complex::Complex;
use ozfft::{Accuracy, FftError, Plan, Planner, Problem, Products};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{complex_from_real, uniform_complex, uniform_real};
use ozfft_testkit::oracle::{ErrorNorms, HardInput, Scale, compare, compare_f32, dft_nd};

/// Powers of two, smooth, one large prime step, Bluestein, several passes, two and three axes.
const SHAPES: [&[usize]; 14] = [
    &[8],
    &[16],
    &[60],
    &[64],
    &[127],
    &[131],
    &[1000],
    &[1009],
    &[1024],
    &[4096],
    &[6000],
    &[10_007],
    &[60, 131],
    &[16, 12, 20],
];

fn forward_errors(plan: &Plan<f64>, line: &[Complex<f64>]) -> ErrorNorms {
    let exact = dft_nd(line, plan.problem().shape(), oracle::Direction::Forward);
    compare(&transform(plan, line), &exact)
}

#[test]
fn every_decade_is_delivered() {
    let violations = Violations::default();
    let (above, below, nearest) = (Worst::none(), Worst::none(), Worst::none());
    let shapes: Vec<&[usize]> = SHAPES.into_iter().rev().collect();
    in_parallel(&shapes, |planner, shape| {
        let points = shape.iter().product();
        let seed = points as u64;
        let random = uniform_complex(points, seed);
        let exact = dft_nd(&random, shape, oracle::Direction::Forward);
        let hard: Vec<_> = HardInput::ALL
            .into_iter()
            .map(|input| {
                let line = input.generate(points, seed);
                let exact = dft_nd(&line, shape, oracle::Direction::Forward);
                (input.name(), line, exact)
            })
            .collect();
        for (target, accuracy) in decades() {
            for products in PRODUCTS {
                // Exact products have the same digits; a few decades show that they keep the promises too.
                if products == Products::Exact && ![1e-3, 1e-9, 1e-15].contains(&target) {
                    continue;
                }
                let label = format!("{shape:?} {target:e} {products:?}");
                let plan = match planner.plan(&complex(shape).accuracy(accuracy).products(products))
                {
                    Ok(plan) => plan,
                    Err(error) => {
                        violations.check(false, || format!("{label}: {error}"));
                        continue;
                    }
                };
                let error = compare(&transform(&plan, &random), &exact).l2;
                violations.check(error <= target, || {
                    format!("{label} random, seed {seed}: L2 {error:.3e} above the target")
                });
                let ratio = error / plan.expected();
                violations.check((1.0 / 3.0..=3.0).contains(&ratio), || {
                    format!(
                        "{label} random, seed {seed}: L2 {error:.3e} not within 3 of expected {:.3e}; {:?}",
                        plan.expected(),
                        plan.recipe().map(|recipe| recipe.digits)
                    )
                });
                Worst::note(&above, ratio, || label.clone());
                Worst::note(&below, 1.0 / ratio, || label.clone());
                for (name, line, exact) in &hard {
                    let error = compare(&transform(&plan, line), exact).l2;
                    violations.check(error <= plan.bound(), || {
                        format!(
                            "{label} {name}, seed {seed}: L2 {error:.3e} above bound {:.3e}",
                            plan.bound()
                        )
                    });
                    Worst::note(&nearest, error / plan.bound(), || format!("{label} {name}"));
                }
                // Down to 1e-14 a bound below the target must exist; nearer to the type the plan may say that it
                // promises three times the expectation only.
                violations.check(plan.bound() <= target || target < 1e-14, || {
                    format!("{label}: bound {:.3e} above the target", plan.bound())
                });
                violations.check(
                    3.0 * plan.expected() <= target || plan.bound() <= target,
                    || format!("{label}: neither bound nor expectation meets the target"),
                );
            }
        }
    });
    Worst::print(&above, "targets: largest L2/expected");
    Worst::print(&below, "targets: largest expected/L2");
    Worst::print(&nearest, "targets: largest hard error/bound");
    violations.report();
}

#[test]
fn every_decade_is_delivered_for_real_data() {
    let violations = Violations::default();
    in_parallel(&SHAPES, |planner, shape| {
        let points = shape.iter().product();
        let seed = 7 + points as u64;
        let line = uniform_real(points, seed);
        let exact = dft_nd(&complex_from_real(&line), shape, oracle::Direction::Forward);
        let exact = half(&exact, shape);
        for (target, accuracy) in decades() {
            let problem = digits(Problem::real_to_complex(shape)).accuracy(accuracy);
            let plan = plan(planner, &problem);
            let error = compare(&transform_real(&plan, &line), &exact).l2;
            let within = error <= target && error <= plan.bound();
            violations.check(within && error <= 3.0 * plan.expected(), || {
                format!(
                    "{shape:?} real {target:e}, seed {seed}: L2 {error:.3e}, bound {:.3e}, expected {:.3e}",
                    plan.bound(),
                    plan.expected()
                )
            });
        }
    });
    violations.report();
}

#[test]
fn bits_and_single_name_targets() {
    let violations = Violations::default();
    in_parallel(&[1000, 1009, 1024, 4096], |planner, &length| {
        let line = uniform_complex(length, 5);
        let accuracies = (4..=49)
            .step_by(5)
            .map(Accuracy::Bits)
            .chain([Accuracy::Single]);
        for accuracy in accuracies {
            let plan = plan(planner, &complex(&[length]).accuracy(accuracy));
            // Single names a recipe; what it is for is data that are rounded to 24 bits.
            let target = accuracy.target().unwrap_or((-24f64).exp2());
            let error = forward_errors(&plan, &line).l2;
            violations.check(error <= target, || {
                format!("{length} {accuracy:?}, seed 5: L2 {error:.3e} above {target:.3e}")
            });
        }
    });
    violations.report();
}

#[test]
fn less_accuracy_never_takes_more_digits() {
    let planner = Planner::<f64>::new();
    for length in [16, 1009, 1024, 6000] {
        let mut products = 0;
        for (target, accuracy) in decades() {
            let plan = plan(&planner, &complex(&[length]).accuracy(accuracy));
            let Some(recipe) = plan.recipe() else {
                panic!("the digits engine has a recipe");
            };
            let used = recipe.digits;
            let formed: u32 = (0..used.matrix)
                .map(|digit| used.diagonals.saturating_sub(digit).min(used.data))
                .sum();
            assert!(
                formed >= products,
                "{length} at {target:e}: {formed} digit products, but {products} for ten times the error"
            );
            products = formed;
        }
        assert!(products > 0, "{length}");
    }
}

#[test]
fn accuracies_that_cannot_be_reached_are_rejected() {
    let planner = Planner::<f64>::new();
    let single = Planner::<f32>::new();
    for length in [16, 1009, 4096] {
        let problem = complex(&[length]).accuracy(Accuracy::Target(1e-17));
        match planner.plan(&problem) {
            Err(FftError::AccuracyUnreachable { asked, best }) => {
                assert_eq!(asked, 1e-17);
                assert!(best > 1e-17 && best < 1e-14, "{length}: best {best:.3e}");
            }
            Err(error) => panic!("{length}: {error}"),
            Ok(plan) => panic!("{length}: planned {plan}"),
        }
        // f32 results are rounded to 6e-8, whatever happens before.
        let problem = complex(&[length]).accuracy(Accuracy::Target(1e-9));
        assert!(
            matches!(
                single.plan(&problem),
                Err(FftError::AccuracyUnreachable { .. })
            ),
            "{length}"
        );
    }
}

#[test]
fn single_precision_data_meet_targets_above_their_rounding() {
    let violations = Violations::default();
    let planner = Planner::<f32>::new();
    for length in [16, 131, 1000, 1024, 4096] {
        let line: Vec<Complex<f32>> = uniform_complex(length, 6)
            .into_iter()
            .map(|value| Complex::new(value.re as f32, value.im as f32))
            .collect();
        let wide: Vec<Complex<f64>> = line
            .iter()
            .map(|value| Complex::new(f64::from(value.re), f64::from(value.im)))
            .collect();
        let exact = dft_nd(&wide, &[length], oracle::Direction::Forward);
        for target in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
            let problem = complex(&[length]).accuracy(Accuracy::Target(target));
            let plan = planner
                .plan(&problem)
                .unwrap_or_else(|error| panic!("{length} {target:e}: {error}"));
            let mut data = line.clone();
            plan.process(&mut data)
                .unwrap_or_else(|error| panic!("{length} {target:e}: {error}"));
            let error = compare_f32(&data, &exact, Scale::One).l2;
            let ratio = error / plan.expected();
            violations.check(
                error <= target && error <= plan.bound() && (1.0 / 3.0..=3.0).contains(&ratio),
                || {
                    format!(
                        "{length} {target:e}, f32, seed 6: L2 {error:.3e}, bound {:.3e}, expected {:.3e}",
                        plan.bound(),
                        plan.expected()
                    )
                },
            );
        }
    }
    violations.report();
}
