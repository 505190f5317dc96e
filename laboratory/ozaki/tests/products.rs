//! Products by residues against big integers and exact dot products.

use num_bigint::BigInt;
use ozaki::conjugate_gradient::{By, OnProcessor, digest, solve};
use ozaki::digits::{self, Products};
use ozaki::poisson::Poisson;
use ozaki::scaled::field_of;
use ozaki::{PhaseB, Scheme, SparseMatrix, multiply, multiply_vectors};
use ozfft_testkit::oracle::inputs::Generator;

const SEED: u64 = 0x02a4_1125;

/// A finite number as an integer times a power of two.
fn parts(value: f64) -> (BigInt, i32) {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 2047) as i32, bits & ((1 << 52) - 1));
    let magnitude = match field {
        0 => fraction,
        _ => fraction | 1 << 52,
    };
    let integer = BigInt::from(magnitude);
    let exponent = field.max(1) - 1075;
    match value.is_sign_negative() {
        true => (-integer, exponent),
        false => (integer, exponent),
    }
}

/// `value·2^exponent` in units of `2^unit`, which is not larger.
fn in_units((value, exponent): &(BigInt, i32), unit: i32) -> BigInt {
    value << usize::try_from(exponent - unit).expect("a smaller unit")
}

/// Whether no other f64 is nearer, and of two equally near ones this is the even one.
fn is_nearest(found: f64, exact: &(BigInt, i32)) -> bool {
    if found.is_infinite() {
        let unit = exact.1.min(0);
        // Half a place above the largest number.
        let limit = (BigInt::from((1u64 << 54) - 1), 970);
        let magnitude = BigInt::from(in_units(exact, unit).magnitude().clone());
        return magnitude >= in_units(&limit, unit);
    }
    let unit = exact.1.min(-1075);
    let distance = |value: f64| {
        let difference = in_units(&parts(value), unit) - in_units(exact, unit);
        BigInt::from(difference.magnitude().clone())
    };
    let own = distance(found);
    [found.next_up(), found.next_down()]
        .into_iter()
        .all(|next| {
            next.is_infinite()
                || own < distance(next)
                || (own == distance(next) && found.to_bits() & 1 == 0)
        })
}

/// The integer next to a number times `2^(bits - (field - 1022))`, halves away from zero.
fn scaled(value: f64, field: u32, bits: u32) -> BigInt {
    let (integer, exponent) = parts(value);
    let shift = exponent + bits as i32 - (field as i32 - 1022);
    match usize::try_from(shift) {
        Ok(shift) => integer << shift,
        Err(_) => {
            let shift = shift.unsigned_abs() as usize;
            let negative = value.is_sign_negative();
            let magnitude = BigInt::from(integer.magnitude().clone());
            let rounded: BigInt = ((magnitude << 1) + (BigInt::from(1) << shift)) >> (shift + 1);
            if negative { -rounded } else { rounded }
        }
    }
}

/// Numbers of many magnitudes, zeros and small integers among them.
fn numbers(generator: &mut Generator, count: usize, spread: usize) -> Vec<f64> {
    (0..count)
        .map(|_| match generator.below(16) {
            0 => 0.0,
            1 => -0.0,
            2 => generator.below(7) as f64 - 3.0,
            _ => {
                let exponent = generator.below(spread + 1) as i32 - spread as i32 / 2;
                let half = exponent / 2;
                generator.uniform() * 2f64.powi(half) * 2f64.powi(exponent - half)
            }
        })
        .collect()
}

fn column(b: &[f64], n: usize, column: usize) -> Vec<f64> {
    b.iter().skip(column).step_by(n).copied().collect()
}

#[test]
fn products_are_the_scaled_integers_rounded_once() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    for (spread, count) in [
        (0, 2),
        (0, 9),
        (4, 14),
        (60, 16),
        (900, 16),
        (2000, 18),
        (8, 24),
    ] {
        let (m, k, n) = (
            3 + generator.below(4),
            1 + generator.below(40),
            2 + generator.below(4),
        );
        let a = numbers(&mut generator, m * k, spread);
        let b = numbers(&mut generator, k * n, spread);
        let scheme = Scheme::with_moduli(k, count).expect("a scheme");
        let mut c = vec![f64::NAN; m * n];
        multiply(&scheme, PhaseB::Integers, (m, k, n), &a, &b, &mut c, 1).expect("a product");
        for (place, &found) in c.iter().enumerate() {
            let (row, column) = (&a[place / n * k..][..k], column(&b, n, place % n));
            let fields = [field_of(row), field_of(&column)];
            let integers = |values: &[f64], field| -> Vec<BigInt> {
                values
                    .iter()
                    .map(|&value| scaled(value, field, scheme.bits()))
                    .collect()
            };
            let (left, right) = (integers(row, fields[0]), integers(&column, fields[1]));
            let sum: BigInt = left.iter().zip(&right).map(|(a, b)| a * b).sum();
            let exponent = (fields[0] + fields[1]) as i32 - 2044 - 2 * scheme.bits() as i32;
            assert!(
                is_nearest(found, &(sum, exponent)),
                "{count} moduli, spread {spread}, place {place}: {found:e}"
            );
            // And it is as near to the exact sum as promised.
            let exact = kulisch::dot(row, &column).expect("equal lengths");
            let bound = scheme.error_bound(fields[0], fields[1], k, found)
                + (exact.abs() * f64::EPSILON / 2.0).max(f64::from_bits(1));
            assert!(
                (found - exact).abs() <= bound || found == exact,
                "{found:e} is not {exact:e} within {bound:e}"
            );
        }
    }
}

#[test]
fn numbers_that_words_hold_are_summed_exactly() {
    // All within 2^6 of the largest: 58 bits hold them.
    let mut generator = Generator::new(SEED);
    let k = 40;
    let near = |generator: &mut Generator| -> Vec<f64> {
        (0..k)
            .map(|_| (1.0 + generator.uniform().abs()) * [1.0, -2.0, 0.5, -8.0][generator.below(4)])
            .collect()
    };
    let (a, b) = (near(&mut generator), near(&mut generator));
    let scheme = Scheme::with_moduli(k, 16).expect("a scheme");
    assert!(scheme.bits() >= 58);
    let found = ozaki::dot(&scheme, PhaseB::Integers, &a, &b).expect("a dot product");
    assert_eq!(found, kulisch::dot(&a, &b).expect("equal lengths"));
}

#[test]
fn digits_and_residues_have_the_same_bits_and_truncated_digits_keep_their_bound() {
    let mut generator = Generator::new(SEED + 1);
    let (m, k, n) = (4, 33, 3);
    let a = numbers(&mut generator, m * k, 10);
    let b = numbers(&mut generator, k * n, 10);
    let scheme = Scheme::with_moduli(k, 16).expect("a scheme");
    let [mut residues, mut all, mut leading] = [const { Vec::new() }; 3].map(|mut c: Vec<f64>| {
        c.resize(m * n, f64::NAN);
        c
    });
    multiply(
        &scheme,
        PhaseB::Integers,
        (m, k, n),
        &a,
        &b,
        &mut residues,
        2,
    )
    .expect("a product");
    digits::multiply(&scheme, Products::All, (m, k, n), &a, &b, &mut all).expect("a product");
    digits::multiply(&scheme, Products::Leading, (m, k, n), &a, &b, &mut leading)
        .expect("a product");
    assert_eq!(
        residues.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        all.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    );
    for (place, (&found, &expected)) in leading.iter().zip(&all).enumerate() {
        let fields = [
            field_of(&a[place / n * k..][..k]),
            field_of(&column(&b, n, place % n)),
        ];
        let unit = 2f64.powi((fields[0] + fields[1]) as i32 - 2044 - 2 * scheme.bits() as i32);
        let bound =
            digits::truncation_bound(scheme.bits(), k) * unit + expected.abs() * f64::EPSILON;
        assert!(
            (found - expected).abs() <= bound,
            "{found:e} is not {expected:e} within {bound:e}"
        );
    }
    assert_eq!(digits::product_count(52, Products::All), 49);
    assert_eq!(digits::product_count(52, Products::Leading), 28);
    assert_eq!(digits::product_count(56, Products::Leading), 36);
}

#[test]
fn a_column_a_vector_and_a_sparse_matrix_have_the_same_bits_on_any_number_of_threads() {
    let mut generator = Generator::new(SEED + 2);
    let (m, k, n) = (13, 21, 5);
    let a = numbers(&mut generator, m * k, 40);
    let b = numbers(&mut generator, k * n, 40);
    let scheme = Scheme::with_moduli(k, 15).expect("a scheme");
    for phase_b in [PhaseB::Integers, PhaseB::Doubles] {
        let mut once = vec![f64::NAN; m * n];
        multiply(&scheme, phase_b, (m, k, n), &a, &b, &mut once, 1).expect("a product");
        for threads in [2, 5, 64] {
            let mut again = vec![f64::NAN; m * n];
            multiply(&scheme, phase_b, (m, k, n), &a, &b, &mut again, threads).expect("a product");
            assert_eq!(digest(&once), digest(&again));
        }
        // The zeros are left out.
        let (mut starts, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
        for row in a.chunks(k) {
            for (place, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                columns.push(place as u32);
                values.push(value);
            }
            starts.push(columns.len() as u32);
        }
        let sparse = SparseMatrix::new(&starts, &columns, &values, k).expect("a matrix");
        for place in 0..n {
            let x = column(&b, n, place);
            let expected = digest(&column(&once, n, place));
            let [mut dense_result, mut sparse_result] = [vec![f64::NAN; m], vec![f64::NAN; m]];
            multiply_vectors(&scheme, phase_b, (1, m, k), &a, &x, &mut dense_result, 3)
                .expect("a product");
            sparse
                .multiply_vector(&scheme, phase_b, &x, &mut sparse_result, 3)
                .expect("a product");
            assert_eq!(digest(&dense_result), expected);
            assert_eq!(digest(&sparse_result), expected);
        }
    }
}

#[test]
fn phase_b_in_doubles_is_near() {
    let mut generator = Generator::new(SEED + 3);
    let (m, k, n) = (6, 30, 6);
    let a = numbers(&mut generator, m * k, 4);
    let b = numbers(&mut generator, k * n, 4);
    for count in [6, 14, 16, 18] {
        let scheme = Scheme::with_moduli(k, count).expect("a scheme");
        let [mut exact, mut near] = [vec![0.0; m * n], vec![0.0; m * n]];
        multiply(&scheme, PhaseB::Integers, (m, k, n), &a, &b, &mut exact, 1).expect("a product");
        multiply(&scheme, PhaseB::Doubles, (m, k, n), &a, &b, &mut near, 1).expect("a product");
        for (place, (&exact, &near)) in exact.iter().zip(&near).enumerate() {
            // The lower parts are below M·2^-40, and at most 19 sums of them, each below 2^13 of that, are rounded.
            let fields = [
                field_of(&a[place / n * k..][..k]),
                field_of(&column(&b, n, place % n)),
            ];
            let unit = 2f64.powi((fields[0] + fields[1]) as i32 - 2044 - 2 * scheme.bits() as i32);
            let lower = 2f64.powf(scheme.moduli().bits() - 40.0 + 13.0 - 53.0) * 20.0 * unit;
            assert!(
                (exact - near).abs() <= exact.abs() * f64::EPSILON + lower,
                "{count} moduli: {near:e} is not {exact:e}"
            );
        }
    }
}

#[test]
fn what_is_not_finite_spoils_its_row_and_column_alone() {
    let (m, k, n) = (3, 4, 3);
    let mut a = vec![1.0; m * k];
    let mut b = vec![2.0; k * n];
    a[k + 1] = f64::INFINITY;
    b[2] = f64::NAN;
    let scheme = Scheme::with_moduli(k, 16).expect("a scheme");
    let mut c = vec![0.0; m * n];
    multiply(&scheme, PhaseB::Integers, (m, k, n), &a, &b, &mut c, 1).expect("a product");
    for (place, value) in c.iter().enumerate() {
        let spoilt = place / n == 1 || place % n == 2;
        assert!(
            if spoilt {
                value.is_nan()
            } else {
                *value == 8.0
            },
            "place {place}: {value}"
        );
    }
}

#[test]
fn shapes_that_do_not_fit_are_rejected_and_nothing_is_written() {
    let scheme = Scheme::with_moduli(4, 8).expect("a scheme");
    let mut c = [7.0; 4];
    let phase_b = PhaseB::Integers;
    assert!(multiply(&scheme, phase_b, (2, 2, 2), &[1.0; 3], &[1.0; 4], &mut c, 1).is_err());
    let long = multiply(
        &scheme,
        phase_b,
        (2, 5, 2),
        &[1.0; 10],
        &[1.0; 10],
        &mut c,
        1,
    );
    assert!(
        long.expect_err("too long")
            .to_string()
            .contains("5 products")
    );
    assert_eq!(c, [7.0; 4]);
    for (starts, columns) in [
        (&[0u32, 2][..], &[0u32][..]),
        (&[0, 1], &[9]),
        (&[1, 1], &[0]),
        (&[0, 2, 1], &[0]),
    ] {
        assert!(SparseMatrix::new(starts, columns, &[1.0], 3).is_err());
    }
    multiply(&scheme, phase_b, (2, 0, 2), &[], &[], &mut c, 1).expect("empty sums");
    assert_eq!(c, [0.0; 4]);
}

/// Products of low weight are far below the residual.
#[test]
fn conjugate_gradients_converge_with_truncated_digits() {
    let poisson = Poisson::cube(9);
    let matrix = poisson.matrix().expect("a matrix");
    let right = vec![1.0; matrix.rows()];
    let scheme = Scheme::with_moduli(7, 16).expect("a scheme");
    let mut histories = [1, 4].map(|threads| {
        let by = By::Digits(Products::Leading);
        let mut vectors = OnProcessor::new(&scheme, by, matrix, &right, threads).expect("vectors");
        let course = solve(&mut vectors, 1e-12, 200).expect("a solution");
        assert!(course.converged, "{:?}", course.history.last());
        digest(&course.history)
    });
    histories.sort_unstable();
    assert_eq!(histories[0], histories[1]);
}

/// Batches and sparse matrices: empty rows, rows of zeros, numbers of all sizes, and some that are not finite.
#[test]
fn vectors_by_digits_have_the_bits_of_residues_and_truncated_digits_keep_their_bound() {
    let bits = |found: &[f64]| -> Vec<u64> { found.iter().map(|x| x.to_bits()).collect() };
    let mut generator = Generator::new(SEED + 7);
    for (moduli, shape) in [(14, (3, 5, 20)), (15, (1, 7, 1)), (16, (2, 3, 64))] {
        let (batch, rows, columns) = shape;
        let scheme = Scheme::with_moduli(columns, moduli).expect("a scheme");
        let mut matrices = numbers(&mut generator, batch * rows * columns, 10);
        matrices[..columns].fill(0.0);
        matrices[batch * rows * columns - 1] = 5e-324;
        let mut vectors = numbers(&mut generator, batch * columns, 10);
        if batch > 1 {
            vectors[0] = f64::INFINITY;
        }
        let mut found = [const { Vec::new() }; 3].map(|mut to: Vec<f64>| {
            to.resize(batch * rows, 7.0);
            to
        });
        let phase_b = PhaseB::Integers;
        multiply_vectors(
            &scheme,
            phase_b,
            shape,
            &matrices,
            &vectors,
            &mut found[0],
            2,
        )
        .expect("residues");
        for (to, products) in found[1..]
            .iter_mut()
            .zip([Products::All, Products::Leading])
        {
            digits::multiply_vectors(&scheme, products, shape, &matrices, &vectors, to, 3)
                .expect("digits");
        }
        assert_eq!(bits(&found[0]), bits(&found[1]), "{shape:?}");
        for place in 0..batch * rows {
            let (exact, truncated) = (found[1][place], found[2][place]);
            let row = &matrices[place * columns..][..columns];
            let fields = [row, &vectors[place / rows * columns..][..columns]].map(field_of);
            let exponent = (fields[0] + fields[1]) as i32 - 2044 - 2 * scheme.bits() as i32;
            let bound = digits::truncation_bound(scheme.bits(), columns) * 2f64.powi(exponent)
                + exact.abs() * f64::EPSILON;
            assert!(
                exact.is_nan() && truncated.is_nan() || (truncated - exact).abs() <= bound,
                "{truncated:e} is not {exact:e} within {bound:e}"
            );
        }
    }

    let (starts, columns) = ([0, 3, 3, 4, 6], [5, 0, 2, 4, 1, 1]);
    let mut values = numbers(&mut generator, 6, 30);
    let matrix = SparseMatrix::new(&starts, &columns, &values, 6).expect("a matrix");
    let scheme = Scheme::with_moduli(3, 16).expect("a scheme");
    let vector = numbers(&mut generator, 6, 30);
    let mut infinite = vector.clone();
    infinite[3] = f64::NEG_INFINITY;
    for vector in [&vector, &infinite] {
        let (mut residues, mut all) = ([7.0; 4], [7.0; 4]);
        matrix
            .multiply_vector(&scheme, PhaseB::Integers, vector, &mut residues, 2)
            .expect("residues");
        digits::multiply_sparse(&scheme, Products::All, &matrix, vector, &mut all, 2)
            .expect("digits");
        assert_eq!(bits(&residues), bits(&all));
    }
    values[0] = f64::NAN;
    let matrix = SparseMatrix::new(&starts, &columns, &values, 6).expect("a matrix");
    let mut found = [7.0; 4];
    digits::multiply_sparse(&scheme, Products::Leading, &matrix, &vector, &mut found, 1)
        .expect("digits");
    assert!(found[0].is_nan() && found[1] == 0.0 && found[2].is_finite());
    let short = digits::multiply_sparse(&scheme, Products::All, &matrix, &[1.0], &mut found, 1);
    assert!(short.is_err(), "a vector of another length");
}

#[test]
fn conjugate_gradients_have_the_same_history_on_any_number_of_threads() {
    let poisson = Poisson::cube(9);
    let matrix = poisson.matrix().expect("a matrix");
    assert_eq!(matrix.longest_row(), 7);
    let right: Vec<f64> = (0..matrix.rows())
        .map(|row| (row as f64 * 0.37).sin())
        .collect();
    let scheme = Scheme::with_moduli(7, 16).expect("a scheme");
    let mut first = None;
    let residues = By::Residues(PhaseB::Integers);
    let ways = [(residues, 1), (residues, 2), (residues, 7)];
    for (by, threads) in ways.into_iter().chain([(By::Digits(Products::All), 3)]) {
        let mut vectors = OnProcessor::new(&scheme, by, matrix, &right, threads).expect("vectors");
        let course = solve(&mut vectors, 1e-12, 200).expect("a solution");
        assert!(course.converged, "{:?}", course.history.last());
        // The residual itself, exactly.
        let (starts, columns, values) = matrix.parts();
        let mut square = 0.0;
        for row in 0..matrix.rows() {
            let mut sum = kulisch::Accumulator::new();
            sum.add(right[row]);
            for entry in starts[row] as usize..starts[row + 1] as usize {
                sum.subtract_product(values[entry], vectors.x[columns[entry] as usize]);
            }
            square += sum.round() * sum.round();
        }
        let norm = (square / kulisch::dot(&right, &right).expect("equal lengths")).sqrt();
        assert!(norm < 4e-12, "{norm:e}");
        let digests = (
            digest(&course.history),
            digest(&vectors.x),
            course.history.len(),
        );
        assert_eq!(*first.get_or_insert(digests), digests);
    }
}
