// The names of wgmma.cuh on a host without a GPU.
//
// Products are noted when they are begun, and computed when the warpgroup waits for them: sums are the old ones until
// then, and B is read as late as can be. Without the wait, or with B overwritten too early, bits differ.
#pragma once
#include "emulator.h"
#include <array>

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

struct ProductQueue {
    std::vector<Product> products;
    uint64_t groups = 0;  // committed so far
    bool fenced = false;
};

struct Warpgroup {
    Meeting meeting;
    ProductQueue queues[WARPGROUP];
};

inline Warpgroup &warpgroup() {
    // Warpgroups stay where they are while fibers wait at their meetings.
    static thread_local std::vector<std::unique_ptr<Warpgroup>> groups;
    const size_t number = block().current / WARPGROUP;
    if (block().threads.x % WARPGROUP != 0) {
        fail("multiplies, and its block is not made of whole warpgroups");
    }
    while (groups.size() <= number) {
        groups.push_back(std::make_unique<Warpgroup>());
    }
    return *groups[number];
}
inline ProductQueue &product_queue() { return warpgroup().queues[block().current % WARPGROUP]; }

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

// The product that is the oldest of every thread of the warpgroup.
inline void compute_oldest_product(Warpgroup &group) {
    const Product &one = group.queues[0].products.front();
    const Arithmetic &arithmetic = *one.arithmetic;
    std::vector<std::array<unsigned char, 32>> rows(64);
    std::vector<std::array<int, 32>> row_numbers(64), column_numbers(one.columns);
    for (int thread = 0; thread < WARPGROUP; thread++) {
        const Product &product = group.queues[thread].products.front();
        if (!product.same_for_all(one)) {
            fail("is in a warpgroup whose threads multiply differently");
        }
        const int top = thread / WARP * 16 + thread % WARP / 4, t = thread % 4;
        std::memcpy(&rows[top][4 * t], &product.a[0], 4);
        std::memcpy(&rows[top + 8][4 * t], &product.a[1], 4);
        std::memcpy(&rows[top][16 + 4 * t], &product.a[2], 4);
        std::memcpy(&rows[top + 8][16 + 4 * t], &product.a[3], 4);
    }
    for (int row = 0; row < 64; row++) {
        for (int k = 0; k < 32; k++) row_numbers[row][k] = arithmetic.a(rows[row][k]);
    }
    for (int column = 0; column < one.columns; column++) {
        unsigned char bytes[32];
        read_column(one.b, column, bytes);
        for (int k = 0; k < 32; k++) column_numbers[column][k] = arithmetic.b(bytes[k]);
    }
    for (int thread = 0; thread < WARPGROUP; thread++) {
        const Product &product = group.queues[thread].products.front();
        const int top = thread / WARP * 16 + thread % WARP / 4, t = thread % 4;
        for (int i = 0; i < one.columns / 2; i++) {
            const int row = top + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * t + i % 2;
            if (one.first) {
                std::memset(product.sums + 4 * i, 0, 4);
            }
            int positive = 0, negative = 0;
            for (int k = 0; k < 32; k++) {
                const int number = row_numbers[row][k] * column_numbers[column][k];
                positive += number > 0 ? number : 0;
                negative += number < 0 ? number : 0;
            }
            arithmetic.add(product.sums + 4 * i, positive, negative);
        }
    }
}

// Completes all groups of a warpgroup but the last ones.
inline void complete_products(Warpgroup &group, uint64_t but) {
    const ProductQueue &one = group.queues[0];
    while (!one.products.empty() && one.products.front().group + but < one.groups) {
        for (const ProductQueue &queue : group.queues) {
            if (queue.products.empty()) {
                fail("is in a warpgroup whose threads multiply differently");
            }
        }
        compute_oldest_product(group);
        for (ProductQueue &queue : group.queues) {
            queue.products.erase(queue.products.begin());
        }
        const int first = block().current / WARPGROUP * WARPGROUP;
        for (int thread = 0; thread < WARPGROUP; thread++) {
            block().fibers[first + thread].under_way--;
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
template <int pending> DEVICE void wgmma_wait() {
    emulator::Warpgroup &group = emulator::warpgroup();
    emulator::meet(group.meeting, emulator::WARPGROUP, [&group] { emulator::complete_products(group, pending); });
}
// Fibers see each other's stores at once, so that a missing call is not found.
DEVICE void wgmma_publish() {}

DEVICE void wgmma_u8_n32_first(int (&c)[16], const unsigned (&a)[4], uint64_t b) {
    emulator::begin_product(c, 32, true, a, b, emulator::U8_S8);
}
DEVICE void wgmma_u8_n32_more(int (&c)[16], const unsigned (&a)[4], uint64_t b) {
    emulator::begin_product(c, 32, false, a, b, emulator::U8_S8);
}
