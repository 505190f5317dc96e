//! Numbers of double precision as words of few digits, and an exponent for the part of a line that a message has.
//!
//! An axis whose lines have one pass rounds a line's numbers to multiples of one unit, which it chooses by the line's largest column sum (section 5 of
//! docs/numerics.md). It uses three things of a line's numbers: every one of them to half a unit; in the sums, every magnitude in units of 2^-21 of the power of two above the
//! line's largest number, rounded down; and which are zero, or not finite. A part of a line has no larger numbers than the line, so the unit of its own largest number is no coarser than
//! any of these: in that unit, with two more bits, *rounded to odd* (cut off, and the last bit set if anything was lost), a number gives the axis what
//! it would have given itself. With words of `8p - 3` bits that is `p` bytes: a sign, and `8p - 1` bits below the power of two above the part's largest number. No rank need know the exponent
//! of a line, and nothing is rounded that is not rounded anyway.
//!
//! Lines of several passes quantise every column for itself, and half-spectra to reals ignore some imaginary parts: for them there are `short_numbers.rs`.

/// Bits of a double after the leading one.
const FRACTION: u32 = 52;
const INFINITY: u64 = 0x7ff << FRACTION;
/// The exponent of a part that has a number that is not finite; the whole line becomes NaN.
const NOT_FINITE: i16 = i16::MIN;
/// Bytes of an exponent.
const EXPONENT_BYTES: usize = 2;

/// Words of so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuantisedWords {
    bytes: usize,
}

/// How the elements of a block are divided into lines: along a dimension of so many indices, with so many elements for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinesOfBlock {
    pub(crate) along: usize,
    pub(crate) inner: usize,
}

impl LinesOfBlock {
    /// Along a dimension of a block.
    pub(crate) fn new(shape: &[usize], dimension: usize) -> LinesOfBlock {
        LinesOfBlock {
            along: shape[dimension],
            inner: shape[dimension + 1..].iter().product(),
        }
    }

    /// Calls `visit` with elements of a run that are of neighbouring lines, or all of one line: the first line, where they begin in the run, and how many there are.
    fn for_each_part(
        self,
        (first, len): (usize, usize),
        mut visit: impl FnMut(usize, std::ops::Range<usize>),
    ) {
        // Elements side by side are of one line where nothing lies within the dimension, else of neighbouring lines.
        let together = if self.inner == 1 {
            self.along
        } else {
            self.inner
        };
        let mut done = 0;
        while done < len {
            let at = first + done;
            let part = (together - at % together).min(len - done);
            let outer = at / (self.along * self.inner);
            visit(outer * self.inner + at % self.inner, done..done + part);
            done += part;
        }
    }
}

impl QuantisedWords {
    /// For an axis whose words have so many bits; none where eight bytes are needed.
    pub(crate) fn for_words_of(word_bits: u32) -> Option<QuantisedWords> {
        // A sign, two bits below the unit, and in any case one below that of the sums.
        let bits = (1 + word_bits + 2).max(1 + 22);
        let bytes = bits.div_ceil(8) as usize;
        (bytes < 8).then_some(QuantisedWords { bytes })
    }

    /// Bytes of a real number.
    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }

    /// Complex numbers that have room for the exponents of so many lines.
    pub(crate) fn elements_for_exponents(self, lines: usize) -> usize {
        (EXPONENT_BYTES * lines).div_ceil(2 * self.bytes)
    }

    /// Makes the largest magnitudes of lines, as bits, those of this run too; elements are complex.
    pub(crate) fn find_largest(
        lines: LinesOfBlock,
        (first, numbers): (usize, &[[u64; 2]]),
        largest: &mut [u64],
    ) {
        let magnitude = |[re, im]: &[u64; 2]| (re << 1 >> 1).max(im << 1 >> 1);
        lines.for_each_part((first, numbers.len()), |line, part| {
            let numbers = &numbers[part];
            match lines.inner {
                1 => {
                    let found = numbers.iter().map(magnitude).max().unwrap_or(0);
                    largest[line] = largest[line].max(found);
                }
                _ => {
                    for (largest, number) in largest[line..].iter_mut().zip(numbers) {
                        *largest = (*largest).max(magnitude(number));
                    }
                }
            }
        });
    }

    /// The exponents of lines by their largest magnitudes, which they take the place of, to so many bytes.
    pub(crate) fn write_exponents(self, largest: &mut [u64], packed: &mut [u8]) {
        packed.fill(0);
        let (places, _) = packed.as_chunks_mut::<EXPONENT_BYTES>();
        for (largest, place) in largest.iter_mut().zip(places) {
            let exponent = match *largest {
                INFINITY.. => NOT_FINITE,
                0 => 0,
                bits => {
                    let (magnitude, exponent) = decoded(bits);
                    (exponent + 64 - magnitude.leading_zeros() as i32) as i16
                }
            };
            *place = exponent.to_le_bytes();
            *largest = exponent as u64;
        }
    }

    /// Reads them.
    pub(crate) fn read_exponents(self, packed: &[u8], lines: usize) -> Vec<i16> {
        let (places, _) = packed.as_chunks::<EXPONENT_BYTES>();
        let places = places[..lines].iter();
        places.map(|place| i16::from_le_bytes(*place)).collect()
    }

    /// Writes a run of numbers under the exponents of their lines, as [`QuantisedWords::write_exponents`] has left them.
    pub(crate) fn quantise(
        self,
        lines: LinesOfBlock,
        run: (usize, &[[u64; 2]]),
        exponents: &[u64],
        packed: &mut [u8],
    ) {
        match self.bytes {
            3 => quantise::<3>(lines, run, exponents, packed),
            4 => quantise::<4>(lines, run, exponents, packed),
            5 => quantise::<5>(lines, run, exponents, packed),
            6 => quantise::<6>(lines, run, exponents, packed),
            _ => quantise::<7>(lines, run, exponents, packed),
        }
    }

    /// Reads them again.
    pub(crate) fn restore(
        self,
        lines: LinesOfBlock,
        run: (usize, &mut [[u64; 2]]),
        exponents: &[i16],
        packed: &[u8],
    ) {
        match self.bytes {
            3 => restore::<3>(lines, run, exponents, packed),
            4 => restore::<4>(lines, run, exponents, packed),
            5 => restore::<5>(lines, run, exponents, packed),
            6 => restore::<6>(lines, run, exponents, packed),
            _ => restore::<7>(lines, run, exponents, packed),
        }
    }
}

// The compiler knows the number of bytes: most of the time of an exchange within a machine is spent here.

fn quantise<const BYTES: usize>(
    lines: LinesOfBlock,
    (first, numbers): (usize, &[[u64; 2]]),
    exponents: &[u64],
    packed: &mut [u8],
) {
    let (places, _) = packed.as_chunks_mut::<BYTES>();
    let (places, _) = places.as_chunks_mut::<2>();
    let step = usize::from(lines.inner > 1);
    lines.for_each_part((first, numbers.len()), |line, part| {
        let pairs = numbers[part.clone()].iter().zip(&mut places[part]);
        for (place, (number, word)) in pairs.enumerate() {
            let exponent = exponents[line + step * place] as i16;
            for (bits, word) in number.iter().zip(word) {
                let found = word_of(*bits, exponent, 8 * BYTES as i32 - 1).to_le_bytes();
                word.copy_from_slice(&found[..BYTES]);
            }
        }
    });
}

fn restore<const BYTES: usize>(
    lines: LinesOfBlock,
    (first, numbers): (usize, &mut [[u64; 2]]),
    exponents: &[i16],
    packed: &[u8],
) {
    let (places, _) = packed.as_chunks::<BYTES>();
    let (places, _) = places.as_chunks::<2>();
    let step = usize::from(lines.inner > 1);
    lines.for_each_part((first, numbers.len()), |line, part| {
        let pairs = numbers[part.clone()].iter_mut().zip(&places[part]);
        for (place, (number, word)) in pairs.enumerate() {
            let exponent = exponents[line + step * place];
            for (bits, word) in number.iter_mut().zip(word) {
                let mut bytes = [0; 8];
                bytes[..BYTES].copy_from_slice(word);
                *bits = number_of(u64::from_le_bytes(bytes), exponent, 8 * BYTES as i32 - 1);
            }
        }
    });
}

/// Magnitude and exponent of a finite number, given by its bits.
#[inline(always)]
fn decoded(bits: u64) -> (u64, i32) {
    let field = (bits >> FRACTION & 0x7ff) as i32;
    let hidden = u64::from(field != 0) << FRACTION;
    (bits & ((1 << FRACTION) - 1) | hidden, field.max(1) - 1075)
}

/// A number in so many bits below 2^exponent, rounded to odd, and its sign above them.
#[inline(always)]
fn word_of(bits: u64, exponent: i16, kept: i32) -> u64 {
    let (magnitude, own) = decoded(bits);
    let sign = bits >> 63 << kept;
    // What is below the last bit that is kept.
    let below = i32::from(exponent) - kept - own;
    let word = match below {
        // No number is larger than its line's exponent, so nothing is lost above.
        i32::MIN..=0 => magnitude << (-below).min(63),
        1..64 => magnitude >> below | u64::from(magnitude & ((1 << below) - 1) != 0),
        _ => u64::from(magnitude != 0),
    };
    sign | word & ((1 << kept) - 1)
}

/// The number of a word; none needs more bits than a double has, because none had more.
#[inline(always)]
fn number_of(word: u64, exponent: i16, kept: i32) -> u64 {
    if exponent == NOT_FINITE {
        return f64::NAN.to_bits();
    }
    let (sign, magnitude) = (word >> kept << 63, word & ((1 << kept) - 1));
    if magnitude == 0 {
        return 0;
    }
    let unit = i32::from(exponent) - kept;
    let top = 63 - magnitude.leading_zeros() as i32;
    let field = unit + top + 1023;
    let shifted = |left: i32| match left {
        0.. => magnitude << left,
        _ => magnitude >> -left,
    };
    sign | match field {
        1.. => (field as u64) << FRACTION | shifted(52 - top) & ((1 << FRACTION) - 1),
        _ => shifted(unit + 1074),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::inputs::Generator;

    /// A magnitude in units of 2^unit: rounded down, and twice the number rounded to nearest with halves told apart from what is next to them.
    fn in_units(bits: u64, unit: i32) -> (u128, u128) {
        let (magnitude, exponent) = decoded(bits);
        let magnitude = u128::from(magnitude);
        match unit - exponent {
            left @ ..=0 => (magnitude << -left, magnitude << (2 - left)),
            // Whole units, half a unit, and whether there is more.
            right @ 1..=100 => {
                let rest = magnitude & ((1 << right) - 1);
                let half = 1u128 << (right - 1);
                let place = u128::from(rest >= half) * 2 + u128::from(rest != 0 && rest != half);
                (magnitude >> right, magnitude >> right << 2 | place)
            }
            _ => (0, u128::from(magnitude != 0)),
        }
    }

    fn random_number(source: &mut Generator, around: i32) -> f64 {
        let field = match source.below(8) {
            0 => return 0.0,
            1 => 0,
            2 => (around - 40).max(0) as usize + source.below(40),
            _ => (around - 3).max(0) as usize + source.below(4),
        };
        let random = (source.below(1 << 26) as u64) << 26 | source.below(1 << 26) as u64;
        let low = (1u64 << source.below(53)) - 1;
        let fraction = match source.below(4) {
            0 => random,
            1 => random & !low,
            2 => random | low,
            _ => random & !low | low & (low >> 1) ^ low,
        } & ((1 << 52) - 1);
        let sign = (source.below(2) as u64) << 63;
        f64::from_bits(sign | (field.min(0x7fe) as u64) << 52 | fraction)
    }

    #[test]
    fn words_and_sums_of_any_line_around_a_part_stay_the_same() {
        let seed = 0x9a17;
        let mut source = Generator::new(seed);
        for (word_bits, bytes) in [(13, 3), (21, 3), (29, 4), (37, 5), (45, 6), (53, 7)] {
            let words = QuantisedWords::for_words_of(word_bits).expect("fewer bytes");
            assert_eq!(words.bytes(), bytes);
            for case in 0..4000 {
                let shape = [
                    1 + source.below(3),
                    1 + source.below(4),
                    1 + source.below(3),
                ];
                let dimension = source.below(3);
                let lines = LinesOfBlock::new(&shape, dimension);
                let len = shape.iter().product::<usize>();
                let around = [source.below(0x7ff) as i32, 3, 1020][source.below(3)];
                let draw = |_| [0; 2].map(|_: u64| random_number(&mut source, around).to_bits());
                let numbers: Vec<[u64; 2]> = (0..len).map(draw).collect();
                let count = len / shape[dimension];
                let mut largest = vec![0; count];
                // In two runs.
                let cut = source.below(len + 1);
                for run in [0..cut, cut..len] {
                    let run = (run.start, &numbers[run]);
                    QuantisedWords::find_largest(lines, run, &mut largest);
                }
                let line_of = |place: usize| {
                    place / (lines.inner * lines.along) * lines.inner + place % lines.inner
                };
                for (line, &found) in largest.iter().enumerate() {
                    let own = (0..len).filter(|&place| line_of(place) == line);
                    let expected = own
                        .flat_map(|place| numbers[place])
                        .map(|bits| bits << 1 >> 1);
                    assert_eq!(Some(found), expected.max(), "seed {seed:#x} case {case}");
                }
                let tops = largest.clone();
                let mut header = vec![0xa5; 2 * bytes * words.elements_for_exponents(count)];
                words.write_exponents(&mut largest, &mut header);
                let mut packed = vec![0xa5; 2 * bytes * len];
                for run in [0..cut, cut..len] {
                    let to = &mut packed[2 * bytes * run.start..2 * bytes * run.end];
                    words.quantise(lines, (run.start, &numbers[run]), &largest, to);
                }
                let exponents = words.read_exponents(&header, count);
                let mut found = vec![[1; 2]; len];
                words.restore(lines, (0, &mut found), &exponents, &packed);
                for (place, (number, found)) in numbers.iter().zip(&found).enumerate() {
                    let (magnitude, exponent) = decoded(tops[line_of(place)]);
                    let top = exponent + 64 - magnitude.leading_zeros() as i32;
                    for (&number, &found) in number.iter().zip(found) {
                        let about = format!("seed {seed:#x} case {case}: {number:x} {found:x}");
                        assert_eq!(number << 1 == 0, found == 0, "{about}");
                        assert!(found == 0 || number >> 63 == found >> 63, "{about}");
                        // The line's exponent is that of the part's largest number, or above it.
                        for larger in [0, 1, 5, source.below(80) as i32] {
                            let sums = top + larger - 21;
                            assert_eq!(
                                in_units(number, sums).0,
                                in_units(found, sums).0,
                                "{about}"
                            );
                            let unit = top + larger - word_bits as i32;
                            assert_eq!(
                                in_units(number, unit).1,
                                in_units(found, unit).1,
                                "{about}"
                            );
                        }
                        // What is largest has its leading bit.
                        if number << 1 >> 1 == tops[line_of(place)] && found != 0 {
                            let (magnitude, exponent) = decoded(found << 1 >> 1);
                            assert_eq!(exponent + 64 - magnitude.leading_zeros() as i32, top);
                        }
                    }
                }
            }
        }
        assert_eq!(QuantisedWords::for_words_of(61), None);
    }

    #[test]
    fn a_number_that_is_not_finite_is_one_of_its_line_alone() {
        let words = QuantisedWords::for_words_of(37).expect("fewer bytes");
        // Two lines of two numbers, across.
        let lines = LinesOfBlock::new(&[2, 2], 0);
        for odd in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let numbers = [[1.0, 2.0], [3.0, 4.0], [odd, 6.0], [7.0, -8.0]];
            let numbers = numbers.map(|number| number.map(f64::to_bits));
            let mut largest = [0; 2];
            QuantisedWords::find_largest(lines, (0, &numbers), &mut largest);
            let mut header = [0; 10];
            words.write_exponents(&mut largest, &mut header);
            let mut packed = [0; 40];
            words.quantise(lines, (0, &numbers), &largest, &mut packed);
            let mut found = [[0; 2]; 4];
            words.restore(
                lines,
                (0, &mut found),
                &words.read_exponents(&header, 2),
                &packed,
            );
            let found = found.map(|number| number.map(f64::from_bits));
            assert!(
                [found[0], found[2]]
                    .as_flattened()
                    .iter()
                    .all(|x| x.is_nan())
            );
            assert_eq!([found[1], found[3]], [[3.0, 4.0], [7.0, -8.0]]);
        }
    }
}
