/* Transforms of FFTW's interface between redzones, built with gcc's -fsanitize=address by `run-tests --everything`. The library is no part of
 * what gcc instruments, so its writes are looked for in the redzones themselves; what it allocates, frees twice, frees wrongly or
 * leaks goes through the sanitizer's allocator and is seen there. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ozfft_fftw.h"

enum { ZONE = 64, ROUNDS = 400 };
static const double MARK = -1234.5678;

static uint64_t state = 1;
static unsigned below(unsigned limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

/* An array of so many doubles in the middle of marks. */
typedef struct {
    double *all, *start;
    size_t count;
} Array;

static Array array(size_t count) {
    Array made = {malloc((count + 2 * ZONE) * sizeof(double)), NULL, count};
    if (!made.all) abort();
    for (size_t i = 0; i < count + 2 * ZONE; i++) made.all[i] = MARK;
    made.start = made.all + ZONE;
    for (size_t i = 0; i < count; i++) made.start[i] = (double)below(100) - 50;
    return made;
}

static void finish(Array *used, const char *what, int round) {
    for (size_t i = 0; i < ZONE; i++) {
        if (used->all[i] != MARK || used->start[used->count + i] != MARK) {
            fprintf(stderr, "round %d: %s wrote %zu doubles outside its array\n", round, what, i + 1);
            exit(1);
        }
    }
    free(used->all);
}

int main(void) {
    for (int round = 0; round < ROUNDS; round++) {
        int rank = 1 + (int)below(3), n[3], points = 1, half = 1;
        for (int axis = 0; axis < rank; axis++) {
            n[axis] = 1 + (int)below(rank == 1 ? 300 : 12);
            points *= n[axis];
            half *= axis + 1 == rank ? n[axis] / 2 + 1 : n[axis];
        }
        int many = 1 + (int)below(4), sign = below(2) ? FFTW_FORWARD : FFTW_BACKWARD;
        unsigned flags = below(2) ? FFTW_ESTIMATE : FFTW_MEASURE;
        size_t complexes = 2 * (size_t)points * many, halves = 2 * (size_t)half * many, reals = (size_t)points * many;
        Array a, b;
        fftw_plan plan;
        const char *what;
        switch (below(5)) {
        case 0:
            what = "a complex transform in place", a = array(complexes), b = array(0);
            plan = fftw_plan_many_dft(rank, n, many, (fftw_complex *)a.start, NULL, 1, points, (fftw_complex *)a.start, NULL, 1, points, sign, flags);
            break;
        case 1:
            what = "a complex transform", a = array(complexes), b = array(complexes);
            plan = fftw_plan_many_dft(rank, n, many, (fftw_complex *)a.start, NULL, 1, points, (fftw_complex *)b.start, NULL, 1, points, sign, flags);
            break;
        case 2:
            what = "a real transform", a = array(reals), b = array(halves);
            plan = fftw_plan_many_dft_r2c(rank, n, many, a.start, NULL, 1, points, (fftw_complex *)b.start, NULL, 1, half, flags);
            break;
        case 3:
            what = "a transform to real numbers", a = array(halves), b = array(reals);
            plan = fftw_plan_many_dft_c2r(rank, n, many, (fftw_complex *)a.start, NULL, 1, half, b.start, NULL, 1, points, flags);
            break;
        default: {
            fftw_r2r_kind kinds[3] = {FFTW_REDFT10, FFTW_RODFT01, FFTW_DHT};
            what = "a transform of real numbers", a = array(reals), b = array(reals);
            plan = fftw_plan_many_r2r(rank, n, many, a.start, NULL, 1, points, b.start, NULL, 1, points, kinds, flags);
        }
        }
        if (!plan) {
            fprintf(stderr, "round %d: there is no plan for %s\n", round, what);
            return 1;
        }
        fftw_execute(plan);
        char *text = fftw_sprint_plan(plan);
        if (!text || !strlen(text)) return 1;
        fftw_free(text);
        fftw_destroy_plan(plan);
        finish(&a, what, round);
        finish(&b, what, round);
        if (round % 50 == 49) {
            char *wisdom = fftw_export_wisdom_to_string();
            if (!wisdom || !fftw_import_wisdom_from_string(wisdom)) return 1;
            fftw_free(wisdom);
            fftw_cleanup();
        }
    }
    fftw_cleanup();
    printf("%d transforms stayed within their arrays\n", ROUNDS);
    return 0;
}
