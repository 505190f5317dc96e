//! Bits and bounds do not depend on the caller's floating-point environment, and it is the caller's again afterwards.
#![cfg(target_arch = "x86_64")]

use crate::common_arrays::{Sample, available_substrates, bits, execute_any, widths};
use num_complex::Complex;
use ozfft::{
    Accuracy, Direction, DoubleDouble, Engine, FftError, Method, Mode, Norm, Plan, Planner,
    Problem, ResidueOptions, WidePlanner,
};
use ozfft_testkit::oracle::inputs::Generator;
use std::arch::asm;
use std::sync::Arc;

const SEED: u64 = 0x0f10_a7e5;
const DEFAULT: u32 = 0x1f80;

/// Rounding down, up, to zero; subnormal results as zero, operands, both; division by zero, overflow and invalid operations stop
/// the program, or everything does; and several at once.
const ENVIRONMENTS: [(&str, u32); 9] = [
    ("down", 0x3f80),
    ("up", 0x5f80),
    ("to zero", 0x7f80),
    ("results flushed", 0x9f80),
    ("operands flushed", 0x1fc0),
    ("both flushed", 0x9fc0),
    ("some exceptions", 0x1900),
    ("all exceptions", 0x0000),
    ("all of it", 0xc040),
];

fn control() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores a register in memory that is ours.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value) };
    // Sticky flags say what has happened, and decide nothing.
    value & 0xffc0
}

fn set_control(value: u32) {
    // SAFETY: loads a register; it is set back before the test itself computes anything.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value) };
}

/// Runs the library under an environment, and says what is in force after it.
fn under<R>(value: u32, run: impl FnOnce() -> R) -> (R, u32) {
    set_control(value);
    let result = run();
    let after = control();
    set_control(DEFAULT);
    (result, after)
}

/// Numbers of any size, subnormal ones among them, and lines of nothing else.
fn numbers<T: Sample>(count: usize) -> Vec<T> {
    let mut generator = Generator::new(SEED);
    let least = T::from_double(if size_of::<T>() == 4 { 1e-45 } else { 5e-324 });
    (0..count)
        .map(|i| {
            let x = generator.uniform();
            match i / 40 % 4 {
                0 => T::from_double(least.to_double() * (x * 1e6).round()),
                1 if i % 3 == 0 => least,
                _ => T::from_double(x),
            }
        })
        .collect()
}

/// What a caller sees of a plan and a call: bound, expectation, prediction, and the bytes of the result.
#[derive(Debug, PartialEq)]
struct Seen {
    bound: u64,
    expected: u64,
    predicted: Option<u64>,
    result: Vec<u8>,
}

fn seen<T: Sample>(planner: &Planner<T>, problem: &Problem, input: &[T]) -> Result<Seen, FftError> {
    let plan = planner.plan(problem)?;
    let (_, width) = widths(problem.kind());
    let mut output = vec![T::from_double(1.0); problem.output_len() * width];
    execute_any(&plan, input, &mut output)?;
    let predicted = plan.prediction();
    Ok(Seen {
        bound: plan.bound().to_bits(),
        expected: plan.expected().to_bits(),
        predicted: predicted.map(|prediction| prediction.seconds.to_bits()),
        result: bits(&output).to_vec(),
    })
}

/// Every engine and unit that is here, for one and several threads: one block, several axes, a convolution, long lines.
fn problems() -> Vec<Problem> {
    let mut all = Vec::new();
    let mut add = |problem: Problem| {
        for threads in [1, 3] {
            all.push(problem.clone().threads(threads));
        }
    };
    for &substrate in available_substrates() {
        let digits = |problem: Problem| problem.engine(Engine::Digits).substrate(substrate);
        add(digits(Problem::complex(&[60]).batch(9)));
        add(digits(
            Problem::complex(&[60])
                .batch(9)
                .accuracy(Accuracy::Target(1e-3))
                .direction(Direction::Inverse),
        ));
        add(digits(Problem::real_to_complex(&[5, 24]).norm(Norm::Ortho)));
        add(digits(Problem::complex_to_real(&[5, 24])));
        add(digits(Problem::complex(&[67]).batch(2)));
        add(digits(Problem::complex(&[1200])));
    }
    for mode in Mode::ALL {
        let floats = |problem: Problem| problem.engine(Engine::Floats(mode));
        let single = Accuracy::Single;
        add(floats(Problem::complex(&[60]).batch(9).accuracy(single)));
        add(floats(
            Problem::real_to_complex(&[6, 16])
                .norm(Norm::Ortho)
                .accuracy(single),
        ));
    }
    let double = ResidueOptions {
        reconstruction: Method::Double,
        ..ResidueOptions::default()
    };
    for options in [ResidueOptions::default(), double] {
        add(Problem::complex(&[60])
            .batch(4)
            .engine(Engine::Residues)
            .residues(options));
    }
    add(Problem::complex(&[60]).batch(9).engine(Engine::Native));
    add(Problem::complex(&[60]).accuracy(Accuracy::Target(1e-5)));
    // As many lines as threads are worth while for, and one long enough for several.
    add(Problem::complex(&[1 << 16]).engine(Engine::Digits));
    all
}

fn compare_all<T: Sample>() {
    let problems = problems();
    let inputs: Vec<Vec<T>> = problems
        .iter()
        .map(|problem| numbers(problem.input_len() * widths(problem.kind()).0))
        .collect();
    let planner = Planner::<T>::new();
    let wanted: Vec<_> = problems
        .iter()
        .zip(&inputs)
        .map(|(problem, input)| seen(&planner, problem, input))
        .collect();
    let count = wanted.iter().filter(|outcome| outcome.is_ok()).count();
    println!("{count} of {} problems, seed {SEED:#x}", problems.len());
    assert!(count > problems.len() / 2);
    for (name, value) in ENVIRONMENTS {
        // A planner of its own: tables and bounds are made under the environment.
        let planner = Planner::<T>::new();
        // Threads that were started under it.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .start_handler(move |_| set_control(value))
            .build()
            .unwrap();
        for ((problem, input), wanted) in problems.iter().zip(&inputs).zip(&wanted) {
            let (found, after) = under(value, || pool.install(|| seen(&planner, problem, input)));
            assert_eq!(after, value, "{name}");
            // Errors hold numbers as text, so outcomes are compared as they print.
            let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
            assert!(found == wanted, "{name}, {}: {problem:?}", T::NAME);
        }
        let threads = pool.broadcast(|_| control());
        assert!(
            threads.iter().all(|&control| control == value),
            "{name}: {threads:x?}"
        );
        // On the caller's own thread.
        for (problem, input) in problems.iter().zip(&inputs).step_by(7) {
            let (found, after) = under(value, || seen(&planner, problem, input));
            assert_eq!(after, value, "{name}");
            let wanted = seen(&planner, problem, input);
            assert!(
                format!("{found:?}") == format!("{wanted:?}"),
                "{name}: {problem:?}"
            );
        }
    }
}

#[test]
fn f64_results_do_not_depend_on_the_environment() {
    compare_all::<f64>();
}

#[test]
fn f32_results_do_not_depend_on_the_environment() {
    compare_all::<f32>();
}

#[test]
fn double_doubles_do_not_depend_on_the_environment() {
    let high = numbers::<f64>(2 * 9 * 67);
    let data: Vec<Complex<DoubleDouble>> = high
        .chunks_exact(2)
        .map(|z| {
            let pair = |x: f64| DoubleDouble {
                high: x,
                low: x * 2f64.powi(-55),
            };
            Complex::new(pair(z[0]), pair(z[1]))
        })
        .collect();
    for shape in [&[60][..], &[67], &[5, 6], &[1200]] {
        for threads in [1, 3] {
            let problem = Problem::complex(shape).threads(threads).norm(Norm::Ortho);
            let run = || {
                let plan = WidePlanner::new().plan(&problem).unwrap();
                let mut output = data.iter().copied().cycle().take(problem.input_len());
                let mut output: Vec<_> = output.by_ref().collect();
                plan.process(&mut output).unwrap();
                (
                    plan.bound().to_bits(),
                    plan.expected().to_bits(),
                    bits(&output).to_vec(),
                )
            };
            let wanted = run();
            for (name, value) in ENVIRONMENTS {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(3)
                    .start_handler(move |_| set_control(value))
                    .build()
                    .unwrap();
                let (found, after) = under(value, || pool.install(run));
                assert_eq!(after, value, "{name}");
                assert!(found == wanted, "{name}, {shape:?}, {threads} threads");
                let (found, after) = under(value, run);
                assert_eq!(after, value, "{name}");
                assert!(found == wanted, "{name}, {shape:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn the_environment_is_restored_after_an_error() {
    let planner = Planner::<f64>::new();
    let strict = Problem::complex(&[12]).engine(Engine::Digits).strict(true);
    let plan: Arc<Plan<f64>> = planner.plan(&strict).unwrap();
    let mut data = vec![Complex::new(1.0, 0.0); 12];
    // A signalling NaN, at which the caller's environment would stop the program.
    data[5].re = f64::from_bits(0x7ff0_0000_0000_0001);
    let impossible = Problem::complex(&[12]).accuracy(Accuracy::Target(1e-30));
    let not_a_number = Problem::complex(&[12]).accuracy(Accuracy::Target(f64::NAN));
    for (name, value) in ENVIRONMENTS {
        let (outcome, after) = under(value, || plan.process(&mut data));
        assert!(matches!(outcome, Err(FftError::NotFinite { index: 5, .. })));
        assert_eq!(after, value, "{name}");
        let (outcome, after) = under(value, || plan.process(&mut data[..3]));
        assert!(matches!(outcome, Err(FftError::BufferLength { .. })));
        assert_eq!(after, value, "{name}");
        for rejected in [&impossible, &not_a_number] {
            let (outcome, after) = under(value, || planner.plan(rejected));
            assert!(outcome.is_err());
            assert_eq!(after, value, "{name}");
        }
        let (outcome, after) = under(value, || planner.load_wisdom("{}"));
        assert!(matches!(outcome, Err(FftError::Wisdom(_))));
        assert_eq!(after, value, "{name}");
        let (saved, after) = under(value, || planner.save_wisdom());
        assert_eq!(Planner::<f64>::new().load_wisdom(&saved), Ok(1));
        assert_eq!(after, value, "{name}");
    }
}
