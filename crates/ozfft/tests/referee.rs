//! Every bound against a second count of the error budget, which knows the text of section 6 of `docs/numerics.md` and the
//! recipe that a plan prints, but nothing of `budget.rs`.

use crate::common_arrays::{accuracy_of, direction_of, norm_of, products_of};
use crate::support::{Violations, Worst, everything, has_a_large_prime_factor};
use ozfft::{
    Accuracy, CpuUnit, Direction, Engine, Norm, Planner, Problem, Products, Real, WidePlanner,
};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::referee::{
    Factor, Interval, Kind, Numbers, Referee, Request, bound_of_pairs,
};
use ozfft_testkit::problems::{self, Domain};
use std::sync::Mutex;

/// A bound above the referee's by more is not wrong, but looser than the text says: the referee bounds the norm of matrices
/// (6.4) closer.
const LOOSEST: f64 = 1.2;

/// Where nothing is dropped there is no such norm, and both counts are the same.
const LOOSEST_EXACT: f64 = 1.0 + 1e-6;

/// The library adds up in doubles, rounded to nearest: some hundred operations, each off by 2^-53 of sums of positive numbers.
/// The referee's upper end is rounded up as often.
const EVALUATION: f64 = 1.0 / (1u64 << 45) as f64;

/// Plans after which a planner drops its tables, so that they do not fill the memory.
const FORGOTTEN_AFTER: usize = 256;

fn request(problem: &Problem, numbers: Numbers, direction: Direction, norm: Norm) -> Request {
    Request {
        kind: kind(problem),
        factor: factor(direction, norm),
        numbers,
    }
}

fn kind(problem: &Problem) -> Kind {
    match problem.kind() {
        ozfft::Kind::ComplexToComplex => Kind::Complex,
        ozfft::Kind::RealToComplex => Kind::RealToComplex,
        ozfft::Kind::ComplexToReal => Kind::ComplexToReal,
    }
}

fn factor(direction: Direction, norm: Norm) -> Factor {
    match (norm, direction) {
        (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => {
            Factor::Inverse
        }
        (Norm::Ortho, _) => Factor::InverseRoot,
        _ => Factor::One,
    }
}

/// A direction, norm, accuracy and products for a problem.
#[derive(Clone, Copy)]
struct Variant {
    direction: Direction,
    norm: Norm,
    accuracy: Accuracy,
    products: Products,
}

const PLAIN: Variant = Variant {
    direction: Direction::Forward,
    norm: Norm::Backward,
    accuracy: Accuracy::Double,
    products: Products::Truncated,
};

const NORMS: [Norm; 4] = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];

/// Both counts of what was planned, and how far they are apart.
struct Comparison {
    referee: Referee,
    violations: Violations,
    loosest: Mutex<Worst>,
    closest: Mutex<Worst>,
}

impl Comparison {
    fn new() -> Self {
        Comparison {
            referee: Referee::new(),
            violations: Violations::default(),
            loosest: Worst::none(),
            closest: Worst::none(),
        }
    }

    fn check<T: Real>(
        &self,
        planner: &Planner<T>,
        numbers: Numbers,
        problem: Problem,
        variant: Variant,
    ) {
        let Variant {
            direction,
            norm,
            accuracy,
            products,
        } = variant;
        let request = request(&problem, numbers, direction, norm);
        let problem = problem
            .engine(Engine::Digits)
            .direction(direction)
            .norm(norm)
            .accuracy(accuracy)
            .products(products)
            // The tables of this unit are the least to lay out.
            .substrate(CpuUnit::Scalar)
            .threads(1);
        let plan = match planner.plan(&problem) {
            Ok(plan) => plan,
            Err(error) => {
                return self
                    .violations
                    .check(false, || format!("{problem:?}: {error}"));
            }
        };
        let Some(recipe) = plan.recipe() else {
            panic!("the digits engine has a recipe");
        };
        match recipe.to_string().parse() {
            Ok(read) => {
                let model = self.referee.bound(&read, request);
                let loosest = match products {
                    Products::Truncated => LOOSEST,
                    Products::Exact => LOOSEST_EXACT,
                };
                self.compare(model, (plan.bound(), loosest), || {
                    format!("{recipe} {request:?}")
                });
            }
            Err(error) => self
                .violations
                .check(false, || format!("{problem:?}: {error}")),
        }
    }

    /// Holds a bound against the referee's, which it may exceed `loosest` times.
    fn compare(&self, model: Interval, (bound, loosest): (f64, f64), label: impl Fn() -> String) {
        let enough = model.high <= bound * (1.0 + EVALUATION);
        self.violations.check(enough, || {
            format!(
                "{}: bound {bound:.17e} below the referee's {:.17e} ({:e} of it)",
                label(),
                model.high,
                model.high / bound - 1.0
            )
        });
        self.violations.check(bound <= loosest * model.high, || {
            format!(
                "{}: bound {bound:.4e} is {:.3} times the referee's",
                label(),
                bound / model.high
            )
        });
        if bound > 0.0 {
            Worst::note(&self.loosest, bound / model.high, &label);
            Worst::note(&self.closest, model.high / bound, &label);
        }
    }

    fn report(self, name: &str) {
        Worst::print(&self.loosest, &format!("{name}: largest bound/referee"));
        Worst::print(&self.closest, &format!("{name}: largest referee/bound"));
        self.violations.report();
    }
}

/// Any kind, direction, norm, accuracy and products.
fn any(generator: &mut Generator, shape: &[usize]) -> (Problem, Variant) {
    let accuracies = [
        problems::Accuracy::Double,
        problems::Accuracy::Single,
        problems::Accuracy::Target(1e-2),
        problems::Accuracy::Target(1e-3),
        problems::Accuracy::Target(1e-5),
        problems::Accuracy::Target(1e-7),
        problems::Accuracy::Target(1e-9),
        problems::Accuracy::Target(1e-11),
        problems::Accuracy::Target(1e-13),
    ];
    let domain = Domain {
        accuracies: &accuracies,
        exact_once_in: 3,
        ..Domain::usual(false)
    };
    let drawn = domain.draw_of_shape(generator, shape);
    let problem = match drawn.kind {
        problems::Kind::ComplexToComplex => Problem::complex(shape),
        problems::Kind::RealToComplex => Problem::real_to_complex(shape),
        problems::Kind::ComplexToReal => Problem::complex_to_real(shape),
    };
    let variant = Variant {
        direction: direction_of(drawn.inverse),
        norm: norm_of(drawn.norm),
        accuracy: accuracy_of(drawn.accuracy),
        products: products_of(drawn.exact),
    };
    (problem, variant)
}

const SEED: u64 = 20_261_116;

fn generator_of(length: usize) -> Generator {
    Generator::new(SEED + length as u64)
}

/// Whether a line takes Bluestein's convolution, whose tables cost a plan most of its time.
#[test]
fn referee_agrees_for_lengths_up_to_4096() {
    println!("seed {SEED} plus the length");
    let comparison = Comparison::new();
    let planner = Planner::<f64>::new();
    for length in 1..=4096 {
        // Neighbours share the recipe of their convolution: of the longer ones a seventh is enough to see most of those, unless
        // there is time for all.
        if length <= 512 || length % 7 == 0 || !has_a_large_prime_factor(length) || everything() {
            let plain = Problem::complex(&[length]);
            comparison.check(&planner, Numbers::Double, plain, PLAIN);
        }
        if length <= 128 || length % 7 == 0 {
            let (problem, variant) = any(&mut generator_of(length), &[length]);
            comparison.check(&planner, Numbers::Double, problem, variant);
        }
        if length % FORGOTTEN_AFTER == 0 {
            planner.clear();
        }
    }
    comparison.report("referee, lengths");
}

#[test]
fn referee_agrees_for_single_precision() {
    println!("seed {SEED} plus the length");
    let comparison = Comparison::new();
    let planner = Planner::<f32>::new();
    for length in (1..=4096).step_by(37) {
        let (problem, variant) = any(&mut generator_of(length), &[length]);
        // What f32 can hold; smaller targets are rejected.
        let accuracy = match variant.accuracy {
            Accuracy::Target(target) if target < 1e-6 => Accuracy::Single,
            accuracy => accuracy,
        };
        let variant = Variant {
            accuracy,
            ..variant
        };
        comparison.check(&planner, Numbers::Single, problem, variant);
    }
    comparison.report("referee, f32");
}

#[test]
fn referee_agrees_for_long_lines() {
    println!("seed {SEED} plus the length");
    let comparison = Comparison::new();
    // Primes, powers, smooth numbers and others. The referee's own tables of the longest prime take most of the time.
    let lengths = [
        4099, 5003, 6007, 7919, 8192, 9973, 10_000, 10_007, 12_289, 14_641, 16_384, 16_411, 17_711,
        19_999, 20_011, 24_029, 30_011, 32_771, 38_416, 40_009, 46_656, 50_021, 59_049, 65_521,
        65_536, 65_537, 78_125, 100_003, 131_072, 524_288, 1_000_000,
    ];
    let longer: &[usize] = if everything() {
        &[262_147, 1_000_003]
    } else {
        &[]
    };
    let planner = Planner::<f64>::new();
    for length in lengths.into_iter().chain(longer.iter().copied()) {
        let (problem, variant) = any(&mut generator_of(length), &[length]);
        comparison.check(&planner, Numbers::Double, problem, variant);
        planner.clear();
    }
    comparison.report("referee, long lines");
}

#[test]
fn referee_agrees_for_several_axes() {
    println!("seed {SEED} plus the number of the case");
    let comparison = Comparison::new();
    let planner = Planner::<f64>::new();
    let shapes: [&[usize]; 14] = [
        &[16, 16],
        &[60, 61],
        &[1, 64],
        &[64, 1],
        &[1, 1],
        &[67, 35],
        &[35, 67],
        &[31, 1, 32],
        &[12, 20, 1],
        &[1, 12, 20],
        &[128, 128, 128],
        &[5, 7, 9],
        &[2, 1536, 3],
        &[3, 4, 5, 6],
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        comparison.check(&planner, Numbers::Double, Problem::complex(shape), PLAIN);
        for case in 0..8 {
            let mut generator = Generator::new(SEED + (8 * number + case) as u64);
            let (problem, variant) = any(&mut generator, shape);
            comparison.check(&planner, Numbers::Double, problem, variant);
        }
        // Chosen axes, in an order of their own: the last one named is the halved one.
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        let problem = Problem::real_to_complex(shape).axes(&axes);
        comparison.check(&planner, Numbers::Double, problem, PLAIN);
        let inverse = Variant {
            direction: Direction::Inverse,
            ..PLAIN
        };
        let problem = Problem::complex_to_real(shape).axes(&axes[..1]);
        comparison.check(&planner, Numbers::Double, problem, inverse);
    }
    comparison.report("referee, several axes");
}

#[test]
fn referee_agrees_for_double_doubles_of_one_block() {
    let comparison = Comparison::new();
    let planner = WidePlanner::new();
    let mut counted = 0;
    let mut check = |problem: Problem, direction: Direction, norm: Norm| {
        let (kind, factor) = (kind(&problem), factor(direction, norm));
        let problem = problem.direction(direction).norm(norm).threads(1);
        let plan = planner
            .plan(&problem)
            .unwrap_or_else(|error| panic!("{problem:?}: {error}"));
        let model = bound_of_pairs(&plan.to_string(), kind, factor)
            .unwrap_or_else(|error| panic!("{plan}: {error}"));
        if let Some(model) = model {
            counted += 1;
            comparison.compare(model, (plan.bound(), LOOSEST_EXACT), || plan.to_string());
        }
    };
    for length in (1..=256).chain([320, 384, 512, 625, 729, 961, 1000, 1024]) {
        let norm = NORMS[length % 4];
        check(
            Problem::complex(&[length]),
            Direction::Forward,
            Norm::Unscaled,
        );
        check(Problem::complex(&[length]), Direction::Inverse, norm);
        check(
            Problem::real_to_complex(&[length]),
            Direction::Forward,
            norm,
        );
        check(
            Problem::complex_to_real(&[length]),
            Direction::Inverse,
            norm,
        );
    }
    for shape in [&[16, 16][..], &[60, 1, 61], &[1, 12, 20], &[5, 7, 9, 11]] {
        check(Problem::complex(shape), Direction::Forward, Norm::Ortho);
        check(
            Problem::real_to_complex(shape),
            Direction::Forward,
            Norm::Forward,
        );
        check(
            Problem::complex_to_real(shape),
            Direction::Inverse,
            Norm::Backward,
        );
    }
    assert!(counted > 500, "{counted} plans of one block");
    comparison.report("referee, pairs");
}
