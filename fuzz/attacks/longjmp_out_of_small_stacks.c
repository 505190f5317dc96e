/* A handler of a signal leaves a transform by longjmp: the thread's later calls must know again how little room it has. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "ozfft_fftw.h"

static fftw_complex line[65536];
static fftw_plan plan;
static sigjmp_buf back;
static volatile int left;

static void leave(int signal) { siglongjmp(back, signal); }

static void *run(void *nothing) {
    while (left < 20) {
        if (sigsetjmp(back, 1)) left++;
        else for (;;) fftw_execute(plan);
    }
    return nothing;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, 16384)) return 77;
    plan = fftw_plan_dft_1d(65536, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    signal(SIGUSR1, leave);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run, NULL)) return 1;
    usleep(100000);
    for (int before = left; left < 20; before = left) {
        pthread_kill(thread, SIGUSR1);
        while (left == before) usleep(1000);
        usleep(20000);
    }
    return pthread_join(thread, NULL) != 0;
}
