//! Phase A on a matrix unit for E4M3 numbers.
//!
//! A residue is `base·h + l` with digits to ±16 ([`Split`]), so that `C ≡ Σ_k (h_k·(base_k·u_k) + l_k·u_k)`: twice as many
//! terms as moduli. Their weights `W_j`, centred modulo `M`, are split into balanced digits of 5 bits, -16 to 15, the most that
//! E4M3 holds. A sum of `2r` products of digits is at most `512·r`, which is within 2^14 for all sets of moduli.
//!
//! An accumulator that is exact beyond that takes several digits at once: fp8 has an exponent, so the digits of a slice
//! enter one sum as `w_0 + w_1·2^5 + w_2·2^10`, each with the residues' digits once more. That is the same number of products,
//! a third of the sums, and so much of phase B done by the matrix unit for nothing. E4M3 has powers of two for three digits
//! of 5 bits (2^-6 to `16·2^4`) or four of 4 bits (2^-7 to `8·2^5`), and 2^24 holds the first for all sets of moduli,
//! `512·24·(1 + 2^5 + 2^10) < 2^24`, the second for those of 15, `256·15·(1 + … + 2^12) < 2^24`. [`Fp8Slices::SHAPES`] are the choices.
//!
//! (2^-7 has no leading one and is aligned like 2^-6, with a digit of 16 at 2^-2; harmless are `2^(23-7)` there.)
//!
//! # The multiple of `M`
//!
//! `Σ d_j W_j = C + qM`, where `d_j` are the digits of the residues. More rows of the same matrix hold the digits of
//! `t_j = round(2^w W_j/M)`, with `w` one bit less than their digits have, so that `|t_j| <= 2^(w-1)` fits them. With `T = Σ d_j t_j`
//! and `e_j = 2^w W_j - t_j M`, `T/2^w - q = (C - Σ d_j e_j/2^w)/M`, which is less than 1/2 in magnitude for `|C| <= largest` if
//!
//! ```text
//! 2 Σ 16·|e_j|  <  2^w (M - 2·largest) .
//! ```
//!
//! That is checked when the tables are made, and `w = 22` is always enough: `|e_j| <= M/2`, so the left side is at most
//! `32·r·M < 2^10 M`, and the right side is more than `2^(22-12) M` by [`MARGIN_BITS`](crate::moduli::MARGIN_BITS).

use super::forward::PhaseA;
use super::operations::{Counting, Integer, counted};
use super::weights::{balanced, centred, fraction, weight};
use super::{MOST_SLICES, Operations};
use crate::bytes::Sums;
use crate::error::ResidueError;
use crate::fp8::{E4m3, E4m3Matrix, Fp8Unit};
use crate::fp8_products::{LARGEST_DIGIT, Split};
use crate::moduli::Moduli;
use crate::set::Set;
use crate::{COLUMNS, Residues};
use ethnum::{I256, U256};

/// How weights are split into slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Bits of a digit.
    pub digit_bits: u32,
    /// Digits of a slice.
    pub places: usize,
}

/// The most digits of a slice.
const MOST_PLACES: usize = 4;

/// Phase A on E4M3 numbers.
#[derive(Debug)]
pub struct Fp8Slices {
    unit: Fp8Unit,
    /// Rows: slices of the weights, then those of their fractions. Columns: for every place within a slice, for every modulus,
    /// the weights of the higher and the lower digit.
    matrix: E4m3Matrix,
    shape: Shape,
    /// Sums are multiples of two to this power.
    exponent: i32,
    slices: usize,
    /// The digits of every residue, for every modulus, from the least residue on.
    digits: Vec<Vec<[E4m3; 2]>>,
    /// The slices of `M`; the highest takes what is left.
    product: Vec<i32>,
    largest_sum: u32,
}

/// The weights of the higher and the lower digit of every modulus.
fn weights(moduli: &Moduli) -> Vec<I256> {
    let mut weights = Vec::new();
    for (number, &modulus) in moduli.values().iter().enumerate() {
        let weight = weight(moduli, number);
        let base = I256::from(Split::of(modulus).base());
        for weight in [weight * base, weight] {
            weights.push(centred(weight, moduli.product()));
        }
    }
    weights
}

impl Fp8Slices {
    /// The shapes that E4M3 has powers of two for, those with the fewest sums first.
    pub const SHAPES: [Shape; 4] = [
        Shape {
            digit_bits: 5,
            places: 3,
        },
        Shape {
            digit_bits: 4,
            places: 4,
        },
        Shape {
            digit_bits: 5,
            places: 2,
        },
        Shape {
            digit_bits: 5,
            places: 1,
        },
    ];

    /// For these moduli, on this unit, with slices of one of the shapes; an error where the unit would not hold their sums exactly.
    pub fn new(moduli: &Moduli, unit: Fp8Unit, shape: Shape) -> Result<Fp8Slices, ResidueError> {
        assert!(Fp8Slices::SHAPES.contains(&shape), "one of the shapes");
        if moduli.set() != Set::Fp8 {
            return Err(ResidueError::WrongSet {
                what: "phase A on E4M3 numbers",
                expected: Set::Fp8,
                given: moduli.set(),
            });
        }
        let Shape { digit_bits, places } = shape;
        let weights = weights(moduli);
        let digits = (1..)
            .find(|&count| {
                weights
                    .iter()
                    .all(|&w| balanced(w, digit_bits, count).1 == 0)
            })
            .expect("256 bits have an end");
        let slices = digits.div_ceil(places);
        let slice_bits = digit_bits * places as u32;
        let fraction_rows = (1..=22usize)
            .find(|&rows| quotient_is_certain(moduli, &weights, fraction_bits(slice_bits, rows)))
            .expect("22 bits are always enough");
        let fraction_bits = fraction_bits(slice_bits, fraction_rows);

        // All digits of a weight: those of its slices, and those of its fraction's.
        let columns: Vec<Vec<i32>> = weights
            .iter()
            .map(|&weight| {
                let fraction = fraction(weight, fraction_bits, moduli.product()).0;
                let (own, _) = balanced(weight, digit_bits, slices * places);
                let (of_fraction, rest) = balanced(fraction, digit_bits, fraction_rows * places);
                debug_assert!(rest == 0);
                [own, of_fraction].concat()
            })
            .collect();
        let rows = slices + fraction_rows;
        // The highest digit of a slice is at most 2^8.
        let exponent = (9 - slice_bits as i32).min(0);
        let mut entries = Vec::new();
        let mut largest = vec![0u64; rows];
        for (row, largest) in largest.iter_mut().enumerate() {
            for place in 0..places {
                let shift = digit_bits * place as u32;
                for column in &columns {
                    let digit = column[row * places + place];
                    let entry = E4m3::from_scaled(digit, exponent + shift as i32);
                    entries.push(entry.expect("E4M3 has powers of two for these"));
                    *largest += u64::from(digit.unsigned_abs() << shift) * LARGEST_DIGIT as u64;
                }
            }
        }
        let depth = places * weights.len();
        let most = largest.iter().max().copied().unwrap_or(0);
        if most > unit.accumulator().exact_to() {
            return Err(ResidueError::DepthBeyondExactness {
                unit: unit.accumulator().name,
                depth,
                largest: most,
                exact: unit.accumulator().exact_to(),
                most: (depth as u64 * unit.accumulator().exact_to() / most) as usize,
            });
        }

        let (mut product, rest) = balanced(moduli.product().as_i256(), slice_bits, slices);
        product[slices - 1] += rest.as_i32() << slice_bits;
        let sums: U256 = weights
            .iter()
            .map(|w| w.unsigned_abs() * U256::from(LARGEST_DIGIT as u32))
            .sum();
        let quotient = (sums / moduli.product()).as_u32() + 1;
        let largest_sum = largest[..slices]
            .iter()
            .zip(&product)
            .map(|(&sum, product)| sum as u32 + quotient * product.unsigned_abs())
            .max()
            .unwrap_or(0);

        let digits = moduli
            .values()
            .iter()
            .map(|&modulus| {
                let (least, split) = (-i32::from(modulus / 2), Split::of(modulus));
                let residues = least..least + i32::from(modulus);
                let digit = |x| E4m3::from_integer(x).expect("digits are at most 16");
                residues
                    .map(|residue| <[i32; 2]>::from(split.digits(residue)).map(digit))
                    .collect()
            })
            .collect();
        Ok(Fp8Slices {
            unit,
            matrix: E4m3Matrix::new(rows, depth, &entries),
            shape,
            exponent,
            slices,
            digits,
            product,
            largest_sum,
        })
    }

    /// How weights are split.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Rows of the matrix that find the multiple of `M`.
    pub fn quotient_rows(&self) -> usize {
        self.matrix.rows() - self.slices
    }

    fn multiply(&self, residues: &[Residues], to: &mut [Sums; MOST_SLICES]) {
        assert_eq!(residues.len(), self.digits.len(), "a row for every modulus");
        let mut data = [[E4m3::ZERO; COLUMNS]; MOST_PLACES * 2 * Moduli::MOST];
        let once = 2 * residues.len();
        for (k, (residues, digits)) in residues.iter().zip(&self.digits).enumerate() {
            let least = digits.len() as i32 / 2;
            for (column, &residue) in residues.iter().enumerate() {
                let [high, low] = digits[(i32::from(residue) + least) as usize];
                data[2 * k][column] = high;
                data[2 * k + 1][column] = low;
            }
        }
        for place in 1..self.shape.places {
            data.copy_within(..once, place * once);
        }
        let mut sums = [[0.0; COLUMNS]; MOST_SLICES];
        self.unit.multiply(&self.matrix, &data, &mut sums);
        let units = f32::from(1u16 << -self.exponent);
        for (to, sums) in to.iter_mut().zip(&sums).take(self.matrix.rows()) {
            // Exact integers; on a GPU this is what reading the sums takes, whatever comes next.
            *to = sums.map(|sum| (sum * units) as i32);
        }
    }

    /// Takes `q M` off.
    #[inline(always)]
    fn reduce<N: Integer>(&self, sums: &mut [[N; COLUMNS]]) {
        let bits = self.slice_bits();
        let (slices, fractions) = sums.split_at_mut(self.slices);
        let (first, others) = fractions.split_at_mut(1);
        let mut quotients = first[0];
        // Rounding down in steps is rounding down at once.
        for row in others {
            for (quotient, &sum) in quotients.iter_mut().zip(row.iter()) {
                *quotient = quotient.down(bits) + sum;
            }
        }
        let half = N::constant(1 << (bits - 2));
        for quotient in &mut quotients {
            *quotient = (*quotient + half).down(bits - 1);
        }
        for (row, &product) in slices.iter_mut().zip(&self.product) {
            let product = N::constant(product);
            for (sum, &quotient) in row.iter_mut().zip(&quotients) {
                *sum = *sum - quotient * product;
            }
        }
    }
}

/// The fraction's bits `w` in so many slices.
fn fraction_bits(slice_bits: u32, rows: usize) -> u32 {
    slice_bits * rows as u32 - 1
}

/// The condition of the comment above.
fn quotient_is_certain(moduli: &Moduli, weights: &[I256], bits: u32) -> bool {
    let product = moduli.product();
    let error: U256 = weights
        .iter()
        .map(|&w| fraction(w, bits, product).1 * U256::from(LARGEST_DIGIT as u32))
        .sum();
    (error << 1) < (product - (moduli.largest() << 1)) << bits
}

impl PhaseA for Fp8Slices {
    fn slice_bits(&self) -> u32 {
        self.shape.digit_bits * self.shape.places as u32
    }

    fn slices(&self) -> usize {
        self.slices
    }

    fn largest_sum(&self) -> u32 {
        self.largest_sum
    }

    fn form(&self, residues: &[Residues], to: &mut [Sums; MOST_SLICES]) {
        self.multiply(residues, to);
        self.reduce(&mut to[..self.matrix.rows()]);
    }

    fn operations(&self, residues: &[Residues]) -> Operations {
        let mut sums = [[0; COLUMNS]; MOST_SLICES];
        self.multiply(residues, &mut sums);
        let mut sums = sums.map(|row| row.map(Counting::<i32>::constant));
        let reduction = counted(|| self.reduce(&mut sums[..self.matrix.rows()]));
        Operations {
            fp8_products: (self.matrix.rows() * self.matrix.depth()) as f64,
            reduction: reduction / COLUMNS as f64,
            ..Operations::default()
        }
    }
}
