//! What was measured over N: errors against native libraries, and times on a CPU and a GPU. From committed records.

use super::{Figure, heads};
use crate::failure::Failure;
use ozfft_measure::report::{bound_text, error_text};
use page_model::charts::{Axis, Extent, Plane, free_places, raised, tick_text};
use page_model::svg::{Anchor, Svg, text_width};
use roofline::table::significant;
use serde::Deserialize;

const ACCURACY: (&str, &str) = (
    "2026-11-15-emerald-rapids-accuracy.json",
    include_str!("../../../records/2026-11-15-emerald-rapids-accuracy.json"),
);
const CPU: (&str, &str) = (
    "2026-11-15-emerald-rapids.json",
    include_str!("../../../../benchmarks/records/2026-11-15-emerald-rapids.json"),
);
const GPU: (&str, &str) = (
    "2026-11-15-h200.json",
    include_str!("../../../../benchmarks/records/2026-11-15-h200.json"),
);

/// Values over N.
struct Curve {
    name: String,
    /// `own`, `other` or `limit`.
    class: &'static str,
    form: usize,
    places: Vec<(f64, f64)>,
    /// Whether they are joined.
    joined: bool,
}

struct Chart<'a> {
    curves: &'a [Curve],
    y: Axis,
    names: (&'a str, &'a str),
    x: (f64, f64),
}

fn power_of_two(value: f64) -> String {
    format!("2{}", raised(value.log2().round() as i32))
}

impl Chart<'_> {
    /// Names stand behind the last point of a curve, on a phone in a legend below.
    fn draw(&self, svg: &mut Svg) {
        let wide = svg.width > 500.0;
        let room = if wide { 128.0 } else { 8.0 };
        let (left, right) = (48.0, svg.width - room);
        let plane = Plane {
            x: Axis::logarithmic(left, right, self.x.0, self.x.1),
            y: self.y,
        };
        let top = self.y.to;
        let bottom = self.y.from;
        svg.text("small quiet", (0.0, top - 8.0), Anchor::Start, self.names.1);
        let powers = (self.x.0.log2().ceil() as i32)..=(self.x.1.log2().floor() as i32);
        let step = if wide { 1 } else { 2 };
        for power in powers.step_by(step) {
            let x = plane.x.at(f64::from(power).exp2());
            svg.line("grid", (x, bottom), (x, top));
            svg.text(
                "small quiet",
                (x, bottom + 15.0),
                Anchor::Middle,
                &power_of_two(f64::from(power).exp2()),
            );
        }
        for tick in plane.y.ticks() {
            let y = plane.y.at(tick);
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
        svg.text(
            "small quiet",
            (right, bottom + 31.0),
            Anchor::End,
            self.names.0,
        );
        let mut ends = Vec::new();
        for curve in self.curves {
            let places: Vec<(f64, f64)> =
                curve.places.iter().map(|place| plane.at(*place)).collect();
            if curve.joined {
                svg.polyline(&format!("curve {}", curve.class), &places);
            }
            for place in &places {
                svg.mark(&format!("dot {}", curve.class), curve.form, *place, 3.2);
            }
            if let Some(last) = places.last().filter(|_| !curve.name.is_empty()) {
                ends.push((*last, curve));
            }
        }
        svg.height = bottom + 40.0;
        if wide {
            self.names_behind(svg, &ends, right);
        } else {
            self.names_below(svg);
        }
    }

    fn names_behind(&self, svg: &mut Svg, ends: &[((f64, f64), &Curve)], right: f64) {
        let points: Vec<(f64, f64)> = ends.iter().map(|(end, _)| (right, end.1)).collect();
        let sizes: Vec<(f64, f64)> = ends
            .iter()
            .map(|(_, curve)| (text_width(&curve.name, 11.0) + 14.0, 14.0))
            .collect();
        let within: Extent = (right + 2.0, 0.0, svg.width + 200.0, svg.height);
        let places = free_places(&points, &sizes, within, &[]);
        // All begin at the same place; only heights are taken over.
        for ((_, curve), place) in ends.iter().zip(places) {
            svg.mark(
                &format!("dot {}", curve.class),
                curve.form,
                (right + 12.0, place.1),
                3.2,
            );
            svg.text(
                "small",
                (right + 20.0, place.1 + 4.0),
                Anchor::Start,
                &curve.name,
            );
        }
    }

    fn names_below(&self, svg: &mut Svg) {
        let (mut x, mut y) = (4.0, svg.height + 12.0);
        for curve in self.curves.iter().filter(|curve| !curve.name.is_empty()) {
            let width = 24.0 + text_width(&curve.name, 11.0);
            if x > 4.0 && x + width > svg.width {
                (x, y) = (4.0, y + 18.0);
            }
            svg.mark(
                &format!("dot {}", curve.class),
                curve.form,
                (x + 4.0, y - 4.0),
                3.2,
            );
            svg.text("small", (x + 12.0, y), Anchor::Start, &curve.name);
            x += width + 6.0;
        }
        svg.height = y + 8.0;
    }
}

fn unreadable(file: &str, reason: impl std::fmt::Display) -> Failure {
    Failure::Check(format!("{file}, which the report is made from: {reason}"))
}

#[derive(Deserialize)]
struct AccuracyRecord {
    results: Vec<AccuracyResult>,
}

/// A row of `ozfft-lab table --record`.
#[derive(Deserialize)]
struct AccuracyResult {
    shape: String,
    truncated_l2: f64,
    truncated_bound: f64,
    native_l2: f64,
    fftw_l2: Option<f64>,
    floor_l2: f64,
}

impl AccuracyResult {
    /// In the order of the figure's curves.
    fn errors(&self) -> [Option<f64>; 5] {
        [
            Some(self.truncated_l2),
            Some(self.truncated_bound),
            Some(self.native_l2),
            self.fftw_l2,
            Some(self.floor_l2),
        ]
    }

    /// The same for people: the bound, the second of them, is rounded up.
    fn texts(&self) -> [String; 5] {
        let mut texts = self
            .errors()
            .map(|error| error.map_or("–".into(), error_text));
        texts[1] = bound_text(self.truncated_bound);
        texts
    }
}

/// Errors over N.
pub fn accuracy(width: f64) -> Result<Figure, Failure> {
    let record: AccuracyRecord = parsed(ACCURACY)?;
    let series = [
        ("ozfft", "own", 0),
        ("ozfft, proven", "own", 5),
        ("RustFFT", "other", 1),
        ("FFTW", "other", 3),
        ("one rounding", "limit", 2),
    ];
    let mut curves = Vec::new();
    for (index, (name, class, form)) in series.into_iter().enumerate() {
        // Cubes are in the table only.
        let place =
            |result: &AccuracyResult| Some((result.shape.parse().ok()?, result.errors()[index]?));
        let mut places: Vec<(f64, f64)> = record.results.iter().filter_map(place).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        curves.extend(parted(Curve {
            name: name.into(),
            class,
            form,
            places,
            joined: true,
        }));
    }
    let mut svg = Svg::new(width);
    let chart = Chart {
        curves: &curves,
        y: Axis::logarithmic(300.0, 22.0, 2e-17, 1e-14),
        names: ("points of a transform", "relative L2 error"),
        x: (40.0, 2f64.powi(21)),
    };
    chart.draw(&mut svg);
    Ok(Figure {
        title: "Accuracy over N".into(),
        description: format!(
            "Relative L2 errors over the length of a transform, logarithmic. {}.",
            ranges(&curves)
        ),
        caption: format!(
            "Random input, all outputs, against the exact transform. Powers of two are joined; points beside them are primes and 10⁶, which are harder for native libraries. Rows with several axes are in the table only. From laboratory/records/{}.",
            ACCURACY.0
        ),
        columns: heads(&[
            "shape",
            "ozfft L2",
            "proven bound",
            "RustFFT L2",
            "FFTW L2",
            "one rounding L2",
        ]),
        rows: record.results.iter().map(cells).collect(),
        svg,
    })
}

fn cells(result: &AccuracyResult) -> Vec<String> {
    std::iter::once(result.shape.clone())
        .chain(result.texts())
        .collect()
}

#[derive(Deserialize)]
struct CpuRecord {
    date: String,
    machine: CpuMachine,
    results: Vec<CpuResult>,
}

#[derive(Deserialize)]
struct CpuMachine {
    processor: String,
}

#[derive(Deserialize)]
struct CpuResult {
    group: String,
    shape: String,
    engine: String,
    substrate: String,
    ns_per_point: f64,
}

#[derive(Deserialize)]
struct GpuRecord {
    date: String,
    device: GpuDevice,
    results: Vec<GpuResult>,
}

#[derive(Deserialize)]
struct GpuDevice {
    name: String,
}

#[derive(Deserialize)]
struct GpuResult {
    group: String,
    shape: String,
    kind: String,
    precision: String,
    accuracy: String,
    engine: String,
    variant: String,
    median_ms: f64,
    points: f64,
}

fn parsed<T: for<'a> Deserialize<'a>>((file, text): (&str, &str)) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| unreadable(file, error))
}

/// Powers of two as a curve, other lengths as points beside it: they are computed otherwise.
fn parted(curve: Curve) -> [Curve; 2] {
    let (powers, others) = curve
        .places
        .into_iter()
        .partition(|(n, _): &(f64, f64)| n.log2().fract() == 0.0);
    let of = |name: String, places, joined| Curve {
        name,
        class: curve.class,
        form: curve.form,
        places,
        joined,
    };
    [
        of(curve.name, powers, true),
        of(String::new(), others, false),
    ]
}

/// Every curve in words: its least and its largest value.
fn ranges(curves: &[Curve]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for (index, curve) in curves.iter().enumerate() {
        if curve.name.is_empty() {
            continue;
        }
        // Points beside a curve follow it.
        let beside = curves[index + 1..]
            .iter()
            .take_while(|next| next.name.is_empty());
        let places = curve
            .places
            .iter()
            .chain(beside.flat_map(|next| &next.places));
        let values = places.map(|place| place.1);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        texts.push(format!(
            "{}: {} to {}",
            curve.name,
            significant(least, 2),
            significant(most, 2)
        ));
    }
    texts.join("; ")
}

/// Puts a value to the curve of its name, which is made where it is missing.
fn put(curves: &mut Vec<Curve>, name: &str, class: &'static str, place: (f64, f64)) {
    let known = curves.iter().position(|curve| curve.name == name);
    let index = known.unwrap_or_else(|| {
        curves.push(Curve {
            name: name.into(),
            class,
            form: curves.len(),
            places: Vec::new(),
            joined: true,
        });
        curves.len() - 1
    });
    curves[index].places.push(place);
}

fn columns_of(curves: &[Curve], unit: &str) -> Vec<String> {
    let names = curves.iter().map(|curve| format!("{}, {unit}", curve.name));
    std::iter::once("N".into()).chain(names).collect()
}

/// Lengths as rows, curves as columns.
fn table_of(curves: &[Curve]) -> Vec<Vec<String>> {
    let mut lengths: Vec<f64> = curves
        .iter()
        .flat_map(|curve| curve.places.iter().map(|place| place.0))
        .collect();
    lengths.sort_by(f64::total_cmp);
    lengths.dedup();
    let row = |n: f64| {
        let value = |curve: &Curve| {
            let found = curve.places.iter().find(|place| place.0 == n);
            found.map_or_else(|| "–".into(), |place| significant(place.1, 3))
        };
        std::iter::once(format!("{n}"))
            .chain(curves.iter().map(value))
            .collect()
    };
    lengths.into_iter().map(row).collect()
}

/// Times on a CPU.
pub fn time(width: f64) -> Result<Figure, Failure> {
    let record: CpuRecord = parsed(CPU)?;
    let mut curves = Vec::new();
    for result in record
        .results
        .iter()
        .filter(|result| result.group == "curve")
    {
        let n: f64 = result
            .shape
            .parse()
            .map_err(|error| unreadable(CPU.0, error))?;
        let (name, class) = match (result.engine.as_str(), result.substrate.as_str()) {
            ("digits", "amx") => ("ozfft, AMX", "own"),
            ("digits", "avx512-vnni") => ("ozfft, AVX-512", "own"),
            ("digits", "avx2") => ("ozfft, AVX2", "own"),
            ("rustfft", _) => ("RustFFT", "other"),
            ("fftw", _) => ("FFTW", "other"),
            ("mkl", _) => ("MKL", "other"),
            _ => continue,
        };
        put(&mut curves, name, class, (n, result.ns_per_point));
    }
    curves
        .iter_mut()
        .for_each(|curve| curve.places.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let mut svg = Svg::new(width);
    let chart = Chart {
        curves: &curves,
        y: Axis::logarithmic(320.0, 22.0, 0.5, 200.0),
        names: ("points of a transform", "nanoseconds a point, one thread"),
        x: (13.0, 1.3 * 2f64.powi(20)),
    };
    chart.draw(&mut svg);
    let columns = columns_of(&curves, "ns");
    Ok(Figure {
        title: "Time over N on a CPU".into(),
        description: format!(
            "Nanoseconds a point over the length of a transform from 16 to 2²⁰ points, logarithmic. {}.",
            ranges(&curves)
        ),
        caption: format!(
            "{}, one thread, {}: what exactness and equal bits cost on a processor, whose double-precision units are as fast as its memory needs. From benchmarks/records/{}.",
            record.machine.processor,
            record.date.split('T').next().unwrap_or_default(),
            CPU.0
        ),
        columns,
        rows: table_of(&curves),
        svg,
    })
}

/// Times on a GPU.
pub fn time_gpu(width: f64) -> Result<Figure, Failure> {
    let record: GpuRecord = parsed(GPU)?;
    let mut curves = Vec::new();
    let wanted = |result: &&GpuResult| {
        result.group == "batched"
            && result.kind == "c2c"
            && result.precision == "double"
            && result.accuracy == "double"
    };
    for result in record.results.iter().filter(wanted) {
        let Ok(n) = result.shape.parse::<f64>() else {
            continue;
        };
        let (name, class) = match (result.engine.as_str(), result.variant.as_str()) {
            ("ozfft", "auto") => ("ozfft", "own"),
            ("ozfft", "integers-only") => ("ozfft, no FP64", "own"),
            ("ozfft", "fp8-wgmma") => ("ozfft on FP8", "own"),
            ("cufft", _) => ("cuFFT", "other"),
            ("copy", _) => ("a copy", "limit"),
            _ => continue,
        };
        put(
            &mut curves,
            name,
            class,
            (n, result.median_ms * 2f64.powi(30) / result.points),
        );
    }
    curves
        .iter_mut()
        .for_each(|curve| curve.places.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let most = curves
        .iter()
        .flat_map(|curve| curve.places.iter().map(|place| place.1))
        .fold(0.0, f64::max);
    let (columns, rows) = (columns_of(&curves, "ms"), table_of(&curves));
    let curves: Vec<Curve> = curves.into_iter().flat_map(parted).collect();
    let mut svg = Svg::new(width);
    let chart = Chart {
        curves: &curves,
        y: Axis::linear(320.0, 22.0, 0.0, 1.05 * most),
        names: ("points of a transform", "milliseconds for 2³⁰ points"),
        x: (110.0, 4800.0),
    };
    chart.draw(&mut svg);
    Ok(Figure {
        title: "Time over N on a GPU".into(),
        description: format!(
            "Milliseconds for 2³⁰ points in transforms of 128 to 4096 points. {}.",
            ranges(&curves)
        ),
        caption: format!(
            "{}, {}: batches of about 2³⁰ points, complex double precision. A copy reads and writes every number once, and nothing can be faster. Lengths without a kernel of their own, such as 2048, run on a general one. From benchmarks/records/{}.",
            record.device.name,
            record.date.split('T').next().unwrap_or_default(),
            GPU.0
        ),
        columns,
        rows,
        svg,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_errors_is_what_the_document_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/accuracy.md");
        let document = std::fs::read_to_string(path).expect("the document");
        let record: AccuracyRecord = parsed(ACCURACY).expect("the record");
        assert_eq!(record.results.len(), 12);
        for result in &record.results {
            let start = format!("| {} | ", result.shape);
            let line = document.lines().find(|line| line.starts_with(&start));
            let line = line.unwrap_or_else(|| panic!("no row {}", result.shape));
            for text in result.texts() {
                assert!(line.contains(&format!("| {text} |")), "{text} in {line}");
            }
        }
    }
}
