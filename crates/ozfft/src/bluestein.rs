//! Lengths with a large prime factor: the transform as a convolution with a chirp, in the same integer arithmetic.
//!
//! With `w_j = exp(-πi j²/n)`, `X_k = w_k Σ_j (x_j w_j) · conj(w_{k-j})`: a cyclic convolution of any smooth length
//! `m >= 2n-1`. The chirp is indexed by `j² mod 2n`, exactly; its spectrum is a table like any other, rounded once from
//! a transform in 96-bit fixed point (`chirp_spectrum.rs`). Data stay block fixed point from the first chirp to the
//! last.

use crate::chirp_spectrum::chirp_spectrum;
use crate::matrix_unit::MatrixUnit;
use crate::passes::{
    LoadScratch, Passes, Progression, Sink, Source, WordLine, narrowed, narrowing_shift,
};
use crate::problem::Family;
use crate::quantise::{Columns, NotFinite, quantise_words, word_of};
use crate::recipe::{BlockRecipe, Digits};
use crate::roots::{self, Fixed};
use crate::sample::swapped;
use crate::tables::Tables;
use crate::twiddle::Twiddle;
use crate::workspace::{SharedArray, Wide, take, wide_complex, words_for};
use num_complex::Complex;

/// A source of floating-point numbers, which a chirp can be multiplied into.
pub(crate) trait FloatSource: Sync {
    /// Gathers elements of a progression, in the orientation of a forward transform.
    fn gather(&self, elements: Progression, values: &mut [Complex<f64>]);
}

/// A planned line of any length.
#[derive(Debug)]
pub(crate) struct Bluestein {
    n: usize,
    passes: Passes,
    chirp: Vec<Twiddle>,
    /// Spectrum of the conjugate chirp, scaled, divided by the convolution length.
    kernel: Vec<Twiddle>,
    /// The kernel's values are `kernel / 2^62 · 2^kernel_exponent`.
    kernel_exponent: i32,
    word_bits: u32,
}

/// `j²` modulo `2n`.
pub(crate) fn square(j: usize, n: usize) -> u64 {
    (j as u128 * j as u128 % (2 * n) as u128) as u64
}

impl Bluestein {
    /// Tables for length `n` over passes of length `m >= 2n-1`; outputs are scaled by `scale · 2^scale_exponent`.
    pub(crate) fn new(
        n: usize,
        recipes: &[BlockRecipe],
        digits: Digits,
        family: Family,
        scale: &Fixed,
        scale_exponent: i32,
        tables: &Tables,
    ) -> Self {
        let one = Fixed::one();
        let passes = Passes::new(recipes, digits, family, &one, 0, tables);
        let m = passes.len();
        assert!(
            m >= 2 * n - 1,
            "the convolution length {m} is too short for {n}"
        );
        let (inverse, inverse_exponent) = Fixed::inverse_mantissa(m as u64);
        let chirp = (0..n)
            .map(|j| {
                let (re, im) = roots::twiddle(square(j, n), 2 * n as u64, &one);
                Twiddle::new(re, im)
            })
            .collect();
        let (kernel, kernel_exponent) = chirp_spectrum(n, m, &scale.multiply(&inverse));
        Bluestein {
            n,
            passes,
            chirp,
            kernel,
            kernel_exponent: kernel_exponent + inverse_exponent + scale_exponent,
            word_bits: digits.word_bits(),
        }
    }

    pub(crate) fn is_large(&self) -> bool {
        self.passes.is_large()
    }

    /// 64-bit words of workspace for one transform by `workers` threads.
    pub(crate) fn workspace_len(&self, workers: usize) -> usize {
        words_for::<Complex<i64>>(self.passes.len())
            + words_for::<i32>(self.passes.output_step())
            + self.passes.workspace_len(workers)
    }

    /// Transforms one line. Reading is complete before the sink is called for the first time.
    pub(crate) fn run(
        &self,
        unit: &dyn MatrixUnit,
        source: &dyn FloatSource,
        sink: &dyn Sink,
        mut workspace: &mut [u64],
        workers: usize,
    ) -> Result<(), NotFinite> {
        let period = self.passes.output_step();
        let words = SharedArray::new(take::<Complex<i64>>(&mut workspace, self.passes.len()));
        let exponents = SharedArray::new(take::<i32>(&mut workspace, period));
        let chirped = ChirpSource { plan: self, source };
        let product = KernelSink {
            plan: self,
            words,
            exponents,
        };
        self.passes
            .run(unit, &chirped, &product, workspace, workers)?;
        let stored = WordLine {
            words: words.reader(),
            exponents: exponents.reader(),
            exponent_period: period,
        };
        let unchirp = ChirpSink { plan: self, sink };
        self.passes.run(unit, &stored, &unchirp, workspace, workers)
    }
}

/// The input times the chirp, followed by zeros.
struct ChirpSource<'a> {
    plan: &'a Bluestein,
    source: &'a dyn FloatSource,
}

impl Source for ChirpSource<'_> {
    fn quantise(
        &self,
        elements: Progression,
        shape: Columns,
        words: &mut [Complex<i64>],
        scratch: &mut LoadScratch<'_>,
    ) -> Result<i32, NotFinite> {
        let count = words.len();
        let given = elements.count_below(self.plan.n, count);
        let floats = &mut scratch.floats[..given];
        self.source.gather(elements, floats);
        words[given..].fill(Complex::new(0, 0));
        scratch.exponents[given..count].fill(0);
        for (i, &value) in floats.iter().enumerate() {
            if !(value.re.is_finite() && value.im.is_finite()) {
                return Err(NotFinite);
            }
            let (word, exponent) = word_of(value, self.plan.word_bits);
            words[i] = self.plan.chirp[elements.at(i)].rotate(word);
            scratch.exponents[i] = exponent;
        }
        Ok(quantise_words(
            words,
            &scratch.exponents[..count],
            shape,
            scratch.words,
        ))
    }
}

/// Multiplies the spectrum by the kernel and turns it round for the inverse transform.
struct KernelSink<'a> {
    plan: &'a Bluestein,
    words: SharedArray<'a, Complex<i64>>,
    exponents: SharedArray<'a, i32>,
}

impl Sink for KernelSink<'_> {
    fn accept(&self, outputs: Progression, values: &mut [Complex<Wide>], exponent: i32) {
        let shift = narrowing_shift(values, self.plan.word_bits);
        for (i, &z) in values.iter().enumerate() {
            let k = outputs.at(i);
            let product = self.plan.kernel[k].rotate(narrowed(z, shift));
            // SAFETY: every output belongs to one line, and every line to one thread.
            unsafe { self.words.set(k, swapped(product)) }
        }
        let exponent = exponent + shift as i32 + self.plan.kernel_exponent;
        // SAFETY: as above.
        unsafe { self.exponents.set(outputs.start, exponent) }
    }
}

/// Multiplies by the chirp once more and hands on the first `n` outputs.
struct ChirpSink<'a> {
    plan: &'a Bluestein,
    sink: &'a dyn Sink,
}

impl Sink for ChirpSink<'_> {
    fn accept(&self, outputs: Progression, values: &mut [Complex<Wide>], exponent: i32) {
        let count = outputs.count_below(self.plan.n, values.len());
        let values = &mut values[..count];
        let shift = narrowing_shift(values, self.plan.word_bits);
        for (i, z) in values.iter_mut().enumerate() {
            let turned = self.plan.chirp[outputs.at(i)].rotate(swapped(narrowed(*z, shift)));
            *z = wide_complex(turned.re.into(), turned.im.into());
        }
        self.sink.accept(outputs, values, exponent + shift as i32);
    }
}
