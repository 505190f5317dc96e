//! Options that all programs have.

use clap::{Args, ValueEnum};
use ozfft::{Accuracy, Device, Engine, FftError, Problem, Products, ResidueOptions, Substrate};
use ozfft_measure::failure::Failure;
use ozfft_measure::fftw::Effort;
use ozfft_measure::options::{
    ProductsName, parse_accuracy, parse_device, parse_engine, parse_threads,
};
use std::path::PathBuf;

/// Whose transforms run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Library {
    /// Those of this workspace
    #[default]
    Ozfft,
    /// FFTW's
    Fftw,
    /// cuFFT's on the first GPU
    Cufft,
}

impl Library {
    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Library::Ozfft => "ozfft",
            Library::Fftw => "fftw",
            Library::Cufft => "cufft",
        }
    }
}

/// How FFTW plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Planning {
    /// Without measuring
    #[default]
    Estimate,
    /// Measures, and takes the fastest: that may be another one in the next run
    Measure,
    /// Without measuring, for arrays at any address
    Unaligned,
    /// Without measuring, and without vector instructions
    Scalar,
}

impl Planning {
    pub(crate) fn effort(self) -> Effort {
        match self {
            Planning::Estimate => Effort::Estimate,
            Planning::Measure => Effort::Measure,
            Planning::Unaligned => Effort::EstimateUnaligned,
            Planning::Scalar => Effort::EstimateScalar,
        }
    }
}

/// How transforms are computed, and what is written.
#[derive(Debug, Clone, Args)]
pub struct Computing {
    /// The engine of the transforms: digits, native, residues, ntt, auto, or a mode in floating point
    #[arg(long, value_parser = parse_engine, default_value = "digits")]
    pub engine: Engine,
    /// Whose transforms they are: those of others are there to be compared with, where they are installed
    #[arg(long, value_enum, default_value_t)]
    pub library: Library,
    /// With --library fftw: how it plans [default: estimate]
    #[arg(long, value_enum)]
    pub planning: Option<Planning>,
    /// Where transforms run: cpu, cuda, cuda:1 for the second GPU, or auto
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    pub device: Device,
    /// Relative error of a transform: double, single, a number such as 1e-12, or bits:40
    #[arg(long, value_parser = parse_accuracy, default_value = "double")]
    pub accuracy: Accuracy,
    /// With --engine digits: how much of the digit product is formed [default: truncated]; exact products have the bits of residues
    #[arg(long, value_enum)]
    pub products: Option<ProductsName>,
    /// The matrix unit that multiplies digits, such as scalar or avx512-vnni; the bits do not depend on it
    #[arg(long, default_value = "auto")]
    pub substrate: Substrate,
    /// With --engine residues: as few moduli as the data need, and with --accuracy 1e-9 as few bits
    #[arg(long)]
    pub adaptive: bool,
    /// With --adaptive: leave transforms that need more bits than there are to the native engine
    #[arg(long)]
    pub native_fallback: bool,
    /// Number of threads [default: all cores]; the bits do not depend on it
    #[arg(long, value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Print one JSON object on one line instead of text
    #[arg(long)]
    pub json: bool,
    /// Draw the result into this SVG file
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

impl Computing {
    /// Adds these options to a problem, if they go together.
    pub fn apply(&self, problem: Problem) -> Result<Problem, FftError> {
        let digits = self.library == Library::Ozfft && self.engine == Engine::Digits;
        if self.products.is_some() && !digits {
            return Err(FftError::Unsupported(
                "--products says how much of digit products is formed; take --engine digits".into(),
            ));
        }
        let residues = ResidueOptions {
            adaptive: self.adaptive,
            native_fallback: self.native_fallback,
            ..ResidueOptions::default()
        };
        let problem = problem
            .engine(self.engine)
            .device(self.device)
            .accuracy(self.accuracy)
            .substrate(self.substrate)
            .residues(residues);
        let problem = match self.products {
            Some(ProductsName::Exact) => problem.products(Products::Exact),
            Some(ProductsName::Truncated) | None => problem,
        };
        Ok(match self.threads {
            Some(threads) => problem.threads(threads),
            None => problem,
        })
    }

    /// Computes on as many threads as were asked for; that 0 are too few is for the library to say.
    ///
    /// The caller's code runs on one of them: from outside, every loop that is shared out would wait for a thread to wake up.
    pub fn in_pool<T: Send>(
        &self,
        compute: impl FnOnce() -> Result<T, Failure> + Send,
    ) -> Result<T, Failure> {
        let threads = self.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        pool.install(compute)
    }
}

impl Default for Computing {
    fn default() -> Computing {
        Computing {
            engine: Engine::Digits,
            library: Library::Ozfft,
            planning: None,
            device: Device::Cpu,
            accuracy: Accuracy::Double,
            products: None,
            substrate: Substrate::Auto,
            adaptive: false,
            native_fallback: false,
            threads: None,
            json: false,
            plot: None,
        }
    }
}
