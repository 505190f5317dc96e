// target: sm_90a
// tuned
// early
// Lines of f64 in words of five or six digits: `Single`, and targets down to about 1e-10. Results have fewer bits than f64, and
// are exact.
// expect: tuned_few_5_32x32 12 ^IGMMA
// expect: tuned_few_5_32x32_strided 12 ^IGMMA
// expect: tuned_few_5_32x32_conversions 12 ^IGMMA
// expect: tuned_few_5_32x32_strided_conversions 12 ^IGMMA
// expect: tuned_few_5_16x16 8 ^IGMMA
// expect: tuned_few_5_16x16_strided 8 ^IGMMA
// expect: tuned_few_5_16x16_conversions 8 ^IGMMA
// expect: tuned_few_5_16x16_strided_conversions 8 ^IGMMA
// expect: tuned_few_5_32x16 10 ^IGMMA
// expect: tuned_few_5_32x16_strided 10 ^IGMMA
// expect: tuned_few_5_32x16_conversions 10 ^IGMMA
// expect: tuned_few_5_32x16_strided_conversions 10 ^IGMMA
// expect: tuned_few_6_32x32 32 ^IGMMA
// expect: tuned_few_6_32x32_strided 32 ^IGMMA
// expect: tuned_few_6_32x32_conversions 32 ^IGMMA
// expect: tuned_few_6_32x32_strided_conversions 32 ^IGMMA
// expect: tuned_few_6_16x16 8 ^IGMMA
// expect: tuned_few_6_16x16_strided 8 ^IGMMA
// expect: tuned_few_6_16x16_conversions 8 ^IGMMA
// expect: tuned_few_6_16x16_strided_conversions 8 ^IGMMA
// expect: tuned_few_6_32x16 20 ^IGMMA
// expect: tuned_few_6_32x16_strided 20 ^IGMMA
// expect: tuned_few_6_32x16_conversions 20 ^IGMMA
// expect: tuned_few_6_32x16_strided_conversions 20 ^IGMMA
#include "hopper/tuned_few_lines.cuh"

namespace tuned {

template <int DATA, bool CONVERSIONS> struct Doubles {
    typedef uint4 Number;
    // Exponents of the leading bit of the largest number of a line that are handled here.
    static constexpr int LEAST_EXPONENT = LEAST_FIELD - 1023, LARGEST_EXPONENT = LARGEST_FIELD - 1023;
    // Then any unit of results is far from the ends of the range.
    static constexpr int LEAST_UNIT = -(1 << 20), LARGEST_UNIT = 1 << 20;

    // Of the upper half of a magnitude.
    static DEVICE int exponent(unsigned largest) { return (int)(largest >> 20) - 1023; }
    static DEVICE Number kept(Number x, unsigned re, unsigned im) { return make_uint4(x.x & re, x.y & re, x.z & im, x.w & im); }

    // The numbers of a thread.
    template <int POINTS> struct Column {
        typedef typename NumbersOf<CONVERSIONS, POINTS>::Type Numbers;
        Numbers numbers;

        DEVICE void take(int i, uint32_t at, unsigned flip) {
            uint4 number = load_shared(at);
            number.w ^= flip;
            numbers.put(i, number);
        }
        DEVICE void largest_of_warp(unsigned &re, unsigned &im) const { tuned::largest_of_warp(numbers, re, im); }

        DEVICE unsigned sum(int largest) const { return numbers.leading_bits(largest + 1023); }

        template <class Operand> DEVICE void fold(int exponent, Operand &cosines, Operand &sines) const {
            const typename Numbers::Words words(exponent);
#pragma unroll
            for (int q = 0; q < POINTS / 2; q++) {
                const i64 ar = numbers.real_word(2 * q, words), ai = numbers.imaginary_word(2 * q, words);
                const i64 br = numbers.real_word(2 * q + 1, words), bi = numbers.imaginary_word(2 * q + 1, words);
                cosines.put(q, 0, Few<DATA>::biased(ar + br));
                cosines.put(q, 1, Few<DATA>::biased(ai + bi));
                sines.put(q, 0, Few<DATA>::biased(ar - br));
                sines.put(q, 1, Few<DATA>::biased(ai - bi));
            }
            cosines.template complete<0>();
            sines.template complete<0>();
        }
    };

    // From sums to numbers. Results stay below 2^51.
    struct Last {
        // Without conversions they are moved up, lest small ones take the way for rare cases.
        static constexpr int UP = 56 - Few<DATA>::WORD_BITS;
        int factor, power;
        double scale_re, scale_im;
        unsigned flip;
        DEVICE Last(const TunedArguments &args, int unit, unsigned mirrored) : factor(args.factor), flip(args.conjugate_output ^ mirrored) {
            power = (unit - UP + 1023 + 63 - 1) << 20;
            scale_re = CONVERSIONS ? __hiloint2double((1023 + unit) << 20, 0) : 0.0;
            scale_im = CONVERSIONS ? __hiloint2double((int)((unsigned)(1023 + unit) << 20 ^ flip), 0) : 0.0;
        }
        DEVICE Number number(const typename Few<DATA>::Pieces &real, const typename Few<DATA>::Pieces &imaginary) const {
            const i64 re = real.whole(factor), im = imaginary.whole(factor);
            if (!CONVERSIONS) return finished<false>((i64)((u64)re << UP), 0, (i64)((u64)im << UP), 0, power, 0.0, flip);
            // 1.5·2^52 + x has the integer x as its last bits. Adding zero takes the sign off a zero.
            const auto scaled = [](i64 x, double scale) {
                const double exact = __hiloint2double((int)(high_of(x) + 0x43380000u), (int)low_of(x)) - 6755399441055744.0;
                return __fma_rn(exact, scale, 0.0);
            };
            const double a = scaled(re, scale_re), b = scaled(im, scale_im);
            return make_uint4((unsigned)__double2loint(a), (unsigned)__double2hiint(a), (unsigned)__double2loint(b), (unsigned)__double2hiint(b));
        }
    };
};

}  // namespace tuned

#define FEW_KERNEL(NAME, ARGUMENTS, RUN, DIGITS, N1, N2, CONVERSIONS)                                                    \
    KERNEL(tuned::THREADS, 1) NAME(PARAMETERS ARGUMENTS a) {                                                            \
        tuned::RUN<tuned::FewShape<tuned::Doubles<DIGITS, CONVERSIONS>, DIGITS, N1, N2>, CONVERSIONS>(a);               \
    }
#define FEW_KERNELS(DIGITS, N1, N2)                                                                                             \
    FEW_KERNEL(tuned_few_##DIGITS##_##N1##x##N2, TunedArguments, run_contiguous, DIGITS, N1, N2, false)                         \
    FEW_KERNEL(tuned_few_##DIGITS##_##N1##x##N2##_strided, StridedArguments, run_strided, DIGITS, N1, N2, false)                \
    FEW_KERNEL(tuned_few_##DIGITS##_##N1##x##N2##_conversions, TunedArguments, run_contiguous, DIGITS, N1, N2, true)            \
    FEW_KERNEL(tuned_few_##DIGITS##_##N1##x##N2##_strided_conversions, StridedArguments, run_strided, DIGITS, N1, N2, true)

FEW_KERNELS(5, 32, 32)
FEW_KERNELS(5, 16, 16)
FEW_KERNELS(5, 32, 16)
FEW_KERNELS(6, 32, 32)
FEW_KERNELS(6, 16, 16)
FEW_KERNELS(6, 32, 16)

// `few_shared_bytes` of the crate.
static_assert(tuned::FewShape<tuned::Doubles<5, false>, 5, 32, 32>::SHARED == 163424 &&
                  tuned::FewShape<tuned::Doubles<5, false>, 5, 16, 16>::SHARED == 78464 &&
                  tuned::FewShape<tuned::Doubles<5, false>, 5, 32, 16>::SHARED == 153216 &&
                  tuned::FewShape<tuned::Doubles<6, false>, 6, 32, 32>::SHARED == 177760 &&
                  tuned::FewShape<tuned::Doubles<6, false>, 6, 16, 16>::SHARED == 78464 &&
                  tuned::FewShape<tuned::Doubles<6, false>, 6, 32, 16>::SHARED == 160384,
              "the host asks for the same");
