//! Matrix units: sums of products of bf16 or f16 numbers, accumulated in f32.
//!
//! All operands are arrays of pairs, the first number of a pair in the lower half of a word. A product is
//!
//! ```text
//! sums[row][column] = Σ over terms, over pairs p of  left[row][p] · right[p][column]   (both numbers of the pairs)
//! ```
//!
//! which is how complex numbers lie in memory: a real and an imaginary part are a pair of the depth.

pub(crate) mod finding;
mod probe;
mod scalar;

#[cfg(target_arch = "x86_64")]
mod amx_bf16;
#[cfg(target_arch = "x86_64")]
mod avx512_bf16;

pub use finding::{Alignment, Finding, Rounding};
pub use probe::probe;
pub use scalar::Scalar;

use crate::{FloatError, Format};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Rows, columns and pairs come in multiples of this.
pub const TILE: usize = 16;

/// The extents of a product and the distance between rows of its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the left matrix and of the sums: a multiple of [`TILE`].
    pub rows: usize,
    /// Pairs of a row of the left matrix, rows of the right one: a multiple of [`TILE`].
    pub pairs: usize,
    /// Columns of the right matrix and of the sums: a multiple of [`TILE`].
    pub columns: usize,
    /// From one row of the left matrix to the next.
    pub left_pitch: usize,
    /// From one row of the right matrix to the next.
    pub right_pitch: usize,
    /// From one row of sums to the next.
    pub sums_pitch: usize,
}

/// Two matrices that are multiplied.
#[derive(Debug, Clone, Copy)]
pub struct Term<'a> {
    /// `rows` rows of `pairs` pairs.
    pub left: &'a [u32],
    /// `pairs` rows of `columns` pairs.
    pub right: &'a [u32],
}

/// In which order a unit adds: what its rounding errors depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// One sum after the other, the second number of a pair before the first, as VDPBF16PS is documented.
    Pairs,
    /// 16 pairs at a time: first and second numbers in sums of their own from zero, which are added, and then to the sum
    /// of the tiles before, as TDPBF16PS is documented.
    Tiles,
    /// `depth` products at a time, as the tensor cores of GPUs do: these and the sum before them are brought to the exponent of
    /// the largest of them and cut off `guard_bits` bits below the last place that an f32 of this exponent has; they are added
    /// exactly, and the sum is truncated to an f32. Nothing is rounded to nearest.
    Aligned {
        /// Products that are aligned together.
        depth: usize,
        /// Bits that are kept below an f32's last place.
        guard_bits: u32,
    },
}

/// A unit that multiplies matrices of pairs.
///
/// Implementations outside this crate are welcome: a plan probes the unit before it uses it.
pub trait MatrixUnit: fmt::Debug + Send + Sync {
    /// A short name.
    fn name(&self) -> &str;

    /// The order of its sums; bounds are for it.
    fn order(&self) -> Order;

    /// The numbers that it multiplies.
    fn format(&self) -> Format {
        Format::Bf16
    }

    /// Does the work, in which there will be many products: a unit may keep its registers set up.
    fn kept_ready(&self, work: &mut dyn FnMut()) {
        work();
    }

    /// The sums of all terms, in their order; whatever `sums` held before is lost.
    ///
    /// # Panics
    /// The units of this crate panic where an extent is no multiple of [`TILE`], or an array is shorter than `shape` says.
    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]);
}

impl Shape {
    /// Panics unless all arrays are long enough: what the units' unchecked accesses rely on.
    ///
    /// Everything is multiplied with a check, so that a pitch near the largest number cannot wrap around to a small length. As every
    /// extent is at least [`TILE`], an array that is long enough also proves that 16 pitches, in bytes, are no overflow.
    pub(crate) fn check(&self, terms: &[Term<'_>], sums: &[f32]) {
        let Shape {
            rows,
            pairs,
            columns,
            ..
        } = *self;
        for extent in [rows, pairs, columns] {
            assert!(
                extent > 0 && extent.is_multiple_of(TILE),
                "extents are multiples of {TILE}, {extent} is not"
            );
        }
        for (left, right) in terms.iter().map(|term| (term.left, term.right)) {
            expect_matrix("left", left.len(), (rows, pairs), self.left_pitch);
            expect_matrix("right", right.len(), (pairs, columns), self.right_pitch);
        }
        expect_matrix("sums", sums.len(), (rows, columns), self.sums_pitch);
    }
}

/// Panics unless an array of this length has so many rows and columns.
fn expect_matrix(name: &str, length: usize, (rows, columns): (usize, usize), pitch: usize) {
    assert!(
        pitch >= columns,
        "{name}: rows of {columns} overlap, as the next begins after {pitch}; give a pitch of at least {columns}"
    );
    let last_row = (rows - 1).checked_mul(pitch);
    let needed = last_row.and_then(|start| start.checked_add(columns));
    assert!(
        needed.is_some_and(|needed| needed <= length),
        "{name}: {rows} rows of {columns}, {pitch} apart, do not fit in an array of {length}"
    );
}

/// The units of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Plain code, anywhere: the definition, in the order of VDPBF16PS.
    Scalar,
    /// AVX512-BF16: VDPBF16PS.
    Avx512Bf16,
    /// AMX-BF16: TDPBF16PS.
    AmxBf16,
}

impl Unit {
    /// Every unit, the slowest first.
    pub const ALL: [Unit; 3] = [Unit::Scalar, Unit::Avx512Bf16, Unit::AmxBf16];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Scalar => "scalar",
            Unit::Avx512Bf16 => "avx512_bf16",
            Unit::AmxBf16 => "amx_bf16",
        }
    }

    /// Those that this machine has.
    pub fn available() -> impl Iterator<Item = Unit> {
        Unit::ALL.into_iter().filter(|unit| unit.get().is_ok())
    }

    /// The fastest that this machine has.
    ///
    /// ```
    /// let unit = floats::Unit::best();
    /// println!("{unit}: {}", unit.probe()?);
    /// # Ok::<(), floats::FloatError>(())
    /// ```
    pub fn best() -> Unit {
        Unit::available().last().unwrap_or(Unit::Scalar)
    }

    /// The unit, if it is there. The operating system is asked once.
    pub fn get(self) -> Result<Arc<dyn MatrixUnit>, FloatError> {
        let unit: Option<Arc<dyn MatrixUnit>> = match self {
            Unit::Scalar => Some(Arc::new(Scalar::new(Order::Pairs))),
            #[cfg(target_arch = "x86_64")]
            Unit::Avx512Bf16 => avx512_bf16::Avx512Bf16::new().map(|unit| Arc::new(unit) as _),
            #[cfg(target_arch = "x86_64")]
            Unit::AmxBf16 => amx_bf16::AmxBf16::new().map(|unit| Arc::new(unit) as _),
            #[cfg(not(target_arch = "x86_64"))]
            Unit::Avx512Bf16 | Unit::AmxBf16 => None,
        };
        unit.ok_or(FloatError::NoSuchUnit { unit: self.name() })
    }

    /// The unit of the modes in f16, and what the probe finds of it: there is one, and it is everywhere.
    pub(crate) fn fp16() -> (Arc<dyn MatrixUnit>, Finding) {
        static FINDING: OnceLock<Finding> = OnceLock::new();
        let unit = Arc::new(Scalar::fp16(Order::Pairs));
        let finding = *FINDING.get_or_init(|| probe(&*unit));
        (unit, finding)
    }

    /// Result of the probe; it runs once for each unit of a process.
    pub fn probe(self) -> Result<Finding, FloatError> {
        static FINDINGS: [OnceLock<Finding>; 3] = [const { OnceLock::new() }; 3];
        let unit = self.get()?;
        Ok(*FINDINGS[self as usize].get_or_init(|| probe(&*unit)))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
