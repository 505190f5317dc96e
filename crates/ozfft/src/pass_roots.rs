//! The rotations between the passes of a long line.

use crate::roots::{self, Fixed};
use crate::twiddle::{Angles, Twiddle, rotate};
use crate::vectors::{Pair, Row, Vectors, from_lanes, inlined};
use num_complex::Complex;

/// Roots of unity of the order of a pass: every power is the product of an entry of two small tables.
#[derive(Debug)]
pub(crate) struct PassRoots {
    low_bits: u32,
    low: Vec<Twiddle>,
    high: Vec<Twiddle>,
    /// For moderate orders all rotations of the pass, row after row: real parts, then imaginary parts.
    all: Option<(Vec<i64>, Vec<i64>)>,
    /// Length of a row.
    inner: usize,
}

/// Tables of all rotations are made up to this order: 1 MiB.
const LARGEST_FULL_TABLE: usize = 1 << 16;

impl PassRoots {
    pub(crate) fn new(order: usize, block: usize) -> Self {
        let low_bits = (usize::BITS - order.leading_zeros()) / 2;
        let one = Fixed::one();
        let table = |count: usize, stride: usize| -> Vec<Twiddle> {
            (0..count)
                .map(|i| {
                    let (re, im) = roots::twiddle((i * stride) as u64, order as u64, &one);
                    Twiddle::new(re, im)
                })
                .collect()
        };
        let mut roots = PassRoots {
            low_bits,
            low: table(1 << low_bits, 1),
            high: table((order >> low_bits) + 1, 1 << low_bits),
            all: None,
            inner: order / block,
        };
        if order <= LARGEST_FULL_TABLE {
            let powers = (0..block).flat_map(|k| (0..order / block).map(move |j| k * j));
            let (re, im) = powers
                .map(|power| roots.power(power))
                .map(|z| (z.re, z.im))
                .unzip();
            roots.all = Some((re, im));
        }
        roots
    }

    /// `exp(-2πi power/order)` scaled by 2^62, `power < order`.
    #[inline(always)]
    fn power(&self, power: usize) -> Complex<i64> {
        let low = &self.low[power & ((1 << self.low_bits) - 1)];
        let high = &self.high[power >> self.low_bits];
        low.rotate(high.components())
    }

    /// Rotates output `k` of the lines `j, j + 1, …`; lanes from `active` on are not needed.
    #[inline(always)]
    pub(crate) fn rotate<const L: usize, V: Vectors<L>>(
        &self,
        k: usize,
        j: usize,
        active: usize,
        words: Pair<V::Words>,
    ) -> Pair<V::Words> {
        let lane_of = |lane: usize| if lane < active { lane } else { 0 };
        let angles = match &self.all {
            Some((re, im)) => {
                let start = k * self.inner + j;
                if active == L {
                    let row = inlined(
                        #[inline(always)]
                        |table: &[i64]| {
                            let lanes: &Row<L> = table[start..start + L]
                                .try_into()
                                .unwrap_or_else(|_| unreachable!("the slice has L elements"));
                            V::load(lanes)
                        },
                    );
                    (row(re), row(im))
                } else {
                    (
                        from_lanes::<L, V>(|lane| re[start + lane_of(lane)]),
                        from_lanes::<L, V>(|lane| im[start + lane_of(lane)]),
                    )
                }
            }
            None => {
                let mask = (1usize << self.low_bits) - 1;
                let power = |lane: usize| k * (j + lane_of(lane));
                let low: [&Twiddle; L] = std::array::from_fn(|lane| &self.low[power(lane) & mask]);
                let high: [Complex<i64>; L] = std::array::from_fn(|lane| {
                    self.high[power(lane) >> self.low_bits].components()
                });
                rotate::<L, V>(
                    (
                        from_lanes::<L, V>(|lane| high[lane].re),
                        from_lanes::<L, V>(|lane| high[lane].im),
                    ),
                    Angles {
                        real: (
                            from_lanes::<L, V>(|lane| i64::from(low[lane].real.0)),
                            from_lanes::<L, V>(|lane| i64::from(low[lane].real.1)),
                        ),
                        imaginary: (
                            from_lanes::<L, V>(|lane| i64::from(low[lane].imaginary.0)),
                            from_lanes::<L, V>(|lane| i64::from(low[lane].imaginary.1)),
                        ),
                    },
                )
            }
        };
        rotate::<L, V>(words, Angles::new::<L, V>(angles))
    }
}
