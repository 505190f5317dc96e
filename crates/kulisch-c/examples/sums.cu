// Exact sums on a GPU and on the processor: the same bits. Returns 1 if they differ.
//
//     nvcc -arch=sm_90 -I include examples/sums.cu ../../target/release/libkulisch.a -lpthread -ldl -lm -o sums
#include "kulisch.cuh"
#include "kulisch.h"
#include <cmath>
#include <cstdio>
#include <vector>

#define CHECKED(call)                                                                 \
    do {                                                                              \
        const cudaError_t status = (call);                                            \
        if (status != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));      \
            return 2;                                                                 \
        }                                                                             \
    } while (0)

// A kernel with a reduction of its own: every block of 32 threads has the exact sum of a row's numbers times their places.
__global__ void weighted_rows(const double *matrix, int columns, double *sums) {
    __shared__ __align__(16) unsigned char memory[kulisch::WARP_SUM_BYTES];
    kulisch::WarpSum sum(memory);
    for (int first = 0; first < columns; first += 32) {
        const int column = first + (int)threadIdx.x;
        const bool has = column < columns;
        sum.add_product(has ? matrix[(size_t)blockIdx.x * columns + column] : 0.0, column, has);
    }
    const double rounded = sum.round();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = rounded;
    }
}

int main() {
    const int rows = 100, columns = 10007;
    std::vector<double> x((size_t)rows * columns), y(x.size()), places(columns);
    unsigned long long state = 20261117;
    for (size_t i = 0; i < x.size(); i++) {
        for (double *number : {&x[i], &y[i]}) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            // Exponents over 2^80, both signs.
            *number = ((double)(state >> 11) - 4503599627370496.0) * std::ldexp(1.0, (int)(state >> 5 & 63) - 92);
        }
    }
    for (int i = 0; i < columns; i++) {
        places[i] = i;
    }
    double *device, *results;
    kulisch::GridTotal *total;
    CHECKED(cudaMalloc(&device, 2 * x.size() * sizeof(double)));
    CHECKED(cudaMalloc(&results, (2 + rows) * sizeof(double)));
    CHECKED(cudaMalloc(&total, sizeof *total));
    CHECKED(cudaMemset(total, 0, sizeof *total));
    CHECKED(cudaMemcpy(device, x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice));
    CHECKED(cudaMemcpy(device + x.size(), y.data(), y.size() * sizeof(double), cudaMemcpyHostToDevice));
    CHECKED(kulisch::sum(device, x.size(), results, total));
    CHECKED(kulisch::dot(device, device + x.size(), x.size(), results + 1, total));
    weighted_rows<<<rows, 32>>>(device, columns, results + 2);
    CHECKED(cudaGetLastError());
    std::vector<double> found(2 + rows);
    CHECKED(cudaMemcpy(found.data(), results, found.size() * sizeof(double), cudaMemcpyDeviceToHost));

    const ptrdiff_t count = (ptrdiff_t)x.size();
    std::vector<double> expected = {kulisch_dsum(count, x.data(), 1), kulisch_ddot(count, x.data(), 1, y.data(), 1)};
    for (int row = 0; row < rows; row++) {
        expected.push_back(kulisch_ddot(columns, x.data() + (size_t)row * columns, 1, places.data(), 1));
    }
    int different = 0;
    for (size_t i = 0; i < expected.size(); i++) {
        different += std::memcmp(&found[i], &expected[i], sizeof(double)) != 0;
    }
    std::printf("sum  %a\ndot  %a\n%d of %zu results differ from the processor's\n", found[0], found[1], different, expected.size());
    return different == 0 ? 0 : 1;
}
