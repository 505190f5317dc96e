//! Running the programs of this package from one of them.

use ozfft_measure::failure::Failure;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// A program, its options, and the number that is looked at.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub program: &'static str,
    /// Options of a run that says something.
    pub options: &'static str,
    /// Options of one that takes seconds.
    pub short_options: &'static str,
    /// Path of the number in the program's report.
    pub number: &'static str,
    /// What the number is.
    pub meaning: &'static str,
}

impl Case {
    /// The options of this run, and more of them.
    pub fn with(&self, short: bool, more: &str) -> String {
        let options = match short {
            true => self.short_options,
            false => self.options,
        };
        format!("{options} {more}")
    }
}

/// The cases of these programs.
pub fn cases_of<'a>(known: &'a [Case], names: &[String]) -> Result<Vec<&'a Case>, Failure> {
    let mut found = Vec::new();
    for name in names {
        let before = found.len();
        found.extend(known.iter().filter(|case| case.program == name));
        if found.len() == before {
            let mut known: Vec<&str> = known.iter().map(|case| case.program).collect();
            known.dedup();
            let known = known.join(", ");
            return Err(Failure::Usage(format!(
                "{name} is none of the programs; there are {known}"
            )));
        }
    }
    Ok(found)
}

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
                "{} cannot be run ({error}); build all programs: cargo build --release --manifest-path applications/Cargo.toml --bins",
                path.display()
            ))
        })?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Ok(Err(reason));
    }
    Ok(Ok(serde_json::from_slice(&output.stdout)?))
}
