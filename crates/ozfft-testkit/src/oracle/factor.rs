//! Small number theory: factors and splittings of a length.

/// The prime factors in ascending order, with multiplicity; empty for 1.
pub(crate) fn prime_factors(mut value: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= value {
        while value.is_multiple_of(candidate) {
            factors.push(candidate);
            value /= candidate;
        }
        candidate += 1;
    }
    if value > 1 {
        factors.push(value);
    }
    factors
}

/// The divisor pair `(small, large)` of `value` nearest its square root; `small` is 1 for primes.
pub(crate) fn balanced_split(value: usize) -> (usize, usize) {
    let small = (1..=value.isqrt())
        .rev()
        .find(|&divisor| value.is_multiple_of(divisor))
        .unwrap_or(1);
    (small, value / small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_multiply_back_and_splits_divide() {
        for value in 1..2000 {
            assert_eq!(prime_factors(value).iter().product::<usize>(), value);
            let (small, large) = balanced_split(value);
            assert!(small * large == value && small <= large);
        }
        assert_eq!(balanced_split(97), (1, 97));
        assert_eq!(balanced_split(96), (8, 12));
    }
}
