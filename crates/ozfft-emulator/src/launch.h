// Kernels by their names, launched block by block on the calling thread.
#pragma once
#include "emulation/emulator.h"
#include <cstring>

struct NamedKernel {
    const char *name;
    void (*launch)(const void *parameters, uint64_t blocks, int threads, size_t shared_bytes);
};

template <class Parameters, void (*kernel)(Parameters)>
void launch_kernel(const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    const Parameters copy = *static_cast<const Parameters *>(parameters);
    emulator::launch(blocks, threads, shared_bytes, [&copy] { kernel(copy); });
}

#define NAMED_KERNEL(Parameters, name) {#name, launch_kernel<Parameters, name>}

// A shape of the tuned kernels.
#define NAMED_TUNED_KERNELS(name)                              \
    NAMED_KERNEL(TunedArguments, name),                        \
        NAMED_KERNEL(StridedArguments, name##_strided),        \
        NAMED_KERNEL(TunedArguments, name##_conversions),      \
        NAMED_KERNEL(StridedArguments, name##_strided_conversions)

// Whether there is a kernel of this name.
template <size_t COUNT>
bool launch_named(const NamedKernel (&kernels)[COUNT], const char *name, const void *parameters, uint64_t blocks, int threads,
                  size_t shared_bytes) {
    for (const NamedKernel &kernel : kernels) {
        if (std::strcmp(kernel.name, name) == 0) {
            kernel.launch(parameters, blocks, threads, shared_bytes);
            return true;
        }
    }
    return false;
}
