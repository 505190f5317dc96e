/* A main that leaves by pthread_exit ends the process where no other thread is left: a plan for one thread had started a pool, and it never ended. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ozfft_fftw.h"

enum { most = 70000 };
static fftw_complex line[most];

/* Threads of this process. */
static int threads(void) {
    char text[256];
    int count = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(text, sizeof text, status)) sscanf(text, "Threads: %d", &count);
    if (status) fclose(status);
    return count;
}

int main(void) {
    alarm(50);
    const char *engines[] = {"digits", "residues", "native", "auto", "kahan", "ntt"};
    const int lengths[] = {16, 1000, 1024, 1009, 4096, 65537};
    for (int e = 0; e < 6; e++) {
        setenv("OZFFT_ENGINE", engines[e], 1);
        for (int i = 0; i < 6; i++) {
            fftw_plan plan = fftw_plan_dft_1d(lengths[i], line, line, FFTW_FORWARD, FFTW_ESTIMATE);
            if (!plan) return 1;
            line[0][0] = 1;
            fftw_execute(plan);
            fftw_destroy_plan(plan);
            if (threads() > 1) {
                printf("%s, %d points: %d threads\n", engines[e], lengths[i], threads());
                return 1;
            }
        }
    }
    pthread_exit(NULL);
}
