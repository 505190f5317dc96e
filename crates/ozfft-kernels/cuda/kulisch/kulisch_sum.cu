// target: fatbin
// tuned
// The exact sum of an array of doubles, or of their magnitudes, rounded once: the bits of the crate `kulisch`.
//
// A warp takes up to 8192 numbers at a time, in a window that it chooses by the first of them.
#include "kulisch/kulisch_total.cuh"

using namespace kulisch;

// Numbers of a thread that are on their way at once: 64 bytes.
constexpr int GROUP = 8;

// Lanes have neighbouring pairs of numbers: where a lane's next one is.
DEVICE int place_in_group(int number) { return number / 2 * 64 + number % 2; }

template <bool MAGNITUDES> DEVICE unsigned taken(unsigned high) { return MAGNITUDES ? high & 0x7fffffff : high; }
template <bool MAGNITUDES> DEVICE u64 taken(u64 bits) { return MAGNITUDES ? bits & ~SIGN_BIT : bits; }

// The window for a group, of which `left` numbers are a lane's and later ones'.
DEVICE unsigned chosen_low(const u64 *numbers, i64 left) {
    unsigned highest = 0;
#pragma unroll 1
    for (int k = 0; k < GROUP; k++) {
        // What is not finite would only move the window.
        const unsigned field = place_in_group(k) < left ? field_of(numbers[place_in_group(k)]) : 0;
        highest = field < 0x7ff ? max(highest, field) : highest;
    }
    return NumberWindow::low_for(warp_maximum(highest));
}

// A group whose numbers are not all in the window, or which is not complete: one by one, read again.
template <bool MAGNITUDES>
DEVICE unsigned add_one_by_one(NumberWindow &window, unsigned low, int *limbs, const u64 *numbers, i64 left) {
    unsigned found = 0;
#pragma unroll 1
    for (int k = 0; k < GROUP && place_in_group(k) < left; k++) {
        const u64 bits = taken<MAGNITUDES>(numbers[place_in_group(k)]);
        const unsigned distance = NumberWindow::distance(high_word(bits), low);
        if (distance < NumberWindow::LIMIT) {
            window.add(low_word(bits), high_word(bits), distance);
            found |= NUMBER;
        } else {
            found |= deposit_number(limbs, bits);
        }
    }
    return found;
}

template <bool MAGNITUDES> DEVICE void sum(const Reduction &task) {
    int *limbs = own_accumulator();
    clear(limbs);
    const int lane = lane_number();
    const i64 warps = (i64)gridDim.x * WARPS, warp = (i64)blockIdx.x * WARPS + thread_number() / 32;
    unsigned found = 0;
    int pending = 0;
    // Pairs lie at multiples of 16 bytes; the first number may be alone.
    const bool alone = task.count > 0 && reinterpret_cast<size_t>(task.left) % 16 != 0;
    const u64 *numbers = task.left + (alone ? 1 : 0);
    const i64 count = (i64)task.count - (alone ? 1 : 0);
    if (alone && warp == 0) {
        found = lane == 0 ? deposit_number(limbs, taken<MAGNITUDES>(*task.left)) : 0;
        pending = 1;
    }
    const int groups = groups_of_chunk(count, warps, 32 * GROUP);
    const i64 chunk_terms = (i64)groups * 32 * GROUP;
#pragma unroll 1
    for (i64 chunk = warp * chunk_terms; chunk < count; chunk += warps * chunk_terms) {
        if (pending > MOST_PENDING - WINDOW_TERMS - 1) {
            resolve(limbs);
            pending = 0;
        }
        const u64 *own = numbers + chunk + 2 * lane;
        i64 left = count - chunk - 2 * lane;
        const unsigned low = chosen_low(own, left);
        NumberWindow window;
        window.clear();
        bool deposited = false;
#pragma unroll 1
        for (int group = 0; group < groups; group++) {
            unsigned farthest = NumberWindow::LIMIT;
            uint4 pairs[GROUP / 2];
            if (left > place_in_group(GROUP - 1)) {
                farthest = 0;
#pragma unroll
                for (int k = 0; k < GROUP / 2; k++) {
                    pairs[k] = *reinterpret_cast<const uint4 *>(own + 64 * k);
                    pairs[k].y = taken<MAGNITUDES>(pairs[k].y);
                    pairs[k].w = taken<MAGNITUDES>(pairs[k].w);
                }
#pragma unroll
                for (const uint4 &pair : pairs) {
                    farthest = max(farthest, NumberWindow::distance(pair.y, low));
                    farthest = max(farthest, NumberWindow::distance(pair.w, low));
                }
            }
            if (farthest < NumberWindow::LIMIT) {
#pragma unroll
                for (const uint4 &pair : pairs) {
                    window.add(pair.x, pair.y, NumberWindow::distance(pair.y, low));
                    window.add(pair.z, pair.w, NumberWindow::distance(pair.w, low));
                }
                found |= NUMBER;
            } else {
                found |= add_one_by_one<MAGNITUDES>(window, low, limbs, own, left);
                deposited = true;
            }
            own += 32 * GROUP;
            left -= 32 * GROUP;
        }
        pending += warp_any(deposited) ? WINDOW_TERMS + 1 : 1;
        window.empty_into(limbs, NumberWindow::position(low));
    }
    finish(task, found);
}

KERNEL(THREADS, 4) kulisch_sum(PARAMETERS Reduction task) { sum<false>(task); }
KERNEL(THREADS, 4) kulisch_magnitude_sum(PARAMETERS Reduction task) { sum<true>(task); }
