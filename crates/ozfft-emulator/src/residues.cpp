#include "launch.h"
#include "residues/bailey_step_residues.cu"

extern "C" bool ozfft_emulate_residues(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(Tasks, residues_kulisch32),
        NAMED_KERNEL(Tasks, residues_kulisch16),
        NAMED_KERNEL(Tasks, residues_kulisch8),
        NAMED_KERNEL(Tasks, residues_garner),
        NAMED_KERNEL(Tasks, residues_garner_one_by_one),
        NAMED_KERNEL(Tasks, residues_double_conversions),
        NAMED_KERNEL(Tasks, residues_sum2_conversions),
        NAMED_KERNEL(Tasks, residues_double_single),
        NAMED_KERNEL(Tasks, residues_single_kahan),
        NAMED_KERNEL(Tasks, residues_bernstein_double_conversions),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
