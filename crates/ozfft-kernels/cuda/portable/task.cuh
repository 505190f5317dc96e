// What a launch of the general kernels is told. The host lays out the same structures: sizes and order must agree.
#pragma once
#include "arch/threads.cuh"

// A complex word, or the bits of two double-precision numbers.
struct alignas(16) Words {
    int64_t re, im;
};

// A table entry of modulus about 1, scaled by 2^62: both parts in signed halves of 32 bits.
struct alignas(16) Angle {
    int32_t re_high, re_low, im_high, im_low;
};

enum Fold : int32_t { FOLD_UNIT = 0, FOLD_PLAIN = 1, FOLD_TIME_SHIFTED = 2, FOLD_FREQUENCY_SHIFTED = 3 };
enum Role : int32_t { ROLE_ONLY = 0, ROLE_FIRST = 1, ROLE_MIDDLE = 2, ROLE_LAST = 3 };
enum Elements : int32_t { ELEMENTS_COMPLEX = 0, ELEMENTS_REAL = 1, ELEMENTS_HALF = 2 };
enum Source : int32_t { SOURCE_FLOATS = 0, SOURCE_CHIRPED_FLOATS = 1, SOURCE_GROUP_WORDS = 2, SOURCE_LINE_WORDS = 3 };
enum Sink : int32_t { SINK_FLOATS = 0, SINK_NEXT_PASS = 1, SINK_KERNEL_PRODUCT = 2, SINK_UNCHIRPED_FLOATS = 3 };
enum Symmetry : int32_t { SYMMETRY_NONE = 0, SYMMETRY_REAL = 1, SYMMETRY_HERMITIAN = 2 };
enum NatureUse : int32_t { NATURE_OWN = 0, NATURE_RECORD = 1, NATURE_RECALL = 2, NATURE_NONE = 3 };

// What is known of the numbers of a line.
constexpr uint32_t NOT_FINITE = 1, HAS_REAL = 2, HAS_IMAGINARY = 4;

// One small DFT with its tables.
struct Step {
    // Digits of the cosine, then of the sine matrix, as the tensor instruction wants its second operand: for every
    // tile of 8 outputs, diagonal, half of the data word and 8 slots, 64 words of 32 bits, two for every lane.
    const uint32_t *matrix;
    // None after the last of several steps.
    const Angle *rotations;
    int32_t n, fold, role;
    // Elements of a column lie so far apart.
    int32_t inner;
    int32_t shift;
    // Tiles of eight slots, and of outputs.
    int32_t tiles;
    int32_t rotation_stride, mirror_negates;
};

// One of the dimensions that number the lines of an array.
struct Dimension {
    uint64_t length;
    int64_t stride;
};

// The lines of an array of floating-point numbers.
struct FloatLines {
    void *numbers;
    const Dimension *dimensions;
    // In elements: complex numbers, or reals where the elements are real.
    int64_t offset, stride;
    // Elements that are kept of every line.
    uint64_t count;
    int32_t dimension_count;
    int32_t single;
    int32_t elements;
    int32_t conjugate;
    // Complex numbers may be read and written 16 bytes at a time.
    int32_t aligned;
    int32_t unused;
};

// One pass over many lines.
struct Task {
    FloatLines input, output;

    const Step *steps;
    // Where every output of the block lies after the last step.
    const uint32_t *places;
    // Words of the pass before, of this one (the same memory, in place), and their exponents.
    const Words *words_in;
    const int32_t *exponents_in;
    Words *words_out;
    int32_t *exponents_out;
    // Chirp or spectrum of the chirp.
    const Angle *source_table, *sink_table;
    // Roots of unity: powers up to 2^low_bits, and multiples of that.
    const Angle *roots_low, *roots_high;
    // One entry for each transform of the launch.
    uint32_t *natures;
    // Lines that another kernel has left, and how many; none where all are to be transformed.
    const uint64_t *list;
    const uint32_t *list_count;
    // Bits of every transform's largest number; null where there is no scaling between axes. Then the dimensions that number
    // the lines, with the strides of the transforms' numbers.
    const uint64_t *largest;
    const Dimension *transforms;
    // A bit for each line, which those set that are transformed here; or none.
    uint32_t *marks;

    // Points of one transform, and of what its words and exponents take in memory.
    uint64_t transform_length, words_distance, exponents_in_distance, exponents_out_distance;
    // Lines of this pass that one transform has, in groups of `inner` neighbours; of each group `length` points.
    uint64_t lines_per_transform, inner, length;
    // Groups of this pass, which is the step of the outputs of a last pass.
    uint64_t groups;
    // Group words: so many groups of the pass before share exponents. Line words: exponents repeat after so many.
    uint64_t previous;
    // All lines of the launch, and the number of the first transform in the arrays of floating-point numbers.
    uint64_t line_count, first_transform;
    // Points of the transform that the caller sees: known zeros, and the end of a chirp.
    uint64_t visible_length;
    // Lengths of the passes before this one, of which a last pass's groups are the digits.
    uint64_t earlier_lengths[8];
    int32_t earlier_count;

    int32_t block_length, line_pitch, step_count;
    int32_t data_digits, matrix_digits, diagonals, exact;
    int32_t word_bits;
    // Added to the exponents of the outputs, besides what scales between axes.
    int32_t exponent_offset;
    // Bits that numbers may grow by in a transform of several axes: negative in the first, positive in the last, else 0.
    int32_t bias;
    int32_t source, sink, nature_use;
    int32_t root_low_bits;
    int32_t lines_per_block;
    // Neighbouring threads take neighbouring lines, not neighbouring elements of a line.
    int32_t load_across, store_across;
    // What is known of all lines, and spares work without changing a bit (bailey.rs).
    int32_t symmetry;
    // From row to row of the first step in shared memory (truncated_block.cu).
    int32_t row_pitch;
    // From column to column, likewise.
    int32_t column_pitch;
    int32_t transform_dimension_count;
};

// Two passes of transforms that fit shared memory, or one: then the second has no steps.
struct Tasks {
    Task passes[2];
};

// A copy of lines of one point, the search for every transform's largest number, and what goes with it.
struct ArrayTask {
    FloatLines input, output;
    // As in a Task.
    uint64_t *largest;
    const Dimension *transforms;
    // Not 0 as soon as a number has been found that asks to scale its transform down.
    uint64_t *scaled_down;
    uint64_t line_count;
    // From element to element of a line, in the numbers of their transforms.
    int64_t transform_stride;
    // Lines that another kernel has left, how many, and a bit for each line of the array.
    const uint64_t *list;
    const uint32_t *list_count;
    uint32_t *marks;
    int32_t bias;
    int32_t transform_dimension_count;
};

static_assert(sizeof(Step) == 48 && sizeof(FloatLines) == 64 && sizeof(Task) == 504 && sizeof(ArrayTask) == 200,
              "the host lays out the same structures");
