//! The kernels with products by residues for real lines and for lines of f32 under the emulator: not a bit may differ from exact digits on the CPU.

use crate::executor::cuda::residues::residue_tests::{emulator, with};
use crate::executor::cuda::tests::{STYLES, Style, numbers, same};
use crate::kind::Kind;
use crate::problem::{Accuracy, Direction, Engine, Norm, Problem, Products};
use crate::sample::Real;
use crate::substrate::CpuUnit;
use crate::{FftError, Plan, Planner};
use residues::reconstruct::Method;

/// The output of a plan, as bytes, around which nothing may be written.
pub(crate) fn output<T: Real>(
    plan: &Plan<T>,
    problem: &Problem,
    style: Style,
    seed: u64,
) -> Vec<u8> {
    let input = numbers::<T>(problem.input_len(), style, seed);
    let real: Vec<T> = input.iter().map(|z| z.re).collect();
    let mut to = numbers::<T>(problem.output_len(), Style::Uniform, 5);
    let mut real_to: Vec<T> = to.iter().map(|z| z.re).collect();
    match problem.kind() {
        Kind::ComplexToComplex => plan.process_outofplace(&input, &mut to).unwrap(),
        Kind::RealToComplex => plan.process_real_to_complex(&real, &mut to).unwrap(),
        Kind::ComplexToReal => {
            // Imaginary parts that a real line's spectrum cannot have are told about, on both machines.
            let _ = plan.process_complex_to_real(&input, &mut real_to);
            return bytemuck::cast_slice(&real_to).to_vec();
        }
    }
    bytemuck::cast_slice(&to).to_vec()
}

fn check<T: Real>(problem: &Problem, style: Style, seed: u64) {
    let accuracy = match T::IS_DOUBLE {
        true => Accuracy::Double,
        false => Accuracy::Single,
    };
    let problem = problem.clone().accuracy(accuracy).threads(1);
    let planner = Planner::<T>::new();
    let digits = problem.clone().engine(Engine::Digits);
    let digits = digits.products(Products::Exact).substrate(CpuUnit::Scalar);
    let expected = output(&planner.plan(&digits).unwrap(), &problem, style, seed);
    let plan = planner.plan_on(&with(&problem, Method::Kulisch32), &emulator());
    let plan = plan.unwrap();
    assert_eq!(plan.substrate(), "int8-mma-sync");
    let got = output(&plan, &problem, style, seed);
    same(
        &expected,
        &got,
        &format!("seed {seed}, {style:?}: {problem:?}"),
    );
}

/// More lines than a block takes, of all kinds of numbers; columns of several lines share a tile.
fn check_lines<T: Real>(seed: u64) {
    for (number, n) in (0..).zip([256, 512, 1024]) {
        let styles = STYLES.into_iter().cycle().skip(number as usize);
        let lines = [3, 2, 5, 1];
        let problems = [
            Problem::complex(&[lines[0], n]).axes(&[1]),
            Problem::real_to_complex(&[lines[1], n]).axes(&[1]),
            Problem::complex_to_real(&[lines[2], n]).axes(&[1]),
            Problem::real_to_complex(&[n]),
            Problem::real_to_complex(&[n, 3]).axes(&[0]),
            Problem::complex_to_real(&[n, 3])
                .axes(&[0])
                .norm(Norm::Ortho),
        ];
        // Complex lines of doubles have kernels of their own.
        let skipped = usize::from(T::IS_DOUBLE);
        for ((problem, style), seed) in problems
            .iter()
            .zip(styles)
            .skip(skipped)
            .zip(seed + 100 * number..)
        {
            check::<T>(problem, style, seed);
        }
        check::<T>(&problems[1], Style::Uniform, seed + 100 * number + 50);
        check::<T>(&problems[2], Style::Uniform, seed + 100 * number + 51);
    }
}

#[test]
fn real_lines_have_the_bits_of_exact_digits() {
    check_lines::<f64>(1000);
}

#[test]
fn lines_of_singles_have_the_bits_of_exact_digits() {
    check_lines::<f32>(2000);
    let inverse = Problem::complex(&[256, 9]).axes(&[0]);
    let inverse = inverse.direction(Direction::Inverse).norm(Norm::Ortho);
    check::<f32>(&inverse, Style::Uniform, 2900);
}

#[test]
fn numbers_of_every_kind_give_the_same_bits() {
    for (seed, style) in (3000..).zip(STYLES) {
        check::<f64>(&Problem::real_to_complex(&[256]).batch(2), style, seed);
        check::<f64>(&Problem::complex_to_real(&[256]).batch(2), style, seed);
        check::<f32>(&Problem::complex(&[256]).batch(2), style, seed);
        check::<f32>(&Problem::real_to_complex(&[512]), style, seed);
        check::<f32>(&Problem::complex_to_real(&[512]), style, seed);
    }
}

#[test]
fn arrays_of_several_axes_have_the_bits_of_exact_digits() {
    check::<f64>(
        &Problem::real_to_complex(&[256, 2, 256]).axes(&[0, 2]),
        Style::Uniform,
        4000,
    );
    check::<f32>(&Problem::complex_to_real(&[256, 256]), Style::Uniform, 4001);
}

#[test]
fn other_ways_and_digits_of_such_lines_are_refused_by_name() {
    let refused = |result: Result<String, FftError>| match result {
        Err(FftError::Unsupported(text)) => text,
        other => panic!("{other:?}"),
    };
    let plan = |problem: &Problem| {
        let plan = Planner::<f64>::new().plan_on(problem, &emulator());
        plan.map(|plan| plan.to_string())
    };
    let real = Problem::real_to_complex(&[1024]);
    let garner = refused(plan(&with(&real, Method::Garner)));
    assert!(garner.contains("complex f64"), "{garner}");
    let coarse = Problem::complex(&[1024]).accuracy(Accuracy::Target(1e-3));
    let coarse = with(&coarse, Method::Kulisch32);
    let plan = Planner::<f32>::new().plan_on(&coarse, &emulator());
    let coarse = refused(plan.map(|plan| plan.to_string()));
    assert!(coarse.contains("5 digits, not for 1024 points"), "{coarse}");
}
