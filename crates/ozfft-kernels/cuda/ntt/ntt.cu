// target: fatbin
// tuned
// Products of long integers by number-theoretic transforms modulo three primes: the numbers of crates/exact-convolution, which has the
// argument why they are exact, and the same digits.
//
// The transforms are those of ntt_passes.cuh, one for every operand and prime.
#include "ntt/ntt_passes.cuh"

using namespace ntt;

// Digits whose carries a block resolves, and those of a thread.
constexpr int TILE = 2048, DIGITS = TILE / THREADS;
// Shared memory of a pass, and of a tile of digits with three coefficients before it.
static_assert((LANES << TILE_BITS) * 4 == 16384 && 3 * (TILE + 3) * 4 == 24612, "ntt.rs");

// What a block of a pass works on: blocks of a transform are neighbours, then come primes, then operands.
struct Place {
    u32 tile, operand, prime, transform;

    DEVICE Place(const Task &task) {
        const int tile_bits = task.levels - TILE_BITS;
        transform = blockIdx.x >> tile_bits;
        tile = blockIdx.x - (transform << tile_bits);
        operand = transform / PRIMES;
        prime = transform % PRIMES;
    }
    template <int LEVELS> DEVICE Part<LEVELS, false> part(const Task &task) const {
        return {tile, task.levels, task.level, task.residues + ((u64)transform * LANES << task.levels),
                task.roots + ((u64)prime << (task.levels - 1)), task.primes[prime].value};
    }
};

// The next LEVELS levels of all transforms. The first pass reads digits of the operands, beyond whose ends are zeros.
template <int LEVELS> DEVICE void opening(const Task &task) {
    const Place block(task);
    const auto part = block.part<LEVELS>(task);
    const u32 *words = task.words[block.operand];
    const u64 length = task.lengths[block.operand];
    forward_pass(part, [&](u32 (&x)[OWN], auto place) {
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const u32 at = place(i);
            x[i] = at < length ? part.modulus.enter(words[at]) : 0;
        }
    });
}
template <int LEVELS> DEVICE void forward(const Task &task) { forward_pass(Place(task).part<LEVELS>(task)); }
// Undoes them, in the first operand's place.
template <int LEVELS> DEVICE void inverse(const Task &task) {
    const Place block(task);
    inverse_pass(block.part<LEVELS>(task), task.primes[block.prime].minus_one);
}

#define PASSES(levels)                                                                     \
    KERNEL(THREADS, 2) ntt_opening_##levels(PARAMETERS Task task) { opening<levels>(task); } \
    KERNEL(THREADS, 2) ntt_forward_##levels(PARAMETERS Task task) { forward<levels>(task); } \
    KERNEL(THREADS, 2) ntt_inverse_##levels(PARAMETERS Task task) { inverse<levels>(task); }
PASSES(4)
PASSES(5)
PASSES(6)
PASSES(7)
PASSES(8)

// The table of roots of every prime. Blocks of a prime are neighbours.
KERNEL(THREADS, 4) ntt_roots(PARAMETERS Task task) {
    const u64 number = (u64)blockIdx.x * THREADS + thread_number();
    const int entry_bits = task.levels - 1;
    const u32 which = (u32)(number >> entry_bits), k = (u32)number & ((1u << entry_bits) - 1);
    if (which >= PRIMES) return;
    task.roots[number] = root_entry(task.primes[which], k, entry_bits);
}

// Products of rows, in the first operand's place; a row for every thread.
KERNEL(THREADS, 2) ntt_row_products(PARAMETERS Task task) {
    const u64 number = (u64)blockIdx.x * THREADS + thread_number();
    const u32 which = (u32)(number >> task.levels), row = (u32)number & ((1u << task.levels) - 1);
    u32 *const first = task.residues + number * LANES;
    const u32 *const second = task.operands == 1 ? first : first + ((u64)PRIMES * LANES << task.levels);
    row_product(task.primes[which], task.roots + ((u64)which << (task.levels - 1)), row, first, second);
}

// Whether a range of digits carries, and whether it passes a carry on.
struct Carry {
    u32 generates, propagates;

    DEVICE static Carry of(u32 bits) { return {bits & 1, bits >> 1 & 1}; }
    DEVICE u32 bits() const { return generates | propagates << 1; }
    // Of this range after a lower one.
    DEVICE Carry after(Carry lower) const { return {generates | (propagates & lower.generates), propagates & lower.propagates}; }
};

// All threads' ranges below a thread's own, in the order of threads. `shared` has a word for each.
DEVICE Carry below(Carry own, u32 *shared) {
    const int thread = thread_number();
    Carry sum = own;
#pragma unroll 1
    for (int distance = 1; distance < THREADS; distance *= 2) {
        shared[thread] = sum.bits();
        block_barrier();
        if (thread >= distance) sum = sum.after(Carry::of(shared[thread - distance]));
        block_barrier();
    }
    shared[thread] = sum.bits();
    block_barrier();
    const Carry result = thread == 0 ? Carry{0, 1} : Carry::of(shared[thread - 1]);
    block_barrier();
    return result;
}

// Digits of the product, with carries as far as a tile of them goes.
//
// A coefficient is below the cube of the base, so it has three digits, which are added to those of its neighbours: sums below 3 times the base. What
// they carry, 0 to 2, is added to the next: sums of at most the base plus 1. From there on carries are 0 or 1: however many of these sums there are, they
// make less than twice what their digits hold, and not one less.
template <class Base> DEVICE void resolve(const Task &task) {
    const int thread = thread_number();
    const u64 start = (u64)blockIdx.x * TILE;
    const u64 points = (u64)LANES << task.levels;
    // The three digits of every coefficient of the tile, and of the three before it.
    u32 *const parts = reinterpret_cast<u32 *>(shared_memory());
    constexpr int WIDTH = TILE + 3;
    for (int k = thread; k < WIDTH; k += THREADS) {
        Wide value{0, 0};
        if (start + k >= 3 && start + k - 3 < points && start + k - 3 < task.length) {
            u32 residues[PRIMES];
#pragma unroll
            for (int which = 0; which < PRIMES; which++) {
                const Modulus modulus{task.primes[which].value};
                const u32 residue = task.residues[which * points + (start + k - 3)];
                residues[which] = modulus.lift(modulus.times(residue, task.primes[which].back));
            }
            value = combined(task.primes, residues);
        }
        parts[k] = Base::split(value);
        parts[WIDTH + k] = Base::split(value);
        parts[2 * WIDTH + k] = value.low;
    }
    block_barrier();
    // Sum of digits that stand at a place of the tile, from -1 on.
    const auto sum = [parts](int at) {
        const u64 first = parts[at + 3], second = parts[WIDTH + at + 2];
        return first + second + parts[2 * WIDTH + at + 1];
    };
    u64 carry = sum(thread * DIGITS - 1);
    Base::split(carry);
    u32 digits[DIGITS];
    // A carry of the digits before comes in where they carry; what these digits make of none is found first.
    u32 over = 0;
    bool all_last = true;
#pragma unroll
    for (int k = 0; k < DIGITS; k++) {
        u64 value = sum(thread * DIGITS + k);
        const u32 digit = Base::split(value);
        u64 with_carries = (u64)digit + carry + over;
        carry = value;
        digits[k] = Base::split(with_carries);
        over = (u32)with_carries;
        all_last = all_last && digits[k] == Base::LAST;
    }
    block_barrier();
    u32 *const carries = parts;
    const Carry own{over, all_last ? 1u : 0u}, lower = below(own, carries);
    u32 in = lower.generates;
#pragma unroll
    for (int k = 0; k < DIGITS; k++) {
        const u32 digit = digits[k];
        digits[k] = in && digit == Base::LAST ? 0 : digit + in;
        in = in && digit == Base::LAST ? 1 : 0;
    }
    // Stored through shared memory, neighbours by neighbouring threads.
#pragma unroll
    for (int k = 0; k < DIGITS; k++) parts[thread * DIGITS + k] = digits[k];
    block_barrier();
    for (int k = thread; k < TILE && start + k < task.length; k += THREADS) task.digits[start + k] = parts[k];
    if (thread == THREADS - 1) {
        // The tile passes a carry on where all its digits do, after those that its own threads have carried.
        task.tiles[blockIdx.x] = own.after(lower).bits();
    }
}
KERNEL(THREADS, 4) ntt_resolve_binary(PARAMETERS Task task) { resolve<Binary>(task); }
KERNEL(THREADS, 4) ntt_resolve_decimal(PARAMETERS Task task) { resolve<Decimal>(task); }

// Which tiles a carry comes into: one block.
KERNEL(THREADS, 1) ntt_carry_tiles(PARAMETERS Task task) {
    const u64 tiles = (task.length + TILE - 1) / TILE;
    const u64 each = (tiles + THREADS - 1) / THREADS, start = each * thread_number();
    Carry own{0, 1};
    for (u64 k = start; k < start + each && k < tiles; k++) own = Carry::of(task.tiles[k]).after(own);
    Carry so_far = below(own, reinterpret_cast<u32 *>(shared_memory()));
    for (u64 k = start; k < start + each && k < tiles; k++) {
        const Carry tile = Carry::of(task.tiles[k]);
        task.tiles[k] = so_far.generates;
        so_far = tile.after(so_far);
    }
}

// Carries into tiles: the first digit that is not the last of its base grows by 1, those before it become 0.
template <class Base> DEVICE void carry_in(const Task &task) {
    if (task.tiles[blockIdx.x] == 0) return;
    const int thread = thread_number();
    const u64 start = (u64)blockIdx.x * TILE;
    const int count = (int)(task.length - start < TILE ? task.length - start : TILE);
    u32 *const shared = reinterpret_cast<u32 *>(shared_memory());
    bool all_last = true;
    for (int k = thread * DIGITS; k < (thread + 1) * DIGITS && k < count; k++) all_last = all_last && task.digits[start + k] == Base::LAST;
    const Carry lower = below(Carry{0, all_last ? 1u : 0u}, shared);
    u32 in = lower.propagates;
    for (int k = thread * DIGITS; in != 0 && k < (thread + 1) * DIGITS && k < count; k++) {
        const u32 digit = task.digits[start + k];
        task.digits[start + k] = digit == Base::LAST ? 0 : digit + 1;
        in = digit == Base::LAST ? 1 : 0;
    }
}
KERNEL(THREADS, 4) ntt_carry_in_binary(PARAMETERS Task task) { carry_in<Binary>(task); }
KERNEL(THREADS, 4) ntt_carry_in_decimal(PARAMETERS Task task) { carry_in<Decimal>(task); }
