//! AMX: `tdpbssd` multiplies a tile of 16 × 64 signed bytes by one of 64 × 16, in 16 cycles.
//!
//! The first tile holds matrix digits, the second data digits: four bytes of one slot for the real and imaginary parts
//! of eight lines are a row of 64 bytes, which is how the digits lie in memory anyway. The rows of the first tile are
//! those of the matrix for four diagonals at a time, the last four first: with both halves of the data they meet on
//! these, with the upper halves alone on the others.

use super::avx512_vnni::{self, Avx512Vnni};
use super::{
    ListedUnit, MatrixUnit, PackedMatrix, PackedOutputs, Task, meeting, signed_digits,
    signed_short_digits,
};
use crate::recipe::Digits;
use crate::simd::{Avx512, HalfRow, Pair, Vectors, inlined};
use crate::stages::digits::DigitMatrix;
use float_environment::amx_tiles_are_granted;
#[cfg(feature = "residues")]
use residues::bytes::ByteProducts;
use std::arch::asm;
use std::arch::x86_64::*;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

/// Proof that the processor has the instructions and the kernel has granted the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amx(());

impl ListedUnit for Amx {
    type Packed = Tiles;
    type Transforming = Self;

    fn detect() -> Option<Self> {
        (Amx::present() && amx_tiles_are_granted()).then_some(Amx(()))
    }

    fn transforming(self) -> Self {
        self
    }

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> Tiles {
        Tiles::new(matrix, digits)
    }

    fn rows(tiles: &Tiles) -> Option<(usize, usize)> {
        Some((tiles.data_rows(), tiles.sum_rows()))
    }

    /// One line is no work for tiles, which must be set up and given back.
    fn pack_outputs(
        matrix: &Arc<DigitMatrix>,
        digits: Digits,
        rows: &[Option<usize>],
    ) -> Option<PackedOutputs> {
        Some(avx512_vnni::pack_outputs(matrix, digits, rows))
    }

    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts> {
        Arc::new(self)
    }
}

impl Amx {
    /// Whether the processor has the instructions; the kernel may still reject the tiles.
    pub(crate) fn present() -> bool {
        // Bits 24 and 25: tiles, and tiles of 8-bit integers.
        let features = __cpuid_count(7, 0).edx >> 24;
        Avx512Vnni::detect().is_some() && features & 3 == 3
    }
}

/// Rows of a tile, and bytes of a row.
pub(super) const ROWS: usize = 16;
pub(super) const BYTES: usize = 64;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Tile([[u8; BYTES]; ROWS]);

/// Up to four tiles of sums that are accumulated together.
#[derive(Debug)]
struct Group {
    tiles: usize,
    /// Data tiles that they meet, and the matrix tiles for each.
    data: std::ops::Range<usize>,
    matrix: Vec<Tile>,
}

/// Diagonals whose sums lie side by side.
const TOGETHER: usize = 4;

/// Where the sums of a row begin for a group of diagonals, and how many there are: groups are counted from the last
/// diagonals, and the sums of a group begin with the last one.
#[inline(always)]
fn group_of(group: usize, row: usize, rows: usize, digits: Digits) -> (usize, usize) {
    let size = (digits.diagonals as usize - TOGETHER * group).min(TOGETHER);
    (TOGETHER * group * rows + row * size, size)
}

/// Inverse of the map from number to sum.
fn diagonal_and_row(number: usize, rows: usize, digits: Digits) -> (usize, usize) {
    let group = number / (TOGETHER * rows);
    let (start, size) = group_of(group, 0, rows, digits);
    let (row, place) = ((number - start) / size, (number - start) % size);
    (
        digits.diagonals as usize - 1 - TOGETHER * group - place,
        row,
    )
}

#[derive(Debug)]
pub(crate) struct Tiles {
    groups: Vec<Group>,
    data_tiles: usize,
    sum_tiles: usize,
}

impl Tiles {
    fn new(matrix: &DigitMatrix, digits: Digits) -> Tiles {
        let (rows, slots) = (matrix.rows, matrix.slots);
        let halves = if digits.data > 4 { 2 } else { 1 };
        let data_tiles = (halves * slots).div_ceil(ROWS);
        let sum_tiles = (rows * digits.diagonals as usize).div_ceil(ROWS);
        let tile = |sum_tile: usize, data_tile: usize| {
            let mut tile = Tile([[0; BYTES]; ROWS]);
            for (r, bytes) in tile.0.iter_mut().enumerate() {
                let number = sum_tile * ROWS + r;
                if number >= rows * digits.diagonals as usize {
                    continue;
                }
                let (diagonal, row) = diagonal_and_row(number, rows, digits);
                for (i, bytes) in bytes.chunks_exact_mut(4).enumerate() {
                    let data_row = data_tile * ROWS + i;
                    if data_row >= halves * slots {
                        continue;
                    }
                    let upper = halves == 2 && data_row < slots;
                    let first_byte = if upper { 4 } else { 0 };
                    let place = (row, data_row % slots);
                    let word = meeting(matrix, digits, first_byte, place, diagonal as u32);
                    bytes.copy_from_slice(&word);
                }
            }
            tile
        };
        let empty = |tile: &Tile| tile.0.as_flattened().iter().all(|&byte| byte == 0);
        let groups = (0..sum_tiles)
            .step_by(4)
            .map(|first| {
                let tiles = (sum_tiles - first).min(4);
                let all = |data_tile: usize| -> Vec<Tile> {
                    (first..first + tiles).map(|t| tile(t, data_tile)).collect()
                };
                let met: Vec<usize> = (0..data_tiles)
                    .filter(|&data_tile| !all(data_tile).iter().all(empty))
                    .collect();
                let data = met.first().copied().unwrap_or(0)..met.last().map_or(1, |last| last + 1);
                Group {
                    tiles,
                    matrix: data.clone().flat_map(all).collect(),
                    data,
                }
            })
            .collect();
        Tiles {
            groups,
            data_tiles,
            sum_tiles,
        }
    }

    pub(super) fn data_rows(&self) -> usize {
        self.data_tiles * ROWS
    }

    pub(super) fn sum_rows(&self) -> usize {
        self.sum_tiles * ROWS
    }
}

/// How a thread's tile registers are set up.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_per_row: [u16; 16],
    rows: [u8; 16],
}

/// All eight tile registers with 16 rows of 64 bytes.
static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    bytes_per_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

impl Configuration {
    const RELEASED: Configuration = Configuration {
        palette: 0,
        start_row: 0,
        reserved: [0; 14],
        bytes_per_row: [0; 16],
        rows: [0; 16],
    };

    /// The one that this thread has; only where there is AMX.
    fn current() -> Configuration {
        let mut current = Configuration::RELEASED;
        // SAFETY: AMX is there, and 64 bytes are written.
        unsafe { asm!("sttilecfg [{}]", in(reg) &mut current, options(nostack)) }
        current
    }

    /// Gives it to this thread; only where there is AMX.
    fn load(&self) {
        // SAFETY: AMX is there, and the fields are valid or came from the processor.
        unsafe {
            match self.palette {
                0 => asm!("tilerelease", options(nostack, nomem)),
                _ => asm!("ldtilecfg [{}]", in(reg) self, options(nostack, readonly)),
            }
        }
    }
}

thread_local! {
    /// Those that live. Apart from the configuration, which is not to be copied for every one within another.
    static SESSIONS: Cell<usize> = const { Cell::new(0) };
    /// How the first of them found the tiles.
    static BEFORE: Cell<Configuration> = const { Cell::new(Configuration::RELEASED) };
}

/// This thread's tiles are set up for as long as one of these lives on it: the first sets them up, the last gives them
/// back as the first found them, so that a product may open its own within another's, and within those of other users of AMX.
pub(crate) struct Configured(PhantomData<*const ()>);

impl Configured {
    pub(super) fn new() -> Self {
        let sessions = SESSIONS.get();
        if sessions == 0 {
            BEFORE.set(Configuration::current());
            CONFIGURATION.load();
        }
        SESSIONS.set(sessions + 1);
        Configured(PhantomData)
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        let sessions = SESSIONS.get();
        SESSIONS.set(sessions - 1);
        if sessions == 1 {
            BEFORE.get().load();
        }
    }
}

/// The palette that this thread's tiles are set up with; 0 where they are not.
#[cfg(test)]
pub(super) fn palette() -> u8 {
    Configuration::current().palette
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::{Requirement, available};

    /// Tiles of other shapes, as another library may keep them around a transform.
    #[test]
    fn a_session_restores_the_tile_configuration() {
        let unit = Amx::detect().ok_or("this processor has no AMX, or the tiles are not granted");
        if available(Requirement::Amx, unit).is_none() {
            return;
        }
        let mut others = Configuration {
            palette: 1,
            ..Configuration::RELEASED
        };
        (others.rows[0], others.bytes_per_row[0]) = (3, 12);
        others.load();
        let (first, second) = (Configured::new(), Configured::new());
        assert_eq!(Configuration::current(), CONFIGURATION);
        drop(first);
        assert_eq!(Configuration::current(), CONFIGURATION);
        drop(second);
        assert_eq!(Configuration::current(), others);
        Configuration::RELEASED.load();
        drop(Configured::new());
        assert_eq!(Configuration::current(), Configuration::RELEASED);
    }
}

/// A group of one to four tiles of sums: zeroed, accumulated over the data tiles, stored.
macro_rules! accumulate {
    ($name:ident, $step:literal, $($sum:literal $matrix:literal $offset:literal),*) => {
        /// # Safety
        /// AMX is configured; `steps >= 1` data tiles can be read, as many matrix tiles for each, and the sums written.
        #[inline(always)]
        unsafe fn $name(matrix: *const Tile, data: *const HalfRow<8>, steps: usize, sums: *mut HalfRow<8>) {
            // SAFETY: the caller's promise. All tile registers that are used are declared.
            unsafe {
                asm!(
                    $(concat!("tilezero tmm", $sum),)*
                    "2:",
                    "tileloadd tmm4, [{data} + {stride}]",
                    $(
                        concat!("tileloadd tmm", $matrix, ", [{matrix} + {stride} + ", $offset, "]"),
                        concat!("tdpbssd tmm", $sum, ", tmm", $matrix, ", tmm4"),
                    )*
                    concat!("add {matrix}, ", $step),
                    "add {data}, 1024",
                    "dec {steps}",
                    "jnz 2b",
                    $(concat!("tilestored [{sums} + {stride} + ", $offset, "], tmm", $sum),)*
                    matrix = inout(reg) matrix => _,
                    data = inout(reg) data => _,
                    steps = inout(reg) steps => _,
                    sums = in(reg) sums,
                    stride = in(reg) 64usize,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    };
}
accumulate!(one_tile, "1024", "0" "5" "0");
accumulate!(two_tiles, "2048", "0" "5" "0", "1" "6" "1024");
accumulate!(three_tiles, "3072", "0" "5" "0", "1" "6" "1024", "2" "7" "2048");
accumulate!(four_tiles, "4096", "0" "5" "0", "1" "6" "1024", "2" "7" "2048", "3" "5" "3072");

/// A part of a product. Not inlined: a step has it in six places, which took most of the time of its compilation.
///
/// # Safety
/// There is AMX, and this thread's tiles are configured.
#[inline(never)]
unsafe fn multiply(tiles: &Tiles, part: usize, data: &[HalfRow<8>], sums: &mut [HalfRow<8>]) {
    let group = &tiles.groups[part];
    let sums = &mut sums[4 * part * ROWS..][..group.tiles * ROWS];
    let data = &data[group.data.start * ROWS..group.data.end * ROWS];
    let (entries, sums) = (group.matrix.as_ptr(), sums.as_mut_ptr());
    let (start, steps) = (data.as_ptr(), group.data.len());
    // SAFETY: the caller's session has configured the tiles; the group has as many matrix tiles for each of its data tiles, which
    // lie within the column, as it has tiles of sums.
    unsafe {
        match group.tiles {
            1 => one_tile(entries, start, steps, sums),
            2 => two_tiles(entries, start, steps, sums),
            3 => three_tiles(entries, start, steps, sums),
            _ => four_tiles(entries, start, steps, sums),
        }
    }
}

/// One pair of diagonals, for recipes out of the ordinary. Not inlined, for the same reason.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")]
#[inline(never)]
fn pair_of_sums(
    rows: usize,
    digits: Digits,
    sums: &[HalfRow<8>],
    row: usize,
    pair: usize,
) -> __m512i {
    let diagonal = inlined(
        #[inline(always)]
        |d: usize| {
            let place = digits.diagonals as usize - 1 - d;
            let (start, _) = group_of(place / TOGETHER, row, rows, digits);
            Avx512::load_halves(&sums[start + place % TOGETHER])
        },
    );
    match digits.pair(pair) {
        (Some(upper), Some(lower)) => Avx512::add_halves(
            Avx512::shift_halves_left(diagonal(upper), 8),
            diagonal(lower),
        ),
        (None, Some(lower)) => diagonal(lower),
        (Some(upper), None) => Avx512::shift_halves_left(diagonal(upper), 8),
        (None, None) => Avx512::splat_halves(0),
    }
}

impl MatrixUnit<8> for Amx {
    type Vectors = Avx512;
    const COLUMNS: usize = 1;
    type Session = Configured;

    fn session(self) -> Configured {
        Configured::new()
    }

    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        // The same function, so that tasks that multiply nothing are compiled once for both units.
        // SAFETY: the constructor has seen all these features.
        unsafe { avx512_vnni::enter(task) }
    }

    #[inline(always)]
    fn encode(digits: Digits, words: Pair<__m512i>) -> (__m512i, __m512i) {
        signed_digits::<8, Avx512>(digits, words)
    }

    const SHORT: bool = true;

    #[inline(always)]
    fn encode_short(digits: Digits, words: __m512i) -> __m512i {
        signed_short_digits::<8, Avx512>(digits, words)
    }

    #[inline(always)]
    fn parts(matrix: &PackedMatrix) -> usize {
        matrix.packed::<Tiles>().groups.len()
    }

    #[inline(always)]
    fn multiply(
        self,
        matrix: &PackedMatrix,
        _: Digits,
        _columns: usize,
        part: usize,
        data: &[HalfRow<8>],
        sums: &mut [HalfRow<8>],
    ) {
        // SAFETY: the constructor has seen AMX, and the caller's session has configured the tiles.
        unsafe { multiply(matrix.packed(), part, data, sums) }
    }

    #[inline(always)]
    fn pair(
        matrix: &PackedMatrix,
        digits: Digits,
        sums: &[HalfRow<8>],
        row: usize,
        pair: usize,
    ) -> __m512i {
        // SAFETY: the constructor has seen all these features.
        unsafe { pair_of_sums(matrix.rows, digits, sums, row, pair) }
    }

    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    fn pairs<const P: usize>(
        matrix: &PackedMatrix,
        digits: Digits,
        sums: &[HalfRow<8>],
        row: usize,
    ) -> [__m512i; P] {
        let mut pairs = [Avx512::splat_halves(0); P];
        // Written so that the loop is unrolled: pairs in memory would cost more than the products.
        for q in 0..P {
            let (start, size) = group_of(2 * q / TOGETHER, row, matrix.rows, digits);
            let sums = &sums[start..start + size];
            let place = 2 * q % TOGETHER;
            let lower = Avx512::load_halves(&sums[place]);
            // With an odd number of diagonals the first is alone.
            pairs[q] = if place + 1 < size {
                let upper = Avx512::shift_halves_left(Avx512::load_halves(&sums[place + 1]), 8);
                Avx512::add_halves(upper, lower)
            } else {
                lower
            };
        }
        pairs
    }

    #[inline(always)]
    fn encode_outputs(
        matrix: &PackedOutputs,
        digits: Digits,
        words: &[[i64; 2]],
        data: &mut [[i32; 2]],
    ) {
        Avx512Vnni::encode_outputs(matrix, digits, words, data);
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
        // SAFETY: the constructor has seen all features of this unit, too.
        unsafe { avx512_vnni::multiply_outputs(matrix, digits, group, data, sums) }
    }
}
