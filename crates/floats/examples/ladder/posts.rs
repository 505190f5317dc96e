//! The computations of trnfft's posts as their sources describe them, in IEEE arithmetic: where a figure here and there
//! differ, one of these shows the reason.

use num_complex::Complex;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::near_normal_real;
use std::f64::consts::PI;

type Line = Vec<Complex<f64>>;

/// A line of normal real numbers, as the posts have it.
pub fn real_line(n: usize, seed: u64) -> Vec<Complex<f32>> {
    let line = near_normal_real(n, seed).into_iter();
    line.map(|value| Complex::new(value as f32, 0.0)).collect()
}

fn bf16(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
}

/// The parts of a number, each rounded to bf16 from what is left.
fn parts(mut value: f32, count: usize) -> Vec<f64> {
    (0..count)
        .map(|_| {
            let part = bf16(value);
            value -= part;
            f64::from(part)
        })
        .collect()
}

/// How the matrix is made.
#[derive(Clone, Copy, PartialEq)]
pub enum Angles {
    /// `2π·kj/n` in f32, as the sources do: `kj` reaches `n²`, and so does the angle's error.
    Single,
    /// Exact.
    Exact,
}

fn entry(angles: Angles, k: usize, j: usize, n: usize, inverse: bool) -> (f32, f32) {
    let sign = if inverse { 1.0 } else { -1.0 };
    let angle = match angles {
        Angles::Single => {
            let turned = (sign * 2.0 * PI) as f32 * (k * j) as f32;
            f64::from(turned / n as f32)
        }
        Angles::Exact => sign * 2.0 * PI * (k * j % n) as f64 / n as f64,
    };
    (angle.cos() as f32, angle.sin() as f32)
}

/// The product with the matrix, numbers in parts, all sums exact to f64: what is left are the errors of the parts and
/// of the matrix. `used` says which products of parts (data, matrix) are formed.
pub fn gemm(
    line: &[Complex<f32>],
    angles: Angles,
    inverse: bool,
    counts: (usize, usize),
    used: impl Fn(usize, usize) -> bool,
) -> Vec<Complex<f32>> {
    let n = line.len();
    let data: Vec<_> = line
        .iter()
        .map(|v| (parts(v.re, counts.0), parts(v.im, counts.0)))
        .collect();
    (0..n)
        .map(|k| {
            let mut sum = Complex::new(0.0, 0.0);
            for (j, (re, im)) in data.iter().enumerate() {
                let (cos, sin) = entry(angles, k, j, n, inverse);
                let (cos, sin) = (parts(cos, counts.1), parts(sin, counts.1));
                for d in 0..counts.0 {
                    for m in (0..counts.1).filter(|&m| used(d, m)) {
                        sum += Complex::new(re[d], im[d]) * Complex::new(cos[m], sin[m]);
                    }
                }
            }
            Complex::new(sum.re as f32, sum.im as f32)
        })
        .collect()
}

/// The refinement as the sources have it: the inverse in bf16 as well.
pub fn refined_in_bf16(line: &[Complex<f32>]) -> Vec<Complex<f32>> {
    let n = line.len() as f32;
    let first = gemm(line, Angles::Exact, false, (1, 1), |_, _| true);
    let back = gemm(&first, Angles::Exact, true, (1, 1), |_, _| true);
    let residual: Vec<_> = line.iter().zip(&back).map(|(x, b)| x - b / n).collect();
    let correction = gemm(&residual, Angles::Exact, false, (1, 1), |_, _| true);
    first.iter().zip(&correction).map(|(x, c)| x + c).collect()
}

/// The radix-2 butterfly of the sources in IEEE f32, roots from angles in f32; with or without compensated products.
/// `lost` low bits of every product's result are truncated, to see what arithmetic would give the printed errors.
pub fn butterfly(line: &[Complex<f32>], compensated: bool, lost: u32) -> Vec<Complex<f32>> {
    let n = line.len();
    let bits = n.ilog2();
    let cut = |value: f32| f32::from_bits(value.to_bits() & (u32::MAX << lost));
    let mut x: Vec<_> = (0..n)
        .map(|i| line[i.reverse_bits() >> (usize::BITS - bits)])
        .collect();
    let product = |a: f32, b: f32| {
        let high = a * b;
        (
            cut(high),
            if compensated {
                a.mul_add(b, -cut(high))
            } else {
                0.0
            },
        )
    };
    for stage in 0..bits {
        let size = 2usize << stage;
        let half = size / 2;
        for k in 0..half {
            let angle = (-2.0 * PI) as f32 * k as f32 / size as f32;
            let (c, s) = (f64::from(angle).cos() as f32, f64::from(angle).sin() as f32);
            for even in (k..n).step_by(size) {
                let (e, o) = (x[even], x[even + half]);
                let (rr, ii) = (product(c, o.re), product(s, o.im));
                let (ri, ir) = (product(c, o.im), product(s, o.re));
                let turned =
                    Complex::new((rr.0 - ii.0) + (rr.1 - ii.1), (ri.0 + ir.0) + (ri.1 + ir.1));
                x[even] = e + turned;
                x[even + half] = e - turned;
            }
        }
    }
    x
}

/// The exact spectrum, rounded to f64.
pub fn exact(line: &[Complex<f32>]) -> Line {
    let wide: Line = line
        .iter()
        .map(|v| Complex::new(f64::from(v.re), f64::from(v.im)))
        .collect();
    oracle::rounded_once(&oracle::dft(&wide, oracle::Direction::Forward))
}

/// Largest error over largest magnitude, and the L2 norms' ratio.
pub fn errors(computed: impl Iterator<Item = Complex<f64>>, exact: &Line) -> (f64, f64) {
    let (mut worst, mut squares) = (0.0f64, 0.0);
    for (computed, exact) in computed.zip(exact) {
        let error = (computed - exact).norm();
        worst = worst.max(error);
        squares += error * error;
    }
    let largest = exact
        .iter()
        .fold(0.0f64, |largest, v| largest.max(v.norm()));
    let norm: f64 = exact.iter().map(|v| v.norm_sqr()).sum();
    (worst / largest, (squares / norm).sqrt())
}

/// As [`errors`] for f32.
pub fn errors_f32(computed: &[Complex<f32>], exact: &Line) -> (f64, f64) {
    let wide = |v: &Complex<f32>| Complex::new(f64::from(v.re), f64::from(v.im));
    errors(computed.iter().map(wide), exact)
}
