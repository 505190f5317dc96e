// wgmma with 8-bit floating-point numbers (e4m3) and sums in f32: the shape of wgmma.cuh, but for the number of columns,
// which may be any number of tiles of eight.
//
// On Hopper, sums of integers are exact as long as no sum on the way exceeds 2^14 units of the products' last place;
// beyond, bits are dropped. Whoever multiplies has to know a bound.
//
// A product may take fewer columns than others into the same sums, as long as it begins with the same one: with sums that
// begin elsewhere the compiler (ptxas 13.0) waits for every single product.
#pragma once
#include "arch/wgmma.cuh"

#ifdef __CUDACC__

#define E4M3_SUMS_4(mode, i) mode(c[i]), mode(c[i + 1]), mode(c[i + 2]), mode(c[i + 3])
#define E4M3_SUMS_8(mode, i) E4M3_SUMS_4(mode, i), E4M3_SUMS_4(mode, i + 4)
#define E4M3_SUMS_12(mode, i) E4M3_SUMS_4(mode, i), E4M3_SUMS_4(mode, i + 4), E4M3_SUMS_4(mode, i + 8)
#define E4M3_SUMS_16(mode, i) E4M3_SUMS_12(mode, i), E4M3_SUMS_4(mode, i + 12)
#define E4M3_SUMS_20(mode, i) E4M3_SUMS_16(mode, i), E4M3_SUMS_4(mode, i + 16)
#define E4M3_SUMS_28(mode, i) E4M3_SUMS_16(mode, i), E4M3_SUMS_12(mode, i + 16)
#define E4M3_SUMS_32(mode, i) E4M3_SUMS_16(mode, i), E4M3_SUMS_16(mode, i + 16)
#define E4M3_SUMS_36(mode, i) E4M3_SUMS_32(mode, i), E4M3_SUMS_4(mode, i + 32)
#define E4M3_PLACES_4 "%0, %1, %2, %3"
#define E4M3_PLACES_8 E4M3_PLACES_4 ", %4, %5, %6, %7"
#define E4M3_PLACES_12 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11"
#define E4M3_PLACES_16 E4M3_PLACES_12 ", %12, %13, %14, %15"
#define E4M3_PLACES_20 E4M3_PLACES_16 ", %16, %17, %18, %19"
#define E4M3_PLACES_28 E4M3_PLACES_20 ", %20, %21, %22, %23, %24, %25, %26, %27"
#define E4M3_PLACES_32 E4M3_PLACES_28 ", %28, %29, %30, %31"
#define E4M3_PLACES_36 E4M3_PLACES_32 ", %32, %33, %34, %35"
#define E4M3_NEW(x) "=f"(x)
#define E4M3_OLD(x) "+f"(x)
#define E4M3_PRODUCT(columns, count, mode, keep, a0, a1, a2, a3, matrix)                                                  \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, " keep ", 0;\n"                                                          \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k32.f32.e4m3.e4m3 {" E4M3_PLACES_##count "}, "             \
                 "{" a0 ", " a1 ", " a2 ", " a3 "}, " matrix ", p, 1, 1; }"                                               \
                 : E4M3_SUMS_##count(mode, 0)                                                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))

// c = a·b, the first sums of c.
template <int COLUMNS, int COUNT> DEVICE void wgmma_e4m3_first(float (&c)[COUNT], const unsigned (&a)[4], uint64_t b) {
    static_assert(COLUMNS == 8 || COLUMNS == 16 || COLUMNS == 32 || COLUMNS == 40 || COLUMNS == 64 || COLUMNS == 72, "as many columns as products begin with");
    if constexpr (COLUMNS == 8) E4M3_PRODUCT(8, 4, E4M3_NEW, "0", "%4", "%5", "%6", "%7", "%8");
    if constexpr (COLUMNS == 16) E4M3_PRODUCT(16, 8, E4M3_NEW, "0", "%8", "%9", "%10", "%11", "%12");
    if constexpr (COLUMNS == 32) E4M3_PRODUCT(32, 16, E4M3_NEW, "0", "%16", "%17", "%18", "%19", "%20");
    if constexpr (COLUMNS == 40) E4M3_PRODUCT(40, 20, E4M3_NEW, "0", "%20", "%21", "%22", "%23", "%24");
    if constexpr (COLUMNS == 64) E4M3_PRODUCT(64, 32, E4M3_NEW, "0", "%32", "%33", "%34", "%35", "%36");
    if constexpr (COLUMNS == 72) E4M3_PRODUCT(72, 36, E4M3_NEW, "0", "%36", "%37", "%38", "%39", "%40");
}

// c += a·b.
template <int COLUMNS, int COUNT> DEVICE void wgmma_e4m3_more(float (&c)[COUNT], const unsigned (&a)[4], uint64_t b) {
    static_assert(COLUMNS == 16 || COLUMNS == 24 || COLUMNS == 32 || COLUMNS == 40 || COLUMNS == 56 || COLUMNS == 64 || COLUMNS == 72, "as many columns as products have");
    if constexpr (COLUMNS == 16) E4M3_PRODUCT(16, 8, E4M3_OLD, "1", "%8", "%9", "%10", "%11", "%12");
    if constexpr (COLUMNS == 24) E4M3_PRODUCT(24, 12, E4M3_OLD, "1", "%12", "%13", "%14", "%15", "%16");
    if constexpr (COLUMNS == 32) E4M3_PRODUCT(32, 16, E4M3_OLD, "1", "%16", "%17", "%18", "%19", "%20");
    if constexpr (COLUMNS == 40) E4M3_PRODUCT(40, 20, E4M3_OLD, "1", "%20", "%21", "%22", "%23", "%24");
    if constexpr (COLUMNS == 56) E4M3_PRODUCT(56, 28, E4M3_OLD, "1", "%28", "%29", "%30", "%31", "%32");
    if constexpr (COLUMNS == 64) E4M3_PRODUCT(64, 32, E4M3_OLD, "1", "%32", "%33", "%34", "%35", "%36");
    if constexpr (COLUMNS == 72) E4M3_PRODUCT(72, 36, E4M3_OLD, "1", "%36", "%37", "%38", "%39", "%40");
}

#else
#include "emulation/emulated_wgmma_fp8.h"
#endif
