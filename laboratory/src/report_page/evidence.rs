//! The paper's claims one by one, beside what was measured. They are data (`evidence.json`), of which the page and laboratory/docs/evidence.md
//! are made; cells and lines may have code, emphasis and links, as markdown writes them.

use super::text::{inline, rows_html};
use crate::failure::Failure;
use serde::Deserialize;

const DATA: &str = include_str!("evidence.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    title: String,
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Block {
    Heading {
        heading: String,
    },
    Text {
        text: String,
    },
    Table {
        columns: Vec<String>,
        rows: Vec<Vec<String>>,
    },
}

fn evidence() -> Result<Evidence, Failure> {
    serde_json::from_str(DATA).map_err(|error| {
        Failure::Check(format!(
            "evidence.json, which the report is made from: {error}"
        ))
    })
}

/// For the page, which has a heading of its own.
pub fn html() -> Result<String, Failure> {
    let block = |block: &Block| match block {
        Block::Heading { heading } => format!("<h3>{}</h3>\n", inline(heading)),
        Block::Text { text } => format!("<p>{}</p>\n", inline(text)),
        Block::Table { columns, rows } => {
            let cells = |row: &[String]| row.iter().map(|cell| inline(cell)).collect::<Vec<_>>();
            let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
            rows_html("stacked", &cells(columns), &rows)
        }
    };
    Ok(evidence()?.blocks.iter().map(block).collect())
}

/// The document.
pub fn document() -> Result<String, Failure> {
    let evidence = evidence()?;
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let block = |block: &Block| match block {
        Block::Heading { heading } => format!("## {heading}"),
        Block::Text { text } => text.clone(),
        Block::Table { columns, rows } => {
            let mut lines = vec![line(columns), format!("|{}", "---|".repeat(columns.len()))];
            lines.extend(rows.iter().map(|row| line(row)));
            lines.join("\n")
        }
    };
    let mut parts = vec![format!("# {}", evidence.title)];
    parts.extend(evidence.blocks.iter().map(block));
    Ok(parts.join("\n\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_made_of_the_data() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/evidence.md");
        let written = std::fs::read_to_string(path).expect("the document");
        assert!(
            written == document().expect("evidence"),
            "laboratory/docs/evidence.md is out of date; make it again with `ozfft-lab report --evidence laboratory/docs/evidence.md`"
        );
    }

    #[test]
    fn every_row_has_a_cell_for_every_column() {
        for block in evidence().expect("evidence").blocks {
            if let Block::Table { columns, rows } = block {
                assert!(
                    rows.iter().all(|row| row.len() == columns.len()),
                    "{columns:?}"
                );
            }
        }
    }

    #[test]
    fn the_page_has_headings_tables_and_verdicts() {
        let html = html().expect("evidence");
        for part in [
            "<h3>Moduli, products, outputs</h3>",
            "class=\"verdict differs\"",
            "<p>The paper: ",
        ] {
            assert!(html.contains(part), "{part}");
        }
    }
}
