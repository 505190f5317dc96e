//! The error budget: what every rounding contributes to the relative L2 error of a transform.
//!
//! Each contribution is counted twice. `worst` holds for every input: rounding errors at their largest and aligned,
//! the line's unit at its largest relative to the line's norm. `typical` is the root mean square for random input,
//! with rounding errors uniform and independent. `docs/numerics.md` derives every line below.

use crate::cells::SHORT_DIGITS;
use crate::digits::DigitMatrix;
use crate::problem::Family;
use crate::recipe::{BlockRecipe, Digits, Fold, LineRecipe, StepRecipe};
use crate::residue_products::ResidueEngine;
use crate::tables::{StepMatrices, Tables};

/// Relative L2 error, proven for all inputs and expected for random ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBudget {
    /// No input exceeds this.
    pub bound: f64,
    /// Random input gives about this.
    pub expected: f64,
}

impl ErrorBudget {
    pub(crate) const EXACT: ErrorBudget = ErrorBudget {
        bound: 0.0,
        expected: 0.0,
    };

    /// Two stages in sequence: worst cases add, independent errors add in squares.
    pub(crate) fn then(self, next: ErrorBudget) -> ErrorBudget {
        ErrorBudget {
            // The second stage sees data that are off by the first one's error.
            bound: self.bound + next.bound + self.bound * next.bound,
            expected: self.expected.hypot(next.expected),
        }
    }
}

/// Root mean square of a rounding error that is uniform in ±1/2.
const UNIFORM: f64 = 0.288_675_134_594_812_9;
/// Root mean square of a balanced digit of random data.
const DIGIT: f64 = 73.9;
/// Expected relative error of rounding a random spectrum once, in units of the type's unit roundoff.
const ROUNDED_ONCE: f64 = 0.4236;

/// The rounding of the result to the caller's type.
pub(crate) fn final_rounding(unit_roundoff: f64) -> ErrorBudget {
    ErrorBudget {
        bound: unit_roundoff,
        expected: ROUNDED_ONCE * unit_roundoff,
    }
}

/// The unit of a quantised line relative to the line's L2 norm: largest possible, and for random data.
fn line_unit(first: usize, n: usize, word_bits: u32) -> (f64, f64) {
    let unit = (-f64::from(word_bits)).exp2();
    let first = first as f64;
    // Sum of 2·n1 components <= sqrt(2·n1) times their norm; the exponent is a power of two (factor 2), and the sum
    // is formed from 21 leading bits rounded up (2·n1 / 2^20 at most).
    let worst = 2.0 * unit * (2.0 * first).sqrt() * (1.0 + 2.0 * first / f64::from(1 << 20));
    let typical = 1.8 * unit * (first + first.sqrt()) / (n as f64).sqrt();
    (worst, typical)
}

/// What the dropped diagonals of one real product can amount to, in units of the data words:
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

/// One step: matrix rounding, dropped diagonals, the rounding shift, and the rotation where there is one.
///
/// `unit` is the unit of the words entering the step relative to the norm of the step's *output*.
fn step_budget(
    step: &StepRecipe,
    matrices: Option<&StepMatrices>,
    digits: Digits,
    family: Family,
    n: usize,
    unit: (f64, f64),
    rotates: bool,
) -> ErrorBudget {
    let points = n as f64;
    let components = (2.0 * points).sqrt();
    let mut total = ErrorBudget::EXACT;
    let shifted = f64::from(step.shift).exp2();
    let words = |worst: f64, typical: f64| ErrorBudget {
        bound: components * worst * unit.0,
        expected: components * typical * unit.1,
    };
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
            bound: 2.0 * columns * cosine_worst.hypot(sine_worst) * unit.0,
            expected: components * cosine_typical.hypot(sine_typical) * unit.1,
        });
    }
    // Truncated sums are rounded one by one, exact ones after combining two; unit steps round only when shifted.
    let roundings = match (step.fold, family) {
        (Fold::Unit, _) if step.shift == 0 => 0.0,
        (Fold::Unit, Family::Exact) | (_, Family::Exact) => 1.0,
        (_, Family::Truncated) => 2.0,
    };
    total = total.then(words(
        roundings * 0.5 * shifted,
        f64::sqrt(roundings) * UNIFORM * shifted,
    ));
    if rotates {
        let (worst, typical) = (unit.0 * shifted, unit.1 * shifted);
        total = total.then(if digits.data <= SHORT_DIGITS {
            short_rotation(components, worst, typical)
        } else {
            rotation(components, worst, typical)
        });
    }
    total
}

/// A rotation of words below 2^31: their high halves are zero, so that what is left out is the low half of the table's
/// entry, of at most 2^-31 in each part; and half a unit of rounding.
fn short_rotation(components: f64, worst_unit: f64, typical_unit: f64) -> ErrorBudget {
    let table = (-62f64).exp2();
    let low_half = (-31f64).exp2();
    ErrorBudget {
        bound: components * 0.5 * worst_unit + 2f64.sqrt() * low_half + table,
        expected: (components * UNIFORM * typical_unit)
            .hypot(2f64.sqrt() * 2.0 * UNIFORM * low_half),
    }
}

/// A rotation: two low products of at most one unit, half a unit of rounding, and the table's own rounding.
fn rotation(components: f64, worst_unit: f64, typical_unit: f64) -> ErrorBudget {
    let table = (-62f64).exp2();
    let low_products = 2f64.sqrt() / 3.0;
    ErrorBudget {
        bound: components * 2.5 * worst_unit + table,
        expected: components * low_products.hypot(UNIFORM) * typical_unit + 0.3 * table,
    }
}

/// What determines the numerics of a line besides its steps.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) digits: Digits,
    pub(crate) family: Family,
    /// Mantissa in (1/2, 1] of the norm's factor.
    pub(crate) scale: f64,
    pub(crate) tables: &'a Tables,
    /// Where products are formed by residues.
    pub(crate) residues: Option<&'a ResidueEngine>,
}

/// A line's unit relative to its norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LineUnit {
    /// Just this, whether words have room for it or not.
    Exactly(f64),
    /// This, or what words have room for.
    AtBest(f64),
}

/// `floats`: the block begins with the caller's numbers.
fn block_budget(block: &BlockRecipe, setting: Setting<'_>, floats: bool) -> ErrorBudget {
    let Setting { digits, family, .. } = setting;
    let n = block.len();
    let (worst, typical) = line_unit(block.steps[0].n, n, digits.word_bits());
    let adapted = setting.residues.and_then(|engine| engine.relative_unit);
    let (worst, typical) = match adapted {
        Some(LineUnit::Exactly(unit)) if floats => (unit, unit),
        Some(LineUnit::AtBest(unit)) if floats => (worst.max(unit), typical.max(unit)),
        _ => (worst, typical),
    };
    let components = (2.0 * n as f64).sqrt();
    let mut total = ErrorBudget {
        bound: components * 0.5 * worst,
        expected: components * UNIFORM * typical,
    };
    // The unit relative to the norm of the data: shifts make the unit coarser, every step makes the norm √n larger.
    // A scale in the first rotation makes the data, and so the norm, smaller by up to 2.
    let last = block.steps.len() - 1;
    let mut ratio = 1.0;
    for (i, step) in block.steps.iter().enumerate() {
        ratio /= (step.n as f64).sqrt();
        let turned = i == 0 && (last > 0 || step.fold != Fold::Unit || setting.scale != 1.0);
        let unit = (worst * ratio, typical * ratio);
        let matrices = setting.tables.matrices(step, digits);
        let rotates = i < last || turned;
        total = total.then(step_budget(
            step,
            matrices.as_deref(),
            digits,
            family,
            n,
            unit,
            rotates,
        ));
        if matrices.is_some()
            && let Some(engine) = setting.residues
        {
            total = total.then(reconstruction(
                engine,
                step,
                i == 0,
                digits,
                components,
                unit,
            ));
        }
        ratio *= f64::from(step.shift).exp2();
        if i == 0 {
            ratio /= setting.scale;
        }
    }
    total
}

/// What ways of reconstruction that are not exact add: two sums make up a value.
fn reconstruction(
    engine: &ResidueEngine,
    step: &StepRecipe,
    first: bool,
    digits: Digits,
    components: f64,
    unit: (f64, f64),
) -> ErrorBudget {
    // Planning refuses what cannot be built; until then nothing is promised.
    let error = engine.error_bound(step, first, digits);
    let error = error.unwrap_or(f64::INFINITY);
    let words = 2.0 * error / f64::from(digits.product_shift()).exp2();
    ErrorBudget {
        bound: components * words * unit.0,
        // How such errors are distributed is not known; more than the bound they cannot be.
        expected: components * words * unit.1,
    }
}

/// Rounding wide values to words under the line's largest value.
fn narrowing(n: usize, word_bits: u32) -> ErrorBudget {
    let unit = (-f64::from(word_bits)).exp2();
    ErrorBudget {
        bound: (2.0 * n as f64).sqrt() * 0.5 * 2.0 * unit,
        expected: UNIFORM * 2.0 * 4.0 * unit,
    }
}

/// A rotation of words that were just narrowed.
fn narrow_rotation(n: usize, word_bits: u32) -> ErrorBudget {
    let unit = (-f64::from(word_bits)).exp2();
    let components = (2.0 * n as f64).sqrt();
    rotation(components, 2.0 * unit, 8.0 * unit / components)
}

/// The same between passes, where entries are roots of unity.
fn between_passes(n: usize, digits: Digits) -> ErrorBudget {
    let unit = (-f64::from(digits.word_bits())).exp2();
    let components = (2.0 * n as f64).sqrt();
    if digits.data <= SHORT_DIGITS {
        short_rotation(components, 2.0 * unit, 8.0 * unit / components)
    } else {
        narrow_rotation(n, digits.word_bits())
    }
}

fn passes_budget(blocks: &[BlockRecipe], setting: Setting<'_>, floats: bool) -> ErrorBudget {
    let bits = setting.digits.word_bits();
    let mut total = ErrorBudget::EXACT;
    for (i, block) in blocks.iter().enumerate() {
        let scale = if i == 0 { setting.scale } else { 1.0 };
        total = total.then(block_budget(
            block,
            Setting { scale, ..setting },
            floats && i == 0,
        ));
        if i + 1 < blocks.len() {
            // The table entry is itself a rotation of one table by another.
            let table = ErrorBudget {
                bound: 4.0 * (-62f64).exp2(),
                expected: (-62f64).exp2(),
            };
            total = total
                .then(narrowing(block.len(), bits))
                .then(table)
                .then(between_passes(block.len(), setting.digits));
        }
    }
    total
}

/// One line before its final rounding.
pub(crate) fn line_budget(line: &LineRecipe, setting: Setting<'_>) -> ErrorBudget {
    match line {
        LineRecipe::Copy => ErrorBudget::EXACT,
        LineRecipe::Passes(blocks) => passes_budget(blocks, setting, true),
        LineRecipe::Bluestein { n, convolution } => {
            let bits = setting.digits.word_bits();
            let m: usize = convolution.iter().map(BlockRecipe::len).product();
            let line = convolution.last().map_or(1, BlockRecipe::len);
            let one = Setting {
                scale: 1.0,
                ..setting
            };
            let transform = passes_budget(convolution, one, false);
            let product = narrowing(line, bits).then(narrow_rotation(line, bits));
            // Every element is rotated under an exponent of its own, so per point, not per line.
            let chirp = narrow_rotation(1, bits);
            let convolved = chirp.then(transform).then(product).then(transform);
            // An error of the convolution is multiplied by the kernel at most; the result has √n times the input's
            // norm. For random input it spreads over all m points, of which n are kept.
            let amplification = setting.tables.chirp_modulus(*n, m) / (*n as f64).sqrt();
            let grown = ErrorBudget {
                bound: convolved.bound * amplification,
                expected: convolved.expected,
            };
            grown.then(product)
        }
    }
}
