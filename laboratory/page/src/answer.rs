//! From a question to everything that the page shows.

use crate::charts::milliseconds;
use crate::roofline_figure::{self, Row};
use crate::{NARROW, WIDE, pretty};
use roofline::kernels::Cube;
use roofline::paths::{counted, printed};
use roofline::table::{rate_text, significant};
use roofline::{Machine, Mode, Rate, Record, RooflineError, floors, verdict};
use serde::{Deserialize, Serialize};

/// What is chosen and typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub machine: Machine,
    pub mode: Mode,
    /// Points of an axis.
    pub n: usize,
    /// 1: all units at once; 0: one after the other.
    pub overlap: f64,
    pub form: Form,
}

/// Parameters of the closed forms of floors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// Moduli.
    pub r: f64,
    /// Slices.
    pub s: f64,
    /// Operations a slice.
    pub c: f64,
    /// Outputs a point.
    pub outputs: f64,
    /// Phase B on FP8 units, of phase A.
    pub share: f64,
    /// Efficiency of thin products.
    pub eta: f64,
    /// Words of 32, 16 or 8 bits, by their number.
    pub word: usize,
}

impl Form {
    /// The paper's.
    pub fn printed() -> Form {
        Form {
            r: printed::MODULI,
            s: printed::slices(printed::MODULI),
            c: printed::OPERATIONS_PER_SLICE,
            outputs: printed::OUTPUTS_PER_POINT,
            share: printed::SHARE_OF_PHASE_B,
            eta: 1.0,
            word: 0,
        }
    }

    /// As counted here: the later steps in INT8. Phase B on FP8 units was not counted in these terms.
    pub fn counted() -> Form {
        let substrate = roofline::paths::Substrate::Int8;
        let (moduli, log2_product) = substrate.moduli()[1];
        Form {
            r: moduli,
            s: substrate.slices(log2_product),
            c: counted::OPERATIONS_PER_SLICE,
            outputs: counted::OUTPUTS_PER_POINT,
            ..Form::printed()
        }
    }
}

/// All that is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    pub verdict: String,
    pub basis: &'static str,
    pub sentences: Vec<Sentence>,
    pub paths: Paths,
    pub roofline: Roofline,
    pub assumptions: Vec<String>,
    pub floors: Floors,
}

/// What is said of one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sentence {
    /// `yes`, `no` or `unknown`: whether it runs at the speed of memory.
    pub class: &'static str,
    pub text: String,
}

/// The table of times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Paths {
    pub title: String,
    pub columns: [&'static str; 5],
    pub rows: Vec<PathRow>,
}

/// A path, its time, and what binds it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathRow {
    /// Of its mark on the roofline.
    pub number: Option<usize>,
    pub title: String,
    /// Length of its bar, in percent; none where the time is not known.
    pub bar: Option<f64>,
    pub time: String,
    pub times_memory: String,
    pub unit: String,
}

/// The roofline's words, numbers and shapes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    pub title: String,
    pub rows: Vec<Vec<String>>,
    /// On wide screens and on phones.
    pub drawings: [roofline_figure::Drawing; 2],
}

/// Closed forms on this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Floors {
    pub title: String,
    pub columns: [&'static str; 6],
    pub rows: Vec<FloorRow>,
    /// Down to which efficiency thin products would do.
    pub note: String,
}

/// One of them: what is needed, what is there, and a bar for what that leaves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FloorRow {
    pub cells: [String; 5],
    pub margin: String,
    /// `enough` or `short`, left end and width in percent; none where a rate is not known.
    pub bar: Option<(&'static str, f64, f64)>,
}

/// What a mode is, for the line below the verdict.
pub fn basis(mode: Mode) -> &'static str {
    match mode {
        Mode::Printed => "As printed: the paper’s formulas and figures.",
        Mode::Corrected => {
            "Corrected: operations as counted here, every unit at its peak rate. Real kernels are slower."
        }
        Mode::Measured => "Measured: times of one H200.",
    }
}

/// Answers a question; mode *measured* rests on the record.
pub fn answer(question: &Question, record: &Record) -> Result<Answer, RooflineError> {
    let Question {
        machine, mode, n, ..
    } = question;
    let (mode, n) = (*mode, *n);
    let verdict = verdict::verdict_by(machine, mode, n, record)?;
    let sentences = verdict.paths.iter().map(|path| Sentence {
        class: match path.at_memory_speed {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        },
        text: pretty(&path.text),
    });
    let (rows, known) = roofline_figure::rows(machine, mode, n, record, question.overlap)?;
    let marks = roofline_figure::marks(&rows);
    let subject = roofline_figure::Subject { machine, mode, n };
    let drawings = [WIDE, NARROW].map(|width| subject.drawing(&marks, width));
    let [wide, narrow] = drawings;
    Ok(Answer {
        verdict: pretty(&verdict.text),
        basis: basis(mode),
        sentences: sentences.collect(),
        paths: paths(question, verdict.roof, &rows),
        roofline: Roofline {
            title: subject.title(),
            rows: roofline_figure::table(&marks),
            drawings: [wide?, narrow?],
        },
        assumptions: assumptions(question, record, known),
        floors: closed_forms(question)?,
    })
}

fn paths(question: &Question, roof: f64, rows: &[Row]) -> Paths {
    let Question {
        machine, mode, n, ..
    } = question;
    let mut number = 0;
    let rows = rows.iter().map(|row| {
        let mark = row.mark.as_ref().map(|_| {
            number += 1;
            number
        });
        let title = row.title.clone();
        match row.seconds {
            Err(ref reason) => PathRow {
                number: mark,
                title,
                bar: None,
                time: "not known".into(),
                times_memory: "–".into(),
                unit: reason.clone(),
            },
            Ok(seconds) => PathRow {
                number: mark,
                title,
                bar: Some(bar(seconds / roof)),
                time: milliseconds(seconds),
                times_memory: format!("{}×", significant(seconds / roof, 3)),
                // A measured time does not say what binds, only counts say what is tightest.
                unit: row.unit.map_or("–", Rate::title).into(),
            },
        }
    });
    Paths {
        title: format!(
            "{}, {n}×{n}×{n}; memory alone takes {}",
            machine.title,
            milliseconds(roof)
        ),
        columns: [
            "path",
            "½ to 2000 × memory",
            "time",
            "×\u{a0}memory",
            match mode {
                Mode::Measured => "tightest unit",
                _ => "bound by",
            },
        ],
        rows: rows.collect(),
    }
}

/// Percent of a bar's track, which is logarithmic.
fn bar(over: f64) -> f64 {
    100.0 * (over.clamp(0.5, 2000.0) / 0.5).ln() / 4000f64.ln()
}

fn assumptions(question: &Question, record: &Record, known: Vec<String>) -> Vec<String> {
    let mut texts = Vec::new();
    if question.mode == Mode::Measured {
        texts.push(format!(
            "times of {} on {}, {}; memory as fast as a copy in the same run",
            record.file, record.device, record.date
        ));
        texts.push(format!(
            "measured for {0}×{0}×{0}; every point and axis takes as long for other sizes",
            record.n
        ));
    } else {
        for text in known {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.push("every unit is busy at its peak rate".into());
    }
    texts.extend(question.machine.notes.iter().cloned());
    texts.iter().map(|text| text.replace('`', "")).collect()
}

fn closed_forms(question: &Question) -> Result<Floors, RooflineError> {
    let Question {
        machine,
        mode,
        n,
        form,
        ..
    } = question;
    let throughput = match mode {
        Mode::Printed => printed::THROUGHPUT,
        _ => counted::THROUGHPUT,
    };
    let throughput = throughput.get(form.word).map_or(1.0, |(_, times)| *times);
    let integers = match mode {
        Mode::Printed => Rate::Int32,
        _ => Rate::IntegerInstructions,
    };
    let bandwidth = machine.bandwidth(*mode)?;
    let matrix = floors::matrix(Cube::new(*n)?, form.r, form.s);
    let forms = [
        ("1: native transform", Rate::Fp64, floors::native(*n)),
        (
            "2: sum of slices in FP64",
            Rate::Fp64,
            floors::reconstruction(form.outputs, 1.0, form.s),
        ),
        (
            "3: sum of slices in integers",
            integers,
            floors::reconstruction(form.outputs, form.c, form.s) / throughput,
        ),
        ("4: products on FP8 units", Rate::Fp8, matrix),
        (
            "4 with phase B on the same units",
            Rate::Fp8,
            floors::dual_use(matrix, form.share, form.eta),
        ),
    ];
    let rows = forms.map(|(name, rate, coefficient)| {
        let needed = coefficient * bandwidth;
        let have = machine.rate(*mode, rate).ok();
        let margin = have.map(|have| have / needed);
        FloorRow {
            cells: [
                name.into(),
                rate.title().into(),
                significant(coefficient, 3),
                pretty(&rate_text(rate, needed)),
                have.map_or("not known".into(), |have| pretty(&rate_text(rate, have))),
            ],
            margin: margin_text(margin),
            bar: margin.map(margin_bar),
        }
    });
    let even = machine
        .rate(*mode, Rate::Fp8)
        .ok()
        .map(|have| floors::break_even(have, matrix * bandwidth, form.share));
    let note = match even {
        None => "The rate of its FP8 units is not known.".into(),
        Some(even) if even > 0.0 && even <= 1.0 => format!(
            "Thin products on FP8 units keep memory’s speed down to an efficiency of {} %.",
            significant(100.0 * even, 2)
        ),
        Some(_) => {
            "Thin products on FP8 units would not keep memory’s speed at any efficiency.".into()
        }
    };
    Ok(Floors {
        title: format!("{}, N = {n}", machine.title),
        columns: [
            "floor",
            "unit",
            "operations a byte",
            "needed",
            "has",
            "margin",
        ],
        rows: rows.into(),
        note,
    })
}

fn margin_text(margin: Option<f64>) -> String {
    match margin {
        None => "not known".into(),
        Some(margin) if margin >= 1.0 => format!("{}× enough", significant(margin, 3)),
        Some(0.0) => "none".into(),
        Some(margin) => format!("{}× too slow", significant(1.0 / margin, 3)),
    }
}

/// From the middle of a track of four decades, to the right where it is enough.
fn margin_bar(margin: f64) -> (&'static str, f64, f64) {
    let share = (0.5 + margin.log10() / 4.0).clamp(0.0, 1.0);
    let class = if margin >= 1.0 { "enough" } else { "short" };
    (class, 100.0 * share.min(0.5), 100.0 * (share - 0.5).abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, mode: Mode, n: usize) -> Answer {
        let question = Question {
            machine: Machine::named(name).expect("a machine"),
            mode,
            n,
            overlap: 1.0,
            form: Form::printed(),
        };
        answer(&question, &Record::embedded().expect("a record")).expect("an answer")
    }

    #[test]
    fn closed_forms_are_as_by_hand() {
        let coefficients = |form: Form| {
            let question = Question {
                machine: Machine::named("h100").expect("a machine"),
                mode: Mode::Printed,
                n: 1024,
                overlap: 1.0,
                form,
            };
            let found = closed_forms(&question).expect("floors");
            found
                .rows
                .into_iter()
                .map(|row| row.cells[2].clone())
                .collect::<Vec<_>>()
        };
        // 18 · 4 · 11 / 96 = 8.25, and 12 · 2.75 · 16 / 96 = 5.5.
        assert_eq!(
            coefficients(Form::printed()),
            ["1.56", "2.06", "8.25", "173", "242"]
        );
        assert_eq!(coefficients(Form::counted())[2], "5.50");
        // (1 + 0.4/0.5) · 172.75 = 310.95.
        let half = Form {
            eta: 0.5,
            ..Form::printed()
        };
        assert_eq!(coefficients(half)[4], "311");
    }

    #[test]
    fn every_machine_mode_and_size_has_an_answer() {
        for machine in Machine::all().expect("machines") {
            for mode in Mode::ALL {
                if machine.bandwidth(mode).is_err() {
                    continue;
                }
                for n in [2, 1009, 1024, 1 << 20] {
                    let found = asked(&machine.name, mode, n);
                    let json = serde_json::to_string(&found).expect("JSON");
                    assert!(!json.contains("NaN") && !found.verdict.is_empty(), "{json}");
                    let marked = found.paths.rows.iter().filter(|row| row.number.is_some());
                    assert_eq!(marked.count(), found.roofline.rows.len());
                }
            }
        }
    }

    #[test]
    fn without_overlap_times_are_longer() {
        let question = |overlap| Question {
            machine: Machine::named("b300").expect("a machine"),
            mode: Mode::Corrected,
            n: 1024,
            overlap,
            form: Form::printed(),
        };
        let record = Record::embedded().expect("a record");
        let bars = |overlap| {
            let found = answer(&question(overlap), &record).expect("an answer");
            found
                .paths
                .rows
                .into_iter()
                .map(|row| row.bar)
                .collect::<Vec<_>>()
        };
        for (together, apart) in bars(1.0).into_iter().zip(bars(0.0)) {
            assert!(together.zip(apart).is_none_or(|(a, b)| a <= b));
        }
    }
}
