//! Phase B in 32-bit words, all columns side by side: what `kulisch32` runs.
//!
//! A word carries 16 bits of the integer and has 16 to spare, so the slices that begin within those bits are added into it whole, shifted
//! by 0 or 8 bits (bytes), or by what their spacing gives. Which slice goes where is known beforehand and the same for all columns: nothing
//! branches. Carries go on to the next word at once, and the digits of two neighbours become a 32-bit word of the integer in two's
//! complement. Slices beyond the words that hold the integer and its sign only repeat the sign, and are left out.
//!
//! With `P` the bound of slices, a word is at most `P·Σ 2^shift`, and `2^-16` of the word below, which must be less than `2^31`: so `P` may
//! be `(2^31 - 2^16)/Σ 2^shift`. Bytes may have 22 bits, digits of 5 bits nearly 16 (their shifts reach 15), and slices of 16 bits nearly 31.

use super::forward::{Layout, PhaseB};
use super::operations::{Counting, Integer, counted};
use super::words::{MOST_WORDS, Words, to_integers};
use super::{Operations, Pipe};
use crate::COLUMNS;
use crate::bytes::Sums;
use crate::error::ResidueError;
use ethnum::I256;

/// Bits of a word that belong to the integer.
const RADIX: u32 = 16;

/// Phase B in 32-bit words.
#[derive(Debug)]
pub(super) struct Lanes {
    slice_bits: u32,
    /// 32-bit words that hold the integer and its sign.
    words: usize,
    /// What goes where, for every 16 bits.
    pieces: Vec<Piece>,
}

/// The slices that begin within 16 bits of the integer, and what the first of them is shifted by.
#[derive(Debug)]
struct Piece {
    from: usize,
    to: usize,
    shift: u32,
}

impl Lanes {
    pub(super) fn new(layout: &Layout) -> Result<Lanes, ResidueError> {
        let words = (256 - layout.largest.leading_zeros() + 1).div_ceil(32) as usize;
        let first = |position: u32| position.div_ceil(layout.slice_bits) as usize;
        let pieces: Vec<Piece> = (0..2 * words as u32)
            .map(|number| {
                let from = first(RADIX * number).min(layout.slices);
                Piece {
                    from,
                    to: first(RADIX * (number + 1)).min(layout.slices),
                    shift: (layout.slice_bits * from as u32).saturating_sub(RADIX * number),
                }
            })
            .collect();
        let shifts = |piece: &Piece| -> u32 {
            let count = (piece.to - piece.from) as u32;
            (0..count)
                .map(|k| 1 << (piece.shift + layout.slice_bits * k))
                .sum()
        };
        let most = pieces.iter().map(shifts).max().unwrap_or(1).max(1);
        layout.demand_sums("kulisch32", ((1 << 31) - (1 << RADIX)) / most)?;
        Ok(Lanes {
            slice_bits: layout.slice_bits,
            words,
            pieces,
        })
    }

    #[inline(always)]
    fn add<N: Integer>(&self, slices: &[Sums]) -> Words<N> {
        let mut carries = [N::default(); COLUMNS];
        let mut words = [[N::default(); COLUMNS]; MOST_WORDS];
        for (word, pieces) in words.iter_mut().zip(self.pieces.chunks_exact(2)) {
            self.deposit(
                &slices[pieces[0].from..pieces[0].to],
                pieces[0].shift,
                &mut carries,
            );
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word = carry.low(RADIX);
                *carry = carry.down(RADIX);
            }
            self.deposit(
                &slices[pieces[1].from..pieces[1].to],
                pieces[1].shift,
                &mut carries,
            );
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word = *word + carry.up(RADIX);
                *carry = carry.down(RADIX);
            }
        }
        words
    }

    /// Adds neighbouring slices to a word.
    #[inline(always)]
    fn deposit<N: Integer>(&self, slices: &[Sums], mut shift: u32, word: &mut [N; COLUMNS]) {
        for row in slices {
            for (word, &sum) in word.iter_mut().zip(row) {
                *word = *word + N::constant(sum).up(shift);
            }
            shift += self.slice_bits;
        }
    }
}

impl PhaseB for Lanes {
    fn name(&self) -> &'static str {
        "kulisch32"
    }

    fn pipe(&self) -> Pipe {
        Pipe::Integer(32)
    }

    fn error_bound(&self) -> f64 {
        0.0
    }

    fn sum(&self, slices: &[Sums], to: &mut [I256; COLUMNS]) {
        let words = self.add::<i32>(slices);
        to_integers(&words, self.words, to);
    }

    fn operations(&self, slices: &[Sums]) -> Operations {
        let count = counted(|| {
            self.add::<Counting<i32>>(slices);
        });
        Operations {
            integer: count / COLUMNS as f64,
            ..Operations::default()
        }
    }
}
