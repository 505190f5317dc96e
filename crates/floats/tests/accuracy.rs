//! Every mode against the referee: no error beyond the bound, random lines near what is expected.

use floats::unit::{Order, Scalar};
use floats::{Direction, FloatError, FloatPlan, Format, Mode, Path, Table, Unit};
use num_complex::Complex;
use ozfft_testkit::everything;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::{
    ExactSpectrum, HardInput, Scale, compare_f32, compare_scaled, dft, inputs,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const LENGTHS: [usize; 22] = [
    1, 2, 3, 4, 5, 8, 13, 16, 30, 64, 77, 100, 128, 127, 241, 256, 512, 1000, 1009, 1024, 2018,
    4096,
];

fn to_f32(line: &[Complex<f64>]) -> Vec<Complex<f32>> {
    line.iter()
        .map(|value| Complex::new(value.re as f32, value.im as f32))
        .collect()
}

fn to_f64(line: &[Complex<f32>]) -> Vec<Complex<f64>> {
    line.iter()
        .map(|value| Complex::new(f64::from(value.re), f64::from(value.im)))
        .collect()
}

fn oracles(direction: Direction) -> oracle::Direction {
    match direction {
        Direction::Forward => oracle::Direction::Forward,
        Direction::Inverse => oracle::Direction::Inverse,
    }
}

/// The 2-norm of a spectrum; infinite where it would not fit a double.
fn norm(exact: &ExactSpectrum) -> f64 {
    let sum: f64 = exact
        .values
        .iter()
        .map(|value| value.re.to_f64().powi(2) + value.im.to_f64().powi(2))
        .sum();
    sum.sqrt() * 2f64.powi(exact.exponent)
}

/// What rounding subnormal results to their spacing may add.
fn subnormal(exact: &ExactSpectrum, spacing: f64) -> f64 {
    (2.0 * exact.len() as f64).sqrt() * spacing / norm(exact)
}

/// The lines of a length: random ones, then every hard one that fits f32.
fn lines(n: usize, seed: u64) -> Vec<(String, Vec<Complex<f32>>)> {
    let mut lines = vec![
        (
            "uniform".to_string(),
            to_f32(&inputs::uniform_complex(n, seed)),
        ),
        (
            "normal".to_string(),
            to_f32(&inputs::gaussian_complex(n, seed)),
        ),
        (
            "30 bits".to_string(),
            to_f32(&inputs::wide_range(n, seed, 30)),
        ),
    ];
    for power in [-140, -120, 100] {
        let line = inputs::scaled_by_power_of_two(&inputs::uniform_complex(n, seed), power);
        lines.push((format!("2^{power}"), to_f32(&line)));
    }
    for input in HardInput::ALL {
        let line = to_f32(&input.generate(n, seed));
        let finite = line
            .iter()
            .all(|value| value.re.is_finite() && value.im.is_finite());
        if finite && line.iter().any(|value| value.norm() > 0.0) {
            lines.push((input.name().to_string(), line));
        }
    }
    lines
}

/// A line with its name and its exact spectrum.
type Line = (String, Vec<Complex<f32>>, ExactSpectrum);
type Lines = Arc<Vec<Line>>;

/// [`lines`] with their exact spectra, computed once for all modes: that takes far longer than any mode.
fn exact_lines(n: usize, direction: Direction) -> Lines {
    static KNOWN: Mutex<BTreeMap<(usize, bool), Lines>> = Mutex::new(BTreeMap::new());
    let key = (n, direction == Direction::Forward);
    let known = || KNOWN.lock().unwrap();
    if let Some(lines) = known().get(&key) {
        return Arc::clone(lines);
    }
    let spectrum = |(name, line): (String, Vec<Complex<f32>>)| {
        let exact = dft(&to_f64(&line), oracles(direction));
        (name, line, exact)
    };
    let lines = Arc::new(lines(n, n as u64).into_iter().map(spectrum).collect());
    known().insert(key, Arc::clone(&lines));
    lines
}

/// Plain code for f16 numbers takes long for long lines.
fn is_slow(n: usize, mode: Mode) -> bool {
    mode.format() == Some(Format::Fp16) && n > 300
}

/// Plans once, all lines as one batch, and the first alone.
fn check_f32(n: usize, mode: Mode, direction: Direction, unit: Unit, table: Table) -> f64 {
    let plan = FloatPlan::with_table(n, mode, direction, unit, table).unwrap();
    check_plan(&plan)
}

fn check_plan(plan: &FloatPlan) -> f64 {
    let (n, mode, direction) = (plan.len(), plan.mode(), plan.direction());
    let mut workspace = plan.workspace();
    let seed = n as u64;
    let lines = exact_lines(n, direction);
    let mut batch: Vec<Complex<f32>> = lines.iter().flat_map(|(_, line, _)| line.clone()).collect();
    plan.process(&mut batch, &mut workspace).unwrap();
    let mut alone = lines[0].1.clone();
    plan.process(&mut alone, &mut workspace).unwrap();
    assert_eq!(
        alone,
        batch[..n],
        "{mode} n={n}: batch and single line differ"
    );
    let mut random = 0.0;
    for ((name, _, exact), ours) in lines.iter().zip(batch.chunks_exact(n)) {
        let error = compare_f32(ours, exact, Scale::One).l2;
        let bound = plan.bound() + subnormal(exact, 2f64.powi(-150));
        assert!(
            error <= bound,
            "{} {name} seed {seed}: {error:e} > {bound:e}",
            plan.describe()
        );
        if name == "uniform" {
            random = error;
        }
    }
    random
}

#[test]
fn no_line_exceeds_the_bound_on_any_unit() {
    for mode in Mode::ALL {
        for unit in Unit::available() {
            // Modes without a matrix unit, and those in f16, are the same whatever the unit.
            if mode.format() != Some(Format::Bf16) && unit != Unit::Scalar {
                continue;
            }
            for n in LENGTHS {
                if unit == Unit::Scalar && mode.needs_matrix_unit() && n > 300 {
                    continue;
                }
                for direction in [Direction::Forward, Direction::Inverse] {
                    check_f32(n, mode, direction, unit, Table::Measured);
                }
            }
        }
    }
}

/// Sums as tensor cores have them, and coarser ones.
#[test]
fn no_line_exceeds_the_bound_where_sums_are_aligned_and_cut_off() {
    let orders = [(16, 2), (8, 1), (4, 0)];
    for (depth, guard_bits) in orders {
        let order = Order::Aligned { depth, guard_bits };
        for mode in Mode::ALL {
            let unit = match mode.format() {
                Some(Format::Bf16) => Scalar::new(order),
                Some(Format::Fp16) => Scalar::fp16(order),
                None => continue,
            };
            for n in [16, 64, 256] {
                let plan = FloatPlan::on_unit(n, mode, Direction::Forward, Arc::new(unit)).unwrap();
                let error = check_plan(&plan);
                let ratio = error / plan.expected();
                println!(
                    "{mode} {n} {order:?}: {error:.2e}, expected {:.2e}, at most {:.2e}",
                    plan.expected(),
                    plan.bound()
                );
                assert!(
                    n < 64 || depth < 16 || (0.4..2.5).contains(&ratio),
                    "{mode} {n} {order:?}: {ratio}"
                );
            }
        }
    }
}

#[test]
fn no_line_exceeds_the_bound_by_the_posts_table() {
    for mode in Mode::ALL {
        for n in [2, 3, 7, 16, 64, 100, 128, 256, 512, 1000, 1009, 4096] {
            let is_long = n == 1000 || n == 4096;
            if is_slow(n, mode) || (is_long && !everything()) {
                continue;
            }
            check_f32(n, mode, Direction::Forward, Unit::best(), Table::Posted);
            if n < 300 || everything() {
                check_f32(n, mode, Direction::Inverse, Unit::best(), Table::Posted);
            }
        }
    }
}

#[test]
fn no_line_exceeds_the_bound_by_any_one_algorithm() {
    let paths = [
        Path::DftGemm,
        Path::Radix8,
        Path::Radix4,
        Path::Mixed,
        Path::Butterfly,
        Path::Bluestein,
    ];
    for path in paths {
        for n in [16, 32, 64, 100, 256, 512] {
            let table = Table::Only(path);
            if table.find(n, Mode::Fast).is_some() {
                check_f32(n, Mode::Fast, Direction::Forward, Unit::Scalar, table);
            } else {
                let plan =
                    FloatPlan::with_table(n, Mode::Fast, Direction::Forward, Unit::Scalar, table);
                let error = plan.expect_err("a length without this algorithm");
                assert_eq!(error, FloatError::NoSuchPath { path, n });
            }
        }
    }
}

#[test]
fn random_lines_err_as_expected() {
    // Within a factor of two for lengths at which a mean over the line means something.
    for mode in Mode::ALL {
        for table in [Table::Measured, Table::Posted] {
            for n in [64, 128, 256, 512, 1000, 1009, 1024, 4096] {
                let is_long = table == Table::Posted && n > 512;
                if is_slow(n, mode) || (is_long && !everything()) {
                    continue;
                }
                let unit = Unit::best();
                let plan = FloatPlan::with_table(n, mode, Direction::Forward, unit, table).unwrap();
                let error = check_f32(n, mode, Direction::Forward, unit, table);
                let ratio = error / plan.expected();
                println!(
                    "{mode} {table:?} {n}: {error:.2e}, expected {:.2e}, bound {:.2e}",
                    plan.expected(),
                    plan.bound()
                );
                // One sum after the other, products of few bits fit it more often than `expected` counts with: `ozaki_hq` has a
                // quarter of it at 64 points on units that add so. Being better is no failure there.
                let in_pairs = unit.get().is_ok_and(|unit| unit.order() == Order::Pairs);
                let least = if in_pairs { 0.0 } else { 0.5 };
                assert!(
                    (least..2.0).contains(&ratio),
                    "{mode} {table:?} {n}: {ratio}"
                );
            }
        }
    }
}

#[test]
fn f64_data_keep_the_bound_in_the_modes_that_take_them() {
    for mode in [Mode::OzakiTwoLevel, Mode::Double] {
        for n in LENGTHS {
            for direction in [Direction::Forward, Direction::Inverse] {
                if n > 1024 && direction == Direction::Inverse && !everything() {
                    continue;
                }
                let plan = FloatPlan::new(n, mode, direction, Unit::best()).unwrap();
                let mut workspace = plan.workspace();
                let bound = plan.bound_f64().unwrap();
                let lines: Vec<_> = HardInput::ALL
                    .into_iter()
                    .map(|input| (input.name(), input.generate(n, 4)))
                    .chain([("uniform", inputs::uniform_complex(n, 4))])
                    .filter(|(_, line)| line.iter().any(|value| value.norm() > 0.0))
                    .collect();
                let mut batch: Vec<_> = lines.iter().flat_map(|(_, line)| line.clone()).collect();
                plan.process_f64(&mut batch, &mut workspace).unwrap();
                for ((name, line), ours) in lines.iter().zip(batch.chunks_exact(n)) {
                    let exact = dft(line, oracles(direction));
                    let error = compare_scaled(ours, &exact, Scale::One).l2;
                    let bound = bound + subnormal(&exact, f64::from_bits(1)).min(1.0);
                    assert!(
                        error <= bound,
                        "{mode} n={n} {name}: {error:e} > {bound:e}, seed 4"
                    );
                    if *name == "uniform" && n >= 64 {
                        let ratio = error / plan.expected_f64().unwrap();
                        assert!(
                            (0.4..2.5).contains(&ratio),
                            "{mode} n={n}: {error:e}, ratio {ratio}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn two_level_has_the_same_bits_on_every_unit() {
    for n in [3, 64, 100, 256, 1000, 1024] {
        let line = inputs::uniform_complex(3 * n, 9);
        let results = Unit::available().map(|unit| {
            let plan = FloatPlan::new(n, Mode::OzakiTwoLevel, Direction::Forward, unit).unwrap();
            let mut line = line.clone();
            plan.process_f64(&mut line, &mut plan.workspace()).unwrap();
            line
        });
        let results: Vec<_> = results.collect();
        assert!(
            results.windows(2).all(|pair| pair[0] == pair[1]),
            "n={n}, seed 9"
        );
    }
}

#[test]
fn an_impulse_and_a_constant_come_out_as_worked_by_hand() {
    for mode in Mode::ALL {
        let plan = FloatPlan::new(4, mode, Direction::Forward, Unit::best()).unwrap();
        let number = |re: f32, im: f32| Complex::new(re, im);
        let mut lines = vec![
            number(0.0, 0.0),
            number(1.0, 0.0),
            number(0.0, 0.0),
            number(0.0, 0.0),
            number(1.0, 2.0),
            number(1.0, 2.0),
            number(1.0, 2.0),
            number(1.0, 2.0),
        ];
        plan.process(&mut lines, &mut plan.workspace()).unwrap();
        // Powers of -i, and everything in the first output; small integers are exact in every mode.
        let expected = vec![
            number(1.0, 0.0),
            number(0.0, -1.0),
            number(-1.0, 0.0),
            number(0.0, 1.0),
            number(4.0, 8.0),
            number(0.0, 0.0),
            number(0.0, 0.0),
            number(0.0, 0.0),
        ];
        assert_eq!(lines, expected, "{mode}");
    }
}
