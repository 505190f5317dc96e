//! The DFT as products on a matrix unit, data and matrix as one, two or three bf16 numbers each.
//!
//! Short lengths are one product: a row of the left factor is a line, the right factor is the matrix. Others are split into
//! two factors, `x[j1][j2]`: DFTs of the columns (a product with the first matrix from the right), a rotation by
//! `exp(∓2πi j2·k1/n)` in f32, and DFTs of the rows (a product with the second matrix from the left, which leaves
//! `X[k2][k1]` in order).

use crate::Direction;
use crate::aligned::Aligned;
use crate::lanes::{InstructionSet, Task, Vectors, rotated};
use crate::numbers::format::Format;
use crate::numbers::sample::{LineScale, Sample};
use crate::products::matrices::{Cut, directed_root, left, left_row, padded, right};
use crate::products::ozaki::{MOST_PARTS, products, split};
use crate::unit::{MatrixUnit, Shape, TILE, Term};
use num_complex::Complex;
use std::sync::Arc;

/// Lines that are multiplied together where a line is a row.
const ROWS: usize = 2 * TILE;

/// Tables and shapes of one length.
#[derive(Debug)]
pub(crate) struct DftGemm {
    n: usize,
    parts: usize,
    cut: Cut,
    set: InstructionSet,
    unit: Arc<dyn MatrixUnit>,
    /// The products of parts, data first.
    products: Vec<(usize, usize)>,
    first: Vec<Aligned<u32>>,
    first_shape: Shape,
    /// The factors of the length.
    second: Vec<Aligned<u32>>,
    second_shape: Shape,
    /// `[j2][k1]`.
    rotations: Vec<Complex<f32>>,
}

/// Memory that a transform works in. What pads data to whole tiles is zero from the beginning and stays so.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    data: Vec<Aligned<u32>>,
    middle: Vec<Aligned<u32>>,
    sums: Aligned<f32>,
}

impl DftGemm {
    pub(crate) fn new(
        n: usize,
        parts: usize,
        cut: Cut,
        direction: Direction,
        unit: Arc<dyn MatrixUnit>,
        set: InstructionSet,
    ) -> Self {
        let slices = |value| Format::Bf16.slices(value, parts);
        let (n1, n2) = match cut {
            Cut::Whole => (n, 1),
            Cut::Blocks(n1, n2) => (n1, n2),
        };
        let rows = match cut {
            Cut::Whole => ROWS,
            Cut::Blocks(..) => padded(n2),
        };
        let first_shape = Shape {
            rows,
            pairs: padded(n1),
            columns: padded(2 * n1),
            left_pitch: padded(n1),
            right_pitch: padded(2 * n1),
            sums_pitch: padded(2 * n1),
        };
        let second_shape = Shape {
            rows: 2 * padded(n2),
            pairs: padded(n2),
            columns: padded(n1),
            left_pitch: padded(n2),
            right_pitch: padded(n1),
            sums_pitch: padded(n1),
        };
        let (second, rotations) = match cut {
            Cut::Whole => (Vec::new(), Vec::new()),
            Cut::Blocks(..) => (
                left(n2, direction, &slices),
                (0..n2)
                    .flat_map(|j2| (0..n1).map(move |k1| (j2, k1)))
                    .map(|(j2, k1)| {
                        let root = directed_root(j2 * k1, n, direction);
                        Complex::new(root.re.to_f32(), root.im.to_f32())
                    })
                    .collect(),
            ),
        };
        DftGemm {
            n,
            parts,
            cut,
            set,
            unit,
            products: products(parts),
            first: right(n1, direction, &slices),
            first_shape,
            second,
            second_shape,
            rotations,
        }
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let (one, two) = (&self.first_shape, &self.second_shape);
        let second = |extent: usize| if self.cut == Cut::Whole { 0 } else { extent };
        let arrays = |length: usize| (0..self.parts).map(|_| Aligned::zeros(length)).collect();
        Workspace {
            data: arrays(one.rows * one.pairs),
            middle: arrays(second(two.pairs * two.columns)),
            sums: Aligned::zeros((one.rows * one.columns).max(second(two.rows * two.columns))),
        }
    }

    /// Transforms lines in place.
    pub(crate) fn process(&self, lines: &mut [Complex<f32>], workspace: &mut Workspace) {
        self.unit.clone().kept_ready(&mut || match self.parts {
            1 => self.process_parts::<1>(lines, workspace),
            2 => self.process_parts::<2>(lines, workspace),
            _ => self.process_parts::<MOST_PARTS>(lines, workspace),
        });
    }

    fn process_parts<const PARTS: usize>(
        &self,
        lines: &mut [Complex<f32>],
        workspace: &mut Workspace,
    ) {
        match self.cut {
            Cut::Whole => {
                for lines in lines.chunks_mut(ROWS * self.n) {
                    self.whole::<PARTS>(lines, workspace);
                }
            }
            Cut::Blocks(n1, n2) => {
                for line in lines.chunks_exact_mut(self.n) {
                    self.blocks::<PARTS>(line, n1, n2, workspace);
                }
            }
        }
    }

    /// All products of parts in one sum.
    fn multiply(
        &self,
        shape: &Shape,
        lefts: &[Aligned<u32>],
        rights: &[Aligned<u32>],
        sums: &mut [f32],
        data_left: bool,
    ) {
        let empty = Term {
            left: &[],
            right: &[],
        };
        let mut terms = [empty; 6];
        for (term, &(data, matrix)) in terms.iter_mut().zip(&self.products) {
            let (l, r) = if data_left {
                (data, matrix)
            } else {
                (matrix, data)
            };
            *term = Term {
                left: &lefts[l],
                right: &rights[r],
            };
        }
        self.unit
            .multiply(shape, &terms[..self.products.len()], sums);
    }

    /// Up to [`ROWS`] lines, each a row. Rows without a line hold what was there before; rows do not meet.
    fn whole<const PARTS: usize>(&self, lines: &mut [Complex<f32>], workspace: &mut Workspace) {
        let n = self.n;
        let count = lines.len() / n;
        let mut scales = [LineScale::One; ROWS];
        self.set.enter(SplitRows::<PARTS> {
            lines,
            n,
            pitch: self.first_shape.left_pitch,
            scales: &mut scales,
            data: &mut workspace.data,
        });
        let shape = Shape {
            rows: padded(count),
            ..self.first_shape
        };
        self.multiply(
            &shape,
            &workspace.data,
            &self.first,
            &mut workspace.sums,
            true,
        );
        self.set.enter(StoreRows {
            lines,
            n,
            pitch: shape.sums_pitch,
            scales: &scales,
            sums: &workspace.sums,
        });
    }

    fn blocks<const PARTS: usize>(
        &self,
        line: &mut [Complex<f32>],
        n1: usize,
        n2: usize,
        workspace: &mut Workspace,
    ) {
        let mut scale = LineScale::One;
        self.set.enter(FindScale(line, &mut scale));
        if scale == LineScale::NotFinite {
            line.fill(Complex::new(f32::NAN, f32::NAN));
            return;
        }
        let Workspace { data, middle, sums } = workspace;
        self.set.enter(SplitColumns::<PARTS> {
            line,
            n1,
            n2,
            pitch: self.first_shape.left_pitch,
            scale,
            data,
        });
        self.multiply(&self.first_shape, data, &self.first, sums, true);
        self.set.enter(Rotate::<PARTS> {
            sums,
            sums_pitch: self.first_shape.sums_pitch,
            rotations: &self.rotations,
            n1,
            pitch: self.second_shape.right_pitch,
            middle,
        });
        self.multiply(&self.second_shape, &self.second, middle, sums, false);
        self.set.enter(StoreColumns {
            sums,
            pitch: self.second_shape.sums_pitch,
            n1,
            scale,
            line,
        });
    }
}

/// What a line is to be multiplied by.
struct FindScale<'a>(&'a [Complex<f32>], &'a mut LineScale);

impl Task for FindScale<'_> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        *self.1 = f32::line_scale(self.0);
    }
}

/// Lines as rows of pairs.
struct SplitRows<'a, const PARTS: usize> {
    lines: &'a [Complex<f32>],
    n: usize,
    pitch: usize,
    scales: &'a mut [LineScale; ROWS],
    data: &'a mut [Aligned<u32>],
}

/// The pairs of some numbers, part by part.
#[inline(always)]
fn split_into<V: Vectors, const PARTS: usize>(
    values: &[Complex<f32>],
    factor: f32,
    mut to: [&mut [u32]; PARTS],
) {
    let (rows, rest) = values.as_chunks::<TILE>();
    for (i, row) in rows.iter().enumerate() {
        for (to, part) in to.iter_mut().zip(V::split::<PARTS>(row, factor)) {
            to[i * TILE..][..TILE].copy_from_slice(&part);
        }
    }
    for (i, value) in rest.iter().enumerate() {
        let pairs = split::<PARTS>(value.re * factor, value.im * factor);
        for (to, pair) in to.iter_mut().zip(pairs) {
            to[rows.len() * TILE + i] = pair;
        }
    }
}

/// The same stretch of every part.
#[inline(always)]
fn stretches<const PARTS: usize>(
    data: &mut [Aligned<u32>],
    start: usize,
    length: usize,
) -> [&mut [u32]; PARTS] {
    let data: &mut [Aligned<u32>; PARTS] = data.try_into().expect("as many arrays as parts");
    data.each_mut().map(
        #[inline(always)]
        |data| &mut data[start..][..length],
    )
}

impl<const PARTS: usize> Task for SplitRows<'_, PARTS> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        for (row, line) in self.lines.chunks_exact(self.n).enumerate() {
            let scale = f32::line_scale(line);
            self.scales[row] = scale;
            let to = stretches::<PARTS>(self.data, row * self.pitch, self.n);
            match scale {
                LineScale::One => split_into::<V, PARTS>(line, 1.0, to),
                LineScale::Power(_) => split_into::<V, PARTS>(line, scale.factors().0 as f32, to),
                // The row is not asked for.
                LineScale::NotFinite => to.into_iter().for_each(|to| to.fill(0)),
            }
        }
    }
}

/// Rows of sums as lines.
struct StoreRows<'a> {
    lines: &'a mut [Complex<f32>],
    n: usize,
    pitch: usize,
    scales: &'a [LineScale; ROWS],
    sums: &'a [f32],
}

impl Task for StoreRows<'_> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let lines = self.lines.chunks_exact_mut(self.n);
        for ((line, sums), scale) in lines.zip(self.sums.chunks(self.pitch)).zip(self.scales) {
            let values = line.iter_mut().zip(sums.as_chunks::<2>().0);
            match scale {
                LineScale::NotFinite => line.fill(Complex::new(f32::NAN, f32::NAN)),
                LineScale::One => {
                    for (value, &[re, im]) in values {
                        *value = Complex::new(re, im);
                    }
                }
                LineScale::Power(_) => {
                    let factor = scale.factors().1 as f32;
                    for (value, &[re, im]) in values {
                        *value = Complex::new(re * factor, im * factor);
                    }
                }
            }
        }
    }
}

/// The columns of `x[j1][j2]` as rows of pairs.
struct SplitColumns<'a, const PARTS: usize> {
    line: &'a [Complex<f32>],
    n1: usize,
    n2: usize,
    pitch: usize,
    scale: LineScale,
    data: &'a mut [Aligned<u32>],
}

impl<const PARTS: usize> Task for SplitColumns<'_, PARTS> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let factor = self.scale.factors().0 as f32;
        let (n1, n2, pitch) = (self.n1, self.n2, self.pitch);
        // Tiles, so that reads and writes both stay within few cache lines.
        for top in (0..n1).step_by(TILE) {
            let rows = TILE.min(n1 - top);
            for start in (0..n2).step_by(TILE) {
                let columns = TILE.min(n2 - start);
                let mut block = [[[0u32; TILE]; TILE]; PARTS];
                for r in 0..rows {
                    let values = &self.line[(top + r) * n2 + start..][..columns];
                    let to = block.each_mut().map(
                        #[inline(always)]
                        |part| &mut part[r][..columns],
                    );
                    split_into::<V, PARTS>(values, factor, to);
                }
                for (block, data) in block.iter().zip(self.data.iter_mut()) {
                    // What lies beyond the tile's rows is zero, as it is in the rows that it goes to.
                    let data = &mut data[start * pitch + top..];
                    for (column, values) in V::transposed(block).iter().enumerate().take(columns) {
                        data[column * pitch..][..TILE].copy_from_slice(values);
                    }
                }
            }
        }
    }
}

/// The first product's sums, rotated, as right factor of the second.
struct Rotate<'a, const PARTS: usize> {
    sums: &'a [f32],
    sums_pitch: usize,
    rotations: &'a [Complex<f32>],
    n1: usize,
    pitch: usize,
    middle: &'a mut [Aligned<u32>],
}

impl<const PARTS: usize> Task for Rotate<'_, PARTS> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let rows = self.sums.chunks(self.sums_pitch);
        for (row, (sums, rotations)) in rows.zip(self.rotations.chunks_exact(self.n1)).enumerate() {
            let mut to = stretches::<PARTS>(self.middle, row * self.pitch, self.n1);
            let sums = &sums.as_chunks::<2>().0[..self.n1];
            let (tiles, rest) = sums.as_chunks::<TILE>();
            let (tiles_by, rest_by) = rotations.as_chunks::<TILE>();
            for (i, (values, by)) in tiles.iter().zip(tiles_by).enumerate() {
                let parts = V::split::<PARTS>(&V::rotated(values, by), 1.0);
                for (to, part) in to.iter_mut().zip(parts) {
                    to[i * TILE..][..TILE].copy_from_slice(&part);
                }
            }
            for (i, (&value, &by)) in rest.iter().zip(rest_by).enumerate() {
                let value = rotated(value, by);
                for (to, pair) in to.iter_mut().zip(split::<PARTS>(value.re, value.im)) {
                    to[tiles.len() * TILE + i] = pair;
                }
            }
        }
    }
}

/// The second product's sums as a line.
struct StoreColumns<'a> {
    sums: &'a [f32],
    pitch: usize,
    n1: usize,
    scale: LineScale,
    line: &'a mut [Complex<f32>],
}

impl Task for StoreColumns<'_> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let factor = self.scale.factors().1 as f32;
        for (k2, line) in self.line.chunks_exact_mut(self.n1).enumerate() {
            let re = &self.sums[left_row(k2) * self.pitch..][..self.n1];
            let im = &self.sums[(left_row(k2) + TILE) * self.pitch..][..self.n1];
            for ((value, re), im) in line.iter_mut().zip(re).zip(im) {
                *value = Complex::new(re * factor, im * factor);
            }
        }
    }
}
