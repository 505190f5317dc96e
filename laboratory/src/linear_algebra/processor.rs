//! On the processor: residues, digits, and plain loops.

use super::accuracy::{Errors, sample};
use super::problems::{Batch, Dense, Sparse, right_hand_side};
use super::{
    IN_DOUBLES, LinearAlgebraArguments, Results, Row, Solved, SolvedInDoubles, SolverTimes,
    rejected,
};
use crate::failure::Failure;
use crate::sums::cuda::cases::Rows;
use ozaki::conjugate_gradient::{By, InDoubles, OnProcessor, Timed, digest, solve};
use ozaki::digits::{self, Products, product_count, truncation_bound};
use ozaki::poisson::Poisson;
use ozaki::scaled::field_of;
use ozaki::{PhaseB, Scheme};
use std::time::{Duration, Instant};

/// Sides of matrices unless the user says otherwise.
const SIDES: [usize; 2] = [64, 128];
/// Larger matrices are not multiplied by digits: it takes several times as many products.
const MOST_SIDE_OF_DIGITS: usize = 128;
const LARGEST: usize = 1_000_000;
const CUBE: usize = 24;
/// Rows, and columns, that are compared with exact results.
const COMPARED: usize = 16;
/// Relative residual that the solver ends at.
pub const TOLERANCE: f64 = 1e-10;
/// Iterations at most.
pub const MOST_ITERATIONS: usize = 2000;
/// Runs that every method gets at least.
const FEWEST_RUNS: usize = 3;

/// Computes, and writes its results to the slice.
type Run<'a> = Box<dyn FnMut(&mut [f64]) -> Result<(), Failure> + 'a>;

/// A method to be timed.
struct Method<'a> {
    name: String,
    /// The scheme, and products of matrices of bytes.
    scheme: Option<(&'a Scheme, usize)>,
    /// Whether it has the processor's bits: those of the first method with the same scheme and phase B in integers.
    exact: bool,
    /// How many times the bound of scaling it may be off.
    bound_factor: f64,
    run: Run<'a>,
}

/// What is computed, and how results are judged.
struct Case<'a> {
    operation: &'static str,
    data: String,
    products: f64,
    results: usize,
    judge: &'a dyn Fn(&[f64], Option<&Scheme>) -> Errors,
}

/// Times methods alternately; the first is FP64.
fn measure(
    case: &Case<'_>,
    mut methods: Vec<Method<'_>>,
    seconds: Duration,
) -> Result<Vec<Row>, Failure> {
    let mut found = Vec::new();
    for method in &mut methods {
        let mut results = vec![f64::NAN; case.results];
        (method.run)(&mut results)?;
        found.push(results);
    }
    let mut times = vec![Vec::new(); methods.len()];
    let begin = Instant::now();
    let mut results = vec![0.0; case.results];
    while times[0].len() < FEWEST_RUNS || begin.elapsed() < seconds * methods.len() as u32 {
        for (method, times) in methods.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            (method.run)(&mut results)?;
            times.push(begin.elapsed().as_secs_f64());
        }
    }
    times
        .iter_mut()
        .for_each(|times| times.sort_by(f64::total_cmp));
    let median = |number: usize| times[number][times[number].len() / 2];
    let mut rows = Vec::new();
    for (number, method) in methods.iter().enumerate() {
        let scheme = method.scheme.map(|(scheme, _)| scheme);
        let same = |other: &&Method<'_>| {
            let moduli = |method: &Method<'_>| method.scheme.map(|(s, _)| s.moduli().len());
            other.exact && moduli(other) == moduli(method)
        };
        let place = methods.iter().position(|other| same(&other));
        let equal_bits = match place.filter(|_| method.exact) {
            Some(place) if digest(&found[place]) == digest(&found[number]) => Some(case.results),
            Some(place) => {
                return Err(Failure::Check(format!(
                    "{}, {}: {} and {} are to have the same bits and do not",
                    case.operation, case.data, methods[place].name, method.name
                )));
            }
            None => None,
        };
        let errors = (case.judge)(&found[number], scheme);
        rows.push(Row {
            operation: case.operation,
            data: case.data.clone(),
            products: case.products,
            method: method.name.clone(),
            moduli: scheme.map(|scheme| scheme.moduli().len()),
            bits: scheme.map(Scheme::bits),
            byte_products: method.scheme.map(|(_, products)| products),
            seconds: median(number),
            shortest_seconds: times[number][0],
            runs: times[number].len(),
            tera_operations: 2e-12 * case.products / median(number),
            gain_over_fp64: Some(median(0) / median(number)),
            share_of_phase_b: None,
            gain_of_integers: None,
            phases: None,
            error: Some(errors.largest()),
            relative_error: Some(errors.relative()),
            bound: errors.bound().map(|bound| method.bound_factor * bound),
            equal_bits,
        });
    }
    Ok(rows)
}

/// Schemes for all numbers of moduli that are asked for.
pub fn schemes(
    arguments: &LinearAlgebraArguments,
    products: usize,
) -> Result<Vec<Scheme>, Failure> {
    let scheme = |&count: &usize| Scheme::with_moduli(products, count).map_err(rejected);
    arguments.moduli.iter().map(scheme).collect()
}

/// Methods of a scheme: both phases B.
pub const PHASES_B: [(PhaseB, &str); 2] = [
    (PhaseB::Integers, "phase B in integers"),
    (PhaseB::Doubles, "phase B in f64"),
];

pub fn method_name(scheme: &Scheme, phase_b: &str) -> String {
    format!("{} moduli, {phase_b}", scheme.moduli().len())
}

/// Both methods of every scheme, by a function that multiplies.
fn by_residues<'a>(
    schemes: &'a [Scheme],
    multiply: impl Fn(&Scheme, PhaseB, &mut [f64]) -> Result<(), ozaki::OzakiError> + Copy + 'a,
) -> Vec<Method<'a>> {
    let methods = schemes.iter().flat_map(move |scheme| {
        PHASES_B.map(move |(phase_b, name)| Method {
            name: method_name(scheme, name),
            scheme: Some((scheme, scheme.moduli().len())),
            exact: phase_b == PhaseB::Integers,
            bound_factor: 1.0,
            run: Box::new(move |to: &mut [f64]| multiply(scheme, phase_b, to).map_err(rejected)),
        })
    });
    methods.collect()
}

/// The same by digits, for sums of so many products: all of them, and those that count.
fn by_digits<'a>(
    schemes: &'a [Scheme],
    length: usize,
    multiply: impl Fn(&Scheme, Products, &mut [f64]) -> Result<(), ozaki::OzakiError> + Copy + 'a,
) -> Vec<Method<'a>> {
    let methods = schemes.iter().flat_map(move |scheme| {
        let bits = scheme.bits();
        [(Products::All, "all"), (Products::Leading, "leading")].map(move |(products, name)| {
            Method {
                name: format!("digits of {bits} bits, {name} products"),
                scheme: Some((scheme, product_count(bits, products))),
                exact: products == Products::All,
                bound_factor: match products {
                    Products::All => 1.0,
                    // Both are multiples of the powers of two above the rows.
                    Products::Leading => {
                        let scaling = length as f64 * 2f64.powi(bits as i32);
                        1.0 + truncation_bound(bits, length) / scaling
                    }
                },
                run: Box::new(move |to: &mut [f64]| {
                    multiply(scheme, products, to).map_err(rejected)
                }),
            }
        })
    });
    methods.collect()
}

fn plain<'a>(run: impl FnMut(&mut [f64]) + 'a) -> Method<'a> {
    let mut run = run;
    Method {
        name: "FP64".into(),
        scheme: None,
        exact: false,
        bound_factor: 1.0,
        run: Box::new(move |to| {
            run(to);
            Ok(())
        }),
    }
}

/// Runs everything that is asked for.
pub fn run(arguments: &LinearAlgebraArguments, results: &mut Results) -> Result<(), Failure> {
    let sides = match &arguments.sizes[..] {
        [] => &SIDES[..],
        sizes => sizes,
    };
    let largest = arguments.largest.unwrap_or(LARGEST);
    for &side in sides.iter().filter(|_| arguments.wants("gemm")) {
        results.add(gemm(arguments, side)?)?;
    }
    if arguments.wants("gemv") {
        results.add(batch(arguments, "gemv", largest.isqrt(), largest)?)?;
    }
    for side in [16, 64]
        .into_iter()
        .filter(|_| arguments.wants("batched-gemv"))
    {
        results.add(batch(arguments, "batched-gemv", side, largest)?)?;
    }
    for rows in [Rows::Mesh, Rows::Mixed]
        .into_iter()
        .filter(|_| arguments.wants("spmv"))
    {
        results.add(sparse(arguments, rows, largest)?)?;
    }
    if arguments.wants("solver") {
        for scheme in schemes(arguments, 7)? {
            let side = arguments.side.unwrap_or(CUBE);
            let by_residues = solver(&scheme, side, BY_RESIDUES, arguments.threads)?.0;
            let mut by_digits =
                solver(&scheme, side, By::Digits(Products::All), arguments.threads)?.0;
            let ends = |solved: &Solved| {
                (
                    solved.history_digest.clone(),
                    solved.solution_digest.clone(),
                )
            };
            if ends(&by_digits) != ends(&by_residues) {
                return Err(Failure::Check(format!(
                    "solver, {}: digits and residues are to have the same bits and do not",
                    by_digits.data
                )));
            }
            by_digits.equal_bits = Some(by_digits.iterations);
            results.add_solved(by_residues)?;
            results.add_solved(by_digits)?;
        }
    }
    if arguments.wants("solver") || arguments.wants(IN_DOUBLES) {
        let side = arguments.side.unwrap_or(CUBE);
        results.add_in_doubles(in_doubles(side)?)?;
    }
    Ok(())
}

/// Iterations of a conventional solver that are timed, and how often they are repeated: so that every operation runs undisturbed at least once.
pub const TIMED_ITERATIONS: usize = 50;
const REPETITIONS: usize = 20;

/// How much of a conventional solver's iteration its dot products take, in f64 and exact, and how much longer it takes with the latter.
pub fn in_doubles(side: usize) -> Result<SolvedInDoubles, Failure> {
    let poisson = Poisson::cube(side);
    let right = right_hand_side(poisson.matrix().map_err(rejected)?.rows());
    let solved = |exact_dots| -> Result<SolverTimes, Failure> {
        let start = || {
            let matrix = poisson.matrix().map_err(rejected)?;
            InDoubles::new(matrix, &right, exact_dots).map_err(rejected)
        };
        let mut vectors = Timed::new(start()?);
        let course = solve(&mut vectors, 0.0, TIMED_ITERATIONS).map_err(rejected)?;
        for _ in 1..REPETITIONS {
            vectors = vectors.again(start()?);
            solve(&mut vectors, 0.0, TIMED_ITERATIONS).map_err(rejected)?;
        }
        Ok(SolverTimes {
            iteration_seconds: vectors.iteration(),
            share_of_dots: vectors.dots() / vectors.iteration(),
            last_residual: course.history.last().copied().unwrap_or(0.0),
        })
    };
    Ok(SolvedInDoubles {
        operation: "solver-in-doubles",
        data: format!("{side}³, 7 points"),
        unknowns: right.len(),
        iterations: TIMED_ITERATIONS,
        plain: solved(false)?,
        exact: solved(true)?,
    })
}

fn gemm(arguments: &LinearAlgebraArguments, side: usize) -> Result<Vec<Row>, Failure> {
    let dense = &Dense::new(side);
    let schemes = &schemes(arguments, side)?;
    let threads = arguments.threads;
    let mut methods = vec![plain(|to| {
        to.fill(0.0);
        for (row, to) in dense.a.chunks_exact(side).zip(to.chunks_exact_mut(side)) {
            for (left, right) in row.iter().zip(dense.b.chunks_exact(side)) {
                let pairs = to.iter_mut().zip(right);
                pairs.for_each(|(to, right)| *to = left.mul_add(*right, *to));
            }
        }
    })];
    methods.extend(by_residues(schemes, |scheme, phase_b, to| {
        let shape = (side, side, side);
        ozaki::multiply(scheme, phase_b, shape, &dense.a, &dense.b, to, threads)
    }));
    let by_digits = by_digits(schemes, side, |scheme, products, to| {
        let shape = (side, side, side);
        digits::multiply(scheme, products, shape, &dense.a, &dense.b, to)
    });
    methods.extend(
        by_digits
            .into_iter()
            .filter(|_| side <= MOST_SIDE_OF_DIGITS),
    );
    let judge = |found: &[f64], scheme: Option<&Scheme>| dense_errors(dense, found, scheme);
    let case = Case {
        operation: "gemm",
        data: format!("{side}"),
        products: (side as f64).powi(3),
        results: side * side,
        judge: &judge,
    };
    measure(&case, methods, Duration::from_secs_f64(arguments.seconds))
}

/// Errors of some rows and columns of a product.
pub fn dense_errors(dense: &Dense, found: &[f64], scheme: Option<&Scheme>) -> Errors {
    let mut errors = Errors::default();
    let places = sample(dense.side, COMPARED);
    for &column in &places {
        let numbers = dense.column(column);
        let scheme = scheme.map(|scheme| (scheme, field_of(&numbers)));
        for &row in &places {
            let found = found[row * dense.side + column];
            errors.add(found, dense.row(row), &numbers, scheme);
        }
    }
    errors
}

/// Errors of some rows of a batch.
pub fn batch_errors(batch: &Batch, found: &[f64], scheme: Option<&Scheme>) -> Errors {
    let mut errors = Errors::default();
    for row in sample(found.len(), COMPARED * COMPARED) {
        let vector = batch.vector(row);
        let scheme = scheme.map(|scheme| (scheme, field_of(vector)));
        errors.add(found[row], batch.row(row), vector, scheme);
    }
    errors
}

/// Errors of some rows of a sparse matrix.
pub fn sparse_errors(sparse: &Sparse, found: &[f64], scheme: Option<&Scheme>) -> Errors {
    let mut errors = Errors::default();
    let field = field_of(&sparse.vector);
    for row in sample(found.len(), COMPARED * COMPARED) {
        let (values, others) = sparse.row(row);
        errors.add(
            found[row],
            values,
            &others,
            scheme.map(|scheme| (scheme, field)),
        );
    }
    errors
}

fn batch(
    arguments: &LinearAlgebraArguments,
    operation: &'static str,
    side: usize,
    numbers: usize,
) -> Result<Vec<Row>, Failure> {
    let batch = &Batch::new(side, numbers);
    let schemes = &schemes(arguments, side)?;
    let threads = arguments.threads;
    let mut methods = vec![plain(|to| {
        for (row, to) in to.iter_mut().enumerate() {
            let pairs = batch.row(row).iter().zip(batch.vector(row));
            *to = pairs.fold(0.0, |sum, (a, b)| a.mul_add(*b, sum));
        }
    })];
    methods.extend(by_residues(schemes, |scheme, phase_b, to| {
        let (matrices, vectors) = (&batch.matrices, &batch.vectors);
        ozaki::multiply_vectors(scheme, phase_b, batch.shape, matrices, vectors, to, threads)
    }));
    methods.extend(by_digits(schemes, side, |scheme, products, to| {
        let (matrices, vectors) = (&batch.matrices, &batch.vectors);
        digits::multiply_vectors(
            scheme,
            products,
            batch.shape,
            matrices,
            vectors,
            to,
            threads,
        )
    }));
    let judge = |found: &[f64], scheme: Option<&Scheme>| batch_errors(batch, found, scheme);
    let case = Case {
        operation,
        data: batch.name(),
        products: batch.matrices.len() as f64,
        results: batch.shape.0 * batch.shape.1,
        judge: &judge,
    };
    measure(&case, methods, Duration::from_secs_f64(arguments.seconds))
}

fn sparse(
    arguments: &LinearAlgebraArguments,
    rows: Rows,
    entries: usize,
) -> Result<Vec<Row>, Failure> {
    let sparse = &Sparse::new(rows, entries);
    let matrix = sparse.matrix()?;
    let schemes = &schemes(arguments, matrix.longest_row())?;
    let threads = arguments.threads;
    let mut methods = vec![plain(|to| {
        for (ends, to) in sparse.row_starts.windows(2).zip(to) {
            let ends = ends[0] as usize..ends[1] as usize;
            let columns = &sparse.columns[ends.clone()];
            let entries = sparse.values[ends].iter().zip(columns);
            *to = entries.fold(0.0, |sum, (value, &column)| {
                value.mul_add(sparse.vector[column as usize], sum)
            });
        }
    })];
    methods.extend(by_residues(schemes, |scheme, phase_b, to| {
        matrix.multiply_vector(scheme, phase_b, &sparse.vector, to, threads)
    }));
    let longest = matrix.longest_row();
    methods.extend(by_digits(schemes, longest, |scheme, products, to| {
        digits::multiply_sparse(scheme, products, &matrix, &sparse.vector, to, threads)
    }));
    let judge = |found: &[f64], scheme: Option<&Scheme>| sparse_errors(sparse, found, scheme);
    let case = Case {
        operation: "spmv",
        data: sparse.name.into(),
        products: sparse.values.len() as f64,
        results: matrix.rows(),
        judge: &judge,
    };
    measure(&case, methods, Duration::from_secs_f64(arguments.seconds))
}

/// What solvers multiply by, here and on a GPU.
pub const BY_RESIDUES: By = By::Residues(PhaseB::Integers);

/// Solves a Poisson problem on a cube; also returns the residuals.
pub fn solver(
    scheme: &Scheme,
    side: usize,
    by: By,
    threads: usize,
) -> Result<(Solved, Vec<f64>), Failure> {
    let poisson = Poisson::cube(side);
    let matrix = poisson.matrix().map_err(rejected)?;
    let right = right_hand_side(matrix.rows());
    let mut vectors = OnProcessor::new(scheme, by, matrix, &right, threads).map_err(rejected)?;
    let begin = Instant::now();
    let course = solve(&mut vectors, TOLERANCE, MOST_ITERATIONS).map_err(rejected)?;
    let solved = Solved {
        operation: "solver",
        data: format!("{side}³, 7 points"),
        unknowns: right.len(),
        moduli: scheme.moduli().len(),
        bits: scheme.bits(),
        method: match by {
            By::Residues(_) => "the processor",
            By::Digits(_) => "the processor, by digits",
        },
        threads: Some(threads),
        tolerance: TOLERANCE,
        iterations: course.history.len(),
        converged: course.converged,
        last_residual: course.history.last().copied().unwrap_or(0.0),
        history_digest: format!("{:016x}", digest(&course.history)),
        solution_digest: format!("{:016x}", digest(&vectors.x)),
        seconds: begin.elapsed().as_secs_f64(),
        equal_bits: None,
    };
    Ok((solved, course.history))
}
