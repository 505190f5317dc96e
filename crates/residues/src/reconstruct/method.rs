//! All ways by name.

use super::Reconstruction;
use super::bernstein::Bernstein;
use super::bins::Bins;
use super::double_single::DoubleSingle;
use super::double_sum::DoubleSum;
use super::floats::{Arithmetic, FloatSum};
use super::forward::{Forward, Layout, PhaseA, PhaseB};
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

    /// The way for these moduli, with its products on this unit.
    pub fn build(
        self,
        moduli: &Moduli,
        unit: Arc<dyn ByteProducts>,
    ) -> Result<Box<dyn Reconstruction>, ResidueError> {
        let forward = |phase_b: fn(&Layout) -> Result<Box<dyn PhaseB>, ResidueError>| {
            let phase_a = phase_a(moduli, unit)?;
            let phase_b = phase_b(&Layout::of(&*phase_a, moduli))?;
            let way: Box<dyn Reconstruction> = Box::new(Forward::new(phase_a, phase_b));
            Ok(way)
        };
        match self {
            Method::Garner => Ok(Box::new(Garner::new(moduli))),
            Method::Double => forward(floats::<DoubleSum>),
            Method::Sum2 => forward(floats::<Sum2>),
            Method::Sum3 => forward(floats::<Sum3>),
            Method::DoubleSingle => forward(floats::<DoubleSingle>),
            Method::QuadSingle => forward(floats::<QuadSingle>),
            Method::SingleKahan => forward(floats::<SingleKahan>),
            Method::Kulisch32 => forward(|layout| Ok(Box::new(Lanes::new(layout)?))),
            Method::Kulisch16 => forward(|layout| Ok(words16(layout))),
            Method::Kulisch8 => forward(|layout| Ok(words8(layout))),
            Method::Fp8Bands => Err(ResidueError::NotBuilt {
                what: self.name(),
                set: moduli.set(),
            }),
            Method::Bins => forward(|layout| Ok(Box::new(Bins::new(layout)))),
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

/// Phase A of a set.
fn phase_a(moduli: &Moduli, unit: Arc<dyn ByteProducts>) -> Result<Box<dyn PhaseA>, ResidueError> {
    match moduli.set() {
        Set::Int8 => Ok(Box::new(ByteSlices::new(moduli, unit)?)),
        set @ Set::Fp8 => Err(ResidueError::NotBuilt {
            what: "phase A",
            set,
        }),
    }
}

fn floats<A: Arithmetic>(layout: &Layout) -> Result<Box<dyn PhaseB>, ResidueError> {
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
