/* FFTW's interface in double (fftw_) and single precision (fftwf_), as libozfft_fftw has it. Programs may include fftw3.h
 * instead: names, types and numbers are the same, and a test compiles both together. docs/fftw.md says what is different.
 *
 *     cc program.c -lozfft_fftw
 */
#ifndef OZFFT_FFTW_H
#define OZFFT_FFTW_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names of both precisions. */
#define OZFFT_DOUBLE(name) fftw_##name
#define OZFFT_SINGLE(name) fftwf_##name

#ifndef FFTW3_H /* fftw3.h has defined the same types and numbers */

/* One dimension of the guru interface: length, input stride and output stride. */
struct ozfft_iodim { int n, is, os; };
struct ozfft_iodim64 { ptrdiff_t n, is, os; };

enum ozfft_r2r_kind {
    FFTW_R2HC = 0, FFTW_HC2R = 1, FFTW_DHT = 2,
    FFTW_REDFT00 = 3, FFTW_REDFT01 = 4, FFTW_REDFT10 = 5, FFTW_REDFT11 = 6,
    FFTW_RODFT00 = 7, FFTW_RODFT01 = 8, FFTW_RODFT10 = 9, FFTW_RODFT11 = 10
};

/* The types of one precision: X makes its names. */
#define OZFFT_TYPES(X)                                   \
typedef struct X(plan_s) *X(plan);                       \
typedef struct ozfft_iodim X(iodim);                     \
typedef struct ozfft_iodim64 X(iodim64);                 \
typedef enum ozfft_r2r_kind X(r2r_kind);                 \
typedef void (*X(write_char_func))(char, void *);        \
typedef int (*X(read_char_func))(void *);

/* Complex numbers of the language where <complex.h> came first, else two numbers: the same bits. */
#if defined(_Complex_I) && defined(complex) && defined(I) && !defined(FFTW_NO_Complex)
typedef double _Complex fftw_complex;
typedef float _Complex fftwf_complex;
#else
typedef double fftw_complex[2];
typedef float fftwf_complex[2];
#endif

OZFFT_TYPES(OZFFT_DOUBLE)
OZFFT_TYPES(OZFFT_SINGLE)

#define FFTW_FORWARD (-1)
#define FFTW_BACKWARD (+1)
#define FFTW_NO_TIMELIMIT (-1.0)

/* Only FFTW_WISDOM_ONLY makes a difference here: there is nothing to search for, and the input is left as it is. */
#define FFTW_MEASURE (0U)
#define FFTW_DESTROY_INPUT (1U << 0)
#define FFTW_UNALIGNED (1U << 1)
#define FFTW_CONSERVE_MEMORY (1U << 2)
#define FFTW_EXHAUSTIVE (1U << 3)
#define FFTW_PRESERVE_INPUT (1U << 4)
#define FFTW_PATIENT (1U << 5)
#define FFTW_ESTIMATE (1U << 6)
#define FFTW_WISDOM_ONLY (1U << 21)

#endif /* FFTW3_H */

/* The functions of one precision: X makes their names, R is a real number and C a complex one. */
#define OZFFT_FUNCTIONS(X, R, C)                                                                                       \
/* Complex transforms */                                                                                               \
extern X(plan) X(plan_dft)(int rank, const int *n, C *in, C *out, int sign, unsigned flags);                           \
extern X(plan) X(plan_dft_1d)(int n, C *in, C *out, int sign, unsigned flags);                                         \
extern X(plan) X(plan_dft_2d)(int n0, int n1, C *in, C *out, int sign, unsigned flags);                                \
extern X(plan) X(plan_dft_3d)(int n0, int n1, int n2, C *in, C *out, int sign,                                         \
    unsigned flags);                                                                                                   \
                                                                                                                       \
/* Real arrays to half-spectra and back */                                                                             \
extern X(plan) X(plan_dft_r2c)(int rank, const int *n, R *in, C *out, unsigned flags);                                 \
extern X(plan) X(plan_dft_r2c_1d)(int n, R *in, C *out, unsigned flags);                                               \
extern X(plan) X(plan_dft_r2c_2d)(int n0, int n1, R *in, C *out, unsigned flags);                                      \
extern X(plan) X(plan_dft_r2c_3d)(int n0, int n1, int n2, R *in, C *out, unsigned flags);                              \
extern X(plan) X(plan_dft_c2r)(int rank, const int *n, C *in, R *out, unsigned flags);                                 \
extern X(plan) X(plan_dft_c2r_1d)(int n, C *in, R *out, unsigned flags);                                               \
extern X(plan) X(plan_dft_c2r_2d)(int n0, int n1, C *in, R *out, unsigned flags);                                      \
extern X(plan) X(plan_dft_c2r_3d)(int n0, int n1, int n2, C *in, R *out, unsigned flags);                              \
                                                                                                                       \
/* Real arrays to real arrays */                                                                                       \
extern X(plan) X(plan_r2r)(int rank, const int *n, R *in, R *out, const X(r2r_kind) *kind,                             \
    unsigned flags);                                                                                                   \
extern X(plan) X(plan_r2r_1d)(int n, R *in, R *out, X(r2r_kind) kind, unsigned flags);                                 \
extern X(plan) X(plan_r2r_2d)(int n0, int n1, R *in, R *out, X(r2r_kind) kind0, X(r2r_kind) kind1,                     \
    unsigned flags);                                                                                                   \
extern X(plan) X(plan_r2r_3d)(int n0, int n1, int n2, R *in, R *out, X(r2r_kind) kind0,                                \
    X(r2r_kind) kind1, X(r2r_kind) kind2, unsigned flags);                                                             \
                                                                                                                       \
/* Many arrays at once */                                                                                              \
extern X(plan) X(plan_many_dft)(int rank, const int *n, int howmany, C *in, const int *inembed,                        \
    int istride, int idist, C *out, const int *onembed, int ostride, int odist, int sign, unsigned flags);             \
extern X(plan) X(plan_many_dft_r2c)(int rank, const int *n, int howmany, R *in, const int *inembed,                    \
    int istride, int idist, C *out, const int *onembed, int ostride, int odist, unsigned flags);                       \
extern X(plan) X(plan_many_dft_c2r)(int rank, const int *n, int howmany, C *in, const int *inembed,                    \
    int istride, int idist, R *out, const int *onembed, int ostride, int odist, unsigned flags);                       \
extern X(plan) X(plan_many_r2r)(int rank, const int *n, int howmany, R *in, const int *inembed, int istride,           \
    int idist, R *out, const int *onembed, int ostride, int odist, const X(r2r_kind) *kind, unsigned flags);           \
                                                                                                                       \
/* Any lengths and strides */                                                                                          \
extern X(plan) X(plan_guru_dft)(int rank, const X(iodim) *dims, int howmany_rank,                                      \
    const X(iodim) *howmany_dims, C *in, C *out, int sign, unsigned flags);                                            \
extern X(plan) X(plan_guru_split_dft)(int rank, const X(iodim) *dims, int howmany_rank,                                \
    const X(iodim) *howmany_dims, R *ri, R *ii, R *ro, R *io, unsigned flags);                                         \
extern X(plan) X(plan_guru_dft_r2c)(int rank, const X(iodim) *dims, int howmany_rank,                                  \
    const X(iodim) *howmany_dims, R *in, C *out, unsigned flags);                                                      \
extern X(plan) X(plan_guru_dft_c2r)(int rank, const X(iodim) *dims, int howmany_rank,                                  \
    const X(iodim) *howmany_dims, C *in, R *out, unsigned flags);                                                      \
extern X(plan) X(plan_guru_split_dft_r2c)(int rank, const X(iodim) *dims, int howmany_rank,                            \
    const X(iodim) *howmany_dims, R *in, R *ro, R *io, unsigned flags);                                                \
extern X(plan) X(plan_guru_split_dft_c2r)(int rank, const X(iodim) *dims, int howmany_rank,                            \
    const X(iodim) *howmany_dims, R *ri, R *ii, R *out, unsigned flags);                                               \
extern X(plan) X(plan_guru_r2r)(int rank, const X(iodim) *dims, int howmany_rank,                                      \
    const X(iodim) *howmany_dims, R *in, R *out, const X(r2r_kind) *kind, unsigned flags);                             \
extern X(plan) X(plan_guru64_dft)(int rank, const X(iodim64) *dims, int howmany_rank,                                  \
    const X(iodim64) *howmany_dims, C *in, C *out, int sign, unsigned flags);                                          \
extern X(plan) X(plan_guru64_split_dft)(int rank, const X(iodim64) *dims, int howmany_rank,                            \
    const X(iodim64) *howmany_dims, R *ri, R *ii, R *ro, R *io, unsigned flags);                                       \
extern X(plan) X(plan_guru64_dft_r2c)(int rank, const X(iodim64) *dims, int howmany_rank,                              \
    const X(iodim64) *howmany_dims, R *in, C *out, unsigned flags);                                                    \
extern X(plan) X(plan_guru64_dft_c2r)(int rank, const X(iodim64) *dims, int howmany_rank,                              \
    const X(iodim64) *howmany_dims, C *in, R *out, unsigned flags);                                                    \
extern X(plan) X(plan_guru64_split_dft_r2c)(int rank, const X(iodim64) *dims, int howmany_rank,                        \
    const X(iodim64) *howmany_dims, R *in, R *ro, R *io, unsigned flags);                                              \
extern X(plan) X(plan_guru64_split_dft_c2r)(int rank, const X(iodim64) *dims, int howmany_rank,                        \
    const X(iodim64) *howmany_dims, R *ri, R *ii, R *out, unsigned flags);                                             \
extern X(plan) X(plan_guru64_r2r)(int rank, const X(iodim64) *dims, int howmany_rank,                                  \
    const X(iodim64) *howmany_dims, R *in, R *out, const X(r2r_kind) *kind, unsigned flags);                           \
                                                                                                                       \
/* Executing plans, also on other arrays than their own, and by several threads at once */                             \
extern void X(execute)(const X(plan) plan);                                                                            \
extern void X(execute_dft)(const X(plan) plan, C *in, C *out);                                                         \
extern void X(execute_split_dft)(const X(plan) plan, R *ri, R *ii, R *ro, R *io);                                      \
extern void X(execute_dft_r2c)(const X(plan) plan, R *in, C *out);                                                     \
extern void X(execute_dft_c2r)(const X(plan) plan, C *in, R *out);                                                     \
extern void X(execute_split_dft_r2c)(const X(plan) plan, R *in, R *ro, R *io);                                         \
extern void X(execute_split_dft_c2r)(const X(plan) plan, R *ri, R *ii, R *out);                                        \
extern void X(execute_r2r)(const X(plan) plan, R *in, R *out);                                                         \
extern void X(destroy_plan)(X(plan) plan);                                                                             \
                                                                                                                       \
/* Memory */                                                                                                           \
extern void *X(malloc)(size_t size);                                                                                   \
extern R *X(alloc_real)(size_t count);                                                                                 \
extern C *X(alloc_complex)(size_t count);                                                                              \
extern void X(free)(void *memory);                                                                                     \
extern int X(alignment_of)(R *array);                                                                                  \
extern void X(cleanup)(void);                                                                                          \
                                                                                                                       \
/* Threads */                                                                                                          \
extern int X(init_threads)(void);                                                                                      \
extern void X(plan_with_nthreads)(int threads);                                                                        \
extern int X(planner_nthreads)(void);                                                                                  \
extern void X(cleanup_threads)(void);                                                                                  \
extern void X(make_planner_thread_safe)(void);                                                                         \
extern void X(threads_set_callback)(void (*parallel_loop)(void *(*work)(char *), char *jobs, size_t size, int count,   \
    void *data), void *data);                                                                                          \
                                                                                                                       \
/* Wisdom */                                                                                                           \
extern int X(export_wisdom_to_filename)(const char *name);                                                             \
extern void X(export_wisdom_to_file)(FILE *file);                                                                      \
extern char *X(export_wisdom_to_string)(void);                                                                         \
extern void X(export_wisdom)(X(write_char_func) write_char, void *data);                                               \
extern int X(import_system_wisdom)(void);                                                                              \
extern int X(import_wisdom_from_filename)(const char *name);                                                           \
extern int X(import_wisdom_from_file)(FILE *file);                                                                     \
extern int X(import_wisdom_from_string)(const char *text);                                                             \
extern int X(import_wisdom)(X(read_char_func) read_char, void *data);                                                  \
extern void X(forget_wisdom)(void);                                                                                    \
extern void X(set_timelimit)(double seconds);                                                                          \
                                                                                                                       \
/* Plans in words and numbers */                                                                                       \
extern void X(fprint_plan)(const X(plan) plan, FILE *file);                                                            \
extern void X(print_plan)(const X(plan) plan);                                                                         \
extern char *X(sprint_plan)(const X(plan) plan);                                                                       \
extern void X(flops)(const X(plan) plan, double *add, double *mul, double *fma);                                       \
extern double X(cost)(const X(plan) plan);                                                                             \
extern double X(estimate_cost)(const X(plan) plan);                                                                    \
                                                                                                                       \
extern const char X(version)[];                                                                                        \
extern const char X(cc)[];                                                                                             \
extern const char X(codelet_optim)[];

OZFFT_FUNCTIONS(OZFFT_DOUBLE, double, fftw_complex)
OZFFT_FUNCTIONS(OZFFT_SINGLE, float, fftwf_complex)

#ifdef __cplusplus
}
#endif

#endif /* OZFFT_FFTW_H */
