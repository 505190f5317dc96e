//! What is promised about special values, order, partition and threads.

mod common;

use common::{Direction, Generator, expected_dot, expected_sum};
use kulisch::{Accumulator, Error, Instructions, Rounding, linear, parallel};
use proptest::prelude::*;

const INFINITY: f64 = f64::INFINITY;

fn bits(value: f64) -> u64 {
    value.to_bits()
}

#[test]
fn nan_and_infinities_follow_one_rule_in_every_method_of_summation() {
    let nan = bits(f64::NAN);
    let cases: [(&[f64], u64); 6] = [
        (&[1.0, -f64::NAN, 2.0], nan),
        (&[INFINITY, 1.0], bits(INFINITY)),
        (&[-INFINITY, f64::MAX], bits(-INFINITY)),
        (&[INFINITY, -INFINITY], nan),
        (&[INFINITY, f64::NAN], nan),
        (&[INFINITY, INFINITY, -1e308], bits(INFINITY)),
    ];
    for (special, expected) in cases {
        for length in [special.len(), 7, 100, 5000] {
            for place in [0, length - special.len()] {
                let mut values = vec![0.25; length.max(special.len())];
                values[place..place + special.len()].copy_from_slice(special);
                assert_eq!(
                    bits(kulisch::sum(&values)),
                    expected,
                    "{special:?} of {length}"
                );
                let ones = vec![1.0; values.len()];
                let dot = kulisch::dot(&values, &ones).expect("equal lengths");
                assert_eq!(bits(dot), expected, "dot of {special:?} of {length}");
                let mut one_by_one = Accumulator::new();
                one_by_one.extend(values.iter().copied());
                assert_eq!(bits(one_by_one.round()), expected);
                let mut sums = vec![0.0; values.len()];
                kulisch::prefix_sums(&values, &mut sums).expect("equal lengths");
                assert_eq!(bits(sums[values.len() - 1]), expected);
                assert!(kulisch::variance(&values, 0).is_nan());
            }
        }
    }
}

#[test]
fn zero_times_infinity_is_nan_and_squares_of_infinities_are_infinite() {
    for length in [2, 9, 3000] {
        let mut left = vec![0.0; length];
        let mut right = vec![1.0; length];
        right[length / 2] = -INFINITY;
        assert!(kulisch::dot(&left, &right).expect("equal lengths").is_nan());
        left[length / 2] = 2.0;
        assert_eq!(kulisch::dot(&left, &right), Ok(-INFINITY));
        assert_eq!(kulisch::norm(&right), INFINITY);
        left[length / 2] = f64::NAN;
        assert!(kulisch::norm(&left).is_nan());
        // Products of infinities are not judged by products of what stands for numbers.
        left[length / 2] = 5e-324;
        assert_eq!(kulisch::dot(&left, &right), Ok(-INFINITY));
    }
}

#[test]
fn sums_of_zeros_have_the_sign_that_is_documented() {
    for length in [1, 8, 9, 2048, 5000] {
        let mut values = vec![-0.0; length];
        let ones = vec![1.0; length];
        assert_eq!(bits(kulisch::sum(&values)), bits(-0.0), "{length}");
        assert_eq!(kulisch::dot(&values, &ones).map(bits), Ok(bits(-0.0)));
        assert_eq!(bits(kulisch::mean(&values)), bits(-0.0));
        assert_eq!(bits(kulisch::magnitude_sum(&values)), 0);
        assert_eq!(bits(kulisch::norm(&values)), 0);
        assert_eq!(bits(parallel::sum(&values, 3)), bits(-0.0));
        values[length - 1] = 0.0;
        assert_eq!(bits(kulisch::sum(&values)), 0, "{length}");
        assert_eq!(kulisch::dot(&values, &ones).map(bits), Ok(0));
    }
    assert_eq!(bits(kulisch::sum(&[])), 0);
    assert_eq!(bits(kulisch::sum(&[1.0, -1.0])), 0);
    assert_eq!(
        kulisch::dot(&[1e-200, -1e-200], &[1e-200; 2]).map(bits),
        Ok(0)
    );
    // Rounded to zero is not zero: the sign stays.
    assert_eq!(
        kulisch::dot(&[-1e-200], &[1e-200]).map(bits),
        Ok(bits(-0.0))
    );
    assert_eq!(bits(kulisch::mean(&[-5e-324, 0.0, 0.0])), bits(-0.0));
}

#[test]
fn nothing_overflows_before_the_end() {
    let max = f64::MAX;
    assert_eq!(kulisch::sum(&[max, max, max, -max, -max]), max);
    assert_eq!(kulisch::dot(&[max, max, -max], &[max, 1.0, max]), Ok(max));
    assert_eq!(kulisch::norm(&[max]), max);
    assert_eq!(kulisch::norm(&[max, max]), INFINITY);
    assert_eq!(kulisch::norm(&[5e-324]), 5e-324);
    assert_eq!(kulisch::mean(&vec![max; 10_000]), max);
    assert_eq!(kulisch::variance(&[max, -max], 0), INFINITY);
    let mut total = Accumulator::new();
    total.add_slice(&[max, max]);
    assert_eq!(total.round(), INFINITY);
    assert_eq!(total.round_to(Rounding::TowardZero), max);
    total.subtract(max);
    assert_eq!(total.round(), max);
}

#[test]
fn an_accumulator_can_be_negated_and_emptied_by_its_negative() {
    let mut generator = Generator::new(3);
    let values = generator.numbers(500);
    let mut total = Accumulator::new();
    total.add_slice(&values);
    let mut negative = total.clone();
    negative.negate();
    assert_eq!(negative.round(), -total.round());
    total.merge(&negative);
    assert!(total.is_zero());
    assert_eq!(total.round(), 0.0);
}

/// Numbers whose range changes along the array, so that blocks take all variants in turn.
fn changing(generator: &mut Generator, blocks: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for _ in 0..blocks {
        let middle = generator.between(-900, 900);
        let spread = [2, 40, 60, 120, 300, 2000][generator.below(6)];
        let count = [700, 1024, 2048, 3000][generator.below(4)];
        values.extend((0..count).map(|_| generator.number(middle - spread, middle + spread / 2)));
    }
    values
}

#[test]
fn long_sums_whose_range_changes_are_exact_in_every_instruction_set() {
    for seed in 0..6 {
        let mut generator = Generator::new(seed);
        let values = changing(&mut generator, 14);
        let mut others = changing(&mut generator, 14);
        others.resize(values.len(), 1.0);
        let sum = expected_sum(&values, Direction::Nearest);
        let dot = expected_dot(&values, &others, Direction::Nearest);
        for instructions in Instructions::all_available() {
            let mut total = Accumulator::new();
            assert_eq!(total.add_slice_with(instructions, &values), Ok(()));
            assert_eq!(
                bits(total.round()),
                bits(sum),
                "{instructions:?}, seed {seed}"
            );
            let mut total = Accumulator::new();
            assert_eq!(
                total.add_products_with(instructions, &values, &others),
                Ok(())
            );
            assert_eq!(
                bits(total.round()),
                bits(dot),
                "dot, {instructions:?}, seed {seed}"
            );
        }
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let mut generator = Generator::new(11);
    let mut values: Vec<f64> = (0..300_001).map(|_| generator.number(-60, 60)).collect();
    let others: Vec<f64> = (0..values.len())
        .map(|_| generator.number(-30, 10))
        .collect();
    let sum = bits(kulisch::sum(&values));
    let dot = kulisch::dot(&values, &others).map(bits);
    for threads in [0, 1, 2, 3, 8, 100] {
        assert_eq!(bits(parallel::sum(&values, threads)), sum);
        assert_eq!(parallel::dot(&values, &others, threads).map(bits), dot);
        assert_eq!(parallel::norm(&values, threads), kulisch::norm(&values));
        let magnitudes = parallel::magnitude_sum(&values, threads);
        assert_eq!(magnitudes, kulisch::magnitude_sum(&values));
    }
    generator.shuffle(&mut values);
    assert_eq!(bits(kulisch::sum(&values)), sum);

    let (rows, columns) = (37, 53);
    let matrix = &others[..rows * columns];
    let mut one = vec![0.0; rows];
    let mut many = vec![f64::NAN; rows];
    linear::multiply_vector(matrix, &values[..columns], &mut one).expect("dimensions match");
    let starts: Vec<usize> = (0..=rows).map(|row| row * columns).collect();
    let places: Vec<usize> = (0..matrix.len()).map(|place| place % columns).collect();
    let sparse = linear::SparseMatrix::new(&starts, &places, matrix, columns).expect("a matrix");
    for threads in [0, 1, 2, 5, 64] {
        parallel::multiply_vector(matrix, &values[..columns], &mut many, threads)
            .expect("dimensions match");
        assert_eq!(one, many);
        many.fill(f64::NAN);
        parallel::multiply_sparse(&sparse, &values[..columns], &mut many, threads)
            .expect("dimensions match");
        assert_eq!(one, many);
    }
}

#[test]
fn arrays_of_mismatched_lengths_are_rejected() {
    let lengths = Error::Lengths { left: 1, right: 2 };
    assert_eq!(kulisch::dot(&[1.0], &[1.0; 2]), Err(lengths));
    assert_eq!(kulisch::prefix_sums(&[1.0], &mut [0.0; 2]), Err(lengths));
    let mut result = [0.0; 2];
    let wrong = linear::multiply_vector(&[1.0; 5], &[1.0; 3], &mut result);
    assert!(
        matches!(
            wrong,
            Err(Error::Dimensions {
                expected: 6,
                found: 5,
                ..
            })
        ),
        "{wrong:?}"
    );
    let bad = |starts: &[usize], columns: &[usize]| {
        linear::SparseMatrix::new(starts, columns, &[1.0; 3], 4).map(|matrix| matrix.rows())
    };
    assert_eq!(bad(&[0, 2, 3], &[0, 3, 1]), Ok(2));
    assert_eq!(
        bad(&[0, 2, 3], &[0, 4, 1]),
        Err(Error::SparseMatrix { row: 0 })
    );
    assert_eq!(
        bad(&[0, 4, 3], &[0, 1, 1]),
        Err(Error::SparseMatrix { row: 0 })
    );
    assert_eq!(bad(&[], &[0, 1, 1]), Err(Error::SparseMatrix { row: 0 }));
    let out = linear::stencil(&[1.0, 1.0], &[0, 2], &[1.0; 4], 1, &mut result);
    assert_eq!(out, Err(Error::Stencil { term: 1 }));
    let out = linear::stencil(&[1.0], &[-2], &[1.0; 4], 1, &mut result);
    assert_eq!(out, Err(Error::Stencil { term: 0 }));
}

#[test]
fn long_rows_stencils_and_sums_are_exact() {
    let mut generator = Generator::new(5);
    let long: Vec<f64> = (0..2 * 5000).map(|_| generator.number(-20, 20)).collect();
    let vector: Vec<f64> = (0..5000).map(|_| generator.number(-20, 20)).collect();
    let mut result = [0.0; 2];
    linear::multiply_vector(&long, &vector, &mut result).expect("dimensions match");
    let starts = [0, 5000, 10_000];
    let places: Vec<usize> = (0..10_000).map(|place| place % 5000).collect();
    let sparse = linear::SparseMatrix::new(&starts, &places, &long, 5000).expect("a matrix");
    let mut scattered = [0.0; 2];
    sparse
        .multiply_vector(&vector, &mut scattered)
        .expect("dimensions match");
    for row in 0..2 {
        let expected = expected_dot(&long[row * 5000..][..5000], &vector, Direction::Nearest);
        assert_eq!((result[row], scattered[row]), (expected, expected));
    }
    // More terms than are done side by side.
    let offsets: Vec<isize> = (0..200).collect();
    let mut windows = [0.0; 3];
    linear::stencil(&vector[..200], &offsets, &long, 7, &mut windows).expect("in range");
    for (place, &found) in windows.iter().enumerate() {
        let expected = expected_dot(
            &vector[..200],
            &long[7 + place..][..200],
            Direction::Nearest,
        );
        assert_eq!(found, expected);
    }
    let mut product = [0.0; 2];
    linear::multiply_matrices((1, 5000, 2), &vector, &long, &mut product)
        .expect("dimensions match");
    for (column, &found) in product.iter().enumerate() {
        let values: Vec<f64> = long.iter().copied().skip(column).step_by(2).collect();
        assert_eq!(found, expected_dot(&vector, &values, Direction::Nearest));
    }
}

proptest! {
    #[test]
    fn any_order_and_any_partition_give_the_same_bits(
        values in prop::collection::vec(any::<f64>(), 0..400),
        seed in any::<u64>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let expected = bits(kulisch::sum(&values));
        let mut generator = Generator::new(seed);
        let mut shuffled = values.clone();
        generator.shuffle(&mut shuffled);
        prop_assert_eq!(bits(kulisch::sum(&shuffled)), expected);
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(values.len() + 1)).collect();
        ends.extend([0, values.len()]);
        ends.sort_unstable();
        let mut total = Accumulator::new();
        for (number, part) in ends.windows(2).enumerate() {
            let part = &shuffled[part[0]..part[1]];
            let mut other = Accumulator::new();
            if number % 2 == 0 {
                other.add_slice(part);
            } else {
                other.extend(part.iter().copied());
            }
            total.merge(&other);
        }
        prop_assert_eq!(bits(total.round()), expected);
    }

    #[test]
    fn finite_sums_are_what_big_integers_say(values in prop::collection::vec(any::<f64>(), 0..60)) {
        let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let expected = expected_sum(&finite, Direction::Nearest);
        prop_assert_eq!(bits(kulisch::sum(&finite)), bits(expected));
    }
}
