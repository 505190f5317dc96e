//! `ozfft-lab plot`: a record of `ozfft-lab paths` or `ozfft-lab ladder` as a picture, or a figure of `ozfft-lab report`.

mod canvas;
pub mod dispatch;
pub mod evidence;
pub mod labels;
mod ladder;
mod paths;
pub mod scaling;

use crate::failure::Failure;
use crate::paths::Report;
use crate::report_page::{self, FigureArguments};
use clap::Args;
use ozfft_measure::inputs::read_text;
use ozfft_measure::report::write_text;
use std::path::{Path, PathBuf};

/// Options of `ozfft-lab plot`.
#[derive(Debug, Args)]
pub struct PlotArguments {
    /// A record of `ozfft-lab paths` or `ozfft-lab ladder`
    #[arg(long, value_name = "FILE", required_unless_present = "figure")]
    record: Option<PathBuf>,
    /// The SVG file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Of a record of `ozfft-lab paths`: bits against time instead of times
    #[arg(long)]
    precision: bool,
    #[command(flatten)]
    figure: FigureArguments,
}

/// Runs the command.
pub fn run(arguments: &PlotArguments) -> Result<(), Failure> {
    arguments.figure.checked()?;
    if let Some(name) = &arguments.figure.figure {
        return report_page::plot(name, &arguments.figure, &arguments.out);
    }
    let Some(record) = &arguments.record else {
        return Err(Failure::Usage(
            "--record FILE or --figure NAME is needed".into(),
        ));
    };
    let picture = match kind(record)? {
        Kind::Ladder if arguments.precision => {
            let words =
                "--precision is for records of ozfft-lab paths; this one is of ozfft-lab ladder";
            return Err(Failure::Usage(words.into()));
        }
        Kind::Ladder => ladder::picture(&crate::ladder::record::Record::read(record)?)?,
        Kind::Paths if arguments.precision => paths::precision(&Report::read(record)?)?,
        Kind::Paths => paths::times(&Report::read(record)?)?,
    };
    write_text(&arguments.out, &format!("{picture}\n"))?;
    Ok(())
}

/// What a record is of.
enum Kind {
    Paths,
    Ladder,
}

/// Records of paths have paths, and those of ladders say so. What they have else is for others to check.
fn kind(path: &Path) -> Result<Kind, Failure> {
    let unusable = Failure::content(path);
    let value: serde_json::Value = serde_json::from_str(&read_text(path)?)
        .map_err(|error| unusable(format!("not a record: {error}")))?;
    let has = |key: &str| value.get(key).is_some();
    match (has("ladder"), has("paths")) {
        (true, _) => Ok(Kind::Ladder),
        (false, true) => Ok(Kind::Paths),
        (false, false) => Err(unusable(
            "neither a record of ozfft-lab paths nor of ozfft-lab ladder; those of ozfft bench are drawn by `ozfft plot`"
                .into(),
        )),
    }
}
