//! Reductions of arrays on a GPU: by the exact kernels, by plain ones, by kernels that only read, and by NVIDIA's libraries.
#![allow(unsafe_code)]

use super::libraries::{BatchAddresses, CuBlas, CuSparse, SparseAddresses, SparseProduct};
use crate::failure::Failure;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{result, sys};
use kulisch::linear::SparseMatrix;
use ozfft_kernels::kulisch as kernels;
use ozfft_measure::gpu::{Gpu, Memory, failed};
use std::collections::HashMap;
use std::ffi::{CString, c_void};

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Sum,
    MagnitudeSum,
    Dot,
    SparseProduct,
    BatchProduct,
    Stencil,
}

/// Who computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Exactly, with integers.
    Exact,
    /// With plain instructions on f64.
    Naive,
    /// Not at all: the same memory is read.
    Read,
    /// cuBLAS or cuSPARSE.
    Library,
}

/// What the driver says of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    pub(crate) handle: sys::CUfunction,
    pub registers: u32,
    /// Bytes of a thread that do not fit into registers.
    pub local_bytes: u32,
    /// Blocks that a multiprocessor takes at once.
    pub resident_blocks: u32,
}

/// Kernels and libraries of a GPU.
pub struct Reductions<'a> {
    gpu: &'a Gpu,
    functions: HashMap<(Operation, Variant), Function>,
    pub cublas: Result<CuBlas, Failure>,
    pub cusparse: Result<CuSparse, Failure>,
}

fn kernel_of(operation: Operation, variant: Variant) -> Option<(&'static [u8], &'static str)> {
    use Operation::{BatchProduct, Dot, MagnitudeSum, SparseProduct, Stencil, Sum};
    Some(match (variant, operation) {
        (Variant::Exact, Sum) => (kernels::SUM_IMAGE, "kulisch_sum"),
        (Variant::Exact, MagnitudeSum) => (kernels::SUM_IMAGE, "kulisch_magnitude_sum"),
        (Variant::Exact, Dot) => (kernels::DOT_IMAGE, "kulisch_dot"),
        (Variant::Exact, SparseProduct) => (kernels::SPMV_IMAGE, "kulisch_spmv"),
        (Variant::Exact, BatchProduct) => (kernels::GEMV_IMAGE, "kulisch_gemv"),
        (Variant::Exact, Stencil) => (kernels::STENCIL_IMAGE, "kulisch_stencil"),
        (Variant::Naive, Sum) => (kernels::NAIVE_IMAGE, "naive_sum"),
        (Variant::Naive, MagnitudeSum) => (kernels::NAIVE_IMAGE, "naive_magnitude_sum"),
        (Variant::Naive, Dot) => (kernels::NAIVE_IMAGE, "naive_dot"),
        (Variant::Naive, SparseProduct) => (kernels::NAIVE_IMAGE, "naive_spmv"),
        (Variant::Naive, BatchProduct) => (kernels::NAIVE_IMAGE, "naive_gemv"),
        (Variant::Naive, Stencil) => (kernels::NAIVE_IMAGE, "naive_stencil"),
        (Variant::Read, Sum | MagnitudeSum) => (kernels::NAIVE_IMAGE, "read_sum"),
        (Variant::Read, Dot) => (kernels::NAIVE_IMAGE, "read_dot"),
        (Variant::Read, SparseProduct) => (kernels::NAIVE_IMAGE, "read_spmv"),
        (Variant::Read, BatchProduct) => (kernels::NAIVE_IMAGE, "read_gemv"),
        (Variant::Read, Stencil) => (kernels::NAIVE_IMAGE, "read_stencil"),
        (Variant::Library, _) => return None,
    })
}

const OPERATIONS: [Operation; 6] = [
    Operation::Sum,
    Operation::MagnitudeSum,
    Operation::Dot,
    Operation::SparseProduct,
    Operation::BatchProduct,
    Operation::Stencil,
];

/// Dynamic shared memory of a block.
fn shared_bytes(operation: Operation) -> usize {
    match operation {
        Operation::SparseProduct => kernels::SPARSE_SHARED_BYTES,
        Operation::BatchProduct => kernels::BATCH_SHARED_BYTES,
        _ => kernels::SHARED_BYTES,
    }
}

/// Loads a kernel; its module stays for the life of the process.
pub(crate) fn load(image: &[u8], name: &str, shared: usize) -> Result<Function, Failure> {
    use sys::CUfunction_attribute_enum as Attribute;
    let symbol = CString::new(name).unwrap_or_default();
    // SAFETY: the image is complete and aligned, and the driver copies it; the module is never unloaded. Attributes are
    // integers.
    unsafe {
        let module = result::module::load_data(image.as_ptr().cast::<c_void>())
            .map_err(failed("load kernels"))?;
        let handle =
            result::module::get_function(module, symbol).map_err(failed("find a kernel"))?;
        let attribute = |attribute| {
            let mut value = 0;
            let asked = sys::cuFuncGetAttribute(&mut value, attribute, handle).result();
            asked.map_err(failed("describe a kernel"))?;
            Ok::<u32, Failure>(u32::try_from(value).unwrap_or(0))
        };
        // More than 48 KiB must be allowed.
        let most = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        sys::cuFuncSetAttribute(handle, most, shared as i32)
            .result()
            .map_err(failed("give a kernel its shared memory"))?;
        let mut blocks = 0;
        let threads = kernels::THREADS as i32;
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, handle, threads, shared)
            .result()
            .map_err(failed("describe a kernel"))?;
        Ok(Function {
            handle,
            registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            resident_blocks: u32::try_from(blocks).unwrap_or(1).max(1),
        })
    }
}

/// Doubles on the device: a pattern, repeated.
pub struct Numbers {
    memory: Memory,
    count: usize,
}

impl Numbers {
    /// So many repetitions of the pattern.
    pub fn repeated(gpu: &Gpu, pattern: &[f64], times: usize) -> Result<Numbers, Failure> {
        let count = pattern.len() * times;
        let mut memory = Memory::new(&gpu.context, 8 * count)?;
        memory.fill(pattern)?;
        Ok(Numbers { memory, count })
    }
}

/// What is reduced, and where the result goes.
pub struct Arrays {
    operation: Operation,
    /// Addresses are of the memory below.
    task: Task,
    result: Memory,
    results: usize,
    /// Entries of a matrix for cuSPARSE, and its workspace.
    sparse: Option<(SparseProduct, Memory)>,
    /// Kept alive.
    _memory: Vec<Memory>,
}

enum Task {
    Reduction(kernels::Reduction),
    Sparse(kernels::SparseTask),
    Batch(kernels::BatchTask),
    Stencil(kernels::StencilTask),
}

pub(crate) fn upload<V: bytemuck::Pod>(gpu: &Gpu, values: &[V]) -> Result<(Memory, u64), Failure> {
    let mut memory = Memory::new(&gpu.context, size_of_val(values))?;
    memory.upload(0, values)?;
    let address = memory.range(0, size_of_val(values))?;
    Ok((memory, address))
}

/// A poisoned result, so that what is not written is seen.
pub(crate) fn poisoned(gpu: &Gpu, count: usize) -> Result<(Memory, u64), Failure> {
    let mut memory = Memory::new(&gpu.context, 8 * count)?;
    memory.fill(&[f64::from_bits(0x7ff8_dead_dead_dead)])?;
    let address = memory.range(0, 8 * count)?;
    Ok((memory, address))
}

impl Arrays {
    /// One or two arrays that are reduced to one number.
    pub fn reduction(
        gpu: &Gpu,
        operation: Operation,
        left: Numbers,
        right: Option<Numbers>,
    ) -> Result<Arrays, Failure> {
        let right_count = right.as_ref().map(|right| right.count);
        let fits = match operation {
            Operation::Sum | Operation::MagnitudeSum => right_count.is_none(),
            Operation::Dot => right_count == Some(left.count),
            Operation::SparseProduct | Operation::BatchProduct | Operation::Stencil => false,
        };
        if !fits {
            return Err(Failure::Usage(format!(
                "{operation:?} does not reduce {} and {right_count:?} numbers",
                left.count
            )));
        }
        // Exact kernels leave theirs empty for the next launch; plain ones leave sums in it, and so have their own.
        let (total, total_address) = upload(gpu, &vec![0u8; 2 * kernels::TOTAL_BYTES])?;
        let (result, result_address) = poisoned(gpu, 1)?;
        let bytes = 8 * left.count;
        let right_address = match &right {
            Some(right) => right.memory.range(0, bytes)?,
            None => 0,
        };
        let task = Task::Reduction(kernels::Reduction {
            left: left.memory.range(0, bytes)?,
            right: right_address,
            count: left.count as u64,
            result: result_address,
            total: total_address,
        });
        let mut memory = vec![left.memory, total];
        memory.extend(right.map(|right| right.memory));
        Ok(Arrays {
            operation,
            task,
            result,
            results: 1,
            sparse: None,
            _memory: memory,
        })
    }

    /// A sparse matrix times a vector.
    pub fn sparse(
        reductions: &Reductions<'_>,
        row_starts: &[u32],
        columns: &[u32],
        values: &[f64],
        vector: &[f64],
    ) -> Result<Arrays, Failure> {
        let long = |short: &[u32]| {
            short
                .iter()
                .map(|&value| value as usize)
                .collect::<Vec<_>>()
        };
        let checked = SparseMatrix::new(&long(row_starts), &long(columns), values, vector.len())
            .map(|matrix| matrix.rows());
        let rows = checked.map_err(|error| Failure::Usage(error.to_string()))?;
        // cuSPARSE has signed indices.
        if values.len() > i32::MAX as usize {
            return Err(Failure::Usage(format!(
                "{} entries are more than 32-bit indices count",
                values.len()
            )));
        }
        let gpu = reductions.gpu;
        let (starts_memory, row_starts) = upload(gpu, row_starts)?;
        let (columns_memory, columns) = upload(gpu, columns)?;
        let (values_memory, values_address) = upload(gpu, values)?;
        let (vector_memory, vector_address) = upload(gpu, vector)?;
        let (result, result_address) = poisoned(gpu, rows)?;
        let sparse = match &reductions.cusparse {
            Ok(library) => {
                let addresses = SparseAddresses {
                    row_starts,
                    columns,
                    values: values_address,
                    vector: vector_address,
                    result: result_address,
                    rows,
                    width: vector.len(),
                    entries: values.len(),
                };
                // SAFETY: the arrays have just been allocated with these lengths, and live beside the product.
                let (product, bytes) = unsafe { library.product(&addresses) }?;
                Some((product, Memory::new(&gpu.context, bytes)?))
            }
            Err(_) => None,
        };
        Ok(Arrays {
            operation: Operation::SparseProduct,
            task: Task::Sparse(kernels::SparseTask {
                row_starts,
                columns,
                values: values_address,
                vector: vector_address,
                result: result_address,
                rows: rows as u64,
            }),
            result,
            results: rows,
            sparse,
            _memory: vec![starts_memory, columns_memory, values_memory, vector_memory],
        })
    }

    /// So many matrices of rows and columns, times as many vectors.
    pub fn batch(
        gpu: &Gpu,
        (batch, rows, columns): (usize, usize, usize),
        matrices: Numbers,
        vectors: Numbers,
    ) -> Result<Arrays, Failure> {
        let all_rows = batch.saturating_mul(rows);
        if all_rows.saturating_mul(columns) != matrices.count
            || batch.saturating_mul(columns) != vectors.count
            || all_rows > kernels::MOST_BATCH_ROWS
            || columns > kernels::MOST_BATCH_COLUMNS
        {
            return Err(Failure::Usage(format!(
                "{batch} matrices of {rows} × {columns} are not {} numbers and {} of vectors, or have more than {} rows or {} columns",
                matrices.count,
                vectors.count,
                kernels::MOST_BATCH_ROWS,
                kernels::MOST_BATCH_COLUMNS
            )));
        }
        let (result, result_address) = poisoned(gpu, all_rows)?;
        Ok(Arrays {
            operation: Operation::BatchProduct,
            task: Task::Batch(kernels::BatchTask {
                matrices: matrices.memory.range(0, 8 * matrices.count)?,
                vectors: vectors.memory.range(0, 8 * vectors.count)?,
                result: result_address,
                batch: batch as u32,
                rows: rows as u32,
                columns: columns as u32,
            }),
            result,
            results: all_rows,
            sparse: None,
            _memory: vec![matrices.memory, vectors.memory],
        })
    }

    /// A stencil of the values from `first` on, so many results.
    pub fn stencil(
        gpu: &Gpu,
        coefficients: &[f64],
        offsets: &[isize],
        values: &[f64],
        (first, count): (usize, usize),
    ) -> Result<Arrays, Failure> {
        let within = |&offset: &isize| {
            let start = first.checked_add_signed(offset);
            let end = start.and_then(|start| start.checked_add(count));
            end.is_some_and(|end| end <= values.len())
        };
        if coefficients.len() != offsets.len()
            || coefficients.len() > kernels::MOST_TERMS
            || !offsets.iter().all(within)
        {
            return Err(Failure::Usage(format!(
                "a stencil of {} coefficients and {} offsets reaches beyond {} values, or has more than {} terms",
                coefficients.len(),
                offsets.len(),
                values.len(),
                kernels::MOST_TERMS
            )));
        }
        let offsets: Vec<i64> = offsets.iter().map(|&offset| offset as i64).collect();
        let (coefficients_memory, coefficients_address) = upload(gpu, coefficients)?;
        let (offsets_memory, offsets) = upload(gpu, &offsets)?;
        let (values_memory, values) = upload(gpu, values)?;
        let (result, result_address) = poisoned(gpu, count)?;
        Ok(Arrays {
            operation: Operation::Stencil,
            task: Task::Stencil(kernels::StencilTask {
                coefficients: coefficients_address,
                offsets,
                values,
                result: result_address,
                first: first as u64,
                count: count as u64,
                terms: coefficients.len() as i32,
            }),
            result,
            results: count,
            sparse: None,
            _memory: vec![coefficients_memory, offsets_memory, values_memory],
        })
    }

    /// What the last call has computed.
    pub fn results(&self) -> Result<Vec<f64>, Failure> {
        let mut results = vec![0.0; self.results];
        self.result.download(0, &mut results)?;
        Ok(results)
    }

    /// Blocks that have something to do.
    fn useful_blocks(&self) -> u64 {
        let blocks = match &self.task {
            Task::Reduction(task) => task.count.div_ceil(kernels::BLOCK_NUMBERS as u64),
            Task::Sparse(task) => task.rows.div_ceil(kernels::BLOCK_RESULTS as u64),
            Task::Batch(task) => {
                let rows = u64::from(task.batch) * u64::from(task.rows);
                rows.div_ceil(kernels::BLOCK_RESULTS as u64)
            }
            Task::Stencil(task) => task.count.div_ceil(kernels::BLOCK_RESULTS as u64),
        };
        blocks.max(1)
    }
}

impl<'a> Reductions<'a> {
    /// Loads all kernels, and the libraries that there are.
    pub fn new(gpu: &'a Gpu) -> Result<Reductions<'a>, Failure> {
        gpu.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let mut functions = HashMap::new();
        for operation in OPERATIONS {
            for variant in [Variant::Exact, Variant::Naive, Variant::Read] {
                if let Some((image, name)) = kernel_of(operation, variant) {
                    functions.insert(
                        (operation, variant),
                        load(image, name, shared_bytes(operation))?,
                    );
                }
            }
        }
        Ok(Reductions {
            gpu,
            functions,
            cublas: CuBlas::open(gpu),
            cusparse: CuSparse::open(gpu),
        })
    }

    /// The kernel for it, if it is one of ours.
    pub fn function(&self, operation: Operation, variant: Variant) -> Option<Function> {
        self.functions.get(&(operation, variant)).copied()
    }

    /// Whether the arrays can be reduced by this variant.
    pub fn has(&self, arrays: &Arrays, variant: Variant) -> bool {
        match (variant, arrays.operation) {
            (
                Variant::Library,
                Operation::MagnitudeSum | Operation::Dot | Operation::BatchProduct,
            ) => self.cublas.is_ok(),
            (Variant::Library, Operation::SparseProduct) => arrays.sparse.is_some(),
            (Variant::Library, Operation::Sum | Operation::Stencil) => false,
            (Variant::Exact | Variant::Naive | Variant::Read, _) => true,
        }
    }

    fn queue(&self, arrays: &Arrays, variant: Variant) -> Result<(), Failure> {
        if let Some(function) = self.function(arrays.operation, variant) {
            return self.launch(arrays, variant, function);
        }
        match (&arrays.task, &self.cublas, &self.cusparse, &arrays.sparse) {
            // SAFETY: the addresses are the arrays', of which the lengths were checked when they were made.
            (Task::Reduction(task), Ok(cublas), _, _) => unsafe {
                let count = task.count as usize;
                match arrays.operation {
                    Operation::Dot => cublas.dot([task.left, task.right], count, task.result),
                    _ => cublas.magnitude_sum(task.left, count, task.result),
                }
            },
            // SAFETY: as above.
            (Task::Batch(task), Ok(cublas), _, _) => unsafe {
                cublas.multiply_batch(&BatchAddresses {
                    matrices: task.matrices,
                    vectors: task.vectors,
                    result: task.result,
                    shape: (
                        task.batch as usize,
                        task.rows as usize,
                        task.columns as usize,
                    ),
                })
            },
            // SAFETY: the buffer has the length that was asked for.
            (Task::Sparse(_), _, Ok(cusparse), Some((product, buffer))) => unsafe {
                cusparse.multiply(product, buffer.range(0, 0)?)
            },
            _ => Err(Failure::NoLibrary {
                library: "a library for this reduction",
                file: "libcublas, libcusparse",
            }),
        }
    }

    fn launch(&self, arrays: &Arrays, variant: Variant, function: Function) -> Result<(), Failure> {
        let resident = u64::from(self.gpu.facts.multiprocessors * function.resident_blocks);
        let blocks = arrays.useful_blocks().min(resident);
        let blocks = (blocks as u32).min(kernels::MOST_BLOCKS);
        let plain;
        let parameter: *const c_void = match &arrays.task {
            Task::Reduction(task) if variant != Variant::Exact => {
                plain = kernels::Reduction {
                    total: task.total + kernels::TOTAL_BYTES as u64,
                    ..*task
                };
                std::ptr::from_ref(&plain).cast()
            }
            Task::Reduction(task) => std::ptr::from_ref(task).cast(),
            Task::Sparse(task) => std::ptr::from_ref(task).cast(),
            Task::Batch(task) => std::ptr::from_ref(task).cast(),
            Task::Stencil(task) => std::ptr::from_ref(task).cast(),
        };
        // SAFETY: the kernel was found by the operation, which goes with the task; its arrays are alive and as long as it
        // says. The driver copies the parameter.
        let launched = unsafe {
            result::launch_kernel(
                function.handle,
                (blocks, 1, 1),
                (kernels::THREADS, 1, 1),
                shared_bytes(arrays.operation) as u32,
                self.gpu.stream.cu_stream(),
                &mut [parameter.cast_mut()],
            )
        };
        Ok(launched.map_err(failed("launch a kernel"))?)
    }

    /// Reduces so many times, one after the other, and waits; returns the seconds of one between two events.
    pub fn run(&self, arrays: &mut Arrays, variant: Variant, repeats: u32) -> Result<f64, Failure> {
        let event = || {
            let event = self.gpu.stream.record_event(Some(CU_EVENT_DEFAULT));
            event.map_err(failed("record an event"))
        };
        self.gpu
            .context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let start = event()?;
        let mut queued = Ok(());
        for _ in 0..repeats {
            queued = queued.and_then(|()| self.queue(arrays, variant));
        }
        let end = event();
        // Whatever failed: nothing may run any more when the arrays are given back.
        let waited = self.gpu.stream.synchronize();
        queued?;
        waited.map_err(failed("finish its work"))?;
        let milliseconds = start.elapsed_ms(&end?).map_err(failed("compare events"))?;
        Ok(f64::from(milliseconds) * 1e-3 / f64::from(repeats.max(1)))
    }
}
