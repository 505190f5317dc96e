//! Complex products by residues against big integers.

mod random;

use num_bigint::BigInt;
use random::Random;
use residues::bytes::Portable;
use residues::complex::{ComplexMethod, ComplexProducts, FoldedDft};
use residues::fp8::{Accumulator, Fp8Unit};
use residues::products::Unit8;
use residues::{COLUMNS, Moduli, ResidueError, Residues};
use std::sync::Arc;

fn words(random: &mut Random, rows: usize) -> Vec<[i64; COLUMNS]> {
    (0..rows)
        .map(|_| [0; COLUMNS].map(|_: i64| random.word()))
        .collect()
}

fn units() -> [Unit8; 3] {
    [
        Unit8::Int8(Arc::new(Portable)),
        Unit8::Fp8(Fp8Unit::new(Accumulator::HOPPER)),
        Unit8::Fp8(Fp8Unit::new(Accumulator::BLACKWELL)),
    ]
}

/// That residues are those of `Σ_j (a(j) + i·b(j))·(x_j + i·y_j)`.
fn check(
    moduli: &Moduli,
    row: impl Fn(usize) -> (i64, i64),
    words: (&[[i64; COLUMNS]], &[[i64; COLUMNS]]),
    residues: (&[Residues], &[Residues]),
) {
    for column in 0..COLUMNS {
        let (mut real, mut imaginary) = (BigInt::ZERO, BigInt::ZERO);
        for (j, (x, y)) in words.0.iter().zip(words.1).enumerate() {
            let (a, b) = row(j);
            let (a, b) = (BigInt::from(a), BigInt::from(b));
            real += &a * x[column] - &b * y[column];
            imaginary += a * y[column] + b * x[column];
        }
        for (number, &modulus) in moduli.values().iter().enumerate() {
            for (exact, residue) in [
                (&real, residues.0[number][column]),
                (&imaginary, residues.1[number][column]),
            ] {
                let (m, r) = (i32::from(modulus), i32::from(residue));
                assert_eq!((exact - r) % m, BigInt::ZERO, "{exact} is not {r} mod {m}");
                assert!(-m <= 2 * r && 2 * r < m, "{r} mod {m}");
            }
        }
    }
}

#[test]
fn three_real_products_make_a_complex_one() -> Result<(), ResidueError> {
    let mut random = Random::new(0xc0_17);
    for unit in units() {
        let moduli = Moduli::first(unit.set(), 13)?;
        for (rows, depth) in [(1, 1), (3, 32), (16, 64), (128, 2)] {
            let mut entries = || -> Vec<i64> { (0..rows * depth).map(|_| random.word()).collect() };
            let (a, b) = (entries(), entries());
            let (x, y) = (words(&mut random, depth), words(&mut random, depth));
            let products = ComplexProducts::new(&moduli, (rows, depth), &a, &b, &unit)?;
            let mut real = vec![[0; COLUMNS]; rows * moduli.len()];
            let mut imaginary = real.clone();
            products.multiply((&x, &y), (&mut real, &mut imaginary));
            let parts = real
                .chunks(moduli.len())
                .zip(imaginary.chunks(moduli.len()));
            for (row, residues) in parts.enumerate() {
                let entry = |j| (a[row * depth + j], b[row * depth + j]);
                check(&moduli, entry, (&x, &y), residues);
            }
        }
    }
    Ok(())
}

#[test]
fn a_folded_transform_is_the_transform() -> Result<(), ResidueError> {
    let mut random = Random::new(0xf01d);
    for unit in units() {
        let moduli = Moduli::first(unit.set(), 13)?;
        for n in [1, 2, 3, 4, 5, 8, 15, 16, 31, 32, 64, 126] {
            // Any even and odd tables; those of a transform are such.
            let (mut cosines, mut sines) = (vec![0i64; n], vec![0i64; n]);
            for t in 0..=n / 2 {
                let opposite = (n - t) % n;
                cosines[t] = random.word();
                cosines[opposite] = cosines[t];
                if t != opposite {
                    sines[t] = random.word();
                    sines[opposite] = -sines[t];
                }
            }
            let dft = FoldedDft::new(&moduli, &cosines, &sines, &unit)?;
            assert_eq!(dft.products(), ComplexMethod::Folded.products(n as u64));
            let (x, y) = (words(&mut random, n), words(&mut random, n));
            let mut real = vec![[0; COLUMNS]; n * moduli.len()];
            let mut imaginary = real.clone();
            dft.transform((&x, &y), (&mut real, &mut imaginary));
            let parts = real
                .chunks(moduli.len())
                .zip(imaginary.chunks(moduli.len()));
            for (k, residues) in parts.enumerate() {
                let entry = |j: usize| (cosines[j * k % n], -sines[j * k % n]);
                check(&moduli, entry, (&x, &y), residues);
            }
        }
    }
    Ok(())
}

#[test]
fn folding_takes_a_quarter_of_the_products_and_residues_two_thirds_of_the_reconstructions() {
    for n in 1..=64 {
        let folded = ComplexMethod::Folded.products(n);
        assert_eq!(folded, n * n + if n % 2 == 0 { 4 } else { 1 });
        assert_eq!(ComplexMethod::Karatsuba.products(n), 3 * n * n);
        assert_eq!(ComplexMethod::Direct.products(n), 4 * n * n);
        assert_eq!(ComplexMethod::Folded.reconstructions(n), 2 * n);
        assert_eq!(ComplexMethod::KaratsubaOfIntegers.reconstructions(n), 3 * n);
    }
    assert_eq!(
        ComplexMethod::KaratsubaOfIntegers.reconstructions_in_3d(),
        18
    );
    assert_eq!(ComplexMethod::Folded.reconstructions_in_3d(), 12);
}
