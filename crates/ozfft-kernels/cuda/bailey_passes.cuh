// Transforms of two passes of blocks in one launch: columns of NA points, then rows of NB points, with words between them in shared
// memory. Every column and every row has an exponent of its own. The steps are those of bailey_block.cuh: columns and rows are
// its strided lines, as many at a time as a group's warps have registers for.
#pragma once
#include "bailey_words.cuh"

namespace bailey {

// Exponent fields of the largest number of a column that are handled here: words of the second pass may have units as far as 60
// bits below those of the first one.
constexpr int LEAST_COLUMN_FIELD = 256;
// What is known of a transform.
constexpr unsigned SOME_REAL = 1, SOME_IMAGINARY = 2, LEFT = 4;
// A group has LINES transforms at a time, and WARPS warps. UNITS_A, UNITS_B1, UNITS_B2: tiles of eight columns that a warp takes together in
// the first step of either pass and in the last step of the second. GROUPS and STRIDED: as of BlockShape, for transforms.
template <int A1_, int A2_, int B1_, int B2_, int LINES_, int WARPS_, int UNITS_A, int UNITS_B1, int UNITS_B2, bool STRIDED_, int GROUPS_>
struct PassesShape {
    static constexpr int A1 = A1_, A2 = A2_, B1 = B1_, B2 = B2_, NA = A1 * A2, NB = B1 * B2, N = NA * NB;
    static constexpr int LINES = LINES_, PANEL = LINES_, WARPS = WARPS_;
    static constexpr bool STRIDED = STRIDED_, SHARED_TABLES = GROUPS_ > 0;
    static constexpr int GROUPS = GROUPS_ > 0 ? GROUPS_ : 1;
    static constexpr int GROUP_THREADS = 32 * WARPS, THREADS = GROUPS * GROUP_THREADS;
    static constexpr int COLUMNS = LINES * NB, ROWS = LINES * NA;  // lines of either pass
    // As many of them at a time, shared out evenly.
    static constexpr int at_a_time(int all, int most) { return most >= all ? all : (all + (all + most - 1) / most - 1) / ((all + most - 1) / most); }
    static constexpr int COLUMNS_AT_A_TIME = at_a_time(COLUMNS, 8 * UNITS_A * WARPS / A2), ROWS_AT_A_TIME = at_a_time(ROWS, 8 * UNITS_B1 * WARPS / B2);
    typedef BlockShape<A1, A2, COLUMNS_AT_A_TIME, UNITS_A, 1, true, GROUPS_> BlockA;
    typedef BlockShape<B1, B2, ROWS_AT_A_TIME, UNITS_B1, UNITS_B2, true, GROUPS_> BlockB;
    // Outputs of the first pass have up to 61 bits, or 63; after a last step that is a product, they may have 66.
    static constexpr bool WIDE = StepShape<A2>::MATRIX;
    static_assert(BlockA::WARPS <= WARPS && BlockB::WARPS <= WARPS, "warps for all columns");
    // A group's shared memory: words between the steps of a pass, words between the passes, statistics of columns and of rows,
    // exponents of columns, what is known of transforms (two rounds). A quarter of a warp writes four rows of two neighbouring
    // columns and reads two neighbouring rows of columns at a distance of B2.
    static constexpr int PITCH = next_with(NA, 5, 8);
    static constexpr int larger(int a, int b) { return a > b ? a : b; }
    static constexpr int WORDS = larger(BlockA::STATISTICS, BlockB::STATISTICS);
    static constexpr int COLUMN_SLOTS = (COLUMNS + COLUMNS_AT_A_TIME - 1) / COLUMNS_AT_A_TIME * COLUMNS_AT_A_TIME;
    static constexpr int ROW_SLOTS = (ROWS + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
    static constexpr int STATISTICS_A = WORDS + 16 * COLUMNS * PITCH, STATISTICS_B = STATISTICS_A + 16 * COLUMN_SLOTS;
    // The partner that a plain step's first element has not got is looked up behind the last column.
    static constexpr int EXPONENTS = STATISTICS_B + 16 * ROW_SLOTS, KNOWN = EXPONENTS + 8 * (COLUMNS + B2);
    static constexpr int TOPS = KNOWN + 8 * LINES;  // what wide outputs have beyond 64 bits
    static constexpr int GROUP = (TOPS + (WIDE ? COLUMNS * PITCH : 0) + 15) / 16 * 16;
    static constexpr int COMMON = GROUPS * GROUP, TABLES = COMMON + 16;
    static constexpr int TABLE_BYTES = BlockA::Tables::BYTES + BlockB::Tables::BYTES;
    static constexpr int ROOTS = TABLE_BYTES;  // in the image of the tables, not in shared memory
    static constexpr int IMAGE_BYTES = ROOTS + 16 * N;
    static constexpr int SHARED = TABLES + (SHARED_TABLES ? TABLE_BYTES : 0);

    // The passes as blocks of this group.
    struct PassA : BlockA {
        static constexpr int WARPS = PassesShape::WARPS, GROUP_THREADS = PassesShape::GROUP_THREADS, THREADS = PassesShape::THREADS;
        static constexpr int GROUP = PassesShape::GROUP, COMMON = PassesShape::COMMON, TABLES = PassesShape::TABLES, FIRST_TABLE = 0;
    };
    struct PassB : BlockB {
        static constexpr int WARPS = PassesShape::WARPS, GROUP_THREADS = PassesShape::GROUP_THREADS, THREADS = PassesShape::THREADS;
        static constexpr int GROUP = PassesShape::GROUP, COMMON = PassesShape::COMMON;
        static constexpr int TABLES = PassesShape::TABLES + BlockA::Tables::BYTES, FIRST_TABLE = BlockA::Tables::BYTES;
    };
};

// Which transform of the group, and which of its LENGTH columns or rows, is number `index`: neighbours are neighbours in memory.
template <class P, int LENGTH> struct InTransform {
    int line, place;
    DEVICE explicit InTransform(int index) {
        const unsigned i = (unsigned)index;
        line = P::STRIDED ? i % P::LINES : i / LENGTH;
        place = P::STRIDED ? i / P::LINES : i % LENGTH;
    }
};

template <class P> DEVICE unsigned char *group_memory(int group) { return shared_memory() + group * P::GROUP; }
template <class P> DEVICE uint32_t word_number(int line, int column, int row) { return (line * P::NB + column) * P::PITCH + row; }
template <class P> DEVICE uint32_t words_start(int group) { return shared_address(group_memory<P>(group)) + P::WORDS; }
template <class P> DEVICE uint32_t tops_start(int group) { return shared_address(group_memory<P>(group)) + P::TOPS; }

// Of columns, as of lines; and the upper half of the largest output.
struct ColumnStatistics : PassStatistics {
    DEVICE LineFacts facts(int line) const { return {of(line)[0], of(line)[1], of(line)[2]}; }
};
// What the second pass knows of a column: its exponent, and by how many bits its outputs are shifted down.
template <class P> DEVICE uint32_t exponent_place(int group, int line, int column) {
    return shared_address(group_memory<P>(group)) + P::EXPONENTS + 8 * (line * P::NB + column);
}
template <class P> DEVICE unsigned *known(int group, unsigned round) { return (unsigned *)(group_memory<P>(group) + P::KNOWN) + (round & 1) * P::LINES; }

// Outputs of the first pass for the second one: words, and how large they are.
template <class P> struct ToWords {
    uint32_t start, tops;
    unsigned *statistic;
    unsigned largest = 0;
    bool there;
    DEVICE ToWords(int group, int base, const Column &column, const ColumnStatistics &statistics) : statistic(statistics.of(column.line) + 3) {
        there = column.there && base + column.line < P::COLUMNS;
        const InTransform<P, P::NB> at(there ? base + column.line : 0);
        const uint32_t first = word_number<P>(at.line, at.place, 0);
        start = words_start<P>(group) + 16 * first;
        tops = tops_start<P>(group) + first;
    }
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) {
        put_word<P::WIDE>(start + 16 * index, tops + index, re, top_re, im, top_im, conjugated, largest, is_one && there);
    }
    DEVICE void done() const {
        unsigned all = largest | shuffle_xor(largest, 1);
        all |= shuffle_xor(all, 2);
        if ((thread_number() & 3) == 0) atomic_maximum(statistic, all);
    }
};

// The numbers of columns `base`, … of a panel's transforms.
template <class P, class Numbers>
DEVICE void read_pass_columns(const TunedArguments &args, const Lines<P> &lines, int base, Numbers (&numbers)[P::PassA::UNITS1]) {
    typedef typename P::PassA S;
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const InTransform<P, P::NB> at(base + column.line);
        const bool present = base + column.line < P::COLUMNS && lines.has(args, at.line);
        const i64 element = P::STRIDED ? args.from.element : 1;
        const i64 start = lines.start(args.from, present ? at.line : 0) + (column.place * P::NB + (present ? at.place : 0)) * element;
        read_column<S>(args, start, (i64)(S::N2 * P::NB) * element, column, lane.t, present, numbers[u]);
    }
}

// The last step of the first pass, where it is one of four points. A thread takes a row of a column.
template <class P> DEVICE void unit_step_of_columns(int base, const ColumnStatistics &statistics) {
    typedef typename P::PassA S;
    const Lane<S> lane;
#pragma unroll 1
    for (int first = 32 * lane.warp; first < S::ROWS; first += S::GROUP_THREADS) {
        // All threads of a warp go on together: see docs/gpu-template.md.
        const bool there = S::ROWS % 32 == 0 || first + lane.number < S::ROWS;
        const Numbered<S::STRIDED, S::LINES, S::N1> row(there ? first + lane.number : S::ROWS - 1);
        ToWords<P> end(lane.group, base, Column{row.line, row.place, there}, statistics);
        unit_step_of_row<S>(lane, row.line, row.place, end);
        // Neighbouring threads have other columns.
        atomic_maximum(end.statistic, end.largest);
    }
}

// Exponents of a row's elements: those of the columns, looked up when they are needed.
struct ColumnExponents {
    uint32_t near, far;  // where those of the first ones are
    int step;
    DEVICE int of(int i) const { return load_shared_int(i % 2 == 0 ? near + i / 2 * step : far - i / 2 * step); }
};
template <class P> struct PassWords {
    typedef RowWords<2 * P::PassB::First::QUADS, ColumnExponents> Type;
};

// Outputs of the first pass in rows `base`, …, rounded to words of 61 bits and rotated.
template <class P, class Words>
DEVICE void read_rows(const TunedArguments &args, int base, Words (&words)[P::PassB::UNITS1]) {
    typedef typename P::PassB S;
    const Lane<S> lane;
    const Factors factors = factors_of<Int8>(args);
    const uint4 *const roots = (const uint4 *)((const unsigned char *)args.tables + P::ROOTS);
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const bool present = base + column.line < P::ROWS;
        const InTransform<P, P::NA> at(present ? base + column.line : 0);
        const ColumnElements<S> elements(column, lane.t);
        words[u].exponents = {exponent_place<P>(lane.group, at.line, elements.near), exponent_place<P>(lane.group, at.line, elements.far), 8 * elements.step};
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            i64 re = 0, im = 0;
            if (present && elements.has(i, lane.t)) {
                const int j = elements.of(i);
                const uint32_t number = word_number<P>(at.line, j, at.place);
                // Outputs of a single step fit as they are.
                const int shift = P::A2 == 1 ? 0 : load_shared_int(exponent_place<P>(lane.group, at.line, j) + 4);
                narrowed<P::WIDE>(words_start<P>(lane.group) + 16 * number, tops_start<P>(lane.group) + number, shift, re, im);
                rotate(re, im, table_entry(roots + j * P::NA + at.place), factors);
                if (elements.mirrored) im = -im;
            }
            words[u].re[i] = re;
            words[u].im[i] = im;
        }
    }
}

// Outputs of the second pass: to the caller's array.
template <class P, bool CONVERSIONS> struct ToTransform {
    Finish<CONVERSIONS> finish;
    uint4 *start;
    i64 element;
    unsigned conjugate, known;
    int row;
    bool there;
    DEVICE void done() const {}
    DEVICE ToTransform(const TunedArguments &args, const Lines<P> &lines, const RowFacts<Double> &facts, int group, unsigned round, int index, bool is_row)
        : finish(facts.exponent() + common_exponent<P>()), conjugate(args.conjugate_output) {
        const bool present = is_row && index < P::ROWS;
        const InTransform<P, P::NA> at(present ? index : 0);
        known = bailey::known<P>(group, round)[at.line];
        there = present && lines.has(args, at.line) && (known & LEFT) == 0;
        row = at.place;
        element = P::STRIDED ? args.to.element : 1;
        start = args.output + lines.start(args.to, at.line) + row * element;
        element *= P::NA;
    }
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) const {
        uint4 value = finish(re, top_re, im, top_im, conjugate ^ (conjugated ? 0x80000000u : 0u));
        const int output = row + P::NA * index;
        if ((known & (SOME_REAL | SOME_IMAGINARY)) != (SOME_REAL | SOME_IMAGINARY) && (output == 0 || 2 * output == P::N)) {
            const unsigned keep_re = (known & SOME_REAL) != 0 ? ~0u : 0u, keep_im = (known & SOME_IMAGINARY) != 0 ? ~0u : 0u;
            value = make_uint4(value.x & keep_re, value.y & keep_re, value.z & keep_im, value.w & keep_im);
        }
        if (is_one && there) start[index * element] = value;
    }
};

template <class P, class Mma, bool CONVERSIONS> DEVICE void run_passes(const TunedArguments &args) {
    typedef typename P::PassA A;
    typedef typename P::PassB B;
    const Lane<A> lane;
    const int group = lane.group;
    begin_tables<P, P::TABLE_BYTES>(args);
    const auto each = [](int count, const auto &work) { share_out<P::GROUP_THREADS>(Lane<A>().in_group(), count, work); };
    unsigned *const of_columns = (unsigned *)(group_memory<P>(group) + P::STATISTICS_A), *const of_rows = (unsigned *)(group_memory<P>(group) + P::STATISTICS_B);
    each(4 * P::COLUMN_SLOTS, [&](int i) { of_columns[i] = 0; });
    each(2 * P::LINES, [&](int i) { known<P>(group, 0)[i] = 0; });
    // What is looked up behind the last column is of zeros: it shall not ask for shifts to the right.
    each(P::B2, [&](int i) { store_shared(exponent_place<P>(group, 0, P::COLUMNS + i), make_uint2(0x10000u, 0u)); });
    begin_lines<P>(args);
    end_tables<P>();
    const unsigned step = gridDim.x * P::GROUPS;
    unsigned round = 0;
#pragma unroll 1
    for (unsigned panel = blockIdx.x + gridDim.x * group; panel < args.panels; panel += step, round++) {
        const Lines<P> lines(args, panel);
#pragma unroll 1
        for (int base = 0; base < P::COLUMNS; base += P::COLUMNS_AT_A_TIME) {
            const ColumnStatistics statistics{{of_columns + 4 * base}};
            typename NumbersOf<CONVERSIONS, 2 * A::First::QUADS>::Type numbers[A::UNITS1];
            read_pass_columns<P>(args, lines, base, numbers);
            note_largest<A>(numbers, statistics);
            group_barrier<A>(group);
            // No thread is in the second pass of the round before any more.
            if (base == 0) each(4 * P::ROW_SLOTS, [&](int i) { of_rows[i] = 0; });
            note_sums<A>(numbers, statistics);
            group_barrier<A>(group);
            const auto end_of = [&](const Column &column) { return ToWords<P>(group, base, column, statistics); };
            first_step<A, Mma>(args, numbers, statistics, end_of);
            if constexpr (A::N2 > 1) {
                group_barrier<A>(group);
                if constexpr (P::WIDE)
                    last_step<A, Mma>(args, end_of);
                else
                    unit_step_of_columns<P>(base, statistics);
            }
        }
        group_barrier<A>(group);
        // What the second pass has to know of columns and of whole transforms.
        each(P::COLUMNS, [&](int i) {
            const ColumnStatistics statistics{{of_columns}};
            const LineFacts facts = statistics.facts(i);
            const InTransform<P, P::NB> at(i);
            const unsigned high = statistics.of(i)[3];
            const int shift = shift_of_outputs<Double>(high);
            store_shared(exponent_place<P>(group, at.line, at.place), make_uint2((unsigned)(facts.exponent() + shift), (unsigned)shift));
            const bool moderate = facts.zero() || (facts.field() >= LEAST_COLUMN_FIELD && facts.field() <= LARGEST_FIELD);
            atomic_or(known<P>(group, round) + at.line, (facts.largest_re != 0 ? SOME_REAL : 0) | (facts.largest_im != 0 ? SOME_IMAGINARY : 0) | (moderate ? 0 : LEFT));
            known<P>(group, round + 1)[at.line] = 0;
        });
        group_barrier<A>(group);
#pragma unroll 1
        for (int base = 0; base < P::ROWS; base += P::ROWS_AT_A_TIME) {
            const RowStatistics<Double> statistics{{of_rows + 4 * base}};
            typename PassWords<P>::Type words[B::UNITS1];
            read_rows<P>(args, base, words);
            note_scales<B>(words, statistics);
            group_barrier<B>(group);
            if (base == 0) {
                each(4 * P::COLUMN_SLOTS, [&](int i) { of_columns[i] = 0; });
                each(P::LINES, [&](int line) {
                    if (lines.has(args, line) && (known<P>(group, round)[line] & LEFT) != 0)
                        args.left[atomic_add(args.left_count, 1u)] = lines.number(args, line);
                });
            }
            note_row_sums<B>(words, statistics);
            group_barrier<B>(group);
            const auto end_of = [&](const Column &row) {
                return ToTransform<P, CONVERSIONS>(args, lines, statistics.facts(row.line), group, round, base + row.line, row.there);
            };
            first_step<B, Mma>(args, words, statistics, end_of);
            if constexpr (B::N2 > 1) {
                group_barrier<B>(group);
                if constexpr (B::Last::MATRIX)
                    last_step<B, Mma>(args, end_of);
                else
                    last_unit_step<B>(end_of);
            }
        }
    }
}

}  // namespace bailey
