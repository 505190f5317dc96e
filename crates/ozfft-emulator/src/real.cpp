#include "tuned_r2c.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_real(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(TunedArguments, tuned_r2c_32x32),
        NAMED_KERNEL(TunedArguments, tuned_r2c_32x32_conversions),
        NAMED_KERNEL(TunedArguments, tuned_r2c_32x16),
        NAMED_KERNEL(TunedArguments, tuned_r2c_32x16_conversions),
        NAMED_KERNEL(TunedArguments, tuned_r2c_16x16),
        NAMED_KERNEL(TunedArguments, tuned_r2c_16x16_conversions),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
