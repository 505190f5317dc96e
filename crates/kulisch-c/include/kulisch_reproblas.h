/* The calls of ReproBLAS (reproBLAS.h) that libkulisch has: include this instead, and link with libkulisch. Results are reproducible as
 * ReproBLAS's are, and besides correctly rounded; so they are not ReproBLAS's bits. Not here: complex numbers, gemm, and the indexed types
 * (kulisch.h has kulisch_sum for what those are for).
 *
 * A bad argument of gemv ends the program with a message, as XERBLA of the reference BLAS does. */
#ifndef KULISCH_REPROBLAS_H
#define KULISCH_REPROBLAS_H

#include "kulisch.h"
#include <stdio.h>
#include <stdlib.h>

static inline double reproBLAS_dsum(const int N, const double *X, const int incX) { return kulisch_dsum(N, X, incX); }
static inline double reproBLAS_dasum(const int N, const double *X, const int incX) { return kulisch_dasum(N, X, incX); }
static inline double reproBLAS_dnrm2(const int N, const double *X, const int incX) { return kulisch_dnrm2(N, X, incX); }
static inline double reproBLAS_ddot(const int N, const double *X, const int incX, const double *Y, const int incY) {
    return kulisch_ddot(N, X, incX, Y, incY);
}
static inline float reproBLAS_ssum(const int N, const float *X, const int incX) { return kulisch_ssum(N, X, incX); }
static inline float reproBLAS_sasum(const int N, const float *X, const int incX) { return kulisch_sasum(N, X, incX); }
static inline float reproBLAS_snrm2(const int N, const float *X, const int incX) { return kulisch_snrm2(N, X, incX); }
static inline float reproBLAS_sdot(const int N, const float *X, const int incX, const float *Y, const int incY) {
    return kulisch_sdot(N, X, incX, Y, incY);
}

static inline void kulisch_checked(const char *name, int position) {
    if (position != 0) {
        fprintf(stderr, "%s: argument %d has an illegal value\n", name, position);
        exit(EXIT_FAILURE);
    }
}
static inline void reproBLAS_dgemv(const char Order, const char TransA, const int M, const int N, const double alpha, const double *A,
                                   const int lda, const double *X, const int incX, const double beta, double *Y, const int incY) {
    kulisch_checked("reproBLAS_dgemv", kulisch_dgemv(Order, TransA, M, N, alpha, A, lda, X, incX, beta, Y, incY));
}
static inline void reproBLAS_sgemv(const char Order, const char TransA, const int M, const int N, const float alpha, const float *A,
                                   const int lda, const float *X, const int incX, const float beta, float *Y, const int incY) {
    kulisch_checked("reproBLAS_sgemv", kulisch_sgemv(Order, TransA, M, N, alpha, A, lda, X, incX, beta, Y, incY));
}

#endif
