// target: sm_90a
// tuned
// early
// expect: tuned_64x64 24 ^IGMMA
// expect: tuned_64x64_conversions 24 ^IGMMA
// Transforms of two passes in one launch: 4096 points as 64 columns of 64, then 64 rows of 64, each a step of 16 points on
// wgmma and one of 4 points whose factors are 0, ±1 and ±i. Every column and every row has an exponent of its own.
//
// A block of 512 threads has one transform in shared memory, 64 rows of 64 places of 16 bytes, and copies the next one while
// it works on it. In either pass a warp has four lines to itself: it reads them, leaves the words between its two steps and
// its results where the numbers were, and in the first pass it also is the one that has copied them. So all that the block
// has to wait for is the end of the first pass.
#include "hopper/tuned_lines.cuh"

namespace tuned {

struct Passes {
    static constexpr int N = 64, POINTS = N * N;  // of a pass, and of the whole transform
    static constexpr int SLOTS = 8;               // of the step of 16 points
    static constexpr int MATRIX = Int8::part_bytes(SLOTS);
    static constexpr int CONSTANTS = 16 * SLOTS + 128;
    static constexpr int ROTATIONS = 16 * 9 * 3;  // of one pass
    static constexpr int ROOTS = 16 * POINTS;     // between the passes, in the order in which threads want them
    static constexpr int TABLES = 2 * MATRIX + CONSTANTS + 2 * ROTATIONS + ROOTS;
    static constexpr int PANEL = 1, BUFFER = 16 * POINTS;
    // For two transforms: exponents of 64 columns, and flags of 16 warps.
    static constexpr int EXPONENTS = 4 * N, FLAGS = 16;
    static constexpr int STATISTICS = 2 * (EXPONENTS + FLAGS) / WARPGROUPS;
    static constexpr int BEGINNING = (TABLES + 1023) / 1024 * 1024;
    static constexpr int SHARED = BEGINNING + 2 * BUFFER + WARPGROUPS * STATISTICS + 8 * PANEL + 64;
};

// Exponent fields of the largest number of a column that are handled here. Words of the second pass may have units as far
// as 60 bits below those of the first one.
constexpr int LEAST_COLUMN_FIELD = 256;
// What a warp says of its columns' numbers.
constexpr unsigned SOME_REAL = 1, SOME_IMAGINARY = 2, LEFT = 4;
// The exponent of columns of zeros: below all others.
constexpr int OF_ZEROS = -4000;

DEVICE int larger(int a, int b) { return a > b ? a : b; }
DEVICE int smaller(int a, int b) { return a < b ? a : b; }

// Where things lie in a buffer, in bytes. Places of a row are exchanged so that eight threads that access memory together,
// four of them with neighbouring slots or outputs and two with neighbouring lines, never meet on a bank, in either pass. The
// exchange is linear: the place of a sum without carries is the exclusive or of both places.
DEVICE constexpr int exchange_in_row(int row) { return (row & 1) * 5 ^ (row >> 1 & 1) * 4 ^ (row >> 2 & 1) * 2 ^ (row >> 3 & 1) * 4; }
DEVICE constexpr int place(int row, int column) {
    return 1024 * row + 16 * (column ^ (column >> 3 & 1) << 1 ^ exchange_in_row(row));
}
// The same piece by piece: what a line and what an element of it add, in bytes of the row and of the exchanged place. Lines
// of the first pass are columns, those of the second are rows.
struct Place {
    int row, exchanged;
    DEVICE constexpr Place operator^(const Place &other) const { return {row ^ other.row, exchanged ^ other.exchanged}; }
    DEVICE uint32_t in(uint32_t buffer) const { return buffer + row + exchanged; }
};
template <bool SECOND> DEVICE constexpr Place element(int i) {
    return SECOND ? Place{0, place(0, i)} : Place{1024 * i, place(i, 0) % 1024};
}
template <bool SECOND> DEVICE constexpr Place of_line(int line) {
    return SECOND ? Place{1024 * line, place(line, 0) % 1024} : Place{0, place(0, line)};
}
// From element to element 16 further on, which is no other exchange.
template <bool SECOND> constexpr int SIXTEEN = SECOND ? 16 * 16 : 16 * 1024;

// Who a thread is among those that share the warp's four lines. In steps of 16 points it has slots t and t + 4 of column `odd`
// of one tile and of column 2 + `odd` of the next; in steps of 4 points rows 2t + odd and 8 + 2t + odd.
struct Sharer {
    unsigned thread, t, odd, line;
    DEVICE unsigned row() const { return 2 * t + odd; }
    DEVICE bool first() const { return t == 0 && odd == 0; }
    DEVICE Sharer() {
        thread = (unsigned)thread_number();
        t = thread & 3;
        odd = thread >> 4 & 1;
        line = (thread >> 5) * 4 + (thread >> 2 & 3);
    }
};

// Element 4t + odd of a line, and row 2t + odd of its second step.
template <bool SECOND> DEVICE Place slot_of(int t, int odd) {
    return element<SECOND>(t & 1 ? 4 : 0) ^ element<SECOND>(t & 2 ? 8 : 0) ^ element<SECOND>(odd ? 1 : 0);
}
template <bool SECOND> DEVICE Place row_of(int t, int odd) {
    return element<SECOND>(t & 1 ? 2 : 0) ^ element<SECOND>(t & 2 ? 4 : 0) ^ element<SECOND>(odd ? 1 : 0);
}

// The largest value of the eight threads that share a line.
DEVICE int largest_of_line(int value) {
    value = larger(value, shuffle_xor(value, 1));
    value = larger(value, shuffle_xor(value, 2));
    return larger(value, shuffle_xor(value, 16));
}

DEVICE uint32_t matrices() { return tables_memory<Passes>(); }
DEVICE uint32_t constants() { return matrices() + 2 * Passes::MATRIX; }
template <bool SECOND> DEVICE uint32_t rotations() { return constants() + Passes::CONSTANTS + (SECOND ? Passes::ROTATIONS : 0); }
DEVICE uint32_t roots() { return constants() + Passes::CONSTANTS + 2 * Passes::ROTATIONS; }
DEVICE uint32_t buffer(unsigned round) { return buffer_memory<Passes>() + (round & 1) * Passes::BUFFER; }
DEVICE uint32_t exponents(unsigned round) { return shared_address(statistics_memory<Passes>()) + (round & 1) * Passes::EXPONENTS; }
DEVICE uint32_t flags(unsigned round) {
    return shared_address(statistics_memory<Passes>()) + 2 * Passes::EXPONENTS + (round & 1) * Passes::FLAGS;
}

// Begins to copy the warp's columns of a transform.
DEVICE void fetch_columns(const TunedArguments &args, unsigned round) {
    const unsigned thread = (unsigned)thread_number(), row = thread >> 2 & 7, column = (thread >> 5) * 4 + (thread & 3);
    const Panel<Passes, false> panel(args, blockIdx.x + round * gridDim.x);
    const uint4 *from = args.input + panel.start(args.from, 0) + Passes::N * row + column;
    const Place first = Place{(int)(1024 * row), place(row, 0) % 1024} ^ of_line<false>(column);
    const uint32_t even = first.in(buffer(round)), odd = (first ^ element<false>(8)).in(buffer(round));
#pragma unroll
    for (int i = 0; i < 8; i++) copy_async((i % 2 == 0 ? even : odd) + i / 2 * 16 * 1024, from + 8 * Passes::N * i, true);
    copy_commit();
}

// Four words of a column of 16 points: slot t and its partner, slot t + 4 and its partner.
struct Four {
    i64 re[4], im[4];
};

// The step of 16 points for one tile of columns, of which this thread has four words, and the rotation behind it. Words
// between the steps go to element k + 16·column of the line. Those of column 3, which is mirrored, are to be conjugated by
// whoever reads them, and so are those of rows beyond the middle; row 8 shall not be, and is conjugated here for that.
template <bool SECOND, int TILE> DEVICE void matrix_step(const Sharer &who, const Four &four, uint32_t buffer, const Factors &factors) {
    constexpr int LINE = SIXTEEN<SECOND>;
    Words<1> cosine_words, sine_words;
#pragma unroll
    for (int q = 0; q < 2; q++) {
        digits(four.re[2 * q] + four.re[2 * q + 1], cosine_words.low[0][2 * q], cosine_words.high[0][2 * q]);
        digits(four.im[2 * q] + four.im[2 * q + 1], cosine_words.low[0][2 * q + 1], cosine_words.high[0][2 * q + 1]);
        digits(four.re[2 * q] - four.re[2 * q + 1], sine_words.low[0][2 * q], sine_words.high[0][2 * q]);
        digits(four.im[2 * q] - four.im[2 * q + 1], sine_words.low[0][2 * q + 1], sine_words.high[0][2 * q + 1]);
    }
    const unsigned t = who.t, line = who.line, odd = who.odd;
    const uint32_t constants_here = constants() + 32 * t, special = constants() + 16 * Passes::SLOTS + 32 * t;
    Int8::Sums sums;
    i64 cosine[4], sine[4];
    Int8::Operand<1> cosine_digits(cosine_words);
    Int8::multiply<true>(sums, cosine_digits, wgmma_matrix(matrices()), factors, 0);
    sums.wait();
#pragma unroll
    for (int e = 0; e < 4; e++) cosine[e] = Int8::rounded<true>(sums, e, factors);
    Int8::Operand<1> sine_digits(sine_words);
    Int8::multiply<true>(sums, sine_digits, wgmma_matrix(matrices() + Passes::MATRIX), factors, 1);
    sums.wait();
#pragma unroll
    for (int e = 0; e < 4; e++) sine[e] = Int8::rounded<true>(sums, e, factors);
    // Column 3 has the angles of column 1.
    const unsigned source = TILE == 0 ? odd : 2 - odd;
    const uint32_t angles = rotations<SECOND>() + 16 * (6 * t + source);
    const uint32_t to = buffer + (2 * TILE + odd) * LINE;
    // Rows 2t, 2t + 1, 15 - 2t, and 16 - 2t or 8.
    const Place near_even = of_line<SECOND>(line) ^ element<SECOND>(t & 1 ? 2 : 0) ^ element<SECOND>(t & 2 ? 4 : 0);
    const Place far_even = near_even ^ element<SECOND>(8) ^ element<SECOND>(t & 1 ? 4 : 0);
#pragma unroll
    for (int e = 0; e < 2; e++) {
        // Outputs k = 2t + e and 16 - k. Of the first two, output 0 has cosines only, output 8 sines only.
        const i64 cr = cosine[e], ci = cosine[2 + e], sr = sine[e], si = sine[2 + e];
        const bool first = e == 0, alone = first && t == 0;
        uint4 biased = load_shared(first ? special : constants_here + 16);
        uint4 angle = load_shared(angles + 48 * e);
        i64 re = cr + (alone ? 0 : si) - join(biased.x, biased.y), im = ci - (alone ? 0 : sr) - join(biased.z, biased.w);
        rotate(re, im, angle, factors);
        store_shared((near_even ^ element<SECOND>(e)).in(to), make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
        if (first) {
            biased = load_shared(special + 16);
            if (t == 0) angle = load_shared(angles + 48 * 8);
            re = (alone ? si : cr - si) - join(biased.x, biased.y);
            im = (alone ? 0 : -ci) - sr + join(biased.z, biased.w);
        } else {
            re = cr - si - join(biased.z, biased.w);
            im = join(biased.x, biased.y) - sr - ci;
        }
        rotate(re, im, angle, factors);
        if (alone) im = -im;
        store_shared((e == 0 ? far_even : near_even ^ element<SECOND>(15)).in(to), make_uint4(low_of(re), high_of(re), low_of(im), high_of(im)));
    }
}

// The step of 4 points in one row of a line. Rows beyond the middle (FAR) are conjugated.
template <bool FAR> DEVICE void unit_step(uint32_t at, int distance, i64 (&re)[4], i64 (&im)[4]) {
    i64 r[4], i[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint4 word = load_shared(at + j * distance);
        r[j] = join(word.x, word.y);
        i[j] = join(word.z, word.w);
    }
    // Column 3 is to be conjugated.
    const i64 even_re = r[0] + r[2], even_im = i[0] + i[2], odd_re = r[1] + r[3], odd_im = i[1] - i[3];
    const i64 cr = r[0] - r[2], ci = i[0] - i[2], sr = r[1] - r[3], si = i[1] + i[3];
    re[0] = even_re + odd_re;
    re[1] = cr + si;
    re[2] = even_re - odd_re;
    re[3] = cr - si;
    im[0] = FAR ? -even_im - odd_im : even_im + odd_im;
    im[1] = FAR ? sr - ci : ci - sr;
    im[2] = FAR ? odd_im - even_im : even_im - odd_im;
    im[3] = FAR ? -ci - sr : ci + sr;
}
// Output k of a row is output row + 16·(this) of the line. Rows beyond the middle run backwards; row 8 is the conjugate of a
// conjugated row.
template <bool FAR> DEVICE int sixteens(int k, bool first_row) { return FAR ? (3 - k + (first_row ? 1 : 0)) & 3 : k; }

// The upper half of a word's magnitude.
DEVICE int high_magnitude(i64 x) { return larger((int)high_of(x), (int)high_of(-x)); }

// The first pass, from numbers to words under one exponent a column.
template <bool CONVERSIONS> DEVICE void first_pass(const TunedArguments &args, unsigned round) {
    const Factors factors = factors_of<Int8>(args);
    const Sharer who;
    const unsigned t = who.t, line = who.line, odd = who.odd;
    uint4 numbers[8];
    int largest_re = 0, largest_im = 0;
    unsigned some_re = 0, some_im = 0;
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
        // Column 3 is read backwards and conjugated.
        const bool mirrored = tile == 1 && odd;
        const Place first = of_line<false>(line) ^ slot_of<false>(t, odd) ^ element<false>(2 * tile);
        const uint32_t near = first.in(buffer(round)), far = (first ^ element<false>(60)).in(buffer(round));
        const int step = mirrored ? -SIXTEEN<false> : SIXTEEN<false>;
        const unsigned flip = args.conjugate_input ^ (mirrored ? 0x80000000u : 0u);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t slot = (mirrored ? far : near) + (i >> 1) * step, partner = (mirrored ? near : far) - (i >> 1) * step;
            uint4 &number = numbers[4 * tile + i];
            number = load_shared(i % 2 == 0 ? slot : partner);
            number.w ^= flip;
            largest_re = larger(largest_re, (int)(number.y & 0x7fffffffu));
            largest_im = larger(largest_im, (int)(number.w & 0x7fffffffu));
            some_re |= number.x;
            some_im |= number.z;
        }
    }
    // All bits count when it is about zeros.
    largest_re |= some_re != 0;
    largest_im |= some_im != 0;
    const int largest = largest_of_line(larger(largest_re, largest_im)), field = largest >> 20;
    const bool zero = largest == 0, moderate = (field >= LEAST_COLUMN_FIELD && field <= LARGEST_FIELD) || zero;
    const unsigned found = (largest_re != 0 ? SOME_REAL : 0) | (largest_im != 0 ? SOME_IMAGINARY : 0) | (moderate ? 0 : LEFT);
    const unsigned found_by_all = warp_or(found);
    if (who.thread % 32 == 0) store_shared_byte(flags(round) + who.thread / 32, found_by_all);

    // Leading bits of all magnitudes of a column of 16 points, in units of the largest number's, one for every magnitude
    // more, which rounds it up.
    unsigned sums[2];
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
        typename Means<CONVERSIONS>::LeadingBits leading(field);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint4 &number = numbers[4 * tile + i];
            leading.add(number.x, number.y);
            leading.add(number.z, number.w);
        }
        unsigned sum = leading.sum;
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        sums[tile] = sum;
    }
    unsigned sum = max(sums[0], sums[1]);
    sum = max(sum, shuffle_xor(sum, 16)) + 32;
    const int exponent = zero ? 0 : field - 1043 + (32 - __clz(sum)) - 61;

    const typename Means<CONVERSIONS>::Words words(exponent);
    const auto quantised = [&](int tile) {
        Four four;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint4 &number = numbers[4 * tile + i];
            four.re[i] = words.word(number.x, number.y);
            four.im[i] = words.word(number.z, number.w);
        }
        return four;
    };
    warp_barrier();  // all lanes have read
    matrix_step<false, 0>(who, quantised(0), buffer(round), factors);
    matrix_step<false, 1>(who, quantised(1), buffer(round), factors);
    warp_barrier();

    // Outputs of two rows: one before the middle, and one from there on.
    i64 re[2][4], im[2][4];
    const Sharer again;
    const unsigned row = again.row();
    const Place first_row = of_line<false>(again.line) ^ row_of<false>(again.t, again.odd);
    const uint32_t near = first_row.in(buffer(round)), far = (first_row ^ element<false>(8)).in(buffer(round));
    unit_step<false>(near, SIXTEEN<false>, re[0], im[0]);
    unit_step<true>(far, SIXTEEN<false>, re[1], im[1]);
    // Words have at most 61 bits. The upper halves of magnitudes, or one less.
    int most = 0, least = 0, shift = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int high_re = (int)high_of(re[i / 4][i % 4]), high_im = (int)high_of(im[i / 4][i % 4]);
        most = larger(larger(most, high_re), high_im);
        least = smaller(smaller(least, high_re), high_im);
    }
    if (warp_maximum((unsigned)larger(most, ~least)) + 1 >= 1u << 29) {
        int high = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) high = larger(high, larger(high_magnitude(re[i / 4][i % 4]), high_magnitude(im[i / 4][i % 4])));
        shift = larger(3 - __clz((unsigned)largest_of_line(high)), 0);
        const i64 half = 1 << shift >> 1;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            re[i / 4][i % 4] = (re[i / 4][i % 4] + half) >> shift;
            im[i / 4][i % 4] = (im[i / 4][i % 4] + half) >> shift;
        }
    }
    const uint32_t angles = roots() + 16 * again.thread;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const uint4 angle = load_shared(angles + 16 * THREADS * i);
        i64 r = re[i / 4][i % 4], m = im[i / 4][i % 4];
        rotate(r, m, angle, factors);
        const int sixteen = i < 4 ? sixteens<false>(i % 4, false) : sixteens<true>(i % 4, row == 0);
        store_shared((i < 4 ? near : far) + sixteen * SIXTEEN<false>, make_uint4(low_of(r), high_of(r), low_of(m), high_of(m)));
    }
    if (again.first()) {
        // For whoever reads this column's words as elements of rows: threads have four neighbours each.
        const unsigned column = again.line & 3, element = column == 3 ? 15 - (again.line >> 2) : again.line >> 2;
        const unsigned slot = element < 8 ? element : 15 - element;
        store_shared_int(exponents(round) + 4 * (16 * column + 4 * (slot & 3) + 2 * (slot >> 2) + (element < 8 ? 0 : 1)), zero ? OF_ZEROS : exponent + shift);
    }
}

// Words of a row as they come, and their exponents.
struct RowWords {
    i64 re[8], im[8];
    int exponent[8];
};

// Bits of the largest sum of leading bits, as in the first pass, of a row whose scale is the place just above its leading
// bit. Upper halves of words are enough, as exponents are at least 53 bits below that, or taken to be LEAST_DISTANCE.
template <int LEAST_DISTANCE> DEVICE int bits_of_sums(const RowWords &words, int scale) {
    unsigned sums[2];
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
        unsigned sum = 0;
#pragma unroll
        for (int i = 4 * tile; i < 4 * tile + 4; i++) {
            const int distance = scale - 53 - words.exponent[i];
            const unsigned right = (unsigned)(LEAST_DISTANCE == 0 ? distance : larger(distance, LEAST_DISTANCE - 53));
            sum += shift_right((unsigned)high_magnitude(words.re[i]), right) + shift_right((unsigned)high_magnitude(words.im[i]), right);
        }
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        sums[tile] = sum;
    }
    const unsigned sum = max(sums[0], sums[1]);
    return 32 - __clz(max(sum, shuffle_xor(sum, 16)) + 32);
}

// The second pass, from words to numbers in memory.
template <bool CONVERSIONS> DEVICE void second_pass(const TunedArguments &args, unsigned round) {
    const Factors factors = factors_of<Int8>(args);
    const Sharer who;
    const unsigned t = who.t, line = who.line, odd = who.odd;
    RowWords words;
    int scale = OF_ZEROS, largest_exponent = OF_ZEROS;
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
        const bool mirrored = tile == 1 && odd;
        const Place first = of_line<true>(line) ^ slot_of<true>(t, odd) ^ element<true>(2 * tile);
        const uint32_t near = first.in(buffer(round)), far = (first ^ element<true>(60)).in(buffer(round));
        const int step = mirrored ? -SIXTEEN<true> : SIXTEEN<true>;
        const uint4 four = load_shared(exponents(round) + 4 * (16 * (2 * tile + odd) + 4 * t));
        const int given[4] = {(int)four.x, (int)four.y, (int)four.z, (int)four.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t slot = (mirrored ? far : near) + (i >> 1) * step, partner = (mirrored ? near : far) - (i >> 1) * step;
            const uint4 word = load_shared(i % 2 == 0 ? slot : partner);
            const int n = 4 * tile + i;
            words.re[n] = join(word.x, word.y);
            words.im[n] = join(word.z, word.w);
            words.exponent[n] = given[i];
            const unsigned both = (unsigned)(high_magnitude(words.re[n]) | high_magnitude(words.im[n]));
            scale = larger(scale, given[i] + leading_bit(both));
        }
        largest_exponent = larger(larger(largest_exponent, given[0]), given[1]);
        largest_exponent = larger(larger(largest_exponent, given[2]), given[3]);
    }
    scale = largest_of_line(scale) + 33;
    // Words may be brought closer to the scale than they are.
    constexpr int CLOSE = 62;
    int sum_bits = bits_of_sums<0>(words, scale), least_shift = 1;
    // Upper halves were enough, and words are shifted to the right; else they are brought closer.
    const int distance = scale - largest_exponent;
    bool nothing = false;
    if (warp_or(distance < 54 || distance + sum_bits < 83 ? 1u : 0u) != 0) {
        scale = OF_ZEROS;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const auto magnitude = [](i64 x) { return (u64)(x < 0 ? -x : x); };
            const u64 both = magnitude(words.re[i]) | magnitude(words.im[i]);
            if (both != 0) scale = larger(scale, words.exponent[i] + 64 - leading_zeros(both));
        }
        scale = largest_of_line(scale);
        nothing = scale == OF_ZEROS;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int left = smaller(larger(CLOSE - (scale - words.exponent[i]), 0), 63);
            words.re[i] = (i64)((u64)words.re[i] << left);
            words.im[i] = (i64)((u64)words.im[i] << left);
        }
        sum_bits = bits_of_sums<CLOSE>(words, scale);
        least_shift = larger(CLOSE + sum_bits - 82, 1);
    }
    // Rounded to a multiple of 2^exponent, halves away from zero.
    const int exponent = scale + sum_bits - 82;
    const auto quantised = [&](int tile) {
        Four four;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int n = 4 * tile + i;
            // Words of less than 62 bits become 0 with 63.
            const unsigned shift = (unsigned)smaller(larger(exponent - words.exponent[n], least_shift), 63);
            const i64 half = (i64)1 << (shift - 1);
            const i64 conjugate = tile == 1 && odd ? -1 : 0, im = words.im[n] ^ conjugate;
            four.re[i] = (words.re[n] + half + (words.re[n] >> 63)) >> shift;
            four.im[i] = (im + (half - conjugate) + (im >> 63)) >> shift;
        }
        return four;
    };
    warp_barrier();  // all lanes have read
    matrix_step<true, 0>(who, quantised(0), buffer(round), factors);
    matrix_step<true, 1>(who, quantised(1), buffer(round), factors);
    warp_barrier();

    const Sharer again;
    const unsigned row = again.row();
    const int exponent2 = (nothing ? 0 : exponent) + common_exponent<Passes>();
    const uint4 all_flags = load_shared(flags(round));
    const unsigned known = all_flags.x | all_flags.y | all_flags.z | all_flags.w;
    const auto has = [known](unsigned flag) { return (known & 0x01010101u * flag) != 0; };
    // A transform of real or of imaginary numbers: outputs 0 and 2048 have a part that is known to be zero.
    const bool zeros = !(has(SOME_REAL) && has(SOME_IMAGINARY)) && again.line == 0 && row == 0;
    const bool left = has(LEFT);
    const Panel<Passes, false> panel(args, blockIdx.x + round * gridDim.x);
    uint4 *const to = args.output + panel.start(args.to, 0) + again.line + 64 * row;
    const auto put = [&](const i64(&re)[4], const i64(&im)[4], bool far) {
        const int power = (exponent2 + 1023 + 63 - 1) << 20;
        const double scale_re = CONVERSIONS ? __hiloint2double((1023 + exponent2) << 20, 0) : 0.0;
        const double scale_im = CONVERSIONS ? __hiloint2double((1023 + exponent2) << 20 ^ (int)args.conjugate_output, 0) : 0.0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint4 value;
            if (CONVERSIONS) {
                // Adding zero leaves no zero a sign.
                const double real = __fma_rn((double)re[k], scale_re, 0.0), imaginary = __fma_rn((double)im[k], scale_im, 0.0);
                value = make_uint4((unsigned)__double2loint(real), (unsigned)__double2hiint(real), (unsigned)__double2loint(imaginary), (unsigned)__double2hiint(imaginary));
            } else {
                value = finished<false>(re[k], 0, im[k], 0, power, 0.0, args.conjugate_output);
            }
            if (!far && k % 2 == 0 && zeros) {
                const unsigned keep_re = has(SOME_REAL) ? ~0u : 0u, keep_im = has(SOME_IMAGINARY) ? ~0u : 0u;
                value = make_uint4(value.x & keep_re, value.y & keep_re, value.z & keep_im, value.w & keep_im);
            }
            const int sixteen = far ? sixteens<true>(k, row == 0) : sixteens<false>(k, false);
            if (!left) to[(far ? 8 * 64 : 0) + 16 * 64 * sixteen] = value;
        }
    };
    i64 re[4], im[4];
    const Place first_row = of_line<true>(again.line) ^ row_of<true>(again.t, again.odd);
    unit_step<false>(first_row.in(buffer(round)), SIXTEEN<true>, re, im);
    put(re, im, false);
    unit_step<true>((first_row ^ element<true>(8)).in(buffer(round)), SIXTEEN<true>, re, im);
    put(re, im, true);
    if (left && again.thread == 0) args.left[atomic_add(args.left_count, 1u)] = panel.number(args, 0);
}

template <bool CONVERSIONS> DEVICE void run_passes(const TunedArguments &args) {
    begin<Passes>(args);
    if (blockIdx.x < args.panels) fetch_columns(args, 0);
    begun();
#pragma unroll 1
    for (unsigned round = 0; blockIdx.x + round * gridDim.x < args.panels; round++) {
        copy_wait();
        warp_barrier();
        first_pass<CONVERSIONS>(args, round);
        // All words are there, and nobody reads the other buffer any more.
        block_barrier();
        if (blockIdx.x + (round + 1) * gridDim.x < args.panels) fetch_columns(args, round + 1);
        second_pass<CONVERSIONS>(args, round);
    }
}

}  // namespace tuned

KERNEL(tuned::THREADS, 1) tuned_64x64(PARAMETERS TunedArguments a) { tuned::run_passes<false>(a); }
KERNEL(tuned::THREADS, 1) tuned_64x64_conversions(PARAMETERS TunedArguments a) { tuned::run_passes<true>(a); }

// `passes_shared_bytes` of the crate.
static_assert(tuned::Passes::SHARED == 205416, "the host asks for the same");
