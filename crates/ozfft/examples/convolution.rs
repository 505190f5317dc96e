//! Exact convolutions, their plans, and why they are exact: `cargo run --release -p ozfft --example convolution`.

use ozfft::convolution::{
    Convolution, convolve, convolve_by_digits, decimal, fftconvolve, limbs_proof, multiply_limbs,
    multiply_polynomials,
};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    // Sums that doubles do not hold.
    let numbers = vec![i32::MAX; 100_000];
    let plan = Convolution::linear(100_000, 100_000)
        .types::<i32, i32>()
        .plan()?;
    println!("{plan}\n");
    let squares: Vec<i128> = plan.process(&numbers, &numbers)?;
    println!("its middle: {}\n", squares[99_999]);

    // What a type does not hold is an error with a remedy.
    if let Err(error) = convolve::<_, _, i64>(&[i64::MAX; 4], &[i64::MAX; 4]) {
        println!("error: {error}\n");
    }

    // (1 + x)^8 modulo 5.
    let mut power = vec![1, 1];
    for _ in 0..3 {
        power = multiply_polynomials(&power, &power, 5)?;
    }
    println!("(1 + x)^8 modulo 5: {power:?}\n");

    // 2^128 - 1 squared, and a long product.
    let product = multiply_limbs(&[u64::MAX; 2], &[u64::MAX; 2]);
    println!(
        "(2^128 - 1)² = {}",
        decimal::text(&decimal::from_limbs(&product))
    );
    let long = vec![u64::MAX; 519_051];
    let start = Instant::now();
    let square = multiply_limbs(&long, &long);
    let seconds = start.elapsed().as_secs_f64();
    let (route, proof) = limbs_proof(long.len(), long.len());
    println!(
        "a square of {} limbs in {seconds:.3} s by {route}: {proof}\n",
        square.len()
    );

    // The same 8-bit numbers by number-theoretic transforms and through floating point.
    let bytes: Vec<i64> = (0..1 << 18).map(|k| (k * k) % 251 - 125).collect();
    let start = Instant::now();
    let sums: Vec<i64> = convolve(&bytes, &bytes)?;
    let exact = start.elapsed().as_secs_f64();
    let start = Instant::now();
    match convolve_by_digits(&bytes, &bytes) {
        Ok((rounded, bound)) => println!(
            "2^18 bytes: {exact:.3} s modulo primes, {:.3} s through floating point (proven error {bound:.3}), equal: {}",
            start.elapsed().as_secs_f64(),
            rounded == sums
        ),
        Err(error) => println!("2^18 bytes: {exact:.3} s modulo primes; {error}"),
    }

    // Real numbers, with their bound.
    let signal: Vec<f64> = (0..100_000).map(|k| f64::from(k % 100)).collect();
    let smooth = fftconvolve(&signal, &[0.25, 0.5, 0.25])?;
    println!(
        "real numbers: the error of no element exceeds {:e}",
        smooth.bound
    );
    Ok(())
}
