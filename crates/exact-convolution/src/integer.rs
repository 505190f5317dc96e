//! The types of operands and results.

use fallible_memory::collected;

mod private {
    pub trait Sealed {}
}

/// Integers that can be convolved: `i8` to `i128` and `u8` to `u128`.
pub trait Operand: Copy + Default + Send + Sync + 'static + private::Sealed {
    /// The largest magnitude of the type.
    const LARGEST: u128;
    /// Added to any number of the type it makes it one without sign.
    #[doc(hidden)]
    const BIAS: u128;
    /// Whether there are negative ones.
    const SIGNED: bool;
    /// The largest magnitude among numbers of the type.
    #[doc(hidden)]
    fn largest_of(numbers: &[Self]) -> u128;
    #[doc(hidden)]
    fn magnitude(self) -> u128;
    /// Modulo 2^128, which is the number itself but for those of `u128` from 2^127 on.
    #[doc(hidden)]
    fn value(self) -> i128;
    #[doc(hidden)]
    fn is_negative(self) -> bool;
}

/// Integers that results can be: `i8` to `i128` and `u8` to `u128`.
pub trait Output:
    Copy + Send + Sync + Default + PartialEq + std::fmt::Debug + 'static + private::Sealed
{
    /// The largest number of the type; its negative is one of a signed type, too.
    const LARGEST: u128;
    /// Whether there are negative ones.
    const SIGNED: bool;
    /// As Rust calls it.
    const NAME: &'static str;
    /// The lowest bits.
    #[doc(hidden)]
    fn lowest(number: i128) -> Self;
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
}

macro_rules! operands {
    ($($type:ident $signed:literal;)*) => {$(
        impl Operand for $type {
            const LARGEST: u128 = if $signed { $type::MIN.abs_diff(0) as u128 } else { $type::MAX as u128 };
            const BIAS: u128 = if $signed { $type::MIN.abs_diff(0) as u128 } else { 0 };
            const SIGNED: bool = $signed;
            fn largest_of(numbers: &[$type]) -> u128 {
                // Compared as numbers of the type, as many as a vector holds.
                let magnitudes = numbers.iter().map(|number| number.abs_diff(0));
                magnitudes.max().unwrap_or(0) as u128
            }
            #[inline(always)]
            fn magnitude(self) -> u128 {
                self.abs_diff(0) as u128
            }
            #[inline(always)]
            fn value(self) -> i128 {
                self as i128
            }
            #[inline(always)]
            #[allow(unused_comparisons, reason = "for types without sign")]
            fn is_negative(self) -> bool {
                self < 0
            }
        }
    )*};
}

macro_rules! outputs {
    ($($type:ident $signed:literal)*) => {$(
        impl private::Sealed for $type {}
        impl Output for $type {
            const LARGEST: u128 = $type::MAX as u128;
            const SIGNED: bool = $signed;
            const NAME: &'static str = stringify!($type);
            #[inline(always)]
            fn lowest(number: i128) -> $type {
                number as $type
            }
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
        }
    )*};
}

operands! {
    i8 true;
    i16 true;
    i32 true;
    i64 true;
    i128 true;
    u8 false;
    u16 false;
    u32 false;
    u64 false;
    u128 false;
}
outputs! { i8 true i16 true i32 true i64 true i128 true u8 false u16 false u32 false u64 false u128 false }

/// Integers plus a bias that makes them positive: what all types become, so that no code is compiled for every pair of them.
pub(crate) struct Words {
    low: Vec<u64>,
    /// None where all numbers have 64 bits.
    high: Vec<u64>,
    bias: u128,
}

impl Words {
    /// Of numbers up to a magnitude.
    pub(crate) fn new<A: Operand>(numbers: &[A], largest: u128) -> Words {
        let largest = largest.min(A::LARGEST);
        // Those of 128 bits that a shorter type holds take no longer than those of that type.
        let bias = match size_of::<A>() {
            16 if largest < 1 << 63 => 1 << 63,
            _ => A::BIAS,
        };
        let is_long = bias > 1 << 63 || !A::SIGNED && largest > u128::from(u64::MAX);
        let biased = |number: &A| (number.value() as u128).wrapping_add(bias);
        let high = |number: &A| (biased(number) >> 64) as u64;
        Words {
            low: collected(numbers.iter().map(|number| biased(number) as u64)),
            high: match is_long {
                true => collected(numbers.iter().map(high)),
                false => Vec::new(),
            },
            bias,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.low.len()
    }

    /// So many numbers from a place on.
    pub(crate) fn part(&self, place: usize, length: usize) -> Numbers<'_> {
        let numbers = Numbers {
            low: &self.low,
            high: &self.high,
            bias: self.bias,
        };
        numbers.part(place, length)
    }
}

/// Some of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers<'a> {
    pub(crate) low: &'a [u64],
    pub(crate) high: &'a [u64],
    pub(crate) bias: u128,
}

impl<'a> Numbers<'a> {
    /// Of 64 bits without sign.
    pub(crate) fn unsigned(low: &'a [u64]) -> Numbers<'a> {
        Numbers {
            low,
            high: &[],
            bias: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.low.len()
    }

    fn part(self, place: usize, length: usize) -> Numbers<'a> {
        Numbers {
            low: &self.low[place..][..length],
            high: match self.high.is_empty() {
                true => &[],
                false => &self.high[place..][..length],
            },
            bias: self.bias,
        }
    }

    /// Piece by piece; the last one may be shorter.
    pub(crate) fn pieces(self, length: usize) -> impl Iterator<Item = Numbers<'a>> {
        let places = (0..self.len()).step_by(length);
        places.map(move |place| self.part(place, length.min(self.len() - place)))
    }

    /// Without the bias, modulo 2^64.
    pub(crate) fn short_values(self) -> impl Iterator<Item = i64> {
        let value = move |&low: &u64| low.wrapping_sub(self.bias as u64) as i64;
        self.low.iter().map(value)
    }

    /// Without the bias, modulo 2^128.
    pub(crate) fn values(self) -> impl Iterator<Item = i128> {
        let value = move |(place, &low): (usize, &u64)| {
            let high = self.high.get(place).copied().unwrap_or(0);
            let biased = u128::from(high) << 64 | u128::from(low);
            biased.wrapping_sub(self.bias) as i128
        };
        self.low.iter().enumerate().map(value)
    }
}

/// The largest magnitude among numbers.
///
/// ```
/// assert_eq!(exact_convolution::largest(&[3i8, -128, 5]), 128);
/// ```
pub fn largest<A: Operand>(numbers: &[A]) -> u128 {
    A::largest_of(numbers)
}
