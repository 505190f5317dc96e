//! The posts' dispatch table on a processor: every algorithm at every length that has it, and where one overtakes another.
//!
//! `cargo run --release -p ozfft-floats --example dispatch [seconds a length [json]]`; `json` writes a record instead of tables.
//!
//! f32 data, mode `fast`, one thread, batches of 2^13 points (beyond 512 points that is fewer lines than vectors have lanes, for all alike). Algorithms of a length alternate, and the shortest time of each counts: a busy
//! machine disturbs that least.

use floats::{Direction, FloatPlan, Mode, Path, Table, Unit, Workspace};
use num_complex::Complex;
use ozfft_testkit::oracle::inputs;
use std::time::{Duration, Instant};

const LENGTHS: [usize; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const POINTS: usize = 1 << 13;
const PATHS: [Path; 6] = [
    Path::DftGemm,
    Path::Radix8,
    Path::Radix4,
    Path::Mixed,
    Path::Butterfly,
    Path::Bluestein,
];
/// Microseconds on a trn1.2xlarge, from the post on dispatch: a length and a time for each path in the order above.
const POSTED: [(usize, [Option<f64>; 6]); 5] = [
    (
        64,
        [
            Some(1883.0),
            Some(3402.0),
            Some(4254.0),
            None,
            Some(4767.0),
            None,
        ],
    ),
    (
        256,
        [Some(1882.0), None, Some(5446.0), None, Some(6067.0), None],
    ),
    (512, [None, Some(4483.0), None, None, Some(6600.0), None]),
    (
        1024,
        [
            None,
            None,
            Some(6628.0),
            Some(0.85 * 6628.0),
            Some(7399.0),
            None,
        ],
    ),
    (
        4096,
        [None, Some(5917.0), Some(8424.0), None, Some(9387.0), None],
    ),
];

struct Contender {
    plan: FloatPlan,
    workspace: Workspace,
    shortest: Duration,
}

/// Shortest nanoseconds a point of every path that the length has.
fn measured(n: usize, seconds: f64) -> [Option<f64>; 6] {
    let line: Vec<Complex<f32>> = inputs::uniform_complex(POINTS, 1)
        .iter()
        .map(|x| Complex::new(x.re as f32, x.im as f32))
        .collect();
    let mut contenders = PATHS.map(|path| {
        let plan = FloatPlan::with_table(
            n,
            Mode::Fast,
            Direction::Forward,
            Unit::Scalar,
            Table::Only(path),
        )
        .ok()?;
        let workspace = plan.workspace();
        Some(Contender {
            plan,
            workspace,
            shortest: Duration::MAX,
        })
    });
    let begin = Instant::now();
    let mut data = line.clone();
    let mut rounds = 0;
    while rounds < 5 || begin.elapsed().as_secs_f64() < seconds {
        for contender in contenders.iter_mut().flatten() {
            data.copy_from_slice(&line);
            let start = Instant::now();
            contender
                .plan
                .process(&mut data, &mut contender.workspace)
                .expect("whole lines");
            contender.shortest = contender.shortest.min(start.elapsed());
        }
        rounds += 1;
    }
    contenders
        .map(|contender| contender.map(|one| one.shortest.as_secs_f64() * 1e9 / POINTS as f64))
}

fn row(first: &str, cells: [Option<String>; 6], fastest: &str) {
    let cells = cells.map(|cell| cell.unwrap_or("-".into()));
    println!("| {first} | {} | {fastest} |", cells.join(" | "));
}

fn fastest(times: &[Option<f64>; 6]) -> usize {
    let known = times
        .iter()
        .enumerate()
        .filter_map(|(index, time)| Some((index, (*time)?)));
    known
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .expect("a path for every length")
        .0
}

/// The record: one row for each length and algorithm.
fn print_record(seconds: f64) {
    let plan = FloatPlan::new(64, Mode::Fast, Direction::Forward, Unit::Scalar).expect("a plan");
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processor = processor.map_or("not known", |(_, name)| name);
    println!("{{");
    println!(
        "  \"dispatch\": 1, \"mode\": \"fast\", \"numbers\": \"f32\", \"threads\": 1, \"points_a_call\": {POINTS},"
    );
    println!(
        "  \"processor\": {processor:?}, \"vectors\": {:?}, \"seconds_a_length\": {seconds},",
        plan.vectors()
    );
    println!("  \"rows\": [");
    let mut rows = Vec::new();
    for n in LENGTHS {
        for (path, time) in PATHS.iter().zip(measured(n, seconds)) {
            rows.extend(time.map(|time| {
                format!("    {{\"n\": {n}, \"path\": \"{path}\", \"ns_per_point\": {time:.3}}}")
            }));
        }
    }
    println!("{}\n  ]\n}}", rows.join(",\n"));
}

fn main() {
    let seconds = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(2.0);
    if std::env::args().nth(2).as_deref() == Some("json") {
        print_record(seconds);
        return;
    }
    println!("Nanoseconds a point here; in brackets times over the fastest of the length\n");
    row("n", PATHS.map(|path| Some(path.to_string())), "fastest");
    println!("|{}", "---|".repeat(8));
    for n in LENGTHS {
        let times = measured(n, seconds);
        let best = fastest(&times);
        let least = times[best].expect("the fastest");
        let cells = times.map(|time| time.map(|time| format!("{time:.2} ({:.2})", time / least)));
        row(&n.to_string(), cells, &PATHS[best].to_string());
    }
    println!("\nThe post (trn1.2xlarge), over the fastest of the length\n");
    row("n", PATHS.map(|path| Some(path.to_string())), "fastest");
    println!("|{}", "---|".repeat(8));
    for (n, times) in POSTED {
        let best = fastest(&times);
        let least = times[best].expect("the fastest");
        row(
            &n.to_string(),
            times.map(|time| time.map(|time| format!("{:.2}", time / least))),
            &PATHS[best].to_string(),
        );
    }
}
