// The kernels for truncated products under their own names, launched block by block on the calling thread.
#include "truncated_block.cu"

#define EMULATE(NAME)                                                                                                   \
    extern "C" void ozfft_emulate_##NAME(const Task *task, uint64_t blocks, int threads, size_t shared_bytes) {        \
        const Task copy = *task;                                                                                       \
        emulator::launch(blocks, threads, shared_bytes, [&copy] { NAME(copy); });                                      \
    }

EMULATE(truncated_5_small)
EMULATE(truncated_5)
EMULATE(truncated_8_small)
EMULATE(truncated_8)
