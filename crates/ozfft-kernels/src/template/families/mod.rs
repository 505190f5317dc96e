//! Families of kernels, and what differs between them.

mod block;
mod long_pass;
mod real;
mod three_steps;
mod two_passes;

pub use block::Block;
pub use long_pass::{LongPass, MANY_TRANSFORMS, Pass};
pub use real::Real;
pub use three_steps::ThreeSteps;
pub use two_passes::TwoPasses;

use super::{KernelSpec, Number};

/// What a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Complex lines of one block of one or two steps.
    Block(Block),
    /// Complex lines of one block of three steps.
    ThreeSteps(ThreeSteps),
    /// Real lines to half-spectra and back, of one block of one or two steps.
    Real(Real),
    /// One pass of a transform whose words go through memory.
    LongPass(LongPass),
    /// Two passes of blocks in one launch.
    TwoPasses(TwoPasses),
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

macro_rules! families {
    ($($name:ident),*) => {
        $(impl From<$name> for Family {
            fn from(family: $name) -> Self {
                Family::$name(family)
            }
        })*
    };
}

families!(Block, ThreeSteps, Real, LongPass, TwoPasses);

/// What transforms begin and end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ends {
    /// Complex numbers.
    Complex,
    /// Real lines, half-spectra at the end.
    RealToHalf,
    /// Half-spectra, real lines at the end.
    HalfToReal,
    /// Bluestein's convolutions of lines of any kind: there and back.
    Convolution,
}

impl Ends {
    /// In purposes, and in names of kernels.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Ends::Complex => ("complex", ""),
            Ends::RealToHalf => ("real to half-spectrum", "r2c_"),
            Ends::HalfToReal => ("half-spectrum to real", "c2r_"),
            Ends::Convolution => ("convolution", "convolution_"),
        }
    }

    fn layout(self, strided: bool) -> String {
        format!("{}, {}", self.names().0, layout(strided))
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
const USUAL: Traits = Traits {
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

fn layout(strided: bool) -> &'static str {
    if strided { "strided" } else { "contiguous" }
}

/// Whether a block of one or two steps may have such steps.
fn takes_steps([first, last]: [usize; 2]) -> bool {
    super::steps::is_matrix(first) && first <= 64 && last <= 64 && last != 2
}
