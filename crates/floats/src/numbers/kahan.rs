//! f32 with its errors (and f64, for checking a table): a number is an unevaluated sum of its value and what roundings have taken from it.
//!
//! Sums give their error by Knuth's TwoSum, products by a fused multiplication (p = ab, e = ab - p, exact), and both are
//! added to the second word, which is rounded itself but is `2^-24` of the first (`2^-53` in f64). Constants are sums of two numbers as
//! well. So nothing of the order of one rounding is lost until the two words are added at the end.

use crate::lanes::Lanes;
use crate::numbers::number::{ComplexConstant, Constant, Number, Pair};

/// A value and its error: the number is their sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carried<L> {
    value: L,
    error: L,
}

/// The rounded sum and what the rounding took.
#[inline(always)]
fn two_sum<L: Lanes>(a: L, b: L) -> (L, L) {
    let sum = a.add(b);
    let of_b = sum.sub(a);
    let of_a = sum.sub(of_b);
    (sum, a.sub(of_a).add(b.sub(of_b)))
}

/// The rounded difference and what the rounding took.
#[inline(always)]
fn two_difference<L: Lanes>(a: L, b: L) -> (L, L) {
    let difference = a.sub(b);
    let of_b = difference.sub(a);
    let of_a = difference.sub(of_b);
    (difference, a.sub(of_a).sub(b.add(of_b)))
}

impl<L: Lanes> Number for Carried<L> {
    type Lanes = L;
    type Scalar = L::Scalar;
    const WORDS: usize = 2;

    #[inline(always)]
    fn zero() -> Self {
        Carried::exactly(L::splat(L::Scalar::default()))
    }
    #[inline(always)]
    fn exactly(value: L) -> Self {
        Carried {
            value,
            error: L::splat(L::Scalar::default()),
        }
    }
    #[inline(always)]
    fn rounded(self) -> L {
        self.value.add(self.error)
    }
    #[inline(always)]
    fn load(from: &[L::Scalar]) -> Self {
        Carried {
            value: L::load(from),
            error: L::load(&from[L::COUNT..]),
        }
    }
    #[inline(always)]
    fn store(self, to: &mut [L::Scalar]) {
        self.value.store(to);
        self.error.store(&mut to[L::COUNT..]);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (value, error) = two_sum(self.value, other.value);
        Carried {
            value,
            error: error.add(self.error.add(other.error)),
        }
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (value, error) = two_difference(self.value, other.value);
        Carried {
            value,
            error: error.add(self.error.sub(other.error)),
        }
    }
    #[inline(always)]
    fn times(self, constant: Constant<L::Scalar>) -> Self {
        let (high, low) = (L::splat(constant.high), L::splat(constant.low));
        let value = self.value.mul(high);
        let error = self.value.mul_sub(high, value);
        Carried {
            value,
            error: self.error.mul_add(high, self.value.mul_add(low, error)),
        }
    }
    #[inline(always)]
    fn plus_product(self, value: Self, constant: Constant<L::Scalar>) -> Self {
        self.add(value.times(constant))
    }
    #[inline(always)]
    fn rotated(value: Pair<Self>, constant: &ComplexConstant<L::Scalar>) -> Pair<Self> {
        let Pair { re, im } = value;
        Pair {
            re: re.times(constant.re).sub(im.times(constant.im)),
            im: re.times(constant.im).add(im.times(constant.re)),
        }
    }
}
