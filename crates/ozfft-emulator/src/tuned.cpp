#include "tuned_block.cu"
#include "launch.h"

#define NAMED_TUNED_KERNELS(shape)                                    \
    NAMED_KERNEL(TunedArguments, tuned_##shape),                      \
        NAMED_KERNEL(StridedArguments, tuned_##shape##_strided),      \
        NAMED_KERNEL(TunedArguments, tuned_##shape##_conversions),    \
        NAMED_KERNEL(StridedArguments, tuned_##shape##_strided_conversions)

extern "C" bool ozfft_emulate_tuned(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_TUNED_KERNELS(32x32),
        NAMED_TUNED_KERNELS(16x16),
        NAMED_TUNED_KERNELS(32x16),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
