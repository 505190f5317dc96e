//! CUDA kernels on a machine without a GPU: the same sources, compiled by the host's C++ compiler, one fiber for every
//! thread (`crates/ozfft-kernels/cuda/emulator.h`). For tests; device memory is host memory.

#![warn(missing_docs)]

use std::ffi::{c_int, c_void};

type Entry = unsafe extern "C" fn(*const c_void, u64, c_int, usize);

unsafe extern "C" {
    fn ozfft_emulate_general_block(task: *const c_void, blocks: u64, threads: c_int, shared: usize);
    fn ozfft_emulate_general_block_small(
        task: *const c_void,
        blocks: u64,
        threads: c_int,
        shared: usize,
    );
    fn ozfft_emulate_truncated_5(task: *const c_void, blocks: u64, threads: c_int, shared: usize);
    fn ozfft_emulate_truncated_8(task: *const c_void, blocks: u64, threads: c_int, shared: usize);
    fn ozfft_emulate_truncated_5_small(
        task: *const c_void,
        blocks: u64,
        threads: c_int,
        shared: usize,
    );
    fn ozfft_emulate_truncated_8_small(
        task: *const c_void,
        blocks: u64,
        threads: c_int,
        shared: usize,
    );
    fn ozfft_emulate_copy_points(task: *const c_void, blocks: u64, threads: c_int, shared: usize);
    fn ozfft_emulate_find_largest(task: *const c_void, blocks: u64, threads: c_int, shared: usize);
}

/// Runs a kernel, by its name, to its end.
///
/// # Panics
/// If there is no such kernel.
///
/// # Safety
/// `parameters` points to the kernel's parameters as `task.cuh` lays them out, aligned, and the addresses in them are of
/// memory that the kernel may use.
pub unsafe fn launch(
    kernel: &str,
    parameters: *const c_void,
    blocks: u64,
    threads: u32,
    shared_bytes: usize,
) {
    let entry: Entry = match kernel {
        "general_block" => ozfft_emulate_general_block,
        "general_block_small" => ozfft_emulate_general_block_small,
        "truncated_5" => ozfft_emulate_truncated_5,
        "truncated_8" => ozfft_emulate_truncated_8,
        "truncated_5_small" => ozfft_emulate_truncated_5_small,
        "truncated_8_small" => ozfft_emulate_truncated_8_small,
        "copy_points" => ozfft_emulate_copy_points,
        "find_largest" => ozfft_emulate_find_largest,
        _ => panic!("there is no kernel {kernel}"),
    };
    // SAFETY: the caller's promise.
    unsafe { entry(parameters, blocks, threads as c_int, shared_bytes) }
}
