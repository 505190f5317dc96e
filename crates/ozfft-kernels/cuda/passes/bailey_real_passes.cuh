// Real lines to half-spectra, and half-spectra to real lines, through two passes in one launch: what differs from bailey_passes.cuh.
//
// Real lines: columns of the first pass are real. Two of them go together where a complex column has its parts, and of their outputs
// those of the rows 0 to A1/2 of the last step are kept: the others are their conjugates, bit for bit. Rows of the second pass are
// complex, and all of them are needed: what lies before the middle of the spectrum is in all of them, rotated by other roots than its
// conjugate, so that half of their outputs are left out at the end and nothing before.
//
// Half-spectra: columns and rows are complex, for columns j and NB - j have other roots, too. Outputs are real: the last step's cosines of
// real parts and sines of imaginary parts are enough for them, and two rows go together there.
#pragma once
#include "passes/bailey_passes.cuh"
#include "block/bailey_real.cuh"

namespace bailey {

// The numbers of pairs of columns `base`, … of a panel's transforms.
template <class P, class Numbers>
DEVICE void read_column_pairs(const TunedArguments &args, const Lines<P> &lines, int base, Numbers (&numbers)[P::PassA::UNITS1]) {
    typedef typename P::PassA S;
    typedef typename P::Number Number;
    typedef typename Number::Real Real;
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const ColumnInTransform<P> at(base, 2 * column.line);
        const bool has_a = at.there && lines.has(args, at.line), has_b = has_a && (P::NB % 2 == 0 || at.place + 1 < P::NB);
        const Real *const start = (const Real *)args.input + lines.start(args.from, has_a ? at.line : 0) + (has_a ? at.place : 0);
        const ColumnElements<S> elements(column, lane.t);
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            const bool slot = elements.has(i, lane.t);
            const Real *const place = start + elements.of(i) * P::NB;
            Real a = Number::real_zero(), b = a;
            if (slot && has_a) a = load_once(place);
            if (slot && has_b) b = load_once(place + 1);
            numbers[u].put(i, Number::of_parts(a, b));
        }
    }
}

template <class P, class Mma, bool CONVERSIONS, class FreeRows, class EndOf>
DEVICE void first_step_of_pairs(const TunedArguments &args, const Lines<P> &lines, int base, const FreeRows &free_rows, const EndOf &end_of) {
    typedef typename P::PassA A;
    const int group = Lane<A>().group;
    const auto statistics = column_statistics<P>(group, base);
    PairNumbers<typename P::Number::template Numbers<CONVERSIONS, 2 * A::First::QUADS>> numbers[A::UNITS1];
    read_column_pairs<P>(args, lines, base, numbers);
    note_largest<A>(numbers, statistics);
    group_barrier<A>(group);
    free_rows();
    note_pair_sums<A>(numbers, statistics);
    group_barrier<A>(group);
    first_real_step<A, Mma>(args, numbers, statistics, end_of);
}

// The numbers of columns `base`, … of half-spectra: what lies beyond the middle is the conjugate of what lies before it.
template <class P, class Numbers>
DEVICE void read_half_columns(const TunedArguments &args, const Lines<P> &lines, int base, Numbers (&numbers)[P::PassA::UNITS1]) {
    typedef typename P::PassA S;
    typedef typename P::Number Number;
    typedef typename Number::Element Element;
    const Lane<S> lane;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const ColumnInTransform<P> at(base, column.line);
        const bool present = at.there && lines.has(args, at.line);
        const Element *const start = (const Element *)args.input + lines.start(args.from, present ? at.line : 0);
        const ColumnElements<S> elements(column, lane.t);
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            const int index = elements.of(i) * P::NB + at.place;
            const bool beyond = 2 * index > P::N;
            Element value = Number::zero();
            if (present && elements.has(i, lane.t)) value = load_once(start + (beyond ? P::N - index : index));
            // As in bailey_real.cuh.
            if ((index == 0 || 2 * index == P::N) && Number::is_imaginary_finite(value)) value = Number::kept(value, ~0u, 0u);
            Number::flip(value, args.conjugate_input ^ (beyond != elements.mirrored ? 0x80000000u : 0u));
            numbers[u].put(i, value);
        }
    }
}

// Outputs of the second pass of half-spectra.
template <class P, bool CONVERSIONS> struct ToRealTransform {
    typedef typename P::Number Number;
    typedef typename Number::Real Real;
    typename Number::template Finish<CONVERSIONS> finish;
    Real *start;
    int row;
    bool there, some;
    DEVICE void done() const {}
    DEVICE ToRealTransform(const TunedArguments &args, const Lines<P> &lines, const RowFacts<Number> &facts, int group, unsigned round, int index, bool is_row)
        : finish(facts.exponent() + common_exponent<P>()) {
        const bool present = is_row && index < P::ROWS;
        const InTransform<P, P::NA> at(present ? index : 0);
        const unsigned known = bailey::known<P>(group, round)[at.line];
        there = present && lines.has(args, at.line) && (known & LEFT) == 0;
        some = (known & SOME_REAL) != 0;
        row = at.place;
        start = (Real *)args.output + lines.start(args.to, at.line) + row;
    }
    DEVICE void put(bool is_one, int index, i64 re, int top_re, i64, int, bool) const {
        Real value = finish.real(re, top_re);
        const int output = row + P::NA * index;
        // Of half-spectra without real parts these outputs are known to be zero.
        if (!some && (output == 0 || 2 * output == P::N)) value = Number::real_zero();
        if (is_one && there) start[P::NA * index] = value;
    }
};

// Rows of the second pass two by two: one of the first half of those that there are at a time, and one of the second half, so that
// neighbouring threads write side by side.
template <class S> struct FullRows {
    typedef typename S::Last Step;
    static constexpr int PAIRS = (S::LINES + 1) / 2;
    static constexpr bool ACROSS = true;
    static DEVICE Column one(const Column &pair, int l) {
        const int line = pair.line + l * PAIRS;
        const bool is_line = S::LINES % 2 == 0 || line < S::LINES;
        return {is_line ? line : pair.line, pair.place, pair.there && is_line};
    }
    // As in `last_step`: columns beyond the middle were left without the sign of their real part, or of their imaginary part.
    static DEVICE void slot(const Lane<S> &lane, const Column &row, int q, i64 &re, i64 &im) {
        const bool alone = q == 0 && lane.t == 0;
        const uint32_t near = place_of(lane, row.line, row.place, lane.t), far = place_of(lane, row.line, row.place, S::N2 - lane.t);
        const uint32_t middle = place_of(lane, row.line, row.place, Step::PLAIN ? 0 : S::N2 / 2);
        const uint4 a = load_shared(near + 64 * q), b = load_shared(alone ? middle : far - 64 * q);
        const i64 ar = join(a.x, a.y), ai = join(a.z, a.w), br = join(b.x, b.y), bi = join(b.z, b.w);
        re = alone ? ar : ar + br;
        im = alone ? bi : ai + bi;
    }
};

template <class P, class Mma, class EndOf> DEVICE void last_step_to_real(const TunedArguments &args, const EndOf &end_of) {
    typedef typename P::PassB B;
    last_half_step<B, Mma, FullRows<B>>(args, end_of);
}

}  // namespace bailey
