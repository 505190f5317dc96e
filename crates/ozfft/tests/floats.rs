//! The floats engine behind problems: every mode, kind, layout and norm keeps its bound, with the same bits for any number
//! of threads; what cannot be had is rejected.

use crate::support::{Violations, half, oracle_direction, plan, scale, transform, transform_real};
use ::floats::{FloatPlan, Unit};
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Device, Direction, Engine, FftError, FloatError, Layout, Mode, Norm,
    Planner, Problem, Products, Substrate,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{
    complex_from_real, scaled_by_power_of_two, uniform_complex, uniform_real,
};
use ozfft_testkit::oracle::{compare_f32, compare_scaled, dft_axes, dft_nd, rounded_once};

const SEED: u64 = 91;

fn floats(problem: Problem, mode: Mode) -> Problem {
    problem.engine(Engine::Floats(mode)).threads(1)
}

fn narrow(values: &[Complex<f64>]) -> Vec<Complex<f32>> {
    let narrowed = values
        .iter()
        .map(|z| Complex::new(z.re as f32, z.im as f32));
    narrowed.collect()
}

fn widen(values: &[Complex<f32>]) -> Vec<Complex<f64>> {
    let widened = values
        .iter()
        .map(|z| Complex::new(z.re.into(), z.im.into()));
    widened.collect()
}

fn bits(values: &[Complex<f64>]) -> Vec<[u64; 2]> {
    let pairs = values.iter().map(|z| [z.re.to_bits(), z.im.to_bits()]);
    pairs.collect()
}

#[test]
fn every_mode_and_norm_keeps_its_bound_on_data_of_both_types() {
    let violations = Violations::default();
    let (doubles, singles) = (Planner::<f64>::new(), Planner::<f32>::new());
    for shape in [&[1][..], &[16], &[1000], &[257], &[24, 17], &[5, 4, 6]] {
        let points = shape.iter().product();
        let single = narrow(&uniform_complex(points, SEED));
        let input = widen(&single);
        for direction in [Direction::Forward, Direction::Inverse] {
            let exact = dft_nd(&input, shape, oracle_direction(direction));
            for (number, mode) in Mode::ALL.into_iter().enumerate() {
                let norms = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];
                let norm = norms[(number + points) % 4];
                let problem = Problem::complex(shape).direction(direction).norm(norm);
                let problem = floats(problem, mode);
                let scale = scale(norm, direction, points);
                let made = plan(&doubles, &problem);
                let error = compare_scaled(&transform(&made, &input), &exact, scale).l2;
                violations.check(made.bound_is_proven() && error <= made.bound(), || {
                    format!("f64, seed {SEED}: {error:.3e}\n{made}")
                });
                let made = singles.plan(&problem).unwrap();
                let mut data = single.clone();
                made.process(&mut data).unwrap();
                let error = compare_f32(&data, &exact, scale).l2;
                violations.check(error <= made.bound(), || {
                    format!("f32, seed {SEED}: {error:.3e}\n{made}")
                });
            }
        }
    }
    violations.report();
}

#[test]
fn real_kinds_keep_their_bounds() {
    let violations = Violations::default();
    let planner = Planner::<f64>::new();
    for shape in [&[60][..], &[131], &[6, 15], &[3, 4, 8]] {
        let points: usize = shape.iter().product();
        let line = uniform_real(points, SEED);
        let whole = complex_from_real(&line);
        let exact = half(&dft_nd(&whole, shape, oracle::Direction::Forward), shape);
        for mode in Mode::ALL {
            let there = plan(&planner, &floats(Problem::real_to_complex(shape), mode));
            let spectrum = transform_real(&there, &line);
            let error = compare_scaled(&spectrum, &exact, oracle::Scale::One).l2;
            violations.check(error <= there.bound(), || format!("{error:.3e}\n{there}"));
            // The inverse is compared with what it was given.
            let back = plan(&planner, &floats(Problem::complex_to_real(shape), mode));
            let mut returned = vec![f64::NAN; points];
            match back.process_complex_to_real(&rounded_once(&exact), &mut returned) {
                Ok(()) | Err(FftError::NotHermitian { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
            let missed = norm(&mut line.iter().zip(&returned).map(|(a, b)| a - b)).sqrt();
            let error = missed / norm(&mut line.iter().copied()).sqrt();
            // The half-spectrum itself was rounded to f64.
            violations.check(error <= back.bound() + f64::EPSILON, || {
                format!("{error:.3e}\n{back}")
            });
        }
    }
    violations.report();
}

/// Lines of a batch, in a strided array, along one axis of several, in and out of place.
#[test]
fn layouts_axes_batches_and_threads_do_not_change_a_bit() {
    let planner = Planner::<f64>::new();
    for mode in Mode::ALL {
        for n in [12, 100, 256] {
            let lines = 70;
            let input = uniform_complex(lines * n, SEED);
            let problem = floats(Problem::complex(&[n]), mode).norm(Norm::Ortho);
            let one = plan(&planner, &problem);
            let expected: Vec<_> = input
                .chunks(n)
                .flat_map(|line| transform(&one, line))
                .collect();
            let expected = bits(&expected);
            for threads in [1, 2, 5] {
                let batch = problem.clone().batch(lines).threads(threads);
                let made = plan(&planner, &batch);
                assert_eq!(bits(&transform(&made, &input)), expected, "{made}");
                let mut in_place = input.clone();
                made.process(&mut in_place).unwrap();
                assert_eq!(bits(&in_place), expected, "in place: {made}");
            }
            let columns = Layout::strided(&[lines as isize], 1);
            let strided = problem.clone().batch(lines).threads(3);
            let strided = strided.input_layout(columns.clone()).output_layout(columns);
            let mut transposed: Vec<_> = (0..n * lines)
                .map(|i| input[i % lines * n + i / lines])
                .collect();
            plan(&planner, &strided).process(&mut transposed).unwrap();
            let back: Vec<_> = (0..n * lines)
                .map(|i| transposed[i % n * lines + i / n])
                .collect();
            assert_eq!(bits(&back), expected, "{mode} n={n} strided");
            let axis = floats(Problem::complex(&[lines, n]), mode).norm(Norm::Ortho);
            let made = plan(&planner, &axis.axes(&[1]).threads(2));
            assert_eq!(bits(&transform(&made, &input)), expected, "{made}");
        }
    }
}

#[test]
fn a_selected_axis_is_the_oracles() {
    let planner = Planner::<f64>::new();
    let shape = [6, 10, 7];
    let input = uniform_complex(420, SEED);
    for mode in Mode::ALL {
        let made = plan(&planner, &floats(Problem::complex(&shape), mode).axes(&[1]));
        let exact = dft_axes(&input, &shape, &[1], oracle::Direction::Forward);
        let error = compare_scaled(&transform(&made, &input), &exact, oracle::Scale::One).l2;
        assert!(error <= made.bound(), "seed {SEED}: {error:.3e}\n{made}");
    }
}

/// What fits in the end fits in between, whatever the norm and between axes; small numbers do not become zero.
#[test]
fn huge_and_tiny_numbers_keep_the_bound() {
    let violations = Violations::default();
    let (doubles, singles) = (Planner::<f64>::new(), Planner::<f32>::new());
    for shape in [&[64][..], &[1000], &[12, 20]] {
        let points: usize = shape.iter().product();
        // Unscaled, the largest of these would overflow.
        for (double, single) in [(1022, 126), (-960, -85)] {
            for mode in Mode::ALL {
                let problem = floats(Problem::complex(shape), mode).direction(Direction::Inverse);
                let scale = oracle::Scale::OneOverLength(points);
                let input = scaled_by_power_of_two(&uniform_complex(points, SEED), double);
                let exact = dft_nd(&input, shape, oracle::Direction::Inverse);
                let made = plan(&doubles, &problem);
                let error = compare_scaled(&transform(&made, &input), &exact, scale).l2;
                violations.check(error <= made.bound(), || {
                    format!("2^{double}, seed {SEED}: {error:.3e}\n{made}")
                });
                let input = scaled_by_power_of_two(&uniform_complex(points, SEED), single);
                let mut data = narrow(&input);
                let exact = dft_nd(&widen(&data), shape, oracle::Direction::Inverse);
                let made = singles.plan(&problem).unwrap();
                made.process(&mut data).unwrap();
                let error = compare_f32(&data, &exact, scale).l2;
                violations.check(error <= made.bound(), || {
                    format!("2^{single} f32, seed {SEED}: {error:.3e}\n{made}")
                });
            }
        }
    }
    violations.report();
}

#[test]
fn nonfinite_input_affects_only_its_own_line_or_is_rejected() {
    let planner = Planner::<f64>::new();
    for mode in Mode::ALL {
        for poison in [f64::NAN, f64::INFINITY] {
            let problem = floats(Problem::complex(&[48]), mode)
                .batch(3)
                .norm(Norm::Ortho);
            let mut data = uniform_complex(144, SEED);
            let clean = transform(&plan(&planner, &problem), &data);
            data[50].im = poison;
            let output = transform(&plan(&planner, &problem), &data);
            let spoilt = |z: &Complex<f64>| z.re.is_nan() && z.im.is_nan();
            assert!(output[48..96].iter().all(spoilt), "{mode}");
            assert_eq!(bits(&output[..48]), bits(&clean[..48]), "{mode}");
            assert_eq!(bits(&output[96..]), bits(&clean[96..]), "{mode}");
            let rejected = plan(&planner, &problem.strict(true)).process(&mut data);
            assert!(
                matches!(rejected, Err(FftError::NotFinite { index: 50, .. })),
                "{mode}"
            );
        }
    }
}

#[test]
fn a_plan_says_mode_path_unit_and_bound() {
    let planner = Planner::<f32>::new();
    let problem = floats(Problem::complex(&[1024]), Mode::Ozaki).substrate(CpuUnit::Scalar);
    let made = planner.plan(&problem).unwrap();
    let shown = made.to_string();
    for part in [
        "mode ozaki",
        "scalar",
        "DFT-GEMM in two blocks 32 × 32",
        "exact products",
        "proven",
        "why: the mode ozaki was asked for",
        "depend on the order",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
    }
    assert_eq!(made.engine(), Engine::Floats(Mode::Ozaki));
    assert_eq!(made.substrate(), "scalar");
    let portable = planner
        .plan(&floats(Problem::complex(&[1024]), Mode::Fast))
        .unwrap();
    assert!(portable.why().contains("the same on every processor"));
}

#[test]
fn engines_are_known_by_their_names() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(Engine::Floats(mode)));
        assert_eq!(Engine::Floats(mode).to_string(), mode.name());
    }
    for engine in [
        Engine::Auto,
        Engine::Digits,
        Engine::Residues,
        Engine::Native,
    ] {
        assert_eq!(engine.to_string().parse(), Ok(engine));
    }
    let rejected = "ozaki_uhq".parse::<Engine>().unwrap_err().to_string();
    assert!(
        rejected.contains("ozaki_uhq") && rejected.contains("ozaki_hq"),
        "{rejected}"
    );
}

#[test]
fn unsupported_options_of_a_mode_are_rejected_with_the_remedy() {
    let planner = Planner::<f64>::new();
    let rejected = |problem: Problem, remedy: &str| {
        let error = planner.plan(&problem).unwrap_err();
        assert!(error.to_string().contains(remedy), "{error}");
        error
    };
    let complex = || Problem::complex(&[64]);
    rejected(
        floats(complex(), Mode::Fast).device(Device::Cuda(0)),
        "device cpu",
    );
    rejected(
        floats(complex(), Mode::Fast).products(Products::Exact),
        "truncated",
    );
    rejected(
        floats(complex(), Mode::Bf16).substrate(CpuUnit::Avx2),
        "amx-bf16",
    );
    rejected(
        floats(complex(), Mode::Fast).substrate(CpuUnit::Scalar),
        "auto",
    );
    let digits = complex().engine(Engine::Digits).substrate(CpuUnit::AmxBf16);
    rejected(digits, "floats engine");
    let long = floats(Problem::complex(&[(1 << 28) + 1]), Mode::Fast);
    let error = rejected(long, "2^28");
    assert!(matches!(error, FftError::Floats(FloatError::Length { .. })));
    assert!(matches!(
        planner.plan(&floats(Problem::complex(&[0]), Mode::Fast)),
        Err(FftError::EmptyDimension { axis: 0 })
    ));
}

#[test]
fn every_unit_of_this_machine_keeps_the_bound_and_exact_sums_their_bits() {
    let planner = Planner::<f64>::new();
    let input = uniform_complex(5 * 96, SEED);
    let mut two_level = Vec::new();
    for substrate in [
        Substrate::Cpu(CpuUnit::Scalar),
        Substrate::Cpu(CpuUnit::Avx512Bf16),
        Substrate::Cpu(CpuUnit::AmxBf16),
    ] {
        for mode in Mode::ALL
            .into_iter()
            .filter(|mode| mode.needs_matrix_unit())
        {
            let problem = floats(Problem::complex(&[96]), mode).batch(5);
            let made = match planner.plan(&problem.substrate(substrate)) {
                Ok(made) => made,
                Err(FftError::Floats(FloatError::NoSuchUnit { .. })) => continue,
                Err(error) => panic!("{error}"),
            };
            let output = transform(&made, &input);
            for (line, output) in input.chunks(96).zip(output.chunks(96)) {
                let exact = dft_nd(line, &[96], oracle::Direction::Forward);
                let error = compare_scaled(output, &exact, oracle::Scale::One).l2;
                assert!(error <= made.bound(), "seed {SEED}: {error:.3e}\n{made}");
            }
            if mode.has_portable_bits() {
                two_level.push(bits(&output));
            }
        }
    }
    assert!(!two_level.is_empty());
    assert!(two_level.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn wisdom_keeps_the_mode() {
    let first = Planner::<f64>::new();
    let problem = floats(Problem::complex(&[100]), Mode::Kahan).accuracy(Accuracy::Single);
    plan(&first, &problem);
    let text = first.save_wisdom();
    let second = Planner::<f64>::new();
    assert_eq!(second.load_wisdom(&text), Ok(1));
    let made = plan(&second, &problem);
    assert_eq!(made.engine(), Engine::Floats(Mode::Kahan));
    assert!(made.why().contains("wisdom"), "{}", made.why());
    let damaged = text.replace("\"kahan\"", "\"kahn\"");
    assert!(Planner::<f64>::new().load_wisdom(&damaged).is_err());
}

/// Steps in sequence, each relative to what it is given.
fn in_sequence(steps: &[f64]) -> f64 {
    steps.iter().fold(0.0, |all, step| all + step + all * step)
}

/// What the document says of axes, norms and kinds (`docs/ladder.md`, B18), from the bounds of lines alone.
fn referees_bound(
    (shape, mode, direction): (&[usize], Mode, Direction),
    halved: bool,
    f64_data: bool,
    factor: fn(usize) -> f64,
) -> f64 {
    let (single, double) = (2f64.powi(-24), 2f64.powi(-53));
    let line_direction = match direction {
        Direction::Forward => ::floats::Direction::Forward,
        Direction::Inverse => ::floats::Direction::Inverse,
    };
    let mut all = 0.0;
    for (axis, &n) in shape.iter().enumerate() {
        let line = FloatPlan::new(n, mode, line_direction, Unit::best()).unwrap();
        // Only where a real array becomes half a spectrum may the half carry all of the error.
        let half = halved && axis == shape.len() - 1;
        let root = if half { 2f64.sqrt() } else { 1.0 };
        let of_line = match (half, f64_data && mode.takes_f64()) {
            (false, false) => line.bound(),
            (false, true) => line.bound_f64().unwrap(),
            (true, false) => line.bound_of_half(),
            (true, true) => line.bound_of_half_f64().unwrap(),
        };
        let narrowed = if f64_data && !mode.takes_f64() {
            root * single
        } else {
            0.0
        };
        // A factor that is no power of two is rounded, and so is its product, to f64 and then to the data's type.
        let scaled = match (factor(n).log2().fract() == 0.0, f64_data) {
            (true, _) => 0.0,
            (false, true) => in_sequence(&[double, double]),
            (false, false) => in_sequence(&[double, double, single]),
        };
        all = in_sequence(&[all, narrowed, of_line, scaled]);
    }
    all
}

#[test]
fn bounds_of_axes_norms_kinds_and_directions_are_the_referees() {
    let (doubles, singles) = (Planner::<f64>::new(), Planner::<f32>::new());
    type Make = fn(&[usize]) -> Problem;
    let (forward, inverse) = (Direction::Forward, Direction::Inverse);
    let kinds: [(Make, bool, &[Direction]); 3] = [
        (|shape| Problem::complex(shape), false, &[forward, inverse]),
        (|shape| Problem::real_to_complex(shape), true, &[forward]),
        (|shape| Problem::complex_to_real(shape), false, &[inverse]),
    ];
    let one: fn(usize) -> f64 = |_| 1.0;
    let over_n: fn(usize) -> f64 = |n| 1.0 / n as f64;
    let root: fn(usize) -> f64 = |n| 1.0 / (n as f64).sqrt();
    for shape in [&[60][..], &[17], &[256], &[512], &[6, 15], &[3, 4, 8]] {
        for mode in Mode::ALL {
            for (kind, halved, directions) in kinds {
                for norm in [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled] {
                    for &direction in directions {
                        let problem = floats(kind(shape), mode).norm(norm).direction(direction);
                        let factor = match (norm, direction) {
                            (Norm::Ortho, _) => root,
                            (Norm::Forward, Direction::Forward) => over_n,
                            (Norm::Backward, Direction::Inverse) => over_n,
                            _ => one,
                        };
                        let pairs = [
                            (doubles.plan(&problem).unwrap().bound(), true),
                            (singles.plan(&problem).unwrap().bound(), false),
                        ];
                        for (claimed, f64_data) in pairs {
                            let model =
                                referees_bound((shape, mode, direction), halved, f64_data, factor);
                            assert!(
                                claimed >= model * (1.0 - 1e-12) && claimed <= 1.2 * model,
                                "{problem:?}, f64 {f64_data}: {claimed:e}, the referee has {model:e}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// All data in the column that a whole spectrum counts once, every number a tie of the format: √2 is not needed in the inverse transform.
#[test]
fn half_spectra_with_all_data_in_the_first_column_keep_the_bound_in_the_inverse() {
    let (rows, columns) = (16, 16);
    let planner = Planner::<f64>::new();
    for mode in Mode::ALL {
        let bits = mode.format().map_or(24, |format| format.bits() as i32);
        let tie = |place: usize| {
            let sign = if place.is_multiple_of(3) { -1.0 } else { 1.0 };
            sign * (1.0 + 2f64.powi(-bits))
        };
        let mut half = vec![Complex::new(0.0, 0.0); rows * (columns / 2 + 1)];
        let mut whole = vec![Complex::new(0.0, 0.0); rows * columns];
        for row in 0..rows {
            // The column of a real array is Hermitian.
            let value = Complex::new(tie(row.min(rows - row)), 0.0);
            half[row * (columns / 2 + 1)] = value;
            whole[row * columns] = value;
        }
        let shape = [rows, columns];
        let exact = dft_nd(&whole, &shape, oracle::Direction::Inverse);
        let problem = floats(Problem::complex_to_real(&shape), mode).norm(Norm::Unscaled);
        let made = plan(&planner, &problem);
        let mut returned = vec![f64::NAN; rows * columns];
        // Roundings along the first axis may leave imaginary parts in the first column, which are told and not returned.
        match made.process_complex_to_real(&half, &mut returned) {
            Ok(()) | Err(FftError::NotHermitian { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        let returned = complex_from_real(&returned);
        let error = compare_scaled(&returned, &exact, oracle::Scale::One).l2;
        assert!(error <= made.bound(), "{error:.3e}\n{made}");
    }
}
