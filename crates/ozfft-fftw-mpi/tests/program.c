/* A program of FFTW's interface for MPI, which knows nothing of ozfft: it prints what every rank holds, and writes whole results, in natural order, to the
 * file that it is given. Compiled and run by library.rs, with this library and with FFTW's. */
#include <fftw3-mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Named by fftw3-mpi.f03. */
fftw_plan fftw_mpi_plan_dft_2d_f03(ptrdiff_t n0, ptrdiff_t n1, fftw_complex *in, fftw_complex *out, MPI_Fint comm, int sign, unsigned flags);

static int rank, ranks;
static FILE *results;

static double value(uint64_t index) {
    uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

static void fail(const char *name) {
    fprintf(stderr, "rank %d: %s has no plan\n", rank, name);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* An array n0 x n1 x rest of complex numbers, or of reals in rows of n2 of which 2(n2/2 + 1) have room: this rank's part of it, natural or transposed. */
typedef struct {
    ptrdiff_t n0, n1, rest, row; /* row: the reals of a row; 0 for complex numbers */
    ptrdiff_t count, start;      /* of the dimension that is divided */
    int transposed;
} Part;

/* Visits the doubles of a part: their places in memory, and in the whole array in natural order. */
static void visit(const Part *part, double *memory, double *whole, int to_whole, int fill) {
    ptrdiff_t outer = part->transposed ? part->n0 : part->n1;
    ptrdiff_t doubles = part->row ? part->row : 2 * part->rest;
    ptrdiff_t room = part->row ? 2 * (part->row / 2 + 1) : doubles;
    for (ptrdiff_t i = 0; i < part->count; i++)
        for (ptrdiff_t j = 0; j < outer; j++)
            for (ptrdiff_t k = 0; k < doubles; k++) {
                ptrdiff_t i0 = part->transposed ? j : part->start + i, i1 = part->transposed ? part->start + i : j;
                ptrdiff_t at = (i0 * part->n1 + i1) * doubles + k, place = (i * outer + j) * room + k;
                if (fill) memory[place] = value(at);
                else if (to_whole) whole[at] = memory[place];
                else memory[place] = whole[at];
            }
}

static size_t doubles_of(const Part *part) {
    return part->n0 * part->n1 * (part->row ? part->row : 2 * part->rest);
}

/* The whole array of all parts, on every rank. */
static double *gathered(const Part *part, double *memory) {
    size_t count = doubles_of(part);
    double *whole = calloc(count, sizeof(double));
    visit(part, memory, whole, 1, 0);
    MPI_Allreduce(MPI_IN_PLACE, whole, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return whole;
}

static void store(const char *name, const Part *part, double *memory) {
    double *whole = gathered(part, memory);
    if (rank == 0) {
        fwrite(whole, sizeof(double), doubles_of(part), results);
        printf("result %s %zu\n", name, doubles_of(part));
    }
    free(whole);
}

/* Complex numbers; iblock and oblock are those of the dimension that is divided there. */
static void complex_transform(const char *name, int rnk, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t iblock, ptrdiff_t oblock, int sign, unsigned flags,
                              int in_place) {
    ptrdiff_t n0, s0, n1, s1, rest = howmany;
    int from = !!(flags & FFTW_MPI_TRANSPOSED_IN), to = !!(flags & FFTW_MPI_TRANSPOSED_OUT);
    for (int d = 2; d < rnk; d++) rest *= n[d];
    ptrdiff_t block0 = from ? (to ? 0 : oblock) : iblock, block1 = from ? iblock : to ? oblock : 0;
    ptrdiff_t size = fftw_mpi_local_size_many_transposed(rnk, n, howmany, block0, block1, MPI_COMM_WORLD, &n0, &s0, &n1, &s1);
    for (int turn = 0; turn < ranks; turn++) {
        if (turn == rank) printf("holds %s rank %d: %td from %td, %td from %td\n", name, rank, n0, s0, n1, s1), fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    fftw_complex *input = fftw_alloc_complex(size), *output = in_place ? input : fftw_alloc_complex(size);
    Part before = {n[0], n[1], rest, 0, from ? n1 : n0, from ? s1 : s0, from}, after = {n[0], n[1], rest, 0, to ? n1 : n0, to ? s1 : s0, to};
    fftw_plan plan = fftw_mpi_plan_many_dft(rnk, n, howmany, iblock, oblock, input, output, MPI_COMM_WORLD, sign, flags | FFTW_ESTIMATE);
    if (!plan) fail(name);
    visit(&before, (double *)input, NULL, 0, 1);
    fftw_execute(plan);
    store(name, &after, (double *)output);
    fftw_destroy_plan(plan);
    fftw_free(input);
    if (!in_place) fftw_free(output);
}

/* Reals of three dimensions to their half-spectrum and back, which makes them N times as large. */
static void real_transform(const char *name, const char *back, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, int transposed, int in_place) {
    ptrdiff_t here, start, there, there_start, half = n2 / 2 + 1;
    ptrdiff_t size = fftw_mpi_local_size_3d_transposed(n0, n1, half, MPI_COMM_WORLD, &here, &start, &there, &there_start);
    double *reals = fftw_alloc_real(2 * size);
    fftw_complex *spectrum = in_place ? (fftw_complex *)reals : fftw_alloc_complex(size);
    fftw_plan forward = fftw_mpi_plan_dft_r2c_3d(n0, n1, n2, reals, spectrum, MPI_COMM_WORLD, FFTW_ESTIMATE | (transposed ? FFTW_MPI_TRANSPOSED_OUT : 0));
    fftw_plan inverse = fftw_mpi_plan_dft_c2r_3d(n0, n1, n2, spectrum, reals, MPI_COMM_WORLD, FFTW_ESTIMATE | (transposed ? FFTW_MPI_TRANSPOSED_IN : 0));
    if (!forward || !inverse) fail(name);
    Part natural = {n0, n1, 0, n2, here, start, 0};
    Part complex = {n0, n1, half, 0, transposed ? there : here, transposed ? there_start : start, transposed};
    visit(&natural, reals, NULL, 0, 1);
    fftw_execute(forward);
    store(name, &complex, (double *)spectrum);
    /* FFTW may destroy the spectrum of a transform to reals. */
    fftw_execute(inverse);
    store(back, &natural, reals);
    fftw_destroy_plan(forward);
    fftw_destroy_plan(inverse);
    fftw_free(reals);
    if (!in_place) fftw_free(spectrum);
}

static void wrong(const char *what) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Ranks without a communicator: no plan, no elements, and the program goes on. */
static void no_communicator(void) {
    ptrdiff_t here = 7, start = 7;
    fftw_complex one[1];
    fftwf_complex single[1];
    if (fftw_mpi_local_size_2d(12, 9, MPI_COMM_NULL, &here, &start) != 0 || here != 0 || start != 0) wrong("local_size of no communicator");
    if (fftw_mpi_plan_dft_2d(12, 9, one, one, MPI_COMM_NULL, FFTW_FORWARD, FFTW_ESTIMATE)) wrong("a plan of no communicator");
    if (fftwf_mpi_plan_dft_2d(12, 9, single, single, MPI_COMM_NULL, FFTW_FORWARD, FFTW_ESTIMATE)) wrong("a plan of no communicator");
    if (fftw_mpi_plan_dft_2d_f03(12, 9, one, one, MPI_Comm_c2f(MPI_COMM_NULL), FFTW_FORWARD, FFTW_ESTIMATE)) wrong("a plan of no communicator");
    MPI_Comm group, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
    if (fftw_mpi_plan_dft_2d(12, 9, one, one, both, FFTW_FORWARD, FFTW_ESTIMATE)) wrong("a plan of two groups");
    MPI_Comm_free(&both);
    MPI_Comm_free(&group);
    /* 0 was divided by. */
    const ptrdiff_t lengths[] = {0, -1, PTRDIFF_MIN, PTRDIFF_MAX};
    for (int i = 0; i < 4; i++) {
        here = start = 7;
        if (fftw_mpi_local_size_2d(lengths[i], 9, MPI_COMM_WORLD, &here, &start) != 0 || here != 0 || start != 0) wrong("local_size of a hostile length");
    }
    printf("no communicator, no plan\n");
}

/* A plan that is destroyed twice. */
static void destroyed(void) {
    fftw_complex *line = fftw_alloc_complex(108);
    fftw_plan plan = fftw_mpi_plan_dft_2d(12, 9, line, line, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_destroy_plan(plan);
    fftw_destroy_plan(plan);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fftw_mpi_init();
    fftwf_mpi_init();
    /* FFTW itself ends the program there. */
    if (argc > 1 && !strcmp(argv[1], "--no-communicator")) {
        no_communicator();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "--destroyed")) destroyed();
    if (rank == 0 && !(results = fopen(argv[1], "wb"))) MPI_Abort(MPI_COMM_WORLD, 2);
    const ptrdiff_t cube[3] = {8, 6, 10}, square[2] = {12, 9};
    complex_transform("cube", 3, cube, 1, 0, 0, FFTW_FORWARD, 0, 1);
    complex_transform("transposed_out", 2, square, 1, 0, 0, FFTW_BACKWARD, FFTW_MPI_TRANSPOSED_OUT, 0);
    complex_transform("transposed_in", 3, cube, 1, 0, 0, FFTW_FORWARD, FFTW_MPI_TRANSPOSED_IN, 0);
    complex_transform("transposed_both", 3, cube, 1, 0, 0, FFTW_BACKWARD, FFTW_MPI_TRANSPOSED_IN | FFTW_MPI_TRANSPOSED_OUT, 0);
    complex_transform("interleaved", 2, square, 3, 12 / ranks + 2, 12 / ranks + 2, FFTW_FORWARD, 0, 0);
    complex_transform("interleaved_blocks", 2, square, 2, 12 / ranks + 1, 9 / ranks + 1, FFTW_FORWARD, FFTW_MPI_TRANSPOSED_OUT, 1);
    real_transform("half", "half_back", 8, 6, 10, 0, 1);
    real_transform("half_transposed", "half_transposed_back", 6, 5, 9, 1, 0);

    /* A line: the library says what every rank holds. */
    ptrdiff_t ni, si, no, so, size = fftw_mpi_local_size_1d(2000, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE, &ni, &si, &no, &so);
    fftw_complex *line = fftw_alloc_complex(size), *spectrum = fftw_alloc_complex(size);
    fftw_plan plan = fftw_mpi_plan_dft_1d(2000, line, spectrum, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    if (!plan) fail("line");
    Part before = {2000, 1, 1, 0, ni, si, 0}, after = {2000, 1, 1, 0, no, so, 0};
    visit(&before, (double *)line, NULL, 0, 1);
    fftw_mpi_execute_dft(plan, line, spectrum);
    store("line", &after, (double *)spectrum);
    fftw_destroy_plan(plan);

    /* By Fortran's name, with Fortran's handle. */
    ptrdiff_t here, first, points = fftw_mpi_local_size_2d(12, 9, MPI_COMM_WORLD, &here, &first);
    fftw_complex *array = fftw_alloc_complex(points);
    plan = fftw_mpi_plan_dft_2d_f03(12, 9, array, array, MPI_Comm_c2f(MPI_COMM_WORLD), FFTW_FORWARD, FFTW_ESTIMATE);
    if (!plan) fail("fortran");
    Part square_part = {12, 9, 1, 0, here, first, 0};
    visit(&square_part, (double *)array, NULL, 0, 1);
    fftw_execute(plan);
    store("fortran", &square_part, (double *)array);
    fftw_destroy_plan(plan);

    /* Single precision. */
    fftwf_complex *singles = fftwf_alloc_complex(points);
    fftwf_plan single = fftwf_mpi_plan_dft_2d(12, 9, singles, singles, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    if (!single) fail("single");
    visit(&square_part, (double *)array, NULL, 0, 1);
    for (ptrdiff_t i = 0; i < 9 * here; i++) singles[i][0] = (float)array[i][0], singles[i][1] = (float)array[i][1];
    fftwf_mpi_execute_dft(single, singles, singles);
    for (ptrdiff_t i = 0; i < 9 * here; i++) array[i][0] = singles[i][0], array[i][1] = singles[i][1];
    store("single", &square_part, (double *)array);
    fftwf_destroy_plan(single);
    fftwf_free(singles);
    fftw_free(array);

    /* Plans of one process beside them. */
    fftw_plan own = fftw_plan_dft_1d(2, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    line[0][0] = 1, line[0][1] = 0, line[1][0] = 2, line[1][1] = 0;
    fftw_execute(own);
    if (line[0][0] != 3 || line[1][0] != -1) MPI_Abort(MPI_COMM_WORLD, 3);
    fftw_destroy_plan(own);
    fftw_free(line);
    fftw_free(spectrum);
    if (rank == 0) fclose(results);
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
