//! Input of the page's script, as JSON: machines with what their fields show, presets, the record, and the model itself. The script has
//! no formulas and no figures of its own.

use super::Context;
use page_model::{Form, WASM};
use roofline::table::shown_in;
use roofline::{Machine, Mode, Rate, RooflineError};
use serde_json::{Map, Value, json};

/// Everything.
pub fn data(context: &Context) -> Result<Value, RooflineError> {
    let machines: Vec<Value> = context
        .machines
        .iter()
        .map(|machine| known(machine, context))
        .collect();
    Ok(json!({
        "chosen": { "machine": context.machine.name, "mode": context.mode.name(), "n": context.n },
        "units": units(),
        "machines": machines,
        "presets": { "paper": Form::printed(), "counted": without_share(Form::counted()) },
        "record": context.record,
        "model": base64(WASM),
    }))
}

/// The unit that the field of a rate is in.
fn units() -> Map<String, Value> {
    let unit = |rate: Rate| (rate.key().to_string(), shown_in(rate).0.into());
    Rate::ALL.map(unit).into_iter().collect()
}

fn known(machine: &Machine, context: &Context) -> Value {
    let fields = Mode::ALL.map(|mode| {
        let field = |rate: Rate| Some((rate.key().to_string(), field(machine, mode, rate)?.into()));
        let fields: Map<String, Value> = Rate::ALL.into_iter().filter_map(field).collect();
        (mode.name().to_string(), fields.into())
    });
    json!({
        "machine": machine,
        "fields": fields.into_iter().collect::<Map<String, Value>>(),
        "measured": context.record.is_of(machine).is_ok(),
    })
}

/// What the field of a rate shows: as many digits as say the same number.
pub fn field(machine: &Machine, mode: Mode, rate: Rate) -> Option<String> {
    let value = machine.rate(mode, rate).ok()? / shown_in(rate).1;
    let rounded: f64 = format!("{value:.14e}").parse().ok()?;
    Some(rounded.to_string())
}

/// Phase B on FP8 units was not counted in the paper's terms: what was typed stays.
fn without_share(form: Form) -> Value {
    let mut preset = json!(form);
    if let Some(fields) = preset.as_object_mut() {
        fields.remove("share");
    }
    preset
}

/// Bytes as letters, for a page that is one file.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |index: usize| u32::from(part.get(index).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * index) & 63) as usize];
            text.push(if index <= part.len() {
                letter.into()
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_the_letters_of_the_standard() {
        let texts =
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(
            texts,
            [
                "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"
            ]
        );
    }

    #[test]
    fn fields_have_as_many_digits_as_a_number_needs() {
        let b300 = Machine::named("b300").expect("a machine");
        let shown = Rate::ALL.map(|rate| field(&b300, Mode::Printed, rate));
        assert_eq!(shown[0].as_deref(), Some("8"));
        assert_eq!(shown[1].as_deref(), Some("1.3"));
        assert!(
            shown.iter().flatten().all(|text| text.len() < 8),
            "{shown:?}"
        );
    }
}
