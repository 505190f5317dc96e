//! One-dimensional transforms: small DFT steps with rotations between them (`bailey.rs`), passes for long lines, Bluestein's algorithm for
//! lengths with a large prime factor, and the error budget of all of them.

pub mod bailey;
pub mod bluestein;
pub mod budget;
pub mod chirp_spectrum;
mod column_lanes;
mod columns;
mod few_lines;
pub(crate) mod head_room;
pub(crate) mod intermediates;
pub(crate) mod lane_tables;
pub mod line;
mod line_sets;
mod output_lanes;
pub(crate) mod packed_elements;
pub mod parts;
pub mod passes;
mod real_pairs;
mod short_lines;
pub(crate) mod source;
pub mod step;
mod step_rows;
pub mod tables;
