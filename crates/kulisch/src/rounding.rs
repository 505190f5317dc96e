//! The one rounding of every result: a long integer times a power of two to the nearest floating-point number, or to the
//! neighbour that was asked for.

/// Which neighbour a result that is no floating-point number becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounding {
    /// The nearest; of two equally near ones the one with an even last bit.
    #[default]
    NearestEven,
    /// The next one that is not smaller.
    Up,
    /// The next one that is not larger.
    Down,
    /// The next one that is not larger in magnitude.
    TowardZero,
}

/// What distinguishes the binary formats.
struct Format {
    /// Bits of a fraction, with the one that is not stored.
    precision: i32,
    /// Exponent of the largest power of two.
    largest: i32,
}

const DOUBLE: Format = Format {
    precision: 53,
    largest: 1023,
};
const SINGLE: Format = Format {
    precision: 24,
    largest: 127,
};

impl Format {
    /// Exponent of the smallest number above zero.
    const fn lowest(&self) -> i32 {
        2 - self.largest - self.precision
    }

    /// The bits of infinity.
    const fn infinity(&self) -> u64 {
        (2 * self.largest as u64 + 1) << (self.precision - 1)
    }
}

/// The head of a magnitude: a 64-bit number with its highest bit set, the exponent of that bit, and whether anything was
/// cut off below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub bits: u64,
    pub exponent: i32,
    pub sticky: bool,
}

impl Head {
    /// The head of `value · 2^lowest`; nothing for zero.
    #[inline]
    pub fn of_u128(value: u128, lowest: i32, sticky: bool) -> Option<Head> {
        if value == 0 {
            return None;
        }
        let zeros = value.leading_zeros();
        let shifted = value << zeros;
        Some(Head {
            bits: (shifted >> 64) as u64,
            exponent: lowest + 127 - zeros as i32,
            sticky: sticky || shifted as u64 != 0,
        })
    }

    /// The head of the words, the first the least significant, times `2^lowest`; nothing for zero.
    pub fn of_words(words: &[u64], lowest: i32, sticky: bool) -> Option<Head> {
        let place = words.iter().rposition(|&word| word != 0)?;
        let below = |k: usize| if place >= k { words[place - k] } else { 0 };
        let two = (u128::from(words[place]) << 64) | u128::from(below(1));
        let zeros = words[place].leading_zeros();
        let shifted = two << zeros;
        let rest = shifted as u64 != 0 || words[..place.saturating_sub(1)].iter().any(|&w| w != 0);
        Some(Head {
            bits: (shifted >> 64) as u64,
            exponent: lowest + 64 * place as i32 + 63 - zeros as i32,
            sticky: sticky || rest,
        })
    }

    #[inline]
    fn round(self, negative: bool, rounding: Rounding, format: &Format) -> u64 {
        let sign = u64::from(negative) << if format.precision == 53 { 63 } else { 31 };
        let away = match rounding {
            Rounding::NearestEven => false,
            Rounding::Up => !negative,
            Rounding::Down => negative,
            Rounding::TowardZero => false,
        };
        let nearest = rounding == Rounding::NearestEven;
        if self.exponent > format.largest {
            return sign | (format.infinity() - u64::from(!(nearest || away)));
        }
        let last = (self.exponent - (format.precision - 1)).max(format.lowest());
        // 11 or 40, and more at the lower end of the range: what is below the smallest number loses all bits.
        let dropped = last - (self.exponent - 63);
        let (kept, half, rest) = match dropped {
            ..64 => (
                self.bits >> dropped,
                (self.bits >> (dropped - 1)) & 1 == 1,
                self.bits << (65 - dropped) != 0,
            ),
            64 => (0, true, self.bits << 1 != 0),
            _ => (0, false, true),
        };
        let rest = rest || self.sticky;
        let up = if nearest {
            half && (rest || kept & 1 == 1)
        } else {
            away && (half || rest)
        };
        // A fraction with its leading bit adds one to the exponent field below it, and so does a carry.
        let field = (last - format.lowest()) as u64;
        let bits = (field << (format.precision - 1)) + kept + u64::from(up);
        if bits >= format.infinity() && !(nearest || away) {
            return sign | (format.infinity() - 1);
        }
        sign | bits
    }

    /// The nearest f64, or the one that `rounding` says.
    #[inline]
    pub fn to_f64(self, negative: bool, rounding: Rounding) -> f64 {
        f64::from_bits(self.round(negative, rounding, &DOUBLE))
    }

    /// The nearest f32, or the one that `rounding` says.
    pub fn to_f32(self, negative: bool, rounding: Rounding) -> f32 {
        f32::from_bits(self.round(negative, rounding, &SINGLE) as u32)
    }
}

/// The head of the square root of `words · 2^lowest`.
pub(crate) fn square_root_head(words: &[u64], lowest: i32) -> Option<Head> {
    let place = words.iter().rposition(|&word| word != 0)?;
    let word = |k: usize| {
        if place >= k {
            u128::from(words[place - k])
        } else {
            0
        }
    };
    let zeros = words[place].leading_zeros();
    // The 128 highest bits, one fewer where that makes the exponent of their last bit even.
    let three_high = (word(0) << 64) | word(1);
    let high = if zeros == 0 {
        three_high
    } else {
        (three_high << zeros) | (word(2) >> (64 - zeros))
    };
    let exponent = lowest + 64 * place as i32 + 63 - zeros as i32 - 127;
    let odd = exponent.rem_euclid(2);
    let below = (word(2) << zeros) as u64 != 0
        || words[..place.saturating_sub(2)].iter().any(|&w| w != 0)
        || (odd == 1 && high & 1 == 1);
    let high = high >> odd;
    let exponent = exponent + odd;
    let root = high.isqrt();
    Head::of_u128(root, exponent / 2, below || root * root != high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_round_trip_through_integers() {
        for value in [
            1.0,
            1.5,
            3.0,
            5e-324,
            f64::MIN_POSITIVE,
            f64::MAX,
            0.1,
            4.9e-322,
        ] {
            let bits = value.to_bits();
            let field = (bits >> 52) as i32;
            let fraction = bits & ((1 << 52) - 1) | if field == 0 { 0 } else { 1 << 52 };
            let lowest = field.max(1) - 1075;
            for rounding in [
                Rounding::NearestEven,
                Rounding::Up,
                Rounding::Down,
                Rounding::TowardZero,
            ] {
                let head = Head::of_u128(fraction.into(), lowest, false).expect("not zero");
                assert_eq!(head.to_f64(false, rounding), value);
                assert_eq!(head.to_f64(true, rounding), -value);
                let head = Head::of_words(&[fraction, 0, 0], lowest, false).expect("not zero");
                assert_eq!(head.to_f64(false, rounding), value);
            }
        }
    }

    #[test]
    fn ties_and_their_neighbours_round_as_ieee_754_says() {
        let near = |value: u128, sticky| {
            let head = Head::of_u128(value, 0, sticky).expect("not zero");
            head.to_f64(false, Rounding::NearestEven)
        };
        let one = 1u128 << 53;
        assert_eq!(near(one + 1, false), one as f64);
        assert_eq!(near(one + 1, true), (one + 2) as f64);
        assert_eq!(near(one + 3, false), (one + 4) as f64);
        let tiny = |exponent, sticky, rounding| {
            let head = Head::of_u128(1, exponent, sticky).expect("not zero");
            head.to_f64(false, rounding)
        };
        assert_eq!(tiny(-1075, false, Rounding::NearestEven), 0.0);
        assert_eq!(tiny(-1075, true, Rounding::NearestEven), 5e-324);
        assert_eq!(tiny(-1076, true, Rounding::NearestEven), 0.0);
        assert_eq!(tiny(-2000, false, Rounding::Up), 5e-324);
        assert_eq!(tiny(-2000, false, Rounding::Down), 0.0);
        assert_eq!(tiny(1024, false, Rounding::NearestEven), f64::INFINITY);
        assert_eq!(tiny(1024, false, Rounding::Down), f64::MAX);
    }

    #[test]
    fn the_end_of_the_range_rounds_as_ieee_says() {
        let half_beyond = (1u128 << 54) - 1;
        let head = Head::of_u128(half_beyond, 970, false).expect("not zero");
        assert_eq!(head.to_f64(false, Rounding::NearestEven), f64::INFINITY);
        assert_eq!(head.to_f64(false, Rounding::TowardZero), f64::MAX);
        assert_eq!(head.to_f64(true, Rounding::Up), f64::MIN);
        assert_eq!(head.to_f64(true, Rounding::Down), f64::NEG_INFINITY);
        let head = Head::of_u128(half_beyond - 1, 970, true).expect("not zero");
        assert_eq!(head.to_f64(false, Rounding::NearestEven), f64::MAX);
        let single = Head::of_u128((1 << 25) - 1, 103, false).expect("not zero");
        assert_eq!(single.to_f32(false, Rounding::NearestEven), f32::INFINITY);
        assert_eq!(single.to_f32(true, Rounding::TowardZero), f32::MIN);
        let single = Head::of_u128(3, -150, false).expect("not zero");
        assert_eq!(single.to_f32(false, Rounding::NearestEven).to_bits(), 2);
    }

    #[test]
    fn square_roots_of_squares_are_exact() {
        for root in [1u64, 3, (1 << 53) - 1, 0x1234_5678_9abc] {
            let square = u128::from(root) * u128::from(root);
            let words = [0, square as u64, (square >> 64) as u64, 0];
            let head = square_root_head(&words, -128).expect("not zero");
            assert_eq!(
                head.to_f64(false, Rounding::NearestEven),
                root as f64 * 2f64.powi(-32)
            );
            assert!(!head.sticky);
            assert!(
                square_root_head(&[1, square as u64], 0)
                    .expect("not zero")
                    .sticky
                    || root == 1
            );
        }
    }
}
