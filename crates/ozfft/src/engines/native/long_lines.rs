//! One long line, divided among threads: `n = n1·n2` points as an array of `n1` rows, whose columns are transformed, rotated and
//! transposed, and then the columns of what that leaves (Bailey's four steps). Both times lines lie side by side, as along a strided axis.
//!
//! RustFFT has one thread for a line, and a long one does not stay in its caches. Which thread has which columns makes no difference
//! to a result.

use super::butterflies::splat;
use super::panels::Lines;
use super::side_by_side::{MOST_LANES, SideBySide};
use super::{COLUMN_GAP, COLUMNS, FEW_COLUMNS, LONG_LINE};
use crate::parallel;
use crate::roots::root_table::RootTable;
use crate::simd::{Floats, Instructions, LaneTask};
use crate::stages::numbers::Placement;
use crate::workspace::{ReadArray, SharedArray, take, words_for};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Shorter lines are left to RustFFT: on one thread they take up to a sixth less time there.
const SHORTEST: usize = 1 << 18;

/// The transform of a long line.
#[derive(Debug, Clone)]
pub(super) struct LongLine {
    /// Of the columns of `n1` points, and of those of `n2`.
    first: SideBySide,
    second: SideBySide,
    rotations: Rotations,
}

/// exp(∓2πi·j·k/n), for columns `j` of the first transform and their points `k`: products of three factors, as a table of all of them would
/// take as long to read as the numbers themselves.
#[derive(Debug, Clone)]
struct Rotations {
    /// For every `k` the factors of neighbouring columns, as many as there are lanes.
    of_lanes: Vec<Complex<f64>>,
    /// exp(∓2πi·m/n) for `m` below 2^bits, and for multiples of 2^bits.
    low: Vec<Complex<f64>>,
    high: Vec<Complex<f64>>,
    bits: u32,
}

impl Rotations {
    fn new(n: usize, points: usize, lanes: usize, inverse: bool) -> Self {
        let table = RootTable::new(n as u64);
        let root = |m: usize| {
            let root = table.units_of_96_bits((m % n) as u64);
            let float = |units: i128| units as f64 * (-96f64).exp2();
            let sign = if inverse { 1.0 } else { -1.0 };
            Complex::new(float(root.re), sign * float(root.im))
        };
        let bits = n.ilog2().div_ceil(2);
        let places = (0..points).flat_map(|k| (0..lanes).map(move |lane| k * lane));
        Rotations {
            of_lanes: places.map(root).collect(),
            low: (0..1 << bits).map(root).collect(),
            high: (0..=(n >> bits)).map(|i| root(i << bits)).collect(),
            bits,
        }
    }

    /// The factor of a product `j·k`, which is below `n`.
    #[inline(always)]
    fn root(&self, product: usize) -> Complex<f64> {
        let low = self.low[product & ((1 << self.bits) - 1)];
        self.high[product >> self.bits] * low
    }

    /// Rotates the columns of a panel from `column` on, which are those of the array from `j` on.
    ///
    /// # Safety
    /// The panel has `L` columns from there on in all of its rows, and the processor has the instructions.
    #[inline(always)]
    unsafe fn turn<const L: usize, V: Floats<L>>(
        &self,
        j: usize,
        panel: *mut Complex<f64>,
        pitch: usize,
    ) {
        for (k, of_lanes) in self.of_lanes.chunks_exact(L).enumerate() {
            let root = self.root(j * k);
            let (cosine, sine) = (splat::<L, V>(root.re), splat::<L, V>(root.im));
            // SAFETY: the caller's promise; a row of factors is as long as a row of columns.
            unsafe {
                let place = panel.add(k * pitch).cast::<f64>();
                let (a, b) = V::load_neighbours(of_lanes.as_ptr().cast());
                let (re, im) = V::load_neighbours(place);
                let (cosine, sine) = (
                    V::multiply_subtract(b, sine, V::multiply_floats(a, cosine)),
                    V::multiply_add(b, cosine, V::multiply_floats(a, sine)),
                );
                V::store_neighbours(
                    place,
                    V::multiply_subtract(im, sine, V::multiply_floats(re, cosine)),
                    V::multiply_add(im, cosine, V::multiply_floats(re, sine)),
                );
            }
        }
    }

    /// [`Rotations::turn`] in the instructions that the transforms are computed with.
    fn turn_columns(
        &self,
        instructions: Instructions,
        j: usize,
        panel: &mut [Complex<f64>],
        (column, pitch): (usize, usize),
    ) {
        let lanes = instructions.lanes();
        let rows = self.of_lanes.len() / lanes;
        assert!((rows - 1) * pitch + column + lanes <= panel.len());
        let panel = panel[column..].as_mut_ptr();
        let task = Turn {
            rotations: self,
            j,
            panel,
            pitch,
        };
        // SAFETY: in range; the instructions are this machine's.
        unsafe { instructions.enter(task) }
    }
}

/// The columns of one call of [`Rotations::turn_columns`].
struct Turn<'a> {
    rotations: &'a Rotations,
    j: usize,
    panel: *mut Complex<f64>,
    pitch: usize,
}

impl LaneTask for Turn<'_> {
    #[inline(always)]
    unsafe fn run<const L: usize, V: Floats<L>>(self) {
        // SAFETY: the promise of whoever has made the task, and the caller's.
        unsafe { self.rotations.turn::<L, V>(self.j, self.panel, self.pitch) }
    }
}

/// Columns that are copied together.
fn columns_of(points: usize) -> usize {
    match points {
        ..LONG_LINE => COLUMNS,
        _ => FEW_COLUMNS,
    }
}

/// Numbers from one row of a panel to the next.
fn pitch_of(points: usize) -> usize {
    columns_of(points) + COLUMN_GAP
}

/// Both lengths, as near to each other as can be.
fn lengths(n: usize) -> Option<(usize, usize)> {
    let root = n.isqrt();
    let shorter = (2..=root).rev().find(|&first| {
        let known = |points| SideBySide::has_length(points);
        n.is_multiple_of(first) && known(first) && known(n / first)
    })?;
    Some((shorter, n / shorter))
}

impl LongLine {
    /// The transform of `n` points; none where the line is short, or not a product of two lengths that lie side by side.
    pub(super) fn new(n: usize, inverse: bool, scale: f64) -> Option<Self> {
        if n < SHORTEST {
            return None;
        }
        LongLine::of_lengths(lengths(n)?, inverse, scale)
    }

    fn of_lengths((first, second): (usize, usize), inverse: bool, scale: f64) -> Option<Self> {
        let n = first * second;
        let first = SideBySide::new(first, inverse, 1.0)?;
        let second = SideBySide::new(second, inverse, scale)?;
        let rotations = Rotations::new(n, first.len(), first.lanes(), inverse);
        Some(LongLine {
            first,
            second,
            rotations,
        })
    }

    pub(super) fn table_bytes(&self) -> usize {
        let Rotations {
            of_lanes,
            low,
            high,
            ..
        } = &self.rotations;
        let rotations = size_of_val(&of_lanes[..]) + size_of_val(&low[..]) + size_of_val(&high[..]);
        self.first.table_bytes() + self.second.table_bytes() + rotations
    }

    /// 64-bit words of one thread.
    fn words_of_thread(&self) -> usize {
        let of = |fft: &SideBySide| {
            let panel = fft.len() * pitch_of(fft.len());
            words_for::<Complex<f64>>(panel) + fft.words()
        };
        of(&self.first).max(of(&self.second))
    }

    /// 64-bit words of workspace.
    pub(super) fn words(&self, workers: usize) -> usize {
        words_for::<Complex<f64>>(self.first.len() * self.second.len())
            + workers * self.words_of_thread()
    }

    /// Transforms a line.
    pub(super) fn run(
        &self,
        (from, source): (&ReadArray<'_, Complex<f64>>, Placement),
        (to, target): (&SharedArray<'_, Complex<f64>>, Placement),
        mut workspace: &mut [u64],
        workers: usize,
    ) {
        let (n1, n2) = (self.first.len(), self.second.len());
        let between = SharedArray::new(take::<Complex<f64>>(&mut workspace, n1 * n2));
        let memory = &mut workspace[..workers * self.words_of_thread()];
        self.for_each_columns(n2, columns_of(n1), memory, |j, count, memory| {
            let lines = Lines {
                place: Placement {
                    offset: source.offset + j as isize * source.stride,
                    stride: n2 as isize * source.stride,
                },
                distance: source.stride,
                count,
                points: n1,
            };
            let (panel, pitch) = (columns(&self.first, (from, &lines), memory), pitch_of(n1));
            let (instructions, lanes) = (self.first.instructions(), self.first.lanes());
            for column in (0..count).step_by(lanes) {
                let place = (column, pitch);
                self.rotations
                    .turn_columns(instructions, j + column, panel, place);
            }
            let in_panel = Lines {
                place: Placement {
                    offset: 0,
                    stride: pitch as isize,
                },
                distance: 1,
                count,
                points: n1,
            };
            let start = between.checked(j * n1, count * n1);
            // SAFETY: in range; these columns are this thread's, and nobody reads them before all are written.
            let transposed = unsafe { std::slice::from_raw_parts_mut(start, count * n1) };
            in_panel.gather(&SharedArray::read_only(panel), transposed, n1, |z| z);
        });
        self.for_each_columns(n1, columns_of(n2), memory, |k, count, memory| {
            let lines = Lines {
                place: Placement {
                    offset: k as isize,
                    stride: n1 as isize,
                },
                distance: 1,
                count,
                points: n2,
            };
            let panel = columns(&self.second, (&between.reader(), &lines), memory);
            let lines = Lines {
                place: Placement {
                    offset: target.offset + k as isize * target.stride,
                    stride: n1 as isize * target.stride,
                },
                distance: target.stride,
                ..lines
            };
            lines.scatter_rows(panel, (0, pitch_of(n2)), to);
        });
    }

    /// Calls `work` with all columns of an array, some at a time, on as many threads as there is memory for.
    fn for_each_columns(
        &self,
        columns: usize,
        at_once: usize,
        memory: &mut [u64],
        work: impl Fn(usize, usize, &mut [u64]) + Sync + Send,
    ) {
        let next = AtomicUsize::new(0);
        let share = |_: usize, memory: &mut [u64]| {
            // Threads inherit the environment of the thread that started them.
            let _environment = DefaultEnvironment::enter();
            loop {
                let first = next.fetch_add(at_once, Ordering::Relaxed);
                if first >= columns {
                    break;
                }
                work(first, at_once.min(columns - first), memory);
            }
        };
        let words = self.words_of_thread();
        if memory.len() == words {
            // One worker is the caller.
            share(0, memory);
        } else {
            parallel::for_each_piece(memory, words, share);
        }
    }
}

/// Copies lines to the columns of a panel and transforms them there.
fn columns<'a>(
    fft: &SideBySide,
    (from, lines): (&ReadArray<'_, Complex<f64>>, &Lines),
    mut memory: &'a mut [u64],
) -> &'a mut [Complex<f64>] {
    let (n, lanes, pitch) = (fft.len(), fft.lanes(), pitch_of(fft.len()));
    let panel = take::<Complex<f64>>(&mut memory, n * pitch);
    lines.gather_rows(from, panel, (0, pitch));
    let shared = SharedArray::new(&mut *panel);
    for column in (0..lines.count).step_by(lanes) {
        // Columns beyond the lines hold anything, and stay in the panel.
        let lines = Lines {
            place: Placement {
                offset: column as isize,
                stride: pitch as isize,
            },
            distance: 1,
            count: lanes,
            points: n,
        };
        fft.run((&shared.reader(), &lines), (&shared, &lines), memory);
    }
    panel
}

const _: () = assert!(COLUMNS.is_multiple_of(MOST_LANES) && FEW_COLUMNS.is_multiple_of(MOST_LANES));

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::inputs::uniform_complex;
    use ozfft_testkit::oracle::{Direction, Scale, compare_scaled, dft_nd};
    use ozfft_testkit::same_bits;

    #[test]
    fn long_lines_are_products_of_two_lengths() {
        assert_eq!(lengths(1 << 20), Some((1024, 1024)));
        assert_eq!(lengths(100_000), Some((250, 400)));
        assert_eq!(lengths(1 << 22), Some((2048, 2048)));
        assert_eq!(lengths(1 << 23), None);
        assert_eq!(lengths(65_536 * 11), None);
    }

    // Numbers of columns that fill no lanes, gaps in both arrays, both directions, and threads.
    #[test]
    fn columns_and_then_rows_are_the_transform_on_any_number_of_threads() {
        for (first, second) in [(8, 16), (9, 35), (25, 12), (64, 49)] {
            let n = first * second;
            for inverse in [false, true] {
                let line = LongLine::of_lengths((first, second), inverse, 0.5).unwrap();
                let values = uniform_complex(3 * n, n as u64);
                let place = |offset, stride| Placement { offset, stride };
                let run = |workers| {
                    let mut results = vec![Complex::new(0.0, 0.0); 2 * n];
                    line.run(
                        (&SharedArray::read_only(&values), place(1, 3)),
                        (
                            &SharedArray::new(&mut results),
                            place(2 * n as isize - 1, -2),
                        ),
                        &mut vec![u64::MAX; line.words(workers)],
                        workers,
                    );
                    results
                };
                let results = run(1);
                let direction = match inverse {
                    true => Direction::Inverse,
                    false => Direction::Forward,
                };
                let line: Vec<_> = (0..n).map(|i| values[1 + 3 * i]).collect();
                let exact = dft_nd(&line, &[n], direction);
                let doubled: Vec<_> = (0..n).map(|i| results[2 * (n - i) - 1] * 2.0).collect();
                let error = compare_scaled(&doubled, &exact, Scale::One).l2;
                assert!(error < 1e-15, "{first} by {second}: {error:e}");
                same_bits(&results, &run(3), n as u64).expect("threads change no bit");
            }
        }
    }
}
