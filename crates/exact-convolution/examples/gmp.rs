//! Products of long integers beside GMP's, where it is installed, and the same result demanded of both:
//!
//! ```sh
//! RAYON_NUM_THREADS=1 cargo run --release -p exact-convolution --example gmp -- 1e4 1e5 1e6 1e7
//! ```
//!
//! Times are processor time where the system tells it (other programs do not count), else least wall time.

use exact_convolution::{Unit, multiply_limbs_on};
use std::time::Instant;

type Multiply = unsafe extern "C" fn(*mut u64, *const u64, isize, *const u64, isize) -> u64;

/// Seconds that the threads of this process have run, as Linux counts them.
fn processor_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        let ran: f64 = text.split_whitespace().next()?.parse().ok()?;
        nanoseconds += ran;
    }
    Some(nanoseconds * 1e-9)
}

/// Seconds of a call: repeated for about a second of processor time, since the system counts in milliseconds.
fn measure(mut work: impl FnMut()) -> f64 {
    work();
    let start = Instant::now();
    work();
    // Asking the system takes time as well.
    let batch = (1e-2 / start.elapsed().as_secs_f64()).clamp(1.0, 1e4);
    let mut calls = 0.0;
    let mut least = f64::MAX;
    let before = processor_seconds();
    loop {
        for _ in 0..batch as usize {
            let start = Instant::now();
            work();
            least = least.min(start.elapsed().as_secs_f64());
        }
        calls += batch.trunc();
        match (before, processor_seconds()) {
            (Some(before), Some(now)) if now - before > 0.5 => return (now - before) / calls,
            (None, _) | (_, None) if least * calls > 1.0 => return least,
            _ => {}
        }
    }
}

fn main() {
    // SAFETY: GMP runs nothing when it is loaded.
    let load = |name: &&str| unsafe { libloading::Library::new(*name).ok() };
    let gmp = ["libgmp.so.10", "libgmp.so"].iter().find_map(load);
    if gmp.is_none() {
        println!("GMP is not installed (Debian: libgmp10), so there is nothing to compare with");
    }
    let mut state = 1u64;
    let mut random = |limbs: usize| -> Vec<u64> {
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state ^ (state >> 31)
        };
        (0..limbs).map(|_| next()).collect()
    };
    let asked: Vec<f64> = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok())
        .collect();
    let sizes = if asked.is_empty() {
        vec![1e4, 1e5, 1e6, 1e7]
    } else {
        asked
    };
    for digits in sizes {
        let limbs = (digits * 10f64.log2() / 64.0).ceil() as usize;
        let (a, b) = (random(limbs), random(limbs));
        let mut theirs = vec![0u64; 2 * limbs];
        let reference = gmp.as_ref().map(|gmp| {
            // SAFETY: the declaration is that of gmp.h for 64-bit limbs.
            let multiply = unsafe { gmp.get::<Multiply>(b"__gmpn_mul") };
            let multiply = multiply.expect("the function is part of every GMP");
            let length = limbs as isize;
            // SAFETY: two numbers of so many limbs, and place for both together.
            let call = || unsafe {
                multiply(theirs.as_mut_ptr(), a.as_ptr(), length, b.as_ptr(), length);
            };
            measure(call)
        });
        if let Some(seconds) = reference {
            println!("{digits:e} digits, GMP: {seconds:.3e} s");
        }
        for unit in Unit::available() {
            let mut ours = Vec::new();
            let seconds = measure(|| ours = multiply_limbs_on(unit, &a, &b));
            let ratio = reference.map_or(String::new(), |reference| {
                assert!(
                    ours == theirs,
                    "{digits:e} digits on {unit}: the products differ"
                );
                format!(", {:.2} times GMP", seconds / reference)
            });
            println!("{digits:e} digits, {unit}: {seconds:.3e} s{ratio}");
        }
    }
}
