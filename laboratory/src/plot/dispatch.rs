//! A record of `ozfft-lab dispatch` as a picture: every algorithm's time over that of the fastest, length by length, here and in the post.

use super::canvas::{Canvas, Shape, Side};
use crate::dispatch::{PATHS, Report, Row, crossings, over_fastest, posted};
use crate::failure::Failure;
use ozfft_measure::plot::{COLOURS, short_date};
use plotters::prelude::*;

const SIZE: (i32, i32) = (1100, 560);
const TOP: i32 = 70;
const BOTTOM: i32 = 440;
/// Left and right ends of both panels.
const PANELS: [(i32, i32); 2] = [(70, 520), (610, 1060)];
/// Powers of two that are drawn: lengths, and times over the fastest.
const LENGTHS: (u32, u32) = (4, 12);
const QUOTIENTS: u32 = 6;

fn across((left, right): (i32, i32), n: usize) -> i32 {
    let part = ((n as f64).log2() - f64::from(LENGTHS.0)) / f64::from(LENGTHS.1 - LENGTHS.0);
    left + (part * f64::from(right - left)).round() as i32
}

fn up(quotient: f64) -> i32 {
    let part = (quotient.log2() / f64::from(QUOTIENTS)).clamp(0.0, 1.0);
    BOTTOM - (part * f64::from(BOTTOM - TOP)).round() as i32
}

fn panel(canvas: &mut Canvas, ends: (i32, i32), title: &str, rows: &[Row]) {
    let (left, right) = ends;
    canvas.write(title, ((left + right) / 2, TOP - 40), 14, Side::Center);
    canvas.write(
        "time over that of the fastest",
        (left, TOP - 18),
        12,
        Side::Left,
    );
    let grey = RGBColor(210, 210, 210).to_rgba();
    for power in 0..=QUOTIENTS {
        let y = up(f64::from(1 << power));
        canvas.line((left, y), (right, y), grey, false);
        canvas.write((1 << power).to_string(), (left - 8, y), 12, Side::Right);
    }
    for power in LENGTHS.0..=LENGTHS.1 {
        let x = across(ends, 1 << power);
        canvas.line((x, TOP), (x, BOTTOM), grey, false);
        canvas.write((1 << power).to_string(), (x, BOTTOM + 14), 12, Side::Center);
    }
    for (path, colour) in PATHS.into_iter().zip(COLOURS) {
        let mut before: Option<(i32, i32)> = None;
        for n in crate::dispatch::lengths(rows) {
            let Some(quotient) = over_fastest(rows, n, path) else {
                continue;
            };
            let at = (across(ends, n), up(quotient));
            if let Some(before) = before {
                canvas.line(before, at, colour.to_rgba(), false);
            }
            canvas.shapes.push(Shape::Dot {
                at,
                colour,
                filled: true,
            });
            before = Some(at);
        }
    }
    // Between two lengths another one becomes the fastest.
    for (n, _, after, _) in crossings(rows) {
        let x = (across(ends, n) + across(ends, after)) / 2;
        canvas.line((x, TOP), (x, BOTTOM), BLACK.to_rgba(), true);
    }
}

fn canvas(report: &Report) -> Canvas {
    let mut canvas = Canvas::new(SIZE);
    let place = report.device.as_deref().unwrap_or(&report.processor);
    let title = match &report.date {
        Some(date) => format!("{place}, {}", short_date(date)),
        None => place.to_string(),
    };
    panel(&mut canvas, PANELS[0], &title, &report.rows);
    panel(&mut canvas, PANELS[1], "the post: trn1.2xlarge", &posted());
    let middle = SIZE.0 / 2;
    canvas.write("points of a line", (middle, BOTTOM + 34), 13, Side::Center);
    for (number, (path, colour)) in PATHS.into_iter().zip(COLOURS).enumerate() {
        let at = (
            90 + number as i32 % 3 * 340,
            BOTTOM + 62 + number as i32 / 3 * 24,
        );
        canvas.shapes.push(Shape::Dot {
            at,
            colour,
            filled: true,
        });
        canvas.write(path.to_string(), (at.0 + 12, at.1), 13, Side::Left);
    }
    let note = "Dashed: between these lengths another algorithm becomes the fastest. Beyond 64 times it is drawn at 64.";
    canvas.write(note, (middle, SIZE.1 - 12), 12, Side::Center);
    canvas
}

/// Times over the fastest, here and in the post.
pub fn picture(report: &Report) -> Result<String, Failure> {
    canvas(report).draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_words_cover_others_or_leave_the_picture() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/records/2026-11-17-emerald-rapids-dispatch.json"
        );
        let text = std::fs::read_to_string(path).unwrap();
        let report: Report = serde_json::from_str(&text).unwrap();
        let canvas = canvas(&report);
        let extents: Vec<_> = canvas.labels.iter().map(|label| label.extent()).collect();
        for (i, a) in extents.iter().enumerate() {
            assert!(
                a.0 >= 0 && a.1 <= SIZE.0 && a.2 >= 0 && a.3 <= SIZE.1,
                "{:?}",
                canvas.labels[i]
            );
            for (j, b) in extents.iter().enumerate().skip(i + 1) {
                let apart = a.1 < b.0 || b.1 < a.0 || a.3 < b.2 || b.3 < a.2;
                assert!(
                    apart,
                    "{:?} covers {:?}",
                    canvas.labels[i], canvas.labels[j]
                );
            }
        }
        assert!(picture(&report).unwrap().contains("</svg>"));
    }
}
