//! What the system lets this process have.

use std::fs::File;
use std::io::Read;

/// A limit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The address space of the process (`ulimit -v`, `RLIMIT_AS`).
    AddressSpace,
    /// The writable memory of the process (`ulimit -d`, `RLIMIT_DATA`).
    Data,
    /// The memory of the container (the process's control group).
    Container,
    /// The memory of the machine.
    Machine,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Limit::AddressSpace => "the limit of the address space (ulimit -v)",
            Limit::Data => "the limit of the process's data (ulimit -d)",
            Limit::Container => "the memory of the container",
            Limit::Machine => "the memory of the machine",
        })
    }
}

/// The tightest limit, and how many bytes it leaves. None where the system reports none. Allocates nothing.
///
/// What other processes use is not subtracted from the memory of the container and of the machine: they may give it back.
pub fn remaining() -> Option<(Limit, u64)> {
    let [space, data] = numbers("/proc/self/limits", ["Max address space", "Max data size"]);
    let used = numbers("/proc/self/status", ["VmSize:", "VmData:", "VmRSS:"]);
    let [used_space, used_data, resident] = used.map(|kibibytes| kibibytes.unwrap_or(0) << 10);
    let [memory, swap] = numbers("/proc/meminfo", ["MemTotal:", "SwapTotal:"]);
    let machine = memory.map(|memory| (memory + swap.unwrap_or(0)) << 10);
    let [container] = numbers("/sys/fs/cgroup/memory.max", [""]);
    let all = [
        (Limit::AddressSpace, space, used_space),
        (Limit::Data, data, used_data),
        (Limit::Container, container, resident),
        (Limit::Machine, machine, resident),
    ];
    let left =
        |(limit, most, used): (Limit, Option<u64>, u64)| Some((limit, most?.saturating_sub(used)));
    all.into_iter()
        .filter_map(left)
        .min_by_key(|&(_, bytes)| bytes)
}

/// The numbers that follow these names in a file of the system. None for what is missing or is no number (`unlimited`, `max`).
fn numbers<const N: usize>(path: &str, names: [&str; N]) -> [Option<u64>; N] {
    let mut page = [0; 8192];
    let Some(length) = read(path, &mut page) else {
        return [None; N];
    };
    let text = std::str::from_utf8(&page[..length]).unwrap_or_default();
    names.map(|name| {
        text[text.find(name)? + name.len()..]
            .split_ascii_whitespace()
            .next()?
            .parse()
            .ok()
    })
}

fn read(path: &str, page: &mut [u8]) -> Option<usize> {
    let mut file = File::open(path).ok()?;
    let mut length = 0;
    while length < page.len() {
        match file.read(&mut page[length..]).ok()? {
            0 => break,
            more => length += more,
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_machine_is_a_limit() {
        let (_, bytes) = remaining().unwrap();
        assert!((1 << 20..1 << 50).contains(&bytes), "{bytes}");
        assert_eq!(numbers("/proc/self/status", ["no such name"]), [None]);
        assert_eq!(numbers("/no such file", ["", ""]), [None; 2]);
    }
}
