//! `ozfft convolve`: the routes of exact convolutions, which of them are proven, and how long they take.

use clap::Args;
use ozfft::Device;
use ozfft::convolution::{
    ConvolutionRoute, ExactConvolution, ExactConvolutionPlan, ProductSeconds,
};
use ozfft_measure::failure::Failure;
use ozfft_measure::memory;
use ozfft_measure::options::{Shape, parse_batch, parse_device, parse_duration, parse_shape};
use ozfft_measure::report::{aligned, say, say_json};
use ozfft_testkit::oracle::inputs::Generator;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Bytes for each element of operands and results, in all routes.
const BYTES_AN_ELEMENT: u128 = 256;

/// Options of `ozfft convolve`.
#[derive(Debug, Args)]
pub struct ConvolveArguments {
    /// Lengths of both operands joined by x, such as 1000x200, or one for both; may be given several times
    #[arg(long, value_parser = parse_shape, required = true)]
    length: Vec<Shape>,
    /// Bits of the operands' elements with their sign, 1 to 64; may be given several times
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64), default_values_t = [8])]
    bits: Vec<u32>,
    /// Indices modulo the length, of operands of one length
    #[arg(long)]
    cyclic: bool,
    /// So many convolutions, at least one
    #[arg(long, value_parser = at_least_one, default_value_t = 1)]
    batch: usize,
    /// The route: direct, ntt, digits or pairs [default: the fastest that is proven]
    #[arg(long)]
    route: Option<ConvolutionRoute>,
    /// Where the routes ntt and digits run: cpu, cuda, cuda:1, or auto for a GPU where ntt is expected to be faster there
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// Run every proven route on random numbers, compare their results and measure their times, on one thread (with a GPU: on all)
    #[arg(long)]
    measure: bool,
    /// With --measure: time that each route is given; it runs at least once
    #[arg(long, value_parser = parse_duration, default_value = "0.2")]
    seconds: Duration,
    /// With --measure: seed of the numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object per line, for every length and number of bits, instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    lengths: [usize; 2],
    cyclic: bool,
    batch: usize,
    bits: u32,
    /// What the plan takes.
    route: &'static str,
    /// What was the fastest, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    fastest: Option<&'static str>,
    routes: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    route: &'static str,
    proven: bool,
    why: String,
    predicted_seconds: Option<f64>,
    /// Where it runs.
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Of these, of the route ntt on a GPU: its kernels, without copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_seconds: Option<f64>,
}

/// Numbers of so many bits, from the smallest to the largest.
fn numbers(generator: &mut Generator, count: usize, bits: u32) -> Vec<i64> {
    let shift = 64 - bits;
    (0..count)
        .map(|_| generator.next_u64() as i64 >> shift)
        .collect()
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match parse_batch(text)? {
        0 => Err("nothing would be convolved; give 1 or more".into()),
        count => Ok(count),
    }
}

/// Numbers have signs here, and so do their sums, which are integers of 128 bits.
fn expect_sums_to_fit(lengths: [usize; 2], bits: u32) -> Result<(), Failure> {
    let products = 1u128 << (2 * (bits - 1));
    let terms = lengths[0].min(lengths[1]) as u128;
    match terms.checked_mul(products) {
        Some(largest) if largest <= i128::MAX as u128 => Ok(()),
        _ => Err(Failure::Usage(format!(
            "sums of {terms} products of numbers of {bits} bits may be as large as {terms}·2^{}, and i128 holds less than 2^127; give fewer --bits, or a shorter --length",
            2 * (bits - 1)
        ))),
    }
}

/// Runs the command.
pub fn run(arguments: &ConvolveArguments) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for shape in &arguments.length {
        let lengths = match shape.0[..] {
            [one] => [one, one],
            [first, second] => [first, second],
            _ => {
                return Err(Failure::Usage(format!(
                    "--length {shape} has more than two lengths; give one for each operand"
                )));
            }
        };
        for &bits in &arguments.bits {
            let what = format!("convolutions of {shape}");
            let elements = lengths[0].saturating_add(lengths[1]);
            memory::expect_points(&what, &[elements, arguments.batch], BYTES_AN_ELEMENT)?;
            reports.push(weigh(arguments, lengths, bits)?);
        }
    }
    if !arguments.json && arguments.measure {
        return say(&table(&reports));
    }
    Ok(())
}

/// Plans one convolution, and measures it where that is asked for. Plans are told here, measurements by the caller, all in one table.
fn weigh(arguments: &ConvolveArguments, lengths: [usize; 2], bits: u32) -> Result<Report, Failure> {
    expect_sums_to_fit(lengths, bits)?;
    let magnitude = 1 << (bits - 1);
    let problem = match (arguments.cyclic, lengths) {
        (false, [first, second]) => ExactConvolution::linear(first, second),
        (true, [first, second]) if first == second => ExactConvolution::cyclic(first),
        (true, [first, second]) => {
            return Err(Failure::Usage(format!(
                "--cyclic takes operands of one length, and these have {first} and {second} elements"
            )));
        }
    };
    let problem = problem
        .magnitudes(magnitude, magnitude)
        .batch(arguments.batch)
        .device(arguments.device);
    let plan = match arguments.route {
        Some(route) => problem.clone().route(route).plan()?,
        None => problem.plan()?,
    };
    let mut report = Report {
        lengths,
        cyclic: arguments.cyclic,
        batch: arguments.batch,
        bits,
        route: plan.route().name(),
        fastest: None,
        routes: plan.candidates().iter().map(row).collect(),
    };
    if arguments.measure {
        // One thread, for which times are predicted. Copies to and from a GPU take several.
        let threads = usize::from(arguments.device == Device::Cpu);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        pool.install(|| measure(arguments, &problem, &plan, &mut report))?;
    }
    match (arguments.json, arguments.measure) {
        (true, _) => say_json(&report)?,
        (false, false) => say(&format!("{bits} bits, {plan}"))?,
        _ => {}
    }
    Ok(report)
}

fn row(candidate: &ozfft::convolution::RouteCandidate) -> Row {
    Row {
        route: candidate.route.name(),
        proven: candidate.is_proven,
        why: candidate.why.clone(),
        predicted_seconds: candidate.predicted_seconds,
        device: candidate.device.to_string(),
        seconds: None,
        kernel_seconds: None,
    }
}

/// Routes that would take longer than this, by their prediction, are not run.
const MOST_SECONDS: f64 = 20.0;

fn measure(
    arguments: &ConvolveArguments,
    problem: &ExactConvolution,
    chosen: &ExactConvolutionPlan,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut generator = Generator::new(arguments.seed);
    let [first, second] = report.lengths;
    let a = numbers(&mut generator, first * report.batch, report.bits);
    let b = numbers(&mut generator, second * report.batch, report.bits);
    let mut expected: Option<Vec<i128>> = None;
    for (candidate, row) in chosen.candidates().iter().zip(&mut report.routes) {
        let slow = candidate.predicted_seconds > Some(MOST_SECONDS);
        if !candidate.is_proven || slow && candidate.route != chosen.route() {
            continue;
        }
        let plan = problem.clone().route(candidate.route).plan()?;
        let mut results = vec![0i128; plan.output_len()];
        let start = Instant::now();
        let mut least: Option<ProductSeconds> = None;
        while least.is_none() || start.elapsed() < arguments.seconds {
            let seconds = plan.process_into_timed(&a, &b, &mut results)?;
            least = Some(match least {
                Some(least) if least.total <= seconds.total => least,
                _ => seconds,
            });
        }
        row.seconds = least.map(|seconds| seconds.total);
        row.kernel_seconds = least
            .filter(|seconds| seconds.kernels > 0.0)
            .map(|seconds| seconds.kernels);
        match &expected {
            None => expected = Some(results),
            Some(expected) if *expected == results => {}
            Some(_) => {
                return Err(Failure::Check(format!(
                    "{} and the routes before it have different results for {} with {} elements of {} bits, seed {}",
                    candidate.route, first, second, report.bits, arguments.seed
                )));
            }
        }
    }
    let measured = report.routes.iter().filter(|row| row.seconds.is_some());
    let seconds = |row: &Row| row.seconds.unwrap_or(f64::MAX);
    let fastest = measured.min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    report.fastest = fastest.map(|row| row.route);
    Ok(())
}

/// Measured times, with the predicted ones in brackets.
fn table(reports: &[Report]) -> String {
    let mut rows = vec![vec!["length".to_string(), "bits".into()]];
    rows[0].extend(ConvolutionRoute::ALL.map(|route| format!("{route}, ms")));
    rows[0].extend(["planned".into(), "fastest".into()]);
    for report in reports {
        let [first, second] = report.lengths;
        let mut cells = vec![format!("{first}x{second}"), report.bits.to_string()];
        for row in &report.routes {
            let ms = |seconds: Option<f64>| {
                seconds.map_or("-".into(), |seconds| format!("{:.4}", 1e3 * seconds))
            };
            let kernels = match row.kernel_seconds {
                Some(seconds) => format!(", kernels {:.4}", 1e3 * seconds),
                None => String::new(),
            };
            cells.push(match row.proven {
                true => format!(
                    "{} ({}){kernels}",
                    ms(row.seconds),
                    ms(row.predicted_seconds)
                ),
                false => "not proven".into(),
            });
        }
        cells.push(report.route.into());
        cells.push(report.fastest.unwrap_or("-").into());
        rows.push(cells);
    }
    let title = "times of a call, on the processor on one thread if no GPU was asked for; predicted ones in brackets";
    format!("{title}\n\n{}", aligned(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Routes were shown as proven, and failed when measured.
    #[test]
    fn sums_beyond_i128_are_refused_before_routes_are_weighed() {
        for (lengths, bits) in [([2, 2], 64), ([10, 3], 64), ([usize::MAX; 2], 40)] {
            match expect_sums_to_fit(lengths, bits) {
                Err(Failure::Usage(text)) => assert!(text.contains("fewer --bits"), "{text}"),
                other => panic!("{lengths:?}, {bits} bits: {other:?}"),
            }
        }
        for (lengths, bits) in [([1, 9], 64), ([7, 9], 63), ([usize::MAX, 1], 1)] {
            expect_sums_to_fit(lengths, bits).unwrap();
        }
    }

    #[test]
    fn a_batch_of_none_is_refused() {
        assert!(at_least_one("0").is_err_and(|error| error.contains("1 or more")));
        assert!(at_least_one("many").is_err());
        assert_eq!(at_least_one("3"), Ok(3));
    }
}
