//! Messages on standard error, and the end of the program.

use crate::options::{OnError, on_error};
use std::io::Write;

/// One line on standard error, in one piece: the ranks of a parallel program may share it. Errors of a closed stream are ignored.
pub(crate) fn log(text: &str) {
    let line = format!("ozfft-fftw: {text}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Failures that FFTW's interface cannot return: logged, then the program is aborted, since its results would be wrong;
/// unless `OZFFT_ON_ERROR=null` asks for that.
pub(crate) fn fail(text: &str) {
    match on_error() {
        OnError::Null => log(text),
        OnError::Abort => end(&format!(
            "{text}\nozfft-fftw: the program is ended, since its results would be wrong; OZFFT_ON_ERROR=null lets it go on"
        )),
    }
}

/// Says why, and ends the program.
pub(crate) fn end(text: &str) -> ! {
    log(text);
    std::process::abort()
}
