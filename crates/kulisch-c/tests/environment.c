/* Calls in an environment that is not the default one: rounding upwards, subnormal numbers flushed to zero. Prints bits. */
#include "kulisch.h"
#include <fenv.h>
#include <stdio.h>
#include <xmmintrin.h>

int main(void) {
    const double tiny[2] = {4.9406564584124654e-324, 4.9406564584124654e-324}, third[2] = {1.0, 1e-30};
    double y[1] = {0.0};
    fesetround(FE_UPWARD);
    _mm_setcsr(_mm_getcsr() | 0x8040);
    const double sums[2] = {kulisch_dsum(2, tiny, 1), kulisch_dsum(2, third, 1)};
    const int status = kulisch_dgemv('r', 'n', 1, 2, 1.0, third, 2, tiny, 1, 0.0, y, 1);
    const unsigned after = _mm_getcsr() & 0xe040;
    _mm_setcsr(0x1f80);
    fesetround(FE_TONEAREST);
    printf("%a %a %a %d %x\n", sums[0], sums[1], y[0], status, after);
    return 0;
}
