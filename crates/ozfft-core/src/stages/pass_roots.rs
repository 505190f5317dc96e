//! The rotations between the passes of a long line.

use crate::roots::Fixed;
use crate::roots::root_table::{RootTable, Scale};
use crate::simd::{Pair, Vectors, from_lanes};
use crate::stages::twiddle::{Angles, Twiddle, TwiddleTable, rotate};
use num_complex::Complex;

/// Roots of unity of the order of a pass: every power is the product of an entry of two small tables.
#[derive(Debug)]
pub struct PassRoots {
    order: usize,
    low_bits: u32,
    low: TwiddleTable,
    high: TwiddleTable,
    /// For moderate orders all rotations of the pass, row after row.
    all: Option<TwiddleTable>,
    /// Length of a row.
    inner: usize,
}

/// Tables of all rotations are made up to this order: 1 MiB.
const LARGEST_FULL_TABLE: usize = 1 << 16;

/// Lanes of the widest unit.
const MOST_LANES: usize = 8;

impl PassRoots {
    pub(crate) fn new(order: usize, block: usize) -> Self {
        let low_bits = (usize::BITS - order.leading_zeros()) / 2;
        let one = Fixed::one();
        let (powers, unscaled) = (RootTable::new(order as u64), Scale::new(&one));
        let table = |count: usize, stride: usize| -> TwiddleTable {
            (0..count)
                .map(|i| {
                    let (re, im) = powers.twiddle((i * stride % order) as u64, &unscaled);
                    Complex::new(re, im)
                })
                .collect()
        };
        let mut roots = PassRoots {
            order,
            low_bits,
            low: table(1 << low_bits, 1),
            high: table((order >> low_bits) + 1, 1 << low_bits),
            all: None,
            inner: order / block,
        };
        if order <= LARGEST_FULL_TABLE {
            let powers = (0..block).flat_map(|k| (0..order / block).map(move |j| k * j));
            // Lanes that are not active read beyond the last row.
            let beyond = [0; MOST_LANES - 1];
            let entries = powers.chain(beyond).map(|power| roots.power(power));
            roots.all = Some(entries.collect());
        }
        roots
    }

    /// The tables of low and of high powers.
    pub fn tables(&self) -> (&TwiddleTable, &TwiddleTable) {
        (&self.low, &self.high)
    }

    pub(crate) fn table_bytes(&self) -> usize {
        let tables = [Some(&self.low), Some(&self.high), self.all.as_ref()];
        let bytes = tables.into_iter().flatten().map(TwiddleTable::table_bytes);
        bytes.sum()
    }

    pub fn low_bits(&self) -> u32 {
        self.low_bits
    }

    /// All powers, from 0 on.
    pub fn powers(&self) -> impl Iterator<Item = Complex<i64>> + '_ {
        (0..self.order).map(|power| self.power(power))
    }

    /// `exp(-2πi power/order)` scaled by 2^62, `power < order`.
    fn power(&self, power: usize) -> Complex<i64> {
        let low = self.low.get(power & ((1 << self.low_bits) - 1));
        Twiddle::new(low.re, low.im).rotate(self.high.get(power >> self.low_bits))
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
        const { assert!(L <= MOST_LANES) }
        let angles = if let Some(all) = &self.all {
            all.load::<L, V>(k * self.inner + j)
        } else {
            assert!(k * (j + active - 1) < self.order);
            // Powers k·(j + lane): the row's first, and k more in every active lane.
            let lanes = match active == L {
                true => from_lanes::<L, V>(|lane| lane as i64),
                false => from_lanes::<L, V>(|lane| lane.min(active - 1) as i64),
            };
            let more = V::multiply_low(V::splat_low(k as i32), lanes);
            let powers = V::add(V::splat((k * j) as i64), more);
            let mask = (1 << self.low_bits) - 1;
            let low = self
                .low
                .gather::<L, V>(V::and(powers, V::splat(mask)), mask as usize);
            let high = self.high.gather::<L, V>(
                V::shift_right(powers, self.low_bits),
                (self.order - 1) >> self.low_bits,
            );
            rotate::<L, V>(high, Angles::new::<L, V>(low))
        };
        rotate::<L, V>(words, Angles::new::<L, V>(angles))
    }
}
