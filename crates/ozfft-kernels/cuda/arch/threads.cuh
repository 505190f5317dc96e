// Threads, barriers and exchanges within a warp, under names that a host-side emulation can implement too.
#pragma once

#ifdef __CUDACC__

#include <cstdint>

#define DEVICE __device__ __forceinline__
// What the compiler works out.
#define DEVICE_CONSTANT __host__ __device__ constexpr
// What is rarely needed, and would only take room where it is.
#define DEVICE_APART __device__ __noinline__

// Dynamic shared memory of the block.
DEVICE unsigned char *shared_memory() {
    extern __shared__ __align__(1024) unsigned char memory[];
    return memory;
}

// Where something lies in shared memory, as instructions want it; and what lies there.
DEVICE uint32_t shared_address(const void *place) { return (uint32_t)__cvta_generic_to_shared(place); }
DEVICE uint4 load_shared(uint32_t at) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
    return v;
}
DEVICE uint2 load_shared_two(uint32_t at) {
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at));
    return v;
}
DEVICE int load_shared_int(uint32_t at) {
    int v;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}
DEVICE void store_shared(uint32_t at, uint4 v) {
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
DEVICE void store_shared(uint32_t at, uint2 v) { asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(at), "r"(v.x), "r"(v.y) : "memory"); }
DEVICE void store_shared_int(uint32_t at, int v) { asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }
// The lowest byte.
DEVICE void store_shared_byte(uint32_t at, unsigned v) { asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }

// The thread's number, looked up anew and not kept in a register.
DEVICE int thread_number() {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

DEVICE void block_barrier() { __syncthreads(); }

// A barrier of `threads` threads of the block (a multiple of 32); number 0 is the block's own.
DEVICE void named_barrier(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Makes what the lanes of a warp have written to shared memory visible to each other.
DEVICE void warp_barrier() { __syncwarp(); }

template <class T> DEVICE T shuffle_xor(T value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
template <class T> DEVICE T shuffle(T value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
// The value of the lane so many numbers below; lanes that have none keep their own.
template <class T> DEVICE T shuffle_up(T value, int distance) { return __shfl_up_sync(0xffffffffu, value, distance); }
// Whether any lane says so.
DEVICE bool warp_any(bool value) { return __any_sync(0xffffffffu, value) != 0; }
// The sum of all lanes' values, which fits.
DEVICE unsigned warp_sum(unsigned value) { return __reduce_add_sync(0xffffffffu, value); }
// The largest value of a warp's lanes.
DEVICE unsigned warp_maximum(unsigned value) { return __reduce_max_sync(0xffffffffu, value); }
// The bits that any of them has.
DEVICE unsigned warp_or(unsigned value) { return __reduce_or_sync(0xffffffffu, value); }

// A function that the host launches with blocks of so many threads, of which a multiprocessor is to have so many at once;
// and its parameters: read only, in the constant bank.
#define KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define PARAMETERS const __grid_constant__

// Orders what the thread has written to memory before what it writes later, for all threads of the block.
DEVICE void block_fence() { __threadfence_block(); }

// The same for all threads of the device.
DEVICE void device_fence() { __threadfence(); }

// Returns what was there before.
DEVICE unsigned atomic_add(unsigned *place, unsigned value) { return atomicAdd(place, value); }
DEVICE void atomic_add(int *place, int value) { atomicAdd(place, value); }
DEVICE void atomic_add(uint64_t *place, uint64_t value) { atomicAdd(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value)); }
// Returns what was there, past any cache, and leaves zero.
DEVICE int exchanged_for_zero(int *place) { return atomicExch(place, 0); }
// 16 bytes of a table that no kernel changes.
template <class T> DEVICE T table_entry(const T *place) {
    static_assert(sizeof(T) == 16, "entries are read by one instruction");
    const uint4 bits = __ldg(reinterpret_cast<const uint4 *>(place));
    T entry;
    memcpy(&entry, &bits, sizeof(T));
    return entry;
}

DEVICE void atomic_or(uint32_t *place, uint32_t bits) { atomicOr(place, bits); }
DEVICE void atomic_maximum(int32_t *place, int32_t value) { atomicMax(place, value); }
DEVICE void atomic_maximum(uint64_t *place, uint64_t value) {
    atomicMax(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value));
}
DEVICE int leading_zeros(uint64_t value) { return __clzll(static_cast<long long>(value)); }
DEVICE int leading_zeros_of_half(uint32_t value) { return __clz(static_cast<int>(value)); }

#else
#include "emulation/emulator.h"
#endif
