//! The ladder: errors of every mode beside those of trnfft's posts with the reasons for differences, and times.
//!
//! `cargo run --release -p ozfft-floats --example ladder [errors|reasons|times [mode]|tables]`, all without an argument.

mod posts;

use floats::posts::Printed;
use floats::{Direction, FloatPlan, Mode, Table, Unit};
use num_complex::Complex;
use ozfft_testkit::oracle::inputs;
use posts::{Angles, butterfly, errors, errors_f32, exact, gemm, real_line, refined_in_bf16};
use std::time::Instant;

const LENGTHS: [usize; 9] = [64, 128, 256, 512, 1000, 1009, 1024, 4096, 8191];
/// Lines over which errors are averaged.
const LINES: u64 = 16;

/// Errors of a mode: of real normal lines in the posts' norm and of uniform ones in L2.
fn measured(n: usize, mode: Mode, table: Table) -> (f64, f64, FloatPlan) {
    let plan = FloatPlan::with_table(n, mode, Direction::Forward, Unit::best(), table)
        .expect("this machine's units are fit");
    let mut workspace = plan.workspace();
    let run = |line: &[Complex<f32>], workspace: &mut floats::Workspace| {
        let truth = exact(line);
        if mode.takes_f64() {
            let wide = |v: &Complex<f32>| Complex::new(f64::from(v.re), f64::from(v.im));
            let mut line: Vec<_> = line.iter().map(wide).collect();
            plan.process_f64(&mut line, workspace).expect("whole lines");
            errors(line.into_iter(), &truth)
        } else {
            let mut line = line.to_vec();
            plan.process(&mut line, workspace).expect("whole lines");
            errors_f32(&line, &truth)
        }
    };
    let (mut largest, mut squares) = (0.0, 0.0);
    for seed in 1..=LINES {
        largest += run(&real_line(n, seed), &mut workspace).0;
        let uniform = inputs::uniform_complex(n, seed);
        let uniform: Vec<_> = uniform
            .iter()
            .map(|v| Complex::new(v.re as f32, v.im as f32))
            .collect();
        squares += run(&uniform, &mut workspace).1.powi(2);
    }
    (
        largest / LINES as f64,
        (squares / LINES as f64).sqrt(),
        plan,
    )
}

fn print_errors() {
    println!(
        "Errors: L2 of uniform complex lines against the referee; f64 data for ozaki_two_level and double."
    );
    println!(
        "posts' norm: largest error over largest magnitude, normal real lines; printed: trnfft's posts\n"
    );
    println!(
        "mode             table     n     L2       expected bound    posts'   printed  verdict"
    );
    for mode in Mode::ALL {
        for n in LENGTHS {
            let printed = Printed::find(mode, n);
            for table in [Table::Measured, Table::Posted] {
                if table == Table::Posted && printed.is_none() {
                    continue;
                }
                let (largest, l2, plan) = measured(n, mode, table);
                let expected = plan.expected_f64().unwrap_or(plan.expected());
                let bound = plan.bound_f64().unwrap_or(plan.bound());
                let verdict = printed
                    .map(|printed| format!("{:.2e} {}", printed.error, printed.verdict(largest)));
                let verdict = verdict.unwrap_or_default();
                println!(
                    "{mode:<16} {:<8} {n:>5} {l2:.2e} {expected:.2e} {bound:.2e} {largest:.2e} {verdict}",
                    format!("{table:?}").to_lowercase()
                );
            }
        }
    }
}

/// The mean over lines of an error in the posts' norm.
fn mean(n: usize, compute: impl Fn(&[Complex<f32>]) -> Vec<Complex<f32>>) -> f64 {
    let error = |seed| {
        let line = real_line(n, seed);
        errors_f32(&compute(&line), &exact(&line)).0
    };
    (1..=LINES).map(error).sum::<f64>() / LINES as f64
}

fn print_reasons() {
    println!(
        "\n1. Angles: bf16 and ozaki with exact sums, entries from f32 angles as in trnfft, and from exact ones"
    );
    for n in [64, 128, 256] {
        let with = |angles, parts: usize| {
            mean(n, |line| {
                gemm(line, angles, false, (parts, parts), move |d, m| {
                    d + m < parts
                })
            })
        };
        println!(
            "   n = {n:>3}: bf16 {:.1e} and {:.1e}, ozaki {:.1e} and {:.1e}",
            with(Angles::Single, 1),
            with(Angles::Exact, 1),
            with(Angles::Single, 2),
            with(Angles::Exact, 2)
        );
    }
    println!("2. Refinement with the inverse in bf16, as in trnfft's source: nothing is gained");
    for n in [64, 256] {
        let plain = mean(n, |line| {
            gemm(line, Angles::Exact, false, (1, 1), |_, _| true)
        });
        println!(
            "   n = {n:>3}: bf16 {plain:.1e}, refined {:.1e}",
            mean(n, refined_in_bf16)
        );
    }
    println!("3. ozaki_hq with the matrix in two parts and data in three, as in trnfft's source");
    for n in [64, 256] {
        let with = |angles| mean(n, |line| gemm(line, angles, false, (3, 2), |_, _| true));
        println!(
            "   n = {n:>3}: f32 angles {:.1e}, exact ones {:.1e}; the f32 butterfly {:.1e} (what `ozaki_hq` runs without a tensor engine)",
            with(Angles::Single),
            with(Angles::Exact),
            mean(n, |line| butterfly(line, false, 0))
        );
    }
    println!("4. trnfft's radix-2 butterfly in IEEE f32, and with products cut by some bits");
    for n in [256, 512, 1024, 4096] {
        let with = |compensated, lost| mean(n, |line| butterfly(line, compensated, lost));
        println!(
            "   n = {n:>4}: plain {:.2e}, compensated products {:.2e}; plain with 3 bits lost {:.2e}, 4 bits {:.2e}",
            with(false, 0),
            with(true, 0),
            with(false, 3),
            with(false, 4)
        );
    }
}

/// Nanoseconds a point: the best of many short runs over 2^17 points.
fn time(n: usize, mode: Mode, unit: Unit, table: Table, wide: bool) -> f64 {
    let plan = FloatPlan::with_table(n, mode, Direction::Forward, unit, table).expect("a fit unit");
    let lines = ((1 << 17) / n).max(16);
    let mut workspace = plan.workspace();
    let input = inputs::uniform_complex(lines * n, 1);
    let narrow: Vec<_> = input
        .iter()
        .map(|v| Complex::new(v.re as f32, v.im as f32))
        .collect();
    let (mut best, start) = (f64::INFINITY, Instant::now());
    let (mut data, mut data_f64) = (narrow.clone(), input.clone());
    for round in 0.. {
        data_f64.copy_from_slice(&input);
        data.copy_from_slice(&narrow);
        let run = Instant::now();
        if wide {
            plan.process_f64(&mut data_f64, &mut workspace)
                .expect("whole lines");
        } else {
            plan.process(&mut data, &mut workspace)
                .expect("whole lines");
        }
        best = best.min(run.elapsed().as_secs_f64());
        if round >= 5 && start.elapsed().as_secs_f64() > 0.25 {
            break;
        }
    }
    best * 1e9 / (lines * n) as f64
}

/// Lengths that are timed: one product, two, stages of odd primes, a convolution.
const TIMED: [usize; 9] = [16, 64, 251, 256, 1000, 1009, 1024, 4096, 16_384];

fn header() -> String {
    let columns = TIMED.map(|n| format!("{n:>8}"));
    columns.concat()
}

fn print_times() {
    println!("\nTimes: nanoseconds a point, batches of 2^17 points, one thread\n");
    println!("mode             unit         table   {}", header());
    let only = std::env::args().nth(2);
    let wanted = |mode: &Mode| only.as_deref().is_none_or(|only| only == mode.name());
    for mode in Mode::ALL.into_iter().filter(wanted) {
        for unit in
            Unit::available().filter(|&unit| mode.needs_matrix_unit() || unit == Unit::Scalar)
        {
            for table in [Table::Measured, Table::Posted] {
                let slow = unit == Unit::Scalar && mode.needs_matrix_unit();
                if slow && (table == Table::Posted || only.is_none()) {
                    continue;
                }
                let name = if mode.needs_matrix_unit() {
                    unit.name()
                } else {
                    "vectors"
                };
                print!(
                    "{mode:<16} {name:<12} {:<8}",
                    format!("{table:?}").to_lowercase()
                );
                for n in TIMED {
                    print!(" {:>7.2}", time(n, mode, unit, table, false));
                }
                println!();
            }
        }
        if mode.takes_f64() {
            print!("{mode:<16} {:<21}", "f64 data");
            for n in TIMED {
                print!(
                    " {:>7.2}",
                    time(n, mode, Unit::best(), Table::Measured, true)
                );
            }
            println!();
        }
    }
}

fn main() {
    let asked = std::env::args().nth(1);
    let wants = |name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    if wants("tables") {
        for unit in Unit::available() {
            println!("{unit}: {}", unit.probe().expect("it is there"));
        }
        println!("\nDispatch, as the posts describe it:\n{}", Table::Posted);
        println!("Dispatch by default:\n{}", Table::Measured);
    }
    if wants("errors") {
        print_errors();
    }
    if wants("reasons") {
        print_reasons();
    }
    if wants("times") {
        print_times();
    }
}
