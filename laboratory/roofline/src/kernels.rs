//! Operations and bytes of kernels, by closed forms. No machine appears here.

use crate::error::RooflineError;
use serde::Serialize;

/// Bytes of a complex number in double precision.
const COMPLEX: f64 = 16.0;

/// A complex transform of n × n × n points, each axis by Bailey's two steps of p and q points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cube {
    /// Points of an axis.
    pub n: usize,
    /// Its two factors as close to each other as can be, the larger one first.
    pub factors: (usize, usize),
}

impl Cube {
    /// Refuses axes that the counts make no sense for.
    ///
    /// ```
    /// let cube = roofline::kernels::Cube::new(1024).unwrap();
    /// assert_eq!(cube.factors, (32, 32));
    /// assert_eq!(cube.bytes(), 96.0 * 1024f64.powi(3));
    /// ```
    pub fn new(n: usize) -> Result<Cube, RooflineError> {
        if !(2..=1 << 20).contains(&n) {
            return Err(RooflineError::Size(n));
        }
        let smaller = (1..=n.isqrt()).rev().find(|q| n.is_multiple_of(*q));
        let q = smaller.unwrap_or(1);
        Ok(Cube {
            n,
            factors: (n / q, q),
        })
    }

    /// n³.
    pub fn points(self) -> f64 {
        (self.n as f64).powi(3)
    }

    /// Equation 25: 5 n log2 n operations a line, 3 n² lines.
    pub fn flops(self) -> f64 {
        15.0 * self.points() * (self.n as f64).log2()
    }

    /// Equations 4 and 26: every point is read and written once for each axis.
    pub fn bytes(self) -> f64 {
        3.0 * 2.0 * COMPLEX * self.points()
    }

    /// The same in single precision.
    pub fn bytes_single(self) -> f64 {
        self.bytes() / 2.0
    }

    /// Equation 5 without its factor 3r + 1: operations that the paper counts for the products of all lines.
    pub fn printed_product_operations(self) -> f64 {
        let (p, q) = (self.factors.0 as f64, self.factors.1 as f64);
        3.0 * (self.n as f64).powi(2) * 2.0 * (2.0 * p * q * p.max(q))
    }

    /// Real multiply-adds of all products, real and imaginary parts counted. Sums and differences of columns j and p - j are multiplied by
    /// cosines and sines of half the size: 4 (p/2)² multiply-adds a complex column of p points.
    pub fn folded_multiply_adds(self) -> f64 {
        let (p, q) = (self.factors.0 as f64, self.factors.1 as f64);
        3.0 * (self.n as f64).powi(2) * p * q * (p + q)
    }
}

/// A kernel by what it asks of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counts {
    /// Its name.
    pub name: String,
    /// Operations in double precision.
    pub flops: f64,
    /// Bytes that have to be moved.
    pub bytes: f64,
    /// Results, each of which is reconstructed if products are emulated.
    pub outputs: f64,
    /// Terms of a result: the k that the paper compares with r².
    pub inner: f64,
}

impl Counts {
    /// Operations a byte.
    pub fn intensity(&self) -> f64 {
        self.flops / self.bytes
    }
}

/// The native transform of a cube; its results are those of both steps and all axes.
pub fn native_fft(cube: Cube) -> Counts {
    Counts {
        name: format!("FFT {0}×{0}×{0}", cube.n),
        flops: cube.flops(),
        bytes: cube.bytes(),
        outputs: 12.0 * cube.points(),
        inner: cube.factors.0 as f64,
    }
}

/// A product of matrices, m × k times k × n; every matrix is moved once.
pub fn gemm(m: f64, n: f64, k: f64) -> Counts {
    Counts {
        name: format!("GEMM {m}×{n}×{k}"),
        flops: 2.0 * m * n * k,
        bytes: 8.0 * (m * k + k * n + m * n),
        outputs: m * n,
        inner: k,
    }
}

/// Many products of an m × k matrix of its own and a vector.
pub fn batched_gemv(batch: f64, m: f64, k: f64) -> Counts {
    Counts {
        name: format!("{batch} GEMV {m}×{k}"),
        flops: 2.0 * batch * m * k,
        bytes: 8.0 * batch * (m * k + k + m),
        outputs: batch * m,
        inner: k,
    }
}

/// A stencil: every result is a sum of so many products; every number is read and written once.
pub fn stencil(points: f64, terms: f64) -> Counts {
    Counts {
        name: format!("stencil, {terms} terms"),
        flops: 2.0 * terms * points,
        bytes: 16.0 * points,
        outputs: points,
        inner: terms,
    }
}

/// A sparse matrix in compressed rows times a vector: a value and a 32-bit column for every entry; the vector, the result and a 32-bit
/// offset for every row.
pub fn spmv(rows: f64, entries_per_row: f64) -> Counts {
    Counts {
        name: format!("SpMV, {entries_per_row} a row"),
        flops: 2.0 * rows * entries_per_row,
        bytes: rows * (12.0 * entries_per_row + 20.0),
        outputs: rows,
        inner: entries_per_row,
    }
}

/// Transforms modulo a 32-bit prime that one line of Kawakami and Takahashi's algorithm takes, sums kept in the transformed domain.
pub const NUMBER_THEORETIC_TRANSFORMS: f64 = 64.0;
/// Integer instructions of a butterfly modulo a 32-bit prime: three multiplications of Montgomery's product, its addition and correction, a
/// sum and a difference with a correction each.
pub const BUTTERFLY_INSTRUCTIONS: f64 = 10.0;

/// Integer instructions of all lines by Bluestein's algorithm and number-theoretic transforms: convolutions of twice the length, rounded up to
/// a power of two.
pub fn bluestein_instructions(cube: Cube) -> f64 {
    let length = (2 * cube.n - 1).next_power_of_two() as f64;
    let butterflies = length / 2.0 * length.log2();
    let lines = 3.0 * (cube.n as f64).powi(2);
    lines * NUMBER_THEORETIC_TRANSFORMS * butterflies * BUTTERFLY_INSTRUCTIONS
}

/// Equation 5: operations of Bailey's products on FP8 units.
pub fn printed_products(cube: Cube, moduli: f64) -> f64 {
    cube.printed_product_operations() * (3.0 * moduli + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_of_1024_has_the_counts_of_equations_4_5_and_25() {
        let cube = Cube::new(1024).unwrap();
        // 2^30 points.
        assert_eq!(cube.points(), 1_073_741_824.0);
        // 96 · 2^30.
        assert_eq!(cube.bytes(), 103_079_215_104.0);
        // 15 · 10 · 2^30.
        assert_eq!(cube.flops(), 161_061_273_600.0);
        // 3 · 2^20 · 2 · (2 · 32 · 32 · 32) = 3 · 2^37.
        assert_eq!(cube.printed_product_operations(), 3.0 * 2f64.powi(37));
        // 3 · 2^20 lines of 1024 · 64 multiply-adds, each two operations: the same number, so the paper's count is that of folded products.
        assert_eq!(
            2.0 * cube.folded_multiply_adds(),
            cube.printed_product_operations()
        );
    }

    #[test]
    fn factors_are_as_close_as_can_be() {
        for (n, factors) in [
            (2, (2, 1)),
            (512, (32, 16)),
            (1000, (40, 25)),
            (1009, (1009, 1)),
        ] {
            assert_eq!(Cube::new(n).unwrap().factors, factors, "{n}");
        }
        assert_eq!(Cube::new(1), Err(RooflineError::Size(1)));
        assert!(Cube::new((1 << 20) + 1).is_err());
    }

    #[test]
    fn primitives_have_the_counts_worked_by_hand() {
        // 2·2·3·4 = 48 operations; 8·(2·4 + 4·3 + 2·3) = 8·26 = 208 bytes.
        let product = gemm(2.0, 3.0, 4.0);
        assert_eq!(
            (product.flops, product.bytes, product.outputs),
            (48.0, 208.0, 6.0)
        );
        // Ten of 2 × 4: 160 operations, 8·10·(8 + 4 + 2) = 1120 bytes.
        let vectors = batched_gemv(10.0, 2.0, 4.0);
        assert_eq!(
            (vectors.flops, vectors.bytes, vectors.outputs),
            (160.0, 1120.0, 20.0)
        );
        // 25 products and additions a point, 16 bytes: 50/16.
        assert_eq!(stencil(100.0, 25.0).intensity(), 3.125);
        // 27 entries: 54 operations, 12·27 + 20 = 344 bytes.
        let sparse = spmv(1.0, 27.0);
        assert_eq!((sparse.flops, sparse.bytes), (54.0, 344.0));
    }

    #[test]
    fn bluestein_counts_transforms_of_2048_for_1024_points() {
        // 1024 · 11 butterflies of ten instructions, 64 times, for 3 · 2^20 lines.
        let cube = Cube::new(1024).unwrap();
        assert_eq!(
            bluestein_instructions(cube),
            3.0 * 2f64.powi(20) * 64.0 * 11264.0 * 10.0
        );
    }
}
