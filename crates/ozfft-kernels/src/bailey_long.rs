//! The kernel template for one pass of a transform whose words go through memory (`cuda/passes/bailey_long.cuh`): its parameters, and the
//! source of its kernels for a compiler at run time.

use crate::bailey::{
    KernelShape, MOST_WARPS, Number, SHARED_KILOBYTES, candidates_of, cost_of, is_matrix,
    kernel_source, most_warps_for, next_with, table_bytes_for,
};
use crate::bailey_three;

/// What a pass reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pass {
    /// From complex numbers to words.
    Opening,
    /// From real numbers to words.
    OpeningReal,
    /// From half-spectra to words.
    OpeningHalf,
    /// From words to words.
    Middle,
    /// From words to complex numbers.
    Closing,
    /// From words to real numbers.
    ClosingReal,
    /// Bluestein's convolution: from numbers times the chirp to words.
    ChirpedOpening,
    /// A convolution of one block: from numbers times the chirp to the product of both spectra.
    ChirpedProduct,
    /// From words to the product of both spectra.
    Product,
    /// From the product to words.
    ProductOpening,
    /// A convolution of one block: from the product to numbers, times the chirp.
    ProductClosing,
    /// From words to numbers, times the chirp.
    UnchirpedClosing,
}

impl Pass {
    /// Whether it ends with numbers that are rounded from sums, without becoming words first.
    pub fn is_closing(self) -> bool {
        matches!(self, Pass::Closing | Pass::ClosingReal)
    }

    /// Whether it is a pass of Bluestein's convolutions alone.
    pub fn is_of_convolution(self) -> bool {
        use Pass::*;
        matches!(
            self,
            ChirpedOpening
                | ChirpedProduct
                | Product
                | ProductOpening
                | ProductClosing
                | UnchirpedClosing
        )
    }

    /// Whether it is the last of a transform: its lines are contiguous, and its outputs side by side.
    pub fn is_last(self) -> bool {
        use Pass::*;
        self.is_closing()
            || matches!(
                self,
                ChirpedProduct | Product | ProductClosing | UnchirpedClosing
            )
    }

    /// As the kernels' source has it.
    fn name(self) -> &'static str {
        match self {
            Pass::Opening => "OPENING",
            Pass::OpeningReal => "OPENING_REAL",
            Pass::OpeningHalf => "OPENING_HALF",
            Pass::Middle => "MIDDLE",
            Pass::Closing => "CLOSING",
            Pass::ClosingReal => "CLOSING_REAL",
            Pass::ChirpedOpening => "CHIRPED_OPENING",
            Pass::ChirpedProduct => "CHIRPED_PRODUCT",
            Pass::Product => "PRODUCT",
            Pass::ProductOpening => "PRODUCT_OPENING",
            Pass::ProductClosing => "PRODUCT_CLOSING",
            Pass::UnchirpedClosing => "UNCHIRPED_CLOSING",
        }
    }
}

/// `LongShape` of `bailey_long.cuh`: the parameters of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LongShape {
    /// Points of the first step, of one between both, and of the last one; 1 where there is none.
    pub steps: [usize; 3],
    /// Lines of a group of warps at a time.
    pub lines: usize,
    /// Tiles of eight columns that a warp takes together in the first step, and of rows in the last one.
    pub units: [usize; 2],
    /// Which pass it is.
    pub pass: Pass,
    /// What numbers are, and how many digits words have.
    pub number: Number,
    /// Groups of warps that share the tables in shared memory; 0: one group, and tables in the cache.
    pub groups: usize,
    kilobytes: usize,
    /// Lines that lie side by side, and whether there are too few for the GPU: what the parameters were chosen for.
    side_by_side: u64,
    few: bool,
}

/// So many lines side by side need no kernels of their own: what a panel's lines leave over is next to nothing.
const MANY_LINES: u64 = 256;

/// What the shape of passes of one block is chosen for, where all transforms lie side by side.
pub const MANY_TRANSFORMS: u64 = 1024;

/// Bytes of a line's header, of which every line has two.
const HEADER_BYTES: usize = 136;

impl LongShape {
    /// The shape for a pass of such steps, of which so many lines lie side by side, on a GPU whose blocks may have so many bytes of shared
    /// memory: the one that promises most of those that fit; none where there is none, or where the template does not take the steps.
    /// `few`: there are too few lines for the GPU, so that what counts is how soon a warp is done.
    pub fn new(
        steps: [usize; 3],
        side_by_side: u64,
        (number, pass): (Number, Pass),
        shared_bytes: usize,
        few: bool,
    ) -> Option<Self> {
        let fitting = |kilobytes: &usize| kilobytes << 10 <= shared_bytes;
        let kilobytes = SHARED_KILOBYTES.into_iter().find(fitting)?;
        let [first, middle, last] = steps;
        // `LongShape` asserts the same; two points as a last step do not occur.
        let takes = match middle {
            1 => is_matrix(first) && first <= 64 && last <= 64 && last != 2,
            _ => bailey_three::are_three(steps),
        };
        // Three steps have kernels for f64, multiplied in int8, alone.
        let for_blocks = number == Number::DoubleWgmma;
        if !takes || for_blocks || (number != Number::Double && middle > 1) {
            return None;
        }
        let ranked = LongShape::ranked(steps, side_by_side, (number, pass), kilobytes, few);
        ranked.into_iter().next()
    }

    /// All parameters that fit, the most promising first.
    fn ranked(
        steps: [usize; 3],
        side_by_side: u64,
        (number, pass): (Number, Pass),
        kilobytes: usize,
        few: bool,
    ) -> Vec<Self> {
        let [first, middle, last] = steps;
        let mut found: Vec<(f64, LongShape)> = Vec::new();
        for units in [[1, 1], [1, 2], [2, 1], [2, 2]] {
            let most = match middle {
                1 => most_warps_for(number, [first, last], units),
                _ => (units == [bailey_three::UNITS; 2]).then(|| bailey_three::most_warps(steps)),
            };
            let Some(most) = most else {
                continue;
            };
            let most = match number {
                Number::Single => MOST_WARPS,
                _ => most,
            };
            for lines in [2, 4, 6, 8, 16] {
                let mut shape = LongShape {
                    steps,
                    lines,
                    units,
                    pass,
                    number,
                    groups: 1,
                    kilobytes,
                    side_by_side,
                    few,
                };
                let warps = shape.warps();
                // Threads stay with a line when they write.
                let stay = pass.is_closing() || (4 * warps).is_multiple_of(lines / 2);
                if !stay {
                    continue;
                }
                let room = (kilobytes << 10).saturating_sub(16 + shape.table_bytes());
                shape.groups = (most / warps).min(room / shape.group_bytes()).min(15);
                let in_cache = shape.groups == 0 && middle == 1;
                if warps > most
                    || (shape.groups == 0 && !in_cache)
                    || shape.shared_bytes() > kilobytes << 10
                {
                    continue;
                }
                // Neighbouring lines fill segments of 128 bytes.
                let segments = match lines {
                    2 => 1.25,
                    4 => 1.06,
                    _ => 1.0,
                };
                let cached = if shape.groups == 0 { 1.3 } else { 1.0 };
                let groups = shape.groups.max(1);
                let turns = side_by_side.div_ceil(lines as u64) * lines as u64;
                let padding = turns as f64 / side_by_side as f64;
                let warps = [warps, groups, most];
                let cost = match middle {
                    1 => cost_of(1, [first, last], lines, units, warps),
                    _ => bailey_three::cost_of(steps, lines, warps),
                };
                let cost = match few {
                    true => (units[0] * 100 + units[1] * 10 + lines) as f64,
                    false => cached * segments * padding * cost,
                };
                found.push((cost, shape));
            }
        }
        found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        found.into_iter().map(|(_, shape)| shape).collect()
    }

    /// Columns of the first step: points of those behind it.
    fn columns(&self) -> usize {
        self.steps[1] * self.steps[2]
    }

    /// Warps of a group.
    fn warps(&self) -> usize {
        (self.lines * self.columns()).div_ceil(8 * self.units[0])
    }

    /// `Tables::BYTES`
    fn table_bytes(&self) -> usize {
        match self.steps {
            [first, 1, last] => table_bytes_for(self.number, first, last),
            steps => bailey_three::table_bytes(steps),
        }
    }

    /// `LongShape::GROUP`
    fn group_bytes(&self) -> usize {
        let pitch = match self.pass.is_last() {
            true => next_with(self.columns(), 2, 4),
            false => next_with(self.columns(), 1, 2),
        };
        let line = next_with(self.steps[0] * pitch, 4, 8);
        // A byte more for every output of a last step that is a product.
        let wide = !self.pass.is_closing() && is_matrix(self.steps[2]) && self.number.digits() == 8;
        let tops = if wide { line } else { 0 };
        (self.lines * (16 * line + 2 * 16 + 2 * HEADER_BYTES + tops)).next_multiple_of(16)
    }

    /// The shape as a type of the kernels' source.
    pub fn type_name(&self) -> String {
        let LongShape {
            steps: [first, middle, last],
            lines,
            units: [first_units, last_units],
            pass,
            groups,
            ..
        } = self;
        let columns = self.columns();
        let pass = pass.name();
        let number = self.number.type_name();
        let shape = format!(
            "bailey::LongShape<{first}, {columns}, {lines}, {first_units}, {last_units}, bailey::Pass::{pass}, {groups}, {number}>"
        );
        match middle {
            1 => shape,
            _ => format!("bailey::OfThree<{shape}, {first}, {middle}, {last}>"),
        }
    }
}

impl KernelShape for LongShape {
    fn name(&self, conversions: bool) -> String {
        let LongShape {
            steps: [first, middle, last],
            lines,
            kilobytes,
            ..
        } = self;
        let steps = match middle {
            1 => format!("{first}x{last}"),
            _ => format!("{first}x{middle}x{last}"),
        };
        let pass = self.pass.name().to_lowercase();
        let conversions = if conversions { "_conversions" } else { "" };
        let number = self.number.prefix();
        let [one, other] = self.units;
        let groups = self.groups;
        format!(
            "bailey_{number}{steps}_{pass}_{lines}_{one}{other}_{groups}_{kilobytes}{conversions}"
        )
    }

    fn parameters(&self) -> &'static str {
        "PassArguments"
    }

    fn lines(&self) -> usize {
        self.lines
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
                "passes/bailey_long.cuh",
                &self.type_name(),
                "run_pass",
                &checks,
            ],
            conversions,
        );
        match self.steps {
            [_, 1, _] => self.number.with_header(source),
            _ => format!("#include \"block/bailey_three.cuh\"\n{source}"),
        }
    }

    fn purpose(&self) -> Option<String> {
        let steps = match self.steps {
            [first, 1, last] => format!("{first} x {last}"),
            [first, middle, last] => format!("{first} x {middle} x {last}"),
        };
        let pass = self.pass.name().to_lowercase().replace('_', " ");
        let number = self.number.description();
        let kilobytes = self.kilobytes;
        let beside = match self.side_by_side {
            MANY_LINES.. => "many".into(),
            lines => lines.to_string(),
        };
        Some(format!(
            "{pass} pass of {steps} points, {number}, {beside} side by side, {kilobytes} KB"
        ))
    }

    fn choice(&self) -> String {
        let [first, last] = self.units;
        let (lines, groups) = (self.lines, self.groups);
        format!("{lines} lines, {first} and {last} units, {groups} groups")
    }

    fn candidates(&self) -> Vec<Box<dyn KernelShape>> {
        let kind = (self.number, self.pass);
        let LongShape {
            steps,
            side_by_side,
            kilobytes,
            few,
            ..
        } = *self;
        let fitting = LongShape::ranked(steps, side_by_side, kind, kilobytes, few);
        candidates_of(*self, fitting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_fit_the_gpus_that_they_are_for() {
        for kilobytes in SHARED_KILOBYTES {
            for steps in [
                [16, 1, 8],
                [16, 1, 16],
                [25, 1, 4],
                [20, 1, 20],
                [25, 1, 10],
                [32, 1, 16],
                [32, 1, 32],
                [40, 1, 25],
                [28, 1, 36],
                [32, 1, 1],
                [45, 1, 1],
                [7, 7, 7],
                [14, 7, 7],
                [13, 11, 5],
                [17, 17, 3],
            ] {
                for pass in [
                    (Number::Double, Pass::Opening),
                    (Number::Double, Pass::Middle),
                    (Number::Double, Pass::Closing),
                    (Number::DoubleFp8, Pass::Opening),
                    (Number::DoubleFp8, Pass::Middle),
                    (Number::DoubleFp8, Pass::Closing),
                    (Number::DoubleF16, Pass::Opening),
                    (Number::DoubleF16, Pass::Middle),
                    (Number::DoubleF16, Pass::Closing),
                    (Number::Single, Pass::OpeningReal),
                    (Number::Single, Pass::OpeningHalf),
                    (Number::Single, Pass::ClosingReal),
                    (Number::fewer(3), Pass::Opening),
                    (Number::fewer(7), Pass::ClosingReal),
                ] {
                    if steps[1] > 1 && pass.0 != Number::Double {
                        continue;
                    }
                    let shape = LongShape::new(steps, 1000, pass, kilobytes << 10, false);
                    // Two lines of 36 columns are nine warps, and digits in fp8 leave registers for eight.
                    if steps == [28, 1, 36] && pass.0 == Number::DoubleFp8 {
                        assert_eq!(shape, None);
                        continue;
                    }
                    let shape = shape.unwrap_or_else(|| panic!("{steps:?}, {pass:?}"));
                    println!("{kilobytes} KB: {shape:?}");
                    assert!(shape.shared_bytes() <= kilobytes << 10, "{shape:?}");
                    assert!(shape.threads() <= 512, "{shape:?}");
                    let few = LongShape::new(steps, 1000, pass, kilobytes << 10, true);
                    let few = few.unwrap_or_else(|| panic!("{steps:?}, {pass:?}"));
                    assert!(few.units[0] <= shape.units[0], "{few:?}");
                    assert!(few.shared_bytes() <= kilobytes << 10, "{few:?}");
                    assert!(few.threads() <= 512, "{few:?}");
                }
            }
        }
    }
}
