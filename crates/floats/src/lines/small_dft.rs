//! DFTs of a few points in registers, forward: the steps that longer transforms are made of.

use crate::lanes::Scalar;
use crate::numbers::number::{Constant, Number, Pair};
use crate::numbers::roots::root;
use std::array;

/// A DFT of `R` points.
pub(crate) trait SmallDft<N: Number, const R: usize> {
    fn apply(&self, x: [Pair<N>; R]) -> [Pair<N>; R];
}

/// Two points.
pub(crate) struct Radix2;

impl<N: Number> SmallDft<N, 2> for Radix2 {
    #[inline(always)]
    fn apply(&self, [a, b]: [Pair<N>; 2]) -> [Pair<N>; 2] {
        [a.add(b), a.sub(b)]
    }
}

/// Four points: sums and differences alone.
pub(crate) struct Radix4;

#[inline(always)]
fn four<N: Number>([a, b, c, d]: [Pair<N>; 4]) -> [Pair<N>; 4] {
    let (even, odd) = (a.add(c), b.add(d));
    let [first, third] = a.sub(c).quarter_turns(b.sub(d));
    [even.add(odd), first, even.sub(odd), third]
}

impl<N: Number> SmallDft<N, 4> for Radix4 {
    #[inline(always)]
    fn apply(&self, x: [Pair<N>; 4]) -> [Pair<N>; 4] {
        four(x)
    }
}

/// Eight points: two of four, and two rotations by an eighth between them.
pub(crate) struct Radix8<S> {
    half_root: Constant<S>,
}

impl<S: Scalar> Radix8<S> {
    pub(crate) fn new() -> Self {
        Radix8 {
            half_root: Constant::new(root(1, 8).re),
        }
    }
}

impl<N: Number> SmallDft<N, 8> for Radix8<N::Scalar> {
    #[inline(always)]
    fn apply(&self, x: [Pair<N>; 8]) -> [Pair<N>; 8] {
        let even = four([
            x[0].add(x[4]),
            x[1].add(x[5]),
            x[2].add(x[6]),
            x[3].add(x[7]),
        ]);
        let (b0, b1, b2, b3) = (
            x[0].sub(x[4]),
            x[1].sub(x[5]),
            x[2].sub(x[6]),
            x[3].sub(x[7]),
        );
        let b1 = Pair {
            re: b1.re.add(b1.im).times(self.half_root),
            im: b1.im.sub(b1.re).times(self.half_root),
        };
        // The negative of the rotated third one: subtracted below.
        let b3 = Pair {
            re: b3.re.sub(b3.im).times(self.half_root),
            im: b3.re.add(b3.im).times(self.half_root),
        };
        // The four-point DFT of b0, b1·w, -i·b2, -b3.
        let [first, second] = b0.quarter_turns(b2);
        let (difference, sum) = (b1.sub(b3), b1.add(b3));
        let [third, fourth] = second.quarter_turns(sum);
        [
            even[0],
            first.add(difference),
            even[1],
            third,
            even[2],
            first.sub(difference),
            even[3],
            fourth,
        ]
    }
}

/// An odd number of points: pairs of inputs, then a product with the matrix of cosines and the one of sines. Sums halfway are DFTs
/// of the even and the odd part of some pairs: B4 of the bounds in `docs/ladder.md`.
pub(crate) struct Odd<S, const R: usize> {
    /// Cosine and sine of every `R`-th of a turn.
    roots: [(Constant<S>, Constant<S>); R],
}

impl<S: Scalar, const R: usize> Odd<S, R> {
    pub(crate) fn new() -> Self {
        Odd {
            roots: array::from_fn(|k| {
                let root = root(k as u64, R as u64);
                (Constant::new(root.re), Constant::new(root.im))
            }),
        }
    }
}

impl<N: Number, const R: usize> SmallDft<N, R> for Odd<N::Scalar, R> {
    #[inline(always)]
    fn apply(&self, x: [Pair<N>; R]) -> [Pair<N>; R] {
        let mut y = x;
        let (mut sums, mut differences) = (x, x);
        for j in 1..=R / 2 {
            sums[j] = x[j].add(x[R - j]);
            differences[j] = x[j].sub(x[R - j]);
            y[0] = y[0].add(sums[j]);
        }
        for k in 1..=R / 2 {
            let (cos, sin) = self.roots[k];
            let mut even = Pair {
                re: x[0].re.plus_product(sums[1].re, cos),
                im: x[0].im.plus_product(sums[1].im, cos),
            };
            let mut odd = Pair {
                re: differences[1].re.times(sin),
                im: differences[1].im.times(sin),
            };
            for j in 2..=R / 2 {
                let (cos, sin) = self.roots[j * k % R];
                even.re = even.re.plus_product(sums[j].re, cos);
                even.im = even.im.plus_product(sums[j].im, cos);
                odd.re = odd.re.plus_product(differences[j].re, sin);
                odd.im = odd.im.plus_product(differences[j].im, sin);
            }
            let [first, last] = even.quarter_turns(odd);
            y[k] = first;
            y[R - k] = last;
        }
        y
    }
}

/// Any few points as a product with the matrix itself, which is how a matrix unit would do it.
pub(crate) struct Matrix<S, const R: usize> {
    roots: [(Constant<S>, Constant<S>, Constant<S>); R],
}

impl<S: Scalar, const R: usize> Matrix<S, R> {
    pub(crate) fn new() -> Self {
        Matrix {
            roots: array::from_fn(|k| {
                let root = root(k as u64, R as u64);
                let back = crate::numbers::roots::root((R - k) as u64, R as u64);
                (
                    Constant::new(root.re),
                    Constant::new(root.im),
                    Constant::new(back.im),
                )
            }),
        }
    }
}

impl<N: Number, const R: usize> SmallDft<N, R> for Matrix<N::Scalar, R> {
    #[inline(always)]
    fn apply(&self, x: [Pair<N>; R]) -> [Pair<N>; R] {
        let mut y = x;
        for (k, y) in y.iter_mut().enumerate() {
            let mut sum = x[0];
            for (j, x) in x.iter().enumerate().skip(1) {
                let (cos, sin, minus_sin) = self.roots[j * k % R];
                // The real part's products first, in both sums (B3).
                sum.re = sum.re.plus_product(x.re, cos).plus_product(x.im, sin);
                sum.im = sum.im.plus_product(x.re, minus_sin).plus_product(x.im, cos);
            }
            *y = sum;
        }
        y
    }
}
