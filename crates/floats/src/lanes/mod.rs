//! Several lines side by side: a value of each in the lanes of a vector.
//!
//! The transforms are written once over [`Lanes`]; an instruction set brings its types and a function with its features
//! that everything is inlined into ([`InstructionSet::enter`]). Lanes never meet, every operation is one of IEEE 754's and
//! products with sums are fused everywhere, so results do not depend on the set or on how many lines there are.

#[cfg(target_arch = "x86_64")]
mod avx512_moves;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::products::ozaki::split;
use num_complex::Complex;
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
    fn from_real(value: crate::numbers::roots::Real) -> Self;
    fn to_f64(self) -> f64;
}

/// Lines of a number type that is known.
pub(crate) enum LineSlice<'a> {
    Single(&'a [Complex<f32>]),
    Double(&'a [Complex<f64>]),
}

/// The same to write to.
pub(crate) enum LineSliceMut<'a> {
    Single(&'a mut [Complex<f32>]),
    Double(&'a mut [Complex<f64>]),
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

    /// The first points of as many lines as there are lanes, if there is a fast path, which the result indicates: real
    /// and imaginary parts.
    #[inline(always)]
    fn gather(_lines: LineSlice<'_>, _pitch: usize, _points: &mut [[Self; 2]; POINTS]) -> bool {
        false
    }

    /// The inverse; says whether there was one.
    #[inline(always)]
    fn scatter(_points: &[[Self; 2]; POINTS], _lines: LineSliceMut<'_>, _pitch: usize) -> bool {
        false
    }
}

/// Points of a line that are brought over at a time, and numbers of a tile's row.
pub(crate) const POINTS: usize = 8;
pub(crate) const TILE: usize = 16;

/// Vectors of one instruction set, and what moves numbers rather than calculates. All that is given here does the same as
/// the instructions that replace it.
pub(crate) trait Vectors {
    type Single: Lanes<Scalar = f32>;
    type Double: Lanes<Scalar = f64>;

    /// A row of a tile, times a factor, as parts of bf16.
    #[inline(always)]
    fn split<const PARTS: usize>(
        values: &[Complex<f32>; TILE],
        factor: f32,
    ) -> [[u32; TILE]; PARTS] {
        let mut parts = [[0; TILE]; PARTS];
        for (i, value) in values.iter().enumerate() {
            let pairs = split::<PARTS>(value.re * factor, value.im * factor);
            for (part, pair) in parts.iter_mut().zip(pairs) {
                part[i] = pair;
            }
        }
        parts
    }

    /// A tile transposed.
    #[inline(always)]
    fn transposed(tile: &[[u32; TILE]; TILE]) -> [[u32; TILE]; TILE] {
        std::array::from_fn(
            #[inline(always)]
            |row| tile.map(|from| from[row]),
        )
    }

    /// Complex products.
    #[inline(always)]
    fn rotated(values: &[[f32; 2]; TILE], by: &[Complex<f32>; TILE]) -> [Complex<f32>; TILE] {
        std::array::from_fn(
            #[inline(always)]
            |i| rotated(values[i], by[i]),
        )
    }
}

/// A complex product, each part with one fused operation.
#[inline(always)]
pub(crate) fn rotated([re, im]: [f32; 2], by: Complex<f32>) -> Complex<f32> {
    Complex::new(
        re.mul_add(by.re, -(im * by.im)),
        im.mul_add(by.re, re * by.im),
    )
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
