//! The engines to be timed, behind one interface: ozfft on each of its units, RustFFT, FFTW, MKL.

use super::buffers::{Buffers, Call};
use super::{Setting, interleaved_layout, lines};
use ozfft::{
    Accuracy, BlockRecipe, Direction, Engine, FftError, Kind, LineRecipe, Norm, Plan, Planner,
    Problem, Substrate,
};
use ozfft_measure::comparison::problem_of;
use ozfft_measure::failure::Failure;
use ozfft_measure::fftw::{Effort, Fftw};
use ozfft_measure::report::note;
use std::path::Path;
use std::sync::Arc;

/// The engines' names in records, which ratios and plots look for.
pub const DIGITS: &str = "digits";
pub const RUSTFFT: &str = "rustfft";
pub const NATIVE: &str = "native";
pub const FFTW: &str = "fftw";
pub const MKL: &str = "mkl";

/// What the engines in floating point multiply with.
const DOUBLES: &str = "fp64";
/// The relative error that no library in floating point exceeds at any length that fits into memory.
const FLOATING_POINT_ERROR: f64 = 1e-12;

/// Notes for the user, each logged once.
#[derive(Debug, Default)]
pub struct Notices(Vec<String>);

impl Notices {
    /// Logs a note on standard error, unless it has been logged before.
    pub fn tell(&mut self, text: String) {
        if !self.0.contains(&text) {
            note(&format!("note: {text}"));
            self.0.push(text);
        }
    }

    /// All notes logged.
    pub fn texts(&self) -> &[String] {
        &self.0
    }
}

/// The libraries that are not part of the program.
pub struct Libraries {
    fftw: Option<Fftw>,
    mkl: Option<Fftw>,
}

impl Libraries {
    /// Loads what there is. An MKL that the user names must be there.
    pub fn load(mkl: Option<&Path>, notices: &mut Notices) -> Result<Libraries, Failure> {
        let fftw = Fftw::load_with_threads();
        if fftw.is_none() {
            notices.tell("FFTW is not installed and is left out".into());
        }
        let mkl = match mkl {
            Some(path) => Some(Fftw::load_mkl_from(path).map_err(|reason| {
                let path = path.to_path_buf();
                Failure::Content { path, reason }
            })?),
            None => Fftw::load_mkl(),
        };
        if mkl.is_none() {
            notices.tell(
                "MKL is not where the system looks for libraries and is left out; --mkl or OZFFT_MKL say where it is"
                    .into(),
            );
        }
        Ok(Libraries { fftw, mkl })
    }

    /// Versions of FFTW and MKL.
    pub fn versions(&self) -> (Option<String>, Option<String>) {
        (
            self.fftw.as_ref().map(Fftw::version),
            self.mkl.as_ref().map(Fftw::version),
        )
    }
}

/// One engine with its plan.
pub struct Candidate<'a> {
    pub engine: &'static str,
    pub substrate: String,
    /// The input must be filled again before the next call.
    pub consumes_input: bool,
    /// The engine that follows must wait until this one's threads have gone to sleep.
    pub threads_linger: bool,
    /// The relative L2 error that the result cannot have.
    pub error_limit: f64,
    /// What multiplies digits where nothing is asked for.
    pub automatic: bool,
    call: Call<'a>,
}

impl Candidate<'_> {
    /// Computes the transform once.
    pub fn call(&mut self, buffers: &mut Buffers) -> Result<(), Failure> {
        (self.call)(buffers)
    }
}

/// Plans the transform with every engine that this machine has. The buffers may be overwritten.
pub fn candidates<'a>(
    setting: &Setting,
    libraries: &'a Libraries,
    buffers: &mut Buffers,
    notices: &mut Notices,
) -> Result<Vec<Candidate<'a>>, Failure> {
    let mut candidates = digits(setting, notices)?;
    for &engine in &setting.engines {
        let plan = Planner::new().plan(&problem(setting)?.engine(engine))?;
        candidates.push(planned(engine.name(), plan.bound(), plan));
    }
    candidates.push(rustfft(setting)?);
    candidates.extend(native_lines(setting)?);
    let named = [(FFTW, &libraries.fftw), (MKL, &libraries.mkl)];
    for (name, library) in named {
        if let Some(library) = library {
            candidates.push(loaded(name, library, setting, buffers, notices)?);
        }
    }
    Ok(candidates)
}

fn problem(setting: &Setting) -> Result<Problem, Failure> {
    let problem = problem_of(setting.kind.into(), &setting.shape.0, Direction::Forward)
        // The others never scale.
        .norm(Norm::Unscaled)
        .batch(setting.batch)
        .threads(setting.threads)
        .accuracy(setting.accuracy);
    if !setting.interleaved {
        return Ok(problem);
    }
    let layout = interleaved_layout(setting.kind, &setting.shape, setting.batch)?;
    Ok(problem.input_layout(layout.clone()).output_layout(layout))
}

/// Whether shape, batch, threads and accuracy can be planned at all: asked before memory is taken.
pub fn validate(setting: &Setting) -> Result<(), Failure> {
    Ok(problem(setting)?.validate()?)
}

fn digits(setting: &Setting, notices: &mut Notices) -> Result<Vec<Candidate<'static>>, Failure> {
    let problem = problem(setting)?.engine(Engine::Digits);
    let planner = Planner::new();
    let mut candidates: Vec<Candidate<'static>> = Vec::new();
    for &substrate in &setting.substrates.0 {
        let problem = problem.clone().substrate(substrate);
        let plan = match &setting.steps {
            None => planner.plan(&problem),
            Some(recipe) => plan_with(&problem, recipe),
        };
        match plan {
            Ok(plan) => {
                // `auto` may be one that was named as well, or two of them.
                let automatic = substrate == Substrate::Auto;
                let name = plan.substrate();
                match candidates.iter_mut().find(|c| c.substrate == name) {
                    Some(candidate) => candidate.automatic |= automatic,
                    None => candidates.push(Candidate {
                        automatic,
                        ..planned(DIGITS, plan.bound(), plan)
                    }),
                }
            }
            Err(FftError::Unsupported(why)) => {
                notices.tell(format!("substrate {substrate} is left out: {why}"));
            }
            Err(FftError::Wisdom(reason)) => {
                return Err(Failure::Usage(misfit(setting, &reason)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if candidates.is_empty() {
        return Err(Failure::Usage(
            "none of the substrates asked for is available here; ask for auto or scalar".into(),
        ));
    }
    Ok(candidates)
}

/// Why steps were refused, in the words of the options: the library's are about files of wisdom, in which nobody has written anything.
fn misfit(setting: &Setting, reason: &str) -> String {
    let blocks = match &setting.steps {
        Some(LineRecipe::Passes(blocks)) => &blocks[..],
        _ => &[],
    };
    let sizes = |block: &BlockRecipe| {
        let sizes: Vec<String> = block.steps.iter().map(|step| step.n.to_string()).collect();
        sizes.join(".")
    };
    let text = blocks.iter().map(sizes).collect::<Vec<_>>().join("|");
    let steps = || blocks.iter().flat_map(|block| &block.steps);
    // No overflow: the sizes are any that can be typed.
    let points = steps().try_fold(1, |points: usize, step| points.checked_mul(step.n));
    let other = setting.shape.0.iter().find(|&&n| points != Some(n));
    match (points, other) {
        (Some(points), Some(axis)) if steps().all(|step| (2..=64).contains(&step.n)) => format!(
            "--steps {text} has {points} points, and an axis {axis}; give steps whose product is {axis}"
        ),
        _ => {
            let reason = reason
                .split_once("): ")
                .map_or(reason, |(_, reason)| reason);
            let reason = reason.split("; take the entry out").next();
            format!(
                "--steps {text} does not fit: {}",
                reason.unwrap_or_default()
            )
        }
    }
}

/// A plan with given steps on every axis: as wisdom, which is how the library takes decisions that are not its own.
fn plan_with(problem: &Problem, recipe: &LineRecipe) -> Result<Arc<Plan<f64>>, FftError> {
    let planner = Planner::<f64>::new();
    let digits = planner.plan(problem)?.recipe().map(|recipe| recipe.digits);
    // Wisdom is held to the accuracy that is asked for, and these steps may have a larger bound than the library's own: so
    // hardly anything is asked for, and the digits are named.
    let problem = &problem.clone().accuracy(Accuracy::Target(0.5));
    let planner = Planner::<f64>::new();
    planner.plan(problem)?;
    let text = planner.save_wisdom();
    let mut wisdom: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|error| unreachable!("saved as JSON: {error}"));
    wisdom["plans"][0]["recipe"]["digits"] = serde_json::json!(digits);
    for axis in wisdom["plans"][0]["recipe"]["axes"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        axis["line"] = serde_json::json!(recipe);
    }
    let decided = Planner::new();
    decided.load_wisdom(&wisdom.to_string())?;
    let plan = decided.plan(problem)?;
    let axes = plan.recipe().map_or(&[][..], |recipe| &recipe.axes[..]);
    if axes.is_empty() || axes.iter().any(|axis| axis.line != *recipe) {
        return Err(FftError::Wisdom(plan.why().into()));
    }
    Ok(plan)
}

/// A plan of the library.
fn planned(engine: &'static str, error_limit: f64, plan: Arc<Plan<f64>>) -> Candidate<'static> {
    let substrate = plan.substrate().to_string();
    let mut workspace = vec![0; plan.workspace_len()];
    let call = move |Buffers { input, output, .. }: &mut Buffers| {
        match plan.problem().kind() {
            Kind::ComplexToComplex => plan.process_outofplace_with_workspace(
                input.complex(),
                output.complex_mut(),
                &mut workspace,
            ),
            Kind::RealToComplex => plan.process_real_to_complex_with_workspace(
                input.reals(),
                output.complex_mut(),
                &mut workspace,
            ),
            Kind::ComplexToReal => plan.process_complex_to_real_with_workspace(
                input.complex(),
                output.reals_mut(),
                &mut workspace,
            ),
        }
        .map_err(Failure::from)
    };
    Candidate {
        engine,
        substrate,
        consumes_input: false,
        threads_linger: false,
        error_limit,
        automatic: false,
        call: Box::new(call),
    }
}

/// The length of lines that lie one after the other.
fn contiguous_lines(setting: &Setting) -> Option<usize> {
    match setting.shape.0[..] {
        [length] if !setting.interleaved => Some(length),
        _ => None,
    }
}

/// RustFFT and RealFFT. They transform contiguous lines, not arrays: all else goes through the library's loop over lines.
fn rustfft(setting: &Setting) -> Result<Candidate<'static>, Failure> {
    let Some(length) = contiguous_lines(setting) else {
        let plan = Planner::new().plan(&problem(setting)?.engine(Engine::Native))?;
        return Ok(planned(RUSTFFT, FLOATING_POINT_ERROR, plan));
    };
    Ok(Candidate {
        engine: RUSTFFT,
        substrate: DOUBLES.into(),
        consumes_input: true,
        threads_linger: false,
        error_limit: FLOATING_POINT_ERROR,
        automatic: false,
        call: lines::transform(setting.kind.into(), length, setting.batch, setting.threads),
    })
}

/// The native engine on lines, where it is not RustFFT behind another interface alone: long ones are divided, batches and real ones have loops of
/// their own.
fn native_lines(setting: &Setting) -> Result<Option<Candidate<'static>>, Failure> {
    if contiguous_lines(setting).is_none() {
        return Ok(None);
    }
    let plan = Planner::new().plan(&problem(setting)?.engine(Engine::Native))?;
    Ok(Some(planned(NATIVE, FLOATING_POINT_ERROR, plan)))
}

/// FFTW or MKL.
fn loaded<'a>(
    engine: &'static str,
    library: &'a Fftw,
    setting: &Setting,
    buffers: &mut Buffers,
    notices: &mut Notices,
) -> Result<Candidate<'a>, Failure> {
    if !library.set_threads(setting.threads) {
        notices.tell(format!(
            "{engine} has no threads here: it runs on one where the others run on {}",
            setting.threads
        ));
    }
    let arrays = setting.arrays();
    let plan = library
        .plan(&arrays, buffers.reals_mut(), Effort::Measure)
        .ok_or_else(|| {
            Failure::Check(format!(
                "{engine} is installed, but has no plan for {setting}"
            ))
        })?;
    Ok(Candidate {
        engine,
        substrate: DOUBLES.into(),
        // Its transforms to real output use the input as scratch memory; all others keep it by default.
        consumes_input: arrays.kind == Kind::ComplexToReal,
        threads_linger: engine == MKL && setting.threads > 1,
        error_limit: FLOATING_POINT_ERROR,
        automatic: false,
        call: Box::new(move |buffers| {
            let (input, output) = buffers.reals_mut();
            plan.execute(input, output);
            Ok(())
        }),
    })
}
