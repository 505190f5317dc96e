#include "hopper/tuned_single.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_single(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(TunedArguments, tuned_single_32x32),
        NAMED_KERNEL(StridedArguments, tuned_single_32x32_strided),
        NAMED_KERNEL(TunedArguments, tuned_single_16x16),
        NAMED_KERNEL(StridedArguments, tuned_single_16x16_strided),
        NAMED_KERNEL(TunedArguments, tuned_single_32x16),
        NAMED_KERNEL(StridedArguments, tuned_single_32x16_strided),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
