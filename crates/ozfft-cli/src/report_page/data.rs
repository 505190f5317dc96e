//! What the page is told, as JSON: machines, constants and words of the crate `roofline`. Its scripts have formulas and no figures of their own.

use super::Context;
use roofline::paths::{self, Substrate, Way, counted, printed};
use roofline::table::shown_in;
use roofline::{Machine, Mode, Rate, Record, RooflineError, kernels, verdict};
use serde_json::{Map, Value, json};

/// Everything.
pub fn data(context: &Context) -> Result<Value, RooflineError> {
    let machines: Vec<Value> = context.machines.iter().map(machine).collect();
    let mut assumptions = Map::new();
    for mode in [Mode::Printed, Mode::Corrected] {
        assumptions.insert(mode.name().into(), words_of(mode)?);
    }
    Ok(json!({
        "chosen": { "machine": context.machine.name, "mode": context.mode.name(), "n": context.n },
        "rates": Rate::ALL.map(rate),
        "ways": Way::ALL.map(|way| json!({ "name": way.name(), "title": way.title() })),
        "verdict_ways": verdict::WAYS.map(Way::name),
        "parity": verdict::PARITY,
        "machines": machines,
        "constants": { "printed": printed_constants(), "counted": counted_constants(), "substrates": substrates() },
        "assumptions": assumptions,
        "record": record(&context.record),
    }))
}

fn rate(rate: Rate) -> Value {
    let (unit, size) = shown_in(rate);
    json!({ "key": rate.key(), "title": rate.title(), "shown_unit": unit, "shown_size": size })
}

fn machine(machine: &Machine) -> Value {
    // Rates in both sections are asked for by mode, so that units are read in one place only.
    let rates = |mode: Mode| -> Map<String, Value> {
        let known = Rate::ALL.into_iter().filter_map(|rate| {
            Some((
                rate.key().to_string(),
                machine.rate(mode, rate).ok()?.into(),
            ))
        });
        known.collect()
    };
    json!({
        "name": machine.name,
        "title": machine.title,
        "basis": machine.basis,
        "in_the_paper": machine.is_in_the_paper(),
        "printed": rates(Mode::Printed),
        "figures": rates(Mode::Corrected),
        "notes": machine.notes,
    })
}

fn printed_constants() -> Value {
    json!({
        "moduli": printed::MODULI,
        "modulus_bits": printed::MODULUS_BITS,
        "operations_per_slice": printed::OPERATIONS_PER_SLICE,
        "outputs_per_point": printed::OUTPUTS_PER_POINT,
        "share_of_phase_b": printed::SHARE_OF_PHASE_B,
        "barrett": printed::BARRETT,
        "throughput": printed::THROUGHPUT.map(|(_, throughput)| throughput),
    })
}

fn counted_constants() -> Value {
    json!({
        "outputs_per_point": counted::OUTPUTS_PER_POINT,
        "operations_per_slice": counted::OPERATIONS_PER_SLICE,
        "garner": counted::GARNER,
        "double_per_slice": counted::DOUBLE_PER_SLICE,
        "sum2_per_slice": counted::SUM2_PER_SLICE,
        "double_single_per_slice": counted::DOUBLE_SINGLE_PER_SLICE,
        "kahan_per_slice": counted::KAHAN_PER_SLICE,
        "bernstein_per_modulus": counted::BERNSTEIN_PER_MODULUS,
        "throughput": counted::THROUGHPUT.map(|(_, throughput)| throughput),
        "bands_integers": counted::BANDS_INTEGERS,
        "bands_products": counted::BANDS_PRODUCTS,
        "beside_reconstruction": counted::BESIDE_RECONSTRUCTION,
        "digits_products": counted::DIGITS_PRODUCTS,
        "transforms": kernels::NUMBER_THEORETIC_TRANSFORMS,
        "butterfly": kernels::BUTTERFLY_INSTRUCTIONS,
    })
}

/// Functions of a substrate are linear in moduli and slices: two values have all of them.
fn substrates() -> Map<String, Value> {
    let of = |substrate: Substrate| {
        let (instructions, products) = match substrate {
            Substrate::Int8 => (counted::DIGITS_INSTRUCTIONS, 1.0),
            Substrate::Fp8 => (
                counted::DIGITS_FP8_INSTRUCTIONS,
                counted::DIGITS_FP8_PRODUCTS,
            ),
        };
        let phase_a = substrate.phase_a(1.0, 0.0);
        let multiple = substrate.multiple_of_modulus(0.0);
        json!({
            "rate": substrate.rate().key(),
            "moduli": substrate.moduli(),
            "slice_bits": substrate.slice_bits(),
            "products": substrate.products(1.0),
            "phase_a": [phase_a, substrate.phase_a(1.0, 1.0) - phase_a],
            "multiple": [multiple, substrate.multiple_of_modulus(1.0) - multiple],
            "digits_instructions": instructions,
            "digits_products": products,
        })
    };
    let named = Substrate::ALL.map(|substrate| (substrate.rate().key().to_string(), of(substrate)));
    named.into_iter().collect()
}

/// What counts of every way rest on. They do not depend on the size.
fn words_of(mode: Mode) -> Result<Value, RooflineError> {
    let mut words = Map::new();
    for path in paths::all(mode, 1024)? {
        words.insert(path.way.name().into(), json!(path.assumptions));
    }
    Ok(words.into())
}

fn record(record: &Record) -> Value {
    let paths = record.paths.iter().map(|path| {
        let way = Record::way(path);
        json!({
            "name": path.name,
            "seconds": path.seconds,
            "l2": path.l2,
            "way": way.map(|(way, _)| way.name()),
            "substrate": way.map(|(_, substrate)| substrate.rate().key()),
        })
    });
    json!({
        "file": record.file,
        "date": record.date,
        "device": record.device,
        "n": record.n,
        "roof": record.roof,
        "paths": paths.collect::<Vec<Value>>(),
    })
}
