//! The error budget: what every rounding contributes to the relative L2 error of a transform.
//!
//! Each contribution is counted twice. `worst` holds for every input: rounding errors at their largest and aligned,
//! the line's unit at its largest relative to the line's norm. `typical` is the root mean square for random input,
//! with rounding errors uniform and independent. `docs/numerics.md`, section 6, derives every line below, and functions
//! name their part of it; `oracle::referee` counts the same from that text alone.

use crate::recipe::{BlockRecipe, Digits, Fold, LineRecipe, Products, StepRecipe};
use crate::stages::digits::DigitMatrix;
use crate::stages::residue_products::{LineUnit, ResidueEngine};
use crate::stages::step_matrices::StepMatrices;
use crate::transform::packed_elements::SHORT_DIGITS;
use crate::transform::tables::Tables;

/// Relative L2 error, proven for all inputs and expected for random ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBudget {
    /// No input exceeds this.
    pub bound: f64,
    /// Random input gives about this.
    pub expected: f64,
}

impl ErrorBudget {
    #[doc(hidden)]
    pub const EXACT: ErrorBudget = ErrorBudget {
        bound: 0.0,
        expected: 0.0,
    };

    /// Two stages in sequence: worst cases add, independent errors add in squares.
    #[doc(hidden)]
    pub fn then(self, next: ErrorBudget) -> ErrorBudget {
        ErrorBudget {
            // The second stage sees data that are off by the first one's error.
            bound: self.bound + next.bound + self.bound * next.bound,
            expected: self.expected.hypot(next.expected),
        }
    }
}

/// A bound as text with so many decimal places, rounded up: read again it is never below the bound, as the nearest text may be.
///
/// ```
/// # use ozfft_core::transform::budget as ozfft;
/// let bound = 1.684_41e-15;
/// assert_eq!(format!("{bound:.2e}"), "1.68e-15");
/// assert_eq!(ozfft::bound_text(bound, 2), "1.69e-15");
/// assert_eq!(ozfft::bound_text(9.999e-16, 2), "1.00e-15");
/// ```
pub fn bound_text(bound: f64, places: usize) -> String {
    let nearest = format!("{bound:.places$e}");
    let above = || {
        let read: f64 = nearest.parse().ok()?;
        let exponent: i32 = nearest.split_once('e')?.1.parse().ok()?;
        let unit: f64 = format!("1e{}", exponent - i32::try_from(places).ok()?)
            .parse()
            .ok()?;
        (read < bound).then(|| format!("{:.places$e}", read + unit))
    };
    above().unwrap_or(nearest)
}

/// Root mean square of a rounding error that is uniform in ±1/2.
const UNIFORM: f64 = 0.288_675_134_594_812_9;
/// Root mean square of a balanced digit of random data.
const DIGIT: f64 = 73.9;
/// Expected relative error of rounding a random spectrum once, in units of the type's unit roundoff.
const ROUNDED_ONCE: f64 = 0.4236;

/// The rounding of the result to the caller's type (6.3, axes).
pub fn final_rounding(unit_roundoff: f64) -> ErrorBudget {
    ErrorBudget {
        bound: unit_roundoff,
        expected: ROUNDED_ONCE * unit_roundoff,
    }
}

/// The largest relative loss of subnormal numbers between two axes: the scale between axes keeps it below this (6.3, axes;
/// section 4).
pub fn between_axes(is_double: bool) -> ErrorBudget {
    let bits = if is_double { 64 } else { 30 };
    ErrorBudget {
        bound: (-f64::from(bits)).exp2(),
        expected: 0.0,
    }
}

/// A product comes out as 127/128 of a power of two: words after a matrix step are so much smaller than the data.
const COMPENSATION: f64 = 128.0 / 127.0;

/// The budget itself is computed in floating point: an allowance for its own roundings is added.
const OUTWARD: f64 = 1.0 + 1e-12;

/// The unit of words relative to the L2 norm of the data that they stand for: largest possible, and for random data.
#[derive(Debug, Clone, Copy)]
struct WordUnit {
    worst: f64,
    typical: f64,
}

impl WordUnit {
    fn times(self, factor: f64) -> WordUnit {
        WordUnit {
            worst: self.worst * factor,
            typical: self.typical * factor,
        }
    }

    /// Errors of so many units in every one of `components` components.
    fn errors(self, components: f64, worst: f64, typical: f64) -> ErrorBudget {
        let root = components.sqrt();
        ErrorBudget {
            bound: root * worst * self.worst,
            expected: root * typical * self.typical,
        }
    }
}

/// The input of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The caller's complex numbers.
    Complex,
    /// The caller's real numbers: half the components, and the other half exactly zero.
    Real,
    /// Words of an earlier pass.
    Words,
}

/// The unit of a quantised line (6.2).
fn line_unit(first: usize, n: usize, word_bits: u32, data: Data) -> WordUnit {
    let unit = (-f64::from(word_bits)).exp2();
    let first = first as f64;
    // The sum of a column's components is at most the root of their number times their norm; the exponent is a power of
    // two (factor 2), and the sum is formed from 21 leading bits rounded up (2·n1 / 2^20 at most).
    let components = if data == Data::Real {
        first
    } else {
        2.0 * first
    };
    WordUnit {
        worst: 2.0 * unit * components.sqrt() * (1.0 + 2.0 * first / f64::from(1 << 20)),
        typical: 1.8 * unit * (first + first.sqrt()) / (n as f64).sqrt(),
    }
}

/// (6.4) What the dropped diagonals of one real product can amount to, in units of the data words:
/// the L2 norm over the outputs at worst, and the root mean square per output.
fn dropped(matrix: &DigitMatrix, digits: Digits) -> (f64, f64) {
    // Matrix digit i meets the leading `diagonals - i` data digits only; from this one on some are missing.
    let first = digits.diagonals - digits.data + 1;
    if first >= digits.matrix || matrix.rows == 0 {
        return (0.0, 0.0);
    }
    let count = f64::from(digits.matrix - first);
    let slots = matrix.slots as f64;
    // A tail of c digits is at most 128/255 · 256^c, and matrix digit i weighs 256^(matrix-1-i): the product does not
    // depend on i. The data word's unit is 2^(8·matrix-1) of the product's.
    let weight =
        f64::from(8 * (digits.matrix - first)).exp2() / f64::from(8 * digits.matrix - 1).exp2();
    let tail = 128.0 / 255.0 * weight;
    let worst = matrix.digit_norm(first, digits) * (count * slots).sqrt() * tail;
    let typical = DIGIT * DIGIT / 256.0 * (count * slots).sqrt() * weight;
    (worst, typical)
}

/// (6.2, step i) One step up to its rounding shift: matrix rounding, dropped diagonals, the shift.
///
/// `unit` is the unit of the words entering the step relative to the norm of what the step's *outputs* stand for.
fn step_budget(
    step: &StepRecipe,
    matrices: Option<&StepMatrices>,
    digits: Digits,
    products: Products,
    n: usize,
    unit: WordUnit,
) -> ErrorBudget {
    let points = n as f64;
    let mut total = ErrorBudget::EXACT;
    let shifted = unit.times(f64::from(step.shift).exp2());
    if let Some(StepMatrices { cosine, sine }) = matrices {
        // Every entry is off by half a unit at most, in both parts: Frobenius norm over the matrix norm sqrt(n).
        let one = digits.matrix_one() as f64;
        total = total.then(ErrorBudget {
            bound: (step.n as f64 / 2.0).sqrt() / one,
            expected: 2f64.sqrt() * UNIFORM / one,
        });
        let (cosine_worst, cosine_typical) = dropped(cosine, digits);
        let (sine_worst, sine_typical) = dropped(sine, digits);
        let columns = (points / step.n as f64).sqrt();
        total = total.then(ErrorBudget {
            bound: 2.0 * columns * cosine_worst.hypot(sine_worst) * unit.worst,
            expected: (2.0 * points).sqrt() * cosine_typical.hypot(sine_typical) * unit.typical,
        });
    }
    // Truncated sums are rounded one by one, exact ones after combining two; unit steps round only when shifted.
    let roundings: f64 = match (step.fold, products) {
        (Fold::Trivial, _) if step.shift == 0 => 0.0,
        (_, Products::Exact) => 1.0,
        (_, Products::Truncated) => 2.0,
    };
    total.then(shifted.errors(2.0 * points, roundings * 0.5, roundings.sqrt() * UNIFORM))
}

/// (6.2) A rotation of a line of `n` points by entries of a modulus of at least `modulus`; `unit` is that of its results.
///
/// Longer words: two low products of at most one unit, and half a unit of rounding. Words below 2^31, with `short`: their
/// high halves are zero, so that what is left out is the low half of the table's entry, of at most 2^-31 in each part.
/// The table's own rounding is at most half of 2^-62 in each part, less than 2^-62 in modulus.
fn rotation(n: usize, unit: WordUnit, modulus: f64, short: bool) -> ErrorBudget {
    let components = 2.0 * n as f64;
    let table = (-62f64).exp2() / modulus;
    if short {
        let low_half = 2f64.sqrt() * (-31f64).exp2() / modulus;
        let rounded = unit.errors(components, 0.5, UNIFORM);
        return ErrorBudget {
            bound: rounded.bound + low_half + table,
            expected: rounded.expected.hypot(2.0 * UNIFORM * low_half),
        };
    }
    let low_products = 2f64.sqrt() / 3.0;
    let rounded = unit.errors(components, 2.5, low_products.hypot(UNIFORM));
    ErrorBudget {
        bound: rounded.bound + table,
        expected: rounded.expected + 0.3 * table,
    }
}

/// Parameters of the numerics of a line besides its steps.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub digits: Digits,
    pub products: Products,
    /// Mantissa in (1/2, 1] of the norm's factor.
    pub scale: f64,
    pub tables: &'a Tables,
    /// Where products are formed by residues.
    pub residues: Option<&'a ResidueEngine>,
}

/// (6.2) A block before what becomes of its outputs, and their unit.
fn block_budget(block: &BlockRecipe, setting: Setting<'_>, data: Data) -> (ErrorBudget, WordUnit) {
    let Setting {
        digits, products, ..
    } = setting;
    let n = block.len();
    let mut unit = line_unit(block.steps[0].n, n, digits.word_bits(), data);
    let adapted = setting.residues.and_then(ResidueEngine::relative_unit);
    match adapted.filter(|_| data != Data::Words) {
        Some(LineUnit::Exactly(own)) => {
            unit = WordUnit {
                worst: own,
                typical: own,
            };
        }
        Some(LineUnit::AtBest(own)) => {
            unit = WordUnit {
                worst: unit.worst.max(own),
                typical: unit.typical.max(own),
            };
        }
        None => {}
    }
    let components = if data == Data::Real { n } else { 2 * n };
    let mut total = unit.errors(components as f64, 0.5, UNIFORM);
    // What the first rotation multiplies by: the norm's factor, and the inverse of the scale of all products.
    let multiplied = block.steps.iter().filter(|step| step.fold != Fold::Trivial);
    let first_modulus = setting.scale * COMPENSATION.powi(multiplied.count() as i32);
    let last = block.steps.len() - 1;
    for (i, step) in block.steps.iter().enumerate() {
        // Every step makes the norm √n larger, a product makes the words 127/128 of the data.
        unit = unit.times(1.0 / (step.n as f64).sqrt());
        let matrices = setting.tables.matrices(step, digits);
        if matrices.is_some() {
            unit = unit.times(COMPENSATION);
        }
        total = total.then(step_budget(
            step,
            matrices.as_deref(),
            digits,
            products,
            n,
            unit,
        ));
        if matrices.is_some()
            && let Some(engine) = setting.residues
        {
            total = total.then(reconstruction(engine, step, i == 0, digits, n, unit));
        }
        // Shifts make the unit coarser.
        unit = unit.times(f64::from(step.shift).exp2());
        if i < last || i == 0 && (step.fold != Fold::Trivial || setting.scale != 1.0) {
            let modulus = if i == 0 { first_modulus } else { 1.0 };
            // A rotation rounds what it has made, which is so many times as large.
            unit = unit.times(1.0 / modulus);
            total = total.then(rotation(n, unit, modulus, is_short(digits)));
        }
    }
    (total, unit)
}

/// Whether words stay below 2^31.
fn is_short(digits: Digits) -> bool {
    digits.data <= SHORT_DIGITS
}

/// The error of reconstruction methods that are not exact: a value is made of two sums.
fn reconstruction(
    engine: &ResidueEngine,
    step: &StepRecipe,
    first: bool,
    digits: Digits,
    n: usize,
    unit: WordUnit,
) -> ErrorBudget {
    // Planning rejects what cannot be built; until then nothing is promised.
    let error = engine.error_bound(step, first, digits);
    let error = error.unwrap_or(f64::INFINITY);
    let words = 2.0 * error / f64::from(digits.product_shift()).exp2();
    // How such errors are distributed is not known; more than the bound they cannot be.
    unit.errors(2.0 * n as f64, words, words)
}

/// The unit of words of full length, under the largest component of a line (or of one number): that component has at
/// least half of 2^B units. Random data are some four times as large as that component.
fn full_words(n: usize, word_bits: u32) -> WordUnit {
    let unit = (-f64::from(word_bits)).exp2();
    WordUnit {
        worst: 2.0 * unit,
        typical: 8.0 * unit / (2.0 * n as f64).sqrt(),
    }
}

/// (6.3) The outputs of a line of `n` points become words and are rotated by entries of modulus up to 1, in units of
/// `full_scale` times what the results are measured by.
///
/// Outputs longer than a word are shifted down to full length, which rounds; shorter ones are words already, with the unit
/// that they have.
fn handed_on(
    n: usize,
    outputs: WordUnit,
    digits: Digits,
    full_scale: f64,
    short: bool,
) -> ErrorBudget {
    let full = full_words(n, digits.word_bits());
    let rotated = |unit: WordUnit| {
        let rotated = rotation(n, unit.times(full_scale), 1.0 / full_scale, short);
        ErrorBudget {
            expected: rotation(n, unit, 1.0, short).expected,
            ..rotated
        }
    };
    let narrowed = full
        .errors(2.0 * n as f64, 0.5, UNIFORM)
        .then(rotated(full));
    let whole = rotated(outputs);
    ErrorBudget {
        bound: narrowed.bound.max(whole.bound),
        expected: narrowed.expected,
    }
}

/// (6.3) All passes of a line before what becomes of the last one's outputs, and their unit.
fn passes_budget(
    blocks: &[BlockRecipe],
    setting: Setting<'_>,
    data: Data,
) -> (ErrorBudget, WordUnit) {
    let mut total = ErrorBudget::EXACT;
    let mut outputs = WordUnit {
        worst: 0.0,
        typical: 0.0,
    };
    for (i, block) in blocks.iter().enumerate() {
        let (scale, data) = if i == 0 {
            (setting.scale, data)
        } else {
            (1.0, Data::Words)
        };
        let (budget, unit) = block_budget(block, Setting { scale, ..setting }, data);
        (total, outputs) = (total.then(budget), unit);
        if i + 1 < blocks.len() {
            // The table entry is itself a rotation of one table by another: 2·2^-62.5, and √2·2.5 of 2^-62.
            let table = ErrorBudget {
                bound: 5.0 * (-62f64).exp2(),
                expected: (-62f64).exp2(),
            };
            let short = is_short(setting.digits);
            total =
                total
                    .then(table)
                    .then(handed_on(block.len(), outputs, setting.digits, 1.0, short));
        }
    }
    (total, outputs)
}

/// (6.3) One line before its final rounding.
pub fn line_budget(line: &LineRecipe, setting: Setting<'_>, data: Data) -> ErrorBudget {
    let total = match line {
        LineRecipe::Copy => return ErrorBudget::EXACT,
        LineRecipe::Passes(blocks) => passes_budget(blocks, setting, data).0,
        LineRecipe::Bluestein { n, convolution } => bluestein_budget(*n, convolution, setting),
    };
    // A half-spectrum is measured as it is stored. The bound so far is relative to the whole spectrum, whose norm may be
    // √2 times as large, while errors may sit in the first or the middle point, which both have once.
    let stored = if data == Data::Real { 2f64.sqrt() } else { 1.0 };
    ErrorBudget {
        bound: total.bound * stored * OUTWARD,
        ..total
    }
}

/// (6.3, Bluestein) A chirp convolution, stage by stage.
fn bluestein_budget(n: usize, convolution: &[BlockRecipe], setting: Setting<'_>) -> ErrorBudget {
    let digits = setting.digits;
    let m: usize = convolution.iter().map(BlockRecipe::len).product();
    let line = convolution.last().map_or(1, BlockRecipe::len);
    let one = Setting {
        scale: 1.0,
        ..setting
    };
    let (transform, outputs) = passes_budget(convolution, one, Data::Words);
    // Every element becomes a word and is rotated under an exponent of its own, so per point, not per line.
    let single = full_words(1, digits.word_bits());
    let chirp = single
        .errors(2.0, 0.5, UNIFORM)
        .then(rotation(1, single, 1.0, false));
    let kernel = setting.tables.chirp_size(n, m);
    let product = handed_on(
        line,
        outputs,
        digits,
        kernel.full_scale(setting.scale, m),
        false,
    );
    let convolved = chirp.then(transform).then(product).then(transform);
    let last = handed_on(line, outputs, digits, 1.0, false);
    let through = convolved.then(last);
    // An error of the convolution is multiplied by the kernel at most, and the last words are as long as the largest of all
    // m points; the result has √n times the input's norm. For random input errors spread over all m points, of which n
    // are kept.
    ErrorBudget {
        bound: through.bound * kernel.modulus / (n as f64).sqrt(),
        expected: through.expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound of 128³ is 1.68441e-15, and 1.68e-15 was printed as proven.
    #[test]
    fn a_printed_bound_is_not_below_the_bound() {
        assert_eq!(bound_text(1.684_41e-15, 2), "1.69e-15");
        // A bound just above every number of three digits, that number, and one just below it.
        for exponent in [-320, -300, -33, -16, -15, -1, 0, 7, 300] {
            for digits in 100..1000 {
                let text = format!("{}.{:02}e{exponent}", digits / 100, digits % 100);
                let next = match digits + 1 {
                    1000 => format!("1.00e{}", exponent + 1),
                    more => format!("{}.{:02}e{exponent}", more / 100, more % 100),
                };
                let number: f64 = text.parse().expect("a number");
                assert_eq!(bound_text(number.next_down(), 2), text);
                assert_eq!(bound_text(number, 2), text);
                assert_eq!(bound_text(number.next_up(), 2), next);
            }
        }
        for places in 0..16 {
            for bound in [f64::from_bits(1), 1.0 / 3.0, 2.0 / 3.0, f64::MAX] {
                let text = bound_text(bound, places);
                let read: f64 = text.parse().expect("a number");
                assert!(read >= bound, "{bound:e} with {places} places: {text}");
            }
        }
        for (bound, text) in [(0.0, "0.00e0"), (f64::INFINITY, "inf"), (f64::NAN, "NaN")] {
            assert_eq!(bound_text(bound, 2), text);
        }
    }
}
