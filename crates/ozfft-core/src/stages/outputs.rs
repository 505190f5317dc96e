//! Conversion of the outputs of a block: wide integers for the next pass, or floating-point numbers for the caller.

use crate::sample::Real;
use crate::simd::{
    HalfRow, LOW_BITS, Pair, Point, Row, Vectors, Wide, from_lanes, inlined, lanes_of,
};
use crate::stages::butterfly::{Scales, Value};
use crate::stages::lines::{Grid, Lines};
use crate::stages::numbers::Output;
use crate::stages::quantise::{LineProperties, is_moderate, power_bits, single_scales};

/// Takes the outputs of a block as they are made.
pub(crate) trait Emit<const L: usize, V: Vectors<L>> {
    /// The output at a place of the block's output grid.
    fn emit<X: Value<L, V>>(&mut self, place: usize, value: X);

    /// Whether there may be imaginary parts that are not wanted.
    const MAY_BE_REAL: bool = false;

    /// Whether imaginary parts are not wanted.
    #[inline(always)]
    fn is_real(&self) -> bool {
        false
    }

    /// Real outputs at two places: the real parts at the first one, the imaginary parts at the second; or at one place, named twice.
    #[inline(always)]
    fn emit_real<X: Value<L, V>>(&mut self, [place, _]: [usize; 2], values: X) {
        self.emit(place, values);
    }

    /// Says which set of lines the next outputs are of, where there are several.
    #[inline(always)]
    fn select(&mut self, _set: usize) {}
}

/// High and low parts of the real, then of the imaginary part, normalised.
pub(crate) type WidePoint<const L: usize> = [Row<L>; 4];

/// The outputs of a block as wide integers.
pub(crate) struct WideOutputs<'a, const L: usize> {
    pub(crate) points: &'a [WidePoint<L>],
    pub(crate) grid: Grid,
    /// All magnitudes of a line's high parts or-ed together, which is as long as the largest one.
    pub(crate) magnitudes: Row<L>,
}

impl<const L: usize> WideOutputs<'_, L> {
    /// Bits by which every line's values must be shifted down to become words of at most `word_bits` bits.
    pub(crate) fn narrowing_shifts(&self, word_bits: u32) -> [u32; L] {
        std::array::from_fn(|lane| {
            let bits = self.magnitudes[lane];
            let length = if bits != 0 {
                64 - bits.leading_zeros() + LOW_BITS
            } else {
                64 - self.low_magnitudes(lane).leading_zeros()
            };
            length.saturating_sub(word_bits)
        })
    }

    /// The magnitudes of a line whose numbers are all below 2^25, or-ed together.
    #[cold]
    fn low_magnitudes(&self, lane: usize) -> i64 {
        let mut bits = 0;
        for i in 0..self.grid.rows * self.grid.columns {
            let point = &self.points[self.grid.place(i)];
            for part in [0, 2] {
                let value = (point[part][lane] << LOW_BITS) + point[part + 1][lane];
                bits |= value.abs();
            }
        }
        bits
    }

    /// The output at a place as words: rounded, halves upwards.
    #[inline(always)]
    pub(crate) fn narrowed<V: Vectors<L>>(
        &self,
        place: usize,
        shifts: &Narrowing<V::Words>,
    ) -> Pair<V::Words> {
        let point = &self.points[place];
        let word = inlined(
            #[inline(always)]
            |high: &Row<L>, low: &Row<L>| {
                V::add(
                    V::shift_left_each(V::load(high), shifts.left),
                    V::shift_right_each(V::add(V::load(low), shifts.rounding), shifts.right),
                )
            },
        );
        (word(&point[0], &point[1]), word(&point[2], &point[3]))
    }
}

/// Shifts of every lane, in registers.
pub(crate) struct Narrowing<W> {
    left: W,
    right: W,
    rounding: W,
}

impl<W: Copy> Narrowing<W> {
    /// At most 88 bits become at most 62, so a shift is at most the low part's length.
    #[inline(always)]
    pub(crate) fn new<const L: usize, V: Vectors<L, Words = W>>(shifts: &[u32; L]) -> Self {
        Narrowing {
            left: from_lanes::<L, V>(|lane| i64::from(LOW_BITS - shifts[lane])),
            right: from_lanes::<L, V>(|lane| i64::from(shifts[lane])),
            rounding: from_lanes::<L, V>(|lane| (1i64 << shifts[lane]) >> 1),
        }
    }
}

/// Collects outputs as wide integers.
pub(crate) struct WideEmitter<'a, const L: usize> {
    pub(crate) points: &'a mut [WidePoint<L>],
    pub(crate) magnitudes: &'a mut Row<L>,
}

impl<const L: usize, V: Vectors<L>> Emit<L, V> for WideEmitter<'_, L> {
    #[inline(always)]
    fn emit<X: Value<L, V>>(&mut self, place: usize, value: X) {
        let (re, im) = value.wide();
        let (re, im) = (re.normalised::<L, V>(), im.normalised::<L, V>());
        // The high part's magnitude: a negative number with something in its low part is less far from zero.
        let magnitude = inlined(
            #[inline(always)]
            |wide: Wide<V::Words>| {
                let sign = V::shift_right(wide.high, 63);
                let some =
                    V::shift_right(V::add(wide.low, V::splat((1 << LOW_BITS) - 1)), LOW_BITS);
                let high = V::add(wide.high, V::and(some, sign));
                V::subtract(V::xor(high, sign), sign)
            },
        );
        let so_far = V::load(self.magnitudes);
        V::store(
            V::or(so_far, V::or(magnitude(re), magnitude(im))),
            self.magnitudes,
        );
        let point = &mut self.points[place];
        V::store(re.high, &mut point[0]);
        V::store(re.low, &mut point[1]);
        V::store(im.high, &mut point[2]);
        V::store(im.low, &mut point[3]);
    }
}

/// Memory for floats of one precision as memory for the other: single-precision numbers take the first half.
pub(crate) fn singles<const L: usize>(floats: &mut [Point<L>]) -> &mut [HalfRow<L>] {
    let count = floats.len();
    &mut bytemuck::cast_slice_mut(floats)[..count]
}

/// Outputs as the bits of floating-point numbers.
enum Floats<'a, const L: usize> {
    Double(&'a mut [Point<L>]),
    Single(&'a mut [HalfRow<L>]),
}

/// Integers as floating-point numbers, rounded once.
struct Conversion<const L: usize> {
    exponents: [i32; L],
    scales: Scales<L>,
    moderate: bool,
}

impl<const L: usize> Conversion<L> {
    /// As the bits of double-precision numbers.
    #[inline(always)]
    fn doubles<V: Vectors<L>, X: Value<L, V>>(&self, value: X) -> Pair<V::Words> {
        match self.moderate {
            true => value.doubles(&self.scales),
            false => self.extremes::<V, X>(value, false),
        }
    }

    /// As the bits of single-precision numbers.
    #[inline(always)]
    fn singles<V: Vectors<L>, X: Value<L, V>>(&self, value: X) -> V::Halves {
        match self.moderate {
            true => value.singles(&self.scales),
            false => {
                let (re, im) = self.extremes::<V, X>(value, true);
                V::narrow_to_single(re, im)
            }
        }
    }

    #[inline(always)]
    fn extremes<V: Vectors<L>, X: Value<L, V>>(&self, value: X, single: bool) -> Pair<V::Words> {
        let (re, im) = value.wide();
        let part = inlined(
            #[inline(always)]
            |part: Wide<V::Words>| {
                let parts = (lanes_of::<L, V>(part.high), lanes_of::<L, V>(part.low));
                V::load(&extreme(parts, &self.exponents, single))
            },
        );
        (part(re), part(im))
    }
}

/// The last rounding: outputs as the bits of floating-point numbers.
pub(crate) struct FloatEmitter<'a, const L: usize> {
    floats: Floats<'a, L>,
    conversion: Conversion<L>,
    /// Imaginary parts are not wanted.
    real: bool,
    conjugate: bool,
}

impl<'a, const L: usize> FloatEmitter<'a, L> {
    pub(crate) fn new(
        points: &'a mut [Point<L>],
        exponents: [i32; L],
        output: &Output<'_, L>,
    ) -> Self {
        let moderate = exponents.iter().all(|&exponent| is_moderate(exponent));
        let power = |lane: usize, more: i32| {
            if moderate {
                power_bits(exponents[lane] + more)
            } else {
                0
            }
        };
        FloatEmitter {
            conversion: Conversion {
                exponents,
                scales: Scales {
                    high: std::array::from_fn(|lane| power(lane, LOW_BITS as i32)),
                    low: std::array::from_fn(|lane| power(lane, 0)),
                    single: match output.is_single() {
                        true => single_scales(exponents),
                        false => None,
                    },
                },
                moderate,
            },
            floats: if output.is_single() {
                Floats::Single(singles(points))
            } else {
                Floats::Double(points)
            },
            real: output.real,
            conjugate: output.conjugate,
        }
    }
}

impl<'a, const L: usize> FloatEmitter<'a, L> {
    /// The same for double-precision outputs of lines whose exponents are moderate, and in a register.
    #[inline(always)]
    pub(crate) fn moderate<V: Vectors<L>>(
        points: &'a mut [Point<L>],
        exponents: V::Words,
        output: &Output<'_, L>,
    ) -> Self {
        let power = inlined(
            #[inline(always)]
            |more: i64| {
                let field = V::add(exponents, V::splat(1023 + more));
                lanes_of::<L, V>(V::shift_left(field, 52))
            },
        );
        FloatEmitter {
            conversion: Conversion {
                exponents: lanes_of::<L, V>(exponents).map(|exponent| exponent as i32),
                scales: Scales {
                    high: power(i64::from(LOW_BITS)),
                    low: power(0),
                    single: None,
                },
                moderate: true,
            },
            floats: Floats::Double(points),
            real: output.real,
            conjugate: output.conjugate,
        }
    }
}

/// Rounds near the ends of the floating-point range, in integers.
#[cold]
#[inline(never)]
fn extreme<const L: usize>(
    (high, low): Pair<Row<L>>,
    exponents: &[i32; L],
    single: bool,
) -> Row<L> {
    std::array::from_fn(|lane| {
        let value = (i128::from(high[lane]) << LOW_BITS) + i128::from(low[lane]);
        let float = if single {
            f64::from(f32::from_fixed(value, exponents[lane]))
        } else {
            f64::from_fixed(value, exponents[lane])
        };
        float.to_bits() as i64
    })
}

impl<const L: usize, V: Vectors<L>> Emit<L, V> for FloatEmitter<'_, L> {
    const MAY_BE_REAL: bool = true;

    #[inline(always)]
    fn is_real(&self) -> bool {
        self.real
    }

    #[inline(always)]
    fn emit<X: Value<L, V>>(&mut self, place: usize, value: X) {
        // Conjugated here, among the integers, where there is no negative zero.
        let value = if self.conjugate && !self.real {
            value.conjugated()
        } else {
            value
        };
        match &mut self.floats {
            Floats::Double(points) => {
                let (re, im) = self.conversion.doubles::<V, X>(value);
                V::store(re, &mut points[place][0]);
                if !self.real {
                    V::store(im, &mut points[place][1]);
                }
            }
            Floats::Single(points) => {
                let numbers = self.conversion.singles::<V, X>(value);
                V::store_halves(numbers, &mut points[place]);
            }
        }
    }

    #[inline(always)]
    fn emit_real<X: Value<L, V>>(&mut self, [one, other]: [usize; 2], values: X) {
        match &mut self.floats {
            Floats::Double(points) => {
                let (re, im) = self.conversion.doubles::<V, X>(values);
                V::store(im, &mut points[other][0]);
                V::store(re, &mut points[one][0]);
            }
            Floats::Single(points) => {
                let numbers = self.conversion.singles::<V, X>(values);
                V::store_halves(V::swap_halves(numbers), &mut points[other]);
                V::store_halves(numbers, &mut points[one]);
            }
        }
    }
}

/// Stores rounded outputs, with what is known of them beyond rounding: zeros where they must be, NaN where there was one.
#[inline(always)]
pub(crate) fn finish<const L: usize, V: Vectors<L>>(
    output: &Output<'_, L>,
    lines: &Lines<L>,
    grid: Grid,
    floats: &mut [Point<L>],
    properties: &[LineProperties; L],
) {
    if output.is_single() {
        let floats = singles(floats);
        clear_known_zeros(
            lines,
            grid,
            properties,
            output.length,
            #[inline(always)]
            |place, part, lane| floats[place][lane][part] = 0,
        );
        output.scatter_singles::<V>(lines, grid, floats);
    } else {
        clear_known_zeros(
            lines,
            grid,
            properties,
            output.length,
            #[inline(always)]
            |place, part, lane| floats[place][part][lane] = 0,
        );
        output.scatter::<V>(lines, grid, floats);
    }
    for lane in 0..lines.active {
        if properties[lane].not_finite {
            output.fill_nan(lane);
        }
    }
}

/// The first output and, for even lengths, the middle one of a line of real numbers are real (and those of a line of
/// imaginary numbers imaginary): the other part is exactly 0, and so it is returned, whatever rounding left there.
#[inline(always)]
fn clear_known_zeros<const L: usize>(
    lines: &Lines<L>,
    grid: Grid,
    properties: &[LineProperties; L],
    length: usize,
    mut clear: impl FnMut(usize, usize, usize),
) {
    if properties.iter().all(|n| n.has_real && n.has_imaginary) {
        return;
    }
    for special in [0, length / 2] {
        if special != 0 && !length.is_multiple_of(2) {
            continue;
        }
        for lane in 0..L {
            let Some(distance) = special.checked_sub(lines.starts[lane]) else {
                continue;
            };
            let i = distance / lines.step;
            if !distance.is_multiple_of(lines.step) || i >= grid.rows * grid.columns {
                continue;
            }
            if !properties[lane].has_imaginary {
                clear(grid.place(i), 1, lane);
            }
            if !properties[lane].has_real {
                clear(grid.place(i), 0, lane);
            }
        }
    }
}

/// Sets that are transformed together, at most.
pub(crate) const SETS: usize = 4;

/// An emitter for every set.
pub(crate) struct SetEmitter<'a, const L: usize> {
    pub(crate) emitters: [Option<FloatEmitter<'a, L>>; SETS],
    set: usize,
}

impl<'a, const L: usize> SetEmitter<'a, L> {
    pub(crate) fn new() -> Self {
        SetEmitter {
            emitters: [const { None }; SETS],
            set: 0,
        }
    }

    /// For one set.
    pub(crate) fn one(emitter: FloatEmitter<'a, L>) -> Self {
        let mut all = SetEmitter::new();
        all.emitters[0] = Some(emitter);
        all
    }
}

impl<const L: usize, V: Vectors<L>> Emit<L, V> for SetEmitter<'_, L> {
    #[inline(always)]
    fn emit<X: Value<L, V>>(&mut self, place: usize, value: X) {
        if let Some(emitter) = &mut self.emitters[self.set] {
            emitter.emit(place, value);
        }
    }

    #[inline(always)]
    fn select(&mut self, set: usize) {
        self.set = set;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    // The low part is rounded by a shift, and the high part is moved: exact for all low parts next to a multiple of the
    // unit or of half of it, under every shift, with the largest, the smallest and ordinary high parts.
    #[test]
    fn narrowed_outputs_are_the_wide_integer_rounded_halves_upwards() {
        let grid = Grid {
            rows: 1,
            columns: 1,
            pitch: 1,
        };
        for shift in 0..=LOW_BITS {
            let unit = 1i64 << shift;
            let half = unit / 2;
            // Words have 62 bits at most.
            let largest = (1i64 << (62 - LOW_BITS + shift)) - 1;
            for high in [
                0,
                1,
                -1,
                2,
                -2,
                largest,
                -largest,
                largest / 3,
                -largest / 3,
            ] {
                for whole in [0, 1, (1 << LOW_BITS) / unit - 1] {
                    for rest in [0, 1, half - 1, half, half + 1, unit - 1] {
                        let low = whole * unit + rest;
                        if !(0..1 << LOW_BITS).contains(&low) {
                            continue;
                        }
                        let value = (i128::from(high) << LOW_BITS) + i128::from(low);
                        let right = (value + i128::from(half)) >> shift;
                        let points = [[[high], [low], [-high], [low]]];
                        let outputs = WideOutputs {
                            points: &points,
                            grid,
                            magnitudes: [0],
                        };
                        let shifts = Narrowing::new::<1, Portable>(&[shift]);
                        let (re, im) = outputs.narrowed::<Portable>(0, &shifts);
                        assert_eq!(i128::from(re[0]), right, "{value} by {shift} bits");
                        let value = (i128::from(-high) << LOW_BITS) + i128::from(low);
                        let right = (value + i128::from(half)) >> shift;
                        assert_eq!(i128::from(im[0]), right, "{value} by {shift} bits");
                    }
                }
            }
        }
    }
}
