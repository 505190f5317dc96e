//! The referee of the bounds: every mode's bound derived once more from the document (`model.rs`), held to the crate's from both sides;
//! and inputs that aim at the bounds (`attacks.rs`).

mod attacks;
mod chirp;
mod model;
mod norms;
mod rounding;

use floats::unit::{Order, Scalar};
use floats::{Direction, FloatPlan, Format, Mode, Path, Table, Unit, tables};
use model::{Facts, bounds};
use norms::Norms;
use ozfft_testkit::everything;
use std::sync::Arc;

/// A bound may be this much more than the model's: norms of matrices are bounded by other norms, which are up to 8 % larger.
const LOOSEST: f64 = 1.2;

/// The order that the processor's units add in, as they are documented.
fn order_of(unit: &str) -> Order {
    match unit {
        "amx_bf16" => Order::Tiles,
        _ => Order::Pairs,
    }
}

/// Largest and smallest quotient of the crate's bound and the model's.
struct Quotients {
    smallest: (f64, String),
    largest: (f64, String),
}

impl Quotients {
    fn new() -> Quotients {
        Quotients {
            smallest: (f64::INFINITY, String::new()),
            largest: (0.0, String::new()),
        }
    }

    fn check(&mut self, claimed: f64, model: f64, what: &str) {
        assert!(
            claimed >= model,
            "{what}: {claimed:e} is below the model's {model:e}"
        );
        // Nothing is lost at all: underflow, which the model leaves out, is all there is.
        if model == 0.0 {
            assert!(claimed < 1e-23, "{what}: {claimed:e} for nothing");
            return;
        }
        let quotient = claimed / model;
        assert!(
            quotient <= LOOSEST,
            "{what}: {claimed:e} is {quotient} times the model's {model:e}"
        );
        if quotient < self.smallest.0 {
            self.smallest = (quotient, what.to_string());
        }
        if quotient > self.largest.0 {
            self.largest = (quotient, what.to_string());
        }
    }

    fn plan(&mut self, plan: &FloatPlan, order: Option<Order>, table: Table, norms: &mut Norms) {
        let facts = Facts::of(plan, order, table);
        let back = (plan.mode() == Mode::Bf16Refined).then(|| {
            let unit = Unit::Scalar;
            let back = FloatPlan::with_table(plan.len(), Mode::Fast, plan.direction(), unit, table);
            Facts::of(&back.expect("f32 takes every length"), None, table)
        });
        let (single, double) = bounds(&facts, back.as_ref(), norms);
        let what = || format!("{} {table:?}", plan.how());
        self.check(plan.bound(), single.whole(), &what());
        self.check(
            plan.bound_of_half(),
            single.half(),
            &format!("half of {}", what()),
        );
        assert_eq!(plan.bound_f64().is_some(), double.is_some(), "{}", what());
        if let (Some(claimed), Some(half), Some(model)) =
            (plan.bound_f64(), plan.bound_of_half_f64(), double)
        {
            self.check(claimed, model.whole(), &format!("f64, {}", what()));
            self.check(half, model.half(), &format!("half, f64, {}", what()));
        }
    }

    fn report(&self, what: &str) {
        println!(
            "{what}: {:.4} ({}) to {:.4} ({}) times the model",
            self.smallest.0, self.smallest.1, self.largest.0, self.largest.1
        );
    }
}

fn every_length(modes: &[Mode], longest: usize) {
    let mut norms = Norms::default();
    for &mode in modes {
        let mut quotients = Quotients::new();
        let unit = Unit::best();
        for n in 1..=longest {
            // Of longer ones a third, unless there is time for all.
            if n > 256 && n % 3 != 0 && !everything() {
                continue;
            }
            // Bounds do not know the direction; both are asked now and then.
            let directions: &[Direction] = match n % 37 {
                0 => &[Direction::Forward, Direction::Inverse],
                _ => &[Direction::Forward],
            };
            for &direction in directions {
                let plan = FloatPlan::new(n, mode, direction, unit).expect("every length");
                let order = match mode.format() {
                    Some(Format::Bf16) => Some(order_of(unit.name())),
                    Some(Format::Fp16) => Some(Order::Pairs),
                    None => None,
                };
                quotients.plan(&plan, order, Table::Measured, &mut norms);
            }
        }
        quotients.report(&format!("{mode}, lengths to {longest}"));
    }
}

#[test]
fn bounds_without_a_unit_are_the_models_at_every_length() {
    every_length(&[Mode::Fast, Mode::Kahan, Mode::Double], 1024);
}

#[test]
fn bounds_on_units_are_the_models_at_every_length() {
    let modes = [
        Mode::Bf16,
        Mode::Bf16Refined,
        Mode::Ozaki,
        Mode::OzakiHq,
        Mode::OzakiTwoLevel,
    ];
    every_length(&modes, 1024);
}

#[test]
fn bounds_in_f16_are_the_models_at_every_length() {
    every_length(&[Mode::Fp16, Mode::Fp16Ozaki], 1024);
}

/// Lengths with large primes up to 20000, and some long ones of other kinds.
#[test]
fn bounds_of_long_lines_are_the_models() {
    let mut norms = Norms::default();
    let sampled = (1031..20_000).step_by(2371);
    let lengths: Vec<usize> = sampled.chain([4096, 15625, 16557, 19683]).collect();
    for mode in [Mode::Fast, Mode::Kahan, Mode::Double] {
        let mut quotients = Quotients::new();
        for &n in &lengths {
            let plan = FloatPlan::new(n, mode, Direction::Inverse, Unit::Scalar).expect("any");
            quotients.plan(&plan, None, Table::Measured, &mut norms);
        }
        quotients.report(&format!("{mode}, long lines"));
    }
}

/// The term of the table was every entry at the norm of all errors: 608 times the expected error at 1009 points, 27419 at 1000003.
#[test]
fn tables_of_chirps_count_by_their_worst_entry_and_not_by_the_norm_of_all_errors() {
    let lengths = [17, 127, 1009, 8191, 65521];
    let long = [131_071, 1_000_003];
    let lengths = lengths.iter().chain(long.iter().filter(|_| everything()));
    for &n in lengths {
        for mode in [Mode::Double, Mode::OzakiTwoLevel] {
            let plan = FloatPlan::new(n, mode, Direction::Forward, Unit::Scalar).expect("any");
            if plan.path() != Path::Bluestein {
                continue;
            }
            let (bound, expected) = (plan.bound_f64().unwrap(), plan.expected_f64().unwrap());
            println!(
                "{mode}, {n} points: {bound:.2e}, {:.1} times what is expected",
                bound / expected
            );
            assert!(
                bound <= 100.0 * expected,
                "{mode}, {n} points: {bound:e} for {expected:e}"
            );
        }
    }
}

/// What other machines are told, for units of every order.
#[test]
fn bounds_by_other_orders_are_the_models() {
    let mut norms = Norms::default();
    let aligned = [(16, 2), (8, 1), (4, 0)];
    let aligned = aligned.map(|(depth, guard_bits)| Order::Aligned { depth, guard_bits });
    let orders = [Order::Pairs, Order::Tiles].into_iter().chain(aligned);
    let mut quotients = Quotients::new();
    for order in orders {
        for mode in Mode::ALL {
            for n in [4, 17, 48, 64, 100, 128, 136, 256, 512, 527, 1024, 4096] {
                let Some((claimed, _)) = tables::error(n, mode, order) else {
                    continue;
                };
                let (n1, n2) = tables::factors(n, mode).expect("where there is a bound");
                let facts = Facts {
                    n,
                    mode,
                    path: Path::Blocks,
                    factors: vec![n1, n2],
                    order: Some(order),
                    table: Table::Blocks,
                };
                let (model, _) = bounds(&facts, None, &mut norms);
                quotients.check(claimed, model.whole(), &format!("{mode} {n} {order:?}"));
            }
        }
    }
    // A unit of the caller's, in one product and in two.
    let order = Order::Aligned {
        depth: 16,
        guard_bits: 2,
    };
    for n in [17, 136] {
        for mode in [Mode::OzakiHq, Mode::Bf16Refined] {
            let unit = Arc::new(Scalar::new(order));
            let plan = FloatPlan::on_unit(n, mode, Direction::Forward, unit).expect("fit");
            quotients.plan(&plan, Some(order), Table::Measured, &mut norms);
        }
    }
    quotients.report("orders");
}

/// The posts' table, whose DFTs are products with their matrices.
#[test]
fn bounds_by_the_posts_table_are_the_models() {
    let mut norms = Norms::default();
    let mut quotients = Quotients::new();
    for mode in Mode::ALL {
        for n in [1, 2, 3, 8, 64, 100, 128, 255, 512, 1000, 1009, 2048] {
            let unit = Unit::best();
            let order = match mode.format() {
                Some(Format::Bf16) => Some(order_of(unit.name())),
                _ => Some(Order::Pairs),
            };
            let direction = Direction::Forward;
            let plan = FloatPlan::with_table(n, mode, direction, unit, Table::Posted).expect("any");
            quotients.plan(&plan, order, Table::Posted, &mut norms);
        }
    }
    quotients.report("the posts' table");
}
