//! Variants of the same computation, timed alternately: bits first, then times between events of the device.

use super::Measurement;
use super::reductions::{Arrays, Operation, Reductions, Variant};
use crate::failure::Failure;
use crate::sums::timing::largest_error;
use ozfft_measure::gpu::Gpu;
use std::time::{Duration, Instant};

/// Shorter calls are timed several at once, in seconds.
const SHORTEST_SAMPLE: f64 = 2e-3;
/// Turns that every method gets at least.
const FEWEST_TURNS: usize = 7;

/// What all measurements have in common.
pub struct Bench<'a> {
    pub gpu: &'a Gpu,
    pub reductions: &'a Reductions<'a>,
    /// For every method of every case.
    pub seconds: Duration,
    /// Bytes a second that a copy reads and writes.
    pub copy: f64,
}

/// What is computed.
pub struct Case {
    pub reduction: &'static str,
    pub operation: Operation,
    pub data: String,
    pub numbers: usize,
    pub bytes: usize,
    /// Instructions of a thread for a number, in the exact kernel.
    pub instructions: f64,
}

fn method_name(variant: Variant, operation: Operation) -> &'static str {
    match (variant, operation) {
        (Variant::Exact, _) => "kulisch",
        (Variant::Naive, _) => "naive",
        (Variant::Read, _) => "read",
        (Variant::Library, Operation::SparseProduct) => "cuSPARSE",
        (Variant::Library, _) => "cuBLAS",
    }
}

impl Bench<'_> {
    /// Measures a case in all variants that there are; exact results must be the expected ones, bit by bit, before and after.
    pub(super) fn measure(
        &self,
        case: &Case,
        arrays: &mut Arrays,
        expected: &[f64],
    ) -> Result<Vec<Measurement>, Failure> {
        let mut variants = vec![
            Variant::Exact,
            Variant::Naive,
            Variant::Read,
            Variant::Library,
        ];
        variants.retain(|&variant| self.reductions.has(arrays, variant));
        let mut errors = Vec::new();
        let mut repeats = Vec::new();
        for &variant in &variants {
            self.reductions.run(arrays, variant, 1)?;
            errors.push(self.error(case, arrays, variant, expected)?);
            let once = self.reductions.run(arrays, variant, 1)?;
            let count = (SHORTEST_SAMPLE / once.max(1e-7)).ceil();
            repeats.push(count.clamp(1.0, 1000.0) as u32);
        }
        let mut times = vec![Vec::new(); variants.len()];
        let begin = Instant::now();
        let mut turns = 0;
        while turns < FEWEST_TURNS || begin.elapsed() < self.seconds * variants.len() as u32 {
            for ((&variant, &repeats), times) in variants.iter().zip(&repeats).zip(&mut times) {
                times.push(self.reductions.run(arrays, variant, repeats)?);
            }
            turns += 1;
        }
        self.reductions.run(arrays, Variant::Exact, 1)?;
        self.error(case, arrays, Variant::Exact, expected)?;
        times
            .iter_mut()
            .for_each(|times| times.sort_by(f64::total_cmp));
        let medians: Vec<f64> = times.iter().map(|times| times[times.len() / 2]).collect();
        let rows = (0..variants.len()).map(|number| {
            let seconds = medians[number];
            let rate = case.bytes as f64 / seconds;
            let function = self.reductions.function(case.operation, variants[number]);
            let exact = variants[number] == Variant::Exact;
            let instructions = exact.then_some(case.instructions);
            let numbers = case.numbers as f64;
            Measurement {
                reduction: case.reduction,
                data: case.data.clone(),
                numbers: case.numbers,
                bytes: case.bytes,
                method: method_name(variants[number], case.operation),
                min_ns: times[number][0] * 1e9,
                median_ns: seconds * 1e9,
                runs: times[number].len() * repeats[number] as usize,
                ns_per_number: seconds * 1e9 / numbers,
                terabytes_per_second: rate * 1e-12,
                share_of_copy: rate / self.copy,
                share_of_read_half: 2.0 * rate / self.copy,
                // The exact kernel comes first, the plain one second.
                ratio_to_naive: seconds / medians[1],
                ratio_to_kulisch: seconds / medians[0],
                error: errors[number],
                registers: function.map(|function| function.registers),
                local_bytes: function.map(|function| function.local_bytes),
                instructions_per_number: instructions,
                achieved_tera_instructions: instructions
                    .map(|count| count * numbers / seconds * 1e-12),
                needed_tera_instructions: instructions
                    .map(|count| count * numbers / case.bytes as f64 * self.copy * 1e-12),
            }
        });
        Ok(rows.collect())
    }

    /// The largest error of what was just computed; one of an exact result ends the program.
    fn error(
        &self,
        case: &Case,
        arrays: &Arrays,
        variant: Variant,
        expected: &[f64],
    ) -> Result<Option<f64>, Failure> {
        if variant == Variant::Read {
            return Ok(None);
        }
        let results = arrays.results()?;
        if variant == Variant::Exact {
            let mut pairs = results.iter().zip(expected);
            if let Some(place) = pairs.position(|(a, b)| a.to_bits() != b.to_bits()) {
                return Err(Failure::Check(format!(
                    "{}, {}, {} numbers: result {place} is {:e} on the GPU and {:e} on the processor",
                    case.reduction, case.data, case.numbers, results[place], expected[place]
                )));
            }
        }
        Ok(Some(largest_error(&results, expected)))
    }
}
