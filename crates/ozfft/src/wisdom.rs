//! Plans saved and loaded ("wisdom", as FFTW calls it): which recipe was chosen for which problem, as JSON.
//!
//! Tables are not saved, they are recomputed; what a file brings is the decision, so that two machines can be held to
//! the same recipe, and with it to the same bits, whatever their planners would choose.

use crate::error::FftError;
use crate::factor;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Engine, Family, Problem};
use crate::recipe::{BlockRecipe, Digits, LineRecipe, Recipe};
use crate::sample::Real;
use floats::Mode;
use serde::{Deserialize, Serialize};

/// Changes when recipes of an older file would give other bits.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Wisdom {
    format: u32,
    /// Number type of the planner that saved: recipes are chosen for it.
    numbers: String,
    plans: Vec<Decision>,
}

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

fn refuse(reason: impl std::fmt::Display) -> FftError {
    FftError::Wisdom(reason.to_string())
}

impl Digits {
    fn validate(self) -> Result<(), FftError> {
        let Digits {
            data,
            matrix,
            diagonals,
        } = self;
        let sound = (2..=8).contains(&data)
            && (1..=7).contains(&matrix)
            && (data..data + matrix).contains(&diagonals);
        sound
            .then_some(())
            .ok_or_else(|| refuse(format!("the digits {self:?} are not usable")))
    }
}

fn validate_blocks(blocks: &[BlockRecipe]) -> Result<(), FftError> {
    let sound = !blocks.is_empty()
        && blocks.iter().all(|block| {
            let sizes: Vec<usize> = block.steps.iter().map(|s| s.n).collect();
            !sizes.is_empty()
                && sizes.iter().all(|&n| factor::is_step(n))
                && block.len() <= factor::LONGEST_BLOCK
                && *block == BlockRecipe::from_sizes(&sizes)
        });
    sound
        .then_some(())
        .ok_or_else(|| refuse("a line has steps that do not fit together"))
}

impl LineRecipe {
    fn validate(&self, n: usize) -> Result<(), FftError> {
        match self {
            LineRecipe::Copy => {}
            LineRecipe::Passes(blocks) => validate_blocks(blocks)?,
            LineRecipe::Bluestein { n, convolution } => {
                validate_blocks(convolution)?;
                let m = LineRecipe::Passes(convolution.clone()).len();
                if *n == 0 || m < 2 * n - 1 {
                    return Err(refuse(format!(
                        "a convolution of {m} points is too short for a length of {n}"
                    )));
                }
            }
        }
        if self.len() != n {
            return Err(refuse(format!(
                "a recipe for {} points is given for an axis of {n}",
                self.len()
            )));
        }
        Ok(())
    }
}

impl Decision {
    /// Everything that a file could get wrong and that tables or execution rely on.
    fn validate(&self) -> Result<(), FftError> {
        self.problem.validate()?;
        let Some(recipe) = &self.recipe else {
            return Ok(());
        };
        if self.mode.is_some() {
            return Err(refuse("a plan has a recipe of digits or a mode, not both"));
        }
        recipe.digits.validate()?;
        let exact = recipe.digits == recipe.digits.exact();
        if recipe.family != self.problem.family || (recipe.family == Family::Exact && !exact) {
            return Err(refuse("the recipe's family is not the problem's"));
        }
        let mut axes: Vec<usize> = recipe.axes.iter().map(|a| a.axis).collect();
        let mut wanted = self.problem.axes.clone();
        axes.sort_unstable();
        wanted.sort_unstable();
        if axes != wanted {
            return Err(refuse(format!(
                "a recipe for axes {axes:?} is given for a problem with axes {wanted:?}"
            )));
        }
        recipe
            .axes
            .iter()
            .try_for_each(|a| a.line.validate(self.problem.shape[a.axis]))
    }
}

impl<T: Real> Planner<T> {
    /// The decisions of all plans made so far, as JSON.
    ///
    /// ```
    /// use ozfft::{Engine, Planner, Problem};
    /// let problem = Problem::complex(&[1000]).engine(Engine::Digits);
    /// let first = Planner::<f64>::new();
    /// let plan = first.plan(&problem)?;
    /// let second = Planner::<f64>::new();
    /// second.load_wisdom(&first.save_wisdom())?;
    /// assert_eq!(second.plan(&problem)?.recipe(), plan.recipe());
    /// # Ok::<(), ozfft::FftError>(())
    /// ```
    pub fn save_wisdom(&self) -> String {
        let wisdom = Wisdom {
            format: FORMAT,
            numbers: T::NAME.into(),
            plans: self.decisions(),
        };
        serde_json::to_string_pretty(&wisdom)
            .unwrap_or_else(|error| unreachable!("plain data is always JSON: {error}"))
    }

    /// Adds saved decisions: later plans of those problems use them instead of choosing anew. Returns their number.
    ///
    /// Nothing is taken over when any part of the text is unusable.
    pub fn load_wisdom(&self, text: &str) -> Result<usize, FftError> {
        let wisdom: Wisdom = serde_json::from_str(text).map_err(refuse)?;
        if wisdom.format != FORMAT {
            return Err(refuse(format!(
                "its format is {}, this version reads {FORMAT}; plan again and save",
                wisdom.format
            )));
        }
        if wisdom.numbers != T::NAME {
            return Err(refuse(format!(
                "it was saved for {} data, this planner is for {}",
                wisdom.numbers,
                T::NAME
            )));
        }
        wisdom.plans.iter().try_for_each(Decision::validate)?;
        let count = wisdom.plans.len();
        self.recall(wisdom.plans);
        Ok(count)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Accuracy;

    fn saved() -> String {
        let planner = Planner::<f64>::new();
        for n in [1, 12, 1000, 131] {
            let problem = Problem::complex(&[n]).engine(Engine::Digits);
            planner.plan(&problem).unwrap();
        }
        let lower = Problem::complex(&[8, 9]).accuracy(Accuracy::Target(1e-9));
        planner.plan(&lower.engine(Engine::Digits)).unwrap();
        planner.plan(&Problem::complex(&[5])).unwrap();
        planner.save_wisdom()
    }

    #[test]
    fn wisdom_round_trips_and_is_used() {
        let text = saved();
        let planner = Planner::<f64>::new();
        assert_eq!(planner.load_wisdom(&text), Ok(6));
        let plan = planner
            .plan(&Problem::complex(&[1000]).engine(Engine::Digits))
            .unwrap();
        assert!(plan.why().contains("wisdom"), "{}", plan.why());
    }

    #[test]
    fn damaged_wisdom_is_refused_whole() {
        let text = saved();
        for (from, to) in [
            ("\"format\": 1", "\"format\": 99"),
            ("\"f64\"", "\"f32\""),
            ("\"data\": 8", "\"data\": 9"),
            ("\"diagonals\": 8", "\"diagonals\": 2"),
            ("\"n\": 131", "\"n\": 2000"),
            ("\"n\": 40", "\"n\": 39"),
            (
                "\"fold\": \"TimeShifted\"",
                "\"fold\": \"FrequencyShifted\"",
            ),
            ("{", "["),
        ] {
            let damaged = text.replacen(from, to, 1);
            assert_ne!(damaged, text, "{from} does not occur");
            let planner = Planner::<f64>::new();
            let outcome = planner.load_wisdom(&damaged);
            assert!(outcome.is_err(), "{from} -> {to} was accepted");
            assert!(planner.decisions().is_empty());
        }
    }
}
