//! All ways by name.

use super::Reconstruction;
use super::bernstein::Bernstein;
use super::bins::Bins;
use super::double_single::DoubleSingle;
use super::double_sum::DoubleSum;
use super::floats::{Arithmetic, FloatSum};
use super::forward::{Forward, Layout, PhaseA, PhaseB};
use super::fp8_bands::Fp8Bands;
use super::fp8_slices::Fp8Slices;
use super::garner::Garner;
use super::kulisch_lanes::Lanes;
use super::kulisch_words::{words8, words16};
use super::quad_single::QuadSingle;
use super::single_kahan::SingleKahan;
use super::slices::ByteSlices;
use super::sum_k::Sum3;
use super::sum2::Sum2;
use crate::bytes::ByteProducts;
use crate::error::ResidueError;
use crate::fp8::{Accumulator, Fp8Unit};
use crate::moduli::{Moduli, Set};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A way of reconstruction.
///
/// ```
/// use residues::bytes::Portable;
/// use residues::reconstruct::Method;
/// use residues::{COLUMNS, I256, Moduli, Set, residue_of};
/// use std::sync::Arc;
///
/// let moduli = Moduli::first(Set::Int8, 12)?;
/// let way = "kulisch32".parse::<Method>()?.build(&moduli, Arc::new(Portable))?;
/// assert!(way.is_exact());
///
/// // The residues of one number in all columns.
/// let number = I256::from(-1234567890123456789i64) << 20;
/// let residues: Vec<_> = moduli.values().iter().map(|&m| [residue_of(number, m); COLUMNS]).collect();
/// let mut integers = [I256::ZERO; COLUMNS];
/// way.reconstruct(&residues, &mut integers);
/// assert_eq!(integers, [number; COLUMNS]);
/// # Ok::<(), residues::ResidueError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// Digits of a mixed radix, on 32-bit integers. Exact.
    Garner,
    /// Slices in doubles.
    Double,
    /// Slices in doubles, with the errors of all additions.
    Sum2,
    /// Slices in doubles, with the errors of all additions and of those.
    Sum3,
    /// Slices in pairs of floats.
    DoubleSingle,
    /// Slices in four floats.
    QuadSingle,
    /// Slices in floats with Kahan's correction.
    SingleKahan,
    /// Slices in fixed point, in words of 32 bits. Exact.
    #[default]
    Kulisch32,
    /// Slices in fixed point, in words of 16 bits. Exact.
    Kulisch16,
    /// Slices in fixed point, in words of 8 bits. Exact.
    Kulisch8,
    /// Slices on the matrix unit for E4M3, in bands of positions. Exact.
    Fp8Bands,
    /// Slices in reproducible bins of doubles. Exact.
    Bins,
    /// The fraction of the product, in doubles.
    BernsteinDouble,
    /// The fraction of the product, in floats.
    BernsteinSingle,
    /// The fraction of the product, in floats with Kahan's correction.
    BernsteinKahan,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 15] = [
        Method::Garner,
        Method::Double,
        Method::Sum2,
        Method::Sum3,
        Method::DoubleSingle,
        Method::QuadSingle,
        Method::SingleKahan,
        Method::Kulisch32,
        Method::Kulisch16,
        Method::Kulisch8,
        Method::Fp8Bands,
        Method::Bins,
        Method::BernsteinDouble,
        Method::BernsteinSingle,
        Method::BernsteinKahan,
    ];

    /// Its name, as options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Garner => "garner",
            Method::Double => "double",
            Method::Sum2 => "sum2",
            Method::Sum3 => "sum3",
            Method::DoubleSingle => "double-single",
            Method::QuadSingle => "quad-single",
            Method::SingleKahan => "single-kahan",
            Method::Kulisch32 => "kulisch32",
            Method::Kulisch16 => "kulisch16",
            Method::Kulisch8 => "kulisch8",
            Method::Fp8Bands => "fp8-bands",
            Method::Bins => "bins",
            Method::BernsteinDouble => "bernstein-double",
            Method::BernsteinSingle => "bernstein-single",
            Method::BernsteinKahan => "bernstein-kahan",
        }
    }

    /// The way for these moduli, with products of bytes on this unit, and products in E4M3, where there are any, as Hopper
    /// does them.
    pub fn build(
        self,
        moduli: &Moduli,
        bytes: Arc<dyn ByteProducts>,
    ) -> Result<Box<dyn Reconstruction>, ResidueError> {
        self.build_on(moduli, bytes, Fp8Unit::new(Accumulator::HOPPER))
    }

    /// The same with products in E4M3 on another unit: phase A of moduli for it, and the bands.
    pub fn build_on(
        self,
        moduli: &Moduli,
        bytes: Arc<dyn ByteProducts>,
        fp8: Fp8Unit,
    ) -> Result<Box<dyn Reconstruction>, ResidueError> {
        let forward = |phase_b: &dyn Fn(&Layout) -> BuiltPhaseB| {
            let build = |phase_a: Box<dyn PhaseA>| {
                let phase_b = phase_b(&Layout::of(&*phase_a, moduli))?;
                let way: Box<dyn Reconstruction> = Box::new(Forward::new(phase_a, phase_b));
                Ok(way)
            };
            match moduli.set() {
                Set::Int8 => build(Box::new(ByteSlices::new(moduli, bytes)?)),
                // The fewest sums that the accumulator holds and phase B takes.
                Set::Fp8 => Fp8Slices::SHAPES
                    .map(|shape| build(Box::new(Fp8Slices::new(moduli, fp8, shape)?)))
                    .into_iter()
                    .reduce(|first, next| first.or(next))
                    .expect("there are several"),
            }
        };
        match self {
            Method::Garner => Ok(Box::new(Garner::new(moduli))),
            Method::Double => forward(&floats::<DoubleSum>),
            Method::Sum2 => forward(&floats::<Sum2>),
            Method::Sum3 => forward(&floats::<Sum3>),
            Method::DoubleSingle => forward(&floats::<DoubleSingle>),
            Method::QuadSingle => forward(&floats::<QuadSingle>),
            Method::SingleKahan => forward(&floats::<SingleKahan>),
            Method::Kulisch32 => forward(&|layout| Ok(Box::new(Lanes::new(layout)?))),
            Method::Kulisch16 => forward(&|layout| Ok(words16(layout))),
            Method::Kulisch8 => forward(&|layout| Ok(words8(layout))),
            Method::Fp8Bands => forward(&|layout| Ok(Box::new(Fp8Bands::new(layout, fp8)?))),
            Method::Bins => forward(&|layout| Ok(Box::new(Bins::new(layout)))),
            Method::BernsteinDouble => {
                Ok(Box::new(Bernstein::<f64, false>::new(self.name(), moduli)))
            }
            Method::BernsteinSingle => {
                Ok(Box::new(Bernstein::<f32, false>::new(self.name(), moduli)))
            }
            Method::BernsteinKahan => {
                Ok(Box::new(Bernstein::<f32, true>::new(self.name(), moduli)))
            }
        }
    }
}

/// A phase B for a layout, unless it does not take its slices.
type BuiltPhaseB = Result<Box<dyn PhaseB>, ResidueError>;

fn floats<A: Arithmetic>(layout: &Layout) -> BuiltPhaseB {
    Ok(Box::new(FloatSum::<A>::new(layout)?))
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = ResidueError;

    fn from_str(name: &str) -> Result<Method, ResidueError> {
        let found = Method::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| ResidueError::UnknownMethod {
            name: name.to_string(),
            all: Method::ALL.map(Method::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COLUMNS;
    use crate::bytes::Sums;
    use ethnum::{I256, U256};

    /// Slices of any bits and any size, as another phase A may hand them over.
    #[test]
    fn every_phase_b_takes_bytes_and_nibbles() -> Result<(), ResidueError> {
        type Build = fn(&Layout) -> Result<Box<dyn PhaseB>, ResidueError>;
        let builds: [Build; 10] = [
            floats::<DoubleSum>,
            floats::<Sum2>,
            floats::<Sum3>,
            floats::<DoubleSingle>,
            floats::<QuadSingle>,
            floats::<SingleKahan>,
            |layout| Ok(Box::new(Lanes::new(layout)?)),
            |layout| Ok(words16(layout)),
            |layout| Ok(words8(layout)),
            |layout| Ok(Box::new(Bins::new(layout))),
        ];
        let mut state = 0x51ce_u64;
        println!("seed {state:#x}");
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        for slice_bits in [4, 8] {
            for slices in 1..=212 / slice_bits as usize {
                let largest_sum = 1 << (12 + slice_bits);
                let weights: U256 = (0..slices)
                    .map(|s| U256::ONE << (slice_bits * s as u32))
                    .sum();
                let layout = Layout {
                    slice_bits,
                    slices,
                    largest_sum,
                    largest: weights * U256::from(largest_sum),
                };
                for build in builds {
                    let way = build(&layout)?;
                    let (mut seen, mut got) = (0.0f64, [I256::ZERO; COLUMNS]);
                    for round in 0..100 {
                        let mut rows = vec![Sums::default(); slices];
                        let mut expected = [I256::ZERO; COLUMNS];
                        for (s, row) in rows.iter_mut().enumerate() {
                            for (sum, total) in row.iter_mut().zip(&mut expected) {
                                // At the bounds in every other round.
                                let magnitude = match round % 2 {
                                    0 => largest_sum as i32 - (next() % 2) as i32,
                                    _ => (next() % u64::from(largest_sum)) as i32,
                                };
                                *sum = if next() % 2 == 0 {
                                    magnitude
                                } else {
                                    -magnitude
                                };
                                *total += I256::from(*sum) << (slice_bits * s as u32);
                            }
                        }
                        way.sum(&rows, &mut got);
                        for (&got, &expected) in got.iter().zip(&expected) {
                            seen = seen.max((got - expected).unsigned_abs().as_f64());
                        }
                    }
                    let (name, bound) = (way.name(), way.error_bound());
                    assert!(seen <= bound, "{name}: {slices} slices of {slice_bits}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn slices_that_floats_would_round_are_refused() -> Result<(), ResidueError> {
        let layout = Layout {
            slice_bits: 8,
            slices: 4,
            largest_sum: (1 << 24) + 1,
            largest: U256::ONE << 40u32,
        };
        let error = floats::<SingleKahan>(&layout).err().map(|e| e.to_string());
        assert!(error.is_some_and(|e| e.contains("16777217")));
        floats::<DoubleSum>(&layout)?;
        assert!(Lanes::new(&layout).is_err());
        Ok(())
    }
}
