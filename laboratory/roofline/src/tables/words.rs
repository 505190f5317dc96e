//! Narrow words: Table 2.

use super::Question;
use crate::error::RooflineError;
use crate::floors::{self, Words};
use crate::mode::Mode;
use crate::paths::{Substrate, counted, printed};
use crate::table::{Cell, Table};

/// Table 2: words of 32, 16 and 8 bits.
pub fn widths(question: &Question) -> Result<Table, RooflineError> {
    let mode = question.mode;
    let columns: &[&str] = match mode {
        Mode::Printed => &[
            "word",
            "lanes of 512 bits",
            "words for 104 bits",
            "throughput, printed",
            "throughput, equation 19",
            "sub-floor, of memory",
            "exact",
        ],
        Mode::Corrected => &[
            "word",
            "lanes of 512 bits",
            "throughput, counted",
            "sub-floor of the sum, of memory",
            "exact",
        ],
        Mode::Measured => &[
            "word",
            "γ, ps an output",
            "throughput of γ",
            "throughput of the whole path",
            "exact",
        ],
    };
    let mut table = Table::new("widths", "Kulisch's sum in narrow words", mode, columns);
    for (index, (word, throughput)) in printed::THROUGHPUT.into_iter().enumerate() {
        let name = Cell::text(format!("INT{word}"));
        let exact = Cell::text("yes");
        match mode {
            Mode::Printed => {
                let radices = [[26, 21], [13, 12], [7, 4]][index];
                let words = radices.map(|radix| Words::printed(word, radix));
                // The printed numbers of words mean these radices; throughput is relative to both of 32 bits.
                let wide = [26, 21].map(|radix| Words::printed(32, radix).cost());
                let ratios: Vec<f64> = words
                    .iter()
                    .flat_map(|narrow| wide.map(|wide| wide / narrow.cost()))
                    .collect();
                let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let most = ratios.iter().copied().fold(0.0, f64::max);
                let floor = floors::reconstruction(18.0, 4.0, 11.0) / throughput;
                table.rows.push(vec![
                    name,
                    Cell::count(f64::from(words[0].lanes())),
                    Cell::text(format!("{}–{}", words[0].words(), words[1].words())),
                    Cell::number(throughput, 2),
                    Cell::text(format!("{least:.2} to {most:.2}")),
                    Cell::number(floor, 3),
                    exact,
                ]);
            }
            Mode::Corrected => {
                let (moduli, log2) = Substrate::Int8.moduli()[1];
                let slices = Substrate::Int8.slices(log2);
                let throughput = counted::THROUGHPUT[index].1;
                let floor = floors::reconstruction(
                    counted::OUTPUTS_PER_POINT,
                    counted::OPERATIONS_PER_SLICE,
                    slices,
                ) / throughput;
                table.rows.push(vec![
                    name,
                    Cell::count(f64::from(512 / word)),
                    Cell::number(throughput, 2),
                    Cell::number(floor, 3),
                    exact,
                ]);
                table.assume([format!(
                    "{moduli} moduli of int8, {slices} slices, 12 N³ outputs; the multiple of M and all else come on top; throughput counted on vectors of equal width"
                )]);
            }
            Mode::Measured => {
                let record = &question.record;
                let gamma = |word| record.constant(&format!("gamma.residues-kulisch{word}"));
                let whole = |word| {
                    let name = format!("residues-kulisch{word}");
                    let path = record.paths.iter().find(|path| path.name == name);
                    path.and_then(|path| path.seconds)
                };
                let ratio = |of: &dyn Fn(u32) -> Option<f64>| Some(of(32)? / of(word)?);
                table.rows.push(vec![
                    name,
                    Cell::known(gamma(word), 3),
                    Cell::known(ratio(&gamma), 2),
                    Cell::known(ratio(&whole), 2),
                    exact,
                ]);
            }
        }
    }
    if mode == Mode::Measured {
        for machine in &question.machines {
            question.record.is_of(machine)?;
        }
    } else {
        table.assume(["the same on every machine and for every size".into()]);
    }
    Ok(question.noted(table))
}
