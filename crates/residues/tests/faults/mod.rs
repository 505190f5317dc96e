//! Integers to put faults into, and the faults.

#[path = "../random/mod.rs"]
mod random;

use num_bigint::BigInt;
use random::Random;
use residues::bytes::{ByteMatrix, ByteProducts, Group, Portable, Sums, place};
use residues::reconstruct::Method;
use residues::redundant::Redundant;
use residues::{COLUMNS, Decomposer, I256, Moduli, ResidueError, Residues, Set, U256};
use std::sync::Arc;

pub const SETS: [Set; 2] = [Set::Int8, Set::Fp8];

pub fn redundant_system(
    set: Set,
    bound: U256,
    redundant: usize,
) -> Result<Redundant, ResidueError> {
    let method = match set {
        Set::Int8 => Method::Kulisch32,
        Set::Fp8 => Method::Kulisch32,
    };
    Redundant::new(set, bound, redundant, method, Arc::new(Portable))
}

pub struct Generator(Random);

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator(Random::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next()
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    /// An integer of at most the magnitude; often at the very end.
    pub fn within(&mut self, bound: &BigInt) -> BigInt {
        let words = [self.next(), self.next(), self.next(), self.next()];
        let random = words.iter().fold(BigInt::ZERO, |x, &w| (x << 64) + w);
        match self.below(16) {
            0 => bound.clone(),
            1 => -bound,
            2 => random % 3 - 1,
            _ => random % (2 * bound + 1) - bound,
        }
    }

    /// A mask of `count` different bits of the first `width`.
    pub fn mask(&mut self, count: usize, width: usize) -> u32 {
        if count >= width {
            return u32::MAX >> (32 - width);
        }
        let mut mask = 0u32;
        while (mask.count_ones() as usize) < count {
            mask |= 1 << self.below(width);
        }
        mask
    }

    /// `count` different moduli of so many.
    pub fn places(&mut self, count: usize, of: usize) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask(count, of);
        (0..of).filter(move |place| mask >> place & 1 == 1)
    }
}

pub fn big(x: U256) -> BigInt {
    let (high, low) = x.into_words();
    (BigInt::from(high) << 128) + low
}

pub fn short(x: &BigInt) -> I256 {
    let bytes = x.to_signed_bytes_le();
    let sign = if *x < BigInt::ZERO { 0xff } else { 0 };
    I256::from_le_bytes(std::array::from_fn(|i| *bytes.get(i).unwrap_or(&sign)))
}

/// The residue of least magnitude, by big integers.
pub fn residue(x: &BigInt, m: u16) -> i16 {
    let m = i32::from(m);
    let rest: i32 = (x % m).try_into().expect("less than the modulus");
    let rest = rest.rem_euclid(m);
    (if 2 * rest >= m { rest - m } else { rest }) as i16
}

/// The integers of an FFT's step, and short ones.
pub fn bounds() -> [U256; 2] {
    [U256::from(127u64 << 48) << 61, U256::from(1_000_000u32)]
}

/// How many bits are flipped, of how many: residues as 16 bits, and as bytes where they are.
pub fn flips(set: Set) -> &'static [(usize, usize)] {
    let all = &[(1, 16), (2, 16), (8, 16), (32, 16), (1, 8), (2, 8), (8, 8)];
    match set {
        Set::Int8 => all,
        Set::Fp8 => &all[..4],
    }
}

/// Flips bits of residues where they are stored, `count` residues of every column.
pub fn flip_stored(
    residues: &mut [Residues],
    (bits, width): (usize, usize),
    count: usize,
    generator: &mut Generator,
) {
    for column in 0..COLUMNS {
        for place in generator.places(count, residues.len()) {
            let mask = generator.mask(bits, width);
            let stored = &mut residues[place][column];
            *stored = match width {
                8 => i16::from(*stored as i8 ^ mask as i8),
                _ => *stored ^ mask as i16,
            };
        }
    }
}

/// Integer matrix times words, by residues, with faults in the sums before they are reduced.
pub struct Product {
    pub rows: usize,
    pub depth: usize,
    pub entries: Vec<i64>,
    pub words: Vec<[i64; COLUMNS]>,
}

/// Bits of matrix entries and of words, with their signs.
pub const ENTRY_BITS: u32 = 55;
pub const WORD_BITS: u32 = 59;

impl Product {
    pub fn random(rows: usize, depth: usize, generator: &mut Generator) -> Product {
        let entries = (0..rows * depth).map(|_| generator.next() as i64 >> (64 - ENTRY_BITS));
        let entries = entries.collect();
        let words = (0..depth)
            .map(|_| std::array::from_fn(|_| generator.next() as i64 >> (64 - WORD_BITS)));
        Product {
            rows,
            depth,
            words: words.collect(),
            entries,
        }
    }

    pub fn bound(depth: usize) -> U256 {
        U256::from(depth as u64) << (ENTRY_BITS + WORD_BITS - 2)
    }

    pub fn integers(&self, row: usize) -> Vec<BigInt> {
        let entries = &self.entries[row * self.depth..][..self.depth];
        let column = |column: usize| {
            let terms = entries.iter().zip(&self.words);
            terms
                .map(|(&entry, word)| BigInt::from(entry) * word[column])
                .sum()
        };
        (0..COLUMNS).map(column).collect()
    }

    /// `sums[modulus][row]`: on the unit for bytes where residues are bytes, else in plain 32-bit integers.
    pub fn sums(&self, moduli: &Moduli) -> Result<Vec<Vec<Sums>>, ResidueError> {
        let decomposer = Decomposer::new(moduli);
        (0..moduli.len())
            .map(|number| {
                let entries = decomposer.entries(number, &self.entries);
                let data: Vec<Residues> = (self.words.iter())
                    .map(|words| decomposer.residues(number, words))
                    .collect();
                let mut sums = vec![[0; COLUMNS]; self.rows];
                if moduli.set() == Set::Int8 {
                    let bytes: Vec<i8> = entries.iter().map(|&x| x as i8).collect();
                    let matrix = ByteMatrix::new(self.rows, self.depth, &bytes)?;
                    let mut groups: Vec<Group> = vec![[[0; 4]; COLUMNS]; self.depth.div_ceil(4)];
                    for (k, residues) in data.iter().enumerate() {
                        place(&mut groups, k, residues);
                    }
                    Portable.multiply(&matrix, &groups, &mut sums);
                } else {
                    for (sums, entries) in sums.iter_mut().zip(entries.chunks(self.depth)) {
                        for (&entry, data) in entries.iter().zip(&data) {
                            for (sum, &x) in sums.iter_mut().zip(data) {
                                *sum += i32::from(entry) * i32::from(x);
                            }
                        }
                    }
                }
                Ok(sums)
            })
            .collect()
    }
}
