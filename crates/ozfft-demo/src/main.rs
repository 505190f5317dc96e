//! `cargo run --release -p ozfft-demo`: the first thing to run.

use std::process::ExitCode;

fn main() -> ExitCode {
    let (size, seed, _) = ozfft_demo::PUBLISHED;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let progress = |next: &str| eprintln!("  {next} ...");
    match ozfft_demo::demonstrate((size, seed, threads), &[], progress) {
        Ok(shown) => {
            println!("{shown}");
            match shown.fault() {
                None => ExitCode::SUCCESS,
                Some(fault) => {
                    eprintln!("{fault}; please report this");
                    ExitCode::FAILURE
                }
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
