// How many bits, and how many moduli, the numbers at hand need (crates/residues, adaptive.rs).
//
// - A line's unit may be coarser than its words have room for, where less than full accuracy is asked for: the line's norm is bounded from below by the exponents of its
//   numbers alone, in integers, so that it is the processor's unit to the bit.
// - The line's unit, and the words of eight columns, folded, decide how many moduli their products take. Zeros that all of them end in are left off, and the sums shifted less.
//   Nothing is rounded: as many moduli as the largest sum of a column's magnitudes needs return the same integers. A warp decides for itself, so no line is sorted, and none is left.
#pragma once
#include "residues/residue_step.cuh"
#include "portable/row_lines.cuh"

// Moduli are taken in pairs: so many at least, and one more with each choice; all of a step with the last one.
constexpr int LEAST_PAIRS = 5, CHOICES = 4;
// Zeros at the ends of words that are left off at most: sums are divided by 2^8 or more.
constexpr int MOST_ZEROS = 47;

// What a launch is told: where to count, and the unit of a line's words relative to its norm, a power of two, if it may be so coarse.
constexpr int32_t NO_UNIT = INT32_MIN;
struct Adaptation {
    // Columns of the first step by choice, those of the second, and lines that want a finer unit than words have room for.
    uint64_t *counts;
    int32_t unit, unused;
};
struct AdaptedTask {
    Task task;
    Adaptation adaptation;
};
static_assert(sizeof(AdaptedTask) == sizeof(Task) + 16, "the host lays out the same structure");

// Of a block, in shared memory behind the flags that all of its lines have in common.
constexpr int COUNTS = 2 * CHOICES + 1, COUNTS_PLACE = 64;
static_assert(COUNTS_PLACE + 4 * COUNTS <= COMMON_BYTES, "counts fit what lines have in common");
DEVICE unsigned *counts_of_block() { return reinterpret_cast<unsigned *>(shared_memory() + COUNTS_PLACE); }
DEVICE void clear_counts_of_block() {
    if (thread_number() < COUNTS) {
        counts_of_block()[thread_number()] = 0;
    }
    block_barrier();
}
DEVICE void add_counts_of_block(const Adaptation &adaptation) {
    const int number = thread_number();
    if (number < COUNTS && counts_of_block()[number] != 0) {
        atomic_add(adaptation.counts + number, uint64_t{counts_of_block()[number]});
    }
}

// Bits below the largest number's that the sum of squares keeps.
constexpr int SQUARE_BITS = 40;

// The sum of the squares of the leading bits of a line's numbers, over that of the largest.
DEVICE void add_up_squares(const Task &task, const RowPanel &panel, uint64_t *squares) {
    const Places places(panel);
    for_each_line(panel, task.block_length, false, [&](int32_t number, int32_t first, int32_t step) {
        const Line &line = panel.lines[number];
        if (line.scale == NOTHING || (line.flags & NOT_FINITE) != 0) {
            return;
        }
        auto square = [&](int64_t bits) {
            const int32_t field = field_of(bits), scale = field != 0 ? field - 1022 : scale_of(decoded_double(static_cast<uint64_t>(bits)));
            const int32_t below = 2 * (line.scale - scale);
            return below <= SQUARE_BITS ? uint64_t{1} << (SQUARE_BITS - below) : 0;
        };
        uint64_t sum = 0;
        for (int32_t i = first; i < task.block_length; i += step) {
            const Words point = panel.points[line.base + places.of(i)];
            sum += square(point.re) + square(point.im);
        }
        atomic_add(squares + number, sum);
    });
}

// A line's exponent, or the coarsest that is allowed, and by how many bits it is coarser. A line that is allowed none wants a finer one than there is.
DEVICE int32_t coarsened(const Adaptation &adaptation, Line &line, uint64_t squares, int32_t exponent) {
    if (adaptation.unit == NO_UNIT) {
        return exponent;
    }
    const int32_t norm = (63 - leading_zeros(squares) - SQUARE_BITS) >> 1;
    const int32_t coarsest = line.scale - 1 + norm + adaptation.unit;
    if (coarsest < exponent) {
        atomic_add(&counts_of_block()[COUNTS - 1], 1u);
    }
    // Nobody asks for the bits of the outputs here.
    line.output_bits = coarsest > exponent ? coarsest - exponent : 0;
    return exponent + line.output_bits;
}

// The largest sum of magnitudes in a column, in units of the line's words: columns of the first step add up to 2^61 units and half a one for every number, before the line was
// made coarser by `coarser` bits; words of the second are below 1.05 times that, but for what roundings add (residue_products.rs, largest_sum). Of the second step in units of 64.
template <bool CLOSING, int N> DEVICE uint64_t most_by_line(int32_t coarser) {
    const uint64_t first = (coarser < 61 ? uint64_t{1} << (61 - coarser) : 1) + 64;
    return CLOSING ? (first + (first >> 4) + 64) / (64 / N) + 1 : first;
}

// What the folded words of a warp's eight columns need: zeros that have been left off, and which number of moduli.
struct Need {
    int32_t zeros, choice;
};

// `most` has the largest sums of a column's magnitudes that all numbers of moduli but the last hold. They are bounded by what is known of the line, and by the longest word.
template <bool CLOSING, int N> DEVICE Need need_of(int64_t (&words)[4][SLOTS_OF_A_LANE<N>], int32_t coarser, const uint64_t *most) {
    // Bits that any word has, and that any has without its sign.
    uint32_t low = 0, high = 0, low_size = 0, high_size = 0;
#pragma unroll
    for (int kind = 0; kind < 4; kind++) {
#pragma unroll
        for (int j = 0; j < SLOTS_OF_A_LANE<N>; j++) {
            const uint32_t w0 = static_cast<uint32_t>(words[kind][j]), w1 = static_cast<uint32_t>(words[kind][j] >> 32);
            const uint32_t sign = static_cast<uint32_t>(static_cast<int32_t>(w1) >> 31);
            low_size |= w0 ^ sign;
            high_size |= w1 ^ sign;
            if (!CLOSING) {
                low |= w0;
                high |= w1;
            }
        }
    }
    const uint64_t size = static_cast<uint64_t>(warp_or(high_size)) << 32 | warp_or(low_size);
    int32_t zeros = 0;
    if (!CLOSING) {
        // After rotations words end in anything.
        const uint64_t bits = static_cast<uint64_t>(warp_or(high)) << 32 | warp_or(low);
        zeros = bits == 0 ? 0 : 63 - leading_zeros(bits & (0 - bits));
        zeros = zeros < MOST_ZEROS ? zeros : MOST_ZEROS;
    }
    // Columns may be of two lines.
    const int32_t least = 63 - static_cast<int32_t>(warp_maximum(static_cast<uint32_t>(coarser < 63 ? 63 - coarser : 0)));
    const uint64_t by_line = most_by_line<CLOSING, N>(least) >> zeros;
    // N words of a column are added up; a magnitude may be one more than its bits say.
    constexpr int UNIT = CLOSING ? 6 : 0;
    const int32_t length = 64 - leading_zeros(size) - zeros;
    const uint64_t by_words = length > 57 ? ~uint64_t{0} >> 1 : ((static_cast<uint64_t>(N) << (length > 0 ? length : 0)) >> UNIT) + 1;
    const uint64_t largest = by_line < by_words ? by_line : by_words;
    int32_t choice = CHOICES - 1;
#pragma unroll
    for (int i = CHOICES - 2; i >= 0; i--) {
        choice = largest <= most[i] >> UNIT ? i : choice;
    }
    if (zeros != 0) {
#pragma unroll
        for (int kind = 0; kind < 4; kind++) {
#pragma unroll
            for (int j = 0; j < SLOTS_OF_A_LANE<N>; j++) words[kind][j] >>= zeros;
        }
    }
    return {zeros, choice};
}
