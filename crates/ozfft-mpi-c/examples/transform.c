/* A complex 3-D transform, a real one and a batch of lines on any number of ranks: every rank fills its part from global indices, and rank 0 prints a digest of the
 * whole result, which does not depend on the ranks.
 *
 *   mpicc -Icrates/ozfft-mpi-c/include crates/ozfft-mpi-c/examples/transform.c -Ltarget/release -lozfft_mpi_c -o transform
 *   LD_LIBRARY_PATH=target/release mpirun -n 4 ./transform */
#include "ozfft_mpi.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void expect(int code) {
    if (code != OZFFT_MPI_OK) {
        fprintf(stderr, "rank %d: error %d: %s\n", rank, code, ozfft_mpi_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* A number between -1/2 and 1/2 for every index: the same on every rank. */
static double value(uint64_t index) {
    uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

/* Visits this rank's box in C order: the place of every element in the whole array. */
static size_t place(size_t element, size_t dimensions, const size_t *shape, const size_t *low, const size_t *high) {
    size_t found = 0, stride = 1;
    for (size_t d = dimensions; d-- > 0;) {
        size_t length = high[d] - low[d];
        found += (element % length + low[d]) * stride;
        element /= length;
        stride *= shape[d];
    }
    return found;
}

/* The whole result on rank 0, each number at its place, and FNV-1a of its bytes. */
static void print_digest(const char *name, ozfft_mpi_plan *plan, const double *output, int reals, size_t dimensions, const size_t *shape, size_t batch) {
    size_t low[8], high[8], points = 1, own = ozfft_mpi_output_len(plan);
    for (size_t d = 0; d < dimensions; d++) points *= shape[d];
    double *whole = calloc(points * batch * reals, sizeof(double));
    expect(ozfft_mpi_output_box(plan, rank, low, high));
    size_t length = own / batch;
    for (size_t i = 0; i < own; i++) {
        size_t to = i / length * points + place(i % length, dimensions, shape, low, high);
        for (int part = 0; part < reals; part++) whole[to * reals + part] = output[i * reals + part];
    }
    /* Every number is one rank's; bits are added to zeros. */
    MPI_Allreduce(MPI_IN_PLACE, whole, (int)(points * batch * reals), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    const unsigned char *bytes = (const unsigned char *)whole;
    for (size_t i = 0; i < points * batch * reals * sizeof(double); i++) digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    uint64_t sent = ozfft_mpi_bytes_sent(plan), sent_by_all = 0;
    MPI_Reduce(&sent, &sent_by_all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %016" PRIx64 " bound %.3g ranks %d bytes %" PRIu64 "\n", name, digest, ozfft_mpi_bound(plan), ranks, sent_by_all);
    free(whole);
}

static void fill(ozfft_mpi_plan *plan, double *input, int reals, size_t dimensions, const size_t *shape, size_t batch) {
    size_t low[8], high[8], points = 1, own = ozfft_mpi_input_len(plan), length = own / batch;
    for (size_t d = 0; d < dimensions; d++) points *= shape[d];
    expect(ozfft_mpi_input_box(plan, rank, low, high));
    for (size_t i = 0; i < own; i++) {
        size_t at = i / length * points + place(i % length, dimensions, shape, low, high);
        for (int part = 0; part < reals; part++) input[i * reals + part] = value(at * reals + part);
    }
}

static void transform(const char *name, ozfft_mpi_problem *problem, const size_t *output_shape) {
    ozfft_mpi_plan *plan;
    expect(ozfft_mpi_create(problem, MPI_COMM_WORLD, &plan));
    int in = problem->kind == OZFFT_MPI_REAL_TO_COMPLEX ? 1 : 2, out = 2;
    double *input = malloc((ozfft_mpi_input_len(plan) * in + 1) * sizeof(double));
    double *output = malloc((ozfft_mpi_output_len(plan) * out + 1) * sizeof(double));
    fill(plan, input, in, problem->dimensions, problem->shape, problem->batch);
    expect(ozfft_mpi_execute(plan, input, output));
    print_digest(name, plan, output, out, problem->dimensions, output_shape, problem->batch);
    if (ozfft_mpi_bytes_sent(plan) != ozfft_mpi_bytes_per_call(plan)) MPI_Abort(MPI_COMM_WORLD, 2);
    if (strstr(ozfft_mpi_describe(plan), "ranks") == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    free(input);
    free(output);
    ozfft_mpi_destroy(plan);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ozfft_mpi_problem problem;

    const size_t cube[3] = {12, 10, 9}, half[3] = {12, 10, 5}, line[1] = {3000};
    ozfft_mpi_defaults(&problem, 3, cube);
    transform("complex", &problem, cube);

    ozfft_mpi_defaults(&problem, 3, cube);
    problem.accuracy = OZFFT_MPI_SINGLE;
    transform("single", &problem, cube);

    ozfft_mpi_defaults(&problem, 3, cube);
    problem.kind = OZFFT_MPI_REAL_TO_COMPLEX;
    problem.norm = OZFFT_MPI_NORM_ORTHO;
    transform("real", &problem, half);

    /* The rank's own boxes: the last dimension divided. */
    size_t low[3] = {0, 0, 9 * (size_t)rank / ranks}, high[3] = {12, 10, 9 * (size_t)(rank + 1) / ranks};
    ozfft_mpi_defaults(&problem, 3, cube);
    problem.input_low = low, problem.input_high = high;
    problem.permuted_output = 1;
    transform("boxes", &problem, cube);

    ozfft_mpi_defaults(&problem, 1, line);
    problem.batch = 5;
    problem.inverse = 1;
    transform("lines", &problem, line);

    /* Errors are those of every rank: one asks for another shape, has no problem, gives no array. */
    ozfft_mpi_plan *plan;
    const size_t other[3] = {12, 10, 8};
    ozfft_mpi_defaults(&problem, 3, rank == ranks - 1 ? other : cube);
    int code = ozfft_mpi_create(&problem, MPI_COMM_WORLD, &plan);
    if (ranks > 1 && (code != OZFFT_MPI_MISMATCH || plan != NULL || ozfft_mpi_last_error()[0] == 0)) MPI_Abort(MPI_COMM_WORLD, 4);
    if (code == OZFFT_MPI_OK) ozfft_mpi_destroy(plan);
    ozfft_mpi_defaults(&problem, 3, cube);
    code = ozfft_mpi_create(rank == 0 ? NULL : &problem, MPI_COMM_WORLD, &plan);
    if (code == OZFFT_MPI_OK || plan != NULL) MPI_Abort(MPI_COMM_WORLD, 5);
    expect(ozfft_mpi_create(&problem, MPI_COMM_WORLD, &plan));
    size_t len = ozfft_mpi_input_len(plan);
    double *array = calloc(2 * len + 1, sizeof(double));
    if (ozfft_mpi_execute(plan, array, rank == 0 ? NULL : array) == OZFFT_MPI_OK) MPI_Abort(MPI_COMM_WORLD, 6);
    expect(ozfft_mpi_execute(plan, array, array));
    if (ozfft_mpi_input_box(plan, ranks, low, high) != OZFFT_MPI_ARGUMENT) MPI_Abort(MPI_COMM_WORLD, 7);
    /* A plan for processors takes no device pointers, and a GPU that is not there is none. */
    if (ozfft_mpi_execute_device(plan, array, array) == OZFFT_MPI_OK || ozfft_mpi_messages(plan) != 0) MPI_Abort(MPI_COMM_WORLD, 8);
    free(array);
    problem.device = 99;
    ozfft_mpi_plan *none;
    if (ozfft_mpi_create(&problem, MPI_COMM_WORLD, &none) == OZFFT_MPI_OK || none != NULL) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Finalize();
    ozfft_mpi_destroy(plan);
    return 0;
}
