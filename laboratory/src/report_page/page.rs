//! Everything into one file.

use super::figures::{NAMES, figure};
use super::text::{inline, rows_html};
use super::{Context, data};
use crate::failure::Failure;
use page_model::answer::Sentence;
use page_model::svg::{PATTERNS, STYLE, escaped};
use page_model::{Figure, Form, NARROW, Question, WIDE, answer};
use roofline::table::significant;
use roofline::{Machine, Rate};

const PAGE: &str = include_str!("page.html");
const PAGE_STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("controls.js");

/// The page as text.
pub fn page(context: &Context) -> Result<String, Failure> {
    let question = Question {
        machine: context.machine.clone(),
        mode: context.mode,
        n: context.n,
        overlap: 1.0,
        form: Form::printed(),
    };
    let answer = answer(&question, &context.record)?;
    let sentences: Vec<String> = answer
        .sentences
        .iter()
        .map(|Sentence { class, text }| format!("<li class=\"{class}\">{}</li>", escaped(text)))
        .collect();
    let mut slots: Vec<(String, String)> = vec![
        ("version".into(), env!("CARGO_PKG_VERSION").into()),
        ("machine".into(), escaped(&context.machine.title)),
        ("style".into(), format!("{PAGE_STYLE}{STYLE}")),
        ("patterns".into(), PATTERNS.into()),
        ("verdict".into(), escaped(&answer.verdict)),
        ("basis".into(), answer.basis.into()),
        ("sentences".into(), sentences.concat()),
        ("n".into(), context.n.to_string()),
        ("options".into(), options(context)),
        ("rates".into(), rates(context)),
        ("evidence".into(), crate::evidence::html()?),
        ("sources".into(), sources(&context.machines)),
        ("names".into(), NAMES.join(", ")),
        ("script".into(), SCRIPT.into()),
    ];
    for name in NAMES {
        let wide = figure(name, context, WIDE)?;
        let narrow = figure(name, context, NARROW)?;
        slots.push((format!("figure:{name}"), figure_html(name, &wide, &narrow)));
    }
    // A closing tag within a text would end the script.
    let data = serde_json::to_string(&data::data(context)?)?;
    slots.push(("data".into(), data.replace('<', "\\u003c")));
    let mut parts = PAGE.split("{{");
    let mut page = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        let found = slots.iter().find(|(slot, _)| slot == name);
        let (_, text) = found.ok_or_else(|| {
            Failure::Check(format!("page.html has a slot {name} that nothing fills"))
        })?;
        page.push_str(text);
        page.push_str(rest);
    }
    Ok(page)
}

fn options(context: &Context) -> String {
    let option = |machine: &Machine| {
        let selected = if machine.name == context.machine.name {
            " selected"
        } else {
            ""
        };
        format!(
            "<option value=\"{}\"{selected}>{}</option>",
            escaped(&machine.name),
            escaped(&machine.title)
        )
    };
    context.machines.iter().map(option).collect()
}

fn rates(context: &Context) -> String {
    let field = |rate: Rate| {
        let (unit, _) = roofline::table::shown_in(rate);
        let value = data::field(&context.machine, context.mode, rate).unwrap_or_default();
        let unit = match rate {
            Rate::IntegerInstructions => "10¹²/s",
            _ => unit,
        };
        let mut title = rate.title().to_string();
        if let Some(first) = title.get_mut(0..1) {
            first.make_ascii_uppercase();
        }
        format!(
            "<p class=\"field\"><label for=\"rate-{0}\">{title}</label> <input id=\"rate-{0}\" data-rate=\"{0}\" type=\"number\" min=\"0\" step=\"any\" inputmode=\"decimal\" value=\"{value}\" aria-describedby=\"unit-{0}\"> <span class=\"unit\" id=\"unit-{0}\">{unit}</span></p>\n",
            rate.key()
        )
    };
    Rate::ALL.map(field).concat()
}

fn figure_html(name: &str, wide: &Figure, narrow: &Figure) -> String {
    let heads: Vec<String> = wide.columns.iter().map(|head| escaped(head)).collect();
    let rows: Vec<Vec<String>> = wide
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| escaped(cell)).collect())
        .collect();
    let caption = inline(&wide.caption);
    format!(
        "<figure id=\"{name}\">\n<h3>{}</h3>\n{}\n{}\n<figcaption>{caption}</figcaption>\n<details class=\"data\"><summary>Numbers behind this figure</summary>\n{}</details>\n</figure>\n",
        escaped(&wide.title),
        wide.svg.inline(
            &format!("{name}-wide"),
            "wide",
            &wide.title,
            &wide.description
        ),
        narrow.svg.inline(
            &format!("{name}-narrow"),
            "narrow",
            &narrow.title,
            &narrow.description
        ),
        rows_html("numbers", &heads, &rows)
    )
}

fn sources(machines: &[Machine]) -> String {
    let heads = ["machine", "rate", "value", "source"].map(String::from);
    let mut rows = Vec::new();
    for machine in machines {
        let sections = [("", &machine.figures), (", in the paper", &machine.printed)];
        for (section, figures) in sections {
            for (rate, figure) in figures {
                let derived = figure
                    .derived
                    .as_ref()
                    .map_or(String::new(), |derived| format!(" ({derived})"));
                rows.push(vec![
                    escaped(&machine.title),
                    format!("{}{section}", rate.title()),
                    format!("{} {}", significant(figure.value, 4), escaped(&figure.unit)),
                    escaped(&format!("{}{derived}", figure.source)),
                ]);
            }
        }
    }
    rows_html("stacked", &heads, &rows)
}
