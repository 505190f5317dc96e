//! A batch of lines in a GPU's memory: copied there once, transformed forward and back in place, and copied home.
//!
//! ```sh
//! cargo run --release -p ozfft --features cuda --example on_gpu
//! ```
//!
//! Arrays in host memory need nothing of this: `Problem::device(Device::Cuda(0))`, and `process` copies. It is for programs that
//! have more work for their data on the GPU. The bits are those of the processor, which is checked at the end.

use num_complex::Complex;
use ozfft::{Device, DeviceQueue, Direction, FftError, Planner, Problem};
use std::process::ExitCode;

const POINTS: usize = 1024;
const LINES: usize = 1000;

fn transform() -> Result<bool, FftError> {
    // One queue of work (a CUDA stream) on the first GPU, and plans for that GPU.
    let queue = DeviceQueue::open(0)?;
    let planner = Planner::<f64>::new();
    let problem = Problem::complex(&[POINTS]).batch(LINES);
    let on_gpu = problem.clone().device(Device::Cuda(queue.ordinal()));
    let forward = planner.plan(&on_gpu)?;
    let back = planner.plan(&on_gpu.direction(Direction::Inverse))?;

    let value = |i: usize| Complex::new((i % 17) as f64 - 8.0, (i % 5) as f64);
    let mut lines: Vec<_> = (0..POINTS * LINES).map(value).collect();
    let mut expected = lines.clone();

    // Memory of the GPU, in bytes; the workspace can be shared by plans that run one after the other.
    let array = queue.allocate(size_of_val(&lines[..]))?;
    let needed = forward.device_workspace_len();
    let workspace = queue.allocate(needed.max(back.device_workspace_len()))?;
    let (place, scratch) = (array.pointer(), workspace.pointer());
    // SAFETY: the array has the bytes of the plans' arrays, and the workspace as many as either plan asks for. Nothing else uses them or
    // `lines`, and arrays, plans and `lines` live, until `synchronize` below.
    unsafe {
        queue.upload(place, bytemuck::cast_slice(&lines))?;
        forward.process_device(place, place, scratch, queue.stream())?;
        // Work of other kernels on the spectrum goes here, in the same stream.
        back.process_device(place, place, scratch, queue.stream())?;
        queue.download(place, bytemuck::cast_slice_mut(&mut lines))?;
    }
    queue.synchronize()?;
    println!("{}: {} -> {}", queue.name(), value(1), lines[1]);

    planner.plan(&problem)?.process(&mut expected)?;
    let inverse = problem.direction(Direction::Inverse);
    planner.plan(&inverse)?.process(&mut expected)?;
    Ok(lines == expected)
}

fn main() -> ExitCode {
    match transform() {
        Ok(true) => {
            println!("the bits of the processor");
            ExitCode::SUCCESS
        }
        Ok(false) => {
            eprintln!("error: the processor has other bits");
            ExitCode::FAILURE
        }
        // Printed with `{}`: that is the text with the remedy.
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
