//! Prints how long reference transforms take and how accurate they are.
//!
//! `cargo run -p ozfft-testkit --example timing`

use ozfft_testkit::oracle::{Direction, dft, dft_nd, dft_sampled, inputs, multiprecision};
use std::time::Instant;

fn main() {
    println!("relative L2 error against 320 bits: length, full, sampled");
    for length in [4, 7, 60, 61, 64, 127, 256, 331] {
        let line = inputs::uniform_complex(length, 1);
        let exact = multiprecision::dft(&line, Direction::Forward, 320);
        let full = dft(&line, Direction::Forward);
        let all: Vec<usize> = (0..length).collect();
        let sampled = dft_sampled(&line, &[length], &all, Direction::Forward);
        let error = |spectrum| multiprecision::relative_l2(spectrum, &exact);
        println!("{length:>8} {:.1e} {:.1e}", error(&full), error(&sampled));
    }
    println!("full transforms of one line");
    for length in [
        4096,
        4093,
        65_536,
        65_537,
        100_003,
        1 << 20,
        1_000_003,
        1 << 22,
    ] {
        let line = inputs::uniform_complex(length, 1);
        let start = Instant::now();
        std::hint::black_box(dft(&line, Direction::Forward));
        println!("{length:>8} {:?}", start.elapsed());
    }
    println!("cubes: full, 64 samples");
    for extent in [64, 128] {
        let shape = [extent; 3];
        let field = inputs::uniform_complex(extent * extent * extent, 1);
        let start = Instant::now();
        std::hint::black_box(dft_nd(&field, &shape, Direction::Forward));
        let full = start.elapsed();
        let indices: Vec<usize> = (0..64)
            .map(|index| (index * 7919 + 13) % field.len())
            .collect();
        let start = Instant::now();
        std::hint::black_box(dft_sampled(&field, &shape, &indices, Direction::Forward));
        println!("{extent:>6}^3 {full:?} {:?}", start.elapsed());
    }
    let line = inputs::uniform_complex(4096, 1);
    let start = Instant::now();
    for length in 1..=line.len() {
        std::hint::black_box(dft(&line[..length], Direction::Forward));
    }
    println!("every length up to 4096 {:?}", start.elapsed());
}
