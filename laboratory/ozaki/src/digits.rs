//! The same integers by digits: Ozaki's scheme I. Every digit of a row is multiplied by every digit of a column, which takes the square of the
//! number of digits, or half of it where the lowest ones are left out; residues take as many products as there are moduli.

use crate::error::OzakiError;
use crate::operand::{sum_of_products, words};
use crate::reconstruction::rounded;
use crate::scaled::{NOT_FINITE, field_of, sum_exponent};
use crate::scheme::Scheme;
use residues::I256;

/// Which products of digits are formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    /// All: the integers of the scheme, and so the bits of its products by residues.
    All,
    /// Those of at least the weight of the lowest digit times the highest one.
    Leading,
}

/// Bits of a digit.
const DIGIT_BITS: u32 = 8;

/// Digits from -128 to 127 of integers of magnitude at most `2^bits`.
pub fn digits_of_bits(bits: u32) -> usize {
    ((bits + 1) / DIGIT_BITS + 1) as usize
}

/// Products of matrices of bytes that a product of matrices takes.
pub fn product_count(bits: u32, products: Products) -> usize {
    let digits = digits_of_bits(bits);
    match products {
        Products::All => digits * digits,
        Products::Leading => digits * (digits + 1) / 2,
    }
}

/// What leaving products out may change in a sum, in units of the integers: `K·2^14` for every pair of digits, times its weight.
pub fn truncation_bound(bits: u32, products: usize) -> f64 {
    let weights = (0..digits_of_bits(bits) - 1).map(|weight| {
        let pairs = (weight + 1) as f64;
        pairs * 2f64.powi((DIGIT_BITS as usize * weight) as i32)
    });
    products as f64 * 2f64.powi(14) * weights.sum::<f64>()
}

/// Rows of digits: for every digit, the lowest first, those of all rows.
struct Digits {
    fields: Vec<u32>,
    planes: Vec<Vec<i8>>,
}

impl Digits {
    fn new(scheme: &Scheme, rows: &[Vec<f64>]) -> Digits {
        let count = digits_of_bits(scheme.bits());
        let fields: Vec<u32> = rows.iter().map(|row| field_of(row)).collect();
        let mut planes = vec![Vec::new(); count];
        for (row, &field) in rows.iter().zip(&fields) {
            for mut word in words(scheme, row, field) {
                for plane in &mut planes {
                    let digit = word as i8;
                    plane.push(digit);
                    word = (word - i64::from(digit)) >> DIGIT_BITS;
                }
                debug_assert_eq!(word, 0, "as many digits as the bits need");
            }
        }
        Digits { fields, planes }
    }
}

/// `C = A·B` by digits, as [`crate::multiply`] does it by residues.
pub fn multiply(
    scheme: &Scheme,
    products: Products,
    (m, k, n): (usize, usize, usize),
    a: &[f64],
    b: &[f64],
    c: &mut [f64],
) -> Result<(), OzakiError> {
    OzakiError::check("A", a.len(), m.checked_mul(k))?;
    OzakiError::check("B", b.len(), k.checked_mul(n))?;
    OzakiError::check("C", c.len(), m.checked_mul(n))?;
    scheme.demand(k)?;
    if k == 0 || m == 0 || n == 0 {
        c.fill(0.0);
        return Ok(());
    }
    let rows: Vec<Vec<f64>> = a.chunks_exact(k).map(<[f64]>::to_vec).collect();
    let column = |column: usize| b.iter().skip(column).step_by(n).copied().collect();
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    let [left, right] = [&rows, &columns].map(|rows| Digits::new(scheme, rows));
    let count = left.planes.len();
    for (place, to) in c.iter_mut().enumerate() {
        let (row, column) = (place / n, place % n);
        let fields = [left.fields[row], right.fields[column]];
        if fields.contains(&NOT_FINITE) {
            *to = f64::NAN;
            continue;
        }
        let mut sum = I256::ZERO;
        for (i, left) in left.planes.iter().enumerate() {
            for (j, right) in right.planes.iter().enumerate() {
                if products == Products::All || i + j + 1 >= count {
                    let part = sum_of_products(&left[row * k..][..k], &right[column * k..][..k]);
                    sum += I256::from(part) << (DIGIT_BITS * (i + j) as u32);
                }
            }
        }
        *to = rounded(sum, sum_exponent(fields, scheme.bits()));
    }
    Ok(())
}
