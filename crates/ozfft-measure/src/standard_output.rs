//! Whether results can be written at all: standard output may be closed when a program is started (`ozfft … >&-`), or open for reading alone.
//!
//! Before `main` the standard library opens `/dev/null` in the place of a closed stream, so that no file opened later is taken for it, and it takes a write to a stream that
//! is not open for writing as done. Results would be lost without an error. So the stream is looked at before the standard library does.

use crate::failure::Failure;
use std::io::Write;

#[cfg(unix)]
#[allow(unsafe_code, reason = "a function that runs before main")]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CANNOT_BE_WRITTEN: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        // SAFETY: it asks for the flags of a descriptor, which may be closed. Nothing that the standard library prepares is needed for it.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
        let can = flags != -1 && flags & libc::O_ACCMODE != libc::O_RDONLY;
        CANNOT_BE_WRITTEN.store(!can, Ordering::Relaxed);
    }

    // SAFETY: the section has functions of this type, which the loader calls before main.
    #[used]
    #[cfg_attr(
        target_vendor = "apple",
        unsafe(link_section = "__DATA,__mod_init_func")
    )]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    pub(super) fn error() -> Option<std::io::Error> {
        let closed = CANNOT_BE_WRITTEN.load(Ordering::Relaxed);
        closed.then(|| std::io::Error::from_raw_os_error(libc::EBADF))
    }
}

#[cfg(not(unix))]
mod at_start {
    pub(super) fn error() -> Option<std::io::Error> {
        None
    }
}

/// Writes a line. Every result of every program goes this way.
pub(crate) fn write_line(text: &str) -> Result<(), Failure> {
    let written = match at_start::error() {
        Some(error) => Err(error),
        None => writeln!(std::io::stdout().lock(), "{text}"),
    };
    written.map_err(Failure::StandardOutput)
}

/// Writes what the parser of arguments has to say where nothing is computed: help or a version to standard output, what is wrong to standard error.
pub(crate) fn write_help(message: &clap::Error) -> Result<(), Failure> {
    let written = match at_start::error() {
        Some(error) if !message.use_stderr() => Err(error),
        _ => message.print(),
    };
    match written {
        // Nobody can be told.
        Err(_) if message.use_stderr() => Ok(()),
        written => written.map_err(Failure::StandardOutput),
    }
}
