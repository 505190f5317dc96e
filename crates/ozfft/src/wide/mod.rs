//! Beyond double precision: transforms of double-double numbers to better than 1e-30.
//!
//! The algorithm of the digits engine in larger words: block fixed point of 125 bits, sixteen balanced digits of
//! data and matrices, the sixteen leading diagonals of their products as sums of bytes, rotations by 127-bit roots.
//!
//! ```text
//! plan.rs           problem, checks, the loop over axes
//! line.rs           one 1-D transform of any length: all lines along an axis
//!   bluestein.rs      lengths with a large prime factor
//!   passes.rs         long lines: words in memory, an exponent for every line of a pass
//!   block.rs          eight lines side by side under one exponent each: the loop over steps
//!     quantise.rs       numbers or words -> words under one exponent       rounds
//!     step.rs           words -> digits -> products -> words               rounds once
//!     rotate.rs         word × root                                        rounds
//!     outputs.rs        words -> double-double numbers                     rounds once
//! budget.rs         head-room and error bound
//! ```

mod block;
mod bluestein;
mod budget;
mod decimal;
mod double_double;
mod hardware;
mod line;
mod outputs;
mod passes;
mod plan;
mod quantise;
mod rotate;
mod step;
mod words;

pub use double_double::DoubleDouble;
pub use plan::{WidePlan, WidePlanner};
