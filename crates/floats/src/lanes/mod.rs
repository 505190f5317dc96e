//! Several lines side by side: a value of each in the lanes of a vector.
//!
//! The transforms are written once over [`Lanes`]; an instruction set brings its types and a function with its features
//! that everything is inlined into ([`InstructionSet::enter`]). Lanes never meet, every operation is one of IEEE 754's and
//! products with sums are fused everywhere, so results do not depend on the set or on how many lines there are.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt::Debug;

/// The two number types.
pub(crate) trait Scalar:
    Copy + Default + Debug + PartialOrd + Send + Sync + Lanes<Scalar = Self> + 'static
{
    /// Relative error of one rounding.
    const UNIT_ROUNDOFF: f64;
    /// The nearest to a double.
    fn from_f64(value: f64) -> Self;
    /// The nearest to a real number.
    fn from_real(value: crate::roots::Real) -> Self;
    fn to_f64(self) -> f64;
}

/// A vector of numbers.
pub(crate) trait Lanes: Copy {
    type Scalar: Scalar;
    const COUNT: usize;

    fn splat(value: Self::Scalar) -> Self;
    /// The first `COUNT` numbers.
    fn load(from: &[Self::Scalar]) -> Self;
    fn store(self, to: &mut [Self::Scalar]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self · factor + summand`, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// `self · factor - summand`, rounded once.
    fn mul_sub(self, factor: Self, summand: Self) -> Self;
}

/// Vectors of one instruction set.
pub(crate) trait Vectors {
    type Single: Lanes<Scalar = f32>;
    type Double: Lanes<Scalar = f64>;
}

/// Work that is written over any vectors: one loop, so that the compiler does not copy whole transforms for every set.
pub(crate) trait Task {
    fn run<V: Vectors>(self);
}

/// What this machine's vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl InstructionSet {
    /// The best that is there.
    pub(crate) fn detect() -> InstructionSet {
        InstructionSet::available()[0]
    }

    /// All that are there, the best first.
    pub(crate) fn available() -> Vec<InstructionSet> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if x86::has_avx512() {
                sets.push(InstructionSet::Avx512);
            }
            if x86::has_avx2() {
                sets.push(InstructionSet::Avx2);
            }
        }
        sets.push(InstructionSet::Portable);
        sets
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Portable => "portable",
        }
    }

    /// Runs the task where the set's instructions may be used.
    pub(crate) fn enter<T: Task>(self, task: T) {
        match self {
            // SAFETY: a value of these exists only where the features were found.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe { x86::enter_avx512(task) },
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { x86::enter_avx2(task) },
            InstructionSet::Portable => task.run::<portable::Portable>(),
        }
    }
}
