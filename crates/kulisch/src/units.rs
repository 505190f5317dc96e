//! The block algorithms, compiled once for every instruction set and chosen while the program runs.

pub(crate) use crate::blocks::ColumnSums;
use crate::blocks::{self, Levels, Products};
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use crate::lanes::{Avx2Lanes, Avx512Lanes};
use crate::lanes::{Instructions, Lanes, PortableLanes};

/// Instructions that the processor has: there is no other way to make one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit(Instructions);

impl Unit {
    /// The fastest.
    #[inline]
    pub fn best() -> Unit {
        Unit(Instructions::best())
    }

    /// These, if the processor has them.
    pub fn of(instructions: Instructions) -> Option<Unit> {
        instructions.available().then_some(Unit(instructions))
    }
}

/// Makes a function that runs its body with the lanes of a unit.
macro_rules! chosen {
    ($(#[$note:meta])* fn $name:ident [$($generics:tt)*] [$($passed:tt)*] ($($argument:ident: $type:ty),* $(,)?) -> $result:ty,
     $lanes:ident => $body:expr) => {
        $(#[$note])*
        #[inline]
        pub(crate) fn $name<$($generics)*>(unit: Unit, $($argument: $type),*) -> $result {
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512<$($generics)*>($($argument: $type),*) -> $result {
                type $lanes = Avx512Lanes;
                $body
            }
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<$($generics)*>($($argument: $type),*) -> $result {
                type $lanes = Avx2Lanes;
                $body
            }
            fn portable<$($generics)*>($($argument: $type),*) -> $result {
                type $lanes = PortableLanes;
                $body
            }
            match unit.0 {
                // SAFETY: a unit is made only of instructions that the processor has.
                #[cfg(all(feature = "std", target_arch = "x86_64"))]
                #[allow(unsafe_code)]
                Instructions::Avx512 => unsafe { avx512::<$($passed)*>($($argument),*) },
                // SAFETY: the same.
                #[cfg(all(feature = "std", target_arch = "x86_64"))]
                #[allow(unsafe_code)]
                Instructions::Avx2 => unsafe { avx2::<$($passed)*>($($argument),*) },
                _ => portable::<$($passed)*>($($argument),*),
            }
        }
    };
}

chosen! {
    /// How many lanes there are.
    fn lanes[][]() -> usize,
    V => V::COUNT
}

chosen! {
    /// See [`blocks::sum`].
    fn sum[const LEVELS: usize, const MAGNITUDES: bool][LEVELS, MAGNITUDES](
        values: &[f64],
        top: i32,
    ) -> Option<Levels<LEVELS>>,
    V => blocks::sum::<V, LEVELS, MAGNITUDES>(values, top)
}

chosen! {
    /// See [`blocks::dot`].
    fn dot[const LEVELS: usize][LEVELS](
        left: &[f64],
        right: &[f64],
        top: i32,
    ) -> Option<Products<LEVELS>>,
    V => blocks::dot::<V, LEVELS>(left, right, top)
}

chosen! {
    /// See [`blocks::columns`].
    fn columns[][](
        coefficients: &[f64],
        values: &[f64],
        starts: (&[usize], usize),
        top: i32,
    ) -> Option<ColumnSums>,
    V => blocks::columns::<V>(coefficients, values, starts, top)
}

chosen! {
    /// See [`blocks::largest`].
    fn largest[][](values: &[f64]) -> f64,
    V => blocks::largest::<V>(values)
}

chosen! {
    /// See [`blocks::extremes`].
    fn extremes[][](values: &[f64]) -> (u64, u64),
    V => {
        let _ = V::COUNT;
        blocks::extremes(values)
    }
}

chosen! {
    /// See [`blocks::any_tiny_product`].
    fn any_tiny_product[][](left: &[f64], right: &[f64]) -> bool,
    V => {
        let _ = V::COUNT;
        blocks::any_tiny_product(left, right)
    }
}

chosen! {
    /// See [`blocks::split_products`].
    fn split_products[][](left: &[f64], right: &[f64], high: &mut [f64], low: &mut [f64]) -> (),
    V => blocks::split_products::<V>(left, right, high, low)
}
