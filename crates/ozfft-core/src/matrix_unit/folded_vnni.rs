//! AVX-512 VNNI with half of the products saved: `vpdpwssd` multiplies two 16-bit integers by two in each of 16 places, the real and
//! imaginary parts of eight lines.
//!
//! Sums and differences of digits have nine bits, and bytes no room for them (`folded_rows.rs`). A product of 16 bits takes two matrix
//! digits at once, so that a word of eight digits takes ten instructions instead of twelve, and of half as many words.
//!
//! In batches the instruction is written as such: the compiler takes its intrinsic function apart, into a product and a sum, which are twice
//! as many, and wait less for each other.

use super::PackedOutputs;
use super::folded_rows::{FoldedRows, GroupRows, Partners};
use super::register_rows::{MOST_PAIRS, SpreadWord, row_terms};
use crate::recipe::Digits;
use crate::simd::{Avx512, HalfRow, Vectors};
use crate::stages::digits::{DigitMatrix, bias};
use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Slots of the largest step.
const LARGEST_SLOTS: usize = 33;

/// Rows of a matrix that are multiplied side by side: with four pairs of diagonals each, half of the registers hold their sums.
const ROWS: usize = 4;

/// A matrix whose rows are folded.
#[derive(Debug)]
pub(crate) struct Folded(FoldedRows<ROWS>);

impl Folded {
    /// The matrix for the products of a truncated recipe, where that takes fewer of them than `bytes`, the number of products of bytes.
    pub(super) fn new(matrix: &Arc<DigitMatrix>, digits: Digits, bytes: usize) -> Option<Folded> {
        if digits.diagonals != digits.data || matrix.slots > LARGEST_SLOTS {
            return None;
        }
        let folded = FoldedRows::new(matrix, digits);
        // Every entry is a product for each of its rows. Digits must be spread to 16 bits first: some instructions for every word.
        let products = ROWS * folded.entries.len() + 8 * matrix.slots;
        (5 * products < 4 * bytes).then_some(Folded(folded))
    }
}

/// Adds two products of 16 bits to each of the sums.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn add_products(mut sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: arithmetic in registers.
    unsafe {
        asm!(
            "vpdpwssd {sums}, {a}, {b}",
            sums = inout(zmm_reg) sums,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

/// Adds the products of one place of a row (`register_rows.rs`) with four pairs of digits: the sums of the four pairs of diagonals, of which
/// the first two are in two parts, so that fewer products wait for each other.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn add_four(
    [mut a0, mut b0, mut a1, mut b1, mut s2, mut s3]: [__m512i; 6],
    entries: &[i32; row_terms(4)],
    digits: &SpreadWord<8>,
) -> [__m512i; 6] {
    // Of a type: without one the compiler gives names to some registers that no assembler knows.
    let _word: __m512i;
    // SAFETY: what is read lies within both arrays.
    unsafe {
        asm!(
            "vmovdqu64 {word}, zmmword ptr [{digits}]",
            "vpdpwssd {a0}, {word}, dword ptr [{entries}]{{1to16}}",
            "vmovdqu64 {word}, zmmword ptr [{digits} + 64]",
            "vpdpwssd {b0}, {word}, dword ptr [{entries} + 4]{{1to16}}",
            "vpdpwssd {a1}, {word}, dword ptr [{entries} + 8]{{1to16}}",
            "vmovdqu64 {word}, zmmword ptr [{digits} + 128]",
            "vpdpwssd {a0}, {word}, dword ptr [{entries} + 12]{{1to16}}",
            "vpdpwssd {b1}, {word}, dword ptr [{entries} + 16]{{1to16}}",
            "vpdpwssd {s2}, {word}, dword ptr [{entries} + 20]{{1to16}}",
            "vmovdqu64 {word}, zmmword ptr [{digits} + 192]",
            "vpdpwssd {b0}, {word}, dword ptr [{entries} + 24]{{1to16}}",
            "vpdpwssd {a1}, {word}, dword ptr [{entries} + 28]{{1to16}}",
            "vpdpwssd {s2}, {word}, dword ptr [{entries} + 32]{{1to16}}",
            "vpdpwssd {s3}, {word}, dword ptr [{entries} + 36]{{1to16}}",
            a0 = inout(zmm_reg) a0,
            b0 = inout(zmm_reg) b0,
            a1 = inout(zmm_reg) a1,
            b1 = inout(zmm_reg) b1,
            s2 = inout(zmm_reg) s2,
            s3 = inout(zmm_reg) s3,
            word = out(zmm_reg) _word,
            entries = in(reg) entries,
            digits = in(reg) digits,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    [a0, b0, a1, b1, s2, s3]
}

/// The same with three pairs of digits, the sums in three, two and one parts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn add_three(
    [mut a0, mut b0, mut c0, mut a1, mut b1, mut s2]: [__m512i; 6],
    entries: &[i32; row_terms(3)],
    digits: &SpreadWord<8>,
) -> [__m512i; 6] {
    let _word: __m512i;
    // SAFETY: what is read lies within both arrays.
    unsafe {
        asm!(
            "vmovdqu64 {word}, zmmword ptr [{digits}]",
            "vpdpwssd {a0}, {word}, dword ptr [{entries}]{{1to16}}",
            "vmovdqu64 {word}, zmmword ptr [{digits} + 64]",
            "vpdpwssd {b0}, {word}, dword ptr [{entries} + 4]{{1to16}}",
            "vpdpwssd {a1}, {word}, dword ptr [{entries} + 8]{{1to16}}",
            "vmovdqu64 {word}, zmmword ptr [{digits} + 128]",
            "vpdpwssd {c0}, {word}, dword ptr [{entries} + 12]{{1to16}}",
            "vpdpwssd {b1}, {word}, dword ptr [{entries} + 16]{{1to16}}",
            "vpdpwssd {s2}, {word}, dword ptr [{entries} + 20]{{1to16}}",
            a0 = inout(zmm_reg) a0,
            b0 = inout(zmm_reg) b0,
            c0 = inout(zmm_reg) c0,
            a1 = inout(zmm_reg) a1,
            b1 = inout(zmm_reg) b1,
            s2 = inout(zmm_reg) s2,
            word = out(zmm_reg) _word,
            entries = in(reg) entries,
            digits = in(reg) digits,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    [a0, b0, c0, a1, b1, s2]
}

/// All `P` pairs of diagonals of a row (`register_rows.rs`); what is beyond them is 0.
///
/// # Safety
/// The processor has AVX-512 F, BW, DQ, VL, CD and VNNI.
#[inline(always)]
pub(super) unsafe fn row_pairs<const P: usize>(
    offsets: &[i32; MOST_PAIRS],
    entries: &[i32],
    digits: &[SpreadWord<8>],
) -> [__m512i; MOST_PAIRS] {
    let (zero, add) = (Avx512::splat_halves(0), Avx512::add_halves);
    // One by one: a function given to `map` is not inlined.
    let first = Avx512::splat_halves(offsets[0]);
    let second = Avx512::splat_halves(offsets[1]);
    let third = Avx512::splat_halves(offsets[2]);
    let fourth = Avx512::splat_halves(offsets[3]);
    // SAFETY: the caller's promise.
    unsafe {
        match P {
            3 => {
                let mut sums = [first, zero, zero, second, zero, third];
                for (entries, digits) in entries.as_chunks().0.iter().zip(digits) {
                    sums = add_three(sums, entries, digits);
                }
                let [a0, b0, c0, a1, b1, s2] = sums;
                [add(add(a0, b0), c0), add(a1, b1), s2, zero]
            }
            _ => {
                let mut sums = [first, zero, second, zero, third, fourth];
                for (entries, digits) in entries.as_chunks().0.iter().zip(digits) {
                    sums = add_four(sums, entries, digits);
                }
                let [a0, b0, a1, b1, s2, s3] = sums;
                [add(a0, b0), add(a1, b1), s2, s3]
            }
        }
    }
}

/// The digits of a word of all lines with their bias, in pairs, the least significant first.
type WordDigits<const WORDS: usize> = [__m512i; WORDS];

/// The digits of a word from its halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn word_digits<const WORDS: usize>(
    lower: &HalfRow<8>,
    upper: Option<&HalfRow<8>>,
) -> WordDigits<WORDS> {
    // Bytes become 16 bits, the lower two or the upper two of every half. Places are those within 128 bits.
    let places = |first: i32| {
        let next = |place: i32| first + 0x0004_0004 * place;
        _mm512_broadcast_i32x4(_mm_setr_epi32(next(0), next(1), next(2), next(3)))
    };
    let low = places(0x8001_8000u32 as i32);
    let high = places(0x8003_8002u32 as i32);
    let mut digits = [_mm512_setzero_si512(); WORDS];
    let mut put = |first: usize, half: &HalfRow<8>| {
        let half = Avx512::load_halves(half);
        if first < WORDS {
            digits[first] = _mm512_shuffle_epi8(half, low);
        }
        if first + 1 < WORDS {
            digits[first + 1] = _mm512_shuffle_epi8(half, high);
        }
    };
    put(0, lower);
    if let Some(upper) = upper {
        put(2, upper);
    }
    digits
}

/// The digits of every word of a column; with `mirrored`, those of slots `j` and `slots - 1 - j` as sums and differences.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
#[allow(clippy::needless_range_loop)]
fn unpack<'a, const WORDS: usize>(
    data: &[HalfRow<8>],
    slots: usize,
    mirrored: bool,
    memory: &'a mut [MaybeUninit<WordDigits<WORDS>>; LARGEST_SLOTS],
) -> &'a [WordDigits<WORDS>] {
    // The upper halves come first, where there are any.
    let (first, second) = data.split_at(slots);
    let column = &mut memory[..slots];
    let word = |slot: usize| match WORDS > 2 {
        true => word_digits::<WORDS>(&second[slot], Some(&first[slot])),
        false => word_digits::<WORDS>(&first[slot], None),
    };
    if mirrored {
        for slot in 0..slots / 2 {
            let (mut a, mut b) = (word(slot), word(slots - 1 - slot));
            for w in 0..WORDS {
                let (x, y) = (a[w], b[w]);
                a[w] = _mm512_add_epi16(x, y);
                b[w] = _mm512_sub_epi16(x, y);
            }
            column[slot].write(a);
            column[slots - 1 - slot].write(b);
        }
    } else {
        for slot in 0..slots {
            column[slot].write(word(slot));
        }
    }
    debug_assert!(!mirrored || slots.is_multiple_of(2));
    // SAFETY: every slot has been written; where slots are mirrored, their number is even.
    unsafe { std::slice::from_raw_parts(column.as_ptr().cast(), slots) }
}

/// Sums of all pairs of diagonals of some rows.
type PairSums<const PAIRS: usize> = [[HalfRow<8>; PAIRS]; ROWS];

/// One group of rows: the `TERMS` terms of a recipe with `PAIRS` pairs of digits and of diagonals. The sums are stored in the end: sums
/// that are returned stay in memory all the time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
#[allow(clippy::needless_range_loop)]
fn group_sums<const PAIRS: usize, const TERMS: usize>(
    entries: &[[[[i16; 2]; ROWS]; TERMS]],
    offsets: &[[i32; ROWS]],
    places: &[u8],
    data: &[WordDigits<PAIRS>],
    found: &mut PairSums<PAIRS>,
) {
    let mut sums = [[_mm512_setzero_si512(); PAIRS]; ROWS];
    let offsets = &offsets[..PAIRS];
    for pair in 0..PAIRS {
        for row in 0..ROWS {
            sums[row][pair] = _mm512_set1_epi32(offsets[pair][row]);
        }
    }
    for (entries, &place) in entries.iter().zip(places) {
        let data = &data[usize::from(place)];
        let mut term = 0;
        for word in 0..PAIRS {
            for pair in 0..=word {
                for row in 0..ROWS {
                    let entry = _mm512_set1_epi32(bytemuck::cast(entries[term][row]));
                    sums[row][pair] = add_products(sums[row][pair], data[word], entry);
                }
                term += 1;
            }
        }
    }
    for row in 0..ROWS {
        for pair in 0..PAIRS {
            Avx512::store_halves(sums[row][pair], &mut found[row][pair]);
        }
    }
}

/// Stores the sums of some rows; those that a group has too many are dropped.
#[inline]
fn store<const PAIRS: usize>(
    found: &PairSums<PAIRS>,
    rows: &GroupRows<ROWS>,
    sums: &mut [HalfRow<8>],
) {
    for (found, row) in found.iter().zip(rows) {
        if let Some(row) = *row {
            sums[usize::from(row) * PAIRS..][..PAIRS].copy_from_slice(found);
        }
    }
}

/// All rows of a matrix times a column of so many slots.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
#[allow(clippy::needless_range_loop)]
fn all_rows<const PAIRS: usize, const TERMS: usize>(
    folded: &Folded,
    slots: usize,
    data: &[HalfRow<8>],
    sums: &mut [HalfRow<8>],
) {
    let packed = &folded.0;
    let mut memory = [const { MaybeUninit::uninit() }; LARGEST_SLOTS];
    let column = unpack::<PAIRS>(data, slots, packed.is_mirrored(), &mut memory);
    let (mut entries, _) = packed.entries.as_chunks::<TERMS>();
    let mut offsets = &packed.offsets[..];
    let mut plus: PairSums<PAIRS> = [[[[0; 2]; 8]; PAIRS]; ROWS];
    let mut minus = plus;
    for group in &packed.groups {
        let mut next = |source: usize, found: &mut PairSums<PAIRS>| {
            let places = packed.places(source);
            let (own, rest) = entries.split_at(places.len());
            entries = rest;
            let (own_offsets, rest) = offsets.split_at(PAIRS);
            offsets = rest;
            group_sums::<PAIRS, TERMS>(own, own_offsets, places, column, found);
        };
        match &group.partners {
            Partners::None { source } => next(*source, &mut plus),
            Partners::Rows(partners) => {
                next(0, &mut plus);
                next(1, &mut minus);
                for row in 0..ROWS {
                    for pair in 0..PAIRS {
                        let (a, b) = (&mut plus[row][pair], &mut minus[row][pair]);
                        let (x, y) = (Avx512::load_halves(a), Avx512::load_halves(b));
                        Avx512::store_halves(_mm512_add_epi32(x, y), a);
                        Avx512::store_halves(_mm512_sub_epi32(x, y), b);
                    }
                }
                store(&minus, partners, sums);
            }
        }
        store(&plus, &group.rows, sums);
    }
}

/// All pairs of every row of a folded matrix times one column.
///
/// # Safety
/// The processor has AVX-512 F, BW, DQ, VL, CD and VNNI.
#[inline(always)]
pub(super) unsafe fn multiply(
    folded: &Folded,
    digits: Digits,
    slots: usize,
    data: &[HalfRow<8>],
    sums: &mut [HalfRow<8>],
) {
    // SAFETY: the caller's promise.
    unsafe {
        match digits.pairs() {
            1 => all_rows::<1, 1>(folded, slots, data, sums),
            2 => all_rows::<2, 3>(folded, slots, data, sums),
            3 => all_rows::<3, 6>(folded, slots, data, sums),
            _ => all_rows::<4, 10>(folded, slots, data, sums),
        }
    }
}

/// A matrix with rows in the lanes: for every eight rows what the bias of the digits takes, for every pair of diagonals, then for half of
/// the slots the entries of all terms. Only where rows in even lanes have one source and those in odd lanes the other.
pub(super) fn pack_outputs(
    matrix: &Arc<DigitMatrix>,
    digits: Digits,
    rows: &[Option<usize>],
) -> Option<PackedOutputs> {
    let packed = FoldedRows::<1>::new(matrix, digits);
    if !packed.is_mirrored() {
        return None;
    }
    let (places, pairs) = (matrix.slots / 2, digits.pairs());
    let size = packed.entries.len() / matrix.rows;
    // Which group is a row's, and its source.
    let mut groups = vec![(0, 0); matrix.rows];
    for (number, group) in packed.groups.iter().enumerate() {
        match (group.rows, &group.partners) {
            ([Some(row)], Partners::None { source }) => {
                groups[usize::from(row)] = (number, *source);
            }
            _ => return None,
        }
    }
    let lanes = rows.iter().enumerate();
    let mut sources = lanes.filter_map(|(lane, row)| Some(groups[(*row)?].1 ^ (lane % 2)));
    let even_source = sources.next()?;
    if !sources.all(|source| source == even_source) {
        return None;
    }
    let terms = size / places;
    debug_assert_eq!(terms, pairs * (pairs + 1) / 2);
    let mut entries = Vec::new();
    for rows in rows.chunks(8) {
        let mut put = |entry: &dyn Fn(usize) -> i32| {
            let row = rows.iter().map(|row| row.map_or(0, entry));
            entries.extend(row.flat_map(|entry| [entry; 2]));
        };
        for pair in 0..pairs {
            put(&|row| packed.offsets[groups[row].0 * pairs + pair][0]);
        }
        for i in 0..size {
            let (place, term) = (i / terms, i % terms);
            put(&|row| {
                // Differences lie in the places of the second half, so that they come in reverse order.
                let place = match groups[row] {
                    (_, 0) => place,
                    _ => places - 1 - place,
                };
                let entry = groups[row].0 * size + place * terms + term;
                bytemuck::cast(packed.entries[entry][0])
            });
        }
    }
    Some(PackedOutputs {
        slots: matrix.slots,
        entries,
        groups: rows.len() / 8,
        even_source: Some(even_source),
    })
}

/// For every two slots that are folded and every pair of digits, the least significant first: what rows in even lanes are multiplied by,
/// real and imaginary part, then what those in odd lanes are.
///
/// # Safety
/// The processor has AVX-512 F, BW, DQ, VL, CD and VNNI.
#[inline(always)]
pub(super) unsafe fn encode_outputs(
    digits: Digits,
    even_source: usize,
    words: &[[i64; 2]],
    data: &mut [[i32; 2]],
) {
    // SAFETY: the caller's promise; words are 16 bytes, and what is stored is 64.
    unsafe {
        let bias = _mm_set1_epi64x(bias(digits.data) as i64);
        // Pairs of digits of the first source, real, then imaginary parts; then those of the second.
        let order = match even_source {
            0 => _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
            _ => _mm512_setr_epi32(8, 12, 0, 4, 9, 13, 1, 5, 10, 14, 2, 6, 11, 15, 3, 7),
        };
        let (data, _) = data.as_chunks_mut::<8>();
        let places = words.iter().zip(words.iter().rev()).take(words.len() / 2);
        for ((first, second), data) in places.zip(data) {
            let load = |word: &[i64; 2]| _mm_loadu_si128(word.as_ptr().cast());
            let a = _mm256_cvtepu8_epi16(_mm_add_epi64(load(first), bias));
            let b = _mm256_cvtepu8_epi16(_mm_add_epi64(load(second), bias));
            let (sum, difference) = (_mm256_add_epi16(a, b), _mm256_sub_epi16(a, b));
            let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(sum), difference);
            let ordered = _mm512_permutexvar_epi32(order, both);
            _mm512_storeu_si512(data.as_mut_ptr().cast(), ordered);
        }
    }
}

/// The pairs of eight rows of a matrix, packed as above. Every term has a sum of its own, so that none waits for another.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
#[allow(clippy::needless_range_loop)]
fn rows_of_outputs<const PAIRS: usize, const TERMS: usize>(
    places: usize,
    entries: &[i32],
    data: &[[i32; 2]],
    sums: &mut [HalfRow<8>],
) {
    let (registers, _) = entries.as_chunks::<16>();
    let load = |register: &[i32; 16]| {
        // SAFETY: a register is 64 bytes.
        unsafe { _mm512_loadu_si512(register.as_ptr().cast()) }
    };
    let (offsets, registers) = registers.split_at(PAIRS);
    let (registers, _) = registers.as_chunks::<TERMS>();
    let (data, _) = data.as_chunks::<8>();
    let mut terms = [_mm512_setzero_si512(); TERMS];
    for (registers, data) in registers[..places].iter().zip(&data[..places]) {
        let mut term = 0;
        for word in 0..PAIRS {
            let digits: [i32; 4] = bytemuck::cast([data[2 * word], data[2 * word + 1]]);
            let [a, b, c, d] = digits;
            let digits = _mm512_broadcast_i32x4(_mm_setr_epi32(a, b, c, d));
            for _ in 0..=word {
                // Here products of all places wait for each other, so that the compiler's two instructions are faster.
                terms[term] = _mm512_dpwssd_epi32(terms[term], digits, load(&registers[term]));
                term += 1;
            }
        }
    }
    let sums = &mut sums[..PAIRS];
    for pair in 0..PAIRS {
        let mut sum = load(&offsets[pair]);
        for word in pair..PAIRS {
            sum = _mm512_add_epi32(sum, terms[word * (word + 1) / 2 + pair]);
        }
        Avx512::store_halves(sum, &mut sums[pair]);
    }
}

/// The pairs of eight rows of a folded matrix times a column of so many places.
///
/// # Safety
/// The processor has AVX-512 F, BW, DQ, VL, CD and VNNI.
#[inline(always)]
pub(super) unsafe fn multiply_outputs(
    digits: Digits,
    places: usize,
    entries: &[i32],
    data: &[[i32; 2]],
    sums: &mut [HalfRow<8>],
) {
    // SAFETY: the caller's promise.
    unsafe {
        match digits.pairs() {
            1 => rows_of_outputs::<1, 1>(places, entries, data, sums),
            2 => rows_of_outputs::<2, 3>(places, entries, data, sums),
            3 => rows_of_outputs::<3, 6>(places, entries, data, sums),
            _ => rows_of_outputs::<4, 10>(places, entries, data, sums),
        }
    }
}
