// The ends of Bluestein's convolutions: numbers times the chirp, as words of an exponent each; spectra times that of the chirp; results
// times the chirp, as numbers. Everything is words in between, whatever its size: no lines are left to a portable kernel.
#pragma once
#include "passes/bailey_words.cuh"
#include "portable/lines.cuh"

namespace bailey {

// Whether there is such a line in a panel.
DEVICE bool is_there(const Line &line) { return line.rounded != 0; }

DEVICE uint4 bits_of_words(const ::Words &word) { return make_uint4(low_of(word.re), high_of(word.re), low_of(word.im), high_of(word.im)); }

// A part of a number as a word: as many bits below those of the field `leading` as words have, rounded with halves away from zero. Parts
// that have no leading bit are too far below.
DEVICE int64_t part_of_word(u64 bits, int leading, int word_bits) {
    const unsigned high = high_of((i64)bits);
    const u64 magnitude = ((u64)join(low_of((i64)bits), (high & 0xfffffu) | 0x100000u)) << 10;
    const int right = 62 - word_bits + leading - (int)(high >> 20 & 0x7ffu);
    const i64 word = (i64)(((magnitude >> (right < 63 ? right : 63)) + 1) >> 1);
    const i64 sign = (i64)((int)high >> 31);
    return (int64_t)((word ^ sign) - sign);
}
// `word_of` with fewer instructions for what most numbers are.
DEVICE ::Words usual_word_of(u64 re, u64 im, int word_bits, int &exponent) {
    constexpr int LEAST = 100;
    const int field_re = (int)(high_of((i64)re) >> 20 & 0x7ffu), field_im = (int)(high_of((i64)im) >> 20 & 0x7ffu);
    const int leading = field_re > field_im ? field_re : field_im;
    if (leading < LEAST) return word_of(re, im, word_bits, exponent);
    exponent = leading - 1022 - word_bits;
    return {part_of_word(re, leading, word_bits), part_of_word(im, leading, word_bits)};
}

// Whether numbers are complex and of f64, to be read and written 16 bytes at a time.
DEVICE bool are_aligned_doubles(const FloatLines &lines) { return lines.elements == ELEMENTS_COMPLEX && lines.single == 0 && lines.aligned != 0; }

// Number `index` of a line times the chirp, as a word with an exponent; `flags` has what is known of it besides.
template <bool USUAL = false> DEVICE ::Words chirped(const Task &task, const Line &line, unsigned index, unsigned points, int &exponent, unsigned &flags) {
    ::Words bits;
    if constexpr (USUAL) {
        const uint4 number = load_once((const uint4 *)task.input.numbers + line.input_offset + (i64)index * task.input.stride);
        bits = {(int64_t)join(number.x, number.y), (int64_t)join(number.z, number.w ^ (task.input.conjugate != 0 ? 0x80000000u : 0u))};
    } else {
        bits = read_element(task.input, line.input_offset, index, points);
    }
    const unsigned seen = flags_of(bits);
    flags |= seen;
    if ((seen & NOT_FINITE) != 0) return {0, 0};
    return ::rotate(usual_word_of((u64)bits.re, (u64)bits.im, task.word_bits, exponent), table_entry(task.source_table + index));
}
// Zeros do not ask for shifts to the right.
DEVICE int exponent_of_word(const ::Words &word, int exponent) { return (word.re | word.im) == 0 ? 0x10000 : exponent; }
// What is known of numbers goes to their transforms.
DEVICE void note_flags(unsigned *nature, unsigned flags) {
    if ((flags & ~*(volatile unsigned *)nature) != 0) atomic_or(nature, flags);
}

// Numbers times the chirp; zeros behind them.
template <class S, class Words> DEVICE void read_chirped(const Task &task, const Line *lines, Words (&words)[S::UNITS1]) {
    const Lane<S> lane;
    // Points of a transform are counted in 32 bits.
    const unsigned inner = (unsigned)task.inner, points = (unsigned)task.visible_length;
#pragma unroll
    for (int u = 0; u < S::UNITS1; u++) {
        const Column column = column_of<S>(lane, u);
        const Line &line = lines[column.line];
        const ColumnElements<S> elements(column, lane.t);
        unsigned flags = 0;
#pragma unroll
        for (int i = 0; i < 2 * S::First::QUADS; i++) {
            ::Words word = {0, 0};
            int exponent = 0;
            const unsigned index = (unsigned)line.start + (unsigned)elements.of(i) * inner;
            if (elements.has(i, lane.t) && index < points) word = chirped(task, line, index, points, exponent, flags);
            words[u].put(i, (i64)word.re, (i64)(elements.mirrored ? -word.im : word.im));
            words[u].exponents.exponent[i] = exponent_of_word(word, exponent);
        }
        note_flags(task.natures + line.transform, flags);
    }
}

// Words of a spectrum times that of the chirp. Exchanged parts turn the forward transform that follows into an inverse one.
struct ToProduct {
    const Angle *factors;
    uint4 *to;
    u64 groups;
    DEVICE ToProduct(const Task &task, const Line &line, int)
        : factors(task.sink_table + line.output_start), to((uint4 *)task.words_out + line.first_word + line.output_start), groups(task.groups) {}
    static DEVICE i64 exponent_at(const Line &line) { return (i64)line.output_start; }
    DEVICE void put(int k, ::Words word) const {
        const u64 place = (u64)k * groups;
        word = ::rotate(word, table_entry(factors + place));
        to[place] = bits_of_words(::Words{word.im, word.re});
    }
};

// Results times the chirp, as numbers.
struct ToUnchirped {
    const Task &task;
    const Line &line;
    const Angle *chirp;
    int exponent;
    DEVICE ToUnchirped(const Task &task, const Line &line, int exponent) : ToUnchirped(task, line, exponent, task.sink_table) {}
    DEVICE ToUnchirped(const Task &task, const Line &line, int exponent, const Angle *chirp)
        : task(task), line(line), chirp(chirp), exponent(exponent + line.bias) {}
    // Outputs of a line beyond these are not the caller's.
    static DEVICE int most_outputs(const Task &task, int outputs) {
        const u64 most = (task.output.count + task.groups - 1) / task.groups;
        return most < (u64)outputs ? (int)most : outputs;
    }
    DEVICE void put(int k, ::Words word) const {
        const u64 index = line.output_start + (u64)k * task.groups;
        if (index >= task.output.count) return;
        // The parts were exchanged before the transform, and are exchanged back.
        const ::Words turned = ::rotate(::Words{word.im, word.re}, table_entry(chirp + index));
        const bool single = task.output.single != 0;
        const int64_t im = task.output.conjugate != 0 ? -turned.im : turned.im;
        store_float(task, line, index, ::Words{(int64_t)converted(widened(turned.re), exponent, single), (int64_t)converted(widened(im), exponent, single)});
    }
};

}  // namespace bailey
