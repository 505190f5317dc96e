// Lines of two steps in words of five or six digits: how numbers and words lie in shared memory, and the way of a line through
// both steps. What numbers are, f32 or f64, is for the files that include this one.
#pragma once
#include "hopper/tuned_few.cuh"

namespace tuned {

// `Numbers_`: how numbers become words, and sums become numbers.
template <class Numbers_, int DATA, int N1_, int N2_> struct FewShape {
    typedef Numbers_ Numbers;
    typedef Few<DATA> Digits;
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2;
    static constexpr int LINES = 32 / (N1 < N2 ? N1 : N2);  // of a warpgroup at a time
    static constexpr int TILES2 = LINES * N1 / 32;
    static constexpr int SLOTS1 = N1 / 2, SLOTS2 = N2 / 2;
    // Outputs are worked out in parts, with matrices of their own.
    static constexpr int PARTS1 = SLOTS1 / Digits::outputs(SLOTS1), PARTS2 = SLOTS2 / Digits::outputs(SLOTS2);
    static constexpr int PART1 = Digits::part_bytes(SLOTS1), PART2 = Digits::part_bytes(SLOTS2);
    static constexpr int MATRIX1 = PARTS1 * PART1, MATRIX2 = PARTS2 * PART2;
    static constexpr int ROTATIONS = (N1 / 2 + 1) * (N2 / 2 + 1);
    static constexpr int TABLES = 2 * MATRIX1 + 2 * MATRIX2 + 16 * ROTATIONS;
    static constexpr int BYTES = sizeof(typename Numbers::Number);
    // Words between the steps take 16 bytes. They lie where the numbers were if those have as many, else in memory of every
    // warpgroup's own. Behind that are both buffers with numbers: contiguous lines one after the other, strided ones side by side
    // in rows of 64 or 128 bytes, which the copy engine exchanges as its patterns have it.
    static constexpr bool WORDS_APART = BYTES < 16;
    static constexpr int WORDS = WORDS_APART ? 16 * LINES * N : 0;  // of a warpgroup
    static constexpr int WORDS_AT = (TABLES + 1023) / 1024 * 1024;
    static constexpr int BEGINNING = WORDS_AT + WARPGROUPS * WORDS;
    static constexpr int PANEL = WARPGROUPS * LINES * BYTES < 64 ? 64 / BYTES : WARPGROUPS * LINES;
    static constexpr int UNITS = PANEL / (WARPGROUPS * LINES);  // one after the other
    static constexpr int ROW = PANEL * BYTES;
    static constexpr int BUFFER = ROW * N;
    static constexpr int STATISTICS = 128;  // of a warpgroup
    static constexpr int SHARED = BEGINNING + 2 * BUFFER + WARPGROUPS * STATISTICS + 8 * PANEL + 64;
};

// Where number i = row·N2 + column of a contiguous line lies. Columns are exchanged so that threads that are served together do
// not meet on a bank: four columns and four rows of 8 bytes, two columns and four rows of 16.
template <class S> DEVICE constexpr unsigned place_number(unsigned i) {
    constexpr int SHIFT = S::N2 == 32 ? 5 : 4;
    return S::BYTES * (i ^ ((i >> SHIFT) & 3) << (S::BYTES == 8 ? 2 : 1));
}

// Words between the steps: row k1, column j2.
template <class S> DEVICE unsigned place_words(unsigned k1, unsigned j2) {
    return k1 * S::N2 + (j2 ^ ((((k1 >> 1) & 3) << 1) ^ ((k1 & 1) << 2)));
}

// Strided lines: place r of a line of the panel, as the copy engine's patterns of 64 and 128 bytes have it.
template <class S> DEVICE unsigned place_in_row(unsigned r, unsigned line) {
    return S::ROW * r + ((S::BYTES * line) ^ (S::ROW == 64 ? r >> 1 & 3 : r & 7) << 4);
}

// Begins to copy a warpgroup's lines to shared memory, 16 bytes at a time.
template <class S> DEVICE void fetch_contiguous(const TunedArguments &args, unsigned panel, int round) {
    constexpr int AT_ONCE = 16 / S::BYTES, ALL = 128 * AT_ONCE;
    const Panel<S, false> lines(args, panel);
    const Seat lane;
    const unsigned thread = AT_ONCE * lane.in_group();
#pragma unroll
    for (int l = 0; l < S::UNITS * S::LINES; l++) {
        const int line = (int)lane.group * (S::UNITS * S::LINES) + l;
        const bool present = lines.has(args, line);
        const auto *from = (const typename S::Numbers::Number *)args.input + lines.start(args.from, present ? line : 0) + thread;
        const uint32_t to = buffer_memory<S>() + round * S::BUFFER + S::BYTES * S::N * line + place_number<S>(thread);
        // Rows of four and more are exchanged alike.
#pragma unroll
        for (int r = 0; r < S::N / ALL; r++) copy_async(to + ALL * S::BYTES * r, from + ALL * r, present);
    }
    copy_commit();
}

// Begins to load a panel of strided lines. One thread calls it.
template <class S> DEVICE void load_strided(const StridedArguments &args, unsigned round) {
    const Panel<S, true> lines(args.common, blockIdx.x + round * gridDim.x);
    const uint32_t barrier = barrier_memory<S>() + 8 * (round & 1);
    transfer_expect(barrier, S::BUFFER);
    tensor_load(buffer_memory<S>() + (round & 1) * S::BUFFER, &args.from_map, (int)(S::BYTES / 8 * lines.first), (int)lines.group, barrier);
}

// Begins to store one.
template <class S> DEVICE void store_panel(const StridedArguments &args, const Panel<S, true> &lines, unsigned round) {
    tensor_store_five(&args.to_map, (int)(S::BYTES / 8 * lines.first), (int)lines.group, buffer_memory<S>() + (round & 1) * S::BUFFER);
}

// Transforms some lines of a warpgroup, whose numbers are in the round's buffer; calls `between` between the steps.
template <class S, bool STRIDED, class Between>
DEVICE void transform_unit(const TunedArguments &args, unsigned round, unsigned unit_number, const Between &between) {
    typedef typename S::Digits Digits;
    typedef typename Digits::Pieces Pieces;
    typedef typename S::Numbers Numbers;
    typedef typename Numbers::Number Number;
    constexpr int N1 = S::N1, N2 = S::N2, N = S::N;
    const uint32_t cosine1 = tables_memory<S>(), sine1 = cosine1 + S::MATRIX1, cosine2 = sine1 + S::MATRIX1, sine2 = cosine2 + S::MATRIX2;
    const uint32_t rotations = sine2 + S::MATRIX2;
    const auto in_panel = [=](const Seat &lane, unsigned line) { return (lane.group * S::UNITS + unit_number) * S::LINES + line; };
    // Words between the steps: place r of a line, in memory of their own or where the numbers were; r ± 8 lies 8 · PLACE bytes on.
    constexpr int PLACE = STRIDED && !S::WORDS_APART ? S::ROW : 16;
    const auto word_at = [=](const Seat &lane, unsigned line, unsigned k1, unsigned j2) {
        const unsigned r = place_words<S>(k1, j2);
        if (S::WORDS_APART) return tables_memory<S>() + S::WORDS_AT + lane.group * S::WORDS + 16 * (N * line + r);
        const uint32_t buffer = buffer_memory<S>() + (round & 1) * S::BUFFER;
        return buffer + (STRIDED ? place_in_row<S>(r, in_panel(lane, line)) : 16 * (N * in_panel(lane, line) + r));
    };
    const auto facts = [=](const Seat &lane, unsigned line) -> unsigned & { return facts_memory<S>()[(round & 1) * S::PANEL + in_panel(lane, line)]; };
    const auto together = [](const Seat &lane) { named_barrier(1 + (int)lane.group, 128); };
    const Factors factors = factors_of<Int8>(args);

    // Step 1: column 8·warp + g; the slots t, t+4, … of it.
    const Seat lane1;
    unsigned *statistics = statistics_memory<S>() + lane1.group * (S::STATISTICS / 4);
    const unsigned column1 = lane1.column(), line1 = column1 / N2, j = column1 % N2;
    const bool mirrored1 = 2 * j > N2;
    const unsigned row = mirrored1 ? N1 - 1 - lane1.t : lane1.t;
    // Strided: [rest of the row][column][two lowest bits of the row].
    const uint32_t raw = buffer_memory<S>() + (round & 1) * S::BUFFER;
    const auto at = [=](unsigned row) {
        const unsigned line = in_panel(lane1, line1);
        return STRIDED ? raw + place_in_row<S>((row & 3) + 4 * j + 4 * N2 * (row >> 2), line) : raw + S::BYTES * N * line + place_number<S>(row * N2 + j);
    };
    const uint32_t at_first = at(row), at_last = at(N1 - 1 - row);
    constexpr unsigned FOUR_ROWS = 4 * N2 * (STRIDED ? S::ROW : S::BYTES);
    const unsigned raw_step = mirrored1 ? -FOUR_ROWS : FOUR_ROWS;
    const unsigned flip1 = args.conjugate_input ^ (mirrored1 ? 0x80000000u : 0u);
    constexpr int POINTS = N1 / 4;
    typename Numbers::template Column<POINTS> numbers;
#pragma unroll
    for (int i = 0; i < POINTS; i++) numbers.take(i, i % 2 == 0 ? at_first + i / 2 * raw_step : at_last - i / 2 * raw_step, flip1);
    unsigned largest_re, largest_im;
    numbers.largest_of_warp(largest_re, largest_im);
    if (lane1.first()) {
        statistics[2 * lane1.warp] = largest_re;
        statistics[2 * lane1.warp + 1] = largest_im;
    }
    together(lane1);
    constexpr int WARPS_A_LINE = N2 / 8;
    const unsigned first_warp = lane1.warp / WARPS_A_LINE * WARPS_A_LINE;
    largest_re = largest_im = 0;
#pragma unroll
    for (int other = 0; other < WARPS_A_LINE; other++) {
        largest_re = max(largest_re, statistics[2 * (first_warp + other)]);
        largest_im = max(largest_im, statistics[2 * (first_warp + other) + 1]);
    }
    const int largest = Numbers::exponent(max(largest_re, largest_im));
    const bool zero = (largest_re | largest_im) == 0;
    const bool handled = largest >= Numbers::LEAST_EXPONENT && largest <= Numbers::LARGEST_EXPONENT;
    // Leading bits of all magnitudes of a column, in units of the largest number's.
    unsigned sum = numbers.sum(handled ? largest : 0);
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    // One for every magnitude rounds it up.
    sum = warp_maximum(sum) + 2 * N1;
    if (lane1.first()) statistics[16 + lane1.warp] = sum;
    together(lane1);
#pragma unroll
    for (int other = 0; other < WARPS_A_LINE; other++) sum = max(sum, statistics[16 + first_warp + other]);
    const int exponent = handled ? largest - 20 + (32 - __clz(sum)) - Digits::WORD_BITS : 0;
    // What the second step needs to know of every line.
    if (lane1.first()) {
        const int unit = exponent + common_exponent<S>();
        const bool taken = (handled || zero) && unit >= Numbers::LEAST_UNIT && unit <= Numbers::LARGEST_UNIT;
        facts(lane1, 8 * lane1.warp / N2) = ((unsigned)unit & 0xffffffu) | (unsigned)taken << 24 | (unsigned)(largest_re != 0) << 25 |
                                            (unsigned)(largest_im != 0) << 26;
    }

    {
        typename Digits::template Operand<S::SLOTS1> cosines, sines;
        numbers.fold(exponent, cosines, sines);
        const Seat lane;
        const unsigned t = lane.t, column = lane.column(), line = column / N2, j = column % N2;
        const uint32_t word_even = word_at(lane, line, 2 * t, j), word_odd = word_at(lane, line, 2 * t + 1, j);
        const uint32_t partner_even = word_at(lane, line, N1 - 2 * t, j), partner_odd = word_at(lane, line, N1 - 2 * t - 1, j);
        const uint32_t angles = rotations + 16 * (2 * t * (N2 / 2 + 1) + (2 * j > N2 ? N2 - j : j));
        constexpr int K_TILES = S::SLOTS1 / 8, AT_ONCE = K_TILES / S::PARTS1;
        typename Digits::template Sums<S::SLOTS1> sums;
        Pieces cosine[AT_ONCE][4];
#pragma unroll
        for (int o = 0; o < K_TILES; o++) {
            const int in_part = o % AT_ONCE;
            if (in_part == 0) {
                if (o > 0) scheduling_barrier(args.factor, 0 + o);
                cosines.multiply(sums, wgmma_matrix(cosine1 + o / AT_ONCE * S::PART1));
                sums.wait();
#pragma unroll
                for (int c = 0; c < 4 * AT_ONCE; c++) cosine[c / 4][c % 4] = Digits::template pieces<S::SLOTS1>(sums, c / 4, c % 4);
                sines.multiply(sums, wgmma_matrix(sine1 + o / AT_ONCE * S::PART1));
                sums.wait();
            }
#pragma unroll
            for (int e = 0; e < 2; e++) {
                // Outputs k = 8o + 2t + e and N1 - k. Of the first two, output 0 has cosines only, output N1/2 sines only.
                const Pieces cr = cosine[in_part][e], ci = cosine[in_part][2 + e];
                const Pieces sr = Digits::template pieces<S::SLOTS1>(sums, in_part, e);
                const Pieces si = Digits::template pieces<S::SLOTS1>(sums, in_part, 2 + e);
                const bool first = o == 0 && e == 0, alone = first && t == 0;
                uint4 angle = load_shared(angles + 16 * (8 * o + e) * (N2 / 2 + 1));
                i64 re = (alone ? cr : cr + si).whole(args.factor), im = (alone ? ci : ci - sr).whole(args.factor);
                rotate(re, im, angle, factors);
                store_shared((e == 0 ? word_even : word_odd) + o * 8 * N2 * PLACE, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                if (alone) angle = load_shared(angles + 16 * (N1 / 2 * (N2 / 2 + 1)));
                re = (alone ? si : cr - si).whole(args.factor);
                im = (alone ? -sr : -sr - ci).whole(args.factor);
                rotate(re, im, angle, factors);
                store_shared((e == 1 ? partner_odd : alone ? partner_even - N / 2 * PLACE : partner_even) - o * 8 * N2 * PLACE,
                             make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
            }
        }
    }
    together(Seat());

    between();

    // Step 2: column = 8·warp + g of each tile is a row k1 of a line.
#pragma unroll 1
    for (unsigned tile = 0; tile < S::TILES2; tile++) {
        const Seat lane;
        const unsigned t = lane.t, column2 = lane.column(), k1 = column2 % N1;
        const unsigned line = column2 / N1 + tile * (32 / N1);
        const uint32_t near_even = word_at(lane, line, k1, t), near_odd = word_at(lane, line, k1, t + 4);
        const uint32_t far_even = word_at(lane, line, k1, N2 - t), far_odd = word_at(lane, line, k1, N2 - t - 4);
        typename Digits::template Operand<S::SLOTS2> cosines, sines;
#pragma unroll
        for (int q = 0; q < N2 / 8; q++) {
            const int s = q >> 1;
            const uint4 a = load_shared((q & 1 ? near_odd : near_even) + 8 * s * PLACE);
            const uint4 b = load_shared((q & 1 ? far_odd : q == 0 && t == 0 ? far_even - N2 / 2 * PLACE : far_even) - 8 * s * PLACE);
            const i64 ar = join(a.x, a.y), ai = join(a.z, a.w), br = join(b.x, b.y), bi = join(b.z, b.w);
            // Columns beyond the middle were left without the sign of their real part.
            const bool alone = q == 0 && t == 0;
            cosines.put(q, 0, Digits::biased(alone ? ar : ar + br));
            cosines.put(q, 1, Digits::biased(alone ? ai : ai - bi));
            sines.put(q, 0, Digits::biased(alone ? br : ar - br));
            sines.put(q, 1, Digits::biased(alone ? bi : ai + bi));
        }
        cosines.template complete<0>();
        sines.template complete<0>();
        const unsigned known = facts(lane, line);
        const int unit = (int)(known << 8) >> 8;
        const bool mirrored2 = 2 * k1 > N1;
        const typename Numbers::Last last(args, unit, mirrored2 ? 0x80000000u : 0u);
        // A line of real or of imaginary numbers: outputs 0 and N/2 have a part that is known to be zero. They are outputs 0 and
        // N2/2 of row 0, the first one of one thread and the last one of another.
        const bool whole = k1 != 0 || t % 3 != 0;
        const unsigned keep_re = whole || (known >> 25 & 1) ? ~0u : 0u, keep_im = whole || (known >> 26 & 1) ? ~0u : 0u;
        // Strided results go where the numbers were, once all threads have read what is there now: [rest of k1][output][lowest bit of k1].
        uint32_t near_place = 0, far_place = 0;
        Number *near_number = nullptr, *far_number = nullptr;
        int step = STRIDED ? 2 * S::ROW : N1;
        bool there = false;
        if (STRIDED) {
            const uint32_t buffer = buffer_memory<S>() + (round & 1) * S::BUFFER;
            const auto place = [=](unsigned k) { return buffer + place_in_row<S>((k1 & 1) + 2 * (k + N2 * (k1 >> 1)), in_panel(lane, line)); };
            near_place = place(t);
            far_place = place(N2 - 1 - t);
            if (!S::WORDS_APART) together(lane);
        } else {
            const Panel<S, false> lines(args, blockIdx.x + round * gridDim.x);
            there = lines.has(args, (int)in_panel(lane, line)) && (known >> 24 & 1);
            near_number = (Number *)args.output + lines.start(args.to, (int)in_panel(lane, line)) + k1 + N1 * t;
            far_number = near_number + N1 * (N2 - 1 - 2 * (int)t);
        }
        if (mirrored2) {
            const uint32_t place = near_place;
            near_place = far_place;
            far_place = place;
            Number *const number = near_number;
            near_number = far_number;
            far_number = number;
            step = -step;
        }
        constexpr int K_TILES = S::SLOTS2 / 8, AT_ONCE = K_TILES / S::PARTS2;
        typename Digits::template Sums<S::SLOTS2> sums;
        Pieces cosine[AT_ONCE][4];
#pragma unroll
        for (int o = 0; o < K_TILES; o++) {
            const int in_part = o % AT_ONCE;
            if (in_part == 0) {
                if (o > 0) scheduling_barrier(args.factor, 10 + o);
                cosines.multiply(sums, wgmma_matrix(cosine2 + o / AT_ONCE * S::PART2));
                sums.wait();
#pragma unroll
                for (int c = 0; c < 4 * AT_ONCE; c++) cosine[c / 4][c % 4] = Digits::template pieces<S::SLOTS2>(sums, c / 4, c % 4);
                sines.multiply(sums, wgmma_matrix(sine2 + o / AT_ONCE * S::PART2));
                sums.wait();
            }
#pragma unroll
            for (int e = 0; e < 2; e++) {
                // Outputs k = 8o + 4e + t and N2 - 1 - k, exchanged in mirrored rows.
                const Pieces cr = cosine[in_part][e], ci = cosine[in_part][2 + e];
                const Pieces sr = Digits::template pieces<S::SLOTS2>(sums, in_part, e);
                const Pieces si = Digits::template pieces<S::SLOTS2>(sums, in_part, 2 + e);
#pragma unroll
                for (int far = 0; far < 2; far++) {
                    Number value = last.number(far ? cr - si : cr + si, far ? ci + sr : ci - sr);
                    const unsigned thread = far ? 3 : 0;
                    if (o == (far ? K_TILES - 1 : 0) && e == far && t == thread) value = Numbers::kept(value, keep_re, keep_im);
                    const int offset = (far ? -(8 * o + 4 * e) : 8 * o + 4 * e) * step;
                    if (STRIDED)
                        store_shared((far ? far_place : near_place) + (unsigned)offset, value);
                    else if (there)
                        (far ? far_number : near_number)[offset] = value;
                }
            }
        }
    }
    // Contiguous lines that are left to a portable kernel.
    const Seat lane;
    if (!STRIDED && lane.in_group() < S::LINES) {
        const int line = (int)in_panel(lane, lane.in_group());
        const Panel<S, false> lines(args, blockIdx.x + round * gridDim.x);
        if (lines.has(args, line) && !(facts(lane, lane.in_group()) >> 24 & 1)) args.left[atomic_add(args.left_count, 1u)] = lines.number(args, line);
    }
}

template <class S, bool STRIDED, bool CONVERSIONS, class Between>
DEVICE void transform(const TunedArguments &args, unsigned round, const Between &between) {
#pragma unroll 1
    for (unsigned unit = 0; unit < S::UNITS; unit++)
        transform_unit<S, STRIDED>(args, round, unit, [&] {
            if (unit == 0) between();
        });
}

}  // namespace tuned
