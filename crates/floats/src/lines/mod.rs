//! Transforms of lines that lie side by side in the lanes of vectors, in any arithmetic of `number.rs` and `kahan.rs`.

pub(crate) mod bluestein;
pub(crate) mod gemm;
pub(crate) mod program;
pub(crate) mod recipe;
mod small_dft;
pub(crate) mod stockham;

use crate::Direction;
use crate::aligned::Aligned;
use crate::lanes::{InstructionSet, Scalar};
use crate::lines::bluestein::{Bluestein, SpectrumStats, convolution_length};
use crate::lines::gemm::Gemm;
use crate::lines::recipe::LineRecipe;
use crate::lines::stockham::Stockham;
use crate::numbers::arithmetic::{Arithmetic, Compensated, Double, Single, lanes};
use crate::numbers::sample::{LineScale, LoadPanel, MOST_LANES, Sample, StorePanel};
use num_complex::Complex;

/// How a line is transformed.
#[derive(Debug)]
enum Algorithm<S> {
    Gemm(Gemm<S>),
    Stages(Stockham<S>),
    Bluestein(Bluestein<S>),
}

/// A transform over lanes.
#[derive(Debug)]
pub(crate) struct Lines<S> {
    n: usize,
    /// Points that an array must hold.
    length: usize,
    /// Inverse transforms exchange real and imaginary parts on input and output.
    swap: bool,
    carried: bool,
    set: InstructionSet,
    algorithm: Algorithm<S>,
}

impl<S: Scalar> Lines<S> {
    pub(crate) fn new(
        n: usize,
        recipe: &LineRecipe,
        carried: bool,
        direction: Direction,
        set: InstructionSet,
    ) -> Self {
        let (algorithm, length) = match recipe {
            LineRecipe::Gemm => (Algorithm::Gemm(Gemm::new(n)), n),
            LineRecipe::Stages(steps) => (Algorithm::Stages(Stockham::new(steps)), n),
            LineRecipe::Bluestein(steps) => (
                Algorithm::Bluestein(Bluestein::new(n, steps, set)),
                convolution_length(n),
            ),
        };
        Lines {
            n,
            length,
            swap: direction == Direction::Inverse,
            carried,
            set,
            algorithm,
        }
    }

    /// What the bound depends on where there is a chirp.
    pub(crate) fn spectrum_stats(&self) -> Option<SpectrumStats> {
        match &self.algorithm {
            Algorithm::Bluestein(bluestein) => Some(bluestein.stats),
            _ => None,
        }
    }

    pub(crate) fn workspace(&self) -> Aligned<S> {
        let words = if self.carried { 2 } else { 1 };
        Aligned::zeros(2 * self.length * 2 * words * MOST_LANES)
    }

    fn panel<A: Arithmetic<Scalar = S>, D: Sample>(
        &self,
        lines: &mut [Complex<D>],
        work: &mut [S],
    ) {
        let mut scales = [LineScale::One; MOST_LANES];
        let scales = &mut scales[..lines.len() / self.n];
        let (a, b) = work.split_at_mut(work.len() / 2);
        self.set.enter(LoadPanel::<A, D> {
            lines,
            n: self.n,
            swap: self.swap,
            scales,
            panel: a,
        });
        let moved = match &self.algorithm {
            Algorithm::Gemm(gemm) => {
                gemm.transform::<A>(self.set, a, b);
                true
            }
            Algorithm::Stages(stages) => stages.transform::<A>(self.set, a, b),
            Algorithm::Bluestein(bluestein) => bluestein.transform::<A>(self.set, a, b),
        };
        self.set.enter(StorePanel::<A, D> {
            panel: if moved { b } else { a },
            n: self.n,
            swap: self.swap,
            scales,
            lines,
        });
    }

    fn all<A: Arithmetic<Scalar = S>, D: Sample>(&self, lines: &mut [Complex<D>], work: &mut [S]) {
        for lines in lines.chunks_mut(lanes::<A>(self.set) * self.n) {
            if lines.len() == self.n {
                self.panel::<A::Alone, D>(lines, work);
            } else {
                self.panel::<A, D>(lines, work);
            }
        }
    }
}

impl Lines<f32> {
    /// Transforms lines in place.
    pub(crate) fn process(&self, lines: &mut [Complex<f32>], work: &mut [f32]) {
        if self.carried {
            self.all::<Compensated, f32>(lines, work);
        } else {
            self.all::<Single, f32>(lines, work);
        }
    }
}

impl Lines<f64> {
    /// Transforms lines in place.
    pub(crate) fn process<D: Sample>(&self, lines: &mut [Complex<D>], work: &mut [f64]) {
        self.all::<Double, D>(lines, work);
    }
}
