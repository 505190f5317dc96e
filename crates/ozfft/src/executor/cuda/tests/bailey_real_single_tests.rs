//! The template's kernels for real lines and half-spectra of f32 under the emulator against the portable unit: one block, both passes in
//! one launch, and pass by pass, for a sample of lengths (`crates/ozfft-emulator/sample.rs`).

use crate::Layout;
use crate::executor::cuda::tests::real_tests::{RealBench, transposed};
use crate::executor::cuda::tests::tuned_tests::{NORMS, SEED, numbers_of_all_sizes};
use crate::executor::cuda::tests::{STYLES, Style, emulated_lengths, numbers};
use crate::problem::{Accuracy, Norm, Problem};
use crate::substrate::GpuUnit;
use num_complex::Complex;
use ozfft_kernels::template::{Ends, Number};
use std::sync::atomic::Ordering;

/// Lengths of two passes, and columns of the first one.
const PASSES: [(usize, usize); 4] = [(1372, 28), (2048, 32), (2205, 49), (3000, 50)];

/// Goes pass by pass.
const LONG: usize = 14580;

fn lengths() -> Vec<usize> {
    emulated_lengths(Number::Single, Ends::RealToHalf)
}

fn power(exponent: i32) -> f32 {
    2f32.powi(exponent)
}

/// Numbers of a line that the kernels take, of one of 11 kinds: an odd number, so that lines of zeros are either one of a pair.
fn usual(line: usize, index: usize, random: f32) -> f32 {
    match line % 11 {
        1 if index == line % 16 => -3.0,
        1 => random * 1e-5,
        2 => 1.0,
        3 => random * power((index * 7 % 90) as i32 - 45),
        4 => random * power((line * 3 % 90) as i32 - 35),
        5 => [0.0, -0.0][index % 2],
        // One number alone.
        6 if index == line * 7 % 16 => random,
        6 => 0.0,
        7 => (random * 8.0).round(),
        // Small numbers, and the largest that are not left.
        8 if index == 3 => power([-36, 60][line / 11 % 2]),
        8 => random * power([-37, 59][line / 11 % 2]),
        // Negative numbers, and a subnormal one beside them.
        9 if index == 5 => f32::from_bits(1),
        9 => -random.abs(),
        // Words that end in one half.
        10 if index == 1 => 1.0,
        10 => ((random * 512.0).round() + 0.5) * power(-36 - (index % 7) as i32),
        _ => random,
    }
}

/// Near the ends of the range, or not finite: what the kernels leave to a portable one.
fn unusual(kind: usize, index: usize, random: f32) -> f32 {
    match kind % 7 {
        0 if index == 5 => f32::from_bits(0xffa0_beef),
        1 if index == 7 => f32::NEG_INFINITY,
        2 => random * power(125),
        3 => random * power(-120),
        4 => f32::from_bits(kind as u32 + 1),
        5 => random * power(-70),
        6 if index == 3 => -power(61),
        _ => random,
    }
}

fn number(line: usize, index: usize, unusual_every: Option<usize>, random: f32) -> f32 {
    match unusual_every {
        Some(every) if line % every == every - 1 => unusual(line / every, index, random),
        _ => usual(line, index, random),
    }
}

/// `count` lines of `n` points, `distance` numbers apart; `unusual_every` so many of them is an unusual one.
fn lines(
    count: usize,
    n: usize,
    distance: usize,
    unusual_every: Option<usize>,
    seed: u64,
) -> Vec<f32> {
    let random = numbers::<f32>(count * distance, Style::Uniform, seed);
    let of = |(place, random): (usize, &Complex<f32>)| match place % distance {
        index if index < n => number(place / distance, index, unusual_every, random.re),
        _ => random.re,
    };
    random.iter().enumerate().map(of).collect()
}

/// `count` half-spectra of lines of `n` points, of the same kinds; some have real or imaginary parts only, and some what a real line's
/// has not got at its ends.
fn half_lines(count: usize, n: usize, unusual_every: Option<usize>, seed: u64) -> Vec<f32> {
    let half = n / 2 + 1;
    let random = numbers::<f32>(count * half, Style::Uniform, seed);
    let of = |(place, random): (usize, &Complex<f32>)| {
        let (line, index) = (place / half, place % half);
        let [re, im] = [random.re, random.im].map(|x| number(line, index, unusual_every, x));
        match line / 11 % 4 {
            1 => Complex::new(re, -0.0),
            2 => Complex::new(0.0, im),
            3 => Complex::new(re, im),
            _ if index == 0 || 2 * index == n => Complex::new(re, 0.0),
            _ => Complex::new(re, im),
        }
    };
    let numbers: Vec<_> = random.iter().enumerate().map(of).collect();
    bytemuck::cast_slice(&numbers).to_vec()
}

fn launches(bench: &RealBench<f32>) -> u64 {
    bench.emulator.template_launches.load(Ordering::Relaxed)
}

/// In place, too, where that can be. Kernels with conversion instructions, which have none, are those that are there: every second case
/// must have been one launch, or several pass by pass.
fn check(bench: &mut RealBench<f32>, problem: &Problem, input: &[f32]) {
    let problem = problem.clone().accuracy(Accuracy::Single);
    let problem = problem.substrate(GpuUnit::Int8MmaSync);
    let (before, cases) = (launches(bench), bench.cases);
    bench.check(&problem, input);
    let launched = launches(bench) - before;
    let run = (bench.cases - cases) as u64 / 2;
    match problem.shape().ends_with(&[LONG]) {
        true => assert!(launched >= 2 * run, "{problem:?}"),
        false => assert_eq!(launched, run, "{problem:?}"),
    }
}

/// Lines and half-spectra.
fn check_both_ways(
    bench: &mut RealBench<f32>,
    (count, n): (usize, usize),
    unusual_every: Option<usize>,
    norm: Norm,
) {
    let input = lines(count, n, n, unusual_every, bench.seed());
    let problem = Problem::real_to_complex(&[n]).batch(count).norm(norm);
    check(bench, &problem, &input);
    let input = half_lines(count, n, unusual_every, bench.seed());
    let problem = Problem::complex_to_real(&[n]).batch(count).norm(norm);
    check(bench, &problem, &input);
}

/// Groups of warps have from one pair of lines on, and the emulator has two multiprocessors; with an odd number a line is alone.
#[test]
fn real_lines_of_f32_of_the_template() {
    let mut bench = RealBench::with_numbers();
    for n in lengths() {
        let counts: &[usize] = if n < 200 { &[1, 2, 47] } else { &[1, 24] };
        for &count in counts {
            check_both_ways(&mut bench, (count, n), None, Norm::Unscaled);
        }
        assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    }
    for n in lengths() {
        for norm in NORMS {
            check_both_ways(&mut bench, (3, n), None, norm);
        }
    }
    for (n, style) in [63, 64]
        .into_iter()
        .flat_map(|n| STYLES.map(|style| (n, style)))
    {
        let numbers = numbers::<f32>(5 * n, style, SEED);
        let real: Vec<f32> = numbers.iter().map(|number| number.re).collect();
        check(&mut bench, &Problem::real_to_complex(&[n]).batch(5), &real);
        let half = &numbers[..5 * (n / 2 + 1)];
        let problem = Problem::complex_to_real(&[n]).batch(5);
        check(&mut bench, &problem, bytemuck::cast_slice(half));
    }
    println!("{} cases", bench.cases);
}

#[test]
fn real_lines_of_f32_that_the_template_leaves_among_others() {
    let mut bench = RealBench::with_numbers();
    for n in lengths() {
        for (count, every) in [(9, 1), (30, 4)] {
            let left = bench.left();
            let input = lines(count, n, n, Some(every), bench.seed());
            let problem = Problem::real_to_complex(&[n]).batch(count);
            check(&mut bench, &problem, &input);
            assert_eq!(bench.left() - left, (count / every) as u64, "{n}");
            let input = half_lines(count, n, Some(every), bench.seed());
            let problem = Problem::complex_to_real(&[n]).batch(count);
            check(&mut bench, &problem, &input);
            assert!(bench.left() - left > (count / every) as u64, "{n}");
        }
    }
    println!("{} cases", bench.cases);
}

#[test]
fn real_lines_of_f32_of_the_template_in_place_and_with_gaps() {
    let mut bench = RealBench::with_numbers();
    let all = lengths().into_iter().chain(PASSES.map(|(n, _)| n));
    for n in all {
        let count = if n < 200 { 18 } else { 5 };
        let shape = [count, n];
        let (size, padding) = (n as isize, 2 * (n / 2 + 1));
        let problem = Problem::real_to_complex(&shape).axes(&[1]);
        let padded = problem.clone().input_layout(Layout::padded_real(&shape));
        let input = lines(count, n, padding, Some(4), bench.seed());
        check(&mut bench, &padded, &input);
        // Lines that begin at odd multiples of 4 bytes, but for the first.
        let from = Layout::strided(&[(size + 6) | 1, 1], 0).with_offset(4);
        let to = Layout::strided(&[size / 2 + 4, 1], 0).with_offset(2);
        let gaps = problem.input_layout(from).output_layout(to);
        let input = lines(count + 1, n, (n + 6) | 1, None, bench.seed());
        check(&mut bench, &gaps, &input[..gaps.input_len()]);
        let problem = Problem::complex_to_real(&shape).axes(&[1]);
        let padded = problem.clone().output_layout(Layout::padded_real(&shape));
        let input = half_lines(count, n, Some(4), bench.seed());
        check(&mut bench, &padded, &input);
        let to = Layout::strided(&[(size + 3) | 1, 1], 0).with_offset(4);
        check(&mut bench, &problem.output_layout(to), &input);
    }
    println!("{} cases", bench.cases);
}

/// Side by side, at even distances and at odd ones, in one group and in several; a panel's second half may be empty or in part.
#[test]
fn strided_real_lines_of_f32_of_the_template() {
    let mut bench = RealBench::with_numbers();
    for n in [32, 63, 64, 360] {
        for (count, unusual_every) in [(2, None), (7, Some(3)), (16, None), (29, Some(4))] {
            let left = bench.left();
            let input = lines(count, n, n, unusual_every, bench.seed());
            let problem = Problem::real_to_complex(&[n, count]).axes(&[0]);
            check(&mut bench, &problem, &transposed(&input, n));
            let expected = unusual_every.map_or(0, |every| count / every);
            assert_eq!(bench.left() - left, expected as u64, "{n}, {count}");
            let input = half_lines(count, n, unusual_every, bench.seed());
            let input: &[Complex<f32>] = bytemuck::cast_slice(&input);
            let problem = Problem::complex_to_real(&[n, count]).axes(&[0]);
            let input = transposed(input, n / 2 + 1);
            check(&mut bench, &problem, bytemuck::cast_slice(&input));
        }
        let shape = [3, n, 5];
        let problem = Problem::real_to_complex(&shape).axes(&[1]);
        let input = lines(15, n, n, None, bench.seed());
        check(&mut bench, &problem, &input);
        let problem = Problem::complex_to_real(&shape).axes(&[1]);
        let input = half_lines(15, n, None, bench.seed());
        check(&mut bench, &problem, &input);
    }
    println!("{} cases", bench.cases);
}

/// The real axis has a kernel of its own; numbers near overflow change the scale between axes, and small ones beside them must be scaled
/// down exactly.
#[test]
fn several_axes_of_real_arrays_of_f32_on_the_template() {
    let mut bench = RealBench::with_numbers();
    for shape in [&[32, 63][..], &[64, 3, 64], &[4, 2048]] {
        for (turn, style) in STYLES.into_iter().enumerate() {
            let problem = Problem::real_to_complex(shape).accuracy(Accuracy::Single);
            let problem = problem.substrate(GpuUnit::Int8MmaSync);
            let random = numbers::<f32>(problem.input_len(), style, SEED ^ turn as u64);
            let mut input: Vec<f32> = random.iter().map(|number| number.re).collect();
            if style == Style::Uniform {
                let points = input.len();
                input[points / 2] = 3e38;
                for number in &mut input[points - 64..] {
                    *number *= power(-40);
                }
            }
            let before = launches(&bench);
            bench.check(&problem, &input);
            let problem = Problem::complex_to_real(shape).accuracy(Accuracy::Single);
            let problem = problem.substrate(GpuUnit::Int8MmaSync);
            let mut input = random;
            input.resize(problem.input_len(), Complex::new(1.0, -0.5));
            bench.check(&problem, bytemuck::cast_slice(&input));
            assert!(launches(&bench) > before, "{shape:?}");
        }
    }
    println!("{} cases", bench.cases);
}

#[test]
fn real_transforms_of_f32_of_two_passes_in_one_launch() {
    let mut bench = RealBench::with_numbers();
    for (n, _) in PASSES {
        for count in [1, 13] {
            check_both_ways(&mut bench, (count, n), None, Norm::Unscaled);
        }
        assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    }
    for (number, (n, _)) in PASSES.into_iter().enumerate() {
        check_both_ways(&mut bench, (3, n), None, NORMS[number]);
        let left = bench.left();
        check_both_ways(&mut bench, (7, n), Some(2), Norm::Backward);
        assert!(bench.left() - left >= 3, "{n}");
        for style in STYLES {
            let numbers = numbers::<f32>(2 * n, style, SEED);
            let real: Vec<f32> = numbers.iter().map(|number| number.re).collect();
            check(&mut bench, &Problem::real_to_complex(&[n]).batch(2), &real);
            let half = &numbers[..2 * (n / 2 + 1)];
            let problem = Problem::complex_to_real(&[n]).batch(2);
            check(&mut bench, &problem, bytemuck::cast_slice(half));
        }
    }
    println!("{} cases", bench.cases);
}

/// Outputs of the first pass at the ends of their range, of which the conjugate is rounded another way; rows that are all zeros or
/// rounding errors; columns whose exponents are far apart.
#[test]
fn words_of_all_sizes_between_passes_of_real_transforms_of_f32() {
    let mut bench = RealBench::with_numbers();
    for (n, columns) in PASSES {
        for exponent in [0, 40, -40] {
            let narrow = |x: f64| x.clamp(-1e6, 1e6) as f32 * power(exponent);
            let all = numbers_of_all_sizes(n, columns).into_iter();
            let all = all.map(|number| Complex::new(narrow(number.re), narrow(number.im)));
            let all: Vec<Complex<f32>> = all.collect();
            let real: Vec<f32> = all.iter().map(|number| number.re).collect();
            let problem = Problem::real_to_complex(&[n]).batch(16);
            let left = bench.left();
            check(&mut bench, &problem, &real);
            // Of the 16 transforms those with columns that are too small.
            let most = if exponent < 0 { 5 } else { 3 };
            assert!(bench.left() - left <= most, "{n}, 2^{exponent}");
            let half = all.chunks(n).flat_map(|line| &line[..n / 2 + 1]);
            let half: Vec<Complex<f32>> = half.copied().collect();
            let problem = Problem::complex_to_real(&[n]).batch(16);
            let problem = problem.norm(NORMS[(exponent / 40 + 1) as usize]);
            check(&mut bench, &problem, bytemuck::cast_slice(&half));
        }
    }
}

#[test]
fn long_real_transforms_of_f32_of_the_template() {
    let mut bench = RealBench::with_numbers();
    check_both_ways(&mut bench, (11, LONG), None, Norm::Unscaled);
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    check_both_ways(&mut bench, (14, LONG), Some(2), Norm::Ortho);
    assert!(bench.left() > 0);
    for style in STYLES {
        let numbers = numbers::<f32>(LONG, style, SEED);
        let real: Vec<f32> = numbers.iter().map(|number| number.re).collect();
        check(&mut bench, &Problem::real_to_complex(&[LONG]), &real);
        let half = &numbers[..LONG / 2 + 1];
        let problem = Problem::complex_to_real(&[LONG]);
        check(&mut bench, &problem, bytemuck::cast_slice(half));
    }
    println!("{} cases", bench.cases);
}
