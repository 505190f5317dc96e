//! AMX-BF16: TDPBF16PS multiplies a tile of 16 × 32 bf16 numbers by one of 32 × 16, in 16 cycles.

use super::{MatrixUnit, Order, Shape, TILE, Term};
use std::arch::asm;
use std::arch::x86_64::__cpuid_count;

/// Proof that the processor has the instructions and the kernel has granted the tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct AmxBf16(());

impl AmxBf16 {
    pub(super) fn new() -> Option<Self> {
        // Bits 22 and 24: tiles of bf16, and tiles.
        let features = __cpuid_count(7, 0).edx;
        let present = features >> 22 & 1 == 1 && features >> 24 & 1 == 1;
        (present && float_environment::amx_tiles_are_granted()).then_some(AmxBf16(()))
    }
}

/// All eight tile registers with 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_per_row: [u16; 16],
    rows: [u8; 16],
}

static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    bytes_per_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// A configuration as the processor stores it; all zeros where the tiles are not set up.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stored([u8; 64]);

impl Configuration {
    /// The bytes that the processor stores after it was loaded.
    const fn stored(&self) -> Stored {
        let mut bytes = [0; 64];
        bytes[0] = self.palette;
        bytes[1] = self.start_row;
        let mut tile = 0;
        while tile < 16 {
            [bytes[16 + 2 * tile], bytes[17 + 2 * tile]] = self.bytes_per_row[tile].to_le_bytes();
            bytes[48 + tile] = self.rows[tile];
            tile += 1;
        }
        Stored(bytes)
    }
}

/// What the processor stores where the tiles are ours.
const OURS: Stored = CONFIGURATION.stored();

/// The tiles of this thread, set up; what they were set up for before comes back at the end, since others on the thread
/// may use them as well.
///
/// The processor is asked every time. A note of our own that the tiles are set up would be wrong as soon as somebody else who was
/// called in between has used them and released them, and the next product would be an illegal instruction.
struct Configured {
    /// Nothing, where they were ours already.
    before: Option<Stored>,
}

impl Configured {
    fn new() -> Self {
        let mut before = Stored([0; 64]);
        // SAFETY: AMX is there, and 64 bytes are written.
        unsafe { asm!("sttilecfg [{}]", in(reg) &mut before, options(nostack)) }
        if before == OURS {
            return Configured { before: None };
        }
        // SAFETY: AMX is there, and the configuration is 64 bytes of valid fields.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &CONFIGURATION, options(nostack, readonly)) }
        Configured {
            before: Some(before),
        }
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        let Some(before) = &self.before else { return };
        // SAFETY: as above; what was stored is valid.
        unsafe {
            if before.0[0] == 0 {
                asm!("tilerelease", options(nostack, nomem));
            } else {
                asm!("ldtilecfg [{}]", in(reg) before, options(nostack, readonly));
            }
        }
    }
}

/// Where the tiles of a block are. Pitches are in bytes.
struct Block {
    steps: usize,
    left_offset: usize,
    right_offset: usize,
    left_pitch: usize,
    right_pitch: usize,
    sums: *mut f32,
    sums_pitch: usize,
}

/// The sums of some tiles from all terms, whose pointers are read one after the other: zeroed, accumulated, stored.
macro_rules! accumulate {
    ($name:ident, zero: [$($zero:literal),*], multiply: [$($multiply:literal),*], store: [$($store:literal),*]) => {
        /// # Safety
        /// AMX is configured and all tiles of the block lie within the arrays.
        unsafe fn $name(block: &Block, lists: &[(*const u32, *const u32)]) {
            // SAFETY: the caller's promise. All tile registers that are used are declared.
            unsafe {
                asm!(
                    $(concat!("tilezero ", $zero),)*
                    "2:",
                    "mov {left}, [{list}]",
                    "add {left}, {left_offset}",
                    "mov {lower}, {left_pitch}",
                    "shl {lower}, 4",
                    "add {lower}, {left}",
                    "mov {right}, [{list} + 8]",
                    "add {right}, {right_offset}",
                    "mov {step}, {steps}",
                    "3:",
                    $($multiply,)*
                    "add {left}, 64",
                    "add {lower}, 64",
                    "lea {right}, [{right} + 8 * {right_pitch}]",
                    "lea {right}, [{right} + 8 * {right_pitch}]",
                    "dec {step}",
                    "jnz 3b",
                    "add {list}, 16",
                    "cmp {list}, {end}",
                    "jne 2b",
                    "mov {lower}, {sums_pitch}",
                    "shl {lower}, 4",
                    "add {lower}, {sums}",
                    $($store,)*
                    list = inout(reg) lists.as_ptr() => _,
                    end = in(reg) lists.as_ptr_range().end,
                    left = out(reg) _,
                    lower = out(reg) _,
                    right = out(reg) _,
                    step = out(reg) _,
                    steps = in(reg) block.steps,
                    left_offset = in(reg) block.left_offset,
                    right_offset = in(reg) block.right_offset,
                    left_pitch = in(reg) block.left_pitch,
                    right_pitch = in(reg) block.right_pitch,
                    sums = in(reg) block.sums,
                    sums_pitch = in(reg) block.sums_pitch,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    };
}
accumulate!(
    four_tiles,
    zero: ["tmm0", "tmm1", "tmm2", "tmm3"],
    multiply: [
        "tileloadd tmm4, [{left} + {left_pitch}]",
        "tileloadd tmm6, [{right} + {right_pitch}]",
        "tdpbf16ps tmm0, tmm4, tmm6",
        "tileloadd tmm7, [{right} + {right_pitch} + 64]",
        "tdpbf16ps tmm1, tmm4, tmm7",
        "tileloadd tmm5, [{lower} + {left_pitch}]",
        "tdpbf16ps tmm2, tmm5, tmm6",
        "tdpbf16ps tmm3, tmm5, tmm7"
    ],
    store: [
        "tilestored [{sums} + {sums_pitch}], tmm0",
        "tilestored [{sums} + {sums_pitch} + 64], tmm1",
        "tilestored [{lower} + {sums_pitch}], tmm2",
        "tilestored [{lower} + {sums_pitch} + 64], tmm3"
    ]
);
accumulate!(
    two_tiles,
    zero: ["tmm0", "tmm1"],
    multiply: [
        "tileloadd tmm4, [{left} + {left_pitch}]",
        "tileloadd tmm6, [{right} + {right_pitch}]",
        "tdpbf16ps tmm0, tmm4, tmm6",
        "tileloadd tmm7, [{right} + {right_pitch} + 64]",
        "tdpbf16ps tmm1, tmm4, tmm7"
    ],
    store: [
        "tilestored [{sums} + {sums_pitch}], tmm0",
        "tilestored [{sums} + {sums_pitch} + 64], tmm1"
    ]
);
accumulate!(
    one_tile,
    zero: ["tmm0"],
    multiply: [
        "tileloadd tmm4, [{left} + {left_pitch}]",
        "tileloadd tmm6, [{right} + {right_pitch}]",
        "tdpbf16ps tmm0, tmm4, tmm6"
    ],
    store: ["tilestored [{sums} + {sums_pitch}], tmm0"]
);

/// No mode has more terms.
const MOST_TERMS: usize = 16;

impl MatrixUnit for AmxBf16 {
    fn name(&self) -> &str {
        "amx_bf16"
    }

    fn order(&self) -> Order {
        Order::Tiles
    }

    fn kept_ready(&self, work: &mut dyn FnMut()) {
        let _configured = Configured::new();
        work();
    }

    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) {
        shape.check(terms, sums);
        assert!((1..=MOST_TERMS).contains(&terms.len()));
        let mut lists = [(std::ptr::null(), std::ptr::null()); MOST_TERMS];
        for (list, term) in lists.iter_mut().zip(terms) {
            *list = (term.left.as_ptr(), term.right.as_ptr());
        }
        let lists = &lists[..terms.len()];
        let _configured = Configured::new();
        let two_columns = shape.columns - shape.columns % (2 * TILE);
        let two_rows = shape.rows - shape.rows % (2 * TILE);
        for column in (0..shape.columns).step_by(2 * TILE) {
            for row in (0..shape.rows).step_by(2 * TILE) {
                let mut block = Block {
                    steps: shape.pairs / TILE,
                    left_offset: 4 * row * shape.left_pitch,
                    right_offset: 4 * column,
                    left_pitch: 4 * shape.left_pitch,
                    right_pitch: 4 * shape.right_pitch,
                    sums: sums[row * shape.sums_pitch + column..].as_mut_ptr(),
                    sums_pitch: 4 * shape.sums_pitch,
                };
                // SAFETY: the tiles are configured, and the check says that all of them lie within the arrays.
                unsafe {
                    match (row < two_rows, column < two_columns) {
                        (true, true) => four_tiles(&block, lists),
                        (false, true) => two_tiles(&block, lists),
                        (true, false) => {
                            one_tile(&block, lists);
                            block.left_offset += TILE * block.left_pitch;
                            block.sums = block.sums.add(TILE * shape.sums_pitch);
                            one_tile(&block, lists);
                        }
                        (false, false) => one_tile(&block, lists),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Scalar;

    #[test]
    fn the_tile_configuration_has_the_expected_bytes() {
        const { assert!(size_of::<Configuration>() == 64) };
        // SAFETY: 64 bytes without padding.
        let bytes: [u8; 64] = unsafe { std::mem::transmute_copy(&CONFIGURATION) };
        assert!(bytes == OURS.0);
    }

    /// One product of a tile, whose sums are not all alike.
    fn product(unit: &dyn MatrixUnit) -> Vec<f32> {
        let shape = Shape {
            rows: TILE,
            pairs: TILE,
            columns: TILE,
            left_pitch: TILE,
            right_pitch: TILE,
            sums_pitch: TILE,
        };
        let matrix: Vec<u32> = (0..(TILE * TILE) as u32).map(|i| 0x3f80_3f80 + i).collect();
        let mut sums = vec![0.0; TILE * TILE];
        let term = Term {
            left: &matrix,
            right: &matrix,
        };
        unit.multiply(&shape, &[term], &mut sums);
        sums
    }

    #[test]
    fn tiles_released_by_another_user_within_a_kept_session_are_set_up_again() {
        let unit = AmxBf16::new().ok_or("this processor has no AMX for bf16");
        let Some(unit) = ozfft_testkit::available(ozfft_testkit::Requirement::Amx, unit) else {
            return;
        };
        let expected = product(&Scalar::new(Order::Tiles));
        unit.kept_ready(&mut || {
            assert_eq!(product(&unit), expected);
            // SAFETY: AMX is there; no tile holds anything here.
            unsafe { asm!("tilerelease", options(nostack, nomem)) }
            assert_eq!(product(&unit), expected);
            assert_eq!(product(&unit), expected);
        });
        let mut after = Stored([1; 64]);
        // SAFETY: AMX is there, and 64 bytes are written.
        unsafe { asm!("sttilecfg [{}]", in(reg) &mut after, options(nostack)) }
        assert_eq!(after.0[0], 0, "the tiles were not released");
    }
}
