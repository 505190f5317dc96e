//! Who gains from exact accumulation: Table 5.

use super::Question;
use crate::error::RooflineError;
use crate::floors::amdahl;
use crate::kernels::{self, Counts};
use crate::mode::Mode;
use crate::rate::Rate;
use crate::record::gains;
use crate::table::{Cell, Table};

/// Table 5: rows, the fractions of time, and the gains printed.
pub const BENEFICIARIES: [(&str, [f64; 2], [f64; 2]); 5] = [
    ("Ozaki-Bailey FFT", [0.95, 0.98], [10.0, 10.0]),
    ("Ozaki-II SpMV", [0.70, 0.90], [3.0, 6.0]),
    ("ReproBLAS replacement", [0.50, 0.90], [2.0, 6.0]),
    ("multi-term stencils", [0.50, 0.80], [1.9, 4.0]),
    ("batched small DGEMV", [0.30, 0.60], [1.4, 2.5]),
];
/// How much faster Kulisch's sum is than a plain one, in Table 5.
pub const GAIN: f64 = 12.0;

/// Table 5: who gains from exact accumulation.
pub fn beneficiaries(question: &Question) -> Result<Table, RooflineError> {
    let title = "Who gains from exact accumulation";
    let mode = question.mode;
    let mut table = match mode {
        Mode::Printed => Table::new(
            "beneficiaries",
            title,
            mode,
            &[
                "algorithm",
                "f, printed",
                "gain, equation 38",
                "gain, printed",
            ],
        ),
        Mode::Corrected => Table::new(
            "beneficiaries",
            title,
            mode,
            &[
                "machine",
                "kernel",
                "instructions a term",
                "f: FP64 beyond memory",
                "plain ms",
                "exact ms",
                "gain",
            ],
        ),
        Mode::Measured => Table::new(
            "beneficiaries",
            title,
            mode,
            &["algorithm", "f", "gain", "comment"],
        ),
    };
    match mode {
        Mode::Printed => {
            for (name, [low, high], gain) in BENEFICIARIES {
                table.rows.push(vec![
                    Cell::text(name),
                    Cell::text(format!("{low:.2}–{high:.2}")),
                    Cell::text(format!(
                        "{:.2}–{:.2}",
                        amdahl(low, GAIN),
                        amdahl(high, GAIN)
                    )),
                    Cell::text(if gain[0] == gain[1] {
                        format!("{}", gain[0])
                    } else {
                        format!("{}–{}", gain[0], gain[1])
                    }),
                ]);
            }
            table.assume([
                format!("sums become k = {GAIN} times faster"),
                "the same on every machine".into(),
            ]);
        }
        Mode::Corrected => {
            // Instructions a term as counted in machine code (docs/kulisch-gpu.md).
            let sum = Counts {
                name: "sum".into(),
                flops: 1e8,
                bytes: 8e8,
                outputs: 1.0,
                inner: 1e8,
            };
            let dot = Counts {
                name: "dot product".into(),
                flops: 2e8,
                bytes: 16e8,
                ..sum.clone()
            };
            for machine in &question.machines {
                let bandwidth = machine.bandwidth(mode)?;
                for (kernel, per_term) in [
                    (sum.clone(), 23.0),
                    (dot.clone(), 50.0),
                    (kernels::spmv(1e7, 27.0), 104.0),
                    (kernels::stencil(1024f64.powi(3), 25.0), 56.0),
                ] {
                    let memory = kernel.bytes / bandwidth;
                    let plain = machine
                        .rate(mode, Rate::Fp64)
                        .ok()
                        .filter(|rate| *rate > 0.0);
                    let plain = plain.map(|rate| (kernel.flops / rate).max(memory));
                    let terms = kernel.outputs * kernel.inner;
                    let exact = machine.rate(mode, Rate::IntegerInstructions).ok();
                    let exact = exact.map(|rate| (terms * per_term / rate).max(memory));
                    let milli =
                        |seconds: Option<f64>| Cell::known(seconds.map(|seconds| seconds * 1e3), 3);
                    table.rows.push(vec![
                        Cell::text(&machine.title),
                        Cell::text(&kernel.name),
                        Cell::count(per_term),
                        Cell::known(plain.map(|plain| 1.0 - memory / plain), 2),
                        milli(plain),
                        milli(exact),
                        Cell::known(plain.zip(exact).map(|(plain, exact)| plain / exact), 2),
                    ]);
                }
            }
            table.assume(["instructions a term as counted in machine code (docs/kulisch-gpu.md); memory and arithmetic overlap perfectly".into()]);
        }
        Mode::Measured => {
            for machine in &question.machines {
                question.record.is_of(machine)?;
            }
            for gain in gains()? {
                table.rows.push(vec![
                    Cell::text(gain.algorithm),
                    Cell::known(gain.fraction, 2),
                    Cell::known(gain.speedup, 2),
                    Cell::text(gain.why),
                ]);
            }
            table.assume(["2026-11-15-h200-kulisch.json".into()]);
            return Ok(table);
        }
    }
    Ok(question.noted(table))
}
