//! Products of matrices by cuBLAS: of bytes, of f64, and of f64 that it emulates itself, where the installed version does.
#![allow(unsafe_code)]

use crate::failure::Failure;
use cudarc::cublas::{result as blas, sys};
use ozfft_measure::gpu::{Gpu, failed};
use std::ffi::{c_int, c_void};

/// `CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT`, which the version that cudarc was made for does not have.
const EMULATED: c_int = 79;
/// `CUBLAS_EMULATION_STRATEGY_EAGER`: emulates wherever it can, and not only where that is faster.
const EAGER: c_int = 2;
/// `CUDA_R_64F`, `CUBLAS_GEMM_DEFAULT`, `CUBLAS_OP_N`.
const DOUBLE: c_int = 1;
const DEFAULT_ALGORITHM: c_int = -1;
const AS_IT_IS: c_int = 0;

/// `cublasSetEmulationStrategy`.
type SetStrategy = unsafe extern "C" fn(sys::cublasHandle_t, c_int) -> c_int;
/// `cublasGemmEx` with plain integers for its enumerations: one of them is newer than cudarc's.
type GemmEx = unsafe extern "C" fn(
    sys::cublasHandle_t,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
) -> c_int;

/// cuBLAS on the device's default stream, with factors on the host.
pub struct Library {
    handle: sys::cublasHandle_t,
    pub version: String,
    /// How it is asked to emulate, or why it cannot be.
    pub emulation: Result<GemmEx, String>,
}

/// Matrices in memory of the device, row by row: `C = A·B` for `m × k` and `k × n`.
#[derive(Debug, Clone, Copy)]
pub struct Matrices {
    pub shape: (usize, usize, usize),
    pub a: u64,
    pub b: u64,
    pub c: u64,
}

fn rejected(action: &'static str) -> impl FnOnce(blas::CublasError) -> Failure {
    move |source| Failure::Library {
        library: "cuBLAS",
        action,
        status: format!("{:?}", source.0),
    }
}

fn pointer<T>(address: u64) -> *mut T {
    address as usize as *mut T
}

fn size(length: usize) -> Result<c_int, Failure> {
    let message = || Failure::Usage(format!("{length} is more than cuBLAS takes"));
    c_int::try_from(length).map_err(|_| message())
}

impl Library {
    /// Loads the library.
    pub fn open(gpu: &Gpu) -> Result<Library, Failure> {
        // SAFETY: loads the library and closes it again. Everything else of cudarc panics without it.
        if !unsafe { sys::is_culib_present() } {
            let (library, file) = ("cuBLAS", "libcublas");
            return Err(Failure::NoLibrary { library, file });
        }
        gpu.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let handle = blas::create_handle().map_err(rejected("start"))?;
        let mut library = Library {
            handle,
            version: String::new(),
            emulation: Err(String::new()),
        };
        let stream = gpu.stream.cu_stream() as sys::cudaStream_t;
        let mut version = 0;
        // SAFETY: the handle has just been made, and the version is one integer.
        unsafe {
            blas::set_stream(handle, stream)
                .and_then(|()| sys::cublasGetVersion_v2(handle, &mut version).result())
        }
        .map_err(rejected("start"))?;
        let (major, minor) = (version / 10_000, version / 100 % 100);
        library.version = format!("{major}.{minor}.{}", version % 100);
        library.emulation = library.ask_for_emulation();
        Ok(library)
    }

    fn ask_for_emulation(&self) -> Result<GemmEx, String> {
        let version = &self.version;
        // SAFETY: the library is there, and both functions have had these signatures since they exist.
        unsafe {
            let library = sys::culib();
            let strategy = library.get::<SetStrategy>(b"cublasSetEmulationStrategy\0");
            let Ok(set_strategy) = strategy else {
                return Err(format!("{version} has no cublasSetEmulationStrategy"));
            };
            let Ok(multiply) = library.get::<GemmEx>(b"cublasGemmEx\0") else {
                return Err(format!("{version} has no cublasGemmEx"));
            };
            match set_strategy(self.handle, EAGER) {
                0 => Ok(*multiply),
                status => Err(format!("{version} rejects the strategy: status {status}")),
            }
        }
    }

    /// Puts a product of f64 into the stream.
    ///
    /// # Safety
    /// The addresses are memory of the device, as long as the shape says, until the stream has come so far.
    pub unsafe fn multiply(&self, of: Matrices) -> Result<(), Failure> {
        let (m, k, n) = of.shape;
        let (m, k, n) = (size(m)?, size(k)?, size(n)?);
        let plain = sys::cublasOperation_t::CUBLAS_OP_N;
        // The library has matrices column by column, and so takes them the other way round.
        // SAFETY: the caller's promise; the factors are on the host, where the library looks for them.
        let status = unsafe {
            sys::cublasDgemm_v2(
                self.handle,
                plain,
                plain,
                n,
                m,
                k,
                &1.0,
                pointer::<f64>(of.b),
                n,
                pointer::<f64>(of.a),
                k,
                &0.0,
                pointer::<f64>(of.c),
                n,
            )
        };
        status.result().map_err(rejected("multiply"))
    }

    /// The same, emulated.
    ///
    /// # Safety
    /// As for [`Library::multiply`].
    pub unsafe fn multiply_emulated(&self, of: Matrices) -> Result<(), Failure> {
        let multiply = self.emulation.as_ref().map_err(|reason| Failure::Library {
            library: "cuBLAS",
            action: "emulate FP64",
            status: reason.clone(),
        })?;
        let (m, k, n) = of.shape;
        let (m, k, n) = (size(m)?, size(k)?, size(n)?);
        let (one, zero) = (1.0f64, 0.0f64);
        // SAFETY: the caller's promise; the factors outlive the call, which reads them.
        let status = unsafe {
            multiply(
                self.handle,
                AS_IT_IS,
                AS_IT_IS,
                n,
                m,
                k,
                std::ptr::from_ref(&one).cast(),
                pointer(of.b),
                DOUBLE,
                n,
                pointer(of.a),
                DOUBLE,
                k,
                std::ptr::from_ref(&zero).cast(),
                pointer(of.c),
                DOUBLE,
                n,
                EMULATED,
                DEFAULT_ALGORITHM,
            )
        };
        match status {
            0 => Ok(()),
            status => Err(Failure::Library {
                library: "cuBLAS",
                action: "emulate FP64",
                status: format!("status {status}"),
            }),
        }
    }

    /// Puts products of bytes into the stream, one after the other: rows of `A` times rows of `B`, of `pitch` bytes each, to 32-bit sums.
    ///
    /// # Safety
    /// The addresses are memory of the device, `batch` times as long as `(m, pitch, n)` says, until the stream has come so far.
    pub unsafe fn multiply_bytes(&self, of: Matrices, batch: usize) -> Result<(), Failure> {
        use sys::cudaDataType_t::{CUDA_R_8I, CUDA_R_32I};
        let (m, pitch, n) = of.shape;
        let (one, zero) = (1i32, 0i32);
        let long = |length: usize| length as i64;
        // SAFETY: the caller's promise; the factors outlive the call, which reads them.
        let status = unsafe {
            sys::cublasGemmStridedBatchedEx(
                self.handle,
                sys::cublasOperation_t::CUBLAS_OP_T,
                sys::cublasOperation_t::CUBLAS_OP_N,
                size(n)?,
                size(m)?,
                size(pitch)?,
                std::ptr::from_ref(&one).cast(),
                pointer(of.b),
                CUDA_R_8I,
                size(pitch)?,
                long(n * pitch),
                pointer(of.a),
                CUDA_R_8I,
                size(pitch)?,
                long(m * pitch),
                std::ptr::from_ref(&zero).cast(),
                pointer(of.c),
                CUDA_R_32I,
                size(n)?,
                long(m * n),
                size(batch)?,
                sys::cublasComputeType_t::CUBLAS_COMPUTE_32I,
                sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        status.result().map_err(rejected("multiply bytes"))
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: made by `open` and destroyed here only; work with it has been waited for.
        let _ = unsafe { blas::destroy_handle(self.handle) };
    }
}
