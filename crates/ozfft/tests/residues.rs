//! The residues engine: the bits of exact digits, and what it does beyond them.

use crate::common_arrays::{
    Sample, available_substrates, bits, choose, count, execute_any, random_problem, random_values,
    run_cases, widths,
};
use crate::support::everything;
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Engine, FftError, Method, Plan, Planner, Problem, Products, ResidueOptions,
    Substrate,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex};
use ozfft_testkit::oracle::{HardInput, compare, dft};
use ozfft_testkit::same_bits;
use std::sync::Arc;

/// A quarter of what there is time for otherwise.
fn cases() -> usize {
    if everything() { 10_000 } else { 1_500 }
}
const SEED: u64 = 0x0e51_d0e5;

/// The methods that return the exact integer.
const EXACT: [Method; 5] = [
    Method::Kulisch32,
    Method::Kulisch16,
    Method::Kulisch8,
    Method::Garner,
    Method::Bins,
];

const INEXACT: [Method; 8] = [
    Method::Double,
    Method::Sum2,
    Method::DoubleSingle,
    Method::QuadSingle,
    Method::SingleKahan,
    Method::BernsteinDouble,
    Method::BernsteinSingle,
    Method::BernsteinKahan,
];

fn options(reconstruction: Method) -> ResidueOptions {
    ResidueOptions {
        reconstruction,
        ..ResidueOptions::default()
    }
}

fn plan(problem: &Problem) -> Arc<Plan<f64>> {
    match Planner::new().plan(problem) {
        Ok(plan) => plan,
        Err(error) => panic!("{problem:?}: {error}"),
    }
}

fn transform(plan: &Plan<f64>, line: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let mut output = line.to_vec();
    if let Err(error) = plan.process(&mut output) {
        panic!("{plan}: {error}");
    }
    output
}

/// A case: digits and residues with the same recipe. Returns what differed.
fn differing<T: Sample>(planner: &Planner<T>, generator: &mut Generator) -> Result<(), String> {
    let mut problem = random_problem::<T>(generator).products(Products::Exact);
    let mut choice = options(Method::Kulisch32);
    let mut substrate = choose(generator, available_substrates());
    if substrate == Substrate::Cpu(CpuUnit::WideInteger) {
        substrate = Substrate::Int8;
    }
    match generator.below(16) {
        0 | 1 => choice.redundancy = 1 + generator.below(3),
        2..=4 => {
            // With a number as accuracy bits are chosen, too, from another recipe.
            choice.adaptive = true;
            problem = problem.accuracy(Accuracy::Double);
        }
        _ => choice.reconstruction = choose(generator, &EXACT),
    }
    // A simulated unit takes its time: one of thirty-two cases.
    match generator.below(64) {
        0 => substrate = Substrate::Fp8,
        1 if choice == options(choice.reconstruction) => {
            substrate = Substrate::Fp8;
            choice.reconstruction = Method::Fp8Bands;
        }
        _ => {}
    }
    let residues = problem
        .clone()
        .engine(Engine::Residues)
        .substrate(substrate)
        .residues(choice);
    let say = |what: &str| format!("{what}: {residues:?}");
    let (input_width, output_width) = widths(problem.kind());
    let values: Vec<T> = random_values(generator, count(&problem.input_shape()) * input_width);
    let run = |problem: &Problem| -> Result<(Vec<T>, Arc<Plan<T>>), FftError> {
        let plan = planner.plan(problem)?;
        let mut output = vec![T::from_double(0.0); count(&problem.output_shape()) * output_width];
        execute_any(&plan, &values, &mut output)?;
        Ok((output, plan))
    };
    let (expected, digits) = run(&problem).map_err(|error| say(&error.to_string()))?;
    let (found, plan) = run(&residues).map_err(|error| say(&error.to_string()))?;
    if plan.recipe() != digits.recipe() || plan.engine() != Engine::Residues {
        return Err(say("another recipe or engine"));
    }
    same_bits(&expected, &found, SEED).map_err(|difference| say(&difference.to_string()))?;
    if plan.bound() != digits.bound() {
        return Err(say("an exact method has another bound"));
    }
    match plan.residue_report() {
        Some(report) if report.corrected + report.uncorrectable == 0 => Ok(()),
        report => Err(say(&format!("a false alarm: {report:?}"))),
    }
}

#[test]
fn random_cases_have_the_bits_of_exact_digits() {
    run_cases((cases(), SEED), differing::<f32>, differing::<f64>);
}

#[test]
fn methods_that_are_not_exact_stay_within_their_bound() {
    let mut failures = Vec::new();
    for n in [8, 60, 64, 131, 1000, 1024] {
        let lines: Vec<_> = HardInput::ALL
            .iter()
            .map(|input| (input.name(), input.generate(n, 7)))
            .chain([("random", uniform_complex(n, 7))])
            .map(|(name, line)| {
                let exact = dft(&line, oracle::Direction::Forward);
                (name, line, exact)
            })
            .collect();
        for method in INEXACT {
            let problem = Problem::complex(&[n]).engine(Engine::Residues);
            let plan = plan(&problem.residues(options(method)));
            for (name, line, exact) in &lines {
                let error = compare(&transform(&plan, line), exact).l2;
                println!("{n} {method} {name}: {error:.1e} of {:.1e}", plan.bound());
                if error.is_nan() || error > plan.bound() {
                    failures.push(format!(
                        "{n} {method} {name}: L2 {error:.2e} above the bound {:.2e}",
                        plan.bound()
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn short_data_need_fewer_moduli_and_keep_their_bits() {
    let n = 1024;
    let mut generator = Generator::new(11);
    let mut sample = || (generator.uniform() * 32_768.0).trunc() / 1024.0;
    let line: Vec<Complex<f64>> = (0..n).map(|_| Complex::new(sample(), sample())).collect();
    let problem = Problem::complex(&[n]).engine(Engine::Residues);
    let adaptive = ResidueOptions {
        adaptive: true,
        ..ResidueOptions::default()
    };
    let (plain, few) = (plan(&problem), plan(&problem.clone().residues(adaptive)));
    assert_eq!(
        bits(&transform(&plain, &line)),
        bits(&transform(&few, &line))
    );
    let moduli = |plan: &Plan<f64>| -> Vec<usize> {
        let report = plan.residue_report().expect("residues were counted");
        report
            .columns_by_moduli
            .iter()
            .map(|&(count, _)| count)
            .collect()
    };
    assert_eq!(moduli(&plain), [15, 16]);
    // Sixteen bits, 32 of them added up, times 55: the first step's sums need 76 bits and a sign, ten moduli.
    assert_eq!(moduli(&few)[0], 10);
}

#[test]
fn adaptive_bits_keep_the_accuracy_asked_for() {
    let n = 1024;
    let mut failures = Vec::new();
    for target in [1e-4, 1e-7, 1e-10, 1e-13, 5e-15] {
        let adaptive = ResidueOptions {
            adaptive: true,
            ..ResidueOptions::default()
        };
        let problem = Problem::complex(&[n])
            .engine(Engine::Residues)
            .accuracy(Accuracy::Target(target))
            .residues(adaptive);
        for input in HardInput::ALL {
            let plan = plan(&problem);
            assert!(plan.bound() <= target, "{plan}");
            let line = input.generate(n, 3);
            let exact = dft(&line, oracle::Direction::Forward);
            let error = compare(&transform(&plan, &line), &exact).l2;
            let report = plan.residue_report().expect("residues were counted");
            println!("{target:e} {}: {error:.1e}; {report}", input.name());
            if error.is_nan() || error > target {
                failures.push(format!("{target:e} {}: {error:.2e}", input.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_line_that_needs_more_bits_is_left_to_native_where_that_is_asked_for() {
    let n = 1024;
    // All in one column of the first step: its sum is as large as it can be beside the line's norm.
    let mut line = vec![Complex::new(0.0, 0.0); n];
    line.iter_mut()
        .step_by(32)
        .for_each(|value| *value = Complex::new(1.0, -1.0));
    let target = Accuracy::Target(4.4e-16);
    let with = |native_fallback| {
        let adaptive = ResidueOptions {
            adaptive: true,
            native_fallback,
            ..ResidueOptions::default()
        };
        Problem::complex(&[n])
            .engine(Engine::Residues)
            .accuracy(target)
            .residues(adaptive)
    };
    let fallback = plan(&with(true));
    let native = plan(&Problem::complex(&[n]).engine(Engine::Native));
    let fell_back = |line: &[Complex<f64>]| {
        let before = fallback
            .residue_report()
            .map(|report| report.native_fallbacks);
        let output = transform(&fallback, line);
        let after = fallback
            .residue_report()
            .map(|report| report.native_fallbacks);
        (after != before, output)
    };
    let (left, _) = fell_back(&HardInput::Impulse.generate(n, 5));
    assert!(!left, "one number leaves room enough");
    let (left, output) = fell_back(&line);
    assert!(left, "{fallback}");
    assert_eq!(bits(&output), bits(&transform(&native, &line)));
    let plain = plan(&with(false));
    transform(&plain, &line);
    let report = plain.residue_report().expect("residues were counted");
    assert_eq!(report.native_fallbacks, 0);
}

/// A plan from wisdom once had the recipe that was saved, but not the unit of words that belongs to it.
#[test]
fn adaptive_bits_survive_wisdom() {
    let n = 1024;
    let adaptive = ResidueOptions {
        adaptive: true,
        ..ResidueOptions::default()
    };
    let problem = Problem::complex(&[n])
        .engine(Engine::Residues)
        .accuracy(Accuracy::Target(1e-7))
        .residues(adaptive);
    let (first, second) = (Planner::new(), Planner::new());
    let decided = first.plan(&problem).unwrap();
    assert_eq!(second.load_wisdom(&first.save_wisdom()), Ok(1));
    let recalled = second.plan(&problem).unwrap();
    assert!(recalled.why().contains("wisdom"), "{recalled}");
    assert_eq!(recalled.bound(), decided.bound());
    let line = uniform_complex(n, 19);
    assert_eq!(
        bits(&transform(&recalled, &line)),
        bits(&transform(&decided, &line))
    );
}

#[test]
fn a_bound_is_called_proven_where_it_is() {
    let problem = Problem::complex(&[64]).engine(Engine::Residues);
    for method in [Method::Kulisch32, Method::SingleKahan] {
        let plan = plan(&problem.clone().residues(options(method)));
        assert!(plan.bound_is_proven(), "{plan}");
    }
    let fallback = ResidueOptions {
        adaptive: true,
        native_fallback: true,
        ..ResidueOptions::default()
    };
    let fallback = problem.accuracy(Accuracy::Target(1e-12)).residues(fallback);
    let fallback = plan(&fallback);
    assert!(!fallback.bound_is_proven(), "{fallback}");
    assert!(fallback.to_string().contains("(not proven)"), "{fallback}");
}

#[test]
fn residues_reject_unsupported_options_by_name() {
    let problem = Problem::complex(&[64]).engine(Engine::Residues);
    let rejected = |problem: Problem| match Planner::<f64>::new().plan(&problem) {
        Ok(plan) => panic!("planned: {plan}"),
        Err(error) => error.to_string(),
    };
    let adaptive = ResidueOptions {
        adaptive: true,
        ..ResidueOptions::default()
    };
    let both = ResidueOptions {
        redundancy: 2,
        ..adaptive
    };
    let fallback = ResidueOptions {
        native_fallback: true,
        ..adaptive
    };
    let redundant = ResidueOptions {
        redundancy: 1,
        ..options(Method::Double)
    };
    let too_many = ResidueOptions {
        redundancy: 20,
        ..ResidueOptions::default()
    };
    let cases = [
        (problem.clone().residues(both), "redundant or as few"),
        (problem.clone().residues(fallback), "number as accuracy"),
        (problem.clone().residues(redundant), "kulisch32"),
        (problem.clone().residues(too_many), "20"),
        (
            problem.clone().substrate(CpuUnit::WideInteger),
            "wide integers",
        ),
        (
            Problem::complex(&[64])
                .engine(Engine::Digits)
                .residues(adaptive),
            "engine residues",
        ),
        (
            Problem::complex(&[64])
                .engine(Engine::Digits)
                .substrate(Substrate::Fp8),
            "simulated",
        ),
    ];
    for (problem, part) in cases {
        let message = rejected(problem);
        assert!(message.contains(part), "{part:?} not in {message:?}");
    }
}
