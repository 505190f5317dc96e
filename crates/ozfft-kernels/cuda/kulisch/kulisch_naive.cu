// target: fatbin
// What exact sums are compared with: the same reductions with plain instructions on f64 (naive_…), and kernels that read the
// same memory in the same way and do nothing worth mentioning with it (read_…): the rest of the time is the reduction's.
#include "kulisch/kulisch_tasks.cuh"

using namespace kulisch;

DEVICE double plus(double sum, double value) { return sum + value; }
DEVICE u64 plus(u64 sum, u64 value) { return sum ^ value; }
DEVICE double plus_product(double sum, double left, double right) { return __fma_rn(left, right, sum); }
DEVICE u64 plus_product(u64 sum, u64 left, u64 right) { return sum ^ left ^ right; }

template <class T> DEVICE const T *numbers(const u64 *bits) { return reinterpret_cast<const T *>(bits); }

template <class T> DEVICE T sum_of_warp(T sum) {
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) {
        sum = plus(sum, shuffle_xor(sum, mask));
    }
    return sum;
}

// In memory: how many blocks are done, and their sums.
template <class T> struct Partial {
    unsigned done, unused;
    T sums[MOST_BLOCKS];
};

// Adds up what the threads of all blocks have.
template <class T> DEVICE void finish(const Reduction &task, T sum) {
    static_assert(sizeof(Partial<T>) == TOTAL_BYTES, "as the host has it");
    Partial<T> *partial = static_cast<Partial<T> *>(task.total);
    T *sums = reinterpret_cast<T *>(shared_memory());
    unsigned *last = reinterpret_cast<unsigned *>(sums + WARPS);
    const int thread = thread_number();
    sum = sum_of_warp(sum);
    if (thread % 32 == 0) {
        sums[thread / 32] = sum;
    }
    block_barrier();
    if (thread == 0) {
        for (int warp = 1; warp < WARPS; warp++) {
            sum = plus(sum, sums[warp]);
        }
        partial->sums[blockIdx.x] = sum;
        device_fence();
        *last = atomic_add(&partial->done, 1) + 1 == gridDim.x ? 1 : 0;
    }
    block_barrier();
    if (*last == 0 || thread >= 32) {
        return;
    }
    device_fence();
    sum = T(0);
    for (unsigned block = (unsigned)thread; block < gridDim.x; block += 32) {
        sum = plus(sum, static_cast<volatile T *>(partial->sums)[block]);
    }
    sum = sum_of_warp(sum);
    if (thread == 0) {
        *reinterpret_cast<T *>(task.result) = sum;
        partial->done = 0;
    }
}

template <class T> struct alignas(16) Two {
    T first, second;
};

// Eight numbers of a thread at once. Arrays begin at multiples of 16 bytes.
template <class T, bool MAGNITUDES> DEVICE void sum(const Reduction &task) {
    const u64 threads = (u64)gridDim.x * THREADS, thread = (u64)blockIdx.x * THREADS + (unsigned)thread_number();
    const Two<T> *pairs = reinterpret_cast<const Two<T> *>(task.left);
    const u64 count = task.count / 2;
    T sum = T(0);
    u64 at = thread;
    auto magnitude = [](T value) { return MAGNITUDES && value < T(0) ? T(0) - value : value; };
    for (; at + 3 * threads < count; at += 4 * threads) {
        Two<T> four[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            four[k] = pairs[at + k * threads];
        }
#pragma unroll
        for (const Two<T> &two : four) {
            sum = plus(plus(sum, magnitude(two.first)), magnitude(two.second));
        }
    }
    for (; at < count; at += threads) {
        sum = plus(plus(sum, magnitude(pairs[at].first)), magnitude(pairs[at].second));
    }
    if (thread == 0 && task.count % 2 == 1) {
        sum = plus(sum, magnitude(numbers<T>(task.left)[task.count - 1]));
    }
    finish(task, sum);
}

template <class T> DEVICE void dot(const Reduction &task) {
    const u64 threads = (u64)gridDim.x * THREADS, thread = (u64)blockIdx.x * THREADS + (unsigned)thread_number();
    const T *a = numbers<T>(task.left), *b = numbers<T>(task.right);
    T sum = T(0);
    u64 at = thread;
    for (; at + 3 * threads < task.count; at += 4 * threads) {
        T left[4], right[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            left[k] = a[at + k * threads];
            right[k] = b[at + k * threads];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum = plus_product(sum, left[k], right[k]);
        }
    }
    for (; at < task.count; at += threads) {
        sum = plus_product(sum, a[at], b[at]);
    }
    finish(task, sum);
}

// A warp has a row.
template <class T> DEVICE void spmv(const SparseTask &task) {
    const unsigned lane = (unsigned)thread_number() % 32;
    const u64 warps = (u64)gridDim.x * WARPS;
    for (u64 row = (u64)blockIdx.x * WARPS + (unsigned)thread_number() / 32; row < task.rows; row += warps) {
        const unsigned end = task.row_starts[row + 1];
        T sum = T(0);
        for (unsigned at = task.row_starts[row] + lane; at < end; at += 32) {
            sum = plus_product(sum, numbers<T>(task.values)[at], numbers<T>(task.vector)[task.columns[at]]);
        }
        sum = sum_of_warp(sum);
        if (lane == 0) {
            reinterpret_cast<T *>(task.result)[row] = sum;
        }
    }
}

// A warp has a matrix, and as many of its lanes as there are columns, up to 32, have four rows.
template <class T> DEVICE void gemv(const BatchTask &task) {
    const int lane = thread_number() % 32;
    int width = 1;
    while (width < 32 && (unsigned)width < task.columns) {
        width *= 2;
    }
    const unsigned groups = 32u / (unsigned)width, group = (unsigned)(lane / width);
    const u64 warps = (u64)gridDim.x * WARPS;
    for (u64 matrix = (u64)blockIdx.x * WARPS + (unsigned)thread_number() / 32; matrix < task.batch; matrix += warps) {
        const T *values = numbers<T>(task.matrices) + matrix * task.rows * task.columns;
        const T *vector = numbers<T>(task.vectors) + matrix * task.columns;
        for (unsigned first = 0; first < task.rows; first += 4 * groups) {
            T sums[4] = {};
            for (unsigned column = (unsigned)(lane % width); column < task.columns; column += (unsigned)width) {
                const T factor = vector[column];
#pragma unroll
                for (unsigned k = 0; k < 4; k++) {
                    const unsigned row = first + k * groups + group;
                    sums[k] = row < task.rows ? plus_product(sums[k], values[(u64)row * task.columns + column], factor) : sums[k];
                }
            }
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                T sum = sums[k];
                for (int mask = width / 2; mask > 0; mask /= 2) {
                    sum = plus(sum, shuffle_xor(sum, mask));
                }
                const unsigned row = first + k * groups + group;
                if (lane % width == 0 && row < task.rows) {
                    reinterpret_cast<T *>(task.result)[matrix * task.rows + row] = sum;
                }
            }
        }
    }
}

// A thread has a result.
template <class T> DEVICE void stencil(const StencilTask &task) {
    Term *terms = reinterpret_cast<Term *>(shared_memory());
    for (int k = thread_number(); k < task.terms; k += THREADS) {
        terms[k] = {task.coefficients[k], task.offsets[k]};
    }
    block_barrier();
    const u64 threads = (u64)gridDim.x * THREADS;
    for (u64 place = (u64)blockIdx.x * THREADS + (unsigned)thread_number(); place < task.count; place += threads) {
        const T *at = numbers<T>(task.values) + task.first + place;
        T sum = T(0);
#pragma unroll 5
        for (int k = 0; k < task.terms; k++) {
            const T coefficient = *numbers<T>(&terms[k].coefficient);
            sum = plus_product(sum, coefficient, at[terms[k].offset]);
        }
        reinterpret_cast<T *>(task.result)[place] = sum;
    }
}

KERNEL(THREADS, 4) naive_sum(PARAMETERS Reduction task) { sum<double, false>(task); }
KERNEL(THREADS, 4) naive_magnitude_sum(PARAMETERS Reduction task) { sum<double, true>(task); }
KERNEL(THREADS, 4) naive_dot(PARAMETERS Reduction task) { dot<double>(task); }
KERNEL(THREADS, 4) naive_spmv(PARAMETERS SparseTask task) { spmv<double>(task); }
KERNEL(THREADS, 4) naive_gemv(PARAMETERS BatchTask task) { gemv<double>(task); }
KERNEL(THREADS, 4) naive_stencil(PARAMETERS StencilTask task) { stencil<double>(task); }
KERNEL(THREADS, 4) read_sum(PARAMETERS Reduction task) { sum<u64, false>(task); }
KERNEL(THREADS, 4) read_dot(PARAMETERS Reduction task) { dot<u64>(task); }
KERNEL(THREADS, 4) read_spmv(PARAMETERS SparseTask task) { spmv<u64>(task); }
KERNEL(THREADS, 4) read_gemv(PARAMETERS BatchTask task) { gemv<u64>(task); }
KERNEL(THREADS, 4) read_stencil(PARAMETERS StencilTask task) { stencil<u64>(task); }
