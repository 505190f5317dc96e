//! Wisdom: ozfft's own decisions as JSON. FFTW's wisdom is taken without complaint and without effect, since there is nothing to
//! choose between.

use crate::ffi::{guard_call, log};
use crate::number::Number;
use crate::options::verbose;
use crate::planning;
use crate::print::copied_for_c;
use std::ffi::{CStr, CString, OsStr, c_char, c_double, c_int, c_void};
use std::os::unix::ffi::OsStrExt;

/// What FFTW's own wisdom begins with.
const OF_FFTW: &str = "(fftw-";

/// 1 if the text is wisdom of ours, which is taken over, or of FFTW, which is ignored; else 0.
fn import<T: Number>(name: &str, text: &str) -> c_int {
    let text = text.trim();
    if text.starts_with(OF_FFTW) {
        if verbose() {
            log(&format!("{name}: wisdom of FFTW is accepted and ignored"));
        }
        return 1;
    }
    match planning::import::<T>(text) {
        Ok(()) => 1,
        Err(error) => {
            if verbose() {
                log(&format!("{name}: {error}"));
            }
            0
        }
    }
}

/// Wisdom as a text that C can have.
fn exported<T: Number>() -> CString {
    CString::new(planning::export::<T>() + "\n").unwrap_or_default()
}

/// A file of C, to its end.
///
/// # Safety
/// `file` is open for reading.
unsafe fn rest_of(file: *mut libc::FILE) -> String {
    let mut bytes = Vec::new();
    // SAFETY: the caller's promise.
    while let Ok(byte) = u8::try_from(unsafe { libc::fgetc(file) }) {
        bytes.push(byte);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The path that C passes.
///
/// # Safety
/// `name` is null or a text that ends in zero.
unsafe fn path<'a>(name: *const c_char) -> Option<&'a OsStr> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(OsStr::from_bytes(
        unsafe { CStr::from_ptr(name) }.to_bytes(),
    ))
}

macro_rules! wisdom_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// Writes wisdom to a file; 1 on success.
            #[unsafe(export_name = concat!($prefix, "export_wisdom_to_filename"))]
            pub unsafe extern "C" fn export_wisdom_to_filename(name: *const c_char) -> c_int {
                guard_call(concat!($prefix, "export_wisdom_to_filename"), 0, || {
                    // SAFETY: FFTW's manual asks the caller for a text.
                    let written = unsafe { path(name) }.is_some_and(|path| {
                        std::fs::write(path, exported::<$real>().as_bytes()).is_ok()
                    });
                    c_int::from(written)
                })
            }

            /// Writes wisdom to an open file.
            #[unsafe(export_name = concat!($prefix, "export_wisdom_to_file"))]
            pub unsafe extern "C" fn export_wisdom_to_file(file: *mut libc::FILE) {
                guard_call(concat!($prefix, "export_wisdom_to_file"), (), || {
                    if !file.is_null() {
                        // SAFETY: FFTW's manual asks the caller for an open file; the text ends in zero.
                        unsafe { libc::fputs(exported::<$real>().as_ptr(), file) };
                    }
                });
            }

            /// Wisdom as a text that the caller releases with `free`.
            #[unsafe(export_name = concat!($prefix, "export_wisdom_to_string"))]
            pub extern "C" fn export_wisdom_to_string() -> *mut c_char {
                let none = std::ptr::null_mut();
                guard_call(concat!($prefix, "export_wisdom_to_string"), none, || {
                    copied_for_c(&exported::<$real>())
                })
            }

            /// Wisdom, character by character.
            #[unsafe(export_name = concat!($prefix, "export_wisdom"))]
            pub unsafe extern "C" fn export_wisdom(
                write: Option<unsafe extern "C" fn(c_char, *mut c_void)>,
                data: *mut c_void,
            ) {
                guard_call(concat!($prefix, "export_wisdom"), (), || {
                    if let Some(write) = write {
                        for &byte in exported::<$real>().as_bytes() {
                            // SAFETY: FFTW's manual asks the caller for a function that takes this.
                            unsafe { write(byte as c_char, data) };
                        }
                    }
                });
            }

            /// FFTW's system-wide file is FFTW's: there is none of ours, and 0 says so.
            #[unsafe(export_name = concat!($prefix, "import_system_wisdom"))]
            pub extern "C" fn import_system_wisdom() -> c_int {
                0
            }

            /// Reads wisdom from a file; 1 on success.
            #[unsafe(export_name = concat!($prefix, "import_wisdom_from_filename"))]
            pub unsafe extern "C" fn import_wisdom_from_filename(name: *const c_char) -> c_int {
                guard_call(concat!($prefix, "import_wisdom_from_filename"), 0, || {
                    // SAFETY: FFTW's manual asks the caller for a text.
                    let text =
                        unsafe { path(name) }.and_then(|path| std::fs::read_to_string(path).ok());
                    text.map_or(0, |text| {
                        import::<$real>(concat!($prefix, "import_wisdom_from_filename"), &text)
                    })
                })
            }

            /// Reads wisdom from an open file; 1 on success.
            #[unsafe(export_name = concat!($prefix, "import_wisdom_from_file"))]
            pub unsafe extern "C" fn import_wisdom_from_file(file: *mut libc::FILE) -> c_int {
                guard_call(concat!($prefix, "import_wisdom_from_file"), 0, || {
                    if file.is_null() {
                        return 0;
                    }
                    // SAFETY: FFTW's manual asks the caller for an open file.
                    let text = unsafe { rest_of(file) };
                    import::<$real>(concat!($prefix, "import_wisdom_from_file"), &text)
                })
            }

            /// Reads wisdom from a text; 1 on success.
            #[unsafe(export_name = concat!($prefix, "import_wisdom_from_string"))]
            pub unsafe extern "C" fn import_wisdom_from_string(text: *const c_char) -> c_int {
                guard_call(concat!($prefix, "import_wisdom_from_string"), 0, || {
                    if text.is_null() {
                        return 0;
                    }
                    // SAFETY: FFTW's manual asks the caller for a text.
                    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
                    import::<$real>(concat!($prefix, "import_wisdom_from_string"), &text)
                })
            }

            /// Reads wisdom character by character, to the first that is negative; 1 on success.
            #[unsafe(export_name = concat!($prefix, "import_wisdom"))]
            pub unsafe extern "C" fn import_wisdom(
                read: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
                data: *mut c_void,
            ) -> c_int {
                guard_call(concat!($prefix, "import_wisdom"), 0, || {
                    let Some(read) = read else { return 0 };
                    let mut bytes = Vec::new();
                    // SAFETY: FFTW's manual asks the caller for a function that takes this. A zero ends texts that know no other end.
                    while let Ok(byte @ 1..) = u8::try_from(unsafe { read(data) }) {
                        bytes.push(byte);
                    }
                    import::<$real>(
                        concat!($prefix, "import_wisdom"),
                        &String::from_utf8_lossy(&bytes),
                    )
                })
            }

            /// Forgets what was imported and planned. Plans stay usable.
            #[unsafe(export_name = concat!($prefix, "forget_wisdom"))]
            pub extern "C" fn forget_wisdom() {
                guard_call(
                    concat!($prefix, "forget_wisdom"),
                    (),
                    planning::forget::<$real>,
                );
            }

            /// Planning does not search, so no limit can be exceeded.
            #[unsafe(export_name = concat!($prefix, "set_timelimit"))]
            pub extern "C" fn set_timelimit(_seconds: c_double) {}
        }
    };
}
wisdom_entry_points!(double, f64, "fftw_");
wisdom_entry_points!(single, f32, "fftwf_");
