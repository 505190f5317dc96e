#include "kulisch/kulisch_naive.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_kulisch_naive(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Reduction, naive_sum),
        NAMED_KERNEL(Reduction, naive_magnitude_sum),
        NAMED_KERNEL(Reduction, naive_dot),
        NAMED_KERNEL(SparseTask, naive_spmv),
        NAMED_KERNEL(BatchTask, naive_gemv),
        NAMED_KERNEL(StencilTask, naive_stencil),
        NAMED_KERNEL(Reduction, read_sum),
        NAMED_KERNEL(Reduction, read_dot),
        NAMED_KERNEL(SparseTask, read_spmv),
        NAMED_KERNEL(BatchTask, read_gemv),
        NAMED_KERNEL(StencilTask, read_stencil),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
