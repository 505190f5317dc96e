//! Steps as the CUDA sources pad them to the tensor instruction, and their tables in shared memory.

use super::Number;

/// Columns of nibbles of a piece of a matrix in fp8.
pub const FP8_COLUMNS: usize = 16;

/// Columns of digits of a piece of a matrix in f16.
pub const F16_COLUMNS: usize = 8;

/// Warps of a block, with 128 registers a thread.
pub(crate) const MAX_WARPS: usize = 16;

/// Pairs of a step's elements.
const fn slots(n: usize) -> usize {
    n.div_ceil(2)
}

/// Whether a step is a product; those of 1, 2 and 4 points are additions.
pub(crate) const fn is_matrix(n: usize) -> bool {
    !matches!(n, 1 | 2 | 4)
}

/// `StepShape::TILES`
pub(crate) const fn tiles(n: usize) -> usize {
    if is_matrix(n) {
        slots(n).div_ceil(8)
    } else {
        0
    }
}

/// `StepShape::UPPER` and `LOWER`
const fn pieces(n: usize) -> [usize; 2] {
    match slots(n) % 8 {
        1..=4 => [slots(n) / 8 + 1, 2 * (slots(n) / 8) + 1],
        _ => [slots(n).div_ceil(8), 2 * slots(n).div_ceil(8)],
    }
}

/// `StepShape::QUADS`
pub(crate) const fn quads(n: usize) -> usize {
    slots(n).div_ceil(4)
}

/// `StepShape::MATRIX_BYTES`
pub(crate) const fn matrix_bytes(number: Number, n: usize) -> usize {
    let [upper, lower] = pieces(n);
    let tile = match number {
        Number::DoubleFp8 => FP8_COLUMNS * 256 * upper,
        Number::DoubleF16 => F16_COLUMNS * 256 * upper,
        _ => {
            let diagonals = number.diagonals() as usize;
            let upper_diagonals = if diagonals < 4 { diagonals } else { 4 };
            256 * (upper_diagonals * upper + (diagonals - upper_diagonals) * lower)
        }
    };
    tiles(n) * tile
}

/// Bytes of the tables of two steps: `TableShape::BYTES`.
pub const fn table_bytes(number: Number, [first, last]: [usize; 2]) -> usize {
    let matrices = 2 * (matrix_bytes(number, first) + matrix_bytes(number, last));
    let constants = 128 * tiles(first) + 128 + 192 * tiles(last);
    matrices + constants + 16 * (first / 2 + 1) * (last / 2 + 1)
}

/// The next number from `least` on with this remainder.
pub(crate) const fn next_with(least: usize, remainder: usize, modulus: usize) -> usize {
    least + (remainder + modulus - least % modulus) % modulus
}

/// Words of a line in shared memory, which rows of so many columns are padded to without bank conflicts: where threads read
/// neighbouring lines at once, and where they read neighbouring columns.
pub(crate) const fn padded_line(rows: usize, columns: usize, neighbouring_lines: bool) -> usize {
    if neighbouring_lines {
        next_with(rows * next_with(columns, 1, 2), 4, 8)
    } else {
        rows * next_with(columns, 2, 4)
    }
}

/// Warps of a block that have registers for the digits of so many units of both steps; none where not even a few have.
pub(crate) fn max_warps(
    number: Number,
    [first, last]: [usize; 2],
    units: [usize; 2],
) -> Option<usize> {
    let product = is_matrix(last);
    // Digits of two units fit the registers where steps have up to 32 points.
    let too_many = |step: usize, units: usize| units == 2 && quads(step) > 4;
    let load = (units[0] * quads(first)).max(if product { units[1] * quads(last) } else { 0 });
    let fits = !too_many(first, units[0])
        && !too_many(last, units[1])
        && load <= 8
        && (product || units[1] == 1);
    let warps = match number {
        Number::Double | Number::DoubleFewer { .. } if load > 5 => 12,
        Number::Double | Number::DoubleFewer { .. } | Number::Single => MAX_WARPS,
        // Sums of all diagonals of one unit.
        Number::DoubleWgmma if units != [1, 1] => return None,
        Number::DoubleWgmma => MAX_WARPS,
        Number::DoubleFp8 | Number::DoubleF16 => {
            let last = (if product { last } else { 1 }, units[1]);
            max_warps_of_wide(number, &[(first, units[0]), last])?
        }
    };
    fits.then_some(warps)
}

/// The same for digits in fp8 and in f16, which take twice as many registers, and more where the compiler makes products in fp8 of
/// those in f16: for steps of so many points and units.
pub(crate) fn max_warps_of_wide(number: Number, steps: &[(usize, usize)]) -> Option<usize> {
    // Two units of steps of up to 16 points.
    let fits = |&(n, units): &(usize, usize)| units == 1 || quads(n) <= 2;
    let load = steps.iter().map(|(n, units)| units * quads(*n)).max()?;
    let warps = match (number, load) {
        (_, 0..=1) | (Number::DoubleF16, 2) => MAX_WARPS,
        (_, 2) | (Number::DoubleF16, 3..=5) => 12,
        _ => 8,
    };
    steps.iter().all(fits).then_some(warps)
}

/// The expected cost of a point of a step: its share of products with padded matrices, and `overhead` for all else.
pub(crate) fn work(n: usize, units: usize, overhead: f64) -> f64 {
    let fragments = if units == 1 { 1.35 } else { 1.0 };
    fragments * 8.0 * (tiles(n) * (pieces(n)[0] + pieces(n)[1])) as f64 / n as f64 + overhead
}

/// How much slower few groups of warps are, which wait for their own barriers.
pub(crate) fn waiting(groups: usize) -> f64 {
    match groups {
        1 => 1.25,
        2 => 1.08,
        _ => 1.0,
    }
}
