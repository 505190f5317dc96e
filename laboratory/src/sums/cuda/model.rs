//! The paper's model of what exact accumulation gains (Appendix D): a fraction f of the time is the reduction on f64, which
//! becomes k times faster. Measured: f is the part of the plain kernel's time that a kernel which only reads does not need.

use super::Measurement;
use ozfft_measure::report::aligned;
use serde::Serialize;

/// How much faster the paper takes exact reductions to be than plain ones on f64.
const FACTOR: f64 = 12.0;

/// A row of the paper's Table 5.
struct Row {
    algorithm: &'static str,
    /// The reduction and the data that stand for it here.
    measured: Option<(&'static str, &'static str)>,
    fraction: (f64, f64),
    speedup: (f64, f64),
}

const TABLE_5: [Row; 6] = [
    Row {
        algorithm: "Ozaki-Bailey FFT",
        measured: None,
        fraction: (0.95, 0.98),
        speedup: (10.0, 10.0),
    },
    Row {
        algorithm: "Ozaki-II SpMV",
        measured: Some(("spmv", "27 a row")),
        fraction: (0.7, 0.9),
        speedup: (3.0, 6.0),
    },
    Row {
        algorithm: "ReproBLAS replacement: sum",
        measured: Some(("sum", "signed")),
        fraction: (0.5, 0.9),
        speedup: (2.0, 6.0),
    },
    Row {
        algorithm: "ReproBLAS replacement: dot",
        measured: Some(("dot", "signed")),
        fraction: (0.5, 0.9),
        speedup: (2.0, 6.0),
    },
    Row {
        algorithm: "multi-term stencils",
        measured: Some(("stencil", "25 points")),
        fraction: (0.5, 0.8),
        speedup: (1.9, 4.0),
    },
    Row {
        algorithm: "Ozaki-II batched small DGEMV",
        measured: Some(("batched-gemv", "16 × 16")),
        fraction: (0.3, 0.6),
        speedup: (1.4, 2.5),
    },
];

/// What the paper says, what was measured, and whether they agree.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    algorithm: &'static str,
    paper_fraction: (f64, f64),
    paper_speedup: (f64, f64),
    /// Part of the plain kernel's time that is not reading.
    fraction: Option<f64>,
    /// What the paper's equation (38) makes of it, with the paper's factor.
    predicted_speedup: Option<f64>,
    /// The plain kernel's time over the exact one's.
    speedup: Option<f64>,
    /// Whether that is within a factor of 2 of the paper's range.
    within_factor_2: Option<bool>,
    why: String,
}

/// Equation (38).
fn speedup(fraction: f64, factor: f64) -> f64 {
    1.0 / (1.0 - fraction + fraction / factor)
}

/// The row of a method with most numbers.
fn of<'a>(
    results: &'a [Measurement],
    (reduction, data): (&str, &str),
    method: &str,
) -> Option<&'a Measurement> {
    results
        .iter()
        .filter(|row| row.reduction == reduction && row.data == data && row.method == method)
        .max_by_key(|row| row.numbers)
}

/// A verdict for every row of the table.
pub fn verdicts(results: &[Measurement]) -> Vec<Verdict> {
    TABLE_5.iter().map(|row| verdict(row, results)).collect()
}

fn verdict(row: &Row, results: &[Measurement]) -> Verdict {
    let mut verdict = Verdict {
        algorithm: row.algorithm,
        paper_fraction: row.fraction,
        paper_speedup: row.speedup,
        fraction: None,
        predicted_speedup: None,
        speedup: None,
        within_factor_2: None,
        why: "not measured by this command".into(),
    };
    let method = |name: &str| row.measured.and_then(|case| of(results, case, name));
    let (Some(exact), Some(naive), Some(read)) =
        (method("kulisch"), method("naive"), method("read"))
    else {
        return verdict;
    };
    let fraction = (1.0 - read.median_ns / naive.median_ns).max(0.0);
    let measured = naive.median_ns / exact.median_ns;
    let within = measured >= row.speedup.0 / 2.0 && measured <= row.speedup.1 * 2.0;
    let instructions = exact.instructions_per_number.unwrap_or(f64::NAN);
    let memory = fraction < row.fraction.0 / 2.0;
    verdict.fraction = Some(fraction);
    verdict.predicted_speedup = Some(speedup(fraction, FACTOR));
    verdict.speedup = Some(measured);
    verdict.within_factor_2 = Some(within);
    let mut reasons = Vec::new();
    if memory {
        reasons.push(format!(
            "the plain kernel spends {:.0} % of its time on reading alone, so f64 is not what limits it on this GPU",
            100.0 * (1.0 - fraction)
        ));
    }
    if exact.share_of_copy < 0.7 * naive.share_of_copy {
        reasons.push(format!(
            "a term takes {instructions:.0} instructions where the paper counts 4"
        ));
    }
    verdict.why = match (within, reasons.is_empty()) {
        (true, true) => "as predicted".into(),
        (true, false) => format!("within a factor of 2, though {}", reasons.join("; ")),
        (false, true) => "the factor that is taken for f64 is another one here".into(),
        (false, false) => reasons.join("; "),
    };
    verdict
}

/// All verdicts for people.
pub fn text(verdicts: &[Verdict]) -> String {
    let heads = [
        "Table 5 of the paper",
        "f",
        "speed-up",
        "f measured",
        "so predicted",
        "measured",
        "within 2",
        "why",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
    for verdict in verdicts {
        let range = |(low, high): (f64, f64)| format!("{low} to {high}");
        rows.push(vec![
            verdict.algorithm.into(),
            range(verdict.paper_fraction),
            range(verdict.paper_speedup),
            number(verdict.fraction),
            number(verdict.predicted_speedup),
            number(verdict.speedup),
            verdict
                .within_factor_2
                .map_or("-", |within| if within { "yes" } else { "no" })
                .into(),
            verdict.why.clone(),
        ]);
    }
    aligned(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(method: &'static str, median_ns: f64) -> Measurement {
        Measurement {
            reduction: "dot",
            data: "signed".into(),
            numbers: 1000,
            bytes: 16_000,
            method,
            min_ns: median_ns,
            median_ns,
            runs: 1,
            ns_per_number: median_ns / 1000.0,
            terabytes_per_second: 16.0 / median_ns,
            share_of_copy: 1.0 / median_ns,
            share_of_read_half: 2.0 / median_ns,
            ratio_to_naive: 1.0,
            ratio_to_kulisch: 1.0,
            error: None,
            registers: None,
            local_bytes: None,
            instructions_per_number: Some(50.0),
            achieved_tera_instructions: None,
            needed_tera_instructions: None,
        }
    }

    #[test]
    fn amdahl_is_the_papers_equation() {
        // The paper's table of examples has 10.6 and 4.3 for the first two, which its equation does not give.
        for (fraction, expected) in [(0.98, 9.84), (0.8, 3.75), (0.5, 1.85), (0.2, 1.22)] {
            let found = speedup(fraction, 12.0);
            assert!((found - expected).abs() < 0.006, "{found} for {fraction}");
        }
    }

    #[test]
    fn verdicts_say_what_was_measured_and_why() {
        let memory_bound = [
            measured("kulisch", 10.0),
            measured("naive", 10.0),
            measured("read", 9.9),
        ];
        let verdicts = super::verdicts(&memory_bound);
        let dot = verdicts
            .iter()
            .find(|verdict| verdict.algorithm.ends_with("dot"))
            .expect("a row");
        assert_eq!(dot.speedup, Some(1.0));
        assert_eq!(dot.within_factor_2, Some(true));
        assert!(dot.why.contains("99 %"), "{}", dot.why);
        let slow = [
            measured("kulisch", 60.0),
            measured("naive", 10.0),
            measured("read", 3.0),
        ];
        let verdicts = super::verdicts(&slow);
        let dot = verdicts
            .iter()
            .find(|verdict| verdict.algorithm.ends_with("dot"))
            .expect("a row");
        assert_eq!(dot.within_factor_2, Some(false));
        assert!(dot.why.contains("50 instructions"), "{}", dot.why);
        assert!(text(&verdicts).contains("not measured by this command"));
    }
}
