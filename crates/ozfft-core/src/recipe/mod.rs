//! A [`Recipe`] specifies which integers are multiplied and where rounding happens. It is data: equal recipes give equal
//! bits, on every executor.

pub mod factor;

use crate::error::FftError;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many 8-bit digits carry the data and the matrices, and how many diagonals of their product are formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Digits {
    /// Digits of a data word.
    pub data: u32,
    /// Digits of a matrix entry.
    pub matrix: u32,
    /// Diagonals kept, counted from the most significant.
    pub diagonals: u32,
}

/// How much of the digit product is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Products {
    /// Only the diagonals that the accuracy needs.
    Truncated,
    /// All of them: the integer product itself, which any other exact engine must equal.
    Exact,
}

impl Products {
    /// These digits with the diagonals of these products.
    #[doc(hidden)]
    pub fn digits(self, digits: Digits) -> Digits {
        match self {
            Products::Truncated => digits,
            Products::Exact => digits.exact(),
        }
    }
}

impl Digits {
    /// The recipe of `Accuracy::Double`.
    pub const DOUBLE: Digits = Digits {
        data: 8,
        matrix: 7,
        diagonals: 8,
    };

    /// The recipe of `Accuracy::Single`. Four data digits would be enough for the numbers, not for their sums.
    pub const SINGLE: Digits = Digits {
        data: 5,
        matrix: 4,
        diagonals: 5,
    };

    /// The same digits with every diagonal of the product.
    pub fn exact(self) -> Digits {
        Digits {
            diagonals: self.data + self.matrix - 1,
            ..self
        }
    }

    /// The sum of magnitudes of a column that enters a step stays below 2 to this power.
    ///
    /// One bit is for folding, one for the sign and one for roundings and table scales just above 1.
    pub fn word_bits(self) -> u32 {
        8 * self.data - 3
    }

    /// The integer that stands for 1.0 in a matrix: one digit 127, so that 0, ±1/2 and ±1 are exact.
    pub fn matrix_one(self) -> u64 {
        127 << (8 * (self.matrix - 1))
    }

    /// Pairs of neighbouring diagonals that a sum is gathered in, `256·upper + lower` each. They are counted from the
    /// last one, which begins a whole number of 16 bits below the unit of the data words: where the number of diagonals
    /// below that unit is odd, an empty one is added.
    #[doc(hidden)]
    pub fn pairs(self) -> usize {
        (self.diagonals + self.padding()).div_ceil(2) as usize
    }

    /// Pairs below the unit of the data words.
    pub(crate) fn low_pairs(self) -> usize {
        ((self.diagonals + self.padding() - self.data) / 2) as usize
    }

    /// The diagonals of a pair, the upper and the lower one; `None` where there is none.
    pub(crate) fn pair(self, pair: usize) -> (Option<usize>, Option<usize>) {
        let end = (self.diagonals + self.padding()) as usize - 2 * pair;
        let diagonal = |d: usize| (d < self.diagonals as usize).then_some(d);
        (end.checked_sub(2).and_then(diagonal), diagonal(end - 1))
    }

    fn padding(self) -> u32 {
        (self.diagonals - self.data) % 2
    }

    /// Bits by which the sum of the kept diagonals is shifted down to the unit of the data words (times 128/127).
    pub fn product_shift(self) -> u32 {
        8 * (self.diagonals - self.data) + 7
    }
}

/// How the inputs of a small DFT are folded into two half-size real products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Fold {
    /// Size 1, 2 or 4: all entries are 0 or ±1, so sums are exact and no digits are needed.
    #[cfg_attr(feature = "serde", serde(rename = "Unit"))]
    Trivial,
    /// Pairs `j` with `n-j`; any size.
    Plain,
    /// Input shifted by half a sample: pairs `j` with `n-1-j`; even sizes, any step but the last of several.
    TimeShifted,
    /// Output shifted by half a sample; even sizes, the last of several steps.
    FrequencyShifted,
}

/// One small DFT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct StepRecipe {
    /// Size of the DFT.
    pub n: usize,
    /// How it is folded.
    pub fold: Fold,
    /// Extra bits by which its output is shifted down, so that the next step's words fit.
    pub shift: u32,
}

/// A line that is transformed within one block, under one exponent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct BlockRecipe {
    /// The steps, in order; the product of their sizes is the length.
    pub steps: Vec<StepRecipe>,
}

impl BlockRecipe {
    /// Lays out the steps of the given sizes: folding and shifts follow from the position.
    pub fn from_sizes(sizes: &[usize]) -> Self {
        let last = sizes.len() - 1;
        let steps = sizes
            .iter()
            .enumerate()
            .map(|(i, &n)| StepRecipe {
                n,
                fold: match n {
                    1 | 2 | 4 => Fold::Trivial,
                    _ if n % 2 == 1 => Fold::Plain,
                    _ if i == last && last > 0 => Fold::FrequencyShifted,
                    _ => Fold::TimeShifted,
                },
                // The first step's growth is in the quantisation, the last step's output is wide.
                shift: if i == 0 || i == last {
                    0
                } else {
                    n.next_power_of_two().trailing_zeros()
                },
            })
            .collect();
        BlockRecipe { steps }
    }

    /// Length of the line.
    pub fn len(&self) -> usize {
        self.steps.iter().map(|s| s.n).product()
    }

    /// Whether the line has a single point, so that there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }
}

/// One 1-D transform of any length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum LineRecipe {
    /// One point.
    Copy,
    /// One or more passes over the line, each a block transform; between passes the data are block fixed point.
    Passes(Vec<BlockRecipe>),
    /// A chirp convolution of the given smooth length, for lengths with a large prime factor.
    Bluestein {
        /// Length of the transform.
        n: usize,
        /// The passes of the convolution's transforms.
        convolution: Vec<BlockRecipe>,
    },
}

impl LineRecipe {
    /// Length of the line.
    pub fn len(&self) -> usize {
        match self {
            LineRecipe::Copy => 1,
            LineRecipe::Passes(blocks) => blocks.iter().map(BlockRecipe::len).product(),
            LineRecipe::Bluestein { n, .. } => *n,
        }
    }

    /// Whether the line has a single point, so that there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// Rejects a convolution whose table is not computed: its values would leave the fixed point that it is computed in.
    #[doc(hidden)]
    pub fn expect_table(&self) -> Result<(), FftError> {
        let LineRecipe::Bluestein { n, convolution } = self else {
            return Ok(());
        };
        let points = convolution.iter().map(BlockRecipe::len);
        let points: u128 = points.map(|points| points as u128).product();
        if points < LONGEST_CONVOLUTION {
            return Ok(());
        }
        Err(FftError::Unsupported(format!(
            "a length of {n} has a prime factor above 64 and takes a convolution of {points} points; at most {} can be had: pad the line to a length of small factors",
            LONGEST_CONVOLUTION - 1
        )))
    }
}

/// Convolutions are shorter than this.
pub(crate) const LONGEST_CONVOLUTION: u128 = 1 << 30;

/// One axis of the array and the 1-D transform along it. Between axes the array is plain floating point.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct AxisRecipe {
    /// The axis.
    pub axis: usize,
    /// The transform along it.
    pub line: LineRecipe,
}

/// Everything that determines the bits of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Recipe {
    /// Digits and diagonals.
    pub digits: Digits,
    /// Whether products are truncated or exact.
    #[cfg_attr(feature = "serde", serde(rename = "family"))]
    pub products: Products,
    /// The axes in the order in which they are transformed.
    pub axes: Vec<AxisRecipe>,
}

impl Recipe {
    /// The recipe of an axis.
    #[doc(hidden)]
    pub fn of_axis(&self, axis: usize) -> &AxisRecipe {
        let mut axes = self.axes.iter();
        axes.find(|recipe| recipe.axis == axis)
            .unwrap_or_else(|| unreachable!("every axis has a recipe"))
    }
}

/// Products of digits that are formed: all pairs on the kept diagonals.
pub fn digit_products(data: u32, matrix: u32, diagonals: u32) -> u32 {
    (0..matrix)
        .map(|i| diagonals.saturating_sub(i).min(data))
        .sum()
}

impl fmt::Display for StepRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.fold {
            Fold::Trivial => "u",
            Fold::Plain => "p",
            Fold::TimeShifted => "t",
            Fold::FrequencyShifted => "f",
        };
        write!(f, "{}{mark}", self.n)
    }
}

impl fmt::Display for BlockRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            if i > 0 {
                f.write_str("·")?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

fn write_passes(f: &mut fmt::Formatter<'_>, blocks: &[BlockRecipe]) -> fmt::Result {
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            f.write_str(" | ")?;
        }
        write!(f, "{block}")?;
    }
    Ok(())
}

impl fmt::Display for LineRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineRecipe::Copy => f.write_str("copy"),
            LineRecipe::Passes(blocks) => write_passes(f, blocks),
            LineRecipe::Bluestein { n, convolution } => {
                write!(f, "bluestein {n} over (")?;
                write_passes(f, convolution)?;
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let products = match self.products {
            Products::Truncated => "truncated",
            Products::Exact => "exact",
        };
        write!(
            f,
            "{products}: {} data digits × {} matrix digits, {} diagonals;",
            self.digits.data, self.digits.matrix, self.digits.diagonals
        )?;
        for axis in &self.axes {
            write!(f, " axis {}: {};", axis.axis, axis.line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_follows_from_the_position() {
        let block = BlockRecipe::from_sizes(&[32, 16, 8]);
        let folds: Vec<Fold> = block.steps.iter().map(|s| s.fold).collect();
        assert_eq!(
            folds,
            [Fold::TimeShifted, Fold::TimeShifted, Fold::FrequencyShifted]
        );
        let shifts: Vec<u32> = block.steps.iter().map(|s| s.shift).collect();
        assert_eq!(shifts, [0, 4, 0]);
        assert_eq!(block.to_string(), "32t·16t·8f");
    }

    #[test]
    fn double_is_eight_by_seven_with_fourteen_diagonals_in_all() {
        assert_eq!(Digits::DOUBLE.word_bits(), 61);
        assert_eq!(Digits::DOUBLE.matrix_one(), 127 << 48);
        assert_eq!(Digits::DOUBLE.product_shift(), 7);
        assert_eq!(Digits::DOUBLE.exact().diagonals, 14);
        assert_eq!(Digits::DOUBLE.exact().product_shift(), 55);
    }

    #[test]
    fn digit_products_are_the_pairs_on_the_first_diagonals() {
        // Eight data digits and seven matrix digits on the first eight diagonals.
        assert_eq!(digit_products(8, 7, 8), 8 + 7 + 6 + 5 + 4 + 3 + 2);
    }
}
