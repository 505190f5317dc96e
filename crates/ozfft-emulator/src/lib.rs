//! CUDA kernels on a machine without a GPU: the same sources, compiled by the host's C++ compiler, one fiber for every
//! thread (`crates/ozfft-kernels/cuda/emulation/emulator.h`). For tests; device memory is host memory.

#![warn(missing_docs)]

use std::ffi::{CString, c_char, c_int, c_void};

/// Runs a kernel if it knows one of this name.
type Launcher = unsafe extern "C" fn(*const c_char, *const c_void, u64, c_int, usize) -> bool;

/// The launchers of `src/*.cpp`, a file of kernels each.
macro_rules! launchers {
    ($list:ident: $($name:ident),*) => {
        unsafe extern "C" {
            $(fn $name(
                name: *const c_char,
                parameters: *const c_void,
                blocks: u64,
                threads: c_int,
                shared_bytes: usize,
            ) -> bool;)*
        }

        const $list: &[Launcher] = &[$($name),*];
    };
}

launchers!(OZAKI: ozfft_emulate_ozaki_gemm, ozfft_emulate_ozaki_vectors);

#[cfg(not(feature = "transforms"))]
launchers!(TRANSFORMS:);
#[cfg(feature = "transforms")]
launchers!(
    TRANSFORMS: ozfft_emulate_general,
    ozfft_emulate_truncated,
    ozfft_emulate_residues,
    ozfft_emulate_residues_adaptive,
    ozfft_emulate_residues_kinds,
    ozfft_emulate_residues_redundant,
    ozfft_emulate_residues_short,
    ozfft_emulate_residues_fp8,
    ozfft_emulate_residues_karatsuba,
    ozfft_emulate_tuned,
    ozfft_emulate_mixed,
    ozfft_emulate_real,
    ozfft_emulate_passes,
    ozfft_emulate_single,
    ozfft_emulate_few,
    ozfft_emulate_template,
    ozfft_emulate_floats,
    ozfft_emulate_kulisch_sum,
    ozfft_emulate_kulisch_dot,
    ozfft_emulate_kulisch_spmv,
    ozfft_emulate_kulisch_gemv,
    ozfft_emulate_kulisch_stencil,
    ozfft_emulate_kulisch_naive,
    ozfft_emulate_ntt,
    ozfft_emulate_ntt_batches,
    ozfft_emulate_ntt_fourier,
    ozfft_emulate_faulty,
    ozfft_emulate_namesake_one,
    ozfft_emulate_namesake_other
);

/// Names of the template's kernels that are there: those of a sample of lengths, on a GPU with 227 KB of shared memory for a block.
#[cfg(feature = "transforms")]
pub const TEMPLATE_KERNELS: &[&str] = &include!(concat!(env!("OUT_DIR"), "/template_names.rs"));

/// Runs a kernel, by its name, to its end.
///
/// # Panics
/// If there is no such kernel.
///
/// # Safety
/// `parameters` points to the kernel's parameters as `task.cuh`, `tuned_block.cuh`, `float_lines.cuh`, `kulisch_tasks.cuh`, `ntt.cuh`, `ntt_batches.cuh`, `ntt_fourier.cuh` or `ozaki.cuh` lays them out,
/// aligned, and the addresses in them are of memory that the kernel may use. A tensor map is that of `emulated_bulk_copy.h`.
pub unsafe fn launch(
    kernel: &str,
    parameters: *const c_void,
    blocks: u64,
    threads: u32,
    shared_bytes: usize,
) {
    let name = CString::new(kernel).expect("names have no zeros");
    let found = TRANSFORMS.iter().chain(OZAKI).any(|launcher| {
        // SAFETY: the caller's promise.
        unsafe {
            launcher(
                name.as_ptr(),
                parameters,
                blocks,
                threads as c_int,
                shared_bytes,
            )
        }
    });
    assert!(found, "there is no kernel {kernel}");
}
