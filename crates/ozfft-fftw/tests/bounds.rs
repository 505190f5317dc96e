//! The bound of real-to-real kinds (docs/fftw.md) on inputs that are aimed at it: subnormal, near overflow, of mixed sizes, one element.

mod common;

use common::{Api, bound_of};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::multiprecision::{
    Float, cosine_and_sine_of_turns, from_f64, scale_by_power_of_two,
};
use std::ffi::c_int;

const SEED: u64 = 20261119;
const PRECISION: usize = 256;
const SMALLEST: f64 = f64::from_bits(1);

/// FFTW's manual, "what FFTW really computes": the factor of number `j` of a line in result `k`.
fn entry(kind: c_int, n: usize, k: usize, j: usize) -> Float {
    let cosine = |part, whole| cosine_and_sine_of_turns(part, whole, PRECISION).0;
    let sine = |part, whole| cosine_and_sine_of_turns(part, whole, PRECISION).1;
    let twice = |x: Float, is_end: bool| {
        if is_end {
            x
        } else {
            x * from_f64(2.0, PRECISION)
        }
    };
    match kind {
        0 if k <= n / 2 => cosine(j * k, n),
        0 => -sine(j * (n - k), n),
        1 if j == 0 || 2 * j == n => cosine(j * k, n),
        1 if 2 * j < n => twice(cosine(j * k, n), false),
        1 => twice(-sine((n - j) * k, n), false),
        2 => cosine(j * k, n) + sine(j * k, n),
        3 => twice(cosine(j * k, 2 * (n - 1)), j == 0 || j == n - 1),
        4 => twice(cosine(j * (2 * k + 1), 4 * n), j == 0),
        5 => twice(cosine((2 * j + 1) * k, 4 * n), false),
        6 => twice(cosine((2 * j + 1) * (2 * k + 1), 8 * n), false),
        7 => twice(sine((j + 1) * (k + 1), 2 * (n + 1)), false),
        8 => twice(sine((j + 1) * (2 * k + 1), 4 * n), j == n - 1),
        9 => twice(sine((2 * j + 1) * (k + 1), 4 * n), false),
        _ => twice(sine((2 * j + 1) * (2 * k + 1), 8 * n), false),
    }
}

/// Lines without numbers beyond the range, each with its name.
fn aimed(generator: &mut Generator, n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut line = |make: &mut dyn FnMut(&mut Generator) -> f64| -> Vec<f64> {
        (0..n).map(|_| make(generator)).collect()
    };
    let power = |exponent: i32| 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
    vec![
        ("zeros", line(&mut |_| 0.0)),
        ("smallest", line(&mut |_| SMALLEST)),
        (
            "subnormal",
            line(&mut |g| (g.uniform() * 1000.0).round() * SMALLEST),
        ),
        (
            "small",
            line(&mut |g| g.uniform() * f64::MIN_POSITIVE * 1e6),
        ),
        ("largest", line(&mut |_| f64::MAX)),
        ("near overflow", line(&mut |g| g.uniform() * power(1016))),
        (
            "mixed",
            line(&mut |g| g.uniform() * power(g.below(2000) as i32 - 1074)),
        ),
        (
            "mixed, small",
            line(&mut |g| g.uniform() * power(g.below(80) as i32 - 1074)),
        ),
    ]
}

#[test]
fn no_aimed_line_exceeds_the_bound_of_its_real_to_real_kind() {
    println!("seed {SEED}");
    let mut generator = Generator::new(SEED);
    let api = Api::<f64>::ours();
    for kind in 0..11 {
        for n in [1usize, 2, 3, 8, 13] {
            if kind == 3 && n == 1 {
                continue;
            }
            for (name, line) in aimed(&mut generator, n) {
                let mut array = line.clone();
                let start = array.as_mut_ptr();
                // SAFETY: `n` numbers, in place.
                let bound = unsafe {
                    let plan = (api.plan_r2r_1d)(n as c_int, start, start, kind, 0);
                    let bound = bound_of(&api.describe(plan));
                    (api.execute)(plan);
                    (api.destroy_plan)(plan);
                    2.0 * bound + f64::EPSILON / 2.0
                };
                let zero = || from_f64(0.0, PRECISION);
                let exact: Vec<Float> = (0..n)
                    .map(|k| {
                        let terms = line.iter().enumerate();
                        let terms =
                            terms.map(|(j, &x)| entry(kind, n, k, j) * from_f64(x, PRECISION));
                        terms.fold(zero(), |sum, term| sum + term)
                    })
                    .collect();
                let largest = from_f64(f64::MAX / 4.0, PRECISION);
                if exact.iter().any(|x| x > &largest || -x > largest) {
                    // Near enough to the end of the range for an infinity, in the result or among its own.
                    continue;
                }
                let what = format!("kind {kind}, {n} points, {name}: {line:?} gives {array:?}");
                assert!(array.iter().all(|x| x.is_finite()), "{what}");
                let norm = exact.iter().fold(zero(), |sum, x| sum + x * x).sqrt();
                let errors = array.iter().zip(&exact);
                let errors = errors.map(|(&y, x)| from_f64(y, PRECISION) - x);
                let error = errors.fold(zero(), |sum, d| sum + &d * &d).sqrt();
                // Subnormal results are off by the smallest number besides.
                let subnormal = array.iter().filter(|x| x.abs() < f64::MIN_POSITIVE).count();
                let step = from_f64((subnormal as f64).sqrt(), PRECISION);
                let allowed =
                    norm * from_f64(bound, PRECISION) + scale_by_power_of_two(&step, -1074);
                assert!(error <= allowed, "{what}, bound {bound:e}");
            }
        }
    }
}
