// What the tuned kernels for real lines have in common: two lines go together where a complex line has its two parts.
#pragma once
#include "tuned_lines.cuh"

namespace tuned {

template <int N1_, int N2_> struct RealShape {
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2;
    static constexpr int LINES = 64 / N2;  // of a warpgroup: their columns are a tile of two lines each
    static constexpr int SLOTS1 = N1 / 2, SLOTS2 = N2 / 2;
    static constexpr int PART1 = Int8::part_bytes(SLOTS1), PART2 = Int8::part_bytes(SLOTS2);  // of 8 outputs
    static constexpr int MATRIX1 = SLOTS1 / 8 * PART1, MATRIX2 = SLOTS2 / 8 * PART2;
    // What the sums of every output are raised by, 16 bytes; then roundings and topmost digits, 16 bytes.
    static constexpr int CONSTANTS1 = 32 * SLOTS1, CONSTANTS2 = 32 * SLOTS2;
    static constexpr int ROTATIONS = (N1 / 2 + 1) * (N2 / 2 + 1);
    static constexpr int TABLES = 2 * MATRIX1 + 2 * MATRIX2 + CONSTANTS1 + CONSTANTS2 + 16 * ROTATIONS;
    // Rows of words below the middle, and the middle rows of eight lines.
    static constexpr int ROWS = LINES * N1 / 2, MIDDLES = 8;
    static constexpr int ROUNDS = MIDDLES / LINES, TILES2 = ROWS / 32;
    static_assert(ROWS % 32 == 0 && MIDDLES % LINES == 0, "rows fill tiles");
    static constexpr int NUMBERS = 8 * LINES * N, WORDS = 16 * (ROWS + MIDDLES) * N2;  // bytes of a warpgroup
    static constexpr int PANEL = WARPGROUPS * LINES;
    static constexpr int BUFFER = WARPGROUPS * (NUMBERS + WORDS) / 2;  // there are two
    static constexpr int STATISTICS = 128;  // of a warpgroup: maxima and sums of its warps, facts of the lines whose rows are here
    static constexpr int BEGINNING = (TABLES + 1023) / 1024 * 1024;
    static constexpr int SHARED = BEGINNING + 2 * BUFFER + WARPGROUPS * STATISTICS + 8 * PANEL + 64;
};

// Numbers of a line, and words of a warpgroup's lines.
template <class S> DEVICE uint32_t numbers_memory(int group, int line) { return buffer_memory<S>() + group * S::NUMBERS + 8 * S::N * line; }
template <class S> DEVICE uint32_t words_memory(int group) { return buffer_memory<S>() + WARPGROUPS * S::NUMBERS + group * S::WORDS; }

// The place of number i = row·N2 + column of a line, in bytes. Columns are exchanged by fours, so that four rows of four
// neighbours are on different banks; neighbouring pairs stay together.
template <class S> DEVICE constexpr int place_real(int i) { return 8 * (i ^ (i / S::N2 & 3) << 2); }

// The place of a word, 16 bytes each: rows of N2 columns, exchanged so that no two threads of eight meet on a bank.
template <class S> DEVICE int place_words(int row, int j) {
    return row * S::N2 + (j ^ ((((row >> 1) & 3) << 1) ^ ((row & 1) << 2)));
}

// `rotate` for a number without a real part.
DEVICE void rotate_imaginary(i64 y, const uint4 &angle, i64 &re, i64 &im) {
    const int high = high_half(y), low = (int)low_of(y), minus_high = -high;
    const int real_high = (int)angle.x, real_low = (int)angle.y, imaginary_high = (int)angle.z, imaginary_low = (int)angle.w;
    const i64 half = 1 << 29;
    const i64 cross_re = product(low, -imaginary_high, product(minus_high, imaginary_low, half));
    const i64 cross_im = product(low, real_high, product(high, real_low, half));
    const i64 high_re = product(minus_high, imaginary_high, (i64)(int)high_of(cross_re));
    const i64 high_im = product(high, real_high, (i64)(int)high_of(cross_im));
    re = join(__funnelshift_l(low_of(cross_re), low_of(high_re), 2), __funnelshift_l(low_of(high_re), high_of(high_re), 2));
    im = join(__funnelshift_l(low_of(cross_im), low_of(high_im), 2), __funnelshift_l(low_of(high_im), high_of(high_im), 2));
}

}  // namespace tuned
