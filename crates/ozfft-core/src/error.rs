//! Everything that can go wrong, with the value that was given and the remedy.

use crate::kind::Kind;
use fallible_memory::OutOfMemory;

/// Which buffer an error speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// The array that is read.
    Input,
    /// The array that is written (for in-place calls, the only one).
    Output,
    /// The caller's scratch memory.
    Workspace,
}

impl std::fmt::Display for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Buffer::Input => "input",
            Buffer::Output => "output",
            Buffer::Workspace => "workspace",
        })
    }
}

impl Buffer {
    /// What to do about a wrong length.
    fn remedy(self) -> &'static str {
        match self {
            Buffer::Workspace => "give as many words of 64 bits as workspace_len() says",
            _ => "for several arrays plan a batch, for an array within a longer one a layout",
        }
    }
}

/// A number in few characters.
fn short(number: f64) -> String {
    match number.abs() {
        1e-3..1e6 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// The reasons for which a plan is rejected or an execution fails.
///
/// Unless the variant says otherwise nothing has been written when an error is returned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FftError {
    /// A dimension of length zero has no transform.
    #[error("dimension {axis} has length 0; every dimension must have at least one point")]
    EmptyDimension {
        /// The dimension.
        axis: usize,
    },
    /// The array has no dimension at all.
    #[error("the shape is empty; give at least one dimension")]
    EmptyShape,
    /// No axis was selected.
    #[error("no axis was selected; name at least one of the {rank} axes")]
    NoAxes {
        /// Number of dimensions of the array.
        rank: usize,
    },
    /// An axis was named twice.
    #[error("axis {axis} is named twice; name every axis once")]
    DuplicateAxis {
        /// The repeated axis.
        axis: usize,
    },
    /// An axis that the array does not have.
    #[error("axis {axis} does not exist in an array of rank {rank}; axes count from 0")]
    AxisOutOfRange {
        /// The axis asked for.
        axis: usize,
        /// Number of dimensions of the array.
        rank: usize,
    },
    /// A batch of zero transforms.
    #[error("the batch is 0; transform at least one array")]
    EmptyBatch,
    /// More elements than this machine can address.
    #[error(
        "the array of shape {shape:?} and batch {batch} has more elements than can be addressed here"
    )]
    TooLarge {
        /// The shape asked for.
        shape: Vec<usize>,
        /// The batch asked for.
        batch: usize,
    },
    /// Strides do not fit the number of dimensions.
    #[error(
        "{buffer}: {given} strides were given for {expected} dimensions; give one per dimension"
    )]
    StrideCount {
        /// The buffer whose layout is meant.
        buffer: Buffer,
        /// Number of dimensions.
        expected: usize,
        /// Number of strides given.
        given: usize,
    },
    /// Strides lead in front of the buffer's first element.
    #[error(
        "{buffer}: the strides reach {before} elements before the start of the buffer; raise the offset to {before} or more"
    )]
    NegativeIndex {
        /// The buffer whose layout is meant.
        buffer: Buffer,
        /// How far in front.
        before: usize,
    },
    /// Two different output elements would be stored in the same place.
    #[error(
        "output: strides {strides:?} with batch distance {distance} store two elements in one place; spread them out"
    )]
    OverlappingOutput {
        /// The strides given.
        strides: Vec<isize>,
        /// The distance between arrays of the batch.
        distance: isize,
    },
    /// A buffer has not the length that the plan says, or a workspace is shorter than that.
    #[error(
        "{buffer}: {given} elements were given, the plan has {expected}; {}", .buffer.remedy()
    )]
    BufferLength {
        /// Which buffer.
        buffer: Buffer,
        /// Elements needed.
        expected: usize,
        /// Elements given.
        given: usize,
    },
    /// An in-place call on a plan whose input and output lie differently.
    #[error(
        "in place needs equal input and output layouts, and of real transforms rows of reals padded to n/2+1 complex numbers (Layout::padded_real); plan with these, or use the out-of-place call"
    )]
    InPlaceLayout,
    /// The call does not fit the plan's kind of transform.
    #[error(
        "this plan is {planned}, the call is for {called}; plan the other kind or use the matching call"
    )]
    WrongKind {
        /// The planned kind.
        planned: Kind,
        /// The kind that the call is for.
        called: Kind,
    },
    /// Zero threads.
    #[error("0 threads were asked for; use 1 or more")]
    ZeroThreads,
    /// An accuracy that is not a number between 0 and 1, or zero bits.
    #[error(
        "accuracy {} is not usable; give a relative error between 0 and 1, or 1 to 53 bits", short(*.given)
    )]
    InvalidAccuracy {
        /// The given accuracy, as a relative error.
        given: f64,
    },
    /// Bits that are the same everywhere were asked for, of an engine that has not got them.
    #[error(
        "the engine {engine} has other bits on other machines; leave out reproducible, or take the engine digits"
    )]
    NotReproducible {
        /// The engine asked for.
        engine: &'static str,
    },
    /// No recipe of the engine reaches the accuracy.
    #[error(
        "accuracy {asked:e} cannot be reached here; the best recipe is expected to give {best:e}: ask for that or more"
    )]
    AccuracyUnreachable {
        /// The relative error asked for.
        asked: f64,
        /// The best that can be promised.
        best: f64,
    },
    /// The environment variable `OZFFT_WITHOUT` names something else than the units that it can leave out.
    #[error(
        "OZFFT_WITHOUT names {name:?}, which is no unit that can be left out; name some of {known}, with commas between them, or unset it"
    )]
    UnknownUnit {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A choice that the engine does not have.
    #[error("{0}")]
    Unsupported(String),
    /// A NaN or an infinity in a `strict` plan.
    #[error(
        "the input holds {value} at element {index} (counted in the buffer); clean the data, or plan without `strict` to get NaN for that transform"
    )]
    NotFinite {
        /// Position in the input buffer.
        index: usize,
        /// The value, as text.
        value: String,
    },
    /// A `strict` plan was given device pointers: it would have to look at the input, and wait for it, before it computes.
    #[error(
        "a strict plan looks at its input first, which it cannot in a stream; plan without `strict`, or pass host arrays"
    )]
    StrictOnDevice,
    /// A complex-to-real input whose zero-frequency or Nyquist value is not real.
    ///
    /// The transform **has been computed** (with those imaginary parts taken as zero) when this is returned.
    #[error(
        "the first or the middle value of {count} half-spectrum lines has an imaginary part, which no real signal has; set it to 0, as the transform has taken it"
    )]
    NotHermitian {
        /// Number of lines concerned.
        count: usize,
    },
    /// There is no NVIDIA driver, or it does not start.
    #[error(
        "no GPU can be used: {reason}; install NVIDIA's driver, or plan for the device cpu or auto"
    )]
    NoDriver {
        /// The finding.
        reason: String,
    },
    /// A device number that is not there.
    #[error("there is no GPU number {ordinal}; the driver has {count}, counted from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// Devices that the driver has.
        count: usize,
    },
    /// A device without the instructions that the kernels need.
    #[error(
        "{name} has compute capability {}.{}, and {}.{} is needed; plan for the device cpu", capability.0, capability.1, needed.0, needed.1
    )]
    DeviceTooOld {
        /// The device's name.
        name: String,
        /// Major and minor number of what it has.
        capability: (i32, i32),
        /// Major and minor number of what is needed.
        needed: (i32, i32),
    },
    /// The device's memory does not hold the arrays, tables or workspace.
    #[error(
        "the GPU's memory is too small: {needed} bytes are needed, {free} of {total} are free; transform fewer arrays at a time"
    )]
    DeviceMemory {
        /// Bytes that were asked for at once.
        needed: usize,
        /// Bytes that were free.
        free: usize,
        /// Bytes that the device has.
        total: usize,
    },
    /// The driver reports a failure: a device that is lost, or a launch that failed.
    ///
    /// Where `action` is "copying from the device", the transform was complete, and a part of the output **may have been
    /// written**, in place over the input; otherwise nothing has.
    #[error("{action} failed: {name} ({code}), {text}")]
    DeviceFailure {
        /// The operation that failed.
        action: &'static str,
        /// The driver's code.
        code: u32,
        /// The driver's name for it.
        name: String,
        /// The driver's text for it.
        text: String,
    },
    /// A device that does not multiply in fp8.
    #[error(
        "{name} has compute capability {}.{}, and products in fp8 need {}.{}; take the substrate auto or int8-mma-sync", capability.0, capability.1, needed.0, needed.1
    )]
    NoFp8 {
        /// The device's name.
        name: String,
        /// Major and minor number of what it has.
        capability: (i32, i32),
        /// Major and minor number of what is needed.
        needed: (i32, i32),
    },
    /// The device's fp8 products are not exact where its kernels need them to be.
    #[error(
        "{name} is not exact in fp8: {differing} of {compared} sums of digits, up to {largest}, differ from integers; take the substrate auto"
    )]
    Fp8Inexact {
        /// The device's name.
        name: String,
        /// Sums that differed.
        differing: u32,
        /// Sums that were compared.
        compared: u32,
        /// The largest of them.
        largest: u32,
    },
    /// A matrix whose digits could add up to more than fp8 products keep exact.
    #[error(
        "fp8 products could sum up to {largest} and are exact to {exact} (put together: {combined} and {combined_exact}); take the substrate auto"
    )]
    Fp8SumsTooLarge {
        /// The largest sum that data could lead to.
        largest: i64,
        /// The largest that is exact.
        exact: i64,
        /// The largest of several sums that are put together in f32.
        combined: i64,
        /// The largest that is exact there.
        combined_exact: i64,
    },
    /// The device's f16 products are not exact where its kernels need them to be.
    #[error(
        "{name} is not exact in f16: {differing} of {compared} sums of digits, up to {largest}, differ from integers; take the substrate auto"
    )]
    F16Inexact {
        /// The device's name.
        name: String,
        /// Sums that differed.
        differing: u32,
        /// Sums that were compared.
        compared: u32,
        /// The largest of them.
        largest: u32,
    },
    /// A matrix whose digits could add up to more than f16 products keep exact.
    #[error(
        "f16 products could sum up to {largest} and are exact below {exact} (put together: {combined} and {combined_exact}); take the substrate auto"
    )]
    F16SumsTooLarge {
        /// The largest sum that data could lead to.
        largest: i64,
        /// What sums have to be below.
        exact: i64,
        /// The largest of several sums that are put together.
        combined: i64,
        /// The largest that has room.
        combined_exact: i64,
    },
    /// A pointer that is not device memory that the plan can use.
    #[error("{buffer}: the device pointer {address:#x} cannot be used: {reason}")]
    WrongPointer {
        /// Which buffer.
        buffer: Buffer,
        /// The address given.
        address: u64,
        /// The reason.
        reason: String,
    },
    /// Moduli or residues that do not meet a condition of exactness.
    #[error("{0}")]
    #[cfg(feature = "residues")]
    Residues(#[from] residues::ResidueError),
    /// Redundant residues contradict each other, and there are too many bad ones to say which.
    ///
    /// The output **has been written** and is not to be trusted.
    #[error(
        "{outputs} sums have more bad residues than {redundancy} redundant moduli correct; the machine computes wrongly: do not trust the output, and compute it again elsewhere"
    )]
    BadResidues {
        /// Sums that could not be corrected.
        outputs: u64,
        /// Redundant moduli.
        redundancy: usize,
    },
    /// A mode of the floats engine that this machine, length or data cannot have.
    #[error("{0}")]
    #[cfg(feature = "floats")]
    Floats(#[from] floats::FloatError),
    /// The machine has, or lets the process have, too little memory for tables, workspace or results.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// Saved plans that cannot be read.
    #[error("wisdom cannot be read: {0}")]
    Wisdom(String),
}

impl FftError {
    /// A feature that this build of the library lacks.
    #[doc(hidden)]
    pub fn missing_feature(what: &str, feature: &str) -> FftError {
        FftError::Unsupported(format!(
            "{what} is not in this build of ozfft; build it with the feature \"{feature}\""
        ))
    }
}
