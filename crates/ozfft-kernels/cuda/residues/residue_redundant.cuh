// Redundant moduli: bad residues are found, and sums put right (crates/residues, redundant.rs, has the theory).
//
// Any 16 of the 18 moduli hold all sums. An integer y is put together from the first 16, and taken modulo the other two: all residues are those of one integer
// within the bound if y is within it and agrees with both. So two bad residues are always found. One bad residue is put right, by whichever lane has found it:
//
// - If one of the two disagrees and y is within the bound, that one is bad and y is right: it has all the others.
// - If number i of the sixteen is bad, the right integer is x = y - c·u, where u is the product of the other fifteen, because x and y agree modulo all of
//   those. |y| is at most half of the product of all sixteen, and a little more, and |x| is less than a tenth of it, so |c| < 191, the first of the two other
//   moduli, and c modulo 191 follows from how far y is off there: two candidates, which the second of them and the bound have to confirm.
//
// No two integers within the bound have 17 of 18 residues in common with those at hand, so what is confirmed first is what is right. Two bad residues may
// look like another one that is bad: to put right one and be sure to find two would take three redundant moduli.
#pragma once
#include "residues/residue_words.cuh"

// What a launch counts, and the faults that it makes, for tests: in one of so many sums, or none at all.
struct Watch {
    // Sums that were put right, and sums that could not be.
    uint64_t *counts;
    uint32_t seed, one_in;
};
struct WatchedTask {
    Task task;
    Watch watch;
};
static_assert(sizeof(WatchedTask) == sizeof(Task) + 16, "the host lays out the same structure");

// The product of all but one of the sixteen moduli; its inverse modulo the first of the others, and itself modulo the second.
struct alignas(16) OtherProduct {
    uint32_t words[4];
};
struct alignas(16) OtherResidues {
    uint32_t inverse, residue, unused[2];
};
struct Corrections {
    OtherProduct products[MOST_MODULI];
    OtherResidues residues[MOST_MODULI];
};

// Sums of a step are taken for right whose upper word is of at most this magnitude: largest_sum of residue_products.rs, with words of 61 bits and a matrix of
// 127·2^48, over 2^96, and one for what is added before. Any sixteen moduli have a product of more than 2^124, and this is 2^122 at most.
template <bool CLOSING, int N> constexpr uint32_t MOST_UPPER = (CLOSING ? N * 17 * 127 << 9 : 127 << 13) + 1;
static_assert(MOST_UPPER<true, 32> < 1 << 26, "any sixteen moduli hold what is taken for right");
DEVICE bool is_within(const LongInteger &sum, uint32_t most_upper) { return sum.words[3] + most_upper <= 2 * most_upper; }

DEVICE_CONSTANT long long power_of_two_modulo(int exponent, int m) {
    long long rest = 1;
    for (int i = 0; i < exponent; i++) rest = rest * 2 % m;
    return rest;
}

// How far a sum, to which 2^54 has been added, less one if `down`, is off a redundant residue, modulo its modulus, in the lowest byte with its sign: zero
// if they agree. Like sums, residues have 1.5·2^23 more, which sums have no longer.
template <int NUMBER> DEVICE uint32_t difference(const LongInteger &sum, uint32_t residues, bool down) {
    constexpr int M = modulus(NUMBER), PLACE = NUMBER - MOST_MODULI;
    // Without signs: 2^127 more, and for the residue 128.
    constexpr int BEGIN = FLOAT_BITS + balanced(128 - power_of_two_modulo(127, M) - power_of_two_modulo(54, M), M);
    constexpr uint32_t MINUS_ONE = 0xffu << (8 * PLACE);
    constexpr uint32_t P0 = powers(NUMBER, 0), P1 = powers(NUMBER, 4), P2 = powers(NUMBER, 8), P3 = powers(NUMBER, 12);
    int bits = arithmetic::dot_product(residues ^ 0x8080u, MINUS_ONE, BEGIN + (down ? 1 : 0));
    bits = arithmetic::dot_product(sum.words[0], P0, bits);
    bits = arithmetic::dot_product(sum.words[1], P1, bits);
    bits = arithmetic::dot_product(sum.words[2], P2, bits);
    bits = arithmetic::dot_product(sum.words[3] ^ 0x80000000u, P3, bits);
    return residue_byte<NUMBER>(bits);
}
static_assert(16 * 255 * 128 + 256 * 128 < LARGEST_SUM, "differences are sums that residues can be taken of");

DEVICE int least_residue(int x, int m) {
    const int rest = x % m;
    return rest < 0 ? rest + m : rest;
}

// sum - times · product.
DEVICE LongInteger less_multiple(const LongInteger &sum, int times, const OtherProduct &product) {
    LongInteger rest;
    const uint32_t factor = static_cast<uint32_t>(times < 0 ? -times : times);
    uint64_t carry = 0, borrow = 0;
    for (int i = 0; i < 4; i++) {
        carry += static_cast<uint64_t>(product.words[i]) * factor;
        const uint32_t word = static_cast<uint32_t>(carry);
        carry >>= 32;
        borrow += times < 0 ? static_cast<uint64_t>(sum.words[i]) + word : static_cast<uint64_t>(sum.words[i]) - word;
        rest.words[i] = static_cast<uint32_t>(borrow);
        borrow = static_cast<uint64_t>(static_cast<int64_t>(borrow) >> 32);
    }
    return rest;
}

// A sum with bad residues, put right and counted; zero if it cannot be.
DEVICE_APART LongInteger corrected(LongInteger sum, uint32_t first_off, uint32_t second_off, uint32_t most_upper, const Corrections *corrections, uint64_t *counts) {
    constexpr int FIRST = modulus(MOST_MODULI), SECOND = modulus(MOST_MODULI + 1);
    const int first = least_residue(static_cast<int8_t>(first_off), FIRST), second = least_residue(static_cast<int8_t>(second_off), SECOND);
    if (is_within(sum, most_upper) && (first == 0 || second == 0)) {
        atomic_add(counts, uint64_t{1});
        return sum;
    }
    for (int i = 0; i < MOST_MODULI; i++) {
        const OtherResidues residues = table_entry(corrections->residues + i);
        const int times = first * static_cast<int>(residues.inverse) % FIRST;
        for (int candidate = times; candidate > -FIRST; candidate -= FIRST) {
            if (least_residue(candidate * static_cast<int>(residues.residue) - second, SECOND) != 0) {
                continue;
            }
            const LongInteger right = less_multiple(sum, candidate, table_entry(corrections->products + i));
            if (is_within(right, most_upper)) {
                atomic_add(counts, uint64_t{1});
                return right;
            }
        }
    }
    atomic_add(counts + 1, uint64_t{1});
    return LongInteger{{0, 0, 0, 0}};
}

// Which sum it is: what decides whether a fault is made in it.
DEVICE uint32_t mixed(uint32_t seed, uint32_t number) {
    uint32_t x = seed + number * 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// Flips a bit of one of a sum's residues: of the sixteen at `place` in shared memory, or of those that are returned.
DEVICE_APART uint32_t with_fault(uint32_t place, uint32_t residues, Watch watch, uint32_t number) {
    const uint32_t chosen = mixed(watch.seed, number);
    if (chosen % watch.one_in != 0) {
        return residues;
    }
    const uint32_t which = mixed(chosen, number), modulus_number = which % (MOST_MODULI + REDUNDANT_MODULI), bit = which / 32 % 8;
    if (modulus_number >= MOST_MODULI) {
        return residues ^ 1u << (8 * (modulus_number - MOST_MODULI) + bit);
    }
    const uint32_t at = place + modulus_number / 4 * 4;
    store_shared_int(at, load_shared_int(at) ^ static_cast<int>(1u << (8 * (modulus_number % 4) + bit)));
    return residues;
}

// What a lane needs to check both parts of a number.
struct Checks {
    uint32_t residues[2];
    uint32_t most_upper;
    const Corrections *corrections;
    const Watch &watch;
    uint32_t number;
};

// As ExactSlices<Kulisch32>, from sixteen moduli, and checked.
struct RedundantSlices {
    static DEVICE void reconstruct(const Residues (&parts)[2], const SliceTable &table, uint32_t scratch, const Rounding (&rounding)[2], bool down_after,
                                   Rounded (&to)[2], Checks checks) {
        Piece windows[2][4];
        const int64_t constants[2] = {Kulisch32::constants(Start(rounding[0])), Kulisch32::constants(Start(rounding[1]))};
        sliced(
            parts, table, scratch, [&](const Window &window, uint32_t part) { return Kulisch32::piece(window, table, constants[part]); }, windows,
            [&](uint32_t place) {
                if (checks.watch.one_in != 0) {
                    for (uint32_t part = 0; part < 2; part++) {
                        checks.residues[part] = with_fault(place + 512 * part, checks.residues[part], checks.watch, 2 * checks.number + part);
                    }
                }
            });
#pragma unroll
        for (int part = 0; part < 2; part++) {
            LongInteger sum = whole(windows[part]);
            const uint32_t first = difference<MOST_MODULI>(sum, checks.residues[part], rounding[part].down);
            const uint32_t second = difference<MOST_MODULI + 1>(sum, checks.residues[part], rounding[part].down);
            if (((first | second) & 0xff) != 0 || !is_within(sum, checks.most_upper)) {
                sum = corrected(sum, first, second, checks.most_upper, checks.corrections, checks.watch.counts);
            }
            to[part] = rounded_whole(sum, rounding[part], part == 1 && down_after);
        }
        // Lanes that have corrected something are waited for: the tensor instruction takes whole warps.
        warp_barrier();
    }
};

// Redundant moduli of a way of reconstruction.
template <class Way> constexpr int REDUNDANT = 0;
template <> constexpr int REDUNDANT<RedundantSlices> = REDUNDANT_MODULI;
