//! AVX2: `vpmaddwd` multiplies pairs of 16-bit integers in each of eight places, the real and imaginary parts of four
//! lines.
//!
//! There is no exact product of bytes in AVX2: `paired_digits.rs` says what is multiplied instead.

use super::paired_digits::{LARGEST_SLOT_PAIRS, PairedDigits, meets, terms};
use super::{ListedUnit, MatrixUnit, PackedMatrix, Task, unsigned_digits, unsigned_short_digits};
use crate::recipe::Digits;
use crate::simd::{self, HalfRow, Pair, Vectors};
use crate::stages::digits::{DigitMatrix, bias};
#[cfg(feature = "residues")]
use residues::bytes::{ByteMatrix, ByteProducts, Group, Sums};
use std::arch::x86_64::*;
use std::sync::Arc;

/// Proof that the processor has the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Avx2(());

impl ListedUnit for Avx2 {
    type Packed = PairedDigits;

    fn detect() -> Option<Self> {
        let present = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        present.then_some(Avx2(()))
    }

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> PairedDigits {
        PairedDigits::new(matrix, digits)
    }

    fn pack_outputs(
        matrix: &DigitMatrix,
        digits: Digits,
        rows: &[Option<usize>],
    ) -> Option<Vec<i32>> {
        Some(pack_outputs(matrix, digits, rows))
    }

    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts> {
        Arc::new(self)
    }
}

/// For every four rows: what the bias of unsigned data digits takes, for every pair; then for every two slots the entries of
/// [`PairedDigits`]. Each is a register, of what every row has for the real and for the imaginary part.
fn pack_outputs(matrix: &DigitMatrix, digits: Digits, rows: &[Option<usize>]) -> Vec<i32> {
    let packed = PairedDigits::new(matrix, digits);
    let (pairs, terms) = (digits.pairs(), terms(digits).len());
    let slot_pairs = matrix.slots.div_ceil(2);
    let mut entries = Vec::new();
    for rows in rows.chunks(4) {
        let mut put = |entry: &dyn Fn(usize) -> i32| {
            let row = rows.iter().map(|row| row.map_or(0, entry));
            entries.extend(row.flat_map(|entry| [entry; 2]));
        };
        for pair in 0..pairs {
            put(&|row| packed.offsets[row * pairs + pair]);
        }
        for i in 0..slot_pairs * terms {
            put(&|row| packed.entries[row * slot_pairs * terms + i]);
        }
    }
    entries
}

/// For every two words their digits as 16-bit neighbours, the most significant first.
fn encode_outputs(digits: Digits, words: &[[i64; 2]], data: &mut [[i32; 2]]) {
    let (bias, count) = (bias(digits.data) as i64, digits.data as usize);
    for (words, data) in words.chunks(2).zip(data.chunks_exact_mut(count)) {
        let biased = |word: [i64; 2]| word.map(|x| x.wrapping_add(bias));
        let even = biased(words[0]);
        let odd = words.get(1).map_or([0; 2], |&word| biased(word));
        for (t, digits) in data.iter_mut().enumerate() {
            let shift = 8 * (count - 1 - t);
            let digit = |x: i64| ((x >> shift) & 0xff) as i32;
            *digits = std::array::from_fn(|part| digit(even[part]) | digit(odd[part]) << 16);
        }
    }
}

/// The pairs of four rows of a matrix, packed as above, for the truncated recipe of `DATA` digits.
#[target_feature(enable = "avx2,fma")]
#[allow(clippy::needless_range_loop)]
fn rows_of_outputs<const DATA: usize, const PAIRS: usize, const TERMS: usize>(
    slots: usize,
    entries: &[i32],
    data: &[[i32; 2]],
    sums: &mut [HalfRow<4>],
) {
    let (registers, _) = entries.as_chunks::<8>();
    let load = |register: &[i32; 8]| {
        // SAFETY: a register is 32 bytes.
        unsafe { _mm256_loadu_si256(register.as_ptr().cast()) }
    };
    let (offsets, registers) = registers.split_at(PAIRS);
    let mut accumulators = [_mm256_setzero_si256(); PAIRS];
    for pair in 0..PAIRS {
        accumulators[pair] = load(&offsets[pair]);
    }
    let slot_pairs = slots.div_ceil(2);
    let data = data.chunks_exact(DATA).take(slot_pairs);
    for (data, registers) in data.zip(registers.chunks_exact(TERMS)) {
        let mut term = 0;
        for t in 0..DATA {
            let [re, im] = data[t];
            let digits = _mm256_set1_epi64x(i64::from(im) << 32 | i64::from(re as u32));
            for pair in 0..PAIRS {
                if meets(DATA, t, pair) {
                    let product = _mm256_madd_epi16(digits, load(&registers[term]));
                    accumulators[pair] = _mm256_add_epi32(accumulators[pair], product);
                    term += 1;
                }
            }
        }
    }
    for (sum, &accumulator) in sums.iter_mut().zip(&accumulators) {
        simd::Avx2::store_halves(accumulator, sum);
    }
}

/// [`MatrixUnit::multiply_outputs`].
///
/// # Safety
/// The processor has the features of [`Avx2`].
#[inline(always)]
unsafe fn multiply_outputs(
    digits: Digits,
    slots: usize,
    entries: &[i32],
    data: &[[i32; 2]],
    sums: &mut [HalfRow<4>],
) {
    debug_assert_eq!(digits.diagonals, digits.data);
    // SAFETY: the caller's promise.
    unsafe {
        match digits.data {
            2 => rows_of_outputs::<2, 1, 2>(slots, entries, data, sums),
            3 => rows_of_outputs::<3, 2, 4>(slots, entries, data, sums),
            4 => rows_of_outputs::<4, 2, 6>(slots, entries, data, sums),
            5 => rows_of_outputs::<5, 3, 9>(slots, entries, data, sums),
            6 => rows_of_outputs::<6, 3, 12>(slots, entries, data, sums),
            7 => rows_of_outputs::<7, 4, 16>(slots, entries, data, sums),
            _ => rows_of_outputs::<8, 4, 20>(slots, entries, data, sums),
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn enter<T: Task>(task: T) -> T::Output {
    task.run()
}

/// The bytes of two slots as 16-bit neighbours, the most significant digit first.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn spread(
    data: &[HalfRow<4>],
    digits: Digits,
    slots: usize,
    spread: &mut [[__m256i; 8]; LARGEST_SLOT_PAIRS],
) {
    let halves = if digits.data > 4 { 2 } else { 1 };
    for (slot_pair, spread) in spread.iter_mut().enumerate().take(slots.div_ceil(2)) {
        let (even, odd) = (2 * slot_pair, 2 * slot_pair + 1);
        for t in 0..digits.data as usize {
            let place = digits.data as usize - 1 - t;
            // Lower halves come last.
            let first = if halves == 2 && place < 4 { slots } else { 0 };
            let byte = (place % 4) as i32;
            let load = |slot: usize| {
                if slot < slots {
                    simd::Avx2::load_halves(&data[first + slot])
                } else {
                    _mm256_setzero_si256()
                }
            };
            let mask = _mm256_set1_epi32(0xff);
            let count = _mm_cvtsi32_si128(8 * byte);
            let low = _mm256_and_si256(_mm256_srl_epi32(load(even), count), mask);
            let high = _mm256_and_si256(_mm256_srl_epi32(load(odd), count), mask);
            spread[t] = _mm256_or_si256(low, _mm256_slli_epi32::<16>(high));
        }
    }
}

/// `R` rows at once: all `TERMS` terms of a recipe with `DATA` digits and `PAIRS` pairs.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn rows<
    const DATA: usize,
    const PAIRS: usize,
    const TERMS: usize,
    const DENSE: bool,
    const R: usize,
>(
    packed: &PairedDigits,
    pairs: usize,
    row: usize,
    spread: &[[__m256i; 8]],
    sums: &mut [HalfRow<4>],
) {
    let mut accumulators = [[_mm256_setzero_si256(); PAIRS]; R];
    for (r, accumulators) in accumulators.iter_mut().enumerate() {
        let offsets = &packed.offsets[(row + r) * pairs..][..pairs];
        for (sum, &offset) in accumulators.iter_mut().zip(offsets) {
            *sum = _mm256_set1_epi32(offset);
        }
    }
    let (all, _) = packed.entries.as_chunks::<TERMS>();
    let mut entries = [&all[..0]; R];
    for (r, entries) in entries.iter_mut().enumerate() {
        *entries = &all[(row + r) * spread.len()..][..spread.len()];
    }
    for (slot_pair, data) in spread.iter().enumerate() {
        let mut term = 0;
        for t in 0..DATA {
            for pair in 0..PAIRS {
                if DENSE || meets(DATA, t, pair) {
                    for r in 0..R {
                        let entry = _mm256_set1_epi32(entries[r][slot_pair][term]);
                        let product = _mm256_madd_epi16(data[t], entry);
                        accumulators[r][pair] = _mm256_add_epi32(accumulators[r][pair], product);
                    }
                    term += 1;
                }
            }
        }
    }
    for (r, accumulators) in accumulators.iter().enumerate() {
        for (pair, &sum) in accumulators.iter().enumerate().take(pairs) {
            simd::Avx2::store_halves(sum, &mut sums[(row + r) * pairs + pair]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn all_rows<const DATA: usize, const PAIRS: usize, const TERMS: usize, const DENSE: bool>(
    matrix: &PackedMatrix,
    packed: &PairedDigits,
    pairs: usize,
    spread: &[[__m256i; 8]],
    sums: &mut [HalfRow<4>],
) {
    let even = matrix.rows / 2 * 2;
    for row in (0..even).step_by(2) {
        rows::<DATA, PAIRS, TERMS, DENSE, 2>(packed, pairs, row, spread, sums);
    }
    if even < matrix.rows {
        rows::<DATA, PAIRS, TERMS, DENSE, 1>(packed, pairs, even, spread, sums);
    }
}

#[target_feature(enable = "avx2,fma")]
fn multiply(matrix: &PackedMatrix, digits: Digits, data: &[HalfRow<4>], sums: &mut [HalfRow<4>]) {
    let packed = matrix.packed::<PairedDigits>();
    let mut memory = [[_mm256_setzero_si256(); 8]; LARGEST_SLOT_PAIRS];
    spread(data, digits, matrix.slots, &mut memory);
    let spread = &memory[..matrix.slots.div_ceil(2)];
    let pairs = digits.pairs();
    match digits.data {
        _ if digits.diagonals > digits.data => {
            all_rows::<8, 7, 56, true>(matrix, packed, pairs, spread, sums)
        }
        2 => all_rows::<2, 1, 2, false>(matrix, packed, pairs, spread, sums),
        3 => all_rows::<3, 2, 4, false>(matrix, packed, pairs, spread, sums),
        4 => all_rows::<4, 2, 6, false>(matrix, packed, pairs, spread, sums),
        5 => all_rows::<5, 3, 9, false>(matrix, packed, pairs, spread, sums),
        6 => all_rows::<6, 3, 12, false>(matrix, packed, pairs, spread, sums),
        7 => all_rows::<7, 4, 16, false>(matrix, packed, pairs, spread, sums),
        _ => all_rows::<8, 4, 20, false>(matrix, packed, pairs, spread, sums),
    }
}

impl MatrixUnit<4> for Avx2 {
    type Vectors = simd::Avx2;
    const COLUMNS: usize = 1;
    type Session = ();

    #[inline(always)]
    fn session(self) {}

    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        // SAFETY: the constructor has seen these features.
        unsafe { enter(task) }
    }

    #[inline(always)]
    fn encode(digits: Digits, words: Pair<__m256i>) -> (__m256i, __m256i) {
        unsigned_digits::<4, simd::Avx2>(digits, words)
    }

    const SHORT: bool = true;

    #[inline(always)]
    fn encode_short(digits: Digits, words: __m256i) -> __m256i {
        unsigned_short_digits::<4, simd::Avx2>(digits, words)
    }

    #[inline(always)]
    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        _columns: usize,
        _part: usize,
        data: &[HalfRow<4>],
        sums: &mut [HalfRow<4>],
    ) {
        // SAFETY: as above.
        unsafe { multiply(matrix, digits, data, sums) }
    }

    #[inline(always)]
    fn encode_outputs(digits: Digits, words: &[[i64; 2]], data: &mut [[i32; 2]]) {
        encode_outputs(digits, words, data);
    }

    #[inline(always)]
    fn multiply_outputs(
        self,
        digits: Digits,
        slots: usize,
        entries: &[i32],
        data: &[[i32; 2]],
        sums: &mut [HalfRow<4>],
    ) {
        // SAFETY: as above.
        unsafe { multiply_outputs(digits, slots, entries, data, sums) }
    }
}

/// Rows of bytes that are summed side by side; a byte matrix has whole numbers of them.
#[cfg(feature = "residues")]
const BYTE_ROWS: usize = 4;

/// Every other signed byte as 16 bits, and those in between.
#[cfg(feature = "residues")]
#[inline]
#[target_feature(enable = "avx2,fma")]
fn widened(bytes: __m256i) -> [__m256i; 2] {
    let even = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(bytes));
    [even, _mm256_srai_epi16::<8>(bytes)]
}

#[cfg(feature = "residues")]
#[target_feature(enable = "avx2,fma")]
fn multiply_bytes(matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
    let data = &data[..matrix.depth().div_ceil(4)];
    let sums = &mut sums[..matrix.rows()];
    let (entries, _) = matrix.entries().as_chunks::<4>();
    let groups = matrix.pitch() / 4;
    for (block, sums) in sums.chunks_mut(BYTE_ROWS).enumerate() {
        let mut rows = [&entries[..0]; BYTE_ROWS];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = &entries[(block * BYTE_ROWS + r) * groups..][..data.len()];
        }
        let mut accumulators = [[_mm256_setzero_si256(); 2]; BYTE_ROWS];
        for (k, group) in data.iter().enumerate() {
            let (halves, _) = group.as_chunks::<8>();
            // SAFETY: eight columns are 32 bytes.
            let load = |half: usize| unsafe { _mm256_loadu_si256(halves[half].as_ptr().cast()) };
            let columns = [widened(load(0)), widened(load(1))];
            for (row, accumulators) in rows.iter().zip(&mut accumulators) {
                let entry = i32::from_le_bytes(row[k].map(|x| x as u8));
                let entry = widened(_mm256_set1_epi32(entry));
                for (sum, bytes) in accumulators.iter_mut().zip(&columns) {
                    let even = _mm256_madd_epi16(bytes[0], entry[0]);
                    let odd = _mm256_madd_epi16(bytes[1], entry[1]);
                    *sum = _mm256_add_epi32(*sum, _mm256_add_epi32(even, odd));
                }
            }
        }
        for (to, accumulators) in sums.iter_mut().zip(&accumulators) {
            for (to, &sum) in to.chunks_exact_mut(8).zip(accumulators) {
                // SAFETY: eight sums are 32 bytes.
                unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), sum) }
            }
        }
    }
}

#[cfg(feature = "residues")]
impl ByteProducts for Avx2 {
    fn name(&self) -> &'static str {
        "avx2"
    }

    fn multiply(&self, matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
        // SAFETY: the constructor has seen these features.
        unsafe { multiply_bytes(matrix, data, sums) }
    }
}
