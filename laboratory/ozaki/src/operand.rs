//! Rows of one side of a product, as residues.

use crate::scaled::{field_of, word_of};
use crate::scheme::Scheme;
use residues::Decomposer;

/// The side of a product: residues of the right one are multiplied by what the Chinese remainder theorem multiplies sums by, so that sums of
/// products need no other multiplication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Residues as they are.
    Left,
    /// Residues times the inverse of the product of all other moduli.
    Right,
}

/// Rows, an exponent field for each, and their residues for every modulus.
#[derive(Debug, Clone)]
pub struct Operand {
    /// The exponent field of every row.
    pub fields: Vec<u32>,
    /// For every modulus the residues of all rows, row by row.
    pub planes: Vec<Vec<i8>>,
    length: usize,
}

impl Operand {
    /// From rows of so many numbers.
    pub fn new(scheme: &Scheme, side: Side, values: &[f64], length: usize) -> Operand {
        let rows: Vec<&[f64]> = match length {
            0 => Vec::new(),
            _ => values.chunks_exact(length).collect(),
        };
        let fields: Vec<u32> = rows.iter().map(|row| field_of(row)).collect();
        let words: Vec<i64> = rows
            .iter()
            .zip(&fields)
            .flat_map(|(row, &field)| words(scheme, row, field))
            .collect();
        Operand {
            fields,
            planes: planes(scheme, side, &words),
            length,
        }
    }

    /// The residues of a row for modulus number `number`.
    pub fn row(&self, number: usize, row: usize) -> &[i8] {
        &self.planes[number][row * self.length..][..self.length]
    }
}

/// The integers of a row.
pub(crate) fn words<'a>(
    scheme: &Scheme,
    row: &'a [f64],
    field: u32,
) -> impl Iterator<Item = i64> + use<'a> {
    let bits = scheme.bits();
    row.iter().map(move |&value| word_of(value, field, bits))
}

/// Residues of integers, for every modulus.
pub(crate) fn planes(scheme: &Scheme, side: Side, words: &[i64]) -> Vec<Vec<i8>> {
    let decomposer = Decomposer::new(scheme.moduli());
    let moduli = scheme.moduli().values().iter().enumerate();
    let plane = |(number, &modulus): (usize, &u16)| {
        let residues = decomposer.entries(number, words).into_iter();
        let inverse = scheme.weights.inverses[number];
        let multiplied = |residue: i16| match side {
            Side::Left => residue as i8,
            Side::Right => balanced(i32::from(residue) * inverse, i32::from(modulus)),
        };
        residues.map(multiplied).collect()
    };
    moduli.map(plane).collect()
}

/// The representative of least magnitude.
fn balanced(value: i32, modulus: i32) -> i8 {
    let rest = value.rem_euclid(modulus);
    (if 2 * rest >= modulus {
        rest - modulus
    } else {
        rest
    }) as i8
}

/// The most products of bytes that are added in 32 bits.
const AT_ONCE: usize = 1 << 16;

/// `Σ left · right`, exactly.
pub(crate) fn sum_of_products(left: &[i8], right: &[i8]) -> i64 {
    let parts = left.chunks(AT_ONCE).zip(right.chunks(AT_ONCE));
    let sum = |(left, right): (&[i8], &[i8])| {
        let products = left
            .iter()
            .zip(right)
            .map(|(&a, &b)| i32::from(a) * i32::from(b));
        i64::from(products.sum::<i32>())
    };
    parts.map(sum).sum()
}
