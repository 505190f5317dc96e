//! E4M3 numbers and the simulated unit against integers.

mod random;

use random::Random;
use residues::fp8::{Accumulator, E4m3, E4m3Matrix, Fp8Unit};
use residues::{COLUMNS, ResidueError};

fn number(integer: i32) -> E4m3 {
    E4m3::from_integer(integer).expect("an E4M3 integer")
}

/// A unit's product of one row and one column of integers.
fn sum(accumulator: Accumulator, row: &[i32], column: &[i32]) -> f32 {
    let matrix = E4m3Matrix::of_integers(1, row.len(), row).expect("E4M3 integers");
    let data: Vec<[E4m3; COLUMNS]> = column.iter().map(|&x| [number(x); COLUMNS]).collect();
    let mut sums = [[0.0; COLUMNS]];
    Fp8Unit::new(accumulator).multiply(&matrix, &data, &mut sums);
    assert!(sums[0].iter().all(|x| *x == sums[0][0]));
    sums[0][0]
}

#[test]
fn all_codes_mean_what_the_format_says() {
    let mut numbers = 0;
    for code in 0..=255u8 {
        let Some(number) = E4m3::from_code(code) else {
            assert!(code == 0x7f || code == 0xff);
            continue;
        };
        numbers += 1;
        assert_eq!(number.code(), code);
        let (exponent, fraction) = (i32::from(code >> 3 & 15), f64::from(code & 7));
        let magnitude = if exponent == 0 {
            fraction / 8.0 * 2f64.powi(-6)
        } else {
            (1.0 + fraction / 8.0) * 2f64.powi(exponent - 7)
        };
        let value = if code < 128 { magnitude } else { -magnitude };
        assert_eq!(f64::from(number.to_f32()), value);
        // And back, as an integer times a power of two.
        let units = (value * 512.0) as i32;
        let back = E4m3::from_scaled(units, -9);
        assert_eq!(back, Some(if units == 0 { E4m3::ZERO } else { number }));
        if units % 8 == 0 {
            assert_eq!(E4m3::from_scaled(units / 8, -6), back);
        }
    }
    assert_eq!(numbers, 254);
    assert_eq!(E4m3::from_scaled(1, -10), None);
    assert_eq!(E4m3::from_scaled(1, 9), None);
    assert_eq!(E4m3::from_scaled(15, 5), None);
    assert_eq!(E4m3::from_scaled(i32::MIN, -31), E4m3::from_integer(-1));
}

#[test]
fn integers_are_exact_to_16_then_every_second_and_so_on() {
    for integer in -1000..=1000i32 {
        let step = match integer.abs() {
            0..=16 => 1,
            17..=32 => 2,
            33..=64 => 4,
            65..=128 => 8,
            129..=256 => 16,
            257..=448 => 32,
            _ => i32::MAX,
        };
        let exact = integer % step == 0;
        assert_eq!(E4m3::holds(integer), exact, "{integer}");
        let number = E4m3::from_integer(integer);
        assert_eq!(number.is_some(), exact, "{integer}");
        if let Some(number) = number {
            assert_eq!(number.to_f32(), integer as f32);
        }
    }
}

#[test]
fn sums_are_exact_to_what_each_accumulator_says() {
    let mut random = Random::new(0xf8);
    for accumulator in Accumulator::ALL {
        let exact = accumulator.exact_to();
        let depth = (exact / 256) as usize;
        let check = |row: &[i32], column: &[i32]| {
            let expected: i64 = row.iter().zip(column).map(|(a, b)| i64::from(a * b)).sum();
            let got = sum(accumulator, row, column);
            assert_eq!(f64::from(got), expected as f64, "{accumulator}");
        };
        // The largest digits fill the accumulator to its limit.
        check(&vec![16; depth], &vec![16; depth]);
        check(&vec![-16; depth], &vec![16; depth]);
        let alternating: Vec<i32> = (0..depth)
            .map(|k| if k % 2 == 0 { 16 } else { -15 })
            .collect();
        check(&alternating, &vec![15; depth]);
        check(&alternating, &alternating);
        // The limit itself, reached at the very end by an odd number.
        let mut row = vec![16; depth];
        let mut column = row.clone();
        row[depth - 1] = 15;
        column[depth - 1] = 15;
        check(&row, &column);
        for _ in 0..if depth > 1000 { 20 } else { 2000 } {
            let mut digits = |most: i64| -> Vec<i32> {
                (0..depth)
                    .map(|_| random.between(-most, most) as i32)
                    .collect()
            };
            let (row, column) = (digits(16), digits(16));
            check(&row, &column);
            let positive: Vec<i32> = column.iter().map(|x| x.abs()).collect();
            check(&positive, &row.iter().map(|x| x.abs()).collect::<Vec<_>>());
            check(&row, &vec![16; depth]);
        }
    }
}

#[test]
fn sums_beyond_lose_their_last_bit() {
    for accumulator in Accumulator::ALL {
        let depth = (accumulator.exact_to() / 256) as usize;
        let mut row = vec![16; depth];
        let mut column = row.clone();
        row.push(1);
        column.push(1);
        // One product of 1 more than the limit, in the same group or in the next.
        let got = sum(accumulator, &row, &column);
        assert_eq!(
            f64::from(got),
            accumulator.exact_to() as f64,
            "{accumulator}"
        );
        row.reverse();
        column.reverse();
        let got = sum(accumulator, &row, &column);
        assert_eq!(
            f64::from(got),
            accumulator.exact_to() as f64,
            "{accumulator}"
        );
    }
    // The paper's integers "up to ±448": 448·448 and 1 do not even add up within one group of Hopper's.
    assert_eq!(
        sum(Accumulator::HOPPER, &[448, 1], &[448, 1]),
        448.0 * 448.0
    );
    assert_eq!(
        sum(Accumulator::BLACKWELL, &[448, 1], &[448, 1]),
        448.0 * 448.0 + 1.0
    );
}

#[test]
fn a_product_that_is_no_short_integer_is_aligned_by_its_exponents() {
    // In units of 2^-18: 448² beside the smallest product, and its negative.
    let entries: Vec<E4m3> = [0x7e, 0x01, 0x7e]
        .map(|c| E4m3::from_code(c).unwrap_or_default())
        .into();
    let matrix = E4m3Matrix::new(1, 3, &entries);
    let data: Vec<[E4m3; COLUMNS]> = [0x7e, 0x01, 0xfe]
        .map(|c| [E4m3::from_code(c).unwrap_or_default(); COLUMNS])
        .into();
    for accumulator in Accumulator::ALL {
        let mut sums = [[0.0; COLUMNS]];
        Fp8Unit::new(accumulator).multiply(&matrix, &data, &mut sums);
        assert_eq!(sums[0][0], 0.0, "{accumulator} keeps no 2^-18 beside 2^17");
    }
}

#[test]
fn a_depth_beyond_exactness_is_named() {
    for (accumulator, most) in [
        (Accumulator::HOPPER, 64),
        (Accumulator::ADA, 64),
        (Accumulator::BLACKWELL, 65536),
    ] {
        assert_eq!(accumulator.demand(most, 256), Ok(()));
        let error = accumulator.demand(most + 1, 256);
        assert_eq!(
            error,
            Err(ResidueError::DepthBeyondExactness {
                unit: accumulator.name,
                depth: most + 1,
                largest: 256 * (most as u64 + 1),
                exact: 256 * most as u64,
                most,
            })
        );
        let text = error.map_err(|e| e.to_string());
        assert!(text.is_err_and(|t| t.contains(accumulator.name) && t.contains("take")));
    }
}
