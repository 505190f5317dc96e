/* On a communicator that joins two groups of ranks, plans were made and their results were wrong. */
#define _GNU_SOURCE
#include <fftw3-mpi.h>
#include <stdio.h>
#include <string.h>

#include "ozfft_mpi.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm group, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);

    size_t shape[2] = {8, 8};
    ozfft_mpi_problem problem;
    ozfft_mpi_defaults(&problem, 2, shape);
    ozfft_mpi_plan *plan = NULL;
    int code = ozfft_mpi_create(&problem, both, &plan);
    int wrong = code != OZFFT_MPI_ARGUMENT || plan || !strstr(ozfft_mpi_last_error(), "intercommunicator");
    if (wrong) printf("ozfft_mpi_create: %d, %s\n", code, ozfft_mpi_last_error());

    ptrdiff_t n0 = 5, start = 5, size = fftw_mpi_local_size_2d(8, 8, both, &n0, &start);
    fftw_complex *line = fftw_alloc_complex(64);
    if (size || n0 || start || fftw_mpi_plan_dft_2d(8, 8, line, line, both, FFTW_FORWARD, FFTW_ESTIMATE)) wrong = puts("FFTW's interface takes it");
    fftw_free(line);

    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    MPI_Comm_free(&both);
    MPI_Comm_free(&group);
    MPI_Finalize();
    return wrong;
}
