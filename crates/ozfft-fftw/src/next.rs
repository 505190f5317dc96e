//! Plans that are not ours: the same function of the next library has them.

use crate::log::end;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Calls that were passed on.
static PASSED_ON: AtomicU64 = AtomicU64::new(0);

pub(crate) fn passed_on() -> u64 {
    PASSED_ON.load(Ordering::Relaxed)
}

/// The address of a function in the libraries that come after this one; null where none has it.
pub(crate) fn look_up(name: &str) -> *mut c_void {
    let Ok(name) = CString::new(name) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the name ends in zero.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// The same for a call with a foreign plan, cached in `found`. Ends the program where there is none: nothing else can be done
/// with such a plan.
pub(crate) fn function(name: &str, found: &AtomicPtr<c_void>) -> *mut c_void {
    PASSED_ON.fetch_add(1, Ordering::Relaxed);
    let known = found.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let function = look_up(name);
    if function.is_null() {
        end(&format!(
            "{name}: the plan was not made by this library, and no other library that was loaded after it has {name}; \
             the program is ended: make and use plans by one library"
        ));
    }
    found.store(function, Ordering::Relaxed);
    function
}

/// Calls the function of the next library that has this name and this type.
macro_rules! pass_on {
    ($name:expr, fn($($type:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        static FOUND: std::sync::atomic::AtomicPtr<std::ffi::c_void> =
            std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
        let function = $crate::next::function($name, &FOUND);
        // SAFETY: a function of that name has the type that fftw3.h gives it, and the arguments are the caller's own.
        unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(function)(
                $($argument),*
            )
        }
    }};
}
pub(crate) use pass_on;
