//! The kernel template for transforms of two passes of blocks in one launch (`cuda/passes/bailey_passes.cuh`, of real lines
//! `cuda/passes/bailey_real_passes.cuh`, two of them as a convolution `cuda/passes/bailey_convolution.cuh`): its parameters, and the source of its kernels for a compiler at run time.

use crate::bailey::{
    BlockShape, KernelShape, MOST_WARPS, Number, SHARED_KILOBYTES, kernel_source,
    most_warps_of_wide, next_with, pieces, quads, table_bytes_for, tiles,
};
use crate::measured::measured;

/// What transforms begin and end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ends {
    /// Complex numbers, of f64 or f32.
    Complex(Number),
    /// Real lines, half-spectra at the end.
    RealToHalf(Number),
    /// Half-spectra, real lines at the end.
    HalfToReal(Number),
    /// Bluestein's convolutions of lines of any kind: there and back.
    Convolution(Number),
}

impl Ends {
    /// What numbers are.
    pub fn number(self) -> Number {
        match self {
            Ends::Complex(number)
            | Ends::RealToHalf(number)
            | Ends::HalfToReal(number)
            | Ends::Convolution(number) => number,
        }
    }
}

/// `PassesShape` of `bailey_passes.cuh`: the parameters of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PassesShape {
    /// Points of the first pass's steps; 1 where there is no second one.
    pub first: [usize; 2],
    /// The same for the second pass.
    pub second: [usize; 2],
    /// Transforms of a group of warps at a time.
    pub lines: usize,
    /// Warps of a group.
    pub warps: usize,
    /// Tiles of eight columns that a warp takes together: in the first step of either pass, and in the last step of the second.
    pub units: [usize; 3],
    /// Whether neighbouring transforms are neighbours in memory; else they are contiguous.
    pub strided: bool,
    /// What transforms begin and end with; real ones are contiguous.
    pub ends: Ends,
    /// Groups of warps that share the tables in shared memory; 0: one group, and tables in the cache.
    pub groups: usize,
    kilobytes: usize,
}

/// Kernels for one purpose that are worth measuring: there are more parameters than blocks have.
const MOST_TRIALS: usize = 16;

/// Bytes of a line's header, of which convolutions have two for every line: `HEADER_BYTES` of `bailey_passes.cuh`.
const HEADER_BYTES: usize = 136;

/// `PassesShape::at_a_time`
const fn at_a_time(all: usize, most: usize) -> usize {
    if most >= all {
        all
    } else {
        all.div_ceil(all.div_ceil(most))
    }
}

impl PassesShape {
    /// The shape for passes of such steps on a GPU whose blocks may have so many bytes of shared memory: the one that promises most of those
    /// that fit; none where there is none, or where the template does not take the steps.
    pub fn new(
        first: [usize; 2],
        second: [usize; 2],
        (ends, strided): (Ends, bool),
        shared_bytes: usize,
    ) -> Option<Self> {
        let fitting = |kilobytes: &usize| kilobytes << 10 <= shared_bytes;
        let kilobytes = SHARED_KILOBYTES.into_iter().find(fitting)?;
        // `PassesShape` asserts the same.
        let opens = |n: usize| (5..=64).contains(&n);
        let closes = |n: usize| n != 2 && n <= 64;
        let takes = |steps: [usize; 2]| opens(steps[0]) && closes(steps[1]);
        let contiguous = !strided || matches!(ends, Ends::Complex(_));
        if !takes(first) || !takes(second) || !contiguous {
            return None;
        }
        let ranked = PassesShape::ranked(first, second, (ends, strided), kilobytes);
        if let Some(shape) = ranked.first().and_then(PassesShape::as_measured) {
            return Some(shape);
        }
        let mut safe = ranked.into_iter().filter(|shape| {
            let most = shape.most_warps();
            most.is_some_and(|most| shape.groups.max(1) * shape.warps <= most)
        });
        safe.next()
    }

    /// With the parameters that were measured to be fastest, where there are some.
    fn as_measured(&self) -> Option<Self> {
        let [lines, warps, a, b, last, groups] = measured(&self.purpose()?)?;
        Some(PassesShape {
            lines,
            warps,
            units: [a, b, last],
            groups,
            ..*self
        })
    }

    /// All that fit, the most promising first; among them some with more warps than have registers for all that they work on.
    fn ranked(
        first: [usize; 2],
        second: [usize; 2],
        (ends, strided): (Ends, bool),
        kilobytes: usize,
    ) -> Vec<PassesShape> {
        let lines: &[usize] = match (ends, strided) {
            (_, true) => &[1, 2, 4, 8],
            (Ends::Convolution(_), false) => &[1, 2, 3, 4, 6, 8],
            (_, false) => &[1, 2, 3, 4],
        };
        let mut found: Vec<(f64, PassesShape)> = Vec::new();
        let warps = [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16];
        let pairs = lines
            .iter()
            .flat_map(|lines| warps.map(|warps| (*lines, warps)));
        for (lines, warps) in pairs {
            for number in 0..8 {
                let shape = PassesShape {
                    first,
                    second,
                    lines,
                    warps,
                    units: [0, 1, 2].map(|bit| 1 + (number >> bit & 1)),
                    strided,
                    ends,
                    groups: 1,
                    kilobytes,
                };
                let most = shape.most_warps().unwrap_or(0) + 8;
                for all_warps in [12, MOST_WARPS, 20, 24]
                    .into_iter()
                    .filter(|warps| *warps <= most)
                {
                    let fitting = shape.with_groups(all_warps);
                    found.extend(fitting.map(|shape| (shape.cost(), shape)));
                }
            }
        }
        found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        found.dedup_by_key(|(_, shape)| *shape);
        found.into_iter().map(|(_, shape)| shape).collect()
    }

    /// Warps that have registers for the digits of all units.
    fn most_warps(&self) -> Option<usize> {
        let has_last = tiles(self.second[1]) > 0;
        let steps = [
            (self.first[0], self.units[0]),
            (self.first[1], 1),
            (self.second[0], self.units[1]),
            (if has_last { self.second[1] } else { 1 }, self.units[2]),
        ];
        let too_many = |&(n, units): &(usize, usize)| units == 2 && quads(n) > 4;
        let load = steps.iter().map(|(n, units)| units * quads(*n)).max()?;
        let fits = load <= 8 && !steps.iter().any(too_many) && (has_last || self.units[2] == 1);
        // Five digits leave registers for more warps; but words between passes have 64 bits all the same.
        let is_much = match self.ends.number() {
            Number::Double | Number::DoubleFewer { .. } => load > 5,
            number @ (Number::DoubleFp8 | Number::DoubleF16) => {
                return most_warps_of_wide(number, steps).filter(|_| fits);
            }
            Number::DoubleWgmma => return None,
            Number::Single => self.units[1] * quads(self.second[0]) > 5 || load > 6,
        };
        fits.then_some(if is_much { 12 } else { MOST_WARPS })
    }

    /// With as many groups as fit and as make up no more than so many warps; none where not even one does.
    fn with_groups(mut self, most: usize) -> Option<Self> {
        let in_a_pass = |units: usize, last: usize| 8 * units * self.warps / last;
        if self.warps > most
            || in_a_pass(self.units[0], self.first[1]) == 0
            || in_a_pass(self.units[1], self.second[1]) == 0
        {
            return None;
        }
        let bytes = self.kilobytes << 10;
        let room = bytes.saturating_sub(16 + self.table_bytes());
        self.groups = (most / self.warps).min(15).min(room / self.group_bytes());
        (self.shared_bytes() <= bytes).then_some(self)
    }

    /// The passes as blocks of the template, of as many lines as a group has at a time; and how often that is.
    fn blocks(&self) -> [(BlockShape, usize); 2] {
        let [_, rows] = self.counts();
        let columns = self.lines * self.together();
        let block = |steps: [usize; 2], all: usize, units: [usize; 2]| {
            let most = 8 * units[0] * self.warps / steps[1];
            let at_once = match self.is_local(steps[1]) {
                true => most,
                false => at_a_time(all, most),
            };
            let shape = BlockShape::with_lines(steps, at_once, units, self.groups);
            (shape, all.div_ceil(at_once))
        };
        [
            block(self.first, columns, [self.units[0], 1]),
            block(self.second, rows, [self.units[1], self.units[2]]),
        ]
    }

    /// Whether the columns or rows of a pass that ends in such a step are a warp's own: `PassesShape::whole`.
    fn is_local(&self, last: usize) -> bool {
        matches!(self.ends, Ends::Complex(_) | Ends::Convolution(_)) && (last == 1 || last == 4)
    }

    /// Words between the steps of a pass, of one line of so many rows.
    fn line_bytes(&self, rows: usize, last: usize) -> usize {
        let line = match (self.is_local(last), last) {
            (_, 1) => return 0,
            (true, _) => next_with(rows * next_with(last, 2, 4), 1, 2),
            (false, _) => next_with(rows * next_with(last, 1, 2), 4, 8),
        };
        16 * line
    }

    /// Lines of either pass.
    fn counts(&self) -> [usize; 2] {
        let points = |steps: [usize; 2]| steps[0] * steps[1];
        [
            self.lines * points(self.second),
            self.lines * points(self.first),
        ]
    }

    /// Columns of a transform, or pairs of them: `PassesShape::TOGETHER_OF_LINE`.
    fn together(&self) -> usize {
        let columns = self.second[0] * self.second[1];
        match self.ends {
            Ends::RealToHalf(_) => columns.div_ceil(2),
            _ => columns,
        }
    }

    /// `PassesShape::GROUP`
    fn group_bytes(&self) -> usize {
        let [columns, rows] = self.counts();
        let [(a, a_turns), (b, b_turns)] = self.blocks();
        // Of real columns two are together, and half of the outputs are kept.
        let (kept, lines) = match self.ends {
            Ends::RealToHalf(_) => (a.first / 2 + 1, 2 * a.lines),
            _ => (a.first, a.lines),
        };
        // In place, where every round has as many: `PassesShape::IN_PLACE_A`, `IN_PLACE_B`.
        let in_place = |steps: [usize; 2], all: usize, at_once: usize| {
            let is_long = self.ends.number().digits() > 5;
            steps[1] == 4 && self.is_local(4) && is_long && all.is_multiple_of(at_once)
        };
        let words = match in_place(self.first, columns, a.lines) {
            true => 0,
            false => lines * self.line_bytes(kept, a.last),
        };
        let pitch = match self.is_local(a.last) && b.last == 1 {
            true => 4,
            false => 5,
        };
        let convolution = matches!(self.ends, Ends::Convolution(_));
        // `PassesShape::BUFFERS`: columns of the way back are all read before one is written, or have words of their own.
        let most_columns = 8 * self.units[0] * self.warps / a.last;
        let buffers = match convolution && most_columns < columns {
            true => 2,
            false => 1,
        };
        let between = buffers * columns * next_with(kept * a.last, pitch, 8);
        let statistics = 16 * (lines * a_turns + b.lines * b_turns);
        // A byte more for every output of a last step that is a product; in words of five digits or fewer, 12 bytes for every one.
        let wide_rows = convolution && tiles(b.last) > 0;
        let (word, top) = match self.ends.number().digits() {
            ..=5 => (8, 4),
            6 | 7 => (16, 0),
            _ => (16, usize::from(tiles(a.last) > 0 || wide_rows)),
        };
        let of_convolution = match convolution {
            true => 8 * rows + 2 * HEADER_BYTES * self.lines,
            false => 0,
        };
        let exponents = 8 * (buffers * columns + b.last);
        let rest = exponents + 8 * self.lines + of_convolution + top * between;
        let words = match in_place(self.second, rows, b.lines) {
            true => words,
            false => words.max(b.lines * self.line_bytes(b.first, b.last)),
        };
        (words + (word * between).next_multiple_of(16) + statistics + rest).next_multiple_of(16)
    }

    /// Bytes of the tables that may be in shared memory: `PassesShape::TABLE_BYTES`.
    fn table_bytes(&self) -> usize {
        let of = |[first, last]: [usize; 2]| table_bytes_for(self.ends.number(), first, last);
        of(self.first) + of(self.second)
    }

    /// What a point is expected to take: products of padded matrices and what else there is, with warps that wait for others.
    fn cost(&self) -> f64 {
        // Shapes of complex f64 were chosen and measured with these figures, and half-spectra do nearly as much.
        let measured = matches!(
            self.ends,
            Ends::Complex(Number::Double | Number::DoubleFewer { .. })
                | Ends::HalfToReal(Number::Double | Number::DoubleFewer { .. })
                | Ends::Convolution(Number::Double)
        );
        let work = |n: usize, units: usize| {
            let fragments = if units == 1 { 1.35 } else { 1.0 };
            // Two units share what a warp works out for itself: an eighth of the instructions, counted.
            let rest = if measured || units == 2 { 16.0 } else { 18.0 };
            n as f64
                * (fragments * 8.0 * (tiles(n) * (pieces(n)[0] + pieces(n)[1])) as f64 / n as f64
                    + rest)
        };
        let [(a, a_turns), (b, b_turns)] = self.blocks();
        let warps = self.warps as f64;
        // Warps that have nothing to do in a round leave it to others, where lines are a warp's own; but those wait for the last one.
        let rounds = |block: &BlockShape, turns: usize, lines: usize| {
            let all = turns as f64 * warps;
            match self.is_local(block.last) {
                true => 0.3 * all + 0.7 * (lines * block.last).div_ceil(8 * block.units[0]) as f64,
                false => all,
            }
        };
        let [columns, rows] = self.counts();
        let first_units = |block: &BlockShape, turns: usize, lines: usize| {
            rounds(block, turns, lines)
                * (8 * block.units[0]) as f64
                * work(block.first, block.units[0])
        };
        let mut all = first_units(&a, a_turns, columns);
        if tiles(a.last) > 0 {
            let rows_at_once = match self.ends {
                Ends::RealToHalf(_) => 2 * a.lines * (a.first / 2 + 1),
                _ => a.lines * a.first,
            };
            let turns = rows_at_once.div_ceil(8 * self.warps);
            all += (a_turns * turns * 8) as f64 * warps * work(a.last, 1);
        }
        all += first_units(&b, b_turns, rows);
        if tiles(b.last) > 0 {
            let unit_columns = 8 * b.units[1];
            let rows_at_once = match self.ends {
                Ends::HalfToReal(_) => b.lines.div_ceil(2) * b.first,
                _ => b.lines * b.first,
            };
            let turns = rows_at_once.div_ceil(unit_columns * self.warps);
            all += (b_turns * turns * unit_columns) as f64 * warps * work(b.last, b.units[1]);
        }
        let points = (columns * self.first[0] * self.first[1]) as f64;
        let most = self.most_warps().unwrap_or(1);
        let groups = self.groups.max(1);
        let used = (groups * self.warps) as f64 / most as f64;
        let mut cost = all / points * (1.0 + 0.6 * (1.0 - used).max(-0.1));
        cost *= match groups {
            1 => 1.25,
            2 => 1.08,
            _ => 1.0,
        };
        cost *= match most {
            8 => 1.3,
            12 if measured => 1.05,
            12 => 1.15,
            _ => 1.0,
        };
        cost *= if self.groups == 0 { 1.3 } else { 1.0 };
        cost * match (self.strided, self.lines) {
            (true, 1) => 1.5,
            (true, 2) => 1.1,
            (true, 4) => 1.03,
            _ => 1.0,
        }
    }

    /// The shape as a type of the kernels' source.
    pub fn type_name(&self) -> String {
        let PassesShape {
            first: [a1, a2],
            second: [b1, b2],
            lines,
            warps,
            units: [a, b, last],
            strided,
            groups,
            ..
        } = self;
        let number = self.ends.number().type_name();
        let ends = match self.ends {
            Ends::Complex(_) => "COMPLEX",
            Ends::RealToHalf(_) => "REAL_TO_HALF",
            Ends::HalfToReal(_) => "HALF_TO_REAL",
            Ends::Convolution(_) => "CONVOLUTION",
        };
        format!(
            "bailey::PassesShape<{a1}, {a2}, {b1}, {b2}, {lines}, {warps}, {a}, {b}, {last}, {strided}, {groups}, {number}, bailey::Ends::{ends}>"
        )
    }
}

impl KernelShape for PassesShape {
    fn name(&self, conversions: bool) -> String {
        let PassesShape {
            first: [a1, a2],
            second: [b1, b2],
            kilobytes,
            ..
        } = self;
        let place = if self.strided {
            "strided"
        } else {
            "contiguous"
        };
        let conversions = if conversions { "_conversions" } else { "" };
        let number = self.ends.number().prefix();
        let ends = match self.ends {
            Ends::Complex(_) => "",
            Ends::RealToHalf(_) => "r2c_",
            Ends::HalfToReal(_) => "c2r_",
            Ends::Convolution(_) => "convolution_",
        };
        let [a, b, last] = self.units;
        let (lines, warps, groups) = (self.lines, self.warps, self.groups);
        format!(
            "bailey_{number}{ends}{a1}x{a2}_{b1}x{b2}_{place}_{kilobytes}_{lines}_{warps}_{a}{b}{last}_{groups}{conversions}"
        )
    }

    fn parameters(&self) -> &'static str {
        match self.ends {
            Ends::Convolution(_) => "PassArguments",
            _ => "TunedArguments",
        }
    }

    fn lines(&self) -> usize {
        self.lines
    }

    fn threads(&self) -> u32 {
        (32 * self.warps * self.groups.max(1)) as u32
    }

    fn shared_bytes(&self) -> usize {
        let tables = if self.groups == 0 {
            0
        } else {
            self.table_bytes()
        };
        self.groups.max(1) * self.group_bytes() + 16 + tables
    }

    fn is_compiled_in_advance(&self, _: bool) -> bool {
        false
    }

    fn purpose(&self) -> Option<String> {
        let [[a1, a2], [b1, b2]] = [self.first, self.second];
        let kilobytes = self.kilobytes;
        let what = match self.ends {
            Ends::Complex(_) => "complex",
            Ends::RealToHalf(_) => "real to half-spectrum",
            Ends::HalfToReal(_) => "half-spectrum to real",
            Ends::Convolution(_) => "convolution",
        };
        let place = match self.strided {
            true => "strided",
            false => "contiguous",
        };
        let number = self.ends.number().description();
        Some(format!(
            "passes of {a1} x {a2} and {b1} x {b2} points, {number}, {what}, {place}, {kilobytes} KB"
        ))
    }

    fn choice(&self) -> String {
        let [a, b, last] = self.units;
        let (lines, warps, groups) = (self.lines, self.warps, self.groups);
        format!("{lines} lines, {warps} warps, {a}, {b} and {last} units, {groups} groups")
    }

    fn candidates(&self) -> Vec<Box<dyn KernelShape>> {
        let kind = (self.ends, self.strided);
        let mut ranked = PassesShape::ranked(self.first, self.second, kind, self.kilobytes);
        // The best of every number of warps with every number of units, then the next ones.
        let mut seen = vec![(self.threads(), self.units)];
        let mut is_new = |shape: &PassesShape| {
            let kind = (shape.threads(), shape.units);
            let is_new = !seen.contains(&kind);
            seen.push(kind);
            is_new
        };
        ranked.retain(|shape| shape != self);
        ranked.sort_by_cached_key(|shape| !is_new(shape));
        let all = std::iter::once(*self).chain(ranked.into_iter().take(MOST_TRIALS - 1));
        let boxed = |shape| Box::new(shape) as Box<dyn KernelShape>;
        all.map(boxed).collect()
    }

    fn source(&self, conversions: bool) -> String {
        let checks = format!("Shape::TABLE_BYTES == {}", self.table_bytes());
        let (header, function) = match self.ends {
            Ends::Complex(_) => ("passes/bailey_passes.cuh", "run_passes"),
            Ends::RealToHalf(_) | Ends::HalfToReal(_) => {
                ("passes/bailey_real_passes.cuh", "run_passes")
            }
            Ends::Convolution(_) => ("passes/bailey_convolution.cuh", "run_convolution"),
        };
        let source = kernel_source(
            self,
            [header, &self.type_name(), function, &checks],
            conversions,
        );
        self.ends.number().with_header(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_fit_the_gpus_that_they_are_for() {
        for kilobytes in SHARED_KILOBYTES {
            for (first, second) in [
                ([16, 4], [32, 1]),
                ([16, 4], [16, 4]),
                ([32, 1], [12, 4]),
                ([40, 1], [40, 1]),
                ([15, 4], [10, 5]),
                ([45, 1], [9, 9]),
                ([7, 7], [28, 1]),
                ([10, 5], [10, 5]),
            ] {
                for kind in [
                    (Ends::Complex(Number::Double), false),
                    (Ends::Complex(Number::Double), true),
                    (Ends::Complex(Number::Single), false),
                    (Ends::Complex(Number::Single), true),
                    (Ends::RealToHalf(Number::Double), false),
                    (Ends::RealToHalf(Number::Single), false),
                    (Ends::HalfToReal(Number::Double), false),
                    (Ends::HalfToReal(Number::Single), false),
                    (Ends::Complex(Number::fewer(5)), false),
                    (Ends::RealToHalf(Number::fewer(5)), false),
                    (Ends::HalfToReal(Number::fewer(6)), false),
                    (Ends::Complex(Number::fewer(7)), true),
                    (Ends::Complex(Number::DoubleFp8), false),
                    (Ends::Complex(Number::DoubleFp8), true),
                    (Ends::Complex(Number::DoubleF16), false),
                    (Ends::Complex(Number::DoubleF16), true),
                    (Ends::Convolution(Number::Double), false),
                    (Ends::Convolution(Number::Single), false),
                ] {
                    let shape = PassesShape::new(first, second, kind, kilobytes << 10);
                    // Of convolutions both ways may have no room there.
                    let convolution = matches!(kind.0, Ends::Convolution(_));
                    if convolution && kilobytes < SHARED_KILOBYTES[0] && shape.is_none() {
                        continue;
                    }
                    let shape = shape.unwrap_or_else(|| panic!("{first:?}, {second:?}, {kind:?}"));
                    println!("{kilobytes} KB: {shape:?}");
                    assert!(shape.shared_bytes() <= kilobytes << 10, "{shape:?}");
                    assert!(shape.threads() <= 768, "{shape:?}");
                }
                for ends in [Ends::RealToHalf, Ends::HalfToReal] {
                    let ends = ends(Number::Double);
                    let shape = PassesShape::new(first, second, (ends, true), kilobytes << 10);
                    assert_eq!(shape, None, "real lines are contiguous");
                }
            }
        }
    }
}
