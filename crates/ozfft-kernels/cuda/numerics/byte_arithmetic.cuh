// Arithmetic on the bytes of a word that residues in fp8 need, with its equivalent in C++, for the emulator.
#pragma once
#include "numerics/arithmetic.cuh"

namespace arithmetic {

#ifdef __CUDACC__

// Bytes of a times those of b, all without signs, onto c.
DEVICE int unsigned_dot_product(unsigned a, unsigned b, int c) {
    int r;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
// The topmost bit of every byte, in all bits of its byte.
DEVICE unsigned byte_signs(unsigned x) {
    unsigned r;
    asm("prmt.b32 %0, %1, %1, 0xba98;" : "=r"(r) : "r"(x));
    return r;
}

#else

DEVICE int unsigned_dot_product(unsigned a, unsigned b, int c) {
    for (int bits = 0; bits < 32; bits += 8) c += (int)((a >> bits & 0xff) * (b >> bits & 0xff));
    return c;
}
DEVICE unsigned byte_signs(unsigned x) { return (x >> 7 & 0x01010101u) * 0xff; }

#endif

}  // namespace arithmetic
