//! Plain numbers, and four side by side for the compiler to make vectors of.

use super::{Lanes, Scalar, Vectors};
use crate::numbers::roots::Real;

impl Scalar for f32 {
    const UNIT_ROUNDOFF: f64 = 1.0 / (1u64 << 24) as f64;

    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    fn from_real(value: Real) -> f32 {
        value.to_f32()
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Scalar for f64 {
    const UNIT_ROUNDOFF: f64 = 1.0 / (1u64 << 53) as f64;

    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }

    fn from_real(value: Real) -> f64 {
        value.high
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

macro_rules! one_lane {
    ($scalar:ty) => {
        impl Lanes for $scalar {
            type Scalar = $scalar;
            const COUNT: usize = 1;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                value
            }
            #[inline(always)]
            fn load(from: &[$scalar]) -> Self {
                from[0]
            }
            #[inline(always)]
            fn store(self, to: &mut [$scalar]) {
                to[0] = self;
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                <$scalar>::mul_add(self, factor, summand)
            }
            #[inline(always)]
            fn mul_sub(self, factor: Self, summand: Self) -> Self {
                <$scalar>::mul_add(self, factor, -summand)
            }
        }
    };
}
one_lane!(f32);
one_lane!(f64);

/// Four lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Four<S>([S; 4]);

impl<S: Scalar> Four<S> {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(S, S) -> S) -> Self {
        Four(std::array::from_fn(
            #[inline(always)]
            |i| f(self.0[i], other.0[i]),
        ))
    }

    #[inline(always)]
    fn each_of_three(self, b: Self, c: Self, f: impl Fn(S, S, S) -> S) -> Self {
        Four(std::array::from_fn(
            #[inline(always)]
            |i| f(self.0[i], b.0[i], c.0[i]),
        ))
    }
}

impl<S: Scalar> Lanes for Four<S> {
    type Scalar = S;
    const COUNT: usize = 4;

    #[inline(always)]
    fn splat(value: S) -> Self {
        Four([value; 4])
    }
    #[inline(always)]
    fn load(from: &[S]) -> Self {
        Four(*from.first_chunk().expect("four numbers"))
    }
    #[inline(always)]
    fn store(self, to: &mut [S]) {
        *to.first_chunk_mut().expect("four numbers") = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, S::add)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, S::sub)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.each(other, S::mul)
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        self.each_of_three(factor, summand, S::mul_add)
    }
    #[inline(always)]
    fn mul_sub(self, factor: Self, summand: Self) -> Self {
        self.each_of_three(factor, summand, S::mul_sub)
    }
}

/// Vectors for any processor. Where it cannot fuse products with sums, results are the same and slow.
pub(crate) struct Portable;

impl Vectors for Portable {
    type Single = Four<f32>;
    type Double = Four<f64>;
}
