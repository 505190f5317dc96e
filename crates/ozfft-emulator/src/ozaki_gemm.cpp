#include "ozaki/ozaki_gemm.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_ozaki_gemm(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(TransposeTask, ozaki_transpose),
        NAMED_KERNEL(RowsTask, ozaki_rows),
        NAMED_KERNEL(ReconstructTask, ozaki_reconstruct),
        NAMED_KERNEL(ReconstructTask, ozaki_reconstruct_conversions),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
