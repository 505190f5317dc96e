//! Lines and tables as HTML.

use page_model::svg::escaped;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

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
    match plain(cell).split(|sign: char| !sign.is_alphabetic()).next() {
        Some("holds" | "exceeded") => " class=\"verdict holds\"",
        Some("missed" | "inconsistent") => " class=\"verdict missed\"",
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

/// A line of Markdown: code, emphasis and links. Links lead to files that a single page does not have, so only their words are kept.
///
/// # Panics
/// If the text is more than a paragraph: a list, a heading, a table.
pub fn inline(text: &str) -> String {
    let mut html = String::new();
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Emphasis) => html.push_str("<em>"),
            Event::End(TagEnd::Emphasis) => html.push_str("</em>"),
            Event::Start(Tag::Strong) => html.push_str("<strong>"),
            Event::End(TagEnd::Strong) => html.push_str("</strong>"),
            Event::Code(code) => html.push_str(&format!("<code>{}</code>", escaped(&code))),
            // Texts have no tags of their own.
            Event::Text(words) | Event::InlineHtml(words) | Event::Html(words) => {
                html.push_str(&escaped(&words));
            }
            Event::SoftBreak | Event::HardBreak => html.push('\n'),
            Event::Start(Tag::Paragraph | Tag::Link { .. })
            | Event::End(TagEnd::Paragraph | TagEnd::Link) => {}
            // Leaving out the mark of a list would change what is said.
            other => panic!("{other:?} is no part of a line: {text:?}"),
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
}
