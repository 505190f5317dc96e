//! Compares random and adversarial results with big integers: `cargo run --release -p kulisch --example verify -- --cases 10000000`.
//! Stops at the first wrong bit with exit code 1.

#[path = "../tests/common/cases.rs"]
mod cases;
#[path = "../tests/common/mod.rs"]
mod common;

use common::Generator;
use std::process::ExitCode;

fn option(name: &str, default: u64) -> Result<u64, String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    match (arguments.next(), arguments.next()) {
        (None, _) => Ok(default),
        (Some(_), Some(value)) => value
            .parse()
            .map_err(|_| format!("{name} takes a number, not {value:?}")),
        (Some(_), None) => Err(format!("{name} takes a number")),
    }
}

fn verify() -> Result<(), String> {
    let cases = option("--cases", 1_000_000)?;
    let seed = option("--seed", 1)?;
    let threads = option(
        "--threads",
        std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
    )?
    .max(1);
    let shares = std::thread::scope(|scope| {
        let share = |thread: u64| {
            move || {
                let mut generator = Generator::new(seed.wrapping_mul(1000).wrapping_add(thread));
                let (mut run, mut compared) = (0, 0u64);
                // A result compared with the referee is a case.
                while compared < cases.div_ceil(threads) {
                    compared += cases::run(&mut generator).map_err(|wrong| {
                        format!("seed {seed}, thread {thread}, run {run}: {wrong}")
                    })?;
                    run += 1;
                }
                Ok::<u64, String>(compared)
            }
        };
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(share(thread)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a thread panicked".to_string())?)
            .collect::<Vec<_>>()
    });
    let mut total = 0;
    for share in shares {
        total += share?;
    }
    println!(
        "{total} results compared with big integers (seed {seed}, {threads} threads): 0 wrong bits"
    );
    Ok(())
}

fn main() -> ExitCode {
    match verify() {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::FAILURE
        }
    }
}
