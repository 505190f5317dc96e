//! NEON dot product: `sdot` multiplies four signed bytes by four in each of four places, the real and imaginary parts of
//! two lines. Everything around it is portable code, which the compiler turns into NEON instructions.

use super::{ListedUnit, MatrixUnit, PackedMatrix, Task, meeting, signed_digits};
use crate::recipe::Digits;
use crate::simd::{HalfRow, Pair, Portable, Row};
use crate::stages::digits::DigitMatrix;
#[cfg(feature = "residues")]
use residues::bytes::{ByteMatrix, ByteProducts, Group, Sums};
use std::arch::aarch64::*;
use std::arch::asm;
use std::sync::Arc;

/// Proof that the processor has the instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NeonDot(());

impl ListedUnit for NeonDot {
    type Packed = Dots;
    type Transforming = Self;

    fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("dotprod").then_some(NeonDot(()))
    }

    fn transforming(self) -> Self {
        self
    }

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> Dots {
        Dots::new(matrix, digits)
    }

    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts> {
        Arc::new(self)
    }
}

/// Diagonals there can be.
const MOST: usize = 14;

/// For each row and slot: the four matrix digits that meet the upper half's data digits on every diagonal, where words
/// have an upper half, then those that meet the lower half's.
#[derive(Debug)]
pub(crate) struct Dots {
    entries: Vec<i32>,
}

impl Dots {
    fn new(matrix: &DigitMatrix, digits: Digits) -> Dots {
        let halves: &[u32] = if digits.data > 4 { &[4, 0] } else { &[0] };
        let mut entries = Vec::new();
        for row in 0..matrix.rows {
            for slot in 0..matrix.slots {
                for &first_byte in halves {
                    entries.extend((0..digits.diagonals).map(|d| {
                        let word = meeting(matrix, digits, first_byte, (row, slot), d);
                        i32::from_le_bytes(word)
                    }));
                }
            }
        }
        Dots { entries }
    }
}

/// `sum + a · b`, four bytes at a time. The compiler's own function for it is not stable yet.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn dot(mut sum: int32x4_t, a: int32x4_t, b: int32x4_t) -> int32x4_t {
    // SAFETY: registers only; the instruction is there.
    unsafe {
        asm!(
            "sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
            sum = inout(vreg) sum,
            a = in(vreg) a,
            b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
}

#[target_feature(enable = "neon,dotprod")]
fn multiply(matrix: &PackedMatrix, digits: Digits, data: &[HalfRow<2>], sums: &mut [HalfRow<2>]) {
    let packed = matrix.packed::<Dots>();
    let (count, pairs) = (digits.diagonals as usize, digits.pairs());
    let halves = if digits.data > 4 { 2 } else { 1 };
    // SAFETY: a half row is 16 bytes.
    let load = |row: &HalfRow<2>| unsafe { vld1q_s32(row.as_ptr().cast()) };
    let rows = packed.entries.chunks_exact(halves * count * matrix.slots);
    for (row, entries) in rows.enumerate() {
        let mut diagonals = [vdupq_n_s32(0); MOST];
        for (slot, entries) in entries.chunks_exact(halves * count).enumerate() {
            for (half, entries) in entries.chunks_exact(count).enumerate() {
                let bytes = load(&data[half * matrix.slots + slot]);
                for (sum, &entry) in diagonals.iter_mut().zip(entries) {
                    *sum = dot(*sum, bytes, vdupq_n_s32(entry));
                }
            }
        }
        for pair in 0..pairs {
            let (upper, lower) = digits.pair(pair);
            let mut sum = vdupq_n_s32(0);
            if let Some(d) = upper {
                sum = vshlq_n_s32::<8>(diagonals[d]);
            }
            if let Some(d) = lower {
                sum = vaddq_s32(sum, diagonals[d]);
            }
            // SAFETY: a half row is 16 bytes.
            unsafe { vst1q_s32(sums[row * pairs + pair].as_mut_ptr().cast(), sum) }
        }
    }
}

#[target_feature(enable = "neon,dotprod")]
fn enter<T: Task>(task: T) -> T::Output {
    task.run()
}

impl MatrixUnit<2> for NeonDot {
    type Vectors = Portable;
    const COLUMNS: usize = 1;
    type Session = ();

    #[inline(always)]
    fn session(self) {}

    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        // SAFETY: the constructor has seen the feature.
        unsafe { enter(task) }
    }

    #[inline(always)]
    fn encode(digits: Digits, words: Pair<Row<2>>) -> (HalfRow<2>, HalfRow<2>) {
        signed_digits::<2, Portable>(digits, words)
    }

    #[inline(always)]
    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        _columns: usize,
        _part: usize,
        data: &[HalfRow<2>],
        sums: &mut [HalfRow<2>],
    ) {
        // SAFETY: as above.
        unsafe { multiply(matrix, digits, data, sums) }
    }
}

/// Rows of bytes that are summed side by side; a byte matrix has whole numbers of them.
#[cfg(feature = "residues")]
const BYTE_ROWS: usize = 4;

#[cfg(feature = "residues")]
#[target_feature(enable = "neon,dotprod")]
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
        let mut accumulators = [[vdupq_n_s32(0); 4]; BYTE_ROWS];
        for (k, group) in data.iter().enumerate() {
            let (quarters, _) = group.as_chunks::<4>();
            // SAFETY: four columns are 16 bytes.
            let load = |i: usize| unsafe { vld1q_s8(quarters[i].as_ptr().cast()) };
            let columns = [load(0), load(1), load(2), load(3)].map(|x| vreinterpretq_s32_s8(x));
            for (row, accumulators) in rows.iter().zip(&mut accumulators) {
                let entry = vdupq_n_s32(i32::from_le_bytes(row[k].map(|x| x as u8)));
                for (sum, &bytes) in accumulators.iter_mut().zip(&columns) {
                    *sum = dot(*sum, bytes, entry);
                }
            }
        }
        for (to, accumulators) in sums.iter_mut().zip(&accumulators) {
            for (to, &sum) in to.chunks_exact_mut(4).zip(accumulators) {
                // SAFETY: four sums are 16 bytes.
                unsafe { vst1q_s32(to.as_mut_ptr(), sum) }
            }
        }
    }
}

#[cfg(feature = "residues")]
impl ByteProducts for NeonDot {
    fn name(&self) -> &'static str {
        "neon-dot"
    }

    fn multiply(&self, matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
        // SAFETY: the constructor has seen the feature.
        unsafe { multiply_bytes(matrix, data, sums) }
    }
}
