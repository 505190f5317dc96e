#include "hopper/tuned_mixed.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_mixed(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_TUNED_KERNELS(tuned_16x8),
        NAMED_TUNED_KERNELS(tuned_16x12),
        NAMED_TUNED_KERNELS(tuned_20x16),
        NAMED_TUNED_KERNELS(tuned_24x16),
        NAMED_TUNED_KERNELS(tuned_24x20),
        NAMED_TUNED_KERNELS(tuned_32x20),
        NAMED_TUNED_KERNELS(tuned_32x24),
        NAMED_TUNED_KERNELS(tuned_32x25),
        NAMED_TUNED_KERNELS(tuned_32x30),
        NAMED_TUNED_KERNELS(tuned_40x25),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
