//! The unit that multiplies digit matrices: small signed integers in, exact integer sums out.
//!
//! Every unit returns the same integers; which one runs is a matter of speed. The algorithm around it is written once,
//! in `bailey.rs`, and compiled for each unit's instruction set.

mod avx512_vnni;
mod packed;
mod scalar;
mod wide_integer;

use crate::digits::DigitMatrix;
use crate::error::FftError;
use crate::lanes::Row;
#[cfg(vector_unit)]
use crate::lanes::WIDE_LANES;
use crate::problem::Substrate;
use crate::recipe::Digits;

#[cfg(vector_unit)]
pub(crate) use avx512_vnni::Avx512Vnni;
pub(crate) use packed::PackedMatrix;
pub(crate) use scalar::Scalar;
pub(crate) use wide_integer::WideInteger;

/// Work that is compiled anew for every unit's instruction set: `run` and all it calls are inlined into `enter`.
pub(crate) trait Task {
    type Output;
    fn run(self) -> Self::Output;
}

/// Multiplies a matrix in digits into a column of `L` lines.
pub(crate) trait MatrixUnit<const L: usize>: Copy + Send + Sync {
    /// Runs a task with the unit's instructions.
    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        task.run()
    }

    /// For every row of the matrix, the sum of the kept diagonals in units of the last kept one, as
    /// [`Digits::limbs`] limbs of 32 bits' weight, the least significant first. Limbs may exceed their weight.
    ///
    /// `scratch` has [`scratch_len`] bytes.
    fn multiply(
        self,
        matrix: &DigitMatrix,
        packed: &PackedMatrix,
        digits: Digits,
        column: &[Row<L>],
        scratch: &mut [i8],
        limbs: &mut [Row<L>],
    );
}

/// A unit by name.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Scalar,
    WideInteger,
    #[cfg(vector_unit)]
    Avx512Vnni(Avx512Vnni),
}

impl Unit {
    /// The unit for a substrate; for `Auto` the fastest that this processor has.
    pub(crate) fn new(substrate: Substrate) -> Result<Unit, FftError> {
        match substrate {
            Substrate::Scalar => Ok(Unit::Scalar),
            Substrate::WideInteger => Ok(Unit::WideInteger),
            Substrate::Avx512Vnni => Unit::avx512_vnni().ok_or_else(|| {
                FftError::Unsupported(
                    "this processor has no AVX-512 VNNI; take the substrate auto or scalar".into(),
                )
            }),
            Substrate::Auto => Ok(Unit::avx512_vnni().unwrap_or(Unit::Scalar)),
        }
    }

    #[cfg(vector_unit)]
    fn avx512_vnni() -> Option<Unit> {
        Avx512Vnni::new().map(Unit::Avx512Vnni)
    }

    #[cfg(not(vector_unit))]
    fn avx512_vnni() -> Option<Unit> {
        None
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Scalar => "scalar",
            Unit::WideInteger => "wide-integer",
            #[cfg(vector_unit)]
            Unit::Avx512Vnni(_) => "avx512-vnni",
        }
    }

    /// Lines that it transforms side by side.
    pub(crate) fn lanes(self) -> usize {
        match self {
            Unit::Scalar | Unit::WideInteger => 1,
            #[cfg(vector_unit)]
            Unit::Avx512Vnni(_) => WIDE_LANES,
        }
    }
}

/// Bytes of scratch memory for a column of `slots` inputs in `lanes` lines.
pub(crate) fn scratch_len(slots: usize, lanes: usize) -> usize {
    8 * slots * lanes
}
