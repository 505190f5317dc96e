//! Running the program, and array files for it.
#![allow(
    dead_code,
    unused_imports,
    reason = "every test program uses a part of this"
)]

mod program;

use npyz::{AutoSerialize, Deserialize, NpyFile, Order, WriterBuilder};
#[cfg(unix)]
pub use program::records_its_own_commit;
pub use program::{directory, fail, json, number, run as ozfft, succeed, text, text_of};
use std::path::Path;
use std::process::{Command, Output};

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_ozfft");

/// Runs `ozfft` as if the processor had not the named matrix units; none named: with all it has, whatever the
/// environment of the test says.
pub fn ozfft_without(units: &str, arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(arguments)
        .env("OZFFT_WITHOUT", units)
        .output()
        .expect("the program starts")
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
