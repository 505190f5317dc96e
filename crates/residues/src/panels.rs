//! Panels: the columns that are worked on side by side, and how large matrices are at most.

/// Columns that are worked on side by side.
pub const COLUMNS: usize = 16;

/// The residues of all columns for one modulus, each in `-m/2 ..= m/2` (rounded so that there are `m` of them).
pub type Residues = [i16; COLUMNS];

/// The most products in a sum: what is on the stack is made for as many.
pub const MOST_DEPTH: usize = 64;
/// The most rows of a matrix.
pub const MOST_ROWS: usize = 128;
