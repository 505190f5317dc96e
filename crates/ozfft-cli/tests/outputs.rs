//! What becomes of the files that the program writes to, and of what stood there before.
#![cfg(unix)]

mod common;

use common::{directory, fail, read, succeed, text, write};
use npyz::Order;
use num_complex::Complex;
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Something to draw.
const RECORD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../benchmarks/records/2026-11-15-h200.json"
);

/// A folder with an array to transform.
fn with_input(name: &str) -> (PathBuf, PathBuf) {
    let folder = directory(name);
    let input = folder.join("in.npy");
    write(&input, &[4], Order::C, &[1.0, 2.0, 3.0, 4.0]);
    (folder, input)
}

fn transform(input: &Path, output: &Path) {
    succeed(&["fft", text(input), text(output)]);
}

fn first_value(path: &Path) -> Complex<f64> {
    let (_, _, values): (_, _, Vec<Complex<f64>>) = read(path);
    values[0]
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").mode() & 0o7777
}

/// All names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string())
        .map(|name| name.expect("a plain name"))
        .collect();
    names.sort();
    names
}

/// Whether a program of the system did what it was asked to; some need rights that not everybody has.
fn system(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn a_new_file_has_the_mode_of_the_umask() {
    let (folder, input) = with_input("outputs-umask");
    for (mask, expected) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let output = folder.join(format!("{mask}.npy"));
        let line = format!(
            "umask {mask}; {:?} fft {input:?} {output:?}",
            env!("CARGO_BIN_EXE_ozfft")
        );
        assert!(system("sh", &["-c", &format!("{line} > /dev/null")]));
        assert_eq!(mode(&output), expected, "umask {mask}");
    }
}

#[test]
fn an_existing_file_keeps_its_mode() {
    let (folder, input) = with_input("outputs-mode");
    let output = folder.join("out.npy");
    for kept in [0o600, 0o640, 0o755] {
        fs::write(&output, "before").expect("a file");
        fs::set_permissions(&output, Permissions::from_mode(kept)).expect("its mode");
        transform(&input, &output);
        assert_eq!((first_value(&output).re, mode(&output)), (10.0, kept));
    }
    assert_eq!(names(&folder), ["in.npy", "out.npy"]);
}

#[test]
fn an_existing_file_keeps_its_owner() {
    let (folder, input) = with_input("outputs-owner");
    let output = folder.join("out.npy");
    fs::write(&output, "before").expect("a file");
    if std::os::unix::fs::chown(&output, Some(12345), Some(23456)).is_err() {
        println!("only root can give files away: nothing tried");
        return;
    }
    transform(&input, &output);
    let found = fs::metadata(&output).expect("a file");
    assert_eq!((found.uid(), found.gid()), (12345, 23456));
}

#[test]
fn symbolic_links_stay_and_what_they_point_to_is_written() {
    let (folder, input) = with_input("outputs-links");
    let inner = folder.join("inner");
    fs::create_dir(&inner).expect("a folder");
    let file = inner.join("file.npy");
    let (near, far) = (inner.join("near.npy"), folder.join("far.npy"));
    symlink("file.npy", &near).expect("a link");
    symlink("inner/near.npy", &far).expect("a link");
    // First there is nothing at its end, then a file of private mode.
    for round in 0..2 {
        transform(&input, &far);
        assert_eq!(first_value(&file).re, 10.0, "round {round}");
        assert!(near.is_symlink() && far.is_symlink(), "round {round}");
        fs::write(&file, "before").expect("a file");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("its mode");
    }
    transform(&input, &far);
    assert_eq!((first_value(&file).re, mode(&file)), (10.0, 0o600));
    assert_eq!(names(&inner), ["file.npy", "near.npy"]);
    assert_eq!(names(&folder), ["far.npy", "in.npy", "inner"]);
    let (one, other) = (folder.join("one"), folder.join("other"));
    symlink(&one, &other).expect("a link");
    symlink(&other, &one).expect("a link");
    assert!(fail(&["fft", text(&input), text(&one)]).contains("cannot write"));
    let lost = folder.join("lost");
    symlink("nowhere/at-all.npy", &lost).expect("a link");
    assert!(fail(&["fft", text(&input), text(&lost)]).contains("no directory"));
}

#[test]
fn a_device_node_stays_one() {
    let (folder, input) = with_input("outputs-device");
    let node = folder.join("null");
    // A node of our own where that is possible: root could lose the real one.
    let made = system("mknod", &[text(&node), "c", "1", "3"]);
    let place = if made {
        node.as_path()
    } else {
        Path::new("/dev/null")
    };
    if made && fs::OpenOptions::new().write(true).open(place).is_err() {
        println!("nodes cannot be opened in this folder: nothing tried");
        return;
    }
    transform(&input, place);
    succeed(&["plot", "--record", RECORD, "--out", text(place)]);
    let kind = fs::metadata(place).expect("a node").file_type();
    assert!(kind.is_char_device());
    if Path::new("/dev/full").exists() {
        let message = fail(&["plot", "--record", RECORD, "--out", "/dev/full"]);
        assert!(message.contains("/dev/full"), "{message}");
        let kind = fs::metadata("/dev/full").expect("a node").file_type();
        assert!(kind.is_char_device());
    }
    let block = folder.join("block");
    if system("mknod", &[text(&block), "b", "250", "250"]) {
        let message = fail(&["fft", text(&input), text(&block)]);
        assert!(message.contains("a block device"), "{message}");
        let kind = fs::metadata(&block).expect("a node").file_type();
        assert!(kind.is_block_device());
    }
}

#[test]
fn a_pipe_is_written_to_and_read_from() {
    let (folder, input) = with_input("outputs-pipe");
    let pipe = folder.join("pipe");
    assert!(system("mkfifo", &[text(&pipe)]), "mkfifo is everywhere");
    let output = folder.join("out.npy");
    // One transforms into the pipe, the other takes the pipe for its input.
    let mut first = Command::new(env!("CARGO_BIN_EXE_ozfft"))
        .args(["fft", text(&input), text(&pipe)])
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    succeed(&["fft", text(&pipe), text(&output), "--inverse"]);
    assert!(first.wait().expect("an end").success());
    let (_, _, values): (_, _, Vec<Complex<f64>>) = read(&output);
    let expected = [1.0, 2.0, 3.0, 4.0];
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).norm() < 1e-15);
    }
    let kind = fs::metadata(&pipe).expect("a pipe").file_type();
    assert!(kind.is_fifo());
    assert_eq!(names(&folder), ["in.npy", "out.npy", "pipe"]);
}

#[test]
fn sockets_folders_and_what_names_no_file_are_rejected() {
    let (folder, input) = with_input("outputs-others");
    // A path of a socket has a hundred characters at most, so it is made elsewhere.
    let socket = std::env::temp_dir().join(format!("ozfft-{}.socket", std::process::id()));
    let listener = UnixListener::bind(&socket).expect("a socket");
    let message = fail(&["fft", text(&input), text(&socket)]);
    drop(listener);
    let still = fs::symlink_metadata(&socket)
        .expect("the socket")
        .file_type();
    fs::remove_file(&socket).expect("the socket can be removed");
    assert!(
        still.is_socket() && message.contains("a socket"),
        "{message}"
    );
    assert!(fail(&["fft", text(&input), text(&folder)]).contains("a folder"));
    assert!(fail(&["fft", text(&input), ""]).starts_with("error: "));
    let slash = format!("{}/new/", text(&folder));
    assert!(fail(&["fft", text(&input), &slash]).contains("does not name a file"));
    let below = input.join("out.npy");
    assert!(fail(&["fft", text(&input), text(&below)]).contains("cannot write"));
    assert_eq!(names(&folder), ["in.npy"]);
}

#[test]
fn a_file_that_may_not_be_written_to_is_left_alone() {
    let (folder, input) = with_input("outputs-protected");
    let output = folder.join("out.npy");
    fs::write(&output, "before").expect("a file");
    fs::set_permissions(&output, Permissions::from_mode(0o444)).expect("its mode");
    if fs::OpenOptions::new().write(true).open(&output).is_ok() {
        println!("this user may write to everything: nothing tried");
        return;
    }
    let message = fail(&["fft", text(&input), text(&output)]);
    assert!(message.contains("out.npy"), "{message}");
    assert_eq!(fs::read_to_string(&output).expect("the file"), "before");
}

#[test]
fn names_as_long_as_the_system_allows_can_be_written() {
    let (folder, input) = with_input("outputs-long");
    let output = folder.join("n".repeat(255));
    transform(&input, &output);
    assert_eq!(first_value(&output).re, 10.0);
}

#[test]
fn an_output_that_cannot_be_written_is_reported_before_the_work() {
    let folder = directory("outputs-before");
    let nowhere = folder.join("missing").join("record.json");
    // It would take minutes, and is not allowed to begin.
    let definitions = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benchmarks/definitions.json"
    );
    let bench = [
        "bench",
        "--definitions",
        definitions,
        "--record",
        text(&nowhere),
    ];
    let message = fail(&bench);
    assert!(message.contains("no directory"), "{message}");
    assert!(names(&folder).is_empty());
}

/// Files are written by one function, which is tested above.
#[test]
fn nothing_else_in_the_program_writes_files() {
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    assert!(found.len() > 30);
    for path in found {
        let source = fs::read_to_string(&path).expect("a source");
        let program = source.split("#[cfg(test)]").next().unwrap_or_default();
        for writes in [
            "File::create",
            "OpenOptions",
            "fs::write",
            "fs::rename",
            "fs::copy",
        ] {
            let allowed = path.ends_with("src/outputs.rs");
            assert!(
                allowed || !program.contains(writes),
                "{writes} in {}",
                path.display()
            );
        }
    }
}

/// Whether this process ignores SIGHUP, as nohup has it: what it starts does, too.
fn ignores_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

/// Ctrl-C left `.ozfft-….partial` behind, as a signal of a batch system did.
#[test]
fn signals_that_end_the_program_remove_the_partial_file() {
    let folder = directory("outputs-signals");
    let input = folder.join("in.npy");
    write(&input, &[1 << 20], Order::C, &vec![1.0; 1 << 20]);
    let is_partial = |name: &String| name.ends_with(".partial");
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        if name == "HUP" && ignores_hangups() {
            println!("skipped: SIGHUP is ignored here, as by nohup");
            continue;
        }
        // The file is there for as long as sixteen megabytes take to be written; a run that is missed is made again.
        let ended_by = (0..20).find_map(|_| {
            let mut child = Command::new(env!("CARGO_BIN_EXE_ozfft"))
                .args(["fft", "--engine", "native", "in.npy", "out.npy"])
                .current_dir(&folder)
                .stdout(Stdio::null())
                .spawn()
                .expect("the program");
            while child.try_wait().expect("its state").is_none() {
                if names(&folder).iter().any(is_partial) {
                    assert!(system("kill", &["-s", name, &child.id().to_string()]));
                    break;
                }
            }
            child.wait().expect("its end").signal()
        });
        assert_eq!(ended_by, Some(number), "SIG{name}");
        let left = names(&folder);
        assert!(!left.iter().any(is_partial), "SIG{name} leaves {left:?}");
    }
    // Ignored, as by nohup, it stays ignored.
    let script = "trap '' HUP; (for i in $(seq 300); do sleep 0.01; kill -s HUP $$ 2>/dev/null || break; done) & exec \"$0\" fft --engine native in.npy out.npy";
    let status = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_ozfft")])
        .current_dir(&folder)
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("a shell").success());
    assert_eq!(names(&folder), ["in.npy", "out.npy"]);
}

/// In containers every run has the number 1: what 101 runs had left when they were killed blocked every later one.
#[test]
fn leftovers_of_processes_with_the_same_number_block_no_write() {
    let (folder, _) = with_input("outputs-leftovers");
    let script = "i=0; while [ $i -le 101 ]; do : >.ozfft-$$-$i.partial; i=$((i + 1)); done; exec \"$0\" fft in.npy out.npy";
    let status = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_ozfft")])
        .current_dir(&folder)
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("a shell").success());
    assert_eq!(first_value(&folder.join("out.npy")).re, 10.0);
}

/// A name could clear the screen, or change the colours of what follows.
#[test]
fn control_characters_of_names_are_not_printed() {
    let folder = directory("outputs-escapes");
    let name = folder.join("\u{1b}[31mred\r\u{9b}2J.npy");
    let message = fail(&["fft", text(&name), text(&folder.join("out.npy"))]);
    assert!(!message.contains(['\u{1b}', '\r', '\u{9b}']), "{message:?}");
    assert!(
        message.contains("\\u{1b}[31mred\\r\\u{9b}2J.npy"),
        "{message}"
    );
}

#[test]
fn a_dash_is_no_stream_and_the_message_names_one() {
    let (folder, input) = with_input("outputs-dash");
    let message = fail(&["fft", text(&input), "-"]);
    assert!(message.contains("/dev/stdout"), "{message}");
    let message = fail(&["fft", "-", text(&folder.join("out.npy"))]);
    assert!(message.contains("/dev/stdin"), "{message}");
    assert_eq!(names(&folder), ["in.npy"]);
}
