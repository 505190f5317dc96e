//! Plans whatever the bytes say and runs it on buffers of exactly the length asked for: no panic (every access is
//! checked against the length), nothing written by a strict rejection, the same bits from both substrates.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use num_complex::Complex;
use ozfft::{Engine, FftError, Kind, Plan, Planner, CpuUnit};
use ozfft_testkit::assert_same_bits;
use ozfft_testkit::problems::{self as drawn, Domain, RandomProblem, Source, Strides};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most points of one array, and most elements of one buffer.
const MOST_POINTS: usize = 4096;
const MOST_ELEMENTS: usize = 1 << 16;

ozfft_testkit::problem_conversion!(ozfft);

/// The fuzzer's bytes as a source of choices; zeros where there are no more.
struct Bytes<'a>(Unstructured<'a>);

impl Source for Bytes<'_> {
    fn bits(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0.int_in_range(0..=limit - 1).unwrap_or(0)
    }
}

/// Sense or nonsense; half of the time sense, whose layouts nonsense hardly ever meets.
fn request(source: &mut Bytes) -> RandomProblem {
    if source.once_in(2) {
        return RandomProblem::draw_nonsense(source);
    }
    let accuracies = [drawn::Accuracy::draw_any(source)];
    let domain = Domain {
        accuracies: &accuracies,
        ..Domain::usual(false)
    };
    let mut request = domain.draw(source);
    request.engine = drawn::Engine::draw_any(source);
    request.batch = 1 + source.below(8);
    request.threads = Some(source.below(5));
    request.strict = source.once_in(2);
    let (input, output) = request.shapes();
    request.input = Strides::draw_often_contiguous(source, &input, request.batch);
    request.output = Strides::draw_often_contiguous(source, &output, request.batch);
    request
}

/// Tables are what planning costs, so they are kept; plans are too, and would fill the memory after a while.
fn planner() -> &'static Planner<f64> {
    static PLANNER: OnceLock<Planner<f64>> = OnceLock::new();
    static REQUESTS: AtomicUsize = AtomicUsize::new(0);
    let planner = PLANNER.get_or_init(Planner::new);
    if REQUESTS.fetch_add(1, Ordering::Relaxed) % 1024 == 1023 {
        planner.clear();
    }
    planner
}

/// Runs on a buffer of exactly the length asked for, filled with a mark.
fn run(plan: &Plan<f64>, input: &[f64]) -> (Result<(), FftError>, Vec<u64>) {
    let problem = plan.problem();
    let width = if problem.kind() == Kind::ComplexToReal {
        1
    } else {
        2
    };
    let mut output = vec![1234.5f64; problem.output_len() * width];
    let outcome = match problem.kind() {
        Kind::ComplexToComplex => plan.process_outofplace(
            bytemuck::cast_slice(input),
            bytemuck::cast_slice_mut(&mut output),
        ),
        Kind::RealToComplex => {
            plan.process_real_to_complex(input, bytemuck::cast_slice_mut(&mut output))
        }
        Kind::ComplexToReal => plan.process_complex_to_real(
            bytemuck::cast_slice::<f64, Complex<f64>>(input),
            &mut output,
        ),
    };
    (outcome, output.iter().map(|x| x.to_bits()).collect())
}

fuzz_target!(|data: &[u8]| {
    let mut source = Bytes(Unstructured::new(data));
    let request = request(&mut source);
    let problem = problem_of(&request).substrate(CpuUnit::Scalar);
    // Large problems are only slow: what they do wrong, small ones do too.
    let points = request
        .shape
        .iter()
        .try_fold(1usize, |total, &n| total.checked_mul(n));
    let small = points.is_some_and(|points| points <= MOST_POINTS);
    if problem.validate().is_err() {
        // Rejected by `validate`, so rejected by the planner, whatever the size.
        assert!(Planner::<f64>::new().plan(&problem).is_err());
        return;
    }
    if !small || problem.input_len() > MOST_ELEMENTS || problem.output_len() > MOST_ELEMENTS {
        return;
    }
    let planner = planner();
    let Ok(scalar) = planner.plan(&problem) else {
        return;
    };
    let width = if problem.kind() == Kind::RealToComplex {
        1
    } else {
        2
    };
    // Raw bits, repeated as needed: every NaN, infinity and subnormal can be reached.
    let mut samples = vec![source.bits()];
    while source.0.len() >= 8 {
        samples.push(source.bits());
    }
    let input: Vec<f64> = samples
        .iter()
        .cycle()
        .take(problem.input_len() * width)
        .map(|&bits| f64::from_bits(bits))
        .collect();
    let (outcome, output) = run(&scalar, &input);
    if scalar.engine() != Engine::Digits {
        return;
    }
    if matches!(outcome, Err(FftError::NotFinite { .. })) {
        let mark = 1234.5f64.to_bits();
        assert!(
            output.iter().all(|&bits| bits == mark),
            "strict wrote something"
        );
    }
    let wide = planner
        .plan(&problem.substrate(CpuUnit::WideInteger))
        .expect("the substrate does not decide whether a problem can be planned");
    // NotFinite carries text, so outcomes are compared as they print.
    let (other_outcome, other) = run(&wide, &input);
    assert_eq!(format!("{outcome:?}"), format!("{other_outcome:?}"));
    assert_same_bits(&output, &other, 0, format_args!("substrates: {request:?}"));
});
