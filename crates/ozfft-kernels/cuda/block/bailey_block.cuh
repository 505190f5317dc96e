// Lines of one or two steps of any size, each a small DFT on the tensor unit, from f64 to f64. The sizes are known to the
// compiler, and everything between reading and writing is in registers, but for one exchange through shared memory between the
// steps. Lines whose largest number is near the ends of the range are left to a portable kernel, as tuned_block.cuh does.
#pragma once
#include "block/bailey_digits.cuh"
#include "arch/launches.cuh"

namespace bailey {

// Who a thread is: its group, the warp of the group, and its place in the warp. `base`: which line of a transform the first one of the round
// is, where there are several rounds.
template <class S> struct Lane {
    int group, warp, g, t, number, base;
    DEVICE explicit Lane(int base = 0) : base(base) {
        // Masks tell the compiler that nothing here is negative.
        const int thread = thread_number();
        number = thread & 31;
        const unsigned all = thread >> 5 & 31;
        group = S::GROUPS > 1 ? all / S::WARPS : 0;
        warp = S::GROUPS > 1 ? all % S::WARPS : all;
        g = thread >> 2 & 7;
        t = thread & 3;
    }
    DEVICE int in_group() const { return 32 * warp + number; }
};

// All warps of a group.
template <class S> DEVICE void group_barrier(int group) {
    // The barrier counts warps, not threads: all threads of a warp must come to it together.
    warp_barrier();
    if (S::GROUPS > 1)
        named_barrier(1 + group, S::GROUP_THREADS);
    else
        block_barrier();
}

// All who have lines together.
template <class S> DEVICE void lines_barrier(int group) {
    if constexpr (S::LOCAL)
        warp_barrier();
    else
        group_barrier<S>(group);
}

// Does `work` for 0, …, count - 1, shared out among the threads of a block, or of a group of it (`thread` is the number there). All
// threads of a warp make the same number of turns: after loops in which they do not, ptxas 13.0 at times leaves out what brings
// the warp together again, and barriers and tensor instructions behind them never end (docs/gpu-template.md, "A trap").
template <int THREADS, class Work> DEVICE void share_out(int thread, int count, const Work &work) {
    const int number = thread & 31;
#pragma unroll 1
    for (int first = thread - number; first < count; first += THREADS)
        if (first + number < count) work(first + number);
    warp_barrier();
}

// An output: whether it is one, its number, sums and what they have at weight 2^49.
struct Output {
    bool is_one;
    int index;
    i64 re;
    int top_re;
    i64 im;
    int top_im;
};

// Exponents of two real lines, or of two real columns, that are together where complex ones have their parts.
struct PairExponents {
    int a, b;
};
// What is known of them.
template <class Facts> struct PairFacts {
    Facts a, b;
    DEVICE PairExponents for_words() const { return {a.exponent(), b.exponent()}; }
};

// A column of the first step, or a row of the last one, that a thread works on.
struct Column {
    int line, place;
    bool there;
};

// What the lines of a panel have to do with the arrays.
template <class S> struct Lines {
    i64 group;
    unsigned first;
    DEVICE Lines(const TunedArguments &args, unsigned panel) {
        if (S::STRIDED) {
            const unsigned number = panel / args.panels_a_group;
            group = number;
            first = (panel - number * args.panels_a_group) * S::PANEL;
        } else {
            group = (i64)panel * S::PANEL;
            first = 0;
        }
    }
    DEVICE bool has(const TunedArguments &args, int line) const {
        return S::STRIDED ? first + line < args.fast_count : group + line < args.lines;
    }
    DEVICE i64 number(const TunedArguments &args, int line) const {
        return S::STRIDED ? group * args.fast_count + first + line : group + line;
    }
    DEVICE i64 start(const Places &places, int line) const {
        return S::STRIDED ? group * places.slow + (first + line) * places.fast : (group + line) * places.slow;
    }
};

// What is known of a line of f64 once all its numbers have been looked at. Words have WORD_BITS bits: with fewer of them a line's unit is larger,
// and nothing else is different.
template <int WORD_BITS_> struct FactsOfDoubles {
    static constexpr bool IS_DOUBLE = true;
    static constexpr int WORD_BITS = WORD_BITS_;
    unsigned largest_re, largest_im, sum;
    DEVICE bool zero() const { return (largest_re | largest_im) == 0; }
    DEVICE int field() const { return (int)((largest_re > largest_im ? largest_re : largest_im) >> 20); }
    // Lines of zeros stay zeros whatever their exponent.
    DEVICE int exponent() const { return zero() ? 0 : field() - 1043 + (32 - leading_zeros_of_half(sum)) - WORD_BITS; }
    DEVICE int for_words() const { return exponent(); }
    DEVICE bool moderate() const { return (field() >= LEAST_FIELD && field() <= LARGEST_FIELD) || zero(); }
    // The same, where results are scaled by 2^common besides.
    DEVICE bool taken(int) const { return moderate(); }
};
typedef FactsOfDoubles<61> LineFacts;

template <class S> struct Statistics {
    unsigned *memory;
    DEVICE Statistics(int group, unsigned round) : memory((unsigned *)(shared_memory() + group * S::GROUP + S::STATISTICS) + (round & 1) * 4 * S::LINES) {}
    DEVICE unsigned *of(int line) const { return memory + 4 * line; }
    DEVICE typename S::Number::Facts facts(int line) const { return {of(line)[0], of(line)[1], of(line)[2]}; }
};

template <class S> DEVICE int &common_exponent() { return *(int *)(shared_memory() + S::COMMON); }

template <class S> DEVICE Column column_of(const Lane<S> &lane, int u) {
    const int index = 8 * (lane.warp * S::UNITS1 + u) + lane.g;
    const bool there = S::COLUMNS == 8 * S::UNITS1 * S::WARPS || index < S::COLUMNS;
    // Threads beyond the last column do as that one's.
    const Numbered<S::COLUMNS_ACROSS, S::LINES, S::COLUMNS_OF_LINE> numbered(there ? index : S::COLUMNS - 1);
    return {numbered.line, numbered.place, there};
}

template <class S> DEVICE TablesAt<S::SHARED_TABLES> tables_of(const TunedArguments &args) {
    if constexpr (S::SHARED_TABLES)
        return {shared_address(shared_memory()) + S::TABLES};
    else
        return {(const unsigned char *)args.tables + S::FIRST_TABLE};
}

// Where a word lies between the steps.
template <class S> DEVICE uint32_t place_of(const Lane<S> &lane, int line, int row, int column) {
    // Where the line's own words are.
    if constexpr (S::IN_PLACE) return S::place_of(lane.group, lane.base + line, row, column);
    return shared_address(shared_memory()) + lane.group * S::GROUP + 16 * (line * S::LINE + row * S::PITCH + column);
}

// A word that is finished but for its conversion.
template <bool CONVERSIONS> struct Finish {
    int power;
    double scale;
    DEVICE explicit Finish(int exponent) {
        power = (exponent + 1023 + 63 - 1) << 20;
        scale = CONVERSIONS ? __hiloint2double((1023 + exponent) << 20, 0) : 0.0;
    }
    DEVICE uint4 operator()(i64 re, int top_re, i64 im, int top_im, unsigned flip) const {
        return finished<CONVERSIONS>(re, top_re, im, top_im, power, scale, flip);
    }
    // The real part alone.
    DEVICE uint2 real(i64 re, int top) const {
        uint2 value;
        bool usual = are_usual(top, top);
        if (CONVERSIONS) {
            const double x = (usual ? to_double_by_conversion(re, top) : to_double_by_parts(re, top)) * scale;
            value = make_uint2((unsigned)__double2loint(x), (unsigned)__double2hiint(x));
        } else {
            to_double(re, top, power, 0, value.x, value.y, usual);
            if (!usual) to_double_any(re, top, power, 0, value.x, value.y);
        }
        return value;
    }
};

// Numbers of f64: words of eight digits.
struct Double : OnInt8 {
    static constexpr int DIGITS = 8, DIAGONALS = 8, WORD_BITS = 61, UNSEEN = 40;
    typedef uint4 Element;
    typedef uint2 Real;
    typedef LineFacts Facts;
    template <bool CONVERSIONS, int COUNT> using Numbers = typename NumbersOf<CONVERSIONS, COUNT>::Type;
    template <bool CONVERSIONS> using Finish = bailey::Finish<CONVERSIONS>;
    // Whether lines are taken whose largest number has its leading bit at 2^leading.
    static DEVICE bool takes(int leading, int) { return leading + 1023 >= LEAST_FIELD && leading + 1023 <= LARGEST_FIELD; }
    static DEVICE uint4 zero() { return make_uint4(0, 0, 0, 0); }
    static DEVICE void flip(uint4 &x, unsigned sign) { x.w ^= sign; }
    static DEVICE uint4 kept(const uint4 &x, unsigned re, unsigned im) { return make_uint4(x.x & re, x.y & re, x.z & im, x.w & im); }
    static DEVICE uint2 real_zero() { return make_uint2(0, 0); }
    static DEVICE uint2 real_kept(const uint2 &x, unsigned mask) { return make_uint2(x.x & mask, x.y & mask); }
    // Two real numbers where a complex one has its parts.
    static DEVICE uint4 of_parts(const uint2 &re, const uint2 &im) { return make_uint4(re.x, re.y, im.x, im.y); }
    static DEVICE bool is_imaginary_finite(const uint4 &x) { return (x.w & 0x7ff00000u) != 0x7ff00000u; }
};

// Reads the numbers of a column whose first one is at `start`: slots t, t + 4, …, an element and its partner. What is not there is zeros.
template <class S, class Numbers> DEVICE void read_column(const TunedArguments &args, i64 start, i64 row_step, const Column &column, int t, bool present, Numbers &numbers) {
    typedef typename S::First Step;
    typedef typename S::Number Number;
    typedef typename Number::Element Element;
    const bool mirrored = 2 * column.place > S::N2;
    const auto row = [&](int i) { return mirrored ? S::N1 - 1 - i : i; };
    const Element *near = (const Element *)args.input + start + row(t) * row_step;
    const Element *far = (const Element *)args.input + start + row(S::N1 - (Step::PLAIN ? 0 : 1) - t) * row_step;
    const i64 step = mirrored ? -4 * row_step : 4 * row_step;
    const unsigned flip = args.conjugate_input ^ (mirrored ? 0x80000000u : 0u);
#pragma unroll
    for (int q = 0; q < Step::QUADS; q++) {
        const bool slot = present && (4 * q + 4 <= Step::SLOTS || 4 * q + t < Step::SLOTS);
        Element a = Number::zero(), b = a;
        if (slot) a = load_once(near);
        // A plain step's first element has no partner.
        if (slot && !(Step::PLAIN && q == 0 && t == 0)) b = load_once(far);
        Number::flip(a, flip);
        Number::flip(b, flip);
        numbers.put(2 * q, a);
        numbers.put(2 * q + 1, b);
        near += step;
        far -= step;
    }
}

// The numbers of a warp's columns.
template <class S, class Numbers> DEVICE void read_columns(const TunedArguments &args, const Lines<S> &lines, Numbers (&numbers)[S::UNITS1]) {
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const bool present = lines.has(args, column.line);
        const i64 row_step = S::STRIDED ? S::N2 * args.from.element : S::N2;
        const i64 start = lines.start(args.from, present ? column.line : 0) + (S::STRIDED ? column.place * args.from.element : column.place);
        read_column<S>(args, start, row_step, column, lane.t, present, numbers[u]);
    }
}

// Of all threads that have a part of a column's line, where lines are a warp's own.
template <class S, class Combine> DEVICE unsigned over_line(unsigned value, const Combine &combine) {
    static_assert(S::N2 == 1 || S::N2 == 4, "four lanes, or sixteen neighbouring ones");
#pragma unroll
    for (int distance = 1; distance < (S::N2 == 1 ? 4 : 16); distance *= 2) value = combine(value, shuffle_xor(value, distance));
    return value;
}
// Which of them speaks for the line.
template <class S> DEVICE bool is_first_of_line(const Lane<S> &lane) { return (lane.number & (S::N2 == 1 ? 3 : 15)) == 0; }
DEVICE unsigned larger_of(unsigned a, unsigned b) { return a > b ? a : b; }

// Largest numbers of all lines, to their statistics.
template <class S, class Numbers, class Statistics> DEVICE void note_largest(const Numbers (&numbers)[S::UNITS1], const Statistics &statistics) {
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        // Numbers whose upper words are zeros count as well.
        unsigned re = max(numbers[u].largest_re, numbers[u].rest_re() != 0 ? 1u : 0u);
        unsigned im = max(numbers[u].largest_im, numbers[u].rest_im() != 0 ? 1u : 0u);
        const Column column = column_of<S>(lane, u);
        if constexpr (S::LOCAL) {
            re = over_line<S>(re, larger_of);
            im = over_line<S>(im, larger_of);
            // What is worked out of the line later begins with zeros.
            if (is_first_of_line<S>(lane)) store_shared(shared_address(statistics.of(column.line)), make_uint4(re, im, 0, 0));
            continue;
        }
        if (S::ONE_LINE) {
            re = warp_maximum(re);
            im = warp_maximum(im);
        } else {
            re = max(re, shuffle_xor(re, 1));
            im = max(im, shuffle_xor(im, 1));
            re = max(re, shuffle_xor(re, 2));
            im = max(im, shuffle_xor(im, 2));
        }
        unsigned *const of = statistics.of(column.line);
        if (S::ONE_LINE ? lane.number == 0 : lane.t == 0) {
            atomic_maximum(of, re);
            atomic_maximum(of + 1, im);
        }
    }
}

template <class Numbers, class Facts> DEVICE unsigned leading_bits(const Numbers &numbers, const Facts &facts) {
    if constexpr (Facts::IS_DOUBLE)
        return numbers.leading_bits(facts.field());
    else
        return numbers.leading_bits(facts);
}

// Largest sums of columns of all lines, likewise.
template <class S, class Numbers, class Statistics> DEVICE void note_sums(const Numbers (&numbers)[S::UNITS1], const Statistics &statistics) {
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        unsigned *const of = statistics.of(column.line);
        unsigned sum = leading_bits(numbers[u], statistics.facts(column.line));
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        // One for every magnitude rounds it up.
        sum += 2 * S::N1;
        if constexpr (S::LOCAL) {
            sum = over_line<S>(sum, larger_of);
            if (is_first_of_line<S>(lane)) of[2] = sum;
            continue;
        }
        if (S::ONE_LINE) sum = warp_maximum(sum);
        if (S::ONE_LINE ? lane.number == 0 : lane.t == 0) atomic_maximum(of + 2, sum);
    }
}

// Where results of a line go that has a column or a row: to the caller's array.
template <class S, bool CONVERSIONS> struct ToMemory {
    typedef typename S::Number Number;
    typedef typename Number::Element Element;
    typename Number::template Finish<CONVERSIONS> finish;
    Element *start;
    i64 element;
    unsigned conjugate;
    bool there, some_re, some_im;
    DEVICE ToMemory(const TunedArguments &args, const Lines<S> &lines, const typename Number::Facts &facts, const Column &column)
        : finish(facts.exponent() + common_exponent<S>()), conjugate(args.conjugate_output), some_re(facts.largest_re != 0), some_im(facts.largest_im != 0) {
        there = column.there && lines.has(args, column.line) && facts.taken(common_exponent<S>());
        start = (Element *)args.output + lines.start(args.to, column.line);
        element = S::STRIDED ? args.to.element : 1;
    }
    // All of them are there.
    DEVICE void done() const {}
    // Output number `index`, or its conjugate, if there is such a one: sums, and what they have at weight 2^49.
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool conjugated) const {
        Element value = finish(re, top_re, im, top_im, conjugate ^ (conjugated ? 0x80000000u : 0u));
        // Of real or imaginary lines these outputs have a part that is known to be zero.
        if (!(some_re && some_im) && (index == 0 || 2 * index == S::N)) value = Number::kept(value, some_re ? ~0u : 0u, some_im ? ~0u : 0u);
        if (is_one && there) start[index * element] = value;
    }
};

// Whether outputs beyond the middle of a transform are left out where they go to `End`: then it has `put_one_of`, which is told of an
// output and of its opposite.
template <class End> struct LeavesOutHalf {
    static constexpr bool VALUE = false;
};

// Words and digits of a warp's columns, an element and its partner folded together.
template <class S, class Numbers, class Statistics>
DEVICE void put_digits(const Numbers (&numbers)[S::UNITS1], const Statistics &statistics, StepDigits<typename S::First> (&cosine_digits)[S::UNITS1],
                       StepDigits<typename S::First> (&sine_digits)[S::UNITS1]) {
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const typename Numbers::Words words(statistics.facts(column.line).for_words());
#pragma unroll
        for (int q = 0; q < S::First::QUADS; q++) {
            const i64 ar = numbers[u].real_word(2 * q, words), ai = numbers[u].imaginary_word(2 * q, words);
            const i64 br = numbers[u].real_word(2 * q + 1, words), bi = numbers[u].imaginary_word(2 * q + 1, words);
            cosine_digits[u].put(q, ar + br, ai + bi);
            sine_digits[u].put(q, ar - br, ai - bi);
        }
        cosine_digits[u].fill();
        sine_digits[u].fill();
    }
}

// Tiles of a step that the compiler sees side by side: all, so that it leaves out what nobody uses of the last one. Of contiguous lines with two
// whole tiles in either step it would have registers for fewer warps, and there is nothing to leave out.
template <class S, class Step> DEVICE_CONSTANT int tiles_at_once() {
    const bool whole = S::First::SLOTS == 16 && S::Last::SLOTS == 16 && S::MIDDLE == 1;
    return whole && !S::STRIDED && S::Number::PRODUCT == Product::INT8 && S::Number::DIGITS == 8 ? 1 : Step::TILES;
}

// The first step, or the only one: words, digits, products, rotation; then to shared memory, or to where results of a column go
// (`end_of`).
template <class S, class Mma, class Numbers, class Statistics, class EndOf>
DEVICE void first_step(const TunedArguments &args, const Numbers (&numbers)[S::UNITS1], const Statistics &statistics, const EndOf &end_of, int base = 0) {
    typedef typename S::First Step;
    typedef typename S::Tables Tables;
    constexpr int N1 = S::N1, N2 = S::N2;
    StepDigits<Step> cosine_digits[S::UNITS1], sine_digits[S::UNITS1];
    const Factors factors = factors_of<Int8>(args);
    const Lane<S> lane(base);
    put_digits<S>(numbers, statistics, cosine_digits, sine_digits);
    const auto tables = tables_of<S>(args);
    const int t = lane.t;
#pragma unroll(tiles_at_once<S, Step>())
    for (int o = 0; o < Step::TILES; o++) {
        Rounded cosine[S::UNITS1], sine[S::UNITS1];
        const auto matrix = tables.later(o * Step::TILE_BYTES);
        multiply<Mma, true>(cosine, cosine_digits, matrix.later(Tables::COSINE1), factors, 100 * o + 10);
        multiply<Mma, true>(sine, sine_digits, matrix.later(Tables::SINE1), factors, 100 * o + 20);
#pragma unroll
        for (int u = 0; u < S::UNITS1; u++) {
            const Column column = column_of<S>(lane, u);
            const int j = column.place;
            const auto angles = tables.later(Tables::ROTATIONS + 16 * (2 * j > N2 ? N2 - j : j));
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int i = 8 * o + 4 * e;
                if (i >= Step::SLOTS) continue;
                // Looked up anew, and not kept in registers.
                auto end = end_of(column);
                const bool slot = i + 4 <= Step::SLOTS || i + t < Step::SLOTS;
                const i64 cr = cosine[u].sum[e], ci = cosine[u].sum[2 + e];
                // Output 0 of a plain step, which comes last, has no sines.
                const bool pairs = i < Step::PAIRS;
                const i64 sr = pairs ? sine[u].sum[e] : 0, si = pairs ? sine[u].sum[2 + e] : 0;
                // Outputs k and N1 - k, less what they are biased by. Of the first pair of a shifted step, output 0 has cosines
                // only, output N1/2 sines only.
                const bool first = !Step::PLAIN && i == 0, two = first && t == 0;
                const bool alone = Step::PLAIN && i + 4 > Step::PAIRS && i + t == Step::PAIRS;
                const int k = !slot || alone ? 0 : Step::PLAIN ? i + t + 1 : i + t;
                const int far_k = two ? N1 / 2 : N1 - k;
                uint4 biased = tables.entry(first ? Tables::FIRST_CONSTANTS + 32 * t : Tables::CONSTANTS1 + 16 * (i + 2 * t - 4 * e + e));
                uint4 angle = angles.entry(16 * k * Tables::ANGLES);
                const auto put = [&](int row, i64 re, i64 im, bool conjugated) {
                    if constexpr (N2 > 1) {
                        if (column.there && slot) store_shared(place_of(lane, column.line, row, j), make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                    } else {
                        end.put(slot, row, re, 0, im, 0, conjugated);
                    }
                };
                i64 re = cr + (two ? 0 : si) - join(biased.x, biased.y), im = ci - (two ? 0 : sr) - join(biased.z, biased.w);
                rotate_words<S::Number::WORD_BITS>(re, im, angle, factors);
                put(k, re, im, false);
                // Opposites are beyond the middle, but for output N1/2 of the first pair.
                if (!pairs || (LeavesOutHalf<decltype(end)>::VALUE && N2 == 1 && !first)) {
                    if constexpr (N2 == 1) end.done();
                    continue;
                }
                if (first) {
                    biased = tables.entry(Tables::FIRST_CONSTANTS + 32 * t + 16);
                    if (two) angle = angles.entry(16 * (N1 / 2) * Tables::ANGLES);
                    re = (two ? si : cr - si) - join(biased.x, biased.y);
                    im = (two ? 0 : -ci) - sr + join(biased.z, biased.w);
                } else {
                    re = cr - si - join(biased.z, biased.w);
                    im = join(biased.x, biased.y) - sr - ci;
                }
                rotate_words<S::Number::WORD_BITS>(re, im, angle, factors);
                if (!alone) put(far_k, re, im, !two);
                if constexpr (N2 == 1) end.done();
            }
        }
    }
}

// Row number `index` of the last step. Neighbouring threads' rows of contiguous lines are at a distance of two.
template <class S> DEVICE Column row_of(const Lane<S> &lane, int unit) {
    const int g = S::STRIDED ? lane.g : (lane.g & 4) | (lane.g & 1) << 1 | (lane.g >> 1 & 1);
    const int index = 8 * unit + g;
    const bool there = S::ROWS % 8 == 0 ? 8 * unit < S::ROWS : index < S::ROWS;
    const Numbered<S::STRIDED, S::PANEL, S::ROWS_OF_LINE> numbered(there ? index : S::ROWS - 1);
    return {numbered.line, numbered.place, there};
}

// A part of output k of four points, by that part and the other one of all points; `sign` is that of the other one's share
// after a quarter turn.
template <class T> DEVICE T unit_output(int k, const T (&own)[4], const T (&other)[4], int sign) {
    const T even = k % 2 == 0 ? own[0] + own[2] : own[0] - own[2];
    const T odd = k % 2 == 0 ? own[1] + own[3] : sign > 0 ? other[1] - other[3] : other[3] - other[1];
    return k < 2 ? even + odd : even - odd;
}

// Rows of a last step of four points, of all lines or of a warp's own: a thread takes one at a time. All threads of a warp go on together,
// those beyond the last row as the last one's: see docs/gpu-template.md.
template <class S, class Work> DEVICE void each_row(const Work &work) {
    const Lane<S> lane;
    constexpr int OWN_LINES = 8 * S::UNITS1 / 4, COUNT = S::LOCAL ? OWN_LINES * S::ROWS_OF_LINE : S::ROWS;
#pragma unroll 1
    for (int first = S::LOCAL ? 0 : 32 * lane.warp; first < COUNT; first += S::LOCAL ? 32 : S::GROUP_THREADS) {
        const bool there = COUNT % 32 == 0 || first + lane.number < COUNT;
        const int number = there ? first + lane.number : COUNT - 1;
        if constexpr (S::LOCAL) {
            const Numbered<true, OWN_LINES, S::ROWS_OF_LINE> row(number);
            work(Column{OWN_LINES * lane.warp + row.line, row.place, there});
        } else {
            const Numbered<S::STRIDED, S::PANEL, S::ROWS_OF_LINE> row(number);
            work(Column{row.line, row.place, there});
        }
    }
}

// A last step of four points: additions alone.
template <class S, class EndOf> DEVICE void last_unit_step(const EndOf &end_of, int base = 0) {
    static_assert(S::N2 == 4, "the only unit step of a block of two");
    constexpr bool APART = S::Number::DIGITS == 8;
    const Lane<S> lane(base);
    each_row<S>([&](const Column &row) {
        const int k1 = row.place;
        i64 low_re[4], low_im[4];
        int top_re[4], top_im[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint4 word = load_shared(place_of(lane, row.line, k1, j < S::COLUMNS_OF_LINE ? j : S::N2 - j));
            // Sums do not fit 64 bits: the upper 15 bits apart. (Of fewer digits they do.)
            const auto split = [&](unsigned low, unsigned high, i64 &rest, int &top) {
                rest = join(low, APART ? high & 0x1ffffu : high);
                top = APART ? (int)high >> 17 : 0;
            };
            split(word.x, word.y, low_re[j], top_re[j]);
            split(word.z, word.w, low_im[j], top_im[j]);
        }
        // Column 3 was left without the sign of its imaginary part.
        low_im[3] = -low_im[3];
        top_im[3] = -top_im[3];
        const auto end = end_of(row);
        const bool mirrored = 2 * k1 > S::N1;
        // Sums are kept as those of biased diagonals are.
        constexpr int RAISED = APART ? 8192 : 0;
        const i64 biased = (i64)RAISED << 49;
        const auto index = [&](int k) { return k1 + S::N1 * (mirrored ? 3 - k : k); };
        if constexpr (LeavesOutHalf<decltype(end_of(Column{}))>::VALUE) {
            const auto output = [&](int k) {
                return Output{true,
                              index(k),
                              unit_output(k, low_re, low_im, 1) - biased,
                              unit_output(k, top_re, top_im, 1) + RAISED,
                              unit_output(k, low_im, low_re, -1) - biased,
                              unit_output(k, top_im, top_re, -1) + RAISED};
            };
#pragma unroll
            for (int k = 0; k < 2; k++) end.put_one_of(output(k), output(3 - k), mirrored);
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const i64 re = unit_output(k, low_re, low_im, 1) - biased, im = unit_output(k, low_im, low_re, -1) - biased;
                end.put(true, index(k), re, unit_output(k, top_re, top_im, 1) + RAISED, im, unit_output(k, top_im, top_re, -1) + RAISED, mirrored);
            }
        }
    });
}

// The last step on the tensor unit: a column of it is a row k1 of a line, or a part of it after a middle step.
template <class S, class Mma, class EndOf> DEVICE void last_step(const TunedArguments &args, const EndOf &end_of) {
    typedef typename S::Last Step;
    typedef typename S::Tables Tables;
    constexpr int N1 = S::N1, N2 = S::LAST, MIDDLE = S::MIDDLE, UNITS = S::UNITS2, TOGETHER = warps_together(S::Number::PRODUCT);
    const auto tables = tables_of<S>(args);
    const Factors factors = factors_of<Int8>(args);
#pragma unroll 1
    for (int first = Lane<S>().warp / TOGETHER * TOGETHER * UNITS; 8 * first < S::ROWS; first += S::WARPS * UNITS) {
        const Lane<S> lane;
        // Warps that multiply together go on together, those beyond the last row as the last one's.
        const int unit = first + lane.warp % TOGETHER * UNITS;
        const int t = lane.t;
        StepDigits<Step> cosine_digits[UNITS], sine_digits[UNITS];
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            const Column row = row_of<S>(lane, unit + u);
            const int k1 = (unsigned)row.place / MIDDLE, start = (unsigned)row.place % MIDDLE * N2;
            const uint32_t near = place_of(lane, row.line, k1, start + t), far = place_of(lane, row.line, k1, start + N2 - t);
            const uint32_t middle = place_of(lane, row.line, k1, start + (Step::PLAIN ? 0 : N2 / 2));
#pragma unroll
            for (int q = 0; q < Step::QUADS; q++) {
                // Slots beyond the last read what lies there: they meet zeros of the matrix.
                const bool alone = q == 0 && t == 0;
                const uint4 a = load_shared(near + 64 * q), b = load_shared(alone ? middle : far - 64 * q);
                // Columns beyond the middle were left without the sign of their real part, or of their imaginary part before a
                // plain step: both come to the same. (A middle step has put it right.) A plain step's sines have zeros for slot 0.
                const i64 ar = join(a.x, a.y), ai = join(a.z, a.w), br = join(b.x, b.y), unsigned_bi = join(b.z, b.w);
                const i64 bi = MIDDLE > 1 ? -unsigned_bi : unsigned_bi;
                cosine_digits[u].put(q, alone ? ar : ar + br, alone ? ai : ai - bi);
                sine_digits[u].put(q, alone ? br : ar - br, alone ? bi : ai + bi);
            }
            cosine_digits[u].fill();
            sine_digits[u].fill();
        }
#pragma unroll(tiles_at_once<S, Step>())
        for (int o = 0; o < Step::TILES; o++) {
            Rounded cosine[UNITS], sine[UNITS];
            const auto matrix = tables.later(o * Step::TILE_BYTES);
            multiply<Mma, false>(cosine, cosine_digits, matrix.later(Tables::COSINE2), factors, 100 * o + 30);
            multiply<Mma, false>(sine, sine_digits, matrix.later(Tables::SINE2), factors, 100 * o + 40);
#pragma unroll
            for (int u = 0; u < UNITS; u++) {
                const Column row = row_of<S>(lane, unit + u);
                const int k1 = (unsigned)row.place / MIDDLE, k2 = (unsigned)row.place % MIDDLE;
                const bool mirrored = 2 * k1 > N1;
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const int i = 8 * o + 4 * e;
                    if (i >= Step::SLOTS) continue;
                    const bool slot = i + 4 <= Step::SLOTS || i + t < Step::SLOTS;
                    const int number = i + 2 * t - 4 * e + e;
                    const uint4 biased = tables.entry(Tables::CONSTANTS2 + 16 * number);
                    const uint2 tops = S::Number::DIGITS == 8 ? tables.half(Tables::TOPS2 + 8 * number) : make_uint2(0, 0);
                    const i64 sum = join(biased.x, biased.y), difference = join(biased.z, biased.w);
                    const bool pairs = i < Step::PAIRS;
                    const i64 cr = cosine[u].sum[e], ci = cosine[u].sum[2 + e];
                    const i64 sr = pairs ? sine[u].sum[e] : 0, si = pairs ? sine[u].sum[2 + e] : 0;
                    const int tcr = cosine[u].top[e], tci = cosine[u].top[2 + e];
                    const int tsr = pairs ? sine[u].top[e] : 0, tsi = pairs ? sine[u].top[2 + e] : 0;
                    const bool alone = Step::PLAIN && i + 4 > Step::PAIRS && i + t == Step::PAIRS;
                    const int k = Step::PLAIN ? (alone ? 0 : i + t + 1) : i + t;
                    auto end = end_of(row);
                    const auto index = [&](int k) { return k1 + N1 * (mirrored ? MIDDLE * N2 - 1 - (k2 + MIDDLE * k) : k2 + MIDDLE * k); };
                    if constexpr (LeavesOutHalf<decltype(end)>::VALUE) {
                        const int far = Step::PLAIN ? N2 - k : N2 - 1 - k;
                        const Output a{slot, index(k), cr + si - sum, tcr + tsi - (int)tops.x, ci - sr - difference, tci - tsr - (int)tops.y};
                        const Output b{slot && !alone && pairs, index(far), cr - si - difference, tcr - tsi - (int)tops.y, ci + sr - sum, tci + tsr - (int)tops.x};
                        end.put_one_of(a, b, mirrored);
                        end.done();
                        continue;
                    }
                    end.put(slot, index(k), cr + si - sum, tcr + tsi - (int)tops.x, ci - sr - difference, tci - tsr - (int)tops.y, mirrored);
                    if (!pairs) {
                        end.done();
                        continue;
                    }
                    const int far = Step::PLAIN ? N2 - k : N2 - 1 - k;
                    end.put(slot && !alone, index(far), cr - si - difference, tcr - tsi - (int)tops.y, ci + sr - sum, tci + tsr - (int)tops.x, mirrored);
                    end.done();
                }
            }
        }
    }
}

// A panel's lines that are left to a portable kernel.
template <class S, class FactsOf> DEVICE void leave_lines(const TunedArguments &args, const Lines<S> &lines, const FactsOf &facts_of) {
    share_out<S::GROUP_THREADS>(Lane<S>().in_group(), S::PANEL, [&](int line) {
        if (lines.has(args, line) && !facts_of(line).taken(common_exponent<S>())) args.left[atomic_add(args.left_count, 1u)] = lines.number(args, line);
    });
}

template <class S> DEVICE void clear(const Statistics<S> &statistics) {
    share_out<S::GROUP_THREADS>(Lane<S>().in_group(), 4 * S::LINES, [&](int i) { statistics.memory[i] = 0; });
}

// Begins to copy the tables to shared memory, then waits for the launch before. What else is done once is done meanwhile.
template <class S, int BYTES> DEVICE void begin_tables(const TunedArguments &args) {
    if constexpr (S::SHARED_TABLES) {
        share_out<S::THREADS>(thread_number(), BYTES / 16, [&](int i) { copy_async(shared_address(shared_memory()) + S::TABLES + 16 * i, args.tables + i, true); });
        copy_commit();
    }
    wait_for_launch_before();
}
// They are there for all threads, and so is what these have written to shared memory before.
template <class S> DEVICE void end_tables() {
    if constexpr (S::SHARED_TABLES) copy_wait();
    if constexpr (warps_together(S::Number::PRODUCT) > 1) wgmma_publish();
    block_barrier();
}

// The exponent that all lines have in common. The list of lines that are left is nobody else's where there is a single block.
template <class S> DEVICE void begin_lines(const TunedArguments &args) {
    if (thread_number() == 0) {
        if (gridDim.x == 1) *args.left_count = 0;
        const bool biased = args.largest != nullptr && *args.largest >= args.bias_threshold;
        common_exponent<S>() = args.exponent_offset + (biased ? args.bias : 0);
    }
}

// What is done once: tables, and the exponent that all lines have in common.
template <class S> DEVICE void begin(const TunedArguments &args) {
    begin_tables<S, S::Tables::BYTES>(args);
    clear(Statistics<S>(Lane<S>().group, 0));
    begin_lines<S>(args);
    end_tables<S>();
}

// Between the first and the last step of three: bailey_three.cuh.
template <class S, class Mma> DEVICE void middle_step(const TunedArguments &args);

template <class S, class Mma, bool CONVERSIONS> DEVICE void run(const TunedArguments &args) {
    begin<S>(args);
    const int group = Lane<S>().group;
    // Neighbouring panels are of different blocks, so that a few of them are spread over the device.
    const unsigned step = gridDim.x * S::GROUPS;
    unsigned round = 0;
#pragma unroll 1
    for (unsigned panel = blockIdx.x + gridDim.x * group; panel < args.panels; panel += step, round++) {
        const Lines<S> lines(args, panel);
        const Statistics<S> statistics(group, round);
        typename S::Number::template Numbers<CONVERSIONS, 2 * S::First::QUADS> numbers[S::UNITS1];
        read_columns<S>(args, lines, numbers);
        // No thread is behind the last step of the round before once the next barrier is passed: then its words and its
        // statistics are free.
        note_largest<S>(numbers, statistics);
        group_barrier<S>(group);
        note_sums<S>(numbers, statistics);
        clear(Statistics<S>(group, round + 1));
        group_barrier<S>(group);
        const auto end_of = [&](const Column &column) { return ToMemory<S, CONVERSIONS>(args, lines, statistics.facts(column.line), column); };
        first_step<S, Mma>(args, numbers, statistics, end_of);
        leave_lines<S>(args, lines, [&](int line) { return statistics.facts(line); });
        if constexpr (S::MIDDLE > 1) {
            group_barrier<S>(group);
            middle_step<S, Mma>(args);
        }
        if constexpr (S::N2 > 1) {
            group_barrier<S>(group);
            if constexpr (S::Last::MATRIX)
                last_step<S, Mma>(args, end_of);
            else
                last_unit_step<S>(end_of);
        }
    }
}

}  // namespace bailey
