//! The tuned kernels for real lines under the emulator against the portable unit, as `tests/cuda_tuned.rs` compares them on a
//! GPU: lines of all kinds, those that they must leave among them, in place and with gaps.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine};
use crate::executor::cuda::tables::common::matrices;
use crate::executor::cuda::tables::tuned_tables::tables;
use crate::executor::cuda::tables::tuned_tables::tests::{
    biased_diagonals, block, diagonals, put_together, random_words, rounded, shape,
};
use crate::executor::cuda::tests::tuned_tests::{LENGTHS, NORMS, SEED, power};
use crate::executor::cuda::tests::{Generator, STYLES, Style, everything, numbers, same};
use crate::kind::Kind;
use crate::problem::{Engine, Norm, Problem};
use crate::sample::Real;
use crate::substrate::{GpuUnit, Substrate};
use crate::transform::tables::Tables;
use crate::{DevicePointer, Layout, Plan, Planner};
use num_complex::Complex;
use ozfft_kernels::{Elements, Product, tuned_matrix_bytes};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Numbers of a line that the tuned kernels take, of one of 10 kinds.
fn usual(line: usize, index: usize, random: f64) -> f64 {
    match line % 10 {
        1 if index == line % 251 => -3.0,
        1 => random * 1e-9,
        2 => 1.0,
        3 => random * power((index * 7 % 120) as i32 - 60),
        4 => random * power((line * 3 % 1700) as i32 - 850),
        5 => [0.0, -0.0][index % 2],
        // One number alone.
        6 if index == line * 7 % 250 => random,
        6 => 0.0,
        7 => (random * 8.0).round(),
        // The smallest and the largest numbers that are not left.
        8 if index == 3 => power([-895, 877][line / 10 % 2]),
        8 => random * power([-896, 876][line / 10 % 2]),
        // Negative numbers, and a subnormal one beside them.
        9 if index == 5 => f64::from_bits(1),
        9 => -random.abs(),
        _ => random,
    }
}

/// Near the ends of the range, or not finite: what the tuned kernels leave to a portable one.
fn unusual(kind: usize, index: usize, random: f64) -> f64 {
    match kind % 7 {
        0 if index == 5 => f64::from_bits(0xfff4_0000_dead_beef),
        1 if index == 7 => f64::NEG_INFINITY,
        2 => random * power(1000),
        3 => random * power(-1060),
        4 => f64::from_bits(kind as u64 + 1),
        // Just beyond what is not left.
        5 if index == 3 => power(-896),
        5 => random * power(-897),
        6 if index == 3 => -power(878),
        _ => random,
    }
}

/// `count` lines of `n` points, `distance` numbers apart; `unusual_every` so many of them is an unusual one.
pub(crate) fn lines(
    count: usize,
    n: usize,
    distance: usize,
    unusual_every: Option<usize>,
    seed: u64,
) -> Vec<f64> {
    let random = numbers::<f64>(count * distance, Style::Uniform, seed);
    let number = |(place, random): (usize, &Complex<f64>)| {
        let (line, index) = (place / distance, place % distance);
        match unusual_every {
            _ if index >= n => random.re,
            Some(every) if line % every == every - 1 => unusual(line / every, index, random.re),
            _ => usual(line, index, random.re),
        }
    };
    random.iter().enumerate().map(number).collect()
}

/// `count` half-spectra of lines of `n` points, `distance` complex numbers apart, of the same kinds; some have real or
/// imaginary parts only.
pub(crate) fn half_lines(
    count: usize,
    n: usize,
    distance: usize,
    unusual_every: Option<usize>,
    seed: u64,
) -> Vec<f64> {
    let random = numbers::<f64>(count * distance, Style::Uniform, seed);
    let number = |(place, random): (usize, &Complex<f64>)| {
        let (line, index) = (place / distance, place % distance);
        let of = |random| match unusual_every {
            _ if index > n / 2 => random,
            Some(every) if line % every == every - 1 => unusual(line / every, index, random),
            _ => usual(line, index, random),
        };
        let number = Complex::new(of(random.re), of(random.im));
        match line / 10 % 4 {
            1 => Complex::new(number.re, -0.0),
            2 => Complex::new(0.0, number.im),
            // What the ends of a half-spectrum have, but a real line's has not.
            3 => number,
            _ if index == 0 || 2 * index == n => Complex::new(number.re, 0.0),
            _ => number,
        }
    };
    let numbers: Vec<_> = random.iter().enumerate().map(number).collect();
    bytemuck::cast_slice(&numbers).to_vec()
}

/// Lines of so many numbers each, side by side.
pub(crate) fn transposed<T: Copy>(lines: &[T], each: usize) -> Vec<T> {
    let count = lines.len() / each;
    let places = (0..each).flat_map(|index| (0..count).map(move |line| line * each + index));
    places.map(|place| lines[place]).collect()
}

pub(crate) struct RealBench<T: Real = f64> {
    pub(crate) emulator: Arc<Emulator>,
    machine: Arc<dyn Machine>,
    planner: Planner<T>,
    pub(crate) cases: usize,
}

impl RealBench {
    pub(crate) fn new() -> Self {
        RealBench::with_numbers()
    }
}

impl<T: Real> RealBench<T> {
    pub(crate) fn with_numbers() -> Self {
        println!("seed {SEED:#x}");
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        RealBench {
            machine: Arc::<Emulator>::clone(&emulator),
            emulator,
            planner: Planner::new(),
            cases: 0,
        }
    }

    /// Transforms with both, once with and once without conversion instructions, in place, too, where that can be, and
    /// compares all bytes of the output, gaps included. Complex numbers are two of the input's. Returns the substrate.
    pub(crate) fn check(&mut self, problem: &Problem, input: &[T]) -> &'static str {
        let problem = problem.clone().engine(Engine::Digits).threads(1);
        let on_processor = problem.clone().substrate(Substrate::Auto);
        let expected = self.planner.plan(&on_processor).unwrap();
        let padded = Layout::padded_real(problem.shape());
        let forward = problem.kind() == Kind::RealToComplex;
        let in_place = match forward {
            true => problem.resolved_input() == padded,
            false => problem.resolved_output() == padded,
        };
        let transform = |plan: &Plan<T>, in_place: bool| -> Vec<u8> {
            let blank = numbers::<T>(problem.output_len(), Style::Uniform, 5);
            let mut array: Vec<Complex<T>> = match in_place {
                true => bytemuck::cast_slice(input).to_vec(),
                false => blank,
            };
            let array_of_reals: &mut [T] = bytemuck::cast_slice_mut(&mut array);
            match (forward, in_place) {
                (true, true) => plan.process_real_in_place(&mut array).unwrap(),
                (true, false) => plan.process_real_to_complex(input, &mut array).unwrap(),
                // Half-spectra with more than rounding at their ends are transformed, and reported.
                (false, true) => drop(plan.process_complex_to_real_in_place(&mut array)),
                (false, false) => {
                    let output = &mut array_of_reals[..problem.output_len()];
                    drop(plan.process_complex_to_real(bytemuck::cast_slice(input), output));
                }
            }
            bytemuck::cast_slice(&array).to_vec()
        };
        let mut substrate = "";
        for integers_only in [true, false] {
            let problem = problem.clone().integers_only(integers_only);
            let plan = self.planner.plan_on(&problem, &self.machine).unwrap();
            for in_place in [false, true].into_iter().take(1 + usize::from(in_place)) {
                let what = format!("{problem:?}, in place {in_place}, on {plan}");
                let (expected, found) =
                    (transform(&expected, in_place), transform(&plan, in_place));
                same(&expected, &found, &what);
                self.cases += 1;
            }
            substrate = plan.substrate();
        }
        substrate
    }

    fn check_tuned(&mut self, problem: &Problem, input: &[T]) {
        assert_eq!(self.check(problem, input), "int8-wgmma", "{problem:?}");
    }

    pub(crate) fn left(&self) -> u64 {
        self.emulator.lines_left.load(Ordering::Relaxed)
    }

    pub(crate) fn seed(&self) -> u64 {
        SEED ^ (self.cases as u64 + 1)
    }
}

/// Panels are of eight or sixteen lines, and the emulator has two multiprocessors: some counts fill no panel or leave a line
/// without a second one, with others a block has several rounds, of which a last one may lack middle rows.
const COUNTS: [usize; 6] = [1, 2, 7, 17, 49, 97];

#[test]
fn real_lines_of_all_kinds() {
    let mut bench = RealBench::new();
    for n in LENGTHS {
        for count in COUNTS {
            let input = lines(count, n, n, None, bench.seed());
            bench.check_tuned(&Problem::real_to_complex(&[n]).batch(count), &input);
            let input = half_lines(count, n, n / 2 + 1, None, bench.seed());
            bench.check_tuned(&Problem::complex_to_real(&[n]).batch(count), &input);
        }
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    println!("{} cases", bench.cases);
}

#[test]
fn real_lines_that_tuned_kernels_leave_among_others() {
    let mut bench = RealBench::new();
    for n in LENGTHS {
        for (count, every) in [(1, 1), (9, 1), (50, 4), (77, 11)] {
            let left = bench.left();
            let input = lines(count, n, n, Some(every), bench.seed());
            bench.check_tuned(&Problem::real_to_complex(&[n]).batch(count), &input);
            // With and without conversions.
            assert_eq!(bench.left() - left, 2 * (count / every) as u64);
            let input = half_lines(count, n, n / 2 + 1, Some(every), bench.seed());
            bench.check_tuned(&Problem::complex_to_real(&[n]).batch(count), &input);
        }
    }
    println!("{} cases", bench.cases);
}

#[test]
fn real_lines_in_place_and_with_gaps() {
    let mut bench = RealBench::new();
    for n in LENGTHS {
        for unusual_every in [None, Some(5)] {
            for count in [1, 18, 71] {
                if (count == 18) != unusual_every.is_some() && !everything() {
                    continue;
                }
                let shape = [count, n];
                let problem = Problem::real_to_complex(&shape).axes(&[1]);
                let padded = problem.clone().input_layout(Layout::padded_real(&shape));
                let input = lines(count, n, n + 2, unusual_every, bench.seed());
                bench.check_tuned(&padded, &input);
                let size = n as isize;
                let from = Layout::strided(&[size + 6, 1], 0).with_offset(4);
                let to = Layout::strided(&[size / 2 + 4, 1], 0).with_offset(3);
                let gaps = problem.clone().input_layout(from).output_layout(to);
                let input = lines(count, n, n + 6, unusual_every, bench.seed());
                bench.check_tuned(&gaps, &input[..gaps.input_len()]);
                let problem = Problem::complex_to_real(&shape).axes(&[1]);
                let padded = problem.clone().output_layout(Layout::padded_real(&shape));
                let input = half_lines(count, n, n / 2 + 1, unusual_every, bench.seed());
                bench.check_tuned(&padded, &input);
                let from = Layout::strided(&[size / 2 + 4, 1], 0).with_offset(3);
                let to = Layout::strided(&[size + 3, 1], 0).with_offset(4);
                let gaps = problem.clone().input_layout(from).output_layout(to);
                let input = half_lines(count, n, n / 2 + 4, unusual_every, bench.seed());
                let mut whole = vec![0.5; 2 * gaps.input_len()];
                let offset = 6;
                let length = whole.len() - offset;
                whole[offset..].copy_from_slice(&input[..length]);
                bench.check_tuned(&gaps, &whole);
            }
        }
        // Lines that do not all begin at a multiple of 16 bytes are for the portable kernel.
        let odd = Layout::strided(&[n as isize + 1, 1], 0);
        let odd = Problem::real_to_complex(&[3, n])
            .axes(&[1])
            .input_layout(odd);
        let input = lines(3, n, n + 1, None, bench.seed());
        let found = bench.check(&odd, &input[..odd.input_len()]);
        assert_eq!(found, "int8-mma-sync");
    }
    println!("{} cases", bench.cases);
}

#[test]
fn norms_and_directions_of_real_lines() {
    let mut bench = RealBench::new();
    for n in LENGTHS {
        for norm in NORMS {
            let problem = Problem::real_to_complex(&[n]).batch(3).norm(norm);
            let input = lines(3, n, n, None, bench.seed());
            bench.check_tuned(&problem, &input);
            let problem = Problem::complex_to_real(&[n]).batch(33).norm(norm);
            let input = half_lines(33, n, n / 2 + 1, None, bench.seed());
            bench.check_tuned(&problem, &input);
        }
    }
    println!("{} cases", bench.cases);
}

/// One number near overflow changes the scale between axes of all lines, also of those that were stored before it was
/// found. The real axis and the others have kernels of their own for the same length.
#[test]
fn several_axes_of_real_arrays() {
    let mut bench = RealBench::new();
    for shape in [&[256, 256][..], &[16, 512], &[2, 3, 1024], &[256, 6]] {
        for huge in [false, true] {
            if huge && shape == [256, 256] && !everything() {
                continue;
            }
            let mut input = lines(
                1,
                shape.iter().product(),
                shape.iter().product(),
                None,
                SEED,
            );
            if huge {
                let middle = input.len() / 2;
                input[middle] = 1.5e308;
                input[7] = f64::INFINITY;
            }
            for layout in [Layout::contiguous(shape), Layout::padded_real(shape)] {
                let problem = Problem::real_to_complex(shape).input_layout(layout.clone());
                let mut input = input.clone();
                if layout == Layout::padded_real(shape) {
                    input.resize(2 * problem.output_len(), 0.5);
                }
                let found = bench.check(&problem, &input);
                assert!(found.starts_with("int8-wgmma"), "{shape:?}: {found}");
                // All lines near overflow: none is for the tuned kernels of the first axis.
                let input: Vec<_> = input.iter().map(|x| x * power(1015)).collect();
                bench.check(&problem, &input);
            }
            for layout in [Layout::contiguous(shape), Layout::padded_real(shape)] {
                let problem = Problem::complex_to_real(shape).output_layout(layout);
                let mut input = numbers::<f64>(problem.input_len(), Style::Uniform, SEED);
                if huge {
                    let middle = input.len() / 2;
                    input[middle].re = 1.5e308;
                }
                let found = bench.check(&problem, bytemuck::cast_slice(&input));
                assert!(found.contains("int8-wgmma"), "{shape:?}: {found}");
            }
        }
    }
    println!("{} cases", bench.cases);
}

#[test]
fn random_problems_of_real_lines() {
    let mut bench = RealBench::new();
    let mut generator = Generator(SEED);
    for _ in 0..30 {
        let mut below = |n: usize| (generator.next() >> 20) as usize % n;
        let n = LENGTHS[below(LENGTHS.len())];
        let count = 1 + below(40);
        let (norm, style) = (NORMS[below(4)], STYLES[below(STYLES.len())]);
        let problem = Problem::real_to_complex(&[n]).batch(count).norm(norm);
        let input = numbers::<f64>(problem.input_len(), style, generator.next());
        let input: Vec<f64> = input.iter().map(|z| z.re).collect();
        bench.check_tuned(&problem, &input);
        let problem = Problem::complex_to_real(&[n]).batch(count).norm(norm);
        let input = numbers::<f64>(problem.input_len(), style, generator.next());
        bench.check_tuned(&problem, bytemuck::cast_slice(&input));
    }
    println!("{} cases", bench.cases);
}

#[test]
fn real_plans_take_tuned_kernels_where_they_fit_and_only_there() {
    let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
    let planner = Planner::<f64>::new();
    let runs_on = |problem: Problem| planner.plan_on(&problem, &machine).unwrap().substrate();
    let real = Problem::real_to_complex;
    for problem in [
        real(&[256]),
        real(&[1024]).batch(7),
        real(&[512, 1024]),
        real(&[256]).norm(Norm::Ortho),
        Problem::complex_to_real(&[512]),
        Problem::complex_to_real(&[256, 1024]),
    ] {
        assert_eq!(runs_on(problem.clone()), "int8-wgmma", "{problem:?}");
    }
    for problem in [
        real(&[1000]),
        real(&[1024]).substrate(GpuUnit::Int8MmaSync),
        // Strided.
        real(&[1024, 3]).axes(&[0]),
        Problem::complex_to_real(&[1024, 3]).axes(&[0]),
    ] {
        assert_eq!(runs_on(problem.clone()), "int8-mma-sync", "{problem:?}");
    }
    assert_eq!(runs_on(real(&[100, 512])), "int8-wgmma and int8-mma-sync");
    assert_eq!(runs_on(real(&[512, 100])), "int8-wgmma and int8-mma-sync");
}

/// Arrays that do not begin at a multiple of 16 bytes go to a portable kernel alone.
#[test]
fn real_device_arrays_at_any_address() {
    println!("seed {SEED:#x}");
    let bench = RealBench::new();
    let problem = Problem::real_to_complex(&[512]).batch(3).threads(1);
    let problem = problem.engine(Engine::Digits);
    let plan = bench.planner.plan_on(&problem, &bench.machine).unwrap();
    let input = lines(3, 512, 512, None, SEED);
    let mut expected = vec![Complex::new(0.0, 0.0); problem.output_len()];
    let on_processor = problem.clone().substrate(Substrate::Auto);
    let processor = bench.planner.plan(&on_processor).unwrap();
    processor
        .process_real_to_complex(&input, &mut expected)
        .unwrap();
    let memory = |bytes: usize| DeviceMemory::new(&bench.machine, bytes).unwrap();
    let workspace = memory(plan.device_workspace_len());
    let (from, to) = (
        memory(8 + size_of_val(&input[..])),
        memory(8 + size_of_val(&expected[..])),
    );
    for (read_offset, write_offset) in [(0, 0), (8, 0), (0, 8)] {
        let mut output = vec![Complex::new(0.0, 0.0); expected.len()];
        let (from, to) = (from.address() + read_offset, to.address() + write_offset);
        // SAFETY: all memory is so long, and calls are done when they return.
        unsafe {
            let bytes = bytemuck::cast_slice(&input);
            bench.machine.upload(0, from, bytes).unwrap();
            let workspace = DevicePointer(workspace.address());
            plan.process_device(DevicePointer(from), DevicePointer(to), workspace, 0)
                .unwrap();
            let bytes = bytemuck::cast_slice_mut(&mut output);
            bench.machine.download(0, to, bytes).unwrap();
        }
        same(
            bytemuck::cast_slice(&expected),
            bytemuck::cast_slice(&output),
            &format!("{read_offset}, {write_offset}"),
        );
    }
}

/// Cosine and sine sums are not combined in the first step of real lines: each has a constant of its own. Half-spectra have the
/// tables of complex lines.
#[test]
fn tables_of_real_lines_give_the_rounded_sums_of_signed_digits() {
    let tables_of_plans = Tables::default();
    let mut state = 78u64;
    for n in LENGTHS {
        let block = block(n, &tables_of_plans);
        let complex = shape(Product::Int8, &block);
        let of = |elements: Elements| {
            let same_steps = ozfft_kernels::TUNED.iter().find(|s| {
                s.elements == elements && (s.first, s.last) == (complex.first, complex.last)
            });
            tables(same_steps.expect("a shape"), &block).unwrap()
        };
        assert!(of(Elements::ComplexToReal) == of(Elements::Complex));
        let image = of(Elements::RealToComplex);
        let [first, last] = block.steps() else {
            panic!("two steps")
        };
        let matrix_len = |n: usize| tuned_matrix_bytes(Product::Int8, n);
        let constants = 2 * (matrix_len(first.recipe.n) + matrix_len(last.recipe.n));
        let slots = first.recipe.n / 2;
        let words = random_words(&mut state, slots);
        for row in 0..slots {
            for part in 0..2 {
                let operand = &image[part * matrix_len(first.recipe.n)..];
                let d = biased_diagonals(operand, slots, row, &words);
                let biased = constants + 16 * row + 8 * part;
                let biased = image[biased..biased + 8].try_into().unwrap();
                let found = put_together(&d, true).0;
                let found = found.wrapping_sub(i64::from_le_bytes(biased));
                let expected = rounded(diagonals(matrices(first)[part], row, &words));
                assert_eq!(found, expected as i64, "{n}, row {row}, part {part}");
            }
        }
    }
}
