//! The small DFT matrices in digits, which plans share.

use crate::recipe::{Digits, Fold, StepRecipe};
use crate::roots;
use crate::stages::digits::DigitMatrix;
use crate::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Cosine and sine matrix of a step.
#[derive(Debug)]
pub(crate) struct StepMatrices {
    pub(crate) cosine: Arc<DigitMatrix>,
    pub(crate) sine: Arc<DigitMatrix>,
}

impl StepMatrices {
    fn new(step: &StepRecipe, digits: Digits) -> Self {
        let (cosine_slots, sine_slots) = slots(step);
        let (cosine_angles, sine_angles) = angles(step);
        let period = 2 * step.n as u64;
        let one = digits.matrix_one();
        let values: Vec<(i64, i64)> = (0..period)
            .map(|p| {
                let (cosine, sine) = roots::cosine_sine(p, period);
                (cosine.round_scaled(one), sine.round_scaled(one))
            })
            .collect();
        let entries = |angles: &[u64], part: fn((i64, i64)) -> i64| -> Vec<i64> {
            let values = |&p: &u64| part(values[(p % period) as usize]);
            angles.iter().map(values).collect()
        };
        let matrix =
            |slots, entries: &[i64]| Arc::new(DigitMatrix::new(slots, slots, entries, digits));
        StepMatrices {
            cosine: matrix(cosine_slots, &entries(&cosine_angles, |(c, _)| c)),
            sine: matrix(sine_slots, &entries(&sine_angles, |(_, s)| s)),
        }
    }
}

/// Number of inputs, and of outputs, of the cosine and of the sine product.
pub fn slots(step: &StepRecipe) -> (usize, usize) {
    let n = step.n;
    match step.fold {
        Fold::Trivial | Fold::Plain => (n / 2 + 1, (n - 1) / 2),
        Fold::TimeShifted | Fold::FrequencyShifted => (n / 2, n / 2),
    }
}

/// The angles of the cosine and the sine matrix, row by row, in units of half an n-th of a turn.
pub fn angles(step: &StepRecipe) -> (Vec<u64>, Vec<u64>) {
    let (cosine_slots, sine_slots) = slots(step);
    let table = |slots: usize, angle: &dyn Fn(usize, usize) -> usize| {
        (0..slots)
            .flat_map(|row| (0..slots).map(move |slot| (slot, row)))
            .map(|(slot, row)| angle(slot, row) as u64)
            .collect::<Vec<u64>>()
    };
    let half = step.n / 2;
    // Time-shifted sines have k = n/2 in row 0, frequency-shifted ones have j = n/2 in slot 0.
    let or_half = |index: usize| if index == 0 { half } else { index };
    match step.fold {
        Fold::Trivial | Fold::Plain => (
            table(cosine_slots, &|j, k| 2 * j * k),
            table(sine_slots, &|j, k| 2 * (j + 1) * (k + 1)),
        ),
        Fold::TimeShifted => (
            table(half, &|j, k| (2 * j + 1) * k),
            table(half, &|j, k| (2 * j + 1) * or_half(k)),
        ),
        Fold::FrequencyShifted => (
            table(half, &|j, k| j * (2 * k + 1)),
            table(half, &|j, k| or_half(j) * (2 * k + 1)),
        ),
    }
}

/// Remembers matrices by what determines them.
#[derive(Debug, Default)]
pub struct MatrixTables(Mutex<HashMap<(usize, Fold, u32), Arc<StepMatrices>>>);

impl MatrixTables {
    /// The matrices of a step; none for unit steps, whose entries are 0 and ±1.
    pub(crate) fn get(&self, step: &StepRecipe, digits: Digits) -> Option<Arc<StepMatrices>> {
        if step.fold == Fold::Trivial {
            return None;
        }
        let key = (step.n, step.fold, digits.matrix);
        if let Some(matrices) = lock(&self.0).get(&key) {
            return Some(Arc::clone(matrices));
        }
        let matrices = Arc::new(StepMatrices::new(step, digits));
        lock(&self.0).insert(key, Arc::clone(&matrices));
        Some(matrices)
    }

    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }
}
