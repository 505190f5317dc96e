/* Wisdom followed by other text was rejected, which FFTW reads to its closing bracket, and a function that never ends was read until memory was full. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ozfft_fftw.h"

/* What a function returns: a text, then one character for ever. */
struct endless {
    const char *begins;
    char goes_on;
    size_t read;
};

static int next(void *data) {
    struct endless *from = data;
    size_t place = from->read++;
    return place < strlen(from->begins) ? from->begins[place] : from->goes_on;
}

static int expect(const char *what, int found, int expected) {
    if (found != expected) printf("%s: %d\n", what, found);
    return found == expected;
}

int main(void) {
    struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_AS, &limit);
    fftw_complex *line = fftw_alloc_complex(120);
    fftw_destroy_plan(fftw_plan_dft_1d(120, line, line, FFTW_FORWARD, FFTW_ESTIMATE));
    char *wisdom = fftw_export_wisdom_to_string();
    char text[8192];
    int well = 1;
    snprintf(text, sizeof text, " \n%s\n[a program's own settings]", wisdom);
    well &= expect("with settings behind it", fftw_import_wisdom_from_string(text), 1);
    snprintf(text, sizeof text, "(fftw-3.3.10 fftw_wisdom #x0 #x0 #x0 #x0\n)\n%s", wisdom);
    well &= expect("FFTW's, with ours behind it", fftw_import_wisdom_from_string(text), 1);
    well &= expect("FFTW's, cut off", fftw_import_wisdom_from_string("(fftw-3.3.10 fftw_wisdom #x0"), 0);
    well &= expect("ours, cut off", (wisdom[strlen(wisdom) / 2] = 0, fftw_import_wisdom_from_string(wisdom)), 0);
    free(wisdom);

    /* Two in a file, one after the other, as FFTW's manual proposes for programs that have both precisions. */
    fftwf_destroy_plan(fftwf_plan_dft_1d(120, (fftwf_complex *)line, (fftwf_complex *)line, FFTW_FORWARD, FFTW_ESTIMATE));
    FILE *file = tmpfile();
    fftw_export_wisdom_to_file(file);
    fftwf_export_wisdom_to_file(file);
    rewind(file);
    well &= expect("double precision from a file", fftw_import_wisdom_from_file(file), 1);
    well &= expect("single precision from its rest", fftwf_import_wisdom_from_file(file), 1);
    well &= expect("nothing from its end", fftw_import_wisdom_from_file(file), 0);
    well &= expect("a device without end", fftw_import_wisdom_from_filename("/dev/zero"), 0);

    struct endless sources[] = {{"", 'x', 0}, {"(fftx", 'x', 0}, {"{\"plans\"", 'x', 0}, {"", ' ', 0}, {"(fftw-", 'x', 0}, {"{\"plans\":\"", 'x', 0}, {"", '{', 0}};
    for (int i = 0; i < 7; i++) {
        well &= expect(sources[i].begins, fftw_import_wisdom(next, &sources[i]), 0);
        if (i < 3) well &= expect("characters read beyond the first wrong one", sources[i].read > 16, 0);
    }
    fftw_free(line);
    return !well;
}
