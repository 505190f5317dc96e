//! The kernels with two warpgroups to a line under the emulator, that with the moduli of Ozaki's scheme II in fp8 among them, against the processor: exact digits, and the
//! residues engine with the same moduli on the simulated unit. Not a bit may differ. The emulator ends the program at a sum that Hopper would not keep.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::tests::{Style, numbers, same};
use crate::problem::{Direction, Engine, Norm, Problem, Products};
use crate::substrate::{CpuUnit, Substrate};
use crate::{FftError, Planner};
use num_complex::Complex;
use std::sync::Arc;

const KERNEL: &str = "residues_karatsuba_kulisch32";
const KERNELS: [&str; 2] = [KERNEL, ozfft_kernels::RESIDUE_FP8_IN_HALVES];

fn emulator() -> Arc<dyn Machine> {
    Arc::new(Emulator::with_tuned_kernels())
}

/// What the processor makes of the numbers.
fn on_processor(problem: &Problem, input: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let problem = problem.clone().threads(1).products(Products::Exact);
    let plan = Planner::<f64>::new().plan(&problem).unwrap();
    let mut output = input.to_vec();
    plan.process_outofplace(input, &mut output).unwrap();
    output
}

fn digits(problem: &Problem) -> Problem {
    let problem = problem.clone().engine(Engine::Digits);
    problem.substrate(CpuUnit::Scalar)
}

fn bytes(values: &[Complex<f64>]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn check(problem: &Problem, style: Style, seed: u64) {
    let input = numbers::<f64>(problem.input_len(), style, seed);
    let expected = on_processor(&digits(problem), &input);
    let planner = Planner::<f64>::new();
    for kernel in KERNELS {
        let plan = planner
            .plan_residue_variant_on(problem, kernel, &emulator())
            .unwrap();
        assert_eq!(plan.substrate(), "fp8-wgmma");
        let mut got = input.clone();
        plan.process_outofplace(&input, &mut got).unwrap();
        let what = format!("{kernel}, seed {seed}, {style:?}: {problem:?}");
        same(bytes(&expected), bytes(&got), &what);
        let mut in_place = input.clone();
        plan.process(&mut in_place).unwrap();
        same(bytes(&expected), bytes(&in_place), &what);
    }
}

#[test]
fn contiguous_lines_have_the_bits_of_exact_digits() {
    // Two lines to a block: none or one of the last block's is missing; the last problem has more blocks than multiprocessors.
    for (seed, lines) in (1..).zip([1, 2, 7]) {
        check(
            &Problem::complex(&[lines, 1024]).axes(&[1]),
            Style::Uniform,
            seed,
        );
    }
}

#[test]
fn the_same_moduli_on_the_simulated_unit_have_them_too() {
    let problem = Problem::complex(&[1024]);
    let simulated = problem.clone().engine(Engine::Residues);
    let simulated = simulated.substrate(Substrate::Fp8);
    let input = numbers::<f64>(1024, Style::Uniform, 5);
    let (a, b) = (
        on_processor(&simulated, &input),
        on_processor(&digits(&problem), &input),
    );
    same(bytes(&a), bytes(&b), "seed 5");
    let plan = Planner::<f64>::new().plan(&simulated.products(Products::Exact));
    let text = plan.unwrap().to_string();
    assert!(text.contains("13 or 14 fp8 moduli"), "{text}");
}

#[test]
fn numbers_of_every_kind_give_the_same_bits() {
    let problem = Problem::complex(&[2, 1024]).axes(&[1]);
    let styles = [
        Style::Edge,
        Style::Wild,
        Style::Tiny,
        Style::Huge,
        Style::NotFinite,
        Style::Real,
        Style::Imaginary,
        Style::Sparse,
    ];
    for (seed, style) in (21..).zip(styles) {
        check(&problem, style, seed);
    }
}

#[test]
fn lines_across_an_array_and_inverse_transforms_have_them_too() {
    let across = Problem::complex(&[1024, 5]).axes(&[0]);
    check(&across, Style::Uniform, 11);
    let inverse = across.direction(Direction::Inverse).norm(Norm::Ortho);
    check(&inverse, Style::Uniform, 12);
}

#[test]
fn one_wrong_digit_of_a_table_is_found() {
    let problem = Problem::complex(&[1024]);
    let input = numbers::<f64>(1024, Style::Uniform, 31);
    let expected = on_processor(&digits(&problem), &input);
    let differing = |wrong_digit: Option<usize>| {
        let mut machine = Emulator::with_tuned_kernels();
        machine.wrong_digit = wrong_digit;
        let machine: Arc<dyn Machine> = Arc::new(machine);
        let planner = Planner::<f64>::new();
        let plan = planner
            .plan_residue_variant_on(&problem, KERNEL, &machine)
            .unwrap();
        let mut got = input.clone();
        plan.process_outofplace(&input, &mut got).unwrap();
        let pairs = expected.iter().zip(&got);
        pairs
            .filter(|(a, b)| a.re.to_bits() != b.re.to_bits() || a.im.to_bits() != b.im.to_bits())
            .count()
    };
    assert_eq!(differing(None), 0);
    // Tables begin with the products of the first step: a digit of a square, and one of another modulus.
    let digit = ozfft_kernels::RESIDUE_KARATSUBA_DIGIT_BYTES;
    assert!(differing(Some(5 * digit + 123)) > 0);
    assert!(differing(Some(14 * digit + 123)) > 0);
}

#[test]
fn blocks_have_the_lines_that_they_have() {
    let problem = Problem::complex(&[4, 1024]).axes(&[1]);
    let planner = Planner::<f64>::new();
    let plan = planner
        .plan_residue_variant_on(&problem, KERNEL, &emulator())
        .unwrap();
    assert_eq!(plan.device_grids(), [(KERNEL, 2)]);
    // Lengths that there is no kernel for.
    let other = Problem::complex(&[512]);
    match planner.plan_residue_variant_on(&other, KERNEL, &emulator()) {
        Err(FftError::Unsupported(text)) => assert!(text.contains("512 points"), "{text}"),
        Err(other) => panic!("{other}"),
        Ok(plan) => panic!("planned: {plan}"),
    }
}
