//! The matrices of section 3 in digits, and the norm of those digits whose products are dropped in part (6.4).

use super::interval::Interval;
use super::recipe::Fold;
use crate::oracle::double_double::DoubleDouble;
use crate::oracle::roots::root_of_unity;

/// Which digits of which matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Dropped {
    pub n: usize,
    pub fold: Fold,
    /// The sine matrix instead of the cosine one.
    pub sine: bool,
    /// Digits of an entry, `q`.
    pub digits: u32,
    /// The first digit that misses products, `f`.
    pub first: u32,
}

impl Dropped {
    /// Columns of the matrix itself; section 3 names the sizes.
    pub fn slots(self) -> usize {
        match (self.fold, self.sine) {
            (Fold::Unit, _) => 0,
            (Fold::Plain, false) => self.n / 2 + 1,
            (Fold::Plain, true) => self.n.div_ceil(2) - 1,
            (Fold::TimeShifted | Fold::FrequencyShifted, _) => self.n / 2,
        }
    }

    /// Columns of all its digits side by side.
    pub fn columns(self) -> usize {
        self.slots() * (self.digits - self.first) as usize
    }

    /// Twice the angle of an entry, in turns of `1/(2n)`: row and column as they lie in the matrix.
    fn angle(self, row: usize, column: usize) -> usize {
        // Sines have no index 0; what remains are the indices 1 to n/2, in any order.
        let up = usize::from(self.sine);
        match self.fold {
            Fold::Unit | Fold::Plain => 2 * (row + up) * (column + up),
            Fold::TimeShifted => (2 * column + 1) * (row + up),
            Fold::FrequencyShifted => (column + up) * (2 * row + 1),
        }
    }
}

/// `round(value · 127 · 256^(digits-1))`.
fn rounded(value: DoubleDouble, digits: u32) -> i64 {
    let scale = 127.0 * 256f64.powi(digits as i32 - 1);
    let scaled = value * DoubleDouble::from(scale);
    let near = scaled.hi.round();
    // |rest| is 1 at most: hi is a whole number or below 2^53.
    let rest = (scaled.hi - near) + scaled.lo;
    let nearest = rest.round();
    let from_tie = 0.5 - (rest - nearest).abs();
    // The root is right to 1e-31, so scaled to 2^63 it decides all but what is next to a tie. A single digit has a true
    // one, at 1/2, and drops nothing.
    assert!(
        from_tie > 1e-9 || digits == 1,
        "{value:?} with {digits} digits is too near a tie"
    );
    near as i64 + nearest as i64
}

/// Balanced base-256 digits, the most significant first.
fn balanced(mut value: i64, digits: u32) -> Vec<i64> {
    let mut balanced = vec![0; digits as usize];
    for digit in balanced.iter_mut().rev() {
        *digit = (value + 128).rem_euclid(256) - 128;
        value = (value - *digit) / 256;
    }
    assert_eq!(value, 0, "an entry has more than {digits} digits");
    balanced
}

/// An upper bound of `‖G‖₂`, a percent above it at most.
pub(super) fn norm_of_dropped(key: Dropped) -> Interval {
    let size = key.slots();
    if size == 0 || key.first >= key.digits {
        return Interval::ZERO;
    }
    let order = 2 * key.n;
    let entries: Vec<Vec<i64>> = (0..order)
        .map(|turn| {
            // exp(-i angle): the sine has the other sign.
            let root = root_of_unity(turn, order);
            let value = if key.sine { -root.im } else { root.re };
            let digits = balanced(rounded(value, key.digits), key.digits);
            digits[key.first as usize..].to_vec()
        })
        .collect();
    let rows: Vec<Vec<i64>> = (0..size)
        .map(|row| {
            (0..size)
                .flat_map(|column| entries[key.angle(row, column) % order].iter().copied())
                .collect()
        })
        .collect();
    let gram: Vec<f64> = (0..size * size)
        .map(|index| {
            let (left, right) = (&rows[index / size], &rows[index % size]);
            let sum: i64 = left.iter().zip(right).map(|(a, b)| a * b).sum();
            // 33·8 products of 2^14: far below 2^53.
            sum as f64
        })
        .collect();
    largest_eigenvalue(gram, size, 7).sqrt()
}

/// An upper bound of the largest eigenvalue of a symmetric matrix without negative ones, by squaring it again and again:
/// `λ(A)² = λ(A²) <= λ(fl(A²)) + ‖fl(A²) - A²‖`, and in the end `λ <= ‖A‖_F`. After `k` squarings the factor `√size` that the
/// Frobenius norm may be too large by is `size^(2^-(k+1))`.
fn largest_eigenvalue(matrix: Vec<f64>, size: usize, squarings: u32) -> Interval {
    let squares = matrix.iter().fold(Interval::ZERO, |sum, &entry| {
        sum + Interval::exact(entry.abs()) * Interval::exact(entry.abs())
    });
    if squares.high == 0.0 || squarings == 0 {
        return squares.sqrt();
    }
    // Scaled by a power of two, exactly, so that nothing overflows: entries are then at most 1.
    let largest = matrix
        .iter()
        .fold(0.0f64, |most, entry| most.max(entry.abs()));
    let exponent = crate::oracle::spectrum::exponent_of(largest) + 1;
    let scale = Interval::power_of_two(exponent);
    let scaled: Vec<f64> = matrix.iter().map(|entry| entry / scale.high).collect();
    // Rows for columns, as it is symmetric; and both orders of a pair add the same products in the same order.
    let square: Vec<f64> = (0..size * size)
        .map(|index| {
            let row = |r: usize| &scaled[r * size..(r + 1) * size];
            let products = row(index / size).iter().zip(row(index % size));
            products.map(|(a, b)| a * b).sum()
        })
        .collect();
    // A sum of `size` products is off by at most size·2^-53/(1 - size·2^-53) of the sum of magnitudes, which is an entry of
    // |A||A|, whose Frobenius norm is at most ‖A‖_F². Twice that covers the denominator and what underflows.
    let off = Interval::whole(2 * size) * Interval::power_of_two(-53) * squares / (scale * scale)
        + Interval::power_of_two(-900);
    let square = largest_eigenvalue(square, size, squarings - 1) + off;
    scale * square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_definition() {
        assert_eq!(balanced(127 << 48, 7), [127, 0, 0, 0, 0, 0, 0]);
        assert_eq!(balanced(-(127 << 47), 7), [-63, -128, 0, 0, 0, 0, 0]);
        assert_eq!(balanced(128, 2), [1, -128]);
        let half = root_of_unity(1, 6).re;
        assert_eq!(rounded(half, 7), 127 << 47);
        // cos(45°)·127·256 = 22989.1…
        assert_eq!(rounded(root_of_unity(1, 8).re, 2), 22_989);
        for value in [1, -1, 127, 128, -128, -129, 32_000, 1 << 40, -(1 << 40)] {
            let digits = balanced(value, 7);
            let back = digits.iter().fold(0, |sum, digit| 256 * sum + digit);
            assert_eq!(back, value);
            assert!(digits.iter().all(|digit| (-128..=127).contains(digit)));
        }
    }

    #[test]
    fn eigenvalues_are_bounded_closely() {
        // 2 on the diagonal, 1 beside it: 2 + 2·cos(π/(size+1)).
        for size in [1usize, 2, 7, 33] {
            let matrix: Vec<f64> = (0..size * size)
                .map(|index| match (index / size).abs_diff(index % size) {
                    0 => 2e6,
                    1 => 1e6,
                    _ => 0.0,
                })
                .collect();
            let exact = 2e6 + 2e6 * (std::f64::consts::PI / (size as f64 + 1.0)).cos();
            let bound = largest_eigenvalue(matrix, size, 7).high;
            assert!(
                bound >= exact && bound <= exact * (size as f64).powf(1.0 / 256.0) * (1.0 + 1e-9),
                "{size}: {bound} for {exact}"
            );
        }
        assert_eq!(largest_eigenvalue(vec![0.0; 4], 2, 7), Interval::ZERO);
    }

    #[test]
    fn matrices_have_the_sizes_of_the_text_and_are_transforms() {
        // Rows of the cosine matrix of a shifted fold, undigitised, are orthogonal: the norm of all digits together is near
        // that of random ones, 73.9·(√rows + √columns) at most, and at least 73.9·√columns/2.
        for (n, fold) in [
            (61, Fold::Plain),
            (32, Fold::TimeShifted),
            (64, Fold::FrequencyShifted),
        ] {
            for sine in [false, true] {
                let key = Dropped {
                    n,
                    fold,
                    sine,
                    digits: 7,
                    first: 1,
                };
                let norm = norm_of_dropped(key).high;
                let (rows, columns) = (key.slots() as f64, key.columns() as f64);
                assert!(norm > 37.0 * columns.sqrt(), "{key:?}: {norm}");
                // The first row, all 127 or 0 but for its digits, is the worst.
                assert!(norm < 128.0 * (rows * columns).sqrt(), "{key:?}: {norm}");
            }
        }
        let key = |n, fold, sine| Dropped {
            n,
            fold,
            sine,
            digits: 7,
            first: 1,
        };
        assert_eq!(key(61, Fold::Plain, false).slots(), 31);
        assert_eq!(key(61, Fold::Plain, true).slots(), 30);
        assert_eq!(key(32, Fold::TimeShifted, true).slots(), 16);
        assert_eq!(key(4, Fold::Unit, true).slots(), 0);
    }
}
