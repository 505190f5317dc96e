/* Exact sums from C: the same bits in any order, where plain sums depend on it.
 *
 *     cc -I include examples/sums.c -L ../../target/release -lkulisch -o sums */
#include "kulisch_reproblas.h"

enum { COUNT = 1000 };

int main(void) {
    double x[COUNT], y[COUNT], backward = 0.0, forward = 0.0;
    for (int i = 0; i < COUNT; i++) {
        /* Large numbers that nearly cancel. */
        x[i] = (i % 2 == 0 ? 1e16 : -1e16) + i;
        y[i] = 1.0 / (1 + i);
    }
    for (int i = 0; i < COUNT; i++) {
        forward += x[i];
        backward += x[COUNT - 1 - i];
    }
    printf("plain forward   %a\nplain backward  %a\n", forward, backward);
    printf("exact forward   %a\nexact backward  %a\n", reproBLAS_dsum(COUNT, x, 1), reproBLAS_dsum(COUNT, x, -1));
    printf("asum            %a\nnrm2            %a\ndot             %a\n", reproBLAS_dasum(COUNT, x, 1), reproBLAS_dnrm2(COUNT, x, 1),
           reproBLAS_ddot(COUNT, x, 1, y, 1));

    /* y = 2 A x - y, by rows and by columns of the same numbers. */
    const double by_rows[6] = {1e16, 1.0, -1e16, 1.0, 2.0, 3.0}, by_columns[6] = {1e16, 1.0, 1.0, 2.0, -1e16, 3.0}, ones[3] = {1.0, 1.0, 1.0};
    double first[2] = {0.5, 0.5}, second[2] = {0.5, 0.5};
    reproBLAS_dgemv('r', 'n', 2, 3, 2.0, by_rows, 3, ones, 1, -1.0, first, 1);
    reproBLAS_dgemv('c', 'n', 2, 3, 2.0, by_columns, 2, ones, 1, -1.0, second, 1);
    printf("gemv            %a %a; %a %a\n", first[0], first[1], second[0], second[1]);

    /* Parts of a sum, as two processes would have them. */
    kulisch_sum *one = kulisch_new(), *other = kulisch_new();
    kulisch_add_vector(one, COUNT / 2, x, 1);
    kulisch_add_vector(other, COUNT - COUNT / 2, x + COUNT / 2, 1);
    kulisch_merge(one, other);
    printf("merged          %a\n", kulisch_round(one));
    kulisch_free(one);
    kulisch_free(other);
    return 0;
}
