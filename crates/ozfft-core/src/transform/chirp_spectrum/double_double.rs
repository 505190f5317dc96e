//! The spectrum in double-double arithmetic: two steps of short transforms, eight side by side in the lanes of vectors.
//!
//! The chirp is even, and so is its spectrum: half of the columns are transformed, and half of the rows. Sums, products and fused
//! multiply-adds are IEEE's, written in one order, so that every processor gets the same bits, vector instructions or not.

use super::chirp_roots;
use crate::parallel;
use crate::recipe::factor::prime_factors;
use crate::roots::root_table::RootTable;
#[cfg(vector_unit)]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Floats, Portable, Row, Vectors, inlined};
use fallible_memory::collected;
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::marker::PhantomData;

/// Transforms side by side.
const LANES: usize = 8;

/// One float of each transform, as bits: a vector register, or two.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Lanes(Row<LANES>);

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
            high: Lanes([self.high.to_bits() as i64; LANES]),
            low: Lanes([self.low.to_bits() as i64; LANES]),
        }
    }
}

/// One complex number; or one of each transform, in memory.
type Point = Complex<DoubleDouble<f64>>;
type Points = Complex<DoubleDouble<Lanes>>;

#[inline(always)]
fn in_all_lanes(z: Point) -> Points {
    Complex::new(z.re.in_all_lanes(), z.im.in_all_lanes())
}

#[inline(always)]
fn get(points: &Points, lane: usize) -> Point {
    let float = |lanes: &Lanes| f64::from_bits(lanes.0[lane] as u64);
    let number = |part: &DoubleDouble<Lanes>| DoubleDouble {
        high: float(&part.high),
        low: float(&part.low),
    };
    Complex::new(number(&points.re), number(&points.im))
}

#[inline(always)]
fn set(points: &mut Points, lane: usize, value: Point) {
    points.re.high.0[lane] = value.re.high.to_bits() as i64;
    points.re.low.0[lane] = value.re.low.to_bits() as i64;
    points.im.high.0[lane] = value.im.high.to_bits() as i64;
    points.im.low.0[lane] = value.im.low.to_bits() as i64;
}

/// Arithmetic on some of the lanes, with the instructions of `V`.
///
/// Numbers are in registers from the reading of a butterfly to its writing: an operation is one instruction.
#[derive(Clone, Copy)]
struct Arithmetic<const L: usize, V> {
    /// The first of its lanes.
    first: usize,
    instructions: PhantomData<V>,
}

type Number<const L: usize, V> = DoubleDouble<<V as Vectors<L>>::Words>;
type ComplexNumber<const L: usize, V> = Complex<Number<L, V>>;

impl<const L: usize, V: Floats<L>> Arithmetic<L, V> {
    #[inline(always)]
    fn new(first: usize) -> Self {
        Arithmetic {
            first,
            instructions: PhantomData,
        }
    }

    #[inline(always)]
    fn load(self, points: &Points) -> ComplexNumber<L, V> {
        let float = inlined(
            #[inline(always)]
            |lanes: &Lanes| match lanes.0[self.first..].first_chunk() {
                Some(row) => V::load(row),
                None => unreachable!("there are so many lanes"),
            },
        );
        let number = inlined(
            #[inline(always)]
            |part: &DoubleDouble<Lanes>| DoubleDouble {
                high: float(&part.high),
                low: float(&part.low),
            },
        );
        Complex::new(number(&points.re), number(&points.im))
    }

    #[inline(always)]
    fn store(self, z: ComplexNumber<L, V>, points: &mut Points) {
        let store = inlined(
            #[inline(always)]
            |float: V::Words, lanes: &mut Lanes| match lanes.0[self.first..].first_chunk_mut() {
                Some(row) => V::store(float, row),
                None => unreachable!("there are so many lanes"),
            },
        );
        store(z.re.high, &mut points.re.high);
        store(z.re.low, &mut points.re.low);
        store(z.im.high, &mut points.im.high);
        store(z.im.low, &mut points.im.low);
    }

    /// The same number in all lanes.
    #[inline(always)]
    fn splat(self, z: &Point) -> ComplexNumber<L, V> {
        let number = inlined(
            #[inline(always)]
            |x: &DoubleDouble<f64>| DoubleDouble {
                high: V::splat(x.high.to_bits() as i64),
                low: V::splat(x.low.to_bits() as i64),
            },
        );
        Complex::new(number(&z.re), number(&z.im))
    }

    /// Within 2^-104 of the sum of magnitudes.
    #[inline(always)]
    fn plus(self, a: Number<L, V>, b: Number<L, V>) -> Number<L, V> {
        let sum = V::add_floats(a.high, b.high);
        let part = V::subtract_floats(sum, a.high);
        let rest = V::add_floats(
            V::subtract_floats(a.high, V::subtract_floats(sum, part)),
            V::subtract_floats(b.high, part),
        );
        self.joined(sum, V::add_floats(rest, V::add_floats(a.low, b.low)))
    }

    #[inline(always)]
    fn minus(self, a: Number<L, V>, b: Number<L, V>) -> Number<L, V> {
        let difference = V::subtract_floats(a.high, b.high);
        let part = V::subtract_floats(difference, a.high);
        let rest = V::subtract_floats(
            V::subtract_floats(a.high, V::subtract_floats(difference, part)),
            V::add_floats(b.high, part),
        );
        self.joined(
            difference,
            V::add_floats(rest, V::subtract_floats(a.low, b.low)),
        )
    }

    /// Within 2^-102 of the product.
    #[inline(always)]
    fn times(self, a: Number<L, V>, b: Number<L, V>) -> Number<L, V> {
        let product = V::multiply_floats(a.high, b.high);
        let rest = V::fused_multiply_subtract(a.high, b.high, product);
        let cross = V::add_floats(
            V::multiply_floats(a.high, b.low),
            V::multiply_floats(a.low, b.high),
        );
        self.joined(product, V::add_floats(rest, cross))
    }

    /// The sum of numbers and of much smaller ones.
    #[inline(always)]
    fn joined(self, large: V::Words, small: V::Words) -> Number<L, V> {
        let high = V::add_floats(large, small);
        DoubleDouble {
            high,
            low: V::subtract_floats(small, V::subtract_floats(high, large)),
        }
    }

    #[inline(always)]
    fn sum(self, a: ComplexNumber<L, V>, b: ComplexNumber<L, V>) -> ComplexNumber<L, V> {
        Complex::new(self.plus(a.re, b.re), self.plus(a.im, b.im))
    }

    #[inline(always)]
    fn difference(self, a: ComplexNumber<L, V>, b: ComplexNumber<L, V>) -> ComplexNumber<L, V> {
        Complex::new(self.minus(a.re, b.re), self.minus(a.im, b.im))
    }

    #[inline(always)]
    fn product(self, a: ComplexNumber<L, V>, b: ComplexNumber<L, V>) -> ComplexNumber<L, V> {
        Complex::new(
            self.minus(self.times(a.re, b.re), self.times(a.im, b.im)),
            self.plus(self.times(a.re, b.im), self.times(a.im, b.re)),
        )
    }

    #[inline(always)]
    fn scaled(self, z: ComplexNumber<L, V>, by: Number<L, V>) -> ComplexNumber<L, V> {
        Complex::new(self.times(z.re, by), self.times(z.im, by))
    }

    /// `a + ib`.
    #[inline(always)]
    fn plus_i(self, a: ComplexNumber<L, V>, b: ComplexNumber<L, V>) -> ComplexNumber<L, V> {
        Complex::new(self.minus(a.re, b.im), self.plus(a.im, b.re))
    }

    /// `a - ib`.
    #[inline(always)]
    fn minus_i(self, a: ComplexNumber<L, V>, b: ComplexNumber<L, V>) -> ComplexNumber<L, V> {
        Complex::new(self.plus(a.re, b.im), self.minus(a.im, b.re))
    }
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
            places: collected((0..length).map(place)),
            roots: collected((0..length).map(|p| root(&table, p as u64))),
            radices,
        }
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    /// Transforms what stands at `places`, into natural order, with factors before and after.
    fn run(&self, data: &mut [Points], factors: &Factors) {
        #[cfg(vector_unit)]
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
        self.run_portable(data, factors);
    }

    #[cfg(vector_unit)]
    #[target_feature(enable = "avx512f")]
    fn run_avx512(&self, data: &mut [Points], factors: &Factors) {
        self.levels(data, factors, Arithmetic::<8, Avx512>::new(0));
    }

    #[cfg(vector_unit)]
    #[target_feature(enable = "avx2,fma")]
    fn run_avx2(&self, data: &mut [Points], factors: &Factors) {
        for first in (0..LANES).step_by(4) {
            self.levels(data, factors, Arithmetic::<4, Avx2>::new(first));
        }
    }

    fn run_portable(&self, data: &mut [Points], factors: &Factors) {
        for first in 0..LANES {
            self.levels(data, factors, Arithmetic::<1, Portable>::new(first));
        }
    }

    #[inline(always)]
    fn levels<const L: usize, V: Floats<L>>(
        &self,
        data: &mut [Points],
        factors: &Factors,
        on: Arithmetic<L, V>,
    ) {
        let multiply = inlined(
            #[inline(always)]
            |points: &mut Points, factor: ComplexNumber<L, V>| {
                let product = on.product(on.load(points), factor);
                on.store(product, points);
            },
        );
        let (last, before) = (self.len() - factors.last_inputs.len(), &factors.last_inputs);
        for (&place, factor) in self.places[last..].iter().zip(before) {
            multiply(&mut data[place], on.load(factor));
        }
        let mut part = 1;
        for &radix in &self.radices {
            for group in data.chunks_exact_mut(part * radix) {
                match radix {
                    2 => self.radix_2(group, on),
                    4 => self.radix_4(group, on),
                    _ => self.radix_odd(group, radix, on),
                }
            }
            part *= radix;
        }
        let (coarse, fine) = &factors.outputs;
        for (chunk, coarse) in data.chunks_mut(fine.len().max(1)).zip(coarse) {
            let coarse = on.load(coarse);
            for (points, fine) in chunk.iter_mut().zip(fine) {
                let fine = on.load(fine);
                multiply(points, on.product(coarse, fine));
            }
        }
    }

    /// Element k of part s of a group, times the root between levels.
    #[inline(always)]
    fn rotated<const L: usize, V: Floats<L>>(
        &self,
        group: &[Points],
        part: usize,
        (s, k): (usize, usize),
        on: Arithmetic<L, V>,
    ) -> ComplexNumber<L, V> {
        let stride = self.len() / group.len();
        let root = on.splat(&self.roots[s * k * stride]);
        on.product(on.load(&group[s * part + k]), root)
    }

    #[inline(always)]
    fn radix_2<const L: usize, V: Floats<L>>(&self, group: &mut [Points], on: Arithmetic<L, V>) {
        let part = group.len() / 2;
        for k in 0..part {
            let (z, rotated) = (on.load(&group[k]), self.rotated(group, part, (1, k), on));
            on.store(on.sum(z, rotated), &mut group[k]);
            on.store(on.difference(z, rotated), &mut group[part + k]);
        }
    }

    #[inline(always)]
    fn radix_4<const L: usize, V: Floats<L>>(&self, group: &mut [Points], on: Arithmetic<L, V>) {
        let part = group.len() / 4;
        for k in 0..part {
            let rotated = inlined(
                #[inline(always)]
                |s: usize| self.rotated(group, part, (s, k), on),
            );
            let z0 = on.load(&group[k]);
            let (z1, z2, z3) = (rotated(1), rotated(2), rotated(3));
            let (even, odd) = (on.sum(z0, z2), on.sum(z1, z3));
            let (half, other) = (on.difference(z0, z2), on.difference(z1, z3));
            let outputs = [
                on.sum(even, odd),
                on.minus_i(half, other),
                on.difference(even, odd),
                on.plus_i(half, other),
            ];
            for (s, output) in outputs.into_iter().enumerate() {
                on.store(output, &mut group[s * part + k]);
            }
        }
    }

    /// Inputs and outputs by pairs, whose roots are conjugate.
    #[inline(always)]
    fn radix_odd<const L: usize, V: Floats<L>>(
        &self,
        group: &mut [Points],
        radix: usize,
        on: Arithmetic<L, V>,
    ) {
        let part = group.len() / radix;
        let half = radix / 2;
        let mut pairs = vec![(Points::default(), Points::default()); half];
        for k in 0..part {
            let rotated = inlined(
                #[inline(always)]
                |s: usize| self.rotated(group, part, (s, k), on),
            );
            let z0 = on.load(&group[k]);
            let mut total = z0;
            for (s, pair) in (1..).zip(&mut pairs) {
                let (a, b) = (rotated(s), rotated(radix - s));
                let sum = on.sum(a, b);
                on.store(sum, &mut pair.0);
                on.store(on.difference(a, b), &mut pair.1);
                total = on.sum(total, sum);
            }
            on.store(total, &mut group[k]);
            for q in 1..=half {
                let (mut even, mut odd) = (z0, on.load(&Points::default()));
                for (s, pair) in (1..).zip(&pairs) {
                    let root = on.splat(&self.roots[s * q % radix * (self.len() / radix)]);
                    let (sum, difference) = (on.load(&pair.0), on.load(&pair.1));
                    even = on.sum(even, on.scaled(sum, root.re));
                    odd = on.sum(odd, on.scaled(difference, root.im));
                }
                on.store(on.plus_i(even, odd), &mut group[q * part + k]);
                let mirrored = &mut group[(radix - q) * part + k];
                on.store(on.minus_i(even, odd), mirrored);
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
            transform.run_portable(&mut plain, &factors);
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
