//! Numbers as sums of bf16 numbers, and which products of their parts are formed (Ozaki's splitting).
//!
//! With `s` parts of data and matrix each, part `i` being about `2^-8i` of the number, the products of parts `i` and `j`
//! with `i + j < s` are formed: one for plain bf16, three for `ozaki`, six for `ozaki_hq`. What is left out is of the order
//! of what the parts leave of the numbers themselves, `2^-8s`. The small products are added first.

use crate::numbers::bf16;

/// Most parts of a number.
pub(crate) const MOST_PARTS: usize = 3;

/// The products of parts that are formed, data part first, the smallest products first.
pub(crate) fn products(parts: usize) -> Vec<(usize, usize)> {
    (0..parts)
        .rev()
        .flat_map(|order| (0..=order).map(move |data| (data, order - data)))
        .collect()
}

/// The parts of a complex number, each a pair.
#[inline(always)]
pub(crate) fn split<const PARTS: usize>(mut re: f32, mut im: f32) -> [u32; PARTS] {
    let mut pairs = [0; PARTS];
    for (i, pair) in pairs.iter_mut().enumerate() {
        let (upper_re, upper_im) = (bf16::round_finite(re), bf16::round_finite(im));
        *pair = upper_re | upper_im << 16;
        if i + 1 < PARTS {
            // The residual stays in f32, where it is exact: rounded to bf16 it would have nothing left to split.
            re -= f32::from_bits(upper_re << 16);
            im -= f32::from_bits(upper_im << 16);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_ordered_from_smallest_to_largest() {
        assert_eq!(products(1), [(0, 0)]);
        assert_eq!(products(2), [(0, 1), (1, 0), (0, 0)]);
        assert_eq!(
            products(3),
            [(0, 2), (1, 1), (2, 0), (0, 1), (1, 0), (0, 0)]
        );
        assert_eq!(products(4).len(), 10);
    }

    #[test]
    fn splits_leave_the_expected_remainder() {
        let mut generator = ozfft_testkit::oracle::inputs::Generator::new(5);
        for _ in 0..100_000 {
            let (re, im) = (generator.uniform() as f32, generator.uniform() as f32);
            let parts = split::<3>(re, im).map(bf16::unpair);
            let sum = |count: usize| -> (f64, f64) {
                let part = |p: u16| f64::from(bf16::to_f32(p));
                let of = parts[..count].iter();
                of.fold((0.0, 0.0), |sum, p| (sum.0 + part(p.0), sum.1 + part(p.1)))
            };
            for (count, leave) in [(1, 2f64.powi(-8)), (2, 2f64.powi(-16)), (3, 0.0)] {
                let (sum_re, sum_im) = sum(count);
                assert!(
                    (f64::from(re) - sum_re).abs() <= leave * f64::from(re).abs(),
                    "seed 5"
                );
                assert!(
                    (f64::from(im) - sum_im).abs() <= leave * f64::from(im).abs(),
                    "seed 5"
                );
            }
        }
    }
}
