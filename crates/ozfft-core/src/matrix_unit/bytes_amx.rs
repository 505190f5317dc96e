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

/// Four tiles of sums that lie one after the other: a tile of data serves four products, and none waits for the one before.
///
/// # Safety
/// As above, with four tiles of matrix from every `matrix` on, and four of sums.
#[inline(always)]
unsafe fn four_tiles(
    matrices: [*const i8; 4],
    sums: *mut Sums,
    pitch: usize,
    steps: usize,
    data: *const Group,
    last: *const Group,
) {
    let [first, second, third, fourth] = matrices;
    // SAFETY: the caller's promise. All tile registers that are used are declared.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            "cmp {steps}, 1",
            "cmove {data}, {last}",
            "tileloadd tmm4, [{data} + {stride}]",
            "add {data}, 1024",
            "tileloadd tmm5, [{first} + {pitch}]",
            "tdpbssd tmm0, tmm5, tmm4",
            "tileloadd tmm6, [{second} + {pitch}]",
            "tdpbssd tmm1, tmm6, tmm4",
            "tileloadd tmm7, [{third} + {pitch}]",
            "tdpbssd tmm2, tmm7, tmm4",
            "tileloadd tmm5, [{fourth} + {pitch}]",
            "tdpbssd tmm3, tmm5, tmm4",
            "add {first}, 64",
            "add {second}, 64",
            "add {third}, 64",
            "add {fourth}, 64",
            "dec {steps}",
            "jnz 2b",
            "tilestored [{sums} + {stride}], tmm0",
            "tilestored [{sums} + {stride} + 1024], tmm1",
            "tilestored [{sums} + {stride} + 2048], tmm2",
            "tilestored [{sums} + {stride} + 3072], tmm3",
            first = inout(reg) first => _,
            second = inout(reg) second => _,
            third = inout(reg) third => _,
            fourth = inout(reg) fourth => _,
            sums = in(reg) sums,
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
        let own_data;
        let before = (steps - 1) * ROWS;
        let last = match data.get(before..before + ROWS) {
            Some(last) => last.as_ptr(),
            None => {
                let rest = &data[before..matrix.depth().div_ceil(4)];
                let mut filled = [[[0; 4]; COLUMNS]; ROWS];
                filled[..rest.len()].copy_from_slice(rest);
                own_data = filled;
                own_data.as_ptr()
            }
        };
        let (tiles, rest) = sums[..matrix.rows()].as_chunks_mut::<ROWS>();
        let (quads, tiles) = tiles.as_chunks_mut::<4>();
        let mut blocks = matrix
            .entries()
            .chunks_exact(ROWS * pitch)
            .map(|block| block.as_ptr());
        let data = data.as_ptr();
        let _session = Configured::new();
        for quad in quads {
            let mut next = || {
                blocks
                    .next()
                    .unwrap_or_else(|| unreachable!("a block a tile"))
            };
            let matrices = [next(), next(), next(), next()];
            let sums = quad.as_mut_ptr().cast();
            // SAFETY: the tiles are configured. A block has `ROWS` rows of `steps` tiles, all data before the last tile are
            // there, and the four tiles of sums lie one after the other.
            unsafe { four_tiles(matrices, sums, pitch, steps, data, last) }
        }
        let mut pairs = (&mut blocks).zip(tiles.iter_mut().map(|tile| tile.as_mut_ptr()));
        // SAFETY: as above, and every target has `ROWS` rows.
        unsafe {
            while let Some(first) = pairs.next() {
                match pairs.next() {
                    Some(second) => two_tiles([first, second], pitch, steps, data, last),
                    None => one_tile([first], pitch, steps, data, last),
                }
            }
        }
        if !rest.is_empty() {
            let block = matrix.entries()[matrix.entries().len() - ROWS * pitch..].as_ptr();
            let mut own_sums = [[0; COLUMNS]; ROWS];
            // SAFETY: as above.
            unsafe { one_tile([(block, own_sums.as_mut_ptr())], pitch, steps, data, last) }
            rest.copy_from_slice(&own_sums[..rest.len()]);
        }
    }
}
