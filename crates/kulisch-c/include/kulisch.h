/* libkulisch: sums, dot products and matrix-vector products that are exact before one final rounding. Results are the best that the
 * precision allows, however ill-conditioned the data, and the same bits in any order, in any partition, on any machine.
 *
 *     cc program.c -lkulisch                  or, statically,  cc program.c libkulisch.a -lpthread -ldl -lm
 *
 * Vectors are n numbers, inc numbers apart; with a negative inc they begin at the last number in memory, as in BLAS. A vector of n <= 0
 * numbers is empty, its sum is +0, and pointers to it may be null. NaN among the numbers, or infinities of both signs, give NaN. Nothing
 * overflows or underflows but a result. All functions may be called by several threads at once; a sum (kulisch_sum) is used by one at a
 * time. The caller's floating-point environment (rounding, flushing to zero) is put aside while a function runs. */
#ifndef KULISCH_H
#define KULISCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The sum; the sum of magnitudes; the square root of the sum of squares; the sum of products: each rounded once. (kulisch_snrm2 rounds
 * the correctly rounded double to a float.) */
double kulisch_dsum(ptrdiff_t n, const double *x, ptrdiff_t incx);
double kulisch_dasum(ptrdiff_t n, const double *x, ptrdiff_t incx);
double kulisch_dnrm2(ptrdiff_t n, const double *x, ptrdiff_t incx);
double kulisch_ddot(ptrdiff_t n, const double *x, ptrdiff_t incx, const double *y, ptrdiff_t incy);
float kulisch_ssum(ptrdiff_t n, const float *x, ptrdiff_t incx);
float kulisch_sasum(ptrdiff_t n, const float *x, ptrdiff_t incx);
float kulisch_snrm2(ptrdiff_t n, const float *x, ptrdiff_t incx);
float kulisch_sdot(ptrdiff_t n, const float *x, ptrdiff_t incx, const float *y, ptrdiff_t incy);

/* y = alpha * op(A) * x + beta * y, every number of y rounded once. order: 'r' by rows, 'c' by columns; trans: 'n', 't'; A is m by n with
 * leading dimension lda. Returns 0, or the position of the first bad argument (order is 1), and then nothing was written. As in BLAS, A
 * and x are not read if alpha is 0, nor y if beta is 0. y must not overlap A or x. */
int kulisch_dgemv(char order, char trans, ptrdiff_t m, ptrdiff_t n, double alpha, const double *a, ptrdiff_t lda, const double *x,
                  ptrdiff_t incx, double beta, double *y, ptrdiff_t incy);
int kulisch_sgemv(char order, char trans, ptrdiff_t m, ptrdiff_t n, float alpha, const float *a, ptrdiff_t lda, const float *x,
                  ptrdiff_t incx, float beta, float *y, ptrdiff_t incy);

/* An exact sum that grows: parts can be computed anywhere, and merged in any order. */
typedef struct kulisch_sum kulisch_sum;
kulisch_sum *kulisch_new(void);
kulisch_sum *kulisch_copy(const kulisch_sum *sum);
void kulisch_free(kulisch_sum *sum);
void kulisch_add(kulisch_sum *sum, double term);
void kulisch_add_product(kulisch_sum *sum, double left, double right);
void kulisch_add_vector(kulisch_sum *sum, ptrdiff_t n, const double *x, ptrdiff_t incx);
void kulisch_add_dot(kulisch_sum *sum, ptrdiff_t n, const double *x, ptrdiff_t incx, const double *y, ptrdiff_t incy);
void kulisch_merge(kulisch_sum *sum, const kulisch_sum *other);
double kulisch_round(const kulisch_sum *sum);
double kulisch_square_root(const kulisch_sum *sum);

#ifdef __cplusplus
}
#endif
#endif
