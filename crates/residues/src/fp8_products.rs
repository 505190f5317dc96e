//! Matrices of residues in E4M3 numbers: two digits a residue, three products a modulus.
//!
//! E4M3 holds all integers to 16 and no odd one beyond, so a residue `v` becomes `base·h + l` with digits to ±16. Of the four
//! products of digits one is saved:
//!
//! - *Squares*, `m = s²`, base `s`: `(s·h + l)·(s·h' + l') ≡ s·(h·l' + l·h') + l·l'`, since `s²` is a multiple of the modulus.
//! - *Others*, `m <= 511`, base 16: with `x = h·h'`, `y = l·l'` and `z = (h + l)·(h' + l')`, Karatsuba's
//!   `256·x + 16·(z - x - y) + y = 240·x + 16·z - 15·y`. The sum `h + l` must be an E4M3 number, too. The split with the
//!   smallest `l` has sums to 23; where it has more than 16, one more for `h` and 16 less for `l` (or the reverse) gives both
//!   opposite signs, and a small sum.

use crate::COLUMNS;
use crate::Residues;
use crate::error::ResidueError;
use crate::fp8::{E4m3, E4m3Matrix, Fp8Unit};
use crate::moduli::root_of;
use crate::panels::{MOST_DEPTH, MOST_ROWS};

/// The largest magnitude of a digit.
pub const LARGEST_DIGIT: i32 = E4m3::ALL_TO;
/// The base of digits for moduli that are no squares.
const BASE: i32 = 16;

/// How residues of a modulus are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// `root·h + l`, for the square of `root`.
    Square {
        /// The root.
        root: i32,
    },
    /// `16·h + l` with `|h + l| <= 16`, for all others.
    Karatsuba,
}

impl Split {
    /// How residues of this modulus are split.
    pub fn of(modulus: u16) -> Split {
        match root_of(modulus) {
            Some(root) => Split::Square { root: root.into() },
            None => Split::Karatsuba,
        }
    }

    /// Weight of the higher digit.
    pub fn base(self) -> i32 {
        match self {
            Split::Square { root } => root,
            Split::Karatsuba => BASE,
        }
    }

    /// The higher and the lower digit of a residue, each of magnitude at most [`LARGEST_DIGIT`].
    ///
    /// ```
    /// use residues::fp8_products::Split;
    /// assert_eq!(Split::of(1089).digits(-544), (-16, -16));
    /// assert_eq!(Split::of(511).digits(200), (13, -8));
    /// assert_eq!(Split::of(511).digits(247), (16, -9));
    /// ```
    pub fn digits(self, residue: i32) -> (i32, i32) {
        let base = self.base();
        // The nearest multiple of the base, away from zero in the middle.
        let high = (residue.abs() + base / 2) / base * residue.signum();
        let low = residue - base * high;
        if self == Split::Karatsuba && (high + low).abs() > LARGEST_DIGIT {
            let sign = high.signum();
            return (high + sign, low - BASE * sign);
        }
        (high, low)
    }
}

/// The digits of a residue that its products need, as E4M3 numbers.
type Digits = [E4m3; 3];

/// A matrix of residues for one modulus, split into digits.
#[derive(Debug, Clone)]
pub struct ResidueMatrix {
    split: Split,
    unit: Fp8Unit,
    /// Operand of each of the three products from the matrix.
    factors: [E4m3Matrix; 3],
    /// Operand of each from the data, for every residue from the least.
    data: Vec<Digits>,
    least: i32,
}

impl ResidueMatrix {
    /// Products that the unit does for one of the residues' products.
    pub const PRODUCTS: usize = 3;

    /// The matrix from the residues of its entries, row by row.
    pub fn new(
        modulus: u16,
        rows: usize,
        depth: usize,
        residues: &[i16],
        unit: Fp8Unit,
    ) -> Result<ResidueMatrix, ResidueError> {
        let largest = (LARGEST_DIGIT * LARGEST_DIGIT) as u64;
        unit.accumulator().demand(depth, largest)?;
        let split = Split::of(modulus);
        let digit = |x: i32| E4m3::from_integer(x).expect("digits and their sums are at most 16");
        let digits = |residue: i32| split.digits(residue);
        // Which digits meet: (high, low), (low, high), (low, low) for squares; (high, high), (low, low), (sum, sum) for others.
        let of_matrix = |residue: i16| {
            let (high, low) = digits(residue.into());
            match split {
                Split::Square { .. } => [high, low, low],
                Split::Karatsuba => [high, low, high + low],
            }
        };
        let of_data = |residue: i32| {
            let (high, low) = digits(residue);
            match split {
                Split::Square { .. } => [low, high, low],
                Split::Karatsuba => [high, low, high + low],
            }
            .map(digit)
        };
        let factors = [0, 1, 2].map(|product| {
            let entries: Vec<E4m3> = residues
                .iter()
                .map(|&residue| digit(of_matrix(residue)[product]))
                .collect();
            E4m3Matrix::new(rows, depth, &entries)
        });
        let least = -i32::from(modulus / 2);
        let data = (0..i32::from(modulus))
            .map(|number| of_data(least + number))
            .collect();
        Ok(ResidueMatrix {
            split,
            unit,
            factors,
            data,
            least,
        })
    }

    /// Writes integers that are congruent to `Σ matrix[row][k] · residues[k]`, of magnitude below 2^23.
    pub fn multiply(&self, residues: &[Residues], to: &mut [[i32; COLUMNS]]) {
        let [first, ..] = &self.factors;
        let (rows, depth) = (first.rows(), first.depth());
        let mut digits = [[[E4m3::ZERO; COLUMNS]; MOST_DEPTH]; 3];
        for (k, residues) in residues[..depth].iter().enumerate() {
            for (column, &residue) in residues.iter().enumerate() {
                let of_residue = self.data[(i32::from(residue) - self.least) as usize];
                for (digits, digit) in digits.iter_mut().zip(of_residue) {
                    digits[k][column] = digit;
                }
            }
        }
        let mut sums = [[[0f32; COLUMNS]; MOST_ROWS]; 3];
        for ((factor, digits), sums) in self.factors.iter().zip(&digits).zip(&mut sums) {
            self.unit.multiply(factor, digits, sums);
        }
        // Exact integers of magnitude at most 64·256.
        let weights = match self.split {
            Split::Square { root } => [root, root, 1],
            Split::Karatsuba => [BASE * BASE - BASE, 1 - BASE, BASE],
        };
        for (row, to) in to[..rows].iter_mut().enumerate() {
            for (column, to) in to.iter_mut().enumerate() {
                let terms = sums.iter().zip(weights);
                *to = terms
                    .map(|(sums, weight)| sums[row][column] as i32 * weight)
                    .sum();
            }
        }
    }
}
