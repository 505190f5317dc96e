// Products by residues in fp8 as Ozaki's scheme II has them: the moduli of residue_karatsuba_moduli.cuh, three products each, and so the integers of
// residue_step.cuh. Integers are put together with phase A on 8-bit integers, and phase B as residue_words.cuh has it.
//
// Residues take up to eleven bits, two bytes each. Those of a turn lie in two planes, seven moduli each, so that rows of either have 16 bytes. Two warpgroups have
// a line, and a plane each.
#pragma once
#include "arch/bailey_instructions.cuh"
#include "residues/fp8/residue_fp8_step.cuh"
#include "residues/fp8/residue_karatsuba_moduli.cuh"

namespace karatsuba {

// One digit of the matrix: 32 outputs. Squares have two, h' and l', in one operand; others h', l' and their sum.
constexpr uint32_t DIGIT_BYTES = POINTS * 32;
DEVICE_CONSTANT uint32_t matrix_start(int number) { return (number < SQUARES ? 2 * number : 3 * number - SQUARES) * DIGIT_BYTES; }

// Planes are a lane's halves of the tensor instruction's terms.
constexpr uint32_t PLANE_BYTES = 8 * TURN_BYTES;
constexpr int PLANE_MODULI = 7;

// What a lane knows of the weights: slices, two of the quotient's, for either plane; and 32 bits of the moduli's product.
struct alignas(16) PlaneSlices {
    uint32_t low_slices[2], high_slices[2];
};
struct alignas(16) PlaneQuotient {
    uint32_t quotient[2];
    int32_t product;
    uint32_t unused;
};

// Digits of a thread's words, as operands.
struct Operand {
    unsigned high[4], low[4], sum[4];
};

template <int NUMBER, Stage WITHOUT> DEVICE void decompose(const SplitWords &words, Operand &to) {
#pragma unroll
    for (int kind = 0; kind < 4; kind++) {
        if (WITHOUT == Stage::DECOMPOSITION) {
            // Nibbles of the words, others for every modulus.
            to.high[kind] = words.high[kind][NUMBER % 4] >> (NUMBER / 4) & 0x0f0f0f0fu;
            to.low[kind] = words.low[kind][NUMBER % 4] >> (NUMBER / 4) & 0x0f0f0f0fu;
            to.sum[kind] = to.high[kind] ^ to.low[kind];
        } else {
            const DigitBytes digits = digits_of<NUMBER>(words.low[kind], words.high[kind]);
            to.high[kind] = digits.high;
            to.low[kind] = digits.low;
            to.sum[kind] = digits.sum;
        }
        arithmetic::compiler_fence(to.high[kind], to.low[kind]);
        if (NUMBER >= SQUARES) arithmetic::compiler_fence(to.sum[kind], to.low[kind]);
    }
}

// Calls `begin`, which begins products, and waits for them, whose sums the others are. The other warpgroups have enough to do meanwhile: two operands in turn would take registers.
template <class Begin, class... Sums> DEVICE void multiply_with(const Begin &begin, Sums &...sums) {
    wgmma_fence();
    begin();
    wgmma_commit();
    wgmma_wait(sums...);
}

// The sums of a modulus. Of a tile of eight outputs a thread has real parts of two, then imaginary parts; `residue` is that of output i, in the lower half of
// the word. Data are multiples of 2^-9.
constexpr float UNIT = 512;
template <int NUMBER, bool SQUARE = (NUMBER < SQUARES)> struct Sums {
    // l·h' + h·l' of all outputs, then l·l'.
    float sums[POINTS];
    template <Stage WITHOUT> DEVICE void multiply(const Operand &data, uint64_t matrices) {
        const uint64_t matrix = matrices + matrix_start(NUMBER) / 16;
        if (WITHOUT != Stage::PRODUCTS) {
            const auto begin = [&] {
                wgmma_e4m3_first<2 * POINTS>(sums, data.low, matrix);
                wgmma_e4m3_more<POINTS>(sums, data.high, matrix + DIGIT_BYTES / 16);
            };
            multiply_with(begin, sums);
        } else {
#pragma unroll
            for (int i = 0; i < POINTS; i++) sums[i] = arithmetic::from_bits(data.low[i % 4] ^ data.high[i / 4 % 4]);
        }
    }
    DEVICE uint32_t residue(int i) const {
        using arithmetic::fused;
        return SumResidue<NUMBER>::of(fused(sums[i], root(NUMBER) * UNIT, fused(sums[POINTS / 2 + i], UNIT, SumResidue<NUMBER>::START)));
    }
};
template <int NUMBER> struct Sums<NUMBER, false> {
    // 240·h·h' - 15·l·l', and (h + l)·(h' + l'). Never more than two sums of an output, for the sake of registers.
    float others[POINTS / 2], both[POINTS / 2];
    template <Stage WITHOUT> DEVICE void multiply(const Operand &data, uint64_t matrices) {
        using arithmetic::fused;
        const uint64_t matrix = matrices + matrix_start(NUMBER) / 16;
        float low[POINTS / 2];
        if (WITHOUT != Stage::PRODUCTS) {
            const auto begin = [&] {
                wgmma_e4m3_first<POINTS>(others, data.high, matrix);
                wgmma_e4m3_first<POINTS>(low, data.low, matrix + DIGIT_BYTES / 16);
            };
            multiply_with(begin, others, low);
        } else {
#pragma unroll
            for (int i = 0; i < POINTS / 2; i++) {
                others[i] = arithmetic::from_bits(data.high[i % 4]);
                low[i] = arithmetic::from_bits(data.low[i / 4]);
                both[i] = arithmetic::from_bits(data.sum[i % 4]);
            }
        }
#pragma unroll
        for (int i = 0; i < POINTS / 2; i++) others[i] = fused(others[i], 240 * UNIT, fused(low[i], -15 * UNIT, SumResidue<NUMBER>::START));
        if (WITHOUT != Stage::PRODUCTS) {
            multiply_with([&] { wgmma_e4m3_first<POINTS>(both, data.sum, matrix + 2 * DIGIT_BYTES / 16); }, both);
        }
    }
    DEVICE uint32_t residue(int i) const { return SumResidue<NUMBER>::of(arithmetic::fused(both[i], 16 * UNIT, others[i])); }
};

struct Weights {
    static constexpr int LINES = 2, GROUPS = 2;
    static constexpr uint32_t PRODUCT_BYTES = matrix_start(MOST_MODULI), WEIGHT_BYTES = 0, ROW_BYTES = 2 * PLANE_BYTES;
    static DEVICE const unsigned char *products(const Step &step) { return reinterpret_cast<const unsigned char *>(step.matrix); }
    static DEVICE const unsigned char *weights(const Step &step) { return products(step); }
    static DEVICE_CONSTANT int count(bool closing) { return closing ? 14 : 13; }

    // Residues of all outputs of a line, by the moduli of a warpgroup, whose residues make up a plane.
    template <int COUNT, Stage WITHOUT> static DEVICE void multiply(const SplitWords &words, uint32_t matrices, uint32_t rows, int32_t group) {
        const uint64_t matrix = wgmma_matrix(matrices);
        const uint32_t own = rows + 16 * (static_cast<uint32_t>(thread_number()) % 32);
        if (group == 0) {
            multiply_by<0, PLANE_MODULI, WITHOUT>(words, matrix, own);
        } else {
            multiply_by<PLANE_MODULI, COUNT, WITHOUT>(words, matrix, own + PLANE_BYTES);
        }
    }
    template <int BEGIN, int END, Stage WITHOUT> static DEVICE void multiply_by(const SplitWords &words, uint64_t matrix, uint32_t own) {
        // Residues of eight outputs' two parts, twice: two moduli to a word.
        uint32_t halves[16];
        for_numbers<BEGIN, END>([&](auto number) {
            constexpr int PLACE = number - BEGIN;
            Operand data;
            decompose<number, WITHOUT>(words, data);
            Sums<number> sums;
            sums.template multiply<WITHOUT>(data, matrix);
#pragma unroll
            for (int i = 0; i < 16; i++) {
                const uint32_t residue = sums.residue(i);
                halves[i] = PLACE % 2 == 0 ? residue : two_halves(halves[i], residue);
            }
            // With so little in between, the compiler would begin products beyond its registers.
            arithmetic::scheduling_barrier(thread_number(), 16 * END + number);
            if constexpr (PLACE % 2 == 1 || number + 1 == END) {
#pragma unroll
                for (int i = 0; i < 16; i++) {
                    const uint32_t turn = 2 * (i / 4) + i % 2, part = i / 2 % 2;
                    store_shared_int(own + turn * TURN_BYTES + part * (TURN_BYTES / 2) + PLACE / 2 * 4, static_cast<int>(halves[i]));
                }
            }
        });
    }

    // Of both parts, in both planes.
    using Operands = uint32_t[2][2][4];
    static DEVICE void load(Operands &operands, uint32_t at) {
#pragma unroll
        for (uint32_t part = 0; part < 2; part++) {
#pragma unroll
            for (uint32_t plane = 0; plane < 2; plane++) load_rows(operands[part][plane], at + plane * PLANE_BYTES + part * (TURN_BYTES / 2));
        }
    }

    const PlaneSlices slices;
    const PlaneQuotient quotients;
    DEVICE Weights(const Step &step, uint32_t)
        : slices(table_entry(reinterpret_cast<const PlaneSlices *>(products(step) + PRODUCT_BYTES) + thread_number() % 32)),
          quotients(table_entry(reinterpret_cast<const PlaneQuotient *>(products(step) + PRODUCT_BYTES) + 32 + thread_number() % 32)) {}

    // As Int8Weights has it, with 32 terms instead of 16.
    template <class Take, class End>
    DEVICE void windows(const Operands &operands, const Rounding (&rounding)[2], const Take &take, const End &end_of) const {
        const uint32_t g = static_cast<uint32_t>(thread_number()) % 32 / 4;
        const SliceTable table = {0, 0, 0, quotients.product};
#pragma unroll
        for (uint32_t part = 0; part < 2; part++) {
            const Kulisch32::Constants constants = Kulisch32::constants(Start(rounding[part]));
#pragma unroll
            for (uint32_t half = 0; half < 2; half++) {
                const uint32_t(&near)[4] = operands[part][0], (&far)[4] = operands[part][1];
                const uint32_t rows[4] = {near[2 * half], near[2 * half + 1], far[2 * half], far[2 * half + 1]};
                int sums[8], quotient[8];
                mma_sync_u8(quotient, 0, rows, quotients.quotient, true);
                mma_sync_u8(sums, 0, rows, slices.low_slices, true);
                mma_sync_u8(sums, 4, rows, slices.high_slices, true);
#pragma unroll
                for (uint32_t i = 0; i < 2; i++) {
                    const Window window = {{sums[2 * i], sums[2 * i + 1], sums[4 + 2 * i], sums[5 + 2 * i]},
                                           (quotient[2 * i + 1] * 256 + quotient[2 * i] + (1 << 14)) >> 15};
                    take(part, 16 * half + 8 * i + g, Kulisch32::piece(window, table, constants));
                }
            }
            end_of(part);
        }
    }
};

}  // namespace karatsuba
