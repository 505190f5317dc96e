//! Quantities by their names: what committed records say, and what the paper's model gives. Every name is in one mode; formulas of claims put
//! quantities of several modes side by side, and never into one.
//!
//! ```text
//! paths:PATH:ms|l2|bits|differing|spilled    a path of `ozfft-lab paths` on the H200
//! counted:PATH:instructions|fp64, counted-constant:NAME   what a profiler counted, in a record that has it
//! launches:PATH:…, launches-constant:NAME    the same of a record with blocks of 128 threads
//! roof:ms                                    its memory roof: three passes at the speed of a copy
//! constant:NAME, eta:NAME                    constants of the delivered model
//! reconstruct:MODULI:R:METHOD:FIELD          `ozfft-lab reconstruct`, with prototype:R:COLUMN, words:MODULI:R:WORD and bands:…
//! residues:METHOD:l2, moduli:…, above:R:ACCURACY, single:ACCURACY:…   `ozfft-lab residues`
//! adaptive-time:xeon|h200:least|most         time with as few moduli as data need, over that with all of them
//! sums:REDUCTION:DATA:METHOD:gain|ms|…, fraction:ROW   `ozfft-lab kulisch bench` on the H200, its largest problems
//! fractions-within-two:h200|printed          rows of Table 5 whose f is within a factor of two of the model's for this machine, or of the printed one
//! linear:OPERATION:DATA:R|FP64:ms|f|gain|gain-of-integers|error   `ozfft-lab linear-algebra` on the H200
//! solver:xeon|h200:share|share-of-exact|cost-of-exact|iterations   of a conventional solver: f, with dot products in f64 and exact ones
//! bluestein:xeon|h200:ENGINE:N:l2|us|ratio   one line, `bluestein_ntt`: error, time, and time over that of FFTW or cuFFT
//! single-cube:ENGINE:median_ms|fraction_of_roof   1024³ in f32 on the H200, `ozfft bench`
//! lanes:WORD:throughput|median               `ozfft-lab words`: over words of 32 bits, in vectors of 512 bits
//! ladder:MODE:N:ns, posts:MODE:N             `ozfft-lab ladder` on a Xeon; floats:MODE:N:ms on the H200
//! dispatch:PATH:N, dispatch-gpu:PATH:N       algorithms of `fast` one by one, `ozfft-lab dispatch` on a Xeon and on the H200
//! knee:flat|bent|over-native                 `laboratory/knee measure` on the H200
//! knee-residues:PATH:SHARE                   `laboratory/knee residues` there: time on a share of the multiprocessors over that on all
//! digests:LIBRARY, programs                  most digests that a program's results have by `last_digits`, and how many programs there are
//! decomposition:STEPS:outputs|products, recursion:R:moduli|products   `ozfft-lab decompositions`: 1024 points
//! reconstructions:METHOD                     integers that are reconstructed in a cube of N³ points, over N³
//! probe:…                                    `ozfft probe`
//! MACHINE:PATH:overlapped|equation3|serial|reconstruction   the model as printed for h200 and b300, in ms
//! corrected:MACHINE:PATH:SUBSTRATE           counts of this project at all rates at once, in ms
//! projection:MACHINE:PATH                    measured paths carried over, in ms
//! rate:MACHINE:RATE, floor:N                 figures of machines as the paper has them, coefficients of floors
//! published:MACHINE:RATE                     figures of machines by their makers
//! break-even:MACHINE:OPERATIONS              equation 22, for phase B of so many operations an output
//! model-fraction:MACHINE:KERNEL              f of Table 5 by the paper's counts
//! ```

use super::tables;
use residues::complex::ComplexMethod;
use roofline::kernels::{self, Cube};
use roofline::paths::{Substrate, Variant, path};
use roofline::time::estimate;
use roofline::{Machine, Mode, Rate, Record, floors};
use serde_json::Value;

const N: usize = 1024;

/// Rows of Table 5: as the model and as the record of sums names them, and f as printed.
const TABLE_5: [(&str, Option<&str>, [f64; 2]); 6] = [
    ("fft", None, [0.95, 0.98]),
    ("spmv", Some("Ozaki-II_SpMV"), [0.7, 0.9]),
    ("sum", Some("ReproBLAS_replacement:_sum"), [0.5, 0.9]),
    ("dot", Some("ReproBLAS_replacement:_dot"), [0.5, 0.9]),
    ("stencil", Some("multi-term_stencils"), [0.5, 0.8]),
    ("gemv", Some("Ozaki-II_batched_small_DGEMV"), [0.3, 0.6]),
];

/// The committed records.
#[derive(Debug)]
pub struct Quantities {
    paths: Value,
    counted: Value,
    reconstruct: Value,
    residues: Value,
    sums: Value,
    ladder: Value,
    floats: Value,
    probe: Value,
    dispatch: Value,
    dispatch_gpu: Value,
    launches: Value,
    knee: Value,
    knee_residues: Value,
    linear_algebra: Value,
    solver: Value,
    solver_gpu: Value,
    words: Value,
    single_cube: Value,
}

type Found = Result<f64, String>;

macro_rules! record {
    ($folder:literal, $name:literal) => {
        (
            $name,
            include_str!(concat!("../../../", $folder, "/", $name)),
        )
    };
}

impl Quantities {
    /// From the records that the documents name.
    pub fn committed() -> Result<Quantities, crate::failure::Failure> {
        let read = |(name, text): (&str, &str)| {
            serde_json::from_str(text).map_err(|error| {
                crate::failure::Failure::Check(format!("the record {name}: {error}"))
            })
        };
        Ok(Quantities {
            paths: read(record!("laboratory/records", "2026-11-18-h200-paths.json"))?,
            counted: read(record!("laboratory/records", "2026-11-15-h200-paths.json"))?,
            reconstruct: read(record!(
                "laboratory/records",
                "2026-11-15-emerald-rapids-reconstruct.json"
            ))?,
            residues: read(record!(
                "laboratory/records",
                "2026-11-16-emerald-rapids-residues.json"
            ))?,
            sums: read(record!(
                "laboratory/records",
                "2026-11-15-h200-kulisch.json"
            ))?,
            ladder: read(record!(
                "laboratory/records",
                "2026-11-16-emerald-rapids-ladder.json"
            ))?,
            floats: read(record!("laboratory/records", "2026-11-18-h200-floats.json"))?,
            probe: read(record!("benchmarks/records", "2026-11-15-h200-probe.json"))?,
            dispatch: read(record!(
                "laboratory/records",
                "2026-11-17-emerald-rapids-dispatch.json"
            ))?,
            dispatch_gpu: read(record!(
                "laboratory/records",
                "2026-11-18-h200-dispatch.json"
            ))?,
            launches: read(record!(
                "laboratory/records",
                "2026-11-18-h200-paths-launches.json"
            ))?,
            knee: read(record!("laboratory/records", "2026-11-17-h200-knee.json"))?,
            knee_residues: read(record!(
                "laboratory/records",
                "2026-11-19-h200-knee-residues.json"
            ))?,
            linear_algebra: read(record!(
                "laboratory/records",
                "2026-11-18-h200-linear-algebra.json"
            ))?,
            solver: read(record!(
                "laboratory/records",
                "2026-11-18-emerald-rapids-solver.json"
            ))?,
            solver_gpu: read(record!("laboratory/records", "2026-11-19-h200-solver.json"))?,
            words: read(record!(
                "laboratory/records",
                "2026-11-18-h200-host-words.json"
            ))?,
            single_cube: read(record!(
                "benchmarks/records",
                "2026-11-18-h200-f32-cube.json"
            ))?,
        })
    }

    /// The value of a name, or what is wrong with it.
    pub fn value(&self, name: &str) -> Found {
        let parts: Vec<&str> = name.split(':').collect();
        match parts[..] {
            ["roof", "ms"] => Ok(1e3 * number(&self.paths, "memory_roof_seconds")?),
            ["paths", of, field] => path_of(&self.paths, of, field),
            ["launches", of, field] => path_of(&self.launches, of, field),
            ["counted", of, field] => path_of(&self.counted, of, field),
            ["constant", of] => constant_of(&self.paths, of),
            ["launches-constant", of] => constant_of(&self.launches, of),
            ["counted-constant", of] => constant_of(&self.counted, of),
            ["eta", of] => {
                let name = format!("eta_ts.{of}");
                number(entry(&self.paths["eta_ts"], &[("name", &name)])?, "value")
            }
            ["reconstruct", moduli, r, method, field] => {
                self.reconstruction(moduli, r, method, field)
            }
            ["prototype", r, column] => number(
                entry(
                    &self.reconstruct["prototype"],
                    &[("r", r), ("column", column)],
                )?,
                "result_error_to_typical",
            ),
            ["words", moduli, r, word] => self.words(moduli, r, word),
            ["bands", moduli, r, accumulator, field] => number(
                entry(
                    &self.reconstruct["bands"],
                    &[
                        ("substrate", moduli),
                        ("r", r),
                        ("accumulator", accumulator),
                    ],
                )?,
                field,
            ),
            ["band-integers", end, rs] => self.band_integers(end, rs, false),
            ["band-integers-over-sum", end, rs] => self.band_integers(end, rs, true),
            ["residues", method, field] => number(
                entry(
                    &self.residues["costs"],
                    &[
                        ("reconstruction", method),
                        ("substrate", "amx"),
                        ("redundancy", "0"),
                    ],
                )?,
                field,
            ),
            ["moduli", "fp8", step] => self.moduli("fp8-simulated", step),
            ["moduli", "int8", step] => self.moduli("amx", step),
            ["above", moduli, accuracy] => self.above(moduli, accuracy),
            ["fallbacks"] => {
                let rows = list(&self.residues["adaptive"])?;
                let counts: Result<Vec<f64>, String> = rows
                    .iter()
                    .map(|row| number(row, "native_fallbacks"))
                    .collect();
                Ok(counts?.iter().sum())
            }
            ["single", engine, accuracy, field] => {
                let row = entry(
                    &self.residues["single"],
                    &[("engine", engine), ("accuracy", accuracy)],
                )?;
                match field {
                    "first" => Ok(at(&row["moduli"], 0)?),
                    "later" => Ok(at(&row["moduli"], 1)?),
                    field => number(row, field),
                }
            }
            ["sums", reduction, data, method, field] => self.sum_of(reduction, data, method, field),
            ["fraction", ref row @ ..] => {
                let row = row.join(":").replace('_', " ");
                number(
                    entry(&self.sums["predictions"], &[("algorithm", &row)])?,
                    "fraction",
                )
            }
            ["ladder", mode, n, field] => self.rung(mode, n, field),
            ["posts", mode, n] => number(
                entry(&self.ladder["posts"], &[("mode", mode), ("n", n)])?,
                "here",
            ),
            ["dispatch", path, n] => dispatched(&self.dispatch, path, n),
            ["dispatch-gpu", path, n] => dispatched(&self.dispatch_gpu, path, n),
            ["floats", "copy", "ms"] => Ok(1e3 * number(&self.floats, "copy_seconds")?),
            ["floats", mode, n, "ms"] => {
                let mode = mode.replace('_', " ");
                let row = entry(&self.floats["rows"], &[("name", &mode), ("n", n)]);
                let row = row.or_else(|_| {
                    entry(
                        &self.floats["rows"],
                        &[("name", &mode.replace(' ', "_")), ("n", n)],
                    )
                })?;
                Ok(1e3 * number(row, "seconds")?)
            }
            ["probe", "fp8"] => {
                let units = list(&self.probe["tensor_units"])?.iter();
                let fp8 = units.filter(|unit| {
                    let named = unit["name"].as_str();
                    named.is_some_and(|named| named.starts_with("wgmma e4m3"))
                });
                let rates: Result<Vec<f64>, String> = fp8
                    .map(|unit| number(unit, "tera_operations_per_second"))
                    .collect();
                let best = rates?.into_iter().max_by(f64::total_cmp);
                best.map(|rate| 1e12 * rate)
                    .ok_or_else(|| "no FP8 unit was measured".into())
            }
            ["probe", "exact", instruction] => number(
                list(&self.probe["exactness_limits"])?
                    .iter()
                    .find(|row| {
                        let named = row["instruction"].as_str();
                        named.is_some_and(|named| named.starts_with(instruction))
                    })
                    .ok_or("no such instruction")?,
                "exact_below_power_of_two",
            ),
            ["linear", operation, data, method, field] => {
                self.linear(operation, data, method, field)
            }
            ["solver", "xeon", field] => solver(&self.solver, field),
            ["solver", "h200", field] => solver(&self.solver_gpu, field),
            ["bluestein", machine, engine, n, field] => {
                tables::bluestein(machine, engine, n, field)
            }
            ["adaptive-time", "h200", end] => tables::adaptive_time(end),
            ["adaptive-time", "xeon", end] => self.adaptive_time(end),
            ["digests", library] => tables::digests(library),
            ["programs"] => tables::programs(),
            ["reconstructions", method] => reconstructions(method),
            ["decomposition", steps, field] => crate::decompositions::count(steps, field),
            ["recursion", moduli, field] => crate::decompositions::recursion_count(moduli, field),
            ["knee", field] => self.knee(field),
            ["knee-residues", path, share] => self.knee_of_residues(path, share),
            ["fractions-within-two", of] => self.fractions_within_two(of),
            ["single-cube", engine, field] => number(
                entry(&self.single_cube["results"], &[("engine", engine)])?,
                field,
            ),
            ["lanes", word, field] => {
                let row = entry(&self.words["rows"], &[("word", word)])?;
                match field {
                    "median" => number(row, "median_throughput"),
                    field => number(row, field),
                }
            }
            [machine @ ("h200" | "b300"), of, field] => modelled(machine, of, field),
            ["corrected", machine, of, substrate] => corrected(machine, of, substrate),
            ["projection", machine, of] => projected(machine, of),
            ["rate", machine, rate] => figure(machine, Mode::Printed, rate),
            ["published", machine, rate] => figure(machine, Mode::Corrected, rate),
            ["floor", which] => floor(which),
            ["break-even", machine, operations] => break_even(machine, operations),
            ["model-fraction", machine, kernel] => model_fraction(machine, kernel),
            _ => Err(format!("no quantity is called {name}")),
        }
    }

    /// A row of linear algebra: by its number of moduli, phase B in integers, or FP64.
    fn linear(&self, operation: &str, data: &str, method: &str, field: &str) -> Found {
        let data = data.replace('_', " ");
        let of_batch = format!(" of {data}");
        let row = list(&self.linear_algebra["results"])?.iter().find(|row| {
            let own = row["data"].as_str().unwrap_or_default();
            let named = row["method"].as_str().unwrap_or_default();
            let by_method = match method {
                "FP64" => named == "FP64",
                moduli => is(&row["moduli"], moduli) && named.ends_with("in integers"),
            };
            is(&row["operation"], operation)
                && (own == data || own.ends_with(&of_batch))
                && by_method
        });
        let row = row.ok_or("no such product")?;
        match field {
            "ms" => Ok(1e3 * number(row, "seconds")?),
            "f" => Ok(number(row, "share_of_phase_b")?.max(0.0)),
            "gain" => number(row, "gain_over_fp64"),
            "gain-of-integers" => number(row, "gain_of_integers"),
            field => number(row, field),
        }
    }

    fn reconstruction(&self, moduli: &str, r: &str, method: &str, field: &str) -> Found {
        let row = entry(
            &self.reconstruct["measurements"],
            &[("substrate", moduli), ("r", r), ("method", method)],
        )?;
        let operations = &row["operations"];
        let sum = |fields: &[&str]| -> Found {
            let parts: Result<Vec<f64>, String> = fields
                .iter()
                .map(|field| number(operations, field))
                .collect();
            Ok(parts?.iter().sum())
        };
        match field {
            "sum" => sum(&["integer", "double", "single"]),
            "products" => sum(&["int8_products", "fp8_products"]),
            "reduction" => sum(&["reduction"]),
            "exact" => Ok(f64::from(u8::from(row["proven_exact"] == true))),
            field => number(row, field),
        }
    }

    /// The best throughput of words of so many bits over that of 32.
    fn words(&self, moduli: &str, r: &str, word: &str) -> Found {
        let rows = list(&self.reconstruct["words"])?;
        let of_word = |row: &&Value| {
            let keys = [("substrate", moduli), ("r", r), ("word", word)];
            keys.iter().all(|(key, value)| is(&row[*key], value))
        };
        let rates = rows.iter().filter(of_word);
        let rates: Result<Vec<f64>, String> = rates.map(|row| number(row, "throughput")).collect();
        rates?
            .into_iter()
            .max_by(f64::total_cmp)
            .ok_or_else(|| "no such words".into())
    }

    /// The least or the most integer operations that phase B on FP8 leaves, over all moduli and accumulators with these r; or over those of the sum
    /// in 32-bit words that it replaces.
    fn band_integers(&self, end: &str, rs: &str, over_sum: bool) -> Found {
        let mut values = Vec::new();
        for row in list(&self.reconstruct["bands"])? {
            let r = row["r"].to_string();
            if !rs.split(',').any(|wanted| wanted == r) {
                continue;
            }
            let moduli = row["substrate"]
                .as_str()
                .ok_or("a band without a substrate")?;
            let operations = number(row, "integer_operations")?;
            let sum = match over_sum {
                true => self.reconstruction(moduli, &r, "kulisch32", "sum")?,
                false => 1.0,
            };
            values.push(operations / sum);
        }
        let found = match end {
            "least" => values.into_iter().min_by(f64::total_cmp),
            "most" => values.into_iter().max_by(f64::total_cmp),
            _ => return Err(format!("{end} is neither least nor most")),
        };
        found.ok_or_else(|| "no such bands".into())
    }

    fn moduli(&self, substrate: &str, step: &str) -> Found {
        let row = entry(
            &self.residues["costs"],
            &[
                ("substrate", substrate),
                ("reconstruction", "kulisch32"),
                ("redundancy", "0"),
            ],
        )?;
        match step {
            "first" => at(&row["moduli"], 0),
            "later" => at(&row["moduli"], 1),
            _ => Err(format!("{step} is neither first nor later")),
        }
    }

    /// The share of small products that need more than so many moduli of eight bits.
    fn above(&self, moduli: &str, accuracy: &str) -> Found {
        let most: f64 = moduli
            .parse()
            .map_err(|_| format!("{moduli} is no number"))?;
        let (mut above, mut all) = (0.0, 0.0);
        let rows = list(&self.residues["adaptive"])?;
        for row in rows.iter().filter(|row| is(&row["accuracy"], accuracy)) {
            for column in list(&row["columns_by_moduli"])? {
                let (needed, count) = (at(column, 0)?, at(column, 1)?);
                all += count;
                above += if needed > most { count } else { 0.0 };
            }
        }
        match all > 0.0 {
            true => Ok(above / all),
            false => Err(format!("no products for {accuracy}")),
        }
    }

    /// A field of a method on the largest problem of that kind; its gain is what the exact kernel gains over it.
    fn sum_of(&self, reduction: &str, data: &str, method: &str, field: &str) -> Found {
        let data = data.replace('_', " ");
        let rows = list(&self.sums["results"])?.iter().filter(|row| {
            is(&row["reduction"], reduction)
                && is(&row["data"], &data)
                && is(&row["method"], method)
        });
        let largest = rows.max_by_key(|row| row["numbers"].as_u64());
        let largest = largest.ok_or("no such sum")?;
        match field {
            "gain" => number(largest, "ratio_to_kulisch"),
            "ms" => Ok(1e-6 * number(largest, "min_ns")?),
            field => number(largest, field),
        }
    }

    /// The least or the most of all inputs and accuracies on a Xeon.
    fn adaptive_time(&self, end: &str) -> Found {
        let rows = list(&self.residues["adaptive"])?.iter();
        let times: Result<Vec<f64>, String> =
            rows.map(|row| number(row, "relative_time")).collect();
        tables::end(times?, end)
    }

    /// Where cuFFT's time stops being flat as multiprocessors are shared out, in FP64 operations a byte of what a copy on the whole chip moves: the
    /// least share within 5 % of its shortest time, and the next one below. And how many times cuFFT's the time of digits is on the whole chip.
    fn knee(&self, field: &str) -> Found {
        let shares: Vec<&Value> = list(&self.knee["rows"])?
            .iter()
            .filter(|row| row["asked_mhz"].is_null())
            .collect();
        let milliseconds = |row: &Value, of: &str| number(&row["milliseconds"], of);
        let shortest = |of: &str| -> Found {
            let times: Result<Vec<f64>, String> =
                shares.iter().map(|row| milliseconds(row, of)).collect();
            tables::end(times?, "least")
        };
        let native = shortest("cufft")?;
        let bandwidth = 32.0 * number(&self.knee, "points")? / (1e-3 * shortest("copy")?);
        let left = |row: &Value| -> Found {
            let rate = figure("h200", Mode::Printed, "fp64")?;
            Ok(rate * number(row, "share")? / 100.0 / bandwidth)
        };
        let (mut flat, mut bent) = (f64::INFINITY, 0f64);
        for row in &shares {
            match milliseconds(row, "cufft")? <= 1.05 * native {
                true => flat = flat.min(left(row)?),
                false => bent = bent.max(left(row)?),
            }
        }
        match field {
            "flat" => Ok(flat),
            "bent" => Ok(bent),
            "over-native" => Ok(shortest("auto")? / native),
            _ => Err(format!("a knee has no {field}")),
        }
    }

    /// The time of a path on a share of the multiprocessors, in per cent, over its time on all of them.
    fn knee_of_residues(&self, path: &str, share: &str) -> Found {
        let rows = list(&self.knee_residues["rows"])?;
        let at = |share: &str| -> Found {
            let percent: u64 = share.parse().map_err(|error| format!("{share}: {error}"))?;
            let row = rows.iter().find(|row| row["share"] == percent);
            let row = row.ok_or_else(|| format!("no share of {share} %"))?;
            number(&row["milliseconds"], path)
        };
        Ok(at(share)? / at("100")?)
    }

    /// How many of the rows of Table 5 have an f within a factor of two of what the model gives for this machine, or of what is printed.
    fn fractions_within_two(&self, of: &str) -> Found {
        let phase_b = self.value("constant:gamma.residues-double")? * 12.0 * 1.073741824;
        let fft = phase_b / self.value("paths:residues-double:ms")?;
        let mut within = 0;
        for (kernel, row, [low, high]) in TABLE_5 {
            let found = match row {
                Some(row) => self.value(&format!("fraction:{row}"))?,
                None => fft,
            };
            let [low, high] = match of {
                "printed" => [low, high],
                machine => [model_fraction(machine, kernel)?; 2],
            };
            within += i32::from(2.0 * found >= low && found <= 2.0 * high);
        }
        Ok(f64::from(within))
    }

    /// A mode on f32 data, one line after the other.
    fn rung(&self, mode: &str, n: &str, field: &str) -> Found {
        let rows = list(&self.ladder["rungs"])?;
        let row = rows.iter().find(|row| {
            is(&row["asked"], mode)
                && is(&row["shape"], n)
                && is(&row["numbers"], "f32")
                && row["accuracy"].is_null()
        });
        let found = &row.ok_or("no such rung")?["found"];
        match field {
            "ns" => number(found, "ns_per_point"),
            field => number(found, field),
        }
    }
}

/// Of conjugate gradients in f64.
fn solver(record: &Value, field: &str) -> Found {
    let rows = list(&record["solver_in_doubles"])?;
    let row = rows.first().ok_or("no solver was measured")?;
    match field {
        "share" => number(&row["plain"], "share_of_dots"),
        "share-of-exact" => number(&row["exact"], "share_of_dots"),
        // Seconds of exact dot products over those of plain ones.
        "cost-of-exact" => {
            let seconds = |dots: &str| -> Found {
                Ok(number(&row[dots], "iteration_seconds")? * number(&row[dots], "share_of_dots")?)
            };
            Ok(seconds("exact")? / seconds("plain")?)
        }
        field => number(row, field),
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// A field that is a number.
fn number(row: &Value, field: &str) -> Found {
    row[field]
        .as_f64()
        .ok_or_else(|| format!("{field} is no number in the record"))
}

fn at(row: &Value, index: usize) -> Found {
    // Where all steps are alike, a record has one entry.
    let value = row.get(index).or_else(|| row.get(0));
    value
        .and_then(Value::as_f64)
        .ok_or_else(|| format!("{row} has no number {index}"))
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value
        .as_array()
        .ok_or_else(|| "the record has no such list".into())
}

/// Whether a field is this text or this number.
fn is(field: &Value, wanted: &str) -> bool {
    match field {
        Value::String(words) => words == wanted,
        Value::Number(number) => number.to_string() == wanted,
        _ => false,
    }
}

/// The first entry with these keys.
fn entry<'a>(rows: &'a Value, keys: &[(&str, &str)]) -> Result<&'a Value, String> {
    let matches = |row: &&Value| keys.iter().all(|(key, wanted)| is(&row[*key], wanted));
    let found = list(rows)?.iter().find(matches);
    found.ok_or_else(|| format!("the record has no {keys:?}"))
}

fn variant(name: &str) -> Result<Variant, String> {
    let found = Variant::ALL
        .into_iter()
        .find(|variant| variant.name() == name);
    found.ok_or_else(|| format!("the model has no path {name}"))
}

fn rate_of(key: &str) -> Result<Rate, String> {
    let found = Rate::ALL.into_iter().find(|rate| rate.key() == key);
    found.ok_or_else(|| format!("machines have no rate {key}"))
}

/// Nanoseconds a point of an algorithm in a record of `ozfft-lab dispatch`.
fn dispatched(record: &Value, path: &str, n: &str) -> Found {
    let path = path.replace('_', " ");
    let mut rows = list(&record["rows"])?.iter();
    let found = rows.find(|row| {
        let name = row["path"].as_str().unwrap_or_default();
        is(&row["n"], n) && name.starts_with(&path)
    });
    number(found.ok_or("no such path")?, "ns_per_point")
}

fn figure(machine: &str, mode: Mode, rate: &str) -> Found {
    let machine = Machine::named(machine).map_err(text)?;
    machine.rate(mode, rate_of(rate)?).map_err(text)
}

/// The paper's formulas and counts with the figures of a machine: those that it prints, or of the data sheet where it does not have the machine.
fn modelled(machine: &str, of: &str, field: &str) -> Found {
    let machine = Machine::named(machine).map_err(text)?;
    let path = path(variant(of)?, Substrate::Fp8, Mode::Printed, N).map_err(text)?;
    let path = path.ok_or_else(|| format!("the paper has no path {of}"))?;
    let times = estimate(&path, &machine).map_err(text)?;
    let milli = 1e3;
    match field {
        "memory" => Ok(milli * times.memory),
        "overlapped" => Ok(milli * times.overlapped),
        "equation3" => Ok(milli * times.tme),
        "serial" => Ok(milli * times.serial),
        "reconstruction" => {
            let last = times.stages.last().ok_or("a path without stages")?;
            Ok(milli * last.seconds)
        }
        "phase-a" => {
            let stage = times.stages.iter().find(|stage| stage.name == "phase A");
            Ok(milli * stage.ok_or("a path without phase A")?.seconds)
        }
        _ => Err(format!("times have no {field}")),
    }
}

fn corrected(machine: &str, of: &str, substrate: &str) -> Found {
    let machine = Machine::named(machine).map_err(text)?;
    if of == "memory" {
        let bytes = Cube::new(N).map_err(text)?.bytes();
        return Ok(1e3 * bytes / machine.bandwidth(Mode::Corrected).map_err(text)?);
    }
    let substrate = match substrate {
        "int8" => Substrate::Int8,
        "fp8" => Substrate::Fp8,
        _ => return Err(format!("{substrate} is neither int8 nor fp8")),
    };
    let path = path(variant(of)?, substrate, Mode::Corrected, N).map_err(text)?;
    let path = path.ok_or_else(|| format!("there is no path {of} on {substrate:?}"))?;
    Ok(1e3 * estimate(&path, &machine).map_err(text)?.overlapped)
}

/// Integers that are reconstructed in a cube, over its points, by a method for complex products.
fn reconstructions(method: &str) -> Found {
    let method = match method {
        "folded" => ComplexMethod::Folded,
        "karatsuba-of-integers" => ComplexMethod::KaratsubaOfIntegers,
        _ => {
            return Err(format!(
                "{method} is neither folded nor karatsuba-of-integers"
            ));
        }
    };
    Ok(method.reconstructions_in_3d() as f64)
}

/// A constant of the delivered model.
fn constant_of(record: &Value, name: &str) -> Found {
    let constants = &record["delivered"]["constants"];
    number(entry(constants, &[("name", name)])?, "value")
}

/// A field of a path in a record of `ozfft-lab paths`.
fn path_of(record: &Value, name: &str, field: &str) -> Found {
    let row = entry(&record["paths"], &[("name", name)])?;
    let counted = &row["counters"]["counted"];
    match field {
        "ms" => Ok(1e3 * number(row, "seconds")?),
        "bits" => Ok(-number(row, "l2")?.log2()),
        "spilled" => number(&row["kernel"], "local_bytes"),
        "instructions" => number(counted, "instructions_per_point"),
        "fp64" => number(&counted["pipes_per_point"], "fp64"),
        field => number(row, field),
    }
}

/// A measured path on another machine, if its kernel kept its share of what the corrected model allows.
fn projected(machine: &str, of: &str) -> Found {
    let record = Record::embedded().map_err(text)?;
    let measured = Machine::named("h200-measured").map_err(text)?;
    let machine = Machine::named(machine).map_err(text)?;
    let found = record.paths.iter().find(|path| path.name == of);
    let found = found.ok_or_else(|| format!("the record has no path {of}"))?;
    let counted = record.counted(found, record.n).map_err(text)?;
    let counted = counted.ok_or_else(|| format!("the model has no counts of {of}"))?;
    let here = estimate(&counted, &measured).map_err(text)?.overlapped;
    let there = estimate(&counted, &machine).map_err(text)?.overlapped;
    let seconds = found.seconds.ok_or("it was not measured")?;
    Ok(1e3 * seconds / here * there)
}

/// Operations a byte, as the paper's closed forms give them for 1024³.
fn floor(which: &str) -> Found {
    let cube = Cube::new(N).map_err(text)?;
    match which {
        "1" => Ok(floors::native(N)),
        "2" => Ok(floors::reconstruction(18.0, 1.0, 11.0)),
        "3" => Ok(floors::reconstruction(18.0, 4.0, 11.0)),
        "4" => Ok(floors::matrix(cube, 12.0, 11.0)),
        _ => Err(format!("there is no floor {which}")),
    }
}

/// Equation 22: the efficiency at which phase B of so many operations an output still hides behind memory, beside the work of floor 4.
fn break_even(machine: &str, operations: &str) -> Found {
    let operations: f64 = operations.parse().map_err(text)?;
    let machine = Machine::named(machine).map_err(text)?;
    let rate = |rate| machine.rate(Mode::Printed, rate).map_err(text);
    let floor = floor("4")?;
    let share = 18.0 * operations / 96.0 / floor;
    Ok(floors::break_even(
        rate(Rate::Fp8)?,
        floor * rate(Rate::Bandwidth)?,
        share,
    ))
}

/// The part of a kernel's time that is its reduction in FP64, beside memory: S = 11 multiply-adds an output of Ozaki-II kernels, as D.1.1 has them, and
/// one for every term of a sum.
fn model_fraction(machine: &str, kernel: &str) -> Found {
    const SLICES: f64 = 11.0;
    if kernel == "gemm" {
        // D.1.1: 16 products of bytes, and the sum of every output.
        let (machine, side) = (Machine::named(machine).map_err(text)?, 8192f64);
        let rate = |rate| machine.rate(Mode::Printed, rate).map_err(text);
        let sum = SLICES * side.powi(2) / rate(Rate::Fp64)?;
        let products = 2.0 * 16.0 * side.powi(3) / rate(Rate::Fp8)?;
        return Ok(sum / (sum + products));
    }
    let (operations, bytes) = match kernel {
        "fft" => (18.0 * SLICES, 96.0),
        "spmv" => (SLICES, kernels::spmv(1.0, 27.0).bytes),
        "gemv" => (16.0 * SLICES, kernels::batched_gemv(1.0, 16.0, 16.0).bytes),
        "stencil" => (SLICES, kernels::stencil(1.0, 25.0).bytes),
        "sum" => (1.0, 8.0),
        "dot" => (1.0, 16.0),
        _ => return Err(format!("Table 5 has no row {kernel}")),
    };
    let machine = Machine::named(machine).map_err(text)?;
    let rate = |rate| machine.rate(Mode::Printed, rate).map_err(text);
    let (sum, memory) = (
        operations / rate(Rate::Fp64)?,
        bytes / rate(Rate::Bandwidth)?,
    );
    Ok(sum / (sum + memory))
}
