//! Lengths with a large prime factor: the transform as a convolution with a chirp, in the same integer arithmetic.
//!
//! With `w_j = exp(-πi j²/n)`, `X_k = w_k Σ_j (x_j w_j) · conj(w_{k-j})`: a cyclic convolution of any smooth length
//! `m >= 2n-1`. The chirp is indexed by `j² mod 2n`, exactly; its spectrum is a table like any other, rounded once from
//! a transform in 96-bit fixed point (`chirp_spectrum.rs`). Data stay block fixed point from the first chirp to the
//! last.

use crate::bailey::{Panel, WidePanel};
use crate::chirp_spectrum::chirp_spectrum;
use crate::lanes::WideRow;
use crate::line::FloatSource;
use crate::matrix_unit::MatrixUnit;
use crate::passes::{Lines, NotFinite, Passes, Sink, Source, WordLine, narrowed, narrowing_shifts};
use crate::problem::Family;
use crate::quantise::{Columns, Nature, Quantised, quantise_words, word_of};
use crate::recipe::{BlockRecipe, Digits};
use crate::roots::{self, Fixed};
use crate::sample::swapped;
use crate::tables::Tables;
use crate::twiddle::Twiddle;
use crate::workspace::{SharedArray, take, words_for};
use num_complex::Complex;
use std::sync::atomic::{AtomicU8, Ordering};

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

    /// Whether lines are transformed side by side (else one by one).
    pub(crate) fn is_one_block(&self) -> bool {
        self.passes.is_one_block()
    }

    /// Lines whose words are kept at once.
    fn lines<const L: usize>(&self) -> usize {
        if self.is_one_block() { L } else { 1 }
    }

    /// 64-bit words of workspace for one transform by `workers` threads.
    pub(crate) fn workspace_len<const L: usize>(&self, workers: usize) -> usize {
        let lines = self.lines::<L>();
        words_for::<Complex<i64>>(lines * self.passes.len())
            + words_for::<i32>(lines * self.passes.output_step())
            + self.passes.workspace_len::<L>(workers)
    }

    /// Transforms `active` short lines, or one longer line. Reading is complete before the sink is called for the
    /// first time.
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>, K: Sink<L>>(
        &self,
        unit: U,
        source: &dyn FloatSource<L>,
        sink: &K,
        active: usize,
        mut workspace: &mut [u64],
        workers: usize,
    ) -> Result<(), NotFinite> {
        let (period, lines) = (self.passes.output_step(), self.lines::<L>());
        let length = self.passes.len();
        let words = SharedArray::new(take::<Complex<i64>>(&mut workspace, lines * length));
        let exponents = SharedArray::new(take::<i32>(&mut workspace, lines * period));
        // One entry for each of several lines side by side; a line that is transformed alone uses the first.
        let natures: [AtomicU8; L] = std::array::from_fn(|_| AtomicU8::new(0));
        let chirped = ChirpSource { plan: self, source };
        let product = KernelSink {
            plan: self,
            words,
            exponents,
            natures: &natures,
        };
        self.passes
            .run(unit, &chirped, &product, active, workspace, workers)?;
        let stored = WordLine {
            words: words.reader(),
            exponents: exponents.reader(),
            exponent_period: period,
            line_distance: if lines == 1 { 0 } else { length },
            exponent_distance: if lines == 1 { 0 } else { period },
        };
        let unchirp = ChirpSink {
            plan: self,
            sink,
            natures: &natures,
        };
        self.passes
            .run(unit, &stored, &unchirp, active, workspace, workers)
    }
}

/// The input times the chirp, followed by zeros.
struct ChirpSource<'a, const L: usize> {
    plan: &'a Bluestein,
    source: &'a dyn FloatSource<L>,
}

impl<const L: usize> Source<L> for ChirpSource<'_, L> {
    #[inline(always)]
    fn quantise(
        &self,
        lines: &Lines<L>,
        shape: Columns,
        words: &mut Panel<'_, L>,
        exponents: &mut [[i32; L]],
    ) -> Quantised<L> {
        let n = self.plan.n;
        let exponents = &mut exponents[..words.re.len()];
        self.source.gather(lines, n, words);
        let mut nature = [Nature::ZERO; L];
        for (i, exponents) in exponents.iter_mut().enumerate() {
            for lane in 0..L {
                let index = lines.at(lane, i);
                if index >= n {
                    exponents[lane] = 0;
                    continue;
                }
                let float = |bits: i64| f64::from_bits(bits as u64);
                let value = Complex::new(float(words.re[i][lane]), float(words.im[i][lane]));
                let whole = value.re.is_finite() && value.im.is_finite();
                nature[lane] = nature[lane].with(Nature {
                    not_finite: !whole,
                    has_real: value.re != 0.0,
                    has_imaginary: value.im != 0.0,
                });
                let (word, exponent) = if whole {
                    word_of(value, self.plan.word_bits)
                } else {
                    (Complex::new(0, 0), 0)
                };
                let turned = self.plan.chirp[index].rotate(word);
                words.re[i][lane] = turned.re;
                words.im[i][lane] = turned.im;
                exponents[lane] = exponent;
            }
        }
        Quantised {
            exponents: quantise_words(words, exponents, shape),
            nature,
        }
    }
}

/// Multiplies the spectrum by the kernel and turns it round for the inverse transform.
struct KernelSink<'a> {
    plan: &'a Bluestein,
    words: SharedArray<'a, Complex<i64>>,
    exponents: SharedArray<'a, i32>,
    natures: &'a [AtomicU8],
}

impl<const L: usize> Sink<L> for KernelSink<'_> {
    #[inline(always)]
    fn accept(&self, lines: &Lines<L>, values: &mut WidePanel<'_, L>, found: &Quantised<L>) {
        let plan = self.plan;
        let (length, period) = (plan.passes.len(), plan.passes.output_step());
        let one_block = plan.is_one_block();
        let shifts = narrowing_shifts(values, plan.word_bits);
        for i in 0..values.high.re.len() {
            let re = narrowed(&values.high.re[i], &values.low.re[i], &shifts);
            let im = narrowed(&values.high.im[i], &values.low.im[i], &shifts);
            for lane in 0..lines.active {
                let k = lines.at(lane, i);
                let product = plan.kernel[k].rotate(Complex::new(re[lane], im[lane]));
                let line = if one_block { lane * length } else { 0 };
                // SAFETY: every output belongs to one line, and every line to one thread.
                unsafe { self.words.set(line + k, swapped(product)) }
            }
        }
        for lane in 0..lines.active {
            let exponent = found.exponents[lane] + shifts[lane] as i32 + plan.kernel_exponent;
            let line = if one_block { lane * period } else { 0 };
            // SAFETY: as above.
            unsafe { self.exponents.set(line + lines.starts[lane], exponent) }
            let nature = &self.natures[if one_block { lane } else { 0 }];
            nature.store(found.nature[lane].to_bits(), Ordering::Relaxed);
        }
    }
}

/// Multiplies by the chirp once more and hands on the first `n` outputs.
struct ChirpSink<'a, K> {
    plan: &'a Bluestein,
    sink: &'a K,
    natures: &'a [AtomicU8],
}

impl<const L: usize, K: Sink<L>> Sink<L> for ChirpSink<'_, K> {
    #[inline(always)]
    fn accept(&self, lines: &Lines<L>, values: &mut WidePanel<'_, L>, found: &Quantised<L>) {
        let plan = self.plan;
        let shifts = narrowing_shifts(values, plan.word_bits);
        for i in 0..values.high.re.len() {
            let re = narrowed(&values.high.re[i], &values.low.re[i], &shifts);
            let im = narrowed(&values.high.im[i], &values.low.im[i], &shifts);
            let (mut out_re, mut out_im) = ([0; L], [0; L]);
            for lane in 0..L {
                let k = lines.at(lane, i);
                if k < plan.n {
                    let y = swapped(Complex::new(re[lane], im[lane]));
                    let turned = plan.chirp[k].rotate(y);
                    out_re[lane] = turned.re;
                    out_im[lane] = turned.im;
                }
            }
            let (re, im) = (WideRow::from_words(&out_re), WideRow::from_words(&out_im));
            values.set(i, &re, &im);
        }
        let mut found = *found;
        for lane in 0..L {
            found.exponents[lane] += shifts[lane] as i32;
            // Known since the first of the two transforms.
            let nature = &self.natures[if plan.is_one_block() { lane } else { 0 }];
            found.nature[lane] = Nature::from_bits(nature.load(Ordering::Relaxed));
        }
        self.sink.accept(lines, values, &found);
    }
}
