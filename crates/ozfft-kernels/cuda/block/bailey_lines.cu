// Kernels of the template for the lengths that are compiled in advance: for blocks with 99 KB of shared memory, which all GPUs
// have, and with 227 KB where that makes a difference.
// target: fatbin
// tuned
// early
#include "block/bailey_block.cuh"

#define SHAPE(N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS, KILOBYTES) \
    bailey::Within<N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS, 1024 * KILOBYTES>::Shape
#define PLACE_true strided
#define PLACE_false contiguous
// A kernel that no host launches is left empty.
#define LINES_KERNEL_(N1, N2, PLACE, KILOBYTES, SHAPE, LAUNCHED)                                                    \
    KERNEL(SHAPE::THREADS, 1) bailey_##N1##x##N2##_##PLACE##_##KILOBYTES##_conversions(PARAMETERS TunedArguments a) { \
        if constexpr (LAUNCHED) bailey::run<SHAPE, bailey::MmaSync, true>(a);                                       \
    }
#define LINES_KERNEL(...) LINES_KERNEL_(__VA_ARGS__)

#define BAILEY(...)
#define BAILEY_WGMMA(...)
#define BAILEY_IN_ADVANCE(N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS)                                                    \
    typedef SHAPE(N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS, 99) Small_##N1##_##N2##_##STRIDED;                         \
    typedef SHAPE(N1, N2, LINES, UNITS1, UNITS2, STRIDED, GROUPS, 227) Large_##N1##_##N2##_##STRIDED;                        \
    LINES_KERNEL(N1, N2, PLACE_##STRIDED, 99, Small_##N1##_##N2##_##STRIDED, true)                                           \
    LINES_KERNEL(N1, N2, PLACE_##STRIDED, 227, Large_##N1##_##N2##_##STRIDED, (Large_##N1##_##N2##_##STRIDED::SHARED > 99 * 1024))
#include "block/bailey_lengths.def"

// expect: bailey_32x1_contiguous_99_conversions 24 IMMA
// expect: bailey_32x32_strided_99_conversions 96 IMMA
