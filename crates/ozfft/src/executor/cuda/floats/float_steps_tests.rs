//! Kernels in f32 and f64, and lines that are copied or refined, under the emulator: their bits are those of the crate `floats`.

use crate::executor::cuda::floats::floats_tests::{definition, emulator, lines, same, to_f32};
use crate::plan::planner::Planner;
use crate::problem::{Direction, Engine, Norm, Problem};
use crate::sample::Real;
use crate::{FftError, Plan};
use bytemuck::Pod;
use floats::{Mode, tables};
use num_complex::Complex;
use ozfft_testkit::oracle::inputs;
use std::sync::Arc;

/// The same plan on the processor and on the emulator.
fn plans<T: Real>(problem: &Problem) -> Result<(Arc<Plan<T>>, Plan<T>), FftError> {
    let planner = Planner::<T>::new();
    let gpu = planner.plan_on(problem, &emulator())?;
    Ok((planner.plan(problem)?, gpu))
}

fn same_bits<T: Real + Pod>(a: &[Complex<T>], b: &[Complex<T>]) -> bool {
    bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b)
}

/// Lines of all sizes, among them some that are scaled, that overflow without the norm's room, and that are not finite.
fn hard_lines(n: usize, count: usize, seed: u64) -> Vec<Complex<f32>> {
    let mut all = lines(n, seed);
    let uniform = to_f32(&inputs::uniform_complex(n, seed));
    all.extend(uniform.iter().map(|x| x * 1e38));
    let mut spoilt = uniform;
    spoilt[n / 2].im = f32::NAN;
    all.extend(&spoilt);
    spoilt[n / 2].im = f32::INFINITY;
    all.extend(&spoilt);
    let whole = all.len() / n;
    (0..count)
        .flat_map(|line| all[(line % whole) * n..][..n].to_vec())
        .collect()
}

#[test]
fn lines_in_f32_and_f64_have_the_processors_bits() {
    let hard = 24;
    // Lengths of every step, of one point, of Bluestein's algorithm, and beyond shared memory in the last two.
    for (n, count) in [
        (1, 3),
        (2, hard),
        (8, 300),
        (26, hard),
        (105, hard),
        (128, hard),
        (77, 5),
        (67, hard),
        (1024, 3),
        (2000, 2),
        (8192, 1),
        (16384, 3),
    ] {
        for mode in [Mode::Fast, Mode::Kahan, Mode::Double] {
            if n > 8000 && mode == Mode::Kahan {
                continue;
            }
            let direction = match n % 4 {
                0 => Direction::Inverse,
                _ => Direction::Forward,
            };
            let problem = Problem::complex(&[n])
                .batch(count)
                .direction(direction)
                .engine(Engine::Floats(mode));
            let (cpu, gpu) = plans::<f32>(&problem).unwrap();
            assert_eq!(cpu.bound(), gpu.bound());
            let text = gpu.to_string();
            assert!(
                text.contains("float_") && text.contains("emulator"),
                "{text}"
            );
            let mut theirs = hard_lines(n, count, n as u64);
            let mut ours = theirs.clone();
            cpu.process(&mut theirs).unwrap();
            gpu.process(&mut ours).unwrap();
            for (line, (ours, theirs)) in ours.chunks(n).zip(theirs.chunks(n)).enumerate() {
                assert!(same_bits(ours, theirs), "{mode} {n}, line {line}, seed {n}");
            }
        }
    }
}

#[test]
fn lines_of_f64_have_the_processors_bits() {
    for (n, norm) in [(64, Norm::Backward), (60, Norm::Ortho), (37, Norm::Forward)] {
        let problem = Problem::complex(&[n])
            .batch(7)
            .norm(norm)
            .direction(Direction::Inverse)
            .engine(Engine::Floats(Mode::Double));
        let (cpu, gpu) = plans::<f64>(&problem).unwrap();
        let uniform = inputs::uniform_complex(n, 5);
        let powers = [0, 1000, -1000, -1060, 60, 1015];
        let mut theirs: Vec<Complex<f64>> = powers
            .iter()
            .flat_map(|&power| inputs::scaled_by_power_of_two(&uniform, power))
            .chain(inputs::wide_range(n, 6, 300))
            .collect();
        let mut ours = theirs.clone();
        cpu.process(&mut theirs).unwrap();
        gpu.process(&mut ours).unwrap();
        assert!(same_bits(&ours, &theirs), "{n}, seed 5");
        assert_eq!(cpu.bound(), gpu.bound());
    }
    let wide = Problem::complex(&[64]).engine(Engine::Floats(Mode::Fast));
    let Err(error) = plans::<f64>(&wide) else {
        panic!("fast has no f64");
    };
    assert!(error.to_string().contains("f64"), "{error}");
}

#[test]
fn strided_lines_and_any_norm_have_the_processors_bits() {
    for (shape, axis, mode) in [
        (vec![40, 23], 0, Mode::Fast),
        (vec![3, 20, 5], 1, Mode::Kahan),
        (vec![18, 3, 2], 0, Mode::Double),
        (vec![9, 6, 6], 2, Mode::Fast),
        // Longer than shared memory.
        (vec![16384, 3], 0, Mode::Double),
    ] {
        let points: usize = shape.iter().product();
        let problem = Problem::complex(&shape)
            .axes(&[axis])
            .batch(2)
            .norm(Norm::Ortho)
            .engine(Engine::Floats(mode));
        let (cpu, gpu) = plans::<f32>(&problem).unwrap();
        let mut theirs = to_f32(&inputs::uniform_complex(2 * points, 8));
        theirs[1] *= 1e37;
        let mut ours = theirs.clone();
        cpu.process(&mut theirs).unwrap();
        gpu.process(&mut ours).unwrap();
        assert!(same_bits(&ours, &theirs), "{mode} {shape:?}, seed 8");
    }
}

#[test]
fn strided_lines_of_tensor_cores_are_those_of_contiguous_ones() {
    for mode in [Mode::Bf16, Mode::Fp16Ozaki, Mode::OzakiTwoLevel] {
        let (n, columns) = (64, 19);
        let engine = Engine::Floats(mode);
        let strided = Problem::complex(&[n, columns]).axes(&[0]).engine(engine);
        let together = Problem::complex(&[n]).batch(columns).engine(engine);
        let planner = Planner::<f32>::new();
        let plan = |problem: &Problem| planner.plan_on(problem, &emulator()).unwrap();
        let (strided, together) = (plan(&strided), plan(&together));
        assert!(strided.to_string().contains("copies"), "{strided}");
        let given = to_f32(&inputs::uniform_complex(n * columns, 9));
        let mut ours = given.clone();
        strided.process(&mut ours).unwrap();
        let transposed = |a: &[Complex<f32>], rows: usize, columns: usize| -> Vec<_> {
            let place = |i: usize| a[i % rows * columns + i / rows];
            (0..rows * columns).map(place).collect()
        };
        let mut theirs = transposed(&given, n, columns);
        together.process(&mut theirs).unwrap();
        assert!(
            same(&ours, &transposed(&theirs, columns, n)),
            "{mode}, seed 9"
        );
    }
}

#[test]
fn refined_lines_have_the_bits_of_the_definition_and_keep_their_bound() {
    for (n, direction) in [(64, Direction::Forward), (256, Direction::Inverse)] {
        let mode = Mode::Bf16Refined;
        let given = lines(n, 21);
        let problem = Problem::complex(&[n])
            .batch(given.len() / n)
            .direction(direction)
            .norm(Norm::Unscaled)
            .engine(Engine::Floats(mode));
        let plan = Planner::<f32>::new()
            .plan_on(&problem, &emulator())
            .unwrap();
        let (_, n2) = tables::factors(n, mode).unwrap();
        let other = match direction {
            Direction::Forward => floats::Direction::Forward,
            Direction::Inverse => floats::Direction::Inverse,
        };
        let cpu = definition(n2, n, mode, other);
        assert!((plan.bound() / cpu.bound() - 1.0).abs() < 1e-9, "{plan}");
        let (mut ours, mut theirs) = (given.clone(), given);
        plan.process(&mut ours).unwrap();
        cpu.process(&mut theirs, &mut cpu.workspace()).unwrap();
        for (line, (ours, theirs)) in ours.chunks(n).zip(theirs.chunks(n)).enumerate() {
            assert!(same(ours, theirs), "{n} line {line}, seed 21");
        }
    }
}
