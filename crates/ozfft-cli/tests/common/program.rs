//! Running the program that is tested, which `super::PROGRAM` names.

use super::PROGRAM;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program with these arguments.
pub fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// What the program wrote.
pub fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Runs the program, expects success, and returns what it wrote to standard output.
pub fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Runs the program, expects an error, and returns its message. Nothing may have gone to standard output.
pub fn fail(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} should fail");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote a result");
    String::from_utf8(output.stderr).expect("text")
}

/// One JSON value per line of standard output.
pub fn json(arguments: &[&str]) -> Vec<Value> {
    succeed(arguments)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

/// The number under a key.
pub fn number(value: &Value, key: &str) -> f64 {
    value[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {value} is not a number"))
}

/// An empty directory for one test.
pub fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the directory of an earlier run can be removed");
    }
    std::fs::create_dir_all(&path).expect("a directory can be made");
    path
}

/// Path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("test directories have plain names")
}

/// Runs a command that writes a record in a folder whose own `git` comes first, and expects the commit that the program was built from.
#[cfg(unix)]
pub fn records_its_own_commit(folder: &Path, command: &[&str], built: &str) {
    use std::os::unix::fs::PermissionsExt;
    let (marker, git) = (folder.join("git-was-run"), folder.join("git"));
    std::fs::write(&git, format!("#!/bin/sh\ntouch {}\n", text(&marker))).expect("a script");
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Command::new(PROGRAM)
        .args(command)
        .args(["--record", "record.json"])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", text(folder)))
        .output()
        .expect("the program starts");
    assert!(run.status.success(), "{run:?}");
    assert!(!marker.exists(), "{command:?} ran git");
    let written = std::fs::read_to_string(folder.join("record.json")).expect("a record");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    let commit = written["software"]["commit"].as_str().unwrap_or_default();
    assert_eq!(commit, built, "{written}");
}
