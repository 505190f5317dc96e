//! What a launch of the portable kernels is told: the structures of `crates/ozfft-kernels/cuda/portable/task.cuh`.

use bytemuck::{Pod, Zeroable};

pub(crate) const FOLD_UNIT: i32 = 0;
pub(crate) const FOLD_PLAIN: i32 = 1;
pub(crate) const FOLD_TIME_SHIFTED: i32 = 2;
pub(crate) const FOLD_FREQUENCY_SHIFTED: i32 = 3;

pub(crate) const ROLE_ONLY: i32 = 0;
pub(crate) const ROLE_FIRST: i32 = 1;
pub(crate) const ROLE_MIDDLE: i32 = 2;
pub(crate) const ROLE_LAST: i32 = 3;

pub(crate) const ELEMENTS_COMPLEX: i32 = 0;
pub(crate) const ELEMENTS_REAL: i32 = 1;
pub(crate) const ELEMENTS_HALF: i32 = 2;

pub(crate) const SOURCE_FLOATS: i32 = 0;
pub(crate) const SOURCE_CHIRPED_FLOATS: i32 = 1;
pub(crate) const SOURCE_GROUP_WORDS: i32 = 2;
pub(crate) const SOURCE_LINE_WORDS: i32 = 3;

pub(crate) const SINK_FLOATS: i32 = 0;
pub(crate) const SINK_NEXT_PASS: i32 = 1;
pub(crate) const SINK_KERNEL_PRODUCT: i32 = 2;
pub(crate) const SINK_UNCHIRPED_FLOATS: i32 = 3;

pub(crate) const SYMMETRY_NONE: i32 = 0;
pub(crate) const SYMMETRY_REAL: i32 = 1;
pub(crate) const SYMMETRY_HERMITIAN: i32 = 2;

pub(crate) const NATURE_OWN: i32 = 0;
pub(crate) const NATURE_RECORD: i32 = 1;
pub(crate) const NATURE_RECALL: i32 = 2;
pub(crate) const NATURE_NONE: i32 = 3;

/// An address that the device uses, or, until a call says where its arrays are, a place within one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Address(u64);

/// The arrays of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrays {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) workspace: u64,
}

/// What a kernel takes, by value: a structure of integers and addresses that is laid out as in the kernel's source.
pub(crate) trait KernelArgs: Copy + Send + Sync + 'static {
    /// Puts the arrays of a call in the places that stand for them.
    fn resolve(&mut self, _: &Arrays) {}

    /// With the arrays of a call.
    fn resolved(mut self, arrays: &Arrays) -> Self {
        self.resolve(arrays);
        self
    }
}

impl Address {
    const INPUT: u64 = 1 << 62;
    const OUTPUT: u64 = 2 << 62;
    const WORKSPACE: u64 = 3 << 62;

    pub(crate) const NONE: Address = Address(0);

    pub(crate) fn of_input() -> Address {
        Address(Self::INPUT)
    }

    pub(crate) fn of_output() -> Address {
        Address(Self::OUTPUT)
    }

    /// So many bytes from the beginning of the workspace.
    pub(crate) fn of_workspace(offset: u64) -> Address {
        Address(Self::WORKSPACE | offset)
    }

    /// An address that is known already; none lies in the upper three quarters of the address space.
    pub(crate) fn known(address: u64) -> Address {
        debug_assert!(address < Self::INPUT);
        Address(address)
    }

    pub(crate) fn resolve(self, arrays: &Arrays) -> Address {
        let fallback = self.0 & (Self::INPUT - 1);
        Address(match self.0 & Self::WORKSPACE {
            Self::INPUT => arrays.input + fallback,
            Self::OUTPUT => arrays.output + fallback,
            Self::WORKSPACE => arrays.workspace + fallback,
            _ => self.0,
        })
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }

    /// So many bytes behind (or, where the place within the array is known to allow it, before) this one.
    pub(crate) fn later(self, bytes: i64) -> Address {
        Address(self.0.wrapping_add_signed(bytes))
    }
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct StepTable {
    pub(crate) matrix: Address,
    pub(crate) rotations: Address,
    pub(crate) n: i32,
    pub(crate) fold: i32,
    pub(crate) role: i32,
    pub(crate) inner: i32,
    pub(crate) shift: i32,
    pub(crate) tiles: i32,
    pub(crate) rotation_stride: i32,
    pub(crate) mirror_negates: i32,
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Dimension {
    pub(crate) length: u64,
    pub(crate) stride: i64,
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct FloatLines {
    pub(crate) numbers: Address,
    pub(crate) dimensions: Address,
    pub(crate) offset: i64,
    pub(crate) stride: i64,
    pub(crate) count: u64,
    pub(crate) dimension_count: i32,
    pub(crate) single: i32,
    pub(crate) elements: i32,
    pub(crate) conjugate: i32,
    pub(crate) aligned: i32,
    pub(crate) unused: i32,
}

impl FloatLines {
    fn resolve(&mut self, arrays: &Arrays) {
        self.numbers = self.numbers.resolve(arrays);
        self.aligned = i32::from(self.numbers.value().is_multiple_of(16));
    }
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Task {
    pub(crate) input: FloatLines,
    pub(crate) output: FloatLines,
    pub(crate) steps: Address,
    pub(crate) places: Address,
    pub(crate) words_in: Address,
    pub(crate) exponents_in: Address,
    pub(crate) words_out: Address,
    pub(crate) exponents_out: Address,
    pub(crate) source_table: Address,
    pub(crate) sink_table: Address,
    pub(crate) roots_low: Address,
    pub(crate) roots_high: Address,
    pub(crate) properties: Address,
    /// Numbers of the lines to be transformed, and of how many, where another kernel has left some; else none.
    pub(crate) list: Address,
    pub(crate) list_count: Address,
    /// Every transform's largest number, and the dimensions that number lines, with strides in the transforms' numbers.
    pub(crate) largest: Address,
    pub(crate) transforms: Address,
    /// A bit for each line that is transformed here, or none.
    pub(crate) marks: Address,
    pub(crate) transform_length: u64,
    pub(crate) words_distance: u64,
    pub(crate) exponents_in_distance: u64,
    pub(crate) exponents_out_distance: u64,
    pub(crate) lines_per_transform: u64,
    pub(crate) inner: u64,
    pub(crate) length: u64,
    pub(crate) groups: u64,
    pub(crate) previous: u64,
    pub(crate) line_count: u64,
    pub(crate) first_transform: u64,
    pub(crate) visible_length: u64,
    pub(crate) earlier_lengths: [u64; 8],
    pub(crate) earlier_count: i32,
    pub(crate) block_length: i32,
    pub(crate) line_pitch: i32,
    pub(crate) step_count: i32,
    pub(crate) data_digits: i32,
    pub(crate) matrix_digits: i32,
    pub(crate) diagonals: i32,
    pub(crate) exact: i32,
    pub(crate) word_bits: i32,
    pub(crate) exponent_offset: i32,
    /// Bits that numbers may grow by between axes: negative in the first, positive in the last, else 0.
    pub(crate) bias: i32,
    pub(crate) source: i32,
    pub(crate) sink: i32,
    pub(crate) nature_use: i32,
    pub(crate) root_low_bits: i32,
    pub(crate) lines_per_block: i32,
    pub(crate) load_across: i32,
    pub(crate) store_across: i32,
    pub(crate) symmetry: i32,
    /// From row to row of the first step, in the shared memory of the kernels for truncated products.
    pub(crate) row_pitch: i32,
    pub(crate) column_pitch: i32,
    pub(crate) transform_dimension_count: i32,
}

/// Two passes of transforms that fit shared memory, or one: then the second has no steps.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Tasks(pub(crate) [Task; 2]);

impl Tasks {
    pub(crate) fn one(task: Task) -> Tasks {
        Tasks([task, Task::zeroed()])
    }

    /// The pass that writes the results.
    pub(crate) fn last(&self) -> &Task {
        let [first, second] = &self.0;
        if second.step_count == 0 {
            first
        } else {
            second
        }
    }

    /// The same to be changed.
    pub(crate) fn last_mut(&mut self) -> &mut Task {
        let [first, second] = &mut self.0;
        if second.step_count == 0 {
            first
        } else {
            second
        }
    }

    /// What the outputs' exponents are biased by in all.
    pub(crate) fn exponent_offset(&self) -> i32 {
        self.0.iter().map(|task| task.exponent_offset).sum()
    }

    /// The list of lines, or of transforms of two passes, that alone are worked on.
    pub(crate) fn set_list(&mut self, list: Address, count: Address) {
        (self.0[0].list, self.0[0].list_count) = (list, count);
    }
}

impl KernelArgs for Tasks {
    fn resolve(&mut self, arrays: &Arrays) {
        for task in &mut self.0 {
            task.resolve(arrays);
        }
    }
}

impl KernelArgs for Task {
    fn resolve(&mut self, arrays: &Arrays) {
        self.input.resolve(arrays);
        self.output.resolve(arrays);
        for address in [
            &mut self.words_in,
            &mut self.exponents_in,
            &mut self.words_out,
            &mut self.exponents_out,
            &mut self.properties,
            &mut self.list,
            &mut self.list_count,
            &mut self.largest,
            &mut self.marks,
        ] {
            *address = address.resolve(arrays);
        }
    }
}

/// What residue kernels that count are told: `Watch` of `residue_redundant.cuh`, or `Adaptation` of `residue_adaptive.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Watch {
    /// What [`Counting`] says.
    pub(crate) counts: Address,
    told: [u32; 2],
}

impl Watch {
    /// For kernels with redundant moduli, which make these faults.
    pub(crate) fn with_faults(counts: Address, faults: Faults) -> Watch {
        let told = [faults.seed, faults.one_in];
        Watch { counts, told }
    }

    /// For kernels with adaptive moduli: a line's unit relative to its norm, as the exponent of a power of two, where it may be so coarse.
    pub(crate) fn with_unit(counts: Address, unit: Option<i32>) -> Watch {
        let told = [unit.unwrap_or(i32::MIN) as u32, 0];
        Watch { counts, told }
    }
}

/// What residue kernels count, in 64 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    /// Sums that were put right, and sums that could not be.
    Redundant,
    /// Columns of both steps by the number of moduli ([`ozfft_kernels::RESIDUE_ADAPTIVE_COUNTS`]), and lines that want a finer unit than there is.
    Adaptive,
}

impl Counting {
    /// Of a kernel for lines of 1024 points.
    pub(crate) fn of(kernel: &str) -> Option<Counting> {
        match kernel {
            _ if kernel == ozfft_kernels::RESIDUE_REDUNDANT_KERNELS[0] => Some(Counting::Redundant),
            _ if kernel == ozfft_kernels::RESIDUE_ADAPTIVE_KERNELS[0] => Some(Counting::Adaptive),
            _ => None,
        }
    }

    /// How many counts there are.
    pub(crate) fn len(self) -> usize {
        match self {
            Counting::Redundant => 2,
            Counting::Adaptive => ozfft_kernels::RESIDUE_ADAPTIVE_COUNTS.as_flattened().len() + 1,
        }
    }
}

/// Faults that are made to test what finds them: a bit is flipped in one residue of one in so many sums, or of none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Faults {
    pub(crate) seed: u32,
    pub(crate) one_in: u32,
}

/// One pass in which something is counted.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct WatchedTask {
    pub(crate) task: Task,
    pub(crate) watch: Watch,
}

impl KernelArgs for WatchedTask {
    fn resolve(&mut self, arrays: &Arrays) {
        self.task.resolve(arrays);
        self.watch.counts = self.watch.counts.resolve(arrays);
    }
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ArrayTask {
    pub(crate) input: FloatLines,
    pub(crate) output: FloatLines,
    pub(crate) largest: Address,
    pub(crate) transforms: Address,
    /// Not 0 as soon as a transform is to be scaled down.
    pub(crate) scaled_down: Address,
    pub(crate) line_count: u64,
    /// From element to element of a line that is searched, in the numbers of their transforms.
    pub(crate) transform_stride: i64,
    /// Lines that another kernel has left, how many, and a bit for each line of the array.
    pub(crate) list: Address,
    pub(crate) list_count: Address,
    pub(crate) marks: Address,
    pub(crate) bias: i32,
    pub(crate) transform_dimension_count: i32,
}

impl KernelArgs for ArrayTask {
    fn resolve(&mut self, arrays: &Arrays) {
        self.input.resolve(arrays);
        self.output.resolve(arrays);
        for address in [
            &mut self.largest,
            &mut self.scaled_down,
            &mut self.list,
            &mut self.list_count,
            &mut self.marks,
        ] {
            *address = address.resolve(arrays);
        }
    }
}

// The kernels' sources assert the same sizes.
const _: () = assert!(size_of::<StepTable>() == 48 && size_of::<FloatLines>() == 64);
const _: () = assert!(size_of::<Task>() == 504 && size_of::<ArrayTask>() == 200);
const _: () = assert!(size_of::<WatchedTask>() == 504 + 16);

/// Bytes of shared memory that the kernel keeps for every line, besides its points (`Line` in `panel.cuh`).
pub(crate) const LINE_HEADER_BYTES: usize = 136;

/// Bytes of shared memory that all lines have in common.
pub(crate) const COMMON_BYTES: usize = 128;

/// Bytes of shared memory for every point of a line, and for what a point may need besides.
pub(crate) const POINT_BYTES: usize = 16;
pub(crate) const EXTRA_BYTES: usize = 4;
