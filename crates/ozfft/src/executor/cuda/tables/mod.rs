//! A plan's tables as the kernels want them, uploaded once.

pub(super) mod bailey_tables;
pub(super) mod common;
pub(super) mod f16;
pub(super) mod fp8;
pub(super) mod low_precision;
pub(super) mod mixed_radix;
pub(super) mod tuned_tables;
pub(super) mod two_pass;

use crate::error::FftError;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine, Queue};
use crate::executor::cuda::program::task::*;
use crate::executor::cuda::residues;
use crate::executor::cuda::residues::residues_fp8;
use crate::executor::cuda::residues::residues_karatsuba;
use crate::matrix_unit::meeting;
use crate::problem::Products;
use crate::recipe::{Digits, Fold, Recipe};
use crate::stages::digits::DigitMatrix;
use crate::stages::twiddle::Twiddle;
use crate::transform::bailey::Block;
use crate::transform::step::Step;
use bytemuck::Pod;
use num_complex::Complex;
use ozfft_kernels::ResidueFp8;
use std::sync::Arc;

/// Where a piece of the tables begins; becomes an address when all of them are uploaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece(usize);

impl Piece {
    pub(crate) fn at(self, tables: &DeviceMemory) -> Address {
        Address::known(tables.address() + self.0 as u64)
    }
}

/// Collects tables in host memory.
#[derive(Default)]
pub(crate) struct Builder {
    bytes: Vec<u8>,
    /// Positions of pieces' beginnings within the bytes that must become addresses.
    references: Vec<usize>,
}

/// Tables of one block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockTables {
    pub(crate) steps: Piece,
    pub(crate) places: Piece,
    /// Of the largest step.
    pub(crate) tiles: i32,
    /// Whether the tables are those of the kernels for truncated products.
    pub(crate) truncated: bool,
    /// The kernel with products by residues that they are for, if they are for one.
    pub(crate) residues: Option<&'static str>,
    /// From line to line and from row to row in shared memory, in points.
    pub(crate) line_pitch: usize,
    pub(crate) row_pitch: usize,
}

/// How the points of a block lie in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PanelLayout {
    /// As the general kernels have them.
    General,
    /// As the kernels for truncated products have them.
    Truncated,
    /// Likewise, with products by residues, for the kernel of this name.
    Residues(&'static str),
    /// Likewise, and a second pass will read them across.
    FirstOfTwo,
    /// Where the first pass has left them.
    SecondOfTwo,
}

/// From line to line of the first of two passes in shared memory: odd, as the second one reads across them. Rows have no
/// padding: memory that it would take is better left to the first-level cache.
pub(crate) fn first_of_two_pitch(block: &Block) -> usize {
    block.len() | 1
}

/// Tiles of eight slots of a block's largest step.
pub(crate) fn most_tiles(block: &Block) -> i32 {
    let most = block.steps().iter().map(tiles).max();
    most.unwrap_or(0) as i32
}

/// Whether the kernels for truncated products take a block.
pub(crate) fn is_for_truncated_kernels(block: &Block, recipe: &Recipe) -> bool {
    let Digits {
        data, diagonals, ..
    } = recipe.digits;
    let steps = block.steps();
    recipe.products == Products::Truncated
        && diagonals == data
        && ozfft_kernels::truncated(data, most_tiles(block)).is_some()
        && steps.len() <= 2
        && steps[0].matrices.is_some()
}

impl Builder {
    pub(crate) fn add<P: Pod>(&mut self, values: &[P]) -> Piece {
        // Fragments and words are read 16 bytes at a time.
        self.bytes.resize(self.bytes.len().next_multiple_of(256), 0);
        let piece = Piece(self.bytes.len());
        self.bytes.extend_from_slice(bytemuck::cast_slice(values));
        piece
    }

    /// Factors scaled by 2^62, in signed halves.
    pub(crate) fn add_angles(&mut self, entries: impl Iterator<Item = Complex<i64>>) -> Piece {
        let halves = |z: Complex<i64>| {
            let Twiddle { real, imaginary } = Twiddle::new(z.re, z.im);
            [real.0, real.1, imaginary.0, imaginary.1]
        };
        self.add(&entries.map(halves).collect::<Vec<_>>())
    }

    /// Allocates memory and uploads everything.
    pub(crate) fn upload(
        mut self,
        machine: &Arc<dyn Machine>,
        queue: Queue,
    ) -> Result<DeviceMemory, FftError> {
        let memory = DeviceMemory::new(machine, self.bytes.len())?;
        for &place in &self.references {
            let piece = &mut self.bytes[place..place + 8];
            let mut offset = [0; 8];
            offset.copy_from_slice(piece);
            let address = memory.address() + u64::from_ne_bytes(offset);
            piece.copy_from_slice(&address.to_ne_bytes());
        }
        // SAFETY: the memory is as long as the bytes, which live until the queue has been waited for.
        unsafe { machine.upload(queue, memory.address(), &self.bytes)? };
        machine.synchronize(queue)?;
        Ok(memory)
    }

    pub(crate) fn block(
        &mut self,
        block: &Block,
        digits: Digits,
        layout: PanelLayout,
    ) -> Result<BlockTables, FftError> {
        let residues = match layout {
            PanelLayout::Residues(kernel) => Some(kernel),
            _ => None,
        };
        let truncated = layout != PanelLayout::General && residues.is_none();
        let last = block.steps().len() - 1;
        let mut tables = Vec::new();
        for (number, step) in block.steps().iter().enumerate() {
            let matrix = match residues.map(ResidueFp8::of) {
                Some(None) => {
                    let kernel = residues.unwrap_or_default();
                    Some(self.add(&residues::tables(step, number, digits, kernel)?))
                }
                Some(Some(ResidueFp8::Nibbles | ResidueFp8::NibblesInHalves)) => {
                    Some(self.add(&residues_fp8::tables(step, number, digits)?))
                }
                Some(Some(ResidueFp8::Karatsuba)) => {
                    Some(self.add(&residues_karatsuba::tables(step, number, digits)?))
                }
                None => self.matrices(step, digits, truncated),
            };
            let rotations = (!step.rotations.is_empty())
                .then(|| self.add_angles(step.rotations.iter().map(|t| t.components())));
            tables.push((step, number, matrix, rotations));
        }
        let offset = |piece: Option<Piece>| piece.map_or(0, |piece| piece.0 as u64);
        let steps: Vec<StepTable> = tables
            .iter()
            .map(|&(step, number, matrix, rotations)| StepTable {
                matrix: Address::known(offset(matrix)),
                rotations: Address::known(offset(rotations)),
                n: step.recipe.n as i32,
                fold: match step.recipe.fold {
                    Fold::Trivial => FOLD_UNIT,
                    Fold::Plain => FOLD_PLAIN,
                    Fold::TimeShifted => FOLD_TIME_SHIFTED,
                    Fold::FrequencyShifted => FOLD_FREQUENCY_SHIFTED,
                },
                role: match number {
                    _ if last == 0 => ROLE_ONLY,
                    0 => ROLE_FIRST,
                    _ if number == last => ROLE_LAST,
                    _ => ROLE_MIDDLE,
                },
                inner: step.inner as i32,
                shift: step.shift as i32,
                tiles: tiles(step) as i32,
                rotation_stride: step.rotation_stride as i32,
                mirror_negates: i32::from(step.mirror_negates),
            })
            .collect();
        let piece = self.add(&steps);
        for (number, &(.., matrix, rotations)) in tables.iter().enumerate() {
            let place = piece.0 + number * size_of::<StepTable>();
            if matrix.is_some() {
                self.references.push(place);
            }
            if rotations.is_some() {
                self.references.push(place + 8);
            }
        }
        let columns = block.steps()[0].inner;
        let (line_pitch, row_pitch) = match layout {
            PanelLayout::General => (block.len().next_multiple_of(8), columns),
            PanelLayout::Truncated | PanelLayout::Residues(_) => {
                pitches(block.len() / columns, columns)
            }
            PanelLayout::FirstOfTwo => (first_of_two_pitch(block), columns),
            PanelLayout::SecondOfTwo => (block.len(), columns),
        };
        let mut places = places(block);
        for place in &mut places {
            let (row, column) = (*place as usize / columns, *place as usize % columns);
            *place = (row * row_pitch + column) as u32;
        }
        Ok(BlockTables {
            steps: piece,
            places: self.add(&places),
            tiles: steps.iter().map(|step| step.tiles).max().unwrap_or(0),
            truncated,
            residues,
            line_pitch,
            row_pitch,
        })
    }

    /// Cosine and sine matrix in the order of the tensor instruction's second operand.
    fn matrices(&mut self, step: &Step, digits: Digits, truncated: bool) -> Option<Piece> {
        let matrices = step.matrices.as_ref()?;
        // Rows and slots of a plain step's sines are counted from 1, as those of its cosines that they go with.
        let skip = usize::from(step.recipe.fold == Fold::Plain);
        let order = if truncated {
            truncated_fragments
        } else {
            fragments
        };
        let mut words = order(matrices.cosine.digits(), digits, tiles(step), 0);
        words.extend(order(matrices.sine.digits(), digits, tiles(step), skip));
        Some(self.add(&words))
    }
}

/// Tiles of eight slots, and of outputs, of a step's products.
fn tiles(step: &Step) -> usize {
    let cosines = step.matrices.as_ref().map_or(0, |m| m.cosine.digits().rows);
    cosines.div_ceil(8)
}

/// A matrix as fragments: for every tile of 8 outputs, diagonal, half of the data words and eight of slots two words of
/// 32 bits for each of 32 lanes. Lane `4g + t` has output `g` of its tile and slots `t` and `4 + t` of the eight.
fn fragments(matrix: &DigitMatrix, digits: Digits, tiles: usize, skip: usize) -> Vec<u32> {
    let halves = if digits.data > 4 { 2 } else { 1 };
    let mut words = Vec::with_capacity(tiles * tiles * digits.diagonals as usize * halves * 64);
    let entry = |row: usize, slot: usize, diagonal: u32, half: usize| {
        let within = (skip..skip + matrix.rows).contains(&row)
            && (skip..skip + matrix.slots).contains(&slot);
        if within {
            let place = (row - skip, slot - skip);
            u32::from_le_bytes(meeting(matrix, digits, 4 * half as u32, place, diagonal))
        } else {
            0
        }
    };
    for tile in 0..tiles {
        for diagonal in 0..digits.diagonals {
            for half in 0..halves {
                for eight in 0..tiles {
                    for lane in 0..32 {
                        let (row, slot) = (8 * tile + lane / 4, 8 * eight + lane % 4);
                        words.push(entry(row, slot, diagonal, half));
                        words.push(entry(row, slot + 4, diagonal, half));
                    }
                }
            }
        }
    }
    words
}

/// The same for the kernels for truncated products: data words have their leading digit in the topmost byte. For every
/// tile of 8 outputs and eight of slots first all diagonals with the upper four digits, then those that the lower ones
/// meet; two of them side by side for each of 32 lanes.
fn truncated_fragments(
    matrix: &DigitMatrix,
    digits: Digits,
    tiles: usize,
    skip: usize,
) -> Vec<u32> {
    let Digits {
        data,
        matrix: count,
        diagonals,
    } = digits;
    // The matrix digits that four data digits from `first` on meet, the last of them in the lowest byte.
    let entry = |row: usize, slot: usize, diagonal: u32, first: u32| {
        let within = (skip..skip + matrix.rows).contains(&row)
            && (skip..skip + matrix.slots).contains(&slot);
        if !within {
            return 0;
        }
        let planes = matrix.row(row - skip, digits);
        u32::from_le_bytes(std::array::from_fn(|byte| {
            let digit = first + 3 - byte as u32;
            let met = diagonal
                .checked_sub(digit)
                .filter(|&i| i < count && digit < data);
            met.map_or(0, |i| {
                planes[(count - 1 - i) as usize * matrix.slots + slot - skip] as u8
            })
        }))
    };
    let met: Vec<(u32, u32)> = (0..diagonals)
        .map(|diagonal| (diagonal, 0))
        .chain((4..diagonals).map(|diagonal| (diagonal, 4)))
        .collect();
    let mut words = Vec::new();
    for tile in 0..tiles {
        for eight in 0..tiles {
            for pair in met.chunks_exact(2) {
                for lane in 0..32 {
                    let (row, slot) = (8 * tile + lane / 4, 8 * eight + lane % 4);
                    for &(diagonal, first) in pair {
                        words.push(entry(row, slot, diagonal, first));
                        words.push(entry(row, slot + 4, diagonal, first));
                    }
                }
            }
        }
    }
    words
}

/// Distances of lines and of rows in shared memory, in points of 16 bytes: those with the fewest accesses that meet on a
/// bank. Eight threads of a warp read and write at a time: two neighbouring columns × four rows for the first step, two
/// neighbouring rows × four columns for the last one.
fn pitches(rows: usize, columns: usize) -> (usize, usize) {
    let turns = |column: usize, row: usize, rows_apart: usize| {
        let mut banks = [0; 8];
        for (g, t) in (0..2).flat_map(|g| (0..4).map(move |t| (g, t))) {
            banks[(g * column + t * row * rows_apart) % 8] += 1;
        }
        banks.into_iter().max().unwrap_or(0)
    };
    if columns == 1 {
        // Columns are lines: neighbouring ones, four elements of each.
        return (rows + (12 - rows % 8) % 8, 1);
    }
    let cost =
        |pitch: &usize| 2 * turns(1, *pitch, 1) + turns(1, *pitch, 2) + 2 * turns(*pitch, 1, 1);
    let row_pitch = (columns..columns + 4).min_by_key(cost).unwrap_or(columns);
    let length = rows * row_pitch;
    (length + (10 - length % 8) % 8, row_pitch)
}

/// Where every output of a block lies after the last step: at its number within its group, after the groups before.
fn places(block: &Block) -> Vec<u32> {
    let steps = block.steps();
    if steps.len() == 1 {
        return (0..block.len() as u32).collect();
    }
    let n = steps[steps.len() - 1].recipe.n;
    let columns = block.len() / n;
    let mut places = vec![0; block.len()];
    for (group, &(start, mirrored)) in block.groups().iter().enumerate() {
        for k in 0..n {
            let index = start + columns * k;
            let index = if mirrored { block.len() - index } else { index };
            places[index] = (group * n + k) as u32;
        }
    }
    places
}
