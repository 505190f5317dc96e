//! One transform on a GPU: verified, then timed side by side with cuFFT and a copy.

use super::record::Measurement;
use super::{Notices, Setting};
use crate::bench::interleaved_layout;
use num_complex::Complex;
use ozfft::{Device, Direction, Engine, FftError, Kind, Norm, Plan, Planner, Problem, Real};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::{
    Backwards, CallSeconds, Copy, CuFft, DeviceArrays, DeviceFailure, DeviceWork, Gpu, Precision,
    VARIANTS,
};
use ozfft_measure::options::accuracy_text;
use ozfft_testkit::oracle::inputs::uniform_complex;
use ozfft_testkit::{Bits, same_bits};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Complex numbers after which the input repeats itself: a prime, so that lines differ.
const PERIOD: usize = 1_000_003;
const SEED: u64 = 1;
/// Single arrays up to this many points are compared with the processor's bits as a whole.
const LARGEST_WHOLE: usize = 1 << 24;
/// Points of a batch that are compared with the processor's bits, at its beginning and once more at its end.
const COMPARED_POINTS: usize = 1 << 20;
/// Outputs that are compared with cuFFT's, at the beginning and at the end.
const COMPARED_WITH_CUFFT: usize = 1 << 16;
const FEWEST_ROUNDS: usize = 5;
const MOST_ROUNDS: usize = 25;
/// A timed run is repeated until it lasts so long, so that launching does not count.
const RUN_SECONDS: f64 = 3e-3;
const MOST_REPEATS: f64 = 50.0;
/// Transforms of at most so many points are also timed call by call, so many times.
const SHORT_POINTS: usize = 1 << 21;
const CALLS: usize = 201;
/// Every engine works for so long before anything is timed.
const WARM_UP: Duration = Duration::from_millis(50);

/// Measures one transform. Every figure that is missing is an error or a notice.
pub fn measure(
    gpu: &Gpu,
    ordinal: usize,
    setting: &Setting,
    seconds: Duration,
    notices: &mut Notices,
) -> Result<Vec<Measurement>, Failure> {
    match setting.precision {
        Precision::Double => Item::<f64>::plan(gpu, ordinal, setting, notices)?.measure(seconds),
        Precision::Single => Item::<f32>::plan(gpu, ordinal, setting, notices)?.measure(seconds),
    }
}

/// What is asked of ozfft; the baseline has the same shape.
pub fn problem(setting: &Setting) -> Result<Problem, Failure> {
    let problem = match setting.kind.into() {
        Kind::ComplexToComplex => Problem::complex(&setting.shape.0),
        Kind::RealToComplex => Problem::real_to_complex(&setting.shape.0),
        Kind::ComplexToReal => Problem::complex_to_real(&setting.shape.0),
    };
    let problem = problem
        .batch(setting.batch)
        .accuracy(setting.accuracy)
        .norm(Norm::Unscaled)
        .engine(Engine::Digits);
    let problem = match setting.interleaved {
        true => interleaved(problem, setting)?,
        false => problem,
    };
    problem.validate()?;
    Ok(problem)
}

/// The arrays of a batch side by side.
fn interleaved(problem: Problem, setting: &Setting) -> Result<Problem, Failure> {
    let layout = interleaved_layout(setting.kind, &setting.shape, setting.batch)?;
    Ok(problem.input_layout(layout.clone()).output_layout(layout))
}

struct Item<'a, T: Real> {
    gpu: &'a Gpu,
    setting: &'a Setting,
    problem: Problem,
    cufft: Option<CuFft>,
    plans: Vec<(&'static str, Arc<Plan<T>>)>,
    copy: Copy,
    /// What makes the input of real numbers, where half-spectra are asked for: random ones are none of a real array, and libraries treat
    /// them differently.
    half_spectra: Option<Backwards<Arc<Plan<T>>>>,
    /// Real numbers that the input, or what it is made of, repeats.
    pattern: Vec<T>,
    /// Reals of one array.
    input_reals: usize,
    output_reals: usize,
}

/// How half-spectra are made of real numbers.
fn to_half_spectra(setting: &Setting, batch: usize) -> Problem {
    Problem::real_to_complex(&setting.shape.0)
        .batch(batch)
        .accuracy(setting.accuracy)
        .norm(Norm::Unscaled)
        .engine(Engine::Digits)
}

impl<'a, T: Real + Bits> Item<'a, T> {
    fn plan(
        gpu: &'a Gpu,
        ordinal: usize,
        setting: &'a Setting,
        notices: &mut Notices,
    ) -> Result<Self, Failure> {
        let problem = problem(setting)?;
        let planner = Planner::<T>::new();
        let mut plans = Vec::new();
        let asked = &setting.variants;
        let unknown = asked
            .iter()
            .find(|asked| VARIANTS.iter().all(|known| known.name != **asked));
        if let Some(unknown) = unknown {
            let known: Vec<&str> = VARIANTS.iter().map(|variant| variant.name).collect();
            return Err(Failure::Usage(format!(
                "there is no variant {unknown:?}; there are {}",
                known.join(", ")
            )));
        }
        let wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
        for variant in VARIANTS.iter().filter(|variant| wanted(variant.name)) {
            let asked = (variant.apply)(problem.clone().device(Device::Cuda(ordinal)));
            match planner.plan(&asked) {
                Ok(plan) => plans.push((variant.name, plan)),
                Err(
                    why @ (FftError::Unsupported(_)
                    | FftError::NoFp8 { .. }
                    | FftError::Fp8Inexact { .. }
                    | FftError::F16Inexact { .. }),
                ) => {
                    notices.tell(format!("{} is left out: {why}", variant.name));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if plans.is_empty() {
            return Err(Failure::Check(
                "ozfft has no variant that computes this on this GPU".into(),
            ));
        }
        let size = (Direction::Forward, setting.batch);
        let distances = match setting.interleaved {
            true => (setting.batch as i64, 1),
            false => (1, 0),
        };
        let cufft = match CuFft::plan_strided(gpu, &problem, size, setting.precision, distances) {
            Ok(plan) => Some(plan),
            Err(failure @ DeviceFailure::NoCuFft) => {
                notices.tell(format!("there are no ratios: {failure}"));
                None
            }
            Err(failure) => return Err(failure.into()),
        };
        let pattern = uniform_complex(PERIOD, SEED)
            .iter()
            .flat_map(|value| [T::narrow(value.re), T::narrow(value.im)])
            .collect();
        let reals = |shape: Vec<usize>| shape.iter().product::<usize>();
        let (input_parts, output_parts) = match problem.kind() {
            Kind::ComplexToComplex => (2, 2),
            Kind::RealToComplex => (1, 2),
            Kind::ComplexToReal => (2, 1),
        };
        let (input_reals, output_reals) = (
            input_parts * reals(problem.input_shape()),
            output_parts * reals(problem.output_shape()),
        );
        let half_spectra = match problem.kind() {
            Kind::ComplexToReal => {
                let asked = to_half_spectra(setting, setting.batch).device(Device::Cuda(ordinal));
                Some(Backwards(planner.plan(&asked)?))
            }
            Kind::ComplexToComplex | Kind::RealToComplex => None,
        };
        let bytes = setting.batch * input_reals.min(output_reals) * size_of::<T>();
        Ok(Item {
            gpu,
            setting,
            problem,
            cufft,
            plans,
            copy: Copy(bytes),
            half_spectra,
            pattern,
            input_reals,
            output_reals,
        })
    }

    fn works(&self) -> Vec<&dyn DeviceWork> {
        let plans = self
            .plans
            .iter()
            .map(|(_, plan)| &**plan as &dyn DeviceWork);
        let cufft = self.cufft.iter().map(|plan| plan as &dyn DeviceWork);
        cufft
            .chain(plans)
            .chain([&self.copy as &dyn DeviceWork])
            .collect()
    }

    /// The input, anew: cuFFT's transforms to real numbers use it as scratch memory.
    fn fill(&self, arrays: &mut DeviceArrays) -> Result<(), Failure> {
        match &self.half_spectra {
            None => arrays.input.fill(&self.pattern)?,
            Some(half_spectra) => {
                arrays.output.fill(&self.pattern)?;
                self.gpu.run(half_spectra, arrays, 1)?;
            }
        }
        Ok(())
    }

    fn measure(&self, seconds: Duration) -> Result<Vec<Measurement>, Failure> {
        let works = self.works();
        let half_spectra = self.half_spectra.iter();
        let half_spectra = half_spectra.map(|work| work as &dyn DeviceWork);
        let all: Vec<&dyn DeviceWork> = works.iter().copied().chain(half_spectra).collect();
        let mut arrays = self.gpu.arrays_for(&all)?;
        self.fill(&mut arrays)?;
        let verified = self.verify(&mut arrays)?;
        let mut repeats = Vec::new();
        for work in &works {
            if self.half_spectra.is_some() {
                self.fill(&mut arrays)?;
            }
            let start = Instant::now();
            let mut once = self.gpu.run(*work, &mut arrays, 1)?;
            while start.elapsed() < WARM_UP {
                once = self.gpu.run(*work, &mut arrays, 1)?;
            }
            repeats.push((RUN_SECONDS / once.max(1e-7)).clamp(1.0, MOST_REPEATS) as u32);
        }
        let mut times = vec![Vec::new(); works.len()];
        let limit = seconds * works.len() as u32;
        let start = Instant::now();
        for round in 0..MOST_ROUNDS {
            if round >= FEWEST_ROUNDS && start.elapsed() > limit {
                break;
            }
            for ((work, times), &repeats) in works.iter().zip(&mut times).zip(&repeats) {
                if self.half_spectra.is_some() {
                    self.fill(&mut arrays)?;
                }
                times.push(self.gpu.run(*work, &mut arrays, repeats)?);
            }
        }
        let mut calls = vec![Vec::new(); works.len()];
        if self.setting.batch * self.setting.shape.0.iter().product::<usize>() <= SHORT_POINTS {
            for (work, calls) in works.iter().zip(&mut calls) {
                for _ in 0..CALLS {
                    calls.push(self.gpu.call(*work, &mut arrays)?);
                }
            }
        }
        Ok(self.measurements(&times, &calls, &verified))
    }

    /// Real numbers of the input from this one on.
    fn input(&self, first: usize, count: usize) -> Vec<T> {
        let period = self.pattern.len();
        (first..first + count)
            .map(|index| self.pattern[index % period])
            .collect()
    }

    /// Compares every plan's results with the processor's bits and with cuFFT's numbers; says how.
    fn verify(&self, arrays: &mut DeviceArrays) -> Result<String, Failure> {
        let batch = self.setting.batch;
        let points: usize = self.setting.shape.0.iter().product();
        let compared = (COMPARED_POINTS / points).clamp(1, batch);
        let mut expected = Vec::new();
        if self.setting.interleaved {
            self.verify_fewer(arrays, compared)?;
        } else if points <= LARGEST_WHOLE {
            let mut places = vec![0, batch - compared];
            places.dedup();
            let plan = Planner::<T>::new().plan(&self.problem.clone().batch(compared))?;
            for place in places {
                let input = match self.half_spectra {
                    None => self.input(place * self.input_reals, compared * self.input_reals),
                    Some(_) => {
                        let real =
                            self.input(place * self.output_reals, compared * self.output_reals);
                        let problem = to_half_spectra(self.setting, compared);
                        on_processor(&*Planner::<T>::new().plan(&problem)?, &real)?
                    }
                };
                expected.push((place, on_processor(&plan, &input)?));
            }
        }
        let reference = match &self.cufft {
            Some(cufft) => {
                self.gpu.run(cufft, arrays, 1)?;
                Some(self.ends(arrays)?)
            }
            None => None,
        };
        for (name, plan) in &self.plans {
            if self.half_spectra.is_some() {
                self.fill(arrays)?;
            }
            // Once as it is launched; then recorded, and replayed.
            for runs in [1, 2] {
                arrays.output.fill(&[T::narrow(0.5)])?;
                self.gpu.run(&**plan, arrays, runs)?;
                self.compare(arrays, name, &expected)?;
            }
            if let Some(reference) = &reference {
                let difference = relative_difference(&self.ends(arrays)?, reference);
                // A part of the output may be smaller than the rest, and its relative error larger.
                let tolerance = plan.bound() + 1024.0 * T::UNIT_ROUNDOFF;
                // Not a number fails as well.
                if difference.is_nan() || difference > tolerance {
                    return Err(Failure::Check(format!(
                        "{name}: the result differs from cuFFT's by {difference:e}, which errors do not explain"
                    )));
                }
            }
        }
        let with_cufft = reference.map(|_| "both ends against cuFFT's numbers");
        let with_processor = match expected.len() {
            _ if self.setting.interleaved => Some(format!(
                "{compared} interleaved arrays against the processor's bits"
            )),
            0 => None,
            _ if batch == compared => Some("all of it against the processor's bits".to_string()),
            _ => Some(format!(
                "the first and last {compared} arrays against the processor's bits"
            )),
        };
        let comparisons = [with_processor, with_cufft.map(String::from)];
        let comparisons: Vec<String> = comparisons.into_iter().flatten().collect();
        if comparisons.is_empty() {
            return Err(Failure::Check(
                "nothing is there to compare the result with: the array is large, and cuFFT is missing".into(),
            ));
        }
        Ok(comparisons.join(", "))
    }

    /// Compares arrays of the output, from some on, with those of the processor.
    fn compare(
        &self,
        arrays: &DeviceArrays,
        name: &str,
        expected: &[(usize, Vec<T>)],
    ) -> Result<(), Failure> {
        for (place, expected) in expected {
            let mut found = vec![T::narrow(0.0); expected.len()];
            let offset = place * self.output_reals * size_of::<T>();
            arrays.output.download(offset, &mut found)?;
            same_bits(expected, &found, SEED).map_err(|difference| {
                Failure::Check(format!(
                    "{name}: real numbers from array {place} on have other bits than the processor's: {difference}"
                ))
            })?;
        }
        Ok(())
    }

    /// Compares a smaller batch of interleaved arrays with the processor's bits.
    fn verify_fewer(&self, arrays: &mut DeviceArrays, batch: usize) -> Result<(), Failure> {
        let setting = Setting {
            batch,
            ..self.setting.clone()
        };
        let problem = problem(&setting)?;
        let planner = Planner::<T>::new();
        let input = self.input(0, batch * self.input_reals);
        let expected = on_processor(&*planner.plan(&problem)?, &input)?;
        for (name, plan) in &self.plans {
            let fewer = interleaved(plan.problem().clone().batch(batch), &setting)?;
            let plan = planner.plan(&fewer)?;
            self.gpu.run(&*plan, arrays, 1)?;
            let mut found = vec![T::narrow(0.0); expected.len()];
            arrays.output.download(0, &mut found)?;
            same_bits(&expected, &found, SEED).map_err(|difference| {
                Failure::Check(format!(
                    "{name}: {batch} interleaved arrays have other bits than the processor's: {difference}"
                ))
            })?;
        }
        Ok(())
    }

    /// Some of the output, from its beginning and from its end.
    fn ends(&self, arrays: &DeviceArrays) -> Result<Vec<T>, Failure> {
        let total = self.setting.batch * self.output_reals;
        let count = total.min(2 * COMPARED_WITH_CUFFT);
        let mut ends = vec![T::narrow(0.0); 2 * count];
        let (first, last) = ends.split_at_mut(count);
        arrays.output.download(0, first)?;
        let offset = (total - count) * size_of::<T>();
        arrays.output.download(offset, last)?;
        Ok(ends)
    }

    fn measurements(
        &self,
        times: &[Vec<f64>],
        calls: &[Vec<CallSeconds>],
        verified: &str,
    ) -> Vec<Measurement> {
        let setting = self.setting;
        let rank = setting.shape.0.len();
        let bytes_of = |reals: usize| (setting.batch * reals * size_of::<T>()) as f64;
        // Every axis is read and written once; all but the first in the shape of the output.
        let pass_bytes = bytes_of(self.input_reals) + bytes_of(self.output_reals);
        let bytes = pass_bytes + 2.0 * (rank - 1) as f64 * bytes_of(self.output_reals);
        let copy_seconds = times.last().map_or(f64::NAN, |times| median(times));
        let roof = bytes / (2.0 * self.copy.0 as f64 / copy_seconds);
        let cufft_seconds = self.cufft.as_ref().map(|_| median(&times[0]));
        let cufft = self.cufft.iter().map(|plan| {
            let needs = plan.needs();
            ("cufft", "fp".to_string(), "", None, needs.workspace)
        });
        let plans = self.plans.iter().map(|(variant, plan)| {
            let substrate = plan.substrate().to_string();
            let workspace = plan.device_workspace_len();
            ("ozfft", substrate, *variant, Some(&**plan), workspace)
        });
        let copy = [("copy", "memory".to_string(), "", None, 0)];
        let engines = cufft.chain(plans).chain(copy);
        engines
            .zip(times)
            .zip(calls)
            .map(
                |(((engine, substrate, variant, plan, workspace_bytes), times), calls)| {
                    let seconds = median(times);
                    let is_copy = engine == "copy";
                    let moved = if is_copy {
                        2.0 * self.copy.0 as f64
                    } else {
                        bytes
                    };
                    let shortest = times.iter().copied().fold(f64::INFINITY, f64::min);
                    Measurement {
                        shape: setting.shape.to_string(),
                        batch: setting.batch,
                        points: setting.batch * setting.shape.0.iter().product::<usize>(),
                        kind: setting.kind,
                        precision: setting.precision,
                        accuracy: accuracy_text(setting.accuracy),
                        engine: engine.into(),
                        variant: variant.into(),
                        substrate,
                        recipe: plan.and_then(|plan| plan.recipe().map(ToString::to_string)),
                        bound: plan.map(Plan::bound),
                        median_ms: rounded(seconds * 1e3, 5),
                        min_ms: rounded(shortest * 1e3, 5),
                        runs: times.len(),
                        call_microseconds: call_microseconds(calls),
                        ratio_to_cufft: cufft_seconds
                            .filter(|_| !is_copy)
                            .map(|cufft| rounded(seconds / cufft, 4)),
                        fraction_of_roof: (!is_copy).then(|| rounded(roof / seconds, 4)),
                        terabytes_per_second: rounded(moved / seconds * 1e-12, 4),
                        workspace_bytes,
                        verified: plan.map(|_| verified.to_string()),
                    }
                },
            )
            .collect()
    }
}

/// The transform of real numbers, or of pairs of them, by a plan for the processor, as real numbers.
fn on_processor<T: Real>(plan: &Plan<T>, input: &[T]) -> Result<Vec<T>, Failure> {
    let one = T::narrow(1.0);
    let length = plan.problem().output_len();
    if plan.problem().kind() == Kind::ComplexToReal {
        let mut output = vec![one; length];
        plan.process_complex_to_real(bytemuck::cast_slice(input), &mut output)?;
        return Ok(output);
    }
    let mut output = vec![Complex::new(one, one); length];
    if plan.problem().kind() == Kind::RealToComplex {
        plan.process_real_to_complex(input, &mut output)?;
    } else {
        plan.process_outofplace(bytemuck::cast_slice(input), &mut output)?;
    }
    Ok(bytemuck::cast_slice(&output).to_vec())
}

/// The 2-norm of the differences over that of the reference.
fn relative_difference<T: Real>(found: &[T], reference: &[T]) -> f64 {
    let mut sums = (0.0, 0.0);
    for (found, reference) in found.iter().zip(reference) {
        let (found, reference) = (found.widen(), reference.widen());
        sums.0 += (found - reference) * (found - reference);
        sums.1 += reference * reference;
    }
    (sums.0 / sums.1).sqrt()
}

/// Medians of what single calls take, if some were timed.
fn call_microseconds(calls: &[CallSeconds]) -> Option<[f64; 2]> {
    let middle = |seconds: fn(&CallSeconds) -> f64| {
        let all: Vec<f64> = calls.iter().map(seconds).collect();
        rounded(median(&all) * 1e6, 3)
    };
    (!calls.is_empty()).then(|| [middle(|call| call.queued), middle(|call| call.finished)])
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]),
    }
}

/// Digits beyond those that can be measured would only make records hard to read.
fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn differences_are_relative_and_see_what_is_not_a_number() {
        assert_eq!(relative_difference(&[3.0, 4.0], &[3.0, 4.0]), 0.0);
        assert_eq!(relative_difference(&[2.0f32], &[1.0]), 1.0);
        assert!(relative_difference(&[f64::NAN], &[1.0]).is_nan());
    }

    #[test]
    fn the_processor_computes_all_kinds() -> Result<(), Failure> {
        let planner = Planner::<f64>::new();
        let problem = Problem::complex(&[4]).engine(Engine::Digits).batch(2);
        let ones = vec![1.0; 16];
        let complex = on_processor(&*planner.plan(&problem)?, &ones)?;
        assert_eq!(complex[..4], [4.0, 4.0, 0.0, 0.0]);
        let problem = Problem::real_to_complex(&[4])
            .engine(Engine::Digits)
            .batch(2);
        let real = on_processor(&*planner.plan(&problem)?, &ones[..8])?;
        assert_eq!(real[..4], [4.0, 0.0, 0.0, 0.0]);
        assert_eq!(real.len(), 12);
        let problem = Problem::complex_to_real(&[4])
            .engine(Engine::Digits)
            .norm(Norm::Unscaled)
            .batch(2);
        assert_eq!(on_processor(&*planner.plan(&problem)?, &real)?, [4.0; 8]);
        Ok(())
    }
}
