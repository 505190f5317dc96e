//! The kernels with products by residues under the emulator, against exact digits on the CPU: not a bit may differ.

use super::emulated::Emulator;
use super::machine::Machine;
use super::tests::{Style, numbers, same};
use crate::problem::{Direction, Engine, Family, Problem, ResidueOptions, Substrate};
use crate::{FftError, Planner};
use residues::reconstruct::Method;
use std::sync::Arc;

fn with(problem: &Problem, reconstruction: Method) -> Problem {
    let options = ResidueOptions {
        reconstruction,
        ..ResidueOptions::default()
    };
    problem.clone().engine(Engine::Residues).residues(options)
}

/// Transforms on both, out of place.
fn check(machine: &Arc<dyn Machine>, problem: &Problem, way: Method, style: Style, seed: u64) {
    let planner = Planner::<f64>::new();
    let digits = problem
        .clone()
        .engine(Engine::Digits)
        .family(Family::Exact)
        .substrate(Substrate::Scalar);
    let expected = planner.plan(&digits).unwrap();
    let plan = planner.plan_on(&with(problem, way), machine).unwrap();
    let input = numbers::<f64>(problem.input_len(), style, seed);
    let (mut a, mut b) = (input.clone(), input.clone());
    expected.process_outofplace(&input, &mut a).unwrap();
    plan.process_outofplace(&input, &mut b).unwrap();
    let what = format!("{way:?}, seed {seed}, {style:?}: {problem:?} on {plan}");
    same(bytemuck::cast_slice(&a), bytemuck::cast_slice(&b), &what);
}

const EXACT: [Method; 1] = [Method::Kulisch32];

#[test]
fn lines_of_1024_points_have_the_bits_of_exact_digits() {
    let machine: Arc<dyn Machine> = Arc::new(Emulator::with_tuned_kernels());
    for way in EXACT {
        let contiguous = Problem::complex(&[3, 1024]).axes(&[1]);
        check(&machine, &contiguous, way, Style::Uniform, 1);
    }
}
