//! Exact sums on emulated GPUs: the bits of the crate `kulisch`, and of big integers.

#[path = "../../kulisch/tests/common/mod.rs"]
mod common;

use common::{Direction, Generator, expected_sum};
use ozfft_kernels::kulisch::{Reduction, SHARED_BYTES, THREADS, TOTAL_BYTES};

/// Memory that reductions share, as launches leave it.
struct Device {
    total: Vec<u64>,
}

impl Device {
    fn new() -> Device {
        Device {
            total: vec![0; TOTAL_BYTES.div_ceil(8)],
        }
    }

    fn reduce(&mut self, kernel: &str, left: &[f64], right: &[f64], blocks: u64) -> f64 {
        let mut result = f64::MIN;
        let task = Reduction {
            left: left.as_ptr() as u64,
            right: right.as_ptr() as u64,
            count: left.len() as u64,
            result: &raw mut result as u64,
            total: self.total.as_mut_ptr() as u64,
        };
        let parameters = (&raw const task).cast();
        // SAFETY: the kernels take such a structure, and its arrays are as long as it says.
        unsafe { ozfft_emulator::launch(kernel, parameters, blocks, THREADS, SHARED_BYTES) };
        assert!(
            self.total.iter().all(|&word| word == 0),
            "{kernel} does not leave its memory empty"
        );
        result
    }

    fn sum(&mut self, values: &[f64], blocks: u64) -> f64 {
        self.reduce("kulisch_sum", values, &[], blocks)
    }
}

fn assert_same(found: f64, expected: f64, what: &str) {
    assert_eq!(
        found.to_bits(),
        expected.to_bits(),
        "{found:e} instead of {expected:e}: {what}"
    );
}

/// A seed that is printed where a test fails.
fn seeded(seed: u64) -> Generator {
    eprintln!("seed {seed}");
    Generator::new(seed)
}

#[test]
fn sums_are_those_of_big_integers() {
    let mut generator = seeded(20_261_115);
    let mut device = Device::new();
    for case in 0..300 {
        let count = generator.below(if case % 10 == 0 { 9000 } else { 300 });
        let values = generator.numbers(count);
        let blocks = 1 + generator.below(3) as u64;
        // At both alignments that a double may have.
        let from = generator.below(2).min(count);
        let part = &values[from..];
        let what = format!("case {case}, {count} numbers from {from} on, {blocks} blocks");
        let expected = expected_sum(part, Direction::Nearest);
        assert_same(device.sum(part, blocks), expected, &what);
        let magnitudes: Vec<f64> = part.iter().map(|value| value.abs()).collect();
        let expected = expected_sum(&magnitudes, Direction::Nearest);
        let found = device.reduce("kulisch_magnitude_sum", part, &[], blocks);
        assert_same(found, expected, &what);
    }
}

#[test]
fn sums_of_all_lengths_are_those_of_the_crate() {
    let mut generator = seeded(2);
    let mut device = Device::new();
    let lengths = (0..70).chain([
        255, 256, 257, 511, 512, 513, 8191, 8192, 8193, 65536, 100_000,
    ]);
    for length in lengths {
        let values = generator.numbers(length);
        for blocks in [1, 2] {
            let what = format!("{length} numbers, {blocks} blocks");
            assert_same(device.sum(&values, blocks), kulisch::sum(&values), &what);
        }
    }
}

/// Everything that is not in a window, as often as carries must be resolved for it, at all exponents.
#[test]
fn carries_are_resolved_before_limbs_overflow() {
    let mut device = Device::new();
    let lowest = f64::from_bits(1);
    for (large, small) in [(1e300, 1.5e-300), (-1e300, f64::MAX), (f64::MAX, lowest)] {
        // The first number of every 8192 chooses the window; all others are far from it.
        let values: Vec<f64> = (0..70_000)
            .map(|k| if k % 8192 == 0 { small } else { large })
            .collect();
        let what = format!("{large:e} and {small:e}");
        assert_same(device.sum(&values, 1), kulisch::sum(&values), &what);
    }
    // Borrows and carries that go through all limbs.
    let values = [f64::MAX, -lowest, -f64::MAX, lowest, lowest];
    for count in 1..=values.len() {
        let values = &values[..count];
        assert_same(device.sum(values, 1), kulisch::sum(values), "borrows");
    }
}

#[test]
fn what_is_not_finite_and_zeros_are_as_in_the_crate() {
    let mut device = Device::new();
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1.0,
        f64::MAX,
        -f64::from_bits(1),
    ];
    for choice in 0..1usize << special.len() {
        let values: Vec<f64> = (0..special.len())
            .filter(|bit| choice >> bit & 1 == 1)
            .map(|bit| special[bit])
            .collect();
        let what = format!("{values:?}");
        assert_same(device.sum(&values, 1), kulisch::sum(&values), &what);
        // The same far apart, among zeros of one sign.
        let mut far = vec![-0.0; 600];
        let places = values.iter().enumerate();
        places.for_each(|(k, &value)| far[67 * k + 3] = value);
        assert_same(device.sum(&far, 2), kulisch::sum(&far), &what);
    }
}
