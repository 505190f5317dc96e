//! What one call of `fftw_execute` takes, beside FFTW with `FFTW_ESTIMATE` and with `FFTW_MEASURE`: contiguous complex transforms in
//! place, one thread, the same array again and again. A quiet machine is needed for figures that are worth anything.
//!
//! `cargo run --release -p ozfft-fftw --example latency -- --longest 1048576` prints a table in Markdown.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Doors, ESTIMATE, Sample};
use oracle::inputs::Generator;
use std::ffi::{c_int, c_uint};
use std::time::{Duration, Instant};

const MEASURE: c_uint = 0;

/// The median of batches of calls, each long enough for the clock, in seconds a call.
fn seconds_a_call(mut call: impl FnMut()) -> f64 {
    let time = |calls: u32, call: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed()
    };
    let mut calls = 1;
    while time(calls, &mut call) < Duration::from_millis(2) && calls < 1 << 20 {
        calls *= 2;
    }
    let mut batches: Vec<f64> = (0..31)
        .map(|_| time(calls, &mut call).as_secs_f64() / f64::from(calls))
        .collect();
    batches.sort_by(f64::total_cmp);
    batches[batches.len() / 2]
}

fn measured<T: Sample>(doors: &Doors<T>, n: usize, flags: c_uint) -> f64 {
    let mut array = vec![T::default(); 2 * n];
    let start = array.as_mut_ptr();
    // SAFETY: an array of `n` complex numbers, in place, alive until the plan is destroyed.
    unsafe {
        let plan = (doors.plan_dft_1d)(n as c_int, start, start, -1, flags);
        assert!(!plan.is_null(), "no plan for {n} points");
        // Results of results would overflow: the array is set anew for every call, and the time of that taken off.
        let mut random = Generator::new(n as u64);
        let original: Vec<T> = (0..2 * n)
            .map(|_| T::from_f64(random.uniform() - 0.5))
            .collect();
        let seconds = seconds_a_call(|| {
            array.copy_from_slice(&original);
            (doors.execute)(plan);
        });
        let copying = seconds_a_call(|| {
            array.copy_from_slice(std::hint::black_box(&original));
        });
        (doors.destroy_plan)(plan);
        seconds - copying
    }
}

fn table<T: Sample>(title: &str, ours: &Doors<T>, real: Option<&Doors<T>>, longest: usize) {
    println!("\n{title}\n");
    println!("| points | FFTW, ESTIMATE | FFTW, MEASURE | ozfft | over ESTIMATE | over MEASURE |");
    println!("|---|---|---|---|---|---|");
    let mut n = 16;
    while n <= longest {
        let own = measured(ours, n, ESTIMATE);
        let micro = |seconds: f64| format!("{:.3} µs", 1e6 * seconds);
        match real {
            Some(real) => {
                let (estimate, measure) = (measured(real, n, ESTIMATE), measured(real, n, MEASURE));
                println!(
                    "| {n} | {} | {} | {} | {:.1} | {:.1} |",
                    micro(estimate),
                    micro(measure),
                    micro(own),
                    own / estimate,
                    own / measure
                );
            }
            None => println!("| {n} | not installed | | {} | | |", micro(own)),
        }
        n *= 4;
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let longest = match arguments
        .iter()
        .position(|argument| argument == "--longest")
    {
        None => 1 << 20,
        Some(position) => {
            let text = arguments.get(position + 1).map_or("", String::as_str);
            text.parse().unwrap_or_else(|_| {
                panic!("--longest takes a number of points, and {text:?} is none")
            })
        }
    };
    table(
        "Double precision",
        &Doors::<f64>::ours(),
        Doors::<f64>::real().as_ref(),
        longest,
    );
    table(
        "Single precision",
        &Doors::<f32>::ours(),
        Doors::<f32>::real().as_ref(),
        longest,
    );
}
