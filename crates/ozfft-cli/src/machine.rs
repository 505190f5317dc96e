//! Where and when something was measured: the processor, the system, the date.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// The commit that this program was built from, with a mark if files differed from it; nothing where the build did not know.
///
/// Asking git when the program runs would tell of the current folder, whose settings can name programs that git starts.
pub fn built_commit() -> Option<String> {
    let commit = env!("OZFFT_BUILT_FROM");
    (!commit.is_empty()).then(|| commit.into())
}

/// Today's date in UTC.
pub fn today() -> String {
    date_text(seconds_since_1970())
}

/// Date and time in UTC, as ISO 8601 writes them.
pub fn now() -> String {
    let seconds = seconds_since_1970();
    format!("{}T{}Z", date_text(seconds), time_text(seconds))
}

fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

fn date_text(seconds: u64) -> String {
    let (year, month, day) = date_of_day(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

fn time_text(seconds: u64) -> String {
    let second = seconds % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Year, month and day of a day counted from 1970-01-01.
fn date_of_day(mut day: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date_of_day(0), (1970, 1, 1));
        assert_eq!(date_of_day(59), (1970, 3, 1));
        assert_eq!(date_of_day(11_016), (2000, 2, 29));
        assert_eq!(date_of_day(19_723), (2024, 1, 1));
    }

    #[test]
    fn seconds_become_dates_and_times() {
        let last_of_2000 = 11_323 * 86_400 - 1;
        assert_eq!(date_text(last_of_2000), "2000-12-31");
        assert_eq!(time_text(last_of_2000), "23:59:59");
    }

    #[test]
    fn flags_are_whole_words() {
        let flags = flags_of_interest("fpu avx2 avx512f avx512_vnni_x");
        assert!(flags["avx2"] && flags["avx512f"]);
        assert!(!flags["avx512_vnni"] && !flags["amx_int8"]);
    }
}
