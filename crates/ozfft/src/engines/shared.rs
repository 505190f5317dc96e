//! State shared by the plans of a planner: tables, and the choice of recipes, which is made from their error budgets.

#[cfg(feature = "floats")]
use crate::engines::floats::FloatPlans;
use crate::error::FftError;
use crate::kind::Kind;
use crate::matrix_unit::Unit;
use crate::norm::Scaling;
use crate::problem::{Accuracy, Problem, Products};
use crate::recipe::{AxisRecipe, Digits, LineRecipe, Recipe, digit_products, factor};
use crate::sample::Real;
use crate::stages::residue_products::ResidueEngine;
use crate::sync::lock;
use crate::transform::budget::{
    Data, ErrorBudget, Setting, between_axes, final_rounding, line_budget,
};
use crate::transform::line::Line;
use crate::transform::tables::{self, Tables};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// A recipe, its error, and why it was chosen.
pub(crate) type Chosen = (Recipe, ErrorBudget, String);

/// Tables by what determines them.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) tables: Tables,
    /// Kept by the plans that use them.
    lines: Mutex<HashMap<LineKey, Weak<Line>>>,
    #[cfg(feature = "floats")]
    pub(crate) float_plans: FloatPlans,
}

/// Key of a 1-D transform's tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LineKey {
    unit: Unit,
    recipe: LineRecipe,
    digits: Digits,
    products: Products,
    scaling: Scaling,
}

/// Every combination of digits worth considering, cheapest first.
fn ladder() -> Vec<Digits> {
    let mut all = Vec::new();
    for data in 2..=8u32 {
        for matrix in 1..=7u32.min(data) {
            for diagonals in data..data + matrix {
                all.push(Digits {
                    data,
                    matrix,
                    diagonals,
                });
            }
        }
    }
    // Cost is the number of digit products formed, on every machine; among equals, fewer diagonals.
    let products = |d: &Digits| digit_products(d.data, d.matrix, d.diagonals);
    all.sort_by_key(|d| (products(d), d.diagonals, d.data));
    all
}

impl Shared {
    /// Drops what is not in use elsewhere.
    pub(crate) fn clear(&self) {
        lock(&self.lines).clear();
        self.tables.clear();
        #[cfg(feature = "floats")]
        self.float_plans.clear();
    }

    /// The transform along an axis by digits, shared between axes, plans and batches.
    pub(crate) fn line(
        &self,
        axis: &AxisRecipe,
        recipe: &Recipe,
        scaling: Scaling,
        unit: Unit,
    ) -> Arc<Line> {
        let key = LineKey {
            unit,
            recipe: axis.line.clone(),
            digits: recipe.digits,
            products: recipe.products,
            scaling,
        };
        if let Some(line) = lock(&self.lines).get(&key).and_then(Weak::upgrade) {
            return line;
        }
        let (scale, exponent) = key.scaling.factor(key.recipe.len());
        let line = Arc::new(Line::new(
            &key.recipe,
            &scale,
            exponent,
            tables::Setting {
                digits: key.digits,
                products: key.products,
                unit: key.unit,
                tables: &self.tables,
                residues: None,
            },
        ));
        let mut lines = lock(&self.lines);
        if lines.len() == lines.capacity() {
            lines.retain(|_, line| line.strong_count() > 0);
        }
        lines.insert(key, Arc::downgrade(&line));
        line
    }

    pub(crate) fn recipe(&self, problem: &Problem, digits: Digits) -> Recipe {
        Recipe {
            digits: problem.products.digits(digits),
            products: problem.products,
            axes: problem
                .order_of_axes()
                .into_iter()
                .map(|axis| AxisRecipe {
                    axis,
                    line: factor::line(problem.shape[axis]),
                })
                .collect(),
        }
    }

    pub(crate) fn budget<T: Real>(
        &self,
        problem: &Problem,
        recipe: &Recipe,
        residues: Option<&ResidueEngine>,
    ) -> ErrorBudget {
        let scaling = Scaling::of(problem);
        let mut total = ErrorBudget::EXACT;
        for (number, axis) in recipe.axes.iter().enumerate() {
            let data = match problem.kind {
                Kind::RealToComplex if number == 0 => Data::Real,
                _ => Data::Complex,
            };
            if number > 0 {
                total = total.then(between_axes(T::IS_DOUBLE));
            }
            let setting = Setting {
                digits: recipe.digits,
                products: recipe.products,
                scale: scaling.factor(axis.line.len()).0.to_f64(),
                tables: &self.tables,
                residues,
            };
            let rounding = match axis.line {
                LineRecipe::Copy => ErrorBudget::EXACT,
                _ => final_rounding(T::UNIT_ROUNDOFF),
            };
            total = total
                .then(line_budget(&axis.line, setting, data))
                .then(rounding);
        }
        total
    }

    pub(crate) fn choose_recipe<T: Real>(
        &self,
        problem: &Problem,
        residues: Option<&ResidueEngine>,
    ) -> Result<Chosen, FftError> {
        let steps = self.recipe(problem, Digits::DOUBLE).axes;
        for axis in &steps {
            axis.line.expect_table()?;
        }
        let with = |digits: Digits| {
            let recipe = Recipe {
                digits: problem.products.digits(digits),
                products: problem.products,
                axes: steps.clone(),
            };
            let budget = self.budget::<T>(problem, &recipe, residues);
            (recipe, budget)
        };
        let Some(target) = problem.accuracy.target() else {
            let (digits, reason) = match problem.accuracy {
                Accuracy::Single => (Digits::SINGLE, "Single is the recipe of 40-bit words"),
                _ => (Digits::DOUBLE, "Double is the recipe of 64-bit words"),
            };
            let (recipe, budget) = with(digits);
            return Ok((recipe, budget, reason.into()));
        };
        let mut candidates = Vec::new();
        for digits in ladder() {
            let (recipe, budget) = with(digits);
            if budget.bound <= target {
                let reason =
                    format!("the fewest digit products whose bound is at most {target:.2e}");
                return Ok((recipe, budget, reason));
            }
            candidates.push((recipe, budget));
        }
        // Too near the caller's own type for a proof: three times the expectation is promised instead, and said.
        let likely = candidates
            .iter()
            .filter(|(_, b)| 3.0 * b.expected <= target)
            .min_by(|a, b| a.1.bound.total_cmp(&b.1.bound));
        if let Some((recipe, budget)) = likely {
            let reason = format!(
                "no recipe proves {target:.2e}; this one has the smallest bound and is expected to stay below a third of it"
            );
            return Ok((recipe.clone(), *budget, reason));
        }
        if let Some(engine) = residues {
            // What cannot be built at all says why.
            engine.check(&candidates[0].0, &self.tables.step_matrices)?;
        }
        let best = candidates
            .iter()
            .map(|(_, b)| 3.0 * b.expected)
            .fold(f64::INFINITY, f64::min);
        Err(FftError::AccuracyUnreachable {
            asked: target,
            best,
        })
    }

    /// The cached decision, or a new one.
    pub(crate) fn recalled_or_chosen<T: Real>(
        &self,
        problem: &Problem,
        recalled: Option<&Recipe>,
        residues: Option<&ResidueEngine>,
    ) -> Result<Chosen, FftError> {
        match recalled {
            Some(recipe) => {
                let budget = self.budget::<T>(problem, recipe, residues);
                Ok((recipe.clone(), budget, "as it was decided then".into()))
            }
            None => self.choose_recipe::<T>(problem, residues),
        }
    }
}
