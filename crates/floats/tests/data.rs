//! Data that are not ordinary, and calls that are wrong.

use floats::{Direction, FloatError, FloatPlan, Mode, Table, Unit};
use num_complex::Complex;
use ozfft_testkit::oracle::inputs;

fn line(n: usize, seed: u64) -> Vec<Complex<f32>> {
    let values = inputs::uniform_complex(n, seed);
    values
        .iter()
        .map(|v| Complex::new(v.re as f32, v.im as f32))
        .collect()
}

#[test]
fn a_nonfinite_line_becomes_nan_and_other_lines_are_unchanged() {
    for mode in Mode::ALL {
        for (n, table) in [
            (1, Table::Measured),
            (6, Table::Measured),
            (64, Table::Posted),
            (256, Table::Measured),
            (1009, Table::Measured),
        ] {
            let plan =
                FloatPlan::with_table(n, mode, Direction::Forward, Unit::best(), table).unwrap();
            let mut workspace = plan.workspace();
            let mut good = line(40 * n, 1);
            let mut bad = good.clone();
            bad[3 * n].re = f32::NAN;
            bad[17 * n + n / 2].im = f32::INFINITY;
            bad[39 * n + n - 1].re = f32::NEG_INFINITY;
            plan.process(&mut good, &mut workspace).unwrap();
            plan.process(&mut bad, &mut workspace).unwrap();
            for (number, (good, bad)) in good.chunks(n).zip(bad.chunks(n)).enumerate() {
                if [3, 17, 39].contains(&number) {
                    assert!(
                        bad.iter().all(|v| v.re.is_nan() && v.im.is_nan()),
                        "{mode} {n}"
                    );
                } else {
                    assert_eq!(good, bad, "{mode} {n} line {number}");
                }
            }
        }
    }
}

#[test]
fn results_that_do_not_fit_are_infinite_and_the_rest_is_not() {
    for mode in Mode::ALL {
        let n = 64;
        let plan = FloatPlan::new(n, mode, Direction::Forward, Unit::best()).unwrap();
        let mut lines = vec![Complex::new(3e38f32, 0.0); n];
        plan.process(&mut lines, &mut plan.workspace()).unwrap();
        assert_eq!(lines[0].re, f32::INFINITY, "{mode}");
        let rest = lines[1..]
            .iter()
            .all(|v| v.re.is_finite() && v.im.is_finite());
        assert!(rest, "{mode}");
    }
}

#[test]
fn a_number_of_lines_does_not_change_their_bits_and_workspaces_may_be_used_again() {
    for mode in Mode::ALL {
        for n in [12, 256, 400, 509] {
            let plan = FloatPlan::new(n, mode, Direction::Inverse, Unit::best()).unwrap();
            let all = line(37 * n, 8);
            let mut together = all.clone();
            let mut workspace = plan.workspace();
            plan.process(&mut together, &mut workspace).unwrap();
            for count in [1, 2, 5, 16, 19, 33] {
                let mut some = all[..count * n].to_vec();
                plan.process(&mut some, &mut workspace).unwrap();
                assert_eq!(some, together[..count * n], "{mode} {n}: {count} lines");
            }
        }
    }
}

#[test]
fn threads_share_a_plan() {
    for mode in Mode::ALL {
        let n = 1024;
        let plan = FloatPlan::new(n, mode, Direction::Forward, Unit::best()).unwrap();
        let input = line(8 * n, 2);
        let mut reference = input.clone();
        plan.process(&mut reference, &mut plan.workspace()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut lines = input.clone();
                    plan.process(&mut lines, &mut plan.workspace()).unwrap();
                    assert_eq!(lines, reference, "{mode}");
                });
            }
        });
    }
}

#[test]
fn forward_then_inverse_is_n_times_the_line() {
    for mode in Mode::ALL {
        let n = 360;
        let there = FloatPlan::new(n, mode, Direction::Forward, Unit::best()).unwrap();
        let back = FloatPlan::new(n, mode, Direction::Inverse, Unit::best()).unwrap();
        let input = line(n, 6);
        let mut lines = input.clone();
        there.process(&mut lines, &mut there.workspace()).unwrap();
        back.process(&mut lines, &mut back.workspace()).unwrap();
        let norm = |values: &mut dyn Iterator<Item = Complex<f64>>| {
            values.map(|v| v.norm_sqr()).sum::<f64>().sqrt()
        };
        let wide = |v: &Complex<f32>| Complex::new(f64::from(v.re), f64::from(v.im));
        let error = norm(
            &mut lines
                .iter()
                .zip(&input)
                .map(|(l, i)| wide(l) / n as f64 - wide(i)),
        );
        let size = norm(&mut input.iter().map(wide));
        let (a, b) = (there.bound(), back.bound());
        assert!(
            error <= (a + b + a * b) * size * 1.0001,
            "{mode}: {}",
            error / size
        );
    }
}

#[test]
fn invalid_calls_return_errors_that_name_the_cause() {
    let plan = FloatPlan::new(16, Mode::Fast, Direction::Forward, Unit::Scalar).unwrap();
    let mut lines = line(17, 0);
    let before = lines.clone();
    let error = plan.process(&mut lines, &mut plan.workspace()).unwrap_err();
    assert_eq!(error, FloatError::NotWholeLines { values: 17, n: 16 });
    assert_eq!(lines, before);
    let other = FloatPlan::new(32, Mode::Fast, Direction::Forward, Unit::Scalar).unwrap();
    let error = plan
        .process(&mut lines[..16], &mut other.workspace())
        .unwrap_err();
    assert!(error.to_string().contains("32 points"), "{error}");
    assert_eq!(lines, before);
    let error = plan
        .process_f64(&mut [Complex::default(); 16], &mut plan.workspace())
        .unwrap_err();
    assert_eq!(error, FloatError::DataTooWide { mode: Mode::Fast });
    let error = FloatPlan::new(0, Mode::Fast, Direction::Forward, Unit::Scalar).unwrap_err();
    assert_eq!(error, FloatError::Length { n: 0 });
    assert!(
        "fp8"
            .parse::<Mode>()
            .unwrap_err()
            .to_string()
            .contains("bf16_refined")
    );
}

#[test]
fn plans_say_what_they_do() {
    let says = |n: usize, mode: Mode| {
        let plan = FloatPlan::new(n, mode, Direction::Forward, Unit::Scalar).unwrap();
        plan.describe()
    };
    let text = says(1024, Mode::Ozaki);
    assert!(
        text.contains("32 × 32") && text.contains("scalar (exact products"),
        "{text}"
    );
    let text = says(1009, Mode::Ozaki);
    assert!(
        text.contains("instead of a matrix unit") && text.contains("Bluestein"),
        "{text}"
    );
    let text = says(1000, Mode::Kahan);
    assert!(text.contains("8·5·5·5"), "{text}");
}
