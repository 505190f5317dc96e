// The names of mma_sync_fp8.cuh on a host without a GPU. Small data, as kernels have them, and integers in the matrix; a sum beyond what
// Hopper's `wgmma` keeps exact ends the program.
#pragma once
#include "emulation/emulated_fp8.h"
#include "emulation/emulator.h"

#pragma GCC push_options
#pragma GCC optimize("O3")

template <int COUNT> DEVICE void mma_sync_e4m3(float (&c)[COUNT], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    struct Operands {
        float c[4];
        uint32_t a[4], b[2];
    };
    emulator::Exchange &warp = emulator::warp();
    const int own = emulator::lane();
    Operands mine = {};
    if (!first) std::memcpy(mine.c, c + at, sizeof(mine.c));
    std::memcpy(mine.a, a, sizeof(a));
    std::memcpy(mine.b, b, sizeof(b));
    std::memcpy(warp.given[own], &mine, sizeof(mine));
    emulator::meet(warp.meeting, emulator::WARP, [&warp] {
        int16_t rows[16][32], columns[8][32];
        const auto put = [](int16_t *to, uint32_t bytes, const auto &number) {
            for (int byte = 0; byte < 4; byte++) to[byte] = number((unsigned char)(bytes >> (8 * byte)));
        };
        for (int lane = 0; lane < emulator::WARP; lane++) {
            Operands given;
            std::memcpy(&given, warp.given[lane], sizeof(given));
            const int g = lane / 4, t = lane % 4;
            put(&rows[g][4 * t], given.a[0], emulator::e4m3_data);
            put(&rows[g + 8][4 * t], given.a[1], emulator::e4m3_data);
            put(&rows[g][16 + 4 * t], given.a[2], emulator::e4m3_data);
            put(&rows[g + 8][16 + 4 * t], given.a[3], emulator::e4m3_data);
            put(&columns[g][4 * t], given.b[0], emulator::e4m3_integer);
            put(&columns[g][16 + 4 * t], given.b[1], emulator::e4m3_integer);
        }
        for (int lane = 0; lane < emulator::WARP; lane++) {
            Operands given;
            std::memcpy(&given, warp.given[lane], sizeof(given));
            const int g = lane / 4, t = lane % 4;
            for (int i = 0; i < 4; i++) {
                const int16_t *row = rows[g + 8 * (i / 2)], *column = columns[2 * t + i % 2];
                int sum = 0, magnitudes = 0;
                for (int k = 0; k < 32; k++) {
                    const int product = row[k] * column[k];
                    sum += product;
                    magnitudes += product < 0 ? -product : product;
                }
                given.c[i] = emulator::sum_of_e4m3(given.c[i], (magnitudes + sum) / 2, (sum - magnitudes) / 2);
            }
            std::memcpy(warp.taken[lane], given.c, sizeof(given.c));
        }
    });
    std::memcpy(c + at, warp.taken[own], sizeof(mine.c));
}

#pragma GCC pop_options
