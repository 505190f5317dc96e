// target: sm_90a
// tuned
// early
// expect: tuned_r2c_32x32 48 ^IGMMA
// expect: tuned_r2c_32x32_conversions 48 ^IGMMA
// expect: tuned_r2c_32x16 30 ^IGMMA
// expect: tuned_r2c_32x16_conversions 30 ^IGMMA
// expect: tuned_r2c_16x16 12 ^IGMMA
// expect: tuned_r2c_16x16_conversions 12 ^IGMMA
//
// Real lines to half-spectra. Two lines go together where a complex line has its two parts: a column of the first step has
// line A in row g of the tensor instruction's operand and line B in row g + 8. The products are those of a complex line,
// but nothing is combined: the cosine sum of a real column is the real part of its output, the sine sum the imaginary part.
//
// Rows k1 and N1 - k1 of a real line are conjugates, so that the last step has rows 0 to N1/2 only: those below the middle
// fill tiles of 32, and the middle ones wait until there are eight of them, for which a warp is enough.
#include "hopper/tuned_real.cuh"

namespace tuned {

// Begins to copy a warpgroup's lines to shared memory. A panel beyond the last one has no lines.
template <class S> DEVICE void fetch_real(const TunedArguments &args, unsigned panel) {
    const Lane lane;
    const int thread = lane.in_group();
    const i64 first = (i64)panel * S::PANEL + lane.group * S::LINES, rest = args.lines - first;
    const u64 *from = (const u64 *)args.input + first * args.from.slow + 2 * thread;
    const uint32_t to = numbers_memory<S>(lane.group, 0) + place_real<S>(2 * thread);
#pragma unroll
    for (int l = 0; l < S::LINES; l++) {
        // 16 bytes are two numbers. Of lines that are not there nothing is read.
#pragma unroll
        for (int r = 0; r < S::N / 256; r++) copy_async(to + 8 * (S::N * l + 256 * r), from + 256 * r, l < rest);
        from += args.from.slow;
    }
    copy_commit();
}

// Transforms the lines of a warpgroup, whose numbers have arrived, and has the next ones fetched. What is cheaply worked out
// is worked out wherever it is needed: registers are full.
template <class S, bool CONVERSIONS> DEVICE void transform_real(const TunedArguments &args, unsigned round, bool last) {
    constexpr int N1 = S::N1, N2 = S::N2, N = S::N;
    constexpr int STEPS1 = S::SLOTS1 / 8, STEPS2 = S::SLOTS2 / 8;
    const uint32_t cosine1 = tables_memory<S>(), sine1 = cosine1 + S::MATRIX1, cosine2 = sine1 + S::MATRIX1, sine2 = cosine2 + S::MATRIX2;
    const uint32_t constants1 = sine2 + S::MATRIX2, constants2 = constants1 + S::CONSTANTS1;
    const uint32_t rotations = constants2 + S::CONSTANTS2;
    const auto together = [](const Lane &lane) { named_barrier(1 + lane.group, 128); };
    // The place that a line's facts and its middle row have.
    const auto slot_of = [=](int line) { return round % S::ROUNDS * S::LINES + line; };
    const Factors factors = factors_of<Int8>(args);

    // Step 1: column 8·warp + g is one of two lines, with the slots t, t+4, … of it.
    const Lane lane1;
    unsigned *statistics = statistics_memory<S>() + lane1.group * (S::STATISTICS / 4);
    const int column1 = 8 * lane1.warp + lane1.g, pair1 = column1 / N2, j1 = column1 % N2;
    const bool mirrored1 = 2 * j1 > N2;
    const int row = mirrored1 ? N1 - 1 - lane1.t : lane1.t;
    const uint32_t first_a = numbers_memory<S>(lane1.group, 2 * pair1) + place_real<S>(row * N2 + j1);
    const uint32_t last_a = numbers_memory<S>(lane1.group, 2 * pair1) + place_real<S>((N1 - 1 - row) * N2 + j1);
    const int raw_step = mirrored1 ? -32 * N2 : 32 * N2;
    constexpr int POINTS = N1 / 4;
    uint2 numbers[POINTS][2];
    Seen seen[2];
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        const uint32_t place = i % 2 == 0 ? first_a + i / 2 * raw_step : last_a - i / 2 * raw_step;
#pragma unroll
        for (int l = 0; l < 2; l++) {
            numbers[i][l] = load_shared_two(place + 8 * N * l);
            seen[l].add(numbers[i][l].x, numbers[i][l].y);
        }
    }
#pragma unroll
    for (int l = 0; l < 2; l++) {
        const unsigned found = warp_maximum(seen[l].found());
        if (lane1.first()) statistics[2 * lane1.warp + l] = found;
    }
    together(lane1);
    // All numbers are in registers.
    if (!last) fetch_real<S>(args, blockIdx.x + (round + 1) * gridDim.x);
    constexpr int WARPS_A_LINE = N2 / 8;
    const int first_warp = lane1.warp / WARPS_A_LINE * WARPS_A_LINE;
    unsigned largest[2] = {0, 0}, sum[2];
    int exponent[2];
#pragma unroll
    for (int l = 0; l < 2; l++) {
#pragma unroll
        for (int other = 0; other < WARPS_A_LINE; other++) largest[l] = max(largest[l], statistics[2 * (first_warp + other) + l]);
        // Leading bits of all magnitudes of a column, in units of the largest number's.
        typename Means<CONVERSIONS>::LeadingBits leading((int)(largest[l] >> 1));
#pragma unroll
        for (int i = 0; i < POINTS; i++) leading.add(numbers[i][l].x, numbers[i][l].y);
        sum[l] = leading.sum;
        sum[l] += shuffle_xor(sum[l], 1);
        sum[l] += shuffle_xor(sum[l], 2);
        // One for every magnitude rounds it up; there are imaginary parts, all zero.
        sum[l] = warp_maximum(sum[l]) + 2 * N1;
        if (lane1.first()) statistics[8 + 2 * lane1.warp + l] = sum[l];
    }
    together(lane1);
#pragma unroll
    for (int l = 0; l < 2; l++) {
#pragma unroll
        for (int other = 0; other < WARPS_A_LINE; other++) sum[l] = max(sum[l], statistics[8 + 2 * (first_warp + other) + l]);
        // Zeros have no leading bit to be shifted out.
        const int field = (int)(largest[l] >> 1);
        const bool zero = largest[l] == 0;
        exponent[l] = zero ? 0 : field - 1043 + (32 - __clz(sum[l])) - 61;
        // What the second step needs to know of every line. Lines of zeros stay zeros whatever their exponent.
        if (lane1.first()) {
            const bool moderate = (field >= LEAST_FIELD && field <= LARGEST_FIELD) || zero;
            statistics[16 + slot_of(2 * pair1 + l)] = ((unsigned)exponent[l] & 0xffffffu) | (unsigned)moderate << 24;
        }
    }

    {
        Words<STEPS1> cosine_words, sine_words;
#pragma unroll
        for (int l = 0; l < 2; l++) {
            const typename Means<CONVERSIONS>::Words quantised(exponent[l]);
#pragma unroll
            for (int q = 0; q < N1 / 8; q++) {
                const i64 a = quantised.word(numbers[2 * q][l].x, numbers[2 * q][l].y), b = quantised.word(numbers[2 * q + 1][l].x, numbers[2 * q + 1][l].y);
                const int s = q >> 1, e = 2 * (q & 1) + l;
                digits(a + b, cosine_words.low[s][e], cosine_words.high[s][e]);
                digits(a - b, sine_words.low[s][e], sine_words.high[s][e]);
            }
        }
        const Lane lane;
        const int t = lane.t, column = 8 * lane.warp + lane.g, pair = column / N2, j = column % N2;
        constexpr int LINE = N1 / 2 * N2 * 16;
        const uint32_t word_even = words_memory<S>(lane.group) + 2 * pair * LINE + 16 * place_words<S>(2 * t, j);
        const uint32_t word_odd = words_memory<S>(lane.group) + 2 * pair * LINE + 16 * place_words<S>(2 * t + 1, j);
        const uint32_t angles = rotations + 16 * (2 * t * (N2 / 2 + 1) + (2 * j > N2 ? N2 - j : j));
        Int8::Sums sums;
        Int8::Operand<STEPS1> cosine_digits(cosine_words), sine_digits(sine_words);
#pragma unroll
        for (int o = 0; o < S::SLOTS1 / 8; o++) {
            const uint32_t constants = constants1 + 16 * (8 * o + 2 * t);
            i64 cosine[4];
            Int8::multiply<true>(sums, cosine_digits, wgmma_matrix(cosine1 + o * S::PART1), factors, 0);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) cosine[e] = Int8::rounded<true>(sums, e, factors);
            Int8::multiply<true>(sums, sine_digits, wgmma_matrix(sine1 + o * S::PART1), factors, 0);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 2; e++) {
                // Output k = 8o + 2t + e. The first one, output 0, has cosines only; the sine sum in its place is that of
                // output N1/2, which has nothing else.
                const bool first = o == 0 && e == 0;
                const uint4 biased = load_shared(constants + 16 * e);
                const uint4 angle = load_shared(angles + 16 * (8 * o + e) * (N2 / 2 + 1));
#pragma unroll
                for (int l = 0; l < 2; l++) {
                    const i64 minus_sine = join(biased.z, biased.w) - Int8::rounded<true>(sums, 2 * l + e, factors);
                    i64 re = cosine[2 * l + e] - join(biased.x, biased.y), im = first && t == 0 ? 0 : minus_sine;
                    rotate(re, im, angle, factors);
                    store_shared((e == 0 ? word_even : word_odd) + o * 8 * N2 * 16 + l * LINE, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                    if (first && t == 0) {
                        const uint4 middle_angle = load_shared(angles + 16 * (N1 / 2 * (N2 / 2 + 1)));
                        re = rotated_part(minus_sine, (int)middle_angle.z, (int)middle_angle.w, true, factors);
                        im = rotated_part(minus_sine, (int)middle_angle.x, (int)middle_angle.y, false, factors);
                        const int row = S::ROWS + slot_of(2 * pair + l);
                        store_shared(words_memory<S>(lane.group) + 16 * place_words<S>(row, j), make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                    }
                }
            }
        }
    }
    together(Lane());

    // Step 2: column 8·warp + g of each tile is a row k1 of a line. When there are eight middle rows, or no more to come, one
    // warp has them in a last tile, a different one every time; the others go along, but make nothing of their sums.
    const bool middles = last || round % S::ROUNDS == S::ROUNDS - 1;
#pragma unroll 1
    for (int tile = 0; tile < S::TILES2 + (middles ? 1 : 0); tile++) {
        const bool middle = tile == S::TILES2;
        const Lane lane;
        const int t = lane.t, row = middle ? S::ROWS + lane.g : 32 * tile + 8 * lane.warp + lane.g;
        const bool active = !middle || lane.warp == (int)((lane.group + round / S::ROUNDS) & 3);
        const uint32_t words = words_memory<S>(lane.group);
        Words<STEPS2> cosine_words, sine_words;
        const uint32_t near_even = words + 16 * place_words<S>(row, t), near_odd = words + 16 * place_words<S>(row, t + 4);
        const uint32_t far_even = words + 16 * place_words<S>(row, N2 - t), far_odd = words + 16 * place_words<S>(row, N2 - t - 4);
#pragma unroll
        for (int q = 0; q < N2 / 8; q++) {
            const int s = q >> 1, e = 2 * (q & 1);
            const uint4 a = load_shared((q & 1 ? near_odd : near_even) + 128 * s);
            const uint4 b = load_shared((q & 1 ? far_odd : q == 0 && t == 0 ? far_even - 16 * (N2 / 2) : far_even) - 128 * s);
            const i64 ar = join(a.x, a.y), ai = join(a.z, a.w), br = join(b.x, b.y), bi = join(b.z, b.w);
            // Columns beyond the middle were left without the sign of their real part.
            i64 cr = ar + br, ci = ai - bi, sr = ar - br, si = ai + bi;
            if (q == 0 && t == 0) {
                cr = ar;
                ci = ai;
                sr = br;
                si = bi;
            }
            digits(cr, cosine_words.low[s][e], cosine_words.high[s][e]);
            digits(ci, cosine_words.low[s][e + 1], cosine_words.high[s][e + 1]);
            digits(sr, sine_words.low[s][e], sine_words.high[s][e]);
            digits(si, sine_words.low[s][e + 1], sine_words.high[s][e + 1]);
        }
        // Middle rows are of this round's lines and of those before.
        const int slot = middle ? lane.g : slot_of(row / (N1 / 2)), k1 = middle ? N1 / 2 : row % (N1 / 2);
        const unsigned its_round = round - round % S::ROUNDS + slot / S::LINES;
        const unsigned known = statistics_memory<S>()[lane.group * (S::STATISTICS / 4) + 16 + slot];
        const int exponent2 = ((int)(known << 8) >> 8) + common_exponent<S>();
        const int power = (exponent2 + 1023 + 63 - 1) << 20;
        const double scale = CONVERSIONS ? __hiloint2double((1023 + exponent2) << 20, 0) : 0.0;
        const Panel<S, false> lines(args, blockIdx.x + its_round * gridDim.x);
        const int line = lane.group * S::LINES + slot % S::LINES;
        const bool there = its_round <= round && lines.has(args, line) && (known >> 24 & 1);
        // Output k1 + N1·k. Its partner k1 + N1·(N2 - 1 - k) lies beyond the middle: what is stored is its conjugate, output
        // N1 - k1 + N1·k. The first row has all of its outputs but N/2 without that, the middle row all of them.
        uint4 *const near_number = args.output + lines.start(args.to, line) + k1 + N1 * 2 * t;
        uint4 *const far_number = near_number + N1 - 2 * k1;
        const bool partners = there && k1 != 0 && !middle;
        Int8::Sums sums;
        Int8::Operand<STEPS2> cosine_digits(cosine_words), sine_digits(sine_words);
#pragma unroll
        for (int o = 0; o < STEPS2; o++) {
            const uint32_t constants = constants2 + 16 * (8 * o + 2 * t), tops = constants2 + 16 * S::SLOTS2 + 16 * (4 * o + t);
            i64 cosine[4];
            int top[4];
            Int8::multiply<false>(sums, cosine_digits, wgmma_matrix(cosine2 + o * S::PART2), factors, 0);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) {
                cosine[e] = Int8::rounded<false>(sums, e, factors);
                top[e] = Int8::top(sums, e);
            }
            Int8::multiply<false>(sums, sine_digits, wgmma_matrix(sine2 + o * S::PART2), factors, 0);
            sums.wait();
            if (active) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const uint4 biased = load_shared(constants + 16 * e);
                    const i64 sum = join(biased.x, biased.y), difference = join(biased.z, biased.w);
                    const int top_sum = load_shared_int(tops + 8 * e), top_difference = load_shared_int(tops + 8 * e + 4);
                    const i64 cr = cosine[e], ci = cosine[2 + e];
                    const i64 sr = Int8::rounded<false>(sums, e, factors);
                    const i64 si = Int8::rounded<false>(sums, 2 + e, factors);
                    const int tsr = Int8::top(sums, e), tsi = Int8::top(sums, 2 + e);
                    // Outputs 0 and N/2 are real.
                    const bool is_first = o == 0 && e == 0 && k1 == 0 && t == 0;
                    const bool is_middle = o == STEPS2 - 1 && e == 1 && k1 == 0 && t == 3;
                    uint4 value = finished<CONVERSIONS>(cr + si - sum, top[e] + tsi - top_sum, ci - sr - difference, top[2 + e] - tsr - top_difference, power,
                                                        scale, args.conjugate_output);
                    if (is_first) value.z = value.w = 0;
                    if (there) near_number[(8 * o + e) * N1] = value;
                    if (partners || (is_middle && there)) {
                        value = finished<CONVERSIONS>(cr - si - difference, top[e] - tsi - top_difference, ci + sr - sum, top[2 + e] + tsr - top_sum, power,
                                                      scale, args.conjugate_output ^ 0x80000000u);
                        if (is_middle) value.z = value.w = 0;
                        far_number[(8 * o + e) * N1] = value;
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
        const unsigned known = statistics_memory<S>()[lane.group * (S::STATISTICS / 4) + 16 + slot_of(lane.in_group())];
        if (lines.has(args, line) && !(known >> 24 & 1)) args.left[atomic_add(args.left_count, 1u)] = lines.number(args, line);
    }
}

template <class S, bool CONVERSIONS> DEVICE void run_real(const TunedArguments &args) {
    begin<S>(args);
    if (blockIdx.x < args.panels) fetch_real<S>(args, blockIdx.x);
    begun();
#pragma unroll 1
    for (unsigned round = 0; blockIdx.x + round * gridDim.x < args.panels; round++) {
        copy_wait();
        named_barrier(1 + Lane().group, 128);
        transform_real<S, CONVERSIONS>(args, round, blockIdx.x + (round + 1) * gridDim.x >= args.panels);
    }
}

}  // namespace tuned

#define R2C_KERNELS(N1, N2)                                                         \
    KERNEL(tuned::THREADS, 1) tuned_r2c_##N1##x##N2(PARAMETERS TunedArguments a) {   \
        tuned::run_real<tuned::RealShape<N1, N2>, false>(a);                         \
    }                                                                                \
    KERNEL(tuned::THREADS, 1) tuned_r2c_##N1##x##N2##_conversions(PARAMETERS TunedArguments a) { tuned::run_real<tuned::RealShape<N1, N2>, true>(a); }

R2C_KERNELS(32, 32)
R2C_KERNELS(32, 16)
R2C_KERNELS(16, 16)

// `real_shared_bytes` of the crate.
static_assert(tuned::RealShape<32, 32>::SHARED == 203392 && tuned::RealShape<32, 16>::SHARED == 173760 && tuned::RealShape<16, 16>::SHARED == 88768,
              "the host asks for the same");
