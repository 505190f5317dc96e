//! Memory and the end of it.

use crate::ffi::guard_call;
use crate::next;
use crate::planning;
use crate::process::Process;
use num_complex::Complex;
use std::ffi::{c_int, c_void};

/// A cache line: what vector instructions like best.
const ALIGNMENT: usize = 64;

/// Aligned memory of the C library, so that `free` and the `fftw_free` of any FFTW can give it back; null where there is none.
fn aligned(size: Option<usize>) -> *mut c_void {
    let mut memory = std::ptr::null_mut();
    let Some(size) = size else {
        return memory;
    };
    // SAFETY: the alignment is a power of two and a multiple of a pointer's size.
    let failed = unsafe { libc::posix_memalign(&mut memory, ALIGNMENT, size.max(1)) };
    if failed == 0 {
        memory
    } else {
        std::ptr::null_mut()
    }
}

/// Gives memory that is free back to the system: the C library would keep it for later.
fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call takes a number and touches no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has the next library clean up as well, where it has made plans that this program used.
fn pass_on(name: &str) {
    if next::passed_on() == 0 {
        return;
    }
    let function = next::look_up(name);
    if !function.is_null() {
        // SAFETY: functions of this name take and return nothing.
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(function)() };
    }
}

macro_rules! memory_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// Aligned memory; null where there is none.
            #[unsafe(export_name = concat!($prefix, "malloc"))]
            pub extern "C" fn malloc(size: usize) -> *mut c_void {
                aligned(Some(size))
            }

            /// Memory for so many real numbers.
            #[unsafe(export_name = concat!($prefix, "alloc_real"))]
            pub extern "C" fn alloc_real(count: usize) -> *mut $real {
                aligned(count.checked_mul(size_of::<$real>())).cast()
            }

            /// Memory for so many complex numbers.
            #[unsafe(export_name = concat!($prefix, "alloc_complex"))]
            pub extern "C" fn alloc_complex(count: usize) -> *mut Complex<$real> {
                aligned(count.checked_mul(size_of::<Complex<$real>>())).cast()
            }

            /// Gives memory back; null is nothing.
            #[unsafe(export_name = concat!($prefix, "free"))]
            pub unsafe extern "C" fn free(memory: *mut c_void) {
                // SAFETY: FFTW's manual asks the caller for memory of `fftw_malloc` that is not used again.
                unsafe { libc::free(memory) }
            }

            /// The address modulo 16, as FFTW with SSE2 has it. Plans take any address; 0 is what new arrays are usually
            /// compared with.
            #[unsafe(export_name = concat!($prefix, "alignment_of"))]
            pub extern "C" fn alignment_of(array: *mut $real) -> c_int {
                (array.addr() % 16) as c_int
            }

            /// Clears wisdom, and plans and tables that are not in use; threads end, and memory is returned to the system. Plans that
            /// have not been destroyed stay usable, other than in FFTW.
            #[unsafe(export_name = concat!($prefix, "cleanup"))]
            pub extern "C" fn cleanup() {
                guard_call(concat!($prefix, "cleanup"), (), || {
                    planning::forget::<$real>();
                    Process::current().end_pool();
                    trim();
                });
                pass_on(concat!($prefix, "cleanup"));
            }
        }
    };
}
memory_entry_points!(double, f64, "fftw_");
memory_entry_points!(single, f32, "fftwf_");
