// Compares kernels of the template with the CPU's bits and, on a GPU, their time with cuFFT's.
//
//   bench DATA [POINTS [LENGTH ...]]
//
// DATA holds the files that ./data.py writes; POINTS (default 2^28) is the
// size of the batch that is timed, 0 for none. To build it on a machine with CUDA (sources of ./lengths.py in GEN):
//
//   ./lengths.py GEN 2 && ./data.py DATA path/to/ozfft LENGTH ...
//   nvcc -std=c++17 -O3 -arch=sm_90 -Xcompiler -include,host_pass.h -I. -I../cuda -o bench -x cu bench.cpp GEN/*.cu -lcufft
//
// and for the emulator, with a source of VARIANT lines:
//
//   g++ -std=c++17 -O1 -fwrapv -ffp-contract=off -U_FORTIFY_SOURCE -I. -I../cuda -o bench VARIANTS.cpp bench.cpp
//
// The same source runs under the emulator, where it only compares.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>
#ifdef __CUDACC__
#include <cuda_runtime.h>
#include <cufft.h>
#endif
#include "hopper/tuned_block.cuh"
#include "variant.h"

struct Number {
    double re, im;
};
struct Data {
    uint32_t n1, n2, lines, table_bytes;
    std::vector<unsigned char> tables;
    std::vector<Number> input, output;
};

static Data read_data(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "no file %s\n", path.c_str());
        std::exit(2);
    }
    Data data;
    file.read((char *)&data.n1, 16);
    data.tables.resize(data.table_bytes);
    data.input.resize((size_t)data.lines * data.n1 * data.n2);
    data.output.resize(data.input.size());
    file.read((char *)data.tables.data(), data.table_bytes);
    file.read((char *)data.input.data(), 16 * data.input.size());
    file.read((char *)data.output.data(), 16 * data.output.size());
    return data;
}

#ifdef __CUDACC__
static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(3);
}
static void *device_memory(size_t bytes) {
    void *place;
    check(cudaMalloc(&place, bytes), "memory");
    return place;
}
static void free_memory(void *place) { check(cudaFree(place), "free"); }
static void to_device(void *to, const void *from, size_t bytes) { check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy"); }
static void from_device(void *to, const void *from, size_t bytes) { check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy"); }
#else
static void *device_memory(size_t bytes) { return aligned_alloc(256, (bytes + 255) / 256 * 256); }
static void free_memory(void *place) { free(place); }
static void to_device(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
static void from_device(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
#endif

struct Launch {
    TunedArguments arguments;
    uint64_t blocks;
};

// `lines` lines: contiguous, or all side by side.
static Launch launch_of(const Variant &v, const void *input, void *output, const void *tables, void *left, int64_t lines) {
    Launch launch = {};
    TunedArguments &a = launch.arguments;
    a.input = (const uint4 *)input;
    a.output = (uint4 *)output;
    const int64_t n = (int64_t)v.n1 * v.n2;
    a.from = v.strided ? Places{lines, 1, 0} : Places{1, 0, n};
    a.to = a.from;
    a.lines = lines;
    a.fast_count = v.strided ? lines : 1;
    const int64_t panels = (lines + v.lines - 1) / v.lines;
    a.panels = (unsigned)panels;
    a.panels_a_group = v.strided ? (unsigned)panels : 1;
    a.tables = (const uint4 *)tables;
    a.left_count = (unsigned *)left;
    a.left = (i64 *)((char *)left + 16);
    a.factor = 1 << 17;
    a.second_factor = (1 << 20) - 1;
    launch.blocks = v.groups > 1 ? (uint64_t)(panels + v.groups - 1) / v.groups : (uint64_t)panels;
    return launch;
}

static std::vector<Number> transposed(const std::vector<Number> &from, size_t rows, size_t columns) {
    std::vector<Number> to(from.size());
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) to[c * rows + r] = from[r * columns + c];
    return to;
}

// Numbers that differ.
static size_t compare(const Variant &v, const Data &data, bool one_block) {
    const size_t n = (size_t)v.n1 * v.n2, bytes = 16 * data.input.size();
    void *tables = device_memory(data.table_bytes), *input = device_memory(bytes), *output = device_memory(bytes);
    void *left = device_memory(16 + 8 * data.lines);
    const std::vector<Number> numbers = v.strided ? transposed(data.input, data.lines, n) : data.input;
    std::vector<Number> results(data.output.size(), Number{-7, -7});
    const unsigned none[4] = {};
    to_device(left, none, 16);
    to_device(tables, data.tables.data(), data.table_bytes);
    to_device(input, numbers.data(), bytes);
    to_device(output, results.data(), bytes);
    const Launch launch = launch_of(v, input, output, tables, left, data.lines);
    v.launch(launch.arguments, one_block ? 1 : launch.blocks, v.threads, v.shared_bytes);
#ifdef __CUDACC__
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "run");
#endif
    from_device(results.data(), output, bytes);
    unsigned left_count;
    from_device(&left_count, left, 4);
    if (v.strided) results = transposed(results, n, data.lines);
    size_t different = left_count;
    for (size_t i = 0; i < results.size(); i++) different += std::memcmp(&results[i], &data.output[i], 16) != 0;
    if (different != 0 && std::getenv("BENCH_SHOW") != nullptr)
        for (size_t i = 0, shown = 0; i < results.size() && shown < 24; i++)
            if (std::memcmp(&results[i], &data.output[i], 16) != 0) {
                std::printf("  line %zu output %zu: %a %a, not %a %a\n", i / n, i % n, results[i].re, results[i].im, data.output[i].re, data.output[i].im);
                shown++;
            }
    for (void *place : {tables, input, output, left}) free_memory(place);
    return different;
}

#ifdef __CUDACC__
static __global__ void fill(double *numbers, uint64_t count) {
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (uint64_t)blockDim.x) {
        uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;
        x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ull;
        numbers[i] = (double)(int64_t)(x ^ x >> 29) * 0x1p-63;
    }
}

template <class Work> static double milliseconds(const Work &work) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> times;
    for (int i = 0; i < 9; i++) {
        cudaEventRecord(begin);
        work();
        cudaEventRecord(end);
        check(cudaEventSynchronize(end), "time");
        float time;
        cudaEventElapsedTime(&time, begin, end);
        if (i > 1) times.push_back(time);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static double cufft_milliseconds(int n, int64_t lines, bool strided, void *input, void *output) {
    cufftHandle plan;
    long long size[1] = {n};
    size_t work;
    if (cufftCreate(&plan) != CUFFT_SUCCESS) return -1;
    const long long stride = strided ? lines : 1, distance = strided ? 1 : n;
    if (cufftMakePlanMany64(plan, 1, size, size, stride, distance, size, stride, distance, CUFFT_Z2Z, lines, &work) != CUFFT_SUCCESS) return -1;
    const double time = milliseconds([&] { cufftExecZ2Z(plan, (cufftDoubleComplex *)input, (cufftDoubleComplex *)output, CUFFT_FORWARD); });
    cufftDestroy(plan);
    return time;
}
#endif

int main(int argc, char **argv) {
    const std::string folder = argc > 1 ? argv[1] : ".";
    const double points = argc > 2 ? std::atof(argv[2]) : 0x1p28;
    std::vector<int> lengths;
    for (int i = 3; i < argc; i++) lengths.push_back(std::atoi(argv[i]));
    std::stable_sort(variants().begin(), variants().end(), [](const Variant &a, const Variant &b) { return a.n1 * a.n2 < b.n1 * b.n2; });
    bool all_equal = true;
#ifdef __CUDACC__
    const int64_t most = (int64_t)points;
    void *input = nullptr, *output = nullptr, *left = nullptr;
    if (most > 0) {
        input = device_memory(16 * most);
        output = device_memory(16 * most);
        left = device_memory(16 + most);
        check(cudaMemset(left, 0, 16), "left");
        fill<<<4096, 256>>>((double *)input, 2 * most);
        check(cudaDeviceSynchronize(), "fill");
    }
    double native[2] = {0, 0};
    int native_of = 0;
    std::printf("%6s %8s %-10s %3s %3s %3s %3s %5s %4s %5s %6s %5s %10s %9s %9s %6s\n", "length", "steps", "kind", "L", "u1", "u2", "G", "warps", "regs", "spill", "shared", "block", "different", "ms", "cufft ms", "ratio");
#endif
    for (const Variant &v : variants()) {
        const int n = v.n1 * v.n2;
        if (!lengths.empty() && std::find(lengths.begin(), lengths.end(), n) == lengths.end()) continue;
        const Data data = read_data(folder + "/" + std::to_string(n) + ".bin");
        if ((int)data.n1 != v.n1 || (int)data.n2 != v.n2 || (int)data.table_bytes != v.table_bytes) {
            std::fprintf(stderr, "%d: data of %u x %u with %u bytes of tables, not %d\n", n, data.n1, data.n2, data.table_bytes, v.table_bytes);
            return 2;
        }
#ifdef __CUDACC__
        check(cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, v.shared_bytes), "shared memory");
#endif
        // With a block for every panel, and with one block for all.
        const size_t different = compare(v, data, false) + compare(v, data, true);
        all_equal = all_equal && different == 0;
        const char *kind = v.strided ? v.conversions ? "strided" : "strided i" : v.conversions ? "contiguous" : "contig. i";
#ifdef __CUDACC__
        double time = 0;
        cudaFuncAttributes attributes;
        check(cudaFuncGetAttributes(&attributes, v.kernel), "attributes");
        int blocks_a_processor = 0;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_a_processor, v.kernel, v.threads, v.shared_bytes), "occupancy");
        if (most > 0) {
            const int64_t lines = most / n;
            if (native_of != n) {
                native_of = n;
                for (int strided = 0; strided < 2; strided++) native[strided] = cufft_milliseconds(n, lines, strided, input, output);
            }
            void *tables = device_memory(data.table_bytes);
            to_device(tables, data.tables.data(), data.table_bytes);
            Launch launch = launch_of(v, input, output, tables, left, lines);
            // Where tables are in shared memory, as many blocks as run at once, each with many panels.
            if (v.groups > 0 || std::getenv("BENCH_PERSISTENT") != nullptr) launch.blocks = std::min<uint64_t>(launch.blocks, 132u * blocks_a_processor);
            time = milliseconds([&] { v.launch(launch.arguments, launch.blocks, v.threads, v.shared_bytes); });
            check(cudaGetLastError(), "launch");
            free_memory(tables);
        }
        std::printf("%6d %4dx%-3d %-10s %3d %3d %3d %3d %5d %4d %5d %6d %5d %10zu %9.3f %9.3f %6.2f\n", n, v.n1, v.n2, kind, v.lines, v.units1, v.units2, v.groups, v.warps, attributes.numRegs,
                    (int)attributes.localSizeBytes, v.shared_bytes, blocks_a_processor, different, time, native[v.strided], time / native[v.strided]);
        std::fflush(stdout);
#else
        std::printf("%6d %4dx%-3d %-10s L %d u %d %d: %zu different\n", n, v.n1, v.n2, kind, v.lines, v.units1, v.units2, different);
#endif
    }
    std::printf(all_equal ? "all bits equal\n" : "BITS DIFFER\n");
    return all_equal ? 0 : 1;
}
