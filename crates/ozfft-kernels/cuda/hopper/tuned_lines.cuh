// How tuned kernels go from line to line: what a block's warpgroups have in shared memory, how lines get there and back, and
// the loops over panels. How a shape's lines lie there, and what is done to them, is for the files that include this one.
#pragma once
#include "arch/launches.cuh"
#include "hopper/tuned_block.cuh"

namespace tuned {

// Who a thread is, looked up anew: kept for the whole loop, it would cost registers that sums need.
struct Lane {
    int group, warp, g, t;
    DEVICE bool first() const { return g == 0 && t == 0; }
    DEVICE int in_group() const { return 32 * warp + 4 * g + t; }
    DEVICE int in_block() const { return 128 * group + in_group(); }
    DEVICE Lane() {
        // Masks tell the compiler that nothing here is negative.
        const int thread = thread_number();
        group = thread >> 7 & 3;
        warp = thread >> 5 & 3;
        g = thread >> 2 & 7;
        t = thread & 3;
    }
};

// The lines of a panel.
template <class S, bool STRIDED> struct Panel {
    i64 group;
    unsigned first;  // of the group's lines
    DEVICE Panel(const TunedArguments &args, unsigned panel) {
        if (STRIDED) {
            const unsigned number = panel / args.panels_a_group;
            group = number;
            first = (panel - number * args.panels_a_group) * S::PANEL;
        } else {
            group = (i64)panel * S::PANEL;
            first = 0;
        }
    }
    DEVICE bool has(const TunedArguments &args, int line) const {
        return STRIDED ? first + line < args.fast_count : group + line < args.lines;
    }
    DEVICE i64 number(const TunedArguments &args, int line) const {
        return STRIDED ? group * args.fast_count + first + line : group + line;
    }
    DEVICE i64 start(const Places &places, int line) const {
        return STRIDED ? group * places.slow + (first + line) * places.fast : (group + line) * places.slow;
    }
};

// Shared memory behind the tables: buffers, statistics of every warpgroup, facts of every line of two panels (its exponent,
// and what is known of its numbers), and the exponent that all lines have in common.
template <class S> DEVICE uint32_t tables_memory() { return shared_address(shared_memory()); }
template <class S> DEVICE uint32_t buffer_memory() { return tables_memory<S>() + S::BEGINNING; }
template <class S> DEVICE unsigned *statistics_memory() { return (unsigned *)(shared_memory() + S::BEGINNING + 2 * S::BUFFER); }
template <class S> DEVICE unsigned *facts_memory() { return statistics_memory<S>() + WARPGROUPS * (S::STATISTICS / 4); }
template <class S> DEVICE int &common_exponent() { return *(int *)(facts_memory<S>() + 2 * S::PANEL); }
// Strided panels: how many warpgroups have put their results into either buffer; and the barriers of the copies.
template <class S> DEVICE unsigned *finished_memory() { return facts_memory<S>() + 2 * S::PANEL + 2; }
template <class S> DEVICE uint32_t barrier_memory() { return shared_address(facts_memory<S>() + 2 * S::PANEL + 8); }

// Begins to copy a warpgroup's contiguous lines to shared memory.
template <class S> DEVICE void fetch_contiguous(const TunedArguments &args, unsigned panel, int round);

// Begins to load a panel of strided lines. One thread calls it.
template <class S> DEVICE void load_strided(const StridedArguments &args, unsigned round);

// Begins to store the panel of a round.
template <class S> DEVICE void store_panel(const StridedArguments &args, const Panel<S, true> &lines, unsigned round);

// Transforms the lines of a warpgroup, whose numbers are in the round's buffer; calls `between` between the steps.
template <class S, bool STRIDED, bool CONVERSIONS, class Between>
DEVICE void transform(const TunedArguments &args, unsigned round, const Between &between);

// Begins to store a panel of strided lines. If one of its lines is left to a portable kernel, all are.
template <class S> DEVICE void store_strided(const StridedArguments &args, unsigned round) {
    const Panel<S, true> lines(args.common, blockIdx.x + round * gridDim.x);
    const unsigned *facts = facts_memory<S>() + (round & 1) * S::PANEL;
    bool all = true;
    for (int line = 0; line < S::PANEL; line++) all = all && (facts[line] >> 24 & 1 || !lines.has(args.common, line));
    if (all) {
        store_panel<S>(args, lines, round);
        stores_commit();
    } else {
        for (int line = 0; line < S::PANEL && lines.has(args.common, line); line++)
            args.common.left[atomic_add(args.common.left_count, 1u)] = lines.number(args.common, line);
    }
}

// What is done once. Tables are copied while the first numbers are on their way, too: of a launch for few lines that is much of its
// time.
template <class S> DEVICE void begin(const TunedArguments &args) {
    for (int i = threadIdx.x; i < S::TABLES / 16; i += THREADS) copy_async(tables_memory<S>() + 16 * i, args.tables + i, true);
    copy_commit();
    wait_for_launch_before();
    if (threadIdx.x == 0) {
        // Of a single block it is nobody else's.
        if (gridDim.x == 1) *args.left_count = 0;
        const bool biased = args.largest != nullptr && *args.largest >= args.bias_threshold;
        common_exponent<S>() = args.exponent_offset + (biased ? args.bias : 0);
    }
}

// Waits for all that has been begun, and makes it known to all threads and to the tensor unit.
DEVICE void begun() {
    copy_wait();
    wgmma_publish();
    block_barrier();
}

template <class S, bool CONVERSIONS> DEVICE void run_contiguous(const TunedArguments &args) {
    begin<S>(args);
    if (blockIdx.x < args.panels) fetch_contiguous<S>(args, blockIdx.x, 0);
    begun();
#pragma unroll 1
    for (unsigned round = 0; blockIdx.x + round * gridDim.x < args.panels; round++) {
        copy_wait();
        named_barrier(1 + Lane().group, 128);
        const unsigned next = blockIdx.x + (round + 1) * gridDim.x;
        if (next < args.panels) fetch_contiguous<S>(args, next, ~round & 1);
        transform<S, false, CONVERSIONS>(args, round, [] {});
    }
}

// Warpgroups go their own ways. The one that comes last with its results has the panel stored, and, between the steps of
// its next lines, when the store has long been read, the panel after the next loaded into the same buffer.
template <class S, bool CONVERSIONS> DEVICE void run_strided(const StridedArguments &args) {
    const unsigned rounds = blockIdx.x < args.common.panels ? (args.common.panels - blockIdx.x - 1) / gridDim.x + 1 : 0;
    begin<S>(args.common);
    if (threadIdx.x == 0) {
        finished_memory<S>()[0] = finished_memory<S>()[1] = 0;
        transfer_barrier_create(barrier_memory<S>());
        transfer_barrier_create(barrier_memory<S>() + 8);
        transfer_barriers_created();
        if (rounds > 0) load_strided<S>(args, 0);
        if (rounds > 1) load_strided<S>(args, 1);
    }
    begun();
    bool owes = false;  // a load into the buffer of the round before
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++) {
        transfer_wait(barrier_memory<S>() + 8 * (round & 1), round >> 1 & 1);
        transform<S, true, CONVERSIONS>(args.common, round, [&] {
            if (owes) {
                stores_have_read();
                if (round + 1 < rounds) load_strided<S>(args, round + 1);
                owes = false;
            }
        });
        wgmma_publish();
        const Lane lane;
        named_barrier(1 + lane.group, 128);
        if (lane.in_group() == 0) {
            block_fence();
            if (atomic_add(finished_memory<S>() + (round & 1), 1u) == WARPGROUPS - 1) {
                finished_memory<S>()[round & 1] = 0;
                block_fence();
                store_strided<S>(args, round);
                owes = true;
            }
        }
    }
    stores_complete();
}

}  // namespace tuned
