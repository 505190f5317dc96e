//! Documents of this repository as HTML: headings, paragraphs, tables, and what is within lines. Nothing is said twice: the page shows the text that
//! the document has.

use super::svg::escaped;

/// A table of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkdownTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner
        .split('|')
        .map(|cell| cell.trim().to_string())
        .collect()
}

fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.chars().all(|sign| "|-: ".contains(sign))
}

/// All tables.
pub fn tables(text: &str) -> Vec<MarkdownTable> {
    let mut tables: Vec<MarkdownTable> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if !line.starts_with('|') {
            inside = false;
        } else if !inside {
            tables.push(MarkdownTable {
                columns: cells(line),
                rows: Vec::new(),
            });
            inside = true;
        } else if let (false, Some(table)) = (is_rule(line), tables.last_mut()) {
            table.rows.push(cells(line));
        }
    }
    tables
}

/// A document without its first heading; its other headings become so much deeper.
pub fn html(text: &str, deeper: usize) -> String {
    let mut html = String::new();
    let mut paragraph = String::new();
    let mut table: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if !line.starts_with('|') && !table.is_empty() {
            html.push_str(&table_html(&tables(&table.join("\n"))));
            table.clear();
        }
        let heading = line.chars().take_while(|sign| *sign == '#').count();
        if line.starts_with('|') {
            table.push(line);
        } else if heading > 0 {
            if heading > 1 {
                let level = (heading + deeper).min(6);
                let words = inline(line.trim_start_matches('#').trim());
                html.push_str(&format!("<h{level}>{words}</h{level}>\n"));
            }
        } else if line.trim().is_empty() {
            if !paragraph.is_empty() {
                html.push_str(&format!("<p>{}</p>\n", inline(&paragraph)));
                paragraph.clear();
            }
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    html
}

fn table_html(tables: &[MarkdownTable]) -> String {
    let mut html = String::new();
    for table in tables {
        let heads: Vec<String> = table.columns.iter().map(|cell| inline(cell)).collect();
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| inline(cell)).collect())
            .collect();
        html.push_str(&rows_html("stacked", &heads, &rows));
    }
    html
}

/// A table of cells that are HTML already. Every cell knows its column, so that a phone can show rows one below the other.
pub fn rows_html(class: &str, heads: &[String], rows: &[Vec<String>]) -> String {
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"{class}\"><thead><tr>"
    );
    for head in heads {
        html.push_str(&format!("<th scope=\"col\">{head}</th>"));
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            let head = heads.get(index).map_or("", String::as_str);
            let label = escaped(&plain(head));
            let verdict = verdict_class(&plain(head), cell);
            if index == 0 {
                html.push_str(&format!("<th scope=\"row\">{cell}</th>"));
            } else {
                html.push_str(&format!("<td data-label=\"{label}\"{verdict}>{cell}</td>"));
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

/// Verdicts get a sign in front, by the word that they begin with.
fn verdict_class(head: &str, cell: &str) -> &'static str {
    if head != "verdict" {
        return "";
    }
    if cell.contains("contradicts itself") {
        return " class=\"verdict differs\"";
    }
    match cell.split(|sign: char| !sign.is_alphabetic()).next() {
        Some("agrees") => " class=\"verdict agrees\"",
        Some("differs") => " class=\"verdict differs\"",
        _ => " class=\"verdict open\"",
    }
}

/// Without tags.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for sign in html.chars() {
        match sign {
            '<' => inside = true,
            '>' => inside = false,
            sign if !inside => text.push(sign),
            _ => {}
        }
    }
    text
}

/// Code, emphasis and links. Links lead to files that a single page does not have, so only their words are kept.
pub fn inline(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        match sign {
            '`' if after.contains('`') => {
                let (code, end) = after.split_once('`').unwrap_or((after, ""));
                html.push_str(&format!("<code>{}</code>", escaped(code)));
                rest = end;
            }
            '*' if after.starts_with('*') && after[1..].contains("**") => {
                let (strong, end) = after[1..].split_once("**").unwrap_or((after, ""));
                html.push_str(&format!("<strong>{}</strong>", inline(strong)));
                rest = end;
            }
            '*' if after.starts_with(char::is_alphanumeric) && after.contains('*') => {
                let (emphasis, end) = after.split_once('*').unwrap_or((after, ""));
                html.push_str(&format!("<em>{}</em>", inline(emphasis)));
                rest = end;
            }
            '[' => match after
                .split_once("](")
                .and_then(|(words, tail)| Some((words, tail.split_once(')')?.1)))
            {
                Some((words, end)) if !words.contains(']') => {
                    html.push_str(&inline(words));
                    rest = end;
                }
                _ => {
                    html.push('[');
                    rest = after;
                }
            },
            _ => {
                html.push_str(&escaped(&rest[..sign.len_utf8()]));
                rest = after;
            }
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_code_emphasis_and_words_of_links() {
        assert_eq!(
            inline("a `b<c` *d* **e** [f](g.md#h) 2 * 3 [i] <j>"),
            "a <code>b&lt;c</code> <em>d</em> <strong>e</strong> f 2 * 3 [i] &lt;j&gt;"
        );
    }

    #[test]
    fn tables_paragraphs_and_headings_in_their_order() {
        let text = "# Title\n\nOne\ntwo.\n\n## Part\n\n| a | verdict |\n|---|---|\n| 1 | agrees |\n| 2 | differs: no |\n\nEnd.\n";
        let html = html(text, 1);
        assert!(
            html.starts_with("<p>One two.</p>\n<h3>Part</h3>\n<div"),
            "{html}"
        );
        assert!(html.ends_with("<p>End.</p>\n"));
        assert!(
            html.contains("<td data-label=\"verdict\" class=\"verdict differs\">differs: no</td>"),
            "{html}"
        );
        let found = tables(text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].rows, [["1", "agrees"], ["2", "differs: no"]]);
    }
}
