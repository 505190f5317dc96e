#include "ntt/ntt_batches.cu"
#include "launch.h"

#define NAMED_PASSES(levels)                                                                         \
    NAMED_KERNEL(BatchTask, ntt_batch_opening_##levels), NAMED_KERNEL(BatchTask, ntt_batch_forward_##levels), \
        NAMED_KERNEL(BatchTask, ntt_batch_inverse_##levels)

extern "C" bool ozfft_emulate_ntt_batches(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_PASSES(4),
        NAMED_PASSES(5),
        NAMED_PASSES(6),
        NAMED_PASSES(7),
        NAMED_PASSES(8),
        NAMED_KERNEL(BatchTask, ntt_batch_roots),
        NAMED_KERNEL(BatchTask, ntt_batch_row_products),
        NAMED_KERNEL(BatchTask, ntt_batch_results_1),
        NAMED_KERNEL(BatchTask, ntt_batch_results_2),
        NAMED_KERNEL(BatchTask, ntt_batch_results_3),
        NAMED_KERNEL(BatchTask, ntt_batch_results_4),
        NAMED_KERNEL(BatchTask, ntt_batch_results_5),
        NAMED_KERNEL(BatchTask, ntt_batch_results_6),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
