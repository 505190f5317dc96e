//! What all commands have in common: files that they write and read, numbers that are too large, and closed pipes.

mod common;

use common::{directory, fail, json, lab, number, succeed, text, text_of};
use std::process::{Command, Stdio};

#[test]
fn the_table_is_written_with_its_origin() {
    let path = directory("table").join("accuracy.md");
    let printed = succeed(&["table", "--largest", "1100", "--out", text(&path)]);
    let written = std::fs::read_to_string(&path).expect("the file was written");
    assert_eq!(printed, written);
    for part in [
        "| 64 |",
        "| 1024 |",
        "| 1009 |",
        "RustFFT 6",
        "ozfft-lab table --seed 1",
    ] {
        assert!(written.contains(part), "{part} is missing in {written}");
    }
    // Sections below the table are written by hand.
    std::fs::write(&path, format!("{written}\n## By hand\n\nkept\n")).expect("written again");
    succeed(&["table", "--largest", "100", "--out", text(&path)]);
    let again = std::fs::read_to_string(&path).expect("the file is there");
    assert!(
        again.ends_with("\n\n## By hand\n\nkept\n") && !again.contains("| 1024 |"),
        "{again}"
    );
    let rows = json(&["table", "--largest", "100", "--json"]);
    assert_eq!(rows.len(), 1);
    assert!(number(&rows[0], "truncated_l2") <= number(&rows[0], "truncated_bound"));
    let nowhere = directory("table-nowhere")
        .join("missing")
        .join("accuracy.md");
    let output = lab(&["table", "--largest", "1", "--out", text(&nowhere)]);
    assert!(!output.status.success());
}

#[test]
fn rows_of_the_table_become_a_record() {
    let path = directory("table-record").join("record.json");
    succeed(&["table", "--largest", "100", "--record", text(&path)]);
    let written = std::fs::read_to_string(&path).expect("the record");
    let written: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written["results"][0]["shape"], "64");
    assert!(
        written["software"]["rustfft"]
            .as_str()
            .is_some_and(|version| version.starts_with('6'))
    );
}

#[test]
fn an_output_that_cannot_be_written_is_reported_before_the_work() {
    let folder = directory("outputs-before");
    let nowhere = folder.join("missing").join("record.json");
    // Each would take minutes; none is allowed to begin.
    for command in [
        &["table", "--out"][..],
        &["ladder", "--seconds", "1000", "--out"],
        &["kulisch", "bench", "--seconds", "1000", "--record"],
        &["reconstruct", "--seconds", "1000", "--record"],
        &["residues", "--lines", "4096", "--record"],
    ] {
        let message = fail(&[command, &[text(&nowhere)]].concat());
        assert!(message.contains("no directory"), "{command:?}: {message}");
    }
    let document = folder.join("missing.md");
    for command in [
        &["ladder", "--seconds", "1000", "--document"][..],
        &["reconstruct", "--seconds", "1000", "--out"],
    ] {
        let message = fail(&[command, &[text(&document)]].concat());
        assert!(message.contains("missing.md"), "{command:?}: {message}");
    }
    let left: Vec<_> = std::fs::read_dir(&folder).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn hand_written_sections_are_not_lost_where_the_table_cannot_be_read() {
    let path = directory("outputs-table").join("accuracy.md");
    let before = b"# Old\n\n## By hand\n\n\xff no text\n";
    std::fs::write(&path, before).expect("a file");
    let output = lab(&["table", "--largest", "1", "--out", text(&path)]);
    assert!(!output.status.success());
    assert_eq!(std::fs::read(&path).expect("the file"), before);
}

/// Files are written by one function of the program `ozfft`, which has tests of its own.
#[test]
fn nothing_in_the_program_writes_files_by_itself() {
    fn sources(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for folder in ["src", "roofline/src", "page/src"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        sources(&folder, &mut found);
    }
    assert!(found.len() > 50);
    for path in found {
        let source = std::fs::read_to_string(&path).expect("a source");
        let program = source.split("#[cfg(test)]").next().unwrap_or_default();
        for writes in [
            "File::create",
            "OpenOptions",
            "fs::write",
            "fs::rename",
            "fs::copy",
        ] {
            assert!(!program.contains(writes), "{writes} in {}", path.display());
        }
    }
}

/// Whether an error is printed, after notes perhaps.
fn is_error(message: &str) -> bool {
    message.lines().any(|line| line.starts_with("error: "))
}

#[test]
fn numbers_that_are_too_large_are_rejected() {
    let huge = "1000000000000000";
    for command in [
        &["ladder", "--seconds", "0", "--shape", "1099511627776"][..],
        &["ladder", "--seconds", "0", "--shape", "2x1099511627776"],
        &["residues", "--length", huge],
        &["residues", "--lines", huge],
        &["residues", "--lines", "0"],
        &["kulisch", "bench", "--largest", huge],
        &["kulisch", "bench", "--largest", "0"],
        &["ladder", "--shape", "8", "--batch", huge],
        &["ladder", "--shape", "8", "--threads", huge],
        &["ladder", "--shape", "8", "--threads", "0"],
        &["ladder", "--shape", "0"],
        &["ladder", "--seconds", "inf"],
        &["reconstruct", "--size", huge],
        &["reconstruct", "--size", "0"],
        &["reconstruct", "--seconds", "-1"],
        &["model", "machine", "b300", "--n", "0"],
        &["model", "machine", "b300", "--n", "18446744073709551615"],
    ] {
        let run = lab(command);
        let message = text_of(&run.stderr);
        let code = run.status.code();
        assert!(code == Some(1) || code == Some(2), "{command:?}: {run:?}");
        assert!(is_error(message), "{command:?}: {message}");
    }
}

#[test]
fn the_largest_seed_is_accepted() {
    let seed = u64::MAX.to_string();
    for command in [
        &["residues", "--length", "8", "--lines", "2"][..],
        &["reconstruct", "--r", "9", "--size", "2", "--seconds", "0"],
    ] {
        succeed(&[command, &["--seed", &seed]].concat());
    }
}

/// Runs the program with one of its outputs going to a closed pipe.
fn into_a_closed_pipe(arguments: &[&str], standard_error: bool) -> std::process::Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ozfft-lab"));
    command.args(arguments).stdin(Stdio::null());
    if standard_error {
        command.stdout(Stdio::piped()).stderr(writer);
    } else {
        command.stdout(writer).stderr(Stdio::piped());
    }
    let child = command.spawn().expect("the program starts");
    drop(command);
    child.wait_with_output().expect("an end")
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    let run = into_a_closed_pipe(&["model", "verdicts"], false);
    assert_eq!(run.status.code(), Some(141), "{run:?}");
    assert!(run.stderr.is_empty(), "{run:?}");
    let figure = directory("unheard").join("figure.svg");
    let plot = ["plot", "--figure", "roofline", "--out", text(&figure)];
    let run = into_a_closed_pipe(&plot, true);
    assert!(run.status.success() && figure.exists(), "{run:?}");
}

/// Results were lost, and the program ended as if they had been written.
#[cfg(unix)]
#[test]
fn results_for_a_closed_standard_output_are_an_error() {
    for arguments in ["model verdicts", "model verdicts --json", "--help"] {
        let line = format!("exec \"$0\" {arguments} >&-");
        let program = env!("CARGO_BIN_EXE_ozfft-lab");
        let run = Command::new("sh").args(["-c", &line, program]).output();
        let run = run.expect("a shell");
        assert_eq!(run.status.code(), Some(1), "{arguments}: {run:?}");
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(errors.contains("standard output"), "{arguments}: {errors}");
    }
}

#[cfg(unix)]
#[test]
fn no_program_of_the_current_folder_is_run_for_the_commit() {
    let folder = directory("hostile-git");
    for command in [
        &[
            "kulisch",
            "bench",
            "--only",
            "sum",
            "--largest",
            "1000",
            "--seconds",
            "0",
        ][..],
        &["reconstruct", "--r", "9", "--size", "8", "--seconds", "0"],
    ] {
        common::records_its_own_commit(&folder, command, env!("OZFFT_BUILT_FROM"));
    }
}

#[test]
fn files_that_never_end_or_are_no_records_are_rejected() {
    let folder = directory("no-records");
    let out = folder.join("out.svg");
    let deep = folder.join("deep.json");
    std::fs::write(&deep, "[".repeat(100_000)).expect("a file");
    for record in [text(&deep), "/dev/zero", "/dev/null", text(&folder)] {
        let commands: [&[&str]; 4] = [
            &["plot", "--out", text(&out), "--record", record],
            &["ladder", "--from", record],
            &["paths", "--from", record],
            &["model", "predictions", "--record", record],
        ];
        for command in commands {
            let message = fail(command);
            assert!(message.starts_with("error: "), "{command:?}: {message}");
        }
    }
    assert!(!out.exists());
}

#[test]
fn nothing_of_the_product_depends_on_the_laboratory() {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates");
    let mut looked_at = 0;
    for folder in std::fs::read_dir(crates).expect("the crates") {
        let manifest = folder.expect("an entry").path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(&manifest) else {
            continue;
        };
        looked_at += 1;
        for name in ["laboratory", "roofline", "page-model"] {
            assert!(!text.contains(name), "{name} in {}", manifest.display());
        }
    }
    assert!(looked_at > 8);
}
