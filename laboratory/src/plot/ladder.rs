//! A record of `ozfft-lab ladder` as a picture: error against time, and for every unit the front that nothing on it beats.

use super::canvas::{Canvas, Shape, Side};
use super::labels::{Names, line};
use crate::failure::Failure;
use crate::ladder::record::{Found, Record, Rung};
use ozfft_measure::plot::{COLOURS, decade, extent, short_date};
use plotters::prelude::*;

const SIZE: (i32, i32) = (1100, 680);
const LEFT: i32 = 90;
const RIGHT: i32 = 860;
const TOP: i32 = 60;
const BOTTOM: i32 = 610;
/// The shape that is drawn where the record has it.
const SHOWN: &str = "1024";

/// So many times slower than the fastest, a unit is only simulated: drawn, it would leave no room for the others.
const SIMULATED: f64 = 100.0;

/// Error against time at one shape.
pub fn picture(record: &Record) -> Result<String, Failure> {
    let canvas = canvas(record).ok_or_else(|| Failure::Plot("the record has no rungs".into()))?;
    canvas.draw()
}

/// A dot: what runs, for which data.
struct Place<'a> {
    name: String,
    unit: &'a str,
    numbers: &'a str,
    time: f64,
    error: f64,
    on_front: bool,
}

fn name(rung: &Rung, found: &Found) -> String {
    match found.digits {
        Some([data, matrix, _]) => format!("digits {data}×{matrix}"),
        None if rung.accuracy.is_some() && found.engine == "native" => "native".into(),
        None => found.engine.clone(),
    }
}

/// Every variant once.
fn places<'a>(record: &'a Record, shape: &str) -> Vec<Place<'a>> {
    let mut places: Vec<Place<'a>> = Vec::new();
    for rung in record.rungs.iter().filter(|rung| rung.shape == shape) {
        let Some(found) = &rung.found else { continue };
        let name = name(rung, found);
        let known = places
            .iter_mut()
            .find(|p| p.name == name && p.unit == found.unit && p.numbers == rung.numbers);
        match known {
            // The same plan again: of two measurements the shorter one.
            Some(place) => {
                place.time = place.time.min(found.ns_per_point);
                place.on_front |= found.on_front;
            }
            None => places.push(Place {
                name,
                unit: &found.unit,
                numbers: &rung.numbers,
                time: found.ns_per_point,
                error: found.l2.max(1e-35),
                on_front: found.on_front,
            }),
        }
    }
    places.sort_by(|a, b| a.time.total_cmp(&b.time));
    places
}

fn canvas(record: &Record) -> Option<Canvas> {
    let shapes = record.shapes();
    let shape = match shapes.contains(&SHOWN) {
        true => SHOWN,
        false => shapes.first()?,
    };
    let mut places = places(record, shape);
    let fastest = places.first()?.time;
    let mut left_out: Vec<&str> = Vec::new();
    places.retain(|place| {
        let drawn = place.time < SIMULATED * fastest;
        if !drawn && !left_out.contains(&place.unit) {
            left_out.push(place.unit);
        }
        drawn
    });
    let mut units: Vec<&str> = Vec::new();
    for place in &places {
        if !units.contains(&place.unit) {
            units.push(place.unit);
        }
    }
    let (fastest, slowest) = extent(places.iter().map(|place| place.time));
    let (least, most) = extent(places.iter().map(|place| place.error));
    let times = (fastest / 1.3, slowest * 1.3);
    let errors = (decade(least.log10().floor()), decade(most.log10().ceil()));
    let across = |time: f64| {
        let part = (time / times.0).ln() / (times.1 / times.0).ln();
        LEFT + (part * f64::from(RIGHT - LEFT)).round() as i32
    };
    let up = |error: f64| {
        let part = (error / errors.0).ln() / (errors.1 / errors.0).ln();
        BOTTOM - (part * f64::from(BOTTOM - TOP)).round() as i32
    };
    let mut canvas = Canvas::new(SIZE);
    let place = record.gpu.as_deref().unwrap_or(&record.machine.processor);
    let title = format!(
        "{shape} points, {place}, {}, ozfft {}",
        short_date(&record.date),
        record.ozfft
    );
    canvas.write(title, (SIZE.0 / 2, 22), 18, Side::Center);
    canvas.write("relative L2 error", (LEFT, TOP - 16), 13, Side::Left);
    let middle = (LEFT + RIGHT) / 2;
    canvas.write(
        "nanoseconds a point",
        (middle, BOTTOM + 40),
        14,
        Side::Center,
    );
    let grid = BLACK.mix(0.15);
    let mut exponent = errors.0.log10().round() as i32;
    while decade(f64::from(exponent)) <= errors.1 * 1.01 {
        let y = up(decade(f64::from(exponent)));
        canvas.line((LEFT, y), (RIGHT, y), grid, false);
        canvas.write(format!("1e{exponent}"), (LEFT - 8, y), 13, Side::Right);
        exponent += 1;
    }
    let powers = (-4..=6).flat_map(|p| [1.0, 2.0, 5.0].map(|x| x * decade(f64::from(p))));
    for time in powers.filter(|time| (times.0..times.1).contains(time)) {
        let x = across(time);
        canvas.line((x, TOP), (x, BOTTOM), grid, false);
        canvas.write(format!("{time}"), (x, BOTTOM + 16), 13, Side::Center);
    }
    for (number, unit) in units.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let front: Vec<&Place> = places
            .iter()
            .filter(|place| place.unit == *unit && place.on_front)
            .collect();
        for pair in front.windows(2) {
            let ends = [pair[0], pair[1]].map(|p| (across(p.time), up(p.error)));
            canvas.line(ends[0], ends[1], colour.mix(0.8), false);
        }
        let y = TOP + 10 + 24 * number as i32;
        canvas.shapes.push(Shape::Dot {
            at: (RIGHT + 30, y),
            colour,
            filled: true,
        });
        canvas.write(*unit, (RIGHT + 44, y), 14, Side::Left);
    }
    let mut notes = vec![
        "filled: f32 data".to_string(),
        "hollow: f64 data, pairs".into(),
        "lines: a unit's front".into(),
    ];
    notes.extend(left_out.iter().map(|unit| format!("not drawn: {unit}")));
    for (number, note) in notes.into_iter().enumerate() {
        let y = TOP + 30 + 24 * (units.len() + number) as i32;
        canvas.write(note, (RIGHT + 24, y), 13, Side::Left);
    }
    let dot = |place: &Place| (across(place.time), up(place.error));
    let around = |(x, y): (i32, i32)| (x - 6, x + 6, y - 6, y + 6);
    let mut names = Names::keeping_off(places.iter().map(|place| around(dot(place))).collect());
    for place in &places {
        let at = dot(place);
        let number = units.iter().position(|unit| *unit == place.unit);
        canvas.shapes.push(Shape::Dot {
            at,
            colour: COLOURS[number.unwrap_or(0) % COLOURS.len()],
            filled: place.numbers == "f32",
        });
        // Only the front has names: the others would cover them.
        if !place.on_front {
            continue;
        }
        let half = (0.3 * 12.0 * place.name.chars().count() as f64).ceil() as i32 + 2;
        let (x, y) = names.place(at, half, (LEFT, RIGHT), TOP - 4);
        if (y - at.1).abs() > 15 || (x - at.0).abs() > half {
            let [from, to] = line(at, (x, y));
            canvas.line(from, to, BLACK.mix(0.3), false);
        }
        canvas.write(place.name.clone(), (x, y), 12, Side::Center);
    }
    Some(canvas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::record::tests::rung;
    use crate::ladder::record::{VERSION, mark_front};
    use ozfft_measure::machine::Machine;

    #[test]
    fn the_picture_names_units_and_their_fronts() {
        let mut rungs = vec![
            rung("bf16", "amx_bf16", 2.0, 1e-3),
            rung("ozaki", "amx_bf16", 4.0, 1e-6),
            rung("bf16_refined", "amx_bf16", 8.0, 1e-5),
            rung("fast", "avx512", 2.2, 1e-7),
            rung("double", "avx512", 3.0, 2e-8),
            rung("fp16", "scalar_fp16", 1200.0, 3e-4),
        ];
        mark_front(&mut rungs);
        let record = Record {
            ladder: VERSION,
            date: "2026-11-16T00:00:00Z".into(),
            machine: Machine::here(),
            gpu: Some("a GPU".into()),
            ozfft: "0".into(),
            commit: None,
            threads: 1,
            seconds_per_rung: 0.1,
            rungs,
            posts: Vec::new(),
        };
        let canvas = canvas(&record).expect("there are rungs");
        super::super::canvas::assert_readable(&canvas);
        let picture = picture(&record).expect("a picture");
        for part in ["<svg", "a GPU", "amx_bf16", "ozaki", "double", "1e-7"] {
            assert!(picture.contains(part), "{part} is missing");
        }
        assert!(picture.contains("not drawn: scalar_fp16"));
        assert!(!picture.contains("bf16_refined") && !picture.contains("\nfp16\n"));
    }
}
