// The names of wgmma_fp8.cuh on a host without a GPU. A sum beyond what Hopper keeps exact ends the program.
#pragma once
#include "emulated_wgmma.h"
#include <cmath>

namespace emulator {

inline float e4m3(unsigned char code) {
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const float magnitude = exponent == 0 ? std::ldexp((float)fraction, -9) : std::ldexp((float)(8 + fraction), exponent - 10);
    return code & 0x80 ? -magnitude : magnitude;
}

inline void add_product_e4m3(void *sum, const unsigned char *row, const unsigned char *column) {
    // In whatever order the products are added, no sum on the way exceeds these two.
    float total, most, least;
    std::memcpy(&total, sum, sizeof(total));
    most = total > 0 ? total : 0;
    least = total < 0 ? total : 0;
    for (int byte = 0; byte < 32; byte++) {
        const float product = e4m3(row[byte]) * e4m3(column[byte]);
        total += product;
        (product > 0 ? most : least) += product;
    }
    // Units of 2^-9, as kernels have their data.
    if (!(most <= 32.0f && least >= -32.0f)) {
        fail("sums up more than 2^14 units in fp8");
    }
    std::memcpy(sum, &total, sizeof(total));
}

}  // namespace emulator

template <int COLUMNS, int COUNT> DEVICE void wgmma_e4m3_first(float (&c)[COUNT], const unsigned (&a)[4], uint64_t b) {
    static_assert(COLUMNS % 8 == 0 && COLUMNS / 2 <= COUNT, "sums of all columns");
    emulator::begin_product(c, COLUMNS, true, a, b, emulator::add_product_e4m3);
}
template <int COLUMNS, int COUNT> DEVICE void wgmma_e4m3_more(float (&c)[COUNT], const unsigned (&a)[4], uint64_t b) {
    static_assert(COLUMNS % 8 == 0 && COLUMNS / 2 <= COUNT, "sums of all columns");
    emulator::begin_product(c, COLUMNS, false, a, b, emulator::add_product_e4m3);
}
