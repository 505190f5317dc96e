// The names of wgmma.cuh on a host without a GPU.
//
// Products are noted when they are begun, and computed when a warp waits for them: sums are the old ones until then, and B
// is read as late as can be. Without the wait, or with B overwritten too early, bits differ. Warps compute their own rows
// and do not meet the others of their warpgroup, for a product is no barrier; but all must begin the same ones.
#pragma once
#include "emulation/emulator.h"
#include <algorithm>
#include <array>
#include <deque>
#include <iterator>

#pragma GCC push_options
#pragma GCC optimize("O3")

namespace emulator {

// How numbers are multiplied: what the bytes of A and of B mean, as integers; and what is done to a sum of 4 bytes, given the
// sums of the positive and of the negative products of a row and a column.
struct Arithmetic {
    int (*a)(unsigned char byte);
    int (*b)(unsigned char byte);
    void (*add)(void *sum, int positive, int negative);
};

// A thread's part of a product that has been begun.
struct Product {
    unsigned char *sums;  // 4 bytes each
    int columns;
    bool first;  // sums begin at 0
    uint32_t a[4];
    uint64_t b;
    const Arithmetic *arithmetic;
    uint64_t group;
    bool same_for_all(const Product &other) const {
        return columns == other.columns && first == other.first && b == other.b && arithmetic == other.arithmetic && group == other.group;
    }
};

// Those that a thread has begun and not waited for.
struct ProductQueue {
    std::vector<Product> products;
    uint64_t groups = 0;  // committed so far
    bool fenced = false;
};

inline ProductQueue &product_queue(int thread) {
    static thread_local std::vector<ProductQueue> queues;
    if (queues.size() < block().fibers.size()) {
        queues.resize(block().fibers.size());
    }
    return queues[thread];
}
inline ProductQueue &product_queue() { return product_queue(block().current); }

// What some warps of a warpgroup have computed and others have not come to yet.
struct Warpgroup {
    std::deque<Product> ahead;
    uint64_t computed[WARPGROUP / WARP] = {}, forgotten = 0;
};

inline Warpgroup &warpgroup() {
    static thread_local std::vector<Warpgroup> groups;
    if (block().threads.x % WARPGROUP != 0) {
        fail("multiplies, and its block is not made of whole warpgroups");
    }
    groups.resize(std::max<size_t>(groups.size(), block().threads.x / WARPGROUP));
    return groups[block().current / WARPGROUP];
}

// Compares a warp's product with that of the other warps.
inline void compare_in_warpgroup(const Product &product) {
    Warpgroup &group = warpgroup();
    uint64_t &computed = group.computed[block().current % WARPGROUP / WARP];
    if (computed - group.forgotten == group.ahead.size()) {
        group.ahead.push_back(product);
    } else if (!group.ahead[computed - group.forgotten].same_for_all(product)) {
        fail("is in a warpgroup whose warps multiply differently");
    }
    computed++;
    if (*std::min_element(std::begin(group.computed), std::end(group.computed)) > group.forgotten) {
        group.ahead.pop_front();
        group.forgotten++;
    }
}

inline void begin_product(void *sums, int columns, bool first, const unsigned (&a)[4], uint64_t b, const Arithmetic &arithmetic) {
    ProductQueue &queue = product_queue();
    if (!queue.fenced) {
        fail("begins a group of products without a fence for its registers");
    }
    queue.products.push_back({static_cast<unsigned char *>(sums), columns, first, {a[0], a[1], a[2], a[3]}, b, &arithmetic, queue.groups});
    fiber().under_way++;
}

// Column `column` of B, as its descriptor says where it lies.
inline void read_column(uint64_t descriptor, int column, unsigned char *bytes) {
    const auto field = [=](int bit) { return static_cast<uint32_t>(descriptor >> bit & 0x3fff) << 4; };
    if (descriptor >> 46 != 0) {
        fail("multiplies with a matrix that lies in a way that is not emulated");
    }
    const uint32_t start = field(0), piece_distance = field(16), group_distance = field(32);
    for (int piece = 0; piece < 2; piece++) {
        const uint32_t at = start + column / 8 * group_distance + piece * piece_distance + column % 8 * 16;
        std::memcpy(bytes + 16 * piece, shared_at(at, 16, 16), 16);
    }
}

constexpr int MOST_COLUMNS = 80;

// The oldest product of a warp, whose first thread is `first`.
inline void compute_oldest_product(int first) {
    const Product &one = product_queue(first).products.front();
    compare_in_warpgroup(one);
    const Arithmetic &arithmetic = *one.arithmetic;
    std::vector<std::array<unsigned char, 32>> rows(16);
    for (int lane = 0; lane < WARP; lane++) {
        const Product &product = product_queue(first + lane).products.front();
        if (!product.same_for_all(one)) {
            fail("is in a warp whose lanes multiply differently");
        }
        const int g = lane / 4, t = lane % 4;
        std::memcpy(&rows[g][4 * t], &product.a[0], 4);
        std::memcpy(&rows[g + 8][4 * t], &product.a[1], 4);
        std::memcpy(&rows[g][16 + 4 * t], &product.a[2], 4);
        std::memcpy(&rows[g + 8][16 + 4 * t], &product.a[3], 4);
    }
    // Columns side by side, so that the compiler adds them up by vectors.
    std::array<std::array<int, 32>, 16> row_numbers;
    std::array<std::array<int, MOST_COLUMNS>, 32> column_numbers;
    if (one.columns > MOST_COLUMNS) {
        fail("multiplies with more columns than are emulated");
    }
    for (int row = 0; row < 16; row++) {
        std::transform(rows[row].begin(), rows[row].end(), row_numbers[row].begin(), arithmetic.a);
    }
    for (int column = 0; column < one.columns; column++) {
        unsigned char bytes[32];
        read_column(one.b, column, bytes);
        for (int k = 0; k < 32; k++) {
            column_numbers[k][column] = arithmetic.b(bytes[k]);
        }
    }
    std::array<std::array<int, MOST_COLUMNS>, 16> positive = {}, negative = {};
    for (int row = 0; row < 16; row++) {
        for (int k = 0; k < 32; k++) {
            for (int column = 0; column < one.columns; column++) {
                const int number = row_numbers[row][k] * column_numbers[k][column];
                positive[row][column] += std::max(number, 0);
                negative[row][column] += std::min(number, 0);
            }
        }
    }
    for (int lane = 0; lane < WARP; lane++) {
        const Product &product = product_queue(first + lane).products.front();
        for (int i = 0; i < one.columns / 2; i++) {
            const int row = lane / 4 + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            if (one.first) {
                std::memset(product.sums + 4 * i, 0, 4);
            }
            arithmetic.add(product.sums + 4 * i, positive[row][column], negative[row][column]);
        }
    }
}

// Completes all groups of this warp.
inline void complete_products() {
    const int first = block().current / WARP * WARP;
    const auto oldest_waited_for = [=](int thread) {
        const ProductQueue &queue = product_queue(thread);
        return !queue.products.empty() && queue.products.front().group < queue.groups;
    };
    while (oldest_waited_for(first)) {
        for (int thread = first; thread < first + WARP; thread++) {
            if (!oldest_waited_for(thread)) {
                fail("is in a warp whose lanes multiply differently");
            }
        }
        compute_oldest_product(first);
        for (int thread = first; thread < first + WARP; thread++) {
            std::vector<Product> &products = product_queue(thread).products;
            products.erase(products.begin());
            block().fibers[thread].under_way--;
        }
    }
}

inline const Arithmetic U8_S8 = {
    [](unsigned char byte) { return static_cast<int>(byte); },
    [](unsigned char byte) { return static_cast<int>(static_cast<signed char>(byte)); },
    [](void *sum, int positive, int negative) { *static_cast<int *>(sum) += positive + negative; },
};

}  // namespace emulator

DEVICE void wgmma_fence() { emulator::product_queue().fenced = true; }
DEVICE void wgmma_commit() {
    emulator::ProductQueue &queue = emulator::product_queue();
    queue.groups++;
    queue.fenced = false;
}
template <class... Sums> DEVICE void wgmma_wait(Sums &...sums) {
    // The compiler of a GPU is told of the sums that are named here, and of no others.
    for (const emulator::Product &product : emulator::product_queue().products) {
        const uintptr_t first = reinterpret_cast<uintptr_t>(product.sums), end = first + 2 * product.columns;
        if (!((reinterpret_cast<uintptr_t>(&sums) <= first && end <= reinterpret_cast<uintptr_t>(&sums) + sizeof(sums)) || ...)) {
            emulator::fail("waits for products and does not name their sums");
        }
    }
    emulator::meet(emulator::warp().meeting, emulator::WARP, [] { emulator::complete_products(); });
}
// Fibers see each other's stores at once, so that a missing call is not found.
DEVICE void wgmma_publish() {}

DEVICE void wgmma_u8_n32_first(int (&c)[16], const unsigned (&a)[4], uint64_t b) {
    emulator::begin_product(c, 32, true, a, b, emulator::U8_S8);
}
DEVICE void wgmma_u8_n32_more(int (&c)[16], const unsigned (&a)[4], uint64_t b) {
    emulator::begin_product(c, 32, false, a, b, emulator::U8_S8);
}

#pragma GCC pop_options
