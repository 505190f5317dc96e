//! `ozfft-lab report`: one page that says whether a machine runs double-precision transforms at the speed of its memory, and what would have to
//! change; and its figures as files (`ozfft-lab plot --figure`).
//!
//! ```text
//! data.rs       input of the page's script; the model itself is the crate `page-model`, compiled to WebAssembly
//! controls.js   from what is typed to a question to the model, and from its answer to what is shown
//! figures/      the paper's figures and ours
//! text.rs       lines and tables as HTML
//! page.rs       everything into page.html
//! ```

mod data;
mod figures;
mod page;
pub mod text;

use crate::failure::Failure;
use clap::Args;
use ozfft_measure::report::write_text;
use roofline::printed::Printed;
use roofline::{Machine, Mode, Record};
use std::path::{Path, PathBuf};

/// Options of `ozfft-lab report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The HTML file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    subject: Subject,
}

/// What a page or a figure is about.
#[derive(Debug, Args)]
pub struct Subject {
    /// A machine by its name, or a file of your own by its path [default: b300]
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Points of an axis of the cube [default: 1024]
    #[arg(long, value_name = "N")]
    n: Option<usize>,
    /// Whose numbers: printed, corrected or measured [default: corrected]
    #[arg(long)]
    mode: Option<Mode>,
}

impl Subject {
    fn is_given(&self) -> bool {
        self.machine.is_some() || self.n.is_some() || self.mode.is_some()
    }
}

/// What all parts are made from.
pub struct Context {
    machine: Machine,
    n: usize,
    mode: Mode,
    machines: Vec<Machine>,
    record: Record,
    printed: Vec<Printed>,
}

impl Context {
    fn new(subject: &Subject) -> Result<Context, Failure> {
        let mode = subject.mode.unwrap_or(Mode::Corrected);
        let mut machine = crate::model::machine(subject.machine.as_deref().unwrap_or("b300"))?;
        let mut machines = Machine::all()?;
        match machines.iter().find(|known| known.name == machine.name) {
            Some(known) if *known == machine => {}
            // A file may have a name that is taken; the paper's figures need the machine that has it.
            Some(_) => {
                machine.name.push_str("-from-file");
                machines.push(machine.clone());
            }
            None => machines.push(machine.clone()),
        }
        let context = Context {
            machine,
            n: subject.n.unwrap_or(1024),
            mode,
            machines,
            record: Record::embedded()?,
            printed: roofline::printed::all()?,
        };
        // Whatever is wrong with size, mode or figures is said before anything is drawn.
        roofline::verdict::verdict(&context.machine, mode, context.n, Some(&context.record))?;
        Ok(context)
    }

    fn machine(&self, name: &str) -> Result<&Machine, Failure> {
        let found = self.machines.iter().find(|machine| machine.name == name);
        found.ok_or_else(|| Failure::Check(format!("the crate roofline has no machine {name}")))
    }

    /// A number that the paper prints.
    fn printed(&self, place: &str, what: &str) -> Result<f64, Failure> {
        let found = self
            .printed
            .iter()
            .find(|number| number.place == place && number.what == what);
        let message = || {
            Failure::Check(format!(
                "the crate roofline has no printed number {place:?}, {what:?}"
            ))
        };
        found.map(|number| number.value).ok_or_else(message)
    }
}

/// Runs `ozfft-lab report`.
pub fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let context = Context::new(&arguments.subject)?;
    write_text(&arguments.out, &page::page(&context)?)?;
    Ok(())
}

/// Options of `ozfft-lab plot --figure`.
#[derive(Debug, Args)]
pub struct FigureArguments {
    /// A figure of `ozfft-lab report` by its name, instead of a record
    #[arg(long, value_name = "NAME", conflicts_with_all = ["record", "precision"])]
    pub figure: Option<String>,
    #[command(flatten)]
    subject: Subject,
}

impl FigureArguments {
    /// Options that nothing would heed are rejected: only the roofline is about one machine.
    pub fn checked(&self) -> Result<(), Failure> {
        if self.subject.is_given() && self.figure.as_deref() != Some("roofline") {
            let message = "--machine, --n and --mode are for --figure roofline";
            return Err(Failure::Usage(message.into()));
        }
        Ok(())
    }
}

/// Runs `ozfft-lab plot --figure NAME`.
pub fn plot(name: &str, arguments: &FigureArguments, out: &Path) -> Result<(), Failure> {
    if !figures::NAMES.contains(&name) {
        let known = figures::NAMES.join(", ");
        let message = format!("no figure is called {name}: there are {known}");
        return Err(Failure::Usage(message));
    }
    let context = Context::new(&arguments.subject)?;
    let figure = figures::figure(name, &context, page_model::WIDE)?;
    let picture = figure.svg.standalone(&figure.title, &figure.description);
    write_text(out, &format!("{picture}\n"))?;
    Ok(())
}
