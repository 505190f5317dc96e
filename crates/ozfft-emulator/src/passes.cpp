#include "hopper/tuned_passes.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_passes(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(TunedArguments, tuned_64x64),
        NAMED_KERNEL(TunedArguments, tuned_64x64_conversions),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
