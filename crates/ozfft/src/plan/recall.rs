//! Whether a plan from wisdom is taken.

use super::Plan;
use super::planner::Planner;
use crate::error::FftError;
use crate::problem::{Engine, Problem};
use crate::recipe::Recipe;
use crate::sample::Real;
use crate::transform::budget::bound_text;

impl<T: Real> Planner<T> {
    /// A plan from wisdom where it keeps what was asked for as a fresh one must, else the fresh one, which says why.
    pub(crate) fn recalled_or_fresh(
        &self,
        problem: &Problem,
        recalled: Result<Plan<T>, FftError>,
        fresh: impl Fn() -> Result<Plan<T>, FftError>,
    ) -> Result<Plan<T>, FftError> {
        let plan = match recalled {
            Ok(plan) => plan,
            Err(error) => {
                let mut plan = fresh()?;
                plan.pass_over_wisdom(error);
                return Ok(plan);
            }
        };
        let (found, allowed, likely) = match (&plan.recipe, problem.accuracy.target()) {
            // Engines without recipes have nothing to decide, but for `auto`: native, where no number is asked for.
            (None, None) => return Ok(plan),
            (None, Some(_)) if problem.engine != Engine::Auto => return Ok(plan),
            (_, Some(target)) if plan.budget.bound <= target => return Ok(plan),
            (_, Some(target)) => {
                let best = fresh()?;
                if plan.engine == best.engine && plan.recipe == best.recipe {
                    return Ok(plan);
                }
                // Where a fresh plan proves the accuracy, so must this one.
                let best = best.budget.bound;
                let allowed = if best <= target { target } else { best };
                let likely = 3.0 * plan.budget.expected <= target;
                (plan.budget.bound, allowed, likely)
            }
            (Some(recipe), None) => {
                let steps = self.shared.recipe(problem, recipe.digits);
                if *recipe == steps {
                    return Ok(plan);
                }
                // The digits are those that the accuracy names: so it is the steps that are compared.
                let bound = |recipe: &Recipe| self.shared.budget::<T>(problem, recipe, None).bound;
                (bound(recipe), bound(&steps), true)
            }
        };
        if found <= allowed && likely {
            return Ok(plan);
        }
        let mut plan = fresh()?;
        plan.pass_over_wisdom(match likely {
            true => format!("its bound of {} is above {allowed:.2e}, which a plan for this accuracy keeps", bound_text(found, 2)),
            false => format!("its bound of {} does not prove the accuracy, and three times its expected error is above it", bound_text(found, 2)),
        });
        Ok(plan)
    }
}
