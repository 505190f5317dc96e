//! Two passes of blocks in one launch (`cuda/passes/bailey_passes.cuh`; of real lines `cuda/passes/bailey_real_passes.cuh`; there and back
//! `cuda/passes/bailey_convolution.cuh`).

use super::long_pass::HEADER_BYTES;
use super::{Ends, Rules, Traits, USUAL, layout};
use crate::template::steps::{
    MAX_WARPS, max_warps_of_wide, next_with, padded_line, quads, table_bytes, tiles, waiting, work,
};
use crate::template::{KernelSpec, Number};

/// Two passes of blocks in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TwoPasses {
    /// Points of both passes' steps; 1 where there is no last one.
    pub steps: [[usize; 2]; 2],
    /// What transforms begin and end with; real ones are contiguous.
    pub ends: Ends,
}

const UNITS: [[usize; 3]; 8] = [
    [1, 1, 1],
    [2, 1, 1],
    [1, 2, 1],
    [2, 2, 1],
    [1, 1, 2],
    [2, 1, 2],
    [1, 2, 2],
    [2, 2, 2],
];

/// A pass as a block of as many lines as a group has at a time.
struct Turn {
    first: usize,
    last: usize,
    units: [usize; 2],
    /// Lines of a transform's pass in all.
    count: usize,
    /// Lines at a time, and how often that is.
    at_once: usize,
    turns: usize,
}

/// `PassesShape::at_a_time`
const fn at_a_time(all: usize, most: usize) -> usize {
    if most >= all {
        all
    } else {
        all.div_ceil(all.div_ceil(most))
    }
}

impl TwoPasses {
    /// Whether the columns or rows of a pass that ends in such a step are a warp's own: `PassesShape::whole`.
    fn is_local(&self, last: usize) -> bool {
        matches!(self.ends, Ends::Complex | Ends::Convolution) && (last == 1 || last == 4)
    }

    /// Words between the steps of a pass, of one line of so many rows.
    fn line_bytes(&self, rows: usize, last: usize) -> usize {
        let line = match (self.is_local(last), last) {
            (_, 1) => return 0,
            (true, _) => next_with(rows * next_with(last, 2, 4), 1, 2),
            (false, _) => padded_line(rows, last, true),
        };
        16 * line
    }

    /// Both passes.
    fn turns(&self, spec: &KernelSpec) -> [Turn; 2] {
        let [a, b, b_last] = spec.units;
        let [columns, rows] = [1, 0].map(|other| self.steps[other].iter().product::<usize>());
        // Columns of a transform, or pairs of them: `PassesShape::TOGETHER_OF_LINE`.
        let together = match self.ends {
            Ends::RealToHalf => columns.div_ceil(2),
            _ => columns,
        };
        let turn = |[first, last]: [usize; 2], units: [usize; 2], lines: [usize; 2]| {
            let [count, all] = lines.map(|each| spec.lines * each);
            let most = 8 * units[0] * spec.warps / last;
            let at_once = match self.is_local(last) {
                true => most,
                false => at_a_time(all, most),
            };
            let turns = all.div_ceil(at_once);
            Turn {
                first,
                last,
                units,
                count,
                at_once,
                turns,
            }
        };
        let [first, second] = self.steps;
        [
            turn(first, [a, 1], [columns, together]),
            turn(second, [b, b_last], [rows, rows]),
        ]
    }
}

impl Rules for TwoPasses {
    fn is_supported(&self, problem: &KernelSpec) -> bool {
        let takes =
            |[first, last]: [usize; 2]| (5..=64).contains(&first) && last != 2 && last <= 64;
        let contiguous = !problem.strided || self.ends == Ends::Complex;
        self.steps.into_iter().all(takes) && contiguous
    }

    fn traits(&self, strided: bool) -> Traits {
        let (function, parameters) = match self.ends {
            Ends::Convolution => ("run_convolution", "PassArguments"),
            _ => ("run_passes", USUAL.parameters),
        };
        Traits {
            what: "passes",
            labels: [self.ends.names().1, layout(strided)],
            function,
            parameters,
            tables: "Shape::TABLE_BYTES",
            line_counts: match (self.ends, strided) {
                (_, true) => &[1, 2, 4, 8],
                (Ends::Convolution, false) => &[1, 2, 3, 4, 6, 8],
                (_, false) => &[1, 2, 3, 4],
            },
            // In the first step of either pass, and in the last step of the second.
            units: &UNITS,
            warps: &[2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16],
            chosen_units: 3,
            max_candidates: 16,
            headers: match self.ends {
                Ends::Complex => &["passes/bailey_passes.cuh"],
                Ends::RealToHalf | Ends::HalfToReal => &["passes/bailey_real_passes.cuh"],
                Ends::Convolution => &["passes/bailey_convolution.cuh"],
            },
            ..USUAL
        }
    }

    fn steps(&self) -> Vec<Vec<usize>> {
        self.steps.map(Vec::from).into()
    }

    fn columns(&self, lines: usize) -> usize {
        lines * self.steps[1].iter().product::<usize>()
    }

    fn max_warps(&self, spec: &KernelSpec) -> Option<usize> {
        let [[a, a_last], [b, b_last]] = self.steps;
        let [a_units, b_units, last_units] = spec.units;
        let has_last = tiles(b_last) > 0;
        let last = if has_last { b_last } else { 1 };
        let steps = [(a, a_units), (a_last, 1), (b, b_units), (last, last_units)];
        let too_many = |&(n, units): &(usize, usize)| units == 2 && quads(n) > 4;
        let load = steps.iter().map(|(n, units)| units * quads(*n)).max()?;
        let fits = load <= 8 && !steps.iter().any(too_many) && (has_last || last_units == 1);
        // Five digits leave registers for more warps; but words between passes have 64 bits all the same.
        let is_much = match spec.number {
            Number::Double | Number::DoubleFewer { .. } => load > 5,
            number @ (Number::DoubleFp8 | Number::DoubleF16) => {
                return max_warps_of_wide(number, &steps).filter(|_| fits);
            }
            Number::DoubleWgmma => return None,
            Number::Single => b_units * quads(b) > 5 || load > 6,
        };
        fits.then_some(if is_much { 12 } else { MAX_WARPS })
    }

    fn warp_limits(&self, _: Number, max_warps: usize) -> Vec<usize> {
        let limits = [12, MAX_WARPS, 20, 24].into_iter();
        limits.filter(|warps| *warps <= max_warps + 8).collect()
    }

    /// Every warp has a line of either pass.
    fn divides(&self, spec: &KernelSpec) -> bool {
        let first_units = spec.units.into_iter();
        let mut passes = self.steps.into_iter().zip(first_units);
        passes.all(|([_, last], units)| 8 * units * spec.warps >= last)
    }

    /// Products of padded matrices and what else there is, with warps that wait for others.
    fn cost(&self, spec: &KernelSpec, _: usize) -> f64 {
        // Kernels of complex f64 were chosen and measured with these figures, and half-spectra do nearly as much.
        let measured = matches!(
            (self.ends, spec.number),
            (
                Ends::Complex | Ends::HalfToReal,
                Number::Double | Number::DoubleFewer { .. }
            ) | (Ends::Convolution, Number::Double)
        );
        // Two units share what a warp works out for itself: an eighth of the instructions, counted.
        let step = |n: usize, units: usize| {
            let overhead = if measured || units == 2 { 16.0 } else { 18.0 };
            n as f64 * work(n, units, overhead)
        };
        let [a, b] = self.turns(spec);
        let warps = spec.warps as f64;
        let first_step = |turn: &Turn| {
            let all = turn.turns as f64 * warps;
            let unit_columns = 8 * turn.units[0];
            // Warps that have nothing to do in a round leave it to others, where lines are a warp's own; but those wait for the last one.
            let rounds = match self.is_local(turn.last) {
                true => 0.3 * all + 0.7 * (turn.count * turn.last).div_ceil(unit_columns) as f64,
                false => all,
            };
            rounds * unit_columns as f64 * step(turn.first, turn.units[0])
        };
        let last_step = |turn: &Turn, rows: usize| {
            let unit_columns = 8 * turn.units[1];
            let rounds = rows.div_ceil(unit_columns * spec.warps);
            (turn.turns * rounds * unit_columns) as f64 * warps * step(turn.last, turn.units[1])
        };
        let mut all = first_step(&a);
        if tiles(a.last) > 0 {
            let rows = match self.ends {
                Ends::RealToHalf => 2 * a.at_once * (a.first / 2 + 1),
                _ => a.at_once * a.first,
            };
            all += last_step(&a, rows);
        }
        all += first_step(&b);
        if tiles(b.last) > 0 {
            let rows = match self.ends {
                Ends::HalfToReal => b.at_once.div_ceil(2) * b.first,
                _ => b.at_once * b.first,
            };
            all += last_step(&b, rows);
        }
        let points = (a.count * a.first * a.last) as f64;
        let max_warps = self.max_warps(spec).unwrap_or(1);
        let groups = spec.groups.max(1);
        let used = (groups * spec.warps) as f64 / max_warps as f64;
        let mut cost = all / points * (1.0 + 0.6 * (1.0 - used).max(-0.1));
        cost *= waiting(groups);
        cost *= match max_warps {
            8 => 1.3,
            12 if measured => 1.05,
            12 => 1.15,
            _ => 1.0,
        };
        cost *= if spec.groups == 0 { 1.3 } else { 1.0 };
        cost * match (spec.strided, spec.lines) {
            (true, 1) => 1.5,
            (true, 2) => 1.1,
            (true, 4) => 1.03,
            _ => 1.0,
        }
    }

    /// The best of every number of warps with every number of units, then the next ones.
    fn arrange(&self, spec: &KernelSpec, others: &mut Vec<KernelSpec>) {
        let mut seen = vec![(spec.threads(), spec.units)];
        let mut is_new = |other: &KernelSpec| {
            let kind = (other.threads(), other.units);
            let is_new = !seen.contains(&kind);
            seen.push(kind);
            is_new
        };
        others.retain(|other| other != spec);
        others.sort_by_cached_key(|other| !is_new(other));
    }

    /// `PassesShape::TABLE_BYTES`
    fn table_bytes(&self, number: Number) -> usize {
        let of_passes = self.steps.map(|steps| table_bytes(number, steps));
        of_passes.iter().sum()
    }

    /// `PassesShape::GROUP`
    fn group_bytes(&self, spec: &KernelSpec) -> usize {
        let [a, b] = self.turns(spec);
        let (columns, digits) = (a.count, spec.number.digits());
        let convolution = self.ends == Ends::Convolution;
        // Of real columns two are together, and half of the outputs are kept.
        let (kept, lines) = match self.ends {
            Ends::RealToHalf => (a.first / 2 + 1, 2 * a.at_once),
            _ => (a.first, a.at_once),
        };
        // In place, where every round has as many: `PassesShape::IN_PLACE_A`, `IN_PLACE_B`.
        let in_place = |turn: &Turn| {
            let whole = turn.count.is_multiple_of(turn.at_once);
            turn.last == 4 && self.is_local(4) && digits > 5 && whole
        };
        let words = |turn: &Turn, lines: usize, rows: usize| match in_place(turn) {
            true => 0,
            false => lines * self.line_bytes(rows, turn.last),
        };
        let words = words(&a, lines, kept).max(words(&b, b.at_once, b.first));
        let pitch = match self.is_local(a.last) && b.last == 1 {
            true => 4,
            false => 5,
        };
        // `PassesShape::BUFFERS`: columns of the way back are all read before one is written, or have words of their own.
        let most_columns = 8 * a.units[0] * spec.warps / a.last;
        let buffers = match convolution && most_columns < columns {
            true => 2,
            false => 1,
        };
        let between = buffers * columns * next_with(kept * a.last, pitch, 8);
        let statistics = 16 * (lines * a.turns + b.at_once * b.turns);
        // A byte more for every output of a last step that is a product; in words of five digits or fewer, 12 bytes for every one.
        let wide_rows = convolution && tiles(b.last) > 0;
        let (word, top) = match digits {
            ..=5 => (8, 4),
            6 | 7 => (16, 0),
            _ => (16, usize::from(tiles(a.last) > 0 || wide_rows)),
        };
        let of_convolution = match convolution {
            true => 8 * b.count + 2 * HEADER_BYTES * spec.lines,
            false => 0,
        };
        let exponents = 8 * (buffers * columns + b.last);
        let rest = exponents + 8 * spec.lines + of_convolution + top * between;
        (words + (word * between).next_multiple_of(16) + statistics + rest).next_multiple_of(16)
    }

    fn layout(&self, strided: bool) -> String {
        self.ends.layout(strided)
    }

    fn type_name(&self, spec: &KernelSpec) -> String {
        let [a, b, last] = spec.units;
        let [[a1, a2], [b1, b2]] = self.steps;
        let number = spec.number.type_name();
        let ends = match self.ends {
            Ends::Complex => "COMPLEX",
            Ends::RealToHalf => "REAL_TO_HALF",
            Ends::HalfToReal => "HALF_TO_REAL",
            Ends::Convolution => "CONVOLUTION",
        };
        format!(
            "bailey::PassesShape<{a1}, {a2}, {b1}, {b2}, {}, {}, {a}, {b}, {last}, {}, {}, {number}, bailey::Ends::{ends}>",
            spec.lines, spec.warps, spec.strided, spec.groups
        )
    }
}
