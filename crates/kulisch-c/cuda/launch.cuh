// Sums and dot products of arrays in a GPU's memory, by one launch each, in the order of a stream.
template <int = 0> __global__ void __launch_bounds__(kulisch_internal::kulisch::GRID_THREADS) sum_kernel(const double *x, const double *y, size_t count, double *result, GridTotal *total) {
    __shared__ __align__(16) unsigned char memory[kulisch_internal::kulisch::GRID_SHARED_BYTES];
    kulisch_internal::kulisch::sum_of_grid(memory, x, y, count, result, total);
}

// Blocks of a launch: a warp takes 8192 numbers at a time, and more than 2048 blocks gain nothing.
inline unsigned sum_blocks(size_t count) {
    const size_t share = (size_t)kulisch_internal::kulisch::WINDOW_TERMS * kulisch_internal::kulisch::GRID_WARPS;
    const size_t blocks = (count + share - 1) / share;
    return blocks < 1 ? 1 : blocks > 2048 ? 2048 : (unsigned)blocks;
}

// *result = Σ x[i], rounded once. `x`, `result` and `total` are the device's; `total` is zero before its first use (cudaMemset), and one
// launch at a time uses it.
inline cudaError_t sum(const double *x, size_t count, double *result, GridTotal *total, cudaStream_t stream = 0) {
    sum_kernel<><<<sum_blocks(count), kulisch_internal::kulisch::GRID_THREADS, 0, stream>>>(x, nullptr, count, result, total);
    return cudaGetLastError();
}

// *result = Σ x[i] · y[i], rounded once.
inline cudaError_t dot(const double *x, const double *y, size_t count, double *result, GridTotal *total, cudaStream_t stream = 0) {
    sum_kernel<><<<sum_blocks(count), kulisch_internal::kulisch::GRID_THREADS, 0, stream>>>(x, y, count, result, total);
    return cudaGetLastError();
}
