//! The constants of the paper's cost model as kernels deliver them: T = max(α·W/P, β·Q/B) + γ·n, and what stages overlap. Everything follows from
//! times and counts of a record; what is missing is named with what would measure it. laboratory/docs/paths.md has the definitions.

use super::PathsArguments;
use super::adaptive::Adaptive;
use super::delivered::{Constant, Delivered};
use super::name_of;
use super::report::{Path, Report};
use crate::failure::Failure;
use ozfft_measure::probe;
use ozfft_measure::report::aligned;
use std::collections::BTreeMap;

/// Multiply-adds that one modulus takes for a point of a step: the folded matrix has 32 words for each part of an output.
const PRODUCTS_PER_POINT: f64 = 64.0;
/// Steps of a line of 1024 points.
const STEPS: f64 = 2.0;
/// Integers that a step reconstructs for a point: real and imaginary part.
const OUTPUTS_PER_POINT: f64 = 2.0;
/// Bytes of a point that are read and written at least.
const LEAST_BYTES: f64 = 32.0;

/// Kernels on one tensor instruction: one that is whole, and those that lack one of its stages.
struct KernelSet {
    /// What its constants' names end in.
    suffix: &'static str,
    whole: &'static str,
    /// What the names of the others begin with.
    without: &'static str,
    /// As the probe names it.
    instruction: &'static str,
    products_a_modulus: f64,
    /// Of the first and the second step.
    moduli: [usize; 2],
}

const KERNEL_SETS: [KernelSet; 3] = [
    KernelSet {
        suffix: "",
        whole: "residues_kulisch32",
        without: "residues_without_",
        instruction: "mma.sync s8 m16n8k32",
        products_a_modulus: 1.0,
        moduli: ozfft_kernels::RESIDUE_COUNTS,
    },
    KernelSet {
        suffix: ".fp8",
        whole: "residues_fp8_bands",
        without: "residues_fp8_without_",
        instruction: "wgmma e4m3 m64n256k32",
        // Both digits of the matrix, for each of two nibbles.
        products_a_modulus: 4.0,
        moduli: ozfft_kernels::RESIDUE_COUNTS,
    },
    KernelSet {
        suffix: ".karatsuba",
        whole: "residues_karatsuba_kulisch32",
        without: "residues_karatsuba_without_",
        instruction: "wgmma e4m3 m64n256k32",
        products_a_modulus: 3.0,
        moduli: ozfft_kernels::RESIDUE_KARATSUBA_COUNTS,
    },
];

/// Bits of a word of the paths whose words differ.
const WORDS: [(u32, &str); 3] = [
    (32, "residues-kulisch32"),
    (16, "residues-kulisch16"),
    (8, "residues-kulisch8"),
];

/// What else is known.
#[derive(Debug)]
pub struct Sources {
    /// How this was called.
    command: String,
    rates: Option<Rates>,
    adaptive: Option<Adaptive>,
}

/// What tensor instructions do.
#[derive(Debug)]
struct Rates {
    /// Operations a second at most, by name.
    instructions: BTreeMap<String, f64>,
    device: String,
    source: String,
}

impl Sources {
    pub fn read(arguments: &PathsArguments) -> Result<Sources, Failure> {
        let rates = arguments.probe.as_deref().map(|path| {
            let probe = probe::Report::read(path)?;
            let mut instructions = BTreeMap::new();
            for unit in probe.tensor_units {
                let rate = instructions.entry(unit.name).or_insert(0.0);
                *rate = f64::max(*rate, 1e12 * unit.tera_operations_per_second);
            }
            Ok::<_, Failure>(Rates {
                instructions,
                device: probe.device.name,
                source: name_of(path),
            })
        });
        let command = match &arguments.from {
            Some(path) => format!("ozfft-lab paths, {}", name_of(path)),
            None => format!("ozfft-lab paths --shape {} --model", arguments.shape),
        };
        Ok(Sources {
            command,
            rates: rates.transpose()?,
            adaptive: arguments
                .residues
                .as_deref()
                .map(Adaptive::read)
                .transpose()?,
        })
    }
}

/// A number that runs differ about.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measured {
    value: f64,
    low: f64,
    high: f64,
}

impl Measured {
    fn exactly(value: f64) -> Measured {
        Measured {
            value,
            low: value,
            high: value,
        }
    }

    fn of(value: f64, range: Option<[f64; 2]>) -> Measured {
        let [low, high] = range.unwrap_or([value, value]);
        Measured { value, low, high }
    }

    fn plus(self, other: Measured) -> Measured {
        Measured {
            value: self.value + other.value,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    fn minus(self, other: Measured) -> Measured {
        Measured {
            value: self.value - other.value,
            low: self.low - other.high,
            high: self.high - other.low,
        }
    }

    /// By something positive.
    fn times(self, factor: f64) -> Measured {
        Measured {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// Over something positive; what is divided may have any sign.
    fn over(self, other: Measured) -> Measured {
        let corner = |x: f64| [x / other.low, x / other.high];
        let ([a, b], [c, d]) = (corner(self.low), corner(self.high));
        Measured {
            value: self.value / other.value,
            low: a.min(b),
            high: c.max(d),
        }
    }

    fn range(self) -> Option<[f64; 2]> {
        (self.low < self.high).then_some([self.low, self.high])
    }
}

fn time(path: &Path) -> Option<Measured> {
    Some(Measured::of(path.seconds?, path.seconds_range))
}

/// Everything that the record allows to say.
pub fn delivered(report: &Report, sources: &Sources) -> Result<Delivered, Failure> {
    let (points, axes) = report.points_and_axes().map_err(Failure::Usage)?;
    let mut model = Model {
        report,
        sources,
        points_and_axes: points * axes,
        delivered: Delivered::new(),
    };
    for kernels in &KERNEL_SETS {
        // Kernels that this record does not know at all are no constants that it lacks.
        if kernels.suffix.is_empty() || model.of_kernel(kernels.whole).is_some() {
            model.alpha(kernels);
            model.stages(kernels);
        }
    }
    model.beta();
    model.gamma();
    model.words();
    model.overlap();
    let mut delivered = model.delivered;
    match report.eta_ts.is_empty() {
        true => delivered.miss(
            "eta_ts",
            "the tall and narrow products on fp8 were not measured",
        ),
        false => delivered.constants.extend(report.eta_ts.iter().cloned()),
    }
    match &sources.adaptive {
        Some(adaptive) => adaptive.constants(&mut delivered),
        None => delivered.miss(
            "adaptive",
            "give a record of ozfft-lab residues (--residues)",
        ),
    }
    Ok(delivered)
}

struct Model<'a> {
    report: &'a Report,
    sources: &'a Sources,
    points_and_axes: f64,
    delivered: Delivered,
}

impl Model<'_> {
    fn path(&self, name: &str) -> Option<&Path> {
        let mut named = self.report.paths.iter().filter(|path| path.name == name);
        named.next().filter(|path| path.seconds.is_some())
    }

    fn time_of(&self, name: &str) -> Result<Measured, String> {
        self.path(name)
            .and_then(time)
            .ok_or_else(|| format!("the path {name} was not timed"))
    }

    fn of_kernel(&self, kernel: &str) -> Option<&Path> {
        let is_it = |path: &&Path| {
            path.kernel
                .as_ref()
                .is_some_and(|facts| facts.kernel == kernel)
        };
        self.report.paths.iter().find(is_it)
    }

    fn time_of_kernel(&self, kernel: &str) -> Result<Measured, String> {
        let path = self.of_kernel(kernel).and_then(time);
        path.ok_or_else(|| format!("no path with the kernel {kernel} was timed"))
    }

    /// What leaving out a stage saves.
    fn saved(&self, kernels: &KernelSet, stage: &str) -> Result<Measured, String> {
        let without = self.time_of_kernel(&format!("{}{stage}", kernels.without))?;
        Ok(self.time_of_kernel(kernels.whole)?.minus(without))
    }

    fn add(
        &mut self,
        name: &str,
        measured: Measured,
        unit: &str,
        definition: &str,
        kernel: Option<&str>,
    ) {
        self.delivered.constants.push(Constant {
            name: name.into(),
            value: measured.value,
            unit: unit.into(),
            definition: definition.into(),
            command: self.sources.command.clone(),
            kernel: kernel.map(String::from),
            range: measured.range(),
        });
    }

    fn kernel_of(&self, name: &str) -> Option<String> {
        Some(self.path(name)?.kernel.as_ref()?.kernel.clone())
    }

    /// α: multiply-adds at the tensor unit's rate that the products' time would suffice for, over those of one modulus.
    fn alpha(&mut self, kernels: &KernelSet) {
        let (kernel, suffix) = (Some(kernels.whole), kernels.suffix);
        let unit = "products of bytes for one product";
        let moduli = kernels.moduli.map(|count| count as f64);
        let mean = moduli.iter().sum::<f64>() / moduli.len() as f64;
        let counted = Measured::exactly(mean * kernels.products_a_modulus);
        let words = "moduli of both steps, mean, times products of one modulus";
        let name = format!("alpha.counted{suffix}");
        self.add(&name, counted, unit, words, kernel);
        let stages = self
            .saved(kernels, "decomposition")
            .and_then(|decomposition| Ok((decomposition, self.saved(kernels, "products")?)));
        let (decomposition, products) = match stages {
            Ok(stages) => stages,
            Err(why) => return self.delivered.miss(format!("alpha{suffix}"), why),
        };
        let (rate, from) = match self.rate_of(kernels.instruction) {
            Ok(found) => found,
            Err(why) => return self.delivered.miss(format!("alpha.delivered{suffix}"), why),
        };
        // A multiply-add is two operations.
        let one = 2.0 * PRODUCTS_PER_POINT * STEPS * self.points_and_axes / rate;
        let text = |stage: &str| {
            format!(
                "time that leaving out {stage} saves, over the time of one modulus' products (64 multiply-adds a point and step) at the rate of {} in {from}",
                kernels.instruction
            )
        };
        let name = format!("alpha.products{suffix}");
        if products.low > 0.0 {
            let words = text("products");
            self.add(&name, products.times(1.0 / one), unit, &words, kernel);
        } else {
            let why =
                "leaving products out saves nothing: what stands in their place takes as long";
            self.delivered.miss(name, why);
        }
        let decomposition = decomposition.times(1.0 / one);
        let all = decomposition.plus(counted);
        let words = format!("products as counted, and {}", text("the decomposition"));
        self.add(
            &format!("alpha.delivered{suffix}"),
            all,
            unit,
            &words,
            kernel,
        );
        self.add(
            &format!("alpha.precomputation{suffix}"),
            decomposition.over(all),
            "share",
            "what the decomposition is of alpha.delivered",
            kernel,
        );
    }

    /// Operations a second, and where that is from.
    fn rate_of(&self, instruction: &str) -> Result<(f64, String), String> {
        let Some(rates) = &self.sources.rates else {
            return Err(
                "the rate of the tensor unit is not known; give a record of ozfft probe (--probe)"
                    .into(),
            );
        };
        let (device, from, here) = (&rates.device, &rates.source, &self.report.device.name);
        if device != here {
            return Err(format!(
                "{from} is of {device}; give a record of {here} (--probe)"
            ));
        }
        match rates.instructions.get(instruction) {
            Some(&rate) if rate > 0.0 => Ok((rate, from.clone())),
            _ => Err(format!("{from} has no rate of {instruction}")),
        }
    }

    /// β: bytes of the memory over the least possible, for every number of lines in a block.
    fn beta(&mut self) {
        if self.report.tiles.is_empty() {
            self.delivered.miss(
                "beta",
                "lines in a block were not varied; measure with --model",
            );
        }
        for tile in &self.report.tiles {
            let name = format!("beta.{}", tile.name());
            let kernel = tile.kernel.as_ref().map(|kernel| kernel.kernel.as_str());
            if let Some(why) = &tile.missing {
                self.delivered.miss(name, why.clone());
                continue;
            }
            if let Some(seconds) = tile.seconds {
                let time = Measured::of(seconds, tile.seconds_range);
                self.add(
                    &format!("tile.{}", tile.name()),
                    time.times(1e12 / tile.points()),
                    "ps a point",
                    "time of one axis with so many lines in a block",
                    kernel,
                );
            }
            match tile
                .counters
                .counts()
                .and_then(|counts| counts.dram_bytes_per_point)
            {
                Some(bytes) => self.add(
                    &name,
                    Measured::exactly(bytes / LEAST_BYTES),
                    "bytes over the least",
                    "DRAM bytes that a profiler counted, over 32 a point: one read and one write",
                    kernel,
                ),
                None => self.delivered.miss(
                    name,
                    "DRAM bytes were not counted; give a profiler's file (--counters)",
                ),
            }
        }
    }

    /// The path that lacks only what puts integers together, for paths on the same products.
    fn base_of(&self, path: &Path) -> Option<&Path> {
        let scheme = |path: &Path| ozfft_kernels::ResidueFp8::of(&path.kernel.as_ref()?.kernel);
        let mut bases = self.report.paths.iter().filter(|base| {
            base.is_part()
                && base.name.contains("without-reconstruction")
                && scheme(base) == scheme(path)
        });
        bases.next()
    }

    /// Paths that put integers together.
    fn reconstructions(&self) -> Vec<Path> {
        let is_one = |path: &&Path| {
            let kernel = path.kernel.as_ref();
            path.seconds.is_some()
                && !path.is_part()
                && kernel.is_some_and(|k| k.kernel.starts_with("residues_"))
                // Redundant moduli take time in all stages.
                && kernel.is_some_and(|k| !k.kernel.ends_with("_redundant"))
        };
        self.report.paths.iter().filter(is_one).cloned().collect()
    }

    fn outputs(&self) -> f64 {
        OUTPUTS_PER_POINT * STEPS * self.points_and_axes
    }

    /// Instructions of an output that reconstruction takes, and their source: both by a profiler, or both in the machine code.
    fn instructions_of(&self, path: &Path) -> Option<(f64, &'static str)> {
        let base = self.base_of(path)?;
        let profiled = |path: &Path| path.counters.counts()?.instructions_per_point;
        let in_code = |path: &Path| {
            let pipes = ozfft_kernels::instructions::of_a_point(&path.kernel.as_ref()?.kernel)?;
            Some(pipes.iter().map(|(_, count)| count).sum::<f64>())
        };
        let (with, without, by) = match (profiled(path), profiled(base)) {
            (Some(with), Some(without)) => (with, without, "counted by a profiler"),
            _ => (
                in_code(path)?,
                in_code(base)?,
                "counted in the machine code",
            ),
        };
        Some(((with - without) / (OUTPUTS_PER_POINT * STEPS), by))
    }

    fn gamma_of(&self, path: &Path) -> Result<Measured, String> {
        let base = self.base_of(path).and_then(time).ok_or_else(|| {
            format!(
                "no kernel like that of {} without reconstruction was timed",
                path.name
            )
        })?;
        let whole = time(path).ok_or_else(|| format!("the path {} was not timed", path.name))?;
        Ok(whole.minus(base).times(1.0 / self.outputs()))
    }

    /// γ: time that putting one integer together adds.
    fn gamma(&mut self) {
        for path in self.reconstructions() {
            let kernel = path.kernel.as_ref().map(|kernel| kernel.kernel.as_str());
            let name = format!("gamma.{}", path.name);
            match self.gamma_of(&path) {
                Ok(gamma) => self.add(
                    &name,
                    gamma.times(1e12),
                    "ps an output",
                    "time beyond that without reconstruction, over outputs: two parts of every point in two steps of every axis, 12 N³ of a cube",
                    kernel,
                ),
                Err(why) => self.delivered.miss(name, why),
            }
            let name = format!("gamma_instructions.{}", path.name);
            match self.instructions_of(&path) {
                Some((count, by)) => self.add(
                    &name,
                    Measured::exactly(count),
                    "instructions an output",
                    &format!("instructions of threads beyond those without reconstruction, over outputs, {by}"),
                    kernel,
                ),
                None => self.delivered.miss(
                    name,
                    "instructions were not counted; give a profiler's file (--counters)",
                ),
            }
        }
    }

    /// c(w) of equation 19, relative to words of 32 bits: by times, and by instructions.
    fn words(&mut self) {
        let wide = self.time_of(WORDS[0].1).ok();
        let wide = wide.and_then(|_| self.gamma_of(self.path(WORDS[0].1)?).ok());
        for (bits, name) in WORDS {
            let path = self.path(name).cloned();
            let kernel = self.kernel_of(name);
            let time = path.as_ref().and_then(|path| self.gamma_of(path).ok());
            match time.zip(wide).filter(|(_, wide)| wide.low > 0.0) {
                Some((time, wide)) => self.add(
                    &format!("c.time.{bits}"),
                    match bits {
                        32 => Measured::exactly(1.0),
                        _ => time.over(wide),
                    },
                    "γ over that of 32-bit words",
                    "c(w) of equation 19 over c(32), by time",
                    kernel.as_deref(),
                ),
                None => self.delivered.miss(
                    format!("c.time.{bits}"),
                    format!("γ of {name} or of {} is not known", WORDS[0].1),
                ),
            }
            match path.as_ref().and_then(|path| self.instructions_of(path)) {
                // A thread's register is a 16th of a vector of 512 bits.
                Some((count, by)) => self.add(
                    &format!("c.instructions.{bits}"),
                    Measured::exactly(count / 16.0),
                    "vector instructions an output",
                    &format!("c(w) of equation 19 on vectors of 512 bits: instructions of a thread over 16, {by}"),
                    kernel.as_deref(),
                ),
                None => self.delivered.miss(format!("c.instructions.{bits}"), "instructions were not counted; give a profiler's file (--counters)"),
            }
        }
    }

    /// The overlap of appendix D.2: arithmetic in the cache and a copy one after the other, over both at once.
    fn overlap(&mut self) {
        for layout in ["contiguous", "strided"] {
            let resident = self.report.resident.iter().find(|r| r.layout == layout);
            let tile = self
                .report
                .tiles
                .iter()
                .find(|tile| tile.layout == layout && tile.usual);
            let (Some(resident), Some((tile, seconds))) =
                (resident, tile.and_then(|tile| Some((tile, tile.seconds?))))
            else {
                self.delivered.miss(
                    format!("overlap.{layout}"),
                    "lines in the cache and lines of the whole memory were not both timed; measure with --model",
                );
                continue;
            };
            let arithmetic = Measured::of(resident.seconds, Some(resident.seconds_range))
                .times(tile.lines as f64 / resident.lines as f64);
            let memory = Measured::exactly(tile.copy_seconds);
            let whole = Measured::of(seconds, tile.seconds_range);
            // Every wave of lines in the cache is a launch of its own, whose beginning and end nothing hides.
            if arithmetic.value > whole.value {
                self.delivered.miss(
                    format!("overlap.{layout}"),
                    "lines in the cache take longer than those of the whole memory: launches cost more than what memory adds, all of which is hidden",
                );
                continue;
            }
            let serial = arithmetic.plus(memory);
            self.add(
                &format!("overlap.factor.{layout}"),
                serial.over(whole),
                "times",
                "time of lines in the cache and of a copy, one after the other, over the time of both at once; 2 at most, and only where both are equal",
                Some(&resident.kernel),
            );
            let shorter = arithmetic.value.min(memory.value);
            self.add(
                &format!("overlap.hidden.{layout}"),
                serial.minus(whole).times(1.0 / shorter),
                "share",
                "what both at once save, of the shorter of the two",
                Some(&resident.kernel),
            );
        }
    }

    /// What stages leave of the whole when they are added up.
    fn stages(&mut self, kernels: &KernelSet) {
        let name = format!("overlap.stages{}", kernels.suffix);
        let stages = ["decomposition", "products", "reconstruction"];
        let saved: Result<Vec<Measured>, String> = stages
            .iter()
            .map(|stage| self.saved(kernels, stage))
            .collect();
        match saved.and_then(|saved| Ok((saved, self.time_of_kernel(kernels.whole)?))) {
            Ok((saved, whole)) => {
                let roof = Measured::exactly(self.report.memory_roof_seconds);
                let sum = saved.into_iter().fold(roof, Measured::plus);
                self.add(
                    &name,
                    sum.over(whole),
                    "of the whole",
                    "memory roof and what leaving out each of three stages saves, added up, over the whole: the rest is quantising, folding, rotating, converting, and what leaving out one stage does not save because another hides it",
                    Some(kernels.whole),
                );
            }
            Err(why) => self.delivered.miss(name, why),
        }
    }
}

/// The constants as a table.
pub fn table(delivered: &Delivered) -> String {
    let mut rows = vec![
        ["constant", "value", "from", "to", "unit"]
            .map(String::from)
            .to_vec(),
    ];
    for constant in &delivered.constants {
        let of = |x: f64| format!("{x:.4}");
        let [low, high] = match constant.range {
            Some(range) => range.map(of),
            None => [String::new(), String::new()],
        };
        let (name, unit) = (constant.name.clone(), constant.unit.clone());
        rows.push(vec![name, of(constant.value), low, high, unit]);
    }
    let mut text = aligned(&rows);
    for missing in &delivered.not_measured {
        text.push_str(&format!(
            "\n{}: not measured: {}",
            missing.name, missing.reason
        ));
    }
    text
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
