// target: fatbin
// Transforms of lines in exact sums of digits, a kernel for every length; with instructions on f64, which put sums together.
// Compiled for sm_103a and sm_120a, that of 1024 points spills 8 bytes, so this file is not marked as tuned.
#include "floats/float_digits.cuh"

#define FLOAT_DIGITS(n1, n2, lines, threads)                                                      \
    KERNEL(threads, 1) float_ozaki_two_level_##n1##x##n2##_conversions(PARAMETERS FloatTask task) { \
        float_digits::run<n1, n2, lines>(task);                                                   \
    }

FLOAT_DIGITS(8, 8, 8, 384)
FLOAT_DIGITS(8, 16, 4, 384)
FLOAT_DIGITS(16, 16, 2, 384)
FLOAT_DIGITS(16, 32, 1, 384)
FLOAT_DIGITS(32, 32, 1, 256)
