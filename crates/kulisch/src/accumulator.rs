//! The full-range accumulator: a fixed-point number that holds every sum of doubles and of products of doubles exactly.

use crate::parts::{EXPONENT_MASK, FRACTION_BITS, signed_parts};
use crate::rounding::{Head, Rounding, square_root_head};

/// Exponent of the accumulator's lowest bit: the product of the two smallest doubles.
pub(crate) const LOWEST: i32 = -2148;
/// Bits that a limb carries; its other 32 take the carries of many additions.
const LIMB_BITS: u32 = 32;
/// Up to 2^64 products below 2^2048, and a limb for the sign: 4260 bits.
const LIMBS: usize = 136;
/// Words of the magnitude when it is read.
pub(crate) const WORDS: usize = LIMBS / 2;
/// Deposits until carries must be resolved: each adds less than 2^32 to a limb that began below 2^32.
const MOST_PENDING: u32 = 1 << 30;

/// An exact sum of doubles, floats and products of them.
///
/// Nothing is rounded, lost or overflows while terms are added, in whatever order: the result is rounded once, when it is
/// read. More than 2^64 terms are not provided for.
///
/// * A NaN among the terms, infinities of both signs, or a product of zero and infinity make the result NaN (always the
///   same one, `f64::NAN`). Otherwise an infinity among the terms is the result.
/// * A finite sum that rounds to more than the largest number reads as infinity, but only on reading: `f64::MAX` three times
///   and `-f64::MAX` twice is `f64::MAX`.
/// * A sum of zero is `+0`, unless there are terms and all of them are `-0`: then it is `-0`.
///
/// ```
/// use kulisch::Accumulator;
///
/// let mut total = Accumulator::new();
/// for term in [1e300, 1.0, -1e300, 5e-324] {
///     total.add(term);
/// }
/// total.add_product(1e200, -1e200);
/// total.add_product(1e200, 1e200);
/// assert_eq!(total.round(), 1.0);
/// assert_eq!(total.round_to(kulisch::Rounding::Up), 1.0 + f64::EPSILON);
/// ```
#[derive(Debug, Clone)]
pub struct Accumulator {
    /// Limb k weighs 2^(LOWEST + 32 k). Those below `low` and above `high` are zero.
    limbs: [i64; LIMBS],
    low: usize,
    high: usize,
    /// Deposits since carries were resolved.
    pending: u32,
    found: Found,
}

/// What cannot be seen from the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Found {
    pub not_a_number: bool,
    pub positive_infinity: bool,
    pub negative_infinity: bool,
    /// There was a term.
    pub any: bool,
    /// There was a term other than -0.
    pub any_but_negative_zero: bool,
}

impl Found {
    /// Notes a term that is NaN or infinite.
    pub fn note_not_finite(&mut self, term: f64) {
        self.not_a_number |= term.is_nan();
        self.positive_infinity |= term == f64::INFINITY;
        self.negative_infinity |= term == f64::NEG_INFINITY;
        self.note_number();
    }

    /// Notes a term that is not -0.
    pub fn note_number(&mut self) {
        self.any = true;
        self.any_but_negative_zero = true;
    }

    fn merge(&mut self, other: Found) {
        self.not_a_number |= other.not_a_number;
        self.positive_infinity |= other.positive_infinity;
        self.negative_infinity |= other.negative_infinity;
        self.any |= other.any;
        self.any_but_negative_zero |= other.any_but_negative_zero;
    }

    /// NaN or an infinity, where that is the result.
    fn not_finite(self) -> Option<f64> {
        match (self.positive_infinity, self.negative_infinity) {
            _ if self.not_a_number => Some(f64::NAN),
            (true, true) => Some(f64::NAN),
            (true, false) => Some(f64::INFINITY),
            (false, true) => Some(f64::NEG_INFINITY),
            (false, false) => None,
        }
    }

    /// The zero that a sum of zero is.
    fn zero(self) -> f64 {
        if self.any && !self.any_but_negative_zero {
            -0.0
        } else {
            0.0
        }
    }
}

impl Default for Accumulator {
    fn default() -> Accumulator {
        Accumulator::new()
    }
}

impl Accumulator {
    /// An empty sum.
    pub const fn new() -> Accumulator {
        Accumulator {
            limbs: [0; LIMBS],
            low: LIMBS,
            high: 0,
            pending: 0,
            found: Found {
                not_a_number: false,
                positive_infinity: false,
                negative_infinity: false,
                any: false,
                any_but_negative_zero: false,
            },
        }
    }

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, term: f64) {
        if term.to_bits() & EXPONENT_MASK == EXPONENT_MASK {
            self.found.note_not_finite(term);
            return;
        }
        self.found.any = true;
        self.found.any_but_negative_zero |= term.to_bits() != (-0.0f64).to_bits();
        let (fraction, exponent) = signed_parts(term);
        self.deposit(fraction, exponent);
    }

    /// Subtracts a number: adds its negative.
    #[inline]
    pub fn subtract(&mut self, term: f64) {
        self.add(-term);
    }

    /// Adds the exact product of two numbers.
    #[inline]
    pub fn add_product(&mut self, left: f64, right: f64) {
        let not_finite = |x: f64| x.to_bits() & EXPONENT_MASK == EXPONENT_MASK;
        if not_finite(left) || not_finite(right) {
            // Infinity times zero is NaN, and signs are multiplied: the processor knows the rules.
            let scaled = |x: f64| {
                if not_finite(x) || x == 0.0 {
                    x
                } else {
                    1f64.copysign(x)
                }
            };
            self.found.note_not_finite(scaled(left) * scaled(right));
            return;
        }
        let ((a, a_exponent), (b, b_exponent)) = (signed_parts(left), signed_parts(right));
        self.found.any = true;
        let negative = left.is_sign_negative() != right.is_sign_negative();
        self.found.any_but_negative_zero |= !(negative && (a == 0 || b == 0));
        self.deposit_wide(i128::from(a) * i128::from(b), a_exponent + b_exponent);
    }

    /// Subtracts the exact product of two numbers.
    #[inline]
    pub fn subtract_product(&mut self, left: f64, right: f64) {
        self.add_product(-left, right);
    }

    /// Adds what another accumulator holds.
    pub fn merge(&mut self, other: &Accumulator) {
        self.found.merge(other.found);
        if other.low > other.high {
            return;
        }
        if self.pending > MOST_PENDING / 2 {
            self.resolve();
        }
        let mut other = other.clone();
        if other.pending > MOST_PENDING / 2 - 1 {
            other.resolve();
        }
        for place in other.low..=other.high {
            self.limbs[place] += other.limbs[place];
        }
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        // The other's limbs are as large as its deposits have made them, and one more if carries were resolved before.
        self.pending += other.pending + 1;
    }

    /// Changes the sign of the sum.
    pub fn negate(&mut self) {
        self.limbs.iter_mut().for_each(|limb| *limb = -*limb);
        let found = &mut self.found;
        core::mem::swap(&mut found.positive_infinity, &mut found.negative_infinity);
        // The terms' zeros change their sign: a sum of -0 alone becomes one of +0, which is remembered; the other way
        // round there is nothing to go by, and the sum stays +0.
        found.any_but_negative_zero = found.any;
    }

    /// Whether all terms were finite.
    pub fn is_finite(&self) -> bool {
        self.found.not_finite().is_none()
    }

    /// Whether the sum is exactly zero.
    pub fn is_zero(&self) -> bool {
        self.is_finite() && self.magnitude().words.iter().all(|&word| word == 0)
    }

    /// The sum, rounded to the nearest double.
    pub fn round(&self) -> f64 {
        self.round_to(Rounding::NearestEven)
    }

    /// The sum, rounded as `rounding` says.
    pub fn round_to(&self, rounding: Rounding) -> f64 {
        if let Some(value) = self.found.not_finite() {
            return value;
        }
        let magnitude = self.magnitude();
        match magnitude.head() {
            Some(head) => head.to_f64(magnitude.negative, rounding),
            None => self.found.zero(),
        }
    }

    /// The sum, rounded to the nearest float, and only once.
    pub fn round_f32(&self) -> f32 {
        self.round_f32_to(Rounding::NearestEven)
    }

    /// The sum, rounded to a float as `rounding` says.
    pub fn round_f32_to(&self, rounding: Rounding) -> f32 {
        if let Some(value) = self.found.not_finite() {
            return value as f32;
        }
        let magnitude = self.magnitude();
        match magnitude.head() {
            Some(head) => head.to_f32(magnitude.negative, rounding),
            None => self.found.zero() as f32,
        }
    }

    /// The square root of the exact sum, rounded to the nearest double: NaN for negative sums.
    pub fn square_root(&self) -> f64 {
        if let Some(value) = self.found.not_finite() {
            return if value > 0.0 { value } else { f64::NAN };
        }
        let magnitude = self.magnitude();
        match square_root_head(&magnitude.words, LOWEST) {
            Some(_) if magnitude.negative => f64::NAN,
            Some(head) => head.to_f64(false, Rounding::NearestEven),
            None => self.found.zero(),
        }
    }

    /// The exact sum divided by a count, rounded to the nearest double once. NaN for a count of zero.
    pub fn divided_by(&self, count: u64) -> f64 {
        if count == 0 {
            return f64::NAN;
        }
        if let Some(value) = self.found.not_finite() {
            return value;
        }
        let mut magnitude = self.magnitude();
        let rest = divide(&mut magnitude.words, count);
        match Head::of_words(&magnitude.words, LOWEST, rest != 0) {
            Some(head) => head.to_f64(magnitude.negative, Rounding::NearestEven),
            // The lowest bit is far below the smallest double.
            None => 0f64.copysign(if magnitude.negative {
                -1.0
            } else {
                self.found.zero()
            }),
        }
    }

    /// The highest bits of the magnitude, of finite terms; nothing for a sum of zero.
    pub(crate) fn head(&self) -> Option<Head> {
        self.magnitude().head()
    }

    /// Adds `value · 2^exponent`.
    #[inline]
    pub(crate) fn deposit(&mut self, value: i64, exponent: i32) {
        let position = (exponent - LOWEST) as u32;
        let place = (position / LIMB_BITS) as usize;
        let wide = i128::from(value) << (position % LIMB_BITS);
        let three: &mut [i64; 3] = (&mut self.limbs[place..place + 3])
            .try_into()
            .expect("three limbs");
        three[0] += i64::from(wide as u32);
        three[1] += i64::from((wide >> LIMB_BITS) as u32);
        three[2] += (wide >> (2 * LIMB_BITS)) as i64;
        self.low = self.low.min(place);
        self.high = self.high.max(place + 2);
        self.pending += 1;
        if self.pending >= MOST_PENDING {
            self.resolve();
        }
    }

    /// Adds `value · 2^exponent`, with a value below 2^126.
    #[inline]
    pub(crate) fn deposit_wide(&mut self, value: i128, exponent: i32) {
        // The low half without its sign: 63 bits.
        self.deposit(value as i64 & i64::MAX, exponent);
        self.deposit((value >> 63) as i64, exponent + 63);
    }

    /// Notes terms that were deposited by blocks.
    pub(crate) fn found_mut(&mut self) -> &mut Found {
        &mut self.found
    }

    /// Takes carries to where they belong: all limbs but the highest hold 32 bits afterwards.
    fn resolve(&mut self) {
        self.pending = 0;
        if self.low > self.high {
            return;
        }
        let mut carry = 0;
        for limb in &mut self.limbs[self.low..self.high] {
            let value = *limb + carry;
            *limb = value & 0xffff_ffff;
            carry = value >> LIMB_BITS;
        }
        // The highest limb has the sign. It is divided only when it must, or a sum that goes below zero and back would
        // make it wander upwards.
        let value = self.limbs[self.high] + carry;
        self.limbs[self.high] = value;
        if self.high + 1 < LIMBS && value >> LIMB_BITS != value >> 63 {
            self.limbs[self.high] = value & 0xffff_ffff;
            self.high += 1;
            self.limbs[self.high] = value >> LIMB_BITS;
        }
    }

    /// Sign and magnitude of the digits.
    pub(crate) fn magnitude(&self) -> Magnitude {
        let mut magnitude = Magnitude {
            negative: false,
            words: [0; WORDS],
        };
        if self.low > self.high {
            return magnitude;
        }
        let mut resolved = self.clone();
        resolved.resolve();
        magnitude.negative = resolved.limbs[resolved.high] < 0;
        let mut carry = 0i64;
        for place in resolved.low..LIMBS {
            let limb = resolved.limbs[place];
            let value = carry + if magnitude.negative { -limb } else { limb };
            magnitude.words[place / 2] |=
                u64::from(value as u32) << (LIMB_BITS * (place as u32 % 2));
            carry = value >> LIMB_BITS;
            if place > resolved.high && carry == 0 {
                break;
            }
        }
        magnitude
    }
}

impl Extend<f64> for Accumulator {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, terms: I) {
        terms.into_iter().for_each(|term| self.add(term));
    }
}

/// The digits of an accumulator as sign and magnitude; bit 0 weighs `2^LOWEST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Magnitude {
    pub negative: bool,
    pub words: [u64; WORDS],
}

impl Magnitude {
    fn head(&self) -> Option<Head> {
        Head::of_words(&self.words, LOWEST, false)
    }
}

/// Divides the words, the first the least significant, and returns the remainder.
pub(crate) fn divide(words: &mut [u64], divisor: u64) -> u64 {
    let divisor = u128::from(divisor);
    let mut rest = 0u128;
    for word in words.iter_mut().rev() {
        let value = (rest << 64) | u128::from(*word);
        *word = (value / divisor) as u64;
        rest = value % divisor;
    }
    rest as u64
}

const _: () = assert!(FRACTION_BITS == 52 && LIMBS.is_multiple_of(2));
