//! What every program reports besides its number.

use crate::options::Computing;
use crate::options::Library;
use crate::transforms::Both;
use ozfft_measure::options::accuracy_text;
use serde::Serialize;

/// How transforms ran, and what they cost.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// The engine that ran.
    pub engine: &'static str,
    /// The unit that multiplied.
    pub unit: &'static str,
    /// Where it ran.
    pub device: String,
    /// The accuracy that was asked for.
    pub accuracy: String,
    /// The larger of the bounds of both directions; proven where `bound_is_proven`. None is known of other libraries.
    pub bound: f64,
    /// Whether it is.
    pub bound_is_proven: bool,
    /// Threads.
    pub threads: usize,
    /// Transforms, each member of a batch counted.
    pub transforms: u64,
    /// Seconds of the computation, without planning and output.
    pub seconds: f64,
    /// Of these in transforms; on a GPU without copies from and to the processor's memory.
    pub fft_seconds: f64,
    /// And in these copies.
    pub copy_seconds: f64,
    /// Both as a fraction.
    pub fft_share: f64,
    /// With the engine residues: columns multiplied with so many moduli, as pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_by_moduli: Option<Vec<(usize, u64)>>,
    /// With the engine residues: calls that native took over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_fallbacks: Option<u64>,
}

impl Run {
    /// Of both directions of a transform, in a computation of so many seconds.
    pub fn new(computing: &Computing, transform: &impl Both, seconds: f64) -> Run {
        let [forward, inverse] = transform.both().map(|counted| counted.plan());
        let cost = transform.cost();
        let reports: Vec<_> = transform.residue_reports().into_iter().flatten().collect();
        let mut by_moduli = std::collections::BTreeMap::new();
        for &(moduli, columns) in reports.iter().flat_map(|report| &report.columns_by_moduli) {
            *by_moduli.entry(moduli).or_insert(0) += columns;
        }
        let some = !reports.is_empty();
        Run {
            engine: match computing.library {
                Library::Ozfft => forward.engine().name(),
                other => other.name(),
            },
            unit: match computing.library {
                Library::Ozfft => forward.substrate(),
                _ => "fp64",
            },
            device: match computing.library {
                Library::Cufft => "cuda:0".into(),
                _ => forward.device().to_string(),
            },
            accuracy: accuracy_text(computing.accuracy),
            bound: match computing.library {
                Library::Ozfft => forward.bound().max(inverse.bound()),
                _ => f64::NAN,
            },
            bound_is_proven: computing.library == Library::Ozfft
                && forward.bound_is_proven()
                && inverse.bound_is_proven(),
            threads: computing.threads.unwrap_or_else(rayon::current_num_threads),
            transforms: cost.transforms,
            seconds,
            fft_seconds: cost.seconds,
            copy_seconds: cost.copy_seconds,
            fft_share: if seconds > 0.0 {
                (cost.seconds + cost.copy_seconds) / seconds
            } else {
                0.0
            },
            columns_by_moduli: some.then(|| by_moduli.into_iter().collect()),
            native_fallbacks: some.then(|| reports.iter().map(|r| r.native_fallbacks).sum()),
        }
    }

    /// One line about it.
    pub fn text(&self) -> String {
        format!(
            "{} transforms by {} ({}, {}, accuracy {}, {} threads): {:.1} % of {:.2} s",
            self.transforms,
            self.engine,
            self.unit,
            self.device,
            self.accuracy,
            self.threads,
            100.0 * self.fft_share,
            self.seconds
        )
    }
}
