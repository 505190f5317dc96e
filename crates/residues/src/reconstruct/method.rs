//! All methods, in one list.

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
use super::operations::Real;
use super::quad_single::QuadSingle;
use super::single_kahan::SingleKahan;
use super::slices::ByteSlices;
use super::sum_k::Sum3;
use super::sum2::Sum2;
use crate::bytes::ByteProducts;
use crate::error::ResidueError;
use crate::fp8::{Accumulator, Fp8Unit};
use crate::moduli::Moduli;
use crate::set::Set;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Parameters of a method.
struct Parts<'a> {
    name: &'static str,
    moduli: &'a Moduli,
    bytes: Arc<dyn ByteProducts>,
    fp8: Fp8Unit,
}

/// A method, unless it does not take these moduli.
type Built = Result<Box<dyn Reconstruction>, ResidueError>;

impl Parts<'_> {
    /// A method that sums slices: phase A for the set of moduli, and this phase B.
    fn forward(self, phase_b: impl Fn(&Layout) -> BuiltPhaseB) -> Built {
        let build = |phase_a: Box<dyn PhaseA>| -> Built {
            let phase_b = phase_b(&Layout::of(&*phase_a, self.moduli))?;
            Ok(Box::new(Forward::new(phase_a, phase_b)))
        };
        match self.moduli.set() {
            Set::Int8 => build(Box::new(ByteSlices::new(self.moduli, self.bytes)?)),
            // The fewest sums that the accumulator holds and phase B takes.
            Set::Fp8 => Fp8Slices::SHAPES
                .map(|shape| build(Box::new(Fp8Slices::new(self.moduli, self.fp8, shape)?)))
                .into_iter()
                .reduce(|first, next| first.or(next))
                .expect("there are several"),
        }
    }

    /// A method that is no sum of slices.
    fn whole(self, method: impl Reconstruction + 'static) -> Built {
        Ok(Box::new(method))
    }
}

/// The list of methods, one line each: variant, name in options and reports, how it is built.
macro_rules! methods {
    ($($(#[$attribute:meta])* $variant:ident, $name:literal, $build:expr;)*) => {
        /// A method of reconstruction.
        ///
        /// ```
        /// use residues::bytes::Portable;
        /// use residues::reconstruct::Method;
        /// use residues::{COLUMNS, I256, Moduli, Set, residue_of};
        /// use std::sync::Arc;
        ///
        /// let moduli = Moduli::first(Set::Int8, 12)?;
        /// let method = "kulisch32".parse::<Method>()?.build(&moduli, Arc::new(Portable))?;
        /// assert!(method.is_exact());
        ///
        /// // The residues of one number in all columns.
        /// let number = I256::from(-1234567890123456789i64) << 20;
        /// let residues: Vec<_> = moduli.values().iter().map(|&m| [residue_of(number, m); COLUMNS]).collect();
        /// let mut integers = [I256::ZERO; COLUMNS];
        /// method.reconstruct(&residues, &mut integers);
        /// assert_eq!(integers, [number; COLUMNS]);
        /// # Ok::<(), residues::ResidueError>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum Method {
            $($(#[$attribute])* $variant,)*
        }

        impl Method {
            /// All of them.
            pub const ALL: [Method; [$($name),*].len()] = [$(Method::$variant),*];

            /// Its name, as options spell it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Method::$variant => $name,)*
                }
            }

            fn build_from(self, parts: Parts<'_>) -> Built {
                match self {
                    $(Method::$variant => ($build)(parts),)*
                }
            }
        }
    };
}
methods! {
    /// Digits of a mixed radix, on 32-bit integers. Exact.
    Garner, "garner", |parts: Parts<'_>| { let garner = Garner::new(parts.moduli); parts.whole(garner) };
    /// Slices in doubles.
    Double, "double", |parts: Parts<'_>| parts.forward(floats::<DoubleSum>);
    /// Slices in doubles, with the errors of all additions.
    Sum2, "sum2", |parts: Parts<'_>| parts.forward(floats::<Sum2>);
    /// Slices in doubles, with the errors of all additions and of those.
    Sum3, "sum3", |parts: Parts<'_>| parts.forward(floats::<Sum3>);
    /// Slices in pairs of floats.
    DoubleSingle, "double-single", |parts: Parts<'_>| parts.forward(floats::<DoubleSingle>);
    /// Slices in four floats.
    QuadSingle, "quad-single", |parts: Parts<'_>| parts.forward(floats::<QuadSingle>);
    /// Slices in floats with Kahan's correction.
    SingleKahan, "single-kahan", |parts: Parts<'_>| parts.forward(floats::<SingleKahan>);
    /// Slices in fixed point, in words of 32 bits. Exact.
    #[default]
    Kulisch32, "kulisch32", |parts: Parts<'_>| parts.forward(|layout| Ok(Box::new(Lanes::new(layout)?)));
    /// Slices in fixed point, in words of 16 bits. Exact.
    Kulisch16, "kulisch16", |parts: Parts<'_>| parts.forward(|layout| Ok(words16(layout)));
    /// Slices in fixed point, in words of 8 bits. Exact.
    Kulisch8, "kulisch8", |parts: Parts<'_>| parts.forward(|layout| Ok(words8(layout)));
    /// Slices on the matrix unit for E4M3, in bands of positions. Exact.
    Fp8Bands, "fp8-bands", |parts: Parts<'_>| { let fp8 = parts.fp8; parts.forward(|layout| Ok(Box::new(Fp8Bands::new(layout, fp8)?))) };
    /// Slices in reproducible bins of doubles. Exact.
    Bins, "bins", |parts: Parts<'_>| parts.forward(|layout| Ok(Box::new(Bins::new(layout))));
    /// The fraction of the product, in doubles.
    BernsteinDouble, "bernstein-double", bernstein::<f64, false>;
    /// The fraction of the product, in floats.
    BernsteinSingle, "bernstein-single", bernstein::<f32, false>;
    /// The fraction of the product, in floats with Kahan's correction.
    BernsteinKahan, "bernstein-kahan", bernstein::<f32, true>;
}

impl Method {
    /// The method for these moduli, with products of bytes on this unit, and products in E4M3, where there are any, as Hopper
    /// does them.
    pub fn build(self, moduli: &Moduli, bytes: Arc<dyn ByteProducts>) -> Built {
        self.build_on(moduli, bytes, Fp8Unit::new(Accumulator::HOPPER))
    }

    /// The same with products in E4M3 on another unit: phase A of moduli for it, and the bands.
    pub fn build_on(self, moduli: &Moduli, bytes: Arc<dyn ByteProducts>, fp8: Fp8Unit) -> Built {
        let name = self.name();
        self.build_from(Parts {
            name,
            moduli,
            bytes,
            fp8,
        })
    }
}

fn bernstein<R: Real + fmt::Debug + Send + Sync + 'static, const KAHAN: bool>(
    parts: Parts<'_>,
) -> Built {
    let method = Bernstein::<R, KAHAN>::new(parts.name, parts.moduli);
    parts.whole(method)
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
                    let built = build(&layout)?;
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
                        built.sum(&rows, &mut got);
                        for (&got, &expected) in got.iter().zip(&expected) {
                            seen = seen.max((got - expected).unsigned_abs().as_f64());
                        }
                    }
                    let (name, bound) = (built.name(), built.error_bound());
                    assert!(seen <= bound, "{name}: {slices} slices of {slice_bits}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn slices_that_floats_would_round_are_rejected() -> Result<(), ResidueError> {
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
