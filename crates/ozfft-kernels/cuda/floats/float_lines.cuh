// Lines of short floating-point numbers: the DFT as two products on the tensor unit, wholly in registers.
//
// A line x[j1][j2] of N1·N2 points is the columns' operand of the first product: lane 4g + t has x[8c + t] and x[8c + 4 + t] of the
// columns that g names, a complex number being a pair of the operand's depth. Rows of the matrix come eight real parts and
// eight imaginary parts at a time, so that a lane finds both parts of its sums in its own registers, rotates them, and has
// just the pairs that the left operand of the second product wants of it: rows are outputs k1 of two tiles, depth is j2.
// What comes out are both parts of X[k1 + N1·k2] for two neighbouring k1 and, over the lanes, consecutive ones. So no number
// is exchanged between lanes, a warp is on its own, and shared memory has only tables.
//
// Numbers are one, two or three numbers of the format each (`ozaki.rs` of the crate `floats`), and products of their parts
// are added in the order that is defined there.
#pragma once
#include "arch/mma_floats.cuh"

struct FloatTask {
    const float *input;
    float *output;
    // As `Tables` below lays them out.
    const uint4 *tables;
    u64 lines;
    // From one line to the next, in complex numbers: even.
    u64 input_distance, output_distance;
    // Results are multiplied by two to this power.
    int power;
};

namespace float_lines {

template <int N1_, int N2_, int PARTS> struct Tables {
    static constexpr int N1 = N1_, N2 = N2_;
    // Tiles of eight outputs of the first product, of its depth, and of its columns, which are the depth of the second.
    static constexpr int TILES = N1 / 8, DEPTH = N1 / 8, COLUMNS = N2 / 8;
    // First matrix [part][tile][depth], second matrix [part][depth][two tiles of four outputs], roots [tile][column]; an entry of 16 bytes
    // for every lane.
    static constexpr int FIRST = 32 * PARTS * TILES * DEPTH, SECOND = 32 * PARTS * COLUMNS * COLUMNS, ROOTS = 32 * TILES * COLUMNS;

    DEVICE static uint32_t first(uint32_t tables, int part, int tile, int depth) {
        return tables + 16 * 32 * ((part * TILES + tile) * DEPTH + depth);
    }
    DEVICE static uint32_t second(uint32_t tables, int part, int depth, int outputs) {
        return tables + 16 * (FIRST + 32 * ((part * COLUMNS + depth) * COLUMNS + outputs));
    }
    DEVICE static uint32_t roots(uint32_t tables, int tile, int column) {
        return tables + 16 * (FIRST + SECOND + 32 * (tile * COLUMNS + column));
    }
};

// Products of parts, the smallest first, as in `ozaki.rs`: which part of the data meets which of the matrix, a digit each.
template <int PARTS> struct Products {
    static constexpr int COUNT = PARTS * (PARTS + 1) / 2;
    static constexpr unsigned DATA = PARTS == 1 ? 0 : PARTS == 2 ? 0x010 : 0x010210, MATRIX = PARTS == 1 ? 0 : PARTS == 2 ? 0x001 : 0x001012;
    static_assert(PARTS <= 3, "an f32 has no more parts");

    DEVICE_CONSTANT static int data(int product) { return (int)(DATA >> (4 * product) & 15); }
    DEVICE_CONSTANT static int matrix(int product) { return (int)(MATRIX >> (4 * product) & 15); }
};

// The parts of a complex number: each is the nearest to what the ones before leave, which is exact.
template <Format FORMAT, int PARTS> DEVICE void split(float re, float im, uint32_t (&parts)[PARTS]) {
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        parts[part] = to_pair<FORMAT>(re, im);
        if (part + 1 < PARTS) {
            re -= first_of<FORMAT>(parts[part]);
            im -= second_of<FORMAT>(parts[part]);
        }
    }
}

// Times two to this power, of which half is not beyond f32: no rounding but for results that are subnormal.
DEVICE float times_power(float value, int power) {
    const int half = power / 2;
    return unfused(unfused(value, arithmetic::from_bits((unsigned)(127 + half) << 23)), arithmetic::from_bits((unsigned)(127 + power - half) << 23));
}

// What a line with this largest magnitude is multiplied by: as `sample.rs` has it.
template <Format FORMAT> DEVICE int power_for(unsigned largest) {
    if (largest == 0) return 0;
    if constexpr (FORMAT == Format::BF16) {
        constexpr int ORDINARY = 40;
        const int exponent = (int)(largest >> 23) - 127;
        if (exponent >= -ORDINARY && exponent <= ORDINARY) return 0;
        return exponent < -126 ? 126 : exponent > 126 ? -126 : -exponent;
    } else {
        // The largest number becomes one of 2^14 to 2^15: sums of N1 of them, divided by N1, stay below the largest f16.
        const int exponent = largest >> 23 != 0 ? (int)(largest >> 23) - 127 : -118 - leading_zeros_of_half(largest);
        return 14 - exponent;
    }
}

DEVICE_CONSTANT int logarithm(int n) { return n == 1 ? 0 : 1 + logarithm(n / 2); }

constexpr unsigned INFINITE = 0x7f800000u;
// The power of a line that is not finite.
constexpr int NOT_FINITE = 1000;

// The lines of a warp: `LINES` of N1·N2 points.
template <Format FORMAT, int PARTS, int N1, int N2, int LINES> struct Warp {
    using T = Tables<N1, N2, PARTS>;
    using P = Products<PARTS>;
    // Outputs of the first product that the second takes together: two tiles of a line, or one tile of two lines.
    static constexpr bool TWO_LINES = N1 == 8;
    static constexpr int PAIRS = TWO_LINES ? LINES / 2 : LINES * T::TILES / 2;
    static_assert(!TWO_LINES || LINES % 2 == 0, "lines go in pairs");
    static constexpr bool ALWAYS_SCALED = FORMAT == Format::F16;

    DEVICE_CONSTANT static int line_of(int pair, int half) { return TWO_LINES ? 2 * pair + half : pair / (T::TILES / 2); }
    DEVICE_CONSTANT static int tile_of(int pair, int half) { return TWO_LINES ? 0 : 2 * (pair % (T::TILES / 2)) + half; }

    float2 points[LINES][T::DEPTH][2][T::COLUMNS];
    uint32_t data[PARTS][LINES][T::COLUMNS][T::DEPTH][2];
    uint32_t middle[PARTS][PAIRS][T::COLUMNS][4];
    // Whether a line is multiplied by anything; lane i has what line i is.
    bool scaled;
    int power;

    DEVICE void read(const FloatTask &task, u64 first_line, int lane) {
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int line = 0; line < LINES; line++) {
            const bool there = first_line + line < task.lines;
            const float *from = task.input + 2 * (first_line + line) * task.input_distance;
#pragma unroll
            for (int depth = 0; depth < T::DEPTH; depth++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const int row = N2 * (8 * depth + 4 * i + t);
                    if constexpr (N2 == 8) {
                        points[line][depth][i][0] = there ? read_once(reinterpret_cast<const float2 *>(from) + row + g) : make_float2(0, 0);
                    } else {
#pragma unroll
                        for (int column = 0; column < T::COLUMNS; column += 2) {
                            const float4 two = there ? read_once(reinterpret_cast<const float4 *>(from + 2 * (row + 8 * column + 2 * g))) : make_float4(0, 0, 0, 0);
                            points[line][depth][i][column] = make_float2(two.x, two.y);
                            points[line][depth][i][column + 1] = make_float2(two.z, two.w);
                        }
                    }
                }
        }
    }

    // The bits of the largest magnitude of a line; beyond those of infinity if there is a NaN.
    DEVICE unsigned largest(int line) const {
        float largest[2] = {0, 0};
#pragma unroll
        for (int depth = 0; depth < T::DEPTH; depth++)
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int column = 0; column < T::COLUMNS; column++) {
                    largest[0] = arithmetic::larger_magnitude(largest[0], points[line][depth][i][column].x);
                    largest[1] = arithmetic::larger_magnitude(largest[1], points[line][depth][i][column].y);
                }
        return warp_maximum((unsigned)arithmetic::bits_of(arithmetic::larger_magnitude(largest[0], largest[1])));
    }

    // The power of two of every line.
    DEVICE void find_scales(const FloatTask &task, int lane) {
        scaled = ALWAYS_SCALED || task.power != 0;
        power = 0;
#pragma unroll
        for (int line = 0; line < LINES; line++) {
            const unsigned bits = largest(line);
            const int found = bits >= INFINITE ? NOT_FINITE : power_for<FORMAT>(bits);
            scaled = scaled || found != 0;
            power = lane == line ? found : power;
        }
    }

    DEVICE void split_data() {
#pragma unroll
        for (int line = 0; line < LINES; line++) {
            int by = 0;
            if (scaled) {
                by = shuffle(power, line);
                by = by == NOT_FINITE ? 0 : by;
            }
#pragma unroll
            for (int depth = 0; depth < T::DEPTH; depth++)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int column = 0; column < T::COLUMNS; column++) {
                        float2 value = points[line][depth][i][column];
                        if (scaled) value = make_float2(times_power(value.x, by), times_power(value.y, by));
                        uint32_t parts[PARTS];
                        split<FORMAT>(value.x, value.y, parts);
#pragma unroll
                        for (int part = 0; part < PARTS; part++) data[part][line][column][depth][i] = parts[part];
                    }
        }
    }

    // DFTs over j1 and the rotations after them.
    DEVICE void first_product(uint32_t tables) {
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) {
            float sums[2][T::COLUMNS][4] = {};
#pragma unroll
            for (int product = 0; product < P::COUNT; product++)
#pragma unroll
                for (int depth = 0; depth < T::DEPTH; depth++) {
                    uint4 rows = {};
#pragma unroll
                    for (int half = 0; half < 2; half++) {
                        if (half == 0 || !TWO_LINES) rows = load_shared(T::first(tables, P::matrix(product), tile_of(pair, half), depth));
                        const uint32_t a[4] = {rows.x, rows.y, rows.z, rows.w};
#pragma unroll
                        for (int column = 0; column < T::COLUMNS; column++) {
                            const uint32_t(&b)[2] = data[P::data(product)][line_of(pair, half)][column][depth];
                            mma_floats<FORMAT>(sums[half][column], a, b[0], b[1]);
                        }
                    }
                }
#pragma unroll
            for (int half = 0; half < 2; half++)
#pragma unroll
                for (int column = 0; column < T::COLUMNS; column++) {
                    const uint4 bits = load_shared(T::roots(tables, tile_of(pair, half), column));
                    const unsigned roots[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
                    for (int i = 0; i < 2; i++) {
                        const float re = sums[half][column][i], im = sums[half][column][2 + i];
                        const float c = arithmetic::from_bits(roots[2 * i]), s = arithmetic::from_bits(roots[2 * i + 1]);
                        uint32_t parts[PARTS];
                        split<FORMAT>(arithmetic::fused(re, c, -unfused(im, s)), arithmetic::fused(im, c, unfused(re, s)), parts);
#pragma unroll
                        for (int part = 0; part < PARTS; part++) middle[part][pair][column][2 * i + half] = parts[part];
                    }
                }
        }
    }

    // What a result is multiplied by, in two factors, is NaN for lines that were not finite.
    DEVICE static float result(float sum, int by, int power) {
        return by == NOT_FINITE ? arithmetic::from_bits(0x7fc00000u) : times_power(sum, power + (ALWAYS_SCALED ? logarithm(N1) : 0) - by);
    }

    // DFTs over j2.
    DEVICE void second_product(const FloatTask &task, u64 first_line, uint32_t tables, int lane) {
        // As many pairs at a time as have sums in 32 registers.
        constexpr int TOGETHER = PAIRS < 4 ? PAIRS : 4;
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int start = 0; start < PAIRS; start += TOGETHER)
#pragma unroll 1
            for (int outputs = 0; outputs < T::COLUMNS; outputs++) {
                float sums[TOGETHER][2][4] = {};
#pragma unroll
                for (int product = 0; product < P::COUNT; product++)
#pragma unroll
                    for (int depth = 0; depth < T::COLUMNS; depth++) {
                        const uint4 columns = load_shared(T::second(tables, P::matrix(product), depth, outputs));
#pragma unroll
                        for (int i = 0; i < TOGETHER; i++) {
                            const uint32_t(&a)[4] = middle[P::data(product)][start + i][depth];
                            mma_floats<FORMAT>(sums[i][0], a, columns.x, columns.y);
                            mma_floats<FORMAT>(sums[i][1], a, columns.z, columns.w);
                        }
                    }
#pragma unroll
                for (int i = 0; i < TOGETHER; i++) {
                    if (scaled) {
#pragma unroll
                        for (int half = 0; half < 2; half++) {
                            const int by = shuffle(power, line_of(start + i, half));
#pragma unroll
                            for (int j = 0; j < 4; j++) sums[i][j / 2][2 * half + j % 2] = result(sums[i][j / 2][2 * half + j % 2], by, task.power);
                        }
                    }
#pragma unroll
                    for (int j = 0; j < 2; j++) store(task, first_line, start + i, 4 * (2 * outputs + j) + t, g, sums[i][j]);
                }
            }
    }

    // Writes outputs k1 + N1·k2 for the two k1 of a lane.
    DEVICE static void store(const FloatTask &task, u64 first_line, int pair, int k2, int g, const float (&values)[4]) {
        if constexpr (TWO_LINES) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const u64 line = first_line + line_of(pair, half);
                float2 *to = reinterpret_cast<float2 *>(task.output) + line * task.output_distance + g + N1 * k2;
                if (line < task.lines) write_once(to, make_float2(values[2 * half], values[2 * half + 1]));
            }
        } else {
            const u64 line = first_line + line_of(pair, 0);
            const int k1 = 8 * tile_of(pair, 0) + 2 * g;
            float *to = task.output + 2 * (line * task.output_distance + k1 + N1 * k2);
            if (line < task.lines) write_once(reinterpret_cast<float4 *>(to), make_float4(values[0], values[1], values[2], values[3]));
        }
    }
};

// Brings tables to shared memory.
DEVICE void load_tables(const uint4 *from, int entries) {
    const uint32_t to = shared_address(shared_memory());
    for (int entry = (int)threadIdx.x; entry < entries; entry += (int)blockDim.x) store_shared(to + 16 * entry, table_entry(from + entry));
    block_barrier();
}

template <Format FORMAT, int PARTS, int N1, int N2, int LINES> DEVICE void run(const FloatTask &task) {
    using T = Tables<N1, N2, PARTS>;
    load_tables(task.tables, T::FIRST + T::SECOND + T::ROOTS);
    const int lane = (int)(threadIdx.x % 32);
    const uint32_t tables = shared_address(shared_memory()) + 16 * lane;
    const unsigned warps = blockDim.x / 32;
    for (u64 first = (u64)LINES * (blockIdx.x * warps + threadIdx.x / 32); first < task.lines; first += (u64)LINES * warps * gridDim.x) {
        Warp<FORMAT, PARTS, N1, N2, LINES> warp;
        warp.read(task, first, lane);
        warp.find_scales(task, lane);
        warp.split_data();
        warp.first_product(tables);
        warp.second_product(task, first, tables, lane);
    }
}

}  // namespace float_lines
