//! Bars and planes: what several figures are made of.

use crate::svg::{Anchor, Svg, text_width};
use roofline::table::significant;

/// Where a number comes from. Told apart by pattern and by words, not by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Printed,
    Corrected,
    Measured,
}

impl Kind {
    pub fn class(self) -> &'static str {
        match self {
            Kind::Printed => "printed",
            Kind::Corrected => "corrected",
            Kind::Measured => "measured",
        }
    }

    /// Of its marks on a plane.
    pub fn form(self) -> usize {
        match self {
            Kind::Printed => 2,
            Kind::Corrected => 0,
            Kind::Measured => 1,
        }
    }
}

/// An axis from one end to the other, in pixels and in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    pub from: f64,
    pub to: f64,
    pub low: f64,
    pub high: f64,
    pub logarithmic: bool,
}

impl Axis {
    pub fn logarithmic(from: f64, to: f64, low: f64, high: f64) -> Axis {
        Axis {
            from,
            to,
            low,
            high,
            logarithmic: true,
        }
    }

    pub fn linear(from: f64, to: f64, low: f64, high: f64) -> Axis {
        Axis {
            logarithmic: false,
            ..Axis::logarithmic(from, to, low, high)
        }
    }

    /// Pixels of a number; what is beyond the ends is put there.
    pub fn at(self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Where lines are drawn.
    pub fn ticks(self) -> Vec<f64> {
        if !self.logarithmic {
            let step = nice_step((self.high - self.low) / 5.0);
            let first = (self.low / step).ceil() as i64;
            let last = (self.high / step + 1e-9).floor() as i64;
            return (first..=last).map(|number| number as f64 * step).collect();
        }
        let (low, high) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let decades = self.high.log10() - self.low.log10();
        let multiples: &[f64] = if decades > 2.2 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        (low..=high)
            .flat_map(|power| multiples.iter().map(move |times| times * 10f64.powi(power)))
            .filter(|tick| (self.low * 0.999..=self.high * 1.001).contains(tick))
            .collect()
    }
}

fn nice_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|times| times * power >= raw);
    times.unwrap_or(10.0) * power
}

/// A number on an axis.
pub fn tick_text(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let power = value.abs().log10().round() as i32;
    if (-3..=4).contains(&power) {
        let text = format!("{value:.3}");
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    format!("10{}", raised(power))
}

/// `⁻¹⁶` for -16.
pub fn raised(power: i32) -> String {
    power
        .to_string()
        .chars()
        .map(|sign| match sign.to_digit(10) {
            Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
            None => '⁻',
        })
        .collect()
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub kind: Kind,
    pub value: f64,
    /// A line goes on from the bar's end to here.
    pub until: Option<f64>,
    /// Behind it.
    pub label: String,
}

/// Bars that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub label: String,
    pub bars: Vec<Bar>,
}

/// Bars side by side, all from the left.
#[derive(Debug, Clone)]
pub struct Bars<'a> {
    pub title: &'a str,
    pub left: f64,
    pub top: f64,
    pub width: f64,
    /// For labels in front of bars; without, they are above them.
    pub label_width: f64,
    pub low: f64,
    pub high: f64,
    pub logarithmic: bool,
    pub rows: &'a [Row],
    /// Vertical lines, with their names.
    pub references: &'a [(f64, &'a str)],
}

const BAR: f64 = 13.0;
const BAR_STEP: f64 = 16.0;
/// What labels behind bars may need.
const BEHIND: f64 = 118.0;

impl Bars<'_> {
    /// Draws, and says where it ends.
    pub fn draw(&self, svg: &mut Svg) -> f64 {
        let left = self.left + self.label_width;
        let behind = BEHIND.min(0.36 * (self.left + self.width - left));
        let right = self.left + self.width - behind;
        let axis = Axis {
            from: left,
            to: right,
            low: self.low,
            high: self.high,
            logarithmic: self.logarithmic,
        };
        let above = self.label_width == 0.0;
        let mut y = self.top;
        if !self.title.is_empty() {
            svg.text("strong", (self.left, y + 12.0), Anchor::Start, self.title);
            y += 22.0;
        }
        let row_height = |row: &Row| {
            let label = if above { 16.0 } else { 0.0 };
            label + BAR_STEP * row.bars.len().max(1) as f64 + 8.0
        };
        let height: f64 = self.rows.iter().map(row_height).sum();
        let names = if self.references.is_empty() {
            0.0
        } else {
            16.0
        };
        let (begin, end) = (y + names, y + names + height);
        for tick in axis.ticks() {
            let (x, text) = (axis.at(tick), tick_text(tick));
            svg.line("grid", (x, begin), (x, end));
            // At the edge of the picture half of it would be cut off.
            let anchor = if x < 4.0 {
                Anchor::Start
            } else {
                Anchor::Middle
            };
            svg.text("small quiet", (x, end + 14.0), anchor, &text);
        }
        for &(value, name) in self.references {
            let x = axis.at(value);
            svg.line("floor", (x, begin - 2.0), (x, end));
            svg.text("small", (x, begin - 6.0), Anchor::Middle, name);
        }
        let mut y = begin;
        for row in self.rows {
            if above {
                svg.text("", (self.left + 3.0, y + 12.0), Anchor::Start, &row.label);
                y += 16.0;
            } else {
                let middle = y + BAR_STEP * row.bars.len().max(1) as f64 / 2.0 + 4.0;
                svg.text("", (left - 8.0, middle), Anchor::End, &row.label);
            }
            for bar in &row.bars {
                let to = axis.at(bar.value);
                svg.rect(bar.kind.class(), (left, y + 1.5), (to - left, BAR));
                let mut beyond = to;
                if let Some(until) = bar.until.filter(|until| *until > bar.value) {
                    beyond = axis.at(until);
                    let middle = y + 1.5 + BAR / 2.0;
                    svg.line("whisker", (to, middle), (beyond, middle));
                    svg.line("whisker", (beyond, middle - 4.0), (beyond, middle + 4.0));
                }
                svg.text("small", (beyond + 5.0, y + 12.0), Anchor::Start, &bar.label);
                y += BAR_STEP;
            }
            if row.bars.is_empty() {
                y += BAR_STEP;
            }
            y += 8.0;
        }
        svg.line("axis", (left, begin), (left, end));
        end + 22.0
    }
}

/// A legend of kinds: pattern and name; as bars, or as the form of marks. Says where it ends.
pub fn legend(svg: &mut Svg, top: f64, entries: &[(Kind, &str)], as_marks: bool) -> f64 {
    let (mut x, mut y) = (2.0, top);
    for (kind, words) in entries {
        let width = 30.0 + text_width(words, 11.0);
        if x > 2.0 && x + width > svg.width {
            (x, y) = (2.0, y + 20.0);
        }
        if as_marks {
            svg.mark(kind.class(), kind.form(), (x + 9.0, y + 8.0), 5.0);
        } else {
            svg.rect(kind.class(), (x, y + 2.0), (18.0, 12.0));
        }
        svg.text("small", (x + 24.0, y + 12.0), Anchor::Start, words);
        x += width + 14.0;
    }
    y + 24.0
}

/// A plane with two axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    pub x: Axis,
    pub y: Axis,
}

impl Plane {
    /// Draws grid, numbers and names of axes.
    pub fn draw(&self, svg: &mut Svg, names: (&str, &str), x_text: &dyn Fn(f64) -> String) {
        let (left, right, bottom, top) = (self.x.from, self.x.to, self.y.from, self.y.to);
        svg.text(
            "small quiet",
            (left - 34.0_f64.min(left), top - 8.0),
            Anchor::Start,
            names.1,
        );
        let mut last = f64::NEG_INFINITY;
        for tick in self.x.ticks() {
            let x = self.x.at(tick);
            svg.line("grid", (x, bottom), (x, top));
            let text = x_text(tick);
            let half = text_width(&text, 11.0) / 2.0;
            if x - half > last + 4.0 {
                svg.text("small quiet", (x, bottom + 15.0), Anchor::Middle, &text);
                last = x + half;
            }
        }
        for tick in self.y.ticks() {
            let y = self.y.at(tick);
            svg.line("grid", (left, y), (right, y));
            svg.text(
                "small quiet",
                (left - 5.0, y + 4.0),
                Anchor::End,
                &tick_text(tick),
            );
        }
        svg.line("axis", (left, bottom), (right, bottom));
        svg.line("axis", (left, bottom), (left, top));
        svg.text("small quiet", (right, bottom + 31.0), Anchor::End, names.0);
    }

    pub fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }
}

/// Left, top, right, bottom.
pub type Extent = (f64, f64, f64, f64);

/// Where names of points go: beside them, or as far away as they must so that nothing is covered. Middles of the names, in the order of points.
pub fn free_places(
    points: &[(f64, f64)],
    sizes: &[(f64, f64)],
    within: Extent,
    also: &[Extent],
) -> Vec<(f64, f64)> {
    const POINT: f64 = 5.0;
    let mut taken: Vec<Extent> = points
        .iter()
        .map(|(x, y)| (x - POINT, y - POINT, x + POINT, y + POINT))
        .collect();
    taken.extend(also);
    let mut places = Vec::new();
    for (&(x, y), &(width, height)) in points.iter().zip(sizes) {
        let extent = |(dx, dy): (f64, f64)| {
            let (cx, cy) = (x + dx, y + dy);
            (
                cx - width / 2.0,
                cy - height / 2.0,
                cx + width / 2.0,
                cy + height / 2.0,
            )
        };
        let is_free = |offset: &(f64, f64)| {
            let (left, top, right, bottom) = extent(*offset);
            left >= within.0
                && top >= within.1
                && right <= within.2
                && bottom <= within.3
                && taken
                    .iter()
                    .all(|(l, t, r, b)| right <= *l || *r <= left || bottom <= *t || *b <= top)
        };
        let (beside, over) = (width / 2.0 + 8.0, height / 2.0 + 7.0);
        let near = (0..10).flat_map(|ring| {
            let (far, high) = (f64::from(ring) * 14.0, f64::from(ring) * (height + 1.0));
            [
                (beside + far, 0.0),
                (-beside - far, 0.0),
                (0.0, -over - high),
                (0.0, over + high),
                (beside, -over - high),
                (beside, over + high),
                (-beside, -over - high),
                (-beside, over + high),
            ]
        });
        let offset = near.into_iter().find(is_free).unwrap_or((beside, 0.0));
        taken.push(extent(offset));
        places.push((x + offset.0, y + offset.1));
    }
    places
}

/// Points with their names, and a line to those that are far away.
pub fn named_points(
    svg: &mut Svg,
    points: &[((f64, f64), &str, usize, String)],
    within: Extent,
    also: &[Extent],
) {
    let places: Vec<(f64, f64)> = points.iter().map(|point| point.0).collect();
    let sizes: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (text_width(&point.3, 11.0) + 2.0, 13.0))
        .collect();
    let texts = free_places(&places, &sizes, within, also);
    for ((point, class, form, name), (&(x, y), size)) in points.iter().zip(texts.iter().zip(&sizes))
    {
        let apart = ((x - point.0).abs() - size.0 / 2.0).max((y - point.1).abs() - 8.0);
        if apart > 9.0 {
            let toward = (x.clamp(point.0 - 30.0, point.0 + 30.0), y);
            let near = point.0.clamp(x - size.0 / 2.0, x + size.0 / 2.0);
            let to = if (y - point.1).abs() > 8.0 {
                (near, y)
            } else {
                toward
            };
            svg.line("leader", *point, to);
        }
        svg.mark(class, *form, *point, 4.5);
        svg.text("small", (x, y + 4.0), Anchor::Middle, name);
    }
}

/// Milliseconds behind a bar.
pub fn milliseconds(seconds: f64) -> String {
    format!("{} ms", significant(seconds * 1e3, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_put_their_ends_where_they_are() {
        let axis = Axis::logarithmic(10.0, 110.0, 1.0, 100.0);
        assert_eq!(
            [1.0, 10.0, 100.0].map(|value| axis.at(value)),
            [10.0, 60.0, 110.0]
        );
        // Beyond the ends nothing leaves the picture.
        assert_eq!((axis.at(0.0), axis.at(1e9)), (10.0, 110.0));
        assert_eq!(axis.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        let axis = Axis::linear(0.0, 100.0, 0.0, 60.0);
        assert_eq!(axis.ticks(), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(axis.at(15.0), 25.0);
    }

    #[test]
    fn numbers_on_axes_are_short() {
        let texts = [0.0, 0.5, 20.0, 10000.0, 1e-16].map(tick_text);
        assert_eq!(texts, ["0", "0.5", "20", "10000", "10⁻¹⁶"]);
    }

    #[test]
    fn names_of_points_in_one_place_do_not_cover_each_other() {
        let points = [(100.0, 100.0); 12];
        let size = (40.0, 13.0);
        let places = free_places(&points, &[size; 12], (0.0, 0.0, 400.0, 400.0), &[]);
        for (index, (x, y)) in places.iter().enumerate() {
            for (other_x, other_y) in &places[index + 1..] {
                let apart = (x - other_x).abs() >= size.0 || (y - other_y).abs() >= size.1;
                assert!(apart, "({x}, {y}) and ({other_x}, {other_y})");
            }
            assert!((20.0..=380.0).contains(x) && (6.5..=393.5).contains(y));
        }
    }
}
