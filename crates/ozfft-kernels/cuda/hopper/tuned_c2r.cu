// target: sm_90a
// tuned
// early
// expect: tuned_c2r_32x32 72 ^IGMMA
// expect: tuned_c2r_32x32_conversions 72 ^IGMMA
// expect: tuned_c2r_32x16 54 ^IGMMA
// expect: tuned_c2r_32x16_conversions 54 ^IGMMA
// expect: tuned_c2r_16x16 18 ^IGMMA
// expect: tuned_c2r_16x16_conversions 18 ^IGMMA
//
// Half-spectra to real lines. Columns j and N2 - j of a Hermitian line have the same words, so that the first step has columns
// 0 to N2/2 only. Those below the middle are columns of complex numbers, and those of a unit's lines fill a tile. A middle
// column meets its own conjugate: its even parts are real, its odd parts imaginary, and the middle columns of two lines go
// together as one, in a tile of their own, of which one warp makes use.
//
// The last step sees the same symmetry: its even parts are real, its odd ones imaginary, and so rows of two lines go together,
// without being combined. What it needs of a row are real and imaginary parts of columns 1 to N2/2 - 1, the real part of column
// 0 and the imaginary part of the middle one.
#include "hopper/tuned_real.cuh"

namespace tuned {

template <int N1_, int N2_> struct HalfShape {
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2;
    static constexpr int COLUMNS = N2 / 2;          // of a line, below the middle one
    static constexpr int LINES = 32 / COLUMNS;      // of a warpgroup
    static constexpr int TILES2 = LINES * N1 / 64;  // two lines each
    static constexpr int SLOTS1 = N1 / 2, SLOTS2 = N2 / 2;
    static constexpr int PART1 = Int8::part_bytes(SLOTS1), PART2 = Int8::part_bytes(SLOTS2);  // of 8 outputs
    static constexpr int MATRIX1 = SLOTS1 / 8 * PART1, MATRIX2 = SLOTS2 / 8 * PART2;
    // As for complex lines.
    static constexpr int CONSTANTS1 = 16 * SLOTS1 + 128, CONSTANTS2 = 24 * SLOTS2;
    static constexpr int ROTATIONS = (N1 / 2 + 1) * (N2 / 2 + 1);
    static constexpr int TABLES = 2 * MATRIX1 + 2 * MATRIX2 + CONSTANTS1 + CONSTANTS2 + 16 * ROTATIONS;
    // Bytes of a line's numbers, padded to whole 128 bytes; of a warpgroup's numbers, words, and imaginary parts of middle words.
    static constexpr int LINE = 16 * (N / 2 + 8);
    static constexpr int NUMBERS = LINES * LINE, WORDS = 16 * LINES * N1 * COLUMNS, MIDDLES = 8 * LINES * N1;
    static constexpr int PANEL = WARPGROUPS * LINES;
    static constexpr int BUFFER = WARPGROUPS * (NUMBERS + WORDS + MIDDLES) / 2;  // there are two
    static constexpr int STATISTICS = 128;
    static constexpr int BEGINNING = (TABLES + 1023) / 1024 * 1024;
    static constexpr int SHARED = BEGINNING + 2 * BUFFER + WARPGROUPS * STATISTICS + 8 * PANEL + 64;
};

// The place of number i = row·N2 + column of a line, in bytes: four rows of two neighbours are on different banks, and so are
// four rows of two neighbours from the other end.
template <class S> DEVICE constexpr int place_half(int i) { return 16 * (i ^ (i / S::N2 & 3) << 1); }

template <class S> DEVICE uint32_t half_memory(int group, int line) { return buffer_memory<S>() + group * S::NUMBERS + S::LINE * line; }
// The words of a line, 16 bytes each, rows of COLUMNS.
template <class S> DEVICE uint32_t half_words(int group, int line, int row, int j) {
    const int place = row * S::COLUMNS + (j ^ ((((row >> 1) & 3) << 1) ^ ((row & 1) << 2)));
    return buffer_memory<S>() + WARPGROUPS * S::NUMBERS + group * S::WORDS + 16 * (line * S::N1 * S::COLUMNS + place);
}
template <class S> DEVICE uint32_t middles_memory(int group, int line) {
    return buffer_memory<S>() + WARPGROUPS * (S::NUMBERS + S::WORDS) + group * S::MIDDLES + 8 * S::N1 * line;
}

// Begins to copy a warpgroup's lines to shared memory: N/2 numbers, and one more.
template <class S> DEVICE void fetch_half(const TunedArguments &args, unsigned panel) {
    const Lane lane;
    const int thread = lane.in_group();
    const i64 first = (i64)panel * S::PANEL + lane.group * S::LINES, rest = args.lines - first;
    const uint4 *from = args.input + first * args.from.slow + thread;
    const uint32_t to = half_memory<S>(lane.group, 0) + place_half<S>(thread);
#pragma unroll
    for (int l = 0; l < S::LINES; l++) {
        // Of lines that are not there nothing is read.
#pragma unroll
        for (int r = 0; r < S::N / 256; r++) copy_async(to + S::LINE * l + 16 * 128 * r, from + 128 * r, l < rest);
        if (thread == 0) copy_async(to + S::LINE * l + 16 * (S::N / 2), from + S::N / 2, l < rest);
        from += args.from.slow;
    }
    copy_commit();
}

// The first number of a half-spectrum and the last one have no imaginary part: what is given is left out, but for a NaN or an
// infinity, which spoils the line.
DEVICE void leave_imaginary_part_out(uint4 &number) {
    if ((number.w & 0x7ff00000u) != 0x7ff00000u) number.z = number.w = 0;
}

// Middle columns of the first step: two lines at a time. `active`: this warp makes use of the sums.
template <class S, bool CONVERSIONS> DEVICE void middle_columns(const TunedArguments &args, const unsigned *facts, bool active) {
    constexpr int N1 = S::N1, N2 = S::N2, STEPS1 = S::SLOTS1 / 8;
    const uint32_t cosine1 = tables_memory<S>(), sine1 = cosine1 + S::MATRIX1, constants1 = sine1 + S::MATRIX1 + 2 * S::MATRIX2;
    const uint32_t rotations = constants1 + S::CONSTANTS1 + S::CONSTANTS2;
    const Factors factors = factors_of<Int8>(args);
    const Lane lane;
    constexpr int PAIRS = S::LINES / 2;
    const int t = lane.t, pair = lane.g % PAIRS, e = lane.g / PAIRS & 1, l = lane.g / (2 * PAIRS) & 1;
    Words<STEPS1> cosine_words, sine_words;
    if (!active) {
        cosine_words = sine_words = {};
    } else {
#pragma unroll
        for (int line = 0; line < 2; line++) {
            const typename Means<CONVERSIONS>::Words quantised((int)(facts[2 * pair + line] << 8) >> 8);
            const uint32_t first = half_memory<S>(lane.group, 2 * pair + line) + place_half<S>(t * N2 + N2 / 2);
#pragma unroll
            for (int q = 0; q < N1 / 8; q++) {
                const uint4 number = load_shared(first + 64 * N2 * q);
                const int s = q >> 1, i = 2 * (q & 1) + line;
                digits(2 * quantised.word(number.x, number.y), cosine_words.low[s][i], cosine_words.high[s][i]);
                digits(2 * quantised.word(number.z, number.w ^ args.conjugate_input), sine_words.low[s][i], sine_words.high[s][i]);
            }
        }
    }
    const uint32_t angles = rotations + 16 * (N2 / 2), middles = middles_memory<S>(lane.group, 2 * pair + l);
    Int8::Sums sums;
    Int8::Operand<STEPS1> cosine_digits(cosine_words), sine_digits(sine_words);
#pragma unroll
    for (int o = 0; o < STEPS1; o++) {
        const uint32_t constants = constants1 + 16 * (8 * o + 2 * t);
        i64 cosine[4];
        Int8::multiply<true>(sums, cosine_digits, wgmma_matrix(cosine1 + o * S::PART1), factors, 0);
        sums.wait();
        if (active) {
#pragma unroll
            for (int i = 0; i < 4; i++) cosine[i] = Int8::rounded<true>(sums, i, factors);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) cosine[i] = 0;
        }
        Int8::multiply<true>(sums, sine_digits, wgmma_matrix(sine1 + o * S::PART1), factors, 0);
        sums.wait();
        if (active) {
            i64 sine[4];
#pragma unroll
            for (int i = 0; i < 4; i++) sine[i] = Int8::rounded<true>(sums, i, factors);
            // All columns of the warp are the same, or the same two: every thread has one output of one line.
            const auto chosen = [=](const i64(&of)[4]) { return l == 0 ? (e == 0 ? of[0] : of[1]) : (e == 0 ? of[2] : of[3]); };
            const i64 c = chosen(cosine), s = chosen(sine);
            // Outputs k = 8o + 2t + e and N1 - k, as for other columns, but real before they are rotated.
            const bool first = o == 0 && e == 0, alone = first && t == 0;
            const int k = 8 * o + 2 * t + e;
            const uint32_t special = constants1 + 16 * S::SLOTS1 + 32 * t;
            const uint4 biased = load_shared(first ? special : constants + 16 * e);
            const uint4 angle = load_shared(angles + 16 * k * (N2 / 2 + 1));
            uint4 far_biased = make_uint4(biased.z, biased.w, 0, 0), far_angle = angle;
            if (first) far_biased = load_shared(special + 16);
            if (alone) far_angle = load_shared(angles + 16 * (N1 / 2 * (N2 / 2 + 1)));
            const i64 near = rotated_part(c + (alone ? 0 : s) - join(biased.x, biased.y), (int)angle.z, (int)angle.w, false, factors);
            const i64 far = rotated_part((alone ? s : c - s) - join(far_biased.x, far_biased.y), (int)far_angle.z, (int)far_angle.w, false, factors);
            if (lane.g < 4 * PAIRS) {
                store_shared(middles + 8 * k, make_uint2(low_of(near), high_of(near)));
                store_shared(middles + 8 * (alone ? N1 / 2 : N1 - k), make_uint2(low_of(far), high_of(far)));
            }
        }
    }
}

// Transforms the lines of a warpgroup, whose numbers have arrived, and has the next ones fetched. What is cheaply worked out
// is worked out wherever it is needed: registers are full.
template <class S, bool CONVERSIONS> DEVICE void transform_half(const TunedArguments &args, unsigned round, bool last) {
    constexpr int N1 = S::N1, N2 = S::N2, COLUMNS = S::COLUMNS;
    constexpr int STEPS1 = S::SLOTS1 / 8, STEPS2 = S::SLOTS2 / 8;
    const uint32_t cosine1 = tables_memory<S>(), sine1 = cosine1 + S::MATRIX1, cosine2 = sine1 + S::MATRIX1, sine2 = cosine2 + S::MATRIX2;
    const uint32_t constants1 = sine2 + S::MATRIX2, constants2 = constants1 + S::CONSTANTS1;
    const uint32_t rotations = constants2 + S::CONSTANTS2;
    const auto together = [](const Lane &lane) { named_barrier(1 + lane.group, 128); };
    const Factors factors = factors_of<Int8>(args);

    // Step 1: column 8·warp + g of the unit's lines; the slots t, t+4, … of it, which are rows of this column and of column
    // N2 - j, conjugated.
    const Lane lane1;
    // Of every warp the largest real and imaginary parts, of every line's middle column the same; then column sums likewise; then
    // facts of every line.
    unsigned *const statistics = statistics_memory<S>() + lane1.group * (S::STATISTICS / 4);
    unsigned *const facts = statistics + 24;
    const int column1 = 8 * lane1.warp + lane1.g, line1 = column1 / COLUMNS, j1 = column1 % COLUMNS;
    const uint32_t first_a = half_memory<S>(lane1.group, line1) + place_half<S>(lane1.t * N2 + j1);
    const uint32_t first_b = half_memory<S>(lane1.group, line1) + place_half<S>(lane1.t * N2 + N2 - j1);
    constexpr int POINTS = N1 / 4;
    uint4 numbers[POINTS];
    Seen seen_re, seen_im;
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        uint4 number = load_shared((i % 2 == 0 ? first_a : first_b) + i / 2 * 64 * N2);
        number.w ^= args.conjugate_input ^ (i % 2 == 0 ? 0 : 0x80000000u);
        if (i == 0 && lane1.t == 0 && j1 == 0) leave_imaginary_part_out(number);
        if (i == POINTS - 1 && lane1.t == 3 && j1 == 0) leave_imaginary_part_out(number);
        seen_re.add(number.x, number.y);
        seen_im.add(number.z, number.w);
        numbers[i] = number;
    }
    unsigned largest_re = warp_maximum(seen_re.found()), largest_im = warp_maximum(seen_im.found());
    if (lane1.first()) {
        statistics[2 * lane1.warp] = largest_re;
        statistics[2 * lane1.warp + 1] = largest_im;
    }
    // Middle columns, a number for a thread, in another warp of every warpgroup.
    constexpr int ROWS = N1 / 2;
    const int rank = (lane1.in_group() + 32 * lane1.group) & 127, middle_line = rank / ROWS;
    const bool has_middles = rank < S::LINES * ROWS;
    const uint32_t middle_number = half_memory<S>(lane1.group, has_middles ? middle_line : 0) + place_half<S>(rank % ROWS * N2 + N2 / 2);
    if (has_middles) {
        const uint4 number = load_shared(middle_number);
        seen_re = seen_im = Seen();
        seen_re.add(number.x, number.y);
        seen_im.add(number.z, number.w);
        unsigned re = seen_re.found(), im = seen_im.found();
#pragma unroll
        for (int mask = ROWS / 2; mask > 0; mask /= 2) {
            re = max(re, shuffle_xor(re, mask));
            im = max(im, shuffle_xor(im, mask));
        }
        if (rank % ROWS == 0) {
            statistics[8 + 2 * middle_line] = re;
            statistics[8 + 2 * middle_line + 1] = im;
        }
    }
    together(lane1);
    constexpr int WARPS_A_LINE = COLUMNS / 8;
    const int first_warp = lane1.warp / WARPS_A_LINE * WARPS_A_LINE;
    const auto largest_of = [=](int line, int part) {
        unsigned largest = statistics[8 + 2 * line + part];
#pragma unroll
        for (int warp = 0; warp < WARPS_A_LINE; warp++) largest = max(largest, statistics[2 * (line * WARPS_A_LINE + warp) + part]);
        return largest;
    };
    largest_re = largest_of(line1, 0);
    largest_im = largest_of(line1, 1);
    const int field = (int)(max(largest_re, largest_im) >> 1);
    // Leading bits of all magnitudes of a column, in units of the largest number's.
    const auto add = [](typename Means<CONVERSIONS>::LeadingBits &leading, const uint4 &number) {
        leading.add(number.x, number.y);
        leading.add(number.z, number.w);
    };
    typename Means<CONVERSIONS>::LeadingBits leading(field);
#pragma unroll
    for (int i = 0; i < POINTS; i++) add(leading, numbers[i]);
    unsigned sum = leading.sum;
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    // One for every magnitude rounds it up.
    sum = warp_maximum(sum) + 2 * N1;
    if (lane1.first()) statistics[16 + lane1.warp] = sum;
    if (has_middles) {
        const int its_field = (int)(max(largest_of(middle_line, 0), largest_of(middle_line, 1)) >> 1);
        // Every number is there twice.
        typename Means<CONVERSIONS>::LeadingBits middle_leading(its_field);
        add(middle_leading, load_shared(middle_number));
        unsigned middle_sum = 2 * middle_leading.sum;
#pragma unroll
        for (int mask = ROWS / 2; mask > 0; mask /= 2) middle_sum += shuffle_xor(middle_sum, mask);
        if (rank % ROWS == 0) statistics[20 + middle_line] = middle_sum + 2 * N1;
    }
    together(lane1);
    sum = max(sum, statistics[20 + line1]);
#pragma unroll
    for (int other = 0; other < WARPS_A_LINE; other++) sum = max(sum, statistics[16 + first_warp + other]);
    // Zeros have no leading bit to be shifted out.
    const bool zero = (largest_re | largest_im) == 0;
    const int exponent = zero ? 0 : field - 1043 + (32 - __clz(sum)) - 61;
    // What the rest needs to know of every line. Lines of zeros stay zeros whatever their exponent.
    if (lane1.first()) {
        const bool moderate = (field >= LEAST_FIELD && field <= LARGEST_FIELD) || zero;
        facts[line1] = ((unsigned)exponent & 0xffffffu) | (unsigned)moderate << 24 | (unsigned)(largest_re != 0) << 25;
    }

    {
        Words<STEPS1> cosine_words, sine_words;
        const typename Means<CONVERSIONS>::Words quantised(exponent);
#pragma unroll
        for (int q = 0; q < N1 / 8; q++) {
            const uint4 &a = numbers[2 * q], &b = numbers[2 * q + 1];
            const i64 ar = quantised.word(a.x, a.y), ai = quantised.word(a.z, a.w), br = quantised.word(b.x, b.y), bi = quantised.word(b.z, b.w);
            const int s = q >> 1, e = 2 * (q & 1);
            digits(ar + br, cosine_words.low[s][e], cosine_words.high[s][e]);
            digits(ai + bi, cosine_words.low[s][e + 1], cosine_words.high[s][e + 1]);
            digits(ar - br, sine_words.low[s][e], sine_words.high[s][e]);
            digits(ai - bi, sine_words.low[s][e + 1], sine_words.high[s][e + 1]);
        }
        const Lane lane;
        const int t = lane.t, column = 8 * lane.warp + lane.g, line = column / COLUMNS, j = column % COLUMNS;
        const uint32_t word_even = half_words<S>(lane.group, line, 2 * t, j), word_odd = half_words<S>(lane.group, line, 2 * t + 1, j);
        const uint32_t partner_even = half_words<S>(lane.group, line, N1 - 2 * t, j);
        const uint32_t partner_odd = half_words<S>(lane.group, line, N1 - 2 * t - 1, j);
        const uint32_t angles = rotations + 16 * (2 * t * (N2 / 2 + 1) + j);
        Int8::Sums sums;
        Int8::Operand<STEPS1> cosine_digits(cosine_words), sine_digits(sine_words);
#pragma unroll
        for (int o = 0; o < STEPS1; o++) {
            const uint32_t constants = constants1 + 16 * (8 * o + 2 * t);
            i64 cosine[4], sine[4];
            if (o > 0) scheduling_barrier(factors.first, 101 + 2 * o);
            Int8::multiply<true>(sums, cosine_digits, wgmma_matrix(cosine1 + o * S::PART1), factors, 0);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) cosine[e] = Int8::rounded<true>(sums, e, factors);
            scheduling_barrier(factors.first, 100 + 2 * o);
            Int8::multiply<true>(sums, sine_digits, wgmma_matrix(sine1 + o * S::PART1), factors, 0);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) sine[e] = Int8::rounded<true>(sums, e, factors);
#pragma unroll
            for (int e = 0; e < 2; e++) {
                // Outputs k = 8o + 2t + e and N1 - k, less what they are biased by. Of the first two, output 0 has cosines
                // only, output N1/2 sines only.
                const i64 cr = cosine[e], ci = cosine[2 + e], sr = sine[e], si = sine[2 + e];
                const bool first = o == 0 && e == 0, alone = first && t == 0;
                const uint32_t special = constants1 + 16 * S::SLOTS1 + 32 * t;
                uint4 biased = load_shared(first ? special : constants + 16 * e);
                uint4 angle = load_shared(angles + 16 * (8 * o + e) * (N2 / 2 + 1));
                i64 re = cr + (alone ? 0 : si) - join(biased.x, biased.y), im = ci - (alone ? 0 : sr) - join(biased.z, biased.w);
                rotate(re, im, angle, factors);
                store_shared((e == 0 ? word_even : word_odd) + o * 128 * COLUMNS, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                if (first) {
                    biased = load_shared(special + 16);
                    if (t == 0) angle = load_shared(angles + 16 * (N1 / 2 * (N2 / 2 + 1)));
                    re = (alone ? si : cr - si) - join(biased.x, biased.y);
                    im = (alone ? 0 : -ci) - sr + join(biased.z, biased.w);
                } else {
                    re = cr - si - join(biased.z, biased.w);
                    im = join(biased.x, biased.y) - sr - ci;
                }
                rotate(re, im, angle, factors);
                store_shared((e == 1 ? partner_odd : alone ? partner_even - N1 / 2 * COLUMNS * 16 : partner_even) - o * 128 * COLUMNS,
                             make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
            }
        }
    }
    // Facts are known to all warps.
    together(Lane());
    {
        const Lane lane;
        middle_columns<S, CONVERSIONS>(args, statistics_memory<S>() + lane.group * (S::STATISTICS / 4) + 24, lane.warp == (int)((lane.group + round) & 3));
    }
    together(Lane());
    // All numbers have been used.
    if (!last) fetch_half<S>(args, blockIdx.x + (round + 1) * gridDim.x);

    // Step 2: column 8·warp + g of each tile is a row k1 of two lines.
#pragma unroll 1
    for (int tile = 0; tile < S::TILES2; tile++) {
        const Lane lane;
        const int t = lane.t, column2 = 32 * tile + 8 * lane.warp + lane.g, k1 = column2 % N1, pair = column2 / N1;
        Words<STEPS2> cosine_words, sine_words;
#pragma unroll
        for (int l = 0; l < 2; l++) {
            const uint32_t even = half_words<S>(lane.group, 2 * pair + l, k1, t), odd = half_words<S>(lane.group, 2 * pair + l, k1, t + 4);
#pragma unroll
            for (int q = 0; q < N2 / 8; q++) {
                const int s = q >> 1, e = 2 * (q & 1) + l;
                const uint4 word = load_shared((q & 1 ? odd : even) + 128 * s);
                i64 re = 2 * join(word.x, word.y), im = 2 * join(word.z, word.w);
                if (q == 0 && t == 0) {
                    const uint2 middle = load_shared_two(middles_memory<S>(lane.group, 2 * pair + l) + 8 * k1);
                    re = join(word.x, word.y);
                    im = join(middle.x, middle.y);
                }
                digits(re, cosine_words.low[s][e], cosine_words.high[s][e]);
                digits(im, sine_words.low[s][e], sine_words.high[s][e]);
            }
        }
        const Panel<S, false> lines(args, blockIdx.x + round * gridDim.x);
        const bool mirrored = 2 * k1 > N1;
        const int line = lane.group * S::LINES + 2 * pair;
        int power[2];
        double scale[2];
        bool there[2], zeros[2];
        u64 *near[2];
#pragma unroll
        for (int l = 0; l < 2; l++) {
            const unsigned known = statistics_memory<S>()[lane.group * (S::STATISTICS / 4) + 24 + 2 * pair + l];
            const int exponent2 = ((int)(known << 8) >> 8) + common_exponent<S>();
            power[l] = (exponent2 + 1023 + 63 - 1) << 20;
            scale[l] = CONVERSIONS ? __hiloint2double((1023 + exponent2) << 20, 0) : 0.0;
            there[l] = lines.has(args, line + l) && (known >> 24 & 1);
            // Without real parts, outputs 0 and N/2 are known to be zero.
            zeros[l] = !(known >> 25 & 1) && k1 == 0;
            // Output k1 + N1·k. Mirrored rows have N2 - 1 - k for k.
            near[l] = (u64 *)args.output + lines.start(args.to, line + l) + k1 + N1 * (mirrored ? N2 - 1 - 2 * t : 2 * t);
        }
        const int step = mirrored ? -N1 : N1;
        Int8::Sums sums;
        Int8::Operand<STEPS2> cosine_digits(cosine_words), sine_digits(sine_words);
#pragma unroll
        for (int o = 0; o < STEPS2; o++) {
            const uint32_t constants = constants2 + 16 * (8 * o + 2 * t), tops = constants2 + 16 * S::SLOTS2 + 16 * (4 * o + t);
            i64 cosine[4];
            int top[4];
            if (o > 0) scheduling_barrier(factors.first, 2 * o + 1);
            Int8::multiply<false>(sums, cosine_digits, wgmma_matrix(cosine2 + o * S::PART2), factors, 0);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) {
                cosine[e] = Int8::rounded<false>(sums, e, factors);
                top[e] = Int8::top(sums, e);
            }
            scheduling_barrier(factors.first, 2 * o);
            Int8::multiply<false>(sums, sine_digits, wgmma_matrix(sine2 + o * S::PART2), factors, 0);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const uint4 biased = load_shared(constants + 16 * e);
                const i64 sum = join(biased.x, biased.y), difference = join(biased.z, biased.w);
                const int top_sum = load_shared_int(tops + 8 * e), top_difference = load_shared_int(tops + 8 * e + 4);
#pragma unroll
                for (int l = 0; l < 2; l++) {
                    const i64 c = cosine[2 * l + e], s = Int8::rounded<false>(sums, 2 * l + e, factors);
                    const int top_c = top[2 * l + e], top_s = Int8::top(sums, 2 * l + e);
                    // Outputs k = 8o + 2t + e and N2 - 1 - k, exchanged in mirrored rows.
#pragma unroll
                    for (int far = 0; far < 2; far++) {
                        uint2 value = finished_real<CONVERSIONS>(far ? c - s - difference : c + s - sum,
                                                                 far ? top_c - top_s - top_difference : top_c + top_s - top_sum, power[l], scale[l]);
                        // Row 0 is not mirrored: outputs 0 and N2/2 of it are 0 and N/2 of the line.
                        const int k = far ? N2 - 1 - (8 * o + 2 * t + e) : 8 * o + 2 * t + e;
                        if (zeros[l] && (k == 0 || k == N2 / 2)) value = make_uint2(0, 0);
                        if (there[l]) near[l][(far ? N2 - 1 - 4 * t - (8 * o + e) : 8 * o + e) * step] = (u64)value.y << 32 | value.x;
                    }
                }
            }
        }
    }
    // Lines that are left to a portable kernel.
    const Lane lane;
    if (lane.in_group() < S::LINES) {
        const int line = lane.group * S::LINES + lane.in_group();
        const Panel<S, false> lines(args, blockIdx.x + round * gridDim.x);
        const unsigned known = statistics_memory<S>()[lane.group * (S::STATISTICS / 4) + 24 + lane.in_group()];
        if (lines.has(args, line) && !(known >> 24 & 1)) args.left[atomic_add(args.left_count, 1u)] = lines.number(args, line);
    }
}

template <class S, bool CONVERSIONS> DEVICE void run_half(const TunedArguments &args) {
    begin<S>(args);
    if (blockIdx.x < args.panels) fetch_half<S>(args, blockIdx.x);
    begun();
#pragma unroll 1
    for (unsigned round = 0; blockIdx.x + round * gridDim.x < args.panels; round++) {
        copy_wait();
        named_barrier(1 + Lane().group, 128);
        transform_half<S, CONVERSIONS>(args, round, blockIdx.x + (round + 1) * gridDim.x >= args.panels);
    }
}

}  // namespace tuned

#define C2R_KERNELS(N1, N2)                                                         \
    KERNEL(tuned::THREADS, 1) tuned_c2r_##N1##x##N2(PARAMETERS TunedArguments a) {   \
        tuned::run_half<tuned::HalfShape<N1, N2>, false>(a);                         \
    }                                                                                \
    KERNEL(tuned::THREADS, 1) tuned_c2r_##N1##x##N2##_conversions(PARAMETERS TunedArguments a) { tuned::run_half<tuned::HalfShape<N1, N2>, true>(a); }

C2R_KERNELS(32, 32)
C2R_KERNELS(32, 16)
C2R_KERNELS(16, 16)

// `real_shared_bytes` of the crate.
static_assert(tuned::HalfShape<32, 32>::SHARED == 190080 && tuned::HalfShape<32, 16>::SHARED == 171712 && tuned::HalfShape<16, 16>::SHARED == 84672,
              "the host asks for the same");
