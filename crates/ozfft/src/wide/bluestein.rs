//! Lengths with a large prime factor: a convolution with a chirp, in the same words.
//!
//! With `w_j = exp(-πi j²/n)`, `X_k = w_k Σ_j (x_j w_j) · conj(w_{k-j})`. The spectrum of the conjugate chirp is computed by
//! the passes that it serves: their errors are bounded at every single output, not only in the mean (`budget.rs`).

use super::block::Tables;
use super::hardware::Hardware;
use super::passes::{Passes, WordArray};
use super::quantise::{ZERO_EXPONENT, conjugated};
use super::rotate::{Root, modulus};
use super::words::{ComplexWord, LANES, Limbs, shifted, to_integer, to_limbs};
use crate::parallel;
use crate::recipe::BlockRecipe;
use crate::roots::Fixed;
use crate::transform::chirp_spectrum::square;
use float_environment::DefaultEnvironment;

/// A planned line.
#[derive(Debug)]
pub(super) struct Bluestein {
    n: usize,
    passes: Passes,
    chirp: Vec<Root>,
    /// Spectrum of the conjugate chirp over the convolution length, where the passes leave their outputs.
    kernel: Vec<Root>,
    /// Kernel entries are to be multiplied by 2 to this power.
    kernel_exponent: i32,
    /// Largest modulus of the spectrum.
    pub(super) largest: f64,
}

impl Bluestein {
    /// Tables for length `n`; outputs are scaled by `scale · 2^scale_exponent`.
    pub(super) fn new(
        n: usize,
        recipes: &[BlockRecipe],
        (scale, scale_exponent): (&Fixed, i32),
        tables: &Tables,
        hardware: &Hardware,
        threads: usize,
    ) -> Bluestein {
        let one = Fixed::one();
        let passes = Passes::new(recipes, &one, tables);
        let m = passes.len();
        assert!(
            m >= 2 * n - 1,
            "the convolution length {m} is too short for {n}"
        );
        let root = |j| {
            // Threads inherit the environment of the thread that started them.
            let _environment = DefaultEnvironment::enter();
            Root::new(square(j, n), 2 * n as u64, &one)
        };
        let chirp: Vec<Root> = parallel::on_threads(threads, || parallel::collect(n, 1, root));
        let mut array = WordArray::new(m);
        array.exponents.fill(-126);
        for (j, root) in chirp.iter().enumerate() {
            let word = conjugated(root.to_word());
            array.words[j] = word;
            array.words[(m - j) % m] = word;
        }
        passes.run(hardware, &mut array, threads);
        let value = |i: usize| modulus(array.words[i]) * f64::from(array.exponents[i]).exp2();
        let largest = (0..m).map(value).fold(0.0, f64::max);
        // Every entry is below 2^bits, and the scale at most 1.
        let bits = largest.log2().floor() as i32 + 1;
        let (inverse, inverse_exponent) = Fixed::inverse_mantissa(m as u64);
        let factor = Root::new(0, 1, &scale.multiply(&inverse));
        let kernel = (0..m)
            .map(|i| {
                // In units of 2^-126 of 2^bits.
                let shift = array.exponents[i] - bits + 126;
                let part = |limbs: Limbs| to_limbs(shifted(to_integer(limbs), shift));
                let word = array.words[i];
                let (re, im) = super::rotate::rotated(part(word.re), part(word.im), &factor);
                Root::from_word(ComplexWord { re, im })
            })
            .collect();
        Bluestein {
            n,
            passes,
            chirp,
            kernel,
            kernel_exponent: bits + inverse_exponent + scale_exponent,
            largest,
        }
    }

    /// Points of the convolution.
    pub(super) fn convolution(&self) -> usize {
        self.passes.len()
    }

    pub(super) fn chirp(&self, j: usize) -> &Root {
        &self.chirp[j]
    }

    /// Whether a block is long enough for the convolution, so that several lines are worth transforming at once.
    pub(super) fn is_short(&self) -> bool {
        self.passes.is_one_block()
    }

    /// Transforms lines whose elements have been rotated by the chirp, followed by zeros. Outputs, still to be rotated by the
    /// chirp, lie in their order at the beginning of each line.
    pub(super) fn run(&self, hardware: &Hardware, array: &mut WordArray, threads: usize) {
        let m = self.passes.len();
        self.passes.run(hardware, array, threads);
        let mut spectrum = WordArray::new(array.words.len());
        for line in 0..array.words.len() / m {
            for place in (0..m).step_by(LANES) {
                let lanes = LANES.min(m - place);
                let mut point = super::words::Point::ZERO;
                let mut roots = [Root::ZERO; LANES];
                for lane in 0..lanes {
                    let word = array.words[line * m + place + lane];
                    point.set(lane, word.re);
                    point.set(LANES + lane, word.im);
                    roots[lane] = self.kernel[place + lane];
                }
                let product = super::passes::rotate(hardware, &point, &roots);
                for lane in 0..lanes {
                    let to = line * m + self.passes.output_index(place + lane);
                    // The inverse is a forward transform between two conjugations.
                    spectrum.words[to] = conjugated(super::quantise::lane_of(&product, lane));
                    spectrum.exponents[to] =
                        array.exponents[line * m + place + lane] + self.kernel_exponent;
                }
            }
        }
        self.passes.run(hardware, &mut spectrum, threads);
        for line in 0..array.words.len() / m {
            for place in 0..m {
                let k = self.passes.output_index(place);
                if k < self.n {
                    array.words[line * m + k] = conjugated(spectrum.words[line * m + place]);
                    array.exponents[line * m + k] = spectrum.exponents[line * m + place];
                }
            }
        }
    }

    /// Padding beyond the elements of a line.
    pub(super) const FILL: (ComplexWord, i32) = (
        ComplexWord {
            re: [0; 4],
            im: [0; 4],
        },
        ZERO_EXPONENT,
    );
}
