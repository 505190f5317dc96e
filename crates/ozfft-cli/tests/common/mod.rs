//! Running the program, and array files for it.
#![allow(dead_code, reason = "every test program uses a part of this")]

use npyz::{AutoSerialize, Deserialize, NpyFile, Order, WriterBuilder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs `ozfft` with these arguments.
pub fn ozfft(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ozfft"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// Runs `ozfft` as if the processor had not the named matrix units; none named: with all it has, whatever the
/// environment of the test says.
pub fn ozfft_without(units: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ozfft"))
        .args(arguments)
        .env("OZFFT_WITHOUT", units)
        .output()
        .expect("the program starts")
}

/// What the program wrote.
pub fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Runs `ozfft`, expects success, and returns what it wrote to standard output.
pub fn succeed(arguments: &[&str]) -> String {
    let output = ozfft(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Runs `ozfft`, expects an error, and returns its message. Nothing may have gone to standard output.
pub fn fail(arguments: &[&str]) -> String {
    let output = ozfft(arguments);
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

/// Writes an npy file of values in the order in which they are stored.
pub fn write<V: AutoSerialize + Copy>(path: &Path, shape: &[u64], order: Order, values: &[V]) {
    let file = std::fs::File::create(path).expect("a file can be made");
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(shape)
        .order(order)
        .writer(file)
        .begin_nd()
        .expect("a header");
    writer.extend(values.iter().copied()).expect("the values");
    writer.finish().expect("the end");
}

/// Reads an npy file: shape, order, and values as they are stored.
pub fn read<V: Deserialize>(path: &Path) -> (Vec<u64>, Order, Vec<V>) {
    let bytes = std::fs::read(path).expect("the file was written");
    let npy = NpyFile::new(&bytes[..]).expect("an npy file");
    let (shape, order) = (npy.shape().to_vec(), npy.order());
    (shape, order, npy.into_vec().expect("values of the type"))
}

/// Path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("test directories have plain names")
}
