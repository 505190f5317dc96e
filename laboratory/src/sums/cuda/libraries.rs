//! cuBLAS and cuSPARSE, NVIDIA's libraries: what times of reductions are compared with. They are loaded where they are
//! installed.
#![allow(unsafe_code)]

use crate::failure::Failure;

use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::cusparse::{result as sparse, sys as sparse_sys};
use ozfft_measure::gpu::{Gpu, Memory, failed};
use std::ffi::c_void;

fn blas_rejected(action: &'static str) -> impl FnOnce(blas::CublasError) -> Failure {
    move |source| Failure::Library {
        library: "cuBLAS",
        action,
        status: format!("{:?}", source.0),
    }
}

fn sparse_rejected(action: &'static str) -> impl FnOnce(sparse::CusparseError) -> Failure {
    move |source| Failure::Library {
        library: "cuSPARSE",
        action,
        status: format!("{:?}", source.0),
    }
}

/// cuBLAS on the device's default stream.
pub struct CuBlas {
    handle: blas_sys::cublasHandle_t,
    pub version: String,
    /// One and zero, on the device.
    factors: Memory,
}

/// Matrices, vectors and results of a batch in memory of the device, one after the other.
pub(crate) struct BatchAddresses {
    pub matrices: u64,
    pub vectors: u64,
    pub result: u64,
    /// Matrices, rows and columns.
    pub shape: (usize, usize, usize),
}

impl CuBlas {
    /// Loads the library; results of reductions stay on the device.
    pub fn open(gpu: &Gpu) -> Result<CuBlas, Failure> {
        // SAFETY: loads the library and closes it again. Everything else of cudarc panics without it.
        if !unsafe { blas_sys::is_culib_present() } {
            let (library, file) = ("cuBLAS", "libcublas");
            return Err(Failure::NoLibrary { library, file });
        }
        gpu.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let mut factors = Memory::new(&gpu.context, 16)?;
        factors.upload(0, &[1.0, 0.0])?;
        let handle = blas::create_handle().map_err(blas_rejected("start"))?;
        let mut blas = CuBlas {
            handle,
            version: String::new(),
            factors,
        };
        let on_device = blas_sys::cublasPointerMode_t::CUBLAS_POINTER_MODE_DEVICE;
        let stream = gpu.stream.cu_stream() as blas_sys::cudaStream_t;
        let mut version = 0;
        // SAFETY: the handle has just been made, and the version is one integer.
        unsafe {
            blas::set_stream(handle, stream)
                .and_then(|()| blas_sys::cublasSetPointerMode_v2(handle, on_device).result())
                .and_then(|()| blas_sys::cublasGetVersion_v2(handle, &mut version).result())
        }
        .map_err(blas_rejected("start"))?;
        let (major, minor) = (version / 10_000, version / 100 % 100);
        blas.version = format!("{major}.{minor}.{}", version % 100);
        Ok(blas)
    }

    /// Puts the sum of magnitudes into the stream.
    ///
    /// # Safety
    /// The addresses are memory of the device: so many doubles, and one for the result.
    pub(crate) unsafe fn magnitude_sum(
        &self,
        values: u64,
        count: usize,
        result: u64,
    ) -> Result<(), Failure> {
        let values = values as usize as *const f64;
        let result = result as usize as *mut f64;
        // SAFETY: the caller's promise.
        let status = unsafe {
            blas_sys::cublasDasum_v2_64(self.handle, count as i64, values, 1, result).result()
        };
        status.map_err(blas_rejected("sum"))
    }

    /// Puts the dot product into the stream.
    ///
    /// # Safety
    /// The addresses are memory of the device: so many doubles each, and one for the result.
    pub(crate) unsafe fn dot(
        &self,
        [left, right]: [u64; 2],
        count: usize,
        result: u64,
    ) -> Result<(), Failure> {
        let (left, right) = (left as usize as *const f64, right as usize as *const f64);
        let (count, result) = (count as i64, result as usize as *mut f64);
        // SAFETY: the caller's promise.
        let status = unsafe {
            blas_sys::cublasDdot_v2_64(self.handle, count, left, 1, right, 1, result).result()
        };
        status.map_err(blas_rejected("multiply"))
    }

    /// Puts products of matrices, row by row, and vectors into the stream.
    ///
    /// # Safety
    /// The addresses are memory of the device, as long as the shape says.
    pub(crate) unsafe fn multiply_batch(&self, of: &BatchAddresses) -> Result<(), Failure> {
        let (batch, rows, columns) = of.shape;
        let (batch, rows, columns) = (batch as i64, rows as i64, columns as i64);
        let [one, zero] = [0, 8].map(|offset| self.factors.range(offset, 8));
        // The library has matrices column by column: ours are their transposes.
        let transposed = blas_sys::cublasOperation_t::CUBLAS_OP_T;
        // SAFETY: the caller's promise; the factors are ours.
        let status = unsafe {
            blas_sys::cublasDgemvStridedBatched_64(
                self.handle,
                transposed,
                columns,
                rows,
                one? as usize as *const f64,
                of.matrices as usize as *const f64,
                columns,
                rows * columns,
                of.vectors as usize as *const f64,
                1,
                columns,
                zero? as usize as *const f64,
                of.result as usize as *mut f64,
                1,
                rows,
                batch,
            )
            .result()
        };
        status.map_err(blas_rejected("multiply"))
    }
}

impl Drop for CuBlas {
    fn drop(&mut self) {
        // SAFETY: made by `open` and destroyed here only; work with it has been waited for.
        let _ = unsafe { blas::destroy_handle(self.handle) };
    }
}

/// cuSPARSE on the device's default stream.
pub struct CuSparse {
    handle: sparse_sys::cusparseHandle_t,
    pub version: String,
}

/// A matrix, a vector and a result for cuSPARSE, in memory of the device.
pub(crate) struct SparseAddresses {
    pub row_starts: u64,
    pub columns: u64,
    pub values: u64,
    pub vector: u64,
    pub result: u64,
    pub rows: usize,
    pub width: usize,
    pub entries: usize,
}

/// What cuSPARSE calls the same.
pub(crate) struct SparseProduct {
    matrix: sparse_sys::cusparseSpMatDescr_t,
    vector: sparse_sys::cusparseDnVecDescr_t,
    result: sparse_sys::cusparseDnVecDescr_t,
}

const WITHOUT_TRANSPOSITION: sparse_sys::cusparseOperation_t =
    sparse_sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;
const DOUBLE: sparse_sys::cudaDataType = sparse_sys::cudaDataType_t::CUDA_R_64F;
const DEFAULT: sparse_sys::cusparseSpMVAlg_t =
    sparse_sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_ALG_DEFAULT;
/// `result = 1 · matrix · vector + 0 · result`.
const ONE: &f64 = &1.0;
const ZERO: &f64 = &0.0;

fn pointer(address: u64) -> *mut c_void {
    address as usize as *mut c_void
}

fn constant(value: &'static f64) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

impl CuSparse {
    /// Loads the library.
    pub fn open(gpu: &Gpu) -> Result<CuSparse, Failure> {
        // SAFETY: loads the library and closes it again. Everything else of cudarc panics without it.
        if !unsafe { sparse_sys::is_culib_present() } {
            let (library, file) = ("cuSPARSE", "libcusparse");
            return Err(Failure::NoLibrary { library, file });
        }
        gpu.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let handle = sparse::create().map_err(sparse_rejected("start"))?;
        let mut library = CuSparse {
            handle,
            version: String::new(),
        };
        let stream = gpu.stream.cu_stream() as sparse_sys::cudaStream_t;
        let mut version = 0;
        // SAFETY: the handle has just been made, and the version is one integer.
        unsafe {
            sparse_sys::cusparseSetStream(handle, stream)
                .result()
                .and_then(|()| sparse_sys::cusparseGetVersion(handle, &mut version).result())
        }
        .map_err(sparse_rejected("start"))?;
        let (major, minor) = (version / 1000, version / 100 % 10);
        library.version = format!("{major}.{minor}.{}", version % 100);
        Ok(library)
    }

    /// Describes a product, and says how much memory the library wants for it.
    ///
    /// # Safety
    /// The addresses are memory of the device, as long as the lengths say, and stay alive as long as the product.
    pub(crate) unsafe fn product(
        &self,
        of: &SparseAddresses,
    ) -> Result<(SparseProduct, usize), Failure> {
        let mut product = SparseProduct {
            matrix: std::ptr::null_mut(),
            vector: std::ptr::null_mut(),
            result: std::ptr::null_mut(),
        };
        let index = sparse_sys::cusparseIndexType_t::CUSPARSE_INDEX_32I;
        let base = sparse_sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO;
        let mut bytes = 0;
        // SAFETY: descriptors are written before they are read; the rest is the caller's promise.
        unsafe {
            sparse_sys::cusparseCreateCsr(
                &mut product.matrix,
                of.rows as i64,
                of.width as i64,
                of.entries as i64,
                pointer(of.row_starts),
                pointer(of.columns),
                pointer(of.values),
                index,
                index,
                base,
                DOUBLE,
            )
            .result()
            .and_then(|()| {
                let (width, values) = (of.width as i64, pointer(of.vector));
                sparse_sys::cusparseCreateDnVec(&mut product.vector, width, values, DOUBLE).result()
            })
            .and_then(|()| {
                let (rows, values) = (of.rows as i64, pointer(of.result));
                sparse_sys::cusparseCreateDnVec(&mut product.result, rows, values, DOUBLE).result()
            })
            .and_then(|()| {
                sparse_sys::cusparseSpMV_bufferSize(
                    self.handle,
                    WITHOUT_TRANSPOSITION,
                    constant(ONE),
                    product.matrix.cast_const(),
                    product.vector.cast_const(),
                    constant(ZERO),
                    product.result,
                    DOUBLE,
                    DEFAULT,
                    &mut bytes,
                )
                .result()
            })
        }
        .map_err(sparse_rejected("describe a matrix"))?;
        Ok((product, bytes))
    }

    /// Puts the product into the stream.
    ///
    /// # Safety
    /// `buffer` is memory of the device of the length that was asked for.
    pub(crate) unsafe fn multiply(
        &self,
        product: &SparseProduct,
        buffer: u64,
    ) -> Result<(), Failure> {
        // SAFETY: the product was made by `product`; the rest is the caller's promise.
        let status = unsafe {
            sparse_sys::cusparseSpMV(
                self.handle,
                WITHOUT_TRANSPOSITION,
                constant(ONE),
                product.matrix.cast_const(),
                product.vector.cast_const(),
                constant(ZERO),
                product.result,
                DOUBLE,
                DEFAULT,
                pointer(buffer),
            )
            .result()
        };
        status.map_err(sparse_rejected("multiply"))
    }
}

impl Drop for CuSparse {
    fn drop(&mut self) {
        // SAFETY: made by `open` and destroyed here only; work with it has been waited for.
        let _ = unsafe { sparse::destroy(self.handle) };
    }
}

impl Drop for SparseProduct {
    fn drop(&mut self) {
        // SAFETY: made by `CuSparse::product` and destroyed here only; those that were not made are null.
        unsafe {
            if !self.matrix.is_null() {
                let _ = sparse_sys::cusparseDestroySpMat(self.matrix.cast_const());
            }
            for vector in [self.vector, self.result] {
                if !vector.is_null() {
                    let _ = sparse_sys::cusparseDestroyDnVec(vector.cast_const());
                }
            }
        }
    }
}
