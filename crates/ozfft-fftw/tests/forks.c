/* Processes are forked off while other threads of theirs start the pool, plan and transform. Every child plans and transforms for
 * itself, and must come to its end. Compiled and run by tests/library.rs. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ozfft_fftw.h"

enum { points = 65536, children = 24 };
static volatile int running = 1;

/* The transform of ones: its first number is the length. */
static int transform(int n, int threads) {
    fftw_complex *line = fftw_alloc_complex(points);
    fftw_plan_with_nthreads(threads);
    fftw_plan plan = fftw_plan_dft_1d(n, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    for (int i = 0; i < n; i++) line[i][0] = 1, line[i][1] = 0;
    fftw_execute(plan);
    int well = line[0][0] == n;
    fftw_destroy_plan(plan);
    fftw_free(line);
    return well;
}

/* Starts the pool again and again: a cleanup ends it, and another number of threads may want another. */
static void *busy(void *nothing) {
    for (int round = 0; running; round++) {
        transform(points, 2 + round % 60);
        transform(97 + round % 64, 1);
        if (round % 2) fftw_cleanup();
    }
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    int well = 1;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, busy, NULL)) return 1;
    for (int i = 0; i < children; i++) {
        struct timespec pause = {0, 1000000 + 300000 * i};
        nanosleep(&pause, NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            int done = transform(points, 2) && transform(101, 1);
            _exit(!done);
        }
        int status = 1;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status)) {
            printf("child %d: status %d\n", i, status);
            well = 0;
        }
    }
    running = 0;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf(well ? "all is well\n" : "wrong\n");
    return !well;
}
