#include "ntt/ntt.cu"
#include "launch.h"

#define NAMED_PASSES(levels) \
    NAMED_KERNEL(Task, ntt_opening_##levels), NAMED_KERNEL(Task, ntt_forward_##levels), NAMED_KERNEL(Task, ntt_inverse_##levels)

extern "C" bool ozfft_emulate_ntt(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_PASSES(4),
        NAMED_PASSES(5),
        NAMED_PASSES(6),
        NAMED_PASSES(7),
        NAMED_PASSES(8),
        NAMED_KERNEL(Task, ntt_roots),
        NAMED_KERNEL(Task, ntt_row_products),
        NAMED_KERNEL(Task, ntt_resolve_binary),
        NAMED_KERNEL(Task, ntt_resolve_decimal),
        NAMED_KERNEL(Task, ntt_carry_tiles),
        NAMED_KERNEL(Task, ntt_carry_in_binary),
        NAMED_KERNEL(Task, ntt_carry_in_decimal),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
