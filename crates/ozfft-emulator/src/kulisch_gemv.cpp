#include "kulisch/kulisch_gemv.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_kulisch_gemv(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(BatchTask, kulisch_gemv),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
