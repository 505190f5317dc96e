//! In place of GPUs, in builds without them: none is ever opened.

use crate::error::FftError;
use crate::executor::schedule::Schedule;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::recipe::Recipe;
use crate::sample::Real;
#[cfg(feature = "floats")]
use crate::transform::budget::ErrorBudget;
use crate::transform::line::Line;
use std::sync::Arc;

pub(crate) trait Machine {}

pub(crate) fn open(_: usize) -> Result<Arc<dyn Machine>, FftError> {
    Err(FftError::missing_feature("a GPU", "cuda"))
}

pub(crate) struct Choice {
    pub(crate) tuned: Option<Product>,
    pub(crate) template: Number,
    pub(crate) by_warpgroups: bool,
    pub(crate) conversions: bool,
    pub(crate) residues: Option<&'static str>,
    pub(crate) residue_block: Option<(u64, u32)>,
    pub(crate) residue_faults: Faults,
    pub(crate) residue_unit: Option<i32>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {}

pub(crate) enum Product {
    Int8,
    Fp8,
}

pub(crate) enum Number {
    Double,
    DoubleFp8,
    DoubleF16,
}

pub(crate) struct HostArrays<'a> {
    pub(crate) input: Option<&'a [u8]>,
    pub(crate) output: (*mut u8, usize),
}

pub(crate) enum CudaExecutor {}

#[cfg(feature = "ntt")]
pub(crate) struct NttLineTables {
    pub(crate) n: usize,
    pub(crate) primes: usize,
    pub(crate) sum_bits: u32,
    pub(crate) exponent: i32,
    pub(crate) fixed: Vec<(i128, i128)>,
    pub(crate) negacyclic: bool,
    pub(crate) chirp: Vec<num_complex::Complex<i64>>,
    pub(crate) scaled_chirp: Option<Vec<num_complex::Complex<i64>>>,
}

#[allow(dead_code, reason = "nobody runs")]
pub(crate) enum Done {
    Left,
}

// Parameters as of the executor that there is with the feature.
#[allow(clippy::extra_unused_type_parameters)]
impl CudaExecutor {
    pub(crate) fn new<T: Real>(
        _: Arc<dyn Machine>,
        _: &Problem,
        _: (&Schedule, &[Arc<Line>]),
        _: &Recipe,
        choice: Choice,
    ) -> Result<Self, FftError> {
        let Choice {
            tuned: _,
            template: _,
            by_warpgroups: _,
            conversions: _,
            residues: _,
            residue_block: _,
            residue_faults: _,
            residue_unit: _,
        } = choice;
        Err(FftError::missing_feature("a GPU", "cuda"))
    }

    #[cfg(feature = "floats")]
    pub(crate) fn floats<T: Real>(
        _: Arc<dyn Machine>,
        _: &Problem,
        _: &Schedule,
        _: (floats::Mode, floats::Table),
        _: (f64, ErrorBudget),
    ) -> Result<(Self, ErrorBudget), FftError> {
        Err(FftError::missing_feature("a GPU", "cuda"))
    }

    #[cfg(feature = "ntt")]
    pub(crate) fn ntt<T: Real>(
        _: Arc<dyn Machine>,
        _: &Problem,
        _: &Schedule,
        lines: &[NttLineTables],
    ) -> Result<Self, FftError> {
        for line in lines {
            let NttLineTables {
                n: _,
                primes: _,
                sum_bits: _,
                exponent: _,
                fixed: _,
                negacyclic: _,
                chirp: _,
                scaled_chirp: _,
            } = line;
        }
        Err(FftError::missing_feature("a GPU", "cuda"))
    }

    pub(crate) fn table_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn device_name(&self) -> String {
        match *self {}
    }

    pub(crate) fn tuned_passes(&self) -> (usize, usize) {
        match *self {}
    }

    pub(crate) fn remarks(&self) -> &[String] {
        match *self {}
    }

    pub(crate) fn launches(&self) -> Vec<(&'static str, u32, usize)> {
        match *self {}
    }

    pub(crate) fn grids(&self) -> Vec<(&'static str, u64)> {
        match *self {}
    }

    pub(crate) fn workspace_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn describe_floats(&self) -> Option<String> {
        match *self {}
    }

    pub(crate) unsafe fn run_host(
        &self,
        arrays: &HostArrays<'_>,
        _: usize,
        _: &mut dyn FnMut(Progress),
    ) -> Result<Done, FftError> {
        let HostArrays {
            input: _,
            output: _,
        } = arrays;
        match *self {}
    }

    #[cfg(feature = "residues")]
    pub(crate) fn leave_calls(&mut self) {
        match *self {}
    }

    #[cfg(feature = "residues")]
    pub(crate) fn count_with(
        &mut self,
        _: Arc<crate::stages::residue_products::Counters>,
        _: usize,
    ) {
        match *self {}
    }

    pub(crate) unsafe fn run_addresses(&self, _: (u64, u64, u64), _: u64) -> Result<(), FftError> {
        match *self {}
    }
}

#[cfg(feature = "residues")]
#[allow(clippy::extra_unused_type_parameters)]
pub(crate) fn residue_kernel<T: Real>(
    _: &Problem,
    _: &dyn Machine,
) -> Result<&'static str, FftError> {
    Err(FftError::missing_feature("a GPU", "cuda"))
}

#[cfg(feature = "residues")]
pub(crate) fn residue_substrate(_: &str) -> &'static str {
    unreachable!("no GPU was opened")
}

#[cfg(feature = "residues")]
pub(crate) fn residue_bound_is_proven(_: residues::reconstruct::Method) -> bool {
    unreachable!("no GPU was opened")
}

pub(crate) fn is_residues_in_fp8(_: &Problem) -> bool {
    false
}

#[cfg(feature = "convolution")]
pub(crate) enum Base {
    Binary,
    Decimal,
}

#[cfg(feature = "convolution")]
pub(crate) struct Spent {
    pub(crate) upload: f64,
    pub(crate) kernels: f64,
    pub(crate) download: f64,
}

#[cfg(feature = "convolution")]
pub(crate) fn levels_for(_: usize) -> Option<u32> {
    None
}

#[cfg(feature = "convolution")]
pub(crate) struct IntegerProducts(std::convert::Infallible);

#[cfg(feature = "convolution")]
impl IntegerProducts {
    pub(crate) fn new(_: Arc<dyn Machine>) -> Self {
        unreachable!("no GPU was opened")
    }

    pub(crate) fn device_name(&self) -> String {
        match self.0 {}
    }

    pub(crate) fn multiply(
        &self,
        _: Base,
        _: &[u8],
        _: Option<&[u8]>,
        _: &mut [u8],
    ) -> Result<Spent, FftError> {
        match self.0 {}
    }
}

#[cfg(feature = "convolution")]
pub(crate) struct IntegerArray<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) size: usize,
    pub(crate) is_signed: bool,
}

#[cfg(feature = "convolution")]
pub(crate) struct ArrayConvolution {
    pub(crate) lengths: [usize; 2],
    pub(crate) cyclic: Option<usize>,
    pub(crate) members: usize,
    pub(crate) primes: usize,
}

#[cfg(feature = "convolution")]
impl ArrayConvolution {
    pub(crate) fn predicted_seconds(&self, _: [usize; 2], _: usize) -> Option<f64> {
        let ArrayConvolution {
            lengths: _,
            cyclic: _,
            members: _,
            primes: _,
        } = self;
        None
    }
}

#[cfg(feature = "convolution")]
pub(crate) struct ArrayConvolutions(std::convert::Infallible);

#[cfg(feature = "convolution")]
pub(crate) fn array_convolutions(ordinal: usize) -> Result<Arc<ArrayConvolutions>, FftError> {
    open(ordinal).map(|_| unreachable!("no GPU was opened"))
}

#[cfg(feature = "convolution")]
impl ArrayConvolutions {
    pub(crate) fn device_name(&self) -> String {
        match self.0 {}
    }

    pub(crate) fn convolve(
        &self,
        _: &ArrayConvolution,
        operands: [IntegerArray<'_>; 2],
        _: (&mut [u8], usize),
    ) -> Result<Spent, FftError> {
        let [
            IntegerArray {
                bytes: _,
                size: _,
                is_signed: _,
            },
            _,
        ] = operands;
        match self.0 {}
    }
}
