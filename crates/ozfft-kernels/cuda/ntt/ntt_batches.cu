// target: fatbin
// tuned
// Convolutions of arrays of integers, many at once, by number-theoretic transforms modulo one to six primes: the numbers of crates/exact-convolution, whose
// plans have the argument why they are exact. Passes and row products also serve the Fourier transforms of ntt_fourier.cu.
#include "ntt/ntt_batches.cuh"

using namespace ntt;

// What a block of a pass works on.
struct Place {
    u32 group, tile, prime;

    DEVICE Place(const BatchTask &task) {
        group = blockIdx.x / task.tiles;
        tile = blockIdx.x - group * task.tiles;
        prime = group / (u32)task.images;
    }
    DEVICE u32 *residues(const BatchTask &task) const { return task.residues + (u64)group * task.tiles * (LANES << TILE_BITS); }
    DEVICE const Factor *roots(const BatchTask &task) const { return task.roots + ((u64)prime << (task.levels - 1)); }
    template <int LEVELS> DEVICE Part<LEVELS, true> part(const BatchTask &task) const {
        return {tile, task.levels, task.level, residues(task), roots(task), task.each[prime].value};
    }
};

// The first LEVELS levels of integers. Behind those of a member are zeros, and behind all members.
template <int LEVELS> DEVICE void opening(const BatchTask &task) {
    const Place block(task);
    const auto part = block.part<LEVELS>(task);
    const u32 points = (u32)LANES << task.levels;
    const u32 bias = task.biases[block.prime];
    const Factor fold = task.folds[block.prime];
    forward_pass(part, [&](u32 (&x)[OWN], auto place) {
        const auto read = [&](auto numbers) {
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                const u32 at = place(i), member = at / points, index = at & (points - 1);
                const bool there = member < task.members && index < task.length;
                const u64 biased = there ? numbers[member * task.length + index] ^ task.bias : 0;
                // Below 2p, and at most p twice.
                u32 sum = part.modulus.halve_range(part.modulus.enter((u32)biased)) + bias;
                if (sizeof(numbers[0]) == 8) sum += part.modulus.lift(part.modulus.times((u32)(biased >> 32), fold));
                x[i] = there ? sum : 0;
            }
        };
        switch (task.number_bytes) {
        case 1: return read(static_cast<const uint8_t *>(task.numbers));
        case 2: return read(static_cast<const uint16_t *>(task.numbers));
        case 4: return read(static_cast<const u32 *>(task.numbers));
        default: return read(static_cast<const u64 *>(task.numbers));
        }
    });
}
template <int LEVELS> DEVICE void forward(const BatchTask &task) { forward_pass(Place(task).part<LEVELS>(task)); }
template <int LEVELS> DEVICE void inverse(const BatchTask &task) {
    const Place block(task);
    inverse_pass(block.part<LEVELS>(task), task.each[block.prime].minus_one);
}

#define PASSES(levels)                                                                                \
    KERNEL(THREADS, 2) ntt_batch_opening_##levels(PARAMETERS BatchTask task) { opening<levels>(task); } \
    KERNEL(THREADS, 2) ntt_batch_forward_##levels(PARAMETERS BatchTask task) { forward<levels>(task); } \
    KERNEL(THREADS, 2) ntt_batch_inverse_##levels(PARAMETERS BatchTask task) { inverse<levels>(task); }
PASSES(4)
PASSES(5)
PASSES(6)
PASSES(7)
PASSES(8)

// The table of roots of every prime.
KERNEL(THREADS, 4) ntt_batch_roots(PARAMETERS BatchTask task) {
    const u64 number = (u64)blockIdx.x * THREADS + thread_number();
    const int entry_bits = task.levels - 1;
    const u32 which = (u32)(number >> entry_bits), k = (u32)number & ((1u << entry_bits) - 1);
    if (which >= (u32)task.primes) return;
    task.roots[number] = root_entry(task.each[which], k, entry_bits);
}

// Products of rows; a row for every thread.
KERNEL(THREADS, 2) ntt_batch_row_products(PARAMETERS BatchTask task) {
    const Place block(task);
    const u32 row = block.tile * THREADS + (u32)thread_number(), own = row & ((1u << task.levels) - 1);
    const u32 *const factors = task.factors + (u64)block.group * task.factor_tiles * (LANES << TILE_BITS);
    row_product(task.each[block.prime], block.roots(task), own, block.residues(task) + (u64)row * LANES,
                factors + (u64)(task.is_shared ? own : row) * LANES);
}

// Integers of the residues modulo COUNT primes; one for every thread.
template <int COUNT> DEVICE void results(const BatchTask &task) {
    const u32 length = (u32)task.result_length;
    const u64 number = (u64)blockIdx.x * THREADS + thread_number();
    if (number >= (u64)task.members * length) return;
    const u32 member = (u32)number / length, index = (u32)number - member * length;
    const u64 first = ((u64)member * LANES << task.levels) + index;
    const bool wraps = task.cycle != 0 && index + task.cycle < task.whole;
    u32 digits[COUNT];
#pragma unroll
    for (int which = 0; which < COUNT; which++) {
        const u32 *const residues = task.residues + (u64)which * task.tiles * (LANES << TILE_BITS) + first;
        const Modulus modulus{task.each[which].value};
        // Below 4p.
        const u32 sum = residues[0] + (wraps ? residues[task.cycle] : 0);
        digits[which] = modulus.lift(modulus.times(sum, task.each[which].back));
    }
    mixed_radix(task.each, digits);
    u32 words[4];
    signed_integer(task.each, task.modulus, digits, words);
    switch (task.result_bytes) {
    case 1: static_cast<uint8_t *>(task.results)[number] = (uint8_t)words[0]; return;
    case 2: static_cast<uint16_t *>(task.results)[number] = (uint16_t)words[0]; return;
    case 4: static_cast<u32 *>(task.results)[number] = words[0]; return;
    case 8: static_cast<uint2 *>(task.results)[number] = make_uint2(words[0], words[1]); return;
    default: static_cast<uint4 *>(task.results)[number] = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

#define RESULTS(count) \
    KERNEL(THREADS, 4) ntt_batch_results_##count(PARAMETERS BatchTask task) { results<count>(task); }
RESULTS(1)
RESULTS(2)
RESULTS(3)
RESULTS(4)
RESULTS(5)
RESULTS(6)
