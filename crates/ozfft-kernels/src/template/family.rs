//! What kernels compute.

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

/// Complex lines of one block of one or two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    /// Points of both steps; 1 where there is no last one.
    pub steps: [usize; 2],
}

/// Complex lines of f64 of one block of three steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreeSteps {
    /// Points of the steps.
    pub steps: [usize; 3],
}

/// Real lines to half-spectra or back, of one block of one or two steps. Two lines are one complex line: [`lines`](super::KernelSpec::lines) are even.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Real {
    /// Points of both steps; 1 where there is no last one.
    pub steps: [usize; 2],
    /// Which side has half-spectra.
    pub ends: Ends,
}

/// Two passes of blocks in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TwoPasses {
    /// Points of both passes' steps; 1 where there is no last one.
    pub steps: [[usize; 2]; 2],
    /// What transforms begin and end with; real ones are contiguous.
    pub ends: Ends,
}

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
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            Ends::Complex => ("complex", ""),
            Ends::RealToHalf => ("real to half-spectrum", "r2c_"),
            Ends::HalfToReal => ("half-spectrum to real", "c2r_"),
            Ends::Convolution => ("convolution", "convolution_"),
        }
    }
}

/// One pass of a transform whose words go through memory. Its lines are strided but for those of a last pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LongPass {
    /// Points of the first step, of one between both, and of the last one; 1 where there is none.
    pub steps: [usize; 3],
    /// Which pass it is.
    pub pass: Pass,
    /// Lines that lie side by side: what is left over of a kernel's lines is idle.
    pub side_by_side: u64,
    /// Whether there are too few lines for the GPU, so that what counts is how soon a warp is done.
    pub(crate) few: bool,
}

impl LongPass {
    /// The pass of such steps, of which so many lines lie side by side.
    pub const fn new(steps: [usize; 3], side_by_side: u64, pass: Pass) -> Self {
        LongPass {
            steps,
            pass,
            side_by_side,
            few: false,
        }
    }
}

/// What passes of one block are chosen for, where all transforms lie side by side.
pub const MANY_TRANSFORMS: u64 = 1024;

/// What a pass reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pass {
    /// From complex numbers to words.
    Opening,
    /// From real numbers to words.
    OpeningReal,
    /// From half-spectra to words.
    OpeningHalf,
    /// From words to words.
    Middle,
    /// From words to complex numbers.
    Closing,
    /// From words to real numbers.
    ClosingReal,
    /// Bluestein's convolution: from numbers times the chirp to words.
    ChirpedOpening,
    /// A convolution of one block: from numbers times the chirp to the product of both spectra.
    ChirpedProduct,
    /// From words to the product of both spectra.
    Product,
    /// From the product to words.
    ProductOpening,
    /// A convolution of one block: from the product to numbers, times the chirp.
    ProductClosing,
    /// From words to numbers, times the chirp.
    UnchirpedClosing,
}

impl Pass {
    /// Whether it ends with numbers that are rounded from sums, without becoming words first.
    pub fn is_closing(self) -> bool {
        matches!(self, Pass::Closing | Pass::ClosingReal)
    }

    /// Whether it is a pass of Bluestein's convolutions alone.
    pub fn is_of_convolution(self) -> bool {
        use Pass::*;
        matches!(
            self,
            ChirpedOpening
                | ChirpedProduct
                | Product
                | ProductOpening
                | ProductClosing
                | UnchirpedClosing
        )
    }

    /// Whether it is the last of a transform: its lines are contiguous, and its outputs side by side.
    pub fn is_last(self) -> bool {
        use Pass::*;
        self.is_closing()
            || matches!(
                self,
                ChirpedProduct | Product | ProductClosing | UnchirpedClosing
            )
    }

    /// In names of kernels and, in capitals, in their source; and in words.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            Pass::Opening => ("opening", "opening pass"),
            Pass::OpeningReal => ("opening_real", "opening real pass"),
            Pass::OpeningHalf => ("opening_half", "opening half pass"),
            Pass::Middle => ("middle", "middle pass"),
            Pass::Closing => ("closing", "closing pass"),
            Pass::ClosingReal => ("closing_real", "closing real pass"),
            Pass::ChirpedOpening => ("chirped_opening", "chirped opening pass"),
            Pass::ChirpedProduct => ("chirped_product", "chirped product pass"),
            Pass::Product => ("product", "product pass"),
            Pass::ProductOpening => ("product_opening", "product opening pass"),
            Pass::ProductClosing => ("product_closing", "product closing pass"),
            Pass::UnchirpedClosing => ("unchirped_closing", "unchirped closing pass"),
        }
    }
}
