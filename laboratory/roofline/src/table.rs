//! Tables: what every result can be shown as, for terminals, documents, programs and spreadsheets.

use crate::mode::Mode;
use crate::rate::Rate;
use serde::Serialize;

/// One cell: its text, and the number behind it in units of its column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// For people.
    pub text: String,
    /// For programs; none for words, and for what is not known.
    pub value: Option<f64>,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            value: None,
        }
    }

    /// A number with so many significant digits.
    pub fn number(value: f64, digits: usize) -> Cell {
        Cell {
            text: significant(value, digits),
            value: Some(value),
        }
    }

    /// A whole number.
    pub fn count(value: f64) -> Cell {
        Cell {
            text: format!("{value:.0}"),
            value: Some(value),
        }
    }

    /// A number, or that it is not known.
    pub fn known(value: Option<f64>, digits: usize) -> Cell {
        match value {
            Some(value) => Cell::number(value, digits),
            None => Cell::text("not known"),
        }
    }
}

/// A table that says what it is of and rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// For programs.
    pub name: &'static str,
    /// For people.
    pub title: String,
    /// Whose numbers.
    pub mode: Mode,
    /// What they rest on.
    pub assumptions: Vec<String>,
    /// Heads of columns, with units.
    pub columns: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Without rows.
    pub fn new(
        name: &'static str,
        title: impl Into<String>,
        mode: Mode,
        columns: &[&str],
    ) -> Table {
        Table {
            name,
            title: title.into(),
            mode,
            assumptions: Vec::new(),
            columns: columns.iter().map(|column| (*column).into()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds assumptions that are not there yet.
    pub fn assume(&mut self, assumptions: impl IntoIterator<Item = String>) {
        for assumption in assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
    }

    /// Heads and rows as texts.
    pub fn texts(&self) -> Vec<Vec<String>> {
        let row = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.clone()).collect();
        let rows = self.rows.iter().map(row);
        std::iter::once(self.columns.clone()).chain(rows).collect()
    }

    /// In markdown, with title and assumptions.
    pub fn markdown(&self) -> String {
        let line = |cells: &Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines: Vec<String> = self.texts().iter().map(line).collect();
        lines.insert(1, format!("|{}", "---|".repeat(self.columns.len())));
        let assumptions = if self.assumptions.is_empty() {
            String::new()
        } else {
            format!("\n\nAssumed: {}.", self.assumptions.join("; "))
        };
        format!(
            "### {} ({})\n\n{}{assumptions}",
            self.title,
            self.mode,
            lines.join("\n")
        )
    }

    /// As comma-separated values: numbers with all digits. The first column is the mode.
    pub fn csv(&self) -> String {
        let quoted = |text: &str| {
            if text.contains([',', '"', '\n']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.to_string()
            }
        };
        let heads: Vec<String> = self.columns.iter().map(|head| quoted(head)).collect();
        let mut lines = vec![format!("mode,{}", heads.join(","))];
        for row in &self.rows {
            let cell = |cell: &Cell| match cell.value {
                Some(value) => value.to_string(),
                None => quoted(&cell.text),
            };
            let cells: Vec<String> = row.iter().map(cell).collect();
            lines.push(format!("{},{}", self.mode, cells.join(",")));
        }
        lines.join("\n")
    }
}

/// A number with so many significant digits, without a power of ten where it can be read.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 {
            "0".into()
        } else {
            "∞".into()
        };
    }
    let exponent = format!("{value:.*e}", digits - 1);
    let power: i32 = exponent
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0);
    if !(-3..6).contains(&power) {
        return exponent;
    }
    let decimals = (digits as i32 - 1 - power).max(0) as usize;
    format!("{value:.decimals$}")
}

/// Seconds for people.
pub fn milliseconds(seconds: f64) -> String {
    format!("{} ms", significant(seconds * 1e3, 3))
}

/// The unit that a rate is shown in, and its size.
pub fn shown_in(rate: Rate) -> (&'static str, f64) {
    match rate {
        Rate::Bandwidth => ("TB/s", 1e12),
        Rate::Fp64 | Rate::Fp32 => ("TFLOP/s", 1e12),
        Rate::Int32 => ("TOP/s", 1e12),
        Rate::IntegerInstructions => ("T/s", 1e12),
        Rate::Fp8 => ("PFLOP/s", 1e15),
        Rate::Int8 => ("POP/s", 1e15),
    }
}

/// A rate for people.
pub fn rate_text(rate: Rate, value: f64) -> String {
    let (unit, size) = shown_in(rate);
    let text = significant(value / size, 3);
    match rate {
        Rate::IntegerInstructions => format!("{text}·10^12 a second"),
        _ => format!("{text} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_significant() {
        for (value, digits, text) in [
            (12.884, 3, "12.9"),
            (99.96, 3, "100"),
            (0.5694, 2, "0.57"),
            (172.75, 2, "173"),
            (1.5e13, 2, "1.5e13"),
            (3.5e-12, 2, "3.5e-12"),
            (0.0, 3, "0"),
            (f64::INFINITY, 3, "∞"),
        ] {
            assert_eq!(significant(value, digits), text);
        }
    }

    #[test]
    fn tables_are_written_in_three_ways() {
        let mut table = Table::new("t", "A title", Mode::Printed, &["a, b", "ms"]);
        table
            .rows
            .push(vec![Cell::text("x \"y\""), Cell::number(12.884, 3)]);
        table.rows.push(vec![Cell::text("z"), Cell::known(None, 3)]);
        table.assume(["one".to_string(), "one".to_string(), "two".to_string()]);
        assert_eq!(
            table.markdown(),
            "### A title (printed)\n\n| a, b | ms |\n|---|---|\n| x \"y\" | 12.9 |\n| z | not known |\n\nAssumed: one; two."
        );
        assert_eq!(
            table.csv(),
            "mode,\"a, b\",ms\nprinted,\"x \"\"y\"\"\",12.884\nprinted,z,not known"
        );
    }
}
