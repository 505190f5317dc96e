//! Random problems: planning never panics, and what is planned agrees with the referee.

use crate::common_arrays::{
    ComplexDouble, collect, count, execute_any, hermitian_extension, planner, positions,
    random_layout, random_values, referee_direction, scale, spread, unravel, widths,
};
use num_complex::Complex;
use ozfft::{Accuracy, Direction, Engine, Family, Kind, Layout, Norm, Problem, Substrate};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::{DoubleDouble, compare_scaled, dft_axes};
use proptest::prelude::*;

fn directions() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Forward), Just(Direction::Inverse)]
}

fn norms() -> impl Strategy<Value = Norm> {
    prop_oneof![
        Just(Norm::Backward),
        Just(Norm::Ortho),
        Just(Norm::Forward),
        Just(Norm::Unscaled)
    ]
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::ComplexToComplex),
        Just(Kind::RealToComplex),
        Just(Kind::ComplexToReal)
    ]
}

fn engines() -> impl Strategy<Value = Engine> {
    prop_oneof![
        3 => Just(Engine::Digits),
        1 => Just(Engine::Native),
        1 => Just(Engine::Auto)
    ]
}

fn accuracies() -> impl Strategy<Value = Accuracy> {
    prop_oneof![
        Just(Accuracy::Double),
        Just(Accuracy::Single),
        (0..60u32).prop_map(Accuracy::Bits),
        (-18f64..1.0).prop_map(|power| Accuracy::Target(10f64.powf(power))),
    ]
}

fn of_kind(kind: Kind, shape: &[usize]) -> Problem {
    match kind {
        Kind::ComplexToComplex => Problem::complex(shape),
        Kind::RealToComplex => Problem::real_to_complex(shape),
        Kind::ComplexToReal => Problem::complex_to_real(shape),
    }
}

prop_compose! {
    /// Anything at all, sense or nonsense.
    fn any_problem()(
        kind in kinds(),
        shape in prop::collection::vec(prop_oneof![4 => 0..40usize, 1 => 100..300usize, 1 => Just(usize::MAX)], 0..4),
        axes in prop::option::of(prop::collection::vec(0..5usize, 0..4)),
        direction in directions(),
        norm in norms(),
        batch in prop_oneof![6 => 0..5usize, 1 => Just(usize::MAX)],
        engine in engines(),
        accuracy in accuracies(),
        exact in any::<bool>(),
        wide in any::<bool>(),
        threads in prop::option::of(0..5usize),
        input in prop::option::of((prop::collection::vec(-50..200isize, 0..4), any::<isize>(), 0..500usize)),
        output in prop::option::of((prop::collection::vec(any::<isize>(), 0..4), -50..500isize, any::<usize>())),
    ) -> Problem {
        let mut problem = of_kind(kind, &shape)
            .direction(direction)
            .norm(norm)
            .batch(batch)
            .engine(engine)
            .accuracy(accuracy)
            .family(if exact { Family::Exact } else { Family::Truncated })
            .substrate(if wide { Substrate::WideInteger } else { Substrate::Scalar });
        if let Some(axes) = axes {
            problem = problem.axes(&axes);
        }
        if let Some(threads) = threads {
            problem = problem.threads(threads);
        }
        let layout = |(strides, distance, offset): (Vec<isize>, isize, usize)| {
            Layout::strided(&strides, distance).with_offset(offset)
        };
        if let Some(input) = input {
            problem = problem.input_layout(layout(input));
        }
        if let Some(output) = output {
            problem = problem.output_layout(layout(output));
        }
        problem
    }
}

prop_compose! {
    /// Sensible problems of at most a few thousand points; layouts come from the seed.
    fn sensible_problem()(
        kind in kinds(),
        mut shape in prop::collection::vec(prop_oneof![8 => 1..24usize, 1 => 120..140usize, 1 => 1020..1060usize], 1..4),
        order in Just(vec![0usize, 1, 2]).prop_shuffle(),
        selected in 1..4usize,
        direction in directions(),
        norm in norms(),
        batch in 1..4usize,
        engine in engines(),
        accuracy in accuracies(),
        exact in any::<bool>(),
        wide in any::<bool>(),
        threads in 1..4usize,
        seed in any::<u64>(),
    ) -> (Problem, usize, Vec<usize>, Direction, Norm, u64) {
        while count(&shape) > 2200 {
            shape.pop();
        }
        let mut axes: Vec<usize> = order.into_iter().filter(|&axis| axis < shape.len()).collect();
        axes.truncate(selected);
        let problem = of_kind(kind, &shape)
            .axes(&axes)
            .direction(direction)
            .norm(norm)
            .batch(batch)
            .engine(engine)
            .accuracy(accuracy)
            .threads(threads)
            .family(if exact { Family::Exact } else { Family::Truncated })
            .substrate(if wide { Substrate::WideInteger } else { Substrate::Scalar });
        (problem, batch, axes, direction, norm, seed)
    }
}

fn complex_from(numbers: &[f64], width: usize) -> Vec<ComplexDouble> {
    numbers
        .chunks_exact(width)
        .map(|parts| Complex::new(parts[0], *parts.get(1).unwrap_or(&0.0)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn planning_anything_gives_a_plan_or_an_error_and_never_panics(problem in any_problem()) {
        // A fresh planner each time: keeping thousands of plans would only measure the search for them.
        let outcome = ozfft::Planner::<f64>::new().plan(&problem);
        match outcome {
            Ok(made) => {
                prop_assert!(problem.validate().is_ok());
                prop_assert!(made.engine() != Engine::Auto);
                prop_assert!(!made.to_string().is_empty());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_planned_agrees_with_the_referee((plain, batch, axes, direction, norm, seed) in sensible_problem()) {
        let mut generator = Generator::new(seed);
        let (input_shape, output_shape) = (plain.input_shape(), plain.output_shape());
        let (input_width, output_width) = widths(plain.kind());
        let input_layout = random_layout(&mut generator, &input_shape, batch);
        let output_layout = random_layout(&mut generator, &output_shape, batch);
        let problem = plain.input_layout(input_layout.clone()).output_layout(output_layout.clone());
        let Ok(made) = planner().plan(&problem) else {
            // An accuracy that cannot be had is the only reason left.
            prop_assert!(made_for_double(&problem));
            return Ok(());
        };
        let values: Vec<f64> = random_values(&mut generator, batch * count(&input_shape) * input_width);
        let buffer = spread(
            &values,
            input_width,
            &positions(&input_layout, &input_shape, batch),
            problem.input_len(),
            f64::NAN,
        );
        let mut output = vec![f64::NAN; problem.output_len() * output_width];
        execute_any(&made, &buffer, &mut output).unwrap();
        let found = collect(&output, output_width, &positions(&output_layout, &output_shape, batch));
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
                Kind::ComplexToReal => exact.values.iter_mut().for_each(|z| z.im = DoubleDouble::default()),
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
            prop_assert!(error <= room * made.bound(), "{error:e} above {:e}", made.bound());
        }
    }
}

/// Whether a problem can be planned once its accuracy is left at the default.
fn made_for_double(problem: &Problem) -> bool {
    planner()
        .plan(&problem.clone().accuracy(Accuracy::Double))
        .is_ok()
}
