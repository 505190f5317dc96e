//! `ozfft-lab words`: phase B's sums in words of 64, 32, 16 and 8 bits, as many side by side as vectors of 512 bits hold (Table 2 of the paper).
//!
//! Every variant adds the same slices (integers of 20 bits, 8 bits apart) for 64 outputs at a time and resolves carries, from sums of 32 bits as
//! they come from products (`kulisch::short_lanes`); loops are compiled for AVX-512. All sums are compared with integers of 128 bits before anything is
//! timed.
//!
//! Everything that is read or written begins at a cache line: else every vector lies in two of them, or none does, as memory happens to be given out, and words of
//! different lengths fare differently. Words take turns in rounds, so that a busy machine slows all of them down: the least time of each is what it can
//! do, and the throughput of every round says whether that is by chance.
#![allow(unsafe_code)]

use crate::failure::Failure;
use crate::origin::built_commit;
use bytemuck::{Pod, Zeroable};
use clap::Args;
use kulisch::short_lanes::{LaneWord, digit_sums};
use ozfft_measure::machine::{Machine, now};
use ozfft_measure::options::parse_seconds;
use ozfft_measure::outputs;
use ozfft_measure::report::{aligned, say, say_json, write_json};
use serde::Serialize;
use std::hint::black_box;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Outputs side by side: one vector of bytes, eight of 64-bit words.
const LANES: usize = 64;
/// Bits between slices, as in the paper.
const SPACING: u32 = 8;
/// Bits of a slice's magnitude, as in the paper.
const SLICE_BITS: u32 = 20;
/// Rounds of the measurement.
const ROUNDS: usize = 15;
/// Groups of outputs that are summed in a run: they stay in the first-level cache.
const GROUPS: usize = 8;
/// Slices at most: sums of them fit 128 bits.
const MOST_SLICES: usize = 11;

/// Options of `ozfft-lab words`.
#[derive(Debug, Args)]
pub struct WordsArguments {
    /// Slices of an output, 1 to 11
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u64).range(1..=MOST_SLICES as u64))]
    slices: u64,
    /// Seconds for all words together, which alternate
    #[arg(long, value_parser = parse_seconds, default_value = "2")]
    seconds: f64,
    /// Write the results to this file as well, with machine, date and versions
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Words of one length.
#[derive(Debug, Serialize)]
struct Row {
    word: u32,
    /// Words of a vector of 512 bits, and of a sum.
    lanes: u32,
    words: usize,
    /// Shortest time of an output, and the median of the shortest of all rounds.
    ns: f64,
    median_ns: f64,
    /// The shortest time of 32-bit words over the shortest of these.
    throughput: f64,
    /// The same of every round: the median, the least and the largest.
    median_throughput: f64,
    least_throughput: f64,
    largest_throughput: f64,
    /// What the paper prints.
    printed: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Report {
    date: String,
    machine: Machine,
    commit: Option<String>,
    rustc: &'static str,
    vectors: &'static str,
    slices: usize,
    slice_bits: u32,
    spacing: u32,
    rounds: usize,
    rows: Vec<Row>,
}

/// A cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// Rows of numbers from a cache line on.
#[derive(Debug)]
struct Rows<W>(Vec<CacheLine>, PhantomData<W>);

impl<W: LaneWord + Pod> Rows<W> {
    fn zeros(count: usize) -> Rows<W> {
        let lines = count * size_of::<[W; LANES]>() / size_of::<CacheLine>();
        Rows(vec![CacheLine([0; 64]); lines], PhantomData)
    }

    fn rows(&self) -> &[[W; LANES]] {
        bytemuck::cast_slice(&self.0)
    }

    fn rows_mut(&mut self) -> &mut [[W; LANES]] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

type Slices = Rows<i32>;

/// Bits of a sum, and its sign.
fn bits(slices: usize) -> u32 {
    SPACING * (slices as u32 - 1) + SLICE_BITS + 2
}

fn words_of<W: LaneWord + Pod>(slices: usize) -> Rows<W> {
    Rows::zeros(bits(slices).div_ceil(W::RADIX) as usize)
}

/// Sums of all words, one set of instructions for each function that they are inlined into.
macro_rules! compiled {
    ($module:ident, $(#[$features:meta])*) => {
        mod $module {
            use super::*;

            $(#[$features])*
            pub(super) fn short<W: LaneWord>(slices: &[[i32; LANES]], words: &mut [[W; LANES]]) {
                digit_sums(SPACING, slices, words);
            }
        }
    };
}
compiled!(portable,);
#[cfg(target_arch = "x86_64")]
compiled!(avx512, #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]);

/// Whether the vectors are there that the paper counts with.
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

fn short<W: LaneWord + Pod>(avx512: bool, slices: &Slices, words: &mut Rows<W>) {
    let (slices, words) = (slices.rows(), words.rows_mut());
    match avx512 {
        // SAFETY: the features were found.
        #[cfg(target_arch = "x86_64")]
        true => unsafe { avx512::short(slices, words) },
        _ => portable::short(slices, words),
    }
}

/// Pseudo-random slices, the largest ones among them.
fn groups(slices: usize) -> Vec<Slices> {
    let largest = (1 << SLICE_BITS) - 1;
    let mut state = 1u64;
    let mut next = |lane: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        match lane {
            0 => largest,
            1 => -largest,
            _ => (state >> 32) as i32 >> (31 - SLICE_BITS),
        }
    };
    let mut row = || -> [i32; LANES] { std::array::from_fn(&mut next) };
    let mut group = || {
        let mut group = Slices::zeros(slices);
        group.rows_mut().fill_with(&mut row);
        group
    };
    (0..GROUPS).map(|_| group()).collect()
}

/// Fails where a sum is not that of integers of 128 bits.
fn check<W: LaneWord + Pod + Into<i128>>(
    radix: u32,
    slices: &Slices,
    words: &Rows<W>,
) -> Result<(), Failure> {
    let (slices, words) = (slices.rows(), words.rows());
    for lane in 0..LANES {
        let digits = words.iter().enumerate();
        let found = digits.fold(0i128, |sum, (place, word)| {
            let digit: i128 = word[lane].into();
            sum.wrapping_add(digit.wrapping_shl(radix * place as u32))
        });
        let terms = slices.iter().enumerate();
        let expected: i128 = terms
            .map(|(k, row)| i128::from(row[lane]) << (SPACING * k as u32))
            .sum();
        if found != expected {
            return Err(Failure::Check(format!(
                "words with {radix} bits of a sum, lane {lane}: {found}, not {expected}"
            )));
        }
    }
    Ok(())
}

/// Shortest seconds of a run of all groups.
fn timed(shortest: &mut Duration, groups: &[Slices], mut sum: impl FnMut(&Slices)) {
    let begin = Instant::now();
    for slices in groups {
        sum(black_box(slices));
    }
    *shortest = (*shortest).min(begin.elapsed());
}

fn measure(arguments: &WordsArguments) -> Result<Vec<Row>, Failure> {
    let slices = arguments.slices as usize;
    let avx512 = has_avx512();
    let groups = groups(slices);
    let (mut of8, mut of16) = (words_of::<i8>(slices), words_of::<i16>(slices));
    let (mut of32, mut of64) = (words_of::<i32>(slices), words_of::<i64>(slices));
    for group in &groups {
        short(avx512, group, &mut of8);
        check(4, group, &of8)?;
        short(avx512, group, &mut of16);
        check(8, group, &of16)?;
        short(avx512, group, &mut of32);
        check(16, group, &of32)?;
        short(avx512, group, &mut of64);
        check(32, group, &of64)?;
    }
    let mut rounds = Vec::new();
    while rounds.len() < ROUNDS {
        let mut shortest = [Duration::MAX; 4];
        let begin = Instant::now();
        loop {
            let [s64, s32, s16, s8] = &mut shortest;
            timed(s64, &groups, |group| {
                short(avx512, group, black_box(&mut of64))
            });
            timed(s32, &groups, |group| {
                short(avx512, group, black_box(&mut of32))
            });
            timed(s16, &groups, |group| {
                short(avx512, group, black_box(&mut of16))
            });
            timed(s8, &groups, |group| {
                short(avx512, group, black_box(&mut of8))
            });
            if begin.elapsed().as_secs_f64() >= arguments.seconds / ROUNDS as f64 {
                break;
            }
        }
        rounds.push(shortest.map(|time| 1e9 * time.as_secs_f64() / (GROUPS * LANES) as f64));
    }
    let sorted = |value: &dyn Fn(&[f64; 4]) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let least = |index: usize| sorted(&|round| round[index])[0];
    let row = |index: usize, word: u32, words: usize, printed: Option<f64>| {
        let times = sorted(&|round| round[index]);
        let throughputs = sorted(&|round| round[1] / round[index]);
        Row {
            word,
            lanes: 512 / word,
            words,
            ns: times[0],
            median_ns: times[ROUNDS / 2],
            throughput: least(1) / times[0],
            median_throughput: throughputs[ROUNDS / 2],
            least_throughput: throughputs[0],
            largest_throughput: throughputs[ROUNDS - 1],
            printed,
        }
    };
    Ok(vec![
        row(0, 64, of64.rows().len(), None),
        row(1, 32, of32.rows().len(), Some(1.0)),
        row(2, 16, of16.rows().len(), Some(1.2)),
        row(3, 8, of8.rows().len(), Some(1.1)),
    ])
}

/// Runs the command.
pub fn run(arguments: &WordsArguments) -> Result<(), Failure> {
    outputs::check_all([&arguments.record])?;
    let rows = measure(arguments)?;
    let report = Report {
        date: now(),
        machine: Machine::here(),
        commit: built_commit(),
        rustc: ozfft_measure::machine::RUSTC,
        vectors: if has_avx512() { "avx512" } else { "portable" },
        slices: arguments.slices as usize,
        slice_bits: SLICE_BITS,
        spacing: SPACING,
        rounds: ROUNDS,
        rows,
    };
    if let Some(path) = &arguments.record {
        write_json(path, &report)?;
    }
    if arguments.json {
        say_json(&report)?;
        return Ok(());
    }
    let heads = [
        "word",
        "lanes",
        "words of a sum",
        "ns an output",
        "median",
        "throughput",
        "median",
        "of all rounds",
        "printed",
    ];
    let mut lines = vec![heads.map(String::from).to_vec()];
    for row in &report.rows {
        lines.push(vec![
            row.word.to_string(),
            row.lanes.to_string(),
            row.words.to_string(),
            format!("{:.3}", row.ns),
            format!("{:.3}", row.median_ns),
            format!("{:.2}", row.throughput),
            format!("{:.2}", row.median_throughput),
            format!(
                "{:.2} to {:.2}",
                row.least_throughput, row.largest_throughput
            ),
            row.printed
                .map_or("-".into(), |printed| printed.to_string()),
        ]);
    }
    say(&format!(
        "Sums of {} slices of {} bits, {} bits apart, {LANES} at a time on {}",
        report.slices, report.slice_bits, report.spacing, report.vectors
    ))?;
    say(&aligned(&lines))?;
    Ok(())
}
