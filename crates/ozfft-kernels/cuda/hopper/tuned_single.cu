// target: sm_90a
// tuned
// early
// Lines of f32 in words of five digits: `Single`. No number is converted by an instruction on f64, or by one for conversions:
// f32 has 24 bits, and sums with constants whose last place is 1, or 2^16, cut numbers into integers and put integers
// together, exactly. So there is one variant.
// expect: tuned_single_32x32 12 ^IGMMA
// expect: tuned_single_32x32_strided 12 ^IGMMA
// expect: tuned_single_16x16 8 ^IGMMA
// expect: tuned_single_16x16_strided 8 ^IGMMA
// expect: tuned_single_32x16 10 ^IGMMA
// expect: tuned_single_32x16_strided 10 ^IGMMA
#include "hopper/tuned_few_lines.cuh"

namespace tuned {

// Floating-point numbers whose last place is 1 or 2^16.
constexpr float UNIT_PLACE = 8388608.0f, SIGNED_UNIT_PLACE = 12582912.0f;  // 2^23, 1.5·2^23
constexpr float PLACE_16 = 824633720832.0f;                               // 1.5·2^39
constexpr int UNIT_PLACE_BITS = 0x4b000000, SIGNED_UNIT_PLACE_BITS = 0x4b400000, PLACE_16_BITS = 0x53400000;

DEVICE float power_of_two(int exponent) { return from_bits((unsigned)(exponent + 127) << 23); }

// x·scale rounded, halves away from zero: high·2^16 + low, both as numbers whose last places these are. Adding one half, or
// just less to negative numbers, and cutting off downwards rounds like this; and cutting off downwards can be done in turns.
struct Split {
    int high, low;
    DEVICE Split(float x, float scale) {
        const float half = from_bits(0x3f000000u + (unsigned)(bits_of(x) >> 31));
        const float value = fused_downwards(x, scale, half);
        const float upper = sum_downwards(value, PLACE_16);
        const float rest = sum_downwards(value, PLACE_16 - upper);
        high = bits_of(upper);
        low = bits_of(sum_downwards(rest, UNIT_PLACE));
    }
};

// The sum, or the difference, of two numbers as a word whose digits are biased by 128: the lower four, and a register whose third
// byte is the topmost one.
struct BiasedWord {
    unsigned lower, upper;
    DEVICE BiasedWord(unsigned high, unsigned low) : lower((high << 16) + low), upper(high + (low >> 16)) {}
};
DEVICE BiasedWord biased_sum(const Split &a, const Split &b) {
    return BiasedWord((unsigned)a.high + (unsigned)b.high + (0x808080u - 2u * PLACE_16_BITS), (unsigned)a.low + (unsigned)b.low + (0x8080u - 2u * UNIT_PLACE_BITS));
}
DEVICE BiasedWord biased_difference(const Split &a, const Split &b) {
    return BiasedWord((unsigned)a.high - (unsigned)b.high + (0x808080u - 1), (unsigned)a.low - (unsigned)b.low + (0x8080u + 65536u));
}

// Pieces of an output times 2^unit, rounded once: 20 bits and what is above them become exact numbers, and one fused
// operation adds them. A negative scale makes the opposite number, and never a negative zero.
struct Scale {
    float upper, lower, offset;
    DEVICE Scale(int unit, unsigned flip) {
        lower = from_bits((unsigned)(unit + 127) << 23 ^ flip);
        upper = from_bits((unsigned)(unit + 127 + 20) << 23 ^ flip);
        offset = -(UNIT_PLACE * lower);
    }
    // `mask`: 20 bits.
    DEVICE unsigned of(const Few<5>::Pieces &pieces, unsigned mask) const {
        const int above_17 = (pieces.low >> 17) + pieces.high;
        const float high = from_bits((unsigned)((above_17 >> 3) + SIGNED_UNIT_PLACE_BITS)) - SIGNED_UNIT_PLACE;
        const unsigned last = ((((unsigned)pieces.high << 17) + (unsigned)pieces.low) & mask) | UNIT_PLACE_BITS;
        return (unsigned)bits_of(fused(high, upper, fused(from_bits(last), lower, offset)));
    }
};

struct Singles {
    typedef uint2 Number;
    // Exponents (of the leading bit) of the largest number of a line that are handled here, and of the unit of results: far
    // enough from the ends of the range that a scale between axes of up to 2^±64 stays exact.
    static constexpr int LEAST_EXPONENT = -60, LARGEST_EXPONENT = 60, LEAST_UNIT = -85, LARGEST_UNIT = 100;

    // Of the bits of a magnitude.
    static DEVICE int exponent(unsigned largest) { return (int)(largest >> 23) - 127; }
    static DEVICE Number kept(Number x, unsigned re, unsigned im) { return make_uint2(x.x & re, x.y & im); }

    // The numbers of a thread.
    template <int POINTS> struct Column {
        float re[POINTS], im[POINTS];
        float most_re = 0, most_im = 0;

        DEVICE void take(int i, uint32_t at, unsigned flip) {
            const uint2 number = load_shared_two(at);
            re[i] = from_bits(number.x);
            im[i] = from_bits(number.y ^ flip);
            most_re = larger_magnitude(most_re, re[i]);
            most_im = larger_magnitude(most_im, im[i]);
        }
        DEVICE void largest_of_warp(unsigned &largest_re, unsigned &largest_im) const {
            largest_re = warp_maximum((unsigned)bits_of(most_re));
            largest_im = warp_maximum((unsigned)bits_of(most_im));
        }

        DEVICE unsigned sum(int largest) const {
            const float to_units = power_of_two(20 - largest);
            unsigned sum = 0;
#pragma unroll
            for (int i = 0; i < POINTS; i++)
                sum += (unsigned)bits_of(fused_towards_zero(fabsf(re[i]), to_units, UNIT_PLACE)) +
                       (unsigned)bits_of(fused_towards_zero(fabsf(im[i]), to_units, UNIT_PLACE));
            return sum - 2u * POINTS * UNIT_PLACE_BITS;
        }

        template <class Operand> DEVICE void fold(int exponent, Operand &cosines, Operand &sines) const {
            const float scale = power_of_two(-exponent);
            const auto put = [](Operand &operand, int number, int part, const BiasedWord &word) { operand.put(number, part, word.lower, word.upper); };
#pragma unroll
            for (int q = 0; q < POINTS / 2; q++) {
                const Split ar(re[2 * q], scale), br(re[2 * q + 1], scale), ai(im[2 * q], scale), bi(im[2 * q + 1], scale);
                put(cosines, q, 0, biased_sum(ar, br));
                put(cosines, q, 1, biased_sum(ai, bi));
                put(sines, q, 0, biased_difference(ar, br));
                put(sines, q, 1, biased_difference(ai, bi));
            }
            cosines.template complete<2>();
            sines.template complete<2>();
        }
    };

    // From sums to numbers.
    struct Last {
        Scale re, im;
        unsigned mask;
        DEVICE Last(const TunedArguments &args, int unit, unsigned flip)
            : re(unit, 0), im(unit, args.conjugate_output ^ flip), mask((unsigned)args.second_factor) {}
        DEVICE Number number(const Few<5>::Pieces &real, const Few<5>::Pieces &imaginary) const {
            return make_uint2(re.of(real, mask), im.of(imaginary, mask));
        }
    };
};

}  // namespace tuned

#define SINGLE_KERNELS(N1, N2)                                                                      \
    KERNEL(tuned::THREADS, 1) tuned_single_##N1##x##N2(PARAMETERS TunedArguments a) {               \
        tuned::run_contiguous<tuned::FewShape<tuned::Singles, 5, N1, N2>, false>(a);                                \
    }                                                                                               \
    KERNEL(tuned::THREADS, 1) tuned_single_##N1##x##N2##_strided(PARAMETERS StridedArguments a) {   \
        tuned::run_strided<tuned::FewShape<tuned::Singles, 5, N1, N2>, false>(a);                                   \
    }

SINGLE_KERNELS(32, 32)
SINGLE_KERNELS(16, 16)
SINGLE_KERNELS(32, 16)

// `few_shared_bytes` of the crate.
static_assert(tuned::FewShape<tuned::Singles, 5, 32, 32>::SHARED == 228992 && tuned::FewShape<tuned::Singles, 5, 16, 16>::SHARED == 78464 && tuned::FewShape<tuned::Singles, 5, 32, 16>::SHARED == 153216,
              "the host asks for the same");
