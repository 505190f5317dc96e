#include "kulisch/kulisch_stencil.cu"
#include "launch.h"

extern "C" bool ozfft_emulate_kulisch_stencil(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(StencilTask, kulisch_stencil),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
