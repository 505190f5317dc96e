//! What the probe says of a unit.

use crate::Format;
use std::fmt;

/// How sums are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Towards zero.
    Truncated,
    /// Otherwise.
    Other,
}

/// How a unit brings numbers together that it adds at once; see [`super::Order::Aligned`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// Products that are aligned together, of 64 that were asked about.
    pub depth: usize,
    /// Bits that small ones keep below the last place of an f32 as large as the largest.
    pub guard_bits: u32,
}

/// Properties of a unit found by the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The numbers that it multiplies.
    pub format: Format,
    /// Significant bits that products keep before they are added: twice those of the format are all. Unknown where sums are
    /// too short to show them.
    pub product_bits: Option<u32>,
    /// Significant bits of sums: 24 are those of f32.
    pub sum_bits: u32,
    /// How sums are rounded.
    pub rounding: Rounding,
    /// Whether subnormal factors count as zero.
    pub flushes_factors: bool,
    /// Whether subnormal sums become zero.
    pub flushes_sums: bool,
    /// Whether every sum of small integers was right, at every place of a tile.
    pub integers_right: bool,
    /// Of units that truncate: what they align.
    pub alignment: Option<Alignment>,
}

/// Bits of an f32.
pub(super) const WHOLE_SUM: u32 = 24;

impl Finding {
    /// Products are exact and sums have the bits of f32.
    pub fn keeps_f32_sums_of_exact_products(&self) -> bool {
        self.integers_right
            && self.product_bits >= Some(2 * self.format.bits())
            && self.sum_bits >= WHOLE_SUM
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.integers_right {
            return write!(f, "wrong sums of small integers");
        }
        match self.product_bits {
            Some(bits) if bits >= 2 * self.format.bits() => write!(f, "exact products")?,
            Some(8) => write!(f, "products rounded to bf16 before they are added")?,
            None => write!(f, "products that its short sums do not show")?,
            Some(bits) => write!(f, "products rounded to {bits} bits before they are added")?,
        }
        match self.sum_bits {
            WHOLE_SUM.. => write!(f, ", sums in f32")?,
            8 => write!(f, ", sums in bf16")?,
            bits => write!(f, ", sums of {bits} bits")?,
        }
        match self.rounding {
            Rounding::Nearest => write!(f, " to nearest")?,
            Rounding::Truncated => write!(f, " truncated")?,
            Rounding::Other => write!(f, " rounded neither to nearest nor towards zero")?,
        }
        if let Some(Alignment { depth, guard_bits }) = self.alignment {
            write!(
                f,
                " after {depth} products are aligned with {guard_bits} bits more"
            )?;
        }
        match (self.flushes_factors, self.flushes_sums) {
            (true, true) => write!(f, ", subnormal factors and sums become zero"),
            (true, false) => write!(f, ", subnormal factors count as zero"),
            (false, true) => write!(f, ", subnormal sums become zero"),
            (false, false) => write!(f, ", subnormal numbers kept"),
        }
    }
}
