//! What tests leave out, for the summary at the end of `./run-tests`.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Mutex;

/// Appends a line to the file that `OZFFT_LEFT_OUT` names, once for each process: what is left out, and the place, which the summary counts.
pub(crate) fn note(what: &str, place: &str) {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let Some(path) = std::env::var_os("OZFFT_LEFT_OUT") else {
        return;
    };
    let mut noted = NOTED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let line = format!("{what}\t{place}\n");
    if noted.insert(line.clone()) {
        // One write, as tests of other programs append to the same file. A summary that lacks a line fails no test.
        let file = OpenOptions::new().append(true).create(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
