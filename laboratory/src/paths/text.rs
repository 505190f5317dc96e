//! What `ozfft-lab paths` found, for people.

use super::counters::Counters;
use super::report::Report;
use ozfft_measure::report::{aligned, error_text, seconds_text};

impl Report {
    /// All tables, and what stands beside them.
    pub fn to_text(&self) -> String {
        let heading = [
            "path",
            "time",
            "of roof",
            "of cuFFT",
            "L2 of lines",
            "registers",
            "local bytes",
            "occupancy",
            "instructions",
            "DRAM bytes",
            "verdict",
        ];
        let mut rows = vec![heading.map(String::from).to_vec()];
        let times = |value: Option<f64>| value.map_or("-".into(), |x| format!("{x:.2}"));
        for path in &self.paths {
            let (kernel, counts) = (path.kernel.as_ref(), path.counters.counts());
            let of = |text: Option<String>| text.unwrap_or("-".into());
            rows.push(vec![
                path.name.clone(),
                of(path.seconds.map(seconds_text)),
                times(path.over_memory_roof),
                times(path.over_cufft),
                of(path.l2.map(error_text)),
                of(kernel.map(|k| k.registers.to_string())),
                of(kernel.map(|k| k.local_bytes.to_string())),
                of(kernel.map(|k| format!("{:.0} %", 100.0 * k.occupancy))),
                of(counts
                    .and_then(|c| c.instructions_per_point)
                    .map(|x| format!("{x:.0}"))),
                of(counts
                    .and_then(|c| c.dram_bytes_per_point)
                    .map(|x| format!("{x:.1}"))),
                path.verdict(),
            ]);
        }
        let mut text = format!(
            "{}\n{} on {}: memory roof {} ({:.2} TB/s)\n",
            aligned(&rows),
            self.shape,
            self.device.name,
            seconds_text(self.memory_roof_seconds),
            self.copy_bytes_per_second * 1e-12,
        );
        for stage in &self.stages {
            text.push_str(&format!(
                "{} of residues-kulisch32: {} ({:.0} %)\n",
                stage.stage,
                seconds_text(stage.seconds),
                100.0 * stage.share
            ));
        }
        text.push_str(&self.counters_text());
        if !self.tiles.is_empty() {
            text.push_str(&format!("\n{}\n", super::tiles::table(&self.tiles)));
        }
        text.push_str(&super::tall_skinny::text(&self.eta_ts));
        if let Some(delivered) = &self.delivered {
            text.push_str(&format!("\n{}\n", super::model::table(delivered)));
        }
        text
    }

    /// Instructions by pipe, or that they were not counted.
    fn counters_text(&self) -> String {
        let counted = self.paths.iter().filter_map(|path| {
            let pipes = path.counters.pipes()?.iter();
            let pipes: Vec<String> = pipes.map(|(pipe, x)| format!("{pipe} {x:.0}")).collect();
            let by = match &path.counters {
                Counters::MachineCode(_) => " (both steps, in the machine code)",
                _ => "",
            };
            Some(format!("{}: {}{by}", path.name, pipes.join(", ")))
        });
        let lines: Vec<String> = counted.collect();
        let mut text = match lines.is_empty() {
            true => String::new(),
            false => format!(
                "instructions of a point and axis by pipe\n{}\n",
                lines.join("\n")
            ),
        };
        for path in &self.paths {
            if let Counters::NotCounted(why) = &path.counters {
                text.push_str(&format!("{}: not counted: {why}\n", path.name));
            }
        }
        text
    }
}
