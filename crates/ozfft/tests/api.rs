//! What the interface promises besides the numbers.

use crate::common_arrays::{ComplexDouble, bits, plan};
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Direction, Engine, FftError, Kind, Layout, Mode, Plan, Planner, Problem,
    Products, Real,
};
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex, uniform_real};
use std::sync::Arc;
use std::time::Duration;

fn digits(shape: &[usize]) -> Problem {
    Problem::complex(shape).engine(Engine::Digits)
}

#[test]
fn plans_and_planners_may_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Plan<f64>>();
    shared::<Plan<f32>>();
    shared::<Planner<f64>>();
    shared::<Problem>();
    shared::<FftError>();
}

#[test]
fn the_planner_returns_the_plan_it_has() {
    let planner = Planner::<f64>::new();
    let problem = digits(&[48]).threads(2);
    let first = planner.plan(&problem).unwrap();
    assert!(Arc::ptr_eq(&first, &planner.plan(&problem).unwrap()));
    // Anything else asked for is another plan.
    for other in [
        problem.clone().threads(3),
        problem.clone().batch(2),
        problem.clone().direction(Direction::Inverse),
        problem.clone().products(Products::Exact),
        problem.clone().substrate(CpuUnit::WideInteger),
        problem.clone().accuracy(Accuracy::Bits(20)),
        problem.clone().strict(true),
    ] {
        assert!(!Arc::ptr_eq(&first, &planner.plan(&other).unwrap()));
    }
    planner.clear();
    assert!(!Arc::ptr_eq(&first, &planner.plan(&problem).unwrap()));
    // A plan outlives its planner.
    drop(planner);
    first.process(&mut uniform_complex(48, 1)).unwrap();
}

#[test]
fn racing_callers_get_one_plan() {
    for n in [1009, 4099, 360] {
        let planner = Planner::<f64>::new();
        let start = std::sync::Barrier::new(6);
        let plans: Vec<_> = std::thread::scope(|scope| {
            let ask = || {
                start.wait();
                planner.plan(&digits(&[n])).unwrap()
            };
            let callers: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
            callers
                .into_iter()
                .map(|caller| caller.join().unwrap())
                .collect()
        });
        assert!(plans.iter().all(|plan| Arc::ptr_eq(plan, &plans[0])));
    }
}

/// A worker of a pool may be handed a second call while it waits for the threads that build the first plan.
#[test]
fn planning_from_the_workers_of_a_pool_does_not_wait_for_itself() {
    let planner = Planner::<f64>::new();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    pool.install(|| {
        rayon::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|_| drop(planner.plan(&digits(&[65537])).unwrap()));
            }
        });
    });
}

/// A worker that had begun a piece of the builder's work took another call for the same plan, and waited for the builder, who waited for the
/// piece: for ever.
#[test]
fn workers_that_plan_one_length_moments_apart_do_not_wait_for_each_other() {
    for workers in [2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers);
        let pool = Arc::new(pool.build().unwrap());
        let planner = Arc::new(Planner::<f64>::new());
        let (told, plans) = std::sync::mpsc::channel();
        for caller in 0..6 {
            let (pool, planner, told) = (Arc::clone(&pool), Arc::clone(&planner), told.clone());
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(2 * caller));
                let plan = pool.install(|| planner.plan(&digits(&[20011])).unwrap());
                let _ = told.send(plan);
            });
        }
        let wait = Duration::from_secs(120);
        let plans: Vec<_> = (0..6).map(|_| plans.recv_timeout(wait)).collect();
        let plans: Vec<_> = plans
            .into_iter()
            .map(|plan| plan.expect("a plan"))
            .collect();
        assert!(plans.iter().all(|plan| Arc::ptr_eq(plan, &plans[0])));
    }
}

#[test]
fn a_planner_used_by_several_threads_at_once_gives_plans_of_equal_bits() {
    let planner = Planner::<f64>::new();
    let results: Vec<Vec<ComplexDouble>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut data = uniform_complex(131, 1);
                    planner
                        .plan(&digits(&[131]))
                        .unwrap()
                        .process(&mut data)
                        .unwrap();
                    data
                })
            })
            .collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    assert!(results.iter().all(|r| bits(r) == bits(&results[0])));
}

#[test]
fn sixteen_threads_on_one_plan_give_the_same_bits() {
    for problem in [
        digits(&[1030]).threads(2),
        digits(&[24, 131]).threads(3),
        digits(&[1 << 15]).threads(2),
    ] {
        let made = plan(&problem);
        let input = uniform_complex(problem.input_len(), 5);
        let mut expected = input.clone();
        made.process(&mut expected).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let mut data = input.clone();
                    made.process(&mut data).unwrap();
                    assert!(bits(&data) == bits(&expected));
                });
            }
        });
    }
}

#[test]
fn workspace_in_any_state_gives_the_same_bits() {
    let mut generator = Generator::new(99);
    for engine in [Engine::Digits, Engine::Native] {
        for shape in [&[1][..], &[60], &[131], &[1030], &[12, 35], &[5, 1, 262]] {
            let problem = Problem::complex(shape).engine(engine).threads(2);
            let made = plan(&problem);
            let input = uniform_complex(problem.input_len(), 6);
            let mut expected = input.clone();
            made.process(&mut expected).unwrap();
            for fill in 0..3u64 {
                // Random, all ones (every float a NaN), and longer than needed.
                let mut workspace: Vec<u64> = (0..made.workspace_len() + 3 * fill as usize)
                    .map(|_| generator.next_u64() | if fill == 1 { u64::MAX } else { 0 })
                    .collect();
                let mut data = input.clone();
                made.process_with_workspace(&mut data, &mut workspace)
                    .unwrap();
                assert!(bits(&data) == bits(&expected), "{shape:?} by {engine:?}");
            }
        }
        let problem = Problem::complex_to_real(&[6, 10]).engine(engine);
        let made = plan(&problem);
        let half = uniform_complex(36, 6);
        let (mut expected, mut real) = ([0.0; 60], [1.0; 60]);
        made.process_complex_to_real(&half, &mut expected).unwrap();
        let mut workspace = vec![u64::MAX; made.workspace_len()];
        made.process_complex_to_real_with_workspace(&half, &mut real, &mut workspace)
            .unwrap();
        assert!(bits(&real) == bits(&expected));
    }
}

#[test]
fn workspace_that_is_too_short_is_rejected_by_every_call() {
    let too_short = |outcome: Result<(), FftError>, length: usize| {
        assert_eq!(
            outcome,
            Err(FftError::BufferLength {
                buffer: ozfft::Buffer::Workspace,
                expected: length,
                given: length - 1
            })
        );
    };
    let (mut complex, mut real) = (vec![Complex::new(1.0, 0.0); 64], vec![2.0; 64]);
    let made = plan(&digits(&[64]));
    let length = made.workspace_len();
    let mut workspace = vec![0; length - 1];
    let outcome = made.process_with_workspace(&mut complex, &mut workspace);
    too_short(outcome, length);
    let made = plan(&Problem::real_to_complex(&[64]).engine(Engine::Digits));
    let length = made.workspace_len();
    let mut workspace = vec![0; length - 1];
    let outcome =
        made.process_real_to_complex_with_workspace(&real, &mut complex[..33], &mut workspace);
    too_short(outcome, length);
    let made = plan(&Problem::complex_to_real(&[8, 8]).engine(Engine::Digits));
    let length = made.workspace_len();
    let mut workspace = vec![0; length - 1];
    let outcome =
        made.process_complex_to_real_with_workspace(&complex[..40], &mut real, &mut workspace);
    too_short(outcome, length);
    assert!(complex.iter().all(|z| z.re == 1.0) && real.iter().all(|&x| x == 2.0));
}

#[test]
fn out_of_place_leaves_the_input_as_it_was_and_equals_in_place() {
    for engine in [Engine::Digits, Engine::Native] {
        for shape in [&[64][..], &[131], &[1030], &[6, 9, 4]] {
            let problem = Problem::complex(shape).engine(engine);
            let input = uniform_complex(problem.input_len(), 7);
            let before = input.clone();
            let mut apart = vec![Complex::new(9.0, 9.0); input.len()];
            plan(&problem)
                .process_outofplace(&input, &mut apart)
                .unwrap();
            assert!(bits(&input) == bits(&before));
            let mut together = input;
            plan(&problem).process(&mut together).unwrap();
            assert!(bits(&together) == bits(&apart), "{shape:?} by {engine:?}");
        }
        let problem = Problem::complex_to_real(&[6, 10]).engine(engine);
        let half = uniform_complex(36, 6);
        let before = half.clone();
        plan(&problem)
            .process_complex_to_real(&half, &mut [0.0; 60])
            .unwrap();
        assert!(bits(&half) == bits(&before));
    }
}

#[test]
fn calls_for_another_kind_are_rejected() {
    let (mut complex, mut real) = (vec![Complex::new(1.0, 0.0); 16], uniform_real(16, 1));
    let kinds = [
        Kind::ComplexToComplex,
        Kind::RealToComplex,
        Kind::ComplexToReal,
    ];
    let problems = [
        digits(&[16]),
        Problem::real_to_complex(&[16]),
        Problem::complex_to_real(&[16]),
    ];
    for (planned, problem) in kinds.into_iter().zip(&problems) {
        let made = plan(problem);
        for called in kinds.into_iter().filter(|&called| called != planned) {
            let outcome = match called {
                Kind::ComplexToComplex => made.process(&mut complex),
                Kind::RealToComplex => made.process_real_to_complex(&real, &mut complex),
                Kind::ComplexToReal => made.process_complex_to_real(&complex, &mut real),
            };
            assert_eq!(outcome, Err(FftError::WrongKind { planned, called }));
            let text = outcome.unwrap_err().to_string();
            assert!(text.contains(&planned.to_string()) && text.contains(&called.to_string()));
        }
    }
    let rejected = plan(&problems[0]).process_real_in_place(&mut complex);
    assert!(matches!(rejected, Err(FftError::WrongKind { .. })));
    assert!(complex.iter().all(|z| *z == Complex::new(1.0, 0.0)));
}

#[test]
fn in_place_with_two_layouts_is_rejected() {
    let problem = digits(&[4, 6]).output_layout(Layout::fortran(&[4, 6]));
    let mut data = uniform_complex(24, 1);
    let before = data.clone();
    assert_eq!(
        plan(&problem).process(&mut data),
        Err(FftError::InPlaceLayout)
    );
    assert!(bits(&data) == bits(&before));
    // The same places under another name are no mismatch.
    let same = digits(&[4, 6]).output_layout(Layout::contiguous(&[4, 6]));
    plan(&same).process(&mut data).unwrap();
    let unpadded = Problem::real_to_complex(&[4, 6]).engine(Engine::Digits);
    let rejected = plan(&unpadded).process_real_in_place(&mut data);
    assert_eq!(rejected, Err(FftError::InPlaceLayout));
}

#[test]
fn digits_are_the_default_engine() {
    assert_eq!(plan(&Problem::complex(&[1024])).engine(), Engine::Digits);
    let coarse = Problem::real_to_complex(&[60]).accuracy(Accuracy::Target(1e-3));
    assert_eq!(plan(&coarse).engine(), Engine::Digits);
}

/// `irfft` threw its numbers away where a spectrum was not that of real numbers, and said that it had them.
#[test]
fn irfft_takes_imaginary_parts_that_no_signal_has_as_zero() {
    let mut half = ozfft::rfft(&[3.0, -1.0, 4.0, 1.0, -5.0, 9.0]).unwrap();
    let expected = ozfft::irfft(&half, 6).unwrap();
    (half[0].im, half[3].im) = (0.5, -2.0);
    assert_eq!(ozfft::irfft(&half, 6).unwrap(), expected);
}

/// Long half-spectra are read several elements at a time; the middle one is the first of them at some lengths, and the last at others, such as 1050.
#[test]
fn long_half_spectra_have_imaginary_parts_that_no_signal_has_as_zero() {
    fn check<T: Real + From<i16> + PartialEq>(n: usize) {
        let signal: Vec<T> = (0..n).map(|i| T::from((i * i % 97) as i16)).collect();
        let mut half = ozfft::rfft(&signal).unwrap();
        let expected = ozfft::irfft(&half, n).unwrap();
        (half[0].im, half[n / 2].im) = (T::from(3), T::from(-2));
        assert!(ozfft::irfft(&half, n).unwrap() == expected, "{n} points");
    }
    for n in (1026..=2100).step_by(6).chain([4096, 5400, 10_000]) {
        check::<f64>(n);
        check::<f32>(n);
    }
}

#[test]
fn auto_chooses_by_what_is_asked_and_says_why() {
    let chosen = |problem: Problem| {
        let made = plan(&problem);
        (made.engine(), made.why().to_owned())
    };
    let (engine, why) = chosen(Problem::complex(&[1024]).engine(Engine::Auto));
    assert_eq!(engine, Engine::Native);
    assert!(why.contains("native"), "{why}");
    let (engine, why) = chosen(
        Problem::complex(&[1024])
            .engine(Engine::Auto)
            .reproducible(true),
    );
    assert_eq!(engine, Engine::Digits);
    assert!(why.contains("reproducible"), "{why}");
    let (engine, why) = chosen(
        Problem::complex(&[1024])
            .engine(Engine::Auto)
            .accuracy(Accuracy::Target(4e-16)),
    );
    assert_eq!(engine, Engine::Digits);
    assert!(why.contains("4.00e-16"), "{why}");
    let (engine, why) = chosen(
        Problem::complex(&[1024])
            .engine(Engine::Auto)
            .accuracy(Accuracy::Target(1e-8)),
    );
    assert_eq!(engine, Engine::Floats(Mode::Double));
    assert!(why.contains("proven bound is at most 1.00e-8"), "{why}");
    // An engine that is asked for by name has these bits, or is rejected.
    for (engine, portable) in [
        (Engine::Native, false),
        (Engine::Floats(Mode::Bf16), false),
        (Engine::Floats(Mode::Kahan), true),
        (Engine::Residues, true),
        (Engine::Ntt, true),
    ] {
        let problem = Problem::complex(&[64]).reproducible(true).engine(engine);
        let problem = problem.accuracy(Accuracy::Single);
        match Planner::<f64>::new().plan(&problem) {
            Ok(made) => assert!(portable && made.engine() == engine, "{made}"),
            Err(error) => {
                let engine = engine.name();
                assert_eq!(error, FftError::NotReproducible { engine });
            }
        }
        assert_eq!(problem.validate().is_ok(), portable, "{engine}");
    }
    let (engine, why) = chosen(digits(&[1024]));
    assert_eq!(engine, Engine::Digits);
    assert!(why.contains("asked for"), "{why}");
    let singles = Planner::<f32>::new();
    let single = singles
        .plan(&Problem::complex(&[1024]).accuracy(Accuracy::Target(1.5e-7)))
        .unwrap();
    assert!(single.bound_is_proven() && single.bound() <= 1.5e-7);
    // On a GPU, and where bits are to be the same everywhere, there is nothing to choose.
    let (engine, _) = chosen(
        Problem::complex(&[1024])
            .accuracy(Accuracy::Target(1e-8))
            .reproducible(true),
    );
    assert_eq!(engine, Engine::Digits);
}

#[test]
fn a_plan_shows_steps_digits_substrate_bound_workspace_and_reason() {
    let made = plan(&digits(&[1024, 131]).substrate(CpuUnit::Scalar).threads(2));
    let shown = made.to_string();
    for part in [
        "complex-to-complex [1024, 131]",
        "2 threads",
        "truncated: 8 data digits × 7 matrix digits, 8 diagonals",
        "axis 0: 32t·32f",
        "axis 1: bluestein 131",
        "scalar",
        "proven",
        "why: digits was asked for",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
    }
    assert!(shown.contains(&format!("bound {}", ozfft::bound_text(made.bound(), 2))));
    assert!(shown.contains(&format!("workspace {} bytes", 8 * made.workspace_len())));
    let wide = plan(&digits(&[64]).substrate(CpuUnit::WideInteger));
    assert_eq!(wide.substrate(), "wide-integer");
    assert!(wide.to_string().contains("wide-integer"));
    let native = plan(&Problem::complex(&[64]).engine(Engine::Native)).to_string();
    assert!(
        native.contains("native") && native.contains("not proven"),
        "{native}"
    );
}

#[test]
fn lower_accuracy_takes_fewer_digits_and_keeps_its_bound() {
    let mut products = u32::MAX;
    for bits in [48, 40, 30, 20, 10] {
        let made = plan(&digits(&[256]).accuracy(Accuracy::Bits(bits)));
        let digits = made.recipe().unwrap().digits;
        assert!(made.bound() <= (-f64::from(bits)).exp2());
        assert!(digits.data * digits.matrix <= products);
        products = digits.data * digits.matrix;
    }
    assert!(products < 56);
}

#[test]
fn single_accuracy_can_be_had_for_single_precision_data() {
    // "What a perfect single-precision transform would give": nothing else would be a natural wish for f32.
    let problem = digits(&[10]).accuracy(Accuracy::Single);
    let outcome = Planner::<f32>::new().plan(&problem);
    assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
}

#[test]
fn plans_beyond_the_memory_limit_are_evicted_least_recently_used_first() {
    let planner = Planner::<f64>::new();
    let problem = |n: usize| digits(&[n]).threads(1);
    let made = |n: usize| planner.plan(&problem(n)).unwrap();
    let same = |plan: &Arc<Plan<f64>>, n: usize| Arc::ptr_eq(plan, &made(n));
    // Primes, whose tables are all of about the same size.
    let (first, second) = (made(1009), made(1013));
    let each = first.table_bytes().max(second.table_bytes());
    assert!(each > 0 && planner.memory() >= each);
    planner.set_memory_limit(2 * each + each / 2);
    assert!(same(&first, 1009), "both fit");
    // The third drives out what was asked for longest ago: the second.
    let third = made(1019);
    assert!(planner.memory() <= 2 * each + each / 2);
    assert!(same(&third, 1019));
    assert!(!same(&second, 1013), "the second was to be evicted");
    // One that is too large by itself is made, and leaves the others where they are.
    let before = planner.memory();
    let large = made(100_003);
    assert!(large.table_bytes() > before && planner.memory() == before);
    // Nothing is kept, and wisdom is of all.
    planner.set_memory_limit(0);
    assert_eq!(planner.memory(), 0);
    assert!(!same(&third, 1019));
    let wisdom = planner.save_wisdom();
    assert_eq!(wisdom.matches("\"recipe\"").count(), 4, "{wisdom}");
}
