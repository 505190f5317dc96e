//! Eight lanes in plain arithmetic.

use super::Lanes;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

const COUNT: usize = 8;

impl Lanes for Portable {
    const COUNT: usize = COUNT;
    type Vector = [u32; COUNT];
    type Sums = [u64; COUNT];

    #[inline(always)]
    fn load(self, from: &[u32]) -> [u32; COUNT] {
        std::array::from_fn(|lane| from[..COUNT][lane])
    }

    #[inline(always)]
    fn store(self, to: &mut [u32], vector: [u32; COUNT]) {
        to[..COUNT].copy_from_slice(&vector);
    }

    #[inline(always)]
    fn splat(self, number: u32) -> [u32; COUNT] {
        [number; COUNT]
    }

    #[inline(always)]
    fn add(self, a: [u32; COUNT], b: [u32; COUNT]) -> [u32; COUNT] {
        std::array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
    }

    #[inline(always)]
    fn subtract(self, a: [u32; COUNT], b: [u32; COUNT]) -> [u32; COUNT] {
        std::array::from_fn(|lane| a[lane].wrapping_sub(b[lane]))
    }

    #[inline(always)]
    fn least(self, a: [u32; COUNT], b: [u32; COUNT]) -> [u32; COUNT] {
        std::array::from_fn(|lane| a[lane].min(b[lane]))
    }

    #[inline(always)]
    fn product(
        self,
        a: [u32; COUNT],
        scaled: [u32; COUNT],
        quotient: [u32; COUNT],
        prime: [u32; COUNT],
    ) -> [u32; COUNT] {
        std::array::from_fn(|lane| {
            let high = (u64::from(a[lane]) * u64::from(scaled[lane])) >> 32;
            let quotient = a[lane].wrapping_mul(quotient[lane]);
            let multiple = (u64::from(quotient) * u64::from(prime[lane])) >> 32;
            (high as u32).wrapping_sub(multiple as u32)
        })
    }

    #[inline(always)]
    fn no_sums(self) -> [u64; COUNT] {
        [0; COUNT]
    }

    #[inline(always)]
    fn accumulate(self, sums: [u64; COUNT], a: [u32; COUNT], b: [u32; COUNT]) -> [u64; COUNT] {
        std::array::from_fn(|lane| sums[lane].wrapping_add(u64::from(a[lane]) * u64::from(b[lane])))
    }

    #[inline(always)]
    fn halves(
        self,
        sums: [u64; COUNT],
        inverse: [u32; COUNT],
        prime: [u32; COUNT],
    ) -> ([u32; COUNT], [u32; COUNT]) {
        let high = std::array::from_fn(|lane| (sums[lane] >> 32) as u32);
        let multiple = std::array::from_fn(|lane| {
            let quotient = (sums[lane] as u32).wrapping_mul(inverse[lane]);
            ((u64::from(quotient) * u64::from(prime[lane])) >> 32) as u32
        });
        (high, multiple)
    }
}
