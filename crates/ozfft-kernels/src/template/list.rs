//! The list of lengths whose parameters were measured, and of kernels that are compiled in advance.

use super::spec::SHARED_KILOBYTES;
use super::{Block, KernelSpec, Number};
use std::sync::LazyLock;

/// The list of lengths and of the parameters that were fastest.
pub(crate) const LENGTHS: &str = include_str!("../../cuda/block/bailey_lengths.def");

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Points of both steps; 1 where there is no last one.
    pub steps: [usize; 2],
    /// Whether neighbouring lines are neighbours in memory.
    pub strided: bool,
    /// Whether the kernel is compiled in advance.
    pub in_advance: bool,
    /// Whether four warps multiply together.
    pub(crate) by_warpgroups: bool,
    /// Lines of a group of warps at a time.
    pub lines: usize,
    /// Tiles of eight columns that a warp takes together in the first step, and of rows in the last one.
    pub units: [usize; 2],
    /// Groups of warps that share the tables in shared memory.
    pub groups: usize,
}

static ENTRIES: LazyLock<Vec<Listed>> =
    LazyLock::new(|| LENGTHS.lines().filter_map(parsed).collect());

fn parsed(line: &str) -> Option<Listed> {
    let (keyword, rest) = line.split_once('(')?;
    if !["BAILEY", "BAILEY_IN_ADVANCE", "BAILEY_WGMMA"].contains(&keyword) {
        return None;
    }
    let fields = rest.trim_end().strip_suffix(')')?;
    let fields: Vec<&str> = fields.split(',').map(str::trim).collect();
    let number = |field: usize| fields.get(field)?.parse().ok();
    Some(Listed {
        steps: [number(0)?, number(1)?],
        lines: number(2)?,
        units: [number(3)?, number(4)?],
        strided: *fields.get(5)? == "true",
        groups: number(6)?,
        in_advance: keyword == "BAILEY_IN_ADVANCE",
        by_warpgroups: keyword == "BAILEY_WGMMA",
    })
}

/// All lines of the list, those for warps that multiply together among them.
pub(crate) fn entries() -> impl Iterator<Item = Listed> {
    ENTRIES.iter().copied()
}

/// The list's lengths of one block, each for contiguous and for strided lines.
pub fn listed() -> impl Iterator<Item = Listed> {
    entries().filter(|entry| !entry.by_warpgroups)
}

/// Whether four warps together were measured to be faster for lines of such steps.
pub fn is_faster_by_warpgroups(steps: [usize; 2]) -> bool {
    entries().any(|entry| entry.by_warpgroups && entry.steps == steps)
}

/// Names of all kernels in [`IMAGE`](super::IMAGE) that are launched.
pub fn compiled_in_advance() -> Vec<String> {
    let of_entry = |Listed { steps, strided, .. }: Listed| {
        SHARED_KILOBYTES.map(|kilobytes| {
            KernelSpec::new(Block { steps }, Number::Double, strided, kilobytes << 10)
        })
    };
    let specs = listed().filter(|entry| entry.in_advance).flat_map(of_entry);
    let mut names: Vec<String> = specs.flatten().map(|spec| spec.name(true)).collect();
    names.sort();
    names.dedup();
    names
}
