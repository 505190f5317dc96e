/* A process that has planned and transformed is forked; its child does both again. Threads do not survive a fork, so a library that
 * keeps some must notice. Compiled and run by tests/library.rs. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ozfft_fftw.h"

enum { longest = 131072 };

/* The transform of ones: its first number is the length. */
static int transform(int n, int threads) {
    fftw_complex *line = fftw_alloc_complex(longest);
    fftw_plan_with_nthreads(threads);
    fftw_plan plan = fftw_plan_dft_1d(n, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    int well = plan != NULL;
    for (int i = 0; i < n; i++) line[i][0] = 1, line[i][1] = 0;
    fftw_execute(plan);
    well = well && fabs(line[0][0] - n) < 1e-9 * n && fabs(line[1][0]) < 1e-9 * n;
    fftw_destroy_plan(plan);
    fftw_free(line);
    return well;
}

int main(void) {
    /* A prime, whose table takes several threads; a long line, which several threads transform. */
    int lengths[] = {64, 1009, longest}, well = 1, status = 1;
    for (int threads = 1; threads <= 2; threads++)
        for (int i = 0; i < 3; i++) well = well && transform(lengths[i], threads);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        /* What the parent has planned, the child has wisdom about. */
        fftw_plan known = fftw_plan_dft_1d(64, NULL, NULL, FFTW_FORWARD, FFTW_WISDOM_ONLY);
        well = well && known != NULL && fftw_plan_dft_1d(63, NULL, NULL, FFTW_FORWARD, FFTW_WISDOM_ONLY) == NULL;
        fftw_destroy_plan(known);
        for (int threads = 1; threads <= 2; threads++)
            for (int i = 0; i < 3; i++) well = well && transform(lengths[i] + (i == 1 ? 4 : 0), threads);
        _exit(!well);
    }
    waitpid(child, &status, 0);
    printf("parent %d, child %d\n", well, WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return !(well && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
