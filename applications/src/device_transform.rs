//! A transform in a GPU's memory of arrays in the processor's: copies and kernels are timed apart, for ozfft and cuFFT alike, so that their times can be compared.

use ozfft::FftError;
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::{DeviceArrays, DeviceWork, Gpu};
use std::time::Instant;

/// Seconds of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Of the transform itself.
    pub transform: f64,
    /// Of copies between the processor's memory and the device's.
    pub copies: f64,
}

/// Work on a GPU and, from the first call with arrays of the processor on, memory for it.
pub struct DeviceTransform {
    work: Box<dyn DeviceWork + Send>,
    arrays: Option<DeviceArrays>,
    gpu: Gpu,
    ordinal: usize,
}

fn unsupported(reason: impl std::fmt::Display) -> FftError {
    FftError::Unsupported(reason.to_string())
}

impl DeviceTransform {
    /// On this device, with work that is made for it.
    pub fn new<W: DeviceWork + Send + 'static>(
        ordinal: usize,
        work: impl FnOnce(&Gpu) -> Result<W, Failure>,
    ) -> Result<DeviceTransform, FftError> {
        let gpu = Gpu::open(ordinal).map_err(unsupported)?;
        let work = work(&gpu).map_err(unsupported)?;
        Ok(DeviceTransform {
            work: Box::new(work),
            arrays: None,
            gpu,
            ordinal,
        })
    }

    /// The number of the device.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Bytes of device memory that it needs besides input and output.
    pub fn workspace_len(&self) -> usize {
        self.work.needs().workspace
    }

    /// Copies the input to the device, transforms, and copies the output back.
    pub fn execute(&mut self, input: &[f64], output: &mut [f64]) -> Result<Seconds, FftError> {
        let start = Instant::now();
        if self.arrays.is_none() {
            let arrays = self.gpu.arrays_for(&[&*self.work]).map_err(unsupported)?;
            self.arrays = Some(arrays);
        }
        let Some(arrays) = &mut self.arrays else {
            return Err(unsupported("there is no device memory"));
        };
        arrays.input.upload(0, input).map_err(unsupported)?;
        let copied = start.elapsed().as_secs_f64();
        let transform = self.gpu.run(&*self.work, arrays, 1);
        let transform = transform.map_err(unsupported)?;
        let start = Instant::now();
        arrays.output.download(0, output).map_err(unsupported)?;
        Ok(Seconds {
            transform,
            copies: copied + start.elapsed().as_secs_f64(),
        })
    }

    /// Puts the transform of device memory into the default stream: from the first address to the second, with the third as workspace.
    ///
    /// # Safety
    /// The addresses are of memory of this device, as long as input, output and workspace, which nothing else uses until the stream has come so far.
    #[allow(unsafe_code, reason = "the caller's addresses")]
    pub unsafe fn queue(&self, addresses: [u64; 3]) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        unsafe { self.work.queue(addresses, 0) }
    }
}
