//! Complex products by residues: fewer real products, and parts that are combined modulo each modulus, so that two
//! integers are reconstructed for every complex output whatever the number of real products.
//!
//! - [`ComplexProducts`]: any complex matrix by Karatsuba's three real products. With `A + iB` and `x + iy`, `P = A·x`,
//!   `Q = B·y` and `R = (A + B)·(x + y)`: the real part is `P - Q`, the imaginary part `R - P - Q`. Modulo `m` nothing is
//!   lost by `R` being larger than what the moduli hold.
//! - [`FoldedDft`]: the matrix of a Fourier transform, whose cosines are even and whose sines are odd. Sums and differences
//!   of the inputs `j` and `n - j` meet half of its columns, and outputs `k` and `n - k` share half of its rows: a quarter of
//!   the products of four real matrices.

use crate::error::ResidueError;
use crate::moduli::Moduli;
use crate::products::{MOST_DEPTH, MOST_ROWS, ResidueProducts, Unit8};
use crate::{COLUMNS, Residues};

/// Words and entries must be below this magnitude, so that their sums are words, too.
pub const MOST_WORD: i64 = 1 << 62;

/// Words of all columns.
type Words = [i64; COLUMNS];

/// How the complex products of a matrix are made of real ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComplexMethod {
    /// Four real products, and the parts added up as integers.
    Direct,
    /// Three real products, every one reconstructed: as the paper counts.
    KaratsubaOfIntegers,
    /// Three real products, combined as residues.
    Karatsuba,
    /// Cosines and sines on folded inputs, combined as residues.
    Folded,
}

impl ComplexMethod {
    /// Products of real integers in a Fourier transform of `n` points by its definition.
    ///
    /// ```
    /// use residues::complex::ComplexMethod;
    /// let products = [ComplexMethod::Direct, ComplexMethod::Karatsuba, ComplexMethod::Folded].map(|method| method.products(32));
    /// assert_eq!(products, [4096, 3072, 1028]);
    /// ```
    pub const fn products(self, n: u64) -> u64 {
        match self {
            ComplexMethod::Direct => 4 * n * n,
            ComplexMethod::KaratsubaOfIntegers | ComplexMethod::Karatsuba => 3 * n * n,
            // Both parts, with cosines (0 to n/2) and sines (those that are not zero).
            ComplexMethod::Folded => {
                let (cosines, sines) = folded(n as usize);
                2 * (cosines * cosines + sines * sines) as u64
            }
        }
    }

    /// Integers that are reconstructed in it.
    pub const fn reconstructions(self, n: u64) -> u64 {
        match self {
            ComplexMethod::Direct => 4 * n,
            ComplexMethod::KaratsubaOfIntegers => 3 * n,
            ComplexMethod::Karatsuba | ComplexMethod::Folded => 2 * n,
        }
    }

    /// Integers that are reconstructed in a three-dimensional transform of `n³` points whose axes take two steps each, as
    /// multiples of `n³`: 18 in the paper, and 12 where residues are combined first.
    ///
    /// ```
    /// use residues::complex::ComplexMethod;
    /// assert_eq!(ComplexMethod::KaratsubaOfIntegers.reconstructions_in_3d(), 18);
    /// assert_eq!(ComplexMethod::Karatsuba.reconstructions_in_3d(), 12);
    /// ```
    pub const fn reconstructions_in_3d(self) -> u64 {
        let (axes, steps) = (3, 2);
        axes * steps * self.reconstructions(1)
    }
}

/// Rows and columns of cosines and of sines in a folded transform.
const fn folded(n: usize) -> (usize, usize) {
    (n / 2 + 1, (n - 1) / 2)
}

/// `a + b` modulo `m`, of residues.
#[inline]
fn plus(a: &Residues, b: &Residues, modulus: i16) -> Residues {
    std::array::from_fn(|column| centred(a[column] + b[column], modulus))
}

/// `a - b` modulo `m`, of residues.
#[inline]
fn minus(a: &Residues, b: &Residues, modulus: i16) -> Residues {
    std::array::from_fn(|column| centred(a[column] - b[column], modulus))
}

/// A sum or difference of two residues as a residue.
#[inline(always)]
fn centred(x: i16, modulus: i16) -> i16 {
    let above = if 2 * x >= modulus { modulus } else { 0 };
    let below = if 2 * x < -modulus { modulus } else { 0 };
    x - above + below
}

/// The moduli, of which none is beyond 1089.
fn short(moduli: &Moduli) -> Vec<i16> {
    moduli.values().iter().map(|&m| m as i16).collect()
}

/// The sum of two words.
#[inline]
fn sum(a: &Words, b: &Words) -> Words {
    std::array::from_fn(|column| a[column] + b[column])
}

/// A complex matrix, ready to be multiplied modulo every modulus.
#[derive(Debug, Clone)]
pub struct ComplexProducts {
    moduli: Vec<i16>,
    real: ResidueProducts,
    imaginary: ResidueProducts,
    both: ResidueProducts,
}

impl ComplexProducts {
    /// From real and imaginary parts of all entries, row by row. Entries are below [`MOST_WORD`].
    pub fn new(
        moduli: &Moduli,
        (rows, depth): (usize, usize),
        real: &[i64],
        imaginary: &[i64],
        unit: &Unit8,
    ) -> Result<ComplexProducts, ResidueError> {
        let build =
            |entries: &[i64]| ResidueProducts::new(moduli, rows, depth, entries, unit.clone());
        let both: Vec<i64> = real.iter().zip(imaginary).map(|(a, b)| a + b).collect();
        Ok(ComplexProducts {
            moduli: short(moduli),
            real: build(real)?,
            imaginary: build(imaginary)?,
            both: build(&both)?,
        })
    }

    /// Residues of both parts of all sums, as [`ResidueProducts::multiply`] orders them. Words are below [`MOST_WORD`].
    pub fn multiply(&self, words: (&[Words], &[Words]), to: (&mut [Residues], &mut [Residues])) {
        let (real, imaginary) = words;
        let mut sums = [[0; COLUMNS]; MOST_DEPTH];
        for ((sum_of_both, real), imaginary) in sums.iter_mut().zip(real).zip(imaginary) {
            *sum_of_both = sum(real, imaginary);
        }
        let mut differences = [[0; COLUMNS]; MOST_ROWS * Moduli::MOST];
        let differences = &mut differences[..self.real.rows() * self.moduli.len()];
        self.real.multiply(real, to.0);
        self.imaginary.multiply(imaginary, differences);
        self.both.multiply(&sums[..self.both.depth()], to.1);
        let moduli = self.moduli.iter().cycle();
        for (((p, r), q), &m) in to.0.iter_mut().zip(to.1).zip(differences).zip(moduli) {
            *r = minus(&minus(r, p, m), q, m);
            *p = minus(p, q, m);
        }
    }
}

/// The matrix of a Fourier transform in integers, folded.
#[derive(Debug, Clone)]
pub struct FoldedDft {
    points: usize,
    moduli: Vec<i16>,
    cosines: ResidueProducts,
    /// Nothing for one and two points.
    sines: Option<ResidueProducts>,
}

impl FoldedDft {
    /// Of as many points as there are cosines: output `k` is `Σ_j (cosines[jk mod n] - i·sines[jk mod n]) · input_j`. Cosines
    /// must be even and sines odd, to the last bit.
    pub fn new(
        moduli: &Moduli,
        cosines: &[i64],
        sines: &[i64],
        unit: &Unit8,
    ) -> Result<FoldedDft, ResidueError> {
        let n = cosines.len();
        assert!(
            n > 0 && sines.len() == n,
            "a cosine and a sine for every point"
        );
        for t in 0..n {
            let opposite = (n - t) % n;
            assert!(
                cosines[t] == cosines[opposite] && sines[t] == -sines[opposite],
                "cosines are even and sines odd"
            );
        }
        let (even, odd) = folded(n);
        let entries = |table: &[i64], from: usize, count: usize| -> Vec<i64> {
            let places =
                (from..from + count).flat_map(|k| (from..from + count).map(move |j| j * k % n));
            places.map(|place| table[place]).collect()
        };
        let build = |size, entries: Vec<i64>| {
            ResidueProducts::new(moduli, size, size, &entries, unit.clone())
        };
        let sines = match odd {
            0 => None,
            _ => Some(build(odd, entries(sines, 1, odd))?),
        };
        Ok(FoldedDft {
            points: n,
            moduli: short(moduli),
            cosines: build(even, entries(cosines, 0, even))?,
            sines,
        })
    }

    /// Products of real integers for all outputs of a column.
    pub fn products(&self) -> u64 {
        let of = |products: &ResidueProducts| 2 * products.rows() * products.depth();
        (of(&self.cosines) + self.sines.as_ref().map_or(0, of)) as u64
    }

    /// Residues of both parts of all outputs: `to[output · moduli + number]`. Words are below [`MOST_WORD`].
    pub fn transform(&self, words: (&[Words], &[Words]), to: (&mut [Residues], &mut [Residues])) {
        let (real, imaginary) = words;
        assert!(real.len() == self.points && imaginary.len() == self.points);
        self.part(real, imaginary, true, to.0);
        self.part(imaginary, real, false, to.1);
    }

    /// Cosines with the even part of one, plus or minus sines with the odd part of the other.
    fn part(&self, even_of: &[Words], odd_of: &[Words], add: bool, to: &mut [Residues]) {
        let (n, count) = (self.points, self.moduli.len());
        let mut folded = [[0; COLUMNS]; MOST_DEPTH];
        for (j, folded) in folded.iter_mut().enumerate().take(self.cosines.depth()) {
            *folded = match j == 0 || 2 * j == n {
                true => even_of[j],
                false => sum(&even_of[j], &even_of[n - j]),
            };
        }
        // Outputs 0 to n/2 so far; the others are their mirror images.
        let (lower, upper) = to.split_at_mut(self.cosines.rows() * count);
        self.cosines
            .multiply(&folded[..self.cosines.depth()], lower);
        let Some(sines) = &self.sines else {
            return;
        };
        for (j, folded) in folded.iter_mut().enumerate().take(sines.depth()) {
            let (a, b) = (&odd_of[j + 1], &odd_of[n - 1 - j]);
            *folded = std::array::from_fn(|column| a[column] - b[column]);
        }
        let mut products = [[0; COLUMNS]; MOST_DEPTH * Moduli::MOST];
        let products = &mut products[..sines.rows() * count];
        sines.multiply(&folded[..sines.depth()], products);
        let mirrored = upper.chunks_exact_mut(count).rev();
        let rows = lower[count..].chunks_exact_mut(count).zip(mirrored);
        for ((row, mirrored), products) in rows.zip(products.chunks_exact(count)) {
            for (number, &modulus) in self.moduli.iter().enumerate() {
                let (cosines, sines) = (row[number], &products[number]);
                let (more, less) = (
                    plus(&cosines, sines, modulus),
                    minus(&cosines, sines, modulus),
                );
                (row[number], mirrored[number]) = if add { (more, less) } else { (less, more) };
            }
        }
    }
}
