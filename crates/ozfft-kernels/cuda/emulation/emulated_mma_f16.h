// The names of mma_sync_f16.cuh on a host without a GPU. Digits in the data, as kernels have them, and integers in the matrix; a sum that leaves the range in which
// its bits are an integer ends the program.
#pragma once
#include "emulation/emulator.h"

#pragma GCC push_options
#pragma GCC optimize("O3")

namespace emulator {

// A data digit: a number below the normal ones, in units of 2^-24.
inline int f16_data(uint16_t code) {
    if (code > 255) fail("multiplies data in f16 that are not digits");
    return code;
}

// A digit of a matrix: an integer.
inline int f16_integer(uint16_t code) {
    const int exponent = code >> 10 & 31, fraction = code & 1023;
    if (exponent == 0 && fraction == 0) return 0;
    const int number = exponent < 15 || exponent > 22 ? 0 : (1024 | fraction) >> (25 - exponent);
    if (number == 0 || number > 128 || number << (25 - exponent) != (1024 | fraction)) fail("multiplies a matrix in f16 that has not digits");
    return code & 0x8000 ? -number : number;
}

// The bits of a sum onto which positive and negative products are added, in units. In whatever order they are added, no sum on the way is outside of what is looked
// at here.
inline int sum_of_f16(int bits, int positive, int negative) {
    const int before = bits - F16_START;
    if (before + positive >= F16_ROOM || before + negative < -F16_ROOM) fail("sums up more than 2^22 units in f16");
    return bits + positive + negative;
}

}  // namespace emulator

template <int COUNT> DEVICE void mma_sync_f16(int (&c)[COUNT], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    struct Operands {
        int c[4];
        uint32_t a[4], b[2];
    };
    emulator::Exchange &warp = emulator::warp();
    const int own = emulator::lane();
    Operands mine = {{F16_START, F16_START, F16_START, F16_START}, {}, {}};
    if (!first) std::memcpy(mine.c, c + at, sizeof(mine.c));
    std::memcpy(mine.a, a, sizeof(a));
    std::memcpy(mine.b, b, sizeof(b));
    std::memcpy(warp.given[own], &mine, sizeof(mine));
    emulator::meet(warp.meeting, emulator::WARP, [&warp] {
        int rows[16][16], columns[8][16];
        const auto put = [](int *to, uint32_t halves, const auto &number) {
            for (int half = 0; half < 2; half++) to[half] = number((uint16_t)(halves >> (16 * half)));
        };
        for (int lane = 0; lane < emulator::WARP; lane++) {
            Operands given;
            std::memcpy(&given, warp.given[lane], sizeof(given));
            const int g = lane / 4, t = lane % 4;
            for (int i = 0; i < 4; i++) put(&rows[g + 8 * (i % 2)][8 * (i / 2) + 2 * t], given.a[i], emulator::f16_data);
            for (int i = 0; i < 2; i++) put(&columns[g][8 * i + 2 * t], given.b[i], emulator::f16_integer);
        }
        for (int lane = 0; lane < emulator::WARP; lane++) {
            Operands given;
            std::memcpy(&given, warp.given[lane], sizeof(given));
            const int g = lane / 4, t = lane % 4;
            for (int i = 0; i < 4; i++) {
                const int *row = rows[g + 8 * (i / 2)], *column = columns[2 * t + i % 2];
                int positive = 0, negative = 0;
                for (int k = 0; k < 16; k++) (column[k] > 0 ? positive : negative) += row[k] * column[k];
                given.c[i] = emulator::sum_of_f16(given.c[i], positive, negative);
            }
            std::memcpy(warp.taken[lane], given.c, sizeof(given.c));
        }
    });
    std::memcpy(c + at, warp.taken[own], sizeof(mine.c));
}

#pragma GCC pop_options
