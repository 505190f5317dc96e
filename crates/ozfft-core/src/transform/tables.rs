//! Tables that several plans share, by what determines them, and what all lines of a plan have in common.

use crate::matrix_unit::{PackedMatrix, Unit};
use crate::recipe::{BlockRecipe, Digits, Fold, Products, StepRecipe};
use crate::stages::digits::DigitMatrix;
use crate::stages::residue_products::ResidueEngine;
use crate::stages::step_matrices::{MatrixTables, StepMatrices};
use crate::sync::lock;
use crate::transform::chirp_spectrum::{ChirpSize, ChirpSpectrum};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// Parameters shared by all lines of a plan.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub digits: Digits,
    pub products: Products,
    pub unit: Unit,
    pub tables: &'a Tables,
    /// Where products are formed by residues.
    pub residues: Option<&'a ResidueEngine>,
}

/// Cosine and sine matrix, packed for the unit.
#[derive(Debug)]
pub struct Matrices {
    pub cosine: PackedMatrix,
    pub sine: PackedMatrix,
}

impl Matrices {
    pub(crate) fn new(
        matrices: &StepMatrices,
        pack: impl Fn(&Arc<DigitMatrix>) -> PackedMatrix,
    ) -> Self {
        Matrices {
            cosine: pack(&matrices.cosine),
            sine: pack(&matrices.sine),
        }
    }
}

type PackedKey = (usize, Fold, Digits, Unit);
type ConvolutionKey = (Vec<BlockRecipe>, Digits, Products, Unit);

/// Remembers tables by what determines them.
#[derive(Debug, Default)]
pub struct Tables {
    pub step_matrices: MatrixTables,
    packed: Mutex<HashMap<PackedKey, Arc<Matrices>>>,
    /// Kept by the lines that use them: of many prime lengths, several have a convolution in common.
    convolutions: Mutex<HashMap<ConvolutionKey, Weak<dyn Any + Send + Sync>>>,
    chirp_sizes: Mutex<HashMap<(usize, usize), ChirpSize>>,
    /// The last spectrum that the budget has asked for, until the line that it was for is built: it is large.
    last_spectrum: Mutex<Option<((usize, usize), ChirpSpectrum)>>,
}

impl Tables {
    /// The matrices of a step; none for unit steps, whose entries are 0 and ±1.
    pub(crate) fn matrices(&self, step: &StepRecipe, digits: Digits) -> Option<Arc<StepMatrices>> {
        self.step_matrices.get(step, digits)
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

    /// The cached result of `new` for a convolution, computed if missing.
    pub(crate) fn convolution<P: Any + Send + Sync>(
        &self,
        recipes: &[BlockRecipe],
        setting: Setting<'_>,
        new: impl FnOnce() -> P,
    ) -> Arc<P> {
        if setting.residues.is_some() {
            return Arc::new(new());
        }
        let Setting {
            digits,
            products,
            unit,
            ..
        } = setting;
        let key = (recipes.to_vec(), digits, products, unit);
        let known = lock(&self.convolutions).get(&key).and_then(Weak::upgrade);
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return known;
        }
        let made = Arc::new(new());
        let shared: Arc<dyn Any + Send + Sync> = made.clone();
        lock(&self.convolutions).insert(key, Arc::downgrade(&shared));
        made
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

    /// Releases a spectrum whose line was not built, because planning failed or took another engine.
    pub fn forget_spectrum(&self) {
        *lock(&self.last_spectrum) = None;
    }

    pub fn clear(&self) {
        self.step_matrices.clear();
        lock(&self.packed).clear();
        lock(&self.convolutions).clear();
        lock(&self.chirp_sizes).clear();
        self.forget_spectrum();
    }
}
