//! Where memory ends, planning and transforming return an error. One test only, because its allocator counts what the process allocates.

use num_complex::Complex;
use ozfft::convolution::{self, ConvolutionError};
use ozfft::{Accuracy, Engine, FftError, Mode, Planner, Problem};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};

/// Allocations up to this size are served by a reserve in the libraries for Python and C (`fallible_memory::Reserving`).
const LARGE: usize = 256 << 10;

/// Large allocations that succeed before all fail.
static GRANTED: AtomicI64 = AtomicI64::new(i64::MAX);
static USED: AtomicUsize = AtomicUsize::new(0);
/// Bytes in use at most since the largest allocation.
static MOST_USED: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Failing;

// SAFETY: every call is handed on to the system's allocator unchanged, or fails.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGE && GRANTED.fetch_sub(1, SeqCst) <= 0 {
            return std::ptr::null_mut();
        }
        let used = USED.fetch_add(layout.size(), SeqCst) + layout.size();
        if layout.size() > LARGEST.fetch_max(layout.size(), SeqCst) {
            MOST_USED.store(0, SeqCst);
        } else {
            MOST_USED.fetch_max(used, SeqCst);
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Numbers that are different and small.
fn input(count: usize) -> Vec<Complex<f64>> {
    let number = |j: usize| (j * 7919 % 1009) as f64 - 504.0;
    (0..count)
        .map(|j| Complex::new(number(j), number(j + 5)))
        .collect()
}

/// Runs `work` with fewer and fewer large allocations. Each outcome is the whole result or an error.
fn expect_errors<R: PartialEq, E: std::fmt::Debug>(
    what: &str,
    is_memory: impl Fn(&E) -> bool,
    work: impl Fn() -> Result<R, E>,
) {
    let expected = work().unwrap();
    GRANTED.store(i64::MAX, SeqCst);
    assert!(work().unwrap() == expected);
    let large = i64::MAX - GRANTED.load(SeqCst);
    assert!(large > 0, "{what} allocates nothing large");
    let mut errors = 0;
    for granted in (0..large).rev().step_by(1 + large as usize / 40) {
        GRANTED.store(granted, SeqCst);
        let outcome = work();
        GRANTED.store(i64::MAX, SeqCst);
        match outcome {
            Ok(result) => assert!(result == expected, "{what}: {granted} of {large} granted"),
            Err(error) => {
                assert!(
                    is_memory(&error),
                    "{what}: {granted} of {large} granted: {error:?}"
                );
                errors += 1;
            }
        }
    }
    println!("{what}: {errors} errors, {large} large allocations");
    assert!(errors > 0, "{what}: no error");
    assert!(work().unwrap() == expected, "{what} is broken afterwards");
}

fn is_memory(error: &FftError) -> bool {
    matches!(error, FftError::Memory(_))
}

fn transforms_return_errors() {
    let engines = [
        Engine::Digits,
        Engine::Residues,
        Engine::Ntt,
        Engine::Floats(Mode::Fast),
        Engine::Floats(Mode::Kahan),
        Engine::Floats(Mode::Double),
        Engine::Floats(Mode::OzakiTwoLevel),
    ];
    for engine in engines {
        for length in [20_011, 1 << 15] {
            let (problem, input) = (Problem::complex(&[length]).engine(engine), input(length));
            let problem = match engine {
                Engine::Floats(_) => problem.accuracy(Accuracy::Single),
                _ => problem,
            };
            let planner = Planner::<f64>::new();
            expect_errors(&format!("{engine} at {length}"), is_memory, || {
                planner.clear();
                let plan = planner.plan(&problem)?;
                let mut data = fallible_memory::catch(|| fallible_memory::copied(&input))?;
                plan.process(&mut data)?;
                Ok(data)
            });
        }
    }
}

/// RustFFT and RealFFT allocate without errors, so the engine estimates first: its first large allocation is of all that they need.
fn native_estimates_cover_what_is_allocated() {
    for length in [
        1 << 18,
        531_441,
        500_000,
        253_111,
        2 * 174_763,
        16 * 37 * 1009,
    ] {
        for real in [false, true] {
            let problem = match real {
                true => Problem::real_to_complex(&[length]),
                false => Problem::complex(&[length]),
            };
            let problem = problem.engine(Engine::Native).threads(1);
            let planner = Planner::<f64>::new();
            let before = USED.load(SeqCst);
            LARGEST.store(0, SeqCst);
            let _plan = planner.plan(&problem).unwrap();
            let most = MOST_USED.load(SeqCst).saturating_sub(before);
            let estimate = LARGEST.load(SeqCst);
            assert!(
                most <= estimate,
                "{length}: {most} bytes, {estimate} estimated"
            );
        }
    }
}

fn convolutions_return_errors() {
    let numbers: Vec<i64> = (0..60_000).map(|k| k * 7919 % 1009 - 504).collect();
    let is_memory = |error: &ConvolutionError| matches!(error, ConvolutionError::Memory(_));
    expect_errors("a convolution", is_memory, || {
        convolution::convolve::<_, _, i64>(&numbers, &numbers)
    });
}

#[test]
fn memory_that_ends_is_an_error() {
    native_estimates_cover_what_is_allocated();
    transforms_return_errors();
    convolutions_return_errors();
}
