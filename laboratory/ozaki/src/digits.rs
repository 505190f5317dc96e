//! The same integers by digits: Ozaki's scheme I. Every digit of a row is multiplied by every digit of a column, which takes the square of the
//! number of digits, or half of it where the lowest ones are left out; residues take as many products as there are moduli.

use crate::dense::{by_threads, check_vectors, transposed};
use crate::error::OzakiError;
use crate::operand::{sum_of_products, words};
use crate::reconstruction::rounded;
use crate::scaled::{NOT_FINITE, field_of, sum_exponent};
use crate::scheme::Scheme;
use crate::sparse::SparseMatrix;
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

/// Rows of digits.
struct Digits {
    /// The exponent field of every row.
    fields: Vec<u32>,
    /// For every digit, the lowest first, those of all rows, row by row.
    planes: Vec<Vec<i8>>,
    length: usize,
}

impl Digits {
    /// Of rows of so many numbers, at least one.
    fn new(scheme: &Scheme, values: &[f64], length: usize) -> Digits {
        let rows = values.chunks_exact(length);
        let fields: Vec<u32> = rows.clone().map(field_of).collect();
        let mut planes = vec![Vec::new(); digits_of_bits(scheme.bits())];
        for (row, &field) in rows.zip(&fields) {
            for mut word in words(scheme, row, field) {
                for plane in &mut planes {
                    let digit = word as i8;
                    plane.push(digit);
                    word = (word - i64::from(digit)) >> DIGIT_BITS;
                }
                debug_assert_eq!(word, 0, "as many digits as the bits need");
            }
        }
        Digits {
            fields,
            planes,
            length,
        }
    }

    fn row(&self, digit: usize, row: usize) -> &[i8] {
        &self.planes[digit][row * self.length..][..self.length]
    }
}

/// The product of rows with such fields, whose digits are given by their number.
fn row_times_row<'a>(
    scheme: &Scheme,
    products: Products,
    fields: [u32; 2],
    left: impl Fn(usize) -> &'a [i8],
    right: impl Fn(usize) -> &'a [i8],
) -> f64 {
    if fields.contains(&NOT_FINITE) {
        return f64::NAN;
    }
    let count = digits_of_bits(scheme.bits());
    let mut sum = I256::ZERO;
    for i in 0..count {
        let first = match products {
            Products::All => 0,
            Products::Leading => count - 1 - i,
        };
        for j in first..count {
            let part = sum_of_products(left(i), right(j));
            sum += I256::from(part) << (DIGIT_BITS * (i + j) as u32);
        }
    }
    rounded(sum, sum_exponent(fields, scheme.bits()))
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
    let left = Digits::new(scheme, a, k);
    let right = Digits::new(scheme, &transposed(b, n), k);
    for (place, to) in c.iter_mut().enumerate() {
        let (row, column) = (place / n, place % n);
        let fields = [left.fields[row], right.fields[column]];
        *to = row_times_row(
            scheme,
            products,
            fields,
            |digit| left.row(digit, row),
            |digit| right.row(digit, column),
        );
    }
    Ok(())
}

/// Matrices times as many vectors by digits, as [`crate::multiply_vectors`] has it by residues.
pub fn multiply_vectors(
    scheme: &Scheme,
    products: Products,
    shape: (usize, usize, usize),
    matrices: &[f64],
    vectors: &[f64],
    results: &mut [f64],
    threads: usize,
) -> Result<(), OzakiError> {
    let (_, rows, columns) = shape;
    check_vectors(scheme, shape, matrices, vectors, results)?;
    if columns == 0 || results.is_empty() {
        results.fill(0.0);
        return Ok(());
    }
    let right = Digits::new(scheme, vectors, columns);
    by_threads(results, rows, threads, |matrix, to| {
        let values = &matrices[matrix * rows * columns..][..rows * columns];
        let left = Digits::new(scheme, values, columns);
        for (row, to) in to.iter_mut().enumerate() {
            *to = row_times_row(
                scheme,
                products,
                [left.fields[row], right.fields[matrix]],
                |digit| left.row(digit, row),
                |digit| right.row(digit, matrix),
            );
        }
    });
    Ok(())
}

/// A sparse matrix times a vector by digits, as [`SparseMatrix::multiply_vector`] has it by residues.
pub fn multiply_sparse(
    scheme: &Scheme,
    products: Products,
    matrix: &SparseMatrix<'_>,
    vector: &[f64],
    result: &mut [f64],
    threads: usize,
) -> Result<(), OzakiError> {
    OzakiError::check("the vector", vector.len(), Some(matrix.width()))?;
    OzakiError::check("the result", result.len(), Some(matrix.rows()))?;
    scheme.demand(matrix.longest_row())?;
    if vector.is_empty() {
        result.fill(0.0);
        return Ok(());
    }
    let right = Digits::new(scheme, vector, vector.len());
    by_threads(result, 1, threads, |row, to| {
        let (columns, values) = matrix.row(row);
        if values.is_empty() {
            // As by residues.
            to[0] = match right.fields[0] {
                NOT_FINITE => f64::NAN,
                _ => 0.0,
            };
            return;
        }
        let left = Digits::new(scheme, values, values.len());
        let gather = |plane: &Vec<i8>| -> Vec<i8> {
            let digits = columns.iter().map(|&column| plane[column as usize]);
            digits.collect()
        };
        let gathered: Vec<Vec<i8>> = right.planes.iter().map(gather).collect();
        to[0] = row_times_row(
            scheme,
            products,
            [left.fields[0], right.fields[0]],
            |digit| left.row(digit, 0),
            |digit| &gathered[digit],
        );
    });
    Ok(())
}
