/* What programs do wrong, one case for each run: the case is the argument. Compiled and run by tests/library.rs, which knows what must
 * come of it. A case that returns prints "went on". */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ozfft_fftw.h"

static fftw_complex line[65536];

static int is(const char *text, const char *name) { return strcmp(text, name) == 0; }

static fftw_plan planned(int n) { return fftw_plan_dft_1d(n, line, line, FFTW_FORWARD, FFTW_ESTIMATE); }

/* Bytes of memory that the process has. */
static long resident(void) {
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) exit(3);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(int count, char **arguments) {
    const char *which = count > 1 ? arguments[1] : "";
    int lengths[] = {4, 4};
    long foreign[32] = {0};
    if (is(which, "execute NULL")) {
        fftw_execute(NULL);
    } else if (is(which, "execute what was rejected")) {
        fftw_plan plan = planned(0);
        line[0][0] = 7;
        fftw_execute_dft(plan, line, line);
        printf("%g\n", line[0][0]);
    } else if (is(which, "rank INT_MAX")) {
        if (fftw_plan_dft(INT_MAX, lengths, line, line, FFTW_FORWARD, FFTW_ESTIMATE)) return 1;
    } else if (is(which, "destroy twice")) {
        fftw_plan plan = planned(4);
        fftw_destroy_plan(plan);
        fftw_destroy_plan(plan);
    } else if (is(which, "execute a plan of nobody")) {
        fftw_execute((fftw_plan)(void *)foreign);
    } else if (is(which, "destroy a plan of nobody")) {
        fftw_destroy_plan((fftw_plan)(void *)foreign);
    } else if (is(which, "another kind")) {
        fftw_execute_r2r(planned(4), (double *)line, (double *)line);
    } else if (is(which, "another precision")) {
        fftwf_execute((fftwf_plan)(void *)planned(4));
    } else if (is(which, "no arrays")) {
        fftw_execute(fftw_plan_dft_1d(4, NULL, NULL, FFTW_FORWARD, FFTW_ESTIMATE));
    } else if (is(which, "plan")) {
        line[0][0] = 1;
        fftw_execute(planned(4));
        if (line[3][0] != 1) return 1;
    } else if (is(which, "INT_MAX threads")) {
        alarm(60);
        fftw_plan_with_nthreads(INT_MAX);
        for (int i = 0; i < 65536; i++) line[i][0] = 1;
        fftw_plan plan = planned(65536);
        for (int i = 0; i < 20; i++) fftw_execute(plan);
        fftw_destroy_plan(plan);
    } else if (is(which, "many plans, then cleanup")) {
        fftw_destroy_plan(planned(64));
        fftw_cleanup();
        long before = resident();
        for (int i = 1; i <= 400; i++) fftw_destroy_plan(planned(i));
        long full = resident();
        fftw_cleanup();
        long after = resident();
        printf("%ld before, %ld after 400 plans, %ld after cleanup\n", before, full, after);
        if (after > before + (8L << 20)) return 1;
    } else {
        return 2;
    }
    printf("went on\n");
    return 0;
}
