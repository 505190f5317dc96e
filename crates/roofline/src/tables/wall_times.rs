//! Wall times: section 4.1, Figure 1, C.1.

use super::Question;
use crate::error::RooflineError;
use crate::mode::Mode;
use crate::paths;
use crate::table::{Cell, Table};
use crate::time::estimate;

/// Wall times of all paths.
pub fn wall_times(question: &Question) -> Result<Table, RooflineError> {
    if question.mode == Mode::Measured {
        return measured_wall_times(question);
    }
    let mode = question.mode;
    let mut table = Table::new(
        "walltime",
        format!("Wall times of {}, ms", question.cube_title()),
        mode,
        &[
            "machine",
            "path",
            "memory",
            "products",
            "reconstruction",
            "everything else",
            "one after the other",
            "equation 3",
            "all at once",
            "bound by",
        ],
    );
    for machine in &question.machines {
        for path in paths::all(mode, question.n)? {
            let mut row = vec![Cell::text(&machine.title), Cell::text(path.title())];
            match estimate(&path, machine) {
                Ok(estimate) => {
                    let of = |role| -> f64 {
                        let stages = path.stages.iter().zip(&estimate.stages);
                        let own = stages.filter(|(stage, _)| stage.role == role);
                        own.map(|(_, time)| time.seconds).sum()
                    };
                    for seconds in [
                        estimate.memory,
                        of(paths::Role::Product),
                        of(paths::Role::Reconstruction),
                        of(paths::Role::Beside),
                        estimate.serial,
                        estimate.tme,
                        estimate.overlapped,
                    ] {
                        row.push(Cell::number(seconds * 1e3, 3));
                    }
                    row.push(Cell::text(estimate.binding.title()));
                }
                Err(RooflineError::NotKnown { key, .. }) => {
                    row.extend(vec![Cell::text("not known"); 7]);
                    row.push(Cell::text(format!("rate of the {} not known", key.title())));
                }
                Err(error) => return Err(error),
            }
            table.rows.push(row);
            table.assume(path.assumptions);
        }
    }
    table.assume(["every unit at its peak rate".into()]);
    Ok(question.noted(table))
}

fn measured_wall_times(question: &Question) -> Result<Table, RooflineError> {
    let record = &question.record;
    let mut table = Table::new(
        "walltime",
        format!("Wall times of {}, ms", question.cube_title()),
        Mode::Measured,
        &[
            "machine",
            "path",
            "paper's name",
            "ms",
            "over memory",
            "L2 error",
        ],
    );
    for machine in &question.machines {
        record.is_of(machine)?;
        let roof = record.roof * (question.n as f64 / record.n as f64).powi(3);
        for path in &record.paths {
            let seconds = record.seconds(path, question.n);
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(&path.name),
                Cell::text(&path.paper),
                match (seconds, &path.missing) {
                    (Some(seconds), _) => Cell::number(seconds * 1e3, 3),
                    (None, why) => Cell::text(why.as_deref().unwrap_or("not measured")),
                },
                Cell::known(seconds.map(|seconds| seconds / roof), 3),
                Cell::known(path.l2, 2),
            ]);
        }
    }
    Ok(question.noted(table))
}
