// Transforms of many polynomials at once modulo one to six primes, and what the kernels of ntt_batches.cu are given: src/ntt_batches.rs has the same
// structure.
#pragma once
#include "ntt/ntt_passes.cuh"

namespace ntt {

constexpr int MOST_PRIMES = 6;
// Levels of the smallest transforms, of which a block has several.
constexpr int LEAST_BATCH_LEVELS = 4;

using BatchPrime = PrimeWith<MOST_PRIMES - 1>;

// One operand of a batch of convolutions, or its results. Residues are those of all primes, one after the other; where polynomials have several
// images modulo a prime, these are one after the other, too. Such a group has 256 rows of 16 numbers for each of its tiles: those of one member of
// the batch behind those of another, 2^levels rows each.
struct BatchTask {
    // Integers of the operand, member by member.
    const void *numbers;
    u32 *residues;
    // What row products multiply with.
    const u32 *factors;
    // For each prime 2^(levels - 1) entries.
    Factor *roots;
    void *results;
    // Integers of a member, and results of one.
    u64 length, result_length;
    // Added to integers to make them positive: their highest bit, or nothing.
    u64 bias;
    // So many residues after each other one is added to it where that is a result, too; of all `whole` residues of a member. 0: none.
    u64 cycle, whole;
    u32 members;
    // Blocks of a group: of the residues, and of the factors.
    u32 tiles, factor_tiles;
    // Whether all members are multiplied with one.
    int is_shared;
    // A member has 2^levels rows; the first level of a pass.
    int levels, level;
    int primes, images;
    // Bytes of an integer and of a result.
    int number_bytes, result_bytes;
    // The product of the primes, lowest word first.
    u32 modulus[MOST_PRIMES];
    // The bias subtracted, modulo every prime; and 2^32.
    u32 biases[MOST_PRIMES];
    Factor folds[MOST_PRIMES];
    BatchPrime each[MOST_PRIMES];
};
static_assert(sizeof(BatchTask) == 1608, "ntt_batches.rs");

// Garner's algorithm: digits in mixed radix in place of residues, each below its prime. A digit of one prime is below twice any other.
template <int COUNT> DEVICE void mixed_radix(const BatchPrime (&primes)[MOST_PRIMES], u32 (&digits)[COUNT]) {
#pragma unroll
    for (int number = 1; number < COUNT; number++) {
        const Modulus modulus{primes[number].value};
#pragma unroll
        for (int before = 0; before < number; before++) {
            const u32 difference = digits[number] + 2 * modulus.prime - digits[before];
            digits[number] = modulus.lift(modulus.times(difference, primes[number].inverses[before]));
        }
    }
}

// The integer with these digits, modulo 2^(32·WORDS), lowest word first. Its magnitude is below a quarter of the product of the primes: in the
// upper half are the negative ones, and the highest digit of those in between is far from those of both.
template <int WORDS, int COUNT>
DEVICE void signed_integer(const BatchPrime (&primes)[MOST_PRIMES], const u32 (&modulus)[MOST_PRIMES], const u32 (&digits)[COUNT], u32 (&words)[WORDS]) {
    words[0] = digits[COUNT - 1];
#pragma unroll
    for (int word = 1; word < WORDS; word++) words[word] = 0;
#pragma unroll
    for (int number = COUNT - 2; number >= 0; number--) {
        u64 carry = digits[number];
#pragma unroll
        for (int word = 0; word < WORDS; word++) {
            carry += (u64)words[word] * primes[number].value;
            words[word] = (u32)carry;
            carry >>= 32;
        }
    }
    if (digits[COUNT - 1] > primes[COUNT - 1].value / 2) {
        u64 borrow = 0;
#pragma unroll
        for (int word = 0; word < WORDS; word++) {
            const u64 difference = (u64)words[word] - modulus[word] - borrow;
            words[word] = (u32)difference;
            borrow = difference >> 63;
        }
    }
}

} // namespace ntt
