#include "launch.h"
#include "residues/bailey_step_residues_kinds.cu"

extern "C" bool ozfft_emulate_residues_kinds(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Tasks, residues_real),
        NAMED_KERNEL(Tasks, residues_512_real),
        NAMED_KERNEL(Tasks, residues_256_real),
        NAMED_KERNEL(Tasks, residues_single),
        NAMED_KERNEL(Tasks, residues_512_single),
        NAMED_KERNEL(Tasks, residues_256_single),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
