//! Times of the residues engine on a GPU for all kinds of lines of 1024, 512 and 256 points, in f64 and f32, beside cuFFT; and of adaptive moduli by the accuracy that is
//! asked for, with the moduli that were taken. Bits are compared elsewhere: `ozfft selftest --device cuda --engine residues`.
//!
//!     cargo run --release -p ozfft-cli --example residue_kinds -- [POINTS]

use ozfft::{
    Accuracy, Device, Direction, Engine, Planner, Problem, Products, Real, ResidueOptions,
};
use ozfft_measure::gpu::{CuFft, DeviceWork, Gpu, Precision};
use ozfft_testkit::oracle::inputs::uniform_real;

const ROUNDS: usize = 7;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Shortest milliseconds of each, taken in turns.
fn timed<T: Real>(gpu: &Gpu, works: &[&dyn DeviceWork]) -> Outcome<Vec<f64>> {
    let mut arrays = gpu.arrays_for(works)?;
    // They are repeated: any are as good as others, but zeros, which adaptive moduli would make use of.
    let numbers = uniform_real(1 << 16, 25).into_iter();
    let numbers: Vec<T> = numbers.map(T::narrow).collect();
    arrays.input.fill(&numbers)?;
    let mut shortest = vec![f64::INFINITY; works.len()];
    for _ in 0..ROUNDS {
        for (work, shortest) in works.iter().zip(&mut shortest) {
            *shortest = shortest.min(1e3 * gpu.run(*work, &mut arrays, 3)?);
        }
    }
    Ok(shortest)
}

fn kinds<T: Real>(gpu: &Gpu, precision: Precision, points: usize) -> Outcome<()> {
    for n in [1024, 512, 256] {
        for (name, problem, direction) in [
            ("complex", Problem::complex(&[n]), Direction::Forward),
            (
                "real to complex",
                Problem::real_to_complex(&[n]),
                Direction::Forward,
            ),
            (
                "complex to real",
                Problem::complex_to_real(&[n]),
                Direction::Inverse,
            ),
        ] {
            let batch = points / n;
            let accuracy = match T::IS_DOUBLE {
                true => Accuracy::Double,
                false => Accuracy::Single,
            };
            let residues = problem.clone().batch(batch).accuracy(accuracy);
            let residues = residues.engine(Engine::Residues).products(Products::Exact);
            let plan = Planner::<T>::new().plan(&residues.device(Device::Cuda(0)))?;
            let cufft = CuFft::plan(gpu, &problem, (direction, batch), precision)?;
            let times = timed::<T>(gpu, &[&plan, &cufft])?;
            println!(
                "{precision:?}, {name}, {batch} lines of {n}: {:.3} ms, {:.1} ps a point, {:.2} times cuFFT's {:.3}",
                times[0],
                1e9 * times[0] / points as f64,
                times[0] / times[1],
                times[1]
            );
        }
    }
    Ok(())
}

fn adaptive(gpu: &Gpu, points: usize) -> Outcome<()> {
    let n = 1024;
    for accuracy in [None, Some(1e-14), Some(1e-12), Some(1e-9), Some(1e-6)] {
        let all = Problem::complex(&[n])
            .batch(points / n)
            .engine(Engine::Residues);
        let all = all.products(Products::Exact).device(Device::Cuda(0));
        let few = all.clone().residues(ResidueOptions {
            adaptive: true,
            ..ResidueOptions::default()
        });
        let few = match accuracy {
            Some(target) => few.accuracy(Accuracy::Target(target)),
            None => few,
        };
        let planner = Planner::<f64>::new();
        let (all, few) = (planner.plan(&all)?, planner.plan(&few)?);
        let times = timed::<f64>(gpu, &[&few, &all])?;
        let report = few.residue_report().ok_or("adaptive moduli are counted")?;
        println!(
            "adaptive, {}: {:.3} ms, {:.3} times all moduli's {:.3}; {report}",
            accuracy.map_or("double".into(), |target| format!("{target:e}")),
            times[0],
            times[0] / times[1],
            times[1]
        );
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let points = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 1 << 28,
    };
    let gpu = Gpu::open(0)?;
    println!("{}", gpu.facts.name);
    kinds::<f64>(&gpu, Precision::Double, points)?;
    kinds::<f32>(&gpu, Precision::Single, points)?;
    adaptive(&gpu, points)
}
