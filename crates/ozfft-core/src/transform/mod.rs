//! One-dimensional transforms: small DFT steps with rotations between them (`bailey.rs`), passes for long lines, Bluestein's algorithm for
//! lengths with a large prime factor, and the error budget of all of them.

pub(crate) mod bailey;
pub(crate) mod bluestein;
pub(crate) mod budget;
pub(crate) mod chirp_spectrum;
mod column_lanes;
mod columns;
mod few_lines;
pub(crate) mod head_room;
pub(crate) mod intermediates;
pub(crate) mod lane_tables;
pub(crate) mod line;
mod line_sets;
pub(crate) mod norm;
mod output_lanes;
pub(crate) mod packed_elements;
pub(crate) mod parts;
pub(crate) mod passes;
mod real_pairs;
mod short_lines;
pub(crate) mod source;
pub(crate) mod step;
mod step_rows;
pub(crate) mod tables;
