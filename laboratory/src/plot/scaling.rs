//! The figure of `ozfft-lab model scaling`: time against ranks for every size, a panel a network, with the places where pencils begin to beat slabs
//! and the network begins to bind.

use super::canvas::{Canvas, Shape, Side};
use crate::failure::Failure;
use crate::model::scaling::{Point, Scaling, from_ranks, network_binds, pencils_win};
use ozfft_measure::plot::COLOURS;
use plotters::prelude::*;

const WIDTH: i32 = 1180;
const TOP: i32 = 108;
/// Of a panel, with its axes and names.
const PANEL: (i32, i32) = (590, 420);
const PLOT: (i32, i32) = (430, 330);
/// Powers of two of ranks.
const RANKS: (u32, u32) = (3, 16);

/// A panel: its corner, and powers of ten of seconds.
struct Panel {
    left: i32,
    top: i32,
    powers: (i32, i32),
}

impl Panel {
    fn place(&self, ranks: usize, seconds: f64) -> (i32, i32) {
        let (low, high) = (f64::from(RANKS.0), f64::from(RANKS.1));
        let across = ((ranks as f64).log2() - low) / (high - low);
        let (low, high) = (f64::from(self.powers.0), f64::from(self.powers.1));
        let up = (seconds.log10() - low) / (high - low);
        (
            self.left + (across * f64::from(PLOT.0)).round() as i32,
            self.top + PLOT.1 - (up * f64::from(PLOT.1)).round() as i32,
        )
    }
}

/// The picture as SVG.
pub fn picture(all: &[Scaling]) -> Result<String, Failure> {
    Ok(format!("{}\n", canvas(all).draw()?))
}

fn canvas(all: &[Scaling]) -> Canvas {
    let rows = all.len().div_ceil(2) as i32;
    let mut canvas = Canvas::new((WIDTH, TOP + PANEL.1 * rows));
    let title = "Distributed transforms of n³ complex numbers, modelled: seconds against ranks";
    canvas.write(title, (70, 22), 18, Side::Left);
    for (words, y) in [
        (
            "lines: the faster of slabs and pencils, exchanging doubles; dashed: 5 bytes a number (accuracy 1e-7)",
            46,
        ),
        (
            "local times measured, networks by their documents; sizes that do not fit into memory are left out",
            62,
        ),
    ] {
        canvas.write(words, (70, y), 11, Side::Left);
    }
    let black = RGBColor(60, 60, 60);
    for (x, words, filled) in [
        (76, "from here on pencils beat slabs", true),
        (336, "from here on the network binds", false),
    ] {
        canvas.shapes.push(Shape::Dot {
            at: (x, 82),
            colour: black,
            filled,
        });
        canvas.write(words, (x + 12, 82), 12, Side::Left);
    }
    for (number, scaling) in all.iter().enumerate() {
        let (row, column) = (number as i32 / 2, number as i32 % 2);
        let corner = (column * PANEL.0 + 70, TOP + row * PANEL.1 + 34);
        panel(&mut canvas, scaling, corner);
    }
    canvas
}

fn panel(canvas: &mut Canvas, scaling: &Scaling, (left, top): (i32, i32)) {
    let seconds = |point: &Point| [point.best().total(), point.words[3].total()];
    let times = || scaling.points.iter().flat_map(seconds);
    let least = times().fold(f64::INFINITY, f64::min);
    let most = times().fold(0.0, f64::max);
    if most == 0.0 {
        return;
    }
    let panel = Panel {
        left,
        top,
        powers: (least.log10().floor() as i32, most.log10().ceil() as i32),
    };
    axes(canvas, &panel, &scaling.network.title);
    let mut lengths: Vec<usize> = scaling.points.iter().map(|point| point.n).collect();
    lengths.dedup();
    // Names stand at the ends of lines, apart from each other.
    let mut lowest = i32::MAX;
    let mut by_end: Vec<(usize, usize)> = lengths.iter().copied().enumerate().collect();
    let end = |n: usize| scaling.points.iter().rfind(|point| point.n == n);
    by_end.sort_by(|a, b| {
        let time = |n| end(n).map_or(0.0, |point: &Point| point.best().total());
        time(a.1).total_cmp(&time(b.1))
    });
    for (number, n) in by_end {
        let colour = COLOURS[number % COLOURS.len()];
        let points: Vec<&Point> = scaling.points.iter().filter(|point| point.n == n).collect();
        for two in points.windows(2) {
            for (word, dashed) in [(0, false), (3, true)] {
                let at = |point: &Point| panel.place(point.ranks, point.words[word].total());
                canvas.line(at(two[0]), at(two[1]), colour.to_rgba(), dashed);
            }
        }
        for (holds, filled) in [
            (pencils_win as fn(&Point) -> bool, true),
            (network_binds, false),
        ] {
            let ranks = from_ranks(&scaling.points, n, holds);
            let point = points.iter().find(|point| Some(point.ranks) == ranks);
            if let Some(point) = point {
                canvas.shapes.push(Shape::Dot {
                    at: panel.place(point.ranks, point.best().total()),
                    colour,
                    filled,
                });
            }
        }
        if let Some(point) = end(n) {
            let (x, y) = panel.place(point.ranks, point.best().total());
            lowest = y.min(lowest.saturating_sub(16));
            canvas.write(format!("{n}³"), (x + 10, lowest), 12, Side::Left);
        }
    }
}

fn axes(canvas: &mut Canvas, panel: &Panel, title: &str) {
    let grey = RGBColor(200, 200, 200).to_rgba();
    canvas.write(title, (panel.left, panel.top - 16), 13, Side::Left);
    for power in panel.powers.0..=panel.powers.1 {
        let seconds = 10f64.powi(power);
        let (left, y) = panel.place(1 << RANKS.0, seconds);
        let (right, _) = panel.place(1 << RANKS.1, seconds);
        canvas.line((left, y), (right, y), grey, false);
        canvas.write(text(power), (left - 6, y), 11, Side::Right);
    }
    let bottom = panel.top + PLOT.1;
    for power in (RANKS.0..=RANKS.1).step_by(3).chain([RANKS.1]) {
        let (x, _) = panel.place(1 << power, 1.0);
        canvas.line((x, panel.top), (x, bottom), grey, false);
        if power != 15 {
            canvas.write(
                (1u64 << power).to_string(),
                (x, bottom + 12),
                11,
                Side::Center,
            );
        }
    }
}

fn text(power: i32) -> String {
    match power {
        -6 => "1 µs".into(),
        -5 => "10 µs".into(),
        -4 => "100 µs".into(),
        -3 => "1 ms".into(),
        -2 => "10 ms".into(),
        -1 => "100 ms".into(),
        0 => "1 s".into(),
        1 => "10 s".into(),
        _ => format!("1e{power} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::assert_readable;
    use super::*;
    use crate::model::scaling::usual;

    #[test]
    fn every_word_can_be_read_and_crossovers_are_marked() {
        let all = usual().expect("the networks of the program");
        let canvas = canvas(&all);
        assert_readable(&canvas);
        let dots = |wanted: bool| {
            let filled =
                |shape: &&Shape| matches!(shape, Shape::Dot { filled, .. } if *filled == wanted);
            canvas.shapes.iter().filter(filled).count()
        };
        // One of each kind in the legend.
        assert!(dots(true) > 4 && dots(false) > 4);
    }
}
