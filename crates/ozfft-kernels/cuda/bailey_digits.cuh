// The digits of a step's words as the tensor instruction's first operand, and their products with the digits of a matrix.
#pragma once
#include "bailey_shape.cuh"
#include "mma_sync.cuh"
#include "tuned_block.cuh"

namespace bailey {

using namespace tuned;

// The digits of a column's words: row g of the operand has real parts, row g + 8 imaginary ones. Raised by 128 to unsigned
// bytes; what that adds to sums is a constant of every output.
template <class Step> struct StepDigits {
    static constexpr int EIGHTS = Step::EIGHTS, FOURS = Step::FOURS;
    unsigned low[EIGHTS > 0 ? EIGHTS : 1][4], high[EIGHTS > 0 ? EIGHTS : 1][4], both[4];

    // Word number q of this thread, that of slot 4q + t.
    DEVICE void put(int q, i64 re, i64 im) {
        const int s = q / 2, e = 2 * (q % 2);
        if (s < EIGHTS) {
            digits(re, low[s][e], high[s][e]);
            digits(im, low[s][e + 1], high[s][e + 1]);
        } else {
            digits(re, both[2], both[0]);
            digits(im, both[3], both[1]);
        }
    }
    // Slots that no thread has: they meet zeros of the matrix.
    DEVICE void fill() {
        if (Step::QUADS < 2 * EIGHTS) put(Step::QUADS, 0, 0);
    }
};

// `mma.sync` on 8-bit integers: any GPU from compute capability 8.0 on. A fragment of the matrix is used for all units of the
// warp before the next one is loaded.
struct MmaSync {
    // Four diagonals of one operand: sums[u][4·d + …] (+)= operand(u) · piece.
    template <int UNITS, class Operand>
    static DEVICE void piece(int (&sums)[UNITS][16], bool first, const uint4 *matrix, const Operand &operand) {
#pragma unroll
        for (int pair = 0; pair < 2; pair++) {
            const uint4 fragments = table_entry(matrix + 32 * pair);
            const unsigned even[2] = {fragments.x, fragments.y}, odd[2] = {fragments.z, fragments.w};
#pragma unroll
            for (int u = 0; u < UNITS; u++) {
                mma_sync_u8(sums[u], 8 * pair, operand(u), even, first);
                mma_sync_u8(sums[u], 8 * pair + 4, operand(u), odd, first);
            }
        }
    }

    // Diagonals 0 to 3 of eight outputs; `matrix` is the lane's.
    template <class Step, int UNITS>
    static DEVICE void upper(int (&sums)[UNITS][16], const StepDigits<Step> (&digits)[UNITS], const uint4 *matrix) {
#pragma unroll
        for (int s = 0; s < Step::EIGHTS; s++)
            piece(sums, s == 0, matrix + 64 * s, [&](int u) -> const unsigned(&)[4] { return digits[u].high[s]; });
        if (Step::FOURS)
            piece(sums, Step::EIGHTS == 0, matrix + 64 * Step::EIGHTS, [&](int u) -> const unsigned(&)[4] { return digits[u].both; });
    }

    // Diagonals 4 to 7.
    template <class Step, int UNITS>
    static DEVICE void lower(int (&sums)[UNITS][16], const StepDigits<Step> (&digits)[UNITS], const uint4 *matrix) {
        matrix += 64 * (Step::EIGHTS + Step::FOURS);
#pragma unroll
        for (int s = 0; s < Step::EIGHTS; s++)
            piece(sums, s == 0, matrix + 64 * s, [&](int u) -> const unsigned(&)[4] { return digits[u].high[s]; });
#pragma unroll
        for (int s = 0; s < Step::EIGHTS; s++)
            piece(sums, false, matrix + 64 * (Step::EIGHTS + s), [&](int u) -> const unsigned(&)[4] { return digits[u].low[s]; });
        if (Step::FOURS)
            piece(sums, Step::EIGHTS == 0, matrix + 64 * 2 * Step::EIGHTS, [&](int u) -> const unsigned(&)[4] { return digits[u].both; });
    }
};

// Four sums of eight diagonals put together (0, 1: real parts of two outputs, 2, 3: imaginary parts), rounded, modulo 2^64 and
// raised by their constants; in a last step the topmost diagonal is kept apart, at weight 2^49.
struct Rounded {
    i64 sum[4];
    int top[4];
};

// The products of eight outputs with the columns of all units. The lower diagonals come first, so that the sums of the upper
// ones can take their registers.
template <class Mma, bool WHOLE, class Step, int UNITS>
DEVICE void multiply(Rounded (&rounded)[UNITS], const StepDigits<Step> (&digits)[UNITS], const uint4 *matrix, const Factors &factors) {
    int low[UNITS][4], middle[UNITS][4];
    {
        int sums[UNITS][16];
        Mma::lower(sums, digits, matrix);
#pragma unroll
        for (int u = 0; u < UNITS; u++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                low[u][e] = ((sums[u][12 + e] + 64) >> 7) + 2 * sums[u][8 + e] + 512 * sums[u][4 + e];
                middle[u][e] = sums[u][e];
            }
    }
    int sums[UNITS][16];
    Mma::upper(sums, digits, matrix);
#pragma unroll
    for (int u = 0; u < UNITS; u++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            unsigned high = (unsigned)sums[u][8 + e] + 256u * (unsigned)sums[u][4 + e];
            if (WHOLE) high += 65536u * (unsigned)sums[u][e];
            const i64 sum = product(middle[u][e] + 256 * sums[u][12 + e], factors.first, low[u][e]);
            rounded[u].sum[e] = join(low_of(sum), high_of(sum) + 2 * high);
            rounded[u].top[e] = WHOLE ? 0 : sums[u][e];
        }
}

}  // namespace bailey
