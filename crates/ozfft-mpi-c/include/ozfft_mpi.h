/* Fourier transforms of arrays that are divided among MPI ranks, with the bits of one process: libozfft_mpi_c.
 *
 * Planning and execution are collective: all ranks of the communicator call them, in the same order, from one thread. Where one rank fails all of
 * them return an error, and nothing has been written; ozfft_mpi_last_error() has the reason in words. */
#ifndef OZFFT_MPI_H
#define OZFFT_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is transformed. */
enum {
    OZFFT_MPI_COMPLEX = 0,
    OZFFT_MPI_REAL_TO_COMPLEX = 1, /* n/2 + 1 complex numbers along the last axis named */
    OZFFT_MPI_COMPLEX_TO_REAL = 2
};

/* Scaling. */
enum {
    OZFFT_MPI_NORM_BACKWARD = 0, /* 1/N in inverse transforms */
    OZFFT_MPI_NORM_ORTHO = 1,
    OZFFT_MPI_NORM_FORWARD = 2,
    OZFFT_MPI_NORM_NONE = 3
};

/* Accuracies; all others are the largest relative L2 error that is accepted. */
#define OZFFT_MPI_DOUBLE 0.0
#define OZFFT_MPI_SINGLE (-1.0) /* for data that are known to single precision: a third of the work */

/* Where lines are transformed, if not on the GPU of a number. */
#define OZFFT_MPI_PROCESSOR (-1)

/* Results of calls. */
enum {
    OZFFT_MPI_OK = 0,
    OZFFT_MPI_ARGUMENT = 1,  /* not collective, found on this rank alone: no plan, no communicator of a single group, no such rank, or MPI is not running */
    OZFFT_MPI_PROBLEM = 2,   /* lengths, axes, accuracy that the library for one process rejects; a constant that is not above; a null problem, list or array */
    OZFFT_MPI_MISMATCH = 3,  /* ranks ask for different things */
    OZFFT_MPI_BOXES = 4,     /* boxes that do not make up the array */
    OZFFT_MPI_GRID = 5,      /* a grid that does not fit ranks and dimensions */
    OZFFT_MPI_MEMORY = 6,    /* more workspace than the limit */
    OZFFT_MPI_TOO_LARGE = 7, /* more elements than MPI counts */
    OZFFT_MPI_ON_RANK = 8    /* another rank failed; the message is that rank's */
};

/* A problem. Begin with ozfft_mpi_defaults, which zeroes it and sets size; then set what is not the default. */
typedef struct {
    size_t size;       /* of this struct */
    int kind;          /* OZFFT_MPI_COMPLEX */
    int bytes;         /* of a real number: 8 (double), or 4 (float) */
    int inverse;       /* 0: exponents are negative, as in FFTW_FORWARD; complex-to-real transforms are inverse by default */
    int norm;          /* OZFFT_MPI_NORM_BACKWARD */
    double accuracy;   /* OZFFT_MPI_DOUBLE */
    size_t dimensions; /* of the global array */
    const size_t *shape; /* of the global array; of real transforms, that of the real array */
    size_t axes_count;   /* 0: all axes */
    const size_t *axes;
    size_t batch;      /* 1; parts of several arrays lie one after the other */
    size_t grid_count; /* 0: the planner chooses the process grid; it does not change bits */
    const size_t *grid;
    /* This rank's boxes: first indices, and those after the last. Null: the planner divides the first dimensions. */
    const size_t *input_low, *input_high;
    const size_t *output_low, *output_high;
    int permuted_input, permuted_output; /* without boxes: divided as it costs least, an exchange less */
    int strict;            /* a NaN or an infinity is an error */
    int threads;           /* of this rank; 1 */
    uint64_t memory_limit; /* bytes of workspace that this rank has room for; 0: any */
    int device;            /* OZFFT_MPI_PROCESSOR, or the number of this rank's GPU: all ranks have one, or none does */
    int staged;            /* on GPUs: messages through page-locked memory also where MPI takes device pointers, which is asked otherwise */
} ozfft_mpi_problem;

typedef struct ozfft_mpi_plan ozfft_mpi_plan;

/* The defaults: a forward complex transform of doubles over all axes. shape is not copied. */
void ozfft_mpi_defaults(ozfft_mpi_problem *problem, size_t dimensions, const size_t *shape);

/* Plans; collective. *plan is null on failure. The communicator is duplicated, and stays free for other messages. */
int ozfft_mpi_create(const ozfft_mpi_problem *problem, MPI_Comm communicator, ozfft_mpi_plan **plan);
/* The same given the communicator's address, for languages that know no more of it. */
int ozfft_mpi_create_at(const ozfft_mpi_problem *problem, const MPI_Comm *communicator, ozfft_mpi_plan **plan);

/* Transforms this rank's part; collective. Complex transforms may have input == output where both parts have the same number of elements; other
 * arrays do not overlap. The input is left as it is. */
int ozfft_mpi_execute(ozfft_mpi_plan *plan, const void *input, void *output);

/* The same for arrays in the memory of the GPU that the plan is for (CUDA device pointers); collective. Work on them in other streams has been waited for, and the result is
 * there when it returns. ozfft_mpi_execute takes arrays of the processor for such plans, too, and copies them. */
int ozfft_mpi_execute_device(ozfft_mpi_plan *plan, const void *input, void *output);

/* Takes part in a call that this rank cannot make, for a reason of its own, so that the other ranks do not wait: all of them get an error. For interfaces of
 * other languages. */
int ozfft_mpi_refuse(ozfft_mpi_plan *plan, const char *reason);

/* Gives a plan back; not collective, also after MPI_Finalize. Null is nothing. */
void ozfft_mpi_destroy(ozfft_mpi_plan *plan);

/* Elements of this rank's parts, of all arrays of the batch: numbers of the kind, complex or real. */
size_t ozfft_mpi_input_len(const ozfft_mpi_plan *plan);
size_t ozfft_mpi_output_len(const ozfft_mpi_plan *plan);
/* The box of any rank, in arrays of as many numbers as the global array has dimensions. An error if there is no such rank. */
int ozfft_mpi_input_box(const ozfft_mpi_plan *plan, int rank, size_t *low, size_t *high);
int ozfft_mpi_output_box(const ozfft_mpi_plan *plan, int rank, size_t *low, size_t *high);

/* Relative L2 error that no finite input exceeds. */
double ozfft_mpi_bound(const ozfft_mpi_plan *plan);
/* Bytes that this rank sends to others in one call, as planned; and so far, as counted. */
uint64_t ozfft_mpi_bytes_per_call(const ozfft_mpi_plan *plan);
uint64_t ozfft_mpi_bytes_sent(const ozfft_mpi_plan *plan);
/* Bytes of workspace, which the plan keeps between calls, in the GPU's memory for plans on one. */
uint64_t ozfft_mpi_workspace_bytes(const ozfft_mpi_plan *plan);
/* How messages go: 0 from the processor's memory, 1 from the GPU's, because MPI says that it takes device pointers, 2 from the GPU's through page-locked memory. */
int ozfft_mpi_messages(const ozfft_mpi_plan *plan);
/* Ranks, grid, exchanges, bound, and the plan of one process, in words; it is the plan's, and valid as long as that. */
const char *ozfft_mpi_describe(ozfft_mpi_plan *plan);

/* Why the last call of this thread failed; valid until its next call. */
const char *ozfft_mpi_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
