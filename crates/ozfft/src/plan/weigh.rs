//! Weighs engines for an accuracy that is a number (`choice.rs` has what comes out).

use super::choice::{Candidate, Choice, Verdict};
use super::estimate::digits_seconds;
#[cfg(feature = "floats")]
use super::estimate::float_seconds;
use super::planner::{Order, Planner};
#[cfg(feature = "floats")]
use crate::engines;
use crate::engines::digits::{PassUnits, units_of_passes};
#[cfg(feature = "floats")]
use crate::engines::floats::{self, unit_for};
use crate::engines::{Built, Gpu};
use crate::problem::Engine;
use crate::sample::Real;
use crate::transform::budget::ErrorBudget;
#[cfg(feature = "floats")]
use ::floats::Mode;

/// Modes that tensor cores run, in the order of the times that were measured on an H200 for lines of 64 to 1024 points
/// (laboratory/records/2026-11-16-h200-floats.json); `fp16` comes before `bf16`, which takes as long and is less accurate.
/// `ozaki_two_level` is slower than the tuned kernels for digits, and more accurate digits keep its bound.
#[cfg(feature = "floats")]
const FASTEST_FIRST_ON_GPUS: [Mode; 5] = [
    Mode::Fp16,
    Mode::Bf16,
    Mode::Ozaki,
    Mode::Fp16Ozaki,
    Mode::OzakiHq,
];

/// An engine, why it is taken, and what it has built.
type Taken<T> = (Engine, String, Built<T>);

impl<T: Real> Planner<T> {
    /// Weighs every mode of the floats engine and the digits engine for an accuracy. Where none proves it, digits say what
    /// they can do.
    pub(super) fn weigh(
        &self,
        order: &Order<'_>,
        target: f64,
        native_error: f64,
    ) -> (Engine, String, Choice) {
        let mut candidates = Vec::new();
        #[cfg(feature = "floats")]
        candidates.extend(Mode::ALL.map(|mode| self.weigh_mode(order, target, mode)));
        candidates.push(self.weigh_digits(order, target));
        candidates.push(Candidate {
            bound: Some(native_error),
            ..Candidate::rejected(
                Engine::Native,
                "native",
                "its error is measured, and nothing is proven of it",
            )
        });
        let fastest = candidates
            .iter_mut()
            .filter(|candidate| candidate.verdict == Verdict::Slower)
            .min_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        let (engine, why) = match fastest {
            Some(candidate) => {
                candidate.verdict = Verdict::Taken;
                let keeps = "is predicted to be the fastest whose proven bound is at most";
                let why = format!("auto: {} {keeps} {target:.2e}", candidate.name());
                (candidate.engine, why)
            }
            None => {
                take_unproven(&mut candidates);
                let why = format!("auto: no engine proves {target:.2e}, and digits come nearest");
                (Engine::Digits, why)
            }
        };
        let choice = Choice {
            target,
            numbers: T::NAME,
            candidates,
        };
        (engine, why, choice)
    }

    /// The same on a GPU, of the modes that have kernels there: the fastest that keeps the accuracy as a plan, or none where
    /// digits are left; and what was weighed. Digits come last: the tuned kernels take longer than any of these modes, the
    /// portable ones far longer.
    pub(super) fn weigh_on_gpu(
        &self,
        order: &Order<'_>,
        target: f64,
        #[cfg_attr(not(feature = "floats"), allow(unused_variables))] gpu: &Gpu,
    ) -> (Option<Taken<T>>, Choice) {
        #[cfg_attr(not(feature = "floats"), allow(unused_mut))]
        let mut taken: Option<Taken<T>> = None;
        let mut candidates = Vec::new();
        #[cfg(feature = "floats")]
        for mode in FASTEST_FIRST_ON_GPUS {
            let why = format!(
                "auto: of the modes that tensor cores run, {mode} is the fastest whose proven bound is at most {target:.2e}"
            );
            let engine = Engine::Floats(mode);
            let request = self.request(order, Some(gpu.clone()), None);
            let candidate = match engines::build::<T>(engine, &request) {
                Err(error) => Candidate::rejected(engine, "-", error),
                Ok(built) => Candidate {
                    engine,
                    digits: None,
                    unit: built.substrate.into(),
                    bound: Some(built.budget.bound),
                    prediction: None,
                    verdict: match taken.replace((engine, format!("{why}; {}", built.why), built)) {
                        None => Verdict::Taken,
                        // Faster ones come first.
                        earlier => {
                            taken = earlier;
                            Verdict::Slower
                        }
                    },
                },
            };
            candidates.push(candidate);
        }
        candidates.push(match self.shared.choose_recipe::<T>(order.problem, None) {
            Ok((recipe, budget, _)) => Candidate {
                engine: Engine::Digits,
                digits: Some(recipe.digits),
                unit: "int8".into(),
                bound: Some(budget.bound),
                prediction: None,
                verdict: match (&taken, verdict(budget, target)) {
                    (None, Verdict::Slower) => Verdict::Taken,
                    (_, verdict) => verdict,
                },
            },
            Err(error) => Candidate::rejected(Engine::Digits, "int8", error),
        });
        if taken.is_none() && !candidates.iter().any(Candidate::is_taken) {
            take_unproven(&mut candidates);
        }
        let choice = Choice {
            target,
            numbers: T::NAME,
            candidates,
        };
        (taken, choice)
    }

    #[cfg(feature = "floats")]
    fn weigh_mode(&self, order: &Order<'_>, target: f64, mode: Mode) -> Candidate {
        let engine = Engine::Floats(mode);
        let unit = match unit_for(order.problem, mode) {
            Ok((unit, _)) => unit,
            Err(error) => return Candidate::rejected(engine, "-", error),
        };
        let request = self.request(order, None, None);
        let (lines, budget) = match floats::lines::<T>(&request, mode, unit) {
            Ok(found) => found,
            Err(error) => return Candidate::rejected(engine, unit.name(), error),
        };
        let name = floats::substrate(&lines, unit);
        Candidate {
            engine,
            digits: None,
            unit: name.into(),
            bound: Some(budget.bound),
            prediction: float_seconds::<T>(order.problem, &order.schedule, &lines, order.threads),
            verdict: verdict(budget, target),
        }
    }

    fn weigh_digits(&self, order: &Order<'_>, target: f64) -> Candidate {
        let (recipe, budget) = match self.shared.choose_recipe::<T>(order.problem, None) {
            Ok((recipe, budget, _)) => (recipe, budget),
            Err(error) => return Candidate::rejected(Engine::Digits, "int8", error),
        };
        match units_of_passes(order.problem, &order.schedule, &recipe) {
            Ok(PassUnits { name: unit, .. }) => Candidate {
                engine: Engine::Digits,
                digits: Some(recipe.digits),
                unit: unit.into(),
                bound: Some(budget.bound),
                // Of two units the slower one, which is named last.
                prediction: digits_seconds(
                    order.problem,
                    &recipe,
                    unit.rsplit(" and ").next().unwrap_or(unit),
                    order.threads,
                ),
                verdict: verdict(budget, target),
            },
            Err(error) => Candidate::rejected(Engine::Digits, "-", error),
        }
    }
}

/// Where nothing is proven, digits are taken if they can be had at all.
fn take_unproven(candidates: &mut [Candidate]) {
    for candidate in candidates {
        if candidate.engine == Engine::Digits && candidate.bound.is_some() {
            candidate.verdict = Verdict::TakenUnproven;
        }
    }
}

fn verdict(budget: ErrorBudget, target: f64) -> Verdict {
    if budget.bound <= target {
        Verdict::Slower
    } else {
        Verdict::Rejected("its bound is above the accuracy".into())
    }
}
