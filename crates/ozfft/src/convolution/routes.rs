//! One plan for exact convolutions, whatever computes them: every route with its proof and its predicted time, and the fastest that is proven.

#[cfg(feature = "wide")]
use super::floating::Pairs;
use super::floating::{Asked, Doubles, Floating, MOST_ERROR};
use super::multiplier::ProductSeconds;
use crate::error::FftError;
use crate::executor::cuda::{self, ArrayConvolution, ArrayConvolutions, IntegerArray};
use crate::problem::Device;
use crate::transform::budget::bound_text;
#[cfg(feature = "wide")]
use crate::wide::DoubleDouble;
use exact_convolution::{
    Convolution, ConvolutionError, ConvolutionPlan, Operand, Output, Route, Which,
};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

/// Elements of an operand, at most: 8 TiB of doubles.
const MOST_ELEMENTS: u64 = 1 << 40;

/// What computes an exact convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConvolutionRoute {
    /// Product by product, in sums of 64 or 128 bits.
    Direct,
    /// Number-theoretic transforms modulo as many primes as the results need.
    Ntt,
    /// Transforms of doubles by the engine digits, and rounding.
    Digits,
    /// Transforms of double-double numbers (the feature `wide`), and rounding.
    Pairs,
}

impl ConvolutionRoute {
    /// All of them.
    pub const ALL: [ConvolutionRoute; 4] = [
        ConvolutionRoute::Direct,
        ConvolutionRoute::Ntt,
        ConvolutionRoute::Digits,
        ConvolutionRoute::Pairs,
    ];

    /// Its name: `direct`, `ntt`, `digits` or `pairs`.
    pub fn name(self) -> &'static str {
        match self {
            ConvolutionRoute::Direct => "direct",
            ConvolutionRoute::Ntt => "ntt",
            ConvolutionRoute::Digits => "digits",
            ConvolutionRoute::Pairs => "pairs",
        }
    }
}

impl fmt::Display for ConvolutionRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ConvolutionRoute {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<ConvolutionRoute, RouteError> {
        let mut all = ConvolutionRoute::ALL.into_iter();
        let found = all.find(|route| route.name() == text);
        found.ok_or_else(|| RouteError::Unknown(text.to_string()))
    }
}

/// Why an exact convolution is refused. Nothing has been computed or written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// There is no such route.
    #[error("there is no route {0:?}; the routes are direct, ntt, digits and pairs")]
    Unknown(String),
    /// The route that was asked for is not proven for such operands.
    #[error(
        "the route {route} is not proven here: {why}; take the route ntt or leave the choice to the plan, or declare smaller or shorter operands"
    )]
    NotProven {
        /// The route.
        route: ConvolutionRoute,
        /// What is missing.
        why: String,
    },
    /// An operand that no memory holds, and for which nothing is planned.
    #[error(
        "the {which} operand has {length} elements, and convolutions are planned for at most 2^40; convolve parts, and add results where they overlap"
    )]
    TooLong {
        /// The operand.
        which: Which,
        /// Its elements.
        length: usize,
    },
    /// The request is wrong, or no route is proven.
    #[error(transparent)]
    Convolution(#[from] ConvolutionError),
    /// A transform failed.
    #[error(transparent)]
    Transform(#[from] FftError),
}

/// A route as the plan weighs it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RouteCandidate {
    /// The route.
    pub route: ConvolutionRoute,
    /// Whether its results are proven for all operands that were declared.
    pub is_proven: bool,
    /// The proof in numbers, or what is missing.
    pub why: String,
    /// Predicted seconds on one thread (on a GPU, with the copies of several), where it is proven and its unit was measured.
    pub predicted_seconds: Option<f64>,
    /// Where it runs: a processor or a GPU.
    pub device: Device,
}

/// A convolution of integers of any kind: shapes, whether it wraps around, magnitudes, batch. Its plan weighs all routes.
///
/// ```
/// use ozfft::convolution::{ConvolutionRoute, ExactConvolution};
///
/// let problem = ExactConvolution::cyclic(1000).magnitudes(100, 100).batch(50);
/// let plan = problem.plan()?;
/// println!("{plan}");       // every route: proven or not, why, and its predicted time
/// let ones: Vec<i64> = plan.process(&[1i8; 50_000], &[-1i8; 50_000])?;
/// assert!(ones.iter().all(|&sum| sum == -1000));
///
/// // The same numbers through floating point, whose rounding is proven here.
/// let digits = problem.clone().route(ConvolutionRoute::Digits).plan()?;
/// assert_eq!(digits.process::<_, _, i64>(&[1i8; 50_000], &[-1i8; 50_000])?, ones);
///
/// // And where it is not, the plan says so.
/// let error = problem.magnitudes(1 << 30, 1 << 30).route(ConvolutionRoute::Digits).plan().unwrap_err();
/// println!("{error}");
///
/// // Arrays of several dimensions, here five images with one kernel, by every route that is proven.
/// let images = ExactConvolution::linear_shaped(&[20, 30], &[3, 3]).types::<u8, i8>().batch(5).plan()?;
/// let smooth: Vec<i32> = images.process(&[10u8; 3000], &[1i8; 9])?;
/// assert_eq!(smooth[22 * 32 + 5 * 32 + 5], 90);
/// # Ok::<(), ozfft::convolution::RouteError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExactConvolution {
    problem: Convolution,
    route: Option<ConvolutionRoute>,
    device: Device,
}

impl ExactConvolution {
    fn new(problem: Convolution) -> ExactConvolution {
        ExactConvolution {
            problem,
            route: None,
            device: Device::Cpu,
        }
    }

    fn with(self, change: impl FnOnce(Convolution) -> Convolution) -> ExactConvolution {
        ExactConvolution {
            problem: change(self.problem),
            ..self
        }
    }

    /// Of operands of these lengths: `first + second - 1` results.
    pub fn linear(first: usize, second: usize) -> ExactConvolution {
        ExactConvolution::new(Convolution::linear(first, second))
    }

    /// Of operands of one length, indices modulo it: as many results.
    pub fn cyclic(length: usize) -> ExactConvolution {
        ExactConvolution::new(Convolution::cyclic(length))
    }

    /// Of arrays of several dimensions in row-major order, of as many axes as each other: `first + second - 1` results along each.
    pub fn linear_shaped(first: &[usize], second: &[usize]) -> ExactConvolution {
        ExactConvolution::new(Convolution::linear_shaped(first, second))
    }

    /// Of arrays of one shape, indices modulo the length of every axis: as many results.
    pub fn cyclic_shaped(shape: &[usize]) -> ExactConvolution {
        ExactConvolution::new(Convolution::cyclic_shaped(shape))
    }

    /// The correlation: the second operand is read backwards along all axes, as in [`correlate`](super::correlate) and, where it is cyclic,
    /// [`correlate_cyclic`](super::correlate_cyclic).
    pub fn correlation(self) -> ExactConvolution {
        self.with(Convolution::correlation)
    }

    /// The largest magnitudes of the operands. Needed, or [`ExactConvolution::types`].
    pub fn magnitudes(self, first: u128, second: u128) -> ExactConvolution {
        self.with(|problem| problem.magnitudes(first, second))
    }

    /// The largest magnitudes that two types have.
    pub fn types<A: Operand, B: Operand>(self) -> ExactConvolution {
        self.magnitudes(A::LARGEST, B::LARGEST)
    }

    /// So many convolutions, one behind the other in each slice. The second operand may be one for all.
    pub fn batch(self, count: usize) -> ExactConvolution {
        self.with(|problem| problem.batch(count))
    }

    /// This route instead of the fastest, and no other is weighed; refused where it is not proven.
    pub fn route(mut self, route: ConvolutionRoute) -> ExactConvolution {
        self.route = Some(route);
        self
    }

    /// Where routes run that have kernels on a GPU: [`ConvolutionRoute::Ntt`], and the transforms of [`ConvolutionRoute::Digits`]. The others run on the processor, and are
    /// weighed beside them. [`Device::Auto`] is the first GPU, where there is one and primes are expected to be faster there. Without this it is the processor.
    pub fn device(mut self, device: Device) -> ExactConvolution {
        self.device = device;
        self
    }

    /// The GPU of the problem, if it is to run on one.
    fn gpu(&self) -> Result<Option<Gpu>, FftError> {
        let open = |ordinal| Ok((ordinal, cuda::array_convolutions(ordinal)?));
        match self.device {
            Device::Cpu => Ok(None),
            Device::Cuda(ordinal) => open(ordinal).map(Some),
            Device::Auto => Ok(open(0).ok()),
        }
    }

    /// The plan of a route; no plan and the reason where it is not proven.
    fn planned(
        &self,
        route: ConvolutionRoute,
        asked: Asked,
        gpu: Option<&Gpu>,
    ) -> (RouteCandidate, Option<Planned>) {
        let proven = |why: String, predicted_seconds: Option<f64>, device, plan: Planned| {
            let candidate = RouteCandidate {
                route,
                is_proven: true,
                why,
                predicted_seconds,
                device,
            };
            (candidate, Some(plan))
        };
        let refused = |why: String| {
            let candidate = RouteCandidate {
                route,
                is_proven: false,
                why,
                predicted_seconds: None,
                device: Device::Cpu,
            };
            (candidate, None)
        };
        let integers = |plan: Result<ConvolutionPlan, ConvolutionError>| match plan {
            Ok(plan) => proven(
                format!("{}: {}", plan.route(), plan.proof()),
                Some(plan.predicted_seconds()),
                Device::Cpu,
                Planned::Integers(plan),
            ),
            Err(error) => refused(error.to_string()),
        };
        let inequality = |error: f64, (length, count): (usize, usize)| {
            format!(
                "{count} transforms of {length} points: the error of a sum is at most {}, below {MOST_ERROR}, so rounding finds the integer",
                bound_text(error, 2)
            )
        };
        match route {
            ConvolutionRoute::Direct => integers(self.problem.clone().route(Route::Direct).plan()),
            ConvolutionRoute::Ntt => {
                let plan = by_primes(&self.problem);
                let (Ok(planned), Some((ordinal, gpu))) = (&plan, gpu) else {
                    return integers(plan);
                };
                let on_processor = |why: &str| {
                    let (mut candidate, plan) = integers(plan.clone());
                    candidate.why += &format!("; on the processor: {why}");
                    (candidate, plan)
                };
                if asked
                    .largest
                    .iter()
                    .any(|&most| most > u128::from(u64::MAX))
                {
                    return on_processor("kernels on a GPU read integers of up to 64 bits");
                }
                let Some(seconds) = gpu_seconds(&asked, planned) else {
                    return on_processor("it is longer than the largest transform on a GPU");
                };
                if self.device == Device::Auto && planned.predicted_seconds() <= seconds {
                    return integers(plan);
                }
                proven(
                    format!("{}: {}", planned.route(), planned.proof()),
                    Some(seconds),
                    Device::Cuda(*ordinal),
                    Planned::Gpu(Arc::clone(gpu), on_gpu(&asked, planned)),
                )
            }
            ConvolutionRoute::Digits => {
                let device = match (self.device, gpu) {
                    (Device::Cuda(_), Some((ordinal, _))) => Device::Cuda(*ordinal),
                    _ => Device::Cpu,
                };
                match Floating::plan(asked, device) {
                    Ok(plan) => proven(
                        inequality(plan.error, plan.transforms()),
                        plan.predicted_seconds(),
                        device,
                        Planned::Digits(Box::new(plan)),
                    ),
                    Err(refusal) => refused(refusal.to_string()),
                }
            }
            #[cfg(feature = "wide")]
            ConvolutionRoute::Pairs => match Floating::plan(asked, Device::Cpu) {
                Ok(plan) => proven(
                    inequality(plan.error, plan.transforms()),
                    plan.predicted_seconds(),
                    Device::Cpu,
                    Planned::Pairs(Box::new(plan)),
                ),
                Err(refusal) => refused(refusal.to_string()),
            },
            #[cfg(not(feature = "wide"))]
            ConvolutionRoute::Pairs => {
                refused("the library was built without the feature `wide`".into())
            }
        }
    }

    /// Weighs all routes and takes the fastest that is proven; or plans the one that was asked for.
    pub fn plan(&self) -> Result<ExactConvolutionPlan, RouteError> {
        // What is wrong with the request is wrong for every route; so are results that no type holds.
        let integers = self.problem.plan()?;
        let asked = asked_of(&integers);
        for (which, length) in [Which::First, Which::Second].into_iter().zip(asked.lengths) {
            if length as u64 > MOST_ELEMENTS {
                return Err(RouteError::TooLong { which, length });
            }
        }
        let routes = match &self.route {
            Some(route) => std::slice::from_ref(route),
            None => &ConvolutionRoute::ALL,
        };
        let gpu = self.gpu()?;
        let planned = |&route: &ConvolutionRoute| self.planned(route, asked, gpu.as_ref());
        let weighed: Vec<_> = routes.iter().map(planned).collect();
        let (candidates, mut plans): (Vec<_>, Vec<_>) = weighed.into_iter().unzip();
        match fastest(&candidates).and_then(|k| Some((k, plans[k].take()?))) {
            Some((chosen, plan)) => Ok(ExactConvolutionPlan {
                integers,
                plan,
                candidates,
                chosen,
                is_asked_for: self.route.is_some(),
            }),
            // Integers have a route wherever results have a type.
            None => Err(RouteError::NotProven {
                route: candidates[0].route,
                why: candidates[0].why.clone(),
            }),
        }
    }
}

/// What is convolved as lines.
fn asked_of(plan: &ConvolutionPlan) -> Asked {
    let lines = plan.lines();
    Asked {
        lengths: lines.lengths(),
        cyclic: lines.cycle(),
        largest: plan.proof().largest_operands(),
        batch: plan.batch(),
    }
}

/// The convolution on a GPU modulo as many primes as the plan has.
fn on_gpu(asked: &Asked, plan: &ConvolutionPlan) -> ArrayConvolution {
    let primes = match plan.route() {
        Route::Ntt { primes } => primes,
        route => unreachable!("planned with primes, and not {route}"),
    };
    ArrayConvolution {
        lengths: asked.lengths,
        cyclic: asked.cyclic,
        members: asked.batch,
        primes,
    }
}

/// Predicted seconds of that, for the shortest types that hold operands and results.
fn gpu_seconds(asked: &Asked, plan: &ConvolutionPlan) -> Option<f64> {
    let bytes = |bits: u32| bits.div_ceil(8).next_power_of_two() as usize;
    let operands = asked
        .largest
        .map(|most| bytes(129 - most.leading_zeros()).min(8));
    let results = bytes(plan.proof().bits() + 1).min(16);
    on_gpu(asked, plan).predicted_seconds(operands, results)
}

/// The proven route of which the least time is predicted.
fn fastest(candidates: &[RouteCandidate]) -> Option<usize> {
    let seconds = |&k: &usize| candidates[k].predicted_seconds.unwrap_or(f64::MAX);
    let proven = (0..candidates.len()).filter(|&k| candidates[k].is_proven);
    proven.min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
}

/// Transforms modulo as few primes as prove the results.
fn by_primes(problem: &Convolution) -> Result<ConvolutionPlan, ConvolutionError> {
    let mut primes = 1;
    loop {
        match problem.clone().route(Route::Ntt { primes }).plan() {
            // There are not so many primes that the error would stay the same.
            Err(ConvolutionError::Route(_)) => primes += 1,
            outcome => return outcome,
        }
    }
}

/// A GPU and its number.
type Gpu = (usize, Arc<ArrayConvolutions>);

enum Planned {
    Integers(ConvolutionPlan),
    Gpu(Arc<ArrayConvolutions>, ArrayConvolution),
    Digits(Box<Floating<f64, Doubles>>),
    #[cfg(feature = "wide")]
    Pairs(Box<Floating<DoubleDouble, Pairs>>),
}

/// A convolution that can be run; says by which route, why its results are exact, and what else there was.
pub struct ExactConvolutionPlan {
    /// Knows what operands and results must be, whatever the route.
    integers: ConvolutionPlan,
    plan: Planned,
    candidates: Vec<RouteCandidate>,
    chosen: usize,
    is_asked_for: bool,
}

impl ExactConvolutionPlan {
    /// The route that is taken.
    pub fn route(&self) -> ConvolutionRoute {
        self.chosen().route
    }

    /// The route that is taken, with its proof and predicted time.
    pub fn chosen(&self) -> &RouteCandidate {
        &self.candidates[self.chosen]
    }

    /// All routes, in the order of [`ConvolutionRoute::ALL`]; one alone where it was asked for.
    pub fn candidates(&self) -> &[RouteCandidate] {
        &self.candidates
    }

    /// The shape of the results of one convolution.
    pub fn result_shape(&self) -> &[usize] {
        self.integers.result_shape()
    }

    /// Results of the whole batch.
    pub fn output_len(&self) -> usize {
        self.integers.output_len()
    }

    /// The convolution: `c[k] = Σ a[i]·b[k - i]`.
    pub fn process<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<R>, RouteError> {
        let mut results = vec![R::default(); self.output_len()];
        self.process_into(a, b, &mut results)?;
        Ok(results)
    }

    /// The convolution, into a slice of [`ExactConvolutionPlan::output_len`] elements. Where operands or the type of the results are refused, nothing is written.
    pub fn process_into<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
        results: &mut [R],
    ) -> Result<(), RouteError> {
        self.process_into_timed(a, b, results).map(|_| ())
    }

    /// The same, and where its time went. Parts of it are known of [`ConvolutionRoute::Ntt`] on a GPU alone.
    pub fn process_into_timed<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
        results: &mut [R],
    ) -> Result<ProductSeconds, RouteError> {
        let start = Instant::now();
        self.integers.check(a, b, results)?;
        let mut seconds = ProductSeconds::default();
        let lines = self.integers.lines();
        match &self.plan {
            Planned::Integers(plan) => plan.process_into(a, b, results)?,
            _ if lines.are_results() => {
                let (a, b) = (lines.arranged(0, a), lines.arranged(1, b));
                self.convolve_lines(&a, &b, results, &mut seconds)?;
            }
            _ => {
                let (a, b) = (lines.arranged(0, a), lines.arranged(1, b));
                let mut of_lines = vec![R::default(); self.integers.batch() * lines.results()];
                self.convolve_lines(&a, &b, &mut of_lines, &mut seconds)?;
                lines.gather(&of_lines, results);
            }
        }
        seconds.total = start.elapsed().as_secs_f64();
        Ok(seconds)
    }

    /// Convolves arrays that are lines, by transforms in floating point or on a GPU.
    fn convolve_lines<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
        results: &mut [R],
        seconds: &mut ProductSeconds,
    ) -> Result<(), RouteError> {
        let shared = b.len() == self.integers.lines().lengths()[1];
        let numbers = |operand: usize, place: usize| match operand {
            0 => a[place].value(),
            _ => b[place].value(),
        };
        match &self.plan {
            Planned::Integers(_) => unreachable!("these plans take arrays of any shape"),
            Planned::Gpu(gpu, asked) => {
                let (mut first, mut second) = (Vec::new(), Vec::new());
                let operands = [
                    array_of(Which::First, a, &mut first)?,
                    array_of(Which::Second, b, &mut second)?,
                ];
                let spent = gpu.convolve(asked, operands, (bytes_of(results), size_of::<R>()))?;
                seconds.upload = spent.upload;
                seconds.kernels = spent.kernels;
                seconds.download = spent.download;
            }
            Planned::Digits(plan) => {
                results.fill(R::default());
                let add = |place: usize, sum| results[place] = results[place].plus(R::lowest(sum));
                plan.process(shared, numbers, add)?;
            }
            #[cfg(feature = "wide")]
            Planned::Pairs(plan) => {
                results.fill(R::default());
                let add = |place: usize, sum| results[place] = results[place].plus(R::lowest(sum));
                plan.process(shared, numbers, add)?;
            }
        }
        Ok(())
    }

    /// The GPU in words, where the route runs on one.
    pub fn device_name(&self) -> Option<String> {
        match &self.plan {
            Planned::Gpu(gpu, _) => Some(gpu.device_name()),
            _ => None,
        }
    }
}

/// Integers as a GPU reads them: those of 128 bits are copied to 64.
fn array_of<'a, A: Operand>(
    which: Which,
    numbers: &'a [A],
    copy: &'a mut Vec<u64>,
) -> Result<IntegerArray<'a>, ConvolutionError> {
    if size_of::<A>() <= 8 {
        return Ok(IntegerArray {
            bytes: bytes_in(numbers),
            size: size_of::<A>(),
            is_signed: A::SIGNED,
        });
    }
    // Up to 2^64 - 1 in magnitude, for which the plan was made.
    let is_signed = numbers.iter().any(|number| number.is_negative());
    let is_beyond = |number: &A| i64::try_from(number.value()).is_err();
    if is_signed && let Some(index) = numbers.iter().position(is_beyond) {
        return Err(ConvolutionError::Route(format!(
            "element {index} of the {which} operand is beyond i64, and others are negative; kernels on a GPU read i64 or u64: convolve on the processor"
        )));
    }
    copy.extend(numbers.iter().map(|number| number.value() as u64));
    Ok(IntegerArray {
        bytes: bytes_in(copy),
        size: 8,
        is_signed,
    })
}

fn bytes_in<A: Operand>(numbers: &[A]) -> &[u8] {
    let bytes = size_of_val(numbers);
    // SAFETY: the sealed trait is implemented for Rust's own integers alone, which are bytes and nothing between them.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), bytes) }
}

fn bytes_of<R: Output>(numbers: &mut [R]) -> &mut [u8] {
    let bytes = size_of_val(numbers);
    // SAFETY: as above, and any bytes are such integers.
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), bytes) }
}

impl fmt::Display for ExactConvolutionPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.integers.lines())?;
        if self.integers.batch() > 1 {
            write!(f, ", {} of them", self.integers.batch())?;
        }
        let by_name = match self.is_asked_for {
            true => "as asked for",
            false => "the fastest that is proven",
        };
        write!(f, ": {}, {by_name}", self.route())?;
        for candidate in &self.candidates {
            let verdict = if candidate.is_proven {
                "proven"
            } else {
                "not proven"
            };
            write!(f, "\n  {:<7}{verdict}", candidate.route)?;
            if candidate.device != Device::Cpu {
                write!(f, " on {}", candidate.device)?;
            }
            if let Some(seconds) = candidate.predicted_seconds {
                write!(f, ", predicted {:.3} ms", 1e3 * seconds)?;
            }
            write!(f, ": {}", candidate.why)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ExactConvolutionPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_that_no_memory_holds_are_refused_at_once() {
        let most = MOST_ELEMENTS as usize;
        for route in ConvolutionRoute::ALL {
            for (lengths, expected) in [
                ([usize::MAX / 64, 3], Which::First),
                ([3, most + 1], Which::Second),
            ] {
                let problem = ExactConvolution::linear(lengths[0], lengths[1]).magnitudes(1, 1);
                match problem.route(route).plan() {
                    Err(RouteError::TooLong { which, length }) => {
                        assert_eq!((which, length), (expected, lengths[0].max(lengths[1])));
                    }
                    other => panic!("{route} {lengths:?}: {other:?}"),
                }
            }
        }
        // The longest that are taken come back at once, too, and say what they are.
        let plan = ExactConvolution::linear(most, 3).magnitudes(1, 1).plan();
        assert_eq!(plan.unwrap().candidates().len(), 4);
    }

    /// Digits were predicted ten times too short on a GPU, and taken where primes were faster.
    #[cfg(feature = "cuda")]
    #[test]
    fn routes_on_a_gpu_are_chosen_as_an_h200_measured_them() {
        // Elements of 8 bits; milliseconds of direct, ntt, digits and pairs (benchmarks/records/2026-11-18-h200-convolve.txt).
        for (length, measured) in [
            (1000, [0.784, 0.0740, 0.270, 0.800]),
            (30_000, [698.0, 0.290, 2.17, 10.9]),
        ] {
            let problem = ExactConvolution::linear(length, length).magnitudes(128, 128);
            let modulo_primes = by_primes(&problem.problem).unwrap();
            let asked = asked_of(&modulo_primes);
            let digits = Floating::<f64, Doubles>::plan(asked, Device::Cpu).unwrap();
            // As the command convolves them: operands of 8 bytes, results of 16.
            let ntt = on_gpu(&asked, &modulo_primes).predicted_seconds([8, 8], 16);
            let mut candidates = problem.plan().unwrap().candidates;
            let at = |route| {
                let mut all = ConvolutionRoute::ALL.into_iter();
                all.position(|one| one == route).unwrap()
            };
            let on_gpu = [
                (ConvolutionRoute::Ntt, ntt.unwrap()),
                (ConvolutionRoute::Digits, digits.predicted_seconds_on_h200()),
            ];
            for (route, seconds) in on_gpu {
                let ratio = seconds / (1e-3 * measured[at(route)]);
                // Both were fitted to such calls, digits to these.
                assert!((0.6..1.6).contains(&ratio), "{length}, {route}: {ratio}");
                candidates[at(route)].predicted_seconds = Some(seconds);
            }
            let least = (0..4).min_by(|&a, &b| f64::total_cmp(&measured[a], &measured[b]));
            assert_eq!(fastest(&candidates), least, "{length}");
            assert_eq!(candidates[least.unwrap()].route, ConvolutionRoute::Ntt);
        }
    }
}
