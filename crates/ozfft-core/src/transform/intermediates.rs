//! Fixed-point intermediates between passes or transforms, in memory, as lines to be transformed.

use crate::simd::{Point, Row, Vectors};
use crate::stages::lines::{Cut, Lines};
use crate::stages::numbers::load_neighbours;
use crate::stages::quantise::{InputSymmetry, LineProperties, Quantised, quantise_words};
use crate::transform::bailey::Block;
use crate::transform::source::Source;
use crate::workspace::ReadArray;
use num_complex::Complex;

/// Where the exponents of stored words are, and where separate lines begin.
#[derive(Clone, Copy)]
pub(crate) enum WordPlaces {
    /// Within a line, by an earlier pass: what is left to transform has `length` words, and so many of the previous
    /// pass's groups share their exponents.
    Group { length: usize, previous: usize },
    /// By an earlier transform: element `i` has exponent number `i % period`; separate lines are so far apart, in words
    /// and in exponents. Words may be a part of the line's.
    Line {
        period: usize,
        words: usize,
        exponents: usize,
        part: Option<Cut>,
    },
}

/// Words in memory, with exponents for many of them at a time.
pub(crate) struct WordLines<'a> {
    pub(crate) words: ReadArray<'a, Complex<i64>>,
    pub(crate) exponents: ReadArray<'a, i32>,
    pub(crate) places: WordPlaces,
}

impl<const L: usize> Source<L> for WordLines<'_> {
    #[inline(always)]
    fn quantise<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        block: &Block,
        points: &mut [Point<L>],
        exponents: &mut [Row<L>],
    ) -> Quantised<L> {
        let grid = block.input();
        // The first word of every lane, and where the exponents of its elements begin and repeat.
        let mut first = [0usize; L];
        let mut first_exponent = [0usize; L];
        let mut period = usize::MAX;
        let mut whole_lines = *lines;
        for lane in 0..L {
            match self.places {
                WordPlaces::Group { length, previous } => {
                    // The previous pass numbered its lines (earlier group, place within what was left), and `length` of
                    // them meet in one of today's groups.
                    let group = lines.starts[lane] / length;
                    first[lane] = lines.starts[lane];
                    first_exponent[lane] =
                        group / previous * length + lines.starts[lane] - group * length;
                }
                WordPlaces::Line {
                    period: repeats,
                    words,
                    exponents,
                    part,
                } => {
                    let line = if lane < lines.active { lane } else { 0 };
                    first[lane] = line * words + lines.starts[lane];
                    first_exponent[lane] = line * exponents;
                    period = repeats;
                    if let Some(part) = part {
                        whole_lines = part.whole_lines(lines);
                    }
                }
            }
        }
        let step = lines.step;
        let same_exponents = matches!(self.places, WordPlaces::Group { .. })
            && first_exponent
                .iter()
                .all(|&first| first == first_exponent[0]);
        let active = lines.active;
        let neighbours =
            (active > 1 || step != 1) && (0..active).all(|lane| first[lane] == first[0] + lane);
        // Places within the period, moved on from element to element: dividing for each would take longer than all else that is done with it.
        let whole_step = whole_lines.step % period;
        let mut within: [usize; L] = std::array::from_fn(|lane| whole_lines.at(lane, 0) % period);
        for row in 0..grid.rows {
            for column in 0..grid.columns {
                let i = row * grid.columns + column;
                let place = row * grid.pitch + column;
                if same_exponents {
                    // SAFETY: the pass that wrote it has ended.
                    let exponent = unsafe { self.exponents.get(first_exponent[0] + i * step) };
                    exponents[place] = [i64::from(exponent); L];
                }
                for lane in 0..if same_exponents { 0 } else { L } {
                    let at = match self.places {
                        WordPlaces::Group { .. } => first_exponent[lane] + i * step,
                        WordPlaces::Line { .. } => first_exponent[lane] + within[lane],
                    };
                    // SAFETY: the pass that wrote it has ended.
                    exponents[place][lane] = i64::from(unsafe { self.exponents.get(at) });
                }
                // Within a group nothing repeats.
                let repeating = if period == usize::MAX { 0 } else { L };
                for within in &mut within[..repeating] {
                    let next = *within + whole_step;
                    *within = if next < period { next } else { next - period };
                }
                let point = &mut points[place];
                if neighbours {
                    let start = self.words.checked(first[0] + i * step, active);
                    // SAFETY: in range; as above, and today's lines overwrite only themselves. Complex words and pairs
                    // of double-precision numbers are laid out alike.
                    let (re, im) = unsafe { load_neighbours::<L, V>(start.cast(), active) };
                    V::store(re, &mut point[0]);
                    V::store(im, &mut point[1]);
                } else if !(step == 1 && L > 1) {
                    for lane in 0..L {
                        // SAFETY: as above.
                        let word = unsafe { self.words.get(first[lane] + i * step) };
                        point[0][lane] = word.re;
                        point[1][lane] = word.im;
                    }
                }
            }
            if !neighbours && step == 1 && L > 1 {
                let chunk = L / 2;
                let points = &mut points[row * grid.pitch..][..grid.columns];
                let done = grid.columns / chunk * chunk;
                let base = row * grid.columns;
                for column in (0..done).step_by(chunk) {
                    let starts = std::array::from_fn(|lane| {
                        self.words
                            .checked(first[lane] + base + column, chunk)
                            .cast::<f64>()
                    });
                    // SAFETY: as above.
                    unsafe {
                        V::load_lines(
                            &starts,
                            #[inline(always)]
                            |number, words| {
                                V::store(words, &mut points[column + number / 2][number % 2]);
                            },
                        );
                    }
                }
                for column in done..grid.columns {
                    for lane in 0..L {
                        // SAFETY: as above.
                        let word = unsafe { self.words.get(first[lane] + base + column) };
                        points[column][0][lane] = word.re;
                        points[column][1][lane] = word.im;
                    }
                }
            }
        }
        Quantised {
            exponents: quantise_words::<L, V>(points, exponents, grid, block.columns()),
            properties: [LineProperties::ZERO; L],
            symmetry: InputSymmetry::Complex,
        }
    }
}
