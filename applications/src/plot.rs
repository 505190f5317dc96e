//! Plots of the programs: curves over one axis, as SVG.

use ozfft_measure::failure::Failure;
use ozfft_measure::plot::{Area, COLOURS, DrawingError, svg};
use ozfft_measure::report::write_text;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::path::Path;

/// One curve of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub label: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Whether points are marked instead of joined.
    pub marks: bool,
}

impl Curve {
    /// A line.
    pub fn line(label: impl Into<String>, points: Vec<(f64, f64)>) -> Curve {
        Curve {
            label: label.into(),
            points,
            marks: false,
        }
    }

    /// Marks.
    pub fn marks(label: impl Into<String>, points: Vec<(f64, f64)>) -> Curve {
        Curve {
            marks: true,
            ..Curve::line(label, points)
        }
    }
}

/// Which axes are logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scales {
    /// None.
    Linear,
    /// The vertical one.
    LogY,
    /// Both.
    LogLog,
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// Names of the horizontal and vertical axes.
    pub axes: [String; 2],
    /// Which axes are logarithmic.
    pub scales: Scales,
    /// The curves. Points that a logarithmic axis cannot show are left out.
    pub curves: Vec<Curve>,
}

const SIZE: (u32, u32) = (900, 520);

impl Chart {
    /// Writes the chart to a file.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        write_text(path, &format!("{}\n", self.draw()?))
    }

    /// The chart as the text of an SVG file.
    pub fn draw(&self) -> Result<String, Failure> {
        let log_y = self.scales != Scales::Linear;
        let log_x = self.scales == Scales::LogLog;
        let mut chart = self.clone();
        for curve in &mut chart.curves {
            curve.points.retain(|&(x, y)| {
                x.is_finite() && y.is_finite() && (!log_x || x > 0.0) && (!log_y || y > 0.0)
            });
        }
        let points = || chart.curves.iter().flat_map(|curve| &curve.points);
        let x = extent(points().map(|point| point.0), log_x);
        let y = extent(points().map(|point| point.1), log_y);
        svg(SIZE, |area| match self.scales {
            Scales::Linear => chart.draw_on(area, x.0..x.1, y.0..y.1),
            Scales::LogY => chart.draw_on(area, x.0..x.1, (y.0..y.1).log_scale()),
            Scales::LogLog => chart.draw_on(area, (x.0..x.1).log_scale(), (y.0..y.1).log_scale()),
        })
    }

    fn draw_on<X, Y>(&self, area: &Area<'_>, x: X, y: Y) -> Result<(), DrawingError>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut drawn = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(78)
            .build_cartesian_2d(x, y)?;
        drawn
            .configure_mesh()
            .x_desc(&self.axes[0])
            .y_desc(&self.axes[1])
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .bold_line_style(BLACK.mix(0.15))
            .light_line_style(BLACK.mix(0.04))
            .axis_desc_style(("sans-serif", 16))
            .label_style(("sans-serif", 14))
            .draw()?;
        for (curve, &colour) in self.curves.iter().zip(COLOURS.iter().cycle()) {
            let points = curve.points.iter().copied();
            let series = if curve.marks {
                drawn.draw_series(
                    points.map(|point| Circle::new(point, 4, colour.stroke_width(2))),
                )?
            } else {
                drawn.draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            };
            let legend = move |at: (i32, i32)| {
                PathElement::new([at, (at.0 + 20, at.1)], colour.stroke_width(3))
            };
            series.label(&curve.label).legend(legend);
        }
        drawn
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 14))
            .draw()
    }
}

fn number(value: &f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        return format!("{value:.0e}");
    }
    // At most four decimals, without zeros at the end.
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Least and greatest value with a margin.
fn extent(values: impl Iterator<Item = f64>, logarithmic: bool) -> (f64, f64) {
    let fold = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), fold);
    match (least <= most, logarithmic) {
        (false, _) => (1.0, 2.0),
        (true, true) => (least / 1.5, most * 1.5),
        (true, false) => {
            let margin = if most > least {
                0.04 * (most - least)
            } else {
                1.0
            };
            (least - margin, most + margin)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named_on_every_scale() {
        for scales in [Scales::Linear, Scales::LogY, Scales::LogLog] {
            let chart = Chart {
                title: "a title".into(),
                axes: ["time".into(), "energy".into()],
                scales,
                curves: vec![
                    Curve::line("joined", vec![(1.0, 2.0), (2.0, 4.0), (3.0, f64::NAN)]),
                    Curve::marks("single", vec![(1.0, 1.0), (2.0, 0.5)]),
                ],
            };
            let picture = chart.draw().expect("a picture");
            for part in ["a title", "time", "energy", "joined", "single", "<polyline"] {
                assert!(picture.contains(part), "{part} is missing in {picture}");
            }
            assert_eq!(picture.matches("<circle").count(), 2);
        }
        assert_eq!([0.0, 0.5, 1e-7].map(|x| number(&x)), ["0", "0.5", "1e-7"]);
    }
}
