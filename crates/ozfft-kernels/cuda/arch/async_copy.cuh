// Copies from global to shared memory that a thread need not wait for (cp.async): compute capability 8.0 and later.
#pragma once
#include "arch/threads.cuh"

#ifdef __CUDACC__

// 16 bytes, or 16 zeros.
DEVICE void copy_async(uint32_t to, const void *from, bool present) {
    int bytes = present ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All copies of this thread are complete.
DEVICE void copy_wait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

#else
#include "emulation/emulated_async_copy.h"
#endif
