#include "launch.h"
#include "residues/bailey_step_residues_adaptive.cu"

extern "C" bool ozfft_emulate_residues_adaptive(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(AdaptedTask, residues_adaptive),
        NAMED_KERNEL(AdaptedTask, residues_512_adaptive),
        NAMED_KERNEL(AdaptedTask, residues_256_adaptive),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
