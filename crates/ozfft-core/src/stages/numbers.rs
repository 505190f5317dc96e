//! The caller's numbers: read into panels of lanes, and written from them.
//!
//! Lines that lie side by side in memory, as along a strided axis, are read a row at a time; contiguous lines are read a
//! square at a time and transposed in registers; all others number by number.

use crate::sample::Real;
use crate::simd::{Pair, Point, Vectors};
use crate::stages::lines::{Grid, Lines};
use crate::workspace::{ReadArray, SharedArray};
use num_complex::Complex;

/// The NaN in every component of a transform whose input is not finite: positive, quiet, without a payload.
pub const DOUBLE_NAN: f64 = f64::from_bits(0x7ff8_0000_0000_0000);
/// The same in single precision.
pub const SINGLE_NAN: f32 = f32::from_bits(0x7fc0_0000);

/// Where the elements of a line lie: `offset + i·stride`.
#[derive(Debug, Clone, Copy)]
pub struct Placement {
    pub offset: isize,
    pub stride: isize,
}

impl Placement {
    #[inline]
    pub fn at(self, i: usize) -> usize {
        // Layouts are validated: every position is non-negative.
        (self.offset + self.stride * i as isize) as usize
    }
}

/// Real numbers to be read; complex ones are two.
#[derive(Clone, Copy)]
pub enum Reader<'a> {
    Double(ReadArray<'a, f64>),
    Single(ReadArray<'a, f32>),
}

/// Real numbers to be written.
#[derive(Clone, Copy)]
pub enum Writer<'a> {
    Double(SharedArray<'a, f64>),
    Single(SharedArray<'a, f32>),
}

impl<'a> Reader<'a> {
    pub fn new<T: Real>(array: ReadArray<'a, T>) -> Self {
        // SAFETY: `Real` is f64 or f32, and says which.
        unsafe {
            if T::IS_DOUBLE {
                Reader::Double(array.cast())
            } else {
                Reader::Single(array.cast())
            }
        }
    }

    /// # Safety
    /// No other thread may write this number at the same time.
    #[inline(always)]
    unsafe fn get(&self, index: usize) -> f64 {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Reader::Double(array) => array.get(index),
                Reader::Single(array) => f64::from(array.get(index)),
            }
        }
    }
}

impl<'a> Writer<'a> {
    pub fn new<T: Real>(array: SharedArray<'a, T>) -> Self {
        // SAFETY: as for readers.
        unsafe {
            if T::IS_DOUBLE {
                Writer::Double(array.cast())
            } else {
                Writer::Single(array.cast())
            }
        }
    }
}

/// The type of the elements of an input line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    Complex,
    Real,
    /// The non-redundant half of a Hermitian line of so many points.
    Half(usize),
}

/// The lines of one call, to be read.
pub struct Input<'a, const L: usize> {
    pub numbers: Reader<'a>,
    pub elements: Elements,
    pub places: [Placement; L],
    /// Read the conjugate, as inverse transforms do.
    pub conjugate: bool,
}

/// The lines of one call, to be written.
pub struct Output<'a, const L: usize> {
    pub numbers: Writer<'a>,
    /// Write real parts only.
    pub real: bool,
    pub places: [Placement; L],
    /// Outputs that are kept of every line.
    pub count: usize,
    /// Points of the transform.
    pub length: usize,
    /// Power of two by which every line's outputs are scaled (`scale.rs`).
    pub bias: [i32; L],
    /// Outputs are conjugated before they come here, as inverse transforms do.
    pub conjugate: bool,
}

/// Positions of the elements of every lane: `first + i·step`.
pub(crate) struct Positions<const L: usize> {
    first: [isize; L],
    pub(crate) step: isize,
    /// The elements of the active lanes lie side by side, and a lane's own do not.
    pub(crate) neighbours: bool,
}

impl<const L: usize> Positions<L> {
    #[inline(always)]
    pub(crate) fn new(places: &[Placement; L], lines: &Lines<L>) -> Self {
        let first: [isize; L] = std::array::from_fn(|lane| {
            places[lane].offset + places[lane].stride * lines.starts[lane] as isize
        });
        let step = places[0].stride * lines.step as isize;
        let side_by_side =
            (0..L).all(|lane| lane >= lines.active || first[lane] == first[0] + lane as isize);
        Positions {
            first,
            step,
            // One contiguous line is read several elements at a time.
            neighbours: side_by_side && (lines.active > 1 || step != 1),
        }
    }

    #[inline(always)]
    pub(crate) fn at(&self, lane: usize, i: usize) -> usize {
        (self.first[lane] + self.step * i as isize) as usize
    }
}

/// Elements below `limit` that every lane has.
#[inline(always)]
pub(crate) fn whole_elements<const L: usize>(lines: &Lines<L>, limit: usize) -> usize {
    // The lane that starts last has the fewest; a division takes as long as reading some points of a short line.
    let last = lines.starts.iter().copied().max().unwrap_or(0);
    match (limit.saturating_sub(last), lines.step) {
        (rest, 1) => rest,
        (rest, step) => rest.div_ceil(step),
    }
}

/// Moves every lane's pointer on; none is read or written beyond what was checked.
#[inline(always)]
pub(crate) fn advance<P: Pointer, const L: usize>(starts: &mut [P; L], numbers: usize) {
    for start in starts {
        *start = start.moved(numbers);
    }
}

/// Pointers for reading and for writing.
pub(crate) trait Pointer: Copy {
    fn moved(self, numbers: usize) -> Self;
}

impl<T> Pointer for *const T {
    #[inline(always)]
    fn moved(self, numbers: usize) -> Self {
        self.wrapping_add(numbers)
    }
}

impl<T> Pointer for *mut T {
    #[inline(always)]
    fn moved(self, numbers: usize) -> Self {
        self.wrapping_add(numbers)
    }
}

/// Complex numbers side by side, of the active lanes; the others repeat the first.
///
/// # Safety
/// `2·active` numbers are readable from `start`.
#[inline(always)]
pub(crate) unsafe fn load_neighbours<const L: usize, V: Vectors<L>>(
    start: *const f64,
    active: usize,
) -> Pair<V::Words> {
    // SAFETY: the caller's promise.
    unsafe {
        if active == L {
            V::load_neighbours(start)
        } else {
            V::load_some_neighbours(start, active)
        }
    }
}

/// Stores the complex numbers of the active lanes side by side.
///
/// # Safety
/// `2·active` numbers are writable from `start`.
#[inline(always)]
pub(crate) unsafe fn store_neighbours<const L: usize, V: Vectors<L>>(
    start: *mut f64,
    active: usize,
    (re, im): Pair<V::Words>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if active == L {
            V::store_neighbours(start, re, im);
        } else {
            V::store_some_neighbours(start, active, re, im);
        }
    }
}

/// Elements of the active lanes side by side; the others repeat the first.
///
/// # Safety
/// `active` elements are readable from `start`.
#[inline(always)]
pub(crate) unsafe fn load_row<X: Copy, const L: usize>(start: *const X, active: usize) -> [X; L] {
    // SAFETY: the caller's promise; a row has the size of `L` elements.
    unsafe {
        if active == L {
            start.cast::<[X; L]>().read_unaligned()
        } else {
            let at = |lane| if lane < active { lane } else { 0 };
            std::array::from_fn(|lane| start.add(at(lane)).read_unaligned())
        }
    }
}

/// Stores the elements of the active lanes side by side.
///
/// # Safety
/// `active` elements are writable from `start`.
#[inline(always)]
pub(crate) unsafe fn store_row<X: Copy, const L: usize>(
    start: *mut X,
    active: usize,
    row: &[X; L],
) {
    // SAFETY: the caller's promise; a row has the size of `L` elements.
    unsafe {
        if active == L {
            start.cast::<[X; L]>().write_unaligned(*row);
        } else {
            for (lane, element) in row[..active].iter().enumerate() {
                start.add(lane).write_unaligned(*element);
            }
        }
    }
}

/// Elements side by side.
const ADJACENT: Placement = Placement {
    offset: 0,
    stride: 1,
};

impl<'a, const L: usize> Input<'a, L> {
    /// A part of one line, in an array of its own.
    pub(crate) fn part(numbers: Reader<'a>, elements: Elements, conjugate: bool) -> Self {
        Input {
            numbers,
            elements,
            places: [ADJACENT; L],
            conjugate,
        }
    }

    /// Where nothing is read.
    pub(crate) fn nothing() -> Self {
        let numbers = Reader::Double(SharedArray::read_only(&[]));
        Input::part(numbers, Elements::Complex, false)
    }
}

impl<'a, const L: usize> Output<'a, L> {
    /// A part of one line, so many outputs, in an array of its own.
    pub(crate) fn part(numbers: Writer<'a>, count: usize, real: bool, conjugate: bool) -> Self {
        Output {
            numbers,
            real,
            places: [ADJACENT; L],
            count,
            length: count,
            bias: [0; L],
            conjugate,
        }
    }

    /// Where nothing is written.
    pub(crate) fn nothing() -> Self {
        let numbers = Writer::Double(SharedArray::new(&mut []));
        Output::part(numbers, 0, false, false)
    }
}

impl<const L: usize> Input<'_, L> {
    /// Element `index` of a lane, in the orientation of a forward transform.
    #[inline(always)]
    pub fn element(&self, lane: usize, index: usize) -> Complex<f64> {
        let place = self.places[lane];
        // SAFETY: a line is read and written by one thread, or read completely before it is written.
        let number = |i: usize| unsafe { self.numbers.get(i) };
        let value = match self.elements {
            Elements::Complex => {
                let at = 2 * place.at(index);
                Complex::new(number(at), number(at + 1))
            }
            Elements::Real => Complex::new(number(place.at(index)), 0.0),
            Elements::Half(n) => {
                let mirrored = 2 * index > n;
                let stored = if mirrored { n - index } else { index };
                let at = 2 * place.at(stored);
                let im = number(at + 1);
                let im = match (stored == 0 || 2 * stored == n, mirrored) {
                    // A real signal has no imaginary part here; what is given is left out (and reported by the plan),
                    // but a NaN or an infinity still makes the transform NaN.
                    (true, _) if im.is_finite() => 0.0,
                    (true, _) => f64::NAN,
                    (false, false) => im,
                    (false, true) => -im,
                };
                Complex::new(number(at), im)
            }
        };
        if self.conjugate { value.conj() } else { value }
    }

    pub(crate) fn is_double(&self) -> bool {
        matches!(self.numbers, Reader::Double(_))
    }

    /// The numbers of a lane's line of `count` elements where they lie one after the other in double precision; they may still have to be conjugated.
    #[inline(always)]
    pub(crate) fn adjacent(&self, lane: usize, count: usize) -> Option<*const f64> {
        let place = self.places[lane];
        match (&self.numbers, self.elements, place.stride) {
            (Reader::Double(array), Elements::Complex, 1) => {
                Some(array.checked(2 * place.at(0), 2 * count))
            }
            _ => None,
        }
    }

    /// The elements of a lane's line, one after the other.
    #[inline(always)]
    pub(crate) fn copy_line(&self, lane: usize, line: &mut [Complex<f64>]) {
        let place = self.places[lane];
        match (&self.numbers, self.elements, place.stride) {
            (Reader::Double(array), Elements::Complex, 1) => {
                let start = array.checked(2 * place.at(0), 2 * line.len());
                // SAFETY: in range; not written by another thread, as for single elements. A complex number is two real ones.
                unsafe {
                    std::ptr::copy_nonoverlapping(start.cast(), line.as_mut_ptr(), line.len());
                }
                if self.conjugate {
                    line.iter_mut().for_each(|element| element.im = -element.im);
                }
            }
            (Reader::Double(array), Elements::Real, 1) => {
                let start = array.checked(place.at(0), line.len());
                let zero = if self.conjugate { -0.0 } else { 0.0 };
                for (i, element) in line.iter_mut().enumerate() {
                    // SAFETY: in range; not written by another thread, as for single elements.
                    *element = Complex::new(unsafe { start.add(i).read() }, zero);
                }
            }
            (Reader::Double(array), Elements::Half(n), 1) if n == line.len() => {
                let start = array.checked(2 * place.at(0), 2 * (n / 2 + 1));
                let start = start.cast::<Complex<f64>>();
                // The first and the middle one, whose imaginary parts are left out.
                line[0] = self.element(lane, 0);
                if n.is_multiple_of(2) {
                    line[n / 2] = self.element(lane, n / 2);
                }
                // Elements below the middle, and those that mirror them from the end on.
                let (first, rest) = line.split_at_mut(n.div_ceil(2));
                let pairs = first[1..].iter_mut().zip(rest.iter_mut().rev());
                for (i, (element, mirrored)) in pairs.enumerate() {
                    // SAFETY: below the middle, so in range; not written by another thread, as for single elements.
                    let value = unsafe { start.add(i + 1).read() };
                    let value = if self.conjugate { value.conj() } else { value };
                    (*element, *mirrored) = (value, value.conj());
                }
            }
            _ => {
                for (i, element) in line.iter_mut().enumerate() {
                    *element = self.element(lane, i);
                }
            }
        }
    }

    /// Loads the bits of the elements below `limit` of every lane; zeros from there on.
    #[inline(always)]
    pub(crate) fn gather<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        limit: usize,
        grid: Grid,
        points: &mut [Point<L>],
    ) {
        if let Elements::Half(n) = self.elements
            && limit >= n
            && lines.are_whole(grid, n)
        {
            return self.gather_half::<V>(lines, n, (grid, grid.columns), points);
        }
        self.gather_each::<V>(lines, limit, grid, points);
    }

    /// The same, of half-spectra element by element.
    #[inline(always)]
    pub(crate) fn gather_each<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        limit: usize,
        grid: Grid,
        points: &mut [Point<L>],
    ) {
        let (whole, active) = (whole_elements(lines, limit), lines.active);
        // Where the first lane begins.
        let earliest = lines.starts.iter().copied().min().unwrap_or(0);
        let positions = Positions::new(&self.places, lines);
        let half = self.one_half_spectrum(lines);
        let grid = grid.flattened();
        // The sign of the imaginary parts is changed.
        let signs = [
            V::splat(0),
            V::splat(if self.conjugate { i64::MIN } else { 0 }),
        ];
        for row in 0..grid.rows {
            let first = row * grid.columns;
            let points = &mut points[row * grid.pitch..][..grid.columns];
            let fast = whole.saturating_sub(first).min(grid.columns);
            let done = match (&self.numbers, self.elements) {
                (Reader::Double(array), Elements::Complex) if positions.neighbours => {
                    for (i, point) in points[..fast].iter_mut().enumerate() {
                        let start = array.checked(2 * positions.at(0, first + i), 2 * active);
                        // SAFETY: in range; not written by another thread, as for single elements.
                        let (a, b) = unsafe { load_neighbours::<L, V>(start, active) };
                        V::store(a, &mut point[0]);
                        V::store(V::xor(b, signs[1]), &mut point[1]);
                    }
                    fast
                }
                (Reader::Double(array), Elements::Complex)
                    if positions.step == 1 && L > 1 && 2 * fast >= L =>
                {
                    let chunk = L / 2;
                    let done = fast / chunk * chunk;
                    let at = |lane| 2 * positions.at(lane, first);
                    let mut starts = std::array::from_fn(|lane| array.checked(at(lane), 2 * done));
                    for points in points[..done].chunks_exact_mut(chunk) {
                        // SAFETY: as above.
                        unsafe {
                            V::load_lines(
                                &starts,
                                #[inline(always)]
                                |number, words| {
                                    let words = V::xor(words, signs[number % 2]);
                                    V::store(words, &mut points[number / 2][number % 2]);
                                },
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                (Reader::Double(array), Elements::Real) if positions.neighbours => {
                    for (i, point) in points[..fast].iter_mut().enumerate() {
                        let start = array.checked(positions.at(0, first + i), active);
                        // SAFETY: as above.
                        point[0] = unsafe { load_row(start.cast(), active) };
                        point[1] = [0; L];
                    }
                    fast
                }
                (Reader::Double(array), Elements::Real)
                    if positions.step == 1 && L > 1 && fast >= L =>
                {
                    let done = fast / L * L;
                    let at = |lane| positions.at(lane, first);
                    let mut starts = std::array::from_fn(|lane| array.checked(at(lane), done));
                    for points in points[..done].chunks_exact_mut(L) {
                        // SAFETY: as above.
                        unsafe {
                            V::load_lines(
                                &starts,
                                #[inline(always)]
                                |number, words| {
                                    V::store(words, &mut points[number][0]);
                                    points[number][1] = [0; L];
                                },
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                _ => 0,
            };
            for (i, point) in points.iter_mut().enumerate().skip(done) {
                if earliest + (first + i) * lines.step >= limit {
                    *point = [[0; L]; 2];
                    continue;
                }
                if let Some(half) = half {
                    let elements = (lines.at(0, first + i), active);
                    if self.load_half_neighbours::<V>(half, elements, point) {
                        continue;
                    }
                }
                for lane in 0..L {
                    let index = lines.at(lane, first + i);
                    let value = if index < limit {
                        self.element(lane, index)
                    } else {
                        Complex::new(0.0, 0.0)
                    };
                    point[0][lane] = value.re.to_bits() as i64;
                    // Conjugated, the imaginary part of a real number is -0, which whoever quantises real numbers does not look for.
                    point[1][lane] = match self.elements {
                        Elements::Real => 0,
                        _ => value.im.to_bits() as i64,
                    };
                }
            }
        }
    }
}

impl<const L: usize> Output<'_, L> {
    pub(crate) fn is_single(&self) -> bool {
        matches!(self.numbers, Writer::Single(_))
    }

    /// Where a lane's outputs go if they are `count` complex numbers of double precision, one after the other.
    #[inline(always)]
    pub(crate) fn adjacent(&self, lane: usize, count: usize) -> Option<*mut f64> {
        let place = self.places[lane];
        match (&self.numbers, self.real, place.stride) {
            (Writer::Double(array), false, 1) if self.count == count => {
                Some(array.checked(2 * place.at(0), 2 * count))
            }
            _ => None,
        }
    }

    /// Stores an output of a lane.
    #[inline(always)]
    pub fn put(&self, lane: usize, index: usize, value: Complex<f64>) {
        let at = self.places[lane].at(index);
        // SAFETY: every output belongs to one line, and every line to one thread.
        unsafe {
            match (self.numbers, self.real) {
                (Writer::Double(array), true) => array.set(at, value.re),
                (Writer::Single(array), true) => array.set(at, value.re as f32),
                (Writer::Double(array), false) => {
                    array.set(2 * at, value.re);
                    array.set(2 * at + 1, value.im);
                }
                (Writer::Single(array), false) => {
                    array.set(2 * at, value.re as f32);
                    array.set(2 * at + 1, value.im as f32);
                }
            }
        }
    }

    /// The whole line of a lane is NaN, by its bits: conversions between types need not keep those of a NaN.
    pub fn fill_nan(&self, lane: usize) {
        let width = if self.real { 1 } else { 2 };
        for index in 0..self.count {
            let at = width * self.places[lane].at(index);
            for part in at..at + width {
                // SAFETY: as in `put`.
                unsafe {
                    match self.numbers {
                        Writer::Double(array) => array.set(part, DOUBLE_NAN),
                        Writer::Single(array) => array.set(part, SINGLE_NAN),
                    }
                }
            }
        }
    }

    /// Stores the bits of outputs that are kept; they are already rounded to the array's type.
    #[inline(always)]
    pub(crate) fn scatter<V: Vectors<L>>(&self, lines: &Lines<L>, grid: Grid, points: &[Point<L>]) {
        let (whole, active) = (whole_elements(lines, self.count), lines.active);
        let earliest = lines.starts.iter().copied().min().unwrap_or(0);
        let positions = Positions::new(&self.places, lines);
        let grid = grid.flattened();
        for row in 0..grid.rows {
            let first = row * grid.columns;
            let points = &points[row * grid.pitch..][..grid.columns];
            let fast = whole.saturating_sub(first).min(grid.columns);
            let done = match (&self.numbers, self.real) {
                (Writer::Double(array), false) if positions.neighbours => {
                    for (i, point) in points[..fast].iter().enumerate() {
                        let start = array.checked(2 * positions.at(0, first + i), 2 * active);
                        let pair = (V::load(&point[0]), V::load(&point[1]));
                        // SAFETY: in range; every output belongs to one line, and every line to one thread.
                        unsafe { store_neighbours::<L, V>(start, active, pair) }
                    }
                    fast
                }
                (Writer::Double(array), false) if positions.step == 1 && L > 1 && 2 * fast >= L => {
                    let chunk = L / 2;
                    let done = fast / chunk * chunk;
                    let at = |lane| 2 * positions.at(lane, first);
                    let mut starts = std::array::from_fn(|lane| array.checked(at(lane), 2 * done));
                    for points in points[..done].chunks_exact(chunk) {
                        // SAFETY: as above. Lanes that are not active repeat the first one, and store the same.
                        unsafe {
                            V::store_lines(
                                &starts,
                                #[inline(always)]
                                |number| V::load(&points[number / 2][number % 2]),
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                (Writer::Double(array), true) if positions.neighbours => {
                    for (i, point) in points[..fast].iter().enumerate() {
                        let start = array.checked(positions.at(0, first + i), active);
                        // SAFETY: as above.
                        unsafe { store_row(start.cast(), active, &point[0]) }
                    }
                    fast
                }
                (Writer::Double(array), true) if positions.step == 1 && L > 1 && fast >= L => {
                    let done = fast / L * L;
                    let at = |lane| positions.at(lane, first);
                    let mut starts = std::array::from_fn(|lane| array.checked(at(lane), done));
                    for points in points[..done].chunks_exact(L) {
                        // SAFETY: as above.
                        unsafe {
                            V::store_lines(
                                &starts,
                                #[inline(always)]
                                |number| V::load(&points[number][0]),
                            );
                        }
                        advance(&mut starts, L);
                    }
                    done
                }
                _ => 0,
            };
            for (i, point) in points.iter().enumerate().skip(done) {
                if earliest + (first + i) * lines.step >= self.count {
                    return;
                }
                for lane in 0..lines.active {
                    let index = lines.at(lane, first + i);
                    if index < self.count {
                        let float = |bits: i64| f64::from_bits(bits as u64);
                        let value = Complex::new(float(point[0][lane]), float(point[1][lane]));
                        self.put(lane, index, value);
                    }
                }
            }
        }
    }
}
