// target: fatbin
// The engine ntt (docs/numerics.md, section 10): Bluestein's algorithm with an exact convolution of Gaussian integers, bit for bit as the processor
// does it (engines/ntt/line.rs, and gaussian.rs of crates/exact-convolution). Transforms modulo primes are those of ntt_batches.cu; these kernels bring lines to
// residues and back. No floating-point operation anywhere.
//
// A Gaussian integer a + b·i is known modulo a prime by its images a + ι·b and a - ι·b, whose products are independent.
#include "ntt/ntt_fourier.cuh"

namespace ntt {

// Bits of a word, and of the chirps behind the point (budget.rs).
constexpr int WORD_BITS = 61, TABLE_BITS = 62;
// Elements of a line that a thread looks at.
constexpr int EACH = 8;

using i128 = __int128;
using u128 = unsigned __int128;

DEVICE int64_t input_offset(const FourierTask &task, u32 line) { return line_offset(task.array.input, task.first_line + line); }

struct Point {
    Words bits, word;
    int32_t exponent;
    DEVICE bool is_zero() const { return word.re == 0 && word.im == 0; }
};
DEVICE Words bits_at(const FourierTask &task, int64_t offset, u64 j) { return read_element(task.array.input, offset, j, task.n); }
DEVICE Point point_of(Words bits) {
    Point point;
    point.bits = bits;
    point.word = word_of((uint64_t)bits.re, (uint64_t)bits.im, WORD_BITS, point.exponent);
    return point;
}
DEVICE u64 magnitude(int64_t x) { return x < 0 ? 0 - (u64)x : (u64)x; }

// The line of a block, and the first of its elements; blocks of a line are neighbours.
struct Piece {
    u32 line;
    u64 start;
    DEVICE Piece(u64 elements, u32 of_block) {
        const u32 pieces = (u32)((elements + of_block - 1) / of_block);
        line = blockIdx.x / pieces;
        start = (u64)(blockIdx.x - line * pieces) * of_block;
    }
};

// Which numbers lines have, and the exponent of the largest word.
KERNEL(THREADS, 4) ntt_line_natures(PARAMETERS FourierTask task) {
    const Piece piece(task.n, THREADS * EACH);
    const int64_t offset = input_offset(task, piece.line);
    uint32_t flags = 0, top = 0;
    for (int i = 0; i < EACH; i++) {
        const u64 j = piece.start + (u32)(i * THREADS + thread_number());
        if (j >= task.n) break;
        const Words bits = bits_at(task, offset, j);
        const uint64_t re = (uint64_t)bits.re & ~SIGN, im = (uint64_t)bits.im & ~SIGN;
        const bool finite = re < DOUBLE_INFINITY && im < DOUBLE_INFINITY;
        flags |= (finite ? 0 : NOT_FINITE) | (re != 0 ? HAS_REAL : 0) | (im != 0 ? HAS_IMAGINARY : 0);
        if (finite && (re | im) != 0) {
            const uint32_t exponent = (uint32_t)(point_of(bits).exponent + TOP_OFFSET);
            top = exponent > top ? exponent : top;
        }
    }
    flags = warp_or(flags);
    top = warp_maximum(top);
    if (thread_number() % 32 == 0) {
        if (flags != 0) atomic_or(&task.facts[piece.line].flags, flags);
        if (top != 0) atomic_maximum(&task.facts[piece.line].top, (int32_t)top);
    }
}

// Sums of magnitudes in units of the largest word's, one more for each: the same in any order.
KERNEL(THREADS, 4) ntt_line_sums(PARAMETERS FourierTask task) {
    const Piece piece(task.n, THREADS * EACH);
    const LineFacts facts = task.facts[piece.line];
    if ((facts.flags & NOT_FINITE) != 0) return;
    const int64_t offset = input_offset(task, piece.line);
    u64 low = 0, high = 0;
    for (int i = 0; i < EACH; i++) {
        const u64 j = piece.start + (u32)(i * THREADS + thread_number());
        if (j >= task.n) break;
        const Point point = point_of(bits_at(task, offset, j));
        if (point.is_zero()) continue;
        const int below = facts.top - TOP_OFFSET - point.exponent;
        const u64 sum = ((magnitude(point.word.re) + magnitude(point.word.im)) >> (below < 63 ? below : 63)) + 1;
        low += (u32)sum;
        high += sum >> 32;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        low += shuffle_xor(low, distance);
        high += shuffle_xor(high, distance);
    }
    if (thread_number() % 32 == 0 && (low | high) != 0) {
        atomic_add(&task.facts[piece.line].low, low);
        atomic_add(&task.facts[piece.line].high, high);
    }
}

// The unit of the integers that enter the convolution is two to this power.
DEVICE int unit_of(const FourierTask &task, const LineFacts &facts) {
    const u128 sum = ((u128)facts.high << 32) + facts.low;
    const u64 high = (u64)(sum >> 64), low = (u64)sum;
    const int bits = high != 0 ? 128 - leading_zeros(high) : 64 - leading_zeros(low);
    return facts.top - TOP_OFFSET + bits - task.sum_bits;
}

// A number below 2^124 over 2^shift, to the nearest integer, halves upwards.
DEVICE i128 rounded(i128 number, int shift) { return shift >= 125 ? 0 : (number + ((i128)1 << (shift - 1))) >> shift; }

DEVICE void set_limbs(u32 (&limbs)[LIMBS], i128 number) {
    const u128 biased = (u128)number + ((u128)1 << (32 * LIMBS - 1));
    for (int limb = 0; limb < LIMBS; limb++) limbs[limb] = (u32)(biased >> (32 * limb));
}

DEVICE GaussianLimbs chirped(const FourierTask &task, const LineFacts &facts, const Point &point, u64 j) {
    i128 re = 0, im = 0;
    if (!point.is_zero() && (facts.flags & NOT_FINITE) == 0) {
        const Words chirp = task.chirp[j];
        const Words word = point.word;
        const int shift = unit_of(task, facts) + TABLE_BITS - point.exponent;
        re = rounded((i128)word.re * chirp.re - (i128)word.im * chirp.im, shift);
        im = rounded((i128)word.re * chirp.im + (i128)word.im * chirp.re, shift);
    }
    GaussianLimbs limbs;
    set_limbs(limbs.re, re);
    set_limbs(limbs.im, im);
    return limbs;
}

// Residues of both images of every point, or of the operand that stays; zeros behind them.
KERNEL(THREADS, 4) ntt_line_images(PARAMETERS FourierTask task) {
    const u32 points = (u32)LANES << task.levels;
    const Piece piece(points, THREADS);
    const u64 j = piece.start + (u32)thread_number();
    const bool there = j < task.n;
    GaussianLimbs limbs;
    if (there) {
        limbs = task.fixed != nullptr ? task.fixed[j]
                                      : chirped(task, task.facts[piece.line], point_of(bits_at(task, input_offset(task, piece.line), j)), j);
    }
    const u64 group = (u64)task.tiles * (LANES << TILE_BITS);
    u32 *residues = task.residues + (u64)piece.line * points + j;
#pragma unroll 1
    for (int which = 0; which < task.primes; which++) {
        u32 plus = 0, minus = 0;
        if (there) {
            const Modulus modulus{task.each[which].value};
            const ImageFactors &factors = task.images[which];
            const auto times = [&](u32 limb, Factor factor) { return modulus.lift(modulus.times(limb, factor)); };
            const auto sum = [&](u32 a, u32 b) { return least(a + b, a + b - modulus.prime); };
            u32 re = sum(modulus.reduce(modulus.enter(limbs.re[0])), factors.biases[0]);
            re = sum(re, times(limbs.re[1], factors.real[0]));
            re = sum(re, times(limbs.re[2], factors.real[1]));
            u32 im = sum(times(limbs.im[0], factors.imaginary[0]), factors.biases[1]);
            im = sum(im, times(limbs.im[1], factors.imaginary[1]));
            im = sum(im, times(limbs.im[2], factors.imaginary[2]));
            plus = sum(re, im);
            minus = modulus.lift(re - im);
        }
        residues[0] = plus;
        residues[group] = minus;
        residues += 2 * group;
    }
}

// An integer of 192 bits, sign included.
struct Long {
    u64 low, middle;
    int64_t high;
};
template <int COUNT> DEVICE Long long_of(const FourierTask &task, u32 (&digits)[COUNT]) {
    mixed_radix(task.each, digits);
    u32 words[2 * LIMBS];
    signed_integer(task.each, task.modulus, digits, words);
    return {words[0] | (u64)words[1] << 32, words[2] | (u64)words[3] << 32, (int64_t)(words[4] | (u64)words[5] << 32)};
}

// The bits of (a·x + b·y)·2^exponent, rounded once. The squares of x and y add up to at most 2^125.
DEVICE uint64_t rounded_sum(Long a, int64_t x, Long b, int64_t y, int exponent, bool single) {
    const i128 first = (i128)a.low * x + (i128)b.low * y;
    const i128 second = (i128)a.middle * x + (i128)b.middle * y + (first >> 64);
    const i128 third = (i128)a.high * x + (i128)b.high * y + (second >> 64);
    u64 words[4] = {(u64)first, (u64)second, (u64)third, (u64)(third >> 64)};
    const bool negative = third < 0;
    if (negative) {
        u64 carry = 1;
        for (int i = 0; i < 4; i++) {
            words[i] = ~words[i] + carry;
            carry = carry != 0 && words[i] == 0 ? 1 : 0;
        }
    }
    // The word with the leading bit moves to the top; what was below the 64 bits from there on leaves a mark.
    u64 lost = 0;
    int place = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        if (words[3] == 0) {
            words[3] = words[2];
            words[2] = words[1];
            words[1] = words[0];
            words[0] = 0;
            place -= 64;
        }
    }
    if (words[3] == 0) return 0;
    const int zeros = leading_zeros(words[3]);
    u64 leading = words[3] << zeros;
    if (zeros > 0) {
        leading |= words[2] >> (64 - zeros);
        lost = words[2] << zeros;
    } else {
        lost = words[2];
    }
    leading |= (lost | words[1] | words[0]) != 0 ? 1 : 0;
    const int lowest = exponent + 192 + place - zeros;
    if (single) return rounded_fields(leading, lowest, 24, -149, SINGLE_INFINITY) | (negative ? 0x80000000u : 0);
    return rounded_fields(leading, lowest, 53, -1074, DOUBLE_INFINITY) | (negative ? SIGN : 0);
}

// Results of the lines.
template <int COUNT> DEVICE void outputs(const FourierTask &task) {
    const FloatLines &lines = task.array.output;
    const Piece piece(lines.count, THREADS);
    const u64 k = piece.start + (u32)thread_number();
    if (k >= lines.count) return;
    const int64_t offset = line_offset(lines, task.first_line + piece.line);
    const LineFacts facts = task.facts[piece.line];
    if ((facts.flags & NOT_FINITE) != 0) return write_element(lines, offset, k, not_a_number(lines));
    if (facts.flags == 0) return write_element(lines, offset, k, {0, 0});
    const u64 group = (u64)task.tiles * (LANES << TILE_BITS);
    const u32 *residues = task.residues + ((u64)piece.line * LANES << task.levels) + k;
    u32 real[COUNT], imaginary[COUNT];
#pragma unroll
    for (int which = 0; which < COUNT; which++) {
        const BatchPrime &prime = task.each[which];
        const Modulus modulus{prime.value};
        const auto image = [&](const u32 *from) {
            u32 sum = from[0];
            if (task.cycle != 0) {
                const u32 beyond = from[task.cycle];
                sum += task.negacyclic ? 2 * modulus.prime - beyond : beyond;
            }
            return modulus.lift(modulus.times(sum, prime.back));
        };
        const u32 plus = image(residues + 2 * which * group), minus = image(residues + (2 * which + 1) * group);
        real[which] = least(plus + minus, plus + minus - modulus.prime);
        imaginary[which] = modulus.lift(modulus.times(modulus.lift(plus - minus), task.images[which].turned));
    }
    const Long re = long_of(task, real), im = long_of(task, imaginary);
    const Words chirp = task.last_chirp[k];
    const bool single = lines.single != 0;
    const int exponent = unit_of(task, facts) + task.exponent + bias_of_line(task.array, task.first_line + piece.line);
    Words bits = {(int64_t)rounded_sum(re, chirp.re, im, -chirp.im, exponent, single), 0};
    if (lines.elements != ELEMENTS_REAL) {
        const int64_t sign = lines.conjugate != 0 ? -1 : 1;
        bits.im = (int64_t)rounded_sum(re, sign * chirp.im, im, sign * chirp.re, exponent, single);
    }
    // The first and, for even lengths, the middle output of real numbers is real, and that of imaginary ones imaginary.
    if (k == 0 || 2 * k == task.n) {
        if ((facts.flags & HAS_IMAGINARY) == 0) bits.im = 0;
        if ((facts.flags & HAS_REAL) == 0) bits.re = 0;
    }
    write_element(lines, offset, k, bits);
}

#define OUTPUTS(count) \
    KERNEL(THREADS, 2) ntt_line_outputs_##count(PARAMETERS FourierTask task) { outputs<count>(task); }
OUTPUTS(2)
OUTPUTS(3)
OUTPUTS(4)
OUTPUTS(5)
OUTPUTS(6)

} // namespace ntt
