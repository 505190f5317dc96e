//! Convolutions of integers by transforms in floating point. The bound of their error is known before the numbers are, from their lengths and largest
//! magnitudes alone: where it is below one half, rounding is proven.

use super::real::{Norms, error_of_product, fast_length, is_fast, whole_or_pieces};
use crate::error::FftError;
use crate::functions::planner;
use crate::plan::Plan;
use crate::plan::estimate::digits_seconds;
use crate::problem::{Device, Problem};
use crate::transform::budget::bound_text;
#[cfg(feature = "wide")]
use crate::wide::{DoubleDouble, WidePlan, WidePlanner};
use num_complex::Complex;
use std::sync::Arc;

/// Sums before rounding are at most this far from integers. Below one half, so that the arithmetic of rounding itself has room.
pub(super) const MOST_ERROR: f64 = 0.49;
/// Points that one call transforms, where there are as many: they stay in the second-level cache.
const POINTS_TOGETHER: usize = 1 << 14;
const UNIT: f64 = f64::EPSILON / 2.0;

/// Real numbers that transforms are of.
pub(super) trait Number: Copy + Default + Send + Sync + 'static {
    /// An upper bound of the rounding error of a product of complex numbers, relative to its modulus.
    const PRODUCT: f64;
    /// Integers up to 2 to this power are such numbers.
    const BITS: u32;
    fn exactly(integer: i128) -> Self;
    fn product(x: Complex<Self>, y: Complex<Self>) -> Complex<Self>;
    /// The integer that is at most [`MOST_ERROR`] away.
    fn nearest(self) -> i128;
}

impl Number for f64 {
    // √5 roundings.
    const PRODUCT: f64 = 4.0 * UNIT;
    const BITS: u32 = 53;

    fn exactly(integer: i128) -> f64 {
        integer as f64
    }

    #[inline(always)]
    fn product(x: Complex<f64>, y: Complex<f64>) -> Complex<f64> {
        // Separate products and sums, as everywhere: fused ones have other bits.
        Complex::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
    }

    #[inline(always)]
    fn nearest(self) -> i128 {
        i128::from(self.round_ties_even() as i64)
    }
}

#[cfg(feature = "wide")]
impl Number for DoubleDouble {
    // A component is off by five units of u² for each product and four for their sum, of at most the product of the moduli; √2 for both: 13.
    const PRODUCT: f64 = 16.0 * UNIT * UNIT;
    // Rounded to 53 bits, they leave at most 51.
    const BITS: u32 = 104;

    fn exactly(integer: i128) -> DoubleDouble {
        let high = integer as f64;
        DoubleDouble::new(high, (integer - high as i128) as f64)
    }

    #[inline(always)]
    fn product(x: Complex<DoubleDouble>, y: Complex<DoubleDouble>) -> Complex<DoubleDouble> {
        Complex::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
    }

    #[inline(always)]
    fn nearest(self) -> i128 {
        // The high part may lie just beside a half, and the low part decides.
        let whole = self.high.round_ties_even();
        let rest = (self.high - whole) + self.low;
        whole as i128 + rest.round_ties_even() as i128
    }
}

/// Transforms of real numbers to half-spectra and back, several in a call.
pub(super) trait Transforms<N>: Sized + Send + Sync {
    /// Of so many points, so many of them in a call. A device that has none of its own is the processor.
    fn plan(length: usize, batch: usize, device: Device) -> Result<Self, FftError>;
    fn forward(&self, numbers: &[N], spectra: &mut [Complex<N>]) -> Result<(), FftError>;
    fn inverse(&self, spectra: &[Complex<N>], numbers: &mut [N]) -> Result<(), FftError>;
    /// Proven relative errors, forward and inverse.
    fn bounds(&self) -> [f64; 2];
    /// Predicted nanoseconds of one transform on one thread, where the unit was measured.
    fn predicted(&self) -> Option<f64>;
    /// What the rest takes.
    fn outside(&self) -> Outside;
    /// The smallest error that a transform could have: of one rounding.
    const LEAST: f64;
}

/// Nanoseconds outside of transforms, measured by `ozfft convolve --measure` on 2026-11-18.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outside {
    /// Of a call.
    call: f64,
    /// Of a point: it is made of integers, multiplied and rounded.
    point: f64,
}

/// Doubles on one thread of a Xeon.
const DOUBLES: Outside = Outside {
    call: 1500.0,
    point: 3.0,
};
/// Doubles that a GPU transforms: three times to an H200 and back, where kernels are a hundredth of the time. From 2000 and 60,000 points
/// (benchmarks/records/2026-11-18-h200-convolve.txt).
const DOUBLES_ON_GPU: Outside = Outside {
    call: 205_000.0,
    point: 32.5,
};
#[cfg(feature = "wide")]
const PAIRS: Outside = Outside {
    call: 25_000.0,
    point: 40.0,
};

/// The engine digits at `Double`.
pub(super) struct Doubles {
    forward: Arc<Plan<f64>>,
    inverse: Arc<Plan<f64>>,
}

/// Predicted nanoseconds of one of a plan's transforms on one thread; and the share of a real one in a complex one.
fn predicted(plan: &Plan<f64>) -> Option<(f64, f64, &'static str)> {
    predicted_on(plan, plan.substrate().rsplit(" and ").next()?)
}

/// The same on a unit of any machine: recipes are the same everywhere.
fn predicted_on(plan: &Plan<f64>, unit: &str) -> Option<(f64, f64, &'static str)> {
    let seconds = digits_seconds(plan.problem(), plan.recipe()?, unit, 1)?;
    let one = 1e9 * seconds.seconds / plan.problem().batch as f64;
    Some((one, seconds.unit.cost.real, seconds.unit.unit))
}

impl Transforms<f64> for Doubles {
    fn plan(length: usize, batch: usize, device: Device) -> Result<Doubles, FftError> {
        let planner = planner::<f64>();
        let forward = Problem::real_to_complex(&[length]);
        let inverse = Problem::complex_to_real(&[length]);
        Ok(Doubles {
            forward: planner.plan(&forward.batch(batch).device(device))?,
            inverse: planner.plan(&inverse.batch(batch).device(device))?,
        })
    }

    fn forward(&self, numbers: &[f64], spectra: &mut [Complex<f64>]) -> Result<(), FftError> {
        self.forward.process_real_to_complex(numbers, spectra)
    }

    fn inverse(&self, spectra: &[Complex<f64>], numbers: &mut [f64]) -> Result<(), FftError> {
        self.inverse.process_complex_to_real(spectra, numbers)
    }

    fn bounds(&self) -> [f64; 2] {
        [self.forward.bound(), self.inverse.bound()]
    }

    fn predicted(&self) -> Option<f64> {
        predicted(&self.forward).map(|(nanoseconds, ..)| nanoseconds)
    }

    fn outside(&self) -> Outside {
        match self.forward.device() {
            Device::Cpu => DOUBLES,
            _ => DOUBLES_ON_GPU,
        }
    }

    const LEAST: f64 = UNIT;
}

/// Double-double numbers.
#[cfg(feature = "wide")]
pub(super) struct Pairs {
    forward: WidePlan,
    inverse: WidePlan,
    predicted: Option<f64>,
}

/// Times as long as `Double`, where both are complex (docs/beyond-double.md). Transforms of real pairs are complex ones. Eight lines are transformed
/// side by side; fewer take nearly as long.
#[cfg(feature = "wide")]
fn slower(unit: &str, lines: usize) -> f64 {
    let side_by_side = match unit {
        "amx" => 4.9,
        "avx512-vnni" => 4.5,
        _ => 8.9,
    };
    side_by_side * if lines < 8 { 1.9 } else { 1.0 }
}

#[cfg(feature = "wide")]
impl Transforms<DoubleDouble> for Pairs {
    fn plan(length: usize, batch: usize, _: Device) -> Result<Pairs, FftError> {
        let planner = WidePlanner::new();
        let double = Doubles::plan(length, batch, Device::Cpu)?;
        let times = |(real, share, unit): (f64, f64, &str)| slower(unit, batch) * real / share;
        Ok(Pairs {
            forward: planner.plan(&Problem::real_to_complex(&[length]).batch(batch))?,
            inverse: planner.plan(&Problem::complex_to_real(&[length]).batch(batch))?,
            predicted: predicted(&double.forward).map(times),
        })
    }

    fn forward(
        &self,
        numbers: &[DoubleDouble],
        spectra: &mut [Complex<DoubleDouble>],
    ) -> Result<(), FftError> {
        self.forward.process_real_to_complex(numbers, spectra)
    }

    fn inverse(
        &self,
        spectra: &[Complex<DoubleDouble>],
        numbers: &mut [DoubleDouble],
    ) -> Result<(), FftError> {
        self.inverse.process_complex_to_real(spectra, numbers)
    }

    fn bounds(&self) -> [f64; 2] {
        [self.forward.bound(), self.inverse.bound()]
    }

    fn predicted(&self) -> Option<f64> {
        self.predicted
    }

    fn outside(&self) -> Outside {
        PAIRS
    }

    const LEAST: f64 = UNIT * UNIT;
}

/// What is to be convolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) lengths: [usize; 2],
    pub(super) cyclic: Option<usize>,
    pub(super) largest: [u128; 2],
    pub(super) batch: usize,
}

/// How it is divided into transforms of one length.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    /// Points of a transform.
    length: usize,
    /// Elements of each operand that enter a block; fewer than an operand has only for the longer one, whose pieces overlap in their results.
    elements: [usize; 2],
    /// Pieces of the longer operand.
    pieces: usize,
}

impl Blocks {
    fn new(asked: &Asked) -> Blocks {
        let [first, second] = asked.lengths;
        if let Some(length) = asked.cyclic.filter(|&length| is_fast(length)) {
            return Blocks {
                length,
                elements: asked.lengths,
                pieces: 1,
            };
        }
        let (length, step) = whole_or_pieces(first.max(second), first.min(second));
        let pieces = first.max(second).div_ceil(step);
        match pieces {
            1 => Blocks {
                length: fast_length(first + second - 1),
                elements: asked.lengths,
                pieces,
            },
            _ => Blocks {
                length,
                elements: [first.min(step), second.min(step)],
                pieces,
            },
        }
    }

    /// Blocks in a call, and the members of the batch that they belong to: all blocks of some members, or some of one, as evenly as they can be divided.
    ///
    /// A call transforms all its blocks, so none may be left empty but in the last one; and blocks of a member share the spectrum of the operand that is not cut.
    fn in_a_call(&self, batch: usize) -> (usize, usize) {
        let even = |count: usize, most: usize| count.div_ceil(count.div_ceil(most));
        let room = (POINTS_TOGETHER / self.length).max(1);
        if room < self.pieces {
            return (even(self.pieces, room), 1);
        }
        let members = even(batch.max(1), room / self.pieces);
        (members * self.pieces, members)
    }

    /// The bound of the error of every sum, for transforms of these proven errors.
    fn error(&self, asked: &Asked, product: f64, [forward, inverse]: [f64; 2]) -> f64 {
        let norms = |operand: usize| {
            let elements = self.elements[operand] as f64;
            // Conversions and products are rounded.
            let largest = asked.largest[operand] as f64 * (1.0 + 8.0 * UNIT);
            Norms::of_magnitudes(self.length, elements, largest, forward)
        };
        error_of_product(self.length, &norms(0), &norms(1), product, inverse)
    }
}

/// Why a route is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The bound of the error, or a lower bound of it where no plan was made.
    Error(f64),
    /// The operands have more bits than the numbers.
    Bits(u32),
    /// There are no transforms of this length.
    Transform(FftError),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Error(error) => write!(
                f,
                "the error of a sum may be {}, and must be at most {MOST_ERROR}",
                bound_text(*error, 2)
            ),
            Refusal::Bits(bits) => {
                write!(
                    f,
                    "operands may have more than the {bits} bits of these numbers"
                )
            }
            Refusal::Transform(error) => error.fmt(f),
        }
    }
}

/// A convolution by transforms in floating point whose rounding is proven.
pub(super) struct Floating<N, T> {
    asked: Asked,
    blocks: Blocks,
    /// Blocks in a call.
    together: usize,
    /// Members of the batch in a call.
    members: usize,
    many: T,
    /// For an operand that all blocks share.
    one: T,
    /// For operands that are not cut, of several members whose other ones are.
    whole: Option<T>,
    pub(super) error: f64,
    numbers: std::marker::PhantomData<fn() -> N>,
}

impl<N: Number, T: Transforms<N>> Floating<N, T> {
    pub(super) fn plan(asked: Asked, device: Device) -> Result<Floating<N, T>, Refusal> {
        if asked.largest.iter().any(|&most| most > 1 << N::BITS) {
            return Err(Refusal::Bits(N::BITS));
        }
        let blocks = Blocks::new(&asked);
        // Plans make tables; where no transform could be accurate enough, they need not.
        let least = blocks.error(&asked, N::PRODUCT, [T::LEAST; 2]);
        if least.is_nan() || least > MOST_ERROR {
            return Err(Refusal::Error(least));
        }
        let (together, members) = blocks.in_a_call(asked.batch);
        let plan = |batch| T::plan(blocks.length, batch, device).map_err(Refusal::Transform);
        let (many, one) = (plan(together)?, plan(1)?);
        let several = blocks.pieces > 1 && members > 1;
        let whole = several.then(|| plan(members)).transpose()?;
        let error = blocks.error(&asked, N::PRODUCT, many.bounds());
        match error <= MOST_ERROR {
            true => Ok(Floating {
                asked,
                blocks,
                together,
                members,
                many,
                one,
                whole,
                error,
                numbers: std::marker::PhantomData,
            }),
            false => Err(Refusal::Error(error)),
        }
    }

    /// Points of a transform, and how many there are.
    pub(super) fn transforms(&self) -> (usize, usize) {
        let (batch, pieces) = (self.asked.batch, self.blocks.pieces);
        (self.blocks.length, 2 * batch * pieces + batch)
    }

    /// Seconds on one thread, where the unit was measured.
    pub(super) fn predicted_seconds(&self) -> Option<f64> {
        Some(self.seconds(self.many.predicted()?, self.many.outside()))
    }

    /// Seconds, given the nanoseconds of a transform and of the rest.
    fn seconds(&self, transform: f64, outside: Outside) -> f64 {
        let (length, count) = self.transforms();
        let calls_of_members = (self.members * self.blocks.pieces).div_ceil(self.together);
        let calls = self.asked.batch.div_ceil(self.members) * calls_of_members;
        let points = length as f64 * count as f64 / 3.0;
        let rest = outside.call * calls as f64 + outside.point * points;
        1e-9 * (count as f64 * transform + rest)
    }

    /// All convolutions: `numbers(operand, place)` are the elements, `add(place, sum)` takes results, several of which may meet in a place.
    ///
    /// The second operand has one member where `shared`.
    pub(super) fn process(
        &self,
        shared: bool,
        numbers: impl Fn(usize, usize) -> i128,
        mut add: impl FnMut(usize, i128),
    ) -> Result<(), FftError> {
        let Asked { lengths, batch, .. } = self.asked;
        let Blocks { length, pieces, .. } = self.blocks;
        let half = length / 2 + 1;
        // What is cut into pieces is the longer operand; the other one enters every block of a member as a whole.
        let cut = usize::from(pieces > 1 && lengths[1] > lengths[0]);
        let whole = 1 - cut;
        let step = self.blocks.elements[cut];
        let fill = |points: &mut [N], operand: usize, member: usize, piece: usize| {
            points.fill(N::default());
            let member = if shared && operand == 1 { 0 } else { member };
            let own = lengths[operand];
            let start = if operand == cut { piece * step } else { 0 };
            let end = own.min(start + self.blocks.elements[operand]);
            for (point, place) in points.iter_mut().zip(start..end) {
                *point = N::exactly(numbers(operand, member * own + place));
            }
        };
        let results = self.asked.cyclic.unwrap_or(lengths[0] + lengths[1] - 1);
        let zero = Complex::new(N::default(), N::default());
        let mut points = vec![N::default(); self.together * length];
        let mut spectra = vec![zero; self.together * half];
        // Every member has a factor of its own, or all have one. Factors are kept as long as they are the same.
        let one_for_all = shared && whole == 1;
        let (owners, factor_plan) = match &self.whole {
            _ if one_for_all || self.members == 1 => (1, &self.one),
            Some(plan) => (self.members, plan),
            None => (self.members, &self.many),
        };
        let mut factors = vec![zero; owners * half];
        let mut kept = None;
        let count = batch * pieces;
        let mut first = 0;
        while first < count {
            let member = first / pieces;
            let end = count.min((member + self.members) * pieces);
            let blocks = first..end.min(first + self.together);
            let owner = if one_for_all { 0 } else { member };
            if kept != Some(owner) {
                let points = &mut points[..owners * length];
                for (k, points) in points.chunks_mut(length).enumerate() {
                    match owner + k < batch {
                        true => fill(points, whole, owner + k, 0),
                        false => points.fill(N::default()),
                    }
                }
                factor_plan.forward(points, &mut factors)?;
                kept = Some(owner);
            }
            for (k, points) in points.chunks_mut(length).enumerate() {
                let number = first + k;
                match number < blocks.end {
                    true => fill(points, cut, number / pieces, number % pieces),
                    // What the last call leaves empty would be multiplied once more.
                    false => points.fill(N::default()),
                }
            }
            self.many.forward(&points, &mut spectra)?;
            for (k, spectrum) in spectra.chunks_mut(half).enumerate() {
                let own = if owners == 1 { 0 } else { k / pieces };
                let factor = &factors[own * half..][..half];
                for (x, &y) in spectrum.iter_mut().zip(factor) {
                    *x = N::product(*x, y);
                }
                // The mean and the highest frequency of real numbers are real.
                spectrum[0].im = N::default();
                spectrum[half - 1].im = N::default();
            }
            self.many.inverse(&spectra, &mut points)?;
            for (points, number) in points.chunks(length).zip(blocks.clone()) {
                let (member, start) = (number / pieces, number % pieces * step);
                let elements = step.min(lengths[cut] - start);
                let sums = length.min(elements + lengths[whole] - 1);
                for (k, point) in points[..sums].iter().enumerate() {
                    add(member * results + (start + k) % results, point.nearest());
                }
            }
            first = blocks.end;
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "cuda"))]
impl Floating<f64, Doubles> {
    /// What a plan for an H200 predicts, without one.
    pub(super) fn predicted_seconds_on_h200(&self) -> f64 {
        let transform = predicted_on(&self.many.forward, "int8-mma-sync").expect("measured");
        self.seconds(transform.0, DOUBLES_ON_GPU)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::inputs::Generator;
    use std::cell::Cell;

    thread_local! {
        /// Transforms that calls on this thread have computed, of any plan.
        static COMPUTED: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts what every call transforms.
    struct Counted {
        doubles: Doubles,
        batch: usize,
    }

    impl Counted {
        fn count(&self, numbers: &[f64]) {
            COMPUTED.set(COMPUTED.get() + self.batch);
            // Blocks that nobody reads must not grow from call to call either.
            let largest = numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(largest < 1e9, "{largest:e}");
        }
    }

    impl Transforms<f64> for Counted {
        fn plan(length: usize, batch: usize, device: Device) -> Result<Counted, FftError> {
            let doubles = Doubles::plan(length, batch, device)?;
            Ok(Counted { doubles, batch })
        }
        fn forward(&self, numbers: &[f64], spectra: &mut [Complex<f64>]) -> Result<(), FftError> {
            self.count(numbers);
            self.doubles.forward(numbers, spectra)
        }
        fn inverse(&self, spectra: &[Complex<f64>], numbers: &mut [f64]) -> Result<(), FftError> {
            self.doubles.inverse(spectra, numbers)?;
            self.count(numbers);
            Ok(())
        }
        fn bounds(&self) -> [f64; 2] {
            self.doubles.bounds()
        }
        fn predicted(&self) -> Option<f64> {
            None
        }
        fn outside(&self) -> Outside {
            DOUBLES
        }
        const LEAST: f64 = UNIT;
    }

    #[test]
    fn batches_of_cut_operands_take_as_many_transforms_as_the_plan_says() {
        const SEED: u64 = 20261118;
        let mut generator = Generator::new(SEED);
        let cases = [
            ([100, 10], None, 60),
            ([10, 100], None, 61),
            ([100, 10], None, 1),
            ([3000, 40], None, 3),
            ([40, 3000], None, 2),
            ([20, 20], None, 50),
            ([48, 48], Some(48), 50),
            ([49, 49], Some(49), 50),
            ([1, 700], None, 9),
        ];
        for (lengths, cyclic, batch) in cases {
            for shared in [false, true] {
                let asked = Asked {
                    lengths,
                    cyclic,
                    largest: [128; 2],
                    batch,
                };
                let plan = Floating::<f64, Counted>::plan(asked, Device::Cpu).unwrap();
                let members = [batch, if shared { 1 } else { batch }];
                let operands: [Vec<i128>; 2] = std::array::from_fn(|operand| {
                    let one = |_| i128::from(generator.next_u64() as i8);
                    (0..members[operand] * lengths[operand]).map(one).collect()
                });
                let results = cyclic.unwrap_or(lengths[0] + lengths[1] - 1);
                let mut expected = vec![0; batch * results];
                for member in 0..batch {
                    let second = if shared { 0 } else { member };
                    for i in 0..lengths[0] {
                        for j in 0..lengths[1] {
                            let x = operands[0][member * lengths[0] + i];
                            let y = operands[1][second * lengths[1] + j];
                            expected[member * results + (i + j) % results] += x * y;
                        }
                    }
                }
                COMPUTED.set(0);
                let mut sums = vec![0; batch * results];
                let numbers = |operand: usize, place: usize| operands[operand][place];
                plan.process(shared, numbers, |place, sum| sums[place] += sum)
                    .unwrap();
                let what = format!("seed {SEED}, {lengths:?}, {batch} of them, shared: {shared}");
                assert!(sums == expected, "{what}");
                // The last call may have empty blocks.
                let (_, planned) = plan.transforms();
                let most = planned + planned / 4 + 3 * plan.together;
                let computed = COMPUTED.get();
                assert!(computed <= most, "{what}: {computed} for {planned}");
            }
        }
    }
}
