// kulisch_warp.cuh under the emulator of the kernels: reads cases from standard input (count, blocks, whether there is a second vector, numbers)
// and writes the bits of three results of each: all blocks, and twice the warps of one block.
#include "kulisch_warp.cuh"
#include <cstdio>
#include <vector>

using namespace kulisch;

// One by one, by the warps of a block, the first of which merges the others; twice, as a sum is empty once it was rounded.
static void one_by_one(const double *x, const double *y, u64 count, double *results) {
    const int own = thread_number() / 32;
    for (int time = 0; time < 2; time++) {
        WarpSum sum(shared_memory() + own * WARP_SUM_BYTES);
        for (u64 first = 32 * own; first < count; first += GRID_THREADS) {
            const u64 at = first + lane_number();
            const bool has = at < count;
            if (y == nullptr) {
                sum.add(has ? x[at] : 0.0, has);
            } else {
                sum.add_product(has ? x[at] : 0.0, has ? y[at] : 0.0, has);
            }
        }
        sum.publish();
        block_barrier();
        if (own == 0) {
            for (int other = 1; other < GRID_WARPS; other++) {
                sum.merge(shared_memory() + other * WARP_SUM_BYTES);
            }
            const double rounded = sum.round();
            if (lane_number() == 0) {
                results[time] = rounded;
            }
        }
        block_barrier();
    }
}

template <class T> static bool read(T *numbers, size_t count) { return std::fread(numbers, sizeof(T), count, stdin) == count; }

int main() {
    GridTotal total{};
    uint64_t head[3];
    while (read(head, 3)) {
        std::vector<double> x(head[0]), y(head[2] != 0 ? head[0] : 0);
        if (!read(x.data(), x.size()) || !read(y.data(), y.size())) {
            return 1;
        }
        const double *second = head[2] != 0 ? y.data() : nullptr;
        double results[3];
        emulator::launch(head[1], GRID_THREADS, GRID_SHARED_BYTES, [&] { sum_of_grid(shared_memory(), x.data(), second, x.size(), results, &total); });
        emulator::launch(1, GRID_THREADS, GRID_SHARED_BYTES, [&] { one_by_one(x.data(), second, x.size(), results + 1); });
        for (const int limb : total.limbs) {
            if (limb != 0 || total.found != 0 || total.done != 0) {
                std::fprintf(stderr, "a launch did not leave its total empty\n");
                return 1;
            }
        }
        if (std::fwrite(results, sizeof(double), 3, stdout) != 3) {
            return 1;
        }
    }
    return 0;
}
