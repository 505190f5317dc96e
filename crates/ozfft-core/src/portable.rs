//! Functions whose results are the same on every machine: by sums, differences, products, quotients and square roots alone, which IEEE 754
//! rounds everywhere alike. Those of the system's library differ in their last bits from one to the next, and with them would differ where a
//! line is cut, and all bits after that.

/// An unevaluated sum of two numbers, the second at most half a unit of the first.
#[derive(Clone, Copy)]
pub struct Sum {
    pub high: f64,
    pub low: f64,
}

/// ln 2.
const LN_2: Sum = Sum {
    high: f64::from_bits(0x3fe6_2e42_fefa_39ef),
    low: f64::from_bits(0x3c7a_bc9e_3b39_803f),
};
/// Terms of the series below: each brings five bits or more, and 106 are wanted.
const TERMS: u32 = 24;

/// a + b exactly (Knuth).
#[inline]
pub fn exact_sum(a: f64, b: f64) -> Sum {
    let high = a + b;
    let from_b = high - a;
    let low = (a - (high - from_b)) + (b - from_b);
    Sum { high, low }
}

/// a · b exactly (Dekker, Veltkamp): nothing here is near the ends of the range.
#[inline]
pub fn exact_product(a: f64, b: f64) -> Sum {
    let halves = |x: f64| {
        let scaled = 134_217_729.0 * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let high = a * b;
    let low = a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low);
    Sum { high, low }
}

impl Sum {
    fn new(value: f64) -> Self {
        Sum {
            high: value,
            low: 0.0,
        }
    }
    fn plus(self, other: Sum) -> Sum {
        let (high, low) = (
            exact_sum(self.high, other.high),
            exact_sum(self.low, other.low),
        );
        let first = exact_sum(high.high, high.low + low.high);
        exact_sum(first.high, first.low + low.low)
    }
    fn times(self, other: Sum) -> Sum {
        let product = exact_product(self.high, other.high);
        exact_sum(
            product.high,
            product.low + (self.high * other.low + self.low * other.high),
        )
    }
    fn over(self, other: Sum) -> Sum {
        let first = self.high / other.high;
        let rest = self.plus(other.times(Sum::new(-first)));
        let second = rest.high / other.high;
        let rest = rest.plus(other.times(Sum::new(-second)));
        let third = rest.high / other.high;
        exact_sum(first, second).plus(Sum::new(third))
    }
}

/// 2^exponent; 0 and infinity beyond the range.
#[inline]
pub fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..-1074 => 0.0,
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
    }
}

/// ln x of a normal x > 0, to about 100 bits.
fn logarithm(x: f64) -> Sum {
    // x = m·2^k with m from √½ to √2, and ln m = 2·artanh z.
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let z = exact_sum(mantissa, -1.0).over(exact_sum(mantissa, 1.0));
    let square = z.times(z);
    let mut series = Sum::new(0.0);
    for term in (0..TERMS).rev() {
        let coefficient = Sum::new(2.0).over(Sum::new(f64::from(2 * term + 1)));
        series = series.times(square).plus(coefficient);
    }
    series
        .times(z)
        .plus(LN_2.times(Sum::new(f64::from(exponent))))
}

/// The natural logarithm of a normal x > 0, rounded to nearest.
pub(crate) fn ln(x: f64) -> f64 {
    logarithm(x).high
}

/// x^exponent for moderate numbers, rounded to nearest.
pub(crate) fn power(x: f64, exponent: f64) -> f64 {
    if exponent == 0.5 {
        return x.sqrt();
    }
    let argument = logarithm(x).times(Sum::new(exponent));
    let whole = (argument.high / LN_2.high).round();
    // e^r with |r| <= ln(2)/2, by e^(r/16) to the sixteenth.
    let rest = argument.plus(LN_2.times(Sum::new(-whole)));
    let rest = Sum {
        high: rest.high / 16.0,
        low: rest.low / 16.0,
    };
    let mut series = Sum::new(1.0);
    for term in (1..=TERMS).rev() {
        series = series
            .times(rest)
            .over(Sum::new(f64::from(term)))
            .plus(Sum::new(1.0));
    }
    for _ in 0..4 {
        series = series.times(series);
    }
    series.high * power_of_two(whole as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_to_the_ends_of_the_range() {
        let mut expected = 1.0;
        for exponent in 0..=1023 {
            assert_eq!(power_of_two(exponent), expected);
            expected *= 2.0;
        }
        assert_eq!(power_of_two(1024), f64::INFINITY);
        let mut expected = 1.0;
        for exponent in 0..=1074 {
            assert_eq!(power_of_two(-exponent), expected);
            expected /= 2.0;
        }
        assert_eq!(power_of_two(-1075), 0.0);
    }

    /// The system's functions are within a unit of the last place, which is what can be said of all of them.
    #[test]
    fn logarithms_and_powers_are_the_systems_to_a_unit() {
        let near = |a: f64, b: f64| a == b || a.next_up() == b || a.next_down() == b;
        for i in 1..20_000 {
            let x = f64::from(i) / 777.0;
            assert!(near(ln(x), x.ln()), "ln {x}");
            let n = f64::from(i) * 4099.0;
            for exponent in [0.5, 1.0 / 3.0, 0.25, 0.2] {
                assert!(near(power(n, exponent), n.powf(exponent)), "{n}^{exponent}");
            }
        }
    }
}
