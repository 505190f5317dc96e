//! A second count of the error budget: what a plan's bound has to be, from the text of its recipe.
//!
//! Written from `docs/numerics.md`, sections 2 to 6, and not from the code that it referees. It takes what a plan prints (the
//! recipe) and what was asked for (kind, factor of the norm, type of the numbers), and counts every line of section 6:
//!
//! ```text
//! recipe.rs    what a plan prints -> steps, blocks, lines, axes
//! interval.rs  positive numbers between two doubles, rounded outwards
//! matrices.rs  digits of the matrices, and the norm of those whose products are dropped (6.4)
//! chirp.rs     the spectrum of Bluestein's chirp (6.3)
//! budget.rs    blocks, passes, Bluestein, axes (6.2 and 6.3)
//! pairs.rs     the same for pairs of doubles (`docs/beyond-double.md`)
//! ```
//!
//! Where the text leaves room for a better count, as for the norm in 6.4, the better one is taken, so that a bound of the
//! library lies at or above this one, and not far above.
//!
//! ```
//! use ozfft_testkit::oracle::referee::{Factor, Kind, Numbers, Referee, Request};
//! let recipe = "truncated: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: 32t·32f;".parse()?;
//! let request = Request { kind: Kind::Complex, factor: Factor::One, numbers: Numbers::Double };
//! let bound = Referee::new().bound(&recipe, request);
//! assert!(bound.high < 1.6e-15 && bound.high - bound.low < 1e-27);
//! # Ok::<(), ozfft_testkit::oracle::referee::UnknownRecipe>(())
//! ```

mod budget;
mod chirp;
mod interval;
mod matrices;
mod pairs;
mod recipe;

pub use interval::Interval;
pub use pairs::bound_of_pairs;
pub use recipe::{Axis, Digits, Fold, Line, Products, Recipe, Step, UnknownRecipe};

use chirp::ChirpSpectrum;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// What kind of arrays a transform reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Complex numbers to complex numbers.
    Complex,
    /// Real numbers to half of their spectrum.
    RealToComplex,
    /// Half of a spectrum to real numbers.
    ComplexToReal,
}

/// The factor that every axis of `n` points contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    /// 1.
    One,
    /// `1/n`.
    Inverse,
    /// `1/√n`.
    InverseRoot,
}

/// The type of the caller's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

/// What decides a bound besides the recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Real or complex.
    pub kind: Kind,
    /// The factor of every axis.
    pub factor: Factor,
    /// The type of the numbers.
    pub numbers: Numbers,
}

/// Counts bounds, and caches the norms of matrices and the spectra of chirps that it has met.
#[derive(Debug, Default)]
pub struct Referee {
    norms: Mutex<HashMap<matrices::Dropped, Interval>>,
    chirps: Mutex<HashMap<(usize, usize), ChirpSpectrum>>,
}

impl Referee {
    /// A referee with empty caches.
    pub fn new() -> Self {
        Self::default()
    }

    /// The relative L2 error that no input exceeds, by section 6: the exact value of the sum lies in the interval.
    pub fn bound(&self, recipe: &Recipe, request: Request) -> Interval {
        budget::Count::new(self, recipe.digits, recipe.products, request).whole(recipe)
    }

    fn norm_of_dropped(&self, key: matrices::Dropped) -> Interval {
        cached(&self.norms, key, || matrices::norm_of_dropped(key))
    }

    fn chirp_spectrum(&self, length: usize, convolution: usize) -> ChirpSpectrum {
        cached(&self.chirps, (length, convolution), || {
            ChirpSpectrum::new(length, convolution)
        })
    }
}

fn cached<K: Hash + Eq + Copy, V: Copy>(
    known: &Mutex<HashMap<K, V>>,
    key: K,
    compute: impl FnOnce() -> V,
) -> V {
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&value) = lock().get(&key) {
        return value;
    }
    // Not under the lock: another thread may want another one, and computing the same twice does no harm.
    let value = compute();
    lock().insert(key, value);
    value
}
