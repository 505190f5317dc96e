//! Contribution of every rounding to the relative L2 error, and proof that no word overflows.
//!
//! **Head-room.** Components of a line are below 2^125 units, points below 2^125.5 in modulus. A step of `n` points makes
//! moduli at most `n` times larger and is shifted down by `⌈log2 n⌉` bits; rotations do not enlarge; so both hold after
//! every step, up to rounding errors of some dozen units. Folding two points stays below 2^126.6, and sixteen balanced
//! digits hold `127/255·2^128 > 2^126.99`.
//!
//! **The unit** is at most 2^-124 of the norm of a line, as its largest component has at least 2^124 units. A step makes the
//! unit `2^⌈log2 n⌉` times and the norm `√n` times larger.
//!
//! **Errors**, in units of the words after the step, for each component:
//! - dropped diagonals: matrix digit `i` misses the last `i` data digits, `128/255·256^i` at most; with `|digit| <= 128` the
//!   digits `1..=15` of a slot leave out `15·128·(128/255)·2^120`, 15.06 units of a word. A component is made of two sums
//!   with `n` slots in all, then shifted: `15.06·n/2^⌈log2 n⌉`;
//! - the shift: 1/2; a rotation: 12.6 (`rotate.rs`); bringing a number under the exponent: 1.
//!
//! Matrix entries are off by half of 2^-126, which is `√n·2^-126` of the norm at most; table entries by half of 2^-127, and
//! products of two by 2^-121. The result is rounded to a grid of 64 units, and to 2^-106 of every component.

use super::outputs::GRID;
use super::rotate::ROTATION_ERROR;
use crate::recipe::{BlockRecipe, Fold, LineRecipe};

pub use crate::transform::budget::ErrorBudget;

/// The error of dropped diagonals in a sum per element of the k-extent, in units of a word.
const DROPPED: f64 = 15.06;
/// The same as root mean square for random digits: 73.9² / 2^14 of what the largest digits leave out, over √15 digits.
const DROPPED_TYPICAL: f64 = 1.3;
/// Unit of a line over its norm, at most: a power of two.
const UNIT: i32 = -124;
/// Root mean square of what a rotation is off by.
const ROTATION_TYPICAL: f64 = 4.0;
/// Rounding to a double-double number.
const PAIR: f64 = 1.232_595_164_407_831e-32; // 2^-106

fn power(exponent: i32) -> f64 {
    f64::from(exponent).exp2()
}

/// Errors of a block, and the unit of its outputs relative to their norm; at worst and for random data.
fn block(recipe: &BlockRecipe, scale: f64) -> (ErrorBudget, (f64, f64)) {
    let n = recipe.len() as f64;
    let components = (2.0 * n).sqrt();
    let words = |worst: f64, typical: f64, unit: (f64, f64)| ErrorBudget {
        bound: components * worst * unit.0,
        expected: components * typical * unit.1,
    };
    // Random numbers are all about as large as the largest.
    let mut unit = (power(UNIT), 4.0 * power(UNIT) / components);
    let mut total = words(1.0, 0.41, unit);
    let last = recipe.steps.len() - 1;
    for (i, step) in recipe.steps.iter().enumerate() {
        let points = step.n as f64;
        let growth = step.n.next_power_of_two() as f64;
        let ratio = growth / points.sqrt();
        unit = (unit.0 * ratio, unit.1 * ratio);
        if step.fold != Fold::Trivial {
            total = total.then(ErrorBudget {
                bound: points.sqrt() * power(-126),
                expected: power(-126),
            });
            let typical = DROPPED_TYPICAL * points.sqrt() / growth;
            total = total.then(words(DROPPED * points / growth, typical, unit));
        }
        total = total.then(words(0.5, 0.29, unit));
        if i < last || step.fold == Fold::TimeShifted || (i == 0 && scale != 1.0) {
            if i == 0 {
                unit = (unit.0 / scale, unit.1 / scale);
            }
            total = total.then(words(ROTATION_ERROR, ROTATION_TYPICAL, unit));
            total = total.then(ErrorBudget {
                bound: power(-126),
                expected: power(-127),
            });
        }
    }
    (total, unit)
}

/// All passes of a line, and the unit of the last one's outputs.
fn passes(blocks: &[BlockRecipe], scale: f64) -> (ErrorBudget, (f64, f64)) {
    let mut total = ErrorBudget::EXACT;
    let mut unit = (0.0, 0.0);
    for (i, recipe) in blocks.iter().enumerate() {
        let (budget, after) = block(recipe, if i == 0 { scale } else { 1.0 });
        total = total.then(budget);
        unit = after;
        if i + 1 < blocks.len() {
            let components = (2.0 * recipe.len() as f64).sqrt();
            total = total.then(ErrorBudget {
                bound: components * ROTATION_ERROR * unit.0 + power(-121),
                expected: components * ROTATION_TYPICAL * unit.1 + power(-123),
            });
        }
    }
    (total, unit)
}

/// Largest error, in modulus, of any output of the passes, for inputs of modulus at most 1 and exponent -125.
fn largest_error(blocks: &[BlockRecipe]) -> f64 {
    let root = 2f64.sqrt();
    // Absolute error of a point, and the largest modulus.
    let (mut error, mut modulus) = (power(-125), 1.0);
    for (i, recipe) in blocks.iter().enumerate() {
        // The largest component has at least 124 bits.
        let mut unit = 2.0 * modulus * power(-125);
        error += root * unit;
        for step in &recipe.steps {
            let (points, growth) = (step.n as f64, step.n.next_power_of_two() as f64);
            unit *= growth;
            // Matrix entries are off by half of 2^-126 in both parts; n of them add up.
            error = points * (error + modulus * power(-126))
                + root * (DROPPED * points / growth + 0.5) * unit;
            modulus *= points;
            error += root * ROTATION_ERROR * unit + modulus * power(-126);
        }
        if i + 1 < blocks.len() {
            error += root * ROTATION_ERROR * unit + modulus * power(-121);
        }
    }
    error
}

/// The rounding of the result to double-double numbers.
const RESULT: ErrorBudget = ErrorBudget {
    bound: PAIR,
    // Low parts are anywhere below half a unit of the high ones.
    expected: 0.16 * PAIR,
};

/// The largest relative loss of double-double numbers between two axes whose low parts are subnormal there: the scale between axes keeps it below this.
pub(super) const BETWEEN_AXES: ErrorBudget = ErrorBudget {
    bound: 2.938_735_877_055_719e-39, // 2^-128
    expected: 0.0,
};

/// One line with the rounding of its result, from real numbers to a half-spectrum where `real`. That is measured as it is
/// stored, while the bound of the line is relative to the whole spectrum (numerics.md, section 6.3).
pub(super) fn result(recipe: &LineRecipe, line: ErrorBudget, real: bool) -> ErrorBudget {
    if matches!(recipe, LineRecipe::Copy) {
        return line;
    }
    let stored = if real { 2f64.sqrt() } else { 1.0 };
    let line = ErrorBudget {
        bound: line.bound * stored * (1.0 + 1e-12),
        ..line
    };
    line.then(RESULT)
}

/// One line before the rounding of the result. `largest` is the largest modulus of Bluestein's kernel.
pub(super) fn line(recipe: &LineRecipe, scale: f64, largest: f64) -> ErrorBudget {
    let grid = |n: usize, unit: (f64, f64)| ErrorBudget {
        bound: (2.0 * n as f64).sqrt() * GRID as f64 / 2.0 * unit.0,
        expected: (2.0 * n as f64).sqrt() * 0.29 * GRID as f64 * unit.1,
    };
    match recipe {
        LineRecipe::Copy => ErrorBudget::EXACT,
        LineRecipe::Passes(blocks) => {
            let (total, unit) = passes(blocks, scale);
            let last = blocks.last().map_or(1, BlockRecipe::len);
            total.then(grid(last, unit))
        }
        LineRecipe::Bluestein { n, convolution } => {
            let (transform, unit) = passes(convolution, 1.0);
            let last = convolution.last().map_or(1, BlockRecipe::len);
            let n = *n as f64;
            let amplification = (largest / n.sqrt()).max(1.0);
            // A rotation of a number under an exponent of its own.
            let rotated = ErrorBudget {
                bound: (2f64.sqrt() * (ROTATION_ERROR + 1.0)) * power(UNIT) + power(-126),
                expected: 2f64.sqrt() * ROTATION_TYPICAL * power(UNIT),
            };
            // Kernel entries have units of 2^-126 of a power of two that is at most twice the largest, and carry factors of
            // the norm and of the convolution's length, 1/4 at least.
            let smallest = 0.25;
            let entries = largest_error(convolution)
                + 2f64.sqrt() * 14.0 * power(-126) * 2.0 * largest / smallest;
            let components = (2.0 * last as f64).sqrt();
            let kernel = ErrorBudget {
                bound: entries / n.sqrt()
                    + components * ROTATION_ERROR * unit.0 * 2.0 * amplification / smallest,
                expected: power(-120) + components * ROTATION_TYPICAL * unit.1 * 4.0,
            };
            let amplified = |budget: ErrorBudget| ErrorBudget {
                bound: amplification * budget.bound,
                expected: 1.5 * budget.expected,
            };
            // Every output is converted under the exponent of the last pass's line.
            let grid = amplified(grid(last, unit));
            let last_turn = amplified(ErrorBudget {
                bound: components * ROTATION_ERROR * unit.0,
                expected: components * ROTATION_TYPICAL * unit.1,
            });
            rotated
                .then(amplified(transform))
                .then(kernel)
                .then(amplified(transform))
                .then(last_turn)
                .then(grid)
        }
    }
}
