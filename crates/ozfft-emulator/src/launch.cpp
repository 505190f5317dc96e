// The kernels under their own names, launched block by block on the calling thread.
#include "general_block.cu"

extern "C" void ozfft_emulate_general_block(const Task *task, uint64_t blocks, int threads, size_t shared_bytes) {
    const Task copy = *task;
    emulator::launch(blocks, threads, shared_bytes, [&copy] { general_block(copy); });
}

extern "C" void ozfft_emulate_general_block_small(const Task *task, uint64_t blocks, int threads, size_t shared_bytes) {
    const Task copy = *task;
    emulator::launch(blocks, threads, shared_bytes, [&copy] { general_block_small(copy); });
}

extern "C" void ozfft_emulate_copy_points(const ArrayTask *task, uint64_t blocks, int threads, size_t shared_bytes) {
    const ArrayTask copy = *task;
    emulator::launch(blocks, threads, shared_bytes, [&copy] { copy_points(copy); });
}

extern "C" void ozfft_emulate_find_largest(const ArrayTask *task, uint64_t blocks, int threads, size_t shared_bytes) {
    const ArrayTask copy = *task;
    emulator::launch(blocks, threads, shared_bytes, [&copy] { find_largest(copy); });
}
