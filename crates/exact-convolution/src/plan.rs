//! Convolutions of integers: what is asked, and the plan.

use crate::cost;
use crate::direct;
use crate::error::{ConvolutionError, Which};
use crate::integer::{Numbers, Operand, Output, Words, largest};
use crate::modular::chinese::bits_of_primes;
use crate::modular::engine;
use crate::modular::prime::PRIMES;
use crate::modular::unit::Unit;
use crate::parallel::{DIVIDED, for_each_piece};
use crate::proof::{Holds, Proof, Route};
use crate::shaped::Lines;
use fallible_memory::catch;
use std::fmt;

/// What is asked: shapes, whether it wraps around, how large the operands are, how many convolutions.
///
/// ```
/// use exact_convolution::Convolution;
///
/// let plan = Convolution::linear(1000, 500).magnitudes(127, 127).plan()?;
/// println!("{plan}");      // the route, and why the result is exact
/// let result: Vec<i32> = plan.process(&[1i8; 1000], &[-1i8; 500])?;
/// assert_eq!(result[700], -500);
///
/// // Integers of 128 bits, where the results of all operands of these magnitudes fit.
/// let plan = Convolution::linear(3, 2).magnitudes(1 << 100, 1 << 20).plan()?;
/// assert_eq!(plan.process::<i128, i32, i128>(&[1 << 100, -1, 0], &[3, 5])?, [3 << 100, (5 << 100) - 3, -5, 0]);
///
/// // Ten images, each correlated with one kernel.
/// let plan = Convolution::linear_shaped(&[8, 9], &[3, 3]).correlation().types::<u8, i8>().batch(10).plan()?;
/// assert_eq!(plan.result_shape(), [10, 11]);
/// let edges: Vec<i32> = plan.process(&[1u8; 720], &[0i8, -1, 0, -1, 4, -1, 0, -1, 0])?;
/// assert_eq!(edges[9 * 110 + 5 * 11 + 5], 0);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Convolution {
    shapes: [Vec<usize>; 2],
    is_cyclic: bool,
    is_correlation: bool,
    largest: [u128; 2],
    batch: usize,
    route: Option<Route>,
    unit: Option<Unit>,
}

impl Convolution {
    fn new(shapes: [&[usize]; 2], is_cyclic: bool) -> Convolution {
        Convolution {
            shapes: shapes.map(<[usize]>::to_vec),
            is_cyclic,
            is_correlation: false,
            largest: [u128::MAX; 2],
            batch: 1,
            route: None,
            unit: None,
        }
    }

    /// Of operands of these lengths: `first + second - 1` results.
    pub fn linear(first: usize, second: usize) -> Convolution {
        Convolution::linear_shaped(&[first], &[second])
    }

    /// Of operands of one length, indices modulo it: as many results.
    pub fn cyclic(length: usize) -> Convolution {
        Convolution::cyclic_shaped(&[length])
    }

    /// Of arrays of several dimensions in row-major order, of as many axes as each other: `first + second - 1` results along each.
    pub fn linear_shaped(first: &[usize], second: &[usize]) -> Convolution {
        Convolution::new([first, second], false)
    }

    /// Of arrays of one shape, indices modulo the length of every axis: as many results.
    pub fn cyclic_shaped(shape: &[usize]) -> Convolution {
        Convolution::new([shape, shape], true)
    }

    /// The correlation: the second operand is read backwards along all axes, as in [`correlate`](crate::correlate) and, where it is cyclic,
    /// [`correlate_cyclic`](crate::correlate_cyclic).
    pub fn correlation(self) -> Convolution {
        Convolution {
            is_correlation: true,
            ..self
        }
    }

    /// The largest magnitudes of the operands. Smaller ones take fewer primes. Without it they are 2^128 - 1, whose results no type holds; so it
    /// is needed, or [`Convolution::types`].
    pub fn magnitudes(self, first: u128, second: u128) -> Convolution {
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

    /// Chooses the route, and proves it.
    pub fn plan(&self) -> Result<ConvolutionPlan, ConvolutionError> {
        let [first, second] = &self.shapes;
        let lines = Lines::new([first, second], self.is_cyclic, self.is_correlation)?;
        let [first, second] = lines.lengths();
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
        let shorter = first.min(second);
        let mut proof = Proof {
            terms: lines.terms(),
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
            lines,
            largest: self.largest,
            batch: self.batch,
            unit,
            route,
            proof,
        })
    }
}

/// A convolution that can be run; says how, and why its results are exact.
#[derive(Debug, Clone)]
pub struct ConvolutionPlan {
    lines: Lines,
    largest: [u128; 2],
    batch: usize,
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
        self.lines.shape().iter().product()
    }

    /// Their shape.
    pub fn result_shape(&self) -> &[usize] {
        self.lines.shape()
    }

    /// Convolutions, one behind the other in each slice.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Results of the whole batch.
    pub fn output_len(&self) -> usize {
        self.batch * self.result_len()
    }

    /// How arrays are convolved as lines.
    #[doc(hidden)]
    pub fn lines(&self) -> &Lines {
        &self.lines
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
        let mut results = catch(|| vec![R::default(); self.output_len()])?;
        self.process_into(a, b, &mut results)?;
        Ok(results)
    }

    /// The convolution, into a slice of [`ConvolutionPlan::output_len`] elements. On an error nothing is written, except that [`ConvolutionError::Memory`] leaves any values there.
    pub fn process_into<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
        results: &mut [R],
    ) -> Result<(), ConvolutionError> {
        self.check(a, b, results)?;
        Ok(catch(|| self.run_arranged(a, b, results))?)
    }

    /// The same for slices that fit the plan.
    fn run_arranged<A: Operand, B: Operand, R: Output>(&self, a: &[A], b: &[B], results: &mut [R]) {
        let [largest_first, largest_second] = self.largest;
        let a = Words::new(&self.lines.arranged(0, a), largest_first);
        let b = Words::new(&self.lines.arranged(1, b), largest_second);
        if self.lines.are_results() {
            self.run(&a, &b, results);
        } else {
            let mut of_lines = vec![R::default(); self.batch * self.lines.results()];
            self.run(&a, &b, &mut of_lines);
            self.lines.gather(&of_lines, results);
        }
    }

    /// All convolutions of the batch.
    fn run<R: Output>(&self, a: &Words, b: &Words, results: &mut [R]) {
        let [first, second] = self.lines.lengths();
        let shared = b.len() == second;
        let divided = self.batch > 1 && results.len() >= DIVIDED;
        for_each_piece(divided, results, self.lines.results(), |number, results| {
            let place = if shared { 0 } else { number * second };
            self.one(
                a.part(number * first, first),
                b.part(place, second),
                results,
            );
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
        let (lengths, cyclic) = (self.lines.lengths(), self.lines.cycle());
        let nanoseconds = match self.route {
            Route::Direct => cost::direct(lengths, short),
            Route::Ntt { primes } => cost::transforms(self.unit, primes, lengths, cyclic),
        };
        1e-9 * nanoseconds * self.batch as f64
    }

    /// Whether [`ConvolutionPlan::process_into`] takes these slices: their lengths, magnitudes and signs, and the type of the results.
    pub fn check<A: Operand, B: Operand, R: Output>(
        &self,
        a: &[A],
        b: &[B],
        results: &[R],
    ) -> Result<(), ConvolutionError> {
        let [first, second] = [0, 1].map(|operand| self.lines.elements(operand));
        let batch = self.batch;
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
        let [largest_first, largest_second] = self.largest;
        check_operand::<A, R>(Which::First, a, largest_first)?;
        check_operand::<B, R>(Which::Second, b, largest_second)
    }

    fn one<R: Output>(&self, a: Numbers, b: Numbers, results: &mut [R]) {
        match (self.route, &self.proof.holds, self.lines.cycle()) {
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
    declared: u128,
) -> Result<(), ConvolutionError> {
    if A::LARGEST > declared
        && largest(numbers) > declared
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
        write!(f, "{}", self.lines)?;
        if self.batch > 1 {
            write!(f, ", {} of them", self.batch)?;
        }
        write!(f, ": {}", self.route)?;
        if let Route::Ntt { .. } = self.route {
            write!(f, " on {}", self.unit)?;
        }
        write!(f, ". Exact: {}.", self.proof)
    }
}
