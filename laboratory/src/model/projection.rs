//! `ozfft-lab model projection`: measured paths carried over to machines that were not measured.
//!
//! What a path takes over what the corrected model allows on the measured machine is the constant that a kernel delivers; times the corrected model
//! of another machine it says what the same kernel would take there, if it kept the same share of the unit that binds it. Projected times are
//! never shown as measured ones: they have a table of their own, and say so.

use crate::failure::Failure;
use roofline::time::estimate;
use roofline::{Cell, Machine, Mode, Record, Table};

/// Paths of the record, projected.
pub fn projection(
    record: &Record,
    measured: &Machine,
    others: &[Machine],
) -> Result<Table, Failure> {
    record.is_of(measured)?;
    let mut table = Table::new(
        "projection",
        format!(
            "Times of {0}×{0}×{0} PROJECTED from those measured on {1}, ms",
            record.n, measured.title
        ),
        Mode::Corrected,
        &[
            "machine",
            "path",
            "all units at their rates",
            "delivered, times that",
            "projected",
            "bound by",
        ],
    );
    for machine in others {
        for path in &record.paths {
            let (Some(counted), Some(seconds)) = (record.counted(path, record.n)?, path.seconds)
            else {
                continue;
            };
            let delivered = seconds / estimate(&counted, measured)?.overlapped;
            let row = match estimate(&counted, machine) {
                Ok(there) => [
                    Cell::number(there.overlapped * 1e3, 3),
                    Cell::number(delivered, 3),
                    Cell::number(delivered * there.overlapped * 1e3, 3),
                    Cell::text(there.binding.title()),
                ],
                Err(unknown) => [
                    Cell::text("not known"),
                    Cell::number(delivered, 3),
                    Cell::text("not known"),
                    Cell::text(unknown.to_string()),
                ],
            };
            let names = [Cell::text(&machine.title), Cell::text(&path.name)];
            table.rows.push(names.into_iter().chain(row).collect());
        }
    }
    if table.rows.is_empty() {
        return Err(Failure::Usage(
            "the record has no path that the model has counts for".into(),
        ));
    }
    table.assume([
        format!(
            "measured: {}, {}; nothing else in this table is",
            record.file, record.date
        ),
        "a kernel keeps the share of the binding unit that it has on the measured machine, with the same instructions".into(),
        "rates of the other machine are those of its file, with their sources (ozfft-lab model machines)".into(),
    ]);
    Ok(table)
}
