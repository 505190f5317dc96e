/* What FFTW's verification program wants to know of the system, in the place of what its configure finds out. */
#define HAVE_DRAND48 1
#define HAVE_GETTIMEOFDAY 1
#define HAVE_MALLOC_H 1
#define HAVE_MEMALIGN 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_THREADS 1
#define HAVE_UNISTD_H 1
#define STDC_HEADERS 1
#define TIME_WITH_SYS_TIME 1
