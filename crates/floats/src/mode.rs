//! The modes by the names that users of trnfft know, and one more.

use crate::Format;
use std::fmt;

/// How a transform is computed, from about two decimal digits to those of double precision.
///
/// ```
/// use floats::Mode;
/// let mode: Mode = "ozaki_hq".parse()?;
/// assert_eq!(mode, Mode::OzakiHq);
/// assert_eq!(mode.to_string(), "ozaki_hq");
/// assert!("ozaki_uhq".parse::<Mode>().is_err());
/// # Ok::<(), floats::FloatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Data and matrix rounded to bf16, one product, sums in f32.
    Bf16,
    /// Data and matrix rounded to f16, one product, sums in f32. Lines are multiplied by a power of two that makes the best
    /// use of f16's range.
    Fp16,
    /// As [`Mode::Bf16`], and once more for what the first result leaves of the input.
    Bf16Refined,
    /// Data and matrix as two bf16 numbers each, three products.
    Ozaki,
    /// Data and matrix as two f16 numbers each, three products: 22 bits.
    Fp16Ozaki,
    /// Three bf16 numbers each, six products.
    OzakiHq,
    /// f32 throughout.
    Fast,
    /// f32 with the error of every product and sum carried along.
    Kahan,
    /// Data and matrix as four digits of 8 bits in bf16 numbers, ten products whose f32 sums are exact, combined in
    /// f64.
    OzakiTwoLevel,
    /// f64 throughout.
    Double,
}

impl Mode {
    /// Every mode, the least accurate first.
    pub const ALL: [Mode; 10] = [
        Mode::Bf16,
        Mode::Fp16,
        Mode::Bf16Refined,
        Mode::Ozaki,
        Mode::Fp16Ozaki,
        Mode::OzakiHq,
        Mode::Fast,
        Mode::Kahan,
        Mode::OzakiTwoLevel,
        Mode::Double,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Bf16 => "bf16",
            Mode::Fp16 => "fp16",
            Mode::Bf16Refined => "bf16_refined",
            Mode::Ozaki => "ozaki",
            Mode::Fp16Ozaki => "fp16_ozaki",
            Mode::OzakiHq => "ozaki_hq",
            Mode::Fast => "fast",
            Mode::Kahan => "kahan",
            Mode::OzakiTwoLevel => "ozaki_two_level",
            Mode::Double => "double",
        }
    }

    /// Whether it multiplies short numbers on a matrix unit.
    pub const fn needs_matrix_unit(self) -> bool {
        self.format().is_some()
    }

    /// The numbers that it multiplies on a matrix unit, if it does.
    pub const fn format(self) -> Option<Format> {
        match self {
            Mode::Fast | Mode::Kahan | Mode::Double => None,
            Mode::Fp16 | Mode::Fp16Ozaki => Some(Format::Fp16),
            Mode::Bf16 | Mode::Bf16Refined | Mode::Ozaki | Mode::OzakiHq | Mode::OzakiTwoLevel => {
                Some(Format::Bf16)
            }
        }
    }

    /// Numbers of its format that a number of the data becomes, none without a matrix unit.
    pub const fn parts(self) -> usize {
        match self {
            Mode::Fast | Mode::Kahan | Mode::Double => 0,
            Mode::Bf16 | Mode::Bf16Refined | Mode::Fp16 => 1,
            Mode::Ozaki | Mode::Fp16Ozaki => 2,
            Mode::OzakiHq => 3,
            Mode::OzakiTwoLevel => 4,
        }
    }

    /// The mode whose arithmetic lengths get that a matrix unit cannot take.
    pub const fn without_unit(self) -> Mode {
        match self {
            Mode::OzakiTwoLevel | Mode::Double => Mode::Double,
            Mode::Kahan => Mode::Kahan,
            _ => Mode::Fast,
        }
    }

    /// Whether its bits are the same on every processor: IEEE arithmetic in a fixed order, or exact sums. The other modes
    /// round sums in the order of the matrix unit.
    pub const fn has_portable_bits(self) -> bool {
        !self.needs_matrix_unit() || matches!(self, Mode::OzakiTwoLevel)
    }

    /// Whether it has more than f32 to give, and so takes f64 data as well.
    pub const fn takes_f64(self) -> bool {
        matches!(self, Mode::OzakiTwoLevel | Mode::Double)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The sign of the exponent; neither direction is normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `exp(-2πi jk/n)`.
    Forward,
    /// `exp(+2πi jk/n)`, without the division by `n`.
    Inverse,
}

impl Direction {
    /// The other one.
    pub const fn reversed(self) -> Direction {
        match self {
            Direction::Forward => Direction::Inverse,
            Direction::Inverse => Direction::Forward,
        }
    }
}
