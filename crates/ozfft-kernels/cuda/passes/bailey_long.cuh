// One pass of a transform whose words go through memory: lines of one block of one to three steps, from numbers or words in memory to
// words or numbers in memory. Words and their exponents lie as truncated_block.cu has them, so that either kernel can take any pass;
// lines whose numbers are near the ends of the range are left to that one.
#pragma once
#include "passes/bailey_chirp.cuh"

// What a launch is told: the pass, as the portable kernels are told of it, and what the template has besides.
struct PassArguments {
    Task task;
    TunedArguments tuned;
};
static_assert(sizeof(PassArguments) == 656, "tuned.rs has the same");

namespace bailey {

// From numbers to words, from words to words, from words to numbers. Numbers are complex, or real, or half-spectra, whose other half is
// worked out while reading. The last six are those of Bluestein's convolutions (bailey_chirp.cuh).
enum class Pass {
    OPENING,
    OPENING_REAL,
    OPENING_HALF,
    MIDDLE,
    CLOSING,
    CLOSING_REAL,
    CHIRPED_OPENING,
    CHIRPED_PRODUCT,
    PRODUCT,
    PRODUCT_OPENING,
    PRODUCT_CLOSING,
    UNCHIRPED_CLOSING
};
DEVICE_CONSTANT bool is_chirped(Pass pass) { return pass == Pass::CHIRPED_OPENING || pass == Pass::CHIRPED_PRODUCT; }
DEVICE_CONSTANT bool is_from_product(Pass pass) { return pass == Pass::PRODUCT_OPENING || pass == Pass::PRODUCT_CLOSING; }
DEVICE_CONSTANT bool is_to_product(Pass pass) { return pass == Pass::CHIRPED_PRODUCT || pass == Pass::PRODUCT; }
DEVICE_CONSTANT bool is_unchirped(Pass pass) { return pass == Pass::PRODUCT_CLOSING || pass == Pass::UNCHIRPED_CLOSING; }
// Whether it ends with numbers that are rounded from sums, without becoming words first.
DEVICE_CONSTANT bool is_closing(Pass pass) { return pass == Pass::CLOSING || pass == Pass::CLOSING_REAL; }
DEVICE_CONSTANT bool is_last(Pass pass) { return is_closing(pass) || is_to_product(pass) || is_unchirped(pass); }

// As BlockShape. Lines of the first passes lie side by side; those of the last one are read one after the other and written side by side.
template <int N1, int N2, int LINES, int UNITS1, int UNITS2, Pass PASS_, int GROUPS, class Number = Double>
struct LongShape : BlockShape<N1, N2, LINES, UNITS1, UNITS2, true, GROUPS, !is_last(PASS_), Number> {
    typedef BlockShape<N1, N2, LINES, UNITS1, UNITS2, true, GROUPS, !is_last(PASS_), Number> Block;
    static constexpr Pass PASS = PASS_;
    static constexpr bool TO_WORDS = !is_closing(PASS), FROM_FLOATS = PASS == Pass::OPENING || PASS == Pass::OPENING_REAL || PASS == Pass::OPENING_HALF;
    // Outputs of a last step that is a product may have 66 bits where words have 61.
    static constexpr bool WIDE = TO_WORDS && Block::Last::MATRIX && Number::DIGITS == 8;
    // Words, of a single step its outputs; statistics; what is known of the lines of two panels; what wide outputs have beyond 64 bits.
    static constexpr int STATISTICS = 16 * Block::LINE * LINES;
    static constexpr int HEADERS = STATISTICS + 2 * 16 * LINES, TOPS = HEADERS + 2 * LINES * (int)sizeof(Line);
    static constexpr int GROUP = (TOPS + (WIDE ? LINES * Block::LINE : 0) + 15) / 16 * 16;
    static constexpr int COMMON = Block::GROUPS * GROUP, TABLES = COMMON + 16;
    static constexpr int SHARED = TABLES + (Block::SHARED_TABLES ? Block::Tables::BYTES : 0);
    static_assert(LINES % 2 == 0, "pairs of lines");
};

template <class S> DEVICE Line *headers(int group, unsigned round) {
    return (Line *)(shared_memory() + group * S::GROUP + S::HEADERS) + (round & 1) * S::LINES;
}

// What is known of the lines of a panel before their numbers are read. Lines beyond the last are like that one.
template <class S> DEVICE void prepare_panel(const PassArguments &all, unsigned panel, int group, unsigned round) {
    const Task &task = all.task;
    const TunedArguments &args = all.tuned;
    if (panel >= args.panels) return;
    share_out<S::GROUP_THREADS>(Lane<S>().in_group(), S::LINES, [&](int i) {
        const unsigned set = panel / args.panels_a_group, first = (panel - set * args.panels_a_group) * S::LINES + i;
        const bool there = first < args.fast_count;
        Line &line = headers<S>(group, round)[i];
        prepare_line(task, line, (u64)set * (u64)args.fast_count + (there ? (u64)first : (u64)args.fast_count - 1));
        line.rounded = there ? 1 : 0;
        if (!S::TO_WORDS) line.flags = task.natures[line.transform];
    });
}

// Exponents of the words that a thread has.
template <int COUNT> struct OwnExponents {
    int exponent[COUNT];
    DEVICE int of(int i) const { return exponent[i]; }
};

template <class S, bool CONVERSIONS> struct PassNumbers {
    typedef typename S::Number::template Numbers<CONVERSIONS, 2 * S::First::QUADS> Floats;
    typedef RowWords<2 * S::First::QUADS, S::Number::WORD_BITS, OwnExponents<2 * S::First::QUADS>> Words;
};

template <class S, class Numbers> DEVICE void read_floats(const PassArguments &all, const Line *lines, Numbers (&numbers)[S::UNITS1]) {
    typedef typename S::Number Number;
    typedef typename Number::Element Element;
    typedef typename Number::Real Real;
    const Task &task = all.task;
    const Lane<S> lane;
    const i64 element = (i64)task.inner * task.input.stride;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const Line &line = lines[column.line];
        if constexpr (S::PASS == Pass::OPENING) {
            read_column<S>(all.tuned, line.load_start + column.place * element, S::N2 * element, column, lane.t, is_there(line), numbers[u]);
        } else {
            const ColumnElements<S> elements(column, lane.t);
#pragma unroll
            for (int i = 0; i < 2 * S::First::QUADS; i++) {
                Element value = Number::zero();
                if (is_there(line) && elements.has(i, lane.t)) {
                    // Points of a transform are counted in 32 bits.
                    const unsigned index = (unsigned)line.start + (unsigned)elements.of(i) * (unsigned)task.inner;
                    if constexpr (S::PASS == Pass::OPENING_REAL) {
                        value = Number::of_parts(load_once((const Real *)all.tuned.input + line.input_offset + index * task.input.stride), Number::real_zero());
                    } else {
                        const unsigned points = (unsigned)task.transform_length;
                        const bool beyond = 2 * index > points;
                        value = load_once((const Element *)all.tuned.input + line.input_offset + (beyond ? points - index : index) * task.input.stride);
                        // As in bailey_real.cuh.
                        if ((index == 0 || 2 * index == points) && Number::is_imaginary_finite(value)) value = Number::kept(value, ~0u, 0u);
                        Number::flip(value, all.tuned.conjugate_input ^ (beyond != elements.mirrored ? 0x80000000u : 0u));
                    }
                }
                numbers[u].put(i, value);
            }
        }
    }
}

template <class S, class Words> DEVICE void read_words(const PassArguments &all, const Line *lines, Words (&words)[S::UNITS1]) {
    const Task &task = all.task;
    const Lane<S> lane;
    // Far below 2^31: words of a transform are counted in 32 bits.
    const int inner = S::TO_WORDS ? (int)task.inner : 1;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const Line &line = lines[column.line];
        const ColumnElements<S> elements(column, lane.t);
        const uint4 *const from = (const uint4 *)task.words_in + line.first_word + line.start;
        const int *const exponents = task.exponents_in + line.first_exponent_in;
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            uint4 word = make_uint4(0, 0, 0, 0);
            // Zeros do not ask for shifts to the right.
            int exponent = 0x10000;
            if (elements.has(i, lane.t)) {
                word = load_once(from + elements.of(i) * inner);
                // Exponents of a product repeat.
                if constexpr (is_from_product(S::PASS))
                    exponent = exponents[((unsigned)line.start + (unsigned)(elements.of(i) * inner)) % (unsigned)task.previous];
                else
                    exponent = exponents[elements.of(i) * inner];
            }
            const i64 im = join(word.z, word.w);
            words[u].put(i, join(word.x, word.y), elements.mirrored ? -im : im);
            words[u].exponents.exponent[i] = exponent;
        }
    }
}

// Outputs that become words: they stay where the row was that they come from; those of a single step lie one after the other.
template <class S> struct InPlace {
    uint32_t start, tops;
    unsigned *statistic;
    unsigned largest = 0;
    int row;
    bool there;
    DEVICE InPlace(const Lane<S> &lane, const Column &column, unsigned *statistic)
        : statistic(statistic), row((int)((unsigned)column.place / S::MIDDLE)), there(column.there) {
        start = place_of(lane, column.line, row, 0);
        tops = shared_address(shared_memory()) + lane.group * S::GROUP + S::TOPS + column.line * S::LINE + row * S::PITCH;
    }
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) {
        const int column = S::N2 == 1 ? index * S::PITCH : S::place_of_output(row, (int)((unsigned)(index - row) / S::N1));
        put_word<S::WIDE, S::Number::UNSEEN>(start + 16 * column, tops + column, re, top_re, im, top_im, conjugated, largest, is_one && there);
    }
    DEVICE void done() const {
        unsigned all = largest | shuffle_xor(largest, 1);
        all |= shuffle_xor(all, 2);
        if ((thread_number() & 3) == 0) atomic_maximum(statistic, all);
    }
};

// A last step of four points whose outputs become words. A thread takes a row.
template <class S, class EndOf> DEVICE void unit_step_in_place(const EndOf &end_of) {
    static_assert(S::N2 == 4, "the only unit step of a block of two");
    const Lane<S> lane;
#pragma unroll 1
    for (int first = 32 * lane.warp; first < S::ROWS; first += S::GROUP_THREADS) {
        const bool there = S::ROWS % 32 == 0 || first + lane.number < S::ROWS;
        const Numbered<S::STRIDED, S::LINES, S::N1> row(there ? first + lane.number : S::ROWS - 1);
        auto end = end_of(Column{row.line, row.place, there});
        unit_step_of_row<S>(lane, row.line, row.place, end);
        // Neighbouring threads have other lines.
        atomic_maximum(end.statistic, end.largest);
    }
}

// Outputs of a last pass: to the caller's array.
template <class S, bool CONVERSIONS> struct ToLine {
    typedef typename S::Number Number;
    typedef typename Number::Element Element;
    typename Number::template Finish<CONVERSIONS> finish;
    i64 start, element;
    void *output;
    unsigned first, groups, points, count;
    unsigned conjugate, known;
    bool there;
    DEVICE ToLine(const PassArguments &all, const Line &line, const RowFacts<Number> &facts, const Column &column)
        : finish(facts.exponent() + all.task.exponent_offset + line.bias), conjugate(all.tuned.conjugate_output), known(line.flags) {
        const Task &task = all.task;
        there = column.there && is_there(line) && facts.taken(task.exponent_offset + line.bias) && (known & NOT_FINITE) == 0;
        output = all.tuned.output;
        start = line.store_start;
        element = (i64)task.groups * task.output.stride;
        // Outputs are counted in 32 bits; of real transforms half of them are kept.
        first = (unsigned)line.output_start;
        groups = (unsigned)task.groups;
        points = (unsigned)task.visible_length;
        count = (unsigned)task.output.count;
    }
    DEVICE void done() const {}
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) const {
        const unsigned number = first + (unsigned)index * groups;
        // Of real or imaginary transforms these outputs have a part that is known to be zero.
        const bool known_zero = (known & (HAS_REAL | HAS_IMAGINARY)) != (HAS_REAL | HAS_IMAGINARY) && (number == 0 || 2 * number == points);
        const unsigned keep_re = known_zero && (known & HAS_REAL) == 0 ? 0u : ~0u, keep_im = known_zero && (known & HAS_IMAGINARY) == 0 ? 0u : ~0u;
        const bool is_stored = is_one && there && number < count;
        if constexpr (S::PASS == Pass::CLOSING_REAL) {
            typedef typename Number::Real Real;
            const Real value = finish.real(re, top_re);
            if (is_stored) ((Real *)output)[start + index * element] = Number::real_kept(value, keep_re);
        } else {
            const Element value = finish(re, top_re, im, top_im, conjugate ^ (conjugated ? 0x80000000u : 0u));
            if (is_stored) ((Element *)output)[start + index * element] = Number::kept(value, keep_re, keep_im);
        }
    }
};

// A root of unity between passes, the product of two table entries; powers are below the points of a transform.
DEVICE Angle root_of(const Task &task, unsigned power) {
    const Angle low = table_entry(task.roots_low + (power & ((1u << task.root_low_bits) - 1)));
    return angle_of(::rotate(words_of(table_entry(task.roots_high + (power >> task.root_low_bits))), low));
}

// Words for the next pass: rotated.
struct ToNextPass {
    const Task &task;
    uint4 *to;
    unsigned place;
    DEVICE ToNextPass(const Task &task, const Line &line, int)
        : task(task), to((uint4 *)task.words_out + line.first_word + line.start), place((unsigned)line.place_in_group) {}
    static DEVICE i64 exponent_at(const Line &line) { return (i64)line.number; }
    DEVICE void put(int k, ::Words word) const {
        word = ::rotate(word, root_of(task, (unsigned)k * place));
        to[(u64)k * task.inner] = bits_of_words(word);
    }
};

// Outputs of a panel, narrowed to words, to where they go. Eight threads have four outputs of two neighbouring lines: that keeps
// the banks apart and fills sectors of 32 bytes. A thread stays with its line.
template <class S, class To, class Statistics> DEVICE void store_words(const Task &task, const Line *lines, const Statistics &statistics, int count) {
    constexpr int PAIRS = S::LINES / 2, OCTETS = S::GROUP_THREADS / 8, STEP = 4 * (OCTETS / PAIRS);
    static_assert(OCTETS % PAIRS == 0, "a thread has one line");
    const Lane<S> lane;
    const int thread = lane.in_group();
    const unsigned octet = (unsigned)thread >> 3;
    const int number = 2 * (int)(octet % PAIRS) + (thread & 1);
    const Line &line = lines[number];
    const auto facts = statistics.facts(number);
    const bool there = is_there(line) && facts.moderate();
    const int shift = shift_of_outputs<typename S::Number>(statistics.of(number)[3]);
    const int exponent = facts.exponent() + task.exponent_offset + shift;
    const uint32_t words = place_of(lane, number, 0, 0);
    const uint32_t tops = shared_address(shared_memory()) + lane.group * S::GROUP + S::TOPS + number * S::LINE;
    const To to(task, line, exponent);
    int k = 4 * (int)(octet / PAIRS) + (thread >> 1 & 3);
    if constexpr (!is_unchirped(S::PASS))
        if (there && k == 0) task.exponents_out[line.first_exponent_out + To::exponent_at(line)] = exponent;
    const int turns = (count + STEP - 1) / STEP;
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        if (there && k < count) {
            const int at = k % S::N1 * S::PITCH + S::place_of_output(k % S::N1, k / S::N1);
            i64 re, im;
            narrowed<S::WIDE>(words + 16 * at, tops + at, shift, re, im);
            to.put(k, ::Words{(int64_t)re, (int64_t)im});
        }
        k += STEP;
    }
}

// Lines that are left to a portable kernel; and what the numbers of the others say of their transforms.
template <class S> DEVICE void leave_floats(const PassArguments &all, const Line *lines, const Statistics<S> &statistics) {
    share_out<S::GROUP_THREADS>(Lane<S>().in_group(), S::LINES, [&](int i) {
        const Line &line = lines[i];
        const auto facts = statistics.facts(i);
        if (!is_there(line)) return;
        if (!facts.moderate()) {
            all.tuned.left[atomic_add(all.tuned.left_count, 1u)] = (i64)(line.transform * all.task.lines_per_transform + line.number);
            return;
        }
        const unsigned flags = (facts.largest_re != 0 ? HAS_REAL : 0) | (facts.largest_im != 0 ? HAS_IMAGINARY : 0);
        unsigned *const nature = all.task.natures + line.transform;
        if ((flags & ~*(volatile unsigned *)nature) != 0) atomic_or(nature, flags);
    });
}
template <class S> DEVICE void leave_rows(const PassArguments &all, const Line *lines, const RowStatistics<typename S::Number> &statistics) {
    share_out<S::GROUP_THREADS>(Lane<S>().in_group(), S::LINES, [&](int i) {
        const Line &line = lines[i];
        if (is_there(line) && (!statistics.facts(i).taken(all.task.exponent_offset + line.bias) || (line.flags & NOT_FINITE) != 0))
            all.tuned.left[atomic_add(all.tuned.left_count, 1u)] = (i64)(line.transform * all.task.lines_per_transform + line.number);
    });
}

template <class S, class Mma, bool CONVERSIONS> DEVICE void run_pass(const PassArguments &all) {
    const TunedArguments &args = all.tuned;
    const int group = Lane<S>().group;
    const auto clear = [](unsigned *memory) {
        share_out<S::GROUP_THREADS>(Lane<S>().in_group(), 4 * S::LINES, [&](int i) { memory[i] = 0; });
    };
    const unsigned step = gridDim.x * S::GROUPS, first_panel = blockIdx.x + gridDim.x * group;
    begin_tables<S, S::Tables::BYTES>(args);
    clear(Statistics<S>(group, 0).memory);
    prepare_panel<S>(all, first_panel, group, 0);
    end_tables<S>();
    unsigned round = 0;
#pragma unroll 1
    for (unsigned panel = first_panel; panel < args.panels; panel += step, round++) {
        const Line *const lines = headers<S>(group, round);
        const auto next = [&] {
            // No thread is in the round before any more.
            clear(Statistics<S>(group, round + 1).memory);
            prepare_panel<S>(all, panel + step, group, round + 1);
        };
        const auto steps = [&](const auto &numbers, const auto &statistics, const auto &leave, const auto &end_of) {
            first_step<S, Mma>(args, numbers, statistics, end_of);
            leave();
            if constexpr (S::MIDDLE > 1) {
                group_barrier<S>(group);
                middle_step<S, Mma>(args);
            }
            if constexpr (S::N2 > 1) {
                group_barrier<S>(group);
                if constexpr (S::Last::MATRIX)
                    last_step<S, Mma>(args, end_of);
                else if constexpr (S::TO_WORDS)
                    unit_step_in_place<S>(end_of);
                else
                    last_unit_step<S>(end_of);
            }
            if constexpr (S::TO_WORDS) {
                group_barrier<S>(group);
                if constexpr (is_to_product(S::PASS))
                    store_words<S, ToProduct>(all.task, lines, statistics, S::N);
                else if constexpr (is_unchirped(S::PASS))
                    store_words<S, ToUnchirped>(all.task, lines, statistics, ToUnchirped::most_outputs(all.task, S::N));
                else
                    store_words<S, ToNextPass>(all.task, lines, statistics, S::N);
            }
        };
        const auto to_words = [&](const auto &numbers, const auto &statistics, const auto &leave) {
            steps(numbers, statistics, leave, [&](const Column &column) { return InPlace<S>(Lane<S>(), column, statistics.of(column.line) + 3); });
        };
        if constexpr (!S::FROM_FLOATS) {
            const RowStatistics<typename S::Number> statistics{{Statistics<S>(group, round).memory}};
            typename PassNumbers<S, CONVERSIONS>::Words words[S::UNITS1];
            if constexpr (is_chirped(S::PASS))
                read_chirped<S>(all.task, lines, words);
            else
                read_words<S>(all, lines, words);
            note_scales<S>(words, statistics);
            group_barrier<S>(group);
            note_row_sums<S>(words, statistics);
            next();
            group_barrier<S>(group);
            if constexpr (S::TO_WORDS)
                to_words(words, statistics, [] {});
            else
                steps(words, statistics, [&] { leave_rows<S>(all, lines, statistics); },
                      [&](const Column &column) { return ToLine<S, CONVERSIONS>(all, lines[column.line], statistics.facts(column.line), column); });
        } else {
            const Statistics<S> statistics(group, round);
            typename PassNumbers<S, CONVERSIONS>::Floats numbers[S::UNITS1];
            read_floats<S>(all, lines, numbers);
            note_largest<S>(numbers, statistics);
            group_barrier<S>(group);
            note_sums<S>(numbers, statistics);
            next();
            group_barrier<S>(group);
            to_words(numbers, statistics, [&] { leave_floats<S>(all, lines, statistics); });
        }
    }
}

}  // namespace bailey
