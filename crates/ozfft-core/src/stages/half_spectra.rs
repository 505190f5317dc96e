//! Half-spectra, read as whole lines: the other half mirrors the first, conjugated.

use crate::simd::{Point, Vectors, inlined};
use crate::stages::lines::{Grid, Lines};
use crate::stages::numbers::{Elements, Input, Reader, load_neighbours};

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

/// Which stored elements are wanted for some that follow each other in a whole line, if all of them lie on one side of the middle: the first and the
/// middle one have imaginary parts that are left out.
pub(crate) enum Wanted {
    /// From this one on.
    Stored(usize),
    /// From this one on, in reverse order and conjugated.
    Mirrored(usize),
}

impl Wanted {
    /// For `count` elements of `n` from `first` on.
    #[inline(always)]
    pub(crate) fn new(n: usize, first: usize, count: usize) -> Option<Wanted> {
        let last = first + count - 1;
        if first > 0 && 2 * last < n {
            Some(Wanted::Stored(first))
        } else if 2 * first > n && last < n {
            Some(Wanted::Mirrored(n - last))
        } else {
            None
        }
    }
}

/// The elements of the active lanes in reverse order; the other lanes repeat the first.
#[inline(always)]
pub(crate) fn reversed<X: Copy, const L: usize>(row: &[X; L], active: usize) -> [X; L] {
    if active == L {
        std::array::from_fn(|lane| row[L - 1 - lane])
    } else {
        std::array::from_fn(|lane| row[active - 1 - if lane < active { lane } else { 0 }])
    }
}

impl<const L: usize> Input<'_, L> {
    /// The length of the half-spectrum of which the active lanes have elements that follow each other, and where it begins.
    pub(crate) fn one_half_spectrum(&self, lines: &Lines<L>) -> Option<(usize, usize)> {
        let Elements::Half(n) = self.elements else {
            return None;
        };
        let place = self.places[0];
        let is_one = self.places[..lines.active]
            .iter()
            .all(|other| other.offset == place.offset && other.stride == 1);
        (lines.active > 1 && is_one && lines.are_neighbours()).then(|| (n, place.at(0)))
    }

    /// Loads elements of one half-spectrum, of `n` points from `start` on, one for every active lane from `first` on. `false` if one is the first or
    /// the middle one, or if they are not of double precision.
    #[inline(always)]
    pub(crate) fn load_half_neighbours<V: Vectors<L>>(
        &self,
        (n, start): (usize, usize),
        (first, active): (usize, usize),
        point: &mut Point<L>,
    ) -> bool {
        let (Reader::Double(array), Some(wanted)) = (&self.numbers, Wanted::new(n, first, active))
        else {
            return false;
        };
        let (element, mirrored) = match wanted {
            Wanted::Stored(element) => (element, false),
            Wanted::Mirrored(element) => (element, true),
        };
        let numbers = array.checked(2 * (start + element), 2 * active);
        // SAFETY: in range; not written by another thread, as for single elements.
        let (re, im) = unsafe { load_neighbours::<L, V>(numbers, active) };
        let sign = V::splat(if mirrored != self.conjugate {
            i64::MIN
        } else {
            0
        });
        V::store(re, &mut point[0]);
        V::store(V::xor(im, sign), &mut point[1]);
        if mirrored {
            *point = [reversed(&point[0], active), reversed(&point[1], active)];
        }
        true
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
