//! The paper's Figures 4 and 5: rates of machines over their bandwidth, and floors as lines.

use super::super::Context;
use super::{Figure, PAPER_N, heads, short_name};
use crate::failure::Failure;
use page_model::charts::{Axis, Bar, Bars, Kind, Plane, Row, legend, named_points, tick_text};
use page_model::svg::{Anchor, Svg, text_width};
use roofline::floors::{as_printed, native, native_single, reconstruction};
use roofline::table::significant;
use roofline::{Basis, Machine, Mode, Rate};

const TERA: f64 = 1e12;

fn kind(machine: &Machine) -> Kind {
    match machine.basis {
        Basis::Measured => Kind::Measured,
        _ => Kind::Corrected,
    }
}

/// Bandwidth and a rate in tera; none if one is not known or the machine has no such unit.
fn place(machine: &Machine, mode: Mode, rate: Rate) -> Option<(f64, f64)> {
    let value = machine.rate(mode, rate).ok().filter(|value| *value > 0.0)?;
    Some((machine.bandwidth(mode).ok()? / TERA, value / TERA))
}

fn printed_place(machine: &Machine, rate: Rate) -> Option<(f64, f64)> {
    machine
        .is_in_the_paper()
        .then(|| place(machine, Mode::Printed, rate))
        .flatten()
}

/// A floor: rate over bandwidth, class of its line, name.
type Line = (f64, &'static str, String);

/// Machines on the plane of bandwidth and one rate, with floors. Says where it ends.
fn plane(
    svg: &mut Svg,
    context: &Context,
    rate: Rate,
    top: f64,
    y: (f64, f64),
    lines: &[Line],
) -> f64 {
    let (left, right) = (40.0, svg.width - 8.0);
    // Names of lines are above the plane, beside each other where there is room.
    let (mut x, mut top) = (2.0, top);
    for (_, class, name) in lines {
        let width = 38.0 + text_width(name, 11.0);
        if x > 2.0 && x + width > svg.width {
            (x, top) = (2.0, top + 18.0);
        }
        svg.line(class, (x, top), (x + 28.0, top));
        svg.text("small", (x + 34.0, top + 4.0), Anchor::Start, name);
        x += width + 14.0;
    }
    top += 22.0;
    let height = if svg.width > 500.0 { 330.0 } else { 300.0 };
    let plane = Plane {
        x: Axis::logarithmic(left, right, 0.5, 40.0),
        y: Axis::logarithmic(top + height, top + 20.0, y.0, y.1),
    };
    plane.draw(
        svg,
        ("memory, TB/s", &format!("{}, TFLOP/s", rate.title())),
        &tick_text,
    );
    let mut also = Vec::new();
    for (slope, class, _) in lines {
        let low = (plane.y.low / slope).max(plane.x.low);
        let high = (plane.y.high / slope).min(plane.x.high);
        svg.polyline(
            class,
            &[plane.at((low, low * slope)), plane.at((high, high * slope))],
        );
        // Labels avoid the line by small pieces of it.
        for step in 0..60 {
            let x = low * (high / low).powf(f64::from(step) / 60.0);
            let (x, y) = plane.at((x, x * slope));
            also.push((x - 2.0, y - 2.0, x + 2.0, y + 2.0));
        }
    }
    let mut points = Vec::new();
    for machine in &context.machines {
        let printed = printed_place(machine, rate).map(|place| plane.at(place));
        let now = place(machine, Mode::Corrected, rate).map(|place| plane.at(place));
        if let (Some(printed), Some(now)) = (printed, now) {
            svg.line("leader", printed, now);
            svg.mark("printed", Kind::Printed.form(), printed, 4.5);
            also.push((
                printed.0 - 6.0,
                printed.1 - 6.0,
                printed.0 + 6.0,
                printed.1 + 6.0,
            ));
        }
        let kind = now.map_or(Kind::Printed, |_| kind(machine));
        if let Some(place) = now.or(printed) {
            points.push((place, kind.class(), kind.form(), short_name(machine)));
        }
    }
    named_points(
        svg,
        &points,
        (left + 2.0, top + 22.0, right, top + height - 2.0),
        &also,
    );
    top + height + 38.0
}

fn rows(context: &Context, rate: Rate, floor: f64, printed_floor: f64) -> Vec<Vec<String>> {
    let text = |value: Option<f64>, digits| {
        value.map_or_else(|| "–".into(), |value| significant(value, digits))
    };
    let row = |machine: &Machine| {
        let printed = printed_place(machine, rate);
        let now = place(machine, Mode::Corrected, rate);
        vec![
            machine.title.clone(),
            text(printed.map(|place| place.0), 3),
            text(printed.map(|place| place.1), 3),
            text(
                printed.map(|(bandwidth, rate)| rate / (printed_floor * bandwidth)),
                2,
            ),
            text(now.map(|place| place.0), 3),
            text(now.map(|place| place.1), 3),
            text(now.map(|(bandwidth, rate)| rate / (floor * bandwidth)), 2),
        ]
    };
    context.machines.iter().map(row).collect()
}

const COLUMNS: [&str; 7] = [
    "machine",
    "printed TB/s",
    "printed TFLOP/s",
    "printed, of floor",
    "TB/s",
    "TFLOP/s",
    "of floor",
];
const LEGEND: [(Kind, &str); 3] = [
    (Kind::Printed, "figures of the paper"),
    (Kind::Corrected, "public specifications"),
    (Kind::Measured, "measured by ozfft probe"),
];

/// Figure 4.
pub fn fp64(context: &Context, width: f64) -> Result<Figure, Failure> {
    let floor = native(PAPER_N);
    let lines = [
        (
            floor,
            "roof",
            format!("floor 1, native: {}·B", significant(floor, 3)),
        ),
        (
            reconstruction(18.0, 1.0, 11.0),
            "floor",
            format!(
                "floor 2, FP64 sum: {}·B",
                significant(reconstruction(18.0, 1.0, 11.0), 3)
            ),
        ),
    ];
    let mut svg = Svg::new(width);
    let top = legend(&mut svg, 0.0, &LEGEND, true);
    svg.height = plane(
        &mut svg,
        context,
        Rate::Fp64,
        top + 8.0,
        (0.2, 150.0),
        &lines,
    );
    Ok(Figure {
        title: "Figure 4: FP64 units against memory".into(),
        description: "A logarithmic plane: memory bandwidth to the right, rate of FP64 vector units upwards, and two lines of machines whose transforms would just keep memory busy. H100, H200, B200 and MI300X are above both lines, Rubin is on the first, \
                      B300 and consumer cards are far below."
            .into(),
        caption: "Above the solid line a native transform of 1024³ runs at the speed of memory, and nothing has to be emulated. A short line joins what the paper says of a machine with what public documents say."
            .into(),
        columns: heads(&COLUMNS),
        rows: rows(context, Rate::Fp64, floor, as_printed(Rate::Fp64, floor)),
        svg,
    })
}

/// Figure 5.
pub fn fp32(context: &Context, width: f64) -> Result<Figure, Failure> {
    let double = native(PAPER_N);
    let rounded = as_printed(Rate::Fp64, double);
    let single = native_single(PAPER_N);
    let bars_of = |rate: Rate, floor: f64| -> Vec<Row> {
        let row = |machine: &Machine| {
            let ratio = |place: Option<(f64, f64)>, floor: f64| {
                place.map(|(bandwidth, rate)| rate / (floor * bandwidth))
            };
            // Equation 23 has the coefficient of double precision for both.
            let by_kind = [
                (Kind::Printed, ratio(printed_place(machine, rate), rounded)),
                (
                    kind(machine),
                    ratio(place(machine, Mode::Corrected, rate), floor),
                ),
            ];
            let bars = by_kind.into_iter().filter_map(|(kind, value)| {
                let value = value?;
                Some(Bar {
                    kind,
                    value,
                    until: None,
                    label: format!("{}×", significant(value, 2)),
                })
            });
            Row {
                label: short_name(machine),
                bars: bars.collect(),
            }
        };
        let rows = context.machines.iter().map(row);
        rows.filter(|row| !row.bars.is_empty()).collect()
    };
    let wide = width > 500.0;
    let mut svg = Svg::new(width);
    let top = legend(&mut svg, 0.0, &LEGEND, false);
    let (double_rows, single_rows) = (bars_of(Rate::Fp64, double), bars_of(Rate::Fp32, single));
    let panel = |title: &'static str, rows, left: f64, top: f64| Bars {
        title,
        left,
        top,
        width: if wide { 0.48 * width } else { width },
        label_width: 74.0,
        low: 0.03,
        high: 50.0,
        logarithmic: true,
        rows,
        references: &[(1.0, "memory speed")],
    };
    let first = panel(
        "FP64: what machines have of the floor",
        &double_rows,
        0.0,
        top,
    )
    .draw(&mut svg);
    let (left, below) = if wide {
        (0.52 * width, top)
    } else {
        (0.0, first + 12.0)
    };
    let second = panel(
        "FP32: what machines have of the floor",
        &single_rows,
        left,
        below,
    )
    .draw(&mut svg);
    let lines = [
        (
            single,
            "roof",
            format!("native in FP32: {}·B", significant(single, 3)),
        ),
        (
            rounded,
            "floor",
            format!("as printed (eq. 23): {rounded}·B"),
        ),
    ];
    let below = legend(&mut svg, first.max(second) + 12.0, &LEGEND, true);
    svg.height = plane(
        &mut svg,
        context,
        Rate::Fp32,
        below + 12.0,
        (5.0, 300.0),
        &lines,
    );
    let mut cells = rows(context, Rate::Fp32, single, rounded);
    for (row, double) in cells
        .iter_mut()
        .zip(rows(context, Rate::Fp64, double, rounded))
    {
        row.push(double[3].clone());
        row.push(double[6].clone());
    }
    let mut columns = heads(&COLUMNS);
    columns.extend(heads(&["FP64, printed, of floor", "FP64, of floor"]));
    Ok(Figure {
        title: "Figure 5: the same question in single precision".into(),
        description: "Bars on a logarithmic axis: what machines have of the rate that keeps memory busy, in FP64 and in FP32, and below the plane of bandwidth and FP32 rate. A B300 has a tenth of what it needs in FP64 and, as printed, six times what it needs in FP32; \
                      with half the bytes of single precision counted it is three times."
            .into(),
        caption: "Single precision moves half the bytes and computes as much, so its floor is twice that of double precision: 15 log₂N / 48 operations a byte. The paper prints the same 1.56 for both. Machines whose FP32 rate is known are above both lines."
            .into(),
        columns,
        rows: cells,
        svg,
    })
}
