//! The constants of a record that was worked by hand: a cube of 1024, round times.

use super::*;
use crate::paths::counters::Launch;
use crate::paths::counters::{Counters, Counts};
use crate::paths::report::FaultCounts;
use crate::paths::tiles::{Resident, Tile};
use ozfft_measure::gpu::{DeviceFacts, KernelFacts};
use ozfft_measure::machine::Machine;
use std::collections::BTreeMap;

/// 1024³ times three axes.
const POINTS_AND_AXES: f64 = 3.0 * 1_073_741_824.0;

fn facts(kernel: &str) -> KernelFacts {
    KernelFacts {
        kernel: kernel.into(),
        registers: 128,
        local_bytes: 0,
        threads: 256,
        shared_bytes: 62_560,
        blocks_per_multiprocessor: 2,
        occupancy: 0.25,
    }
}

fn counts(instructions: f64, bytes: f64) -> Counters {
    Counters::Counted(Counts {
        source: "counters.csv".into(),
        launches: 3,
        left_out: Vec::new(),
        instructions_per_point: Some(instructions),
        pipes_per_point: BTreeMap::from([("alu".into(), instructions / 2.0)]),
        dram_bytes_per_point: Some(bytes),
        achieved_occupancy: Some(0.25),
        issue_share: None,
    })
}

fn path(name: &str, milliseconds: f64, instructions: f64) -> Path {
    let kernel = name.replace('-', "_");
    let kernel = match name.starts_with("without") {
        true => format!("residues_{kernel}"),
        false => kernel,
    };
    Path {
        name: name.into(),
        paper: String::new(),
        missing: None,
        seconds: Some(milliseconds * 1e-3),
        // A millisecond to either side.
        seconds_range: Some([(milliseconds - 1.0) * 1e-3, (milliseconds + 1.0) * 1e-3]),
        runs: 5,
        over_memory_roof: None,
        over_cufft: None,
        l2: (!name.starts_with("without")).then_some(1e-16),
        bound: None,
        differing: None,
        kernel: Some(facts(&kernel)),
        launches: vec![Launch {
            kernel,
            blocks: 262_144,
        }],
        faults: None,
        counters: counts(instructions, 33.0),
    }
}

#[test]
fn a_fault_that_is_overlooked_makes_a_path_wrong() {
    let mut path = path("residues-redundant", 270.0, 1000.0);
    let counted = FaultCounts {
        calls: 2,
        sums: 1000,
        made: 10,
        corrected: 10,
        uncorrectable: 0,
    };
    for (corrected, uncorrectable, wrong) in
        [(10, 0, false), (9, 0, true), (11, 0, true), (10, 1, true)]
    {
        path.faults = Some(FaultCounts {
            corrected,
            uncorrectable,
            ..counted
        });
        assert_eq!(path.is_wrong(), wrong, "{corrected}, {uncorrectable}");
        assert_eq!(path.verdict().contains("10 faults were made"), wrong);
    }
}

fn tile(layout: &str, lines_per_block: u64) -> Tile {
    Tile {
        layout: layout.into(),
        lines_per_block,
        threads: 256,
        usual: lines_per_block == 4,
        lines: 1000,
        missing: (lines_per_block > 8).then(|| "they do not fit".into()),
        seconds: (lines_per_block <= 8).then_some(1.0e-3),
        seconds_range: None,
        copy_seconds: 0.2e-3,
        kernel: None,
        launches: Vec::new(),
        counters: match lines_per_block {
            4 => counts(1.0, 40.0),
            _ => Counters::default(),
        },
    }
}

fn report() -> Report {
    let device: DeviceFacts = serde_json::from_str(
        r#"{"name": "a GPU", "compute_capability": "9.0", "multiprocessors": 100, "clock_mhz": 1000, "memory_clock_mhz": 1000,
            "memory_bus_bits": 1024, "memory_bytes": 1, "l2_bytes": 1, "shared_bytes_per_multiprocessor": 1, "shared_bytes_per_block": 1,
            "registers_per_multiprocessor": 1, "threads_per_multiprocessor": 2048, "driver": null, "cuda": "13.0"}"#,
    )
    .expect("facts");
    let mut report = Report {
        date: "2026-11-15T00:00:00Z".into(),
        machine: Machine::here(),
        ozfft: "0.1.0".into(),
        commit: None,
        rustc: String::new(),
        device,
        shape: "1024x1024x1024".into(),
        seed: 1,
        lines_checked: 0,
        copy_bytes_per_second: 4e12,
        memory_roof_seconds: 24e-3,
        paths: vec![
            path("cufft", 32.0, 0.0),
            path("residues-kulisch32", 232.0, 1000.0),
            path("residues-kulisch16", 280.0, 1200.0),
            path("residues-kulisch8", 328.0, 1600.0),
            path("residues-fp8-kulisch32", 200.0, 900.0),
            path("without-decomposition", 196.0, 700.0),
            path("without-products", 212.0, 990.0),
            path("without-reconstruction", 184.0, 600.0),
        ],
        stages: Vec::new(),
        tiles: vec![
            tile("contiguous", 4),
            tile("contiguous", 8),
            tile("strided", 16),
        ],
        resident: vec![Resident {
            layout: "contiguous".into(),
            lines: 100,
            repeats: 64,
            seconds: 0.09e-3,
            seconds_range: [0.09e-3, 0.09e-3],
            kernel: "residues_kulisch32".into(),
        }],
        eta_ts: Vec::new(),
        delivered: None,
    };
    report.paths[0].kernel = None;
    report
}

fn sources(device: &str) -> Sources {
    Sources {
        command: "by hand".into(),
        rates: Some(Rates {
            instructions: [
                ("mma.sync s8 m16n8k32", 1e15),
                ("wgmma e4m3 m64n256k32", 2e15),
            ]
            .map(|(name, rate)| (name.to_string(), rate))
            .into(),
            device: device.into(),
            source: "probe.json".into(),
        }),
        adaptive: None,
    }
}

fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("a constant");
    assert!(
        (found / expected - 1.0).abs() < 1e-12,
        "{found} is not {expected}"
    );
}

fn missing<'a>(delivered: &'a Delivered, name: &str) -> &'a str {
    let mut named = delivered
        .not_measured
        .iter()
        .filter(|missing| missing.name == name);
    &named
        .next()
        .unwrap_or_else(|| panic!("{name} is not missing"))
        .reason
}

fn found(delivered: &Delivered, name: &str) -> Constant {
    let mut named = delivered.constants.iter().filter(|c| c.name == name);
    named
        .next()
        .unwrap_or_else(|| panic!("{name} is missing"))
        .clone()
}

#[test]
fn gamma_is_time_beyond_that_without_reconstruction_over_outputs() {
    let delivered = delivered(&report(), &sources("a GPU")).expect("constants");
    // 232 - 184 = 48 ms over 4 outputs of 3.2e9 points.
    let gamma = found(&delivered, "gamma.residues-kulisch32");
    close(Some(gamma.value), 48e-3 * 1e12 / (4.0 * POINTS_AND_AXES));
    // Runs differ by a millisecond to either side on both: 46 to 50 ms.
    let range = gamma.range.expect("a range");
    close(Some(range[0]), 46e-3 * 1e12 / (4.0 * POINTS_AND_AXES));
    close(Some(range[1]), 50e-3 * 1e12 / (4.0 * POINTS_AND_AXES));
    assert_eq!(gamma.kernel.as_deref(), Some("residues_kulisch32"));
    // 1000 - 600 instructions of a point over 4 outputs.
    close(
        delivered.value("gamma_instructions.residues-kulisch32"),
        100.0,
    );
    // Products on fp8 have no kernel here that lacks the rest.
    assert!(missing(&delivered, "gamma.residues-fp8-kulisch32").contains("without reconstruction"));
    assert!(delivered.value("gamma.cufft").is_none());
    assert!(delivered.value("gamma.without-products").is_none());
}

#[test]
fn narrow_words_are_compared_by_time_and_by_instructions() {
    let delivered = delivered(&report(), &sources("a GPU")).expect("constants");
    // 48, 96 and 144 ms; 400, 600 and 1000 instructions over 4 outputs and 16 words of a vector.
    close(delivered.value("c.time.32"), 1.0);
    close(delivered.value("c.time.16"), 2.0);
    close(delivered.value("c.time.8"), 3.0);
    close(delivered.value("c.instructions.32"), 6.25);
    close(delivered.value("c.instructions.16"), 9.375);
    close(delivered.value("c.instructions.8"), 15.625);
}

#[test]
fn alpha_charges_the_decomposition() {
    let delivered = delivered(&report(), &sources("a GPU")).expect("constants");
    close(delivered.value("alpha.counted"), 15.5);
    // Decomposition 36 ms, products 20 ms.
    // One modulus: 2 operations, 64 products, 2 steps a point, at 1e15 a second.
    let one = 256.0 * POINTS_AND_AXES / 1e15;
    close(delivered.value("alpha.products"), 20e-3 / one);
    let all = 15.5 + 36e-3 / one;
    close(delivered.value("alpha.delivered"), all);
    close(delivered.value("alpha.precomputation"), 1.0 - 15.5 / all);
    let other = super::delivered(&report(), &sources("another GPU")).expect("constants");
    assert!(missing(&other, "alpha.delivered").contains("probe.json is of another GPU"));
}

/// Constants of products were once negative, and shares of memory's time more than 1.
#[test]
fn differences_that_mean_nothing_are_not_measured() {
    let mut report = report();
    let path = |name: &str| report.paths.iter().position(|path| path.name == name);
    let (whole, without) = (path("residues-kulisch32"), path("without-products"));
    let (whole, without) = (whole.expect("a path"), without.expect("a path"));
    report.paths[without].seconds = report.paths[whole].seconds.map(|seconds| 1.05 * seconds);
    report.paths[without].seconds_range = None;
    report.resident[0].seconds *= 2.0;
    let delivered = delivered(&report, &sources("a GPU")).expect("constants");
    assert!(missing(&delivered, "alpha.products").contains("saves nothing"));
    assert!(missing(&delivered, "overlap.contiguous").contains("launches"));
    assert!(delivered.value("alpha.delivered") > Some(15.5));
}

#[test]
fn kernels_on_fp8_have_constants_of_their_own() {
    let mut report = report();
    for (name, kernel, milliseconds) in [
        ("fp8-only", "residues_fp8_bands", 300.0),
        (
            "fp8-without-decomposition",
            "residues_fp8_without_decomposition",
            270.0,
        ),
        (
            "fp8-without-products",
            "residues_fp8_without_products",
            200.0,
        ),
        (
            "fp8-without-reconstruction",
            "residues_fp8_without_reconstruction",
            204.0,
        ),
    ] {
        let mut path = path(name, milliseconds, 1000.0);
        path.kernel = Some(facts(kernel));
        path.l2 = (name == "fp8-only").then_some(1e-16);
        report.paths.push(path);
    }
    let delivered = delivered(&report, &sources("a GPU")).expect("constants");
    let one = 256.0 * POINTS_AND_AXES / 2e15;
    close(delivered.value("alpha.products.fp8"), 100e-3 / one);
    // Four products of nibbles a modulus; the decomposition takes 30 ms.
    close(delivered.value("alpha.delivered.fp8"), 62.0 + 30e-3 / one);
    // Integers are put together in 96 ms, and not beyond the kernel on int8.
    close(
        delivered.value("gamma.fp8-only"),
        96e-3 * 1e12 / (4.0 * POINTS_AND_AXES),
    );
    close(
        delivered.value("gamma.residues-kulisch32"),
        48e-3 * 1e12 / (4.0 * POINTS_AND_AXES),
    );
    close(
        delivered.value("overlap.stages.fp8"),
        (24.0 + 30.0 + 100.0 + 96.0) / 300.0,
    );
}

#[test]
fn kernels_with_the_schemes_own_moduli_have_theirs() {
    let mut report = report();
    for (name, kernel, milliseconds) in [
        ("fp8-karatsuba", "residues_karatsuba_kulisch32", 360.0),
        (
            "karatsuba-without-decomposition",
            "residues_karatsuba_without_decomposition",
            320.0,
        ),
        (
            "karatsuba-without-products",
            "residues_karatsuba_without_products",
            350.0,
        ),
        (
            "karatsuba-without-reconstruction",
            "residues_karatsuba_without_reconstruction",
            312.0,
        ),
    ] {
        let mut path = path(name, milliseconds, 1000.0);
        path.kernel = Some(facts(kernel));
        path.l2 = (name == "fp8-karatsuba").then_some(1e-16);
        report.paths.push(path);
    }
    let delivered = delivered(&report, &sources("a GPU")).expect("constants");
    let one = 256.0 * POINTS_AND_AXES / 2e15;
    // 13 and 14 moduli of three products; the decomposition takes 40 ms.
    close(delivered.value("alpha.counted.karatsuba"), 40.5);
    close(
        delivered.value("alpha.delivered.karatsuba"),
        40.5 + 40e-3 / one,
    );
    // Beyond the kernel with the same products, and not that of another scheme.
    close(
        delivered.value("gamma.fp8-karatsuba"),
        48e-3 * 1e12 / (4.0 * POINTS_AND_AXES),
    );
}

#[test]
fn beta_and_overlap_come_from_tiles() {
    let delivered = delivered(&report(), &sources("a GPU")).expect("constants");
    close(delivered.value("beta.contiguous.4"), 1.25);
    close(delivered.value("tile.contiguous.8"), 1e9 / 1_024_000.0);
    assert!(missing(&delivered, "beta.contiguous.8").contains("--counters"));
    assert!(missing(&delivered, "beta.strided.16").contains("do not fit"));
    // 1000 lines in the cache would take 0.9 ms, a copy 0.2, both at once 1.0.
    close(delivered.value("overlap.factor.contiguous"), 1.1);
    close(delivered.value("overlap.hidden.contiguous"), 0.5);
    assert!(missing(&delivered, "overlap.strided").contains("--model"));
    // 24 of memory, 36 + 20 + 48 of stages, of 232.
    close(delivered.value("overlap.stages"), 128.0 / 232.0);
}

#[test]
fn unknown_constants_are_reported() {
    let mut report = report();
    report
        .paths
        .retain(|path| !path.name.starts_with("without"));
    report.tiles.clear();
    let nothing = Sources {
        command: String::new(),
        rates: None,
        adaptive: None,
    };
    let delivered = delivered(&report, &nothing).expect("constants");
    assert!(missing(&delivered, "alpha").contains("residues_without_decomposition"));
    for name in [
        "beta",
        "eta_ts",
        "adaptive",
        "c.time.16",
        "overlap.stages",
        "gamma.residues-kulisch8",
    ] {
        assert!(!missing(&delivered, name).is_empty());
    }
    let text = table(&delivered);
    assert!(text.contains("alpha.counted") && text.contains("eta_ts: not measured"));
    assert_eq!(delivered.version, crate::paths::delivered::VERSION);
}

#[test]
fn kernels_without_profiler_counts_are_counted_in_the_machine_code() {
    let mut report = report();
    report.paths[1].counters = Counters::default();
    let constants = delivered(&report, &sources("a GPU")).expect("constants");
    let gamma = found(&constants, "gamma_instructions.residues-kulisch32");
    assert!(gamma.definition.ends_with("counted in the machine code"));
    // docs/gpu.md: 981 and 680 instructions of a point.
    assert!(
        (gamma.value - (981.0 - 680.0) / 4.0).abs() < 0.25,
        "{}",
        gamma.value
    );
    assert!(
        found(&constants, "gamma_instructions.residues-kulisch16")
            .definition
            .ends_with("profiler")
    );
    // Paths without such a kernel stay uncounted, and say why.
    report.count(None).expect("counts");
    assert!(
        report.paths[1]
            .counters
            .pipes()
            .is_some_and(|pipes| pipes["tensor"] > 0.0)
    );
    report.paths[0].counters = Counters::default();
    report.count(None).expect("counts");
    assert!(
        matches!(&report.paths[0].counters, Counters::NotCounted(why) if why.contains("--counters"))
    );
}

#[test]
fn a_record_says_the_same_after_writing_and_reading() {
    let mut report = report();
    let sources = sources("a GPU");
    report.delivered = Some(delivered(&report, &sources).expect("constants"));
    let text = serde_json::to_string(&report).expect("text");
    let read: Report = serde_json::from_str(&text).expect("a record");
    let (read, written) = (
        read.delivered.expect("a model"),
        report.delivered.expect("a model"),
    );
    assert_eq!(read.not_measured, written.not_measured);
    assert_eq!(read.constants.len(), written.constants.len());
    for (read, written) in read.constants.iter().zip(&written.constants) {
        assert_eq!(read.name, written.name);
        close(Some(read.value), written.value);
    }
}
