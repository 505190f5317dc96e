//! A kernel: what it computes, and the parameters of its work.

use super::families::{Rules, Traits};
use super::{Family, Number};

/// Shared memory that a block may have, in kilobytes: kernels are made for the first that a GPU has.
pub(crate) const SHARED_KILOBYTES: [usize; 2] = [227, 99];

/// Groups of a block with a named barrier each.
pub(crate) const MAX_GROUPS: usize = 15;

/// A kernel: what it computes, and the parameters of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelSpec {
    /// What it computes.
    pub family: Family,
    /// What numbers are, and how many digits words have.
    pub number: Number,
    /// Whether neighbouring lines are neighbours in memory; else lines are contiguous.
    pub strided: bool,
    /// Shared memory of a block that its parameters were chosen for.
    pub(crate) kilobytes: usize,
    /// Lines of a group of warps at a time.
    pub lines: usize,
    /// Warps of a group.
    pub(crate) warps: usize,
    /// Tiles of eight columns or rows that a warp takes together, by step; 1 where the family has no such step.
    pub units: [usize; 3],
    /// Groups of warps that share the tables in shared memory; 0: one group, and tables in the cache.
    pub groups: usize,
}

impl KernelSpec {
    /// The kernel of a family for a GPU whose blocks may have so many bytes of shared memory, with the parameters that are expected to
    /// be fastest; none where no kernel takes such steps or fits.
    pub fn new(
        family: impl Into<Family>,
        number: Number,
        strided: bool,
        shared_bytes: usize,
    ) -> Option<Self> {
        let fitting = |kilobytes: &usize| kilobytes << 10 <= shared_bytes;
        let kilobytes = SHARED_KILOBYTES.into_iter().find(fitting)?;
        let problem = KernelSpec {
            family: family.into(),
            number,
            strided,
            kilobytes,
            lines: 0,
            warps: 0,
            units: [1; 3],
            groups: 0,
        };
        let supported = problem.rules().is_supported(&problem);
        supported.then(|| problem.usual())?
    }

    pub(crate) fn rules(&self) -> &dyn Rules {
        self.family.rules()
    }

    pub(crate) fn traits(&self) -> Traits {
        self.rules().traits(self.strided)
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        (32 * self.warps * self.groups.max(1)) as u32
    }

    /// Shared memory of a block.
    pub fn shared_bytes(&self) -> usize {
        let tables = match self.groups {
            0 => 0,
            _ => self.table_bytes(),
        };
        let groups = self.groups.max(1) * self.rules().group_bytes(self);
        // The exponent that all lines have in common lies between groups and tables.
        (groups + 16).next_multiple_of(self.table_alignment()) + tables
    }

    pub(crate) fn table_bytes(&self) -> usize {
        self.rules().table_bytes(self.number)
    }

    /// Where warps multiply together, the tensor unit reads matrices from shared memory.
    fn table_alignment(&self) -> usize {
        if self.number.together() == 1 { 16 } else { 128 }
    }

    /// With so many lines and units, and as many warps as a group needs for them.
    pub(crate) fn with(mut self, lines: usize, units: [usize; 3]) -> Self {
        (self.lines, self.units) = (lines, units);
        let warps = self.rules().columns(lines).div_ceil(8 * units[0]);
        self.warps = warps.next_multiple_of(self.number.together());
        self
    }

    /// With as many groups as make up no more than so many warps and as fit; none where not even one does.
    pub(crate) fn with_groups(mut self, max_warps: usize) -> Option<Self> {
        self.groups = (max_warps / self.warps).min(MAX_GROUPS);
        let spec = (self.groups > 0).then_some(self)?.within(self.kilobytes)?;
        (spec.groups > 0 || spec.traits().may_cache_tables).then_some(spec)
    }

    /// With as many of the groups as fit: `Within`.
    pub(crate) fn within(mut self, kilobytes: usize) -> Option<Self> {
        let bytes = kilobytes << 10;
        let room = bytes.saturating_sub(self.table_alignment() + self.table_bytes());
        self.groups = self.groups.min(room / self.rules().group_bytes(&self));
        self.kilobytes = kilobytes;
        let has_tables = self.groups > 0 || self.number.together() == 1;
        (self.shared_bytes() <= bytes && has_tables).then_some(self)
    }
}
