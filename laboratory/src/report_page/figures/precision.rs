//! The paper's Figure 2: what a reconstruction costs, and the bits it keeps.

use super::super::Context;
use super::walltime::{FP64_SUM, GARNER, KULISCH, Place, variant_label};
use super::{Figure, corrected, heads, measured_path, time_text};
use crate::failure::Failure;
use page_model::charts::{Bar, Bars, Kind, Row, legend, milliseconds};
use page_model::svg::Svg;
use roofline::paths::Variant;
use roofline::table::significant;

/// A variant, where the paper prints its time on a B300, and the bits it prints (Figure 2, C.1, C.2; appendix B for Bernstein).
type Scheme = (Variant, Option<Place>, Option<f64>);
const SCHEMES: [Scheme; 8] = [
    (Variant::Garner, Some(GARNER), Some(53.0)),
    (Variant::Fp64Sum, Some(FP64_SUM), Some(53.0)),
    (Variant::Sum2, Some(("C.1", "Sum2 on B300")), Some(53.0)),
    (
        Variant::DoubleSingle,
        Some(("C.1", "DD on FP32")),
        Some(48.0),
    ),
    (
        Variant::SingleKahan,
        Some(("C.1", "FP32 and Kahan")),
        Some(18.0),
    ),
    (
        Variant::Bernstein,
        Some(("C.1", "Bernstein in FP64")),
        Some(43.0),
    ),
    (Variant::Kulisch32, Some(KULISCH), Some(53.0)),
    (Variant::Digits, None, None),
];

pub fn figure(context: &Context, width: f64) -> Result<Figure, Failure> {
    let b300 = context.machine("b300")?;
    let (mut times, mut precisions, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for (variant, place, printed_bits) in SCHEMES {
        let printed = match place {
            Some((place, what)) => Some(context.printed(place, what)? / 1e3),
            None => None,
        };
        let model = corrected(b300, variant)?.map(|model| model.overlapped);
        let path = measured_path(&context.record, variant);
        let seconds = path.and_then(|path| path.seconds);
        let bits = path.and_then(|path| path.l2).map(|l2| -l2.log2());
        let by_kind = [
            (Kind::Printed, printed),
            (Kind::Corrected, model),
            (Kind::Measured, seconds),
        ];
        let bars = by_kind.into_iter().filter_map(|(kind, seconds)| {
            let seconds = seconds?;
            Some(Bar {
                kind,
                value: seconds * 1e3,
                until: None,
                label: milliseconds(seconds),
            })
        });
        let label = variant_label(variant).to_string();
        times.push(Row {
            label: label.clone(),
            bars: bars.collect(),
        });
        let by_kind = [(Kind::Printed, printed_bits), (Kind::Measured, bits)];
        let bars = by_kind.into_iter().filter_map(|(kind, bits)| {
            let bits = bits?;
            Some(Bar {
                kind,
                value: bits,
                until: None,
                label: format!("{bits:.0} bits"),
            })
        });
        precisions.push(Row {
            label: label.clone(),
            bars: bars.collect(),
        });
        let bits_text =
            |bits: Option<f64>| bits.map_or_else(|| "–".into(), |bits| format!("{bits:.1}"));
        cells.push(vec![
            label,
            time_text(printed),
            time_text(model),
            time_text(seconds),
            bits_text(printed_bits),
            bits_text(bits),
        ]);
    }
    let wide = width > 500.0;
    let mut svg = Svg::new(width);
    let top = legend(
        &mut svg,
        0.0,
        &[
            (Kind::Printed, "as printed, B300"),
            (Kind::Corrected, "corrected model, B300"),
            (Kind::Measured, "measured, H200"),
        ],
        false,
    );
    let label_width = if wide { 160.0 } else { 0.0 };
    let left = Bars {
        title: "Time, milliseconds",
        left: 0.0,
        top,
        width: if wide { 0.62 * width } else { width },
        label_width,
        low: 1.0,
        high: 5000.0,
        logarithmic: true,
        rows: &times,
        references: &[],
    };
    let bottom = left.draw(&mut svg);
    let right = Bars {
        title: "Precision, bits of the result",
        left: if wide { 0.65 * width } else { 0.0 },
        top: if wide { top } else { bottom + 14.0 },
        width: if wide { 0.35 * width } else { width },
        label_width: 0.0,
        low: 0.0,
        high: 60.0,
        logarithmic: false,
        rows: &precisions,
        references: &[],
    };
    let lower = right.draw(&mut svg);
    svg.height = bottom.max(lower);
    // Without digits, which the paper does not have.
    let spread = |kind: Kind| {
        let values = times[..times.len() - 1].iter().flat_map(|row| &row.bars);
        let values = values.filter(|bar| bar.kind == kind).map(|bar| bar.value);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        (least, values.fold(0.0, f64::max))
    };
    let (printed, measured) = (spread(Kind::Printed), spread(Kind::Measured));
    Ok(Figure {
        title: "Figure 2: precision against run time of reconstructions".into(),
        description: format!(
            "Two groups of bars for eight methods: time on a logarithmic axis, and correct bits. As printed for a B300, the methods with residues take from {:.0} ms (FP32 and Kahan, 18 bits) to {:.0} ms \
             (recursive Garner, 53 bits), and Kulisch 18 ms with 53 bits. Measured on an H200 they take from {:.0} to {:.0} ms.",
            printed.0, printed.1, measured.0, measured.1
        ),
        caption: format!(
            "Bits are those of the relative L2 error (53 would be 1.1·10⁻¹⁶; exact methods do a little better, because errors of one rounding are spread evenly). Printed times of methods with residues lie a factor {:.0} apart, measured ones {}: most of a transform is work that all of them share.",
            printed.1 / printed.0,
            significant(measured.1 / measured.0, 2)
        ),
        columns: heads(&[
            "reconstruction",
            "printed, B300",
            "corrected, B300",
            "measured, H200",
            "bits, printed",
            "bits, measured",
        ]),
        rows: cells,
        svg,
    })
}
