//! The rung beyond double: pairs of f64, against sums in hundreds of bits.

use super::record::{Found, Rung};
use super::rungs::{FEWEST_RUNS, Lines, Setting, rounded};
use crate::failure::Failure;
use num_complex::Complex;
use ozfft::{DoubleDouble, Norm, Problem, WidePlanner};
use ozfft_measure::options::shape_text;
use ozfft_testkit::oracle::multiprecision::relative_l2_of_samples;
use ozfft_testkit::oracle::{ComplexDoubleDouble, DoubleDouble as OracleNumber};
use std::time::Instant;

/// Outputs whose errors are measured, of the first line.
const SAMPLES: usize = 16;

/// The name of this rung.
const ASKED: &str = "beyond double";

/// One rung; none for arrays of several dimensions, whose errors this oracle does not know.
pub fn measure_pairs(setting: &Setting<'_>, lines: &Lines) -> Result<Option<Rung>, Failure> {
    let &[_] = setting.shape else {
        return Ok(None);
    };
    let mut rung = Rung {
        shape: shape_text(setting.shape),
        batch: setting.batch,
        numbers: "pairs".into(),
        asked: ASKED.into(),
        accuracy: None,
        found: None,
        refused: None,
    };
    let problem = Problem::complex(setting.shape)
        .batch(setting.batch)
        .norm(Norm::Unscaled)
        .device(setting.device)
        .threads(setting.threads);
    let plan = match WidePlanner::new().plan(&problem) {
        Ok(plan) => plan,
        Err(error) => {
            rung.refused = Some(error.to_string());
            return Ok(Some(rung));
        }
    };
    let input: Vec<Complex<DoubleDouble>> = lines
        .batch::<f64>(setting.batch)
        .iter()
        .map(|z| Complex::new(DoubleDouble::from(z.re), DoubleDouble::from(z.im)))
        .collect();
    let mut output = vec![Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO); input.len()];
    plan.process_outofplace(&input, &mut output)?;
    let l2 = relative_l2_of_samples(lines.first(), SAMPLES, |k| {
        let part = |x: DoubleDouble| OracleNumber {
            hi: x.high,
            lo: x.low,
        };
        ComplexDoubleDouble::new(part(output[k].re), part(output[k].im))
    });
    let begin = Instant::now();
    let mut seconds = Vec::new();
    while seconds.len() < FEWEST_RUNS || begin.elapsed().as_secs_f64() < setting.seconds {
        let start = Instant::now();
        plan.process_outofplace(&input, &mut output)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let nanoseconds = |seconds: f64| rounded(1e9 * seconds / input.len() as f64);
    rung.found = Some(Found {
        engine: "pairs".into(),
        digits: None,
        unit: plan.substrate().into(),
        bound: plan.bound(),
        proven: true,
        expected: plan.expected(),
        l2,
        ns_per_point: nanoseconds(seconds[0]),
        median_ns_per_point: nanoseconds(seconds[seconds.len() / 2]),
        runs: seconds.len(),
        predicted_ns_per_point: None,
        on_front: false,
    });
    Ok(Some(rung))
}
