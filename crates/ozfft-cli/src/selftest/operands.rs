//! What short and long convolutions of the self-test share: operands, counts, and what runs.

use ozfft::Device;
use ozfft::convolution::{ExactConvolution, ExactConvolutionPlan, Multiplier, RouteError};
use ozfft_testkit::oracle::inputs::Generator;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many convolutions each route had.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) routes: [AtomicUsize; 4],
    pub(super) refused: AtomicUsize,
    pub(super) products: AtomicUsize,
    pub(super) long: AtomicUsize,
}

impl Counts {
    /// The plan of a problem by a route; none, and counted, where nothing proves it.
    pub(super) fn proven(
        &self,
        problem: ExactConvolution,
        what: &str,
    ) -> Result<Option<ExactConvolutionPlan>, String> {
        match problem.plan() {
            Ok(plan) => Ok(Some(plan)),
            Err(RouteError::NotProven { .. }) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => Err(format!("{what}: {error}")),
        }
    }
}

/// What runs.
pub(super) struct Devices {
    pub(super) device: Device,
    pub(super) multiplier: Multiplier,
}

/// Integers up to a magnitude: all at the largest, with alternating signs, with signs that change more seldom or at random, few, or random.
pub(super) fn integers(generator: &mut Generator, count: usize, largest: i64) -> Vec<i64> {
    let kind = generator.below(7);
    let period = 1 + generator.below(8);
    let mut one = |k: usize| {
        let random = generator.next_u64();
        let within =
            ((i128::from(random >> 1) * (2 * i128::from(largest) + 1)) >> 63) as i64 - largest;
        match kind {
            0 => largest,
            1 => -largest,
            2 if k.is_multiple_of(2) => largest,
            2 => -largest,
            3 if (k / period).is_multiple_of(2) => largest,
            3 => -largest,
            4 if random.is_multiple_of(16) => largest,
            4 => 0,
            5 if random & 1 == 0 => largest,
            5 => -largest,
            _ => within,
        }
    };
    (0..count).map(&mut one).collect()
}

/// Limbs: all ones, runs of ones and zeros (carries), one bit, or random; to a base.
pub(super) fn limbs(generator: &mut Generator, count: usize, base: u128) -> Vec<u64> {
    let kind = generator.below(5);
    let mut one = |k: usize| {
        let random = generator.next_u64();
        let largest = (base - 1) as u64;
        match kind {
            0 => largest,
            1 if random & 4 == 0 => largest,
            1 => 0,
            2 => u64::from(k + 1 == count),
            3 if k == 0 => 1,
            3 => largest,
            _ => (u128::from(random) % base) as u64,
        }
    };
    (0..count).map(&mut one).collect()
}
