//! AVX-512 VNNI: `vpdpbusd` multiplies four unsigned by four signed bytes in each of 16 places, the real and imaginary
//! parts of eight lines.
//!
//! The data digits go in as unsigned bytes, that is with their bias of 128 each; what the biases add to a diagonal
//! depends on the matrix only and is the accumulator's initial value. The same goes for data that are signed bytes as such.

use super::folded_vnni::{self, Folded};
use super::register_rows::{MOST_PAIRS, RegisterRows, SpreadWord};
use super::{
    Halves, ListedUnit, MatrixUnit, PackedMatrix, PackedOutputs, Task, meeting, unsigned_digits,
    unsigned_short_digits,
};
use crate::recipe::Digits;
use crate::simd::{Avx512, HalfRow, Pair, Vectors};
use crate::stages::digits::{DigitMatrix, bias};
#[cfg(feature = "residues")]
use residues::bytes::{ByteMatrix, ByteProducts, Group, Sums};
use std::arch::x86_64::*;
use std::sync::Arc;

/// Proof that the processor has the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Avx512Vnni(());

impl ListedUnit for Avx512Vnni {
    type Packed = Packed;
    type Transforming = Self;

    fn detect() -> Option<Self> {
        let present = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512vnni");
        present.then_some(Avx512Vnni(()))
    }

    fn transforming(self) -> Self {
        self
    }

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> Packed {
        let bytes = Bytes::new(matrix, digits);
        let count = bytes.entries.len();
        Packed {
            form: match Folded::new(matrix, digits, count) {
                Some(folded) => Form::Folded(folded),
                None => Form::Bytes(bytes),
            },
            rows: RegisterRows::new(matrix, digits).filter(|rows| rows.products() <= count),
        }
    }

    fn pack_outputs(
        matrix: &Arc<DigitMatrix>,
        digits: Digits,
        rows: &[Option<usize>],
    ) -> Option<PackedOutputs> {
        Some(pack_outputs(matrix, digits, rows))
    }

    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts> {
        Arc::new(self)
    }
}

/// A matrix for products of all rows, and for those of one row at a time.
#[derive(Debug)]
pub(crate) struct Packed {
    form: Form,
    rows: Option<RegisterRows>,
}

/// A matrix in the form that takes fewer products.
#[derive(Debug)]
enum Form {
    Bytes(Bytes),
    Folded(Folded),
}

/// For each row and slot: the four matrix digits that meet the upper half's four data digits on the diagonals
/// `0..upper`, then those that meet the lower half's on the diagonals `lower..diagonals`.
#[derive(Debug)]
struct Bytes {
    entries: Vec<u32>,
    /// Correction for the bias of unsigned data digits, per diagonal.
    offsets: Vec<i32>,
}

/// Diagonals that a kernel computes, and which of them the halves of a word meet.
struct Shape {
    diagonals: usize,
    upper: usize,
    lower: usize,
}

/// Any recipe there can be.
const ANY: Shape = Shape {
    diagonals: 14,
    upper: 10,
    lower: 0,
};

/// The truncated recipe of so many data digits.
const fn truncated(data: usize) -> Shape {
    Shape {
        diagonals: data,
        upper: if data > 4 { data } else { 0 },
        lower: data.saturating_sub(4),
    }
}

impl Shape {
    fn of(digits: Digits) -> Shape {
        if digits.diagonals == digits.data {
            truncated(digits.data as usize)
        } else {
            ANY
        }
    }
}

impl Bytes {
    fn new(matrix: &DigitMatrix, digits: Digits) -> Bytes {
        let shape = Shape::of(digits);
        let mut packed = Bytes {
            entries: Vec::new(),
            offsets: vec![0; matrix.rows * shape.diagonals],
        };
        for row in 0..matrix.rows {
            let offsets = &mut packed.offsets[row * shape.diagonals..][..shape.diagonals];
            for slot in 0..matrix.slots {
                let upper = (0..shape.upper).map(|d| (4, d));
                let lower = (shape.lower..shape.diagonals).map(|d| (0, d));
                for (first_byte, d) in upper.chain(lower) {
                    let word = if d < digits.diagonals as usize {
                        meeting(matrix, digits, first_byte, (row, slot), d as u32)
                    } else {
                        [0; 4]
                    };
                    packed.entries.push(u32::from_le_bytes(word));
                    let sum: i32 = word.iter().map(|&b| i32::from(b as i8)).sum();
                    offsets[d] -= 128 * sum;
                }
            }
        }
        packed
    }
}

/// A matrix with rows in the lanes, folded where it can be.
pub(super) fn pack_outputs(
    matrix: &Arc<DigitMatrix>,
    digits: Digits,
    rows: &[Option<usize>],
) -> PackedOutputs {
    let folded = folded_vnni::pack_outputs(matrix, digits, rows);
    folded.unwrap_or_else(|| PackedOutputs {
        slots: matrix.slots,
        entries: pack_output_bytes(matrix, digits, rows),
        groups: rows.len() / 8,
        even_source: None,
    })
}

/// For every eight rows: what the bias of unsigned data digits takes, for every diagonal; then for every slot the entries of
/// [`Bytes`]. Each is a register, of what every row has for the real and for the imaginary part.
fn pack_output_bytes(matrix: &DigitMatrix, digits: Digits, rows: &[Option<usize>]) -> Vec<i32> {
    let packed = Bytes::new(matrix, digits);
    let shape = Shape::of(digits);
    let width = shape.upper + shape.diagonals - shape.lower;
    let mut entries = Vec::new();
    for rows in rows.chunks(8) {
        let mut put = |entry: &dyn Fn(usize) -> i32| {
            let row = rows.iter().map(|row| row.map_or(0, entry));
            entries.extend(row.flat_map(|entry| [entry; 2]));
        };
        for d in 0..shape.diagonals {
            put(&|row| packed.offsets[row * shape.diagonals + d]);
        }
        for slot in 0..matrix.slots {
            for i in 0..width {
                put(&|row| packed.entries[(row * matrix.slots + slot) * width + i] as i32);
            }
        }
    }
    entries
}

/// Lower and upper halves of every word, real and imaginary parts each, as unsigned digits.
#[inline(always)]
fn encode_bytes(digits: Digits, words: &[[i64; 2]], data: &mut [[i32; 2]]) {
    let bias = bias(digits.data) as i64;
    let (rows, rest) = words.as_chunks::<4>();
    let (row_data, rest_data) = data.split_at_mut(8 * rows.len());
    let (row_data, _) = row_data.as_chunks_mut::<8>();
    for (words, data) in rows.iter().zip(row_data) {
        // SAFETY: the unit's constructor has seen AVX-512; both are 64 bytes.
        unsafe {
            let words = _mm512_loadu_si512(words.as_ptr().cast());
            let biased = _mm512_add_epi64(words, _mm512_set1_epi64(bias));
            let halves = _mm512_shuffle_epi32::<0xd8>(biased);
            _mm512_storeu_si512(data.as_mut_ptr().cast(), halves);
        }
    }
    let (rest_data, _) = rest_data.as_chunks_mut::<2>();
    for (word, [lower, upper]) in rest.iter().zip(rest_data) {
        let word = word.map(|x| x.wrapping_add(bias));
        (*lower, *upper) = (word.map(|x| x as i32), word.map(|x| (x >> 32) as i32));
    }
}

/// The pairs of eight rows of a matrix, packed as above, for the truncated recipe of `D` digits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
#[allow(clippy::needless_range_loop)]
fn rows_of_outputs<const D: usize, const U: usize, const F: usize>(
    slots: usize,
    entries: &[i32],
    data: &[[i32; 2]],
    sums: &mut [HalfRow<8>],
) {
    let (registers, _) = entries.as_chunks::<16>();
    let load = |register: &[i32; 16]| {
        // SAFETY: a register is 64 bytes.
        unsafe { _mm512_loadu_si512(register.as_ptr().cast()) }
    };
    let broadcast =
        |[re, im]: [i32; 2]| _mm512_set1_epi64(i64::from(im) << 32 | i64::from(re as u32));
    let (offsets, registers) = registers.split_at(D);
    let mut accumulators = [_mm512_setzero_si512(); D];
    for d in 0..D {
        accumulators[d] = load(&offsets[d]);
    }
    let (data, _) = data[..2 * slots].as_chunks::<2>();
    let registers = registers.chunks_exact(U + D - F);
    for ([lower, upper], registers) in data.iter().zip(registers) {
        if U > 0 {
            let bytes = broadcast(*upper);
            for d in 0..U {
                accumulators[d] = _mm512_dpbusd_epi32(accumulators[d], bytes, load(&registers[d]));
            }
        }
        let bytes = broadcast(*lower);
        for d in F..D {
            let register = load(&registers[U + d - F]);
            accumulators[d] = _mm512_dpbusd_epi32(accumulators[d], bytes, register);
        }
    }
    let sums = &mut sums[..D.div_ceil(2)];
    for pair in 0..D.div_ceil(2) {
        let low = D - 1 - 2 * pair;
        let mut sum = accumulators[low];
        if low > 0 {
            sum = _mm512_add_epi32(_mm512_slli_epi32::<8>(accumulators[low - 1]), sum);
        }
        Avx512::store_halves(sum, &mut sums[pair]);
    }
}

/// [`MatrixUnit::multiply_outputs`].
///
/// # Safety
/// The processor has the features of [`Avx512Vnni`].
#[inline(always)]
pub(super) unsafe fn multiply_outputs(
    matrix: &PackedOutputs,
    digits: Digits,
    group: usize,
    data: &[[i32; 2]],
    sums: &mut [HalfRow<8>],
) {
    debug_assert_eq!(digits.diagonals, digits.data);
    let (slots, entries) = (matrix.slots, matrix.group(group));
    // SAFETY: the caller's promise.
    unsafe {
        if matrix.even_source.is_some() {
            return folded_vnni::multiply_outputs(digits, slots / 2, entries, data, sums);
        }
        match digits.data {
            2 => rows_of_outputs::<2, 0, 0>(slots, entries, data, sums),
            3 => rows_of_outputs::<3, 0, 0>(slots, entries, data, sums),
            4 => rows_of_outputs::<4, 0, 0>(slots, entries, data, sums),
            5 => rows_of_outputs::<5, 5, 1>(slots, entries, data, sums),
            6 => rows_of_outputs::<6, 6, 2>(slots, entries, data, sums),
            7 => rows_of_outputs::<7, 7, 3>(slots, entries, data, sums),
            _ => rows_of_outputs::<8, 8, 4>(slots, entries, data, sums),
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
pub(super) fn enter<T: Task>(task: T) -> T::Output {
    task.run()
}

/// The product with `C` columns and `R` rows at once, for a recipe of `D` diagonals, of which the upper halves meet the first
/// `U` and the lower halves all from `F` on.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn multiply<const D: usize, const U: usize, const F: usize, const C: usize, const R: usize>(
    (matrix, packed): (&PackedMatrix, &Bytes),
    digits: Digits,
    data: &[HalfRow<8>],
    sums: &mut [HalfRow<8>],
) {
    let whole = matrix.rows / R * R;
    for row in (0..whole).step_by(R) {
        multiply_rows::<D, U, F, C, R>((matrix, packed), digits, row, data, sums);
    }
    for row in whole..matrix.rows {
        multiply_rows::<D, U, F, C, 1>((matrix, packed), digits, row, data, sums);
    }
}

/// [`multiply`] for the rows from `first` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
#[allow(clippy::needless_range_loop)]
fn multiply_rows<const D: usize, const U: usize, const F: usize, const C: usize, const R: usize>(
    (matrix, packed): (&PackedMatrix, &Bytes),
    digits: Digits,
    first: usize,
    data: &[HalfRow<8>],
    sums: &mut [HalfRow<8>],
) {
    let slots = matrix.slots;
    // The upper halves come first, where there are any.
    let skip = if digits.data > 4 { slots } else { 0 };
    let mut upper = [&data[..slots]; C];
    let mut lower = upper;
    for c in 0..C {
        let column = &data[c * matrix.data_rows..][..matrix.data_rows];
        upper[c] = &column[..slots];
        lower[c] = &column[skip..][..slots];
    }
    let pairs = digits.pairs();
    let width = U + D - F;
    let mut entries = [&packed.entries[..0]; R];
    let mut accumulators = [[[_mm512_setzero_si512(); C]; D]; R];
    for r in 0..R {
        entries[r] = &packed.entries[(first + r) * width * slots..][..width * slots];
        let offsets = &packed.offsets[(first + r) * D..][..D];
        for d in 0..D {
            accumulators[r][d] = [_mm512_set1_epi32(offsets[d]); C];
        }
    }
    for slot in 0..slots {
        let mut bytes = [_mm512_setzero_si512(); C];
        let mut here = [&packed.entries[..0]; R];
        for r in 0..R {
            here[r] = &entries[r][slot * width..][..width];
        }
        if U > 0 {
            for c in 0..C {
                bytes[c] = Avx512::load_halves(&upper[c][slot]);
            }
            for r in 0..R {
                for d in 0..U {
                    let entry = _mm512_set1_epi32(here[r][d] as i32);
                    for c in 0..C {
                        accumulators[r][d][c] =
                            _mm512_dpbusd_epi32(accumulators[r][d][c], bytes[c], entry);
                    }
                }
            }
        }
        for c in 0..C {
            bytes[c] = Avx512::load_halves(&lower[c][slot]);
        }
        for r in 0..R {
            for d in F..D {
                let entry = _mm512_set1_epi32(here[r][U + d - F] as i32);
                for c in 0..C {
                    accumulators[r][d][c] =
                        _mm512_dpbusd_epi32(accumulators[r][d][c], bytes[c], entry);
                }
            }
        }
    }
    for r in 0..R {
        for c in 0..C {
            let sums = &mut sums[c * matrix.sum_rows + (first + r) * pairs..][..pairs];
            if digits.diagonals as usize == D && digits.data as usize == D {
                // The usual case, without a question for every pair; an odd number of diagonals leaves the first alone.
                for pair in 0..D.div_ceil(2) {
                    let low = D - 1 - 2 * pair;
                    let mut sum = accumulators[r][low][c];
                    if low > 0 {
                        let high = _mm512_slli_epi32::<8>(accumulators[r][low - 1][c]);
                        sum = _mm512_add_epi32(high, sum);
                    }
                    Avx512::store_halves(sum, &mut sums[pair]);
                }
                continue;
            }
            for (pair, place) in sums.iter_mut().enumerate() {
                let (high, low) = digits.pair(pair);
                let mut sum = _mm512_setzero_si512();
                if let Some(d) = high {
                    sum = _mm512_slli_epi32::<8>(accumulators[r][d][c]);
                }
                if let Some(d) = low {
                    sum = _mm512_add_epi32(sum, accumulators[r][d][c]);
                }
                Avx512::store_halves(sum, place);
            }
        }
    }
}

/// [`multiply`] for the truncated recipe of `D` data digits. With few diagonals a row has too few sums to keep the unit busy
/// while each waits for its last product: then several rows are summed side by side.
#[inline(always)]
unsafe fn multiply_truncated<const D: usize, const U: usize, const F: usize, const R: usize>(
    matrix: (&PackedMatrix, &Bytes),
    digits: Digits,
    columns: usize,
    data: &[HalfRow<8>],
    sums: &mut [HalfRow<8>],
) {
    const {
        let shape = truncated(D);
        assert!(shape.upper == U && shape.lower == F);
    }
    // SAFETY: the caller has the features.
    unsafe {
        match columns {
            1 => multiply::<D, U, F, 1, R>(matrix, digits, data, sums),
            _ => multiply::<D, U, F, 2, R>(matrix, digits, data, sums),
        }
    }
}

/// The digits of a word of eight bytes in pairs of 16 bits, the least significant first.
#[inline(always)]
fn spread_digits((lower, upper): (__m512i, __m512i)) -> [__m512i; MOST_PAIRS] {
    // SAFETY: the unit's constructor has seen AVX-512.
    unsafe {
        // Bytes become 16 bits, the lower two or the upper two of every half. Places are those within 128 bits.
        let places = |first: u32| {
            let next = |place: u32| (first + 0x0004_0004 * place) as i32;
            _mm512_broadcast_i32x4(_mm_setr_epi32(next(0), next(1), next(2), next(3)))
        };
        let (low, high) = (places(0x8001_8000), places(0x8003_8002));
        [
            _mm512_shuffle_epi8(lower, low),
            _mm512_shuffle_epi8(lower, high),
            _mm512_shuffle_epi8(upper, low),
            _mm512_shuffle_epi8(upper, high),
        ]
    }
}

impl MatrixUnit<8> for Avx512Vnni {
    type Vectors = Avx512;
    const COLUMNS: usize = 2;
    type Session = ();

    #[inline(always)]
    fn session(self) {}

    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        // SAFETY: the constructor has seen all these features.
        unsafe { enter(task) }
    }

    #[inline(always)]
    fn encode(digits: Digits, words: Pair<__m512i>) -> (__m512i, __m512i) {
        unsigned_digits::<8, Avx512>(digits, words)
    }

    const SHORT: bool = true;

    #[inline(always)]
    fn encode_short(digits: Digits, words: __m512i) -> __m512i {
        unsigned_short_digits::<8, Avx512>(digits, words)
    }

    #[inline(always)]
    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        columns: usize,
        _part: usize,
        data: &[HalfRow<8>],
        sums: &mut [HalfRow<8>],
    ) {
        let bytes = match &matrix.packed::<Packed>().form {
            Form::Bytes(bytes) => bytes,
            Form::Folded(folded) => {
                for c in 0..columns {
                    let data = &data[c * matrix.data_rows..][..matrix.data_rows];
                    let sums = &mut sums[c * matrix.sum_rows..][..matrix.sum_rows];
                    // SAFETY: as above.
                    unsafe { folded_vnni::multiply(folded, digits, matrix.slots, data, sums) }
                }
                return;
            }
        };
        // SAFETY: as above.
        unsafe {
            if digits.diagonals > digits.data {
                // Too many diagonals for two columns at once.
                for c in 0..columns {
                    multiply::<{ ANY.diagonals }, { ANY.upper }, { ANY.lower }, 1, 1>(
                        (matrix, bytes),
                        digits,
                        &data[c * matrix.data_rows..],
                        &mut sums[c * matrix.sum_rows..],
                    );
                }
                return;
            }
            match digits.data {
                2 => multiply_truncated::<2, 0, 0, 4>((matrix, bytes), digits, columns, data, sums),
                3 => multiply_truncated::<3, 0, 0, 4>((matrix, bytes), digits, columns, data, sums),
                4 => multiply_truncated::<4, 0, 0, 2>((matrix, bytes), digits, columns, data, sums),
                5 => multiply_truncated::<5, 5, 1, 1>((matrix, bytes), digits, columns, data, sums),
                6 => multiply_truncated::<6, 6, 2, 1>((matrix, bytes), digits, columns, data, sums),
                7 => multiply_truncated::<7, 7, 3, 1>((matrix, bytes), digits, columns, data, sums),
                _ => multiply_truncated::<8, 8, 4, 1>((matrix, bytes), digits, columns, data, sums),
            }
        }
    }

    const ROW_BY_ROW: bool = true;

    #[inline(always)]
    fn register_rows(matrix: &PackedMatrix) -> Option<&RegisterRows> {
        matrix.packed::<Packed>().rows.as_ref()
    }

    #[inline(always)]
    fn spread(word: Halves<8, Self>, place: &mut SpreadWord<8>) {
        let digits = spread_digits(word);
        for q in 0..MOST_PAIRS {
            Avx512::store_halves(digits[q], &mut place[q]);
        }
    }

    #[inline(always)]
    fn spread_folded(
        words: Pair<Halves<8, Self>>,
        sums: &mut SpreadWord<8>,
        differences: &mut SpreadWord<8>,
    ) {
        let (a, b) = (spread_digits(words.0), spread_digits(words.1));
        for q in 0..MOST_PAIRS {
            // SAFETY: as above.
            let (sum, difference) =
                unsafe { (_mm512_add_epi16(a[q], b[q]), _mm512_sub_epi16(a[q], b[q])) };
            Avx512::store_halves(sum, &mut sums[q]);
            Avx512::store_halves(difference, &mut differences[q]);
        }
    }

    #[inline(always)]
    fn row_pairs<const P: usize>(
        offsets: &[i32; MOST_PAIRS],
        entries: &[i32],
        digits: &[SpreadWord<8>],
    ) -> [__m512i; MOST_PAIRS] {
        // SAFETY: as above.
        unsafe { folded_vnni::row_pairs::<P>(offsets, entries, digits) }
    }

    #[inline(always)]
    fn encode_outputs(
        matrix: &PackedOutputs,
        digits: Digits,
        words: &[[i64; 2]],
        data: &mut [[i32; 2]],
    ) {
        match matrix.even_source {
            // SAFETY: as above.
            Some(source) => unsafe { folded_vnni::encode_outputs(digits, source, words, data) },
            None => encode_bytes(digits, words, data),
        }
    }

    #[inline(always)]
    fn multiply_outputs(
        self,
        matrix: &PackedOutputs,
        digits: Digits,
        group: usize,
        data: &[[i32; 2]],
        sums: &mut [HalfRow<8>],
    ) {
        // SAFETY: as above.
        unsafe { multiply_outputs(matrix, digits, group, data, sums) }
    }
}

/// Rows of bytes that are summed side by side; a byte matrix has whole numbers of them.
#[cfg(feature = "residues")]
const BYTE_ROWS: usize = 8;

#[cfg(feature = "residues")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
fn multiply_bytes(matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
    let data = &data[..matrix.depth().div_ceil(4)];
    let sums = &mut sums[..matrix.rows()];
    let (entries, _) = matrix.entries().as_chunks::<4>();
    let groups = matrix.pitch() / 4;
    let bias = _mm512_set1_epi8(-128);
    for (block, sums) in sums.chunks_mut(BYTE_ROWS).enumerate() {
        let mut rows = [&entries[..0]; BYTE_ROWS];
        let mut accumulators = [_mm512_setzero_si512(); BYTE_ROWS];
        for (r, (row, accumulator)) in rows.iter_mut().zip(&mut accumulators).enumerate() {
            let number = block * BYTE_ROWS + r;
            *row = &entries[number * groups..][..data.len()];
            *accumulator = _mm512_set1_epi32(-128 * matrix.sums()[number]);
        }
        for (k, group) in data.iter().enumerate() {
            // SAFETY: a group is 64 bytes.
            let bytes = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            // Adds 128 to every signed byte. Intermediate sums may wrap: the true value fits.
            let bytes = _mm512_xor_si512(bytes, bias);
            for (row, accumulator) in rows.iter().zip(&mut accumulators) {
                let entry = i32::from_le_bytes(row[k].map(|x| x as u8));
                *accumulator = _mm512_dpbusd_epi32(*accumulator, bytes, _mm512_set1_epi32(entry));
            }
        }
        for (to, &accumulator) in sums.iter_mut().zip(&accumulators) {
            // SAFETY: a row of sums is 64 bytes.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), accumulator) }
        }
    }
}

#[cfg(feature = "residues")]
impl ByteProducts for Avx512Vnni {
    fn name(&self) -> &'static str {
        "avx512-vnni"
    }

    fn multiply(&self, matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
        // SAFETY: the constructor has seen all these features.
        unsafe { multiply_bytes(matrix, data, sums) }
    }
}
