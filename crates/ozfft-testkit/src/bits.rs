//! Comparisons that tell every bit: -0 is not +0, and a NaN is the same as itself only.

use num_complex::Complex;
use std::fmt::{self, Debug, Display};

/// Numbers whose bits can be compared and printed.
pub trait Bits: Copy + Debug {
    /// Whether all bits are the same.
    fn same(self, other: Self) -> bool;

    /// The bits in hexadecimal.
    fn hex(self) -> String;
}

macro_rules! bits_of_numbers {
    ($($number:ty, $to_bits:expr, $digits:literal;)*) => {$(
        impl Bits for $number {
            fn same(self, other: Self) -> bool {
                $to_bits(self) == $to_bits(other)
            }

            fn hex(self) -> String {
                format!(concat!("{:#0", $digits, "x}"), $to_bits(self))
            }
        }
    )*};
}

bits_of_numbers! {
    f64, f64::to_bits, 18;
    f32, f32::to_bits, 10;
    u64, u64::from, 18;
    u32, u32::from, 10;
    u8, u8::from, 4;
}

impl<T: Bits> Bits for Complex<T> {
    fn same(self, other: Self) -> bool {
        self.re.same(other.re) && self.im.same(other.im)
    }

    fn hex(self) -> String {
        format!("({}, {})", self.re.hex(), self.im.hex())
    }
}

/// Where two arrays differ, and by which random numbers that can be seen again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Of the first element that differs; the length of the shorter array where one is longer.
    pub index: usize,
    /// How many differ, and of how many.
    count: (usize, usize),
    values: String,
    seed: u64,
}

impl Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (differing, length) = self.count;
        write!(
            f,
            "{differing} of {length} elements differ, the first at index {}: {} (seed {:#x})",
            self.index, self.values, self.seed
        )
    }
}

impl std::error::Error for Difference {}

/// Compares arrays bit by bit. The seed is what the numbers were made of, for the message.
///
/// ```
/// let error = ozfft_testkit::same_bits(&[1.0, 0.0], &[1.0, -0.0], 7).expect_err("another sign");
/// assert_eq!(error.index, 1);
/// assert!(error.to_string().contains("found -0.0 = 0x8000000000000000"));
/// ```
///
/// # Errors
/// If they differ, with the first difference.
pub fn same_bits<V: Bits>(expected: &[V], found: &[V], seed: u64) -> Result<(), Difference> {
    let pairs = expected.iter().zip(found).enumerate();
    let mut differing = pairs.filter(|(_, (expected, found))| !expected.same(**found));
    let first = differing.next();
    let length = expected.len().max(found.len());
    let missing = length - expected.len().min(found.len());
    match first {
        Some((index, (expected, found))) => Err(Difference {
            index,
            count: (1 + differing.count() + missing, length),
            values: format!(
                "expected {expected:?} = {}, found {found:?} = {}",
                expected.hex(),
                found.hex()
            ),
            seed,
        }),
        None if missing > 0 => Err(Difference {
            index: length - missing,
            count: (missing, length),
            values: format!(
                "expected {} elements, found {}",
                expected.len(),
                found.len()
            ),
            seed,
        }),
        None => Ok(()),
    }
}

/// Fails where two arrays differ in any bit; `what` says what was computed.
///
/// # Panics
/// If they differ.
#[track_caller]
pub fn assert_same_bits<V: Bits>(expected: &[V], found: &[V], seed: u64, what: impl Display) {
    if let Err(difference) = same_bits(expected, found, seed) {
        panic!("{what}: {difference}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flipped_bit_is_found_and_named_with_both_values_and_the_seed() {
        let expected: Vec<Complex<f64>> = (0..9).map(|i| Complex::new(f64::from(i), 0.5)).collect();
        assert_same_bits(&expected, &expected, 0, "the same");
        for index in 0..9 {
            let mut found = expected.clone();
            found[index].im = f64::from_bits(0.5f64.to_bits() ^ 1);
            let error = same_bits(&expected, &found, 0xabc).expect_err("a difference");
            assert_eq!(error.index, index);
            let text = error.to_string();
            for part in [
                "1 of 9",
                "0x3fe0000000000000",
                "0x3fe0000000000001",
                "0xabc",
            ] {
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[test]
    fn signs_of_zeros_and_payloads_of_nans_differ() {
        assert!(same_bits(&[0.0f32], &[-0.0], 1).is_err());
        let nan = f64::from_bits(0x7ff8_0000_0000_0001);
        assert!(same_bits(&[nan], &[nan], 1).is_ok());
        assert!(same_bits(&[nan], &[f64::from_bits(0x7ff8_0000_0000_0000)], 1).is_err());
    }

    #[test]
    fn arrays_of_other_lengths_differ() {
        let error = same_bits(&[1u32, 2], &[1], 1).expect_err("shorter");
        assert_eq!(error.index, 1);
        assert!(same_bits(&[1u32], &[1, 2], 1).is_err());
    }
}
