//! The roofline of one machine with all paths on it. The page puts what [`Subject::drawing`] makes into the picture when numbers are typed.

use crate::charts::{Axis, Plane, free_places, milliseconds, tick_text};
use crate::svg::{Anchor, Svg, escaped, place};
use crate::{Figure, pretty};
use roofline::floors::floors;
use roofline::paths::{Path, Substrate, all, path};
use roofline::table::{rate_text, significant};
use roofline::time::estimate;
use roofline::{Machine, Mode, Rate, Record, RooflineError};
use serde::Serialize;

/// A path on the plane, by the unit that comes nearest to binding.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub title: String,
    pub rate: Rate,
    /// Operations a byte.
    pub intensity: f64,
    /// Operations a second.
    pub performance: f64,
    pub seconds: f64,
}

/// A path of the table: its time, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub title: String,
    pub seconds: Result<f64, String>,
    /// What binds it, or of a measured path the tightest unit.
    pub unit: Option<Rate>,
    pub mark: Option<Mark>,
}

/// The unit with the least margin.
fn tightest(path: &Path, machine: &Machine) -> Option<(Rate, f64)> {
    let floors = floors(path, machine).ok()?;
    let known = floors
        .into_iter()
        .filter_map(|floor| Some((floor.rate, floor.margin?)));
    let least = known.min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    path.intensities()
        .into_iter()
        .find(|(rate, _)| *rate == least)
}

fn mark(path: &Path, machine: &Machine, title: &str, seconds: f64) -> Option<Mark> {
    let (rate, intensity) = tightest(path, machine)?;
    seconds.is_finite().then(|| Mark {
        title: title.into(),
        rate,
        intensity,
        performance: intensity * path.bytes / seconds,
        seconds,
    })
}

/// All paths with their times, and what their counts rest on.
pub fn rows(
    machine: &Machine,
    mode: Mode,
    n: usize,
    record: &Record,
    overlap: f64,
) -> Result<(Vec<Row>, Vec<String>), RooflineError> {
    if mode == Mode::Measured {
        return Ok((measured_rows(machine, n, record)?, Vec::new()));
    }
    let mut assumptions = Vec::new();
    let mut rows = Vec::new();
    for path in all(mode, n)? {
        let row = |seconds, unit, mark| Row {
            title: path.title(),
            seconds,
            unit,
            mark,
        };
        rows.push(match estimate(&path, machine) {
            Err(RooflineError::NotKnown { key, .. }) => {
                let reason = format!("rate of the {} not known", key.title());
                row(Err(reason), None, None)
            }
            Err(error) => return Err(error),
            Ok(estimate) => {
                // A unit that is not there takes for ever, whatever runs beside it.
                let seconds = match estimate.serial.is_finite() {
                    true => estimate.at_overlap(overlap),
                    false => f64::INFINITY,
                };
                match mark(&path, machine, &path.title(), seconds) {
                    Some(mark) => row(Ok(seconds), Some(estimate.binding), Some(mark)),
                    None => row(Err(format!("no {}", estimate.binding.title())), None, None),
                }
            }
        });
        assumptions.extend(path.assumptions);
    }
    Ok((rows, assumptions))
}

fn measured_rows(machine: &Machine, n: usize, record: &Record) -> Result<Vec<Row>, RooflineError> {
    let mut rows = Vec::new();
    for measured in &record.paths {
        let Some(seconds) = record.seconds(measured, n) else {
            continue;
        };
        let found = match Record::way(measured) {
            None => None,
            // Ways without products are listed with FP8.
            Some((way, substrate)) => match path(way, substrate, Mode::Corrected, n)? {
                Some(found) => Some(found),
                None => path(way, Substrate::Fp8, Mode::Corrected, n)?,
            },
        };
        let mark = found.and_then(|found| mark(&found, machine, &measured.name, seconds));
        rows.push(Row {
            title: measured.name.clone(),
            seconds: Ok(seconds),
            unit: mark.as_ref().map(|mark| mark.rate),
            mark,
        });
    }
    Ok(rows)
}

/// Those that have a place on the plane.
pub fn marks(rows: &[Row]) -> Vec<Mark> {
    rows.iter().filter_map(|row| row.mark.clone()).collect()
}

/// The numbers behind the figure.
pub fn table(marks: &[Mark]) -> Vec<Vec<String>> {
    let row = |(number, mark): (usize, &Mark)| {
        vec![
            (number + 1).to_string(),
            mark.title.clone(),
            mark.rate.title().into(),
            significant(mark.intensity, 3),
            pretty(&rate_text(mark.rate, mark.performance)),
            milliseconds(mark.seconds),
        ]
    };
    marks.iter().enumerate().map(row).collect()
}

/// Units whose ceilings are drawn, and short names for their ends.
const CEILINGS: [(Rate, &str); 6] = [
    (Rate::Fp64, "FP64"),
    (Rate::Fp32, "FP32"),
    (Rate::Int32, "INT32"),
    (Rate::IntegerInstructions, "integer"),
    (Rate::Fp8, "FP8"),
    (Rate::Int8, "INT8"),
];
const BADGE: (f64, f64) = (16.0, 13.0);

/// Whether a unit matters to the paths of a mode.
fn is_drawn(rate: Rate, mode: Mode) -> bool {
    match rate {
        Rate::Int32 => mode == Mode::Printed,
        Rate::IntegerInstructions | Rate::Int8 => mode != Mode::Printed,
        _ => true,
    }
}

/// The shapes that move, as SVG.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drawing {
    /// Memory and the ceilings of units.
    pub roofs: String,
    /// Numbered points.
    pub marks: String,
}

/// What a roofline is of.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub machine: &'a Machine,
    pub mode: Mode,
    pub n: usize,
}

fn height(width: f64) -> f64 {
    if width > 500.0 { 420.0 } else { 380.0 }
}

fn plane(width: f64) -> Plane {
    Plane {
        x: Axis::logarithmic(46.0, width - 10.0, 0.5, 3000.0),
        y: Axis::logarithmic(height(width), 24.0, 0.1, 30000.0),
    }
}

impl Subject<'_> {
    pub fn title(&self) -> String {
        let Subject { machine, mode, n } = self;
        format!("Roofline of {}, {n}³, {mode}", machine.title)
    }

    /// The shapes for a picture of this width.
    pub fn drawing(&self, marks: &[Mark], width: f64) -> Result<Drawing, RooflineError> {
        let Subject { machine, mode, .. } = *self;
        let (plane, bandwidth) = (plane(width), machine.bandwidth(mode)?);
        let tera = bandwidth / 1e12;
        let mut roofs = Svg::new(width);
        // Memory: rising until the axes end.
        let low = (plane.y.low / tera).max(plane.x.low);
        let high = (plane.y.high / tera).min(plane.x.high);
        roofs.polyline(
            "roof memory",
            &[plane.at((low, low * tera)), plane.at((high, high * tera))],
        );
        let (mut ends, mut taken) = (Vec::new(), Vec::new());
        for (rate, name) in CEILINGS {
            let have = machine.rate(mode, rate).ok().filter(|have| *have > 0.0);
            if let Some(have) = have.filter(|_| is_drawn(rate, mode)) {
                let ridge = (have / bandwidth).clamp(plane.x.low, plane.x.high);
                let y = plane.y.at(have / 1e12);
                roofs.polyline("floor", &[(plane.x.at(ridge), y), (plane.x.to, y)]);
                let text = format!("{name} {}", rate_text(rate, have));
                ends.push((y, pretty(&text).replace(" a second", "")));
                taken.push((plane.x.at(ridge), y - 1.0, plane.x.to, y + 1.0));
            }
        }
        // From the top downwards, each name above its line and at least a line of text below the one before.
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut last = f64::NEG_INFINITY;
        let mut names = Vec::new();
        for (y, name) in ends {
            last = (y - 4.0).max(last + 15.0);
            roofs.text("small", (plane.x.to, last), Anchor::End, &name);
            names.push((plane.x.to - 120.0, last - 10.0, plane.x.to, last + 2.0));
        }
        names.append(&mut taken);
        let points: Vec<(f64, f64)> = marks
            .iter()
            .map(|mark| plane.at((mark.intensity, mark.performance / 1e12)))
            .collect();
        let within = (plane.x.from, plane.y.to, plane.x.to, plane.y.from);
        let badges = free_places(&points, &vec![BADGE; points.len()], within, &names);
        let numbered = points.iter().zip(&badges).enumerate();
        let groups = numbered
            .map(|(number, (point, badge))| mark_text(*point, *badge, number + 1, mode.name()));
        Ok(Drawing {
            roofs: roofs.body().into(),
            marks: groups.collect(),
        })
    }

    /// The figure, with what every unit at once allows.
    pub fn figure(&self, record: &Record, width: f64) -> Result<Figure, RooflineError> {
        let (rows, _) = rows(self.machine, self.mode, self.n, record, 1.0)?;
        let marks = marks(&rows);
        let drawing = self.drawing(&marks, width)?;
        let mut svg = Svg::new(width);
        svg.height = height(width) + 40.0;
        plane(width).draw(
            &mut svg,
            ("operations a byte of memory", "10¹² operations a second"),
            &tick_text,
        );
        svg.raw(&format!(
            "<g class=\"roofs\">{}</g><g class=\"marks\">{}</g>",
            drawing.roofs, drawing.marks
        ));
        let heads = [
            "number",
            "path",
            "tightest unit",
            "operations a byte",
            "operations a second",
            "time",
        ];
        Ok(Figure {
            title: self.title(),
            description: "Operations a byte of memory to the right, operations a second upwards, both logarithmic. Memory is a rising line; every unit has a ceiling from where it meets that line. \
                          Numbered points are paths, each by the unit that comes nearest to binding: on the rising line they run at the speed of memory, on a ceiling that unit binds."
                .into(),
            caption: "Every path is drawn by its tightest unit. On the rising line it runs at the speed of memory; on a dashed ceiling that unit binds, and the path would get faster with it. In mode measured, operations are the corrected counts and times are measured."
                .into(),
            columns: heads.map(String::from).to_vec(),
            rows: table(&marks),
            svg,
        })
    }
}

/// A point, its number, and a line between them where they are far from each other.
fn mark_text(point: (f64, f64), badge: (f64, f64), number: usize, class: &str) -> String {
    let distance = (point.0 - badge.0).hypot(point.1 - badge.1);
    let end = if distance < 20.0 {
        point
    } else {
        let share = 8.0 / distance;
        (
            badge.0 + share * (point.0 - badge.0),
            badge.1 + share * (point.1 - badge.1),
        )
    };
    format!(
        "<g class=\"mark\"><line class=\"leader\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/><circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"4.5\"/><text class=\"badge\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{number}</text></g>",
        place(point.0),
        place(point.1),
        place(end.0),
        place(end.1),
        escaped(class),
        place(point.0),
        place(point.1),
        place(badge.0),
        place(badge.1 + 4.0),
    )
}
