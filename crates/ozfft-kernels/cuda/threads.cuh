// Threads, barriers and exchanges within a warp, under names that a host-side emulation can implement too.
#pragma once

#ifdef __CUDACC__

#include <cstdint>

#define DEVICE __device__ __forceinline__

// Dynamic shared memory of the block.
DEVICE unsigned char *shared_memory() {
    extern __shared__ __align__(1024) unsigned char memory[];
    return memory;
}

DEVICE void block_barrier() { __syncthreads(); }

// A barrier of `threads` threads of the block (a multiple of 32); number 0 is the block's own.
DEVICE void named_barrier(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

template <class T> DEVICE T shuffle_xor(T value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
template <class T> DEVICE T shuffle(T value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }

#else
#include "emulator.h"
#endif
