// The ends of Bluestein's convolutions: numbers times the chirp, as words of an exponent each; spectra times that of the chirp; results
// times the chirp, as numbers. Everything is words in between, whatever its size: no lines are left to a portable kernel.
#pragma once
#include "bailey_words.cuh"
#include "lines.cuh"

namespace bailey {

// Whether there is such a line in a panel.
DEVICE bool is_there(const Line &line) { return line.rounded != 0; }

DEVICE uint4 bits_of_words(const ::Words &word) { return make_uint4(low_of(word.re), high_of(word.re), low_of(word.im), high_of(word.im)); }

// Numbers times the chirp; zeros behind them. What is known of the numbers goes to their transforms.
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
            if (elements.has(i, lane.t) && index < points) {
                const ::Words bits = read_element(task.input, line.input_offset, index, points);
                const unsigned seen = flags_of(bits);
                flags |= seen;
                if ((seen & NOT_FINITE) == 0)
                    word = ::rotate(word_of((uint64_t)bits.re, (uint64_t)bits.im, task.word_bits, exponent), table_entry(task.source_table + index));
            }
            words[u].put(i, (i64)word.re, (i64)(elements.mirrored ? -word.im : word.im));
            // Zeros do not ask for shifts to the right.
            words[u].exponents.exponent[i] = (word.re | word.im) == 0 ? 0x10000 : exponent;
        }
        unsigned *const nature = task.natures + line.transform;
        if ((flags & ~*(volatile unsigned *)nature) != 0) atomic_or(nature, flags);
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
    int exponent;
    DEVICE ToUnchirped(const Task &task, const Line &line, int exponent) : task(task), line(line), exponent(exponent + line.bias) {}
    // Outputs of a line beyond these are not the caller's.
    static DEVICE int most_outputs(const Task &task, int outputs) {
        const u64 most = (task.output.count + task.groups - 1) / task.groups;
        return most < (u64)outputs ? (int)most : outputs;
    }
    DEVICE void put(int k, ::Words word) const {
        const u64 index = line.output_start + (u64)k * task.groups;
        if (index >= task.output.count) return;
        // The parts were exchanged before the transform, and are exchanged back.
        const ::Words turned = ::rotate(::Words{word.im, word.re}, table_entry(task.sink_table + index));
        const bool single = task.output.single != 0;
        const int64_t im = task.output.conjugate != 0 ? -turned.im : turned.im;
        store_float(task, line, index, ::Words{(int64_t)converted(widened(turned.re), exponent, single), (int64_t)converted(widened(im), exponent, single)});
    }
};

}  // namespace bailey
