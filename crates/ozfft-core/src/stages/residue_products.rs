//! The products of a step by residues instead of digits: words -> residues -> sums modulo every modulus -> integers.
//!
//! The integers are those of [`Products::Exact`](crate::recipe::Products), so everything around them stays as it is. How many moduli
//! are needed follows from the head-room of `docs/numerics.md`: see [`largest_sum`].

use crate::error::FftError;
use crate::recipe::{BlockRecipe, Digits, LineRecipe, Recipe, StepRecipe};
use crate::stages::digits::DigitMatrix;
use crate::stages::step_matrices::MatrixTables;
use residues::adaptive::Span;
use residues::bytes::{ByteProducts, Portable};
use residues::products::{ResidueProducts, Unit8};
use residues::reconstruct::{Method, Reconstruction};
use residues::redundant::{Faults, Outcome, Redundant};
use residues::{COLUMNS, I256, Moduli, ResidueError, Residues, U256};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows, and slots, of the largest step.
const MOST_ROWS: usize = 33;

/// Options of `Engine::Residues` beyond the recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ResidueOptions {
    /// The reconstruction method. Methods that are not exact have other bits and a larger bound.
    #[cfg_attr(feature = "serde", serde(with = "method_name"))]
    pub reconstruction: Method,
    /// More moduli than are needed: any `redundancy` bad residues of an output are found, half as many are corrected.
    pub redundancy: usize,
    /// As few moduli as the words at hand need; with an `Accuracy::Target`, as few bits of a line, too.
    pub adaptive: bool,
    /// With `adaptive` and a target: where a line needs more bits than there are, the native engine takes over.
    pub native_fallback: bool,
}

impl Default for ResidueOptions {
    fn default() -> Self {
        ResidueOptions {
            reconstruction: Method::Kulisch32,
            redundancy: 0,
            adaptive: false,
            native_fallback: false,
        }
    }
}

/// Reconstruction methods are saved by their names.
#[cfg(feature = "serde")]
mod method_name {
    use residues::reconstruct::Method;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(method: &Method, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(method)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Method, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Statistics of the residues engine over all calls of a plan. Columns are those of the small matrix products:
/// real and imaginary parts of as many points as a step has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResidueReport {
    /// Columns that were multiplied with so many moduli, as pairs of both, the fewest moduli first.
    pub columns_by_moduli: Vec<(usize, u64)>,
    /// Sums whose redundant residues showed a fault that was corrected.
    pub corrected: u64,
    /// Sums whose redundant residues showed a fault that could not be corrected.
    pub uncorrectable: u64,
    /// Calls that the native engine took over.
    pub native_fallbacks: u64,
}

/// The same while it is being counted.
#[derive(Debug, Default)]
pub struct Counters {
    columns: [AtomicU64; Moduli::MOST + 1],
    corrected: AtomicU64,
    uncorrectable: AtomicU64,
    native_fallbacks: AtomicU64,
}

impl Counters {
    pub fn report(&self) -> ResidueReport {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let columns = self.columns.iter().map(read).enumerate();
        ResidueReport {
            columns_by_moduli: columns.filter(|&(_, count)| count > 0).collect(),
            corrected: read(&self.corrected),
            uncorrectable: read(&self.uncorrectable),
            native_fallbacks: read(&self.native_fallbacks),
        }
    }

    pub fn count_fallback(&self) {
        self.native_fallbacks.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what a GPU has counted.
    pub fn add_sums(&self, corrected: u64, uncorrectable: u64) {
        self.corrected.fetch_add(corrected, Ordering::Relaxed);
        self.uncorrectable
            .fetch_add(uncorrectable, Ordering::Relaxed);
    }

    /// Adds columns that a GPU has multiplied with so many moduli.
    pub fn add_columns(&self, moduli: usize, columns: u64) {
        self.columns[moduli].fetch_add(columns, Ordering::Relaxed);
    }

    pub fn uncorrectable(&self) -> u64 {
        self.uncorrectable.load(Ordering::Relaxed)
    }
}

impl fmt::Display for ResidueReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("columns by moduli:")?;
        for (moduli, columns) in &self.columns_by_moduli {
            write!(f, " {moduli}: {columns};")?;
        }
        write!(
            f,
            " sums corrected {}, not correctable {}; calls left to native {}",
            self.corrected, self.uncorrectable, self.native_fallbacks
        )
    }
}

/// A line's unit relative to its norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LineUnit {
    /// Just this, whether words have room for it or not.
    Exactly(f64),
    /// This, or what words have room for.
    AtBest(f64),
}

/// How a plan multiplies.
#[derive(Debug, Clone)]
pub struct ResidueEngine {
    unit: Unit8,
    substrate: &'static str,
    exact: bool,
    options: ResidueOptions,
    pub counters: Arc<Counters>,
    /// With adaptive bits: the unit of a line's words relative to the line's norm.
    pub relative_unit: Option<LineUnit>,
}

/// Upper bound of the magnitude of a step's sums.
///
/// A first step's columns add up to `2^word_bits` units and half a unit for the rounding of each of `2n` components. Words
/// that enter a later step are below 1.05 times `2^word_bits`, each, because rotations make up for matrices that are
/// scaled by 127/128. Entries are at most [`Digits::matrix_one`]. The four values of [`crate::stages::butterfly::ConjugatePair`] are sums of two
/// products, which are reconstructed one by one.
pub fn largest_sum(step: &StepRecipe, first: bool, digits: Digits) -> U256 {
    let full = U256::ONE << digits.word_bits();
    let n = U256::from(step.n as u64);
    let column = if first {
        full + n
    } else {
        n * (full + (full >> 4))
    };
    column * U256::from(digits.matrix_one())
}

impl ResidueEngine {
    /// The options that a problem asks for, a unit and its name.
    pub fn new(
        options: ResidueOptions,
        (unit, substrate): (Unit8, &'static str),
    ) -> Result<ResidueEngine, FftError> {
        let mut engine = ResidueEngine {
            unit,
            substrate,
            options,
            exact: false,
            counters: Arc::new(Counters::default()),
            relative_unit: None,
        };
        // Some choices are exact for few moduli only.
        let all = Moduli::first(engine.unit.set(), Moduli::MOST)?;
        engine.exact = engine
            .build_reconstruction(&all)
            .is_ok_and(|built| built.is_exact());
        Ok(engine)
    }

    /// The name of the unit that multiplies.
    pub fn substrate(&self) -> &'static str {
        self.substrate
    }

    pub(crate) fn relative_unit(&self) -> Option<LineUnit> {
        self.relative_unit
    }

    pub fn unit_of_lines(&self) -> Option<f64> {
        match self.relative_unit? {
            LineUnit::Exactly(unit) | LineUnit::AtBest(unit) => Some(unit),
        }
    }

    /// Builds everything that the steps of a recipe need, and describes it.
    pub fn check(&self, recipe: &Recipe, tables: &MatrixTables) -> Result<String, ResidueError> {
        let mut counts = Vec::new();
        for axis in &recipe.axes {
            let blocks: &[BlockRecipe] = match &axis.line {
                LineRecipe::Copy => &[],
                LineRecipe::Passes(blocks) => blocks,
                LineRecipe::Bluestein { convolution, .. } => convolution,
            };
            for block in blocks {
                for (number, step) in block.steps.iter().enumerate() {
                    let Some(matrices) = tables.get(step, recipe.digits) else {
                        continue;
                    };
                    let bound = largest_sum(step, number == 0, recipe.digits);
                    for matrix in [&matrices.cosine, &matrices.sine] {
                        let matrix = ResidueMatrix::new(self, matrix, recipe.digits, bound)?;
                        counts.push(matrix.products.moduli());
                    }
                }
            }
        }
        Ok(self.describe(counts))
    }

    /// The moduli for sums up to `bound`.
    fn moduli(&self, bound: U256) -> Result<Moduli, ResidueError> {
        Moduli::holding(self.unit.set(), bound)
    }

    /// Largest error of a reconstructed sum of the step, in units of the integer.
    pub(crate) fn error_bound(
        &self,
        step: &StepRecipe,
        first: bool,
        digits: Digits,
    ) -> Result<f64, ResidueError> {
        if self.exact {
            return Ok(0.0);
        }
        let moduli = self.moduli(largest_sum(step, first, digits))?;
        Ok(self.build_reconstruction(&moduli)?.error_bound())
    }

    /// The unit that multiplies bytes in a reconstruction; products in E4M3 are simulated there as they are here.
    fn bytes(&self) -> Arc<dyn ByteProducts> {
        match &self.unit {
            Unit8::Int8(unit) => Arc::clone(unit),
            Unit8::Fp8(_) => Arc::new(Portable),
        }
    }

    fn build_reconstruction(
        &self,
        moduli: &Moduli,
    ) -> Result<Box<dyn Reconstruction>, ResidueError> {
        self.options.reconstruction.build(moduli, self.bytes())
    }

    /// How many moduli the steps have, and the method of reconstruction, in words.
    fn describe(&self, mut counts: Vec<usize>) -> String {
        counts.sort_unstable();
        counts.dedup();
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        let mut text = format!("{} {} moduli", counts.join(" or "), self.unit.set());
        if self.options.adaptive {
            text = format!("up to {text}");
        }
        if self.options.redundancy > 0 {
            text.push_str(&format!(", {} of them redundant", self.options.redundancy));
        }
        text.push_str(&format!(
            ", put together by {}",
            self.options.reconstruction
        ));
        text
    }
}

/// A matrix modulo every modulus, and the choices back to integers.
#[derive(Debug)]
pub(crate) struct ResidueMatrix {
    products: ResidueProducts,
    back: Back,
    bytes: Arc<dyn ByteProducts>,
    largest_entry: u64,
    /// Upper bound of sums.
    bound: U256,
    counters: Arc<Counters>,
}

/// How residues become integers.
#[derive(Debug)]
enum Back {
    /// From all moduli, or from as few as the data need: by the number of moduli, fewest first.
    Choices {
        choices: Vec<Choice>,
        adaptive: bool,
    },
    /// From redundant moduli, whose agreement is checked.
    Redundant(Redundant),
}

#[derive(Debug)]
struct Choice {
    moduli: usize,
    largest: U256,
    reconstruction: Box<dyn Reconstruction>,
}

impl ResidueMatrix {
    pub(crate) fn new(
        engine: &ResidueEngine,
        matrix: &DigitMatrix,
        digits: Digits,
        bound: U256,
    ) -> Result<ResidueMatrix, ResidueError> {
        let options = engine.options;
        let set = engine.unit.set();
        let (moduli, back) = if options.redundancy > 0 {
            let (method, bytes) = (options.reconstruction, engine.bytes());
            let system = Redundant::new(set, bound, options.redundancy, method, bytes)?;
            (system.moduli().clone(), Back::Redundant(system))
        } else {
            let moduli = engine.moduli(bound)?;
            let fewest = if options.adaptive { 2 } else { moduli.len() };
            let choices = (fewest.min(moduli.len())..=moduli.len())
                .map(|count| {
                    let few = Moduli::first(set, count)?;
                    Ok(Choice {
                        moduli: count,
                        largest: few.largest(),
                        reconstruction: engine.build_reconstruction(&few)?,
                    })
                })
                .collect::<Result<_, ResidueError>>()?;
            let adaptive = options.adaptive;
            (moduli, Back::Choices { choices, adaptive })
        };
        let entries: Vec<i64> = (0..matrix.rows)
            .flat_map(|row| (0..matrix.slots).map(move |slot| matrix.entry(row, slot, digits)))
            .collect();
        let products = ResidueProducts::new(
            &moduli,
            matrix.rows,
            matrix.slots,
            &entries,
            engine.unit.clone(),
        )?;
        Ok(ResidueMatrix {
            products,
            back,
            bytes: engine.bytes(),
            largest_entry: digits.matrix_one(),
            bound,
            counters: Arc::clone(&engine.counters),
        })
    }

    /// The exact product with `columns` columns of words, row by row.
    pub(crate) fn multiply(
        &self,
        words: &mut [[i64; COLUMNS]],
        columns: usize,
        mut take: impl FnMut(usize, &[I256; COLUMNS]),
    ) {
        self.bytes
            .kept_ready(&mut || self.multiply_ready(words, columns, &mut take));
    }

    fn multiply_ready(
        &self,
        words: &mut [[i64; COLUMNS]],
        columns: usize,
        take: &mut impl FnMut(usize, &[I256; COLUMNS]),
    ) {
        debug_assert!(
            Span::of(words).bound(self.largest_entry) << Span::of(words).zeros <= self.bound,
            "head-room: a column adds up to more than its moduli are chosen for"
        );
        let mut integers = [I256::ZERO; COLUMNS];
        match &self.back {
            Back::Choices { choices, adaptive } => {
                let (choice, zeros) = self.choice_for(choices, *adaptive, words);
                self.form(words, columns, choice.moduli, |row, residues| {
                    choice.reconstruction.reconstruct(residues, &mut integers);
                    if zeros > 0 {
                        integers = integers.map(|x| x << zeros);
                    }
                    take(row, &integers);
                });
            }
            Back::Redundant(system) => {
                let mut faults = Faults::default();
                self.form(words, columns, system.moduli().len(), |row, residues| {
                    let outcomes = system.check(residues, &mut integers, &mut faults);
                    for (integer, outcome) in integers.iter_mut().zip(outcomes) {
                        // What is left of it may be of any size; the call ends in an error.
                        if outcome == Outcome::Uncorrectable {
                            *integer = I256::ZERO;
                        }
                    }
                    take(row, &integers);
                });
                let Counters {
                    corrected,
                    uncorrectable,
                    ..
                } = &*self.counters;
                corrected.fetch_add(faults.corrected, Ordering::Relaxed);
                uncorrectable.fetch_add(faults.uncorrectable, Ordering::Relaxed);
            }
        }
    }

    /// The choice of moduli for the words, and the number of common trailing zeros removed.
    fn choice_for<'a>(
        &self,
        choices: &'a [Choice],
        adaptive: bool,
        words: &mut [[i64; COLUMNS]],
    ) -> (&'a Choice, u32) {
        let full = &choices[choices.len() - 1];
        if !adaptive {
            return (full, 0);
        }
        let span = Span::of(words);
        let bound = span.bound(self.largest_entry);
        for word in words.as_flattened_mut() {
            *word >>= span.zeros;
        }
        let enough = choices.iter().find(|choice| bound <= choice.largest);
        (enough.unwrap_or(full), span.zeros)
    }

    /// Residues of the products for the first `moduli` moduli, row by row.
    fn form(
        &self,
        words: &[[i64; COLUMNS]],
        columns: usize,
        moduli: usize,
        mut take: impl FnMut(usize, &[Residues]),
    ) {
        let counter = &self.counters.columns[moduli];
        counter.fetch_add(columns as u64, Ordering::Relaxed);
        let mut memory = [[0; COLUMNS]; MOST_ROWS * Moduli::MOST];
        let residues = &mut memory[..self.products.rows() * moduli];
        self.products.multiply(words, residues);
        for (row, residues) in residues.chunks_exact(moduli).enumerate() {
            take(row, residues);
        }
    }
}
