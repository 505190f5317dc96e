//! Saved decisions: what does not keep the request is rejected or passed over, whatever the text says; and plans that cannot be
//! proven to keep an accuracy say so.

use crate::support::{half, transform, transform_real};
use num_complex::Complex;
use ozfft::{
    Accuracy, BlockRecipe, CpuUnit, Engine, FftError, Kind, LineRecipe, Mode, Plan, Planner,
    Problem, Products, ResidueOptions,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{complex_from_real, uniform_complex, uniform_real};
use ozfft_testkit::oracle::{compare, dft_nd};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a planner of its own saves of one problem.
fn saved(problem: &Problem) -> Value {
    let planner = Planner::<f64>::new();
    planner.plan(problem).unwrap();
    serde_json::from_str(&planner.save_wisdom()).unwrap()
}

/// The plan after loading, or why the text was rejected.
fn recalled(wisdom: &Value, problem: &Problem) -> Result<Arc<Plan<f64>>, FftError> {
    let planner = Planner::<f64>::new();
    planner.load_wisdom(&wisdom.to_string())?;
    planner.plan(problem)
}

fn expect_rejected(wisdom: &Value, problem: &Problem, reason: &str) {
    match recalled(wisdom, problem) {
        Err(error @ FftError::Wisdom(_)) => {
            let text = error.to_string();
            assert!(text.contains("entry 0") && text.contains(reason), "{text}");
            assert!(text.contains("plan the problem again"), "{text}");
        }
        other => panic!("not rejected: {other:?}"),
    }
}

fn line_of(blocks: &[&[usize]]) -> Value {
    let blocks: Vec<BlockRecipe> = blocks.iter().map(|b| BlockRecipe::from_sizes(b)).collect();
    json!(LineRecipe::Passes(blocks))
}

fn bluestein(n: usize, blocks: &[&[usize]]) -> Value {
    let convolution = blocks.iter().map(|b| BlockRecipe::from_sizes(b)).collect();
    json!(LineRecipe::Bluestein { n, convolution })
}

#[test]
fn wisdom_of_too_few_digits_does_not_lower_the_accuracy_asked_for() {
    for accuracy in [Accuracy::Target(1e-12), Accuracy::Bits(40)] {
        let problem = Problem::complex(&[60])
            .accuracy(accuracy)
            .reproducible(true);
        let mut wisdom = saved(&problem);
        let digits = &mut wisdom["plans"][0]["recipe"]["digits"];
        *digits = json!({"data": 2, "matrix": 1, "diagonals": 2});
        let plan = recalled(&wisdom, &problem).unwrap();
        assert!(plan.bound() <= accuracy.target().unwrap(), "{plan}");
        assert!(plan.accuracy_is_proven(), "{plan}");
        let why = plan.why();
        assert!(
            why.contains("passed over") && why.contains("bound"),
            "{why}"
        );
        assert!(!why.contains("recalled"), "{why}");
    }
    for accuracy in [Accuracy::Double, Accuracy::Single] {
        let problem = Problem::complex(&[60])
            .engine(Engine::Digits)
            .accuracy(accuracy);
        let mut wisdom = saved(&problem);
        let digits = &mut wisdom["plans"][0]["recipe"]["digits"];
        *digits = json!({"data": 2, "matrix": 1, "diagonals": 2});
        expect_rejected(&wisdom, &problem, "Digits");
    }
}

#[test]
fn wisdom_without_a_recipe_does_not_turn_digits_into_native() {
    let asked = [
        Problem::complex(&[60]).engine(Engine::Digits),
        Problem::complex(&[60]).reproducible(true),
        Problem::complex(&[60]).accuracy(Accuracy::Target(1e-12)),
        Problem::complex(&[60]).engine(Engine::Residues),
    ];
    for problem in asked {
        let mut wisdom = saved(&problem);
        wisdom["plans"][0]["recipe"] = Value::Null;
        wisdom["plans"][0]["mode"] = Value::Null;
        expect_rejected(&wisdom, &problem, "engine native");
    }
}

#[test]
fn wisdom_with_a_mode_does_not_bring_another_engine_than_asked_for() {
    let bf16 = |problem: &Problem| {
        let mut wisdom = saved(problem);
        wisdom["plans"][0]["recipe"] = Value::Null;
        wisdom["plans"][0]["mode"] = json!("bf16");
        wisdom
    };
    let asked = [
        Problem::complex(&[64]).engine(Engine::Digits),
        Problem::complex(&[64]).engine(Engine::Native),
        Problem::complex(&[64]).engine(Engine::Floats(Mode::Double)),
        Problem::complex(&[64]),
        Problem::complex(&[64]).accuracy(Accuracy::Single),
        Problem::complex(&[64])
            .accuracy(Accuracy::Target(1e-1))
            .reproducible(true),
    ];
    for problem in asked {
        expect_rejected(&bf16(&problem), &problem, "engine bf16");
    }
    // `auto` may take it where its bound keeps the error, and only there.
    let auto = Problem::complex(&[64]).engine(Engine::Auto);
    let coarse = auto.clone().accuracy(Accuracy::Target(0.3));
    let plan = recalled(&bf16(&coarse), &coarse).unwrap();
    assert_eq!(plan.engine(), Engine::Floats(Mode::Bf16), "{plan}");
    let fine = auto.accuracy(Accuracy::Target(1e-12));
    let plan = recalled(&bf16(&fine), &fine).unwrap();
    assert!(plan.bound() <= 1e-12, "{plan}");
    assert!(plan.why().contains("passed over"), "{plan}");
}

#[test]
fn wisdom_that_made_planning_panic_or_hang_is_rejected() {
    let problem = Problem::complex(&[101]).engine(Engine::Digits);
    let (wide, square) = (&[32usize, 32][..], &[16usize, 16][..]);
    let lines = [
        (bluestein(101, &[wide, wide, wide]), "256 points"),
        // A product that wraps to zero, and one far too large.
        (bluestein(101, &[square; 8]), "more points than"),
        (bluestein(101, &[square; 4]), "does not fit"),
        (bluestein(101, &[&[10, 20]]), "does not fit"),
        (bluestein(101, &[]), "no steps"),
        (bluestein(100, &[&[16, 16]]), "needs no convolution"),
        (bluestein(usize::MAX, &[&[16, 16]]), "axis"),
        (line_of(&[wide; 7]), "more points than"),
        (line_of(&[&[65]]), "no step of 65"),
        (line_of(&[&[1, 64]]), "no step of 1"),
        (line_of(&[&[64, 64, 64]]), "1024 points"),
        (json!({"Passes": [{"steps": []}]}), "no steps"),
        (json!("Copy"), "axis of 101"),
    ];
    for (line, reason) in lines {
        let mut wisdom = saved(&problem);
        wisdom["plans"][0]["recipe"]["axes"][0]["line"] = line;
        match recalled(&wisdom, &problem) {
            Err(FftError::Wisdom(text)) => {
                let reasons = [reason, "does not fit", "needs no convolution"];
                assert!(reasons.iter().any(|r| text.contains(r)), "{reason}: {text}");
            }
            other => panic!("{reason}: {other:?}"),
        }
    }
}

#[test]
fn wisdom_names_axes_once_and_in_their_order() {
    let problem = Problem::complex(&[6, 10]).engine(Engine::Digits);
    let good = saved(&problem);
    let axes = good["plans"][0]["recipe"]["axes"].as_array().unwrap();
    for damaged in [
        json!([axes[1], axes[0]]),
        json!([axes[0]]),
        json!([axes[0], axes[0]]),
        json!([axes[0], axes[1], axes[1]]),
    ] {
        let mut wisdom = good.clone();
        wisdom["plans"][0]["recipe"]["axes"] = damaged;
        expect_rejected(&wisdom, &problem, "axes");
    }
}

#[test]
fn other_steps_are_taken_where_they_keep_the_accuracy_and_else_passed_over() {
    let target = Problem::complex(&[60])
        .engine(Engine::Digits)
        .accuracy(Accuracy::Target(1e-9));
    let mut wisdom = saved(&target);
    wisdom["plans"][0]["recipe"]["digits"] = json!({"data": 8, "matrix": 7, "diagonals": 8});
    for blocks in [&[&[3usize, 4, 5][..]][..], &[&[6], &[10]], &[&[4, 15]]] {
        wisdom["plans"][0]["recipe"]["axes"][0]["line"] = line_of(blocks);
        let plan = recalled(&wisdom, &target).unwrap();
        assert!(plan.why().contains("recalled"), "{plan}");
        assert_eq!(json!(plan.recipe().unwrap().axes[0].line), line_of(blocks));
        let input = uniform_complex(60, 8);
        let exact = dft_nd(&input, &[60], oracle::Direction::Forward);
        let error = compare(&transform(&plan, &input), &exact).l2;
        assert!(error <= plan.bound(), "{error:e}\n{plan}");
    }
    // Double promises what its steps have: middle steps of three lose bits.
    let double = Problem::complex(&[729]).engine(Engine::Digits);
    let mut wisdom = saved(&double);
    wisdom["plans"][0]["recipe"]["axes"][0]["line"] = line_of(&[&[3; 6]]);
    let plan = recalled(&wisdom, &double).unwrap();
    let fresh = Planner::<f64>::new().plan(&double).unwrap();
    assert_eq!(plan.recipe(), fresh.recipe());
    assert!(plan.why().contains("passed over"), "{plan}");
}

#[test]
fn a_plan_that_is_not_proven_to_keep_the_target_says_so() {
    let planner = Planner::<f64>::new();
    let digits = Problem::complex(&[100]).engine(Engine::Digits);
    let double = planner.plan(&digits).unwrap();
    // Between what is expected and what is proven there is room for a target that the type hardly holds.
    let target = 4.0 * double.expected();
    assert!(target < double.bound(), "{double}");
    for problem in [Problem::complex(&[100]), digits.clone()] {
        let plan = planner
            .plan(&problem.accuracy(Accuracy::Target(target)))
            .unwrap();
        assert!(plan.bound() > target && !plan.accuracy_is_proven());
        assert!(3.0 * plan.expected() <= target, "{plan}");
        assert!(plan.why().contains("is not proven"), "{plan}");
        let shown = plan.to_string();
        assert!(!shown.contains("(proven)"), "{shown}");
        assert!(shown.contains("asked for, which is not proven"), "{shown}");
        if let Some(choice) = plan.choice() {
            let taken: Vec<_> = choice.candidates.iter().filter(|c| c.is_taken()).collect();
            assert_eq!(taken.len(), 1, "{shown}");
            assert_eq!(taken[0].engine, Engine::Digits, "{shown}");
            assert!(taken[0].verdict.to_string().contains("nothing is proven"));
        }
    }
    let native = planner
        .plan(
            &Problem::complex(&[100])
                .engine(Engine::Native)
                .accuracy(Accuracy::Target(1e-3)),
        )
        .unwrap();
    assert!(!native.accuracy_is_proven());
    assert!(native.why().contains("is not proven"), "{native}");
    let proven = planner
        .plan(&Problem::complex(&[100]).accuracy(Accuracy::Target(1e-9)))
        .unwrap();
    assert!(proven.accuracy_is_proven() && proven.to_string().contains("(proven)"));
    let unreachable = Problem::complex(&[100]).accuracy(Accuracy::Target(1e-17));
    assert!(matches!(
        planner.plan(&unreachable),
        Err(FftError::AccuracyUnreachable { .. })
    ));
}

/// Problems of every kind of decision, small enough for the definition.
fn problems() -> Vec<Problem> {
    let complex = |shape: &[usize]| Problem::complex(shape).substrate(CpuUnit::Scalar);
    let digits = |shape: &[usize]| complex(shape).engine(Engine::Digits);
    let adaptive = ResidueOptions {
        adaptive: true,
        ..ResidueOptions::default()
    };
    vec![
        digits(&[1]),
        digits(&[12]),
        digits(&[67]),
        digits(&[5, 6]),
        digits(&[16]).products(Products::Exact),
        digits(&[60]).accuracy(Accuracy::Single),
        digits(&[101]).accuracy(Accuracy::Target(1e-6)),
        digits(&[24]).accuracy(Accuracy::Bits(20)),
        complex(&[20])
            .accuracy(Accuracy::Target(1e-12))
            .reproducible(true),
        Problem::complex(&[20]).accuracy(Accuracy::Target(1e-3)),
        Problem::complex(&[15]).accuracy(Accuracy::Target(1e-7)),
        Problem::complex(&[15]),
        Problem::complex(&[9]).engine(Engine::Native),
        Problem::complex(&[8])
            .engine(Engine::Floats(Mode::Kahan))
            .accuracy(Accuracy::Single),
        Problem::complex(&[12]).engine(Engine::Residues),
        Problem::complex(&[12])
            .engine(Engine::Residues)
            .accuracy(Accuracy::Target(1e-7))
            .residues(adaptive),
        Problem::real_to_complex(&[4, 6]).engine(Engine::Digits),
        Problem::complex_to_real(&[4, 6]).engine(Engine::Digits),
    ]
    .into_iter()
    .map(|problem| problem.threads(1))
    .collect()
}

#[test]
fn decisions_are_restored_for_every_kind_of_problem() {
    let (first, second) = (Planner::<f64>::new(), Planner::<f64>::new());
    let problems = problems();
    let decided: Vec<_> = problems.iter().map(|p| first.plan(p).unwrap()).collect();
    assert_eq!(second.load_wisdom(&first.save_wisdom()), Ok(problems.len()));
    for (problem, plan) in problems.iter().zip(decided) {
        let again = second.plan(problem).unwrap();
        assert!(again.why().contains("recalled from wisdom"), "{again}");
        assert_eq!(again.recipe(), plan.recipe(), "{again}");
        assert_eq!(again.engine(), plan.engine(), "{again}");
        assert_eq!(again.bound(), plan.bound(), "{again}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % limit
    }

    fn pick<'a, V: ?Sized>(&mut self, of: &[&'a V]) -> &'a V {
        of[self.below(of.len())]
    }
}

/// Replaces something in the tree.
fn mutate(value: &mut Value, random: &mut Random, others: &[Value]) {
    let deeper = random.below(8) > 0;
    match value {
        Value::Object(map) if deeper && !map.is_empty() => {
            let at = random.below(map.len());
            if let Some((_, inner)) = map.iter_mut().nth(at) {
                return mutate(inner, random, others);
            }
        }
        Value::Array(list) if deeper && !list.is_empty() => {
            let at = random.below(list.len());
            return mutate(&mut list[at], random, others);
        }
        Value::Array(list) => {
            let (a, b) = (random.below(list.len() + 1), random.below(list.len() + 1));
            match random.below(3) {
                0 if a < list.len() => {
                    list.remove(a);
                }
                1 if a < list.len() => {
                    let copy = list[a].clone();
                    list.insert(b, copy);
                }
                _ if a < list.len() && b < list.len() => list.swap(a, b),
                _ => list.push(json!(random.below(70))),
            }
            return;
        }
        Value::Number(number) => {
            let old = number.as_u64().unwrap_or(1);
            let numbers = [
                0,
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                9,
                12,
                15,
                16,
                32,
                64,
                65,
                128,
                255,
                256,
                1024,
                1 << 31,
                1 << 32,
                1 << 62,
                1 << 63,
                u64::MAX,
                old.wrapping_add(1),
                old.wrapping_sub(1),
                old.wrapping_mul(2),
                old / 2,
            ];
            *value = json!(numbers[random.below(numbers.len())]);
            return;
        }
        Value::String(_) => {
            let names = [
                "Unit",
                "Plain",
                "TimeShifted",
                "FrequencyShifted",
                "Exact",
                "Truncated",
                "Copy",
                "Digits",
                "Native",
                "Auto",
                "Residues",
                "bf16",
                "fast",
                "double",
                "Double",
                "Single",
                "Ortho",
                "ComplexToReal",
                "Scalar",
                "f32",
                "",
            ];
            *value = json!(random.pick(&names));
            return;
        }
        _ => {}
    }
    *value = match random.below(6) {
        0 => Value::Null,
        1 => json!("bf16"),
        2 => json!("double"),
        3 => json!({}),
        // A decision, or a part of one, that belongs to another problem.
        _ => {
            let other = &others[random.below(others.len())];
            let parts = [
                "/recipe",
                "/recipe/digits",
                "/recipe/axes",
                "/recipe/axes/0/line",
                "",
            ];
            other
                .pointer(random.pick(&parts))
                .cloned()
                .unwrap_or(Value::Null)
        }
    };
}

/// Steps that multiply up to the length, at random, and digits at random: valid, and never chosen by the planner.
fn random_recipe(decision: &mut Value, n: usize, random: &mut Random) {
    let mut rest = n;
    let mut blocks: Vec<Vec<usize>> = vec![vec![]];
    while rest > 1 {
        let steps: Vec<usize> = (2..=64).filter(|d| rest.is_multiple_of(*d)).collect();
        if steps.is_empty() {
            return;
        }
        let step = steps[random.below(steps.len())];
        rest /= step;
        let last = blocks.len() - 1;
        if !blocks[last].is_empty() && random.below(3) == 0 {
            blocks.push(vec![step]);
        } else {
            blocks[last].push(step);
        }
    }
    let data = 2 + random.below(7);
    let matrix = 1 + random.below(data.min(7));
    let diagonals = data + random.below(matrix);
    let exact = decision["recipe"]["family"] == json!("Exact");
    let diagonals = if exact { data + matrix - 1 } else { diagonals };
    // Where the accuracy names digits, others are rejected at once; a few of them are enough.
    let free = decision["problem"]["accuracy"].is_object();
    if free || random.below(8) == 0 {
        let digits = json!({"data": data, "matrix": matrix, "diagonals": diagonals});
        decision["recipe"]["digits"] = digits;
    }
    if n > 1 && random.below(4) > 0 {
        let blocks: Vec<&[usize]> = blocks.iter().map(Vec::as_slice).collect();
        decision["recipe"]["axes"][0]["line"] = line_of(&blocks);
    }
}

/// What every plan must keep, wherever its decision comes from.
fn keeps_the_request(plan: &Plan<f64>, fresh: &Plan<f64>, seed: usize) {
    let problem = plan.problem();
    let named = |plan: &Plan<f64>| plan.recipe().map(|recipe| recipe.digits);
    match fresh_target(fresh) {
        Some(target) if fresh.accuracy_is_proven() => {
            assert!(
                plan.bound() <= target && plan.accuracy_is_proven(),
                "{plan}"
            );
        }
        Some(target) => assert!(plan.bound() <= target.max(fresh.bound()), "{plan}"),
        None if plan.engine() == fresh.engine() => {
            assert_eq!(named(plan), named(fresh), "{plan}");
            assert!(plan.bound() <= fresh.bound(), "{plan}");
        }
        // `auto` without an error: digits are as good as native.
        None => assert_eq!(plan.engine(), Engine::Digits, "{plan}"),
    }
    let free = fresh_engine(fresh) == Engine::Auto;
    assert!(free || plan.engine() == fresh.engine(), "{plan}");
    if let (Some(recipe), Some(wanted)) = (plan.recipe(), fresh.recipe()) {
        assert_eq!(recipe.products, wanted.products, "{plan}");
    }
    let shape = problem.shape();
    let points: usize = shape.iter().product();
    let error = match problem.kind() {
        Kind::ComplexToComplex => {
            let input = uniform_complex(points, seed as u64);
            let exact = dft_nd(&input, shape, oracle::Direction::Forward);
            compare(&transform(plan, &input), &exact).l2
        }
        Kind::RealToComplex => {
            let input = uniform_real(points, seed as u64);
            let exact = dft_nd(
                &complex_from_real(&input),
                shape,
                oracle::Direction::Forward,
            );
            compare(&transform_real(plan, &input), &half(&exact, shape)).l2
        }
        Kind::ComplexToReal => {
            let input = vec![Complex::new(1.0, 0.0); problem.input_len()];
            let mut output = vec![0.0; problem.output_len()];
            plan.process_complex_to_real(&input, &mut output).unwrap();
            // The half-spectrum of an impulse.
            let wanted = |i: usize| if i == 0 { 1.0 } else { 0.0 };
            let squares = output.iter().enumerate();
            squares
                .map(|(i, x)| (x - wanted(i)).powi(2))
                .sum::<f64>()
                .sqrt()
        }
    };
    // What is measured of native is no bound.
    let within = error <= plan.bound() || !plan.bound_is_proven();
    assert!(within, "{error:e}, seed {seed}\n{plan}");
}

fn fresh_target(fresh: &Plan<f64>) -> Option<f64> {
    let saved = json!(fresh.problem());
    match &saved["accuracy"] {
        Value::Object(map) => match map.get("Target") {
            Some(target) => target.as_f64(),
            None => map
                .get("Bits")
                .and_then(Value::as_i64)
                .map(|bits| 2f64.powi(-bits as i32)),
        },
        _ => None,
    }
}

fn fresh_engine(fresh: &Plan<f64>) -> Engine {
    let saved = json!(fresh.problem());
    match saved["engine"].as_str() {
        Some("Auto") => Engine::Auto,
        _ => fresh.engine(),
    }
}

/// Wisdom that was tampered with is rejected, passed over, or keeps the request: never a panic, a hang or a wrong result.
#[test]
fn mutated_wisdom_never_overrides_the_request() {
    const MUTATIONS: usize = 8000;
    let seed = 20_261_116u64;
    println!("seed {seed}");
    let mut random = Random(seed);
    let planner = Planner::<f64>::new();
    let problems = problems();
    let fresh: Vec<_> = problems.iter().map(|p| planner.plan(p).unwrap()).collect();
    let entries: Vec<Value> = problems
        .iter()
        .map(|p| saved(p)["plans"][0].clone())
        .collect();
    let begun = Instant::now();
    let (mut rejected, mut taken, mut passed_over) = (0, 0, 0);
    for turn in 0..MUTATIONS {
        // What is slow is a failure too, but a loaded machine is not: stop, and let the count below say so.
        if begun.elapsed() > Duration::from_secs(120) {
            break;
        }
        let which = random.below(problems.len());
        let mut decision = entries[which].clone();
        if turn % 2 == 0 && decision["recipe"].is_object() {
            let n = problems[which].shape().last().copied().unwrap_or(1);
            random_recipe(&mut decision, n, &mut random);
        }
        if turn % 4 != 0 {
            for _ in 0..1 + random.below(3) {
                let whole = random.below(6) == 0;
                let parts = ["recipe", "recipe", "mode", "problem"];
                let part = random.pick(&parts);
                let at = if whole {
                    &mut decision
                } else {
                    &mut decision[part]
                };
                mutate(at, &mut random, &entries);
                if !decision.is_object() {
                    break;
                }
            }
        }
        let text = json!({"format": 2, "numbers": "f64", "plans": [decision]}).to_string();
        let planner = Planner::<f64>::new();
        if planner.load_wisdom(&text).is_err() {
            rejected += 1;
            continue;
        }
        match planner.plan(&problems[which]) {
            Ok(plan) => {
                keeps_the_request(&plan, &fresh[which], turn);
                taken += usize::from(plan.why().contains("recalled"));
                passed_over += usize::from(plan.why().contains("passed over"));
            }
            Err(error) => panic!("turn {turn}: {error}\n{text}"),
        }
    }
    println!(
        "{rejected} rejected, {taken} taken, {passed_over} passed over in {:?}",
        begun.elapsed()
    );
    // Else the mutations would show nothing.
    assert!(rejected > 500 && taken > 100 && passed_over > 100);
}

/// Bytes that are no longer what was written.
#[test]
fn garbled_text_is_rejected_or_read_and_never_panics() {
    let seed = 7u64;
    println!("seed {seed}");
    let mut random = Random(seed);
    let planner = Planner::<f64>::new();
    for problem in problems() {
        planner.plan(&problem).unwrap();
    }
    let text = planner.save_wisdom().into_bytes();
    for _ in 0..2000 {
        let mut garbled = text.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(garbled.len());
            garbled[at] = b"0123456789{}[],:\"-e. nulltrue"[random.below(28)];
        }
        garbled.truncate(garbled.len() - random.below(3));
        let _ = Planner::<f64>::new().load_wisdom(&String::from_utf8_lossy(&garbled));
    }
}
