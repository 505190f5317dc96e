//! A record of `ozfft-lab paths` as pictures: how long every path takes, with what the paper projects for another machine told apart (its Figure 1), and bits
//! against time (its Figure 2).

use super::canvas::{Canvas, Label, Shape, Side};
use super::labels::{Names, line};
use crate::failure::Failure;
use crate::paths::{PROJECTED_MACHINE, PROJECTED_ROOF_MS, PathRow, Report, projection};
use ozfft_measure::plot::{COLOURS, decade, extent, short_date};
use plotters::prelude::*;

const WIDTH: i32 = 1100;
/// Where bars may be, and what remains for words behind them.
const LEFT: i32 = 250;
const RIGHT: i32 = 890;
const TOP: i32 = 128;
const ROW_HEIGHT: i32 = 40;
const BAR_HEIGHT: i32 = 14;
const BOTTOM: i32 = 56;
/// Measured; projected; measured with a stage left out; another program's.
const MEASURED: RGBColor = COLOURS[0];
const PROJECTED: RGBColor = COLOURS[1];
const PART: RGBColor = RGBColor(150, 150, 150);
const NATIVE: RGBColor = COLOURS[2];
/// Letters of a reason that fit behind a name.
const REASON: usize = 90;

/// How long every path takes.
pub fn times(report: &Report) -> Result<String, Failure> {
    times_canvas(report).draw()
}

/// Bits against time.
pub fn precision(report: &Report) -> Result<String, Failure> {
    precision_canvas(report).draw()
}

fn colour(path: &PathRow) -> RGBColor {
    match path.name.as_str() {
        "cufft" => NATIVE,
        _ if path.is_part() => PART,
        _ => MEASURED,
    }
}

fn milliseconds(time: f64) -> String {
    let decimals = if time < 100.0 { 1 } else { 0 };
    format!("{time:.decimals$} ms")
}

fn title(report: &Report) -> String {
    let (name, date) = (&report.device.name, short_date(&report.date));
    format!(
        "{}, complex f64, {name}, {date}, ozfft {}",
        report.shape, report.ozfft
    )
}

/// Projections are for a cube of 1024.
fn projected(report: &Report, path: &PathRow) -> Option<crate::paths::Projection> {
    projection(&path.paper).filter(|_| report.shape == "1024x1024x1024")
}

fn times_canvas(report: &Report) -> Canvas {
    let bottom = TOP + ROW_HEIGHT * report.paths.len() as i32;
    let mut canvas = Canvas::new((WIDTH, bottom + BOTTOM));
    let grid = BLACK.mix(0.15);
    let measured = |path: &PathRow| path.seconds.map(|seconds| 1e3 * seconds);
    let all = report.paths.iter().flat_map(|path| {
        let other = projected(report, path).map(|p| p.milliseconds);
        [measured(path), other].into_iter().flatten()
    });
    let most = all.fold(1e-9, f64::max);
    let place = |time: f64| LEFT + (time / most * f64::from(RIGHT - LEFT)).round() as i32;
    canvas.write(title(report), (WIDTH / 2, 22), 18, Side::Center);
    let legend = [
        (MEASURED, true, "measured"),
        (NATIVE, true, "measured, cuFFT"),
        (PART, true, "measured, a stage left out"),
        (PROJECTED, false, "the paper's projection for a B300"),
    ];
    let mut x = 60;
    for (colour, filled, text) in legend {
        canvas.bar([(x, 45), (x + 24, 59)], colour, filled);
        canvas.write(text, (x + 32, 52), 14, Side::Left);
        x += 64 + 8 * text.len() as i32;
    }
    // Round numbers, five or so.
    let step = [1.0, 2.0, 5.0].map(|x| x * decade((most / 5.0).log10().floor()));
    let step = step.into_iter().rfind(|step| most / step >= 4.0);
    let step = step.unwrap_or(most / 4.0);
    let ticks = (0..).map(|number| f64::from(number) * step);
    for time in ticks.take_while(|time| *time <= most) {
        let x = place(time);
        canvas.line((x, TOP - 6), (x, bottom), grid, false);
        let digits = usize::from(step < 1.0) * 3;
        canvas.write(
            format!("{time:.digits$}"),
            (x, bottom + 14),
            14,
            Side::Center,
        );
    }
    canvas.write(
        "milliseconds",
        ((LEFT + RIGHT) / 2, bottom + 38),
        16,
        Side::Center,
    );
    let roof = 1e3 * report.memory_roof_seconds;
    let text = format!("memory roof here {}", milliseconds(roof));
    canvas.line(
        (place(roof), TOP - 10),
        (place(roof), bottom),
        BLACK.mix(1.0),
        false,
    );
    canvas.write(text, (place(roof) + 4, TOP - 16), 12, Side::Left);
    if report
        .paths
        .iter()
        .any(|path| projected(report, path).is_some())
    {
        let x = place(PROJECTED_ROOF_MS);
        let text = format!(
            "{PROJECTED_MACHINE}'s, projected {}",
            milliseconds(PROJECTED_ROOF_MS)
        );
        canvas.line((x, TOP - 26), (x, bottom), PROJECTED.mix(1.0), true);
        canvas.write(text, (x + 4, TOP - 32), 12, Side::Left);
    }
    for (number, path) in report.paths.iter().enumerate() {
        let middle = TOP + ROW_HEIGHT * number as i32 + ROW_HEIGHT / 2;
        let raised = if path.paper.is_empty() { 0 } else { 8 };
        canvas.write(&path.name, (LEFT - 12, middle - raised), 14, Side::Right);
        if !path.paper.is_empty() {
            canvas.write(&path.paper, (LEFT - 12, middle + 8), 12, Side::Right);
        }
        let projected = projected(report, path);
        let bars = 1 + i32::from(projected.is_some());
        let mut y = middle - (BAR_HEIGHT + 1) * bars / 2;
        let mut bar = |time: f64, colour: RGBColor, filled: bool, text: String| {
            let corners = [(LEFT, y), (place(time), y + BAR_HEIGHT - 2)];
            canvas.bar(corners, colour, filled);
            let mut label = Label {
                text,
                at: (place(time) + 6, y + BAR_HEIGHT / 2),
                size: 12,
                side: Side::Left,
            };
            // The roof's line goes through no words.
            let (left, right, ..) = label.extent();
            if (left - 4..right).contains(&place(roof)) {
                label.at.0 = place(roof) + 6;
            }
            canvas.labels.push(label);
            y += BAR_HEIGHT + 1;
        };
        match measured(path) {
            Some(time) => {
                let ratio = path.over_cufft.filter(|_| path.name != "cufft");
                let ratio = ratio.map_or(String::new(), |x| format!(" ({x:.1} × cuFFT)"));
                bar(
                    time,
                    colour(path),
                    true,
                    format!("{}{ratio}", milliseconds(time)),
                );
            }
            None => {
                let reason = path.missing.as_deref().unwrap_or("not measured");
                let text: String = reason.chars().take(REASON).collect();
                bar(0.0, colour(path), true, text);
            }
        }
        if let Some(projected) = projected {
            let text = format!("{}, projected", milliseconds(projected.milliseconds));
            bar(projected.milliseconds, PROJECTED, false, text);
        }
    }
    canvas
}

/// A point of the second picture.
struct Place {
    name: String,
    milliseconds: f64,
    bits: f64,
    colour: RGBColor,
}

const PRECISION_SIZE: (i32, i32) = (1100, 640);
const PANELS: [(i32, i32); 2] = [(70, 650), (720, 1080)];
const PANEL_TOP: i32 = 84;
const PANEL_BOTTOM: i32 = 572;

fn precision_canvas(report: &Report) -> Canvas {
    let mut canvas = Canvas::new(PRECISION_SIZE);
    canvas.write(title(report), (PRECISION_SIZE.0 / 2, 22), 18, Side::Center);
    let measured = |path: &PathRow| {
        Some(Place {
            name: path.name.clone(),
            milliseconds: 1e3 * path.seconds?,
            // An error of 0 would be all bits that a double has.
            bits: -path.l2?.max(f64::EPSILON / 16.0).log2(),
            colour: colour(path),
        })
    };
    let on_paper = |path: &PathRow| {
        let projection = projected(report, path)?;
        Some(Place {
            name: path.paper.clone(),
            milliseconds: projection.milliseconds,
            bits: projection.bits,
            colour: PROJECTED,
        })
    };
    let measured = sorted(report.paths.iter().filter_map(measured).collect());
    let on_paper = sorted(report.paths.iter().filter_map(on_paper).collect());
    let times = measured
        .iter()
        .chain(&on_paper)
        .map(|place| place.milliseconds);
    let (least, most) = extent(times);
    // The same scales for both.
    let scale = Scale {
        times: (least / 1.5, most * 1.5),
        bits: 84.0,
    };
    let heading = format!(
        "measured, {}: bits of the L2 error, lines of 1024",
        report.device.name
    );
    panel(&mut canvas, &measured, PANELS[0], &scale, (&heading, true));
    let heading = format!("{PROJECTED_MACHINE}, projected by the paper: its bits");
    panel(&mut canvas, &on_paper, PANELS[1], &scale, (&heading, false));
    let words = "bits that are right";
    canvas.write(words, (PANELS[0].0, PANEL_TOP - 12), 12, Side::Left);
    canvas
}

/// From left to right, so that names fan out.
fn sorted(mut places: Vec<Place>) -> Vec<Place> {
    places.sort_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds));
    places
}

/// What both panels show.
struct Scale {
    times: (f64, f64),
    bits: f64,
}

fn panel(
    canvas: &mut Canvas,
    places: &[Place],
    (left, right): (i32, i32),
    scale: &Scale,
    (heading, filled): (&str, bool),
) {
    let grid = BLACK.mix(0.15);
    let (least, most) = scale.times;
    let across = |time: f64| {
        let part = (time / least).ln() / (most / least).ln();
        left + (part * f64::from(right - left)).round() as i32
    };
    let up = |bits: f64| {
        let part = bits / scale.bits;
        PANEL_BOTTOM - (part * f64::from(PANEL_BOTTOM - PANEL_TOP)).round() as i32
    };
    let middle = (left + right) / 2;
    canvas.write(heading, (middle, 52), 14, Side::Center);
    let bits = (0..).map(|number| f64::from(10 * number));
    for bits in bits.take_while(|bits| *bits <= 60.0) {
        let y = up(bits);
        canvas.line((left, y), (right, y), grid, false);
        canvas.write(format!("{bits}"), (left - 8, y), 13, Side::Right);
    }
    let powers = (-6..=6).flat_map(|p| [1.0, 2.0, 5.0].map(|x| x * decade(f64::from(p))));
    for time in powers.filter(|time| (least..most).contains(time)) {
        let x = across(time);
        canvas.line((x, up(60.0)), (x, PANEL_BOTTOM), grid, false);
        canvas.write(format!("{time}"), (x, PANEL_BOTTOM + 14), 13, Side::Center);
    }
    canvas.write(
        "milliseconds",
        (middle, PANEL_BOTTOM + 40),
        14,
        Side::Center,
    );
    let dot = |place: &Place| (across(place.milliseconds), up(place.bits));
    let around = |(x, y): (i32, i32)| (x - 6, x + 6, y - 6, y + 6);
    let mut names = Names::keeping_off(places.iter().map(|place| around(dot(place))).collect());
    for place in places {
        let at = dot(place);
        canvas.shapes.push(Shape::Dot {
            at,
            colour: place.colour,
            filled,
        });
        let half = (0.3 * 12.0 * place.name.chars().count() as f64).ceil() as i32 + 2;
        let (x, y) = names.place(at, half, (left, right), PANEL_TOP);
        // Names right above or below their point need no line.
        if (y - at.1).abs() > 15 || (x - at.0).abs() > half {
            let [from, to] = line(at, (x, y));
            canvas.line(from, to, BLACK.mix(0.3), false);
        }
        canvas.write(&place.name, (x, y), 12, Side::Center);
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::assert_readable;
    use super::*;
    use std::path::Path;

    fn record() -> Report {
        let records = concat!(env!("CARGO_MANIFEST_DIR"), "/records");
        Report::read(&Path::new(records).join("2026-11-15-h200-paths.json")).expect("a record")
    }

    /// Every mark closes that was opened, in order.
    fn assert_well_formed(picture: &str) {
        let mut open: Vec<&str> = Vec::new();
        for mark in picture.split('<').skip(1) {
            let (mark, _) = mark.split_once('>').expect("the end of a mark");
            let name = mark.split([' ', '\n']).next().unwrap_or_default();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if mark.ends_with('/') || mark.starts_with(['!', '?']) => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn all_paths_are_drawn_and_no_word_covers_another() {
        let record = record();
        let canvas = times_canvas(&record);
        assert_readable(&canvas);
        let picture = times(&record).expect("a picture");
        assert_well_formed(&picture);
        for path in &record.paths {
            assert!(
                canvas.labels.iter().any(|label| label.text == path.name),
                "{}",
                path.name
            );
        }
        for part in [
            "234 ms (7.4 × cuFFT)",
            "18.0 ms, projected",
            "memory roof here 24.0 ms",
            "projected 12.9 ms",
        ] {
            assert!(picture.contains(part), "{part}");
        }
        // Projections are outlines, and what is measured is filled.
        let outlines = canvas
            .shapes
            .iter()
            .filter(|shape| matches!(shape, Shape::Bar { filled: false, .. }));
        assert!(outlines.clone().count() > 5);
        for outline in outlines {
            assert!(matches!(outline, Shape::Bar { colour, .. } if *colour == PROJECTED));
        }
    }

    #[test]
    fn bits_stand_against_times_on_one_scale_and_no_word_covers_another() {
        let record = record();
        let canvas = precision_canvas(&record);
        assert_readable(&canvas);
        assert_well_formed(&precision(&record).expect("a picture"));
        for path in record.paths.iter().filter(|path| path.l2.is_some()) {
            assert!(
                canvas.labels.iter().any(|label| label.text == path.name),
                "{}",
                path.name
            );
        }
        let dots = |wanted: bool| {
            let of =
                |shape: &&Shape| matches!(shape, Shape::Dot { filled, .. } if *filled == wanted);
            canvas.shapes.iter().filter(of).count()
        };
        assert_eq!((dots(true), dots(false)), (17, 10));
    }

    #[test]
    fn missing_paths_say_why_and_other_shapes_have_no_projections() {
        let mut record = record();
        record.shape = "1024x1024".into();
        record.paths[3].seconds = None;
        record.paths[3].missing =
            Some("there is no kernel for it, and that is a long story ".repeat(9));
        let canvas = times_canvas(&record);
        assert_readable(&canvas);
        assert!(
            canvas
                .labels
                .iter()
                .any(|label| label.text.contains("a long story"))
        );
        assert!(
            !canvas
                .labels
                .iter()
                .any(|label| label.text.ends_with(", projected"))
        );
        assert_readable(&precision_canvas(&record));
    }
}
