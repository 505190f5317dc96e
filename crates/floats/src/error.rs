//! Errors of a plan and its data.

use crate::Mode;
use crate::lines::recipe::Path;
use crate::unit::finding::Finding;

/// Why a plan is rejected, or its data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FloatError {
    /// A name that no mode has.
    #[error(
        "there is no mode \"{name}\"; the modes are bf16, fp16, bf16_refined, ozaki, fp16_ozaki, ozaki_hq, fast, kahan, ozaki_two_level, double"
    )]
    UnknownMode {
        /// What was asked for.
        name: String,
    },
    /// A name that no unit has.
    #[error("there is no matrix unit \"{name}\"; the units are scalar, avx512_bf16, amx_bf16")]
    UnknownUnit {
        /// What was asked for.
        name: String,
    },
    /// Transforms of no points, or of more than the tables can number.
    #[error("a transform of {n} points is not possible; take 1 to 2^28")]
    Length {
        /// The length.
        n: usize,
    },
    /// A length that does not have the one algorithm that was asked for.
    #[error(
        "a transform of {n} points cannot be computed by {path} in this mode; take another length, or the table Measured"
    )]
    NoSuchPath {
        /// The algorithm.
        path: Path,
        /// The length.
        n: usize,
    },
    /// The processor lacks the unit, or the operating system keeps it back.
    #[error("this machine has no {unit}, or does not grant it; the unit scalar is everywhere")]
    NoSuchUnit {
        /// The unit.
        unit: &'static str,
    },
    /// The probe found that the unit does not compute what the mode is built on.
    #[error(
        "{mode} needs {needed}; the probe of {unit} found: {finding}. Take another unit, or the mode fast"
    )]
    UnitNotFit {
        /// The mode.
        mode: Mode,
        /// The unit.
        unit: String,
        /// What the mode is built on.
        needed: &'static str,
        /// What the probe found.
        finding: Finding,
    },
    /// Data that are not whole lines.
    #[error("{values} values are no whole number of lines of {n}")]
    NotWholeLines {
        /// Values given.
        values: usize,
        /// Points of a line.
        n: usize,
    },
    /// A workspace made by another plan.
    #[error(
        "the workspace is of a plan of {found} and this plan is of {needed}; make one with this plan's workspace()"
    )]
    ForeignWorkspace {
        /// The plan that it was made for.
        found: String,
        /// This plan.
        needed: String,
    },
    /// Data of 64 bits for a mode that has no more than 32 to give.
    #[error("{mode} takes f32 data; f64 data are for ozaki_two_level and double")]
    DataTooWide {
        /// The mode.
        mode: Mode,
    },
}
