//! Convolutions of integers: what is asked, and the plan.

use crate::chinese::bits_of_primes;
use crate::cost;
use crate::direct;
use crate::engine;
use crate::error::{ConvolutionError, Which};
use crate::integer::{Numbers, Operand, Output};
use crate::parallel::{DIVIDED, for_each_piece};
use crate::prime::PRIMES;
use crate::proof::{Holds, Proof, Route};
use crate::unit::Unit;
use std::fmt;

/// What is asked: lengths, whether it wraps around, how large the operands are, how many convolutions.
///
/// ```
/// use exact_convolution::Convolution;
///
/// let plan = Convolution::linear(1000, 500).magnitudes(127, 127).plan()?;
/// println!("{plan}");      // the route, and why the result is exact
/// let result: Vec<i32> = plan.process(&[1i8; 1000], &[-1i8; 500])?;
/// assert_eq!(result[700], -500);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Convolution {
    lengths: [usize; 2],
    cyclic: Option<usize>,
    largest: [u64; 2],
    batch: usize,
    route: Option<Route>,
    unit: Option<Unit>,
    /// Products in a result, where fewer than the shorter operand has elements: others are zeros.
    terms: Option<u64>,
}

impl Convolution {
    fn new(lengths: [usize; 2], cyclic: Option<usize>) -> Convolution {
        Convolution {
            lengths,
            cyclic,
            largest: [u64::MAX; 2],
            batch: 1,
            route: None,
            unit: None,
            terms: None,
        }
    }

    /// Of operands of these lengths: `first + second - 1` results.
    pub fn linear(first: usize, second: usize) -> Convolution {
        Convolution::new([first, second], None)
    }

    /// Of operands of one length, indices modulo it: as many results.
    pub fn cyclic(length: usize) -> Convolution {
        Convolution::new([length, length], Some(length))
    }

    /// The largest magnitudes of the operands. Smaller ones take fewer primes. Without it they are 2^64 - 1, whose results no type holds; so it
    /// is needed, or [`Convolution::types`].
    pub fn magnitudes(self, first: u64, second: u64) -> Convolution {
        Convolution {
            largest: [first, second],
            ..self
        }
    }

    /// The largest magnitudes that two types have.
    pub fn types<A: Operand, B: Operand>(self) -> Convolution {
        self.magnitudes(A::LARGEST, B::LARGEST)
    }

    /// So many convolutions, one behind the other in each slice. The second operand may be one for all.
    pub fn batch(self, count: usize) -> Convolution {
        Convolution {
            batch: count,
            ..self
        }
    }

    /// A route instead of the fastest; rejected where its results would not be proven.
    pub fn route(self, route: Route) -> Convolution {
        Convolution {
            route: Some(route),
            ..self
        }
    }

    /// The instructions to compute with, instead of the machine's best. Results do not depend on it.
    pub fn unit(self, unit: Unit) -> Convolution {
        Convolution {
            unit: Some(unit),
            ..self
        }
    }

    /// At most so many products in a result are not zero.
    pub(crate) fn terms(self, terms: u64) -> Convolution {
        Convolution {
            terms: Some(terms),
            ..self
        }
    }

    /// Chooses the route, and proves it.
    pub fn plan(&self) -> Result<ConvolutionPlan, ConvolutionError> {
        for (which, length) in [Which::First, Which::Second].into_iter().zip(self.lengths) {
            if length == 0 {
                return Err(ConvolutionError::Empty { which });
            }
            if let Some(cyclic) = self.cyclic.filter(|&cyclic| length > cyclic) {
                return Err(ConvolutionError::LongerThanCycle {
                    which,
                    length,
                    cyclic,
                });
            }
        }
        let [first, second] = self.lengths;
        let elements = first
            .checked_add(second)
            .and_then(|sum| sum.checked_mul(self.batch.max(1)));
        if elements.is_none_or(|elements| elements > isize::MAX as usize / 16) {
            return Err(ConvolutionError::Shape(format!(
                "{} convolutions of {first} and {second} elements do not fit the memory; convolve parts",
                self.batch
            )));
        }
        let unit = self.unit.unwrap_or_else(Unit::best);
        if !unit.is_available() {
            return Err(ConvolutionError::NoSuchUnit(unit));
        }
        let shorter = self.lengths[0].min(self.lengths[1]);
        let mut proof = Proof {
            terms: self.terms.unwrap_or(shorter as u64),
            largest: self.largest,
            holds: Holds::Sums { bits: 128 },
        };
        let bits = proof.bits();
        // Two bits more than the results: a sign, and room between positive and negative ones.
        let primes = (1..=PRIMES.len()).find(|&count| bits_of_primes(count) >= bits + 2);
        let most = bits_of_primes(PRIMES.len()) - 2;
        // Sums of 64 bits are vectorised by the compiler, longer ones are not.
        let sums = if bits < 64 { 64 } else { 128 };
        let route = match (self.route, primes) {
            (Some(Route::Direct), _) => Route::Direct,
            (Some(Route::Ntt { primes: asked }), Some(least)) => {
                if asked < least || asked > PRIMES.len() {
                    return Err(ConvolutionError::Route(format!(
                        "{asked} primes do not prove results of {bits} bits; take {least} to {}",
                        PRIMES.len()
                    )));
                }
                Route::Ntt { primes: asked }
            }
            (Some(_), None) => return Err(ConvolutionError::TooManyBits { bits, most }),
            (None, Some(primes)) if shorter > direct::most_terms(sums, primes) => {
                Route::Ntt { primes }
            }
            (None, _) => Route::Direct,
        };
        proof.holds = match route {
            Route::Direct if proof.bound().is_none() => {
                return Err(ConvolutionError::ResultMayNotFit {
                    bound: proof.bound_text(),
                    result: "u128",
                });
            }
            Route::Direct => Holds::Sums { bits: sums },
            Route::Ntt { primes } => Holds::Primes {
                count: primes,
                bits: bits_of_primes(primes),
                signed: true,
            },
        };
        Ok(ConvolutionPlan {
            problem: self.clone(),
            unit,
            route,
            proof,
        })
    }
}

/// A convolution that can be run; says how, and why its results are exact.
#[derive(Debug, Clone)]
pub struct ConvolutionPlan {
    problem: Convolution,
    unit: Unit,
    route: Route,
    proof: Proof,
}

impl ConvolutionPlan {
    /// How it is computed.
    pub fn route(&self) -> Route {
        self.route
    }

    /// Why the results are exact.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// The instructions that compute.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Results of one convolution.
    pub fn result_len(&self) -> usize {
        let [first, second] = self.problem.lengths;
        self.problem.cyclic.unwrap_or(first + second - 1)
    }

    /// Results of the whole batch.
    pub fn output_len(&self) -> usize {
        self.problem.batch * self.result_len()
    }

    /// Whether a type holds every result that operands of the declared magnitudes can have.
    pub fn fits<R: Output>(&self) -> Result<(), ConvolutionError> {
        match self.proof.bound() {
            Some(bound) if bound <= R::LARGEST => Ok(()),
            _ => Err(ConvolutionError::ResultMayNotFit {
                bound: self.proof.bound_text(),
                result: R::NAME,
            }),
        }
    }

    /// The convolution: `c[k] = Σ a[i]·b[k - i]`.
    pub fn process<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<R>, ConvolutionError> {
        let mut results = vec![R::default(); self.output_len()];
        self.process_into(a, b, &mut results)?;
        Ok(results)
    }

    /// The convolution, into a slice of [`ConvolutionPlan::output_len`] elements. On an error nothing is written.
    pub fn process_into<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
        results: &mut [R],
    ) -> Result<(), ConvolutionError> {
        self.check(a, b, results)?;
        let biased_a: Vec<u64> = a.iter().map(|number| number.biased()).collect();
        let biased_b: Vec<u64> = b.iter().map(|number| number.biased()).collect();
        self.run((&biased_a, A::BIAS), (&biased_b, B::BIAS), results);
        Ok(())
    }

    /// All convolutions of the batch, of integers plus their bias.
    fn run<R: Output>(&self, a: (&[u64], u64), b: (&[u64], u64), results: &mut [R]) {
        let [first, second] = self.problem.lengths;
        let shared = b.0.len() == second;
        let divided = self.problem.batch > 1 && self.output_len() >= DIVIDED;
        for_each_piece(divided, results, self.result_len(), |number, results| {
            let place = if shared { 0 } else { number * second };
            let a = Numbers {
                biased: &a.0[number * first..][..first],
                bias: a.1,
            };
            let b = Numbers {
                biased: &b.0[place..][..second],
                bias: b.1,
            };
            self.one(a, b, results);
        });
    }

    /// Predicted time of all convolutions of the batch on one thread, in seconds: counts of the route, times constants of the unit that were
    /// measured on one machine (a Xeon with AVX-512). For comparing routes.
    ///
    /// ```
    /// use exact_convolution::Convolution;
    /// let plan = |length| Convolution::linear(length, length).magnitudes(100, 100).plan();
    /// assert!(plan(1 << 20)?.predicted_seconds() > 100.0 * plan(1 << 10)?.predicted_seconds());
    /// # Ok::<(), exact_convolution::ConvolutionError>(())
    /// ```
    pub fn predicted_seconds(&self) -> f64 {
        let short = matches!(self.proof.holds, Holds::Sums { bits: 64 });
        let (lengths, cyclic) = (self.problem.lengths, self.problem.cyclic);
        let nanoseconds = match self.route {
            Route::Direct => cost::direct(lengths, short),
            Route::Ntt { primes } => cost::transforms(self.unit, primes, lengths, cyclic),
        };
        1e-9 * nanoseconds * self.problem.batch as f64
    }

    /// Whether [`ConvolutionPlan::process_into`] takes these slices: their lengths, magnitudes and signs, and the type of the results.
    pub fn check<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
        results: &[R],
    ) -> Result<(), ConvolutionError> {
        let [first, second] = self.problem.lengths;
        let batch = self.problem.batch;
        let length = |what, given, expected| match given == expected {
            true => Ok(()),
            false => Err(ConvolutionError::Length {
                what,
                given,
                expected,
            }),
        };
        length("first operand", a.len(), batch * first)?;
        if b.len() != second {
            length("second operand", b.len(), batch * second)?;
        }
        length("result", results.len(), self.output_len())?;
        self.fits::<R>()?;
        let [largest_first, largest_second] = self.problem.largest;
        check_operand::<A, R>(Which::First, a, largest_first)?;
        check_operand::<B, R>(Which::Second, b, largest_second)
    }

    fn one<R: Output>(&self, a: Numbers, b: Numbers, results: &mut [R]) {
        match (self.route, &self.proof.holds, self.problem.cyclic) {
            (Route::Ntt { primes }, _, cyclic) => {
                engine::convolve(self.unit, primes, cyclic, a, b, results);
            }
            (Route::Direct, Holds::Sums { bits: 64 }, cyclic) => {
                direct::short(a, b, cyclic, results);
            }
            (Route::Direct, _, cyclic) => direct::long(a, b, cyclic, results),
        }
    }
}

fn check_operand<A: Operand, R: Output>(
    which: Which,
    numbers: &[A],
    declared: u64,
) -> Result<(), ConvolutionError> {
    if A::LARGEST > declared
        && let Some(index) = numbers
            .iter()
            .position(|number| number.magnitude() > declared)
    {
        return Err(ConvolutionError::OperandTooLarge {
            which,
            index,
            magnitude: numbers[index].magnitude(),
            declared,
        });
    }
    if A::SIGNED
        && !R::SIGNED
        && let Some(index) = numbers.iter().position(|number| number.is_negative())
    {
        return Err(ConvolutionError::MayBeNegative {
            which,
            index,
            result: R::NAME,
        });
    }
    Ok(())
}

impl fmt::Display for ConvolutionPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.problem.lengths;
        match self.problem.cyclic {
            Some(length) => write!(f, "cyclic convolution of {length}")?,
            None => write!(f, "convolution of {first} with {second}")?,
        }
        if self.problem.batch > 1 {
            write!(f, ", {} of them", self.problem.batch)?;
        }
        write!(f, ": {}", self.route)?;
        if let Route::Ntt { .. } = self.route {
            write!(f, " on {}", self.unit)?;
        }
        write!(f, ". Exact: {}.", self.proof)
    }
}
