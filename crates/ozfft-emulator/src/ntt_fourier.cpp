#include "ntt/ntt_fourier.cu"
#include "launch.h"

using namespace ntt;

extern "C" bool ozfft_emulate_ntt_fourier(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_KERNEL(FourierTask, ntt_line_natures),
        NAMED_KERNEL(FourierTask, ntt_line_sums),
        NAMED_KERNEL(FourierTask, ntt_line_images),
        NAMED_KERNEL(FourierTask, ntt_line_outputs_2),
        NAMED_KERNEL(FourierTask, ntt_line_outputs_3),
        NAMED_KERNEL(FourierTask, ntt_line_outputs_4),
        NAMED_KERNEL(FourierTask, ntt_line_outputs_5),
        NAMED_KERNEL(FourierTask, ntt_line_outputs_6),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
