//! Errors against exact dot products.

use ozaki::Scheme;
use ozaki::scaled::field_of;

/// Errors of some results.
#[derive(Debug, Clone, Copy, Default)]
pub struct Errors {
    largest: f64,
    squares: [f64; 2],
    bound: f64,
}

impl Errors {
    /// Takes a result and what it should be into account: a row, and what its numbers are multiplied by. `fields` are the exponent fields that
    /// the scheme has scaled with.
    pub fn add(&mut self, found: f64, left: &[f64], right: &[f64], scheme: Option<(&Scheme, u32)>) {
        let exact = kulisch::dot(left, right).unwrap_or(f64::NAN);
        let magnitudes: f64 = left.iter().zip(right).map(|(a, b)| (a * b).abs()).sum();
        if magnitudes > 0.0 {
            self.largest = self.largest.max((found - exact).abs() / magnitudes);
        }
        self.squares[0] += (found - exact).powi(2);
        self.squares[1] += exact.powi(2);
        if let Some((scheme, right_field)) = scheme.filter(|_| magnitudes > 0.0) {
            let bound = scheme.scaling_bound(field_of(left), right_field, left.len());
            self.bound = self.bound.max(bound / magnitudes);
        }
    }

    /// The largest error, relative to the sum of magnitudes.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// All together, relative to the exact results.
    pub fn relative(&self) -> f64 {
        (self.squares[0] / self.squares[1]).sqrt()
    }

    /// The largest bound of those that were compared.
    pub fn bound(&self) -> Option<f64> {
        (self.bound > 0.0).then_some(self.bound)
    }
}

/// Places that are compared: so many of all, the first and the last among them.
pub fn sample(all: usize, some: usize) -> Vec<usize> {
    match all <= some {
        true => (0..all).collect(),
        false => (0..some).map(|k| k * (all - 1) / (some - 1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_both_ends_and_no_place_twice() {
        assert_eq!(sample(3, 8), [0, 1, 2]);
        let places = sample(1000, 7);
        assert_eq!((places[0], places[6], places.len()), (0, 999, 7));
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn errors_are_relative_to_magnitudes_and_within_the_bound() {
        let scheme = Scheme::with_moduli(2, 10).expect("a scheme");
        let mut errors = Errors::default();
        errors.add(0.5, &[1.0, 1.0], &[1.0, -1.0], Some((&scheme, 1023)));
        assert_eq!(errors.largest(), 0.25);
        assert!(errors.bound().is_some_and(|bound| bound > 0.0));
    }
}
