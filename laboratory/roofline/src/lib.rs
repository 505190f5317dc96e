//! Which unit of a machine binds an exact FFT, and what would have to change.
//!
//! The tensor–memory–equilibrium model of "FP8 is All You Need (Part 2)" (arXiv:2606.23698v2), in three modes that are never mixed: the
//! paper's numbers *as printed*, *corrected* by what was counted here, and *measured* from records.
//!
//! ```text
//! machine.rs   machines as data, every figure with its source (machines.rs: machines/*.json and records of `ozfft probe`)
//! kernels.rs   operations and bytes of kernels
//! paths.rs     what each way of computing a transform asks of the units, by mode
//! floors.rs    rates that keep memory busy: closed forms, and margins of a machine
//! time.rs      T = max(αW/P, βQ/B) + γ·n_out, with overlap
//! record.rs    what `ozfft-lab paths` measured, and constants that follow
//! table.rs     how results are shown: text, markdown, CSV
//! tables/      floors, wall times, regimes, words, beneficiaries, FP32
//! verdict.rs   a machine in words
//! printed/     every number that the paper prints, and what its own formulas give
//! document.rs  the tables of laboratory/docs/roofline.md
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod document;
mod error;
pub mod floors;
pub mod kernels;
mod machine;
mod machines;
mod mode;
pub mod paths;
pub mod printed;
mod rate;
pub mod record;
pub mod table;
pub mod tables;
pub mod time;
pub mod verdict;

pub use error::RooflineError;
pub use machine::{Basis, Figure, Machine};
pub use mode::{Mode, UnknownMode};
pub use rate::Rate;
pub use record::Record;
pub use table::{Cell, Table};
pub use tables::Question;
pub use verdict::{PathVerdict, Verdict};
