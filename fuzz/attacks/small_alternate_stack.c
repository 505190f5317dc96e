/* Linux gives a process AMX's tiles on request, and from then on refuses alternate signal stacks of 8 KB: every plan requested them, also those that do
 * not use them, and with OZFFT_WITHOUT=amx. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ozfft_fftw.h"

static char memory[8192];
static fftw_complex line[4096];

static int can_have_a_stack(const char *when) {
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    stack_t none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(&stack, NULL) == 0) return sigaltstack(&none, NULL) == 0;
    perror(when);
    return 0;
}

static int plan_and_execute(int n) {
    fftw_plan plan = fftw_plan_dft_1d(n, line, line, FFTW_FORWARD, FFTW_ESTIMATE);
    if (!plan) return 0;
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return 1;
}

int main(int count, char **arguments) {
    if (!can_have_a_stack("at the beginning")) return 77;
    if (count == 1) {
        /* The variable is read once. */
        pid_t child = fork();
        if (child == 0) {
            setenv("OZFFT_WITHOUT", "amx", 1);
            execl(arguments[0], arguments[0], "without", (char *)NULL);
            _exit(127);
        }
        int status = 1;
        waitpid(child, &status, 0);
        if (status) return 1;
        return !plan_and_execute(16) || !can_have_a_stack("after 16 points");
    }
    const char *engines[] = {"digits", "residues", "bf16", "auto"};
    for (int i = 0; i < 4; i++) {
        setenv("OZFFT_ENGINE", engines[i], 1);
        if (i == 3) setenv("OZFFT_ACCURACY", "1e-2", 1);
        if (!plan_and_execute(1024) || !can_have_a_stack(engines[i])) return 1;
    }
    return 0;
}
