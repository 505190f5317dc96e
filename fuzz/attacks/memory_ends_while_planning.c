/* The address space ends at every few megabytes while plans are made: each call returns NULL and names the limit, or returns a plan that
   computes. The program was ended without a word about the limit. seconds: 900 */
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static rlim_t address_space(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        exit(77);
    fclose(file);
    return (rlim_t)pages * sysconf(_SC_PAGESIZE);
}

static void limit(rlim_t bytes)
{
    struct rlimit both = {bytes, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &both))
        exit(77);
}

/* 0 for a plan whose transform of an impulse is flat, 3 for NULL. */
static int planned(int kind, int n, rlim_t room, const char *log)
{
    fftw_complex *in = calloc(n, sizeof *in), *out = calloc(n, sizeof *out);
    if (!in || !out)
        return 77;
    in[0][0] = 1;
    if (!freopen(log, "w", stderr))
        return 77;
    limit(address_space() + room);
    fftw_plan plan = kind == 0   ? fftw_plan_dft_1d(n, in, out, FFTW_FORWARD, FFTW_ESTIMATE)
                     : kind == 1 ? fftw_plan_dft_r2c_1d(n, (double *)in, out, FFTW_MEASURE)
                     : kind == 2 ? fftw_plan_r2r_1d(n, (double *)in, (double *)out, FFTW_REDFT10, FFTW_ESTIMATE)
                                 : fftw_plan_dft_2d(n / 512, 512, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
    limit(RLIM_INFINITY);
    if (!plan) {
        char text[4096] = "";
        FILE *file = fopen(log, "r");
        size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[length] = 0;
        return strstr(text, "ulimit -v") ? 3 : (printf("the limit is not named: %s\n", text), 4);
    }
    memset(in, 0, n * sizeof *in);
    in[0][0] = 1;
    fftw_execute(plan);
    double expected = kind == 2 ? 2 : 1;
    return fabs(out[0][0] - expected) < 1e-9 ? 0 : 5;
}

int main(void)
{
    static const struct { const char *name; int kind, n, step; } problems[] = {
        {"a prime", 0, 500009, 6}, {"2^21", 0, 1 << 21, 4}, {"half a spectrum of a prime", 1, 500009, 4},
        {"a cosine transform", 2, 300000, 2}, {"two dimensions", 3, 1 << 20, 3},
    };
    char log[] = "/tmp/ozfft-attack-XXXXXX";
    if (mkstemp(log) < 0)
        return 77;
    int failed = 0;
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        int right = 0, refused = 0;
        for (int step = 0; step < 40; step++) {
            rlim_t room = ((rlim_t)step * problems[p].step << 20) + step * 7919 * 64;
            fflush(stdout);
            pid_t child = fork();
            if (child == 0) {
                int code = planned(problems[p].kind, problems[p].n, room, log);
                fflush(stdout);
                _exit(code);
            }
            int status;
            waitpid(child, &status, 0);
            if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
                return 77;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                right++;
            else if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
                refused++;
            else
                failed = 1, printf("%s with %lu bytes: status %x\n", problems[p].name, (unsigned long)room, status);
        }
        printf("%s: %d plans, %d refused\n", problems[p].name, right, refused);
    }
    unlink(log);
    return failed;
}
