//! What the bound of complex-to-real transforms of several axes is relative to: the half-spectrum as given
//! (docs/numerics.md, section 9). Its first and last columns should be Hermitian along the other axes, and need not be.

use crate::support::{digits, plan};
use num_complex::Complex;
use ozfft::{Kind, Norm, Planner, Problem};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::uniform_complex;
use ozfft_testkit::oracle::{DoubleDouble, dft_nd};

const ROWS: usize = 64;
const COLUMNS: usize = 64;
const HALF: usize = COLUMNS / 2 + 1;

fn opposite(row: usize) -> usize {
    (ROWS - row) % ROWS
}

/// The whole spectrum: columns beyond the middle mirror those before it, the first and the middle one are as given.
fn extended(half: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let element = |row: usize, column: usize| match column {
        0..HALF => half[row * HALF + column],
        _ => half[opposite(row) * HALF + COLUMNS - column].conj(),
    };
    let all = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
    all.map(|(row, column)| element(row, column)).collect()
}

/// Norms of the error, of the result, and of the whole transform with the imaginary part that is left out.
fn norms(half: &[Complex<f64>]) -> (f64, f64, f64, f64) {
    let problem = digits(Problem::complex_to_real(&[ROWS, COLUMNS])).norm(Norm::Unscaled);
    let plan = plan(&Planner::new(), &problem);
    assert_eq!(plan.problem().kind(), Kind::ComplexToReal);
    assert_eq!(
        plan.bound_relative_to(),
        "the norm of the half-spectrum as given"
    );
    assert!(plan.to_string().contains("half-spectrum as given"));
    let mut output = vec![0.0; ROWS * COLUMNS];
    // Reported where it can be seen in the input, which is along one axis alone.
    plan.process_complex_to_real(half, &mut output)
        .expect("the half-spectrum");
    let whole = extended(half);
    let exact = dft_nd(&whole, &[ROWS, COLUMNS], oracle::Direction::Inverse);
    let (mut error, mut result) = (0.0, 0.0);
    for (&computed, value) in output.iter().zip(&exact.values) {
        let value = value.re.scale_by_power_of_two(exact.exponent);
        let difference = (value - DoubleDouble::from(computed)).to_f64();
        error += difference * difference;
        let value = value.to_f64();
        result += value * value;
    }
    let given: f64 = whole.iter().map(|z| z.norm_sqr()).sum();
    let points = (ROWS * COLUMNS) as f64;
    (
        error.sqrt(),
        result.sqrt(),
        (points * given).sqrt(),
        plan.bound(),
    )
}

#[test]
fn an_anti_hermitian_first_column_has_errors_relative_to_what_is_given() {
    let mut half: Vec<Complex<f64>> = uniform_complex(ROWS * HALF, 20);
    for (i, value) in half.iter_mut().enumerate() {
        if !(i % HALF).is_multiple_of(HALF - 1) {
            *value *= 1e-10;
        }
    }
    // The opposite of Hermitian along the rows: it contributes nothing to the real part.
    for column in [0, HALF - 1] {
        for row in 0..=ROWS / 2 {
            let value = half[row * HALF + column];
            let value = match opposite(row) == row {
                true => Complex::new(0.0, value.im),
                false => value,
            };
            half[row * HALF + column] = value;
            half[opposite(row) * HALF + column] = -value.conj();
        }
    }
    let (error, result, given, bound) = norms(&half);
    println!(
        "seed 20: {:.2e} of the result, {:.2e} of what is given, bound {bound:.2e}",
        error / result,
        error / given
    );
    assert!(
        error <= bound * given,
        "{:.3e} of what is given",
        error / given
    );
    // So the text beside the bound is needed.
    assert!(
        error > 1e3 * bound * result,
        "{:.3e} of the result",
        error / result
    );
}

#[test]
fn half_spectra_of_real_arrays_keep_the_bound_relative_to_the_result() {
    let mut half: Vec<Complex<f64>> = uniform_complex(ROWS * HALF, 21);
    for column in [0, HALF - 1] {
        for row in 0..=ROWS / 2 {
            let value = half[row * HALF + column];
            let value = match opposite(row) == row {
                true => Complex::new(value.re, 0.0),
                false => value,
            };
            half[row * HALF + column] = value;
            half[opposite(row) * HALF + column] = value.conj();
        }
    }
    let (error, result, given, bound) = norms(&half);
    assert!(
        (result / given - 1.0).abs() < 1e-12,
        "{result:e} and {given:e}"
    );
    assert!(
        error <= bound * result,
        "{:.3e}, bound {bound:.3e}",
        error / result
    );
}
