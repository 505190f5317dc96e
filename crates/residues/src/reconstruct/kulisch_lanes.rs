//! Phase B in 32-bit words, all columns side by side: what `kulisch32` runs.
//!
//! A word carries 16 bits of the integer and has 16 to spare, so the slices that begin within those bits are added into it whole, shifted
//! by 0 or 8 bits (bytes), or 0, 4, 8 or 12 (nibbles). Which slice goes where is known beforehand and the same for all columns: nothing
//! branches. Carries go on to the next word at once, and the digits of two neighbours become a 32-bit word of the integer in two's
//! complement. Slices beyond the words that hold the integer and its sign only repeat the sign, and are left out.
//!
//! With `P` the bound of slices, a word is at most `P (1 + 2^b + …) < P·2^16/(2^b - 1)`, and `2^-16` of the word below: less than `2^31` for
//! `P <= 2^(14 + b)`, which is `2^22` for bytes and `2^18` for nibbles.

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
}

impl Lanes {
    pub(super) fn new(layout: &Layout) -> Result<Lanes, ResidueError> {
        assert!(
            RADIX.is_multiple_of(layout.slice_bits),
            "whole slices in a word"
        );
        layout.demand_sums("kulisch32", 1 << (14 + layout.slice_bits))?;
        Ok(Lanes {
            slice_bits: layout.slice_bits,
            words: (256 - layout.largest.leading_zeros() + 1).div_ceil(32) as usize,
        })
    }

    #[inline(always)]
    fn add<N: Integer>(&self, slices: &[Sums]) -> Words<N> {
        let each = (RADIX / self.slice_bits) as usize;
        let mut slices = slices.chunks(each);
        let mut carries = [N::default(); COLUMNS];
        let mut words = [[N::default(); COLUMNS]; MOST_WORDS];
        for word in &mut words[..self.words] {
            self.deposit(slices.next(), &mut carries);
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word = carry.low(RADIX);
                *carry = carry.down(RADIX);
            }
            self.deposit(slices.next(), &mut carries);
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word = *word + carry.up(RADIX);
                *carry = carry.down(RADIX);
            }
        }
        words
    }

    /// The slices that begin within a word's bits.
    #[inline(always)]
    fn deposit<N: Integer>(&self, slices: Option<&[Sums]>, word: &mut [N; COLUMNS]) {
        for (place, row) in slices.into_iter().flatten().enumerate() {
            let shift = self.slice_bits * place as u32;
            for (word, &sum) in word.iter_mut().zip(row) {
                *word = *word + N::constant(sum).up(shift);
            }
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
