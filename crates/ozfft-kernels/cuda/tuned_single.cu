// target: sm_90a
// tuned
// Lines of f32 in words of five digits: `Single`. No number is converted by an instruction on f64, or by one for conversions:
// f32 has 24 bits, and sums with constants whose last place is 1, or 2^16, cut numbers into integers and put integers
// together, exactly. So there is one variant.
// expect: tuned_single_32x32 12 ^IGMMA
// expect: tuned_single_16x16 8 ^IGMMA
// expect: tuned_single_32x16 10 ^IGMMA
#include "tuned_few.cuh"

namespace tuned {

template <int N1_, int N2_> struct SingleShape {
    typedef Few<5> Digits;
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2;
    static constexpr int LINES = 32 / (N1 < N2 ? N1 : N2);  // of a warpgroup at a time
    static constexpr int TILES2 = LINES * N1 / 32;
    static constexpr int SLOTS1 = N1 / 2, SLOTS2 = N2 / 2;
    static constexpr int MATRIX1 = Digits::matrix_bytes(SLOTS1), MATRIX2 = Digits::matrix_bytes(SLOTS2);
    static constexpr int ROTATIONS = (N1 / 2 + 1) * (N2 / 2 + 1);
    static constexpr int TABLES = 2 * MATRIX1 + 2 * MATRIX2 + 16 * ROTATIONS;
    static constexpr int BEGINNING = (TABLES + 1023) / 1024 * 1024;
    // Words between the steps, then numbers: of every warpgroup's own lines, or two panels of strided lines side by side.
    static constexpr int WORDS = 16 * LINES * N;  // of a warpgroup
    static constexpr int PANEL = 8;
    static constexpr int BUFFER = 8 * PANEL * N;
    static constexpr int NUMBERS = BEGINNING + WARPGROUPS * WORDS;
    static constexpr int STATISTICS = 128;  // of a warpgroup
    static constexpr int SHARED = NUMBERS + 2 * BUFFER + WARPGROUPS * STATISTICS + 8 * PANEL + 64;
    // Contiguous lines of a panel.
    static constexpr int CONTIGUOUS = WARPGROUPS * LINES;
};

namespace single {

// Exponents (of the leading bit) of the largest number of a line that are handled here, and of the unit of results: far
// enough from the ends of the range that a scale between axes of up to 2^±64 stays exact.
constexpr int LEAST_EXPONENT = -60, LARGEST_EXPONENT = 60, LEAST_UNIT = -85, LARGEST_UNIT = 100;

// Floating-point numbers whose last place is 1 or 2^16.
constexpr float UNIT_PLACE = 8388608.0f, SIGNED_UNIT_PLACE = 12582912.0f;  // 2^23, 1.5·2^23
constexpr float PLACE_16 = 824633720832.0f;                               // 1.5·2^39
constexpr int UNIT_PLACE_BITS = 0x4b000000, SIGNED_UNIT_PLACE_BITS = 0x4b400000, PLACE_16_BITS = 0x53400000;

DEVICE float power_of_two(int exponent) { return from_bits((unsigned)(exponent + 127) << 23); }

// x·scale rounded, halves away from zero: high·2^16 + low, both as numbers whose last places these are. Adding one half, or
// just less to negative numbers, and cutting off downwards rounds like this; and cutting off downwards can be done in turns.
struct Split {
    int high, low;
    DEVICE Split(float x, float scale) {
        const float half = from_bits(0x3f000000u + (unsigned)(bits_of(x) >> 31));
        const float value = fused_downwards(x, scale, half);
        const float upper = sum_downwards(value, PLACE_16);
        const float rest = sum_downwards(value, PLACE_16 - upper);
        high = bits_of(upper);
        low = bits_of(sum_downwards(rest, UNIT_PLACE));
    }
};

// The sum, or the difference, of two numbers as a word whose digits are raised by 128.
DEVICE i64 raised_sum(const Split &a, const Split &b, int factor) {
    const int high = (int)((unsigned)a.high + (unsigned)b.high + (0x808080u - 2u * PLACE_16_BITS));
    const unsigned low = (unsigned)a.low + (unsigned)b.low + (0x8080u - 2u * UNIT_PLACE_BITS);
    return wide_product(high, factor) + join(low, 0);
}
DEVICE i64 raised_difference(const Split &a, const Split &b, int factor) {
    const int high = a.high - b.high + (0x808080 - 1);
    const unsigned low = (unsigned)a.low - (unsigned)b.low + (0x8080u + 65536u);
    return wide_product(high, factor) + join(low, 0);
}

// Pieces of an output times 2^unit, rounded once: 20 bits and what is above them become exact numbers, and one fused
// operation adds them. A negative scale makes the opposite number, and never a negative zero.
struct Scale {
    float upper, lower, offset;
    DEVICE Scale(int unit, unsigned flip) {
        lower = from_bits((unsigned)(unit + 127) << 23 ^ flip);
        upper = from_bits((unsigned)(unit + 127 + 20) << 23 ^ flip);
        offset = -(UNIT_PLACE * lower);
    }
    DEVICE unsigned of(const Few<5>::Pieces &pieces, int factor) const {
        const i64 sum = pieces.whole(factor, SIGNED_UNIT_PLACE_BITS >> 12);
        const float high = from_bits(__funnelshift_r(low_of(sum), high_of(sum), 20)) - SIGNED_UNIT_PLACE;
        const float low = fused(from_bits((low_of(sum) & 0xfffffu) | UNIT_PLACE_BITS), lower, offset);
        return (unsigned)bits_of(fused(high, upper, low));
    }
};

template <class S> DEVICE unsigned *statistics_memory() { return (unsigned *)(shared_memory() + S::NUMBERS + 2 * S::BUFFER); }
template <class S> DEVICE unsigned *facts_memory() { return statistics_memory<S>() + WARPGROUPS * (S::STATISTICS / 4); }
template <class S> DEVICE int &common_exponent() { return *(int *)(facts_memory<S>() + 2 * S::PANEL); }
template <class S> DEVICE uint32_t numbers_memory() { return tables_memory<S>() + S::NUMBERS; }

// Where number i = row·N2 + column of a contiguous line lies. Columns are exchanged so that the threads of half a warp,
// which have four columns and four rows, do not meet on a bank.
template <class S> DEVICE constexpr int place_number(int i) {
    constexpr int SHIFT = S::N2 == 32 ? 5 : 4;
    return 8 * (i ^ ((i >> SHIFT) & 3) << 2);
}
// Words between the steps: row k1, column j2.
template <class S> DEVICE int place_words(int k1, int j2) {
    return 16 * (k1 * S::N2 + (j2 ^ ((((k1 >> 1) & 3) << 1) ^ ((k1 & 1) << 2))));
}

// The contiguous lines of a panel.
template <class S> struct Lines {
    i64 first;
    DEVICE explicit Lines(unsigned panel) : first((i64)panel * S::CONTIGUOUS) {}
    DEVICE bool has(const TunedArguments &args, int line) const { return first + line < args.lines; }
};

// Begins to copy a warpgroup's lines to shared memory, two numbers at a time.
template <class S> DEVICE void fetch(const TunedArguments &args, unsigned panel) {
    const Lines<S> lines(panel);
    const Lane lane;
    const int thread = lane.in_group();
#pragma unroll
    for (int l = 0; l < S::LINES; l++) {
        const int line = lane.group * S::LINES + l;
        const bool present = lines.has(args, line);
        const uint2 *from = (const uint2 *)args.input + (lines.first + (present ? line : 0)) * args.from.slow + 2 * thread;
        const uint32_t to = numbers_memory<S>() + 8 * S::N * line;
#pragma unroll
        for (int r = 0; r < S::N / 256; r++) copy_async(to + place_number<S>(2 * thread + 256 * r), from + 256 * r, present);
    }
    copy_commit();
}

// Transforms the lines of a warpgroup; calls `loaded` once all of its threads have their numbers.
template <class S, class Loaded> DEVICE void transform(const TunedArguments &args, unsigned panel, const Loaded &loaded) {
    typedef typename S::Digits Digits;
    typedef typename Digits::Pieces Pieces;
    constexpr int N1 = S::N1, N2 = S::N2, N = S::N;
    const uint32_t cosine1 = tables_memory<S>(), sine1 = cosine1 + S::MATRIX1, cosine2 = sine1 + S::MATRIX1, sine2 = cosine2 + S::MATRIX2;
    const uint32_t rotations = sine2 + S::MATRIX2;
    const auto words = [](const Lane &lane, int line) { return tables_memory<S>() + S::BEGINNING + lane.group * S::WORDS + 16 * N * line; };
    const auto facts = [](const Lane &lane, int line) -> unsigned & { return facts_memory<S>()[lane.group * S::LINES + line]; };
    const auto together = [](const Lane &lane) { named_barrier(1 + lane.group, 128); };

    // Step 1: column 8·warp + g; the slots t, t+4, … of it.
    const Lane lane1;
    unsigned *statistics = statistics_memory<S>() + lane1.group * (S::STATISTICS / 4);
    const int column1 = 8 * lane1.warp + lane1.g, line1 = column1 / N2, j = column1 % N2;
    const bool mirrored1 = 2 * j > N2;
    const int row = mirrored1 ? N1 - 1 - lane1.t : lane1.t;
    const uint32_t raw = numbers_memory<S>() + 8 * N * (lane1.group * S::LINES + line1);
    const uint32_t raw_first = raw + place_number<S>(row * N2 + j), raw_last = raw + place_number<S>((N1 - 1 - row) * N2 + j);
    const int raw_step = mirrored1 ? -32 * N2 : 32 * N2;
    const unsigned flip1 = args.conjugate_input ^ (mirrored1 ? 0x80000000u : 0u);
    constexpr int POINTS = N1 / 4;
    float re[POINTS], im[POINTS];
    float most_re = 0, most_im = 0;
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        const uint2 number = load_shared_pair(i % 2 == 0 ? raw_first + i / 2 * raw_step : raw_last - i / 2 * raw_step);
        re[i] = from_bits(number.x);
        im[i] = from_bits(number.y ^ flip1);
        most_re = larger_magnitude(most_re, re[i]);
        most_im = larger_magnitude(most_im, im[i]);
    }
    unsigned largest_re = warp_maximum((unsigned)bits_of(most_re)), largest_im = warp_maximum((unsigned)bits_of(most_im));
    if (lane1.first()) {
        statistics[2 * lane1.warp] = largest_re;
        statistics[2 * lane1.warp + 1] = largest_im;
    }
    together(lane1);
    loaded();
    constexpr int WARPS_A_LINE = N2 / 8;
    const int first_warp = lane1.warp / WARPS_A_LINE * WARPS_A_LINE;
    largest_re = largest_im = 0;
#pragma unroll
    for (int other = 0; other < WARPS_A_LINE; other++) {
        largest_re = max(largest_re, statistics[2 * (first_warp + other)]);
        largest_im = max(largest_im, statistics[2 * (first_warp + other) + 1]);
    }
    const int largest = (int)(max(largest_re, largest_im) >> 23) - 127;
    const bool zero = (largest_re | largest_im) == 0;
    const bool handled = largest >= LEAST_EXPONENT && largest <= LARGEST_EXPONENT;
    // Leading bits of all magnitudes of a column, in units of the largest number's.
    unsigned sum = 0;
    const float to_units = power_of_two(handled ? 20 - largest : 0);
#pragma unroll
    for (int i = 0; i < POINTS; i++)
        sum += (unsigned)bits_of(fused_towards_zero(fabsf(re[i]), to_units, UNIT_PLACE)) +
               (unsigned)bits_of(fused_towards_zero(fabsf(im[i]), to_units, UNIT_PLACE));
    sum -= 2u * POINTS * UNIT_PLACE_BITS;
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
        const bool taken = (handled || zero) && unit >= LEAST_UNIT && unit <= LARGEST_UNIT;
        facts(lane1, 8 * lane1.warp / N2) = ((unsigned)unit & 0xffffffu) | (unsigned)taken << 24 | (unsigned)(largest_re != 0) << 25 |
                                            (unsigned)(largest_im != 0) << 26;
    }

    {
        typename Digits::template Operand<S::SLOTS1> cosines, sines;
        const float scale = power_of_two(-exponent);
#pragma unroll
        for (int q = 0; q < N1 / 8; q++) {
            const Split ar(re[2 * q], scale), br(re[2 * q + 1], scale), ai(im[2 * q], scale), bi(im[2 * q + 1], scale);
            cosines.put(q, 0, raised_sum(ar, br, args.second_factor));
            cosines.put(q, 1, raised_sum(ai, bi, args.second_factor));
            sines.put(q, 0, raised_difference(ar, br, args.second_factor));
            sines.put(q, 1, raised_difference(ai, bi, args.second_factor));
        }
        cosines.complete();
        sines.complete();
        const Lane lane;
        const int t = lane.t, column = 8 * lane.warp + lane.g, line = column / N2, j = column % N2;
        const uint32_t own = words(lane, line);
        const uint32_t word_even = own + place_words<S>(2 * t, j), word_odd = own + place_words<S>(2 * t + 1, j);
        const uint32_t partner_even = own + place_words<S>(N1 - 2 * t, j), partner_odd = own + place_words<S>(N1 - 2 * t - 1, j);
        const uint32_t angles = rotations + 16 * (2 * t * (N2 / 2 + 1) + (2 * j > N2 ? N2 - j : j));
        constexpr int EIGHTS = S::SLOTS1 / 8;
        typename Digits::template Sums<S::SLOTS1> sums;
        Pieces cosine[EIGHTS][4];
        cosines.multiply(sums, wgmma_matrix(cosine1));
        wgmma_wait<0>();
#pragma unroll
        for (int o = 0; o < EIGHTS; o++)
#pragma unroll
            for (int e = 0; e < 4; e++) cosine[o][e] = Digits::template pieces<S::SLOTS1>(sums, o, e);
        sines.multiply(sums, wgmma_matrix(sine1));
        wgmma_wait<0>();
#pragma unroll
        for (int o = 0; o < EIGHTS; o++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                // Outputs k = 8o + 2t + e and N1 - k. Of the first two, output 0 has cosines only, output N1/2 sines only.
                const Pieces cr = cosine[o][e], ci = cosine[o][2 + e];
                const Pieces sr = Digits::template pieces<S::SLOTS1>(sums, o, e), si = Digits::template pieces<S::SLOTS1>(sums, o, 2 + e);
                const bool first = o == 0 && e == 0, alone = first && t == 0;
                uint4 angle = load_shared(angles + 16 * (8 * o + e) * (N2 / 2 + 1));
                i64 re = (alone ? cr : cr + si).whole(args.factor, 0), im = (alone ? ci : ci - sr).whole(args.factor, 0);
                rotate(re, im, angle);
                store_shared((e == 0 ? word_even : word_odd) + o * 8 * N2 * 16, make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
                if (alone) angle = load_shared(angles + 16 * (N1 / 2 * (N2 / 2 + 1)));
                re = (alone ? si : cr - si).whole(args.factor, 0);
                im = (alone ? -sr : -sr - ci).whole(args.factor, 0);
                rotate(re, im, angle);
                store_shared((e == 1 ? partner_odd : alone ? partner_even - N / 2 * 16 : partner_even) - o * 8 * N2 * 16,
                             make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
            }
        }
    }
    together(Lane());

    // Step 2: column = 8·warp + g of each tile is a row k1 of a line.
#pragma unroll 1
    for (int tile = 0; tile < S::TILES2; tile++) {
        const Lane lane;
        const int t = lane.t, column2 = 8 * lane.warp + lane.g, k1 = column2 % N1;
        const int line = column2 / N1 + tile * (32 / N1);
        const uint32_t own = words(lane, line);
        const uint32_t near_even = own + place_words<S>(k1, t), near_odd = own + place_words<S>(k1, t + 4);
        const uint32_t far_even = own + place_words<S>(k1, N2 - t), far_odd = own + place_words<S>(k1, N2 - t - 4);
        typename Digits::template Operand<S::SLOTS2> cosines, sines;
#pragma unroll
        for (int q = 0; q < N2 / 8; q++) {
            const int s = q >> 1;
            const uint4 a = load_shared((q & 1 ? near_odd : near_even) + 8 * s * 16);
            const uint4 b = load_shared((q & 1 ? far_odd : q == 0 && t == 0 ? far_even - N2 / 2 * 16 : far_even) - 8 * s * 16);
            const i64 ar = join(a.x, a.y), ai = join(a.z, a.w), br = join(b.x, b.y), bi = join(b.z, b.w);
            // Columns beyond the middle were left without the sign of their real part.
            const bool alone = q == 0 && t == 0;
            cosines.put(q, 0, Digits::raised(alone ? ar : ar + br));
            cosines.put(q, 1, Digits::raised(alone ? ai : ai - bi));
            sines.put(q, 0, Digits::raised(alone ? br : ar - br));
            sines.put(q, 1, Digits::raised(alone ? bi : ai + bi));
        }
        cosines.complete();
        sines.complete();
        const unsigned known = facts(lane, line);
        const int unit = (int)(known << 8) >> 8;
        const bool mirrored2 = 2 * k1 > N1;
        const Scale scale_re(unit, 0), scale_im(unit, args.conjugate_output ^ (mirrored2 ? 0x80000000u : 0u));
        // A line of real or of imaginary numbers: some outputs have a part that is known to be zero.
        const bool zeros = (known >> 25 & 3) != 3 && k1 == 0;
        const Lines<S> lines(panel);
        const int in_panel = lane.group * S::LINES + line;
        const bool there = lines.has(args, in_panel) && (known >> 24 & 1);
        uint2 *near_number = (uint2 *)args.output + (lines.first + in_panel) * args.to.slow + k1 + N1 * 2 * t;
        uint2 *far_number = near_number + N1 * (N2 - 1 - 4 * t);
        int step = N1;
        if (mirrored2) {
            uint2 *const number = near_number;
            near_number = far_number;
            far_number = number;
            step = -step;
        }
        constexpr int EIGHTS = S::SLOTS2 / 8;
        typename Digits::template Sums<S::SLOTS2> sums;
        Pieces cosine[EIGHTS][4];
        cosines.multiply(sums, wgmma_matrix(cosine2));
        wgmma_wait<0>();
#pragma unroll
        for (int o = 0; o < EIGHTS; o++)
#pragma unroll
            for (int e = 0; e < 4; e++) cosine[o][e] = Digits::template pieces<S::SLOTS2>(sums, o, e);
        sines.multiply(sums, wgmma_matrix(sine2));
        wgmma_wait<0>();
#pragma unroll
        for (int o = 0; o < EIGHTS; o++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                // Outputs k = 8o + 2t + e and N2 - 1 - k, exchanged in mirrored rows.
                const Pieces cr = cosine[o][e], ci = cosine[o][2 + e];
                const Pieces sr = Digits::template pieces<S::SLOTS2>(sums, o, e), si = Digits::template pieces<S::SLOTS2>(sums, o, 2 + e);
#pragma unroll
                for (int far = 0; far < 2; far++) {
                    uint2 value = make_uint2(scale_re.of(far ? cr - si : cr + si, args.factor), scale_im.of(far ? ci + sr : ci - sr, args.factor));
                    if (zeros) {
                        // Row 0 is not mirrored: outputs 0 and N2/2 of it are 0 and N/2 of the line.
                        const int k = far ? N2 - 1 - (8 * o + 2 * t + e) : 8 * o + 2 * t + e;
                        if ((k == 0 || k == N2 / 2) && !(known >> 25 & 1)) value.x = 0;
                        if ((k == 0 || k == N2 / 2) && !(known >> 26 & 1)) value.y = 0;
                    }
                    if (there) (far ? far_number : near_number)[(far ? -(8 * o + e) : 8 * o + e) * step] = value;
                }
            }
        }
    }
    // Lines that are left to a portable kernel.
    const Lane lane;
    if (lane.in_group() < S::LINES) {
        const int line = lane.group * S::LINES + lane.in_group();
        const Lines<S> lines(panel);
        if (lines.has(args, line) && !(facts(lane, lane.in_group()) >> 24 & 1)) args.left[atomic_add(args.left_count, 1u)] = lines.first + line;
    }
}

template <class S> DEVICE void begin(const TunedArguments &args) {
    for (int i = threadIdx.x; i < S::TABLES / 16; i += THREADS) store_shared(tables_memory<S>() + 16 * i, args.tables[i]);
    wgmma_publish();
    if (threadIdx.x == 0) {
        const bool biased = args.largest != nullptr && *args.largest >= args.bias_threshold;
        common_exponent<S>() = args.exponent_offset + (biased ? args.bias : 0);
    }
}

template <class S> DEVICE void run_contiguous(const TunedArguments &args) {
    begin<S>(args);
    block_barrier();
    if (blockIdx.x < args.panels) fetch<S>(args, blockIdx.x);
#pragma unroll 1
    for (unsigned panel = blockIdx.x; panel < args.panels; panel += gridDim.x) {
        copy_wait();
        named_barrier(1 + Lane().group, 128);
        transform<S>(args, panel, [&] {
            if (panel + gridDim.x < args.panels) fetch<S>(args, panel + gridDim.x);
        });
    }
}

}  // namespace single
}  // namespace tuned

#define SINGLE_KERNELS(N1, N2)                                                              \
    KERNEL(tuned::THREADS, 1) tuned_single_##N1##x##N2(PARAMETERS TunedArguments a) {       \
        tuned::single::run_contiguous<tuned::SingleShape<N1, N2>>(a);                       \
    }

SINGLE_KERNELS(32, 32)
SINGLE_KERNELS(16, 16)
SINGLE_KERNELS(32, 16)

// `single_shared_bytes` of the crate.
static_assert(tuned::SingleShape<32, 32>::SHARED == 228992 && tuned::SingleShape<16, 16>::SHARED == 78464 && tuned::SingleShape<32, 16>::SHARED == 153216,
              "the host asks for the same");
