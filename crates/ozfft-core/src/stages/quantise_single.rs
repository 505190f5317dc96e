//! Single-precision numbers become integers under one exponent: the rules of `quantise.rs`, two numbers a lane.
//!
//! Everything is exact or rounded once in single precision too: leading bits are extracted by truncation, not rounded, and a number times a
//! power of two rounds to an integer as it does in double precision. Where such a power is no single-precision number, lines
//! use the double-precision path.

use crate::simd::{HalfRow, Point, Vectors, from_lanes};
use crate::stages::lines::Grid;
use crate::stages::quantise::{
    Columns, InputSymmetry, LineProperties, Quantised, SUM_BITS, column_step, exponent, power_bits,
    quantise_floats, scale, single_scales, within_head_room,
};

/// Every element of a panel.
#[inline(always)]
fn rows<T>(panel: &mut [T], grid: Grid) -> impl Iterator<Item = &mut [T]> {
    let rows = panel.chunks_mut(grid.pitch).take(grid.rows);
    rows.map(move |row| &mut row[..grid.columns])
}

#[inline(always)]
fn lanes_of_halves<const L: usize, V: Vectors<L>>(halves: V::Halves) -> HalfRow<L> {
    let mut row = [[0; 2]; L];
    V::store_halves(halves, &mut row);
    row
}

/// Lines whose exponents are chosen.
struct Chosen<const L: usize> {
    found: Quantised<L>,
    /// Lines of zeros, and lines that are not finite, become words of zero.
    keep: [bool; L],
    /// One over the unit.
    scales: HalfRow<L>,
}

/// Chooses the exponent of every line; `None` where single precision does not reach.
#[inline(always)]
fn choose<const L: usize, V: Vectors<L>>(
    panel: &[HalfRow<L>],
    grid: Grid,
    shape: Columns,
) -> Option<Chosen<L>> {
    if shape.relative_unit.is_some() {
        return None;
    }
    let magnitude = V::splat_halves(i32::MAX);
    let mut largest = [V::splat_halves(0); 2];
    for row in panel.chunks(grid.pitch).take(grid.rows) {
        for (i, numbers) in row[..grid.columns].iter().enumerate() {
            // Without their sign, the bits of floating-point numbers are ordered as the numbers are.
            let numbers = V::and_halves(V::load_halves(numbers), magnitude);
            largest[i % 2] = V::maximum_halves(largest[i % 2], numbers);
        }
    }
    let largest = lanes_of_halves::<L, V>(V::maximum_halves(largest[0], largest[1]));
    let properties = largest.map(|[re, im]| LineProperties {
        not_finite: re.max(im) >= f32::INFINITY.to_bits() as i32,
        has_real: re != 0,
        has_imaginary: im != 0,
    });
    let keep = properties.map(|n| !n.not_finite && (n.has_real || n.has_imaginary));
    let units: [i32; L] = std::array::from_fn(|lane| {
        let [re, im] = largest[lane];
        let number = f64::from(f32::from_bits(re.max(im) as u32));
        if keep[lane] {
            scale(number.to_bits() as i64) - SUM_BITS
        } else {
            0
        }
    });
    let sums = largest_sum::<L, V>(panel, grid, shape, &single_scales(units.map(|unit| -unit))?);
    let exponents = std::array::from_fn(|lane| {
        let sum = i64::from(sums[lane][0]);
        if keep[lane] {
            exponent(i64::from(units[lane]), sum, shape.word_bits)
        } else {
            0
        }
    });
    Some(Chosen {
        scales: single_scales(exponents.map(|exponent| -exponent))?,
        keep,
        found: Quantised {
            exponents,
            properties,
            symmetry: if properties.iter().any(|properties| properties.has_imaginary) {
                InputSymmetry::Complex
            } else {
                InputSymmetry::Real
            },
        },
    })
}

/// The largest column sum of every line, in both parts alike: each magnitude rounded up.
#[inline(always)]
fn largest_sum<const L: usize, V: Vectors<L>>(
    panel: &[HalfRow<L>],
    grid: Grid,
    shape: Columns,
    scales: &HalfRow<L>,
) -> HalfRow<L> {
    let scale = V::load_halves(scales);
    let (step, count) = column_step(grid, shape.columns);
    // One for every magnitude, which rounds it up, less what the vectors add to it. Intermediate sums wrap; what is left is
    // below 2^29: at most 2·64 magnitudes of 21 bits.
    let rest = (2 * count as i32).wrapping_mul(1i32.wrapping_sub(V::FLOOR_SINGLE_BIAS));
    let rest = V::splat_halves(rest);
    let mut largest = V::splat_halves(0);
    for number in 0..shape.columns {
        let mut sum = V::splat_halves(0);
        for numbers in panel[number..].iter().step_by(step).take(count) {
            let floor = V::floor_magnitude_single(V::load_halves(numbers), scale);
            sum = V::add_halves(sum, floor);
        }
        let both = V::add_halves(sum, V::swap_halves(sum));
        largest = V::maximum_halves(largest, V::add_halves(both, rest));
    }
    lanes_of_halves::<L, V>(largest)
}

/// The bits of single-precision numbers as those of double-precision ones.
#[inline(always)]
fn widen<const L: usize, V: Vectors<L>>(panel: &[HalfRow<L>], points: &mut [Point<L>], grid: Grid) {
    let rows = rows(points, grid).zip(panel.chunks(grid.pitch));
    for (points, numbers) in rows {
        for (point, numbers) in points.iter_mut().zip(numbers) {
            let (re, im) = V::widen_single(V::load_halves(numbers));
            V::store(re, &mut point[0]);
            V::store(im, &mut point[1]);
        }
    }
}

/// Quantises single-precision numbers, given by their bits, to words of 64 bits.
#[inline(always)]
pub(crate) fn quantise_singles<const L: usize, V: Vectors<L>>(
    panel: &[HalfRow<L>],
    points: &mut [Point<L>],
    grid: Grid,
    shape: Columns,
) -> Quantised<L> {
    let Some(chosen) = choose::<L, V>(panel, grid, shape) else {
        widen::<L, V>(panel, points, grid);
        return quantise_floats::<L, V>(points, grid, shape);
    };
    let exponents = chosen.found.exponents;
    let kept = from_lanes::<L, V>(|lane| -i64::from(chosen.keep[lane]));
    let scale = from_lanes::<L, V>(|lane| power_bits(-exponents[lane]));
    let unit = from_lanes::<L, V>(|lane| i64::from(exponents[lane]));
    let rows = rows(points, grid).zip(panel.chunks(grid.pitch));
    for (points, numbers) in rows {
        for (point, numbers) in points.iter_mut().zip(numbers) {
            let numbers = V::widen_single(V::load_halves(numbers));
            let (re, im) = (V::and(numbers.0, kept), V::and(numbers.1, kept));
            V::store(V::round_scaled(re, scale, unit), &mut point[0]);
            V::store(V::round_scaled(im, scale, unit), &mut point[1]);
        }
    }
    chosen.found
}

/// Quantises single-precision numbers, given by their bits, to words of 32 bits, in place. `points` is memory for those that
/// need double precision.
#[inline(always)]
pub(crate) fn quantise_short<const L: usize, V: Vectors<L>>(
    panel: &mut [HalfRow<L>],
    points: &mut [Point<L>],
    grid: Grid,
    shape: Columns,
) -> Quantised<L> {
    let Some(chosen) = choose::<L, V>(panel, grid, shape) else {
        widen::<L, V>(panel, points, grid);
        let found = quantise_floats::<L, V>(points, grid, shape);
        shorten::<L, V>(points, panel, grid);
        return found;
    };
    let kept = chosen.keep.map(|keep| [-i32::from(keep); 2]);
    let (kept, scale) = (V::load_halves(&kept), V::load_halves(&chosen.scales));
    for row in rows(panel, grid) {
        for numbers in row {
            let bits = V::and_halves(V::load_halves(numbers), kept);
            V::store_halves(V::round_scaled_single(bits, scale), numbers);
        }
    }
    debug_assert!(
        within_head_room::<L>(grid, shape, |place, lane| {
            let words = panel[place][lane].map(|word| u128::from(word.unsigned_abs()));
            words[0] + words[1]
        }),
        "head-room: a column's words add up to more than the word"
    );
    chosen.found
}

/// Words of 64 bits as words of 32 bits, which hold them.
#[inline(always)]
pub(crate) fn shorten<const L: usize, V: Vectors<L>>(
    points: &[Point<L>],
    panel: &mut [HalfRow<L>],
    grid: Grid,
) {
    let rows = rows(panel, grid).zip(points.chunks(grid.pitch));
    for (words, points) in rows {
        for (word, point) in words.iter_mut().zip(points) {
            let (low, _) = V::split(V::load(&point[0]), V::load(&point[1]));
            V::store_halves(low, word);
        }
    }
}
