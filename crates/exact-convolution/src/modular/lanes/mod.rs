//! Residues side by side: one instruction set, one file. The algorithms in `kernels.rs` are written once over [`Lanes`].

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod portable;

/// 32-bit numbers in the lanes of a vector. Values of these types are made where their instructions exist, and nowhere else.
pub(crate) trait Lanes: Copy {
    const COUNT: usize;
    type Vector: Copy;
    /// As many 64-bit sums.
    type Sums: Copy;

    /// The first numbers of a slice.
    fn load(self, from: &[u32]) -> Self::Vector;
    fn store(self, to: &mut [u32], vector: Self::Vector);
    fn splat(self, number: u32) -> Self::Vector;
    /// Modulo 2^32.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn subtract(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The smaller one, without sign. Of `x` and `x - m` that is the one that did not wrap: a subtraction where it is possible.
    fn least(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Montgomery's product: any numbers times a factor (scaled, and its quotient), between -p and p modulo 2^32. The factor and the prime are
    /// the same in all lanes.
    fn product(
        self,
        a: Self::Vector,
        scaled: Self::Vector,
        quotient: Self::Vector,
        prime: Self::Vector,
    ) -> Self::Vector;

    fn no_sums(self) -> Self::Sums;
    /// Adds products with one number, which is in all lanes of `a`, modulo 2^64.
    fn accumulate(self, sums: Self::Sums, a: Self::Vector, b: Self::Vector) -> Self::Sums;
    /// Montgomery's reduction in parts: the high halves of the sums, and the high halves of the multiple of the prime to be subtracted.
    fn halves(
        self,
        sums: Self::Sums,
        inverse: Self::Vector,
        prime: Self::Vector,
    ) -> (Self::Vector, Self::Vector);
}
