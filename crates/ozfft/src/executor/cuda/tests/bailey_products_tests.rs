//! Kernels of the template whose products are in fp8, in f16, or of four warps together, under the emulator against the portable unit: a sample of lengths, contiguous lines with
//! conversion instructions and strided ones without (`crates/ozfft-emulator/build.rs`). The emulator ends the program at a sum beyond what
//! the tensor instruction is known to keep.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::tests::tuned_tests::{NORMS, SEED, lines};
use crate::executor::cuda::tests::{Bench, Generator, STYLES, Style, everything, numbers};
use crate::problem::{Accuracy, Direction, Engine, Problem};
use crate::substrate::GpuUnit;
use crate::{FftError, Planner};
use num_complex::Complex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A unit, and lengths that the emulator has its kernels for.
struct Sample {
    unit: GpuUnit,
    name: &'static str,
    /// With other kernels.
    beside: &'static str,
    /// One step and two, odd and even, slots of one tile to three with and without a rest of four.
    blocks: &'static [usize],
    /// Of two passes in one launch, of two through memory, and primes.
    passes: &'static [usize],
    long: &'static [usize],
    convolutions: &'static [usize],
    /// Of `blocks`, a contiguous line of which lies beside strided ones of another; and one that is not on the list, so that there is no kernel for it with `OZFFT_EVERYTHING` either, and its name.
    plane: [usize; 2],
    missing: (usize, &'static str),
}

const SAMPLES: [Sample; 3] = [
    Sample {
        unit: GpuUnit::Fp8MmaSync,
        name: "fp8-mma-sync",
        beside: "fp8-mma-sync and int8-mma-sync",
        blocks: &[32, 45, 63, 64, 360, 1000, 1024],
        passes: &[2048, 3000],
        long: &[14580],
        convolutions: &[71],
        plane: [45, 64],
        missing: (121, "fp8_11x11"),
    },
    Sample {
        unit: GpuUnit::F16MmaSync,
        name: "f16-mma-sync",
        beside: "f16-mma-sync and int8-mma-sync",
        blocks: &[32, 63, 360, 1024],
        passes: &[2048],
        long: &[14580],
        convolutions: &[],
        plane: [63, 32],
        missing: (121, "f16_11x11"),
    },
    // Warps of passes do not multiply together.
    Sample {
        unit: GpuUnit::Int8Wgmma,
        name: "int8-wgmma",
        beside: "int8-wgmma and int8-mma-sync",
        blocks: &[32, 63, 64, 360],
        passes: &[],
        long: &[],
        convolutions: &[],
        plane: [63, 32],
        missing: (121, "wgmma_11x11"),
    },
];

impl Sample {
    fn lengths(&self) -> Vec<usize> {
        let listed = ozfft_kernels::template::listed().filter(|entry| !entry.strided);
        let lengths = listed.map(|entry| entry.steps.iter().product());
        let all = everything() && self.unit != GpuUnit::Int8Wgmma;
        lengths.filter(|n| self.blocks.contains(n) || all).collect()
    }
}

struct ProductBench {
    sample: &'static Sample,
    emulator: Arc<Emulator>,
    bench: Bench<f64>,
}

impl ProductBench {
    /// One for every unit.
    fn all() -> impl Iterator<Item = ProductBench> {
        SAMPLES.iter().map(ProductBench::new)
    }

    fn new(sample: &'static Sample) -> Self {
        println!("{}, seed {SEED:#x}", sample.name);
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let bench = Bench::on(Arc::<Emulator>::clone(&emulator));
        ProductBench {
            sample,
            emulator,
            bench,
        }
    }

    fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }

    fn check(&mut self, problem: &Problem, input: &[Complex<f64>], conversions: bool) {
        let problem = problem.clone().substrate(self.sample.unit);
        let found = self.bench.check_numbers(&problem, input, &[!conversions]);
        assert_eq!(found, self.sample.name, "{problem:?}");
    }

    /// One axis of an array of lines of all kinds.
    fn check_axis(&mut self, shape: &[usize], axis: usize, unusual_every: Option<usize>) {
        let seed = SEED ^ (self.bench.cases as u64 + 1);
        let input = lines(shape, axis, unusual_every, seed);
        let turn = self.bench.cases;
        let direction = [Direction::Forward, Direction::Inverse][turn % 2];
        let problem = Problem::complex(shape).axes(&[axis]);
        let problem = problem.direction(direction).norm(NORMS[turn % 4]);
        self.check(&problem, &input, axis + 1 == shape.len());
    }
}

#[test]
fn lines_of_all_kinds() {
    for mut bench in ProductBench::all() {
        for (number, n) in bench.sample.lengths().into_iter().enumerate() {
            let count = if n < 100 { 13 } else { 1 + number % 3 };
            bench.check_axis(&[count, n], 1, None);
            bench.check_axis(&[n, count + 1], 0, None);
            if n < 100 {
                bench.check_axis(&[2, n, 5], 1, None);
            }
        }
        assert_eq!(bench.left(), 0, "a line was left to the portable kernel");
        println!("{} cases", bench.bench.cases);
    }
}

/// Numbers whose digits, once they are biased, are all ones or all zeros, with signs that follow the rows of a matrix: as large as sums can
/// be. The emulator ends the program at one that is too large.
#[test]
fn digits_whose_sums_are_as_large_as_can_be() {
    for mut bench in ProductBench::all() {
        let lengths = bench.sample.lengths().into_iter();
        for n in lengths.filter(|&n| n < 400 || n == 1024) {
            bench.check(&Problem::complex(&[6, n]).axes(&[1]), &large(n), true);
        }
        println!("{} cases", bench.bench.cases);
    }
}

fn large(n: usize) -> Vec<Complex<f64>> {
    let number = |place: usize| {
        let (line, index) = (place / n, place % n);
        let fraction = f64::from_bits(match line {
            0 => 0x3fe0_1010_1010_1010,
            1 => 0x3fdf_efef_efef_efef,
            2 => 0x3fef_ffff_ffff_ffff,
            3 => 0x3fe0_2020_2020_2020,
            4 => 0x3fd0_0404_0404_0404,
            _ => 0x3fef_7f7f_7f7f_7f7f,
        });
        let angle = std::f64::consts::TAU * (index * (line + 1)) as f64 / 32.0;
        let (re, im) = (angle.cos().signum(), angle.sin().signum());
        Complex::new(fraction * re, fraction * im)
    };
    (0..6 * n).map(number).collect()
}

#[test]
fn lines_that_are_left_among_others() {
    for mut bench in ProductBench::all() {
        for n in [45, 63, 64, 360] {
            if !bench.sample.blocks.contains(&n) {
                continue;
            }
            let left = bench.left();
            bench.check_axis(&[8, n], 1, Some(4));
            bench.check_axis(&[n, 8], 0, Some(4));
            // In place and out of place, of either layout.
            assert_eq!(bench.left() - left, 4 * 2, "{n}");
        }
    }
}

/// Passes share the steps: both in one launch, one by one, and those of a convolution.
#[test]
fn passes() {
    for mut bench in ProductBench::all() {
        for &n in bench.sample.passes {
            bench.check_axis(&[2, n], 1, None);
            bench.check_axis(&[n, 2], 0, None);
        }
        for &n in bench.sample.long {
            for style in [Style::Uniform, Style::Wild] {
                let problem = Problem::complex(&[n]);
                let input = numbers(problem.input_len(), style, SEED);
                bench.check(&problem, &input, false);
            }
        }
        for &n in bench.sample.convolutions {
            let problem = Problem::complex(&[n]).batch(3);
            let input = numbers(problem.input_len(), Style::Uniform, SEED);
            bench.check(&problem, &input, false);
        }
        println!("{} cases", bench.bench.cases);
    }
}

/// Lengths, counts, layouts, norms, directions and numbers as they come.
#[test]
fn random_problems() {
    for mut bench in ProductBench::all() {
        let mut generator = Generator(SEED);
        for _ in 0..if everything() { 40 } else { 12 } {
            let mut below = |n: usize| (generator.next() >> 20) as usize % n;
            let n = bench.sample.blocks[below(bench.sample.blocks.len())];
            let most = 1 + 300 / n;
            let (outer, inner) = (1 + below(3), 1 + below(most));
            let (norm, direction) = (
                NORMS[below(4)],
                [Direction::Forward, Direction::Inverse][below(2)],
            );
            let style = STYLES[below(STYLES.len())];
            let contiguous = below(2) == 0 || outer * inner == 1;
            let problem = match contiguous {
                true => Problem::complex(&[n]).batch(outer * inner),
                false => Problem::complex(&[outer, n, inner + 1]).axes(&[1]),
            };
            let problem = problem.norm(norm).direction(direction);
            let input = numbers(problem.input_len(), style, generator.next());
            bench.check(&problem, &input, contiguous);
        }
        println!("{} cases", bench.bench.cases);
    }
}

/// What a plan says of transforms of which such products take a part, or nothing; and on GPUs that have none.
#[test]
fn problems_that_the_template_does_not_take_are_refused_or_named() {
    let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
    let planner = Planner::<f64>::new();
    for sample in &SAMPLES {
        let on_unit = |problem: Problem| {
            let problem = problem.substrate(sample.unit);
            planner.plan_on(&problem, &machine)
        };
        let [strided, contiguous] = sample.plane;
        let plan = on_unit(Problem::complex(&[contiguous])).unwrap();
        assert_eq!(plan.substrate(), sample.name);
        // The last axis has conversion instructions, and the emulator has none of those for the first: the plan says so.
        let plan = on_unit(Problem::complex(&[strided, contiguous])).unwrap();
        assert_eq!(plan.substrate(), sample.beside);
        assert!(
            plan.to_string().contains("the emulator has no kernel"),
            "{plan}"
        );
        for problem in [
            Problem::real_to_complex(&[contiguous]),
            Problem::complex(&[contiguous]).accuracy(Accuracy::Single),
            Problem::complex(&[343]),
        ] {
            let error = on_unit(problem.engine(Engine::Digits)).err();
            let error = error.expect("no kernel").to_string();
            assert!(error.contains("take the substrate auto"), "{error}");
        }
        // Why there is no kernel is part of the error.
        let (n, kernel) = sample.missing;
        let error = on_unit(Problem::complex(&[n])).expect_err("no kernel");
        assert!(error.to_string().contains(kernel), "{error}");
        let single = Planner::<f32>::new();
        let problem = Problem::complex(&[contiguous]).substrate(sample.unit);
        let problem = problem.engine(Engine::Digits);
        assert!(single.plan_on(&problem, &machine).is_err());
    }
    // Compute capability 8.0, which is enough for f16; nothing older can be opened.
    let old: Arc<dyn Machine> = Arc::new(Emulator::default());
    let problem = Problem::complex(&[64]).substrate(GpuUnit::Fp8MmaSync);
    let error = planner.plan_on(&problem, &old).expect_err("too old");
    assert!(matches!(error, FftError::NoFp8 { .. }), "{error}");
    assert!(error.to_string().contains("int8-mma-sync"), "{error}");
}
