//! Tables of the tuned kernels for lengths that are no powers of two (`crates/ozfft-kernels/cuda/hopper/tuned_mixed.cu`): those of
//! `tuned_tables.rs`, padded to tiles of eight slots and outputs, with outputs in the order in which threads have them.

use crate::executor::cuda::tables::common::{
    Biased, biased, lay_out_constants, lay_out_first, matrices, met_by, rotations,
};
use crate::recipe::{Digits, Fold};
use crate::stages::digits::DigitMatrix;
use crate::transform::step::Step;
use ozfft_kernels::mixed_tiles;

/// The tables of two steps, as the kernel keeps them in shared memory.
pub(crate) fn tables(first: &Step, last: &Step) -> Vec<u8> {
    let mut image = Vec::new();
    for step in [first, last] {
        for matrix in padded(step) {
            matrix.operand(&mut image);
        }
    }
    let first_rows = biased_rows(first, true);
    lay_out_constants(&first_rows, true, &mut image);
    // Outputs 0 to 3 are the first ones of their threads.
    lay_out_first(first_rows.iter().step_by(2).take(4), &mut image);
    lay_out_constants(&biased_rows(last, false), false, &mut image);
    rotations(first, &mut image);
    image
}

/// A matrix of a step, and what surrounds it.
#[derive(Clone, Copy)]
pub(crate) struct Padded<'a> {
    matrix: &'a DigitMatrix,
    /// Rows and slots of a plain step's sines are counted from 1, as those of its cosines that they go with.
    skip: usize,
    /// Outputs of the step's cosines.
    outputs: usize,
    plain: bool,
    /// Tiles of eight outputs.
    k_tiles: usize,
    digits: Digits,
}

pub(crate) fn padded(step: &Step) -> [Padded<'_>; 2] {
    padded_for(step, Digits::DOUBLE)
}

/// For words of any digits.
pub(crate) fn padded_for(step: &Step, digits: Digits) -> [Padded<'_>; 2] {
    let plain = step.recipe.fold == Fold::Plain;
    let [cosine, sine] = matrices(step);
    let with = |matrix, skip| Padded {
        matrix,
        skip,
        outputs: cosine.rows,
        plain,
        k_tiles: mixed_tiles(step.recipe.n),
        digits,
    };
    [with(cosine, 0), with(sine, usize::from(plain))]
}

impl Padded<'_> {
    /// The output at a place: row `2t + e` of eight `o` has output `8o + 4e + t`. Output 0 of a plain step comes last.
    fn output(&self, place: usize) -> Option<usize> {
        let number = place / 8 * 8 + place % 2 * 4 + place % 8 / 2;
        match number {
            _ if number >= self.outputs => None,
            _ if self.plain => Some((number + 1) % self.outputs),
            _ => Some(number),
        }
    }

    /// The matrix's row at a place.
    pub(crate) fn row(&self, place: usize) -> Option<usize> {
        let row = self.output(place)?.checked_sub(self.skip)?;
        (row < self.matrix.rows).then_some(row)
    }

    /// As `wgmma`'s second operand: for every eight of outputs the parts that the kernel's `Digits` names, each of them pieces
    /// of 4 diagonals × 8 outputs, K-major.
    pub(crate) fn operand(&self, image: &mut Vec<u8>) {
        self.for_each_piece(|tile, first_diagonal, operand| {
            for diagonal in first_diagonal..first_diagonal + 4 {
                for &(first_slot, half) in operand {
                    for output in 0..8 {
                        for slot in first_slot..first_slot + 4 {
                            image.extend(self.met(half, (8 * tile + output, slot), diagonal));
                        }
                    }
                }
            }
        });
    }

    /// The pieces of the matrix in the order in which they are multiplied: the eight of outputs, the first of four diagonals, and
    /// first slots and halves of the words of both halves of an operand of 32 digits.
    pub(crate) fn for_each_piece(&self, mut piece: impl FnMut(usize, u32, &[(usize, u32); 2])) {
        let [upper, lower] = self.operands();
        for tile in 0..self.k_tiles {
            for (first_diagonal, operands) in [(0, &upper), (4, &lower)] {
                for operand in operands {
                    piece(tile, first_diagonal, operand);
                }
            }
        }
    }

    /// Operands of 32 digits that upper diagonals have, and lower ones: first slots and halves of the words of both halves.
    pub(crate) fn operands(&self) -> [Vec<[(usize, u32); 2]>; 2] {
        let (k_tiles, fours) = (self.outputs / 8, self.outputs % 8);
        let k_tiles = k_tiles + usize::from(fours > 4);
        let has_four = (1..=4).contains(&fours);
        let of_half =
            |half| (0..k_tiles).map(move |eight| [(8 * eight, half), (8 * eight + 4, half)]);
        let of_both = || has_four.then_some([(8 * k_tiles, 1), (8 * k_tiles, 0)]);
        [
            of_half(1).chain(of_both()).collect(),
            of_half(1).chain(of_half(0)).chain(of_both()).collect(),
        ]
    }

    /// Tiles of eight outputs.
    pub(crate) fn tiles(&self) -> usize {
        self.k_tiles
    }

    /// Digits of words and of the matrix.
    pub(crate) fn digits(&self) -> Digits {
        self.digits
    }

    /// The matrix, as it is.
    pub(crate) fn matrix(&self) -> &DigitMatrix {
        self.matrix
    }

    /// Whether the kernels multiply for a place, though it may have no row: one of the four threads beside it has one. (Numbers of rows
    /// and of outputs are the same: output 0 of a plain step, which has no sines, comes last.)
    pub(crate) fn is_multiplied(&self, place: usize) -> bool {
        let first = place / 8 * 8 + place % 2 * 4;
        first < self.matrix.rows
    }

    /// The digits that a half of a data word meets, if there are any.
    pub(crate) fn met(&self, half: u32, (place, slot): (usize, usize), diagonal: u32) -> [u8; 4] {
        let slot = slot.checked_sub(self.skip);
        let slot = slot.filter(|&slot| slot < self.matrix.slots);
        let place = self.row(place).zip(slot);
        place.map_or([0; 4], |place| {
            met_by(self.matrix, self.digits, half, place, diagonal)
        })
    }
}

/// What the sums of every place are biased by.
pub(crate) fn biased_rows(step: &Step, whole: bool) -> Vec<(Biased, Biased)> {
    biased_rows_by(step, Digits::DOUBLE, |matrix, row| {
        biased(matrix, row, whole)
    })
}

/// The same for words of any digits.
pub(crate) fn biased_rows_by(
    step: &Step,
    digits: Digits,
    biased: impl Fn(&DigitMatrix, usize) -> Biased,
) -> Vec<(Biased, Biased)> {
    let at = |padded: &Padded<'_>, place| match padded.row(place) {
        Some(row) => biased(padded.matrix, row),
        None => Biased::NOTHING,
    };
    biased_places_by(step, digits, at)
}

/// The same where places that have no row are biased, too.
pub(crate) fn biased_places_by(
    step: &Step,
    digits: Digits,
    at: impl Fn(&Padded<'_>, usize) -> Biased,
) -> Vec<(Biased, Biased)> {
    let [cosine, sine] = &padded_for(step, digits);
    (0..8 * cosine.k_tiles)
        .map(|place| (at(cosine, place), at(sine, place)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::tables::common::met;
    use crate::executor::cuda::tables::tuned_tables::tests::{
        Constants, block, diagonals, put_together, random_words, rounded,
    };
    use crate::transform::tables::Tables;
    use ozfft_kernels::mixed_matrix_bytes;

    /// The diagonals of a place, as the kernel's `Digits` multiplies: biased digits, operand by operand. Slots beyond the
    /// last hold anything.
    fn biased_diagonals(part: &[u8], slots: usize, row: usize, words: &[i64]) -> [i64; 8] {
        let k_tiles = slots / 8 + usize::from(slots % 8 > 4);
        let fours = usize::from((1..=4).contains(&(slots % 8)));
        let byte = |slot: usize, byte: usize| {
            let biased = (words[slot] as u64).wrapping_add(crate::stages::digits::bias(8));
            i64::from(biased.to_le_bytes()[byte])
        };
        let mut sums = [0; 8];
        let mut add = |first: usize,
                       piece: usize,
                       slot_and_byte: &dyn Fn(usize) -> (usize, usize)| {
            for diagonal in 0..4 {
                for k in 0..32 {
                    let place = piece * 1024 + diagonal * 256 + k / 16 * 128 + row * 16 + k % 16;
                    let (slot, number) = slot_and_byte(k);
                    sums[first + diagonal] += i64::from(part[place] as i8) * byte(slot, number);
                }
            }
        };
        let both = |k: usize| (8 * k_tiles + k / 4 % 4, k % 4 + if k < 16 { 4 } else { 0 });
        for s in 0..k_tiles {
            let of = |half: usize| move |k: usize| (8 * s + k / 4, k % 4 + 4 * half);
            add(0, s, &of(1));
            add(4, k_tiles + fours + s, &of(1));
            add(4, 2 * k_tiles + fours + s, &of(0));
        }
        if fours == 1 {
            add(0, k_tiles, &both);
            add(4, 3 * k_tiles + 1, &both);
        }
        sums
    }

    #[test]
    fn tables_give_the_rounded_sums_of_signed_digits() {
        let tables_of_plans = Tables::default();
        let mut state = 79u64;
        for shape in ozfft_kernels::TUNED.iter().filter(|s| s.pitch.is_some()) {
            let n = shape.first * shape.last;
            let block = block(n, &tables_of_plans);
            let [first, last] = block.steps() else {
                panic!("two steps")
            };
            assert_eq!((first.recipe.n, last.recipe.n), (shape.first, shape.last));
            let image = tables(first, last);
            let bytes = |step: &Step| mixed_matrix_bytes(step.recipe.n);
            let k_tiles = |step: &Step| mixed_tiles(step.recipe.n);
            let first_constants = 2 * (bytes(first) + bytes(last));
            let last_constants = first_constants + 128 * k_tiles(first) + 128;
            let rotations = last_constants + 192 * k_tiles(last);
            assert_eq!(image.len(), rotations + 16 * first.rotations.len());
            let last_tops = last_constants + 128 * k_tiles(last);
            for (step, matrix, sums, tops) in [
                (first, 0, first_constants, None),
                (last, 2 * bytes(first), last_constants, Some(last_tops)),
            ] {
                let both = padded(step);
                let slots = both[0].outputs;
                let words = random_words(&mut state, 8 * k_tiles(step));
                let constants = Constants {
                    image: &image,
                    sums,
                    tops,
                };
                let mut seen = vec![false; slots];
                for place in 0..8 * k_tiles(step) {
                    let found = [0, 1].map(|part| {
                        let start = matrix + part * bytes(step);
                        let part_bytes = bytes(step) / k_tiles(step);
                        let operand = &image[start + place / 8 * part_bytes..];
                        let d = biased_diagonals(operand, slots, place % 8, &words);
                        put_together(&d, tops.is_none())
                    });
                    let exact = both.map(|padded| {
                        let used = &words[padded.skip..][..padded.matrix.slots];
                        let row = padded.row(place);
                        rounded(row.map_or([0; 8], |row| diagonals(padded.matrix, row, used)))
                    });
                    constants.check(place, found, exact);
                    if let Some(output) = both[0].output(place) {
                        assert!(!std::mem::replace(&mut seen[output], true));
                    }
                }
                assert!(seen.iter().all(|&seen| seen));
            }
        }
    }

    /// What the kernels keep in 32 bits: the last three diagonals together, and diagonals 3 and 4, of biased digits.
    #[test]
    fn sums_fit_their_registers() {
        let tables_of_plans = Tables::default();
        for shape in ozfft_kernels::TUNED.iter().filter(|s| s.pitch.is_some()) {
            let block = block(shape.first * shape.last, &tables_of_plans);
            for matrix in block.steps().iter().flat_map(matrices) {
                for row in 0..matrix.rows {
                    // The largest sum of a sign on a diagonal, over all data.
                    let most = |diagonal: u32, sign: i64| -> i64 {
                        let digits = (0..matrix.slots).flat_map(|slot| {
                            [0, 1].map(|half| met(matrix, half, (row, slot), diagonal))
                        });
                        let digits = digits.flatten().map(|digit| i64::from(digit as i8));
                        digits.map(|digit| 255 * (sign * digit).max(0)).sum()
                    };
                    for sign in [1, -1] {
                        let low = most(7, sign) / 128 + 2 * most(6, sign) + 512 * most(5, sign);
                        let middle = most(4, sign) + 256 * most(3, sign);
                        assert!(
                            low.max(middle) < (1 << 31) - (1 << 20),
                            "{}",
                            shape.kernels[0]
                        );
                    }
                }
            }
        }
    }
}
