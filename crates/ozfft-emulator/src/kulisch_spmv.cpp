#include "kulisch/kulisch_spmv.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_kulisch_spmv(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(SparseTask, kulisch_spmv),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
