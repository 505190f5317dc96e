//! The list of claims (`claims.json`), worked out: every claim with its numbers from records and model, and its verdict.

use super::expression::{filled, shown, value};
use super::judge::{Rule, Verdict};
use super::quantities::Quantities;
use crate::failure::Failure;
use roofline::printed::Printed;
use roofline::table::significant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DATA: &str = include_str!("claims.json");

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub introduction: Vec<String>,
    /// Commands by the letter that rows name them with.
    pub commands: BTreeMap<String, Command>,
    pub sections: Vec<Section>,
    pub slips: Slips,
}

/// What shows a row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    pub command: String,
    /// The record that it wrote; none for commands without one.
    pub record: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub title: String,
    pub text: Option<String>,
    claims: Vec<Claim>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    id: String,
    place: String,
    claim: String,
    printed: Cell,
    /// The paper's model for the machine that was measured, where the claim depends on one.
    model: Option<Cell>,
    measured: Cell,
    rule: String,
    commands: Vec<String>,
    note: Option<String>,
}

/// Formulas, and how they are written. Without a text they are listed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    text: Option<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    unit: String,
}

/// Where the paper's own numbers contradict each other, by what went wrong: `numbers` are entries of `roofline::printed`, the first the one
/// that others follow from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slips {
    pub title: String,
    pub text: String,
    pub slips: Vec<Slip>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slip {
    id: String,
    claim: String,
    note: String,
    pub numbers: Vec<(String, String)>,
}

/// A claim, judged.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub section: String,
    pub id: String,
    pub place: String,
    pub claim: String,
    pub printed: String,
    pub model: String,
    pub measured: String,
    pub commands: Vec<String>,
    pub verdict: Verdict,
    pub note: String,
    /// What it was compared with: of the model for this machine, or as printed.
    pub reference: Vec<f64>,
    pub from_model: bool,
    pub found: Vec<f64>,
    pub rule: String,
    /// How far the farthest value is off, where that is a factor.
    pub factor: Option<f64>,
}

impl Cell {
    fn numbers(&self, quantities: &Quantities) -> Result<Vec<f64>, Failure> {
        let numbers = self.values.iter().map(|formula| value(quantities, formula));
        numbers.collect()
    }

    fn written(&self, quantities: &Quantities) -> Result<String, Failure> {
        if let Some(text) = &self.text {
            return filled(quantities, text);
        }
        let numbers = self.numbers(quantities)?;
        let percent = self.unit == "%";
        let size = if percent { 100.0 } else { 1.0 };
        let numbers: Vec<String> = numbers.iter().map(|n| shown(size * n, 3)).collect();
        Ok(format!("{} {}", numbers.join("; "), self.unit)
            .trim_end()
            .into())
    }
}

#[cfg(test)]
impl File {
    /// The formulas of what was measured, by the claim.
    pub fn measured(&self) -> impl Iterator<Item = (&str, &[String])> {
        let claims = self.sections.iter().flat_map(|section| &section.claims);
        claims.map(|claim| (claim.id.as_str(), claim.measured.values.as_slice()))
    }
}

/// The list as it is written, the texts of sections with their numbers.
pub fn file(quantities: &Quantities) -> Result<File, Failure> {
    let read: Result<File, _> = serde_json::from_str(DATA);
    let mut file = read.map_err(|error| Failure::Check(format!("claims.json: {error}")))?;
    for text in file.sections.iter_mut().filter_map(|of| of.text.as_mut()) {
        *text = filled(quantities, text)?;
    }
    Ok(file)
}

/// All claims of a file, in its order.
pub fn rows(file: &File, quantities: &Quantities) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for section in &file.sections {
        for claim in &section.claims {
            rows.push(judged(&section.title, claim, quantities)?);
        }
    }
    let printed = roofline::printed::all()?;
    for slip in &file.slips.slips {
        rows.push(inconsistent(&file.slips.title, slip, &printed)?);
    }
    Ok(rows)
}

fn judged(section: &str, claim: &Claim, quantities: &Quantities) -> Result<Row, Failure> {
    let wrong = |reason: String| Failure::Check(format!("claims.json, {}: {reason}", claim.id));
    let rule = Rule::parse(&claim.rule).map_err(wrong)?;
    let found = claim.measured.numbers(quantities)?;
    let modelled = claim
        .model
        .as_ref()
        .filter(|model| !model.values.is_empty());
    let reference = modelled.unwrap_or(&claim.printed).numbers(quantities)?;
    let (verdict, factor) = rule.judge(&reference, &found).map_err(wrong)?;
    let written = |cell: &Cell| cell.written(quantities);
    Ok(Row {
        section: section.into(),
        id: claim.id.clone(),
        place: claim.place.clone(),
        claim: claim.claim.clone(),
        printed: written(&claim.printed)?,
        model: match &claim.model {
            Some(model) => written(model)?,
            None if found.is_empty() => "—".into(),
            None => "as printed".into(),
        },
        measured: written(&claim.measured)?,
        commands: claim.commands.clone(),
        verdict,
        note: match &claim.note {
            Some(note) => filled(quantities, note)?,
            None => String::new(),
        },
        reference,
        from_model: modelled.is_some(),
        found,
        rule: claim.rule.clone(),
        factor,
    })
}

fn inconsistent(section: &str, slip: &Slip, printed: &[Printed]) -> Result<Row, Failure> {
    let found = |(place, what): &(String, String)| {
        let found = printed
            .iter()
            .find(|number| number.place == place && number.what == what);
        found.ok_or_else(|| {
            Failure::Check(format!(
                "claims.json, {}: the paper has no number {place:?}, {what:?}",
                slip.id
            ))
        })
    };
    let numbers: Result<Vec<&Printed>, Failure> = slip.numbers.iter().map(found).collect();
    let numbers = numbers?;
    let first = numbers.first().ok_or_else(|| {
        Failure::Check(format!("claims.json, {}: a slip without numbers", slip.id))
    })?;
    let with_unit = |value: f64, digits: usize| {
        format!("{} {}", significant(value, digits), first.unit)
            .trim_end()
            .to_string()
    };
    let others = match numbers.len() {
        1 => String::new(),
        2 => "; one more number".into(),
        count => format!("; {} more numbers", count - 1),
    };
    let worked_out = first
        .computed
        .map(|value| with_unit(value, first.digits.max(3)));
    Ok(Row {
        section: section.into(),
        id: slip.id.clone(),
        place: first.place.into(),
        claim: slip.claim.clone(),
        printed: format!(
            "{}: {}{others}",
            first.what,
            with_unit(first.value, first.digits)
        ),
        model: format!("{} from {}", worked_out.unwrap_or_default(), first.how),
        measured: "—".into(),
        commands: vec!["n".into()],
        verdict: Verdict::Inconsistent,
        note: slip.note.clone(),
        reference: Vec::new(),
        from_model: false,
        found: Vec::new(),
        rule: "stated inconsistent".into(),
        factor: None,
    })
}
