//! The types of operands and results.

mod private {
    pub trait Sealed {}
}

/// Integers that can be convolved: `i8` to `i64` and `u8` to `u64`.
pub trait Operand: Copy + Send + Sync + 'static + private::Sealed {
    /// The largest magnitude of the type.
    const LARGEST: u64;
    /// Subtracted from [`Operand::biased`] it gives the number.
    #[doc(hidden)]
    const BIAS: u64;
    /// Whether there are negative ones.
    const SIGNED: bool;
    #[doc(hidden)]
    fn magnitude(self) -> u64;
    #[doc(hidden)]
    fn biased(self) -> u64;
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
    ($($type:ident $signed:literal $bias:expr;)*) => {$(
        impl Operand for $type {
            const LARGEST: u64 = if $signed { $type::MIN.abs_diff(0) as u64 } else { $type::MAX as u64 };
            const BIAS: u64 = $bias;
            const SIGNED: bool = $signed;
            #[inline(always)]
            fn magnitude(self) -> u64 {
                self.abs_diff(0) as u64
            }
            #[inline(always)]
            fn biased(self) -> u64 {
                (self as u64).wrapping_add($bias)
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
    i8 true 1 << 7;
    i16 true 1 << 15;
    i32 true 1 << 31;
    i64 true 1 << 63;
    u8 false 0;
    u16 false 0;
    u32 false 0;
    u64 false 0;
}
outputs! { i8 true i16 true i32 true i64 true i128 true u8 false u16 false u32 false u64 false u128 false }

/// Integers plus a bias that makes them positive: what all types become, so that no code is compiled for every pair of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers<'a> {
    pub(crate) biased: &'a [u64],
    pub(crate) bias: u64,
}

/// The largest magnitude among numbers.
///
/// ```
/// assert_eq!(exact_convolution::largest(&[3i8, -128, 5]), 128);
/// ```
pub fn largest<A: Operand>(numbers: &[A]) -> u64 {
    numbers
        .iter()
        .map(|number| number.magnitude())
        .max()
        .unwrap_or(0)
}
