//! Roots of unity from exact rational angles, to far more bits than any table here keeps.
//!
//! `cos` and `sin` of `2π·p/q` are summed in 128-bit fixed point after the angle is brought into the first octant by
//! integer arithmetic, so no angle is ever rounded to a floating-point number. A value is off by less than `2^-118`,
//! and a table entry is wrongly rounded only if the value comes that close to the middle between two neighbours.

/// `floor(π/4 · 2^128)`.
const QUARTER_PI: u128 = 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1;

/// A real number as an unevaluated sum: the nearest f64 and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Real {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl Real {
    const ONE: Real = Real {
        high: 1.0,
        low: 0.0,
    };

    fn negated_if(self, negative: bool) -> Real {
        if negative {
            Real {
                high: -self.high,
                low: -self.low,
            }
        } else {
            self
        }
    }

    /// A double that lies on the same side of every f32 and bf16 number, and of the middle between any two, as the real
    /// number: its last bit is set wherever something follows it.
    fn sticky(self) -> f64 {
        let bits = self.high.to_bits();
        if self.low == 0.0 || bits & 1 == 1 {
            return self.high;
        }
        // An even number is left for its odd neighbour towards the rest; both have the same sign.
        let away = (self.low > 0.0) == (self.high > 0.0);
        f64::from_bits(if away { bits + 1 } else { bits - 1 })
    }

    /// The nearest f32.
    pub(crate) fn to_f32(self) -> f32 {
        self.sticky() as f32
    }

    /// An f32 that lies on the same side of every bf16 number, and of the middle between any two, as the real number.
    pub(crate) fn to_f32_sticky(self) -> f32 {
        let sticky = self.sticky();
        let nearest = sticky as f32;
        let back = f64::from(nearest);
        if back == sticky {
            return nearest;
        }
        let bits = nearest.to_bits();
        let truncated = if back.abs() > sticky.abs() {
            bits - 1
        } else {
            bits
        };
        f32::from_bits(truncated | 1)
    }

    /// The remainder after subtracting `part`; exact where `part` is near the number.
    pub(crate) fn minus(self, part: f64) -> Real {
        let difference = self.high - part;
        let high = difference + self.low;
        Real {
            high,
            low: self.low - (high - difference),
        }
    }

    /// Times a power of two.
    pub(crate) fn scaled(self, power: f64) -> Real {
        Real {
            high: self.high * power,
            low: self.low * power,
        }
    }
}

/// `exp(2πi · p/q)`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Root {
    pub(crate) re: Real,
    pub(crate) im: Real,
}

fn high_product(a: u128, b: u128) -> u128 {
    let mask = u128::from(u64::MAX);
    let (a1, a0) = (a >> 64, a & mask);
    let (b1, b0) = (b >> 64, b & mask);
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let other = a0 * b1 + (middle & mask);
    a1 * b1 + (middle >> 64) + (other >> 64)
}

/// A fraction in units of `2^-128`.
fn to_real(fraction: u128) -> Real {
    let unit = (-128f64).exp2();
    let high = fraction as f64;
    // The nearest double may be 2^128 itself, which wraps to zero, as the difference does.
    let rest = if high >= 128f64.exp2() {
        fraction as i128
    } else {
        fraction.wrapping_sub(high as u128) as i128
    };
    Real {
        high: high * unit,
        low: rest as f64 * unit,
    }
}

/// Cosine and sine of `π/4 · p/q` for `0 <= p <= q`.
fn first_octant(p: u128, q: u128) -> (Real, Real) {
    if p == 0 {
        return (Real::ONE, Real::default());
    }
    let angle = if p == q {
        QUARTER_PI
    } else {
        // floor(p·2^128 / q), in two digits of 64 bits; q is far below 2^64.
        let upper = (p << 64) / q;
        let lower = (((p << 64) % q) << 64) / q;
        high_product((upper << 64) + lower, QUARTER_PI)
    };
    // 1 - cos and sin: the terms alternate in sign, and each is below the one before.
    let (mut versine, mut sine) = (0u128, angle);
    let mut term = angle;
    for k in 2.. {
        term = high_product(term, angle) / k;
        if term == 0 {
            break;
        }
        match k % 4 {
            2 => versine += term,
            3 => sine -= term,
            0 => versine -= term,
            _ => sine += term,
        }
    }
    (to_real(versine.wrapping_neg()), to_real(sine))
}

/// `exp(2πi · p/q)`.
pub(crate) fn root(p: u64, q: u64) -> Root {
    let (p, q) = (u128::from(p % q), u128::from(q));
    // Eighths of a turn, and the rest as a fraction of one.
    let (octant, rest) = ((8 * p) / q, (8 * p) % q);
    let rest = if octant % 2 == 1 { q - rest } else { rest };
    let (cos, sin) = first_octant(rest, q);
    // Octants 1, 2, 5, 6 are nearer to the imaginary axis.
    let (re, im) = match octant {
        0 | 3 | 4 | 7 => (cos, sin),
        _ => (sin, cos),
    };
    Root {
        re: re.negated_if((2..6).contains(&octant)),
        im: im.negated_if(octant >= 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_those_of_the_referee() {
        for q in [
            1u64, 2, 3, 4, 5, 7, 8, 12, 16, 31, 97, 256, 1000, 1009, 65536,
        ] {
            for p in 0..q.min(1009) {
                let (ours, exact) = (
                    root(p, q),
                    ozfft_testkit::oracle::root_of_unity((q - p) as usize, q as usize),
                );
                for (ours, exact) in [(ours.re, exact.re), (ours.im, exact.im)] {
                    assert_eq!(ours.high, exact.to_f64(), "{p}/{q}");
                    let rest =
                        (exact - ozfft_testkit::oracle::DoubleDouble::from(ours.high)).to_f64();
                    assert!(
                        (ours.low - rest).abs() < 1e-31,
                        "{p}/{q}: {} {rest}",
                        ours.low
                    );
                }
            }
        }
    }

    #[test]
    fn ties_between_two_f32_are_decided_by_the_remainder() {
        let middle = 1.0 + (-24f64).exp2();
        let above = Real {
            high: middle,
            low: 1e-20,
        };
        let below = Real {
            high: middle,
            low: -1e-20,
        };
        assert_eq!(above.to_f32(), 1.0 + f32::EPSILON);
        assert_eq!(below.to_f32(), 1.0);
        assert_eq!(
            Real {
                high: -middle,
                low: -1e-20
            }
            .to_f32(),
            -1.0 - f32::EPSILON
        );
        assert_eq!(
            Real {
                high: -middle,
                low: 1e-20
            }
            .to_f32(),
            -1.0
        );
    }
}
