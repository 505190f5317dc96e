//! Integers that aim at the bounds of methods that round: ties at every place where a method may round, ends of the range where a multiple of
//! the product may be missed, and a local search from the worst of them. Exact methods get the same input and must return every integer.

mod random;

use random::Random;
use residues::bytes::Portable;
use residues::reconstruct::{Method, Reconstruction};
use residues::{COLUMNS, I256, Moduli, ResidueError, Residues, Set, residue_of};
use std::sync::Arc;

const SEED: u64 = 0xa77a_c4ed;
/// Rounds of climbing, each a panel of candidates.
const ROUNDS: usize = 24;

type Panel = [I256; COLUMNS];

fn bits_of(x: I256) -> u32 {
    256 - x.unsigned_abs().leading_zeros()
}

/// Any integer in range.
fn any(largest: I256, random: &mut Random) -> I256 {
    let digits = [0; 4].map(|_: u64| I256::from(random.next()));
    let wide = digits
        .into_iter()
        .fold(I256::ZERO, |x, digit| (x << 60) ^ digit);
    let magnitude = wide.rem_euclid(largest + 1);
    if random.next().is_multiple_of(2) {
        magnitude
    } else {
        -magnitude
    }
}

/// Some leading bits, then a one and nothing: halfway between two numbers of so many bits; or just beside it.
fn tie(largest: I256, random: &mut Random) -> I256 {
    let head = [23, 24, 25, 47, 48, 52, 53, 54, 71, 72, 95, 96, 106][(random.next() % 13) as usize];
    let x = any(largest, random);
    let length = bits_of(x);
    let x = if length > head + 1 {
        let dropped = length - head;
        let magnitude = x.abs();
        let kept = (magnitude >> dropped) << dropped;
        let near = kept + (I256::ONE << (dropped - 1)) + I256::from(random.next() % 3) - 1;
        if x < 0 { -near } else { near }
    } else {
        x
    };
    x.clamp(-largest, largest)
}

fn start(moduli: &Moduli, column: usize, random: &mut Random) -> I256 {
    let largest = moduli.largest().as_i256();
    let product = moduli.product().as_i256();
    match column {
        0 => largest,
        1 => -largest,
        2 => largest - 1,
        // Fractions of the product that are ties in binary: odd multiples of its 2^k-th parts.
        3..=6 => {
            let odd = I256::from(random.next() % (1 << (4 * column))) * 2 + 1;
            let part = (product >> (4 * column as u32 + 1)) * odd;
            (part % largest).clamp(-largest, largest)
        }
        _ => tie(largest, random),
    }
}

fn changed(x: I256, largest: I256, random: &mut Random) -> I256 {
    let length = bits_of(largest).max(2);
    let place = (random.next() % u64::from(length - 1)) as u32;
    let changed = match random.next() % 5 {
        0 => x ^ (I256::ONE << place),
        1 => x + (I256::ONE << place),
        2 => x - (I256::ONE << place),
        3 => -x,
        // All ones or all zeros below a place: carries, and slices at an end of their range.
        _ => (x >> place << place) + (I256::ONE << place) / 2 * I256::from(random.next() % 3),
    };
    if changed.abs() <= largest { changed } else { x }
}

fn residues_of(moduli: &Moduli, panel: &Panel) -> Vec<Residues> {
    let row = |&modulus: &u16| panel.map(|x| residue_of(x, modulus));
    moduli.values().iter().map(row).collect()
}

/// Errors of a panel.
fn errors(reconstruction: &dyn Reconstruction, moduli: &Moduli, panel: &Panel) -> [f64; COLUMNS] {
    let mut got = [I256::ZERO; COLUMNS];
    reconstruction.reconstruct(&residues_of(moduli, panel), &mut got);
    std::array::from_fn(|column| (got[column] - panel[column]).as_f64().abs())
}

/// The worst error over the bound that was found.
fn climb(reconstruction: &dyn Reconstruction, moduli: &Moduli, random: &mut Random) -> f64 {
    let largest = moduli.largest().as_i256();
    let mut best: Panel = std::array::from_fn(|column| start(moduli, column, random));
    let mut worst = errors(reconstruction, moduli, &best);
    for _ in 0..ROUNDS {
        let candidates = best.map(|x| match random.next() % 8 {
            0 => tie(largest, random),
            _ => changed(x, largest, random),
        });
        let found = errors(reconstruction, moduli, &candidates);
        for column in 0..COLUMNS {
            if found[column] > worst[column] {
                (best[column], worst[column]) = (candidates[column], found[column]);
            }
        }
    }
    let worst = worst.into_iter().fold(0.0, f64::max);
    if reconstruction.is_exact() {
        assert_eq!(
            worst,
            0.0,
            "{} of {:?}, seed {SEED:#x}",
            reconstruction.name(),
            moduli.values()
        );
        return 0.0;
    }
    worst / reconstruction.error_bound()
}

#[test]
fn no_integer_that_aims_at_a_bound_exceeds_it() -> Result<(), ResidueError> {
    let mut random = Random::new(SEED);
    let mut sets: Vec<Moduli> = Vec::new();
    for set in [Set::Int8, Set::Fp8] {
        for count in [2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 15, 16, 18, 20, 22, 24] {
            sets.extend(Moduli::first(set, count));
        }
    }
    // Seven bits, as in the paper, and small ones, whose weights are rounded most.
    sets.push(Moduli::new(
        Set::Int8,
        &[127, 125, 123, 121, 119, 113, 109, 107],
    )?);
    sets.push(Moduli::new(Set::Int8, &[3, 5, 7, 11, 13])?);
    let mut worst = [0.0f64; Method::ALL.len()];
    for moduli in &sets {
        for (method, worst) in Method::ALL.into_iter().zip(&mut worst) {
            // Not every method accepts every set; those are rejected by name.
            let Ok(reconstruction) = method.build(moduli, Arc::new(Portable)) else {
                continue;
            };
            let found = climb(&*reconstruction, moduli, &mut random);
            assert!(
                found <= 1.0,
                "{method} of {:?}, seed {SEED:#x}: {found} of the bound {:e}",
                moduli.values(),
                reconstruction.error_bound()
            );
            *worst = worst.max(found);
        }
    }
    for (method, worst) in Method::ALL.into_iter().zip(worst) {
        println!("{method}: {worst:.3} of the bound");
    }
    Ok(())
}
