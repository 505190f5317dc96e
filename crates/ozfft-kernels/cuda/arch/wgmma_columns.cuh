// target: sm_90a
// The products of wgmma.cuh with 48, 64 and 80 columns of B. Sums may be more than a product has columns for: it takes
// the first ones.
#pragma once
#include "arch/wgmma.cuh"

#ifdef __CUDACC__

#define SUMS_8(c, i) \
    "+r"(c[i]), "+r"(c[i + 1]), "+r"(c[i + 2]), "+r"(c[i + 3]), "+r"(c[i + 4]), "+r"(c[i + 5]), "+r"(c[i + 6]), "+r"(c[i + 7])
#define NEW_SUMS_8(c, i) \
    "=r"(c[i]), "=r"(c[i + 1]), "=r"(c[i + 2]), "=r"(c[i + 3]), "=r"(c[i + 4]), "=r"(c[i + 5]), "=r"(c[i + 6]), "=r"(c[i + 7])
#define NAMES_24 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23"
#define NAMES_32 NAMES_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_40 NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define PRODUCT(COLUMNS, MORE, NAMES, A, B)                                                                        \
    "{ .reg .pred p; setp.ne.b32 p, " MORE ", 0;\n"                                                                \
    "wgmma.mma_async.sync.aligned.m64n" COLUMNS "k32.s32.u8.s8 {" NAMES "}, {" A "}, " B ", p; }"
#define OPERANDS(a, b) "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)

// c = a·b.
template <int COLUMNS, int SUMS> DEVICE void wgmma_u8_first(int (&c)[SUMS], const unsigned (&a)[4], uint64_t b) {
    static_assert(SUMS == COLUMNS / 2, "sums of all columns");
    static_assert(COLUMNS == 48 || COLUMNS == 80, "as written out");
    if constexpr (COLUMNS == 48)
        asm volatile(PRODUCT("48", "0", NAMES_24, "%24, %25, %26, %27", "%28")
                     : NEW_SUMS_8(c, 0), NEW_SUMS_8(c, 8), NEW_SUMS_8(c, 16)
                     : OPERANDS(a, b));
    else
        asm volatile(PRODUCT("80", "0", NAMES_40, "%40, %41, %42, %43", "%44")
                     : NEW_SUMS_8(c, 0), NEW_SUMS_8(c, 8), NEW_SUMS_8(c, 16), NEW_SUMS_8(c, 24), NEW_SUMS_8(c, 32)
                     : OPERANDS(a, b));
}

// c += a·b.
template <int COLUMNS, int SUMS> DEVICE void wgmma_u8_more(int (&c)[SUMS], const unsigned (&a)[4], uint64_t b) {
    static_assert(SUMS >= COLUMNS / 2, "sums of all columns");
    static_assert(COLUMNS == 32 || COLUMNS == 48 || COLUMNS == 64, "as written out");
    if constexpr (COLUMNS == 32)
        asm volatile(PRODUCT("32", "1", "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15", "%16, %17, %18, %19", "%20")
                     : SUMS_8(c, 0), SUMS_8(c, 8)
                     : OPERANDS(a, b));
    else if constexpr (COLUMNS == 48)
        asm volatile(PRODUCT("48", "1", NAMES_24, "%24, %25, %26, %27", "%28")
                     : SUMS_8(c, 0), SUMS_8(c, 8), SUMS_8(c, 16)
                     : OPERANDS(a, b));
    else
        asm volatile(PRODUCT("64", "1", NAMES_32, "%32, %33, %34, %35", "%36")
                     : SUMS_8(c, 0), SUMS_8(c, 8), SUMS_8(c, 16), SUMS_8(c, 24)
                     : OPERANDS(a, b));
}

#undef SUMS_8
#undef NEW_SUMS_8
#undef NAMES_24
#undef NAMES_32
#undef NAMES_40
#undef PRODUCT
#undef OPERANDS

#else

template <int COLUMNS, int SUMS> DEVICE void wgmma_u8_first(int (&c)[SUMS], const unsigned (&a)[4], uint64_t b) {
    emulator::begin_product(c, COLUMNS, true, a, b, emulator::U8_S8);
}
template <int COLUMNS, int SUMS> DEVICE void wgmma_u8_more(int (&c)[SUMS], const unsigned (&a)[4], uint64_t b) {
    emulator::begin_product(c, COLUMNS, false, a, b, emulator::U8_S8);
}

#endif
