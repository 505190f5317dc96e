// target: fatbin
// tuned
// A stencil: result[i] = Σ coefficients[k] · values[first + i + offsets[k]], every element an exact sum of products, rounded
// once, with the bits of the crate `kulisch`.
//
// A thread has a result, in a window that all lanes of its warp share and that is kept while it holds all products. Results
// that it does not hold, and those of zero, whose sign is to be found, are worked out by the whole warp, one after the other.
#include "kulisch_tasks.cuh"
#include "kulisch_window.cuh"

using namespace kulisch;

static_assert(WARPS * ACCUMULATOR_BYTES + MOST_TERMS * sizeof(Term) == 11264, "as the host has it");

DEVICE Term *shared_terms() { return reinterpret_cast<Term *>(shared_memory() + WARPS * ACCUMULATOR_BYTES); }

// The lowest field of a window for this lane's products and those of all others.
DEVICE unsigned chosen_low(const StencilTask &task, const u64 *at, bool there) {
    unsigned highest = 0;
#pragma unroll 1
    for (int k = 0; k < task.terms && there; k++) {
        const Term term = shared_terms()[k];
        highest = max(highest, product_field(term.coefficient, at[term.offset]));
    }
    return ProductWindow::low_for(warp_maximum(highest));
}

// The sum of all products in a window; whether it holds them.
DEVICE bool add_all(const StencilTask &task, ProductWindow &window, unsigned low, const u64 *at) {
    unsigned farthest = 0;
#pragma unroll 5
    for (int k = 0; k < task.terms; k++) {
        const Term term = shared_terms()[k];
        const u64 value = at[term.offset];
        const unsigned distance = window.add_or_zero(term.coefficient, value, low);
        farthest = max(farthest, distance);
    }
    return farthest < ProductWindow::SPAN;
}

// One result, by all lanes.
DEVICE u64 one_result(const StencilTask &task, int *limbs, const u64 *at) {
    unsigned found = 0;
    for (int k = lane_number(); k < task.terms; k += 32) {
        const Term term = shared_terms()[k];
        found |= deposit_product(limbs, term.coefficient, at[term.offset]);
    }
    const u64 result = round_accumulator(limbs, warp_or(found));
    warp_barrier();
    clear(limbs);
    return result;
}

KERNEL(THREADS, 4) kulisch_stencil(PARAMETERS StencilTask task) {
    int *limbs = own_accumulator();
    clear(limbs);
    for (int k = thread_number(); k < task.terms; k += THREADS) {
        shared_terms()[k] = {task.coefficients[k], task.offsets[k]};
    }
    block_barrier();
    const int lane = lane_number();
    const u64 threads = (u64)gridDim.x * THREADS;
    unsigned low = 0;
    bool chosen = false;
#pragma unroll 1
    for (u64 group = (u64)blockIdx.x * THREADS + 32 * ((unsigned)thread_number() / 32); group < task.count; group += threads) {
        const u64 place = group + (unsigned)lane;
        const bool there = place < task.count;
        // Lanes that have no result work out the last one again.
        const u64 *at = task.values + task.first + (there ? place : task.count - 1);
        ProductWindow window;
        window.clear();
        bool held = chosen && add_all(task, window, low, at);
        if (!chosen || warp_any(!held)) {
            low = chosen_low(task, at, there);
            chosen = true;
            window.clear();
            held = add_all(task, window, low, at);
        }
        window.complete();
        u64 result = 0;
        held = round_words(window.words, ProductWindow::position(low), result) && held;
        for (unsigned others = warp_or(held || !there ? 0 : 1u << lane); others != 0; others &= others - 1) {
            const int other = 31 - leading_zeros_of_half(others & (0 - others));
            const u64 found = one_result(task, limbs, task.values + task.first + group + other);
            result = lane == other ? found : result;
        }
        if (there) {
            task.result[place] = result;
        }
    }
}
