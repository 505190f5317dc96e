//! Where and when something was measured: the processor, the system, the date.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Instruction sets that decide which matrix units a processor has, as Linux spells them.
const FLAGS_OF_INTEREST: [&str; 5] = ["avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8"];

/// Description of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub architecture: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Whether the processor has the flag; nothing where the system does not say.
    pub flags: Option<BTreeMap<String, bool>>,
    pub kernel: String,
}

impl Machine {
    /// Asks the system.
    pub fn here() -> Machine {
        Machine {
            processor: processor_name(),
            architecture: std::env::consts::ARCH.into(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            flags: processor_line("flags").map(|line| flags_of_interest(&line)),
            kernel: kernel(),
        }
    }
}

fn flags_of_interest(line: &str) -> BTreeMap<String, bool> {
    let has = |flag: &str| line.split_whitespace().any(|word| word == flag);
    FLAGS_OF_INTEREST
        .map(|flag| (flag.to_string(), has(flag)))
        .into()
}

/// The name of the processor, where the system reports it.
pub fn processor_name() -> String {
    processor_line("model name")
        .unwrap_or_else(|| format!("a processor of unknown name ({})", std::env::consts::ARCH))
}

/// What Linux says about the first processor under this heading.
fn processor_line(heading: &str) -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut entries = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = entries.find(|(name, _)| name.trim() == heading)?;
    Some(value.trim().to_string())
}

fn kernel() -> String {
    let system = std::env::consts::OS;
    match std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("{system} {}", release.trim()),
        Err(_) => system.into(),
    }
}

/// The compiler that made this program.
pub const RUSTC: &str = env!("RUSTC_VERSION");
/// The RustFFT that it is compared with.
pub const RUSTFFT: &str = env!("RUSTFFT_VERSION");

/// What a measurement was made by, in every record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Software {
    pub ozfft: String,
    pub commit: Option<String>,
    pub rustc: String,
}

impl Software {
    /// The commit is the one given, or that of the sources of this program.
    pub fn here(commit: Option<&str>) -> Software {
        Software {
            ozfft: env!("CARGO_PKG_VERSION").into(),
            commit: commit.map(String::from).or_else(built_commit),
            rustc: RUSTC.into(),
        }
    }
}

/// The commit that this program was built from, with a mark if files differed from it; nothing where the build did not know.
///
/// Asking git when the program runs would tell of the current folder, whose settings can name programs that git starts.
pub fn built_commit() -> Option<String> {
    let commit = env!("OZFFT_BUILT_FROM");
    (!commit.is_empty()).then(|| commit.into())
}

/// Today's date in UTC.
pub fn today() -> String {
    let mut now = now();
    now.truncate("2000-12-31".len());
    now
}

/// Date and time in UTC, as ISO 8601 writes them.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_form_of_iso_8601() {
        let is_like = |text: &str, form: &str| {
            let same = |(a, b): (char, char)| a == b || a.is_ascii_digit() && b == '0';
            text.len() == form.len() && text.chars().zip(form.chars()).all(same)
        };
        assert!(is_like(&now(), "0000-00-00T00:00:00Z"), "{}", now());
        assert!(is_like(&today(), "0000-00-00"), "{}", today());
        assert!(today().starts_with("20"), "{}", today());
    }

    #[test]
    fn flags_are_whole_words() {
        let flags = flags_of_interest("fpu avx2 avx512f avx512_vnni_x");
        assert!(flags["avx2"] && flags["avx512f"]);
        assert!(!flags["avx512_vnni"] && !flags["amx_int8"]);
    }
}
