//! Loads saved decisions that the bytes have changed, and plans what they are for: the text is rejected, the entry is passed
//! over, or the plan keeps the accuracy asked for; and a plan runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use num_complex::Complex;
use ozfft::{Accuracy, Engine, Products, Planner, Problem};
use std::sync::OnceLock;

const TARGET: f64 = 1e-9;

/// Small problems of every kind of line, and what is saved of them.
fn saved() -> &'static [(Problem, String)] {
    static SAVED: OnceLock<Vec<(Problem, String)>> = OnceLock::new();
    SAVED.get_or_init(|| {
        let digits = |shape: &[usize]| {
            let problem = Problem::complex(shape).engine(Engine::Digits).threads(1);
            problem.accuracy(Accuracy::Target(TARGET))
        };
        let problems = [
            digits(&[1]),
            digits(&[60]),
            digits(&[67]),
            digits(&[1040]),
            digits(&[4, 6]),
            digits(&[16]).products(Products::Exact),
            Problem::complex(&[20])
                .accuracy(Accuracy::Target(TARGET))
                .threads(1),
        ];
        let save = |problem: Problem| {
            let planner = Planner::<f64>::new();
            planner.plan(&problem).expect("a plan");
            (problem, planner.save_wisdom())
        };
        problems.into_iter().map(save).collect()
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&which, edits)) = data.split_first() else {
        return;
    };
    let saved = saved();
    let (problem, text) = &saved[usize::from(which) % saved.len()];
    let mut text = text.clone().into_bytes();
    for edit in edits.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % text.len();
        match edit[2] % 3 {
            0 => text[at] = edit[3],
            1 => text.insert(at, edit[3]),
            _ if text.len() > 1 => {
                text.remove(at);
            }
            _ => {}
        }
    }
    let planner = Planner::<f64>::new();
    if planner
        .load_wisdom(&String::from_utf8_lossy(&text))
        .is_err()
    {
        return;
    }
    let plan = planner
        .plan(problem)
        .expect("wisdom does not take plans away");
    assert!(
        plan.bound() <= TARGET && plan.accuracy_is_proven(),
        "{plan}"
    );
    let mut data = vec![Complex::new(0.0, 0.0); problem.input_len()];
    data[0].re = 1.0;
    plan.process(&mut data)
        .expect("buffers of the right length");
    // The spectrum of an impulse.
    let error = data
        .iter()
        .map(|z| (z - 1.0).norm_sqr())
        .sum::<f64>()
        .sqrt();
    assert!(
        error <= plan.bound() * (data.len() as f64).sqrt(),
        "{error:e}\n{plan}"
    );
});
