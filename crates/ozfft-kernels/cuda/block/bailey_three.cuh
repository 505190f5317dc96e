// Blocks of three steps: a step between the first and the last one takes words from shared memory and puts them back there. All
// three are products, and the last two have odd numbers of points (of the lengths up to 1024: 343, 539, 605, 637, 686, 715, …). The
// same for passes of longer transforms.
#pragma once
#include "block/bailey_block.cuh"

namespace bailey {

// The tables of three steps (executor/cuda/tables/bailey_tables.rs): as those of two, with the middle one's between them.
template <int N1, int N2, int N3> struct TablesOfThree {
    typedef StepShape<N1> First;
    typedef StepShape<N2> Middle;
    typedef StepShape<N3> Last;
    static constexpr int COSINE1 = 0, SINE1 = First::MATRIX_BYTES;
    static constexpr int MIDDLE_COSINE = 2 * First::MATRIX_BYTES, MIDDLE_SINE = MIDDLE_COSINE + Middle::MATRIX_BYTES;
    static constexpr int COSINE2 = MIDDLE_SINE + Middle::MATRIX_BYTES, SINE2 = COSINE2 + Last::MATRIX_BYTES;
    static constexpr int CONSTANTS1 = SINE2 + Last::MATRIX_BYTES;
    static constexpr int FIRST_CONSTANTS = CONSTANTS1 + 128 * First::TILES;
    static constexpr int MIDDLE_CONSTANTS = FIRST_CONSTANTS + 128;
    static constexpr int MIDDLE_TOPS = MIDDLE_CONSTANTS + 128 * Middle::TILES;
    static constexpr int CONSTANTS2 = MIDDLE_TOPS + 64 * Middle::TILES;
    static constexpr int TOPS2 = CONSTANTS2 + 128 * Last::TILES;
    static constexpr int ROTATIONS = TOPS2 + 64 * Last::TILES;
    static constexpr int ANGLES = N2 * N3 / 2 + 1;  // of an output of the first step
    static constexpr int MIDDLE_ROTATIONS = ROTATIONS + 16 * (N1 / 2 + 1) * ANGLES;
    static constexpr int BYTES = MIDDLE_ROTATIONS + 16 * N2 * N3;
};

// `Base`: a block, or a pass, whose last step has N2 · N3 points; the first step sees as many columns.
template <class Base, int N1, int N2, int N3> struct OfThree : Base {
    typedef StepShape<N2> Middle;
    typedef StepShape<N3> Last;
    typedef TablesOfThree<N1, N2, N3> Tables;
    static constexpr int MIDDLE = N2, LAST = N3;
    // Columns of the middle step, and rows of the last one.
    static constexpr int MIDDLE_COLUMNS = Base::LINES * N1 * N3, ROWS_OF_LINE = N1 * N2, ROWS = Base::LINES * ROWS_OF_LINE;
    // Bits by which the middle step's outputs are shifted down: as many as make up for its growth.
    static constexpr int SHIFT = N2 <= 4 ? 2 : N2 <= 8 ? 3 : N2 <= 16 ? 4 : N2 <= 32 ? 5 : 6;
    static constexpr int SHARED = Base::TABLES + (Base::SHARED_TABLES ? Tables::BYTES : 0);
    static_assert(Base::N1 == N1 && Base::N2 == N2 * N3, "the same steps");
    static_assert(Middle::PLAIN && Last::PLAIN && Base::SHARED_TABLES, "odd numbers of points");
    // Outputs lie where the row of the last step was that they come from.
    static DEVICE int place_of_output(int k1, int output) {
        const unsigned place = 2 * k1 > N1 ? N2 * N3 - 1 - output : output;
        return (int)(place % N2 * N3 + place / N2);
    }
};

template <int N1, int N2, int N3, int LINES, int UNITS1, int UNITS2, bool STRIDED, int GROUPS>
using ThreeShape = OfThree<BlockShape<N1, N2 * N3, LINES, UNITS1, UNITS2, STRIDED, GROUPS>, N1, N2, N3>;

// A sum and what it has at weight 2^49, less their biases, shifted down: rounded, halves upwards.
template <int SHIFT> DEVICE i64 shifted_down(i64 sum, int top) {
    return ((sum + ((i64)1 << (SHIFT - 1))) >> SHIFT) + ((i64)top << (49 - SHIFT));
}

// Columns of the middle step: (k1, j3) of a line, neighbours of neighbouring lines or neighbours in a line. A warp reads all elements of
// its columns before it writes one.
template <class S, class Mma> DEVICE void middle_step(const TunedArguments &args) {
    typedef typename S::Middle Step;
    typedef typename S::Tables Tables;
    constexpr int N2 = S::MIDDLE, N3 = S::LAST, UNITS = S::UNITS2, COLUMNS = S::MIDDLE_COLUMNS;
    const auto tables = tables_of<S>(args);
    const Factors factors = factors_of<Int8>(args);
    struct MiddleColumn {
        int line, k1, j3;
        bool there;
        DEVICE MiddleColumn(const Lane<S> &lane, int unit) {
            const int index = 8 * unit + lane.g;
            there = index < COLUMNS;
            const Numbered<S::STRIDED, S::PANEL, S::N1 * N3> numbered(there ? index : COLUMNS - 1);
            line = numbered.line;
            k1 = (unsigned)numbered.place / N3;
            j3 = (unsigned)numbered.place % N3;
        }
    };
#pragma unroll 1
    for (int unit = Lane<S>().warp * UNITS; 8 * unit < COLUMNS; unit += S::WARPS * UNITS) {
        const Lane<S> lane;
        const int t = lane.t;
        StepDigits<Step> cosine_digits[UNITS], sine_digits[UNITS];
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            const MiddleColumn column(lane, unit + u);
            const uint32_t start = place_of(lane, column.line, column.k1, column.j3);
            const auto word = [&](int j2, i64 &re, i64 &im) {
                const uint4 word = load_shared(start + 16 * N3 * j2);
                re = join(word.x, word.y);
                // Columns beyond the middle were left without the sign of their imaginary part.
                const bool mirrored = 2 * (N3 * j2 + column.j3) > N2 * N3;
                im = mirrored ? -join(word.z, word.w) : join(word.z, word.w);
            };
#pragma unroll
            for (int q = 0; q < Step::QUADS; q++) {
                // Slots beyond the last read what lies there, and slot 0 of the sines is anything: they meet zeros of the matrix.
                const bool alone = q == 0 && t == 0;
                i64 ar, ai, br, bi;
                word(4 * q + t, ar, ai);
                word(alone ? 0 : N2 - 4 * q - t, br, bi);
                cosine_digits[u].put(q, alone ? ar : ar + br, alone ? ai : ai + bi);
                sine_digits[u].put(q, ar - br, ai - bi);
            }
            cosine_digits[u].fill();
            sine_digits[u].fill();
        }
#pragma unroll
        for (int o = 0; o < Step::TILES; o++) {
            Rounded cosine[UNITS], sine[UNITS];
            const auto matrix = tables.later(o * Step::TILE_BYTES);
            multiply<Mma, false, 0>(cosine, cosine_digits, matrix.later(Tables::MIDDLE_COSINE), factors, 100 * o + 50);
            multiply<Mma, false, 0>(sine, sine_digits, matrix.later(Tables::MIDDLE_SINE), factors, 100 * o + 60);
#pragma unroll
            for (int u = 0; u < UNITS; u++) {
                const MiddleColumn column(lane, unit + u);
                const uint32_t start = place_of(lane, column.line, column.k1, column.j3);
                const auto put = [&](bool is_one, int k, i64 re, i64 im) {
                    const uint4 angle = tables.entry(Tables::MIDDLE_ROTATIONS + 16 * (N3 * k + column.j3));
                    rotate(re, im, angle, factors);
                    if (is_one && column.there) store_shared(start + 16 * N3 * k, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                };
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const int i = 8 * o + 4 * e;
                    if (i >= Step::SLOTS) continue;
                    const bool slot = i + 4 <= Step::SLOTS || i + t < Step::SLOTS, pairs = i < Step::PAIRS;
                    const int number = i + 2 * t - 4 * e + e;
                    const uint4 biased = tables.entry(Tables::MIDDLE_CONSTANTS + 16 * number);
                    const uint2 tops = tables.half(Tables::MIDDLE_TOPS + 8 * number);
                    const auto shifted = [&](const Rounded &rounded, int part, unsigned low, unsigned high, unsigned top) {
                        return shifted_down<S::SHIFT>(rounded.sum[part] - join(low, high), rounded.top[part] - (int)top);
                    };
                    const i64 cr = shifted(cosine[u], e, biased.x, biased.y, tops.x), ci = shifted(cosine[u], 2 + e, biased.x, biased.y, tops.x);
                    // Output 0, which comes last, has no sines: rows of zeros.
                    const bool alone = i + 4 > Step::PAIRS && i + t == Step::PAIRS;
                    const i64 sr = pairs ? shifted(sine[u], e, biased.z, biased.w, tops.y) : 0;
                    const i64 si = pairs ? shifted(sine[u], 2 + e, biased.z, biased.w, tops.y) : 0;
                    const int k = !slot || alone ? 0 : i + t + 1;
                    put(slot, k, cr + si, ci - sr);
                    if (pairs) put(slot && !alone, k == 0 ? 0 : N2 - k, cr - si, ci + sr);
                }
            }
        }
    }
}

}  // namespace bailey
