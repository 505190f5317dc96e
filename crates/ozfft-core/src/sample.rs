//! The numbers of the caller's arrays, and the last rounding: a wide integer times a power of two to f64 or f32.

use num_complex::Complex;

mod sealed {
    #[cfg(not(feature = "native"))]
    pub trait Sealed {}
    #[cfg(feature = "native")]
    pub trait Sealed: rustfft::FftNum {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A real number type that arrays may hold: `f64` or `f32`. [`T::default()`](Default::default) is zero.
pub trait Real: sealed::Sealed + bytemuck::Pod + Default + PartialOrd + Send + Sync {
    /// Name in saved plans.
    #[doc(hidden)]
    const NAME: &'static str;
    #[doc(hidden)]
    const IS_DOUBLE: bool;
    /// Numbers are below 2 to this power.
    #[doc(hidden)]
    const LARGEST_EXPONENT: i32;
    /// Half the spacing of the numbers just above 1: the largest relative error of one rounding.
    #[doc(hidden)]
    const UNIT_ROUNDOFF: f64;
    /// Exact for both types.
    #[doc(hidden)]
    fn widen(self) -> f64;
    /// The nearest number of this type.
    #[doc(hidden)]
    fn narrow(value: f64) -> Self;
    /// `value · 2^exponent`, rounded once to nearest, ties to even; overflow gives an infinity.
    #[doc(hidden)]
    fn from_fixed(value: i128, exponent: i32) -> Self;
    /// RustFFT's transform with exp(-i…), unscaled. RustFFT and RealFFT are generic over the number type, so whoever calls their
    /// planners compiles all their kernels: these functions are compiled once, here.
    #[cfg(feature = "native")]
    #[doc(hidden)]
    fn native_complex(n: usize) -> std::sync::Arc<dyn rustfft::Fft<Self>>;
    /// RustFFT's with exp(+i…), unscaled.
    #[cfg(feature = "native")]
    #[doc(hidden)]
    fn native_inverse(n: usize) -> std::sync::Arc<dyn rustfft::Fft<Self>>;
    /// RealFFT's from `n` real numbers to half a spectrum, with exp(-i…), unscaled.
    #[cfg(feature = "native")]
    #[doc(hidden)]
    fn native_real_to_complex(n: usize) -> std::sync::Arc<dyn realfft::RealToComplex<Self>>;
    /// RealFFT's from half a spectrum to `n` real numbers, with exp(+i…), unscaled.
    #[cfg(feature = "native")]
    #[doc(hidden)]
    fn native_complex_to_real(n: usize) -> std::sync::Arc<dyn realfft::ComplexToReal<Self>>;
}

/// The functions of RustFFT and RealFFT, for one number type.
macro_rules! native_plans {
    () => {
        #[cfg(feature = "native")]
        #[inline(never)]
        fn native_complex(n: usize) -> std::sync::Arc<dyn rustfft::Fft<Self>> {
            rustfft::FftPlanner::new().plan_fft_forward(n)
        }

        #[cfg(feature = "native")]
        #[inline(never)]
        fn native_inverse(n: usize) -> std::sync::Arc<dyn rustfft::Fft<Self>> {
            rustfft::FftPlanner::new().plan_fft_inverse(n)
        }

        #[cfg(feature = "native")]
        #[inline(never)]
        fn native_real_to_complex(n: usize) -> std::sync::Arc<dyn realfft::RealToComplex<Self>> {
            realfft::RealFftPlanner::new().plan_fft_forward(n)
        }

        #[cfg(feature = "native")]
        #[inline(never)]
        fn native_complex_to_real(n: usize) -> std::sync::Arc<dyn realfft::ComplexToReal<Self>> {
            realfft::RealFftPlanner::new().plan_fft_inverse(n)
        }
    };
}

/// Rounds `magnitude · 2^exponent` to `precision` bits and returns the exponent and fraction fields as one integer.
///
/// Only integer operations: the same code serves on hardware without floating point, and rounding into the
/// subnormal range happens once, at the right place.
#[inline]
fn round_to_fields(magnitude: u128, exponent: i32, precision: u32, lowest_exponent: i32) -> u64 {
    let length = 128 - magnitude.leading_zeros() as i32;
    // The last kept bit has this exponent: relative to the leading bit, but never below the subnormal spacing.
    let last = (length + exponent - precision as i32).max(lowest_exponent);
    let drop = last - exponent;
    let significand = if drop <= 0 {
        (magnitude << -drop) as u64
    } else if drop >= 128 {
        0
    } else {
        let floor = (magnitude >> drop) as u64;
        let rest = magnitude << (128 - drop);
        let half = 1u128 << 127;
        floor + u64::from(rest > half || (rest == half && floor & 1 == 1))
    };
    // A normal significand carries into the exponent field through its hidden bit; a rounding carry does the same.
    let field = (last - lowest_exponent) as u64;
    let overflow = field > 1 << 11;
    if overflow {
        u64::MAX
    } else {
        (field << (precision - 1)) + significand
    }
}

impl Real for f64 {
    native_plans!();

    const NAME: &'static str = "f64";
    const IS_DOUBLE: bool = true;
    const LARGEST_EXPONENT: i32 = 1024;
    const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

    #[inline]
    fn widen(self) -> f64 {
        self
    }

    #[inline]
    fn narrow(value: f64) -> f64 {
        value
    }

    #[inline]
    fn from_fixed(value: i128, exponent: i32) -> f64 {
        if value == 0 {
            return 0.0;
        }
        let fields = round_to_fields(value.unsigned_abs(), exponent, 53, -1074);
        let infinity = f64::INFINITY.to_bits();
        let magnitude = f64::from_bits(fields.min(infinity));
        if value < 0 { -magnitude } else { magnitude }
    }
}

impl Real for f32 {
    native_plans!();

    const NAME: &'static str = "f32";
    const IS_DOUBLE: bool = false;
    const LARGEST_EXPONENT: i32 = 128;
    const UNIT_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;

    #[inline]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn narrow(value: f64) -> f32 {
        value as f32
    }

    #[inline]
    fn from_fixed(value: i128, exponent: i32) -> f32 {
        if value == 0 {
            return 0.0;
        }
        let fields = round_to_fields(value.unsigned_abs(), exponent, 24, -149);
        let infinity = u64::from(f32::INFINITY.to_bits());
        let magnitude = f32::from_bits(fields.min(infinity) as u32);
        if value < 0 { -magnitude } else { magnitude }
    }
}

/// Swaps real and imaginary part: applied to input and output it turns a forward transform into an inverse one.
#[inline]
pub(crate) fn swapped<T>(z: Complex<T>) -> Complex<T> {
    Complex { re: z.im, im: z.re }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_machine_conversion_in_the_normal_range() {
        let mut state = 1u64;
        for i in 0..200_000u32 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let value = i128::from(state as i64) << (i % 60) >> (i % 17);
            assert_eq!(f64::from_fixed(value, 0), value as f64);
            assert_eq!(f32::from_fixed(value, 0), value as f32);
            assert_eq!(f64::from_fixed(value, -300), value as f64 * 2f64.powi(-300));
        }
    }

    #[test]
    fn subnormals_are_rounded_once() {
        assert_eq!(f64::from_fixed(1, -1074), f64::from_bits(1));
        assert_eq!(f64::from_fixed(3, -1075), f64::from_bits(2), "tie to even");
        assert_eq!(f64::from_fixed(1, -1075), 0.0);
        assert_eq!(f64::from_fixed(5, -1076), f64::from_bits(1));
        assert_eq!(
            f64::from_fixed((1 << 52) - 1, -1074),
            f64::from_bits((1 << 52) - 1)
        );
        assert_eq!(f64::from_fixed((1 << 53) - 1, -1075), f64::MIN_POSITIVE);
        assert_eq!(f64::from_fixed(1, -5000), 0.0);
        assert_eq!(f32::from_fixed(1, -149), f32::from_bits(1));
    }

    #[test]
    fn overflow_gives_infinity_and_nothing_earlier() {
        assert_eq!(f64::from_fixed((1 << 53) - 1, 971), f64::MAX);
        assert_eq!(f64::from_fixed((1 << 54) - 1, 970), f64::INFINITY);
        assert_eq!(f64::from_fixed(-1, 1024), f64::NEG_INFINITY);
        assert_eq!(f64::from_fixed(1, 1_000_000), f64::INFINITY);
        assert_eq!(f32::from_fixed(1, 128), f32::INFINITY);
        assert_eq!(f32::from_fixed(1, 127), 2f32.powi(127));
        assert_eq!(f32::from_fixed(1, 3000), f32::INFINITY);
    }

    #[test]
    fn zero_has_no_sign() {
        assert!(f64::from_fixed(0, 5).is_sign_positive());
    }
}
