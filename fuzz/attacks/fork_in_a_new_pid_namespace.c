/* The first process of a container within a container has the number 1, as its parent has: it took the parent's pool for its own and waited for threads
 * that it did not have. By fork, and by clone, which calls no handlers of pthread_atfork. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ozfft_fftw.h"

enum { points = 65536 };
static char stack[1 << 20];

/* The transform of ones: its first number is the length. */
static int transform(int n, int threads) {
    fftw_complex *line = fftw_alloc_complex(n);
    fftw_plan_with_nthreads(threads);
    fftw_plan plan = fftw_plan_dft_1d(n, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    for (int i = 0; i < n; i++) line[i][0] = 1, line[i][1] = 0;
    fftw_execute(plan);
    int well = line[0][0] == n;
    fftw_destroy_plan(plan);
    fftw_free(line);
    return well;
}

static int all(void) { return transform(points, 2) && transform(1009, 1) && transform(points + 1, 2); }

static int child(void *nothing) {
    int well = all() && getpid() == 1;
    /* Where clone's function returns, only its thread ends. */
    _exit(nothing || !well);
}

static int succeeded(pid_t process) {
    int status = 1;
    return process > 0 && waitpid(process, &status, 0) == process && status == 0;
}

/* As process 1, whose children are process 1 again. */
static int outer(void *nothing) {
    if (getpid() != 1 || !all()) return 2;
    if (!succeeded(clone(child, stack + sizeof stack, CLONE_NEWPID | SIGCHLD, nothing))) return 3;
    if (unshare(CLONE_NEWPID)) return 4;
    pid_t forked = fork();
    if (forked == 0) child(nothing);
    if (!succeeded(forked)) return 5;
    return all() ? 0 : 6;
}

int main(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID)) {
        puts("this system gives no namespaces");
        return 77;
    }
    pid_t first = fork();
    if (first == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(outer(NULL));
    }
    /* The first process of a namespace, and all others with it, ends when its parent does. */
    alarm(50);
    int status = 1;
    waitpid(first, &status, 0);
    if (status) printf("status %d, signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
    return status != 0;
}
