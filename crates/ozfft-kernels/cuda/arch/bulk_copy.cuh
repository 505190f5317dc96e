// Copies of tensors' boxes between global and shared memory by the copy engine (cp.async.bulk.tensor), and the barriers
// that tell their end: compute capability 9.0 and later.
#pragma once
#include "arch/threads.cuh"

#ifdef __CUDACC__

// A tensor map, as the driver makes it.
struct __align__(64) TensorMap {
    unsigned char bytes[128];
};

// A barrier in shared memory that waits for bytes.
DEVICE void transfer_barrier_create(uint32_t barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}
// Makes new barriers known to the copy engine.
DEVICE void transfer_barriers_created() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// Announces the bytes of the next round.
DEVICE void transfer_expect(uint32_t barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Waits for the end of a round; rounds alternate between parity 0 and 1.
DEVICE void transfer_wait(uint32_t barrier, unsigned parity) {
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra over; bra again; over: }" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// A box of a tensor of five or four dimensions, the first of them contiguous.
DEVICE void tensor_load(uint32_t to, const TensorMap *map, int c0, int c4, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, 0, 0, 0, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(c0), "r"(c4), "r"(barrier)
                 : "memory");
}
DEVICE void tensor_load_rows(uint32_t to, const TensorMap *map, int c0, int c3, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, 0, 0, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(c0), "r"(c3), "r"(barrier)
                 : "memory");
}
DEVICE void tensor_store(const TensorMap *map, int c0, int c3, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%1, 0, 0, %2}], [%3];" ::"l"(map),
                 "r"(c0), "r"(c3), "r"(from)
                 : "memory");
}
DEVICE void tensor_store_five(const TensorMap *map, int c0, int c4, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%1, 0, 0, 0, %2}], [%3];" ::"l"(map),
                 "r"(c0), "r"(c4), "r"(from)
                 : "memory");
}
// This thread's stores so far form a group.
DEVICE void stores_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// All groups of this thread have read their shared memory.
DEVICE void stores_have_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
// All groups of this thread are complete.
DEVICE void stores_complete() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

#else
#include "emulation/emulated_bulk_copy.h"
#endif
