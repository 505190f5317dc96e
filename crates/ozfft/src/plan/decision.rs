//! Planning decisions for a problem, without its tables.

use super::Plan;
use crate::problem::{Engine, Problem};
use crate::recipe::Recipe;
use crate::sample::Real;
#[cfg(feature = "floats")]
use floats::Mode;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The planning decision for a problem: the digits recipe, or a mode of the floats engine, or neither for the engines ntt and native.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct Decision {
    pub(crate) problem: Problem,
    pub(crate) recipe: Option<Recipe>,
    /// The mode of the floats engine.
    #[cfg(feature = "floats")]
    #[cfg_attr(
        feature = "serde",
        serde(default, with = "crate::problem::optional_mode")
    )]
    pub(crate) mode: Option<Mode>,
}

impl<T: Real> From<&Plan<T>> for Decision {
    fn from(plan: &Plan<T>) -> Self {
        Decision {
            problem: plan.problem.clone(),
            recipe: plan.recipe.clone(),
            #[cfg(feature = "floats")]
            mode: match plan.engine {
                Engine::Floats(mode) => Some(mode),
                _ => None,
            },
        }
    }
}

impl Decision {
    pub(crate) fn engine(&self) -> Engine {
        #[cfg(feature = "floats")]
        if let (None, Some(mode)) = (&self.recipe, self.mode) {
            return Engine::Floats(mode);
        }
        match self.recipe {
            Some(_) if self.problem.engine == Engine::Residues => Engine::Residues,
            Some(_) => Engine::Digits,
            None if self.problem.engine == Engine::Ntt => Engine::Ntt,
            None => Engine::Native,
        }
    }
}
