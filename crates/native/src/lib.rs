//! Plans of RustFFT and RealFFT for f64 and f32.
//!
//! Both libraries are generic over the number type, so whoever calls their planners compiles all their kernels: a third of the
//! code of a crate, again in its tests, and again in the next crate. Here it is done once; others only see trait objects.
#![warn(missing_docs)]

pub use realfft::{ComplexToReal, FftError, RealToComplex};
pub use rustfft::Fft;
use std::sync::Arc;

/// The number types that there are plans for: `f64` and `f32`.
pub trait Planned: rustfft::FftNum {
    /// A complex transform with exp(-i…), unscaled.
    fn complex(n: usize) -> Arc<dyn Fft<Self>>;
    /// From `n` real numbers to half a spectrum, with exp(-i…), unscaled.
    fn real_to_complex(n: usize) -> Arc<dyn RealToComplex<Self>>;
    /// From half a spectrum to `n` real numbers, with exp(+i…), unscaled.
    fn complex_to_real(n: usize) -> Arc<dyn ComplexToReal<Self>>;
}

macro_rules! planned {
    ($($number:ty),*) => {$(
        impl Planned for $number {
            #[inline(never)]
            fn complex(n: usize) -> Arc<dyn Fft<Self>> {
                rustfft::FftPlanner::new().plan_fft_forward(n)
            }

            #[inline(never)]
            fn real_to_complex(n: usize) -> Arc<dyn RealToComplex<Self>> {
                realfft::RealFftPlanner::new().plan_fft_forward(n)
            }

            #[inline(never)]
            fn complex_to_real(n: usize) -> Arc<dyn ComplexToReal<Self>> {
                realfft::RealFftPlanner::new().plan_fft_inverse(n)
            }
        }
    )*};
}
planned!(f32, f64);
