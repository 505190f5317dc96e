//! What a plan's launches are made of, on the way to their list and in it.

use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine};
use crate::executor::cuda::program::dimensions::{Scaling, Zeros};
use crate::executor::cuda::program::task::*;
use crate::executor::cuda::select::long_passes::PassLaunch;
use crate::executor::cuda::select::tuned::{Kernels, TunedLaunch, TunedLines};
use crate::executor::cuda::tables::{BlockTables, Piece};
use crate::recipe::Recipe;
use crate::transform::passes::Passes;
use ozfft_kernels::template::Number;
use std::sync::Arc;

/// One thing to do.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Clear {
        address: Address,
        bytes: usize,
    },
    Launch(Box<Launch>),
    /// A pass of long transforms, or of a convolution, on the template; then a portable kernel for the lines that it leaves, or for all of
    /// them as above. A whole convolution leaves none.
    Pass {
        launch: Box<PassLaunch>,
        fallback: Option<Box<FallbackLaunch>>,
    },
    /// A kernel that knows its length for most lines, then a portable one for those that it leaves; where the arrays are not
    /// aligned as the first one needs them, the portable one for all lines.
    Tuned {
        launch: Box<TunedLaunch>,
        fallback: Box<FallbackLaunch>,
        /// Where this is the first of several axes: how the transforms' largest numbers are found.
        search: Option<Box<Search>>,
        /// Where it is the last, of several transforms: how those that were scaled down are scaled back.
        scaled_back: Option<Box<ArrayTask>>,
    },
}

/// The search for the largest numbers that decide the scales between axes. A tuned kernel leaves all lines with numbers
/// that ask for a scale, so it can go first, and the search is among those lines alone; should one be found, the results of
/// its transform's other lines are looked at, or scaled, afterwards, which is exact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// All numbers, for the case that the tuned kernel cannot run.
    pub(crate) everywhere: (ArrayTask, u64),
    pub(crate) left: ArrayTask,
}

/// Tables of the passes of a line.
pub(crate) struct PassesTables {
    pub(crate) blocks: Vec<BlockTables>,
    /// Both passes of a transform go through one kernel: unless the template's kernels for single passes, with other tables, are
    /// faster.
    pub(crate) together: bool,
    pub(crate) one_by_one: Vec<BlockTables>,
    /// All roots between both passes, where they go through one kernel.
    pub(crate) short_roots: Piece,
    /// Low and high powers of the roots between passes.
    pub(crate) roots: Vec<(Piece, Piece)>,
    /// What the template needs for passes of long transforms, where it takes them.
    pub(crate) template: Vec<Option<Piece>>,
    /// The same for a convolution in one launch.
    pub(crate) convolution: Option<Piece>,
}

/// Kernels that know the length of a line of one block, or of two passes together, and their tables; the first that takes the lines
/// runs.
pub(crate) type TunedTables = Vec<(Kernels, Piece)>;

/// Where the words of a transform come from, or go.
#[derive(Clone, Copy)]
pub(crate) struct WordArray {
    pub(crate) words: Address,
    pub(crate) exponents: Address,
    pub(crate) distance: u64,
    pub(crate) exponents_distance: u64,
}

pub(crate) const NO_WORDS: WordArray = WordArray {
    words: Address::NONE,
    exponents: Address::NONE,
    distance: 0,
    exponents_distance: 0,
};

/// One transform of the passes: from where, to where.
pub(crate) struct PassIo<'a> {
    pub(crate) passes: &'a Passes,
    pub(crate) tables: &'a PassesTables,
    /// Those of the passes, and whether both go through one kernel.
    pub(crate) blocks: &'a [BlockTables],
    pub(crate) together: bool,
    pub(crate) source: i32,
    pub(crate) from: WordArray,
    pub(crate) source_table: Address,
    pub(crate) sink: i32,
    pub(crate) to: WordArray,
    pub(crate) sink_table: Address,
    pub(crate) sink_exponent: i32,
    /// What the first pass finds out of the numbers, and the last one uses.
    pub(crate) properties: Address,
    /// Words between passes, and their two sets of exponents.
    pub(crate) between: Address,
    pub(crate) exponents: [Address; 2],
    /// Where the template counts and lists lines that it leaves to a portable kernel.
    pub(crate) left: (Address, Address),
}

impl PassIo<'_> {
    /// Whether they are passes of one of Bluestein's convolutions.
    pub(crate) fn is_of_convolution(&self) -> bool {
        self.source != SOURCE_FLOATS || self.sink != SINK_FLOATS
    }
}

/// What all launches of a plan have in common.
pub(crate) struct ProgramBuilder<'a> {
    pub(crate) machine: &'a Arc<dyn Machine>,
    pub(crate) recipe: &'a Recipe,
    pub(crate) tables: DeviceMemory,
    pub(crate) actions: Vec<Action>,
    pub(crate) spare: Address,
    /// Where there are several axes.
    pub(crate) scaling: Option<Scaling>,
    /// What is cleared once, before anything is launched.
    pub(crate) zeros: Zeros,
    /// Workspace behind what lasts for the whole call.
    pub(crate) lasting: u64,
    pub(crate) most_workspace: u64,
    /// Passes on an instruction that not every GPU has, and all passes.
    pub(crate) tuned_passes: (usize, usize),
    /// What is worth knowing of the kernels.
    pub(crate) remarks: Vec<String>,
    /// The search for the largest number, as long as it has not been put among the actions.
    pub(crate) search: Option<(ArrayTask, u64)>,
    /// The kernel with products by residues for lines of 1024 points; tables of a block have its own.
    pub(crate) residues: Option<&'static str>,
    /// How many of their lines a block takes, and its threads, where that is measured.
    pub(crate) residue_block: Option<(u64, u32)>,
    /// Of kernels with redundant moduli.
    pub(crate) watch: Option<Watch>,
    /// What numbers of f64 are to the template, where it has a choice.
    pub(crate) template: Number,
    /// Conversions between integers and floating point by the instructions for that.
    pub(crate) conversions: bool,
}

/// One axis: every line along it.
pub(crate) struct Axis {
    pub(crate) input: FloatLines,
    pub(crate) output: FloatLines,
    /// How many lines there are.
    pub(crate) lines: u64,
    pub(crate) bias: i32,
    pub(crate) n: u64,
    /// Neighbouring lines lie closer together than the elements of a line.
    pub(crate) read_across: bool,
    pub(crate) write_across: bool,
    /// The dimensions that number the lines.
    pub(crate) read: Vec<Dimension>,
    pub(crate) write: Vec<Dimension>,
    /// The same with strides in the transforms' numbers, on the device, and how many there are.
    pub(crate) transforms: (Address, i32),
    /// Points of the axes before, all together.
    pub(crate) points_before: usize,
    /// Kernels that may take its lines, if they lie well.
    pub(crate) tuned: TunedTables,
}

impl Axis {
    /// Its lines as kernels that know their length can run through them.
    pub(crate) fn tuned_lines(&self) -> TunedLines<'_> {
        TunedLines {
            input: &self.input,
            output: &self.output,
            read: &self.read,
            write: &self.write,
            count: self.lines,
        }
    }

    /// Whether kernels of Hopper's tensor instruction may take its lines.
    pub(crate) fn is_for_tuned(&self) -> bool {
        self.tuned.iter().any(|(kernels, _)| kernels.are_tuned())
    }
}

/// The launch of a portable kernel that a tuned one leaves lines to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FallbackLaunch {
    pub(crate) tasks: Tasks,
    pub(crate) kernel: FallbackKernel,
    pub(crate) blocks: u64,
    pub(crate) shared_bytes: usize,
}

impl FallbackLaunch {
    /// With the tasks of a call, in so many blocks.
    pub(crate) fn with(&self, tasks: Tasks, blocks: u64) -> Launch {
        let grid = (blocks, ozfft_kernels::GENERAL_THREADS);
        match self.kernel {
            FallbackKernel::Truncated(name) => Launch::new(name, grid, self.shared_bytes, tasks),
            FallbackKernel::General { .. } => {
                Launch::new(self.kernel.name(), grid, self.shared_bytes, tasks.0[0])
            }
        }
    }
}

/// The portable kernel that takes what another one leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FallbackKernel {
    /// For truncated products, by its name.
    Truncated(&'static str),
    /// For any block whose largest step has so many tiles of eight slots.
    General { tiles: i32 },
}

impl FallbackKernel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            FallbackKernel::Truncated(name) => name,
            FallbackKernel::General { tiles } if tiles <= ozfft_kernels::SMALL_TILES => {
                "general_block_small"
            }
            FallbackKernel::General { .. } => "general_block",
        }
    }
}

/// Dimensions, on the device and here.
pub(crate) type Listed = (Piece, Vec<Dimension>);
