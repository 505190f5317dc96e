#include "ozaki/ozaki_vectors.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_ozaki_vectors(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(VectorTask, ozaki_vector_fields),
        NAMED_KERNEL(VectorTask, ozaki_vector_residues),
        NAMED_KERNEL(ProductTask, ozaki_product_14),
        NAMED_KERNEL(ProductTask, ozaki_product_16),
        NAMED_KERNEL(ProductTask, ozaki_product_14_conversions),
        NAMED_KERNEL(ProductTask, ozaki_product_16_conversions),
        NAMED_KERNEL(ProductTask, ozaki_product_14_without_phase_b),
        NAMED_KERNEL(ProductTask, ozaki_product_16_without_phase_b),
        NAMED_KERNEL(MultiplyAddTask, naive_multiply_add),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
