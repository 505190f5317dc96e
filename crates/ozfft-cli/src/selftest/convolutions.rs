//! Exact convolutions and products by every proven route, against sums by the definition; one of a hundred is long, and checked as `long_convolutions.rs` says.

use super::operands::{Counts, Devices, integers, limbs};
use super::{SelftestArguments, TOLD, in_parallel, long_convolutions};
use ozfft::Device;
use ozfft::convolution::{ConvolutionRoute, ExactConvolution, Multiplier, multiply_polynomials};
use ozfft_measure::failure::Failure;
use ozfft_measure::report::{progress, say, say_json};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{Source, seed_of_case};
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Cases of a job.
const GROUP: usize = 500;
/// Cases by default, and with `--quick`; and on a GPU.
const CASES: [usize; 2] = [1_000_000, 5_000];
const CASES_ON_GPU: [usize; 2] = [10_000, 1_000];
/// The last of so many cases is long.
const LONG: usize = 100;

#[derive(Serialize)]
struct Report {
    seed: u64,
    /// Where the route ntt and products of long integers were computed.
    device: String,
    cases: usize,
    /// Of them, of 10^3 to 10^5 elements or digits.
    long: usize,
    /// Products of long integers and polynomials modulo a number.
    products: usize,
    /// Convolutions by route; every one that is proven is run.
    direct: usize,
    ntt: usize,
    digits: usize,
    pairs: usize,
    /// Routes that were refused as not proven.
    refused: usize,
    wrong: usize,
    seconds: f64,
    failures: Vec<String>,
}

/// Runs the check.
pub fn run(arguments: &SelftestArguments) -> Result<(), Failure> {
    let start = Instant::now();
    let devices = Devices {
        device: arguments.device,
        multiplier: Multiplier::new(arguments.device)?,
    };
    let default = match arguments.device {
        Device::Cpu => CASES,
        _ => CASES_ON_GPU,
    };
    let cases = arguments
        .cases
        .unwrap_or(default[usize::from(arguments.quick)]);
    // Plans that live at the same time share a GPU's memory: one that lives as long as the check.
    let kept = ExactConvolution::linear(1, 1).magnitudes(1, 1);
    let kept = kept.route(ConvolutionRoute::Ntt);
    let kept = kept.device(arguments.device).plan()?;
    let counts = Counts::default();
    let groups = cases.div_ceil(GROUP);
    let groups = if arguments.case.is_some() { 1 } else { groups };
    let bar = progress(groups, "convolutions, in groups of cases", arguments.json);
    let failures = in_parallel(groups, &bar, |group| {
        let cases = match arguments.case {
            Some(number) => number..number + 1,
            None => group * GROUP..((group + 1) * GROUP).min(cases),
        };
        cases
            .filter_map(|number| {
                let outcome = check(arguments.seed, number, &counts, &devices).err()?;
                Some(format!(
                    "{outcome} (seed {}, --case {number})",
                    arguments.seed
                ))
            })
            .collect()
    });
    bar.finish_and_clear();
    drop(kept);
    let [direct, ntt, digits, pairs] = counts.routes.map(AtomicUsize::into_inner);
    let report = Report {
        seed: arguments.seed,
        device: arguments.device.to_string(),
        cases: if arguments.case.is_some() { 1 } else { cases },
        long: counts.long.into_inner(),
        products: counts.products.into_inner(),
        direct,
        ntt,
        digits,
        pairs,
        refused: counts.refused.into_inner(),
        wrong: failures.len(),
        seconds: start.elapsed().as_secs_f64(),
        failures: failures.iter().take(TOLD).cloned().collect(),
    };
    match arguments.json {
        true => say_json(&report)?,
        false => say(&format!(
            "{} random and adversarial cases on {} ({} of 10^3 to 10^5 elements), {} wrong: {} products; convolutions by direct {}, ntt {}, digits {}, pairs {} (refused as not proven: {})\nseed {}, {:.1} s",
            report.cases,
            report.device,
            report.long,
            report.wrong,
            report.products,
            direct,
            ntt,
            digits,
            pairs,
            report.refused,
            report.seed,
            report.seconds
        ))?,
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::Check(format!(
            "{} cases are wrong; the first: {}",
            failures.len(),
            report.failures.join("\n")
        ))),
    }
}

fn check(seed: u64, number: usize, counts: &Counts, devices: &Devices) -> Result<(), String> {
    let mut generator = Generator::new(seed_of_case(seed, number as u64));
    if number % LONG == LONG - 1 {
        counts.long.fetch_add(1, Ordering::Relaxed);
        return long_convolutions::check(&mut generator, counts, devices);
    }
    match generator.below(8) {
        0 => {
            counts.products.fetch_add(1, Ordering::Relaxed);
            product(&mut generator, &devices.multiplier)
        }
        1 => {
            counts.products.fetch_add(1, Ordering::Relaxed);
            polynomials(&mut generator)
        }
        _ => convolution(&mut generator, counts, devices.device),
    }
}

/// Lengths on both sides of those at which routes and transforms change, most of them short.
fn length(generator: &mut Generator) -> usize {
    let around = [1, 8, 16, 24, 32, 40, 48, 64, 96, 128, 160];
    match generator.below(40) {
        0 => 200 + generator.below(200),
        1..=8 => 1 + generator.below(100),
        _ => (generator.pick(&around) + generator.below(3))
            .saturating_sub(1)
            .max(1),
    }
}

fn convolution(generator: &mut Generator, counts: &Counts, device: Device) -> Result<(), String> {
    // On a GPU some are as long as transforms of several passes are.
    let length = |generator: &mut Generator| match device {
        Device::Cpu => length(generator),
        _ if generator.below(8) == 0 => 400 + generator.below(2200),
        _ => length(generator),
    };
    let first = length(generator);
    let cyclic = generator.below(3) == 0;
    let second = if cyclic { first } else { length(generator) };
    let batch = generator.pick(&[1, 1, 1, 2, 3]);
    let shared = batch > 1 && generator.below(2) == 0;
    let terms = usize::BITS - first.min(second).leading_zeros();
    // Any number of bits whose sums i128 holds.
    let bits = |generator: &mut Generator, most: usize| 1 + generator.below(most.min(62)) as u32;
    let (bits_a, bits_b) = match generator.below(4) {
        0 => (bits(generator, 62), bits(generator, 62)),
        _ => (bits(generator, 20), bits(generator, 20)),
    };
    let bits_b = bits_b.min(126 - terms - bits_a);
    // A power of two, one less, or anything.
    let largest = |generator: &mut Generator, bits: u32| match generator.below(3) {
        0 => 1i64 << bits,
        1 => (1i64 << bits) - 1,
        _ => 1 + (generator.next_u64() >> (64 - bits)) as i64,
    };
    let (largest_a, largest_b) = (largest(generator, bits_a), largest(generator, bits_b));
    let a = integers(generator, batch * first, largest_a);
    let mut b = integers(
        generator,
        second * if shared { 1 } else { batch },
        largest_b,
    );
    // Signs that make all products of one result positive: the bound is met exactly.
    if !cyclic && generator.below(4) == 0 {
        for (k, y) in b.iter_mut().take(first.min(second)).enumerate() {
            let sign = if a[first - 1 - k] < 0 { -1 } else { 1 };
            *y = sign * largest_b;
        }
    }
    let results = if cyclic { first } else { first + second - 1 };
    let mut expected = vec![0i128; batch * results];
    for member in 0..batch {
        let b = &b[if shared { 0 } else { member * second }..][..second];
        let sums = &mut expected[member * results..][..results];
        for (i, &x) in a[member * first..][..first].iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                sums[(i + j) % results] += i128::from(x) * i128::from(y);
            }
        }
    }
    let problem = match cyclic {
        true => ExactConvolution::cyclic(first),
        false => ExactConvolution::linear(first, second),
    };
    let problem = problem
        .magnitudes(largest_a as u128, largest_b as u128)
        .batch(batch)
        .device(device);
    let what = format!(
        "{first} with {second}, cyclic {cyclic}, batch {batch}, magnitudes {largest_a} and {largest_b}"
    );
    for (route, count) in ConvolutionRoute::ALL.into_iter().zip(&counts.routes) {
        // Planning transforms of double-double numbers takes longer than most cases.
        if route == ConvolutionRoute::Pairs && generator.below(16) != 0 {
            continue;
        }
        if route == ConvolutionRoute::Digits && generator.below(2) != 0 {
            continue;
        }
        // Kernels of a GPU are compiled when plans are made.
        if route == ConvolutionRoute::Digits && device != Device::Cpu {
            continue;
        }
        let Some(plan) = counts.proven(problem.clone().route(route), &what)? else {
            continue;
        };
        count.fetch_add(1, Ordering::Relaxed);
        match plan.process::<i64, i64, i128>(&a, &b) {
            Ok(found) if found == expected => {}
            Ok(_) => return Err(format!("{what}: {route} has wrong sums")),
            Err(error) => return Err(format!("{what}, {route}: {error}")),
        }
    }
    Ok(())
}

/// Digit by digit, with carries.
fn by_definition(a: &[u64], b: &[u64], base: u128) -> Vec<u64> {
    let mut result = vec![0u64; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, &y) in b.iter().enumerate() {
            let sum = u128::from(x) * u128::from(y) + u128::from(result[i + j]) + carry;
            result[i + j] = (sum % base) as u64;
            carry = sum / base;
        }
        result[i + b.len()] = carry as u64;
    }
    result
}

fn product(generator: &mut Generator, multiplier: &Multiplier) -> Result<(), String> {
    let count = |generator: &mut Generator| match generator.below(4) {
        0 => generator.below(8),
        _ => 100 + generator.below(60),
    };
    let (first, second) = (count(generator), count(generator));
    let what = |base: &str| {
        Err(format!(
            "a product of {first} and {second} digits to the base {base} is wrong"
        ))
    };
    if generator.below(2) == 0 {
        let base = 1 << 64;
        let a = limbs(generator, first, base);
        let b = limbs(generator, second, base);
        let product = multiplier.multiply_limbs(&a, &b);
        let product = product.map_err(|error| error.to_string())?;
        return match product.digits == by_definition(&a, &b, base) {
            true => Ok(()),
            false => what("2^64"),
        };
    }
    let base = 1_000_000_000;
    let a = limbs(generator, first, base);
    let b = limbs(generator, second, base);
    let short = |digits: &[u64]| -> Vec<u32> { digits.iter().map(|&digit| digit as u32).collect() };
    let product = multiplier.multiply_decimal(&short(&a), &short(&b));
    let product = product.map_err(|error| error.to_string())?;
    match product.digits == short(&by_definition(&a, &b, base)) {
        true => Ok(()),
        false => what("10^9"),
    }
}

fn polynomials(generator: &mut Generator) -> Result<(), String> {
    let modulus = match generator.below(4) {
        0 => u64::MAX - generator.below(3) as u64,
        1 => 1 << generator.below(64),
        2 => 998_244_353,
        _ => (generator.next_u64() >> generator.below(63)).max(1),
    };
    let (first, second) = (length(generator), length(generator));
    let base = u128::from(modulus);
    let (a, b) = (
        limbs(generator, first, base),
        limbs(generator, second, base),
    );
    let mut expected = vec![0u64; first + second - 1];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let product = u128::from(x) * u128::from(y) % base;
            expected[i + j] = ((product + u128::from(expected[i + j])) % base) as u64;
        }
    }
    let what = format!("polynomials of {first} and {second} coefficients modulo {modulus}");
    match multiply_polynomials(&a, &b, modulus) {
        Ok(found) if found == expected => Ok(()),
        Ok(_) => Err(format!("{what} have a wrong product")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
