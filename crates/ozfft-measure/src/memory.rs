//! Available memory is checked before it is allocated: Rust's collections abort the program where there is none, and Linux ends it later.

use crate::failure::Failure;

/// Rejects what would take more memory than can be had. Where the system does not say how much that is, nothing is rejected.
pub fn expect(what: &str, needed: u128) -> Result<(), Failure> {
    match available() {
        Some(available) if needed > u128::from(available) => Err(Failure::Memory {
            what: what.into(),
            needed,
            available: Some(available),
        }),
        _ => Ok(()),
    }
}

/// As [`expect`], of so many bytes for every point of a shape.
pub fn expect_points(what: &str, shape: &[usize], bytes_a_point: u128) -> Result<(), Failure> {
    let lengths = shape.iter().map(|&length| length as u128);
    let needed = lengths.fold(bytes_a_point, u128::saturating_mul);
    expect(what, needed)
}

/// What the system could give: what is free or easily freed, or less where this process or its group is limited.
fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let machine = kilobytes(&meminfo, "MemAvailable:")? * 1024;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    // Without a limit the file says "max".
    let group = group.and_then(|text| text.trim().parse().ok());
    let process = std::fs::read_to_string("/proc/self/limits").ok();
    let process = process.and_then(|text| address_space(&text));
    let limits = [Some(machine), group, process];
    limits.into_iter().flatten().min()
}

/// What `ulimit -v` allows; nothing where it is unlimited.
fn address_space(limits: &str) -> Option<u64> {
    let heading = "Max address space";
    let line = limits.lines().find_map(|line| line.strip_prefix(heading))?;
    line.split_whitespace().next()?.parse().ok()
}

fn kilobytes(meminfo: &str, heading: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix(heading))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_available_memory_is_read() {
        let text = "MemTotal:       100 kB\nMemAvailable:    23456 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(23456));
        assert_eq!(kilobytes(text, "SwapFree:"), None);
        let limited =
            "Max processes  5 5 processes\nMax address space  2048000000  unlimited  bytes\n";
        assert_eq!(address_space(limited), Some(2_048_000_000));
        assert_eq!(
            address_space("Max address space  unlimited  unlimited  bytes"),
            None
        );
    }

    #[test]
    fn more_than_any_machine_has_is_rejected() {
        if available().is_none() {
            println!("this system does not say how much memory can be had");
            return;
        }
        assert!(expect("nothing", 0).is_ok());
        let rejected = expect_points("a plan", &[usize::MAX, usize::MAX, usize::MAX], 16);
        let message = rejected.expect_err("no machine has so much").to_string();
        assert!(message.contains("a plan"), "{message}");
    }
}
