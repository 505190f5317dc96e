//! What the number of lines in a block costs, and what arithmetic alone costs: the kernel of `residues-kulisch32` on lines in the order of
//! memory and across it, in blocks of every size that fits, and on lines that stay in the cache.

use super::counters::{Counters, Launch, Table};
use super::{PERIOD, Seconds, median};
use crate::failure::Failure;
use ozfft::{Device, FftError, Plan, Planner, Problem};
use ozfft_measure::gpu::{Copy, DeviceArrays, DeviceWork, Gpu, KernelFacts};
use ozfft_measure::report::{aligned, seconds_text};
use ozfft_testkit::oracle::inputs::uniform_complex;
use serde::{Deserialize, Serialize};

/// Points of a line.
const POINTS: usize = 1024;
/// Lines in a block that are tried; a kernel takes powers of two.
const LINES_PER_BLOCK: [u64; 5] = [1, 2, 4, 8, 16];
/// Threads of a block that are tried.
const THREADS: [u32; 2] = [128, 256];
/// Lines of a measurement, of all that the arrays hold, in 32nds. Neither these shares nor the whole are another's multiple by a power of two, so
/// that a profiler's launches are told apart by their grids.
const SHARES: [(&str, usize); 2] = [("contiguous", 20), ("strided", 24)];
/// Fewer lines than so many a multiprocessor say nothing about blocks.
const LEAST_LINES: usize = 32 * 64;

/// One number of lines in a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// `contiguous` or `strided`.
    pub layout: String,
    pub lines_per_block: u64,
    /// Of a block.
    #[serde(default = "threads_of_older_records")]
    pub threads: u32,
    /// Whether this is what a plan takes by itself.
    pub usual: bool,
    pub lines: u64,
    /// Why it could not run.
    pub missing: Option<String>,
    pub seconds: Option<f64>,
    pub seconds_range: Option<[f64; 2]>,
    /// What a copy of the same bytes takes at the rate of the whole arrays' copy.
    pub copy_seconds: f64,
    pub kernel: Option<KernelFacts>,
    pub launches: Vec<Launch>,
    #[serde(default)]
    pub counters: Counters,
}

fn threads_of_older_records() -> u32 {
    256
}

impl Tile {
    /// Layout, lines and, if they are not 256, threads, as constants are named.
    pub fn name(&self) -> String {
        let threads = match self.threads {
            256 => String::new(),
            threads => format!(".{threads}"),
        };
        format!("{}.{}{threads}", self.layout, self.lines_per_block)
    }

    pub fn points(&self) -> f64 {
        (self.lines * POINTS as u64) as f64
    }

    pub fn count(&mut self, table: &Table) {
        self.counters = table.of(&self.launches, self.points());
    }
}

/// Lines that stay in the cache, transformed again and again: arithmetic without memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resident {
    pub layout: String,
    pub lines: u64,
    /// Transforms in a row between two events.
    pub repeats: u32,
    /// Of one of them.
    pub seconds: f64,
    pub seconds_range: [f64; 2],
    pub kernel: String,
}

fn problem(layout: &str, lines: usize, device: Device) -> Problem {
    let problem = match layout {
        "contiguous" => Problem::complex(&[lines, POINTS]).axes(&[1]),
        _ => Problem::complex(&[POINTS, lines]).axes(&[0]),
    };
    problem.device(device)
}

pub fn launches(plan: &Plan<f64>) -> Vec<Launch> {
    let grids = plan.device_grids().into_iter();
    grids
        .map(|(kernel, blocks)| Launch {
            kernel: kernel.into(),
            blocks,
        })
        .collect()
}

/// Where and how long things run.
pub struct Bench<'a> {
    pub gpu: &'a Gpu,
    pub device: Device,
    pub arrays: &'a mut DeviceArrays,
    /// Points that the arrays hold.
    pub points: usize,
    pub copy_bytes_per_second: f64,
    pub seconds: Seconds,
}

impl Bench<'_> {
    /// Arrays that suffice for this, too. The old ones go first: a device may not hold both.
    fn make_room(&mut self, work: &dyn DeviceWork) -> Result<(), Failure> {
        if work.needs().workspace <= self.arrays.workspace_bytes() {
            return Ok(());
        }
        let whole = Copy(16 * self.points);
        let smallest = self.gpu.arrays_for(&[&Copy(256)])?;
        drop(std::mem::replace(self.arrays, smallest));
        *self.arrays = self.gpu.arrays_for(&[&whole, work])?;
        self.arrays.input.fill(&uniform_complex(PERIOD, 1))?;
        Ok(())
    }
}

/// All numbers of lines in a block, in both layouts.
pub fn tiles(bench: &mut Bench) -> Result<Vec<Tile>, Failure> {
    let planner = Planner::<f64>::new();
    let whole = bench.points / POINTS;
    let mut tiles = Vec::new();
    for (layout, share) in SHARES {
        let lines = whole / 32 * share;
        let problem = problem(layout, lines, bench.device);
        let usual = match planner.plan_residue_tile(&problem, 1, THREADS[0]) {
            Ok(_) => usual_block(bench.gpu, &planner, &problem, lines)?,
            Err(_) => None,
        };
        let blocks = THREADS
            .iter()
            .flat_map(|&threads| LINES_PER_BLOCK.map(|lines| (lines, threads)));
        for (lines_per_block, threads) in blocks {
            let mut tile = Tile {
                layout: layout.into(),
                lines_per_block,
                threads,
                usual: usual == Some((lines_per_block, threads)),
                lines: lines as u64,
                missing: None,
                seconds: None,
                seconds_range: None,
                copy_seconds: (32 * lines * POINTS) as f64 / bench.copy_bytes_per_second,
                kernel: None,
                launches: Vec::new(),
                counters: Counters::default(),
            };
            if whole < LEAST_LINES {
                tile.missing = Some(format!(
                    "{lines} lines are too few to fill the device; take a larger --shape"
                ));
                tiles.push(tile);
                continue;
            }
            match planner.plan_residue_tile(&problem, lines_per_block, threads) {
                Ok(plan) => {
                    bench.make_room(&plan)?;
                    let timed = median(bench.gpu, &plan, bench.arrays, bench.seconds)?;
                    (tile.seconds, tile.seconds_range) = (Some(timed.median), Some(timed.range));
                    tile.kernel = super::facts(bench.gpu, &plan)?;
                    tile.launches = launches(&plan);
                }
                Err(FftError::Unsupported(why)) => tile.missing = Some(why),
                Err(other) => return Err(other.into()),
            }
            tiles.push(tile);
        }
    }
    Ok(tiles)
}

/// Lines and threads of a block by default.
fn usual_block(
    gpu: &Gpu,
    planner: &Planner<f64>,
    problem: &Problem,
    lines: usize,
) -> Result<Option<(u64, u32)>, Failure> {
    let plan = planner.plan(&problem.clone().engine(ozfft::Engine::Residues))?;
    let blocks = plan.device_grids().first().map(|&(_, blocks)| blocks);
    let lines = blocks.map(|blocks| lines as u64 / blocks.max(1));
    let threads = super::facts(gpu, &plan)?.map(|facts| facts.threads);
    Ok(lines.zip(threads))
}

/// Lines for one block on every place of the device, in the cache.
pub fn resident(bench: &mut Bench) -> Result<Vec<Resident>, Failure> {
    const REPEATS: u32 = 64;
    let planner = Planner::<f64>::new();
    let mut found = Vec::new();
    for (layout, _) in SHARES {
        // A plan for many lines says how many blocks of how many lines run side by side.
        let many = problem(layout, bench.points / POINTS, bench.device);
        let many = many.engine(ozfft::Engine::Residues);
        let plan = match planner.plan(&many) {
            Ok(plan) => plan,
            // The model says that they are missing.
            Err(FftError::Unsupported(_)) => continue,
            Err(other) => return Err(other.into()),
        };
        let (Some(facts), Some(&(_, blocks))) =
            (super::facts(bench.gpu, &plan)?, plan.device_grids().first())
        else {
            continue;
        };
        let side_by_side =
            u64::from(facts.blocks_per_multiprocessor) * bench.gpu.facts.multiprocessors as u64;
        let lines = (bench.points / POINTS) as u64 / blocks.max(1) * side_by_side;
        let problem = problem(layout, lines as usize, bench.device);
        let plan = planner.plan(&problem.engine(ozfft::Engine::Residues))?;
        let bytes = 32 * lines as usize * POINTS;
        if bytes > bench.gpu.facts.l2_bytes as usize || 16 * bench.points < bytes / 2 {
            continue;
        }
        bench.make_room(&plan)?;
        let mut times = Vec::new();
        for _ in 0..7 {
            times.push(bench.gpu.run(&plan, bench.arrays, REPEATS)?);
        }
        times.sort_by(f64::total_cmp);
        found.push(Resident {
            layout: layout.into(),
            lines,
            repeats: REPEATS,
            seconds: times[3],
            seconds_range: [times[0], times[6]],
            kernel: facts.kernel,
        });
    }
    Ok(found)
}

/// The numbers of lines in a block as a table.
pub fn table(tiles: &[Tile]) -> String {
    let heading = [
        "lines in a block",
        "threads",
        "time",
        "of a copy",
        "shared bytes",
        "blocks",
        "DRAM bytes of 32",
        "",
    ];
    let mut rows = vec![heading.map(String::from).to_vec()];
    let of = |text: Option<String>| text.unwrap_or("-".into());
    for tile in tiles {
        let kernel = tile.kernel.as_ref();
        let bytes = tile.counters.counts().and_then(|c| c.dram_bytes_per_point);
        let remark = match (&tile.missing, tile.usual) {
            (Some(reason), _) => reason.clone(),
            (None, true) => "as planned".into(),
            (None, false) => String::new(),
        };
        rows.push(vec![
            format!("{}, {}", tile.layout, tile.lines_per_block),
            tile.threads.to_string(),
            of(tile.seconds.map(seconds_text)),
            of(tile
                .seconds
                .map(|s| format!("{:.2}", s / tile.copy_seconds))),
            of(kernel.map(|k| k.shared_bytes.to_string())),
            of(kernel.map(|k| k.blocks_per_multiprocessor.to_string())),
            of(bytes.map(|x| format!("{x:.1}"))),
            remark,
        ]);
    }
    aligned(&rows)
}
