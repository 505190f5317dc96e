//! Numbers to sum: harmless ones, and some that nearly cancel.

use oracle::inputs::Generator;

/// A kind of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Data {
    /// Uniform between -1 and 1.
    Signed,
    /// `Σ|x| / |Σx|` about this large: numbers of many magnitudes that cancel in pairs, and a few that do not.
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
                let bits = number.log2() as usize;
                let mut values: Vec<f64> = (0..count / 2)
                    .map(|_| scaled(generator.uniform(), generator.below(bits + 1) as i32))
                    .collect();
                let negatives: Vec<f64> = values.iter().map(|value| -value).collect();
                values.extend(negatives);
                values.resize(count, 0.5);
                // One number that stays, so that the sum is about 1 whatever the length.
                if let Some(last) = values.last_mut() {
                    *last += 1.0;
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
