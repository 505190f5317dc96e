//! Section 6, line by line. Names are those of the text.

use super::interval::Interval;
use super::matrices::Dropped;
use super::recipe::{Digits, Fold, Line, Products, Recipe, Step, points};
use super::{Factor, Kind, Numbers, Referee, Request};

/// What is left out of a count: gaps that the budget has had or might have. Tests put them back one by one, and see that each
/// makes the bound smaller than it has to be.
#[cfg_attr(not(test), allow(dead_code, reason = "only tests leave anything out"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// The norm's factor taken as if it came after the roundings of the first rotation.
    ScaleAfterTheFirstRotation,
    /// Matrix entries counted as if 1 were a power of two.
    WordsShortenedByMatrices,
    /// Every line between passes counted as if its largest number had all the bits of a word.
    ShortOutputs,
    /// Bluestein: numbers counted as if they were words already.
    WordsBeforeTheChirp,
    /// Bluestein: the kernel counted as roots of unity.
    ScaleOfTheKernel,
    /// Bluestein: errors of the last chirp counted as if no point were left out after it.
    LastChirpAmplified,
    /// Errors of table entries counted as if all entries had modulus 1.
    ModulusOfTables,
    /// Half-spectra measured as if they were whole.
    HalfSpectrum,
    /// Middle steps counted as if they did not shift.
    Shifts,
}

/// Whose numbers a block quantises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The caller's real numbers.
    Real,
    /// The caller's complex numbers, or words of an earlier pass.
    Complex,
}

/// How a rotation is executed, which decides what it rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rotation {
    Long,
    Short,
}

/// What a block does: its error, and the unit of its outputs over their norm.
#[derive(Debug, Clone, Copy)]
struct Block {
    error: Interval,
    unit: Interval,
    /// Points of the block.
    points: usize,
}

pub(super) struct Count<'a> {
    referee: &'a Referee,
    digits: Digits,
    products: Products,
    request: Request,
    gap: Option<Gap>,
}

/// Two stages in sequence: the second one's data are off by the first one's error.
pub(super) fn then(first: Interval, second: Interval) -> Interval {
    first + second + first * second
}

fn half() -> Interval {
    Interval::exact(0.5)
}

/// The mantissa in (1/2, 1] of `1/n`.
fn mantissa_of_inverse(n: usize) -> Interval {
    Interval::power_of_two(n.ilog2() as i32) / Interval::whole(n)
}

/// The mantissa in (1/2, 1] of a factor; exactly 1 where it is a power of two.
pub(super) fn mantissa(factor: Factor, n: usize) -> Interval {
    match factor {
        Factor::One => Interval::ONE,
        Factor::Inverse if n.is_power_of_two() => Interval::ONE,
        Factor::Inverse => mantissa_of_inverse(n),
        Factor::InverseRoot if n.is_power_of_two() && n.ilog2().is_multiple_of(2) => Interval::ONE,
        Factor::InverseRoot => {
            Interval::power_of_two((n.ilog2() / 2) as i32) / Interval::whole(n).sqrt()
        }
    }
}

impl<'a> Count<'a> {
    pub fn new(referee: &'a Referee, digits: Digits, products: Products, request: Request) -> Self {
        Self {
            referee,
            digits,
            products,
            request,
            gap: None,
        }
    }

    fn has(&self, gap: Gap) -> bool {
        self.gap == Some(gap)
    }

    /// `2·2^-B`: a unit where the largest component has `2^(B-1)` of them.
    fn unit_of_full_words(&self) -> Interval {
        Interval::power_of_two(1 - (8 * self.digits.data as i32 - 3))
    }

    fn kappa(&self) -> Interval {
        if self.has(Gap::WordsShortenedByMatrices) {
            Interval::ONE
        } else {
            Interval::ratio(128, 127)
        }
    }

    /// What a rotation of `points` points costs, with the unit of what it makes, and entries of modulus `modulus`.
    fn rotation(
        &self,
        kind: Rotation,
        points: usize,
        unit: Interval,
        modulus: Interval,
    ) -> Interval {
        let modulus = if self.has(Gap::ModulusOfTables) {
            Interval::ONE
        } else {
            modulus
        };
        let (units, entry) = match kind {
            Rotation::Long => (Interval::exact(2.5), Interval::power_of_two(-62)),
            Rotation::Short => (
                half(),
                Interval::whole(2).sqrt() * Interval::power_of_two(-31)
                    + Interval::power_of_two(-62),
            ),
        };
        Interval::whole(2 * points).sqrt() * units * unit + entry / modulus
    }

    fn rotation_in_lines(&self) -> Rotation {
        if self.digits.data <= 4 {
            Rotation::Short
        } else {
            Rotation::Long
        }
    }

    /// `hypot(τ_C, τ_S)` of 6.4.
    fn dropped(&self, step: Step) -> Interval {
        let Digits {
            data: p,
            matrix: q,
            diagonals,
        } = self.digits;
        let first = diagonals - p + 1;
        if first >= q {
            return Interval::ZERO;
        }
        let tau = |sine| {
            let matrix = Dropped {
                n: step.n,
                fold: step.fold,
                sine,
                digits: q,
                first,
            };
            let scale = 8 * (q as i32 - first as i32) - (8 * q as i32 - 1);
            self.referee.norm_of_dropped(matrix)
                * Interval::whole(matrix.columns()).sqrt()
                * Interval::ratio(128, 255)
                * Interval::power_of_two(scale)
        };
        tau(false).hypot(tau(true))
    }

    /// 6.2.
    fn block(&self, steps: &[Step], sigma: Interval, source: Source) -> Block {
        let n: usize = steps.iter().map(|step| step.n).product();
        let first = steps[0].n;
        let last = steps.len() - 1;
        let is_matrix = |step: &Step| step.fold != Fold::Unit;
        let matrix_steps = steps.iter().filter(|step| is_matrix(step)).count();
        let kappa = self.kappa();
        let components = Interval::whole(2 * n).sqrt();

        // The unit of a line, and quantising.
        let parts = if source == Source::Real { 1 } else { 2 };
        let leading = Interval::ONE + Interval::whole(2 * first) * Interval::power_of_two(-20);
        let mut unit = self.unit_of_full_words() * Interval::whole(parts * first).sqrt() * leading;
        let mut error = Interval::whole(parts * n).sqrt() * half() * unit;

        for (i, step) in steps.iter().enumerate() {
            let matrix = is_matrix(step);
            let shift = if i == 0 || i == last || self.has(Gap::Shifts) {
                0
            } else {
                step.n.next_power_of_two().ilog2() as i32
            };
            unit = unit / Interval::whole(step.n).sqrt();
            if matrix {
                unit = kappa * unit;
                let one = Interval::exact(127.0)
                    * Interval::power_of_two(8 * (self.digits.matrix as i32 - 1));
                error = then(error, (Interval::whole(step.n) * half()).sqrt() / one);
                let columns = Interval::whole(n / step.n).sqrt();
                let dropped = Interval::whole(2) * columns * self.dropped(*step) * unit;
                error = then(error, dropped);
            }
            unit = unit * Interval::power_of_two(shift);
            if matrix || shift > 0 {
                let roundings = match self.products {
                    Products::Truncated => Interval::ONE,
                    Products::Exact => half(),
                };
                error = then(error, components * roundings * unit);
            }
            let rotated = if last > 0 {
                i < last
            } else {
                matrix || sigma != Interval::ONE
            };
            if rotated {
                let mut modulus = Interval::ONE;
                if i == 0 {
                    modulus = kappa.power(matrix_steps);
                    if !self.has(Gap::ScaleAfterTheFirstRotation) {
                        modulus = sigma * modulus;
                    }
                }
                unit = unit / modulus;
                let kind = self.rotation_in_lines();
                error = then(error, self.rotation(kind, n, unit, modulus));
            }
        }
        Block {
            error,
            unit,
            points: n,
        }
    }

    /// Outputs of a block become words and are multiplied by a table, in which 1 stands at `factor` of the largest modulus.
    fn handed_on(&self, block: Block, factor: Interval, kind: Rotation) -> Interval {
        let full = self.unit_of_full_words();
        let modulus = Interval::ONE / factor;
        let rotation = |unit| self.rotation(kind, block.points, factor * unit, modulus);
        let narrowing = Interval::whole(2 * block.points).sqrt() * half() * full;
        let narrowed = then(narrowing, rotation(full));
        if self.has(Gap::ShortOutputs) {
            return narrowed;
        }
        narrowed.max(rotation(block.unit))
    }

    /// 6.3, lines in passes: the error, and the last block.
    fn passes(&self, passes: &[Vec<Step>], sigma: Interval, source: Source) -> (Interval, Block) {
        let mut block = self.block(&passes[0], sigma, source);
        let mut error = block.error;
        for steps in &passes[1..] {
            let entry = Interval::whole(5) * Interval::power_of_two(-62);
            error = then(error, entry);
            let kind = self.rotation_in_lines();
            error = then(error, self.handed_on(block, Interval::ONE, kind));
            block = self.block(steps, Interval::ONE, Source::Complex);
            error = then(error, block.error);
        }
        (error, block)
    }

    /// 6.3, any length.
    fn bluestein(&self, length: usize, passes: &[Vec<Step>], sigma: Interval) -> Interval {
        let full = self.unit_of_full_words();
        let mut error = self.rotation(Rotation::Long, 1, full, Interval::ONE);
        if !self.has(Gap::WordsBeforeTheChirp) {
            error = then(Interval::whole(2).sqrt() * half() * full, error);
        }
        let convolution = points(passes);
        let (through, last) = self.passes(passes, Interval::ONE, Source::Complex);
        error = then(error, through);

        let spectrum = self.referee.chirp_spectrum(length, convolution);
        let f = sigma
            * if convolution.is_power_of_two() {
                Interval::ONE
            } else {
                mantissa_of_inverse(convolution)
            };
        let component = spectrum.component * f;
        let above = crate::oracle::spectrum::exponent_of(component.high) + 1;
        assert_eq!(
            above,
            crate::oracle::spectrum::exponent_of(component.low) + 1,
            "the chirp of {length} over {convolution} points is next to a power of two"
        );
        let factor = if self.has(Gap::ScaleOfTheKernel) {
            Interval::ONE
        } else {
            Interval::power_of_two(above) / (spectrum.modulus * f)
        };
        error = then(error, self.handed_on(last, factor, Rotation::Long));
        error = then(error, through);
        let chirp = self.handed_on(last, Interval::ONE, Rotation::Long);
        let amplification = spectrum.modulus / Interval::whole(length).sqrt();
        if self.has(Gap::LastChirpAmplified) {
            return then(amplification * error, chirp);
        }
        amplification * then(error, chirp)
    }

    /// One axis, without the rounding of its result.
    fn line(&self, line: &Line, real: bool) -> Interval {
        let sigma = mantissa(self.request.factor, line.len());
        let source = if real { Source::Real } else { Source::Complex };
        let error = match line {
            Line::Copy => Interval::ZERO,
            Line::Passes(passes) => self.passes(passes, sigma, source).0,
            Line::Bluestein { length, passes } => self.bluestein(*length, passes, sigma),
        };
        if real && !self.has(Gap::HalfSpectrum) {
            Interval::whole(2).sqrt() * error
        } else {
            error
        }
    }

    /// All axes.
    pub fn whole(&self, recipe: &Recipe) -> Interval {
        let (result, between) = match self.request.numbers {
            Numbers::Double => (-53, -64),
            Numbers::Single => (-24, -30),
        };
        let mut whole = Interval::ZERO;
        for (i, axis) in recipe.axes.iter().enumerate() {
            if i > 0 {
                whole = then(whole, Interval::power_of_two(between));
            }
            if axis.line.is_empty() {
                continue;
            }
            // The axis of the real numbers comes first.
            let real = i == 0 && self.request.kind == Kind::RealToComplex;
            let line = self.line(&axis.line, real);
            whole = then(whole, then(line, Interval::power_of_two(result)));
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Request = Request {
        kind: Kind::Complex,
        factor: Factor::One,
        numbers: Numbers::Double,
    };

    fn count(text: &str, request: Request, gap: Option<Gap>) -> Interval {
        let recipe: Recipe = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let referee = Referee::new();
        let mut count = Count::new(&referee, recipe.digits, recipe.products, request);
        count.gap = gap;
        count.whole(&recipe)
    }

    fn double(axes: &str) -> String {
        format!("truncated: 8 data digits × 7 matrix digits, 8 diagonals; {axes};")
    }

    fn exact(axes: &str) -> String {
        format!("exact: 8 data digits × 7 matrix digits, 14 diagonals; {axes};")
    }

    /// If the library's budget had one of these gaps, its bound would lie below the referee's, as the count with the gap does.
    /// Exact recipes drop nothing, so that there is no norm of a matrix, bounded in two ways, for a small gap to hide behind.
    #[test]
    fn every_reintroduced_gap_is_detected() {
        let inverse = Request {
            factor: Factor::Inverse,
            ..PLAIN
        };
        let real = Request {
            kind: Kind::RealToComplex,
            ..PLAIN
        };
        let convolution = "axis 0: bluestein 1009 over (16t·16f | 8t)";
        let cases = [
            (Gap::ScaleAfterTheFirstRotation, "axis 0: 31p·31p", inverse),
            // One step: where there are more, the first rotation makes good for all of them at once, and the gap goes either way.
            (Gap::WordsShortenedByMatrices, "axis 0: 64t", PLAIN),
            (Gap::ShortOutputs, "axis 0: 61p | 61p", PLAIN),
            (Gap::WordsBeforeTheChirp, convolution, PLAIN),
            (Gap::ScaleOfTheKernel, convolution, PLAIN),
            (Gap::LastChirpAmplified, convolution, PLAIN),
            (Gap::ModulusOfTables, "axis 0: 31p·31p", inverse),
            (Gap::HalfSpectrum, "axis 0: 32t·32f", real),
            (Gap::Shifts, "axis 0: 10t·10t·10f", PLAIN),
        ];
        for (gap, axes, request) in cases {
            let whole = count(&exact(axes), request, None);
            let with_gap = count(&exact(axes), request, Some(gap));
            println!("{gap:?}: {:.4}", with_gap.high / whole.low);
            assert!(
                with_gap.high < whole.low,
                "{gap:?} is not seen with {axes}: {with_gap:?} for {whole:?}"
            );
        }
    }

    #[test]
    fn one_trivial_step_has_the_hand_computed_bound() {
        // Four points: quantised to √8·½·U₀, U₀ = 2·2^-61·√8·(1+2^-17); no rotation; rounded.
        let bound = count(&double("axis 0: 4u"), PLAIN, None);
        let quantised = 8f64.sqrt() * 0.5 * 2f64.powi(-60) * 8f64.sqrt() * (1.0 + 2f64.powi(-17));
        let exact = quantised + 2f64.powi(-53) + quantised * 2f64.powi(-53);
        assert!((bound.high / exact - 1.0).abs() < 1e-14, "{bound:?}");
        assert!(bound.low <= exact && exact <= bound.high);
        // Nothing to do, nothing lost.
        assert_eq!(count(&double("axis 0: copy"), PLAIN, None), Interval::ZERO);
    }

    #[test]
    fn factors_have_mantissas_above_a_half() {
        for n in 1..=5000 {
            for factor in [Factor::Inverse, Factor::InverseRoot] {
                let sigma = mantissa(factor, n);
                assert!(sigma.low > 0.5 && sigma.high <= 1.0, "{factor:?} of {n}");
                let exact = match factor {
                    Factor::Inverse => 1.0 / n as f64,
                    _ => 1.0 / (n as f64).sqrt(),
                };
                let power = (exact / sigma.high).log2();
                assert!((power - power.round()).abs() < 1e-12, "{factor:?} of {n}");
            }
        }
    }
}
