//! Text files that commands read: records, definitions, documents.

use crate::failure::Failure;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file that is read as a whole; records have some hundred kilobytes.
const MOST_BYTES: u64 = 64 << 20;

/// Rejects `-`, which many programs take for a standard stream: here every name is one of a file.
pub fn expect_no_dash(path: &Path, stream: &str) -> Result<(), Failure> {
    match path == Path::new("-") {
        true => Err(Failure::Usage(format!(
            "- is not taken for standard {stream}; give /dev/std{} for it, or ./- for a file of that name",
            &stream[..stream.len() - 3]
        ))),
        false => Ok(()),
    }
}

/// Reads a file of JSON; `what` it should be is named where it is something else.
pub fn read_json<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T, Failure> {
    let wrong = |error| Failure::content(path)(format!("this is not {what}: {error}"));
    serde_json::from_str(&read_text(path)?).map_err(wrong)
}

/// Reads a text, of whatever the path names, up to a limit: some files never end.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    expect_no_dash(path, "input")?;
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text))
        .map_err(Failure::file("read", path))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Failure::Content {
            path: path.to_path_buf(),
            reason: format!(
                "it has more than {MOST_BYTES} bytes, which no record or document of ozfft has"
            ),
        });
    }
    Ok(text)
}
