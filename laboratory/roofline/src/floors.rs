//! The floors: rates that a unit must have, in multiples of the memory's bandwidth, for a transform to run at the speed of memory.
//!
//! Closed forms for any N, r, S, c and word width come first; [`floors`] then reads the same off a path and compares it with a machine.

use crate::error::RooflineError;
use crate::kernels::{Cube, printed_products};
use crate::machine::Machine;
use crate::mode::Mode;
use crate::paths::Path;
use crate::rate::Rate;
use serde::Serialize;

/// Floor 1, equations 15 and 27: 15 log2 N / 96 operations a byte.
pub fn native(n: usize) -> f64 {
    15.0 * (n as f64).log2() / 96.0
}

/// The same in single precision, whose traffic is half: 15 log2 N / 48.
pub fn native_single(n: usize) -> f64 {
    2.0 * native(n)
}

/// Floors 2 and 3, equations 16, 17, 31 and 32: c operations for each of S slices of every output. The paper has 18 outputs a point, which makes
/// it 3cS/16.
///
/// ```
/// assert_eq!(roofline::floors::reconstruction(18.0, 4.0, 11.0), 8.25);
/// ```
pub fn reconstruction(outputs_per_point: f64, operations_per_slice: f64, slices: f64) -> f64 {
    outputs_per_point * operations_per_slice * slices / 96.0
}

/// The same in single precision (equation 24).
pub fn reconstruction_single(outputs_per_point: f64, slices: f64) -> f64 {
    outputs_per_point * slices / 48.0
}

/// Floor 4, equation 18: products and phase A, over the bytes.
pub fn matrix(cube: Cube, moduli: f64, slices: f64) -> f64 {
    let phase_a = 18.0 * cube.points() * moduli * slices;
    (printed_products(cube, moduli) + phase_a) / cube.bytes()
}

/// Equation 21: floor 4 if phase B, so much of phase A's work, runs on the same units with some efficiency.
pub fn dual_use(matrix: f64, share: f64, efficiency: f64) -> f64 {
    (1.0 + share / efficiency) * matrix
}

/// Equation 22: the efficiency at which the floor of equation 21 reaches the machine's rate.
pub fn break_even(rate: f64, floor: f64, share: f64) -> f64 {
    share / (rate / floor - 1.0)
}

/// Equation 19: word operations of an output over the lanes of a vector, for words that carry `radix` of their bits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Words {
    /// Bits of a word.
    pub word: u32,
    /// Bits that it carries; the others are guards.
    pub radix: u32,
    /// Bits of a vector.
    pub vector: u32,
    /// Slices.
    pub slices: u32,
    /// Bits of a slice's sum.
    pub payload: u32,
    /// Bits of the accumulator.
    pub accumulator: u32,
}

impl Words {
    /// With the paper's vector, slices, payload and accumulator.
    pub fn printed(word: u32, radix: u32) -> Words {
        Words {
            word,
            radix,
            vector: 512,
            slices: 11,
            payload: 20,
            accumulator: 104,
        }
    }

    /// Lanes of a vector.
    pub fn lanes(self) -> u32 {
        self.vector / self.word
    }

    /// Words of the accumulator.
    pub fn words(self) -> u32 {
        self.accumulator.div_ceil(self.radix)
    }

    /// c(w).
    pub fn cost(self) -> f64 {
        let operations = self.slices * self.payload.div_ceil(self.radix) + self.words();
        f64::from(operations) / f64::from(self.lanes())
    }
}

/// Equation 38: the gain of a whole whose part f becomes k times faster.
pub fn amdahl(fraction: f64, gain: f64) -> f64 {
    1.0 / ((1.0 - fraction) + fraction / gain)
}

/// A rate that a path needs on one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Floor {
    /// The unit.
    pub rate: Rate,
    /// Operations a byte of memory.
    pub coefficient: f64,
    /// Operations a second, at the machine's bandwidth.
    pub needed: f64,
    /// What the machine has; none if that is not known.
    pub have: Option<f64>,
    /// What it has over what is needed.
    pub margin: Option<f64>,
}

/// A coefficient as the paper rounds it before it goes on: 1.56, 8.25, 170.
pub fn as_printed(rate: Rate, coefficient: f64) -> f64 {
    let digits = if rate == Rate::Fp8 { 2 } else { 3 };
    let size = 10f64.powi(digits - 1 - coefficient.abs().log10().floor() as i32);
    (coefficient * size).round() / size
}

/// Floors of a path on a machine. In mode *printed* coefficients are rounded as in the paper.
pub fn floors(path: &Path, machine: &Machine) -> Result<Vec<Floor>, RooflineError> {
    let bandwidth = machine.bandwidth(path.mode)?;
    let floor = |(rate, exact): (Rate, f64)| {
        let coefficient = match path.mode {
            Mode::Printed => as_printed(rate, exact),
            _ => exact,
        };
        let needed = coefficient * bandwidth;
        let have = machine.rate(path.mode, rate).ok();
        Floor {
            rate,
            coefficient,
            needed,
            have,
            margin: have.map(|have| have / needed),
        }
    };
    Ok(path.intensities().into_iter().map(floor).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{Substrate, Variant, path};

    fn cube() -> Cube {
        Cube::new(1024).unwrap()
    }

    #[test]
    fn closed_forms_are_the_paper_s() {
        assert_eq!(native(1024), 1.5625); // 15 · 10 / 96
        assert_eq!(native(512), 1.40625); // 15 · 9 / 96
        assert_eq!(native_single(1024), 3.125);
        assert_eq!(reconstruction(18.0, 1.0, 11.0), 2.0625); // 33/16
        assert_eq!(reconstruction(18.0, 4.0, 14.0), 10.5); // 168/16
        assert_eq!(reconstruction_single(18.0, 6.0), 2.25); // 3·6/8
        // (3·2·2·32·37 + 18·12·11) / 96 = (14208 + 2376) / 96.
        assert_eq!(matrix(cube(), 12.0, 11.0), 172.75);
        assert!((dual_use(170.0, 0.4, 1.0) - 238.0).abs() < 1e-9);
        // 0.3 / (5/1.36 - 1) = 0.3 · 1.36 / 3.64.
        assert!((break_even(5.0, 1.36, 0.3) - 0.3 * 1.36 / 3.64).abs() < 1e-12);
        // 1 / (0.5 + 0.5/12) = 24/13.
        assert!((amdahl(0.5, 12.0) - 24.0 / 13.0).abs() < 1e-12);
    }

    #[test]
    fn equation_19_by_hand() {
        // (11·1 + 4)/16, (11·2 + 8)/32, (11·3 + 15)/64.
        assert_eq!(Words::printed(32, 32).cost(), 0.9375);
        assert_eq!(Words::printed(16, 13).cost(), 0.9375);
        assert_eq!(Words::printed(8, 7).cost(), 0.75);
    }

    #[test]
    fn floors_of_paths_are_the_closed_forms() {
        let machine = Machine::named("b300").unwrap();
        let of = |way| {
            let path = path(way, Substrate::Fp8, Mode::Printed, 1024);
            path.unwrap().unwrap().intensities()
        };
        assert_eq!(of(Variant::Native), [(Rate::Fp64, native(1024))]);
        let kulisch = of(Variant::Kulisch32);
        assert_eq!(kulisch[0], (Rate::Fp8, matrix(cube(), 12.0, 11.0)));
        assert_eq!(kulisch[1], (Rate::Int32, 8.25));
        assert_eq!(of(Variant::Fp64Sum)[1], (Rate::Fp64, 2.0625));
        let path = path(Variant::Kulisch32, Substrate::Fp8, Mode::Printed, 1024);
        let floors = floors(&path.unwrap().unwrap(), &machine).unwrap();
        // 170 · 8 TB/s and 8.25 · 8 TB/s.
        assert_eq!(floors[0].needed, 1.36e15);
        assert_eq!(floors[1].needed, 66e12);
    }

    #[test]
    fn corrected_counts_of_kulisch_by_hand() {
        let path = path(Variant::Kulisch32, Substrate::Int8, Mode::Corrected, 1024);
        let path = path.unwrap().unwrap();
        let intensities = path.intensities();
        // Products: 2·3·64 operations a point and 15.5 products of bytes; phase A: 2·6·(15·18 + 16·19) a point. Over 96 bytes.
        let matrix = (2.0 * 3.0 * 64.0 * 15.5 + 12.0 * (270.0 + 304.0)) / 96.0;
        assert_eq!(intensities[0].0, Rate::Int8);
        assert!((intensities[0].1 - matrix).abs() < 1e-9);
        // 6 outputs of 15 slices, 6 of 16: 2S + 6 + 2.75 S each; 810 for each of three axes.
        let integers = (6.0 * (36.0 + 41.25 + 38.0 + 44.0) + 2430.0) / 96.0;
        assert_eq!(intensities[1].0, Rate::IntegerInstructions);
        assert!((intensities[1].1 - integers).abs() < 1e-9);
        // The compiler needed 301 instructions a point and axis for four outputs, where the formula has 4 · 79.6 = 318.5.
        let formula = 6.0 * (36.0 + 41.25 + 38.0 + 44.0) / 3.0;
        assert!((formula / 301.0 - 1.0f64).abs() < 0.1);
    }

    #[test]
    fn digits_ask_for_230_instructions_a_point_and_axis() {
        let path = path(Variant::Digits, Substrate::Int8, Mode::Corrected, 1024);
        let intensities = path.unwrap().unwrap().intensities();
        // 2·192·35/96 = 140 and 690/96 = 7.1875.
        assert_eq!(intensities[0], (Rate::Int8, 140.0));
        assert_eq!(intensities[1], (Rate::IntegerInstructions, 7.1875));
    }
}
