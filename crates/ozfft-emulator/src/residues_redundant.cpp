#include "launch.h"
#include "residues/bailey_step_residues_redundant.cu"

extern "C" bool ozfft_emulate_residues_redundant(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(WatchedTask, residues_redundant),
        NAMED_KERNEL(WatchedTask, residues_512_redundant),
        NAMED_KERNEL(WatchedTask, residues_256_redundant),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
