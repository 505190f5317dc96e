//! Products of long integers on a GPU: compared with the processor's, then timed beside GMP's where it is installed.
//!
//! ```sh
//! cargo run --release -p ozfft --features cuda --example products_on_gpu -- [DIGITS ...]
//! ```
//!
//! Every product is compared, digit for digit. Times are the least of several wall times, GMP's and the processor's too; `RAYON_NUM_THREADS=1` has the
//! processor on one thread, and with it the copies to and from the GPU.

use ozfft::Device;
use ozfft::convolution::{Multiplier, Product, multiply_decimal, multiply_limbs};
use std::error::Error;
use std::fmt::Debug;
use std::time::Instant;

/// Random and hostile products that are compared first.
const COMPARED: usize = 200;
const SEED: u64 = 20261117;

type Multiply = unsafe extern "C" fn(*mut u64, *const u64, isize, *const u64, isize) -> u64;

struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Digits up to the largest one, of a kind: random, all the largest, a power of the base, sparse, ones, ones at both ends, zero.
    fn digits(&mut self, count: usize, largest: u64, kind: usize) -> Vec<u64> {
        let mut one = |k: usize| {
            let random = match largest {
                u64::MAX => self.next(),
                _ => self.next() % (largest + 1),
            };
            match kind {
                0 => random,
                1 => largest,
                2 => u64::from(k + 1 == count),
                3 if random.is_multiple_of(8) => random,
                4 => 1,
                5 => u64::from(k == 0 || k + 1 == count),
                _ => 0,
            }
        };
        (0..count).map(&mut one).collect()
    }

    /// Around powers of two, where lengths of transforms change, or any.
    fn length(&mut self) -> usize {
        match self.below(2) {
            0 => 1000 + self.below(60_000),
            _ => (1 << (10 + self.below(10))) + self.below(5) - 2,
        }
    }
}

fn same<D: PartialEq + Debug>(
    product: &Product<D>,
    expected: &[D],
    what: &str,
) -> Result<(), Box<dyn Error>> {
    if product.device == Device::Cpu {
        return Err(format!("{what}: {}", product.why).into());
    }
    match product
        .digits
        .iter()
        .zip(expected)
        .position(|(found, expected)| found != expected)
    {
        None if product.digits.len() == expected.len() => Ok(()),
        place => Err(format!("seed {SEED}, {what}: the products differ at {place:?}").into()),
    }
}

fn compare(multiplier: &Multiplier) -> Result<(), Box<dyn Error>> {
    let mut generator = Generator(SEED);
    for number in 0..COMPARED {
        let (first, second) = (generator.length(), generator.length());
        let (kind, other) = (generator.below(7), generator.below(7));
        let square = generator.below(5) == 0;
        let what = format!(
            "product {number}: {first} and {second} digits of kinds {kind} and {other}, square {square}"
        );
        let mut operands = |largest| {
            let a = generator.digits(first, largest, kind);
            let b = match square {
                true => a.clone(),
                false => generator.digits(second, largest, other),
            };
            (a, b)
        };
        if number % 2 == 0 {
            let (a, b) = operands(u64::MAX);
            let product = multiplier.multiply_limbs(&a, &b)?;
            same(&product, &multiply_limbs(&a, &b), &what)?;
        } else {
            let (a, b) = operands(999_999_999);
            let short = |digits: Vec<u64>| -> Vec<u32> {
                digits.into_iter().map(|digit| digit as u32).collect()
            };
            let (a, b) = (short(a), short(b));
            let product = multiplier.multiply_decimal(&a, &b)?;
            same(&product, &multiply_decimal(&a, &b), &what)?;
        }
    }
    println!("{COMPARED} random and hostile products have the processor's digits (seed {SEED})");
    Ok(())
}

/// The least seconds of some calls.
fn least(calls: usize, mut work: impl FnMut()) -> f64 {
    let call = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..calls).map(call).fold(f64::MAX, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Result<Vec<f64>, _> = std::env::args().skip(1).map(|text| text.parse()).collect();
    let mut sizes = asked?;
    if sizes.is_empty() {
        sizes = vec![1e6, 1e7, 1e8];
    }
    let multiplier = Multiplier::new(Device::Cuda(0))?;
    compare(&multiplier)?;
    // SAFETY: GMP runs nothing when it is loaded.
    let load = |name: &&str| unsafe { libloading::Library::new(*name).ok() };
    let gmp = ["libgmp.so.10", "libgmp.so"].iter().find_map(load);
    if gmp.is_none() {
        println!(
            "GMP is not installed (Debian: libgmp10): products are compared with the processor's alone"
        );
    }
    let mut generator = Generator(SEED);
    for digits in sizes {
        let limbs = (digits * 10f64.log2() / 64.0).ceil() as usize;
        let a = generator.digits(limbs, u64::MAX, 0);
        let b = generator.digits(limbs, u64::MAX, 0);
        let mut best: Option<Product<u64>> = None;
        let first = Instant::now();
        for _ in 0..6 {
            let product = multiplier.multiply_limbs(&a, &b)?;
            if best.is_none() {
                println!(
                    "{digits:e} digits, the first product, with memory and roots: {:.2} ms",
                    1e3 * first.elapsed().as_secs_f64()
                );
            }
            best = match best {
                Some(best) if best.seconds.total <= product.seconds.total => Some(best),
                _ => Some(product),
            };
        }
        let best = best.ok_or("there was no product")?;
        let seconds = best.seconds;
        println!(
            "{digits:e} digits, {}: {:.3} ms (to the device {:.3}, kernels {:.3}, back {:.3})",
            best.why,
            1e3 * seconds.total,
            1e3 * seconds.upload,
            1e3 * seconds.kernels,
            1e3 * seconds.download
        );
        let mut ours = Vec::new();
        let processor = least(2, || ours = multiply_limbs(&a, &b));
        same(&best, &ours, &format!("{digits:e} digits"))?;
        println!("{digits:e} digits, processor: {:.1} ms", 1e3 * processor);
        let Some(gmp) = &gmp else { continue };
        // SAFETY: the declaration is that of gmp.h for 64-bit limbs.
        let multiply = unsafe { gmp.get::<Multiply>(b"__gmpn_mul") }?;
        let mut theirs = vec![0u64; 2 * limbs];
        let length = limbs as isize;
        // SAFETY: two numbers of so many limbs, and place for both together.
        let seconds_of_gmp = least(2, || unsafe {
            multiply(theirs.as_mut_ptr(), a.as_ptr(), length, b.as_ptr(), length);
        });
        same(&best, &theirs, &format!("{digits:e} digits beside GMP"))?;
        println!(
            "{digits:e} digits, GMP on one core: {:.1} ms, {:.1} times the GPU's",
            1e3 * seconds_of_gmp,
            seconds_of_gmp / seconds.total
        );
    }
    Ok(())
}
