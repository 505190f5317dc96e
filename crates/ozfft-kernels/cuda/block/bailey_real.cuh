// Real lines to half-spectra, and half-spectra to real lines: one or two steps of any size. Two lines go together where a complex line has
// its two parts, in the first step of real lines and in the last one of half-spectra.
//
// Real lines: nothing is combined after the first step's products, for the cosine sum of a real column is the real part of its output,
// the sine sum the imaginary one. Rows k1 and N1 - k1 are conjugates, so that the last step has rows 0 to N1/2 only.
//
// Half-spectra: columns j and N2 - j have the same words, so that the first step has columns 0 to N2/2 only. What the last step folds
// together is twice the real part of a word for its cosines, and twice the imaginary part for its sines: its sums are of real lines.
#pragma once
#include "block/bailey_block.cuh"

namespace bailey {

enum class Half { OUTPUT, INPUT };  // which side has half-spectra

// As BlockShape. PAIRS: pairs of lines that a group of warps has at a time, neighbours; of strided lines a line of the first half of those and
// one of the second half, so that neighbouring threads read and write side by side.
template <int N1_, int N2_, int PAIRS_, int UNITS1_, int UNITS2_, bool STRIDED_, Half HALF_, int GROUPS_, class Number_> struct RealShape {
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2, PAIRS = PAIRS_, UNITS1 = UNITS1_, UNITS2 = UNITS2_;
    static constexpr Half HALF = HALF_;
    typedef Number_ Number;
    static constexpr bool STRIDED = STRIDED_, COLUMNS_ACROSS = STRIDED_, SHARED_TABLES = GROUPS_ > 0;
    static constexpr bool LOCAL = false, IN_PLACE = false;  // as of BlockShape
    static constexpr int GROUPS = GROUPS_ > 0 ? GROUPS_ : 1;
    typedef StepShape<N1, Number::DIGITS, Number::PRODUCT, Number::DIAGONALS> First;
    typedef StepShape<N2, Number::DIGITS, Number::PRODUCT, Number::DIAGONALS> Last;
    typedef TableShape<N1, N2, Number::DIGITS, Number::PRODUCT, Number::DIAGONALS> Tables;
    static constexpr int PANEL = 2 * PAIRS;
    // Lines of the first step: pairs of real ones, or half-spectra one by one.
    static constexpr int LINES = HALF == Half::OUTPUT ? PAIRS : PANEL;
    static constexpr int LAST = N2_, MIDDLE = 1;
    static constexpr int COLUMNS_OF_LINE = HALF == Half::OUTPUT ? N2 : N2 / 2 + 1, ROWS_OF_LINE = HALF == Half::OUTPUT ? N1 / 2 + 1 : N1;
    static constexpr int COLUMNS = LINES * COLUMNS_OF_LINE, ROWS = PANEL * ROWS_OF_LINE;
    static constexpr int WARPS = (COLUMNS + 8 * UNITS1 - 1) / (8 * UNITS1);
    static constexpr int GROUP_THREADS = 32 * WARPS, THREADS = GROUPS * GROUP_THREADS;
    static constexpr bool ONE_LINE = LINES == 1 || (!STRIDED && COLUMNS_OF_LINE % (8 * UNITS1) == 0);
    static constexpr int PITCH = STRIDED ? next_with(COLUMNS_OF_LINE, 1, 2) : next_with(COLUMNS_OF_LINE, 2, 4);
    static constexpr int LINE = STRIDED ? next_with(ROWS_OF_LINE * PITCH, 4, 8) : ROWS_OF_LINE * PITCH;
    static constexpr int STATISTICS = N2 == 1 ? 0 : 16 * LINE * PANEL;
    static constexpr int GROUP = STATISTICS + 2 * 16 * LINES;
    static constexpr int COMMON = GROUPS * GROUP, TABLES = COMMON + 16;
    static constexpr int SHARED = TABLES + (SHARED_TABLES ? Tables::BYTES : 0);
    static constexpr int FIRST_TABLE = 0;
    static_assert(First::MATRIX && N1 <= 64 && N2 <= 64, "first steps are products");
    static DEVICE int line_of_pair(int pair, int part) { return STRIDED ? pair + part * PAIRS : 2 * pair + part; }
};

// The numbers of two real lines, where a complex line has its parts; each has an exponent of its own.
template <class Base> struct PairNumbers : Base {
    struct Words {
        typename Base::Words a, b;
        DEVICE explicit Words(const PairExponents &exponents) : a(exponents.a), b(exponents.b) {}
    };
    DEVICE i64 real_word(int i, const Words &words) const { return Base::real_word(i, words.a); }
    DEVICE i64 imaginary_word(int i, const Words &words) const { return Base::imaginary_word(i, words.b); }
};
// The leading bits of either line's numbers, added up. (Of f32: bailey_single.cuh.)
template <int POINTS, int WORD_BITS>
DEVICE void leading_bits(const Numbers<POINTS> &numbers, const PairFacts<FactsOfDoubles<WORD_BITS>> &facts, unsigned &a, unsigned &b) {
    ConvertedBits bits_a(facts.a.field()), bits_b(facts.b.field());
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        bits_a.add(numbers.number[i].x, numbers.number[i].y);
        bits_b.add(numbers.number[i].z, numbers.number[i].w);
    }
    a = bits_a.sum;
    b = bits_b.sum;
}
template <int POINTS, int WORD_BITS>
DEVICE void leading_bits(const PartedNumbers<POINTS> &numbers, const PairFacts<FactsOfDoubles<WORD_BITS>> &facts, unsigned &a, unsigned &b) {
    const int field_a = facts.a.field(), field_b = facts.b.field();
    a = b = 0;
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        a += shift_right(numbers.re[i].top, field_a + 11 - numbers.re[i].field());
        b += shift_right(numbers.im[i].top, field_b + 11 - numbers.im[i].field());
    }
}

// Of every pair: the largest number of both lines, and the largest sum of a column of both.
template <class S> struct PairStatistics : Statistics<S> {
    DEVICE PairStatistics(int group, unsigned round) : Statistics<S>(group, round) {}
    typedef typename S::Number::Facts Facts;
    // Of one line of the panel.
    DEVICE Facts line(int line) const {
        return S::STRIDED ? part((unsigned)line % S::PAIRS, (unsigned)line / S::PAIRS) : part(line >> 1, line & 1);
    }
    DEVICE Facts part(int pair, int part) const { return {this->of(pair)[part], 0, this->of(pair)[2 + part]}; }
    DEVICE PairFacts<Facts> facts(int pair) const { return {part(pair, 0), part(pair, 1)}; }
};

// The numbers of a warp's columns of real lines. As read_column.
template <class S, class Numbers> DEVICE void read_pairs(const TunedArguments &args, const Lines<S> &lines, Numbers (&numbers)[S::UNITS1]) {
    typedef typename S::First Step;
    typedef typename S::Number Number;
    typedef typename Number::Real Real;
    const Lane<S> lane;
    const int t = lane.t;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const int line = S::line_of_pair(column.line, 0), partner = S::line_of_pair(column.line, 1);
        const bool has_a = lines.has(args, line), has_b = lines.has(args, partner);
        const bool mirrored = 2 * column.place > S::N2;
        const auto row = [&](int i) { return mirrored ? S::N1 - 1 - i : i; };
        const i64 element = S::STRIDED ? args.from.element : 1, row_step = S::N2 * element;
        const Real *const start = (const Real *)args.input + lines.start(args.from, has_a ? line : 0) + column.place * element;
        const Real *near = start + row(t) * row_step, *far = start + row(S::N1 - (Step::PLAIN ? 0 : 1) - t) * row_step;
        const i64 other = (partner - line) * (S::STRIDED ? args.from.fast : args.from.slow);
        const i64 step = mirrored ? -4 * row_step : 4 * row_step;
        const auto both = [&](const Real *place, bool slot) {
            Real a = Number::real_zero(), b = a;
            if (slot && has_a) a = load_once(place);
            if (slot && has_b) b = load_once(place + other);
            return Number::of_parts(a, b);
        };
#pragma unroll
        for (int q = 0; q < Step::QUADS; q++) {
            const bool slot = 4 * q + 4 <= Step::SLOTS || 4 * q + t < Step::SLOTS;
            numbers[u].put(2 * q, both(near, slot));
            // A plain step's first element has no partner.
            numbers[u].put(2 * q + 1, both(far, slot && !(Step::PLAIN && q == 0 && t == 0)));
            near += step;
            far -= step;
        }
    }
}

// Largest sums of columns, of both lines of a pair.
template <class S, class Numbers, class Statistics> DEVICE void note_pair_sums(const Numbers (&numbers)[S::UNITS1], const Statistics &statistics) {
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        unsigned *const of = statistics.of(column.line);
        unsigned a, b;
        leading_bits(numbers[u], statistics.facts(column.line), a, b);
        a += shuffle_xor(a, 1);
        b += shuffle_xor(b, 1);
        a += shuffle_xor(a, 2);
        b += shuffle_xor(b, 2);
        // One for every magnitude rounds it up; imaginary parts count, all zeros.
        if (lane.t == 0) {
            atomic_maximum(of + 2, a + 2 * S::N1);
            atomic_maximum(of + 3, b + 2 * S::N1);
        }
    }
}

// The first step of real lines: outputs 0 to N1/2.
template <class S, class Mma, class Numbers, class Statistics, class EndOf>
DEVICE void first_real_step(const TunedArguments &args, const Numbers (&numbers)[S::UNITS1], const Statistics &statistics, const EndOf &end_of) {
    typedef typename S::First Step;
    typedef typename S::Tables Tables;
    constexpr int N1 = S::N1, N2 = S::N2;
    StepDigits<Step> cosine_digits[S::UNITS1], sine_digits[S::UNITS1];
    const Factors factors = factors_of<Int8>(args);
    const Lane<S> lane;
    put_digits<S>(numbers, statistics, cosine_digits, sine_digits);
    const auto tables = tables_of<S>(args);
    const int t = lane.t;
#pragma unroll
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
                const bool slot = i + 4 <= Step::SLOTS || i + t < Step::SLOTS;
                // Of the first pair of a shifted step, output 0 has cosines only, output N1/2 sines only. Output 0 of a plain step,
                // which comes last, has no sines.
                const bool pairs = i < Step::PAIRS, two = !Step::PLAIN && i == 0 && t == 0;
                const bool alone = Step::PLAIN && i + 4 > Step::PAIRS && i + t == Step::PAIRS;
                const int k = !slot || alone ? 0 : Step::PLAIN ? i + t + 1 : i + t;
                const uint4 biased = tables.entry(Tables::CONSTANTS1 + 16 * (i + 2 * t - 4 * e + e));
                const uint4 angle = angles.entry(16 * k * Tables::ANGLES);
#pragma unroll
                for (int l = 0; l < 2; l++) {
                    const int line = S::line_of_pair(column.line, l);
                    const auto put = [&](bool is_one, int row, i64 re, i64 im) {
                        if constexpr (N2 > 1) {
                            if (column.there && is_one) store_shared(place_of(lane, line, row, j), make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                        } else {
                            auto end = end_of(Column{line, row, column.there});
                            end.put(is_one, row, re, 0, im, 0, false);
                            end.done();
                        }
                    };
                    const i64 minus_sine = pairs ? join(biased.z, biased.w) - sine[u].sum[2 * l + e] : 0;
                    i64 re = cosine[u].sum[2 * l + e] - join(biased.x, biased.y), im = two ? 0 : minus_sine;
                    rotate_words<S::Number::WORD_BITS>(re, im, angle, factors);
                    put(slot, k, re, im);
                    if (!Step::PLAIN && i == 0) {
                        re = 0;
                        im = minus_sine;
                        rotate_words<S::Number::WORD_BITS>(re, im, angles.entry(16 * (N1 / 2) * Tables::ANGLES), factors);
                        put(two, N1 / 2, re, im);
                    }
                }
            }
        }
    }
}

// Where outputs of a real line go: those beyond the middle are conjugates of others.
template <class S, bool CONVERSIONS> struct ToHalfSpectrum {
    typedef typename S::Number Number;
    typedef typename Number::Element Element;
    typename Number::template Finish<CONVERSIONS> finish;
    Element *start;
    i64 element;
    unsigned conjugate;
    bool there, some, alone;
    DEVICE ToHalfSpectrum(const TunedArguments &args, const Lines<S> &lines, const typename Number::Facts &facts, const Column &row)
        : finish(facts.exponent() + common_exponent<S>()), conjugate(args.conjugate_output), some(facts.largest_re != 0) {
        there = row.there && lines.has(args, row.line) && facts.taken(common_exponent<S>());
        start = (Element *)args.output + lines.start(args.to, row.line);
        element = S::STRIDED ? args.to.element : 1;
        // The first row and the middle one have conjugates of their own outputs.
        alone = row.place == 0 || 2 * row.place == S::N1;
    }
    DEVICE void done() const {}
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64 im, int top_im, bool) const {
        const bool beyond = 2 * index > S::N;
        Element value = finish(re, top_re, im, top_im, conjugate ^ (beyond ? 0x80000000u : 0u));
        // Outputs 0 and N/2 are real; of zeros, all is zero.
        if (index == 0 || 2 * index == S::N) value = Number::kept(value, some ? ~0u : 0u, 0u);
        if (is_one && there && !(beyond && alone)) start[(beyond ? S::N - index : index) * element] = value;
    }
};

// The numbers of a warp's columns of half-spectra: what lies beyond the middle is the conjugate of what lies before it.
template <class S, class Numbers> DEVICE void read_halves(const TunedArguments &args, const Lines<S> &lines, Numbers (&numbers)[S::UNITS1]) {
    typedef typename S::First Step;
    typedef typename S::Number Number;
    typedef typename Number::Element Element;
    const Lane<S> lane;
    const int t = lane.t;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const bool present = lines.has(args, column.line);
        const Element *const start = (const Element *)args.input + lines.start(args.from, present ? column.line : 0);
        const i64 element = S::STRIDED ? args.from.element : 1;
        const auto number = [&](int row, bool slot) {
            const int i = row * S::N2 + column.place;
            const bool beyond = 2 * i > S::N;
            Element value = Number::zero();
            if (slot && present) value = load_once(start + (beyond ? S::N - i : i) * element);
            // The first number and the middle one have no imaginary part: what is given is left out, but for a NaN or an infinity, which
            // spoils the line.
            if ((i == 0 || 2 * i == S::N) && Number::is_imaginary_finite(value)) value = Number::kept(value, ~0u, 0u);
            Number::flip(value, args.conjugate_input ^ (beyond ? 0x80000000u : 0u));
            return value;
        };
#pragma unroll
        for (int q = 0; q < Step::QUADS; q++) {
            const bool slot = 4 * q + 4 <= Step::SLOTS || 4 * q + t < Step::SLOTS;
            numbers[u].put(2 * q, number(4 * q + t, slot));
            numbers[u].put(2 * q + 1, number(S::N1 - (Step::PLAIN ? 0 : 1) - 4 * q - t, slot && !(Step::PLAIN && q == 0 && t == 0)));
        }
    }
}

// Where outputs of a half-spectrum go.
template <class S, bool CONVERSIONS> struct ToReal {
    typedef typename S::Number Number;
    typedef typename Number::Real Real;
    typename Number::template Finish<CONVERSIONS> finish;
    Real *start;
    i64 element;
    bool there, some;
    DEVICE ToReal(const TunedArguments &args, const Lines<S> &lines, const typename Number::Facts &facts, const Column &row)
        : finish(facts.exponent() + common_exponent<S>()), some(facts.largest_re != 0) {
        there = row.there && lines.has(args, row.line) && facts.taken(common_exponent<S>());
        start = (Real *)args.output + lines.start(args.to, row.line);
        element = S::STRIDED ? args.to.element : 1;
    }
    DEVICE void done() const {}
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64, int, bool) const {
        Real value = finish.real(re, top_re);
        // Of half-spectra without real parts these outputs are known to be zero.
        if (!some && (index == 0 || 2 * index == S::N)) value = Number::real_zero();
        if (is_one && there) start[index * element] = value;
    }
};

// Which rows of half-spectra the last step takes together, those of a pair of lines, and what a slot of such a row is.
template <class S> struct HalfRows {
    typedef typename S::Last Step;
    static constexpr int PAIRS = S::PAIRS;
    static constexpr bool ACROSS = S::STRIDED;
    static DEVICE Column one(const Column &pair, int l) { return {S::line_of_pair(pair.line, l), pair.place, pair.there}; }
    static DEVICE void slot(const Lane<S> &lane, const Column &row, int q, i64 &re, i64 &im) {
        // Slots beyond the last read what lies there: they meet zeros of the matrix. Columns 0 and N2/2, which have no partner,
        // share a slot; a plain step's sines have zeros for slot 0.
        const uint32_t start = place_of(lane, row.line, row.place, lane.t);
        const uint4 word = load_shared(start + 64 * q);
        re = join(word.x, word.y);
        im = join(word.z, word.w);
        if (q == 0 && lane.t == 0) {
            const uint2 middle = load_shared_two(start + (Step::PLAIN ? 0 : 16 * (S::N2 / 2)) + 8);
            im = join(middle.x, middle.y);
        } else {
            re *= 2;
            im *= 2;
        }
    }
};

// The last step on the tensor unit where outputs are real: a column of it is a row k1 of two lines, which `Rows` knows.
template <class S, class Mma, class Rows, class EndOf> DEVICE void last_half_step(const TunedArguments &args, const EndOf &end_of) {
    typedef typename S::Last Step;
    typedef typename S::Tables Tables;
    constexpr int N1 = S::N1, N2 = S::N2, UNITS = S::UNITS2, ROWS = Rows::PAIRS * N1;
    const auto tables = tables_of<S>(args);
    const Factors factors = factors_of<Int8>(args);
    const auto row_of = [](const Lane<S> &lane, int unit) {
        const int index = 8 * unit + lane.g;
        const bool there = ROWS % 8 == 0 ? 8 * unit < ROWS : index < ROWS;
        const Numbered<Rows::ACROSS, Rows::PAIRS, N1> numbered(there ? index : ROWS - 1);
        return Column{numbered.line, numbered.place, there};
    };
#pragma unroll 1
    for (int unit = Lane<S>().warp * UNITS; 8 * unit < ROWS; unit += S::WARPS * UNITS) {
        const Lane<S> lane;
        const int t = lane.t;
        StepDigits<Step> cosine_digits[UNITS], sine_digits[UNITS];
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            const Column row = row_of(lane, unit + u);
#pragma unroll
            for (int q = 0; q < Step::QUADS; q++) {
                i64 re[2], im[2];
#pragma unroll
                for (int l = 0; l < 2; l++) Rows::slot(lane, Rows::one(row, l), q, re[l], im[l]);
                cosine_digits[u].put(q, re[0], re[1]);
                sine_digits[u].put(q, im[0], im[1]);
            }
            cosine_digits[u].fill();
            sine_digits[u].fill();
        }
#pragma unroll
        for (int o = 0; o < Step::TILES; o++) {
            Rounded cosine[UNITS], sine[UNITS];
            const auto matrix = tables.later(o * Step::TILE_BYTES);
            multiply<Mma, false>(cosine, cosine_digits, matrix.later(Tables::COSINE2), factors, 100 * o + 30);
            multiply<Mma, false>(sine, sine_digits, matrix.later(Tables::SINE2), factors, 100 * o + 40);
#pragma unroll
            for (int u = 0; u < UNITS; u++) {
                const Column row = row_of(lane, unit + u);
                const int k1 = row.place;
                const bool mirrored = 2 * k1 > N1;
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const int i = 8 * o + 4 * e;
                    if (i >= Step::SLOTS) continue;
                    const bool slot = i + 4 <= Step::SLOTS || i + t < Step::SLOTS;
                    const int number = i + 2 * t - 4 * e + e;
                    const uint4 biased = tables.entry(Tables::CONSTANTS2 + 16 * number);
                    const uint2 tops = S::Number::DIGITS == 8 ? tables.half(Tables::TOPS2 + 8 * number) : make_uint2(0, 0);
                    const bool pairs = i < Step::PAIRS;
                    const bool alone = Step::PLAIN && i + 4 > Step::PAIRS && i + t == Step::PAIRS;
                    const int k = Step::PLAIN ? (alone ? 0 : i + t + 1) : i + t, far = Step::PLAIN ? N2 - k : N2 - 1 - k;
                    const auto index = [&](int k) { return k1 + N1 * (mirrored ? N2 - 1 - k : k); };
#pragma unroll
                    for (int l = 0; l < 2; l++) {
                        const auto end = end_of(Rows::one(row, l));
                        const i64 c = cosine[u].sum[2 * l + e], s = pairs ? sine[u].sum[2 * l + e] : 0;
                        const int top_c = cosine[u].top[2 * l + e], top_s = pairs ? sine[u].top[2 * l + e] : 0;
                        end.put(slot, index(k), c + s - join(biased.x, biased.y), top_c + top_s - (int)tops.x, 0, 0, false);
                        if (pairs) end.put(slot && !alone, index(far), c - s - join(biased.z, biased.w), top_c - top_s - (int)tops.y, 0, 0, false);
                    }
                }
            }
        }
    }
}

template <class S, class Mma, bool CONVERSIONS> DEVICE void run_real(const TunedArguments &args) {
    begin<S>(args);
    const int group = Lane<S>().group;
    const unsigned step = gridDim.x * S::GROUPS;
    unsigned round = 0;
#pragma unroll 1
    for (unsigned panel = blockIdx.x + gridDim.x * group; panel < args.panels; panel += step, round++) {
        const Lines<S> lines(args, panel);
        typedef typename S::Number::template Numbers<CONVERSIONS, 2 * S::First::QUADS> Numbers;
        // As in `run`.
        const auto next = [&] { clear(Statistics<S>(group, round + 1)); };
        if constexpr (S::HALF == Half::OUTPUT) {
            const PairStatistics<S> statistics(group, round);
            PairNumbers<Numbers> numbers[S::UNITS1];
            read_pairs<S>(args, lines, numbers);
            note_largest<S>(numbers, statistics);
            group_barrier<S>(group);
            note_pair_sums<S>(numbers, statistics);
            next();
            group_barrier<S>(group);
            const auto end_of = [&](const Column &row) { return ToHalfSpectrum<S, CONVERSIONS>(args, lines, statistics.line(row.line), row); };
            first_real_step<S, Mma>(args, numbers, statistics, end_of);
            leave_lines<S>(args, lines, [&](int line) { return statistics.line(line); });
            if constexpr (S::N2 > 1) {
                group_barrier<S>(group);
                if constexpr (S::Last::MATRIX)
                    last_step<S, Mma>(args, end_of);
                else
                    last_unit_step<S>(end_of);
            }
        } else {
            const Statistics<S> statistics(group, round);
            Numbers numbers[S::UNITS1];
            read_halves<S>(args, lines, numbers);
            note_largest<S>(numbers, statistics);
            group_barrier<S>(group);
            note_sums<S>(numbers, statistics);
            next();
            group_barrier<S>(group);
            const auto end_of = [&](const Column &row) { return ToReal<S, CONVERSIONS>(args, lines, statistics.facts(row.line), row); };
            first_step<S, Mma>(args, numbers, statistics, end_of);
            leave_lines<S>(args, lines, [&](int line) { return statistics.facts(line); });
            if constexpr (S::N2 > 1) {
                group_barrier<S>(group);
                if constexpr (S::Last::MATRIX)
                    last_half_step<S, Mma, HalfRows<S>>(args, end_of);
                else
                    last_unit_step<S>(end_of);
            }
        }
    }
}

}  // namespace bailey
