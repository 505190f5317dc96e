//! Products of words with roots of unity of 127 bits.
//!
//! With limbs `x_i` and `t_j`, the products with `i + j >= 3` are formed and the other six left out. They are not negative
//! and sum up to less than `3.01·2^128`, which is 6.02 units of the result: so each of the two real products that make up a
//! component is at most 6.02 units too small in magnitude, and with the rounding a component is within
//! [`ROTATION_ERROR`]. A factor of 1 is exact.

use super::words::{ComplexWord, LANES, Limbs, Point, to_integer, to_limbs};
use crate::roots::{Fixed, cosine_sine};

/// Bits behind the binary point of a root.
const ROOT_BITS: u32 = 127;

/// Largest error of a component after a rotation, in units of the last place.
pub(super) const ROTATION_ERROR: f64 = 12.6;

/// A number of modulus at most 1 in units of 2^-127: magnitudes, and all bits set where they are negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Root {
    re: Limbs,
    im: Limbs,
    re_sign: i64,
    im_sign: i64,
}

impl Root {
    pub(super) const ZERO: Root = Root {
        re: [0; 4],
        im: [0; 4],
        re_sign: 0,
        im_sign: 0,
    };

    /// `scale · exp(-2πi p/q)`, each part within half a unit (and 2^-57 of one).
    pub(super) fn new(p: u64, q: u64, scale: &Fixed) -> Root {
        let (cosine, sine) = cosine_sine(p, q);
        let part = |number: Fixed| {
            let (negative, magnitude) = number.multiply(scale).nearest(ROOT_BITS);
            (negative, magnitude)
        };
        let (re, im) = (part(cosine), part(sine));
        Root::from_parts(re, (!im.0 && im.1 != 0, im.1))
    }

    /// Of a complex number in units of 2^-127, sign and magnitude.
    pub(super) fn from_parts(re: (bool, u128), im: (bool, u128)) -> Root {
        Root {
            re: to_limbs(re.1 as i128),
            im: to_limbs(im.1 as i128),
            re_sign: -i64::from(re.0),
            im_sign: -i64::from(im.0),
        }
    }

    /// Of words in units of 2^-126.
    pub(super) fn from_word(word: ComplexWord) -> Root {
        let part = |limbs: Limbs| {
            let integer = to_integer(limbs);
            (integer < 0, integer.unsigned_abs() << 1)
        };
        Root::from_parts(part(word.re), part(word.im))
    }

    /// In units of 2^-126, rounded towards zero.
    pub(super) fn to_word(self) -> ComplexWord {
        let part = |limbs: Limbs, sign: i64| {
            let magnitude = (to_integer(limbs) as u128 >> 1) as i128;
            to_limbs(if sign < 0 { -magnitude } else { magnitude })
        };
        ComplexWord {
            re: part(self.re, self.re_sign),
            im: part(self.im, self.im_sign),
        }
    }
}

/// The columns of a product from 2^96 on, each a sum of 32-bit halves.
#[inline(always)]
fn columns(x: Limbs, t: Limbs) -> [i64; 5] {
    let product = |i: usize, j: usize| u64::from(x[i]) * u64::from(t[j]);
    let low = |p: u64| (p & 0xffff_ffff) as i64;
    let high = |p: u64| (p >> 32) as i64;
    // A negative word is what its limbs say, less 2^128.
    let negative = i64::from((x[3] as i32) >> 31);
    let taken = |limb: u32| i64::from(limb) & negative;
    let (p03, p12, p21, p30) = (product(0, 3), product(1, 2), product(2, 1), product(3, 0));
    let (p13, p22, p31) = (product(1, 3), product(2, 2), product(3, 1));
    let (p23, p32, p33) = (product(2, 3), product(3, 2), product(3, 3));
    [
        low(p03) + low(p12) + low(p21) + low(p30),
        high(p03) + high(p12) + high(p21) + high(p30) + low(p13) + low(p22) + low(p31)
            - taken(t[0]),
        high(p13) + high(p22) + high(p31) + low(p23) + low(p32) - taken(t[1]),
        high(p23) + high(p32) + low(p33) - taken(t[2]),
        high(p33) - taken(t[3]),
    ]
}

/// `±a ± b`, carried, in units of 2^127.
#[inline(always)]
fn combined(a: [i64; 5], a_sign: i64, b: [i64; 5], b_sign: i64) -> Limbs {
    let sum = |i: usize| (a[i] ^ a_sign) - a_sign + ((b[i] ^ b_sign) - b_sign);
    let low = |x: i64| x & 0xffff_ffff;
    let s0 = sum(0) + (1 << 30);
    let s1 = sum(1) + (s0 >> 32);
    let s2 = sum(2) + (s1 >> 32);
    let s3 = sum(3) + (s2 >> 32);
    let s4 = sum(4) + (s3 >> 32);
    let pair = |below: i64, above: i64| ((low(below) >> 31) | (above << 1)) as u32;
    [pair(s0, s1), pair(s1, s2), pair(s2, s3), pair(s3, s4)]
}

/// A complex word times a root.
#[inline(always)]
pub(super) fn rotated(re: Limbs, im: Limbs, root: &Root) -> (Limbs, Limbs) {
    let minus = !root.im_sign;
    (
        combined(
            columns(re, root.re),
            root.re_sign,
            columns(im, root.im),
            minus,
        ),
        combined(
            columns(re, root.im),
            root.im_sign,
            columns(im, root.re),
            root.re_sign,
        ),
    )
}

/// Rotates all lines by the same root.
#[inline(always)]
pub(super) fn rotate_point(point: &Point, root: &Root) -> Point {
    let mut result = Point::ZERO;
    for lane in 0..LANES {
        let (re, im) = rotated(point.get(lane), point.get(LANES + lane), root);
        result.set(lane, re);
        result.set(LANES + lane, im);
    }
    result
}

/// Rotates every line by a root of its own.
#[inline(always)]
pub(super) fn rotate_lanes(point: &Point, roots: &[Root; LANES]) -> Point {
    let mut result = Point::ZERO;
    for lane in 0..LANES {
        let (re, im) = rotated(point.get(lane), point.get(LANES + lane), &roots[lane]);
        result.set(lane, re);
        result.set(LANES + lane, im);
    }
    result
}

/// Roots of unity of a large order: every power is the product of an entry of two small tables.
#[derive(Debug)]
pub(super) struct Roots {
    low_bits: u32,
    low: Vec<Root>,
    high: Vec<ComplexWord>,
}

impl Roots {
    pub(super) fn new(order: usize) -> Roots {
        let low_bits = (usize::BITS - order.leading_zeros()) / 2;
        let one = Fixed::one();
        let table = |count: usize, stride: usize| {
            (0..count).map(move |i| ((i * stride % order) as u64, order as u64))
        };
        Roots {
            low_bits,
            low: table(1 << low_bits, 1)
                .map(|(p, q)| Root::new(p, q, &one))
                .collect(),
            high: table((order >> low_bits) + 1, 1 << low_bits)
                .map(|(p, q)| Root::new(p, q, &one).to_word())
                .collect(),
        }
    }

    /// `exp(-2πi power/order)`, `power < order`; within 2^-121.
    #[inline(always)]
    pub(super) fn power(&self, power: usize) -> Root {
        let high = self.high[power >> self.low_bits];
        let low = &self.low[power & ((1 << self.low_bits) - 1)];
        let (re, im) = rotated(high.re, high.im, low);
        Root::from_word(ComplexWord { re, im })
    }
}

/// The modulus, for error estimates only.
pub(super) fn modulus(word: ComplexWord) -> f64 {
    (to_integer(word.re) as f64).hypot(to_integer(word.im) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x·t / 2^127` by whole products of 64-bit halves, rounded towards minus infinity.
    fn reference(x: i128, t: (bool, u128)) -> i128 {
        let (a, b) = (x.unsigned_abs(), t.1);
        let low = |v: u128| v & u128::from(u64::MAX);
        let ((ah, al), (bh, bl)) = ((a >> 64, low(a)), (b >> 64, low(b)));
        let middle = ((al * bl) >> 64) + low(ah * bl) + low(al * bh);
        let high = ah * bh + ((ah * bl) >> 64) + ((al * bh) >> 64) + (middle >> 64);
        let magnitude = ((high << 1) | ((middle >> 63) & 1)) as i128;
        if (x < 0) != t.0 {
            -magnitude
        } else {
            magnitude
        }
    }

    #[test]
    fn rotations_are_within_their_error_and_one_is_exact() {
        let mut state = 0x1234_5678u128;
        println!("seed {state:#x}");
        let mut random = || {
            state = state
                .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
                .wrapping_add(1);
            (state as i128) >> 2
        };
        let parts = |limbs: Limbs, sign: i64| (sign < 0, to_integer(limbs) as u128);
        for p in 0..400u64 {
            let root = Root::new(p, 400, &Fixed::one());
            let (x, y) = (random(), random());
            let (re, im) = rotated(to_limbs(x), to_limbs(y), &root);
            let (c, s) = (parts(root.re, root.re_sign), parts(root.im, root.im_sign));
            let exact_re = reference(x, c) - reference(y, s);
            let exact_im = reference(x, s) + reference(y, c);
            assert!((to_integer(re) - exact_re).abs() <= 15, "{p}");
            assert!((to_integer(im) - exact_im).abs() <= 15, "{p}");
            if p % 100 == 0 {
                let rotated = [(x, y), (y, -x), (-x, -y), (-y, x)][p as usize / 100];
                assert_eq!((to_integer(re), to_integer(im)), rotated);
            }
        }
    }

    #[test]
    fn powers_are_products_of_two_tables() {
        for order in [1, 2, 7, 1000, 4096, 100_003] {
            let roots = Roots::new(order);
            for power in (0..order).step_by(order.div_ceil(50)) {
                let (got, exact) = (
                    roots.power(power).to_word(),
                    Root::new(power as u64, order as u64, &Fixed::one()).to_word(),
                );
                for (a, b) in [(got.re, exact.re), (got.im, exact.im)] {
                    assert!(
                        (to_integer(a) - to_integer(b)).abs() <= 16,
                        "{power}/{order}"
                    );
                }
            }
        }
    }
}
