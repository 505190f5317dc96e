// Phase B in floating point, and Bernstein's way: the integer up to a bound (crates/residues, reconstruct/floats.rs and beside it).
//
// A lane adds its four slices up, the highest first, and whoever has the output adds the four windows up in the same way. Windows are below 2^45, so
// in doubles they are exact, and so they are in pairs of floats.
#pragma once
#include "residues/residue_words.cuh"

// The bits of the double 2^52 + 2^31 + x are the upper half and x with its sign flipped.
constexpr double DOUBLE_OFFSET = 4503601774854144.0;
DEVICE double double_of(int32_t x, double offset = DOUBLE_OFFSET) { return __hiloint2double(0x43300000, static_cast<int>(static_cast<uint32_t>(x) ^ 0x80000000u)) - offset; }
DEVICE float float_of(int32_t bits) { return arithmetic::from_bits(static_cast<unsigned>(bits)) - 12582912.0f; }

// Powers of two.
DEVICE double double_power(int exponent) { return __hiloint2double((1023 + exponent) << 20, 0); }
DEVICE float float_power(int exponent) { return arithmetic::from_bits(static_cast<unsigned>(127 + exponent) << 23); }

// The integer next to a double of magnitude below 2^72.
DEVICE Rounded integer_of(double x) {
    if (fabs(x) < 4611686018427387904.0) {
        const int64_t low = arithmetic::nearest(x);
        return {low, static_cast<int32_t>(low >> 63)};
    }
    // A multiple of 2^9 at least.
    const int64_t upper = arithmetic::nearest(x * double_power(-9));
    return {shifted_left(upper, 9), static_cast<int32_t>(upper >> 55)};
}
// And to the sum of two floats of magnitude below 2^72, the second one below 2^-24 of the first, in units of 2^-8 (larger ones are
// integers).
DEVICE Rounded integer_of(float high, float low) {
    const int64_t upper = arithmetic::nearest(high * float_power(-12)), rest = arithmetic::nearest(arithmetic::fused(static_cast<float>(upper), -float_power(12), high) + low);
    const int64_t all = wrapping_add(shifted_left(upper, 12), rest);
    const int64_t top = ((upper >> 20) + (rest >> 32)) >> 32;
    const bool is_long = upper >= int64_t{1} << 50 || upper < -(int64_t{1} << 50);
    return {all, is_long ? static_cast<int32_t>(top) : static_cast<int32_t>(all >> 63)};
}

// Both parts of a number by slices.
template <class B> struct RoundedSlices {
    template <int COUNT>
    static DEVICE void reconstruct(const Residues (&parts)[2], const SliceTable &table, uint32_t scratch, const Rounding (&rounding)[2], bool, Rounded (&to)[2]) {
        Piece windows[2][4];
        // What residues have in common is taken off at the third slice.
        const int32_t third = thread_number() % 4 == 0 ? -(FLOAT_VALUE >> 16) : 0;
        sliced(
            parts, table, scratch,
            [&](Window window, uint32_t) {
                window.slices[2] += third;
                return B::piece(window, table);
            },
            windows);
#pragma unroll
        for (int part = 0; part < 2; part++) to[part] = B::total(windows[part], rounding[part].shift);
    }
};

DEVICE Piece piece_of(double x) { return {static_cast<uint32_t>(__double2loint(x)), static_cast<uint32_t>(__double2hiint(x))}; }
DEVICE double double_of(Piece piece) { return __hiloint2double(static_cast<int>(piece.high), static_cast<int>(piece.low)); }

// Plain sums in doubles.
struct DoubleSum {
    static DEVICE Piece piece(const Window &window, const SliceTable &table) {
        double sum = double_of(window.slices[3]);
#pragma unroll
        for (int i = 2; i >= 0; i--) sum = __fma_rn(sum, 256.0, double_of(window.slices[i]));
        return piece_of(__fma_rn(-double_of(window.quotient), double_of(table.product), sum));
    }
    static DEVICE Rounded total(const Piece (&windows)[4], int shift) {
        double sum = double_of(windows[3]);
#pragma unroll
        for (int t = 2; t >= 0; t--) sum = __fma_rn(sum, 4294967296.0, double_of(windows[t]));
        return integer_of(sum * double_power(-55 - shift));
    }
};

// With the errors of the additions added up beside them.
struct Sum2 : DoubleSum {
    static DEVICE Rounded total(const Piece (&windows)[4], int shift) {
        double sum = double_of(windows[3]) * double_power(96), errors = 0;
#pragma unroll
        for (int t = 2; t >= 0; t--) {
            const double x = double_of(windows[t]) * double_power(32 * t);
            const double rounded = sum + x, of_x = rounded - sum;
            errors += (sum - (rounded - of_x)) + (x - of_x);
            sum = rounded;
        }
        return integer_of((sum + errors) * double_power(-55 - shift));
    }
};

// Slices as floats, by way of the bits of 1.5·2^23 and more.
struct FloatSlices {
    static DEVICE void of(const Window &window, const SliceTable &table, float (&slices)[4]) {
        int32_t reduced[4];
        const int32_t more[4] = {FLOAT_BITS, FLOAT_BITS, FLOAT_BITS, FLOAT_BITS};
        take_off(window, table, more, reduced);
#pragma unroll
        for (int i = 0; i < 4; i++) slices[i] = float_of(reduced[i]);
    }
    static DEVICE Piece piece_of(float a, float b) { return {static_cast<uint32_t>(arithmetic::bits_of(a)), static_cast<uint32_t>(arithmetic::bits_of(b))}; }
    static DEVICE float first(Piece piece) { return arithmetic::from_bits(piece.low); }
    static DEVICE float second(Piece piece) { return arithmetic::from_bits(piece.high); }
};

// Pairs of floats.
struct DoubleSingle : FloatSlices {
    float high, low;
    DEVICE void add(float x) {
        const float sum = high + x, of_x = sum - high, error = (high - (sum - of_x)) + (x - of_x);
        const float rest = low + error;
        high = sum + rest;
        low = rest - (high - sum);
    }
    static DEVICE Piece piece(const Window &window, const SliceTable &table) {
        float slices[4];
        of(window, table, slices);
        DoubleSingle sum;
        sum.high = slices[3] * float_power(24);
        sum.low = 0;
#pragma unroll
        for (int i = 2; i >= 0; i--) sum.add(slices[i] * float_power(8 * i));
        return piece_of(sum.high, sum.low);
    }
    // In units of 2^64, as floats have no room for more.
    static DEVICE Rounded total(const Piece (&windows)[4], int shift) {
        DoubleSingle sum;
        sum.high = first(windows[3]) * float_power(32);
        sum.low = second(windows[3]) * float_power(32);
#pragma unroll
        for (int t = 2; t >= 0; t--) {
            sum.add(first(windows[t]) * float_power(32 * t - 64));
            sum.add(second(windows[t]) * float_power(32 * t - 64));
        }
        const float unit = float_power(9 - shift);
        return integer_of(sum.high * unit, sum.low * unit);
    }
};

// Floats with Kahan's correction.
struct SingleKahan : FloatSlices {
    float sum, correction;
    DEVICE void add(float x) {
        const float y = x - correction, next = sum + y;
        correction = (next - sum) - y;
        sum = next;
    }
    static DEVICE Piece piece(const Window &window, const SliceTable &table) {
        float slices[4];
        of(window, table, slices);
        SingleKahan total;
        total.sum = slices[3] * float_power(24);
        total.correction = 0;
#pragma unroll
        for (int i = 2; i >= 0; i--) total.add(slices[i] * float_power(8 * i));
        return piece_of(total.sum, total.correction);
    }
    static DEVICE Rounded total(const Piece (&windows)[4], int shift) {
        SingleKahan total;
        total.sum = first(windows[3]) * float_power(32);
        total.correction = second(windows[3]) * float_power(32);
#pragma unroll
        for (int t = 2; t >= 0; t--) {
            total.add(first(windows[t]) * float_power(32 * t - 64));
            total.add(-second(windows[t]) * float_power(32 * t - 64));
        }
        return integer_of(total.sum * float_power(9 - shift), 0);
    }
};

// Bernstein's way: the fraction of the product, in doubles.
struct BernsteinDouble {
    // The weight of residue k as a fraction of the product.
    static DEVICE_CONSTANT double fraction(int k, int count) {
        const int m = modulus(k);
        long long others = 1;
        for (int i = 0; i < count; i++) others = i == k ? others : others * modulus(i) % m;
        int inverse = 1;
        while (others * inverse % m != 1) inverse++;
        return static_cast<double>(balanced(inverse, m)) / m;
    }
    // The product over 2^55.
    static DEVICE_CONSTANT double product(int count) {
        double product = 1;
        for (int i = 0; i < count; i++) product *= modulus(i);
        for (int i = 0; i < 55; i++) product /= 2;
        return product;
    }
    template <int COUNT>
    static DEVICE void reconstruct(const Residues (&parts)[2], const SliceTable &, uint32_t, const Rounding (&rounding)[2], bool, Rounded (&to)[2]) {
#pragma unroll
        for (int part = 0; part < 2; part++) {
            double sum = 0;
            for_numbers<0, COUNT>([&](auto k) {
                constexpr int MODULUS = modulus(Number<k>()), COMMON = balanced(FLOAT_VALUE, MODULUS);
                static_assert(2 * COMMON < MODULUS - 4 && 2 * COMMON > 4 - MODULUS, "residue_byte gives this very number for a sum of 0");
                constexpr double FRACTION = fraction(Number<k>(), COUNT);
                // Less what all sums have in common, so that lines of zeros, whose unit may be anything, stay lines of zeros.
                const double residue = double_of(static_cast<int8_t>(parts[part].bytes[k / 4] >> (8 * (k % 4))), DOUBLE_OFFSET + COMMON);
                sum = __fma_rn(residue, FRACTION, sum);
            });
            // A number whose last place is 1.
            constexpr double LARGE = 6755399441055744.0, PRODUCT = product(COUNT);
            const double whole = (sum + LARGE) - LARGE;
            to[part] = integer_of((sum - whole) * (PRODUCT * double_power(-rounding[part].shift)));
        }
    }
};
