// Transforms of two passes of blocks in one launch: columns of NA points, then rows of NB points, with words between them in shared
// memory. Every column and every row has an exponent of its own. The steps are those of bailey_block.cuh: columns and rows are
// its strided lines, as many at a time as a group's warps have registers for.
#pragma once
#include "passes/bailey_words.cuh"

namespace bailey {

// Whether transforms are taken with such a column, whatever the rows are that cross it: words of the second pass may have units as far
// as 60 bits below those of the first one, of fewer digits not as far. (Of f32: bailey_single.cuh.)
constexpr int LEAST_COLUMN_FIELD = 256;
template <int WORD_BITS> DEVICE bool takes_column(const FactsOfDoubles<WORD_BITS> &facts, int) { return facts.zero() || (facts.field() >= LEAST_COLUMN_FIELD && facts.field() <= LARGEST_FIELD); }
// What is known of a transform.
constexpr unsigned SOME_REAL = 1, SOME_IMAGINARY = 2, LEFT = 4;
// Complex numbers to complex numbers; real lines to half-spectra; half-spectra to real lines (bailey_real_passes.cuh); Bluestein's
// convolutions, which are two such transforms (bailey_convolution.cuh).
enum class Ends { COMPLEX, REAL_TO_HALF, HALF_TO_REAL, CONVOLUTION };
// Of a header in lines.cuh.
constexpr int HEADER_BYTES = 136;
template <class P, int LENGTH> struct InTransform;
template <class P> DEVICE uint32_t words_start(int group);
template <class P> DEVICE uint32_t word_number(int line, int column, int row);
// A group has LINES transforms at a time, and WARPS warps. UNITS_A, UNITS_B1, UNITS_B2: tiles of eight columns that a warp takes together in
// the first step of either pass and in the last step of the second. GROUPS, STRIDED and Number: as of BlockShape, for transforms.
template <int A1_, int A2_, int B1_, int B2_, int LINES_, int WARPS_, int UNITS_A, int UNITS_B1, int UNITS_B2, bool STRIDED_, int GROUPS_,
          class Number_ = Double, Ends ENDS_ = Ends::COMPLEX>
struct PassesShape {
    typedef Number_ Number;
    static constexpr Ends ENDS = ENDS_;
    // Of real lines two columns go together where complex ones have their parts, and half of the outputs of a column are kept.
    static constexpr bool PAIRS = ENDS == Ends::REAL_TO_HALF, CONVOLUTION = ENDS == Ends::CONVOLUTION;
    static constexpr int A1 = A1_, A2 = A2_, B1 = B1_, B2 = B2_, NA = A1 * A2, NB = B1 * B2, N = NA * NB;
    static constexpr int LINES = LINES_, PANEL = LINES_, WARPS = WARPS_;
    static constexpr bool STRIDED = STRIDED_, SHARED_TABLES = GROUPS_ > 0;
    static constexpr int GROUPS = GROUPS_ > 0 ? GROUPS_ : 1;
    static constexpr int GROUP_THREADS = 32 * WARPS, THREADS = GROUPS * GROUP_THREADS;
    // Lines of either pass; of the first one also as they go together, of one transform and of all.
    static constexpr int COLUMNS = LINES * NB, ROWS = LINES * NA;
    static constexpr int TOGETHER_OF_LINE = PAIRS ? (NB + 1) / 2 : NB, TOGETHER = LINES * TOGETHER_OF_LINE;
    static constexpr int ROWS_KEPT = PAIRS ? A1 / 2 + 1 : A1;  // of the first pass's last step
    // As many of them at a time, shared out evenly.
    static constexpr int at_a_time(int all, int most) { return most >= all ? all : (all + (all + most - 1) / most - 1) / ((all + most - 1) / most); }
    // Columns and rows of a single step, or of a step and one of four points, are a warp's own, and no warp waits for others within a
    // pass: eight columns of the first step are eight lines, or two.
    static constexpr bool whole(int last) { return (ENDS == Ends::COMPLEX || CONVOLUTION) && (last == 1 || last == 4); }
    static constexpr bool LOCAL_A = whole(A2), LOCAL_B = whole(B2);
    static constexpr int MOST_COLUMNS = 8 * UNITS_A * WARPS / A2, MOST_ROWS = 8 * UNITS_B1 * WARPS / B2;
    static constexpr int COLUMNS_AT_A_TIME = LOCAL_A ? MOST_COLUMNS : at_a_time(TOGETHER, MOST_COLUMNS);
    static constexpr int ROWS_AT_A_TIME = LOCAL_B ? MOST_ROWS : at_a_time(ROWS, MOST_ROWS);
    typedef BlockShape<A1, A2, COLUMNS_AT_A_TIME, UNITS_A, 1, true, GROUPS_, !LOCAL_A || A2 == 1, Number> BlockA;
    typedef BlockShape<B1, B2, ROWS_AT_A_TIME, UNITS_B1, UNITS_B2, true, GROUPS_, !LOCAL_B || B2 == 1, Number> BlockB;
    // Outputs of the first pass have up to 61 bits, or 63; after a last step that is a product, they may have 66. Those of five digits or fewer
    // have less than 48, those of six or seven less than 60. Bytes of a word between the passes, and of what it has beyond them, elsewhere.
    static constexpr bool SHORT = Number::DIGITS <= 5, WIDE = BlockA::Last::MATRIX && Number::DIGITS == 8;
    // So may those of the second pass of a convolution, which become words where its row was.
    static constexpr bool WIDE_ROWS = CONVOLUTION && BlockB::Last::MATRIX && Number::DIGITS == 8;
    static constexpr int WORD = SHORT ? 8 : 16, TOP = SHORT ? 4 : WIDE || WIDE_ROWS ? 1 : 0;
    // The way back of a convolution has words of its own, unless all columns have been read before the first one is written.
    static constexpr int BUFFERS = CONVOLUTION && MOST_COLUMNS < TOGETHER ? 2 : 1;
    static_assert(BlockA::WARPS <= WARPS && BlockB::WARPS <= WARPS, "warps for all columns");
    static_assert(ENDS == Ends::COMPLEX || !STRIDED, "real lines are contiguous");
    // A group's shared memory: words between the steps of a pass, words between the passes, statistics of columns and of rows,
    // exponents of columns, what is known of transforms (two rounds). A quarter of a warp writes four rows of two neighbouring
    // columns and reads two neighbouring rows of columns at a distance of B2: by four modulo eight no two write to one bank.
    static constexpr int PITCH = next_with(ROWS_KEPT * A2, LOCAL_A && B2 == 1 ? 4 : 5, 8);
    static constexpr int larger(int a, int b) { return a > b ? a : b; }
    // From line to line: a quarter of a warp has two lines at the same place, or, of four points, four rows of two lines.
    static constexpr int line_of(bool local, int rows) { return local ? next_with(rows, 1, 2) : next_with(rows, 4, 8); }
    static constexpr int LINE_A = line_of(LOCAL_A, ROWS_KEPT * BlockA::PITCH), PANEL_A = (PAIRS ? 2 : 1) * COLUMNS_AT_A_TIME;
    static constexpr int LINE_B = line_of(LOCAL_B, B1 * BlockB::PITCH);
    // Then words between the steps can stay where the outputs of the pass are, or where its row is, if those have as many bytes.
    static constexpr bool IN_PLACE_A = LOCAL_A && A2 > 1 && !SHORT && TOGETHER % COLUMNS_AT_A_TIME == 0;
    static constexpr bool IN_PLACE_B = LOCAL_B && B2 > 1 && !SHORT && ROWS % ROWS_AT_A_TIME == 0;
    static constexpr int WORDS_A = A2 == 1 || IN_PLACE_A ? 0 : 16 * LINE_A * PANEL_A, WORDS_B = B2 == 1 || IN_PLACE_B ? 0 : 16 * LINE_B * ROWS_AT_A_TIME;
    static constexpr int WORDS = larger(WORDS_A, WORDS_B);
    static constexpr int COLUMN_SLOTS = (TOGETHER + COLUMNS_AT_A_TIME - 1) / COLUMNS_AT_A_TIME * PANEL_A;
    static constexpr int ROW_SLOTS = (ROWS + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
    static constexpr int BETWEEN = BUFFERS * COLUMNS * PITCH;
    static constexpr int STATISTICS_A = WORDS + (WORD * BETWEEN + 15) / 16 * 16, STATISTICS_B = STATISTICS_A + 16 * COLUMN_SLOTS;
    // The partner that a plain step's first element has not got is looked up behind the last column.
    static constexpr int EXPONENTS = STATISTICS_B + 16 * ROW_SLOTS, KNOWN = EXPONENTS + 8 * (BUFFERS * COLUMNS + B2);
    // Of a convolution: exponents of rows, and headers of lines (two rounds).
    static constexpr int ROW_EXPONENTS = KNOWN + 8 * LINES, HEADERS = ROW_EXPONENTS + (CONVOLUTION ? 8 * ROWS : 0);
    static constexpr int TOPS = HEADERS + (CONVOLUTION ? 2 * HEADER_BYTES * LINES : 0);
    static constexpr int GROUP = (TOPS + TOP * BETWEEN + 15) / 16 * 16;
    static constexpr int COMMON = GROUPS * GROUP, TABLES = COMMON + 16;
    static constexpr int TABLE_BYTES = BlockA::Tables::BYTES + BlockB::Tables::BYTES;
    static constexpr int ROOTS = TABLE_BYTES;  // in the image of the tables, not in shared memory
    static constexpr int IMAGE_BYTES = ROOTS + 16 * N;
    static constexpr int SHARED = TABLES + (SHARED_TABLES ? TABLE_BYTES : 0);

    // The passes as blocks of this group.
    struct PassA : BlockA {
        static constexpr int WARPS = PassesShape::WARPS, GROUP_THREADS = PassesShape::GROUP_THREADS, THREADS = PassesShape::THREADS;
        static constexpr int GROUP = PassesShape::GROUP, COMMON = PassesShape::COMMON, TABLES = PassesShape::TABLES, FIRST_TABLE = 0;
        static constexpr int PANEL = PANEL_A, LINE = LINE_A, ROWS_OF_LINE = ROWS_KEPT, ROWS = PANEL * ROWS_OF_LINE;
        static constexpr bool LOCAL = LOCAL_A, IN_PLACE = IN_PLACE_A;
        // Of column number `number`: where output row + A1·column will be.
        static DEVICE uint32_t place_of(int group, int number, int row, int column) {
            const InTransform<PassesShape, NB> at(number);
            return words_start<PassesShape>(group) + 16 * word_number<PassesShape>(at.line, at.place, row + A1 * column);
        }
    };
    struct PassB : BlockB {
        static constexpr int WARPS = PassesShape::WARPS, GROUP_THREADS = PassesShape::GROUP_THREADS, THREADS = PassesShape::THREADS;
        static constexpr int GROUP = PassesShape::GROUP, COMMON = PassesShape::COMMON;
        static constexpr int TABLES = PassesShape::TABLES + BlockA::Tables::BYTES, FIRST_TABLE = BlockA::Tables::BYTES, LINE = LINE_B;
        static constexpr bool LOCAL = LOCAL_B, IN_PLACE = IN_PLACE_B;
        // Of row number `number`: where its element row + B1·column was.
        static DEVICE uint32_t place_of(int group, int number, int row, int column) {
            const InTransform<PassesShape, NA> at(number);
            return words_start<PassesShape>(group) + 16 * word_number<PassesShape>(at.line, row + B1 * column, at.place);
        }
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
// Where output number `index` of a column lies among those that are kept.
template <class P> DEVICE int kept_place(int index) {
    return P::ROWS_KEPT == P::A1 || P::A2 == 1 ? index : (int)((unsigned)index % P::A1 + (unsigned)index / P::A1 * P::ROWS_KEPT);
}
template <class P> DEVICE uint32_t words_start(int group) { return shared_address(group_memory<P>(group)) + P::WORDS; }
template <class P> DEVICE uint32_t tops_start(int group) { return shared_address(group_memory<P>(group)) + P::TOPS; }

// Of columns, as of lines; and the upper half of the largest output.
template <class Number> struct ColumnStatistics : PassStatistics {
    DEVICE typename Number::Facts facts(int line) const { return {of(line)[0], of(line)[1], of(line)[2]}; }
    DEVICE typename Number::Facts of_column(int column) const { return facts(column); }
    DEVICE unsigned *largest_output(int column) const { return of(column) + 3; }
    DEVICE void clear(int column) const { store_shared(shared_address(of(column)), make_uint4(0, 0, 0, 0)); }
};
// Of pairs of real columns: the largest number of either, the largest sum, the largest output.
template <class Number> struct ColumnPairStatistics {
    typedef typename Number::Facts Facts;
    unsigned *memory;
    DEVICE unsigned *of(int pair) const { return memory + 8 * pair; }
    DEVICE Facts of_column(int column) const { return {of(column >> 1)[column & 1], 0, of(column >> 1)[2 + (column & 1)]}; }
    DEVICE unsigned *largest_output(int column) const { return of(column >> 1) + 4 + (column & 1); }
    DEVICE void clear(int column) const {
#pragma unroll
        for (int i = 0; i < 3; i++) of(column >> 1)[2 * i + (column & 1)] = 0;
    }
    DEVICE PairFacts<Facts> facts(int pair) const { return {of_column(2 * pair), of_column(2 * pair + 1)}; }
};
template <class P, bool PAIRS = P::PAIRS> struct StatisticsOf {
    typedef ColumnStatistics<typename P::Number> Type;
};
template <class P> struct StatisticsOf<P, true> {
    typedef ColumnPairStatistics<typename P::Number> Type;
};
// Those of the columns from number `base` on.
template <class P> DEVICE typename StatisticsOf<P>::Type column_statistics(int group, int base) {
    typename StatisticsOf<P>::Type statistics{(unsigned *)(group_memory<P>(group) + P::STATISTICS_A) + (P::PAIRS ? 8 : 4) * base};
    return statistics;
}
// Column number `column` of a round that begins with number `base`: which it is of which transform.
template <class P> struct ColumnInTransform {
    int line, place;
    bool there;
    DEVICE ColumnInTransform(int base, int column) {
        const int together = base + (P::PAIRS ? column >> 1 : column);
        const InTransform<P, P::TOGETHER_OF_LINE> at(together < P::TOGETHER ? together : 0);
        line = at.line;
        place = P::PAIRS ? 2 * at.place + (column & 1) : at.place;
        there = together < P::TOGETHER && (P::NB % 2 == 0 || !P::PAIRS || place < P::NB);
    }
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
    template <class Statistics>
    DEVICE ToWords(int group, int base, const Column &column, const Statistics &statistics, int first_line = 0) : statistic(statistics.largest_output(column.line)) {
        const ColumnInTransform<P> at(base, column.line);
        there = column.there && at.there;
        const uint32_t first = word_number<P>(first_line + at.line, there ? at.place : 0, 0);
        start = words_start<P>(group) + P::WORD * first;
        tops = tops_start<P>(group) + P::TOP * first;
    }
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) {
        const int place = kept_place<P>(index);
        const uint32_t word_at = start + P::WORD * place, top_at = tops + P::TOP * place;
        if constexpr (P::SHORT)
            put_short_word<P::Number::UNSEEN>(word_at, top_at, re, im, conjugated, largest, is_one && there);
        else
            put_word<P::WIDE, P::Number::UNSEEN>(word_at, top_at, re, top_re, im, top_im, conjugated, largest, is_one && there);
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

// The last step of a pass to words, where it is one of four points. A thread takes a row of a column.
template <class S, class EndOf> DEVICE void unit_step_to_words(const EndOf &end_of, int base) {
    const Lane<S> lane(base);
    each_row<S>([&](const Column &row) {
        auto end = end_of(row);
        unit_step_of_row<S>(lane, row.line, row.place, end);
        // Neighbouring threads have other columns.
        atomic_maximum(end.statistic, end.largest);
    });
}

// Exponents of a row's elements: those of the columns, looked up when they are needed.
struct ColumnExponents {
    uint32_t near, far;  // where those of the first ones are
    int step;
    DEVICE int of(int i) const { return load_shared_int(i % 2 == 0 ? near + i / 2 * step : far - i / 2 * step); }
};
template <class P> struct PassWords {
    typedef RowWords<2 * P::PassB::First::QUADS, P::Number::WORD_BITS, ColumnExponents> Type;
};

// Outputs of the first pass in rows `base`, …, rounded to words and rotated; there are rows before `end`.
template <class P, class Words>
DEVICE void read_rows(const TunedArguments &args, int base, Words (&words)[P::PassB::UNITS1], int end = P::ROWS) {
    typedef typename P::PassB S;
    const Lane<S> lane;
    const Factors factors = factors_of<Int8>(args);
    const uint4 *const roots = (const uint4 *)((const unsigned char *)args.tables + P::ROOTS);
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        // Rows beyond the last do as the first one; nobody asks for them.
        const InTransform<P, P::NA> at(base + column.line < end ? base + column.line : end - P::ROWS);
        // Of real lines outputs beyond the middle row of the first pass's last step are conjugates of those before it.
        const bool conjugated = P::PAIRS && 2 * ((unsigned)at.place % P::A1) > P::A1;
        const int place = kept_place<P>(conjugated ? P::NA - at.place : at.place);
        const ColumnElements<S> elements(column, lane.t);
        words[u].exponents = {exponent_place<P>(lane.group, at.line, elements.near), exponent_place<P>(lane.group, at.line, elements.far), 8 * elements.step};
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            // What is not there is looked up where the first one is, so that no branch keeps these loads from being under way together.
            const bool has = elements.has(i, lane.t);
            const int j = has ? elements.of(i) : 0;
            const uint32_t number = word_number<P>(at.line, j, place);
            // Outputs of a single step fit words of 61 bits as they are. (With matrices of fewer digits the largest may be a little larger than its column.)
            const int shift = P::A2 == 1 && P::Number::DIGITS == 8 ? 0 : load_shared_int(exponent_place<P>(lane.group, at.line, j) + 4);
            const uint32_t word_at = words_start<P>(lane.group) + P::WORD * number, top_at = tops_start<P>(lane.group) + P::TOP * number;
            i64 re, im;
            if constexpr (P::SHORT)
                narrowed_short(word_at, top_at, shift, re, im, conjugated);
            else
                narrowed<P::WIDE>(word_at, top_at, shift, re, im, conjugated);
            rotate(re, im, table_entry(roots + j * P::NA + at.place), factors);
            if (elements.mirrored) im = -im;
            if (!has) re = im = 0;
            words[u].put(i, re, im);
        }
    }
}

// Outputs of the second pass: to the caller's array.
template <class P, bool CONVERSIONS> struct ToTransform {
    typedef typename P::Number Number;
    typedef typename Number::Element Element;
    typename Number::template Finish<CONVERSIONS> finish;
    Element *start;
    i64 element;
    unsigned conjugate, known;
    int row;
    bool there;
    DEVICE void done() const {}
    DEVICE ToTransform(const TunedArguments &args, const Lines<P> &lines, const RowFacts<Number> &facts, int group, unsigned round, int index, bool is_row)
        : finish(facts.exponent() + common_exponent<P>()), conjugate(args.conjugate_output) {
        const bool present = is_row && index < P::ROWS;
        const InTransform<P, P::NA> at(present ? index : 0);
        known = bailey::known<P>(group, round)[at.line];
        there = present && lines.has(args, at.line) && (known & LEFT) == 0;
        row = at.place;
        element = P::STRIDED ? args.to.element : 1;
        start = (Element *)args.output + lines.start(args.to, at.line) + row * element;
        element *= P::NA;
    }
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) const {
        Element value = finish(re, top_re, im, top_im, conjugate ^ (conjugated ? 0x80000000u : 0u));
        const int output = row + P::NA * index;
        if (P::PAIRS) is_one = is_one && is_before_middle(index);
        if ((known & (SOME_REAL | SOME_IMAGINARY)) != (SOME_REAL | SOME_IMAGINARY) && (output == 0 || 2 * output == P::N))
            value = Number::kept(value, (known & SOME_REAL) != 0 ? ~0u : 0u, (known & SOME_IMAGINARY) != 0 ? ~0u : 0u);
        if (is_one && there) start[index * element] = value;
    }
    DEVICE bool is_before_middle(int index) const { return 2 * (row + P::NA * index) <= P::N; }
    // Of an output and its opposite: at most one is before the middle, but where one is the middle itself.
    DEVICE void put_one_of(const Output &a, const Output &b, bool conjugated) const {
        const bool is_a = is_before_middle(a.index);
        put(is_a ? a.is_one : b.is_one, is_a ? a.index : b.index, is_a ? a.re : b.re, is_a ? a.top_re : b.top_re, is_a ? a.im : b.im, is_a ? a.top_im : b.top_im,
            conjugated);
        if (P::N % 2 == 0 && is_a && 2 * (row + P::NA * b.index) == P::N) put(b.is_one, b.index, b.re, b.top_re, b.im, b.top_im, conjugated);
    }
};
template <class P, bool CONVERSIONS> struct LeavesOutHalf<ToTransform<P, CONVERSIONS>> {
    static constexpr bool VALUE = P::PAIRS;
};

// The first step of columns `base`, … (of pairs of them: bailey_real_passes.cuh), after which nobody reads rows of the round before:
// then `free_rows` is called.
template <class P, class Mma, bool CONVERSIONS, class FreeRows, class EndOf>
DEVICE void first_step_of_pairs(const TunedArguments &args, const Lines<P> &lines, int base, const FreeRows &free_rows, const EndOf &end_of);
template <class P, class Numbers>
DEVICE void read_half_columns(const TunedArguments &args, const Lines<P> &lines, int base, Numbers (&numbers)[P::PassA::UNITS1]);
template <class P, class Mma, bool CONVERSIONS, class FreeRows, class EndOf>
DEVICE void first_step_of_columns(const TunedArguments &args, const Lines<P> &lines, int base, const FreeRows &free_rows, const EndOf &end_of) {
    typedef typename P::PassA A;
    const int group = Lane<A>().group;
    const auto statistics = column_statistics<P>(group, base);
    typename P::Number::template Numbers<CONVERSIONS, 2 * A::First::QUADS> numbers[A::UNITS1];
    if constexpr (P::ENDS == Ends::HALF_TO_REAL)
        read_half_columns<P>(args, lines, base, numbers);
    else
        read_pass_columns<P>(args, lines, base, numbers);
    note_largest<A>(numbers, statistics);
    // Words of the round before are read until all have come here.
    if (base == 0)
        group_barrier<A>(group);
    else
        lines_barrier<A>(group);
    free_rows();
    note_sums<A>(numbers, statistics);
    lines_barrier<A>(group);
    first_step<A, Mma>(args, numbers, statistics, end_of, base);
}

// Outputs of rows of half-spectra, and the last step that has no others (bailey_real_passes.cuh).
template <class P, bool CONVERSIONS> struct ToRealTransform;
template <class P, class Mma, class EndOf> DEVICE void last_step_to_real(const TunedArguments &args, const EndOf &end_of);
template <class P, bool CONVERSIONS, Ends ENDS = P::ENDS> struct TransformEnd {
    typedef ToTransform<P, CONVERSIONS> Type;
};
template <class P, bool CONVERSIONS> struct TransformEnd<P, CONVERSIONS, Ends::HALF_TO_REAL> {
    typedef ToRealTransform<P, CONVERSIONS> Type;
};

template <class P, class Mma, bool CONVERSIONS> DEVICE void run_passes(const TunedArguments &args) {
    typedef typename P::PassA A;
    typedef typename P::PassB B;
    typedef typename P::Number Number;
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
        for (int base = 0; base < P::TOGETHER; base += P::COLUMNS_AT_A_TIME) {
            const auto end_of = [&](const Column &column) { return ToWords<P>(group, base, column, column_statistics<P>(group, base)); };
            const auto free_rows = [&] {
                // No thread is in the second pass of the round before any more.
                if (base == 0 && !B::LOCAL) each(4 * P::ROW_SLOTS, [&](int i) { of_rows[i] = 0; });
            };
            if (A::LOCAL && base + 8 * A::UNITS1 / A::N2 * lane.warp >= P::TOGETHER) {
                // Nothing is left for this warp.
                if (base == 0) {
                    group_barrier<A>(group);
                    free_rows();
                }
                break;
            }
            if constexpr (P::PAIRS)
                first_step_of_pairs<P, Mma, CONVERSIONS>(args, lines, base, free_rows, end_of);
            else
                first_step_of_columns<P, Mma, CONVERSIONS>(args, lines, base, free_rows, end_of);
            if constexpr (A::N2 > 1) {
                lines_barrier<A>(group);
                if constexpr (A::Last::MATRIX)
                    last_step<A, Mma>(args, end_of);
                else
                    unit_step_to_words<A>(end_of, base);
            }
        }
        group_barrier<A>(group);
        // What the second pass has to know of columns and of whole transforms.
        each((P::PAIRS ? 2 : 1) * P::TOGETHER, [&](int i) {
            const ColumnInTransform<P> at(0, i);
            // An odd column's partner is none.
            if (!at.there) return;
            const auto statistics = column_statistics<P>(group, 0);
            const auto facts = statistics.of_column(i);
            const unsigned high = *statistics.largest_output(i);
            const int shift = shift_of_outputs<Number>(high);
            store_shared(exponent_place<P>(group, at.line, at.place), make_uint2((unsigned)(facts.exponent() + shift), (unsigned)shift));
            const bool taken = takes_column(facts, common_exponent<P>());
            atomic_or(known<P>(group, round) + at.line, (facts.largest_re != 0 ? SOME_REAL : 0) | (facts.largest_im != 0 ? SOME_IMAGINARY : 0) | (taken ? 0 : LEFT));
            known<P>(group, round + 1)[at.line] = 0;
            // Nobody else looks them up.
            statistics.clear(i);
        });
        group_barrier<A>(group);
        each(P::LINES, [&](int line) {
            if (lines.has(args, line) && (known<P>(group, round)[line] & LEFT) != 0) args.left[atomic_add(args.left_count, 1u)] = lines.number(args, line);
        });
#pragma unroll 1
        for (int base = 0; base < P::ROWS; base += P::ROWS_AT_A_TIME) {
            if (B::LOCAL && base + 8 * B::UNITS1 / B::N2 * lane.warp >= P::ROWS) break;
            const RowStatistics<Number> statistics{{of_rows + 4 * base}};
            typename PassWords<P>::Type words[B::UNITS1];
            read_rows<P>(args, base, words);
            note_scales<B>(words, statistics);
            lines_barrier<B>(group);
            note_row_sums<B>(words, statistics);
            lines_barrier<B>(group);
            const auto end_of = [&](const Column &row) {
                return typename TransformEnd<P, CONVERSIONS>::Type(args, lines, statistics.facts(row.line), group, round, base + row.line, row.there);
            };
            first_step<B, Mma>(args, words, statistics, end_of, base);
            if constexpr (B::N2 > 1) {
                lines_barrier<B>(group);
                if constexpr (B::Last::MATRIX && P::ENDS == Ends::HALF_TO_REAL)
                    last_step_to_real<P, Mma>(args, end_of);
                else if constexpr (B::Last::MATRIX)
                    last_step<B, Mma>(args, end_of);
                else
                    last_unit_step<B>(end_of, base);
            }
        }
    }
}

}  // namespace bailey
