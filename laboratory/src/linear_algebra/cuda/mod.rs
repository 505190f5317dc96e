//! On a GPU, beside cuBLAS and cuSPARSE. Bits are compared with the processor's before anything is timed.
//!
//! ```text
//! kernels.rs   loading, launching and timing
//! library.rs   products of matrices by cuBLAS: of bytes, of f64, emulated
//! gemm.rs      products of matrices: residues and reconstruction by kernels of ours, products of bytes by cuBLAS
//! vectors.rs   products with vectors, dense and sparse, by kernels of ours
//! solver.rs    conjugate gradients
//! solver_in_doubles.rs   the same in f64, by cuSPARSE and cuBLAS
//! ```

mod gemm;
mod kernels;
mod library;
mod solver;
mod solver_in_doubles;
mod vectors;

use super::problems::{Batch, Sparse};
use super::processor::schemes;
use super::{DeviceNotes, IN_DOUBLES, LinearAlgebraArguments, Results};
use crate::failure::Failure;
use crate::sums::cuda::cases::Rows;
use crate::sums::cuda::libraries::{CuBlas, CuSparse};
use kernels::Kernels;
use library::Library;
use ozfft_measure::gpu::{Gpu, clocks_now};
use ozfft_measure::report::note;
use std::time::Duration;

/// Sides of matrices unless the user says otherwise.
const SIDES: [usize; 5] = [512, 1024, 2048, 4096, 8192];
/// As `ozfft-lab kulisch bench` has it: matrices of batches have half as many numbers, a single matrix a quarter, sparse ones about an eighth.
const LARGEST: usize = 1 << 28;
const CUBE: usize = 128;
/// The same in f64: no vector stays in a cache.
const CUBE_IN_DOUBLES: usize = 256;

/// What all measurements have in common.
pub struct Bench<'a> {
    kernels: Kernels<'a>,
    /// For every method of every case.
    seconds: Duration,
}

/// Runs everything that is asked for.
pub fn run(
    arguments: &LinearAlgebraArguments,
    ordinal: usize,
    results: &mut Results,
) -> Result<DeviceNotes, Failure> {
    let gpu = Gpu::open(ordinal)?;
    let clocks_before = clocks_now(ordinal);
    let bench = Bench {
        kernels: Kernels::new(&gpu)?,
        seconds: Duration::from_secs_f64(arguments.seconds),
    };
    let library = Library::open(&gpu);
    let (cublas, cusparse) = (CuBlas::open(&gpu), CuSparse::open(&gpu));
    for error in [library.as_ref().err(), cusparse.as_ref().err()]
        .into_iter()
        .flatten()
    {
        note(&format!("note: {error}"));
    }
    let mut cublas_emulation = None;
    let sides = match &arguments.sizes[..] {
        [] => &SIDES[..],
        sizes => sizes,
    };
    let largest = arguments.largest.unwrap_or(LARGEST);
    if arguments.wants("gemm") {
        // Products of bytes are the library's.
        let library = match &library {
            Ok(library) => Some(library),
            Err(_) if arguments.only.is_empty() => None,
            Err(error) => return Err(Failure::Usage(format!("gemm needs cuBLAS: {error}"))),
        };
        for (&side, library) in sides.iter().zip(library.into_iter().cycle()) {
            let schemes = schemes(arguments, side)?;
            let (rows, said) = gemm::measure(&bench, library, side, &schemes)?;
            results.add(rows)?;
            cublas_emulation = Some(said);
        }
    }
    if let Some(said) = &cublas_emulation {
        note(&format!("note: cuBLAS, asked to emulate FP64: {said}"));
    }
    let dense = |operation: &'static str, side: usize| {
        let numbers = if operation == "gemv" {
            side * side
        } else {
            largest / 2
        };
        let batch = Batch::new(side, numbers);
        let schemes = schemes(arguments, side)?;
        vectors::dense(&bench, &cublas, operation, &batch, &schemes)
    };
    if arguments.wants("gemv") {
        results.add(dense("gemv", (largest / 4).isqrt())?)?;
    }
    for side in [8, 16, 32, 64]
        .into_iter()
        .filter(|_| arguments.wants("batched-gemv"))
    {
        results.add(dense("batched-gemv", side)?)?;
    }
    for rows in [Rows::Mesh, Rows::Mixed, Rows::Long]
        .into_iter()
        .filter(|_| arguments.wants("spmv"))
    {
        let entries = match rows {
            Rows::Mesh => 27 * (largest / 128),
            Rows::Mixed | Rows::Long => largest / 8,
        };
        let sparse = Sparse::new(rows, entries);
        let schemes = schemes(arguments, sparse.matrix()?.longest_row())?;
        results.add(vectors::sparse(&bench, &cusparse, &sparse, &schemes)?)?;
    }
    if arguments.wants("solver") {
        for scheme in schemes(arguments, 7)? {
            let side = arguments.side.unwrap_or(CUBE);
            let solved = solver::measure(&bench.kernels, &scheme, side, arguments.threads)?;
            if let Some(solved) = solved {
                results.add_solved(solved)?;
            }
        }
    }
    if arguments.wants("solver") || arguments.wants(IN_DOUBLES) {
        match (&cublas, &cusparse) {
            (Ok(cublas), Ok(cusparse)) => {
                let libraries = solver_in_doubles::Libraries { cublas, cusparse };
                let side = arguments.side.unwrap_or(CUBE_IN_DOUBLES);
                let (kernels, seconds) = (&bench.kernels, bench.seconds);
                let solved = solver_in_doubles::measure(kernels, &libraries, side, seconds)?;
                results.add_in_doubles(solved)?;
            }
            (Err(error), _) | (_, Err(error))
                if arguments.only.iter().any(|name| name == IN_DOUBLES) =>
            {
                return Err(Failure::Usage(format!(
                    "{IN_DOUBLES} needs cuBLAS and cuSPARSE: {error}"
                )));
            }
            (Err(error), _) | (_, Err(error)) => note(&format!("note: no {IN_DOUBLES}: {error}")),
        }
    }
    Ok(DeviceNotes {
        cublas: library.as_ref().ok().map(|library| library.version.clone()),
        cusparse: cusparse
            .as_ref()
            .ok()
            .map(|library| library.version.clone()),
        cublas_emulation,
        clocks_before,
        clocks_after: clocks_now(ordinal),
        device: Some(gpu.facts.clone()),
    })
}
