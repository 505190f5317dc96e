#include "hopper/tuned_c2r.cu"
#include "hopper/tuned_r2c.cu"
#include "launch.h"

#define NAMED_REAL_KERNELS(name) NAMED_KERNEL(TunedArguments, name), NAMED_KERNEL(TunedArguments, name##_conversions)

extern "C" bool ozfft_emulate_real(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_REAL_KERNELS(tuned_r2c_32x32), NAMED_REAL_KERNELS(tuned_r2c_32x16), NAMED_REAL_KERNELS(tuned_r2c_16x16),
        NAMED_REAL_KERNELS(tuned_c2r_32x32), NAMED_REAL_KERNELS(tuned_c2r_32x16), NAMED_REAL_KERNELS(tuned_c2r_16x16),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
