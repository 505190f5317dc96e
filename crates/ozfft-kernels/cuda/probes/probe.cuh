// What all kernels that measure have in common: the clock that was in fact running, and a way to keep results that
// nobody reads.
#pragma once
#include "arch/threads.cuh"

#define PROBE_KERNEL extern "C" __global__ void

// Cycles and nanoseconds that the first block took, for the clock under load: it differs from the one in the data sheet.
// Every kernel that measures is launched in one wave, so that this block runs all the time.
struct Stopwatch {
    uint64_t cycles, nanoseconds;

    DEVICE void start() { read(cycles, nanoseconds); }

    DEVICE void stop(uint64_t *observed) const {
        uint64_t end_cycles, end_nanoseconds;
        read(end_cycles, end_nanoseconds);
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            observed[0] = end_cycles - cycles;
            observed[1] = end_nanoseconds - nanoseconds;
        }
    }

    static DEVICE void read(uint64_t &cycles, uint64_t &nanoseconds) {
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
    }
};

// Uses a value in a way that the compiler can't prove to be idle, at no cost.
template <class T> DEVICE void keep(T value, uint64_t *observed) {
    if (value == static_cast<T>(0x5eed5eed)) observed[2] = 1;
}

// Bits that look random: units that multiply zeros draw less power and clock higher.
DEVICE uint32_t scrambled(uint32_t value) {
    value = (value ^ (value >> 16)) * 0x7feb352du;
    value = (value ^ (value >> 15)) * 0x846ca68bu;
    return value ^ (value >> 16);
}
