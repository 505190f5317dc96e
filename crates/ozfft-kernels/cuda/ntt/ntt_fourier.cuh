// Fourier transforms by Bluestein's algorithm, whose convolution is exact: what the kernels of ntt_fourier.cu are given. src/ntt_fourier.rs has the
// same structures.
#pragma once
#include "ntt/ntt_batches.cuh"
#include "numerics/numbers.cuh"
#include "numerics/quantise.cuh"

namespace ntt {

// What is known of a line; all zero at first.
struct LineFacts {
    // NOT_FINITE, HAS_REAL, HAS_IMAGINARY.
    uint32_t flags;
    // The exponent of its largest word, plus TOP_OFFSET.
    int32_t top;
    // The sum of all magnitudes in that word's units: of their lowest 32 bits, and of the others.
    u64 low, high;
};
// More than any exponent lies below zero.
constexpr int32_t TOP_OFFSET = 4096;

// A Gaussian integer modulo one prime: both its parts have three limbs, and 2^95 added.
struct ImageFactors {
    // 2^32 and 2^64; ι, ι·2^32 and ι·2^64, with ι² = -1; and 1/ι.
    Factor real[2], imaginary[3], turned;
    // What was added to the parts, the latter's times ι, subtracted.
    u32 biases[2];
};

constexpr int LIMBS = 3;
struct GaussianLimbs {
    u32 re[LIMBS], im[LIMBS];
};

struct FourierTask {
    // Where lines are read and written. Its number of lines is that of the launch, its arrays are numbered from `first_line` on.
    ArrayTask array;
    LineFacts *facts;
    // Groups of residues: two images for each prime, line by line.
    u32 *residues;
    // Instead of lines: the operand that stays the same.
    const GaussianLimbs *fixed;
    // exp(-πi k²/n), with TABLE_BITS bits behind the point; and the same times the norm.
    const Words *chirp, *last_chirp;
    u64 n, first_line;
    u32 lines, tiles;
    int levels, primes;
    // Residues this far on are added, or subtracted; 0: they have wrapped around by themselves.
    u64 cycle;
    int negacyclic;
    // Sums of magnitudes get so many bits.
    int sum_bits;
    // Added to the exponents of the results.
    int exponent;
    int reserved;
    u32 modulus[MOST_PRIMES];
    ImageFactors images[MOST_PRIMES];
    BatchPrime each[MOST_PRIMES];
};
static_assert(sizeof(FourierTask) == 2048 && sizeof(LineFacts) == 24 && sizeof(ImageFactors) == 56, "ntt_fourier.rs");

} // namespace ntt
