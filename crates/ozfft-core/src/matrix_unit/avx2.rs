//! AVX2: `vpmaddwd` multiplies pairs of 16-bit integers in each of eight places, the real and imaginary parts of four
//! lines.
//!
//! There is no exact product of bytes in AVX2: `paired_digits.rs` says what is multiplied instead, `folded_rows.rs` how half of it is
//! saved. The two products that are added are of neighbouring digits of one word, or of two slots where lanes are outputs.

use super::folded_rows::{FoldedRows, GroupRows, Partners};
use super::paired_digits::{PairedDigits, meets, terms};
use super::register_rows::{MOST_PAIRS, RegisterRows, SpreadWord, row_terms};
use super::{
    Halves, ListedUnit, MatrixUnit, PackedMatrix, PackedOutputs, Task, unsigned_digits,
    unsigned_short_digits,
};
use crate::recipe::Digits;
use crate::simd::{self, HalfRow, Pair, Vectors};
use crate::stages::digits::{DigitMatrix, bias};
#[cfg(feature = "residues")]
use residues::bytes::{ByteMatrix, ByteProducts, Group, Sums};
use std::arch::x86_64::*;
use std::sync::Arc;

/// Proof that the processor has the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Avx2(());

/// Slots of the largest step.
const LARGEST_SLOTS: usize = 33;

/// Rows of a matrix that are multiplied side by side: sums and data just fit the registers.
const ROWS: usize = 2;

/// A matrix for products of all rows, and for those of one row at a time.
#[derive(Debug)]
pub(crate) struct Packed {
    all: FoldedRows<ROWS>,
    rows: Option<RegisterRows>,
    count: usize,
}

impl ListedUnit for Avx2 {
    type Packed = Packed;
    type Transforming = Self;

    fn detect() -> Option<Self> {
        let present = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        present.then_some(Avx2(()))
    }

    fn transforming(self) -> Self {
        self
    }

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> Packed {
        Packed {
            all: FoldedRows::new(matrix, digits),
            rows: RegisterRows::new(matrix, digits),
            count: matrix.rows,
        }
    }

    fn rows(packed: &Packed) -> Option<(usize, usize)> {
        let rows = packed.rows.as_ref();
        rows.map(|rows| rows.memory(packed.count))
    }

    fn pack_outputs(
        matrix: &Arc<DigitMatrix>,
        digits: Digits,
        rows: &[Option<usize>],
    ) -> Option<PackedOutputs> {
        Some(PackedOutputs {
            slots: matrix.slots,
            entries: pack_outputs(matrix, digits, rows),
            groups: rows.len() / 4,
            even_source: None,
        })
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

/// The digits of a word of all lines with their bias, in pairs, the least significant first.
type WordDigits = [__m256i; 4];

/// The digits of a word of eight bytes in pairs of 16 bits, the least significant first.
#[inline(always)]
fn spread_digits((lower, upper): (__m256i, __m256i)) -> WordDigits {
    // SAFETY: the unit's constructor has seen AVX2.
    unsafe {
        // Bytes become 16 bits, the lower two or the upper two of every half. Places are those within 128 bits.
        let places = |first: u32| {
            let next = |place: u32| (first + 0x0004_0004 * place) as i32;
            _mm256_broadcastsi128_si256(_mm_setr_epi32(next(0), next(1), next(2), next(3)))
        };
        let (low, high) = (places(0x8001_8000), places(0x8003_8002));
        [
            _mm256_shuffle_epi8(lower, low),
            _mm256_shuffle_epi8(lower, high),
            _mm256_shuffle_epi8(upper, low),
            _mm256_shuffle_epi8(upper, high),
        ]
    }
}

/// The digits of every word of a column.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn unpack(data: &[HalfRow<4>], digits: Digits, column: &mut [WordDigits]) {
    // Bytes become 16 bits, the lower two or the upper two of every half. Places are those within 128 bits.
    let (lower, upper) = (0x8001_8000u32 as i32, 0x8003_8002u32 as i32);
    let bytes = |first: i32| {
        let next = |place: i32| first + 0x0004_0004 * place;
        _mm256_setr_epi32(
            next(0),
            next(1),
            next(2),
            next(3),
            next(0),
            next(1),
            next(2),
            next(3),
        )
    };
    let (lower, upper) = (bytes(lower), bytes(upper));
    let (first, second) = data.split_at(column.len());
    let long = digits.data > 4;
    let low_halves = if long { second } else { first };
    for (slot, column) in column.iter_mut().enumerate() {
        let half = simd::Avx2::load_halves(&low_halves[slot]);
        column[0] = _mm256_shuffle_epi8(half, lower);
        column[1] = _mm256_shuffle_epi8(half, upper);
        if long {
            let half = simd::Avx2::load_halves(&first[slot]);
            column[2] = _mm256_shuffle_epi8(half, lower);
            column[3] = _mm256_shuffle_epi8(half, upper);
        }
    }
}

/// Replaces the digits of slots `j` and `slots - 1 - j` by sums and differences.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn mirror(column: &mut [WordDigits]) {
    let (first, second) = column.split_at_mut(column.len() / 2);
    for (first, second) in first.iter_mut().zip(second.iter_mut().rev()) {
        for (first, second) in first.iter_mut().zip(second) {
            let (a, b) = (*first, *second);
            *first = _mm256_add_epi16(a, b);
            *second = _mm256_sub_epi16(a, b);
        }
    }
}

/// Sums of all pairs of diagonals of some rows.
type PairSums<const PAIRS: usize> = [[__m256i; PAIRS]; ROWS];

/// One group of rows: the `TERMS` terms of a recipe with `WORDS` pairs of digits and `PAIRS` of diagonals.
#[inline]
#[target_feature(enable = "avx2,fma")]
#[allow(clippy::needless_range_loop)]
fn group_sums<const WORDS: usize, const PAIRS: usize, const TERMS: usize, const DENSE: bool>(
    entries: &[[[[i16; 2]; ROWS]; TERMS]],
    offsets: &[[i32; ROWS]],
    places: &[u8],
    data: &[WordDigits],
) -> PairSums<PAIRS> {
    let mut sums = [[_mm256_setzero_si256(); PAIRS]; ROWS];
    for (pair, offsets) in offsets.iter().enumerate().take(PAIRS) {
        for row in 0..ROWS {
            sums[row][pair] = _mm256_set1_epi32(offsets[row]);
        }
    }
    for (entries, &place) in entries.iter().zip(places) {
        let data = &data[usize::from(place)];
        let mut term = 0;
        for word in 0..WORDS {
            for pair in 0..PAIRS {
                if DENSE || pair <= word {
                    for row in 0..ROWS {
                        let [low, high] = entries[term][row];
                        let entry = i32::from(high) << 16 | i32::from(low as u16);
                        let product = _mm256_madd_epi16(data[word], _mm256_set1_epi32(entry));
                        sums[row][pair] = _mm256_add_epi32(sums[row][pair], product);
                    }
                    term += 1;
                }
            }
        }
    }
    sums
}

/// Stores the sums of some rows; those that a group has too many are dropped.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn store<const PAIRS: usize>(
    found: &PairSums<PAIRS>,
    rows: &GroupRows<ROWS>,
    pairs: usize,
    sums: &mut [HalfRow<4>],
) {
    for (found, row) in found.iter().zip(rows) {
        if let Some(row) = *row {
            let sums = &mut sums[usize::from(row) * pairs..][..pairs];
            for (sum, &found) in sums.iter_mut().zip(found) {
                simd::Avx2::store_halves(found, sum);
            }
        }
    }
}

/// All rows of a matrix.
#[inline]
#[target_feature(enable = "avx2,fma")]
#[allow(clippy::needless_range_loop)]
fn all_rows<const WORDS: usize, const PAIRS: usize, const TERMS: usize, const DENSE: bool>(
    packed: &FoldedRows<ROWS>,
    digits: Digits,
    column: &[WordDigits],
    sums: &mut [HalfRow<4>],
) {
    // A constant where it can be one.
    let pairs = if DENSE { digits.pairs() } else { PAIRS };
    let (mut entries, _) = packed.entries.as_chunks::<TERMS>();
    let mut offsets = &packed.offsets[..];
    let mut next = |source: usize| {
        let places = packed.places(source);
        let (own, rest) = entries.split_at(places.len());
        entries = rest;
        let (own_offsets, rest) = offsets.split_at(pairs);
        offsets = rest;
        group_sums::<WORDS, PAIRS, TERMS, DENSE>(own, own_offsets, places, column)
    };
    for group in &packed.groups {
        match &group.partners {
            Partners::None { source } => store(&next(*source), &group.rows, pairs, sums),
            Partners::Rows(partners) => {
                let (mut plus, mut minus) = (next(0), next(1));
                for row in 0..ROWS {
                    for pair in 0..PAIRS {
                        let (a, b) = (plus[row][pair], minus[row][pair]);
                        plus[row][pair] = _mm256_add_epi32(a, b);
                        minus[row][pair] = _mm256_sub_epi32(a, b);
                    }
                }
                store(&plus, &group.rows, pairs, sums);
                store(&minus, partners, pairs, sums);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn multiply(matrix: &PackedMatrix, digits: Digits, data: &[HalfRow<4>], sums: &mut [HalfRow<4>]) {
    let packed = &matrix.packed::<Packed>().all;
    let mut memory = [[_mm256_setzero_si256(); 4]; LARGEST_SLOTS];
    let column = &mut memory[..matrix.slots];
    unpack(data, digits, column);
    if packed.is_mirrored() {
        mirror(column);
    }
    match digits.pairs() {
        _ if digits.diagonals > digits.data => {
            all_rows::<4, 7, 28, true>(packed, digits, column, sums);
        }
        1 => all_rows::<1, 1, 1, false>(packed, digits, column, sums),
        2 => all_rows::<2, 2, 3, false>(packed, digits, column, sums),
        3 => all_rows::<3, 3, 6, false>(packed, digits, column, sums),
        _ => all_rows::<4, 4, 10, false>(packed, digits, column, sums),
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

    const ROW_BY_ROW: bool = true;

    #[inline(always)]
    fn register_rows(matrix: &PackedMatrix) -> Option<&RegisterRows> {
        matrix.packed::<Packed>().rows.as_ref()
    }

    #[inline(always)]
    fn spread(word: Halves<4, Self>, place: &mut SpreadWord<4>) {
        let digits = spread_digits(word);
        for q in 0..MOST_PAIRS {
            simd::Avx2::store_halves(digits[q], &mut place[q]);
        }
    }

    #[inline(always)]
    fn spread_folded(
        words: Pair<Halves<4, Self>>,
        sums: &mut SpreadWord<4>,
        differences: &mut SpreadWord<4>,
    ) {
        let (a, b) = (spread_digits(words.0), spread_digits(words.1));
        for q in 0..MOST_PAIRS {
            // SAFETY: as above.
            let (sum, difference) =
                unsafe { (_mm256_add_epi16(a[q], b[q]), _mm256_sub_epi16(a[q], b[q])) };
            simd::Avx2::store_halves(sum, &mut sums[q]);
            simd::Avx2::store_halves(difference, &mut differences[q]);
        }
    }

    // Loops by number are unrolled where iterators over arrays of registers are not.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn row_pairs<const P: usize>(
        offsets: &[i32; MOST_PAIRS],
        entries: &[i32],
        digits: &[SpreadWord<4>],
    ) -> [__m256i; MOST_PAIRS] {
        let mut sums = [simd::Avx2::splat_halves(0); MOST_PAIRS];
        for pair in 0..P {
            sums[pair] = simd::Avx2::splat_halves(offsets[pair]);
        }
        let entries = entries.chunks_exact(const { row_terms(P) });
        for (entries, digits) in entries.zip(digits) {
            let mut term = 0;
            for word in 0..P {
                let digits = simd::Avx2::load_halves(&digits[word]);
                for pair in 0..=word {
                    let entry = simd::Avx2::splat_halves(entries[term]);
                    // SAFETY: as above.
                    let product = unsafe { _mm256_madd_epi16(digits, entry) };
                    sums[pair] = simd::Avx2::add_halves(sums[pair], product);
                    term += 1;
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn encode_outputs(
        _: &PackedOutputs,
        digits: Digits,
        words: &[[i64; 2]],
        data: &mut [[i32; 2]],
    ) {
        encode_outputs(digits, words, data);
    }

    #[inline(always)]
    fn multiply_outputs(
        self,
        matrix: &PackedOutputs,
        digits: Digits,
        group: usize,
        data: &[[i32; 2]],
        sums: &mut [HalfRow<4>],
    ) {
        // SAFETY: as above.
        unsafe { multiply_outputs(digits, matrix.slots, matrix.group(group), data, sums) }
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
