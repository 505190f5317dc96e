//! What transforms by digits take on a unit: a prediction from counts of the recipe and three constants of the unit.
//!
//! ```text
//! time a point = passes · pass + strided passes · strided + digit products · product
//! ```
//!
//! A *pass* reads all points, quantises, folds, rotates and writes them, whatever its steps are; a *strided* one walks across lines. A point
//! of a step of `n` points takes `n/2` products of words, each of as many products of digits as the recipe keeps. Constants are fitted to
//! records of `ozfft bench` ([`fit`]), so they are those of the record's machine; memory is in them.
//!
//! **Recipes are not chosen by predicted time**, but by the number of digit products ([`digit_products`]): which recipe runs decides bits, and
//! bits must not depend on the machine.

use serde::{Deserialize, Serialize};

/// Products of digits for one product of words: digits `i` of the matrix meet data digits on the first `diagonals` diagonals.
///
/// ```
/// // All pairs of eight data digits and seven matrix digits on the first eight diagonals: 8 + 7 + 6 + 5 + 4 + 3 + 2.
/// assert_eq!(roofline::digits::digit_products(8, 7, 8), 35);
/// ```
pub fn digit_products(data: u32, matrix: u32, diagonals: u32) -> u32 {
    (0..matrix)
        .map(|i| diagonals.saturating_sub(i).min(data))
        .sum()
}

/// What a recipe asks for, for every point of the array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
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
    pub fn add_pass(&mut self, padding: f64, steps: &[usize], strided: bool, products: u32) {
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// Units with constants, and the machine they are of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredUnit {
    /// As plans name it.
    pub unit: String,
    /// The machine that was measured.
    pub machine: String,
    /// The record that constants are fitted to.
    pub record: String,
    /// The constants.
    pub cost: UnitCost,
}

/// All units whose constants come with the crate.
pub fn measured_units() -> Vec<MeasuredUnit> {
    serde_json::from_str(include_str!("../units.json")).expect("units.json is tested")
}

/// What modes in floating point take, by mode, unit and number type. Their steps are counted as products: tiles or stages.
///
/// Modes are chosen by it where the caller leaves the engine to the planner.
pub fn measured_modes() -> Vec<MeasuredUnit> {
    serde_json::from_str(include_str!("../modes.json")).expect("modes.json is tested")
}

/// The constants of a mode on a unit for data of a type.
pub fn measured_mode(mode: &str, unit: &str, numbers: &str) -> Option<MeasuredUnit> {
    let name = mode_name(mode, unit, numbers);
    measured_modes().into_iter().find(|mode| mode.unit == name)
}

/// The name of a mode on a unit for data of a type.
pub fn mode_name(mode: &str, unit: &str, numbers: &str) -> String {
    format!("{mode}, {unit}, {numbers}")
}

/// The constants of a unit, by the name that plans give it.
pub fn measured_unit(name: &str) -> Option<MeasuredUnit> {
    measured_units().into_iter().find(|unit| unit.unit == name)
}

/// Constants, none of them negative, for which predicted times are nearest to measured ones in the sum of squares of relative errors:
/// pairs of work and nanoseconds for a point of complex arrays. None where there are fewer pairs than constants, or all of one kind.
pub fn fit(samples: &[(DigitsWork, f64)], real: f64) -> Option<UnitCost> {
    if samples.len() < 3 {
        return None;
    }
    // Few enough constants to try all choices of those that are not zero.
    let mut best: Option<(f64, [f64; 3])> = None;
    for chosen in 1..8u32 {
        let Some(constants) = least_squares(samples, chosen) else {
            continue;
        };
        if constants.iter().any(|&c| c < 0.0) {
            continue;
        }
        let error: f64 = samples
            .iter()
            .map(|(work, time)| (dot(&features(work), &constants) / time - 1.0).powi(2))
            .sum();
        if best.is_none_or(|(least, _)| error < least) {
            best = Some((error, constants));
        }
    }
    let (_, [pass, strided, product]) = best?;
    Some(UnitCost {
        pass,
        strided,
        product,
        real,
    })
}

fn features(work: &DigitsWork) -> [f64; 3] {
    [work.passes, work.strided, work.products]
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Constants of the chosen features, by the normal equations; none where these do not tell them apart.
fn least_squares(samples: &[(DigitsWork, f64)], chosen: u32) -> Option<[f64; 3]> {
    let mut equations = [[0.0; 4]; 3];
    for (work, time) in samples {
        let row = features(work).map(|feature| feature / time);
        for (i, equation) in equations.iter_mut().enumerate() {
            for (j, feature) in row.iter().enumerate() {
                equation[j] += row[i] * feature;
            }
            equation[3] += row[i];
        }
    }
    for i in 0..3 {
        if chosen >> i & 1 == 0 {
            equations[i] = [0.0; 4];
            equations.iter_mut().for_each(|equation| equation[i] = 0.0);
            equations[i][i] = 1.0;
        }
    }
    for i in 0..3 {
        let pivot = equations[i];
        if pivot[i] < 1e-12 * equations.iter().map(|e| e[i].abs()).fold(0.0, f64::max)
            || pivot[i] == 0.0
        {
            return None;
        }
        for (j, equation) in equations.iter_mut().enumerate() {
            if j != i {
                let factor = equation[i] / pivot[i];
                for (to, from) in equation.iter_mut().zip(pivot) {
                    *to -= factor * from;
                }
            }
        }
    }
    Some(std::array::from_fn(|i| equations[i][3] / equations[i][i]))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn constants_that_made_times_are_found_again() {
        let cost = |w: &DigitsWork| 10.0 * w.passes + 2.0 * w.strided + 0.01 * w.products;
        let works = [
            work(1.0, 0.0, 560.0),
            work(1.0, 0.0, 1120.0),
            work(2.0, 2.0, 1120.0),
            work(3.0, 2.0, 840.0),
        ];
        let samples = works.map(|w| (w, cost(&w)));
        let found = fit(&samples, 1.0).unwrap();
        for (a, b) in [
            (found.pass, 10.0),
            (found.strided, 2.0),
            (found.product, 0.01),
        ] {
            assert!((a / b - 1.0f64).abs() < 1e-9, "{found:?}");
        }
        // Times that fall with products cannot be had of constants that are not negative: they get none.
        let falling = works.map(|w| (w, 10.0 * w.passes - 0.001 * w.products));
        assert_eq!(fit(&falling, 1.0).unwrap().product, 0.0);
        assert_eq!(fit(&samples[..2], 1.0), None);
    }

    #[test]
    fn units_and_modes_have_constants_that_can_be_used() {
        let (units, modes) = (measured_units(), measured_modes());
        assert!(units.len() >= 6 && modes.len() >= 20);
        assert!(measured_mode("fast", "avx512", "f32").is_some());
        for unit in units.into_iter().chain(modes) {
            let cost = unit.cost;
            for constant in [cost.pass, cost.strided, cost.product, cost.real] {
                assert!(constant.is_finite() && constant >= 0.0, "{}", unit.unit);
            }
            assert!(cost.pass + cost.product > 0.0 && cost.real > 0.0 && cost.real <= 1.0);
        }
    }
}
