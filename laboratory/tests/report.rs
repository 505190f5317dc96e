//! The commands `report` and `plot --figure`. The page is looked at in a browser where there is one.

#[path = "report/browser.rs"]
mod browser;
mod common;

use browser::{Browser, TAB, decoded};
use common::{directory, fail, succeed, text};
use page_model::{Form, Question, answer};
use roofline::{Machine, Mode, Record, verdict};
use serde_json::{Value, json};
use std::path::PathBuf;

const FIGURES: [&str; 9] = [
    "roofline",
    "walltime",
    "precision",
    "accumulator",
    "fp64-floor",
    "fp32",
    "accuracy",
    "time",
    "time-gpu",
];
/// How much of the page has moved without being asked to, some time after it was opened.
const SHIFTS: &str = "
    const done = arguments[0];
    let sum = 0;
    const add = (entries) => entries.getEntries().forEach((entry) => { sum += entry.value; });
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(sum), 300)";
const LOOKS: &str = include_str!("report/looks.js");

/// A page in an empty directory.
fn page(name: &str, options: &[&str]) -> PathBuf {
    let file = directory(&format!("report-{name}")).join("report.html");
    succeed(&[&["report", "-o", text(&file)], options].concat());
    file
}

/// A browser that shows a page; none, with a notice, where there is no browser.
fn opened(name: &str) -> Option<(Browser, PathBuf)> {
    let browser = Browser::start(name)?;
    let file = page(name, &[]);
    browser.open(&file);
    Some((browser, file))
}

fn without_faults(browser: &Browser, question: &str) {
    let faults = browser.run(LOOKS, json!([question]));
    assert_eq!(faults, json!([]), "{question}");
}

#[test]
fn the_page_s_model_gives_what_rust_gives() {
    let Some((browser, _)) = opened("model") else {
        return;
    };
    let record = Record::embedded().expect("a record");
    let mut cases = Vec::new();
    for machine in Machine::all().expect("machines") {
        for mode in Mode::ALL {
            if machine.bandwidth(mode).is_err() {
                continue;
            }
            for n in [2, 3, 100, 512, 1000, 1009, 1024, 4096, 65537, 1 << 20] {
                let question = Question {
                    machine: machine.clone(),
                    mode,
                    n,
                    overlap: 1.0,
                    form: Form::printed(),
                };
                let answer = answer(&question, &record).expect("an answer");
                cases.push(json!({ "question": question, "verdict": answer.verdict, "sentences": answer.sentences,
                    "paths": answer.paths.rows.iter().map(|row| (&row.title, &row.time, &row.unit)).collect::<Vec<_>>() }));
            }
        }
    }
    let script = "
        const wrong = [];
        for (const { question, verdict, sentences, paths } of arguments[0]) {
            const found = window.ozfft.ask(question);
            const ours = JSON.stringify([found.verdict, found.sentences, found.paths.rows.map((row) => [row.title, row.time, row.unit])]);
            const theirs = JSON.stringify([verdict, sentences, paths]);
            if (ours !== theirs) wrong.push(ours + ' is not ' + theirs);
        }
        return wrong.slice(0, 3);";
    assert_eq!(browser.run(script, json!([cases])), json!([]));
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The sentence that Rust has for these figures, as the page shows it.
fn sentence(machine: &Machine, mode: Mode, n: usize) -> String {
    let verdict = verdict::verdict(machine, mode, n, None).expect("a verdict");
    verdict.text.replace("10^12", "10¹²")
}

#[test]
fn controls_move_every_number() {
    let Some((browser, file)) = opened("controls") else {
        return;
    };
    let b300 = Machine::named("b300").expect("b300");
    assert_eq!(
        browser.text("#verdict"),
        sentence(&b300, Mode::Corrected, 1024)
    );
    // Another machine, another size.
    browser.run("const field = document.getElementById('machine'); field.value = 'h100'; field.dispatchEvent(new Event('change'))", json!([]));
    let h100 = Machine::named("h100").expect("h100");
    assert_eq!(
        browser.text("#verdict"),
        sentence(&h100, Mode::Corrected, 1024)
    );
    browser.fill("#n", "512");
    assert_eq!(
        browser.text("#verdict"),
        sentence(&h100, Mode::Corrected, 512)
    );
    assert!(browser.text("#roofline h3").contains("512³"));
    browser.click("input[value=printed]");
    assert_eq!(
        browser.text("#verdict"),
        sentence(&h100, Mode::Printed, 512)
    );
    assert_eq!(
        browser.value("return document.querySelectorAll('#paths tbody tr').length"),
        11
    );
    // Numbers of one's own: the figures of an H100 in the paper, but a fiftieth of its FP64 rate.
    browser.fill("#rate-fp64", "0.7");
    assert_eq!(
        browser.value("return document.getElementById('machine').value"),
        "yours"
    );
    let own = json!({
        "name": "yours", "title": "Your machine", "basis": "hypothetical",
        "figures": h100.printed.iter().map(|(rate, figure)| {
            let mut figure = serde_json::to_value(figure).expect("JSON");
            if rate.key() == "fp64" { figure["value"] = json!(0.7); }
            (rate.key().to_string(), figure)
        }).collect::<serde_json::Map<_, _>>(),
    });
    let own = Machine::from_json("yours", &own.to_string()).expect("a machine");
    assert_eq!(browser.text("#verdict"), sentence(&own, Mode::Printed, 512));
    assert!(
        browser
            .text("#roofline .roofs")
            .contains("FP64 0.700 TFLOP/s")
    );
    // What cannot be is said, and nothing moves.
    for (field, wrong, part) in [
        ("#n", "1", "from 2 to 1048576"),
        ("#rate-fp8", "-3", "0 or more"),
        ("#rate-bandwidth", "", "Memory"),
        ("#overlap", "2", "from 0 to 1"),
        ("#r", "1.5", "whole number"),
    ] {
        let before = browser.value(&format!("return document.querySelector('{field}').value"));
        browser.fill(field, wrong);
        let message = browser.text("#message");
        assert!(message.contains(part), "{field} {wrong}: {message}");
        assert_eq!(browser.text("#verdict"), sentence(&own, Mode::Printed, 512));
        assert_eq!(
            browser.value(&format!(
                "return document.querySelector('{field}').getAttribute('aria-invalid')"
            )),
            "true"
        );
        browser.fill(field, before.as_str().expect("text"));
        assert_eq!(browser.text("#message"), "");
    }
    browser.click("#reset");
    assert_eq!(
        browser.text("#verdict"),
        sentence(&h100, Mode::Printed, 512)
    );
    // Floors by their closed forms: 18 · 4 · 11 / 96 = 8.25, and 12 · 2.75 · 16 / 96 = 5.5.
    let floor = "return [...document.querySelectorAll('#floors tbody tr')].map((row) => row.cells[2].textContent)";
    browser.fill("#n", "1024");
    assert_eq!(
        browser.value(floor),
        json!(["1.56", "2.06", "8.25", "173", "242"])
    );
    browser.click("#as-counted");
    assert_eq!(browser.value(floor)[2], "5.50");
    browser.click("#as-paper");
    browser.fill("#eta", "0.5");
    // (1 + 0.4/0.5) · 172.75 = 310.95.
    assert_eq!(browser.value(floor)[4], "311");
    // Without overlap, times are longer.
    let times = "return document.querySelector('#paths tbody tr td:nth-child(3)').textContent";
    let together = browser.value(times);
    browser.fill("#overlap", "0");
    assert_ne!(browser.value(times), together);
    // Measured times are there for one machine, and leave with it.
    assert_eq!(
        browser.value("return document.querySelector('input[value=measured]').disabled"),
        true
    );
    browser.run("const field = document.getElementById('machine'); field.value = 'h200-measured'; field.dispatchEvent(new Event('change'))", json!([]));
    browser.click("input[value=measured]");
    let measured = Machine::named("h200-measured").expect("h200-measured");
    assert_eq!(
        browser.text("#verdict"),
        sentence(&measured, Mode::Measured, 1024)
    );
    browser.picture(&file.with_file_name("measured.png"));
    browser.run("const field = document.getElementById('machine'); field.value = 'b300'; field.dispatchEvent(new Event('change'))", json!([]));
    assert!(
        browser
            .text("#message")
            .contains("Only an H200 was measured")
    );
    assert_eq!(
        browser.text("#verdict"),
        sentence(&b300, Mode::Corrected, 1024)
    );
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn scripts_leave_the_first_picture_where_rust_drew_it() {
    let Some((browser, file)) = opened("roofline") else {
        return;
    };
    let page = std::fs::read_to_string(file).expect("the page");
    let script = "
        const drawn = new DOMParser().parseFromString(arguments[0], 'text/html');
        const places = (root) => [...root.querySelectorAll('#roofline .roofs *, #roofline .marks *')].map((element) =>
            element.tagName + ' ' + element.textContent + ' ' + [...element.attributes].map((attribute) => attribute.name + '=' + attribute.value).sort().join(' '));
        const [then, now] = [places(drawn), places(document)];
        return [then.length, now.length, then.filter((place, index) => place !== now[index]).slice(0, 5), now.filter((place, index) => place !== then[index]).slice(0, 5)];";
    let result = browser.run(script, json!([page]));
    assert!(
        result[0].as_u64() > Some(40) && result[0] == result[1],
        "{result}"
    );
    assert_eq!((&result[2], &result[3]), (&json!([]), &json!([])));
    // The verdict that is there without scripts is the same, too.
    let start = page
        .split("aria-live=\"polite\">")
        .nth(1)
        .and_then(|rest| rest.split('<').next());
    assert_eq!(start, Some(browser.text("#verdict").as_str()));
}

#[test]
fn the_keyboard_reaches_every_control_in_order() {
    let Some((browser, _)) = opened("keyboard") else {
        return;
    };
    let reachable = "
        const name = (element) => element.id || element.value || element.getAttribute('aria-label') || element.textContent.slice(0, 20);
        const all = [...document.querySelectorAll('a[href], input, select, button, summary')].filter((element) => !element.disabled);
        return all.filter((element) => element.type !== 'radio' || element.checked).map(name)";
    let expected = browser.value(reachable);
    let expected: Vec<&str> = expected
        .as_array()
        .expect("names")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(expected.len() > 30);
    let focused = "
        const element = document.activeElement;
        const outline = getComputedStyle(element).outlineStyle;
        return [element.matches('a[href], input, select, button, summary'), element.id || element.value || element.getAttribute('aria-label') || element.textContent.slice(0, 20), outline]";
    let mut reached = Vec::new();
    for _ in 0..3 * expected.len() {
        browser.press(TAB);
        let now = browser.value(focused);
        if now[0] == true {
            assert_ne!(now[2], "none", "{now} shows no focus");
            reached.push(now[1].as_str().expect("a name").to_string());
        }
        if reached.len() == expected.len() {
            break;
        }
    }
    assert_eq!(reached, expected);
    // Radio buttons by arrows.
    browser.run(
        "document.querySelector('input[value=corrected]').focus()",
        json!([]),
    );
    browser.press("\u{E013}");
    assert_eq!(
        browser.value("return document.querySelector('input[name=mode]:checked').value"),
        "printed"
    );
    assert!(browser.text("#basis").starts_with("As printed"));
}

#[test]
fn the_page_is_readable_on_phones_and_desktops_in_light_and_dark_and_by_screen_readers() {
    let Some((browser, file)) = opened("looks") else {
        return;
    };
    for (width, is_phone) in [(360, true), (1000, false)] {
        browser.screen(width, is_phone);
        browser.open(&file);
        let wide = browser.value("return document.documentElement.scrollWidth");
        assert!(
            wide.as_u64() <= Some(u64::from(width)),
            "{wide} pixels at {width}"
        );
        // What moves by itself after it was first seen.
        let shift = browser.value_later(SHIFTS);
        assert!(shift.as_f64() < Some(0.01), "the layout shifts by {shift}");
        for scheme in ["light", "dark"] {
            browser.media("screen", scheme);
            without_faults(&browser, "contrast");
            browser.picture(&file.with_file_name(format!("{width}-{scheme}.png")));
        }
        for question in ["overlaps", "letters", "names"] {
            without_faults(&browser, question);
        }
        // The other extremes of what is drawn.
        for (machine, mode) in [
            ("a100", "printed"),
            ("rubin", "corrected"),
            ("h200-measured", "measured"),
            ("trainium2", "corrected"),
            ("rtx-4090", "corrected"),
        ] {
            let choose = "
                const field = document.getElementById('machine');
                field.value = arguments[0];
                field.dispatchEvent(new Event('change'));
                document.querySelector(`input[value=${arguments[1]}]`).click()";
            browser.run(choose, json!([machine, mode]));
            without_faults(&browser, "overlaps");
            let wide = browser.value("return document.documentElement.scrollWidth");
            assert!(
                wide.as_u64() <= Some(u64::from(width)),
                "{wide} pixels at {width} for {machine}"
            );
        }
    }
    let tree = browser.command("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().expect("nodes");
    let of_role = |role: &str| {
        nodes
            .iter()
            .filter(|node| node["role"]["value"] == role)
            .collect::<Vec<_>>()
    };
    for (role, least) in [
        ("image", 9),
        ("spinbutton", 15),
        ("combobox", 2),
        ("radio", 3),
        ("button", 3),
        ("table", 5),
        ("heading", 10),
    ] {
        let found = of_role(role);
        assert!(found.len() >= least, "{} of {role}", found.len());
        for node in found.iter().filter(|_| role != "table") {
            assert!(
                node["name"]["value"]
                    .as_str()
                    .is_some_and(|name| !name.is_empty()),
                "{node}"
            );
        }
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_printed_page_has_every_figure_and_no_controls() {
    let Some((browser, file)) = opened("paper") else {
        return;
    };
    // As someone does who reads in the dark: paper is white.
    browser.media("", "dark");
    let pdf = decoded(&browser.print());
    std::fs::write(file.with_file_name("report.pdf"), &pdf).expect("the document can be written");
    assert!(pdf.starts_with(b"%PDF"));
    // Names of figures are in the document's structure, in UTF-16 where they have other letters than ASCII's.
    let text: String = pdf.iter().map(|byte| char::from(*byte)).collect();
    let pages = text.matches("/Type /Page\n").count() + text.matches("/Type /Page ").count();
    assert!((8..60).contains(&pages), "{pages} pages");
    let figures = text.matches("/S /Figure").count();
    assert!(figures >= FIGURES.len(), "{figures} figures");
    // What was opened for paper is seen in the page's own layout for paper.
    browser.media("print", "dark");
    without_faults(&browser, "paper");
    without_faults(&browser, "contrast");
    let ground = browser.value("return getComputedStyle(document.body).backgroundColor");
    assert_eq!(ground, "rgb(255, 255, 255)");
}

#[test]
fn figures_are_files_for_papers() {
    let folder = directory("report-figures");
    let browser = Browser::start("figures");
    for name in FIGURES {
        let file = folder.join(format!("{name}.svg"));
        succeed(&["plot", "--figure", name, "-o", text(&file)]);
        let picture = std::fs::read_to_string(&file).expect("the picture");
        assert!(
            picture.starts_with("<svg xmlns=") && picture.contains("<desc"),
            "{name}"
        );
        assert!(
            !picture.contains("var(--"),
            "{name} has colours that only a page knows"
        );
        let Some(browser) = &browser else {
            continue;
        };
        browser.open(&file);
        let faults = "
            if (document.querySelector('parsererror')) return ['not well-formed'];
            const frame = document.documentElement.viewBox.baseVal;
            const cut = [...document.querySelectorAll('text')].filter((text) => {
                const box = text.getBBox();
                return box.x < frame.x || box.y < frame.y || box.x + box.width > frame.x + frame.width || box.y + box.height > frame.y + frame.height;
            });
            return cut.map((text) => text.textContent)";
        assert_eq!(browser.value(faults), json!([]), "{name}");
        browser.picture(&file.with_extension("png"));
    }
    // Of another machine, size and mode.
    let file = folder.join("other.svg");
    succeed(&[
        "plot",
        "--figure",
        "roofline",
        "--machine",
        "rubin",
        "--n",
        "512",
        "--mode",
        "printed",
        "-o",
        text(&file),
    ]);
    let picture = std::fs::read_to_string(&file).expect("the picture");
    assert!(picture.contains("Rubin") && picture.contains("512³, printed"));
}

#[test]
fn the_page_loads_no_external_resources() {
    let page = std::fs::read_to_string(page(
        "alone",
        &[
            "--machine",
            "h200-measured",
            "--mode",
            "measured",
            "--n",
            "256",
        ],
    ))
    .expect("the page");
    // The name of SVG's language is not an address that is fetched.
    let without = page.replace("http://www.w3.org/2000/svg", "");
    for part in [
        "http://",
        "https://",
        "src=",
        "@import",
        "url(http",
        "<link",
        "{{",
        "NaN",
        "undefined",
    ] {
        let found = without
            .find(part)
            .map(|at| &without[at.saturating_sub(60)..(at + 60).min(without.len())]);
        let is_word_of_scripts = part == "undefined"
            && found.is_some_and(|text| {
                text.contains("=== undefined") || text.contains("!== undefined")
            });
        assert!(found.is_none() || is_word_of_scripts, "{part}: {found:?}");
    }
    assert!(page.contains("256×256×256") && page.contains("<h3>Figure 5"));
    // A machine of one's own.
    let folder = directory("report-own");
    let own = folder.join("mine.json");
    std::fs::write(&own, r#"{"name": "mine", "title": "My <card>", "basis": "hypothetical", "figures": {"bandwidth": {"value": 1, "unit": "TB/s", "source": "a guess"}}}"#).expect("a file");
    let file = folder.join("report.html");
    succeed(&["report", "-o", text(&file), "--machine", text(&own)]);
    let page = std::fs::read_to_string(&file).expect("the page");
    assert!(
        page.contains("My &lt;card&gt;: too few figures are known") && !page.contains("My <card>")
    );
    // One that has the name of another does not take its place in the paper's figures.
    let taken = std::fs::read_to_string(&own)
        .expect("the file")
        .replace("\"mine\"", "\"b300\"");
    std::fs::write(&own, taken).expect("a file");
    succeed(&["report", "-o", text(&file), "--machine", text(&own)]);
    let page = std::fs::read_to_string(&file).expect("the page");
    assert!(
        page.contains("value=\"b300-from-file\" selected")
            && page.contains("B300, native FP64</text>")
    );
}

#[test]
fn what_cannot_be_done_is_named_and_nothing_is_written() {
    let folder = directory("report-errors");
    let file = folder.join("report.html");
    let message = |options: &[&str]| fail(&[&["report", "-o", text(&file)], options].concat());
    let unknown = message(&["--machine", "b3000"]);
    assert!(
        unknown.contains("b3000") && unknown.contains("h100") && unknown.contains("trainium2"),
        "{unknown}"
    );
    assert!(message(&["--mode", "guessed"]).contains("guessed"));
    assert!(message(&["--n", "1"]).contains("2 to 1048576"));
    assert!(message(&["--machine", "b300", "--mode", "measured"]).contains("h200-measured"));
    assert!(message(&["--machine", "./nothing.json"]).contains("nothing.json"));
    let elsewhere = folder.join("no/such/folder/report.html");
    assert!(fail(&["report", "-o", text(&elsewhere)]).contains("no/such/folder"));
    let figure = fail(&["plot", "--figure", "pie", "-o", text(&file)]);
    assert!(
        figure.contains("pie") && figure.contains("walltime"),
        "{figure}"
    );
    assert!(fail(&["plot", "-o", text(&file)]).contains("--record"));
    for unheeded in [["--figure", "time"], ["--record", "record.json"]] {
        let all = [&unheeded[..], &["--n", "512", "-o", text(&file)]].concat();
        let message = fail(&[&["plot"], &all[..]].concat());
        assert!(message.contains("--figure roofline"), "{message}");
    }
    assert!(fail(&["report"]).contains("--out"));
    let left: Vec<_> = std::fs::read_dir(&folder).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
}
