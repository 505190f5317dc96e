//! Running the programs of this package from one of them.

use ozfft_cli::failure::Failure;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Where the other programs are.
fn folder() -> Result<PathBuf, Failure> {
    let here = std::env::current_exe().map_err(Failure::file("find", "this program".as_ref()))?;
    Ok(here.parent().map(PathBuf::from).unwrap_or_default())
}

/// What a program beside this one reports, or why it does not: a machine may lack what the options ask for.
pub fn report_of(program: &str, options: &str) -> Result<Result<Value, String>, Failure> {
    let path = folder()?.join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&path)
        .args(options.split_whitespace())
        .arg("--json")
        .output()
        .map_err(|error| {
            Failure::Usage(format!(
                "{} cannot be run ({error}); build all programs: cargo build --release -p ozfft-applications --bins",
                path.display()
            ))
        })?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Ok(Err(reason));
    }
    Ok(Ok(serde_json::from_slice(&output.stdout)?))
}
