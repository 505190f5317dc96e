// target: fatbin
// tuned
// A stencil: result[i] = Σ coefficients[k] · values[first + i + offsets[k]], every element an exact sum of products, rounded
// once, with the bits of the crate `kulisch`.
//
// A thread has a result. Coefficients are cut into digits once for all of them; values get a window that all lanes of a warp
// share and that is kept while it holds them. The second attempt is a wide window of products. Results that it does not hold
// either are worked out by the whole warp, one after the other.
#include "kulisch/kulisch_digits.cuh"
#include "kulisch/kulisch_tasks.cuh"

using namespace kulisch;

// A coefficient in digits, and where the value is that it belongs to.
struct alignas(16) Prepared {
    int low, middle, high, unused;
    i64 offset;
};
static_assert(WARPS * ACCUMULATOR_BYTES + MOST_TERMS * sizeof(Prepared) == 13312, "as the host has it");
static_assert(MOST_TERMS <= DigitSums::MOST, "sums of digits hold a result");

// Values that are on their way at once.
constexpr int GROUP = 5;

DEVICE Prepared *prepared() { return reinterpret_cast<Prepared *>(shared_memory() + WARPS * ACCUMULATOR_BYTES); }

// Exponent field of the largest coefficient.
DEVICE unsigned highest_coefficient(const StencilTask &task) {
    unsigned highest = 0;
    for (int k = 0; k < task.terms; k++) {
        highest = max(highest, 2 * high_word(task.coefficients[k]));
    }
    return highest >> 21;
}

// Cuts coefficients into digits; whether all are in this window.
DEVICE bool prepare(const StencilTask &task, unsigned low) {
    unsigned farthest = 0;
    for (int k = 0; k < task.terms; k++) {
        const u64 bits = task.coefficients[k];
        const Digits digits = FactorWindow::digits(low_word(bits), high_word(bits), low, farthest);
        if (k % THREADS == thread_number()) {
            prepared()[k] = {digits.low, digits.middle, digits.high, 0, task.offsets[k]};
        }
    }
    block_barrier();
    return farthest < FactorWindow::SPAN;
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

// Exponent field of the largest value that this lane and all others need.
DEVICE unsigned highest_value(const StencilTask &task, const u64 *at) {
    unsigned highest = 0;
#pragma unroll 1
    for (int k = 0; k < task.terms; k++) {
        highest = max(highest, 2 * high_word(at[task.offsets[k]]));
    }
    return warp_maximum(highest) >> 21;
}

// The rounded sum of all products by digits, if the window holds the values.
DEVICE bool by_digits(const StencilTask &task, unsigned coefficient_low, unsigned low, const u64 *at, u64 &result) {
    DigitSums sums;
    sums.clear();
    unsigned farthest = 0;
    auto add = [&](const Prepared &term, u64 value) {
        const Digits digits = FactorWindow::digits(low_word(value), high_word(value), low, farthest);
        sums.add(digits, {term.low, term.middle, term.high});
    };
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
            add(prepared()[k + i], values[i]);
        }
    }
#pragma unroll 1
    for (; k < task.terms; k++) {
        add(prepared()[k], at[prepared()[k].offset]);
    }
    unsigned words[6] = {};
    sums.empty_into(words);
    const bool held = farthest < FactorWindow::SPAN;
    if (!round_words(words, FactorWindow::position(coefficient_low, low), result) && held) {
        result = zero_result(task, at);
    }
    return held;
}

// The same in a wide window of products, each lane its own.
DEVICE bool by_window(const StencilTask &task, const u64 *at, u64 &result) {
    unsigned highest = 0;
#pragma unroll 1
    for (int k = 0; k < task.terms; k++) {
        highest = max(highest, product_field(task.coefficients[k], at[task.offsets[k]]));
    }
    const unsigned low = ProductWindow::low_for(highest);
    ProductWindow window;
    window.clear();
    Beyond beyond;
#pragma unroll 1
    for (int k = 0; k < task.terms; k++) {
        add_unseen(window, task.coefficients[k], at[task.offsets[k]], low, beyond);
    }
    window.complete();
    const bool held = beyond.held<ProductWindow>();
    if (!round_words(window.words, ProductWindow::position(low), result) && held) {
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
    const unsigned coefficient_low = FactorWindow::low_for(highest_coefficient(task));
    const bool usable = prepare(task, coefficient_low);
    const int lane = lane_number();
    const u64 threads = (u64)gridDim.x * THREADS;
    // No value is in this window: the first results choose another one.
    unsigned low = 0x10000000;
#pragma unroll 1
    for (u64 group = (u64)blockIdx.x * THREADS + 32 * ((unsigned)thread_number() / 32); group < task.count; group += threads) {
        // Lanes that have no result work out the last one again.
        const bool there = group + (unsigned)lane < task.count;
        const u64 place = there ? group + (unsigned)lane : task.count - 1;
        const u64 *at = task.values + task.first + place;
        u64 result = 0;
        bool done = usable && by_digits(task, coefficient_low, low, at, result);
        if (usable && warp_any(!done)) {
            low = FactorWindow::low_for(highest_value(task, at));
            done = by_digits(task, coefficient_low, low, at, result);
        }
        if (!done) {
            done = by_window(task, at, result);
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
