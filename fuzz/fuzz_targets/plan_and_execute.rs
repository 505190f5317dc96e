//! Plans whatever the bytes say and runs it on buffers of exactly the length asked for: no panic (every access is
//! checked against the length), nothing written by a strict refusal, the same bits from both substrates.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use num_complex::Complex;
use ozfft::{
    Accuracy, Direction, Engine, Products, FftError, Kind, Layout, Norm, Plan, Planner, Problem,
    CpuUnit,
};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most points of one array, and most elements of one buffer.
const MOST_POINTS: usize = 4096;
const MOST_ELEMENTS: usize = 1 << 16;

#[derive(Debug, Arbitrary)]
struct Place {
    strides: Vec<i16>,
    distance: i16,
    offset: u16,
}

#[derive(Debug, Arbitrary)]
struct Request {
    kind: u8,
    shape: Vec<u16>,
    axes: Option<Vec<u8>>,
    inverse: bool,
    norm: u8,
    batch: u8,
    accuracy: Option<i32>,
    native: bool,
    exact: bool,
    strict: bool,
    threads: u8,
    input: Option<Place>,
    output: Option<Place>,
    /// Raw bits of the samples, repeated as needed: every NaN, infinity and subnormal can be reached.
    samples: Vec<u64>,
}

fn layout(place: &Place) -> Layout {
    let strides: Vec<isize> = place.strides.iter().map(|&s| s.into()).collect();
    Layout::strided(&strides, place.distance.into()).with_offset(place.offset.into())
}

fn problem(request: &Request) -> Problem {
    let shape: Vec<usize> = request.shape.iter().map(|&n| n.into()).collect();
    let mut problem = match request.kind % 3 {
        0 => Problem::complex(&shape),
        1 => Problem::real_to_complex(&shape),
        _ => Problem::complex_to_real(&shape),
    }
    .direction(if request.inverse {
        Direction::Inverse
    } else {
        Direction::Forward
    })
    .norm(match request.norm % 4 {
        0 => Norm::Backward,
        1 => Norm::Ortho,
        2 => Norm::Forward,
        _ => Norm::Unscaled,
    })
    .batch(usize::from(request.batch % 9))
    .threads(usize::from(request.threads % 5))
    .strict(request.strict)
    .engine(if request.native {
        Engine::Native
    } else {
        Engine::Digits
    })
    .products(if request.exact {
        Products::Exact
    } else {
        Products::Truncated
    });
    if let Some(accuracy) = request.accuracy {
        problem = problem.accuracy(match accuracy % 3 {
            0 => Accuracy::Single,
            1 => Accuracy::Bits(accuracy.unsigned_abs() % 64),
            _ => Accuracy::Target(10f64.powf(f64::from(accuracy) / 1e8)),
        });
    }
    if let Some(axes) = &request.axes {
        let axes: Vec<usize> = axes.iter().map(|&axis| axis.into()).collect();
        problem = problem.axes(&axes);
    }
    if let Some(place) = &request.input {
        problem = problem.input_layout(layout(place));
    }
    if let Some(place) = &request.output {
        problem = problem.output_layout(layout(place));
    }
    problem
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
    let Ok(request) = Request::arbitrary(&mut Unstructured::new(data)) else {
        return;
    };
    let problem = problem(&request);
    // Large problems are only slow: what they do wrong, small ones do too.
    let points = request
        .shape
        .iter()
        .try_fold(1usize, |total, &n| total.checked_mul(n.into()));
    let small = points.is_some_and(|points| points <= MOST_POINTS);
    if problem.validate().is_err() {
        // Refused by `validate`, so refused by the planner, whatever the size.
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
    let samples = if request.samples.is_empty() {
        &[0x3ff0_0000_0000_0000][..]
    } else {
        &request.samples
    };
    let input: Vec<f64> = samples
        .iter()
        .cycle()
        .take(problem.input_len() * width)
        .map(|&bits| f64::from_bits(bits))
        .collect();
    let (outcome, output) = run(&scalar, &input);
    if request.native {
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
    assert!(output == other, "substrates differ: {request:?}");
});
