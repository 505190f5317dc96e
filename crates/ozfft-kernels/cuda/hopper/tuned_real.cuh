// What the tuned kernels for real lines, and for half-spectra, have in common. Two lines go together where a complex line has
// its two parts.
#pragma once
#include "hopper/tuned_lines.cuh"

namespace tuned {

template <int N1_, int N2_> struct RealShape {
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2;
    static constexpr int LINES = 64 / N2;  // of a warpgroup: their columns are a tile of two lines each
    static constexpr int SLOTS1 = N1 / 2, SLOTS2 = N2 / 2;
    static constexpr int PART1 = Int8::part_bytes(SLOTS1), PART2 = Int8::part_bytes(SLOTS2);  // of 8 outputs
    static constexpr int MATRIX1 = SLOTS1 / 8 * PART1, MATRIX2 = SLOTS2 / 8 * PART2;
    // What the sums of every output are biased by, 16 bytes; in the second step 8 bytes more for the topmost diagonals.
    static constexpr int CONSTANTS1 = 16 * SLOTS1, CONSTANTS2 = 24 * SLOTS2;
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

// What a thread has seen of numbers: the largest magnitude's upper half, and whether there was anything but zeros.
struct Seen {
    unsigned largest = 0, some = 0;
    DEVICE void add(unsigned low, unsigned high) {
        largest = max(largest, high & 0x7fffffffu);
        some |= low;
    }
    // The exponent field, and below it a bit for anything but zeros.
    DEVICE unsigned found() const { return 2 * (largest >> 20) + ((largest | some) != 0); }
};

// One part of `rotate` for a number y of which the other part is zero: ±y·factor / 2^62. (High
// halves are far from the ends of their range, so that their negatives are exact; low ones of factors are not.)
DEVICE i64 rotated_part(i64 y, int factor_high, int factor_low, bool negative, const Factors &factors) {
    const int high = negative ? -high_half(y) : high_half(y), low = (int)low_of(y);
    const i64 cross = product(low, negative ? -factor_high : factor_high, product(high, factor_low, factors.half));
    const i64 top = product(high, factor_high, (i64)(int)high_of(cross));
    return join(__funnelshift_l(low_of(cross), low_of(top), 2), __funnelshift_l(low_of(top), high_of(top), 2));
}

// A real output: a sum and its topmost diagonal, with whichever means there are.
template <bool CONVERSIONS> DEVICE uint2 finished_real(i64 sum, int top, int power, double scale) {
    uint2 value;
    bool usual = are_usual(top, top);
    if (CONVERSIONS) {
        const double x = (usual ? to_double_by_conversion(sum, top) : to_double_by_parts(sum, top)) * scale;
        value = make_uint2((unsigned)__double2loint(x), (unsigned)__double2hiint(x));
    } else {
        to_double(sum, top, power, 0, value.x, value.y, usual);
        if (!usual) to_double_any(sum, top, power, 0, value.x, value.y);
    }
    return value;
}

}  // namespace tuned
