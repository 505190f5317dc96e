//! Tables that several plans share: the small DFT matrices in digits, and what the error budget needs to know of them.

use crate::bailey::Setting;
use crate::chirp_spectrum::{ChirpSize, ChirpSpectrum};
use crate::digits::DigitMatrix;
use crate::matrix_unit::{PackedMatrix, Unit};
use crate::passes::Passes;
use crate::problem::Family;
use crate::recipe::{BlockRecipe, Digits, Fold, StepRecipe};
use crate::roots::{self, Fixed};
use crate::step::Matrices;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

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
pub(crate) fn slots(step: &StepRecipe) -> (usize, usize) {
    let n = step.n;
    match step.fold {
        Fold::Unit | Fold::Plain => (n / 2 + 1, (n - 1) / 2),
        Fold::TimeShifted | Fold::FrequencyShifted => (n / 2, n / 2),
    }
}

/// The angles of the cosine and the sine matrix, row by row, in units of half an n-th of a turn.
pub(crate) fn angles(step: &StepRecipe) -> (Vec<u64>, Vec<u64>) {
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
        Fold::Unit | Fold::Plain => (
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

type PackedKey = (usize, Fold, Digits, Unit);
type ConvolutionKey = (Vec<BlockRecipe>, Digits, Family, Unit);

/// Remembers tables by what determines them.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    matrices: Mutex<HashMap<(usize, Fold, u32), Arc<StepMatrices>>>,
    packed: Mutex<HashMap<PackedKey, Arc<Matrices>>>,
    /// Kept by the lines that use them: of many prime lengths, several have a convolution in common.
    convolutions: Mutex<HashMap<ConvolutionKey, Weak<Passes>>>,
    chirp_sizes: Mutex<HashMap<(usize, usize), ChirpSize>>,
    /// The last spectrum that the budget has asked for, until the line that it was for is built: it is large.
    last_spectrum: Mutex<Option<((usize, usize), ChirpSpectrum)>>,
}

/// A poisoned lock means that another thread panicked while planning; what the map holds is complete all the same.
pub(crate) fn lock<V>(mutex: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tables {
    /// The matrices of a step; none for unit steps, whose entries are 0 and ±1.
    pub(crate) fn matrices(&self, step: &StepRecipe, digits: Digits) -> Option<Arc<StepMatrices>> {
        if step.fold == Fold::Unit {
            return None;
        }
        let key = (step.n, step.fold, digits.matrix);
        if let Some(matrices) = lock(&self.matrices).get(&key) {
            return Some(Arc::clone(matrices));
        }
        let matrices = Arc::new(StepMatrices::new(step, digits));
        lock(&self.matrices).insert(key, Arc::clone(&matrices));
        Some(matrices)
    }

    /// The same in the form that a unit multiplies by.
    pub(crate) fn packed(
        &self,
        step: &StepRecipe,
        digits: Digits,
        unit: Unit,
    ) -> Option<Arc<Matrices>> {
        let matrices = self.matrices(step, digits)?;
        let key = (step.n, step.fold, digits, unit);
        if let Some(packed) = lock(&self.packed).get(&key) {
            return Some(Arc::clone(packed));
        }
        let pack = |matrix: &Arc<DigitMatrix>| PackedMatrix::new(unit, matrix, digits);
        let packed = Arc::new(Matrices::new(&matrices, pack));
        lock(&self.packed).insert(key, Arc::clone(&packed));
        Some(packed)
    }

    /// The passes of a convolution.
    pub(crate) fn convolution(&self, recipes: &[BlockRecipe], setting: Setting<'_>) -> Arc<Passes> {
        let new = || Arc::new(Passes::new(recipes, &Fixed::one(), 0, setting));
        if setting.residues.is_some() {
            return new();
        }
        let Setting {
            digits,
            family,
            unit,
            ..
        } = setting;
        let key = (recipes.to_vec(), digits, family, unit);
        let known = lock(&self.convolutions).get(&key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let passes = new();
            lock(&self.convolutions).insert(key, Arc::downgrade(&passes));
            passes
        })
    }

    /// How large the spectrum of the chirp of `n` points is in a convolution of `m`.
    pub(crate) fn chirp_size(&self, n: usize, m: usize) -> ChirpSize {
        if let Some(&size) = lock(&self.chirp_sizes).get(&(n, m)) {
            return size;
        }
        let spectrum = ChirpSpectrum::new(n, m);
        let size = spectrum.size();
        lock(&self.chirp_sizes).insert((n, m), size);
        *lock(&self.last_spectrum) = Some(((n, m), spectrum));
        size
    }

    /// That spectrum, which is not kept.
    pub(crate) fn chirp_spectrum(&self, n: usize, m: usize) -> ChirpSpectrum {
        let last = lock(&self.last_spectrum).take_if(|(key, _)| *key == (n, m));
        last.map_or_else(|| ChirpSpectrum::new(n, m), |(_, spectrum)| spectrum)
    }

    /// Gives back a spectrum whose line was not built, because planning failed or took another engine.
    pub(crate) fn forget_spectrum(&self) {
        *lock(&self.last_spectrum) = None;
    }

    pub(crate) fn clear(&self) {
        lock(&self.matrices).clear();
        lock(&self.packed).clear();
        lock(&self.convolutions).clear();
        lock(&self.chirp_sizes).clear();
        self.forget_spectrum();
    }
}
