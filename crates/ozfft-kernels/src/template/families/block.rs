//! Complex lines of one block of one or two steps (`cuda/block/bailey_block.cuh`).

use super::{Rules, Traits, USUAL, layout, takes_steps};
use crate::template::spec::{MAX_GROUPS, SHARED_KILOBYTES};
use crate::template::steps::{
    MAX_WARPS, is_matrix, max_warps, padded_line, quads, table_bytes, waiting, work,
};
use crate::template::{KernelSpec, Number, list};

/// Complex lines of one block of one or two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    /// Points of both steps; 1 where there is no last one.
    pub steps: [usize; 2],
}

/// The expected cost of a point of lines of one or two steps: products of padded matrices and what else there is, over what is not
/// padding, with warps that multiply together, those of a group, and most warps of a block.
pub(super) fn cost(
    spec: &KernelSpec,
    [first, last]: [usize; 2],
    lines: usize,
    max_warps: usize,
) -> f64 {
    let (units, groups, together) = (spec.units, spec.groups.max(1), spec.number.together());
    let columns = (lines * last) as f64 / (8 * units[0] * spec.warps) as f64;
    let mut cost = work(first, units[0], 16.0) / columns;
    let mut balance = 1.0;
    if is_matrix(last) {
        let (all, unit_columns) = (lines * first, 8 * units[1] * together);
        let warps = spec.warps / together;
        let turns = |a: usize, b: usize| a.div_ceil(b) as f64;
        cost += work(last, units[1], 16.0) * turns(all, unit_columns) * unit_columns as f64
            / all as f64;
        balance = all as f64 / ((unit_columns * warps) as f64 * turns(all, unit_columns * warps));
    } else if last == 4 {
        cost += 6.0;
    }
    // More than that are a promise, not a measurement.
    let used = (groups * spec.warps) as f64 / max_warps.min(MAX_WARPS) as f64;
    cost *= (1.0 + 0.6 * (1.0 - used).max(-0.1)) * (1.0 + 0.15 * (1.0 - balance));
    cost *= waiting(groups);
    cost * match max_warps {
        8 => 1.2,
        12 => 1.05,
        _ => 1.0,
    }
}

impl Rules for Block {
    fn is_supported(&self, _: &KernelSpec) -> bool {
        takes_steps(self.steps)
    }

    fn traits(&self, strided: bool) -> Traits {
        Traits {
            labels: ["", layout(strided)],
            line_counts: match strided {
                true if self.steps[1] > 4 => &[2, 4, 8],
                true => &[2, 4, 8, 16, 32],
                false => &[1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64],
            },
            may_cache_tables: false,
            headers: &["block/bailey_block.cuh"],
            ..USUAL
        }
    }

    fn steps(&self) -> Vec<Vec<usize>> {
        vec![self.steps.into()]
    }

    fn columns(&self, lines: usize) -> usize {
        lines * self.steps[1]
    }

    fn max_warps(&self, spec: &KernelSpec) -> Option<usize> {
        max_warps(spec.number, self.steps, [spec.units[0], spec.units[1]])
    }

    fn warp_limits(&self, number: Number, max_warps: usize) -> Vec<usize> {
        let [first, last] = self.steps;
        // Products of warpgroups that spill wait for each other: none are tried with fewer registers than they need.
        let limit = match number {
            Number::DoubleWgmma if quads(first.max(last)) > 3 => MAX_WARPS,
            Number::DoubleWgmma => 20,
            _ => 24,
        };
        let limits = [max_warps, max_warps + 4, max_warps + 8];
        limits.into_iter().filter(|warps| *warps <= limit).collect()
    }

    fn cost(&self, spec: &KernelSpec, max_warps: usize) -> f64 {
        let mut cost = cost(spec, self.steps, spec.lines, max_warps);
        cost *= match (spec.strided, spec.lines) {
            (true, 2) => 1.1,
            (true, 4) => 1.03,
            _ => 1.0,
        };
        let points: usize = self.steps.iter().product();
        cost * if spec.lines * points < 256 { 1.1 } else { 1.0 }
    }

    fn listed(&self, problem: &KernelSpec) -> Option<KernelSpec> {
        let by_warpgroups = problem.number == Number::DoubleWgmma;
        let entry = list::entries().find(|entry| {
            (entry.steps, entry.strided, entry.by_warpgroups)
                == (self.steps, problem.strided, by_warpgroups)
        })?;
        let [first, last] = entry.units;
        let spec = self.ranked_as(problem).with(entry.lines, [first, last, 1]);
        // What was measured was int8; fp8 and f16 take twice the registers for digits.
        let groups = match problem.number {
            Number::DoubleFp8 => return None,
            Number::DoubleF16 => entry.groups.min(self.max_warps(&spec)? / spec.warps),
            _ => entry.groups,
        };
        (groups > 0).then_some(KernelSpec { groups, ..spec })
    }

    /// Kernels for less shared memory have as many of the groups as fit, and those of f32 are those of f64 with more groups.
    fn ranked_as(&self, problem: &KernelSpec) -> KernelSpec {
        let number = match problem.number {
            Number::Single => Number::Double,
            number => number,
        };
        KernelSpec {
            number,
            kilobytes: SHARED_KILOBYTES[0],
            ..*problem
        }
    }

    fn ranked_for(&self, problem: &KernelSpec, spec: KernelSpec) -> Option<KernelSpec> {
        let groups = match problem.number {
            // Their digits leave registers for more warps.
            Number::Single => spec.groups.max(MAX_WARPS / spec.warps).min(MAX_GROUPS),
            _ => spec.groups,
        };
        let number = problem.number;
        KernelSpec {
            number,
            groups,
            ..spec
        }
        .within(problem.kilobytes)
    }

    /// The cheapest of those with the fewest lines.
    fn for_few(&self, spec: &KernelSpec) -> Option<KernelSpec> {
        let is_safe = |spec: &KernelSpec| spec.groups == 0 || spec.has_registers();
        let one_unit = spec.ranked().filter(|spec| spec.units[0] == 1);
        one_unit.filter(is_safe).min_by_key(|spec| spec.lines)
    }

    fn table_bytes(&self, number: Number) -> usize {
        table_bytes(number, self.steps)
    }

    fn group_bytes(&self, spec: &KernelSpec) -> usize {
        let words = match self.steps {
            [_, 1] => 0,
            [first, last] => padded_line(first, last, spec.strided),
        };
        spec.lines * (16 * words + 2 * 16)
    }

    fn type_name(&self, spec: &KernelSpec) -> String {
        let [a, b, _] = spec.units;
        let [first, last] = self.steps;
        let number = match spec.number {
            Number::Double => String::new(),
            number => format!(", {}, {}", spec.strided, number.type_name()),
        };
        format!(
            "bailey::BlockShape<{first}, {last}, {}, {a}, {b}, {}, {}{number}>",
            spec.lines, spec.strided, spec.groups
        )
    }
}
