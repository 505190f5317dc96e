//! The tables: floors (Table 1), wall times (section 4.1, Figure 1, C.1), regimes (Table 3), words (Table 2), beneficiaries (Table 5), FP32
//! (section 6). Each in all three modes, each saying what it rests on.

use crate::error::RooflineError;
use crate::floors::{self, Words, amdahl};
use crate::kernels::{self, Counts, Cube};
use crate::machine::{Machine, Rate};
use crate::mode::Mode;
use crate::paths::{self, Substrate, Way, counted, printed};
use crate::record::{Record, gains};
use crate::table::{Cell, Table, shown_in};
use crate::time::estimate;

/// What tables are asked for.
#[derive(Debug, Clone)]
pub struct Question {
    /// Machines, a row or a group of rows each.
    pub machines: Vec<Machine>,
    /// Points of an axis.
    pub n: usize,
    /// Whose numbers.
    pub mode: Mode,
    /// Times for mode *measured*.
    pub record: Record,
}

impl Question {
    /// The machines that a mode has: the paper's, all, or the one that was measured; with the record of the crate.
    pub fn usual(mode: Mode, n: usize) -> Result<Question, RooflineError> {
        let mut machines = Machine::all()?;
        machines.retain(|machine| match mode {
            Mode::Printed => machine.is_in_the_paper(),
            Mode::Corrected => true,
            Mode::Measured => machine.bandwidth(mode).is_ok(),
        });
        Ok(Question {
            machines,
            n,
            mode,
            record: Record::embedded()?,
        })
    }

    fn noted(&self, mut table: Table) -> Table {
        if self.mode == Mode::Printed {
            for machine in self
                .machines
                .iter()
                .filter(|machine| !machine.is_in_the_paper())
            {
                table.assume([format!(
                    "{} is not in the paper: its formulas, with public figures",
                    machine.title
                )]);
            }
        }
        if self.mode == Mode::Measured {
            let record = &self.record;
            table.assume([format!(
                "times of {} on {}, {}",
                record.file, record.device, record.date
            )]);
            if self.n != record.n {
                table.assume([format!(
                    "measured for {0}×{0}×{0}; every point and axis takes as long for other sizes",
                    record.n
                )]);
            }
        }
        table
    }

    fn cube_title(&self) -> String {
        format!("{0}×{0}×{0}", self.n)
    }
}

fn scaled(rate: Rate, value: Option<f64>, digits: usize) -> Cell {
    Cell::known(value.map(|value| value / shown_in(rate).1), digits)
}

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
            needed(Way::Native, Rate::Fp64)?,
            needed(Way::Fp64Sum, Rate::Fp64)?,
            needed(Way::Kulisch32, Rate::Int32)?,
            needed(Way::Kulisch32, Rate::Fp8)?,
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
const FLOOR_WAYS: [Way; 5] = [
    Way::Native,
    Way::Fp64Sum,
    Way::Kulisch32,
    Way::Fp8Only,
    Way::Digits,
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

/// Wall times of all paths.
pub fn wall_times(question: &Question) -> Result<Table, RooflineError> {
    if question.mode == Mode::Measured {
        return measured_wall_times(question);
    }
    let mode = question.mode;
    let mut table = Table::new(
        "walltime",
        format!("Wall times of {}, ms", question.cube_title()),
        mode,
        &[
            "machine",
            "path",
            "memory",
            "products",
            "reconstruction",
            "everything else",
            "one after the other",
            "equation 3",
            "all at once",
            "bound by",
        ],
    );
    for machine in &question.machines {
        for path in paths::all(mode, question.n)? {
            let mut row = vec![Cell::text(&machine.title), Cell::text(path.title())];
            match estimate(&path, machine) {
                Ok(estimate) => {
                    let of = |role| -> f64 {
                        let stages = path.stages.iter().zip(&estimate.stages);
                        let own = stages.filter(|(stage, _)| stage.role == role);
                        own.map(|(_, time)| time.seconds).sum()
                    };
                    for seconds in [
                        estimate.memory,
                        of(paths::Role::Product),
                        of(paths::Role::Reconstruction),
                        of(paths::Role::Beside),
                        estimate.serial,
                        estimate.tme,
                        estimate.overlapped,
                    ] {
                        row.push(Cell::number(seconds * 1e3, 3));
                    }
                    row.push(Cell::text(estimate.binding.title()));
                }
                Err(RooflineError::NotKnown { key, .. }) => {
                    row.extend(vec![Cell::text("not known"); 7]);
                    row.push(Cell::text(format!("rate of the {} not known", key.title())));
                }
                Err(error) => return Err(error),
            }
            table.rows.push(row);
            table.assume(path.assumptions);
        }
    }
    table.assume(["every unit at its peak rate".into()]);
    Ok(question.noted(table))
}

fn measured_wall_times(question: &Question) -> Result<Table, RooflineError> {
    let record = &question.record;
    let mut table = Table::new(
        "walltime",
        format!("Wall times of {}, ms", question.cube_title()),
        Mode::Measured,
        &[
            "machine",
            "path",
            "paper's name",
            "ms",
            "over memory",
            "L2 error",
        ],
    );
    for machine in &question.machines {
        record.is_of(machine)?;
        let roof = record.roof * (question.n as f64 / record.n as f64).powi(3);
        for path in &record.paths {
            let seconds = record.seconds(path, question.n);
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(&path.name),
                Cell::text(&path.paper),
                match (seconds, &path.missing) {
                    (Some(seconds), _) => Cell::number(seconds * 1e3, 3),
                    (None, why) => Cell::text(why.as_deref().unwrap_or("not measured")),
                },
                Cell::known(seconds.map(|seconds| seconds / roof), 3),
                Cell::known(path.l2, 2),
            ]);
        }
    }
    Ok(question.noted(table))
}

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
                Cell::number(kernel.inner, 4),
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
                Cell::number(cube.factors.0 as f64, 4),
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

/// Table 2: words of 32, 16 and 8 bits.
pub fn widths(question: &Question) -> Result<Table, RooflineError> {
    let mode = question.mode;
    let columns: &[&str] = match mode {
        Mode::Printed => &[
            "word",
            "lanes of 512 bits",
            "words for 104 bits",
            "throughput, printed",
            "throughput, equation 19",
            "sub-floor, of memory",
            "exact",
        ],
        Mode::Corrected => &[
            "word",
            "lanes of 512 bits",
            "throughput, counted",
            "sub-floor of the sum, of memory",
            "exact",
        ],
        Mode::Measured => &[
            "word",
            "γ, ps an output",
            "throughput of γ",
            "throughput of the whole path",
            "exact",
        ],
    };
    let mut table = Table::new("widths", "Kulisch's sum in narrow words", mode, columns);
    for (index, (word, throughput)) in printed::THROUGHPUT.into_iter().enumerate() {
        let name = Cell::text(format!("INT{word}"));
        let exact = Cell::text("yes");
        match mode {
            Mode::Printed => {
                let radices = [[26, 21], [13, 12], [7, 4]][index];
                let words = radices.map(|radix| Words::printed(word, radix));
                // The printed numbers of words mean these radices; throughput is relative to both of 32 bits.
                let wide = [26, 21].map(|radix| Words::printed(32, radix).cost());
                let ratios: Vec<f64> = words
                    .iter()
                    .flat_map(|narrow| wide.map(|wide| wide / narrow.cost()))
                    .collect();
                let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let most = ratios.iter().copied().fold(0.0, f64::max);
                let floor = floors::reconstruction(18.0, 4.0, 11.0) / throughput;
                table.rows.push(vec![
                    name,
                    Cell::number(f64::from(words[0].lanes()), 2),
                    Cell::text(format!("{}–{}", words[0].words(), words[1].words())),
                    Cell::number(throughput, 2),
                    Cell::text(format!("{least:.2} to {most:.2}")),
                    Cell::number(floor, 2),
                    exact,
                ]);
            }
            Mode::Corrected => {
                let (moduli, log2) = Substrate::Int8.moduli()[1];
                let slices = Substrate::Int8.slices(log2);
                let throughput = counted::THROUGHPUT[index].1;
                let floor = floors::reconstruction(
                    counted::OUTPUTS_PER_POINT,
                    counted::OPERATIONS_PER_SLICE,
                    slices,
                ) / throughput;
                table.rows.push(vec![
                    name,
                    Cell::number(f64::from(512 / word), 2),
                    Cell::number(throughput, 2),
                    Cell::number(floor, 3),
                    exact,
                ]);
                table.assume([format!(
                    "{moduli} moduli of int8, {slices} slices, 12 N³ outputs; the multiple of M and all else come on top; throughput counted on vectors of equal width"
                )]);
            }
            Mode::Measured => {
                let record = &question.record;
                let gamma = |word| record.constant(&format!("gamma.residues-kulisch{word}"));
                let whole = |word| {
                    let name = format!("residues-kulisch{word}");
                    let path = record.paths.iter().find(|path| path.name == name);
                    path.and_then(|path| path.seconds)
                };
                let ratio = |of: &dyn Fn(u32) -> Option<f64>| Some(of(32)? / of(word)?);
                table.rows.push(vec![
                    name,
                    Cell::known(gamma(word), 3),
                    Cell::known(ratio(&gamma), 2),
                    Cell::known(ratio(&whole), 2),
                    exact,
                ]);
            }
        }
    }
    Ok(question.noted(table))
}

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
                    Cell::text(format!("{}–{}", gain[0], gain[1])),
                ]);
            }
            table.assume([format!("sums become k = {GAIN} times faster")]);
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
                        Cell::number(per_term, 3),
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

/// What is known of machines, with sources.
pub fn machines(question: &Question) -> Table {
    let mode = question.mode;
    let mut table = Table::new(
        "machines",
        "Machines",
        mode,
        &["machine", "figure", "value", "unit", "source"],
    );
    for machine in &question.machines {
        let figures = machine.figures_of(mode);
        for rate in Rate::ALL {
            let Some(figure) = figures.get(&rate) else {
                continue;
            };
            let derived = figure.derived.as_ref();
            let source = match derived {
                Some(derived) => format!("{} ({derived})", figure.source),
                None => figure.source.clone(),
            };
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(rate.key()),
                Cell::number(figure.value, 4),
                Cell::text(&figure.unit),
                Cell::text(source),
            ]);
        }
    }
    question.noted(table)
}
