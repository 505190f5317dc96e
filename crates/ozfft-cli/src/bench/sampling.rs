//! How times are taken: engines alternate, so that other load affects all of them alike.

use super::buffers::Buffers;
use super::engines::{Candidate, RUSTFFT};
use ozfft_measure::failure::Failure;
use std::time::{Duration, Instant};

/// Fewer rounds than this are never made, however slow the slowest engine is.
const FEWEST_ROUNDS: usize = 5;
/// Turns in which an engine spends the time it is given, as long as one call is shorter than a turn.
const TURNS: f64 = 10.0;
/// Shorter calls are timed several at once: reading the clock takes some 50 nanoseconds. (Not those that use up their
/// input, which must be filled again in between.)
const SHORTEST_SAMPLE: Duration = Duration::from_micros(20);
/// OpenMP's threads keep a core busy for 200 milliseconds after their work is done, in case more of it comes.
const LINGERING: Duration = Duration::from_millis(250);
/// At most so many outputs are compared between engines.
const COMPARED: usize = 1 << 14;

/// The times of one engine's calls, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    nanoseconds: Vec<f64>,
}

impl Timings {
    /// The number of times taken.
    pub fn runs(&self) -> usize {
        self.nanoseconds.len()
    }

    /// The time that half of the runs stay below; nothing where there was no run.
    pub fn median(&self) -> Option<f64> {
        let mut sorted = self.nanoseconds.clone();
        sorted.sort_by(f64::total_cmp);
        let upper = *sorted.get(sorted.len() / 2)?;
        if sorted.len() % 2 == 1 {
            return Some(upper);
        }
        let lower = sorted[sorted.len() / 2 - 1];
        Some((lower + upper) / 2.0)
    }

    /// The shortest time.
    pub fn minimum(&self) -> Option<f64> {
        self.nanoseconds.iter().copied().min_by(f64::total_cmp)
    }
}

/// Times all candidates alternately: A B C A B C … A turn lasts a tenth of the time that each engine is given, or one call
/// if that is longer.
pub fn measure(
    candidates: &mut [Candidate<'_>],
    buffers: &mut Buffers,
    seconds: Duration,
) -> Result<Vec<Timings>, Failure> {
    let calls = warm_up(candidates, buffers)?;
    let turn = seconds.div_f64(TURNS);
    let mut timings = vec![Timings::default(); candidates.len()];
    let mut spent = Duration::ZERO;
    let mut rounds = 0;
    while rounds < FEWEST_ROUNDS || spent < seconds * candidates.len() as u32 {
        for ((candidate, timings), &calls) in candidates.iter_mut().zip(&mut timings).zip(&calls) {
            let turn_begin = Instant::now();
            // What another engine left may have been used up.
            buffers.refill();
            loop {
                timings.nanoseconds.push(sample(candidate, buffers, calls)?);
                if turn_begin.elapsed() >= turn {
                    break;
                }
            }
            spent += turn_begin.elapsed();
            if candidate.threads_linger {
                std::thread::sleep(LINGERING);
            }
        }
        rounds += 1;
    }
    Ok(timings)
}

/// Calls every candidate, makes sure that all compute the same thing, and finds how many calls make up a sample.
fn warm_up(candidates: &mut [Candidate<'_>], buffers: &mut Buffers) -> Result<Vec<usize>, Failure> {
    let mut results = Vec::new();
    let mut calls = Vec::new();
    for candidate in candidates.iter_mut() {
        buffers.refill();
        let begin = Instant::now();
        candidate.call(buffers)?;
        let first = begin.elapsed();
        results.push(some_outputs(buffers.output.reals()));
        calls.push(if candidate.consumes_input || first >= SHORTEST_SAMPLE {
            1
        } else {
            // The first call may have been slower than those that follow.
            let begin = Instant::now();
            candidate.call(buffers)?;
            let nanoseconds = begin.elapsed().as_nanos().max(1);
            SHORTEST_SAMPLE.as_nanos().div_ceil(nanoseconds) as usize
        });
        // So that an engine that writes nothing cannot pass with the result of the one before.
        buffers.output.reals_mut().fill(f64::NAN);
    }
    let reference = candidates.iter().position(|c| c.engine == RUSTFFT);
    let Some(reference) = reference else {
        return Ok(calls);
    };
    for (candidate, result) in candidates.iter().zip(&results) {
        let limit = candidate.error_limit + candidates[reference].error_limit;
        let difference = difference(result, &results[reference]);
        // Not the other way round: a NaN is a difference as well.
        if difference <= limit {
            continue;
        }
        return Err(Failure::Check(format!(
            "{} on {} computes something else than {}: the relative difference is {difference:e}",
            candidate.engine, candidate.substrate, candidates[reference].engine
        )));
    }
    Ok(calls)
}

/// The time of one call, in nanoseconds, taken over several.
fn sample(
    candidate: &mut Candidate<'_>,
    buffers: &mut Buffers,
    calls: usize,
) -> Result<f64, Failure> {
    if candidate.consumes_input {
        buffers.refill();
    }
    let begin = Instant::now();
    for _ in 0..calls {
        candidate.call(buffers)?;
    }
    Ok(begin.elapsed().as_nanos() as f64 / calls as f64)
}

/// Outputs spread over the whole array.
fn some_outputs(outputs: &[f64]) -> Vec<f64> {
    let last = outputs.len().saturating_sub(1);
    let count = outputs.len().min(COMPARED);
    let place = |number: usize| number * last / count.saturating_sub(1).max(1);
    (0..count).map(|number| outputs[place(number)]).collect()
}

/// The L2 norm of the difference over that of the second.
fn difference(values: &[f64], reference: &[f64]) -> f64 {
    let pairs = values.iter().zip(reference);
    let errors: f64 = pairs.map(|(x, y)| (x - y) * (x - y)).sum();
    let norm: f64 = reference.iter().map(|y| y * y).sum();
    (errors / norm).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings(nanoseconds: &[f64]) -> Timings {
        Timings {
            nanoseconds: nanoseconds.to_vec(),
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(timings(&[]).median(), None);
        assert_eq!(timings(&[7.0]).median(), Some(7.0));
        assert_eq!(timings(&[9.0, 1.0, 5.0]).median(), Some(5.0));
        assert_eq!(timings(&[8.0, 1.0, 1000.0, 4.0]).median(), Some(6.0));
    }

    #[test]
    fn the_minimum_is_the_shortest_of_all_runs() {
        assert_eq!(timings(&[]).minimum(), None);
        let timings = timings(&[9.0, 1.0, 5.0]);
        assert_eq!((timings.minimum(), timings.runs()), (Some(1.0), 3));
    }

    #[test]
    fn outputs_are_taken_from_the_first_to_the_last() {
        assert_eq!(some_outputs(&[]), [0.0; 0]);
        assert_eq!(some_outputs(&[3.0]), [3.0]);
        assert_eq!(some_outputs(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        let many: Vec<f64> = (0..3 * COMPARED).map(|number| number as f64).collect();
        let some = some_outputs(&many);
        assert_eq!(some.len(), COMPARED);
        assert_eq!((some[0], some.last()), (0.0, many.last()));
    }

    #[test]
    fn a_difference_is_relative_and_a_nan_is_one() {
        assert_eq!(difference(&[3.0, 4.0], &[3.0, 4.0]), 0.0);
        assert_eq!(difference(&[3.0, 9.0], &[3.0, 4.0]), 1.0);
        assert!(difference(&[f64::NAN], &[1.0]).is_nan());
    }
}
