//! What is measured on a GPU.

use super::Measurement;
use super::reductions::{Arrays, Numbers, Operation};
use super::timing::{Bench, Case};
use crate::failure::Failure;
use crate::sums::data::Data;
use crate::sums::matrices::laplacian;
use kulisch::linear::{self, SparseMatrix};
use kulisch::{Accumulator, parallel};

/// Names of all reductions on GPUs.
pub const NAMES: [&str; 6] = ["sum", "asum", "dot", "spmv", "batched-gemv", "stencil"];

/// Numbers that are made on the processor; arrays on the device repeat them.
const PATTERN: usize = 1 << 20;
/// Seeds of the two arrays.
const SEEDS: (u64, u64) = (1, 2);

// Instructions of a thread of the exact kernels, counted in the loops of their machine code for compute capability 9.0.
/// For a number.
const SUM_INSTRUCTIONS: f64 = 23.0;
/// For a pair.
const DOT_INSTRUCTIONS: f64 = 50.0;
/// For an entry where 32 rows are added side by side, by eights, and for each row of them.
const ROW_INSTRUCTIONS: (f64, f64) = (80.0, 250.0);
/// Where they are added one by one: for a lane of a row's first 32 entries, and of 32 further ones.
const LONE_ROW_INSTRUCTIONS: (f64, f64) = (183.0, 90.0);
/// For a product of a batch of matrices, and for a row with its share of vectors.
const BATCH_INSTRUCTIONS: (f64, f64) = (41.0, 430.0);
/// For a term, and for a result.
const STENCIL_INSTRUCTIONS: (f64, f64) = (39.0, 190.0);

type Report<'a> = dyn FnMut(Vec<Measurement>) -> Result<(), Failure> + 'a;

/// Measures everything that is wanted.
pub(super) fn run_all(
    bench: &Bench<'_>,
    wanted: &dyn Fn(&str) -> bool,
    largest: usize,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let hard = [
        Data::Condition(1e10),
        Data::Condition(1e100),
        Data::Condition(1e300),
        Data::AllExponents,
    ];
    if wanted("sum") {
        for shorter in [256, 16, 1] {
            let numbers = (largest / shorter).max(1);
            report(sum(bench, Operation::Sum, Data::Signed, numbers)?)?;
        }
        for data in hard {
            report(sum(bench, Operation::Sum, data, largest)?)?;
        }
    }
    if wanted("asum") {
        report(sum(bench, Operation::MagnitudeSum, Data::Signed, largest)?)?;
    }
    if wanted("dot") {
        for data in [Data::Signed, hard[0], hard[1]] {
            report(dot(bench, data, largest / 2)?)?;
        }
    }
    if wanted("spmv") {
        for rows in [Rows::Mesh, Rows::Mixed, Rows::Long] {
            report(sparse(bench, rows, largest)?)?;
        }
    }
    if wanted("batched-gemv") {
        for side in [8, 16, 32, 64] {
            report(batch(bench, Data::Signed, side, largest / 2)?)?;
        }
        report(batch(bench, hard[1], 16, largest / 2)?)?;
    }
    if wanted("stencil") {
        report(stencil(bench, largest / 8)?)?;
    }
    Ok(())
}

/// The length of a pattern, and how often it is repeated: at most so many numbers.
fn divided(numbers: usize) -> (usize, usize) {
    let pattern = numbers.min(PATTERN);
    (pattern, (numbers / pattern).max(1))
}

/// The sum of so many of the same.
fn repeated(accumulator: &Accumulator, times: usize) -> f64 {
    let mut total = Accumulator::new();
    (0..times).for_each(|_| total.merge(accumulator));
    total.round()
}

fn sum(
    bench: &Bench<'_>,
    operation: Operation,
    data: Data,
    numbers: usize,
) -> Result<Vec<Measurement>, Failure> {
    let (length, times) = divided(numbers);
    let pattern = data.numbers(length, SEEDS.0);
    let mut accumulator = Accumulator::new();
    match operation {
        Operation::MagnitudeSum => accumulator.add_magnitudes(&pattern),
        _ => accumulator.add_slice(&pattern),
    }
    let expected = repeated(&accumulator, times);
    let numbers = Numbers::repeated(bench.gpu, &pattern, times)?;
    let mut arrays = Arrays::reduction(bench.gpu, operation, numbers, None)?;
    let case = Case {
        reduction: match operation {
            Operation::MagnitudeSum => "asum",
            _ => "sum",
        },
        operation,
        data: data.name(),
        numbers: length * times,
        bytes: 8 * length * times,
        instructions: SUM_INSTRUCTIONS,
    };
    bench.measure(&case, &mut arrays, &[expected])
}

fn dot(bench: &Bench<'_>, data: Data, pairs: usize) -> Result<Vec<Measurement>, Failure> {
    let (length, times) = divided(pairs);
    let left = data.numbers(length, SEEDS.0);
    let right = match data {
        Data::Signed => data.numbers(length, SEEDS.1),
        // Pairs that cancel must have the same number on the other side.
        _ => vec![1.0 / 3.0; length],
    };
    let mut accumulator = Accumulator::new();
    accumulator
        .add_products(&left, &right)
        .map_err(|error| Failure::Check(error.to_string()))?;
    let expected = repeated(&accumulator, times);
    let left = Numbers::repeated(bench.gpu, &left, times)?;
    let right = Numbers::repeated(bench.gpu, &right, times)?;
    let mut arrays = Arrays::reduction(bench.gpu, Operation::Dot, left, Some(right))?;
    let case = Case {
        reduction: "dot",
        operation: Operation::Dot,
        data: data.name(),
        numbers: length * times,
        bytes: 16 * length * times,
        instructions: DOT_INSTRUCTIONS,
    };
    bench.measure(&case, &mut arrays, &[expected])
}

/// Shapes of sparse matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// A point of a mesh in three dimensions and its 26 neighbours.
    Mesh,
    /// 7 to 64 entries at places that jump about.
    Mixed,
    /// 512 entries side by side.
    Long,
}

impl Rows {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Rows::Mesh => "27 a row",
            Rows::Mixed => "7 to 64 a row",
            Rows::Long => "512 a row",
        }
    }

    /// Where rows begin, columns of their entries, and how many columns there are.
    pub(crate) fn matrix(self, entries: usize) -> (Vec<u32>, Vec<u32>, usize) {
        let (mut starts, mut columns) = (vec![0u32], Vec::new());
        let width = match self {
            Rows::Mesh => {
                let side = (1..)
                    .take_while(|side: &usize| 27 * side.pow(3) <= entries)
                    .last()
                    .unwrap_or(1);
                let width = side.pow(3);
                let steps = [side * side, side, 1];
                let shift = |step: usize| [width - step, 0, step];
                for row in 0..width {
                    for x in shift(steps[0] % width) {
                        for y in shift(steps[1] % width) {
                            for z in shift(steps[2] % width) {
                                columns.push(((row + x + y + z) % width) as u32);
                            }
                        }
                    }
                    starts.push(columns.len() as u32);
                }
                width
            }
            Rows::Mixed => {
                let width = (entries / 16).max(1);
                while columns.len() + 64 <= entries {
                    let row = starts.len();
                    let count = [7, 9, 27, 64][row % 4];
                    let column = |entry: usize| ((row * 31 + entry * 977) % width) as u32;
                    columns.extend((0..count).map(column));
                    starts.push(columns.len() as u32);
                }
                width
            }
            Rows::Long => {
                let width = (entries / 16).max(1);
                while columns.len() + 512 <= entries {
                    let row = starts.len();
                    columns.extend((0..512).map(|entry| ((row * 16 + entry) % width) as u32));
                    starts.push(columns.len() as u32);
                }
                width
            }
        };
        (starts, columns, width)
    }
}

fn sparse(bench: &Bench<'_>, rows: Rows, largest: usize) -> Result<Vec<Measurement>, Failure> {
    let entries = match rows {
        Rows::Mesh => 27 * (largest / 128),
        Rows::Mixed | Rows::Long => largest / 8,
    };
    let (starts, columns, width) = rows.matrix(entries);
    let values = Data::Signed.numbers(columns.len(), SEEDS.0);
    let vector = Data::Signed.numbers(width, SEEDS.1);
    let long = |short: &[u32]| {
        short
            .iter()
            .map(|&value| value as usize)
            .collect::<Vec<_>>()
    };
    let mut expected = vec![0.0; starts.len() - 1];
    let (long_starts, long_columns) = (long(&starts), long(&columns));
    SparseMatrix::new(&long_starts, &long_columns, &values, width)
        .and_then(|matrix| {
            let threads = parallel::all_threads();
            parallel::multiply_sparse(&matrix, &vector, &mut expected, threads)
        })
        .map_err(|error| Failure::Check(error.to_string()))?;
    let mut arrays = Arrays::sparse(bench.reductions, &starts, &columns, &values, &vector)?;
    let lengths: Vec<u32> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
    let instructions: f64 = lengths.chunks(32).map(row_instructions).sum();
    let case = Case {
        reduction: "spmv",
        operation: Operation::SparseProduct,
        data: rows.name().into(),
        numbers: columns.len(),
        bytes: 12 * columns.len() + 12 * expected.len() + 4 + 8 * width,
        instructions: instructions / columns.len().max(1) as f64,
    };
    bench.measure(&case, &mut arrays, &expected)
}

/// Instructions of a warp's threads for 32 rows of these lengths: the kernel takes the shorter variant.
fn row_instructions(lengths: &[u32]) -> f64 {
    let longest = lengths
        .iter()
        .copied()
        .max()
        .unwrap_or(0)
        .next_multiple_of(8);
    let even = ROW_INSTRUCTIONS.0 * f64::from(longest) + ROW_INSTRUCTIONS.1;
    let further = |&length: &u32| f64::from(length.div_ceil(32).saturating_sub(1));
    let lone = |length: &u32| LONE_ROW_INSTRUCTIONS.0 + LONE_ROW_INSTRUCTIONS.1 * further(length);
    32.0 * lengths.iter().map(lone).sum::<f64>().min(even)
}

/// Square matrices of so many numbers at most.
fn batch(
    bench: &Bench<'_>,
    data: Data,
    side: usize,
    numbers: usize,
) -> Result<Vec<Measurement>, Failure> {
    let (length, times) = divided(numbers);
    let matrices = (length / (side * side)).max(1);
    let values = data.numbers(matrices * side * side, SEEDS.0);
    let vectors = Data::Signed.numbers(matrices * side, SEEDS.1);
    let mut expected = vec![0.0; matrices * side];
    linear::multiply_vectors((matrices, side, side), &values, &vectors, &mut expected)
        .map_err(|error| Failure::Check(error.to_string()))?;
    let expected = expected.repeat(times);
    let numbers = Numbers::repeated(bench.gpu, &values, times)?;
    let vectors = Numbers::repeated(bench.gpu, &vectors, times)?;
    let all = matrices * times;
    let mut arrays = Arrays::batch(bench.gpu, (all, side, side), numbers, vectors)?;
    let case = Case {
        reduction: "batched-gemv",
        operation: Operation::BatchProduct,
        data: match data {
            Data::Signed => format!("{side} × {side}"),
            _ => format!("{side} × {side}, {}", data.name()),
        },
        numbers: all * side * side,
        bytes: 8 * all * side * (side + 2),
        instructions: BATCH_INSTRUCTIONS.0 + BATCH_INSTRUCTIONS.1 / side as f64,
    };
    bench.measure(&case, &mut arrays, &expected)
}

fn stencil(bench: &Bench<'_>, points: usize) -> Result<Vec<Measurement>, Failure> {
    let Some(laplacian) = laplacian(points) else {
        return Ok(Vec::new());
    };
    let values = Data::Signed.numbers(laplacian.points, SEEDS.1);
    let (coefficients, offsets) = (&laplacian.coefficients, &laplacian.offsets);
    let (first, outputs) = (laplacian.first, laplacian.outputs);
    let mut expected = vec![0.0; outputs];
    let part = outputs.div_ceil(parallel::all_threads()).max(1);
    let rejected = std::thread::scope(|scope| {
        let parts: Vec<_> = expected
            .chunks_mut(part)
            .enumerate()
            .map(|(number, result)| {
                let (values, start) = (&values, first + number * part);
                scope.spawn(move || {
                    linear::stencil(coefficients, offsets, values, start, result).is_err()
                })
            })
            .collect();
        let rejected = parts.into_iter().map(|part| part.join().unwrap_or(true));
        rejected.fold(false, |any, part| any | part)
    });
    if rejected {
        return Err(Failure::Check("the processor rejected a stencil".into()));
    }
    let mut arrays = Arrays::stencil(bench.gpu, coefficients, offsets, &values, (first, outputs))?;
    let terms = coefficients.len();
    let case = Case {
        reduction: "stencil",
        operation: Operation::Stencil,
        data: format!("{terms} points"),
        numbers: outputs * terms,
        bytes: 8 * (values.len() + outputs),
        instructions: STENCIL_INSTRUCTIONS.0 + STENCIL_INSTRUCTIONS.1 / terms as f64,
    };
    bench.measure(&case, &mut arrays, &expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_what_their_names_say() {
        for rows in [Rows::Mesh, Rows::Mixed, Rows::Long] {
            let (starts, columns, width) = rows.matrix(30_000);
            let lengths: Vec<u32> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
            assert!(columns.iter().all(|&column| (column as usize) < width));
            match rows {
                Rows::Mesh => assert!(lengths.iter().all(|&length| length == 27)),
                Rows::Mixed => {
                    assert!(lengths.iter().all(|length| [7, 9, 27, 64].contains(length)))
                }
                Rows::Long => assert!(lengths.iter().all(|&length| length == 512)),
            }
            assert!(lengths.len() > 20);
        }
    }

    #[test]
    fn repetitions_are_exact() {
        let mut accumulator = Accumulator::new();
        accumulator.add(0.1);
        assert_eq!(repeated(&accumulator, 10), kulisch::sum(&[0.1; 10]));
        assert_eq!(divided(5 * PATTERN + 3), (PATTERN, 5));
        assert_eq!(divided(7), (7, 1));
    }
}
