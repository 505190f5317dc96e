//! The kernels with products by residues under the emulator: exact ways against exact digits on the CPU, of which not a bit may differ,
//! the others against their bounds.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::tests::{Style, numbers, same};
use crate::problem::{Direction, Engine, Norm, Problem, Products, ResidueOptions};
use crate::substrate::CpuUnit;
use crate::{Accuracy, FftError, Planner};
use num_complex::Complex;
use residues::reconstruct::Method;
use std::sync::Arc;

const EXACT: [Method; 4] = [
    Method::Kulisch32,
    Method::Kulisch16,
    Method::Kulisch8,
    Method::Garner,
];
const BOUNDED: [Method; 5] = [
    Method::Double,
    Method::Sum2,
    Method::DoubleSingle,
    Method::SingleKahan,
    Method::BernsteinDouble,
];

pub(crate) fn emulator() -> Arc<dyn Machine> {
    Arc::new(Emulator::with_tuned_kernels())
}

/// The problem for the residues engine.
pub(crate) fn with(problem: &Problem, reconstruction: Method) -> Problem {
    let options = ResidueOptions {
        reconstruction,
        ..ResidueOptions::default()
    };
    let problem = problem.clone().engine(Engine::Residues).residues(options);
    problem.products(Products::Exact)
}

/// What exact digits and the kernel make of the same numbers, out of place; and the bound.
pub(crate) fn transformed(
    problem: &Problem,
    way: Method,
    input: &[Complex<f64>],
) -> (Vec<Complex<f64>>, Vec<Complex<f64>>, f64) {
    let planner = Planner::<f64>::new();
    let digits = problem.clone().engine(Engine::Digits).threads(1);
    let digits = digits.products(Products::Exact).substrate(CpuUnit::Scalar);
    let expected = planner.plan(&digits).unwrap();
    let plan = planner.plan_on(&with(problem, way), &emulator()).unwrap();
    assert_eq!(plan.substrate(), "int8-mma-sync");
    let (mut a, mut b) = (input.to_vec(), input.to_vec());
    expected.process_outofplace(input, &mut a).unwrap();
    plan.process_outofplace(input, &mut b).unwrap();
    (a, b, plan.bound())
}

pub(crate) fn check(problem: &Problem, way: Method, style: Style, seed: u64) {
    let input = numbers::<f64>(problem.input_len(), style, seed);
    let (expected, got, _) = transformed(problem, way, &input);
    let what = format!("{way:?}, seed {seed}, {style:?}: {problem:?}");
    same(
        bytemuck::cast_slice(&expected),
        bytemuck::cast_slice(&got),
        &what,
    );
}

#[test]
fn contiguous_lines_have_the_bits_of_exact_digits_in_every_exact_way() {
    let problem = Problem::complex(&[3, 1024]).axes(&[1]);
    for (seed, way) in (1..).zip(EXACT) {
        check(&problem, way, Style::Uniform, seed);
        check(&problem, way, Style::Edge, seed);
    }
}

#[test]
fn lines_across_an_array_and_inverse_transforms_have_them_too() {
    let across = Problem::complex(&[1024, 5]).axes(&[0]);
    check(&across, Method::Kulisch32, Style::Uniform, 11);
    let inverse = across.direction(Direction::Inverse).norm(Norm::Ortho);
    check(&inverse, Method::Kulisch32, Style::Uniform, 12);
    check(&inverse, Method::Garner, Style::Uniform, 13);
}

#[test]
fn numbers_of_every_kind_give_the_same_bits() {
    let problem = Problem::complex(&[2, 1024]).axes(&[1]);
    let styles = [
        Style::Wild,
        Style::Tiny,
        Style::Huge,
        Style::NotFinite,
        Style::Real,
        Style::Imaginary,
        Style::Sparse,
    ];
    for (seed, style) in (21..).zip(styles) {
        check(&problem, Method::Kulisch32, style, seed);
    }
}

#[test]
fn ways_that_round_stay_within_their_bounds() {
    let problem = Problem::complex(&[2, 1024]).axes(&[1]);
    let input = numbers::<f64>(problem.input_len(), Style::Uniform, 31);
    for way in BOUNDED {
        let (exact, got, bound) = transformed(&problem, way, &input);
        let norm = |values: &mut dyn Iterator<Item = Complex<f64>>| {
            values.map(|z| z.norm_sqr()).sum::<f64>().sqrt()
        };
        let off = norm(&mut exact.iter().zip(&got).map(|(a, b)| a - b));
        let error = off / norm(&mut exact.iter().copied());
        println!("{way:?}: {error:e}, bound {bound:e}");
        // Both may be off by their own bounds; that of exact digits is smaller.
        assert!(error <= 2.0 * bound, "{way:?}: {error:e} above {bound:e}");
        assert!(error > 0.0 || way == Method::Sum2, "{way:?} rounds");
    }
}

/// Bernstein's way once made numbers of them: it rounds fractions, and sums of zeros have residues that are not zero.
#[test]
fn lines_of_zeros_stay_lines_of_zeros_in_every_way() {
    let problem = Problem::complex(&[2, 1024]).axes(&[1]);
    let mut input = numbers::<f64>(problem.input_len(), Style::Uniform, 41);
    input[1024..].fill(Complex::new(0.0, 0.0));
    for way in EXACT.into_iter().chain(BOUNDED) {
        let (_, got, _) = transformed(&problem, way, &input);
        let zero = Complex::new(0.0, 0.0);
        assert!(got[1024..].iter().all(|&z| z == zero), "{way:?}");
        assert!(got[..1024].iter().any(|&z| z != zero), "{way:?}");
    }
}

#[test]
fn what_the_kernels_do_not_take_is_refused_by_name() {
    let planner = Planner::<f64>::new();
    let refused = |problem: &Problem| match planner.plan_on(problem, &emulator()) {
        Err(FftError::Unsupported(text)) => text,
        Err(other) => panic!("{other}"),
        Ok(plan) => panic!("planned: {plan}"),
    };
    let line = Problem::complex(&[1024]);
    let other_length = with(&Problem::complex(&[1000]), Method::Kulisch32);
    assert!(refused(&other_length).contains("1000 points"));
    assert!(refused(&with(&line, Method::Sum3)).contains("sum3"));
    let few = with(&line, Method::Kulisch32).accuracy(Accuracy::Single);
    assert!(refused(&few).contains("5 digits"));
    let pure = with(&line, Method::Double).integers_only(true);
    assert!(refused(&pure).contains("integers only"));
    let real = with(&Problem::real_to_complex(&[1024]), Method::Garner);
    assert!(refused(&real).contains("complex f64"));
}

#[test]
fn only_ways_that_sum_up_as_the_processor_does_have_a_proven_bound() {
    let problem = Problem::complex(&[1024]);
    for way in EXACT.into_iter().chain(BOUNDED) {
        let plan = Planner::<f64>::new().plan_on(&with(&problem, way), &emulator());
        let as_proven = EXACT.contains(&way) || matches!(way, Method::Double | Method::Sum2);
        assert_eq!(plan.unwrap().bound_is_proven(), as_proven, "{way}");
    }
}
