//! Phase A on a matrix unit for signed bytes: `P_s = Σ_k v_k · u_k^(s)`, then the multiple of `M` is subtracted.
//!
//! The weight `u_k` is the number that is 1 modulo `m_k` and 0 modulo all others, of magnitude at most `M/2`, split into
//! balanced bytes `u_k = Σ_s u_k^(s) 256^s`, each from -128 to 127. `S` of them reach `127/255·(256^S - 1)`, which is
//! 0.498 of `256^S`: so `S` is `⌈log2(M)/8⌉`, and one more where `M` fills nearly all of its bytes and a weight nearly
//! half of `M`. (⌈7r/8⌉ would do for moduli of 7 bits; these have nearly 8 where they are few: 12 moduli have 94.8 bits
//! and 12 slices.)
//!
//! # The multiple of `M`
//!
//! `X = Σ v_k u_k = C + qM`, and `q` is wanted. A few more rows of the same matrix hold the balanced bytes of
//! `t_k = round(2^w u_k/M)`, `w = 8·rows - 1` (so that `|t_k| <= 2^(w-1)` fits them), and give `T = Σ v_k t_k`. With
//! `e_k = 2^w u_k - t_k M`,
//!
//! ```text
//! T/2^w - q = (X/M - q) - Σ v_k e_k / (2^w M) = (C - Σ v_k e_k/2^w) / M .
//! ```
//!
//! For `|C| <= largest` this is less than 1/2 in magnitude, and `q` is `T/2^w` rounded, where
//!
//! ```text
//! 2 Σ max|v_k| |e_k|  <  2^w (M - 2·largest) ,
//! ```
//!
//! which is checked for the very moduli when the tables are made. Four rows are always enough: `|e_k| <= M/2` and
//! `max|v_k| <= 128`, so the left side is at most `128·r·M < 2^12 M`, and `M - 2·largest > M/2^12` by
//! [`MARGIN_BITS`](crate::moduli::MARGIN_BITS) makes the right side more than `2^19 M`. Three do for `r < 16`: `2^11 M`.
//!
//! Rounding takes 32-bit integers alone: rounding down in steps is rounding down at once, so
//! `⌊(T + 2^(w-1))/2^w⌋ = ⌊(⌊T/256^(rows-1)⌋ + 64)/128⌋`, with the inner floor folded from row to row.
//!
//! # How large sums get
//!
//! `|P_s| <= Σ max|v_k| |u_k^(s)|`, `|q| <= (Σ max|v_k| |u_k|)/M + 1/2`, and `P_s - q M_s` is what leaves; the bound is
//! added up from the tables. It is below `24·2^14 + (24·64 + 1)·256 < 2^20`.

use super::forward::PhaseA;
use super::operations::{Counting, Integer, counted};
use super::weights::{balanced, fraction, weight};
use super::{MOST_SLICES, Operations};
use crate::bytes::{ByteMatrix, ByteProducts, Group, Sums, place};
use crate::error::ResidueError;
use crate::moduli::Moduli;
use crate::set::Set;
use crate::{COLUMNS, Residues};
use ethnum::{I256, U256};
use std::sync::Arc;

/// Rows that hold the leading bytes of the weights' fractions; see above.
const MOST_QUOTIENT_ROWS: usize = 4;

/// Phase A on bytes.
#[derive(Debug)]
pub struct ByteSlices {
    unit: Arc<dyn ByteProducts>,
    /// Slices of the weights, then those of their fractions.
    matrix: ByteMatrix,
    slices: usize,
    /// The slices of `M`; the highest takes what is left.
    product: Vec<i32>,
    largest_sum: u32,
}

/// The largest magnitude of a residue.
pub(super) fn largest_residue(modulus: u16) -> u16 {
    modulus / 2
}

/// The lowest `count` balanced bytes, and what is left above them.
fn bytes(x: I256, count: usize) -> (Vec<i8>, I256) {
    let (digits, above) = balanced(x, 8, count);
    (digits.iter().map(|&digit| digit as i8).collect(), above)
}

impl ByteSlices {
    /// For these moduli, on this unit.
    pub fn new(moduli: &Moduli, unit: Arc<dyn ByteProducts>) -> Result<ByteSlices, ResidueError> {
        if moduli.set() != Set::Int8 {
            return Err(ResidueError::WrongSet {
                what: "phase A on bytes",
                expected: Set::Int8,
                given: moduli.set(),
            });
        }
        let weights: Vec<I256> = (0..moduli.len()).map(|k| weight(moduli, k)).collect();
        let slices = (1..)
            .find(|&count| weights.iter().all(|&u| bytes(u, count).1 == 0))
            .expect("256 bits have an end");

        let quotient_rows = (1..=MOST_QUOTIENT_ROWS)
            .find(|&rows| quotient_is_certain(moduli, &weights, rows))
            .expect("four rows are always enough");
        let fractions = weights
            .iter()
            .map(|&u| fraction(u, 8 * quotient_rows as u32 - 1, moduli.product()).0);
        let columns: Vec<Vec<i8>> = weights
            .iter()
            .zip(fractions)
            .map(|(&u, t)| [bytes(u, slices).0, bytes(t, quotient_rows).0].concat())
            .collect();
        let entries: Vec<i8> = (0..slices + quotient_rows)
            .flat_map(|row| columns.iter().map(move |column| column[row]))
            .collect();
        let matrix = ByteMatrix::new(slices + quotient_rows, moduli.len(), &entries)?;

        let (mut product, rest) = balanced(moduli.product().as_i256(), 8, slices);
        product[slices - 1] += 256 * rest.as_i32();

        let sums: U256 = weights
            .iter()
            .zip(moduli.values())
            .map(|(u, &m)| u.unsigned_abs() * U256::from(largest_residue(m)))
            .sum();
        let quotient = (sums / moduli.product()).as_u32() + 1;
        let largest_sum = (0..slices)
            .map(|s| {
                let row = columns.iter().zip(moduli.values());
                let sum: u32 = row
                    .map(|(column, &m)| {
                        u32::from(largest_residue(m)) * u32::from(column[s].unsigned_abs())
                    })
                    .sum();
                sum + quotient * product[s].unsigned_abs()
            })
            .max()
            .unwrap_or(0);
        Ok(ByteSlices {
            unit,
            matrix,
            slices,
            product,
            largest_sum,
        })
    }

    /// The unit that multiplies.
    pub fn unit(&self) -> &'static str {
        self.unit.name()
    }

    /// Rows of the matrix that find the multiple of `M`.
    pub fn quotient_rows(&self) -> usize {
        self.matrix.rows() - self.slices
    }

    fn multiply(&self, residues: &[Residues], to: &mut [Sums; MOST_SLICES]) {
        let mut data: [Group; Moduli::MOST.div_ceil(4)] = Default::default();
        let groups = &mut data[..residues.len().div_ceil(4)];
        for (k, row) in residues.iter().enumerate() {
            place(groups, k, row);
        }
        self.unit
            .multiply(&self.matrix, groups, &mut to[..self.matrix.rows()]);
    }

    /// Takes `q M` off.
    #[inline(always)]
    fn reduce<N: Integer>(&self, sums: &mut [[N; COLUMNS]]) {
        let (slices, fractions) = sums.split_at_mut(self.slices);
        let (first, others) = fractions.split_at_mut(1);
        let mut quotients = first[0];
        for row in others {
            for (quotient, &sum) in quotients.iter_mut().zip(row.iter()) {
                *quotient = quotient.down(8) + sum;
            }
        }
        let half = N::constant(64);
        for quotient in &mut quotients {
            *quotient = (*quotient + half).down(7);
        }
        for (row, &product) in slices.iter_mut().zip(&self.product) {
            let product = N::constant(product);
            for (sum, &quotient) in row.iter_mut().zip(&quotients) {
                *sum = *sum - quotient * product;
            }
        }
    }
}

/// The condition of the comment above.
fn quotient_is_certain(moduli: &Moduli, weights: &[I256], rows: usize) -> bool {
    let bits = 8 * rows as u32 - 1;
    let product = moduli.product();
    let error: U256 = weights
        .iter()
        .zip(moduli.values())
        .map(|(&u, &m)| fraction(u, bits, product).1 * U256::from(largest_residue(m)))
        .sum();
    (error << 1) < (product - (moduli.largest() << 1)) << bits
}

impl PhaseA for ByteSlices {
    fn slice_bits(&self) -> u32 {
        8
    }

    fn slices(&self) -> usize {
        self.slices
    }

    fn largest_sum(&self) -> u32 {
        self.largest_sum
    }

    fn form(&self, residues: &[Residues], to: &mut [Sums; MOST_SLICES]) {
        assert_eq!(
            residues.len(),
            self.matrix.depth(),
            "a row for every modulus"
        );
        self.multiply(residues, to);
        self.reduce(&mut to[..self.matrix.rows()]);
    }

    fn operations(&self, residues: &[Residues]) -> Operations {
        let mut sums = [[0; COLUMNS]; MOST_SLICES];
        self.multiply(residues, &mut sums);
        let mut sums = sums.map(|row| row.map(Counting::<i32>::constant));
        let reduction = counted(|| self.reduce(&mut sums[..self.matrix.rows()]));
        Operations {
            int8_products: (self.matrix.rows() * self.matrix.depth()) as f64,
            reduction: reduction / COLUMNS as f64,
            ..Operations::default()
        }
    }
}
