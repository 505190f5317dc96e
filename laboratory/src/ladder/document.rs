//! The tables of laboratory/docs/ladder.md, from a record.

use super::record::{Found, Record, Rung};
use super::{asked_text, engine_text};

/// Begins a table of this name, and ends any.
fn mark(name: &str) -> String {
    format!("<!-- ozfft-lab ladder: {name} -->\n")
}
const END: &str = "<!-- end -->\n";

/// The length whose modes and accuracies are shown in full.
const SHOWN: &str = "1024";

/// The document with all of its tables made anew.
pub fn renewed(text: &str, record: &Record) -> Result<String, String> {
    let tables = [
        ("machine", machine(record)),
        ("modes", modes(record)),
        ("accuracies", accuracies(record)),
        ("lengths", lengths(record)),
        ("posts", posts(record)),
    ];
    let mut text = text.to_string();
    for (name, table) in tables {
        let begin = mark(name);
        let Some(start) = text.find(&begin).map(|at| at + begin.len()) else {
            return Err(format!("the mark {:?} is missing", begin.trim()));
        };
        let Some(length) = text[start..].find(END) else {
            return Err(format!("the table {name} has no {:?}", END.trim()));
        };
        text.replace_range(start..start + length, &format!("\n{table}\n"));
    }
    Ok(text)
}

fn machine(record: &Record) -> String {
    let place = record.gpu.as_deref().unwrap_or(&record.machine.processor);
    let date = record.date.split('T').next().unwrap_or_default();
    format!(
        "{place}, {} thread(s), {date}, ozfft {}.\n",
        record.threads, record.ozfft
    )
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn header(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let rule = vec!["---".to_string(); names.len()];
    format!("{}{}", row(&names), row(&rule))
}

fn shown(record: &Record) -> impl Iterator<Item = (&Rung, &Found)> {
    let rungs = record.rungs.iter().filter(|rung| rung.shape == SHOWN);
    rungs.filter_map(|rung| Some((rung, rung.found.as_ref()?)))
}

fn modes(record: &Record) -> String {
    let names = [
        "mode",
        "data",
        "unit",
        "L2 error",
        "proven bound",
        "ns a point",
    ];
    let mut text = header(&names);
    for (rung, found) in shown(record).filter(|(rung, _)| rung.accuracy.is_none()) {
        text += &row(&[
            format!("`{}`", rung.asked),
            rung.numbers.clone(),
            found.unit.clone(),
            format!("{:.1e}", found.l2),
            ozfft::bound_text(found.bound, 1),
            format!("{:.1}", found.ns_per_point),
        ]);
    }
    text
}

fn accuracies(record: &Record) -> String {
    let mut text = header(&[
        "asked",
        "data",
        "taken",
        "unit",
        "bound",
        "L2 error",
        "ns a point",
    ]);
    for (rung, found) in shown(record).filter(|(rung, _)| rung.accuracy.is_some()) {
        let proven = if found.proven { "" } else { " (measured)" };
        text += &row(&[
            format!("`{}`", asked_text(rung)),
            rung.numbers.clone(),
            engine_text(found),
            found.unit.clone(),
            format!("{}{proven}", ozfft::bound_text(found.bound, 1)),
            format!("{:.1e}", found.l2),
            format!("{:.1}", found.ns_per_point),
        ]);
    }
    text
}

/// Every mode at every length: error and time.
fn lengths(record: &Record) -> String {
    let shapes = record.shapes();
    let mut names = vec!["mode", "data"];
    names.extend(&shapes);
    let mut text = header(&names);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for rung in record.rungs.iter().filter(|rung| rung.accuracy.is_none()) {
        let key = (rung.asked.as_str(), rung.numbers.as_str());
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let mut cells = vec![format!("`{}`", key.0), key.1.to_string()];
        cells.extend(shapes.iter().map(|shape| {
            let same = |other: &&Rung| {
                other.shape == *shape
                    && other.accuracy.is_none()
                    && (other.asked.as_str(), other.numbers.as_str()) == key
            };
            let found = record.rungs.iter().find(same);
            let found = found.and_then(|rung| rung.found.as_ref());
            found.map_or("-".into(), |f| {
                format!("{:.1e}, {:.1}", f.l2, f.ns_per_point)
            })
        }));
        text += &row(&cells);
    }
    text
}

fn posts(record: &Record) -> String {
    let mut text = header(&["mode", "n", "printed", "here", "why they differ"]);
    for post in &record.posts {
        // Whether they agree is judged in evidence.md alone, so that no two documents can disagree.
        let why = post.verdict.strip_prefix("differs because ");
        text += &row(&[
            format!("`{}`", post.mode),
            post.n.to_string(),
            format!("{:.2e}", post.printed),
            format!("{:.1e}", post.here),
            why.unwrap_or_default().into(),
        ]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::record::tests::rung;
    use crate::ladder::record::{Post, VERSION};
    use ozfft_measure::machine::Machine;

    fn record() -> Record {
        Record {
            ladder: VERSION,
            date: "2026-11-16T00:00:00Z".into(),
            machine: Machine::here(),
            gpu: None,
            ozfft: "0".into(),
            commit: None,
            threads: 1,
            seconds_per_rung: 0.1,
            rungs: vec![rung("fast", "avx512", 2.25, 1e-7)],
            posts: vec![Post {
                mode: "bf16".into(),
                n: 64,
                printed: 2.2e-3,
                here: 1.8e-3,
                verdict: "differs because angles are rounded".into(),
            }],
        }
    }

    #[test]
    fn tables_are_renewed_between_their_marks_and_nothing_else_is() {
        let names = ["machine", "modes", "accuracies", "lengths", "posts"];
        let parts = names.map(|name| format!("before {name}\n{}old\n{END}", mark(name)));
        let text = parts.concat();
        let once = renewed(&text, &record()).expect("all marks are there");
        for part in [
            "before posts",
            "`fast`",
            "2.2",
            "angles are rounded",
            "1.0e-7, 2.2",
        ] {
            assert!(once.contains(part), "{part} is missing in\n{once}");
        }
        assert!(!once.contains("old"));
        assert_eq!(renewed(&once, &record()).expect("the same marks"), once);
        let rejected = renewed("nothing", &record()).expect_err("no marks");
        assert!(rejected.contains("missing"), "{rejected}");
    }
}
