//! Kernels in short floating-point numbers under the emulator: their bits are those of the crate `floats` on a unit that adds as
//! the emulated tensor cores do, and no line exceeds its bound.

use crate::error::FftError;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine};
use crate::executor::cuda::floats::{FloatLines, LineArray, finding};
use crate::plan::Plan;
use crate::plan::planner::Planner;
use crate::problem::{self, Accuracy, Engine, Norm, Problem};
use floats::unit::{Alignment, MatrixUnit, Order, Rounding, Scalar, Shape, Term};
use floats::{Direction, FloatPlan, Format, Mode, Table};
use num_complex::Complex;
use ozfft_kernels::floats::KERNELS;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::{HardInput, Scale, compare_f32, dft, inputs};
use std::sync::Arc;

pub(crate) fn emulator() -> Arc<dyn Machine> {
    Arc::new(Emulator::with_tuned_kernels())
}

/// What `emulated_mma_floats.h` does.
const EMULATED: Order = Order::Aligned {
    depth: 16,
    guard_bits: 2,
};

/// The definition, adding in the blocks that kernels have: in the second product every other column of 16.
#[derive(Debug)]
struct InBlocks {
    unit: Scalar,
    n2: usize,
}

impl MatrixUnit for InBlocks {
    fn name(&self) -> &str {
        "in blocks"
    }

    fn order(&self) -> Order {
        EMULATED
    }

    fn format(&self) -> Format {
        self.unit.format()
    }

    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) {
        let second = shape.rows == 2 * self.n2.next_multiple_of(16);
        if !second || self.n2 == 8 {
            return self.unit.multiply(shape, terms, sums);
        }
        let place = |pair: usize| pair / 16 * 16 + pair % 8 * 2 + pair / 8 % 2;
        let arrays: Vec<(Vec<u32>, Vec<u32>)> = terms
            .iter()
            .map(|term| {
                let (mut left, mut right) = (term.left.to_vec(), term.right.to_vec());
                for pair in 0..shape.pairs {
                    for row in 0..shape.rows {
                        let row = row * shape.left_pitch;
                        left[row + pair] = term.left[row + place(pair)];
                    }
                    let (to, from) = (pair * shape.right_pitch, place(pair) * shape.right_pitch);
                    right[to..][..shape.columns]
                        .copy_from_slice(&term.right[from..][..shape.columns]);
                }
                (left, right)
            })
            .collect();
        let terms: Vec<Term<'_>> = arrays
            .iter()
            .map(|(left, right)| Term { left, right })
            .collect();
        self.unit.multiply(shape, &terms, sums);
    }
}

pub(crate) fn definition(n2: usize, n: usize, mode: Mode, direction: Direction) -> FloatPlan {
    let unit = match mode.format() {
        Some(Format::Fp16) => Scalar::fp16(EMULATED),
        _ => Scalar::new(EMULATED),
    };
    let unit = Arc::new(InBlocks { unit, n2 });
    FloatPlan::on_unit_with_table(n, mode, direction, unit, Table::Blocks).unwrap()
}

pub(crate) fn to_f32(line: &[Complex<f64>]) -> Vec<Complex<f32>> {
    let number = |value: &Complex<f64>| Complex::new(value.re as f32, value.im as f32);
    line.iter().map(number).collect()
}

/// Ordinary lines, and hard ones that fit f32; large and small ones among them.
pub(crate) fn lines(n: usize, seed: u64) -> Vec<Complex<f32>> {
    let uniform = inputs::uniform_complex(n, seed);
    let mut lines = vec![
        uniform.clone(),
        inputs::gaussian_complex(n, seed + 1),
        inputs::wide_range(n, seed, 30),
        inputs::scaled_by_power_of_two(&uniform, 100),
        inputs::scaled_by_power_of_two(&uniform, -120),
        inputs::scaled_by_power_of_two(&uniform, -140),
        vec![Complex::default(); n],
    ];
    lines.extend(HardInput::ALL.map(|input| input.generate(n, seed)));
    lines
        .iter()
        .map(|line| to_f32(line))
        .filter(|line| line.iter().all(|x| x.re.is_finite() && x.im.is_finite()))
        .flatten()
        .collect()
}

pub(crate) fn same(a: &[Complex<f32>], b: &[Complex<f32>]) -> bool {
    let bits = |x: f32| {
        if x.is_nan() {
            1
        } else {
            x.to_bits() & !(u32::from(x == 0.0) << 31)
        }
    };
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| bits(a.re) == bits(b.re) && bits(a.im) == bits(b.im))
}

#[test]
fn the_probe_finds_what_the_emulated_tensor_cores_do() {
    let machine = emulator();
    for format in [Format::Bf16, Format::Fp16] {
        let found = finding(&machine, format).unwrap();
        assert!(found.keeps_f32_sums_of_exact_products(), "{found}");
        assert_eq!(found.rounding, Rounding::Truncated);
        let expected = Alignment {
            depth: 16,
            guard_bits: 2,
        };
        assert_eq!(found.alignment, Some(expected), "{found}");
        assert!(!found.flushes_factors);
    }
}

#[test]
fn kernels_have_the_bits_of_the_definition_and_keep_their_bounds() {
    let machine = emulator();
    let mut compared = 0;
    for (number, kernel) in KERNELS.iter().enumerate() {
        let mode: Mode = kernel.mode.parse().unwrap();
        let n = kernel.points();
        let seed = 100 + number as u64;
        let given = lines(n, seed);
        let direction = match number % 2 {
            0 => Direction::Forward,
            _ => Direction::Inverse,
        };
        let plan = FloatLines::new(&machine, n, mode, direction).unwrap();
        let cpu = definition(kernel.factors.1, n, mode, direction);
        assert!(plan.bound() >= cpu.bound() * 0.999, "{}", plan.describe());
        let (mut ours, mut theirs) = (given.clone(), given.clone());
        plan.run_host(&mut ours).unwrap();
        cpu.process(&mut theirs, &mut cpu.workspace()).unwrap();
        for (line, (ours, theirs)) in ours.chunks(n).zip(theirs.chunks(n)).enumerate() {
            assert!(
                same(ours, theirs),
                "{} line {line}, seed {seed}",
                plan.describe()
            );
            compared += n;
        }
        let oracles = match direction {
            Direction::Forward => oracle::Direction::Forward,
            Direction::Inverse => oracle::Direction::Inverse,
        };
        // The referee takes its time: some lines of every length.
        for (line, ours) in given.chunks(n).zip(ours.chunks(n)).take(4) {
            let wide: Vec<_> = line
                .iter()
                .map(|x| Complex::new(f64::from(x.re), f64::from(x.im)))
                .collect();
            let error = compare_f32(ours, &dft(&wide, oracles), Scale::One).l2;
            assert!(
                error <= plan.bound(),
                "{}: {error:e}, seed {seed}",
                plan.describe()
            );
        }
    }
    println!("{compared} points compared");
}

#[test]
fn lines_that_are_not_finite_become_nan_and_others_do_not_notice() {
    let machine = emulator();
    for kernel in KERNELS.iter().filter(|kernel| kernel.points() != 512) {
        let mode: Mode = kernel.mode.parse().unwrap();
        let n = kernel.points();
        let plan = FloatLines::new(&machine, n, mode, Direction::Forward).unwrap();
        let clean = to_f32(&inputs::uniform_complex(5 * n, 7));
        let mut spoilt = clean.clone();
        spoilt[n + 3].im = f32::NAN;
        spoilt[3 * n + 1].re = f32::NEG_INFINITY;
        let (mut expected, mut ours) = (clean, spoilt);
        plan.run_host(&mut expected).unwrap();
        plan.run_host(&mut ours).unwrap();
        for line in 0..5 {
            let range = line * n..(line + 1) * n;
            if line == 1 || line == 3 {
                let all = ours[range].iter().all(|x| x.re.is_nan() && x.im.is_nan());
                assert!(all, "{} line {line}", kernel.name);
            } else {
                assert!(
                    same(&ours[range.clone()], &expected[range]),
                    "{} line {line}",
                    kernel.name
                );
            }
        }
    }
}

#[test]
fn lines_may_lie_apart_and_results_elsewhere() {
    let machine = emulator();
    for mode in [Mode::Bf16, Mode::Fp16Ozaki] {
        for n in [64, 256] {
            let plan = FloatLines::new(&machine, n, mode, Direction::Inverse).unwrap();
            let (count, distance, other) = (37, n + 2, n + 6);
            let given = to_f32(&inputs::uniform_complex(count * distance, 5));
            let mut expected: Vec<_> = given
                .chunks(distance)
                .flat_map(|l| l[..n].to_vec())
                .collect();
            plan.run_host(&mut expected).unwrap();
            let bytes: &[u8] = bytemuck::cast_slice(&given);
            let input = DeviceMemory::new(&machine, bytes.len()).unwrap();
            let output = DeviceMemory::new(&machine, 8 * count * other).unwrap();
            let untouched = Complex::new(1.5f32, -2.5);
            let mut results = vec![untouched; count * other];
            let array = |memory: &DeviceMemory, distance: usize| LineArray {
                address: memory.address(),
                distance: distance as u64,
            };
            // SAFETY: the memory is as long, and every call of the emulator is done when it returns.
            unsafe {
                machine.upload(0, input.address(), bytes).unwrap();
                machine
                    .upload(0, output.address(), bytemuck::cast_slice(&results))
                    .unwrap();
                let arrays = (array(&input, distance), array(&output, other));
                plan.run(0, arrays, count as u64, 0).unwrap();
                machine
                    .download(0, output.address(), bytemuck::cast_slice_mut(&mut results))
                    .unwrap();
            }
            for (line, expected) in results.chunks(other).zip(expected.chunks(n)) {
                assert!(same(&line[..n], expected), "{mode} {n}");
                assert!(line[n..].iter().all(|&x| x == untouched), "{mode} {n}");
            }
        }
    }
}

#[test]
fn two_level_has_the_bits_of_every_processor() {
    let machine = emulator();
    for kernel in KERNELS.iter().filter(|kernel| kernel.has_digits()) {
        let (n, mode) = (kernel.points(), Mode::OzakiTwoLevel);
        for direction in [Direction::Forward, Direction::Inverse] {
            let plan = FloatLines::new(&machine, n, mode, direction).unwrap();
            let cpu = FloatPlan::new(n, mode, direction, floats::Unit::best()).unwrap();
            assert_eq!(plan.bound(), cpu.bound());
            let given = lines(n, 300);
            let (mut ours, mut theirs) = (given.clone(), given);
            plan.run_host(&mut ours).unwrap();
            cpu.process(&mut theirs, &mut cpu.workspace()).unwrap();
            for (line, (ours, theirs)) in ours.chunks(n).zip(theirs.chunks(n)).enumerate() {
                assert!(same(ours, theirs), "{} line {line}, seed 300", kernel.name);
            }
        }
    }
}

/// A plan of a problem on a machine.
fn planned(machine: &Arc<dyn Machine>, problem: &Problem) -> Result<Plan<f32>, FftError> {
    Planner::<f32>::new().plan_on(problem, machine)
}

#[test]
fn plans_run_batches_with_norms_and_say_what_runs() {
    let machine = emulator();
    let (n, batch) = (256, 5);
    for mode in [Mode::Ozaki, Mode::Fp16, Mode::OzakiTwoLevel] {
        let engine = Engine::Floats(mode);
        let forward = Problem::complex(&[n]).batch(batch).engine(engine);
        let plan = planned(&machine, &forward).unwrap();
        let text = plan.to_string();
        assert!(
            text.contains("emulator") && text.contains("float_"),
            "{text}"
        );
        assert!(plan.bound_is_proven());
        // A processor's constants say nothing about a GPU.
        assert_eq!(plan.prediction(), None);
        let given = to_f32(&inputs::uniform_complex(n * batch, 17));
        let mut lines = given.clone();
        plan.process(&mut lines).unwrap();
        let back = planned(
            &machine,
            &forward.clone().direction(problem::Direction::Inverse),
        )
        .unwrap();
        back.process(&mut lines).unwrap();
        let norm = |values: &mut dyn Iterator<Item = f32>| {
            values.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt()
        };
        let error = norm(&mut lines.iter().zip(&given).map(|(a, b)| (a - b).norm()))
            / norm(&mut given.iter().map(|x| x.norm()));
        let both = plan.bound() + back.bound() + plan.bound() * back.bound();
        assert!(error <= both, "{mode}: {error:e} > {both:e}, seed 17");
    }
    let refused = |problem: Problem| {
        let problem = problem.engine(Engine::Floats(Mode::Bf16));
        planned(&machine, &problem).unwrap_err().to_string()
    };
    assert!(refused(Problem::complex(&[64, 64])).contains("several axes"));
    assert!(refused(Problem::real_to_complex(&[64])).contains("real"));
    assert!(refused(Problem::complex(&[128]).norm(Norm::Ortho)).contains("norm"));
}

#[test]
fn what_has_no_kernel_is_refused_by_name() {
    let machine = emulator();
    let refusal =
        |n: usize, mode: Mode| match FloatLines::new(&machine, n, mode, Direction::Forward) {
            Err(FftError::Unsupported(text)) => text,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{mode} {n} has a kernel"),
        };
    let text = refusal(1000, Mode::Ozaki);
    assert!(
        text.contains("64, 128, 256, 512, 1024") && text.contains("1000"),
        "{text}"
    );
    // Those without a matrix unit are no kernels of tensor cores.
    let text = refusal(1024, Mode::Kahan);
    assert!(
        text.contains("kahan") && text.contains("ozaki_hq"),
        "{text}"
    );
    let plan = FloatLines::new(&machine, 64, Mode::Bf16, Direction::Forward).unwrap();
    let error = plan.run_host(&mut [Complex::default(); 63]).unwrap_err();
    assert!(error.to_string().contains("63"), "{error}");
}

#[test]
fn auto_takes_the_fastest_mode_that_is_proven_to_keep_the_target() {
    let machine = emulator();
    let planner = Planner::<f32>::new();
    let asked = |problem: Problem, target: f64| {
        let problem = problem.accuracy(Accuracy::Target(target));
        planner.plan_on(&problem, &machine).unwrap()
    };
    let lines = || Problem::complex(&[256]).batch(3).engine(Engine::Auto);
    for (target, engine) in [
        (1e-2, Engine::Floats(Mode::Fp16)),
        (1e-4, Engine::Floats(Mode::Ozaki)),
        (1e-5, Engine::Floats(Mode::Fp16Ozaki)),
        (1e-6, Engine::Digits),
    ] {
        let plan = asked(lines(), target);
        assert_eq!(plan.engine(), engine, "{plan}");
        assert!(plan.bound() <= target && plan.bound_is_proven(), "{plan}");
        let choice = plan.choice().expect("engines were weighed");
        let taken: Vec<_> = choice.candidates.iter().filter(|c| c.is_taken()).collect();
        assert_eq!(taken.len(), 1, "{choice}");
        assert_eq!(taken[0].engine, engine, "{choice}");
    }
    // What the modes cannot do, and what is to have the same bits everywhere, is left to digits.
    for problem in [
        lines().reproducible(true),
        lines().integers_only(true),
        lines().engine(Engine::Digits),
        Problem::complex(&[100]),
        Problem::complex(&[16, 16]),
    ] {
        let plan = asked(problem, 1e-2);
        assert_eq!(plan.engine(), Engine::Digits, "{plan}");
    }
}
