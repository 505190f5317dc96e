#include "probes/f16_exactness.cu"
#include "probes/fp8_exactness.cu"
#include "probes/fp8_exactness_mma_sync.cu"
#include "hopper/tuned_block.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_tuned(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_TUNED_KERNELS(tuned_32x32),
        NAMED_TUNED_KERNELS(tuned_16x16),
        NAMED_TUNED_KERNELS(tuned_32x16),
        NAMED_TUNED_KERNELS(tuned_fp8_32x32),
        NAMED_TUNED_KERNELS(tuned_fp8_16x16),
        NAMED_TUNED_KERNELS(tuned_fp8_32x16),
        NAMED_KERNEL(ExactnessArguments, fp8_exactness),
        NAMED_KERNEL(ExactnessArguments, fp8_exactness_mma_sync),
        NAMED_KERNEL(ExactnessArguments, f16_exactness),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
