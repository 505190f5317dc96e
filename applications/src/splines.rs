//! Cardinal B-splines: how a point's charge is spread over a mesh.

use num_complex::Complex;
use std::f64::consts::TAU;

/// Largest order that is offered.
pub const MOST_ORDER: usize = 12;

/// 1/n, because multiplications are faster than divisions.
const RECIPROCALS: [f64; MOST_ORDER] = {
    let mut table = [1.0; MOST_ORDER];
    let mut n = 1;
    while n < MOST_ORDER {
        table[n] = 1.0 / n as f64;
        n += 1;
    }
    table
};

/// Values of the B-spline of this order around a point: `values()[j]` belongs to the mesh point `first + j`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// The first mesh point that the spline reaches; below zero or beyond the mesh it is meant periodically.
    pub first: i64,
    values: [f64; MOST_ORDER],
    order: usize,
}

impl Weights {
    /// Of a point at `position`, in units of the mesh spacing.
    ///
    /// ```
    /// use ozfft_applications::splines::Weights;
    /// let weights = Weights::new(2.25, 2);
    /// assert_eq!((weights.first, weights.values()), (2, &[0.75, 0.25][..]));
    /// ```
    pub fn new(position: f64, order: usize) -> Weights {
        assert!(
            (2..=MOST_ORDER).contains(&order),
            "programs offer no others"
        );
        let floor = libm::floor(position);
        let x = position - floor;
        let mut values = [0.0; MOST_ORDER];
        (values[0], values[1]) = (1.0 - x, x);
        // With values[j] = M_n(x + n-1-j) the recursion M_n(u) = (u M_{n-1}(u) + (n-u) M_{n-1}(u-1)) / (n-1) reads its own and its left
        // neighbour's old value: from the right to the left it can be done in place.
        for n in 3..=order {
            for j in (0..n).rev() {
                let left = if j > 0 { values[j - 1] } else { 0.0 };
                let from_left = (x + (n - 1 - j) as f64) * left;
                let own = ((j + 1) as f64 - x) * values[j];
                values[j] = (from_left + own) * RECIPROCALS[n - 1];
            }
        }
        Weights {
            first: floor as i64 + 1 - (order / 2) as i64,
            values,
            order,
        }
    }

    /// One for each mesh point from `first` on; they add up to 1.
    pub fn values(&self) -> &[f64] {
        &self.values[..self.order]
    }
}

/// The squared modulus by which spreading with splines and reading with splines damps the mode `m` of a mesh of so many points
/// together: that of Σ_k M_n(k+1) exp(2πi mk/points).
///
/// For an odd order it is zero at half the mesh's frequency, to which such splines cannot be fitted.
pub fn damping(order: usize, m: i64, points: usize) -> f64 {
    let at_knots = Weights::new(0.0, order);
    let mut sum = Complex::new(0.0, 0.0);
    for (k, &value) in at_knots.values().iter().enumerate() {
        // The phase is reduced in integers.
        let turn = (m * k as i64).rem_euclid(points as i64) as f64 / points as f64;
        sum += value * Complex::new(libm::cos(TAU * turn), libm::sin(TAU * turn));
    }
    if order % 2 == 1 && 2 * m.unsigned_abs() as usize == points {
        return 0.0;
    }
    sum.norm_sqr()
}

/// The signed frequency of an index of a transform of this length, between -n/2 and n/2.
pub fn frequency(index: usize, length: usize) -> i64 {
    if 2 * index <= length {
        index as i64
    } else {
        index as i64 - length as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_a_partition_of_unity_and_agree_with_the_polynomials_of_cubic_splines() {
        for order in 2..=MOST_ORDER {
            for position in [0.0, 0.3, 5.999, -2.4] {
                let weights = Weights::new(position, order);
                let sum: f64 = weights.values().iter().sum();
                // Each value has at most 3·order roundings.
                assert!((sum - 1.0).abs() < 4.0 * MOST_ORDER as f64 * f64::EPSILON);
            }
        }
        let x = 0.3_f64;
        let cubic = [
            (1.0 - x).powi(3) / 6.0,
            (3.0 * x.powi(3) - 6.0 * x * x + 4.0) / 6.0,
            (-3.0 * x.powi(3) + 3.0 * x * x + 3.0 * x + 1.0) / 6.0,
            x.powi(3) / 6.0,
        ];
        let weights = Weights::new(7.3, 4);
        assert_eq!(weights.first, 6);
        for (value, expected) in weights.values().iter().zip(cubic) {
            // 7.3 - 7 is 0.3 to 2^-51.
            assert!((value - expected).abs() < 8.0 * f64::EPSILON);
        }
    }

    #[test]
    fn damping_is_one_for_the_mean_and_known_for_cubic_splines() {
        for order in 2..=MOST_ORDER {
            assert!((damping(order, 0, 16) - 1.0).abs() < 1e-14);
        }
        // (2 + cos θ)/3, squared.
        let expected = ((2.0 + (TAU * 3.0 / 16.0).cos()) / 3.0).powi(2);
        assert!((damping(4, 3, 16) - expected).abs() < 1e-15);
        assert_eq!(damping(5, 8, 16), 0.0);
        assert_eq!([0, 3, 4, 7].map(|index| frequency(index, 8)), [0, 3, 4, -1]);
    }
}
