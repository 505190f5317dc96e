// A number-theoretic transform on the tensor units, beside the passes of ntt_passes.cuh: the same residues, and the time of both on a GPU. A measurement
// (docs/convolution.md, "On matrix units"), not for use.
//
//   matrix_ntt [NUMBERS]          NUMBERS (default 2^26) is what is timed, 0 for nothing
//
// To build it, with the compiler of ../toolchain or any other, for an NVIDIA GPU; and for the emulator, where it only compares:
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Xcompiler -include,host_pass.h -I../cuda -o matrix_ntt matrix_ntt.cu
//   g++ -std=c++17 -O1 -fwrapv -U_FORTIFY_SOURCE -Wno-unknown-pragmas -I../cuda -o matrix_ntt -x c++ matrix_ntt.cu
//
// A pass takes eight levels of the tree of remainders through memory once, as that of vectors does, in two steps of 16 points over rows of 16 numbers. A step splits a node
// modulo y^h - s into 16: with r^16 = s and the 16th roots of unity z_i the remainders of rows a_q, a_(q + h/16), … are the sums of z_i^j·(r^j·a_j) over j. One matrix serves all
// nodes, and the factors r^j are multiplied in by the step before.
//
// A residue is a signed word of four balanced bytes, which are operands of mma.sync as they lie in memory. The matrix has the digits of z_i^j·2^(8t) for digit t of the data, so
// that there are four sums of at most 64·2^14 for an output: S0 + 2^8·S1 + 2^16·S2 + 2^24·S3. Its rows are in such an order that all four are in one thread. S0 + 2^8·S1 and
// S2 + 2^8·S3 are below 2^30, their factors (r^j and 2^16·r^j, times 2^32, nearest to zero) below 2^29: what Montgomery's reduction leaves is below 2^30, and so is a
// signed word again.
#include "arch/mma_sync.cuh"
#include "ntt/ntt_passes.cuh"
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace ntt;
using i64 = int64_t;

constexpr int POINTS = 16, ROWS = POINTS * POINTS, PASS_LEVELS = 8, WARPS = THREADS / 32;
// What is neighbouring: 8 numbers of a row are the columns of a product.
constexpr int COLUMNS = 8, ROUNDS = POINTS * (LANES / COLUMNS) / WARPS;
static_assert(ROUNDS == 4 && ROWS == 1 << PASS_LEVELS, "places in shared memory are made for these");
constexpr u32 BIAS = 0x80808080u;
constexpr size_t SHARED_BYTES = sizeof(u32) * ROWS * LANES;

// Of r^j times 2^32, and that times 2^16.
struct alignas(8) FactorPair {
    int low, high;
};

struct MatrixTask {
    u32 *residues;
    // Tile by tile of 16 × 32 bytes, four words for every lane.
    const uint4 *matrix;
    // Between the steps: by node, place among the rows that the second step takes together, and output of the first.
    const FactorPair *between;
    // For the next pass: by place among the rows that its first step takes together, and node; none after the last.
    const FactorPair *after;
    // The first level of the pass.
    int level;
    // Tiles of all transforms, and blocks that share them.
    u32 tiles, blocks;
    u32 prime;
    int inverse;
    FactorPair one;
};

DEVICE u32 digits(u32 word) { return (word + BIAS) ^ BIAS; }

// A step of 16 points for eight columns: `data` has points t, t + 4, t + 8 and t + 12 of column g, and results are outputs g and g + 8 of columns 2t and 2t + 1.
struct Step {
    uint32_t matrix[4][2][4];
    u32 prime;
    int inverse;

    DEVICE Step(const MatrixTask &task, int lane) : prime(task.prime), inverse(task.inverse) {
#pragma unroll
        for (int tile = 0; tile < 4; tile++) {
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const uint4 four = task.matrix[(tile * 2 + k) * 32 + lane];
                matrix[tile][k][0] = four.x;
                matrix[tile][k][1] = four.y;
                matrix[tile][k][2] = four.z;
                matrix[tile][k][3] = four.w;
            }
        }
    }

    // Signed words below 2^30.
    DEVICE int reduced(const int (&low)[4], const int (&high)[4], int column, FactorPair factor) const {
        const int lower = low[column] + (low[column + 2] << 8), upper = high[column] + (high[column + 2] << 8);
        const i64 sum = (i64)lower * factor.low + (i64)upper * factor.high;
        const int multiple = (int)((u32)sum * (u32)inverse);
        return (int)(sum >> 32) - (int)((i64)multiple * (int)prime >> 32);
    }

    // By output g or g + 8 and column.
    DEVICE void multiply(const u32 (&data)[4], const FactorPair (&factors)[2], int (&results)[2][2]) const {
        const uint32_t first[2] = {data[0], data[1]}, second[2] = {data[2], data[3]};
#pragma unroll
        for (int upper = 0; upper < 2; upper++) {
            int low[4], high[4];
            mma_sync_s8_first(low, matrix[2 * upper][0], first);
            mma_sync_s8(low, matrix[2 * upper][1], second);
            mma_sync_s8_first(high, matrix[2 * upper + 1][0], first);
            mma_sync_s8(high, matrix[2 * upper + 1][1], second);
#pragma unroll
            for (int column = 0; column < 2; column++) results[upper][column] = reduced(low, high, column, factors[upper]);
        }
    }
};

// Eight numbers of a row lie together in shared memory: 32 words have four of such groups, of two rows. Which of them is which depends on the rows, so that four rows that
// follow each other, and four that are 16 apart, are in different banks: group `2·(row % 2) + half`, but for bits of `row / 2 % 2` and `row / 16 % 4`.
//
// The first pass reads residues below 2^31, all others what a pass before has left; the last one leaves residues below 4p. Rows of a transform are 2^STRIDE apart.
template <bool FIRST, bool LAST, int STRIDE> DEVICE void matrix_pass(const MatrixTask &task) {
    u32 *const shared = reinterpret_cast<u32 *>(shared_memory());
    const int thread = thread_number(), lane = thread % 32, warp = thread / 32, g = lane / 4, t = lane % 4;
    // A warp has one half of the rows, and four neighbouring places of each step.
    const u32 half = (u32)warp % 2, four = (u32)warp / 2 * ROUNDS;
    const Step step(task, lane);
    constexpr u32 ROW = (u32)LANES << STRIDE;
    for (u32 tile = blockIdx.x; tile < task.tiles; tile += task.blocks) {
        const u32 node = tile >> STRIDE, own = node & ((1u << task.level) - 1), within = tile & ((1u << STRIDE) - 1);
        u32 *const tile_start = task.residues + (u64)(((node << (PASS_LEVELS + STRIDE)) + within) * LANES + half * COLUMNS);
        {
            const u32 *const from = tile_start + ((u32)t * POINTS + four) * ROW + (u32)g;
            const FactorPair *const factors = task.between + ((own * POINTS + four) * POINTS + (u32)g);
            u32 data[ROUNDS][4];
#pragma unroll
            for (int round = 0; round < ROUNDS; round++) {
#pragma unroll
                for (int i = 0; i < 4; i++) data[round][i] = from[(u32)(4 * i * POINTS + round) * ROW];
            }
            const u32 to = ((u32)g * 8 + four / 2) * 32 + 2 * (u32)t, group = half ^ ((u32)g & 3);
#pragma unroll
            for (int round = 0; round < ROUNDS; round++) {
                if (FIRST) {
#pragma unroll
                    for (int i = 0; i < 4; i++) data[round][i] = digits(data[round][i]);
                }
                int results[2][2];
                step.multiply(data[round], {factors[round * POINTS], factors[round * POINTS + 8]}, results);
                const u32 place = to + (group ^ (round % 2 << 1 | round / 2)) * COLUMNS + round / 2 * 32;
#pragma unroll
                for (int upper = 0; upper < 2; upper++) {
                    *reinterpret_cast<uint2 *>(shared + place + upper * 8 * 8 * 32) =
                        make_uint2(digits((u32)results[upper][0]), digits((u32)results[upper][1]));
                }
            }
        }
        block_barrier();
        {
            uint2 *const to = reinterpret_cast<uint2 *>(tile_start + (four * POINTS + (u32)g) * ROW + 2 * (u32)t);
            // The place among the rows of the next pass's first step.
            const FactorPair *const factors =
                LAST ? nullptr : task.after + ((within >> (STRIDE - 4)) << (task.level + PASS_LEVELS)) + (own << PASS_LEVELS) + four * POINTS + (u32)g;
            const u32 from = (four * 8 + (u32)t / 2) * 32 + (u32)g, group = (((u32)t & 1) << 1 | half) ^ (u32)t / 2;
#pragma unroll
            for (int round = 0; round < ROUNDS; round++) {
                const u32 place = from + (group ^ (u32)round) * COLUMNS + (u32)round * 8 * 32;
                u32 data[4];
#pragma unroll
                for (int i = 0; i < 4; i++) data[i] = shared[place + (u32)i * 2 * 32];
                int results[2][2];
                step.multiply(data, {LAST ? task.one : factors[round * POINTS], LAST ? task.one : factors[round * POINTS + 8]}, results);
#pragma unroll
                for (int upper = 0; upper < 2; upper++) {
                    u32 words[2];
#pragma unroll
                    for (int column = 0; column < 2; column++) {
                        const u32 word = (u32)results[upper][column];
                        words[column] = LAST ? word + 2 * task.prime : digits(word);
                    }
                    to[(u32)(round * POINTS + 8 * upper) * (ROW / 2)] = make_uint2(words[0], words[1]);
                }
            }
        }
        block_barrier();
    }
}

// Of which a multiprocessor is to have registers for so many blocks.
#define KERNELS(blocks)                                                                                                            \
    KERNEL(THREADS, blocks) matrix_only_##blocks(PARAMETERS MatrixTask task) { matrix_pass<true, true, 0>(task); }                 \
    KERNEL(THREADS, blocks) matrix_opening_##blocks(PARAMETERS MatrixTask task) { matrix_pass<true, false, PASS_LEVELS>(task); }   \
    KERNEL(THREADS, blocks) matrix_closing_##blocks(PARAMETERS MatrixTask task) { matrix_pass<false, true, 0>(task); }
KERNELS(2)
KERNELS(3)
struct Kernels {
    void (*only)(MatrixTask), (*opening)(MatrixTask), (*closing)(MatrixTask);
};
constexpr int VARIANTS = 2;
static const Kernels VARIANT[VARIANTS] = {{matrix_only_2, matrix_opening_2, matrix_closing_2}, {matrix_only_3, matrix_opening_3, matrix_closing_3}};

struct VectorTask {
    u32 *residues;
    const Factor *roots;
    int levels, level;
    u32 prime;
};
KERNEL(THREADS, 2) vector_pass(PARAMETERS VectorTask task) {
    forward_pass(Part<PASS_LEVELS, true>(blockIdx.x, task.levels, task.level, task.residues, task.roots, task.prime));
}

// Everything below runs on the host.

constexpr u64 PRIME = 998244353, GENERATOR = 3;
static_assert(PRIME > 1 << 29 && PRIME < 1 << 30, "what is said of ranges above");

static u64 power(u64 base, u64 exponent) {
    u64 result = 1;
    for (base %= PRIME; exponent; exponent >>= 1, base = base * base % PRIME) {
        if (exponent & 1) result = result * base % PRIME;
    }
    return result;
}
static u32 inverse_of_prime() {
    u32 inverse = 1;
    for (int i = 0; i < 5; i++) inverse *= 2 - (u32)PRIME * inverse;
    return inverse;
}
static int centred(u64 number) { return (int)(2 * number > PRIME ? (i64)number - (i64)PRIME : (i64)number); }

// Entry k of the table of roots: bit i of k multiplies by a root of unity of order 2^(i + 2).
static u64 root_entry(u32 k) {
    u64 root = 1;
    for (int i = 0; k >> i; i++) {
        if (k >> i & 1) root = root * power(GENERATOR, (PRIME - 1) >> (i + 2)) % PRIME;
    }
    return root;
}
// What a leaf of the tree is modulo: y less this.
static u64 leaf(u32 k) { return k % 2 == 0 ? root_entry(k / 2) : PRIME - root_entry(k / 2); }
static FactorPair pair_of(u64 factor) {
    const u64 low = (factor << 32) % PRIME;
    return {centred(low), centred((low << 16) % PRIME)};
}

// For lane 4g + t of a tile: words of rows g and g + 8 at points t, then at points t + 4. Rows of two tiles are digits 0, 1 and 2, 3 of eight outputs.
static std::vector<uint32_t> matrix_words() {
    std::vector<uint32_t> words;
    for (int tile = 0; tile < 4; tile++) {
        for (int k = 0; k < 2; k++) {
            for (int lane = 0; lane < 32; lane++) {
                const int g = lane / 4, t = lane % 4;
                for (int part = 0; part < 4; part++) {
                    const int digit = 2 * (tile % 2) + part % 2, point = 8 * k + 4 * (part / 2) + t;
                    const u64 entry = power(leaf((u32)(8 * (tile / 2) + g)), (u64)point);
                    uint32_t word = 0;
                    for (int byte = 0; byte < 4; byte++) {
                        const u32 number = (u32)centred((entry << (8 * byte)) % PRIME);
                        word |= (((number + BIAS) ^ BIAS) >> (8 * digit) & 0xff) << (8 * byte);
                    }
                    words.push_back(word);
                }
            }
        }
    }
    return words;
}

// r^j for all nodes of a level, r being the number whose 16th power a node is modulo.
static std::vector<std::vector<u64>> powers_of_nodes(int level) {
    std::vector<std::vector<u64>> all((size_t)1 << level, std::vector<u64>(POINTS, 1));
    for (u32 node = 0; node < all.size(); node++) {
        const u64 root = leaf(node * POINTS);
        for (int j = 1; j < POINTS; j++) all[node][j] = all[node][j - 1] * root % PRIME;
    }
    return all;
}
static std::vector<FactorPair> factors_between(int level) {
    const auto powers = powers_of_nodes(level + 4);
    std::vector<FactorPair> factors;
    for (u32 node = 0; node < 1u << level; node++) {
        for (int q = 0; q < POINTS; q++) {
            for (u32 output = 0; output < POINTS; output++) factors.push_back(pair_of(powers[node * POINTS + output][q]));
        }
    }
    return factors;
}
static std::vector<FactorPair> factors_after(int level) {
    const auto powers = powers_of_nodes(level);
    std::vector<FactorPair> factors;
    for (int j = 0; j < POINTS; j++) {
        for (const auto &node : powers) factors.push_back(pair_of(node[j]));
    }
    return factors;
}
static std::vector<Factor> roots_of(int levels) {
    std::vector<Factor> roots;
    for (u32 k = 0; k < 1u << (levels - 1); k++) {
        const u32 scaled = (u32)((root_entry(k) << 32) % PRIME);
        roots.push_back({scaled, scaled * inverse_of_prime()});
    }
    return roots;
}

#ifdef __CUDACC__
static void must(cudaError_t outcome) {
    if (outcome != cudaSuccess) {
        std::fprintf(stderr, "matrix_ntt: %s\n", cudaGetErrorString(outcome));
        std::exit(2);
    }
}
template <class T> static T *uploaded(const std::vector<T> &values, size_t repeats = 1) {
    T *place = nullptr;
    must(cudaMalloc(&place, repeats * values.size() * sizeof(T)));
    for (size_t k = 0; k < repeats; k++) must(cudaMemcpy(place + k * values.size(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return place;
}
template <class T> static void download(std::vector<T> &values, const T *from) { must(cudaMemcpy(values.data(), from, values.size() * sizeof(T), cudaMemcpyDeviceToHost)); }
template <class Task> static void launch(void (*kernel)(Task), const Task &task, u32 blocks, size_t shared) { kernel<<<blocks, THREADS, shared>>>(task); }
static u32 blocks_at_once(const Kernels &kernels) {
    int device = 0, processors = 0, each = 0;
    must(cudaGetDevice(&device));
    must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernels.opening, THREADS, SHARED_BYTES));
    return (u32)(processors * each);
}
#else
template <class T> static T *uploaded(const std::vector<T> &values, size_t repeats = 1) {
    // Never given back: the program ends soon.
    auto *copy = new std::vector<T>;
    for (size_t k = 0; k < repeats; k++) copy->insert(copy->end(), values.begin(), values.end());
    return copy->data();
}
template <class T> static void download(std::vector<T> &values, const T *from) { values.assign(from, from + values.size()); }
template <class Task> static void launch(void (*kernel)(Task), const Task &task, u32 blocks, size_t shared) {
    emulator::launch(blocks, THREADS, shared, [&] { kernel(task); });
}
static u32 blocks_at_once(const Kernels &) { return 3; }
#endif

// Transforms of 2^8 or 2^16 rows, some of them, by both.
struct Both {
    int levels;
    u32 members, tiles;
    VectorTask vectors;
    MatrixTask opening, closing;

    Both(int levels, u32 members) : levels(levels), members(members), tiles(members << (levels - PASS_LEVELS)) {
        vectors = {nullptr, uploaded(roots_of(levels)), levels, 0, (u32)PRIME};
        const uint4 *const matrix = reinterpret_cast<const uint4 *>(uploaded(matrix_words()));
        const bool two = levels > PASS_LEVELS;
        opening = {nullptr, matrix, uploaded(factors_between(0)), two ? uploaded(factors_after(PASS_LEVELS)) : nullptr, 0, tiles, 0, (u32)PRIME,
                   (int)inverse_of_prime(), pair_of(1)};
        closing = opening;
        closing.level = PASS_LEVELS;
        if (two) closing.between = uploaded(factors_between(PASS_LEVELS));
    }
    void by_vectors(u32 *residues) {
        vectors.residues = residues;
        for (vectors.level = 0; vectors.level < levels; vectors.level += PASS_LEVELS) launch(vector_pass, vectors, tiles, SHARED_BYTES);
    }
    void by_matrices(u32 *residues, const Kernels &kernels) {
        opening.residues = closing.residues = residues;
        const u32 blocks = opening.blocks = closing.blocks = blocks_at_once(kernels);
        if (levels == PASS_LEVELS) return launch(kernels.only, opening, blocks, SHARED_BYTES);
        launch(kernels.opening, opening, blocks, SHARED_BYTES);
        launch(kernels.closing, closing, blocks, SHARED_BYTES);
    }
};

// Extremes among them.
static std::vector<u32> random_residues(size_t count, u64 seed) {
    std::vector<u32> residues(count);
    for (u32 &residue : residues) {
        seed += 0x9e3779b97f4a7c15u;
        u64 z = seed;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        residue = z % 8 == 0 ? (u32)PRIME - 1 : z % 8 == 1 ? 0 : (u32)((z >> 3) % PRIME);
    }
    return residues;
}

// All residues of both, and some by the definition.
static bool compare(int levels, u32 members, int variant) {
    const u64 seed = 20261118 + (u64)levels;
    Both both(levels, members);
    const size_t rows = (size_t)1 << levels;
    const std::vector<u32> input = random_residues(members * rows * LANES, seed);
    std::vector<u32> vectors(input.size()), matrices(input.size());
    u32 *const first = uploaded(input), *const second = uploaded(input);
    both.by_vectors(first);
    both.by_matrices(second, VARIANT[variant]);
    download(vectors, first);
    download(matrices, second);
    size_t differing = 0, wrong = 0, checked = 0;
    for (size_t k = 0; k < input.size(); k++) differing += vectors[k] % PRIME != matrices[k] % PRIME || matrices[k] >= 4 * PRIME;
    for (u32 member : {0u, members - 1}) {
        for (u32 row = 0; row < rows; row += (u32)rows / 64 + 1) {
            const u64 root = leaf(row);
            const size_t lane = row % LANES, start = member * rows;
            u64 sum = 0;
            for (size_t k = rows; k-- > 0;) sum = (sum * root + input[(start + k) * LANES + lane]) % PRIME;
            wrong += sum != matrices[(start + row) * LANES + lane] % PRIME;
            checked++;
        }
    }
    std::printf("variant %d, %u transforms of 2^%d rows of %d, seed %llu: %zu of %zu residues differ, %zu of %zu are not the definition's\n", variant, members, levels,
                LANES, (unsigned long long)seed, differing, input.size(), wrong, checked);
    return differing == 0 && wrong == 0;
}

#ifdef __CUDACC__
// Least milliseconds of one call among several turns.
template <class Work> static void turn(float &least, Work work) {
    cudaEvent_t start, end;
    must(cudaEventCreate(&start));
    must(cudaEventCreate(&end));
    must(cudaEventRecord(start));
    for (int k = 0; k < 5; k++) work();
    must(cudaEventRecord(end));
    must(cudaEventSynchronize(end));
    must(cudaGetLastError());
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, start, end));
    if (milliseconds / 5 < least) least = milliseconds / 5;
    must(cudaEventDestroy(start));
    must(cudaEventDestroy(end));
}

static void measure(int levels, size_t numbers) {
    const u32 members = (u32)(numbers / LANES >> levels);
    if (members == 0) return;
    Both both(levels, members);
    u32 *const residues = uploaded(random_residues((size_t)LANES << levels, 1), members), *const copy = uploaded(random_residues((size_t)LANES << levels, 1), members);
    const size_t bytes = (size_t)members * LANES * sizeof(u32) << levels;
    float vectors = 1e9f, copied = 1e9f, matrices[VARIANTS] = {1e9f, 1e9f};
    // Times do not depend on the numbers, which are whatever the call before has left.
    for (int round = 0; round < 20; round++) {
        turn(vectors, [&] { both.by_vectors(residues); });
        for (int variant = 0; variant < VARIANTS; variant++) turn(matrices[variant], [&] { both.by_matrices(residues, VARIANT[variant]); });
        turn(copied, [&] { must(cudaMemcpyAsync(copy, residues, bytes, cudaMemcpyDeviceToDevice)); });
    }
    const int passes = levels / PASS_LEVELS;
    const double each = 1e9 / ((double)(bytes / sizeof(u32)) * passes);
    std::printf("%u transforms of 2^%d rows (%zu MB), picoseconds for a residue and eight levels: vectors %.3f, matrices %.3f and %.3f (%.2f and %.2f of vectors'), a copy %.3f\n",
                members, levels, bytes >> 20, vectors * each, matrices[0] * each, matrices[1] * each, matrices[0] / vectors, matrices[1] / vectors, copied * each * passes);
    must(cudaFree(residues));
    must(cudaFree(copy));
}
#endif

int main(int count, char **arguments) {
    const size_t numbers = count > 1 ? std::strtoull(arguments[1], nullptr, 0) : (size_t)1 << 26;
    for (int variant = 0; variant < VARIANTS; variant++) {
        if (!compare(PASS_LEVELS, 37, variant) || !compare(2 * PASS_LEVELS, 2, variant)) return 1;
#ifndef __CUDACC__
        // Variants differ in registers, which an emulator does not have.
        break;
#endif
    }
#ifdef __CUDACC__
    for (const Kernels &kernels : VARIANT) {
        cudaFuncAttributes attributes;
        must(cudaFuncGetAttributes(&attributes, kernels.opening));
        std::printf("a pass of matrices has %d registers, %zu bytes of local memory, %u blocks at once\n", attributes.numRegs, attributes.localSizeBytes, blocks_at_once(kernels));
    }
    // What the second-level cache holds, and what it does not.
    for (size_t some : {numbers >> 4, numbers}) {
        for (int levels : {PASS_LEVELS, 2 * PASS_LEVELS}) measure(levels, some);
    }
#else
    (void)numbers;
#endif
    return 0;
}
