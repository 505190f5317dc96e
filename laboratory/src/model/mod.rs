//! `ozfft-lab model`: the paper's model of an exact FFT, as printed, corrected and measured. The model is the crate `roofline`; here are its options
//! and what is written.

mod fit;
mod predictions;
mod projection;
pub mod scaling;
mod show;

use crate::failure::Failure;
use clap::{Args, Subcommand};
use ozfft_measure::inputs::read_text;
use ozfft_measure::report::say;
use roofline::{Machine, Mode, Question, Record, document, printed, tables, verdict};
use show::{Form, table, words, write_between_markers};
use std::path::{Path, PathBuf};

/// Options of `ozfft-lab model`.
#[derive(Debug, Args)]
pub struct ModelArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Rates that keep memory busy, beside what machines have (Table 1)
    Floors(Options),
    /// Times of every variant of a transform (section 4.1, Figure 1, C.1)
    Walltime(Options),
    /// Which term of the model binds, kernel by kernel (Table 3)
    Regimes(Options),
    /// Kulisch's sum in words of 32, 16 and 8 bits (Table 2)
    Widths(Options),
    /// Who gains from exact accumulation (Table 5)
    Beneficiaries(Options),
    /// Floors of single precision (section 6)
    Fp32(Options),
    /// One machine in words: which resource binds which variant, with what margin, and the rate that would change it
    Machine(MachineOptions),
    /// All machines, a line each: times of the four variants, and what binds them
    Verdicts(Options),
    /// What is known of machines, every figure with its source
    Machines(Options),
    /// Constants of the model that were measured, and those that were not
    Constants(RecordOptions),
    /// Measured times beside those that corrected counts and measured rates give
    Comparison(RecordOptions),
    /// Measured paths carried over to other machines, by what their kernels deliver of the corrected model
    Projection(ProjectionOptions),
    /// Every number that the paper prints, and what its own formulas give
    Numbers(NumbersOptions),
    /// What plans by digits are predicted to take, beside a record of `ozfft bench`
    Predictions(PredictionOptions),
    /// Times of distributed transforms on many ranks, from measured local times and figures of networks
    Scaling(Box<scaling::ScalingOptions>),
    /// The tables of laboratory/docs/roofline.md
    Document(DocumentOptions),
}

/// What all tables are asked for with.
#[derive(Debug, Args)]
struct Options {
    /// Machines by name, or files of your own: descriptions, or records of `ozfft probe`. Left out: all that the mode has
    #[arg(long, value_name = "NAME|FILE", value_delimiter = ',')]
    machine: Vec<String>,
    #[command(flatten)]
    setting: Setting,
    /// Write comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Debug, Args)]
struct Setting {
    /// Points of each of the three axes
    #[arg(long, default_value_t = 1024)]
    n: usize,
    /// Whose numbers: the paper's (printed), counted here (corrected), or from records (measured)
    #[arg(long, default_value = "corrected")]
    mode: Mode,
    /// A record of `ozfft-lab paths` for mode measured, instead of the one that comes with the program
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct MachineOptions {
    /// A machine by name, or a file of your own
    #[arg(value_name = "NAME|FILE")]
    machine: String,
    #[command(flatten)]
    setting: Setting,
}

#[derive(Debug, Args)]
struct RecordOptions {
    /// A record of `ozfft-lab paths`, instead of the one that comes with the program
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The machine that it is of, as a record of `ozfft probe`, instead of the one that comes with the program
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Write comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Debug, Args)]
struct ProjectionOptions {
    /// The machines to project to, by name, or files of your own
    #[arg(
        long,
        value_name = "NAME|FILE",
        value_delimiter = ',',
        default_value = "b300,rubin"
    )]
    to: Vec<String>,
    #[command(flatten)]
    of: RecordOptions,
}

#[derive(Debug, Args)]
struct NumbersOptions {
    /// Only those that the paper's own formulas or other places contradict
    #[arg(long)]
    contradictions: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Write comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Debug, Args)]
struct PredictionOptions {
    /// A record of `ozfft bench`
    #[arg(long, value_name = "FILE")]
    record: PathBuf,
    /// Show the constants that fit the record best instead
    #[arg(long)]
    fit: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Write comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Debug, Args)]
struct DocumentOptions {
    /// Replace what is between the markers of this file, such as laboratory/docs/roofline.md
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &ModelArguments) -> Result<(), Failure> {
    let of = |options: &Options, make: fn(&Question) -> Result<_, _>| {
        let made = make(&options.question()?)?;
        table(&made, options.form())
    };
    match &arguments.what {
        What::Floors(options) => of(options, tables::floors),
        What::Walltime(options) => of(options, tables::wall_times),
        What::Regimes(options) => of(options, tables::regimes),
        What::Widths(options) => of(options, tables::widths),
        What::Beneficiaries(options) => of(options, tables::beneficiaries),
        What::Fp32(options) => of(options, tables::single),
        What::Verdicts(options) => of(options, verdict::table),
        What::Machines(options) => of(options, |question| Ok(tables::machines(question))),
        What::Constants(options) => {
            table(&tables::constants(&options.question()?)?, options.form())
        }
        What::Comparison(options) => {
            table(&tables::comparison(&options.question()?)?, options.form())
        }
        What::Projection(options) => {
            let question = options.of.question()?;
            let to: Result<Vec<Machine>, Failure> =
                options.to.iter().map(|name| machine(name)).collect();
            let made = projection::projection(&question.record, &question.machines[0], &to?)?;
            table(&made, options.of.form())
        }
        What::Machine(options) => one_machine(options),
        What::Numbers(options) => {
            let form = Form::of(options.json, options.csv);
            table(&printed::table(options.contradictions)?, form)
        }
        What::Predictions(options) => {
            let text = read(&options.record)?;
            let make = match options.fit {
                true => predictions::constants,
                false => predictions::predictions,
            };
            let form = Form::of(options.json, options.csv);
            table(&make(&options.record, &text)?, form)
        }
        What::Scaling(options) => scaling::run(options, crate::plot::scaling::picture),
        What::Document(options) => write_document(options),
    }
}

impl Options {
    fn form(&self) -> Form {
        Form::of(self.setting.json, self.csv)
    }

    fn question(&self) -> Result<Question, Failure> {
        let setting = &self.setting;
        let mut question = Question::usual(setting.mode, setting.n)?;
        if let Some(record) = setting.record()? {
            question.record = record;
        }
        if !self.machine.is_empty() {
            let machines: Result<_, _> = self.machine.iter().map(|name| machine(name)).collect();
            question.machines = machines?;
        }
        Ok(question)
    }
}

impl Setting {
    fn record(&self) -> Result<Option<Record>, Failure> {
        match &self.record {
            Some(path) if self.mode != Mode::Measured => Err(Failure::Usage(format!(
                "--record {} is for --mode measured; mode {} uses no record",
                path.display(),
                self.mode
            ))),
            Some(path) => record(path).map(Some),
            None => Ok(None),
        }
    }
}

impl RecordOptions {
    fn form(&self) -> Form {
        Form::of(self.json, self.csv)
    }

    /// The size of the record.
    fn question(&self) -> Result<Question, Failure> {
        let mut question = Question::usual(Mode::Measured, 1024)?;
        if let Some(path) = &self.record {
            question.record = record(path)?;
        }
        if let Some(name) = &self.machine {
            question.machines = vec![machine(name)?];
        }
        question.n = question.record.n;
        Ok(question)
    }
}

fn record(path: &Path) -> Result<Record, Failure> {
    let text = read(path)?;
    Ok(Record::from_json(&path.display().to_string(), &text)?)
}

fn read(path: &Path) -> Result<String, Failure> {
    Ok(read_text(path)?)
}

/// A machine by its name, or from a file, which has a path or ends in `.json`.
pub fn machine(name: &str) -> Result<Machine, Failure> {
    if name.contains(std::path::MAIN_SEPARATOR) || name.ends_with(".json") {
        return Ok(Machine::from_json(name, &read(Path::new(name))?)?);
    }
    Ok(Machine::named(name)?)
}

fn one_machine(options: &MachineOptions) -> Result<(), Failure> {
    let setting = &options.setting;
    let machine = machine(&options.machine)?;
    let record = setting.record()?;
    let verdict = verdict::verdict(&machine, setting.mode, setting.n, record.as_ref())?;
    words(&verdict, &machine, setting.json)
}

fn write_document(options: &DocumentOptions) -> Result<(), Failure> {
    let made = document::tables()?;
    let Some(path) = &options.out else {
        say(&made)?;
        return Ok(());
    };
    write_between_markers(path, &made)
}
