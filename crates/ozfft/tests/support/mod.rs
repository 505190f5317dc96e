//! What the numerics tests share: running a problem, comparing it with the oracle, and collecting what failed.

use num_complex::Complex;
use ozfft::{Accuracy, Direction, Engine, Norm, Plan, Planner, Problem, Products};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::{ErrorNorms, ExactSpectrum, Scale, compare_scaled, dft_nd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The requirement on random input: relative L2 error.
pub const GATE_L2: f64 = 1.0e-16;
/// The requirement on random input: largest error over the largest output.
pub const GATE_LINF: f64 = 2.0e-16;
/// L2 error of rounding the exact spectrum of random data once to `f64`: nothing can be better.
pub const FLOOR_L2: f64 = 4.7e-17;

/// The digits engine on one thread: the tests run side by side themselves.
pub fn digits(problem: Problem) -> Problem {
    problem.engine(Engine::Digits).threads(1)
}

/// The digits engine on complex data.
pub fn complex(shape: &[usize]) -> Problem {
    digits(Problem::complex(shape))
}

/// Plans, or says which problem could not be planned.
pub fn plan(planner: &Planner<f64>, problem: &Problem) -> Arc<Plan<f64>> {
    planner
        .plan(problem)
        .unwrap_or_else(|error| panic!("no plan for {problem:?}: {error}"))
}

/// The transform of complex data, out of place.
pub fn transform(plan: &Plan<f64>, input: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let mut output = vec![Complex::new(f64::NAN, f64::NAN); input.len()];
    plan.process_outofplace(input, &mut output)
        .unwrap_or_else(|error| panic!("{plan}: {error}"));
    output
}

/// The half-spectrum of real data.
pub fn transform_real(plan: &Plan<f64>, input: &[f64]) -> Vec<Complex<f64>> {
    let mut output = vec![Complex::new(f64::NAN, f64::NAN); plan.problem().output_len()];
    plan.process_real_to_complex(input, &mut output)
        .unwrap_or_else(|error| panic!("{plan}: {error}"));
    output
}

/// The oracle's name of a direction.
pub fn oracle_direction(direction: Direction) -> oracle::Direction {
    match direction {
        Direction::Forward => oracle::Direction::Forward,
        Direction::Inverse => oracle::Direction::Inverse,
    }
}

/// The factor that a norm means, over `points` points.
pub fn scale(norm: Norm, direction: Direction, points: usize) -> Scale {
    match (norm, direction) {
        (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => {
            Scale::OneOverLength(points)
        }
        (Norm::Ortho, _) => Scale::OneOverSquareRoot(points),
        _ => Scale::One,
    }
}

/// The half `0..=n/2` along the last axis of an exact spectrum.
pub fn half(exact: &ExactSpectrum, shape: &[usize]) -> ExactSpectrum {
    let last = shape[shape.len() - 1];
    ExactSpectrum {
        values: exact
            .values
            .chunks(last)
            .flat_map(|row| row[..last / 2 + 1].iter().copied())
            .collect(),
        exponent: exact.exponent,
    }
}

/// Errors of a plan on complex input, whatever its direction and norm.
pub fn errors(
    plan: &Plan<f64>,
    input: &[Complex<f64>],
    norm: Norm,
    direction: Direction,
) -> ErrorNorms {
    let shape = plan.problem().shape();
    let exact = dft_nd(input, shape, oracle_direction(direction));
    compare_scaled(
        &transform(plan, input),
        &exact,
        scale(norm, direction, input.len()),
    )
}

/// Every accuracy that names a decade from 1e-2 to 1e-15.
pub fn decades() -> impl Iterator<Item = (f64, Accuracy)> {
    (2..=15).map(|digits| {
        let target = format!("1e-{digits}")
            .parse()
            .unwrap_or_else(|error| panic!("{error}"));
        (target, Accuracy::Target(target))
    })
}

/// Truncated and exact products.
pub const PRODUCTS: [Products; 2] = [Products::Truncated, Products::Exact];

/// What failed, from all threads; the test fails with the whole list, so that one run shows every violation.
#[derive(Default)]
pub struct Violations(Mutex<Vec<String>>);

impl Violations {
    /// Notes a failure unless the condition holds.
    pub fn check(&self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.0
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .push(message());
        }
    }

    /// Fails if anything was noted.
    pub fn report(self) {
        let list = self
            .0
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        assert!(
            list.is_empty(),
            "{} violations:\n{}",
            list.len(),
            list.join("\n")
        );
    }
}

/// The largest value seen and where.
#[derive(Clone, Debug)]
pub struct Worst(pub f64, pub String);

impl Worst {
    /// Nothing seen yet.
    pub fn none() -> Mutex<Worst> {
        Mutex::new(Worst(0.0, String::from("nothing")))
    }

    /// Remembers the larger one.
    pub fn note(slot: &Mutex<Worst>, value: f64, place: impl FnOnce() -> String) {
        let mut worst = slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if value > worst.0 {
            *worst = Worst(value, place());
        }
    }

    /// Prints it (seen with `--nocapture`).
    pub fn print(slot: &Mutex<Worst>, what: &str) {
        let worst = slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        println!("{what}: {:.4e} at {}", worst.0, worst.1);
    }
}

/// Runs the work on every item, each thread with a planner of its own that drops its tables now and then.
pub fn in_parallel<Item: Sync>(items: &[Item], work: impl Fn(&Planner<f64>, &Item) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let planner = Planner::<f64>::new();
                let mut done = 0;
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(&planner, item);
                    done += 1;
                    if done % 16 == 0 {
                        planner.clear();
                    }
                }
            });
        }
    });
}

pub use ozfft_testkit::everything;

/// Whether a length takes Bluestein's method: no product of steps of at most 64 points.
pub fn has_a_large_prime_factor(length: usize) -> bool {
    let mut rest = length;
    for prime in 2..=64 {
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
    }
    rest > 1
}
