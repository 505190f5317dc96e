//! Double-double arithmetic against arbitrary precision.

use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::multiprecision::{
    Float, from_double_double, from_f64, to_double_double,
};
use ozfft_testkit::oracle::{ComplexDoubleDouble, DoubleDouble};

const PRECISION: usize = 320;

/// A random number with two full mantissas and an exponent within 2^±60.
fn random(generator: &mut Generator) -> DoubleDouble {
    let high = generator.signed_mantissa();
    let low = generator.uniform() * 2f64.powi(-53);
    let exponent = generator.below(120) as i32 - 60;
    DoubleDouble::from_sum(high, low).scale_by_power_of_two(exponent)
}

fn wide(value: DoubleDouble) -> Float {
    from_double_double(value, PRECISION)
}

fn relative_error(computed: DoubleDouble, exact: &Float) -> f64 {
    let difference = (wide(computed) - exact).to_f64().value().abs();
    let size = exact.to_f64().value().abs();
    if difference == 0.0 {
        0.0
    } else {
        difference / size
    }
}

#[test]
fn every_operation_keeps_a_hundred_and_three_bits() {
    let mut generator = Generator::new(20);
    let mut worst = [0.0_f64; 6];
    for _ in 0..2000 {
        let (left, right) = (random(&mut generator), random(&mut generator));
        let (wide_left, wide_right) = (wide(left), wide(right));
        let errors = [
            relative_error(left + right, &(&wide_left + &wide_right)),
            relative_error(left - right, &(&wide_left - &wide_right)),
            relative_error(left * right, &(&wide_left * &wide_right)),
            relative_error(left / right, &(&wide_left / &wide_right)),
            relative_error(to_double_double(&wide_left), &wide_left),
            {
                let root = left.abs().sqrt();
                // Half the relative error of the square.
                relative_error(left.abs(), &(wide(root) * wide(root))) / 2.0
            },
        ];
        for (worst, error) in worst.iter_mut().zip(errors) {
            *worst = worst.max(error);
        }
    }
    let bound = 2f64.powi(-103);
    assert!(worst.iter().all(|&error| error < bound), "{worst:?}");
}

#[test]
fn cancellation_keeps_a_small_relative_error() {
    let mut generator = Generator::new(21);
    for _ in 0..500 {
        let left = random(&mut generator);
        // Agrees with the left one in the whole high part.
        let right = DoubleDouble {
            hi: -left.hi,
            lo: generator.uniform() * left.lo,
        };
        let error = relative_error(left + right, &(wide(left) + wide(right)));
        assert!(error < 2f64.powi(-100), "{error:e}");
    }
}

#[test]
fn complex_products_are_accurate_and_sums_of_doubles_exact() {
    let mut generator = Generator::new(22);
    for _ in 0..500 {
        let a = ComplexDoubleDouble::from(generator.uniform_complex());
        let b = ComplexDoubleDouble::from(generator.uniform_complex());
        let product = a * b;
        let exact_re = wide(a.re) * wide(b.re) - wide(a.im) * wide(b.im);
        let exact_im = wide(a.re) * wide(b.im) + wide(a.im) * wide(b.re);
        let size = product.norm_sqr().to_f64().sqrt();
        assert!((wide(product.re) - exact_re).to_f64().value().abs() < 1e-31 * size);
        assert!((wide(product.im) - exact_im).to_f64().value().abs() < 1e-31 * size);
        let (x, y) = (generator.uniform() * 1e20, generator.uniform());
        assert_eq!(
            wide(DoubleDouble::from_sum(x, y)),
            from_f64(x, PRECISION) + from_f64(y, PRECISION)
        );
    }
}
