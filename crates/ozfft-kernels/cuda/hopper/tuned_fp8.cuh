// The products of tuned_block.cuh on fp8 wgmma: the same integers from products of nibbles.
//
// A biased digit is a byte; its two nibbles, 0 to 15, are e4m3 codes as they are: the numbers 0 to 15 times 2^-9. A matrix
// digit is 16 times one integer of at most 8 in magnitude, plus another: ordinary e4m3 numbers. So a diagonal becomes four
// sums, and neighbouring diagonals share one of them: class j has the weight 16^(16-j), class 2d holds the products of upper
// nibbles on diagonal d and those of lower nibbles on diagonal d-1, class 2d+1 the mixed ones on diagonal d.
//
// A product takes one nibble of 32 / slots neighbouring data digits. Whichever digits and nibbles these are, the matrix is
// the same but for a shift of classes, so it lies in shared memory once: 16 columns of 8 outputs each, the last first.
#pragma once
#include "hopper/tuned_block.cuh"
#include "arch/wgmma_fp8.cuh"

namespace tuned {

struct Fp8 {
    static constexpr bool TAKES_TURNS = false;
    static constexpr int TO_HALF = 16;
    // Blocks of 8 outputs' columns, 32 bytes each: a block of zeros and the matrix; then, for the upper nibbles of all but
    // the topmost digits, zeros and what they have on classes 15 to 8.
    static constexpr int part_bytes(int slots) { return 256 * (slots == 16 ? 40 : 26); }

    // Adding it leaves an integer in the lower bits; the rest is a constant, taken off with what digits are biased by.
    static constexpr float MAGIC = 12582912.0f;  // 1.5·2^23
    // Data are multiples of 2^-9.
    static constexpr float UNIT = 512.0f;

    // Nibbles of neighbouring digits: [digits from the topmost on][upper, lower nibble], as operands.
    template <int STEPS> struct Operand {
        static constexpr int DIGITS = STEPS == 1 ? 4 : 2, GROUPS = 8 / DIGITS;
        unsigned nibbles[GROUPS][2][4];

        DEVICE explicit Operand(const Words<STEPS> &words) {
            static_assert(STEPS == 1 || STEPS == 2, "as many slots as an operand has room for");
#pragma unroll
            for (int i = 0; i < 4; i++) {
                if (STEPS == 1) {
                    split(0, i, words.high[0][i]);
                    split(1, i, words.low[0][i]);
                } else {
                    // Slots t and t + 4, or t + 8 and t + 12, share a register.
                    const int s = i / 2 % STEPS, first = i % 2, second = first + 2;
                    split(0, i, chosen_bytes(words.high[s][first], words.high[s][second], 0x7632));
                    split(1, i, chosen_bytes(words.high[s][first], words.high[s][second], 0x5410));
                    split(GROUPS - 2, i, chosen_bytes(words.low[s][first], words.low[s][second], 0x7632));
                    split(GROUPS - 1, i, chosen_bytes(words.low[s][first], words.low[s][second], 0x5410));
                }
            }
        }
        DEVICE void split(int group, int i, unsigned bytes) {
            nibbles[group][0][i] = bytes >> 4 & 0x0f0f0f0fu;
            nibbles[group][1][i] = bytes & 0x0f0f0f0fu;
        }
    };

    struct Sums {
        float classes[36];  // 7 to 0, then 16 to 8: [class][outputs and parts]
        // What classes 0 to 7 come to: their part of the upper half, what classes 6 and 7 add further down, and the sum of the
        // topmost three, which may be kept apart.
        unsigned high[4];
        float middle[4];
        int top[4];
        int place;  // in the program; see scheduling_barrier
        DEVICE void wait() { wgmma_wait(classes); }
    };

    // The product of a group of digits, and of one of their nibbles, as far as it belongs to classes 7 to 0 or, `LAST`, 16 to
    // 8.
    template <bool LAST, int GROUP, int LOWER, bool FIRST = false, int STEPS>
    static DEVICE void add(Sums &sums, const Operand<STEPS> &data, uint64_t matrix) {
        constexpr int CLASS = 2 * Operand<STEPS>::DIGITS * GROUP + LOWER;  // of the matrix's first column
        // Upper nibbles have nothing on class 16.
        constexpr int ZEROS = LAST && LOWER == 0 ? 1 : 0;
        constexpr int MOST = LAST ? 9 : 8, COUNT = (LAST ? 16 + LOWER + ZEROS : 8) - CLASS;
        constexpr int BLOCK = !LAST ? 9 + CLASS : ZEROS == 0 ? CLASS : GROUP == 0 ? 0 : 17 + 9 * (GROUP - 1);
        if constexpr (COUNT > 0) {
            constexpr int COLUMNS = 8 * (COUNT < MOST ? COUNT : MOST);
            static_assert(!FIRST || COLUMNS == 8 * MOST, "the first product sets all sums");
            if constexpr (FIRST)
                wgmma_e4m3_first<COLUMNS>(sums.classes, data.nibbles[GROUP][LOWER], matrix + 16 * BLOCK);
            else
                wgmma_e4m3_more<COLUMNS>(sums.classes, data.nibbles[GROUP][LOWER], matrix + 16 * BLOCK);
        }
    }

    template <bool LAST, int STEPS> static DEVICE void begin(Sums &sums, const Operand<STEPS> &data, uint64_t matrix) {
        wgmma_fence();
        add<LAST, 0, 0, true>(sums, data, matrix);
        add<LAST, 0, 1>(sums, data, matrix);
        add<LAST, 1, 0>(sums, data, matrix);
        add<LAST, 1, 1>(sums, data, matrix);
        if constexpr (STEPS == 2) {
            add<LAST, 2, 0>(sums, data, matrix);
            add<LAST, 2, 1>(sums, data, matrix);
            add<LAST, 3, 0>(sums, data, matrix);
            add<LAST, 3, 1>(sums, data, matrix);
        }
        wgmma_commit();
    }

    // Three sums with weights 256, 16 and 1.
    static DEVICE float joined(float first, float second, float third) {
        return fused(first, 256 * UNIT, fused(second, 16 * UNIT, fused(third, UNIT, MAGIC)));
    }

    // Sums up classes 0 to 7, and begins with the others.
    template <bool WHOLE, int STEPS>
    static DEVICE void multiply(Sums &sums, Operand<STEPS> &data, uint64_t matrix, const Factors &factors, int place) {
        sums.place = 2 * place;
#pragma unroll
        for (int group = 0; group < Operand<STEPS>::GROUPS; group++)
#pragma unroll
            for (int i = 0; i < 4; i++) compiler_fence(data.nibbles[group][0][i], data.nibbles[group][1][i]);
        begin<false>(sums, data, matrix);
        sums.wait();
        const float(&c)[36] = sums.classes;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            sums.top[e] = bits_of(joined(c[28 + e], c[24 + e], c[20 + e]));
            sums.high[e] = 32u * (unsigned)bits_of(joined(c[16 + e], c[12 + e], c[8 + e]));
            if (WHOLE) sums.high[e] += 131072u * (unsigned)sums.top[e];
            sums.middle[e] = fused(c[4 + e], 256 * UNIT, fused(c[e], 16 * UNIT, MAGIC));
        }
#pragma unroll
        for (int e = 0; e < 4; e++) compiler_fence(sums.high[e], sums.middle[e], sums.top[e]);
        scheduling_barrier(factors.first, sums.place);
        begin<true>(sums, data, matrix);
    }

    // The rounded sum: all classes, less the topmost three if they are kept apart, over 128.
    template <bool WHOLE> static DEVICE i64 rounded(const Sums &sums, int e, const Factors &factors) {
        const float(&c)[36] = sums.classes;
        const float rounding = sum_downwards(fused(c[4 + e], UNIT / 8, fused(c[e], UNIT / 128, 0.5f)), MAGIC);
        const float low = fused(c[16 + e], 512 * UNIT, fused(c[12 + e], 32 * UNIT, fused(c[8 + e], 2 * UNIT, rounding)));
        const float lower_middle = joined(c[28 + e], c[24 + e], c[20 + e]);
        const float upper_middle = fused(c[32 + e], UNIT, sums.middle[e]);
        // Bits of positive floats: integers that are not negative.
        const i64 sum = product(bits_of(lower_middle), factors.first, join((unsigned)bits_of(low), sums.high[e]));
        if (e == 3) scheduling_barrier(factors.first, sums.place + 1);
        return product(bits_of(upper_middle), factors.second, compiler_fence(sum));
    }

    static DEVICE int top(const Sums &sums, int e) { return sums.top[e]; }
};

}  // namespace tuned
