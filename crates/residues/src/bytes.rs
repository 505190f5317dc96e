//! Matrices of signed bytes, and what multiplies them: exact sums in 32 bits.

use crate::COLUMNS;
use crate::error::ResidueError;
use std::fmt;

/// Rows that a unit takes at a time: memory is laid out in whole ones.
pub const ROWS: usize = 16;
/// Products that a unit adds up at a time: 16 groups of four bytes.
pub const DEPTH: usize = 64;

/// The most products of bytes whose sum surely fits 32 bits: `128·128·depth < 2^31`.
pub const MOST_DEPTH: usize = (1 << 17) - 1;

/// A matrix of signed bytes, row by row, filled up with zeros to whole numbers of [`ROWS`] and [`DEPTH`].
#[derive(Debug, Clone)]
pub struct ByteMatrix {
    rows: usize,
    depth: usize,
    pitch: usize,
    entries: Vec<i8>,
    /// Where the first row begins: at a cache line, so that rows of tiles do not lie across two of them.
    start: usize,
    sums: Vec<i32>,
}

impl ByteMatrix {
    /// A matrix from its rows.
    pub fn new(rows: usize, depth: usize, entries: &[i8]) -> Result<ByteMatrix, ResidueError> {
        assert_eq!(entries.len(), rows * depth, "one entry for every place");
        if depth > MOST_DEPTH {
            return Err(ResidueError::DepthBeyondExactness {
                unit: "an accumulator of 32 bits",
                depth,
                largest: depth as u64 * (1 << 14),
                exact: i32::MAX as u64,
                most: MOST_DEPTH,
            });
        }
        let pitch = depth.next_multiple_of(DEPTH);
        let mut all = vec![0; rows.next_multiple_of(ROWS) * pitch + DEPTH];
        let start = all.as_ptr().align_offset(DEPTH) % DEPTH;
        let padded = &mut all[start..][..rows.next_multiple_of(ROWS) * pitch];
        for (row, from) in padded.chunks_exact_mut(pitch).zip(entries.chunks(depth)) {
            row[..depth].copy_from_slice(from);
        }
        let sums = padded
            .chunks_exact(pitch)
            .map(|row| row.iter().map(|&x| i32::from(x)).sum())
            .collect();
        Ok(ByteMatrix {
            rows,
            depth,
            pitch,
            entries: all,
            start,
            sums,
        })
    }

    /// Rows without the padding.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns without the padding: the number of products in a sum.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Bytes of a row, padding included.
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// All entries, padding included.
    pub fn entries(&self) -> &[i8] {
        &self.entries[self.start..][..self.rows.next_multiple_of(ROWS) * self.pitch]
    }

    /// The sum of every row, padding included: the correction that units with unsigned data subtract.
    pub fn sums(&self) -> &[i32] {
        &self.sums
    }
}

/// Data of [`COLUMNS`] columns, four neighbouring elements of a column side by side: `group[column][element]`.
pub type Group = [[i8; 4]; COLUMNS];

/// A row of sums.
pub type Sums = [i32; COLUMNS];

/// Multiplies matrices of signed bytes.
pub trait ByteProducts: fmt::Debug + Send + Sync {
    /// The unit's name.
    fn name(&self) -> &'static str;

    /// `sums[row][column] = Σ matrix[row][k] · data[k/4][column][k%4]`, exactly.
    ///
    /// `data` has a group for every four of the matrix's depth, or more; elements beyond the depth may be anything. `sums` has
    /// the matrix's rows.
    fn multiply(&self, matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]);

    /// Runs `work` with the unit ready for products on this thread, where making it ready takes longer than a product.
    fn kept_ready(&self, work: &mut dyn FnMut()) {
        work();
    }
}

/// Portable code: the definition.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl ByteProducts for Portable {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn multiply(&self, matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
        let data = &data[..matrix.depth.div_ceil(4)];
        let rows = matrix.entries().chunks_exact(matrix.pitch);
        for (row, sums) in rows.zip(&mut sums[..matrix.rows]) {
            *sums = [0; COLUMNS];
            // Entries beyond the depth are zero.
            for (entries, group) in row.chunks_exact(4).zip(data) {
                for (sum, elements) in sums.iter_mut().zip(group) {
                    for (&entry, &element) in entries.iter().zip(elements) {
                        *sum += i32::from(entry) * i32::from(element);
                    }
                }
            }
        }
    }
}

/// Puts a row of residues, which are signed bytes, into its place among the data.
#[inline]
pub fn place(data: &mut [Group], k: usize, residues: &crate::Residues) {
    for (elements, &residue) in data[k / 4].iter_mut().zip(residues) {
        debug_assert!(i8::try_from(residue).is_ok());
        elements[k % 4] = residue as i8;
    }
}
