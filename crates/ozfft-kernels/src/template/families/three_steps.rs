//! Complex lines of one block of three steps (`cuda/block/bailey_three.cuh`).

use super::{Rules, Traits, USUAL, layout};
use crate::template::steps::{MAX_WARPS, is_matrix, matrix_bytes, padded_line, quads, tiles};
use crate::template::{KernelSpec, Number};

/// Complex lines of f64 of one block of three steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreeSteps {
    /// Points of the steps.
    pub steps: [usize; 3],
}

impl ThreeSteps {
    /// Whether there are kernels for such steps: `OfThree` asserts the same.
    pub(super) fn exists(&self) -> bool {
        let [first, middle, last] = self.steps;
        let odd = |n: usize| n % 2 == 1 && (3..=32).contains(&n);
        is_matrix(first) && first <= 32 && odd(middle) && odd(last) && middle * last <= 128
    }
}

impl Rules for ThreeSteps {
    fn is_supported(&self, problem: &KernelSpec) -> bool {
        self.exists() && problem.number == Number::Double
    }

    fn traits(&self, strided: bool) -> Traits {
        Traits {
            labels: ["", layout(strided)],
            line_counts: match strided {
                true => &[2, 4, 8],
                false => &[1, 2, 3, 4, 5, 6, 8],
            },
            units: &[[2, 2, 1]],
            chosen_units: 0,
            may_cache_tables: false,
            headers: &["block/bailey_three.cuh"],
            ..USUAL
        }
    }

    fn steps(&self) -> Vec<Vec<usize>> {
        vec![self.steps.into()]
    }

    fn columns(&self, lines: usize) -> usize {
        lines * self.steps[1] * self.steps[2]
    }

    /// Three quarters of all where a unit has more than two quads.
    fn max_warps(&self, spec: &KernelSpec) -> Option<usize> {
        let quads = self.steps.into_iter().map(quads).max()?;
        Some(if spec.units[0] * quads > 5 {
            12
        } else {
            MAX_WARPS
        })
    }

    /// Columns of all steps that are padding, and warps that are not there.
    fn cost(&self, spec: &KernelSpec, max_warps: usize) -> f64 {
        let [first, middle, last] = self.steps;
        let places = (8 * spec.units[0] * spec.warps) as f64;
        let used = |columns: usize| (columns * spec.lines) as f64 / places;
        let waste: f64 = [middle * last, first * last, first * middle]
            .map(|columns| used(columns).ceil() / used(columns))
            .iter()
            .sum();
        let warps = (spec.groups * spec.warps) as f64 / max_warps as f64;
        waste * (1.0 + 0.6 * (1.0 - warps)) * if spec.groups == 1 { 1.25 } else { 1.0 }
    }

    /// `TablesOfThree::BYTES`
    fn table_bytes(&self, number: Number) -> usize {
        let [first, middle, last] = self.steps;
        let matrices = self.steps.map(|n| matrix_bytes(number, n));
        let constants = 128 * tiles(first) + 128 + 192 * (tiles(middle) + tiles(last));
        let inner = middle * last;
        2 * matrices.iter().sum::<usize>()
            + constants
            + 16 * (first / 2 + 1) * (inner / 2 + 1)
            + 16 * inner
    }

    fn group_bytes(&self, spec: &KernelSpec) -> usize {
        let line = padded_line(self.steps[0], self.columns(1), spec.strided);
        spec.lines * (16 * line + 2 * 16)
    }

    fn type_name(&self, spec: &KernelSpec) -> String {
        let [a, b, _] = spec.units;
        let [first, middle, last] = self.steps;
        format!(
            "bailey::ThreeShape<{first}, {middle}, {last}, {}, {a}, {b}, {}, {}>",
            spec.lines, spec.strided, spec.groups
        )
    }
}
