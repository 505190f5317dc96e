/* Lengths below 1 were divided by, products of long ones wrapped around, and a plan that was destroyed twice was handed to the next library, which read
 * it. Arrays at odd addresses were taken. */
#define _GNU_SOURCE
#include <fftw3-mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "ozfft_mpi.h"

static sigjmp_buf back;
static void aborted(int signal) { siglongjmp(back, signal); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    int wrong = 0;
    const ptrdiff_t most = PTRDIFF_MAX, hostile[][3] = {{0, 4, 4}, {4, 0, 4}, {4, 4, 0}, {-1, 4, 4}, {PTRDIFF_MIN, 4, 4}, {most, 4, 4}, {4, most, 1}, {1L << 32, 1L << 32, 1}};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        ptrdiff_t places[8] = {9, 9, 9, 9, 9, 9, 9, 9}, size = 0;
        const ptrdiff_t *n = hostile[i];
        size |= fftw_mpi_local_size_3d_transposed(n[0], n[1], n[2], world, places, places + 1, places + 2, places + 3);
        size |= fftw_mpi_local_size_many(3, n, 2, 1, world, places + 4, places + 5);
        size |= fftwf_mpi_local_size_3d(n[0], n[1], n[2], world, places + 6, places + 7);
        for (int k = 0; k < 8; k++) size |= places[k];
        if (size) wrong = printf("case %zu has a size: %td\n", i, size);
        if (fftw_mpi_plan_dft(3, n, NULL, NULL, world, FFTW_FORWARD, FFTW_ESTIMATE)) wrong = printf("case %zu has a plan\n", i);
    }
    ptrdiff_t ni, si, no, so;
    if (fftw_mpi_local_size_1d(0, world, FFTW_FORWARD, FFTW_ESTIMATE, &ni, &si, &no, &so)) wrong = puts("no points have a size");
    if (fftw_mpi_local_size_1d(most, world, FFTW_FORWARD, FFTW_ESTIMATE, &ni, &si, &no, &so)) wrong = puts("2^63 - 1 points have a size");

    /* Lists that are said to be longer than they are, and arrays at odd addresses. */
    size_t shape[2] = {8, 8}, list[2] = {0, 1};
    ozfft_mpi_problem problem;
    ozfft_mpi_plan *ours = NULL;
    for (int which = 0; which < 2; which++) {
        ozfft_mpi_defaults(&problem, 2, shape);
        *(which ? &problem.axes_count : &problem.grid_count) = (size_t)1 << 60;
        problem.axes = problem.grid = list;
        if (!ozfft_mpi_create(&problem, world, &ours)) wrong = puts("2^60 numbers of a list of two");
    }
    static _Alignas(16) char memory[2048];
    ozfft_mpi_defaults(&problem, 2, shape);
    if (ozfft_mpi_create(&problem, world, &ours)) wrong = puts(ozfft_mpi_last_error());
    if (ours && !ozfft_mpi_execute(ours, memory + 1, memory + 1)) wrong = puts("an odd address");
    if (ours && ozfft_mpi_execute(ours, memory, memory)) wrong = puts(ozfft_mpi_last_error());
    ozfft_mpi_destroy(ours);

    fftw_complex *line = fftw_alloc_complex(64);
    fftw_plan plan = fftw_mpi_plan_dft_2d(8, 8, line, line, world, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    for (int which = 0; which < 3; which++) {
        struct sigaction former, ending = {.sa_handler = aborted};
        sigaction(SIGABRT, &ending, &former);
        if (sigsetjmp(back, 1) == 0) {
            if (which == 0) fftw_destroy_plan(plan);
            if (which == 1) fftw_execute(plan);
            if (which == 2) fftw_mpi_execute_dft(plan, line, line);
            wrong = puts("a destroyed plan was taken");
        }
        sigaction(SIGABRT, &former, NULL);
    }
    fftw_free(line);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, world);
    MPI_Finalize();
    return wrong != 0;
}
