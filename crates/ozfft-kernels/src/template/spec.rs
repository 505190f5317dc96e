//! A kernel: what it computes, and the parameters of its work.

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

impl Family {
    pub(crate) fn rules(&self) -> &dyn Rules {
        match self {
            Family::Block(rules) => rules,
            Family::ThreeSteps(rules) => rules,
            Family::Real(rules) => rules,
            Family::LongPass(rules) => rules,
            Family::TwoPasses(rules) => rules,
        }
    }
}

/// What differs between families and is no computation.
#[derive(Clone, Copy)]
pub(crate) struct Traits {
    /// What is transformed, in purposes of kernels.
    pub(crate) what: &'static str,
    /// Labels in names of kernels, before and after the steps.
    pub(crate) labels: [&'static str; 2],
    /// The function that the kernel runs, and the type of its parameters.
    pub(crate) function: &'static str,
    pub(crate) parameters: &'static str,
    /// Headers of the source, beside that of the numbers.
    pub(crate) headers: &'static [&'static str],
    /// The source's constant that [`Rules::table_bytes`] repeats.
    pub(crate) tables: &'static str,
    /// Numbers of lines of a group, units, and warps of a group that may be taken; no warps where lines and units decide.
    pub(crate) line_counts: &'static [usize],
    pub(crate) units: &'static [[usize; 3]],
    pub(crate) warps: &'static [usize],
    /// Lines that are counted as one in names and choices, and units that are a choice.
    pub(crate) lines_together: usize,
    pub(crate) chosen_units: usize,
    /// Whether tables may stay in the cache where shared memory has no room for them.
    pub(crate) may_cache_tables: bool,
    /// Kernels for one purpose that are worth measuring.
    pub(crate) max_candidates: usize,
}

/// Those of most families.
pub(crate) const USUAL: Traits = Traits {
    what: "lines",
    labels: ["", ""],
    function: "run",
    parameters: "TunedArguments",
    headers: &[],
    tables: "Shape::Tables::BYTES",
    line_counts: &[],
    units: &[[1, 1, 1], [1, 2, 1], [2, 1, 1], [2, 2, 1]],
    warps: &[],
    lines_together: 1,
    chosen_units: 2,
    may_cache_tables: true,
    max_candidates: 10,
};

/// What differs between families.
pub(crate) trait Rules {
    /// Whether the CUDA sources take such a problem: they assert the same. (Two points as a last step do not occur.)
    fn is_supported(&self, problem: &KernelSpec) -> bool;

    fn traits(&self, strided: bool) -> Traits;

    /// Points of the steps of every pass.
    fn steps(&self) -> Vec<Vec<usize>>;

    /// Columns of the first step of so many lines.
    fn columns(&self, lines: usize) -> usize;

    /// Warps of a block that have registers for the digits of the units; none where not even a few have.
    fn max_warps(&self, spec: &KernelSpec) -> Option<usize>;

    /// Warps of a block that are tried where so many have registers for their digits.
    fn warp_limits(&self, _: Number, max_warps: usize) -> Vec<usize> {
        vec![max_warps]
    }

    /// Whether the work can be shared among a group's warps.
    fn divides(&self, _: &KernelSpec) -> bool {
        true
    }

    /// The expected cost of a point, of a kernel with so many warps at most.
    fn cost(&self, spec: &KernelSpec, max_warps: usize) -> f64;

    /// The parameters of the list of lengths.
    fn listed(&self, _: &KernelSpec) -> Option<KernelSpec> {
        None
    }

    /// The problem whose parameters are listed and ranked for this one.
    fn ranked_as(&self, problem: &KernelSpec) -> KernelSpec {
        *problem
    }

    /// Parameters that were listed or ranked for `ranked_as`, for the problem.
    fn ranked_for(&self, _: &KernelSpec, spec: KernelSpec) -> Option<KernelSpec> {
        Some(spec)
    }

    /// A kernel that is done with few lines sooner.
    fn for_few(&self, _: &KernelSpec) -> Option<KernelSpec> {
        None
    }

    /// Puts other kernels for the same purpose into the order in which they are worth measuring, from the cheapest first.
    fn arrange(&self, _: &KernelSpec, _: &mut Vec<KernelSpec>) {}

    /// Bytes of the tables of all steps.
    fn table_bytes(&self, number: Number) -> usize;

    /// Shared memory of a group of warps.
    fn group_bytes(&self, spec: &KernelSpec) -> usize;

    /// How lines lie, in purposes of kernels.
    fn layout(&self, strided: bool) -> String {
        layout(strided).into()
    }

    /// The type of `Shape` in the source.
    fn type_name(&self, spec: &KernelSpec) -> String;
}

/// Where lines lie, in a word.
pub(crate) fn layout(strided: bool) -> &'static str {
    if strided { "strided" } else { "contiguous" }
}
