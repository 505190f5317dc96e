// Products of the template in fp8 (`mma.sync`, compute capability 8.9 and later): the same integers as those of int8, from products of
// nibbles. docs/gpu.md, "Products in fp8", has the arithmetic, which is that of tuned_fp8.cuh: upper and lower nibble of a biased digit are
// e4m3 codes as they are, 0 to 15 times 2^-9; a matrix digit is 16 times one integer of at most 8 in magnitude, plus another. So diagonals
// become 17 classes of sums with weights 16^(16-j): class 2d has the products of upper nibbles on diagonal d and those of lower ones on
// diagonal d-1, class 2d+1 the mixed ones on diagonal d.
//
// An operand has one nibble of four neighbouring digits of eight slots, or of all digits of four. The matrix's nibbles that it meets in class j
// are those of column j: of lower nibbles column j-1, of the lower four digits column j-8, of both j-9. So there are 16 columns, from which all
// operands of a tile of slots take theirs.
#pragma once
#include "block/bailey_block.cuh"
#include "arch/mma_sync_fp8.cuh"

namespace bailey {

// Nibbles of a column's words: of the lower and of the upper four digits of eight slots, and of all digits of the last four; [upper, lower
// nibble].
template <class Step> struct StepDigits<Step, Product::FP8> {
    static constexpr int K_TILES = Step::K_TILES, FOURS = Step::FOURS;
    unsigned low[K_TILES > 0 ? K_TILES : 1][2][4], high[K_TILES > 0 ? K_TILES : 1][2][4], both[2][4];

    // Word number q of this thread, that of slot 4q + t.
    DEVICE void put(int q, i64 re, i64 im) {
        const int s = q / 2, e = 2 * (q % 2);
        if (s < K_TILES) {
            split(re, low[s], high[s], e, e);
            split(im, low[s], high[s], e + 1, e + 1);
        } else {
            split(re, both, both, 2, 0);
            split(im, both, both, 3, 1);
        }
    }
    // Slots that no thread has: they meet zeros of the matrix.
    DEVICE void fill() {
        if (Step::QUADS < 2 * K_TILES) put(Step::QUADS, 0, 0);
    }
    static DEVICE void split(i64 word, unsigned (&lower)[2][4], unsigned (&upper)[2][4], int lower_at, int upper_at) {
        unsigned low_digits, high_digits;
        digits(word, low_digits, high_digits);
        lower[0][lower_at] = low_digits >> 4 & 0x0f0f0f0fu;
        lower[1][lower_at] = low_digits & 0x0f0f0f0fu;
        upper[0][upper_at] = high_digits >> 4 & 0x0f0f0f0fu;
        upper[1][upper_at] = high_digits & 0x0f0f0f0fu;
    }
};

struct MmaSyncFp8 {
    // Adding it leaves an integer in the lower bits; the rest is a constant, taken off with what digits are biased by.
    static constexpr float MAGIC = 12582912.0f;  // 1.5·2^23
    // Data are multiples of 2^-9.
    static constexpr float UNIT = 512.0f;

    // COUNT classes from FIRST downwards of eight outputs, real and imaginary parts of two outputs each; `matrix` is the lane's. Pieces of the
    // matrix lie in pairs, 16 bytes a lane for every column; of a last one without a partner it has 8. Those from PAIR on:
    template <int FIRST, int COUNT, int PAIR = 0, class Step, int UNITS, class Matrix>
    static DEVICE void multiply(float (&sums)[UNITS][4 * COUNT], const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix) {
        if constexpr (PAIR < Step::UPPER) {
            // Columns of the upper four digits, or of all, then those of the lower four.
            multiply_pair<FIRST, COUNT, PAIR, false>(sums, digits, matrix);
            if constexpr (FIRST >= 8 && PAIR < Step::K_TILES) multiply_pair<FIRST, COUNT, PAIR, true>(sums, digits, matrix);
            multiply<FIRST, COUNT, PAIR + 2>(sums, digits, matrix);
        }
    }

    template <int FIRST, int COUNT, int PAIR, bool LOWER_DIGITS, class Step, int UNITS, class Matrix>
    static DEVICE void multiply_pair(float (&sums)[UNITS][4 * COUNT], const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix) {
        constexpr bool ALONE = PAIR + 1 == Step::UPPER;
        constexpr int PIECES = ALONE || (LOWER_DIGITS && PAIR + 1 == Step::K_TILES) ? 1 : 2;
        constexpr int SHIFT = LOWER_DIGITS ? 8 : 0, COLUMNS = 16 - SHIFT;
        const auto pieces = matrix.later(16 * 256 * PAIR - (ALONE ? 8 * (thread_number() & 31) : 0));
        uint4 fragments[COUNT + 1] = {};
#pragma unroll
        for (int i = 0; i <= COUNT; i++) {
            const int column = FIRST - SHIFT - i;
            if (column < 0 || column >= COLUMNS) continue;
            if constexpr (ALONE) {
                const uint2 fragment = pieces.half(256 * column);
                fragments[i] = make_uint4(fragment.x, fragment.y, 0, 0);
            } else {
                fragments[i] = pieces.entry(512 * column);
            }
        }
        // One class after the other, so that sums are not waited for.
#pragma unroll
        for (int piece = 0; piece < PIECES; piece++)
#pragma unroll
            for (int nibble = 0; nibble < 2; nibble++)
#pragma unroll
                for (int i = 0; i < COUNT; i++) {
                    const int column = FIRST - SHIFT - i - nibble;
                    if (column < 0 || column >= COLUMNS) continue;
                    const uint4 &both = fragments[i + nibble];
                    const unsigned fragment[2] = {piece == 0 ? both.x : both.z, piece == 0 ? both.y : both.w};
                    // Class 16 has no upper nibbles.
                    const bool first = !LOWER_DIGITS && PAIR + piece == 0 && (nibble == 0 || FIRST - i == 16);
#pragma unroll
                    for (int u = 0; u < UNITS; u++) mma_sync_e4m3(sums[u], 4 * i, operand<LOWER_DIGITS>(digits[u], PAIR + piece, nibble), fragment, first);
                }
    }

    template <bool LOWER_DIGITS, class Step> static DEVICE const unsigned (&operand(const StepDigits<Step> &words, int piece, int nibble))[4] {
        const int s = piece < Step::K_TILES ? piece : 0;
        return LOWER_DIGITS ? words.low[s][nibble] : piece < Step::K_TILES ? words.high[s][nibble] : words.both[nibble];
    }

    // Neighbouring classes, the last first: COUNT sums with weights 1, 16 and 256, as the bits of a positive float.
    template <int COUNT> static DEVICE int joined(const float *sums) {
        const float two = fused(sums[4], 16 * UNIT, fused(sums[0], UNIT, MAGIC));
        return bits_of(COUNT == 2 ? two : fused(sums[8], 256 * UNIT, two));
    }

    // As MmaSync::products: three or four classes at a time, the last ones first. What is kept apart in a last step are classes 2 to 0.
    template <bool WHOLE, int HALF, class Step, int UNITS, class Matrix>
    static DEVICE void products(Rounded (&rounded)[UNITS], const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix, const Factors &factors, int place) {
        static_assert(Step::PRODUCT == Product::FP8, "nibbles");
        unsigned low[UNITS][4];
        const auto each = [](const auto &work) {
#pragma unroll
            for (int u = 0; u < UNITS; u++)
#pragma unroll
                for (int e = 0; e < 4; e++) work(u, e);
        };
        {
            float c[UNITS][16];
            multiply<16, 4>(c, digits, matrix);
            each([&](int u, int e) {
                // Over 128, rounded; class 15 is biased by whole units, which rounding leaves as they are.
                const float rest = fused(c[u][4 + e], UNIT / 8, fused(c[u][e], UNIT / 128, HALF / 128.0f));
                const float whole = sum_downwards(rest, MAGIC);
                low[u][e] = (unsigned)bits_of(fused(c[u][12 + e], 32 * UNIT, fused(c[u][8 + e], 2 * UNIT, whole)));
            });
        }
        scheduling_barrier(factors.first, place + 6);
        {
            float c[UNITS][16];
            multiply<12, 4>(c, digits, matrix);
            each([&](int u, int e) {
                // 512 times the constant is 2^31 modulo 2^32: the sum is that of an unsigned word.
                const unsigned lowest = low[u][e] + 512u * (unsigned)joined<2>(&c[u][e]);
                rounded[u].sum[e] = product(joined<2>(&c[u][8 + e]), factors.first, (i64)(u64)lowest);
            });
        }
        scheduling_barrier(factors.first, place + 4);
        {
            float c[UNITS][12];
            multiply<8, 3>(c, digits, matrix);
            each([&](int u, int e) { rounded[u].sum[e] = product(joined<3>(&c[u][e]), factors.second, rounded[u].sum[e]); });
        }
        scheduling_barrier(factors.first, place + 2);
        {
            float c[UNITS][12];
            multiply<5, 3>(c, digits, matrix);
            each([&](int u, int e) { rounded[u].sum[e] += join(0, 32u * (unsigned)joined<3>(&c[u][e])); });
        }
        scheduling_barrier(factors.first, place + 0);
        float c[UNITS][12];
        multiply<2, 3>(c, digits, matrix);
        each([&](int u, int e) {
            const int top = joined<3>(&c[u][e]);
            if (WHOLE) rounded[u].sum[e] += join(0, 131072u * (unsigned)top);
            rounded[u].top[e] = WHOLE ? 0 : top;
        });
    }
};

// Numbers of f64, their digits multiplied in fp8.
struct DoubleFp8 : Double {
    static constexpr Product PRODUCT = Product::FP8;
    typedef MmaSyncFp8 Mma;
};

}  // namespace bailey
