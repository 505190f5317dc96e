//! Random problems: planning never panics, and what is planned agrees with the referee.

use crate::common_arrays::{
    ComplexDouble, collect, count, direction_of, execute_any, hermitian_extension, norm_of,
    planner, positions, problem_of, random_layout, random_values, referee_direction, scale, spread,
    unravel, widths,
};
use num_complex::Complex;
use ozfft::{Accuracy, Engine, Kind, Planner, Problem};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::{DoubleDouble, compare_scaled, dft_axes};
use ozfft_testkit::problems::{self, Domain, RandomProblem, Source, seed_of_case};
use std::panic::{AssertUnwindSafe, catch_unwind};

const SEED: u64 = 0x7a2b_91c0_44de_5e1f;

fn complex_from(numbers: &[f64], width: usize) -> Vec<ComplexDouble> {
    numbers
        .chunks_exact(width)
        .map(|parts| Complex::new(parts[0], *parts.get(1).unwrap_or(&0.0)))
        .collect()
}

#[test]
fn planning_anything_gives_a_plan_or_an_error_and_never_panics() {
    println!("seed {SEED:#x}");
    let (mut planned, mut rejected) = (0, 0);
    for case in 0..20_000 {
        let mut generator = Generator::new(seed_of_case(SEED, case));
        let drawn = RandomProblem::draw_nonsense(&mut generator);
        // A fresh planner each time: keeping thousands of plans would only measure the search for them.
        let attempt = || {
            let problem = problem_of(&drawn);
            match Planner::<f64>::new().plan(&problem) {
                Ok(made) => {
                    assert!(problem.validate().is_ok());
                    assert!(made.engine() != Engine::Auto);
                    assert!(!made.to_string().is_empty());
                    planned += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    rejected += 1;
                }
            }
        };
        if catch_unwind(AssertUnwindSafe(attempt)).is_err() {
            panic!("case {case} of seed {SEED:#x}: {drawn:?}");
        }
    }
    println!("{planned} planned, {rejected} rejected");
    assert!(planned > 500 && rejected > 10_000, "{planned} {rejected}");
}

#[test]
fn planned_transforms_agree_with_the_referee() {
    println!("seed {SEED:#x}");
    let mut unplanned = 0;
    for case in 0..4000 {
        let mut generator = Generator::new(seed_of_case(SEED, case));
        let accuracies = [problems::Accuracy::draw_any(&mut generator)];
        let domain = Domain {
            ranks: (1, 3),
            accuracies: &accuracies,
            ..Domain::usual(false)
        };
        let mut drawn = domain.draw(&mut generator);
        drawn.engine = problems::Engine::draw_any(&mut generator);
        drawn.batch = 1 + generator.below(3);
        drawn.threads = Some(1 + generator.below(3));
        drawn.unit = generator.pick(&[problems::Unit::Scalar, problems::Unit::WideInteger]);
        unplanned += usize::from(!agrees_with_the_referee(&drawn, &mut generator, case));
    }
    // Accuracies that cannot be had.
    assert!(unplanned < 2000, "{unplanned}");
}

/// Whether there is a plan; what it computes is compared.
fn agrees_with_the_referee(drawn: &RandomProblem, generator: &mut Generator, case: u64) -> bool {
    let plain = problem_of(drawn);
    let batch = drawn.batch;
    let axes = drawn.axes.clone().expect("some axes");
    let (direction, norm) = (direction_of(drawn.inverse), norm_of(drawn.norm));
    let (input_shape, output_shape) = (plain.input_shape(), plain.output_shape());
    let (input_width, output_width) = widths(plain.kind());
    let input_layout = random_layout(generator, &input_shape, batch);
    let output_layout = random_layout(generator, &output_shape, batch);
    let problem = plain
        .input_layout(input_layout.clone())
        .output_layout(output_layout.clone());
    let Ok(made) = planner().plan(&problem) else {
        // An accuracy that cannot be had is the only reason left.
        assert!(
            made_for_double(&problem),
            "case {case} of seed {SEED:#x}: {problem:?}"
        );
        return false;
    };
    let values: Vec<f64> = random_values(generator, batch * count(&input_shape) * input_width);
    let buffer = spread(
        &values,
        input_width,
        &positions(&input_layout, &input_shape, batch),
        problem.input_len(),
        f64::NAN,
    );
    let mut output = vec![f64::NAN; problem.output_len() * output_width];
    execute_any(&made, &buffer, &mut output).unwrap();
    let found = collect(
        &output,
        output_width,
        &positions(&output_layout, &output_shape, batch),
    );
    let shape = problem.shape();
    let halved = *axes.last().unwrap();
    for (given, got) in values
        .chunks_exact(count(&input_shape) * input_width)
        .zip(found.chunks_exact(count(&output_shape) * output_width))
    {
        let given = complex_from(given, input_width);
        let whole = match problem.kind() {
            Kind::ComplexToReal => hermitian_extension(&given, shape, &axes),
            _ => given,
        };
        let mut exact = dft_axes(&whole, shape, &axes, referee_direction(direction));
        match problem.kind() {
            Kind::ComplexToComplex => {}
            Kind::ComplexToReal => exact
                .values
                .iter_mut()
                .for_each(|z| z.im = DoubleDouble::default()),
            Kind::RealToComplex => {
                let mut element = 0;
                exact.values.retain(|_| {
                    let index = unravel(element, shape);
                    element += 1;
                    2 * index[halved] <= shape[halved]
                });
            }
        }
        let got = complex_from(got, output_width);
        let error = compare_scaled(&got, &exact, scale(norm, direction, problem.points())).l2;
        // Half of a spectrum, or its real part, may carry all of the error but only part of the norm. Native errors
        // are measured, not proven.
        let room = match (made.engine(), problem.kind()) {
            (Engine::Digits, Kind::ComplexToComplex) => 1.0,
            (Engine::Digits, _) => 2.0,
            _ => 8.0,
        };
        assert!(
            error <= room * made.bound(),
            "case {case} of seed {SEED:#x}, {problem:?}: {error:e} above {:e}",
            made.bound()
        );
    }
    true
}

/// Whether a problem can be planned once its accuracy is left at the default.
fn made_for_double(problem: &Problem) -> bool {
    planner()
        .plan(&problem.clone().accuracy(Accuracy::Double))
        .is_ok()
}
