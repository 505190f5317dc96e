//! `ozfft accuracy`: the error of a transform against the exact one, for shapes and inputs of the user's choice.

mod attack;
mod sampled;

use crate::comparison::{Computed, LARGEST_FULL, Reference, TestInput, compute, problem_of};
use crate::failure::Failure;
use crate::gpu::{CuFft, DeviceFailure, Gpu, Precision};
use crate::memory;
use crate::options::{
    EngineOptions, Shape, accuracy_text, engine_name, parse_engine, parse_shape, products_name,
};
use crate::report::{aligned, bound_text, error_text, note, progress, say, say_json};
use clap::Args;
use num_complex::Complex;
use ozfft::{Device, Direction, Engine, Kind, Plan, Planner, Problem};
use serde::Serialize;

/// What the columns are.
const LEGEND: &str = "\
Columns, all relative to the exact transform:
  L2, Linf, L1  errors of the engine that is measured
  bound         the L2 error that no input exceeds
  expected      the L2 error of random input
  native, cuFFT errors of RustFFT, and of cuFFT where it is installed and the device is a GPU
  floor L2      the error of the exact transform rounded once: nothing can be better
  oracle        what was compared: full, every output; sampled, random ones";

/// Options of `ozfft accuracy`.
#[derive(Debug, Args)]
#[command(after_long_help = LEGEND)]
pub struct AccuracyArguments {
    /// Lengths joined by x, such as 1000 or 64x64x64; may be given several times
    #[arg(long = "shape", value_parser = parse_shape, required = true)]
    pub shapes: Vec<Shape>,
    /// Seed of the input
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Input whose magnitudes spread over so many binary orders, 1022 at most
    #[arg(long, conflicts_with = "input", value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=1022))]
    pub range_bits: Option<u32>,
    /// Input: uniform, all, or the name of a hard one (a wrong name lists them)
    #[arg(long, default_value = "uniform", value_name = "NAME")]
    pub input: String,
    /// Compare at least so many outputs instead of all, on a grid that is random along every axis; the input is uniform
    /// and nobody holds it: for arrays that are too large for the whole
    #[arg(long, value_name = "OUTPUTS", conflicts_with_all = ["range_bits", "input", "real"])]
    pub sampled: Option<usize>,
    /// Aim at the proven bound instead: lines made for it, then hill climbing; prints the worst error over bound, and fails
    /// if one is above 1
    #[arg(long, conflicts_with_all = ["range_bits", "input", "sampled"])]
    pub attack: bool,
    /// With --attack: steps of hill climbing
    #[arg(long, default_value_t = 400, requires = "attack", value_name = "STEPS")]
    pub iterations: usize,
    /// With --attack: print the input that does it as well
    #[arg(long, requires = "attack")]
    pub show_input: bool,
    /// Transform back: exp(+2 pi i jk/n)
    #[arg(long)]
    pub inverse: bool,
    /// Real array to half-spectrum or, with --inverse, back
    #[arg(long)]
    pub real: bool,
    /// The engine that is measured
    #[arg(long, value_parser = parse_engine, default_value = "digits")]
    pub engine: Engine,
    #[command(flatten)]
    pub computing: EngineOptions,
    /// Print one JSON object per shape and input instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Bytes that every point takes at least: the values twice, and what two engines make of them.
const BYTES_A_POINT: u128 = 64;

/// One measured transform.
#[derive(Debug, Serialize)]
pub struct Row {
    shape: String,
    kind: String,
    direction: &'static str,
    engine: &'static str,
    substrate: String,
    integers_only: bool,
    recipe: Option<&'static str>,
    recipe_steps: Option<String>,
    accuracy: String,
    input: String,
    seed: u64,
    oracle: &'static str,
    l1: f64,
    l2: f64,
    linf: f64,
    bound: f64,
    expected: f64,
    within_bound: bool,
    /// Outputs overflow or are too small for a double's full precision; the bound does not speak of those.
    bound_applies: bool,
    native_l2: f64,
    native_linf: f64,
    /// On a GPU where cuFFT is installed.
    cufft_l2: Option<f64>,
    cufft_linf: Option<f64>,
    floor_l2: f64,
    seconds: f64,
    native_seconds: f64,
    sha256: String,
}

impl Row {
    /// The same with the name of the unit that ran, where it was not the plan's.
    pub fn with_substrate(self, substrate: String) -> Row {
        Row { substrate, ..self }
    }
}

/// Runs the command.
pub fn run(arguments: &AccuracyArguments) -> Result<(), Failure> {
    arguments.computing.start_threads()?;
    if arguments.attack {
        return attack::run(arguments, arguments.iterations);
    }
    if let Some(outputs) = arguments.sampled {
        return sampled::run(arguments, outputs);
    }
    let inputs = arguments.inputs()?;
    let planner = Planner::new();
    let bar = progress(
        arguments.shapes.len() * inputs.len(),
        "comparing with the exact transform",
        arguments.json,
    );
    let mut rows = Vec::new();
    for shape in &arguments.shapes {
        for &input in &inputs {
            let row = arguments.measure(&planner, &shape.0, input)?;
            bar.inc(1);
            if arguments.json {
                say_json(&row)?;
            }
            rows.push(row);
        }
    }
    bar.finish_and_clear();
    if !arguments.json {
        tell(&rows)?;
    }
    judge(&rows)
}

/// Fails where an error is above its bound.
pub fn judge(rows: &[Row]) -> Result<(), Failure> {
    let above: Vec<String> = rows
        .iter()
        .filter(|row| !row.within_bound)
        .map(|row| {
            format!(
                "{} of {}, seed {}: {:e} is above {:e}",
                row.input, row.shape, row.seed, row.l2, row.bound
            )
        })
        .collect();
    if above.is_empty() {
        Ok(())
    } else {
        Err(Failure::Check(format!(
            "an error is above its bound: {}",
            above.join("; ")
        )))
    }
}

/// A transform that has run: its plan for one process, its input, and its result, however that was computed.
pub struct Measured<'a> {
    pub plan: &'a Plan<f64>,
    pub values: &'a [Complex<f64>],
    pub computed: Computed,
}

impl AccuracyArguments {
    /// The inputs that were asked for.
    pub fn inputs(&self) -> Result<Vec<TestInput>, Failure> {
        match self.range_bits {
            Some(bits) => Ok(vec![TestInput::WideRange(bits)]),
            None => TestInput::by_name(&self.input),
        }
    }

    pub fn kind_and_direction(&self) -> (Kind, Direction) {
        let kind = match (self.real, self.inverse) {
            (false, _) => Kind::ComplexToComplex,
            (true, false) => Kind::RealToComplex,
            (true, true) => Kind::ComplexToReal,
        };
        let direction = if self.inverse {
            Direction::Inverse
        } else {
            Direction::Forward
        };
        (kind, direction)
    }

    /// What errors are compared with: options that say how ozfft computes are not for it.
    fn native(&self, problem: Problem) -> Problem {
        let problem = problem.engine(Engine::Native).norm(self.computing.norm());
        match self.computing.threads {
            Some(threads) => problem.threads(threads),
            None => problem,
        }
    }

    fn measure(
        &self,
        planner: &Planner<f64>,
        shape: &[usize],
        input: TestInput,
    ) -> Result<Row, Failure> {
        let plan = planner.plan(&self.problem(shape)?)?;
        let values = input.values(plan.problem().kind(), shape, self.seed);
        let computed = compute(&plan, &values)?;
        let measured = Measured {
            plan: &plan,
            values: &values,
            computed,
        };
        self.row(planner, shape, input, measured)
    }

    /// The problem of a shape, which has been checked, and for which there is enough memory.
    pub fn problem(&self, shape: &[usize]) -> Result<Problem, Failure> {
        let (kind, direction) = self.kind_and_direction();
        let problem = self.computing.apply(problem_of(kind, shape, direction));
        let problem = problem.engine(self.engine);
        problem.validate()?;
        memory::expect_points(
            &format!("the accuracy of {}", crate::options::shape_text(shape)),
            shape,
            BYTES_A_POINT,
        )?;
        Ok(problem)
    }

    /// Compares a result with the exact one, and with that of the native engine.
    pub fn row(
        &self,
        planner: &Planner<f64>,
        shape: &[usize],
        input: TestInput,
        measured: Measured<'_>,
    ) -> Result<Row, Failure> {
        let Measured {
            plan,
            values,
            computed,
        } = measured;
        let (kind, direction) = self.kind_and_direction();
        let native_plan = planner.plan(&self.native(problem_of(kind, shape, direction)))?;
        let native = compute(&native_plan, values)?;
        let signs = (direction, self.computing.norm());
        let reference = Reference::new(kind, shape, signs, values, (self.seed, LARGEST_FULL));
        let errors = reference.errors(&computed.values);
        let native_errors = reference.errors(&native.values);
        let floor = reference.floor();
        let cufft_errors = match plan.device() {
            Device::Cuda(ordinal) if reference.is_unscaled() => {
                cufft_result(ordinal, plan.problem(), direction, values)?
                    .map(|values| reference.errors(&values))
            }
            _ => None,
        };
        // Rounding once costs at most half an epsilon in L2, unless outputs leave the range of full precision.
        let bound_applies = floor.l2 <= f64::EPSILON / 2.0;
        Ok(Row {
            shape: crate::options::shape_text(shape),
            kind: kind.to_string(),
            direction: if self.inverse { "inverse" } else { "forward" },
            engine: engine_name(plan.engine()),
            substrate: plan.substrate().into(),
            integers_only: plan.integers_only(),
            recipe: plan.recipe().map(|recipe| products_name(recipe.products)),
            recipe_steps: plan.recipe().map(ToString::to_string),
            accuracy: accuracy_text(self.computing.accuracy),
            input: input.name(),
            seed: self.seed,
            oracle: reference.extent(),
            l1: errors.l1,
            l2: errors.l2,
            linf: errors.linf,
            bound: plan.bound(),
            expected: plan.expected(),
            within_bound: errors.l2 <= plan.bound() || !bound_applies,
            bound_applies,
            native_l2: native_errors.l2,
            native_linf: native_errors.linf,
            cufft_l2: cufft_errors.map(|errors| errors.l2),
            cufft_linf: cufft_errors.map(|errors| errors.linf),
            floor_l2: floor.l2,
            seconds: computed.seconds,
            native_seconds: native.seconds,
            sha256: computed.sha256,
        })
    }
}

/// What cuFFT gives for this input, unscaled, where it is installed.
fn cufft_result(
    ordinal: usize,
    problem: &Problem,
    direction: Direction,
    values: &[Complex<f64>],
) -> Result<Option<Vec<Complex<f64>>>, Failure> {
    // Its transforms to real output over several axes take half-spectra differently.
    if problem.kind() == Kind::ComplexToReal {
        return Ok(None);
    }
    let gpu = Gpu::open(ordinal)?;
    let plan = match CuFft::plan(&gpu, problem, (direction, 1), Precision::Double) {
        Ok(plan) => plan,
        Err(failure @ DeviceFailure::NoCuFft) => {
            note(&format!("note: {failure}"));
            return Ok(None);
        }
        Err(failure) => return Err(failure.into()),
    };
    let mut arrays = gpu.arrays_for(&[&plan])?;
    if problem.kind() == Kind::RealToComplex {
        let reals: Vec<f64> = values.iter().map(|value| value.re).collect();
        arrays.input.upload(0, &reals)?;
    } else {
        arrays.input.upload(0, values)?;
    }
    gpu.run(&plan, &mut arrays, 1)?;
    let count = problem.output_shape().iter().product();
    let mut result = vec![Complex::new(0.0, 0.0); count];
    arrays.output.download(0, &mut result)?;
    Ok(Some(result))
}

/// Prints a table.
pub fn tell(rows: &[Row]) -> Result<(), Failure> {
    let heading = [
        "shape",
        "input",
        "engine",
        "L2",
        "Linf",
        "L1",
        "bound",
        "expected",
        "native L2",
        "native Linf",
        "cuFFT L2",
        "floor L2",
        "oracle",
        "",
    ];
    let mut table = vec![heading.map(String::from).to_vec()];
    for row in rows {
        let verdict = match (row.within_bound, row.bound_applies) {
            (_, false) => "outputs leave the normal range: no bound",
            (true, true) => "",
            (false, true) => "ABOVE THE BOUND",
        };
        table.push(vec![
            row.shape.clone(),
            row.input.clone(),
            row.engine.into(),
            error_text(row.l2),
            error_text(row.linf),
            error_text(row.l1),
            bound_text(row.bound),
            error_text(row.expected),
            error_text(row.native_l2),
            error_text(row.native_linf),
            row.cufft_l2.map_or("-".into(), error_text),
            error_text(row.floor_l2),
            row.oracle.into(),
            verdict.into(),
        ]);
    }
    say(&aligned(&table))?;
    for row in rows {
        say(&format!(
            "sha256 {} {} {}",
            row.sha256, row.shape, row.input
        ))?;
    }
    Ok(())
}
