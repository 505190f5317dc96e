//! Every documented option of every command is run at least once, and `--json` is one object per line everywhere.

mod common;
#[path = "common/options.rs"]
mod options;

use common::{directory, ozfft, succeed, text, text_of, write};
use npyz::Order;
use options::{documented, not_run, subcommands};

const DEFINITIONS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../benchmarks/definitions.json"
);
const RECORD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../benchmarks/records/2026-11-15-emerald-rapids.json"
);

/// Whether this run may fail because the machine has no GPU.
fn needs_gpu(run: &[&str]) -> bool {
    run[0] == "probe" || run.windows(2).any(|pair| pair == ["--device", "cuda"])
}

fn check(run: &[&str]) {
    let output = ozfft(run);
    let message = text_of(&output.stderr);
    if !output.status.success() {
        let said = ["no NVIDIA driver", "no CUDA device", "no GPU can be used"];
        let no_gpu = said.iter().any(|text| message.contains(text));
        assert!(needs_gpu(run) && no_gpu, "{run:?}: {message}");
        return;
    }
    if run.contains(&"--json") {
        let lines = text_of(&output.stdout).lines();
        let objects = lines.map(|line| {
            let value: serde_json::Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{run:?}: {line}: {error}"));
            assert!(value.is_object(), "{run:?}: {line}");
        });
        assert!(objects.count() > 0, "{run:?} says nothing");
    }
}

#[test]
fn every_documented_option_of_every_command_works() {
    let folder = directory("options");
    let paths = [
        "in.npy",
        "half.npy",
        "out.npy",
        "record.json",
        "picture.svg",
        "probe.json",
    ]
    .map(|name| folder.join(name));
    let [input, half, output, record, picture, probe] = paths.each_ref().map(|path| text(path));
    write(&paths[0], &[4, 6], Order::C, &[1.5f64; 24]);
    // What `fft --real` makes is what `--inverse --last` takes back.
    succeed(&["fft", input, half, "--real"]);
    let fft = ["fft", input, output];
    let plan = ["plan", "--shape", "60", "--json"];
    let residues = ["--engine", "residues"];
    let accuracy = ["accuracy", "--shape", "30", "--json"];
    let bench = ["bench", "--seconds", "0", "--json"];
    let on_gpu = ["bench", "--device", "cuda", "--shape", "64", "--json"];
    let with = |base: &[&'static str], rest: &[&'static str]| [base, rest].concat();
    let mut runs: Vec<Vec<&str>> = vec![
        vec![
            "tune",
            "--device",
            "cuda",
            "--shape",
            "100x36",
            "--kind",
            "r2c",
            "--axes",
            "0",
            "--batch",
            "2",
            "--precision",
            "single",
            "--substrate",
            "auto",
            "--trials",
            "2",
            "--json",
        ],
        vec!["demo", "--size", "8", "--seed", "3", "--json"],
        [
            &fft[..],
            &[
                "--json", "--axes", "0,-1", "--norm", "ortho", "--engine", "digits", "--strict",
            ],
        ]
        .concat(),
        [&fft[..], &["--mode", "double", "--threads", "2"]].concat(),
        [
            &fft[..],
            &[
                "--reproducible",
                "--accuracy",
                "1e-6",
                "--products",
                "exact",
                "--substrate",
                "scalar",
                "--device",
                "cpu",
                "--integers-only",
            ],
        ]
        .concat(),
        [&fft[..], &residues, &["--reconstruct", "garner"]].concat(),
        [&fft[..], &residues, &["--redundancy", "1"]].concat(),
        [
            &fft[..],
            &residues,
            &["--adaptive", "--native-fallback", "--accuracy", "1e-9"],
        ]
        .concat(),
        vec!["fft", half, output, "--real", "--inverse", "--last", "6"],
        with(
            &plan,
            &[
                "--kind",
                "r2c",
                "--axes",
                "0",
                "--norm",
                "ortho",
                "--engine",
                "digits",
                "--strict",
                "--reproducible",
            ],
        ),
        with(
            &plan,
            &[
                "--inverse",
                "--accuracy",
                "bits:30",
                "--products",
                "exact",
                "--substrate",
                "wide-integer",
                "--threads",
                "2",
            ],
        ),
        with(&plan, &["--mode", "ozaki"]),
        with(
            &plan,
            &["--engine", "digits", "--device", "cpu", "--integers-only"],
        ),
        with(
            &plan,
            &["--engine", "residues", "--reconstruct", "kulisch16"],
        ),
        with(&plan, &["--engine", "residues", "--redundancy", "2"]),
        with(&plan, &["--engine", "ntt"]),
        with(&plan, &["--batch", "3", "--precision", "single"]),
        with(
            &plan,
            &[
                "--engine",
                "residues",
                "--adaptive",
                "--native-fallback",
                "--accuracy",
                "1e-9",
            ],
        ),
        with(
            &accuracy,
            &[
                "--seed",
                "5",
                "--range-bits",
                "20",
                "--inverse",
                "--norm",
                "forward",
                "--threads",
                "2",
            ],
        ),
        with(
            &accuracy,
            &[
                "--input",
                "chirp",
                "--real",
                "--accuracy",
                "single",
                "--products",
                "exact",
                "--substrate",
                "scalar",
            ],
        ),
        with(
            &accuracy,
            &["--sampled", "8", "--device", "cpu", "--integers-only"],
        ),
        with(
            &accuracy,
            &["--attack", "--iterations", "2", "--show-input"],
        ),
        with(
            &accuracy,
            &["--engine", "residues", "--reconstruct", "kulisch8"],
        ),
        with(&accuracy, &["--engine", "residues", "--redundancy", "1"]),
        with(&accuracy, &["--engine", "ntt"]),
        with(
            &accuracy,
            &[
                "--engine",
                "residues",
                "--adaptive",
                "--native-fallback",
                "--accuracy",
                "1e-9",
            ],
        ),
        with(
            &bench,
            &[
                "--shape",
                "16",
                "--batch",
                "2",
                "--threads",
                "2",
                "--kind",
                "r2c",
                "--accuracy",
                "1e-6",
                "--substrates",
                "scalar",
            ],
        ),
        with(
            &bench,
            &["--shape", "64", "--steps", "8.8", "--device", "cpu"],
        ),
        with(&bench, &["--shape", "30", "--engines", "ntt,residues"]),
        [
            &bench[..],
            &[
                "--definitions",
                DEFINITIONS,
                "--only",
                "curve-16",
                "--record",
                record,
                "--commit",
                "0123abc",
            ],
        ]
        .concat(),
        with(
            &on_gpu,
            &[
                "--points",
                "4096",
                "--precision",
                "single",
                "--integers-only",
            ],
        ),
        with(&on_gpu, &["--interleaved", "--variants", "auto"]),
        vec!["multiply", "-12345678901234567890", "0xfedcba98", "--json"],
        vec!["multiply", "12", "34", "--device", "cuda"],
        vec![
            "convolve",
            "--length",
            "40",
            "--length",
            "300x20",
            "--bits",
            "6",
            "--bits",
            "30",
            "--batch",
            "2",
            "--measure",
            "--seconds",
            "0",
            "--seed",
            "3",
            "--json",
        ],
        vec![
            "convolve", "--length", "100", "--cyclic", "--route", "digits", "--device", "cpu",
        ],
        vec![
            "plot", "--record", RECORD, "--out", picture, "--group", "curve",
        ],
        vec![
            "selftest", "--quick", "--seed", "2", "--cases", "10", "--json",
        ],
        vec!["selftest", "--engine", "ntt", "--cases", "10", "--json"],
        vec!["selftest", "--convolutions", "--cases", "200", "--json"],
        vec![
            "selftest",
            "--device",
            "cuda",
            "--cases",
            "10",
            "--integers-only",
            "--engine",
            "digits",
            "--substrate",
            "fp8-mma-sync",
        ],
        vec![
            "probe", "--device", "0", "--record", probe, "--commit", "0123abc", "--json",
        ],
    ];
    // A library that is not there is an error, which says that the option was heeded.
    let no_mkl = ["bench", "--shape", "8", "--mkl", "nowhere.so"];
    let rejected = ozfft(&no_mkl);
    assert!(
        text_of(&rejected.stderr).contains("nowhere.so"),
        "{rejected:?}"
    );
    for run in &runs {
        check(run);
    }
    runs.push(no_mkl.to_vec());
    let mut missing = Vec::new();
    for command in subcommands(&succeed(&["--help"])) {
        let help = succeed(&[&command, "--help"]);
        let of_command: Vec<&[&str]> = runs
            .iter()
            .map(Vec::as_slice)
            .filter(|run| run[0] == command)
            .collect();
        assert!(!of_command.is_empty(), "{command} is not run");
        let left_out = not_run(&documented(&help), &of_command);
        missing.extend(left_out.iter().map(|option| format!("{command} {option}")));
    }
    assert!(missing.is_empty(), "not run: {}", missing.join(", "));
}
