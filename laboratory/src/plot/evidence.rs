//! The figure of `ozfft-lab evidence`: every claim with a number, measured against expected, on logarithmic axes.

use super::canvas::{Canvas, Shape, Side};
use super::labels::Names;
use crate::evidence::{Row, Verdict};
use crate::failure::Failure;
use plotters::prelude::*;

const WIDTH: i32 = 1180;
const HEIGHT: i32 = 980;
/// Left, right, top and bottom of the two panels: errors, and everything else.
const PANELS: [Panel; 2] = [
    Panel {
        title: "times, counts and ratios, each in its unit",
        left: 70,
        right: 640,
        powers: (-3, 3),
    },
    Panel {
        title: "errors",
        left: 760,
        right: 1150,
        powers: (-15, -1),
    },
];
const TOP: i32 = 120;
const BOTTOM: i32 = 930;

struct Panel {
    title: &'static str,
    left: i32,
    right: i32,
    /// Powers of ten at both ends of both axes.
    powers: (i32, i32),
}

impl Panel {
    fn part(&self, value: f64) -> f64 {
        let (low, high) = (f64::from(self.powers.0), f64::from(self.powers.1));
        (value.log10() - low) / (high - low)
    }

    fn x(&self, value: f64) -> i32 {
        self.left + (self.part(value) * f64::from(self.right - self.left)).round() as i32
    }

    fn y(&self, value: f64) -> i32 {
        BOTTOM - (self.part(value) * f64::from(BOTTOM - TOP)).round() as i32
    }

    fn holds(&self, value: f64) -> bool {
        (0.0..=1.0).contains(&self.part(value))
    }
}

/// A claim with one expected and one measured number: the middle of ranges.
struct Point<'a> {
    row: &'a Row,
    expected: f64,
    measured: f64,
}

fn middle(values: &[f64]) -> Option<f64> {
    let positive = values.iter().all(|value| *value > 0.0);
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    (positive && !values.is_empty()).then(|| mean.exp())
}

/// What the page says of claims that have no place in the figure.
pub fn left_out(rows: &[Row]) -> String {
    let drawn = points(rows)
        .iter()
        .filter(|point| panel_of(point).is_some())
        .count();
    let judged = rows.iter().filter(|row| !row.found.is_empty()).count();
    format!(
        "The figure has {drawn} of the {judged} claims with a measured number, and none of the {} others. It leaves out numbers that have no place on logarithmic axes \
         or beyond their ends (zeros, most of all), and claims that are not judged by how far two numbers are apart: those by the rules *equal* and *same side of 0.5* \
         and what is worked out from the paper alone.",
        rows.len() - judged
    )
}

fn points<'a>(rows: &'a [Row]) -> Vec<Point<'a>> {
    let compared = rows.iter().filter(|row| {
        let words = ["near", "bits", "gain", "at", "below"];
        words
            .iter()
            .any(|word| row.rule.split(' ').next() == Some(word))
    });
    let point = |row: &'a Row| {
        Some(Point {
            row,
            expected: middle(&row.reference)?,
            measured: middle(&row.found)?,
        })
    };
    compared.filter_map(point).collect()
}

/// The panel that a point has a place in.
fn panel_of(point: &Point) -> Option<&'static Panel> {
    let is_error = point.expected < 6e-3 && point.measured < 6e-3;
    let panel = &PANELS[usize::from(is_error)];
    let inside = panel.holds(point.expected) && panel.holds(point.measured);
    inside.then_some(panel)
}

fn colour(verdict: Verdict) -> RGBColor {
    match verdict {
        Verdict::Holds => RGBColor(40, 130, 70),
        Verdict::Exceeded => RGBColor(30, 100, 190),
        Verdict::Borderline => RGBColor(200, 140, 0),
        Verdict::Missed => RGBColor(190, 40, 40),
        Verdict::Inconsistent | Verdict::NoMachine => RGBColor(110, 110, 110),
    }
}

/// The picture as SVG.
pub fn picture(rows: &[Row]) -> Result<String, Failure> {
    Ok(format!("{}\n", canvas(rows).draw()?))
}

fn canvas(rows: &[Row]) -> Canvas {
    let mut canvas = Canvas::new((WIDTH, HEIGHT));
    canvas.write("Measured against expected", (70, 22), 18, Side::Left);
    for (words, y) in [
        (
            "expected: as printed (filled), or by the paper's model for the machine that was measured (open), every claim in its own unit",
            44,
        ),
        (
            "dashed: a factor of two (where bits of precision are compared, one bit decides); named: all that is farther off",
            60,
        ),
    ] {
        canvas.write(words, (70, y), 11, Side::Left);
    }
    for (index, verdict) in [
        Verdict::Holds,
        Verdict::Exceeded,
        Verdict::Borderline,
        Verdict::Missed,
    ]
    .into_iter()
    .enumerate()
    {
        let x = 76 + 130 * index as i32;
        dot(&mut canvas, (x, 80), colour(verdict), true);
        canvas.write(verdict.word(), (x + 10, 80), 12, Side::Left);
    }
    let points = points(rows);
    for panel in &PANELS {
        axes(&mut canvas, panel);
        let here: Vec<&Point> = points
            .iter()
            .filter(|point| panel_of(point).is_some_and(|own| own.title == panel.title))
            .collect();
        draw(&mut canvas, panel, &here);
    }
    canvas
}

fn dot(canvas: &mut Canvas, at: (i32, i32), colour: RGBColor, filled: bool) {
    canvas.shapes.push(Shape::Dot { at, colour, filled });
}

fn axes(canvas: &mut Canvas, panel: &Panel) {
    let grey = RGBColor(150, 150, 150).mix(1.0);
    let (low, high) = panel.powers;
    canvas.write(
        panel.title,
        ((panel.left + panel.right) / 2, TOP - 12),
        13,
        Side::Center,
    );
    let step = if high - low > 8 { 2 } else { 1 };
    for power in (low..=high).step_by(step) {
        let value = 10f64.powi(power);
        let (x, y) = (panel.x(value), panel.y(value));
        let light = RGBColor(225, 225, 225).mix(1.0);
        canvas.line((x, TOP), (x, BOTTOM), light, false);
        canvas.line((panel.left, y), (panel.right, y), light, false);
        let text = match power {
            -2..=3 => format!("{value}"),
            _ => format!("1e{power}"),
        };
        canvas.write(text.clone(), (x, BOTTOM + 14), 11, Side::Center);
        canvas.write(text.clone(), (panel.left - 6, y), 11, Side::Right);
    }
    canvas.write(
        "expected",
        ((panel.left + panel.right) / 2, BOTTOM + 34),
        12,
        Side::Center,
    );
    canvas.write("measured", (panel.left - 40, TOP - 12), 12, Side::Left);
    let (first, last) = (10f64.powi(low), 10f64.powi(high));
    canvas.line(
        (panel.x(first), panel.y(first)),
        (panel.x(last), panel.y(last)),
        grey,
        false,
    );
    for (from, to) in [
        ((first, 2.0 * first), (last / 2.0, last)),
        ((2.0 * first, first), (last, last / 2.0)),
    ] {
        let at = |(expected, measured)| (panel.x(expected), panel.y(measured));
        canvas.line(at(from), at(to), grey, true);
    }
}

fn draw(canvas: &mut Canvas, panel: &Panel, points: &[&Point]) {
    let at = |point: &Point| (panel.x(point.expected), panel.y(point.measured));
    let dots = points.iter().map(|point| at(point));
    let mut names = Names::keeping_off(dots.map(|(x, y)| (x - 6, x + 6, y - 6, y + 6)).collect());
    for point in points {
        let place = at(point);
        dot(
            canvas,
            place,
            colour(point.row.verdict),
            !point.row.from_model,
        );
    }
    for point in points {
        if !matches!(point.row.verdict, Verdict::Missed | Verdict::Exceeded) {
            continue;
        }
        let place = at(point);
        let half = (0.3 * 10.0 * point.row.id.len() as f64).ceil() as i32;
        let to = names.place(place, half, (panel.left, panel.right), TOP);
        let [from, edge] = super::labels::line(place, to);
        canvas.line(from, edge, RGBColor(190, 190, 190).mix(1.0), false);
        canvas.write(point.row.id.clone(), to, 10, Side::Center);
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::assert_readable;
    use super::*;

    fn row(id: &str, expected: f64, measured: f64) -> Row {
        Row {
            section: String::new(),
            id: id.into(),
            place: String::new(),
            claim: String::new(),
            printed: String::new(),
            model: String::new(),
            measured: String::new(),
            commands: Vec::new(),
            verdict: Verdict::Missed,
            note: String::new(),
            reference: vec![expected],
            from_model: false,
            found: vec![measured],
            rule: "near".into(),
            factor: None,
        }
    }

    #[test]
    fn what_is_measured_and_expected_alike_lies_on_the_diagonal() {
        let panel = &PANELS[0];
        let (x, y) = (panel.x(1.0), panel.y(1.0));
        assert_eq!(
            (x - panel.left) * (BOTTOM - TOP),
            (BOTTOM - y) * (panel.right - panel.left)
        );
        assert_eq!(panel.x(1e-3), panel.left);
        assert_eq!(panel.y(1e3), TOP);
    }

    #[test]
    fn points_in_one_place_have_names_that_can_be_read() {
        let rows: Vec<Row> = (0..8)
            .map(|index| row(&format!("a-claim-{index}"), 10.0, 100.0 + f64::from(index)))
            .collect();
        assert_readable(&canvas(&rows));
    }

    #[test]
    fn no_name_of_the_committed_claims_covers_another() {
        assert_readable(&canvas(&crate::evidence::rows().expect("rows")));
    }

    #[test]
    fn the_page_counts_what_the_figure_draws() {
        let mut rows: Vec<Row> = (0..3)
            .map(|index| row("near", 1.0, 1.0 + f64::from(index)))
            .collect();
        rows[1].rule = "same side 0.5".into();
        rows[2].found.clear();
        let text = left_out(&rows);
        assert!(
            text.starts_with("The figure has 1 of the 2 claims"),
            "{text}"
        );
    }

    #[test]
    fn ranges_are_drawn_at_their_geometric_mean() {
        assert_eq!(middle(&[4.0, 9.0]).map(f64::round), Some(6.0));
        assert_eq!(middle(&[0.0, 9.0]), None);
        assert_eq!(middle(&[]), None);
    }
}
