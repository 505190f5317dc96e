//! Single precision: section 6.

use super::{Question, scaled};
use crate::error::RooflineError;
use crate::floors;
use crate::mode::Mode;
use crate::rate::Rate;
use crate::table::{Cell, Table};

/// Section 6: single precision.
pub fn single(question: &Question) -> Result<Table, RooflineError> {
    let mode = question.mode;
    let mut table = Table::new(
        "fp32",
        format!("Single precision, {}", question.cube_title()),
        mode,
        &[
            "machine",
            "floor FP32 TFLOP/s",
            "Ozaki-II floor FP32 TFLOP/s",
            "has FP32",
            "FP32 headroom",
            "FP64 headroom",
        ],
    );
    for machine in &question.machines {
        let bandwidth = machine.bandwidth(mode)?;
        let fp64 = floors::native(question.n);
        // The paper has the same coefficient for both; half the bytes make it twice.
        let (native, fp64) = match mode {
            Mode::Printed => {
                let rounded = floors::as_printed(Rate::Fp64, fp64);
                (rounded, rounded)
            }
            _ => (floors::native_single(question.n), fp64),
        };
        let has = |rate| machine.rate(mode, rate).ok();
        let ozaki =
            floors::reconstruction_single(if mode == Mode::Printed { 18.0 } else { 12.0 }, 6.0);
        table.rows.push(vec![
            Cell::text(&machine.title),
            Cell::number(native * bandwidth / 1e12, 3),
            Cell::number(ozaki * bandwidth / 1e12, 3),
            scaled(Rate::Fp32, has(Rate::Fp32), 3),
            Cell::known(has(Rate::Fp32).map(|rate| rate / (native * bandwidth)), 2),
            Cell::known(has(Rate::Fp64).map(|rate| rate / (fp64 * bandwidth)), 2),
        ]);
    }
    table.assume([match mode {
        Mode::Printed => "1.56 operations a byte as in double precision (equation 23), Ozaki-II with r = S = 6".to_string(),
        _ => "the operations of double precision on half the bytes: 15 log2 N / 48 a byte; Ozaki-II with S = 6 and 12 N³ outputs".to_string(),
    }]);
    Ok(question.noted(table))
}
