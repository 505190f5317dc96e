//! `ozfft-lab evidence`: the claims of the paper and of the posts one by one, beside what was measured.
//!
//! ```text
//! claims.json     the list: place, printed value, formulas for what is expected and measured, rule, command, reason
//! quantities.rs   names of quantities: committed records and the model
//! expression.rs   formulas over them
//! judge.rs        rules and verdicts
//! claims.rs       the list, worked out
//! document.rs     laboratory/docs/evidence.md, and the same for the report
//! ```

mod claims;
mod document;
mod expression;
mod judge;
mod quantities;
mod tables;

pub use claims::Row;
pub use judge::Verdict;

use crate::failure::Failure;
use clap::Args;
use ozfft_measure::report::{say, write_text};
use quantities::Quantities;
use std::path::PathBuf;

/// Options of `ozfft-lab evidence`.
#[derive(Debug, Args)]
pub struct EvidenceArguments {
    /// The document to write, such as laboratory/docs/evidence.md
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The figure to write: what was measured against what is expected
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the rows as JSON, one object a line, with the numbers that verdicts follow from
    #[arg(long)]
    json: bool,
}

/// Runs the command. Without options the document goes to standard output.
pub fn run(arguments: &EvidenceArguments) -> Result<(), Failure> {
    let quantities = Quantities::committed()?;
    let file = claims::file(&quantities)?;
    let rows = claims::rows(&file, &quantities)?;
    if let Some(path) = &arguments.out {
        write_text(path, &document::markdown(&file, &rows))?;
    }
    if let Some(path) = &arguments.svg {
        write_text(path, &crate::plot::evidence::picture(&rows)?)?;
    }
    if arguments.json {
        for row in &rows {
            say(&serde_json::to_string(row)?)?;
        }
    } else if arguments.out.is_none() && arguments.svg.is_none() {
        say(&document::markdown(&file, &rows))?;
    }
    Ok(())
}

/// All claims, judged.
#[cfg(test)]
pub fn rows() -> Result<Vec<Row>, Failure> {
    let quantities = Quantities::committed()?;
    claims::rows(&claims::file(&quantities)?, &quantities)
}

/// The claims for the report's page.
pub fn html() -> Result<String, Failure> {
    let quantities = Quantities::committed()?;
    let file = claims::file(&quantities)?;
    let rows = claims::rows(&file, &quantities)?;
    Ok(document::html(&file, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn list() -> claims::File {
        let quantities = Quantities::committed().expect("records");
        claims::file(&quantities).expect("the list")
    }

    #[test]
    fn the_committed_page_and_figure_are_those_of_list_and_records() {
        let file = list();
        let rows = rows().expect("rows");
        let figure = crate::plot::evidence::picture(&rows).expect("a figure");
        for (name, made) in [
            ("evidence.md", document::markdown(&file, &rows)),
            ("evidence.svg", figure),
        ] {
            let path = format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"));
            let written = std::fs::read_to_string(path).expect("a committed file");
            assert!(
                written == made,
                "laboratory/docs/{name} is out of date; make it again with `ozfft-lab evidence --out laboratory/docs/evidence.md --svg \
                 laboratory/docs/evidence.svg`"
            );
        }
    }

    #[test]
    fn names_of_rows_are_unique_and_commands_exist() {
        let file = list();
        let mut names = BTreeSet::new();
        for row in rows().expect("rows") {
            assert!(names.insert(row.id.clone()), "{} is there twice", row.id);
            for letter in &row.commands {
                assert!(file.commands.contains_key(letter), "{}: ({letter})", row.id);
            }
            let decided = !matches!(row.verdict, Verdict::NoMachine);
            assert!(
                !decided || !row.commands.is_empty(),
                "{} has no command",
                row.id
            );
        }
    }

    #[test]
    fn records_that_commands_wrote_are_committed() {
        for command in list().commands.values() {
            let Some(record) = &command.record else {
                continue;
            };
            let path = format!("{}/../{record}", env!("CARGO_MANIFEST_DIR"));
            assert!(std::path::Path::new(&path).is_file(), "{record}");
        }
    }

    #[test]
    fn every_contradiction_of_the_paper_belongs_to_one_slip() {
        let mut grouped = Vec::new();
        for slip in &list().slips.slips {
            grouped.extend(slip.numbers.clone());
        }
        let mut found: Vec<(String, String)> = roofline::printed::all()
            .expect("numbers")
            .into_iter()
            .filter(|number| number.contradiction.is_some())
            .map(|number| (number.place.into(), number.what.into()))
            .collect();
        grouped.sort();
        found.sort();
        assert_eq!(grouped, found);
    }

    /// Two rows had the number 1 where their records list the share of hidden memory as not measured, and it made both *borderline*.
    #[test]
    fn what_was_measured_is_of_a_record_or_a_formula_and_never_a_number_in_the_list() {
        for (id, formulas) in list().measured() {
            for formula in formulas {
                let names = expression::names(formula);
                assert!(names > 0, "{id}: {formula:?} names no quantity");
            }
        }
    }

    #[test]
    fn verdicts_that_are_stated_say_why() {
        for row in rows().expect("rows") {
            let stated = row.rule.starts_with("stated") && row.verdict != Verdict::Inconsistent;
            let says = !row.note.is_empty() || row.verdict == Verdict::NoMachine;
            assert!(!stated || says, "{}", row.id);
        }
    }
}
