//! Products of long integers beside GMP's and FLINT's, and of polynomials modulo a number beside FLINT's, where these are installed; the same result is demanded of all:
//!
//! ```sh
//! RAYON_NUM_THREADS=1 cargo run --release -p exact-convolution --example gmp                     # all of it
//! RAYON_NUM_THREADS=1 cargo run --release -p exact-convolution --example gmp -- 1e7 1e8          # so many decimal digits
//! RAYON_NUM_THREADS=1 cargo run --release -p exact-convolution --example gmp -- polynomials 1e5  # so many coefficients
//! ```
//!
//! Times are processor time where the system tells it (other programs do not count), else least wall time.

use exact_convolution::{Unit, multiply_limbs_on, multiply_polynomials, polynomial_proof};
use libloading::Library;
use std::time::Instant;

/// GMP's `mpn_mul`, and FLINT's product by transforms, which returns nothing.
type Multiply = unsafe extern "C" fn(*mut u64, *const u64, isize, *const u64, isize) -> u64;
/// FLINT's `_nmod_poly_mul`: the first polynomial is the longer one.
type MultiplyPolynomials =
    unsafe extern "C" fn(*mut u64, *const u64, isize, *const u64, isize, Modulus);

/// FLINT's `nmod_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Modulus {
    n: u64,
    /// Of n shifted until its highest bit is set: 2^128 - 1 divided by it, less 2^64.
    inverse: u64,
    shift: u64,
}

impl Modulus {
    fn new(n: u64) -> Modulus {
        let shift = n.leading_zeros();
        Modulus {
            n,
            inverse: (u128::MAX / u128::from(n << shift)) as u64,
            shift: shift.into(),
        }
    }
}

/// From so many limbs on FLINT multiplies by itself (FLINT_FFT_MUL_THRESHOLD); below it calls GMP.
const FLINT_LIMBS: usize = 32_000;

/// The first library of a list that is there.
fn load(names: &[&str]) -> Option<Library> {
    // SAFETY: these libraries run nothing when they are loaded.
    names
        .iter()
        .find_map(|name| unsafe { Library::new(*name).ok() })
}

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

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 ^ (self.0 >> 31)
    }

    fn limbs(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// A product by another library: its time, and the limbs.
fn theirs(library: &Library, name: &[u8], a: &[u64], b: &[u64]) -> (f64, Vec<u64>) {
    // SAFETY: the declaration is that of gmp.h and fft.h for 64-bit limbs; nobody looks at what is returned.
    let multiply = unsafe { library.get::<Multiply>(name) };
    let multiply = multiply.expect("the function is part of the library");
    let mut product = vec![0u64; a.len() + b.len()];
    let (first, second) = (a.len() as isize, b.len() as isize);
    // SAFETY: two numbers of so many limbs, and place for both together.
    let call = || unsafe {
        multiply(product.as_mut_ptr(), a.as_ptr(), first, b.as_ptr(), second);
    };
    (measure(call), product)
}

fn integers(gmp: Option<&Library>, flint: Option<&Library>, digits: f64, random: &mut Random) {
    let limbs = (digits * 10f64.log2() / 64.0).ceil() as usize;
    let (a, b) = (random.limbs(limbs), random.limbs(limbs));
    let reference = gmp.map(|gmp| theirs(gmp, b"__gmpn_mul", &a, &b));
    let ratio = |seconds: f64, product: &[u64], what: &str| match &reference {
        Some((reference, expected)) => {
            assert!(
                product == expected,
                "{digits:e} digits, {what}: the products differ"
            );
            format!(", {:.2} times GMP", seconds / reference)
        }
        None => String::new(),
    };
    if let Some((seconds, _)) = &reference {
        println!("{digits:e} digits, GMP: {seconds:.3e} s");
    }
    if let Some(flint) = flint.filter(|_| limbs >= FLINT_LIMBS) {
        let (seconds, product) = theirs(flint, b"flint_mpn_mul_fft_main", &a, &b);
        let ratio = ratio(seconds, &product, "FLINT");
        println!("{digits:e} digits, FLINT: {seconds:.3e} s{ratio}");
    }
    for unit in Unit::available() {
        let mut ours = Vec::new();
        let seconds = measure(|| ours = multiply_limbs_on(unit, &a, &b));
        let ratio = ratio(seconds, &ours, unit.name());
        println!("{digits:e} digits, {unit}: {seconds:.3e} s{ratio}");
    }
}

fn polynomials(flint: Option<&Library>, length: f64, modulus: u64, random: &mut Random) {
    let count = length as usize;
    let mut draw = || -> Vec<u64> { (0..count).map(|_| random.next() % modulus).collect() };
    let (a, b) = (draw(), draw());
    let what = format!("{length:e} coefficients modulo {modulus}");
    let mut ours = Vec::new();
    let seconds = measure(|| ours = multiply_polynomials(&a, &b, modulus).expect("polynomials"));
    let (route, _) = polynomial_proof(count, count, modulus).expect("polynomials");
    let mut ratio = String::new();
    if let Some(flint) = flint {
        // SAFETY: the declaration is that of nmod_poly.h.
        let multiply = unsafe { flint.get::<MultiplyPolynomials>(b"_nmod_poly_mul") };
        let multiply = multiply.expect("the function is part of every FLINT");
        let mut theirs = vec![0u64; 2 * count - 1];
        let (n, reduced) = (count as isize, Modulus::new(modulus));
        // SAFETY: two polynomials of so many coefficients, and place for their product.
        let call = || unsafe {
            multiply(theirs.as_mut_ptr(), a.as_ptr(), n, b.as_ptr(), n, reduced);
        };
        let reference = measure(call);
        assert!(ours == theirs, "{what}: the products differ");
        println!("{what}, FLINT: {reference:.3e} s");
        ratio = format!(", {:.2} times FLINT", seconds / reference);
    }
    println!(
        "{what}, {route} on {}: {seconds:.3e} s{ratio}",
        Unit::best()
    );
}

fn main() {
    let gmp = load(&["libgmp.so.10", "libgmp.so"]);
    if gmp.is_none() {
        println!("GMP is not installed (Debian: libgmp10), so there is nothing to compare with");
    }
    let flint = load(&["libflint.so.17", "libflint.so.18", "libflint.so"]);
    if flint.is_none() {
        println!("FLINT is not installed (Debian: libflint17) and is left out");
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = arguments.split(|word| word == "polynomials");
    let mut sizes = || -> Vec<f64> {
        let part = parts.next().unwrap_or_default();
        part.iter().filter_map(|text| text.parse().ok()).collect()
    };
    let (mut digits, mut lengths) = (sizes(), sizes());
    if arguments.is_empty() {
        digits = vec![1e4, 1e5, 1e6, 1e7];
        lengths = vec![1e3, 1e4, 1e5, 1e6];
    }
    let mut random = Random(1);
    for digits in digits {
        integers(gmp.as_ref(), flint.as_ref(), digits, &mut random);
    }
    for length in lengths {
        // Of 30 and of 63 bits: three primes, and five.
        for modulus in [998_244_353, (1 << 63) - 25] {
            polynomials(flint.as_ref(), length, modulus, &mut random);
        }
    }
}
