// Bluestein's convolutions of two passes in one launch: a transform of numbers times the chirp, the product of its spectrum with that of
// the chirp, the transform back, and results times the chirp. Both transforms are those of bailey_passes.cuh; words never leave shared memory.
// Outputs of the second pass stay where their row was until the largest is known, as words of the first pass do.
#pragma once
#include "passes/bailey_long.cuh"
#include "passes/bailey_passes.cuh"

namespace bailey {

static_assert(sizeof(Line) == HEADER_BYTES, "bailey_passes.cuh has room for headers");

template <class P> DEVICE Line *headers_of_lines(int group, unsigned round) {
    return (Line *)(group_memory<P>(group) + P::HEADERS) + (round & 1) * P::LINES;
}

// What is known of the lines of a panel before their numbers are read. Lines beyond the last are like that one.
template <class P> DEVICE void prepare_lines(const PassArguments &all, unsigned panel, int group, unsigned round) {
    if (panel >= all.tuned.panels) return;
    share_out<P::GROUP_THREADS>(Lane<typename P::PassA>().in_group(), P::LINES, [&](int i) {
        const u64 number = (u64)panel * P::LINES + (u64)i;
        const bool there = number < all.task.line_count;
        Line &line = headers_of_lines<P>(group, round)[i];
        // A line is a whole transform: of what `prepare_line` finds out little is asked for.
        line.transform = there ? number : all.task.line_count - 1;
        line.input_offset = line_offset(all.task.input, all.task.first_transform + line.transform);
        line.output_start = 0;
        line.flags = 0;
        line.rounded = there ? 1 : 0;
        prepare_end(all.task, line, all.task.first_transform + line.transform);
    });
}

// Of columns of words, and of rows: as of lines, and the largest output.
template <class Number> struct WordStatistics : RowStatistics<Number> {
    DEVICE unsigned *largest_output(int line) const { return this->of(line) + 3; }
    // The exponent of a line's outputs, and by how many bits they are shifted down. Nobody else looks at what they are worked out from.
    DEVICE uint2 taken_exponents(int line) const {
        const int shift = shift_of_outputs<Number>(*largest_output(line));
        const int exponent = this->facts(line).exponent() + shift;
        store_shared(shared_address(this->of(line)), make_uint4(0, 0, 0, 0));
        return make_uint2((unsigned)exponent, (unsigned)shift);
    }
};
template <class P> DEVICE WordStatistics<typename P::Number> word_statistics(int group, int start, int base) {
    return {{{(unsigned *)(group_memory<P>(group) + start) + 4 * base}}};
}
// Rows are numbered through all lines of a group.
template <class P> DEVICE uint32_t row_exponents(int group, int row) { return shared_address(group_memory<P>(group)) + P::ROW_EXPONENTS + 8 * row; }

// Outputs of the second pass: where their row was.
template <class P> struct ToRow {
    uint32_t start, tops;
    unsigned *statistic;
    unsigned largest = 0;
    bool there;
    DEVICE ToRow(int group, int base, const Column &column, const WordStatistics<typename P::Number> &statistics, int first_line)
        : statistic(statistics.largest_output(column.line)) {
        const bool present = base + column.line < P::ROWS;
        const InTransform<P, P::NA> at(present ? base + column.line : 0);
        there = column.there && present;
        const uint32_t first = word_number<P>(first_line + at.line, 0, at.place);
        start = words_start<P>(group) + P::WORD * first;
        tops = tops_start<P>(group) + P::TOP * first;
    }
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) {
        const uint32_t word_at = start + P::WORD * P::PITCH * index, top_at = tops + P::TOP * P::PITCH * index;
        if constexpr (P::SHORT)
            put_short_word<P::Number::UNSEEN>(word_at, top_at, re, im, conjugated, largest, is_one && there);
        else
            put_word<P::WIDE_ROWS>(word_at, top_at, re, top_re, im, top_im, conjugated, largest, is_one && there);
    }
    DEVICE void done() const {
        unsigned all = largest | shuffle_xor(largest, 1);
        all |= shuffle_xor(all, 2);
        if ((thread_number() & 3) == 0) atomic_maximum(statistic, all);
    }
};

// Output number `index` of a transform, as a word; returns its exponent.
template <class P> DEVICE int read_output(int group, int line, int first_line, unsigned index, ::Words &word) {
    const unsigned row = index % P::NA, column = index / P::NA;
    const uint2 exponents = load_shared_two(row_exponents<P>(group, line * P::NA + (int)row));
    const uint32_t number = word_number<P>(first_line + line, (int)column, (int)row);
    const uint32_t word_at = words_start<P>(group) + P::WORD * number, top_at = tops_start<P>(group) + P::TOP * number;
    i64 re, im;
    if constexpr (P::SHORT)
        narrowed_short(word_at, top_at, (int)exponents.y, re, im);
    else
        narrowed<P::WIDE_ROWS>(word_at, top_at, (int)exponents.y, re, im);
    word = {(int64_t)re, (int64_t)im};
    return (int)exponents.x;
}

// Columns `base`, … of numbers times the chirp, with zeros behind them.
template <class P, bool USUAL, class Words> DEVICE void read_chirped_columns(const PassArguments &all, Line *lines, int base, Words (&words)[P::PassA::UNITS1]) {
    typedef typename P::PassA S;
    const Lane<S> lane;
    const unsigned points = (unsigned)all.task.visible_length;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const ColumnInTransform<P> at(base, column.line);
        Line &line = lines[at.line];
        const bool present = at.there && is_there(line);
        const ColumnElements<S> elements(column, lane.t);
        unsigned flags = 0;
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            ::Words word = {0, 0};
            int exponent = 0;
            const unsigned index = (unsigned)(elements.of(i) * P::NB + at.place);
            if (present && elements.has(i, lane.t) && index < points) word = chirped<USUAL>(all.task, line, index, points, exponent, flags);
            words[u].put(i, (i64)word.re, (i64)(elements.mirrored ? -word.im : word.im));
            words[u].exponents.exponent[i] = exponent_of_word(word, exponent);
        }
        note_flags(&line.flags, flags);
    }
}

// Columns `base`, … of the spectrum times that of the chirp. Exchanged parts turn the forward transform that follows into an inverse one.
template <class P, class Words> DEVICE void read_product_columns(const PassArguments &all, int base, Words (&words)[P::PassA::UNITS1]) {
    typedef typename P::PassA S;
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const ColumnInTransform<P> at(base, column.line);
        const ColumnElements<S> elements(column, lane.t);
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            // As in `read_rows`.
            const bool has = elements.has(i, lane.t);
            const unsigned index = (unsigned)((has ? elements.of(i) : 0) * P::NB + at.place);
            ::Words word;
            const int exponent = read_output<P>(lane.group, at.line, 0, index, word);
            word = ::rotate(word, table_entry(all.task.sink_table + index));
            words[u].put(i, has ? (i64)word.im : 0, has ? (i64)(elements.mirrored ? -word.re : word.re) : 0);
            words[u].exponents.exponent[i] = has ? exponent : 0x10000;
        }
    }
}

// Results of a panel's lines times the chirp, as numbers. A warp has 32 neighbouring ones of a line.
template <class P, bool CONVERSIONS> DEVICE void store_unchirped(const PassArguments &all, const Line *lines, int first_line) {
    const Task &task = all.task;
    const Lane<typename P::PassA> lane;
    const unsigned count = (unsigned)ToUnchirped::most_outputs(task, P::N), of_line = (count + 31) / 32;
#pragma unroll 1
    for (unsigned part = (unsigned)lane.warp; part < P::LINES * of_line; part += P::WARPS) {
        const unsigned number = part / of_line, index = 32 * (part - number * of_line) + (unsigned)lane.number;
        const Line &line = lines[number];
        if (is_there(line) && index < count) {
            ::Words word;
            const int exponent = read_output<P>(lane.group, (int)number, first_line, index, word);
            const int all_exponent = exponent + task.exponent_offset + line.bias;
            // As most results are: neither subnormal nor infinite, whatever their word.
            if (are_aligned_doubles(task.output) && line.flags == (HAS_REAL | HAS_IMAGINARY) && all_exponent >= -1000 && all_exponent <= 900) {
                word = ::rotate(::Words{word.im, word.re}, table_entry(task.source_table + index));
                const Finish<CONVERSIONS> finish(all_exponent);
                ((uint4 *)task.output.numbers)[line.output_offset + (i64)index * task.output.stride] =
                    finish((i64)word.re, 0, (i64)word.im, 0, task.output.conjugate != 0 ? 0x80000000u : 0u);
            } else {
                ToUnchirped(task, line, exponent + task.exponent_offset, task.source_table).put((int)index, word);
            }
        }
    }
}

template <class P, class Mma, bool CONVERSIONS> DEVICE void run_convolution(const PassArguments &all) {
    typedef typename P::PassA A;
    typedef typename P::PassB B;
    const TunedArguments &args = all.tuned;
    const Lane<A> lane;
    const int group = lane.group;
    const unsigned step = gridDim.x * P::GROUPS, first_panel = blockIdx.x + gridDim.x * group;
    const auto each = [](int count, const auto &work) { share_out<P::GROUP_THREADS>(Lane<A>().in_group(), count, work); };
    begin_tables<P, P::TABLE_BYTES>(args);
    each(P::COLUMN_SLOTS + P::ROW_SLOTS, [&](int i) { store_shared(shared_address(group_memory<P>(group)) + P::STATISTICS_A + 16 * i, make_uint4(0, 0, 0, 0)); });
    // As in `run_passes`.
    each(P::B2, [&](int i) { store_shared(exponent_place<P>(group, 0, P::BUFFERS * P::COLUMNS + i), make_uint2(0x10000u, 0u)); });
    prepare_lines<P>(all, first_panel, group, 0);
    end_tables<P>();
    unsigned round = 0;
#pragma unroll 1
    for (unsigned panel = first_panel; panel < args.panels; panel += step, round++) {
        Line *const lines = headers_of_lines<P>(group, round);
        int first_line = 0;
#pragma unroll 1
        for (int turn = 0; turn < 2; turn++) {
            // Where words of this transform are.
            first_line = turn == 1 && P::BUFFERS == 2 ? P::LINES : 0;
#pragma unroll 1
            for (int base = 0; base < P::TOGETHER; base += P::COLUMNS_AT_A_TIME) {
                const auto statistics = word_statistics<P>(group, P::STATISTICS_A, base);
                const auto end_of = [&](const Column &column) { return ToWords<P>(group, base, column, statistics, first_line); };
                // What the transform before has left is read until all have come here.
                const auto wait = [&] {
                    if (base > 0) {
                        lines_barrier<A>(group);
                        return;
                    }
                    group_barrier<A>(group);
                    if (turn == 0) prepare_lines<P>(all, panel + step, group, round + 1);
                };
                if (A::LOCAL && base + 8 * A::UNITS1 / A::N2 * lane.warp >= P::TOGETHER) {
                    // Nothing is left for this warp.
                    if (base == 0) wait();
                    break;
                }
                typename PassNumbers<A, CONVERSIONS>::Words words[A::UNITS1];
                if (turn == 0 && are_aligned_doubles(all.task.input))
                    read_chirped_columns<P, true>(all, lines, base, words);
                else if (turn == 0)
                    read_chirped_columns<P, false>(all, lines, base, words);
                else
                    read_product_columns<P>(all, base, words);
                note_scales<A>(words, statistics);
                wait();
                note_row_sums<A>(words, statistics);
                lines_barrier<A>(group);
                first_step<A, Mma>(args, words, statistics, end_of, first_line * P::NB + base);
                if constexpr (A::N2 > 1) {
                    lines_barrier<A>(group);
                    if constexpr (A::Last::MATRIX)
                        last_step<A, Mma>(args, end_of);
                    else
                        unit_step_to_words<A>(end_of, first_line * P::NB + base);
                }
            }
            group_barrier<A>(group);
            each(P::TOGETHER, [&](int i) {
                const ColumnInTransform<P> at(0, i);
                store_shared(exponent_place<P>(group, first_line + at.line, at.place), word_statistics<P>(group, P::STATISTICS_A, 0).taken_exponents(i));
            });
            group_barrier<A>(group);
#pragma unroll 1
            for (int base = 0; base < P::ROWS; base += P::ROWS_AT_A_TIME) {
                if (B::LOCAL && base + 8 * B::UNITS1 / B::N2 * lane.warp >= P::ROWS) break;
                const auto statistics = word_statistics<P>(group, P::STATISTICS_B, base);
                const auto end_of = [&](const Column &row) { return ToRow<P>(group, base, row, statistics, first_line); };
                const int before = first_line * P::NA;
                typename PassWords<P>::Type words[B::UNITS1];
                read_rows<P>(args, before + base, words, before + P::ROWS);
                note_scales<B>(words, statistics);
                lines_barrier<B>(group);
                note_row_sums<B>(words, statistics);
                lines_barrier<B>(group);
                first_step<B, Mma>(args, words, statistics, end_of, before + base);
                if constexpr (B::N2 > 1) {
                    lines_barrier<B>(group);
                    if constexpr (B::Last::MATRIX)
                        last_step<B, Mma>(args, end_of);
                    else
                        unit_step_to_words<B>(end_of, before + base);
                }
            }
            group_barrier<B>(group);
            each(P::ROWS, [&](int i) { store_shared(row_exponents<P>(group, i), word_statistics<P>(group, P::STATISTICS_B, 0).taken_exponents(i)); });
            group_barrier<B>(group);
        }
        store_unchirped<P, CONVERSIONS>(all, lines, first_line);
    }
}

}  // namespace bailey
