//! The spectrum in double-double arithmetic: two steps of short transforms, eight side by side in the lanes of vectors.
//!
//! The chirp is even, and so is its spectrum: half of the columns are transformed, and half of the rows. Sums, products and fused
//! multiply-adds are IEEE's, written in one order, so that every processor gets the same bits, vector instructions or not.

use super::chirp_roots;
use crate::parallel;
use crate::recipe::factor::prime_factors;
use crate::roots::root_table::RootTable;
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::ops::{Add, Mul, Neg, Sub};

/// Transforms side by side.
const LANES: usize = 8;

/// One float of each transform: a vector register, or two.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Lanes([f64; LANES]);

impl Lanes {
    #[inline(always)]
    fn mul_add(self, factor: Lanes, term: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| {
            self.0[l].mul_add(factor.0[l], term.0[l])
        }))
    }
}

impl Add for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn add(self, other: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| self.0[l] + other.0[l]))
    }
}

impl Sub for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn sub(self, other: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| self.0[l] - other.0[l]))
    }
}

impl Mul for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn mul(self, other: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| self.0[l] * other.0[l]))
    }
}

impl Neg for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn neg(self) -> Lanes {
        Lanes(self.0.map(|x| -x))
    }
}

/// A number as the sum of two floats, the second at most half a unit in the last place of the first; or one of each transform.
#[derive(Debug, Clone, Copy, Default)]
struct DoubleDouble<T> {
    high: T,
    low: T,
}

impl DoubleDouble<f64> {
    /// `units / 2^126` for a magnitude of at most 1, within 2^-104.
    #[inline(always)]
    fn from_units(units: i128) -> Self {
        const LOW_BITS: u32 = 74;
        const HIGH_UNIT: f64 = 1.0 / (1u64 << 52) as f64;
        const LOW_UNIT: f64 = HIGH_UNIT / (1u64 << 63) as f64;
        let high = (units >> LOW_BITS) as i64 as f64 * HIGH_UNIT;
        let low = (units & ((1 << LOW_BITS) - 1)) >> (LOW_BITS - 63);
        let low = low as i64 as f64 * LOW_UNIT;
        let sum = high + low;
        DoubleDouble {
            high: sum,
            low: low - (sum - high),
        }
    }

    /// In units of 2^-96, within three, for magnitudes below 2^30.
    #[inline(always)]
    fn units_of_96_bits(self) -> i128 {
        // In two integers; the difference between a float and the first of them is exact.
        let units = |x: f64| {
            const FIRST: f64 = (1u64 << 32) as f64;
            const SECOND: f64 = FIRST * (1u64 << 62) as f64;
            let first = (x * FIRST) as i64;
            let second = ((x - first as f64 / FIRST) * SECOND) as i64;
            (i128::from(first) << 64) + (i128::from(second) << 2)
        };
        units(self.high) + units(self.low)
    }

    #[inline(always)]
    fn in_all_lanes(self) -> DoubleDouble<Lanes> {
        DoubleDouble {
            high: Lanes([self.high; LANES]),
            low: Lanes([self.low; LANES]),
        }
    }
}

impl DoubleDouble<Lanes> {
    /// Within 2^-104 of the sum of magnitudes.
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let rest = (self.high - (sum - part)) + (other.high - part);
        Self::joined(sum, rest + (self.low + other.low))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        let difference = self.high - other.high;
        let part = difference - self.high;
        let rest = (self.high - (difference - part)) - (other.high + part);
        Self::joined(difference, rest + (self.low - other.low))
    }

    /// Within 2^-102 of the product.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let product = self.high * other.high;
        let rest = self.high.mul_add(other.high, -product);
        let cross = self.high * other.low + self.low * other.high;
        Self::joined(product, rest + cross)
    }

    /// The sum of numbers and of much smaller ones.
    #[inline(always)]
    fn joined(large: Lanes, small: Lanes) -> Self {
        let high = large + small;
        DoubleDouble {
            high,
            low: small - (high - large),
        }
    }
}

/// One complex number; or one of each transform.
type Point = Complex<DoubleDouble<f64>>;
type Points = Complex<DoubleDouble<Lanes>>;

#[inline(always)]
fn sum(a: Points, b: Points) -> Points {
    Complex::new(a.re.plus(b.re), a.im.plus(b.im))
}

#[inline(always)]
fn difference(a: Points, b: Points) -> Points {
    Complex::new(a.re.minus(b.re), a.im.minus(b.im))
}

#[inline(always)]
fn product(a: Points, b: Points) -> Points {
    Complex::new(
        a.re.times(b.re).minus(a.im.times(b.im)),
        a.re.times(b.im).plus(a.im.times(b.re)),
    )
}

#[inline(always)]
fn scaled(z: Points, by: DoubleDouble<Lanes>) -> Points {
    Complex::new(z.re.times(by), z.im.times(by))
}

#[inline(always)]
fn in_all_lanes(z: Point) -> Points {
    Complex::new(z.re.in_all_lanes(), z.im.in_all_lanes())
}

#[inline(always)]
fn get(points: &Points, lane: usize) -> Point {
    let number = |part: &DoubleDouble<Lanes>| DoubleDouble {
        high: part.high.0[lane],
        low: part.low.0[lane],
    };
    Complex::new(number(&points.re), number(&points.im))
}

#[inline(always)]
fn set(points: &mut Points, lane: usize, value: Point) {
    points.re.high.0[lane] = value.re.high;
    points.re.low.0[lane] = value.re.low;
    points.im.high.0[lane] = value.im.high;
    points.im.low.0[lane] = value.im.low;
}

/// A short transform of all lanes.
struct Transform {
    /// The radices, the innermost first.
    radices: Vec<usize>,
    /// Where input j stands before the first level.
    places: Vec<usize>,
    /// `exp(-2πi p/length)`.
    roots: Vec<Point>,
}

impl Transform {
    fn new(length: usize) -> Self {
        let mut radices = prime_factors(length);
        // Two levels of radix 2 are one of radix 4, which reads and writes once.
        let twos = radices.iter().filter(|&&radix| radix == 2).count();
        radices.retain(|&radix| radix != 2);
        radices.extend((0..twos % 2).map(|_| 2));
        radices.extend((0..twos / 2).map(|_| 4));
        let place = |j: usize| {
            let outermost_first = radices.iter().rev();
            let (place, ..) = outermost_first.fold((0, j, length), |(place, j, length), radix| {
                let part = length / radix;
                (place + j % radix * part, j / radix, part)
            });
            place
        };
        let table = RootTable::new(length as u64);
        Transform {
            places: (0..length).map(place).collect(),
            roots: (0..length).map(|p| root(&table, p as u64)).collect(),
            radices,
        }
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    /// Transforms what stands at `places`, into natural order, with factors before and after.
    fn run(&self, data: &mut [Points], factors: &Factors) {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has these instructions.
                return unsafe { self.run_avx512(data, factors) };
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the processor has these instructions.
                return unsafe { self.run_avx2(data, factors) };
            }
        }
        self.levels(data, factors);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn run_avx512(&self, data: &mut [Points], factors: &Factors) {
        self.levels(data, factors);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn run_avx2(&self, data: &mut [Points], factors: &Factors) {
        self.levels(data, factors);
    }

    #[inline(always)]
    fn levels(&self, data: &mut [Points], factors: &Factors) {
        let (last, before) = (self.len() - factors.last_inputs.len(), &factors.last_inputs);
        for (&place, &factor) in self.places[last..].iter().zip(before) {
            data[place] = product(data[place], factor);
        }
        let mut part = 1;
        for &radix in &self.radices {
            for group in data.chunks_exact_mut(part * radix) {
                match radix {
                    2 => self.radix_2(group),
                    4 => self.radix_4(group),
                    _ => self.radix_odd(group, radix),
                }
            }
            part *= radix;
        }
        let (coarse, fine) = &factors.outputs;
        for (chunk, &coarse) in data.chunks_mut(fine.len().max(1)).zip(coarse) {
            for (points, &fine) in chunk.iter_mut().zip(fine) {
                *points = product(*points, product(coarse, fine));
            }
        }
    }

    #[inline(always)]
    fn radix_2(&self, group: &mut [Points]) {
        let stride = self.len() / group.len();
        let (low, high) = group.split_at_mut(group.len() / 2);
        for (k, (low, high)) in low.iter_mut().zip(high).enumerate() {
            let rotated = product(*high, in_all_lanes(self.roots[k * stride]));
            (*low, *high) = (sum(*low, rotated), difference(*low, rotated));
        }
    }

    #[inline(always)]
    fn radix_4(&self, group: &mut [Points]) {
        let part = group.len() / 4;
        let stride = self.len() / group.len();
        let (first, rest) = group.split_at_mut(part);
        let (second, rest) = rest.split_at_mut(part);
        let (third, fourth) = rest.split_at_mut(part);
        let quarters = first.iter_mut().zip(second).zip(third).zip(fourth);
        for (k, (((a, b), c), d)) in quarters.enumerate() {
            let root = |s: usize| in_all_lanes(self.roots[s * k * stride]);
            let (z0, z1) = (*a, product(*b, root(1)));
            let (z2, z3) = (product(*c, root(2)), product(*d, root(3)));
            let (even, odd) = (sum(z0, z2), sum(z1, z3));
            *a = sum(even, odd);
            *c = difference(even, odd);
            let (even, odd) = (difference(z0, z2), difference(z1, z3));
            // -i(x + iy) = y - ix.
            *b = Complex::new(even.re.plus(odd.im), even.im.minus(odd.re));
            *d = Complex::new(even.re.minus(odd.im), even.im.plus(odd.re));
        }
    }

    /// Inputs and outputs by pairs, whose roots are conjugate.
    #[inline(always)]
    fn radix_odd(&self, group: &mut [Points], radix: usize) {
        let part = group.len() / radix;
        let stride = self.len() / group.len();
        let half = radix / 2;
        let mut pairs = vec![(Points::default(), Points::default()); half];
        for k in 0..part {
            let first = group[k];
            let mut total = first;
            for (s, pair) in (1..).zip(&mut pairs) {
                let (root_a, root_b) = (s * k * stride, (radix - s) * k * stride);
                let a = product(group[s * part + k], in_all_lanes(self.roots[root_a]));
                let b = product(
                    group[(radix - s) * part + k],
                    in_all_lanes(self.roots[root_b]),
                );
                *pair = (sum(a, b), difference(a, b));
                total = sum(total, pair.0);
            }
            group[k] = total;
            for q in 1..=half {
                let (mut even, mut odd) = (first, Points::default());
                for (s, pair) in (1..).zip(&pairs) {
                    let root = in_all_lanes(self.roots[s * q % radix * (self.len() / radix)]);
                    even = sum(even, scaled(pair.0, root.re));
                    odd = sum(odd, scaled(pair.1, root.im));
                }
                // i(x + iy) = -y + ix.
                group[q * part + k] = Complex::new(even.re.minus(odd.im), even.im.plus(odd.re));
                group[(radix - q) * part + k] =
                    Complex::new(even.re.plus(odd.im), even.im.minus(odd.re));
            }
        }
    }
}

/// Factors of a transform's inputs and outputs.
#[derive(Default)]
struct Factors {
    /// Those of the last inputs; the others are 1.
    last_inputs: Vec<Points>,
    /// Coarse and fine: that of output `i·fine.len() + j` is `coarse[i]·fine[j]`. None for 1.
    outputs: (Vec<Points>, Vec<Points>),
}

/// `exp(2πi p/order)`.
#[inline]
fn power(roots: &RootTable, p: u64) -> Point {
    let Complex { re, im } = roots.power(p);
    Complex::new(DoubleDouble::from_units(re), DoubleDouble::from_units(im))
}

/// `exp(-2πi p/order)`.
#[inline]
fn root(roots: &RootTable, p: u64) -> Point {
    let Complex { re, im } = roots.power(p);
    Complex::new(DoubleDouble::from_units(re), DoubleDouble::from_units(-im))
}

/// The factors of `m` in two products near to each other.
fn two_factors(m: usize) -> (usize, usize) {
    let largest_first = prime_factors(m).into_iter().rev();
    largest_first.fold((1, 1), |(a, b), factor| match a <= b {
        true => (a * factor, b),
        false => (a, b * factor),
    })
}

/// The results of `work` for the blocks of lanes that contain lines 0 to half of `lines`.
fn for_blocks(lines: usize, work: impl Fn(usize) -> Vec<Points> + Send + Sync) -> Vec<Vec<Points>> {
    const LEAST: usize = 4;
    parallel::collect(lines / 2 / LANES + 1, LEAST, work)
}

/// Points 0 to m/2 of the spectrum, in units of 2^-96.
pub(super) fn half_spectrum(n: usize, m: usize) -> Vec<Complex<i128>> {
    let (rows, columns) = two_factors(m);
    let (along_columns, along_rows) = (Transform::new(rows), Transform::new(columns));
    let chirp: Vec<Point> = chirp_roots(n, power);
    let table = RootTable::new(m as u64);

    // Point j1·columns + j2 of the chirp is row j1 of column j2. Columns j2 and columns - j2 have the same numbers in opposite
    // order, so that half of them are transformed.
    let column_block = |block: usize| -> Vec<Points> {
        let _environment = DefaultEnvironment::enter();
        let first = block * LANES;
        let lanes = LANES.min(columns - first);
        let mut data = vec![Points::default(); rows];
        for (row, &place) in along_columns.places.iter().enumerate() {
            for lane in 0..lanes {
                let j = row * columns + first + lane;
                if let Some(&value) = chirp.get(j.min(m - j)) {
                    set(&mut data[place], lane, value);
                }
            }
        }
        // Row k of column j2 times exp(-2πi k·j2/m).
        let fine = rows.isqrt().next_power_of_two();
        let twiddles = |rows: usize, step: usize| -> Vec<Points> {
            (0..rows)
                .map(|k| {
                    let mut points = Points::default();
                    for lane in 0..lanes {
                        let place = k * step * (first + lane) % m;
                        set(&mut points, lane, root(&table, place as u64));
                    }
                    points
                })
                .collect()
        };
        let factors = Factors {
            outputs: (twiddles(rows.div_ceil(fine), fine), twiddles(fine, 1)),
            ..Factors::default()
        };
        along_columns.run(&mut data, &factors);
        data
    };
    let transformed = for_blocks(columns, column_block);

    // Column c of row k is column columns - c of row rows - k times a root. Row 0 is its own mirror image, without a root.
    let roots_of_mirrored = |first_lane: usize| Factors {
        last_inputs: along_rows.roots[columns / 2 + 1..]
            .iter()
            .map(|&root| {
                let mut points = in_all_lanes(root);
                let one = along_rows.roots[0];
                (0..first_lane).for_each(|lane| set(&mut points, lane, one));
                points
            })
            .collect(),
        ..Factors::default()
    };
    let (first_block, other_blocks) = (roots_of_mirrored(1), roots_of_mirrored(0));
    let row_block = |block: usize| -> Vec<Points> {
        let _environment = DefaultEnvironment::enter();
        let first = block * LANES;
        let mut data = vec![Points::default(); columns];
        for (column, &place) in along_rows.places.iter().enumerate() {
            let mirrored = column > columns / 2;
            let source = if mirrored { columns - column } else { column };
            for lane in 0..LANES.min(rows - first) {
                let row = first + lane;
                let row = if mirrored && row > 0 { rows - row } else { row };
                let points = &transformed[source / LANES][row];
                set(&mut data[place], lane, get(points, source % LANES));
            }
        }
        let factors = if block == 0 {
            &first_block
        } else {
            &other_blocks
        };
        along_rows.run(&mut data, factors);
        data
    };
    let spectrum = for_blocks(rows, row_block);

    let point = |k: usize| {
        let (row, column) = (k % rows, k / rows);
        // Point k is that of m - k.
        let (row, column) = match row <= rows / 2 {
            true => (row, column),
            false => (rows - row, columns - 1 - column),
        };
        let value = get(&spectrum[row / LANES][column], row % LANES);
        Complex::new(value.re.units_of_96_bits(), value.im.units_of_96_bits())
    };
    parallel::collect(m / 2 + 1, super::LEAST_PARALLEL, point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_instructions_give_the_bits_of_plain_code() {
        for length in [1, 2, 12, 32, 45, 77, 128] {
            let transform = Transform::new(length);
            let table = RootTable::new(1009);
            let mut data = vec![Points::default(); length];
            for (j, points) in data.iter_mut().enumerate() {
                for lane in 0..LANES {
                    let place = (7 * j * j + 131 * lane + j * lane) % 1009;
                    set(points, lane, root(&table, place as u64));
                }
            }
            let factors = Factors {
                last_inputs: data[length / 2 + 1..].to_vec(),
                outputs: (data.clone(), data[..1].to_vec()),
            };
            let mut plain = data.clone();
            transform.run(&mut data, &factors);
            transform.levels(&mut plain, &factors);
            assert_eq!(format!("{data:?}"), format!("{plain:?}"), "length {length}");
        }
    }

    #[test]
    fn conversions_keep_their_bounds() {
        let table = RootTable::new(997);
        for p in 0..997 {
            let units = table.power(p).re;
            let number = DoubleDouble::from_units(units);
            assert_eq!(number.high + number.low, number.high);
            // One unit of 2^-96 is 2^30 of 2^-126; 2^-104 is less than it.
            assert!((number.units_of_96_bits() << 30).abs_diff(units) <= 4 << 30);
        }
    }
}
