//! Random problems and inputs, as plain data: tests, the program's selftest and fuzz targets draw them here.
//!
//! Nothing here knows the library, whose own tests use this crate; [`problem_conversion!`](crate::problem_conversion) makes problems of the library of them where
//! they are used. All choices come from a [`Source`]: a generator with a printed seed, or a fuzzer's bytes.

use crate::oracle::inputs::{Generator, uniform_complex, wide_range};
use num_complex::Complex;

/// Where random choices come from.
pub trait Source {
    /// Any 64 bits.
    fn bits(&mut self) -> u64;

    /// A number below a limit, which is not zero.
    fn below(&mut self, limit: usize) -> usize;

    /// True once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    fn pick<V: Copy>(&mut self, values: &[V]) -> V {
        values[self.below(values.len())]
    }

    /// Any order of these, all equally likely.
    fn shuffle<V>(&mut self, values: &mut [V]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

impl Source for Generator {
    fn bits(&mut self) -> u64 {
        self.next_u64()
    }

    fn below(&mut self, limit: usize) -> usize {
        Generator::below(self, limit)
    }
}

/// The seed of a numbered case: neighbouring numbers do not repeat each other's sequences.
pub fn seed_of_case(seed: u64, number: u64) -> u64 {
    let mut generator = Generator::new(seed);
    Generator::new(generator.next_u64() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93)).next_u64()
}

/// What is transformed into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complex numbers into complex ones.
    ComplexToComplex,
    /// Real numbers into half of their spectrum.
    RealToComplex,
    /// Half of a spectrum into real numbers.
    ComplexToReal,
}

/// How results are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// The inverse transform by 1/N.
    Backward,
    /// Both by 1/√N.
    Ortho,
    /// The forward transform by 1/N.
    Forward,
    /// None of them.
    Unscaled,
}

/// What error is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// That of f64.
    Double,
    /// That of f32.
    Single,
    /// So many bits.
    Bits(u32),
    /// A relative error.
    Target(f64),
}

impl Accuracy {
    /// Any, also one that cannot be kept.
    pub fn draw_any(source: &mut impl Source) -> Accuracy {
        match source.below(4) {
            0 => Accuracy::Double,
            1 => Accuracy::Single,
            2 => Accuracy::Bits(source.below(60) as u32),
            // From 1e-18 to 10.
            _ => Accuracy::Target(10f64.powf(source.below(1900) as f64 / 100.0 - 18.0)),
        }
    }
}

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The planner's choice.
    Auto,
    /// Digits.
    Digits,
    /// Floating point by another library.
    Native,
}

impl Engine {
    /// Any, digits above all.
    pub fn draw_any(source: &mut impl Source) -> Engine {
        match source.below(5) {
            0 => Engine::Native,
            1 => Engine::Auto,
            _ => Engine::Digits,
        }
    }
}

/// What multiplies: units that every processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The planner's choice.
    Auto,
    /// The definition.
    Scalar,
    /// Several products in one of wide integers.
    WideInteger,
}

/// Where the elements of arrays lie, in elements: element `i` of array `a` is at `offset + a * distance + Σ i[d] * strides[d]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strides {
    /// From one index to the next, for every dimension.
    pub strides: Vec<isize>,
    /// From one array of the batch to the next.
    pub distance: isize,
    /// Of the first element of the first array.
    pub offset: usize,
}

impl Strides {
    /// Dimensions and batch nested in random order, with gaps, negative strides and an offset: never overlapping.
    pub fn draw(source: &mut impl Source, shape: &[usize], batch: usize) -> Strides {
        let rank = shape.len();
        let extents: Vec<usize> = shape.iter().copied().chain([batch]).collect();
        let mut order: Vec<usize> = (0..=rank).collect();
        source.shuffle(&mut order);
        let mut strides = vec![0isize; rank + 1];
        let (mut reach, mut before) = (0usize, 0usize);
        for dimension in order {
            let stride = reach + 1 + source.below(3);
            let extent = (extents[dimension] - 1) * stride;
            reach += extent;
            strides[dimension] = stride as isize;
            if source.once_in(3) {
                strides[dimension] = -strides[dimension];
                before += extent;
            }
        }
        let distance = strides.pop().unwrap_or(0);
        Strides {
            strides,
            distance,
            offset: before + source.below(4),
        }
    }

    /// As [`draw`](Self::draw) half of the time; else what has paths of its own and random strides hardly ever meet: contiguous (none), with
    /// an offset, or in Fortran's order.
    pub fn draw_often_contiguous(
        source: &mut impl Source,
        shape: &[usize],
        batch: usize,
    ) -> Option<Strides> {
        match source.below(6) {
            0 => None,
            1 => Some(Strides::nested(shape, 0..shape.len(), 0)),
            2 => {
                let offset = 1 + 2 * source.below(3);
                Some(Strides::nested(shape, (0..shape.len()).rev(), offset))
            }
            _ => Some(Strides::draw(source, shape, batch)),
        }
    }

    /// Without gaps, the first of `order` running fastest.
    fn nested(shape: &[usize], order: impl Iterator<Item = usize>, offset: usize) -> Strides {
        let mut strides = vec![0; shape.len()];
        let mut step = 1isize;
        for dimension in order {
            strides[dimension] = step;
            step *= shape[dimension] as isize;
        }
        Strides {
            strides,
            distance: step,
            offset,
        }
    }

    /// Anything, sense or nonsense.
    fn draw_nonsense(source: &mut impl Source) -> Strides {
        let number = |source: &mut dyn FnMut(usize) -> usize, any: isize| match source(4) {
            0 => any,
            1 => -(source(50) as isize),
            _ => source(200) as isize,
        };
        let rank = source.below(4);
        let mut draw = || {
            let any = source.bits() as isize;
            number(&mut |limit| source.below(limit), any)
        };
        Strides {
            strides: (0..rank).map(|_| draw()).collect(),
            distance: draw(),
            offset: match draw() {
                offset @ 0..500 => offset as usize,
                other => other.unsigned_abs() % 500,
            },
        }
    }
}

/// A problem, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomProblem {
    /// What is transformed into what.
    pub kind: Kind,
    /// Lengths, of the real array where there is one.
    pub shape: Vec<usize>,
    /// The transformed axes, in this order; none: all of them.
    pub axes: Option<Vec<usize>>,
    /// The sign in the exponent is positive.
    pub inverse: bool,
    /// How results are scaled.
    pub norm: Norm,
    /// What error is asked for.
    pub accuracy: Accuracy,
    /// Exact sums instead of truncated ones.
    pub exact: bool,
    /// What computes.
    pub engine: Engine,
    /// How many arrays.
    pub batch: usize,
    /// How many threads, where that is said.
    pub threads: Option<usize>,
    /// What multiplies.
    pub unit: Unit,
    /// Input that is not finite is rejected.
    pub strict: bool,
    /// Where the input lies, if not without gaps.
    pub input: Option<Strides>,
    /// Where the output lies, if not without gaps.
    pub output: Option<Strides>,
}

const KINDS: [Kind; 3] = [
    Kind::ComplexToComplex,
    Kind::RealToComplex,
    Kind::ComplexToReal,
];
const NORMS: [Norm; 4] = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];

impl RandomProblem {
    /// Anything at all, sense or nonsense: no axis need be there, lengths may be zero or beyond all memory, arrays may overlap.
    pub fn draw_nonsense(source: &mut impl Source) -> RandomProblem {
        let rank = source.below(4);
        let length = |source: &mut dyn FnMut(usize) -> usize| match source(8) {
            // Beyond all memory, and not only just: what fits into an address would be planned for minutes.
            0 => usize::MAX >> source(4),
            1 => 100 + source(200),
            _ => source(40),
        };
        let shape: Vec<usize> = (0..rank)
            .map(|_| length(&mut |limit| source.below(limit)))
            .collect();
        let axes = source.once_in(2).then(|| {
            let count = source.below(4);
            (0..count).map(|_| source.below(5)).collect()
        });
        RandomProblem {
            kind: source.pick(&KINDS),
            axes,
            inverse: source.once_in(2),
            norm: source.pick(&NORMS),
            accuracy: Accuracy::draw_any(source),
            exact: source.once_in(2),
            engine: Engine::draw_any(source),
            batch: match source.below(7) {
                0 => usize::MAX >> source.below(4),
                _ => source.below(5),
            },
            threads: source.once_in(2).then(|| source.below(5)),
            unit: source.pick(&[Unit::Scalar, Unit::WideInteger]),
            strict: source.once_in(2),
            input: source.once_in(2).then(|| Strides::draw_nonsense(source)),
            output: source.once_in(2).then(|| Strides::draw_nonsense(source)),
            shape,
        }
    }

    /// The shapes of input and output: that of a half-spectrum ends in the middle of the last transformed axis.
    pub fn shapes(&self) -> (Vec<usize>, Vec<usize>) {
        let mut half = self.shape.clone();
        let halved = match &self.axes {
            Some(axes) => axes.last().copied(),
            None => self.shape.len().checked_sub(1),
        };
        if let Some(length) = halved.and_then(|axis| half.get_mut(axis)) {
            *length = *length / 2 + 1;
        }
        match self.kind {
            Kind::ComplexToComplex => (self.shape.clone(), self.shape.clone()),
            Kind::RealToComplex => (self.shape.clone(), half),
            Kind::ComplexToReal => (half, self.shape.clone()),
        }
    }
}

/// Which problems are drawn: sensible ones of moderate size, that a planner must plan.
#[derive(Clone, Debug)]
pub struct Domain<'a> {
    /// Lengths of axes; none: lengths by what they make a planner do.
    pub lengths: Option<&'a [usize]>,
    /// Dimensions, from the first number to the second.
    pub ranks: (usize, usize),
    /// Points of one array.
    pub points: usize,
    /// Accuracies, all equally likely.
    pub accuracies: &'a [Accuracy],
    /// One in so many has exact sums.
    pub exact_once_in: usize,
    /// Real transforms are drawn in both directions.
    pub real_inverse: bool,
}

impl Domain<'_> {
    /// What tests draw from for f64 and f32. Results rounded to f32 cannot keep more than 2^-22, so only f64 are asked for more.
    pub fn usual(single_precision: bool) -> Domain<'static> {
        Domain {
            lengths: None,
            ranks: (1, 4),
            points: 1200,
            accuracies: match single_precision {
                true => &[Accuracy::Double, Accuracy::Target(1e-5), Accuracy::Bits(12)],
                false => &[
                    Accuracy::Double,
                    Accuracy::Double,
                    Accuracy::Single,
                    Accuracy::Target(1e-10),
                    Accuracy::Bits(16),
                ],
            },
            exact_once_in: 2,
            real_inverse: true,
        }
    }

    /// A problem of one array without layout, by digits: what alone may decide about bits.
    pub fn draw(&self, source: &mut impl Source) -> RandomProblem {
        let shape = self.shape(source);
        self.draw_of_shape(source, &shape)
    }

    /// As [`draw`](Self::draw), for a shape that need not be of the domain.
    pub fn draw_of_shape(&self, source: &mut impl Source, shape: &[usize]) -> RandomProblem {
        let kind = source.pick(&KINDS);
        let axes = axes(source, shape.len());
        let inverse = match kind {
            Kind::RealToComplex if !self.real_inverse => false,
            Kind::ComplexToReal if !self.real_inverse => true,
            _ => source.once_in(2),
        };
        RandomProblem {
            kind,
            axes: Some(axes),
            shape: shape.to_vec(),
            inverse,
            norm: source.pick(&NORMS),
            accuracy: source.pick(self.accuracies),
            exact: source.once_in(self.exact_once_in),
            engine: Engine::Digits,
            batch: 1,
            threads: None,
            unit: Unit::Auto,
            strict: false,
            input: None,
            output: None,
        }
    }

    /// Lengths whose product is not too large.
    fn shape(&self, source: &mut impl Source) -> Vec<usize> {
        let (least, most) = self.ranks;
        let rank = least + source.below(most - least + 1);
        // A line alone may be longer, so that some take several passes.
        let mut room = match (rank, self.lengths) {
            (1, None) => self.points.max(2050),
            _ => self.points,
        };
        let mut shape = Vec::new();
        for _ in 0..rank {
            let length = match self.lengths {
                None => usual_length(source, room),
                Some(lengths) => {
                    // The first may be any of them, however long.
                    let most = if shape.is_empty() { usize::MAX } else { room };
                    let fitting = lengths.iter().copied().filter(|&length| length <= most);
                    let fitting: Vec<usize> = fitting.collect();
                    if fitting.is_empty() {
                        break;
                    }
                    source.pick(&fitting)
                }
            };
            room = (room / length).max(1);
            let place = source.below(shape.len() + 1);
            shape.insert(place, length);
        }
        shape
    }
}

/// Lengths by what they make a planner do: one step, several steps, Bluestein's convolution, several passes.
fn usual_length(source: &mut impl Source, most: usize) -> usize {
    let length = match source.below(24) {
        0 => source.pick(&[131, 137, 149, 257, 262, 393, 521]),
        1 => source.pick(&[1025, 1030, 1040, 1200, 1536, 2048, 2050]),
        2..=4 => 33 + source.below(224),
        5..=9 => 9 + source.below(56),
        _ => 1 + source.below(12),
    };
    match length <= most {
        true => length,
        false => 1 + source.below(most.min(12)),
    }
}

/// Some of the axes, at least one, in any order.
pub fn axes(source: &mut impl Source, rank: usize) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..rank).collect();
    source.shuffle(&mut axes);
    axes.truncate(1 + source.below(rank));
    axes
}

/// Finite numbers with few or many orders of magnitude, and some zeros.
pub fn numbers(source: &mut impl Source, count: usize) -> Vec<Complex<f64>> {
    let seed = source.bits();
    let mut values = match source.below(4) {
        0 => wide_range(count, seed, 60),
        1 => wide_range(count, seed, 12),
        _ => uniform_complex(count, seed),
    };
    if source.once_in(4) {
        let period = 2 + source.below(5);
        let zeros = values.iter_mut().step_by(period);
        zeros.for_each(|value| *value = Complex::new(0.0, 0.0));
    }
    values
}

/// Makes all numbers or a few unusual: subnormal, near overflow, zero, not finite.
pub fn make_unusual(source: &mut impl Source, values: &mut [Complex<f64>]) {
    let scaled = |values: &mut [Complex<f64>], factor: f64| {
        values.iter_mut().for_each(|value| *value *= factor);
    };
    match source.below(8) {
        0 => scaled(values, 1e-310),
        1 => scaled(values, 1.7e308),
        2 => scaled(values, 0.0),
        _ => {
            let special = [
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
                -1e300,
                1e280,
                f64::MIN_POSITIVE,
                f64::from_bits(1),
                -0.0,
            ];
            for _ in 0..1 + source.below(6) {
                let place = source.below(values.len());
                let number = source.pick(&special);
                match source.below(3) {
                    0 => values[place].re = number,
                    1 => values[place].im = number,
                    // Some neighbours: a line, or the same place of several.
                    _ => {
                        let end = values.len().min(place + 1 + source.below(1024));
                        values[place..end].fill(Complex::new(number, number));
                    }
                }
            }
        }
    }
}

/// Defines `problem_of(&RandomProblem) -> Problem` of the library that is named, `ozfft`, and the same for the parts of a problem.
///
/// A macro, because this crate cannot depend on the library, whose own tests depend on it.
#[macro_export]
macro_rules! problem_conversion {
    ($library:ident) => {
        $crate::problem_conversion! {
            $library;
            kind_of(Kind) -> Kind { ComplexToComplex, RealToComplex, ComplexToReal }
            norm_of(Norm) -> Norm { Backward, Ortho, Forward, Unscaled }
            engine_of(Engine) -> Engine { Auto, Digits, Native }
        }

        /// A substrate of the library.
        pub fn substrate_of(unit: $crate::problems::Unit) -> $library::Substrate {
            use $crate::problems::Unit;
            match unit {
                Unit::Auto => $library::Substrate::Auto,
                Unit::Scalar => $library::CpuUnit::Scalar.into(),
                Unit::WideInteger => $library::CpuUnit::WideInteger.into(),
            }
        }

        /// An accuracy of the library.
        pub fn accuracy_of(accuracy: $crate::problems::Accuracy) -> $library::Accuracy {
            use $crate::problems::Accuracy;
            match accuracy {
                Accuracy::Double => $library::Accuracy::Double,
                Accuracy::Single => $library::Accuracy::Single,
                Accuracy::Bits(bits) => $library::Accuracy::Bits(bits),
                Accuracy::Target(error) => $library::Accuracy::Target(error),
            }
        }

        /// A direction of the library.
        pub fn direction_of(inverse: bool) -> $library::Direction {
            match inverse {
                true => $library::Direction::Inverse,
                false => $library::Direction::Forward,
            }
        }

        /// Truncated or exact products of the library.
        pub fn products_of(exact: bool) -> $library::Products {
            match exact {
                true => $library::Products::Exact,
                false => $library::Products::Truncated,
            }
        }

        /// A layout of the library.
        pub fn layout_of(strides: &$crate::problems::Strides) -> $library::Layout {
            $library::Layout::strided(&strides.strides, strides.distance)
                .with_offset(strides.offset)
        }

        /// A problem of the library.
        pub fn problem_of(drawn: &$crate::problems::RandomProblem) -> $library::Problem {
            use $library::{Kind, Problem};
            let mut problem = match kind_of(drawn.kind) {
                Kind::RealToComplex => Problem::real_to_complex(&drawn.shape),
                Kind::ComplexToReal => Problem::complex_to_real(&drawn.shape),
                _ => Problem::complex(&drawn.shape),
            };
            problem = problem
                .direction(direction_of(drawn.inverse))
                .norm(norm_of(drawn.norm))
                .accuracy(accuracy_of(drawn.accuracy))
                .products(products_of(drawn.exact))
                .engine(engine_of(drawn.engine))
                .batch(drawn.batch)
                .strict(drawn.strict)
                .substrate(substrate_of(drawn.unit));
            if let Some(axes) = &drawn.axes {
                problem = problem.axes(axes);
            }
            if let Some(threads) = drawn.threads {
                problem = problem.threads(threads);
            }
            if let Some(strides) = &drawn.input {
                problem = problem.input_layout(layout_of(strides));
            }
            if let Some(strides) = &drawn.output {
                problem = problem.output_layout(layout_of(strides));
            }
            problem
        }
    };
    // Variants of the same names.
    ($library:ident; $($name:ident($from:ident) -> $to:ident { $($variant:ident),* })*) => {$(
        /// The same of the library.
        pub fn $name(value: $crate::problems::$from) -> $library::$to {
            match value {
                $($crate::problems::$from::$variant => $library::$to::$variant,)*
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SEED: u64 = 20_261_117;

    #[test]
    fn a_seed_gives_the_same_problem_and_others_give_others() {
        let draw = |seed| {
            let mut generator = Generator::new(seed);
            let problem = Domain::usual(false).draw(&mut generator);
            let nonsense = RandomProblem::draw_nonsense(&mut generator);
            format!("{problem:?} {nonsense:?}")
        };
        let all: BTreeSet<String> = (0..1000)
            .map(|case| draw(seed_of_case(SEED, case)))
            .collect();
        assert!(all.len() > 990, "{}", all.len());
        assert_eq!(draw(SEED), draw(SEED));
    }

    #[test]
    fn drawn_problems_stay_in_their_domain_and_fill_it() {
        let mut generator = Generator::new(SEED);
        let lengths = [3, 8, 100, 5000];
        let listed = Domain {
            lengths: Some(&lengths),
            ranks: (2, 3),
            points: 160,
            real_inverse: false,
            ..Domain::usual(true)
        };
        let mut seen = BTreeSet::new();
        for _ in 0..3000 {
            let usual = Domain::usual(false).draw(&mut generator);
            let points: usize = usual.shape.iter().product();
            assert!((1..=2050).contains(&points), "{usual:?}");
            let axes: BTreeSet<_> = usual.axes.iter().flatten().copied().collect();
            assert_eq!(axes.len(), usual.axes.as_ref().unwrap().len(), "{usual:?}");
            assert!(
                axes.iter().all(|&axis| axis < usual.shape.len()),
                "{usual:?}"
            );
            seen.insert(format!(
                "{:?} {} {:?} {}",
                usual.kind,
                usual.inverse,
                usual.norm,
                usual.shape.len()
            ));
            let drawn = listed.draw(&mut generator);
            assert!(drawn.shape.iter().all(|length| lengths.contains(length)));
            assert_ne!((drawn.kind, drawn.inverse), (Kind::RealToComplex, true));
            assert_ne!((drawn.kind, drawn.inverse), (Kind::ComplexToReal, false));
        }
        assert_eq!(seen.len(), 3 * 2 * 4 * 4);
    }

    #[test]
    fn elements_in_drawn_strides_do_not_overlap() {
        let mut generator = Generator::new(SEED);
        for _ in 0..2000 {
            let rank = 1 + generator.below(3);
            let shape: Vec<usize> = (0..rank).map(|_| 1 + generator.below(5)).collect();
            let batch = 1 + generator.below(3);
            let strides = match Strides::draw_often_contiguous(&mut generator, &shape, batch) {
                Some(strides) => strides,
                None => continue,
            };
            let count: usize = shape.iter().product();
            let mut places = BTreeSet::new();
            for element in 0..count * batch {
                let mut rest = element % count;
                let mut place = strides.offset as isize;
                place += (element / count) as isize * strides.distance;
                for (&length, &stride) in shape.iter().zip(&strides.strides) {
                    place += (rest % length) as isize * stride;
                    rest /= length;
                }
                assert!(place >= 0, "{strides:?}");
                places.insert(place);
            }
            assert_eq!(
                places.len(),
                count * batch,
                "{shape:?} × {batch}: {strides:?}"
            );
        }
    }
}
