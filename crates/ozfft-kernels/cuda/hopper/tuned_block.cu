// target: sm_90a
// tuned
// early
// The compiler has been seen to leave out products whose sums it took for the same registers'; so they are counted.
// expect: tuned_32x32 48 ^IGMMA
// expect: tuned_32x32_strided 48 ^IGMMA
// expect: tuned_32x32_conversions 48 ^IGMMA
// expect: tuned_32x32_strided_conversions 48 ^IGMMA
// expect: tuned_16x16 12 ^IGMMA
// expect: tuned_16x16_strided 12 ^IGMMA
// expect: tuned_16x16_conversions 12 ^IGMMA
// expect: tuned_16x16_strided_conversions 12 ^IGMMA
// expect: tuned_32x16 30 ^IGMMA
// expect: tuned_32x16_strided 30 ^IGMMA
// expect: tuned_32x16_conversions 30 ^IGMMA
// expect: tuned_32x16_strided_conversions 30 ^IGMMA
// expect: tuned_fp8_32x32 96 ^QGMMA
// expect: tuned_fp8_32x32_strided 96 ^QGMMA
// expect: tuned_fp8_32x32_conversions 96 ^QGMMA
// expect: tuned_fp8_32x32_strided_conversions 96 ^QGMMA
// expect: tuned_fp8_16x16 24 ^QGMMA
// expect: tuned_fp8_16x16_strided 24 ^QGMMA
// expect: tuned_fp8_16x16_conversions 24 ^QGMMA
// expect: tuned_fp8_16x16_strided_conversions 24 ^QGMMA
// expect: tuned_fp8_32x16 60 ^QGMMA
// expect: tuned_fp8_32x16_strided 60 ^QGMMA
// expect: tuned_fp8_32x16_conversions 60 ^QGMMA
// expect: tuned_fp8_32x16_strided_conversions 60 ^QGMMA
#include "hopper/tuned_fp8.cuh"
#include "hopper/tuned_lines.cuh"

namespace tuned {

// Positions in the memory of a line, in bytes. Columns are exchanged so that no two threads of eight meet on a bank,
// neither along rows nor along columns.
//
// Contiguous numbers before the first step: element i = row·N2 + column. The exchange is linear, so that the place of a sum
// without carries is the exclusive or of both places.
template <class S> DEVICE constexpr int place_number(int i) {
    constexpr int SHIFT = S::N2 == 32 ? 5 : 4;
    return 16 * (i ^ (((i >> SHIFT) ^ (i >> (SHIFT + 2))) & 3) << 1);
}
// Strided lines: place r of line l of the panel, as the copy engine's patterns of 64 and 128 bytes have it.
template <class S> DEVICE int place_in_row(int r, int line) {
    return 16 * (r * S::PANEL + (line ^ (S::PANEL == 4 ? r >> 1 & 3 : r & 7)));
}

// Words between the steps, as a number of places: row k1, column j2.
template <class S> DEVICE int place_words(int k1, int j2) {
    return k1 * S::N2 + (j2 ^ ((((k1 >> 1) & 3) << 1) ^ ((k1 & 1) << 2)));
}

// Begins to copy a warpgroup's contiguous lines to shared memory.
template <class S> DEVICE void fetch_contiguous(const TunedArguments &args, unsigned panel, int round) {
    const Panel<S, false> lines(args, panel);
    const Lane lane;
    const int thread = lane.in_group();
#pragma unroll
    for (int l = 0; l < S::LINES; l++) {
        const int line = lane.group * S::LINES + l;
        const bool present = lines.has(args, line);
        const uint4 *from = args.input + lines.start(args.from, present ? line : 0) + thread;
        const uint32_t to = buffer_memory<S>() + round * S::BUFFER + 16 * S::N * line;
#pragma unroll
        for (int r = 0; r < S::N / 128; r++) {
            // An exchange of columns, and so many bytes on.
            constexpr int PLACES = 128 * 16;
            const int exchange = place_number<S>(r * 128) - r * PLACES;
            copy_async(to + (place_number<S>(thread) ^ exchange) + r * PLACES, from + r * 128, present);
        }
    }
    copy_commit();
}

// Begins to load a panel of strided lines. One thread calls it.
template <class S> DEVICE void load_strided(const StridedArguments &args, unsigned round) {
    const Panel<S, true> lines(args.common, blockIdx.x + round * gridDim.x);
    const uint32_t barrier = barrier_memory<S>() + 8 * (round & 1);
    transfer_expect(barrier, S::BUFFER);
    tensor_load(buffer_memory<S>() + (round & 1) * S::BUFFER, &args.from_map, (int)(2 * lines.first), (int)lines.group, barrier);
}

// Begins to store one.
template <class S> DEVICE void store_panel(const StridedArguments &args, const Panel<S, true> &lines, unsigned round) {
    tensor_store(&args.to_map, (int)(2 * lines.first), (int)lines.group, buffer_memory<S>() + (round & 1) * S::BUFFER);
}

// Transforms the lines of a warpgroup, whose numbers are in the round's buffer; calls `between` between the steps. What is
// cheaply worked out is worked out wherever it is needed: registers are full.
template <class S, bool STRIDED, bool CONVERSIONS, class Between>
DEVICE void transform(const TunedArguments &args, unsigned round, const Between &between) {
    typedef typename S::Product Product;
    constexpr int N1 = S::N1, N2 = S::N2, N = S::N;
    constexpr int STEPS1 = S::SLOTS1 / 8, STEPS2 = S::SLOTS2 / 8;
    const uint32_t cosine1 = tables_memory<S>(), sine1 = cosine1 + S::MATRIX1, cosine2 = sine1 + S::MATRIX1, sine2 = cosine2 + S::MATRIX2;
    const uint32_t constants1 = sine2 + S::MATRIX2, constants2 = constants1 + S::CONSTANTS1;
    const uint32_t rotations = constants2 + S::CONSTANTS2;
    const auto in_panel = [=](const Lane &lane, int line) { return lane.group * S::LINES + line; };
    // Place number r of a line, 16 bytes each; r ± 8 lies 8 · PLACE bytes on.
    constexpr int PLACE = STRIDED ? 16 * S::PANEL : 16;
    const auto at = [=](const Lane &lane, int line, int r) {
        const uint32_t buffer = buffer_memory<S>() + (round & 1) * S::BUFFER;
        return STRIDED ? buffer + place_in_row<S>(r, in_panel(lane, line)) : buffer + 16 * (in_panel(lane, line) * N + r);
    };
    const auto facts = [=](const Lane &lane, int line) -> unsigned & { return facts_memory<S>()[(round & 1) * S::PANEL + in_panel(lane, line)]; };
    const auto together = [](const Lane &lane) { named_barrier(1 + lane.group, 128); };
    const Factors factors = factors_of<Product>(args);
    // Where products begin only when the sums of the last ones have been used: few places of some kernels, which spill nothing
    // then.
    constexpr bool CONTIGUOUS = Product::TAKES_TURNS && !STRIDED && N1 == 32;
    constexpr bool LATER1 = CONTIGUOUS && (!CONVERSIONS || N2 == 16), LATER2 = CONTIGUOUS && CONVERSIONS && N2 == 32;

    // Step 1: column 8·warp + g of each tile; the slots t, t+4, … of it.
    const Lane lane1;
    unsigned *statistics = statistics_memory<S>() + lane1.group * (S::STATISTICS / 4);
    const int column1 = 8 * lane1.warp + lane1.g, line1 = column1 / N2, j = column1 % N2;
    const bool mirrored1 = 2 * j > N2;
    const int row = mirrored1 ? N1 - 1 - lane1.t : lane1.t;
    // Strided: [rest of the row][column][two lowest bits of the row].
    const auto strided_row = [](int row, int column) { return (row & 3) + 4 * column + 4 * N2 * (row >> 2); };
    const uint32_t raw = at(lane1, line1, 0);
    const uint32_t raw_first = STRIDED ? at(lane1, line1, strided_row(row, j)) : place_number<S>(row * N2 + j);
    const uint32_t raw_last = STRIDED ? at(lane1, line1, strided_row(N1 - 1 - row, j)) : place_number<S>((N1 - 1 - row) * N2 + j);
    const int raw_step = mirrored1 ? -4 * N2 * PLACE : 4 * N2 * PLACE;
    static_assert(S::TILES1 == 1, "a unit's columns make up one tile");
    const unsigned flip1 = args.conjugate_input ^ (mirrored1 ? 0x80000000u : 0u);
    typename NumbersOf<CONVERSIONS, N1 / 4>::Type numbers;
#pragma unroll
    for (int i = 0; i < N1 / 4; i++) {
        const int q = i / 2;
        const uint32_t offset = place_number<S>(4 * q * N2);
        const uint32_t at_first = STRIDED ? raw_first + q * raw_step : raw + (raw_first ^ offset);
        const uint32_t at_last = STRIDED ? raw_last - q * raw_step : raw + (raw_last ^ offset);
        uint4 number = load_shared(i % 2 == 0 ? at_first : at_last);
        number.w ^= flip1;
        numbers.put(i, number);
    }
    unsigned largest_re, largest_im;
    largest_of_warp(numbers, largest_re, largest_im);
    if (lane1.first()) {
        statistics[2 * lane1.warp] = largest_re;
        statistics[2 * lane1.warp + 1] = largest_im;
    }
    together(lane1);
    static_assert(N2 <= 32, "a line's columns lie within one tile");
    constexpr int WARPS_A_LINE = N2 / 8 < 4 ? N2 / 8 : 4;
    const int first_warp = lane1.warp / WARPS_A_LINE * WARPS_A_LINE;
    largest_re = largest_im = 0;
#pragma unroll
    for (int other = 0; other < WARPS_A_LINE; other++) {
        largest_re = max(largest_re, statistics[2 * (first_warp + other)]);
        largest_im = max(largest_im, statistics[2 * (first_warp + other) + 1]);
    }
    const int field = (int)(max(largest_re, largest_im) >> 20);
    unsigned sum = numbers.leading_bits(field);
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    // One for every magnitude rounds it up.
    sum = warp_maximum(sum) + 2 * N1;
    if (lane1.first()) statistics[16 + lane1.warp] = sum;
    together(lane1);
#pragma unroll
    for (int other = 0; other < WARPS_A_LINE; other++) sum = max(sum, statistics[16 + first_warp + other]);
    // Zeros have no leading bit to be shifted out.
    const bool zero = (largest_re | largest_im) == 0;
    const int exponent = zero ? 0 : field - 1043 + (32 - __clz(sum)) - 61;
    // What the second step needs to know of every line. Lines of zeros stay zeros whatever their exponent.
    if (lane1.first()) {
        const bool moderate = (field >= LEAST_FIELD && field <= LARGEST_FIELD) || zero;
        const unsigned known = (unsigned)moderate << 24 | (unsigned)(largest_re != 0) << 25 | (unsigned)(largest_im != 0) << 26;
        facts(lane1, 8 * lane1.warp / N2) = ((unsigned)exponent & 0xffffffu) | known;
    }

    {
        Words<STEPS1> cosine_words, sine_words;
        const typename decltype(numbers)::Words words(exponent);
#pragma unroll
        for (int q = 0; q < N1 / 8; q++) {
            const i64 ar = numbers.real_word(2 * q, words), ai = numbers.imaginary_word(2 * q, words);
            const i64 br = numbers.real_word(2 * q + 1, words), bi = numbers.imaginary_word(2 * q + 1, words);
            const int s = q >> 1, e = 2 * (q & 1);
            digits(ar + br, cosine_words.low[s][e], cosine_words.high[s][e]);
            digits(ai + bi, cosine_words.low[s][e + 1], cosine_words.high[s][e + 1]);
            digits(ar - br, sine_words.low[s][e], sine_words.high[s][e]);
            digits(ai - bi, sine_words.low[s][e + 1], sine_words.high[s][e + 1]);
        }
        const Lane lane;
        const int t = lane.t, column = 8 * lane.warp + lane.g, line = column / N2, j = column % N2;
        const uint32_t word_even = at(lane, line, place_words<S>(2 * t, j)), word_odd = at(lane, line, place_words<S>(2 * t + 1, j));
        const uint32_t partner_even = at(lane, line, place_words<S>(N1 - 2 * t, j));
        const uint32_t partner_odd = at(lane, line, place_words<S>(N1 - 2 * t - 1, j));
        const uint32_t angles = rotations + 16 * (2 * t * (N2 / 2 + 1) + (2 * j > N2 ? N2 - j : j));
        constexpr int K_TILES = S::SLOTS1 / 8;
        typename Product::Sums sums;
        i64 cosines[Product::TAKES_TURNS ? 1 : K_TILES][4];
        const auto constants_of = [=](int o) { return constants1 + 16 * (8 * o + 2 * t); };
        typename Product::template Operand<STEPS1> cosine_digits(cosine_words);
        const auto sum_up_cosines = [&](int o) {
            Product::template multiply<true>(sums, cosine_digits, wgmma_matrix(cosine1 + o * S::PART1), factors, 4 * o);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) cosines[Product::TAKES_TURNS ? 0 : o][e] = Product::template rounded<true>(sums, e, factors);
        };
        if (!Product::TAKES_TURNS) {
#pragma unroll
            for (int o = 0; o < K_TILES; o++) sum_up_cosines(o);
        }
        typename Product::template Operand<STEPS1> sine_digits(sine_words);
#pragma unroll
        for (int o = 0; o < K_TILES; o++) {
            if (Product::TAKES_TURNS) sum_up_cosines(o);
            const i64(&cosine)[4] = cosines[Product::TAKES_TURNS ? 0 : o];
            i64 sine[4];
            const uint32_t constants = constants_of(o);
            if ((LATER1 && o == 0) || (LATER2 && o == 1)) scheduling_barrier(factors.first, 201);
            Product::template multiply<true>(sums, sine_digits, wgmma_matrix(sine1 + o * S::PART1), factors, 4 * o + 1);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) sine[e] = Product::template rounded<true>(sums, e, factors);
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
                store_shared((e == 0 ? word_even : word_odd) + o * 8 * N2 * PLACE, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
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
                store_shared((e == 1 ? partner_odd : alone ? partner_even - N / 2 * PLACE : partner_even) - o * 8 * N2 * PLACE,
                             make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
            }
        }
    }
    together(Lane());

    between();

    // Step 2: column = 8·warp + g of each tile is a row k1 of a line.
#pragma unroll 1
    for (int tile = 0; tile < S::TILES2; tile++) {
        const Lane lane;
        const int t = lane.t, column2 = 8 * lane.warp + lane.g, k1 = column2 % N1;
        const int line = column2 / N1 + tile * (32 / N1);
        const uint32_t near_even = at(lane, line, place_words<S>(k1, t)), near_odd = at(lane, line, place_words<S>(k1, t + 4));
        const uint32_t far_even = at(lane, line, place_words<S>(k1, N2 - t)), far_odd = at(lane, line, place_words<S>(k1, N2 - t - 4));
        Words<STEPS2> cosine_words, sine_words;
#pragma unroll
        for (int q = 0; q < N2 / 8; q++) {
            const int s = q >> 1, e = 2 * (q & 1);
            const uint4 a = load_shared((q & 1 ? near_odd : near_even) + 8 * s * PLACE);
            const uint4 b = load_shared((q & 1 ? far_odd : q == 0 && t == 0 ? far_even - N2 / 2 * PLACE : far_even) - 8 * s * PLACE);
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
        const unsigned known = facts(lane, line);
        const int exponent2 = ((int)(known << 8) >> 8) + common_exponent<S>();
        const int power = (exponent2 + 1023 + 63 - 1) << 20;
        const double scale = CONVERSIONS ? __hiloint2double((1023 + exponent2) << 20, 0) : 0.0;
        const bool mirrored2 = 2 * k1 > N1;
        const unsigned flip2 = args.conjugate_output ^ (mirrored2 ? 0x80000000u : 0u);
        // A line of real or of imaginary numbers: some outputs have a part that is known to be zero.
        const bool zeros = (known >> 25 & 3) != 3 && k1 == 0;
        // Strided results go where the words were, once all threads have read those; others to their place at once.
        uint32_t near_place = 0, far_place = 0;
        uint4 *near_number = nullptr, *far_number = nullptr;
        int step = STRIDED ? PLACE : N1;
        bool there = false;
        if (STRIDED) {
            near_place = at(lane, line, 2 * t + N2 * k1);
            far_place = at(lane, line, N2 - 1 - 2 * t + N2 * k1);
            together(lane);
        } else {
            const Panel<S, false> lines(args, blockIdx.x + round * gridDim.x);
            there = lines.has(args, in_panel(lane, line)) && (known >> 24 & 1);
            near_number = args.output + lines.start(args.to, in_panel(lane, line)) + k1 + N1 * 2 * t;
            far_number = near_number + N1 * (N2 - 1 - 4 * t);
        }
        if (mirrored2) {
            const uint32_t place = near_place;
            near_place = far_place;
            far_place = place;
            uint4 *const number = near_number;
            near_number = far_number;
            far_number = number;
            step = -step;
        }
        constexpr int K_TILES = S::SLOTS2 / 8;
        typename Product::Sums sums;
        i64 cosines[Product::TAKES_TURNS ? 1 : K_TILES][4];
        int tops[Product::TAKES_TURNS ? 1 : K_TILES][4];
        const auto constants_of = [=](int o) { return constants2 + 16 * (8 * o + 2 * t); };
        typename Product::template Operand<STEPS2> cosine_digits(cosine_words);
        const auto sum_up_cosines = [&](int o) {
            if (LATER2 && o == 1) scheduling_barrier(factors.first, 200);
            Product::template multiply<false>(sums, cosine_digits, wgmma_matrix(cosine2 + o * S::PART2), factors, 4 * o + 2);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 4; e++) {
                cosines[Product::TAKES_TURNS ? 0 : o][e] = Product::template rounded<false>(sums, e, factors);
                tops[Product::TAKES_TURNS ? 0 : o][e] = Product::top(sums, e);
            }
        };
        if (!Product::TAKES_TURNS) {
#pragma unroll
            for (int o = 0; o < K_TILES; o++) sum_up_cosines(o);
        }
        typename Product::template Operand<STEPS2> sine_digits(sine_words);
#pragma unroll
        for (int o = 0; o < K_TILES; o++) {
            if (Product::TAKES_TURNS) sum_up_cosines(o);
            const i64(&cosine)[4] = cosines[Product::TAKES_TURNS ? 0 : o];
            const int(&top)[4] = tops[Product::TAKES_TURNS ? 0 : o];
            const uint32_t constants = constants_of(o);
            const uint4 biased_tops = load_shared(constants2 + 16 * S::SLOTS2 + 16 * (4 * o + t));
            Product::template multiply<false>(sums, sine_digits, wgmma_matrix(sine2 + o * S::PART2), factors, 4 * o + 3);
            sums.wait();
#pragma unroll
            for (int e = 0; e < 2; e++) {
                // Outputs k = 8o + 2t + e and N2 - 1 - k, exchanged in mirrored rows.
                const uint4 biased = load_shared(constants + 16 * e);
                const i64 sum = join(biased.x, biased.y), difference = join(biased.z, biased.w);
                const int top_sum = (int)(e == 0 ? biased_tops.x : biased_tops.z), top_difference = (int)(e == 0 ? biased_tops.y : biased_tops.w);
                const i64 cr = cosine[e], ci = cosine[2 + e];
                const i64 sr = Product::template rounded<false>(sums, e, factors);
                const i64 si = Product::template rounded<false>(sums, 2 + e, factors);
                const int tsr = Product::top(sums, e), tsi = Product::top(sums, 2 + e);
                // One number after the other: registers are full.
#pragma unroll
                for (int far = 0; far < 2; far++) {
                    const i64 re = far ? cr - si - difference : cr + si - sum, im = far ? ci + sr - sum : ci - sr - difference;
                    const int top_re = far ? top[e] - tsi - top_difference : top[e] + tsi - top_sum;
                    const int top_im = far ? top[2 + e] + tsr - top_sum : top[2 + e] - tsr - top_difference;
                    uint4 value = finished<CONVERSIONS>(re, top_re, im, top_im, power, scale, flip2);
                    if (zeros) {
                        // Row 0 is not mirrored: outputs 0 and N2/2 of it are 0 and N/2 of the line.
                        const int k = far ? N2 - 1 - (8 * o + 2 * t + e) : 8 * o + 2 * t + e;
                        const unsigned keep_re = known >> 25 & 1 ? ~0u : 0u, keep_im = known >> 26 & 1 ? ~0u : 0u;
                        if (k == 0 || k == N2 / 2) value = make_uint4(value.x & keep_re, value.y & keep_re, value.z & keep_im, value.w & keep_im);
                    }
                    if (STRIDED) {
                        // An odd place is exchanged otherwise than the even one beside it where rows have 128 bytes.
                        const uint32_t place = (far ? far_place : near_place) ^ (e == 1 && S::PANEL == 8 ? 16 : 0);
                        store_shared(place + (far ? -(8 * o + e) : 8 * o + e) * step, value);
                    } else if (there) {
                        if (far)
                            far_number[-(8 * o + e) * step] = value;
                        else
                            near_number[(8 * o + e) * step] = value;
                    }
                }
            }
        }
    }
    // Contiguous lines that are left to a portable kernel.
    const Lane lane;
    if (!STRIDED && lane.in_group() < S::LINES) {
        const int line = in_panel(lane, lane.in_group());
        const Panel<S, false> lines(args, blockIdx.x + round * gridDim.x);
        if (lines.has(args, line) && !(facts(lane, lane.in_group()) >> 24 & 1)) args.left[atomic_add(args.left_count, 1u)] = lines.number(args, line);
    }
}

}  // namespace tuned

#define TUNED_KERNEL(NAME, ARGUMENTS, RUN, PRODUCT, N1, N2, CONVERSIONS)     \
    KERNEL(tuned::THREADS, 1) NAME(PARAMETERS ARGUMENTS a) {                  \
        tuned::RUN<tuned::Shape<tuned::PRODUCT, N1, N2>, CONVERSIONS>(a);     \
    }
#define TUNED_KERNELS(NAME, PRODUCT, N1, N2)                                                               \
    TUNED_KERNEL(NAME##_##N1##x##N2, TunedArguments, run_contiguous, PRODUCT, N1, N2, false)               \
    TUNED_KERNEL(NAME##_##N1##x##N2##_strided, StridedArguments, run_strided, PRODUCT, N1, N2, false)      \
    TUNED_KERNEL(NAME##_##N1##x##N2##_conversions, TunedArguments, run_contiguous, PRODUCT, N1, N2, true)  \
    TUNED_KERNEL(NAME##_##N1##x##N2##_strided_conversions, StridedArguments, run_strided, PRODUCT, N1, N2, true)

TUNED_KERNELS(tuned, Int8, 32, 32)
TUNED_KERNELS(tuned, Int8, 16, 16)
TUNED_KERNELS(tuned, Int8, 32, 16)
TUNED_KERNELS(tuned_fp8, Fp8, 32, 32)
TUNED_KERNELS(tuned_fp8, Fp8, 16, 16)
TUNED_KERNELS(tuned_fp8, Fp8, 32, 16)

// `tuned_shared_bytes` of the crate.
static_assert(tuned::Shape<tuned::Int8, 32, 32>::SHARED == 186976 && tuned::Shape<tuned::Int8, 16, 16>::SHARED == 80512 &&
                  tuned::Shape<tuned::Int8, 32, 16>::SHARED == 165504 && tuned::Shape<tuned::Fp8, 32, 32>::SHARED == 219744 &&
                  tuned::Shape<tuned::Fp8, 16, 16>::SHARED == 94848 && tuned::Shape<tuned::Fp8, 32, 16>::SHARED == 189056,
              "the host asks for the same");
