//! A multiple of a sum and a product, against big integers.

mod common;

use common::{Generator, double_quotient, exact_dot, multiple};
use kulisch::Accumulator;
use num_bigint::{BigInt, BigUint};

/// factor · sum + left · right, rounded by the referee.
fn expected(pairs: &[(f64, f64)], factor: f64, left: f64, right: f64) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let scaled: BigInt = multiple(factor) * exact_dot(&a, &b);
    let total = scaled + ((multiple(left) * multiple(right)) << 1074);
    double_quotient(&total, &(BigUint::from(1u32) << 1074u32))
}

fn found(pairs: &[(f64, f64)], factor: f64, left: f64, right: f64) -> f64 {
    let mut sum = Accumulator::new();
    pairs.iter().for_each(|&(a, b)| sum.add_product(a, b));
    sum.scaled_plus(factor, left, right)
}

#[test]
fn random_multiples_are_rounded_once() {
    let seed = 20261117;
    println!("seed {seed}");
    let mut generator = Generator::new(seed);
    for case in 0..20_000 {
        let span = [1, 40, 400, 1023][case % 4];
        let mut number = || generator.number(-span, span);
        let count = case % 5;
        let pairs: Vec<(f64, f64)> = (0..count).map(|_| (number(), number())).collect();
        let (factor, left, mut right) = (number(), number(), number());
        if case % 7 == 0 && count > 0 {
            // Nearly all of it cancels.
            right = -factor * pairs.iter().map(|(a, b)| a * b).sum::<f64>() / left;
            if !right.is_finite() {
                continue;
            }
        }
        let expected = expected(&pairs, factor, left, right);
        let found = found(&pairs, factor, left, right);
        // Signs of zeros are tested below.
        let same = found.to_bits() == expected.to_bits() || (found == 0.0 && expected == 0.0);
        assert!(same, "case {case}: {found:e} instead of {expected:e}");
    }
}

#[test]
fn ends_of_the_range_neither_overflow_nor_underflow_before_the_rounding() {
    let tiny = 5e-324;
    let huge = f64::MAX;
    assert_eq!(found(&[(tiny, tiny)], huge, 0.0, 0.0), 0.0);
    assert_eq!(
        found(&[(tiny, tiny), (huge, huge)], tiny, -1.0, 0.0).to_bits(),
        expected(&[(tiny, tiny), (huge, huge)], tiny, -1.0, 0.0).to_bits()
    );
    assert_eq!(found(&[(huge, huge)], huge, -huge, huge), f64::INFINITY);
    assert_eq!(
        found(&[(huge, huge), (-huge, huge), (3.0, 1.0)], huge, -huge, 2.0),
        huge
    );
    assert_eq!(found(&[(1.0, 1.0)], tiny, tiny, 1.0), 1e-323);
}

#[test]
fn zeros_infinities_and_nan_follow_the_rules_of_single_operations() {
    let bits = |value: f64| value.to_bits();
    assert_eq!(bits(found(&[(-0.0, 1.0)], 1.0, -0.0, 1.0)), bits(-0.0));
    assert_eq!(bits(found(&[(-0.0, 1.0)], 1.0, 0.0, 1.0)), bits(0.0));
    assert_eq!(bits(found(&[(1.0, 1.0)], 1.0, -1.0, 1.0)), bits(0.0));
    assert_eq!(bits(found(&[], -1.0, -0.0, 1.0)), bits(-0.0));
    let infinity = f64::INFINITY;
    assert_eq!(found(&[(infinity, 1.0)], -2.0, 1.0, 1.0), -infinity);
    assert!(found(&[(infinity, 1.0)], 0.0, 1.0, 1.0).is_nan());
    assert!(found(&[(infinity, 1.0)], 1.0, -infinity, 1.0).is_nan());
    assert!(found(&[(1.0, 1.0)], f64::NAN, 1.0, 1.0).is_nan());
    assert_eq!(found(&[(5e-324, 5e-324)], infinity, 1.0, 1.0), infinity);
}
