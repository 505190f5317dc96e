//! Memory and the end of it.

use crate::door::quiet_door;
use crate::planning;
use num_complex::Complex;
use std::ffi::{c_int, c_void};

/// A cache line: what vector instructions like best.
const ALIGNMENT: usize = 64;

/// Aligned memory of the C library, so that `free` and the `fftw_free` of any FFTW can give it back; null where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_malloc(size: usize) -> *mut c_void {
    let mut memory = std::ptr::null_mut();
    // SAFETY: the alignment is a power of two and a multiple of a pointer's size.
    let failed = unsafe { libc::posix_memalign(&mut memory, ALIGNMENT, size.max(1)) };
    if failed == 0 {
        memory
    } else {
        std::ptr::null_mut()
    }
}

/// Memory for so many real numbers.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_alloc_real(count: usize) -> *mut f64 {
    match count.checked_mul(size_of::<f64>()) {
        Some(size) => fftw_malloc(size).cast(),
        None => std::ptr::null_mut(),
    }
}

/// Memory for so many complex numbers.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_alloc_complex(count: usize) -> *mut Complex<f64> {
    match count.checked_mul(size_of::<Complex<f64>>()) {
        Some(size) => fftw_malloc(size).cast(),
        None => std::ptr::null_mut(),
    }
}

/// Gives memory back; null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fftw_free(memory: *mut c_void) {
    // SAFETY: FFTW's manual asks the caller for memory of `fftw_malloc` that is not used again.
    unsafe { libc::free(memory) }
}

/// The address modulo 16, as FFTW with SSE2 has it. Plans take any address; 0 is what new arrays are usually compared with.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_alignment_of(array: *mut f64) -> c_int {
    (array.addr() % 16) as c_int
}

/// Forgets wisdom, and plans and tables that nobody holds. Plans that have not been destroyed stay usable, other than in FFTW.
#[unsafe(no_mangle)]
pub extern "C" fn fftw_cleanup() {
    quiet_door("fftw_cleanup", (), planning::forget);
}
