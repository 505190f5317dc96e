//! Wisdom: ozfft's own decisions as JSON. FFTW's wisdom is taken without complaint and without effect, since there is nothing to
//! choose between.

use crate::entry_points::print::copied_for_c;
use crate::ffi::guard_call;
use crate::log::log;
use crate::number::Number;
use crate::options::verbose;
use crate::planning;
use serde_json::Deserializer;
use std::ffi::{CStr, CString, OsStr, c_char, c_double, c_int, c_void};
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::ffi::OsStrExt;

/// What FFTW's own wisdom begins with.
const OF_FFTW: &[u8] = b"(fftw-";

/// Bytes of the longest wisdom that is read: thousands of times that of a program with many plans. Some files, and some functions, never end.
const LONGEST: usize = 64 << 20;

/// Reads wisdom from a source, to its closing bracket and no further, and keeps what it has read.
struct Reader<R> {
    source: R,
    text: Vec<u8>,
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.text.len() >= LONGEST {
            let message = format!("it has more than {LONGEST} bytes, which no wisdom of ozfft has");
            return Err(std::io::Error::other(message));
        }
        // One by one, so that no character behind the last is taken from the caller.
        let count = match buffer {
            [] => 0,
            [first, ..] => self.source.read(std::slice::from_mut(first))?,
        };
        self.text.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// Why a text is no wisdom.
type Rejected = Box<dyn std::error::Error>;

impl<R: Read> Reader<R> {
    fn next(&mut self) -> Result<u8, Rejected> {
        let mut byte = [0];
        match self.read(&mut byte)? {
            0 => Err("it ends before its closing bracket".into()),
            _ => Ok(byte[0]),
        }
    }

    /// Takes over wisdom of ours; false for FFTW's, which is passed over.
    fn import<T: Number>(&mut self) -> Result<bool, Rejected> {
        let mut first = self.next()?;
        while first.is_ascii_whitespace() {
            first = self.next()?;
        }
        match first {
            b'{' => {
                let text = (&b"{"[..]).chain(&mut *self);
                let mut values = Deserializer::from_reader(text).into_iter::<serde_json::Value>();
                values.next().transpose()?;
                planning::import::<T>(std::str::from_utf8(&self.text)?)?;
                Ok(true)
            }
            b'(' => self.pass_over(self.text.len() - 1).map(|()| false),
            _ => Err("it begins neither as ozfft's wisdom nor as FFTW's".into()),
        }
    }

    /// Reads the rest of FFTW's wisdom, whose bracket is at `start`.
    fn pass_over(&mut self, start: usize) -> Result<(), Rejected> {
        let mut open = 1;
        while open > 0 {
            match self.next()? {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            let known = (self.text.len() - start).min(OF_FFTW.len());
            if self.text[start..start + known] != OF_FFTW[..known] {
                return Err("it begins neither as ozfft's wisdom nor as FFTW's".into());
            }
        }
        Ok(())
    }
}

/// 1 if the text begins with wisdom of ours, which is taken over, or of FFTW, which is ignored; else 0.
fn import<T: Number>(name: &str, source: impl Read) -> c_int {
    let text = Vec::new();
    let outcome = Reader { source, text }.import::<T>();
    if verbose() {
        match &outcome {
            Ok(true) => {}
            Ok(false) => log(&format!("{name}: wisdom of FFTW is accepted and ignored")),
            Err(error) => log(&format!("{name}: no wisdom: {error}")),
        }
    }
    c_int::from(outcome.is_ok())
}

/// The characters that a function of C returns, to the first that is none.
struct Characters<F>(F);

impl<F: FnMut() -> c_int> Read for Characters<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some(place) = buffer.first_mut() else {
            return Ok(0);
        };
        // A zero ends texts that know no other end.
        match u8::try_from((self.0)()) {
            Ok(byte @ 1..) => {
                *place = byte;
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

/// Wisdom as a text that C can have.
fn exported<T: Number>() -> CString {
    CString::new(planning::export::<T>() + "\n").unwrap_or_default()
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
                    let file = unsafe { path(name) }.and_then(|path| File::open(path).ok());
                    let name = concat!($prefix, "import_wisdom_from_filename");
                    file.map_or(0, |file| import::<$real>(name, BufReader::new(file)))
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
                    let characters = Characters(|| unsafe { libc::fgetc(file) });
                    import::<$real>(concat!($prefix, "import_wisdom_from_file"), characters)
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
                    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
                    import::<$real>(concat!($prefix, "import_wisdom_from_string"), text)
                })
            }

            /// Reads wisdom character by character, to the first that is negative or belongs to none; 1 on success.
            #[unsafe(export_name = concat!($prefix, "import_wisdom"))]
            pub unsafe extern "C" fn import_wisdom(
                read: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
                data: *mut c_void,
            ) -> c_int {
                guard_call(concat!($prefix, "import_wisdom"), 0, || {
                    let Some(read) = read else { return 0 };
                    // SAFETY: FFTW's manual asks the caller for a function that takes this.
                    let characters = Characters(|| unsafe { read(data) });
                    import::<$real>(concat!($prefix, "import_wisdom"), characters)
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
