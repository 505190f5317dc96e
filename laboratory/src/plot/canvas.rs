//! A picture whose every word has a known place, so that a test can say that none covers another. Drawn on white, so that it can be read on a dark
//! page, too.

use super::labels::Extent;
use crate::failure::Failure;
use ozfft_measure::plot::svg;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Where words stand relative to their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Center,
    Right,
}

/// Words on one line, at the middle of their height.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub text: String,
    pub at: (i32, i32),
    pub size: i32,
    pub side: Side,
}

impl Label {
    /// The pixels that they take. A letter is three fifths as wide as high at most, on average.
    pub fn extent(&self) -> Extent {
        let width = (0.6 * f64::from(self.size) * self.text.chars().count() as f64).ceil() as i32;
        let (x, y) = self.at;
        let left = match self.side {
            Side::Left => x,
            Side::Center => x - width / 2,
            Side::Right => x - width,
        };
        let half = self.size / 2;
        (left, left + width, y - half, y + half)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Line {
        from: (i32, i32),
        to: (i32, i32),
        colour: RGBAColor,
        dashed: bool,
    },
    Bar {
        corners: [(i32, i32); 2],
        colour: RGBColor,
        /// Or an outline of dashes.
        filled: bool,
    },
    Dot {
        at: (i32, i32),
        colour: RGBColor,
        filled: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    pub size: (i32, i32),
    pub shapes: Vec<Shape>,
    pub labels: Vec<Label>,
}

impl Canvas {
    pub fn new(size: (i32, i32)) -> Canvas {
        Canvas {
            size,
            shapes: Vec::new(),
            labels: Vec::new(),
        }
    }

    pub fn write(&mut self, text: impl Into<String>, at: (i32, i32), size: i32, side: Side) {
        self.labels.push(Label {
            text: text.into(),
            at,
            size,
            side,
        });
    }

    pub fn line(&mut self, from: (i32, i32), to: (i32, i32), colour: RGBAColor, dashed: bool) {
        self.shapes.push(Shape::Line {
            from,
            to,
            colour,
            dashed,
        });
    }

    pub fn bar(&mut self, corners: [(i32, i32); 2], colour: RGBColor, filled: bool) {
        self.shapes.push(Shape::Bar {
            corners,
            colour,
            filled,
        });
    }

    /// The picture as SVG.
    pub fn draw(&self) -> Result<String, Failure> {
        let size = (self.size.0 as u32, self.size.1 as u32);
        Ok(svg(size, |area| {
            for shape in &self.shapes {
                match *shape {
                    Shape::Line {
                        from,
                        to,
                        colour,
                        dashed,
                    } => {
                        for (from, to) in strokes(from, to, dashed) {
                            area.draw(&PathElement::new([from, to], colour.stroke_width(1)))?;
                        }
                    }
                    Shape::Bar {
                        corners,
                        colour,
                        filled: true,
                    } => area.draw(&Rectangle::new(corners, colour.filled()))?,
                    Shape::Bar {
                        corners: [(left, top), (right, bottom)],
                        colour,
                        filled: false,
                    } => {
                        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
                        for side in 0..4 {
                            for (from, to) in strokes(corners[side], corners[(side + 1) % 4], true)
                            {
                                area.draw(&PathElement::new([from, to], colour.stroke_width(2)))?;
                            }
                        }
                    }
                    Shape::Dot {
                        at,
                        colour,
                        filled: true,
                    } => area.draw(&Circle::new(at, 5, colour.filled()))?,
                    Shape::Dot {
                        at,
                        colour,
                        filled: false,
                    } => area.draw(&Circle::new(at, 5, colour.stroke_width(2)))?,
                }
            }
            for label in &self.labels {
                let side = match label.side {
                    Side::Left => HPos::Left,
                    Side::Center => HPos::Center,
                    Side::Right => HPos::Right,
                };
                let style = ("sans-serif", label.size).into_text_style(area);
                let style = style.pos(Pos::new(side, VPos::Center));
                area.draw(&Text::new(label.text.as_str(), label.at, style))?;
            }
            Ok(())
        })?)
    }
}

/// A line, or dashes of six pixels and gaps of four.
fn strokes(from: (i32, i32), to: (i32, i32), dashed: bool) -> Vec<((i32, i32), (i32, i32))> {
    const DASH: f64 = 6.0;
    const PERIOD: f64 = 10.0;
    let (width, height) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let length = width.hypot(height);
    if !dashed || length <= DASH {
        return vec![(from, to)];
    }
    let at = |distance: f64| {
        let part = distance.min(length) / length;
        let shifted = |start: i32, by: f64| start + (part * by).round() as i32;
        (shifted(from.0, width), shifted(from.1, height))
    };
    let count = (length / PERIOD).ceil() as usize;
    let starts = (0..count).map(|number| PERIOD * number as f64);
    starts.map(|start| (at(start), at(start + DASH))).collect()
}

/// For tests: every word lies within the picture, and none covers another.
#[cfg(test)]
pub fn assert_readable(canvas: &Canvas) {
    let extents: Vec<Extent> = canvas.labels.iter().map(Label::extent).collect();
    for (number, extent) in extents.iter().enumerate() {
        let label = &canvas.labels[number];
        let (left, right, top, bottom) = *extent;
        let within = left >= 0 && top >= 0 && right <= canvas.size.0 && bottom <= canvas.size.1;
        assert!(within, "{label:?} is cut off: {extent:?}");
        let mut earlier = extents[..number].iter().zip(&canvas.labels);
        let covered = earlier.find(|(other, _)| !super::labels::apart(extent, other));
        assert!(covered.is_none(), "{label:?} covers {covered:?}");
    }
}
