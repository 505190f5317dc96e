//! Numbers of double precision in fewer bytes, where the axis that reads them rounds them to words of few digits anyway.
//!
//! An axis uses three things of a number: its bits down to half a unit of the line's words, of which there are at most `word_bits + 1`; its
//! leading 21 bits, rounded up (section 5 of docs/numerics.md); and whether it is zero, or finite. All of them are the same for the number *rounded to odd*: cut off after
//! enough bits, and its last bit set if anything was lost. So bits do not change, and no rank need know the exponent of a line that is spread over ranks.
//!
//! A number is a sign, an exponent of 12 bits (subnormal numbers are normalised), and the bits after the leading one.

/// Bits of sign and exponent.
const HEAD: u32 = 13;
/// Added to the exponent field of a normalised number, which is -51 or more.
const BIAS: i64 = 64;
/// The exponent of what is not finite.
const NOT_FINITE: u64 = (1 << (HEAD - 1)) - 1;
/// Bits of a double after the leading one.
const FRACTION: u32 = 52;
/// Leading bits that enter the sums of columns, one that says whether there are more, and one to spare.
const LEAST_BITS: u32 = 23;

/// So many bytes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortNumbers {
    bytes: usize,
}

impl ShortNumbers {
    /// For an axis whose words have so many bits; none where eight bytes are needed.
    pub(crate) fn for_words_of(word_bits: u32) -> Option<ShortNumbers> {
        // Down to half a unit, and the bit that says whether there are more; one of them is the leading one.
        let bits = HEAD + (word_bits + 2).max(LEAST_BITS) - 1;
        let bytes = bits.div_ceil(8) as usize;
        (bytes < 8).then_some(ShortNumbers { bytes })
    }

    /// Bytes of a number.
    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }

    /// Writes numbers, given by their bits, to so many bytes each.
    pub(crate) fn shorten(self, numbers: &[u64], packed: &mut [u8]) {
        match self.bytes {
            5 => shorten::<5>(numbers, packed),
            6 => shorten::<6>(numbers, packed),
            _ => shorten::<7>(numbers, packed),
        }
    }

    /// Reads them again.
    pub(crate) fn lengthen(self, packed: &[u8], numbers: &mut [u64]) {
        match self.bytes {
            5 => lengthen::<5>(packed, numbers),
            6 => lengthen::<6>(packed, numbers),
            _ => lengthen::<7>(packed, numbers),
        }
    }
}

// The compiler knows the number of bytes: most of the time of an exchange within a machine would be spent here.

fn shorten<const BYTES: usize>(numbers: &[u64], packed: &mut [u8]) {
    let (places, _) = packed.as_chunks_mut::<BYTES>();
    for (number, place) in numbers.iter().zip(places) {
        let bytes = short(*number, 8 * BYTES as u32 - HEAD).to_le_bytes();
        place.copy_from_slice(&bytes[..BYTES]);
    }
}

fn lengthen<const BYTES: usize>(packed: &[u8], numbers: &mut [u64]) {
    let (places, _) = packed.as_chunks::<BYTES>();
    for (number, place) in numbers.iter_mut().zip(places) {
        let mut bytes = [0; 8];
        bytes[..BYTES].copy_from_slice(place);
        *number = long(u64::from_le_bytes(bytes), 8 * BYTES as u32 - HEAD);
    }
}

/// A number with so many bits after the leading one.
#[inline(always)]
fn short(bits: u64, kept: u32) -> u64 {
    let field = bits >> FRACTION & 0x7ff;
    match field {
        1..=0x7fe => rounded_to_odd(bits, field as i64, bits & ((1 << FRACTION) - 1), kept),
        _ => short_and_unusual(bits, kept),
    }
}

/// The sign is that of `bits`.
#[inline(always)]
fn rounded_to_odd(bits: u64, exponent: i64, fraction: u64, kept: u32) -> u64 {
    let cut = FRACTION - kept;
    let lost = u64::from(fraction & ((1 << cut) - 1) != 0);
    let head = (bits >> 63) << (HEAD - 1) | (exponent + BIAS) as u64;
    head << kept | fraction >> cut | lost
}

/// Zeros, subnormal numbers and what is not finite.
#[cold]
fn short_and_unusual(bits: u64, kept: u32) -> u64 {
    let magnitude = bits & (u64::MAX >> 1);
    if magnitude == 0 {
        return 0;
    }
    if magnitude >> FRACTION != 0 {
        return NOT_FINITE << kept;
    }
    let shift = magnitude.leading_zeros() - (63 - FRACTION);
    let fraction = magnitude << shift & ((1 << FRACTION) - 1);
    rounded_to_odd(bits, 1 - i64::from(shift), fraction, kept)
}

#[inline(always)]
fn long(short: u64, kept: u32) -> u64 {
    let sign = short >> (kept + HEAD - 1) << 63;
    let exponent = short >> kept & NOT_FINITE;
    let fraction = (short & ((1 << kept) - 1)) << (FRACTION - kept);
    match exponent as i64 - BIAS {
        field @ 1..=0x7fe => sign | (field as u64) << FRACTION | fraction,
        _ if exponent == 0 => 0,
        _ if exponent == NOT_FINITE => f64::NAN.to_bits(),
        // A subnormal number has as many zeros at its end: they were there, or bits that were cut off.
        field => sign | (1 << FRACTION | fraction) >> (1 - field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::inputs::Generator;

    fn there_and_back(short: ShortNumbers, number: f64) -> f64 {
        let mut packed = vec![0xa5; short.bytes()];
        short.shorten(&[number.to_bits()], &mut packed);
        let mut found = [1];
        short.lengthen(&packed, &mut found);
        f64::from_bits(found[0])
    }

    /// Magnitude and exponent, without a leading bit that is implied.
    fn decoded(number: f64) -> (u128, i32) {
        let bits = number.abs().to_bits();
        match bits >> 52 {
            0 => (u128::from(bits), -1074),
            field => (
                u128::from(bits & ((1 << 52) - 1) | 1 << 52),
                field as i32 - 1075,
            ),
        }
    }

    /// A multiple of 2^unit: rounded to nearest with halves away from zero, and rounded up.
    fn in_units(number: f64, unit: i32) -> (u128, u128) {
        let (magnitude, exponent) = decoded(number);
        let shift = unit - exponent;
        match shift {
            i32::MIN..=0 => (magnitude << -shift, magnitude << -shift),
            1..=100 => (
                (magnitude + (1 << (shift - 1))) >> shift,
                (magnitude + (1 << shift) - 1) >> shift,
            ),
            _ => (0, u128::from(magnitude != 0)),
        }
    }

    #[test]
    fn words_and_leading_bits_of_a_number_stay_the_same() {
        let seed = 0x0dd;
        let mut source = Generator::new(seed);
        let sizes = [(13, 5), (21, 5), (29, 6), (37, 7)];
        assert_eq!(ShortNumbers::for_words_of(45), None);
        for (word_bits, bytes) in sizes {
            let short = ShortNumbers::for_words_of(word_bits).expect("fewer bytes");
            assert_eq!(short.bytes(), bytes);
            for case in 0..200_000 {
                let field = match source.below(4) {
                    0 => 0,
                    1 => source.below(0x7ff),
                    2 => source.below(60),
                    _ => 1000 + source.below(50),
                };
                // Some end in zeros, ones, or a single bit.
                let random = (source.below(1 << 26) as u64) << 26 | source.below(1 << 26) as u64;
                let low = (1u64 << source.below(53)) - 1;
                let fraction = match source.below(4) {
                    0 => random,
                    1 => random & !low,
                    2 => random | low,
                    _ => random & !low | low & (low >> 1) ^ low,
                } & ((1 << 52) - 1);
                let sign = (source.below(2) as u64) << 63;
                let number = f64::from_bits(sign | (field as u64) << 52 | fraction);
                let found = there_and_back(short, number);
                let about = || format!("seed {seed:#x} case {case}: {number:e} -> {found:e}");
                assert_eq!(number == 0.0, found == 0.0, "{}", about());
                if number == 0.0 {
                    continue;
                }
                assert_eq!(number.is_sign_negative(), found.is_sign_negative());
                // The bit above its leading one; a line's sum is at least as large.
                let (magnitude, exponent) = decoded(number);
                let top = exponent + 128 - magnitude.leading_zeros() as i32;
                let (other, other_exponent) = decoded(found);
                assert_eq!(top, other_exponent + 128 - other.leading_zeros() as i32);
                for larger in [0, 1, 5, source.below(80) as i32] {
                    let unit = top + larger - word_bits as i32;
                    let rounded = (in_units(number, unit).0, in_units(found, unit).0);
                    assert_eq!(rounded.0, rounded.1, "{}", about());
                    let sums = top + larger - 21;
                    let raised = (in_units(number, sums).1, in_units(found, sums).1);
                    assert_eq!(raised.0, raised.1, "{}", about());
                }
            }
            for number in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(there_and_back(short, number).is_nan());
            }
            for number in [
                f64::from_bits(1),
                -f64::from_bits(1),
                1.0,
                -2.5,
                f64::MIN_POSITIVE,
            ] {
                assert_eq!(there_and_back(short, number).to_bits(), number.to_bits());
            }
        }
    }
}
