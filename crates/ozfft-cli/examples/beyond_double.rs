//! Times and errors beyond double: double-double numbers beside `Double` on the same unit, and FFTW's quad precision where its
//! library is installed, in one run.
//!
//!     cargo run --release -p ozfft-cli --example beyond_double -- [POINTS] [BATCH] [UNIT …]

use libloading::Library;
use num_complex::Complex;
use ozfft::{CpuUnit, DoubleDouble, Engine, Planner, Problem, Substrate, WidePlanner};
use ozfft_testkit::oracle::inputs::uniform_complex;
use ozfft_testkit::oracle::multiprecision::relative_l2_of_samples;
use ozfft_testkit::oracle::{ComplexDoubleDouble, DoubleDouble as OracleNumber};
use std::ffi::{c_int, c_uint, c_void};
use std::time::Instant;

type Plan = *mut c_void;
type PlanMany = unsafe extern "C" fn(
    c_int,
    *const c_int,
    c_int,
    *mut u128,
    *const c_int,
    c_int,
    c_int,
    *mut u128,
    *const c_int,
    c_int,
    c_int,
    c_int,
    c_uint,
) -> Plan;
type Execute = unsafe extern "C" fn(Plan);

/// The bits of a normal number or zero in the format binary128.
fn quad_of(x: f64) -> u128 {
    let bits = x.to_bits();
    let sign = u128::from(bits >> 63) << 127;
    if x == 0.0 {
        return sign;
    }
    let exponent = u128::from((bits >> 52) & 0x7ff) + 16_383 - 1_023;
    sign | exponent << 112 | u128::from(bits & ((1 << 52) - 1)) << 60
}

/// The nearest double-double number of a normal number or zero in the format binary128.
fn pair_of(bits: u128) -> DoubleDouble {
    let exponent = (bits >> 112 & 0x7fff) as i32 - 16_383;
    if exponent == -16_383 {
        return DoubleDouble::ZERO;
    }
    let fraction = bits & ((1 << 112) - 1);
    // 53 leading bits and 60 more, each exact.
    let high = ((1u64 << 52) | (fraction >> 60) as u64) as f64 * f64::from(exponent - 52).exp2();
    let low = (fraction as u64 & ((1 << 60) - 1)) as f64 * f64::from(exponent - 112).exp2();
    let pair = DoubleDouble::new(high, low);
    if bits >> 127 == 1 { -pair } else { pair }
}

/// Shortest and median time of a call, over at least half a second.
fn timed(mut call: impl FnMut()) -> (f64, f64) {
    call();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || (begin.elapsed().as_secs_f64() < 1.5 && times.len() < 100) {
        let start = Instant::now();
        call();
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

/// Relative L2 error over some outputs of the first transform.
fn error_of(input: &[Complex<f64>], output: impl Fn(usize) -> Complex<DoubleDouble>) -> f64 {
    relative_l2_of_samples(input, 16, |k| {
        let pair = |x: DoubleDouble| OracleNumber {
            hi: x.high,
            lo: x.low,
        };
        ComplexDoubleDouble::new(pair(output(k).re), pair(output(k).im))
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, default: usize| arguments.get(i).map_or(Ok(default), |text| text.parse());
    let (n, batch) = (number(0, 1024)?, number(1, 1024)?);
    let units: Vec<&str> = match arguments.get(2..) {
        Some(named) if !named.is_empty() => named.iter().map(String::as_str).collect(),
        _ => vec!["amx", "avx512-vnni", "avx2"],
    };
    let points = (n * batch) as f64;
    let input = uniform_complex(n * batch, 1);
    println!("c2c {n}, batch {batch}, one thread; ns a point, shortest and median call");
    println!(
        "{:<24} {:>10} {:>10}  error of the first transform",
        "", "shortest", "median"
    );
    let show = |name: &str, (shortest, median): (f64, f64), note: String| {
        println!(
            "{name:<24} {:>10.1} {:>10.1}  {note}",
            shortest * 1e9 / points,
            median * 1e9 / points
        );
    };
    let wide_planner = WidePlanner::new();
    let double_planner = Planner::<f64>::new();
    let mut pairs = Vec::new();
    for unit in units {
        let substrate = match unit {
            "amx" => Substrate::Cpu(CpuUnit::Amx),
            "avx512-vnni" => Substrate::Cpu(CpuUnit::Avx512Vnni),
            "avx2" => Substrate::Cpu(CpuUnit::Avx2),
            "scalar" => Substrate::Cpu(CpuUnit::Scalar),
            other => {
                return Err(format!(
                    "there is no unit {other:?} here; take amx, avx512-vnni, avx2 or scalar"
                )
                .into());
            }
        };
        let problem = Problem::complex(&[n])
            .batch(batch)
            .threads(1)
            .engine(Engine::Digits)
            .substrate(substrate);
        let (double, wide) = match (double_planner.plan(&problem), wide_planner.plan(&problem)) {
            (Ok(double), Ok(wide)) => (double, wide),
            (Err(error), _) | (_, Err(error)) => {
                println!("{unit} is left out: {error}");
                continue;
            }
        };
        let mut output = vec![Complex::new(0.0, 0.0); n * batch];
        let mut workspace = vec![0; double.workspace_len()];
        let mut failure = None;
        let double_time = timed(|| {
            let result =
                double.process_outofplace_with_workspace(&input, &mut output, &mut workspace);
            failure = result.err();
        });
        let error = error_of(&input[..n], |k| {
            Complex::new(
                DoubleDouble::from(output[k].re),
                DoubleDouble::from(output[k].im),
            )
        });
        show(
            &format!("double {unit}"),
            double_time,
            format!("{error:.2e}, bound {:.2e}", double.bound()),
        );
        let wide_input: Vec<Complex<DoubleDouble>> = input
            .iter()
            .map(|z| Complex::new(DoubleDouble::from(z.re), DoubleDouble::from(z.im)))
            .collect();
        pairs = vec![Complex::new(DoubleDouble::ZERO, DoubleDouble::ZERO); n * batch];
        let wide_time = timed(|| failure = wide.process_outofplace(&wide_input, &mut pairs).err());
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        let error = error_of(&input[..n], |k| pairs[k]);
        let note = format!(
            "{error:.2e}, bound {:.2e}; {:.2} times double (median {:.2})",
            wide.bound(),
            wide_time.0 / double_time.0,
            wide_time.1 / double_time.1
        );
        show(&format!("pairs {unit}"), wide_time, note);
    }
    match quad(n, batch, &input) {
        Err(reason) => println!("FFTW's quad precision is left out: {reason}"),
        Ok((time, output)) => {
            let at = |k: usize| Complex::new(pair_of(output[2 * k]), pair_of(output[2 * k + 1]));
            let error = error_of(&input[..n], at);
            show("FFTW quad", time, format!("{error:.2e}"));
            // Who compares two transforms hears whether they are of the same numbers.
            let far = (0..pairs.len())
                .filter(|&k| (pairs[k].re - at(k).re).high.abs() > 1e-28 * n as f64)
                .count();
            println!("outputs of pairs and FFTW that differ by more than 1e-28 N: {far}");
        }
    }
    Ok(())
}

/// FFTW's time and output.
fn quad(n: usize, batch: usize, input: &[Complex<f64>]) -> Result<((f64, f64), Vec<u128>), String> {
    let name = "libfftw3q.so.3";
    // SAFETY: loading FFTW sets up its own data and nothing else.
    let library = unsafe { Library::new(name) }.map_err(|error| format!("{name}: {error}"))?;
    let length = c_int::try_from(n).map_err(|error| error.to_string())?;
    let count = c_int::try_from(batch).map_err(|error| error.to_string())?;
    let mut numbers = vec![0u128; 2 * n * batch];
    let mut output = vec![0u128; 2 * n * batch];
    const FORWARD: c_int = -1;
    const MEASURE: c_uint = 0;
    // SAFETY: types and names are those of fftw3.h, where a quad number is 16 bytes at a multiple of 16, as `u128` is. Both
    // arrays have `batch` transforms of `n` complex numbers, and live until the plan is destroyed.
    unsafe {
        let plan_many = library
            .get::<PlanMany>("fftwq_plan_many_dft")
            .map_err(|error| error.to_string())?;
        let execute = library
            .get::<Execute>("fftwq_execute")
            .map_err(|error| error.to_string())?;
        let destroy = library
            .get::<Execute>("fftwq_destroy_plan")
            .map_err(|error| error.to_string())?;
        let none = std::ptr::null();
        let plan = plan_many(
            1,
            &length,
            count,
            numbers.as_mut_ptr(),
            none,
            1,
            length,
            output.as_mut_ptr(),
            none,
            1,
            length,
            FORWARD,
            MEASURE,
        );
        if plan.is_null() {
            return Err("it has no plan".into());
        }
        // Planning has written over the arrays.
        for (quads, z) in numbers.chunks_exact_mut(2).zip(input) {
            quads[0] = quad_of(z.re);
            quads[1] = quad_of(z.im);
        }
        let time = timed(|| execute(plan));
        destroy(plan);
        Ok((time, output))
    }
}
