//! The tables of the documentation.

use super::Findings;
use super::claims::figure;
use super::experiment::{Bands, Measurement};
use super::paper::{self, COST_R};
use super::substrate::Substrate;
use super::words::Words;
use ozfft_measure::machine::{processor_name, today};

/// What is between these lines of a file is made by the command.
pub const BEGIN: &str = "<!-- made by ozfft-lab reconstruct: begin -->";
pub const END: &str = "<!-- made by ozfft-lab reconstruct: end -->";

/// A text with what is between the markers replaced, if it has them.
pub fn replaced(text: &str, tables: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{tables}\n\n{END}{after}"))
}

/// `exact`, or the bits that are right.
pub fn precision(measurement: &Measurement) -> String {
    match measurement.bits {
        None if measurement.proven_exact => "exact".into(),
        None => "exact here".into(),
        Some(bits) => format!("{bits:.1}"),
    }
}

fn table(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| format!("| {} |", row.join(" | "));
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if let Some(heads) = rows.first() {
        lines.insert(1, format!("|{}", "---|".repeat(heads.len())));
    }
    lines.join("\n")
}

fn heads<const N: usize>(names: [&str; N]) -> Vec<Vec<String>> {
    vec![names.map(String::from).to_vec()]
}

/// All tables, with all that is needed to make them again.
pub fn tables(findings: &Findings, seed: u64, size: usize) -> String {
    let r = cost_r(&findings.measurements);
    let mut parts = vec![
        "### Precision".to_string(),
        format!(
            "Bits of the largest error over the largest integer, for products of random matrices of {size} × {size} (uniform in \
             ±1), scaled to as many bits as `size·2^(2p) <= Moduli::largest()` allows. *exact* is proven, and every integer was right; \
             *exact here* is what came out. Operands have at most 62 bits; where M holds more, methods whose error goes with M lose bits. `seven` are the coprime numbers from 128 downwards, 7 bits each as in the paper."
        ),
        table(&precision_rows(&findings.measurements)),
        "### Cost".into(),
        format!(
            "Counted for one output with r = {} in instrumented runs. *products* are multiply-adds on the matrix unit, those of the \
             bands included; *multiple of M* is integer work before the sum; *ns* is the shortest time on one core of this machine, phase A \
             on portable code, the unit for fp8 simulated.",
            r
        ),
        table(&cost_rows(&findings.measurements)),
        "![Precision against counted operations](reconstruct.svg)".into(),
        "## The paper's numbers".into(),
        "### Table 4".into(),
        "Largest error over the root mean square of the outputs, quantisation included. *as described* is the paper's prototype made again: \
         primes from 127 downwards, residues from 0, the multiple of M taken off in floating point (median of 16 runs, and their range). \
         *here* are the methods of this project with moduli of 7 bits. Relative to each output by itself errors are far larger, because \
         outputs near zero are among them."
            .into(),
        table(&table_4_rows(findings)),
        "### Table 2".into(),
        "Counted word operations of an output (deposits and carries, `kulisch::bounded`), over the lanes of a vector of 512 bits, relative to words of 32 bits."
            .into(),
        table(&word_rows(&selected(&findings.words, |row| row.r == r))),
    ];
    if !findings.bands.is_empty() {
        parts.push("### Bands in E4M3".into());
        parts.push(
            "Phase B as a product on the matrix unit, for one output. The paper has 5 bands, 0.3 to 0.4 of phase A's products, and no \
             operations on integers."
                .into(),
        );
        parts.push(table(&band_rows(&selected(&findings.bands, |row| {
            row.r == r
        }))));
    }
    parts.push("### Claim by claim".into());
    parts.push("Verdicts on these claims, and the rules that they follow, are in [evidence.md](evidence.md).".into());
    parts.push(table(&claim_rows(findings)));
    if !findings.missing.is_empty() {
        let missing = findings.missing.iter().map(|missing| {
            let (method, reason) = (&missing.method, &missing.reason);
            format!(
                "- {method} on {}, r = {}: {reason}",
                missing.substrate, missing.r
            )
        });
        parts.push("### What there is not".into());
        parts.push(missing.collect::<Vec<_>>().join("\n"));
    }
    parts.push(format!(
        "Made on {} by `ozfft-lab reconstruct --seed {seed} --size {size} --out laboratory/docs/reconstruct.md` with ozfft {}, on {}.",
        today(),
        env!("CARGO_PKG_VERSION"),
        processor_name(),
    ));
    parts.join("\n\n")
}

/// Those that are wanted.
fn selected<T: Clone>(rows: &[T], wanted: impl Fn(&T) -> bool) -> Vec<T> {
    rows.iter().filter(|row| wanted(row)).cloned().collect()
}

/// In the order of their first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

fn precision_rows(measurements: &[Measurement]) -> Vec<Vec<String>> {
    let cases = distinct(measurements.iter().map(|m| (m.substrate, m.r)));
    let mut head = vec!["method".to_string()];
    head.extend(
        cases
            .iter()
            .map(|(substrate, r)| format!("{substrate} r={r}")),
    );
    let mut rows = vec![head];
    for method in distinct(measurements.iter().map(|m| &m.method)) {
        let mut row = vec![method.clone()];
        for &(substrate, r) in &cases {
            let found = measurements
                .iter()
                .find(|m| m.substrate == substrate && m.r == r && m.method == *method);
            row.push(found.map_or("none".into(), precision));
        }
        rows.push(row);
    }
    rows
}

/// The `r` that costs are shown for.
pub fn cost_r(measurements: &[Measurement]) -> usize {
    let given = |r: usize| measurements.iter().any(|m| m.r == r);
    match measurements.first() {
        Some(first) if !given(COST_R) => first.r,
        _ => COST_R,
    }
}

/// A bound of nearly M says nothing: the fraction may be rounded in the other direction.
fn bound(to_modulus: f64) -> String {
    if to_modulus < 0.5 {
        format!("{to_modulus:.1e}")
    } else {
        "none".into()
    }
}

fn cost_rows(measurements: &[Measurement]) -> Vec<Vec<String>> {
    let mut rows = heads([
        "method",
        "substrate",
        "falls on",
        "slices",
        "products",
        "multiple of M",
        "sum",
        "bound/M",
        "ns",
    ]);
    let r = cost_r(measurements);
    for m in measurements.iter().filter(|m| m.r == r) {
        rows.push(vec![
            m.method.clone(),
            m.substrate.to_string(),
            m.pipe.clone(),
            m.slices.map_or("none".into(), |slices| slices.to_string()),
            figure(m.operations.products()),
            figure(m.operations.reduction),
            figure(m.operations.sum()),
            if m.proven_exact {
                "exact".into()
            } else {
                bound(m.bound_to_modulus)
            },
            format!("{:.0}", m.least_nanoseconds),
        ]);
    }
    rows
}

fn table_4_rows(findings: &Findings) -> Vec<Vec<String>> {
    let mut rows = heads([
        "r",
        "column",
        "printed",
        "as described",
        "range",
        "method",
        "here",
    ]);
    let evidence = findings.evidence();
    for (r, errors) in paper::TABLE_4 {
        for ((column, method), printed) in paper::COLUMNS_OF_TABLE_4.into_iter().zip(errors) {
            let described = evidence.prototype(r, column);
            let here = evidence.of(Substrate::Seven, r, method);
            let text =
                |error: Option<f64>| error.map_or("not measured".into(), |e| format!("{e:.1e}"));
            rows.push(vec![
                r.to_string(),
                column.into(),
                format!("{printed:.1e}"),
                text(described.map(|d| d.result_error_to_typical)),
                described.map_or("-".into(), |d| format!("{:.1e} to {:.1e}", d.least, d.most)),
                method.into(),
                text(here.map(|m| m.result_error_to_typical)),
            ]);
        }
    }
    rows
}

/// Table 2.
pub fn word_rows(words: &[Words]) -> Vec<Vec<String>> {
    let mut rows = heads([
        "substrate",
        "r",
        "bits of the sum",
        "word",
        "bits carried",
        "words",
        "operations",
        "lanes",
        "over lanes",
        "throughput",
        "printed",
    ]);
    for row in words {
        rows.push(vec![
            row.substrate.to_string(),
            row.r.to_string(),
            row.accumulator_bits.to_string(),
            row.word.to_string(),
            row.radix.to_string(),
            row.words.to_string(),
            figure(row.operations),
            row.lanes.to_string(),
            figure(row.cost),
            format!("{:.2}", row.throughput),
            figure(row.printed),
        ]);
    }
    rows
}

/// The product in E4M3.
pub fn band_rows(bands: &[Bands]) -> Vec<Vec<String>> {
    let mut rows = heads([
        "substrate",
        "r",
        "accumulator",
        "bands",
        "fp8 products",
        "of phase A's",
        "in one matrix",
        "of phase A's",
        "integer operations",
    ]);
    for row in bands {
        rows.push(vec![
            row.substrate.to_string(),
            row.r.to_string(),
            row.accumulator.clone(),
            row.bands.to_string(),
            figure(row.fp8_products),
            format!("{:.2}", row.fp8_products / row.phase_a_products),
            figure(row.fp8_products_of_one_matrix),
            format!(
                "{:.2}",
                row.fp8_products_of_one_matrix / row.phase_a_products
            ),
            figure(row.integer_operations),
        ]);
    }
    rows
}

fn claim_rows(findings: &Findings) -> Vec<Vec<String>> {
    let mut rows = heads(["place", "what", "printed", "here", "note"]);
    for claim in &findings.claims {
        rows.push(vec![
            claim.place.clone(),
            claim.what.clone(),
            claim.printed.clone(),
            claim.here.clone(),
            claim.comment.clone(),
        ]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_is_replaced() {
        let text = format!("# Title\n\n{BEGIN}\nold\n{END}\nafter\n");
        let expected = format!("# Title\n\n{BEGIN}\n\nnew\n\n{END}\nafter\n");
        assert_eq!(replaced(&text, "new"), Some(expected));
        assert_eq!(replaced("no markers", "new"), None);
    }

    #[test]
    fn tables_have_a_line_below_their_heads() {
        let rows = [vec!["a".into(), "b".into()], vec!["1".into(), "2".into()]];
        assert_eq!(table(&rows), "| a | b |\n|---|---|\n| 1 | 2 |");
    }
}
