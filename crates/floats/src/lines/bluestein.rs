//! Lengths with a large prime factor, as a convolution with a chirp (Bluestein).
//!
//! With `jk = (j² + k² - (k-j)²) / 2` a transform is: times the chirp `c_j = exp(-πi j²/n)`, convolved with its
//! conjugate, times the chirp. The convolution is one of a length that has small factors. Chirps are roots of unity with
//! the exact argument `j² mod 2n`; their spectrum is a table, transformed in f64.

use crate::lanes::{InstructionSet, Scalar, Task, Vectors};
use crate::lines::program::{LineProgram, Operation};
use crate::lines::recipe::Step;
use crate::lines::stockham::Stockham;
use crate::numbers::arithmetic::{Arithmetic, DoubleAlone, DoubleCompensatedAlone};
use crate::numbers::number::{ComplexConstant, Constant, Number, Pair};
use crate::numbers::roots::{Real, Root, root};
use fallible_memory::collected;

/// The tables of one length.
#[derive(Debug)]
pub(crate) struct Bluestein<S> {
    chirp: Vec<ComplexConstant<S>>,
    /// Of the conjugated chirp, divided by the convolution's length.
    spectrum: Vec<ComplexConstant<S>>,
    /// Of the undivided spectrum.
    pub(crate) stats: SpectrumStats,
    convolution: Stockham<S>,
}

/// `exp(-πi j²/n)`.
fn chirp(j: usize, n: usize) -> Root {
    let turn = (j as u128 * j as u128 % (2 * n as u128)) as u64;
    root(2 * n as u64 - turn, 2 * n as u64)
}

/// A power of two that a convolution of this many points fits in.
pub(crate) fn convolution_length(n: usize) -> usize {
    (2 * n - 1).next_power_of_two().max(2)
}

/// How large the spectrum of a chirp is, and how accurate the table of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpectrumStats {
    /// The largest magnitude of an entry.
    pub(crate) largest: f64,
    /// The largest distance between an entry and what a transform with carried errors gives for it (B10).
    pub(crate) distance: f64,
}

impl SpectrumStats {
    fn new(table: &[f64], carried: &[f64]) -> SpectrumStats {
        // Both subtractions round, the first one by at most this much of its result.
        let off = |ours: f64, [value, error]: [f64; 2]| {
            let first = ours - value;
            (first - error).abs() + f64::UNIT_ROUNDOFF * first.abs()
        };
        let entries = table.as_chunks::<2>().0.iter();
        let each = entries.zip(carried.as_chunks::<4>().0);
        let mut stats = SpectrumStats {
            largest: 0.0,
            distance: 0.0,
        };
        for (&[re, im], &[re_value, re_error, im_value, im_error]) in each {
            let (of_re, of_im) = (off(re, [re_value, re_error]), off(im, [im_value, im_error]));
            stats.largest = stats.largest.max(re.hypot(im));
            stats.distance = stats.distance.max(of_re.hypot(of_im));
        }
        stats
    }
}

/// The spectrum of the conjugated chirp, wrapped around the convolution's length, in an arithmetic whose numbers have so many words.
fn spectrum<A: Arithmetic<Scalar = f64>>(
    chirp: &[Root],
    transform: &Stockham<f64>,
    (length, words): (usize, usize),
    set: InstructionSet,
) -> Vec<f64> {
    let mut kernel = vec![0.0; 2 * words * length];
    for (j, c) in chirp.iter().enumerate() {
        let (re, im) = ([c.re.high, c.re.low], [-c.im.high, -c.im.low]);
        for place in [j, (length - j) % length] {
            let point = &mut kernel[2 * words * place..][..2 * words];
            point[..words].copy_from_slice(&re[..words]);
            point[words..].copy_from_slice(&im[..words]);
        }
    }
    let mut other = vec![0.0; kernel.len()];
    match transform.transform::<A>(set, &mut kernel, &mut other) {
        true => other,
        false => kernel,
    }
}

impl<S: Scalar> Bluestein<S> {
    /// `steps` are those of the convolution.
    pub(crate) fn new(n: usize, steps: &[Step], set: InstructionSet) -> Self {
        let length = convolution_length(n);
        let chirp: Vec<Root> = collected((0..n).map(|j| chirp(j, n)));
        let transform = Stockham::<f64>::new(steps);
        // The table is what f64 makes of a chirp rounded to f64. How far it is from the exact spectrum is measured, entry by entry.
        let table = spectrum::<DoubleAlone>(&chirp, &transform, (length, 1), set);
        let carried = spectrum::<DoubleCompensatedAlone>(&chirp, &transform, (length, 2), set);
        let stats = SpectrumStats::new(&table, &carried);
        drop(carried);
        let divided = |value: f64| {
            // The convolution's length is a power of two.
            Constant::new(Real {
                high: value / length as f64,
                low: 0.0,
            })
        };
        Bluestein {
            chirp: collected(chirp.into_iter().map(ComplexConstant::new)),
            spectrum: collected(
                table
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .map(|&[re, im]| ComplexConstant {
                        re: divided(re),
                        im: divided(im),
                    }),
            ),
            stats,
            convolution: transform.rounded(),
        }
    }

    /// All of it for another machine, where it has the steps.
    pub(crate) fn write(&self, program: &mut LineProgram) -> Option<()> {
        let length = self.spectrum.len();
        let products = [
            (&self.chirp, (false, false), length),
            (&self.spectrum, (false, true), 0),
            (&self.chirp, (true, false), 0),
        ];
        for (i, (factors, swap, zero_to)) in products.into_iter().enumerate() {
            program.push(Operation::Multiply {
                values: factors.len(),
                swap,
                zero_to,
            });
            for &factor in factors {
                program.constant(factor);
            }
            if i < 2 {
                self.convolution.write(program)?;
            }
        }
        Some(())
    }

    /// Transforms the first `n` points of the first array; says whether the spectrum is in the second.
    pub(crate) fn transform<A: Arithmetic<Scalar = S>>(
        &self,
        set: InstructionSet,
        a: &mut [S],
        b: &mut [S],
    ) -> bool {
        set.enter(ChirpProduct::<A> {
            factors: &self.chirp,
            swap: (false, false),
            values: a,
            zero_to: self.spectrum.len(),
        });
        let moved = self.convolution.transform::<A>(set, a, b);
        let (from, to) = if moved { (b, a) } else { (a, b) };
        // Exchanged parts make the next transform an inverse one.
        set.enter(ChirpProduct::<A> {
            factors: &self.spectrum,
            swap: (false, true),
            values: from,
            zero_to: 0,
        });
        let moved_back = self.convolution.transform::<A>(set, from, to);
        let result = if moved_back { to } else { from };
        set.enter(ChirpProduct::<A> {
            factors: &self.chirp,
            swap: (true, false),
            values: result,
            zero_to: 0,
        });
        moved != moved_back
    }
}

/// Values times constants; parts are exchanged before or after.
struct ChirpProduct<'a, A: Arithmetic> {
    factors: &'a [ComplexConstant<A::Scalar>],
    swap: (bool, bool),
    values: &'a mut [A::Scalar],
    /// Values from the last constant to this one become zero.
    zero_to: usize,
}

impl<A: Arithmetic> Task for ChirpProduct<'_, A> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        for (j, factor) in self.factors.iter().enumerate() {
            let value = Pair::<A::Number<V>>::load(self.values, j).swapped_if(self.swap.0);
            let value = <A::Number<V>>::rotated(value, factor).swapped_if(self.swap.1);
            value.store(self.values, j);
        }
        for j in self.factors.len()..self.zero_to {
            Pair::<A::Number<V>>::zero().store(self.values, j);
        }
    }
}
