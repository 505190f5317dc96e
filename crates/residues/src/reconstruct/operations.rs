//! Numbers that count what is done with them.
//!
//! The arithmetic of every method is written once, over [`Real`] or [`Integer`]. In use it runs on plain numbers, and nothing
//! is left of this file in the program; to be counted it runs on [`Counting`] ones, which take the same path to the same
//! result.

use std::cell::Cell;
use std::ops::{Add, Mul, Sub};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// A number whose operations are counted, on the thread that they happen on.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub(super) struct Counting<T>(T);

fn bump(by: u64) {
    COUNT.with(|count| count.set(count.get() + by));
}

/// How many operations on counting numbers `work` does.
pub(super) fn counted(work: impl FnOnce()) -> f64 {
    let before = COUNT.with(Cell::get);
    work();
    (COUNT.with(Cell::get) - before) as f64
}

macro_rules! operators {
    ($($name:ident $method:ident),*) => {$(
        impl<T: $name<Output = T>> $name for Counting<T> {
            type Output = Counting<T>;
            fn $method(self, other: Counting<T>) -> Counting<T> {
                bump(1);
                Counting(self.0.$method(other.0))
            }
        }
    )*};
}

operators!(Add add, Sub sub, Mul mul);

/// Operations needed by sums in floating point.
pub(super) trait Real:
    Copy + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Bits of a significand: the unit roundoff is `2^-DIGITS`.
    const DIGITS: u32;

    /// A 32-bit integer that is known to be a number of this kind: one operation.
    fn of_sum(sum: i32) -> Self;

    /// A number from a table, rounded to the nearest.
    fn constant(value: f64) -> Self;

    /// A quotient for a table, rounded to the nearest number of this kind.
    fn quotient(numerator: f64, denominator: f64) -> f64;

    /// `self·factor + other` for a power of two as factor: the product is exact, so that one fused operation and two plain
    /// ones give the same bits. Counted as one.
    fn multiply_add(self, factor: Self, other: Self) -> Self;

    /// The value.
    fn get(self) -> f64;
}

macro_rules! reals {
    ($($real:ty),*) => {$(
        impl Real for $real {
            const DIGITS: u32 = <$real>::MANTISSA_DIGITS;
            #[inline(always)]
            fn of_sum(sum: i32) -> $real {
                sum as $real
            }
            #[inline(always)]
            fn constant(value: f64) -> $real {
                value as $real
            }
            fn quotient(numerator: f64, denominator: f64) -> f64 {
                (numerator as $real / denominator as $real).into()
            }
            #[inline(always)]
            fn multiply_add(self, factor: $real, other: $real) -> $real {
                self * factor + other
            }
            #[inline(always)]
            fn get(self) -> f64 {
                self.into()
            }
        }
    )*};
}

reals!(f32, f64);

impl<T: Real> Real for Counting<T> {
    const DIGITS: u32 = T::DIGITS;

    fn of_sum(sum: i32) -> Counting<T> {
        bump(1);
        Counting(T::of_sum(sum))
    }

    fn constant(value: f64) -> Counting<T> {
        Counting(T::constant(value))
    }

    fn quotient(numerator: f64, denominator: f64) -> f64 {
        T::quotient(numerator, denominator)
    }

    fn multiply_add(self, factor: Counting<T>, other: Counting<T>) -> Counting<T> {
        bump(1);
        Counting(self.0.multiply_add(factor.0, other.0))
    }

    fn get(self) -> f64 {
        self.0.get()
    }
}

/// Operations needed by sums in 32-bit integers. Operators are checked where the program is compiled with checks: no sum may leave
/// 32 bits; the methods treat a number as 32 bits without a sign.
pub(super) trait Integer:
    Copy + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// A number that is there already.
    fn constant(value: i32) -> Self;

    /// `self / 2^bits`, rounded down.
    fn down(self, bits: u32) -> Self;

    /// The lowest `bits`.
    fn low(self, bits: u32) -> Self;

    /// The upper half of the product of 64 bits, without signs, shifted down by so many bits more.
    fn high_product(self, factor: u32, bits: u32) -> Self;

    /// `self·factor + other`, which fits 32 bits without a sign.
    fn append(self, factor: u32, other: Self) -> Self;

    /// Lower and upper half of `self·factor + carry`, without signs.
    fn carry_product(self, factor: u32, carry: Self) -> (Self, Self);

    /// `self - other - borrow` and the next borrow, which are 0 or 1.
    fn minus_borrow(self, other: u32, borrow: Self) -> (Self, Self);
}

impl Integer for i32 {
    #[inline(always)]
    fn constant(value: i32) -> i32 {
        value
    }

    #[inline(always)]
    fn down(self, bits: u32) -> i32 {
        self >> bits
    }

    #[inline(always)]
    fn low(self, bits: u32) -> i32 {
        self & ((1 << bits) - 1)
    }

    #[inline(always)]
    fn high_product(self, factor: u32, bits: u32) -> i32 {
        ((u64::from(self as u32) * u64::from(factor)) >> 32) as i32 >> bits
    }

    #[inline(always)]
    fn append(self, factor: u32, other: i32) -> i32 {
        (self as u32)
            .wrapping_mul(factor)
            .wrapping_add(other as u32) as i32
    }

    #[inline(always)]
    fn carry_product(self, factor: u32, carry: i32) -> (i32, i32) {
        let wide = u64::from(self as u32) * u64::from(factor) + u64::from(carry as u32);
        (wide as i32, (wide >> 32) as i32)
    }

    #[inline(always)]
    fn minus_borrow(self, other: u32, borrow: i32) -> (i32, i32) {
        let wide = i64::from(self as u32) - i64::from(other) - i64::from(borrow);
        (wide as i32, (wide >> 63) as i32 & 1)
    }
}

impl Integer for Counting<i32> {
    fn constant(value: i32) -> Self {
        Counting(value)
    }

    fn down(self, bits: u32) -> Self {
        bump(1);
        Counting(self.0.down(bits))
    }

    fn low(self, bits: u32) -> Self {
        bump(1);
        Counting(self.0.low(bits))
    }

    fn high_product(self, factor: u32, bits: u32) -> Self {
        bump(1 + u64::from(bits > 0));
        Counting(self.0.high_product(factor, bits))
    }

    fn append(self, factor: u32, other: Self) -> Self {
        bump(2);
        Counting(self.0.append(factor, other.0))
    }

    fn carry_product(self, factor: u32, carry: Self) -> (Self, Self) {
        // Both halves of the product, an addition, and one with the carry.
        bump(4);
        let (low, high) = self.0.carry_product(factor, carry.0);
        (Counting(low), Counting(high))
    }

    fn minus_borrow(self, other: u32, borrow: Self) -> (Self, Self) {
        bump(1);
        let (difference, borrow) = self.0.minus_borrow(other, borrow.0);
        (Counting(difference), Counting(borrow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_counts_once() {
        let real = <Counting<f64> as Real>::constant;
        let count = counted(|| {
            let a = Counting::<f64>::of_sum(3);
            let b = a * real(0.5) + a - a;
            assert_eq!(b.multiply_add(a, b).get(), 6.0);
        });
        assert_eq!(count, 5.0);

        let word = <Counting<i32> as Integer>::constant;
        let count = counted(|| {
            let a = word(-5);
            assert_eq!(a.down(1).0, -3);
            assert_eq!(a.low(4).0, 11);
            let (low, high) = a.carry_product(u32::MAX, word(-1));
            let expected = u64::from(-5i32 as u32) * u64::from(u32::MAX) + u64::from(u32::MAX);
            assert_eq!(low.0, expected as i32);
            assert_eq!(high.0, (expected >> 32) as i32);
            let (low, borrow) = word(0).minus_borrow(u32::MAX, word(1));
            assert_eq!((low.0, borrow.0), (0, 1));
        });
        assert_eq!(count, 7.0);
    }
}
