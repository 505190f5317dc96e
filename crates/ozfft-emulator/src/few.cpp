#include "hopper/tuned_few.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_few(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_TUNED_KERNELS(tuned_few_5_32x32),
        NAMED_TUNED_KERNELS(tuned_few_5_16x16),
        NAMED_TUNED_KERNELS(tuned_few_5_32x16),
        NAMED_TUNED_KERNELS(tuned_few_6_32x32),
        NAMED_TUNED_KERNELS(tuned_few_6_16x16),
        NAMED_TUNED_KERNELS(tuned_few_6_32x16),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
