//! A GPU's record as a picture: for every transform how many times cuFFT's time ozfft takes.

use super::lengths;
use crate::bench::cuda::record::{NamedMeasurement, Record};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::INTEGERS_ONLY;
use ozfft_measure::plot::{COLOURS, decade, extent, short_date, svg};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const WIDTH: i32 = 1100;
/// Where bars may be, from left to right, and where the first row begins.
const LEFT: i32 = 190;
const RIGHT: i32 = 930;
const TOP: i32 = 96;
const ROW_HEIGHT: i32 = 40;
const BAR_HEIGHT: i32 = 14;
/// Below the last row: the axis.
const BOTTOM: i32 = 56;

/// One transform: its times in milliseconds, and whether tuned kernels run all or some of its axes.
#[derive(Debug, PartialEq)]
struct Row {
    name: String,
    cufft: f64,
    ozfft: f64,
    tuned: bool,
    /// None where it is the same kernel.
    integers_only: Option<f64>,
}

/// The picture of a record, of all groups or of one.
pub fn picture(path: &Path, group: Option<&str>) -> Result<String, Failure> {
    let record = Record::read(path)?;
    let rows = rows(&record.results, group);
    if rows.is_empty() {
        return Err(Failure::Content {
            path: path.to_path_buf(),
            reason: match group {
                Some(group) => format!("it has no results of the group {group:?} beside cuFFT's"),
                None => "it has no results beside cuFFT's".into(),
            },
        });
    }
    let title = format!(
        "{}, {}, ozfft {}, cuFFT {}",
        record.device.name,
        short_date(&record.date),
        record.software.own.ozfft,
        record
            .software
            .cufft
            .as_deref()
            .unwrap_or("of unknown version")
    );
    match lengths_of(&rows) {
        Some(places) => lengths::draw(&places, &title),
        None => draw(&rows, &title),
    }
}

/// The rows as lengths and ratios, where there are too many for bars and every one ends in its length, as those of a range do.
fn lengths_of(rows: &[Row]) -> Option<Vec<lengths::Place>> {
    const MOST_BARS: usize = 60;
    let place = |row: &Row| {
        let (_, length) = row.name.rsplit_once('-')?;
        Some((length.parse().ok()?, row.ozfft / row.cufft, row.tuned))
    };
    let places: Option<Vec<_>> = rows.iter().map(place).collect();
    places.filter(|places| places.len() > MOST_BARS)
}

/// A row for every definition, in their order; without those that cuFFT was not measured for.
fn rows(results: &[NamedMeasurement], group: Option<&str>) -> Vec<Row> {
    let chosen = |result: &&NamedMeasurement| group.is_none_or(|group| result.group == group);
    let mut names: Vec<&str> = results.iter().filter(chosen).map(|r| &*r.name).collect();
    names.dedup();
    let row = |name: &str| {
        let time = |engine: &str, variant: &str| {
            let mut of_name = results.iter().filter(|result| result.name == name);
            let found = of_name.find(|result| {
                result.measurement.engine == engine && result.measurement.variant == variant
            });
            found.map(|result| &result.measurement)
        };
        let ozfft = time("ozfft", "auto")?;
        let tuned = ozfft.substrate.contains("wgmma");
        Some(Row {
            name: name.into(),
            cufft: time("cufft", "")?.median_ms,
            ozfft: ozfft.median_ms,
            tuned,
            // Portable kernels never have floating-point instructions.
            integers_only: time("ozfft", INTEGERS_ONLY)
                .filter(|_| tuned)
                .map(|measurement| measurement.median_ms),
        })
    };
    names.into_iter().filter_map(row).collect()
}

/// A time for people, with three digits.
fn milliseconds(time: f64) -> String {
    let decimals = match time {
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{time:.decimals$} ms")
}

fn draw(rows: &[Row], title: &str) -> Result<String, Failure> {
    let bottom = TOP + ROW_HEIGHT * rows.len() as i32;
    let ratios = rows.iter().flat_map(|row| {
        let times = [Some(row.ozfft), row.integers_only];
        times.into_iter().flatten().map(|time| time / row.cufft)
    });
    let (least, most) = extent(ratios);
    // cuFFT is at 1, whoever is faster.
    let (least, most) = (0.9 * least.min(1.0), 1.1 * most.max(2.0));
    let place = |ratio: f64| {
        let part = (ratio / least).ln() / (most / least).ln();
        LEFT + (part * f64::from(RIGHT - LEFT)).round() as i32
    };
    let size = (WIDTH as u32, (bottom + BOTTOM) as u32);
    svg(size, |area| {
        let text = |size: i32, horizontal: HPos| {
            let position = Pos::new(horizontal, VPos::Center);
            ("sans-serif", size).into_text_style(area).pos(position)
        };
        let write = |words: String, at: (i32, i32), size: i32, horizontal: HPos| {
            area.draw(&Text::new(words, at, text(size, horizontal)))
        };
        write(title.into(), (WIDTH / 2, 22), 18, HPos::Center)?;
        let powers =
            (-3..=4).flat_map(|power| [1.0, 2.0, 5.0].map(|x| x * decade(f64::from(power))));
        for ratio in powers.filter(|ratio| (least..most).contains(ratio)) {
            let x = place(ratio);
            area.draw(&PathElement::new(
                [(x, TOP - 6), (x, bottom)],
                BLACK.mix(0.15).stroke_width(1),
            ))?;
            write(format!("{ratio}"), (x, bottom + 14), 14, HPos::Center)?;
        }
        let below = ((LEFT + RIGHT) / 2, bottom + 36);
        write("time over cuFFT's time".into(), below, 16, HPos::Center)?;
        let colours = [COLOURS[0], COLOURS[4], COLOURS[2]];
        let names = [
            "ozfft, tuned kernels on all or some axes",
            "ozfft, portable kernels",
            "ozfft, tuned kernels, integers only",
        ];
        for (number, (name, colour)) in names.into_iter().zip(colours).enumerate() {
            let x = LEFT + [0, 290, 470][number];
            area.draw(&Rectangle::new([(x, 52), (x + 24, 66)], colour.filled()))?;
            write(name.into(), (x + 32, 59), 14, HPos::Left)?;
        }
        for (number, row) in rows.iter().enumerate() {
            let top = TOP + ROW_HEIGHT * number as i32;
            let middle = top + ROW_HEIGHT / 2 - 2;
            write(row.name.clone(), (LEFT - 12, middle - 8), 14, HPos::Right)?;
            let cufft = format!("cuFFT {}", milliseconds(row.cufft));
            write(cufft, (LEFT - 12, middle + 8), 12, HPos::Right)?;
            let first = (row.ozfft, colours[usize::from(!row.tuned)]);
            let bars: Vec<_> = [
                Some(first),
                row.integers_only.map(|time| (time, colours[2])),
            ]
            .into_iter()
            .flatten()
            .collect();
            let mut y = middle - BAR_HEIGHT * bars.len() as i32 / 2;
            for (time, colour) in bars {
                let ratio = time / row.cufft;
                let (from, to) = (place(ratio.min(1.0)), place(ratio.max(1.0)));
                let corners = [(from, y), (to, y + BAR_HEIGHT - 1)];
                area.draw(&Rectangle::new(corners, colour.filled()))?;
                let label = format!("{ratio:.2}  ({})", milliseconds(time));
                write(label, (to + 6, y + BAR_HEIGHT / 2), 12, HPos::Left)?;
                y += BAR_HEIGHT;
            }
        }
        let one = place(1.0);
        let line = PathElement::new([(one, TOP - 6), (one, bottom)], BLACK.stroke_width(2));
        area.draw(&line)?;
        write("cuFFT".into(), (one, TOP - 14), 12, HPos::Center)?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cuda::record::tests::measurement;

    fn measured(name: &str, engine: &str, variant: &str, ms: f64) -> NamedMeasurement {
        let mut result = measurement();
        result.name = name.into();
        result.measurement.engine = engine.into();
        result.measurement.variant = variant.into();
        result.measurement.substrate = if name == "b" {
            "int8-mma-sync"
        } else {
            "int8-wgmma"
        }
        .into();
        result.measurement.median_ms = ms;
        result
    }

    fn results() -> Vec<NamedMeasurement> {
        let mut alone = measured("c", "ozfft", "auto", 9.0);
        alone.group = "other".into();
        vec![
            measured("a", "cufft", "", 8.0),
            measured("a", "ozfft", "auto", 12.0),
            measured("a", "ozfft", INTEGERS_ONLY, 16.0),
            measured("a", "copy", "", 7.9),
            measured("b", "cufft", "", 4.0),
            measured("b", "ozfft", "auto", 100.0),
            measured("b", "ozfft", INTEGERS_ONLY, 101.0),
            alone,
        ]
    }

    #[test]
    fn every_transform_beside_cufft_is_a_row() {
        let rows = rows(&results(), None);
        let integers: Vec<_> = rows
            .iter()
            .map(|row| (&*row.name, row.tuned, row.integers_only))
            .collect();
        assert_eq!(integers, [("a", true, Some(16.0)), ("b", false, None)]);
        assert!(super::rows(&results(), Some("other")).is_empty());
    }

    #[test]
    fn ranges_of_lengths_are_drawn_over_the_length() {
        let row = |n: usize| Row {
            name: format!("contiguous-{n}"),
            cufft: 2.0,
            ozfft: 3.0,
            tuned: n.is_multiple_of(2),
            integers_only: None,
        };
        let many: Vec<Row> = (16..100).map(row).collect();
        let places = lengths_of(&many).expect("lengths");
        assert_eq!((places.len(), places[0]), (84, (16.0, 1.5, true)));
        assert!(lengths_of(&many[..10]).is_none());
    }

    #[test]
    fn the_picture_has_names_times_and_ratios() {
        let picture = draw(&rows(&results(), None), "a GPU").expect("a picture");
        for part in [
            "<svg",
            "a GPU",
            "1.50  (12.0 ms)",
            "2.00  (16.0 ms)",
            "25.00  (100 ms)",
            "cuFFT 8.00 ms",
        ] {
            assert!(picture.contains(part), "{part} is missing in {picture}");
        }
    }

    #[test]
    fn the_record_of_this_project_can_be_drawn() {
        let records = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/records");
        let path = Path::new(records).join("2026-11-15-h200.json");
        let drawn = picture(&path, None).expect("a picture");
        assert!(drawn.contains("batched-1024") && drawn.contains("H200"));
        assert!(picture(&path, Some("nobody")).is_err());
    }
}
