//! The tables of laboratory/docs/roofline.md. They depend on nothing but this crate and the records in it, so a test holds the document to them.

use crate::error::RooflineError;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::printed;
use crate::tables::{self, Question};
use crate::verdict;

/// What is between these lines of a file is made by `ozfft-lab model document`.
pub const BEGIN: &str = "<!-- made by ozfft-lab model: begin -->";
/// See above.
pub const END: &str = "<!-- made by ozfft-lab model: end -->";

/// A text with what is between the markers replaced, if it has them.
pub fn replaced(text: &str, tables: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{tables}\n\n{END}{after}"))
}

fn of(names: &[&str], mode: Mode) -> Result<Question, RooflineError> {
    let machines: Result<Vec<Machine>, _> = names.iter().map(|name| Machine::named(name)).collect();
    Ok(Question {
        machines: machines?,
        ..Question::usual(mode, 1024)?
    })
}

/// All tables, in markdown.
pub fn tables() -> Result<String, RooflineError> {
    let usual = |mode| Question::usual(mode, 1024);
    let (printed, corrected, measured) = (
        usual(Mode::Printed)?,
        usual(Mode::Corrected)?,
        usual(Mode::Measured)?,
    );
    let b300 = ["b300"];
    let two = of(&["b300", "h200"], Mode::Corrected)?;
    let parts = [
        verdict::table(&printed)?,
        verdict::table(&corrected)?,
        verdict::table(&measured)?,
        tables::floors(&printed)?,
        tables::floors(&two)?,
        tables::floors(&measured)?,
        tables::wall_times(&of(&b300, Mode::Printed)?)?,
        tables::wall_times(&two)?,
        tables::wall_times(&measured)?,
        tables::comparison(&measured)?,
        tables::constants(&measured)?,
        tables::regimes(&of(&b300, Mode::Printed)?)?,
        tables::regimes(&two)?,
        tables::regimes(&measured)?,
        tables::widths(&printed)?,
        tables::widths(&corrected)?,
        tables::widths(&measured)?,
        tables::beneficiaries(&printed)?,
        tables::beneficiaries(&two)?,
        tables::beneficiaries(&measured)?,
        tables::single(&printed)?,
        tables::single(&corrected)?,
        printed::table(false)?,
        tables::machines(&corrected),
    ];
    Ok(parts.map(|table| table.markdown()).join("\n\n"))
}
