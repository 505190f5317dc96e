//! The paper's Figure 1: wall times of 1024³ by path.

use super::super::Context;
use super::{Figure, corrected, heads, measured_path, short_name, time_text};
use crate::failure::Failure;
use page_model::charts::{Bar, Bars, Kind, Row, legend, milliseconds};
use page_model::svg::Svg;
use roofline::paths::Variant;
use roofline::table::significant;

/// Where the paper prints a number, and what it is.
pub type Place = (&'static str, &'static str);
/// Machine, variant, and where the paper prints its time.
const ROWS: [(&str, Variant, Option<Place>); 13] = [
    (
        "b200",
        Variant::Native,
        Some(("Figure 1", "native on B200")),
    ),
    (
        "rubin",
        Variant::Native,
        Some(("Figure 1", "native on Rubin, \"memory-bound\"")),
    ),
    (
        "b300-plus",
        Variant::Native,
        Some(("Figure 1", "native on B300+")),
    ),
    (
        "b300",
        Variant::Native,
        Some(("Figure 1", "native on B300")),
    ),
    ("b300", Variant::Garner, Some(GARNER)),
    ("b300", Variant::Fp64Sum, Some(FP64_SUM)),
    ("b300", Variant::Kulisch32, Some(KULISCH)),
    ("b300", Variant::Digits, None),
    ("h200", Variant::Native, None),
    ("h200", Variant::Garner, None),
    ("h200", Variant::Fp64Sum, None),
    ("h200", Variant::Kulisch32, None),
    ("h200", Variant::Digits, None),
];
/// Where times of variants on a B300 are printed.
pub const GARNER: Place = ("4.1, wall-time summary", "recursive Garner on B300");
pub const FP64_SUM: Place = ("eq. 13", "phase B in FP64 on B300");
pub const KULISCH: Place = ("eq. 14", "whole transform by Kulisch on B300");

/// A variant in few words.
pub fn variant_label(variant: Variant) -> &'static str {
    match variant {
        Variant::Native => "native FP64",
        Variant::Garner => "recursive Garner",
        Variant::Fp64Sum => "FP64 sum",
        Variant::Sum2 => "Sum2 in FP64",
        Variant::DoubleSingle => "pairs of FP32",
        Variant::SingleKahan => "FP32 and Kahan",
        Variant::Bernstein => "Bernstein in FP64",
        Variant::Kulisch32 => "Kulisch, 32-bit words",
        Variant::Kulisch16 => "Kulisch, 16-bit words",
        Variant::Kulisch8 => "Kulisch, 8-bit words",
        Variant::Fp8Only => "Kulisch on FP8 units",
        Variant::Digits => "digits (not in the paper)",
        Variant::BluesteinNtt => "Bluestein and NTTs",
    }
}

pub fn figure(context: &Context, width: f64) -> Result<Figure, Failure> {
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    for (name, variant, place) in ROWS {
        let machine = context.machine(name)?;
        let printed = match place {
            Some((place, what)) => Some(context.printed(place, what)? / 1e3),
            None => None,
        };
        let model = corrected(machine, variant)?;
        let is_measured = machine.title.contains(&context.record.device);
        let measured = measured_path(&context.record, variant)
            .filter(|_| is_measured)
            .and_then(|path| path.seconds);
        let mut bars = Vec::new();
        let mut bar = |kind, value: f64, until| {
            bars.push(Bar {
                kind,
                value: value * 1e3,
                until,
                label: milliseconds(value),
            });
        };
        if let Some(printed) = printed {
            bar(Kind::Printed, printed, None);
        }
        if let Some(model) = &model {
            bar(Kind::Corrected, model.overlapped, Some(model.serial * 1e3));
        }
        if let Some(measured) = measured {
            bar(Kind::Measured, measured, None);
        }
        let label = format!("{}, {}", short_name(machine), variant_label(variant));
        cells.push(vec![
            label.clone(),
            time_text(printed),
            time_text(model.as_ref().map(|model| model.overlapped)),
            time_text(model.as_ref().map(|model| model.serial)),
            time_text(measured),
        ]);
        rows.push(Row { label, bars });
    }
    let mut svg = Svg::new(width);
    let wide = width > 500.0;
    let top = legend(
        &mut svg,
        0.0,
        &[
            (Kind::Printed, "as printed in the paper"),
            (
                Kind::Corrected,
                if wide {
                    "corrected model: units side by side; line: one after the other"
                } else {
                    "corrected; line: without overlap"
                },
            ),
            (Kind::Measured, "measured, H200"),
        ],
        false,
    );
    let bottom = Bars {
        title: "",
        left: 0.0,
        top,
        width,
        label_width: if wide { 200.0 } else { 0.0 },
        low: 1.0,
        high: 1000.0,
        logarithmic: true,
        rows: &rows,
        references: &[],
    }
    .draw(&mut svg);
    svg.height = bottom;
    let kulisch = measured_path(&context.record, Variant::Kulisch32).and_then(|path| path.seconds);
    let least =
        corrected(context.machine("b300")?, Variant::Kulisch32)?.map(|model| model.overlapped);
    let native = measured_path(&context.record, Variant::Native).and_then(|path| path.seconds);
    let ratio = kulisch.zip(native).map(|(a, b)| significant(a / b, 2));
    Ok(Figure {
        title: "Figure 1: wall times of 1024³ by path, milliseconds".into(),
        description: format!(
            "Bars on a logarithmic axis from 1 to 1000 milliseconds. As printed, a B300 takes 124 ms natively, 260 by recursive Garner, 163 with a sum in FP64 and 18 by Kulisch. \
             Corrected counts make that last one at least {}. Measured on an H200: native {}, Kulisch {}.",
            time_text(least),
            time_text(native),
            time_text(kulisch)
        ),
        caption: format!(
            "The paper's bars are projections for machines nobody here has; the measured ones are from one H200 ({}), which has its FP64 units. What can be compared across them is the distance between paths: Kulisch takes {} times the native time when it is measured, because quantising, decomposing, reducing and rotating are work, too. A corrected bar assumes every unit at its peak and perfectly overlapped: it is a lower bound.",
            context.record.date.split('T').next().unwrap_or_default(),
            ratio.unwrap_or_else(|| "–".into())
        ),
        columns: heads(&[
            "machine and path",
            "as printed",
            "corrected, all at once",
            "corrected, one after the other",
            "measured",
        ]),
        rows: cells,
        svg,
    })
}
