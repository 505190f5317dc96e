#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
// Loops over lanes index several rows at once; written so, the compiler makes vector instructions of them.
#![allow(clippy::needless_range_loop)]

mod bailey;
mod bluestein;
mod budget;
mod cells;
mod chirp_spectrum;
mod choice;
mod digits;
mod error;
mod estimate;
mod executor;
mod factor;
mod float_lines;
mod head_room;
mod layout;
mod line;
mod matrix_unit;
mod native;
mod numbers;
mod outputs;
mod pass_roots;
mod passes;
mod plan;
mod plan_cache;
mod planner;
mod problem;
mod progress;
mod quad;
mod quantise;
mod quantise_single;
mod recipe;
mod reconstruct;
mod residue_products;
mod root_table;
mod roots;
mod sample;
mod scale;
mod short_lines;
mod single_numbers;
mod step;
mod stored_words;
mod tables;
mod twiddle;
mod vectors;
mod wide;
mod wisdom;
mod workspace;

pub use budget::ErrorBudget;
pub use choice::{Candidate, Choice, Verdict};
pub use error::{Buffer, FftError};
pub use estimate::{DigitsWork, MeasuredUnit, Prediction, UnitCost, digits_work, measured_unit};
pub use floats::{FloatError, Mode};
pub use layout::Layout;
pub use plan::{DevicePointer, Plan};
pub use planner::Planner;

pub use problem::{
    Accuracy, Device, Direction, Engine, Family, Kind, Norm, Problem, ResidueOptions, Substrate,
};
pub use progress::{Progress, Reporting, Stage};
pub use recipe::{AxisRecipe, BlockRecipe, Digits, Fold, LineRecipe, Recipe, StepRecipe};
pub use residue_products::ResidueReport;
pub use residues::reconstruct::Method;
pub use sample::Real;
pub use wide::{Pair, WidePlan, WidePlanner};
