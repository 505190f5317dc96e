// target: fatbin
// tuned
// Transforms of lines in short floating-point numbers, a kernel for every mode and length: bf16, ozaki and ozaki_hq multiply
// one, two and three bf16 numbers, fp16 and fp16_ozaki one and two f16 numbers. `float_products_…` multiply any matrices: what
// the probe asks.
#include "floats/float_lines.cuh"

// Lines of a warp: 32 points a lane of plain modes, 16 of others where lines are short enough.
#define FLOAT_LINES(name, format, parts, n1, n2, lines, threads, blocks) \
    KERNEL(threads, blocks) name##_##n1##x##n2(PARAMETERS FloatTask task) { float_lines::run<Format::format, parts, n1, n2, lines>(task); }

FLOAT_LINES(float_bf16, BF16, 1, 8, 8, 16, 256, 2)
FLOAT_LINES(float_bf16, BF16, 1, 8, 16, 8, 256, 2)
FLOAT_LINES(float_bf16, BF16, 1, 16, 16, 4, 256, 2)
FLOAT_LINES(float_bf16, BF16, 1, 16, 32, 2, 256, 2)
FLOAT_LINES(float_bf16, BF16, 1, 32, 32, 1, 256, 2)

FLOAT_LINES(float_ozaki, BF16, 2, 8, 8, 8, 256, 2)
FLOAT_LINES(float_ozaki, BF16, 2, 8, 16, 4, 256, 2)
FLOAT_LINES(float_ozaki, BF16, 2, 16, 16, 2, 256, 2)
FLOAT_LINES(float_ozaki, BF16, 2, 16, 32, 1, 256, 2)
FLOAT_LINES(float_ozaki, BF16, 2, 32, 32, 1, 384, 1)

FLOAT_LINES(float_ozaki_hq, BF16, 3, 8, 8, 8, 384, 1)
FLOAT_LINES(float_ozaki_hq, BF16, 3, 8, 16, 4, 384, 1)
FLOAT_LINES(float_ozaki_hq, BF16, 3, 16, 16, 2, 384, 1)
FLOAT_LINES(float_ozaki_hq, BF16, 3, 16, 32, 1, 384, 1)
FLOAT_LINES(float_ozaki_hq, BF16, 3, 32, 32, 1, 256, 1)

FLOAT_LINES(float_fp16, F16, 1, 8, 8, 16, 256, 2)
FLOAT_LINES(float_fp16, F16, 1, 8, 16, 8, 256, 2)
FLOAT_LINES(float_fp16, F16, 1, 16, 16, 4, 256, 2)
FLOAT_LINES(float_fp16, F16, 1, 16, 32, 2, 256, 2)
FLOAT_LINES(float_fp16, F16, 1, 32, 32, 1, 256, 2)

FLOAT_LINES(float_fp16_ozaki, F16, 2, 8, 8, 8, 256, 2)
FLOAT_LINES(float_fp16_ozaki, F16, 2, 8, 16, 4, 256, 2)
FLOAT_LINES(float_fp16_ozaki, F16, 2, 16, 16, 2, 256, 2)
FLOAT_LINES(float_fp16_ozaki, F16, 2, 16, 32, 1, 256, 2)
FLOAT_LINES(float_fp16_ozaki, F16, 2, 32, 32, 1, 256, 1)

// Sums of products of matrices of pairs, all terms in turn: left [term][row][pair], right [term][pair][column].
struct FloatProduct {
    const uint32_t *left, *right;
    float *sums;
    int rows, pairs, columns, terms;
};

// A block of one warp has 16 rows and 8 columns.
template <Format FORMAT> DEVICE void float_products(const FloatProduct &task) {
    const int lane = (int)threadIdx.x, g = lane / 4, t = lane % 4, tiles = task.columns / 8;
    const int row = 16 * ((int)blockIdx.x / tiles) + g, column = 8 * ((int)blockIdx.x % tiles);
    float c[4] = {0, 0, 0, 0};
    for (int term = 0; term < task.terms; term++)
        for (int pair = t; pair < task.pairs; pair += 8) {
            const uint32_t *left = task.left + (size_t)(term * task.rows + row) * task.pairs + pair;
            const uint32_t *right = task.right + (size_t)(term * task.pairs + pair) * task.columns + column + g;
            const uint32_t a[4] = {left[0], left[8 * task.pairs], left[4], left[8 * task.pairs + 4]};
            mma_floats<FORMAT>(c, a, right[0], right[4 * task.columns]);
        }
    float *sums = task.sums + (size_t)row * task.columns + column + 2 * t;
    sums[0] = c[0];
    sums[1] = c[1];
    sums[8 * task.columns] = c[2];
    sums[8 * task.columns + 1] = c[3];
}

KERNEL(32, 1) float_products_bf16(PARAMETERS FloatProduct task) { float_products<Format::BF16>(task); }
KERNEL(32, 1) float_products_fp16(PARAMETERS FloatProduct task) { float_products<Format::F16>(task); }
