// The digits of a step's words as the tensor instruction's first operand, and their products with the digits of a matrix.
#pragma once
#include "bailey_shape.cuh"
#include "bailey_instructions.cuh"
#include "tuned_block.cuh"

namespace bailey {

using namespace tuned;

// The digits of a column's words: row g of the operand has real parts, row g + 8 imaginary ones. Biased by 128 to unsigned
// bytes; what that adds to sums is a constant of every output. (bailey_fp8.cuh and bailey_f16.cuh have them otherwise, bailey_wgmma.cuh the same.)
template <class Step, Product PRODUCT = Step::PRODUCT> struct StepDigits {
    static constexpr int K_TILES = Step::K_TILES, FOURS = Step::FOURS;
    unsigned low[K_TILES > 0 ? K_TILES : 1][4], high[K_TILES > 0 ? K_TILES : 1][4], both[4];

    // Word number q of this thread, that of slot 4q + t. Five digits are the topmost of eight.
    DEVICE void put(int q, i64 re, i64 im) {
        if (Step::DIGITS == 5) {
            re = (i64)((u64)re << 24);
            im = (i64)((u64)im << 24);
        }
        const int s = q / 2, e = 2 * (q % 2);
        if (s < K_TILES) {
            digits(re, low[s][e], high[s][e]);
            digits(im, low[s][e + 1], high[s][e + 1]);
        } else {
            digits(re, both[2], both[0]);
            digits(im, both[3], both[1]);
        }
    }
    // Slots that no thread has: they meet zeros of the matrix.
    DEVICE void fill() {
        if (Step::QUADS < 2 * K_TILES) put(Step::QUADS, 0, 0);
    }
    // They are in their registers from here on.
    DEVICE void fence() {
#pragma unroll
        for (int s = 0; s < K_TILES; s++)
#pragma unroll
            for (int i = 0; i < 4; i++) compiler_fence(low[s][i], high[s][i]);
        if (FOURS) {
            compiler_fence(both[0], both[1]);
            compiler_fence(both[2], both[3]);
        }
    }
};

// Tables, by distances in bytes: in shared memory, or in the first-level cache.
template <bool SHARED> struct TablesAt {
    uint32_t start;
    DEVICE uint4 entry(int at) const { return load_shared(start + at); }
    DEVICE uint2 half(int at) const { return load_shared_two(start + at); }
    DEVICE TablesAt later(int bytes) const { return {start + bytes}; }
};
template <> struct TablesAt<false> {
    const unsigned char *start;
    DEVICE uint4 entry(int at) const { return table_entry((const uint4 *)(start + at)); }
    DEVICE uint2 half(int at) const { return table_half((const uint2 *)(start + at)); }
    DEVICE TablesAt later(int bytes) const { return {start + bytes}; }
};

// Four sums of eight diagonals put together (0, 1: real parts of two outputs, 2, 3: imaginary parts), rounded, modulo 2^64 and
// biased by their constants; in a last step the topmost diagonal is kept apart, at weight 2^49.
struct Rounded {
    i64 sum[4];
    int top[4];
};

// `mma.sync` on 8-bit integers: any GPU from compute capability 8.0 on. A fragment of the matrix is used for all units of the
// warp before the next one is loaded.
struct MmaSync {
    // Sums of two neighbouring diagonals, real and imaginary parts of two outputs each.
    template <int UNITS> struct Sums {
        int sums[UNITS][8];
    };

    // Diagonals D and D + 1 of eight outputs, D even; `matrix` is the lane's.
    template <int D, class Step, int UNITS, class Matrix>
    static DEVICE void multiply(Sums<UNITS> &sums, const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix) {
        constexpr bool LOWER = D >= 4;
        constexpr int OPERANDS = LOWER ? Step::LOWER : Step::UPPER;
        constexpr int START = 1024 * (LOWER ? Step::UPPER : 0) + 512 * (D % 4 / 2);
#pragma unroll
        for (int i = 0; i < OPERANDS; i++) {
            const uint4 fragments = matrix.entry(START + 1024 * i);
            const unsigned even[2] = {fragments.x, fragments.y}, odd[2] = {fragments.z, fragments.w};
#pragma unroll
            for (int u = 0; u < UNITS; u++) {
                mma_sync_u8(sums.sums[u], 0, operand<LOWER>(digits[u], i), even, i == 0);
                mma_sync_u8(sums.sums[u], 4, operand<LOWER>(digits[u], i), odd, i == 0);
            }
        }
    }

    // The fifth diagonal alone, where that is the last: the first four of the sums.
    template <class Step, int UNITS, class Matrix>
    static DEVICE void multiply_last(Sums<UNITS> &sums, const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix) {
        // `matrix` is where a lane has 16 bytes of a fragment; it has 8 of these.
        const auto lower = matrix.later(1024 * Step::UPPER - 8 * (thread_number() & 31));
#pragma unroll
        for (int i = 0; i < Step::LOWER; i++) {
            const uint2 fragment = lower.half(256 * i);
            const unsigned fifth[2] = {fragment.x, fragment.y};
#pragma unroll
            for (int u = 0; u < UNITS; u++) mma_sync_u8(sums.sums[u], 0, operand<true>(digits[u], i), fifth, i == 0);
        }
    }

    // Operand number i: upper digits, then, of the lower diagonals, lower ones, then the rest of four slots with both.
    template <bool LOWER, class Step> static DEVICE const unsigned (&operand(const StepDigits<Step> &words, int i))[4] {
        constexpr int K_TILES = Step::K_TILES;
        return i < K_TILES ? words.high[i < K_TILES ? i : 0] : LOWER && i < 2 * K_TILES ? words.low[i - K_TILES < K_TILES ? i - K_TILES : 0] : words.both;
    }

    // The products of eight outputs with the columns of all units: two diagonals at a time, the last ones first, so that few sums
    // are in registers at once. The compiler must be kept from mixing them: it runs out of registers. For `place` and
    // HALF see below.
    template <bool WHOLE, int HALF, class Step, int UNITS, class Matrix>
    static DEVICE void products(Rounded (&rounded)[UNITS], const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix, const Factors &factors, int place) {
        Sums<UNITS> d;
        int low[UNITS][4], middle[UNITS][4];
        unsigned high[UNITS][4];
        const auto each = [&](const auto &work) {
#pragma unroll
            for (int u = 0; u < UNITS; u++)
#pragma unroll
                for (int e = 0; e < 4; e++) work(u, e, d.sums[u][e], d.sums[u][4 + e]);
        };
        if constexpr (Step::DIGITS == 5) {
            // Sums fit 64 bits as they are.
            multiply_last(d, digits, matrix);
            each([&](int u, int e, int d4, int) { low[u][e] = (d4 + 64) >> 7; });
            scheduling_barrier(factors.first, place + 2);
            multiply<2>(d, digits, matrix);
            each([&](int u, int e, int d2, int d3) { low[u][e] += 2 * (d3 + 256 * d2); });
            scheduling_barrier(factors.first, place + 0);
            multiply<0>(d, digits, matrix);
            each([&](int u, int e, int d0, int d1) {
                rounded[u].sum[e] = product(d1 + 256 * d0, factors.first, low[u][e]);
                rounded[u].top[e] = 0;
            });
            return;
        }
        multiply<6>(d, digits, matrix);
        each([&](int u, int e, int d6, int d7) { low[u][e] = ((d7 + HALF) >> 7) + 2 * d6; });
        scheduling_barrier(factors.first, place + 4);
        multiply<4>(d, digits, matrix);
        each([&](int u, int e, int d4, int d5) {
            low[u][e] += 512 * d5;
            middle[u][e] = d4;
        });
        scheduling_barrier(factors.first, place + 2);
        multiply<2>(d, digits, matrix);
        each([&](int u, int e, int d2, int d3) {
            middle[u][e] += 256 * d3;
            high[u][e] = (unsigned)d2;
        });
        scheduling_barrier(factors.first, place + 0);
        multiply<0>(d, digits, matrix);
        each([&](int u, int e, int d0, int d1) {
            high[u][e] += 256u * (unsigned)d1;
            if (WHOLE) high[u][e] += 65536u * (unsigned)d0;
            const i64 sum = product(middle[u][e], factors.first, low[u][e]);
            rounded[u].sum[e] = join(low_of(sum), high_of(sum) + 2 * high[u][e]);
            rounded[u].top[e] = WHOLE ? 0 : d0;
        });
    }
};

// The products of eight outputs with the columns of all units, put together. `place` is another number for every call. HALF: 0 where sums are
// rounded later, by more bits.
template <class Mma, bool WHOLE, int HALF = 64, class Step, int UNITS, class Matrix>
DEVICE void multiply(Rounded (&rounded)[UNITS], StepDigits<Step> (&digits)[UNITS], const Matrix &matrix, const Factors &factors, int place) {
    // Tensor instructions are for whole warps: threads that took different branches come together first.
    warp_barrier();
    // Those of four warps read the matrix as a whole; else a lane has its 16 bytes of every fragment.
    if constexpr (Step::PRODUCT == Product::WGMMA)
        Mma::template products<WHOLE, HALF>(rounded, digits, matrix, factors, place);
    else
        Mma::template products<WHOLE, HALF>(rounded, digits, matrix.later(16 * (thread_number() & 31)), factors, place);
}

// What numbers have in common whose digits are multiplied so.
struct OnInt8 {
    static constexpr Product PRODUCT = Product::INT8;
    typedef MmaSync Mma;
};

}  // namespace bailey
