/* A program of libfftw3_mpi: its plans are FFTW's, and the functions that execute, print and destroy them are those that this
 * library has taken over. Beside them it has plans of its own. Compiled and run by tests/library.rs. */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

int main(int count, char **arguments) {
    enum { rows = 32, columns = 1024, points = rows * columns };
    ptrdiff_t here, first;
    MPI_Init(&count, &arguments);
    fftw_mpi_init();
    ptrdiff_t size = fftw_mpi_local_size_2d(rows, columns, MPI_COMM_WORLD, &here, &first);
    fftw_complex *part = fftw_alloc_complex(size);
    fftw_plan whole = fftw_mpi_plan_dft_2d(rows, columns, part, part, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_complex *line = fftw_alloc_complex(64);
    fftw_plan own = fftw_plan_dft_1d(64, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    if (!whole || !own) return 1;
    for (ptrdiff_t i = 0; i < here * columns; i++) part[i][0] = 1, part[i][1] = 0;
    for (int i = 0; i < 64; i++) line[i][0] = 1, line[i][1] = 0;
    fftw_execute(whole);
    fftw_execute(own);
    int well = line[0][0] == 64 && fabs(line[1][0]) < 1e-12;
    if (first == 0) well = well && fabs(part[0][0] - points) < 1e-6 && fabs(part[1][0]) < 1e-6;
    for (ptrdiff_t i = 0; i < here * columns; i++) part[i][0] = i == 0 && first == 0, part[i][1] = 0;
    fftw_mpi_execute_dft(whole, part, part);
    for (ptrdiff_t i = 0; i < here * columns; i++) well = well && fabs(part[i][0] - 1) < 1e-9;
    double add, mul, fma;
    fftw_flops(whole, &add, &mul, &fma);
    well = well && add + mul + fma > 0 && fftw_cost(own) > 0;
    char *text = fftw_sprint_plan(whole);
    well = well && text != NULL;
    fftw_free(text);
    fftw_destroy_plan(whole);
    fftw_destroy_plan(own);
    fftw_free(part);
    fftw_free(line);
    fftw_mpi_cleanup();
    int all = 0;
    MPI_Allreduce(&well, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == 0) printf(all ? "all is well\n" : "wrong\n");
    MPI_Finalize();
    return !all;
}
