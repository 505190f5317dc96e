//! The spectrum in 96-bit fixed point, by a plain mixed-radix transform: it decides what double-double arithmetic leaves open.

use super::{LEAST_PARALLEL, chirp_roots, multiply};
use crate::parallel;
use crate::recipe::factor::prime_factors;
use crate::roots::root_table::RootTable;
use num_complex::Complex;

#[inline]
pub(super) fn rotate(z: Complex<i128>, t: Complex<i128>) -> Complex<i128> {
    Complex::new(
        multiply(z.re, t.re) - multiply(z.im, t.im),
        multiply(z.re, t.im) + multiply(z.im, t.re),
    )
}

/// The butterflies that put `radix` transforms of `part` points together.
struct Level {
    radix: usize,
    part: usize,
    /// Rotations before them: of transform 1, of transform 2 and so on.
    rotations: Vec<Complex<i128>>,
    /// The powers of their own root.
    powers: Vec<Complex<i128>>,
}

/// The levels of a transform of `m` points, the outermost first.
fn levels(m: usize) -> Vec<Level> {
    let roots = RootTable::new(m as u64);
    let root = |p: usize| roots.units_of_96_bits(p as u64).conj();
    let mut length = m;
    let level = |radix: usize| {
        let (part, step) = (length / radix, m / length);
        length = part;
        let rotation = |place: usize| root((place / part + 1) * (place % part) * step);
        Level {
            radix,
            part,
            rotations: parallel::collect((radix - 1) * part, LEAST_PARALLEL, rotation),
            powers: (0..radix).map(|p| root(p * part * step)).collect(),
        }
    };
    prime_factors(m).into_iter().map(level).collect()
}

impl Level {
    /// The `radix` outputs of numbers that are rotated already.
    fn butterfly(&self, column: &[Complex<i128>], mut write: impl FnMut(usize, Complex<i128>)) {
        for q in 0..self.radix {
            let rotated =
                column
                    .iter()
                    .enumerate()
                    .map(|(r, &value)| match (r * q) % self.radix * 2 {
                        0 => value,
                        half if half == self.radix => -value,
                        double => rotate(value, self.powers[double / 2]),
                    });
            write(
                q,
                rotated.fold(Complex::new(0, 0), |sum, value| sum + value),
            );
        }
    }

    /// Puts transforms of `part` points, one behind the other, together.
    fn combine(&self, values: &mut [Complex<i128>]) {
        if self.radix == 2 {
            let (low, high) = values.split_at_mut(self.part);
            for ((low, high), &root) in low.iter_mut().zip(high).zip(&self.rotations) {
                let rotated = rotate(*high, root);
                (*low, *high) = (*low + rotated, *low - rotated);
            }
            return;
        }
        let mut column = vec![Complex::new(0, 0); self.radix];
        for k in 0..self.part {
            column[0] = values[k];
            for (r, value) in column.iter_mut().enumerate().skip(1) {
                let place = r * self.part + k;
                *value = rotate(values[place], self.rotations[place - self.part]);
            }
            self.butterfly(&column, |q, value| values[q * self.part + k] = value);
        }
    }
}

/// Transforms `input[0], input[stride], …` into `output`.
fn transform(
    input: &[Complex<i128>],
    stride: usize,
    output: &mut [Complex<i128>],
    levels: &[Level],
) {
    let Some((level, rest)) = levels.split_first() else {
        output[0] = input[0];
        return;
    };
    if level.part == 1 {
        if level.radix == 2 {
            let (low, high) = (input[0], input[stride]);
            (output[0], output[1]) = (low + high, low - high);
            return;
        }
        let column: Vec<_> = (0..level.radix).map(|r| input[r * stride]).collect();
        return level.butterfly(&column, |q, value| output[q] = value);
    }
    let part = |r: usize, chunk: &mut [Complex<i128>]| {
        transform(&input[r * stride..], stride * level.radix, chunk, rest);
    };
    if output.len() < LEAST_PARALLEL {
        let chunks = output.chunks_exact_mut(level.part).enumerate();
        chunks.for_each(|(r, chunk)| part(r, chunk));
    } else {
        parallel::for_each_piece(output, level.part, part);
    }
    level.combine(output);
}

/// All points of the spectrum, in units of 2^-96.
pub(super) fn spectrum(n: usize, m: usize) -> Vec<Complex<i128>> {
    let mut chirp = vec![Complex::new(0, 0); m];
    let roots = chirp_roots(n, |roots, square| roots.units_of_96_bits(square));
    for (j, w) in roots.into_iter().enumerate() {
        chirp[j] = w;
        chirp[(m - j) % m] = w;
    }
    let mut values = vec![Complex::new(0, 0); m];
    transform(&chirp, 1, &mut values, &levels(m));
    values
}
