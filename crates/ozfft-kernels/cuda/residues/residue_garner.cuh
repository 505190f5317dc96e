// Garner's way: digits of a mixed radix, one modulus after the other, then Horner's rule (crates/residues, reconstruct/garner.rs).
// Everything happens in the lane that has the residues.
//
// The integer is d_0 + d_1 m_0 + d_2 m_0 m_1 + … with balanced digits. They come with a constant each, which the bits of floats leave behind, and which
// the next sums take into account (arithmetic modulo 2^32).
#pragma once
#include "residues/residue_words.cuh"

namespace garner {

DEVICE_CONSTANT int inverse(long long x, int m) {
    for (int i = 1; i < m; i++) {
        if (x % m * i % m == 1) return i;
    }
    return 1;
}
// m_0 · … · m_(count - 1) modulo m.
DEVICE_CONSTANT long long product_below(int count, int m) {
    long long product = 1;
    for (int i = 0; i < count; i++) product = product * modulus(i) % m;
    return product;
}
// The number that residue k is multiplied by, and what is taken off for digit j < k.
DEVICE_CONSTANT int factor(int k) { return balanced(inverse(product_below(k, modulus(k)), modulus(k)), modulus(k)); }
DEVICE_CONSTANT int coefficient(int k, int j) { return balanced(static_cast<long long>(factor(k)) * product_below(j, modulus(k)), modulus(k)); }
// What a digit has more than it should.
DEVICE_CONSTANT uint32_t surplus(int k) {
    return k == 0 ? 0 : static_cast<uint32_t>(FLOAT_BITS) - static_cast<uint32_t>(FLOAT_VALUE) - static_cast<uint32_t>(FLOAT_BITS) * static_cast<uint32_t>(modulus(k));
}
// What a digit's sum begins with.
DEVICE_CONSTANT uint32_t start(int k) {
    uint32_t sum = static_cast<uint32_t>(FLOAT_BITS + balanced(-FLOAT_VALUE, modulus(k)));
    for (int j = 0; j < k; j++) sum += surplus(j) * static_cast<uint32_t>(coefficient(k, j));
    return sum;
}
// Products of moduli within a group of four, and what the group's digits have more in all.
DEVICE_CONSTANT uint32_t place(int k) {
    uint32_t product = 1;
    for (int i = k / 4 * 4; i < k; i++) product *= static_cast<uint32_t>(modulus(i));
    return product;
}
DEVICE_CONSTANT uint32_t group_surplus(int group, int count) {
    uint32_t sum = 0;
    for (int k = 4 * group; k < 4 * group + 4 && k < count; k++) sum += surplus(k) * place(k);
    return sum;
}
DEVICE_CONSTANT uint32_t group_product(int group) { return place(4 * group + 3) * static_cast<uint32_t>(modulus(4 * group + 3)); }

// Residue k, with its sign.
DEVICE int32_t residue(const Residues &residues, int k) { return static_cast<int8_t>(residues.bytes[k / 4] >> (8 * (k % 4))); }

// Digits with one reduction each: a sum of products stays far below what a float holds.
template <int COUNT> struct AtOnce {
    static DEVICE void digits(const Residues &residues, uint32_t (&digits)[COUNT]) {
        digits[0] = static_cast<uint32_t>(residue(residues, 0));
        for_numbers<1, COUNT>([&](auto k) {
            constexpr uint32_t FACTOR = static_cast<uint32_t>(factor(k)), START = start(k);
            uint32_t sum = static_cast<uint32_t>(residue(residues, k)) * FACTOR + START;
            for_numbers<0, k>([&](auto j) {
                constexpr uint32_t COEFFICIENT = static_cast<uint32_t>(coefficient(Number<k>(), Number<j>()));
                sum -= digits[j] * COEFFICIENT;
            });
            digits[k] = residue_byte<k>(static_cast<int>(sum));
        });
    }
};

// Digits as the method is usually written: one digit after the other is taken off all residues above it, which are multiplied by
// the inverse of its modulus and reduced every time.
template <int COUNT> struct OneByOne {
    // Of a residue that has been reduced, or of one that has not: what it has more.
    static DEVICE_CONSTANT uint32_t begin(int k, int j) {
        const uint32_t times = static_cast<uint32_t>(times_of(k, j));
        const uint32_t own = j == 0 ? 0 : surplus(k);
        return static_cast<uint32_t>(FLOAT_BITS + balanced(-FLOAT_VALUE, modulus(k))) - (own - surplus(j)) * times;
    }
    static DEVICE_CONSTANT int times_of(int k, int j) { return balanced(inverse(modulus(j) % modulus(k), modulus(k)), modulus(k)); }
    static DEVICE void digits(const Residues &residues, uint32_t (&digits)[COUNT]) {
        for_numbers<0, COUNT>([&](auto k) { digits[k] = static_cast<uint32_t>(residue(residues, k)); });
        for_numbers<0, COUNT>([&](auto j) {
            for_numbers<j + 1, COUNT>([&](auto k) {
                constexpr uint32_t TIMES = static_cast<uint32_t>(times_of(Number<k>(), Number<j>())), BEGIN = begin(Number<k>(), Number<j>());
                digits[k] = residue_byte<k>(static_cast<int>((digits[k] - digits[j]) * TIMES + BEGIN));
            });
        });
    }
};

}  // namespace garner

template <template <int> class Digits> struct Garner {
    template <int COUNT> static DEVICE LongInteger integer(const Residues &residues, Rounding rounding) {
        uint32_t digits[COUNT];
        Digits<COUNT>::digits(residues, digits);
        constexpr int GROUPS = (COUNT + 3) / 4;
        uint32_t groups[GROUPS];
        for_numbers<0, GROUPS>([&](auto group) {
            constexpr uint32_t SURPLUS = garner::group_surplus(group, COUNT);
            uint32_t sum = digits[4 * group] - SURPLUS;
            for_numbers<4 * group + 1, (4 * group + 4 < COUNT ? 4 * group + 4 : COUNT)>([&](auto k) {
                constexpr uint32_t PLACE = garner::place(Number<k>());
                sum += digits[k] * PLACE;
            });
            groups[group] = sum;
        });
        // Horner's rule; an integer of n words with its sign times a word, and a group, make one of n + 1.
        constexpr uint32_t P2 = garner::group_product(2), P1 = garner::group_product(1), P0 = garner::group_product(0);
        auto sign = [](uint32_t x) { return static_cast<uint32_t>(static_cast<int32_t>(x) >> 31); };
        auto wide = [](uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) * b; };
        auto extended = [](uint32_t x) { return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(x))); };
        const uint64_t two = wide(groups[3], P2) + (static_cast<uint64_t>(sign(groups[3]) * P2) << 32) + extended(groups[2]);
        const uint32_t a0 = static_cast<uint32_t>(two), a1 = static_cast<uint32_t>(two >> 32);
        // Three words: both products, the sign's, and the group with its sign.
        const uint64_t b01 = wide(a0, P1), b12 = wide(a1, P1);
        uint32_t b0 = static_cast<uint32_t>(b01), b1 = static_cast<uint32_t>(b01 >> 32), b2 = static_cast<uint32_t>(b12 >> 32) + sign(a1) * P1;
        arithmetic::add_three(b0, b1, b2, 0, static_cast<uint32_t>(b12), 0, b0, b1, b2);
        arithmetic::add_three(b0, b1, b2, groups[1], sign(groups[1]), sign(groups[1]), b0, b1, b2);
        const uint64_t c01 = wide(b0, P0), c12 = wide(b1, P0), c23 = wide(b2, P0);
        uint32_t c1 = static_cast<uint32_t>(c01 >> 32), c2 = static_cast<uint32_t>(c12 >> 32), c3 = static_cast<uint32_t>(c23 >> 32) + sign(b2) * P0;
        arithmetic::add_three(c1, c2, c3, static_cast<uint32_t>(c12), static_cast<uint32_t>(c23), 0, c1, c2, c3);
        // The lowest group together with one half of the last place, less what residues have in common.
        const uint64_t half = (uint64_t{1} << (54 + rounding.shift)) - FLOAT_VALUE - (rounding.down ? 1 : 0) + extended(groups[0]);
        LongInteger total;
        const uint64_t low = static_cast<uint32_t>(c01) + (half & 0xffffffffu);
        total.words[0] = static_cast<uint32_t>(low);
        const uint64_t next = static_cast<uint64_t>(c1) + static_cast<uint32_t>(half >> 32) + (low >> 32);
        total.words[1] = static_cast<uint32_t>(next);
        const uint64_t above = static_cast<uint64_t>(c2) + (next >> 32);
        total.words[2] = static_cast<uint32_t>(above);
        total.words[3] = c3 + static_cast<uint32_t>(above >> 32);
        return total;
    }

    template <int COUNT>
    static DEVICE void reconstruct(const Residues (&parts)[2], const SliceTable &, uint32_t, const Rounding (&rounding)[2], bool down_after, Rounded (&to)[2]) {
#pragma unroll
        for (int part = 0; part < 2; part++) {
            const LongInteger total = integer<COUNT>(parts[part], rounding[part]);
            to[part] = total.quotient(rounding[part]);
            if (part == 1 && down_after && total.was_half(rounding[part])) {
                to[part].low -= 1;
            }
        }
    }
};
