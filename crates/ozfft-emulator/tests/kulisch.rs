//! Exact sums on emulated GPUs: the bits of the crate `kulisch`, and of big integers.

#[path = "../../kulisch/tests/common/mod.rs"]
mod common;

use common::{Direction, Generator, expected_dot, expected_sum};
use kulisch::linear::{self, SparseMatrix};
use ozfft_kernels::kulisch::{
    BATCH_SHARED_BYTES, BatchTask, Reduction, SHARED_BYTES, SPARSE_SHARED_BYTES, SparseTask,
    StencilTask, THREADS, TOTAL_BYTES,
};

/// Memory that reductions share, as launches leave it.
struct Device {
    total: Vec<u64>,
}

impl Device {
    fn new() -> Device {
        Device {
            total: vec![0; TOTAL_BYTES.div_ceil(8)],
        }
    }

    fn reduce(&mut self, kernel: &str, left: &[f64], right: &[f64], blocks: u64) -> f64 {
        let mut result = f64::MIN;
        let task = Reduction {
            left: left.as_ptr() as u64,
            right: right.as_ptr() as u64,
            count: left.len() as u64,
            result: &raw mut result as u64,
            total: self.total.as_mut_ptr() as u64,
        };
        let parameters = (&raw const task).cast();
        // SAFETY: the kernels take such a structure, and its arrays are as long as it says.
        unsafe { ozfft_emulator::launch(kernel, parameters, blocks, THREADS, SHARED_BYTES) };
        let empty = self.total.iter().all(|&word| word == 0);
        assert!(
            empty || kernel.starts_with("naive"),
            "{kernel} does not leave its memory empty"
        );
        result
    }

    fn dot(&mut self, left: &[f64], right: &[f64], blocks: u64) -> f64 {
        self.reduce("kulisch_dot", left, right, blocks)
    }

    fn sum(&mut self, values: &[f64], blocks: u64) -> f64 {
        self.reduce("kulisch_sum", values, &[], blocks)
    }
}

/// A sparse matrix with random rows, many of them empty and a few long.
struct Sparse {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    vector: Vec<f64>,
}

impl Sparse {
    fn new(generator: &mut Generator, rows: usize, width: usize) -> Sparse {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..rows {
            let entries = match generator.below(20) {
                0..5 => 0,
                5 => generator.below(300),
                6 => 32,
                _ => generator.below(40),
            };
            values.extend(generator.numbers(entries));
            columns.extend((0..entries).map(|_| generator.below(width)));
            starts.push(columns.len());
        }
        Sparse {
            starts,
            columns,
            values,
            vector: generator.numbers(width),
        }
    }

    fn expected(&self) -> Vec<f64> {
        let width = self.vector.len();
        let matrix = SparseMatrix::new(&self.starts, &self.columns, &self.values, width);
        let mut result = vec![0.0; self.starts.len() - 1];
        let done = matrix.and_then(|matrix| matrix.multiply_vector(&self.vector, &mut result));
        done.expect("a matrix");
        result
    }

    fn emulated(&self, kernel: &str, blocks: u64) -> Vec<f64> {
        let short = |values: &[usize]| values.iter().map(|&value| value as u32).collect();
        let (starts, columns): (Vec<u32>, Vec<u32>) = (short(&self.starts), short(&self.columns));
        let mut result = vec![f64::MIN; starts.len() - 1];
        let task = SparseTask {
            row_starts: starts.as_ptr() as u64,
            columns: columns.as_ptr() as u64,
            values: self.values.as_ptr() as u64,
            vector: self.vector.as_ptr() as u64,
            result: result.as_mut_ptr() as u64,
            rows: result.len() as u64,
        };
        let parameters = (&raw const task).cast();
        let shared = SPARSE_SHARED_BYTES;
        // SAFETY: the kernels take such a structure, and its arrays belong together.
        unsafe { ozfft_emulator::launch(kernel, parameters, blocks, THREADS, shared) };
        result
    }
}

fn stencil(
    kernel: &str,
    coefficients: &[f64],
    offsets: &[isize],
    values: &[f64],
    (first, count): (usize, usize),
) -> Vec<f64> {
    let mut result = vec![f64::MIN; count];
    let offsets: Vec<i64> = offsets.iter().map(|&offset| offset as i64).collect();
    let task = StencilTask {
        coefficients: coefficients.as_ptr() as u64,
        offsets: offsets.as_ptr() as u64,
        values: values.as_ptr() as u64,
        result: result.as_mut_ptr() as u64,
        first: first as u64,
        count: count as u64,
        terms: coefficients.len() as i32,
    };
    let parameters = (&raw const task).cast();
    // SAFETY: the kernels take such a structure, and the crate has checked the same stencil.
    unsafe { ozfft_emulator::launch(kernel, parameters, 2, THREADS, SHARED_BYTES) };
    result
}

/// Small matrices and as many vectors.
struct Batch {
    shape: (usize, usize, usize),
    matrices: Vec<f64>,
    vectors: Vec<f64>,
}

impl Batch {
    /// Of numbers that a function gives.
    fn new(shape: (usize, usize, usize), mut numbers: impl FnMut(usize) -> Vec<f64>) -> Batch {
        let (batch, rows, columns) = shape;
        Batch {
            shape,
            matrices: numbers(batch * rows * columns),
            vectors: numbers(batch * columns),
        }
    }

    fn expected(&self) -> Vec<f64> {
        let mut result = vec![0.0; self.shape.0 * self.shape.1];
        let (matrices, vectors) = (&self.matrices, &self.vectors);
        linear::multiply_vectors(self.shape, matrices, vectors, &mut result).expect("lengths");
        result
    }

    fn emulated(&self, kernel: &str, blocks: u64) -> Vec<f64> {
        let (batch, rows, columns) = self.shape;
        let mut result = vec![f64::MIN; batch * rows];
        let task = BatchTask {
            matrices: self.matrices.as_ptr() as u64,
            vectors: self.vectors.as_ptr() as u64,
            result: result.as_mut_ptr() as u64,
            batch: batch as u32,
            rows: rows as u32,
            columns: columns as u32,
        };
        let parameters = (&raw const task).cast();
        let shared = BATCH_SHARED_BYTES;
        // SAFETY: the kernels take such a structure, and its arrays are as long as it says.
        unsafe { ozfft_emulator::launch(kernel, parameters, blocks, THREADS, shared) };
        result
    }

    fn check(&self, blocks: u64, what: &str) {
        let found = self.emulated("kulisch_gemv", blocks);
        for (row, (found, expected)) in found.into_iter().zip(self.expected()).enumerate() {
            assert_same(
                found,
                expected,
                &format!("{what}, {:?}, row {row}", self.shape),
            );
        }
    }
}

fn assert_same(found: f64, expected: f64, what: &str) {
    assert_eq!(
        found.to_bits(),
        expected.to_bits(),
        "{found:e} instead of {expected:e}: {what}"
    );
}

/// A seed that is printed where a test fails.
fn seeded(seed: u64) -> Generator {
    eprintln!("seed {seed}");
    Generator::new(seed)
}

#[test]
fn sums_are_those_of_big_integers() {
    let mut generator = seeded(20_261_115);
    let mut device = Device::new();
    for case in 0..300 {
        let count = generator.below(if case % 10 == 0 { 9000 } else { 300 });
        let values = generator.numbers(count);
        let blocks = 1 + generator.below(3) as u64;
        // At both alignments that a double may have.
        let from = generator.below(2).min(count);
        let part = &values[from..];
        let what = format!("case {case}, {count} numbers from {from} on, {blocks} blocks");
        let expected = expected_sum(part, Direction::Nearest);
        assert_same(device.sum(part, blocks), expected, &what);
        let magnitudes: Vec<f64> = part.iter().map(|value| value.abs()).collect();
        let expected = expected_sum(&magnitudes, Direction::Nearest);
        let found = device.reduce("kulisch_magnitude_sum", part, &[], blocks);
        assert_same(found, expected, &what);
    }
}

#[test]
fn sums_of_all_lengths_are_those_of_the_crate() {
    let mut generator = seeded(2);
    let mut device = Device::new();
    let lengths = (0..70).chain([
        255, 256, 257, 511, 512, 513, 8191, 8192, 8193, 65536, 100_000,
    ]);
    for length in lengths {
        let values = generator.numbers(length);
        for blocks in [1, 2] {
            let what = format!("{length} numbers, {blocks} blocks");
            assert_same(device.sum(&values, blocks), kulisch::sum(&values), &what);
        }
    }
}

#[test]
fn carries_are_resolved_before_limbs_overflow() {
    let mut device = Device::new();
    let lowest = f64::from_bits(1);
    // All bits set, so that limbs grow as fast as they can; the first number of what a warp takes at a time chooses a window far
    // above, and all of those cancel. A warp has more of the others than a limb holds.
    let ones = f64::from_bits(0x3fff_ffff_ffff_ffff);
    let far = |k: usize| [1e300, -1e300][k / 8192 % 2];
    for sign in [1.0, -1.0] {
        let values: Vec<f64> = (0..42 * 8192)
            .map(|k| if k % 8192 == 0 { far(k) } else { sign * ones })
            .collect();
        assert_same(device.sum(&values, 1), kulisch::sum(&values), "many ones");
        let (left, right) = (&values[..], &vec![ones; values.len()]);
        let expected = kulisch::dot(left, right).expect("equal lengths");
        assert_same(device.dot(left, right, 1), expected, "many products");
    }
    // Borrows and carries that go through all limbs.
    let values = [f64::MAX, -lowest, -f64::MAX, lowest, lowest];
    for count in 1..=values.len() {
        let values = &values[..count];
        assert_same(device.sum(values, 1), kulisch::sum(values), "borrows");
    }
}

#[test]
fn dot_products_are_those_of_big_integers() {
    let mut generator = seeded(3);
    let mut device = Device::new();
    for case in 0..300 {
        let count = generator.below(if case % 10 == 0 { 9000 } else { 300 });
        let left = generator.numbers(count);
        let mut right = generator.numbers(count);
        if generator.below(3) == 0 && count > 1 {
            // The exact sum is that of the last pair.
            let half = count / 2;
            right.copy_within(..half, half);
            let mut mirrored = left.clone();
            (0..half).for_each(|k| mirrored[half + k] = -left[k]);
            let blocks = 1 + generator.below(2) as u64;
            let expected = expected_dot(&mirrored, &right, Direction::Nearest);
            let found = device.dot(&mirrored, &right, blocks);
            assert_same(found, expected, &format!("case {case}, cancelling"));
        }
        let blocks = 1 + generator.below(3) as u64;
        let what = format!("case {case}, {count} pairs, {blocks} blocks");
        let expected = expected_dot(&left, &right, Direction::Nearest);
        assert_same(device.dot(&left, &right, blocks), expected, &what);
    }
}

#[test]
fn dot_products_of_all_lengths_are_those_of_the_crate() {
    let mut generator = seeded(4);
    let mut device = Device::new();
    for length in (0..70).chain([127, 128, 129, 8191, 8192, 8193, 65_537, 100_000]) {
        let (left, right) = (generator.numbers(length), generator.numbers(length));
        let expected = kulisch::dot(&left, &right).expect("equal lengths");
        let what = format!("{length} pairs");
        assert_same(device.dot(&left, &right, 2), expected, &what);
        // Other alignments on both sides.
        if length > 1 {
            let (left, right) = (&left[1..], &right[..length - 1]);
            let expected = kulisch::dot(left, right).expect("equal lengths");
            assert_same(device.dot(left, right, 1), expected, &what);
        }
    }
}

#[test]
fn sparse_products_are_those_of_the_crate() {
    let mut generator = seeded(5);
    for case in 0..60 {
        let rows = generator.below(400);
        let width = 1 + generator.below(500);
        let sparse = Sparse::new(&mut generator, rows, width);
        let blocks = 1 + generator.below(2) as u64;
        let found = sparse.emulated("kulisch_spmv", blocks);
        for (row, (found, expected)) in found.into_iter().zip(sparse.expected()).enumerate() {
            assert_same(found, expected, &format!("case {case}, row {row}"));
        }
    }
}

/// Rows of about one length take another way.
#[test]
fn even_rows_of_sparse_matrices_are_exact() {
    let mut generator = seeded(10);
    for case in 0..80 {
        let length = 1 + generator.below(60);
        let (mut starts, mut values) = (vec![0], Vec::new());
        for _ in 0..generator.below(150) {
            let entries = length - generator.below(2).min(length);
            // Many cancel, or are zeros of either sign, or do not fit into one window with the others.
            values.extend(generator.numbers(entries));
            starts.push(values.len());
        }
        let width = 1 + generator.below(100);
        let columns = (0..values.len()).map(|_| generator.below(width)).collect();
        let vector = match generator.below(3) {
            0 => vec![1.0; width],
            1 => (0..width).map(|_| generator.number(-8, 8)).collect(),
            _ => generator.numbers(width),
        };
        let sparse = Sparse {
            starts,
            columns,
            values,
            vector,
        };
        let found = sparse.emulated("kulisch_spmv", 1);
        for (row, (found, expected)) in found.into_iter().zip(sparse.expected()).enumerate() {
            assert_same(found, expected, &format!("case {case}, row {row}"));
        }
    }
}

#[test]
fn long_rows_of_sparse_matrices_are_exact() {
    let mut generator = seeded(6);
    for kind in 0..2 {
        // The first entries choose the window; later ones are beyond it, or there are more than it holds.
        let count = 40_000;
        let mut values: Vec<f64> = (0..count).map(|_| generator.number(-3, 0)).collect();
        if kind == 1 {
            values[50..].iter_mut().for_each(|value| *value *= 1e200);
        }
        let columns = (0..2 * count).map(|k| k % 97).collect();
        let sparse = Sparse {
            starts: vec![0, count, count, 2 * count],
            columns,
            values: [&values[..], &values[..]].concat(),
            vector: (0..97).map(|_| generator.number(-40, 40)).collect(),
        };
        let found = sparse.emulated("kulisch_spmv", 1);
        for (found, expected) in found.into_iter().zip(sparse.expected()) {
            assert_same(found, expected, &format!("kind {kind}"));
        }
    }
}

#[test]
fn batches_of_all_shapes_are_those_of_the_crate() {
    let mut generator = seeded(11);
    for case in 0..150 {
        let shape = (
            generator.below(40),
            generator.below(if case % 2 == 0 { 5 } else { 70 }),
            generator.below(if case % 3 == 0 { 4 } else { 50 }),
        );
        let near = case % 5 < 2;
        let batch = Batch::new(shape, |count| match near {
            true => (0..count).map(|_| generator.number(-12, 0)).collect(),
            false => generator.numbers(count),
        });
        batch.check(1 + case % 3, &format!("case {case}"));
    }
}

/// Rows, against big integers: digits that carry everywhere, and sums that cancel.
#[test]
fn rows_of_batches_are_those_of_big_integers() {
    let mut generator = seeded(12);
    let ones = f64::from_bits(0x3fff_ffff_ffff_ffff);
    for case in 0..40 {
        let columns = [1, 7, 16, 127, 128, 129, 300][case % 7];
        let kind = generator.below(4);
        let batch = Batch::new((3, 11, columns), |count| {
            (0..count)
                .map(|k| match kind {
                    // As large as digits become, at both ends of the window.
                    0 => [
                        ones,
                        -ones * 0.5,
                        ones / 2f64.powi(23),
                        -ones / 2f64.powi(23),
                    ][(k + k / 5) % 4],
                    // Just within and just beyond it.
                    1 => generator.number(-24, 0),
                    // Negative, so that all sums of digits are.
                    2 => -generator.number(-3, 0).abs(),
                    _ => generator.number(-3, 0) * f64::from(k as u32 % 3),
                })
                .collect()
        });
        let found = batch.emulated("kulisch_gemv", 1);
        for (row, found) in found.into_iter().enumerate() {
            let values = &batch.matrices[row * columns..][..columns];
            let vector = &batch.vectors[row / 11 * columns..][..columns];
            let expected = expected_dot(values, vector, Direction::Nearest);
            assert_same(found, expected, &format!("case {case}, row {row}"));
        }
    }
}

/// Every product at its bound, and more of them than sums of digits hold.
#[test]
fn sums_of_digits_are_emptied_before_they_overflow() {
    let ones = f64::from_bits(0x3fff_ffff_ffff_ffff);
    for signs in [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]] {
        // The first columns choose a window; all others are four exponents above them, where it ends.
        let numbers = |sign: f64, count: usize, columns: usize| -> Vec<f64> {
            let first = |k: usize| if k % columns < 32 { 1.0 } else { 16.0 };
            (0..count).map(|k| sign * ones * first(k)).collect()
        };
        let columns = 3000;
        let batch = Batch {
            shape: (1, 33, columns),
            matrices: numbers(signs[0], 33 * columns, columns),
            vectors: numbers(signs[1], columns, columns),
        };
        batch.check(1, &format!("{signs:?}"));
    }
    // Rows longer than windows, and than the accumulator holds without a carry: the first entries choose windows far below.
    let mut generator = seeded(13);
    let columns = 40_000;
    let mut batch = Batch::new((1, 2, columns), |count| {
        (0..count).map(|_| generator.number(-3, 0)).collect()
    });
    batch.matrices[..40]
        .iter_mut()
        .for_each(|value| *value *= 1e-200);
    batch.check(1, "long rows");
}

/// Every matrix of another magnitude; and vectors that differ within.
#[test]
fn every_matrix_has_windows_of_its_own() {
    let mut generator = seeded(14);
    for rows in [1, 2, 3, 16, 31, 33] {
        let (batch, columns) = (70, 20);
        let scale = |k: usize| 2f64.powi((k as i32 * 37) % 400 - 200);
        let mut matrices = Vec::new();
        let mut vectors = Vec::new();
        for k in 0..batch {
            matrices.extend((0..rows * columns).map(|_| generator.number(-9, 0) * scale(k)));
            vectors.extend((0..columns).map(|_| generator.number(-9, 0) * scale(3 * k)));
            if k % 7 == 3 {
                vectors[k * columns + 11] = [0.0, -0.0, 1e300, 1e-310, f64::NAN][k % 5];
            }
        }
        let shape = (batch, rows, columns);
        let batch = Batch {
            shape,
            matrices,
            vectors,
        };
        batch.check(2, "scaled");
    }
}

#[test]
fn stencils_are_those_of_the_crate() {
    let mut generator = seeded(7);
    for case in 0..60 {
        let terms = [0, 1, 5, 25, 127][generator.below(5)];
        let coefficients = generator.numbers(terms);
        let mut values = generator.numbers(1200);
        if generator.below(2) == 0 {
            // Zeros among others, and regions of nothing else.
            (0..values.len()).for_each(|k| {
                if k % 7 == 0 || (200..400).contains(&k) {
                    values[k] = [0.0, -0.0][k % 2];
                }
            });
        }
        let offsets: Vec<isize> = (0..terms)
            .map(|_| generator.between(-90, 90) as isize)
            .collect();
        let count = generator.below(1000);
        let mut expected = vec![0.0; count];
        linear::stencil(&coefficients, &offsets, &values, 100, &mut expected).expect("within");
        let found = stencil(
            "kulisch_stencil",
            &coefficients,
            &offsets,
            &values,
            (100, count),
        );
        for (place, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let what = format!("case {case}, {terms} terms, result {place}");
            assert_same(found, expected, &what);
        }
    }
}

/// With small integers all of them are exact.
#[test]
fn plain_kernels_compute_the_same() {
    let mut generator = seeded(8);
    let mut device = Device::new();
    let mut integers = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|_| generator.between(-50, 50).into())
            .collect()
    };
    for length in [0, 1, 2, 1000, 20_001] {
        let (left, right) = (integers(length), integers(length));
        for blocks in [1, 3] {
            let found = device.reduce("naive_sum", &left, &[], blocks);
            assert_eq!(found, kulisch::sum(&left));
            let found = device.reduce("naive_magnitude_sum", &left, &[], blocks);
            assert_eq!(found, kulisch::magnitude_sum(&left));
            let found = device.reduce("naive_dot", &left, &right, blocks);
            assert_eq!(found, kulisch::dot(&left, &right).expect("equal lengths"));
        }
    }
    let sparse = Sparse {
        starts: vec![0, 3, 3, 70, 100],
        columns: (0..100).map(|k| k * 7 % 31).collect(),
        values: integers(100),
        vector: integers(31),
    };
    assert_eq!(sparse.emulated("naive_spmv", 1), sparse.expected());
    for shape in [
        (0, 3, 3),
        (3, 0, 3),
        (3, 3, 0),
        (5, 7, 3),
        (2, 16, 16),
        (3, 9, 100),
    ] {
        let batch = Batch::new(shape, &mut integers);
        assert_eq!(batch.emulated("naive_gemv", 1), batch.expected());
    }
    let (coefficients, values) = (integers(3), integers(600));
    let offsets = [-1, 0, 40];
    let mut expected = vec![0.0; 500];
    linear::stencil(&coefficients, &offsets, &values, 1, &mut expected).expect("within");
    let found = stencil("naive_stencil", &coefficients, &offsets, &values, (1, 500));
    assert_eq!(found, expected);
}

#[test]
fn what_is_not_finite_and_zeros_are_as_in_the_crate() {
    let mut device = Device::new();
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1.0,
        f64::MAX,
        -f64::from_bits(1),
    ];
    for choice in 0..1usize << special.len() {
        let values: Vec<f64> = (0..special.len())
            .filter(|bit| choice >> bit & 1 == 1)
            .map(|bit| special[bit])
            .collect();
        let what = format!("{values:?}");
        assert_same(device.sum(&values, 1), kulisch::sum(&values), &what);
        // The same far apart, among zeros of one sign.
        let mut far = vec![-0.0; 600];
        let places = values.iter().enumerate();
        places.for_each(|(k, &value)| far[67 * k + 3] = value);
        assert_same(device.sum(&far, 2), kulisch::sum(&far), &what);
        // Every number with every other.
        let pairs = values
            .iter()
            .flat_map(|&a| special.iter().map(move |&b| (a, b)));
        let (left, right): (Vec<f64>, Vec<f64>) = pairs.unzip();
        for count in [left.len(), left.len().min(5), left.len().min(1)] {
            let (left, right) = (&left[..count], &right[..count]);
            let expected = kulisch::dot(left, right).expect("equal lengths");
            let what = format!("{left:?} · {right:?}");
            assert_same(device.dot(left, right, 1), expected, &what);
        }
    }
    // Some of them in rows and at points, among other numbers.
    let mut generator = seeded(9);
    let mut some = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|_| match generator.below(12) {
                kind @ 0..8 => special[kind],
                _ => generator.number(-5, 5),
            })
            .collect()
    };
    for terms in [1, 2, 3, 7, 40] {
        let (coefficients, values) = (some(terms), some(400));
        let offsets: Vec<isize> = (0..terms as isize).map(|k| 3 * k).collect();
        let mut expected = vec![0.0; 200];
        linear::stencil(&coefficients, &offsets, &values, 0, &mut expected).expect("within");
        let found = stencil(
            "kulisch_stencil",
            &coefficients,
            &offsets,
            &values,
            (0, 200),
        );
        let finite: Vec<f64> = values
            .iter()
            .map(|&value| if value.is_finite() { value } else { -0.0 })
            .collect();
        let mut expected_finite = vec![0.0; 200];
        linear::stencil(&coefficients, &offsets, &finite, 0, &mut expected_finite).expect("within");
        let found_finite = stencil(
            "kulisch_stencil",
            &coefficients,
            &offsets,
            &finite,
            (0, 200),
        );
        let pairs = found.into_iter().chain(found_finite);
        for (found, expected) in pairs.zip(expected.into_iter().chain(expected_finite)) {
            assert_same(found, expected, &format!("{terms} terms: {coefficients:?}"));
        }
        let sparse = Sparse {
            starts: (0..=20).map(|row| terms * row).collect(),
            columns: (0..20 * terms).map(|k| k * 7 % 400).collect(),
            values: some(20 * terms),
            vector: values,
        };
        let found = sparse.emulated("kulisch_spmv", 1);
        for (found, expected) in found.into_iter().zip(sparse.expected()) {
            assert_same(found, expected, &format!("rows of {terms}"));
        }
        Batch::new((9, 8, terms), &mut some).check(1, "special");
    }
    // One product in a row, or at a point.
    for a in special {
        for b in special {
            let expected = kulisch::dot(&[a], &[b]).expect("equal lengths");
            let sparse = Sparse {
                starts: vec![0, 1],
                columns: vec![0],
                values: vec![a],
                vector: vec![b],
            };
            let what = format!("{a:e} · {b:e}");
            assert_same(sparse.emulated("kulisch_spmv", 1)[0], expected, &what);
            let found = stencil("kulisch_stencil", &[a], &[0], &[b], (0, 1));
            assert_same(found[0], expected, &what);
            let batch = Batch {
                shape: (1, 1, 1),
                matrices: vec![a],
                vectors: vec![b],
            };
            assert_same(batch.emulated("kulisch_gemv", 1)[0], expected, &what);
        }
    }
}
