// The names of wgmma_fp8.cuh on a host without a GPU. Small data, as kernels have them, and integers in the matrix; a sum
// beyond what Hopper keeps exact ends the program.
#pragma once
#include "emulated_wgmma.h"

namespace emulator {

// A number in units of 2^-9, the smallest that e4m3 has.
inline int e4m3(unsigned char code) {
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const int magnitude = exponent == 0 ? fraction : (8 + fraction) << (exponent - 1);
    return code & 0x80 ? -magnitude : magnitude;
}

inline const Arithmetic E4M3 = {
    [](unsigned char code) {
        if ((code & 0x7f) > 16) fail("multiplies data in fp8 that are not digits");
        return e4m3(code);
    },
    [](unsigned char code) {
        const int number = e4m3(code) / 512;
        if (e4m3(code) != 512 * number || number < -16 || number > 16) fail("multiplies a matrix in fp8 that has not digits");
        return number;
    },
    [](void *sum, int positive, int negative) {
        float before;
        std::memcpy(&before, sum, sizeof(before));
        const int units = (int)(512 * before);
        // In whatever order products are added, no sum on the way is outside of these.
        if ((units > 0 ? units : 0) + positive > 1 << 14 || (units < 0 ? units : 0) + negative < -(1 << 14)) {
            fail("sums up more than 2^14 units in fp8");
        }
        const float after = (float)(units + positive + negative) / 512;
        std::memcpy(sum, &after, sizeof(after));
    },
};

}  // namespace emulator

template <int COLUMNS, int COUNT> DEVICE void wgmma_e4m3_first(float (&c)[COUNT], const unsigned (&a)[4], uint64_t b) {
    static_assert(COLUMNS % 8 == 0 && COLUMNS / 2 <= COUNT, "sums of all columns");
    emulator::begin_product(c, COLUMNS, true, a, b, emulator::E4M3);
}
template <int COLUMNS, int COUNT> DEVICE void wgmma_e4m3_more(float (&c)[COUNT], const unsigned (&a)[4], uint64_t b) {
    static_assert(COLUMNS % 8 == 0 && COLUMNS / 2 <= COUNT, "sums of all columns");
    emulator::begin_product(c, COLUMNS, false, a, b, emulator::E4M3);
}
