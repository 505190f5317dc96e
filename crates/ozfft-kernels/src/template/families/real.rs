//! Real lines to half-spectra and back, of one block of one or two steps (`cuda/block/bailey_real.cuh`).

use super::{Ends, Rules, Traits, USUAL, block, takes_steps};
use crate::template::steps::{
    MAX_WARPS, is_matrix, max_warps, padded_line, quads, table_bytes, waiting, work,
};
use crate::template::{KernelSpec, Number};

/// Real lines to half-spectra or back, of one block of one or two steps. Two lines are one complex line: [`KernelSpec::lines`] is even.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Real {
    /// Points of both steps; 1 where there is no last one.
    pub steps: [usize; 2],
    /// Which side has half-spectra.
    pub ends: Ends,
}

impl Real {
    fn is_forward(&self) -> bool {
        self.ends == Ends::RealToHalf
    }

    /// The expected cost of a point of f32: a group is done with a step when its warp with the most columns or rows is. (Counted in
    /// machine code so, and not in the mean, instructions of complex lines of f32 are in proportion to the times that were measured.)
    fn cost_of_single(&self, spec: &KernelSpec, max_warps: usize) -> f64 {
        let ([first, last], units, warps) = (self.steps, spec.units, spec.warps);
        let in_turns = |all: usize, at_once: usize| (all.div_ceil(at_once) * at_once) as f64;
        let pairs = spec.lines / 2;
        let columns = in_turns(self.columns(spec.lines), 8 * units[0] * warps);
        let mut cost = work(first, units[0], 16.0) * columns / (pairs as f64 * last as f64);
        let rows = match self.is_forward() {
            true => 2 * pairs * (first / 2 + 1),
            false if is_matrix(last) => pairs * first,
            false => 2 * pairs * first,
        };
        if is_matrix(last) {
            let rows = in_turns(rows, 8 * units[1] * warps);
            cost += work(last, units[1], 16.0) * rows / (pairs as f64 * first as f64);
        } else if last > 1 {
            cost += 6.0 * in_turns(rows, 32 * warps) / (pairs as f64 * first as f64);
        }
        let groups = spec.groups.max(1);
        cost *= 1.0 + 0.6 * (1.0 - (groups * warps) as f64 / max_warps as f64);
        cost *= waiting(groups);
        cost * if max_warps == MAX_WARPS { 1.0 } else { 1.05 }
    }
}

impl Rules for Real {
    fn is_supported(&self, problem: &KernelSpec) -> bool {
        // Real lines in fp8 and in f16 have no kernels.
        takes_steps(self.steps)
            && problem.number.is_usual()
            && matches!(self.ends, Ends::RealToHalf | Ends::HalfToReal)
    }

    fn traits(&self, strided: bool) -> Traits {
        Traits {
            labels: [self.ends.names().1, if strided { "strided" } else { "" }],
            function: "run_real",
            line_counts: match strided {
                true => &[4, 8, 16, 32],
                false => &[2, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64],
            },
            lines_together: 2,
            headers: &["block/bailey_real.cuh"],
            ..USUAL
        }
    }

    fn steps(&self) -> Vec<Vec<usize>> {
        vec![self.steps.into()]
    }

    fn columns(&self, lines: usize) -> usize {
        match self.is_forward() {
            true => lines / 2 * self.steps[1],
            false => lines * (self.steps[1] / 2 + 1),
        }
    }

    fn max_warps(&self, spec: &KernelSpec) -> Option<usize> {
        let ([first, last], [a, b, _]) = (self.steps, spec.units);
        let of_double = max_warps(Number::Double, self.steps, [a, b])?;
        // Two units of such rows spill registers where distances need some.
        if spec.strided && b * quads(last) > 6 {
            return None;
        }
        let load = (a * quads(first)).max(b * quads(last));
        Some(match spec.number {
            // Five digits leave registers for more warps, but for those of two units of large steps, or where distances need some.
            Number::Single if load <= 6 && !spec.strided => MAX_WARPS,
            _ => of_double,
        })
    }

    fn cost(&self, spec: &KernelSpec, max_warps: usize) -> f64 {
        let pairs = spec.lines / 2;
        let cached = if spec.groups == 0 { 1.3 } else { 1.0 };
        let points: usize = self.steps.iter().product();
        let short = if pairs * points < 256 { 1.1 } else { 1.0 };
        let (cost, real_bytes) = match spec.number {
            Number::Single => (self.cost_of_single(spec, max_warps), 4),
            // Kernels of f64 were chosen and measured with the figures of complex lines.
            _ => (block::cost(spec, self.steps, pairs, max_warps), 8),
        };
        // Neighbouring real numbers of strided lines do not fill sectors of 32 bytes.
        let sectors = match real_bytes * pairs {
            ..16 if spec.strided => 1.4,
            ..32 if spec.strided => 1.15,
            _ => 1.0,
        };
        cached * short * cost * sectors
    }

    fn table_bytes(&self, number: Number) -> usize {
        table_bytes(number, self.steps)
    }

    fn group_bytes(&self, spec: &KernelSpec) -> usize {
        let [first, last] = self.steps;
        let (rows, columns, maxima) = match self.is_forward() {
            true => (first / 2 + 1, last, spec.lines / 2),
            false => (first, last / 2 + 1, spec.lines),
        };
        let words = match last {
            1 => 0,
            _ => padded_line(rows, columns, spec.strided),
        };
        16 * spec.lines * words + 2 * 16 * maxima
    }

    fn layout(&self, strided: bool) -> String {
        self.ends.layout(strided)
    }

    fn type_name(&self, spec: &KernelSpec) -> String {
        let [a, b, _] = spec.units;
        let ([first, last], pairs) = (self.steps, spec.lines / 2);
        let half = if self.is_forward() { "OUTPUT" } else { "INPUT" };
        let number = spec.number.type_name();
        format!(
            "bailey::RealShape<{first}, {last}, {pairs}, {a}, {b}, {}, bailey::Half::{half}, {}, {number}>",
            spec.strided, spec.groups
        )
    }
}
