//! A machine in words: which ways of computing a transform run at the speed of its memory, what binds the others, and the rate that would
//! change it.

use crate::error::RooflineError;
use crate::floors::{Floor, floors};
use crate::kernels::Cube;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::paths::{Path, Substrate, Variant, path};
use crate::rate::Rate;
use crate::record::Record;
use crate::table::{Cell, Table, milliseconds, rate_text, significant};
use crate::tables::Question;
use crate::time::{Estimate, estimate};
use serde::Serialize;

/// Ways that a verdict is about: the paper's three, and digits.
pub const WAYS: [Variant; 4] = [
    Variant::Native,
    Variant::Kulisch32,
    Variant::Fp8Only,
    Variant::Digits,
];

/// A native path with this much of what it needs is at parity, as the paper has it in Table 1.
pub const PARITY: f64 = 0.95;

/// One way on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathVerdict {
    /// Which way.
    pub way: Variant,
    /// The unit of its products, the better one where there are two.
    pub substrate: Option<Substrate>,
    /// For people.
    pub title: String,
    /// Whether it runs at the speed of memory; none if that is not known.
    pub at_memory_speed: Option<bool>,
    /// Seconds, with perfect overlap, or as measured.
    pub seconds: Option<f64>,
    /// The unit with the least margin.
    pub binding: Option<Rate>,
    /// What that unit has over what it needs.
    pub margin: Option<f64>,
    /// The rate of that unit at which it neither binds nor idles.
    pub turning_point: Option<f64>,
    /// All floors.
    pub floors: Vec<Floor>,
    /// Figures that are missing.
    pub not_known: Vec<Rate>,
    /// A sentence.
    pub text: String,
}

/// All ways on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The machine's name.
    pub machine: String,
    /// For people.
    pub title: String,
    /// Whose counts and rates.
    pub mode: Mode,
    /// Points of an axis.
    pub n: usize,
    /// Seconds that memory takes.
    pub roof: f64,
    /// Every way.
    pub paths: Vec<PathVerdict>,
    /// The fastest way of full precision, of those that are known.
    pub best: Option<Variant>,
    /// The conclusion.
    pub text: String,
    /// What it rests on.
    pub assumptions: Vec<String>,
}

/// The verdict on a machine. Mode *measured* needs a record of the machine's paths; without one it takes that of the crate.
///
/// ```
/// use roofline::{Machine, Mode, verdict};
///
/// let machine = Machine::named("b300").unwrap();
/// let verdict = verdict::verdict(&machine, Mode::Printed, 1024, None).unwrap();
/// assert!(verdict.text.contains("Kulisch"));
/// ```
pub fn verdict(
    machine: &Machine,
    mode: Mode,
    n: usize,
    record: Option<&Record>,
) -> Result<Verdict, RooflineError> {
    match record {
        Some(record) => verdict_by(machine, mode, n, record),
        None if mode == Mode::Measured => verdict_by(machine, mode, n, &Record::embedded()?),
        None => counted(machine, mode, n),
    }
}

/// The same with a record of one's own: whoever calls this alone does not carry the crate's.
pub fn verdict_by(
    machine: &Machine,
    mode: Mode,
    n: usize,
    record: &Record,
) -> Result<Verdict, RooflineError> {
    match mode {
        Mode::Measured => measured(machine, record, n),
        Mode::Printed | Mode::Corrected => counted(machine, mode, n),
    }
}

fn counted(machine: &Machine, mode: Mode, n: usize) -> Result<Verdict, RooflineError> {
    let cube = Cube::new(n)?;
    let roof = cube.bytes() / machine.bandwidth(mode)?;
    let mut paths = Vec::new();
    let mut assumptions = Vec::new();
    for way in WAYS {
        let mut candidates = Vec::new();
        for substrate in Substrate::ALL {
            if let Some(path) = path(way, substrate, mode, n)? {
                candidates.push(judged(&path, machine)?);
                for assumption in path.assumptions {
                    if !assumptions.contains(&assumption) {
                        assumptions.push(assumption);
                    }
                }
            }
        }
        // The fastest that is known.
        let rank = |judged: &PathVerdict| judged.seconds.unwrap_or(f64::INFINITY);
        candidates.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        paths.extend(candidates.into_iter().next());
    }
    assumptions
        .push("every unit is busy all the time and at its peak: real kernels are slower".into());
    if mode == Mode::Printed {
        assumptions.push("the paper has no digits".into());
        if !machine.is_in_the_paper() {
            assumptions.push(format!(
                "{} is not in the paper: its formulas, with public figures",
                machine.title
            ));
        }
    }
    let (best, text) = conclusion(machine, n, roof, &paths);
    Ok(Verdict {
        machine: machine.name.clone(),
        title: machine.title.clone(),
        mode,
        n,
        roof,
        paths,
        best,
        text,
        assumptions,
    })
}

fn judged(path: &Path, machine: &Machine) -> Result<PathVerdict, RooflineError> {
    let floors = floors(path, machine)?;
    let not_known: Vec<Rate> = floors
        .iter()
        .filter(|floor| floor.have.is_none())
        .map(|floor| floor.rate)
        .collect();
    let least = floors
        .iter()
        .filter_map(|floor| floor.margin.map(|margin| (floor, margin)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let estimate = estimate(path, machine).ok();
    // One unit that is too slow is enough to know that memory does not bind.
    let at_memory_speed = match least {
        Some((_, margin)) if margin < 1.0 => Some(false),
        Some(_) if not_known.is_empty() => Some(true),
        _ => None,
    };
    let text = sentence(path, machine, least, &not_known, estimate.as_ref());
    Ok(PathVerdict {
        way: path.way,
        substrate: path.substrate,
        title: path.title(),
        at_memory_speed,
        seconds: estimate.as_ref().map(|estimate| estimate.overlapped),
        binding: least.map(|(floor, _)| floor.rate),
        margin: least.map(|(_, margin)| margin),
        turning_point: least.map(|(floor, _)| floor.needed),
        floors,
        not_known,
        text,
    })
}

fn sentence(
    path: &Path,
    machine: &Machine,
    least: Option<(&Floor, f64)>,
    not_known: &[Rate],
    estimate: Option<&Estimate>,
) -> String {
    let missing = not_known
        .iter()
        .map(|rate| rate.title())
        .collect::<Vec<_>>();
    let missing = if missing.is_empty() {
        String::new()
    } else {
        format!(
            " The rate of its {} is not known.",
            missing.join(" and its ")
        )
    };
    let title = path.title();
    let Some((floor, margin)) = least else {
        return format!("{title}: not known.{missing}");
    };
    let (unit, have, needed) = (
        floor.rate.title(),
        rate_text(floor.rate, floor.have.unwrap_or(0.0)),
        rate_text(floor.rate, floor.needed),
    );
    let time = estimate.map_or(String::new(), |estimate| {
        if estimate.overlapped.is_finite() {
            format!(
                ", {} where memory takes {}",
                milliseconds(estimate.overlapped),
                milliseconds(estimate.memory)
            )
        } else {
            String::new()
        }
    });
    if floor.have == Some(0.0) {
        return format!(
            "{title}: impossible, {} has no {unit}.{missing}",
            machine.title
        );
    }
    if margin >= 1.0 && not_known.is_empty() {
        return format!(
            "{title}: at memory speed. The {unit} come nearest to binding: {have}, {} times what is needed; below {needed} they would bind.",
            significant(margin, 3)
        );
    }
    if margin >= 1.0 {
        return format!(
            "{title}: not known. The {unit} would do ({have} of {needed} needed).{missing}"
        );
    }
    let short = if margin > 0.9 {
        format!("{} % short", significant(100.0 * (1.0 - margin), 2))
    } else {
        format!("{} times too slow", significant(1.0 / margin, 3))
    };
    format!(
        "{title}: bound by the {unit}, {short}{time}. {} has {have}; {needed} would bring it to memory speed{}.{missing}",
        machine.title,
        others(path, floor, machine)
    )
}

/// Other units that would bind next.
fn others(path: &Path, binding: &Floor, machine: &Machine) -> String {
    let floors = floors(path, machine).unwrap_or_default();
    let next: Vec<String> = floors
        .iter()
        .filter(|floor| {
            floor.rate != binding.rate && floor.margin.is_some_and(|margin| margin < 1.0)
        })
        .map(|floor| {
            format!(
                "{} of the {}",
                rate_text(floor.rate, floor.needed),
                floor.rate.title()
            )
        })
        .collect();
    if next.is_empty() {
        String::new()
    } else {
        format!(", together with {}", next.join(" and "))
    }
}

fn conclusion(
    machine: &Machine,
    n: usize,
    roof: f64,
    paths: &[PathVerdict],
) -> (Option<Variant>, String) {
    let title = &machine.title;
    let what = format!("{n}×{n}×{n} in double precision");
    let at_speed: Vec<&PathVerdict> = paths
        .iter()
        .filter(|path| path.at_memory_speed == Some(true))
        .collect();
    let known = paths
        .iter()
        .filter(|path| path.seconds.is_some_and(f64::is_finite));
    let fastest = known.min_by(|a, b| {
        a.seconds
            .unwrap_or(f64::INFINITY)
            .total_cmp(&b.seconds.unwrap_or(f64::INFINITY))
    });
    // The paper's "essentially at parity".
    let near = |path: &&PathVerdict| path.margin.is_some_and(|margin| margin >= PARITY);
    let native = paths
        .iter()
        .find(|path| path.way == Variant::Native)
        .filter(near);
    let memory = milliseconds(roof);
    let text = if let Some(native) = native {
        let margin = native.margin.unwrap_or(1.0);
        if margin >= 1.0 {
            format!(
                "{title}: {what} runs at memory speed, {memory}, natively; no emulation is needed."
            )
        } else {
            format!(
                "{title}: {what} runs natively within {} % of memory speed, {} where memory takes {memory}.",
                significant(100.0 * (1.0 - margin), 2),
                milliseconds(native.seconds.unwrap_or(f64::INFINITY)),
            )
        }
    } else if !at_speed.is_empty() {
        let names: Vec<&str> = at_speed.iter().map(|path| path.title.as_str()).collect();
        format!(
            "{title}: native transforms do not run at memory speed, but {what} can, in {memory}, by {}.",
            names.join(" or by ")
        )
    } else if let Some(fastest) = fastest {
        let seconds = fastest.seconds.unwrap_or(f64::INFINITY);
        let unknown = paths.iter().any(|path| path.at_memory_speed.is_none());
        format!(
            "{title}: {} {what} at memory speed ({memory}); the fastest is {}, {}: {} times that.",
            if unknown {
                "no way that is known runs"
            } else {
                "no way runs"
            },
            fastest.title,
            milliseconds(seconds),
            significant(seconds / roof, 3)
        )
    } else {
        format!(
            "{title}: too few figures are known to say how {what} would run; memory alone takes {memory}."
        )
    };
    let first = at_speed.first().copied().or(fastest);
    let best = native.or(first).map(|path| path.way);
    (best, text)
}

/// Times of a record, and the rates that would bring them to the speed of memory if they alone counted.
fn measured(machine: &Machine, record: &Record, n: usize) -> Result<Verdict, RooflineError> {
    let mode = Mode::Measured;
    record.is_of(machine)?;
    Cube::new(n)?;
    let roof = record.roof * (n as f64 / record.n as f64).powi(3);
    let mut paths = Vec::new();
    for way in WAYS {
        let of_way = record.paths.iter().filter_map(|path| {
            let (found, substrate) = Record::way(path)?;
            let seconds = record.seconds(path, n)?;
            (found == way).then_some((path, substrate, seconds))
        });
        let Some((path, substrate, seconds)) = of_way.min_by(|a, b| a.2.total_cmp(&b.2)) else {
            paths.push(PathVerdict {
                way,
                substrate: None,
                title: way.title().into(),
                at_memory_speed: None,
                seconds: None,
                binding: None,
                margin: None,
                turning_point: None,
                floors: Vec::new(),
                not_known: Vec::new(),
                text: format!("{}: not measured.", way.title()),
            });
            continue;
        };
        let over = seconds / roof;
        let rate = match way {
            Variant::Native => Rate::Fp64,
            _ => Rate::IntegerInstructions,
        };
        let have = machine.rate(mode, rate).ok();
        let scaled = match (way, have) {
            (Variant::Native, _) | (_, None) => String::new(),
            (_, Some(have)) => format!(
                " If instructions alone counted, {} would bring it there.",
                rate_text(rate, have * over)
            ),
        };
        paths.push(PathVerdict {
            way,
            substrate: (way != Variant::Native).then_some(substrate),
            title: format!("{} ({})", way.title(), path.name),
            at_memory_speed: Some(over <= 1.0),
            seconds: Some(seconds),
            // A record of times does not say what binds.
            binding: None,
            margin: Some(1.0 / over),
            turning_point: if way == Variant::Native {
                None
            } else {
                have.map(|have| have * over)
            },
            floors: Vec::new(),
            not_known: Vec::new(),
            text: format!(
                "{} ({}): {}, {} times what memory takes.{scaled}",
                way.title(),
                path.name,
                milliseconds(seconds),
                significant(over, 3)
            ),
        });
    }
    let (best, text) = conclusion(machine, n, roof, &paths);
    let mut assumptions = vec![format!(
        "times of {} on {}, {}; memory as fast as a copy in the same run",
        record.file, record.device, record.date
    )];
    if n != record.n {
        assumptions.push(format!(
            "measured for {0}×{0}×{0}; every point and axis takes as long for other sizes",
            record.n
        ));
    }
    let names = record
        .not_measured
        .iter()
        .map(|missing| missing.name.as_str());
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        assumptions.push(format!(
            "constants that are not measured: {}",
            names.join(", ")
        ));
    }
    Ok(Verdict {
        machine: machine.name.clone(),
        title: machine.title.clone(),
        mode,
        n,
        roof,
        paths,
        best,
        text,
        assumptions,
    })
}

/// All machines of a question, a row each: times of the four ways, and what binds them.
pub fn table(question: &Question) -> Result<Table, RooflineError> {
    let mut table = Table::new(
        "verdicts",
        format!("Machines at {0}×{0}×{0}, ms", question.n),
        question.mode,
        &[
            "machine",
            "memory",
            "native",
            "integer-Kulisch",
            "Kulisch on FP8 units",
            "digits",
            "verdict",
        ],
    );
    for machine in &question.machines {
        let verdict = verdict(machine, question.mode, question.n, Some(&question.record))?;
        let mut row = vec![
            Cell::text(&machine.title),
            Cell::number(verdict.roof * 1e3, 3),
        ];
        for way in WAYS {
            let path = verdict.paths.iter().find(|path| path.way == way);
            row.push(match path {
                None => Cell::text("not in the paper"),
                Some(path) => match (path.seconds, path.binding, path.margin) {
                    (Some(seconds), Some(rate), Some(margin)) if margin < 1.0 => Cell {
                        text: format!("{} ({})", significant(seconds * 1e3, 3), rate.key()),
                        value: Some(seconds * 1e3),
                    },
                    (Some(seconds), ..) => Cell::number(seconds * 1e3, 3),
                    (None, ..) if question.mode == Mode::Measured => Cell::text("not measured"),
                    (None, ..) => Cell::text("not known"),
                },
            });
        }
        let at_speed = |way| {
            let path = verdict.paths.iter().find(|path| path.way == way);
            path.and_then(|path| path.margin)
        };
        row.push(Cell::text(match verdict.best {
            None => "not known".to_string(),
            Some(best) => match at_speed(best) {
                Some(margin) if margin >= 1.0 => format!("memory speed: {}", best.title()),
                Some(margin) if margin >= PARITY => {
                    format!("near memory speed: {}", best.title())
                }
                _ => format!("above memory; fastest: {}", best.title()),
            },
        }));
        table.rows.push(row);
        table.assume(verdict.assumptions);
    }
    Ok(table)
}
