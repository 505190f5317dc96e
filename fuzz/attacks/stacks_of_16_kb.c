/* Threads with stacks of 16 KB plan and transform with FFTW: here they ended by SIGSEGV. seconds: 120 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "ozfft_fftw.h"

enum { bytes = 16384, most = 70000 };
static double in[4 * most], out[4 * most];

static void *run(void *argument) {
    int n = *(int *)argument, kinds[] = {FFTW_R2HC, FFTW_REDFT00, FFTW_REDFT10, FFTW_RODFT01, FFTW_REDFT11};
    fftw_complex *cin = (fftw_complex *)in, *cout = (fftw_complex *)out;
    fftwf_complex *fin = (fftwf_complex *)in, *fout = (fftwf_complex *)out;
    fftw_plan plans[16] = {
        fftw_plan_dft_1d(n, cin, cin, FFTW_FORWARD, FFTW_ESTIMATE),
        fftw_plan_dft_1d(n, cin, cout, FFTW_BACKWARD, FFTW_ESTIMATE),
        fftw_plan_dft_r2c_1d(n, in, cout, FFTW_ESTIMATE),
        fftw_plan_dft_c2r_1d(n, cin, out, FFTW_ESTIMATE),
        fftw_plan_dft_r2c_1d(n, in, (fftw_complex *)in, FFTW_ESTIMATE),
        fftw_plan_many_dft(1, &n, most / n < 9 ? 1 : 9, cin, NULL, most / n < 9 ? 1 : 9, 1, cout, NULL, most / n < 9 ? 1 : 9, 1, FFTW_FORWARD, FFTW_ESTIMATE),
        n < 200 ? fftw_plan_dft_2d(n, n, cin, cout, FFTW_FORWARD, FFTW_ESTIMATE) : NULL,
        n < 40 ? fftw_plan_dft_r2c_3d(n, n, n, in, cout, FFTW_ESTIMATE) : NULL,
    };
    for (int k = 0; k < 5; k++) plans[8 + k] = n < 5000 ? fftw_plan_r2r_1d(n + 1, in, out, (fftw_r2r_kind)kinds[k], FFTW_ESTIMATE) : NULL;
    for (int i = 0; i < 16; i++) {
        if (plans[i]) fftw_execute(plans[i]);
        fftw_destroy_plan(plans[i]);
    }
    fftwf_plan single[3] = {
        fftwf_plan_dft_1d(n, fin, fout, FFTW_FORWARD, FFTW_ESTIMATE),
        fftwf_plan_dft_r2c_1d(n, (float *)fin, fout, FFTW_ESTIMATE),
        fftwf_plan_dft_c2r_1d(n, fin, (float *)fout, FFTW_ESTIMATE),
    };
    for (int i = 0; i < 3; i++) {
        if (single[i]) fftwf_execute(single[i]);
        fftwf_destroy_plan(single[i]);
    }
    return argument;
}

int main(void) {
    const int lengths[] = {1, 2, 5, 16, 17, 31, 64, 97, 127, 128, 240, 343, 1000, 1009, 1024, 1331, 2048, 4096, 4099, 30030, 65536, 65537};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, bytes)) {
        puts("this system has no stacks of 16 KB");
        return 77;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i];
        pthread_t thread;
        for (int j = 0; j < 4 * most; j++) in[j] = j % 7 - 3;
        printf("%d points\n", n);
        fflush(stdout);
        if (pthread_create(&thread, &attributes, run, &n) || pthread_join(thread, NULL)) return 1;
    }
    return 0;
}
