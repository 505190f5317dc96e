// Times candidates of the template for transforms of two passes, on numbers whose results are not looked at: parameters are chosen by it, bits
// are compared elsewhere (`ozfft bench --device cuda`).
//
//   ./passes.py GEN && nvcc -std=c++17 -O3 -arch=sm_90 -Xcompiler -include,host_pass.h -I. -I../cuda -DSHAPES='"GEN/2048.inc"' -o passes_2048 passes.cu
#include <cstdio>
#include <vector>
#include "passes/bailey_passes.cuh"

#define CANDIDATE(NUMBER, ...)                                                                                       \
    typedef bailey::PassesShape<__VA_ARGS__> Shape_##NUMBER;                                                         \
    static __global__ void __launch_bounds__(Shape_##NUMBER::THREADS, 1) kernel_##NUMBER(PARAMETERS TunedArguments a) { \
        bailey::run_passes<Shape_##NUMBER, bailey::MmaSync, true>(a);                                                \
    }
#include SHAPES
#undef CANDIDATE

static void *filled(size_t bytes) {
    void *place = nullptr;
    if (cudaMalloc(&place, bytes) != cudaSuccess || cudaMemset(place, 0x3e, bytes) != cudaSuccess) std::printf("no memory\n");
    return place;
}

template <class Shape> static void time_of(const char *text, void (*kernel)(TunedArguments), size_t points, void *input, void *output, void *tables, void *left) {
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::SHARED) != cudaSuccess) {
        cudaGetLastError();
        return;
    }
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Shape::THREADS, Shape::SHARED);
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, kernel);
    const long long lines = points / Shape::N;
    TunedArguments a = {};
    a.input = (const uint4 *)input;
    a.output = (uint4 *)output;
    const long long group = Shape::STRIDED ? lines : 1;
    a.from = a.to = Shape::STRIDED ? Places{lines, 1, 0} : Places{1, 0, Shape::N};
    a.lines = lines;
    a.fast_count = group;
    a.panels = (unsigned)((lines + Shape::LINES - 1) / Shape::LINES);
    a.panels_a_group = Shape::STRIDED ? a.panels : 1;
    a.tables = (const uint4 *)tables;
    a.left_count = (unsigned *)left;
    a.left = (long long *)left + 2;
    a.factor = 1 << 17;
    a.second_factor = (1 << 20) - 1;
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    float best = 1e9f;
    for (int run = 0; run < 5; run++) {
        cudaEventRecord(start);
        kernel<<<132 * (blocks > 0 ? blocks : 1), Shape::THREADS, Shape::SHARED>>>(a);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0;
        cudaEventElapsedTime(&ms, start, end);
        if (ms < best) best = ms;
    }
    const cudaError_t error = cudaGetLastError();
    std::printf("%d %.3f ms, %d registers, %d spilled, %d KB, %d a multiprocessor: %s %s\n", Shape::N, best, attributes.numRegs, (int)attributes.localSizeBytes, Shape::SHARED / 1024,
                blocks, text, error == cudaSuccess ? "" : cudaGetErrorString(error));
}

int main() {
    const size_t points = (size_t)1 << 26;
    void *input = filled(16 * points), *output = filled(16 * points), *tables = filled(1 << 20), *left = filled(16 * points / 512);
#define CANDIDATE(NUMBER, ...) time_of<Shape_##NUMBER>(#__VA_ARGS__, kernel_##NUMBER, points, input, output, tables, left);
#include SHAPES
    return 0;
}
