//! The modes by the names that users of trnfft know, and one more.

use crate::FloatError;
use std::fmt;
use std::str::FromStr;

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
    /// The same, and once more for what the first result leaves of the input.
    Bf16Refined,
    /// Data and matrix as two bf16 numbers each, three products.
    Ozaki,
    /// Three bf16 numbers each, six products.
    OzakiHq,
    /// f32 throughout.
    Fast,
    /// f32 with the error of every product and sum carried along.
    Kahan,
    /// Data and matrix as four digits of 8 bits in bf16 numbers, ten products whose f32 sums are exact, put together in
    /// f64.
    OzakiTwoLevel,
    /// f64 throughout.
    Double,
}

impl Mode {
    /// Every mode, the least accurate first.
    pub const ALL: [Mode; 8] = [
        Mode::Bf16,
        Mode::Bf16Refined,
        Mode::Ozaki,
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
            Mode::Bf16Refined => "bf16_refined",
            Mode::Ozaki => "ozaki",
            Mode::OzakiHq => "ozaki_hq",
            Mode::Fast => "fast",
            Mode::Kahan => "kahan",
            Mode::OzakiTwoLevel => "ozaki_two_level",
            Mode::Double => "double",
        }
    }

    /// Whether it multiplies bf16 numbers on a matrix unit.
    pub const fn needs_matrix_unit(self) -> bool {
        match self {
            Mode::Fast | Mode::Kahan | Mode::Double => false,
            Mode::Bf16 | Mode::Bf16Refined | Mode::Ozaki | Mode::OzakiHq | Mode::OzakiTwoLevel => {
                true
            }
        }
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

impl FromStr for Mode {
    type Err = FloatError;

    fn from_str(name: &str) -> Result<Mode, FloatError> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| FloatError::UnknownMode {
            name: name.to_string(),
        })
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
