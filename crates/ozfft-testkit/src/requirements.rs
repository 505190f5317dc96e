//! What tests need of a machine, and which of that must be there.

use std::fmt::{self, Display};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Something that a test needs and that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// An NVIDIA GPU that the kernels run on.
    Gpu,
    /// An NVIDIA GPU of the Hopper generation, for the tuned kernels.
    Hopper,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512 with VNNI.
    Vnni,
    /// AVX-512 with bf16.
    Bf16,
    /// AMX, with tiles granted by the operating system.
    Amx,
    /// The dot product of NEON.
    Neon,
    /// CUDA's compiler as a library.
    Nvrtc,
    /// FFTW's libraries and header.
    Fftw,
    /// FFTW's library for MPI, a compiler and a launcher for it.
    Mpi,
    /// A C compiler and binutils.
    Compiler,
    /// Chromium and its driver.
    Browser,
    /// The JavaScript interpreter.
    Node,
    /// Octave, in `crates/ozfft-fftw/proof`.
    Octave,
    /// LAMMPS with its examples, in `crates/ozfft-fftw/proof`.
    Lammps,
    /// mpi4py-fft, in `crates/ozfft-fftw/proof`.
    Mpi4py,
    /// heFFTe's headers and library.
    Heffte,
}

impl Requirement {
    /// Every one of them.
    pub const ALL: [Self; 17] = [
        Self::Gpu,
        Self::Hopper,
        Self::Avx2,
        Self::Vnni,
        Self::Bf16,
        Self::Amx,
        Self::Neon,
        Self::Nvrtc,
        Self::Fftw,
        Self::Mpi,
        Self::Compiler,
        Self::Browser,
        Self::Node,
        Self::Octave,
        Self::Lammps,
        Self::Mpi4py,
        Self::Heffte,
    ];

    /// Its word in `OZFFT_REQUIRE`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Hopper => "hopper",
            Self::Avx2 => "avx2",
            Self::Vnni => "vnni",
            Self::Bf16 => "bf16",
            Self::Amx => "amx",
            Self::Neon => "neon",
            Self::Nvrtc => "nvrtc",
            Self::Fftw => "fftw",
            Self::Mpi => "mpi",
            Self::Compiler => "compiler",
            Self::Browser => "browser",
            Self::Node => "node",
            Self::Octave => "octave",
            Self::Lammps => "lammps",
            Self::Mpi4py => "mpi4py",
            Self::Heffte => "heffte",
        }
    }
}

/// A word in `OZFFT_REQUIRE` that is none of [`Requirement::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRequirement(String);

impl Display for UnknownRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Requirement::ALL.map(Requirement::word).join(", ");
        write!(
            f,
            "OZFFT_REQUIRE has the unknown word {:?}; known are {known}",
            self.0
        )
    }
}

impl std::error::Error for UnknownRequirement {}

impl FromStr for Requirement {
    type Err = UnknownRequirement;

    fn from_str(word: &str) -> Result<Self, UnknownRequirement> {
        let found = Self::ALL
            .into_iter()
            .find(|requirement| requirement.word() == word);
        found.ok_or_else(|| UnknownRequirement(word.to_string()))
    }
}

/// What a comma-separated list names.
fn parse(list: &str) -> Result<Vec<Requirement>, UnknownRequirement> {
    let words = list.split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::parse)
        .collect()
}

/// What [`available`] does, for a list that need not be the environment's; the notice for what is missing, if any.
fn judge<T, E: Display>(
    list: &str,
    requirement: Requirement,
    found: Result<T, E>,
) -> Result<T, String> {
    let required = parse(list).unwrap_or_else(|error| panic!("{error}"));
    found.map_err(|reason| {
        assert!(
            !required.contains(&requirement),
            "OZFFT_REQUIRE names {}, which is not available: {reason}",
            requirement.word()
        );
        format!("skipped for lack of {}: {reason}", requirement.word())
    })
}

/// What a test asks for what it needs: that, or `None` with a notice on standard error, and then the test ends.
///
/// `OZFFT_REQUIRE=gpu,fftw` makes a lack of these a failure, so that a machine that is there for a test cannot pass without it.
///
/// ```
/// use ozfft_testkit::{Requirement, available};
///
/// let unit: Option<u32> = None;
/// let Some(unit) = available(Requirement::Amx, unit.ok_or("no tiles")) else {
///     return;
/// };
/// # let _ = unit;
/// ```
///
/// # Panics
/// If `OZFFT_REQUIRE` names what is missing, or has an unknown word.
#[track_caller]
pub fn available<T, E: Display>(requirement: Requirement, found: Result<T, E>) -> Option<T> {
    let list = std::env::var("OZFFT_REQUIRE").unwrap_or_default();
    match judge(&list, requirement, found) {
        Ok(found) => Some(found),
        Err(notice) => {
            // Not by the macro, whose words are kept back where a test passes. A test's thread has its name.
            let thread = std::thread::current();
            let test = thread.name().unwrap_or("a test");
            let _ = writeln!(std::io::stderr(), "{test}: {notice}");
            let what = format!("tests skipped for lack of {}", requirement.word());
            crate::left_out::note(&what, test);
            None
        }
    }
}

/// The CUDA compiler that `crates/ozfft-kernels/toolchain` has installed.
pub fn nvcc() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let toolchain =
        std::env::var_os("OZFFT_CUDA_TOOLCHAIN").map_or(root.join("target/cuda"), PathBuf::from);
    let found = std::fs::read_dir(toolchain.join("lib"))
        .ok()
        .into_iter()
        .flatten()
        .flatten();
    let mut places = found.map(|entry| entry.path().join("site-packages/nvidia/cu13/bin/nvcc"));
    places
        .find(|path| path.exists())
        .ok_or("no nvcc: run crates/ozfft-kernels/toolchain".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    fn message(list: &'static str, requirement: Requirement) -> String {
        let panic = catch_unwind(|| judge(list, requirement, Err::<(), _>("it is gone")))
            .expect_err("a failure");
        panic.downcast_ref::<String>().expect("a message").clone()
    }

    #[test]
    fn missing_requirements_are_skipped_unless_required() {
        let missing = Err::<u8, _>("it is gone");
        let notice = judge("", Requirement::Gpu, missing).expect_err("a notice");
        assert_eq!(notice, "skipped for lack of gpu: it is gone");
        assert!(judge("amx, fftw", Requirement::Gpu, missing).is_err());
        assert_eq!(
            message("amx, gpu", Requirement::Gpu),
            "OZFFT_REQUIRE names gpu, which is not available: it is gone"
        );
        assert_eq!(judge("gpu", Requirement::Gpu, Ok::<_, &str>(3)), Ok(3));
    }

    #[test]
    fn unknown_words_fail_whether_or_not_anything_is_missing() {
        let error = parse("amx,abacus").expect_err("an unknown word");
        assert!(error.to_string().contains("\"abacus\""), "{error}");
        for requirement in Requirement::ALL {
            assert!(error.to_string().contains(requirement.word()), "{error}");
            assert_eq!(requirement.word().parse(), Ok(requirement));
        }
        assert!(message("abacus", Requirement::Gpu).contains("\"abacus\""));
        assert!(catch_unwind(|| judge("abacus", Requirement::Gpu, Ok::<_, &str>(()))).is_err());
    }

    #[test]
    fn the_list_of_this_run_is_understood() {
        let list = std::env::var("OZFFT_REQUIRE").unwrap_or_default();
        parse(&list).unwrap_or_else(|error| panic!("{error}"));
    }
}
