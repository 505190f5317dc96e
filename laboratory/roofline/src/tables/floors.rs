//! Floors: Table 1, and the same with counts that are right.

use super::{Question, scaled};
use crate::error::RooflineError;
use crate::floors;
use crate::mode::Mode;
use crate::paths::{self, Substrate, Variant, printed};
use crate::rate::Rate;
use crate::table::{Cell, Table, shown_in};

/// Rates that keep memory busy, beside what machines have.
pub fn floors(question: &Question) -> Result<Table, RooflineError> {
    match question.mode {
        Mode::Printed => printed_floors(question),
        Mode::Corrected => corrected_floors(question),
        Mode::Measured => measured_floors(question),
    }
}

/// Table 1.
fn printed_floors(question: &Question) -> Result<Table, RooflineError> {
    let mode = Mode::Printed;
    let mut table = Table::new(
        "floors",
        format!("Floors for {}", question.cube_title()),
        mode,
        &[
            "machine",
            "memory TB/s",
            "floor 1: FP64 TFLOP/s",
            "floor 2: FP64 TFLOP/s",
            "floor 3: INT32 TOP/s",
            "floor 4: FP8 PFLOP/s",
            "dual use: FP8 PFLOP/s",
            "has FP64",
            "has INT32",
            "has FP8",
            "memory-roof path",
        ],
    );
    let of = |way| paths::path(way, Substrate::Fp8, mode, question.n);
    for machine in &question.machines {
        let needed = |way, rate| -> Result<Option<f64>, RooflineError> {
            let Some(path) = of(way)? else {
                return Ok(None);
            };
            let floors = floors::floors(&path, machine)?;
            let floor = floors.iter().find(|floor| floor.rate == rate);
            Ok(floor.map(|floor| floor.needed))
        };
        let [native, naive, kulisch, matrix] = [
            needed(Variant::Native, Rate::Fp64)?,
            needed(Variant::Fp64Sum, Rate::Fp64)?,
            needed(Variant::Kulisch32, Rate::Int32)?,
            needed(Variant::Kulisch32, Rate::Fp8)?,
        ];
        let has = |rate| machine.rate(mode, rate).ok();
        let dual = matrix.map(|matrix| floors::dual_use(matrix, printed::SHARE_OF_PHASE_B, 1.0));
        let margin = |rate, floor: Option<f64>| Some(has(rate)? / floor?);
        let verdict = match (
            margin(Rate::Fp64, native),
            margin(Rate::Int32, kulisch),
            margin(Rate::Fp8, matrix),
        ) {
            (Some(native), ..) if native >= 1.0 => "native (floor 1)".to_string(),
            (Some(native), ..) if native >= 0.95 => {
                format!("native (floor 1 within {:.0} %)", 100.0 * (1.0 - native))
            }
            (_, Some(integers), Some(matrix)) if integers >= 1.0 && matrix >= 1.0 => {
                "Kulisch (floors 3 and 4)".into()
            }
            (None, ..) => "not known".into(),
            _ => "none".into(),
        };
        table.rows.push(vec![
            Cell::text(&machine.title),
            scaled(Rate::Bandwidth, has(Rate::Bandwidth), 3),
            scaled(Rate::Fp64, native, 3),
            scaled(Rate::Fp64, naive, 3),
            scaled(Rate::Int32, kulisch, 3),
            scaled(Rate::Fp8, matrix, 3),
            scaled(Rate::Fp8, dual, 3),
            scaled(Rate::Fp64, has(Rate::Fp64), 3),
            scaled(Rate::Int32, has(Rate::Int32), 3),
            scaled(Rate::Fp8, has(Rate::Fp8), 3),
            Cell::text(verdict),
        ]);
    }
    table.assume(["r = 12, S = 11, c = 4, 18 N³ outputs".into()]);
    table.assume([
        "coefficients rounded as in the paper (1.56, 2.06, 8.25 and 170 for 1024)".into(),
    ]);
    Ok(question.noted(table))
}

/// Ways that floors and verdicts are about.
const FLOOR_WAYS: [Variant; 5] = [
    Variant::Native,
    Variant::Fp64Sum,
    Variant::Kulisch32,
    Variant::Fp8Only,
    Variant::Digits,
];

fn corrected_floors(question: &Question) -> Result<Table, RooflineError> {
    let mode = Mode::Corrected;
    let mut table = Table::new(
        "floors",
        format!("Floors for {}", question.cube_title()),
        mode,
        &[
            "machine",
            "path",
            "unit",
            "operations a byte",
            "needed",
            "has",
            "margin",
        ],
    );
    for machine in &question.machines {
        for way in FLOOR_WAYS {
            for substrate in Substrate::ALL {
                let Some(path) = paths::path(way, substrate, mode, question.n)? else {
                    continue;
                };
                for floor in floors::floors(&path, machine)? {
                    let (unit, _) = shown_in(floor.rate);
                    table.rows.push(vec![
                        Cell::text(&machine.title),
                        Cell::text(path.title()),
                        Cell::text(format!("{}, {unit}", floor.rate.title())),
                        Cell::number(floor.coefficient, 3),
                        scaled(floor.rate, Some(floor.needed), 3),
                        scaled(floor.rate, floor.have, 3),
                        Cell::known(floor.margin, 2),
                    ]);
                }
                table.assume(path.assumptions);
            }
        }
    }
    Ok(question.noted(table))
}

fn measured_floors(question: &Question) -> Result<Table, RooflineError> {
    let record = &question.record;
    let mut table = Table::new(
        "floors",
        format!(
            "What measured paths would need for {}",
            question.cube_title()
        ),
        Mode::Measured,
        &[
            "machine",
            "path",
            "ms",
            "over memory",
            "instructions T/s, if they alone counted",
        ],
    );
    for machine in &question.machines {
        record.is_of(machine)?;
        let have = machine.rate(Mode::Measured, Rate::IntegerInstructions).ok();
        let roof = record.roof * (question.n as f64 / record.n as f64).powi(3);
        for path in &record.paths {
            let Some(seconds) = record.seconds(path, question.n) else {
                continue;
            };
            let needed = have.map(|have| have * seconds / roof);
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(&path.name),
                Cell::number(seconds * 1e3, 3),
                Cell::number(seconds / roof, 3),
                match path.name.as_str() {
                    "cufft" => Cell::text("FP64, not integers"),
                    _ => scaled(Rate::IntegerInstructions, needed, 3),
                },
            ]);
        }
    }
    Ok(question.noted(table))
}
