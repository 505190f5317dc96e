//! Time against target on every unit of this processor: `Double` with f64 data and lower accuracies with f32 data, call by
//! call in turns, the shortest call of each.
//!
//!     cargo run --release -p ozfft --example low_end -- [points] [lines] [rounds]

use num_complex::Complex;
use ozfft::{Accuracy, CpuUnit, Engine, Plan, Planner, Problem, Real, Substrate};
use std::sync::Arc;
use std::time::Instant;

/// A plan, its arrays, and the shortest call so far.
struct Runner<T: Real> {
    plan: Arc<Plan<T>>,
    input: Vec<Complex<T>>,
    output: Vec<Complex<T>>,
    workspace: Vec<u64>,
    best: f64,
}

impl<T: Real> Runner<T> {
    fn new(
        problem: &Problem,
        length: usize,
        number: impl Fn(f64) -> T,
    ) -> Result<Self, ozfft::FftError> {
        let plan = Planner::<T>::new().plan(problem)?;
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            number((state as i64) as f64 / 2f64.powi(63))
        };
        Ok(Runner {
            workspace: vec![0; plan.workspace_len()],
            input: (0..length).map(|_| Complex::new(next(), next())).collect(),
            output: vec![Complex::new(T::default(), T::default()); length],
            plan,
            best: f64::INFINITY,
        })
    }

    fn call(&mut self) -> Result<(), ozfft::FftError> {
        let start = Instant::now();
        self.plan.process_outofplace_with_workspace(
            &self.input,
            &mut self.output,
            &mut self.workspace,
        )?;
        self.best = self.best.min(start.elapsed().as_secs_f64());
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let mut argument = |default: usize| arguments.next().unwrap_or(Ok(default));
    let (points, lines, rounds) = (argument(1024)?, argument(256)?, argument(300)?);
    let low = [
        ("single", Accuracy::Single),
        ("1e-7", Accuracy::Target(1e-7)),
        ("1e-6", Accuracy::Target(1e-6)),
        ("1e-5", Accuracy::Target(1e-5)),
        ("1e-4", Accuracy::Target(1e-4)),
        ("1e-3", Accuracy::Target(1e-3)),
        ("1e-2", Accuracy::Target(1e-2)),
        ("1e-1", Accuracy::Target(1e-1)),
    ];
    for (name, substrate) in [
        ("amx", Substrate::Cpu(CpuUnit::Amx)),
        ("avx512-vnni", Substrate::Cpu(CpuUnit::Avx512Vnni)),
        ("avx2", Substrate::Cpu(CpuUnit::Avx2)),
    ] {
        let problem = |accuracy| {
            Problem::complex(&[points])
                .batch(lines)
                .engine(Engine::Digits)
                .substrate(substrate)
                .threads(1)
                .accuracy(accuracy)
        };
        let Ok(mut double) = Runner::<f64>::new(&problem(Accuracy::Double), points * lines, |x| x)
        else {
            println!("{name}: not on this processor");
            continue;
        };
        let mut others = Vec::new();
        for (target, accuracy) in low {
            match Runner::<f32>::new(&problem(accuracy), points * lines, |x| x as f32) {
                Ok(runner) => others.push((target, runner)),
                Err(error) => println!("{name} {target}: {error}"),
            }
        }
        for _ in 0..rounds {
            double.call()?;
            for (_, runner) in &mut others {
                runner.call()?;
            }
        }
        let each = |best: f64| best / lines as f64 * 1e6;
        println!("{name}: double {:.2} µs a line", each(double.best));
        for (target, runner) in &others {
            let recipe = runner.plan.recipe();
            println!(
                "  {target:>7} {:6.2} µs  {:.3} of double   bound {:.1e}, expected {:.1e}   {}",
                each(runner.best),
                runner.best / double.best,
                runner.plan.bound(),
                runner.plan.expected(),
                recipe.map_or(String::new(), |recipe| recipe.to_string())
            );
        }
    }
    Ok(())
}
