//! Kernels in words: names, what they are for, and their parameters.

use super::{Family, KernelSpec};

impl KernelSpec {
    /// The kernel's name, without and with conversion instructions.
    pub fn name(&self, conversions: bool) -> String {
        let traits = self.traits();
        let (number, [before, after]) = (self.number.prefix(), traits.labels);
        let steps = self.joined_steps("x", "_");
        let separator = if after.is_empty() { "" } else { "_" };
        let without_parameters = match self.family {
            Family::Block(_) => self.usual(),
            Family::Real(_) | Family::ThreeSteps(_) => self.ranked().next(),
            Family::LongPass(_) | Family::TwoPasses(_) => None,
        };
        let parameters = match without_parameters == Some(*self) {
            true => String::new(),
            false => self.parameter_label(),
        };
        let kilobytes = match self.family {
            // Kernels that need no more are in the image once.
            Family::Block(_) if self.shared_bytes() <= 99 << 10 => 99,
            _ => self.kilobytes,
        };
        let last = match self.family {
            Family::TwoPasses(_) => format!("_{kilobytes}{parameters}"),
            _ => format!("{parameters}_{kilobytes}"),
        };
        let conversions = if conversions { "_conversions" } else { "" };
        format!("bailey_{number}{before}{steps}{separator}{after}{last}{conversions}")
    }

    fn joined_steps(&self, between_steps: &str, between_passes: &str) -> String {
        let passes = self.rules().steps();
        let passes: Vec<String> = passes
            .iter()
            .map(|steps| joined(steps, between_steps))
            .collect();
        passes.join(between_passes)
    }

    fn parameter_label(&self) -> String {
        let mut label = format!("_{}", self.counted_lines().0);
        if !self.traits().warps.is_empty() {
            label += &format!("_{}", self.warps);
        }
        if !self.counted_units().is_empty() {
            label += &format!("_{}", joined(self.counted_units(), ""));
        }
        label + &format!("_{}", self.groups)
    }

    /// What it is for, whatever its parameters: what those of the fastest are kept by.
    pub fn purpose(&self) -> String {
        let what = self.traits().what;
        let steps = self.joined_steps(" x ", " and ");
        let number = self.number.description();
        let layout = self.rules().layout(self.strided);
        format!(
            "{what} of {steps} points, {number}, {layout}, {} KB",
            self.kilobytes
        )
    }

    /// The parameters, in words.
    pub fn choice(&self) -> String {
        let (lines, what) = self.counted_lines();
        let mut words = vec![format!("{lines} {what}")];
        if !self.traits().warps.is_empty() {
            words.push(format!("{} warps", self.warps));
        }
        if let [units @ .., last] = self.counted_units() {
            words.push(format!("{} and {last} units", joined(units, ", ")));
        }
        words.push(format!("{} groups", self.groups));
        words.join(", ")
    }

    /// With the parameters of a choice: its numbers, in the order of its words.
    pub(crate) fn with_choice(&self, numbers: &[usize]) -> Option<Self> {
        let [lines, parameters @ .., groups] = numbers else {
            return None;
        };
        let (warps, units) = match self.traits().warps {
            [] => (None, parameters),
            _ => (parameters.first(), parameters.get(1..)?),
        };
        let mut all_units = [1; 3];
        all_units.get_mut(..units.len())?.copy_from_slice(units);
        let lines = lines * self.traits().lines_together;
        let spec = self.with(lines, all_units);
        let warps = *warps.unwrap_or(&spec.warps);
        let spec = KernelSpec {
            warps,
            groups: *groups,
            ..spec
        };
        (spec.counted_units() == units).then_some(spec)
    }

    /// Lines, or pairs of them, and which of both.
    fn counted_lines(&self) -> (usize, &'static str) {
        match self.traits().lines_together {
            1 => (self.lines, "lines"),
            each => (self.lines / each, "pairs"),
        }
    }

    /// Units that are a choice.
    fn counted_units(&self) -> &[usize] {
        &self.units[..self.traits().chosen_units]
    }
}

fn joined(numbers: &[usize], separator: &str) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(separator)
}
