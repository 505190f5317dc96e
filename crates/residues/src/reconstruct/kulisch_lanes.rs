//! Phase B in 32-bit words, all columns side by side: what `kulisch32` runs.
//!
//! A word carries 16 bits of the integer and has 16 to spare, so the slices that begin within those bits are added into
//! it whole, shifted by 0 or 8 bits (bytes), or by what their spacing gives. Which slice goes where is known beforehand and
//! the same for all columns: nothing branches. Carries go on to the next word at once, and the digits of two neighbours
//! become a 32-bit word of the integer in two's complement. Slices that begin beyond the words for the integer and its
//! sign do not change those words, and are left out.
//!
//! With `P` the bound of slices, a word is at most `P·Σ 2^shift`, and `2^-16` of the word below, which must be less than
//! `2^31`: so `P` may be `(2^31 - 2^16)/Σ 2^shift`. Bytes may have nearly 23 bits, digits of 5 bits nearly 16 (their shifts
//! reach 15), and slices of 16 bits nearly 31.

use super::forward::{Layout, PhaseB};
use super::operations::{Counting, Integer, counted};
use super::words::{MOST_WORDS, Words, to_integers};
use super::{MOST_SLICES, Operations, Pipe};
use crate::COLUMNS;
use crate::bytes::Sums;
use crate::error::ResidueError;
use ethnum::I256;

/// Bits of a word that belong to the integer.
const RADIX: u32 = 16;
/// Bits between slices, at most as many, that there is code for.
const SPACINGS: [u32; 6] = [4, 5, 8, 10, 15, 16];

/// Phase B in 32-bit words.
#[derive(Debug)]
pub(super) struct Lanes {
    slice_bits: u32,
    /// 32-bit words that hold the integer and its sign.
    words: usize,
}

impl Lanes {
    pub(super) fn new(layout: &Layout) -> Result<Lanes, ResidueError> {
        let slice_bits = layout.slice_bits;
        assert!(
            SPACINGS.contains(&slice_bits),
            "slices of {slice_bits} bits"
        );
        let mut shifts = [0u32; MOST_SLICES];
        for position in (0..layout.slices as u32).map(|slice| slice * slice_bits) {
            shifts[(position / RADIX) as usize] += 1 << (position % RADIX);
        }
        let most = shifts.into_iter().fold(1, u32::max);
        layout.demand_sums("kulisch32", ((1 << 31) - (1 << RADIX)) / most)?;
        Ok(Lanes {
            slice_bits: layout.slice_bits,
            words: (256 - layout.largest.leading_zeros() + 1).div_ceil(32) as usize,
        })
    }

    #[inline(always)]
    fn add<N: Integer, const SLICE_BITS: u32>(&self, slices: &[Sums]) -> Words<N> {
        let mut carries = [N::default(); COLUMNS];
        let mut words = [[N::default(); COLUMNS]; MOST_WORDS];
        for (number, word) in words[..self.words].iter_mut().enumerate() {
            deposit::<N, SLICE_BITS>(slices, 2 * number, &mut carries);
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word = carry.low(RADIX);
                *carry = carry.down(RADIX);
            }
            deposit::<N, SLICE_BITS>(slices, 2 * number + 1, &mut carries);
            for (word, carry) in word.iter_mut().zip(&mut carries) {
                *word = *word + carry.up(RADIX);
                *carry = carry.down(RADIX);
            }
        }
        words
    }

    fn words<N: Integer>(&self, slices: &[Sums]) -> Words<N> {
        match self.slice_bits {
            4 => self.add::<N, 4>(slices),
            5 => self.add::<N, 5>(slices),
            8 => self.add::<N, 8>(slices),
            10 => self.add::<N, 10>(slices),
            15 => self.add::<N, 15>(slices),
            16 => self.add::<N, 16>(slices),
            bits => unreachable!("slices of {bits} bits"),
        }
    }
}

/// Adds the slices that begin within the bits of this word.
#[inline(always)]
fn deposit<N: Integer, const SLICE_BITS: u32>(
    slices: &[Sums],
    number: usize,
    word: &mut [N; COLUMNS],
) {
    let from = RADIX * number as u32;
    let first = |position: u32| (position.div_ceil(SLICE_BITS) as usize).min(slices.len());
    let (begin, end) = (first(from), first(from + RADIX));
    for (slice, row) in (begin..end).zip(&slices[begin..end]) {
        let shift = SLICE_BITS * slice as u32 - from;
        for (word, &sum) in word.iter_mut().zip(row) {
            *word = *word + N::constant(sum).up(shift);
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
        let words = self.words::<i32>(slices);
        to_integers(words, self.words, to);
    }

    fn operations(&self, slices: &[Sums]) -> Operations {
        let count = counted(|| {
            self.words::<Counting<i32>>(slices);
        });
        Operations {
            integer: count / COLUMNS as f64,
            ..Operations::default()
        }
    }
}
