//! The kernels with products by residues in fp8 under the emulator, against exact digits on the CPU: not a bit may differ. The emulator ends the program at
//! a sum that Hopper would not keep.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::tests::{Style, numbers, same};
use crate::problem::{Direction, Engine, Norm, Problem, Products, ResidueOptions};
use crate::substrate::{CpuUnit, GpuUnit, Substrate};
use crate::{FftError, Planner};
use num_complex::Complex;
use residues::reconstruct::Method;
use std::sync::Arc;

const WAYS: [Method; 2] = [Method::Kulisch32, Method::Fp8Bands];

fn emulator() -> Arc<dyn Machine> {
    Arc::new(Emulator::with_tuned_kernels())
}

/// The problem for the residues engine in fp8.
fn with(problem: &Problem, reconstruction: Method) -> Problem {
    let options = ResidueOptions {
        reconstruction,
        ..ResidueOptions::default()
    };
    let problem = problem.clone().engine(Engine::Residues).residues(options);
    problem
        .products(Products::Exact)
        .substrate(GpuUnit::Fp8Wgmma)
}

/// What exact digits on the processor make of the numbers.
fn expected(problem: &Problem, input: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let digits = problem.clone().engine(Engine::Digits).threads(1);
    let digits = digits.products(Products::Exact).substrate(CpuUnit::Scalar);
    let plan = Planner::<f64>::new().plan(&digits).unwrap();
    let mut output = input.to_vec();
    plan.process_outofplace(input, &mut output).unwrap();
    output
}

fn check(problem: &Problem, way: Method, style: Style, seed: u64) {
    let input = numbers::<f64>(problem.input_len(), style, seed);
    let expected = expected(problem, &input);
    let planner = Planner::<f64>::new();
    let plan = planner.plan_on(&with(problem, way), &emulator()).unwrap();
    assert_eq!(plan.substrate(), "fp8-wgmma");
    let mut got = input.clone();
    plan.process_outofplace(&input, &mut got).unwrap();
    let mut in_place = input;
    plan.process(&mut in_place).unwrap();
    let what = format!("{way:?}, seed {seed}, {style:?}: {problem:?}");
    for got in [got, in_place] {
        same(
            bytemuck::cast_slice(&expected),
            bytemuck::cast_slice(&got),
            &what,
        );
    }
}

#[test]
fn contiguous_lines_have_the_bits_of_exact_digits() {
    // Three lines to a block: none, one or two of the last block's are missing.
    for (seed, lines) in (1..).zip([1, 2, 3, 7]) {
        let problem = Problem::complex(&[lines, 1024]).axes(&[1]);
        for way in WAYS {
            check(&problem, way, Style::Uniform, seed);
        }
    }
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
        for way in WAYS {
            check(&problem, way, style, seed);
        }
    }
}

#[test]
fn lines_across_an_array_and_inverse_transforms_have_them_too() {
    let across = Problem::complex(&[1024, 5]).axes(&[0]);
    let inverse = across
        .clone()
        .direction(Direction::Inverse)
        .norm(Norm::Ortho);
    for (seed, way) in (11..).zip(WAYS) {
        check(&across, way, Style::Uniform, seed);
        check(&inverse, way, Style::Uniform, seed);
    }
}

#[test]
fn one_wrong_digit_of_a_table_is_found() {
    let problem = Problem::complex(&[1024]);
    let input = numbers::<f64>(1024, Style::Uniform, 31);
    let expected = expected(&problem, &input);
    let differing = |wrong_digit: Option<usize>| {
        let mut machine = Emulator::with_tuned_kernels();
        machine.wrong_digit = wrong_digit;
        let machine: Arc<dyn Machine> = Arc::new(machine);
        let asked = with(&problem, Method::Fp8Bands);
        let plan = Planner::<f64>::new().plan_on(&asked, &machine).unwrap();
        let mut got = input.clone();
        plan.process_outofplace(&input, &mut got).unwrap();
        let pairs = expected.iter().zip(&got);
        pairs
            .filter(|(a, b)| a.re.to_bits() != b.re.to_bits() || a.im.to_bits() != b.im.to_bits())
            .count()
    };
    assert_eq!(differing(None), 0);
    // Tables begin with the products of the first step: a digit of the sixth modulus.
    let modulus = ozfft_kernels::RESIDUE_FP8_MODULUS_BYTES;
    assert!(differing(Some(5 * modulus + 1234)) > 0);
}

#[test]
fn ways_that_are_not_built_are_refused_by_name() {
    let line = Problem::complex(&[1024]);
    let planner = Planner::<f64>::new();
    for way in [Method::Garner, Method::Sum2, Method::Kulisch16] {
        match planner.plan_on(&with(&line, way), &emulator()) {
            Err(FftError::Unsupported(text)) => {
                assert!(text.contains(way.name()) && text.contains("fp8"), "{text}");
            }
            Err(other) => panic!("{other}"),
            Ok(plan) => panic!("planned: {plan}"),
        }
    }
    // Bands are for products in fp8.
    let bands = with(&line, Method::Fp8Bands).substrate(GpuUnit::Int8MmaSync);
    assert!(planner.plan_on(&bands, &emulator()).is_err());
    // Both names of fp8 ask for the same kernels here.
    let simulated = with(&line, Method::Kulisch32).substrate(Substrate::Fp8);
    let plan = planner.plan_on(&simulated, &emulator()).unwrap();
    assert_eq!(plan.substrate(), "fp8-wgmma");
    assert!(plan.bound_is_proven());
}
