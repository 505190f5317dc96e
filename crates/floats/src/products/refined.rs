//! One step of refinement: what the first result leaves of the input is transformed as well and added.
//!
//! ```text
//! X = F(x)    r = x - F⁻¹(X)    X + F(r)
//! ```
//!
//! `F` is the transform in bf16. `F⁻¹` is one in f32: in bf16 its own error would be as large as the one it is to find,
//! and nothing would be gained. So this costs more than an f32 transform, which is more accurate; it is here for those
//! who know the mode.

use crate::aligned::Aligned;
use crate::lanes::{InstructionSet, Task, Vectors};
use crate::lines::Lines;
use crate::numbers::sample::{LineScale, Sample};
use crate::products::dft_gemm::{self, DftGemm};
use num_complex::Complex;

/// Lines that are refined together.
const LINES: usize = 32;

/// The transform in bf16 and the inverse in f32.
#[derive(Debug)]
pub(crate) struct Refined {
    n: usize,
    forward: DftGemm,
    back: Lines<f32>,
    set: InstructionSet,
}

/// Memory that a transform works in.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    forward: dft_gemm::Workspace,
    back: Aligned<f32>,
    input: Vec<Complex<f32>>,
    residual: Vec<Complex<f32>>,
}

impl Refined {
    pub(crate) fn new(n: usize, forward: DftGemm, back: Lines<f32>, set: InstructionSet) -> Self {
        Refined {
            n,
            forward,
            back,
            set,
        }
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace {
            forward: self.forward.workspace(),
            back: self.back.workspace(),
            input: vec![Complex::default(); LINES * self.n],
            residual: vec![Complex::default(); LINES * self.n],
        }
    }

    /// Transforms lines in place.
    pub(crate) fn process(&self, lines: &mut [Complex<f32>], workspace: &mut Workspace) {
        for lines in lines.chunks_mut(LINES * self.n) {
            let input = &mut workspace.input[..lines.len()];
            let residual = &mut workspace.residual[..lines.len()];
            let mut scales = [LineScale::One; LINES];
            for (scale, line) in scales.iter_mut().zip(lines.chunks_exact_mut(self.n)) {
                *scale = f32::line_scale(line);
                scale_line(line, *scale, scale.factors().0);
            }
            input.copy_from_slice(lines);
            self.forward.process(lines, &mut workspace.forward);
            residual.copy_from_slice(lines);
            self.back.process(residual, &mut workspace.back);
            self.set.enter(Subtract {
                input,
                one_over_n: 1.0 / self.n as f32,
                residual,
            });
            self.forward.process(residual, &mut workspace.forward);
            for (value, correction) in lines.iter_mut().zip(&*residual) {
                *value += correction;
            }
            for (scale, line) in scales.iter().zip(lines.chunks_exact_mut(self.n)) {
                scale_line(line, *scale, scale.factors().1);
            }
        }
    }
}

/// Between the two transforms and the inverse nothing may overflow that fits in the end.
fn scale_line(line: &mut [Complex<f32>], scale: LineScale, factor: f64) {
    match scale {
        LineScale::One => {}
        LineScale::Power(_) => line.iter_mut().for_each(|value| *value *= factor as f32),
        LineScale::NotFinite => line.fill(Complex::new(f32::NAN, f32::NAN)),
    }
}

/// What a result, transformed back, leaves of the input.
struct Subtract<'a> {
    input: &'a [Complex<f32>],
    one_over_n: f32,
    residual: &'a mut [Complex<f32>],
}

impl Task for Subtract<'_> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        for (residual, input) in self.residual.iter_mut().zip(self.input) {
            residual.re = residual.re.mul_add(-self.one_over_n, input.re);
            residual.im = residual.im.mul_add(-self.one_over_n, input.im);
        }
    }
}
