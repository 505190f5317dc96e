//! Numbers with exponents of their own become integers under one common exponent: the first of the three roundings.
//!
//! The exponent is chosen by the *column sums* of the first step, not by the largest number: if the magnitudes in
//! every column add up to less than `2^word_bits` units, no output of the step can be larger, so the sum bounds the
//! growth as well. A flat line then keeps `log2 n1` bits of head-room, while a single spike uses all the bits there
//! are and the small values beside it keep theirs. The sums need not be exact: an upper bound formed from the leading
//! 21 bits serves, and is the same integer in whatever order it is formed.

use crate::simd::{HalfRow, Point, Row, Vectors, from_lanes, inlined, lanes_of, round_to_unit};
use crate::stages::lines::Grid;
use num_complex::Complex;
#[cfg(feature = "residues")]
use residues::adaptive::coarsest_unit;

/// Leading bits of a magnitude that enter the column sums.
pub(crate) const SUM_BITS: i32 = 21;

/// Shape of a line as its first step sees it: `columns` columns of every `columns`-th element.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    pub(crate) columns: usize,
    pub(crate) word_bits: u32,
    /// The unit of a line of floating-point numbers may be this part of its L2 norm, where that is coarser than what the
    /// words could hold.
    pub(crate) relative_unit: Option<f64>,
}

/// Properties of every line, found while quantising.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantised<const L: usize> {
    /// 0 for a line of zeros.
    pub(crate) exponents: [i32; L],
    pub(crate) properties: [LineProperties; L],
    /// Symmetry of the words of every line.
    pub(crate) symmetry: InputSymmetry,
}

/// Symmetry that the words of all lines share. The words need not be the transform's own input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputSymmetry {
    Complex,
    /// All imaginary parts are zero.
    Real,
    /// Element `n - j` is the conjugate of element `j`.
    Hermitian,
}

/// Properties of the numbers of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineProperties {
    /// There is a NaN or an infinity; the words are all zero.
    pub not_finite: bool,
    /// Some real part is not zero.
    pub has_real: bool,
    /// Some imaginary part is not zero.
    pub has_imaginary: bool,
}

impl LineProperties {
    pub const ZERO: LineProperties = LineProperties {
        not_finite: false,
        has_real: false,
        has_imaginary: false,
    };

    /// From the bits of the largest magnitudes of real and imaginary parts.
    #[inline(always)]
    pub(crate) fn of_magnitudes([re, im]: [i64; 2]) -> LineProperties {
        LineProperties {
            not_finite: re.max(im) >= f64::INFINITY.to_bits() as i64,
            has_real: re != 0,
            has_imaginary: im != 0,
        }
    }

    /// Properties shared by two lines, or by two parts of a line.
    #[inline(always)]
    pub fn with(self, other: LineProperties) -> LineProperties {
        LineProperties {
            not_finite: self.not_finite | other.not_finite,
            has_real: self.has_real | other.has_real,
            has_imaginary: self.has_imaginary | other.has_imaginary,
        }
    }

    /// As bits, for sharing between threads.
    pub fn to_bits(self) -> u8 {
        u8::from(self.not_finite) | u8::from(self.has_real) << 1 | u8::from(self.has_imaginary) << 2
    }

    pub fn from_bits(bits: u8) -> LineProperties {
        LineProperties {
            not_finite: bits & 1 != 0,
            has_real: bits & 2 != 0,
            has_imaginary: bits & 4 != 0,
        }
    }
}

/// The elements of a column of the first step, as places in the panel.
#[inline(always)]
fn column(grid: Grid, columns: usize, number: usize) -> impl Iterator<Item = usize> {
    let (step, count) = column_step(grid, columns);
    (0..count).map(move |i| number + i * step)
}

/// Distance and number of the elements of a column.
#[inline(always)]
pub(crate) fn column_step(grid: Grid, columns: usize) -> (usize, usize) {
    // A line of one step is one row and one column.
    if columns == grid.columns {
        (grid.pitch, grid.rows)
    } else {
        (1, grid.columns)
    }
}

/// All elements of a line, as places in the panel.
#[inline(always)]
fn places(grid: Grid) -> impl Iterator<Item = usize> + Clone {
    (0..grid.rows)
        .flat_map(move |row| (0..grid.columns).map(move |column| row * grid.pitch + column))
}

/// A line's exponent from its largest column sum, which bounds every output of the first step.
pub(crate) fn exponent(unit: i64, largest_sum: i64, word_bits: u32) -> i32 {
    let sum_bits = 64 - i64::from(largest_sum.leading_zeros());
    (unit + sum_bits - i64::from(word_bits)) as i32
}

/// Magnitude and exponent of a double-precision number: `±magnitude · 2^exponent`.
fn decode(bits: i64) -> (u64, i32) {
    let field = ((bits >> 52) & 0x7ff) as i32;
    let hidden = u64::from(field != 0) << 52;
    let fraction = bits as u64 & ((1 << 52) - 1);
    (fraction | hidden, field.max(1) - 1075)
}

/// The bit position just above the leading bit of a number.
pub(crate) fn scale(bits: i64) -> i32 {
    let (magnitude, exponent) = decode(bits);
    exponent + 64 - magnitude.leading_zeros() as i32
}

/// A power of two as the bits of a double-precision number.
#[inline(always)]
pub(crate) fn power_bits(exponent: i32) -> i64 {
    (i64::from(exponent) + 1023) << 52
}

/// Exponents from minus this one to below it are so far from the ends of the double-precision range that no intermediate overflows
/// or underflows.
pub(crate) const MODERATE: i32 = 900;

pub(crate) fn is_moderate(exponent: i32) -> bool {
    (-MODERATE..MODERATE).contains(&exponent)
}

/// Quantises floating-point numbers, given as the bits of their components: chooses the exponent of every line and
/// rounds its elements, in place.
#[inline(always)]
pub(crate) fn quantise_floats<const L: usize, V: Vectors<L>>(
    points: &mut [Point<L>],
    grid: Grid,
    shape: Columns,
) -> Quantised<L> {
    let largest = largest_parts::<L, V>(points, grid, InputSymmetry::Complex);
    let symmetry = InputSymmetry::Complex;
    if let Some(exponents) = quantise_ordinary::<L, V>(points, grid, shape, largest, symmetry) {
        return Quantised::ordinary::<V>(exponents, symmetry);
    }
    let largest = [lanes_of::<L, V>(largest[0]), lanes_of::<L, V>(largest[1])];
    let properties: [LineProperties; L] =
        std::array::from_fn(|lane| LineProperties::of_magnitudes(largest.map(|part| part[lane])));
    // Lines of zeros, and lines that are not finite, become words of zero.
    let keep: [bool; L] = std::array::from_fn(|lane| {
        let properties = properties[lane];
        !properties.not_finite && (properties.has_real || properties.has_imaginary)
    });
    let unit: [i32; L] = std::array::from_fn(|lane| {
        if keep[lane] {
            scale(largest[0][lane].max(largest[1][lane])) - SUM_BITS
        } else {
            0
        }
    });
    let mut exponents = [0i32; L];
    if unit.iter().all(|&unit| is_moderate(unit)) {
        let scale = from_lanes::<L, V>(|lane| power_bits(-unit[lane]));
        let sum = lanes_of::<L, V>(largest_sum::<L, V>(points, grid, shape, scale, false));
        for lane in 0..L {
            if keep[lane] {
                exponents[lane] = exponent(i64::from(unit[lane]), sum[lane], shape.word_bits);
            }
        }
        coarsen(points, grid, shape, keep, &mut exponents);
        let kept = from_lanes::<L, V>(|lane| -i64::from(keep[lane]));
        let scale = from_lanes::<L, V>(|lane| power_bits(-exponents[lane]));
        let unit = from_lanes::<L, V>(|lane| i64::from(exponents[lane]));
        for row in points.chunks_mut(grid.pitch).take(grid.rows) {
            for row in row[..grid.columns].as_flattened_mut() {
                let bits = V::and(V::load(row), kept);
                V::store(V::round_scaled(bits, scale, unit), row);
            }
        }
    } else {
        quantise_extremes(points, grid, shape, keep, unit, &mut exponents);
    }
    debug_assert!(
        within_head_room::<L>(grid, shape, size_in(points)),
        "head-room: a column's words add up to more than the word"
    );
    Quantised {
        exponents,
        properties,
        symmetry: if properties.iter().any(|properties| properties.has_imaginary) {
            InputSymmetry::Complex
        } else {
            InputSymmetry::Real
        },
    }
}

/// [`quantise_floats`] for lines whose imaginary parts are all zero: they are not looked at.
#[inline(always)]
pub(crate) fn quantise_real_floats<const L: usize, V: Vectors<L>>(
    points: &mut [Point<L>],
    grid: Grid,
    shape: Columns,
) -> Quantised<L> {
    let symmetry = InputSymmetry::Real;
    let largest = largest_parts::<L, V>(points, grid, symmetry);
    match quantise_ordinary::<L, V>(points, grid, shape, largest, symmetry) {
        Some(exponents) => Quantised::ordinary::<V>(exponents, symmetry),
        None => quantise_floats::<L, V>(points, grid, shape),
    }
}

impl<const L: usize> Quantised<L> {
    /// Of lines that are ordinary.
    #[inline(always)]
    fn ordinary<V: Vectors<L>>(exponents: V::Words, symmetry: InputSymmetry) -> Self {
        Quantised {
            exponents: lanes_of::<L, V>(exponents).map(|exponent| exponent as i32),
            properties: [LineProperties {
                not_finite: false,
                has_real: true,
                has_imaginary: symmetry != InputSymmetry::Real,
            }; L],
            symmetry,
        }
    }
}

/// The largest magnitudes of the real and of the imaginary parts of every line, as far as their leading bit goes. Those of real lines are not looked at.
#[inline(always)]
fn largest_parts<const L: usize, V: Vectors<L>>(
    points: &[Point<L>],
    grid: Grid,
    symmetry: InputSymmetry,
) -> [V::Words; 2] {
    let magnitude = V::splat(i64::MAX);
    let mut largest = [V::splat(0); 2];
    let all = grid.flattened();
    for row in points.chunks(all.pitch).take(all.rows) {
        for [re, im] in &row[..all.columns] {
            // Without their sign, the bits of floating-point numbers are ordered as the numbers are. All that is asked of the
            // largest one is its leading bit, and whether it is zero or not finite.
            largest[0] = V::leading_maximum(largest[0], V::and(V::load(re), magnitude));
            if symmetry != InputSymmetry::Real {
                largest[1] = V::leading_maximum(largest[1], V::and(V::load(im), magnitude));
            }
        }
    }
    largest
}

/// [`quantise_floats`] for ordinary lines alone, whose exponents stay in a register. `None`, and nothing is changed, where a line is
/// out of the ordinary.
#[inline(always)]
pub(crate) fn quantise_ordinary_floats<const L: usize, V: Vectors<L>>(
    points: &mut [Point<L>],
    grid: Grid,
    shape: Columns,
    symmetry: InputSymmetry,
) -> Option<V::Words> {
    let largest = largest_parts::<L, V>(points, grid, symmetry);
    quantise_ordinary::<L, V>(points, grid, shape, largest, symmetry)
}

/// Whether the exponents of all lines are moderate.
#[inline(always)]
pub(crate) fn all_moderate<const L: usize, V: Vectors<L>>(exponents: V::Words) -> bool {
    V::all_negative(V::and(
        V::subtract(V::splat(i64::from(-MODERATE - 1)), exponents),
        V::subtract(exponents, V::splat(i64::from(MODERATE))),
    ))
}

/// [`quantise_floats`] where every line has a real and an imaginary part (or, of real lines, a real part alone), is finite and far from the ends of the
/// range: then exponents are chosen in vectors too, and nothing is asked lane by lane. `None` where a line is out of the ordinary.
#[inline(always)]
fn quantise_ordinary<const L: usize, V: Vectors<L>>(
    points: &mut [Point<L>],
    grid: Grid,
    shape: Columns,
    [largest_re, largest_im]: [V::Words; 2],
    symmetry: InputSymmetry,
) -> Option<V::Words> {
    let real = symmetry == InputSymmetry::Real;
    // A number of exponent `scale` has the field `scale + 1022`; its unit is moderate within these bounds.
    const LEAST: i64 = ((SUM_BITS + 1022 - MODERATE) as i64) << 52;
    const BEYOND: i64 = ((SUM_BITS + 1022 + MODERATE) as i64) << 52;
    let largest = V::maximum(largest_re, largest_im);
    let zero = V::splat(0);
    let ordinary = V::and(
        V::and(
            V::subtract(V::splat(LEAST - 1), largest),
            V::subtract(largest, V::splat(BEYOND)),
        ),
        V::and(
            V::subtract(zero, largest_re),
            V::subtract(zero, if real { largest_re } else { largest_im }),
        ),
    );
    if shape.relative_unit.is_some() || !V::all_negative(ordinary) {
        return None;
    }
    let fields = V::shift_right_each(largest, V::splat(52));
    let unit = V::subtract(fields, V::splat(i64::from(1022 + SUM_BITS)));
    let power = inlined(
        #[inline(always)]
        |exponent: V::Words| V::shift_left(V::subtract(V::splat(1023), exponent), 52),
    );
    let sum = largest_sum::<L, V>(points, grid, shape, power(unit), real);
    // As `exponent` has it.
    let sum_bits = V::subtract(V::splat(64), V::leading_zeros(sum));
    let exponents = V::add(
        unit,
        V::subtract(sum_bits, V::splat(i64::from(shape.word_bits))),
    );
    let scale = power(exponents);
    let all = grid.flattened();
    for row in points.chunks_mut(all.pitch).take(all.rows) {
        for [re, im] in &mut row[..all.columns] {
            V::store(V::round_scaled(V::load(re), scale, exponents), re);
            if !real {
                V::store(V::round_scaled(V::load(im), scale, exponents), im);
            }
        }
    }
    debug_assert!(
        within_head_room::<L>(grid, shape, size_in(points)),
        "head-room: a column's words add up to more than the word"
    );
    Some(exponents)
}

/// Only residues ask for units of lines.
#[cfg(not(feature = "residues"))]
fn coarsest_unit(_: f64, _: impl Iterator<Item = f64>) -> Option<i32> {
    None
}

/// Raises exponents to what [`Columns::relative_unit`] allows.
fn coarsen<const L: usize>(
    points: &[Point<L>],
    grid: Grid,
    shape: Columns,
    keep: [bool; L],
    exponents: &mut [i32; L],
) {
    let Some(ratio) = shape.relative_unit else {
        return;
    };
    for lane in (0..L).filter(|&lane| keep[lane]) {
        let numbers = places(grid)
            .flat_map(|place| &points[place])
            .map(|row| f64::from_bits(row[lane] as u64));
        if let Some(unit) = coarsest_unit(ratio, numbers) {
            exponents[lane] = exponents[lane].max(unit);
        }
    }
}

/// Whether a line needs a finer unit than its words have room for, to keep [`Columns::relative_unit`]. Its `n` elements are
/// finite, or it needs none.
pub fn needs_finer_unit(
    n: usize,
    shape: Columns,
    element: impl Fn(usize) -> [f64; 2] + Copy,
) -> bool {
    let Some(ratio) = shape.relative_unit else {
        return false;
    };
    let numbers = (0..n).flat_map(element);
    if numbers.clone().any(|x| !x.is_finite()) {
        return false;
    }
    let Some(wanted) = coarsest_unit(ratio, numbers.clone()) else {
        return false;
    };
    // The exponent that quantising chooses, from the leading bits in the same way.
    let largest = numbers.fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let unit = scale(largest.to_bits() as i64) - SUM_BITS;
    let sums = (0..shape.columns).map(|column| {
        let rows = (column..n).step_by(shape.columns);
        rows.flat_map(element)
            .map(|x| 1 + leading_bits(x.to_bits() as i64, unit))
            .sum()
    });
    wanted < exponent(i64::from(unit), sums.max().unwrap_or(0), shape.word_bits)
}

/// The magnitude of a number in units of `2^unit`, rounded down, where the unit is not far below the number.
fn leading_bits(bits: i64, unit: i32) -> i64 {
    let (magnitude, exponent) = decode(bits);
    match unit - exponent {
        right @ 0..64 => (magnitude >> right) as i64,
        left @ -63..0 => (magnitude << -left) as i64,
        _ => 0,
    }
}

/// The largest column sum of every line in units of its own, of which `scale` is the reciprocal; each magnitude is rounded up. With `real`, the
/// imaginary parts are zero, and only rounded up.
#[inline(always)]
fn largest_sum<const L: usize, V: Vectors<L>>(
    points: &[Point<L>],
    grid: Grid,
    shape: Columns,
    scale: V::Words,
    real: bool,
) -> V::Words {
    let mut largest = V::splat(0);
    for number in 0..shape.columns {
        let (mut sum, mut sum_im) = (V::splat(0), V::splat(0));
        let (step, count) = column_step(grid, shape.columns);
        for [re, im] in points[number..].iter().step_by(step).take(count) {
            sum = V::add(sum, V::floor_magnitude(V::load(re), scale));
            if !real {
                sum_im = V::add(sum_im, V::floor_magnitude(V::load(im), scale));
            }
        }
        // One for every magnitude, which rounds it up, less what the vectors add to those that are summed.
        let count = count as i64;
        let summed = if real { count } else { 2 * count };
        let rest = V::splat((2 * count).wrapping_sub(summed.wrapping_mul(V::FLOOR_BIAS)));
        largest = V::maximum(largest, V::add(V::add(sum, sum_im), rest));
    }
    largest
}

/// The same for numbers near the ends of the double-precision range, lane by lane in integers.
#[cold]
#[inline(never)]
fn quantise_extremes<const L: usize>(
    points: &mut [Point<L>],
    grid: Grid,
    shape: Columns,
    keep: [bool; L],
    unit: [i32; L],
    exponents: &mut [i32; L],
) {
    // Of lines that are not kept no unit is known, and their numbers could be of any size in another.
    for lane in (0..L).filter(|&lane| keep[lane]) {
        // The scale is that of the largest number, so no shift is to the left by more than the word has room for.
        let floor = |bits: i64| leading_bits(bits, unit[lane]);
        let mut largest = 0;
        for number in 0..shape.columns {
            let sum = column(grid, shape.columns, number)
                .map(|place| floor(points[place][0][lane]) + floor(points[place][1][lane]) + 2)
                .sum();
            largest = largest.max(sum);
        }
        exponents[lane] = exponent(i64::from(unit[lane]), largest, shape.word_bits);
    }
    coarsen(points, grid, shape, keep, exponents);
    for lane in 0..L {
        for place in places(grid) {
            for row in &mut points[place] {
                row[lane] = if keep[lane] {
                    round_to_unit(row[lane], exponents[lane])
                } else {
                    0
                };
            }
        }
    }
}

/// Brings words with exponents of their own, element by element, under one exponent a line.
#[inline(always)]
pub(crate) fn quantise_words<const L: usize, V: Vectors<L>>(
    points: &mut [Point<L>],
    given: &[Row<L>],
    grid: Grid,
    shape: Columns,
) -> [i32; L] {
    const NOTHING: i64 = -100_000;
    let magnitude = inlined(
        #[inline(always)]
        |x: V::Words| {
            let sign = V::shift_right(x, 63);
            V::subtract(V::xor(x, sign), sign)
        },
    );
    let zero = V::splat(0);
    let mut scale = V::splat(NOTHING);
    for place in places(grid) {
        let [re, im] = &points[place];
        // Or-ed together they are as long as the longer one.
        let both = V::or(magnitude(V::load(re)), magnitude(V::load(im)));
        let length = V::subtract(V::splat(64), V::leading_zeros(both));
        let found = V::add(V::load(&given[place]), length);
        // All ones unless both parts are zero.
        let some = V::shift_right(V::or(both, V::subtract(zero, both)), 63);
        let found = V::add(
            V::and(V::subtract(found, V::splat(NOTHING)), some),
            V::splat(NOTHING),
        );
        scale = V::maximum(scale, found);
    }
    let unit = V::subtract(scale, V::splat(i64::from(SUM_BITS)));
    let mut largest = zero;
    for number in 0..shape.columns {
        let mut sum = zero;
        for place in column(grid, shape.columns, number) {
            let right = V::subtract(unit, V::load(&given[place]));
            let left = V::subtract(zero, right);
            for row in &points[place] {
                let magnitude = magnitude(V::load(row));
                // One of the shifts gives 0, or both the same.
                let floor = V::or(
                    V::shift_right_each(magnitude, right),
                    V::shift_left_each(magnitude, left),
                );
                sum = V::add(sum, V::add(floor, V::splat(1)));
            }
        }
        largest = V::maximum(largest, sum);
    }
    let (scale, largest) = (lanes_of::<L, V>(scale), lanes_of::<L, V>(largest));
    let keep: [bool; L] = std::array::from_fn(|lane| scale[lane] != NOTHING);
    let exponents: [i32; L] = std::array::from_fn(|lane| {
        if keep[lane] {
            let unit = scale[lane] - i64::from(SUM_BITS);
            exponent(unit, largest[lane], shape.word_bits)
        } else {
            0
        }
    });
    let unit = from_lanes::<L, V>(|lane| i64::from(exponents[lane]));
    let one = V::splat(1);
    for place in places(grid) {
        let left = V::subtract(V::load(&given[place]), unit);
        let right = V::subtract(zero, left);
        let rounding = V::shift_left_each(one, V::subtract(right, one));
        for row in &mut points[place] {
            let x = V::load(row);
            let (sign, magnitude) = (V::shift_right(x, 63), magnitude(x));
            let word = V::or(
                V::shift_left_each(magnitude, left),
                V::shift_right_each(V::add(magnitude, rounding), right),
            );
            V::store(V::subtract(V::xor(word, sign), sign), row);
        }
    }
    debug_assert!(
        within_head_room::<L>(grid, shape, size_in(points)),
        "head-room: a column's words add up to more than the word"
    );
    exponents
}

/// Whether the magnitudes of every column add up to at most the word, but for their rounding. `size` is the sum of the
/// magnitudes of both parts, by place and lane.
pub(crate) fn within_head_room<const L: usize>(
    grid: Grid,
    shape: Columns,
    size: impl Fn(usize, usize) -> u128,
) -> bool {
    (0..shape.columns).all(|number| {
        (0..L).all(|lane| {
            let places = || column(grid, shape.columns, number);
            let sum: u128 = places().map(|place| size(place, lane)).sum();
            sum <= (1 << shape.word_bits) + places().count() as u128
        })
    })
}

fn size_in<const L: usize>(points: &[Point<L>]) -> impl Fn(usize, usize) -> u128 {
    |place, lane| {
        let size = |row: &Row<L>| u128::from(row[lane].unsigned_abs());
        points[place].iter().map(size).sum()
    }
}

/// One complex number as a word of `word_bits` bits with an exponent of its own.
#[inline(always)]
pub fn word_of(value: Complex<f64>, word_bits: u32) -> (Complex<i64>, i32) {
    let (re, im) = (value.re.to_bits() as i64, value.im.to_bits() as i64);
    let largest = (re & i64::MAX).max(im & i64::MAX);
    if largest == 0 {
        return (Complex::new(0, 0), 0);
    }
    let unit = scale(largest) - word_bits as i32;
    let word = |bits| round_to_unit(bits, unit);
    (Complex::new(word(re), word(im)), unit)
}

/// A power of two as the bits of a single-precision number, where it is one that is no subnormal number.
pub(crate) fn single_power_bits(exponent: i32) -> Option<i32> {
    (-126..=127)
        .contains(&exponent)
        .then(|| (exponent + 127) << 23)
}

/// The same of every line, for both parts.
pub(crate) fn single_scales<const L: usize>(exponents: [i32; L]) -> Option<HalfRow<L>> {
    let mut scales = [[0; 2]; L];
    for (scale, exponent) in scales.iter_mut().zip(exponents) {
        *scale = [single_power_bits(exponent)?; 2];
    }
    Some(scales)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;
    use ozfft_testkit::oracle::inputs::Generator;

    #[test]
    fn a_line_that_is_not_finite_beside_an_extreme_one_does_not_overflow_a_sum_that_nobody_reads() {
        let bits = |x: f64| x.to_bits() as i64;
        let large = f64::MAX.sqrt().sqrt();
        let mut points: Vec<Point<2>> = vec![
            [[bits(1e-300), bits(f64::NAN)], [0, bits(2f64.powi(62))]],
            [[bits(3e-300), bits(2f64.powi(62))], [0, bits(large)]],
        ];
        let grid = Grid {
            rows: 1,
            columns: 2,
            pitch: 2,
        };
        let shape = Columns {
            columns: 1,
            word_bits: 61,
            relative_unit: None,
        };
        let found = quantise_floats::<2, Portable>(&mut points, grid, shape);
        assert!(!found.properties[0].not_finite && found.properties[1].not_finite);
        assert_eq!(found.exponents[1], 0);
        assert!(points.iter().flatten().all(|part| part[1] == 0));
        assert!(points[0][0][0] > 0 && points[1][0][0] > points[0][0][0]);
    }

    fn quantised(values: &[f64], columns: usize) -> (Vec<i64>, Quantised<1>) {
        let mut points: Vec<Point<1>> =
            values.iter().map(|x| [[x.to_bits() as i64], [0]]).collect();
        let shape = Columns {
            columns,
            word_bits: 61,
            relative_unit: None,
        };
        let grid = Grid {
            rows: values.len() / columns,
            columns,
            pitch: columns,
        };
        let outcome = quantise_floats::<1, Portable>(&mut points, grid, shape);
        (points.iter().map(|point| point[0][0]).collect(), outcome)
    }

    fn line(values: &[f64], columns: usize) -> (Vec<i64>, i32) {
        let (words, outcome) = quantised(values, columns);
        assert!(!outcome.properties[0].not_finite);
        (words, outcome.exponents[0])
    }

    #[test]
    fn column_sums_stay_below_the_word_and_use_its_bits() {
        for scale in [0, 1000, -1000, -1060] {
            let unit = 2f64.powi(scale.max(-1022)) * 2f64.powi(scale - scale.max(-1022));
            let (words, exponent) = line(&[unit, unit / 3.0, -unit / 7.0, unit / 5.0], 2);
            let sums = [words[0].abs() + words[2].abs(), words[1] + words[3]];
            let largest = *sums.iter().max().unwrap();
            assert!(largest <= (1 << 61) + 4, "sum {largest} at scale {scale}");
            if scale > -1000 {
                assert!(largest > 1 << 59, "sum {largest} at scale {scale}");
                let back =
                    words[0] as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
                assert_eq!(back, unit);
            }
        }
    }

    // Lines that have both parts and no extremes choose their exponents in vectors: by the definition, in exact floating-point steps.
    #[test]
    fn ordinary_lines_have_the_exponents_and_words_of_the_definition() {
        const SEED: u64 = 0x5172_ab04;
        println!("seed {SEED:#x}");
        let mut generator = Generator::new(SEED);
        for round in 0..300 {
            let (rows, columns) = (1 + generator.below(9), 1 + generator.below(9));
            let power = |exponent: i32| f64::from_bits(power_bits(exponent) as u64);
            let scales: [i32; 2] = [0, 1].map(|_| generator.below(1500) as i32 - 750);
            let mut number = |lane: usize| {
                let exponent = scales[lane] - generator.below(70) as i32;
                generator.uniform() * power(exponent)
            };
            let line: Vec<[[f64; 2]; 2]> = (0..rows * columns)
                .map(|_| [0, 1].map(|_| [number(0), number(1)]))
                .collect();
            let mut points: Vec<Point<2>> = line
                .iter()
                .map(|point| point.map(|row| row.map(|x| x.to_bits() as i64)))
                .collect();
            let grid = Grid {
                rows,
                columns,
                pitch: columns,
            };
            let word_bits = [61, 45, 29][round % 3];
            let shape = Columns {
                columns,
                word_bits,
                relative_unit: None,
            };
            let found = quantise_floats::<2, Portable>(&mut points, grid, shape);
            assert_eq!(found.symmetry, InputSymmetry::Complex);
            for lane in 0..2 {
                let numbers = |place: usize| [line[place][0][lane], line[place][1][lane]];
                let all = (0..rows * columns).flat_map(numbers);
                let largest = all.fold(0.0, |largest: f64, x| largest.max(x.abs()));
                let above = (-1000..1000).find(|&e| largest < power(e)).expect("finite");
                let unit = above - 21;
                let column = |number: usize| (0..rows).map(move |i| number + i * columns);
                let sums = (0..columns).map(|number| {
                    let numbers = column(number).flat_map(numbers);
                    numbers
                        .map(|x| (x.abs() * power(-unit)).floor() + 1.0)
                        .sum()
                });
                let sum = sums.fold(0.0, f64::max);
                let bits = (0..64)
                    .find(|&bits| sum < power(bits))
                    .expect("not so many");
                let exponent = unit + bits - word_bits as i32;
                assert_eq!(
                    found.exponents[lane], exponent,
                    "round {round}, lane {lane}"
                );
                for (place, point) in points.iter().enumerate() {
                    // Exact products, and halves away from zero.
                    let right = numbers(place).map(|x| (x * power(-exponent)).round() as i64);
                    assert_eq!([point[0][lane], point[1][lane]], right, "round {round}");
                }
            }
        }
    }

    #[test]
    fn a_spike_keeps_the_bits_of_small_values() {
        let mut values = vec![1e-15; 1024];
        values[5] = 1.0;
        let (words, exponent) = line(&values, 32);
        assert!(exponent <= -59);
        let error = words[0] as f64 * 2f64.powi(exponent) - 1e-15;
        assert!(error.abs() <= 2f64.powi(exponent - 1));
    }

    #[test]
    fn zero_and_nonfinite_lines_are_distinguished() {
        assert_eq!(line(&[0.0, -0.0, 0.0], 1), (vec![0, 0, 0], 0));
        let (words, outcome) = quantised(&[1.0, f64::INFINITY], 1);
        assert!(outcome.properties[0].not_finite);
        assert_eq!(words, [0, 0]);
    }

    #[test]
    fn halves_round_away_from_zero() {
        let word = |x: f64, unit| round_to_unit(x.to_bits() as i64, unit);
        assert_eq!(word(1.5, 0), 2);
        assert_eq!(word(-1.5, 0), -2);
        assert_eq!(word(5.0, 2), 1);
        assert_eq!(word(6.0, 2), 2);
        assert_eq!(word(1.0, 500), 0);
        let scaled = |word: i64, given: i64| {
            // A large companion fixes the unit: its word has 61 bits.
            let mut points = [[[1 << 60], [0]], [[word], [0]]];
            let grid = Grid {
                rows: 1,
                columns: 2,
                pitch: 2,
            };
            let shape = Columns {
                columns: 2,
                word_bits: 61,
                relative_unit: None,
            };
            quantise_words::<1, Portable>(&mut points, &[[0], [given]], grid, shape);
            points[1][0][0]
        };
        assert_eq!(scaled(3, 0), 3);
        assert_eq!(scaled(-3, -1), -2);
        assert_eq!(scaled(i64::MAX, -63), 1);
        assert_eq!(scaled(i64::MAX, -64), 0);
        assert_eq!(scaled(5, 2), 20);
    }
}
