// The names of wgmma_fp8.cuh on a host without a GPU. Small data, as kernels have them, and integers in the matrix; a sum
// beyond what Hopper keeps exact ends the program.
#pragma once
#include "emulation/emulated_fp8.h"
#include "emulation/emulated_wgmma.h"

namespace emulator {

inline const Arithmetic E4M3 = {
    [](unsigned char code) { return (int)e4m3_data(code); },
    [](unsigned char code) { return (int)e4m3_integer(code); },
    [](void *sum, int positive, int negative) {
        float before;
        std::memcpy(&before, sum, sizeof(before));
        const float after = sum_of_e4m3(before, positive, negative);
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
