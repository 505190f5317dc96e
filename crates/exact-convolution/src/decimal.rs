//! Long integers as text. Numbers are digits to the base 10^9, the lowest first, without leading zeros: zero has none.

use crate::limbs::multiply_decimal;

const BASE: u32 = 1_000_000_000;
/// So few limbs are converted one by one.
const SHORT: usize = 64;

/// A text is not a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// There is no digit.
    #[error("there is no digit; give a decimal number, or a hexadecimal one after 0x")]
    Empty,
    /// Something that is no digit of the base.
    #[error(
        "{found:?} at position {position} is no {base} digit; give digits alone, after an optional sign"
    )]
    Digit {
        /// What stands there.
        found: char,
        /// Characters before it.
        position: usize,
        /// "decimal" or "hexadecimal".
        base: &'static str,
    },
}

/// Digits and whether there is a minus sign, of a decimal number or of a hexadecimal one after `0x`. A sign may precede either.
///
/// ```
/// use exact_convolution::decimal::parse;
/// assert_eq!(parse("-12345678901234567890"), Ok((vec![234_567_890, 345_678_901, 12], true)));
/// assert_eq!(parse("0xff"), Ok((vec![255], false)));
/// assert!(parse("12a").is_err());
/// ```
pub fn parse(text: &str) -> Result<(Vec<u32>, bool), ParseError> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    let (digits, radix, base) = match hexadecimal {
        Some(digits) => (digits, 16, "hexadecimal"),
        None => (rest, 10, "decimal"),
    };
    if digits.is_empty() {
        return Err(ParseError::Empty);
    }
    if let Some((place, found)) = digits.char_indices().find(|(_, c)| !c.is_digit(radix)) {
        let before = &text[..text.len() - digits.len() + place];
        return Err(ParseError::Digit {
            found,
            position: before.chars().count(),
            base,
        });
    }
    let value = |piece: &[u8]| {
        let digit = |&byte: &u8| char::from(byte).to_digit(radix).map_or(0, u64::from);
        piece
            .iter()
            .fold(0, |value, byte| value * u64::from(radix) + digit(byte))
    };
    let number = match radix {
        16 => from_limbs(
            &digits
                .as_bytes()
                .rchunks(16)
                .map(value)
                .collect::<Vec<u64>>(),
        ),
        _ => trimmed(
            digits
                .as_bytes()
                .rchunks(9)
                .map(|piece| value(piece) as u32)
                .collect(),
        ),
    };
    Ok((number, negative))
}

/// The decimal text of digits to the base 10^9.
///
/// ```
/// assert_eq!(exact_convolution::decimal::text(&[7, 1, 0]), "1000000007");
/// assert_eq!(exact_convolution::decimal::text(&[]), "0");
/// ```
pub fn text(number: &[u32]) -> String {
    let length = number
        .iter()
        .rposition(|&digit| digit != 0)
        .map_or(0, |last| last + 1);
    let Some((&top, rest)) = number[..length].split_last() else {
        return "0".into();
    };
    let mut bytes = top.to_string().into_bytes();
    bytes.reserve(9 * rest.len());
    for &digit in rest.iter().rev() {
        let (mut piece, mut value) = ([0; 9], digit);
        for byte in piece.iter_mut().rev() {
            *byte = b'0' + (value % 10) as u8;
            value /= 10;
        }
        bytes.extend_from_slice(&piece);
    }
    bytes.into_iter().map(char::from).collect()
}

/// Digits to the base 10^9 of limbs of 64 bits, the lowest first.
///
/// By halves: the upper one times its power of two, which is squared from level to level. All products are decimal, so that nothing is
/// divided; the time is that of a product, times the number of levels.
///
/// ```
/// assert_eq!(exact_convolution::decimal::from_limbs(&[0, 1]), [709_551_616, 446_744_073, 18]);
/// ```
pub fn from_limbs(limbs: &[u64]) -> Vec<u32> {
    // Of 2^(64·SHORT), and its repeated squares.
    let mut powers: Vec<Vec<u32>> = Vec::new();
    let mut reached = SHORT;
    while reached < limbs.len() {
        let next = match powers.last() {
            None => {
                let mut one = vec![0; SHORT + 1];
                one[SHORT] = 1;
                one_by_one(&one)
            }
            Some(power) => trimmed(multiply_decimal(power, power)),
        };
        powers.push(next);
        reached *= 2;
    }
    converted(limbs, &powers)
}

fn converted(limbs: &[u64], powers: &[Vec<u32>]) -> Vec<u32> {
    let Some((power, lower)) = powers.split_last() else {
        return one_by_one(limbs);
    };
    let half = SHORT << lower.len();
    if limbs.len() <= half {
        return converted(limbs, lower);
    }
    let (low, high) = limbs.split_at(half);
    let (low, high) = (converted(low, lower), converted(high, lower));
    let mut sum = multiply_decimal(&high, power);
    sum.resize(sum.len().max(low.len()) + 1, 0);
    let mut carry = 0;
    for (place, digit) in sum.iter_mut().enumerate() {
        let value = *digit + carry + low.get(place).copied().unwrap_or(0);
        carry = u32::from(value >= BASE);
        *digit = value - carry * BASE;
        if carry == 0 && place >= low.len() {
            break;
        }
    }
    trimmed(sum)
}

fn one_by_one(limbs: &[u64]) -> Vec<u32> {
    let mut digits: Vec<u32> = Vec::new();
    for &limb in limbs.iter().rev() {
        let mut carry = u128::from(limb);
        for digit in &mut digits {
            let value = (u128::from(*digit) << 64) + carry;
            *digit = (value % u128::from(BASE)) as u32;
            carry = value / u128::from(BASE);
        }
        while carry > 0 {
            digits.push((carry % u128::from(BASE)) as u32);
            carry /= u128::from(BASE);
        }
    }
    digits
}

fn trimmed(mut digits: Vec<u32>) -> Vec<u32> {
    let length = digits
        .iter()
        .rposition(|&digit| digit != 0)
        .map_or(0, |last| last + 1);
    digits.truncate(length);
    digits
}
