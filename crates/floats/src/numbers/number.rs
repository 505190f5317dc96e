//! Numbers that the transforms compute with: plain vectors, or vectors with their errors (`kahan.rs`).

use crate::lanes::{Lanes, Scalar};
use crate::numbers::roots::{Real, Root};

/// A constant of a table; the low part is for compensated arithmetic.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Constant<S> {
    pub(crate) high: S,
    pub(crate) low: S,
}

impl<S: Scalar> Constant<S> {
    pub(crate) fn new(value: Real) -> Self {
        let high = S::from_real(value);
        Constant {
            high,
            low: S::from_f64(value.minus(high.to_f64()).high),
        }
    }
}

impl Constant<f64> {
    /// The same of another number type: an f64 and what it leaves are all of a constant.
    fn rounded<S: Scalar>(self) -> Constant<S> {
        Constant::new(Real {
            high: self.high,
            low: self.low,
        })
    }
}

/// A complex constant of a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ComplexConstant<S> {
    pub(crate) re: Constant<S>,
    pub(crate) im: Constant<S>,
}

impl<S: Scalar> ComplexConstant<S> {
    pub(crate) fn new(root: Root) -> Self {
        ComplexConstant {
            re: Constant::new(root.re),
            im: Constant::new(root.im),
        }
    }
}

impl ComplexConstant<f64> {
    pub(crate) fn rounded<S: Scalar>(self) -> ComplexConstant<S> {
        ComplexConstant {
            re: self.re.rounded(),
            im: self.im.rounded(),
        }
    }
}

/// A complex number of any arithmetic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<N> {
    pub(crate) re: N,
    pub(crate) im: N,
}

/// A number of every lane.
pub(crate) trait Number: Copy {
    type Lanes: Lanes<Scalar = Self::Scalar>;
    type Scalar: Scalar;
    /// Vectors that make up a number.
    const WORDS: usize;

    fn zero() -> Self;
    /// A number as the caller has it.
    fn exactly(value: Self::Lanes) -> Self;
    /// A number as the caller gets it.
    fn rounded(self) -> Self::Lanes;
    fn load(from: &[Self::Scalar]) -> Self;
    fn store(self, to: &mut [Self::Scalar]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn times(self, constant: Constant<Self::Scalar>) -> Self;
    /// `self + value · constant`.
    fn plus_product(self, value: Self, constant: Constant<Self::Scalar>) -> Self;
    /// Complex product with a constant.
    fn rotated(value: Pair<Self>, constant: &ComplexConstant<Self::Scalar>) -> Pair<Self>;
}

impl<N: Number> Pair<N> {
    /// Numbers of the workspace that a complex number takes.
    pub(crate) const LENGTH: usize = 2 * N::WORDS * N::Lanes::COUNT;

    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Pair {
            re: N::zero(),
            im: N::zero(),
        }
    }
    #[inline(always)]
    pub(crate) fn load(from: &[N::Scalar], index: usize) -> Self {
        let from = &from[index * Self::LENGTH..][..Self::LENGTH];
        let (re, im) = from.split_at(Self::LENGTH / 2);
        Pair {
            re: N::load(re),
            im: N::load(im),
        }
    }
    #[inline(always)]
    pub(crate) fn store(self, to: &mut [N::Scalar], index: usize) {
        let to = &mut to[index * Self::LENGTH..][..Self::LENGTH];
        let (re, im) = to.split_at_mut(Self::LENGTH / 2);
        self.re.store(re);
        self.im.store(im);
    }
    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        Pair {
            re: self.re.add(other.re),
            im: self.im.add(other.im),
        }
    }
    #[inline(always)]
    pub(crate) fn sub(self, other: Self) -> Self {
        Pair {
            re: self.re.sub(other.re),
            im: self.im.sub(other.im),
        }
    }
    /// `self - i·other` and `self + i·other`.
    #[inline(always)]
    pub(crate) fn quarter_turns(self, other: Self) -> [Self; 2] {
        [
            Pair {
                re: self.re.add(other.im),
                im: self.im.sub(other.re),
            },
            Pair {
                re: self.re.sub(other.im),
                im: self.im.add(other.re),
            },
        ]
    }
    #[inline(always)]
    pub(crate) fn swapped_if(self, swap: bool) -> Self {
        if swap {
            Pair {
                re: self.im,
                im: self.re,
            }
        } else {
            self
        }
    }
}

/// A vector as it is: every operation rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<L>(L);

impl<L: Lanes> Number for Plain<L> {
    type Lanes = L;
    type Scalar = L::Scalar;
    const WORDS: usize = 1;

    #[inline(always)]
    fn zero() -> Self {
        Plain(L::splat(L::Scalar::default()))
    }
    #[inline(always)]
    fn exactly(value: L) -> Self {
        Plain(value)
    }
    #[inline(always)]
    fn rounded(self) -> L {
        self.0
    }
    #[inline(always)]
    fn load(from: &[L::Scalar]) -> Self {
        Plain(L::load(from))
    }
    #[inline(always)]
    fn store(self, to: &mut [L::Scalar]) {
        self.0.store(to);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Plain(self.0.add(other.0))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Plain(self.0.sub(other.0))
    }
    #[inline(always)]
    fn times(self, constant: Constant<L::Scalar>) -> Self {
        Plain(self.0.mul(L::splat(constant.high)))
    }
    #[inline(always)]
    fn plus_product(self, value: Self, constant: Constant<L::Scalar>) -> Self {
        Plain(value.0.mul_add(L::splat(constant.high), self.0))
    }
    #[inline(always)]
    fn rotated(value: Pair<Self>, constant: &ComplexConstant<L::Scalar>) -> Pair<Self> {
        let (re, im) = (value.re.0, value.im.0);
        let (c, s) = (L::splat(constant.re.high), L::splat(constant.im.high));
        Pair {
            re: Plain(re.mul_sub(c, im.mul(s))),
            im: Plain(re.mul_add(s, im.mul(c))),
        }
    }
}
