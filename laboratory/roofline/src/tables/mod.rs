//! The tables: floors (Table 1), wall times (section 4.1, Figure 1, C.1), regimes (Table 3), words (Table 2), beneficiaries (Table 5), FP32
//! (section 6). Each in all three modes, each saying what it rests on.

mod beneficiaries;
mod floors;
mod regimes;
mod single;
mod wall_times;
mod words;

pub use beneficiaries::{BENEFICIARIES, GAIN, beneficiaries};
pub use floors::floors;
pub use regimes::{regime_kernels, regimes};
pub use single::single;
pub use wall_times::{comparison, wall_times};
pub use words::widths;

use crate::error::RooflineError;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::rate::Rate;
use crate::record::Record;
use crate::table::{Cell, Table, shown_in};

/// What tables are asked for.
#[derive(Debug, Clone)]
pub struct Question {
    /// Machines, a row or a group of rows each.
    pub machines: Vec<Machine>,
    /// Points of an axis.
    pub n: usize,
    /// Whose numbers.
    pub mode: Mode,
    /// Times for mode *measured*.
    pub record: Record,
}

impl Question {
    /// The machines that a mode has: the paper's, all, or the one that was measured; with the record of the crate.
    pub fn usual(mode: Mode, n: usize) -> Result<Question, RooflineError> {
        let mut machines = Machine::all()?;
        machines.retain(|machine| match mode {
            Mode::Printed => machine.is_in_the_paper(),
            Mode::Corrected => true,
            Mode::Measured => machine.bandwidth(mode).is_ok(),
        });
        Ok(Question {
            machines,
            n,
            mode,
            record: Record::embedded()?,
        })
    }

    fn noted(&self, mut table: Table) -> Table {
        if self.mode == Mode::Printed {
            for machine in self
                .machines
                .iter()
                .filter(|machine| !machine.is_in_the_paper())
            {
                table.assume([format!(
                    "{} is not in the paper: its formulas, with public figures",
                    machine.title
                )]);
            }
        }
        if self.mode == Mode::Measured {
            let record = &self.record;
            table.assume([format!(
                "times of {} on {}, {}",
                record.file, record.device, record.date
            )]);
            if self.n != record.n {
                table.assume([format!(
                    "measured for {0}×{0}×{0}; every point and axis takes as long for other sizes",
                    record.n
                )]);
            }
        }
        table
    }

    fn cube_title(&self) -> String {
        format!("{0}×{0}×{0}", self.n)
    }
}

fn scaled(rate: Rate, value: Option<f64>, digits: usize) -> Cell {
    Cell::known(value.map(|value| value / shown_in(rate).1), digits)
}

/// What is known of machines, with sources.
pub fn machines(question: &Question) -> Table {
    let mode = question.mode;
    let mut table = Table::new(
        "machines",
        "Machines",
        mode,
        &["machine", "figure", "value", "unit", "source"],
    );
    for machine in &question.machines {
        let figures = machine.figures_of(mode);
        for rate in Rate::ALL {
            let Some(figure) = figures.get(&rate) else {
                continue;
            };
            let derived = figure.derived.as_ref();
            let source = match derived {
                Some(derived) => format!("{} ({derived})", figure.source),
                None => figure.source.clone(),
            };
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(rate.key()),
                Cell::number(figure.value, 4),
                Cell::text(&figure.unit),
                Cell::text(source),
            ]);
        }
    }
    question.noted(table)
}

/// Constants that the record has, and those that it has not. There are none in the other modes.
pub fn constants(question: &Question) -> Result<Table, RooflineError> {
    let record = &question.record;
    let mut table = Table::new(
        "constants",
        "Constants of the model",
        Mode::Measured,
        &["constant", "value", "from", "to", "unit", "what it is"],
    );
    for constant in &record.constants {
        let end = |index: usize| match constant.range {
            Some(range) => Cell::number(range[index], 3),
            None => Cell::text(""),
        };
        table.rows.push(vec![
            Cell::text(&constant.name),
            Cell::number(constant.value, 3),
            end(0),
            end(1),
            Cell::text(&constant.unit),
            Cell::text(&constant.definition),
        ]);
    }
    for missing in &record.not_measured {
        table.rows.push(vec![
            Cell::text(&missing.name),
            Cell::text("not measured"),
            Cell::text(""),
            Cell::text(""),
            Cell::text(""),
            Cell::text(&missing.reason),
        ]);
    }
    table.assume([format!(
        "{} on {}, {}",
        record.file, record.device, record.date
    )]);
    Ok(table)
}
