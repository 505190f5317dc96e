//! Few lines of one block: the lanes of a vector are the columns of a line's first step, then the rows that it leaves.
//!
//! With `N = n1·N'` as in `bailey.rs`, lanes are neighbouring columns `j'` in the first step: their rotations differ, their
//! exponent does not. A transposition follows, and in all other steps lanes are neighbouring rows `k1`, which are transforms of
//! length `N'` of their own with the same rotations. Outputs `k1 + n1·m` of neighbouring rows are neighbours in the caller's array.
//!
//! The two symmetries of `bailey.rs` go by lane here: lanes of mirrored columns are reversed and conjugated when they are
//! loaded, and mirrored again when they are stored; rows beyond the middle are conjugated, and their outputs come in reverse order.
//! All integers are those of lines side by side, so the bits are the same.

// Closures that look redundant carry the attribute that inlines them.
#![allow(clippy::redundant_closure)]

use crate::matrix_unit::{MatrixUnit, Task};
use crate::recipe::{Fold, Products};
use crate::simd::{
    HalfRow, Point, Portable, Row, Vectors, from_lanes, inlined, lanes_of, negated, negated_where,
};
use crate::stages::butterfly::{ConjugatePair, LongWords, Value};
use crate::stages::lines::Grid;
use crate::stages::numbers::{Input, Output, Writer};
use crate::stages::outputs::{Emit, FloatEmitter, singles};
use crate::stages::quantise::{
    LineProperties, SUM_BITS, exponent, is_moderate, power_bits, quantise_floats, scale,
};
use crate::stages::twiddle::{Angles, rotate};
use crate::transform::bailey::Block;
use crate::transform::columns::{BlockScratch, Column, exchange_parts, join_real_columns};
use crate::transform::lane_tables::{ColumnLanes, LaneTables};
use crate::transform::packed_elements::PackedElement;
use crate::transform::passes::Passes;
use crate::workspace::{take, words_for};
use num_complex::Complex;
use std::marker::PhantomData;

/// A line of so many rows and columns, in groups of lanes.
#[derive(Clone, Copy)]
struct Shape<'a> {
    tables: &'a ColumnLanes,
    rows: usize,
    columns: usize,
    /// Rows that are transformed: of a real line's, the mirrored ones are not.
    transformed: usize,
}

impl<'a> Shape<'a> {
    fn new(block: &'a Block) -> Option<Self> {
        let first = &block.steps()[0];
        Some(Shape {
            tables: match block.lane_tables()? {
                LaneTables::Columns(tables) => tables,
                LaneTables::Outputs(_) => return None,
            },
            rows: first.recipe.n,
            columns: first.inner,
            transformed: first.recipe.n,
        })
    }

    /// The shape of a real line: rows beyond the middle mirror the others.
    fn of_real_line(self) -> Self {
        let transformed = self.rows / 2 + 1;
        Shape {
            transformed,
            ..self
        }
    }

    #[inline(always)]
    fn column_groups(&self) -> usize {
        self.columns.div_ceil(self.tables.lanes)
    }

    #[inline(always)]
    fn row_groups(&self) -> usize {
        self.transformed.div_ceil(self.tables.lanes)
    }

    /// Elements of the panels that steps read, and of those that they write.
    fn panels(&self) -> (usize, usize) {
        let by_column = self.rows * self.column_groups();
        let by_row = self.columns * self.row_groups();
        // The line as it is read has fewer.
        let panel = by_column.max(by_row);
        (panel, panel)
    }

    #[inline(always)]
    fn columns_mask<const L: usize, V: Vectors<L>>(&self, group: usize) -> V::Words {
        mask::<L, V>(&self.tables.mirrored_columns, group)
    }

    #[inline(always)]
    fn rows_mask<const L: usize, V: Vectors<L>>(&self, group: usize) -> V::Words {
        mask::<L, V>(&self.tables.mirrored_rows, group)
    }
}

#[inline(always)]
fn mask<const L: usize, V: Vectors<L>>(masks: &[i64], group: usize) -> V::Words {
    match masks[group * L..].first_chunk::<L>() {
        Some(row) => V::load(row),
        None => unreachable!("every lane has a mask"),
    }
}

/// `b` in the lanes of the mask, `a` in the others.
#[inline(always)]
fn select<const L: usize, V: Vectors<L>>(mask: V::Words, a: V::Words, b: V::Words) -> V::Words {
    V::xor(a, V::and(V::xor(a, b), mask))
}

impl Passes {
    /// 64-bit words of workspace for lines one by one.
    pub(crate) fn columns_workspace_len<const L: usize, U: MatrixUnit<L>>(&self) -> usize {
        let block = &self.blocks()[0];
        let Some(shape) = Shape::new(block) else {
            return 0;
        };
        let (read, written) = shape.panels();
        words_for::<Point<L>>(read)
            + words_for::<Point<L>>(written)
            + block.scratch_len::<L>(U::COLUMNS)
    }

    /// Transforms `active` lines of one block, one by one.
    pub(crate) fn run_columns<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        input: &Input<'_, L>,
        output: &Output<'_, L>,
        active: usize,
        mut workspace: &mut [u64],
    ) {
        let _session = unit.session();
        let block = &self.blocks()[0];
        let Some(shape) = Shape::new(block) else {
            unreachable!("the caller has asked");
        };
        let (read, written) = shape.panels();
        let points = take::<Point<L>>(&mut workspace, read);
        let results = take::<Point<L>>(&mut workspace, written);
        let mut scratch = block.scratch::<L>(U::COLUMNS, &mut workspace);
        for lane in 0..active {
            let (exponent, properties) = unit.enter(Load {
                vectors: PhantomData::<U::Vectors>,
                shape,
                block,
                input,
                lane,
                points,
                memory: results,
            });
            if properties.not_finite {
                output.fill_nan(lane);
                continue;
            }
            let offset = self.exponent_offset() + block.exponent_offset() + output.bias[lane];
            let exponent = exponent + offset;
            // Mirrored outputs are negated after rounding, where a number that has underflowed is like one that is zero.
            let smallest = if output.is_single() { -126 } else { -900 };
            let shape = match properties.has_imaginary || exponent < smallest {
                true => shape,
                false => shape.of_real_line(),
            };
            unit.enter(First {
                unit,
                shape,
                block,
                points,
                results,
                scratch: &mut scratch,
            });
            let grid = Grid {
                rows: shape.row_groups(),
                columns: shape.columns,
                pitch: shape.columns,
            };
            block.run_between(unit, grid, points, &mut scratch);
            unit.enter(Last {
                unit,
                shape,
                block,
                points,
                results,
                scratch: &mut scratch,
                exponents: [exponent; L],
                output,
            });
            unit.enter(Store {
                vectors: PhantomData::<U::Vectors>,
                shape,
                output,
                lane,
                properties,
                results,
            });
        }
    }
}

/// Loading a line by columns and quantising it, as a task.
struct Load<'a, const L: usize, V> {
    vectors: PhantomData<V>,
    shape: Shape<'a>,
    block: &'a Block,
    input: &'a Input<'a, L>,
    lane: usize,
    /// The elements of a group of columns one after the other, group after group.
    points: &'a mut [Point<L>],
    memory: &'a mut [Point<L>],
}

impl<const L: usize, V: Vectors<L>> Task for Load<'_, L, V> {
    type Output = (i32, LineProperties);

    #[inline(always)]
    fn run(self) -> (i32, LineProperties) {
        let rows = self.shape.rows;
        let n = rows * self.shape.columns;
        let line: &mut [Complex<f64>] = &mut bytemuck::cast_slice_mut(self.memory)[..n];
        self.input.copy_line(self.lane, line);
        let points = &mut self.points[..rows * self.shape.column_groups()];
        let largest = gather::<L, V>(self.shape, line, points);
        let properties = LineProperties::of_magnitudes(largest);
        let some = properties.has_real || properties.has_imaginary;
        if properties.not_finite || !some {
            // The bits of zeros, whose signs do not count, or words that nobody reads.
            points.fill([[0; L]; 2]);
            return (0, properties);
        }
        let word_bits = self.block.columns().word_bits;
        let unit = scale(largest[0].max(largest[1])) - SUM_BITS;
        let found = if is_moderate(unit) {
            let sum = largest_sum::<L, V>(points, rows, unit);
            let found = exponent(i64::from(unit), sum, word_bits);
            quantise::<L, V>(self.shape, points, found);
            found
        } else {
            extreme::<L>(self.shape, self.block, line, points)
        };
        debug_assert!(
            points.chunks(rows).all(|group| (0..L).all(|lane| {
                let parts = group.iter().flatten();
                let sum: u128 = parts.map(|row| u128::from(row[lane].unsigned_abs())).sum();
                sum <= (1 << word_bits) + rows as u128
            })),
            "head-room: a column's words add up to more than the word"
        );
        (found, properties)
    }
}

/// Lays a line out by columns and finds the largest magnitudes of its real and imaginary parts, as bits.
#[inline(always)]
fn gather<const L: usize, V: Vectors<L>>(
    shape: Shape<'_>,
    line: &[Complex<f64>],
    points: &mut [Point<L>],
) -> [i64; 2] {
    let magnitude = V::splat(i64::MAX);
    let mut largest = [V::splat(0); 2];
    for (group, points) in points.chunks_mut(shape.rows).enumerate() {
        let first = group * L;
        let rows = line.chunks(shape.columns);
        for (row, point) in rows.zip(points) {
            let (re, im) = if first + L <= row.len() {
                let neighbours = &row[first..first + L];
                // SAFETY: so many complex numbers are there, each two real ones.
                unsafe { V::load_neighbours(neighbours.as_ptr().cast()) }
            } else {
                let part = |lane: usize, part: fn(&Complex<f64>) -> f64| {
                    row.get(first + lane)
                        .map_or(0, |z| part(z).to_bits() as i64)
                };
                (
                    from_lanes::<L, V>(|lane| part(lane, |z| z.re)),
                    from_lanes::<L, V>(|lane| part(lane, |z| z.im)),
                )
            };
            // Without their sign, the bits of floating-point numbers are ordered as the numbers are.
            largest[0] = V::maximum(largest[0], V::and(re, magnitude));
            largest[1] = V::maximum(largest[1], V::and(im, magnitude));
            V::store(re, &mut point[0]);
            V::store(im, &mut point[1]);
        }
    }
    largest.map(
        #[inline(always)]
        |words| lanes_of::<L, V>(words).into_iter().max().unwrap_or(0),
    )
}

/// The largest column sum, in units of `2^unit`, each magnitude rounded up.
#[inline(always)]
fn largest_sum<const L: usize, V: Vectors<L>>(points: &[Point<L>], rows: usize, unit: i32) -> i64 {
    let scale = V::splat(power_bits(-unit));
    // One for every magnitude, which rounds it up, less what the vectors add to it. Lanes without a column have no more.
    let count = 2 * rows as i64;
    let rest = V::splat(count.wrapping_mul(1i64.wrapping_sub(V::FLOOR_BIAS)));
    let mut largest = V::splat(0);
    for group in points.chunks(rows) {
        let (mut sum, mut sum_im) = (rest, V::splat(0));
        for [re, im] in group {
            sum = V::add(sum, V::floor_magnitude(V::load(re), scale));
            sum_im = V::add(sum_im, V::floor_magnitude(V::load(im), scale));
        }
        largest = V::maximum(largest, V::add(sum, sum_im));
    }
    let largest = lanes_of::<L, V>(largest);
    largest.into_iter().max().unwrap_or(0)
}

/// Rounds the numbers of a line to words, and reverses and conjugates mirrored columns.
#[inline(always)]
fn quantise<const L: usize, V: Vectors<L>>(
    shape: Shape<'_>,
    points: &mut [Point<L>],
    exponent: i32,
) {
    let (scale, unit) = (
        V::splat(power_bits(-exponent)),
        V::splat(i64::from(exponent)),
    );
    let rows = shape.rows;
    for (group, points) in points.chunks_mut(rows).enumerate() {
        let mask = shape.columns_mask::<L, V>(group);
        for i in 0..rows.div_ceil(2) {
            let word = inlined(
                #[inline(always)]
                |row: &Row<L>| V::round_scaled(V::load(row), scale, unit),
            );
            let (a, b) = (&points[i], &points[rows - 1 - i]);
            let (a, b) = ([word(&a[0]), word(&a[1])], [word(&b[0]), word(&b[1])]);
            let put = inlined(
                #[inline(always)]
                |point: &mut Point<L>, a: [V::Words; 2], b: [V::Words; 2]| {
                    V::store(select::<L, V>(mask, a[0], b[0]), &mut point[0]);
                    let conjugated = negated::<L, V>(b[1]);
                    V::store(select::<L, V>(mask, a[1], conjugated), &mut point[1]);
                },
            );
            put(&mut points[i], a, b);
            put(&mut points[rows - 1 - i], b, a);
        }
    }
}

/// The words of a line near the ends of the double-precision range, as a line that is alone has them.
#[cold]
#[inline(never)]
fn extreme<const L: usize>(
    shape: Shape<'_>,
    block: &Block,
    line: &mut [Complex<f64>],
    points: &mut [Point<L>],
) -> i32 {
    let grid = Grid {
        rows: shape.rows,
        columns: shape.columns,
        pitch: shape.columns,
    };
    let words: &mut [Point<1>] = bytemuck::cast_slice_mut(line);
    let found = quantise_floats::<1, Portable>(words, grid, block.columns());
    for (group, points) in points.chunks_mut(shape.rows).enumerate() {
        for (i, point) in points.iter_mut().enumerate() {
            for lane in 0..L {
                let column = group * L + lane;
                let [[re], [im]] = match shape.tables.mirrored_columns[column] {
                    _ if column >= shape.columns => [[0]; 2],
                    0 => words[i * shape.columns + column],
                    _ => {
                        let [[re], [im]] = words[(shape.rows - 1 - i) * shape.columns + column];
                        [[re], [-im]]
                    }
                };
                (point[0][lane], point[1][lane]) = (re, im);
            }
        }
    }
    found.exponents[0]
}

/// The first step, as a task: from columns to rows, which are then transposed into the lanes.
struct First<'a, 'b, const L: usize, U> {
    unit: U,
    shape: Shape<'a>,
    block: &'a Block,
    points: &'a mut [Point<L>],
    /// Real parts row after row, then imaginary parts.
    results: &'a mut [Point<L>],
    scratch: &'a mut BlockScratch<'b, L>,
}

impl<const L: usize, U: MatrixUnit<L>> Task for First<'_, '_, L, U> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let First { shape, block, .. } = self;
        let step = &block.steps()[0];
        let (n, groups) = (shape.rows, shape.column_groups());
        let (re, im) = parts_of(self.results, n * groups);
        // Mirrored rows of a real line mirror the others, and its columns go two groups at a time, as those of a panel do (`bailey.rs`).
        let real = shape.transformed < n;
        let in_pairs = real && groups > 1 && step.matrices.is_some();
        if in_pairs {
            for group in (1..groups).step_by(2) {
                let (one, other) = (((group - 1) * n, 1), (group * n, 1));
                join_real_columns::<L, U, Point<L>>(self.points, one, other, n);
            }
        }
        let (together, count) = match in_pairs {
            true => (2, groups.div_ceil(2)),
            false => (1, groups),
        };
        let negates = step.mirror_negates;
        step.run_words(
            self.unit,
            block.setting(),
            count,
            self.points,
            self.scratch,
            |number| Column::of_two(number * together * n, number * together * n),
            #[inline(always)]
            |_, number, k, pair: ConjugatePair<LongWords<L, U::Vectors>>| {
                let turned = inlined(
                    #[inline(always)]
                    |group: usize| {
                        let entry = (k * groups + group) * L;
                        let entries = shape.tables.rotations.load::<L, U::Vectors>(entry);
                        let angles = Angles::new::<L, U::Vectors>(entries);
                        (group, shape.columns_mask::<L, U::Vectors>(group), angles)
                    },
                );
                let mut put = inlined(
                    #[inline(always)]
                    |(group, mask, angles), row: usize, word: LongWords<L, U::Vectors>| {
                        let rotated = rotate::<L, U::Vectors>((word.re, word.im), angles);
                        let (re_mask, im_mask) = match negates {
                            true => (mask, U::Vectors::splat(0)),
                            false => (U::Vectors::splat(0), mask),
                        };
                        let place = row * groups + group;
                        let mirrored = negated_where::<L, U::Vectors>(re_mask, rotated.0);
                        U::Vectors::store(mirrored, &mut re[place]);
                        let mirrored = negated_where::<L, U::Vectors>(im_mask, rotated.1);
                        U::Vectors::store(mirrored, &mut im[place]);
                    },
                );
                if in_pairs {
                    let (one, other) = pair.outputs_of_two_real();
                    put(turned(2 * number), k, one);
                    if 2 * number + 1 < groups {
                        put(turned(2 * number + 1), k, other);
                    }
                    return;
                }
                let group = turned(number);
                put(group, k, pair.output());
                if k > 0 && 2 * k < n && !real {
                    put(group, n - k, pair.output_of_conjugate());
                }
            },
        );
        transpose::<L, U::Vectors>(shape, self.results, self.points);
    }
}

/// Memory of points as two arrays of rows.
#[inline(always)]
fn parts_of<const L: usize>(
    points: &mut [Point<L>],
    count: usize,
) -> (&mut [Row<L>], &mut [Row<L>]) {
    points[..count].as_flattened_mut().split_at_mut(count)
}

/// The last step, as a task: to floating-point numbers.
struct Last<'a, 'b, const L: usize, U> {
    unit: U,
    shape: Shape<'a>,
    block: &'a Block,
    points: &'a mut [Point<L>],
    results: &'a mut [Point<L>],
    scratch: &'a mut BlockScratch<'b, L>,
    exponents: [i32; L],
    output: &'a Output<'a, L>,
}

impl<const L: usize, U: MatrixUnit<L>> Task for Last<'_, '_, L, U> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let block = self.block;
        let emitter = FloatEmitter::new(self.results, self.exponents, self.output);
        let rest = LastStep {
            shape: self.shape,
            block,
            points: self.points,
            scratch: self.scratch,
            emitter,
        };
        if <Point<L> as PackedElement<L, U>>::holds_outputs(block.digits()) {
            rest.run::<U, LongWords<L, U::Vectors>>(self.unit);
        } else if block.last_sums_fit::<L, U, Point<L>>() {
            rest.run::<U, <Point<L> as PackedElement<L, U>>::Output>(self.unit);
        } else {
            rest.run::<U, <Point<L> as PackedElement<L, U>>::Sum>(self.unit);
        }
    }
}

/// Rows that lie side by side by columns, as lanes.
#[inline(always)]
fn transpose<const L: usize, V: Vectors<L>>(
    shape: Shape<'_>,
    results: &mut [Point<L>],
    points: &mut [Point<L>],
) {
    let (columns, groups) = (shape.columns, shape.column_groups());
    let parts: (&mut [Row<L>], &mut [Row<L>]) = parts_of(results, shape.rows * groups);
    let parts = [&*parts.0, &*parts.1];
    let rows = points.chunks_mut(columns).take(shape.row_groups());
    for (row_group, points) in rows.enumerate() {
        for (group, points) in points.chunks_mut(L).enumerate() {
            for (part, rows) in parts.iter().enumerate() {
                // Lanes without a row repeat another, and are not stored in the end.
                let starts = std::array::from_fn(|lane| {
                    let row = (row_group * L + lane).min(shape.transformed - 1);
                    rows[row * groups + group].as_ptr().cast()
                });
                // SAFETY: a row has `L` words, of the size of double-precision numbers.
                unsafe {
                    V::load_lines(
                        &starts,
                        #[inline(always)]
                        |column, words| {
                            // The last group need not be a whole one.
                            if let Some(point) = points.get_mut(column) {
                                V::store(words, &mut point[part]);
                            }
                        },
                    );
                }
            }
        }
    }
}

/// The last step, for outputs that are words or sums.
struct LastStep<'a, 'b, 'c, const L: usize> {
    shape: Shape<'a>,
    block: &'a Block,
    points: &'a mut [Point<L>],
    scratch: &'a mut BlockScratch<'b, L>,
    emitter: FloatEmitter<'c, L>,
}

impl<const L: usize> LastStep<'_, '_, '_, L> {
    #[inline(always)]
    fn run<U, X>(self, unit: U)
    where
        U: MatrixUnit<L>,
        X: Value<L, U::Vectors> + From<LongWords<L, U::Vectors>>,
    {
        let LastStep {
            shape,
            block,
            mut emitter,
            ..
        } = self;
        let step = &block.steps()[block.steps().len() - 1];
        let n = step.recipe.n;
        let shifted = step.recipe.fold == Fold::FrequencyShifted;
        let (per_row, row_groups) = (shape.columns / n, shape.row_groups());
        // Of a real line no mirrored row is transformed.
        let mirrors = shape.transformed == shape.rows;
        let count = row_groups * per_row;
        // As in the last step of a panel (`bailey.rs`).
        let in_pairs = Emit::<L, U::Vectors>::is_real(&emitter)
            && block.setting().1 == Products::Truncated
            && step.matrices.is_some();
        if in_pairs {
            for number in (1..count).step_by(2) {
                let both = ((number - 1) * n, number * n);
                exchange_parts::<L, U, Point<L>>(self.points, both, n);
            }
        }
        let mut post = inlined(
            #[inline(always)]
            |number: usize, k: usize, pair: ConjugatePair<X>| {
                // Where output 0 is, and how far output `k` is from it.
                let start_of = |number: usize| {
                    let (row_group, q) = (number / per_row, number % per_row);
                    block.groups()[q].0 / shape.rows * row_groups + row_group
                };
                let distance = |k: usize| per_row * k * row_groups;
                let partner = match shifted {
                    true => Some(n - 1 - k),
                    false => (k > 0 && 2 * k < n).then_some(n - k),
                };
                if in_pairs {
                    let one = 2 * number;
                    let starts = [one, (one + 1).min(count - 1)].map(start_of);
                    let mut put = inlined(
                        #[inline(always)]
                        |k: usize, values: X| {
                            let places = starts.map(|start| start + distance(k));
                            emitter.emit_real(places, values);
                        },
                    );
                    put(k, pair.plus);
                    if let Some(partner) = partner {
                        put(partner, pair.minus);
                    }
                    return;
                }
                let (start, mask) = (
                    start_of(number),
                    shape.rows_mask::<L, U::Vectors>(number / per_row),
                );
                let mut put = inlined(
                    #[inline(always)]
                    |k: usize, value: X| {
                        let value = match mirrors {
                            true => value.conjugated_where(mask),
                            false => value,
                        };
                        emitter.emit(start + distance(k), value);
                    },
                );
                put(k, pair.output::<L, U::Vectors>());
                if let Some(partner) = partner {
                    put(partner, pair.partner::<L, U::Vectors>(step.recipe.fold));
                }
            },
        );
        let column = |number: usize| match in_pairs {
            false => Column::of_two(number * n, number * n),
            true => Column::of_two(2 * number * n, (2 * number + 1).min(count - 1) * n),
        };
        let count = if in_pairs { count.div_ceil(2) } else { count };
        step.run::<L, U, Point<L>, X>(
            unit,
            block.setting(),
            count,
            self.points,
            self.scratch,
            column,
            #[inline(always)]
            |k, elements| {
                step.trivial_pair::<L, U::Vectors, X>(
                    k,
                    #[inline(always)]
                    |j| X::from(elements[j]),
                )
            },
            #[inline(always)]
            |_, i, k, pair| post(i, k, pair),
        );
    }
}

/// Storing a line whose outputs `k1 + n1·m` lie by `m` and groups of `k1`, as a task.
struct Store<'a, const L: usize, V> {
    vectors: PhantomData<V>,
    shape: Shape<'a>,
    output: &'a Output<'a, L>,
    lane: usize,
    properties: LineProperties,
    results: &'a mut [Point<L>],
}

impl<const L: usize, V: Vectors<L>> Task for Store<'_, L, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (shape, output, lane) = (self.shape, self.output, self.lane);
        let count = shape.columns * shape.row_groups();
        let results = &mut self.results[..count];
        let float = |bits: i64| f64::from_bits(bits as u64);
        let single = |bits: i32| f64::from(f32::from_bits(bits as u32));
        let contiguous = output.places[lane].stride == 1;
        let place = output.places[lane];
        match output.numbers {
            Writer::Double(array) => {
                clear_known_zeros(shape, self.properties, |at, part, lane| {
                    results[at][part][lane] = 0;
                });
                let results = &*results;
                let number = |at: usize, lane: usize| {
                    let [re, im] = &results[at];
                    Complex::new(float(re[lane]), float(im[lane]))
                };
                let row = inlined(
                    #[inline(always)]
                    |a: usize, b: usize, group: usize, first: usize| {
                        let mask = shape.rows_mask::<L, V>(group);
                        let part = inlined(
                            #[inline(always)]
                            |part: usize| {
                                let a = V::load(&results[a][part]);
                                let b = V::load(&results[b][part]);
                                select::<L, V>(mask, a, b)
                            },
                        );
                        if output.real {
                            let start = array.checked(place.at(first), L);
                            let words = lanes_of::<L, V>(part(0));
                            // SAFETY: in range; every output belongs to one line, and every line to one thread. A row has
                            // the size of `L` numbers.
                            unsafe { start.cast::<Row<L>>().write_unaligned(words) }
                        } else {
                            let start = array.checked(2 * place.at(first), 2 * L);
                            // SAFETY: as above.
                            unsafe { V::store_neighbours(start, part(0), part(1)) }
                        }
                    },
                );
                store_line(shape, output, lane, contiguous, number, row);
            }
            Writer::Single(array) => {
                let results = singles(results);
                clear_known_zeros(shape, self.properties, |at, part, lane| {
                    results[at][lane][part] = 0;
                });
                let results = &*results;
                let number = |at: usize, lane: usize| {
                    let [re, im] = results[at][lane];
                    Complex::new(single(re), single(im))
                };
                let row = inlined(
                    #[inline(always)]
                    |a: usize, b: usize, group: usize, first: usize| {
                        let mask = shape.rows_mask::<L, V>(group);
                        let words = inlined(
                            #[inline(always)]
                            |at: usize| {
                                let halves = V::load_halves(&results[at]);
                                V::words_of_halves(halves)
                            },
                        );
                        let both = select::<L, V>(mask, words(a), words(b));
                        let mut numbers: HalfRow<L> = [[0; 2]; L];
                        V::store_halves(V::halves_of_words(both), &mut numbers);
                        let start = array.checked(2 * place.at(first), 2 * L);
                        // SAFETY: as above; a half row has the size of `L` complex numbers of single precision.
                        unsafe { start.cast::<HalfRow<L>>().write_unaligned(numbers) }
                    },
                );
                // Real parts alone are not neighbours.
                let contiguous = contiguous && !output.real;
                store_line(shape, output, lane, contiguous, number, row);
            }
        }
    }
}

/// Stores the outputs of a line in ascending order: `row` whole groups of neighbours, given the places of those that are not
/// mirrored and of those that are, the group and the first output; `number` is an output at a place, for all others.
#[inline(always)]
fn store_line<const L: usize>(
    shape: Shape<'_>,
    output: &Output<'_, L>,
    line: usize,
    contiguous: bool,
    number: impl Fn(usize, usize) -> Complex<f64>,
    row: impl Fn(usize, usize, usize, usize),
) {
    let (groups, n) = (shape.row_groups(), shape.rows);
    // Rows of the results that are wanted.
    for m in 0..output.count.div_ceil(n) {
        let mirrored_m = shape.columns - 1 - m;
        for group in 0..groups {
            let first = m * n + group * L;
            let (a, b) = (m * groups + group, mirrored_m * groups + group);
            // What is written beyond the row is written again later.
            if contiguous && first + L <= output.count {
                row(a, b, group, first);
                continue;
            }
            let lanes = L.min(shape.transformed - group * L);
            for lane in 0..lanes.min(output.count.saturating_sub(first)) {
                let mirrored = shape.tables.mirrored_rows[group * L + lane] != 0;
                let at = if mirrored { b } else { a };
                output.put(line, first + lane, number(at, lane));
            }
        }
        for k in shape.transformed..n {
            // The mirrored row of a real line, in which zeros are those of integers and have no sign.
            if m * n + k < output.count {
                let source = n - k;
                let z = number(mirrored_m * groups + source / L, source % L);
                output.put(line, m * n + k, Complex::new(z.re, 0.0 - z.im));
            }
        }
    }
}

/// As in `outputs.rs`: the first output and, for even lengths, the middle one of a line of real numbers are real, those of a
/// line of imaginary numbers imaginary. Neither lies in a mirrored row.
#[inline(always)]
fn clear_known_zeros(
    shape: Shape<'_>,
    properties: LineProperties,
    mut clear: impl FnMut(usize, usize, usize),
) {
    let (n, lanes) = (shape.rows * shape.columns, shape.tables.lanes);
    let middle = n.is_multiple_of(2).then_some(n / 2);
    for special in std::iter::once(0).chain(middle) {
        let (m, k) = (special / shape.rows, special % shape.rows);
        let at = m * shape.row_groups() + k / lanes;
        if !properties.has_imaginary {
            clear(at, 1, k % lanes);
        }
        if !properties.has_real {
            clear(at, 0, k % lanes);
        }
    }
}
