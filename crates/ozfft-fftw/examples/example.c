/* A program that knows nothing but FFTW's interface. Compiled with -lozfft_fftw -lm by tests/library.rs. */
#include <math.h>
#include <stdio.h>

#include "ozfft_fftw.h"

int main(void) {
    enum { rows = 6, columns = 10 };
    fftw_complex *field = fftw_alloc_complex(rows * columns);
    fftw_plan forward = fftw_plan_dft_2d(rows, columns, field, field, FFTW_FORWARD, FFTW_MEASURE);
    fftw_plan backward = fftw_plan_dft_2d(rows, columns, field, field, FFTW_BACKWARD, FFTW_MEASURE);
    double *line = fftw_alloc_real(rows), error = 0;
    fftw_plan cosine = fftw_plan_r2r_1d(rows, line, line, FFTW_REDFT10, FFTW_ESTIMATE);

    printf("%s\n", fftw_version);
    if (!forward || !backward || !cosine) {
        fprintf(stderr, "there is no plan\n");
        return 1;
    }
    /* There is none for this, and OZFFT_VERBOSE=1 tells why. */
    if (fftw_plan_dft_1d(0, field, field, FFTW_FORWARD, FFTW_ESTIMATE) != NULL) return 1;

    for (int i = 0; i < rows * columns; i++) {
        field[i][0] = i % 7;
        field[i][1] = i % 3;
    }
    fftw_execute(forward);
    fftw_execute(backward);
    for (int i = 0; i < rows * columns; i++) {
        error = fmax(error, fabs(field[i][0] / (rows * columns) - i % 7));
        error = fmax(error, fabs(field[i][1] / (rows * columns) - i % 3));
    }
    /* The cosine transform of ones is 2n, 0, 0, ... */
    for (int i = 0; i < rows; i++) line[i] = 1;
    fftw_execute(cosine);
    for (int i = 0; i < rows; i++) error = fmax(error, fabs(line[i] - (i == 0 ? 2.0 * rows : 0.0)));

    fftw_print_plan(forward);
    printf("\nlargest error %g\n", error);
    fftw_destroy_plan(forward);
    fftw_destroy_plan(backward);
    fftw_destroy_plan(cosine);
    fftw_destroy_plan(NULL);
    fftw_free(field);
    fftw_free(line);
    fftw_cleanup();
    if (!(error < 1e-14)) return 1;
    printf("all is well\n");
    return 0;
}
