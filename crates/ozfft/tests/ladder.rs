//! The ladder of accuracies: whatever error is asked for is kept, by the digits engine and by the one that `auto` takes, on
//! data of both types, of any length, easy and hard. Counts are printed (`--nocapture`).

use crate::support::{Violations, Worst, decades, in_parallel};
use num_complex::Complex;
use ozfft::{Accuracy, Engine, FftError, Mode, Planner, Problem, Real, Verdict};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::uniform_complex;
use ozfft_testkit::oracle::{ExactSpectrum, HardInput, Scale, compare, compare_f32, dft_nd};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Powers of two, primes, composites of small and of large primes.
const LENGTHS: [usize; 40] = [
    1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 17, 25, 31, 32, 45, 60, 64, 97, 100, 127, 128, 131, 210,
    251, 256, 257, 360, 509, 512, 720, 1000, 1009, 1024, 1331, 2047, 2048, 2310, 3125, 4096,
];

/// Problems of one line, as both engines take them.
fn problems(n: usize, target: f64) -> [Problem; 2] {
    [Engine::Auto, Engine::Digits].map(|engine| {
        let problem = Problem::complex(&[n]).engine(engine).threads(1);
        problem.accuracy(Accuracy::Target(target))
    })
}

/// A line, its spectrum, and what roundings of subnormal results may add to its L2 error.
struct Case<T> {
    name: &'static str,
    line: Vec<Complex<T>>,
    exact: ExactSpectrum,
    subnormal: f64,
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Relative to the spectrum: half the spacing of subnormal numbers in both parts of every output, twice, since a line is
/// scaled on output.
fn subnormal_share(line: &[Complex<f64>], half_spacing: f64, scale: f64) -> f64 {
    // The spectrum's norm is √n times the line's; scaled, so that squares do not underflow.
    let size = norm(line.iter().flat_map(|z| [z.re * scale, z.im * scale]));
    2.0 * half_spacing * scale * 2f64.sqrt() / size
}

fn doubles(n: usize, seed: u64) -> Vec<Case<f64>> {
    let hard = [
        HardInput::Impulse,
        HardInput::Constant,
        HardInput::PlantedCancellation,
        HardInput::SpikeOverFloor,
        HardInput::Span500,
        HardInput::NearOverflow,
        HardInput::Subnormals,
    ];
    let lines = hard.map(|input| (input.name(), input.generate(n, seed)));
    let random = ("random", uniform_complex(n, seed));
    let all = std::iter::once(random).chain(lines);
    all.map(|(name, line)| {
        let exact = dft_nd(&line, &[n], oracle::Direction::Forward);
        let subnormal = match name {
            "subnormals" => subnormal_share(&line, (-1074f64).exp2(), 1000f64.exp2()),
            _ => 0.0,
        };
        Case {
            name,
            line,
            exact,
            subnormal,
        }
    })
    .collect()
}

fn singles(n: usize, seed: u64) -> Vec<Case<f32>> {
    let random = uniform_complex(n, seed);
    let times = |factor: f64| random.iter().map(|z| z * factor).collect();
    // The spectrum still fits: its parts are at most √2·n times as large.
    let huge = (127 - 2 - n.ilog2() as i32 - 1) as f64;
    let hard = [
        HardInput::Impulse,
        HardInput::Constant,
        HardInput::PlantedCancellation,
        HardInput::SpikeOverFloor,
        HardInput::Span53,
    ];
    let mut lines: Vec<(&str, Vec<Complex<f64>>)> = hard
        .iter()
        .map(|input| (input.name(), input.generate(n, seed)))
        .collect();
    lines.push(("random", times(1.0)));
    lines.push(("near overflow", times(huge.exp2())));
    lines.push(("subnormals", times((-131f64).exp2())));
    let cases = lines.into_iter().map(|(name, line)| {
        let narrow = line.iter().map(|z| Complex::new(z.re as f32, z.im as f32));
        let line: Vec<Complex<f32>> = narrow.collect();
        let wide = line.iter().map(|z| Complex::new(z.re.into(), z.im.into()));
        let wide: Vec<Complex<f64>> = wide.collect();
        let exact = dft_nd(&wide, &[n], oracle::Direction::Forward);
        let subnormal = match name {
            "subnormals" => subnormal_share(&wide, (-150f64).exp2(), 1.0),
            _ => 0.0,
        };
        Case {
            name,
            line,
            exact,
            subnormal,
        }
    });
    cases.collect()
}

#[derive(Default)]
struct Counts {
    plans: AtomicUsize,
    transforms: AtomicUsize,
    proven: AtomicUsize,
    rejected: AtomicUsize,
}

/// All targets of one length; `error` compares a result with a case's spectrum.
fn check_length<T: Real>(
    planner: &Planner<T>,
    cases: &[Case<T>],
    (violations, counts): (&Violations, &Counts),
    error: impl Fn(&[Complex<T>], &ExactSpectrum) -> f64,
    note: impl Fn(f64, String),
) {
    let n = cases[0].line.len();
    for (target, _) in decades() {
        for problem in problems(n, target) {
            let plan = match planner.plan(&problem) {
                Ok(plan) => plan,
                // What the type cannot hold is rejected; f32 holds 6e-8.
                Err(FftError::AccuracyUnreachable { .. }) if target < T::UNIT_ROUNDOFF => {
                    counts.rejected.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                Err(error) => {
                    violations.check(false, || format!("{n} {target:e}: {error}"));
                    continue;
                }
            };
            counts.plans.fetch_add(1, Ordering::Relaxed);
            let proven = plan.bound_is_proven() && plan.bound() <= target;
            counts
                .proven
                .fetch_add(usize::from(proven), Ordering::Relaxed);
            // Down to 1e-14 there is a proof in every length.
            violations.check(proven || target < 1e-14, || format!("not proven:\n{plan}"));
            for case in cases {
                let mut data = case.line.clone();
                plan.process(&mut data)
                    .unwrap_or_else(|error| panic!("{plan}: {error}"));
                counts.transforms.fetch_add(1, Ordering::Relaxed);
                let error = error(&data, &case.exact);
                let place = || format!("{} n={n} {target:e} {}", T::NAME, case.name);
                violations.check(error <= target + case.subnormal, || {
                    format!("{}: {error:.3e}\n{plan}", place())
                });
                note(error / (target + case.subnormal), place());
            }
        }
    }
}

#[test]
fn every_target_is_kept_by_both_engines_on_every_input() {
    let (violations, counts) = (Violations::default(), Counts::default());
    let worst = Worst::none();
    let note = |ratio, place| Worst::note(&worst, ratio, || place);
    let lengths: Vec<usize> = LENGTHS.into_iter().rev().collect();
    in_parallel(&lengths, |planner, &n| {
        let seed = n as u64;
        let found = (&violations, &counts);
        let double = |got: &[Complex<f64>], exact: &ExactSpectrum| compare(got, exact).l2;
        check_length(planner, &doubles(n, seed), found, double, note);
        let single =
            |got: &[Complex<f32>], exact: &ExactSpectrum| compare_f32(got, exact, Scale::One).l2;
        let planner = Planner::<f32>::new();
        check_length(&planner, &singles(n, seed), found, single, note);
    });
    println!(
        "{} lengths (seed = length), {} plans, {} of them proven, {} rejected as the type cannot hold them, {} transforms",
        LENGTHS.len(),
        counts.plans.load(Ordering::Relaxed),
        counts.proven.load(Ordering::Relaxed),
        counts.rejected.load(Ordering::Relaxed),
        counts.transforms.load(Ordering::Relaxed)
    );
    Worst::print(&worst, "largest error/target");
    violations.report();
}

#[test]
fn a_choice_is_the_fastest_that_is_proven_and_says_why_not_the_others() {
    let planner = Planner::<f32>::new();
    for target in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
        for n in [64, 1000, 1009, 4096] {
            let plan = planner.plan(&problems(n, target)[0]).unwrap();
            let choice = plan.choice().unwrap();
            let shown = plan.describe();
            let seconds = |candidate: &ozfft::Candidate| {
                let prediction = candidate.prediction.as_ref();
                prediction.map_or(f64::INFINITY, |prediction| prediction.seconds)
            };
            let taken: Vec<_> = choice.candidates.iter().filter(|c| c.is_taken()).collect();
            assert_eq!(taken.len(), 1, "{shown}");
            assert_eq!(taken[0].engine, plan.engine(), "{shown}");
            assert_eq!(taken[0].bound, Some(plan.bound()), "{shown}");
            // Every mode, digits, native.
            assert_eq!(choice.candidates.len(), Mode::ALL.len() + 2, "{shown}");
            for candidate in &choice.candidates {
                assert!(shown.contains(&candidate.engine.to_string()), "{shown}");
                match &candidate.verdict {
                    Verdict::Taken => assert!(candidate.bound.unwrap() <= target),
                    Verdict::TakenUnproven => panic!("{target} can be proven: {shown}"),
                    Verdict::Slower => {
                        assert!(candidate.bound.unwrap() <= target, "{shown}");
                        assert!(seconds(candidate) >= seconds(taken[0]), "{shown}");
                    }
                    Verdict::Rejected(reason) => {
                        let native = candidate.engine == Engine::Native;
                        assert!(native || candidate.bound.is_none_or(|bound| bound > target));
                        assert!(shown.contains(reason), "{shown}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_named_mode_that_does_not_keep_the_target_is_rejected() {
    let planner = Planner::<f32>::new();
    let problem = |mode| Problem::complex(&[256]).engine(Engine::Floats(mode));
    let asked = problem(Mode::Bf16).accuracy(Accuracy::Target(1e-4));
    let rejected = planner.plan(&asked).unwrap_err().to_string();
    assert!(
        rejected.contains("bf16") && rejected.contains("1.00e-4"),
        "{rejected}"
    );
    let asked = problem(Mode::Fast).accuracy(Accuracy::Target(1e-4));
    assert!(planner.plan(&asked).is_ok());
}
