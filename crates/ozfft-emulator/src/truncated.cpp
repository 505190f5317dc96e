#include "launch.h"
#include "portable/truncated_block.cu"

extern "C" bool ozfft_emulate_truncated(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Tasks, truncated_5),
        NAMED_KERNEL(Tasks, truncated_5_large),
        NAMED_KERNEL(Tasks, truncated_6),
        NAMED_KERNEL(Tasks, truncated_7),
        NAMED_KERNEL(Tasks, truncated_8),
        NAMED_KERNEL(Tasks, truncated_8_large),
        NAMED_KERNEL(Tasks, two_passes_5),
        NAMED_KERNEL(Tasks, two_passes_5_large),
        NAMED_KERNEL(Tasks, two_passes_8),
        NAMED_KERNEL(Tasks, two_passes_8_large),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
