//! What was decided for a problem, without its tables.

use super::Plan;
use crate::problem::{Engine, Problem};
use crate::recipe::Recipe;
use crate::sample::Real;
use floats::Mode;
use serde::{Deserialize, Serialize};

/// What was decided for a problem: the digits recipe, or a mode of the floats engine, or neither for the native engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub(crate) problem: Problem,
    pub(crate) recipe: Option<Recipe>,
    /// The mode of the floats engine.
    #[serde(default, with = "crate::problem::optional_mode")]
    pub(crate) mode: Option<Mode>,
}

impl<T: Real> From<&Plan<T>> for Decision {
    fn from(plan: &Plan<T>) -> Self {
        Decision {
            problem: plan.problem.clone(),
            recipe: plan.recipe.clone(),
            mode: match plan.engine {
                Engine::Floats(mode) => Some(mode),
                _ => None,
            },
        }
    }
}

impl Decision {
    pub(crate) fn engine(&self) -> Engine {
        if self.recipe.is_some() && self.problem.engine == Engine::Residues {
            Engine::Residues
        } else if self.recipe.is_some() {
            Engine::Digits
        } else if let Some(mode) = self.mode {
            Engine::Floats(mode)
        } else {
            Engine::Native
        }
    }
}
