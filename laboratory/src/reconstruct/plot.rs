//! Precision against cost: a point for every method, coloured by the hardware that its sum falls on.

use super::experiment::Measurement;
use super::markdown::cost_r;
use super::substrate::Substrate;
use crate::failure::Failure;
use crate::plot::labels::{Extent, free_height};
use ozfft_measure::plot::{Area, DrawingError, svg};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (1100, 620);
const LEGEND_HEIGHT: u32 = 40;
/// Okabe and Ito's colours, which can be told apart with every kind of sight.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];

/// The substrates of these measurements side by side, at one number of moduli; the paper's moduli only where there is nothing else.
pub fn draw(measurements: &[Measurement]) -> Result<String, Failure> {
    let r = cost_r(measurements);
    let of = |substrate: Substrate| -> Vec<&Measurement> {
        let wanted = |m: &&Measurement| m.substrate == substrate && m.r == r;
        measurements.iter().filter(wanted).collect()
    };
    let mut panels: Vec<(Substrate, Vec<&Measurement>)> = [Substrate::Int8, Substrate::Fp8]
        .map(|substrate| (substrate, of(substrate)))
        .into_iter()
        .filter(|(_, points)| !points.is_empty())
        .collect();
    if panels.is_empty() {
        panels.push((Substrate::Seven, of(Substrate::Seven)));
    }
    if panels.iter().all(|(_, points)| points.is_empty()) {
        return Err(Failure::Plot("no method was measured".into()));
    }
    picture(&panels, r)
}

fn picture(panels: &[(Substrate, Vec<&Measurement>)], r: usize) -> Result<String, Failure> {
    let mut pipes: Vec<&str> = Vec::new();
    for measurement in panels.iter().flat_map(|(_, points)| points) {
        if !pipes.contains(&measurement.pipe.as_str()) {
            pipes.push(&measurement.pipe);
        }
    }
    Ok(svg(SIZE, |area| {
        let (charts, legend) = area.split_vertically(SIZE.1 - LEGEND_HEIGHT);
        for ((substrate, points), area) in panels.iter().zip(charts.split_evenly((1, panels.len())))
        {
            chart(&area, *substrate, points, (r, &pipes))?;
        }
        let beside = Pos::new(HPos::Left, VPos::Center);
        let style = ("sans-serif", 14).into_text_style(&legend).pos(beside);
        for (number, pipe) in pipes.iter().enumerate() {
            let x = 60 + (number as i32) * 1000 / pipes.len() as i32;
            legend.draw(&Circle::new(
                (x, 14),
                5,
                COLOURS[number % COLOURS.len()].filled(),
            ))?;
            legend.draw(&Text::new(*pipe, (x + 12, 14), style.clone()))?;
        }
        Ok(())
    })?)
}

/// Bits that are drawn: all of an integer's, where it is exact.
fn height(measurement: &Measurement) -> f64 {
    measurement.bits.unwrap_or(measurement.modulus_bits)
}

fn chart(
    area: &Area<'_>,
    substrate: Substrate,
    points: &[&Measurement],
    (r, pipes): (usize, &[&str]),
) -> Result<(), DrawingError> {
    let cost = |m: &Measurement| m.operations.words().max(1.0);
    let costs = || points.iter().map(|m| cost(m));
    let least = costs().fold(f64::INFINITY, f64::min);
    let most = costs().fold(1.0, f64::max);
    let highest = points.iter().map(|m| height(m)).fold(0.0, f64::max);
    let all = points.first().map_or(0.0, |m| m.modulus_bits);
    let mut chart = ChartBuilder::on(area)
        .caption(
            format!("{substrate}, r = {r}, M of {all:.1} bits"),
            ("sans-serif", 17),
        )
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(56)
        .build_cartesian_2d((least / 1.4..most * 2.2).log_scale(), 0.0..highest * 1.14)?;
    chart
        .configure_mesh()
        .x_desc("word operations for one output, products on the matrix unit left out")
        .y_desc("bits that are right; at the top all of them")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .bold_line_style(BLACK.mix(0.2))
        .light_line_style(BLACK.mix(0.05))
        .axis_desc_style(("sans-serif", 14))
        .label_style(("sans-serif", 13))
        .draw()?;
    let places = points.iter().map(|m| (cost(m), height(m)));
    let mut taken: Vec<Extent> = Vec::new();
    for (m, place) in points.iter().zip(places) {
        let colour = pipes.iter().position(|pipe| *pipe == m.pipe).unwrap_or(0);
        let style = COLOURS[colour % COLOURS.len()].filled();
        chart.draw_series(std::iter::once(Circle::new(place, 5, style)))?;
        let (x, y) = chart.backend_coord(&place);
        taken.push((x - 6, x + 6, y - 6, y + 6));
    }
    for number in 0..points.len() {
        let (left, right, top, bottom) = taken[number];
        let name = &points[number].method;
        let place = ((left + right) / 2, (top + bottom) / 2);
        let y = free_height(&mut taken, place, 3 * name.len() as i32 + 4, 30);
        label(area, name, (place.0, y))?;
    }
    Ok(())
}

fn label(area: &Area<'_>, name: &str, (x, y): (i32, i32)) -> Result<(), DrawingError> {
    let (left, top) = area.get_base_pixel();
    let style = ("sans-serif", 14)
        .into_text_style(area)
        .pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(name, (x - left, y - top), style))
}
