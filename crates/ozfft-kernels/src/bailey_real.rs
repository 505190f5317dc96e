//! The kernel template for real lines and half-spectra of one block of one or two steps (`cuda/block/bailey_real.cuh`): its parameters, and the
//! source of its kernels for a compiler at run time.

use crate::bailey::{
    KernelShape, MOST_WARPS, Number, SHARED_KILOBYTES, candidates_of, cost_of, is_matrix,
    kernel_source, most_warps, next_with, quads, table_bytes_for, work,
};
use crate::measured::measured;

/// Which side has half-spectra.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Half {
    /// Real lines to half-spectra.
    Output,
    /// Half-spectra to real lines.
    Input,
}

/// `RealShape` of `bailey_real.cuh`: the parameters of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RealShape {
    /// Points of the steps; 1 where there is no second one.
    pub steps: [usize; 2],
    /// Pairs of lines of a group of warps at a time.
    pub pairs: usize,
    /// Tiles of eight columns that a warp takes together in the first step, and of rows in the last one.
    pub units: [usize; 2],
    /// Whether neighbouring lines are neighbours in memory; else lines are contiguous.
    pub strided: bool,
    /// Which side has half-spectra.
    pub half: Half,
    /// What numbers are, and how many digits words have.
    pub number: Number,
    /// Groups of warps that share the tables in shared memory; 0: one group, and tables in the cache.
    pub groups: usize,
    kilobytes: usize,
}

impl RealShape {
    /// The shape for steps of so many points on a GPU whose blocks may have so many bytes of shared memory: the one that promises most of
    /// those that fit; none where there is none, or where the template does not take the steps.
    pub fn new(
        (number, half): (Number, Half),
        steps: [usize; 2],
        strided: bool,
        shared_bytes: usize,
    ) -> Option<Self> {
        let fitting = |kilobytes: &usize| kilobytes << 10 <= shared_bytes;
        let kilobytes = SHARED_KILOBYTES.into_iter().find(fitting)?;
        let [first, last] = steps;
        // `RealShape` asserts the same; two points as a last step do not occur.
        let takes = is_matrix(first) && first <= 64 && last <= 64 && last != 2;
        // Real lines in fp8 and in f16 have no kernels.
        if !takes || !number.is_usual() {
            return None;
        }
        let ranked = RealShape::ranked((number, half), steps, strided, kilobytes);
        let shape = ranked.into_iter().next()?;
        Some(shape.as_measured().unwrap_or(shape))
    }

    /// With the parameters that were measured to be fastest, where there are some.
    fn as_measured(&self) -> Option<Self> {
        let [pairs, first, last, groups] = measured(&self.purpose()?)?;
        Some(RealShape {
            pairs,
            units: [first, last],
            groups,
            ..*self
        })
    }

    /// All parameters that fit, the most promising first.
    fn ranked(
        (number, half): (Number, Half),
        steps: [usize; 2],
        strided: bool,
        kilobytes: usize,
    ) -> Vec<Self> {
        let [first, last] = steps;
        let all_pairs: &[usize] = match strided {
            true => &[2, 4, 8, 16],
            false => &[1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32],
        };
        let mut found: Vec<(f64, RealShape)> = Vec::new();
        for units in [[1, 1], [1, 2], [2, 1], [2, 2]] {
            let Some(most) = most_warps(steps, units) else {
                continue;
            };
            // Two units of such rows spill registers where distances need some.
            if strided && units[1] * quads(last) > 6 {
                continue;
            }
            let load = (units[0] * quads(first)).max(units[1] * quads(last));
            let most = match number {
                Number::Double
                | Number::DoubleFewer { .. }
                | Number::DoubleFp8
                | Number::DoubleF16
                | Number::DoubleWgmma => most,
                // Five digits leave registers for more warps, but for those of two units of large steps, or where distances need some.
                Number::Single if load > 6 || strided => most,
                Number::Single => MOST_WARPS,
            };
            for &pairs in all_pairs {
                let mut shape = RealShape {
                    steps,
                    pairs,
                    units,
                    strided,
                    half,
                    number,
                    groups: 1,
                    kilobytes,
                };
                let warps = shape.warps();
                let room = (kilobytes << 10).saturating_sub(16 + shape.table_bytes());
                shape.groups = (most / warps).min(room / shape.group_bytes()).min(15);
                if warps > most || shape.shared_bytes() > kilobytes << 10 {
                    continue;
                }
                let cached = if shape.groups == 0 { 1.3 } else { 1.0 };
                let groups = shape.groups.max(1);
                let short = if pairs * first * last < 256 { 1.1 } else { 1.0 };
                let cost = match number {
                    // Shapes of f64 were chosen and measured with these figures.
                    Number::Double
                    | Number::DoubleFewer { .. }
                    | Number::DoubleFp8
                    | Number::DoubleF16
                    | Number::DoubleWgmma => cost_of(1, steps, pairs, units, [warps, groups, most]),
                    Number::Single => shape.cost(most),
                };
                found.push((cached * short * cost * shape.sectors(), shape));
            }
        }
        found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        found.into_iter().map(|(_, shape)| shape).collect()
    }

    /// Those for the same purpose.
    fn fitting(&self) -> Vec<Self> {
        let kind = (self.number, self.half);
        RealShape::ranked(kind, self.steps, self.strided, self.kilobytes)
    }

    /// What a point is expected to take: a group is done with a step when its warp with the most columns or rows is. (Counted in machine code
    /// so, and not in the mean, instructions of complex lines of f32 are in proportion to the times that were measured.)
    fn cost(&self, most_warps: usize) -> f64 {
        let [first, last] = self.steps;
        let warps = self.warps();
        let in_turns = |all: usize, at_once: usize| (all.div_ceil(at_once) * at_once) as f64;
        let lines = self.pairs as f64;
        let columns = in_turns(self.columns(), 8 * self.units[0] * warps);
        let mut cost = work(first, self.units[0]) * columns / (lines * last as f64);
        let rows = match self.half {
            Half::Output => 2 * self.pairs * (first / 2 + 1),
            Half::Input if is_matrix(last) => self.pairs * first,
            Half::Input => 2 * self.pairs * first,
        };
        if is_matrix(last) {
            let rows = in_turns(rows, 8 * self.units[1] * warps);
            cost += work(last, self.units[1]) * rows / (lines * first as f64);
        } else if last > 1 {
            cost += 6.0 * in_turns(rows, 32 * warps) / (lines * first as f64);
        }
        let groups = self.groups.max(1);
        cost *= 1.0 + 0.6 * (1.0 - (groups * warps) as f64 / most_warps as f64);
        cost *= match groups {
            1 => 1.25,
            2 => 1.08,
            _ => 1.0,
        };
        cost * if most_warps == MOST_WARPS { 1.0 } else { 1.05 }
    }

    /// What it costs that neighbouring real numbers of strided lines do not fill sectors of 32 bytes.
    fn sectors(&self) -> f64 {
        let bytes = match self.number {
            Number::Single => 4 * self.pairs,
            _ => 8 * self.pairs,
        };
        match bytes {
            ..16 if self.strided => 1.4,
            ..32 if self.strided => 1.15,
            _ => 1.0,
        }
    }

    /// `RealShape::Tables::BYTES`
    fn table_bytes(&self) -> usize {
        let [first, last] = self.steps;
        table_bytes_for(self.number, first, last)
    }

    /// Columns of the first step.
    fn columns(&self) -> usize {
        match self.half {
            Half::Output => self.pairs * self.steps[1],
            Half::Input => 2 * self.pairs * (self.steps[1] / 2 + 1),
        }
    }

    /// Warps of a group.
    fn warps(&self) -> usize {
        self.columns().div_ceil(8 * self.units[0])
    }

    /// `RealShape::GROUP`
    fn group_bytes(&self) -> usize {
        let [first, last] = self.steps;
        let (rows, columns, lines) = match self.half {
            Half::Output => (first / 2 + 1, last, self.pairs),
            Half::Input => (first, last / 2 + 1, 2 * self.pairs),
        };
        let words = match last {
            1 => 0,
            _ if self.strided => {
                let line = next_with(rows * next_with(columns, 1, 2), 4, 8);
                16 * 2 * self.pairs * line
            }
            _ => 16 * 2 * self.pairs * rows * next_with(columns, 2, 4),
        };
        words + 2 * 16 * lines
    }

    /// The shape as a type of the kernels' source.
    pub fn type_name(&self) -> String {
        let RealShape {
            steps: [first, last],
            pairs,
            units: [first_units, last_units],
            strided,
            half,
            groups,
            ..
        } = self;
        let half = match half {
            Half::Output => "OUTPUT",
            Half::Input => "INPUT",
        };
        let number = self.number.type_name();
        format!(
            "bailey::RealShape<{first}, {last}, {pairs}, {first_units}, {last_units}, {strided}, bailey::Half::{half}, {groups}, {number}>"
        )
    }
}

impl KernelShape for RealShape {
    fn name(&self, conversions: bool) -> String {
        let RealShape {
            steps: [first, last],
            kilobytes,
            ..
        } = self;
        let kind = match self.half {
            Half::Output => "r2c",
            Half::Input => "c2r",
        };
        let place = if self.strided { "_strided" } else { "" };
        let number = self.number.prefix();
        let conversions = if conversions { "_conversions" } else { "" };
        let parameters = match self.fitting().first() == Some(self) {
            true => String::new(),
            false => {
                let [one, other] = self.units;
                format!("_{}_{one}{other}_{}", self.pairs, self.groups)
            }
        };
        format!("bailey_{number}{kind}_{first}x{last}{place}{parameters}_{kilobytes}{conversions}")
    }

    fn lines(&self) -> usize {
        2 * self.pairs
    }

    fn threads(&self) -> u32 {
        (32 * self.warps() * self.groups.max(1)) as u32
    }

    fn shared_bytes(&self) -> usize {
        let tables = match self.groups {
            0 => 0,
            _ => self.table_bytes(),
        };
        self.groups.max(1) * self.group_bytes() + 16 + tables
    }

    fn is_compiled_in_advance(&self, _: bool) -> bool {
        false
    }

    fn source(&self, conversions: bool) -> String {
        let checks = format!("Shape::Tables::BYTES == {}", self.table_bytes());
        let source = kernel_source(
            self,
            [
                "block/bailey_real.cuh",
                &self.type_name(),
                "run_real",
                &checks,
            ],
            conversions,
        );
        self.number.with_header(source)
    }

    fn purpose(&self) -> Option<String> {
        let [first, last] = self.steps;
        let kilobytes = self.kilobytes;
        let number = self.number.description();
        let what = match self.half {
            Half::Output => "real to half-spectrum",
            Half::Input => "half-spectrum to real",
        };
        let place = match self.strided {
            true => "strided",
            false => "contiguous",
        };
        Some(format!(
            "lines of {first} x {last} points, {number}, {what}, {place}, {kilobytes} KB"
        ))
    }

    fn choice(&self) -> String {
        let [first, last] = self.units;
        let (pairs, groups) = (self.pairs, self.groups);
        format!("{pairs} pairs, {first} and {last} units, {groups} groups")
    }

    fn candidates(&self) -> Vec<Box<dyn KernelShape>> {
        candidates_of(*self, self.fitting())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_length_has_shapes_that_fit() {
        for (listed, _) in crate::bailey::listed() {
            for kilobytes in SHARED_KILOBYTES {
                for kind in [
                    (Number::Double, Half::Output),
                    (Number::Double, Half::Input),
                    (Number::Single, Half::Output),
                    (Number::Single, Half::Input),
                    (Number::fewer(3), Half::Output),
                    (Number::fewer(7), Half::Input),
                ] {
                    let steps = [listed.first, listed.last];
                    let shape = RealShape::new(kind, steps, listed.strided, kilobytes << 10);
                    let shape = shape.unwrap_or_else(|| panic!("{steps:?}, {kind:?}"));
                    assert!(shape.shared_bytes() <= kilobytes << 10, "{shape:?}");
                    assert!(shape.threads() <= 512, "{shape:?}");
                    if kilobytes == 227 {
                        println!("{shape:?}");
                    }
                }
            }
        }
    }
}
