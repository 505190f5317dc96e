// Passes of number-theoretic transforms over rows of 16 coefficients: what the kernels of ntt.cu and ntt_batches.cu have in common.
//
// A transform is a tree of remainders. Node k of a level is the ring modulo y^h - s, with s = r², and splits into those modulo y^(h/2) - r and
// y^(h/2) + r: nodes 2k and 2k + 1 of the next level. r is entry k of one table for all levels, so nothing is ever put into another order: what
// forward passes leave, inverse ones take. The leaves are polynomials of 16 coefficients modulo x^16 - s, which are multiplied as such.
//
// A pass takes K levels, four to eight, through memory once. A block has 256 rows of 16 lanes: 2^(8-K) columns of 2^K rows that K levels of a
// node combine. Row q of a block has the column's number in its lowest bits and the row's number in the column above them, so that level t of
// the pass combines rows that differ in bit 7 - t alone. A thread has 16 rows of one lane: those that differ in the upper four bits of q, and, after
// one exchange through shared memory, those that differ in the lower four.
#pragma once
#include "ntt/ntt.cuh"

namespace ntt {

constexpr int THREADS = 256;
// Rows of a block are 2^8, those of a thread 2^4.
constexpr int TILE_BITS = 8, OWN_BITS = 4, OWN = 1 << OWN_BITS;
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

// A block of a pass: 2^(8 - LEVELS) neighbouring columns of one transform, or of SEVERAL that lie behind one another, each of 2^levels rows.
template <int LEVELS, bool SEVERAL> struct Part {
    static constexpr int COLUMN_BITS = TILE_BITS - LEVELS;
    u32 first_column;
    int level, stride_bits;
    u32 *residues;
    const Factor *roots;
    Modulus modulus;

    DEVICE Part(u32 tile, int levels, int level, u32 *residues, const Factor *roots, u32 prime)
        : first_column(tile << COLUMN_BITS), level(level), stride_bits(levels - level - LEVELS), residues(residues), roots(roots), modulus{prime} {}

    DEVICE u32 column(u32 q) const { return first_column + (q & ((1u << COLUMN_BITS) - 1)); }
    // The node of the pass's first level, counted over all transforms.
    DEVICE u32 node(u32 q) const { return column(q) >> stride_bits; }
    // The node that level t of the pass splits.
    DEVICE u32 split_node(u32 q, int t) const {
        const u32 own = SEVERAL ? node(q) & ((1u << level) - 1) : node(q);
        return (own << t) + (q >> (TILE_BITS - t));
    }
    // Where a number of a row lies.
    DEVICE u32 place(u32 q, int lane) const {
        const u32 within = column(q) & ((1u << stride_bits) - 1);
        const u32 row = ((((node(q) << LEVELS) + (q >> COLUMN_BITS)) << stride_bits) + within);
        return row * LANES + (u32)lane;
    }
};

// Levels FIRST to LAST of a pass, on 16 rows that differ in the four bits of q that FIRST begins with.
template <int FIRST, int LAST, class Block, class Rows> DEVICE void forward_levels(u32 (&x)[OWN], const Block &part, Rows rows) {
#pragma unroll
    for (int t = FIRST; t < LAST; t++) {
        const int distance = OWN >> (t - FIRST + 1);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            if ((i & distance) == 0) part.modulus.butterfly(x[i], x[i + distance], part.roots[part.split_node(rows(i), t)]);
        }
    }
}
template <int FIRST, int LAST, class Block, class Rows>
DEVICE void inverse_levels(u32 (&x)[OWN], const Block &part, Factor minus_one, Rows rows) {
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

// The next LEVELS levels of what `load` gives for every place and lane.
template <int LEVELS, bool SEVERAL, class Load> DEVICE void forward_pass(const Part<LEVELS, SEVERAL> &part, Load load) {
    const int lane = thread_number() % LANES;
    const Upper upper{thread_number() / LANES};
    const Lower lower{thread_number() / LANES};
    u32 x[OWN];
    load(x, [&](int i) { return part.place(upper(i), lane); });
    forward_levels<0, OWN_BITS>(x, part, upper);
    exchange(x, upper, lower, lane);
    forward_levels<OWN_BITS, LEVELS>(x, part, lower);
#pragma unroll
    for (int i = 0; i < OWN; i++) part.residues[part.place(lower(i), lane)] = x[i];
}
// The same of residues that lie where they belong.
template <int LEVELS, bool SEVERAL> DEVICE void forward_pass(const Part<LEVELS, SEVERAL> &part) {
    forward_pass(part, [&](u32 (&x)[OWN], auto place) {
#pragma unroll
        for (int i = 0; i < OWN; i++) x[i] = part.residues[place(i)];
    });
}

// Undoes them, but for a factor of 2^LEVELS.
template <int LEVELS, bool SEVERAL> DEVICE void inverse_pass(const Part<LEVELS, SEVERAL> &part, Factor minus_one) {
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

// Entry k of the table of roots: bit i of k multiplies it by step i.
template <class P> DEVICE Factor root_entry(const P &prime, u32 k, int entry_bits) {
    const Modulus modulus{prime.value};
    // 2^32, which stands for 1.
    u32 scaled = modulus.lift(0u - prime.minus_one.scaled);
#pragma unroll 1
    for (int i = 0; i < entry_bits; i++) {
        if (k >> i & 1) scaled = modulus.lift(modulus.times(scaled, prime.steps[i]));
    }
    return {scaled, scaled * prime.inverse};
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

// The product of two rows as polynomials modulo x^16 - s, divided by 2^32, in the first one's place. s belongs to the row's number among those
// of its transform.
template <class P> DEVICE void row_product(const P &prime, const Factor *roots, u32 row, u32 *first, const u32 *second) {
    const Modulus modulus{prime.value};
    u32 a[LANES], b[LANES], wrapped[LANES], c[LANES];
    load_row(a, first, modulus);
    load_row(b, second, modulus);
    const Factor root = roots[row / 2];
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

} // namespace ntt
