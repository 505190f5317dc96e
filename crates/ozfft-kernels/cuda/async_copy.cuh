// Copies from global to shared memory that a thread need not wait for (cp.async), and barriers in shared memory whose
// two halves, arriving and waiting, are apart (mbarrier): compute capability 8.0 and later.
#pragma once
#include "threads.cuh"

#ifdef __CUDACC__

// 16 bytes, or 16 zeros.
DEVICE void copy_async(uint32_t to, const void *from, bool present) {
    int bytes = present ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All copies of this thread are complete.
DEVICE void copy_wait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

// A barrier that `count` threads arrive at in every round.
DEVICE void split_barrier_create(uint32_t barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
DEVICE void split_barrier_arrive(uint32_t barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(barrier) : "memory");
}
// Arrives once this thread's copies are complete.
DEVICE void split_barrier_arrive_after_copies(uint32_t barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
// Waits for the end of a round; rounds alternate between parity 0 and 1.
DEVICE void split_barrier_wait(uint32_t barrier, unsigned parity) {
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.test_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra over; bra again; over: }" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

#endif
