//! The arithmetic of double-double numbers against multiprecision numbers, within the bounds that its documentation gives.

use ozfft::DoubleDouble;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::multiprecision::{Float, from_f64};

const PRECISION: usize = 400;
const SEED: u64 = 0x6d31_0a57_e2c9_44b1;
/// u² with u = 2^-53.
const UNIT: f64 = 1.232_595_164_407_831e-32;

fn float(number: DoubleDouble) -> Float {
    from_f64(number.high, PRECISION) + from_f64(number.low, PRECISION)
}

/// Numbers of many magnitudes, with every kind of low part.
fn number(generator: &mut Generator) -> DoubleDouble {
    let exponent = (40.0 * generator.uniform()) as i32;
    let high = generator.uniform() * 2f64.powi(exponent);
    let low = match (generator.uniform() * 4.0) as i32 {
        0 => 0.0,
        1 => high * 2f64.powi(-54),
        2 => high * generator.uniform() * 2f64.powi(-70),
        _ => high * generator.uniform() * 2f64.powi(-53),
    };
    DoubleDouble::new(high, low)
}

/// Relative error in units of u².
fn error(found: DoubleDouble, exact: &Float) -> f64 {
    assert!(
        found.high == found.high + found.low,
        "{found:?} is not normalised"
    );
    let difference = float(found) - exact;
    let relative = (difference / exact).to_f64().value().abs();
    relative / UNIT
}

#[test]
fn operations_keep_the_bounds_of_their_documentation() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    let mut worst = [0.0f64; 4];
    for _ in 0..40_000 {
        let (a, b) = (number(&mut generator), number(&mut generator));
        if a.high == 0.0 || b.high == 0.0 {
            continue;
        }
        let (x, y) = (float(a), float(b));
        let (a_abs, b_abs) = (a.abs(), b.abs());
        let sum = error(a_abs + b_abs, &(float(a_abs) + float(b_abs)));
        let product = error(a * b, &(&x * &y));
        let quotient = error(a / b, &(&x / &y));
        // The square of the root is off by twice as much, relatively.
        let root = a_abs.sqrt();
        let square = float(root) * float(root);
        let root_error = error(root, &float(root)).max(
            ((square - float(a_abs)) / float(a_abs))
                .to_f64()
                .value()
                .abs()
                / 2.0
                / UNIT,
        );
        for (worst, found) in worst.iter_mut().zip([sum, product, quotient, root_error]) {
            *worst = worst.max(found);
        }
    }
    println!("worst of sum, product, quotient, root in u²: {worst:?}");
    for (worst, bound) in worst.into_iter().zip([3.0, 5.0, 15.0, 4.0]) {
        assert!(worst <= bound, "{worst} u² where {bound} are promised");
        assert!(worst > 0.2, "{worst}: what is measured rounds");
    }
}

#[test]
fn order_and_differences_are_those_of_the_exact_numbers() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    for _ in 0..10_000 {
        let a = number(&mut generator);
        let b = match (generator.uniform() * 2.0) as i32 {
            0 => number(&mut generator),
            _ => DoubleDouble::new(a.high, a.low * generator.uniform()),
        };
        assert_eq!(
            a.partial_cmp(&b),
            float(a).partial_cmp(&float(b)),
            "{a:?} {b:?}"
        );
        // Equal high parts cancel without a rounding.
        if a.high == b.high {
            assert_eq!(float(a - b), float(a) - float(b), "{a:?} {b:?}");
        }
    }
}
