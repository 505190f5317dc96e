//! The roofline of one machine with all paths on it.
//!
//! The page's script moves the same shapes when numbers are typed (`controls.js`), by the axes in the attribute `data-plane`; a test holds that it
//! puts them where they are put here.

use super::super::Context;
use super::super::charts::{Axis, Plane, free_places, tick_text};
use super::super::svg::{Anchor, Svg, escaped, place};
use super::{Figure, heads, time_text};
use crate::failure::Failure;
use roofline::floors::floors;
use roofline::paths::{Path, Substrate, all, path};
use roofline::table::{rate_text, significant};
use roofline::time::estimate;
use roofline::{Machine, Mode, Rate, Record};

/// A path on the plane, by the unit that comes nearest to binding.
pub struct Mark {
    pub title: String,
    pub rate: Rate,
    /// Operations a byte.
    pub intensity: f64,
    /// Operations a second.
    pub performance: f64,
    pub seconds: f64,
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

/// All paths whose time is known.
pub fn marks(
    machine: &Machine,
    mode: Mode,
    n: usize,
    record: &Record,
) -> Result<Vec<Mark>, Failure> {
    let mark = |path: &Path, title: String, seconds: f64| {
        let (rate, intensity) = tightest(path, machine)?;
        seconds.is_finite().then(|| Mark {
            title,
            rate,
            intensity,
            performance: intensity * path.bytes / seconds,
            seconds,
        })
    };
    if mode != Mode::Measured {
        let paths = all(mode, n)?;
        let known = paths.iter().filter_map(|path| {
            let estimate = estimate(path, machine).ok()?;
            mark(path, path.title(), estimate.overlapped)
        });
        return Ok(known.collect());
    }
    let mut marks = Vec::new();
    for measured in &record.paths {
        let (Some((way, substrate)), Some(seconds)) =
            (Record::way(measured), record.seconds(measured, n))
        else {
            continue;
        };
        // Ways without products are listed with FP8.
        let found = path(way, substrate, Mode::Corrected, n)?;
        let found = match found {
            Some(found) => Some(found),
            None => path(way, Substrate::Fp8, Mode::Corrected, n)?,
        };
        marks.extend(found.and_then(|found| mark(&found, measured.name.clone(), seconds)));
    }
    Ok(marks)
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

pub fn figure(context: &Context, width: f64) -> Result<Figure, Failure> {
    let (machine, mode) = (&context.machine, context.mode);
    let marks = marks(machine, mode, context.n, &context.record)?;
    let bandwidth = machine.bandwidth(mode)?;
    let height = if width > 500.0 { 420.0 } else { 380.0 };
    let plane = Plane {
        x: Axis::logarithmic(46.0, width - 10.0, 0.5, 3000.0),
        y: Axis::logarithmic(height, 24.0, 0.1, 30000.0),
    };
    let mut svg = Svg::new(width);
    svg.height = height + 40.0;
    let axis = |axis: Axis| format!("[{},{},{},{}]", axis.from, axis.to, axis.low, axis.high);
    svg.attributes = format!(
        " data-plane='{{\"x\":{},\"y\":{}}}'",
        axis(plane.x),
        axis(plane.y)
    );
    plane.draw(
        &mut svg,
        ("operations a byte of memory", "10¹² operations a second"),
        &tick_text,
    );
    let tera = bandwidth / 1e12;
    svg.raw("<g class=\"roofs\">");
    // Memory: rising until the axes end.
    let low = (plane.y.low / tera).max(plane.x.low);
    let high = (plane.y.high / tera).min(plane.x.high);
    svg.polyline(
        "roof memory",
        &[plane.at((low, low * tera)), plane.at((high, high * tera))],
    );
    let (mut ends, mut taken) = (Vec::new(), Vec::new());
    for (rate, name) in CEILINGS {
        let have = machine.rate(mode, rate).ok().filter(|have| *have > 0.0);
        if let Some(have) = have.filter(|_| is_drawn(rate, mode)) {
            let ridge = (have / bandwidth).clamp(plane.x.low, plane.x.high);
            let y = plane.y.at(have / 1e12);
            svg.polyline("floor", &[(plane.x.at(ridge), y), (plane.x.to, y)]);
            let text = format!("{name} {}", rate_text(rate, have));
            ends.push((y, powers(&text).replace(" a second", "")));
            taken.push((plane.x.at(ridge), y - 1.0, plane.x.to, y + 1.0));
        }
    }
    // From the top downwards, each name above its line and at least a line of text below the one before.
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut last = f64::NEG_INFINITY;
    let mut names = Vec::new();
    for (y, name) in ends {
        last = (y - 4.0).max(last + 15.0);
        svg.text("small", (plane.x.to, last), Anchor::End, &name);
        names.push((plane.x.to - 120.0, last - 10.0, plane.x.to, last + 2.0));
    }
    names.append(&mut taken);
    svg.raw("</g><g class=\"marks\">");
    let points: Vec<(f64, f64)> = marks
        .iter()
        .map(|mark| plane.at((mark.intensity, mark.performance / 1e12)))
        .collect();
    let within = (plane.x.from, plane.y.to, plane.x.to, plane.y.from);
    let badges = free_places(&points, &vec![BADGE; points.len()], within, &names);
    for (number, (point, badge)) in points.iter().zip(&badges).enumerate() {
        svg.raw(&mark_text(*point, *badge, number + 1, class(mode)));
    }
    svg.raw("</g>");
    let rows = marks.iter().enumerate().map(|(number, mark)| {
        vec![
            (number + 1).to_string(),
            mark.title.clone(),
            mark.rate.title().into(),
            significant(mark.intensity, 3),
            powers(&rate_text(mark.rate, mark.performance)),
            time_text(Some(mark.seconds)),
        ]
    });
    Ok(Figure {
        title: format!("Roofline of {}, {}³, {mode}", machine.title, context.n),
        description: "Operations a byte of memory to the right, operations a second upwards, both logarithmic. Memory is a rising line; every unit has a ceiling from where it meets that line. \
                      Numbered points are paths, each by the unit that comes nearest to binding: on the rising line they run at the speed of memory, on a ceiling that unit binds."
            .into(),
        caption: "Every path is drawn by its tightest unit. On the rising line it runs at the speed of memory; on a dashed ceiling that unit binds, and the path would get faster with it. In mode measured, operations are the corrected counts and times are measured."
            .into(),
        columns: heads(&["number", "path", "tightest unit", "operations a byte", "operations a second", "time"]),
        rows: rows.collect(),
        svg,
    })
}

/// Powers for people; terminals have plain letters.
fn powers(text: &str) -> String {
    text.replace("10^12", "10¹²")
}

fn class(mode: Mode) -> &'static str {
    match mode {
        Mode::Printed => "printed",
        Mode::Corrected => "corrected",
        Mode::Measured => "measured",
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
