// Products by residues in fp8 with the moduli of residue_moduli.cuh, of at most 256, and so the integers of residue_step.cuh.
//
// A residue is a byte without a sign, and its nibbles, 0 to 15, are e4m3 codes as they are (tuned_fp8.cuh). Upper nibbles meet the matrix
// times 16, lower ones the matrix itself, both modulo m and cut into 16·h + l with h and l of magnitude at most 8. So there are two sums, of the h
// and of the l, and the one residue of both is that of 16 times the first and the second. Planning proves that no sum exceeds what is exact.
#pragma once
#include "residues/fp8/residue_fp8_step.cuh"

// Bytes of a modulus' matrix: sums h and l of 32 outputs, for lower and for upper nibbles.
constexpr uint32_t NIBBLE_MATRIX_BYTES = 2 * POINTS * 32, MODULUS_BYTES = 2 * NIBBLE_MATRIX_BYTES;

// A reciprocal that is not larger than 1/m. (1/m lies between 2^-8 and 2^-7, where floats are 2^-31 apart.)
DEVICE_CONSTANT float reciprocal_below(int m) {
    const float near = reciprocal(m);
    return static_cast<double>(near) * m > 1 ? near - 1.0f / (1u << 31) : near;
}
// With it a quotient rounded downwards is not too large, and what is left is not negative; how far it may exceed m says `off`.
DEVICE_CONSTANT bool residues_are_unsigned_bytes() {
    for (int i = 1; i < MOST_MODULI; i++) {
        const double m = modulus(i), off = (1 - m * static_cast<double>(reciprocal_below(modulus(i)))) * (FLOAT_VALUE + LARGEST_SUM);
        if (off < 0 || m + off > 256) return false;
    }
    return true;
}
static_assert(residues_are_unsigned_bytes(), "residues of all sums are bytes without signs");

// A number from 0 to 255 congruent to `1.5·2^23 + sum`, in the lowest byte.
template <int NUMBER> DEVICE uint32_t unsigned_residue_byte(int sum_bits) {
    constexpr int M = modulus(NUMBER);
    if (M == 256) {
        return static_cast<uint32_t>(sum_bits);
    }
    const float quotient = arithmetic::fused_downwards(arithmetic::from_bits(static_cast<unsigned>(sum_bits)), reciprocal_below(M), 12582912.0f);
    return static_cast<uint32_t>(sum_bits) - static_cast<uint32_t>(arithmetic::bits_of(quotient)) * static_cast<uint32_t>(M);
}

// Nibbles of their residues, as operands.
struct Nibbles {
    unsigned lower[4], upper[4];
};

template <int NUMBER> DEVICE void decompose(const SplitWords &words, Nibbles &to) {
#pragma unroll
    for (int kind = 0; kind < 4; kind++) {
        uint32_t bytes[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t low = words.low[kind][j], high = words.high[kind][j];
            constexpr uint32_t LOW = powers(NUMBER, 0), HIGH = powers(NUMBER, 4);
            constexpr int BEGIN = FLOAT_BITS + offset(NUMBER);
            bytes[j] = modulus(NUMBER) == 256 ? low
                                              : unsigned_residue_byte<NUMBER>(arithmetic::dot_product(low, LOW, arithmetic::dot_product(high, HIGH, BEGIN)));
        }
        const uint32_t packed = packed_bytes(bytes[0], bytes[1], bytes[2], bytes[3]);
        to.lower[kind] = packed & 0x0f0f0f0fu;
        to.upper[kind] = packed >> 4 & 0x0f0f0f0fu;
    }
}

// Residues of all outputs of a line, by moduli BEGIN, a multiple of 8, to END - 1: byte `i` of a row is that of modulus `i`.
template <class Way, int BEGIN, int END, Stage WITHOUT> DEVICE void multiply_nibbles(const SplitWords &words, uint32_t matrices, uint32_t rows) {
    const uint64_t matrix = wgmma_matrix(matrices);
    const uint32_t own = rows + 16 * (static_cast<uint32_t>(thread_number()) % 32);
    Nibbles nibbles[2];
    // The residues of eight outputs' two parts, twice: four moduli to a word.
    uint32_t bytes[16][2];
    auto prepare = [&](auto number) {
        Nibbles &next = nibbles[number % 2];
        if (WITHOUT == Stage::DECOMPOSITION) {
            // Nibbles of the words, others for every modulus.
#pragma unroll
            for (int i = 0; i < 4; i++) {
                next.lower[i] = words.low[i][number % 4] >> (number / 4) & 0x0f0f0f0fu;
                next.upper[i] = words.high[i][number % 4] >> (number / 4) & 0x0f0f0f0fu;
            }
        } else {
            decompose<number>(words, next);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) arithmetic::compiler_fence(next.lower[i], next.upper[i]);
    };
    // Four warps of a scheduler have enough to do while the tensor unit works; three make the next modulus' operands meanwhile, which takes registers.
    constexpr bool AHEAD = Way::GROUPS == 1;
    if constexpr (AHEAD) prepare(Number<BEGIN>());
    for_numbers<BEGIN, END>([&](auto number) {
        if constexpr (!AHEAD) prepare(number);
        const Nibbles &data = nibbles[number % 2];
        // Sums h of all outputs, then their sums l; of a tile of eight outputs real parts of two, then imaginary parts.
        float sums[POINTS];
        if (WITHOUT != Stage::PRODUCTS) {
            wgmma_fence();
            wgmma_e4m3_first<2 * POINTS>(sums, data.lower, matrix + number * (MODULUS_BYTES / 16));
            wgmma_e4m3_more<2 * POINTS>(sums, data.upper, matrix + number * (MODULUS_BYTES / 16) + NIBBLE_MATRIX_BYTES / 16);
            wgmma_commit();
        } else {
#pragma unroll
            for (int i = 0; i < POINTS; i++) sums[i] = arithmetic::from_bits(data.lower[i % 4] ^ data.upper[i / 4 % 4]);
        }
        if constexpr (AHEAD && number + 1 < END) prepare(Number<number + 1>());
        if (WITHOUT != Stage::PRODUCTS) wgmma_wait(sums);
#pragma unroll
        for (int i = 0; i < 16; i++) {
            // Data are multiples of 2^-9.
            const float sum = arithmetic::fused(sums[i], 16 * 512.0f, arithmetic::fused(sums[16 + i], 512.0f, 12582912.0f));
            const uint32_t byte = Way::template residue<number>(arithmetic::bits_of(sum));
            uint32_t &word = bytes[i][number % 8 / 4];
            // The lowest byte to its place.
            constexpr unsigned PLACE = number % 4 == 1 ? 0x3240 : number % 4 == 2 ? 0x3410 : 0x4210;
            word = number % 4 == 0 ? byte : arithmetic::chosen_bytes(word, byte, PLACE);
        }
        // With so little in between, the compiler would begin products beyond its registers.
        if (WITHOUT == Stage::DECOMPOSITION || !AHEAD) arithmetic::scheduling_barrier(thread_number(), 16 * END + number);
        if constexpr (number % 8 == 7 || number + 1 == END) {
#pragma unroll
            for (int i = 0; i < 16; i++) {
                const uint32_t turn = 2 * (i / 4) + i % 2, part = i / 2 % 2;
                store_shared(own + turn * TURN_BYTES + part * (TURN_BYTES / 2) + number / 8 * 8, make_uint2(bytes[i][0], bytes[i][1]));
            }
        }
    });
}

// What both ways have in common. The tables of a step: products of all moduli, slices of the weights for every lane, and the weights in fp8, for ways that
// put integers together there.
template <int LINE_GROUPS> struct NibbleProducts {
    static constexpr int GROUPS = LINE_GROUPS, LINES = GROUPS == 1 ? 3 : 2;
    static constexpr uint32_t PRODUCT_BYTES = MOST_MODULI * MODULUS_BYTES, WEIGHT_BYTES = 40 * 32, ROW_BYTES = 8 * TURN_BYTES;
    static DEVICE const unsigned char *products(const Step &step) { return reinterpret_cast<const unsigned char *>(step.matrix); }
    static DEVICE const SliceTable *slices(const Step &step) { return reinterpret_cast<const SliceTable *>(products(step) + PRODUCT_BYTES); }
    static DEVICE const unsigned char *weights(const Step &step) { return reinterpret_cast<const unsigned char *>(slices(step) + 32); }
    static DEVICE_CONSTANT int count(bool closing) { return closing ? 16 : 15; }

    template <class Way, int COUNT, Stage WITHOUT> static DEVICE void multiply_by_group(const SplitWords &words, uint32_t matrices, uint32_t rows, int32_t group) {
        if (GROUPS == 1) {
            multiply_nibbles<Way, 0, COUNT, WITHOUT>(words, matrices, rows);
        } else if (group == 0) {
            multiply_nibbles<Way, 0, 8, WITHOUT>(words, matrices, rows);
        } else {
            multiply_nibbles<Way, 8, COUNT, WITHOUT>(words, matrices, rows);
        }
    }

    // Of both parts.
    using Operands = uint32_t[2][4];
    static DEVICE void load(Operands &operands, uint32_t at) {
        load_rows(operands[0], at);
        load_rows(operands[1], at + TURN_BYTES / 2);
    }
};

// Integers put together with phase A on 8-bit integers: that of residue_slices.cuh.
template <class B, int LINE_GROUPS = 1> struct Int8Weights : NibbleProducts<LINE_GROUPS> {
    using Products = NibbleProducts<LINE_GROUPS>;
    template <int COUNT, Stage WITHOUT> static DEVICE void multiply(const SplitWords &words, uint32_t matrices, uint32_t rows, int32_t group) {
        Products::template multiply_by_group<Int8Weights, COUNT, WITHOUT>(words, matrices, rows, group);
    }
    template <int NUMBER> static DEVICE uint32_t residue(int sum_bits) { return residue_byte<NUMBER>(sum_bits); }

    const SliceTable table;
    DEVICE Int8Weights(const Step &step, uint32_t) : table(table_entry(Products::slices(step) + thread_number() % 32)) {}

    // `rows`: those of both parts. Calls `take(part, number, piece)` for the window of this lane of four numbers of each part, a part at a time; and
    // `end_of(part)`.
    template <class Take, class End>
    DEVICE void windows(const uint32_t (&rows)[2][4], const Rounding (&rounding)[2], const Take &take, const End &end_of) const {
        const uint32_t g = static_cast<uint32_t>(thread_number()) % 32 / 4;
#pragma unroll
        for (uint32_t part = 0; part < 2; part++) {
            const typename B::Constants constants = B::constants(Start(rounding[part]));
#pragma unroll
            for (uint32_t half = 0; half < 2; half++) {
                int low[4], high[4], quotient[4];
                const uint32_t near_rows = rows[part][2 * half], far_rows = rows[part][2 * half + 1];
                mma_sync_s8_half(quotient, near_rows, far_rows, table.quotient);
                mma_sync_s8_half(low, near_rows, far_rows, table.low_slices);
                mma_sync_s8_half(high, near_rows, far_rows, table.high_slices);
#pragma unroll
                for (uint32_t i = 0; i < 2; i++) {
                    const Window window = {{low[2 * i], low[2 * i + 1], high[2 * i], high[2 * i + 1]},
                                           (quotient[2 * i + 1] * 256 + quotient[2 * i] + (1 << 14)) >> 15};
                    take(part, 16 * half + 8 * i + g, B::piece(window, table, constants));
                }
            }
            end_of(part);
        }
    }
};

// The same in fp8, with nothing on the tensor unit but e4m3: nibbles of residues meet digits of their weights, a band of four bits each, eight of them a
// window; and two digits of five bits of the weights' fractions of the product, of which 2^10 are one.
struct Fp8Weights : NibbleProducts<1> {
    template <int COUNT, Stage WITHOUT> static DEVICE void multiply(const SplitWords &words, uint32_t matrices, uint32_t rows, int32_t group) {
        multiply_by_group<Fp8Weights, COUNT, WITHOUT>(words, matrices, rows, group);
    }
    template <int NUMBER> static DEVICE uint32_t residue(int sum_bits) { return unsigned_residue_byte<NUMBER>(sum_bits); }

    uint64_t matrix;
    int32_t product;
    DEVICE Fp8Weights(const Step &step, uint32_t weights)
        : matrix(wgmma_matrix(weights)), product(table_entry(slices(step) + thread_number() % 32).product) {}

    static constexpr float MAGIC = 12582912.0f, UNIT = 512.0f;

    // What a window has beyond its sums: 2^44, as Kulisch32 has it, and less what the bits of floats have more.
    DEVICE int64_t constants(Start start) const {
        const int64_t bits = FLOAT_BITS;
        return Kulisch32::constants(start) - bits * (1 + (1 << 12) + (1 << 24)) + bits * product;
    }
    // Bands of a row: c[4j] and c[4j + 1] are 2j and 2j + 1.
    DEVICE Piece piece(const float *c, int64_t more) const {
        using arithmetic::bits_of;
        using arithmetic::fused;
        const float quotient = arithmetic::sum_downwards(fused(c[17], UNIT / 32, fused(c[16], UNIT / 1024, 0.5f)), MAGIC);
        const float low = fused(c[4], 256 * UNIT, fused(c[1], 16 * UNIT, fused(c[0], UNIT, MAGIC)));
        const float middle = fused(c[9], 256 * UNIT, fused(c[8], 16 * UNIT, fused(c[5], UNIT, MAGIC)));
        const float high = fused(c[13], 16 * UNIT, fused(c[12], UNIT, MAGIC));
        int64_t sum = arithmetic::wide_product(-bits_of(quotient), product) + more;
        sum = arithmetic::wide_product(bits_of(high), 1 << 24) + sum;
        sum = arithmetic::wide_product(bits_of(middle), 1 << 12) + sum;
        return piece_of(static_cast<uint64_t>(sum + bits_of(low)));
    }

    template <class Take, class End>
    DEVICE void windows(const uint32_t (&rows)[2][4], const Rounding (&rounding)[2], const Take &take, const End &end_of) const {
        const uint32_t g = static_cast<uint32_t>(thread_number()) % 32 / 4;
        float sums[2][2][20];
        unsigned nibbles[2][2][4];
#pragma unroll
        for (int part = 0; part < 2; part++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    nibbles[part][half][i] = rows[part][2 * half + i] & 0x0f0f0f0fu;
                    nibbles[part][half][2 + i] = rows[part][2 * half + i] >> 4 & 0x0f0f0f0fu;
                    arithmetic::compiler_fence(nibbles[part][half][i], nibbles[part][half][2 + i]);
                }
            }
        }
        wgmma_fence();
#pragma unroll
        for (int part = 0; part < 2; part++) {
#pragma unroll
            for (int half = 0; half < 2; half++) wgmma_e4m3_first<40>(sums[part][half], nibbles[part][half], matrix);
        }
        wgmma_commit();
        wgmma_wait(sums);
#pragma unroll
        for (uint32_t part = 0; part < 2; part++) {
            const int64_t more = constants(Start(rounding[part]));
#pragma unroll
            for (uint32_t half = 0; half < 2; half++) {
#pragma unroll
                for (uint32_t i = 0; i < 2; i++) take(part, 16 * half + 8 * i + g, piece(sums[part][half] + 2 * i, more));
            }
            end_of(part);
        }
    }
};
