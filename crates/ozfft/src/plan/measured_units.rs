//! Constants of units, fitted to records (`ozfft-lab model predictions --fit`): nanoseconds for a point of a pass, for one of a strided pass
//! besides, for a product of digits (or, of modes in floating point, for a step), and the share of a real array's points.

use super::constants::{MeasuredUnit, unit};

const MACHINE_1: &str = "an Emerald Rapids Xeon, one thread";
const MACHINE_3: &str = "a Xeon with AMX, one of 16 cores, idle";
const RECORD_5: &str = "benchmarks/records/2026-11-18-idle-short-lines.json; one benchmark, line-1024, so that products have all of its time";
const MACHINE_4: &str = "a Xeon with AMX, a free core of a shared host";
const RECORD_6: &str =
    "benchmarks/records/2026-11-18-h200-host-lines.json; a real array's share by hand";
const MACHINE_2: &str = "an H200";
const RECORD_2: &str = "benchmarks/records/2026-11-15-h200.json";
const RECORD_3: &str =
    "laboratory/records/2026-11-16-emerald-rapids-ladder.json; strided is assumed";
const RECORD_4: &str = "floats' example `ladder times`, 2026-11-16, with estimates in place of disturbed readings and, on the scalar unit, scaled from bf16; f64 data by the difference on other units; strided is assumed";

/// Units that multiply digits.
#[rustfmt::skip]
pub(super) const UNITS: [MeasuredUnit; 7] = [
    unit("amx", MACHINE_4, RECORD_6, [5.84, 2.59, 0.00470, 0.7]),
    unit("avx512-vnni", MACHINE_4, RECORD_6, [4.67, 2.69, 0.00671, 0.7]),
    unit("avx2", MACHINE_4, RECORD_6, [9.13, 5.05, 0.0125, 0.7]),
    unit("scalar", MACHINE_3, RECORD_5, [0.0, 0.0, 0.0584, 1.0]),
    unit("int8-wgmma", MACHINE_2, RECORD_2, [0.00832, 0.00037, 5.57e-06, 0.5]),
    unit("int8-mma-sync", MACHINE_2, RECORD_2, [0.0283, 0.00153, 1.22e-05, 1.0]),
    unit("fp8-wgmma", MACHINE_2, RECORD_2, [0.0176, 0.0013, 3.47e-06, 1.0]),
];

/// Modes in floating point, by mode, unit and number type.
#[cfg(feature = "floats")]
#[rustfmt::skip]
pub(super) const MODES: [MeasuredUnit; 36] = [
    unit("bf16, amx_bf16, f32", MACHINE_1, RECORD_3, [1.07, 4.0, 0.195, 1.0]),
    unit("bf16, amx_bf16, f64", MACHINE_1, RECORD_3, [6.56, 4.0, 1.22, 1.0]),
    unit("bf16, avx512_bf16, f32", MACHINE_1, RECORD_4, [0.767, 4.0, 1.48, 1.0]),
    unit("bf16, avx512_bf16, f64", MACHINE_1, RECORD_4, [4.77, 4.0, 1.48, 1.0]),
    unit("bf16, scalar, f32", MACHINE_1, RECORD_4, [1.0, 4.0, 850.0, 1.0]),
    unit("bf16, scalar, f64", MACHINE_1, RECORD_4, [5.0, 4.0, 850.0, 1.0]),
    unit("bf16_refined, amx_bf16, f32", MACHINE_1, RECORD_3, [1.17, 4.0, 0.275, 1.0]),
    unit("bf16_refined, amx_bf16, f64", MACHINE_1, RECORD_3, [3.58, 4.0, 0.63, 1.0]),
    unit("bf16_refined, avx512_bf16, f32", MACHINE_1, RECORD_4, [1.2, 4.0, 1.05, 1.0]),
    unit("bf16_refined, avx512_bf16, f64", MACHINE_1, RECORD_4, [5.2, 4.0, 1.05, 1.0]),
    unit("bf16_refined, scalar, f32", MACHINE_1, RECORD_4, [1.0, 4.0, 850.0, 1.0]),
    unit("bf16_refined, scalar, f64", MACHINE_1, RECORD_4, [5.0, 4.0, 850.0, 1.0]),
    unit("ozaki, amx_bf16, f32", MACHINE_1, RECORD_3, [1.5, 4.0, 0.347, 1.0]),
    unit("ozaki, amx_bf16, f64", MACHINE_1, RECORD_3, [7.13, 4.0, 1.57, 1.0]),
    unit("ozaki, avx512_bf16, f32", MACHINE_1, RECORD_4, [1.01, 4.0, 4.62, 1.0]),
    unit("ozaki, avx512_bf16, f64", MACHINE_1, RECORD_4, [5.01, 4.0, 4.62, 1.0]),
    unit("ozaki, scalar, f32", MACHINE_1, RECORD_4, [1.0, 4.0, 2550.0, 1.0]),
    unit("ozaki, scalar, f64", MACHINE_1, RECORD_4, [5.0, 4.0, 2550.0, 1.0]),
    unit("ozaki_hq, amx_bf16, f32", MACHINE_1, RECORD_3, [2.28, 4.0, 0.506, 1.0]),
    unit("ozaki_hq, amx_bf16, f64", MACHINE_1, RECORD_3, [8.27, 4.0, 1.78, 1.0]),
    unit("ozaki_hq, avx512_bf16, f32", MACHINE_1, RECORD_4, [1.04, 4.0, 9.48, 1.0]),
    unit("ozaki_hq, avx512_bf16, f64", MACHINE_1, RECORD_4, [5.04, 4.0, 9.48, 1.0]),
    unit("ozaki_hq, scalar, f32", MACHINE_1, RECORD_4, [1.0, 4.0, 5100.0, 1.0]),
    unit("ozaki_hq, scalar, f64", MACHINE_1, RECORD_4, [5.0, 4.0, 5100.0, 1.0]),
    unit("ozaki_two_level, amx_bf16, f32", MACHINE_1, RECORD_3, [6.97, 4.0, 1.32, 1.0]),
    unit("ozaki_two_level, amx_bf16, f64", MACHINE_1, RECORD_3, [7.51, 4.0, 1.76, 1.0]),
    unit("ozaki_two_level, avx512_bf16, f32", MACHINE_1, RECORD_4, [3.07, 4.0, 21.0, 1.0]),
    unit("ozaki_two_level, avx512_bf16, f64", MACHINE_1, RECORD_4, [3.87, 4.0, 21.0, 1.0]),
    unit("ozaki_two_level, scalar, f32", MACHINE_1, RECORD_4, [1.0, 4.0, 8500.0, 1.0]),
    unit("ozaki_two_level, scalar, f64", MACHINE_1, RECORD_4, [1.8, 4.0, 8500.0, 1.0]),
    unit("fast, avx512, f32", MACHINE_1, RECORD_3, [2.11, 4.0, 0.127, 1.0]),
    unit("fast, avx512, f64", MACHINE_1, RECORD_3, [17.8, 4.0, 0.0223, 1.0]),
    unit("kahan, avx512, f32", MACHINE_1, RECORD_3, [3.07, 4.0, 0.516, 1.0]),
    unit("kahan, avx512, f64", MACHINE_1, RECORD_3, [18.9, 4.0, 0.411, 1.0]),
    unit("double, avx512, f32", MACHINE_1, RECORD_3, [3.1, 4.0, 0.188, 1.0]),
    unit("double, avx512, f64", MACHINE_1, RECORD_3, [4.56, 4.0, 0.236, 1.0]),
];

/// The constants of a mode on a unit for data of a type: its steps are counted as products, tiles or stages.
///
/// Modes are chosen by it where the caller leaves the engine to the planner.
#[cfg(feature = "floats")]
pub(crate) fn measured_mode(mode: &str, unit: &str, numbers: &str) -> Option<MeasuredUnit> {
    let name = format!("{mode}, {unit}, {numbers}");
    let mut modes = MODES.into_iter();
    modes.find(|mode| mode.unit == name)
}

/// The constants of a unit, by the name that plans give it.
pub fn measured_unit(name: &str) -> Option<MeasuredUnit> {
    let mut units = UNITS.into_iter();
    units.find(|unit| unit.unit == name)
}
