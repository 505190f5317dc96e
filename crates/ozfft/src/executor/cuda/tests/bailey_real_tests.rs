//! The template's kernels for real lines and half-spectra under the emulator against the portable unit: a sample of lengths
//! (`crates/ozfft-emulator/sample.rs`), lines of all kinds, those that they must leave among them, in place and with gaps.

use crate::Layout;
use crate::executor::cuda::tests::real_tests::{RealBench, half_lines, lines, transposed};
use crate::executor::cuda::tests::tuned_tests::{NORMS, SEED, power};
use crate::executor::cuda::tests::{Style, emulated_lengths, everything, numbers};
use crate::problem::Problem;
use crate::substrate::GpuUnit;
use num_complex::Complex;
use ozfft_kernels::template::{Ends, Number};
use std::sync::atomic::Ordering;

fn lengths() -> Vec<usize> {
    emulated_lengths(Number::Double, Ends::RealToHalf)
}

/// With and without conversions, and in place where that can be: the template must have run one axis every time that there is a kernel.
fn check(bench: &mut RealBench, problem: &Problem, input: &[f64]) {
    let problem = problem.clone().substrate(GpuUnit::Int8MmaSync);
    let launches = |bench: &RealBench| bench.emulator.template_launches.load(Ordering::Relaxed);
    let (before, cases) = (launches(bench), bench.cases);
    bench.check(&problem, input);
    let (launched, run) = (launches(bench) - before, (bench.cases - cases) as u64);
    let both = everything() || problem.shape().ends_with(&[63]);
    assert_eq!(launched, if both { run } else { run / 2 }, "{problem:?}");
}

/// Groups of warps have from one pair of lines on, and the emulator has two multiprocessors; with an odd number a line is alone.
#[test]
fn real_lines_of_the_template() {
    let mut bench = RealBench::new();
    for n in lengths() {
        let counts: &[usize] = if n < 200 { &[1, 2, 37] } else { &[1, 8] };
        for &count in counts {
            let input = lines(count, n, n, None, bench.seed());
            check(
                &mut bench,
                &Problem::real_to_complex(&[n]).batch(count),
                &input,
            );
            let input = half_lines(count, n, n / 2 + 1, None, bench.seed());
            check(
                &mut bench,
                &Problem::complex_to_real(&[n]).batch(count),
                &input,
            );
        }
        for norm in NORMS {
            let problem = Problem::real_to_complex(&[n]).batch(3).norm(norm);
            let input = lines(3, n, n, None, bench.seed());
            check(&mut bench, &problem, &input);
            let problem = Problem::complex_to_real(&[n]).batch(3).norm(norm);
            let input = half_lines(3, n, n / 2 + 1, None, bench.seed());
            check(&mut bench, &problem, &input);
        }
    }
    assert_eq!(bench.left(), 0, "a line was left to a portable kernel");
    println!("{} cases", bench.cases);
}

#[test]
fn real_lines_that_the_template_leaves_among_others() {
    let mut bench = RealBench::new();
    for n in lengths() {
        for (count, every) in [(9, 1), (30, 4)] {
            let left = bench.left();
            let input = lines(count, n, n, Some(every), bench.seed());
            check(
                &mut bench,
                &Problem::real_to_complex(&[n]).batch(count),
                &input,
            );
            // With conversions, and without where there is a kernel.
            let variants = if everything() || n == 63 { 2 } else { 1 };
            assert_eq!(bench.left() - left, variants * (count / every) as u64);
            let input = half_lines(count, n, n / 2 + 1, Some(every), bench.seed());
            check(
                &mut bench,
                &Problem::complex_to_real(&[n]).batch(count),
                &input,
            );
        }
    }
    println!("{} cases", bench.cases);
}

#[test]
fn real_lines_of_the_template_in_place_and_with_gaps() {
    let mut bench = RealBench::new();
    for n in lengths() {
        for (count, unusual_every) in [(1, None), (18, Some(5))] {
            let shape = [count, n];
            let (size, padding) = (n as isize, 2 * (n / 2 + 1));
            let problem = Problem::real_to_complex(&shape).axes(&[1]);
            let padded = problem.clone().input_layout(Layout::padded_real(&shape));
            let input = lines(count, n, padding, unusual_every, bench.seed());
            check(&mut bench, &padded, &input);
            // Lines that begin at odd multiples of 8 bytes, but for the first.
            let from = Layout::strided(&[(size + 6) | 1, 1], 0).with_offset(4);
            let to = Layout::strided(&[size / 2 + 4, 1], 0).with_offset(3);
            let gaps = problem.clone().input_layout(from).output_layout(to);
            let input = lines(count + 1, n, (n + 6) | 1, unusual_every, bench.seed());
            check(&mut bench, &gaps, &input[..gaps.input_len()]);
            let problem = Problem::complex_to_real(&shape).axes(&[1]);
            let padded = problem.clone().output_layout(Layout::padded_real(&shape));
            let input = half_lines(count, n, n / 2 + 1, unusual_every, bench.seed());
            check(&mut bench, &padded, &input);
            let to = Layout::strided(&[(size + 3) | 1, 1], 0).with_offset(4);
            let gaps = problem.output_layout(to);
            check(&mut bench, &gaps, &input);
        }
    }
    println!("{} cases", bench.cases);
}

/// Side by side, at even distances and at odd ones, in one group and in several; a panel's second half may be empty or in part.
#[test]
fn strided_real_lines_of_the_template() {
    let mut bench = RealBench::new();
    let launches = |bench: &RealBench| bench.emulator.template_launches.load(Ordering::Relaxed);
    for n in [32, 63, 64, 360] {
        for (count, unusual_every) in [(2, None), (7, Some(3)), (16, None), (29, Some(4))] {
            let (before, cases) = (launches(&bench), bench.cases);
            let left = bench.left();
            let input = lines(count, n, n, unusual_every, bench.seed());
            let problem = Problem::real_to_complex(&[n, count]).axes(&[0]);
            let problem = problem.substrate(GpuUnit::Int8MmaSync);
            bench.check(&problem, &transposed(&input, n));
            let expected = unusual_every.map_or(0, |every| count / every);
            assert_eq!(bench.left() - left, expected as u64, "{n}, {count}");
            let input = half_lines(count, n, n / 2 + 1, unusual_every, bench.seed());
            let input: &[Complex<f64>] = bytemuck::cast_slice(&input);
            let problem = Problem::complex_to_real(&[n, count]).axes(&[0]);
            let problem = problem.substrate(GpuUnit::Int8MmaSync);
            let input = transposed(input, n / 2 + 1);
            bench.check(&problem, bytemuck::cast_slice(&input));
            // Kernels with conversion instructions are there.
            let run = (bench.cases - cases) as u64;
            assert_eq!(launches(&bench) - before, run / 2, "{n}, {count}");
        }
        let before = launches(&bench);
        for norm in NORMS {
            let shape = [3, n, 5];
            let problem = Problem::real_to_complex(&shape).axes(&[1]).norm(norm);
            let input = lines(15, n, n, None, bench.seed());
            bench.check(&problem.substrate(GpuUnit::Int8MmaSync), &input);
            let problem = Problem::complex_to_real(&shape).axes(&[1]).norm(norm);
            let input = half_lines(15, n, n / 2 + 1, None, bench.seed());
            bench.check(&problem.substrate(GpuUnit::Int8MmaSync), &input);
        }
        assert_eq!(launches(&bench) - before, 2 * NORMS.len() as u64, "{n}");
    }
    println!("{} cases", bench.cases);
}

/// The real axis has a kernel of its own; numbers near overflow change the scale between axes.
#[test]
fn several_axes_of_real_arrays_on_the_template() {
    let mut bench = RealBench::new();
    let launches = |bench: &RealBench| bench.emulator.template_launches.load(Ordering::Relaxed);
    for shape in [&[32, 45][..], &[64, 3, 63], &[32, 64]] {
        for huge in [false, true] {
            let points = shape.iter().product();
            let mut input = lines(1, points, points, None, SEED);
            if huge {
                input[points / 2] = 1.5e308;
            }
            let before = launches(&bench);
            let problem = Problem::real_to_complex(shape).substrate(GpuUnit::Int8MmaSync);
            bench.check(&problem, &input);
            let input: Vec<_> = input.iter().map(|x| x * power(-1000)).collect();
            bench.check(&problem, &input);
            let problem = Problem::complex_to_real(shape).substrate(GpuUnit::Int8MmaSync);
            let mut input = numbers::<f64>(problem.input_len(), Style::Uniform, SEED);
            if huge {
                let middle = input.len() / 2;
                input[middle].re = 1.5e308;
            }
            bench.check(&problem, bytemuck::cast_slice(&input));
            assert!(launches(&bench) > before, "{shape:?}");
        }
    }
    println!("{} cases", bench.cases);
}
