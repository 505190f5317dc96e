/* A process with one thread may leave its user namespace: a plan for one thread had started a second, and unshare failed. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ozfft_fftw.h"

static fftw_complex line[1009];

int main(void) {
    pid_t child = fork();
    if (child == 0) _exit(unshare(CLONE_NEWUSER) != 0);
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) {
        puts("this system gives no user namespaces");
        return 77;
    }
    fftw_plan plan = fftw_plan_dft_1d(1009, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(plan);
    if (unshare(CLONE_NEWUSER)) {
        perror("unshare");
        return 1;
    }
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return 0;
}
