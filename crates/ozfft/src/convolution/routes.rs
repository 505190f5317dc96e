//! One plan for exact convolutions, whatever computes them: every route with its proof and its predicted time, and the fastest that is proven.

#[cfg(feature = "wide")]
use super::floating::Pairs;
use super::floating::{Asked, Doubles, Floating, MOST_ERROR};
use crate::error::FftError;
use crate::transform::budget::bound_text;
#[cfg(feature = "wide")]
use crate::wide::DoubleDouble;
use exact_convolution::{Convolution, ConvolutionError, ConvolutionPlan, Operand, Output, Route};
use std::fmt;
use std::str::FromStr;

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
    /// Predicted seconds on one thread, where it is proven and its unit was measured.
    pub predicted_seconds: Option<f64>,
}

/// A convolution of integers of any kind: lengths, whether it wraps around, magnitudes, batch. Its plan weighs all routes.
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
/// # Ok::<(), ozfft::convolution::RouteError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExactConvolution {
    asked: Asked,
    route: Option<ConvolutionRoute>,
}

impl ExactConvolution {
    fn new(lengths: [usize; 2], cyclic: Option<usize>) -> ExactConvolution {
        ExactConvolution {
            asked: Asked {
                lengths,
                cyclic,
                largest: [u64::MAX; 2],
                batch: 1,
            },
            route: None,
        }
    }

    /// Of operands of these lengths: `first + second - 1` results.
    pub fn linear(first: usize, second: usize) -> ExactConvolution {
        ExactConvolution::new([first, second], None)
    }

    /// Of operands of one length, indices modulo it: as many results.
    pub fn cyclic(length: usize) -> ExactConvolution {
        ExactConvolution::new([length, length], Some(length))
    }

    /// The largest magnitudes of the operands. Needed, or [`ExactConvolution::types`].
    pub fn magnitudes(mut self, first: u64, second: u64) -> ExactConvolution {
        self.asked.largest = [first, second];
        self
    }

    /// The largest magnitudes that two types have.
    pub fn types<A: Operand, B: Operand>(self) -> ExactConvolution {
        self.magnitudes(A::LARGEST, B::LARGEST)
    }

    /// So many convolutions, one behind the other in each slice. The second operand may be one for all.
    pub fn batch(mut self, count: usize) -> ExactConvolution {
        self.asked.batch = count;
        self
    }

    /// This route instead of the fastest, and no other is weighed; refused where it is not proven.
    pub fn route(mut self, route: ConvolutionRoute) -> ExactConvolution {
        self.route = Some(route);
        self
    }

    /// The problem of integer arithmetic.
    fn integers(&self) -> Convolution {
        let Asked {
            lengths: [first, second],
            cyclic,
            largest: [largest_first, largest_second],
            batch,
        } = self.asked;
        let problem = match cyclic {
            Some(length) => Convolution::cyclic(length),
            None => Convolution::linear(first, second),
        };
        problem
            .magnitudes(largest_first, largest_second)
            .batch(batch)
    }

    /// The plan of a route; no plan and the reason where it is not proven.
    fn planned(&self, route: ConvolutionRoute) -> (RouteCandidate, Option<Planned>) {
        let proven = |why: String, predicted_seconds: Option<f64>, plan: Planned| {
            let candidate = RouteCandidate {
                route,
                is_proven: true,
                why,
                predicted_seconds,
            };
            (candidate, Some(plan))
        };
        let refused = |why: String| {
            let candidate = RouteCandidate {
                route,
                is_proven: false,
                why,
                predicted_seconds: None,
            };
            (candidate, None)
        };
        let integers = |plan: Result<ConvolutionPlan, ConvolutionError>| match plan {
            Ok(plan) => proven(
                format!("{}: {}", plan.route(), plan.proof()),
                Some(plan.predicted_seconds()),
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
            ConvolutionRoute::Direct => integers(self.integers().route(Route::Direct).plan()),
            ConvolutionRoute::Ntt => integers(by_primes(&self.integers())),
            ConvolutionRoute::Digits => match Floating::plan(self.asked) {
                Ok(plan) => proven(
                    inequality(plan.error, plan.transforms()),
                    plan.predicted_seconds(),
                    Planned::Digits(Box::new(plan)),
                ),
                Err(refusal) => refused(refusal.to_string()),
            },
            #[cfg(feature = "wide")]
            ConvolutionRoute::Pairs => match Floating::plan(self.asked) {
                Ok(plan) => proven(
                    inequality(plan.error, plan.transforms()),
                    plan.predicted_seconds(),
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
        let integers = self.integers().plan()?;
        let routes = match &self.route {
            Some(route) => std::slice::from_ref(route),
            None => &ConvolutionRoute::ALL,
        };
        let weighed: Vec<_> = routes.iter().map(|&route| self.planned(route)).collect();
        let (candidates, mut plans): (Vec<_>, Vec<_>) = weighed.into_iter().unzip();
        let seconds = |&k: &usize| candidates[k].predicted_seconds.unwrap_or(f64::MAX);
        let proven = (0..candidates.len()).filter(|&k| candidates[k].is_proven);
        let fastest = proven.min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        match fastest.and_then(|k| Some((k, plans[k].take()?))) {
            Some((chosen, plan)) => Ok(ExactConvolutionPlan {
                problem: self.clone(),
                integers,
                plan,
                candidates,
                chosen,
            }),
            // Integers have a route wherever results have a type.
            None => Err(RouteError::NotProven {
                route: candidates[0].route,
                why: candidates[0].why.clone(),
            }),
        }
    }
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

enum Planned {
    Integers(ConvolutionPlan),
    Digits(Box<Floating<f64, Doubles>>),
    #[cfg(feature = "wide")]
    Pairs(Box<Floating<DoubleDouble, Pairs>>),
}

/// A convolution that can be run; says by which route, why its results are exact, and what else there was.
pub struct ExactConvolutionPlan {
    problem: ExactConvolution,
    /// Knows what operands and results must be, whatever the route.
    integers: ConvolutionPlan,
    plan: Planned,
    candidates: Vec<RouteCandidate>,
    chosen: usize,
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
        self.integers.check(a, b, results)?;
        let shared = b.len() == self.problem.asked.lengths[1];
        let numbers = |operand: usize, place: usize| match operand {
            0 => i128::from(a[place].biased()) - i128::from(A::BIAS),
            _ => i128::from(b[place].biased()) - i128::from(B::BIAS),
        };
        let floating = match &self.plan {
            Planned::Integers(plan) => return Ok(plan.process_into(a, b, results)?),
            Planned::Digits(plan) => {
                results.fill(R::default());
                let add = |place: usize, sum| results[place] = results[place].plus(R::lowest(sum));
                plan.process(shared, numbers, add)
            }
            #[cfg(feature = "wide")]
            Planned::Pairs(plan) => {
                results.fill(R::default());
                let add = |place: usize, sum| results[place] = results[place].plus(R::lowest(sum));
                plan.process(shared, numbers, add)
            }
        };
        Ok(floating?)
    }
}

impl fmt::Display for ExactConvolutionPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asked {
            lengths: [first, second],
            cyclic,
            batch,
            ..
        } = self.problem.asked;
        match cyclic {
            Some(length) => write!(f, "cyclic convolution of {length}")?,
            None => write!(f, "convolution of {first} with {second}")?,
        }
        if batch > 1 {
            write!(f, ", {batch} of them")?;
        }
        let by_name = match self.problem.route {
            Some(_) => "as asked for",
            None => "the fastest that is proven",
        };
        write!(f, ": {}, {by_name}", self.route())?;
        for candidate in &self.candidates {
            let verdict = if candidate.is_proven {
                "proven"
            } else {
                "not proven"
            };
            write!(f, "\n  {:<7}{verdict}", candidate.route)?;
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
