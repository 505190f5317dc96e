//! The formats that matrix units multiply: bf16 and f16, both with 16 bits and products that an f32 holds.

use crate::numbers::bf16;
use crate::numbers::fp16;
use crate::numbers::roots::Real;
use std::fmt;

/// A number format of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// 8 significant bits, the exponents of f32.
    Bf16,
    /// 11 significant bits, numbers up to 65504 and down to multiples of `2^-24`.
    Fp16,
}

impl Format {
    /// Significant bits.
    pub const fn bits(self) -> u32 {
        match self {
            Format::Bf16 => 8,
            Format::Fp16 => 11,
        }
    }

    /// Relative error of rounding a number that is not subnormal, at most.
    pub(crate) fn unit_roundoff(self) -> f64 {
        (-f64::from(self.bits())).exp2()
    }

    /// The bits of the nearest number, ties to even.
    pub fn round(self, value: f32) -> u16 {
        match self {
            Format::Bf16 => bf16::round(value),
            Format::Fp16 => fp16::round(value),
        }
    }

    /// The number.
    pub fn to_f32(self, bits: u16) -> f32 {
        match self {
            Format::Bf16 => bf16::to_f32(bits),
            Format::Fp16 => fp16::to_f32(bits),
        }
    }

    /// A real number as the sum of `count` numbers, each the nearest to what the ones before leave.
    pub(crate) fn slices(self, mut value: Real, count: usize) -> Vec<u16> {
        (0..count)
            .map(|_| {
                let slice = self.round(value.to_f32_sticky());
                value = value.minus(f64::from(self.to_f32(slice)));
                slice
            })
            .collect()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Bf16 => "bf16",
            Format::Fp16 => "f16",
        })
    }
}
