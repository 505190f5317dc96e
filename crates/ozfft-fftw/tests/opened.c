/* A program that is not linked to FFTW, but opens it when it runs. Compiled and run by tests/library.rs: argument 1 is the library's
 * name. */
#include <dlfcn.h>
#include <stdio.h>

typedef void *(*plan_dft_1d)(int, void *, void *, int, unsigned);
typedef void (*with_plan)(void *);

int main(int count, char **arguments) {
    static float line[16];
    void *library = dlopen(arguments[count - 1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    plan_dft_1d make = (plan_dft_1d)dlsym(library, "fftwf_plan_dft_1d");
    with_plan execute = (with_plan)dlsym(library, "fftwf_execute"), destroy = (with_plan)dlsym(library, "fftwf_destroy_plan");
    void *plan = make(8, line, line, -1, 1U << 6);
    for (int i = 0; i < 16; i += 2) line[i] = 1;
    execute(plan);
    destroy(plan);
    printf("%s, %g\n", (char *)dlsym(library, "fftwf_version"), line[0]);
    dlclose(library);
    return line[0] != 8;
}
