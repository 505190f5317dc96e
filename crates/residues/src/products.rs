//! Products of integer matrices as residues: what the units for signed bytes and for E4M3 have in common.
//!
//! ```
//! use residues::bytes::Portable;
//! use residues::products::{ResidueProducts, Unit8};
//! use residues::{COLUMNS, Moduli, Set};
//! use std::sync::Arc;
//!
//! let moduli = Moduli::first(Set::Int8, 4)?;
//! let entries = [3, -1_000_000, 7, 8];
//! let products = ResidueProducts::new(&moduli, 2, 2, &entries, Unit8::Int8(Arc::new(Portable)))?;
//! let mut residues = [[0; COLUMNS]; 2 * 4];
//! products.multiply(&[[5; COLUMNS], [1; COLUMNS]], &mut residues);
//! // 3·5 - 1,000,000 modulo 256, and 7·5 + 8 modulo 251.
//! assert_eq!(residues[0][0], (15 - 1_000_000 + 3906 * 256) as i16);
//! assert_eq!(residues[4 + 3][0], 43);
//! # Ok::<(), residues::ResidueError>(())
//! ```

use crate::bytes::{ByteMatrix, ByteProducts, Group, Sums, place};
use crate::decompose::Decomposer;
use crate::error::ResidueError;
use crate::fp8::Fp8Unit;
use crate::fp8_products::ResidueMatrix;
use crate::moduli::Moduli;
pub use crate::panels::{MOST_DEPTH, MOST_ROWS};
use crate::set::Set;
use crate::short_sums::ShortSums;
use crate::{COLUMNS, Residues};
use std::sync::Arc;

/// A matrix unit for 8-bit numbers.
#[derive(Debug, Clone)]
pub enum Unit8 {
    /// Of signed bytes, with sums in 32 bits.
    Int8(Arc<dyn ByteProducts>),
    /// Of E4M3 numbers, simulated.
    Fp8(Fp8Unit),
}

impl Unit8 {
    /// The moduli whose residues it multiplies.
    pub fn set(&self) -> Set {
        match self {
            Unit8::Int8(_) => Set::Int8,
            Unit8::Fp8(_) => Set::Fp8,
        }
    }
}

/// A matrix of integers, ready to be multiplied modulo every modulus.
#[derive(Debug, Clone)]
pub struct ResidueProducts {
    moduli: usize,
    rows: usize,
    depth: usize,
    matrices: Matrices,
}

/// A matrix of residues for every modulus.
#[derive(Debug, Clone)]
enum Matrices {
    Int8(ByteResidues),
    Fp8(Decomposer, Vec<ResidueMatrix>),
}

/// Products of bytes, from words to residues.
#[derive(Debug, Clone)]
struct ByteResidues {
    unit: Arc<dyn ByteProducts>,
    /// Powers of 256 modulo every modulus: words become residues on the matrix unit, too.
    powers: ByteMatrix,
    /// Bias subtracted from the bytes of words, for every modulus.
    lowered: Vec<i32>,
    matrices: Vec<ByteMatrix>,
    reductions: Vec<ShortSums>,
}

/// The lower seven bytes of a word are signed after this, 128 less than they were; the highest is signed anyway.
const LOWERED: i64 = 0x0080_8080_8080_8080;

impl ByteResidues {
    fn new(
        moduli: &Moduli,
        unit: Arc<dyn ByteProducts>,
        matrices: Vec<ByteMatrix>,
    ) -> Result<ByteResidues, ResidueError> {
        let of_modulus =
            |number: usize, integer: i64| Decomposer::new(moduli).entries(number, &[integer])[0];
        let powers: Vec<i8> = (0..moduli.len())
            .flat_map(|number| (0..8).map(move |byte| of_modulus(number, 1 << (8 * byte)) as i8))
            .collect();
        Ok(ByteResidues {
            unit,
            powers: ByteMatrix::new(moduli.len(), 8, &powers)?,
            lowered: (0..moduli.len())
                .map(|number| of_modulus(number, LOWERED).into())
                .collect(),
            matrices,
            reductions: ShortSums::all(moduli),
        })
    }

    /// Sums of a word's bytes are at most `8·2^14 + 2^7`, those of residues `64·2^14`.
    fn multiply(&self, words: &[[i64; COLUMNS]], count: usize, to: &mut [Residues]) {
        let mut sums: [Sums; MOST_ROWS] = [[0; COLUMNS]; MOST_ROWS];
        let mut data = [[[[0; 4]; COLUMNS]; MOST_DEPTH / 4]; Moduli::MOST];
        for (k, words) in words.iter().enumerate() {
            let mut bytes: [Group; 2] = [[[0; 4]; COLUMNS]; 2];
            for (column, word) in words.iter().enumerate() {
                let [a, b, c, d, e, f, g, h] = (word ^ LOWERED).to_le_bytes().map(|x| x as i8);
                bytes[0][column] = [a, b, c, d];
                bytes[1][column] = [e, f, g, h];
            }
            let all = self.matrices.len();
            self.unit.multiply(&self.powers, &bytes, &mut sums[..all]);
            let of_moduli = sums[..count]
                .iter_mut()
                .zip(&self.lowered)
                .zip(&self.reductions);
            for (((sums, lowered), reduction), data) in of_moduli.zip(&mut data) {
                for sum in sums.iter_mut() {
                    *sum += lowered;
                }
                place(data, k, &reduction.residues(sums));
            }
        }
        for (number, matrix) in self.matrices[..count].iter().enumerate() {
            self.unit
                .multiply(matrix, &data[number], &mut sums[..matrix.rows()]);
            let of_modulus = to.iter_mut().skip(number).step_by(count);
            for (to, sums) in of_modulus.zip(&sums) {
                *to = self.reductions[number].residues(sums);
            }
        }
    }
}

impl ResidueProducts {
    /// For a matrix given row by row. Whether the moduli hold the sums is for the caller to know ([`Moduli::demand`]).
    pub fn new(
        moduli: &Moduli,
        rows: usize,
        depth: usize,
        entries: &[i64],
        unit: Unit8,
    ) -> Result<ResidueProducts, ResidueError> {
        assert_eq!(entries.len(), rows * depth, "one entry for every place");
        if moduli.set() != unit.set() {
            return Err(ResidueError::WrongSet {
                what: "a product on this unit",
                expected: unit.set(),
                given: moduli.set(),
            });
        }
        for (what, given, most) in [("rows", rows, MOST_ROWS), ("columns", depth, MOST_DEPTH)] {
            if given > most {
                return Err(ResidueError::MatrixTooLarge { what, given, most });
            }
        }
        let decomposer = Decomposer::new(moduli);
        let residues = |number| decomposer.entries(number, entries);
        let matrices = match unit {
            Unit8::Int8(unit) => {
                let matrix = |number| {
                    // Residues modulo 256 and less are signed bytes.
                    let bytes: Vec<i8> = residues(number).iter().map(|&x| x as i8).collect();
                    ByteMatrix::new(rows, depth, &bytes)
                };
                let matrices: Result<_, _> = (0..moduli.len()).map(matrix).collect();
                Matrices::Int8(ByteResidues::new(moduli, unit, matrices?)?)
            }
            Unit8::Fp8(unit) => {
                let numbers = moduli.values().iter().enumerate();
                let matrix = |(number, &modulus)| {
                    ResidueMatrix::new(modulus, rows, depth, &residues(number), unit)
                };
                let matrices: Result<_, _> = numbers.map(matrix).collect();
                Matrices::Fp8(decomposer.clone(), matrices?)
            }
        };
        Ok(ResidueProducts {
            moduli: moduli.len(),
            rows,
            depth,
            matrices,
        })
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Its columns: the number of products in a sum.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How many moduli.
    pub fn moduli(&self) -> usize {
        self.moduli
    }

    /// Products of 8-bit numbers for one sum of products of integers.
    pub fn products_of_a_sum(&self) -> usize {
        let of_a_residue = match self.matrices {
            Matrices::Int8(..) => 1,
            Matrices::Fp8(..) => ResidueMatrix::PRODUCTS,
        };
        of_a_residue * self.moduli * self.depth
    }

    /// Residues of `Σ matrix[row][k] · words[k]` for every row and modulus: `to[row · moduli + number]`.
    ///
    /// Where `to` has room for fewer moduli, it gets the residues of the first ones.
    pub fn multiply(&self, words: &[[i64; COLUMNS]], to: &mut [Residues]) {
        assert_eq!(
            words.len(),
            self.depth,
            "a row of words for every column of the matrix"
        );
        let moduli = to.len() / self.rows;
        assert!(
            moduli <= self.moduli && to.len() == self.rows * moduli,
            "residues for every row and modulus"
        );
        match &self.matrices {
            Matrices::Int8(bytes) => bytes.multiply(words, moduli, to),
            Matrices::Fp8(decomposer, matrices) => {
                let mut data = [[0; COLUMNS]; MOST_DEPTH];
                let mut sums = [[0; COLUMNS]; MOST_ROWS];
                for (number, matrix) in matrices[..moduli].iter().enumerate() {
                    for (data, words) in data.iter_mut().zip(words) {
                        *data = decomposer.residues(number, words);
                    }
                    matrix.multiply(&data, &mut sums);
                    let of_modulus = to.iter_mut().skip(number).step_by(moduli);
                    for (to, sums) in of_modulus.zip(&sums) {
                        *to = decomposer.reduce(number, sums);
                    }
                }
            }
        }
    }
}
