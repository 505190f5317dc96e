//! Two lanes in plain Rust: a register of what x86-64 and 64-bit ARM have at least.

use super::{Lanes, MOST_LANES};

#[derive(Clone, Copy)]
pub(crate) struct PortableLanes([f64; 2]);

impl PortableLanes {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        PortableLanes([f(self.0[0], other.0[0]), f(self.0[1], other.0[1])])
    }
}

impl Lanes for PortableLanes {
    const COUNT: usize = 2;
    type Bits = [u64; 2];

    #[inline(always)]
    fn load(values: &[f64]) -> Self {
        PortableLanes([values[0], values[1]])
    }

    #[inline(always)]
    fn prefetch(_: &[f64]) {}

    #[inline(always)]
    fn splat(value: f64) -> Self {
        PortableLanes([value; 2])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn product_rest(self, other: Self, product: Self) -> Self {
        let lane = |i: usize| product_rest(self.0[i], other.0[i], product.0[i]);
        PortableLanes([lane(0), lane(1)])
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        PortableLanes(self.0.map(|x| f64::from_bits(x.to_bits() << 1 >> 1)))
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn bits(self) -> [u64; 2] {
        self.0.map(f64::to_bits)
    }

    #[inline(always)]
    fn no_bits() -> [u64; 2] {
        [0; 2]
    }

    #[inline(always)]
    fn add_bits(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
        [
            left[0].wrapping_add(right[0]),
            left[1].wrapping_add(right[1]),
        ]
    }

    #[inline(always)]
    fn or_bits(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
        [left[0] | right[0], left[1] | right[1]]
    }

    #[inline(always)]
    fn or_difference(collected: [u64; 2], left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
        let lane = |i: usize| collected[i] | (left[i] ^ right[i]);
        [lane(0), lane(1)]
    }

    #[inline(always)]
    fn bits_to_array(bits: [u64; 2]) -> [u64; MOST_LANES] {
        let mut array = [0; MOST_LANES];
        array[..2].copy_from_slice(&bits);
        array
    }
}

/// With the fused instruction that every such processor has, where the standard library offers it.
#[cfg(all(feature = "std", target_arch = "aarch64"))]
#[inline(always)]
fn product_rest(left: f64, right: f64, product: f64) -> f64 {
    left.mul_add(right, -product)
}

/// Dekker's: halves of 26 bits, whose products are exact. Factors above 2^996 give NaN, which no block lets pass.
#[cfg(not(all(feature = "std", target_arch = "aarch64")))]
#[inline(always)]
fn product_rest(left: f64, right: f64, product: f64) -> f64 {
    let split = |value: f64| {
        let shifted = 134_217_729.0 * value;
        let high = shifted - (shifted - value);
        (high, value - high)
    };
    let ((a, a_low), (b, b_low)) = (split(left), split(right));
    a_low * b_low - (((product - a * b) - a_low * b) - a * b_low)
}
