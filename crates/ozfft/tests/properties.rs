//! Properties that need no oracle, with tolerances from `bound()`, and values known by hand.

use crate::support::{PRODUCTS, Violations, complex, digits, plan, transform, transform_real};
use num_complex::Complex;
use ozfft::{Direction, Norm, Planner, Problem};
use ozfft_testkit::oracle::inputs::{Generator, complex_from_real, uniform_complex, uniform_real};
use ozfft_testkit::oracle::{ComplexDoubleDouble, DoubleDouble, root_of_unity};

/// Powers of two, smooth, odd, prime, Bluestein, several passes.
const LENGTHS: [usize; 16] = [
    1, 2, 3, 4, 5, 8, 12, 64, 97, 131, 360, 1000, 1009, 1024, 4096, 6000,
];

/// The 2-norm of differences, taken without rounding.
fn distance(left: &[ComplexDoubleDouble], right: &[ComplexDoubleDouble]) -> f64 {
    assert_eq!(left.len(), right.len());
    left.iter()
        .zip(right)
        .map(|(&a, &b)| {
            let difference = a - b;
            difference.re.to_f64().powi(2) + difference.im.to_f64().powi(2)
        })
        .sum::<f64>()
        .sqrt()
}

fn wide(values: &[Complex<f64>]) -> Vec<ComplexDoubleDouble> {
    values.iter().map(|&value| value.into()).collect()
}

fn norm(values: &[Complex<f64>]) -> f64 {
    values.iter().map(Complex::norm_sqr).sum::<f64>().sqrt()
}

/// The 2-norm to double-double accuracy: Parseval's equation is tested to 1e-16.
fn accurate_norm(values: &[Complex<f64>]) -> DoubleDouble {
    let mut squares = DoubleDouble::ZERO;
    for value in values {
        for part in [value.re, value.im] {
            let part = DoubleDouble::from(part);
            squares += part * part;
        }
    }
    squares.sqrt()
}

/// Values on a grid of 2^-30 in [-1, 1]: sums of a few of them are exact.
fn grid(length: usize, seed: u64) -> Vec<Complex<f64>> {
    let round = |value: f64| (value * 2f64.powi(30)).round() * 2f64.powi(-30);
    uniform_complex(length, seed)
        .into_iter()
        .map(|value| Complex::new(round(value.re), round(value.im)))
        .collect()
}

#[test]
fn forward_and_back_returns_the_input() {
    let planner = Planner::<f64>::new();
    for (seed, length) in (0u64..).zip(LENGTHS) {
        for convention in [Norm::Backward, Norm::Ortho, Norm::Forward] {
            for products in PRODUCTS {
                let problem = complex(&[length]).norm(convention).products(products);
                let forward = plan(&planner, &problem);
                let back = plan(&planner, &problem.direction(Direction::Inverse));
                let line = uniform_complex(length, seed);
                let returned = transform(&back, &transform(&forward, &line));
                let error = distance(&wide(&returned), &wide(&line)) / norm(&line);
                // Neither direction changes norms, so the first error arrives unchanged and the second adds.
                let allowed = forward.bound() + back.bound() * (1.0 + forward.bound());
                assert!(
                    error <= allowed,
                    "{length} {convention:?} {products:?}, seed {seed}: {error:.3e} above {allowed:.3e}"
                );
                let expected = forward.expected().hypot(back.expected());
                assert!(
                    length < 8 || error <= 3.0 * expected,
                    "{length} {convention:?} {products:?}, seed {seed}: {error:.3e}, expected {expected:.3e}"
                );
            }
        }
    }
}

#[test]
fn real_data_return_through_the_half_spectrum() {
    let planner = Planner::<f64>::new();
    for (seed, shape) in (0u64..).zip([vec![2], vec![9], vec![1000], vec![1009], vec![6, 5, 8]]) {
        let forward = plan(&planner, &digits(Problem::real_to_complex(&shape)));
        let back = plan(&planner, &digits(Problem::complex_to_real(&shape)));
        let line = uniform_real(shape.iter().product(), seed);
        let spectrum = transform_real(&forward, &line);
        let mut returned = vec![f64::NAN; line.len()];
        back.process_complex_to_real(&spectrum, &mut returned)
            .unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        let (line, returned) = (complex_from_real(&line), complex_from_real(&returned));
        let error = distance(&wide(&returned), &wide(&line)) / norm(&line);
        let allowed = forward.bound() + back.bound() * (1.0 + forward.bound());
        assert!(
            error <= allowed,
            "{shape:?}, seed {seed}: {error:.3e} above {allowed:.3e}"
        );
    }
}

#[test]
fn parseval() {
    let planner = Planner::<f64>::new();
    for (seed, length) in (100u64..).zip(LENGTHS) {
        let plan = plan(&planner, &complex(&[length]));
        let line = uniform_complex(length, seed);
        let before = accurate_norm(&line) * DoubleDouble::from(length as f64).sqrt();
        let after = accurate_norm(&transform(&plan, &line));
        let error = ((after - before) / before).to_f64().abs();
        assert!(
            error <= plan.bound(),
            "{length}, seed {seed}: norms differ by {error:.3e}, bound {:.3e}",
            plan.bound()
        );
    }
}

#[test]
fn linearity() {
    let planner = Planner::<f64>::new();
    let (a, b) = (3.0, -0.25);
    for (seed, length) in (200u64..).step_by(2).zip(LENGTHS) {
        let plan = plan(&planner, &complex(&[length]));
        let (left, right) = (grid(length, seed), grid(length, seed + 1));
        // Exact on the grid, so that only the transforms err.
        let sum: Vec<Complex<f64>> = left
            .iter()
            .zip(&right)
            .map(|(l, r)| l * a + r * b)
            .collect();
        let [of_left, of_right, of_sum] = [&left, &right, &sum].map(|line| transform(&plan, line));
        let combined: Vec<ComplexDoubleDouble> = wide(&of_left)
            .into_iter()
            .zip(wide(&of_right))
            .map(|(l, r)| l.scale(a.into()) + r.scale(b.into()))
            .collect();
        let error = distance(&wide(&of_sum), &combined);
        let allowed =
            plan.bound() * (norm(&of_sum) + a.abs() * norm(&of_left) + b.abs() * norm(&of_right));
        // The norms on the right are of computed spectra, themselves off by the bound.
        let allowed = allowed * (1.0 + 2.0 * plan.bound());
        assert!(
            error <= allowed,
            "{length}, seed {seed}: {error:.3e} above {allowed:.3e}"
        );
    }
}

#[test]
fn a_shift_in_time_rotates_the_phases() {
    let planner = Planner::<f64>::new();
    for (seed, length) in (300u64..).zip(LENGTHS) {
        let plan = plan(&planner, &complex(&[length]));
        let line = uniform_complex(length, seed);
        let shift = Generator::new(seed).below(length);
        let mut shifted = line.clone();
        shifted.rotate_left(shift);
        let rotated: Vec<ComplexDoubleDouble> = wide(&transform(&plan, &line))
            .into_iter()
            .enumerate()
            .map(|(k, value)| value * root_of_unity(k * shift % length, length).conj())
            .collect();
        let error = distance(&wide(&transform(&plan, &shifted)), &rotated);
        // Both transforms may be off by the bound.
        let allowed = 2.0 * plan.bound() * (length as f64).sqrt() * norm(&line);
        assert!(
            error <= allowed,
            "{length} shifted by {shift}, seed {seed}: {error:.3e} above {allowed:.3e}"
        );
    }
}

#[test]
fn a_quarter_turn_in_time_shifts_the_spectrum() {
    let planner = Planner::<f64>::new();
    for (seed, length) in (400u64..).zip([4, 8, 12, 64, 360, 524, 1000, 1024, 4096, 4036]) {
        let plan = plan(&planner, &complex(&[length]));
        let line = uniform_complex(length, seed);
        // Powers of i rotate without rounding, and move the spectrum by a quarter of its length.
        let powers = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
        let rotated: Vec<Complex<f64>> = line
            .iter()
            .zip(powers.iter().cycle())
            .map(|(&value, &(re, im))| value * Complex::new(re, im))
            .collect();
        let mut moved = wide(&transform(&plan, &line));
        moved.rotate_right(length / 4);
        let error = distance(&wide(&transform(&plan, &rotated)), &moved);
        let allowed = 2.0 * plan.bound() * (length as f64).sqrt() * norm(&line);
        assert!(
            error <= allowed,
            "{length}, seed {seed}: {error:.3e} above {allowed:.3e}"
        );
    }
}

#[test]
fn real_input_has_a_hermitian_spectrum() {
    let planner = Planner::<f64>::new();
    for (seed, length) in (500u64..).zip(LENGTHS) {
        let complex_plan = plan(&planner, &complex(&[length]));
        let real_plan = plan(&planner, &digits(Problem::real_to_complex(&[length])));
        let line = uniform_real(length, seed);
        let full = transform(&complex_plan, &complex_from_real(&line));
        let mirrored: Vec<Complex<f64>> = (0..length)
            .map(|k| full[(length - k) % length].conj())
            .collect();
        let size = (length as f64).sqrt() * norm(&complex_from_real(&line));
        let error = distance(&wide(&full), &wide(&mirrored));
        assert!(
            error <= 2.0 * complex_plan.bound() * size,
            "{length}, seed {seed}: off its mirror image by {error:.3e}"
        );
        let half = transform_real(&real_plan, &line);
        let error = distance(&wide(&half), &wide(&full[..half.len()]));
        assert!(
            error <= (real_plan.bound() + complex_plan.bound()) * size,
            "{length}, seed {seed}: half-spectrum off the spectrum by {error:.3e}"
        );
    }
}

#[test]
fn the_first_and_middle_value_of_a_half_spectrum_are_real() {
    // They are by definition, and going back to real data reports anything else as an error.
    let planner = Planner::<f64>::new();
    let violations = Violations::default();
    for (seed, length) in (600u64..).zip(LENGTHS) {
        for products in PRODUCTS {
            let problem = digits(Problem::real_to_complex(&[length])).products(products);
            let half = transform_real(&plan(&planner, &problem), &uniform_real(length, seed));
            let middle = if length % 2 == 0 { length / 2 } else { 0 };
            for k in [0, middle] {
                violations.check(half[k].im == 0.0, || {
                    format!(
                        "{length} {products:?}, seed {seed}: output {k} is {}",
                        half[k]
                    )
                });
            }
        }
    }
    violations.report();
}

#[test]
fn spectra_known_by_hand() {
    let planner = Planner::<f64>::new();
    let forward = |line: &[(f64, f64)]| {
        let line: Vec<Complex<f64>> = line.iter().map(|&(re, im)| Complex::new(re, im)).collect();
        let plan = plan(&planner, &complex(&[line.len()]));
        (transform(&plan, &line), plan.bound())
    };
    let root = 0.5 * 3f64.sqrt();
    // The DFT of 1, 2, ..., n is -n/2 + i·n/2·cot(πk/n) but for the sum at k = 0; cotangents to 17 digits.
    let ramp5 = [
        (15.0, 0.0),
        (-2.5, 3.440_954_801_177_933_4),
        (-2.5, 0.812_299_240_582_265_8),
        (-2.5, -0.812_299_240_582_265_8),
        (-2.5, -3.440_954_801_177_933_4),
    ];
    let ramp8 = [
        (36.0, 0.0),
        (-4.0, 9.656_854_249_492_381),
        (-4.0, 4.0),
        (-4.0, 1.656_854_249_492_380_2),
        (-4.0, 0.0),
        (-4.0, -1.656_854_249_492_380_2),
        (-4.0, -4.0),
        (-4.0, -9.656_854_249_492_381),
    ];
    let ramp = |length: u32| -> Vec<(f64, f64)> {
        (1..=length).map(|value| (f64::from(value), 0.0)).collect()
    };
    let cases: [[Vec<(f64, f64)>; 2]; 5] = [
        [vec![(2.5, -1.0)], vec![(2.5, -1.0)]],
        [
            vec![(1.0, 0.0), (0.0, 0.0), (0.0, 1.0)],
            vec![(1.0, 1.0), (1.0 - root, -0.5), (1.0 + root, -0.5)],
        ],
        [
            ramp(4),
            vec![(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0), (-2.0, -2.0)],
        ],
        [ramp(5), ramp5.to_vec()],
        [ramp(8), ramp8.to_vec()],
    ];
    for [line, known] in cases {
        let (output, bound) = forward(&line);
        let known: Vec<Complex<f64>> = known
            .into_iter()
            .map(|(re, im)| Complex::new(re, im))
            .collect();
        let error = distance(&wide(&output), &wide(&known)) / norm(&known);
        // The literals are rounded once themselves.
        let allowed = bound + f64::EPSILON / 2.0;
        assert!(error <= allowed, "{line:?}: {output:?}, off by {error:.3e}");
    }
}

#[test]
fn integers_are_transformed_exactly_at_two_and_four_points() {
    let planner = Planner::<f64>::new();
    let large = 2f64.powi(40);
    let mut generator = Generator::new(9);
    let mut integer = |bits: i32| (generator.uniform() * 2f64.powi(bits)).trunc();
    for trial in 0..400 {
        let mut line: Vec<Complex<f64>> = match trial {
            // The sums cancel to one part in 2^40 of their terms.
            0 => [large + 1.0, -large, large, -large - 1.0]
                .map(|value| Complex::new(value, -value))
                .to_vec(),
            1 => [large + 1.0, large, 1.0 - large, -large]
                .map(|value| Complex::new(value, 1.0))
                .to_vec(),
            // Up to 2^51 all sums of four have at most 53 bits.
            _ => (0..4)
                .map(|_| Complex::new(integer(trial % 51 + 1), integer((7 * trial) % 51 + 1)))
                .collect(),
        };
        for length in [4, 2] {
            line.truncate(length);
            // The definition in 64-bit integers; at these lengths every factor is a power of -i.
            let integers: Vec<(i64, i64)> =
                line.iter().map(|z| (z.re as i64, z.im as i64)).collect();
            let known: Vec<Complex<f64>> = (0..length)
                .map(|k| {
                    let mut sum = (0i64, 0i64);
                    for (j, &(re, im)) in integers.iter().enumerate() {
                        let term = match j * k * (4 / length) % 4 {
                            0 => (re, im),
                            1 => (im, -re),
                            2 => (-re, -im),
                            _ => (-im, re),
                        };
                        sum = (sum.0 + term.0, sum.1 + term.1);
                    }
                    Complex::new(sum.0 as f64, sum.1 as f64)
                })
                .collect();
            for products in PRODUCTS {
                let problem = complex(&[length]).products(products);
                let output = transform(&plan(&planner, &problem), &line);
                assert_eq!(output, known, "{line:?} {products:?}, seed 9");
                let back = plan(&planner, &problem.direction(Direction::Inverse));
                assert_eq!(
                    transform(&back, &output),
                    line,
                    "back from {output:?} {products:?}"
                );
            }
        }
    }
}
