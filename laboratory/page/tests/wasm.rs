//! The committed WebAssembly gives what this crate gives, to the letter. It is run by node, where that is installed; the report's tests run it
//! in a browser.

use ozfft_testkit::{Requirement, available};
use page_model::{Form, Question, answer};
use roofline::{Machine, Mode, Record};
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

/// Asks the model every question, and compares answers with those of Rust.
const SCRIPT: &str = r#"
const fs = require("fs");
const { model, record, cases } = JSON.parse(fs.readFileSync(0));
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(model)), {});
function call(name, value) {
  const text = Buffer.from(JSON.stringify(value));
  const place = exports.input(text.length);
  new Uint8Array(exports.memory.buffer, place, text.length).set(text);
  const length = exports[name]();
  return JSON.parse(Buffer.from(exports.memory.buffer, exports.output(), length).toString());
}
call("open", record);
let wrong = 0;
// Logarithms come from different libraries, so lengths of bars may differ in the last place; letters may not.
function compare(where, found, expected) {
  if (typeof expected === "object" && expected !== null) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(found || {})]);
    for (const key of keys) compare(`${where}.${key}`, (found || {})[key], expected[key]);
    return;
  }
  const isNear = typeof expected === "number" && Math.abs(found - expected) <= 1e-12 * Math.abs(expected);
  if (found !== expected && !isNear && wrong++ < 5) console.log(`${where}: ${found} is not ${expected}`);
}
for (const { question, answer } of cases) {
  compare(`${question.machine.name}, ${question.mode}, ${question.n}`, call("ask", question).ok, answer);
}
const refused = call("ask", { machine: "none" }).error;
if (!refused) { wrong++; console.log("a question that is none was answered"); }
console.log(`${cases.length} compared, ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
"#;

#[test]
fn the_wasm_answers_as_rust_does() {
    let record = Record::embedded().expect("a record");
    let mut cases = Vec::new();
    for machine in Machine::all().expect("machines") {
        for mode in Mode::ALL {
            if machine.bandwidth(mode).is_err() {
                continue;
            }
            for (n, overlap) in [
                (2, 1.0),
                (100, 0.5),
                (1009, 0.0),
                (1024, 1.0),
                (65537, 0.25),
                (1 << 20, 1.0),
            ] {
                let question = Question {
                    machine: machine.clone(),
                    mode,
                    n,
                    overlap,
                    form: if n % 2 == 0 {
                        Form::printed()
                    } else {
                        Form::counted()
                    },
                };
                let answer = answer(&question, &record).expect("an answer");
                cases.push(json!({ "question": question, "answer": answer }));
            }
        }
    }
    assert!(cases.len() > 100);
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/model.wasm");
    let input = json!({ "model": model, "record": record, "cases": cases }).to_string();
    let node = Command::new("node")
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    // The report's tests ask the model in a browser.
    let Some(mut node) = available(Requirement::Node, node) else {
        return;
    };
    let mut stdin = node.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("node reads");
    drop(stdin);
    let output = node.wait_with_output().expect("an end");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
}
