//! What the user gets: tables, one JSON object per line, record files, progress bars.

use crate::failure::Failure;
use crate::{outputs, standard_output};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Writes a record as JSON to a file, which is either complete or untouched.
pub fn write_json(path: &Path, record: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(record)?;
    outputs::write(path, |file| writeln!(file, "{text}"))
}

/// Writes text to a file, which is either complete or untouched, and says so.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    outputs::write(path, |file| file.write_all(text.as_bytes()))?;
    note(&format!("written {}", path.display()));
    Ok(())
}

/// Writes text to standard error. Errors of a closed stream are ignored; `eprintln!` would panic.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
}

/// The text with control characters spelled out: names of files may have some, and a terminal would obey them.
fn printable(text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => printed.push(character),
            _ if character.is_control() => printed.extend(character.escape_default()),
            _ => printed.push(character),
        }
    }
    printed
}

/// Writes one line of text to standard output.
pub fn say(text: &str) -> Result<(), Failure> {
    standard_output::write_line(&printable(text))
}

/// Writes one JSON object on one line.
pub fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    say(&serde_json::to_string(value)?)
}

/// A bar on standard error; nothing is drawn there when it is not a terminal, or next to JSON.
pub fn progress(steps: usize, what: &str, json: bool) -> ProgressBar {
    let target = if json {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
    let style = ProgressStyle::with_template("{msg:<36} {bar:30} {pos}/{len} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.set_message(what.to_string());
    bar
}

/// The same for bytes that are copied.
pub fn bytes_progress(json: bool) -> ProgressBar {
    let bar = progress(0, "", json);
    let style = ProgressStyle::with_template(
        "{msg:<10} {bar:30} {binary_bytes}/{binary_total_bytes} {elapsed}",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar
}

/// Rows of text in aligned columns: the first to the left, all others to the right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let lengths = rows.iter().filter_map(|row| row.get(column));
        lengths.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        cells.join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A relative error with as many digits as make sense.
pub fn error_text(error: f64) -> String {
    format!("{error:.2e}")
}

/// A bound with as many digits, rounded up: what is printed is proven, too.
pub fn bound_text(bound: f64) -> String {
    ozfft::bound_text(bound, 2)
}

/// Seconds for people.
pub fn seconds_text(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.1} us", seconds * 1e6),
        ..1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_digits_at_every_size() {
        let texts = [2.5e-6, 9.9e-4, 0.0125, 3.0].map(seconds_text);
        assert_eq!(texts, ["2.5 us", "990.0 us", "12.5 ms", "3.00 s"]);
    }

    #[test]
    fn columns_are_aligned_by_their_widest_cell() {
        let rows = [
            vec!["a".into(), "10".into()],
            vec!["long".into(), "9".into()],
        ];
        assert_eq!(aligned(&rows), "a     10\nlong   9");
    }
}
