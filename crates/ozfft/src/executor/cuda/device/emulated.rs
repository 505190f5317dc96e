//! The emulator as a machine: device memory is host memory, and every call is done when it returns.

use crate::error::{Buffer, FftError};
use crate::executor::cuda::device::compiler;
use crate::executor::cuda::device::findings::Findings;
use crate::executor::cuda::device::launch::{Launch, TemplateKernel};
use crate::executor::cuda::device::machine::{BlockCopy, Machine, Queue};
use crate::executor::cuda::device::modules::modules;
use crate::executor::cuda::program::tuned_task::{MappedArray, StridedTask, TensorMap, TunedTask};
use crate::executor::cuda::select::long_passes::PassTask;
use crate::executor::cuda::select::tuning::Tuning;
use ozfft_kernels::template::KernelSpec;
use std::alloc::Layout;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes before and after all memory, which nobody may write to.
const GUARD: usize = 256;
const GUARD_BYTE: u8 = 0x3c;

/// A device without a GPU.
#[derive(Default)]
pub(crate) struct Emulator {
    allocated: Mutex<HashMap<u64, Layout>>,
    /// A GPU with tuned kernels; without, there is less shared memory, too.
    pub(crate) tuned_kernels: bool,
    /// Launches of fewer blocks have kernels of their own.
    pub(crate) few_panels: u64,
    /// Launches of the template's kernels so far.
    pub(crate) template_launches: AtomicU64,
    /// Their names.
    template_names: Mutex<Vec<&'static str>>,
    /// Lines that tuned kernels have left to a portable one so far.
    pub(crate) lines_left: AtomicU64,
    pub(crate) tuning: Tuning,
    findings: Findings,
    /// Kernels that may be launched.
    prepared: Mutex<HashSet<&'static str>>,
    /// What is being recorded, and what has been.
    recording: Mutex<Option<Vec<Recorded>>>,
    recordings: Mutex<Vec<Vec<Recorded>>>,
    pub(crate) replays: AtomicU64,
    pub(crate) cannot_record: bool,
    /// A queue that the caller records, and what he has recorded.
    captured: Mutex<Option<(Queue, Vec<Recorded>)>>,
    /// What `OZFFT_NVRTC` says where kernels of the template have to be compiled and cannot be.
    pub(crate) without_compiler: Option<&'static str>,
    /// A byte of the tables that arrives as another e4m3 digit than was sent.
    pub(crate) wrong_digit: Option<usize>,
}

/// Something that is put into a queue.
#[derive(Clone)]
enum Recorded {
    Clear(u64, usize),
    Launch(Box<Launch>),
}

impl Emulator {
    /// Whether it is recorded instead of being done.
    fn is_kept(&self, queue: Queue, what: impl FnOnce() -> Recorded) -> bool {
        if let Some((captured, recorded)) = &mut *self.captured.lock().unwrap()
            && *captured == queue
        {
            recorded.push(what());
            return true;
        }
        let mut recording = self.recording.lock().unwrap();
        let recording = recording.as_mut();
        recording.map(|recording| recording.push(what())).is_some()
    }

    /// The caller records what is put into a queue from now on, as `cuStreamBeginCapture` does.
    pub(crate) fn begin_capture(&self, queue: Queue) {
        *self.captured.lock().unwrap() = Some((queue, Vec::new()));
    }

    /// What he has recorded is his own, and can be done as often as he likes.
    pub(crate) fn end_capture(&self) -> impl Fn() + '_ {
        let captured = self.captured.lock().unwrap().take();
        let (queue, recorded) = captured.expect("begun before");
        assert!(!recorded.is_empty());
        // SAFETY: the test keeps the arrays that it has recorded with.
        move || unsafe { self.run_all(queue, &recorded) }.expect("launches")
    }

    /// # Safety
    /// As for what was recorded.
    unsafe fn run_all(&self, queue: Queue, recorded: &[Recorded]) -> Result<(), FftError> {
        for entry in recorded {
            // SAFETY: the caller's promise.
            unsafe {
                match entry {
                    Recorded::Clear(address, bytes) => self.clear(queue, *address, *bytes)?,
                    Recorded::Launch(launch) => self.launch(queue, launch)?,
                }
            }
        }
        Ok(())
    }

    /// Kernels of the template that were launched so far.
    pub(crate) fn launched_names(&self) -> Vec<&'static str> {
        self.template_names.lock().unwrap().clone()
    }

    pub(crate) fn with_tuned_kernels() -> Self {
        Emulator {
            tuned_kernels: true,
            ..Emulator::default()
        }
    }
}

impl Machine for Emulator {
    fn name(&self) -> String {
        "emulator".into()
    }

    fn shared_memory(&self) -> usize {
        if self.tuned_kernels {
            227 << 10
        } else {
            99 << 10
        }
    }

    fn multiprocessors(&self) -> usize {
        2
    }

    fn few_panels(&self) -> u64 {
        self.few_panels
    }

    fn has_tuned_kernels(&self) -> bool {
        self.tuned_kernels
    }

    fn capability(&self) -> (i32, i32) {
        match self.tuned_kernels {
            true => (9, 0),
            false => (8, 0),
        }
    }

    /// Those of a sample of shapes are compiled into the emulator.
    fn template_kernel(
        &self,
        spec: &KernelSpec,
        conversions: bool,
    ) -> Result<TemplateKernel, String> {
        let name = spec.name(conversions);
        if let Some(variable) = self.without_compiler
            && !spec.is_compiled_in_advance(conversions)
        {
            return Err(compiler::why_not_found(variable));
        }
        let known = ozfft_emulator::TEMPLATE_KERNELS.iter();
        let found = known.copied().find(|&known| known == name);
        let found = found.filter(|_| self.tuned_kernels);
        let name = found.ok_or_else(|| format!("the emulator has no kernel {name}"))?;
        self.prepared.lock().unwrap().insert(name);
        Ok(TemplateKernel {
            name,
            threads: spec.threads(),
            blocks_each: 1,
            compilation: None,
        })
    }

    fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    fn prepare(&self, kernels: &[&'static str]) -> Result<(), FftError> {
        let modules = modules(self.tuned_kernels);
        let loadable = modules.iter().flat_map(|module| &module.kernels);
        let loadable: HashSet<_> = loadable.chain(ozfft_emulator::TEMPLATE_KERNELS).collect();
        for kernel in kernels {
            assert!(loadable.contains(kernel), "no module has {kernel}");
        }
        self.prepared.lock().unwrap().extend(kernels);
        Ok(())
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    /// What the kernels' source declares as `TensorMap` (`emulated_bulk_copy.h`), after the checks that the driver makes.
    fn tensor_map(&self, array: &MappedArray) -> Result<TensorMap, FftError> {
        let rank = array.dimensions.len();
        assert!((3..=5).contains(&rank));
        assert_eq!(
            (array.distances.len(), array.box_dimensions.len()),
            (rank - 1, rank)
        );
        assert!(array.address.is_multiple_of(16));
        assert!(array.dimensions.iter().all(|&n| (1..=1 << 32).contains(&n)));
        assert!(
            array
                .distances
                .iter()
                .all(|&d| d.is_multiple_of(16) && d < 1 << 40)
        );
        assert!(array.box_dimensions.iter().all(|&n| (1..=256).contains(&n)));
        assert!([64, 128].contains(&(8 * array.box_dimensions[0])));
        let mut map = [0; 16];
        (map[0], map[1]) = (array.address, rank as u64);
        map[2..2 + rank].copy_from_slice(&array.dimensions);
        map[7..7 + rank - 1].copy_from_slice(&array.distances);
        for (to, &from) in map[11..].iter_mut().zip(&array.box_dimensions) {
            *to = u64::from(from);
        }
        Ok(map)
    }

    fn allocate(&self, bytes: usize) -> Result<u64, FftError> {
        let layout = Layout::from_size_align(GUARD + bytes + GUARD, 256).expect("a layout");
        // SAFETY: not of length 0.
        let start = unsafe { std::alloc::alloc(layout) };
        assert!(!start.is_null());
        // Memory of a device begins with anything.
        // SAFETY: just allocated.
        let address = unsafe {
            start.write_bytes(GUARD_BYTE, layout.size());
            let address = start.add(GUARD);
            address.write_bytes(0x5a, bytes);
            address as u64
        };
        self.allocated.lock().unwrap().insert(address, layout);
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        let layout = self.allocated.lock().unwrap().remove(&address);
        let layout = layout.expect("our own");
        // SAFETY: allocated above with this layout.
        unsafe {
            let start = (address as *mut u8).sub(GUARD);
            let all = std::slice::from_raw_parts(start, layout.size());
            let (before, after) = (&all[..GUARD], &all[layout.size() - GUARD..]);
            let intact = before.iter().chain(after).all(|&byte| byte == GUARD_BYTE);
            std::alloc::dealloc(start, layout);
            assert!(intact, "a kernel has written beyond the ends of an array");
        }
    }

    fn open_queue(&self) -> Result<Queue, FftError> {
        Ok(0)
    }

    fn close_queue(&self, _: Queue) {}

    unsafe fn upload(&self, queue: Queue, to: u64, bytes: &[u8]) -> Result<(), FftError> {
        assert!(
            !self.is_recorded(queue),
            "host memory is not copied from for good"
        );
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
        if let Some(place) = self.wrong_digit.filter(|&place| place < bytes.len()) {
            // The codes of 1 and 2.
            let other = if bytes[place] == 0x38 { 0x40 } else { 0x38 };
            // SAFETY: within what was just copied.
            unsafe { *(to as *mut u8).add(place) = other };
        }
        Ok(())
    }

    unsafe fn download(&self, _: Queue, from: u64, bytes: &mut [u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(from as *const u8, bytes.as_mut_ptr(), bytes.len())
        };
        Ok(())
    }

    unsafe fn copy_block(&self, _: Queue, block: &BlockCopy) -> Result<(), FftError> {
        for slice in 0..block.slices {
            for row in 0..block.rows {
                let place = |side: usize, start: u64| {
                    let distance =
                        slice * block.slice_distances[side] + row * block.row_distances[side];
                    start + distance as u64
                };
                let (from, to) = (place(0, block.from), place(1, block.to));
                // SAFETY: the caller's promise.
                unsafe {
                    std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, block.bytes);
                }
            }
        }
        Ok(())
    }

    fn record(&self, put: &dyn Fn(Queue) -> Result<(), FftError>) -> Result<Option<u64>, FftError> {
        if self.cannot_record {
            return Ok(None);
        }
        *self.recording.lock().unwrap() = Some(Vec::new());
        put(0)?;
        let recorded = self.recording.lock().unwrap().take();
        let mut recordings = self.recordings.lock().unwrap();
        recordings.push(recorded.expect("begun above"));
        Ok(Some(recordings.len() as u64 - 1))
    }

    unsafe fn replay(&self, queue: Queue, recording: u64) -> Result<(), FftError> {
        assert!(!self.is_recorded(queue), "a graph within a caller's");
        self.replays.fetch_add(1, Ordering::Relaxed);
        let recorded = self.recordings.lock().unwrap()[recording as usize].clone();
        // SAFETY: the caller's promise.
        unsafe { self.run_all(queue, &recorded) }
    }

    fn is_recorded(&self, queue: Queue) -> bool {
        let captured = self.captured.lock().unwrap();
        captured
            .as_ref()
            .is_some_and(|(captured, _)| *captured == queue)
    }

    unsafe fn clear(&self, queue: Queue, address: u64, bytes: usize) -> Result<(), FftError> {
        if self.is_kept(queue, || Recorded::Clear(address, bytes)) {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { (address as *mut u8).write_bytes(0, bytes) };
        Ok(())
    }

    unsafe fn launch(&self, queue: Queue, launch: &Launch) -> Result<(), FftError> {
        let (name, arguments) = (launch.kernel, &launch.arguments);
        assert!(launch.shared_bytes <= self.shared_memory());
        let is_prepared = self.prepared.lock().unwrap().contains(name);
        assert!(is_prepared, "nobody has made {name} ready");
        if self.is_kept(queue, || Recorded::Launch(Box::new(*launch))) {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe {
            ozfft_emulator::launch(
                name,
                arguments.pointer(),
                launch.blocks,
                launch.threads,
                launch.shared_bytes,
            );
            if ozfft_emulator::TEMPLATE_KERNELS.contains(&name) {
                self.template_launches.fetch_add(1, Ordering::Relaxed);
                self.template_names.lock().unwrap().push(name);
            }
            let strided = arguments.get::<StridedTask>().map(|task| &task.common);
            let pass = arguments.get::<PassTask>().map(|task| &task.tuned);
            let task = arguments.get::<TunedTask>().or(strided).or(pass);
            if let Some(task) = task {
                // Passes of convolutions have no list.
                let left = (task.left_count.value() as *const u32).as_ref().copied();
                self.lines_left
                    .fetch_add(left.unwrap_or(0).into(), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn synchronize(&self, queue: Queue) -> Result<(), FftError> {
        assert!(
            !self.is_recorded(queue),
            "what is recorded cannot be waited for"
        );
        Ok(())
    }

    fn check_pointer(&self, _: Buffer, _: u64, _: usize) -> Result<(), FftError> {
        Ok(())
    }
}
