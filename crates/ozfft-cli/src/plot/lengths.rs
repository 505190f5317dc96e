//! A GPU's record of many lengths as a picture: how many times cuFFT's time ozfft takes, over the length.

use super::{SIZE, power_of_two};
use ozfft_measure::failure::Failure;
use ozfft_measure::plot::{COLOURS, extent, svg};
use plotters::prelude::*;

/// A length: its points, the ratio, and whether tuned kernels run it.
pub type Place = (f64, f64, bool);

/// Ratios that have a line and a label.
const RATIOS: [f64; 8] = [0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0];

pub fn draw(places: &[Place], title: &str) -> Result<String, Failure> {
    svg(SIZE, |area| {
        let (shortest, longest) = extent(places.iter().map(|place| place.0));
        let (least, most) = extent(places.iter().map(|place| place.1));
        let lengths = (shortest / 1.2..longest * 1.2).log_scale().base(2.0);
        let ratios = (least.min(1.0) / 1.2..most.max(2.0) * 1.2).log_scale();
        let ends = (shortest / 1.2, longest * 1.2);
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 18))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(lengths, ratios.with_key_points(RATIOS.to_vec()))?;
        chart
            .configure_mesh()
            .x_desc("points of a line")
            .y_desc("time over cuFFT's time")
            .x_labels(20)
            .x_max_light_lines(0)
            .y_max_light_lines(0)
            .x_label_formatter(&|points| power_of_two(*points))
            .y_label_formatter(&|ratio| format!("{ratio}"))
            .bold_line_style(BLACK.mix(0.2))
            .axis_desc_style(("sans-serif", 16))
            .label_style(("sans-serif", 14))
            .draw()?;
        chart.draw_series(LineSeries::new(
            [(ends.0, 1.0), (ends.1, 1.0)],
            BLACK.stroke_width(2),
        ))?;
        for (tuned, colour, label) in [
            (false, COLOURS[4], "ozfft, int8-mma-sync"),
            (true, COLOURS[0], "ozfft, int8-wgmma"),
        ] {
            let of_kind = places.iter().filter(|place| place.2 == tuned);
            let dots = of_kind.map(|place| Circle::new((place.0, place.1), 3, colour.filled()));
            let series = chart.draw_series(dots)?;
            let dot = move |at: (i32, i32)| Circle::new((at.0 + 10, at.1), 3, colour.filled());
            series.label(label).legend(dot);
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE)
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 14))
            .draw()?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_has_a_dot_and_ratios_have_labels() {
        let places = [
            (16.0, 1.2, false),
            (1024.0, 1.6, true),
            (4096.0, 7.0, false),
        ];
        let picture = draw(&places, "a GPU").expect("a picture");
        // One for every length, and two of the legend.
        assert_eq!(picture.matches("<circle").count(), 5, "{picture}");
        for part in ["a GPU", "2¹⁰", "int8-wgmma", "time over cuFFT"] {
            assert!(picture.contains(part), "{part} is missing in {picture}");
        }
    }
}
