//! Numbers to sum: harmless ones, and some that nearly cancel.

use ozfft_testkit::oracle::inputs::Generator;

/// A kind of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Data {
    /// Uniform between -1 and 1.
    Signed,
    /// `Σ|x| / |Σx|` about this large: numbers of many magnitudes that cancel in pairs, and a sum of 1.
    Condition(f64),
    /// Every exponent that a double has.
    AllExponents,
}

impl Data {
    /// What tables call it.
    pub fn name(self) -> String {
        match self {
            Data::Signed => "signed".into(),
            Data::Condition(number) => format!("condition {number:.0e}"),
            Data::AllExponents => "all exponents".into(),
        }
    }

    /// So many numbers.
    pub fn numbers(self, count: usize, seed: u64) -> Vec<f64> {
        let mut generator = Generator::new(seed);
        match self {
            Data::Signed => (0..count).map(|_| generator.uniform()).collect(),
            Data::AllExponents => (0..count)
                .map(|_| {
                    let exponent = generator.below(2046) as i32 - 1022;
                    scaled(generator.uniform(), exponent)
                })
                .collect(),
            Data::Condition(number) => {
                // Pairs that cancel: one makes up the sum of magnitudes, the others have all magnitudes below it.
                let bits = (number / count as f64).log2().max(0.0) as usize;
                let half = count / 2;
                let mut values = vec![0.0; count];
                for k in 0..half {
                    let value = scaled(generator.uniform(), generator.below(bits + 1) as i32);
                    (values[k], values[half + k]) = (value, -value);
                }
                if half > 1 {
                    (values[0], values[half]) = (number / 2.0, -number / 2.0);
                    // The one number that stays: the exact sum is 1.
                    (values[1], values[half + 1]) = (1.0, 0.0);
                }
                for end in (1..count).rev() {
                    values.swap(end, generator.below(end + 1));
                }
                values
            }
        }
    }
}

fn scaled(value: f64, exponent: i32) -> f64 {
    // In two steps, as the power itself may be out of range.
    value * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_numbers_are_what_they_are_called() {
        for number in [1e10, 1e100, 1e300] {
            let values = Data::Condition(number).numbers(1000, 1);
            assert_eq!(kulisch::sum(&values), 1.0);
            let found = kulisch::condition_number(&values);
            assert!(
                (number..2.0 * number).contains(&found),
                "{found:e} for {number:e}"
            );
        }
    }
}
