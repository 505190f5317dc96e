//! Small DFTs of complex numbers in registers, one transform in every lane, with exp(-i…).

use crate::simd::{Floats, Pair};
use std::f64::consts::FRAC_1_SQRT_2;

/// Cosine and sine of one and of two fifths of a turn, …: the nearest doubles.
const THIRD: (f64, f64) = (-0.5, 0.866_025_403_784_438_6);
const FIFTHS: [(f64, f64); 2] = [
    (0.309_016_994_374_947_45, 0.951_056_516_295_153_5),
    (-0.809_016_994_374_947_5, 0.587_785_252_292_473_1),
];
const SEVENTHS: [(f64, f64); 3] = [
    (0.623_489_801_858_733_5, 0.781_831_482_468_029_8),
    (-0.222_520_933_956_314_4, 0.974_927_912_181_823_6),
    (-0.900_968_867_902_419_1, 0.433_883_739_117_558_1),
];

#[inline(always)]
pub(super) fn splat<const L: usize, V: Floats<L>>(value: f64) -> V::Words {
    V::splat(value.to_bits() as i64)
}

#[inline(always)]
fn plus<const L: usize, V: Floats<L>>(a: Pair<V::Words>, b: Pair<V::Words>) -> Pair<V::Words> {
    (V::add_floats(a.0, b.0), V::add_floats(a.1, b.1))
}

#[inline(always)]
fn minus<const L: usize, V: Floats<L>>(a: Pair<V::Words>, b: Pair<V::Words>) -> Pair<V::Words> {
    (V::subtract_floats(a.0, b.0), V::subtract_floats(a.1, b.1))
}

/// `a + i·b`.
#[inline(always)]
fn plus_turned<const L: usize, V: Floats<L>>(
    a: Pair<V::Words>,
    b: Pair<V::Words>,
) -> Pair<V::Words> {
    (V::subtract_floats(a.0, b.1), V::add_floats(a.1, b.0))
}

/// `a - i·b`.
#[inline(always)]
fn minus_turned<const L: usize, V: Floats<L>>(
    a: Pair<V::Words>,
    b: Pair<V::Words>,
) -> Pair<V::Words> {
    (V::add_floats(a.0, b.1), V::subtract_floats(a.1, b.0))
}

/// The DFT of `R` points.
pub(super) trait Butterfly<const R: usize> {
    fn transform<const L: usize, V: Floats<L>>(points: [Pair<V::Words>; R]) -> [Pair<V::Words>; R];
}

/// The DFTs of this file, by their number of points.
pub(super) struct Dft;

impl Butterfly<2> for Dft {
    #[inline(always)]
    fn transform<const L: usize, V: Floats<L>>([a, b]: [Pair<V::Words>; 2]) -> [Pair<V::Words>; 2] {
        [plus::<L, V>(a, b), minus::<L, V>(a, b)]
    }
}

impl Butterfly<4> for Dft {
    #[inline(always)]
    fn transform<const L: usize, V: Floats<L>>(
        [a, b, c, d]: [Pair<V::Words>; 4],
    ) -> [Pair<V::Words>; 4] {
        let (even, even_other) = (plus::<L, V>(a, c), minus::<L, V>(a, c));
        let (odd, odd_other) = (plus::<L, V>(b, d), minus::<L, V>(b, d));
        [
            plus::<L, V>(even, odd),
            minus_turned::<L, V>(even_other, odd_other),
            minus::<L, V>(even, odd),
            plus_turned::<L, V>(even_other, odd_other),
        ]
    }
}

impl Butterfly<8> for Dft {
    #[inline(always)]
    fn transform<const L: usize, V: Floats<L>>(
        [a, b, c, d, e, f, g, h]: [Pair<V::Words>; 8],
    ) -> [Pair<V::Words>; 8] {
        let [e0, e1, e2, e3] = <Dft as Butterfly<4>>::transform::<L, V>([a, c, e, g]);
        let [o0, o1, o2, o3] = <Dft as Butterfly<4>>::transform::<L, V>([b, d, f, h]);
        // Turned by an eighth and by three eighths, before the factor that both parts have in common.
        let o1 = (V::add_floats(o1.0, o1.1), V::subtract_floats(o1.1, o1.0));
        let o3 = (V::subtract_floats(o3.1, o3.0), V::add_floats(o3.0, o3.1));
        let half = splat::<L, V>(FRAC_1_SQRT_2);
        [
            plus::<L, V>(e0, o0),
            (
                V::multiply_add(o1.0, half, e1.0),
                V::multiply_add(o1.1, half, e1.1),
            ),
            minus_turned::<L, V>(e2, o2),
            (
                V::multiply_add(o3.0, half, e3.0),
                V::multiply_subtract(o3.1, half, e3.1),
            ),
            minus::<L, V>(e0, o0),
            (
                V::multiply_subtract(o1.0, half, e1.0),
                V::multiply_subtract(o1.1, half, e1.1),
            ),
            plus_turned::<L, V>(e2, o2),
            (
                V::multiply_subtract(o3.0, half, e3.0),
                V::multiply_add(o3.1, half, e3.1),
            ),
        ]
    }
}

/// An odd number of points: sums and differences of mirrored ones have real factors.
#[inline(always)]
#[allow(
    clippy::needless_range_loop,
    reason = "by number: an iterator would take the points through memory"
)]
fn odd<const L: usize, V: Floats<L>, const R: usize>(
    points: [Pair<V::Words>; R],
    turns: &[(f64, f64)],
) -> [Pair<V::Words>; R] {
    let (mut sums, mut differences, mut results) = (points, points, points);
    for k in 1..=R / 2 {
        sums[k] = plus::<L, V>(points[k], points[R - k]);
        differences[k] = minus::<L, V>(points[k], points[R - k]);
        results[0] = plus::<L, V>(results[0], sums[k]);
    }
    for j in 1..=R / 2 {
        let mut even = points[0];
        let mut odd = points[0];
        for k in 1..=R / 2 {
            // The cosine is that of the mirrored turn, the sine its negative.
            let turn = j * k % R;
            let mirrored = 2 * turn > R;
            let (cosine, sine) = turns[if mirrored { R - turn } else { turn } - 1];
            let sine = if mirrored { -sine } else { sine };
            let (cosine, sine) = (splat::<L, V>(cosine), splat::<L, V>(sine));
            even = (
                V::multiply_add(sums[k].0, cosine, even.0),
                V::multiply_add(sums[k].1, cosine, even.1),
            );
            odd = match k {
                1 => (
                    V::multiply_floats(differences[k].0, sine),
                    V::multiply_floats(differences[k].1, sine),
                ),
                _ => (
                    V::multiply_add(differences[k].0, sine, odd.0),
                    V::multiply_add(differences[k].1, sine, odd.1),
                ),
            };
        }
        results[j] = minus_turned::<L, V>(even, odd);
        results[R - j] = plus_turned::<L, V>(even, odd);
    }
    results
}

impl Butterfly<3> for Dft {
    #[inline(always)]
    fn transform<const L: usize, V: Floats<L>>(points: [Pair<V::Words>; 3]) -> [Pair<V::Words>; 3] {
        odd::<L, V, 3>(points, &[THIRD])
    }
}

impl Butterfly<5> for Dft {
    #[inline(always)]
    fn transform<const L: usize, V: Floats<L>>(points: [Pair<V::Words>; 5]) -> [Pair<V::Words>; 5] {
        odd::<L, V, 5>(points, &FIFTHS)
    }
}

impl Butterfly<7> for Dft {
    #[inline(always)]
    fn transform<const L: usize, V: Floats<L>>(points: [Pair<V::Words>; 7]) -> [Pair<V::Words>; 7] {
        odd::<L, V, 7>(points, &SEVENTHS)
    }
}
