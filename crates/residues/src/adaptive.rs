//! How many bits, and how many moduli, the data at hand need.
//!
//! Moduli are counted for the largest integers that a recipe allows. Data are often shorter: numbers that were measured
//! with 16 bits, or stored in single precision, end in zeros; and where less than full accuracy is asked for, fewer bits
//! of a line have to be kept. Two estimates, both on the safe side, both in integers so that they are the same everywhere:
//!
//! - [`Span`] looks at the words of some columns. With common trailing zeros removed, the products are the
//!   same integers, shifted, and fewer moduli may hold them. Nothing is rounded.
//! - [`coarsest_unit`] looks at the exponents of a line of floating-point numbers and says how coarse its fixed-point unit
//!   may be for a given error relative to the line's norm. The norm is bounded from below by the exponents alone.

use crate::COLUMNS;
use ethnum::U256;

/// Properties shared by the words of some columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Zero bits that all words end in; 0 where all are zero.
    pub zeros: u32,
    /// The largest sum of magnitudes in a column, without those zeros.
    pub sum: u128,
}

impl Span {
    /// Of a panel of columns, given row by row.
    ///
    /// ```
    /// use residues::adaptive::Span;
    /// let mut words = [[0; 16]; 2];
    /// words[0][3] = 40;
    /// words[1][3] = -8;
    /// words[1][5] = 16;
    /// assert_eq!(Span::of(&words), Span { zeros: 3, sum: 6 });
    /// ```
    #[inline]
    pub fn of(words: &[[i64; COLUMNS]]) -> Span {
        let mut bits = 0u64;
        let mut sums = [0u128; COLUMNS];
        for row in words {
            for (sum, &word) in sums.iter_mut().zip(row) {
                let magnitude = word.unsigned_abs();
                bits |= magnitude;
                *sum += u128::from(magnitude);
            }
        }
        let zeros = if bits == 0 { 0 } else { bits.trailing_zeros() };
        // Every word is a multiple of 2^zeros, so the sums are, too.
        let sum = sums.iter().fold(0, |largest, &sum| sum.max(largest)) >> zeros;
        Span { zeros, sum }
    }

    /// Upper bound of products of these words with a matrix of entries of at most `largest_entry`, trailing zeros removed.
    pub fn bound(&self, largest_entry: u64) -> U256 {
        U256::from(self.sum) * U256::from(largest_entry)
    }
}

/// Bits below the largest number's that the sum of squares keeps.
const FRACTION: u32 = 40;

/// The exponent of the leading bit of a finite number that is not zero.
fn leading_exponent(x: f64) -> i32 {
    let bits = x.to_bits();
    let (field, fraction) = ((bits >> 52) as i32 & 0x7ff, bits & ((1 << 52) - 1));
    if field == 0 {
        fraction.ilog2() as i32 - 1074
    } else {
        field - 1023
    }
}

/// The largest `u` that is certain to have `2^u <= ratio · norm`, with the L2 norm of a line of finite numbers of which only the
/// exponents are looked at; `None` for a line of zeros. `ratio` is positive and normal.
///
/// The norm's square is at least the sum of the squares of the numbers' leading bits, which is formed in fixed point, with
/// what is too small left out; two logarithms are rounded down. So the norm is underestimated by less than a factor 4, which
/// is two bits too many, and never overestimated.
///
/// ```
/// use residues::adaptive::coarsest_unit;
/// let line = [3.0, 0.0, -4.0];
/// let exponent = coarsest_unit(2f64.powi(-20), line.iter().copied());
/// assert_eq!(exponent, Some(-18)); // 2^-18 <= 5 · 2^-20
/// ```
pub fn coarsest_unit(ratio: f64, numbers: impl Iterator<Item = f64> + Clone) -> Option<i32> {
    let exponents = numbers.filter(|&x| x != 0.0).map(leading_exponent);
    let largest = exponents.clone().max()?;
    let squares: u64 = exponents
        .map(|exponent| {
            let below = 2 * (largest - exponent) as u32;
            (1u64 << FRACTION).checked_shr(below).unwrap_or(0)
        })
        // More than 2^23 numbers of the largest size: the sum may stop, it is a lower bound.
        .fold(0, u64::saturating_add);
    let norm = (squares.ilog2() as i32 - FRACTION as i32).div_euclid(2);
    Some(largest + norm + leading_exponent(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Moduli, ResidueError, Set};
    use num_bigint::BigInt;

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        }
        fn below(&mut self, limit: u64) -> u64 {
            (self.next() >> 16) % limit
        }
    }

    /// Words that try to make the estimate too small: extremes of all lengths, zeros at their ends, one long among short ones.
    fn word(random: &mut Random, kind: u64) -> i64 {
        let length = random.below(63) as u32;
        let word = match kind {
            0 => random.next() as i64,
            1 => i64::MIN >> length,
            2 => (i64::MAX >> length) & !((1i64 << random.below(40)) - 1),
            3 => 1i64 << length,
            4 => (random.next() as i64 >> length) << (length / 2),
            _ => 0,
        };
        word >> 2
    }

    #[test]
    fn a_million_columns_are_never_underestimated() -> Result<(), ResidueError> {
        let seed = 0x0ada_9717;
        println!("seed {seed:#x}");
        let mut random = Random(seed);
        let largest_entry = 127u64 << 48;
        let moduli: Vec<Moduli> = (1..=Moduli::MOST)
            .map(|count| Moduli::first(Set::Int8, count))
            .collect::<Result<_, _>>()?;
        let mut columns = 0;
        while columns < 1_000_000 {
            let depth = 1 + random.below(33) as usize;
            let shift = random.below(40) as u32;
            let mut words = vec![[0i64; COLUMNS]; depth];
            for row in &mut words {
                for word_of in row.iter_mut() {
                    let kind = random.below(7);
                    *word_of = word(&mut random, kind) >> shift << (shift / 2);
                }
            }
            let span = Span::of(&words);
            let bound = span.bound(largest_entry);
            let Some(few) = moduli.iter().find(|moduli| moduli.hold(bound)) else {
                panic!("24 moduli hold everything");
            };
            let (high, low) = few.product().into_words();
            let product_of_moduli = (BigInt::from(high) << 128) + low;
            for column in 0..COLUMNS {
                // The worst matrix row: all entries at their largest, with the signs of the words.
                let mut product = BigInt::ZERO;
                for row in &words {
                    let word = row[column];
                    assert_eq!(word >> span.zeros << span.zeros, word);
                    product += BigInt::from((word >> span.zeros).unsigned_abs()) * largest_entry;
                }
                assert!(
                    product * 2 < product_of_moduli,
                    "column {column} of {words:?}"
                );
            }
            columns += COLUMNS;
        }
        Ok(())
    }

    /// A sum of squares as an exact integer, in units of 2^-2148.
    fn square(x: f64) -> BigInt {
        let bits = x.abs().to_bits();
        let (field, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let (mantissa, exponent) = if field == 0 {
            (fraction, 0)
        } else {
            (fraction | 1 << 52, field - 1)
        };
        (BigInt::from(mantissa) << exponent).pow(2)
    }

    #[test]
    fn a_line_is_never_taken_for_a_larger_one() {
        let seed = 0x11e5;
        println!("seed {seed:#x}");
        let mut random = Random(seed);
        for round in 0..20_000 {
            let length = 1 + random.below(40) as usize;
            let center = random.below(1800) as i32 - 900;
            let spread = 1 + random.below([1, 8, 60, 1000][round % 4]) as i32;
            let line: Vec<f64> = (0..length)
                .map(|_| match random.below(6) {
                    0 => 0.0,
                    1 => f64::from_bits(random.below(1 << 52)),
                    kind => {
                        let exponent = center + random.below(spread as u64) as i32;
                        let field = (exponent.clamp(-1022, 1023) + 1023) as u64;
                        let fraction = match kind {
                            2 => 0,
                            3 => (1 << 52) - 1,
                            _ => random.below(1 << 52),
                        };
                        f64::from_bits(field << 52 | fraction | random.below(2) << 63)
                    }
                })
                .collect();
            let power = random.below(60) as i32;
            let ratio = (1.0 + random.below(1000) as f64 / 1000.0) * 2f64.powi(-power);
            let squares: BigInt = line.iter().map(|&x| square(x)).sum();
            match coarsest_unit(ratio, line.iter().copied()) {
                None => assert_eq!(squares, BigInt::ZERO),
                Some(unit) => {
                    // unit^2 <= ratio^2 · squares; everything doubled in the exponent and moved to integers.
                    let scaled = squares * (BigInt::from((ratio * 2f64.powi(112)) as u128)).pow(2);
                    // Units of numbers near the end of the range lie 200 bits below it at most.
                    let scaled = scaled << 200;
                    let unit = BigInt::from(1) << (2 * unit + 2148 + 224 + 200);
                    assert!(unit <= scaled, "{line:?} at {ratio}");
                    assert!(
                        scaled < unit << 7,
                        "{line:?} at {ratio}: more than 3.5 bits too many"
                    );
                }
            }
        }
    }
}
