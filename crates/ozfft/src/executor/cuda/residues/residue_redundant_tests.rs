//! The kernels with redundant moduli under the emulator: without faults, with a fault in every sum, and with more than they can put right. Not a
//! bit of what they return may differ from exact digits on the CPU.

use crate::executor::cuda::Faults;
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::residues::residue_tests::emulator;
use crate::executor::cuda::tests::{Style, numbers, same};
use crate::problem::{Engine, Problem, Products, ResidueOptions};
use crate::substrate::{CpuUnit, GpuUnit};
use crate::{FftError, Plan, Planner, ResidueReport};
use num_complex::Complex;
use std::sync::Arc;

/// The problem with so many redundant moduli.
fn redundant(problem: &Problem, redundancy: usize) -> Problem {
    let options = ResidueOptions {
        redundancy,
        ..ResidueOptions::default()
    };
    let problem = problem.clone().engine(Engine::Residues).residues(options);
    problem.products(Products::Exact)
}

/// A plan whose kernels make faults.
fn faulty(problem: &Problem, faults: Faults, machine: &Arc<dyn Machine>) -> Plan<f64> {
    let planner = Planner::<f64>::new();
    let problem = redundant(problem, 2);
    planner
        .plan_residue_faults_on(&problem, faults, machine)
        .unwrap()
}

fn on_processor(problem: &Problem, input: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let digits = problem.clone().engine(Engine::Digits).threads(1);
    let digits = digits.products(Products::Exact).substrate(CpuUnit::Scalar);
    let plan = Planner::<f64>::new().plan(&digits).unwrap();
    let mut output = input.to_vec();
    plan.process_outofplace(input, &mut output).unwrap();
    output
}

/// Compares a faulty plan's results with those of exact digits, and returns what it has counted.
fn check(problem: &Problem, faults: Faults, style: Style, seed: u64) -> ResidueReport {
    let input = numbers::<f64>(problem.input_len(), style, seed);
    let plan = faulty(problem, faults, &emulator());
    let mut got = input.clone();
    plan.process_outofplace(&input, &mut got).unwrap();
    let expected = on_processor(problem, &input);
    let what = format!("{faults:?}, seed {seed}, {style:?}: {problem:?}");
    same(
        bytemuck::cast_slice(&expected),
        bytemuck::cast_slice(&got),
        &what,
    );
    plan.residue_report().unwrap()
}

#[test]
fn without_faults_nothing_is_found() {
    for (seed, problem) in (1..).zip([
        Problem::complex(&[3, 1024]).axes(&[1]),
        Problem::complex(&[512, 5]).axes(&[0]),
        Problem::complex(&[9, 256]).axes(&[1]),
    ]) {
        for style in [Style::Uniform, Style::Edge, Style::NotFinite] {
            let report = check(&problem, Faults::default(), style, seed);
            assert_eq!((report.corrected, report.uncorrectable), (0, 0));
        }
    }
}

/// Every modulus and every bit of its residues is among them: a fault is a bit of one of 18 residues.
#[test]
fn a_fault_in_every_sum_is_put_right_everywhere() {
    for n in [256, 512, 1024] {
        let problem = Problem::complex(&[2, n]).axes(&[1]);
        for seed in 11..13 {
            let faults = Faults { seed, one_in: 1 };
            let report = check(&problem, faults, Style::Uniform, u64::from(seed));
            // Two parts of every point in both steps.
            let sums = 2 * 2 * problem.input_len() as u64;
            assert_eq!((report.corrected, report.uncorrectable), (sums, 0));
        }
    }
}

#[test]
fn a_fault_here_and_there_is_put_right_in_every_kind_of_numbers() {
    let problem = Problem::complex(&[256, 3]).axes(&[0]);
    for (seed, style) in (21..).zip([Style::Wild, Style::Edge, Style::Sparse, Style::Huge]) {
        let faults = Faults { seed, one_in: 7 };
        let report = check(&problem, faults, style, u64::from(seed));
        // A seventh of 3072.
        assert!((300..600).contains(&report.corrected), "{report}");
        assert_eq!(report.uncorrectable, 0);
    }
}

/// One line of 256 points takes 4096 bytes, and tables of a step more: this byte is of a matrix, and none of the line.
/// It belongs to the fourteenth modulus, and to the output in the middle of the first step.
const BYTE_OF_A_MATRIX: usize = 4096 + 5;

#[test]
fn a_wrong_matrix_is_put_right_and_with_another_fault_ends_in_an_error() {
    let mut machine = Emulator::with_tuned_kernels();
    machine.wrong_digit = Some(BYTE_OF_A_MATRIX);
    let machine: Arc<dyn Machine> = Arc::new(machine);
    let problem = Problem::complex(&[256]);
    let input = numbers::<f64>(256, Style::Uniform, 31);
    let expected = on_processor(&problem, &input);
    let plan = faulty(&problem, Faults::default(), &machine);
    let mut got = input.clone();
    plan.process(&mut got).unwrap();
    let what = "a byte of a matrix, seed 31";
    same(
        bytemuck::cast_slice(&expected),
        bytemuck::cast_slice(&got),
        what,
    );
    // Both parts of an output for each of 16 columns.
    let report = plan.residue_report().unwrap();
    assert!((24..=32).contains(&report.corrected), "{report}");
    // Two bad residues of a sum are found, and nothing is written.
    let plan = faulty(&problem, Faults { seed: 5, one_in: 1 }, &machine);
    let mut got = input.clone();
    let error = plan.process(&mut got).unwrap_err();
    assert_eq!(got, input);
    let FftError::BadResidues {
        outputs,
        redundancy: 2,
    } = error
    else {
        panic!("{error}");
    };
    assert!((16..=32).contains(&outputs), "{outputs}");
    assert_eq!(plan.residue_report().unwrap().uncorrectable, outputs);
}

#[test]
fn other_redundancy_is_refused_by_name() {
    let planner = Planner::<f64>::new();
    let refused = |problem: &Problem| match planner.plan_on(problem, &emulator()) {
        Err(FftError::Unsupported(text)) => text,
        Err(other) => panic!("{other}"),
        Ok(plan) => panic!("planned: {plan}"),
    };
    let line = Problem::complex(&[256]);
    for redundancy in [1, 3] {
        let text = refused(&redundant(&line, redundancy));
        assert!(text.contains("redundant moduli, only for 2"), "{text}");
    }
    let fp8 = redundant(&line, 2).substrate(GpuUnit::Fp8Wgmma);
    assert!(refused(&fp8).contains("but on Int8MmaSync"));
    let plan = planner.plan_on(&redundant(&line, 2), &emulator()).unwrap();
    assert!(plan.to_string().contains("2 of them redundant"), "{plan}");
}
