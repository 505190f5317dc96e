//! Regimes: Table 3, with the kernels of Part 1.

use super::Question;
use crate::error::RooflineError;
use crate::kernels::{self, Counts, Cube};
use crate::mode::Mode;
use crate::paths::{Substrate, counted, printed};
use crate::rate::Rate;
use crate::table::{Cell, Table};

/// Kernels of Table 3 and of Part 1, of sizes that the paper names or that are usual.
pub fn regime_kernels(cube: Cube) -> Vec<Counts> {
    vec![
        kernels::gemm(8192.0, 8192.0, 8192.0),
        kernels::batched_gemv(1e6, 100.0, 100.0),
        kernels::batched_gemv(1e6, 10.0, 10.0),
        kernels::stencil(1024f64.powi(3), 13.0),
        kernels::spmv(1e7, 27.0),
        kernels::native_fft(cube),
    ]
}

/// Which of the three terms of equation 3 binds, kernel by kernel.
pub fn regimes(question: &Question) -> Result<Table, RooflineError> {
    let mode = question.mode;
    let cube = Cube::new(question.n)?;
    let mut table = Table::new(
        "regimes",
        "Which term of equation 3 binds",
        mode,
        &[
            "machine",
            "kernel",
            "k",
            "αW/P ms",
            "βQ/B ms",
            "γ·n ms",
            "binds",
            "native ms",
        ],
    );
    if mode == Mode::Measured {
        return measured_regimes(question, table);
    }
    for machine in &question.machines {
        let rate = |key| machine.rate(mode, key).ok();
        // α, and the rates of products and of reconstruction.
        let int8 = rate(Rate::Int8).unwrap_or(0.0);
        let fp8 = rate(Rate::Fp8).unwrap_or(0.0);
        let ((alpha, products), gamma) = match mode {
            Mode::Printed => (
                (3.0 * printed::MODULI + 1.0, fp8),
                rate(Rate::Int32).map(|integers| {
                    printed::OPERATIONS_PER_SLICE * printed::slices(printed::MODULI) / integers
                }),
            ),
            _ => {
                let substrate = if int8 / 16.0 > fp8 / 42.0 {
                    Substrate::Int8
                } else {
                    Substrate::Fp8
                };
                let (moduli, log2) = substrate.moduli()[1];
                let slices = substrate.slices(log2);
                let operations =
                    counted::OPERATIONS_PER_SLICE * slices + substrate.multiple_of_modulus(slices);
                (
                    (
                        substrate.products(moduli),
                        rate(substrate.rate()).unwrap_or(0.0),
                    ),
                    rate(Rate::IntegerInstructions).map(|integers| operations / integers),
                )
            }
        };
        let bandwidth = machine.bandwidth(mode)?;
        for kernel in regime_kernels(cube) {
            // The paper's transform has its own counts of work and outputs.
            let (work, outputs) = if !kernel.name.starts_with("FFT") {
                (kernel.flops, kernel.outputs)
            } else if mode == Mode::Printed {
                let outputs = printed::OUTPUTS_PER_POINT * cube.points();
                (cube.printed_product_operations(), outputs)
            } else {
                (2.0 * cube.folded_multiply_adds(), kernel.outputs)
            };
            let terms = [
                ("α", (products > 0.0).then(|| alpha * work / products)),
                ("β", Some(kernel.bytes / bandwidth)),
                ("γ", gamma.map(|gamma| gamma * outputs)),
            ];
            let known = terms.iter().all(|(_, seconds)| seconds.is_some());
            let largest = terms
                .iter()
                .max_by(|a, b| a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0)));
            let native =
                rate(Rate::Fp64).map(|fp64| (kernel.flops / fp64).max(kernel.bytes / bandwidth));
            let milli = |seconds: Option<f64>| Cell::known(seconds.map(|seconds| seconds * 1e3), 3);
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(&kernel.name),
                Cell::count(kernel.inner),
                milli(terms[0].1),
                milli(terms[1].1),
                milli(terms[2].1),
                match largest {
                    Some((name, _)) if known => Cell::text(*name),
                    _ => Cell::text("not known"),
                },
                milli(native),
            ]);
        }
    }
    table.assume([match mode {
        Mode::Printed => "α = 3r + 1 = 37, β = 1, γ = 44 INT32 operations (Kulisch); decomposition is free".to_string(),
        _ => "α and γ of a later step in the faster unit, β = 1; decomposition is not counted, and would be much for small k".to_string(),
    }]);
    Ok(question.noted(table))
}

/// The terms of the one kernel that was measured.
fn measured_regimes(question: &Question, mut table: Table) -> Result<Table, RooflineError> {
    let record = &question.record;
    let cube = Cube::new(question.n)?;
    let outputs = counted::OUTPUTS_PER_POINT * cube.points();
    let scale = (question.n as f64 / record.n as f64).powi(3);
    for machine in &question.machines {
        record.is_of(machine)?;
        let seconds = |name: &str| {
            let path = record.paths.iter().find(|path| path.name == name);
            path.and_then(|path| record.seconds(path, question.n))
        };
        for constant in &record.constants {
            let Some(way) = constant.name.strip_prefix("gamma.") else {
                continue;
            };
            let gamma = constant.value * 1e-12 * outputs;
            let whole = seconds(way);
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(format!("FFT {}, {way}", question.cube_title())),
                Cell::count(cube.factors.0 as f64),
                // What is left: products and all that surrounds them.
                Cell::known(whole.map(|whole| (whole - gamma) * 1e3), 3),
                Cell::number(record.roof * scale * 1e3, 3),
                Cell::number(gamma * 1e3, 3),
                match whole {
                    Some(whole) if gamma > whole - gamma => Cell::text("γ"),
                    Some(_) => Cell::text("all but γ"),
                    None => Cell::text("not known"),
                },
                Cell::known(seconds("cufft").map(|seconds| seconds * 1e3), 3),
            ]);
        }
    }
    table.assume([
        "the column αW/P is the time without reconstruction: products, decomposition, quantising, rotating, and memory as far as it does not overlap".into(),
    ]);
    Ok(question.noted(table))
}
