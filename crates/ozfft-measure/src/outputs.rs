//! The files that commands write. All of them go through [`write`].

use crate::failure::Failure;
use crate::inputs;
use removed_by_signals::Covered;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// More links than this in a row are a circle; Linux has the same limit.
const MOST_LINKS: usize = 40;

/// Names that are tried for a new file before its folder is given up.
const MOST_NAMES: u32 = 100;

/// What stands at the path of an output, symbolic links followed.
enum Target {
    /// A regular file, or nothing yet: put in place when it is complete.
    File {
        place: PathBuf,
        existing: Option<Metadata>,
    },
    /// A pipe or a character device: written to as it is.
    Stream,
}

/// Writes a file that is either complete or untouched.
///
/// Symbolic links are followed. An existing file keeps its mode and, where the system allows it, its owner; one that may not be
/// written to is left alone. Pipes and character devices stay what they are and are written to. Everything else is rejected.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), Failure> {
    match target(path)? {
        Target::Stream => {
            let file = OpenOptions::new().write(true).open(path);
            let mut writer = BufWriter::new(file.map_err(Failure::file("open", path))?);
            fill(&mut writer)
                .and_then(|()| writer.flush())
                .map_err(Failure::file("write", path))
        }
        Target::File { place, existing } => replace(&place, existing.as_ref(), fill)
            .map_err(|error| Failure::file("write", path)(error)),
    }
}

/// Whether [`write`] could begin: asked before hours are spent on what is to be written.
pub fn check(path: &Path) -> Result<(), Failure> {
    match target(path)? {
        Target::Stream => Ok(()),
        Target::File { place, existing } => Partial::beside(&place, existing.is_some())
            .map(drop)
            .map_err(Failure::file("write", path)),
    }
}

/// As [`check`], of those outputs that are asked for.
pub fn check_all<'a>(paths: impl IntoIterator<Item = &'a Option<PathBuf>>) -> Result<(), Failure> {
    let named = paths.into_iter().flatten();
    named.map(PathBuf::as_path).try_for_each(check)
}

fn target(path: &Path) -> Result<Target, Failure> {
    inputs::expect_no_dash(path, "output")?;
    let failed = |error| Failure::file("write", path)(error);
    match std::fs::metadata(path) {
        Ok(found) if is_stream(found.file_type()) => Ok(Target::Stream),
        Ok(found) if !found.is_file() => Err(Failure::NoFile {
            path: path.to_path_buf(),
            what: what_it_is(found.file_type()),
        }),
        Ok(_) => {
            // Opened, not only looked at: files that may not be written to are not replaced either, and the system gets the chance
            // to reject links that others have laid in folders like /tmp.
            let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            Ok(Target::File {
                place: std::fs::canonicalize(path).map_err(failed)?,
                existing: Some(file.metadata().map_err(failed)?),
            })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let place = end_of_links(path).map_err(failed)?;
            if !names_a_file(&place) {
                return Err(Failure::Usage(format!(
                    "{:?} does not name a file to write",
                    path.display().to_string()
                )));
            }
            if !folder(&place).is_dir() {
                return Err(Failure::Usage(format!(
                    "there is no directory {} for {}; make it first",
                    folder(&place).display(),
                    path.display()
                )));
            }
            Ok(Target::File {
                place,
                existing: None,
            })
        }
        Err(error) => Err(failed(error)),
    }
}

/// Whether a new file can have this path: it ends with a name, not with the mark of a folder.
fn names_a_file(path: &Path) -> bool {
    let ends = |mark: &[u8]| path.as_os_str().as_encoded_bytes().ends_with(mark);
    path.file_name().is_some() && !ends(b"/") && !ends(b"/.")
}

/// Where a path leads whose end does not exist.
fn end_of_links(path: &Path) -> std::io::Result<PathBuf> {
    // As above: the system may refuse to follow a link whose target does not exist.
    match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&place) {
            // A link is relative to its folder; an absolute one replaces all of the path.
            Ok(next) => place = folder(&place).join(next),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(place),
            // Something that is no link has appeared there, and is not for us.
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other("its symbolic links form a circle"))
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file under a name of its own, removed unless it is put in place, also by a signal that ends the program.
struct Partial {
    path: PathBuf,
    file: File,
    _covered: Covered,
}

impl Partial {
    /// In the same folder, because only there a file can be put in place in one step. One that replaces another is private until
    /// it has the other's mode.
    fn beside(place: &Path, private: bool) -> std::io::Result<Partial> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = private;
        // The keys are random: the number of a process is used again, and what it left when it was killed would be in the way.
        let random = RandomState::new();
        let mut number = 0;
        loop {
            let name = format!(".ozfft-{:016x}.partial", random.hash_one(number));
            let path = folder(place).join(name);
            let covered = Covered::new(&path);
            match options.open(&path) {
                Ok(file) => {
                    return Ok(Partial {
                        path,
                        file,
                        _covered: covered,
                    });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_NAMES => {
                    number += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn put_in_place(self, place: &Path) -> std::io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.path, place)
        // What is dropped now has no file under its name any more.
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Where that fails, an earlier error is the one to tell, or the file has been put in place.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn replace(
    place: &Path,
    existing: Option<&Metadata>,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let partial = Partial::beside(place, existing.is_some())?;
    let mut writer = BufWriter::new(partial.file.try_clone()?);
    fill(&mut writer)?;
    writer.flush()?;
    if let Some(existing) = existing {
        keep_rights(&partial.file, existing)?;
    }
    partial.put_in_place(place)?;
    // So that the new name survives a power failure; not every file system can do it, and the file is complete either way.
    if let Ok(folder) = File::open(folder(place)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Gives a new file the owner and the mode of the one that it replaces.
#[cfg(unix)]
fn keep_rights(file: &File, existing: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut mode = existing.mode() & 0o777;
    let new = file.metadata()?;
    let same_owner = (new.uid(), new.gid()) == (existing.uid(), existing.gid());
    if !same_owner && fchown(file, Some(existing.uid()), Some(existing.gid())).is_err() {
        // Only root may give files away. Without the owner at least the group; without the group, its members get no more than anybody.
        if fchown(file, None, Some(existing.gid())).is_err() {
            mode &= !0o070 | (mode & 0o007) << 3;
        }
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_rights(file: &File, existing: &Metadata) -> std::io::Result<()> {
    file.set_permissions(existing.permissions())
}

#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    false
}

#[cfg(unix)]
fn what_it_is(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_dir() {
        "a folder"
    } else if kind.is_block_device() {
        "a block device"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "no regular file"
    }
}

#[cfg(not(unix))]
fn what_it_is(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else {
        "no regular file"
    }
}

/// Files that SIGINT, SIGTERM and SIGHUP remove before they end the program.
#[cfg(unix)]
#[allow(unsafe_code, reason = "signal handlers, and what they may call")]
mod removed_by_signals {
    use std::ffi::{CString, c_char, c_int};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr::null_mut;
    use std::sync::Once;
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// Paths of files that are being written, more of them than any command writes at a time.
    static PATHS: [AtomicPtr<c_char>; 16] = [const { AtomicPtr::new(null_mut()) }; 16];

    /// A path that is removed by signals as long as this is there.
    pub(super) struct Covered(Option<&'static AtomicPtr<c_char>>);

    impl Covered {
        pub(super) fn new(path: &Path) -> Covered {
            static HANDLERS: Once = Once::new();
            HANDLERS.call_once(set_handlers);
            let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
                return Covered(None);
            };
            // Never given back: a signal may be reading it on another thread.
            let path = path.into_raw();
            let free = |place: &&AtomicPtr<c_char>| {
                place
                    .compare_exchange(null_mut(), path, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
            };
            Covered(PATHS.iter().find(free))
        }
    }

    impl Drop for Covered {
        fn drop(&mut self) {
            if let Some(place) = self.0 {
                place.store(null_mut(), Ordering::Release);
            }
        }
    }

    fn set_handlers() {
        let handler = remove as extern "C" fn(c_int) as libc::sighandler_t;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: `remove` calls only what a handler may. A signal that the caller has ignored, as `nohup` does, stays ignored.
            unsafe {
                if libc::signal(signal, handler) == libc::SIG_IGN {
                    libc::signal(signal, libc::SIG_IGN);
                }
            }
        }
    }

    extern "C" fn remove(signal: c_int) {
        for place in &PATHS {
            let path = place.load(Ordering::Acquire);
            if !path.is_null() {
                // SAFETY: a path that ends in zero and is never given back.
                unsafe { libc::unlink(path) };
            }
        }
        // SAFETY: the program ends as it would have without a handler, which its caller sees.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

#[cfg(not(unix))]
mod removed_by_signals {
    pub(super) struct Covered;

    impl Covered {
        pub(super) fn new(_: &std::path::Path) -> Covered {
            Covered
        }
    }
}
