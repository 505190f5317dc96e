//! Inputs that aim at the weak places of exact sums: carries that run through every word, windows that end within a block, the ends
//! of the range, what is below the smallest number, and not-a-number wherever it stands.

mod common;

use common::{
    Direction, Generator, double, double_square_root, exact_dot, exact_sum, expected_sum,
};
use kulisch::{Accumulator, Rounding, condition_number, linear, parallel};

const SMALLEST: f64 = f64::from_bits(1);
const SEED: u64 = 0x6b75_6c69;

fn power(exponent: i32) -> f64 {
    if exponent < -1022 {
        f64::from_bits(1 << (exponent + 1074))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// Every method of summation.
fn all_sums(values: &[f64]) -> Vec<(&'static str, f64)> {
    let mut one_by_one = Accumulator::new();
    one_by_one.extend(values.iter().copied());
    let mut slice = Accumulator::new();
    slice.add_slice(values);
    let mut merged = Accumulator::new();
    for part in values.chunks(3) {
        let mut other = Accumulator::new();
        other.add_slice(part);
        merged.merge(&other);
    }
    let mut negated = Accumulator::new();
    values.iter().for_each(|&value| negated.subtract(value));
    negated.negate();
    let mut running = vec![0.0; values.len()];
    kulisch::prefix_sums(values, &mut running).expect("equal lengths");
    let ones = vec![1.0; values.len()];
    vec![
        ("sum", kulisch::sum(values)),
        ("one by one", one_by_one.round()),
        ("slice", slice.round()),
        ("merged", merged.round()),
        ("negated", negated.round()),
        ("parallel", parallel::sum(values, 3)),
        ("dot", kulisch::dot(values, &ones).expect("equal lengths")),
        ("prefix", running.last().copied().unwrap_or(0.0)),
    ]
}

fn check(values: &[f64], what: &str) {
    let expected = expected_sum(values, Direction::Nearest);
    for (method, found) in all_sums(values) {
        assert_eq!(
            found.to_bits(),
            expected.to_bits(),
            "{what}: {method} gives {found:e} for {expected:e}, seed {SEED:#x}"
        );
    }
}

/// All ones from the lowest bit to the highest, and one more: the carry goes through every word, up and down again.
#[test]
fn a_carry_runs_through_every_word_and_back() {
    for top in [-1000, -500, 0, 31, 32, 33, 500, 1023] {
        let mut values: Vec<f64> = (-1074..=top).map(power).collect();
        check(&values, "all ones");
        values.push(SMALLEST);
        check(&values, "carried up");
        values.push(-SMALLEST);
        check(&values, "carried down");
        values.extend((-1074..=top).map(|exponent| -power(exponent)));
        check(&values, "back to zero");
        values.push(-SMALLEST);
        check(&values, "below zero");
    }
}

/// Numbers as far apart as the windows of blocks are wide, and one bit further, around every place of a block.
#[test]
fn blocks_about_as_wide_as_a_window_are_summed_exactly() {
    let mut generator = Generator::new(SEED);
    for width in [
        50, 52, 53, 54, 62, 63, 64, 65, 74, 75, 116, 117, 126, 127, 128, 190, 600, 2045,
    ] {
        for length in [2usize, 7, 8, 9, 63, 64, 65, 2047, 2048, 2049] {
            let low = -1022 + generator.below((2046 - width).max(1) as usize) as i32;
            let mut values: Vec<f64> = (0..length)
                .map(|_| generator.number(low, (low + 2).min(1023)))
                .collect();
            let place = generator.below(length);
            values[place] = power((low + width).min(1023));
            let other = generator.below(length);
            check(&values, "one far above");
            values[other] = -values[place];
            check(&values, "which is taken off");
        }
    }
}

/// The nearest of the largest numbers, and of sums that are just half a unit beyond.
#[test]
fn the_ends_of_the_range_are_where_ieee_has_them() {
    let half_unit = power(970);
    for (values, expected) in [
        (vec![f64::MAX, half_unit], f64::INFINITY),
        (vec![f64::MAX, half_unit, -SMALLEST], f64::MAX),
        (vec![f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
        (vec![-f64::MAX, -half_unit, SMALLEST], -f64::MAX),
        (vec![-f64::MAX, -half_unit], -f64::INFINITY),
    ] {
        check(&values, "largest");
        assert_eq!(kulisch::sum(&values), expected);
        let many: Vec<f64> = values.iter().copied().cycle().take(3000).collect();
        check(&many, "largest, many");
        let mut total = Accumulator::new();
        total.add_slice(&values);
        assert_eq!(total.round_to(Rounding::TowardZero).abs(), f64::MAX);
    }
    // A million of the largest, subtracted one by one.
    let mut total = Accumulator::new();
    (0..1_000_000).for_each(|_| total.add_product(f64::MAX, f64::MAX));
    (0..999_999).for_each(|_| total.subtract_product(f64::MAX, f64::MAX));
    assert_eq!(total.round(), f64::INFINITY);
    assert_eq!(total.square_root(), f64::MAX);
}

/// Products and sums around the smallest number: ties at half of it, and what lies 1074 bits below.
#[test]
fn nothing_is_lost_below_the_smallest_number() {
    let mut generator = Generator::new(SEED);
    for _ in 0..300 {
        let count = 1 + generator.below(40);
        let subnormal = |generator: &mut Generator| {
            let magnitude = f64::from_bits(generator.bits() & ((1 << 52) - 1));
            if generator.below(2) == 0 {
                magnitude
            } else {
                -magnitude
            }
        };
        let left: Vec<f64> = (0..count).map(|_| subnormal(&mut generator)).collect();
        check(&left, "subnormal");
        // Products that end at half a smallest number, and one that decides.
        let right: Vec<f64> = (0..count).map(|_| generator.number(-60, 10)).collect();
        let mut pair = (left, right);
        pair.0.extend([SMALLEST, SMALLEST]);
        pair.1.extend([
            0.5,
            if generator.below(2) == 0 {
                SMALLEST
            } else {
                -SMALLEST
            },
        ]);
        let expected = double(&exact_dot(&pair.0, &pair.1), Direction::Nearest);
        let found = kulisch::dot(&pair.0, &pair.1).expect("equal lengths");
        assert_eq!(found, expected, "seed {SEED:#x}");
        let root = double_square_root(&exact_dot(&pair.0, &pair.0));
        assert_eq!(kulisch::norm(&pair.0), root, "seed {SEED:#x}");
    }
    assert_eq!(kulisch::dot(&[SMALLEST], &[0.5]), Ok(0.0));
    assert_eq!(
        kulisch::dot(&[SMALLEST, SMALLEST], &[0.5, SMALLEST]),
        Ok(SMALLEST)
    );
    assert_eq!(
        kulisch::dot(&[SMALLEST, SMALLEST], &[1.5, -SMALLEST]),
        Ok(SMALLEST)
    );
}

/// Wherever they stand, in a sum, a block or a thread's share; and what is rounded to an infinity is none.
#[test]
fn nan_and_infinities_decide_at_every_position() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    for length in [3usize, 65, 2050] {
        for (first, second, expected) in [
            (infinity, f64::MIN, infinity),
            (-infinity, f64::MAX, -infinity),
            (infinity, -infinity, nan),
            (-nan, infinity, nan),
            (f64::from_bits(0x7ff0_0000_0000_0001), 0.0, nan),
        ] {
            for step in [1, length / 2, length - 1] {
                for (first, second) in [(first, second), (second, first)] {
                    let mut values = vec![f64::MAX; length];
                    (values[0], values[step]) = (first, second);
                    for (method, found) in all_sums(&values) {
                        assert_eq!(
                            found.to_bits(),
                            expected.to_bits(),
                            "{method} {first} {second}"
                        );
                    }
                }
            }
        }
    }
    // Sums that are beyond the range in between are not infinities: the final one is.
    let values = [f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 1.0];
    check(&values, "there and back");
    let mut row = [0.0];
    linear::multiply_vector(&values, &[1.0; 5], &mut row).expect("equal lengths");
    assert_eq!(row, [1.0]);
}

/// Both sums overflowed, and the quotient of infinities was NaN.
#[test]
fn the_condition_number_of_two_largest_numbers_was_nan() {
    assert_eq!(condition_number(&[f64::MAX, f64::MAX]), 1.0);
    assert_eq!(condition_number(&[f64::MIN; 1000]), 1.0);
    assert_eq!(condition_number(&[f64::MAX, f64::MAX, -f64::MAX]), 3.0);
    // Infinite for a sum of zero, and for no other.
    assert_eq!(
        condition_number(&[f64::MAX, f64::MAX, f64::MIN, f64::MIN]),
        f64::INFINITY
    );
    assert_eq!(condition_number(&[f64::MAX, f64::MIN, SMALLEST]), f64::MAX);
    assert_eq!(
        condition_number(&[power(1022), -power(1022), 1.0]),
        power(1023)
    );
    assert_eq!(
        condition_number(&[power(1023), -power(1023), 1.0]),
        f64::MAX
    );
    assert!(condition_number(&[]).is_nan());
    assert!(condition_number(&[0.0, -0.0]).is_nan());
    assert!(condition_number(&[f64::INFINITY, 1.0]).is_nan());
    assert!(condition_number(&[f64::NAN]).is_nan());
    // Elsewhere it is what big integers say, to the roundings of two sums and a quotient.
    let mut generator = Generator::new(SEED);
    for _ in 0..2000 {
        let count = 2 + generator.below(30);
        let values: Vec<f64> = (0..count).map(|_| generator.number(900, 1023)).collect();
        let magnitudes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        // In units that leave room.
        let small = |sum: num_bigint::BigInt| double(&(sum >> 900), Direction::Nearest);
        let expected = small(exact_sum(&magnitudes)) / small(exact_sum(&values)).abs();
        let found = condition_number(&values);
        assert!(
            (found / expected - 1.0).abs() < 4.0 * f64::EPSILON,
            "{found} {expected}, seed {SEED:#x}"
        );
    }
}
