//! Predicted time of digits transforms on a unit, from counts of the recipe and three constants of the unit.
//!
//! ```text
//! time a point = passes · pass + strided passes · strided + digit products · product
//! ```
//!
//! A *pass* reads all points, quantises, folds, rotates and writes them, whatever its steps are; a *strided* one walks across lines. A point
//! of a step of `n` points takes `n/2` products of words, each of as many products of digits as the recipe keeps. Constants are fitted to
//! records of `ozfft bench` (`ozfft-lab model predictions --fit`), so they are those of the record's machine; memory is in them.
//!
//! **Recipes are not chosen by predicted time**, but by the number of digit products (`recipe::digit_products`): which recipe runs decides bits, and
//! bits must not depend on the machine.

#[cfg(feature = "serde")]
use serde::Serialize;

/// Operation counts of a recipe per point of the array.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct DigitsWork {
    /// Times that points are read and written; more than the number of axes and passes where a line is padded.
    pub passes: f64,
    /// As far as they walk across lines.
    pub strided: f64,
    /// Products of digits.
    pub products: f64,
}

impl DigitsWork {
    /// Adds a pass over `padding` points for every point of the array, with steps of so many points each; steps without
    /// multiplications are left out.
    pub(crate) fn add_pass(&mut self, padding: f64, steps: &[usize], strided: bool, products: u32) {
        self.passes += padding;
        if strided {
            self.strided += padding;
        }
        for &n in steps {
            self.products += padding * n as f64 / 2.0 * f64::from(products);
        }
    }
}

/// Nanoseconds on one thread, or on one GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct UnitCost {
    /// For a point of a pass.
    pub pass: f64,
    /// For a point of a strided one, besides.
    pub strided: f64,
    /// For a product of digits.
    pub product: f64,
    /// The share of a real array's points, as long as both halves are not computed.
    pub real: f64,
}

impl UnitCost {
    /// Nanoseconds for a point.
    pub fn for_point(&self, work: &DigitsWork) -> f64 {
        self.pass * work.passes + self.strided * work.strided + self.product * work.products
    }
}

/// A unit with its constants, and the machine they are of.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct MeasuredUnit {
    /// As plans name it.
    pub unit: &'static str,
    /// The machine that was measured.
    pub machine: &'static str,
    /// The record that constants are fitted to.
    pub record: &'static str,
    /// The constants.
    pub cost: UnitCost,
}

/// A unit by its name, machine, record and constants.
pub(super) const fn unit(
    unit: &'static str,
    machine: &'static str,
    record: &'static str,
    [pass, strided, product, real]: [f64; 4],
) -> MeasuredUnit {
    MeasuredUnit {
        unit,
        machine,
        record,
        cost: UnitCost {
            pass,
            strided,
            product,
            real,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "floats")]
    use crate::plan::measured_units::{self, measured_mode};

    fn work(passes: f64, strided: f64, products: f64) -> DigitsWork {
        DigitsWork {
            passes,
            strided,
            products,
        }
    }

    #[test]
    fn work_of_a_block_of_1024_points_is_as_by_hand() {
        // Two steps of 32 points: 16 products of words each, 35 of digits for each of those.
        let mut found = DigitsWork::default();
        found.add_pass(1.0, &[32, 32], true, 35);
        assert_eq!(found, work(1.0, 1.0, 1120.0));
        // A padded line: 2.5 points for each.
        found.add_pass(2.5, &[4], false, 10);
        assert_eq!(found, work(3.5, 1.0, 1170.0));
    }

    #[cfg(feature = "floats")]
    #[test]
    fn units_and_modes_have_constants_that_can_be_used() {
        let modes = measured_units::MODES;
        assert!(measured_mode("fast", "avx512", "f32").is_some());
        for unit in measured_units::UNITS.into_iter().chain(modes) {
            let cost = unit.cost;
            for constant in [cost.pass, cost.strided, cost.product, cost.real] {
                assert!(constant.is_finite() && constant >= 0.0, "{}", unit.unit);
            }
            assert!(cost.pass + cost.product > 0.0 && cost.real > 0.0 && cost.real <= 1.0);
        }
    }
}
