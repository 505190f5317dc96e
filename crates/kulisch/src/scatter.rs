//! Numbers whose exponents are too far apart for blocks: one integer accumulator for every sign and exponent.

use crate::accumulator::Accumulator;

/// From so many numbers on, clearing and reading all places is worth it.
#[cfg(feature = "std")]
const WORTH_IT: usize = 8192;

/// Numbers waiting to be added to an accumulator; the memory is allocated with the first.
#[cfg(feature = "std")]
pub(crate) struct Scatter {
    used: bool,
    places: Option<std::boxed::Box<Places>>,
}

#[cfg(feature = "std")]
struct Places {
    /// Sums of fractions, by sign and exponent field.
    sums: [u64; PLACES],
    /// How often they overflowed.
    carries: [u32; PLACES],
    /// Numbers since the places were emptied; that many can overflow often enough for `carries` to do so.
    count: usize,
}

#[cfg(feature = "std")]
const PLACES: usize = 4096;
/// Exponents that are handed over together.
#[cfg(feature = "std")]
const GROUP: usize = 32;

#[cfg(feature = "std")]
impl Scatter {
    /// For a slice of so many numbers.
    pub fn new(count: usize) -> Scatter {
        Scatter {
            used: count >= WORTH_IT,
            places: None,
        }
    }

    /// Whether numbers are scattered at all, rather than added one by one.
    pub fn is_used(&self) -> bool {
        self.used
    }

    /// Adds numbers, sooner or later.
    pub fn add(&mut self, accumulator: &mut Accumulator, values: impl Iterator<Item = f64>) {
        if !self.used {
            values.for_each(|value| accumulator.add(value));
            return;
        }
        let places = self.places.get_or_insert_with(|| {
            std::boxed::Box::new(Places {
                sums: [0; PLACES],
                carries: [0; PLACES],
                count: 0,
            })
        });
        let Places {
            sums,
            carries,
            count,
        } = &mut **places;
        // Counted outside of memory: this loop is about the time of its stores.
        let mut scattered = 0;
        for value in values {
            let bits = value.to_bits();
            let place = (bits >> 52) as usize;
            let field = place as u64 & 0x7ff;
            // Zeros, subnormal numbers, infinities and NaN, which the accumulator knows.
            if field.wrapping_sub(1) >= 0x7fe {
                add_one(accumulator, value);
                continue;
            }
            let fraction = bits & ((1 << 52) - 1) | (1 << 52);
            let (sum, carry) = sums[place].overflowing_add(fraction);
            sums[place] = sum;
            if carry {
                carries[place] += 1;
            }
            scattered += 1;
        }
        *count += scattered;
        if *count > 1 << 40 {
            places.empty(accumulator);
        }
    }

    /// Hands over all numbers that are still here.
    pub fn finish(mut self, accumulator: &mut Accumulator) {
        if let Some(places) = &mut self.places {
            places.empty(accumulator);
        }
    }
}

/// Kept out of the loop.
#[cfg(feature = "std")]
#[cold]
fn add_one(accumulator: &mut Accumulator, value: f64) {
    accumulator.add(value);
}

#[cfg(feature = "std")]
impl Places {
    fn empty(&mut self, accumulator: &mut Accumulator) {
        if self.count == 0 {
            return;
        }
        // Neighbouring exponents together, while they fit: fewer than 2^40 numbers make sums below 2^124.
        for group in (0..PLACES / 2).step_by(GROUP) {
            let mut sum = 0i128;
            for (shift, place) in (group..group + GROUP).enumerate() {
                let at = |place: usize| {
                    u128::from(self.carries[place]) << 64 | u128::from(self.sums[place])
                };
                sum += ((at(place) as i128) - (at(place + PLACES / 2) as i128)) << shift;
            }
            if sum != 0 {
                // Field 1 is that of the smallest normal numbers; field 0 has none here.
                accumulator.deposit_wide(sum, group as i32 - 1075);
            }
        }
        accumulator.found_mut().note_number();
        self.sums.fill(0);
        self.carries.fill(0);
        self.count = 0;
    }
}

/// Without an allocator numbers are added one by one.
#[cfg(not(feature = "std"))]
pub(crate) struct Scatter;

#[cfg(not(feature = "std"))]
impl Scatter {
    pub fn new(_: usize) -> Scatter {
        Scatter
    }

    pub fn is_used(&self) -> bool {
        false
    }

    pub fn add(&mut self, accumulator: &mut Accumulator, values: impl Iterator<Item = f64>) {
        values.for_each(|value| accumulator.add(value));
    }

    pub fn finish(self, _: &mut Accumulator) {}
}
