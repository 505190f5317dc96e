//! Arrays of residues, aligned so that no row lies in two cache lines.

use bytemuck::{Pod, Zeroable};
use std::ops::{Deref, DerefMut};

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u32; 16]);

/// Whole rows of residues.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    lines: Vec<Line>,
    length: usize,
}

impl Rows {
    pub(crate) fn zeros(length: usize) -> Rows {
        Rows {
            lines: fallible_memory::zeroed(length.div_ceil(16)),
            length,
        }
    }
}

impl Deref for Rows {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &bytemuck::cast_slice(&self.lines)[..self.length]
    }
}

impl DerefMut for Rows {
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.length]
    }
}
