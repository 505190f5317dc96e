//! What is done to a line before and after its Fourier transform.

use super::DctKind;
use super::rotations::Rotations;
use crate::problem::{Direction, Norm, Problem};
use crate::sample::Real;
use num_complex::Complex;
use std::f64::consts::SQRT_2;

/// The Fourier transform inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inner {
    RealToComplex,
    ComplexToReal,
    Complex,
}

/// Tables of one kind and length.
#[derive(Debug)]
enum Tables {
    First,
    Second(Rotations),
    Third(Rotations),
    FourthEven(Rotations),
    FourthOdd(OddOrder),
}

/// Lines of one kind and length.
#[derive(Debug)]
pub(super) struct Lines {
    n: usize,
    /// Sines, not cosines.
    sine: bool,
    tables: Tables,
}

impl Lines {
    /// Type 1 needs two points.
    pub(super) fn new(kind: DctKind, n: usize) -> Lines {
        use DctKind::*;
        let tables = match kind {
            Dct1 | Dst1 => Tables::First,
            Dct2 | Dst2 => Tables::Second(Rotations::quarter_steps(n)),
            Dct3 | Dst3 => Tables::Third(Rotations::quarter_steps(n)),
            Dct4 | Dst4 if n.is_multiple_of(2) => Tables::FourthEven(Rotations::odd_sixteenths(n)),
            Dct4 | Dst4 => Tables::FourthOdd(OddOrder::new(n)),
        };
        let sine = kind.is_sine();
        Lines { n, sine, tables }
    }

    pub(super) fn bytes(&self) -> usize {
        match &self.tables {
            Tables::First => 0,
            Tables::Second(rotations)
            | Tables::Third(rotations)
            | Tables::FourthEven(rotations) => rotations.bytes(),
            Tables::FourthOdd(order) => size_of_val(&*order.inputs) + size_of_val(&*order.outputs),
        }
    }

    /// The bound of the relative L2 error, given that of the transform inside, and the condition number of the matrix.
    pub(super) fn bound<T: Real>(&self, inner: f64) -> (f64, f64) {
        const UNIT: f64 = f64::EPSILON / 2.0;
        let single = if T::IS_DOUBLE { 0.0 } else { T::UNIT_ROUNDOFF };
        match self.tables {
            Tables::First => (SQRT_2 * inner, if self.sine { 1.0 } else { 2.0 }),
            Tables::Second(_) => (SQRT_2 * inner + 4.0 * UNIT + single, SQRT_2),
            Tables::Third(_) => (inner + 4.0 * UNIT + single, SQRT_2),
            Tables::FourthEven(_) => (inner + 7.0 * UNIT + 2.0 * single, 1.0),
            Tables::FourthOdd(_) => (SQRT_2 * inner + 3.0 * UNIT + single, 1.0),
        }
    }

    /// The kind of the Fourier transform inside, and its points.
    pub(super) fn inner(&self) -> (Inner, usize) {
        let n = self.n;
        match self.tables {
            Tables::First if self.sine => (Inner::RealToComplex, 2 * (n + 1)),
            Tables::First => (Inner::RealToComplex, 2 * (n - 1)),
            Tables::Second(_) | Tables::FourthOdd(_) => (Inner::RealToComplex, n),
            Tables::Third(_) => (Inner::ComplexToReal, n),
            Tables::FourthEven(_) => (Inner::Complex, n / 2),
        }
    }

    /// That transform, not scaled.
    pub(super) fn problem(&self) -> Problem {
        match self.inner() {
            (Inner::RealToComplex, points) => Problem::real_to_complex(&[points]),
            (Inner::ComplexToReal, points) => Problem::complex_to_real(&[points])
                .direction(Direction::Inverse)
                .norm(Norm::Forward),
            (Inner::Complex, points) => Problem::complex(&[points]),
        }
    }

    /// Writes what is transformed: to `reals`, or to `numbers` where that takes complex numbers.
    pub(super) fn before<T: Real>(&self, line: &[T], reals: &mut [T], numbers: &mut [Complex<T>]) {
        let n = self.n;
        // Sines of types 3 and 4 are cosines of the line in reverse order.
        let at = |k: usize| match self.sine {
            true => line[n - 1 - k].widen(),
            false => line[k].widen(),
        };
        match &self.tables {
            Tables::First if self.sine => {
                reals[0] = T::default();
                reals[n + 1] = T::default();
                for (k, &x) in line.iter().enumerate() {
                    reals[k + 1] = x;
                    reals[2 * n + 1 - k] = negated(x);
                }
            }
            Tables::First => {
                reals[..n].copy_from_slice(line);
                for k in 1..n - 1 {
                    reals[2 * (n - 1) - k] = line[k];
                }
            }
            // Samples 0, 2, 4, … and then … 5, 3, 1; for sines, those with odd numbers negated, and the result in reverse.
            Tables::Second(_) => {
                for (k, &x) in line.iter().enumerate() {
                    match k % 2 {
                        0 => reals[k / 2] = x,
                        _ if self.sine => reals[n - 1 - k / 2] = negated(x),
                        _ => reals[n - 1 - k / 2] = x,
                    }
                }
            }
            // The half-spectrum of number k, (x[k] - i x[n - k]) rotated forward; there is no x[n].
            Tables::Third(Rotations { cosines, sines }) => {
                numbers[0] = Complex::new(T::narrow(at(0)), T::default());
                for k in 1..=n / 2 {
                    let (near, far) = (at(k), at(n - k));
                    let (cosine, sine) = (cosines[k], sines[k]);
                    let real = near * cosine + far * sine;
                    // The middle of a half-spectrum is real.
                    let imaginary = match 2 * k == n {
                        true => 0.0,
                        false => near * sine - far * cosine,
                    };
                    numbers[k] = Complex::new(T::narrow(real), T::narrow(imaginary));
                }
            }
            Tables::FourthEven(Rotations { cosines, sines }) => {
                for (k, number) in numbers.iter_mut().enumerate() {
                    let (near, far) = (at(2 * k), at(n - 1 - 2 * k));
                    let (cosine, sine) = (cosines[k], sines[k]);
                    let real = near * cosine + far * sine;
                    let imaginary = far * cosine - near * sine;
                    *number = Complex::new(T::narrow(real), T::narrow(imaginary));
                }
            }
            Tables::FourthOdd(order) => {
                for (real, &(place, sign)) in reals.iter_mut().zip(&order.inputs) {
                    *real = T::narrow(sign * at(place));
                }
            }
        }
    }

    /// Reads what was transformed, from `numbers` where they are complex.
    pub(super) fn after<T: Real>(&self, reals: &[T], numbers: &[Complex<T>], line: &mut [T]) {
        let n = self.n;
        match &self.tables {
            // Each number went in with the sign of the sine that the exponential subtracts.
            Tables::First if self.sine => {
                for (x, number) in line.iter_mut().zip(&numbers[1..]) {
                    *x = negated(number.im);
                }
            }
            Tables::First => {
                for (x, number) in line.iter_mut().zip(numbers) {
                    *x = number.re;
                }
            }
            // Twice the rotated half-spectrum: its real parts, and its imaginary parts from the end.
            Tables::Second(Rotations { cosines, sines }) => {
                let place = |k: usize| if self.sine { n - 1 - k } else { k };
                for k in 0..=n / 2 {
                    let (real, imaginary) = (numbers[k].re.widen(), numbers[k].im.widen());
                    let (cosine, sine) = (2.0 * cosines[k], 2.0 * sines[k]);
                    line[place(k)] = T::narrow(real * cosine + imaginary * sine);
                    if k > 0 && 2 * k < n {
                        line[place(n - k)] = T::narrow(real * sine - imaginary * cosine);
                    }
                }
            }
            Tables::Third(_) => {
                for (k, x) in line.iter_mut().enumerate() {
                    *x = match k % 2 {
                        0 => reals[k / 2],
                        _ if self.sine => negated(reals[n - 1 - k / 2]),
                        _ => reals[n - 1 - k / 2],
                    };
                }
            }
            Tables::FourthEven(Rotations { cosines, sines }) => {
                for (k, number) in numbers.iter().enumerate() {
                    let (real, imaginary) = (number.re.widen(), number.im.widen());
                    let (cosine, sine) = (2.0 * cosines[k], 2.0 * sines[k]);
                    let last = real * sine - imaginary * cosine;
                    line[2 * k] = T::narrow(real * cosine + imaginary * sine);
                    line[n - 1 - 2 * k] = T::narrow(if self.sine { -last } else { last });
                }
            }
            // Signs are exact, and so is the conversion to doubles.
            Tables::FourthOdd(order) => {
                for (k, (x, output)) in line.iter_mut().zip(&order.outputs).enumerate() {
                    let number = numbers[output.place];
                    let total = number.re.widen() * output.real_sign
                        + number.im.widen() * output.imaginary_sign;
                    let sign = if self.sine && k % 2 == 1 { -1.0 } else { 1.0 };
                    *x = T::narrow(sign * (total * SQRT_2));
                }
            }
        }
    }
}

fn negated<T: Real>(x: T) -> T {
    T::narrow(-x.widen())
}

/// Where type 4 of an odd length has its samples, and finds its results, in a real transform of the same length.
///
/// The symmetric array of `8n` points has x[j] at 2j + 1, is even, and changes its sign after `4n`. Its numbers at odd places are
/// known by those at places 1 mod 8, of which there is one for every remainder mod n, as n is odd: those are transformed. As
/// n² = 1 mod 8, `1/8n = n/8 - ((n² - 1)/8)/n`, so that the number b of the long transform is number -b (n² - 1)/8 of the
/// short one, turned by n b eighths of a turn.
#[derive(Debug)]
struct OddOrder {
    /// The sample that goes to each place, and its sign.
    inputs: Vec<(usize, f64)>,
    outputs: Vec<OddOutput>,
}

/// A result is the sum of both parts of a number, with these signs, times √2.
#[derive(Debug)]
struct OddOutput {
    place: usize,
    real_sign: f64,
    imaginary_sign: f64,
}

impl OddOrder {
    fn new(n: usize) -> OddOrder {
        let points = n as u128;
        let square = points * points;
        let input = |k: u128| {
            // Multiples of n² that are 1 mod 8 and 0 mod n, and of 1 - n², which is 0 mod 8 and 1 mod n.
            let long = 8 * points;
            let place = (square + k * (long - (square - 1) % long)) % long;
            let place = place.min(long - place);
            match place > 2 * points {
                true => (((4 * points - place - 1) / 2) as usize, -1.0),
                false => (((place - 1) / 2) as usize, 1.0),
            }
        };
        let output = |k: u128| {
            let odd = 2 * k + 1;
            let place = odd * (points - (square - 1) / 8 % points) % points;
            let mirrored = 2 * place > points;
            let eighths = odd * points % 8;
            let sign = |positive| if positive { 1.0 } else { -1.0 };
            OddOutput {
                place: if mirrored { points - place } else { place } as usize,
                real_sign: sign(eighths == 1 || eighths == 7),
                imaginary_sign: sign((eighths == 1 || eighths == 3) != mirrored),
            }
        };
        OddOrder {
            inputs: fallible_memory::collected((0..points).map(input)),
            outputs: fallible_memory::collected((0..points).map(output)),
        }
    }
}
