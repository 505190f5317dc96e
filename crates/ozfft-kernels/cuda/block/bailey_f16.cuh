// Products of the template in f16 (`mma.sync`, compute capability 8.0 and later): the same integers as those of int8, from the same digits. A biased digit, 0 to
// 255, is a number of f16 as it is, so many times 2^-24; digits of a matrix are integers. Sums are integers in the bits of an f32 (mma_sync_f16.cuh): what their
// start adds is a constant of every output, as what digits are biased by.
//
// An operand has two neighbouring digits of eight slots, or four of the last four slots. What it meets on diagonal d are the digits of the matrix of column d, if
// its digits are the topmost; of digits number 2p on, or 4h on, those of column d - 2p, or d - 4h. So there are eight columns, from which all operands of a tile of
// slots take theirs.
#pragma once
#include "block/bailey_block.cuh"
#include "arch/mma_sync_f16.cuh"

namespace bailey {

// Digits of a column's words: [tile of eight slots][pair of digits], and of the last four slots [upper, lower four]; the topmost digits first.
template <class Step> struct StepDigits<Step, Product::F16> {
    static constexpr int K_TILES = Step::K_TILES, FOURS = Step::FOURS;
    unsigned pairs[K_TILES > 0 ? K_TILES : 1][4][4], fours[2][4];

    // Word number q of this thread, that of slot 4q + t.
    DEVICE void put(int q, i64 re, i64 im) {
        put_part(q, re, 0);
        put_part(q, im, 1);
    }
    // Slots that no thread has: they meet zeros of the matrix.
    DEVICE void fill() {
        if (Step::QUADS < 2 * K_TILES) put(Step::QUADS, 0, 0);
    }
    DEVICE void put_part(int q, i64 word, int part) {
        unsigned low, high;
        digits(word, low, high);
        const int s = q / 2;
#pragma unroll
        for (int p = 0; p < 4; p++) {
            const unsigned two = chosen_bytes(p < 2 ? high : low, 0, p % 2 == 0 ? 0x4342 : 0x4140);
            if (s < K_TILES)
                pairs[s][p][2 * (q % 2) + part] = two;
            else
                fours[p / 2][2 * (p % 2) + part] = two;
        }
    }
};

struct MmaSyncF16 {
    // COUNT diagonals from FIRST on, both even, of eight outputs: real and imaginary parts of two outputs each. `matrix` is the lane's, which has 16 bytes of every
    // two columns of a piece; they are used for all units of the warp, and for all operands, before the next ones are loaded.
    template <int FIRST, int COUNT, class Step, int UNITS, class Matrix>
    static DEVICE void multiply(int (&sums)[UNITS][4 * COUNT], const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix) {
#pragma unroll
        for (int piece = 0; piece < Step::UPPER; piece++) {
            const bool eights = piece < Step::K_TILES;
#pragma unroll
            for (int columns = 0; columns < FIRST + COUNT; columns += 2) {
                // Digits that are met by these columns on the diagonals.
                bool any = false;
                for (int digit = 0; digit < 8; digit += eights ? 2 : 4) any |= columns + digit >= FIRST && columns + digit < FIRST + COUNT;
                if (!any) continue;
                const uint4 fragments = matrix.entry(2048 * piece + 256 * columns);
                const unsigned even[2] = {fragments.x, fragments.y}, odd[2] = {fragments.z, fragments.w};
#pragma unroll
                for (int digit = 0; digit < 8; digit += eights ? 2 : 4) {
                    const int diagonal = columns + digit;
                    if (diagonal < FIRST || diagonal >= FIRST + COUNT) continue;
                    const bool first = piece == 0 && (eights ? columns == 0 : columns < 4 && (diagonal < 4 || columns == diagonal - 4));
#pragma unroll
                    for (int u = 0; u < UNITS; u++) {
                        const unsigned(&operand)[4] = eights ? digits[u].pairs[eights ? piece : 0][digit / 2] : digits[u].fours[digit / 4];
                        mma_sync_f16(sums[u], 4 * (diagonal - FIRST), operand, even, first);
                        mma_sync_f16(sums[u], 4 * (diagonal - FIRST) + 4, operand, odd, first);
                    }
                }
            }
        }
    }

    // As MmaSync::products: AT_ONCE diagonals at a time, the last ones first. Sums are counted modulo 2^32 where what they begin with leaves 32 bits.
    template <bool WHOLE, int HALF, class Step, int UNITS, class Matrix>
    static DEVICE void products(Rounded (&rounded)[UNITS], const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix, const Factors &factors, int place) {
        static_assert(Step::PRODUCT == Product::F16, "pairs of digits");
        unsigned low[UNITS][4], middle[UNITS][4];
        const auto each = [](const auto &work) {
#pragma unroll
            for (int u = 0; u < UNITS; u++)
#pragma unroll
                for (int e = 0; e < 4; e++) work(u, e);
        };
        {
            int d[UNITS][16];
            multiply<4, 4>(d, digits, matrix);
            each([&](int u, int e) {
                low[u][e] = (unsigned)((d[u][12 + e] + HALF) >> 7) + 2u * (unsigned)d[u][8 + e] + 512u * (unsigned)d[u][4 + e];
                middle[u][e] = (unsigned)d[u][e];
            });
        }
        scheduling_barrier(factors.first, place + 0);
        int d[UNITS][16];
        multiply<0, 4>(d, digits, matrix);
        each([&](int u, int e) {
            middle[u][e] += 256u * (unsigned)d[u][12 + e];
            unsigned high = (unsigned)d[u][8 + e] + 256u * (unsigned)d[u][4 + e];
            if (WHOLE) high += 65536u * (unsigned)d[u][e];
            const i64 sum = (i64)((u64)middle[u][e] * (unsigned)factors.first) + (int)low[u][e];
            rounded[u].sum[e] = join(low_of(sum), high_of(sum) + 2 * high);
            rounded[u].top[e] = WHOLE ? 0 : d[u][e];
        });
    }
};

// Numbers of f64, their digits multiplied in f16.
struct DoubleF16 : Double {
    static constexpr Product PRODUCT = Product::F16;
    typedef MmaSyncF16 Mma;
};

}  // namespace bailey
