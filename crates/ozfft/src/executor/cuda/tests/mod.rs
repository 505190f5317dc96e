//! The kernels under the emulator against the portable unit: not a bit may differ.

mod axis_tests;
mod bailey_chirp_tests;
mod bailey_fewer_tests;
mod bailey_passes_tests;
mod bailey_products_tests;
mod bailey_real_single_tests;
mod bailey_real_tests;
mod bailey_single_tests;
mod bailey_tests;
mod companion_tests;
mod large;
mod real_tests;
mod single_tests;
mod tuned_tests;

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine};
use crate::kind::Kind;
use crate::problem::{Accuracy, Direction, Engine, Norm, Problem, Products};
use crate::sample::Real;
use crate::substrate::Substrate;
use crate::{DevicePointer, FftError, Layout, Plan, Planner};
use num_complex::Complex;
use ozfft_kernels::template::{Block, Ends, Family, KernelSpec, Number, Real as RealLines, listed};
use std::sync::Arc;

/// The emulator is slow: combinations that differ from others in nothing but numbers are left out unless there is time.
pub(crate) use ozfft_testkit::everything;

/// Lengths of the list whose contiguous lines of such numbers and ends have kernels in the emulator: all with `OZFFT_EVERYTHING`.
fn emulated_lengths(number: Number, ends: Ends) -> Vec<usize> {
    let has_kernel = |steps: [usize; 2]| {
        let family: Family = match ends {
            Ends::Complex => Block { steps }.into(),
            ends => RealLines { steps, ends }.into(),
        };
        let spec = KernelSpec::new(family, number, false, 227 << 10);
        let name = spec.expect("a kernel").name(true);
        ozfft_emulator::TEMPLATE_KERNELS.contains(&&*name)
    };
    let contiguous = listed().filter(|entry| !entry.strided);
    let steps = contiguous.map(|entry| entry.steps);
    let emulated = steps.filter(|&steps| has_kernel(steps));
    let lengths: Vec<usize> = emulated.map(|steps| steps.iter().product()).collect();
    assert!(lengths.len() >= 5, "{number:?}, {ends:?}: {lengths:?}");
    lengths
}

/// Reproducible pseudo-random integers.
pub(crate) struct Generator(pub(crate) u64);

impl Generator {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform in ±1.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 / (1u64 << 52) as f64) - 1.0
    }
}

/// What the numbers look like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Style {
    Uniform,
    /// Every exponent that the type has.
    Wild,
    /// Subnormal, and just above.
    Tiny,
    Huge,
    /// A NaN here, an infinity there.
    NotFinite,
    Real,
    Imaginary,
    Sparse,
    /// Column sums that are just below or just above a power of two.
    Edge,
}

const NANS: [u64; 4] = [
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0xfff4_0000_dead_beef,
    0xffff_ffff_ffff_ffff,
];

fn number<T: Real>(style: Style, generator: &mut Generator, imaginary: bool) -> T {
    let x = generator.uniform();
    let largest = f64::from(T::LARGEST_EXPONENT);
    let value = match style {
        Style::Uniform => x,
        Style::Wild => {
            let exponent = (generator.uniform() * largest).min(largest - 1.0);
            x * exponent.exp2()
        }
        Style::Tiny => x * if T::IS_DOUBLE { 1e-307 } else { 1e-38 } * generator.uniform().powi(9),
        Style::Huge => x * if T::IS_DOUBLE { 1.7e308 } else { 3.3e38 },
        Style::NotFinite => match generator.next() % 97 {
            // Quiet and signalling ones, of both signs, with and without a payload.
            0 => f64::from_bits(NANS[(x.to_bits() % 4) as usize]),
            1 => f64::INFINITY.copysign(x),
            _ => x,
        },
        Style::Real if imaginary => -0.0,
        Style::Imaginary if !imaginary => 0.0,
        Style::Real | Style::Imaginary => x,
        Style::Edge if imaginary => 0.0,
        Style::Edge => 1.0 - (generator.next() % 5) as f64 / f64::from(1 << 21),
        Style::Sparse => {
            if generator.next().is_multiple_of(11) {
                x
            } else {
                0.0
            }
        }
    };
    T::narrow(value)
}

pub(crate) fn numbers<T: Real>(count: usize, style: Style, seed: u64) -> Vec<Complex<T>> {
    let mut generator = Generator(seed | 1);
    (0..count)
        .map(|_| {
            let re = number(style, &mut generator, false);
            Complex::new(re, number(style, &mut generator, true))
        })
        .collect()
}

pub(crate) struct Bench<T: Real> {
    planner: Planner<T>,
    machine: Arc<dyn Machine>,
    engine: Engine,
    pub(crate) cases: usize,
}

impl<T: Real> Bench<T> {
    fn new() -> Self {
        Self::on(Arc::new(Emulator::default()))
    }

    pub(crate) fn on(machine: Arc<dyn Machine>) -> Self {
        Bench {
            planner: Planner::new(),
            machine,
            engine: Engine::Digits,
            cases: 0,
        }
    }

    /// The same for another engine.
    #[cfg(feature = "ntt")]
    pub(crate) fn engine(self, engine: Engine) -> Self {
        Bench { engine, ..self }
    }

    /// Transforms complex numbers on both, in place, too, where that can be, and compares all bytes, gaps included: on
    /// the emulator once for every choice of `integers_only`. Returns the substrate.
    pub(crate) fn check_numbers(
        &mut self,
        problem: &Problem,
        input: &[Complex<T>],
        integers_only: &[bool],
    ) -> &'static str {
        let problem = problem.clone().engine(self.engine).threads(1);
        let on_processor = problem.clone().substrate(Substrate::Auto);
        let expected = self.planner.plan(&on_processor).unwrap();
        let blank = numbers::<T>(problem.output_len(), Style::Uniform, 5);
        let mut apart = blank.clone();
        expected.process_outofplace(input, &mut apart).unwrap();
        let in_place = (problem.resolved_input() == problem.resolved_output()).then(|| {
            let elements = problem.shape().iter().product::<usize>() * problem.batch;
            if problem.output_len() == elements {
                return apart.clone();
            }
            let mut numbers = input.to_vec();
            expected.process(&mut numbers).unwrap();
            numbers
        });
        let mut substrate = "";
        for &integers_only in integers_only {
            let problem = problem.clone().integers_only(integers_only);
            let plan = self.planner.plan_on(&problem, &self.machine).unwrap();
            let compare = |expected: &[Complex<T>], got: &[Complex<T>], how: &str| {
                let what = format!("{how}: {problem:?} on {plan}");
                same(
                    bytemuck::cast_slice(expected),
                    bytemuck::cast_slice(got),
                    &what,
                );
            };
            let mut output = blank.clone();
            plan.process_outofplace(input, &mut output).unwrap();
            compare(&apart, &output, "out of place");
            if let Some(expected) = &in_place {
                let mut numbers = input.to_vec();
                plan.process(&mut numbers).unwrap();
                compare(expected, &numbers, "in place");
            }
            substrate = plan.substrate();
            self.cases += 1;
        }
        substrate
    }

    /// Transforms on both and compares all bytes of the output, gaps included.
    pub(crate) fn check(&mut self, problem: &Problem, style: Style) {
        let seed = 0x9e37_79b9 * (self.cases as u64 + 1);
        if problem.kind() == Kind::ComplexToComplex {
            let input = numbers(problem.input_len(), style, seed);
            self.check_numbers(problem, &input, &[false]);
            return;
        }
        let problem = problem.clone().engine(self.engine).threads(1);
        let on_processor = problem.clone().substrate(Substrate::Auto);
        let expected = self.planner.plan(&on_processor).unwrap();
        let plan = self.planner.plan_on(&problem, &self.machine).unwrap();
        self.cases += 1;
        let what = || format!("{problem:?} {style:?}");
        match problem.kind() {
            Kind::ComplexToComplex => unreachable!("checked above"),
            Kind::RealToComplex => {
                let input: Vec<T> = numbers::<T>(problem.input_len(), style, seed)
                    .iter()
                    .map(|z| z.re)
                    .collect();
                let blank = numbers::<T>(problem.output_len(), Style::Uniform, 5);
                let (mut a, mut b) = (blank.clone(), blank);
                expected.process_real_to_complex(&input, &mut a).unwrap();
                plan.process_real_to_complex(&input, &mut b).unwrap();
                same(bytemuck::cast_slice(&a), bytemuck::cast_slice(&b), &what());
            }
            Kind::ComplexToReal => {
                let input = numbers::<T>(problem.input_len(), style, seed);
                let blank: Vec<T> = numbers::<T>(problem.output_len(), Style::Uniform, 5)
                    .iter()
                    .map(|z| z.re)
                    .collect();
                let (mut a, mut b) = (blank.clone(), blank);
                let first = expected.process_complex_to_real(&input, &mut a);
                let second = plan.process_complex_to_real(&input, &mut b);
                assert_eq!(first, second, "{}", what());
                same(bytemuck::cast_slice(&a), bytemuck::cast_slice(&b), &what());
            }
        }
    }
}

/// Compares bytes; NaN included.
pub(crate) fn same(expected: &[u8], got: &[u8], what: &str) {
    if expected != got {
        let differing = expected.iter().zip(got).filter(|(a, b)| a != b).count();
        let first = expected.iter().zip(got).position(|(a, b)| a != b);
        panic!("{differing} bytes differ, the first at {first:?}: {what}");
    }
}

pub(crate) const STYLES: [Style; 9] = [
    Style::Uniform,
    Style::Wild,
    Style::Tiny,
    Style::Huge,
    Style::NotFinite,
    Style::Real,
    Style::Imaginary,
    Style::Sparse,
    Style::Edge,
];

#[test]
fn every_short_length() {
    let mut bench = Bench::<f64>::new();
    for n in 1..=130 {
        let style = STYLES[n % STYLES.len()];
        bench.check(&Problem::complex(&[n]).batch(3), style);
        bench.check(
            &Problem::complex(&[n]).direction(Direction::Inverse),
            Style::Uniform,
        );
        bench.check(&Problem::real_to_complex(&[n]).batch(2), style);
        bench.check(&Problem::complex_to_real(&[n]).batch(2), style);
    }
    println!("{} cases", bench.cases);
}

#[test]
fn longer_lines_and_several_passes() {
    let mut bench = Bench::<f64>::new();
    for n in [
        256, 512, 729, 1000, 1009, 1024, 1031, 2048, 2187, 3000, 4096, 6561,
    ] {
        for style in [Style::Uniform, Style::Wild] {
            bench.check(&Problem::complex(&[n]), style);
        }
        bench.check(&Problem::real_to_complex(&[n]), Style::Uniform);
        bench.check(
            &Problem::complex_to_real(&[n]).norm(Norm::Ortho),
            Style::Sparse,
        );
        bench.check(&Problem::complex(&[n]).batch(2), Style::NotFinite);
        bench.check(&Problem::complex(&[n]).batch(2), Style::Imaginary);
    }
    // More lines than are transformed in one turn.
    for n in [1009, 2048, 6561] {
        bench.check(&Problem::complex(&[n]).batch(7), Style::Uniform);
        let across = Problem::complex(&[n, 5]).axes(&[0]);
        bench.check(&across, Style::NotFinite);
    }
    // Three passes, and a convolution of several.
    bench.check(&Problem::complex(&[1 << 17]), Style::Uniform);
    bench.check(&Problem::complex(&[10_007]), Style::Uniform);
    println!("{} cases", bench.cases);
}

#[test]
fn accuracies_families_and_norms() {
    let mut bench = Bench::<f64>::new();
    let accuracies = [
        Accuracy::Double,
        Accuracy::Single,
        Accuracy::Target(1e-12),
        Accuracy::Target(1e-9),
        Accuracy::Target(1e-6),
        Accuracy::Target(1e-4),
        Accuracy::Target(1e-2),
    ];
    let norms = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];
    for (i, &accuracy) in accuracies.iter().enumerate() {
        for products in [Products::Truncated, Products::Exact] {
            for (j, &n) in [2, 4, 6, 7, 16, 24, 32, 45, 48, 64, 100, 67, 360, 2048]
                .iter()
                .enumerate()
            {
                let direction = [Direction::Forward, Direction::Inverse][(i + j) % 2];
                let problem = Problem::complex(&[n])
                    .accuracy(accuracy)
                    .products(products)
                    .norm(norms[j % 4])
                    .direction(direction);
                bench.check(&problem, STYLES[(i + j) % 4]);
            }
        }
    }
    println!("{} cases", bench.cases);
}

#[test]
fn several_axes_and_strides() {
    let mut bench = Bench::<f64>::new();
    for shape in [
        &[8, 12][..],
        &[16, 20, 6],
        &[3, 1, 5],
        &[2, 67],
        &[67, 9],
        &[1200, 3],
        &[2, 3, 4, 5],
    ] {
        for style in [Style::Uniform, Style::Huge, Style::NotFinite, Style::Tiny] {
            bench.check(&Problem::complex(shape), style);
            bench.check(&Problem::real_to_complex(shape), style);
            bench.check(&Problem::complex_to_real(shape), style);
        }
        bench.check(&Problem::complex(shape).axes(&[0]).batch(2), Style::Uniform);
        let fortran = Problem::complex(shape)
            .input_layout(Layout::fortran(shape))
            .direction(Direction::Inverse);
        bench.check(&fortran, Style::Wild);
    }
    // Gaps and negative strides.
    let gaps = Problem::complex(&[12, 10])
        .input_layout(Layout::strided(&[-25, 2], 400).with_offset(300))
        .output_layout(Layout::strided(&[3, 40], 1000).with_offset(7))
        .batch(2);
    bench.check(&gaps, Style::Uniform);
    println!("{} cases", bench.cases);
}

#[test]
fn single_precision_arrays() {
    let mut bench = Bench::<f32>::new();
    for n in [
        1, 2, 3, 4, 5, 8, 13, 16, 31, 32, 60, 64, 67, 100, 128, 243, 1000, 2048,
    ] {
        for style in STYLES {
            bench.check(&Problem::complex(&[n]).batch(2), style);
        }
        bench.check(
            &Problem::real_to_complex(&[n]).accuracy(Accuracy::Single),
            Style::Wild,
        );
        bench.check(
            &Problem::complex_to_real(&[n]).accuracy(Accuracy::Single),
            Style::Wild,
        );
    }
    for style in STYLES {
        bench.check(&Problem::complex(&[6, 1, 10]), style);
        bench.check(&Problem::real_to_complex(&[6, 10]), style);
        bench.check(&Problem::complex_to_real(&[6, 10]), style);
    }
    println!("{} cases", bench.cases);
}

#[test]
fn real_transforms_in_place() {
    let planner = Planner::<f64>::new();
    let machine: Arc<dyn Machine> = Arc::new(Emulator::default());
    for shape in [&[10][..], &[7], &[6, 9], &[4, 3, 8]] {
        let problem = Problem::real_to_complex(shape)
            .input_layout(Layout::padded_real(shape))
            .engine(Engine::Digits);
        let on_processor = problem.clone().substrate(Substrate::Auto);
        let mut a = numbers::<f64>(problem.output_len(), Style::Uniform, 77);
        let mut b = a.clone();
        planner
            .plan(&on_processor)
            .unwrap()
            .process_real_in_place(&mut a)
            .unwrap();
        planner
            .plan_on(&problem, &machine)
            .unwrap()
            .process_real_in_place(&mut b)
            .unwrap();
        same(
            bytemuck::cast_slice(&a),
            bytemuck::cast_slice(&b),
            &format!("{problem:?}"),
        );
        let problem = Problem::complex_to_real(shape)
            .output_layout(Layout::padded_real(shape))
            .engine(Engine::Digits);
        let on_processor = problem.clone().substrate(Substrate::Auto);
        planner
            .plan(&on_processor)
            .unwrap()
            .process_complex_to_real_in_place(&mut a)
            .unwrap();
        let plan = planner.plan_on(&problem, &machine).unwrap();
        plan.process_complex_to_real_in_place(&mut b).unwrap();
        same(
            bytemuck::cast_slice(&a),
            bytemuck::cast_slice(&b),
            &format!("{problem:?}"),
        );
    }
}

/// Transforms a half-spectrum on device pointers; all the memory is the emulator's.
fn on_pointers(
    plan: &Plan<f64>,
    machine: &Arc<dyn Machine>,
    input: &[Complex<f64>],
    output: &mut [f64],
) -> Result<(), FftError> {
    let memory = |bytes: &[u8]| {
        let memory = DeviceMemory::new(machine, bytes.len()).unwrap();
        // SAFETY: just allocated with this length.
        unsafe { machine.upload(0, memory.address(), bytes) }.unwrap();
        memory
    };
    let from = memory(bytemuck::cast_slice(input));
    let to = memory(bytemuck::cast_slice(output));
    let workspace = memory(&vec![0xa5; plan.device_workspace_len()]);
    let [from_, to_, workspace_] = [&from, &to, &workspace].map(|m| DevicePointer(m.address()));
    // SAFETY: long enough, ours, and alive until the emulator, which does everything at once, has returned.
    let outcome = unsafe { plan.process_device(from_, to_, workspace_, 0) };
    // SAFETY: as above.
    unsafe { machine.download(0, to.address(), bytemuck::cast_slice_mut(output)) }.unwrap();
    outcome
}

#[test]
fn half_spectra_on_device_pointers_are_taken_as_from_the_host_and_strict_plans_refuse_them() {
    let planner = Planner::<f64>::new();
    let machine: Arc<dyn Machine> = Arc::new(Emulator::default());
    for n in [6, 7, 67, 2048] {
        let problem = Problem::complex_to_real(&[n]).batch(3);
        let mut input = numbers::<f64>(problem.input_len(), Style::Uniform, 9);
        // The first line is a half-spectrum, the other two are not.
        (input[0].im, input[n / 2].im) = (0.0, 0.0);
        let plan = planner.plan_on(&problem, &machine).unwrap();
        let (mut expected, mut found) = (vec![0.0; 3 * n], vec![0.0; 3 * n]);
        assert_eq!(
            plan.process_complex_to_real(&input, &mut expected),
            Err(FftError::NotHermitian { count: 2 })
        );
        assert_eq!(on_pointers(&plan, &machine, &input, &mut found), Ok(()));
        let what = format!("{n} points");
        same(
            bytemuck::cast_slice(&expected),
            bytemuck::cast_slice(&found),
            &what,
        );

        let strict = planner.plan_on(&problem.strict(true), &machine).unwrap();
        found.fill(0.25);
        let refused = on_pointers(&strict, &machine, &input, &mut found);
        assert_eq!(refused, Err(FftError::StrictOnDevice));
        assert!(found.iter().all(|&x| x == 0.25));
        input[1].re = f64::NAN;
        let refused = strict.process_complex_to_real(&input, &mut found);
        assert!(matches!(refused, Err(FftError::NotFinite { index: 1, .. })));
        assert!(found.iter().all(|&x| x == 0.25));
    }
}

#[test]
fn plans_say_that_they_use_integers_only() {
    let planner = Planner::<f64>::new();
    let machine: Arc<dyn Machine> = Arc::new(Emulator::default());
    let problem = Problem::complex(&[60]).engine(Engine::Digits);
    let asked = problem.clone().integers_only(true);
    let text = planner.plan_on(&asked, &machine).unwrap().to_string();
    assert!(text.contains("int8-mma-sync, integers only,"), "{text}");
    let text = planner.plan_on(&problem, &machine).unwrap().to_string();
    assert!(!text.contains("integers only"), "{text}");
    // It is a choice of kernels; what is asked of the processor is said to change nothing.
    for engine in [Engine::Digits, Engine::Native] {
        let plan = planner.plan(&asked.clone().engine(engine)).unwrap();
        assert!(!plan.integers_only());
        assert!(plan.why().contains("changes nothing"), "{plan}");
    }
}

/// A problem drawn at random.
fn any_problem(generator: &mut Generator) -> Problem {
    let mut below = |n: u64| (generator.next() >> 20) % n;
    let rank = 1 + below(3) as usize;
    let largest = [700, 60, 20][rank - 1];
    let shape: Vec<usize> = (0..rank).map(|_| 1 + below(largest) as usize).collect();
    let problem = match below(3) {
        0 => Problem::complex(&shape),
        1 => Problem::real_to_complex(&shape),
        _ => Problem::complex_to_real(&shape),
    };
    let digits = [
        Accuracy::Double,
        Accuracy::Single,
        Accuracy::Target(1e-11),
        Accuracy::Target(1e-5),
    ];
    let norms = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];
    let families = [Products::Truncated, Products::Exact];
    let directions = [Direction::Forward, Direction::Inverse];
    problem
        .batch(1 + below(3) as usize)
        .accuracy(digits[below(4) as usize])
        .norm(norms[below(4) as usize])
        .products(families[below(2) as usize])
        .direction(directions[below(2) as usize])
}

#[test]
fn random_problems() {
    let mut generator = Generator(0xfeed_5eed);
    let (mut doubles, mut singles) = (Bench::<f64>::new(), Bench::<f32>::new());
    for _ in 0..150 {
        let problem = any_problem(&mut generator);
        let style = STYLES[(generator.next() >> 9) as usize % STYLES.len()];
        doubles.check(&problem, style);
        // Single-precision numbers cannot be as accurate as all that.
        let single = problem.clone().accuracy(Accuracy::Single);
        singles.check(
            if problem.accuracy.target().is_some() {
                &single
            } else {
                &problem
            },
            style,
        );
    }
    println!("{} cases", doubles.cases + singles.cases);
}

#[test]
fn outputs_that_are_rounded_to_zero_keep_their_sign_when_they_are_conjugated() {
    let bench = Bench::<f64>::new();
    for n in [16, 60, 61, 256, 1000, 2048] {
        // A spectrum below the smallest number: zeros of both signs. Inverse transforms conjugate twice.
        let mut input = vec![Complex::new(0.0, 0.0); n];
        input[1] = Complex::new(3e-323, -2e-323);
        input[n / 2] = Complex::new(-5e-324, 1e-323);
        let problem = Problem::complex(&[n])
            .direction(Direction::Inverse)
            .norm(Norm::Backward)
            .engine(Engine::Digits);
        let on_processor = problem.clone().substrate(Substrate::Auto).threads(1);
        let (mut expected, mut found) = (input.clone(), input);
        let processor = bench.planner.plan(&on_processor).unwrap();
        processor.process(&mut expected).unwrap();
        let plan = bench.planner.plan_on(&problem, &bench.machine).unwrap();
        plan.process(&mut found).unwrap();
        let negative = |z: &Complex<f64>| z.im == 0.0 && z.im.is_sign_negative();
        assert!(expected.iter().any(negative), "{n} has none of them");
        same(
            bytemuck::cast_slice(&expected),
            bytemuck::cast_slice(&found),
            &format!("{n}"),
        );
    }
}

#[test]
fn short_transforms_of_two_passes_take_one_launch() {
    let mut bench = Bench::<f64>::new();
    for n in [2048, 3000, 4096] {
        for style in [Style::Uniform, Style::Wild, Style::NotFinite, Style::Real] {
            bench.check(&Problem::complex(&[n]).batch(2), style);
            bench.check(&Problem::complex(&[n]).accuracy(Accuracy::Single), style);
        }
        bench.check(&Problem::real_to_complex(&[n]), Style::Uniform);
        bench.check(&Problem::complex_to_real(&[n]), Style::Uniform);
        let plan = bench
            .planner
            .plan_on(&Problem::complex(&[n]), &bench.machine)
            .unwrap();
        // Words between passes through memory would need it.
        let bytes = plan.device_workspace_len();
        assert!(bytes < 16 * n, "{n}: {bytes} bytes of workspace for {plan}");
    }
}
