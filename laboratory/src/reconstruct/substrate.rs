//! What multiplies, and with which moduli.

use residues::bytes::Portable;
use residues::fp8::{Accumulator, Fp8Unit};
use residues::products::Unit8;
use residues::reconstruct::{ByteSlices, Fp8Slices, PhaseA};
use residues::{Moduli, ResidueError, Residues, Set};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// What multiplies, and the moduli that are made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Substrate {
    /// Signed bytes, moduli up to 256.
    Int8,
    /// E4M3 numbers on a simulated unit, moduli up to 33².
    Fp8,
    /// Signed bytes, and the coprime numbers from 128 downwards: 7 bits each, as the paper's text has them.
    Seven,
}

impl Substrate {
    /// All of them.
    pub const ALL: [Substrate; 3] = [Substrate::Int8, Substrate::Fp8, Substrate::Seven];

    /// The name, as options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Substrate::Int8 => "int8",
            Substrate::Fp8 => "fp8",
            Substrate::Seven => "seven",
        }
    }

    /// Its moduli.
    pub fn moduli(self, count: usize) -> Result<Moduli, ResidueError> {
        match self {
            Substrate::Int8 => Moduli::first(Set::Int8, count),
            Substrate::Fp8 => Moduli::first(Set::Fp8, count),
            Substrate::Seven if !(1..=Moduli::MOST).contains(&count) => {
                Err(ResidueError::ModuliCount {
                    set: Set::Int8,
                    asked: count,
                    most: Moduli::MOST,
                })
            }
            Substrate::Seven => Moduli::new(Set::Int8, &coprime_downwards(128, count)),
        }
    }

    /// Its phase A on this unit: the one that takes so many products, or else the one with the fewest sums.
    pub(super) fn phase_a(
        self,
        moduli: &Moduli,
        unit: Fp8Unit,
        residues: &[Residues],
        products: Option<f64>,
    ) -> Result<Box<dyn PhaseA>, ResidueError> {
        if moduli.set() == Set::Int8 {
            return Ok(Box::new(ByteSlices::new(moduli, Arc::new(Portable))?));
        }
        // Not every unit holds the sums of every shape; the last are the smallest.
        let mut built = Vec::new();
        let mut rejected = None;
        for shape in Fp8Slices::SHAPES {
            match Fp8Slices::new(moduli, unit, shape) {
                Ok(phase_a) => built.push(phase_a),
                Err(error) => rejected = Some(error),
            }
        }
        let takes =
            |phase_a: &Fp8Slices| products == Some(phase_a.operations(residues).fp8_products);
        let place = built.iter().position(takes).unwrap_or(0);
        match rejected {
            Some(error) if built.is_empty() => Err(error),
            _ => Ok(Box::new(built.swap_remove(place))),
        }
    }

    /// What multiplies its residues.
    pub(super) fn unit(self) -> Unit8 {
        match self {
            Substrate::Fp8 => Unit8::Fp8(Fp8Unit::new(Accumulator::HOPPER)),
            Substrate::Int8 | Substrate::Seven => Unit8::Int8(Arc::new(Portable)),
        }
    }
}

impl fmt::Display for Substrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The largest pairwise coprime numbers, each as large as those before it allow.
fn coprime_downwards(from: u16, count: usize) -> Vec<u16> {
    fn common_factor(a: u16, b: u16) -> u16 {
        if b == 0 { a } else { common_factor(b, a % b) }
    }
    let mut taken: Vec<u16> = Vec::new();
    for number in (2..=from).rev() {
        if taken.len() < count && taken.iter().all(|&m| common_factor(m, number) == 1) {
            taken.push(number);
        }
    }
    taken
}

/// The largest primes.
pub(super) fn primes_downwards(from: u16, count: usize) -> Vec<u16> {
    let is_prime = |n: &u16| (2..*n).all(|divisor| !n.is_multiple_of(divisor));
    (2..=from).rev().filter(is_prime).take(count).collect()
}
