// Products of the template on `wgmma` (compute capability 9.0): the digits and the sums of int8, four warps together. The matrix is read from shared memory by the
// tensor unit itself, once for all four, where every warp of `mma.sync` loads it to registers.
#pragma once
#include "block/bailey_block.cuh"
#include "arch/wgmma.cuh"

namespace bailey {

struct MmaWgmma {
    // Diagonals 0 to 3 (`LOWER`: 4 to 7) of eight outputs and of the columns of one unit: sums 4d to 4d + 3 are real and imaginary parts of two outputs each.
    template <bool LOWER, class Step> static DEVICE void multiply(int (&sums)[16], const StepDigits<Step> &digits, uint64_t matrix) {
        constexpr int OPERANDS = LOWER ? Step::LOWER : Step::UPPER, START = LOWER ? Step::UPPER : 0;
        wgmma_u8_n32_first(sums, MmaSync::operand<LOWER>(digits, 0), matrix + PIECE * START);
#pragma unroll
        for (int i = 1; i < OPERANDS; i++) wgmma_u8_n32_more(sums, MmaSync::operand<LOWER>(digits, i), matrix + PIECE * (START + i));
    }

    // As MmaSync::products; `place` likewise. All threads of four warps come here together.
    template <bool WHOLE, int HALF, class Step, int UNITS, class Matrix>
    static DEVICE void products(Rounded (&rounded)[UNITS], StepDigits<Step> (&digits)[UNITS], const Matrix &matrix, const Factors &factors, int place) {
        static_assert(Step::PRODUCT == Product::WGMMA && Step::DIGITS == 8, "matrices as the tensor unit reads them");
        // Of addresses below 2^18, so that distances are added to it.
        const uint64_t start = (uint64_t)16 << 32 | ((matrix.start >> 4) + (8u << 16));
        int upper[UNITS][16], lower[UNITS][16];
#pragma unroll
        for (int u = 0; u < UNITS; u++) digits[u].fence();
        wgmma_fence();
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            multiply<true>(lower[u], digits[u], start);
            multiply<false>(upper[u], digits[u], start);
        }
        wgmma_commit();
        wgmma_wait(upper, lower);
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int low = ((lower[u][12 + e] + HALF) >> 7) + 2 * lower[u][8 + e] + 512 * lower[u][4 + e];
                const int middle = lower[u][e] + 256 * upper[u][12 + e];
                unsigned high = (unsigned)upper[u][8 + e] + 256u * (unsigned)upper[u][4 + e];
                if (WHOLE) high += 65536u * (unsigned)upper[u][e];
                const i64 sum = product(middle, factors.first, low);
                rounded[u].sum[e] = join(low_of(sum), high_of(sum) + 2 * high);
                rounded[u].top[e] = WHOLE ? 0 : upper[u][e];
            }
        }
        // Else the next products begin before these sums have been used: both would be in registers, and where those end the compiler waits for every product.
        scheduling_barrier(factors.first, place);
    }

    // From one piece of a matrix to the next, as descriptors count.
    static constexpr int PIECE = 1024 / 16;
};

// Numbers of f64, their digits multiplied by four warps together.
struct DoubleWgmma : Double {
    static constexpr Product PRODUCT = Product::WGMMA;
    typedef MmaWgmma Mma;
};

}  // namespace bailey
