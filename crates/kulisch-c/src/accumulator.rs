//! Accumulators that C programs hold: parts of a sum are computed anywhere and merged in any order.

use crate::numbers::{Number, Strided};
use exact::Accumulator;
use float_environment::with_default;

/// An empty sum, to be given to `kulisch_free`.
#[unsafe(no_mangle)]
pub extern "C" fn kulisch_new() -> *mut Accumulator {
    Box::into_raw(Box::new(Accumulator::new()))
}

/// Frees a sum; a null pointer is left alone.
///
/// # Safety
/// It came from `kulisch_new` or `kulisch_copy` and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_free(sum: *mut Accumulator) {
    if !sum.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(sum) });
    }
}

/// A sum with the same terms, to be given to `kulisch_free`.
///
/// # Safety
/// `sum` came from `kulisch_new` or `kulisch_copy`, here and below; only one thread uses it at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_copy(sum: *const Accumulator) -> *mut Accumulator {
    // SAFETY: the caller's promise.
    Box::into_raw(Box::new(unsafe { &*sum }.clone()))
}

/// Adds a number.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_add(sum: *mut Accumulator, term: f64) {
    // SAFETY: the caller's promise.
    with_default(|| unsafe { &mut *sum }.add(term));
}

/// Adds the exact product of two numbers.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_add_product(sum: *mut Accumulator, left: f64, right: f64) {
    // SAFETY: the caller's promise.
    with_default(|| unsafe { &mut *sum }.add_product(left, right));
}

/// Adds `n` numbers, `incx` numbers apart.
///
/// # Safety
/// As above, and the numbers are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_add_vector(
    sum: *mut Accumulator,
    n: isize,
    x: *const f64,
    incx: isize,
) {
    with_default(|| {
        // SAFETY: the caller's promise.
        let (sum, numbers) = unsafe { (&mut *sum, Strided::new(n, x, incx)) };
        // SAFETY: the same.
        sum.add_slice(&unsafe { numbers.doubles() });
    });
}

/// Adds the products of `n` pairs of numbers.
///
/// # Safety
/// As above, and the numbers are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_add_dot(
    sum: *mut Accumulator,
    n: isize,
    x: *const f64,
    incx: isize,
    y: *const f64,
    incy: isize,
) {
    with_default(|| {
        // SAFETY: the caller's promise.
        let (left, right) = unsafe { (Strided::new(n, x, incx), Strided::new(n, y, incy)) };
        // SAFETY: the same.
        let (sum, left, right) = unsafe { (&mut *sum, left.doubles(), right.doubles()) };
        sum.add_products(&left, &right)
            .expect("both have n numbers");
    });
}

/// Adds what another sum holds.
///
/// # Safety
/// As above, for two sums.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_merge(sum: *mut Accumulator, other: *const Accumulator) {
    // SAFETY: the caller's promise. A sum may be merged with itself.
    let other = unsafe { &*other }.clone();
    // SAFETY: the same.
    unsafe { &mut *sum }.merge(&other);
}

/// The sum, rounded to the nearest double.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_round(sum: *const Accumulator) -> f64 {
    // SAFETY: the caller's promise.
    f64::rounded(unsafe { &*sum })
}

/// The square root of the exact sum, rounded.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kulisch_square_root(sum: *const Accumulator) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { &*sum }.square_root()
}
