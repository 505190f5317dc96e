//! The unit that multiplies digit matrices: small signed integers in, exact integer sums out.
//!
//! Every unit returns the same integers; which one runs is a matter of speed. The algorithm around it is written once.

mod scalar;
mod wide_integer;

use crate::digits::DigitMatrix;
use crate::problem::Substrate;
use crate::recipe::Digits;
use crate::workspace::Wide;

/// Scratch memory of a unit for one column.
pub(crate) struct UnitScratch<'a> {
    /// Digit planes of the column.
    pub(crate) planes: &'a mut [i8],
    /// One accumulator per diagonal.
    pub(crate) diagonals: &'a mut [i32],
}

/// Multiplies a matrix in digits into a column of integers.
pub(crate) trait MatrixUnit: Send + Sync {
    /// Name in reports.
    fn name(&self) -> &'static str;

    /// For every row, the sum of the kept diagonals, in units of the last kept one.
    fn multiply(
        &self,
        matrix: &DigitMatrix,
        digits: Digits,
        column: &[i64],
        scratch: &mut UnitScratch<'_>,
        sums: &mut [Wide],
    );
}

/// The unit for a substrate.
pub(crate) fn unit(substrate: Substrate) -> &'static dyn MatrixUnit {
    match substrate {
        Substrate::Scalar => &scalar::Scalar,
        Substrate::WideInteger => &wide_integer::WideInteger,
    }
}
