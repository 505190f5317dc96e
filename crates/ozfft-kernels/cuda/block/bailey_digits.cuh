// The digits of a step's words as the tensor instruction's first operand, and their products with the digits of a matrix.
#pragma once
#include "block/bailey_shape.cuh"
#include "arch/bailey_instructions.cuh"
#include "hopper/tuned_block.cuh"

namespace bailey {

using namespace tuned;

// The digits of a column's words: row g of the operand has real parts, row g + 8 imaginary ones. Biased by 128 to unsigned
// bytes; what that adds to sums is a constant of every output. With a diagonal more than digits they are signed. (bailey_fp8.cuh and bailey_f16.cuh have them otherwise, bailey_wgmma.cuh the same.)
template <class Step, Product PRODUCT = Step::PRODUCT> struct StepDigits {
    static constexpr int K_TILES = Step::K_TILES, FOURS = Step::FOURS;
    unsigned low[K_TILES > 0 ? K_TILES : 1][4], high[K_TILES > 0 ? K_TILES : 1][4], both[4];

    // Word number q of this thread, that of slot 4q + t. Fewer digits are the topmost of eight.
    DEVICE void put(int q, i64 re, i64 im) {
        if (Step::DIGITS < 8) {
            re = (i64)((u64)re << (64 - 8 * Step::DIGITS));
            im = (i64)((u64)im << (64 - 8 * Step::DIGITS));
        }
        const int s = q / 2, e = 2 * (q % 2);
        if (s < K_TILES) {
            take(re, low[s][e], high[s][e]);
            take(im, low[s][e + 1], high[s][e + 1]);
        } else {
            take(re, both[2], both[0]);
            take(im, both[3], both[1]);
        }
    }
    static DEVICE void take(i64 word, unsigned &lower, unsigned &upper) {
        digits(word, lower, upper);
        if (Step::SIGNED) {
            lower ^= BIAS;
            upper ^= BIAS;
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

    template <class Step> static DEVICE void product_of(int (&sums)[8], int at, const unsigned (&digits)[4], const unsigned (&column)[2], bool first) {
        if constexpr (Step::SIGNED)
            mma_sync_s8(sums, at, digits, column, first);
        else
            mma_sync_u8(sums, at, digits, column, first);
    }

    // Diagonals D and D + 1 of eight outputs, D even; `matrix` is the lane's.
    template <int D, class Step, int UNITS, class Matrix>
    static DEVICE void multiply(Sums<UNITS> &sums, const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix) {
        constexpr bool LOWER = D >= 4;
        constexpr int OPERANDS = LOWER ? Step::LOWER : Step::UPPER, PIECE = LOWER ? Step::LOWER_PIECE : Step::UPPER_PIECE;
        constexpr int START = (LOWER ? Step::UPPER_PIECE * Step::UPPER : 0) + 512 * (D % 4 / 2);
#pragma unroll
        for (int i = 0; i < OPERANDS; i++) {
            const uint4 fragments = matrix.entry(START + PIECE * i);
            const unsigned even[2] = {fragments.x, fragments.y}, odd[2] = {fragments.z, fragments.w};
#pragma unroll
            for (int u = 0; u < UNITS; u++) {
                product_of<Step>(sums.sums[u], 0, operand<LOWER>(digits[u], i), even, i == 0);
                product_of<Step>(sums.sums[u], 4, operand<LOWER>(digits[u], i), odd, i == 0);
            }
        }
    }

    // Diagonal D alone, D even, which is the last: the first four of the sums.
    template <int D, class Step, int UNITS, class Matrix>
    static DEVICE void multiply_last(Sums<UNITS> &sums, const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix) {
        constexpr bool LOWER = D >= 4;
        constexpr int OPERANDS = LOWER ? Step::LOWER : Step::UPPER, PIECE = LOWER ? Step::LOWER_PIECE : Step::UPPER_PIECE;
        constexpr int START = (LOWER ? Step::UPPER_PIECE * Step::UPPER : 0) + 512 * (D % 4 / 2);
        // `matrix` is where a lane has 16 bytes of a fragment; it has 8 of these.
        const auto last = matrix.later(START - 8 * (thread_number() & 31));
#pragma unroll
        for (int i = 0; i < OPERANDS; i++) {
            const uint2 fragment = last.half(PIECE * i);
            const unsigned column[2] = {fragment.x, fragment.y};
#pragma unroll
            for (int u = 0; u < UNITS; u++) product_of<Step>(sums.sums[u], 0, operand<LOWER>(digits[u], i), column, i == 0);
        }
    }

    // What the diagonals of one sum are put together in: low + middle·2^17 + high·2^33. Two neighbouring diagonals of signed digits fit 32 bits: 32
    // slots of up to seven products of 2^14, 256 times and once, are below 2^30. Of biased digits a test of the tables looks at all steps.
    struct Pieces {
        int low, middle;
        unsigned high;
        // Diagonal number FROM_LAST, counted from the last one, which is number 0 and comes first. LOWER: the last one is below the unit.
        template <int FROM_LAST, bool LOWER> DEVICE void add(int diagonal) {
            constexpr int PLACE = FROM_LAST - (LOWER ? 1 : 0);
            if (PLACE == -1) low = diagonal;
            if (PLACE == 0) low = LOWER ? (low + 256 * diagonal + (1 << 14)) >> 15 : (diagonal + 64) >> 7;
            if (PLACE == 1) low += 2 * diagonal;
            if (PLACE == 2) low += 512 * diagonal;
            if (PLACE == 3) middle = diagonal;
            if (PLACE == 4) middle += 256 * diagonal;
            if (PLACE == 5) high = (unsigned)diagonal;
            if (PLACE == 6) high += 256u * (unsigned)diagonal;
        }
        // Of so many digits.
        template <int DIGITS> DEVICE i64 whole(const Factors &factors) const {
            if (DIGITS == 3) return low;
            const i64 sum = product(middle, factors.first, low);
            return DIGITS < 6 ? sum : join(low_of(sum), high_of(sum) + 2 * high);
        }
    };

    // Diagonals D - 1 to 0, two at a time.
    template <int D, class Step, int UNITS, class Matrix>
    static DEVICE void add_diagonals(Pieces (&pieces)[UNITS][4], const StepDigits<Step> (&digits)[UNITS], const Matrix &matrix, const Factors &factors, int place) {
        if constexpr (D > 0) {
            constexpr int FIRST = (D - 1) / 2 * 2;
            Sums<UNITS> d;
            if constexpr (D % 2 == 1)
                multiply_last<FIRST>(d, digits, matrix);
            else
                multiply<FIRST>(d, digits, matrix);
#pragma unroll
            for (int u = 0; u < UNITS; u++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    if constexpr (D % 2 == 0) pieces[u][e].template add<Step::DIAGONALS - D, Step::SIGNED>(d.sums[u][4 + e]);
                    pieces[u][e].template add<Step::DIAGONALS - 1 - FIRST, Step::SIGNED>(d.sums[u][e]);
                }
            if constexpr (FIRST > 0) scheduling_barrier(factors.first, place + FIRST - 2);
            add_diagonals<FIRST>(pieces, digits, matrix, factors, place);
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
        if constexpr (Step::DIGITS < 8) {
            // Sums fit 64 bits as they are.
            Pieces pieces[UNITS][4];
            add_diagonals<Step::DIAGONALS>(pieces, digits, matrix, factors, place);
#pragma unroll
            for (int u = 0; u < UNITS; u++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    rounded[u].sum[e] = pieces[u][e].template whole<Step::DIGITS>(factors);
                    rounded[u].top[e] = 0;
                }
            return;
        }
        Sums<UNITS> d;
        int low[UNITS][4], middle[UNITS][4];
        unsigned high[UNITS][4];
        const auto each = [&](const auto &work) {
#pragma unroll
            for (int u = 0; u < UNITS; u++)
#pragma unroll
                for (int e = 0; e < 4; e++) work(u, e, d.sums[u][e], d.sums[u][4 + e]);
        };
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

// `rotate` for words of so many bits, before which a step may have put a bit more. Of 32-bit integers the upper signed half is 0, and with it three
// products of four.
template <int WORD_BITS> DEVICE void rotate_words(i64 &re, i64 &im, const uint4 &angle, const Factors &factors) {
    if constexpr (WORD_BITS > 29) {
        rotate(re, im, angle, factors);
    } else {
        const int re_low = (int)low_of(re), im_low = (int)low_of(im);
        const int real_high = (int)angle.x, imaginary_high = (int)angle.z, minus_imaginary_high = -imaginary_high;
        const i64 turned_re = product(im_low, minus_imaginary_high, product(re_low, real_high, factors.half));
        const i64 turned_im = product(im_low, real_high, product(re_low, imaginary_high, factors.half));
        re = turned_re >> 30;
        im = turned_im >> 30;
    }
}

// What numbers have in common whose digits are multiplied so.
struct OnInt8 {
    static constexpr Product PRODUCT = Product::INT8;
    typedef MmaSync Mma;
};

}  // namespace bailey
