// Exact sums on NVIDIA GPUs: sums and dot products of doubles that are exact before one final rounding, without an instruction on doubles, and
// with the bits of libkulisch on the processor whatever the order. Compute capability 8.0 or later; include it and compile with nvcc.
//
//     kulisch::sum, kulisch::dot    of arrays in the GPU's memory
//     kulisch::WarpSum              a sum that the lanes of a warp add to: add, add_product, add_array, add_dot, publish, merge, round, add_to
//     kulisch::GridTotal            a sum of all blocks of a launch
//
// Made by crates/kulisch-c/generate of the kernels of ozfft; do not edit. Licensed under MIT or Apache-2.0, at your choice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

#define KULISCH_DEVICE __device__ __forceinline__
#define KULISCH_DEVICE_CONSTANT __host__ __device__ constexpr
#define KULISCH_DEVICE_APART __device__ __noinline__

namespace kulisch_internal {
// Threads, barriers and exchanges within a warp, under names that a host-side emulation can implement too.

// What the compiler works out.
// What is rarely needed, and would only take room where it is.

// Dynamic shared memory of the block.
KULISCH_DEVICE unsigned char *shared_memory() {
    extern __shared__ __align__(1024) unsigned char memory[];
    return memory;
}

// Where something lies in shared memory, as instructions want it; and what lies there.
KULISCH_DEVICE uint32_t shared_address(const void *place) { return (uint32_t)__cvta_generic_to_shared(place); }
KULISCH_DEVICE uint4 load_shared(uint32_t at) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
    return v;
}
KULISCH_DEVICE uint2 load_shared_two(uint32_t at) {
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at));
    return v;
}
KULISCH_DEVICE int load_shared_int(uint32_t at) {
    int v;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}
KULISCH_DEVICE void store_shared(uint32_t at, uint4 v) {
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
KULISCH_DEVICE void store_shared(uint32_t at, uint2 v) { asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(at), "r"(v.x), "r"(v.y) : "memory"); }
KULISCH_DEVICE void store_shared_int(uint32_t at, int v) { asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }
// The lowest byte.
KULISCH_DEVICE void store_shared_byte(uint32_t at, unsigned v) { asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }

// The thread's number, looked up anew and not kept in a register.
KULISCH_DEVICE int thread_number() {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

KULISCH_DEVICE void block_barrier() { __syncthreads(); }

// A barrier of `threads` threads of the block (a multiple of 32); number 0 is the block's own.
KULISCH_DEVICE void named_barrier(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Makes what the lanes of a warp have written to shared memory visible to each other.
KULISCH_DEVICE void warp_barrier() { __syncwarp(); }

template <class T> KULISCH_DEVICE T shuffle_xor(T value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
template <class T> KULISCH_DEVICE T shuffle(T value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
// The value of the lane so many numbers below; lanes that have none keep their own.
template <class T> KULISCH_DEVICE T shuffle_up(T value, int distance) { return __shfl_up_sync(0xffffffffu, value, distance); }
// Whether any lane says so.
KULISCH_DEVICE bool warp_any(bool value) { return __any_sync(0xffffffffu, value) != 0; }
// The sum of all lanes' values, which fits.
KULISCH_DEVICE unsigned warp_sum(unsigned value) { return __reduce_add_sync(0xffffffffu, value); }
// The largest value of a warp's lanes.
KULISCH_DEVICE unsigned warp_maximum(unsigned value) { return __reduce_max_sync(0xffffffffu, value); }
// The bits that any of them has.
KULISCH_DEVICE unsigned warp_or(unsigned value) { return __reduce_or_sync(0xffffffffu, value); }

// Orders what the thread has written to memory before what it writes later, for all threads of the block.
KULISCH_DEVICE void block_fence() { __threadfence_block(); }

// The same for all threads of the device.
KULISCH_DEVICE void device_fence() { __threadfence(); }

// Returns what was there before.
KULISCH_DEVICE unsigned atomic_add(unsigned *place, unsigned value) { return atomicAdd(place, value); }
KULISCH_DEVICE void atomic_add(int *place, int value) { atomicAdd(place, value); }
KULISCH_DEVICE void atomic_add(uint64_t *place, uint64_t value) { atomicAdd(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value)); }
// Returns what was there, past any cache, and leaves zero.
KULISCH_DEVICE int exchanged_for_zero(int *place) { return atomicExch(place, 0); }
// 16 bytes of a table that no kernel changes.
template <class T> KULISCH_DEVICE T table_entry(const T *place) {
    static_assert(sizeof(T) == 16, "entries are read by one instruction");
    const uint4 bits = __ldg(reinterpret_cast<const uint4 *>(place));
    T entry;
    memcpy(&entry, &bits, sizeof(T));
    return entry;
}

KULISCH_DEVICE void atomic_or(uint32_t *place, uint32_t bits) { atomicOr(place, bits); }
KULISCH_DEVICE void atomic_maximum(int32_t *place, int32_t value) { atomicMax(place, value); }
KULISCH_DEVICE void atomic_maximum(uint64_t *place, uint64_t value) {
    atomicMax(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value));
}
KULISCH_DEVICE int leading_zeros(uint64_t value) { return __clzll(static_cast<long long>(value)); }
KULISCH_DEVICE int leading_zeros_of_half(uint32_t value) { return __clz(static_cast<int>(value)); }

// Arithmetic that C++ has no words for: carries from one register to the next, shifts by any number of
// bits, and instructions that the compiler would not choose. Everything has its equivalent in C++, for the emulator.

typedef long long i64;
typedef unsigned long long u64;

namespace arithmetic {

KULISCH_DEVICE unsigned shift_left(unsigned x, unsigned bits) {  // 0 beyond 31 bits
    unsigned r;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(bits));
    return r;
}
KULISCH_DEVICE unsigned shift_right(unsigned x, unsigned bits) {  // 0 beyond 31 bits
    unsigned r;
    asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(bits));
    return r;
}
KULISCH_DEVICE u64 shift_right(u64 x, unsigned bits) {  // 0 beyond 63 bits
    u64 r;
    asm("shr.u64 %0, %1, %2;" : "=l"(r) : "l"(x), "r"(bits));
    return r;
}

// The bits that a number can be shifted to the left by until its leading one is topmost; of 0, 2^32 - 1.
KULISCH_DEVICE unsigned shift_to_top(unsigned x) {
    unsigned shift;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(shift) : "r"(x));
    return shift;
}
// The number of the leading one, from 0 on; of 0, -1.
KULISCH_DEVICE int leading_bit(unsigned x) {
    int bit;
    asm("bfind.u32 %0, %1;" : "=r"(bit) : "r"(x));
    return bit;
}

// A copy in a register of its own. Sums that stay in use keep the compiler from overlapping products.
KULISCH_DEVICE int register_copy(int x) {
    int y;
    asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

// Here the compiler must have worked out all of these.
KULISCH_DEVICE void compiler_fence(unsigned &a, unsigned &b) { asm volatile("" : "+r"(a), "+r"(b)::"memory"); }
KULISCH_DEVICE void compiler_fence(unsigned &a, float &b, int &c) { asm volatile("" : "+r"(a), "+f"(b), "+r"(c)::"memory"); }
// A sum that is worked out before anything is added to it.
KULISCH_DEVICE i64 compiler_fence(i64 x) {
    asm("" : "+l"(x));
    return x;
}

// A branch that is never taken, as `value` is not negative. The compiler would otherwise begin with the next products before
// the sums of the last ones have been used, and run out of registers. Of two branches for the same `place` it makes one.
KULISCH_DEVICE void scheduling_barrier(int value, int place) {
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %0, %1; @p trap; }" ::"r"(value), "r"(-1 - place) : "memory");
}

// a·b, exactly. Written out, because the compiler takes 64-bit multiplications for lower halves.
KULISCH_DEVICE i64 wide_product(int a, int b) {
    i64 p;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(p) : "r"(a), "r"(b));
    return p;
}

// a·b + c with one rounding.
KULISCH_DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
// a + b, rounded downwards.
KULISCH_DEVICE float sum_downwards(float a, float b) { return __fadd_rd(a, b); }
// a·b + c, rounded downwards, or towards zero.
KULISCH_DEVICE float fused_downwards(float a, float b, float c) { return __fmaf_rd(a, b, c); }
KULISCH_DEVICE float fused_towards_zero(float a, float b, float c) { return __fmaf_rz(a, b, c); }
// The larger one of a and the magnitude of x; NaN if there is one.
KULISCH_DEVICE float larger_magnitude(float a, float x) {
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(fabsf(x)));
    return r;
}
KULISCH_DEVICE int bits_of(float x) { return __float_as_int(x); }
KULISCH_DEVICE float from_bits(unsigned x) { return __uint_as_float(x); }

// The bytes of a (0 to 3) and b (4 to 7) that the digits of `which` name.
KULISCH_DEVICE unsigned chosen_bytes(unsigned a, unsigned b, unsigned which) { return __byte_perm(a, b, which); }

// Bytes of a, without signs, times those of b, with signs, onto c.
KULISCH_DEVICE int dot_product(unsigned a, unsigned b, int c) {
    int r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

// The integer next to a number below 2^63.
KULISCH_DEVICE i64 nearest(double x) { return __double2ll_rn(x); }
KULISCH_DEVICE i64 nearest(float x) { return __float2ll_rn(x); }

// Halves, or bytes, of two words added side by side.
KULISCH_DEVICE unsigned add_halves(unsigned a, unsigned b) { return __vadd2(a, b); }
KULISCH_DEVICE unsigned add_bytes(unsigned a, unsigned b) { return __vadd4(a, b); }

// Two integers of three words, added.
KULISCH_DEVICE void add_three(unsigned a0, unsigned a1, unsigned a2, unsigned b0, unsigned b1, unsigned b2, unsigned &s0, unsigned &s1, unsigned &s2) {
    asm("{ add.cc.u32 %0, %3, %6; addc.cc.u32 %1, %4, %7; addc.u32 %2, %5, %8; }"
        : "=&r"(s0), "=&r"(s1), "=r"(s2)
        : "r"(a0), "r"(a1), "r"(a2), "r"(b0), "r"(b1), "r"(b2));
}

// (x ^ sign) + 1 for a sign of 0 or -1, in two registers.
KULISCH_DEVICE void flipped_plus_one(unsigned x0, unsigned x1, int sign, unsigned &w0, unsigned &w1) {
    asm("{ .reg .u32 a, b; xor.b32 a, %2, %4; xor.b32 b, %3, %4; add.cc.u32 %0, a, 1; addc.u32 %1, b, 0; }"
        : "=r"(w0), "=r"(w1)
        : "r"(x0), "r"(x1), "r"(sign));
}

// (x ^ sign) - sign: the magnitude of a number of this sign.
KULISCH_DEVICE void magnitude_of(unsigned x0, unsigned x1, int sign, unsigned &m0, unsigned &m1) {
    asm("{ .reg .u32 a, b; xor.b32 a, %2, %4; xor.b32 b, %3, %4; sub.cc.u32 %0, a, %4; subc.u32 %1, b, %4; }"
        : "=r"(m0), "=r"(m1)
        : "r"(x0), "r"(x1), "r"(sign));
}

// x & mask | bits, for constants: one instruction, where the compiler takes two.
KULISCH_DEVICE unsigned both_or(unsigned x, unsigned mask, unsigned bits) {
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(x), "r"(mask), "r"(bits));
    return r;
}

// x & 1 | rest.
KULISCH_DEVICE unsigned lowest_bit_or(unsigned x, unsigned rest) {
    unsigned r;
    asm("lop3.b32 %0, %1, 1, %2, 0xea;" : "=r"(r) : "r"(x), "r"(rest));
    return r;
}

// The sign of x | rest.
KULISCH_DEVICE unsigned sign_or(unsigned x, unsigned rest) {
    unsigned r;
    asm("lop3.b32 %0, %1, 0x80000000, %2, 0xea;" : "=r"(r) : "r"(x), "r"(rest));
    return r;
}

// (f1 + field)·2^32 + f0, and one more where `decide` is above 2^31.
KULISCH_DEVICE void rounded_up(unsigned decide, unsigned f0, unsigned f1, unsigned field, unsigned &low, unsigned &high) {
    asm("{ .reg .u32 d; add.cc.u32 d, %2, 0x7fffffff; addc.cc.u32 %0, %3, 0; addc.u32 %1, %4, %5; }"
        : "=r"(low), "=r"(high)
        : "r"(decide), "r"(f0), "r"(f1), "r"(field));
}

}  // namespace arithmetic

namespace arithmetic {

// The nearest f64 to ±(high·2^32 + low)·2^(base - …), ties to even, where high is not 0. `base` is the field of the
// exponent less one, were the leading bit the topmost, at its place.
KULISCH_DEVICE void round_to_double(unsigned m0, unsigned m1, int sign, int base, unsigned flip, unsigned &low, unsigned &high) {
    const unsigned shift = shift_to_top(m1);
    const unsigned n1 = __funnelshift_l(m0, m1, shift), n0 = shift_left(m0, shift);
    const unsigned f1 = n1 >> 11, f0 = __funnelshift_r(n0, n1, 11);
    // Up when what is cut off is above one half, or just one half and the number is odd.
    const unsigned decide = lowest_bit_or(f0, n0 << 21);
    const unsigned field = (unsigned)base - (shift << 20);
    rounded_up(decide, f0, f1, field, low, high);
    high |= ((unsigned)sign ^ flip) & 0x80000000u;
}

}  // namespace arithmetic
// The full-range accumulator of the crate `kulisch`, for a warp: a fixed-point number that holds every sum of doubles and of
// products of doubles exactly, and the one rounding of its value. Integers only: doubles are read as their bits.
//
// A limb carries 16 bits in a register of 32, so deposits are plain additions to shared memory, in any order, by all lanes at
// once; carries are resolved when a warp has made as many as fit. Every lane has nine limbs then, and hands its carry to the
// next lane. Nothing is rounded before the end, so whatever way a term takes, the result has the same bits.

namespace kulisch {

// Exponent of the lowest bit: the product of the two smallest doubles.
constexpr int LOWEST = -2148;
constexpr int LIMB_BITS = 16;
constexpr int LANE_LIMBS = 9;
constexpr int LIMBS = 32 * LANE_LIMBS;
static_assert(LIMBS * LIMB_BITS >= 2148 + 2048 + 64 + 1, "2^64 products below 2^2048, and a sign");
// Deposits until carries must be resolved: each adds less than 2^16 to a limb that began below 2^16.
constexpr int MOST_PENDING = (1 << 15) - 2;
// Bytes that an accumulator takes in shared memory.
constexpr int ACCUMULATOR_BYTES = 4 * LIMBS;

// What cannot be seen from the digits, as bits that are joined by `or`.
enum Found : unsigned {
    NOT_A_NUMBER = 1,
    POSITIVE_INFINITY = 2,
    NEGATIVE_INFINITY = 4,
    ANY = 8,
    ANY_BUT_NEGATIVE_ZERO = 16,
    NUMBER = ANY | ANY_BUT_NEGATIVE_ZERO,
    // The accumulator was used.
    DEPOSITED = 32,
};

constexpr u64 SIGN_BIT = 1ull << 63;
constexpr u64 INFINITY_BITS = 0x7ffull << 52;
constexpr u64 NAN_BITS = 0xfffull << 51;
constexpr u64 FRACTION_MASK = (1ull << 52) - 1;

KULISCH_DEVICE int lane_number() { return thread_number() % 32; }
KULISCH_DEVICE unsigned field_of(u64 bits) { return (unsigned)(bits >> 52) & 0x7ff; }
KULISCH_DEVICE bool is_negative(u64 bits) { return (i64)bits < 0; }
// The integer and the exponent, counted from LOWEST, that the magnitude of a finite number is the product of.
KULISCH_DEVICE u64 fraction_of(u64 bits) { return (bits & FRACTION_MASK) | (field_of(bits) != 0 ? 1ull << 52 : 0); }
KULISCH_DEVICE int exponent_of(u64 bits) {
    const int field = (int)field_of(bits);
    return (field != 0 ? field : 1) - 1075 - LOWEST;
}

// NaN or an infinity, where that is the result.
KULISCH_DEVICE bool not_finite(unsigned found, u64 &bits) {
    const bool up = (found & POSITIVE_INFINITY) != 0, down = (found & NEGATIVE_INFINITY) != 0;
    bits = (found & NOT_A_NUMBER) != 0 || (up && down) ? NAN_BITS : up ? INFINITY_BITS : INFINITY_BITS | SIGN_BIT;
    return (found & (NOT_A_NUMBER | POSITIVE_INFINITY | NEGATIVE_INFINITY)) != 0;
}
// The zero that a sum of zero is.
KULISCH_DEVICE u64 zero_of(unsigned found) { return (found & NUMBER) == ANY ? SIGN_BIT : 0; }

// The nearest double, ties to even, to ±bits · 2^(exponent - 63), where the highest bit of `bits` is set and `sticky` says
// whether anything is below: rounding.rs of the crate.
KULISCH_DEVICE u64 rounded(u64 bits, int exponent, bool sticky, bool negative) {
    const u64 sign = negative ? SIGN_BIT : 0;
    if (exponent > 1023) {
        return sign | INFINITY_BITS;
    }
    const int last = exponent - 52 > -1074 ? exponent - 52 : -1074;
    // 11, and more at the lower end of the range: what is below the smallest number loses all bits.
    const int dropped = last - (exponent - 63);
    u64 kept = 0;
    bool half = false, rest = true;
    if (dropped < 64) {
        kept = bits >> dropped;
        half = (bits >> (dropped - 1) & 1) != 0;
        rest = bits << (65 - dropped) != 0;
    } else if (dropped == 64) {
        half = true;
        rest = bits << 1 != 0;
    }
    const bool up = half && (rest || sticky || (kept & 1) != 0);
    // A fraction with its leading bit adds one to the exponent field below it, and so does a carry.
    return sign | (((u64)(last + 1074) << 52) + kept + (up ? 1 : 0));
}

// Adds value · 2^position, from LOWEST on, to an accumulator: 32-bit words, the last with the sign. Any lanes at once.
template <int WORDS> KULISCH_DEVICE void deposit(int *limbs, const unsigned (&words)[WORDS], int position) {
    const unsigned shift = (unsigned)position % LIMB_BITS;
    int *at = limbs + position / LIMB_BITS;
    const unsigned sign = (unsigned)((int)words[WORDS - 1] >> 31);
    unsigned below = 0;
#pragma unroll
    for (int word = 0; word <= WORDS; word++) {
        const unsigned own = word < WORDS ? words[word] : sign;
        const unsigned moved = __funnelshift_l(below, own, shift);
        below = own;
        // What is above the last word has fewer than 16 bits and the sign.
        const int low = word < WORDS ? (int)(moved & 0xffff) : (int)moved, high = word < WORDS ? (int)(moved >> 16) : 0;
        if (low != 0) {
            atomic_add(at + 2 * word, low);
        }
        if (high != 0) {
            atomic_add(at + 2 * word + 1, high);
        }
    }
}

// Adds a number; returns what was found. Any lanes at once.
KULISCH_DEVICE unsigned deposit_number(int *limbs, u64 bits) {
    if (field_of(bits) == 0x7ff) {
        return NUMBER | ((bits & FRACTION_MASK) != 0 ? NOT_A_NUMBER : is_negative(bits) ? NEGATIVE_INFINITY : POSITIVE_INFINITY);
    }
    const u64 fraction = fraction_of(bits);
    if (fraction == 0) {
        return is_negative(bits) ? ANY : NUMBER;
    }
    const u64 value = is_negative(bits) ? 0 - fraction : fraction;
    const unsigned words[2] = {(unsigned)value, (unsigned)(value >> 32)};
    deposit(limbs, words, exponent_of(bits));
    return NUMBER | DEPOSITED;
}

// The exact product of two integers of up to 53 bits.
KULISCH_DEVICE void exact_product(unsigned a0, unsigned a1, unsigned b0, unsigned b1, unsigned (&product)[4]) {
    // The upper words have 21 bits: sums of two products and a carry fit.
    const u64 low = (u64)a0 * b0;
    const u64 middle = (u64)a1 * b0 + (low >> 32);
    const u64 sum = (u64)a0 * b1 + middle;
    const u64 high = (u64)a1 * b1 + (sum >> 32);
    product[0] = (unsigned)low;
    product[1] = (unsigned)sum;
    product[2] = (unsigned)high;
    product[3] = (unsigned)(high >> 32);
}

// Adds the exact product of two numbers; returns what was found. Any lanes at once.
KULISCH_DEVICE unsigned deposit_product(int *limbs, u64 left, u64 right) {
    const bool negative = is_negative(left ^ right);
    const u64 a = fraction_of(left), b = fraction_of(right);
    if (field_of(left) == 0x7ff || field_of(right) == 0x7ff) {
        // An infinity has no fraction, and is not zero times anything.
        const bool nan = (left & ~SIGN_BIT) > INFINITY_BITS || (right & ~SIGN_BIT) > INFINITY_BITS || a == 0 || b == 0;
        return NUMBER | (nan ? NOT_A_NUMBER : negative ? NEGATIVE_INFINITY : POSITIVE_INFINITY);
    }
    if (a == 0 || b == 0) {
        return negative ? ANY : NUMBER;
    }
    unsigned words[4];
    exact_product((unsigned)a, (unsigned)(a >> 32), (unsigned)b, (unsigned)(b >> 32), words);
    if (negative) {
        unsigned carry = 1;
#pragma unroll
        for (unsigned &word : words) {
            word = ~word + carry;
            carry = carry != 0 && word == 0 ? 1 : 0;
        }
    }
    deposit(limbs, words, exponent_of(left) + exponent_of(right) + LOWEST);
    return NUMBER | DEPOSITED;
}

// The accumulator of this warp, among those at the beginning of the block's shared memory.
KULISCH_DEVICE int *own_accumulator() { return reinterpret_cast<int *>(shared_memory()) + LIMBS * (thread_number() / 32); }

// Empties the warp's accumulator.
KULISCH_DEVICE void clear(int *limbs) {
    for (int limb = lane_number(); limb < LIMBS; limb += 32) {
        limbs[limb] = 0;
    }
    warp_barrier();
}

// The limbs of a lane.
struct OwnLimbs {
    int limbs[LANE_LIMBS];

    KULISCH_DEVICE void load(const int *from) {
        warp_barrier();
#pragma unroll
        for (int k = 0; k < LANE_LIMBS; k++) {
            limbs[k] = from[LANE_LIMBS * lane_number() + k];
        }
    }

    KULISCH_DEVICE void store(int *to) const {
#pragma unroll
        for (int k = 0; k < LANE_LIMBS; k++) {
            to[LANE_LIMBS * lane_number() + k] = limbs[k];
        }
        warp_barrier();
    }

    // Takes carries to where they belong: all limbs but the highest of all, which has the sign, hold 16 bits afterwards.
    // Every round settles a further lane at least, and two are enough almost always.
    KULISCH_DEVICE void resolve() {
        const int lane = lane_number();
        int carry = 0;
        do {
#pragma unroll
            for (int k = 0; k < LANE_LIMBS; k++) {
                const int value = limbs[k] + carry;
                const bool highest = k == LANE_LIMBS - 1 && lane == 31;
                limbs[k] = highest ? value : value & 0xffff;
                carry = highest ? 0 : value >> LIMB_BITS;
            }
            carry = shuffle_up(carry, 1);
            carry = lane == 0 ? 0 : carry;
        } while (warp_any(carry != 0));
    }

    // Makes the value its magnitude; whether it was negative.
    KULISCH_DEVICE bool take_magnitude() {
        const bool negative = shuffle(limbs[LANE_LIMBS - 1], 31) < 0;
        if (negative) {
#pragma unroll
            for (int &limb : limbs) {
                limb = -limb;
            }
            resolve();
        }
        return negative;
    }
};

// Resolves the carries of the warp's accumulator.
KULISCH_DEVICE void resolve(int *limbs) {
    OwnLimbs own;
    own.load(limbs);
    own.resolve();
    own.store(limbs);
}

// The warp's accumulator, rounded to the nearest double; all lanes have the same `found` and get the same result. What the
// accumulator holds is lost.
KULISCH_DEVICE u64 round_accumulator(int *limbs, unsigned found) {
    u64 special;
    if (not_finite(found, special)) {
        return special;
    }
    OwnLimbs own;
    own.load(limbs);
    own.resolve();
    const bool negative = own.take_magnitude();
    own.store(limbs);
    int top = -1;
#pragma unroll
    for (int k = 0; k < LANE_LIMBS; k++) {
        top = own.limbs[k] != 0 ? LANE_LIMBS * lane_number() + k : top;
    }
    top = (int)warp_maximum((unsigned)(top + 1)) - 1;
    if (top < 0) {
        return zero_of(found);
    }
    // The highest five limbs have the 64 highest bits.
    u64 high = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        high = high << LIMB_BITS | (top >= k ? (u64)(unsigned)limbs[top - k] : 0);
    }
    const u64 fifth = top >= 4 ? (u64)(unsigned)limbs[top - 4] : 0;
    const int zeros = leading_zeros(high);
    const u64 bits = high << zeros | fifth << zeros >> LIMB_BITS;
    bool below = (fifth << zeros & 0xffff) != 0;
#pragma unroll
    for (int k = 0; k < LANE_LIMBS; k++) {
        below = below || (LANE_LIMBS * lane_number() + k < top - 4 && own.limbs[k] != 0);
    }
    return rounded(bits, LOWEST + LIMB_BITS * top + LIMB_BITS - 1 - zeros, warp_any(below), negative);
}

// A number of words · 2^(LOWEST + position), the last word with the sign, rounded to the nearest double; whether it is not
// zero. A thread does it alone.
template <int WORDS> KULISCH_DEVICE bool round_words(unsigned (&words)[WORDS], int position, u64 &result) {
    const bool negative = (int)words[WORDS - 1] < 0;
    if (negative) {
        unsigned carry = 1;
#pragma unroll
        for (unsigned &word : words) {
            word = ~word + carry;
            carry = carry != 0 && word == 0 ? 1 : 0;
        }
    }
    // The highest word that is not zero, and the two below; places of registers must be known to the compiler.
    unsigned first = 0, second = 0, third = 0;
    int top = 0;
    bool below = false;
#pragma unroll
    for (int word = 0; word < WORDS; word++) {
        if (words[word] != 0) {
            below = false;
#pragma unroll
            for (int lower = 0; lower < word - 2; lower++) {
                below = below || words[lower] != 0;
            }
            first = words[word];
            second = word >= 1 ? words[word - 1] : 0;
            third = word >= 2 ? words[word - 2] : 0;
            top = word;
        }
    }
    const int zeros = leading_zeros_of_half(first);
    const unsigned high = __funnelshift_l(second, first, (unsigned)zeros), low = __funnelshift_l(third, second, (unsigned)zeros);
    below = below || arithmetic::shift_left(third, (unsigned)zeros) != 0;
    result = rounded((u64)high << 32 | low, LOWEST + position + 32 * top + 31 - zeros, below, negative);
    return first != 0;
}

}  // namespace kulisch
// The quick way: fixed-point words in a thread's registers, for terms whose exponents lie in a window. Terms outside of it,
// zeros, and what is not finite go to the warp's accumulator (kulisch.cuh), which takes everything.

namespace kulisch {

// Terms that a warp may add before its windows must be emptied.
constexpr int WINDOW_TERMS = 1 << 13;

// Carries from word to word.
template <int WORDS> struct Sum;

template <> struct Sum<4> {
    static KULISCH_DEVICE void add(unsigned (&a)[4], unsigned b0, unsigned b1, unsigned b2, unsigned b3) {
        asm("add.cc.u32 %0, %0, %4; addc.cc.u32 %1, %1, %5; addc.cc.u32 %2, %2, %6; addc.u32 %3, %3, %7;"
            : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])
            : "r"(b0), "r"(b1), "r"(b2), "r"(b3));
    }
    static KULISCH_DEVICE void add(unsigned (&a)[4], const unsigned (&b)[4]) { add(a, b[0], b[1], b[2], b[3]); }
};
template <> struct Sum<5> {
    static KULISCH_DEVICE void add(unsigned (&a)[5], unsigned b0, unsigned b1, unsigned b2, unsigned b3, unsigned b4) {
        asm("add.cc.u32 %0, %0, %5; addc.cc.u32 %1, %1, %6; addc.cc.u32 %2, %2, %7; addc.cc.u32 %3, %3, %8; addc.u32 %4, %4, %9;"
            : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]), "+r"(a[4])
            : "r"(b0), "r"(b1), "r"(b2), "r"(b3), "r"(b4));
    }
    static KULISCH_DEVICE void add(unsigned (&a)[5], const unsigned (&b)[5]) { add(a, b[0], b[1], b[2], b[3], b[4]); }
};
template <> struct Sum<6> {
    static KULISCH_DEVICE void add(unsigned (&a)[6], unsigned b0, unsigned b1, unsigned b2, unsigned b3, unsigned b4, unsigned b5) {
        asm("add.cc.u32 %0, %0, %6; addc.cc.u32 %1, %1, %7; addc.cc.u32 %2, %2, %8; addc.cc.u32 %3, %3, %9; "
            "addc.cc.u32 %4, %4, %10; addc.u32 %5, %5, %11;"
            : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]), "+r"(a[4]), "+r"(a[5])
            : "r"(b0), "r"(b1), "r"(b2), "r"(b3), "r"(b4), "r"(b5));
    }
    static KULISCH_DEVICE void add(unsigned (&a)[6], const unsigned (&b)[6]) { add(a, b[0], b[1], b[2], b[3], b[4], b[5]); }
};

// Fixed-point words of a thread. Negative terms are added as their complement, all bits flipped; the ones that are missing
// then are counted.
template <int WORDS> struct Window {
    unsigned words[WORDS];
    unsigned negatives;

    KULISCH_DEVICE void clear() {
#pragma unroll
        for (unsigned &word : words) {
            word = 0;
        }
        negatives = 0;
    }

    // Puts in the ones that are missing.
    KULISCH_DEVICE void complete() {
        unsigned count[WORDS] = {negatives};
        Sum<WORDS>::add(words, count);
        negatives = 0;
    }

    // The sum of all lanes' windows, in every lane: the shuffle merge.
    KULISCH_DEVICE void merge_lanes() {
        complete();
#pragma unroll
        for (int mask = 16; mask > 0; mask /= 2) {
            unsigned other[WORDS];
#pragma unroll
            for (int word = 0; word < WORDS; word++) {
                other[word] = shuffle_xor(words[word], mask);
            }
            Sum<WORDS>::add(words, other);
        }
    }

    // Moves the sum of all lanes to the warp's accumulator, where it counts as one deposit.
    KULISCH_DEVICE void empty_into(int *limbs, int position) {
        merge_lanes();
        if (lane_number() == 0) {
            deposit(limbs, words, position);
        }
        warp_barrier();
        clear();
    }
};

// Numbers whose exponent fields are from `low` on, SPAN many.
struct NumberWindow : Window<4> {
    static constexpr unsigned SPAN = 60;
    // A fraction, moved; a sign; so many terms.
    static_assert(53 + (SPAN - 1) + 1 + 13 <= 128 && WINDOW_TERMS <= 1 << 13, "sums fit");
    static constexpr unsigned LIMIT = SPAN << 21;
    // Exponents above the largest number that the window was chosen for: the next may be larger.
    static constexpr unsigned SLACK = 4;

    // The lowest field of a window for numbers up to this field; neither subnormal numbers nor infinities are in it.
    static KULISCH_DEVICE unsigned low_for(unsigned highest) {
        const unsigned low = highest + SLACK < SPAN ? 1 : highest + SLACK - (SPAN - 1);
        return low < 2047 - SPAN ? low : 2047 - SPAN;
    }
    // How far above the window's lowest exponent a number is, times 2^21 and something below; not below LIMIT for numbers
    // that are not in the window.
    static KULISCH_DEVICE unsigned distance(unsigned high, unsigned low) { return 2 * high - (low << 21); }
    // Place of the window's lowest bit in the accumulator.
    static KULISCH_DEVICE int position(unsigned low) { return (int)low - 1075 - LOWEST; }

    KULISCH_DEVICE void add(unsigned low_word, unsigned high_word, unsigned distance) {
        const unsigned sign = (unsigned)((int)high_word >> 31), shift = distance >> 21;
        const unsigned m1 = arithmetic::both_or(high_word, 0xfffff, 0x100000) ^ sign, m0 = low_word ^ sign;
        const unsigned w0 = __funnelshift_l(sign, m0, shift), w1 = __funnelshift_l(m0, m1, shift);
        const unsigned w2 = __funnelshift_l(m1, sign, shift);
        const bool far = distance >= 32u << 21;
        Sum<4>::add(words, far ? sign : w0, far ? w0 : w1, far ? w1 : w2, far ? w2 : sign);
        negatives -= sign;
    }
};

// Products whose exponent fields have sums from `low` on, SPAN many: 64, or 32 for less work.
template <unsigned SPAN_> struct Products : Window<SPAN_ == 64 ? 6 : 5> {
    static constexpr unsigned SPAN = SPAN_;
    static_assert((SPAN == 64 && 106 + 63 + 1 + 13 <= 192) || (SPAN == 32 && 106 + 31 + 1 + 13 <= 160), "sums fit");
    static constexpr unsigned SLACK = 6;
    // What no distance is.
    static constexpr unsigned OUTSIDE = 0x80000000;

    static KULISCH_DEVICE unsigned low_for(unsigned highest) { return highest + SLACK < SPAN + 1 ? 2 : highest + SLACK - (SPAN - 1); }
    static KULISCH_DEVICE int position(unsigned low) { return (int)low - 2 * 1075 - LOWEST; }

    // A factor's field less one, times 2^21 and something below: not below FIELDS for zeros, subnormal numbers, infinities and
    // NaN.
    static KULISCH_DEVICE unsigned field(unsigned high) { return 2 * high - (1u << 21); }
    static constexpr unsigned FIELDS = 2046u << 21;
    // How far above the lowest exponent a product of factors with these fields is.
    static KULISCH_DEVICE unsigned distance(unsigned left, unsigned right, unsigned low) {
        const unsigned distance = (left >> 21) + (right >> 21) + 2 - low;
        return max(left, right) < FIELDS ? distance : OUTSIDE;
    }
    static KULISCH_DEVICE unsigned fraction(unsigned high) { return arithmetic::both_or(high, 0xfffff, 0x100000); }

    KULISCH_DEVICE void add(unsigned a0, unsigned a1, unsigned b0, unsigned b1, unsigned distance) {
        add_fractions(a0, fraction(a1), b0, fraction(b1), a1 ^ b1, distance);
    }

    // The product of fractions of 53 bits, with the sign of `signs`.
    KULISCH_DEVICE void add_fractions(unsigned a0, unsigned a1, unsigned b0, unsigned b1, unsigned signs, unsigned distance) {
        const unsigned sign = (unsigned)((int)signs >> 31);
        unsigned p[4];
        exact_product(a0, a1, b0, b1, p);
#pragma unroll
        for (unsigned &word : p) {
            word ^= sign;
        }
        const unsigned w0 = __funnelshift_l(sign, p[0], distance), w1 = __funnelshift_l(p[0], p[1], distance);
        const unsigned w2 = __funnelshift_l(p[1], p[2], distance), w3 = __funnelshift_l(p[2], p[3], distance);
        const unsigned w4 = __funnelshift_l(p[3], sign, distance);
        if constexpr (SPAN == 64) {
            const bool far = distance >= 32;
            Sum<6>::add(this->words, far ? sign : w0, far ? w0 : w1, far ? w1 : w2, far ? w2 : w3, far ? w3 : w4, far ? w4 : sign);
        } else {
            Sum<5>::add(this->words, w0, w1, w2, w3, w4);
        }
        this->negatives -= sign;
    }
};

using ProductWindow = Products<64>;
using NarrowProductWindow = Products<32>;

KULISCH_DEVICE unsigned low_word(u64 bits) { return (unsigned)bits; }
KULISCH_DEVICE unsigned high_word(u64 bits) { return (unsigned)(bits >> 32); }

// What was beyond a window that products were added to without a look.
struct Beyond {
    unsigned farthest = 0, highest = 0, lowest = ~0u;

    template <class W> KULISCH_DEVICE bool held() const { return farthest < W::SPAN && highest < 2047u << 21 && lowest >= 1u << 21; }
};

// Adds a product without a decision: zeros add nothing, and what is not in the window anything.
template <class W> KULISCH_DEVICE void add_unseen(W &window, u64 left, u64 right, unsigned low, Beyond &beyond) {
    const unsigned a0 = low_word(left), a1 = high_word(left), b0 = low_word(right), b1 = high_word(right);
    const unsigned a = 2 * a1, b = 2 * b1;
    const bool zero = (a | a0) == 0 || (b | b0) == 0;
    const unsigned distance = (a >> 21) + (b >> 21) - low;
    beyond.highest = max(beyond.highest, max(a, b));
    if (!zero) {
        const unsigned lower = a < b ? a : b;
        beyond.lowest = lower < beyond.lowest ? lower : beyond.lowest;
        beyond.farthest = max(beyond.farthest, distance);
    }
    window.add_fractions(zero ? 0 : a0, zero ? 0 : W::fraction(a1), b0, W::fraction(b1), a1 ^ b1, distance);
}

// What a product that is known to be finite says of the sign of a sum of zero.
KULISCH_DEVICE unsigned found_in_zero_sum(u64 left, u64 right) {
    const bool zero = (left & ~SIGN_BIT) == 0 || (right & ~SIGN_BIT) == 0;
    return zero && is_negative(left ^ right) ? ANY : NUMBER;
}

// Adds a product wherever it fits; returns what was found. Any lanes at once.
KULISCH_DEVICE unsigned add_product(ProductWindow &window, unsigned low, int *limbs, u64 left, u64 right) {
    const unsigned a1 = high_word(left), b1 = high_word(right);
    const unsigned distance = ProductWindow::distance(ProductWindow::field(a1), ProductWindow::field(b1), low);
    if (distance < ProductWindow::SPAN) {
        window.add(low_word(left), a1, low_word(right), b1, distance);
        return NUMBER;
    }
    return deposit_product(limbs, left, right);
}

// The sum of the fields of a product's factors, for the choice of a window: 0 where there is nothing to choose it for.
KULISCH_DEVICE unsigned product_field(u64 left, u64 right) {
    const unsigned a = field_of(left), b = field_of(right);
    return a == 0 || b == 0 || a == 0x7ff || b == 0x7ff ? 0 : a + b;
}

}  // namespace kulisch
// Exact sums for kernels of others: a sum that the lanes of a warp add to, in any order, and one of all blocks of a launch. ./generate makes
// include/kulisch.cuh of this file and of what it includes.

namespace kulisch {

// Bytes of shared memory that the sum of a warp takes.
constexpr int WARP_SUM_BYTES = ACCUMULATOR_BYTES + 16;

KULISCH_DEVICE u64 bits_of_double(double x) {
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
KULISCH_DEVICE double double_of_bits(u64 bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// The sum of all blocks of a launch, in memory; all zero before the first launch, and launches leave it so. Launches that share one must
// run one after the other.
struct GridTotal {
    int limbs[LIMBS];
    unsigned found, done;
};

// A sum of doubles and of products of doubles, exact until it is rounded. All 32 lanes of a warp call every function together, with the
// same arguments unless it says otherwise.
struct WarpSum {
    // `memory`: WARP_SUM_BYTES of shared memory for this warp alone, at a multiple of four bytes.
    KULISCH_DEVICE explicit WarpSum(void *memory) : limbs(static_cast<int *>(memory)), found(0), pending(0) { kulisch::clear(limbs); }

    // Adds a number of every lane that has one.
    KULISCH_DEVICE void add(double x, bool has = true) {
        make_room(32);
        if (has) {
            found |= deposit_number(limbs, bits_of_double(x));
        }
    }

    // Adds a product of every lane that has one.
    KULISCH_DEVICE void add_product(double x, double y, bool has = true) {
        make_room(32);
        if (has) {
            found |= deposit_product(limbs, bits_of_double(x), bits_of_double(y));
        }
    }

    // Adds `count` numbers of memory. Several times faster than one by one: those whose exponents are near each other go to registers first.
    KULISCH_DEVICE void add_array(const double *x, u64 count) {
        for (u64 first = 0; first < count; first += WINDOW_TERMS) {
            const u64 terms = count - first < WINDOW_TERMS ? count - first : WINDOW_TERMS;
            make_room(WINDOW_TERMS + 1);
            unsigned highest = 0;
            for (u64 at = lane_number(); at < terms && at < SAMPLE; at += 32) {
                const unsigned field = field_of(bits_of_double(x[first + at]));
                highest = field < 0x7ff && field > highest ? field : highest;
            }
            const unsigned low = NumberWindow::low_for(warp_maximum(highest));
            NumberWindow window;
            window.clear();
            for (u64 at = lane_number(); at < terms; at += 32) {
                const u64 bits = bits_of_double(x[first + at]);
                const unsigned distance = NumberWindow::distance(high_word(bits), low);
                if (distance < NumberWindow::LIMIT) {
                    window.add(low_word(bits), high_word(bits), distance);
                    found |= NUMBER;
                } else {
                    found |= deposit_number(limbs, bits);
                }
            }
            window.empty_into(limbs, NumberWindow::position(low));
        }
    }

    // Adds the products of `count` pairs of numbers.
    KULISCH_DEVICE void add_dot(const double *x, const double *y, u64 count) {
        for (u64 first = 0; first < count; first += WINDOW_TERMS) {
            const u64 terms = count - first < WINDOW_TERMS ? count - first : WINDOW_TERMS;
            make_room(WINDOW_TERMS + 1);
            unsigned highest = 0;
            for (u64 at = lane_number(); at < terms && at < SAMPLE; at += 32) {
                const unsigned field = product_field(bits_of_double(x[first + at]), bits_of_double(y[first + at]));
                highest = field > highest ? field : highest;
            }
            const unsigned low = ProductWindow::low_for(warp_maximum(highest));
            ProductWindow window;
            window.clear();
            for (u64 at = lane_number(); at < terms; at += 32) {
                found |= kulisch::add_product(window, low, limbs, bits_of_double(x[first + at]), bits_of_double(y[first + at]));
            }
            window.empty_into(limbs, ProductWindow::position(low));
        }
    }

    // Makes the sum ready to be merged by another warp of the block, once both have passed a barrier.
    KULISCH_DEVICE void publish() {
        kulisch::resolve(limbs);
        pending = 0;
        const unsigned all = warp_or(found);
        if (lane_number() == 0) {
            limbs[LIMBS] = (int)all;
        }
        warp_barrier();
    }

    // Adds a sum that another warp has published: the memory that it was made with.
    KULISCH_DEVICE void merge(const void *published) {
        const int *other = static_cast<const int *>(published);
        make_room(1);
        for (int limb = lane_number(); limb < LIMBS; limb += 32) {
            limbs[limb] += other[limb];
        }
        found |= (unsigned)other[LIMBS];
        warp_barrier();
    }

    // The sum, rounded to the nearest double, in every lane. The sum is empty afterwards.
    KULISCH_DEVICE double round() {
        const u64 bits = round_accumulator(limbs, warp_or(found));
        warp_barrier();
        kulisch::clear(limbs);
        found = 0;
        pending = 0;
        return double_of_bits(bits);
    }

    // Adds this to the sum of all blocks, of which one warp each calls this once; at most 2^14 blocks. Of the last one to do so `result` is
    // the sum of all, rounded, and true is returned.
    KULISCH_DEVICE bool add_to(GridTotal *total, double &result) {
        kulisch::resolve(limbs);
        pending = 0;
        for (int limb = lane_number(); limb < LIMBS; limb += 32) {
            if (limbs[limb] != 0) {
                atomic_add(&total->limbs[limb], limbs[limb]);
            }
        }
        const unsigned own = warp_or(found);
        if (lane_number() == 0) {
            atomic_or(&total->found, own);
        }
        // All lanes' additions before the count.
        device_fence();
        warp_barrier();
        const int last = shuffle(lane_number() == 0 && atomic_add(&total->done, 1) + 1 == gridDim.x ? 1 : 0, 0);
        if (last == 0) {
            return false;
        }
        device_fence();
        for (int limb = lane_number(); limb < LIMBS; limb += 32) {
            limbs[limb] = exchanged_for_zero(&total->limbs[limb]);
        }
        found = (unsigned)shuffle(lane_number() == 0 ? exchanged_for_zero(reinterpret_cast<int *>(&total->found)) : 0, 0);
        if (lane_number() == 0) {
            total->done = 0;
        }
        result = round();
        return true;
    }

  private:
    // Numbers whose exponents are looked at for the choice of a window.
    static constexpr u64 SAMPLE = 256;

    // So many deposits follow.
    KULISCH_DEVICE void make_room(int deposits) {
        if (pending > MOST_PENDING - deposits) {
            kulisch::resolve(limbs);
            pending = 0;
        }
        pending += deposits;
    }

    int *limbs;
    unsigned found;
    int pending;
};

// Warps of the blocks of the kernels below, and numbers that a warp takes at a time.
constexpr int GRID_WARPS = 8;
constexpr int GRID_THREADS = 32 * GRID_WARPS;
constexpr int GRID_SHARED_BYTES = GRID_WARPS * WARP_SUM_BYTES;

// The sum of numbers, or of products where there is a `y`, by all blocks of a launch of GRID_THREADS threads each; `shared` has
// GRID_SHARED_BYTES.
KULISCH_DEVICE void sum_of_grid(void *shared, const double *x, const double *y, u64 count, double *result, GridTotal *total) {
    const int own = thread_number() / 32;
    unsigned char *memory = static_cast<unsigned char *>(shared);
    WarpSum sum(memory + own * WARP_SUM_BYTES);
    const u64 warps = (u64)gridDim.x * GRID_WARPS, warp = (u64)blockIdx.x * GRID_WARPS + own;
    for (u64 first = warp * WINDOW_TERMS; first < count; first += warps * WINDOW_TERMS) {
        const u64 terms = count - first < WINDOW_TERMS ? count - first : WINDOW_TERMS;
        if (y == nullptr) {
            sum.add_array(x + first, terms);
        } else {
            sum.add_dot(x + first, y + first, terms);
        }
    }
    sum.publish();
    block_barrier();
    if (own != 0) {
        return;
    }
    for (int other = 1; other < GRID_WARPS; other++) {
        sum.merge(memory + other * WARP_SUM_BYTES);
    }
    double rounded;
    if (sum.add_to(total, rounded) && lane_number() == 0) {
        *result = rounded;
    }
}

}  // namespace kulisch
}  // namespace kulisch_internal

namespace kulisch {

using kulisch_internal::kulisch::GridTotal;
using kulisch_internal::kulisch::WARP_SUM_BYTES;
using kulisch_internal::kulisch::WarpSum;

// Sums and dot products of arrays in a GPU's memory, by one launch each, in the order of a stream.
template <int = 0> __global__ void __launch_bounds__(kulisch_internal::kulisch::GRID_THREADS) sum_kernel(const double *x, const double *y, size_t count, double *result, GridTotal *total) {
    __shared__ __align__(16) unsigned char memory[kulisch_internal::kulisch::GRID_SHARED_BYTES];
    kulisch_internal::kulisch::sum_of_grid(memory, x, y, count, result, total);
}

// Blocks of a launch: a warp takes 8192 numbers at a time, and more than 2048 blocks gain nothing.
inline unsigned sum_blocks(size_t count) {
    const size_t share = (size_t)kulisch_internal::kulisch::WINDOW_TERMS * kulisch_internal::kulisch::GRID_WARPS;
    const size_t blocks = (count + share - 1) / share;
    return blocks < 1 ? 1 : blocks > 2048 ? 2048 : (unsigned)blocks;
}

// *result = Σ x[i], rounded once. `x`, `result` and `total` are the device's; `total` is zero before its first use (cudaMemset), and one
// launch at a time uses it.
inline cudaError_t sum(const double *x, size_t count, double *result, GridTotal *total, cudaStream_t stream = 0) {
    sum_kernel<><<<sum_blocks(count), kulisch_internal::kulisch::GRID_THREADS, 0, stream>>>(x, nullptr, count, result, total);
    return cudaGetLastError();
}

// *result = Σ x[i] · y[i], rounded once.
inline cudaError_t dot(const double *x, const double *y, size_t count, double *result, GridTotal *total, cudaStream_t stream = 0) {
    sum_kernel<><<<sum_blocks(count), kulisch_internal::kulisch::GRID_THREADS, 0, stream>>>(x, y, count, result, total);
    return cudaGetLastError();
}

}  // namespace kulisch

#undef KULISCH_DEVICE
#undef KULISCH_DEVICE_CONSTANT
#undef KULISCH_DEVICE_APART
