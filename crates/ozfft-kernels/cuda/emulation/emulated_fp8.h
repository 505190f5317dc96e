// Digits in fp8 (e4m3), and their sums as Hopper's accumulator keeps them, on a host without a GPU.
#pragma once
#include "emulation/emulator.h"

#pragma GCC push_options
#pragma GCC optimize("O3")

namespace emulator {

// A number in units of 2^-9, the smallest that e4m3 has.
inline int e4m3(unsigned char code) {
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const int magnitude = exponent == 0 ? fraction : (8 + fraction) << (exponent - 1);
    return code & 0x80 ? -magnitude : magnitude;
}

// A data digit in these units.
inline int16_t e4m3_data(unsigned char code) {
    if ((code & 0x7f) > 16) fail("multiplies data in fp8 that are not digits");
    return (int16_t)e4m3(code);
}

// A digit of a matrix.
inline int16_t e4m3_integer(unsigned char code) {
    const int number = e4m3(code) / 512;
    if (e4m3(code) != 512 * number || number < -16 || number > 16) fail("multiplies a matrix in fp8 that has not digits");
    return (int16_t)number;
}

// A sum, and the positive and the negative products that are added to it, in these units. In whatever order they are added, no sum on the way
// is outside of what is looked at here.
inline float sum_of_e4m3(float before, int positive, int negative) {
    const int units = (int)(512 * before);
    if ((units > 0 ? units : 0) + positive > 1 << 14 || (units < 0 ? units : 0) + negative < -(1 << 14)) fail("sums up more than 2^14 units in fp8");
    return (float)(units + positive + negative) / 512;
}

}  // namespace emulator

#pragma GCC pop_options
