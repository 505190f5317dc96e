//! The experiment: matrices of doubles, multiplied by residues, reconstructed by every method, against the exact product.

use super::matrices::{Errors, Matrices, operand_bits, product_of};
use super::prototype::{Column, Prototype};
use super::substrate::{Substrate, primes_downwards};
use super::words::{self, Words};
use residues::bytes::Portable;
use residues::fp8::{Accumulator, Fp8Unit};
use residues::products::{MOST_DEPTH, ResidueProducts, Unit8};
use residues::reconstruct::{
    Fp8Bands, Layout, MOST_SLICES, Method, Operations, PhaseB, Pipe, Reconstruction,
};
use residues::{COLUMNS, I256, Moduli, ResidueError, Residues, Set};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest size of the matrices.
pub const MOST_SIZE: usize = MOST_DEPTH;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Rows, depth and columns of the product.
    pub size: usize,
    /// Time that each method is given.
    pub seconds: Duration,
}

/// One method, on one substrate, with so many moduli.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    pub substrate: Substrate,
    pub r: usize,
    pub method: String,
    /// The hardware that the sum falls on.
    pub pipe: String,
    /// Logarithm of the product of the moduli.
    pub modulus_bits: f64,
    /// Bits of the operands.
    pub operand_bits: u32,
    /// Whether every integer was the right one.
    pub exact: bool,
    /// Whether it is proven that every integer is.
    pub proven_exact: bool,
    /// Largest relative error of an output in double precision, quantisation included.
    pub result_error: f64,
    /// Largest error of an output over the root mean square of all outputs, quantisation included.
    pub result_error_to_typical: f64,
    /// Largest error of an integer relative to it.
    pub error: f64,
    /// Largest error of an integer over the product of the moduli.
    pub error_to_modulus: f64,
    /// What is proven of it.
    pub bound_to_modulus: f64,
    /// `-log2` of the largest error of an integer over the largest integer; none where it is exact.
    pub bits: Option<f64>,
    /// Counted for one output.
    pub operations: Counts,
    /// Slices of the weights; none where there are none.
    pub slices: Option<usize>,
    /// Bits of the largest sum of a slice.
    pub slice_sum_bits: Option<f64>,
    /// What the paper's formula says: ⌈7r/8⌉.
    pub paper_slices: usize,
    /// Bits that sums of slices need.
    pub accumulator_bits: Option<u32>,
    /// Median time for one output on one core, phase A on portable code; and the shortest, which a busy machine disturbs least.
    pub nanoseconds: f64,
    pub least_nanoseconds: f64,
    pub runs: usize,
}

/// [`Operations`], for records.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Counts {
    pub int8_products: f64,
    pub fp8_products: f64,
    pub reduction: f64,
    pub integer: f64,
    pub double: f64,
    pub single: f64,
}

impl Counts {
    /// All but products on a matrix unit.
    pub fn words(&self) -> f64 {
        self.reduction + self.sum()
    }

    /// The sum alone.
    pub fn sum(&self) -> f64 {
        self.integer + self.double + self.single
    }

    /// Products on the matrix unit.
    pub fn products(&self) -> f64 {
        self.int8_products + self.fp8_products
    }
}

impl From<Operations> for Counts {
    fn from(counted: Operations) -> Counts {
        Counts {
            int8_products: counted.int8_products,
            fp8_products: counted.fp8_products,
            reduction: counted.reduction,
            integer: counted.integer,
            double: counted.double,
            single: counted.single,
        }
    }
}

/// A method that does not exist there, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Missing {
    pub substrate: Substrate,
    pub r: usize,
    pub method: String,
    pub reason: String,
}

/// The product as residues, and what they stand for.
struct Panels {
    /// `r` rows for every panel.
    residues: Vec<Residues>,
    /// What the integers of each panel are; columns beyond the matrix are zero.
    integers: Vec<[I256; COLUMNS]>,
    /// The output that a panel's first column is, and how many of its columns are outputs.
    places: Vec<(usize, usize)>,
    largest: I256,
}

impl Panels {
    fn of(
        matrices: &Matrices,
        bits: u32,
        moduli: &Moduli,
        unit: Unit8,
    ) -> Result<Panels, ResidueError> {
        let size = matrices.size;
        let (left, right) = matrices.integers(bits);
        let truth = product_of(size, &left, &right);
        let products = ResidueProducts::new(moduli, size, size, &left, unit)?;
        let r = moduli.len();
        let mut panels = Panels {
            residues: Vec::new(),
            integers: Vec::new(),
            places: Vec::new(),
            largest: I256::ONE,
        };
        for first in (0..size).step_by(COLUMNS) {
            let columns = COLUMNS.min(size - first);
            let mut words = vec![[0i64; COLUMNS]; size];
            for (row, from) in words.iter_mut().zip(right.chunks_exact(size)) {
                row[..columns].copy_from_slice(&from[first..first + columns]);
            }
            let mut residues = vec![[0i16; COLUMNS]; size * r];
            products.multiply(&words, &mut residues);
            panels.residues.extend(residues);
            for row in 0..size {
                let place = row * size + first;
                let mut exact = [I256::ZERO; COLUMNS];
                exact[..columns].copy_from_slice(&truth[place..place + columns]);
                panels.integers.push(exact);
                panels.places.push((place, columns));
            }
        }
        let largest = truth.iter().map(|integer| integer.abs()).max();
        panels.largest = largest.unwrap_or(I256::ONE).max(I256::ONE);
        Ok(panels)
    }
}

fn pipe_name(pipe: Pipe) -> String {
    match pipe {
        Pipe::Integer(bits) => format!("integers of {bits} bits"),
        Pipe::Double => "doubles".into(),
        Pipe::Single => "floats".into(),
        Pipe::Fp8Matrix => "fp8 matrix unit".into(),
    }
}

/// Median and shortest time of one output in nanoseconds, and from how many passes over all panels.
fn time(
    reconstruction: &dyn Reconstruction,
    panels: &Panels,
    r: usize,
    time: Duration,
) -> (f64, f64, usize) {
    let outputs = (panels.integers.len() * COLUMNS) as f64;
    let mut to = [I256::ZERO; COLUMNS];
    let mut passes = Vec::new();
    let start = Instant::now();
    loop {
        let pass = Instant::now();
        for residues in panels.residues.chunks_exact(r) {
            reconstruction.reconstruct(std::hint::black_box(residues), &mut to);
            std::hint::black_box(&mut to);
        }
        passes.push(pass.elapsed().as_secs_f64() * 1e9 / outputs);
        if start.elapsed() >= time {
            break;
        }
    }
    passes.sort_by(f64::total_cmp);
    (passes[passes.len() / 2], passes[0], passes.len())
}

/// Everything with so many moduli on one substrate.
#[derive(Debug, Default)]
pub struct Outcome {
    pub measurements: Vec<Measurement>,
    pub missing: Vec<Missing>,
    /// The columns of the paper's table, done as its text describes.
    pub prototype: Vec<PrototypeError>,
    pub words: Vec<Words>,
    pub bands: Vec<Bands>,
}

/// Phase B as a product in E4M3, by an accumulator's model.
#[derive(Debug, Clone, Serialize)]
pub struct Bands {
    pub substrate: Substrate,
    pub r: usize,
    pub accumulator: String,
    /// Columns of the product: positions whose sums one accumulator holds.
    pub bands: usize,
    /// Products of E4M3 numbers for one output in phase B, every band by itself.
    pub fp8_products: f64,
    /// The same with all bands in one matrix, as the paper has it.
    pub fp8_products_of_one_matrix: f64,
    /// Products for one output in phase A.
    pub phase_a_products: f64,
    /// Operations on integers for one output in phase B.
    pub integer_operations: f64,
}

/// The error of a column of the paper's table.
#[derive(Debug, Clone, Serialize)]
pub struct PrototypeError {
    pub r: usize,
    pub modulus_bits: f64,
    pub operand_bits: u32,
    pub column: &'static str,
    /// Largest error relative to its output, of the run in the middle.
    pub result_error: f64,
    /// Largest error over the root mean square of all outputs: the median of several runs, the least and the most.
    pub result_error_to_typical: f64,
    pub least: f64,
    pub most: f64,
}

impl Experiment {
    /// Measures all of these methods.
    pub fn run(
        &self,
        matrices: &Matrices,
        substrate: Substrate,
        moduli: &Moduli,
        methods: &[Method],
    ) -> Result<Outcome, Failed> {
        let r = moduli.len();
        let bits = operand_bits(moduli, self.size).ok_or(Failed::NoBits {
            substrate,
            r,
            size: self.size,
        })?;
        let panels = Panels::of(matrices, bits, moduli, substrate.unit())?;
        let mut outcome = Outcome::default();
        for &method in methods {
            match method.build(moduli, Arc::new(Portable)) {
                Ok(reconstruction) => {
                    let measurement = self.measure(
                        (substrate, moduli, bits),
                        reconstruction.as_ref(),
                        matrices,
                        &panels,
                    )?;
                    outcome.measurements.push(measurement);
                }
                Err(reason) => outcome.missing.push(Missing {
                    substrate,
                    r,
                    method: method.to_string(),
                    reason: reason.to_string(),
                }),
            }
        }
        if methods.contains(&Method::Kulisch32) {
            outcome.words = words(substrate, moduli, &panels.residues[..r])?;
        }
        if methods.contains(&Method::Fp8Bands) {
            outcome.bands = bands(substrate, moduli, &panels.residues[..r])?;
        }
        if substrate == Substrate::Seven {
            outcome.prototype = prototype_errors(matrices, r)?;
        }
        Ok(outcome)
    }

    fn measure(
        &self,
        (substrate, moduli, bits): (Substrate, &Moduli, u32),
        reconstruction: &dyn Reconstruction,
        matrices: &Matrices,
        panels: &Panels,
    ) -> Result<Measurement, Failed> {
        let r = moduli.len();
        let mut errors = Errors::default();
        let mut to = [I256::ZERO; COLUMNS];
        let rows = panels.residues.chunks_exact(r);
        for ((residues, integers), &(place, columns)) in
            rows.zip(&panels.integers).zip(&panels.places)
        {
            reconstruction.reconstruct(residues, &mut to);
            for column in 0..columns {
                let product = matrices.product[place + column];
                errors.add(to[column], integers[column], bits, product);
            }
        }
        let bound = reconstruction.error_bound();
        let broken = |what: String| {
            Failed::Broken(format!(
                "{} on {substrate} with r = {r}: {what}",
                reconstruction.name()
            ))
        };
        if reconstruction.is_exact() && errors.wrong > 0 {
            return Err(broken(format!(
                "it is exact, and {} of {} outputs are wrong",
                errors.wrong,
                self.size * self.size
            )));
        }
        if errors.absolute > bound {
            return Err(broken(format!(
                "an error of {:.3e} is above the bound {bound:.3e}",
                errors.absolute
            )));
        }
        let (nanoseconds, least_nanoseconds, runs) = time(reconstruction, panels, r, self.seconds);
        let modulus = moduli.product().as_f64();
        let counts = Counts::from(reconstruction.operations(&panels.residues[..r]));
        // Only forward CRT asks a matrix unit for anything.
        let layout = if counts.products() > 0.0 {
            let (unit, products) = (Fp8Unit::new(Accumulator::HOPPER), counts.fp8_products);
            let residues = &panels.residues[..r];
            let phase_a = substrate.phase_a(moduli, unit, residues, Some(products))?;
            Some(Layout::of(&*phase_a, moduli))
        } else {
            None
        };
        Ok(Measurement {
            substrate,
            r,
            method: reconstruction.name().into(),
            pipe: pipe_name(reconstruction.pipe()),
            modulus_bits: moduli.bits(),
            operand_bits: bits,
            exact: errors.wrong == 0,
            proven_exact: reconstruction.is_exact(),
            result_error: errors.result,
            result_error_to_typical: errors.to_typical(),
            error: errors.relative,
            error_to_modulus: errors.absolute / modulus,
            bound_to_modulus: bound / modulus,
            bits: (errors.wrong > 0).then(|| (panels.largest.as_f64() / errors.absolute).log2()),
            operations: counts,
            slices: layout.map(|layout| layout.slices),
            slice_sum_bits: layout.map(|layout| f64::from(layout.largest_sum).log2()),
            paper_slices: (7 * r).div_ceil(8),
            accumulator_bits: layout.map(|layout| layout.bits()),
            nanoseconds,
            least_nanoseconds,
            runs,
        })
    }
}

/// The sum in words of every width.
fn words(
    substrate: Substrate,
    moduli: &Moduli,
    residues: &[Residues],
) -> Result<Vec<Words>, Failed> {
    let unit = Fp8Unit::new(Accumulator::HOPPER);
    let phase_a = substrate.phase_a(moduli, unit, residues, None)?;
    let mut slices = [[0; COLUMNS]; MOST_SLICES];
    phase_a.form(residues, &mut slices);
    let layout = Layout::of(&*phase_a, moduli);
    let slices = &slices[..phase_a.slices()];
    words::count((substrate, moduli.len()), &layout, slices)
        .map_err(|error| Failed::Broken(format!("{substrate}, r = {}: {error}", moduli.len())))
}

/// The sum in E4M3 on every kind of accumulator.
fn bands(
    substrate: Substrate,
    moduli: &Moduli,
    residues: &[Residues],
) -> Result<Vec<Bands>, Failed> {
    let mut rows = Vec::new();
    for accumulator in Accumulator::ALL {
        let unit = Fp8Unit::new(accumulator);
        let phase_a = substrate.phase_a(moduli, unit, residues, None)?;
        let phase_b = Fp8Bands::new(&Layout::of(&*phase_a, moduli), unit)?;
        let mut slices = [[0; COLUMNS]; MOST_SLICES];
        phase_a.form(residues, &mut slices);
        let counted = phase_b.operations(&slices[..phase_a.slices()]);
        rows.push(Bands {
            substrate,
            r: moduli.len(),
            accumulator: accumulator.to_string(),
            bands: phase_b.bands(),
            fp8_products: counted.fp8_products,
            fp8_products_of_one_matrix: phase_b.products(true) as f64,
            phase_a_products: Counts::from(phase_a.operations(residues)).products(),
            integer_operations: counted.integer,
        });
    }
    Ok(rows)
}

/// Sets of matrices that the prototype is run on: the largest of a few hundred errors differs from one to the next.
const PROTOTYPE_RUNS: u64 = 16;

/// The columns of the paper's table with this many primes, from 127 downwards.
fn prototype_errors(matrices: &Matrices, count: usize) -> Result<Vec<PrototypeError>, Failed> {
    let size = matrices.size;
    let moduli = Moduli::new(Set::Int8, &primes_downwards(128, count))?;
    let r = moduli.len();
    let bits = operand_bits(&moduli, size).ok_or(Failed::NoBits {
        substrate: Substrate::Seven,
        r,
        size,
    })?;
    let prototype = Prototype::new(&moduli, 2 * bits);
    let mut errors = Column::ALL.map(|_| Vec::new());
    for run in 0..PROTOTYPE_RUNS {
        let matrices = Matrices::random(size, matrices.seed.wrapping_add(run));
        let (left, right) = matrices.integers(bits);
        let products = product_of(size, &left, &right);
        for (column, errors) in Column::ALL.into_iter().zip(&mut errors) {
            let mut of_column = Errors::default();
            for (&integer, &product) in products.iter().zip(&matrices.product) {
                of_column.add_result(prototype.result(column, integer), product);
            }
            errors.push((of_column.to_typical(), of_column.result));
        }
    }
    let median = |errors: &mut Vec<(f64, f64)>, column: Column| {
        errors.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (to_typical, relative) = errors[errors.len() / 2];
        PrototypeError {
            r,
            modulus_bits: moduli.bits(),
            operand_bits: bits,
            column: column.name(),
            result_error: relative,
            result_error_to_typical: to_typical,
            least: errors[0].0,
            most: errors[errors.len() - 1].0,
        }
    };
    let columns = errors.iter_mut().zip(Column::ALL);
    Ok(columns
        .map(|(errors, column)| median(errors, column))
        .collect())
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// Moduli or matrices are rejected.
    #[error("{0}")]
    Residues(#[from] ResidueError),
    /// Nothing is left for the operands.
    #[error(
        "{r} moduli of {substrate} hold no products of {size} operands of one bit or more; take more moduli, or smaller matrices"
    )]
    NoBits {
        /// The substrate.
        substrate: Substrate,
        /// How many moduli.
        r: usize,
        /// Of the matrices.
        size: usize,
    },
    /// What is proven does not hold.
    #[error("{0}")]
    Broken(String),
}
