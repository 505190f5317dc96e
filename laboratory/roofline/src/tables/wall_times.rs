//! Wall times: section 4.1, Figure 1, C.1; and how far measured times are from those that are worked out.

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
                        own.map(|(_, time)| time.seconds)
                            .fold(0.0, |sum, seconds| sum + seconds)
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

/// Measured times beside those that corrected counts and the measured rates of the same machine give. The counts of digits are those without
/// any instruction on doubles, those of Garner with one reduction a digit: rows that are something else are left out.
pub fn comparison(question: &Question) -> Result<Table, RooflineError> {
    let record = &question.record;
    let mut table = Table::new(
        "comparison",
        format!(
            "Measured times of {} beside the model, ms",
            question.cube_title()
        ),
        Mode::Measured,
        &[
            "machine",
            "path",
            "all at once",
            "one after the other",
            "measured",
            "measured over all at once",
            "overlap",
            "bound by, in the model",
        ],
    );
    for machine in &question.machines {
        record.is_of(machine)?;
        for measured in &record.paths {
            let path = record.counted(measured, question.n)?;
            let (Some(path), Some(seconds)) = (path, record.seconds(measured, question.n)) else {
                continue;
            };
            let estimate = estimate(&path, machine)?;
            let overlap = estimate.overlap_of(seconds);
            table.rows.push(vec![
                Cell::text(&machine.title),
                Cell::text(&measured.name),
                Cell::number(estimate.overlapped * 1e3, 3),
                Cell::number(estimate.serial * 1e3, 3),
                Cell::number(seconds * 1e3, 3),
                Cell::number(seconds / estimate.overlapped, 3),
                if overlap < 0.0 {
                    Cell::text("none: slower than one after the other")
                } else {
                    Cell::number(overlap, 2)
                },
                Cell::text(estimate.binding.title()),
            ]);
        }
    }
    table.assume([
        "the model has corrected counts and the rates that were measured on the machine".into(),
        "digits-fp8 converts to doubles, which the model does not; that is 9 % of its time".into(),
    ]);
    Ok(question.noted(table))
}
