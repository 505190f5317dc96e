//! Is 2^p - 1 prime? The test of Lucas and Lehmer: S = 4, p - 2 times S = S² - 2 modulo 2^p - 1, and it is prime exactly if the end is 0.
//!
//! Squares are cyclic convolutions of words with irrational-base weights (Crandall and Fagin 1994), by transforms of real numbers. What
//! others take on trust is proven here, for every single squaring: from the bound of the plans, the norm of the words and the largest
//! value of their spectrum, all known by then, follows a bound of the error of every sum before it is rounded to an integer. Where it is
//! not below [`LARGEST_ERROR`] the squaring is not used, and is done again with shorter words. See [`Known::error_bound`].
//!
//! Against faults of machine or program each squaring and each carry is checked modulo 2^61 - 1 as well ([`Weighting::check_square`],
//! [`Weighting::check_carry`]): a single wrong sum or word is always found, several at once are missed with a probability of 2^-61.
//!
//! Residues are printed as GIMPS prints them: the low 64 bits of S in 16 upper-case hexadecimal digits.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "what is not a number is rejected with what is too large"
)]

use clap::Parser;
use num_complex::Complex;
use ozfft_applications::options::Computing;
use ozfft_applications::options::Library;
use ozfft_applications::plot::{Chart, Curve, Scales};
use ozfft_applications::report::Run;
use ozfft_applications::transforms::{Both, RealTransform};
use ozfft_applications::weighted_words::{MOST_BITS, WEIGHT_ERROR, Weighting};
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{Shape, parse_shape};
use ozfft_measure::report::{note, progress, say, say_json};
use ozfft_measure::{arguments, finish, memory};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The test of Lucas and Lehmer for Mersenne numbers 2^p - 1, by squarings that are proven exact.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The exponent p
    #[arg(long)]
    exponent: u64,
    /// Stop after so many iterations of S = S² - 2, and print what S is then [default: p - 2, which decides]
    #[arg(long)]
    iterations: Option<u64>,
    /// Number of words, instead of the fewest for which a proof is to be expected
    #[arg(long, value_parser = parse_shape)]
    shape: Option<Shape>,
    /// Allow engines without a proven bound: squarings are then checked, but not proven
    #[arg(long)]
    unproven: bool,
    #[command(flatten)]
    computing: Computing,
}

/// Sums are rounded to integers only if their error is proven to be smaller.
const LARGEST_ERROR: f64 = 0.45;
/// Numbers of words are tried until this error is expected, so that hardly any squaring has to be repeated.
const EXPECTED_ERROR: f64 = 0.3;
/// Largest exponent.
const MOST_EXPONENT: u64 = 1 << 32;
/// Below this exponent 2^p - 1 is squared as a machine word.
const SMALL_EXPONENT: u64 = 16;
/// Rounding error of f64, relative.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Squares numbers modulo 2^p - 1.
struct Squarer {
    weighting: Weighting,
    transform: RealTransform,
    signal: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    sums: Vec<i64>,
    /// Largest bound of an error, and largest distance to an integer, so far.
    largest_bound: f64,
    largest_distance: f64,
}

/// Why a squaring was not used.
#[derive(Debug)]
enum Rejected {
    /// The proof fails for these words.
    Bound(f64),
    Failure(Failure),
}

impl From<ozfft::FftError> for Rejected {
    fn from(error: ozfft::FftError) -> Rejected {
        Rejected::Failure(error.into())
    }
}

/// What is known of a squaring when it is to be rounded.
#[derive(Debug, Clone, Copy)]
struct Known {
    words: f64,
    /// Euclidean norm of the weighted words.
    norm: f64,
    /// Largest modulus of the spectrum.
    peak: f64,
    /// Bounds of the transforms, forward and inverse.
    bounds: [f64; 2],
    /// Largest modulus of a sum.
    largest_sum: f64,
}

impl Known {
    /// Proven bound of the error of every sum.
    ///
    /// Let x be the words, w the weights, y = x·w as computed, ‖·‖ Euclidean norms, F the unscaled transform of n points, so that
    /// ‖Fy‖ = √n‖y‖, and u = 2^-53.
    ///
    /// 1. Each y is off by at most (8+1)u relatively, so by Cauchy and Schwarz each sum of y⊛y by (2 + 9u)·9u·‖xw‖² < 2.1·9u·‖y‖².
    /// 2. The computed half-spectrum Y is off by β₁ of its norm, the whole one by D = √2·β₁√n‖y‖, since each error counts at most twice.
    /// 3. Y² is off by D(2P + D) with P the largest |Y|, and by 4u·P·(√n‖y‖ + D) for its rounding (√5 u for a complex product).
    /// 4. The inverse divides that by √n, and adds β₂ of the norm of its result, at most P(√n‖y‖ + D)(1 + 4u)/√n.
    /// 5. An entry of a vector is not larger than its norm; weights are at least 1; the product with the inverse weight is off by
    ///    (8+1)u relatively, of a sum that is at most twice the computed one.
    fn error_bound(&self) -> f64 {
        let [forward, inverse] = self.bounds;
        let root = libm::sqrt(self.words);
        let whole = root * self.norm;
        let spectrum = std::f64::consts::SQRT_2 * forward * whole;
        let product = self.peak * (whole + spectrum);
        let squares = spectrum * (2.0 * self.peak + spectrum) + 4.0 * UNIT * product;
        let sums = squares / root + inverse * product * (1.0 + 4.0 * UNIT) / root;
        let weighted = WEIGHT_ERROR + UNIT;
        let weights = 2.1 * weighted * self.norm * self.norm + 2.0 * weighted * self.largest_sum;
        // The norm is a sum of n squares: n·u relatively, and a few u for the rest.
        (sums + weights) * (1.0 + (self.words + 100.0) * 4.0 * UNIT)
    }
}

impl Squarer {
    fn new(exponent: u64, words: usize, computing: &Computing) -> Result<Squarer, Failure> {
        if computing.library != Library::Ozfft {
            return Err(Failure::Usage(format!(
                "of transforms by {} no error is known, and a squaring by them could not even be checked; take --library ozfft",
                computing.library.name()
            )));
        }
        // Signal, spectrum, words, sums, two weights, shifts, positions and workspace.
        memory::expect_points("the words", &[words], 120)?;
        Ok(Squarer {
            weighting: Weighting::new(exponent, words),
            transform: RealTransform::new(computing, &[words], (1, 1))?,
            signal: vec![0.0; words],
            spectrum: vec![Complex::new(0.0, 0.0); words / 2 + 1],
            sums: vec![0; words],
            largest_bound: 0.0,
            largest_distance: 0.0,
        })
    }

    /// The error bound that random words may be expected to have.
    fn expected_bound(&self) -> f64 {
        let weighting = &self.weighting;
        let words = weighting.words();
        let square = |k: usize| {
            let size = libm::exp2(f64::from(weighting.bits(k)));
            size * size / 12.0 * weighting.weights()[k] * weighting.weights()[k]
        };
        let square: f64 = (0..words).map(square).sum();
        // The largest of n/2 squared moduli, which are exponentially distributed: with probability 1 - e^-10 for all iterations of an hour.
        let peak = libm::sqrt(square * (libm::log(words as f64) + 10.0));
        let known = Known {
            words: words as f64,
            norm: libm::sqrt(square),
            peak,
            bounds: self.bounds(),
            largest_sum: 8.0 * square / libm::sqrt(words as f64),
        };
        known.error_bound()
    }

    fn bounds(&self) -> [f64; 2] {
        self.transform.both().map(|counted| counted.plan().bound())
    }

    /// S² - 2 in place.
    fn step(&mut self, words: &mut [i64]) -> Result<(), Rejected> {
        let fault = |what: &str| {
            Rejected::Failure(Failure::Check(format!(
                "{what}: the machine or the program computes wrongly; do not trust it, and compute elsewhere"
            )))
        };
        let weighting = &self.weighting;
        for ((value, &word), weight) in self.signal.iter_mut().zip(&*words).zip(weighting.weights())
        {
            *value = word as f64 * weight;
        }
        let norm = libm::sqrt(
            self.signal
                .iter()
                .fold(0.0, |sum, value| sum + value * value),
        );
        self.transform.forward(&self.signal, &mut self.spectrum)?;
        let mut peak = 0.0_f64;
        for value in &mut self.spectrum {
            peak = peak.max(value.norm_sqr());
            *value = Complex::new(
                value.re * value.re - value.im * value.im,
                2.0 * value.re * value.im,
            );
        }
        // The mean and, of an even length, the highest frequency of real numbers are real.
        let last = self.spectrum.len() - 1;
        for end in [0, last] {
            self.spectrum[end].im = 0.0;
        }
        self.transform.inverse(&self.spectrum, &mut self.signal)?;
        let (mut largest_sum, mut distance) = (0.0_f64, 0.0_f64);
        for ((sum, value), weight) in self
            .sums
            .iter_mut()
            .zip(&self.signal)
            .zip(weighting.inverse_weights())
        {
            let unweighted = value * weight;
            let rounded = libm::rint(unweighted);
            largest_sum = largest_sum.max(unweighted.abs());
            distance = distance.max((unweighted - rounded).abs());
            *sum = rounded as i64;
        }
        let bounds = self.transform.both().map(|counted| counted.plan().bound());
        let bound = Known {
            words: words.len() as f64,
            norm,
            peak: libm::sqrt(peak),
            bounds,
            largest_sum,
        }
        .error_bound();
        // Beyond 2^52 the nearest integer is not the nearest number any more; the bound says so long before.
        if !(bound < LARGEST_ERROR) {
            return Err(Rejected::Bound(bound));
        }
        if distance > bound {
            return Err(fault(&format!(
                "a sum is {distance:e} from an integer, and {bound:e} is proven"
            )));
        }
        if !weighting.check_square(words, &self.sums) {
            return Err(fault("the sums of a squaring are wrong modulo 2^61 - 1"));
        }
        self.sums[0] -= 2;
        let value = weighting.check_value(&self.sums);
        words.copy_from_slice(&self.sums);
        let wrapped = weighting.carry(words);
        if !weighting.check_carry(value, words, wrapped) {
            return Err(fault("carries changed the number modulo 2^61 - 1"));
        }
        self.largest_bound = self.largest_bound.max(bound);
        self.largest_distance = self.largest_distance.max(distance);
        Ok(())
    }
}

/// Whether a length has only factors 2, 3 and 5, two at least once.
fn is_smooth(length: usize) -> bool {
    let mut rest = length;
    for factor in [2, 3, 5] {
        while rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    rest == 1 && length.is_multiple_of(2)
}

/// The fewest words, at least so many, for which proofs are to be expected.
fn choose(exponent: u64, least: usize, computing: &Computing) -> Result<Squarer, Failure> {
    let shortest = 2_u64;
    for words in (least.max(2)..).filter(|&words| is_smooth(words)) {
        if exponent / (words as u64) < shortest {
            break;
        }
        let squarer = Squarer::new(exponent, words, computing)?;
        if squarer.expected_bound() < EXPECTED_ERROR {
            return Ok(squarer);
        }
    }
    Err(Failure::Usage(format!(
        "no words are short enough for a proof at the accuracy {}; leave it at double",
        ozfft_measure::options::accuracy_text(computing.accuracy)
    )))
}

/// The smallest factor of a number from 2 on, if it is not prime.
fn factor(number: u64) -> Option<u64> {
    (2..)
        .take_while(|d| d * d <= number)
        .find(|d| number.is_multiple_of(*d))
}

#[derive(Debug, Serialize)]
struct Report {
    exponent: u64,
    /// Whether 2^p - 1 is prime; none where the iterations do not decide it.
    prime: Option<bool>,
    /// A factor of the exponent, for which 2^factor - 1 divides the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    exponent_factor: Option<u64>,
    iterations: u64,
    /// Low 64 bits of S after the iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    res64: Option<String>,
    /// Of all bits of S, 64 at a time, the lowest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Whether every squaring was proven exact.
    proven: bool,
    words: usize,
    bits_per_word: f64,
    /// Largest proven error of a sum before it was rounded; below 0.5 it cannot be rounded wrongly.
    largest_bound: f64,
    /// Largest distance of a sum from an integer that was seen.
    largest_distance: f64,
    /// Squarings that were repeated with shorter words.
    repeated: u64,
    seconds_per_iteration: f64,
    #[serde(flatten)]
    run: Option<Run>,
}

impl Report {
    /// Without squarings by transforms.
    fn plain(exponent: u64, iterations: u64, prime: Option<bool>) -> Report {
        Report {
            exponent,
            prime,
            exponent_factor: None,
            iterations,
            res64: None,
            sha256: None,
            proven: true,
            words: 0,
            bits_per_word: 0.0,
            largest_bound: 0.0,
            largest_distance: 0.0,
            repeated: 0,
            seconds_per_iteration: 0.0,
            run: None,
        }
    }

    fn with_residue(self, limbs: &[u64]) -> Report {
        let mut hash = Sha256::new();
        limbs
            .iter()
            .for_each(|limb| hash.update(limb.to_le_bytes()));
        let bytes = hash.finalize();
        Report {
            res64: Some(format!("{:016X}", limbs[0])),
            sha256: Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
            ..self
        }
    }
}

/// S after some iterations modulo 2^p - 1 of a small exponent.
fn small(exponent: u64, iterations: u64) -> u64 {
    let modulus = (1_u64 << exponent) - 1;
    let square = |s: u64, _| (s * s + modulus - 2 % modulus) % modulus;
    (0..iterations).fold(4 % modulus, square)
}

/// Bounds over iterations, for the plot.
type History = Vec<(f64, f64)>;

fn compute(arguments: &Arguments) -> Result<(Report, History), Failure> {
    let exponent = arguments.exponent;
    let computing = &arguments.computing;
    if !(2..=MOST_EXPONENT).contains(&exponent) {
        return Err(Failure::Usage(format!(
            "--exponent {exponent} is not from 2 to {MOST_EXPONENT}; 2^1 - 1 = 1 and 2^0 - 1 = 0 are no primes"
        )));
    }
    let factor = factor(exponent);
    let iterations = match (arguments.iterations, factor) {
        (Some(iterations), _) => iterations,
        // 2^d - 1 divides 2^p - 1 where d divides p.
        (None, Some(_)) => {
            let report = Report::plain(exponent, 0, Some(false));
            return Ok((
                Report {
                    exponent_factor: factor,
                    ..report
                },
                Vec::new(),
            ));
        }
        (None, None) => exponent - 2,
    };
    // The test is one for odd primes; 2^2 - 1 = 3 is prime.
    let decides = factor.is_none() && (exponent == 2 || iterations == exponent - 2);
    let decided = |zero: bool| match (decides, factor) {
        (_, Some(_)) => Some(false),
        (true, None) => Some(zero || exponent == 2),
        (false, None) => None,
    };
    if exponent < SMALL_EXPONENT {
        let residue = small(exponent, iterations);
        let report = Report::plain(exponent, iterations, decided(residue == 0));
        let report = Report {
            exponent_factor: factor,
            ..report
        };
        return Ok((report.with_residue(&[residue]), Vec::new()));
    }
    let mut squarer = match &arguments.shape {
        None => choose(exponent, (exponent / 24) as usize, computing)?,
        Some(Shape(shape)) => match shape[..] {
            [words]
                if words >= 2
                    && words % 2 == 0
                    && words % 61 != 0
                    && exponent / words as u64 >= 2
                    && exponent.div_ceil(words as u64) <= u64::from(MOST_BITS) =>
            {
                Squarer::new(exponent, words, computing)?
            }
            _ => {
                return Err(Failure::Usage(format!(
                    "--shape {} is not an even number of words of 2 to {MOST_BITS} bits, without the factor 61",
                    arguments
                        .shape
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default()
                )));
            }
        },
    };
    let proven = squarer
        .transform
        .both()
        .iter()
        .all(|counted| counted.plan().bound_is_proven());
    if !proven && !arguments.unproven {
        return Err(Failure::Usage(format!(
            "the engine {} has no proven bound, and a squaring by it is no proof; take the engine digits, or --unproven to rely on checks",
            computing.engine
        )));
    }
    let mut words = squarer.weighting.from_limbs(&{
        let mut four = vec![0; exponent.div_ceil(64) as usize];
        four[0] = 4;
        four
    });
    let start = Instant::now();
    let bar = progress(
        iterations as usize,
        &format!("squarings modulo 2^{exponent} - 1"),
        computing.json,
    );
    let (mut repeated, mut history) = (0, Vec::new());
    let every = iterations.div_ceil(1000).max(1);
    let mut iteration = 0;
    while iteration < iterations {
        match squarer.step(&mut words) {
            Ok(()) => iteration += 1,
            Err(Rejected::Failure(failure)) => return Err(failure),
            Err(Rejected::Bound(bound)) => {
                let limbs = squarer.weighting.limbs(&words);
                let before = squarer.weighting.words();
                let (largest_bound, largest_distance) =
                    (squarer.largest_bound, squarer.largest_distance);
                squarer = choose(exponent, before + 1, computing)?;
                (squarer.largest_bound, squarer.largest_distance) =
                    (largest_bound, largest_distance);
                words = squarer.weighting.from_limbs(&limbs);
                repeated += 1;
                if !computing.json {
                    note(&format!(
                        "iteration {}: {bound:.2} is no proof with {before} words; it is repeated with {}",
                        iteration + 1,
                        squarer.weighting.words()
                    ));
                }
            }
        }
        if iteration % every == 0 {
            history.push((iteration as f64, squarer.largest_bound));
            bar.set_position(iteration);
        }
    }
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let limbs = squarer.weighting.limbs(&words);
    let count = squarer.weighting.words();
    let report = Report {
        exponent_factor: factor,
        proven,
        words: count,
        bits_per_word: exponent as f64 / count as f64,
        largest_bound: squarer.largest_bound,
        largest_distance: squarer.largest_distance,
        repeated,
        seconds_per_iteration: seconds / iterations.max(1) as f64,
        run: Some(Run::new(computing, &squarer.transform, seconds)),
        ..Report::plain(
            exponent,
            iterations,
            decided(limbs.iter().all(|&limb| limb == 0)),
        )
    };
    Ok((report.with_residue(&limbs), history))
}

fn tell(report: &Report) -> Result<(), Failure> {
    let p = report.exponent;
    let verdict = match (report.prime, report.exponent_factor) {
        (Some(true), _) => format!("2^{p} - 1 is prime"),
        (_, Some(d)) => {
            format!("2^{p} - 1 is not prime: 2^{d} - 1 divides it, since {d} divides {p}")
        }
        (Some(false), None) => format!("2^{p} - 1 is not prime"),
        (None, None) => format!(
            "2^{p} - 1 after {} of {} iterations",
            report.iterations,
            p - 2
        ),
    };
    say(&verdict)?;
    if let Some(residue) = &report.res64 {
        say(&format!(
            "residue (low 64 bits) after {} iterations: {residue}",
            report.iterations
        ))?;
    }
    if let Some(run) = &report.run {
        say(&format!(
            "{} words of {:.2} bits; {}: sums are off by at most {:.3}, {:.1e} was seen",
            report.words,
            report.bits_per_word,
            if report.proven {
                "proven"
            } else {
                "not proven"
            },
            // Rounded up, as a bound must be.
            (1e3 * report.largest_bound).ceil() / 1e3,
            report.largest_distance
        ))?;
        say(&run.text())?;
        say(&format!(
            "{:.3} ms an iteration",
            1e3 * report.seconds_per_iteration
        ))?;
    }
    Ok(())
}

fn draw(report: &Report, history: History, path: &Path) -> Result<(), Failure> {
    let end = history.last().map_or(1.0, |last| last.0);
    let chart = Chart {
        title: format!(
            "Squarings modulo 2^{} - 1, {:.2} bits a word",
            report.exponent, report.bits_per_word
        ),
        axes: ["iteration".into(), "error of a sum before rounding".into()],
        scales: Scales::LogY,
        curves: vec![
            Curve::line("largest proven bound so far", history),
            Curve::line(
                "largest distance from an integer",
                vec![
                    (0.0, report.largest_distance),
                    (end, report.largest_distance),
                ],
            ),
            Curve::line("1/2", vec![(0.0, 0.5), (end, 0.5)]),
        ],
    };
    chart.write(path)
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (report, history) = arguments.computing.in_pool(|| compute(arguments))?;
    if let Some(path) = &arguments.computing.plot {
        draw(&report, history, path)?;
    }
    if arguments.computing.json {
        say_json(&report)
    } else {
        tell(&report)
    }
}

fn main() -> ExitCode {
    finish(run(&arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;

    fn arguments(exponent: u64, iterations: Option<u64>) -> Arguments {
        Arguments {
            exponent,
            iterations,
            shape: None,
            unproven: false,
            computing: Computing {
                json: true,
                ..Computing::default()
            },
        }
    }

    fn report(exponent: u64, iterations: Option<u64>) -> Report {
        compute(&arguments(exponent, iterations))
            .expect("a residue")
            .0
    }

    /// The same by another library's integers.
    fn reference(exponent: u64, iterations: u64) -> UBig {
        let modulus = (UBig::ONE << exponent as usize) - UBig::ONE;
        let two = UBig::from(2_u8);
        let mut s = UBig::from(4_u8) % &modulus;
        for _ in 0..iterations {
            s = (&s * &s + &modulus - &two % &modulus) % &modulus;
        }
        s
    }

    /// Its bits, 64 at a time.
    fn limbs(value: &UBig, count: usize) -> Vec<u64> {
        let mut bytes = value.to_le_bytes().to_vec();
        bytes.resize(8 * count, 0);
        let limb = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        bytes.chunks_exact(8).map(limb).collect()
    }

    fn low_digits(value: &UBig) -> String {
        let count = value.to_le_bytes().len().div_ceil(8).max(1);
        format!("{:016X}", limbs(value, count)[0])
    }

    #[test]
    fn exponents_of_mersenne_primes_below_1300_are_the_known_ones() {
        let known = [2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521, 607, 1279];
        let found: Vec<u64> = (2..=140)
            .chain([257, 521, 523, 601, 607, 613, 1277, 1279])
            .filter(|&p| report(p, None).prime == Some(true))
            .collect();
        assert_eq!(found, known);
    }

    #[test]
    fn residues_of_composites_are_those_of_another_library() {
        // Published with the test itself: 1736 for 2^11 - 1.
        assert_eq!(report(11, None).res64.as_deref(), Some("00000000000006C8"));
        for exponent in [23, 29, 37, 67, 257, 997, 1277, 2207] {
            let found = report(exponent, None);
            assert_eq!(found.prime, Some(false));
            let expected = low_digits(&reference(exponent, exponent - 2));
            assert_eq!(found.res64, Some(expected), "2^{exponent} - 1");
            assert!(exponent < 16 || (found.proven && found.largest_bound < 0.5));
        }
    }

    #[test]
    fn any_exponent_and_number_of_iterations_gives_the_residue_of_another_library() {
        for (exponent, iterations) in [
            (2, 1),
            (3, 5),
            (16, 9),
            (60, 70),
            (64, 3),
            (91, 89),
            (122, 61),
            (4095, 40),
            (20000, 25),
        ] {
            let expected = low_digits(&reference(exponent, iterations));
            let found = report(exponent, Some(iterations));
            assert_eq!(found.res64, Some(expected), "{exponent} {iterations}");
        }
        assert_eq!(report(1001, None).exponent_factor, Some(7));
    }

    #[test]
    fn all_bits_are_those_of_another_library_with_words_of_any_length() {
        for words in [24, 30, 50, 96, 250] {
            let exponent = 757;
            let mut squarer = Squarer::new(exponent, words, &Computing::default()).expect("a plan");
            let mut limbs = vec![0; 12];
            limbs[0] = 4;
            let mut state = squarer.weighting.from_limbs(&limbs);
            for iteration in 1..=60 {
                match squarer.step(&mut state) {
                    Ok(()) => {}
                    // Words of 25 bits and more are too long, and the proof says so when they begin to fill.
                    Err(Rejected::Bound(bound)) => {
                        assert!(words <= 30 && bound >= LARGEST_ERROR, "{words} {bound}");
                        break;
                    }
                    Err(Rejected::Failure(failure)) => panic!("{failure}"),
                }
                let found = squarer.weighting.limbs(&state);
                let expected = reference(exponent, iteration);
                let digits = self::limbs(&expected, 12);
                assert_eq!(found, digits, "{words} words, iteration {iteration}");
                assert_eq!(squarer.weighting.from_limbs(&found), state);
            }
        }
    }

    #[test]
    fn words_that_are_too_long_are_replaced_and_the_residue_stays_right() {
        let few = Arguments {
            shape: Some(Shape(vec![64])),
            ..arguments(1999, Some(30))
        };
        let found = compute(&few).expect("a residue").0;
        assert!(found.repeated > 0 && found.words > 64);
        assert_eq!(found.res64, Some(low_digits(&reference(1999, 30))));
    }

    #[test]
    fn a_bound_that_is_not_proven_is_rejected_unless_allowed() {
        let mut native = arguments(127, None);
        native.computing.engine = ozfft::Engine::Native;
        let message = compute(&native).expect_err("no proof").to_string();
        assert!(
            message.contains("native") && message.contains("--unproven"),
            "{message}"
        );
        native.unproven = true;
        let found = compute(&native).expect("a verdict").0;
        assert_eq!((found.prime, found.proven), (Some(true), false));
        assert!(
            compute(&arguments(1, None)).is_err()
                && compute(&arguments(MOST_EXPONENT + 1, None)).is_err()
        );
    }
}
