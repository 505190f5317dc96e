//! The caller's single-precision numbers: read into panels of lanes, and written from them.
//!
//! A complex number has 64 bits, as many as a real one in double precision has: so lines are read and transposed as those
//! are, and come out as real and imaginary parts side by side.

use crate::simd::{HalfRow, Vectors, inlined};
use crate::stages::half_spectra::{Wanted, reversed};
use crate::stages::lines::{Grid, Lines};
use crate::stages::numbers::{
    Elements, Input, Output, Positions, Reader, Writer, advance, load_row, store_row,
    whole_elements,
};
use num_complex::Complex;

/// The lower 32 bits of a word.
const LOWER: i64 = 0xffff_ffff;

impl<const L: usize> Input<'_, L> {
    /// Loads the bits of all elements of every lane.
    #[inline(always)]
    pub(crate) fn gather_singles<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        grid: Grid,
        panel: &mut [HalfRow<L>],
    ) {
        let Reader::Single(array) = &self.numbers else {
            unreachable!("numbers of double precision are gathered as such")
        };
        let (positions, active) = (Positions::new(&self.places, lines), lines.active);
        // The sign of the imaginary parts is changed.
        let sign = if self.conjugate { i32::MIN } else { 0 };
        let signs = V::load_halves(&[[0, sign]; L]);
        let put = inlined(
            #[inline(always)]
            |words: V::Halves, to: &mut HalfRow<L>| {
                V::store_halves(V::xor_halves(words, signs), to);
            },
        );
        let side_by_side = positions.step == 1 && L > 1;
        let half = self.one_half_spectrum(lines);
        let grid = grid.flattened();
        for row in 0..grid.rows {
            let first = row * grid.columns;
            let panel = &mut panel[row * grid.pitch..][..grid.columns];
            let count = panel.len();
            let done = match self.elements {
                Elements::Complex if positions.neighbours => {
                    for (i, to) in panel.iter_mut().enumerate() {
                        let start = array.checked(2 * positions.at(0, first + i), 2 * active);
                        // SAFETY: in range; not written by another thread, as for single elements.
                        let numbers: HalfRow<L> = unsafe { load_row(start.cast(), active) };
                        put(V::load_halves(&numbers), to);
                    }
                    count
                }
                Elements::Complex if side_by_side && count >= L => {
                    let done = count / L * L;
                    let at = |lane| 2 * positions.at(lane, first);
                    let mut starts =
                        std::array::from_fn(|lane| array.checked(at(lane), 2 * done).cast::<f64>());
                    for panel in panel[..done].chunks_exact_mut(L) {
                        // SAFETY: as above; a complex number is moved as one of 64 bits.
                        unsafe {
                            V::load_lines(
                                &starts,
                                #[inline(always)]
                                |number, words| put(V::halves_of_words(words), &mut panel[number]),
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                Elements::Real if positions.neighbours => {
                    for (i, to) in panel.iter_mut().enumerate() {
                        let start = array.checked(positions.at(0, first + i), active);
                        // SAFETY: as above.
                        let numbers: [i32; L] = unsafe { load_row(start.cast(), active) };
                        *to = numbers.map(|number| [number, 0]);
                    }
                    count
                }
                Elements::Real if side_by_side && count >= 2 * L => {
                    let done = count / (2 * L) * (2 * L);
                    let at = |lane| positions.at(lane, first);
                    let mut starts =
                        std::array::from_fn(|lane| array.checked(at(lane), done).cast::<f64>());
                    let lower = V::splat(LOWER);
                    for panel in panel[..done].chunks_exact_mut(2 * L) {
                        // SAFETY: as above; two numbers are moved as one of 64 bits.
                        unsafe {
                            V::load_lines(
                                &starts,
                                #[inline(always)]
                                |number, words| {
                                    let second = V::and(V::shift_right(words, 32), lower);
                                    let pair = [V::and(words, lower), second];
                                    for (words, to) in
                                        pair.into_iter().zip(&mut panel[2 * number..])
                                    {
                                        V::store_halves(V::halves_of_words(words), to);
                                    }
                                },
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                _ => 0,
            };
            for (i, to) in panel.iter_mut().enumerate().skip(done) {
                if let Some((n, start)) = half
                    && let Some(wanted) = Wanted::new(n, lines.at(0, first + i), active)
                {
                    let (element, mirrored) = match wanted {
                        Wanted::Stored(element) => (element, false),
                        Wanted::Mirrored(element) => (element, true),
                    };
                    let start = array.checked(2 * (start + element), 2 * active);
                    // SAFETY: as above.
                    let mut numbers: HalfRow<L> = unsafe { load_row(start.cast(), active) };
                    if mirrored {
                        numbers = reversed(&numbers, active).map(|[re, im]| [re, im ^ i32::MIN]);
                    }
                    put(V::load_halves(&numbers), to);
                    continue;
                }
                for lane in 0..L {
                    let value = self.element(lane, lines.at(lane, first + i));
                    to[lane] = [value.re, value.im].map(|x| (x as f32).to_bits() as i32);
                }
            }
        }
    }
}

impl<const L: usize> Output<'_, L> {
    /// Stores the bits of outputs that are kept.
    #[inline(always)]
    pub(crate) fn scatter_singles<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        grid: Grid,
        panel: &[HalfRow<L>],
    ) {
        let Writer::Single(array) = &self.numbers else {
            unreachable!("numbers of double precision are scattered as such")
        };
        let whole = whole_elements(lines, self.count);
        let earliest = lines.starts.iter().copied().min().unwrap_or(0);
        let (positions, active) = (Positions::new(&self.places, lines), lines.active);
        let side_by_side = positions.step == 1 && L > 1;
        let grid = grid.flattened();
        for row in 0..grid.rows {
            let first = row * grid.columns;
            let panel = &panel[row * grid.pitch..][..grid.columns];
            let fast = whole.saturating_sub(first).min(grid.columns);
            let done = match self.real {
                false if positions.neighbours => {
                    for (i, numbers) in panel[..fast].iter().enumerate() {
                        let start = array.checked(2 * positions.at(0, first + i), 2 * active);
                        // SAFETY: in range; every output belongs to one line, and every line to one thread.
                        unsafe { store_row(start.cast(), active, numbers) }
                    }
                    fast
                }
                false if side_by_side && fast >= L => {
                    let done = fast / L * L;
                    let at = |lane| 2 * positions.at(lane, first);
                    let mut starts =
                        std::array::from_fn(|lane| array.checked(at(lane), 2 * done).cast::<f64>());
                    for panel in panel[..done].chunks_exact(L) {
                        // SAFETY: as above; a complex number is moved as one of 64 bits. Lanes that are not active repeat
                        // the first one, and store the same.
                        unsafe {
                            V::store_lines(
                                &starts,
                                #[inline(always)]
                                |number| V::words_of_halves(V::load_halves(&panel[number])),
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                true if positions.neighbours => {
                    for (i, numbers) in panel[..fast].iter().enumerate() {
                        let start = array.checked(positions.at(0, first + i), active);
                        let reals = numbers.map(|[re, _]| re);
                        // SAFETY: as above.
                        unsafe { store_row(start.cast(), active, &reals) }
                    }
                    fast
                }
                true if side_by_side && fast >= 2 * L => {
                    let done = fast / (2 * L) * (2 * L);
                    let at = |lane| positions.at(lane, first);
                    let mut starts =
                        std::array::from_fn(|lane| array.checked(at(lane), done).cast::<f64>());
                    for panel in panel[..done].chunks_exact(2 * L) {
                        // SAFETY: as above; two numbers are moved as one of 64 bits.
                        unsafe {
                            V::store_lines(
                                &starts,
                                #[inline(always)]
                                |number| {
                                    let first = V::load_halves(&panel[2 * number]);
                                    let second = V::load_halves(&panel[2 * number + 1]);
                                    V::or(
                                        V::and(V::words_of_halves(first), V::splat(LOWER)),
                                        V::shift_left(V::words_of_halves(second), 32),
                                    )
                                },
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                _ => 0,
            };
            for (i, numbers) in panel.iter().enumerate().skip(done) {
                if earliest + (first + i) * lines.step >= self.count {
                    return;
                }
                for lane in 0..lines.active {
                    let index = lines.at(lane, first + i);
                    if index < self.count {
                        let [re, im] = numbers[lane].map(|x| f64::from(f32::from_bits(x as u32)));
                        self.put(lane, index, Complex::new(re, im));
                    }
                }
            }
        }
    }
}
