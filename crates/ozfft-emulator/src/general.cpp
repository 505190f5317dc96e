#include "portable/general_block.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_general(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Task, general_block),
        NAMED_KERNEL(Task, general_block_small),
        NAMED_KERNEL(ArrayTask, copy_points),
        NAMED_KERNEL(ArrayTask, find_largest),
        NAMED_KERNEL(ArrayTask, find_largest_left),
        NAMED_KERNEL(ArrayTask, scale_lines),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
