//! Deterministic inputs: random ones and hard ones, from a seed the caller prints.
//!
//! Everything is built from integer operations, the four basic operations of IEEE arithmetic and roots of unity
//! of this crate, so that a seed means the same bits on every platform.

use crate::oracle::roots::root_of_unity;
use crate::oracle::spectrum::multiply_by_power_of_two;
use num_complex::Complex;

/// What the generator's state grows by.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A small generator of random numbers (the SplitMix64 sequence): one addition and two multiplications a number.
///
/// ```
/// use ozfft_testkit::oracle::inputs::Generator;
/// assert_eq!(Generator::new(5).next_u64(), Generator::new(5).next_u64());
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    state: u64,
}

impl Generator {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Sixty-four random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// An integer below `bound`.
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no integer is below zero");
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Uniform in [-1, 1], with a full mantissa at every magnitude rather than on a fixed grid.
    pub fn uniform(&mut self) -> f64 {
        self.next_u64().cast_signed() as f64 * 2f64.powi(-63)
    }

    /// Uniform in [1, 2) with a random sign: all that varies is the mantissa.
    pub fn signed_mantissa(&mut self) -> f64 {
        let bits = self.next_u64();
        f64::from_bits((bits & (1 << 63)) | (1023 << 52) | (bits & ((1 << 52) - 1)))
    }

    /// Uniform in the square [-1, 1]².
    pub fn uniform_complex(&mut self) -> Complex<f64> {
        Complex::new(self.uniform(), self.uniform())
    }
}

/// The value at an index of [`uniform_complex`], without those before it: large inputs need not be held.
pub fn uniform_complex_at(seed: u64, index: usize) -> Complex<f64> {
    // The generator counts in steps of one constant, two for every complex number.
    let steps = (index as u64).wrapping_mul(2);
    Generator {
        state: seed.wrapping_add(steps.wrapping_mul(STEP)),
    }
    .uniform_complex()
}

/// Complex values uniform in the square [-1, 1]².
pub fn uniform_complex(length: usize, seed: u64) -> Vec<Complex<f64>> {
    let mut generator = Generator::new(seed);
    (0..length).map(|_| generator.uniform_complex()).collect()
}

/// Real values uniform in [-1, 1].
pub fn uniform_real(length: usize, seed: u64) -> Vec<f64> {
    let mut generator = Generator::new(seed);
    (0..length).map(|_| generator.uniform()).collect()
}

/// Real numbers of nearly normal distribution, with variance 1/4 around 0: sums of twelve uniform ones.
pub fn near_normal_real(length: usize, seed: u64) -> Vec<f64> {
    let mut generator = Generator::new(seed);
    let mut normal = || (0..12).map(|_| generator.uniform()).sum::<f64>() / 2.0;
    (0..length).map(|_| normal()).collect()
}

/// Complex values of nearly normal distribution, with variance one in each part: the sum of twelve uniform
/// numbers, which needs no logarithm and so gives the same bits everywhere. Nothing lies beyond six deviations.
pub fn gaussian_complex(length: usize, seed: u64) -> Vec<Complex<f64>> {
    let mut generator = Generator::new(seed);
    let mut normal = || (0..12).map(|_| generator.uniform()).sum::<f64>() * 0.5;
    (0..length)
        .map(|_| Complex::new(normal(), normal()))
        .collect()
}

/// The dial of dynamic range: random mantissas and signs, binary exponents uniform over `range_bits` values from
/// zero downwards (so zero and one bit both mean magnitudes in [1, 2)). Up to about 1000 bits all values are
/// normal numbers.
///
/// ```
/// let line = ozfft_testkit::oracle::inputs::wide_range(100, 3, 20);
/// assert!(line.iter().all(|value| value.re.abs() < 2.0 && value.re.abs() >= 2f64.powi(-19)));
/// ```
pub fn wide_range(length: usize, seed: u64, range_bits: u32) -> Vec<Complex<f64>> {
    let mut generator = Generator::new(seed);
    let mut value = || {
        let mantissa = generator.signed_mantissa();
        multiply_by_power_of_two(
            mantissa,
            -(generator.below(range_bits.max(1) as usize) as i32),
        )
    };
    (0..length)
        .map(|_| Complex::new(value(), value()))
        .collect()
}

/// An impulse of one every `period` elements, over uniform values of magnitude up to `floor`.
///
/// # Panics
/// If `period` is zero.
pub fn comb(length: usize, period: usize, floor: f64, seed: u64) -> Vec<Complex<f64>> {
    assert!(period > 0, "a comb needs a period");
    let mut generator = Generator::new(seed);
    (0..length)
        .map(|index| {
            let tooth = if index.is_multiple_of(period) {
                1.0
            } else {
                0.0
            };
            generator.uniform_complex() * floor + tooth
        })
        .collect()
}

/// A complex tone `exp(+2 pi i * frequency * j / length)`, every value correctly rounded.
///
/// # Panics
/// If `length` is zero.
pub fn tone(length: usize, frequency: usize) -> Vec<Complex<f64>> {
    let phase = |index: usize| (index as u128 * frequency as u128 % length as u128) as usize;
    (0..length)
        .map(|index| root_of_unity(phase(index), length).conj().to_complex())
        .collect()
}

/// The line times a power of two: exact while the results are normal numbers, rounded where they are subnormal,
/// infinite where they are too large.
///
/// ```
/// use num_complex::Complex;
/// let scaled = ozfft_testkit::oracle::inputs::scaled_by_power_of_two(&[Complex::new(3.0, 0.0)], -1000);
/// assert_eq!(scaled[0].re, 3.0 * 2f64.powi(-1000));
/// ```
pub fn scaled_by_power_of_two(line: &[Complex<f64>], exponent: i32) -> Vec<Complex<f64>> {
    let scale = |value| multiply_by_power_of_two(value, exponent);
    line.iter()
        .map(|value| Complex::new(scale(value.re), scale(value.im)))
        .collect()
}

/// The real values as complex ones.
pub fn complex_from_real(line: &[f64]) -> Vec<Complex<f64>> {
    line.iter().map(|&value| Complex::new(value, 0.0)).collect()
}

/// Lines that have broken transforms, or would break a careless one.
///
/// ```
/// use ozfft_testkit::oracle::HardInput;
/// for input in HardInput::ALL {
///     assert_eq!(input.generate(30, 1).len(), 30, "{}", input.name());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HardInput {
    /// One at index 0: the spectrum is all ones.
    Impulse,
    /// A random value at a random place: the spectrum has constant magnitude.
    ImpulseAnywhere,
    /// The same random value everywhere: one output, all others cancel.
    Constant,
    /// A complex tone of random frequency, correctly rounded: outputs at the level of its rounding errors.
    Tone,
    /// A real cosine of random frequency.
    CosineTone,
    /// +1, -1, +1, ...: everything in the highest frequency (of even lengths).
    AlternatingSigns,
    /// The second half is the negated first half plus something 2^-50 smaller: every other output is small.
    PlantedCancellation,
    /// Subnormal numbers only.
    Subnormals,
    /// One value of 1 over random values up to 2^-40.
    SpikeOverFloor,
    /// A mean of one million under fluctuations of size one.
    LargeMeanMillion,
    /// A mean of 2^40 under fluctuations of size one.
    LargeMeanTwoTo40,
    /// Exponents uniform over 20 bits.
    Span20,
    /// Exponents uniform over 53 bits: as many as the mantissa has.
    Span53,
    /// Exponents uniform over 500 bits.
    Span500,
    /// Impulses at a regular distance over random values up to 2^-30.
    CombOverFloor,
    /// A smooth bump that decays to 1e-17: a spectrum that decays as well.
    GaussianBump,
    /// A chirp `exp(i pi j² / N)`: flat in both domains.
    Chirp,
    /// Large first, then ever smaller by a constant factor, 2^-200 in all.
    GeometricDecay,
    /// Magnitudes just below 2^1000: intermediate squares overflow.
    NearOverflow,
}

impl HardInput {
    /// Every one of them.
    pub const ALL: [Self; 19] = [
        Self::Impulse,
        Self::ImpulseAnywhere,
        Self::Constant,
        Self::Tone,
        Self::CosineTone,
        Self::AlternatingSigns,
        Self::PlantedCancellation,
        Self::Subnormals,
        Self::SpikeOverFloor,
        Self::LargeMeanMillion,
        Self::LargeMeanTwoTo40,
        Self::Span20,
        Self::Span53,
        Self::Span500,
        Self::CombOverFloor,
        Self::GaussianBump,
        Self::Chirp,
        Self::GeometricDecay,
        Self::NearOverflow,
    ];

    /// A short name for tables and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impulse => "impulse",
            Self::ImpulseAnywhere => "impulse anywhere",
            Self::Constant => "constant",
            Self::Tone => "tone",
            Self::CosineTone => "cosine tone",
            Self::AlternatingSigns => "alternating signs",
            Self::PlantedCancellation => "planted cancellation",
            Self::Subnormals => "subnormals",
            Self::SpikeOverFloor => "spike over floor",
            Self::LargeMeanMillion => "mean 1e6",
            Self::LargeMeanTwoTo40 => "mean 2^40",
            Self::Span20 => "span 2^20",
            Self::Span53 => "span 2^53",
            Self::Span500 => "span 2^500",
            Self::CombOverFloor => "comb over floor",
            Self::GaussianBump => "gaussian bump",
            Self::Chirp => "chirp",
            Self::GeometricDecay => "geometric decay",
            Self::NearOverflow => "near overflow",
        }
    }

    /// The line of the given length and seed.
    ///
    /// # Panics
    /// If `length` is zero.
    pub fn generate(self, length: usize, seed: u64) -> Vec<Complex<f64>> {
        assert!(length > 0, "an input needs at least one element");
        let mut generator = Generator::new(seed);
        let zero = Complex::new(0.0, 0.0);
        match self {
            Self::Impulse => impulse(length, 0, Complex::new(1.0, 0.0)),
            Self::ImpulseAnywhere => {
                let place = generator.below(length);
                impulse(length, place, generator.uniform_complex())
            }
            Self::Constant => vec![generator.uniform_complex(); length],
            Self::Tone => tone(length, generator.below(length)),
            Self::CosineTone => tone(length, generator.below(length))
                .iter()
                .map(|value| Complex::new(value.re, 0.0))
                .collect(),
            Self::AlternatingSigns => {
                let sign = |index: usize| if index.is_multiple_of(2) { 1.0 } else { -1.0 };
                (0..length)
                    .map(|index| Complex::new(sign(index), 0.0))
                    .collect()
            }
            Self::PlantedCancellation => planted_cancellation(length, &mut generator),
            Self::Subnormals => {
                // Mantissas of up to 52 bits in units of the smallest number.
                let mut tiny = || (generator.uniform() * 2f64.powi(52)).trunc() * f64::from_bits(1);
                (0..length).map(|_| Complex::new(tiny(), tiny())).collect()
            }
            Self::SpikeOverFloor => {
                let place = generator.below(length);
                let mut line: Vec<_> = (0..length)
                    .map(|_| generator.uniform_complex() * 2f64.powi(-40))
                    .collect();
                line[place] += 1.0;
                line
            }
            Self::LargeMeanMillion => (0..length)
                .map(|_| generator.uniform_complex() + 1e6)
                .collect(),
            Self::LargeMeanTwoTo40 => (0..length)
                .map(|_| generator.uniform_complex() + 2f64.powi(40))
                .collect(),
            Self::Span20 => wide_range(length, seed, 20),
            Self::Span53 => wide_range(length, seed, 53),
            Self::Span500 => wide_range(length, seed, 500),
            Self::CombOverFloor => comb(length, length.isqrt().max(2), 2f64.powi(-30), seed),
            Self::GaussianBump => {
                // From exp(-40) to 1 and back, centred.
                let centred = |index: usize| (2 * index + 1) as f64 / length as f64 - 1.0;
                let value = |index| decaying_exponential(40.0 * centred(index) * centred(index));
                (0..length).map(|index| zero + value(index)).collect()
            }
            Self::Chirp => {
                let phase =
                    |index: usize| (index as u128 * index as u128 % (2 * length as u128)) as usize;
                (0..length)
                    .map(|index| root_of_unity(phase(index), 2 * length).conj().to_complex())
                    .collect()
            }
            Self::GeometricDecay => (0..length)
                .map(|index| {
                    let exponent = (200 * index as u128 / length as u128) as i32;
                    generator.uniform_complex() * 2f64.powi(-exponent)
                })
                .collect(),
            Self::NearOverflow => scaled_by_power_of_two(&uniform_complex(length, seed), 1000),
        }
    }
}

fn impulse(length: usize, place: usize, value: Complex<f64>) -> Vec<Complex<f64>> {
    let mut line = vec![Complex::new(0.0, 0.0); length];
    line[place] = value;
    line
}

fn planted_cancellation(length: usize, generator: &mut Generator) -> Vec<Complex<f64>> {
    let small = 2f64.powi(-50);
    let half = length / 2;
    let mut line: Vec<Complex<f64>> = (0..half).map(|_| generator.uniform_complex()).collect();
    for index in 0..half {
        let opposite = -line[index] + generator.uniform_complex() * small;
        line.push(opposite);
    }
    if line.len() < length {
        line.push(generator.uniform_complex() * small);
    }
    line
}

/// `exp(-argument)` for moderate positive arguments, to a dozen digits, with basic operations only: a short
/// series for a 2^-16th of the argument, squared sixteen times.
fn decaying_exponential(argument: f64) -> f64 {
    let small = argument * 2f64.powi(-16);
    let series = 1.0 - small * (1.0 - small / 2.0 * (1.0 - small / 3.0 * (1.0 - small / 4.0)));
    (0..16).fold(series, |value, _| value * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_reproducible_finite_and_as_described() {
        for input in HardInput::ALL {
            for length in [1, 2, 3, 16, 101] {
                let line = input.generate(length, 11);
                assert_eq!(line.len(), length, "{}", input.name());
                assert_eq!(line, input.generate(length, 11), "{}", input.name());
                assert!(
                    line.iter().all(|value| value.is_finite()),
                    "{}",
                    input.name()
                );
            }
        }
        assert!(
            HardInput::Subnormals
                .generate(64, 1)
                .iter()
                .all(|value| value.re.is_subnormal())
        );
        assert!((decaying_exponential(3.0) - (-3f64).exp()).abs() < 1e-12);
        let bump = HardInput::GaussianBump.generate(1001, 1);
        assert_eq!(bump[500].re, 1.0);
        assert!(bump[0].re < 1e-16);
    }

    #[test]
    fn the_generator_is_the_published_sequence() {
        // First outputs for seed 1234567, as given with the algorithm's reference implementation.
        let mut generator = Generator::new(1_234_567);
        assert_eq!(generator.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(generator.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn moments_are_plausible() {
        let line = gaussian_complex(20_000, 9);
        let mean: f64 = line.iter().map(|value| value.re).sum::<f64>() / 20_000.0;
        let variance: f64 = line.iter().map(|value| value.re * value.re).sum::<f64>() / 20_000.0;
        assert!(
            mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05,
            "{mean} {variance}"
        );
        let uniform = uniform_real(20_000, 9);
        let variance: f64 = uniform.iter().map(|value| value * value).sum::<f64>() / 20_000.0;
        assert!((variance - 1.0 / 3.0).abs() < 0.02);
    }
}
