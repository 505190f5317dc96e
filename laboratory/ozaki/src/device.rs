//! What the kernels `ozaki_*` of `ozfft-kernels` are given for a scheme.

use crate::error::OzakiError;
use crate::operand::Side;
use crate::reconstruction::MOST_IN_DOUBLES;
use crate::scheme::Scheme;
use ozfft_kernels::ozaki::{MOST_MODULI, MOST_PRODUCTS, Reduction, WORDS, Weight, Weights};
use residues::U256;

const _: () = assert!(MOST_MODULI <= MOST_IN_DOUBLES);

/// Bits of the float `1.5·2^23`, to which kernels add sums, and its value.
const FLOAT_BITS: i32 = 0x4b40_0000;
const FLOAT_VALUE: i64 = 0xc0_0000;

/// Tables of a scheme.
#[derive(Debug, Clone, Copy)]
pub struct DeviceTables {
    /// How residues are made of numbers of the left and of the right side.
    pub reductions: [[Reduction; MOST_MODULI]; 2],
    /// How numbers are made of sums.
    pub weights: Weights,
    /// How many moduli.
    pub count: usize,
    /// Bits of the integers.
    pub bits: u32,
}

impl DeviceTables {
    /// The tables, if kernels have so many moduli and sums so few products.
    pub fn new(scheme: &Scheme) -> Result<DeviceTables, OzakiError> {
        let count = scheme.moduli().len();
        if !(2..=MOST_MODULI).contains(&count) {
            let (given, most) = (count, MOST_MODULI);
            return Err(OzakiError::DeviceModuli { given, most });
        }
        if scheme.products() > MOST_PRODUCTS {
            let (given, most) = (scheme.products(), MOST_PRODUCTS);
            return Err(OzakiError::TooLong { given, most });
        }
        let mut tables = DeviceTables {
            reductions: [[Reduction::default(); MOST_MODULI]; 2],
            weights: Weights::default(),
            count,
            bits: scheme.bits(),
        };
        let own = &scheme.weights;
        for (number, &modulus) in scheme.moduli().values().iter().enumerate() {
            for side in [Side::Left, Side::Right] {
                let factor = match side {
                    Side::Left => 1,
                    Side::Right => own.inverses[number],
                };
                tables.reductions[side as usize][number] = reduction(modulus, i64::from(factor));
            }
            let to = &mut tables.weights;
            to.weights[number] = Weight {
                modulus: u32::from(modulus),
                fraction: own.fractions[number],
                offset: (1u32 << 30).next_multiple_of(u32::from(modulus)),
                words: words(own.weights[number]),
            };
            [to.upper[number], to.lower[number]] = own.in_doubles[number];
        }
        let [upper, lower] = own.product_in_doubles;
        tables.weights.product = words(own.product);
        tables.weights.product_in_doubles = [upper, lower, own.reciprocal];
        Ok(tables)
    }

    /// The first 16 reductions of the right side, for vectors.
    pub fn of_vectors<const COUNT: usize>(&self) -> [Reduction; COUNT] {
        std::array::from_fn(|number| self.reductions[Side::Right as usize][number])
    }
}

/// The lowest words.
fn words(value: U256) -> [u32; WORDS] {
    std::array::from_fn(|word| (value >> (32 * word as u32)).as_u32())
}

/// The representative of least magnitude.
fn balanced(value: i64, modulus: i64) -> i64 {
    let rest = value.rem_euclid(modulus);
    if 2 * rest >= modulus {
        rest - modulus
    } else {
        rest
    }
}

/// Residues of a word times a factor: its bytes, without signs after the topmost bit is flipped, times powers of 256.
fn reduction(modulus: u16, factor: i64) -> Reduction {
    let long = i64::from(modulus);
    let mut powers = [0u32; 2];
    let mut power = factor.rem_euclid(long);
    for place in 0..8 {
        let byte = balanced(power, long) as i8 as u8;
        powers[place / 4] |= u32::from(byte) << (8 * (place % 4));
        if place < 7 {
            power = power * 256 % long;
        }
    }
    // The topmost bit is 128·256^7.
    let begin = balanced(-128 * power - FLOAT_VALUE, long);
    Reduction {
        powers,
        begin: FLOAT_BITS + begin as i32,
        reciprocal: 1.0 / f32::from(modulus),
        modulus: i32::from(modulus),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residues of all sums are signed bytes: `f = 1.5·2^23 + sum` over a modulus, by a reciprocal that is a little off, is next to an integer,
    /// and what is left lies between `-m/2 - f·e` and `m/2 - f·e`.
    #[test]
    fn residues_are_signed_bytes() {
        let scheme = Scheme::with_moduli(1 << 16, MOST_MODULI).expect("a scheme");
        for &modulus in &scheme.moduli().values()[1..] {
            let modulus = f64::from(modulus);
            let largest = FLOAT_VALUE as f64 + 8.0 * 255.0 * 128.0 + 128.0;
            let off = (modulus * f64::from(1.0 / modulus as f32) - 1.0) * largest;
            assert!(modulus / 2.0 + off.max(0.0) < 129.0 && modulus / 2.0 - off.min(0.0) < 128.0);
        }
    }

    #[test]
    fn schemes_that_kernels_do_not_take_are_rejected() {
        let scheme = |products, count| Scheme::with_moduli(products, count).expect("a scheme");
        assert!(DeviceTables::new(&scheme(16, 18)).is_ok());
        assert!(matches!(
            DeviceTables::new(&scheme(16, 19)),
            Err(OzakiError::DeviceModuli { given: 19, .. })
        ));
        assert!(matches!(
            DeviceTables::new(&scheme((1 << 16) + 1, 16)),
            Err(OzakiError::TooLong { .. })
        ));
    }
}
