/* FFTW's interface in double precision, as libozfft_fftw has it. Programs may include fftw3.h instead: names, types and
 * numbers are the same, and a test compiles both together. docs/fftw.md says what is different.
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

#ifndef FFTW3_H /* fftw3.h has defined the same types and numbers */

/* Complex numbers of the language where <complex.h> came first, else two doubles: the same bits. */
#if defined(_Complex_I) && defined(complex) && defined(I) && !defined(FFTW_NO_Complex)
typedef double _Complex fftw_complex;
#else
typedef double fftw_complex[2];
#endif

typedef struct fftw_plan_s *fftw_plan;

/* One dimension of the guru interface: length, input stride and output stride. */
typedef struct fftw_iodim_s { int n, is, os; } fftw_iodim;
typedef struct fftw_iodim64_s { ptrdiff_t n, is, os; } fftw_iodim64;

typedef enum fftw_r2r_kind_e {
    FFTW_R2HC = 0, FFTW_HC2R = 1, FFTW_DHT = 2,
    FFTW_REDFT00 = 3, FFTW_REDFT01 = 4, FFTW_REDFT10 = 5, FFTW_REDFT11 = 6,
    FFTW_RODFT00 = 7, FFTW_RODFT01 = 8, FFTW_RODFT10 = 9, FFTW_RODFT11 = 10
} fftw_r2r_kind;

typedef void (*fftw_write_char_func)(char, void *);
typedef int (*fftw_read_char_func)(void *);

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

/* Complex transforms */
extern fftw_plan fftw_plan_dft(int rank, const int *n, fftw_complex *in, fftw_complex *out, int sign, unsigned flags);
extern fftw_plan fftw_plan_dft_1d(int n, fftw_complex *in, fftw_complex *out, int sign, unsigned flags);
extern fftw_plan fftw_plan_dft_2d(int n0, int n1, fftw_complex *in, fftw_complex *out, int sign, unsigned flags);
extern fftw_plan fftw_plan_dft_3d(int n0, int n1, int n2, fftw_complex *in, fftw_complex *out, int sign,
    unsigned flags);

/* Real arrays to half-spectra and back */
extern fftw_plan fftw_plan_dft_r2c(int rank, const int *n, double *in, fftw_complex *out, unsigned flags);
extern fftw_plan fftw_plan_dft_r2c_1d(int n, double *in, fftw_complex *out, unsigned flags);
extern fftw_plan fftw_plan_dft_r2c_2d(int n0, int n1, double *in, fftw_complex *out, unsigned flags);
extern fftw_plan fftw_plan_dft_r2c_3d(int n0, int n1, int n2, double *in, fftw_complex *out, unsigned flags);
extern fftw_plan fftw_plan_dft_c2r(int rank, const int *n, fftw_complex *in, double *out, unsigned flags);
extern fftw_plan fftw_plan_dft_c2r_1d(int n, fftw_complex *in, double *out, unsigned flags);
extern fftw_plan fftw_plan_dft_c2r_2d(int n0, int n1, fftw_complex *in, double *out, unsigned flags);
extern fftw_plan fftw_plan_dft_c2r_3d(int n0, int n1, int n2, fftw_complex *in, double *out, unsigned flags);

/* Real arrays to real arrays */
extern fftw_plan fftw_plan_r2r(int rank, const int *n, double *in, double *out, const fftw_r2r_kind *kind,
    unsigned flags);
extern fftw_plan fftw_plan_r2r_1d(int n, double *in, double *out, fftw_r2r_kind kind, unsigned flags);
extern fftw_plan fftw_plan_r2r_2d(int n0, int n1, double *in, double *out, fftw_r2r_kind kind0, fftw_r2r_kind kind1,
    unsigned flags);
extern fftw_plan fftw_plan_r2r_3d(int n0, int n1, int n2, double *in, double *out, fftw_r2r_kind kind0,
    fftw_r2r_kind kind1, fftw_r2r_kind kind2, unsigned flags);

/* Many arrays at once */
extern fftw_plan fftw_plan_many_dft(int rank, const int *n, int howmany, fftw_complex *in, const int *inembed,
    int istride, int idist, fftw_complex *out, const int *onembed, int ostride, int odist, int sign, unsigned flags);
extern fftw_plan fftw_plan_many_dft_r2c(int rank, const int *n, int howmany, double *in, const int *inembed,
    int istride, int idist, fftw_complex *out, const int *onembed, int ostride, int odist, unsigned flags);
extern fftw_plan fftw_plan_many_dft_c2r(int rank, const int *n, int howmany, fftw_complex *in, const int *inembed,
    int istride, int idist, double *out, const int *onembed, int ostride, int odist, unsigned flags);
extern fftw_plan fftw_plan_many_r2r(int rank, const int *n, int howmany, double *in, const int *inembed, int istride,
    int idist, double *out, const int *onembed, int ostride, int odist, const fftw_r2r_kind *kind, unsigned flags);

/* Any lengths and strides */
extern fftw_plan fftw_plan_guru_dft(int rank, const fftw_iodim *dims, int howmany_rank,
    const fftw_iodim *howmany_dims, fftw_complex *in, fftw_complex *out, int sign, unsigned flags);
extern fftw_plan fftw_plan_guru_split_dft(int rank, const fftw_iodim *dims, int howmany_rank,
    const fftw_iodim *howmany_dims, double *ri, double *ii, double *ro, double *io, unsigned flags);
extern fftw_plan fftw_plan_guru_dft_r2c(int rank, const fftw_iodim *dims, int howmany_rank,
    const fftw_iodim *howmany_dims, double *in, fftw_complex *out, unsigned flags);
extern fftw_plan fftw_plan_guru_dft_c2r(int rank, const fftw_iodim *dims, int howmany_rank,
    const fftw_iodim *howmany_dims, fftw_complex *in, double *out, unsigned flags);
extern fftw_plan fftw_plan_guru_split_dft_r2c(int rank, const fftw_iodim *dims, int howmany_rank,
    const fftw_iodim *howmany_dims, double *in, double *ro, double *io, unsigned flags);
extern fftw_plan fftw_plan_guru_split_dft_c2r(int rank, const fftw_iodim *dims, int howmany_rank,
    const fftw_iodim *howmany_dims, double *ri, double *ii, double *out, unsigned flags);
extern fftw_plan fftw_plan_guru_r2r(int rank, const fftw_iodim *dims, int howmany_rank,
    const fftw_iodim *howmany_dims, double *in, double *out, const fftw_r2r_kind *kind, unsigned flags);
extern fftw_plan fftw_plan_guru64_dft(int rank, const fftw_iodim64 *dims, int howmany_rank,
    const fftw_iodim64 *howmany_dims, fftw_complex *in, fftw_complex *out, int sign, unsigned flags);
extern fftw_plan fftw_plan_guru64_split_dft(int rank, const fftw_iodim64 *dims, int howmany_rank,
    const fftw_iodim64 *howmany_dims, double *ri, double *ii, double *ro, double *io, unsigned flags);
extern fftw_plan fftw_plan_guru64_dft_r2c(int rank, const fftw_iodim64 *dims, int howmany_rank,
    const fftw_iodim64 *howmany_dims, double *in, fftw_complex *out, unsigned flags);
extern fftw_plan fftw_plan_guru64_dft_c2r(int rank, const fftw_iodim64 *dims, int howmany_rank,
    const fftw_iodim64 *howmany_dims, fftw_complex *in, double *out, unsigned flags);
extern fftw_plan fftw_plan_guru64_split_dft_r2c(int rank, const fftw_iodim64 *dims, int howmany_rank,
    const fftw_iodim64 *howmany_dims, double *in, double *ro, double *io, unsigned flags);
extern fftw_plan fftw_plan_guru64_split_dft_c2r(int rank, const fftw_iodim64 *dims, int howmany_rank,
    const fftw_iodim64 *howmany_dims, double *ri, double *ii, double *out, unsigned flags);
extern fftw_plan fftw_plan_guru64_r2r(int rank, const fftw_iodim64 *dims, int howmany_rank,
    const fftw_iodim64 *howmany_dims, double *in, double *out, const fftw_r2r_kind *kind, unsigned flags);

/* Executing plans, also on other arrays than their own, and by several threads at once */
extern void fftw_execute(const fftw_plan plan);
extern void fftw_execute_dft(const fftw_plan plan, fftw_complex *in, fftw_complex *out);
extern void fftw_execute_split_dft(const fftw_plan plan, double *ri, double *ii, double *ro, double *io);
extern void fftw_execute_dft_r2c(const fftw_plan plan, double *in, fftw_complex *out);
extern void fftw_execute_dft_c2r(const fftw_plan plan, fftw_complex *in, double *out);
extern void fftw_execute_split_dft_r2c(const fftw_plan plan, double *in, double *ro, double *io);
extern void fftw_execute_split_dft_c2r(const fftw_plan plan, double *ri, double *ii, double *out);
extern void fftw_execute_r2r(const fftw_plan plan, double *in, double *out);
extern void fftw_destroy_plan(fftw_plan plan);

/* Memory */
extern void *fftw_malloc(size_t size);
extern double *fftw_alloc_real(size_t count);
extern fftw_complex *fftw_alloc_complex(size_t count);
extern void fftw_free(void *memory);
extern int fftw_alignment_of(double *array);
extern void fftw_cleanup(void);

/* Threads */
extern int fftw_init_threads(void);
extern void fftw_plan_with_nthreads(int threads);
extern int fftw_planner_nthreads(void);
extern void fftw_cleanup_threads(void);
extern void fftw_make_planner_thread_safe(void);
extern void fftw_threads_set_callback(void (*parallel_loop)(void *(*work)(char *), char *jobs, size_t size, int count,
    void *data), void *data);

/* Wisdom */
extern int fftw_export_wisdom_to_filename(const char *name);
extern void fftw_export_wisdom_to_file(FILE *file);
extern char *fftw_export_wisdom_to_string(void);
extern void fftw_export_wisdom(fftw_write_char_func write_char, void *data);
extern int fftw_import_system_wisdom(void);
extern int fftw_import_wisdom_from_filename(const char *name);
extern int fftw_import_wisdom_from_file(FILE *file);
extern int fftw_import_wisdom_from_string(const char *text);
extern int fftw_import_wisdom(fftw_read_char_func read_char, void *data);
extern void fftw_forget_wisdom(void);
extern void fftw_set_timelimit(double seconds);

/* Plans in words and numbers */
extern void fftw_fprint_plan(const fftw_plan plan, FILE *file);
extern void fftw_print_plan(const fftw_plan plan);
extern char *fftw_sprint_plan(const fftw_plan plan);
extern void fftw_flops(const fftw_plan plan, double *add, double *mul, double *fma);
extern double fftw_cost(const fftw_plan plan);
extern double fftw_estimate_cost(const fftw_plan plan);

extern const char fftw_version[];
extern const char fftw_cc[];
extern const char fftw_codelet_optim[];

#ifdef __cplusplus
}
#endif

#endif /* OZFFT_FFTW_H */
