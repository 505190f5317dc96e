// VARIANT(N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS, CONVERSIONS, BLOCKS): an instantiation of the template, under the name of its
// line number; BLOCKS is how many blocks a multiprocessor is to have registers for.
#pragma once
#include "block/bailey_block.cuh"
#include "variant.h"
#ifndef __CUDACC__
#include "emulation/emulator.h"
#endif

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#ifdef __CUDACC__
#define VARIANT_KERNEL(NAME, BLOCKS, CONVERSIONS)                                                                     \
    static __global__ void __launch_bounds__(NAME##_shape::THREADS, BLOCKS) NAME(PARAMETERS TunedArguments a) {       \
        bailey::run<NAME##_shape, bailey::MmaSync, CONVERSIONS>(a);                                                   \
    }                                                                                                                 \
    static void NAME##_launch(const TunedArguments &a, uint64_t blocks, int threads, int shared) {                    \
        NAME<<<(unsigned)blocks, threads, shared>>>(a);                                                               \
    }
#else
#define VARIANT_KERNEL(NAME, BLOCKS, CONVERSIONS)                                                                     \
    static void NAME(TunedArguments a) { bailey::run<NAME##_shape, bailey::MmaSync, CONVERSIONS>(a); }                \
    static void NAME##_launch(const TunedArguments &a, uint64_t blocks, int threads, int shared) {                    \
        emulator::launch(blocks, threads, (size_t)shared, [&a] { NAME(a); });                                         \
    }
#endif
#define NAMED_VARIANT(NAME, N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS, CONVERSIONS, BLOCKS)                            \
    typedef bailey::BlockShape<N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS> NAME##_shape;                                  \
    VARIANT_KERNEL(NAME, BLOCKS, CONVERSIONS)                                                                         \
    static const Registered NAME##_registered({N1, N2, LINES, UNITS1, UNITS2, GROUPS, STRIDED, CONVERSIONS, NAME##_shape::WARPS, BLOCKS, \
                                               NAME##_shape::THREADS, NAME##_shape::SHARED, NAME##_shape::Tables::BYTES, \
                                               (const void *)NAME, NAME##_launch});
#define VARIANT_AS(NAME, ...) NAMED_VARIANT(NAME, __VA_ARGS__)
#define VARIANT(...) VARIANT_AS(JOINED(variant_, __LINE__), __VA_ARGS__)
