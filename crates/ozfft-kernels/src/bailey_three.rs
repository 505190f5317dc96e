//! Kernels of the template for lines of one block of three steps (`cuda/block/bailey_three.cuh`): their parameters, by rule.

use crate::bailey::{
    KernelShape, MOST_WARPS, Number, SHARED_KILOBYTES, candidates_of, is_matrix, kernel_source,
    matrix_bytes, next_with, quads, tiles,
};

/// `ThreeShape` of `bailey_three.cuh`: the parameters of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreeShape {
    /// Points of the steps.
    pub steps: [usize; 3],
    /// Lines of a group of warps at a time.
    pub lines: usize,
    /// Whether neighbouring lines are neighbours in memory; else lines are contiguous.
    pub strided: bool,
    /// Groups of warps that share the tables in shared memory.
    pub groups: usize,
    /// Shared memory that the groups were counted for.
    kilobytes: usize,
}

/// Tiles of eight columns that a warp takes together, in all steps.
pub(crate) const UNITS: usize = 2;

/// Whether the template takes such steps: `OfThree` asserts the same.
pub(crate) fn are_three([first, middle, last]: [usize; 3]) -> bool {
    let odd = |n: usize| n % 2 == 1 && (3..=32).contains(&n);
    is_matrix(first) && first <= 32 && odd(middle) && odd(last) && middle * last <= 128
}

/// Warps of a block that have registers for the digits: of two units of more than two quads, three quarters of all.
pub(crate) fn most_warps(steps: [usize; 3]) -> usize {
    let quads = steps.into_iter().map(quads).max().unwrap_or(0);
    if UNITS * quads > 5 { 12 } else { MOST_WARPS }
}

/// What a point is expected to take: columns of all steps that are padding, and warps that are not there.
pub(crate) fn cost_of(
    [first, middle, last]: [usize; 3],
    lines: usize,
    [warps, groups, most_warps]: [usize; 3],
) -> f64 {
    let places = (8 * UNITS * warps) as f64;
    let used = |columns: usize| (columns * lines) as f64 / places;
    let waste: f64 = [middle * last, first * last, first * middle]
        .map(|columns| used(columns).ceil() / used(columns))
        .iter()
        .sum();
    let warps = (groups * warps) as f64 / most_warps as f64;
    waste * (1.0 + 0.6 * (1.0 - warps)) * if groups == 1 { 1.25 } else { 1.0 }
}

/// `TablesOfThree::BYTES`
pub(crate) const fn table_bytes([first, middle, last]: [usize; 3]) -> usize {
    let matrices = 2
        * (matrix_bytes(first, Number::Double)
            + matrix_bytes(middle, Number::Double)
            + matrix_bytes(last, Number::Double));
    let constants = 128 * tiles(first) + 128 + 192 * (tiles(middle) + tiles(last));
    let inner = middle * last;
    matrices + constants + 16 * (first / 2 + 1) * (inner / 2 + 1) + 16 * inner
}

impl ThreeShape {
    /// The shape for steps of so many points on a GPU whose blocks may have so many bytes of shared memory; none where the template
    /// does not take the steps.
    pub fn new(steps: [usize; 3], strided: bool, shared_bytes: usize) -> Option<Self> {
        if !are_three(steps) {
            return None;
        }
        let fitting = |kilobytes: &usize| kilobytes << 10 <= shared_bytes;
        let kilobytes = SHARED_KILOBYTES.into_iter().find(fitting)?;
        let ranked = ThreeShape::ranked(steps, strided, kilobytes);
        ranked.into_iter().next()
    }

    /// All parameters that fit, the most promising first.
    fn ranked(steps: [usize; 3], strided: bool, kilobytes: usize) -> Vec<Self> {
        let lines: &[usize] = match strided {
            true => &[2, 4, 8],
            false => &[1, 2, 3, 4, 5, 6, 8],
        };
        let most_warps = most_warps(steps);
        let shapes = lines.iter().filter_map(|&lines| {
            let shape = ThreeShape {
                steps,
                lines,
                strided,
                groups: 1,
                kilobytes,
            };
            let room = (kilobytes << 10).checked_sub(16 + table_bytes(steps))?;
            let groups = (most_warps / shape.warps())
                .min(room / shape.group_bytes())
                .min(15);
            (groups > 0).then_some(ThreeShape { groups, ..shape })
        });
        let cost = |shape: &ThreeShape| {
            cost_of(
                steps,
                shape.lines,
                [shape.warps(), shape.groups, most_warps],
            )
        };
        let mut shapes: Vec<ThreeShape> = shapes.collect();
        shapes.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        shapes
    }

    /// Those for the same purpose.
    fn fitting(&self) -> Vec<Self> {
        ThreeShape::ranked(self.steps, self.strided, self.kilobytes)
    }

    /// `BlockShape::WARPS`: of a group.
    fn warps(&self) -> usize {
        (self.lines * self.steps[1] * self.steps[2]).div_ceil(8 * UNITS)
    }

    /// `BlockShape::GROUP`: shared memory of a group.
    fn group_bytes(&self) -> usize {
        let [first, middle, last] = self.steps;
        let line = match self.strided {
            true => next_with(first * next_with(middle * last, 1, 2), 4, 8),
            false => first * next_with(middle * last, 2, 4),
        };
        self.lines * (16 * line + 2 * 16)
    }
}

impl KernelShape for ThreeShape {
    fn name(&self, conversions: bool) -> String {
        let [first, middle, last] = self.steps;
        let place = match self.strided {
            true => "strided",
            false => "contiguous",
        };
        let conversions = if conversions { "_conversions" } else { "" };
        let kilobytes = self.kilobytes;
        let parameters = match self.fitting().first() == Some(self) {
            true => String::new(),
            false => format!("_{}_{}", self.lines, self.groups),
        };
        format!("bailey_{first}x{middle}x{last}_{place}{parameters}_{kilobytes}{conversions}")
    }

    fn lines(&self) -> usize {
        self.lines
    }

    fn threads(&self) -> u32 {
        (self.groups * 32 * self.warps()) as u32
    }

    fn shared_bytes(&self) -> usize {
        self.groups * self.group_bytes() + 16 + table_bytes(self.steps)
    }

    fn is_compiled_in_advance(&self, _: bool) -> bool {
        false
    }

    fn source(&self, conversions: bool) -> String {
        let ThreeShape {
            steps: [first, middle, last],
            lines,
            strided,
            groups,
            ..
        } = self;
        let shape = format!(
            "bailey::ThreeShape<{first}, {middle}, {last}, {lines}, {UNITS}, {UNITS}, {strided}, {groups}>"
        );
        let checks = format!("Shape::Tables::BYTES == {}", table_bytes(self.steps));
        kernel_source(
            self,
            ["block/bailey_three.cuh", &shape, "run", &checks],
            conversions,
        )
    }

    fn purpose(&self) -> Option<String> {
        let [first, middle, last] = self.steps;
        let number = Number::Double.description();
        let kilobytes = self.kilobytes;
        let place = match self.strided {
            true => "strided",
            false => "contiguous",
        };
        Some(format!(
            "lines of {first} x {middle} x {last} points, {number}, {place}, {kilobytes} KB"
        ))
    }

    fn choice(&self) -> String {
        let (lines, groups) = (self.lines, self.groups);
        format!("{lines} lines, {groups} groups")
    }

    fn candidates(&self) -> Vec<Box<dyn KernelShape>> {
        candidates_of(*self, self.fitting())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All blocks of three odd steps, or of an even one and two odd ones, of up to 1024 points.
    #[test]
    fn the_rule_takes_every_block_of_three_products() {
        let blocks = [
            [7, 7, 7],
            [11, 7, 7],
            [11, 11, 5],
            [13, 7, 7],
            [14, 7, 7],
            [13, 11, 5],
            [17, 7, 7],
            [13, 13, 5],
            [11, 11, 7],
            [17, 17, 3],
            [19, 7, 7],
            [17, 11, 5],
            [19, 17, 3],
            [13, 11, 7],
        ];
        for steps in blocks {
            for strided in [false, true] {
                for kilobytes in SHARED_KILOBYTES {
                    let shape = ThreeShape::new(steps, strided, kilobytes << 10);
                    let shape = shape.unwrap_or_else(|| panic!("{steps:?}, {kilobytes} KB"));
                    assert!(shape.shared_bytes() <= kilobytes << 10, "{shape:?}");
                    assert!(shape.threads() <= 512, "{shape:?}");
                }
            }
        }
        assert!(ThreeShape::new([22, 11, 4], false, 227 << 10).is_none());
    }
}
