//! The kernel template for transforms of two passes of blocks in one launch (`cuda/bailey_passes.cuh`, of real lines
//! `cuda/bailey_real_passes.cuh`): its parameters, and the source of its kernels for a compiler at run time.

use crate::bailey::{
    BlockShape, KernelShape, MOST_WARPS, Number, SHARED_KILOBYTES, kernel_source,
    most_warps_in_fp8, next_with, pieces, quads, table_bytes_for, tiles,
};

/// What transforms begin and end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ends {
    /// Complex numbers, of f64 or f32.
    Complex(Number),
    /// Real lines of f64, half-spectra at the end.
    RealToHalf,
    /// Half-spectra, real lines of f64 at the end.
    HalfToReal,
}

impl Ends {
    /// What numbers are.
    fn number(self) -> Number {
        match self {
            Ends::Complex(number) => number,
            Ends::RealToHalf | Ends::HalfToReal => Number::Double,
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
        let mut best: Option<(f64, PassesShape)> = None;
        let lines: &[usize] = if strided {
            &[1, 2, 4, 8]
        } else {
            &[1, 2, 3, 4]
        };
        for &lines in lines {
            for warps in [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16] {
                for number in 0..8 {
                    let units = [0, 1, 2].map(|bit| 1 + (number >> bit & 1));
                    let shape = PassesShape {
                        first,
                        second,
                        lines,
                        warps,
                        units,
                        strided,
                        ends,
                        groups: 1,
                        kilobytes,
                    };
                    let Some(shape) = shape.with_groups() else {
                        continue;
                    };
                    let cost = shape.cost();
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, shape));
                    }
                }
            }
        }
        best.map(|(_, shape)| shape)
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
            Number::Double => load > 5,
            Number::DoubleFp8 => return most_warps_in_fp8(steps).filter(|_| fits),
            Number::Single => self.units[1] * quads(self.second[0]) > 5 || load > 6,
        };
        fits.then_some(if is_much { 12 } else { MOST_WARPS })
    }

    /// With as many groups as fit; none where not even one does.
    fn with_groups(mut self) -> Option<Self> {
        let most = self.most_warps()?;
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
            let at_once = at_a_time(all, 8 * units[0] * self.warps / steps[1]);
            let shape = BlockShape::with_lines(steps, at_once, units, self.groups);
            (shape, all.div_ceil(at_once))
        };
        [
            block(self.first, columns, [self.units[0], 1]),
            block(self.second, rows, [self.units[1], self.units[2]]),
        ]
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
            Ends::RealToHalf => columns.div_ceil(2),
            _ => columns,
        }
    }

    /// `PassesShape::GROUP`
    fn group_bytes(&self) -> usize {
        let [columns, _] = self.counts();
        let [(a, a_turns), (b, b_turns)] = self.blocks();
        // Of real columns two are together, and half of the outputs are kept.
        let (kept, lines) = match self.ends {
            Ends::RealToHalf => (a.first / 2 + 1, 2 * a.lines),
            _ => (a.first, a.lines),
        };
        let line = next_with(kept * next_with(a.last, 1, 2), 4, 8);
        let words = if a.last == 1 { 0 } else { 16 * line * lines };
        let between = columns * next_with(kept * a.last, 5, 8);
        let statistics = 16 * (lines * a_turns + b.lines * b_turns);
        // A byte more for every output of a last step that is a product; in words of five digits, 12 bytes for every one.
        let (word, top) = match self.ends.number() {
            Number::Single => (8, 4),
            Number::Double | Number::DoubleFp8 => (16, usize::from(tiles(a.last) > 0)),
        };
        let rest = 8 * (columns + b.last) + 8 * self.lines + top * between;
        let words = words.max(b.lines * b.word_bytes());
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
        let measured = matches!(self.ends, Ends::Complex(Number::Double) | Ends::HalfToReal);
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
        let mut all = a_turns as f64 * (8 * a.units[0]) as f64 * warps * work(a.first, a.units[0]);
        if tiles(a.last) > 0 {
            let rows = match self.ends {
                Ends::RealToHalf => 2 * a.lines * (a.first / 2 + 1),
                _ => a.lines * a.first,
            };
            let turns = rows.div_ceil(8 * self.warps);
            all += (a_turns * turns * 8) as f64 * warps * work(a.last, 1);
        }
        all += b_turns as f64 * (8 * b.units[0]) as f64 * warps * work(b.first, b.units[0]);
        if tiles(b.last) > 0 {
            let unit_columns = 8 * b.units[1];
            let rows = match self.ends {
                Ends::HalfToReal => b.lines.div_ceil(2) * b.first,
                _ => b.lines * b.first,
            };
            let turns = rows.div_ceil(unit_columns * self.warps);
            all += (b_turns * turns * unit_columns) as f64 * warps * work(b.last, b.units[1]);
        }
        let [columns, _] = self.counts();
        let points = (columns * self.first[0] * self.first[1]) as f64;
        let most = self.most_warps().unwrap_or(1);
        let groups = self.groups.max(1);
        let used = (groups * self.warps) as f64 / most as f64;
        let mut cost = all / points * (1.0 + 0.6 * (1.0 - used));
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
        let ends = match self.ends {
            Ends::Complex(number) => number.last_parameter(),
            Ends::RealToHalf => ", bailey::Double, bailey::Ends::REAL_TO_HALF".into(),
            Ends::HalfToReal => ", bailey::Double, bailey::Ends::HALF_TO_REAL".into(),
        };
        format!(
            "bailey::PassesShape<{a1}, {a2}, {b1}, {b2}, {lines}, {warps}, {a}, {b}, {last}, {strided}, {groups}{ends}>"
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
        let ends = match self.ends {
            Ends::Complex(number) => number.prefix(),
            Ends::RealToHalf => "r2c_",
            Ends::HalfToReal => "c2r_",
        };
        format!("bailey_{ends}{a1}x{a2}_{b1}x{b2}_{place}_{kilobytes}{conversions}")
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

    fn source(&self, conversions: bool) -> String {
        let checks = format!("Shape::TABLE_BYTES == {}", self.table_bytes());
        let header = match self.ends {
            Ends::Complex(_) => "bailey_passes.cuh",
            Ends::RealToHalf | Ends::HalfToReal => "bailey_real_passes.cuh",
        };
        let source = kernel_source(
            self,
            [header, &self.type_name(), "run_passes", &checks],
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
                    (Ends::Complex(Number::DoubleFp8), false),
                    (Ends::Complex(Number::DoubleFp8), true),
                    (Ends::RealToHalf, false),
                    (Ends::HalfToReal, false),
                ] {
                    let shape = PassesShape::new(first, second, kind, kilobytes << 10);
                    let shape = shape.unwrap_or_else(|| panic!("{first:?}, {second:?}, {kind:?}"));
                    println!("{kilobytes} KB: {shape:?}");
                    assert!(shape.shared_bytes() <= kilobytes << 10, "{shape:?}");
                    assert!(shape.threads() <= 512, "{shape:?}");
                }
                for ends in [Ends::RealToHalf, Ends::HalfToReal] {
                    let shape = PassesShape::new(first, second, (ends, true), kilobytes << 10);
                    assert_eq!(shape, None, "real lines are contiguous");
                }
            }
        }
    }
}
