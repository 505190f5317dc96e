#include "launch.h"
#include "residues/bailey_step_residues_short.cu"

extern "C" bool ozfft_emulate_residues_short(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Tasks, residues_512_kulisch32),
        NAMED_KERNEL(Tasks, residues_512_kulisch16),
        NAMED_KERNEL(Tasks, residues_512_kulisch8),
        NAMED_KERNEL(Tasks, residues_512_garner),
        NAMED_KERNEL(Tasks, residues_512_double_conversions),
        NAMED_KERNEL(Tasks, residues_256_kulisch32),
        NAMED_KERNEL(Tasks, residues_256_kulisch16),
        NAMED_KERNEL(Tasks, residues_256_kulisch8),
        NAMED_KERNEL(Tasks, residues_256_garner),
        NAMED_KERNEL(Tasks, residues_256_double_conversions),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
