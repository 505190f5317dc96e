//! Hostile input and closed pipes: rejected with a reason, never a crash.

mod common;

use common::{directory, fail, ozfft, read, succeed, text, text_of};
use num_complex::Complex;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes an npy file of version 2.0.
fn npy(path: &Path, header: &str, data: &[u8]) {
    let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    std::fs::write(path, bytes).expect("a file");
}

/// A header as numpy writes it.
fn header(kind: &str, shape: &str) -> String {
    format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n")
}

#[test]
fn headers_that_took_exponential_or_quadratic_time_are_rejected() {
    let folder = directory("hostile-headers");
    let (input, output) = (folder.join("in.npy"), folder.join("out.npy"));
    let reject = |header: &str, what: &str| {
        npy(&input, header, &[0; 64]);
        let message = fail(&["fft", text(&input), text(&output)]);
        assert!(message.contains(what), "{message}");
        assert!(!output.exists());
    };
    for depth in [20, 20_000] {
        reject(&header("<f8", &"(".repeat(depth)), "a length");
        reject(&"[".repeat(depth), "byte 0");
        let nested = format!("{{'descr': {}", "[('a', ".repeat(depth));
        let nested = &nested[..nested.len().min(60_000)];
        reject(nested, "ozfft reads f4, f8, c8 and c16");
    }
    for rank in [65, 8_000, 30_000] {
        reject(
            &header("<f8", &format!("({})", "1,".repeat(rank))),
            "64 axes",
        );
    }
    reject(&header("<f8", &format!("({},)", u64::MAX)), "promises");
    reject(&header("<f8", "(4294967296, 4294967296)"), "larger than");
    reject(
        &header("<f8", "(1, 18446744073709551616)"),
        "18446744073709551616",
    );
    reject(&" ".repeat(1 << 17), "131072 bytes");
}

#[test]
fn numbers_of_other_machines_and_other_writers_are_read() {
    let folder = directory("hostile-order");
    let (input, output) = (folder.join("in.npy"), folder.join("out.npy"));
    let first = |kind: &str, data: Vec<u8>| -> f64 {
        npy(&input, &header(kind, "(2,)"), &data);
        succeed(&["fft", text(&input), text(&output)]);
        if kind.ends_with("f8") || kind.ends_with("c16") {
            let (_, _, values): (_, _, Vec<Complex<f64>>) = read(&output);
            values[1].re
        } else {
            let (_, _, values): (_, _, Vec<Complex<f32>>) = read(&output);
            values[1].re.into()
        }
    };
    let doubles = [3.0f64, 1.0];
    let singles = [3.0f32, 1.0];
    let complexes = [3.0f64, 0.0, 1.0, 0.0];
    let big = doubles.iter().flat_map(|x| x.to_be_bytes()).collect();
    assert_eq!(first(">f8", big), 2.0);
    let little = doubles.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(first("<f8", little), 2.0);
    let big = singles.iter().flat_map(|x| x.to_be_bytes()).collect();
    assert_eq!(first(">f4", big), 2.0);
    let big = complexes.iter().flat_map(|x| x.to_be_bytes()).collect();
    assert_eq!(first(">c16", big), 2.0);
    let big = complexes.map(|x| x as f32);
    let big = big.iter().flat_map(|x| x.to_be_bytes()).collect();
    assert_eq!(first(">c8", big), 2.0);
}

/// Runs `ozfft fft /dev/stdin` on these bytes.
#[cfg(unix)]
fn fft_of_stream(bytes: &[u8], output: &Path) -> std::process::Output {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_ozfft"))
        .args(["fft", "/dev/stdin", text(output)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // It may reject before it has read everything.
    let _ = stdin.write_all(bytes);
    drop(stdin);
    child.wait_with_output().expect("an end")
}

#[cfg(unix)]
#[test]
fn a_stream_is_read_to_its_end_and_one_that_ends_early_is_rejected() {
    let folder = directory("hostile-stream");
    let (input, output) = (folder.join("in.npy"), folder.join("out.npy"));
    let values: Vec<u8> = (0..1000).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    npy(&input, &header("<f8", "(1000,)"), &values);
    let bytes = std::fs::read(&input).expect("the file");
    let run = fft_of_stream(&bytes, &output);
    assert!(run.status.success(), "{run:?}");
    let (_, _, found): (_, _, Vec<Complex<f64>>) = read(&output);
    assert_eq!((found.len(), found[0].re), (1000, 499_500.0));
    std::fs::remove_file(&output).expect("it is there");
    for length in [0, 5, 11, 40, bytes.len() - 1] {
        let run = fft_of_stream(&bytes[..length], &output);
        let message = text_of(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{message}");
        assert!(message.contains("/dev/stdin"), "{message}");
        assert!(!output.exists());
    }
    // Memory is taken as numbers come, not as many as are promised.
    npy(&input, &header("<f8", "(1099511627776,)"), &values);
    let bytes = std::fs::read(&input).expect("the file");
    let run = fft_of_stream(&bytes, &output);
    assert!(text_of(&run.stderr).contains("1099511627776"), "{run:?}");
    assert_eq!(run.status.code(), Some(1));
}

/// Whether an error is printed, after notes perhaps.
fn is_error(message: &str) -> bool {
    message.lines().any(|line| line.starts_with("error: "))
}

#[test]
fn shapes_that_no_memory_holds_are_rejected() {
    for command in [
        &["plan", "--shape"][..],
        &["plan", "--engine", "digits", "--shape"],
        &["plan", "--kind", "r2c", "--shape"],
        &["accuracy", "--shape"],
        &["accuracy", "--sampled", "10", "--shape"],
        &["accuracy", "--attack", "--shape"],
        &["bench", "--seconds", "0", "--shape"],
    ] {
        for shape in ["1099511627776", "2x1099511627776", "9223372036854775807"] {
            let run = ozfft(&[command, &[shape]].concat());
            let message = text_of(&run.stderr);
            assert_eq!(run.status.code(), Some(1), "{command:?} {shape}: {message}");
            assert!(is_error(message), "{command:?} {shape}: {message}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_limits_of_the_shell_are_respected() {
    let line = format!(
        "ulimit -v 4000000; {:?} accuracy --shape 100000000",
        env!("CARGO_BIN_EXE_ozfft")
    );
    let run = Command::new("sh").args(["-c", &line]).output();
    let run = run.expect("a shell");
    let message = text_of(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{message}");
    assert!(
        message.contains("6.4 GB") && message.contains("4.1 GB can be had"),
        "{message}"
    );
}

#[test]
fn other_numbers_that_are_too_large_are_rejected() {
    let huge = "1000000000000000";
    for command in [
        &["bench", "--shape", "8", "--batch", huge][..],
        &["bench", "--shape", "8", "--threads", huge],
        &["bench", "--shape", "8", "--seconds", "NaN"],
        &["accuracy", "--shape", "8", "--threads", huge],
        &["accuracy", "--shape", "8", "--accuracy", "NaN"],
        &["accuracy", "--shape", "8", "--range-bits", "4294967295"],
        &["accuracy", "--shape", "0"],
        &["accuracy", "--shape", "4", "--sampled", "0"],
        &["plan", "--shape", "0"],
        &["plan", "--shape", "8", "--threads", huge],
        &["plan", "--shape", "8", "--accuracy", "inf"],
        &[
            "plan",
            "--shape",
            "8",
            "--redundancy",
            huge,
            "--engine",
            "residues",
        ],
        &["selftest", "--case", "18446744073709551615", "--cases", "3"],
    ] {
        let run = ozfft(command);
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
        &["accuracy", "--shape", "8"][..],
        &["accuracy", "--shape", "8", "--sampled", "4"],
        &["demo", "--size", "2"],
        &["selftest", "--case", "0"],
    ] {
        succeed(&[command, &["--seed", &seed]].concat());
    }
}

/// Runs the program with one of its outputs going to a closed pipe.
fn into_a_closed_pipe(arguments: &[&str], standard_error: bool) -> std::process::Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ozfft"));
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
    for command in [
        &["plan", "--shape", "64"][..],
        &["plan", "--shape", "64", "--json"],
        &["accuracy", "--shape", "8"],
        &["selftest", "--case", "3"],
    ] {
        let run = into_a_closed_pipe(command, false);
        assert_eq!(run.status.code(), Some(141), "{command:?}: {run:?}");
        assert!(run.stderr.is_empty(), "{command:?}: {run:?}");
    }
}

/// Results were lost, and the program ended as if they had been written: the standard library opens /dev/null in the place of a closed stream.
#[cfg(unix)]
#[test]
fn results_for_a_closed_standard_output_are_an_error() {
    let record = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benchmarks/records/2026-11-15-h200.json"
    );
    let figure = directory("hostile-closed").join("figure.svg");
    let run = |arguments: &[&str], to: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" \"$@\" {to}")]);
        shell.arg(env!("CARGO_BIN_EXE_ozfft")).args(arguments);
        shell.output().expect("a shell")
    };
    // Closed; open for reading alone; full.
    for to in [">&-", "1</dev/null", ">/dev/full"] {
        if to == ">/dev/full" && !std::path::Path::new("/dev/full").exists() {
            continue;
        }
        for command in [
            &["multiply", "3", "4"][..],
            &["multiply", "3", "4", "--json"],
            &["plan", "--shape", "64"],
            &["accuracy", "--shape", "8"],
            &["convolve", "--length", "10"],
            &["demo", "--size", "2"],
            &["selftest", "--case", "3"],
            &["--help"],
            &["multiply", "--help"],
            &["--version"],
        ] {
            let run = run(command, to);
            let errors = text_of(&run.stderr);
            assert_eq!(run.status.code(), Some(1), "{command:?} {to}: {errors}");
            let told = errors.contains("cannot write the result to standard output");
            assert!(told, "{command:?} {to}: {errors}");
        }
    }
    // What has no result for it needs no standard output, and one that throws results away is what was asked for.
    let plot = ["plot", "--record", record, "--out", text(&figure)];
    assert!(run(&plot, ">&-").status.success() && figure.exists());
    for to in [">/dev/null", "1<>/dev/null"] {
        assert!(run(&["multiply", "3", "4"], to).status.success(), "{to}");
    }
    // Wrong arguments are told on standard error, as ever.
    let wrong = run(&["multiply", "3"], ">&-");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(text_of(&wrong.stderr).contains("Usage"), "{wrong:?}");
}

#[test]
fn errors_with_a_closed_stderr_do_not_crash() {
    let run = into_a_closed_pipe(&["plan", "--shape", "0"], true);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let figure = directory("hostile-unheard").join("figure.svg");
    let record = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benchmarks/records/2026-11-15-h200.json"
    );
    let plot = ["plot", "--record", record, "--out", text(&figure)];
    let run = into_a_closed_pipe(&plot, true);
    assert!(run.status.success() && figure.exists(), "{run:?}");
}

#[cfg(unix)]
#[test]
fn no_program_of_the_current_folder_is_run_for_the_commit() {
    let folder = directory("hostile-git");
    let one = r#"{"definitions": [{"name": "a", "group": "b", "shape": "8", "batch": 1, "threads": 1, "kind": "c2c",
        "accuracy": "double", "substrates": "auto"}]}"#;
    std::fs::write(folder.join("definitions.json"), one).expect("a file");
    let bench = [
        "bench",
        "--definitions",
        "definitions.json",
        "--seconds",
        "0",
    ];
    let built = ozfft_measure::machine::built_commit().unwrap_or_default();
    common::records_its_own_commit(&folder, &bench, &built);
}

#[test]
fn files_that_never_end_or_are_no_records_are_rejected() {
    let folder = directory("hostile-records");
    let out = folder.join("out.svg");
    let deep = folder.join("deep.json");
    std::fs::write(&deep, "[".repeat(100_000)).expect("a file");
    for record in [text(&deep), "/dev/zero", "/dev/null", text(&folder)] {
        let commands: [&[&str]; 2] = [
            &["plot", "--out", text(&out), "--record", record],
            &["bench", "--definitions", record],
        ];
        for command in commands {
            let message = fail(command);
            assert!(message.starts_with("error: "), "{command:?}: {message}");
        }
    }
    assert!(!out.exists());
}
