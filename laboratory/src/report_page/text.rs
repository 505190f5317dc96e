//! Lines and tables as HTML.

use page_model::svg::escaped;

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
}
