#include "kulisch/kulisch_sum.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_kulisch_sum(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Reduction, kulisch_sum),
        NAMED_KERNEL(Reduction, kulisch_magnitude_sum),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
