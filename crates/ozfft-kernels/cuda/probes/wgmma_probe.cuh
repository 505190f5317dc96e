// wgmma (compute capability 9.0 alone) for the kernels that measure it: one warpgroup, 64 rows, sums in registers, B in
// shared memory, A there too or in registers.
//
// Matrices in shared memory are made of cores of 8 rows × 16 bytes, 128 bytes on end; the two halves of a row's 32 bytes
// are one core apart, eight rows two. Warp w, lane 4·g + t: the sums of row 16·w + g, columns 8·j + 2·t and the next, are
// 4·j and 4·j + 1; those of row 16·w + g + 8 are 4·j + 2 and 4·j + 3. A in registers is that of mma.sync in each warp.
#pragma once
#include "arch/wgmma.cuh"

constexpr int CORE_BYTES = 128;

// Where byte `k` (below 32) of a row lies in a matrix in shared memory.
DEVICE uint32_t core_offset(uint32_t row, uint32_t k) {
    return (row / 8 * 2 + k / 16) * CORE_BYTES + row % 8 * 16 + k % 16;
}

// Its descriptor, which is that of B in wgmma.cuh.
DEVICE uint64_t descriptor_of(const void *matrix) { return wgmma_matrix((uint32_t)__cvta_generic_to_shared(matrix)); }

#define EACH_4(mode, d, i) mode(d[i]), mode(d[i + 1]), mode(d[i + 2]), mode(d[i + 3])
#define EACH_16(mode, d, i) EACH_4(mode, d, i), EACH_4(mode, d, i + 4), EACH_4(mode, d, i + 8), EACH_4(mode, d, i + 12)
#define EACH_32(mode, d, i) EACH_16(mode, d, i), EACH_16(mode, d, i + 16)
#define EACH_128(mode, d, i) EACH_32(mode, d, i), EACH_32(mode, d, i + 32), EACH_32(mode, d, i + 64), EACH_32(mode, d, i + 96)

#define PLACES_16 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define PLACES_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define PLACES_128 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// sums += A · B; the number type's extra operands are the signs of A and B.
#define DEFINE_WGMMA(name, Sum, mode, count, instruction, extra, p0, p1, p2, p3, p4)                                   \
    DEVICE void wgmma_##name(Sum(&sums)[count], uint64_t a, uint64_t b) {                                              \
        asm volatile("{ .reg .pred all; setp.eq.u32 all, 0, 0; wgmma.mma_async.sync.aligned." instruction              \
                     " {" PLACES_##count "}, " p0 ", " p1 ", all" extra "; }"                                          \
                     : EACH_##count(mode, sums, 0)                                                                     \
                     : "l"(a), "l"(b));                                                                                \
    }                                                                                                                  \
    DEVICE void wgmma_##name(Sum(&sums)[count], const uint32_t(&a)[4], uint64_t b) {                                   \
        asm volatile("{ .reg .pred all; setp.eq.u32 all, 0, 0; wgmma.mma_async.sync.aligned." instruction              \
                     " {" PLACES_##count "}, {" p0 ", " p1 ", " p2 ", " p3 "}, " p4 ", all" extra "; }"                \
                     : EACH_##count(mode, sums, 0)                                                                     \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                            \
    }

#define INTEGER(value) "+r"(value)
#define FLOAT(value) "+f"(value)
DEFINE_WGMMA(s8_m64n32k32, int, INTEGER, 16, "m64n32k32.s32.s8.s8", "", "%16", "%17", "%18", "%19", "%20")
DEFINE_WGMMA(s8_m64n64k32, int, INTEGER, 32, "m64n64k32.s32.s8.s8", "", "%32", "%33", "%34", "%35", "%36")
DEFINE_WGMMA(s8_m64n256k32, int, INTEGER, 128, "m64n256k32.s32.s8.s8", "", "%128", "%129", "%130", "%131", "%132")
DEFINE_WGMMA(e4m3_m64n64k32, float, FLOAT, 32, "m64n64k32.f32.e4m3.e4m3", ", 1, 1", "%32", "%33", "%34", "%35", "%36")
DEFINE_WGMMA(e4m3_m64n256k32, float, FLOAT, 128, "m64n256k32.f32.e4m3.e4m3", ", 1, 1", "%128", "%129", "%130", "%131", "%132")
