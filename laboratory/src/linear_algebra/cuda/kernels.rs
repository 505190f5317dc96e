//! The kernels, launches of them, and how long they take.
#![allow(unsafe_code)]

use crate::failure::Failure;
use crate::sums::cuda::reductions::{Function, load};
use cudarc::driver::result;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use ozfft_kernels::{kulisch, ozaki as kernels};
use ozfft_measure::gpu::{Gpu, failed};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Shorter work is timed several times at once, in seconds.
const SHORTEST_SAMPLE: f64 = 2e-3;
/// Turns that every method gets at least.
const FEWEST_TURNS: usize = 5;

/// All kernels, loaded.
pub struct Kernels<'a> {
    pub gpu: &'a Gpu,
    functions: HashMap<&'static str, (Function, usize)>,
}

/// Blocks of a launch.
#[derive(Debug, Clone, Copy)]
pub enum Blocks {
    /// So many: each has its own work.
    Exactly(u64),
    /// As many as run at once, and not more than these.
    AtMost(u64),
}

impl<'a> Kernels<'a> {
    /// Loads them.
    pub fn new(gpu: &'a Gpu) -> Result<Kernels<'a>, Failure> {
        gpu.context
            .bind_to_thread()
            .map_err(failed("use the device"))?;
        let (rows, turned) = (kernels::ROWS_SHARED_BYTES, kernels::TRANSPOSE_SHARED_BYTES);
        let mut wanted = vec![
            (kernels::GEMM_IMAGE, kernels::TRANSPOSE_NAME, turned),
            (kernels::GEMM_IMAGE, kernels::ROWS_NAME, rows),
            (kernels::VECTORS_IMAGE, kernels::VECTOR_FIELDS_NAME, 0),
            (kernels::VECTORS_IMAGE, kernels::VECTOR_RESIDUES_NAME, 0),
            (kernels::VECTORS_IMAGE, kernels::MULTIPLY_ADD_NAME, 0),
            (kulisch::DOT_IMAGE, DOT_NAME, kulisch::SHARED_BYTES),
        ];
        wanted.extend(kernels::RECONSTRUCT_NAMES.map(|name| (kernels::GEMM_IMAGE, name, 0)));
        let shared = kernels::PRODUCT_SHARED_BYTES;
        let products = kernels::PRODUCT_NAMES.into_iter().flatten();
        wanted.extend(products.map(|name| (kernels::VECTORS_IMAGE, name, shared)));
        let mut functions = HashMap::new();
        for (image, name, shared) in wanted {
            functions.insert(name, (load(image, name, shared)?, shared));
        }
        Ok(Kernels { gpu, functions })
    }

    /// Puts a kernel into the stream.
    ///
    /// # Safety
    /// The task is of the type that the kernel takes, and its addresses are memory of the device that is as long as it says and stays alive until
    /// the stream has come so far.
    pub unsafe fn launch<T>(
        &self,
        name: &'static str,
        task: &T,
        blocks: Blocks,
    ) -> Result<(), Failure> {
        let Some((function, shared)) = self.functions.get(name) else {
            return Err(Failure::Check(format!("there is no kernel {name}")));
        };
        let resident = u64::from(self.gpu.facts.multiprocessors * function.resident_blocks);
        let blocks = match blocks {
            Blocks::Exactly(count) => count,
            Blocks::AtMost(useful) => useful.min(resident),
        };
        let blocks = u32::try_from(blocks.max(1))
            .map_err(|_| Failure::Usage(format!("{blocks} blocks are more than a launch has")))?;
        let parameter = std::ptr::from_ref(task).cast_mut().cast();
        // SAFETY: the caller's promise. The driver copies the parameter.
        let launched = unsafe {
            result::launch_kernel(
                function.handle,
                (blocks, 1, 1),
                (kernels::THREADS, 1, 1),
                *shared as u32,
                self.gpu.stream.cu_stream(),
                &mut [parameter],
            )
        };
        Ok(launched.map_err(failed("launch a kernel"))?)
    }

    /// Puts zeros into the stream.
    ///
    /// # Safety
    /// So many bytes are memory of the device that stays alive until the stream has come so far.
    pub unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Failure> {
        let stream = self.gpu.stream.cu_stream();
        // SAFETY: the caller's promise.
        let cleared = unsafe { result::memset_d8_async(address, 0, bytes, stream) };
        Ok(cleared.map_err(failed("clear memory"))?)
    }

    /// Waits.
    pub fn wait(&self) -> Result<(), Failure> {
        let waited = self.gpu.stream.synchronize();
        Ok(waited.map_err(failed("finish its work"))?)
    }

    /// Does work so many times and waits; returns the seconds of one between two events.
    fn timed(&self, work: &mut Work<'_>, repeats: u32) -> Result<f64, Failure> {
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
            queued = queued.and_then(|()| work());
        }
        let end = event();
        // Whatever failed: nothing may run any more when arrays are given back.
        let waited = self.wait();
        queued?;
        waited?;
        let milliseconds = start.elapsed_ms(&end?).map_err(failed("compare events"))?;
        Ok(f64::from(milliseconds) * 1e-3 / f64::from(repeats.max(1)))
    }

    /// Times of several works, taken alternately.
    pub fn times(
        &self,
        works: &mut [Box<Work<'_>>],
        seconds: Duration,
    ) -> Result<Vec<Times>, Failure> {
        let mut repeats = Vec::new();
        for work in works.iter_mut() {
            self.timed(work, 1)?;
            let once = self.timed(work, 1)?;
            let count = (SHORTEST_SAMPLE / once.max(1e-7)).ceil();
            repeats.push(count.clamp(1.0, 1000.0) as u32);
        }
        let mut times = vec![Vec::new(); works.len()];
        let begin = Instant::now();
        let mut turns = 0;
        while turns < FEWEST_TURNS || begin.elapsed() < seconds * works.len() as u32 {
            for ((work, &repeats), times) in works.iter_mut().zip(&repeats).zip(&mut times) {
                times.push(self.timed(work, repeats)?);
            }
            turns += 1;
        }
        let summary = times.into_iter().zip(repeats).map(|(mut times, repeats)| {
            times.sort_by(f64::total_cmp);
            Times {
                median: times[times.len() / 2],
                shortest: times[0],
                runs: times.len() * repeats as usize,
            }
        });
        Ok(summary.collect())
    }
}

/// The exact dot product of the solver.
pub const DOT_NAME: &str = "kulisch_dot";

/// Something that is put into the stream.
pub type Work<'a> = dyn FnMut() -> Result<(), Failure> + 'a;

/// Seconds of a work.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub median: f64,
    pub shortest: f64,
    pub runs: usize,
}
