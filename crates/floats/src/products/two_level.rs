//! Two levels of splitting: four digits of 8 bits for data and matrix each, and f32 sums that are exact.
//!
//! Parts that are rounded one by one, as in `ozaki.rs`, leave sums with the rounding errors of f32 however many there are:
//! nothing below about `1e-7` can be reached so. Here all numbers of a line are integers under one exponent, split into
//! digits of at most 128, which bf16 holds. A product is at most `2^14`, so an f32 keeps 1024 of them exactly, in any
//! order and under any rounding; f64 puts the digits' sums together, exactly as well. What is left is what four digits
//! leave of the data (`2^-32` of the line's largest number), of the matrix, and the six products of small digits that are
//! not formed. Equal bits on every unit.

use crate::aligned::Aligned;
use crate::lanes::{InstructionSet, Task, Vectors};
use crate::numbers::roots::Real;
use crate::numbers::sample::{LineScale, Sample};
use crate::products::matrices::{Cut, directed_root, left, left_row, padded, right};
use crate::products::ozaki::products;
use crate::unit::{MatrixUnit, Shape, TILE, Term};
use crate::{Direction, Mode};
use fallible_memory::collected;
use num_complex::Complex;
use std::sync::Arc;

/// Digits of a number.
pub(crate) const DIGITS: usize = Mode::OzakiTwoLevel.parts();
/// Products that an f32 sums exactly.
pub(crate) const EXACT_PRODUCTS: usize = 1024;
/// Lines that are multiplied together where a line is a row.
const ROWS: usize = 2 * TILE;

/// The nearest integer, ties to even, for numbers below `2^51`: adding and taking off leaves no other bits.
#[inline(always)]
fn to_integer(value: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    value + SHIFT - SHIFT
}

/// The digits of the integer nearest to a number of at most `2^31`, the highest first: all within ±128, and a negated
/// number has negated digits. Everything is exact: f64 has more bits than the integer.
#[inline(always)]
fn digits(value: f64) -> [f64; DIGITS] {
    let mut rest = to_integer(value);
    let mut digits = [0.0; DIGITS];
    for (digit, weight) in digits.iter_mut().zip([16_777_216.0, 65_536.0, 256.0, 1.0]) {
        *digit = to_integer(rest * (1.0 / weight));
        rest -= *digit * weight;
    }
    digits
}

/// A digit as bf16, which has 8 bits for it.
#[inline(always)]
fn to_bf16(digit: f64) -> u32 {
    (digit as f32).to_bits() >> 16
}

/// The digits of an entry of the matrix, which is at most one.
pub(crate) fn entry_digits(value: Real) -> Vec<u16> {
    // The nearest integer to the high part: another one would be as near to within 2^-22.
    let digits = digits(value.scaled(31f64.exp2()).high);
    digits.map(|digit| to_bf16(digit) as u16).to_vec()
}

/// The exponent under which numbers of this size have 31 bits; zero is left alone.
fn exponent_of(largest: f64) -> i32 {
    if largest == 0.0 {
        return 0;
    }
    // Lines are within reach of one, so the largest number is normal.
    (largest.to_bits() >> 52) as i32 - 1023
}

/// Tables and shapes of one length.
#[derive(Debug)]
pub(crate) struct TwoLevel {
    n: usize,
    cut: Cut,
    set: InstructionSet,
    unit: Arc<dyn MatrixUnit>,
    first: Vec<Aligned<u32>>,
    first_shape: Shape,
    second: Vec<Aligned<u32>>,
    second_shape: Shape,
    rotations: Vec<Complex<f64>>,
    /// The products of digits, the smallest first.
    products: Vec<(usize, usize)>,
}

/// Memory that a transform works in. What pads data to whole tiles is zero from the beginning and stays so.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    data: Vec<Aligned<u32>>,
    middle: Vec<Aligned<u32>>,
    sums: Aligned<f32>,
    totals: Aligned<f64>,
    line: Vec<Complex<f64>>,
}

impl TwoLevel {
    pub(crate) fn new(
        n: usize,
        cut: Cut,
        direction: Direction,
        unit: Arc<dyn MatrixUnit>,
        set: InstructionSet,
    ) -> Self {
        let (n1, n2) = match cut {
            Cut::Whole => (n, 1),
            Cut::Blocks(n1, n2) => (n1, n2),
        };
        let rows = match cut {
            Cut::Whole => ROWS,
            Cut::Blocks(..) => padded(n2),
        };
        let (second, rotations) = match cut {
            Cut::Whole => (Vec::new(), Vec::new()),
            Cut::Blocks(..) => (
                left(n2, direction, &entry_digits),
                collected((0..n1 * n2).map(|place| {
                    let root = directed_root(place / n1 * (place % n1), n, direction);
                    Complex::new(root.re.high, root.im.high)
                })),
            ),
        };
        TwoLevel {
            n,
            cut,
            set,
            unit,
            first: right(n1, direction, &entry_digits),
            first_shape: Shape {
                rows,
                pairs: padded(n1),
                columns: padded(2 * n1),
                left_pitch: padded(n1),
                right_pitch: padded(2 * n1),
                sums_pitch: padded(2 * n1),
            },
            second,
            second_shape: Shape {
                rows: 2 * padded(n2),
                pairs: padded(n2),
                columns: padded(n1),
                left_pitch: padded(n2),
                right_pitch: padded(n1),
                sums_pitch: padded(n1),
            },
            rotations,
            products: products(DIGITS),
        }
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let (one, two) = (&self.first_shape, &self.second_shape);
        let second = |extent: usize| if self.cut == Cut::Whole { 0 } else { extent };
        let arrays = |length: usize| (0..DIGITS).map(|_| Aligned::zeros(length)).collect();
        let sums = (one.rows * one.columns).max(second(two.rows * two.columns));
        Workspace {
            data: arrays(one.rows * one.pairs),
            middle: arrays(second(two.pairs * two.columns)),
            sums: Aligned::zeros(sums),
            totals: Aligned::zeros(sums),
            line: vec![Complex::default(); second(self.n)],
        }
    }

    /// Transforms lines in place.
    pub(crate) fn process<D: Sample>(&self, lines: &mut [Complex<D>], workspace: &mut Workspace) {
        self.unit.clone().kept_ready(&mut || match self.cut {
            Cut::Whole => {
                for lines in lines.chunks_mut(ROWS * self.n) {
                    self.whole(lines, workspace);
                }
            }
            Cut::Blocks(n1, n2) => {
                for line in lines.chunks_exact_mut(self.n) {
                    self.blocks(line, n1, n2, workspace);
                }
            }
        });
    }

    fn largest<D: Sample>(&self, line: &[Complex<D>]) -> f64 {
        let mut bits = 0;
        self.set.enter(Largest(line, &mut bits));
        f64::from_bits(bits)
    }

    /// The sums of products with `i + j = order` for every order, combined: in units of the highest digits' product.
    fn multiply(
        &self,
        shape: &Shape,
        [lefts, rights]: [&[Aligned<u32>]; 2],
        sums: &mut [f32],
        totals: &mut [f64],
    ) {
        let terms: [Term<'_>; 10] = std::array::from_fn(|i| {
            let (l, r) = self.products[i];
            Term {
                left: &lefts[l],
                right: &rights[r],
            }
        });
        let together = EXACT_PRODUCTS / (2 * shape.pairs);
        let mut start = 0;
        totals.fill(0.0);
        for order in (0..DIGITS).rev() {
            let weight = (-8.0 * order as f64).exp2();
            for terms in terms[start..=start + order].chunks(together) {
                self.unit.multiply(shape, terms, sums);
                self.set.enter(AddSums {
                    sums,
                    weight,
                    totals,
                });
            }
            start += order + 1;
        }
    }

    fn whole<D: Sample>(&self, lines: &mut [Complex<D>], workspace: &mut Workspace) {
        let n = self.n;
        let mut scales = [(LineScale::One, 0); ROWS];
        for (row, line) in lines.chunks_exact(n).enumerate() {
            let scale = D::line_scale(line);
            let factor = scale.factors().0;
            let exponent = match scale {
                LineScale::NotFinite => 0,
                _ => exponent_of(self.largest(line) * factor),
            };
            scales[row] = (scale, exponent);
            self.set.enter(CutDigits {
                lines: line,
                n,
                pitch: 0,
                not_finite: scale == LineScale::NotFinite,
                factors: (factor, f64::from(30 - exponent).exp2()),
                start: row * self.first_shape.left_pitch,
                data: &mut workspace.data,
            });
        }
        let shape = Shape {
            rows: padded(lines.len() / n),
            ..self.first_shape
        };
        let Workspace {
            data, sums, totals, ..
        } = workspace;
        self.multiply(&shape, [data, &self.first], sums, totals);
        let rows = totals.chunks(shape.sums_pitch);
        for ((line, totals), (scale, exponent)) in lines.chunks_exact_mut(n).zip(rows).zip(scales) {
            if scale == LineScale::NotFinite {
                line.fill(Complex::new(D::NAN, D::NAN));
                continue;
            }
            let unit = f64::from(exponent - 13).exp2();
            let factor = scale.factors().1;
            for (value, &[re, im]) in line.iter_mut().zip(totals.as_chunks::<2>().0) {
                value.re = D::from_f64(re * unit * factor);
                value.im = D::from_f64(im * unit * factor);
            }
        }
    }

    fn blocks<D: Sample>(
        &self,
        line: &mut [Complex<D>],
        n1: usize,
        n2: usize,
        workspace: &mut Workspace,
    ) {
        let scale = D::line_scale(line);
        if scale == LineScale::NotFinite {
            line.fill(Complex::new(D::NAN, D::NAN));
            return;
        }
        let factor = scale.factors().0;
        let exponent = exponent_of(self.largest(line) * factor);
        let Workspace {
            data,
            middle,
            sums,
            totals,
            line: rotated,
        } = workspace;
        self.set.enter(Twiddle {
            line,
            factor,
            n1,
            n2,
            rows: rotated,
        });
        self.set.enter(CutDigits {
            lines: &rotated[..],
            n: n1,
            pitch: self.first_shape.left_pitch,
            not_finite: false,
            factors: (1.0, f64::from(30 - exponent).exp2()),
            start: 0,
            data,
        });
        self.multiply(&self.first_shape, [data, &self.first], sums, totals);
        self.set.enter(Rotate {
            totals,
            pitch: self.first_shape.sums_pitch,
            unit: f64::from(exponent - 13).exp2(),
            rotations: &self.rotations,
            n1,
            rotated,
        });
        let exponent = exponent_of(self.largest(rotated));
        self.set.enter(CutDigits {
            lines: &rotated[..],
            n: n1,
            pitch: self.second_shape.right_pitch,
            not_finite: false,
            factors: (1.0, f64::from(30 - exponent).exp2()),
            start: 0,
            data: middle,
        });
        self.multiply(&self.second_shape, [&self.second, middle], sums, totals);
        let unit = f64::from(exponent - 13).exp2();
        let back = scale.factors().1;
        let pitch = self.second_shape.sums_pitch;
        for (k2, row) in line.chunks_exact_mut(n1).enumerate() {
            let re = &totals[left_row(k2) * pitch..][..n1];
            let im = &totals[(left_row(k2) + TILE) * pitch..][..n1];
            for ((value, re), im) in row.iter_mut().zip(re).zip(im) {
                value.re = D::from_f64(re * unit * back);
                value.im = D::from_f64(im * unit * back);
            }
        }
    }
}

/// The largest magnitude of a part: magnitudes compare as integers.
struct Largest<'a, D>(&'a [Complex<D>], &'a mut u64);

impl<D: Sample> Task for Largest<'_, D> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        for value in self.0 {
            let (re, im) = (value.re.to_f64().abs(), value.im.to_f64().abs());
            *self.1 = (*self.1).max(re.to_bits()).max(im.to_bits());
        }
    }
}

/// Rows of numbers as pairs of digits.
struct CutDigits<'a, D> {
    lines: &'a [Complex<D>],
    n: usize,
    /// From one row of pairs to the next.
    pitch: usize,
    not_finite: bool,
    /// One after the other: together they may be beyond f64.
    factors: (f64, f64),
    start: usize,
    data: &'a mut [Aligned<u32>],
}

impl<D: Sample> Task for CutDigits<'_, D> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let [a, b, c, d] = self.data else {
            unreachable!("as many arrays as digits")
        };
        for (row, line) in self.lines.chunks_exact(self.n).enumerate() {
            let row = self.start + row * self.pitch..self.start + row * self.pitch + self.n;
            let (a, b) = (&mut a[row.clone()], &mut b[row.clone()]);
            let (c, d) = (&mut c[row.clone()], &mut d[row]);
            if self.not_finite {
                for part in [a, b, c, d] {
                    part.fill(0);
                }
                continue;
            }
            for ((((value, a), b), c), d) in line.iter().zip(a).zip(b).zip(c).zip(d) {
                let re = digits(value.re.to_f64() * self.factors.0 * self.factors.1);
                let im = digits(value.im.to_f64() * self.factors.0 * self.factors.1);
                *a = to_bf16(re[0]) | to_bf16(im[0]) << 16;
                *b = to_bf16(re[1]) | to_bf16(im[1]) << 16;
                *c = to_bf16(re[2]) | to_bf16(im[2]) << 16;
                *d = to_bf16(re[3]) | to_bf16(im[3]) << 16;
            }
        }
    }
}

/// `x[j1][j2]` as rows `j2`.
struct Twiddle<'a, D> {
    line: &'a [Complex<D>],
    factor: f64,
    n1: usize,
    n2: usize,
    rows: &'a mut [Complex<f64>],
}

impl<D: Sample> Task for Twiddle<'_, D> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        for (j1, values) in self.line.chunks_exact(self.n2).enumerate() {
            for (j2, value) in values.iter().enumerate() {
                self.rows[j2 * self.n1 + j1] = Complex::new(
                    value.re.to_f64() * self.factor,
                    value.im.to_f64() * self.factor,
                );
            }
        }
    }
}

/// The first product's totals, rotated.
struct Rotate<'a> {
    totals: &'a [f64],
    pitch: usize,
    unit: f64,
    rotations: &'a [Complex<f64>],
    n1: usize,
    rotated: &'a mut [Complex<f64>],
}

impl Task for Rotate<'_> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let n1 = self.n1;
        let rows = self.rotated.chunks_exact_mut(n1);
        let all = rows
            .zip(self.rotations.chunks_exact(n1))
            .zip(self.totals.chunks(self.pitch));
        for ((row, by), totals) in all {
            for ((value, by), &[re, im]) in row.iter_mut().zip(by).zip(totals.as_chunks::<2>().0) {
                let (re, im) = (re * self.unit, im * self.unit);
                *value = Complex::new(
                    re.mul_add(by.re, -(im * by.im)),
                    re.mul_add(by.im, im * by.re),
                );
            }
        }
    }
}

/// Sums under their weight, exactly: 26 bits and 24 that the weights span are fewer than 53.
struct AddSums<'a> {
    sums: &'a [f32],
    weight: f64,
    totals: &'a mut [f64],
}

impl Task for AddSums<'_> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        for (total, sum) in self.totals.iter_mut().zip(self.sums) {
            *total += f64::from(*sum) * self.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_make_up_the_number_and_fit_bf16() {
        let mut generator = ozfft_testkit::oracle::inputs::Generator::new(3);
        let ends = [0, 1, -1, 127, 128, 129, 255, 256, 1 << 31, -(1 << 31)];
        let random = (0..100_000).map(|_| (generator.next_u64() >> 32) as i64 - (1 << 31));
        for value in ends.into_iter().chain(random) {
            let digits = digits(value as f64);
            let sum = digits
                .iter()
                .fold(0, |sum, &digit| 256 * sum + digit as i64);
            assert_eq!(sum, value, "seed 3");
            for digit in digits {
                assert!(digit.abs() <= 128.0, "{value}: {digit}, seed 3");
                assert_eq!(f64::from(f32::from_bits(to_bf16(digit) << 16)), digit);
            }
            assert_eq!(super::digits(-value as f64), digits.map(|digit| -digit));
        }
    }

    #[test]
    fn integers_are_the_nearest() {
        for (value, nearest) in [
            (0.5, 0.0),
            (1.5, 2.0),
            (-0.5, 0.0),
            (-1.6, -2.0),
            (2147483647.4, 2147483647.0),
        ] {
            assert_eq!(to_integer(value), nearest);
        }
    }
}
