//! The kernels with as few moduli as the data need under the emulator. Without an accuracy not a bit may differ from exact digits on the CPU; with one, not a bit from
//! adaptive residues there, and the numbers of moduli are those that the processor counts, rounded up to what kernels have.

use crate::executor::cuda::residues::residue_kinds_tests::output;
use crate::executor::cuda::residues::residue_tests::emulator;
use crate::executor::cuda::tests::{STYLES, Style, same};
use crate::problem::{Accuracy, Direction, Engine, Norm, Problem, Products, ResidueOptions};
use crate::substrate::CpuUnit;
use crate::{FftError, Planner, ResidueReport};
use num_complex::Complex;
use ozfft_kernels::RESIDUE_ADAPTIVE_COUNTS;

fn adaptive(problem: &Problem) -> Problem {
    let options = ResidueOptions {
        adaptive: true,
        ..ResidueOptions::default()
    };
    let problem = problem.clone().engine(Engine::Residues).residues(options);
    problem.products(Products::Exact).threads(1)
}

/// Compares bits, and returns what was counted.
fn check(problem: &Problem, style: Style, seed: u64) -> ResidueReport {
    let planner = Planner::<f64>::new();
    let problem = adaptive(problem);
    let reference = match problem.accuracy.target() {
        None => problem
            .clone()
            .residues(ResidueOptions::default())
            .engine(Engine::Digits)
            .substrate(CpuUnit::Scalar),
        Some(_) => problem.clone(),
    };
    let expected = output(&planner.plan(&reference).unwrap(), &problem, style, seed);
    let plan = planner.plan_on(&problem, &emulator()).unwrap();
    assert_eq!(plan.substrate(), "int8-mma-sync");
    let got = output(&plan, &problem, style, seed);
    same(
        &expected,
        &got,
        &format!("seed {seed}, {style:?}: {problem:?}"),
    );
    plan.residue_report().unwrap()
}

/// How many moduli a column has on the average.
fn mean(report: &ResidueReport) -> f64 {
    let columns = report.columns_by_moduli.iter();
    let (sum, count) = columns.fold((0, 0), |(sum, count), &(moduli, columns)| {
        (sum + moduli as u64 * columns, count + columns)
    });
    sum as f64 / count as f64
}

#[test]
fn without_an_accuracy_bits_are_those_of_exact_digits() {
    for (seed, style) in (1..).zip(STYLES) {
        check(&Problem::complex(&[256]).batch(2), style, seed);
    }
    for (seed, n) in (20..).zip([512, 1024]) {
        check(&Problem::complex(&[5, n]).axes(&[1]), Style::Uniform, seed);
        check(&Problem::complex(&[n, 3]).axes(&[0]), Style::Wild, seed);
        check(
            &Problem::real_to_complex(&[2, n]).axes(&[1]),
            Style::Edge,
            seed,
        );
        check(
            &Problem::complex_to_real(&[2, n]).axes(&[1]),
            Style::Sparse,
            seed,
        );
    }
    check(&Problem::complex(&[256, 256]), Style::Uniform, 30);
}

#[test]
fn with_an_accuracy_bits_are_those_of_the_processor_and_moduli_become_fewer() {
    let lines = Problem::complex(&[3, 1024]).axes(&[1]);
    let mut before = f64::INFINITY;
    for (seed, accuracy) in (40..).zip([1e-14, 1e-10, 1e-6]) {
        let problem = lines.clone().accuracy(Accuracy::Target(accuracy));
        let found = mean(&check(&problem, Style::Uniform, seed));
        println!("{accuracy:e}: {found} moduli");
        assert!(found < before, "{accuracy:e}: {found} after {before}");
        before = found;
    }
    let inverse = Problem::complex(&[256, 3]).axes(&[0]);
    let inverse = inverse.direction(Direction::Inverse).norm(Norm::Ortho);
    for (seed, style) in (50..).zip(STYLES) {
        let problem = inverse.clone().accuracy(Accuracy::Target(1e-10));
        check(&problem, style, seed);
    }
    let axes = Problem::real_to_complex(&[256, 256]).accuracy(Accuracy::Target(1e-8));
    check(&axes, Style::Uniform, 60);
}

/// A processor's column has the words that cosines or that sines meet, a kernel's both, so they differ by a bit, and by what kernels have to choose from.
#[test]
fn columns_are_counted_as_on_the_processor() {
    let problem = adaptive(&Problem::complex(&[4, 512]).axes(&[1]));
    // Samples of 16 bits, which end in zeros as words.
    let samples = (0..problem.input_len() as u64).map(|i| {
        let sample = |x: u64| f64::from((x.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as i16);
        Complex::new(sample(2 * i + 1), sample(2 * i + 2))
    });
    let samples: Vec<Complex<f64>> = samples.collect();
    let planner = Planner::<f64>::new();
    let [expected, found] = [
        planner.plan(&problem).unwrap(),
        std::sync::Arc::new(planner.plan_on(&problem, &emulator()).unwrap()),
    ]
    .map(|plan| {
        let mut output = samples.clone();
        plan.process_outofplace(&samples, &mut output).unwrap();
        (output, plan.residue_report().unwrap())
    });
    assert_eq!(expected.0, found.0);
    let columns = |report: &ResidueReport| -> u64 {
        let columns = report.columns_by_moduli.iter();
        columns.map(|&(_, columns)| columns).sum()
    };
    assert_eq!(columns(&expected.1), columns(&found.1));
    let (expected, found) = (mean(&expected.1), mean(&found.1));
    println!("{expected} moduli on the processor, {found} by the kernel");
    assert!(found >= expected && found < expected + 2.0);
    assert!(found < 15.0, "{found}");
    // What there is to choose from.
    assert_eq!(RESIDUE_ADAPTIVE_COUNTS[0][0], 10);
}

#[cfg(feature = "native")]
#[test]
fn a_line_that_needs_more_bits_is_left_to_native_where_that_is_asked_for() {
    let n = 1024;
    let mut problem = adaptive(&Problem::complex(&[n]).accuracy(Accuracy::Target(4.4e-16)));
    problem.residues.native_fallback = true;
    let planner = Planner::<f64>::new();
    let plan = planner.plan_on(&problem, &emulator()).unwrap();
    let native = Problem::complex(&[n]).engine(Engine::Native).threads(1);
    let native = planner.plan(&native).unwrap();
    let zero = Complex::new(0.0, 0.0);
    let (mut impulse, mut column) = (vec![zero; n], vec![zero; n]);
    impulse[5] = Complex::new(1.0, 0.0);
    // All in one column of the first step: its sum is as large as it can be beside the line's norm.
    let in_column = column.iter_mut().step_by(32);
    in_column.for_each(|value| *value = Complex::new(1.0, -1.0));
    for (line, fallbacks) in [(impulse, 0), (column, 1)] {
        let (mut expected, mut found) = (line.clone(), line.clone());
        native.process(&mut expected).unwrap();
        plan.process(&mut found).unwrap();
        assert_eq!(plan.residue_report().unwrap().native_fallbacks, fallbacks);
        if fallbacks > 0 {
            let bytes = |numbers: &[Complex<f64>]| bytemuck::cast_slice::<_, u8>(numbers).to_vec();
            same(&bytes(&expected), &bytes(&found), "native's bits");
        }
    }
    assert!(!plan.bound_is_proven());
}

#[test]
fn what_adaptive_kernels_do_not_take_is_refused_by_name() {
    let problem = adaptive(&Problem::complex(&[1024]).accuracy(Accuracy::Target(1e-6)));
    match Planner::<f32>::new().plan_on(&problem, &emulator()) {
        Err(FftError::Unsupported(text)) => assert!(text.contains("f32"), "{text}"),
        other => panic!("{:?}", other.map(|plan| plan.to_string())),
    }
}
