// target: fatbin
// tuned
// Products of long integers by number-theoretic transforms modulo three primes: the numbers of crates/exact-convolution, which has the
// argument why they are exact, and the same digits.
//
// A transform is a tree of remainders. Node k of a level is the ring modulo y^h - s, with s = r², and splits into those modulo y^(h/2) - r and
// y^(h/2) + r: nodes 2k and 2k + 1 of the next level. r is entry k of one table for all levels, so nothing is ever put into another order: what
// forward passes leave, inverse ones take. The leaves are polynomials of 16 coefficients modulo x^16 - s, which are multiplied as such.
//
// A pass takes K levels, four to eight, through memory once. A block has 256 rows of 16 lanes: 2^(8-K) columns of 2^K rows that K levels of a
// node combine. Row q of a block has the column's number in its lowest bits and the row's number in the column above them, so that level t of
// the pass combines rows that differ in bit 7 - t alone. A thread has 16 rows of one lane: those that differ in the upper four bits of q, and, after
// one exchange through shared memory, those that differ in the lower four.
#include "ntt.cuh"

using namespace ntt;

constexpr int THREADS = 256;
// Rows of a block are 2^8, those of a thread 2^4.
constexpr int TILE_BITS = 8, OWN_BITS = 4, OWN = 1 << OWN_BITS;
// Digits whose carries a block resolves, and those of a thread.
constexpr int TILE = 2048, DIGITS = TILE / THREADS;
// Shared memory of a pass, and of a tile of digits with three coefficients before it.
static_assert((LANES << TILE_BITS) * 4 == 16384 && 3 * (TILE + 3) * 4 == 24612, "ntt.rs");
static_assert(LANES * OWN == THREADS && TILE_BITS == 2 * OWN_BITS && TILE_BITS == LEAST_LEVELS, "threads have all rows of a block");

// Row `i` of the 16 of a thread: those with the same lower, or the same upper, four bits.
struct Upper {
    int own;
    DEVICE u32 operator()(int i) const { return (u32)(i << OWN_BITS | own); }
};
struct Lower {
    int own;
    DEVICE u32 operator()(int i) const { return (u32)(own << OWN_BITS | i); }
};

// What a block of a pass works on: blocks of a transform are neighbours, then come primes, then operands.
template <int LEVELS> struct Part {
    static constexpr int COLUMN_BITS = TILE_BITS - LEVELS;
    u32 first_column, operand, prime;
    int stride_bits;
    u32 *residues;
    const Factor *roots;
    Modulus modulus;

    DEVICE Part(const Task &task) {
        const int tile_bits = task.levels - TILE_BITS;
        const u32 transform = blockIdx.x >> tile_bits;
        first_column = (blockIdx.x - (transform << tile_bits)) << COLUMN_BITS;
        operand = transform / PRIMES;
        prime = transform % PRIMES;
        stride_bits = task.levels - task.level - LEVELS;
        residues = task.residues + ((u64)transform * LANES << task.levels);
        roots = task.roots + ((u64)prime << (task.levels - 1));
        modulus = Modulus{task.primes[prime].value};
    }
    DEVICE u32 column(u32 q) const { return first_column + (q & ((1u << COLUMN_BITS) - 1)); }
    // The node of the pass's first level.
    DEVICE u32 node(u32 q) const { return column(q) >> stride_bits; }
    // The node that level t of the pass splits.
    DEVICE u32 split_node(u32 q, int t) const { return (node(q) << t) + (q >> (TILE_BITS - t)); }
    // Where a number of a row lies.
    DEVICE u32 place(u32 q, int lane) const {
        const u32 within = column(q) & ((1u << stride_bits) - 1);
        const u32 row = ((((node(q) << LEVELS) + (q >> COLUMN_BITS)) << stride_bits) + within);
        return row * LANES + (u32)lane;
    }
};

// Levels FIRST to LAST of a pass, on 16 rows that differ in the four bits of q that FIRST begins with.
template <int FIRST, int LAST, int LEVELS, class Rows> DEVICE void forward_levels(u32 (&x)[OWN], const Part<LEVELS> &part, Rows rows) {
#pragma unroll
    for (int t = FIRST; t < LAST; t++) {
        const int distance = OWN >> (t - FIRST + 1);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            if ((i & distance) == 0) part.modulus.butterfly(x[i], x[i + distance], part.roots[part.split_node(rows(i), t)]);
        }
    }
}
template <int FIRST, int LAST, int LEVELS, class Rows>
DEVICE void inverse_levels(u32 (&x)[OWN], const Part<LEVELS> &part, Factor minus_one, Rows rows) {
#pragma unroll
    for (int t = LAST - 1; t >= FIRST; t--) {
        const int distance = OWN >> (t - FIRST + 1);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            if ((i & distance) == 0) {
                const Factor root = inverse_root(part.roots, minus_one, part.split_node(rows(i), t));
                part.modulus.inverse_butterfly(x[i], x[i + distance], root);
            }
        }
    }
}

// From 16 rows of a thread to 16 others.
template <class From, class To> DEVICE void exchange(u32 (&x)[OWN], From from, To to, int lane) {
    u32 *shared = reinterpret_cast<u32 *>(shared_memory());
#pragma unroll
    for (int i = 0; i < OWN; i++) shared[from(i) * LANES + lane] = x[i];
    block_barrier();
#pragma unroll
    for (int i = 0; i < OWN; i++) x[i] = shared[to(i) * LANES + lane];
}

// The next LEVELS levels of all transforms. The first pass reads digits of the operands, beyond whose ends are zeros.
template <int LEVELS, bool OPENING> DEVICE void forward(const Task &task) {
    const Part<LEVELS> part(task);
    const int lane = thread_number() % LANES;
    const Upper upper{thread_number() / LANES};
    const Lower lower{thread_number() / LANES};
    u32 x[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const u32 at = part.place(upper(i), lane);
        if (OPENING) {
            x[i] = at < task.lengths[part.operand] ? part.modulus.enter(task.words[part.operand][at]) : 0;
        } else {
            x[i] = part.residues[at];
        }
    }
    forward_levels<0, OWN_BITS>(x, part, upper);
    exchange(x, upper, lower, lane);
    forward_levels<OWN_BITS, LEVELS>(x, part, lower);
#pragma unroll
    for (int i = 0; i < OWN; i++) part.residues[part.place(lower(i), lane)] = x[i];
}

// Undoes them, but for a factor of 2^LEVELS, in the first operand's place.
template <int LEVELS> DEVICE void inverse(const Task &task) {
    const Part<LEVELS> part(task);
    const Factor minus_one = task.primes[part.prime].minus_one;
    const int lane = thread_number() % LANES;
    const Upper upper{thread_number() / LANES};
    const Lower lower{thread_number() / LANES};
    u32 x[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) x[i] = part.residues[part.place(lower(i), lane)];
    inverse_levels<OWN_BITS, LEVELS>(x, part, minus_one, lower);
    exchange(x, lower, upper, lane);
    inverse_levels<0, OWN_BITS>(x, part, minus_one, upper);
#pragma unroll
    for (int i = 0; i < OWN; i++) part.residues[part.place(upper(i), lane)] = x[i];
}

#define PASSES(levels)                                                                                              \
    KERNEL(THREADS, 2) ntt_opening_##levels(PARAMETERS Task task) { forward<levels, true>(task); }                  \
    KERNEL(THREADS, 2) ntt_forward_##levels(PARAMETERS Task task) { forward<levels, false>(task); }                 \
    KERNEL(THREADS, 2) ntt_inverse_##levels(PARAMETERS Task task) { inverse<levels>(task); }
PASSES(4)
PASSES(5)
PASSES(6)
PASSES(7)
PASSES(8)

// The table of roots of every prime: bit i of k multiplies entry k by step i. Blocks of a prime are neighbours.
KERNEL(THREADS, 4) ntt_roots(PARAMETERS Task task) {
    const u64 number = (u64)blockIdx.x * THREADS + thread_number();
    const int entry_bits = task.levels - 1;
    const u32 which = (u32)(number >> entry_bits), k = (u32)number & ((1u << entry_bits) - 1);
    if (which >= PRIMES) return;
    const Prime &prime = task.primes[which];
    const Modulus modulus{prime.value};
    // 2^32, which stands for 1.
    u32 scaled = modulus.lift(0u - prime.minus_one.scaled);
#pragma unroll 1
    for (int i = 0; i < entry_bits; i++) {
        if (k >> i & 1) scaled = modulus.lift(modulus.times(scaled, prime.steps[i]));
    }
    task.roots[number] = {scaled, scaled * prime.inverse};
}

DEVICE void load_row(u32 (&row)[LANES], const u32 *from, Modulus modulus) {
#pragma unroll
    for (int i = 0; i < LANES; i += 4) {
        const uint4 four = *reinterpret_cast<const uint4 *>(from + i);
        row[i] = modulus.reduce(four.x);
        row[i + 1] = modulus.reduce(four.y);
        row[i + 2] = modulus.reduce(four.z);
        row[i + 3] = modulus.reduce(four.w);
    }
}

// Products of rows as polynomials modulo x^16 - s, in the first operand's place; a row for every thread. They are divided by 2^32.
KERNEL(THREADS, 2) ntt_row_products(PARAMETERS Task task) {
    const u64 number = (u64)blockIdx.x * THREADS + thread_number();
    const u32 which = (u32)(number >> task.levels), row = (u32)number & ((1u << task.levels) - 1);
    const Prime &prime = task.primes[which];
    const Modulus modulus{prime.value};
    u32 *const first = task.residues + number * LANES;
    u32 a[LANES], b[LANES], wrapped[LANES], c[LANES];
    load_row(a, first, modulus);
    load_row(b, task.operands == 1 ? first : first + ((u64)PRIMES * LANES << task.levels), modulus);
    const Factor root = task.roots[((u64)which << (task.levels - 1)) + row / 2];
#pragma unroll
    for (int i = 0; i < LANES; i++) {
        const u32 product = modulus.times(b[i], root);
        wrapped[i] = modulus.lift(row % 2 == 0 ? product : 0u - product);
    }
#pragma unroll
    for (int k = 0; k < LANES; k++) {
        u64 sum = 0;
#pragma unroll
        for (int i = 0; i < LANES; i++) sum += (u64)a[i] * (i <= k ? b[(k - i) % LANES] : wrapped[(LANES + k - i) % LANES]);
        c[k] = modulus.divided(sum, prime.inverse);
    }
#pragma unroll
    for (int i = 0; i < LANES; i += 4) *reinterpret_cast<uint4 *>(first + i) = make_uint4(c[i], c[i + 1], c[i + 2], c[i + 3]);
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
