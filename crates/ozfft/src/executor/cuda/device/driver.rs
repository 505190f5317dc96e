//! A GPU behind NVIDIA's driver, which is looked for at run time.

use crate::error::{Buffer, FftError};
use crate::executor::cuda::device::compiler;
use crate::executor::cuda::device::findings::Findings;
use crate::executor::cuda::device::launch::{Launch, TemplateKernel};
use crate::executor::cuda::device::loading::{Current, Kernels, failure, function_of, load_module};
use crate::executor::cuda::device::machine::{BlockCopy, Machine, Queue};
use crate::executor::cuda::device::modules::TEMPLATE;
use crate::executor::cuda::device::transfer::COPYING_BACK;
use crate::executor::cuda::program::tuned_task::{MappedArray, TensorMap};
use crate::executor::cuda::select::tuning::Tuning;
use cudarc::driver::result;
use cudarc::driver::sys;
use ozfft_kernels::template::KernelSpec;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// The oldest compute capability whose tensor instruction the kernels use.
const OLDEST: (i32, i32) = (8, 0);

/// The compute capability that the tuned kernels are machine code for.
const TUNED_FOR: (i32, i32) = (9, 0);

/// One device, with its context. Kept for the life of the process, and so are all modules that are loaded.
pub(crate) struct Driver {
    ordinal: usize,
    name: String,
    context: sys::CUcontext,
    kernels: Kernels,
    /// Kernels of the template, as far as plans have asked for them; one is made at a time.
    making_template: Mutex<()>,
    template: RwLock<HashMap<&'static str, (sys::CUfunction, TemplateKernel)>>,
    capability: (i32, i32),
    shared_memory: usize,
    multiprocessors: usize,
    /// Bytes from row to row that the driver copies at once.
    most_distance: usize,
    tuned: bool,
    tuning: Tuning,
    findings: Findings,
}

// SAFETY: handles of the driver may be used from any thread.
unsafe impl Send for Driver {}
// SAFETY: as above; the driver does its own locking.
unsafe impl Sync for Driver {}

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
        let tuned = capability == TUNED_FOR;
        let tuning = Tuning::of_gpu(&name, capability);
        Ok(Driver {
            ordinal,
            name,
            context,
            kernels: Kernels::new(tuned, shared),
            making_template: Mutex::default(),
            template: RwLock::default(),
            capability,
            shared_memory: shared.max(0) as usize,
            multiprocessors: multiprocessors.max(1) as usize,
            most_distance: most_distance.max(0) as usize,
            tuned,
            tuning,
            findings: Findings::default(),
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
            let module = self.kernels.module(TEMPLATE);
            (module.map_err(|error| error.to_string())?, None)
        } else {
            let compiled = compiler::compile(spec, conversions, self.capability)?;
            let module = load_module(&compiled.image, "loading a kernel of the template");
            let module = module.map_err(|error| error.to_string())?;
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

    fn prepare(&self, kernels: &[&'static str]) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        for &kernel in kernels {
            // Those of the template are ready since they were asked for.
            self.kernels.function(kernel)?;
        }
        Ok(())
    }

    fn findings(&self) -> &Findings {
        &self.findings
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

    unsafe fn launch(&self, queue: Queue, launch: &Launch) -> Result<(), FftError> {
        let _current = Current::enter(self.context)?;
        let (function, waits) = match self.kernels.function(launch.kernel)? {
            Some(found) => found,
            None => {
                let known = self.template.read().unwrap_or_else(PoisonError::into_inner);
                (known[launch.kernel].0, true)
            }
        };
        let blocks = launch.blocks;
        let blocks = u32::try_from(blocks)
            .ok()
            .filter(|&blocks| blocks < 1 << 31)
            .ok_or_else(|| {
                FftError::Unsupported(format!("{blocks} thread blocks are more than a launch has"))
            })?;
        // What was compiled for older GPUs does not wait, also where the driver has compiled it for later ones.
        let early = self.tuned && waits;
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
            blockDimX: launch.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: launch.shared_bytes as u32,
            hStream: queue as sys::CUstream,
            attrs: &mut attribute,
            numAttrs: 1,
        };
        let arguments = &mut [launch.arguments.pointer().cast_mut()];
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
                    (launch.threads, 1, 1),
                    launch.shared_bytes as u32,
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
