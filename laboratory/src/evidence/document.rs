//! The page: as Markdown (laboratory/docs/evidence.md) and as the part of the report that has the claims.

use super::claims::{File, Row};
use super::judge::{FACTOR, SEVERAL, Verdict};
use crate::report_page::text::{inline, rows_html};
use roofline::table::significant;

const COLUMNS: [&str; 6] = ["claim", "printed", "expected", "measured", "by", "verdict"];

/// Rows of a section, in the order of the file.
fn of<'a>(rows: &'a [Row], section: &'a str) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row.section == section)
}

fn sections(file: &File) -> Vec<(&str, Option<&str>)> {
    let sections = file.sections.iter();
    let slips = (file.slips.title.as_str(), Some(file.slips.text.as_str()));
    let named = sections.map(|section| (section.title.as_str(), section.text.as_deref()));
    named.chain([slips]).collect()
}

/// Verdict, how far off, and why.
fn conclusion(row: &Row) -> String {
    let word = row.verdict.word();
    let factor = match (row.verdict, row.factor) {
        (Verdict::Holds, Some(factor)) if (1.005..=FACTOR).contains(&factor) => {
            format!(" (within {})", significant(factor, 3))
        }
        (Verdict::Missed | Verdict::Exceeded, Some(factor)) => {
            format!(" ({} times)", significant(factor, 3))
        }
        _ => String::new(),
    };
    match row.note.is_empty() {
        true => format!("**{word}**{factor}"),
        false => format!("**{word}**{factor}: {}", row.note),
    }
}

fn by(row: &Row) -> String {
    let letters: Vec<String> = row
        .commands
        .iter()
        .map(|letter| format!("({letter})"))
        .collect();
    match letters.is_empty() {
        true => "—".into(),
        false => letters.join(" "),
    }
}

/// How many rows of every section have which verdict.
fn summary(file: &File, rows: &[Row]) -> Vec<Vec<String>> {
    let count = |section: Option<&str>, verdict: Verdict| {
        let matches = |row: &&Row| {
            row.verdict == verdict && section.is_none_or(|section| row.section == section)
        };
        rows.iter().filter(matches).count()
    };
    let line = |name: &str, section: Option<&str>| {
        let counts = Verdict::ALL.map(|verdict| match count(section, verdict) {
            0 => String::new(),
            some => some.to_string(),
        });
        [vec![name.to_string()], counts.to_vec()].concat()
    };
    let mut lines: Vec<Vec<String>> = sections(file)
        .iter()
        .map(|(title, _)| line(title, Some(title)))
        .collect();
    lines.push(line("all", None));
    lines
}

fn cells(row: &Row) -> [String; 5] {
    [
        row.printed.clone(),
        row.model.clone(),
        row.measured.clone(),
        by(row),
        conclusion(row),
    ]
}

/// The document.
pub fn markdown(file: &File, rows: &[Row]) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let head = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.to_string()).collect();
        format!("{}\n|{}", line(&cells), "---|".repeat(cells.len()))
    };
    let mut parts = vec!["# The paper's claims, and what was measured".to_string()];
    parts.extend(file.introduction.iter().cloned());
    parts.push("## Verdicts".into());
    let mut words = vec![head(&["word", "means"])];
    words.extend(Verdict::ALL.map(|verdict| {
        line(&[
            format!("**{}**", verdict.word()),
            verdict.definition().into(),
        ])
    }));
    parts.push(words.join("\n"));
    parts.push(SEVERAL.into());
    let mut heads = vec!["claims about"];
    heads.extend(Verdict::ALL.map(Verdict::word));
    let mut counts = vec![head(&heads)];
    counts.extend(summary(file, rows).iter().map(|cells| line(cells)));
    parts.push(counts.join("\n"));
    parts.push("![Measured against expected](evidence.svg)".into());
    parts.push(crate::plot::evidence::left_out(rows));
    parts.push(commands(file).join("\n"));
    for (title, text) in sections(file) {
        parts.push(format!("## {title}"));
        parts.extend(text.map(String::from));
        let mut lines = vec![head(&COLUMNS)];
        for row in of(rows, title) {
            let claim = format!("<a id=\"{}\"></a>{} ({})", row.id, row.claim, row.place);
            lines.push(line(&[vec![claim], cells(row).to_vec()].concat()));
        }
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n") + "\n"
}

/// What the letters of the rows stand for, as a list.
fn commands(file: &File) -> Vec<String> {
    let mut lines =
        vec!["Commands that rows name by a letter, and the records that they wrote:\n".to_string()];
    lines.extend(
        file.commands
            .iter()
            .map(|(letter, command)| match &command.record {
                Some(record) => {
                    let name = record.rsplit('/').next().unwrap_or(record);
                    format!(
                        "- ({letter}) `{}`, [{name}](../../{record})",
                        command.command
                    )
                }
                None => format!("- ({letter}) `{}`", command.command),
            }),
    );
    lines
}

/// For the report's page, which has a heading of its own.
pub fn html(file: &File, rows: &[Row]) -> String {
    let mut html: String = file
        .introduction
        .iter()
        .map(|text| format!("<p>{}</p>\n", inline(text)))
        .collect();
    let words = Verdict::ALL.map(|verdict| {
        vec![
            format!("<strong>{}</strong>", verdict.word()),
            inline(verdict.definition()),
        ]
    });
    html.push_str(&rows_html(
        "stacked",
        &["word".into(), "means".into()],
        &words,
    ));
    html.push_str(&format!("<p>{}</p>\n", inline(SEVERAL)));
    for (title, text) in sections(file) {
        html.push_str(&format!("<h3>{}</h3>\n", inline(title)));
        html.extend(text.map(|text| format!("<p>{}</p>\n", inline(text))));
        let heads = COLUMNS.map(String::from);
        let lines: Vec<Vec<String>> = of(rows, title)
            .map(|row| {
                let claim = inline(&format!("{} ({})", row.claim, row.place));
                let rest = cells(row).map(|cell| inline(&cell));
                [vec![claim], rest.to_vec()].concat()
            })
            .collect();
        html.push_str(&rows_html("stacked", &heads, &lines));
    }
    let letters = file
        .commands
        .iter()
        .map(|(letter, command)| format!("({letter}) <code>{}</code>", command.command));
    html.push_str(&format!(
        "<p>{}</p>\n",
        letters.collect::<Vec<_>>().join("; ")
    ));
    html
}
