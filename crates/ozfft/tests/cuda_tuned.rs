//! The kernels tuned for a few lengths against the processor, bit for bit: every layout of lines that they support,
//! with and without conversion instructions, and lines that they must leave to a portable kernel among those they take; on
//! int8 and on fp8 (names that end in `on_fp8`).
//!
//! Without a GPU that has them the comparisons are skipped with a notice; `OZFFT_REQUIRE=hopper` makes that a failure.

use num_complex::Complex;
use ozfft::{
    Accuracy, Device, Direction, Engine, FftError, GpuUnit, Layout, Norm, Planner, Problem,
    Substrate,
};
use ozfft_testkit::oracle::inputs::uniform_complex;
use ozfft_testkit::{Requirement, assert_same_bits, available};

pub(super) const SEED: u64 = 0x7e57_7ed0_0b57_ac1e;

pub(super) fn skipped(substrate: Substrate) -> bool {
    let problem = Problem::complex(&[256])
        .device(Device::Cuda(0))
        .substrate(substrate);
    match Planner::<f64>::new().plan(&problem) {
        Ok(plan) => {
            println!("{plan}");
            false
        }
        // A GPU that is not exact is no reason to skip anything.
        Err(error @ (FftError::Fp8Inexact { .. } | FftError::F16Inexact { .. })) => {
            panic!("{error}")
        }
        Err(error) => available::<(), _>(Requirement::Hopper, Err(error)).is_none(),
    }
}

/// Points of transforms of two passes with tuned kernels, for contiguous lines alone.
const TWO_PASSES: usize = 4096;

/// Lines of all kinds, neighbours of different kinds: `line` and `index` say which.
pub(super) fn number(
    line: usize,
    index: usize,
    random: Complex<f64>,
    lines: usize,
) -> Complex<f64> {
    let power = |exponent: i32| 2f64.powi(exponent);
    match line % 16 {
        1 => Complex::new(random.re, 0.0),
        2 => Complex::new(0.0, random.im),
        3 if index == line => Complex::new(3.0, -1.0),
        3 => random * 1e-9,
        4 => Complex::new(1.0, 0.25),
        5 => random * power((index * 7 % 120) as i32 - 60),
        6 => random * power((line * 3 % 1800) as i32 - 900),
        7 => Complex::new(0.0, 0.0),
        // Near the ends of the range, or not finite: what the tuned kernels leave to a portable one.
        8 if index == 5 => Complex::new(f64::NAN, 0.0),
        9 if index == 7 => Complex::new(1.0, f64::INFINITY),
        10 => random * power(1000),
        11 => random * power(-1060),
        12 => Complex::new(f64::from_bits(line as u64 + 1), 0.0),
        // Real but for the smallest imaginary number there is.
        13 if index + 1 == lines.max(2) => Complex::new(random.re, f64::from_bits(1)),
        13 => Complex::new(random.re, 0.0),
        14 => Complex::new((random.re * 8.0).round(), (random.im * 8.0).round()),
        // One large output, and many small ones.
        15 => Complex::new(1.0 + random.re * 1e-12, random.im * 1e-12),
        _ => random,
    }
}

/// A problem whose lines along `axis` are the interesting ones.
struct Case {
    problem: Problem,
    shape: Vec<usize>,
    axis: usize,
}

fn cases(n: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |shape: &[usize], axis: usize, change: &dyn Fn(Problem) -> Problem| {
        cases.push(Case {
            problem: change(Problem::complex(shape).axes(&[axis])),
            shape: shape.to_vec(),
            axis,
        });
    };
    let same = |problem: Problem| problem;
    for count in [1, 2, 3, 5, 8, 17, 64, 301] {
        add(&[count, n], 1, &same);
        add(&[n, count], 0, &same);
    }
    add(&[3, n, 5], 1, &same);
    add(&[7, n, 33], 1, &same);
    add(&[2, 3, n, 16], 2, &same);
    add(&[n, 6, 11], 0, &same);
    for norm in [Norm::Ortho, Norm::Forward, Norm::Unscaled] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let change = |problem: Problem| problem.norm(norm).direction(direction);
            add(&[19, n], 1, &change);
            add(&[n, 19], 0, &change);
        }
    }
    // With gaps between lines; and a layout that the tuned kernels do not know.
    let gaps = Layout::strided(&[n as isize + 3, 1], 0);
    add(&[9, n], 1, &|problem: Problem| {
        problem.output_layout(gaps.clone())
    });
    cases
}

#[test]
fn tuned_kernels_have_the_bits_of_the_processor() {
    compare_lines(Substrate::Gpu(GpuUnit::Int8Wgmma), "int8-wgmma");
}

#[test]
fn tuned_kernels_have_the_bits_of_the_processor_on_fp8() {
    compare_lines(Substrate::Gpu(GpuUnit::Fp8Wgmma), "fp8-wgmma");
}

/// A step alone and two of them, odd and even, with a last step of additions.
#[test]
fn the_template_has_the_bits_of_the_processor_on_fp8() {
    compare_lines(Substrate::Gpu(GpuUnit::Fp8MmaSync), "fp8-mma-sync");
}

#[test]
fn the_template_has_the_bits_of_the_processor_on_f16() {
    compare_lines(Substrate::Gpu(GpuUnit::F16MmaSync), "f16-mma-sync");
}

fn compare_lines(substrate: Substrate, name: &str) {
    if skipped(substrate) {
        return;
    }
    println!("seed {SEED:#x}");
    let planner = Planner::<f64>::new();
    let (mut problems, mut by_name) = (0, 0);
    let mut lengths = match substrate {
        Substrate::Gpu(GpuUnit::Fp8MmaSync | GpuUnit::F16MmaSync) => vec![45, 64, 360, 1000, 1024],
        _ => vec![256, 512, 1024],
    };
    if substrate == Substrate::Gpu(GpuUnit::Int8Wgmma) {
        lengths.extend([128, 192, 320, 384, 480, 640, 768, 800, 960, 1000]);
        lengths.push(TWO_PASSES);
    }
    for n in lengths {
        let known = |case: &Case| n != TWO_PASSES || case.axis + 1 == case.shape.len();
        for (position, case) in cases(n).iter().filter(|&case| known(case)).enumerate() {
            let seed = SEED ^ (n * 1000 + position) as u64;
            let len = case.problem.input_len();
            let inner: usize = case.shape[case.axis + 1..].iter().product();
            let random = uniform_complex(len, seed);
            let input: Vec<Complex<f64>> = (0..len)
                .map(|place| {
                    let index = place / inner % n;
                    let line = place / (inner * n) * inner + place % inner;
                    number(line, index, random[place], n)
                })
                .collect();
            let digits = case.problem.clone().engine(Engine::Digits);
            let mut expected = vec![Complex::new(0.0, 0.0); digits.output_len()];
            let plan = planner.plan(&digits).unwrap();
            plan.process_outofplace(&input, &mut expected).unwrap();
            for integers_only in [true, false] {
                let problem = digits.clone().device(Device::Cuda(0));
                let problem = problem.integers_only(integers_only);
                // What the kernels do not know, a portable one does.
                let plan = planner
                    .plan(&problem.clone().substrate(substrate))
                    .or_else(|_| planner.plan(&problem))
                    .unwrap();
                let mut output = vec![Complex::new(0.0, 0.0); expected.len()];
                plan.process_outofplace(&input, &mut output).unwrap();
                let what = format!(
                    "{:?} axis {} integers only {integers_only}: {plan}",
                    case.shape, case.axis
                );
                assert_same_bits(&expected, &output, SEED, what);
                problems += 1;
                by_name += usize::from(plan.substrate() == name);
            }
        }
    }
    println!("{problems} problems, {by_name} of them on {name}, 0 with differing bits");
    assert!(by_name * 10 > problems * 9);
}

/// Lines of f32, with numbers near the ends of their range or not finite among them.
fn single(line: usize, index: usize, random: Complex<f32>) -> Complex<f32> {
    let power = |exponent: i32| 2f32.powi(exponent);
    match line % 16 {
        1 => Complex::new(random.re, 0.0),
        2 => Complex::new(0.0, random.im),
        3 if index == line => Complex::new(3.0, -1.0),
        3 => random * 1e-5,
        4 => Complex::new(1.0, 0.25),
        5 => random * power((index * 7 % 90) as i32 - 45),
        6 => random * power((line * 3 % 250) as i32 - 125),
        7 => Complex::new(0.0, 0.0),
        8 if index == 5 => Complex::new(f32::NAN, 0.0),
        9 if index == 7 => Complex::new(1.0, f32::INFINITY),
        10 => random * power(126),
        11 => random * power(-135),
        // Words that end in one half.
        12 if index == 1 => Complex::new(1.0, -1.0),
        12 => {
            let half = |x: f32| ((x * 512.0).round() + 0.5) * power(-36 - (index % 7) as i32);
            Complex::new(half(random.re), half(random.im))
        }
        13 if index == 9 => Complex::new(random.re, f32::from_bits(1)),
        13 => Complex::new(random.re, 0.0),
        14 => Complex::new((random.re * 8.0).round(), (random.im * 8.0).round()),
        15 => Complex::new(1.0 + random.re * 1e-5, random.im * 1e-5),
        _ => random,
    }
}

#[test]
fn tuned_kernels_for_f32_have_the_bits_of_the_processor() {
    if skipped(Substrate::Gpu(GpuUnit::Int8Wgmma)) {
        return;
    }
    println!("seed {SEED:#x}");
    let planner = Planner::<f32>::new();
    let (mut problems, mut on_wgmma) = (0, 0);
    for n in [256, 512, 1024] {
        for (position, case) in cases(n).iter().enumerate() {
            let seed = SEED ^ (n * 1000 + position) as u64;
            let len = case.problem.input_len();
            let inner: usize = case.shape[case.axis + 1..].iter().product();
            let random = uniform_complex(len, seed);
            let input: Vec<Complex<f32>> = (0..len)
                .map(|place| {
                    let index = place / inner % n;
                    let line = place / (inner * n) * inner + place % inner;
                    let random = Complex::new(random[place].re as f32, random[place].im as f32);
                    single(line, index, random)
                })
                .collect();
            let digits = case.problem.clone().engine(Engine::Digits);
            let digits = digits.accuracy(Accuracy::Single);
            let mut expected = vec![Complex::new(0.0, 0.0); digits.output_len()];
            let plan = planner.plan(&digits).unwrap();
            plan.process_outofplace(&input, &mut expected).unwrap();
            let plan = planner.plan(&digits.device(Device::Cuda(0))).unwrap();
            let mut output = vec![Complex::new(0.0, 0.0); expected.len()];
            plan.process_outofplace(&input, &mut output).unwrap();
            let what = format!("{:?} axis {}: {plan}", case.shape, case.axis);
            assert_same_bits(&expected, &output, SEED, what);
            problems += 1;
            on_wgmma += usize::from(plan.substrate() == "int8-wgmma");
        }
    }
    println!("{problems} problems, {on_wgmma} of them on int8-wgmma, 0 with differing bits");
    // Lines side by side at odd distances have a portable kernel.
    assert!(on_wgmma * 2 > problems);
}

#[test]
fn whole_arrays_in_place_have_the_bits_of_the_processor() {
    compare_whole_arrays(Substrate::Gpu(GpuUnit::Int8Wgmma));
}

#[test]
fn whole_arrays_in_place_have_the_bits_of_the_processor_on_fp8() {
    compare_whole_arrays(Substrate::Gpu(GpuUnit::Fp8Wgmma));
}

fn compare_whole_arrays(substrate: Substrate) {
    if skipped(substrate) {
        return;
    }
    let planner = Planner::<f64>::new();
    let mut shapes = vec![[256, 256, 16], [16, 512, 256], [1024, 4, 256]];
    if substrate == Substrate::Gpu(GpuUnit::Int8Wgmma) {
        shapes.extend([[1000, 6, 384], [5, 1000, 128], [4, 128, TWO_PASSES]]);
    }
    for shape in shapes {
        for factor in [1.0, 2f64.powi(1015)] {
            let digits = Problem::complex(&shape).engine(Engine::Digits);
            let data: Vec<_> = uniform_complex(digits.input_len(), SEED)
                .iter()
                .map(|z| z * factor)
                .collect();
            let mut expected = data.clone();
            planner
                .plan(&digits)
                .unwrap()
                .process(&mut expected)
                .unwrap();
            let problem = digits.device(Device::Cuda(0)).substrate(substrate);
            let plan = planner.plan(&problem).unwrap();
            let mut output = data;
            plan.process(&mut output).unwrap();
            let what = format!("{shape:?} {factor}: {plan}");
            assert_same_bits(&expected, &output, SEED, what);
        }
    }
}

/// One number near overflow changes the scale between axes of all lines, also of those that were stored before it was found.
#[test]
fn one_huge_number_scales_all_lines_like_on_the_processor() {
    compare_one_huge_number(Substrate::Gpu(GpuUnit::Int8Wgmma));
}

#[test]
fn one_huge_number_scales_all_lines_like_on_the_processor_on_fp8() {
    compare_one_huge_number(Substrate::Gpu(GpuUnit::Fp8Wgmma));
}

fn compare_one_huge_number(substrate: Substrate) {
    if skipped(substrate) {
        return;
    }
    let planner = Planner::<f64>::new();
    for shape in [[8, 64, 256], [5, 512, 8], [1024, 3, 4], [256, 3, 1000]] {
        for in_place in [true, false] {
            let digits = Problem::complex(&shape).engine(Engine::Digits);
            let mut data = uniform_complex(digits.input_len(), SEED);
            let middle = data.len() / 2;
            data[middle].re = 1.5e308;
            data[7].im = f64::INFINITY;
            let mut expected = data.clone();
            planner
                .plan(&digits)
                .unwrap()
                .process(&mut expected)
                .unwrap();
            let problem = digits.device(Device::Cuda(0)).substrate(substrate);
            let plan = planner.plan(&problem).unwrap();
            let mut output = data.clone();
            if in_place {
                plan.process(&mut output).unwrap();
            } else {
                plan.process_outofplace(&data, &mut output).unwrap();
            }
            let what = format!("{shape:?} in place {in_place}: {plan}");
            assert_same_bits(&expected, &output, SEED, what);
        }
    }
}

/// Real lines to half-spectra and back, batches of all sizes, in place and with gaps, and several axes.
#[test]
fn real_lines_have_the_bits_of_the_processor() {
    if skipped(Substrate::Gpu(GpuUnit::Int8Wgmma)) {
        return;
    }
    println!("seed {SEED:#x}");
    let planner = Planner::<f64>::new();
    let mut problems = 0;
    for n in [256, 512, 1024] {
        for shape in [
            [1, n],
            [2, n],
            [3, n],
            [17, n],
            [301, n],
            [3001, n],
            [512, n],
        ] {
            let several_axes = shape[0] == 512;
            let axes: &[usize] = if several_axes { &[0, 1] } else { &[1] };
            let half = n / 2 + 1;
            let random = uniform_complex(shape[0] * half, SEED ^ shape[0] as u64);
            let numbers = random.iter().enumerate();
            let spectra: Vec<Complex<f64>> = numbers
                .map(|(place, &random)| match several_axes {
                    true => random,
                    false => number(place / half, place % half, random, half),
                })
                .collect();
            // The same numbers as padded real lines.
            let padded: Vec<f64> = spectra.iter().flat_map(|z| [z.re, z.im]).collect();
            for norm in [Norm::Backward, Norm::Ortho] {
                let real = Problem::real_to_complex(&shape)
                    .input_layout(Layout::padded_real(&shape))
                    .axes(axes)
                    .norm(norm)
                    .engine(Engine::Digits);
                let back = Problem::complex_to_real(&shape)
                    .output_layout(Layout::padded_real(&shape))
                    .axes(axes)
                    .norm(norm)
                    .engine(Engine::Digits);
                let transform = |problem: &Problem, forward: bool, in_place: bool| {
                    let plan = planner.plan(problem).unwrap();
                    let mut array = match in_place {
                        true => spectra.clone(),
                        false => vec![Complex::new(0.0, 0.0); spectra.len()],
                    };
                    // Half-spectra that no real array has are transformed, and reported.
                    let outcome = match (forward, in_place) {
                        (true, true) => plan.process_real_in_place(&mut array),
                        (true, false) => {
                            plan.process_real_to_complex(&padded[..problem.input_len()], &mut array)
                        }
                        (false, true) => plan.process_complex_to_real_in_place(&mut array),
                        (false, false) => {
                            let mut output = vec![0.0; problem.output_len()];
                            let outcome = plan.process_complex_to_real(&spectra, &mut output);
                            output.resize(2 * array.len(), 0.0);
                            let pairs = output.chunks_exact(2);
                            array = pairs.map(|pair| Complex::new(pair[0], pair[1])).collect();
                            outcome
                        }
                    };
                    assert!(
                        matches!(outcome, Ok(()) | Err(FftError::NotHermitian { .. })),
                        "{outcome:?}"
                    );
                    let bits = array.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]);
                    (bits.collect::<Vec<u64>>(), plan.to_string())
                };
                for (problem, forward) in [(&real, true), (&back, false)] {
                    for in_place in [true, false] {
                        let (expected, _) = transform(problem, forward, in_place);
                        for integers_only in [true, false] {
                            let on_gpu = problem
                                .clone()
                                .device(Device::Cuda(0))
                                .substrate(GpuUnit::Int8Wgmma)
                                .integers_only(integers_only);
                            let (found, plan) = transform(&on_gpu, forward, in_place);
                            assert!(found == expected, "{shape:?} in place {in_place}: {plan}");
                            problems += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{problems} problems, 0 with differing bits");
}

#[test]
fn wgmma_is_rejected_where_it_does_not_fit() {
    for substrate in [
        Substrate::Gpu(GpuUnit::Int8Wgmma),
        Substrate::Gpu(GpuUnit::Fp8Wgmma),
    ] {
        // Blocks of three steps have kernels on mma.sync alone.
        let problem = Problem::complex(&[343])
            .device(Device::Cuda(0))
            .substrate(substrate);
        let error = Planner::<f64>::new().plan(&problem).unwrap_err();
        assert!(
            matches!(
                error,
                FftError::Unsupported(_)
                    | FftError::NoDriver { .. }
                    | FftError::NoSuchDevice { .. }
                    | FftError::DeviceTooOld { .. }
            ),
            "{error}"
        );
    }
}
