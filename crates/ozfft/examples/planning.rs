//! What planning costs: the time for a first plan of each length, and for one with tables that another plan has left.
//!
//!     cargo run --release -p ozfft --example planning 997 3998 100003 1000003

use ozfft::{Engine, FftError, Norm, Planner, Problem};
use std::time::Instant;

fn main() -> Result<(), FftError> {
    let lengths: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|n| n.parse().ok())
        .collect();
    println!("length      first [ms]  other norm [ms]  tables [KiB]");
    for n in lengths {
        let problem = Problem::complex(&[n]).engine(Engine::Digits).threads(1);
        let planner = Planner::<f64>::new();
        let time = |problem: &Problem| -> Result<_, FftError> {
            let start = Instant::now();
            let plan = planner.plan(problem)?;
            Ok((start.elapsed().as_secs_f64() * 1e3, plan))
        };
        let (first, plan) = time(&problem)?;
        let (second, _) = time(&problem.norm(Norm::Ortho))?;
        println!(
            "{n:<11} {first:10.2}  {second:15.2}  {:12}",
            plan.table_bytes() / 1024
        );
    }
    Ok(())
}
