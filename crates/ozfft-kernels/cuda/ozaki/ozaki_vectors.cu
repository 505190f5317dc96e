// target: fatbin
// tuned
// Rows of a matrix, small matrices or a sparse one, times vectors, by residues: the numbers of a row become residues on their way from
// memory, those of vectors beforehand.
//
// A warp takes 32 rows, some lanes a row, and a lane four entries at a time, which one instruction multiplies. Sums of all moduli go to
// shared memory; then every lane puts the number of one row together.
#include "ozaki/ozaki.cuh"

using namespace ozaki;

// Vectors that a thread goes through alone.
constexpr unsigned SHORT_VECTOR = 256;

// The largest exponent fields; those of long vectors are zero before.
KERNEL(THREADS, 4) ozaki_vector_fields(PARAMETERS VectorTask task) {
    const unsigned own = blockIdx.x * THREADS + (unsigned)thread_number(), step = gridDim.x * THREADS;
    if (task.length <= SHORT_VECTOR) {
#pragma unroll 1
        for (unsigned vector = own; vector < task.vectors; vector += step) {
            const u64 *values = task.values + (u64)vector * task.length;
            unsigned field = 1;
#pragma unroll 4
            for (unsigned k = 0; k < task.length; k++) {
                field = max(field, field_of(values[k]));
            }
            task.fields[vector] = (int32_t)field;
        }
        return;
    }
#pragma unroll 1
    for (unsigned vector = 0; vector < task.vectors; vector++) {
        const u64 *values = task.values + (u64)vector * task.length;
        unsigned field = 1;
#pragma unroll 4
        for (unsigned k = own; k < task.length; k += step) {
            field = max(field, field_of(values[k]));
        }
        field = warp_maximum(field);
        if (thread_number() % 32 == 0) {
            atomic_maximum(task.fields + vector, (int32_t)field);
        }
    }
}

// A thread takes a number.
KERNEL(THREADS, 4) ozaki_vector_residues(PARAMETERS VectorTask task) {
    const unsigned numbers = task.length * task.vectors, step = gridDim.x * THREADS;
#pragma unroll 1
    for (unsigned k = blockIdx.x * THREADS + (unsigned)thread_number(); k < numbers; k += step) {
        uint32_t low, high, words[4];
        flipped_word(task.values[k], (unsigned)task.fields[k / task.length], task.bits, low, high);
#pragma unroll
        for (int word = 0; word < 4; word++) {
            uint32_t bytes[4];
#pragma unroll
            for (int byte = 0; byte < 4; byte++) {
                const int number = 4 * word + byte;
                bytes[byte] = number < task.count ? residue_of(task.moduli[number], low, high) : 0;
            }
            words[word] = packed_bytes(bytes[0], bytes[1], bytes[2], bytes[3]);
        }
        task.residues[k] = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

// Sums of 16 moduli and the exponent field of every row of a warp; one place more for the banks.
constexpr int STAGE_PITCH = 17, STAGE_INTS = 32 * STAGE_PITCH + 32;
static_assert(WARPS * STAGE_INTS * 4 == 18432, "as the host has it");

// Four entries of a row.
struct Entries {
    u64 values[4];

    DEVICE void load(const ProductTask &task, unsigned at, unsigned end) {
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            values[i] = at + i < end ? task.values[at + i] : 0;
        }
    }
    DEVICE unsigned field() const { return max(max(field_of(values[0]), field_of(values[1])), max(field_of(values[2]), field_of(values[3]))); }
};

// 16 residues of each of four numbers become four of each of 16 moduli.
DEVICE void turn(const uint4 (&numbers)[4], uint32_t (&moduli)[16]) {
    auto square = [&](int word, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
        using arithmetic::chosen_bytes;
        const uint32_t first = chosen_bytes(a, b, 0x5140), second = chosen_bytes(c, d, 0x5140);
        const uint32_t third = chosen_bytes(a, b, 0x7362), fourth = chosen_bytes(c, d, 0x7362);
        moduli[4 * word] = chosen_bytes(first, second, 0x5410);
        moduli[4 * word + 1] = chosen_bytes(first, second, 0x7632);
        moduli[4 * word + 2] = chosen_bytes(third, fourth, 0x5410);
        moduli[4 * word + 3] = chosen_bytes(third, fourth, 0x7632);
    };
    square(0, numbers[0].x, numbers[1].x, numbers[2].x, numbers[3].x);
    square(1, numbers[0].y, numbers[1].y, numbers[2].y, numbers[3].y);
    square(2, numbers[0].z, numbers[1].z, numbers[2].z, numbers[3].z);
    square(3, numbers[0].w, numbers[1].w, numbers[2].w, numbers[3].w);
}

// A lane's part of the sums of a row with these entries, and the field of the whole row.
template <int COUNT> DEVICE unsigned add_row(const ProductTask &task, unsigned row, int lane, int (&sums)[COUNT]) {
    const unsigned group = 1u << task.group_bits, own = 4 * ((unsigned)lane & (group - 1)), step = 4 * group;
    unsigned start = 0, end = 0, shift = 0;
    if (row < task.rows) {
        if (task.row_starts != nullptr) {
            start = task.row_starts[row];
            end = task.row_starts[row + 1];
        } else {
            start = row * task.length;
            end = start + task.length;
            // From an entry to what it is multiplied by, modulo 2^32.
            shift = row / task.rows_of_vector * task.length - start;
        }
    }
    Entries entries;
    entries.load(task, start + own, end);
    unsigned field = max(entries.field(), 1u);
#pragma unroll 1
    for (unsigned k = start + own + step; k < end; k += step) {
        Entries later;
        later.load(task, k, end);
        field = max(field, later.field());
    }
#pragma unroll 1
    for (unsigned mask = 1; mask < group; mask *= 2) {
        field = max(field, shuffle_xor(field, (int)mask));
    }
#pragma unroll
    for (int number = 0; number < COUNT; number++) {
        sums[number] = 0;
    }
    bool first = true;
#pragma unroll 1
    for (unsigned k = start + own; k < end; k += step) {
        if (!first) {
            entries.load(task, k, end);
        }
        first = false;
        uint4 others[4];
        uint32_t low[4], high[4], factors[16];
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            const bool there = k + i < end;
            const unsigned place = !there ? 0 : task.columns != nullptr ? task.columns[k + i] : k + i + shift;
            others[i] = there ? task.residues[place] : make_uint4(0, 0, 0, 0);
            flipped_word(entries.values[i], field, task.bits, low[i], high[i]);
        }
        turn(others, factors);
        for_numbers<0, COUNT>([&](auto number) {
            constexpr int NUMBER = number;
            const uint32_t bytes = packed_bytes(residue_of_word<NUMBER>(low[0], high[0]), residue_of_word<NUMBER>(low[1], high[1]),
                                                residue_of_word<NUMBER>(low[2], high[2]), residue_of_word<NUMBER>(low[3], high[3]));
            sums[NUMBER] = signed_dot_product(bytes, factors[NUMBER], sums[NUMBER]);
        });
    }
#pragma unroll 1
    for (unsigned mask = 1; mask < group; mask *= 2) {
#pragma unroll
        for (int number = 0; number < COUNT; number++) {
            sums[number] += shuffle_xor(sums[number], (int)mask);
        }
    }
    return field;
}

template <int COUNT, class B> DEVICE void rows_times_vector(const ProductTask &task) {
    const unsigned warp = (unsigned)thread_number() / 32;
    const int lane = thread_number() % 32;
    int *staged = reinterpret_cast<int *>(shared_memory()) + warp * STAGE_INTS;
#pragma unroll 1
    for (unsigned first = (blockIdx.x * WARPS + warp) * 32; first < task.rows; first += gridDim.x * WARPS * 32) {
#pragma unroll 1
        for (int pass = 0; pass >> task.group_bits == 0; pass++) {
            const int place = (pass << (5 - task.group_bits)) + (lane >> task.group_bits);
            int sums[COUNT];
            const unsigned field = add_row<COUNT>(task, first + (unsigned)place, lane, sums);
            if ((lane & ((1 << task.group_bits) - 1)) == 0) {
#pragma unroll
                for (int number = 0; number < COUNT; number++) {
                    staged[STAGE_PITCH * place + number] = sums[number];
                }
                staged[32 * STAGE_PITCH + place] = (int)field;
            }
        }
        warp_barrier();
        const unsigned row = first + (unsigned)lane;
        if (row < task.rows) {
            B sum;
#pragma unroll
            for (int number = 0; number < COUNT; number++) {
                sum.add(task.weights, number, staged[STAGE_PITCH * lane + number]);
            }
            const unsigned vector = task.row_starts != nullptr ? 0 : row / task.rows_of_vector;
            task.result[row] = number_of(sum, task.weights, staged[32 * STAGE_PITCH + lane], task.vector_fields[vector], task.bits);
        }
        warp_barrier();
    }
}

KERNEL(THREADS, 2) ozaki_product_14(PARAMETERS ProductTask task) { rows_times_vector<14, Integers>(task); }
KERNEL(THREADS, 2) ozaki_product_16(PARAMETERS ProductTask task) { rows_times_vector<16, Integers>(task); }
KERNEL(THREADS, 2) ozaki_product_14_conversions(PARAMETERS ProductTask task) { rows_times_vector<14, Doubles>(task); }
KERNEL(THREADS, 2) ozaki_product_16_conversions(PARAMETERS ProductTask task) { rows_times_vector<16, Doubles>(task); }
KERNEL(THREADS, 2) ozaki_product_14_without_phase_b(PARAMETERS ProductTask task) { rows_times_vector<14, Nothing>(task); }
KERNEL(THREADS, 2) ozaki_product_16_without_phase_b(PARAMETERS ProductTask task) { rows_times_vector<16, Nothing>(task); }

// What solvers do with vectors between products.
KERNEL(THREADS, 4) naive_multiply_add(PARAMETERS MultiplyAddTask task) {
    const u64 step = (u64)gridDim.x * THREADS;
#pragma unroll 1
    for (u64 k = (u64)blockIdx.x * THREADS + (u64)thread_number(); k < task.count; k += step) {
        task.to[k] = __fma_rn(task.factor, task.x[k], task.y[k]);
    }
}
