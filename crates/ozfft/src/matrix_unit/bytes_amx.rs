//! AMX: matrices and data that are signed bytes as such are tiles where they lie.

use super::amx::{Amx, BYTES, Configured, ROWS};
use residues::COLUMNS;
use residues::bytes::{ByteMatrix, ByteProducts, Group, Sums};
use std::arch::asm;

/// One or two tiles of sums from rows of bytes that lie `pitch` bytes apart: zeroed, accumulated, stored. The last tile
/// of data is somewhere else.
macro_rules! accumulate_bytes {
    ($name:ident, $count:literal, $($tile:literal $entries:literal $matrix:ident $sums:ident),*) => {
        /// # Safety
        /// AMX is configured; `steps >= 1` tiles can be read from every `matrix`, all but one of them from `data`, the
        /// last from `last`, and a tile can be written to every `sums`.
        #[inline(always)]
        unsafe fn $name(
            [$(($matrix, $sums)),*]: [(*const i8, *mut Sums); $count],
            pitch: usize,
            steps: usize,
            data: *const Group,
            last: *const Group,
        ) {
            // SAFETY: the caller's promise. All tile registers that are used are declared.
            unsafe {
                asm!(
                    $(concat!("tilezero tmm", $tile),)*
                    "2:",
                    "cmp {steps}, 1",
                    "cmove {data}, {last}",
                    "tileloadd tmm4, [{data} + {stride}]",
                    "add {data}, 1024",
                    $(
                        concat!("tileloadd tmm", $entries, ", [{", stringify!($matrix), "} + {pitch}]"),
                        concat!("add {", stringify!($matrix), "}, 64"),
                        concat!("tdpbssd tmm", $tile, ", tmm", $entries, ", tmm4"),
                    )*
                    "dec {steps}",
                    "jnz 2b",
                    $(concat!("tilestored [{", stringify!($sums), "} + {stride}], tmm", $tile),)*
                    $($matrix = inout(reg) $matrix => _,)*
                    $($sums = in(reg) $sums,)*
                    pitch = in(reg) pitch,
                    steps = inout(reg) steps => _,
                    data = inout(reg) data => _,
                    last = in(reg) last,
                    stride = in(reg) 64usize,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    };
}
accumulate_bytes!(one_tile, 1, "0" "5" matrix sums);
accumulate_bytes!(two_tiles, 2, "0" "5" matrix sums, "1" "6" second_matrix second_sums);

impl ByteProducts for Amx {
    fn name(&self) -> &'static str {
        "amx"
    }

    fn kept_ready(&self, work: &mut dyn FnMut()) {
        let _session = Configured::new();
        work();
    }

    fn multiply(&self, matrix: &ByteMatrix, data: &[Group], sums: &mut [Sums]) {
        let (pitch, steps) = (matrix.pitch(), matrix.pitch() / BYTES);
        // Tiles are whole: where data or sums are not, the last is in memory of our own. Data beyond the depth meet zeros.
        let mut own_data = [[[0; 4]; COLUMNS]; ROWS];
        let before = (steps - 1) * ROWS;
        let last = match data.get(before..before + ROWS) {
            Some(last) => last.as_ptr(),
            None => {
                let rest = &data[before..matrix.depth().div_ceil(4)];
                own_data[..rest.len()].copy_from_slice(rest);
                own_data.as_ptr()
            }
        };
        let mut own_sums = [[0; COLUMNS]; ROWS];
        let (tiles, rest) = sums[..matrix.rows()].as_chunks_mut::<ROWS>();
        let targets = tiles
            .iter_mut()
            .map(|tile| tile.as_mut_ptr())
            .chain((!rest.is_empty()).then_some(own_sums.as_mut_ptr()));
        let blocks = matrix.entries().chunks_exact(ROWS * pitch);
        let mut pairs = blocks.map(|block| block.as_ptr()).zip(targets);
        let data = data.as_ptr();
        let _session = Configured::new();
        // SAFETY: the tiles are configured. A block has `ROWS` rows of `steps` tiles, all data before the last tile are
        // there, and every target has `ROWS` rows.
        unsafe {
            while let Some(first) = pairs.next() {
                match pairs.next() {
                    Some(second) => two_tiles([first, second], pitch, steps, data, last),
                    None => one_tile([first], pitch, steps, data, last),
                }
            }
        }
        rest.copy_from_slice(&own_sums[..rest.len()]);
    }
}
