//! Rows of matrices, dense ones or a sparse one, times vectors on a GPU.
#![allow(unsafe_code)]

use super::Bench;
use super::kernels::{Blocks, Kernels, Work};
use crate::failure::Failure;
use crate::linear_algebra::accuracy::{Errors, sample};
use crate::linear_algebra::problems::{Batch, Sparse};
use crate::linear_algebra::processor::{PHASES_B, batch_errors, method_name, sparse_errors};
use crate::linear_algebra::{Row, rejected};
use crate::sums::cuda::libraries::{BatchAddresses, CuBlas, CuSparse, SparseAddresses};
use crate::sums::cuda::reductions::{poisoned, upload};
use ozaki::device::DeviceTables;
use ozaki::{PhaseB, Scheme, SparseMatrix, multiply_vectors};
use ozfft_kernels::ozaki as kernels;
use ozfft_measure::gpu::Memory;

/// Matrices or rows whose bits are compared with the processor's.
const COMPARED: usize = 2048;
/// The kernel without phase B, among those of a number of moduli.
const WITHOUT: usize = 2;

/// What a product with vectors launches.
pub struct Pipeline {
    vectors: kernels::VectorTask,
    product: kernels::ProductTask,
    names: [&'static str; 3],
}

/// Where a matrix is.
pub struct Matrix {
    pub values: u64,
    /// Where rows begin, and columns, of a sparse one.
    pub sparse: Option<(u64, u64)>,
    /// All rows, entries of a row, and rows that are multiplied by the same vector.
    pub rows: usize,
    pub length: usize,
    pub rows_of_vector: usize,
    /// Entries of all rows.
    pub entries: usize,
}

/// Where vectors are, and how many of which length.
pub struct Vectors {
    pub values: u64,
    pub length: usize,
    pub count: usize,
}

impl Pipeline {
    /// For a scheme that there are kernels for; nothing for others. The memory must live as long as the pipeline.
    pub fn new(
        kernels: &Kernels<'_>,
        scheme: &Scheme,
        matrix: &Matrix,
        vectors: &Vectors,
        result: u64,
    ) -> Result<Option<(Pipeline, [Memory; 2])>, Failure> {
        let count = scheme.moduli().len();
        let place = kernels::PRODUCT_MODULI
            .iter()
            .position(|&moduli| moduli == count);
        let Some(place) = place else {
            return Ok(None);
        };
        let numbers = vectors.length * vectors.count;
        if matrix.entries > i32::MAX as usize || numbers > i32::MAX as usize {
            return Err(Failure::Usage(format!(
                "{} entries, or {numbers} numbers of vectors, are more than kernels count",
                matrix.entries
            )));
        }
        let tables = DeviceTables::new(scheme).map_err(rejected)?;
        let context = &kernels.gpu.context;
        let residues = Memory::new(context, 16 * numbers)?;
        let fields = Memory::new(context, 4 * vectors.count)?;
        let task = kernels::VectorTask {
            values: vectors.values,
            fields: fields.range(0, 4 * vectors.count)?,
            residues: residues.range(0, 16 * numbers)?,
            length: vectors.length as u32,
            vectors: vectors.count as u32,
            bits: tables.bits as i32,
            count: count as i32,
            moduli: tables.of_vectors(),
        };
        // Four entries a lane, and as many lanes as a row of mean length has.
        let mean = matrix.entries.div_ceil(matrix.rows.max(1));
        let lanes = mean.div_ceil(4).next_power_of_two().clamp(1, 32);
        let (row_starts, columns) = matrix.sparse.unwrap_or_default();
        let product = kernels::ProductTask {
            row_starts,
            columns,
            values: matrix.values,
            residues: task.residues,
            vector_fields: task.fields,
            result,
            rows: matrix.rows as u32,
            length: matrix.length as u32,
            rows_of_vector: matrix.rows_of_vector.max(1) as u32,
            group_bits: lanes.trailing_zeros() as i32,
            bits: tables.bits as i32,
            reserved: 0,
            weights: tables.weights,
        };
        let pipeline = Pipeline {
            vectors: task,
            product,
            names: kernels::PRODUCT_NAMES[place],
        };
        Ok(Some((pipeline, [residues, fields])))
    }

    /// Puts the product into the stream, with one of the kernels of its number of moduli.
    ///
    /// # Safety
    /// The addresses that it was made with are memory of the device, as long as was said, until the stream has come so far.
    pub unsafe fn queue(&self, kernels: &Kernels<'_>, kernel: usize) -> Result<(), Failure> {
        let vectors = &self.vectors;
        let threads = u64::from(kernels::THREADS);
        let numbers = u64::from(vectors.length) * u64::from(vectors.vectors);
        let blocks = Blocks::AtMost(numbers.div_ceil(threads));
        let rows =
            Blocks::AtMost(u64::from(self.product.rows).div_ceil(kernels::BLOCK_ROWS as u64));
        // SAFETY: the caller's promise.
        unsafe {
            kernels.clear(vectors.fields, 4 * vectors.vectors as usize)?;
            kernels.launch(kernels::VECTOR_FIELDS_NAME, vectors, blocks)?;
            kernels.launch(kernels::VECTOR_RESIDUES_NAME, vectors, blocks)?;
            kernels.launch(self.names[kernel], &self.product, rows)
        }
    }
}

/// Places of results, and the processor's results there.
type Expected = (Vec<usize>, Vec<f64>);

/// What is measured, and how results are judged.
struct Case<'a> {
    operation: &'static str,
    data: String,
    products: usize,
    results: usize,
    /// Places that are compared, and what the processor has there.
    expected: &'a dyn Fn(&Scheme, PhaseB) -> Result<Expected, Failure>,
    judge: &'a dyn Fn(&[f64], Option<&Scheme>) -> Errors,
}

/// Measures all schemes that there are kernels for beside the library.
fn measure(
    bench: &Bench<'_>,
    case: &Case<'_>,
    library: Option<Box<Work<'_>>>,
    (pipelines, result): (&[(&Scheme, Pipeline)], &Memory),
) -> Result<Vec<Row>, Failure> {
    let kernels = &bench.kernels;
    let results = || -> Result<Vec<f64>, Failure> {
        kernels.wait()?;
        let mut results = vec![0.0; case.results];
        result.download(0, &mut results)?;
        Ok(results)
    };
    let mut judged = Vec::new();
    let mut works: Vec<Box<Work<'_>>> = Vec::new();
    let has_library = library.is_some();
    if let Some(mut work) = library {
        work()?;
        judged.push((case.judge)(&results()?, None));
        works.push(work);
    }
    let mut equal = 0;
    for (scheme, pipeline) in pipelines {
        for (phase_b, _) in PHASES_B {
            // SAFETY: the caller's arrays live until this function ends, and have the lengths that the pipeline was made with.
            unsafe { pipeline.queue(kernels, phase_b as usize) }?;
            let found = results()?;
            let (places, expected) = (case.expected)(scheme, phase_b)?;
            for (&place, expected) in places.iter().zip(&expected) {
                if found[place].to_bits() != expected.to_bits() {
                    return Err(Failure::Check(format!(
                        "{}, {}, {} moduli, {phase_b:?}: result {place} is {:e} on the GPU and {expected:e} on the processor",
                        case.operation,
                        case.data,
                        scheme.moduli().len(),
                        found[place]
                    )));
                }
            }
            equal = places.len();
            judged.push((case.judge)(&found, Some(scheme)));
        }
        for kernel in 0..=WITHOUT {
            // SAFETY: as above.
            works.push(Box::new(move || unsafe { pipeline.queue(kernels, kernel) }));
        }
    }
    if works.is_empty() {
        return Ok(Vec::new());
    }
    let times = kernels.times(&mut works, bench.seconds)?;
    drop(works);
    let base = has_library.then(|| times[0].median);
    let row = |method: String, time: super::kernels::Times, errors: Errors| Row {
        operation: case.operation,
        data: case.data.clone(),
        products: case.products as f64,
        method,
        moduli: None,
        bits: None,
        byte_products: None,
        seconds: time.median,
        shortest_seconds: time.shortest,
        runs: time.runs,
        tera_operations: 2e-12 * case.products as f64 / time.median,
        gain_over_fp64: base.map(|base| base / time.median),
        share_of_phase_b: None,
        gain_of_integers: None,
        phases: None,
        error: Some(errors.largest()),
        relative_error: Some(errors.relative()),
        bound: errors.bound(),
        equal_bits: None,
    };
    let mut judged = judged.into_iter();
    let mut rows = Vec::new();
    if has_library {
        let errors = judged.next().unwrap_or_default();
        rows.push(row("FP64".into(), times[0], errors));
    }
    let of_kernels = times[usize::from(has_library)..].chunks_exact(WITHOUT + 1);
    for ((scheme, _), times) in pipelines.iter().zip(of_kernels) {
        let [integers, doubles, without] = [0, 1, WITHOUT].map(|kernel| times[kernel].median);
        for (number, (_, name)) in PHASES_B.into_iter().enumerate() {
            let errors = judged.next().unwrap_or_default();
            rows.push(Row {
                moduli: Some(scheme.moduli().len()),
                bits: Some(scheme.bits()),
                byte_products: Some(scheme.moduli().len()),
                // Negative where the difference is lost in what times vary by.
                share_of_phase_b: Some(1.0 - without / doubles),
                gain_of_integers: Some(doubles / integers),
                equal_bits: Some(equal),
                ..row(method_name(scheme, name), times[number], errors)
            });
        }
    }
    Ok(rows)
}

/// Dense matrices times vectors.
pub fn dense(
    bench: &Bench<'_>,
    cublas: &Result<CuBlas, Failure>,
    operation: &'static str,
    batch: &Batch,
    schemes: &[Scheme],
) -> Result<Vec<Row>, Failure> {
    let kernels = &bench.kernels;
    let (count, rows, columns) = batch.shape;
    let (_matrices, values) = upload(kernels.gpu, &batch.matrices)?;
    let (_vectors, vectors) = upload(kernels.gpu, &batch.vectors)?;
    let (result, address) = poisoned(kernels.gpu, count * rows)?;
    let matrix = Matrix {
        values,
        sparse: None,
        rows: count * rows,
        length: columns,
        rows_of_vector: rows,
        entries: batch.matrices.len(),
    };
    let of_vectors = Vectors {
        values: vectors,
        length: columns,
        count,
    };
    let mut pipelines = Vec::new();
    let mut memory = Vec::new();
    for scheme in schemes {
        let made = Pipeline::new(kernels, scheme, &matrix, &of_vectors, address)?;
        if let Some((pipeline, own)) = made {
            pipelines.push((scheme, pipeline));
            memory.push(own);
        }
    }
    let addresses = &BatchAddresses {
        matrices: values,
        vectors,
        result: address,
        shape: batch.shape,
    };
    let library = cublas.as_ref().ok().map(|cublas| {
        // SAFETY: the arrays have these lengths, and live until the end of this function.
        Box::new(move || unsafe { cublas.multiply_batch(addresses) }) as Box<Work<'_>>
    });
    let expected = |scheme: &Scheme, phase_b: PhaseB| -> Result<Expected, Failure> {
        // Whole matrices of a batch, rows of a single one.
        let some = sample(
            if count == 1 { rows } else { count },
            COMPARED.div_ceil(rows).max(64),
        );
        let (mut places, mut results) = (Vec::new(), Vec::new());
        for number in some {
            let (first, height) = if count == 1 {
                (number, 1)
            } else {
                (number * rows, rows)
            };
            let mut part = vec![0.0; height];
            let values = &batch.matrices[first * columns..][..height * columns];
            let shape = (1, height, columns);
            let vector = batch.vector(first);
            multiply_vectors(scheme, phase_b, shape, values, vector, &mut part, 1)
                .map_err(rejected)?;
            places.extend(first..first + height);
            results.extend(part);
        }
        Ok((places, results))
    };
    let judge = |found: &[f64], scheme: Option<&Scheme>| batch_errors(batch, found, scheme);
    let case = Case {
        operation,
        data: batch.name(),
        products: batch.matrices.len(),
        results: count * rows,
        expected: &expected,
        judge: &judge,
    };
    measure(bench, &case, library, (&pipelines, &result))
}

/// A sparse matrix times a vector.
pub fn sparse(
    bench: &Bench<'_>,
    cusparse: &Result<CuSparse, Failure>,
    sparse: &Sparse,
    schemes: &[Scheme],
) -> Result<Vec<Row>, Failure> {
    let kernels = &bench.kernels;
    let (rows, width) = (sparse.row_starts.len() - 1, sparse.vector.len());
    // Checked before anything of it is used on the device.
    sparse.matrix()?;
    let (_starts, row_starts) = upload(kernels.gpu, &sparse.row_starts)?;
    let (_columns, columns) = upload(kernels.gpu, &sparse.columns)?;
    let (_values, values) = upload(kernels.gpu, &sparse.values)?;
    let (_vector, vector) = upload(kernels.gpu, &sparse.vector)?;
    let (result, address) = poisoned(kernels.gpu, rows)?;
    let matrix = Matrix {
        values,
        sparse: Some((row_starts, columns)),
        rows,
        length: 0,
        rows_of_vector: rows,
        entries: sparse.values.len(),
    };
    let of_vector = Vectors {
        values: vector,
        length: width,
        count: 1,
    };
    let mut pipelines = Vec::new();
    let mut memory = Vec::new();
    for scheme in schemes {
        let made = Pipeline::new(kernels, scheme, &matrix, &of_vector, address)?;
        if let Some((pipeline, own)) = made {
            pipelines.push((scheme, pipeline));
            memory.push(own);
        }
    }
    let product = match cusparse {
        Ok(library) => {
            let addresses = SparseAddresses {
                row_starts,
                columns,
                values,
                vector,
                result: address,
                rows,
                width,
                entries: sparse.values.len(),
            };
            // SAFETY: the arrays have just been allocated with these lengths, and live beside the product.
            let (product, bytes) = unsafe { library.product(&addresses) }?;
            let buffer = Memory::new(&kernels.gpu.context, bytes)?;
            Some((library, product, buffer))
        }
        Err(_) => None,
    };
    let library = product.as_ref().map(|(library, product, buffer)| {
        Box::new(move || {
            let buffer = buffer.range(0, 0)?;
            // SAFETY: the buffer has the length that was asked for.
            unsafe { library.multiply(product, buffer) }
        }) as Box<Work<'_>>
    });
    let expected = |scheme: &Scheme, phase_b: PhaseB| -> Result<Expected, Failure> {
        let places = sample(rows, COMPARED);
        let (mut starts, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
        for &row in &places {
            let ends = sparse.row_starts[row] as usize..sparse.row_starts[row + 1] as usize;
            columns.extend_from_slice(&sparse.columns[ends.clone()]);
            values.extend_from_slice(&sparse.values[ends]);
            starts.push(columns.len() as u32);
        }
        let mut results = vec![0.0; places.len()];
        SparseMatrix::new(&starts, &columns, &values, width)
            .and_then(|some| some.multiply_vector(scheme, phase_b, &sparse.vector, &mut results, 1))
            .map_err(rejected)?;
        Ok((places, results))
    };
    let judge = |found: &[f64], scheme: Option<&Scheme>| sparse_errors(sparse, found, scheme);
    let case = Case {
        operation: "spmv",
        data: sparse.name.into(),
        products: sparse.values.len(),
        results: rows,
        expected: &expected,
        judge: &judge,
    };
    measure(bench, &case, library, (&pipelines, &result))
}
