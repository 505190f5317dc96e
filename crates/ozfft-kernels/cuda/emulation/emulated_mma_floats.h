// The names of mma_floats.cuh on a host without a GPU.
//
// Sums are those that `Order::Aligned` of the crate `floats` defines, with what Hopper is expected to have: all 16 products
// of an instruction and the sum before it are brought to the exponent of the largest, cut off two bits below the last place
// of an f32 there, added, and the sum is cut off to an f32. Nothing is rounded to nearest.
#pragma once
#include <cmath>
#include <cstring>

#pragma GCC push_options
#pragma GCC optimize("O3")

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
DEVICE float2 make_float2(float x, float y) { return {x, y}; }
DEVICE float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
DEVICE double2 make_double2(double x, double y) { return {x, y}; }

DEVICE float4 read_once(const float4 *from) { return *from; }
DEVICE float2 read_once(const float2 *from) { return *from; }
DEVICE void write_once(float4 *to, float4 value) { *to = value; }
DEVICE void write_once(float2 *to, float2 value) { *to = value; }

template <class T> DEVICE T constant_entry(const T *from) { return *from; }

DEVICE float to_integer(float x) { return std::nearbyint(x); }
DEVICE double unfused(double a, double b) { return a * b; }
// As the hardware: every NaN that an operation on f32 returns has the same bits.
DEVICE float unfused(float a, float b) {
    const float product = a * b;
    return product == product ? product : arithmetic::from_bits(0x7fffffffu);
}

namespace emulator {

constexpr int GUARD_BITS = 2;

inline float bf16_value(uint32_t half) {
    const uint32_t bits = half << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}
inline float f16_value(uint32_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    float magnitude;
    if (exponent == 31) {
        magnitude = fraction == 0 ? INFINITY : NAN;
    } else {
        magnitude = exponent == 0 ? std::ldexp((float)fraction, -24) : std::ldexp((float)(1024 + fraction), exponent - 25);
    }
    return half & 0x8000 ? -magnitude : magnitude;
}
inline uint32_t to_bf16(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return std::isnan(value) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline uint32_t to_f16(float value) {
    const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return 0x7fff;
    if (magnitude == 0) return sign;
    if (magnitude >= 65520.0f) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    // Spacing of the format there; multiples of it are numbers of the format, but for the next power of two, which is one as well.
    const int spacing = exponent - 11 < -24 ? -24 : exponent - 11;
    const float multiple = std::nearbyint(std::ldexp(magnitude, -spacing));
    const uint32_t field = (uint32_t)(spacing + 24);
    return sign | ((field << 10) + (uint32_t)multiple);
}

// A sum as `floats` defines it for units that align.
inline float aligned_sum(const double (&products)[16], float sum) {
    double largest = std::fabs((double)sum);
    bool finite = std::isfinite(sum);
    for (double product : products) {
        largest = std::fabs(product) > largest ? std::fabs(product) : largest;
        finite = finite && std::isfinite(product);
    }
    if (!finite) {
        double total = sum;
        for (double product : products) total += product;
        return (float)total;
    }
    if (largest == 0) return 0;
    const int place = std::ilogb(largest) - 23 - GUARD_BITS;
    double total = std::trunc(std::ldexp((double)sum, -place));
    for (double product : products) total += std::trunc(std::ldexp(product, -place));
    if (total == 0) return 0;
    const int beyond = std::ilogb(total) - 23;
    if (beyond > 0) total = std::ldexp(std::trunc(std::ldexp(total, -beyond)), beyond);
    return (float)std::ldexp(total, place);
}

}  // namespace emulator

template <Format FORMAT> DEVICE uint32_t to_pair(float first, float second) {
    return FORMAT == Format::BF16 ? emulator::to_bf16(first) | emulator::to_bf16(second) << 16
                                  : emulator::to_f16(first) | emulator::to_f16(second) << 16;
}
DEVICE float from_f16(uint32_t half) { return emulator::f16_value(half); }

template <Format FORMAT> DEVICE void mma_floats(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    struct Operands {
        float c[4];
        uint32_t a[4], b[2];
    };
    emulator::Exchange &warp = emulator::warp();
    const int own = emulator::lane();
    Operands mine;
    std::memcpy(mine.c, c, sizeof(c));
    std::memcpy(mine.a, a, sizeof(a));
    mine.b[0] = b0;
    mine.b[1] = b1;
    std::memcpy(warp.given[own], &mine, sizeof(mine));
    emulator::meet(warp.meeting, emulator::WARP, [&warp] {
        double rows[16][16], columns[8][16];
        const auto both = [](double *to, uint32_t pair) {
            to[0] = FORMAT == Format::BF16 ? emulator::bf16_value(pair & 0xffff) : emulator::f16_value(pair & 0xffff);
            to[1] = FORMAT == Format::BF16 ? emulator::bf16_value(pair >> 16) : emulator::f16_value(pair >> 16);
        };
        for (int lane = 0; lane < emulator::WARP; lane++) {
            Operands given;
            std::memcpy(&given, warp.given[lane], sizeof(given));
            const int g = lane / 4, t = lane % 4;
            both(&rows[g][2 * t], given.a[0]);
            both(&rows[g + 8][2 * t], given.a[1]);
            both(&rows[g][8 + 2 * t], given.a[2]);
            both(&rows[g + 8][8 + 2 * t], given.a[3]);
            both(&columns[g][2 * t], given.b[0]);
            both(&columns[g][8 + 2 * t], given.b[1]);
        }
        for (int lane = 0; lane < emulator::WARP; lane++) {
            Operands given;
            std::memcpy(&given, warp.given[lane], sizeof(given));
            const int g = lane / 4, t = lane % 4;
            for (int i = 0; i < 4; i++) {
                double products[16];
                for (int k = 0; k < 16; k++) products[k] = rows[g + 8 * (i / 2)][k] * columns[2 * t + i % 2][k];
                given.c[i] = emulator::aligned_sum(products, given.c[i]);
            }
            std::memcpy(warp.taken[lane], given.c, sizeof(given.c));
        }
    });
    std::memcpy(c, warp.taken[own], sizeof(c));
}

#pragma GCC pop_options
