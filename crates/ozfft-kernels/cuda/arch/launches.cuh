// Launches that begin before the one before them has ended (programmatic dependent launch, compute capability 9.0 and later; elsewhere a
// launch begins when the one before has ended, and nothing is to be done). Every thread of such a kernel waits before it touches what
// another kernel may write, and no kernel ends without: then whoever has waited for the last one has waited for all.
#pragma once
#include "arch/threads.cuh"

#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
// Until the launch before has ended, and all that it wrote is there. Lets the next launch begin, as soon as it finds room.
DEVICE void wait_for_launch_before() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#else
DEVICE void wait_for_launch_before() {}
#endif
