//! Sums, sums of magnitudes, norms and dot products of strided vectors.

use crate::numbers::{Number, Strided};
use exact::Accumulator;
use float_environment::with_default;

/// Defines the C names for both precisions.
macro_rules! reductions {
    ($($number:ty: $sum:ident, $asum:ident, $nrm2:ident, $dot:ident;)*) => {$(
        /// The sum, rounded once.
        ///
        /// # Safety
        /// `x` has `n` numbers, `incx` numbers apart.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $sum(n: isize, x: *const $number, incx: isize) -> $number {
            // SAFETY: the caller's promise.
            unsafe { accumulated(n, x, incx, Accumulator::add_slice) }
        }

        /// The sum of magnitudes, rounded once.
        ///
        /// # Safety
        /// As for the sum.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $asum(n: isize, x: *const $number, incx: isize) -> $number {
            // SAFETY: the caller's promise.
            unsafe { accumulated(n, x, incx, Accumulator::add_magnitudes) }
        }

        /// The square root of the exact sum of squares, rounded.
        ///
        /// # Safety
        /// As for the sum.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $nrm2(n: isize, x: *const $number, incx: isize) -> $number {
            with_default(|| {
                // SAFETY: the caller's promise.
                let numbers = unsafe { Strided::new(n, x, incx) };
                // SAFETY: the same.
                let root = exact::norm(&unsafe { numbers.doubles() });
                root as $number
            })
        }

        /// The sum of products, rounded once.
        ///
        /// # Safety
        /// `x` and `y` have `n` numbers each, so many numbers apart.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dot(
            n: isize,
            x: *const $number,
            incx: isize,
            y: *const $number,
            incy: isize,
        ) -> $number {
            with_default(|| {
                // SAFETY: the caller's promise.
                let (left, right) = unsafe { (Strided::new(n, x, incx), Strided::new(n, y, incy)) };
                let mut sum = Accumulator::new();
                // SAFETY: the same.
                let (left, right) = unsafe { (left.doubles(), right.doubles()) };
                sum.add_products(&left, &right).expect("both have n numbers");
                <$number>::rounded(&sum)
            })
        }
    )*};
}

reductions! {
    f64: kulisch_dsum, kulisch_dasum, kulisch_dnrm2, kulisch_ddot;
    f32: kulisch_ssum, kulisch_sasum, kulisch_snrm2, kulisch_sdot;
}

/// # Safety
/// `x` has `n` numbers, `incx` numbers apart.
unsafe fn accumulated<T: Number>(
    n: isize,
    x: *const T,
    incx: isize,
    add: fn(&mut Accumulator, &[f64]),
) -> T {
    with_default(|| {
        // SAFETY: the caller's promise.
        let numbers = unsafe { Strided::new(n, x, incx) };
        let mut sum = Accumulator::new();
        // SAFETY: the same.
        add(&mut sum, &unsafe { numbers.doubles() });
        T::rounded(&sum)
    })
}
