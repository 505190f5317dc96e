//! A transform computed axis by axis over parts of its array (`AxisPlan`) has the bits of the whole plan, however the array is divided.

use crate::common_arrays::{direction_of, norm_of, products_of, unravel};
use num_complex::Complex;
use ozfft::{AxisPlan, Engine, FftError, Kind, Plan, Planner, Problem};
use ozfft_testkit::assert_same_bits;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{self, Domain, Source, make_unusual, numbers, seed_of_case};

const SEED: u64 = 0xa815;
const CASES: u64 = 400;

/// Complex numbers of a batch of arrays; real ones have no imaginary part.
type Array = (Vec<usize>, Vec<Complex<f64>>);

/// Positions of a box's elements in an array of all members of a batch.
fn positions(shape: &[usize], low: &[usize], lengths: &[usize], batch: usize) -> Vec<usize> {
    let points: usize = lengths.iter().product();
    let whole: usize = shape.iter().product();
    let position = |flat: usize| {
        let index = unravel(flat % points, lengths);
        let place = index.iter().zip(low).zip(shape);
        flat / points * whole + place.fold(0, |place, ((i, low), n)| place * n + low + i)
    };
    (0..batch * points).map(position).collect()
}

/// Parts of an array that are whole along an axis, and along axes that are not transformed.
fn divided(
    source: &mut Generator,
    shape: &[usize],
    whole: impl Fn(usize) -> bool,
) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut parts = vec![(Vec::new(), Vec::new())];
    for (axis, &n) in shape.iter().enumerate() {
        let cut = match whole(axis) {
            true => 0,
            false => source.below(n),
        };
        let pieces: &[(usize, usize)] = match cut {
            0 => &[(0, n)],
            _ => &[(0, cut), (cut, n - cut)],
        };
        let extended = parts.iter().flat_map(|(low, lengths)| {
            pieces.iter().map(|&(first, length)| {
                (
                    [low.as_slice(), &[first]].concat(),
                    [lengths.as_slice(), &[length]].concat(),
                )
            })
        });
        parts = extended.collect();
    }
    parts
}

fn run_part(
    plan: &AxisPlan<f64>,
    values: &[Complex<f64>],
    powers: &[i32],
) -> Result<Vec<Complex<f64>>, FftError> {
    let mut workspace = vec![0x5a5a; plan.workspace_len()];
    let reals: Vec<f64> = values.iter().map(|value| value.re).collect();
    let n_half = |values: usize, from: usize, to: usize| values / from * to;
    match plan.kind() {
        Kind::ComplexToComplex => {
            let mut buffer = values.to_vec();
            plan.process(&mut buffer, powers, &mut workspace)?;
            let mut apart = vec![Complex::default(); values.len()];
            plan.process_outofplace(values, &mut apart, powers, &mut workspace)?;
            assert_same_bits(&buffer, &apart, SEED, "in and out of place");
            Ok(buffer)
        }
        Kind::RealToComplex => {
            let n = plan.points();
            let mut output = vec![Complex::default(); n_half(values.len(), n, n / 2 + 1)];
            plan.process_real_to_complex(&reals, &mut output, powers, &mut workspace)?;
            Ok(output)
        }
        Kind::ComplexToReal => {
            let n = plan.points();
            let mut output = vec![0.0; n_half(values.len(), n / 2 + 1, n)];
            plan.process_complex_to_real(values, &mut output, powers, &mut workspace)?;
            Ok(output.into_iter().map(|re| Complex::new(re, 0.0)).collect())
        }
    }
}

fn by_parts(
    source: &mut Generator,
    planner: &Planner<f64>,
    (whole, axes, batch): (&Plan<f64>, &[usize], usize),
    input: &[Complex<f64>],
) -> Result<Vec<Complex<f64>>, FftError> {
    let problem = whole.problem();
    let mut array: Array = (problem.input_shape(), input.to_vec());
    let mut powers = Vec::new();
    let order = whole.axis_order();
    for (number, &axis) in order.iter().enumerate() {
        let (shape, values) = &array;
        // Where lines are halved or doubled the part's shape is the real array's.
        let to_reals = number + 1 == order.len() && problem.kind() == Kind::ComplexToReal;
        let from_reals = number == 0 && problem.kind() == Kind::RealToComplex;
        let mut next_shape = shape.clone();
        next_shape[axis] = match (from_reals, to_reals) {
            (true, _) => problem.shape()[axis] / 2 + 1,
            (_, true) => problem.shape()[axis],
            _ => shape[axis],
        };
        let parts = divided(source, shape, |other| {
            other == axis || !axes.contains(&other)
        });
        let plans = parts.iter().map(|(_, lengths)| {
            let mut lengths = lengths.clone();
            if to_reals {
                lengths[axis] = problem.shape()[axis];
            }
            planner.plan_axis(whole, number, &lengths)
        });
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let held = |(low, lengths): &(Vec<usize>, Vec<usize>)| -> Vec<Complex<f64>> {
            let places = positions(shape, low, lengths, batch);
            places.into_iter().map(|place| values[place]).collect()
        };
        if number == 0 {
            powers = vec![i32::MIN; plans[0].transforms()];
            for (plan, part) in plans.iter().zip(&parts) {
                let mut exponents = vec![0; powers.len()];
                let held = held(part);
                if from_reals {
                    let reals: Vec<f64> = held.iter().map(|value| value.re).collect();
                    plan.largest_exponents_of_reals(&reals, &mut exponents)?;
                } else {
                    plan.largest_exponents(&held, &mut exponents)?;
                }
                let pairs = powers.iter_mut().zip(exponents);
                pairs.for_each(|(power, exponent)| *power = exponent.max(*power));
            }
            let between = |power: &mut i32| *power = whole.power_between_axes(*power);
            powers.iter_mut().for_each(between);
        }
        let points: usize = next_shape.iter().product();
        let mut next = vec![Complex::new(f64::NAN, f64::NAN); batch * points];
        for (plan, part) in plans.iter().zip(&parts) {
            let results = run_part(plan, &held(part), &powers)?;
            let (low, mut lengths) = part.clone();
            lengths[axis] = next_shape[axis];
            let places = positions(&next_shape, &low, &lengths, batch);
            for (place, result) in places.into_iter().zip(results) {
                next[place] = result;
            }
        }
        array = (next_shape, next);
    }
    Ok(array.1)
}

fn at_once(plan: &Plan<f64>, input: &[Complex<f64>]) -> Result<Vec<Complex<f64>>, FftError> {
    let len = plan.problem().output_len();
    let mut output = vec![Complex::default(); len];
    match plan.problem().kind() {
        Kind::ComplexToComplex => plan.process_outofplace(input, &mut output)?,
        Kind::RealToComplex => {
            let reals: Vec<f64> = input.iter().map(|value| value.re).collect();
            plan.process_real_to_complex(&reals, &mut output)?;
        }
        Kind::ComplexToReal => {
            let mut reals = vec![0.0; len];
            match plan.process_complex_to_real(input, &mut reals) {
                // Along one axis; the output is complete.
                Ok(()) | Err(FftError::NotHermitian { .. }) => {}
                Err(error) => return Err(error),
            }
            output = reals.into_iter().map(|re| Complex::new(re, 0.0)).collect();
        }
    }
    Ok(output)
}

#[test]
fn parts_of_random_problems_have_the_bits_of_the_whole() -> Result<(), FftError> {
    let planner = Planner::<f64>::new();
    let mut scaled = 0;
    for case in 0..CASES {
        let seed = seed_of_case(SEED, case);
        let mut source = Generator::new(seed);
        let domain = Domain {
            ranks: (1, 4),
            points: 700,
            ..Domain::usual(false)
        };
        let drawn = domain.draw(&mut source);
        let batch = 1 + source.below(3);
        let axes = drawn.axes.clone().unwrap_or_default();
        let problem = match drawn.kind {
            problems::Kind::ComplexToComplex => Problem::complex(&drawn.shape),
            problems::Kind::RealToComplex => Problem::real_to_complex(&drawn.shape),
            problems::Kind::ComplexToReal => Problem::complex_to_real(&drawn.shape),
        };
        let problem = problem
            .axes(&axes)
            .direction(direction_of(drawn.inverse))
            .norm(norm_of(drawn.norm))
            .products(products_of(drawn.exact))
            .accuracy(crate::common_arrays::accuracy_of(drawn.accuracy))
            .batch(batch)
            .threads(1 + source.below(2));
        let whole = planner.plan(&problem)?;
        let points: usize = problem.input_shape().iter().product();
        let mut input = numbers(&mut source, batch * points);
        if source.once_in(2) {
            make_unusual(&mut source, &mut input);
        }
        if problem.kind() == Kind::RealToComplex {
            input.iter_mut().for_each(|value| value.im = 0.0);
        }
        let expected = at_once(&whole, &input)?;
        let found = by_parts(&mut source, &planner, (&whole, &axes, batch), &input)?;
        assert_same_bits(&expected, &found, seed, format!("{problem:?}"));
        let largest = |value: &Complex<f64>| value.re.abs().max(value.im.abs());
        let largest = input.iter().map(largest).fold(0.0, f64::max);
        scaled += usize::from(axes.len() > 1 && largest.is_finite() && largest > 1e300);
    }
    assert!(scaled > 5, "only {scaled} problems are scaled between axes");
    Ok(())
}

#[test]
fn parts_that_cannot_be_are_rejected() -> Result<(), FftError> {
    let planner = Planner::<f64>::new();
    let whole = planner.plan(&Problem::complex(&[4, 6]))?;
    let message = |shape: &[usize], number| match planner.plan_axis(&whole, number, shape) {
        Ok(_) => panic!("{shape:?} was planned"),
        Err(error) => error.to_string(),
    };
    assert!(message(&[4, 5], 0).contains("6 points along axis 1"));
    assert!(message(&[4, 6, 1], 0).contains("6 points along axis 1"));
    assert!(message(&[0, 6], 0).contains("length 0"));
    assert!(message(&[4, 6], 2).contains("axis 2"));
    let native = planner.plan(&Problem::complex(&[4, 6]).engine(Engine::Native))?;
    let error = planner
        .plan_axis(&native, 0, &[4, 6])
        .expect_err("an error");
    assert!(error.to_string().contains("native"), "{error}");

    let rows = planner.plan_axis(&whole, 0, &[2, 6])?;
    let mut buffer = vec![Complex::new(1.0, 0.0); 12];
    let mut workspace = vec![0; rows.workspace_len()];
    let before = buffer.clone();
    assert!(rows.process(&mut buffer, &[], &mut workspace).is_err());
    assert!(
        rows.process(&mut buffer[1..], &[0], &mut workspace)
            .is_err()
    );
    assert!(
        rows.process(&mut buffer, &[0], &mut workspace[1..])
            .is_err()
    );
    assert!(rows.largest_exponents(&buffer, &mut [0, 0]).is_err());
    assert_eq!(buffer, before);
    Ok(())
}
