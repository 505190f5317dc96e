//! Every documented option of every command is run at least once, and `--json` is one object per line everywhere.

mod common;
#[path = "../../crates/ozfft-cli/tests/common/options.rs"]
mod options;

use common::{directory, lab, succeed, text, text_of};
use options::{documented, not_run, subcommands};

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/records");
const BENCHMARKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../benchmarks/records");

/// Whether this run may fail because the machine has no GPU.
fn needs_gpu(run: &[&str]) -> bool {
    let is_measured = run[0] == "paths" && !run.contains(&"--from");
    run[0] == "floats" || is_measured || run.windows(2).any(|pair| pair == ["--device", "cuda"])
}

fn check(run: &[&str]) {
    let output = lab(run);
    let message = text_of(&output.stderr);
    if !output.status.success() {
        let no_gpu = message.contains("no NVIDIA driver") || message.contains("no CUDA device");
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

/// Commands and commands of commands, each with its help.
fn commands() -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let arguments: Vec<&str> = command
            .iter()
            .map(String::as_str)
            .chain(["--help"])
            .collect();
        let help = succeed(&arguments);
        let below = subcommands(&help);
        if below.is_empty() {
            found.push((command, help));
            continue;
        }
        open.extend(
            below
                .into_iter()
                .map(|name| [&command[..], &[name]].concat()),
        );
    }
    found
}

#[test]
fn every_documented_option_of_every_command_works() {
    let folder = directory("options");
    let file = |name: &str| text(&folder.join(name)).to_string();
    let (record, document) = (file("record.json"), file("document.md"));
    let (picture, page, evidence) = (file("picture.svg"), file("page.html"), file("evidence.md"));
    let (claims, decompositions) = (file("evidence.svg"), file("decompositions.md"));
    let (reconstructed, table) = (file("reconstruct.md"), file("accuracy.md"));
    let counters = file("counters.csv");
    let paths = format!("{RECORDS}/2026-11-15-h200-paths.json");
    let residues = format!("{RECORDS}/2026-11-15-emerald-rapids-residues.json");
    let ladder = format!("{RECORDS}/2026-11-16-emerald-rapids-ladder.json");
    let dispatch = format!("{RECORDS}/2026-11-17-emerald-rapids-dispatch.json");
    let probe = format!("{BENCHMARKS}/2026-11-15-h200-probe.json");
    let bench = format!("{BENCHMARKS}/2026-11-15-emerald-rapids.json");
    let marks = ["machine", "modes", "accuracies", "lengths", "posts"]
        .map(|name| format!("<!-- ozfft-lab ladder: {name} -->\n<!-- end -->\n"));
    std::fs::write(&document, marks.concat()).expect("a file");
    let marked = |name: &str| {
        format!(
            "<!-- made by ozfft-lab {name}: begin -->\n<!-- made by ozfft-lab {name}: end -->\n"
        )
    };
    std::fs::write(&reconstructed, marked("reconstruct")).expect("a file");
    let roofline = file("roofline.md");
    std::fs::write(&roofline, marked("model")).expect("a file");
    let scaling = file("scaling.md");
    std::fs::write(&scaling, marked("model")).expect("a file");
    let scaling_plot = file("scaling.svg");
    let ranks = format!("{RECORDS}/2026-11-17-ranks.json");
    std::fs::write(
        &counters,
        "\"ID\",\"Kernel Name\",\"Grid Size\",\"sm__inst_executed.sum\"\n\"\",\"\",\"\",\"inst\"\n\"0\",\"residues_kulisch32(Tasks)\",\"(262144, 1, 1)\",\"1,024\"\n",
    )
    .expect("a file");
    let mut runs: Vec<Vec<&str>> = vec![
        vec![
            "report",
            "--out",
            &page,
            "--machine",
            "b200",
            "--n",
            "64",
            "--mode",
            "printed",
        ],
        vec![
            "paths",
            "--shape",
            "1024x1024",
            "--only",
            "cufft",
            "--seconds",
            "0",
            "--lines",
            "1",
            "--device",
            "0",
            "--json",
        ],
        vec!["decompositions", "--out", &decompositions],
        vec!["evidence", "--out", &evidence, "--svg", &claims, "--json"],
        vec!["paths", "--once", "--model", "--seed", "2"],
        vec!["floats", "--once", "--seed", "2"],
        vec![
            "reconstruct",
            "--seconds",
            "0",
            "--r",
            "9",
            "--size",
            "4",
            "--substrates",
            "int8",
            "--methods",
            "garner,kulisch32",
            "--markdown",
        ],
        vec![
            "paths",
            "--from",
            &paths,
            "--model",
            "--probe",
            &probe,
            "--residues",
            &residues,
            "--counters",
            &counters,
            "--record",
            &record,
            "--commit",
            "0123abc",
            "--json",
        ],
        vec![
            "reconstruct",
            "--seconds",
            "0",
            "--r",
            "9",
            "--size",
            "4",
            "--seed",
            "2",
            "--out",
            &reconstructed,
            "--svg",
            &picture,
            "--record",
            &record,
            "--json",
        ],
        vec![
            "residues", "--length", "16", "--lines", "2", "--seed", "2", "--record", &record,
            "--json",
        ],
        vec![
            "floats",
            "--device",
            "0",
            "--lengths",
            "64",
            "--points",
            "65536",
            "--only",
            "bf16",
            "--seconds",
            "0",
            "--record",
            &record,
            "--commit",
            "0123abc",
            "--json",
        ],
        vec!["ladder", "--from", &ladder, "--document", &document],
        vec![
            "dispatch",
            "--device",
            "cpu",
            "--lengths",
            "16",
            "--seconds",
            "0",
            "--record",
            &record,
            "--json",
        ],
        vec!["dispatch", "--from", &dispatch, "--out", &picture],
        vec![
            "words",
            "--slices",
            "3",
            "--seconds",
            "0.01",
            "--record",
            &record,
            "--json",
        ],
        vec!["plot", "--record", &paths, "--out", &picture, "--precision"],
        vec![
            "plot",
            "--figure",
            "roofline",
            "--out",
            &picture,
            "--machine",
            "h100",
            "--n",
            "64",
            "--mode",
            "printed",
        ],
        vec![
            "kulisch",
            "bench",
            "--seconds",
            "0",
            "--largest",
            "1000",
            "--only",
            "sum",
            "--record",
            &record,
            "--device",
            "cpu",
            "--json",
        ],
        vec![
            "linear-algebra",
            "--device",
            "cpu",
            "--sizes",
            "16",
            "--moduli",
            "14",
            "--largest",
            "4096",
            "--side",
            "4",
            "--threads",
            "2",
            "--seconds",
            "0",
            "--only",
            "gemm",
            "--only",
            "solver-in-doubles",
            "--only",
            "solver",
            "--record",
            &record,
            "--json",
        ],
        vec![
            "table",
            "--largest",
            "100",
            "--seed",
            "2",
            "--out",
            &table,
            "--record",
            &record,
            "--json",
        ],
        vec![
            "model", "machine", "b300", "--n", "64", "--mode", "printed", "--json",
        ],
        vec![
            "model",
            "machine",
            "h200-measured",
            "--mode",
            "measured",
            "--record",
            &paths,
        ],
        vec!["model", "numbers", "--contradictions", "--json"],
        vec!["model", "numbers", "--csv"],
        vec![
            "model",
            "predictions",
            "--record",
            &bench,
            "--fit",
            "--json",
        ],
        vec!["model", "predictions", "--record", &bench, "--csv"],
        vec!["model", "document", "--out", &roofline],
        vec![
            "model",
            "scaling",
            "--network",
            "h200-ndr",
            "--n",
            "1024",
            "--ranks",
            "8,64",
            "--natural",
            "--json",
            "--plot",
            &scaling_plot,
        ],
        vec!["model", "scaling", "--check", &ranks, "--csv"],
        vec!["model", "scaling", "--published"],
        vec!["model", "scaling", "--out", &scaling],
    ];
    for name in [
        "floors",
        "walltime",
        "regimes",
        "widths",
        "beneficiaries",
        "fp32",
        "verdicts",
        "machines",
    ] {
        runs.push(vec![
            "model",
            name,
            "--machine",
            "b300",
            "--n",
            "64",
            "--mode",
            "corrected",
            "--json",
        ]);
        runs.push(vec![
            "model", name, "--mode", "measured", "--record", &paths, "--csv",
        ]);
    }
    for name in ["constants", "comparison", "projection"] {
        runs.push(vec![
            "model",
            name,
            "--record",
            &paths,
            "--machine",
            &probe,
            "--json",
        ]);
        runs.push(vec!["model", name, "--csv"]);
    }
    runs.push(vec!["model", "projection", "--to", "b300"]);
    for run in &runs {
        check(run);
    }
    // Takes half a minute, and is run in tests/ladder.rs.
    runs.push(vec![
        "ladder",
        "--shape",
        "--batch",
        "--seconds",
        "--threads",
        "--device",
        "--json",
        "--out",
    ]);
    let mut missing = Vec::new();
    for (command, help) in commands() {
        let begins = |run: &&[&str]| {
            command
                .iter()
                .zip(*run)
                .all(|(name, argument)| name == argument)
        };
        let of_command: Vec<&[&str]> = runs.iter().map(Vec::as_slice).filter(begins).collect();
        assert!(!of_command.is_empty(), "{command:?} is not run");
        let left_out = not_run(&documented(&help), &of_command);
        missing.extend(
            left_out
                .iter()
                .map(|option| format!("{} {option}", command.join(" "))),
        );
    }
    assert!(missing.is_empty(), "not run: {}", missing.join(", "));
}
