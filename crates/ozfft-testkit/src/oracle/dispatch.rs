//! Runs a hot loop with the best instructions the processor has.

use crate::oracle::double_double::{Baseline, ExactProduct};

/// A hot loop, generic over the method of exact products.
///
/// Implementations must be `#[inline(always)]`, down to the arithmetic: only then does the loop get compiled a
/// second time inside [`with_wide_vectors`], where the compiler may use fused operations and wide vectors.
pub(crate) trait Kernel {
    type Output;
    fn run<P: ExactProduct>(self) -> Self::Output;
}

/// Runs the kernel in the fastest variant. All variants agree to the accuracy of double-double arithmetic.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(test)]
    if tests::PORTABLE.load(std::sync::atomic::Ordering::Relaxed) {
        return kernel.run::<crate::oracle::double_double::Split>();
    }
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the two features the function is compiled for have just been detected.
            #[allow(unsafe_code)]
            return unsafe { with_wide_vectors(kernel) };
        }
    }
    kernel.run::<Baseline>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_wide_vectors<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<crate::oracle::double_double::Fused>()
}

#[cfg(test)]
mod tests {
    use crate::oracle::multiprecision;
    use crate::oracle::{Direction, dft, dft_sampled, inputs};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether kernels run in the variant for processors without fused operations. Other tests may see it set
    /// meanwhile; none of them depends on the variant.
    pub(super) static PORTABLE: AtomicBool = AtomicBool::new(false);

    #[test]
    fn the_portable_variant_is_as_accurate() {
        for length in [20, 48, 73, 97, 121, 142] {
            let line = inputs::uniform_complex(length, 1);
            let exact = multiprecision::dft(&line, Direction::Forward, 192);
            let usual = dft(&line, Direction::Forward);
            PORTABLE.store(true, Ordering::Relaxed);
            let portable = dft(&line, Direction::Forward);
            let sampled = dft_sampled(&line, &[length], &[1], Direction::Forward);
            PORTABLE.store(false, Ordering::Relaxed);
            for spectrum in [&usual, &portable] {
                let error = multiprecision::relative_l2(spectrum, &exact);
                assert!(error < 3e-31, "length {length}: {error:e}");
            }
            let error = sampled.values[0] - usual.values[1];
            assert!(error.norm_sqr().to_f64().sqrt() * 2f64.powi(usual.exponent) < 1e-29);
        }
    }
}
