//! One transform of a random field: its time, its error against an exact reference, its bound and its bits. The program `ozfft-demo`
//! shows it, and `ozfft demo` next to other engines.

mod exact;

use ozfft::{Complex, Engine, FftError, Planner, Problem, bound_text};
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::Instant;

/// Frequencies along each axis; errors are measured at all triples of them.
const FREQUENCIES: usize = 8;
/// Calls of which the shortest counts.
const CALLS: usize = 3;

/// The field that README shows: its size, its seed, and the SHA-256 of its transform by digits.
pub const PUBLISHED: (usize, u64, &str) = (
    128,
    1,
    "25e1930f96541dee28ffd54e59eea98d45406f307c2f6938350161574974795b",
);

/// What an engine made of the field.
#[derive(Debug, Clone)]
pub struct Transformed {
    pub engine: Engine,
    /// The engine as people know it.
    pub name: &'static str,
    /// Root mean square of the errors, relative to that of the exact outputs.
    pub l2: f64,
    /// The largest error, relative to the largest exact output.
    pub linf: f64,
    pub bound: f64,
    pub bound_is_proven: bool,
    pub expected: f64,
    pub plan_seconds: f64,
    pub seconds: f64,
    /// Of the result as little-endian doubles.
    pub sha256: String,
    pub recipe: Option<String>,
}

/// A field and what engines made of it.
#[derive(Debug, Clone)]
pub struct Demonstration {
    /// Points along each of three axes.
    pub size: usize,
    pub seed: u64,
    pub threads: usize,
    /// Outputs at which errors are measured.
    pub samples: usize,
    /// The L2 error of the exact outputs rounded once: no double-precision result can have a smaller one.
    pub floor_l2: f64,
    /// The digits engine first.
    pub engines: Vec<Transformed>,
}

/// SplitMix64: inputs of the published results come from it, so that a seed means the same bits everywhere.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [-1, 1].
    fn uniform(&mut self) -> f64 {
        self.next().cast_signed() as f64 * 2f64.powi(-63)
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// The exact transform at some outputs.
struct Reference {
    /// Where they are in the result.
    places: Vec<usize>,
    exact: Vec<exact::Exact>,
    /// The 2-norm of the input: by Parseval's theorem the root mean square of all exact outputs.
    norm: f64,
}

impl Reference {
    fn new(field: &[Complex<f64>], size: usize, seed: u64) -> Reference {
        // Another sequence than the field's, so that places and values are independent.
        let mut generator = Generator(!seed);
        let mut some = || {
            (0..FREQUENCIES)
                .map(|_| generator.below(size))
                .collect::<Vec<_>>()
        };
        let frequencies = [some(), some(), some()];
        let [first, second, third] = &frequencies;
        let mut places = Vec::new();
        for i in first {
            for j in second {
                places.extend(third.iter().map(|k| (i * size + j) * size + k));
            }
        }
        Reference {
            places,
            exact: exact::outputs(field, size, &frequencies),
            norm: field.iter().map(Complex::norm_sqr).sum::<f64>().sqrt(),
        }
    }

    /// L2 and Linf errors of what stands for each exact output.
    fn errors(&self, computed: impl Fn(usize, &exact::Exact) -> Complex<f64>) -> (f64, f64) {
        let (mut squares, mut largest_error, mut largest) = (0.0, 0f64, 0f64);
        for (&place, exact) in self.places.iter().zip(&self.exact) {
            let value = computed(place, exact);
            let error = Complex::new(
                (value.re - exact.re.high) - exact.re.low,
                (value.im - exact.im.high) - exact.im.low,
            );
            squares += error.norm_sqr();
            largest_error = largest_error.max(error.norm());
            largest = largest.max(exact.re.high.hypot(exact.im.high));
        }
        let root_mean_square = (squares / self.places.len() as f64).sqrt();
        (root_mean_square / self.norm, largest_error / largest)
    }
}

fn digest(values: &[Complex<f64>]) -> String {
    let mut digest = Sha256::new();
    for value in values {
        digest.update(value.re.to_le_bytes());
        digest.update(value.im.to_le_bytes());
    }
    let bytes = digest.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Transforms a random field of `size`³ points by digits, and by other engines for comparison. `progress` is called with what comes next.
pub fn demonstrate(
    (size, seed, threads): (usize, u64, usize),
    others: &[(Engine, &'static str)],
    mut progress: impl FnMut(&str),
) -> Result<Demonstration, FftError> {
    progress("a random field");
    let mut generator = Generator(seed);
    let mut number = || Complex::new(generator.uniform(), generator.uniform());
    let field: Vec<Complex<f64>> = (0..size.pow(3)).map(|_| number()).collect();
    progress("exact values at sampled outputs");
    let reference = Reference::new(&field, size, seed);
    let mut engines = Vec::new();
    for &(engine, name) in [(Engine::Digits, "ozfft digits")].iter().chain(others) {
        progress(&format!("transform by {engine}"));
        let start = Instant::now();
        let problem = Problem::complex(&[size; 3]).engine(engine).threads(threads);
        let plan = Planner::<f64>::new().plan(&problem)?;
        let plan_seconds = start.elapsed().as_secs_f64();
        let mut workspace = vec![0; plan.workspace_len()];
        let (mut values, mut seconds) = (Vec::new(), f64::INFINITY);
        for _ in 0..CALLS {
            values.clone_from(&field);
            let start = Instant::now();
            plan.process_with_workspace(&mut values, &mut workspace)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        let (l2, linf) = reference.errors(|place, _| values[place]);
        engines.push(Transformed {
            engine,
            name,
            l2,
            linf,
            bound: plan.bound(),
            bound_is_proven: plan.bound_is_proven(),
            expected: plan.expected(),
            plan_seconds,
            seconds,
            sha256: digest(&values),
            recipe: plan.recipe().map(ToString::to_string),
        });
    }
    let (floor_l2, _) = reference.errors(|_, exact| Complex::new(exact.re.high, exact.im.high));
    Ok(Demonstration {
        size,
        seed,
        threads,
        samples: reference.places.len(),
        floor_l2,
        engines,
    })
}

impl Demonstration {
    /// What the digits engine made of the field.
    pub fn digits(&self) -> &Transformed {
        &self.engines[0]
    }

    /// Whether the digits' bits are the published ones; none have been published for other fields.
    pub fn has_published_bits(&self) -> Option<bool> {
        let (size, seed, sha256) = PUBLISHED;
        ((self.size, self.seed) == (size, seed)).then(|| self.digits().sha256 == sha256)
    }

    /// What is wrong with the result, if anything is.
    pub fn fault(&self) -> Option<String> {
        let digits = self.digits();
        if digits.l2 > digits.bound {
            return Some(format!(
                "the error {:e} of digits is above its bound {:e} (seed {})",
                digits.l2, digits.bound, self.seed
            ));
        }
        let other = self.has_published_bits() == Some(false);
        other.then(|| "the bits of the result are not those that were published".into())
    }
}

impl fmt::Display for Demonstration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size;
        writeln!(
            f,
            "Forward transform of a random complex field of {size}x{size}x{size} points (seed {}, {} threads)\n",
            self.seed, self.threads
        )?;
        writeln!(
            f,
            "engine            L2 error  Linf error  proven bound  expected      time"
        )?;
        for engine in &self.engines {
            let bound = match engine.bound_is_proven {
                true => bound_text(engine.bound, 2),
                false => "none".into(),
            };
            writeln!(
                f,
                "{:<16}  {:>8.2e}  {:>10.2e}  {bound:>12}  {:>8.2e}  {:>5.1} ms",
                engine.name,
                engine.l2,
                engine.linf,
                engine.expected,
                engine.seconds * 1e3
            )?;
        }
        writeln!(
            f,
            "\nErrors are relative to the exact transform, at {} random outputs; the best double-precision answer has an L2 error of {:.2e}.",
            self.samples, self.floor_l2
        )?;
        let published = match self.has_published_bits() {
            Some(true) => " (the published one)",
            Some(false) => " (NOT the published one)",
            None => "",
        };
        writeln!(
            f,
            "sha256 of the digits result: {}{published}",
            self.digits().sha256
        )?;
        write!(
            f,
            "These bits are the same on every machine and with any number of threads."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_rounding_and_stay_below_the_bound() {
        for size in [1, 2, 5, 16] {
            let shown = demonstrate((size, 3, 1), &[], |_| ()).expect("a transform");
            let digits = shown.digits();
            assert_eq!(shown.fault(), None);
            assert_eq!(shown.has_published_bits(), None);
            assert!(
                digits.l2 <= digits.bound && digits.l2 < 2e-16,
                "{size}: {digits:?}"
            );
            assert!(
                shown.floor_l2 <= 1.2 * digits.l2.max(f64::MIN_POSITIVE),
                "{size}: {shown:?}"
            );
            assert!(shown.to_string().contains(&digits.sha256));
        }
    }
}
