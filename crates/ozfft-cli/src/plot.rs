//! `ozfft plot`: a record of `ozfft bench` as a picture: time per point over the length, or, of a GPU, times beside cuFFT's.

mod cuda;
mod lengths;

use crate::bench::record::{NamedMeasurement, Record};
use clap::Args;
use ozfft_measure::failure::Failure;
use ozfft_measure::inputs::read_text;
use ozfft_measure::options::parse_shape;
use ozfft_measure::plot::{COLOURS, decade, extent, short_date, svg};
use ozfft_measure::report::write_text;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::{Path, PathBuf};

/// Options of `ozfft plot`.
#[derive(Debug, Args)]
pub struct PlotArguments {
    /// A record of `ozfft bench`
    #[arg(long, value_name = "FILE")]
    record: PathBuf,
    /// The SVG file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// The group of definitions that is drawn [default: curve; of a GPU's record all groups]
    #[arg(long)]
    group: Option<String>,
}

const SIZE: (u32, u32) = (1100, 600);
const LEGEND_WIDTH: u32 = 180;
/// The times of one engine on one substrate.
#[derive(Debug, PartialEq)]
struct Curve {
    label: String,
    /// Number of points of a transform, and nanoseconds per point.
    places: Vec<(f64, f64)>,
}

/// Runs the command.
pub fn run(arguments: &PlotArguments) -> Result<(), Failure> {
    let (record, group) = (&arguments.record, arguments.group.as_deref());
    let picture = match kind(record)? {
        Kind::Gpu => cuda::picture(record, group)?,
        Kind::Processor => picture_of_curves(record, group)?,
    };
    write_text(&arguments.out, &format!("{picture}\n"))?;
    Ok(())
}

/// What a record is of.
enum Kind {
    Processor,
    Gpu,
}

/// Records of GPUs say on which device they were measured. What they have else is for others to check.
fn kind(path: &Path) -> Result<Kind, Failure> {
    let text = read_text(path)?;
    let value: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let has = |key: &str| value.as_ref().is_some_and(|value| value.get(key).is_some());
    if has("ladder") || has("paths") {
        return Err(Failure::Content {
            path: path.to_path_buf(),
            reason:
                "not a record of ozfft bench, but of the laboratory; draw it with `ozfft-lab plot`"
                    .into(),
        });
    }
    Ok(match has("device") {
        true => Kind::Gpu,
        false => Kind::Processor,
    })
}

fn picture_of_curves(path: &Path, group: Option<&str>) -> Result<String, Failure> {
    let record = Record::read(path)?;
    let group = group.unwrap_or("curve");
    let unusable = Failure::content(path);
    let curves = curves(&record.results, group).map_err(unusable)?;
    if curves.is_empty() {
        let mut groups: Vec<&str> = record.results.iter().map(|r| r.group.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        return Err(unusable(match groups.is_empty() {
            true => "it has no results".into(),
            false => format!(
                "it has no results of the group {group:?}; give --group with one of {}",
                groups.join(", ")
            ),
        }));
    }
    let title = format!(
        "{}, {}, ozfft {}",
        record.machine.processor,
        short_date(&record.date),
        record.software.own.ozfft
    );
    draw(&curves, &title)
}

/// The curves of a group, in the order in which the engines appear.
fn curves(results: &[NamedMeasurement], group: &str) -> Result<Vec<Curve>, String> {
    let mut curves: Vec<Curve> = Vec::new();
    for result in results.iter().filter(|result| result.group == group) {
        let measurement = &result.measurement;
        let points: usize = parse_shape(&measurement.shape)?.0.iter().product();
        let place = (points as f64, measurement.ns_per_point);
        let label = label(&measurement.engine, &measurement.substrate);
        match curves.iter_mut().find(|curve| curve.label == label) {
            Some(curve) => curve.places.push(place),
            None => curves.push(Curve {
                label,
                places: vec![place],
            }),
        }
    }
    for curve in &mut curves {
        curve.places.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Ok(curves)
}

fn label(engine: &str, substrate: &str) -> String {
    match engine {
        "digits" => format!("ozfft {substrate}"),
        "rustfft" => "RustFFT".into(),
        "native" => "ozfft native".into(),
        other => other.to_uppercase(),
    }
}

fn draw(curves: &[Curve], title: &str) -> Result<String, Failure> {
    svg(SIZE, |area| {
        // Beside the curves, which would otherwise run behind it sooner or later.
        let (area_of_curves, legend) = area.split_horizontally(SIZE.0 - LEGEND_WIDTH);
        let places = || curves.iter().flat_map(|curve| &curve.places);
        let (shortest, longest) = extent(places().map(|place| place.0));
        let (fastest, slowest) = extent(places().map(|place| place.1));
        // A little beyond the outermost values, so that rounding cannot take away their labels.
        let lengths = shortest / 1.2..longest * 1.2;
        let times = 0.99 * decade(fastest.log10().floor())..1.01 * decade(slowest.log10().ceil());
        let mut chart = ChartBuilder::on(&area_of_curves)
            .caption(title, ("sans-serif", 18))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(lengths.log_scale().base(2.0), times.log_scale())?;
        chart
            .configure_mesh()
            .x_desc("points of one transform")
            .y_desc("time per point in nanoseconds")
            .x_labels(20)
            .x_max_light_lines(0)
            .x_label_formatter(&|points| power_of_two(*points))
            .y_label_formatter(&|time| format!("{time}"))
            .bold_line_style(BLACK.mix(0.2))
            .light_line_style(BLACK.mix(0.07))
            .axis_desc_style(("sans-serif", 16))
            .label_style(("sans-serif", 14))
            .draw()?;
        let beside = Pos::new(HPos::Left, VPos::Center);
        let label_style = ("sans-serif", 14).into_text_style(&legend).pos(beside);
        for (number, curve) in curves.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            chart.draw_series(LineSeries::new(
                curve.places.iter().copied(),
                colour.stroke_width(2),
            ))?;
            let dots = curve.places.iter();
            chart.draw_series(dots.map(|&place| Circle::new(place, 3, colour.filled())))?;
            let height = 60 + 24 * number as i32;
            let stroke = [(4, height), (30, height)];
            legend.draw(&PathElement::new(stroke, colour.stroke_width(2)))?;
            legend.draw(&Circle::new((17, height), 3, colour.filled()))?;
            let text = Text::new(curve.label.as_str(), (38, height), label_style.clone());
            legend.draw(&text)?;
        }
        Ok(())
    })
}

/// `2¹⁰` for 1024.
fn power_of_two(points: f64) -> String {
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let exponent = points.log2().round() as u32;
    let digits = exponent.to_string();
    let raised = digits.chars().filter_map(|digit| {
        let place = digit.to_digit(10)?;
        SUPERSCRIPTS.get(place as usize)
    });
    std::iter::once(&'2').chain(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::result;

    #[test]
    fn curves_are_sorted_by_length_and_of_one_group() {
        let mut other = result("fftw", "fp64", "1024", 3.0);
        other.group = "batched".into();
        let results = [
            result("digits", "scalar", "64", 80.0),
            result("fftw", "fp64", "64", 2.0),
            result("digits", "scalar", "16", 90.0),
            other,
        ];
        let curves = curves(&results, "curve").expect("shapes");
        assert_eq!(curves.len(), 2);
        assert_eq!(curves[0].label, "ozfft scalar");
        assert_eq!(curves[0].places, [(16.0, 90.0), (64.0, 80.0)]);
        assert_eq!(curves[1].label, "FFTW");
    }

    #[test]
    fn the_picture_names_every_curve_and_length() {
        let curve = |label: &str, time: f64| Curve {
            label: label.into(),
            places: (4..=20).map(|k| (f64::from(k).exp2(), time)).collect(),
        };
        let curves = [curve("ozfft scalar", 700.0), curve("FFTW", 0.8)];
        let picture = draw(&curves, "a processor").expect("a picture");
        for part in [
            "<svg",
            "ozfft scalar",
            "FFTW",
            "a processor",
            "2⁴",
            "2²⁰",
            "0.1",
            "1000",
        ] {
            assert!(picture.contains(part), "{part} is missing in {picture}");
        }
    }

    #[test]
    fn a_curve_of_one_point_can_be_drawn() {
        let curve = Curve {
            label: "FFTW".into(),
            places: vec![(1000.0, 1.0)],
        };
        assert!(draw(&[curve], "").is_ok_and(|picture| picture.contains("FFTW")));
    }
}
