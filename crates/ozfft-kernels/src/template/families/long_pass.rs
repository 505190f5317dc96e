//! One pass of a transform whose words go through memory (`cuda/passes/bailey_long.cuh`).

use super::{Rules, ThreeSteps, Traits, USUAL, block, takes_steps};
use crate::template::steps::{is_matrix, max_warps, next_with, table_bytes};
use crate::template::{KernelSpec, Number};

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

    /// In names of kernels and, in capitals, in their source; and in words.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Pass::Opening => ("opening", "opening pass"),
            Pass::OpeningReal => ("opening_real", "opening real pass"),
            Pass::OpeningHalf => ("opening_half", "opening half pass"),
            Pass::Middle => ("middle", "middle pass"),
            Pass::Closing => ("closing", "closing pass"),
            Pass::ClosingReal => ("closing_real", "closing real pass"),
            Pass::ChirpedOpening => ("chirped_opening", "chirped opening pass"),
            Pass::ChirpedProduct => ("chirped_product", "chirped product pass"),
            Pass::Product => ("product", "product pass"),
            Pass::ProductOpening => ("product_opening", "product opening pass"),
            Pass::ProductClosing => ("product_closing", "product closing pass"),
            Pass::UnchirpedClosing => ("unchirped_closing", "unchirped closing pass"),
        }
    }
}

/// One pass of a transform whose words go through memory. Its lines are strided but for those of a last pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LongPass {
    /// Points of the first step, of one between both, and of the last one; 1 where there is none.
    pub steps: [usize; 3],
    /// Which pass it is.
    pub pass: Pass,
    /// Lines that lie side by side: what is left over of a kernel's lines is idle.
    pub side_by_side: u64,
    /// Whether there are too few lines for the GPU, so that what counts is how soon a warp is done.
    few: bool,
}

/// So many lines side by side need no kernels of their own: what a panel's lines leave over is next to nothing.
const MANY_LINES: u64 = 256;

/// What passes of one block are chosen for, where all transforms lie side by side.
pub const MANY_TRANSFORMS: u64 = 1024;

/// Bytes of a line's header, of which every line has two: `HEADER_BYTES` of the sources.
pub(super) const HEADER_BYTES: usize = 136;

impl LongPass {
    /// The pass of such steps, of which so many lines lie side by side.
    pub const fn new(steps: [usize; 3], side_by_side: u64, pass: Pass) -> Self {
        LongPass {
            steps,
            pass,
            side_by_side,
            few: false,
        }
    }

    /// The block of three steps that it is a pass of, if it is.
    fn three_steps(&self) -> Option<ThreeSteps> {
        let steps = self.steps;
        (steps[1] > 1).then_some(ThreeSteps { steps })
    }

    /// First and last step.
    fn two_steps(&self) -> [usize; 2] {
        [self.steps[0], self.steps[2]]
    }
}

impl Rules for LongPass {
    fn is_supported(&self, problem: &KernelSpec) -> bool {
        match self.three_steps() {
            Some(three) => three.is_supported(problem),
            // Warps multiply together in whole blocks alone.
            None => takes_steps(self.two_steps()) && problem.number != Number::DoubleWgmma,
        }
    }

    fn traits(&self, _: bool) -> Traits {
        let (three, usual) = (self.three_steps(), USUAL);
        Traits {
            what: self.pass.names().1,
            labels: ["", self.pass.names().0],
            function: "run_pass",
            parameters: "PassArguments",
            line_counts: &[2, 4, 6, 8, 16],
            units: three.map_or(usual.units, |three| three.traits(true).units),
            may_cache_tables: three.is_none(),
            headers: match three {
                Some(_) => &["block/bailey_three.cuh", "passes/bailey_long.cuh"],
                None => &["passes/bailey_long.cuh"],
            },
            ..usual
        }
    }

    fn steps(&self) -> Vec<Vec<usize>> {
        match self.three_steps() {
            Some(three) => three.steps(),
            None => vec![self.two_steps().into()],
        }
    }

    fn columns(&self, lines: usize) -> usize {
        lines * self.steps[1] * self.steps[2]
    }

    fn max_warps(&self, spec: &KernelSpec) -> Option<usize> {
        match self.three_steps() {
            Some(three) => three.max_warps(spec),
            None => max_warps(
                spec.number,
                self.two_steps(),
                [spec.units[0], spec.units[1]],
            ),
        }
    }

    /// Threads stay with a line when they write.
    fn divides(&self, spec: &KernelSpec) -> bool {
        self.pass.is_closing() || (4 * spec.warps).is_multiple_of(spec.lines / 2)
    }

    fn cost(&self, spec: &KernelSpec, max_warps: usize) -> f64 {
        let lines = spec.lines;
        if self.few {
            return (spec.units[0] * 100 + spec.units[1] * 10 + lines) as f64;
        }
        // Neighbouring lines fill segments of 128 bytes.
        let segments = match lines {
            2 => 1.25,
            4 => 1.06,
            _ => 1.0,
        };
        let cached = if spec.groups == 0 { 1.3 } else { 1.0 };
        let turns = self.side_by_side.div_ceil(lines as u64) * lines as u64;
        let padding = turns as f64 / self.side_by_side as f64;
        let cost = match self.three_steps() {
            Some(three) => three.cost(spec, max_warps),
            None => block::cost(spec, self.two_steps(), lines, max_warps),
        };
        cached * segments * padding * cost
    }

    fn for_few(&self, spec: &KernelSpec) -> Option<KernelSpec> {
        let family = LongPass { few: true, ..*self }.into();
        KernelSpec { family, ..*spec }.ranked().next()
    }

    fn table_bytes(&self, number: Number) -> usize {
        match self.three_steps() {
            Some(three) => three.table_bytes(number),
            None => table_bytes(number, self.two_steps()),
        }
    }

    fn group_bytes(&self, spec: &KernelSpec) -> usize {
        let columns = self.columns(1);
        let pitch = match self.pass.is_last() {
            true => next_with(columns, 2, 4),
            false => next_with(columns, 1, 2),
        };
        let line = next_with(self.steps[0] * pitch, 4, 8);
        // A byte more for every output of a last step that is a product.
        let wide = !self.pass.is_closing() && is_matrix(self.steps[2]) && spec.number.digits() == 8;
        let tops = if wide { line } else { 0 };
        (spec.lines * (16 * line + 2 * 16 + 2 * HEADER_BYTES + tops)).next_multiple_of(16)
    }

    fn layout(&self, _: bool) -> String {
        match self.side_by_side {
            MANY_LINES.. => "many side by side".into(),
            lines => format!("{lines} side by side"),
        }
    }

    fn type_name(&self, spec: &KernelSpec) -> String {
        let [a, b, _] = spec.units;
        let [first, middle, last] = self.steps;
        let (columns, pass, number) = (
            self.columns(1),
            self.pass.names().0.to_uppercase(),
            spec.number.type_name(),
        );
        let shape = format!(
            "bailey::LongShape<{first}, {columns}, {}, {a}, {b}, bailey::Pass::{pass}, {}, {number}>",
            spec.lines, spec.groups
        );
        match self.three_steps() {
            None => shape,
            Some(_) => format!("bailey::OfThree<{shape}, {first}, {middle}, {last}>"),
        }
    }
}
