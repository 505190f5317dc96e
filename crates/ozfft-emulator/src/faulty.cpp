// A kernel that uses everything that is emulated once, and does one thing wrong if it is asked to: a test of the emulator.
#include "launch.h"
#include "arch/async_copy.cuh"
#include "arch/bulk_copy.cuh"
#include "arch/mma_sync_f16.cuh"
#include "arch/wgmma_fp8.cuh"

// As tests/faults.rs has them.
enum Fault {
    NONE,
    NO_COPY_WAIT,
    NO_BARRIER,
    NO_FENCE,
    NO_PRODUCT_WAIT,
    OTHER_MATRIX_OF_A_LANE,
    OTHER_MATRIX_OF_A_WARP,
    BARRIER_MISSED,
    OUTSIDE,
    NOT_ANNOUNCED,
    NO_TRANSFER_WAIT,
    NO_STORE_WAIT,
    OVERWRITTEN_BEFORE_STORE,
    FP8_SUM_TOO_LARGE,
    FP8_MATRIX_WITHOUT_DIGITS,
    F16_SUM_TOO_LARGE,
    F16_MATRIX_WITHOUT_DIGITS,
    WAIT_WITHOUT_SUMS,
};

struct FaultyTask {
    TensorMap from, to;
    const unsigned char *matrix;  // 32 columns × 32 bytes, as products want it
    int *sums;                    // 16 of every thread
    uint64_t fault;
};

// Data of 15 · 2^-9 with a matrix of 15, which may be overwritten: three products exceed what is exact. Whether two have
// another sum than they should.
DEVICE bool multiplied_in_fp8(uint32_t matrix, uint64_t fault) {
    const int thread = thread_number();
    block_barrier();
    const unsigned fifteens = fault == FP8_MATRIX_WITHOUT_DIGITS ? 0x60606060u : 0x57575757u;
    if (thread < 64) store_shared(matrix + 16 * thread, make_uint4(fifteens, fifteens, fifteens, fifteens));
    block_barrier();
    const unsigned a[4] = {0x0f0f0f0fu, 0x0f0f0f0fu, 0x0f0f0f0fu, 0x0f0f0f0fu};
    float sums[16] = {};
    wgmma_fence();
    for (int product = 0; product < (fault == FP8_SUM_TOO_LARGE ? 3 : 2); product++) wgmma_e4m3_more<32>(sums, a, wgmma_matrix(matrix));
    wgmma_commit();
    wgmma_wait(sums);
    return sums[15] != 2 * 32 * 15 * 15 / 512.0f;
}

// Data of 255 · 2^-24 with a matrix of -128, eight times: nine sums leave the range. Whether eight have another sum than they should.
DEVICE bool multiplied_in_f16(uint64_t fault) {
    const unsigned digits = fault == F16_MATRIX_WITHOUT_DIGITS ? 0x38003800u : 0xd800d800u;
    const unsigned a[4] = {0x00ff00ffu, 0x00ff00ffu, 0x00ff00ffu, 0x00ff00ffu}, b[2] = {digits, digits};
    int sums[4];
    for (int product = 0; product < (fault == F16_SUM_TOO_LARGE ? 9 : 8); product++) mma_sync_f16(sums, 0, a, b, product == 0);
    return sums[3] != F16_START - 8 * 16 * 255 * 128;
}

// A warpgroup multiplies a matrix with rows of which byte k of row r is r + k, and copies a box of numbers.
KERNEL(128, 1) faulty(PARAMETERS FaultyTask task) {
    const uint32_t matrix = shared_address(shared_memory()), box = matrix + 1024, barrier = box + 1024;
    const int thread = thread_number(), warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
    if (thread == 0) {
        transfer_barrier_create(barrier);
        transfer_barriers_created();
    }
    if (thread < 64) {
        copy_async(matrix + 16 * thread, task.matrix + 16 * thread, true);
        copy_commit();
        if (task.fault != NO_COPY_WAIT) copy_wait();
    }
    if (task.fault != NO_BARRIER && !(task.fault == BARRIER_MISSED && thread == 77)) block_barrier();
    unsigned a[4];
    for (unsigned i = 0; i < 4; i++) {
        const unsigned first = 16 * warp + g + i % 2 * 8 + i / 2 * 16 + 4 * t;
        a[i] = first * 0x01010101u + 0x03020100u;
    }
    int sums[16] = {};
    const bool other = (task.fault == OTHER_MATRIX_OF_A_LANE && thread == 5) || (task.fault == OTHER_MATRIX_OF_A_WARP && warp == 2);
    if (task.fault != NO_FENCE) wgmma_fence();
    wgmma_u8_n32_first(sums, a, wgmma_matrix(other ? box : matrix));
    wgmma_commit();
    if (task.fault == WAIT_WITHOUT_SUMS)
        wgmma_wait(a);
    else if (task.fault != NO_PRODUCT_WAIT)
        wgmma_wait(sums);
    for (int i = 0; i < 16; i++) task.sums[16 * thread + i] = sums[i];
    if (task.fault != NO_PRODUCT_WAIT) task.sums[16 * thread] += multiplied_in_fp8(matrix, task.fault) || multiplied_in_f16(task.fault);
    if (task.fault == OUTSIDE) load_shared(barrier + 16);
    if (thread == 0) {
        if (task.fault != NOT_ANNOUNCED) transfer_expect(barrier, 1024);
        tensor_load(box, &task.from, -2, 0, barrier);
    }
    if (task.fault != NO_TRANSFER_WAIT) transfer_wait(barrier, 0);
    block_barrier();
    if (thread == 0) {
        tensor_store(&task.to, -2, 0, box);
        stores_commit();
        if (task.fault != OVERWRITTEN_BEFORE_STORE) stores_have_read();
        store_shared(box + 592, make_uint4(1, 2, 3, 4));
        if (task.fault != NO_STORE_WAIT) stores_complete();
    }
}

extern "C" bool ozfft_emulate_faulty(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {NAMED_KERNEL(FaultyTask, faulty)};
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
