// target: sm_90a
// tuned
// early
// expect: tuned_16x8 10 ^IGMMA
// expect: tuned_16x8_strided 10 ^IGMMA
// expect: tuned_16x8_conversions 10 ^IGMMA
// expect: tuned_16x8_strided_conversions 10 ^IGMMA
// expect: tuned_16x12 12 ^IGMMA
// expect: tuned_16x12_strided 12 ^IGMMA
// expect: tuned_16x12_conversions 12 ^IGMMA
// expect: tuned_16x12_strided_conversions 12 ^IGMMA
// expect: tuned_20x16 26 ^IGMMA
// expect: tuned_20x16_strided 26 ^IGMMA
// expect: tuned_20x16_conversions 26 ^IGMMA
// expect: tuned_20x16_strided_conversions 26 ^IGMMA
// expect: tuned_24x16 26 ^IGMMA
// expect: tuned_24x16_strided 26 ^IGMMA
// expect: tuned_24x16_conversions 26 ^IGMMA
// expect: tuned_24x16_strided_conversions 26 ^IGMMA
// expect: tuned_24x20 40 ^IGMMA
// expect: tuned_24x20_strided 40 ^IGMMA
// expect: tuned_24x20_conversions 40 ^IGMMA
// expect: tuned_24x20_strided_conversions 40 ^IGMMA
// expect: tuned_32x20 44 ^IGMMA
// expect: tuned_32x20_strided 44 ^IGMMA
// expect: tuned_32x20_conversions 44 ^IGMMA
// expect: tuned_32x20_strided_conversions 44 ^IGMMA
// expect: tuned_32x24 44 ^IGMMA
// expect: tuned_32x24_strided 44 ^IGMMA
// expect: tuned_32x24_conversions 44 ^IGMMA
// expect: tuned_32x24_strided_conversions 44 ^IGMMA
// expect: tuned_32x25 48 ^IGMMA
// expect: tuned_32x25_strided 48 ^IGMMA
// expect: tuned_32x25_conversions 48 ^IGMMA
// expect: tuned_32x25_strided_conversions 48 ^IGMMA
// expect: tuned_32x30 48 ^IGMMA
// expect: tuned_32x30_strided 48 ^IGMMA
// expect: tuned_32x30_conversions 48 ^IGMMA
// expect: tuned_32x30_strided_conversions 48 ^IGMMA
// expect: tuned_40x25 72 ^IGMMA
// expect: tuned_40x25_strided 72 ^IGMMA
// expect: tuned_40x25_conversions 72 ^IGMMA
// expect: tuned_40x25_strided_conversions 72 ^IGMMA
// Lines of two steps that need not be powers of two: the first time-shifted, of an even size, the last frequency-shifted or,
// of an odd size, plain. As tuned_block.cu, but for what follows.
//
// A step whose slots, or outputs, are no multiple of eight is padded: slots beyond the last meet zeros of the matrix, outputs
// beyond the last are left out. Outputs are in such an order that a thread's pair number 2o + e has outputs 8o + 4e + t: where
// four or fewer are left, their threads have one more output each, and not half of the threads two. A plain step's output 0,
// which has no partner, comes last.
//
// A warp takes eight columns of one line, or none: then it multiplies all the same, because products are the warpgroup's,
// and leaves out all else. Which warps these are depends on the warpgroup, so that every scheduler has as much to do.
//
// Rows lie PITCH places apart, 2 or 6 more than a multiple of eight: threads of four neighbouring rows and two neighbouring
// columns, or of two rows at a distance of two and four columns, never meet on a bank. Numbers, words and results lie alike.
#include "hopper/tuned_lines.cuh"

namespace tuned {

// The digits of a step's words, and what multiplies them: a word's upper and lower half in products of their own, eight
// slots each; but of the last slots, if they are four or fewer, both halves share one.
template <int SLOTS> struct Digits {
    static constexpr int K_TILES = SLOTS / 8 + (SLOTS % 8 > 4), FOURS = SLOTS % 8 > 0 && SLOTS % 8 <= 4 ? 1 : 0;
    // Diagonals 0 to 3 with upper halves, and with both; 4 to 7 with upper halves, with lower halves, and with both.
    static constexpr int PART = (3 * K_TILES + 2 * FOURS) * 1024;  // bytes of the matrix of 8 outputs
    unsigned low[K_TILES > 0 ? K_TILES : 1][4], high[K_TILES > 0 ? K_TILES : 1][4], both[4];

    // Word number q of this thread, that of slot 4q + t.
    DEVICE void put(int q, i64 re, i64 im) {
        const int s = q / 2, e = 2 * (q % 2);
        if (s < K_TILES) {
            digits(re, low[s][e], high[s][e]);
            digits(im, low[s][e + 1], high[s][e + 1]);
        } else {
            digits(re, both[2], both[0]);
            digits(im, both[3], both[1]);
        }
    }

    DEVICE void multiply(Int8::Sums &sums, uint64_t matrix) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int s = 0; s < K_TILES; s++) compiler_fence(low[s][i], high[s][i]);
            if (FOURS && i % 2 == 0) compiler_fence(both[i], both[i + 1]);
        }
        wgmma_fence();
        if (K_TILES > 0) {
            wgmma_u8_n32_first(sums.upper, high[0], matrix);
#pragma unroll
            for (int s = 1; s < K_TILES; s++) wgmma_u8_n32_more(sums.upper, high[s], matrix + 64 * s);
            if (FOURS) wgmma_u8_n32_more(sums.upper, both, matrix + 64 * K_TILES);
            matrix += 64 * (K_TILES + FOURS);
            wgmma_u8_n32_first(sums.lower, high[0], matrix);
#pragma unroll
            for (int s = 1; s < K_TILES; s++) wgmma_u8_n32_more(sums.lower, high[s], matrix + 64 * s);
#pragma unroll
            for (int s = 0; s < K_TILES; s++) wgmma_u8_n32_more(sums.lower, low[s], matrix + 64 * (K_TILES + s));
            if (FOURS) wgmma_u8_n32_more(sums.lower, both, matrix + 64 * 2 * K_TILES);
        } else {
            wgmma_u8_n32_first(sums.upper, both, matrix);
            wgmma_u8_n32_first(sums.lower, both, matrix + 64);
        }
        wgmma_commit();
    }
};

template <int N1_, int N2_> struct MixedShape {
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2;
    static_assert(N1 % 2 == 0 && N1 <= 40 && N2 <= 32, "sums fit 32 bits, columns one tile");
    static constexpr bool PLAIN = N2 % 2 == 1;
    static constexpr int SLOTS1 = N1 / 2, SLOTS2 = (N2 + 1) / 2;      // and outputs of a product
    static constexpr int PAIRS2 = N2 / 2;                             // outputs that have a partner
    static constexpr int STEPS1 = (SLOTS1 + 7) / 8, STEPS2 = (SLOTS2 + 7) / 8;  // tiles of eight outputs
    static constexpr int GROUPS1 = (N2 + 7) / 8, GROUPS2 = (N1 + 7) / 8;  // tiles of eight columns, and of rows, of a line
    static constexpr int LINES = 4 / GROUPS1;                             // of a warpgroup
    static constexpr int UNITS1 = LINES * GROUPS1, UNITS2 = LINES * GROUPS2, TILES2 = (UNITS2 + 3) / 4;
    // Whether there are registers for the sums of one product at a time only.
    static constexpr bool BARRIER1 = STEPS1 > 1, BARRIER2 = STEPS2 > 1 && UNITS2 % 4 == 0;
    static constexpr int PART1 = Digits<SLOTS1>::PART, PART2 = Digits<SLOTS2>::PART;
    static constexpr int MATRIX1 = STEPS1 * PART1, MATRIX2 = STEPS2 * PART2;
    static constexpr int CONSTANTS1 = 128 * STEPS1 + 128, CONSTANTS2 = 192 * STEPS2;
    static constexpr int ANGLES = N2 / 2 + 1;  // of an output of the first step
    static constexpr int TABLES = 2 * MATRIX1 + 2 * MATRIX2 + CONSTANTS1 + CONSTANTS2 + 16 * (N1 / 2 + 1) * ANGLES;
    static constexpr int PITCH = N2 + (6 - N2 % 4) % 4;
    static_assert(PITCH >= N2 && PITCH % 4 == 2, "see above");
    static constexpr int PANEL = WARPGROUPS * LINES;
    // Strided lines come and go in boxes of rows of 64 or 128 bytes.
    static constexpr int BOX_LINES = PANEL < 8 ? PANEL : 8, BOXES = PANEL / BOX_LINES;
    static constexpr int LINE = 16 * N1 * PITCH, BOX = (BOX_LINES * LINE + 1023) / 1024 * 1024, BUFFER = BOXES * BOX;
    static_assert(BOX_LINES == 4 || BOX_LINES == 8, "patterns of the copy engine");
    static constexpr int STATISTICS = 128;
    static constexpr int BEGINNING = (TABLES + 1023) / 1024 * 1024;
    static constexpr int SHARED = BEGINNING + 2 * BUFFER + WARPGROUPS * STATISTICS + 8 * PANEL + 64;
    static_assert(SHARED <= 227 * 1024, "what a block can have");
};

template <class S> DEVICE void fetch_contiguous(const TunedArguments &args, unsigned panel, int round) {
    const Panel<S, false> lines(args, panel);
    const Lane lane;
    const int thread = lane.in_group();
#pragma unroll
    for (int l = 0; l < S::LINES; l++) {
        const int line = lane.group * S::LINES + l;
        const bool present = lines.has(args, line);
        const uint4 *from = args.input + lines.start(args.from, present ? line : 0) + thread;
        const uint32_t to = buffer_memory<S>() + round * S::BUFFER + S::LINE * line;
#pragma unroll
        for (int r = 0; r < (S::N + 127) / 128; r++) {
            const unsigned i = thread + 128 * r;
            if (128 * r + 128 <= S::N || i < S::N) copy_async(to + 16 * (i + i / S::N2 * (S::PITCH - S::N2)), from + 128 * r, present);
        }
    }
    copy_commit();
}

template <class S> DEVICE void load_strided(const StridedArguments &args, unsigned round) {
    const Panel<S, true> lines(args.common, blockIdx.x + round * gridDim.x);
    const uint32_t barrier = barrier_memory<S>() + 8 * (round & 1);
    transfer_expect(barrier, S::PANEL * S::LINE);
    for (int box = 0; box < S::BOXES; box++)
        tensor_load_rows(buffer_memory<S>() + (round & 1) * S::BUFFER + box * S::BOX, &args.from_map, (int)(2 * lines.first) + 2 * S::BOX_LINES * box,
                         (int)lines.group, barrier);
}

template <class S> DEVICE void store_panel(const StridedArguments &args, const Panel<S, true> &lines, unsigned round) {
    for (int box = 0; box < S::BOXES; box++)
        tensor_store(&args.to_map, (int)(2 * lines.first) + 2 * S::BOX_LINES * box, (int)lines.group,
                     buffer_memory<S>() + (round & 1) * S::BUFFER + box * S::BOX);
}

// A warp's eight columns of the first step, or rows of the second.
struct Eight {
    int line, first;
    bool active;
    DEVICE Eight(const Lane &lane, int tile, int units, int a_line) {
        const int unit = 4 * tile + ((lane.warp - lane.group) & 3);
        active = 4 * tile + 4 <= units || unit < units;
        line = active ? unit / a_line : 0;
        first = 8 * (active ? unit % a_line : 0);
    }
};

// What is cheaply worked out is worked out wherever it is needed: registers are full.
template <class S, bool STRIDED, bool CONVERSIONS, class Between>
DEVICE void transform(const TunedArguments &args, unsigned round, const Between &between) {
    constexpr int N1 = S::N1, N2 = S::N2, PITCH = S::PITCH;
    constexpr int STEPS1 = S::STEPS1, STEPS2 = S::STEPS2;
    const uint32_t cosine1 = tables_memory<S>(), sine1 = cosine1 + S::MATRIX1, cosine2 = sine1 + S::MATRIX1, sine2 = cosine2 + S::MATRIX2;
    const uint32_t constants1 = sine2 + S::MATRIX2, constants2 = constants1 + S::CONSTANTS1;
    const uint32_t rotations = constants2 + S::CONSTANTS2;
    const auto in_panel = [=](const Lane &lane, int line) { return lane.group * S::LINES + line; };
    // Place number r of a line, 16 bytes each; r ± 8 lies 8 · PLACE bytes on. Strided lines lie as the copy engine's patterns
    // of 64 and 128 bytes have it: r ± 4 lies 4 · PLACE bytes on after an exchange.
    constexpr int PLACE = STRIDED ? 16 * S::BOX_LINES : 16, EXCHANGE = !STRIDED ? 0 : S::BOX_LINES == 4 ? 32 : 64;
    const auto at = [=](const Lane &lane, int line, int r) {
        const uint32_t buffer = buffer_memory<S>() + (round & 1) * S::BUFFER;
        const int number = in_panel(lane, line);
        if (!STRIDED) return buffer + number * S::LINE + 16 * r;
        return buffer + number / S::BOX_LINES * S::BOX + r * PLACE + 16 * (number % S::BOX_LINES ^ (S::BOX_LINES == 4 ? r >> 1 & 3 : r & 7));
    };
    const auto facts = [=](const Lane &lane, int line) -> unsigned & { return facts_memory<S>()[(round & 1) * S::PANEL + in_panel(lane, line)]; };
    const auto together = [](const Lane &lane) { named_barrier(1 + lane.group, 128); };
    const Factors factors = factors_of<Int8>(args);

    // Step 1: the slots t, t+4, … of a column. Threads beyond the last column do as that one's.
    const Lane lane1;
    const Eight columns1(lane1, 0, S::UNITS1, S::GROUPS1);
    const auto column_of = [](const Eight &columns, const Lane &lane) { return N2 % 8 == 0 || columns.first + lane.g < N2 ? columns.first + lane.g : N2 - 1; };
    unsigned *statistics = statistics_memory<S>() + lane1.group * (S::STATISTICS / 4);
    const int unit1 = columns1.line * S::GROUPS1 + columns1.first / 8, first_unit = columns1.line * S::GROUPS1;
    constexpr int QUADS = (S::SLOTS1 + 3) / 4, POINTS = 2 * QUADS;
    typename NumbersOf<CONVERSIONS, POINTS>::Type numbers;
    unsigned largest_re = 0, largest_im = 0;
    if (columns1.active) {
        const int j = column_of(columns1, lane1);
        const bool mirrored = 2 * j > N2;
        const int row = mirrored ? N1 - 1 - lane1.t : lane1.t;
        const uint32_t at_first = at(lane1, columns1.line, row * PITCH + j), at_last = at(lane1, columns1.line, (N1 - 1 - row) * PITCH + j);
        const int step = mirrored ? -4 * PITCH * PLACE : 4 * PITCH * PLACE;
        const unsigned flip = args.conjugate_input ^ (mirrored ? 0x80000000u : 0u);
#pragma unroll
        for (int i = 0; i < POINTS; i++) {
            const int q = i / 2;
            uint4 number = load_shared(i % 2 == 0 ? at_first + q * step : at_last - q * step);
            number.w ^= flip;
            // Beyond the last slot.
            if (4 * q + 4 > S::SLOTS1 && 4 * q + lane1.t >= S::SLOTS1) number = make_uint4(0, 0, 0, 0);
            numbers.put(i, number);
        }
        largest_of_warp(numbers, largest_re, largest_im);
        if (lane1.first()) {
            statistics[2 * unit1] = largest_re;
            statistics[2 * unit1 + 1] = largest_im;
        }
    } else {
        // What is not set here would be kept in registers from the last round on.
#pragma unroll
        for (int i = 0; i < POINTS; i++) numbers.put(i, make_uint4(0, 0, 0, 0));
    }
    together(lane1);
    int field = 0;
    if (columns1.active) {
        largest_re = largest_im = 0;
#pragma unroll
        for (int other = 0; other < S::GROUPS1; other++) {
            largest_re = max(largest_re, statistics[2 * (first_unit + other)]);
            largest_im = max(largest_im, statistics[2 * (first_unit + other) + 1]);
        }
        field = (int)(max(largest_re, largest_im) >> 20);
        unsigned sum = numbers.leading_bits(field);
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        // One for every magnitude rounds it up.
        sum = warp_maximum(sum) + 2 * N1;
        if (lane1.first()) statistics[16 + unit1] = sum;
    }
    together(lane1);

    {
        Digits<S::SLOTS1> cosine_digits, sine_digits;
        if (columns1.active) {
            unsigned sum = 0;
#pragma unroll
            for (int other = 0; other < S::GROUPS1; other++) sum = max(sum, statistics[16 + first_unit + other]);
            // Zeros have no leading bit to be shifted out.
            const bool zero = (largest_re | largest_im) == 0;
            const int exponent = zero ? 0 : field - 1043 + (32 - __clz(sum)) - 61;
            // What the second step needs to know of every line. Lines of zeros stay zeros whatever their exponent.
            if (lane1.first()) {
                const bool moderate = (field >= LEAST_FIELD && field <= LARGEST_FIELD) || zero;
                const unsigned known = (unsigned)moderate << 24 | (unsigned)(largest_re != 0) << 25 | (unsigned)(largest_im != 0) << 26;
                facts(lane1, columns1.line) = ((unsigned)exponent & 0xffffffu) | known;
            }
            const typename decltype(numbers)::Words words(exponent);
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                const i64 ar = numbers.real_word(2 * q, words), ai = numbers.imaginary_word(2 * q, words);
                const i64 br = numbers.real_word(2 * q + 1, words), bi = numbers.imaginary_word(2 * q + 1, words);
                cosine_digits.put(q, ar + br, ai + bi);
                sine_digits.put(q, ar - br, ai - bi);
            }
        } else {
            cosine_digits = sine_digits = {};
        }
        const Lane lane;
        const Eight columns(lane, 0, S::UNITS1, S::GROUPS1);
        const int t = lane.t, j = column_of(columns, lane);
        const bool there = N2 % 8 == 0 || columns.first + lane.g < N2;
        const uint32_t near_word = at(lane, columns.line, t * PITCH + j), far_word = at(lane, columns.line, (N1 - t) * PITCH + j);
        const uint32_t middle_word = at(lane, columns.line, N1 / 2 * PITCH + j);
        const uint32_t angles = rotations + 16 * (t * S::ANGLES + (2 * j > N2 ? N2 - j : j));
#pragma unroll
        for (int o = 0; o < STEPS1; o++) {
            if (S::BARRIER1 && o > 0) scheduling_barrier(factors.first, 2 * o - 1);
            Int8::Sums sums;
            const uint32_t constants = constants1 + 16 * (8 * o + 2 * t);
            i64 cosine[4] = {}, sine[4];
            cosine_digits.multiply(sums, wgmma_matrix(cosine1 + o * S::PART1));
            sums.wait();
            if (columns.active) {
#pragma unroll
                for (int i = 0; i < 4; i++) cosine[i] = Int8::rounded<true>(sums, i, factors);
            }
            if (S::BARRIER1) scheduling_barrier(factors.first, 2 * o);
            sine_digits.multiply(sums, wgmma_matrix(sine1 + o * S::PART1));
            sums.wait();
            if (columns.active) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const int i = 8 * o + 4 * e;
                    if (i >= S::SLOTS1) continue;
                    sine[e] = Int8::rounded<true>(sums, e, factors);
                    sine[2 + e] = Int8::rounded<true>(sums, 2 + e, factors);
                    // Outputs k = i + t and N1 - k, less what they are biased by. Of the first two, output 0 has cosines
                    // only, output N1/2 sines only.
                    const i64 cr = cosine[e], ci = cosine[2 + e], sr = sine[e], si = sine[2 + e];
                    const bool first = i == 0, alone = first && t == 0;
                    const bool stored = there && (i + 4 <= S::SLOTS1 || i + t < S::SLOTS1);
                    const uint32_t special = constants1 + 128 * STEPS1 + 32 * t;
                    uint4 biased = load_shared(first ? special : constants + 16 * e);
                    uint4 angle = load_shared(angles + 16 * i * S::ANGLES);
                    i64 re = cr + (alone ? 0 : si) - join(biased.x, biased.y), im = ci - (alone ? 0 : sr) - join(biased.z, biased.w);
                    rotate(re, im, angle, factors);
                    if (stored) store_shared(near_word + i * PITCH * PLACE, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                    if (first) {
                        biased = load_shared(special + 16);
                        if (t == 0) angle = load_shared(angles + 16 * (N1 / 2 * S::ANGLES));
                        re = (alone ? si : cr - si) - join(biased.x, biased.y);
                        im = (alone ? 0 : -ci) - sr + join(biased.z, biased.w);
                    } else {
                        re = cr - si - join(biased.z, biased.w);
                        im = join(biased.x, biased.y) - sr - ci;
                    }
                    rotate(re, im, angle, factors);
                    if (stored) store_shared(alone ? middle_word : far_word - i * PITCH * PLACE, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                }
            }
        }
    }
    together(Lane());

    between();

    // Step 2: a column is a row k1 of a line. Neighbouring threads' rows are at a distance of two.
#pragma unroll 1
    for (int tile = 0; tile < S::TILES2; tile++) {
        const Lane lane;
        const Eight rows(lane, tile, S::UNITS2, S::GROUPS2);
        const int t = lane.t, line = rows.line, row = rows.first + ((lane.g & 4) | (lane.g & 1) << 1 | (lane.g >> 1 & 1));
        const int k1 = N1 % 8 == 0 || row < N1 ? row : N1 - 1;
        bool there = N1 % 8 == 0 || row < N1;
        Digits<S::SLOTS2> cosine_digits = {}, sine_digits = {};
        if (rows.active) {
            const uint32_t near = at(lane, line, k1 * PITCH + t), far = at(lane, line, k1 * PITCH + N2 - t);
            const uint32_t middle = at(lane, line, k1 * PITCH + N2 / 2);
#pragma unroll
            for (int q = 0; q < (S::SLOTS2 + 3) / 4; q++) {
                const uint4 a = load_shared((q & 1 ? near ^ EXCHANGE : near) + 4 * q * PLACE);
                const uint4 b = load_shared(q == 0 && t == 0 ? middle : (q & 1 ? far ^ EXCHANGE : far) - 4 * q * PLACE);
                const i64 ar = join(a.x, a.y), ai = join(a.z, a.w), br = join(b.x, b.y), bi = join(b.z, b.w);
                // Columns beyond the middle were left without the sign of their real part, or of their imaginary part
                // before a plain step: both come to the same. A plain step's sines have zeros for slot 0.
                i64 cr = ar + br, ci = ai - bi, sr = ar - br, si = ai + bi;
                if (q == 0 && t == 0) {
                    cr = ar;
                    ci = ai;
                    sr = br;
                    si = bi;
                }
                cosine_digits.put(q, cr, ci);
                sine_digits.put(q, sr, si);
            }
        }
        const unsigned known = facts(lane, line);
        const int exponent2 = ((int)(known << 8) >> 8) + common_exponent<S>();
        const int power = (exponent2 + 1023 + 63 - 1) << 20;
        const double scale = CONVERSIONS ? __hiloint2double((1023 + exponent2) << 20, 0) : 0.0;
        const bool mirrored = 2 * k1 > N1;
        const unsigned flip = args.conjugate_output ^ (mirrored ? 0x80000000u : 0u);
        // A line of real or of imaginary numbers: outputs 0 and N/2 have a part that is known to be zero. They are in row 0 or,
        // the second one where the last step is odd, in the middle row.
        const bool zeros = (known >> 25 & 3) != 3 && (k1 == 0 || (S::PLAIN && 2 * k1 == N1));
        // Output i + t, or i + t + 1 of a plain step, and its partner N2 - 1 - (i + t). Mirrored rows have N2 - 1 - k for k.
        // Strided results go where the row's words were, once its threads have read those; others to their place at once.
        constexpr int BEGIN = S::PLAIN ? 1 : 0;
        const int near_index = mirrored ? N2 - 1 - BEGIN - t : BEGIN + t, far_index = mirrored ? t : N2 - 1 - t;
        uint32_t near_place = 0, far_place = 0;
        uint4 *near_number = nullptr, *far_number = nullptr;
        int step = STRIDED ? PLACE : N1;
        if (STRIDED) {
            near_place = at(lane, line, k1 * PITCH + near_index);
            far_place = at(lane, line, k1 * PITCH + far_index);
            warp_barrier();
        } else {
            const Panel<S, false> lines(args, blockIdx.x + round * gridDim.x);
            there = there && lines.has(args, in_panel(lane, line)) && (known >> 24 & 1);
            uint4 *const first = args.output + lines.start(args.to, in_panel(lane, line)) + k1;
            near_number = first + N1 * near_index;
            far_number = first + N1 * far_index;
        }
        if (mirrored) step = -step;
#pragma unroll
        for (int o = 0; o < STEPS2; o++) {
            Int8::Sums sums;
            const uint32_t constants = constants2 + 16 * (8 * o + 2 * t);
            const uint32_t tops = constants2 + 128 * STEPS2 + 16 * (4 * o + t);
            i64 cosine[4] = {};
            int top[4] = {};
            cosine_digits.multiply(sums, wgmma_matrix(cosine2 + o * S::PART2));
            sums.wait();
            if (rows.active) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    cosine[i] = Int8::rounded<false>(sums, i, factors);
                    top[i] = Int8::top(sums, i);
                }
            }
            if (S::BARRIER2) scheduling_barrier(factors.first, 100 + o);
            sine_digits.multiply(sums, wgmma_matrix(sine2 + o * S::PART2));
            sums.wait();
            if (rows.active) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const int i = 8 * o + 4 * e;
                    if (i >= S::SLOTS2) continue;
                    const uint4 biased = load_shared(constants + 16 * e);
                    const i64 sum = join(biased.x, biased.y), difference = join(biased.z, biased.w);
                    const int top_sum = load_shared_int(tops + 8 * e), top_difference = load_shared_int(tops + 8 * e + 4);
                    const i64 cr = cosine[e], ci = cosine[2 + e];
                    // Output 0 of a plain step has no sines.
                    const bool pairs = i < S::PAIRS2;
                    const i64 sr = pairs ? Int8::rounded<false>(sums, e, factors) : 0;
                    const i64 si = pairs ? Int8::rounded<false>(sums, 2 + e, factors) : 0;
                    const int tsr = pairs ? Int8::top(sums, e) : 0, tsi = pairs ? Int8::top(sums, 2 + e) : 0;
                    const bool alone = S::PLAIN && i <= S::PAIRS2 && i + 4 > S::PAIRS2 && i + t == S::PAIRS2;
                    // One number after the other: registers are full.
#pragma unroll
                    for (int far = 0; far < 2; far++) {
                        if (far && !pairs) continue;
                        const int count = far ? S::PAIRS2 : S::SLOTS2;
                        const bool stored = there && (i + 4 <= count || i + t < count);
                        const i64 re = far ? cr - si - difference : cr + si - sum, im = far ? ci + sr - sum : ci - sr - difference;
                        const int top_re = far ? top[e] - tsi - top_difference : top[e] + tsi - top_sum;
                        const int top_im = far ? top[2 + e] + tsr - top_sum : top[2 + e] - tsr - top_difference;
                        uint4 value = finished<CONVERSIONS>(re, top_re, im, top_im, power, scale, flip);
                        if (zeros) {
                            const int k = far ? N2 - 1 - (i + t) : alone ? 0 : BEGIN + i + t;
                            const unsigned keep_re = known >> 25 & 1 ? ~0u : 0u, keep_im = known >> 26 & 1 ? ~0u : 0u;
                            if (S::PLAIN ? k == (k1 == 0 ? 0 : N2 / 2) : k == 0 || k == N2 / 2)
                                value = make_uint4(value.x & keep_re, value.y & keep_re, value.z & keep_im, value.w & keep_im);
                        }
                        if (STRIDED) {
                            uint32_t place = ((far ? far_place : near_place) ^ (e == 1 ? EXCHANGE : 0)) + (far ? -i : i) * step;
                            if (alone && !far) place = at(lane, line, k1 * PITCH + (mirrored ? N2 - 1 : 0));
                            if (stored) store_shared(place, value);
                        } else if (stored) {
                            if (far)
                                far_number[-i * step] = value;
                            else
                                near_number[(alone ? -1 - t : i) * step] = value;
                        }
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

#define MIXED_KERNEL(NAME, ARGUMENTS, RUN, N1, N2, CONVERSIONS) \
    KERNEL(tuned::THREADS, 1) NAME(PARAMETERS ARGUMENTS a) { tuned::RUN<tuned::MixedShape<N1, N2>, CONVERSIONS>(a); }
#define MIXED_KERNELS(N1, N2)                                                                     \
    MIXED_KERNEL(tuned_##N1##x##N2, TunedArguments, run_contiguous, N1, N2, false)                \
    MIXED_KERNEL(tuned_##N1##x##N2##_strided, StridedArguments, run_strided, N1, N2, false)       \
    MIXED_KERNEL(tuned_##N1##x##N2##_conversions, TunedArguments, run_contiguous, N1, N2, true)   \
    MIXED_KERNEL(tuned_##N1##x##N2##_strided_conversions, StridedArguments, run_strided, N1, N2, true)

MIXED_KERNELS(16, 8)
MIXED_KERNELS(16, 12)
MIXED_KERNELS(20, 16)
MIXED_KERNELS(24, 16)
MIXED_KERNELS(24, 20)
MIXED_KERNELS(32, 20)
MIXED_KERNELS(32, 24)
MIXED_KERNELS(32, 25)
MIXED_KERNELS(32, 30)
MIXED_KERNELS(40, 25)

// `mixed_shared_bytes` of the crate.
static_assert(tuned::MixedShape<16, 8>::SHARED == 94912 && tuned::MixedShape<16, 12>::SHARED == 72320 &&
                  tuned::MixedShape<20, 16>::SHARED == 122496 && tuned::MixedShape<24, 16>::SHARED == 140928 &&
                  tuned::MixedShape<24, 20>::SHARED == 112224 && tuned::MixedShape<32, 20>::SHARED == 139872 &&
                  tuned::MixedShape<32, 24>::SHARED == 157280 && tuned::MixedShape<32, 25>::SHARED == 161376 &&
                  tuned::MixedShape<32, 30>::SHARED == 177760 && tuned::MixedShape<40, 25>::SHARED == 213600,
              "the host asks for the same");
