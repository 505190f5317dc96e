// One of two kernels that call functions of one name: a test of how files are compiled.
#include "launch.h"

struct NamesakeTask {
    int *result;
};

__attribute__((noinline)) inline int namesake() { return 1; }

KERNEL(32, 1) namesake_one(PARAMETERS NamesakeTask task) { *task.result = namesake(); }

extern "C" bool ozfft_emulate_namesake_one(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {NAMED_KERNEL(NamesakeTask, namesake_one)};
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
