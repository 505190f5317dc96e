//! Products of integer matrices as residues, on both units, against big integers.

mod random;

use num_bigint::BigInt;
use random::Random;
use residues::bytes::Portable;
use residues::fp8::{Accumulator, Fp8Unit};
use residues::fp8_products::Split;
use residues::products::{MOST_DEPTH, MOST_ROWS, ResidueProducts, Unit8};
use residues::{COLUMNS, Moduli, ResidueError, Set};
use std::sync::Arc;

fn units() -> Vec<Unit8> {
    let fp8 = Accumulator::ALL.map(|accumulator| Unit8::Fp8(Fp8Unit::new(accumulator)));
    let mut units = fp8.to_vec();
    units.push(Unit8::Int8(Arc::new(Portable)));
    units
}

#[test]
fn every_residue_has_digits_that_e4m3_holds() {
    for root in 23..=33i32 {
        let modulus = root * root;
        let split = Split::of(modulus as u16);
        assert_eq!(split, Split::Square { root });
        for residue in -(modulus / 2)..=(modulus - 1) / 2 {
            let (high, low) = split.digits(residue);
            assert_eq!(root * high + low, residue);
            assert!(
                high.abs() <= 16 && low.abs() <= 16,
                "{residue} mod {modulus}"
            );
        }
    }
    assert_eq!(Split::of(511), Split::Karatsuba);
    for residue in -255..=255 {
        let (high, low) = Split::Karatsuba.digits(residue);
        assert_eq!(16 * high + low, residue);
        assert!(high.abs() <= 16 && low.abs() <= 16, "{residue}");
        assert!((high + low).abs() <= 16, "{residue} = 16·{high} + {low}");
    }
}

/// The residues of all sums, from big integers.
fn check(
    moduli: &Moduli,
    shape: (usize, usize),
    entries: &[i64],
    words: &[[i64; COLUMNS]],
    unit: &Unit8,
) {
    let (rows, depth) = shape;
    let products = ResidueProducts::new(moduli, rows, depth, entries, unit.clone());
    let products = products.expect("within what is exact");
    let count = moduli.len();
    let mut residues = vec![[i16::MAX; COLUMNS]; rows * count];
    products.multiply(words, &mut residues);
    for row in 0..rows {
        for column in 0..COLUMNS {
            let factors = entries[row * depth..][..depth].iter();
            let terms = factors
                .zip(words)
                .map(|(&a, b)| BigInt::from(a) * b[column]);
            let sum: BigInt = terms.sum();
            for (number, &modulus) in moduli.values().iter().enumerate() {
                let residue = residues[row * count + number][column];
                let (m, r) = (i32::from(modulus), i32::from(residue));
                assert_eq!(
                    (&sum - r) % m,
                    BigInt::ZERO,
                    "{sum} is not {residue} mod {modulus}"
                );
                assert!(-m <= 2 * r && 2 * r < m, "{residue} mod {modulus}");
            }
        }
    }
}

#[test]
fn products_have_the_residues_of_the_exact_sums() -> Result<(), ResidueError> {
    let mut random = Random::new(0x9d0d);
    for unit in units() {
        for count in [1, 2, 13, Moduli::MOST] {
            let moduli = Moduli::first(unit.set(), count)?;
            for shape in [
                (1, 1),
                (3, 5),
                (17, 32),
                (5, 33),
                (MOST_ROWS, 7),
                (2, MOST_DEPTH),
            ] {
                let (rows, depth) = shape;
                let entries: Vec<i64> = (0..rows * depth).map(|_| random.word()).collect();
                let mut words = vec![[0; COLUMNS]; depth];
                for word in words.iter_mut().flatten() {
                    *word = random.word();
                }
                check(&moduli, shape, &entries, &words, &unit);
            }
        }
    }
    Ok(())
}

#[test]
fn the_largest_residues_fill_the_accumulator_and_no_more() -> Result<(), ResidueError> {
    for unit in units() {
        let all = Moduli::first(unit.set(), Moduli::MOST)?;
        for &modulus in all.values() {
            let moduli = Moduli::new(unit.set(), &[modulus])?;
            let half = i64::from((modulus - 1) / 2);
            // The largest residues, those with the largest digits, and all signs of them.
            for value in [
                half,
                -half,
                half - 7,
                16 * 15,
                16 * 16 - 1,
                1 - modulus as i64 / 2,
            ] {
                for alternating in [false, true] {
                    let sign = |k: usize| if alternating && k % 2 == 1 { -1 } else { 1 };
                    let entries: Vec<i64> = (0..MOST_DEPTH).map(|k| value * sign(k)).collect();
                    let words: Vec<_> = entries.iter().map(|&x| [x; COLUMNS]).collect();
                    check(&moduli, (1, MOST_DEPTH), &entries, &words, &unit);
                    check(
                        &moduli,
                        (1, MOST_DEPTH),
                        &vec![value; MOST_DEPTH],
                        &words,
                        &unit,
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn sizes_that_do_not_fit_are_named() -> Result<(), ResidueError> {
    let build = |set, rows: usize, depth: usize, unit: &Unit8| {
        let moduli = Moduli::first(set, 3)?;
        ResidueProducts::new(&moduli, rows, depth, &vec![1; rows * depth], unit.clone())
    };
    // An accumulator of one bit less than Hopper's: half of the depth.
    let short = Accumulator {
        name: "short",
        aligned_bits: 12,
        ..Accumulator::HOPPER
    };
    let short = Unit8::Fp8(Fp8Unit::new(short));
    assert!(build(Set::Fp8, 1, 32, &short).is_ok());
    assert_eq!(
        build(Set::Fp8, 1, 33, &short).err(),
        Some(ResidueError::DepthBeyondExactness {
            unit: "short",
            depth: 33,
            largest: 33 * 256,
            exact: 1 << 13,
            most: 32,
        })
    );
    for unit in units() {
        let set = unit.set();
        let other = if set == Set::Int8 {
            Set::Fp8
        } else {
            Set::Int8
        };
        assert!(matches!(
            build(other, 1, 1, &unit).err(),
            Some(ResidueError::WrongSet { expected, given, .. }) if expected == set && given == other
        ));
        let too_large =
            |what, given, most| Some(ResidueError::MatrixTooLarge { what, given, most });
        assert_eq!(build(set, 1, 65, &unit).err(), too_large("columns", 65, 64));
        assert_eq!(build(set, 129, 1, &unit).err(), too_large("rows", 129, 128));
    }
    Ok(())
}

#[test]
fn three_products_a_residue_on_fp8_and_one_on_bytes() -> Result<(), ResidueError> {
    for unit in units() {
        let moduli = Moduli::first(unit.set(), 12)?;
        let products = ResidueProducts::new(&moduli, 1, 32, &[1; 32], unit.clone())?;
        let expected = if unit.set() == Set::Int8 {
            12 * 32
        } else {
            3 * 12 * 32
        };
        assert_eq!(products.products_of_a_sum(), expected);
    }
    Ok(())
}
