//! Methods timed alternately on the same numbers: shortest and median times, and errors.

use super::Measurement;
use crate::failure::Failure;
use std::time::{Duration, Instant};

/// Computes, and writes its outputs to the slice.
type Run<'a> = dyn FnMut(&mut [f64]) + 'a;

/// A method to be timed.
pub struct Method<'a> {
    pub name: &'static str,
    /// Whether its results must be correctly rounded.
    pub exact: bool,
    pub run: Box<Run<'a>>,
}

/// What is computed.
#[derive(Debug, Clone)]
pub struct Case {
    pub reduction: &'static str,
    pub data: String,
    pub numbers: usize,
    pub threads: usize,
    pub outputs: usize,
}

/// The method that all are compared with, and whose results the errors are relative to.
pub const KULISCH: &str = "kulisch";
/// The plain loop.
pub const NAIVE: &str = "naive";
/// Shorter calls are timed several at once.
const SHORTEST_SAMPLE: Duration = Duration::from_micros(50);
/// Turns that every method gets at least.
const FEWEST_TURNS: usize = 5;

/// Measures all methods of a case.
pub fn measure(
    case: &Case,
    methods: &mut [Method<'_>],
    seconds: Duration,
) -> Result<Vec<Measurement>, Failure> {
    let mut outputs = vec![vec![f64::NAN; case.outputs]; methods.len()];
    let mut calls = Vec::new();
    for (method, output) in methods.iter_mut().zip(&mut outputs) {
        (method.run)(output);
        let begin = Instant::now();
        (method.run)(output);
        let once = begin.elapsed().as_nanos().max(1);
        calls.push(SHORTEST_SAMPLE.as_nanos().div_ceil(once) as usize);
    }
    let place = |name: &str| methods.iter().position(|method| method.name == name);
    let (Some(own), Some(naive)) = (place(KULISCH), place(NAIVE)) else {
        return Err(Failure::Check(format!(
            "{}: {KULISCH} or {NAIVE} is missing",
            case.reduction
        )));
    };
    let errors: Vec<f64> = outputs
        .iter()
        .map(|output| largest_error(output, &outputs[own]))
        .collect();
    for (method, &error) in methods.iter().zip(&errors) {
        if method.exact && error != 0.0 {
            return Err(Failure::Check(format!(
                "{}, {}, {} numbers: {} and {KULISCH} are both exact and differ by {error:e}",
                case.reduction, case.data, case.numbers, method.name
            )));
        }
    }
    let mut times = vec![Vec::new(); methods.len()];
    let begin = Instant::now();
    let mut turns = 0;
    while turns < FEWEST_TURNS || begin.elapsed() < seconds * methods.len() as u32 {
        for (number, method) in methods.iter_mut().enumerate() {
            let begin = Instant::now();
            for _ in 0..calls[number] {
                (method.run)(&mut outputs[number]);
            }
            times[number].push(begin.elapsed().as_nanos() as f64 / calls[number] as f64);
        }
        turns += 1;
    }
    times
        .iter_mut()
        .for_each(|times| times.sort_by(f64::total_cmp));
    let shortest = |number: usize| times[number].first().copied().unwrap_or(f64::NAN);
    let rows = methods
        .iter()
        .enumerate()
        .map(|(number, method)| Measurement {
            reduction: case.reduction,
            data: case.data.clone(),
            numbers: case.numbers,
            threads: case.threads,
            method: method.name,
            min_ns: shortest(number),
            median_ns: times[number][times[number].len() / 2],
            runs: times[number].len() * calls[number],
            ns_per_number: shortest(number) / case.numbers as f64,
            ratio_to_naive: shortest(number) / shortest(naive),
            ratio_to_kulisch: shortest(number) / shortest(own),
            error: errors[number],
        });
    Ok(rows.collect())
}

/// Zero for equal numbers, one for a result that is not a number or has nothing to do with it.
pub fn largest_error(found: &[f64], expected: &[f64]) -> f64 {
    let error = |(&found, &expected): (&f64, &f64)| {
        if found.to_bits() == expected.to_bits() || (found == 0.0 && expected == 0.0) {
            return 0.0;
        }
        // Halves, so that numbers near the end of the range can be compared.
        let error = ((found / 2.0 - expected / 2.0) / (expected / 2.0)).abs();
        if error.is_nan() { f64::INFINITY } else { error }
    };
    found.iter().zip(expected).map(error).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_and_the_largest_counts() {
        assert_eq!(largest_error(&[1.0, 3.0], &[1.0, 2.0]), 0.5);
        assert_eq!(largest_error(&[-0.0, f64::MAX], &[0.0, f64::MAX]), 0.0);
        assert_eq!(largest_error(&[1.0], &[0.0]), f64::INFINITY);
        assert_eq!(largest_error(&[f64::NAN], &[1.0]), f64::INFINITY);
    }

    #[test]
    fn a_method_that_claims_to_be_exact_and_is_not_is_found() {
        let case = Case {
            reduction: "sum",
            data: "test".into(),
            numbers: 1,
            threads: 1,
            outputs: 1,
        };
        let method = |name, exact, value: f64| Method {
            name,
            exact,
            run: Box::new(move |output: &mut [f64]| output[0] = value),
        };
        let mut methods = [method(KULISCH, true, 1.0), method(NAIVE, false, 1.5)];
        let rows = measure(&case, &mut methods, Duration::ZERO).expect("nothing is wrong");
        assert_eq!(rows[1].error, 0.5);
        let mut methods = [method(KULISCH, true, 1.0), method(NAIVE, true, 1.5)];
        assert!(measure(&case, &mut methods, Duration::ZERO).is_err());
    }
}
