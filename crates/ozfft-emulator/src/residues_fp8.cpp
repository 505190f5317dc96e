#include "launch.h"
#include "residues/fp8/bailey_step_residues_fp8.cu"

extern "C" bool ozfft_emulate_residues_fp8(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Tasks, residues_fp8_kulisch32),
        NAMED_KERNEL(Tasks, residues_fp8_in_halves),
        NAMED_KERNEL(Tasks, residues_fp8_bands),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
