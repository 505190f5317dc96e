//! Results of the model for people, programs and spreadsheets.

use crate::failure::Failure;
use ozfft_measure::inputs::read_text;
use ozfft_measure::report::{aligned, say, say_json, write_text};
use roofline::{Machine, Mode, Table, Verdict, document};
use std::path::Path;

/// How a table is written.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    Text,
    Json,
    Csv,
}

impl Form {
    pub fn of(json: bool, csv: bool) -> Form {
        match (json, csv) {
            (true, _) => Form::Json,
            (_, true) => Form::Csv,
            _ => Form::Text,
        }
    }
}

/// A table with its mode and what it rests on.
pub fn table(table: &Table, form: Form) -> Result<(), Failure> {
    match form {
        Form::Json => say_json(table)?,
        Form::Csv => say(&table.csv())?,
        Form::Text => {
            say(&format!("{} ({})\n", table.title, table.mode))?;
            say(&aligned(&table.texts()))?;
            assumptions(&table.assumptions)?;
        }
    }
    Ok(())
}

fn assumptions(assumptions: &[String]) -> Result<(), Failure> {
    if assumptions.is_empty() {
        return Ok(());
    }
    say("\nAssumed:")?;
    for assumption in assumptions {
        say(&format!("- {assumption}"))?;
    }
    Ok(())
}

/// A verdict in words.
pub fn words(verdict: &Verdict, machine: &Machine, json: bool) -> Result<(), Failure> {
    if json {
        say_json(verdict)?;
        return Ok(());
    }
    say(&format!("{} (mode {})\n", verdict.text, verdict.mode))?;
    for path in &verdict.paths {
        say(&format!("- {}", path.text))?;
    }
    // Notes are about public figures, which the paper's mode does not use.
    if verdict.mode != Mode::Printed {
        for note in &machine.notes {
            say(&format!("\n{note}"))?;
        }
    }
    assumptions(&verdict.assumptions)
}

/// Replaces what is between the markers of a file.
pub fn write_between_markers(path: &Path, made: &str) -> Result<(), Failure> {
    let text = read_text(path)?;
    let replaced = document::replaced(&text, made).ok_or_else(|| Failure::Content {
        path: path.to_path_buf(),
        reason: format!(
            "the lines {} and {} are missing",
            document::BEGIN,
            document::END
        ),
    })?;
    write_text(path, &replaced)?;
    Ok(())
}
