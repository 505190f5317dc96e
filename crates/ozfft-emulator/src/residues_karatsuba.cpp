#include "launch.h"
#include "residues/fp8/bailey_step_residues_karatsuba.cu"

extern "C" bool ozfft_emulate_residues_karatsuba(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Tasks, residues_karatsuba_kulisch32),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
