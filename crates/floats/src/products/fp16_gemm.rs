//! The DFT as products of f16 numbers: `dft_gemm.rs` under a power of two, because f16 ends at 65504.
//!
//! Every line is multiplied by the power of two that brings its largest part to `2^14`, exactly; sums are f32. Between two
//! products results are divided by the first factor of the length (an even larger power of two where it is none), so that they
//! fit again, and both are undone at the end. There is one unit, plain code: nothing here is written for speed.

use crate::Direction;
use crate::aligned::Aligned;
use crate::lanes::rotated;
use crate::numbers::format::Format;
use crate::products::matrices::{Cut, directed_root, left, left_row, padded, right, several};
use crate::unit::{MatrixUnit, Shape, TILE, Term};
use num_complex::Complex;
use std::sync::Arc;

/// Where the largest part of a line is brought.
pub(crate) const LARGEST_EXPONENT: i32 = 14;

/// Tables and shapes of one length.
#[derive(Debug)]
pub(crate) struct Fp16Gemm {
    n: usize,
    parts: usize,
    cut: Cut,
    unit: Arc<dyn MatrixUnit>,
    first: Vec<Aligned<u32>>,
    second: Vec<Aligned<u32>>,
    /// `[j2][k1]`, divided.
    rotations: Vec<Complex<f32>>,
    divided_by: f64,
}

/// Memory that a transform works in. What pads data to whole tiles is zero from the beginning and stays so.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    data: Vec<Vec<u32>>,
    middle: Vec<Vec<u32>>,
    sums: Vec<f32>,
}

/// The power of two, as an exponent, that a line is multiplied by, if its numbers are finite.
fn power(line: &[Complex<f32>]) -> Option<i32> {
    let largest = line.iter().fold(0f32, |largest, value| {
        let part = value.re.abs().max(value.im.abs());
        if value.re.is_nan() || value.im.is_nan() {
            f32::INFINITY
        } else {
            largest.max(part)
        }
    });
    if largest.is_infinite() {
        return None;
    }
    // Of a double, in which no f32 is subnormal.
    let exponent = (f64::from(largest).to_bits() >> 52) as i32 - 1023;
    Some(if largest == 0.0 {
        0
    } else {
        LARGEST_EXPONENT - exponent
    })
}

/// What results between two products are divided by.
pub(crate) fn divisor(n1: usize) -> usize {
    n1.next_power_of_two()
}

/// The parts of a complex number, each a pair; `to` says where each goes.
fn split(mut re: f32, mut im: f32, parts: usize, mut to: impl FnMut(usize, u32)) {
    let format = Format::Fp16;
    for part in 0..parts {
        let (upper_re, upper_im) = (format.round(re), format.round(im));
        to(part, u32::from(upper_re) | u32::from(upper_im) << 16);
        re -= format.to_f32(upper_re);
        im -= format.to_f32(upper_im);
    }
}

fn shape(rows: usize, pairs: usize, columns: usize) -> Shape {
    Shape {
        rows,
        pairs,
        columns,
        left_pitch: pairs,
        right_pitch: columns,
        sums_pitch: columns,
    }
}

impl Fp16Gemm {
    pub(crate) fn new(
        n: usize,
        parts: usize,
        cut: Cut,
        direction: Direction,
        unit: Arc<dyn MatrixUnit>,
    ) -> Self {
        let slices = |value| Format::Fp16.slices(value, parts);
        let (n1, n2) = match cut {
            Cut::Whole => (n, 1),
            Cut::Blocks(n1, n2) => (n1, n2),
        };
        let divided_by = divisor(n1) as f64;
        let (second, rotations, divided_by) = match cut {
            Cut::Whole => (Vec::new(), Vec::new(), 1.0),
            Cut::Blocks(..) => (
                left(n2, direction, &slices),
                (0..n)
                    .map(|place| {
                        let root = directed_root(place / n1 * (place % n1), n, direction);
                        let by = 1.0 / divided_by as f32;
                        Complex::new(root.re.to_f32() * by, root.im.to_f32() * by)
                    })
                    .collect(),
                divided_by,
            ),
        };
        Fp16Gemm {
            n,
            parts,
            cut,
            unit,
            first: right(n1, direction, &slices),
            second,
            rotations,
            divided_by,
        }
    }

    /// The shapes of both products.
    fn shapes(&self) -> (Shape, Shape) {
        let (n1, n2) = match self.cut {
            Cut::Whole => (self.n, TILE),
            Cut::Blocks(n1, n2) => (n1, n2),
        };
        (
            shape(padded(n2), padded(n1), padded(2 * n1)),
            shape(2 * padded(n2), padded(n2), padded(n1)),
        )
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let (one, two) = self.shapes();
        let sums = (one.rows * one.columns).max(two.rows * two.columns);
        Workspace {
            data: several(self.parts, one.rows * one.pairs),
            middle: several(self.parts, two.pairs * two.columns),
            sums: vec![0.0; sums],
        }
    }

    /// Transforms lines in place.
    pub(crate) fn process(&self, lines: &mut [Complex<f32>], workspace: &mut Workspace) {
        match self.cut {
            Cut::Whole => {
                for lines in lines.chunks_mut(TILE * self.n) {
                    self.whole(lines, workspace);
                }
            }
            Cut::Blocks(n1, n2) => {
                for line in lines.chunks_exact_mut(self.n) {
                    self.blocks(line, n1, n2, workspace);
                }
            }
        }
    }

    /// Up to a tile of lines, each a row.
    fn whole(&self, lines: &mut [Complex<f32>], workspace: &mut Workspace) {
        let Workspace { data, sums, .. } = workspace;
        let (shape, _) = self.shapes();
        for (row, line) in lines.chunks_exact(self.n).enumerate() {
            let by = power(line).map_or(0.0, |power| f64::from(power).exp2());
            for (place, value) in line.iter().enumerate() {
                let place = row * shape.pairs + place;
                let scaled = |x: f32| {
                    if by == 0.0 {
                        0.0
                    } else {
                        (f64::from(x) * by) as f32
                    }
                };
                split(
                    scaled(value.re),
                    scaled(value.im),
                    self.parts,
                    |part, pair| {
                        data[part][place] = pair;
                    },
                );
            }
        }
        self.multiply(
            &shape,
            |(data_part, part)| Term {
                left: &data[data_part],
                right: &self.first[part],
            },
            sums,
        );
        for (line, sums) in lines
            .chunks_exact_mut(self.n)
            .zip(sums.chunks(shape.sums_pitch))
        {
            let Some(power) = power(line) else {
                line.fill(Complex::new(f32::NAN, f32::NAN));
                continue;
            };
            let back = f64::from(-power).exp2();
            for (value, &[re, im]) in line.iter_mut().zip(sums.as_chunks::<2>().0) {
                let result = |sum: f32| (f64::from(sum) * back) as f32;
                *value = Complex::new(result(re), result(im));
            }
        }
    }

    fn multiply<'a>(
        &self,
        shape: &Shape,
        term: impl Fn((usize, usize)) -> Term<'a>,
        sums: &mut [f32],
    ) {
        // In the order of `ozaki::products`, without a list of them in memory.
        match self.parts {
            1 => self.unit.multiply(shape, &[term((0, 0))], sums),
            _ => {
                let terms = [(0, 1), (1, 0), (0, 0)].map(term);
                self.unit.multiply(shape, &terms, sums);
            }
        }
    }

    fn blocks(&self, line: &mut [Complex<f32>], n1: usize, n2: usize, workspace: &mut Workspace) {
        let Some(power) = power(line) else {
            line.fill(Complex::new(f32::NAN, f32::NAN));
            return;
        };
        let (by, back) = (f64::from(power).exp2(), f64::from(-power).exp2());
        let Workspace { data, middle, sums } = workspace;
        let (first, second) = self.shapes();
        for (place, value) in line.iter().enumerate() {
            let place = place % n2 * first.pairs + place / n2;
            let scaled = |x: f32| (f64::from(x) * by) as f32;
            split(
                scaled(value.re),
                scaled(value.im),
                self.parts,
                |part, pair| {
                    data[part][place] = pair;
                },
            );
        }
        self.multiply(
            &first,
            |(data_part, part)| Term {
                left: &data[data_part],
                right: &self.first[part],
            },
            sums,
        );
        for (place, &rotation) in self.rotations.iter().enumerate() {
            let (j2, k1) = (place / n1, place % n1);
            let sum = &sums[j2 * first.sums_pitch + 2 * k1..][..2];
            let value = rotated([sum[0], sum[1]], rotation);
            split(value.re, value.im, self.parts, |part, pair| {
                middle[part][j2 * second.right_pitch + k1] = pair;
            });
        }
        self.multiply(
            &second,
            |(data_part, part)| Term {
                left: &self.second[part],
                right: &middle[data_part],
            },
            sums,
        );
        for (place, value) in line.iter_mut().enumerate() {
            let (k2, k1) = (place / n1, place % n1);
            let result = |row: usize| {
                let sum = sums[row * second.sums_pitch + k1];
                (f64::from(sum) * self.divided_by * back) as f32
            };
            *value = Complex::new(result(left_row(k2)), result(left_row(k2) + TILE));
        }
    }
}
