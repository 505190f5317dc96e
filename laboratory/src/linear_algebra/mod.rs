//! `ozfft-lab linear-algebra`: products of matrices and vectors by Ozaki's scheme II beside FP64, and a solver of conjugate gradients on them.
//!
//! ```text
//! problems.rs    which matrices
//! accuracy.rs    errors against exact dot products
//! processor.rs   on the processor, beside plain loops and products of digits
//! cuda/          on a GPU, beside cuBLAS and cuSPARSE
//! ```

mod accuracy;
mod cuda;
mod problems;
mod processor;

use crate::failure::Failure;
use crate::origin::built_commit;
use clap::Args;
use ozfft::Device;
use ozfft_measure::gpu::{Clocks, DeviceFacts};
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::options::{parse_device, parse_seconds, parse_threads};
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, say, say_json, write_json};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `ozfft-lab linear-algebra`.
#[derive(Debug, Args)]
pub struct LinearAlgebraArguments {
    /// Where it runs: cpu, cuda, or cuda:1 for the second GPU; the bits do not depend on it
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// Sides of the square matrices of DGEMM, joined by commas: multiples of 16 [default: 64,128; 512 to 8192 on a GPU]
    #[arg(long, value_delimiter = ',', value_name = "N")]
    sizes: Vec<usize>,
    /// Numbers of moduli, joined by commas: products with vectors on a GPU have 14 and 16
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "R",
        default_value = "14,15,16"
    )]
    moduli: Vec<usize>,
    /// Numbers of the largest array: products with vectors have half as many or fewer on a GPU [default: 1 million; 2^28 on a GPU]
    #[arg(long, value_name = "COUNT")]
    largest: Option<usize>,
    /// Points a side of the cube that the solver has a Poisson problem on [default: 24; 128 on a GPU, 256 for solver-in-doubles there]
    #[arg(long, value_name = "N")]
    side: Option<usize>,
    /// Threads on the processor; the bits do not depend on them
    #[arg(long, value_parser = parse_threads, default_value = "2")]
    threads: usize,
    /// Time that each method is given for each row
    #[arg(long, value_parser = parse_seconds, default_value = "0.2")]
    seconds: f64,
    /// Only this: gemm, gemv, batched-gemv, spmv, solver, or solver-in-doubles, which is the last part of solver; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Write the results to this file, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    json: bool,
}

/// What is measured.
const NAMES: [&str; 6] = ["gemm", "gemv", "batched-gemv", "spmv", "solver", IN_DOUBLES];
/// A conventional solver; on a GPU its matrix is multiplied by cuSPARSE.
const IN_DOUBLES: &str = "solver-in-doubles";
/// Sides of matrices at most, and moduli.
const MOST_SIDE: usize = 32_768;
const MODULI: std::ops::RangeInclusive<usize> = 2..=18;
/// Points a side of the solver's cube at most.
const MOST_CUBE: usize = 512;

/// Seconds of the phases of a product of matrices.
#[derive(Debug, Clone, Copy, Serialize)]
struct Phases {
    /// Scaling, and numbers to residues.
    residues: f64,
    /// Products of bytes.
    products: f64,
    /// Sums to numbers, in integers and in f64.
    reconstruction_integers: f64,
    reconstruction_doubles: f64,
}

/// Time and error of one method.
#[derive(Debug, Clone, Serialize)]
struct Row {
    operation: &'static str,
    data: String,
    /// Multiplications of numbers.
    products: f64,
    method: String,
    /// Moduli and bits of Ozaki's scheme II.
    moduli: Option<usize>,
    bits: Option<u32>,
    /// Products of matrices of bytes that it takes.
    byte_products: Option<usize>,
    seconds: f64,
    shortest_seconds: f64,
    runs: usize,
    /// 2 · products / seconds, in 10^12.
    tera_operations: f64,
    /// The time of FP64 over this one: of the plain loop on the processor, of NVIDIA's library on a GPU; nothing where
    /// that is not installed.
    gain_over_fp64: Option<f64>,
    /// f as the paper has it: the part of the time that phase B takes where it is in f64.
    share_of_phase_b: Option<f64>,
    /// What phase B in integers gains over phase B in f64, all in all.
    gain_of_integers: Option<f64>,
    phases: Option<Phases>,
    /// The largest error, relative to the sum of magnitudes of the products, of those results that were compared with exact ones.
    error: Option<f64>,
    /// The same of all together: Euclidean norms.
    relative_error: Option<f64>,
    /// The bound of `error` that is proven, before the last rounding.
    bound: Option<f64>,
    /// Results whose bits were found to be the processor's.
    equal_bits: Option<usize>,
}

/// What the solver did.
#[derive(Debug, Clone, Serialize)]
struct Solved {
    operation: &'static str,
    data: String,
    unknowns: usize,
    moduli: usize,
    bits: u32,
    method: &'static str,
    threads: Option<usize>,
    tolerance: f64,
    iterations: usize,
    converged: bool,
    last_residual: f64,
    /// Digests of the bits of all residuals, and of the solution.
    history_digest: String,
    solution_digest: String,
    seconds: f64,
    /// Iterations whose residuals were found to have the processor's bits.
    equal_bits: Option<usize>,
}

/// Where a conventional solver's time goes, with dot products in f64 and exact ones.
#[derive(Debug, Clone, Serialize)]
struct SolvedInDoubles {
    operation: &'static str,
    data: String,
    unknowns: usize,
    iterations: usize,
    /// With dot products in f64.
    plain: SolverTimes,
    /// With exact ones.
    exact: SolverTimes,
}

#[derive(Debug, Clone, Serialize)]
struct SolverTimes {
    /// The shortest times of an iteration's operations, added up.
    iteration_seconds: f64,
    /// f as the paper has it.
    share_of_dots: f64,
    last_residual: f64,
}

#[derive(Debug, Serialize)]
struct Record<'a> {
    date: String,
    machine: Machine,
    commit: Option<String>,
    rustc: &'static str,
    device: Option<DeviceFacts>,
    cublas: Option<String>,
    cusparse: Option<String>,
    /// What cuBLAS said when it was asked to emulate FP64.
    cublas_emulation: Option<String>,
    clocks_before: Option<Clocks>,
    clocks_after: Option<Clocks>,
    seconds_per_method: f64,
    results: &'a [Row],
    solver: &'a [Solved],
    solver_in_doubles: &'a [SolvedInDoubles],
}

/// What a GPU adds to a record.
#[derive(Debug, Default)]
struct DeviceNotes {
    device: Option<DeviceFacts>,
    cublas: Option<String>,
    cusparse: Option<String>,
    cublas_emulation: Option<String>,
    clocks_before: Option<Clocks>,
    clocks_after: Option<Clocks>,
}

/// Where results go, line by line where JSON is asked for.
struct Results {
    json: bool,
    rows: Vec<Row>,
    solved: Vec<Solved>,
    in_doubles: Vec<SolvedInDoubles>,
}

impl Results {
    fn add_in_doubles(&mut self, solved: SolvedInDoubles) -> Result<(), Failure> {
        if self.json {
            say_json(&solved)?;
        }
        self.in_doubles.push(solved);
        Ok(())
    }

    fn add(&mut self, rows: Vec<Row>) -> Result<(), Failure> {
        if self.json {
            rows.iter().try_for_each(say_json)?;
        }
        self.rows.extend(rows);
        Ok(())
    }

    fn add_solved(&mut self, solved: Solved) -> Result<(), Failure> {
        if self.json {
            say_json(&solved)?;
        }
        self.solved.push(solved);
        Ok(())
    }
}

/// Converts what the crate rejects.
fn rejected(error: ozaki::OzakiError) -> Failure {
    Failure::Usage(error.to_string())
}

fn check(arguments: &LinearAlgebraArguments) -> Result<(), Failure> {
    let wrong = |text: String| Err(Failure::Usage(text));
    let known = |name: &&String| !NAMES.contains(&name.as_str());
    if let Some(unknown) = arguments.only.iter().find(known) {
        let names = NAMES.join(", ");
        return wrong(format!(
            "there is nothing named {unknown:?}; take one of {names}"
        ));
    }
    let unfit = |size: &&usize| **size == 0 || !size.is_multiple_of(16) || **size > MOST_SIDE;
    if let Some(size) = arguments.sizes.iter().find(unfit) {
        return wrong(format!(
            "--sizes {size}: take multiples of 16 up to {MOST_SIDE}"
        ));
    }
    if let Some(count) = arguments
        .moduli
        .iter()
        .find(|count| !MODULI.contains(count))
    {
        return wrong(format!(
            "--moduli {count}: take {} to {}",
            MODULI.start(),
            MODULI.end()
        ));
    }
    if let Some(side) = arguments
        .side
        .filter(|side| !(2..=MOST_CUBE).contains(side))
    {
        return wrong(format!("--side {side}: take 2 to {MOST_CUBE}"));
    }
    if let Some(largest) = arguments
        .largest
        .filter(|largest| !(1 << 12..=1 << 30).contains(largest))
    {
        return wrong(format!(
            "--largest {largest}: take {} to {}",
            1 << 12,
            1 << 30
        ));
    }
    if arguments.threads == 0 {
        return wrong("--threads 0: take one or more".into());
    }
    Ok(())
}

/// Runs the command.
pub fn run(arguments: &LinearAlgebraArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.record])?;
    check(arguments)?;
    let date = now();
    let mut results = Results {
        json: arguments.json,
        rows: Vec::new(),
        solved: Vec::new(),
        in_doubles: Vec::new(),
    };
    let notes = match arguments.device {
        Device::Cpu => {
            processor::run(arguments, &mut results)?;
            DeviceNotes::default()
        }
        Device::Cuda(ordinal) => cuda::run(arguments, ordinal, &mut results)?,
        _ => {
            return Err(Failure::Usage(
                "linear-algebra measures what it is told: give --device cpu or --device cuda"
                    .into(),
            ));
        }
    };
    if !arguments.json {
        say(&aligned(&table(&results.rows)))?;
        for solved in &results.solved {
            say(&text(solved))?;
        }
        for solved in &results.in_doubles {
            say(&text_in_doubles(solved))?;
        }
    }
    if let Some(path) = &arguments.record {
        let record = Record {
            date,
            machine: Machine::here(),
            commit: built_commit(),
            rustc: ozfft_measure::machine::RUSTC,
            device: notes.device,
            cublas: notes.cublas,
            cusparse: notes.cusparse,
            cublas_emulation: notes.cublas_emulation,
            clocks_before: notes.clocks_before,
            clocks_after: notes.clocks_after,
            seconds_per_method: arguments.seconds,
            results: &results.rows,
            solver: &results.solved,
            solver_in_doubles: &results.in_doubles,
        };
        write_json(path, &record)?;
    }
    Ok(())
}

impl LinearAlgebraArguments {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

fn text(solved: &Solved) -> String {
    format!(
        "solver, {}, {} moduli, {}: {} iterations to {:.1e} in {:.3} s; bits of residuals {}, of the solution {}",
        solved.data,
        solved.moduli,
        solved.method,
        solved.iterations,
        solved.last_residual,
        solved.seconds,
        solved.history_digest,
        solved.solution_digest
    )
}

fn text_in_doubles(solved: &SolvedInDoubles) -> String {
    format!(
        "solver in f64, {}, {} iterations: {:.3} ms each, {:.3} of it dot products; {:.3} ms with exact ones, {:.3} of it",
        solved.data,
        solved.iterations,
        1e3 * solved.plain.iteration_seconds,
        solved.plain.share_of_dots,
        1e3 * solved.exact.iteration_seconds,
        solved.exact.share_of_dots
    )
}

fn table(rows: &[Row]) -> Vec<Vec<String>> {
    let heads = [
        "operation",
        "data",
        "method",
        "products of bytes",
        "ms",
        "T operations/s",
        "gain over FP64",
        "f",
        "gain of integers",
        "error",
        "bound",
        "equal bits",
    ];
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let mut lines = vec![heads.map(String::from).to_vec()];
    for row in rows {
        lines.push(vec![
            row.operation.into(),
            row.data.clone(),
            row.method.clone(),
            or_nothing(row.byte_products.map(|count| count.to_string())),
            format!("{:.4}", 1e3 * row.seconds),
            format!("{:.4}", row.tera_operations),
            or_nothing(row.gain_over_fp64.map(|gain| format!("{gain:.3}"))),
            or_nothing(row.share_of_phase_b.map(|share| format!("{share:.3}"))),
            or_nothing(row.gain_of_integers.map(|gain| format!("{gain:.3}"))),
            or_nothing(row.error.map(|error| format!("{error:.1e}"))),
            or_nothing(row.bound.map(|bound| ozfft::bound_text(bound, 1))),
            or_nothing(row.equal_bits.map(|count| count.to_string())),
        ]);
    }
    lines
}
