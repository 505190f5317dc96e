//! Decimal digits of double-double numbers by long arithmetic: no rounding but the last.

/// Digits of a non-negative integer, the least significant first, in base 10^9.
struct Natural(Vec<u32>);

const BASE: u64 = 1_000_000_000;

impl Natural {
    fn from_bits(mut bits: u128) -> Natural {
        let mut digits = Vec::new();
        while bits > 0 {
            digits.push((bits % u128::from(BASE)) as u32);
            bits /= u128::from(BASE);
        }
        Natural(digits)
    }

    fn multiply(&mut self, factor: u32) {
        let mut carry = 0u64;
        for digit in &mut self.0 {
            let product = u64::from(*digit) * u64::from(factor) + carry;
            *digit = (product % BASE) as u32;
            carry = product / BASE;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// `self + other`, or `self - other` for a smaller `other`.
    fn combine(&mut self, other: &Natural, subtract: bool) {
        let (mut carry, base) = (0i64, BASE as i64);
        for i in 0..self.0.len().max(other.0.len() + 1) {
            if i == self.0.len() {
                self.0.push(0);
            }
            let other = i64::from(other.0.get(i).copied().unwrap_or(0));
            let sum = i64::from(self.0[i]) + if subtract { -other } else { other } + carry;
            carry = sum.div_euclid(base);
            self.0[i] = sum.rem_euclid(base) as u32;
        }
    }

    fn is_less_than(&self, other: &Natural) -> bool {
        let length = self.0.len().max(other.0.len());
        let digits = |number: &Natural| -> Vec<u32> {
            (0..length)
                .rev()
                .map(|i| number.0.get(i).copied().unwrap_or(0))
                .collect()
        };
        digits(self) < digits(other)
    }

    fn text(&self) -> String {
        let all: String = self
            .0
            .iter()
            .rev()
            .map(|digit| format!("{digit:09}"))
            .collect();
        all.trim_start_matches('0').to_string()
    }
}

/// Mantissa and exponent of a finite number's magnitude.
fn parts(x: f64) -> (u64, i32) {
    let bits = x.abs().to_bits();
    match bits >> 52 {
        0 => (bits, -1074),
        field => ((bits & ((1 << 52) - 1)) | 1 << 52, field as i32 - 1075),
    }
}

/// `high + low` to so many significant digits, halves away from zero.
pub(super) fn rounded(high: f64, low: f64, digits: usize) -> String {
    let ((high_mantissa, high_exponent), (low_mantissa, low_exponent)) = (parts(high), parts(low));
    let exponent = high_exponent.min(low_exponent);
    let scaled = |mantissa: u64, from: i32| {
        let mut number = Natural::from_bits(u128::from(mantissa));
        (exponent..from).for_each(|_| number.multiply(2));
        number
    };
    let mut number = scaled(high_mantissa, high_exponent);
    number.combine(
        &scaled(low_mantissa, low_exponent),
        (high < 0.0) != (low < 0.0),
    );
    // number · 2^exponent = text · 10^exponent where 2^-1 = 5 · 10^-1.
    let mut decimals = 0;
    if exponent < 0 {
        (exponent..0).for_each(|_| number.multiply(5));
        decimals = -exponent;
    } else {
        (0..exponent).for_each(|_| number.multiply(2));
    }
    let mut text = number.text();
    // The first digit stands before so many others.
    let mut power = text.len() as i32 - 1 - decimals;
    if text.len() > digits {
        let up = text.as_bytes()[digits] >= b'5';
        let mut kept: Vec<u8> = text.as_bytes()[..digits].to_vec();
        if up {
            let nines = kept
                .iter()
                .rev()
                .take_while(|&&digit| digit == b'9')
                .count();
            let place = kept.len() - nines;
            kept[place..].fill(b'0');
            if place == 0 {
                kept.insert(0, b'1');
                power += 1;
            } else {
                kept[place - 1] += 1;
            }
        }
        text = kept.into_iter().map(char::from).collect();
    }
    let text = text.trim_end_matches('0');
    let sign = if high < 0.0 { "-" } else { "" };
    let zeros = |count: i32| "0".repeat(count as usize);
    match power {
        -5..=-1 => format!("{sign}0.{}{text}", zeros(-power - 1)),
        0..=15 if text.len() as i32 <= power + 1 => {
            format!("{sign}{text}{}", zeros(power + 1 - text.len() as i32))
        }
        0..=15 => {
            let (whole, fraction) = text.split_at(power as usize + 1);
            format!("{sign}{whole}.{fraction}")
        }
        _ if text.len() == 1 => format!("{sign}{text}e{power}"),
        _ => format!("{sign}{}.{}e{power}", &text[..1], &text[1..]),
    }
}

/// A decimal number, exactly: `digits · 10^exponent`.
struct Decimal {
    digits: Natural,
    exponent: i64,
}

impl Decimal {
    /// Reads what `f64` reads, too, and is finite; the sign is left out.
    fn read(text: &str) -> Option<Decimal> {
        let text = text.trim_start_matches(['+', '-']);
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let mut digits = Natural(Vec::new());
        for digit in whole.bytes().chain(fraction.bytes()) {
            digits.multiply(10);
            digits.combine(&Natural::from_bits(u128::from(digit - b'0')), false);
        }
        let exponent = exponent.checked_sub(fraction.len() as i64)?;
        Some(Decimal { digits, exponent })
    }

    /// The magnitude of a finite number.
    fn of(x: f64) -> Decimal {
        let (mantissa, exponent) = parts(x);
        let mut digits = Natural::from_bits(u128::from(mantissa));
        let factor = if exponent < 0 { 5 } else { 2 };
        (0..exponent.unsigned_abs()).for_each(|_| digits.multiply(factor));
        Decimal {
            digits,
            exponent: i64::from(exponent.min(0)),
        }
    }

    fn lower_exponent(&mut self, exponent: i64) {
        (exponent..self.exponent).for_each(|_| self.digits.multiply(10));
        self.exponent = exponent;
    }
}

/// The number nearest to a decimal text and what rounding to it left over, rounded; nothing where `f64` reads nothing.
pub(super) fn read(text: &str) -> Option<(f64, f64)> {
    let high: f64 = text.parse().ok()?;
    if high == 0.0 || !high.is_finite() {
        return Some((high, 0.0));
    }
    let (mut exact, mut rounded) = (Decimal::read(text)?, Decimal::of(high));
    let exponent = exact.exponent.min(rounded.exponent);
    exact.lower_exponent(exponent);
    rounded.lower_exponent(exponent);
    let above = exact.digits.is_less_than(&rounded.digits);
    let (mut larger, smaller) = match above {
        true => (rounded.digits, exact.digits),
        false => (exact.digits, rounded.digits),
    };
    larger.combine(&smaller, true);
    let rest = match larger.text().as_str() {
        "" => 0.0,
        digits => format!("{digits}e{exponent}").parse().ok()?,
    };
    let towards_zero = above != (high < 0.0);
    Some((high, if towards_zero { -rest } else { rest }))
}
