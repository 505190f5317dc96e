// target: fatbin
// tuned
// A stencil: result[i] = Σ coefficients[k] · values[first + i + offsets[k]], every element an exact sum of products, rounded
// once, with the bits of the crate `kulisch`.
//
// A thread has a result, in a window that all lanes of its warp share and that is kept while it holds all products; a wider one
// is the second attempt. Results that it does not hold either are worked out by the whole warp, one after the other.
#include "kulisch_tasks.cuh"
#include "kulisch_window.cuh"

using namespace kulisch;

// A coefficient in parts, of which only the fraction is there for zeros.
struct alignas(16) Prepared {
    unsigned f0, f1;
    // Exponent field, and the sign in the highest bit of another word. Not finite, or subnormal: a field beyond all windows.
    unsigned field, sign;
    i64 offset, unused;
};
static_assert(WARPS * ACCUMULATOR_BYTES + MOST_TERMS * sizeof(Prepared) == 13312, "as the host has it");
constexpr unsigned NO_FIELD = 0x40000000;

// Values that are on their way at once.
constexpr int GROUP = 5;

DEVICE Prepared *prepared() { return reinterpret_cast<Prepared *>(shared_memory() + WARPS * ACCUMULATOR_BYTES); }

DEVICE void prepare(const StencilTask &task) {
    for (int k = thread_number(); k < task.terms; k += THREADS) {
        const u64 bits = task.coefficients[k];
        const u64 fraction = fraction_of(bits);
        const unsigned field = field_of(bits);
        const bool usable = (field != 0 && field != 0x7ff) || fraction == 0;
        prepared()[k] = {low_word(fraction), high_word(fraction), usable ? field : NO_FIELD, high_word(bits), task.offsets[k], 0};
    }
    block_barrier();
}

// Whether windows can hold products of all coefficients: those of infinities are no zeros even where the value is one.
DEVICE bool all_usable(const StencilTask &task) {
    bool usable = true;
    for (int k = 0; k < task.terms; k++) {
        usable = usable && prepared()[k].field != NO_FIELD;
    }
    return usable;
}

// The largest sum of fields of this lane's products and those of all others.
DEVICE unsigned highest_field(const StencilTask &task, const u64 *at) {
    unsigned highest = 0;
#pragma unroll 1
    for (int k = 0; k < task.terms; k++) {
        highest = max(highest, product_field(task.coefficients[k], at[task.offsets[k]]));
    }
    return warp_maximum(highest);
}

// As `add_unseen`, with a coefficient in parts.
template <class W> DEVICE void add_term(W &window, const Prepared &term, u64 value, unsigned low, Beyond &beyond) {
    const unsigned high = high_word(value), field = 2 * high;
    const bool zero = (field | low_word(value)) == 0;
    const unsigned distance = (field >> 21) + term.field - low;
    beyond.highest = max(beyond.highest, field);
    if (!zero) {
        beyond.lowest = field < beyond.lowest ? field : beyond.lowest;
        beyond.farthest = max(beyond.farthest, distance);
    }
    window.add_fractions(term.f0, term.f1, low_word(value), zero ? 0 : W::fraction(high), high ^ term.sign, distance);
}

// The zero that a sum of finite products is.
DEVICE u64 zero_result(const StencilTask &task, const u64 *at) {
    unsigned found = 0;
#pragma unroll 1
    for (int k = 0; k < task.terms; k++) {
        found |= found_in_zero_sum(task.coefficients[k], at[task.offsets[k]]);
    }
    return zero_of(found);
}

// The rounded sum of all products, if the window holds them.
template <class W> DEVICE bool attempt(const StencilTask &task, unsigned low, const u64 *at, u64 &result) {
    W window;
    window.clear();
    Beyond beyond;
    int k = 0;
#pragma unroll 1
    for (; k + GROUP <= task.terms; k += GROUP) {
        u64 values[GROUP];
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            values[i] = at[prepared()[k + i].offset];
        }
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            add_term(window, prepared()[k + i], values[i], low, beyond);
        }
    }
#pragma unroll 1
    for (; k < task.terms; k++) {
        add_term(window, prepared()[k], at[prepared()[k].offset], low, beyond);
    }
    window.complete();
    const bool held = beyond.held<W>();
    if (!round_words(window.words, W::position(low), result) && held) {
        result = zero_result(task, at);
    }
    return held;
}

// One result, by all lanes.
DEVICE u64 one_result(const StencilTask &task, int *limbs, const u64 *at) {
    unsigned found = 0;
    for (int k = lane_number(); k < task.terms; k += 32) {
        found |= deposit_product(limbs, task.coefficients[k], at[task.offsets[k]]);
    }
    const u64 result = round_accumulator(limbs, warp_or(found));
    warp_barrier();
    clear(limbs);
    return result;
}

KERNEL(THREADS, 4) kulisch_stencil(PARAMETERS StencilTask task) {
    int *limbs = own_accumulator();
    clear(limbs);
    prepare(task);
    const int lane = lane_number();
    const u64 threads = (u64)gridDim.x * THREADS;
    const bool usable = all_usable(task);
    // No product is in this window: the first results choose another one.
    unsigned low = 0x10000000;
#pragma unroll 1
    for (u64 group = (u64)blockIdx.x * THREADS + 32 * ((unsigned)thread_number() / 32); group < task.count; group += threads) {
        // Lanes that have no result work out the last one again.
        const bool there = group + (unsigned)lane < task.count;
        const u64 place = there ? group + (unsigned)lane : task.count - 1;
        const u64 *at = task.values + task.first + place;
        u64 result = 0;
        bool done = usable && attempt<NarrowProductWindow>(task, low, at, result);
        if (usable && warp_any(!done)) {
            const unsigned highest = highest_field(task, at);
            low = NarrowProductWindow::low_for(highest);
            done = attempt<ProductWindow>(task, ProductWindow::low_for(highest), at, result);
        }
        for (unsigned others = warp_or(done || !there ? 0 : 1u << lane); others != 0; others &= others - 1) {
            const int other = 31 - leading_zeros_of_half(others & (0 - others));
            const u64 found = one_result(task, limbs, task.values + task.first + group + other);
            result = lane == other ? found : result;
        }
        if (there) {
            task.result[place] = result;
        }
    }
}
