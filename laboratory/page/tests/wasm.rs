//! The committed WebAssembly gives what this crate gives, to the letter. It is run by node, where that is installed; the report's tests run it
//! in a browser.

use page_model::{Form, Question, answer};
use roofline::{Machine, Mode, Record};
use serde_json::{Value, json};
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
for (const { question, answer } of cases) {
  const [found, expected] = [call("ask", question).ok, answer].map((value) => JSON.stringify(value));
  if (found !== expected && wrong++ < 3) console.log(`${found}\nis not\n${expected}`);
}
const refused = call("ask", { machine: "none" }).error;
if (!refused) { wrong++; console.log("a question that is none was answered"); }
console.log(`${cases.length} compared, ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
"#;

/// As JavaScript reads it: numbers that are whole have no point.
fn as_javascript(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => json!(float as i64),
            _ => value.clone(),
        },
        Value::Array(values) => values.iter().map(as_javascript).collect(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), as_javascript(value)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

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
                cases
                    .push(json!({ "question": question, "answer": as_javascript(&json!(answer)) }));
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
    let Ok(mut node) = node else {
        println!("left out: node is not installed; the report's tests ask the model in a browser");
        return;
    };
    let mut stdin = node.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("node reads");
    drop(stdin);
    let output = node.wait_with_output().expect("an end");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
}
