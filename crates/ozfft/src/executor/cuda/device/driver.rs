//! A GPU behind NVIDIA's driver, which is looked for at run time.

use crate::error::{Buffer, FftError};
use crate::executor::cuda::device::compiler;
use crate::executor::cuda::device::exactness::Exactnesses;
use crate::executor::cuda::device::machine::{
    BlockCopy, Machine, Parameters, Queue, TemplateKernel,
};
use crate::executor::cuda::device::transfer::COPYING_BACK;
use crate::executor::cuda::device::tuning::Tuning;
use crate::executor::cuda::floats::FloatFindings;
use crate::executor::cuda::program::tuned_task::{MappedArray, TensorMap};
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use ozfft_kernels::template::{self, KernelSpec};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// The oldest compute capability whose tensor instruction the kernels use.
const OLDEST: (i32, i32) = (8, 0);

/// The compute capability that the tuned kernels are machine code for.
const TUNED_FOR: (i32, i32) = (9, 0);

/// One device, with its context and the kernels loaded. Kept for the life of the process.
pub(crate) struct Driver {
    ordinal: usize,
    name: String,
    context: sys::CUcontext,
    functions: HashMap<&'static str, sys::CUfunction>,
    /// Kernels of the template, as far as plans have asked for them; one is made at a time.
    making_template: Mutex<()>,
    template: RwLock<HashMap<&'static str, (sys::CUfunction, TemplateKernel)>>,
    /// Those that were compiled in advance, loaded when the first of them is asked for.
    in_advance: OnceLock<Result<usize, String>>,
    /// Kernels of products of long integers, loaded with the first product.
    #[cfg(feature = "convolution")]
    integer_products: OnceLock<HashMap<&'static str, sys::CUfunction>>,
    /// Kernels of transforms modulo primes, many at once, loaded with the first of them.
    #[cfg(any(feature = "convolution", feature = "ntt"))]
    ntt_batches: OnceLock<HashMap<&'static str, sys::CUfunction>>,
    /// Kernels of the engine ntt, likewise.
    #[cfg(feature = "ntt")]
    ntt_lines: OnceLock<HashMap<&'static str, sys::CUfunction>>,
    capability: (i32, i32),
    shared_memory: usize,
    multiprocessors: usize,
    /// Bytes from row to row that the driver copies at once.
    most_distance: usize,
    tuned: bool,
    tuning: Tuning,
    exactness: Exactnesses,
    float_findings: FloatFindings,
}

// SAFETY: handles of the driver may be used from any thread.
unsafe impl Send for Driver {}
// SAFETY: as above; the driver does its own locking.
unsafe impl Sync for Driver {}

/// What the driver said, as an error of ours.
fn failure(action: &'static str, error: DriverError) -> FftError {
    let text = |text: Result<&std::ffi::CStr, DriverError>| {
        text.map_or_else(
            |_| "unknown".to_string(),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    FftError::DeviceFailure {
        action,
        code: error.0 as u32,
        name: text(error.error_name()),
        text: text(error.error_string()),
    }
}

/// Makes the device's context current on this thread, and the one before it again when dropped: callers may have a
/// context of their own. Mostly it is current already, and nothing has to be done.
struct Current {
    entered: bool,
}

impl Current {
    fn enter(context: sys::CUcontext) -> Result<Current, FftError> {
        let mut current = std::ptr::null_mut();
        // SAFETY: asks for a handle and nothing else.
        let known = unsafe { sys::cuCtxGetCurrent(&mut current) }.result();
        let entered = known.is_err() || current != context;
        if entered {
            // SAFETY: the context is alive as long as the process.
            unsafe { sys::cuCtxPushCurrent_v2(context) }
                .result()
                .map_err(|error| failure("entering the context", error))?;
        }
        Ok(Current { entered })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if !self.entered {
            return;
        }
        let mut context = std::ptr::null_mut();
        // SAFETY: pushed by `enter`. A failure leaves a context current, which harms nobody.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&mut context) };
    }
}

/// Whether there is a driver at all, looked for once.
fn driver_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: loads the driver's library and nothing else.
    *PRESENT.get_or_init(|| unsafe { sys::is_culib_present() })
}

fn start() -> Result<usize, FftError> {
    if !driver_present() {
        return Err(FftError::NoDriver {
            reason: "NVIDIA's driver library libcuda.so.1 is not found".into(),
        });
    }
    result::init().map_err(|error| FftError::NoDriver {
        reason: error.to_string(),
    })?;
    let count = result::device::get_count().map_err(|error| failure("counting devices", error))?;
    Ok(count.max(0) as usize)
}

/// The device of this number, opened once in a process.
pub(crate) fn open(ordinal: usize) -> Result<Arc<dyn Machine>, FftError> {
    static OPEN: Mutex<Option<HashMap<usize, Arc<Driver>>>> = Mutex::new(None);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_with(HashMap::new);
    if let Some(driver) = open.get(&ordinal) {
        return Ok(Arc::<Driver>::clone(driver));
    }
    let driver = Arc::new(Driver::new(ordinal)?);
    open.insert(ordinal, Arc::clone(&driver));
    Ok(driver)
}

/// Loads machine code and finds its kernels, in the current context.
fn load(
    functions: &mut HashMap<&'static str, sys::CUfunction>,
    image: &[u8],
    names: &[&'static str],
) -> Result<(), FftError> {
    let module = load_module(image)?;
    for &kernel in names {
        functions.insert(kernel, function_of(module, kernel)?);
    }
    Ok(())
}

fn load_module(image: &[u8]) -> Result<sys::CUmodule, FftError> {
    // SAFETY: the image is complete; the driver copies it.
    unsafe { result::module::load_data(image.as_ptr().cast::<c_void>()) }
        .map_err(|error| failure("loading the kernels", error))
}

fn function_of(module: sys::CUmodule, kernel: &str) -> Result<sys::CUfunction, FftError> {
    let symbol =
        CString::new(kernel).unwrap_or_else(|error| unreachable!("names have no zeros: {error}"));
    // SAFETY: the module is loaded and is never unloaded.
    unsafe { result::module::get_function(module, symbol) }
        .map_err(|error| failure("finding a kernel", error))
}

impl Driver {
    fn new(ordinal: usize) -> Result<Driver, FftError> {
        use sys::CUdevice_attribute_enum as Attribute;
        let count = start()?;
        if ordinal >= count {
            return Err(FftError::NoSuchDevice { ordinal, count });
        }
        let device = result::device::get(ordinal as i32)
            .map_err(|error| failure("finding the device", error))?;
        let name = result::device::get_name(device)
            .map_err(|error| failure("naming the device", error))?;
        let attribute = |attribute| {
            // SAFETY: the device is the driver's.
            unsafe { result::device::get_attribute(device, attribute) }
                .map_err(|error| failure("asking for the device's properties", error))
        };
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        if capability < OLDEST {
            return Err(FftError::DeviceTooOld {
                name,
                capability,
                needed: OLDEST,
            });
        }
        let shared = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let multiprocessors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let most_distance = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH)?;
        // SAFETY: the device is the driver's. The context is kept for the life of the process.
        let context = unsafe { result::primary_ctx::retain(device) }
            .map_err(|error| failure("opening the device", error))?;
        let current = Current::enter(context)?;
        let mut functions = HashMap::new();
        load(
            &mut functions,
            ozfft_kernels::GENERAL,
            &ozfft_kernels::GENERAL_NAMES,
        )?;
        let tuned = capability == TUNED_FOR;
        let mut with_much_memory = vec!["general_block", "general_block_small"];
        load(
            &mut functions,
            ozfft_kernels::TRUNCATED_IMAGE,
            &ozfft_kernels::TRUNCATED_NAMES,
        )?;
        with_much_memory.extend(ozfft_kernels::TRUNCATED_NAMES);
        let floats = |digits: bool| -> Vec<&'static str> {
            let kernels = ozfft_kernels::floats::KERNELS.iter();
            let kernels = kernels.filter(|kernel| kernel.has_digits() == digits);
            kernels.map(|kernel| kernel.name).collect()
        };
        let names = [&floats(false)[..], &ozfft_kernels::floats::PRODUCT_NAMES].concat();
        load(&mut functions, ozfft_kernels::floats::IMAGE, &names)?;
        let image = ozfft_kernels::floats::DIGITS_IMAGE;
        load(&mut functions, image, &floats(true))?;
        with_much_memory.extend(floats(false).into_iter().chain(floats(true)));
        let names = [
            ozfft_kernels::floats::WHOLE_NAMES.as_flattened(),
            &ozfft_kernels::floats::PHASE_NAMES,
        ]
        .concat();
        load(&mut functions, ozfft_kernels::floats::STEPS_IMAGE, &names)?;
        with_much_memory.extend(names);
        if tuned {
            let ways = ozfft_kernels::RESIDUE_KERNELS.map(|(_, kernel)| kernel);
            let names = [&ways[..], &ozfft_kernels::RESIDUE_VARIANTS].concat();
            load(&mut functions, ozfft_kernels::RESIDUE_IMAGE, &names)?;
            with_much_memory.extend(names);
            let names =
                ozfft_kernels::RESIDUE_SHORT_KERNELS.map(|[_, of_512, of_256]| [of_512, of_256]);
            load(
                &mut functions,
                ozfft_kernels::RESIDUE_SHORT_IMAGE,
                names.as_flattened(),
            )?;
            with_much_memory.extend(names.as_flattened());
            let names = ozfft_kernels::RESIDUE_REDUNDANT_KERNELS;
            load(
                &mut functions,
                ozfft_kernels::RESIDUE_REDUNDANT_IMAGE,
                &names,
            )?;
            with_much_memory.extend(names);
            let names = [
                ozfft_kernels::RESIDUE_REAL_KERNELS,
                ozfft_kernels::RESIDUE_SINGLE_KERNELS,
            ];
            load(
                &mut functions,
                ozfft_kernels::RESIDUE_KINDS_IMAGE,
                names.as_flattened(),
            )?;
            with_much_memory.extend(names.as_flattened());
            let names = ozfft_kernels::RESIDUE_ADAPTIVE_KERNELS;
            load(
                &mut functions,
                ozfft_kernels::RESIDUE_ADAPTIVE_IMAGE,
                &names,
            )?;
            with_much_memory.extend(names);
            for scheme in ozfft_kernels::ResidueFp8::ALL {
                let names = scheme.kernels();
                load(&mut functions, scheme.image(), &names)?;
                with_much_memory.extend(names);
            }
            for source in ozfft_kernels::TunedSource::ALL {
                let names: Vec<&'static str> = ozfft_kernels::TUNED
                    .iter()
                    .filter(|shape| shape.source == source)
                    .flat_map(|shape| shape.kernels)
                    .copied()
                    .collect();
                load(&mut functions, source.image(), &names)?;
                with_much_memory.extend(names);
            }
            let names: Vec<&'static str> = ozfft_kernels::TUNED_PASSES
                .iter()
                .flat_map(|shape| shape.kernels)
                .collect();
            load(&mut functions, ozfft_kernels::TUNED_PASSES_IMAGE, &names)?;
            with_much_memory.extend(names);
            load(
                &mut functions,
                ozfft_kernels::FP8_EXACTNESS_IMAGE,
                &[ozfft_kernels::FP8_EXACTNESS_NAME],
            )?;
        }
        for kernel in with_much_memory {
            // SAFETY: the function is the module's.
            unsafe {
                result::function::set_function_attribute(
                    functions[kernel],
                    sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    shared,
                )
            }
            .map_err(|error| failure("asking for shared memory", error))?;
        }
        drop(current);
        let tuning = Tuning::of_gpu(&name, capability);
        Ok(Driver {
            ordinal,
            name,
            context,
            functions,
            making_template: Mutex::default(),
            template: RwLock::default(),
            in_advance: OnceLock::new(),
            #[cfg(feature = "convolution")]
            integer_products: OnceLock::new(),
            #[cfg(any(feature = "convolution", feature = "ntt"))]
            ntt_batches: OnceLock::new(),
            #[cfg(feature = "ntt")]
            ntt_lines: OnceLock::new(),
            capability,
            shared_memory: shared.max(0) as usize,
            multiprocessors: multiprocessors.max(1) as usize,
            most_distance: most_distance.max(0) as usize,
            tuned,
            tuning,
            exactness: Exactnesses::default(),
            float_findings: FloatFindings::default(),
        })
    }

    /// Loads a kernel of the template, from what was compiled in advance or just now.
    fn load_template_kernel(
        &self,
        spec: &KernelSpec,
        conversions: bool,
    ) -> Result<(sys::CUfunction, TemplateKernel), String> {
        let name = spec.name(conversions);
        let (module, compilation) = if spec.is_compiled_in_advance(conversions) {
            let module = self.in_advance.get_or_init(|| {
                let module = load_module(template::IMAGE).map_err(|error| error.to_string())?;
                Ok(module as usize)
            });
            (module.clone()? as sys::CUmodule, None)
        } else {
            let compiled = compiler::compile(spec, conversions, self.capability)?;
            let module = load_module(&compiled.image).map_err(|error| error.to_string())?;
            (module, compiled.compilation)
        };
        let function = function_of(module, &name).map_err(|error| error.to_string())?;
        let shared_bytes = spec.shared_bytes();
        let mut blocks = 0;
        // SAFETY: the function is the module's, which is never unloaded.
        unsafe {
            let attribute =
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            result::function::set_function_attribute(function, attribute, shared_bytes as i32)
                .map_err(|error| failure("asking for shared memory", error).to_string())?;
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                function,
                spec.threads() as i32,
                shared_bytes,
            )
            .result()
            .map_err(|error| failure("asking for the occupancy", error).to_string())?;
        }
        let kernel = TemplateKernel {
            // Kernels are kept for the life of the process, and so are their names.
            name: name.leak(),
            threads: spec.threads(),
            blocks_each: blocks.max(1) as usize,
            compilation,
        };
        Ok((function, kernel))
    }

    /// A kernel of products of long integers, in the current context.
    #[cfg(feature = "convolution")]
    fn integer_product(&self, kernel: &str) -> Result<sys::CUfunction, FftError> {
        use ozfft_kernels::ntt;
        loaded(&self.integer_products, ntt::IMAGE, ntt::names(), kernel)
    }

    /// A kernel of transforms modulo primes, in the current context.
    #[cfg(any(feature = "convolution", feature = "ntt"))]
    fn ntt_batch(&self, kernel: &str) -> Result<sys::CUfunction, FftError> {
        use ozfft_kernels::ntt_batches;
        let (image, names) = (ntt_batches::IMAGE, ntt_batches::names());
        loaded(&self.ntt_batches, image, names, kernel)
    }

    /// A kernel of the engine ntt, in the current context.
    #[cfg(feature = "ntt")]
    fn ntt_line(&self, kernel: &str) -> Result<sys::CUfunction, FftError> {
        use ozfft_kernels::ntt_fourier;
        let (image, names) = (ntt_fourier::IMAGE, ntt_fourier::names());
        loaded(&self.ntt_lines, image, names, kernel)
    }
}

/// A kernel of an image that is loaded when it is first needed.
#[cfg(any(feature = "convolution", feature = "ntt"))]
fn loaded(
    image_functions: &OnceLock<HashMap<&'static str, sys::CUfunction>>,
    image: &[u8],
    names: impl Iterator<Item = &'static str>,
    kernel: &str,
) -> Result<sys::CUfunction, FftError> {
    if let Some(functions) = image_functions.get() {
        return Ok(functions[kernel]);
    }
    let mut functions = HashMap::new();
    load(&mut functions, image, &names.collect::<Vec<_>>())?;
    Ok(image_functions.get_or_init(|| functions)[kernel])
}

impl Machine for Driver {
    fn name(&self) -> String {
        format!("GPU {}, {}", self.ordinal, self.name)
    }

    fn shared_memory(&self) -> usize {
        self.shared_memory
    }

    fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    fn has_tuned_kernels(&self) -> bool {
        self.tuned
    }

    fn capability(&self) -> (i32, i32) {
        self.capability
    }

    fn template_kernel(
        &self,
        spec: &KernelSpec,
        conversions: bool,
    ) -> Result<TemplateKernel, String> {
        let name = spec.name(conversions);
        // Whoever asks for a kernel that is being made waits for it: one compilation, whatever the number of threads.
        let _making = self.making_template.lock();
        let known = self.template.read();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, kernel)) = known.get(name.as_str()) {
            return Ok(TemplateKernel {
                compilation: None,
                ..kernel
            });
        }
        drop(known);
        let _current = Current::enter(self.context).map_err(|error| error.to_string())?;
        let (function, kernel) = self.load_template_kernel(spec, conversions)?;
        let known = self.template.write();
        known
            .unwrap_or_else(PoisonError::into_inner)
            .insert(kernel.name, (function, kernel));
        Ok(kernel)
    }

    fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    fn exactness(&self) -> &Exactnesses {
        &self.exactness
    }

    fn float_findings(&self) -> &FloatFindings {
        &self.float_findings
    }

    fn tensor_map(&self, array: &MappedArray) -> Result<TensorMap, FftError> {
        let _current = Current::enter(self.context)?;
        #[repr(C, align(64))]
        struct Place(TensorMap);
        let mut map = Place([0; 16]);
        let ones = [1u32; 5];
        let row_bytes = 8 * array.box_dimensions[0];
        // SAFETY: the map has the driver's size and alignment; all lists have as many entries as there are dimensions, the
        // distances one fewer.
        unsafe {
            sys::cuTensorMapEncodeTiled(
                std::ptr::from_mut(&mut map).cast(),
                sys::CUtensorMapDataType_enum::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
                array.dimensions.len() as u32,
                array.address as *mut c_void,
                array.dimensions.as_ptr(),
                array.distances.as_ptr(),
                array.box_dimensions.as_ptr(),
                ones.as_ptr(),
                sys::CUtensorMapInterleave_enum::CU_TENSOR_MAP_INTERLEAVE_NONE,
                // Against bank conflicts, as the kernel expects it.
                if row_bytes == 64 {
                    sys::CUtensorMapSwizzle_enum::CU_TENSOR_MAP_SWIZZLE_64B
                } else {
                    sys::CUtensorMapSwizzle_enum::CU_TENSOR_MAP_SWIZZLE_128B
                },
                sys::CUtensorMapL2promotion_enum::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill_enum::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        }
        .result()
        .map_err(|error| failure("mapping an array", error))?;
        Ok(map.0)
    }

    fn allocate(&self, bytes: usize) -> Result<u64, FftError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the memory is freed by its owner.
        unsafe { result::malloc_sync(bytes) }.map_err(|error| {
            if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                let (free, total) = result::mem_get_info().unwrap_or((0, 0));
                FftError::DeviceMemory {
                    needed: bytes,
                    free,
                    total,
                }
            } else {
                failure("allocating memory", error)
            }
        })
    }

    unsafe fn free(&self, address: u64) {
        if let Ok(_current) = Current::enter(self.context) {
            // SAFETY: the caller's promise. A device that is lost has no memory to give back.
            let _ = unsafe { result::free_sync(address) };
        }
    }

    fn pin(&self, bytes: usize) -> Option<*mut u8> {
        let _current = Current::enter(self.context).ok()?;
        // SAFETY: the memory is freed by its owner.
        let address = unsafe { result::malloc_host(bytes, 0) }.ok()?;
        Some(address.cast())
    }

    unsafe fn unpin(&self, address: *mut u8) {
        if let Ok(_current) = Current::enter(self.context) {
            // SAFETY: the caller's promise. What a lost device does not give back the process's end does.
            let _ = unsafe { result::free_host(address.cast()) };
        }
    }

    fn open_queue(&self) -> Result<Queue, FftError> {
        let _current = Current::enter(self.context)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
            .map_err(|error| failure("creating a stream", error))?;
        Ok(stream as u64)
    }

    fn close_queue(&self, queue: Queue) {
        if let Ok(_current) = Current::enter(self.context) {
            // SAFETY: made by `open_queue`. A device that is lost has lost its streams.
            let _ = unsafe { result::stream::destroy(queue as sys::CUstream) };
        }
    }

    unsafe fn upload(&self, queue: Queue, to: u64, bytes: &[u8]) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the caller's promise.
        unsafe { result::memcpy_htod_async(to, bytes, queue as sys::CUstream) }
            .map_err(|error| failure("copying to the device", error))
    }

    unsafe fn download(&self, queue: Queue, from: u64, bytes: &mut [u8]) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the caller's promise.
        unsafe { result::memcpy_dtoh_async(bytes, from, queue as sys::CUstream) }
            .map_err(|error| failure(COPYING_BACK, error))
    }

    unsafe fn copy_block(&self, queue: Queue, block: &BlockCopy) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        let failed = |error| failure("copying within the device", error);
        let stream = queue as sys::CUstream;
        // Whole slices at a time where they lie at a number of rows from each other, and rows closer than the driver's limit.
        let regular = |side: usize| {
            let (row, slice) = (block.row_distances[side], block.slice_distances[side]);
            let together = block.slices == 1 || (slice.is_multiple_of(row) && slice > 0);
            row >= block.bytes && row <= self.most_distance && together
        };
        if block.rows > 1 && regular(0) && regular(1) {
            let height = |side: usize| match block.slices {
                1 => block.rows,
                _ => block.slice_distances[side] / block.row_distances[side],
            };
            let copy = sys::CUDA_MEMCPY3D_st {
                srcXInBytes: 0,
                srcY: 0,
                srcZ: 0,
                srcLOD: 0,
                srcMemoryType: sys::CUmemorytype_enum::CU_MEMORYTYPE_DEVICE,
                srcHost: std::ptr::null(),
                srcDevice: block.from,
                srcArray: std::ptr::null_mut(),
                reserved0: std::ptr::null_mut(),
                srcPitch: block.row_distances[0],
                srcHeight: height(0),
                dstXInBytes: 0,
                dstY: 0,
                dstZ: 0,
                dstLOD: 0,
                dstMemoryType: sys::CUmemorytype_enum::CU_MEMORYTYPE_DEVICE,
                dstHost: std::ptr::null_mut(),
                dstDevice: block.to,
                dstArray: std::ptr::null_mut(),
                reserved1: std::ptr::null_mut(),
                dstPitch: block.row_distances[1],
                dstHeight: height(1),
                WidthInBytes: block.bytes,
                Height: block.rows,
                Depth: block.slices,
            };
            // SAFETY: the caller's promise.
            return unsafe { sys::cuMemcpy3DAsync_v2(&copy, stream) }
                .result()
                .map_err(failed);
        }
        for slice in 0..block.slices {
            for row in 0..block.rows {
                let [from, to] = [0, 1].map(|side| {
                    slice * block.slice_distances[side] + row * block.row_distances[side]
                });
                let (from, to) = (block.from + from as u64, block.to + to as u64);
                // SAFETY: the caller's promise.
                unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, block.bytes, stream) }
                    .result()
                    .map_err(failed)?;
            }
        }
        Ok(())
    }

    unsafe fn clear(&self, queue: Queue, address: u64, bytes: usize) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the caller's promise.
        unsafe { result::memset_d8_async(address, 0, bytes, queue as sys::CUstream) }
            .map_err(|error| failure("clearing memory", error))
    }

    unsafe fn launch(
        &self,
        queue: Queue,
        parameters: &Parameters,
        blocks: u64,
        shared_bytes: usize,
    ) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        let function = match parameters {
            Parameters::Template(_, kernel) | Parameters::Pass(_, kernel) => {
                let known = self.template.read().unwrap_or_else(PoisonError::into_inner);
                known[kernel.name].0
            }
            #[cfg(feature = "convolution")]
            Parameters::IntegerProduct(_, kernel) => self.integer_product(kernel)?,
            #[cfg(any(feature = "convolution", feature = "ntt"))]
            Parameters::NttBatch(_, kernel) => self.ntt_batch(kernel)?,
            #[cfg(feature = "ntt")]
            Parameters::NttLines(_, kernel) => self.ntt_line(kernel)?,
            // Asked once, by those who multiply so.
            Parameters::Exactness(_, instruction) => match instruction.ptx() {
                Some(ptx) => function_of(load_module(ptx.as_bytes())?, parameters.kernel())?,
                None => self.functions[parameters.kernel()],
            },
            _ => self.functions[parameters.kernel()],
        };
        let blocks = u32::try_from(blocks)
            .ok()
            .filter(|&blocks| blocks < 1 << 31)
            .ok_or_else(|| {
                FftError::Unsupported(format!("{blocks} thread blocks are more than a launch has"))
            })?;
        // What was compiled for older GPUs does not wait, also where the driver has compiled it for later ones.
        let early = self.tuned && parameters.waits_for_launch_before();
        let mut attribute = sys::CUlaunchAttribute {
            id:
                sys::CUlaunchAttributeID_enum::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: 1,
            },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: parameters.threads(),
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shared_bytes as u32,
            hStream: queue as sys::CUstream,
            attrs: &mut attribute,
            numAttrs: 1,
        };
        let arguments = &mut [parameters.pointer().cast_mut()];
        // SAFETY: the kernel takes one structure by value, of the type that belongs to its name; the driver copies it.
        let launched = unsafe {
            match early {
                true => sys::cuLaunchKernelEx(
                    &config,
                    function,
                    arguments.as_mut_ptr(),
                    std::ptr::null_mut(),
                )
                .result(),
                false => result::launch_kernel(
                    function,
                    (blocks, 1, 1),
                    (parameters.threads(), 1, 1),
                    shared_bytes as u32,
                    queue as sys::CUstream,
                    arguments,
                ),
            }
        };
        launched.map_err(|error| failure("launching a kernel", error))
    }

    fn is_recorded(&self, queue: Queue) -> bool {
        let Ok(_current) = Current::enter(self.context) else {
            return false;
        };
        // SAFETY: the queue is open.
        let status = unsafe { result::stream::is_capturing(queue as sys::CUstream) };
        // The default stream cannot be asked while another one is recorded: then nothing is recorded besides.
        !matches!(
            status,
            Ok(sys::CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_NONE)
        )
    }

    fn record(&self, put: &dyn Fn(Queue) -> Result<(), FftError>) -> Result<Option<u64>, FftError> {
        let _current = Current::enter(self.context)?;
        let failed = |error| failure("recording launches", error);
        let queue = self.open_queue()?;
        let stream = queue as sys::CUstream;
        // Calls of other threads are of no account.
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is this function's own; what is put into it is not run.
        let graph = unsafe {
            let graph = result::stream::begin_capture(stream, mode).map_err(failed);
            let graph = graph.and_then(|()| {
                let outcome = put(queue);
                let graph = result::stream::end_capture(stream).map_err(failed);
                outcome.and(graph)
            });
            self.close_queue(queue);
            graph?
        };
        // SAFETY: made above, and destroyed here alone.
        let recorded = unsafe {
            let flags = sys::CUgraphInstantiate_flags_enum(0);
            let recorded = result::graph::instantiate(graph, flags);
            let _ = result::graph::destroy(graph);
            recorded
        };
        recorded
            .map(|recorded| Some(recorded as u64))
            .map_err(failed)
    }

    unsafe fn replay(&self, queue: Queue, recording: u64) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the caller's promise.
        unsafe { result::graph::launch(recording as sys::CUgraphExec, queue as sys::CUstream) }
            .map_err(|error| failure("launching what was recorded", error))
    }

    unsafe fn forget(&self, recording: u64) {
        if let Ok(_current) = Current::enter(self.context) {
            // SAFETY: the caller's promise. A device that is lost has lost its recordings.
            let _ = unsafe { result::graph::exec_destroy(recording as sys::CUgraphExec) };
        }
    }

    fn synchronize(&self, queue: Queue) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the queue is open.
        unsafe { result::stream::synchronize(queue as sys::CUstream) }
            .map_err(|error| failure("running the kernels", error))
    }

    fn is_done(&self, queue: Queue) -> bool {
        let Ok(_current) = Current::enter(self.context) else {
            return true;
        };
        // SAFETY: the queue is open.
        let state = unsafe { sys::cuStreamQuery(queue as sys::CUstream) };
        state != sys::CUresult::CUDA_ERROR_NOT_READY
    }

    fn check_pointer(&self, buffer: Buffer, address: u64, bytes: usize) -> Result<(), FftError> {
        use sys::CUpointer_attribute_enum as Attribute;
        let _current = Current::enter(self.context)?;
        let refuse = |reason: String| FftError::WrongPointer {
            buffer,
            address,
            reason,
        };
        // All at once, as this is done at every call. What there is no answer to stays zero.
        let (mut kind, mut ordinal, mut start, mut size) = (0u32, 0i32, 0u64, 0usize);
        let mut attributes = [
            Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        ];
        let mut places: [*mut c_void; 4] = [
            std::ptr::from_mut(&mut kind).cast(),
            std::ptr::from_mut(&mut ordinal).cast(),
            std::ptr::from_mut(&mut start).cast(),
            std::ptr::from_mut(&mut size).cast(),
        ];
        // SAFETY: every attribute is written as the type of its place.
        unsafe {
            sys::cuPointerGetAttributes(4, attributes.as_mut_ptr(), places.as_mut_ptr(), address)
        }
        .result()
        .map_err(|error| failure("asking about a pointer", error))?;
        if kind == 0 {
            return Err(refuse("it is not an address of the driver's".into()));
        }
        if kind != sys::CUmemorytype_enum::CU_MEMORYTYPE_DEVICE as u32 {
            return Err(refuse("it is not memory of a device".into()));
        }
        if ordinal != self.ordinal as i32 {
            return Err(refuse(format!(
                "it is memory of device {ordinal}, the plan is for device {}",
                self.ordinal
            )));
        }
        // Some kinds of memory have no known range.
        if size > 0 {
            let left = (start + size as u64).saturating_sub(address);
            if left < bytes as u64 {
                return Err(refuse(format!(
                    "{left} bytes are left of its memory, {bytes} are needed"
                )));
            }
        }
        Ok(())
    }
}
