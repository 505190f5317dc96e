// Sums of many blocks: every warp has an accumulator in shared memory; blocks add theirs to one in memory, which the last of
// them rounds and leaves empty for the next launch.
#pragma once
#include "kulisch/kulisch_tasks.cuh"
#include "kulisch/kulisch_window.cuh"

namespace kulisch {

// Blocks of a launch at most: each adds less than 2^16 for each of its warps to a limb.
static_assert(MOST_BLOCKS <= MOST_PENDING / WARPS, "limbs do not overflow");

// In memory; all zero before the first launch. Launches that share it wait for each other.
struct Total {
    int limbs[LIMBS];
    unsigned found, done;
};
static_assert(sizeof(Total) <= TOTAL_BYTES, "there is room");

// Groups of so many terms that a warp takes in one window: as many as it holds, fewer where all warps would not have some.
DEVICE int groups_of_chunk(i64 count, i64 warps, int group) {
    const i64 share = (count + warps * group - 1) / (warps * group);
    return share < WINDOW_TERMS / group ? (share > 1 ? (int)share : 1) : WINDOW_TERMS / group;
}

// Adds what the warps of this block have found; the last block to do so writes the result.
DEVICE void finish(const Reduction &task, unsigned found) {
    Total *total = static_cast<Total *>(task.total);
    int *limbs = reinterpret_cast<int *>(shared_memory());
    unsigned *last = reinterpret_cast<unsigned *>(limbs + WARPS * LIMBS);
    resolve(own_accumulator());
    block_barrier();
    for (int limb = thread_number(); limb < LIMBS; limb += THREADS) {
        int sum = 0;
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++) {
            sum += limbs[warp * LIMBS + limb];
        }
        if (sum != 0) {
            atomic_add(&total->limbs[limb], sum);
        }
    }
    found = warp_or(found);
    if (lane_number() == 0) {
        atomic_or(&total->found, found);
    }
    device_fence();
    block_barrier();
    if (thread_number() == 0) {
        *last = atomic_add(&total->done, 1) + 1 == gridDim.x ? 1 : 0;
    }
    block_barrier();
    if (*last == 0 || thread_number() >= 32) {
        return;
    }
    device_fence();
    for (int limb = lane_number(); limb < LIMBS; limb += 32) {
        limbs[limb] = exchanged_for_zero(&total->limbs[limb]);
    }
    const unsigned all = (unsigned)shuffle(lane_number() == 0 ? exchanged_for_zero(reinterpret_cast<int *>(&total->found)) : 0, 0);
    const u64 result = round_accumulator(limbs, all);
    if (lane_number() == 0) {
        *task.result = result;
        total->done = 0;
    }
}

}  // namespace kulisch
