//! Plans saved and loaded ("wisdom", as FFTW calls it): which recipe was chosen for which problem, as JSON.
//!
//! Tables are not saved, they are recomputed; what a file brings is the decision, so that two machines can be held to
//! the same recipe, and with it to the same bits, whatever their planners would choose.

use super::decision::Decision;
use super::planner::Planner;
use crate::error::FftError;
use crate::problem::{Accuracy, Device, Engine, Problem, Products};
use crate::recipe::factor;
use crate::recipe::{BlockRecipe, Digits, LineRecipe, Recipe};
use crate::sample::Real;
use float_environment::DefaultEnvironment;
use serde::{Deserialize, Serialize};

/// Changes when recipes of an older file would give other bits.
const FORMAT: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Wisdom {
    format: u32,
    /// Number type of the planner that saved: recipes are chosen for it.
    numbers: String,
    plans: Vec<Decision>,
}

fn reject(reason: impl std::fmt::Display) -> FftError {
    FftError::Wisdom(reason.to_string())
}

/// The digits of a plan for this problem, where its accuracy determines them.
pub(crate) fn named_digits(problem: &Problem) -> Option<Digits> {
    let digits = match problem.accuracy {
        Accuracy::Single => Digits::SINGLE,
        Accuracy::Double => Digits::DOUBLE,
        // Words are full, and every line takes of them what it needs.
        #[cfg(feature = "residues")]
        Accuracy::Target(_) | Accuracy::Bits(_) if problem.residues.adaptive => Digits::DOUBLE,
        Accuracy::Target(_) | Accuracy::Bits(_) => return None,
    };
    Some(problem.products.digits(digits))
}

/// Those that planning considers, and no others: kernels and head-room are proven for them.
fn validate_digits(digits: Digits) -> Result<(), String> {
    let Digits {
        data,
        matrix,
        diagonals,
    } = digits;
    let sound = (2..=8).contains(&data)
        && (1..=data.min(7)).contains(&matrix)
        && (data..data + matrix).contains(&diagonals);
    sound.then_some(()).ok_or_else(|| {
        format!("the digits {digits:?} are not usable: 2 to 8 of data, at most as many and 7 of matrices, diagonals from those of data to all")
    })
}

/// Checks blocks of at most `longest` points, and returns the product of their lengths.
fn validate_blocks(blocks: &[BlockRecipe], longest: usize) -> Result<usize, String> {
    if blocks.is_empty() {
        return Err("a line has no steps".into());
    }
    let mut points = 1usize;
    for block in blocks {
        let sizes: Vec<usize> = block.steps.iter().map(|step| step.n).collect();
        if sizes.is_empty() {
            return Err("a block has no steps".into());
        }
        if let Some(n) = sizes.iter().find(|&&n| !factor::is_step(n)) {
            return Err(format!(
                "there is no step of {n} points; steps have 2 to 64"
            ));
        }
        // Steps have at most 64 points, so that the first product beyond the limit does not wrap.
        let length = sizes.iter().try_fold(1usize, |length, &n| {
            Some(length * n).filter(|&length| length <= longest)
        });
        let Some(length) = length else {
            return Err(format!("the block {block} has more than {longest} points"));
        };
        if *block != BlockRecipe::from_sizes(&sizes) {
            return Err(format!(
                "folds and shifts of the block {block} are not those of its steps"
            ));
        }
        points = points
            .checked_mul(length)
            .ok_or("a line has more points than can be addressed")?;
    }
    Ok(points)
}

/// Whether a line is a valid recipe for `n` points.
fn validate_line(line: &LineRecipe, n: usize) -> Result<(), String> {
    let points = match line {
        LineRecipe::Copy => 1,
        LineRecipe::Passes(blocks) => validate_blocks(blocks, factor::LONGEST_BLOCK)?,
        LineRecipe::Bluestein { n, convolution } => {
            let m = validate_blocks(convolution, factor::LONGEST_CONVOLUTION_BLOCK)?;
            if *n < 2 || factor::is_smooth(*n) {
                return Err(format!(
                    "a length of {n} needs no convolution; lengths with a prime factor above 64 do"
                ));
            }
            // As planning takes them: the power of two above is always enough.
            let needed = n.checked_mul(2).and_then(|points| {
                let least = points - 1;
                Some(least..=least.checked_next_power_of_two()?)
            });
            if !needed.is_some_and(|needed| needed.contains(&m)) {
                return Err(format!(
                    "a convolution of {m} points does not fit a length of {n}: it takes at least 2n - 1, and at most the power of two above"
                ));
            }
            *n
        }
    };
    if points != n {
        return Err(format!(
            "a recipe for {points} points is given for an axis of {n}"
        ));
    }
    Ok(())
}

impl Decision {
    /// Everything that a file could get wrong and that can be seen without tables: what execution relies on, and whether the
    /// decision is one that planning could have made for this problem. Whether the bound keeps the accuracy is looked at when
    /// the problem is planned.
    fn validate(&self) -> Result<(), String> {
        self.problem.validate().map_err(|error| error.to_string())?;
        self.keeps_engine()?;
        match &self.recipe {
            Some(recipe) => self.validate_recipe(recipe),
            None => Ok(()),
        }
    }

    /// Whether a fresh plan of this problem could run on the decision's engine.
    fn keeps_engine(&self) -> Result<(), String> {
        let problem = &self.problem;
        #[cfg(feature = "floats")]
        if self.recipe.is_some() && self.mode.is_some() {
            return Err("it has a recipe of digits and a mode, of which only one can run".into());
        }
        let asked = problem.engine;
        let taken = self.engine();
        let keeps = match (taken, asked) {
            (_, Engine::Auto) if problem.reproducible => taken == Engine::Digits,
            (Engine::Digits, Engine::Auto) => true,
            // Of floating point `auto` takes what is proven to keep an error.
            #[cfg(feature = "floats")]
            (Engine::Floats(_), Engine::Auto) => {
                problem.accuracy.target().is_some() && problem.products == Products::Truncated
            }
            (Engine::Native, Engine::Auto) => {
                let on_gpu = matches!(problem.device, Device::Cuda(_));
                problem.accuracy.target().is_none() && !on_gpu
            }
            _ => taken == asked,
        };
        if keeps {
            return Ok(());
        }
        let reproducible = match problem.reproducible {
            true => ", reproducible",
            false => "",
        };
        Err(format!(
            "it decides for the engine {taken}, which is not what the engine {asked}{reproducible} with the accuracy {:?} may take",
            problem.accuracy
        ))
    }

    fn validate_recipe(&self, recipe: &Recipe) -> Result<(), String> {
        let problem = &self.problem;
        validate_digits(recipe.digits)?;
        let exact = recipe.digits == recipe.digits.exact();
        if recipe.products != problem.products || (recipe.products == Products::Exact && !exact) {
            return Err(format!(
                "the recipe's products {:?} with {:?} is not the problem's, {:?}",
                recipe.products, recipe.digits, problem.products
            ));
        }
        if let Some(named) = named_digits(problem).filter(|&named| named != recipe.digits) {
            return Err(format!(
                "the accuracy {:?} has {named:?}, not {:?}",
                problem.accuracy, recipe.digits
            ));
        }
        let axes: Vec<usize> = recipe.axes.iter().map(|axis| axis.axis).collect();
        let order = problem.order_of_axes();
        if axes != order {
            return Err(format!(
                "a recipe for axes {axes:?} is given for a problem whose axes are transformed in the order {order:?}"
            ));
        }
        recipe
            .axes
            .iter()
            .try_for_each(|axis| validate_line(&axis.line, problem.shape[axis.axis]))
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
    /// Nothing is taken over when any part of the text is unusable: an entry whose steps, digits, axes, engine, products or mode
    /// no plan of its problem could have is rejected with [`FftError::Wisdom`], which names it.
    ///
    /// Wisdom never overrides what is asked for. When the problem of an entry is planned, the bound of its recipe is
    /// computed, and must keep the accuracy as that of a fresh plan must: an error that is a number is not exceeded (or, where no recipe
    /// proves it, the bound is no larger than a fresh plan's, and three times the expected error is below it); for `Single` and `Double`, which name digits, it is
    /// no larger than that of the steps that planning would choose. An entry that does not keep it, or that this machine cannot run, is passed over: the problem is
    /// planned afresh, and [`crate::Plan::why`] says so.
    pub fn load_wisdom(&self, text: &str) -> Result<usize, FftError> {
        let _environment = DefaultEnvironment::enter();
        let wisdom: Wisdom = serde_json::from_str(text).map_err(reject)?;
        if wisdom.format != FORMAT {
            return Err(reject(format!(
                "its format is {}, this version reads {FORMAT}; plan again and save",
                wisdom.format
            )));
        }
        if wisdom.numbers != T::NAME {
            return Err(reject(format!(
                "it was saved for {} data, this planner is for {}",
                wisdom.numbers,
                T::NAME
            )));
        }
        for (number, decision) in wisdom.plans.iter().enumerate() {
            decision.validate().map_err(|reason| {
                let problem = &decision.problem;
                reject(format!(
                    "entry {number}, {} {:?} with the accuracy {:?}: {reason}; take the entry out, or plan the problem again and save",
                    problem.kind, problem.shape, problem.accuracy
                ))
            })?;
        }
        let count = wisdom.plans.len();
        self.recall(wisdom.plans);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn damaged_wisdom_is_rejected_whole() {
        let text = saved();
        for (from, to) in [
            ("\"format\": 2", "\"format\": 99"),
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
