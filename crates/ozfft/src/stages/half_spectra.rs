//! Half-spectra, read as whole lines: the other half mirrors the first, conjugated.

use crate::simd::{Point, Vectors, inlined};
use crate::stages::lines::{Grid, Lines};
use crate::stages::numbers::{Elements, Input};

/// The columns of a panel of Hermitian lines that a first step reads: all others mirror one of them, element by element, so that they have its sum
/// and its words. A single row has one column.
pub(crate) fn half_columns(grid: Grid) -> Grid {
    match grid.rows {
        1 => grid,
        _ => Grid {
            columns: grid.columns / 2 + 1,
            ..grid
        },
    }
}

impl<const L: usize> Input<'_, L> {
    /// Loads the bits of whole lines of `n` points, of which the first `n/2 + 1` are stored; the others as far as they lie in the
    /// first `columns` columns of the panel.
    #[inline(always)]
    pub(crate) fn gather_half<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        n: usize,
        (grid, columns): (Grid, usize),
        points: &mut [Point<L>],
    ) {
        let stored = Input {
            elements: Elements::Complex,
            ..*self
        };
        stored.gather_each::<V>(lines, n / 2 + 1, grid, points);
        // The imaginary parts of the first and of the middle element are left out.
        let mut put = inlined(
            #[inline(always)]
            |i: usize| {
                let point = &mut points[grid.place(i)];
                for lane in 0..L {
                    let value = self.element(lane, i);
                    point[0][lane] = value.re.to_bits() as i64;
                    point[1][lane] = value.im.to_bits() as i64;
                }
            },
        );
        put(0);
        if n.is_multiple_of(2) {
            put(n / 2);
        }
        let sign = V::splat(i64::MIN);
        let first = n / 2 + 1;
        for row in first / grid.columns..grid.rows {
            let element = row * grid.columns;
            let from = first.saturating_sub(element);
            // Its image lies in the row of `image`, or, in the first column, in the one below.
            let image = (grid.rows - 1 - row) * grid.pitch;
            for column in from..columns {
                let mirror = match column {
                    0 => image + grid.pitch,
                    _ => image + grid.columns - column,
                };
                let [re, im] = points[mirror];
                let point = &mut points[row * grid.pitch + column];
                V::store(V::load(&re), &mut point[0]);
                V::store(V::xor(V::load(&im), sign), &mut point[1]);
            }
        }
    }
}
