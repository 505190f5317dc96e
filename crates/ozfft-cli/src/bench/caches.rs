//! Which cache of the processor holds the arrays of a benchmark: in-cache times and times from memory are different questions.

use std::fs;
use std::path::Path;

/// A cache for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cache {
    level: u32,
    bytes: u64,
}

/// The smallest cache of the first core that holds so many bytes (`L1`, `L2`, …), or `memory`; nothing where the system does not
/// say what caches there are. A cache counts as a whole, also where several cores, or other machines on the same processor, share it.
pub fn place_of(bytes: u64) -> Option<String> {
    place_among(
        &read(Path::new("/sys/devices/system/cpu/cpu0/cache")),
        bytes,
    )
}

fn place_among(caches: &[Cache], bytes: u64) -> Option<String> {
    if caches.is_empty() {
        return None;
    }
    let holding = caches.iter().filter(|cache| cache.bytes >= bytes);
    Some(match holding.map(|cache| cache.level).min() {
        Some(level) => format!("L{level}"),
        None => "memory".into(),
    })
}

/// Caches as Linux describes them, one folder each.
fn read(folder: &Path) -> Vec<Cache> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let text = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
            let kind = text("type")?;
            if kind.trim() == "Instruction" {
                return None;
            }
            Some(Cache {
                level: text("level")?.trim().parse().ok()?,
                bytes: parse_size(text("size")?.trim())?,
            })
        })
        .collect()
}

/// A size such as 48K or 2M.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_cache_that_holds_the_arrays_is_named() {
        let cache = |level, bytes| Cache { level, bytes };
        let caches = [cache(3, 32 << 20), cache(1, 48 << 10), cache(2, 2 << 20)];
        let place = |bytes| place_among(&caches, bytes);
        assert_eq!(place(48 << 10).as_deref(), Some("L1"));
        assert_eq!(place((48 << 10) + 1).as_deref(), Some("L2"));
        assert_eq!(place(16 << 20).as_deref(), Some("L3"));
        assert_eq!(place(33 << 20).as_deref(), Some("memory"));
        assert_eq!(place_among(&[], 1), None);
    }

    #[test]
    fn sizes_are_read_as_linux_writes_them() {
        assert_eq!(parse_size("48K"), Some(48 << 10));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("512"), Some(512));
        assert_eq!(parse_size("12Q"), None);
        assert_eq!(parse_size("K"), None);
    }

    #[test]
    fn caches_are_read_from_their_folders() {
        let folder = std::env::temp_dir().join(format!("ozfft-caches-{}", std::process::id()));
        for (index, kind, level, size) in [
            ("index0", "Data\n", "1\n", "48K\n"),
            ("index1", "Instruction\n", "1\n", "64K\n"),
            ("index2", "Unified\n", "2\n", "2048K\n"),
        ] {
            let entry = folder.join(index);
            fs::create_dir_all(&entry).expect("a folder");
            for (name, text) in [("type", kind), ("level", level), ("size", size)] {
                fs::write(entry.join(name), text).expect("a file");
            }
        }
        let mut found = read(&folder);
        fs::remove_dir_all(&folder).expect("the folder of this test");
        found.sort_by_key(|cache| cache.level);
        let cache = |level, bytes| Cache { level, bytes };
        assert_eq!(found, [cache(1, 48 << 10), cache(2, 2 << 20)]);
        assert_eq!(read(Path::new("/nowhere")), []);
    }
}
