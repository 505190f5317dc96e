//! Several doubles side by side: what the block algorithms need of a vector unit.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx512;
mod portable;

#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) use avx2::Avx2Lanes;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) use avx512::Avx512Lanes;
pub(crate) use portable::PortableLanes;

/// Most lanes that any implementation has.
pub(crate) const MOST_LANES: usize = 8;

/// How many numbers ahead memory is asked for: 4 KiB, where hardware that looks ahead by itself stops.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) const PREFETCHED: usize = 512;

/// Some doubles side by side. All operations round to nearest, lane by lane.
pub(crate) trait Lanes: Copy {
    /// How many.
    const COUNT: usize;
    /// As many 64-bit integers.
    type Bits: Copy;

    /// The first doubles of a slice, which must have at least so many.
    fn load(values: &[f64]) -> Self;
    /// A hint that the numbers some distance behind these will be read.
    fn prefetch(values: &[f64]);
    /// The same number in every lane.
    fn splat(value: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    /// What the product lost when it was rounded: exact where that is in range.
    fn product_rest(self, other: Self, product: Self) -> Self;
    fn magnitude(self) -> Self;
    /// The smaller number; the other, where one is NaN.
    fn smaller(self, other: Self) -> Self;
    /// The larger number; the other, where one is NaN.
    fn larger(self, other: Self) -> Self;
    fn bits(self) -> Self::Bits;

    fn no_bits() -> Self::Bits;
    fn add_bits(left: Self::Bits, right: Self::Bits) -> Self::Bits;
    fn or_bits(left: Self::Bits, right: Self::Bits) -> Self::Bits;
    /// `collected | (left ^ right)`.
    fn or_difference(collected: Self::Bits, left: Self::Bits, right: Self::Bits) -> Self::Bits;
    /// The integers; zeros beyond the last lane.
    fn bits_to_array(bits: Self::Bits) -> [u64; MOST_LANES];
}

/// Instructions that blocks of numbers can be computed with. They change the time alone: results are exact before they
/// are rounded, and so the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// What every processor of the architecture has.
    Portable,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512.
    Avx512,
}

impl Instructions {
    /// The fastest that this processor has.
    #[inline]
    pub fn best() -> Instructions {
        if Instructions::Avx512.available() {
            Instructions::Avx512
        } else if Instructions::Avx2.available() {
            Instructions::Avx2
        } else {
            Instructions::Portable
        }
    }

    /// Whether this processor has them, and this build knows them.
    #[inline]
    pub fn available(self) -> bool {
        match self {
            Instructions::Portable => true,
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            Instructions::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
            }
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            Instructions::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
            #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
            _ => false,
        }
    }

    /// All that this processor has, the fastest last.
    pub fn all_available() -> impl Iterator<Item = Instructions> {
        let all = [
            Instructions::Portable,
            Instructions::Avx2,
            Instructions::Avx512,
        ];
        all.into_iter()
            .filter(|instructions| instructions.available())
    }
}
