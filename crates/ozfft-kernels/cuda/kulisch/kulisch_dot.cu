// target: fatbin
// tuned
// The exact sum of products of two arrays of doubles, rounded once: the bits of the crate `kulisch`.
//
// As kulisch_sum.cu, in a window of products.
#include "kulisch/kulisch_total.cuh"

using namespace kulisch;

// Pairs of a thread that are on their way at once: 64 bytes. Lanes have neighbouring pairs.
constexpr int GROUP = 4;

// The window for a group, of which `left` pairs are a lane's and later ones'.
DEVICE unsigned chosen_low(const u64 *a, const u64 *b, i64 left) {
    unsigned highest = 0;
#pragma unroll 1
    for (int k = 0; k < GROUP; k++) {
        highest = 32 * k < left ? max(highest, product_field(a[32 * k], b[32 * k])) : highest;
    }
    return ProductWindow::low_for(warp_maximum(highest));
}

// A group whose products are not all in the window, or which is not complete: one by one, read again.
DEVICE unsigned add_one_by_one(ProductWindow &window, unsigned low, int *limbs, const u64 *a, const u64 *b, i64 left) {
    unsigned found = 0;
#pragma unroll 1
    for (int k = 0; k < GROUP && 32 * k < left; k++) {
        found |= add_product(window, low, limbs, a[32 * k], b[32 * k]);
    }
    return found;
}

KERNEL(THREADS, 4) kulisch_dot(PARAMETERS Reduction task) {
    int *limbs = own_accumulator();
    clear(limbs);
    const int lane = lane_number();
    const i64 warps = (i64)gridDim.x * WARPS, warp = (i64)blockIdx.x * WARPS + thread_number() / 32;
    const i64 count = (i64)task.count;
    unsigned found = 0;
    int pending = 0;
    const int groups = groups_of_chunk(count, warps, 32 * GROUP);
    const i64 chunk_terms = (i64)groups * 32 * GROUP;
#pragma unroll 1
    for (i64 chunk = warp * chunk_terms; chunk < count; chunk += warps * chunk_terms) {
        if (pending > MOST_PENDING - WINDOW_TERMS - 1) {
            resolve(limbs);
            pending = 0;
        }
        const u64 *a = task.left + chunk + lane, *b = task.right + chunk + lane;
        i64 left = count - chunk - lane;
        const unsigned low = chosen_low(a, b, left);
        ProductWindow window;
        window.clear();
        bool deposited = false;
#pragma unroll 1
        for (int group = 0; group < groups; group++) {
            unsigned farthest = ProductWindow::OUTSIDE;
            uint2 lefts[GROUP], rights[GROUP];
            unsigned distances[GROUP];
            if (left > 32 * (GROUP - 1)) {
                farthest = 0;
#pragma unroll
                for (int k = 0; k < GROUP; k++) {
                    lefts[k] = *reinterpret_cast<const uint2 *>(a + 32 * k);
                    rights[k] = *reinterpret_cast<const uint2 *>(b + 32 * k);
                }
#pragma unroll
                for (int k = 0; k < GROUP; k++) {
                    distances[k] = ProductWindow::distance(ProductWindow::field(lefts[k].y), ProductWindow::field(rights[k].y), low);
                    farthest = max(farthest, distances[k]);
                }
            }
            if (farthest < ProductWindow::SPAN) {
#pragma unroll
                for (int k = 0; k < GROUP; k++) {
                    window.add(lefts[k].x, lefts[k].y, rights[k].x, rights[k].y, distances[k]);
                }
                found |= NUMBER;
            } else {
                found |= add_one_by_one(window, low, limbs, a, b, left);
                deposited = true;
            }
            a += 32 * GROUP;
            b += 32 * GROUP;
            left -= 32 * GROUP;
        }
        pending += warp_any(deposited) ? WINDOW_TERMS + 1 : 1;
        window.empty_into(limbs, ProductWindow::position(low));
    }
    finish(task, found);
}
