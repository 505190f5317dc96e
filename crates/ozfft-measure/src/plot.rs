//! What all pictures have in common.

use crate::failure::Failure;
use plotters::coord::Shift;
use plotters::prelude::*;

pub type DrawingError = DrawingAreaErrorKind<std::io::Error>;
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A picture as SVG, on white, so that it can be read on a dark page, too.
pub fn svg(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), DrawingError>,
) -> Result<String, Failure> {
    let mut picture = String::new();
    let drawn = {
        let area = SVGBackend::with_string(&mut picture, size).into_drawing_area();
        let drawn = area.fill(&WHITE).and_then(|()| draw(&area));
        drawn.and_then(|()| area.present())
    };
    drawn.map_err(|error| Failure::Plot(error.to_string()))?;
    Ok(picture)
}

/// Okabe and Ito's colours, which can be distinguished with every kind of colour vision; black last.
pub const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(150, 140, 20),
    RGBColor(0, 0, 0),
];

/// The day of a date with its time.
pub fn short_date(date: &str) -> &str {
    date.split('T').next().unwrap_or_default()
}

/// The smallest and the largest value.
pub fn extent(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    (
        values.clone().fold(f64::INFINITY, f64::min),
        values.fold(0.0, f64::max),
    )
}

/// A power of ten.
pub fn decade(exponent: f64) -> f64 {
    10f64.powf(exponent)
}
