// Lines in digits of 8 bits: `ozaki_two_level` of the crate `floats` in the frame of float_lines.cuh, with the same bits.
//
// All numbers of a line are integers of 32 bits under one exponent, cut into four digits of at most 128, which bf16 holds.
// Products of digits with the same weight have sums that an f32 keeps, however it is aligned or rounded: at most
// 4 · 64 · 2^14 = 2^22. Sums of four weights make up an integer in a double, which is rotated there. The next exponent is that of
// the largest number of the line, so rotated numbers wait in shared memory, each where the lane that wrote it reads it again.
#pragma once
#include "floats/float_lines.cuh"

namespace float_digits {

using float_lines::INFINITE;
using float_lines::NOT_FINITE;
using float_lines::times_power;

constexpr int DIGITS = 4;
// Adding these leaves the nearest integer in the last bits, ties to even.
constexpr float SHIFT = 12582912.0f;
constexpr double WIDE_SHIFT = 6755399441055744.0;

// Tables as those of float_lines.cuh, but roots are doubles: [tile][column][first or second].
template <int N1, int N2> struct Tables : float_lines::Tables<N1, N2, DIGITS> {
    using Base = float_lines::Tables<N1, N2, DIGITS>;
    static constexpr int ENTRIES = Base::FIRST + Base::SECOND + 2 * Base::ROOTS;

    DEVICE static uint32_t roots(uint32_t tables, int tile, int column, int i) {
        return tables + 16 * (Base::FIRST + Base::SECOND + 32 * (2 * (tile * Base::COLUMNS + column) + i));
    }
};

DEVICE double2 load_doubles(uint32_t at) {
    const uint4 bits = load_shared(at);
    return make_double2(__hiloint2double((int)bits.y, (int)bits.x), __hiloint2double((int)bits.w, (int)bits.z));
}
DEVICE void store_doubles(uint32_t at, double2 value) {
    store_shared(at, make_uint4((unsigned)__double2loint(value.x), (unsigned)__double2hiint(value.x), (unsigned)__double2loint(value.y),
                                (unsigned)__double2hiint(value.y)));
}

// The nearest integer to a number below 2^22.
DEVICE float nearest(float x) { return (x + SHIFT) - SHIFT; }

// The lower three digits of an integer of at most 2^23.
DEVICE void lower_digits(float rest, float (&digits)[DIGITS]) {
    digits[1] = arithmetic::fused(rest, 1.0f / 65536, SHIFT) - SHIFT;
    rest = arithmetic::fused(digits[1], -65536.0f, rest);
    digits[2] = arithmetic::fused(rest, 1.0f / 256, SHIFT) - SHIFT;
    digits[3] = arithmetic::fused(digits[2], -256.0f, rest);
}

// The digits of the integer nearest to a number of at most 2^31, the highest first.
DEVICE void digits_of(float value, float (&digits)[DIGITS]) {
    const float integer = to_integer(value);
    digits[0] = arithmetic::fused(integer, 1.0f / 16777216, SHIFT) - SHIFT;
    lower_digits(arithmetic::fused(digits[0], -16777216.0f, integer), digits);
}
DEVICE void digits_of(double value, double factor, float (&digits)[DIGITS]) {
    const double shifted = __fma_rn(value, factor, WIDE_SHIFT);
    const double upper = __fma_rn(shifted - WIDE_SHIFT, 1.0 / 16777216, WIDE_SHIFT);
    // Lowest bits are those of the integers.
    const int digit = __double2loint(upper);
    const int rest = (int)((unsigned)__double2loint(shifted) - ((unsigned)digit << 24));
    digits[0] = (float)digit;
    lower_digits((float)rest, digits);
}

// Sums of four weights as one integer, exactly: each is an integer of at most 2^22, the first of the highest weight.
DEVICE double together(float s0, float s1, float s2, float s3) {
    const auto integer = [](float sum) { return arithmetic::bits_of(sum + SHIFT) - 0x4b400000; };
    const auto wide = [](int value) { return __hiloint2double(0x43300000, (int)((unsigned)value ^ 0x80000000u)) - 4503601774854144.0; };
    return __fma_rn(wide(integer(s0) * 256 + integer(s1)), 65536.0, wide(integer(s2) * 256 + integer(s3)));
}

template <int N1, int N2, int LINES> struct Warp {
    using T = Tables<N1, N2>;
    using Frame = float_lines::Warp<Format::BF16, 1, N1, N2, LINES>;
    static constexpr int PAIRS = Frame::PAIRS;
    static constexpr bool TWO_LINES = Frame::TWO_LINES;

    uint32_t data[DIGITS][LINES][T::COLUMNS][T::DEPTH][2];
    uint32_t middle[DIGITS][PAIRS][T::COLUMNS][4];
    // Of line i in lane i: the exponent of its largest number, then that of results.
    int exponent;

    DEVICE static void set(uint32_t (&to)[DIGITS], const float (&re)[DIGITS], const float (&im)[DIGITS]) {
#pragma unroll
        for (int digit = 0; digit < DIGITS; digit++) to[digit] = to_pair<Format::BF16>(re[digit], im[digit]);
    }

    DEVICE void cut(Frame &frame, int lane) {
        exponent = 0;
#pragma unroll
        for (int line = 0; line < LINES; line++) {
            const unsigned largest = frame.largest(line);
            int found = 0;
            if (largest >= INFINITE) {
                found = NOT_FINITE;
            } else if (largest != 0) {
                found = largest >> 23 != 0 ? (int)(largest >> 23) - 127 : -118 - leading_zeros_of_half(largest);
            }
            exponent = lane == line ? found : exponent;
            const int power = found == NOT_FINITE ? 0 : 30 - found;
#pragma unroll
            for (int depth = 0; depth < T::DEPTH; depth++)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int column = 0; column < T::COLUMNS; column++) {
                        const float2 value = frame.points[line][depth][i][column];
                        float re[DIGITS], im[DIGITS];
                        digits_of(times_power(value.x, power), re);
                        digits_of(times_power(value.y, power), im);
                        uint32_t pairs[DIGITS];
                        set(pairs, re, im);
#pragma unroll
                        for (int digit = 0; digit < DIGITS; digit++) data[digit][line][column][depth][i] = pairs[digit];
                    }
        }
    }

    // DFTs over j1 and rotations, into memory of the warp; then their digits.
    DEVICE void first_product(uint32_t tables, uint32_t own, int lane) {
        unsigned largest[LINES] = {};
        constexpr int TOGETHER = T::COLUMNS < 2 || LINES * N1 * N2 == 1024 ? 1 : 2;
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++)
#pragma unroll
            for (int half = 0; half < 2; half++)
#pragma unroll
                for (int start = 0; start < T::COLUMNS; start += TOGETHER) {
                    const int line = Frame::line_of(pair, half), tile = Frame::tile_of(pair, half);
                    float sums[TOGETHER][DIGITS][4] = {};
#pragma unroll
                    for (int depth = 0; depth < T::DEPTH; depth++)
#pragma unroll
                        for (int digit = 0; digit < DIGITS; digit++) {
                            const uint4 rows = load_shared(T::first(tables, digit, tile, depth));
                            const uint32_t a[4] = {rows.x, rows.y, rows.z, rows.w};
#pragma unroll
                            for (int i = 0; i < TOGETHER; i++)
#pragma unroll
                                for (int other = 0; other + digit < DIGITS; other++) {
                                    const uint32_t(&b)[2] = data[other][line][start + i][depth];
                                    mma_floats<Format::BF16>(sums[i][digit + other], a, b[0], b[1]);
                                }
                        }
#pragma unroll
                    for (int i = 0; i < TOGETHER; i++)
#pragma unroll
                        for (int j = 0; j < 2; j++) {
                            const float(&s)[DIGITS][4] = sums[i];
                            const double re = together(s[0][j], s[1][j], s[2][j], s[3][j]);
                            const double im = together(s[0][2 + j], s[1][2 + j], s[2][2 + j], s[3][2 + j]);
                            const double2 by = load_doubles(T::roots(tables, tile, start + i, j));
                            const double2 rotated = make_double2(__fma_rn(re, by.x, -unfused(im, by.y)), __fma_rn(re, by.y, unfused(im, by.x)));
                            const unsigned high_re = (unsigned)__double2hiint(rotated.x) & 0x7fffffffu;
                            const unsigned high_im = (unsigned)__double2hiint(rotated.y) & 0x7fffffffu;
                            largest[line] = max(largest[line], max(high_re, high_im));
                            store_doubles(own + 512 * (((pair * T::COLUMNS + start + i) * 2 + j) * 2 + half), rotated);
                        }
                }
        const int before = exponent;
#pragma unroll
        for (int line = 0; line < LINES; line++) {
            largest[line] = warp_maximum(largest[line]);
            // Results are in units of the sums' lowest weight: 2^-37 twice, over 2^30 for both exponents.
            const int found = largest[line] != 0 ? (int)(largest[line] >> 20) - 1023 : 0;
            exponent = lane == line && before != NOT_FINITE ? before + found - 74 : exponent;
        }
        warp_barrier();
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const unsigned high = largest[Frame::line_of(pair, half)];
                const int found = high != 0 ? (int)(high >> 20) - 1023 : 0;
                const double factor = __hiloint2double((1023 + 30 - found) << 20, 0);
#pragma unroll
                for (int column = 0; column < T::COLUMNS; column++)
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        const double2 value = load_doubles(own + 512 * (((pair * T::COLUMNS + column) * 2 + j) * 2 + half));
                        float re[DIGITS], im[DIGITS];
                        digits_of(value.x, factor, re);
                        digits_of(value.y, factor, im);
                        uint32_t pairs[DIGITS];
                        set(pairs, re, im);
#pragma unroll
                        for (int digit = 0; digit < DIGITS; digit++) middle[digit][pair][column][2 * j + half] = pairs[digit];
                    }
            }
        // The next lines are written to the same place.
        warp_barrier();
    }

    DEVICE static float result(double sum, int power) {
        if (power == NOT_FINITE) return arithmetic::from_bits(0x7fc00000u);
        return (float)unfused(sum, __hiloint2double((1023 + power) << 20, 0));
    }

    // DFTs over j2.
    DEVICE void second_product(const FloatTask &task, u64 first_line, uint32_t tables, int lane) {
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++)
#pragma unroll 1
            for (int outputs = 0; outputs < T::COLUMNS; outputs++) {
                float sums[2][DIGITS][4] = {};
#pragma unroll
                for (int depth = 0; depth < T::COLUMNS; depth++)
#pragma unroll
                    for (int digit = 0; digit < DIGITS; digit++) {
                        const uint4 columns = load_shared(T::second(tables, digit, depth, outputs));
#pragma unroll
                        for (int other = 0; other + digit < DIGITS; other++) {
                            const uint32_t(&a)[4] = middle[other][pair][depth];
                            mma_floats<Format::BF16>(sums[0][digit + other], a, columns.x, columns.y);
                            mma_floats<Format::BF16>(sums[1][digit + other], a, columns.z, columns.w);
                        }
                    }
                int powers[2];
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int found = shuffle(exponent, Frame::line_of(pair, half));
                    powers[half] = found == NOT_FINITE ? NOT_FINITE : found + task.power;
                }
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float(&s)[DIGITS][4] = sums[j];
                    float values[4];
#pragma unroll
                    for (int i = 0; i < 4; i++) values[i] = result(together(s[0][i], s[1][i], s[2][i], s[3][i]), powers[i / 2]);
                    Frame::store(task, first_line, pair, 4 * (2 * outputs + j) + t, g, values);
                }
            }
    }
};

template <int N1, int N2, int LINES> DEVICE void run(const FloatTask &task) {
    using T = Tables<N1, N2>;
    float_lines::load_tables(task.tables, T::ENTRIES);
    const int lane = (int)(threadIdx.x % 32);
    const uint32_t tables = shared_address(shared_memory()) + 16 * lane;
    const unsigned warps = blockDim.x / 32, number = threadIdx.x / 32;
    const uint32_t own = tables + 16 * T::ENTRIES + 16 * N1 * N2 * LINES * number;
    for (u64 first = (u64)LINES * (blockIdx.x * warps + number); first < task.lines; first += (u64)LINES * warps * gridDim.x) {
        Warp<N1, N2, LINES> warp;
        {
            float_lines::Warp<Format::BF16, 1, N1, N2, LINES> frame;
            frame.read(task, first, lane);
            warp.cut(frame, lane);
        }
        warp.first_product(tables, own, lane);
        warp.second_product(task, first, tables, lane);
    }
}

}  // namespace float_digits
