//! The kernels under the emulator: the processor's bits.

use ozaki::device::DeviceTables;
use ozaki::{PhaseB, Scheme, Side, SparseMatrix, multiply, multiply_vectors};
use ozfft_emulator::launch;
use ozfft_kernels::ozaki as kernels;
use ozfft_testkit::oracle::inputs::Generator;

const SEED: u64 = 0x02a4_1126;

fn numbers(generator: &mut Generator, count: usize, spread: usize) -> Vec<f64> {
    (0..count)
        .map(|_| match generator.below(16) {
            0 => 0.0,
            1 => -1.0,
            _ => {
                let exponent = generator.below(spread + 1) as i32 - spread as i32 / 2;
                let half = exponent / 2;
                generator.uniform() * 2f64.powi(half) * 2f64.powi(exponent - half)
            }
        })
        .collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Launches a kernel with its parameters.
fn run<P>(kernel: &str, task: &P, blocks: usize, shared: usize) {
    let parameters = std::ptr::from_ref(task).cast();
    // SAFETY: every caller passes the structure that the kernel takes, with addresses of arrays as long as it says.
    unsafe { launch(kernel, parameters, blocks as u64, kernels::THREADS, shared) };
}

/// Residues of rows, padded to whole words, and exponent fields.
fn rows_on_device(
    tables: &DeviceTables,
    side: Side,
    values: &[f64],
    length: usize,
) -> (Vec<i8>, Vec<i32>, usize) {
    let (rows, pitch) = (values.len() / length, length.div_ceil(16) * 4);
    let mut residues = vec![99i8; 4 * pitch * rows * tables.count];
    let mut fields = vec![-1i32; rows];
    let task = kernels::RowsTask {
        values: values.as_ptr() as u64,
        fields: fields.as_mut_ptr() as u64,
        residues: residues.as_mut_ptr() as u64,
        plane: (pitch * rows) as u64,
        rows: rows as u32,
        length: length as u32,
        pitch: pitch as u32,
        bits: tables.bits as i32,
        count: tables.count as i32,
        moduli: tables.reductions[side as usize],
    };
    run(kernels::ROWS_NAME, &task, 3, kernels::ROWS_SHARED_BYTES);
    (residues, fields, 4 * pitch)
}

fn product_on_device(
    tables: &DeviceTables,
    phase_b: PhaseB,
    (m, k, n): (usize, usize, usize),
    a: &[f64],
    b: &[f64],
) -> Vec<f64> {
    let mut turned = vec![f64::NAN; b.len()];
    let task = kernels::TransposeTask {
        from: b.as_ptr() as u64,
        to: turned.as_mut_ptr() as u64,
        rows: k as u32,
        columns: n as u32,
    };
    let squares = k.div_ceil(kernels::SQUARE) * n.div_ceil(kernels::SQUARE);
    let shared = kernels::TRANSPOSE_SHARED_BYTES;
    run(kernels::TRANSPOSE_NAME, &task, squares, shared);
    let (left, row_fields, pitch) = rows_on_device(tables, Side::Left, a, k);
    let (right, column_fields, _) = rows_on_device(tables, Side::Right, &turned, k);
    // What the library does on a GPU, padding included.
    let mut sums = vec![0i32; m * n * tables.count];
    for (place, sum) in sums.iter_mut().enumerate() {
        let (number, row, column) = (place / (m * n), place / n % m, place % n);
        let left = &left[(number * m + row) * pitch..][..pitch];
        let right = &right[(number * n + column) * pitch..][..pitch];
        *sum = left
            .iter()
            .zip(right)
            .map(|(&a, &b)| i32::from(a) * i32::from(b))
            .sum();
    }
    let mut result = vec![f64::MIN; m * n];
    let task = kernels::ReconstructTask {
        sums: sums.as_ptr() as u64,
        row_fields: row_fields.as_ptr() as u64,
        column_fields: column_fields.as_ptr() as u64,
        result: result.as_mut_ptr() as u64,
        plane: (m * n) as u64,
        rows: m as u32,
        columns: n as u32,
        bits: tables.bits as i32,
        count: tables.count as i32,
        weights: tables.weights,
    };
    let blocks = m * n.div_ceil(kernels::THREADS as usize);
    run(
        kernels::RECONSTRUCT_NAMES[phase_b as usize],
        &task,
        blocks,
        0,
    );
    result
}

#[test]
fn products_of_matrices_have_the_processors_bits() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    for (shape, count, spread) in [
        ((5, 40, 7), 16, 20),
        ((3, 17, 300), 14, 0),
        ((33, 34, 35), 18, 60),
        ((2, 1, 2), 2, 4),
        ((4, 300, 3), 15, 1900),
        ((1, 5, 1), 7, 2090),
    ] {
        let (m, k, n) = shape;
        let mut a = numbers(&mut generator, m * k, spread);
        let b = numbers(&mut generator, k * n, spread);
        if m > 4 {
            a[2 * k] = f64::NEG_INFINITY;
        }
        let scheme = Scheme::with_moduli(k, count).expect("a scheme");
        let tables = DeviceTables::new(&scheme).expect("tables");
        for phase_b in [PhaseB::Integers, PhaseB::Doubles] {
            let mut expected = vec![0.0; m * n];
            multiply(&scheme, phase_b, shape, &a, &b, &mut expected, 1).expect("a product");
            let found = product_on_device(&tables, phase_b, shape, &a, &b);
            assert_eq!(
                bits(&found),
                bits(&expected),
                "{shape:?}, {count} moduli, {phase_b:?}"
            );
        }
    }
}

/// Residues and exponent fields of vectors.
fn vectors_on_device(
    tables: &DeviceTables,
    values: &[f64],
    length: usize,
) -> (Vec<u128>, Vec<i32>) {
    let vectors = values.len() / length;
    let (mut residues, mut fields) = (vec![u128::MAX; values.len()], vec![0; vectors]);
    let task = kernels::VectorTask {
        values: values.as_ptr() as u64,
        fields: fields.as_mut_ptr() as u64,
        residues: residues.as_mut_ptr() as u64,
        length: length as u32,
        vectors: vectors as u32,
        bits: tables.bits as i32,
        count: tables.count as i32,
        moduli: tables.of_vectors(),
    };
    run(kernels::VECTOR_FIELDS_NAME, &task, 2, 0);
    run(kernels::VECTOR_RESIDUES_NAME, &task, 2, 0);
    (residues, fields)
}

/// A kernel of rows and vectors.
fn product_kernel(count: usize, phase_b: PhaseB) -> &'static str {
    let place = kernels::PRODUCT_MODULI
        .iter()
        .position(|&moduli| moduli == count);
    kernels::PRODUCT_NAMES[place.expect("there are kernels")][phase_b as usize]
}

#[test]
fn batches_of_small_matrices_have_the_processors_bits() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED + 1);
    for (shape, count, group_bits, spread) in [
        ((20, 16, 16), 16, 2, 20),
        ((3, 70, 5), 14, 0, 0),
        ((2, 9, 300), 16, 5, 60),
        ((1, 40, 33), 14, 3, 1000),
    ] {
        let (batch, rows, columns) = shape;
        let matrices = numbers(&mut generator, batch * rows * columns, spread);
        let mut vectors = numbers(&mut generator, batch * columns, spread);
        if batch == 3 {
            vectors[columns] = f64::NAN;
        }
        let scheme = Scheme::with_moduli(columns, count).expect("a scheme");
        let tables = DeviceTables::new(&scheme).expect("tables");
        let (residues, fields) = vectors_on_device(&tables, &vectors, columns);
        for phase_b in [PhaseB::Integers, PhaseB::Doubles] {
            let mut expected = vec![0.0; batch * rows];
            multiply_vectors(
                &scheme,
                phase_b,
                shape,
                &matrices,
                &vectors,
                &mut expected,
                1,
            )
            .expect("products");
            let mut found = vec![f64::MIN; batch * rows];
            let task = kernels::ProductTask {
                row_starts: 0,
                columns: 0,
                values: matrices.as_ptr() as u64,
                residues: residues.as_ptr() as u64,
                vector_fields: fields.as_ptr() as u64,
                result: found.as_mut_ptr() as u64,
                rows: (batch * rows) as u32,
                length: columns as u32,
                rows_of_vector: rows as u32,
                group_bits,
                bits: tables.bits as i32,
                reserved: 0,
                weights: tables.weights,
            };
            run(
                product_kernel(count, phase_b),
                &task,
                1,
                kernels::PRODUCT_SHARED_BYTES,
            );
            assert_eq!(
                bits(&found),
                bits(&expected),
                "{shape:?}, {count} moduli, {phase_b:?}"
            );
        }
    }
}

#[test]
fn sparse_matrices_have_the_processors_bits() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED + 2);
    for (rows, width, count, group_bits) in [
        (90, 50, 16, 3),
        (300, 700, 14, 1),
        (33, 9, 16, 5),
        (40, 300, 14, 0),
    ] {
        let (mut starts, mut columns) = (vec![0u32], Vec::new());
        for _ in 0..rows {
            let entries = [0, 1, 7, 27, 64, 130][generator.below(6)];
            columns.extend((0..entries).map(|_| generator.below(width) as u32));
            starts.push(columns.len() as u32);
        }
        let values = numbers(&mut generator, columns.len(), 30);
        let vector = numbers(&mut generator, width, 30);
        let matrix = SparseMatrix::new(&starts, &columns, &values, width).expect("a matrix");
        let scheme = Scheme::with_moduli(matrix.longest_row(), count).expect("a scheme");
        let tables = DeviceTables::new(&scheme).expect("tables");
        let (residues, fields) = vectors_on_device(&tables, &vector, width);
        for phase_b in [PhaseB::Integers, PhaseB::Doubles] {
            let mut expected = vec![0.0; rows];
            matrix
                .multiply_vector(&scheme, phase_b, &vector, &mut expected, 1)
                .expect("a product");
            let mut found = vec![f64::MIN; rows];
            let task = kernels::ProductTask {
                row_starts: starts.as_ptr() as u64,
                columns: columns.as_ptr() as u64,
                values: values.as_ptr() as u64,
                residues: residues.as_ptr() as u64,
                vector_fields: fields.as_ptr() as u64,
                result: found.as_mut_ptr() as u64,
                rows: rows as u32,
                length: 0,
                rows_of_vector: 0,
                group_bits,
                bits: tables.bits as i32,
                reserved: 0,
                weights: tables.weights,
            };
            run(
                product_kernel(count, phase_b),
                &task,
                2,
                kernels::PRODUCT_SHARED_BYTES,
            );
            assert_eq!(
                bits(&found),
                bits(&expected),
                "{rows} rows, {count} moduli, {phase_b:?}"
            );
        }
    }
}

#[test]
fn multiples_are_added_with_one_rounding() {
    let mut generator = Generator::new(SEED + 3);
    let (x, y) = (
        numbers(&mut generator, 700, 4),
        numbers(&mut generator, 700, 4),
    );
    let mut found = vec![f64::MIN; x.len()];
    let task = kernels::MultiplyAddTask {
        x: x.as_ptr() as u64,
        y: y.as_ptr() as u64,
        to: found.as_mut_ptr() as u64,
        factor: 1.0 / 3.0,
        count: x.len() as u64,
    };
    run(kernels::MULTIPLY_ADD_NAME, &task, 2, 0);
    let expected: Vec<f64> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| (1.0f64 / 3.0).mul_add(*x, *y))
        .collect();
    assert_eq!(bits(&found), bits(&expected));
}
