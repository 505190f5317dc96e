// Exact sums for kernels of others: a sum that the lanes of a warp add to, in any order, and one of all blocks of a launch. ./generate makes
// include/kulisch.cuh of this file and of what it includes.
#pragma once
#include "kulisch/kulisch_window.cuh"

namespace kulisch {

// Bytes of shared memory that the sum of a warp takes.
constexpr int WARP_SUM_BYTES = ACCUMULATOR_BYTES + 16;

DEVICE u64 bits_of_double(double x) {
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
DEVICE double double_of_bits(u64 bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// The sum of all blocks of a launch, in memory; all zero before the first launch, and launches leave it so. Launches that share one must
// run one after the other.
struct GridTotal {
    int limbs[LIMBS];
    unsigned found, done;
};

// A sum of doubles and of products of doubles, exact until it is rounded. All 32 lanes of a warp call every function together, with the
// same arguments unless it says otherwise.
struct WarpSum {
    // `memory`: WARP_SUM_BYTES of shared memory for this warp alone, at a multiple of four bytes.
    DEVICE explicit WarpSum(void *memory) : limbs(static_cast<int *>(memory)), found(0), pending(0) { kulisch::clear(limbs); }

    // Adds a number of every lane that has one.
    DEVICE void add(double x, bool has = true) {
        make_room(32);
        if (has) {
            found |= deposit_number(limbs, bits_of_double(x));
        }
    }

    // Adds a product of every lane that has one.
    DEVICE void add_product(double x, double y, bool has = true) {
        make_room(32);
        if (has) {
            found |= deposit_product(limbs, bits_of_double(x), bits_of_double(y));
        }
    }

    // Adds `count` numbers of memory. Several times faster than one by one: those whose exponents are near each other go to registers first.
    DEVICE void add_array(const double *x, u64 count) {
        for (u64 first = 0; first < count; first += WINDOW_TERMS) {
            const u64 terms = count - first < WINDOW_TERMS ? count - first : WINDOW_TERMS;
            make_room(WINDOW_TERMS + 1);
            unsigned highest = 0;
            for (u64 at = lane_number(); at < terms && at < SAMPLE; at += 32) {
                const unsigned field = field_of(bits_of_double(x[first + at]));
                highest = field < 0x7ff && field > highest ? field : highest;
            }
            const unsigned low = NumberWindow::low_for(warp_maximum(highest));
            NumberWindow window;
            window.clear();
            for (u64 at = lane_number(); at < terms; at += 32) {
                const u64 bits = bits_of_double(x[first + at]);
                const unsigned distance = NumberWindow::distance(high_word(bits), low);
                if (distance < NumberWindow::LIMIT) {
                    window.add(low_word(bits), high_word(bits), distance);
                    found |= NUMBER;
                } else {
                    found |= deposit_number(limbs, bits);
                }
            }
            window.empty_into(limbs, NumberWindow::position(low));
        }
    }

    // Adds the products of `count` pairs of numbers.
    DEVICE void add_dot(const double *x, const double *y, u64 count) {
        for (u64 first = 0; first < count; first += WINDOW_TERMS) {
            const u64 terms = count - first < WINDOW_TERMS ? count - first : WINDOW_TERMS;
            make_room(WINDOW_TERMS + 1);
            unsigned highest = 0;
            for (u64 at = lane_number(); at < terms && at < SAMPLE; at += 32) {
                const unsigned field = product_field(bits_of_double(x[first + at]), bits_of_double(y[first + at]));
                highest = field > highest ? field : highest;
            }
            const unsigned low = ProductWindow::low_for(warp_maximum(highest));
            ProductWindow window;
            window.clear();
            for (u64 at = lane_number(); at < terms; at += 32) {
                found |= kulisch::add_product(window, low, limbs, bits_of_double(x[first + at]), bits_of_double(y[first + at]));
            }
            window.empty_into(limbs, ProductWindow::position(low));
        }
    }

    // Makes the sum ready to be merged by another warp of the block, once both have passed a barrier.
    DEVICE void publish() {
        kulisch::resolve(limbs);
        pending = 0;
        const unsigned all = warp_or(found);
        if (lane_number() == 0) {
            limbs[LIMBS] = (int)all;
        }
        warp_barrier();
    }

    // Adds a sum that another warp has published: the memory that it was made with.
    DEVICE void merge(const void *published) {
        const int *other = static_cast<const int *>(published);
        make_room(1);
        for (int limb = lane_number(); limb < LIMBS; limb += 32) {
            limbs[limb] += other[limb];
        }
        found |= (unsigned)other[LIMBS];
        warp_barrier();
    }

    // The sum, rounded to the nearest double, in every lane. The sum is empty afterwards.
    DEVICE double round() {
        const u64 bits = round_accumulator(limbs, warp_or(found));
        warp_barrier();
        kulisch::clear(limbs);
        found = 0;
        pending = 0;
        return double_of_bits(bits);
    }

    // Adds this to the sum of all blocks, of which one warp each calls this once; at most 2^14 blocks. Of the last one to do so `result` is
    // the sum of all, rounded, and true is returned.
    DEVICE bool add_to(GridTotal *total, double &result) {
        kulisch::resolve(limbs);
        pending = 0;
        for (int limb = lane_number(); limb < LIMBS; limb += 32) {
            if (limbs[limb] != 0) {
                atomic_add(&total->limbs[limb], limbs[limb]);
            }
        }
        const unsigned own = warp_or(found);
        if (lane_number() == 0) {
            atomic_or(&total->found, own);
        }
        // All lanes' additions before the count.
        device_fence();
        warp_barrier();
        const int last = shuffle(lane_number() == 0 && atomic_add(&total->done, 1) + 1 == gridDim.x ? 1 : 0, 0);
        if (last == 0) {
            return false;
        }
        device_fence();
        for (int limb = lane_number(); limb < LIMBS; limb += 32) {
            limbs[limb] = exchanged_for_zero(&total->limbs[limb]);
        }
        found = (unsigned)shuffle(lane_number() == 0 ? exchanged_for_zero(reinterpret_cast<int *>(&total->found)) : 0, 0);
        if (lane_number() == 0) {
            total->done = 0;
        }
        result = round();
        return true;
    }

  private:
    // Numbers whose exponents are looked at for the choice of a window.
    static constexpr u64 SAMPLE = 256;

    // So many deposits follow.
    DEVICE void make_room(int deposits) {
        if (pending > MOST_PENDING - deposits) {
            kulisch::resolve(limbs);
            pending = 0;
        }
        pending += deposits;
    }

    int *limbs;
    unsigned found;
    int pending;
};

// Warps of the blocks of the kernels below, and numbers that a warp takes at a time.
constexpr int GRID_WARPS = 8;
constexpr int GRID_THREADS = 32 * GRID_WARPS;
constexpr int GRID_SHARED_BYTES = GRID_WARPS * WARP_SUM_BYTES;

// The sum of numbers, or of products where there is a `y`, by all blocks of a launch of GRID_THREADS threads each; `shared` has
// GRID_SHARED_BYTES.
DEVICE void sum_of_grid(void *shared, const double *x, const double *y, u64 count, double *result, GridTotal *total) {
    const int own = thread_number() / 32;
    unsigned char *memory = static_cast<unsigned char *>(shared);
    WarpSum sum(memory + own * WARP_SUM_BYTES);
    const u64 warps = (u64)gridDim.x * GRID_WARPS, warp = (u64)blockIdx.x * GRID_WARPS + own;
    for (u64 first = warp * WINDOW_TERMS; first < count; first += warps * WINDOW_TERMS) {
        const u64 terms = count - first < WINDOW_TERMS ? count - first : WINDOW_TERMS;
        if (y == nullptr) {
            sum.add_array(x + first, terms);
        } else {
            sum.add_dot(x + first, y + first, terms);
        }
    }
    sum.publish();
    block_barrier();
    if (own != 0) {
        return;
    }
    for (int other = 1; other < GRID_WARPS; other++) {
        sum.merge(memory + other * WARP_SUM_BYTES);
    }
    double rounded;
    if (sum.add_to(total, rounded) && lane_number() == 0) {
        *result = rounded;
    }
}

}  // namespace kulisch
